//! Authenticated encryption with associated data: Mix `key`, `nonce`, `ad`, then Seal `message`.
//!
//! Confidential under chosen plaintexts as long as no nonce repeats under a key; a forgery succeeds with
//! probability 2^-128 per try. The tag commits to key, nonce, associated data and message (to about 64 bits
//! against collisions, like any tag of 16 bytes). Random nonces should have 24 bytes or more. A repeated nonce shows how
//! far two messages agree, and the XOR of what follows: if nonces may repeat, use [`siv`](crate::siv).
//!
//! Sizes in bytes: key 32, nonce 16 or more, tag 16. A sealed message is longer than its plaintext by the tag. For
//! messages that do not fit in memory, see [`aestream`](crate::aestream) and [`seekable`](crate::seekable).
//!
//! ```
//! use veriplex::{Key, Nonce, aead::Aead, label, os_rng};
//!
//! let key = Key::generate(&mut os_rng());
//! let aead = Aead::<24>::new(label!("com.example.aead"), &key);
//! let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every message: send it along
//! let sealed = aead.seal_vec(&nonce, b"header", b"message");
//! assert_eq!(aead.open_vec(&nonce, b"header", &sealed)?, b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```

use crate::base::forms::with_nonce;
use crate::base::in_out::InOut;
use crate::duplex::lanes::Direction;
use crate::protocol::many::{self, Batch, Closing, Job, Mixed, Output};
use crate::{Domain, Error, Key, Protocol, TAG_LEN, label};

/// An AEAD under one key, with nonces of `NONCE_LEN` bytes, which must be at least 16:
///
/// ```compile_fail,E0080
/// # fn main() {
/// let key = veriplex::Key::from([7; 32]);
/// let aead = veriplex::aead::Aead::<15>::new(veriplex::label!("example"), &key);
/// # }
/// ```
///
/// Neither a password nor an empty string is accepted as a key:
///
/// ```compile_fail,E0308
/// let aead = veriplex::aead::Aead::<24>::new(veriplex::label!("example"), "password");
/// ```
///
/// ```compile_fail,E0308
/// let aead = veriplex::aead::Aead::<24>::new(veriplex::label!("example"), &veriplex::Key::from([]));
/// ```
#[derive(Clone, Debug)]
pub struct Aead<const NONCE_LEN: usize>(
    /// With the Mix of the nonce open.
    Protocol,
);

impl<const NONCE_LEN: usize> zeroize::ZeroizeOnDrop for Aead<NONCE_LEN> {}

impl<const NONCE_LEN: usize> Aead<NONCE_LEN> {
    /// An AEAD under this key.
    #[must_use]
    pub fn new(domain: impl Domain, key: &Key) -> Self {
        Self::from_protocol(Protocol::keyed(domain.label(), key))
    }

    /// An AEAD under the key in a protocol: for keys of other lengths, or for a key that a longer transcript agreed on.
    ///
    /// [`Aead::new`] is this with Init `domain`, Mix `key`. Without a secret in `keyed`, anyone can open and forge.
    #[must_use]
    pub fn from_protocol(mut keyed: Protocol) -> Self {
        const { assert!(NONCE_LEN >= 16, "a nonce has at least 16 bytes") };
        keyed.mix_begin(label!("nonce"));
        Self(keyed)
    }

    /// [`Aead::seal_in_place`] for many messages, eight at a time, which is faster where the CPU has the instructions.
    /// Messages of about the same length are the fastest.
    ///
    /// ```
    /// use veriplex::{Key, aead::{Aead, Message}, label, os_rng};
    ///
    /// let key = Key::generate(&mut os_rng());
    /// let aead = Aead::<16>::new(label!("com.example.packets"), &key);
    /// let nonces = [0_u128, 1].map(u128::to_be_bytes); // a counter, which never goes back under one key
    /// let mut packets = [*b"a packet................", *b"another................."]; // with room for the tags
    /// let mut messages: Vec<_> = (packets.iter_mut().zip(&nonces))
    ///     .map(|(packet, nonce)| Message { nonce, ad: b"header", in_out: packet })
    ///     .collect();
    /// aead.seal_many(&mut messages)?;
    ///
    /// messages[1].in_out[3] ^= 1; // damaged on the way
    /// aead.open_many(&mut messages, |i, opened| match i {
    ///     0 => assert_eq!(opened.unwrap(), b"a packet"),
    ///     _ => assert!(opened.is_err()),
    /// });
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if a message has fewer than 16 bytes; then none is sealed.
    pub fn seal_many(&self, messages: &mut [Message<'_, NONCE_LEN>]) -> Result<(), Error> {
        if messages.iter().any(|message| message.in_out.len() < TAG_LEN) {
            return Err(Error::BufferLength);
        }
        let jobs = messages.iter_mut().map(|message| {
            let (data, tag) = message
                .in_out
                .split_last_chunk_mut::<TAG_LEN>()
                .ok_or(Error::BufferLength)?;
            Ok(Job {
                mixed: Mixed::Bytes(message.nonce),
                ad: Some(message.ad),
                masked: None,
                data: data.into(),
                output: Output::Write(tag),
                place: 0,
            })
        });
        let closing = Closing::Seal(label!("message"), Direction::Encrypt);
        many::run(&self.0, closing, jobs, |job| job.release().map(drop))
    }

    /// [`Aead::open_in_place`] for many messages. `on_opened` gets the index of each in the slice, with its plaintext
    /// or its error, in no particular order: [`Error::Verification`] if nonce, associated data or `in_out` are not what
    /// was sealed, and then the ciphertext is overwritten with zeros; [`Error::TooShort`] if there are fewer than 16
    /// bytes. A wrong message does not make others fail.
    ///
    /// If `on_opened` panics, the messages that it did not get are zeros or still sealed.
    pub fn open_many(
        &self,
        messages: &mut [Message<'_, NONCE_LEN>],
        mut on_opened: impl FnMut(usize, Result<&mut [u8], Error>),
    ) {
        let mut batch = Batch::new(&self.0, Closing::Seal(label!("message"), Direction::Decrypt));
        for (place, message) in messages.iter_mut().enumerate() {
            let Some((data, tag)) = message.in_out.split_last_chunk_mut() else {
                on_opened(place, Err(Error::TooShort));
                continue;
            };
            let job = Job {
                mixed: Mixed::Bytes(message.nonce),
                ad: Some(message.ad),
                masked: None,
                data: data.into(),
                output: Output::compare(tag),
                place,
            };
            if let Some(job) = batch.add(job) {
                on_opened(job.place, job.release());
            }
        }
        while let Some(job) = batch.finish() {
            on_opened(job.place, job.release());
        }
    }

    /// Runs `operation` after nonce and associated data. The protocol is not moved: a move waits for the XORs before it.
    #[inline(always)]
    fn with_message<T>(&self, nonce: &[u8], ad: &[u8], operation: impl FnOnce(&mut Protocol) -> T) -> T {
        let mut protocol = self.0.clone();
        mix_message(&mut protocol, nonce, ad);
        operation(&mut protocol)
    }

    /// What all forms of encryption do.
    fn seal(&self, nonce: &[u8], ad: &[u8], data: InOut<'_>) -> [u8; TAG_LEN] {
        self.with_message(nonce, ad, |protocol| protocol.seal(label!("message"), data))
    }

    /// What all forms of decryption do. If the tag is wrong, the output is all zeros.
    fn open(&self, nonce: &[u8], ad: &[u8], data: InOut<'_>, tag: &[u8; TAG_LEN]) -> Result<(), Error> {
        self.with_message(nonce, ad, |protocol| {
            protocol.open_last(label!("message"), data, tag)
        })
    }
}

with_nonce!(Aead, [const NONCE_LEN: usize], [NONCE_LEN], [u8; NONCE_LEN], 16);

/// How a message begins.
#[inline(never)] // its code is the same for all lengths of nonces
fn mix_message(protocol: &mut Protocol, nonce: &[u8], ad: &[u8]) {
    protocol.mix_more(nonce);
    protocol.mix(label!("ad"), ad);
}

/// One of many messages.
#[derive(Debug)]
pub struct Message<'a, const NONCE_LEN: usize> {
    /// The nonce, which must never repeat under the key.
    pub nonce: &'a [u8; NONCE_LEN],
    /// The associated data.
    pub ad: &'a [u8],
    /// The plaintext and room for the tag of 16 bytes, or the ciphertext and the tag.
    pub in_out: &'a mut [u8],
}
