//! The lines of the site's plots: speeds by size, on one core.

use std::hint::black_box;

use aes_gcm::aead::{AeadInOut, KeyInit};
use sha2::Digest as _;
use veriplex::aead::Aead;
use veriplex::hazmat::{Backend, set_hardware_enabled};
use veriplex::seekable::Seekable;
use veriplex::siv::Siv;
use veriplex::{Key, digest, label, tree};
use veriplex_benches::Subject;
use veriplex_benches::record::{Kind, Series};

pub const SIZES: [usize; 9] = [16, 64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
pub const PLOTS: [&str; 2] = ["Hashing", "Authenticated encryption"];

/// A line to be.
pub struct Line {
    plot: &'static str,
    kind: Kind,
    name: &'static str,
    pub points: Vec<(usize, Subject)>,
}

impl Line {
    fn new(
        plot: &'static str,
        kind: Kind,
        name: &'static str,
        run: impl Fn(&mut [u8]) + Copy + 'static,
    ) -> Self {
        Self::in_room(plot, kind, name, |len| len, run)
    }

    /// `room` is how long the buffer for so many bytes is.
    fn in_room(
        plot: &'static str,
        kind: Kind,
        name: &'static str,
        room: impl Fn(usize) -> usize,
        run: impl Fn(&mut [u8]) + Copy + 'static,
    ) -> Self {
        let point = |len| {
            let mut data = vec![0x5a; room(len)];
            (len, Subject::new(name, move || run(black_box(&mut data))))
        };
        Self {
            plot,
            kind,
            name,
            points: SIZES.map(point).into(),
        }
    }

    pub fn series(&self) -> Series {
        let speed = |(len, subject): &(usize, Subject)| (*len, subject.nanoseconds_per(1));
        Series::new(self.plot, self.kind, self.name, self.points.iter().map(speed))
    }
}

/// The same in every run; nothing here is secret.
fn key() -> Key {
    Key::from([7; 32])
}

pub fn all() -> Vec<Line> {
    fn serial(data: &mut [u8]) {
        black_box(digest::digest(label!("bench.hash"), data));
    }
    fn peer<A: AeadInOut + KeyInit>(data: &mut [u8]) {
        // Setting up counts for all: whoever has many messages under a key does better.
        let cipher = A::new(&aes_gcm::aead::Key::<A>::default());
        let nonce = aes_gcm::aead::Nonce::<A>::default();
        black_box(cipher.encrypt_inout_detached(&nonce, b"", data.into())).expect("short enough");
    }
    let [hashing, encryption] = PLOTS;
    let mut all = vec![
        Line::new(hashing, Kind::Own, "digest", serial),
        Line::new(hashing, Kind::Own, "tree", |data| {
            black_box(tree::digest(label!("bench.tree"), data));
        }),
        Line::new(hashing, Kind::Peer, "BLAKE3", |data| {
            black_box(blake3::hash(data));
        }),
        Line::new(hashing, Kind::Peer, "SHA-256", |data| {
            black_box(sha2::Sha256::digest(data));
        }),
        Line::new(encryption, Kind::Own, "aead", |data| {
            let aead = Aead::<24>::new(label!("bench.aead"), &key());
            black_box(aead.seal_in_place_detached(&[1; 24], b"", data));
        }),
        Line::new(encryption, Kind::Own, "siv", |data| {
            black_box(Siv::new(label!("bench.siv"), &key()).seal_in_place_detached(&[1; 24], b"", data));
        }),
        Line::in_room(
            encryption,
            Kind::Own,
            "seekable",
            |len| len + 16 * len.div_ceil(1 << 14),
            |data| {
                let message = Seekable::<24>::new(label!("bench.seekable"), &key()).message(&[1; 24], b"");
                message.seal_in_place(data).expect("there is room for the tags");
            },
        ),
        Line::new(encryption, Kind::Peer, "AES-256-GCM", peer::<aes_gcm::Aes256Gcm>),
        Line::new(
            encryption,
            Kind::Peer,
            "AES-256-GCM-SIV",
            peer::<aes_gcm_siv::Aes256GcmSiv>,
        ),
        Line::new(
            encryption,
            Kind::Peer,
            "ChaCha20-Poly1305",
            peer::<chacha20poly1305::ChaCha20Poly1305>,
        ),
    ];
    if Backend::current().name() != "portable" {
        all.push(Line::new(hashing, Kind::Own, "digest, portable", |data| {
            set_hardware_enabled(false);
            serial(data);
            set_hardware_enabled(true);
        }));
    }
    all
}
