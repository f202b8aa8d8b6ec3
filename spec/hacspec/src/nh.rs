//! NH (UMAC; RFC 4418, section 5.2), with words of 32 bits, stride 2, four passes and messages of at most 1024 bytes.
//!
//! Cryptol twin: `spec/cryptol/NH.cry`. Keep the two in step, definition by definition.

use crate::chacha::le_words;
use alloc::vec::Vec;
use core::array::from_fn;

/// Size in bytes of the longest message.
pub const NH_BLOCK: usize = 1024;

/// Size in bytes of a key.
pub const NH_KEY: usize = 1072;

/// The two products of a unit of four words with four words of the key.
pub fn products(m: [u32; 4], k: [u32; 4]) -> [u64; 2] {
    let t: [u64; 4] = from_fn(|i| u64::from(m[i].wrapping_add(k[i])));
    [t[0] * t[2], t[1] * t[3]]
}

/// The sum of a pass: unit u of the message with unit u + pass of the key.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 268 && pass < 4 && words.len() % 4 == 0 && words.len() <= 256))]
pub fn nh_pass(key: &[u32], words: &[u32], pass: usize) -> u64 {
    let mut sum = 0_u64;
    for u in 0..words.len() / 4 {
        let m = from_fn(|i| words[4 * u + i]);
        let k = from_fn(|i| key[4 * (u + pass) + i]);
        let [x, y] = products(m, k);
        sum = sum.wrapping_add(x).wrapping_add(y);
    }
    sum
}

/// The hash of a message of at most 1024 bytes, padded with zeros to a multiple of 16.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == NH_KEY && message.len() <= NH_BLOCK))]
pub fn nh(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut filled = message.to_vec();
    filled.resize(message.len().div_ceil(16) * 16, 0);
    let (key, words) = (le_words(key), le_words(&filled));
    let sums: [[u8; 8]; 4] = from_fn(|pass| nh_pass(&key, &words, pass).to_le_bytes());
    sums.concat()
}

/// The two sums of each pass: of the first products of units, and of the second.
pub type Sums = [[u64; 2]; 4];

/// Adds the products of a unit. Pass p uses unit p of this part of the key.
pub fn add_unit(sums: Sums, m: [u32; 4], key: [[u32; 4]; 4]) -> Sums {
    from_fn(|pass| {
        let [x, y] = products(m, key[pass]);
        [sums[pass][0].wrapping_add(x), sums[pass][1].wrapping_add(y)]
    })
}

/// Adds those of units in a row. For each, the key begins one unit further on.
#[cfg_attr(veriplex_hax, hax_lib::requires(units.len() <= 64 && key.len() == units.len() + 3))]
pub fn add_units(sums: Sums, units: &[[u32; 4]], key: &[[u32; 4]]) -> Sums {
    let mut sums = sums;
    for u in 0..units.len() {
        sums = add_unit(sums, units[u], from_fn(|pass| key[u + pass]));
    }
    sums
}

/// The two sums of each pass and each of four lanes.
pub type LaneSums = [[[u64; 2]; 4]; 4];

/// Adds the products of four units, each in its lane. Unit u uses unit u + p of this part of the key in pass p.
pub fn add_group(sums: LaneSums, units: [[u32; 4]; 4], key: [[u32; 4]; 7]) -> LaneSums {
    from_fn(|pass| {
        from_fn(|u| {
            let [x, y] = products(units[u], key[u + pass]);
            let s: [u64; 2] = sums[pass][u];
            [s[0].wrapping_add(x), s[1].wrapping_add(y)]
        })
    })
}

/// Adds those of groups in a row. For each, the key begins four units further on.
#[cfg_attr(veriplex_hax, hax_lib::requires(units.len() % 4 == 0 && units.len() <= 64 && key.len() == units.len() + 3))]
pub fn add_groups(sums: LaneSums, units: &[[u32; 4]], key: &[[u32; 4]]) -> LaneSums {
    let mut sums = sums;
    for g in 0..units.len() / 4 {
        sums = add_group(sums, from_fn(|u| units[4 * g + u]), from_fn(|u| key[4 * g + u]));
    }
    sums
}
