//! The schemes over the group Ristretto255 (RFC 9496). Their modules are public under the crate's root.

mod forms;
#[cfg(feature = "alloc")]
pub mod frost;
pub(crate) mod group;
pub mod handshake;
pub mod hpke;
pub mod keys;
pub mod oprf;
pub mod pake;
#[cfg(feature = "alloc")]
pub mod ratchet;
pub mod sig;
pub mod signcrypt;
pub(crate) mod unhedged;
pub mod vrf;
