//! Xoodoo\[n\]: a permutation of 48 bytes, the last n rounds of twelve (Xoodoo cookbook, eprint 2018/767, section 2).
//!
//! Portable code for one or several states at a time, without tables or branches on data. For one state x86-64 has
//! something faster.

use core::array::from_fn;

/// Size of the state in bytes.
pub(crate) const STATE_LEN: usize = 48;
pub(crate) type State = [u8; STATE_LEN];

/// One 32-bit word of each of `N` states. The compiler turns these into vectors where the target has them.
pub(crate) type Words<const N: usize> = [u32; N];

const ROUND_CONSTANTS: [u32; 12] = [
    0x058, 0x038, 0x3c0, 0x0d0, 0x120, 0x014, 0x060, 0x02c, 0x380, 0x0f0, 0x1a0, 0x012,
];

/// The constants of the last `ROUNDS` rounds.
const fn last<const ROUNDS: usize>() -> &'static [u32; ROUNDS] {
    const {
        match ROUND_CONSTANTS.last_chunk() {
            Some(constants) => constants,
            None => panic!("there are at most 12 rounds"),
        }
    }
}

/// Xoodoo with 6 or 12 rounds, in place. A raw permutation: it has no key and by itself hides nothing.
///
/// ```
/// use veriplex::hazmat::xoodoo;
///
/// let mut state = [0; 48];
/// xoodoo::<12>(&mut state);
/// assert_eq!(state[..4], [0x8d, 0xd8, 0xd5, 0x89]);
/// ```
///
/// Any other number of rounds does not compile:
///
/// ```compile_fail,E0080
/// # fn main() {
/// veriplex::hazmat::xoodoo::<7>(&mut [0; 48]);
/// # }
/// ```
pub fn xoodoo<const ROUNDS: usize>(state: &mut [u8; STATE_LEN]) {
    const { assert!(ROUNDS == 6 || ROUNDS == 12, "Xoodoo has 6 or 12 rounds") };
    #[cfg(all(veriplex_hardware, target_arch = "x86_64", target_feature = "sse2"))]
    crate::backend::xoodoo(state, last::<ROUNDS>());
    #[cfg(not(all(veriplex_hardware, target_arch = "x86_64", target_feature = "sse2")))]
    one::<ROUNDS>(state);
}

/// Xoodoo\[`ROUNDS`\] on one state, portably.
#[cfg(any(
    test,
    not(all(veriplex_hardware, target_arch = "x86_64", target_feature = "sse2"))
))]
fn one<const ROUNDS: usize>(state: &mut State) {
    let mut words = load(state).map(|word| [word]);
    permute::<1, ROUNDS>(&mut words);
    *state = store(words.map(|[word]| word));
}

/// The words of a state: word x + 4y is in column x of plane y.
#[inline(always)]
pub(crate) fn load(state: &State) -> [u32; 12] {
    let (words, _) = state.as_chunks();
    from_fn(|i| u32::from_le_bytes(words[i]))
}

#[inline(always)]
pub(crate) fn store(words: [u32; 12]) -> State {
    let mut state = [0; STATE_LEN];
    for (bytes, word) in state.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    state
}

/// Xoodoo\[`ROUNDS`\] on `N` states at a time.
#[inline(always)]
pub(crate) fn permute<const N: usize, const ROUNDS: usize>(states: &mut [Words<N>; 12]) {
    for constant in last::<ROUNDS>() {
        round(states, *constant);
    }
}

#[inline(always)]
fn round<const N: usize>(a: &mut [Words<N>; 12], constant: u32) {
    // Theta.
    let parity: [Words<N>; 4] = from_fn(|x| xor(xor(a[x], a[4 + x]), a[8 + x]));
    let effect: [Words<N>; 4] = from_fn(|x| {
        let p = parity[(x + 3) % 4];
        xor(rotate(p, 5), rotate(p, 14))
    });
    for (i, word) in a.iter_mut().enumerate() {
        *word = xor(*word, effect[i % 4]);
    }
    // Rho-west shifts plane 1 by one column and rotates the words of plane 2; then iota.
    let plane_1: [Words<N>; 4] = from_fn(|x| a[4 + (x + 3) % 4]);
    a[0] = a[0].map(|word| word ^ constant);
    // Chi, and the rotations of rho-east.
    for x in 0..4 {
        let (b0, b1, b2) = (a[x], plane_1[x], rotate(a[8 + x], 11));
        a[x] = xor(b0, and_not(b1, b2));
        a[4 + x] = rotate(xor(b1, and_not(b2, b0)), 1);
        a[8 + x] = rotate(xor(b2, and_not(b0, b1)), 8);
    }
    // Rho-east shifts plane 2 by two columns.
    let [.., b8, b9, b10, b11] = *a;
    a[8..].copy_from_slice(&[b10, b11, b8, b9]);
}

#[inline(always)]
fn xor<const N: usize>(a: Words<N>, b: Words<N>) -> Words<N> {
    from_fn(|i| a[i] ^ b[i])
}

/// `!a & b`.
#[inline(always)]
fn and_not<const N: usize>(a: Words<N>, b: Words<N>) -> Words<N> {
    from_fn(|i| !a[i] & b[i])
}

#[inline(always)]
fn rotate<const N: usize>(a: Words<N>, by: u32) -> Words<N> {
    a.map(|word| word.rotate_left(by))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of states, so that each of their bits takes part.
    #[test]
    fn one_state_agrees_with_portable() {
        let (mut state, mut portable) = ([0x5a; STATE_LEN], [0x5a; STATE_LEN]);
        for _ in 0..100 {
            xoodoo::<6>(&mut state);
            one::<6>(&mut portable);
            assert_eq!(state, portable);
            xoodoo::<12>(&mut state);
            one::<12>(&mut portable);
            assert_eq!(state, portable);
        }
    }
}
