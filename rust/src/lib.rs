//! **Veriplex** is the Newplex cryptographic framework: one permutation (Simpira-1024), one duplex over
//! it, and one [`Protocol`] object whose operations build hashes, MACs, ciphers and, with the group Ristretto255,
//! signatures, encryption to public keys, handshakes and protocols between several parties.
//! It is byte-compatible with [Newplex](https://github.com/codahale/newplex), except that it refuses labels longer than
//! 91 bytes (see [`Label`]). The modules `poly1305`, `adiantum` and `xoofff` are not part of it.
//!
//! > **Status: experimental.**
//! > - **Not audited.** No outside party has reviewed this code.
//! > - **The design has not been analysed independently.** Newplex is new and not a standard. Its permutation,
//! >   [Simpira v2](https://eprint.iacr.org/2016/122), has had far less study than AES or SHA-3.
//! > - **What is proved instead:** the machine code of the permutation and of the four bulk operations of the duplex
//! >   equals a formal specification, on x86-64 and ARMv8, for every input. The same holds for the kernels of `ChaCha`,
//! >   NH, Poly1305 and Xoofff. A model of the framing is proved injective.
//! > - **What that is worth:** it rules out a class of implementation bugs in that code. It says nothing about whether
//! >   the design is secure. The Rust around the kernels is tested, and only part of it is proved.
//! >   [SOUNDNESS.md](https://github.com/veriplex/veriplex/blob/main/SOUNDNESS.md) draws the line
//! >   exactly, and [SECURITY.md](https://github.com/veriplex/veriplex/blob/main/SECURITY.md#threat-model) has
//! >   the threat model.
//! >
//! > If you need a conservative choice today, use AES-GCM, BLAKE3, Ed25519 or Noise. The
//! > [README](https://github.com/veriplex/veriplex/blob/main/README.md#this-or-something-else) compares
//! > them with this crate, with measured speeds.
//!
//! ```
//! use veriplex::{Key, Nonce, Protocol, label, os_rng};
//!
//! # fn main() -> Result<(), veriplex::Error> {
//! let key: Key = Key::generate(&mut os_rng());
//! let nonce = Nonce::<24>::generate(&mut os_rng()); // fresh for every message: send it along
//!
//! let mut sender = Protocol::new(label!("com.example.messages"));
//! sender.mix(label!("key"), key.as_bytes());
//! sender.mix(label!("nonce"), nonce.as_bytes());
//! let mut receiver = sender.clone();
//!
//! let mut message = *b"attack at dawn..................";
//! let n = message.len() - veriplex::TAG_LEN; // the last 16 bytes are room for the tag
//! sender.seal_in_place(label!("message"), &mut message)?;
//! let plaintext = receiver.open_in_place(label!("message"), &mut message)?;
//! assert_eq!(plaintext, &b"attack at dawn.................."[..n]);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to look
//!
//! The [`guide`] goes from what you want to do to the item. Import modules by name, not with `*`: some have the names of
//! crates (`digest`, `aead`, `serde`), which are then `::digest` and so on.
//!
//! | module | what |
//! |---|---|
//! | [`Protocol`] | the framework: Init, Mix, Derive, Mask, Seal, Fork, Ratchet |
//! | [`digest`] | hash and extendable output |
//! | [`tree`] | the same over chunks, in parallel; parts of a message verified alone |
//! | [`mac`] | message authentication (keyed digest) |
//! | [`kdf`] | keys from other secrets |
//! | [`stream`] | unauthenticated stream cipher |
//! | [`aead`] | authenticated encryption with a nonce |
//! | [`siv`] | authenticated encryption that survives a repeated nonce |
//! | [`committing`] | the same two with tags of 32 bytes, which commit to the key at 128 bits |
//! | [`aestream`] | authenticated encryption of streams |
//! | [`oae2`] | authenticated encryption of streams in blocks of one size |
//! | [`seekable`] | authenticated encryption in segments, in parallel and with random access |
//! | [`mhf`] | memory-hard hash, for passwords |
//! | [`Key`] | a symmetric key that is wiped and not printed |
//! | [`Nonce`] | a random nonce or salt |
//! | [`hazmat`] | the raw duplex and permutation, the choice of backend; Xoodoo, `ChaCha`, NH, Poly1305's backends |
//!
//! With feature `ristretto` (`ratchet` and `frost` also need `alloc`):
//!
//! | module | what |
//! |---|---|
//! | [`keys`] | private and public keys over Ristretto255 |
//! | [`sig`] | signatures |
//! | [`hpke`] | encryption to a public key, authenticated by the sender's key or anonymous |
//! | [`signcrypt`] | encryption to a public key with the sender's signature inside |
//! | [`handshake`] | mutual authentication with forward secrecy |
//! | [`pake`] | a session from a shared password |
//! | [`ratchet`] | messages that may be lost or reordered, each under its own key (double ratchet) |
//! | [`vrf`] | verifiable random function |
//! | [`oprf`] | oblivious pseudorandom function, also verifiable |
//! | [`frost`] | threshold signatures, with a dealer or distributed key generation |
//!
//! With the feature of the same name:
//!
//! | module | what |
//! |---|---|
//! | [`hybrid`] | post-quantum keys: Ristretto255 and ML-KEM-768 side by side; encryption to them |
//! | [`tunnel`] | handshake and records of a connection between hybrid keys; with feature `hybrid` |
//! | [`poly1305`] | one-time authenticator: one key, one message |
//! | [`adiantum`] | length-preserving encryption of disk sectors: Adiantum, `HPolyC`, HBSH |
//! | [`xoofff`] | the deck function Xoofff over Xoodoo, and its modes SANE, SANSE, WBC and WBC-AE |
//! | [`serde`] | values under the traits of `serde`, secrets only in a wrapper |
//! | [`rustcrypto`] | traits of `digest`, `aead`, `cipher`, `password-hash`, `rand_core`, `signature`, `universal-hash` |
//!
//! # Features
//!
//! `std` (default; `std::io` adapters, implies `alloc`), `alloc` (`Vec` conveniences),
//! `ristretto` (public-key and multi-party schemes; implies `rand_core`), `hybrid` (post-quantum keys and the tunnel; implies `ristretto` and `alloc`; needs Rust 1.94), `poly1305`,
//! `adiantum` (implies `poly1305`), `xoofff`, `rustcrypto` (that project's traits; implies `rand_core`; exempt from
//! semantic versioning), `tokio` (asynchronous readers and writers; implies `std`), `serde` (keys, signatures and other
//! values), `rayon` (all cores for `tree` and `seekable`; implies `std`), `getrandom` (default; randomness of the
//! operating system; implies `rand_core`), `rand_core` (`generate` of keys and nonces, with a generator of your own).
//! Without features the crate is `no_std` and does not allocate.
//!
//! # Backends
//!
//! The permutation runs on AES instructions where the CPU has them, and as constant-time bitsliced code elsewhere.
//! The instructions are found at run time on x86-64 (except bare metal, SGX and UEFI), and on `AArch64` Linux, Android
//! and Apple systems. On other targets they are used only if enabled at compile time
//! (`-C target-feature=+aes,+avx`, or `+aes`).
//! `RUSTFLAGS='--cfg veriplex_backend="portable"'` (or `"x86_64"`, `"aarch64"`) fixes the choice at compile time.
//! [`backend`] names the one in use.
//!
//! Kernels and AES instructions serve only after they have given known answers in this process, when they are used first:
//! see [`self_test`]. If the portable code gives wrong answers, using it panics.
// Without all features some links lead nowhere; docs.rs has them all.
#![cfg_attr(not(feature = "rustcrypto"), allow(rustdoc::broken_intra_doc_links))]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod adapters;
#[cfg_attr(not(veriplex_kernels), allow(dead_code))]
mod backend;
mod base;
mod duplex;
#[doc = include_str!("guide.md")]
pub mod guide {}
mod primitives;
mod protocol;
mod schemes;

pub use adapters::hazmat;
#[cfg(feature = "rustcrypto")]
pub use adapters::rustcrypto;
pub use backend::dispatch::{Outcome, SelfTest};
pub use base::domain::Domain;
pub use base::error::Error;
pub use base::key::Key;
pub use base::label::Label;
pub use base::nonce::Nonce;
#[cfg(feature = "serde")]
pub use base::serde;
pub use base::timing::with_data_independent_timing;
pub use base::wipe::with_wiped_stack;
#[cfg(feature = "poly1305")]
pub use primitives::poly1305;
#[cfg(feature = "std")]
pub use protocol::io::{Reader, Writer};
pub use protocol::{MaskStream, MixStream, Protocol, UnmaskStream};
#[cfg(feature = "adiantum")]
pub use schemes::adiantum;
#[cfg(all(feature = "ristretto", feature = "alloc"))]
pub use schemes::ristretto::{frost, ratchet};
#[cfg(feature = "ristretto")]
pub use schemes::ristretto::{handshake, hpke, keys, oprf, pake, sig, signcrypt, vrf};
#[cfg(feature = "xoofff")]
pub use schemes::xoofff;
pub use schemes::{aead, aestream, committing, digest, kdf, mac, mhf, oae2, seekable, siv, stream, tree};
#[cfg(feature = "hybrid")]
pub use schemes::{hybrid, tunnel};

/// The crate of `Zeroizing`, in which secrets are returned.
pub use ::zeroize;

/// The crate whose `CryptoRng` every function that makes keys or nonces takes.
#[cfg(feature = "rand_core")]
pub use ::rand_core;

/// Size in bytes of the tag that [`Protocol::seal_in_place`] and the authenticated schemes append.
pub const TAG_LEN: usize = 16;

/// The operating system's generator, for every parameter that is a `CryptoRng` of `rand_core` 0.10.
///
/// # Panics
///
/// The generator panics if the operating system returns no random bytes. Common ones always do once they have started.
#[cfg(feature = "getrandom")]
#[must_use]
pub const fn os_rng() -> rand_core::UnwrapErr<getrandom::SysRng> {
    rand_core::UnwrapErr(getrandom::SysRng)
}

/// Names the backend in use: `"portable"`, `"x86_64"` or `"aarch64"`.
///
/// ```
/// assert!(["portable", "x86_64", "aarch64"].contains(&veriplex::backend()));
/// ```
#[must_use]
pub fn backend() -> &'static str {
    backend::Backend::current().name()
}

/// Asks every implementation of every primitive for known answers, and says which gave them.
///
/// Nothing has to call it: kernels serve only after they have given the right answers in this process, when a primitive is
/// used first. It is for reports, and for tests at power-on: it also asks what the library does not use, and asks again what
/// it has asked. Kernels that were wrong serve no more.
///
/// ```
/// use veriplex::Outcome;
///
/// assert!(veriplex::self_test().all(|test| test.outcome != Outcome::Failed));
/// ```
pub fn self_test() -> impl Iterator<Item = SelfTest> {
    use backend::dispatch::Dispatch as _;

    let all = backend::Kernels::self_test().chain(backend::lanes::Kernels::self_test());
    #[cfg(feature = "adiantum")]
    let all = all
        .chain(backend::chacha::Kernels::self_test())
        .chain(backend::nh::Kernels::self_test());
    #[cfg(feature = "poly1305")]
    let all = all.chain(backend::poly1305::limbs26::Kernels::self_test());
    #[cfg(all(feature = "poly1305", veriplex_kernels, target_arch = "x86_64"))]
    let all = all.chain(backend::poly1305::limbs44::Kernels::self_test());
    #[cfg(feature = "xoofff")]
    let all = all.chain(backend::xoofff::Kernels::self_test());
    all
}

/// The examples of the README compile and run.
#[cfg(all(doctest, feature = "alloc", feature = "getrandom", feature = "ristretto"))]
#[doc = include_str!("../../README.md")]
struct Readme;
