//! The specification in executable Rust: the twin of `spec/cryptol`, definition by definition, under the same names.
//!
//! Its only purposes are to be compared with the Cryptol and to be called from tests. It consists of pure functions
//! over arrays and vectors, without tables, and is neither fast nor constant-time. Do not use it to protect data.
//!
//! The schemes over Ristretto255 have no Cryptol. For them, this is the only specification besides `design.md`. The
//! group itself comes from a library ([`group`]).
//!
//! What Cryptol expresses as a type is a precondition here (`hax_lib::requires`): a label or domain of at most
//! [`protocol::MAX_LABEL`] bytes, an index below [`duplex::RATE`]. Provers that extract this crate through hax check
//! the preconditions; nothing checks them at run time.
#![no_std]
#![forbid(unsafe_code)]
#![allow(
    clippy::must_use_candidate,
    reason = "every function here is pure, so the attribute would say nothing"
)]
#![allow(clippy::missing_panics_doc, reason = "a panic is a broken precondition")]

extern crate alloc;

pub mod adiantum;
pub mod aead;
pub mod aes;
pub mod aes256;
pub mod aestream;
pub mod chacha;
pub mod committing;
pub mod digest;
pub mod duplex;
pub mod group;
pub mod handshake;
pub mod hpke;
pub mod hybrid;
pub mod kdf;
pub mod kem;
pub mod mac;
pub mod mhf;
pub mod nh;
pub mod oae2;
pub mod oprf;
pub mod pake;
pub mod poly1305;
pub mod protocol;
pub mod seekable;
pub mod sig;
pub mod signcrypt;
pub mod simpira1024;
pub mod siv;
pub mod stream;
pub mod tree;
pub mod tunnel;
pub mod vrf;
pub mod xoodoo;
pub mod xoofff;
pub mod xoofff_sane;
pub mod xoofff_sanse;
pub mod xoofff_wbc;
