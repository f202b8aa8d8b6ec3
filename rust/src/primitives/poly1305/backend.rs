//! The backends of Poly1305: selection and block functions.

use core::fmt;

#[cfg(veriplex_kernels)]
use super::lanes;
#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
use super::lanes44;
use super::number::MESSAGES_PER_BATCH;
use super::number::{BLOCK_LEN, Block, padded, reduce};
use super::short::{PerMessage, Short};
use super::{KEY_LEN, portable32, portable64};
use crate::backend::dispatch::{Candidate, Dispatch, Primitive, Token, checksum, input};
use crate::backend::poly1305::limbs26;
#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
use crate::backend::poly1305::limbs44;
use crate::base::wipe::{Secret, opaque};
use crate::{Error, TAG_LEN};

/// An implementation of Poly1305 that this CPU can run.
///
/// All give the same tags; they differ in speed.
#[derive(Clone, Copy)]
pub struct Backend(Kind);

#[derive(Clone, Copy)]
enum Kind {
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    Lanes44(limbs44::Token),
    #[cfg(veriplex_kernels)]
    Lanes(limbs26::Token),
    Portable64,
    Portable32,
}

impl Dispatch for limbs26::Kernels {
    const PRIMITIVE: Primitive = Primitive::Poly1305Limbs26;
    const CANDIDATES: &[Candidate<Self>] = &limbs26::CANDIDATES;
    const KNOWN: u64 = TAGS;

    fn answers(kernels: Option<Token<Self>>) -> u64 {
        Backend::of_limbs26(kernels).tags()
    }
}

#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
impl Dispatch for limbs44::Kernels {
    const PRIMITIVE: Primitive = Primitive::Poly1305Limbs44;
    const CANDIDATES: &[Candidate<Self>] = &limbs44::CANDIDATES;
    const KNOWN: u64 = TAGS;

    fn answers(kernels: Option<Token<Self>>) -> u64 {
        let backend = kernels.map_or(Backend::PORTABLE, |token| Backend(Kind::Lanes44(token)));
        backend.tags()
    }
}

/// The checksum of [`Backend::tags`].
const TAGS: u64 = 0x81dc_16af_cbc6_efe1;

/// Size in bytes of a message for which every kernel is used, in several groups and what fills none.
const LONGEST: usize = 2300;

impl Backend {
    /// 64-bit limbs: for CPUs with 128-bit products.
    pub const PORTABLE_64: Self = Self(Kind::Portable64);
    /// 26-bit limbs: for CPUs with 64-bit products.
    pub const PORTABLE_32: Self = Self(Kind::Portable32);

    /// The better one of those that run anywhere.
    const PORTABLE: Self = if cfg!(target_pointer_width = "64") {
        Self::PORTABLE_64
    } else {
        Self::PORTABLE_32
    };

    /// Every backend that this CPU can run, the best first.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        let lanes44 = limbs44::Kernels::right().map(|token| Self(Kind::Lanes44(token)));
        #[cfg(not(all(veriplex_kernels, target_arch = "x86_64")))]
        let lanes44 = [].into_iter();
        let lanes = limbs26::Kernels::right().map(|token| Self::of_limbs26(Some(token)));
        let portable = [Self::PORTABLE_64, Self::PORTABLE_32].into_iter();
        lanes44.chain(lanes).chain(portable)
    }

    /// The backend that the library uses. While [`set_hardware_enabled`](crate::hazmat::set_hardware_enabled) forbids
    /// kernels, it is a portable one.
    ///
    /// # Panics
    ///
    /// If the portable backend computes something wrong.
    #[must_use]
    #[inline]
    pub fn current() -> Self {
        if cfg!(veriplex_backend = "portable") {
            return Self::PORTABLE; // nothing is left to choose
        }
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        if let Some(token) = limbs44::Kernels::first() {
            return Self(Kind::Lanes44(token));
        }
        Self::of_limbs26(limbs26::Kernels::first())
    }

    /// That of a kernel for limbs of 26 bits, if there is one, or the portable one.
    #[inline]
    fn of_limbs26(kernels: Option<limbs26::Token>) -> Self {
        match kernels {
            #[cfg(veriplex_kernels)]
            Some(token) => Self(Kind::Lanes(token)),
            _ => Self::PORTABLE,
        }
    }

    /// A checksum of the tags of short and long messages, some with the largest numbers.
    fn tags(self) -> u64 {
        let mut key_one = [0; KEY_LEN];
        key_one[0] = 1;
        let mut sum = 0;
        for key in [&input(1), &[0xff; KEY_LEN], &key_one] {
            for message in [&input::<LONGEST>(2), &[0xff; LONGEST]] {
                for len in [0, 1, 16, 33, LONGEST] {
                    sum = checksum(sum, &self.auth(key, &message[..len]));
                }
            }
        }
        sum
    }

    /// `"x86-64-avx512"`, `"x86-64-avx2"`, `"armv8"`, `"portable64"` or `"portable32"`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Kind::Lanes44(token) => token.name(),
            #[cfg(veriplex_kernels)]
            Kind::Lanes(token) => token.name(),
            Kind::Portable64 => "portable64",
            Kind::Portable32 => "portable32",
        }
    }

    /// Starts a message of about `bytes_hint` bytes (0 if unknown). A wrong hint only costs time.
    #[must_use]
    #[inline]
    #[cfg_attr(not(veriplex_kernels), allow(unused_variables))]
    pub fn start(self, key: &[u8; KEY_LEN], bytes_hint: usize) -> State {
        let (halves, _) = key.as_chunks();
        let [r, s] = [0, 1].map(|i| u128::from_le_bytes(halves[i]));
        let r = r & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff;
        State {
            accumulator: match self.0 {
                #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
                Kind::Lanes44(token) => Accumulator::Lanes44(lanes44::Accumulator::new(token, r)),
                #[cfg(veriplex_kernels)]
                Kind::Lanes(token) => Accumulator::Lanes(lanes::Accumulator::new(token, r, bytes_hint)),
                Kind::Portable64 => Accumulator::Portable64(portable64::Accumulator::new(r)),
                Kind::Portable32 => Accumulator::Portable32(portable32::Accumulator::new(r)),
            },
            s: Secret::new(s),
        }
    }

    /// The tag of a message.
    #[must_use]
    pub fn auth(self, key: &[u8; KEY_LEN], message: &[u8]) -> [u8; TAG_LEN] {
        let mut state = self.start(key, message.len());
        let (blocks, rest) = message.split_at(message.len() - message.len() % BLOCK_LEN);
        state.absorb(blocks);
        state.tag(rest)
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({})", self.name())
    }
}

/// The sum over the blocks of a message so far; gives access to the block functions.
///
/// Wiped on drop.
#[derive(Clone)]
pub struct State {
    accumulator: Accumulator,
    s: Secret<u128>,
}

#[derive(Clone)]
enum Accumulator {
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    Lanes44(lanes44::Accumulator),
    #[cfg(veriplex_kernels)]
    Lanes(lanes::Accumulator),
    Portable64(portable64::Accumulator),
    Portable32(portable32::Accumulator),
}

impl State {
    /// Absorbs zero or more full blocks.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the length is not a multiple of 16; the state is then unchanged.
    pub fn blocks(&mut self, message: &[u8]) -> Result<(), Error> {
        if !message.len().is_multiple_of(BLOCK_LEN) {
            return Err(Error::BufferLength);
        }
        self.absorb(message);
        Ok(())
    }

    /// Absorbs the last bytes of the message, fewer than 16, and returns the tag.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if they fill a block.
    pub fn finish(mut self, rest: &[u8]) -> Result<[u8; TAG_LEN], Error> {
        if rest.len() >= BLOCK_LEN {
            return Err(Error::BufferLength);
        }
        Ok(self.tag(rest))
    }

    /// Absorbs a multiple of 16 bytes.
    pub(super) fn absorb(&mut self, message: &[u8]) {
        let (blocks, rest) = message.as_chunks();
        debug_assert!(rest.is_empty());
        self.add(blocks, 1);
    }

    fn add(&mut self, blocks: &[Block], high: u8) {
        match &mut self.accumulator {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Lanes44(accumulator) => accumulator.blocks(blocks, high),
            #[cfg(veriplex_kernels)]
            Accumulator::Lanes(accumulator) => accumulator.blocks(blocks, high),
            Accumulator::Portable64(accumulator) => accumulator.blocks(blocks, high),
            Accumulator::Portable32(accumulator) => accumulator.blocks(blocks, high),
        }
    }

    /// The tag, after the last bytes. It does not take the state, which would be moved: most of a short message's time.
    pub(super) fn tag(&mut self, rest: &[u8]) -> [u8; TAG_LEN] {
        let (blocks, rest) = rest.as_chunks();
        self.add(blocks, 1);
        if !rest.is_empty() {
            self.add(&[*padded(rest)], 0);
        }
        let (low, top) = match &self.accumulator {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Lanes44(accumulator) => accumulator.value(),
            #[cfg(veriplex_kernels)]
            Accumulator::Lanes(accumulator) => accumulator.value(),
            Accumulator::Portable64(accumulator) => accumulator.value(),
            Accumulator::Portable32(accumulator) => accumulator.value(),
        };
        let (h, _) = reduce(low, top);
        h.wrapping_add(*self.s).to_le_bytes()
    }
}

impl State {
    /// The sum so far, without what a kernel needs.
    pub(crate) fn short(&self) -> Short {
        match &self.accumulator {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Lanes44(accumulator) => Short::Portable64(accumulator.one_by_one().clone()),
            #[cfg(veriplex_kernels)]
            Accumulator::Lanes(accumulator) => Short::Portable64(accumulator.one_by_one().clone()),
            Accumulator::Portable64(accumulator) => Short::Portable64(accumulator.clone()),
            Accumulator::Portable32(accumulator) => Short::Portable32(accumulator.clone()),
        }
    }

    /// For several messages under the same key.
    pub(crate) fn per_message(&self) -> Option<PerMessage> {
        match &self.accumulator {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Lanes44(accumulator) => {
                let of_r = accumulator.one_by_one().clone();
                Some(PerMessage::lanes44(of_r, lanes44::PerMessage::new(accumulator)))
            }
            _ => match self.short() {
                Short::Portable64(of_r) => Some(PerMessage::portable64(of_r)),
                Short::Portable32(_) => None,
            },
        }
    }

    /// For long messages under the same key.
    pub(crate) fn long(self) -> Long {
        Long {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            powers: match &self.accumulator {
                Accumulator::Lanes44(accumulator) => Some(accumulator.powers()),
                _ => None,
            },
            state: self,
        }
    }
}

/// A state with all that its kernel needs: much to move, but to compute it only once makes a message of 4 KiB faster.
///
/// Wiped on drop.
#[derive(Clone)]
pub(crate) struct Long {
    state: State,
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    powers: Option<lanes44::PowersOfSectors>,
}

impl Long {
    /// Absorbs blocks into another sum under the same key: all but the last one, if it is `spare`.
    pub(crate) fn absorb_into(&self, sum: &mut Short, blocks: &[Block], spare: bool) {
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        if let (Accumulator::Lanes44(accumulator), Some(powers), Short::Portable64(sum)) =
            (&self.state.accumulator, &self.powers, &mut *sum)
        {
            return accumulator.add_to(powers, [sum], [blocks], spare);
        }
        let blocks = &blocks[..blocks.len() - usize::from(spare)];
        match (&self.state.accumulator, sum) {
            #[cfg(veriplex_kernels)]
            (Accumulator::Lanes(accumulator), Short::Portable64(sum)) => accumulator.add_to(sum, blocks),
            (_, sum) => sum.absorb(blocks),
        }
    }

    /// The same for several messages, with as many blocks each.
    pub(crate) fn absorb_into_each(
        &self,
        sums: &mut [Short; MESSAGES_PER_BATCH],
        messages: [&[Block]; MESSAGES_PER_BATCH],
        spare: bool,
    ) {
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        if let (Accumulator::Lanes44(accumulator), Some(powers)) = (&self.state.accumulator, &self.powers)
            && let Some(sums) = super::short::portable64(sums)
        {
            return accumulator.add_to(powers, sums, messages, spare);
        }
        for (sum, blocks) in sums.iter_mut().zip(messages) {
            self.absorb_into(sum, blocks, spare);
        }
    }
}

opaque!(State);

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(veriplex_kernels)]
    #[test]
    fn the_self_test_sees_a_wrong_kernel() {
        use crate::backend::dispatch::{idle, would_serve};
        use crate::backend::poly1305::Kernels;

        let idle = idle!(*mut u8, *const u8, *const u8, usize);
        assert!(!would_serve(Kernels::<limbs26::Layout>::new(idle)));
        #[cfg(target_arch = "x86_64")]
        assert!(!would_serve(Kernels::<limbs44::Layout>::new(idle)));
    }

    /// Both portable backends give the tags that kernels must give.
    #[test]
    fn portable_backends_give_the_known_tags() {
        for backend in [Backend::PORTABLE_64, Backend::PORTABLE_32] {
            assert_eq!(backend.tags(), TAGS, "{backend:?}");
        }
    }
}
