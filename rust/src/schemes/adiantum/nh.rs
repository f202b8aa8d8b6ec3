//! NH with 32-bit words, stride 2, four passes and messages of at most 1024 bytes.

use core::array::from_fn;

use crate::Error;
use crate::backend::dispatch::{self, Candidate, Dispatch, Primitive, checksum, input};
use crate::backend::nh::{self as kernels, CANDIDATES, Kernels};
use crate::base::wipe::{Secret, Wiped, opaque};

/// Size in bytes of a hash.
pub const HASH_LEN: usize = 32;
/// Size in bytes of the longest message.
pub const MAX_LEN: usize = 1024;
/// Size in bytes of a key.
pub const KEY_LEN: usize = MAX_LEN + (PASSES - 1) * UNIT_LEN;

const PASSES: usize = 4;
const UNIT_LEN: usize = 16;

/// Four words.
type Unit = [u32; 4];

/// The sums of the two products of the units, for each pass.
type Sums = [[u64; 2]; PASSES];

type Token = dispatch::Token<Kernels>;

impl Dispatch for Kernels {
    const PRIMITIVE: Primitive = Primitive::Nh;
    const CANDIDATES: &[Candidate<Self>] = &CANDIDATES;
    const KNOWN: u64 = 0x8e6a_2f17_be6f_f6f7;

    /// Of units one by one, and in groups where there is a kernel for them.
    fn answers(kernels: Option<Token>) -> u64 {
        let nh = Nh::new(&input(1));
        let units: [_; 36] = input::<{ 36 * UNIT_LEN }>(2)
            .as_chunks()
            .0
            .try_into()
            .expect("as many");
        let (mut one_by_one, mut in_groups) = ([[3; 2]; PASSES], [[0; 2]; PASSES]);
        add_units(kernels, &mut one_by_one, &units, nh.key.as_slice());
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        let added = kernels.map_or(0, |token| {
            let mut lanes = kernels::LaneSums::default();
            let added = token.add_groups(&mut lanes, &units, nh.swapped.as_slice());
            in_groups = lanes.since_last();
            added
        });
        #[cfg(not(all(veriplex_kernels, target_arch = "x86_64")))]
        let added = 0;
        add_portably(&mut in_groups, &units[added..], &nh.key[added..]);
        let sums = [one_by_one, in_groups];
        let sums = sums.as_flattened().as_flattened().iter();
        sums.fold(0, |sum, word| checksum(sum, &word.to_le_bytes()))
    }
}

/// NH under one key: an almost universal hash. It is not a MAC, and its values must stay secret.
///
/// Wiped on drop.
#[derive(Clone)]
pub struct Nh {
    key: Secret<KeyUnits>,
    /// With words 1 and 2 of each unit in each other's place: for a kernel.
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    swapped: Secret<KeyUnits>,
}

type KeyUnits = [Unit; KEY_LEN / UNIT_LEN];

impl Nh {
    /// Creates the hash with this key.
    #[must_use]
    pub fn new(key: &[u8; KEY_LEN]) -> Self {
        let (units, _) = key.as_chunks();
        let key: Secret<KeyUnits> = Secret::new(from_fn(|i| unit(&units[i])));
        Self {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            swapped: Secret::new(swapped(&key)),
            key,
        }
    }

    /// The hash of 1 to 1024 bytes, zero-padded to a multiple of 16.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] for any other number of bytes.
    pub fn hash(&self, message: &[u8]) -> Result<[u8; HASH_LEN], Error> {
        if message.is_empty() || message.len() > MAX_LEN {
            return Err(Error::BufferLength);
        }
        Ok(self.hash_piece(message))
    }

    /// Passes on the hash of each KiB of a message of any length, and of what is left.
    #[inline]
    pub(super) fn hash_pieces(&self, message: &[u8], mut on_hash: impl FnMut(&[u8; HASH_LEN])) {
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        if message.len() > MAX_LEN
            && let Some(token) = Kernels::first()
            && token.takes_groups()
        {
            return self.hash_groups(token, message, on_hash);
        }
        for piece in message.chunks(MAX_LEN) {
            on_hash(&Wiped(self.hash_piece(piece)).0);
        }
    }

    /// The same, as far as it can by a kernel for groups of units. For a shorter message it would take longer.
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    #[inline]
    fn hash_groups(&self, token: Token, message: &[u8], mut on_hash: impl FnMut(&[u8; HASH_LEN])) {
        let mut lanes = kernels::LaneSums::default();
        let mut sums = Secret::new([[0; 2]; PASSES]);
        for piece in message.chunks(MAX_LEN) {
            let (units, _) = piece.as_chunks();
            let added = token.add_groups(&mut lanes, units, self.swapped.as_slice());
            *sums = lanes.since_last();
            on_hash(&Wiped(self.finish(&mut sums, piece, added)).0);
        }
    }

    fn hash_piece(&self, piece: &[u8]) -> [u8; HASH_LEN] {
        let mut sums = Secret::new([[0; 2]; PASSES]);
        let (units, _) = piece.as_chunks();
        let kernels = if units.len() >= kernels::FEWEST {
            Kernels::first()
        } else {
            None
        };
        add_units(kernels, &mut sums, units, self.key.as_slice());
        self.finish(&mut sums, piece, units.len())
    }

    /// The hash, from the sums of the first units: so many were added. Inlined, so that these stay in registers.
    #[inline(always)]
    fn finish(&self, sums: &mut Sums, message: &[u8], added: usize) -> [u8; HASH_LEN] {
        let (units, rest) = message.as_chunks();
        add_portably(sums, &units[added..], &self.key[added..]);
        if !rest.is_empty() {
            let mut last = Wiped([0; UNIT_LEN]);
            last.0[..rest.len()].copy_from_slice(rest);
            add(sums, unit(&last.0), &self.key[units.len()..]);
        }
        let mut hash = [0; HASH_LEN];
        for (bytes, [x, y]) in hash.as_chunks_mut().0.iter_mut().zip(*sums) {
            *bytes = x.wrapping_add(y).to_le_bytes();
        }
        hash
    }
}

#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
fn swapped(key: &KeyUnits) -> KeyUnits {
    key.map(|[k0, k1, k2, k3]| [k0, k2, k1, k3])
}

/// Adds the products of units of the message; for each, the key begins one unit further on.
fn add_units(kernels: Option<Token>, sums: &mut Sums, units: &[[u8; UNIT_LEN]], key: &[Unit]) {
    match kernels {
        Some(token) => token.add_units(sums, units, key),
        None => add_portably(sums, units, key),
    }
}

#[inline]
fn add_portably(sums: &mut Sums, units: &[[u8; UNIT_LEN]], key: &[Unit]) {
    for (m, key) in units.iter().zip(key.windows(PASSES)) {
        add(sums, unit(m), key);
    }
}

/// Adds the products of one unit of the message; each pass uses the key one unit further on.
#[inline(always)]
fn add(sums: &mut Sums, m: Unit, key: &[Unit]) {
    for (sum, k) in sums.iter_mut().zip(key) {
        let t: Unit = from_fn(|i| m[i].wrapping_add(k[i]));
        for i in 0..2 {
            sum[i] = sum[i].wrapping_add(u64::from(t[i]) * u64::from(t[i + 2]));
        }
    }
}

fn unit(bytes: &[u8; UNIT_LEN]) -> Unit {
    let (words, _) = bytes.as_chunks();
    from_fn(|i| u32::from_le_bytes(words[i]))
}

opaque!(Nh);

#[cfg(all(test, veriplex_kernels))]
mod tests {
    use super::*;

    const MOST: usize = MAX_LEN / UNIT_LEN;
    type Inputs = ([[u8; UNIT_LEN]; MOST], KeyUnits);

    /// With them the products are the largest.
    const LARGEST: Inputs = ([[0; UNIT_LEN]; MOST], [[u32::MAX; 4]; KEY_LEN / UNIT_LEN]);

    fn random(mut last: u64) -> impl FnMut() -> u64 {
        move || {
            last ^= last << 13;
            last ^= last >> 7;
            last ^= last << 17;
            last
        }
    }

    fn inputs(random: &mut impl FnMut() -> u64) -> Inputs {
        let mut byte = || random().to_le_bytes()[0];
        let units = from_fn(|_| from_fn(|_| byte()));
        (units, from_fn(|_| unit(&from_fn(|_| byte()))))
    }

    /// Every number of units, from every part of the key that has enough, with sums without a pattern before them; then
    /// the largest products.
    #[test]
    fn kernels_agree_with_portable() {
        let mut random = random(1);
        let (mut units, mut key) = inputs(&mut random);
        let mut agree = |token: Token, units: &[[u8; UNIT_LEN]], key: &[Unit]| {
            let mut sums: Sums = from_fn(|_| from_fn(|_| random()));
            let mut expected = sums;
            token.add_units(&mut sums, units, key);
            add_portably(&mut expected, units, key);
            assert_eq!(sums, expected, "{} units", units.len());
        };
        for token in Kernels::detected() {
            for n in 0..=MOST {
                for first in 0..=MOST - n {
                    agree(token, &units[..n], &key[first..]);
                    agree(token, &units[first..][..n], &key[first..first + n + PASSES - 1]);
                }
            }
        }
        (units, key) = LARGEST;
        for token in Kernels::detected() {
            agree(token, &units, &key);
        }
    }

    #[test]
    fn the_self_test_sees_each_wrong_operation() {
        use dispatch::{idle, would_serve};

        for token in Kernels::detected() {
            assert!(would_serve(*token));
            let idle = idle!(*mut u8, *const u8, *const u8, usize);
            assert!(
                !would_serve(Kernels {
                    add_units: idle,
                    ..*token
                }),
                "{}",
                token.name()
            );
            #[cfg(target_arch = "x86_64")]
            assert!(
                !would_serve(Kernels {
                    add_groups: Some(idle),
                    ..*token
                }),
                "{}",
                token.name()
            );
        }
    }

    /// The same for groups, with what came before in the lanes.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn kernels_for_groups_agree_with_portable() {
        let mut random = random(3);
        let (mut units, mut key) = inputs(&mut random);
        for token in Kernels::detected() {
            let mut lanes = kernels::LaneSums::default();
            for largest in [false, true] {
                if largest {
                    (units, key) = LARGEST;
                }
                for n in 0..=MOST {
                    for first in [0, 1, MOST - n] {
                        let (units, first) = (&units[..n], first.min(MOST - n));
                        let added = token.add_groups(&mut lanes, units, &swapped(&key)[first..]);
                        assert_eq!(added, if token.takes_groups() { n / 4 * 4 } else { 0 });
                        let (sums, mut expected) = (lanes.since_last(), [[0; 2]; PASSES]);
                        add_portably(&mut expected, &units[..added], &key[first..]);
                        assert_eq!(sums, expected, "{n} units");
                    }
                }
            }
        }
    }
}
