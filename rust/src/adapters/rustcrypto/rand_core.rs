//! A deterministic generator made from a [`Protocol`], under the traits of `rand_core` 0.10.

use core::convert::Infallible;

use ::rand_core::utils::next_word_via_fill;
use ::rand_core::{SeedableRng, TryCryptoRng, TryRng};

use crate::base::wipe::{Wiped, opaque, wipe};
use crate::{Protocol, label};

/// A generator whose output is a function of the protocol that it begins with.
///
/// The output is a string of bytes: over and over, Derive `random` of 512 bytes, then Ratchet `random`. A block is made
/// when its first byte is needed, and every byte is wiped once it has been output. So whoever learns the state learns
/// nothing about earlier output (fast key erasure). All later output is then known. A `u32` or `u64` is the
/// next 4 or 8 bytes, little endian, and nothing is skipped: only the number of bytes taken before matters.
///
/// It is as unpredictable as what was mixed into the protocol, and gives the same output as any other that begins with
/// the same: two must not begin with the same state. With `from_seed` it begins with Init `veriplex.generator.v1`,
/// Mix `seed`.
///
/// ```
/// use rand_core::{Rng, SeedableRng};
/// use veriplex::rustcrypto::rand_core::Generator;
/// use veriplex::{Protocol, label};
///
/// // The same numbers each time: for simulations, never for keys or nonces.
/// let mut protocol = Protocol::new(label!("com.example.simulation"));
/// protocol.mix(label!("run"), b"1");
/// let mut generator = Generator::new(protocol);
/// let (first, second) = (generator.next_u64(), generator.next_u64());
/// assert_ne!(first, second);
///
/// // Unpredictable: 32 bytes from another generator.
/// let mut random = [0; 100];
/// Generator::from_rng(&mut veriplex::os_rng()).fill_bytes(&mut random);
/// ```
#[derive(Clone)]
pub struct Generator {
    protocol: Protocol,
    /// Made and not yet output, at the end; zeros before.
    block: Wiped<[u8; BLOCK_LEN]>,
    left: usize,
}

/// Size in bytes of one Derive.
const BLOCK_LEN: usize = 512;

impl Generator {
    /// A generator that begins with this protocol.
    #[must_use]
    pub const fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            block: Wiped([0; BLOCK_LEN]),
            left: 0,
        }
    }
}

fn derive(protocol: &mut Protocol, block: &mut [u8; BLOCK_LEN]) {
    protocol.derive(label!("random"), block);
    protocol.ratchet(label!("random"));
}

impl SeedableRng for Generator {
    type Seed = [u8; 32];

    fn from_seed(mut seed: Self::Seed) -> Self {
        let mut protocol = Protocol::new(label!("veriplex.generator.v1"));
        protocol.mix(label!("seed"), &seed);
        wipe(&mut seed);
        Self::new(protocol)
    }
}

impl TryRng for Generator {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        next_word_via_fill(self)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        next_word_via_fill(self)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        let (first, rest) = bytes.split_at_mut(bytes.len().min(self.left));
        self.output(first);
        let (blocks, last) = rest.as_chunks_mut();
        for block in blocks {
            derive(&mut self.protocol, block);
        }
        if !last.is_empty() {
            derive(&mut self.protocol, &mut self.block.0);
            self.left = BLOCK_LEN;
            self.output(last);
        }
        Ok(())
    }
}

impl Generator {
    /// Outputs what was made, and wipes it here. There must be as much.
    fn output(&mut self, bytes: &mut [u8]) {
        let start = BLOCK_LEN - self.left;
        let made = &mut self.block.0[start..start + bytes.len()];
        bytes.copy_from_slice(made);
        wipe(made);
        self.left -= bytes.len();
    }
}

impl TryCryptoRng for Generator {}

impl zeroize::ZeroizeOnDrop for Generator {}

opaque!(Generator);

#[cfg(test)]
mod tests {
    use ::rand_core::Rng;

    use super::*;

    #[test]
    fn what_was_given_out_is_wiped() {
        let mut generator = Generator::from_seed([7; 32]);
        for given in [1, 100, 411] {
            generator.fill_bytes(&mut [0; 512][..given]);
            let (given, rest) = generator.block.0.split_at(BLOCK_LEN - generator.left);
            assert!(given.iter().all(|&byte| byte == 0));
            assert!(rest.is_empty() || rest.iter().any(|&byte| byte != 0));
        }
        assert_eq!(generator.left, 0);
    }
}
