//! The schemes over Ristretto255: known answers, and what each must refuse.

#[path = "../common/mod.rs"]
mod common;

mod dkg;
mod frost;
mod handshake;
mod hpke;
mod keys;
mod oprf;
mod pake;
mod ratchet;
mod secrets;
mod sig;
mod signcrypt;
#[cfg(feature = "serde")]
mod traits;
mod twin;
mod vrf;

use veriplex::keys::PrivateKey;

/// The private key with this number.
fn key(number: u8) -> PrivateKey {
    PrivateKey::from_uniform_bytes([number; 64]).unwrap_or_else(|_| key(number ^ 0x80))
}

/// The order of the group, which is not the encoding of any scalar.
fn order() -> [u8; 32] {
    let hex = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
    hex::decode(hex).unwrap().try_into().unwrap()
}
