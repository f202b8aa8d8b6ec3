//! Memory-hard hash, for passwords: `DEGSample` ([arXiv 2508.06795](https://arxiv.org/abs/2508.06795)) over
//! Protocol.
//!
//! With N = 2^cost it computes 5N blocks of 1024 bytes, each from blocks before it, and keeps all of them in memory:
//! 5 * 2^cost KiB. Salt and cost alone decide which blocks the first 3N depend on. Each of the last 2N looks up one of
//! the first 3N, at a place that depends on password and salt.
//!
//! A guess at the password costs about as much as one call: if the underlying hash is ideal, the paper proves how much
//! memory any computation of the output, even a parallel one, must hold, and for how long. The output is pseudorandom
//! to those who cannot guess the password.
//!
//! **The timing of memory accesses in the last 2N blocks depends on password and salt.** This is inherent in such
//! hybrid functions. Whoever observes these accesses (a process on the same machine, through caches) can reject most
//! wrong guesses after the first 3N blocks, with less memory. Apart from this, time depends only on the password's
//! length.
//!
//! Choose the largest cost that your users can wait for: [`Mhf::RECOMMENDED_COST`] unless you have measured. The salt
//! must be different for every password: 16 random bytes, stored with cost and output. For secrets that cannot be
//! guessed, use [`kdf`](crate::kdf) instead.
//!
//! ```
//! use veriplex::{Key, Nonce, label, mhf::Mhf, os_rng};
//!
//! let mhf = Mhf::new(label!("com.example.passwords"), Mhf::RECOMMENDED_COST)?;
//! let salt = Nonce::<16>::generate(&mut os_rng()); // another one for each password: store it
//! let key: Key = mhf.derive_key(b"password", salt.as_bytes())?;
//! # let _ = key;
//! # Ok::<(), veriplex::mhf::Error>(())
//! ```

use core::fmt;
use core::hint::black_box;
use core::mem::swap;

#[cfg(feature = "alloc")]
use crate::Key;
use crate::base::wipe::wipe;
use crate::{Label, Protocol, label};

/// Size in bytes of a block.
pub const BLOCK_LEN: usize = 1024;

/// A block of the memory that [`Mhf::hash_into_with_memory`] works in.
pub type Block = [u8; BLOCK_LEN];

/// Why there is no hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Error {
    /// The cost is above [`Mhf::MAX_COST`].
    CostTooHigh,
    /// The cost is below [`Mhf::MIN_COST`].
    CostTooLow,
    /// There is not enough memory.
    OutOfMemory,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CostTooHigh => "cost above the maximum",
            Self::CostTooLow => "cost below the minimum",
            Self::OutOfMemory => "not enough memory",
        })
    }
}

impl core::error::Error for Error {}

/// A memory-hard hash in a domain, with a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mhf<'d> {
    domain: Label<'d>,
    cost: u8,
}

impl<'d> Mhf<'d> {
    /// The largest cost: 26 (320 GiB), or less where a pointer cannot address so much: 18 (1.25 GiB) with 32 bits.
    pub const MAX_COST: u8 = {
        let mut cost = 26;
        while (5 * BLOCK_LEN as u128) << cost > isize::MAX as u128 {
            cost -= 1;
        }
        cost
    };

    /// The smallest cost of [`Mhf::new`]: 10 (5 MiB).
    pub const MIN_COST: u8 = 10;
    /// A cost for logins and files: 14 (80 MiB).
    pub const RECOMMENDED_COST: u8 = 14;

    /// A hash that needs 5 * 2^cost KiB of memory.
    ///
    /// # Errors
    ///
    /// [`Error::CostTooLow`] below [`Mhf::MIN_COST`], [`Error::CostTooHigh`] above [`Mhf::MAX_COST`]. This maximum is
    /// more memory than most machines have, so set your own limit on costs that come from outside. In a constant, a
    /// wrong cost does not compile:
    ///
    /// ```compile_fail,E0080
    /// use veriplex::{label, mhf::Mhf};
    ///
    /// const LOGINS: Mhf<'_> = match Mhf::new(label!("com.example.logins"), 0) {
    ///     Ok(mhf) => mhf,
    ///     Err(_) => panic!("the cost is too low or too high"),
    /// };
    /// ```
    pub const fn new(domain: Label<'d>, cost: u8) -> Result<Self, Error> {
        if cost < Self::MIN_COST {
            return Err(Error::CostTooLow);
        }
        Self::with_any_cost(domain, cost)
    }

    /// The same without a lower bound, for tests and for existing hashes with a lower cost. Below [`Mhf::MIN_COST`] a
    /// guess at the password costs hardly anything.
    ///
    /// # Errors
    ///
    /// [`Error::CostTooHigh`] above [`Mhf::MAX_COST`].
    pub const fn with_any_cost(domain: Label<'d>, cost: u8) -> Result<Self, Error> {
        if cost > Self::MAX_COST {
            return Err(Error::CostTooHigh);
        }
        Ok(Self { domain, cost })
    }

    /// How many blocks of memory it needs: 5 * 2^cost.
    #[must_use]
    pub const fn memory_blocks(&self) -> usize {
        5 << self.cost
    }

    /// Fills `output`, of any length, in the caller's memory, whose content does not matter and which is wiped
    /// afterwards.
    ///
    /// # Errors
    ///
    /// [`BufferLength`](crate::Error::BufferLength) if there are not [`Mhf::memory_blocks`] blocks.
    pub fn hash_into_with_memory(
        &self,
        password: &[u8],
        salt: &[u8],
        output: &mut [u8],
        memory: &mut [Block],
    ) -> Result<(), crate::Error> {
        if memory.len() != self.memory_blocks() {
            return Err(crate::Error::BufferLength);
        }
        self.hash_in(memory, password, salt, output);
        Ok(())
    }

    /// Needs [`Mhf::memory_blocks`] blocks, which it wipes.
    fn hash_in(&self, memory: &mut [Block], password: &[u8], salt: &[u8], output: &mut [u8]) {
        self.fill(password, salt, memory).derive(label!("output"), output);
        wipe(memory.as_flattened_mut());
    }

    /// Fills the memory. Returns the protocol that the output is derived from.
    ///
    /// Every block is derived from a protocol of its own, a node, and what each node takes in first is the block
    /// before. So the next node is begun before its block is derived, and takes in each piece of it at once: two
    /// permutations that do not wait for each other, so a CPU that executes out of order overlaps them.
    fn fill(&self, password: &[u8], salt: &[u8], memory: &mut [Block]) -> Protocol {
        let n: usize = 1 << self.cost;
        let mut root = Protocol::new(self.domain);
        root.mix(label!("cost"), &[self.cost]);
        root.mix(label!("salt"), salt);
        let [independent, mut dependent] = root.fork(label!("data"), ["independent", "dependent"]);
        let graph = Graph::new(independent, self.cost);
        dependent.mix(label!("password"), password);
        dependent.derive(label!("source"), &mut memory[0]);

        // What the nodes of one kind have in common.
        let [static_node, dynamic_node, last] =
            [label!("node"), label!("prev"), label!("final")].map(|label| {
                let mut node = dependent.clone();
                node.mix_begin(label);
                node
            });
        // Begins the node of block `v`, or that of the output after all blocks.
        let begin = |v, node: &mut Protocol| {
            if v < 3 * n {
                node.copy_from(&static_node);
                node.mix_more_leb128(v);
                node.mix_begin(label!("required"));
            } else {
                node.copy_from(if v < 5 * n { &dynamic_node } else { &last });
            }
        };

        // Two places that take turns: a node that is moved has to wait for its last permutation.
        let (mut node, mut next) = (&mut dependent.clone(), &mut dependent);
        begin(1, node);
        node.mix_more(&memory[0]);
        for v in 1..5 * n {
            let label = if v < 3 * n {
                if let Some(parent) = graph.optional_parent(v) {
                    node.mix(label!("optional"), &memory[parent]);
                }
                label!("static")
            } else {
                let place = remainder(node.derive_array(label!("pre-label")), n);
                let block = &memory[last_of(place)];
                touch(block);
                node.mix(label!("back-pointer"), block);
                label!("dynamic")
            };
            begin(v + 1, next);
            node.derive_and_mix(label, &mut memory[v], next);
            swap(&mut node, &mut next);
        }
        node.clone()
    }
}

#[cfg(feature = "alloc")]
impl Mhf<'_> {
    /// A key of `N` bytes from a password: [`Mhf::hash_into`].
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if there is not enough.
    pub fn derive_key<const N: usize>(&self, password: &[u8], salt: &[u8]) -> Result<Key<N>, Error> {
        let mut key = Key::from([0; N]);
        self.hash_into(password, salt, key.as_mut_bytes())?;
        Ok(key)
    }

    /// Fills `output`, of any length, in memory that it allocates and wipes. An output is not the beginning of a longer
    /// one.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if there is not enough.
    pub fn hash_into(&self, password: &[u8], salt: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let mut memory = alloc::vec::Vec::new();
        memory
            .try_reserve_exact(self.memory_blocks())
            .map_err(|_| Error::OutOfMemory)?;
        memory.resize(self.memory_blocks(), [0; BLOCK_LEN]);
        self.hash_in(&mut memory, password, salt, output);
        Ok(())
    }
}

/// The static graph: N groups of three blocks in a row. A block depends on the one before, and the second and the
/// third of a group also on the last one of another group.
struct Graph {
    /// What the places of `random_parent` are derived from, except the number.
    independent: Protocol,
    columns: usize,
}

impl Graph {
    fn new(mut independent: Protocol, cost: u8) -> Self {
        independent.mix_begin(label!("node"));
        Self {
            independent,
            columns: columns(cost),
        }
    }

    /// The other parent of block `v`, besides the block before it.
    fn optional_parent(&self, v: usize) -> Option<usize> {
        let group = v / 3;
        let parent = match v % 3 {
            1 if group >= 2 => self.random_parent(group),
            2 if group >= self.columns => group - self.columns,
            _ => return None,
        };
        Some(last_of(parent))
    }

    /// A group before this one: the distance has a random order of magnitude, and within it is random.
    fn random_parent(&self, group: usize) -> usize {
        let mut node = self.independent.clone();
        node.mix_more_leb128(group);
        let bits = (group - 1).ilog2() as usize + 1;
        let level = remainder(node.derive_array(label!("level")), bits);
        let offset = remainder(node.derive_array(label!("offset")), 1 << level);
        (group + offset).saturating_sub(2 << level)
    }
}

/// Reads from each cache line of a block, so that they come from memory at the same time, not one after the other while
/// the block is mixed in.
fn touch(block: &Block) {
    const CACHE_LINE: usize = 64;
    black_box(block.iter().step_by(CACHE_LINE).fold(0, |all, byte| all ^ byte));
}

/// The last block of a group.
const fn last_of(group: usize) -> usize {
    3 * group + 2
}

/// The remainder of a little-endian number.
#[allow(clippy::cast_possible_truncation)] // less than `modulus`
fn remainder(number: [u8; 8], modulus: usize) -> usize {
    (u64::from_le_bytes(number) % modulus as u64) as usize
}

/// How many groups are in a row of the static graph: N^0.8 rounded to the nearest integer, for N = 2^cost, but
/// at most N. It is at least 1.
const fn columns(cost: u8) -> usize {
    // The largest c with c - 1/2 <= 2^(4 cost / 5), that is (2c - 1)^5 <= 2^(4 cost + 5): from the top bit down.
    let limit = 1_u128 << (4 * cost + 5);
    let mut c = 0_u128;
    let mut bit = 2 << (4 * cost / 5);
    while bit > 0 {
        if (2 * (c | bit) - 1).pow(5) <= limit {
            c |= bit;
        }
        bit >>= 1;
    }
    c as usize
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::columns;

    /// Against the fifth root of N^4 with 200 bits after the point, rounded half up.
    #[test]
    fn columns_are_exact() {
        for cost in 0..=26_u8 {
            let root = (BigUint::from(1_u32) << (4 * u32::from(cost) + 5 * 200)).nth_root(5);
            let rounded = (root + (BigUint::from(1_u32) << 199_u32)) >> 200_u32;
            assert_eq!(BigUint::from(columns(cost)), rounded, "cost {cost}");
            // Here the original's float power is exact enough too.
            #[cfg(feature = "std")]
            {
                extern crate std;
                let float = f64::from(1_u32 << cost).powf(0.8).round();
                assert_eq!(
                    float.to_bits(),
                    f64::from(u32::try_from(columns(cost)).unwrap()).to_bits()
                );
            }
        }
    }
}
