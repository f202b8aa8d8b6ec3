//! Xoodoo\[n\]: a permutation of 384 bits with n rounds (eprint 2018/767, section 2).
//!
//! Cryptol twin: `spec/cryptol/Xoodoo.cry`. Keep the two in step, definition by definition.

use core::array::from_fn;

/// The state as bytes.
pub type State = [u8; 48];

/// Four words, one in each column.
pub type Plane = [u32; 4];

/// The constants of the twelve rounds (table 2).
pub const ROUND_CONSTANTS: [u32; 12] = [
    0x0000_0058,
    0x0000_0038,
    0x0000_03c0,
    0x0000_00d0,
    0x0000_0120,
    0x0000_0014,
    0x0000_0060,
    0x0000_002c,
    0x0000_0380,
    0x0000_00f0,
    0x0000_01a0,
    0x0000_0012,
];

/// The planes of a state, whose words are little-endian.
pub fn planes(state: State) -> [Plane; 3] {
    from_fn(|y| {
        from_fn(|x| {
            let i = 4 * (4 * y + x);
            u32::from_le_bytes([state[i], state[i + 1], state[i + 2], state[i + 3]])
        })
    })
}

/// The state of these planes.
pub fn bytes(planes: [Plane; 3]) -> State {
    from_fn(|i| planes[i / 16][i / 4 % 4].to_le_bytes()[i % 4])
}

/// Shifts the words of a plane by t columns and rotates each left by v places.
pub fn shift(plane: Plane, t: usize, v: u32) -> Plane {
    from_fn(|x| plane[(x + 4 - t) % 4].rotate_left(v))
}

/// Mixes columns.
pub fn theta(a: [Plane; 3]) -> [Plane; 3] {
    let parity: Plane = from_fn(|x| a[0][x] ^ a[1][x] ^ a[2][x]);
    let (e0, e1) = (shift(parity, 1, 5), shift(parity, 1, 14));
    a.map(|plane| from_fn(|x| plane[x] ^ e0[x] ^ e1[x]))
}

/// Shifts planes 1 and 2 before `chi`.
pub fn rho_west(a: [Plane; 3]) -> [Plane; 3] {
    [a[0], shift(a[1], 1, 0), shift(a[2], 0, 11)]
}

/// Adds the constant of a round.
pub fn iota(a: [Plane; 3], constant: u32) -> [Plane; 3] {
    [
        from_fn(|x| if x == 0 { a[0][0] ^ constant } else { a[0][x] }),
        a[1],
        a[2],
    ]
}

/// The nonlinear step.
pub fn chi(a: [Plane; 3]) -> [Plane; 3] {
    from_fn(|y| from_fn(|x| a[y][x] ^ (!a[(y + 1) % 3][x] & a[(y + 2) % 3][x])))
}

/// Shifts planes 1 and 2 after `chi`.
pub fn rho_east(a: [Plane; 3]) -> [Plane; 3] {
    [a[0], shift(a[1], 0, 1), shift(a[2], 2, 8)]
}

/// One round (algorithm 1).
pub fn round(a: [Plane; 3], constant: u32) -> [Plane; 3] {
    rho_east(chi(iota(rho_west(theta(a)), constant)))
}

/// The permutation: the last n rounds of twelve.
#[cfg_attr(veriplex_hax, hax_lib::requires(n <= 12))]
pub fn permute(n: usize, x: State) -> State {
    let mut a = planes(x);
    for constant in &ROUND_CONSTANTS[12 - n..] {
        a = round(a, *constant);
    }
    bytes(a)
}
