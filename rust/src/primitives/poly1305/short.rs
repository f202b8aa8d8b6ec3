//! Poly1305 as a hash with secret values, over few blocks, one by one. What a kernel needs is not here, so that little is
//! copied for each message.

#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
use super::lanes44;
use super::number::{Block, MESSAGES_PER_BATCH, Number, Pairs, padded, reduce};
use super::{portable32, portable64};
use crate::base::wipe::{Secret, Wiped};

/// The sum over the blocks of a message so far.
///
/// Wiped on drop.
#[derive(Clone)]
pub(crate) enum Short {
    Portable64(portable64::Accumulator),
    Portable32(portable32::Accumulator),
}

impl Short {
    /// Absorbs blocks.
    #[inline]
    pub(crate) fn absorb(&mut self, blocks: &[Block]) {
        self.add(blocks, 1);
    }

    #[inline]
    fn add(&mut self, blocks: &[Block], high: u8) {
        match self {
            Self::Portable64(sum) => sum.blocks(blocks, high),
            Self::Portable32(sum) => sum.blocks(blocks, high),
        }
    }

    /// The value with these last bytes, fewer than a block: nothing is added to it, as to a tag.
    #[inline]
    pub(crate) fn value(mut self, rest: &[u8]) -> u128 {
        if !rest.is_empty() {
            self.add(&[*padded(rest)], 0);
        }
        // Reduced in each arm: the compiler would merge the sums in memory, and wait for it.
        match &self {
            Self::Portable64(sum) => {
                let (low, top) = sum.value();
                reduce(low, top).0
            }
            Self::Portable32(sum) => {
                let (low, top) = sum.value();
                reduce(low, top).0
            }
        }
    }

    /// The sum as its low 128 bits and the rest.
    #[inline]
    pub(crate) fn number(&self) -> Number {
        match self {
            Self::Portable64(sum) => sum.value(),
            Self::Portable32(sum) => sum.value(),
        }
    }
}

/// For several messages under one key. Without products of 128 bits there is none.
///
/// Wiped on drop.
#[derive(Clone)]
pub(crate) struct PerMessage {
    of_r: portable64::Accumulator,
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    lanes44: Option<lanes44::PerMessage>,
}

impl PerMessage {
    pub(super) const fn portable64(of_r: portable64::Accumulator) -> Self {
        Self {
            of_r,
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            lanes44: None,
        }
    }

    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    pub(super) const fn lanes44(of_r: portable64::Accumulator, lanes44: lanes44::PerMessage) -> Self {
        Self {
            of_r,
            lanes44: Some(lanes44),
        }
    }

    /// Absorbs blocks of as many messages into their sums.
    fn absorb(&self, sums: &mut [Number; MESSAGES_PER_BATCH], pairs: &[Pairs]) {
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        if let Some(of_each) = &self.lanes44 {
            return of_each.add_to_each(sums, pairs);
        }
        self.of_r.add_to_each(sums, pairs);
    }

    /// The values of these messages, each from a sum that they have in common: see [`Short::value`].
    pub(crate) fn values(&self, start: Number, pairs: &[Pairs]) -> Secret<[u128; MESSAGES_PER_BATCH]> {
        let mut sums = Secret::new([start; MESSAGES_PER_BATCH]);
        self.absorb(&mut sums, pairs);
        Secret::new(sums.map(|(low, top)| reduce(low, top).0))
    }

    /// The sums over these messages.
    pub(crate) fn sums(&self, start: Number, pairs: &[Pairs]) -> [Short; MESSAGES_PER_BATCH] {
        let mut sums = Secret::new([start; MESSAGES_PER_BATCH]);
        self.absorb(&mut sums, pairs);
        sums.map(|(low, top)| {
            let mut sum = self.of_r.clone();
            sum.set(low, top);
            Short::Portable64(sum)
        })
    }

    /// Absorbs blocks of each message into its sum, as many of each.
    pub(crate) fn absorb_blocks(
        &self,
        sums: &mut [Short; MESSAGES_PER_BATCH],
        messages: [&[Block]; MESSAGES_PER_BATCH],
    ) {
        const AT_ONCE: usize = 4;
        let n = messages[0].len();
        let mut numbers = Secret::new(sums.each_ref().map(Short::number));
        let mut pairs = Wiped([0; AT_ONCE * size_of::<Pairs>()]);
        let all: &mut [Pairs] = pairs.0.as_chunks_mut().0.as_chunks_mut().0;
        for first in (0..n / 2).step_by(AT_ONCE) {
            let pairs = &mut all[..AT_ONCE.min(n / 2 - first)];
            for (j, message) in messages.iter().enumerate() {
                let (blocks, _) = message[2 * first..].as_chunks::<2>();
                for (pair, [a, b]) in pairs.iter_mut().zip(blocks) {
                    (pair[j], pair[MESSAGES_PER_BATCH + j]) = (*a, *b);
                }
            }
            self.absorb(&mut numbers, pairs);
        }
        for ((sum, (low, top)), message) in sums.iter_mut().zip(*numbers).zip(messages) {
            if let Short::Portable64(sum) = sum {
                sum.set(low, top);
            }
            sum.absorb(&message[n / 2 * 2..]);
        }
    }
}

/// All of them, if they are of this kind.
#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
pub(super) fn portable64(
    sums: &mut [Short; MESSAGES_PER_BATCH],
) -> Option<[&mut portable64::Accumulator; MESSAGES_PER_BATCH]> {
    let mut all = sums.each_mut().map(|sum| match sum {
        Short::Portable64(sum) => Some(sum),
        Short::Portable32(_) => None,
    });
    all.iter()
        .all(Option::is_some)
        .then(|| all.each_mut().map(|sum| sum.take().expect("all are")))
}
