//! `ChaCha` with an 8-byte nonce (D. J. Bernstein, 2008), `HChaCha` and `XChaCha` (draft-irtf-cfrg-xchacha), with 8, 12 or
//! 20 rounds. Every part of a cipher uses the same number of rounds.

use core::array::from_fn;
use core::iter::once;
use core::ops::Range;

use crate::backend::chacha::{self as kernels, CANDIDATES, Kernels};
use crate::backend::dispatch::{self, Candidate, Dispatch, Primitive, checksum, input};
use crate::base::wipe::{Secret, Wiped};
use crate::{Error, Key};

const BLOCK_LEN: usize = 64;

/// Blocks computed together: enough for the compiler to vectorise across them.
const LANES: usize = 16;

/// From this many blocks on, computing them together is faster than one by one.
const FEW: usize = 4;

/// The words of a block before the rounds. Words 12 and 13 have its number.
type Start = [u32; 16];

/// The words of the key.
const KEY: Range<usize> = 4..12;

/// The same word of each block.
type Word<const N: usize> = [u32; N];
type State<const N: usize> = [Word<N>; 16];

type Token = dispatch::Token<Kernels>;

impl Dispatch for Kernels {
    const PRIMITIVE: Primitive = Primitive::ChaCha;
    const CANDIDATES: &[Candidate<Self>] = &CANDIDATES;
    const KNOWN: u64 = 0x57ef_f4ec_4b4f_7393;

    /// Of groups and a rest for any level, over a carry of the block's number, and of eight subkeys.
    fn answers(kernels: Option<Token>) -> u64 {
        fn streams<const ROUNDS: usize>(kernels: Option<Token>, sum: u64) -> u64 {
            const COUNTER: u64 = (1 << 32) - 20;
            let mut bytes = input::<{ 34 * BLOCK_LEN }>(1);
            let mut starts = Starts([start(&input(2), &last(input(3))); 8]);
            set_subkeys::<ROUNDS, 8>(
                kernels,
                &input(4),
                &[5, 6, 7, 8, 9, 10, 11, 12].map(input),
                &mut starts,
            );
            match kernels {
                Some(token) => {
                    let mut numbers = token.first_numbers(&starts.0[7], COUNTER);
                    by_kernels::<ROUNDS>(token, &starts.0[7], &mut numbers, COUNTER, &mut bytes);
                }
                None => portable::<ROUNDS>(&starts.0[7], COUNTER, &mut bytes),
            }
            let starts = starts.0.as_flattened().iter().map(|word| word.to_le_bytes());
            starts.fold(checksum(sum, &bytes), |sum, word| checksum(sum, &word))
        }
        streams::<20>(kernels, streams::<12>(kernels, streams::<8>(kernels, 0)))
    }
}

/// Derives the key of the inner `ChaCha` from a key and the first 16 bytes of a nonce.
///
/// `ROUNDS` is 8, 12 or 20; other numbers do not compile.
#[must_use]
pub fn hchacha<const ROUNDS: usize>(key: &[u8; 32], nonce: &[u8; 16]) -> Key {
    let mut starts = Starts([[0; 16]]);
    set_subkeys::<ROUNDS, 1>(None, key, &[*nonce], &mut starts);
    let mut subkey = Wiped([0; 32]);
    for (bytes, word) in subkey.0.as_chunks_mut().0.iter_mut().zip(&starts.0[0][KEY]) {
        *bytes = word.to_le_bytes();
    }
    Key::from(subkey.0)
}

/// Puts the key of the inner `ChaCha` for each nonce into its place. There the words are stored one by one, as the kernels
/// load them: what is stored in parts cannot be loaded whole at once.
fn set_subkeys<const ROUNDS: usize, const N: usize>(
    kernels: Option<Token>,
    key: &[u8; 32],
    nonces: &[[u8; 16]; N],
    starts: &mut Starts<N>,
) {
    // In place: an array that is moved here would leave a copy of the key behind.
    let mut x = Secret::new([[0; N]; 16]);
    for (i, lanes) in x[..12].iter_mut().enumerate() {
        *lanes = [start_word(key, &[0; 16], i); N];
    }
    for (i, lanes) in x[12..].iter_mut().enumerate() {
        *lanes = from_fn(|lane| word(&nonces[lane], i));
    }
    match kernels {
        Some(token) => token.run(|| rounds::<ROUNDS, N>(&mut x)),
        None => rounds::<ROUNDS, N>(&mut x),
    }
    for (lane, start) in starts.0.iter_mut().enumerate() {
        let words = x[..4].iter().chain(&x[12..]);
        for (to, lanes) in start[KEY].iter_mut().zip(words) {
            *to = lanes[lane];
        }
    }
}

/// XORs the stream, starting at block number `counter`, into `in_out`.
///
/// `ROUNDS` is 8, 12 or 20; other numbers do not compile.
///
/// # Errors
///
/// [`Error::LimitReached`] if this would need blocks after number 2^64 - 1; `in_out` is then unchanged.
pub fn chacha<const ROUNDS: usize>(
    key: &[u8; 32],
    nonce: &[u8; 8],
    counter: u64,
    in_out: &mut [u8],
) -> Result<(), Error> {
    let more = in_out.len().saturating_sub(1) / BLOCK_LEN;
    counter.checked_add(more as u64).ok_or(Error::LimitReached)?;
    let starts = Starts([start(key, &last(*nonce))]);
    Numbers::from(counter, &starts, in_out.len()).xor_streams::<ROUNDS>(&starts, &mut once(in_out));
    Ok(())
}

/// XORs the stream into `in_out`.
///
/// `ROUNDS` is 8, 12 or 20; other numbers do not compile.
#[allow(clippy::missing_panics_doc)] // the lengths are right
pub fn xchacha<const ROUNDS: usize>(key: &[u8; 32], nonce: &[u8; 24], in_out: &mut [u8]) {
    let (first, last) = (nonce.first_chunk(), nonce.last_chunk());
    let (first, last) = (first.expect("24 bytes"), last.expect("24 bytes"));
    xchacha_each::<ROUNDS, 1>(key, &[*first], *last, in_out.len(), &mut once(in_out));
}

/// The same for several messages of about `bytes_hint` bytes each; a wrong hint only costs time. The nonce of each has the
/// same last 8 bytes.
pub(crate) fn xchacha_each<'a, const ROUNDS: usize, const N: usize>(
    key: &[u8; 32],
    nonces: &[[u8; 16]; N],
    nonce_end: [u8; 8],
    bytes_hint: usize,
    messages: &mut impl Iterator<Item = &'a mut [u8]>,
) {
    let mut starts = Starts([start(&[0; 32], &last(nonce_end)); N]);
    let mut numbers = Numbers::from(0, &starts, bytes_hint);
    let for_several = if N > 1 { Kernels::first() } else { None };
    set_subkeys::<ROUNDS, N>(for_several, key, nonces, &mut starts);
    numbers.xor_streams::<ROUNDS>(&starts, messages);
}

/// The number of the first block of several streams.
struct Numbers<const N: usize> {
    counter: u64,
    /// For the kernels of this CPU, if messages are long enough. They load them whole, which takes long if they have just been
    /// stored in parts: so that comes before the subkeys are computed.
    for_kernels: Option<(Token, [kernels::Numbers; N])>,
}

impl<const N: usize> Numbers<N> {
    #[inline]
    fn from(counter: u64, starts: &Starts<N>, bytes_hint: usize) -> Self {
        Self {
            counter,
            for_kernels: (bytes_hint > kernels::FEW * BLOCK_LEN)
                .then(Kernels::first)
                .flatten()
                .map(|token| (token, [token.first_numbers(&starts.0[0], counter); N])),
        }
    }

    /// XORs each stream into the message in its place.
    #[inline]
    fn xor_streams<'a, const ROUNDS: usize>(
        &mut self,
        starts: &Starts<N>,
        messages: &mut impl Iterator<Item = &'a mut [u8]>,
    ) {
        // In this order no message is taken without its stream.
        for (i, message) in (0..N).zip(messages) {
            if message.len() > kernels::FEW * BLOCK_LEN
                && let Some((token, numbers)) = &mut self.for_kernels
            {
                by_kernels::<ROUNDS>(*token, &starts.0[i], &mut numbers[i], self.counter, message);
                continue;
            }
            portable::<ROUNDS>(&starts.0[i], self.counter, message);
        }
    }
}

/// Whole groups of blocks in place; the rest of a long rest in a group that is not used up.
fn by_kernels<const ROUNDS: usize>(
    token: Token,
    start: &Start,
    numbers: &mut kernels::Numbers,
    counter: u64,
    in_out: &mut [u8],
) {
    let len = token.group_len();
    let (groups, rest) = in_out.split_at_mut(in_out.len() / len * len);
    token.xor_blocks::<ROUNDS>(start, numbers, groups);
    if rest.len() > kernels::FEW * BLOCK_LEN {
        let mut group = Wiped([0; kernels::MAX_LANES * BLOCK_LEN]);
        group.0[..rest.len()].copy_from_slice(rest);
        token.xor_blocks::<ROUNDS>(start, numbers, &mut group.0[..len]);
        rest.copy_from_slice(&group.0[..rest.len()]);
    } else {
        let counter = counter.wrapping_add((groups.len() / BLOCK_LEN) as u64);
        portable::<ROUNDS>(start, counter, rest);
    }
}

/// Not inlined: among what is there for kernels, a single block of 20 rounds takes a quarter longer.
#[inline(never)]
fn portable<const ROUNDS: usize>(start: &Start, mut counter: u64, mut in_out: &mut [u8]) {
    if in_out.len() > FEW * BLOCK_LEN {
        let mut blocks = Blocks::<LANES>::new(start);
        while in_out.len() > FEW * BLOCK_LEN {
            let (chunk, rest) = in_out.split_at_mut(in_out.len().min(LANES * BLOCK_LEN));
            blocks.xor::<ROUNDS>(counter, chunk);
            counter = counter.wrapping_add(LANES as u64);
            in_out = rest;
        }
    }
    if !in_out.is_empty() {
        let mut block = Blocks::<1>::new(start);
        for chunk in in_out.chunks_mut(BLOCK_LEN) {
            block.xor::<ROUNDS>(counter, chunk);
            counter = counter.wrapping_add(1);
        }
    }
}

/// The starts of several streams. Wiped at once: word by word would take longer.
struct Starts<const N: usize>([Start; N]);

impl<const N: usize> Drop for Starts<N> {
    fn drop(&mut self) {
        self.0 = [[0; 16]; N];
        zeroize::optimization_barrier(self);
    }
}

/// Some consecutive blocks of a stream. Each batch overwrites the one before; the last batch is wiped.
struct Blocks<const N: usize> {
    input: State<N>,
    x: State<N>,
    output: [[u8; BLOCK_LEN]; N],
}

impl<const N: usize> Blocks<N> {
    fn new(start: &Start) -> Self {
        Self {
            input: start.map(|word| [word; N]),
            x: [[0; N]; 16],
            output: [[0; BLOCK_LEN]; N],
        }
    }

    /// XORs the blocks starting at number `counter` into `in_out`, which may be shorter than they are.
    fn xor<const ROUNDS: usize>(&mut self, counter: u64, in_out: &mut [u8]) {
        for (lane, i) in (0..N).zip(0..) {
            let number = counter.wrapping_add(i).to_le_bytes();
            (self.input[12][lane], self.input[13][lane]) = (word(&number, 0), word(&number, 1));
        }
        self.x = self.input;
        rounds::<ROUNDS, N>(&mut self.x);
        for (i, (x, input)) in self.x.iter().zip(self.input.iter()).enumerate() {
            for (block, (x, input)) in self.output.iter_mut().zip(x.iter().zip(input)) {
                block[4 * i..][..4].copy_from_slice(&x.wrapping_add(*input).to_le_bytes());
            }
        }
        for (byte, output) in in_out.iter_mut().zip(self.output.as_flattened()) {
            *byte ^= output;
        }
    }
}

/// Wipes everything at once: word by word would take as long as computing several blocks.
impl<const N: usize> Drop for Blocks<N> {
    fn drop(&mut self) {
        (self.input, self.x, self.output) = ([[0; N]; 16], [[0; N]; 16], [[0; BLOCK_LEN]; N]);
        zeroize::optimization_barrier(self);
    }
}

/// The words before the rounds, with these last 16 bytes.
#[inline(always)]
fn start(key: &[u8; 32], last: &[u8; 16]) -> Start {
    from_fn(|i| start_word(key, last, i))
}

#[inline(always)]
fn start_word(key: &[u8; 32], last: &[u8; 16], i: usize) -> u32 {
    match i {
        0..4 => word(b"expand 32-byte k", i),
        4..12 => word(key, i - 4),
        _ => word(last, i - 12),
    }
}

/// The last 16 bytes of a stream's start: room for the number of a block, and the nonce.
#[inline(always)]
fn last(nonce: [u8; 8]) -> [u8; 16] {
    let mut last = [0; 16];
    last[8..].copy_from_slice(&nonce);
    last
}

/// The `i`-th word.
#[inline(always)]
fn word(bytes: &[u8], i: usize) -> u32 {
    u32::from_le_bytes(bytes.as_chunks().0[i])
}

#[inline(always)]
fn rounds<const ROUNDS: usize, const N: usize>(x: &mut State<N>) {
    const {
        assert!(
            ROUNDS == 8 || ROUNDS == 12 || ROUNDS == 20,
            "ChaCha has 8, 12 or 20 rounds"
        );
    }
    for _ in 0..ROUNDS / 2 {
        for i in 0..4 {
            quarter_round(x, [i, 4 + i, 8 + i, 12 + i]);
        }
        for i in 0..4 {
            quarter_round(x, [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4]);
        }
    }
}

/// One loop over the blocks, which the compiler turns into vectors if there are enough of them.
#[inline(always)]
#[allow(clippy::needless_range_loop)] // of four rows
fn quarter_round<const N: usize>(x: &mut State<N>, [a, b, c, d]: [usize; 4]) {
    for i in 0..N {
        let mut q = [x[a][i], x[b][i], x[c][i], x[d][i]];
        for (to, from, changed, shift) in [(0, 1, 3, 16), (2, 3, 1, 12), (0, 1, 3, 8), (2, 3, 1, 7)] {
            q[to] = q[to].wrapping_add(q[from]);
            q[changed] = (q[changed] ^ q[to]).rotate_left(shift);
        }
        [x[a][i], x[b][i], x[c][i], x[d][i]] = q;
    }
}

#[cfg(all(test, veriplex_kernels))]
mod tests {
    extern crate std;

    use super::*;

    fn agrees<const ROUNDS: usize>(token: Token, counter: u64, len: usize) {
        let mut bytes = (0..=u8::MAX).cycle();
        let (key, nonce) = (
            from_fn(|_| bytes.next().unwrap()),
            from_fn(|_| bytes.next().unwrap()),
        );
        let mut portable: [u8; 40 * BLOCK_LEN] = from_fn(|_| bytes.next().unwrap());
        let mut kernels = portable;
        let start = start(&key, &last(nonce));
        super::portable::<ROUNDS>(&start, counter, &mut portable[..len]);
        by_kernels::<ROUNDS>(
            token,
            &start,
            &mut token.first_numbers(&start, counter),
            counter,
            &mut kernels[..len],
        );
        assert!(portable == kernels, "{ROUNDS} {counter} {len}");
    }

    /// All lengths up to two groups and a half, numbers that do not fit into 32 bits while they are counted, and the last.
    #[test]
    fn kernels_agree_with_portable() {
        for token in Kernels::detected() {
            for len in 0..=40 * BLOCK_LEN {
                for counter in [0, (1 << 32) - 3, u64::MAX - 39] {
                    agrees::<8>(token, counter, len);
                }
                agrees::<12>(token, 1 << 32, len);
                agrees::<20>(token, u64::MAX - 20, len);
            }
        }
    }

    #[test]
    fn the_self_test_sees_each_wrong_operation() {
        use dispatch::{idle, would_serve};

        for token in Kernels::detected() {
            assert!(would_serve(*token));
            let idle = idle!(*mut u8, *const u8, *mut u8, usize);
            for wrong in [
                Kernels {
                    xor_blocks_8: idle,
                    ..*token
                },
                Kernels {
                    xor_blocks_12: idle,
                    ..*token
                },
                Kernels {
                    xor_blocks_20: idle,
                    ..*token
                },
                Kernels {
                    numbers: |_, _| [0; kernels::MAX_LANES],
                    ..*token
                },
            ] {
                assert!(!would_serve(wrong), "{}", token.name());
            }
        }
    }

    /// Key, nonce and stream; only the last batch is still there, since each overwrites the one before.
    #[cfg(all(feature = "std", target_os = "linux"))]
    #[test]
    fn blocks_are_wiped() {
        let mut blocks = Blocks::<LANES>::new(&start(&[0xab; 32], &last([0xab; 8])));
        blocks.xor::<20>(1 << 33, &mut [0; LANES * BLOCK_LEN]);
        let used = |bytes: std::vec::Vec<u8>| bytes.iter().filter(|&&byte| byte != 0).count();
        let [before, after] = crate::base::wipe::before_and_after_drop(blocks).map(used);
        // Of three parts with 64 bytes for each block nearly all are in use.
        assert!(before > 5 * LANES * BLOCK_LEN / 2, "{before}");
        assert_eq!(after, 0);
    }

    #[cfg(all(feature = "std", target_os = "linux"))]
    #[test]
    fn starts_are_wiped() {
        crate::base::wipe::assert_wiped_on_drop(Starts([[u32::MAX; 16]; 8]));
    }

    #[test]
    fn kernels_take_more_groups_than_16_bits_count() {
        let start = start(&[7; 32], &last([1; 8]));
        for token in Kernels::detected() {
            let len = token.group_len() * ((1 << 16) + 1);
            let (mut portable, mut kernels) = (std::vec![0; len], std::vec![0; len]);
            super::portable::<8>(&start, 5, &mut portable);
            by_kernels::<8>(
                token,
                &start,
                &mut token.first_numbers(&start, 5),
                5,
                &mut kernels,
            );
            assert!(portable == kernels, "{len} bytes");
        }
    }
}
