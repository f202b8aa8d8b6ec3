//! The hashes of Adiantum and `HPolyC`.

use core::array::from_fn;

use super::nh::{self, Nh};
use super::{AT_ONCE, BLOCK_LEN, Block, Hash};
use crate::base::wipe::{Secret, Wiped, wipe};
use crate::poly1305::backend::{Backend, Long, State};
use crate::poly1305::number::{Pairs, ZERO_BLOCK_CANCEL};
use crate::poly1305::short::{PerMessage, Short};

/// Poly1305 with a 16-byte key: the value of the polynomial is the hash; nothing is added to it.
fn poly(key: &[u8], bytes_hint: usize) -> State {
    let mut long = Wiped([0; 32]);
    long.0[..16].copy_from_slice(key);
    Backend::current().start(&long.0, bytes_hint)
}

/// The hash of Adiantum: Poly1305 over the tweak, and over the NH of each KiB of the message.
#[derive(Clone)]
pub struct NhPoly1305 {
    tweak: Short,
    message: Short,
    nh: Nh,
    /// For as many tweaks or messages at once.
    tweaks: Option<PerMessage>,
    messages: Option<PerMessage>,
}

impl NhPoly1305 {
    /// Size in bytes of a key: one Poly1305 key for the tweak, one for the message, and the NH key.
    pub const KEY_LEN: usize = 16 + 16 + nh::KEY_LEN;

    /// Creates the hash with this key.
    #[allow(clippy::missing_panics_doc)] // the length is right
    #[must_use]
    pub fn new(key: &[u8; Self::KEY_LEN]) -> Self {
        let (tweak, message) = (poly(&key[..16], 0), poly(&key[16..32], 0));
        Self {
            tweak: tweak.short(),
            message: message.short(),
            nh: Nh::new(key.last_chunk().expect("the rest")),
            tweaks: tweak.per_message(),
            messages: message.per_message(),
        }
    }
}

/// The hash of tweak and length.
pub struct TweakHash(Secret<u128>);

impl Hash for NhPoly1305 {
    type Tweaked = TweakHash;

    fn tweak(&self, tweak: &[u8], message_len: usize) -> Self::Tweaked {
        let mut sum = self.tweak.clone();
        sum.absorb(&[(8 * message_len as u128).to_le_bytes()]);
        let (blocks, rest) = tweak.as_chunks();
        sum.absorb(blocks);
        TweakHash(Secret::new(sum.value(rest)))
    }

    fn hash(&self, tweaked: &Self::Tweaked, message: &[u8]) -> u128 {
        let mut sum = self.message.clone();
        self.nh
            .hash_pieces(message, |hash| sum.absorb(hash.as_chunks().0));
        tweaked.0.wrapping_add(sum.value(&[]))
    }

    fn tweak_each(&self, tweaks: [&[u8]; AT_ONCE], message_len: usize) -> [Self::Tweaked; AT_ONCE] {
        let n = tweaks[0].len() / PAIR_LEN;
        let fit = n <= MOST_PAIRS && tweaks[0].len() == n * PAIR_LEN;
        let (Some(of_tweaks), true) = (&self.tweaks, fit && of_one_size(&tweaks)) else {
            return tweaks.map(|tweak| self.tweak(tweak, message_len));
        };
        let mut start = self.tweak.clone();
        start.absorb(&[(8 * message_len as u128).to_le_bytes()]);
        let mut pairs = AllPairs::new();
        for (i, tweak) in tweaks.iter().enumerate() {
            pairs.put(i, tweak);
        }
        let values = of_tweaks.values(start.number(), &pairs.0[..n]);
        values.map(|value| TweakHash(Secret::new(value)))
    }

    fn hash_each(
        &self,
        tweaked: &[Self::Tweaked; AT_ONCE],
        buffers: [&[u8]; AT_ONCE],
        spare: usize,
    ) -> [u128; AT_ONCE] {
        let messages = before(buffers, spare);
        let n = messages[0].len().div_ceil(nh::MAX_LEN);
        let (Some(of_messages), true) = (&self.messages, n <= MOST_PAIRS && of_one_size(&messages)) else {
            return from_fn(|i| self.hash(&tweaked[i], messages[i]));
        };
        let mut pairs = AllPairs::new();
        for (i, message) in messages.iter().enumerate() {
            // All pieces of a message one after the other: data that lies in a row is read in a row.
            let mut pairs = pairs.0.iter_mut();
            self.nh.hash_pieces(message, |hash| {
                if let Some(pair) = pairs.next() {
                    let (first, second) = hash.split_at(BLOCK_LEN);
                    pair[i].copy_from_slice(first);
                    pair[AT_ONCE + i].copy_from_slice(second);
                }
            });
        }
        let values = of_messages.values((0, 0), &pairs.0[..n]);
        from_fn(|i| tweaked[i].0.wrapping_add(values[i]))
    }
}

/// Whether none is longer than another. The callers that go side by side need this.
fn of_one_size(messages: &[&[u8]; AT_ONCE]) -> bool {
    messages.iter().all(|message| message.len() == messages[0].len())
}

/// Size in bytes of two blocks: of what NH makes of a piece, and of the tweak of a sector.
const PAIR_LEN: usize = 2 * BLOCK_LEN;

/// How many of them are hashed side by side, at most: those of a sector of 4 KiB.
const MOST_PAIRS: usize = 4;

/// Blocks of several messages. Wiped at once.
struct AllPairs([Pairs; MOST_PAIRS]);

impl AllPairs {
    fn new() -> Self {
        Self([[[0; BLOCK_LEN]; 2 * AT_ONCE]; MOST_PAIRS])
    }

    /// Puts the blocks of message i in their places.
    fn put(&mut self, i: usize, blocks: &[u8]) {
        let places = self
            .0
            .iter_mut()
            .flat_map(|pair| pair[i..].iter_mut().step_by(AT_ONCE));
        for (place, block) in places.zip(blocks.as_chunks().0) {
            *place = *block;
        }
    }
}

impl Drop for AllPairs {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut().as_flattened_mut());
    }
}

/// The hash of `HPolyC`: Poly1305 over the tweak, padded, and the message.
#[derive(Clone)]
pub struct PaddedPoly1305 {
    tweak: Short,
    message: Long,
    /// For as many tweaks at once.
    tweaks: Option<PerMessage>,
    go_padding: bool,
}

/// From so many blocks on, a message takes less time by itself than beside others: their blocks would have to be copied.
const FEWEST: usize = 64;

/// A message of this size in bytes has enough blocks for a kernel.
const LONG: usize = 2048;

impl PaddedPoly1305 {
    /// Creates the hash with this key.
    #[must_use]
    pub fn new(key: &[u8; 16]) -> Self {
        let message = poly(key, LONG);
        Self {
            tweak: message.short(),
            tweaks: message.per_message(),
            message: message.long(),
            go_padding: false,
        }
    }

    /// The same, but with a full block of padding where none is needed: tweaks of 12, 28, 44, ... bytes.
    pub(super) fn with_go_padding(self) -> Self {
        Self {
            go_padding: true,
            ..self
        }
    }
}

impl Hash for PaddedPoly1305 {
    const MAX_TWEAK_LEN: usize = (1 << 29) - 1;
    type Tweaked = TweakSum;

    fn tweak(&self, tweak: &[u8], _: usize) -> Self::Tweaked {
        let mut sum = self.tweak.clone();
        let bits = 8 * tweak.len() as u128; // below 2^32
        // The first block has the length before the tweak.
        let (start, after) = tweak.split_at(tweak.len().min(BLOCK_LEN - 4));
        sum.absorb(&[(bits | number(start) << 32).to_le_bytes()]);
        let (blocks, rest) = after.as_chunks();
        sum.absorb(blocks);
        let full = (4 + tweak.len()).is_multiple_of(BLOCK_LEN);
        if !rest.is_empty() || full && self.go_padding {
            sum.absorb(&[number(rest).to_le_bytes()]);
        }
        TweakSum(sum)
    }

    fn hash(&self, tweaked: &Self::Tweaked, message: &[u8]) -> u128 {
        self.hash_before(tweaked, message, 0)
    }

    fn hash_before(&self, tweaked: &Self::Tweaked, buffer: &[u8], spare: usize) -> u128 {
        let mut sum = tweaked.0.clone();
        let (blocks, rest, spare) = blocks_before(buffer, spare);
        self.message.absorb_into(&mut sum, blocks, spare);
        sum.value(rest)
    }

    fn tweak_each(&self, tweaks: [&[u8]; AT_ONCE], message_len: usize) -> [Self::Tweaked; AT_ONCE] {
        let len = 4 + tweaks[0].len();
        let blocks = len.div_ceil(BLOCK_LEN);
        let n = blocks.div_ceil(2);
        let fit = n <= MOST_PAIRS && !self.go_padding;
        let (Some(of_tweaks), true) = (&self.tweaks, fit && of_one_size(&tweaks)) else {
            return tweaks.map(|tweak| self.tweak(tweak, message_len));
        };
        // An odd number of blocks has zeros before them.
        let (before, start) = if blocks.is_multiple_of(2) {
            (0, (0, 0))
        } else {
            (BLOCK_LEN, ZERO_BLOCK_CANCEL)
        };
        let mut pairs = AllPairs::new();
        for (i, tweak) in tweaks.iter().enumerate() {
            let bits = 8 * tweak.len() as u128; // below 2^32
            let mut blocks = [0; MOST_PAIRS * PAIR_LEN];
            blocks[before..][..4].copy_from_slice(&bits.to_le_bytes()[..4]);
            blocks[before + 4..][..tweak.len()].copy_from_slice(tweak);
            pairs.put(i, &blocks);
        }
        of_tweaks.sums(start, &pairs.0[..n]).map(TweakSum)
    }

    fn hash_each(
        &self,
        tweaked: &[Self::Tweaked; AT_ONCE],
        buffers: [&[u8]; AT_ONCE],
        spare: usize,
    ) -> [u128; AT_ONCE] {
        let mut sums = tweaked.each_ref().map(|tweaked| tweaked.0.clone());
        let split = if of_one_size(&buffers) {
            buffers.map(|buffer| blocks_before(buffer, spare))
        } else {
            before(buffers, spare).map(|message| blocks_before(message, 0))
        };
        let (blocks, spare) = (split.map(|(blocks, ..)| blocks), split[0].2);
        match &self.tweaks {
            Some(of_each) if blocks[0].len() < FEWEST && of_one_size(&buffers) => {
                let blocks = blocks.map(|blocks| &blocks[..blocks.len() - usize::from(spare)]);
                of_each.absorb_blocks(&mut sums, blocks);
            }
            _ => self.message.absorb_into_each(&mut sums, blocks, spare),
        }
        let mut rests = split.iter();
        sums.map(|sum| sum.value(rests.next().map_or(&[], |(_, rest, _)| rest)))
    }
}

/// These bytes, at most 16, as a number. To copy them would take as long as absorbing the block.
fn number(bytes: &[u8]) -> u128 {
    // Where the first and the last bytes overlap, they are the same.
    if let (Some(low), Some(high)) = (bytes.first_chunk::<8>(), bytes.last_chunk()) {
        let [low, high] = [low, high].map(|half| u128::from(u64::from_le_bytes(*half)));
        low | high << (8 * bytes.len() - 64)
    } else if let (Some(low), Some(high)) = (bytes.first_chunk::<4>(), bytes.last_chunk()) {
        let [low, high] = [low, high].map(|half| u128::from(u32::from_le_bytes(*half)));
        low | high << (8 * bytes.len() - 32)
    } else {
        let bytes = bytes.iter().rev();
        bytes.fold(0, |number, byte| number << 8 | u128::from(*byte))
    }
}

/// The full blocks before the last `spare` bytes, and what is left before these. If it is none and they are a block, then
/// this block too, and true.
fn blocks_before(buffer: &[u8], spare: usize) -> (&[Block], &[u8], bool) {
    match buffer.as_chunks() {
        (blocks, []) if spare == BLOCK_LEN => (blocks, &[], true),
        _ => {
            let (blocks, rest) = buffer[..buffer.len() - spare].as_chunks();
            (blocks, rest, false)
        }
    }
}

/// All but the last `spare` bytes of each.
fn before(buffers: [&[u8]; AT_ONCE], spare: usize) -> [&[u8]; AT_ONCE] {
    buffers.map(|buffer| &buffer[..buffer.len() - spare])
}

/// The sum over a tweak.
pub struct TweakSum(Short);

debug_without_keys!(NhPoly1305, PaddedPoly1305, TweakHash, TweakSum);

#[cfg(all(test, feature = "std", target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_wiped() {
        crate::base::wipe::assert_wiped_on_drop(AllPairs([[[0xff; BLOCK_LEN]; 2 * AT_ONCE]; MOST_PAIRS]));
    }
}
