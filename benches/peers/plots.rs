//! Speeds by size, on one core, beside the AES instructions that bound them and other crates: all in one run and in turns,
//! each the best of many rounds. Prints TOML, from which the site draws its plots: `make plots`.

use std::hint::black_box;

use aes_gcm::aead::{AeadInOut, KeyInit};
use ed25519_dalek::{Signer as _, SigningKey};
use sha2::Digest as _;
use veriplex::aead::Aead;
use veriplex::hazmat::{Backend, LANES, LaneBackend, RATE, set_hardware_enabled};
use veriplex::keys::PrivateKey;
use veriplex::seekable::Seekable;
use veriplex::siv::Siv;
use veriplex::{Key, digest, label, os_rng, sig, tree};
use veriplex_benches::{Subject, latency_bound, rounds, throughput_bounds};

const SIZES: [usize; 9] = [16, 64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20];
const ROUNDS: usize = 300;
/// Smaller inputs are processed so often that as many bytes are: what is in caches then is what a long run has there.
const BYTES: usize = 1 << 18;
const REPETITIONS: usize = 4096;
const SIGNATURES: usize = 16;

/// A line of a plot.
struct Series {
    plot: &'static str,
    name: String,
    kind: &'static str,
    points: Vec<(usize, Subject)>,
}

impl Series {
    fn new(
        plot: &'static str,
        kind: &'static str,
        name: &str,
        run: impl Fn(&mut [u8]) + Copy + 'static,
    ) -> Self {
        Self::in_room(plot, kind, name, |len| len, run)
    }

    /// `room` is how long the buffer for so many bytes is.
    fn in_room(
        plot: &'static str,
        kind: &'static str,
        name: &str,
        room: impl Fn(usize) -> usize,
        run: impl Fn(&mut [u8]) + Copy + 'static,
    ) -> Self {
        let points = SIZES.map(|len| {
            let mut data = vec![0x5a; room(len)];
            let subject = Subject::new(name, move || {
                for _ in 0..BYTES.div_ceil(len) {
                    run(black_box(&mut data));
                }
            });
            (len, subject)
        });
        Self {
            plot,
            name: name.to_owned(),
            kind,
            points: points.into(),
        }
    }
}

/// Keys are the same in every run; nothing here is secret.
fn key() -> Key {
    Key::from([7; 32])
}

fn hashes() -> Vec<Series> {
    fn serial(data: &mut [u8]) {
        black_box(digest::digest(label!("bench.hash"), data));
    }
    let mut all = vec![
        Series::new("Hashing", "own", "digest", serial),
        Series::new("Hashing", "own", "tree", |data| {
            black_box(tree::digest(label!("bench.tree"), data));
        }),
        Series::new("Hashing", "peer", "BLAKE3", |data| {
            black_box(blake3::hash(data));
        }),
        Series::new("Hashing", "peer", "SHA-256", |data| {
            black_box(sha2::Sha256::digest(data));
        }),
    ];
    if Backend::current().name() != "portable" {
        all.push(Series::new("Hashing", "own", "digest, portable", |data| {
            set_hardware_enabled(false);
            serial(data);
            set_hardware_enabled(true);
        }));
    }
    all
}

fn ciphers() -> Vec<Series> {
    const PLOT: &str = "Authenticated encryption";
    fn peer<A: AeadInOut + KeyInit>(data: &mut [u8]) {
        // Setting up counts for all: whoever has many messages under a key does better.
        let cipher = A::new(&aes_gcm::aead::Key::<A>::default());
        let nonce = aes_gcm::aead::Nonce::<A>::default();
        black_box(cipher.encrypt_inout_detached(&nonce, b"", data.into())).expect("short enough");
    }
    vec![
        Series::new(PLOT, "own", "aead", |data| {
            black_box(
                Aead::<24>::new(label!("bench.aead"), &key()).seal_in_place_detached(&[1; 24], b"", data),
            );
        }),
        Series::new(PLOT, "own", "siv", |data| {
            black_box(Siv::new(label!("bench.siv"), &key()).seal_in_place_detached(&[1; 24], b"", data));
        }),
        Series::in_room(
            PLOT,
            "own",
            "seekable",
            |len| len + 16 * len.div_ceil(1 << 14),
            |data| {
                let message = Seekable::<24>::new(label!("bench.seekable"), &key()).message(&[1; 24], b"");
                message.seal_in_place(data).expect("there is room for the tags");
            },
        ),
        Series::new(PLOT, "peer", "AES-256-GCM", peer::<aes_gcm::Aes256Gcm>),
        Series::new(PLOT, "peer", "AES-256-GCM-SIV", peer::<aes_gcm_siv::Aes256GcmSiv>),
        Series::new(
            PLOT,
            "peer",
            "ChaCha20-Poly1305",
            peer::<chacha20poly1305::ChaCha20Poly1305>,
        ),
    ]
}

/// Public keys: subjects of [`SIGNATURES`] operations each, and whether they are ours.
fn signatures() -> Vec<(&'static str, Subject)> {
    const MESSAGE: [u8; 64] = [0x5a; 64];
    let repeated = |name: &str, mut run: Box<dyn FnMut()>| {
        Subject::new(name, move || (0..SIGNATURES).for_each(|_| run()))
    };
    let own = PrivateKey::generate(&mut os_rng());
    let verifier = own.clone();
    let signature = sig::sign(label!("bench.sig"), &own, &MESSAGE, &mut os_rng());
    let theirs = SigningKey::from_bytes(&[7; 32]);
    let their_public = theirs.verifying_key();
    let their_signature = theirs.sign(&MESSAGE);
    vec![
        (
            "own",
            repeated(
                "sig: sign",
                Box::new(move || {
                    black_box(sig::sign(
                        label!("bench.sig"),
                        &own,
                        black_box(&MESSAGE),
                        &mut os_rng(),
                    ));
                }),
            ),
        ),
        (
            "own",
            repeated(
                "sig: verify",
                Box::new(move || {
                    sig::verify(
                        label!("bench.sig"),
                        verifier.public_key(),
                        black_box(&MESSAGE),
                        &signature,
                    )
                    .expect("it is right");
                }),
            ),
        ),
        (
            "peer",
            repeated(
                "Ed25519: sign",
                Box::new(move || {
                    black_box(theirs.sign(black_box(&MESSAGE)));
                }),
            ),
        ),
        (
            "peer",
            repeated(
                "Ed25519: verify",
                Box::new(move || {
                    their_public
                        .verify_strict(black_box(&MESSAGE), &their_signature)
                        .expect("it is right");
                }),
            ),
        ),
    ]
}

fn print(plot: &str, kind: &str, name: &str, points: &[(usize, f64)]) {
    let points: Vec<String> = points
        .iter()
        .map(|(len, speed)| format!("[{len}, {speed:.4}]"))
        .collect();
    println!(
        "\n[[series]]\nplot = \"{plot}\"\nkind = \"{kind}\"\nname = \"{name}\"\npoints = [{}]",
        points.join(", ")
    );
}

fn main() {
    let mut bounds: Vec<(String, usize, Subject)> = latency_bound(REPETITIONS)
        .map(|bound| ("bound of one state".to_owned(), 1, bound))
        .into_iter()
        .collect();
    // The lanes that are in use.
    let lanes = LaneBackend::current().name();
    let wide = throughput_bounds(REPETITIONS)
        .into_iter()
        .find(|(level, _)| *level == lanes);
    bounds.extend(wide.map(|(_, bound)| (format!("bound of {LANES} states"), LANES, bound)));
    let mut series = hashes();
    series.extend(ciphers());
    let mut signatures = signatures();
    for _ in 0..rounds(ROUNDS) {
        bounds
            .iter_mut()
            .map(|(_, _, bound)| bound)
            .for_each(Subject::time);
        series
            .iter_mut()
            .flat_map(|series| &mut series.points)
            .for_each(|(_, point)| point.time());
        signatures
            .iter_mut()
            .map(|(_, subject)| subject)
            .for_each(Subject::time);
    }

    println!("code = \"permutation {}, lanes {lanes}\"", veriplex::backend());
    println!("rounds = {}", rounds(ROUNDS));
    for Series {
        plot,
        name,
        kind,
        points,
    } in &series
    {
        let points: Vec<(usize, f64)> = points
            .iter()
            .map(|(len, subject)| (*len, 1.0 / subject.nanoseconds_per(BYTES.div_ceil(*len) * len)))
            .collect();
        print(plot, kind, name, &points);
    }
    for plot in ["Hashing", "Authenticated encryption"] {
        for (name, states, bound) in &bounds {
            let speed = 1.0 / bound.nanoseconds_per(REPETITIONS * states * RATE);
            print(
                plot,
                "bound",
                name,
                &[(SIZES[0], speed), (SIZES[SIZES.len() - 1], speed)],
            );
        }
    }
    for (kind, subject) in &signatures {
        println!(
            "\n[[operation]]\nkind = \"{kind}\"\nname = \"{}\"\nmicroseconds = {:.2}",
            subject.name,
            subject.nanoseconds_per(SIGNATURES) / 1000.0
        );
    }
}
