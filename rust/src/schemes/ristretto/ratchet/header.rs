//! The header of a message.

use super::HEADER_LEN;
use crate::keys::PublicKey;

/// The sender's public key, the message's number in its chain, the length of the chain before.
pub(super) struct Header {
    pub(super) public: [u8; PublicKey::LEN],
    pub(super) n: u32,
    pub(super) prev_n: u32,
}

impl Header {
    pub(super) fn to_bytes(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let (public, numbers) = bytes.split_at_mut(PublicKey::LEN);
        public.copy_from_slice(&self.public);
        numbers[..4].copy_from_slice(&self.n.to_le_bytes());
        numbers[4..].copy_from_slice(&self.prev_n.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; HEADER_LEN]) -> Self {
        let at = |i: usize| bytes[i];
        Self {
            public: core::array::from_fn(at),
            n: u32::from_le_bytes(core::array::from_fn(|i| at(PublicKey::LEN + i))),
            prev_n: u32::from_le_bytes(core::array::from_fn(|i| at(PublicKey::LEN + 4 + i))),
        }
    }
}
