//! `ChaCha` with a nonce of 8 bytes (D. J. Bernstein, 2008), `HChaCha` and `XChaCha` (draft-irtf-cfrg-xchacha), of any of the
//! three usual numbers of rounds. The number of rounds is the same in all parts.

use core::array::from_fn;

use crate::wipe::Secret;
use crate::{Error, Key};

const BLOCK_LEN: usize = 64;

/// Blocks that are computed together: one lane each, in vectors where the CPU has them.
const LANES: usize = 4;

/// The same word of each block.
type Word<const N: usize> = [u32; N];
type State<const N: usize> = [Word<N>; 16];

/// The key of the inner `ChaCha`, from a key and the first 16 bytes of a nonce.
///
/// `ROUNDS` is 8, 12 or 20; other numbers do not compile.
#[must_use]
pub fn hchacha<const ROUNDS: usize>(key: &[u8; 32], nonce: &[u8; 16]) -> Key {
    let mut x = Secret::new(start(key, nonce));
    rounds::<ROUNDS, 1>(&mut x);
    let mut subkey = Secret::new([0; 32]);
    let words = x[..4].iter().chain(&x[12..]).flatten();
    for (bytes, word) in subkey.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    Key::from(*subkey)
}

/// XORs the stream, from block number `counter` on, to `in_out`.
///
/// `ROUNDS` is 8, 12 or 20; other numbers do not compile.
///
/// # Errors
///
/// [`Error::LimitReached`] if that takes blocks after number 2^64 - 1; nothing has changed then.
pub fn chacha<const ROUNDS: usize>(
    key: &[u8; 32],
    nonce: &[u8; 8],
    counter: u64,
    in_out: &mut [u8],
) -> Result<(), Error> {
    let more = in_out.len().saturating_sub(1) / BLOCK_LEN;
    counter.checked_add(more as u64).ok_or(Error::LimitReached)?;
    stream::<ROUNDS>(key, *nonce, counter, in_out);
    Ok(())
}

/// XORs the stream to `in_out`.
///
/// `ROUNDS` is 8, 12 or 20; other numbers do not compile.
#[allow(clippy::missing_panics_doc)] // the lengths are right
pub fn xchacha<const ROUNDS: usize>(key: &[u8; 32], nonce: &[u8; 24], in_out: &mut [u8]) {
    let subkey = hchacha::<ROUNDS>(key, nonce.first_chunk().expect("24 bytes"));
    stream::<ROUNDS>(
        subkey.as_bytes(),
        *nonce.last_chunk().expect("24 bytes"),
        0,
        in_out,
    );
}

fn stream<const ROUNDS: usize>(key: &[u8; 32], nonce: [u8; 8], mut counter: u64, in_out: &mut [u8]) {
    let (wide, rest) = in_out.split_at_mut(if in_out.len() > BLOCK_LEN { in_out.len() } else { 0 });
    if !wide.is_empty() {
        let mut blocks = Blocks::<LANES>::new(key, nonce);
        for chunk in wide.chunks_mut(LANES * BLOCK_LEN) {
            blocks.xor::<ROUNDS>(counter, chunk);
            counter = counter.wrapping_add(LANES as u64);
        }
    }
    if !rest.is_empty() {
        Blocks::<1>::new(key, nonce).xor::<ROUNDS>(counter, rest);
    }
}

/// Some consecutive blocks of a stream. What is computed of them is overwritten by the next ones, and wiped with the last.
struct Blocks<const N: usize> {
    input: Secret<State<N>>,
    x: Secret<State<N>>,
    output: Secret<[[u8; BLOCK_LEN]; N]>,
}

impl<const N: usize> Blocks<N> {
    fn new(key: &[u8; 32], nonce: [u8; 8]) -> Self {
        let mut last = [0; 16];
        last[8..].copy_from_slice(&nonce);
        Self {
            input: Secret::new(start(key, &last)),
            x: Secret::new([[0; N]; 16]),
            output: Secret::new([[0; BLOCK_LEN]; N]),
        }
    }

    /// XORs the blocks from number `counter` on to `in_out`, which may end before they do.
    fn xor<const ROUNDS: usize>(&mut self, counter: u64, in_out: &mut [u8]) {
        for (lane, i) in (0..N).zip(0..) {
            let number = counter.wrapping_add(i).to_le_bytes();
            (self.input[12][lane], self.input[13][lane]) = (word(&number, 0), word(&number, 1));
        }
        *self.x = *self.input;
        rounds::<ROUNDS, N>(&mut self.x);
        for (i, (x, input)) in self.x.iter().zip(self.input.iter()).enumerate() {
            let sum = add(*x, *input);
            for (block, word) in self.output.iter_mut().zip(sum) {
                block[4 * i..][..4].copy_from_slice(&word.to_le_bytes());
            }
        }
        for (byte, output) in in_out.iter_mut().zip(self.output.as_flattened()) {
            *byte ^= output;
        }
    }
}

/// The state before the rounds, all blocks with the same last four words.
fn start<const N: usize>(key: &[u8; 32], last: &[u8; 16]) -> State<N> {
    let constants = b"expand 32-byte k";
    from_fn(|i| match i {
        0..4 => [word(constants, i); N],
        4..12 => [word(key, i - 4); N],
        _ => [word(last, i - 12); N],
    })
}

/// The `i`-th word.
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

#[inline(always)]
fn quarter_round<const N: usize>(x: &mut State<N>, [a, b, c, d]: [usize; 4]) {
    for (to, from, changed, shift) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
        x[to] = add(x[to], x[from]);
        x[changed] = from_fn(|i| (x[changed][i] ^ x[to][i]).rotate_left(shift));
    }
}

#[inline(always)]
fn add<const N: usize>(a: Word<N>, b: Word<N>) -> Word<N> {
    from_fn(|i| a[i].wrapping_add(b[i]))
}
