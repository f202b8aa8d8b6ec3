//! The schemes over Ristretto255: known answers, and what each must refuse.

#[path = "../common/mod.rs"]
mod common;

mod handshake;
mod keys;
mod pake;
mod ratchet;
