//! The backends of Poly1305: selection, self-test and block functions.

use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};

#[cfg(veriplex_kernels)]
use super::lanes;
#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
use super::lanes44;
#[cfg(feature = "adiantum")]
use super::short::{EACH, Each, Short};
use super::{KEY_LEN, Poly1305, portable32, portable64};
#[cfg(veriplex_kernels)]
use crate::backend::poly1305::limbs26;
#[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
use crate::backend::poly1305::{Mulx, limbs44};
use crate::wipe::Secret;
use crate::{Error, TAG_LEN};

/// A 16-byte block of a message.
pub(super) type Block = [u8; 16];

/// Size in bytes of the longest block of a backend.
pub(super) const MAX_BLOCK_LEN: usize = 16;

/// A sum that the 2^128 of a full block makes p: so a block of zeros then adds nothing. Its low 128 bits, and the rest.
#[cfg(any(feature = "adiantum", all(veriplex_kernels, target_arch = "x86_64")))]
pub(crate) const BEFORE_NOTHING: (u128, u64) = (u128::MAX - 4, 2);

/// An implementation of Poly1305 that this CPU can run.
///
/// All give the same tags; they differ in speed. A backend that fails [`Backend::self_test`] can still be called here, but
/// nowhere else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Backend(Kind);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    Lanes44(limbs44::Token),
    #[cfg(veriplex_kernels)]
    Lanes(limbs26::Token),
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    Mulx(Mulx),
    Portable64,
    Portable32,
}

/// Those that run anywhere, from best to last resort.
const PORTABLE: [Backend; 2] = if cfg!(target_pointer_width = "64") {
    [Backend::PORTABLE_64, Backend::PORTABLE_32]
} else {
    [Backend::PORTABLE_32, Backend::PORTABLE_64]
};

/// The result of each backend's self-test, which runs when the backend would be used first. Threads that arrive at the
/// same time may all run it; they all get the same result.
static RESULTS: [AtomicU8; 5] = [const { AtomicU8::new(UNKNOWN) }; 5];
const UNKNOWN: u8 = 0;
const PASSED: u8 = 1;
const FAILED: u8 = 2;

impl Backend {
    /// 64-bit limbs: for CPUs with 128-bit products.
    pub const PORTABLE_64: Self = Self(Kind::Portable64);
    /// 26-bit limbs: for CPUs with 64-bit products.
    pub const PORTABLE_32: Self = Self(Kind::Portable32);

    /// Every backend that this CPU can run, from best to last resort.
    pub fn available() -> impl Iterator<Item = Self> {
        #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
        let (lanes44, mulx) = (
            limbs44::Token::detect().map(|token| Self(Kind::Lanes44(token))),
            Mulx::detect().map(|mulx| Self(Kind::Mulx(mulx))),
        );
        #[cfg(not(all(veriplex_kernels, target_arch = "x86_64")))]
        let (lanes44, mulx) = (None, None);
        #[cfg(veriplex_kernels)]
        let lanes = limbs26::Token::detect().map(|token| Self(Kind::Lanes(token)));
        #[cfg(not(veriplex_kernels))]
        let lanes = None;
        // Measured on Zen 4, `mulx` is slower than the first portable one, and faster than the second.
        let [best, last] = PORTABLE;
        let fastest = lanes44.into_iter().chain(lanes).chain([best]);
        fastest.chain(mulx).chain([last])
    }

    /// Those that the library may use now: no kernels while hardware backends are forbidden.
    fn allowed() -> impl Iterator<Item = Self> {
        Self::available().filter(|backend| match backend.0 {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Kind::Lanes44(_) | Kind::Mulx(_) => crate::backend::Backend::kernels_allowed(),
            #[cfg(veriplex_kernels)]
            Kind::Lanes(_) => crate::backend::Backend::kernels_allowed(),
            Kind::Portable64 | Kind::Portable32 => true,
        })
    }

    /// The backend that the library uses: the best one that passes its self-test, which runs on its first call. While
    /// [`set_hardware_enabled`](crate::hazmat::set_hardware_enabled) forbids hardware backends, it is a portable one.
    ///
    /// # Errors
    ///
    /// [`Error::SelfTest`] if none does.
    pub fn current() -> Result<Self, Error> {
        Self::allowed()
            .find(|backend| backend.passed())
            .ok_or(Error::SelfTest)
    }

    /// Whether it has passed its self-test, which runs on the first call.
    fn passed(self) -> bool {
        self.has_passed(Self::self_test)
    }

    fn has_passed(self, self_test: impl FnOnce(Self) -> Result<(), Error>) -> bool {
        let result = self.result();
        match result.load(Ordering::Relaxed) {
            UNKNOWN => {
                let passed = self_test(self).is_ok();
                result.store(if passed { PASSED } else { FAILED }, Ordering::Relaxed);
                passed
            }
            known => known == PASSED,
        }
    }

    const fn result(self) -> &'static AtomicU8 {
        match self.0 {
            Kind::Portable64 => &RESULTS[0],
            Kind::Portable32 => &RESULTS[1],
            #[cfg(veriplex_kernels)]
            Kind::Lanes(_) => &RESULTS[2],
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Kind::Mulx(_) => &RESULTS[3],
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Kind::Lanes44(_) => &RESULTS[4],
        }
    }

    /// Better backends that failed their self-test: none, unless the compiler or the machine is faulty.
    ///
    /// # Errors
    ///
    /// [`Error::SelfTest`] if all did.
    pub fn failed() -> Result<impl Iterator<Item = Self>, Error> {
        let current = Self::current()?;
        Ok(Self::allowed().take_while(move |backend| *backend != current))
    }

    /// `"avx512ifma"`, `"avx2"`, `"neon"`, `"mulx"`, `"portable64"` or `"portable32"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Kind::Lanes44(token) => token.name(),
            #[cfg(veriplex_kernels)]
            Kind::Lanes(token) => token.name(),
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Kind::Mulx(_) => "mulx",
            Kind::Portable64 => "portable64",
            Kind::Portable32 => "portable32",
        }
    }

    /// Size in bytes of the blocks that [`State::blocks`] takes: a multiple of 16.
    #[must_use]
    pub const fn block_len(self) -> usize {
        16
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
            backend: self,
            accumulator: match self.0 {
                #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
                Kind::Lanes44(token) => Accumulator::Lanes44(lanes44::Accumulator::new(token, r)),
                #[cfg(veriplex_kernels)]
                Kind::Lanes(token) => Accumulator::Lanes(lanes::Accumulator::new(token, r, bytes_hint)),
                #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
                Kind::Mulx(mulx) => Accumulator::Mulx(mulx, portable64::Accumulator::new(r)),
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
        let (blocks, rest) = message.split_at(message.len() - message.len() % self.block_len());
        state.absorb(blocks);
        state.tag(rest)
    }

    /// Compares the tags of this backend with known ones: the example of `NaCl`, a sum between p and 2^130, a carry
    /// across 2^130, and a tag of the tags of 256 messages; each in one call and in pieces.
    ///
    /// # Errors
    ///
    /// [`Error::SelfTest`] if one differs.
    pub fn self_test(self) -> Result<(), Error> {
        known_answers(self.block_len(), |key, message, sizes| {
            let mut poly = Poly1305::on(self, key, 0);
            let mut rest = message;
            for &size in sizes {
                let (piece, after) = rest.split_at(size.min(rest.len()));
                poly.update(piece);
                rest = after;
            }
            poly.update(rest);
            [self.auth(key, message), poly.finalize()]
        })
    }
}

/// The self-test, of a function that computes a tag in one call and in pieces of these sizes and the rest.
fn known_answers(
    block_len: usize,
    mut tags: impl FnMut(&[u8; KEY_LEN], &[u8], &[usize]) -> [[u8; TAG_LEN]; 2],
) -> Result<(), Error> {
    let blocks_first = [block_len, 64, 32, 16];
    let mut tag = |key: &[u8; KEY_LEN], message: &[u8], sizes: &[usize]| {
        let [whole, pieces] = tags(key, message, sizes);
        (whole == pieces).then_some(whole).ok_or(Error::SelfTest)
    };
    let is =
        |tag: [u8; TAG_LEN], known: u128| (tag == known.to_be_bytes()).then_some(()).ok_or(Error::SelfTest);

    for sizes in [blocks_first.as_slice(), &[32, 64, 16, 8, 4, 2, 1, 1, 1, 1, 1]] {
        is(
            tag(&NACL_KEY, &NACL_MESSAGE, sizes)?,
            0xf3ff_c770_3f94_00e5_2a7d_fb4b_3d33_05d9,
        )?;
    }

    let mut key = [0; KEY_LEN];
    key[0] = 2;
    is(tag(&key, &[0xff; 16], &blocks_first)?, 3 << 120)?;
    // With r = 1 the sum passes 2^130 by the carry of a block's addition alone.
    key[0] = 1;
    let mut carries = [0xff; 80];
    carries[32..48].fill(0);
    carries[32] = 1;
    carries[64..].fill(0);
    is(tag(&key, &carries, &blocks_first)?, 8 << 120)?;

    let mut tags = [[0; TAG_LEN]; 256];
    for (n, entry) in (0..=u8::MAX).zip(&mut tags) {
        let mut key = [0xff; KEY_LEN];
        key[..16].fill(n);
        *entry = tag(&key, &[n; 256][..usize::from(n)], &blocks_first)?;
    }
    let total = tag(&TOTAL_KEY, tags.as_flattened(), &blocks_first)?;
    is(total, 0xc69d_c3b9_75ee_5f6b_2899_5794_4127_d75e)
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({})", self.name())
    }
}

/// The sum over the blocks of a message so far; gives access to the block functions.
///
/// Wiped on drop (feature `zeroize`).
#[derive(Clone)]
pub struct State {
    backend: Backend,
    accumulator: Accumulator,
    s: Secret<u128>,
}

#[derive(Clone)]
enum Accumulator {
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    Lanes44(lanes44::Accumulator),
    #[cfg(veriplex_kernels)]
    Lanes(lanes::Accumulator),
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    Mulx(Mulx, portable64::Accumulator),
    Portable64(portable64::Accumulator),
    Portable32(portable32::Accumulator),
}

impl State {
    /// The backend that this runs on.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// Absorbs zero or more full blocks.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the length is not a multiple of [`Backend::block_len`]; the state is then unchanged.
    pub fn blocks(&mut self, message: &[u8]) -> Result<(), Error> {
        if !message.len().is_multiple_of(self.backend.block_len()) {
            return Err(Error::BufferLength);
        }
        self.absorb(message);
        Ok(())
    }

    /// Absorbs the last bytes of the message, fewer than one block of the backend, and returns the tag.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if they fill a block.
    pub fn finish(mut self, rest: &[u8]) -> Result<[u8; TAG_LEN], Error> {
        if rest.len() >= self.backend.block_len() {
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
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Mulx(mulx, accumulator) => mulx.run(|| accumulator.add(blocks, high)),
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
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Mulx(_, accumulator) => accumulator.value(),
            Accumulator::Portable64(accumulator) => accumulator.value(),
            Accumulator::Portable32(accumulator) => accumulator.value(),
        };
        let (h, _) = reduce(low, top);
        h.wrapping_add(*self.s).to_le_bytes()
    }
}

#[cfg(feature = "adiantum")]
impl State {
    /// The sum so far, without what a kernel needs.
    pub(crate) fn short(&self) -> Short {
        match &self.accumulator {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Lanes44(accumulator) => Short::Portable64(accumulator.one_by_one().clone()),
            #[cfg(veriplex_kernels)]
            Accumulator::Lanes(accumulator) => Short::Portable64(accumulator.one_by_one().clone()),
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Mulx(_, accumulator) => Short::Portable64(accumulator.clone()),
            Accumulator::Portable64(accumulator) => Short::Portable64(accumulator.clone()),
            Accumulator::Portable32(accumulator) => Short::Portable32(accumulator.clone()),
        }
    }

    /// For several messages under the same key.
    pub(crate) fn each(&self) -> Option<Each> {
        match &self.accumulator {
            #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
            Accumulator::Lanes44(accumulator) => {
                let of_r = accumulator.one_by_one().clone();
                Some(Each::lanes44(of_r, lanes44::OfEach::new(accumulator)))
            }
            _ => match self.short() {
                Short::Portable64(of_r) => Some(Each::portable64(of_r)),
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
/// Wiped on drop (feature `zeroize`).
#[cfg(feature = "adiantum")]
#[derive(Clone)]
pub(crate) struct Long {
    state: State,
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    powers: Option<lanes44::PowersOfSectors>,
}

#[cfg(feature = "adiantum")]
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
    pub(crate) fn absorb_into_each(&self, sums: &mut [Short; EACH], messages: [&[Block]; EACH], spare: bool) {
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

/// The last block of a message: these bytes, fewer than 16, a 1 and zeros.
pub(super) fn padded(rest: &[u8]) -> Secret<Block> {
    let mut last = Secret::new([0; 16]);
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 1;
    last
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

/// h mod p, for h = low + 2^128 top below 2p = 2^131 - 10: p is subtracted once, if h + 5 reaches 2^130. To subtract p is
/// to add 5 and to drop 2^130, so nothing is selected.
pub(super) fn reduce(low: u128, top: u64) -> (u128, u64) {
    let (_, carry) = low.overflowing_add(5);
    let reaches = (top + u64::from(carry)) >> 2; // 0 or 1
    let (low, carry) = low.overflowing_add(u128::from(5 * reaches));
    (low, (top + u64::from(carry)) & 3)
}

/// The key of `NaCl`'s example.
const NACL_KEY: [u8; 32] = [
    0xee, 0xa6, 0xa7, 0x25, 0x1c, 0x1e, 0x72, 0x91, 0x6d, 0x11, 0xc2, 0xcb, 0x21, 0x4d, 0x3c, 0x25, 0x25,
    0x39, 0x12, 0x1d, 0x8e, 0x23, 0x4e, 0x65, 0x2d, 0x65, 0x1f, 0xa4, 0xc8, 0xcf, 0xf8, 0x80,
];

/// Its message.
const NACL_MESSAGE: [u8; 131] = [
    0x8e, 0x99, 0x3b, 0x9f, 0x48, 0x68, 0x12, 0x73, 0xc2, 0x96, 0x50, 0xba, 0x32, 0xfc, 0x76, 0xce, 0x48,
    0x33, 0x2e, 0xa7, 0x16, 0x4d, 0x96, 0xa4, 0x47, 0x6f, 0xb8, 0xc5, 0x31, 0xa1, 0x18, 0x6a, 0xc0, 0xdf,
    0xc1, 0x7c, 0x98, 0xdc, 0xe8, 0x7b, 0x4d, 0xa7, 0xf0, 0x11, 0xec, 0x48, 0xc9, 0x72, 0x71, 0xd2, 0xc2,
    0x0f, 0x9b, 0x92, 0x8f, 0xe2, 0x27, 0x0d, 0x6f, 0xb8, 0x63, 0xd5, 0x17, 0x38, 0xb4, 0x8e, 0xee, 0xe3,
    0x14, 0xa7, 0xcc, 0x8a, 0xb9, 0x32, 0x16, 0x45, 0x48, 0xe5, 0x26, 0xae, 0x90, 0x22, 0x43, 0x68, 0x51,
    0x7a, 0xcf, 0xea, 0xbd, 0x6b, 0xb3, 0x73, 0x2b, 0xc0, 0xe9, 0xda, 0x99, 0x83, 0x2b, 0x61, 0xca, 0x01,
    0xb6, 0xde, 0x56, 0x24, 0x4a, 0x9e, 0x88, 0xd5, 0xf9, 0xb3, 0x79, 0x73, 0xf6, 0x22, 0xa4, 0x3d, 0x14,
    0xa6, 0x59, 0x9b, 0x1f, 0x65, 0x4c, 0xb4, 0x5a, 0x74, 0xe3, 0x55, 0xa5,
];

/// The key of the tag of tags in poly1305-opt.
const TOTAL_KEY: [u8; 32] = [
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// h in [p, 2^130) is reduced once, and what is larger too.
    #[test]
    fn the_last_reduction() {
        let p = (u128::MAX - 4, 3); // 2^130 - 5
        assert_eq!(reduce(p.0 - 1, p.1), (p.0 - 1, 3));
        for (above, expected) in (0..=4).zip(0..) {
            assert_eq!(reduce(p.0 + above, p.1), (expected, 0));
        }
        assert_eq!(reduce(0, 4), (5, 0));
        assert_eq!(reduce(1 << 66, 4), ((1 << 66) + 5, 0));
        assert_eq!(reduce(u128::MAX, 2), (u128::MAX, 2));
        assert_eq!(reduce(7, 0), (7, 0));
        // 2p - 1, the largest.
        assert_eq!(reduce(u128::MAX - 10, 7), (p.0 - 1, 3));
    }

    /// One wrong answer, in one call, in pieces or in both, is enough to fail.
    #[test]
    fn the_self_test_sees_each_wrong_answer() {
        let backend = Backend::PORTABLE_64;
        let run = |wrong: Option<(usize, [u8; 2])>| {
            let mut calls = 0;
            let result = known_answers(backend.block_len(), |key, message, sizes| {
                // Once pieces of every kind, to the end of the message, and else whole blocks.
                let right = if calls == 1 {
                    sizes.iter().sum::<usize>() == message.len()
                } else {
                    sizes.iter().all(|size| size.is_multiple_of(16))
                };
                assert!(right, "{sizes:?}");
                let mut tags = [backend.auth(key, message); 2];
                for (i, tag) in tags.iter_mut().enumerate() {
                    tag[7] ^= wrong.map_or(0, |(call, bits)| if call == calls { bits[i] } else { 0 });
                }
                calls += 1;
                tags
            });
            (result, calls)
        };
        assert_eq!(run(None), (Ok(()), 261));
        for call in 0..261 {
            for bits in [[1, 0], [0, 1], [1, 1]] {
                assert_eq!(run(Some((call, bits))).0, Err(Error::SelfTest), "{call} {bits:?}");
            }
        }
    }

    /// A backend that fails is skipped; if all fail, the result is an error and no tag. This is the only test in this
    /// program that may use the chosen backend.
    #[test]
    fn a_failed_self_test_is_an_error() {
        let set = |backend: Backend, result| backend.result().store(result, Ordering::Relaxed);
        let mut backends = Backend::available();
        let [best, other] = [(); 2].map(|()| backends.next().unwrap());
        for (i, backend) in Backend::available().enumerate() {
            for earlier in Backend::available().take(i) {
                let shared = core::ptr::eq(backend.result(), earlier.result());
                assert!(!shared, "{backend:?} and {earlier:?} have the same result");
            }
        }

        assert_eq!(Backend::current(), Ok(best));
        assert_eq!(best.result().load(Ordering::Relaxed), PASSED, "it is kept");
        assert_eq!(Backend::failed().unwrap().count(), 0);
        set(best, FAILED);
        assert_eq!(Backend::current(), Ok(other));
        assert!(Backend::failed().unwrap().eq([best]));
        Backend::available().for_each(|backend| set(backend, FAILED));
        assert_eq!(Backend::current(), Err(Error::SelfTest));
        assert_eq!(Backend::failed().err(), Some(Error::SelfTest));
        assert_eq!(super::super::backend().err(), Some(Error::SelfTest));
        assert_eq!(super::super::self_test(), Err(Error::SelfTest));
        assert_eq!(super::super::auth([7; 32], b""), Err(Error::SelfTest));
        assert_eq!(super::super::verify([7; 32], b"", &[7; 16]), Err(Error::SelfTest));
        assert_eq!(Poly1305::new([7; 32]).err(), Some(Error::SelfTest));
        #[cfg(feature = "adiantum")]
        {
            use crate::adiantum::{Adiantum, HPolyC};
            assert_eq!(Adiantum::<12>::new(&[7; 32]).err(), Some(Error::SelfTest));
            assert_eq!(HPolyC::<12>::new(&[7; 32]).err(), Some(Error::SelfTest));
        }
        Backend::available().for_each(|backend| set(backend, UNKNOWN));
        assert!(!best.has_passed(|_| Err(Error::SelfTest)));
        assert!(!best.has_passed(|_| panic!("it runs once")));
        assert_eq!(Backend::current(), Ok(other));
        set(best, UNKNOWN);
        assert_eq!(Backend::current(), Ok(best));

        crate::hazmat::set_hardware_enabled(false);
        assert_eq!(Backend::current(), Ok(PORTABLE[0]));
        crate::hazmat::set_hardware_enabled(true);
    }
}
