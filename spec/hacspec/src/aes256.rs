//! AES-256 (FIPS 197), with the steps of one round from `AES`.
//!
//! Cryptol twin: `spec/cryptol/AES256.cry`. Keep the two in step, definition by definition.

use crate::aes::{Block, aes_round, gf_inverse, gf_mul, shift_rows, sub_byte, sub_bytes};
use core::array::from_fn;

/// A column of a block, or a word of the key.
pub type Column = [u8; 4];

/// The round keys.
pub type Schedule = [Block; 15];

/// The sum in GF(2^8), byte by byte.
pub fn add_column(x: Column, y: Column) -> Column {
    from_fn(|i| x[i] ^ y[i])
}

/// `SubWord` (section 5.2).
pub fn sub_word(x: Column) -> Column {
    x.map(sub_byte)
}

/// Rcon\[i\] (section 5.2): x^(i - 1).
pub fn round_constant(i: usize) -> u8 {
    1 << (i - 1)
}

/// `KeyExpansion` (section 5.2): words 8 to 59, each from the previous word and the word eight places before.
pub fn expand(key: [u8; 32]) -> Schedule {
    let mut w: [Column; 60] = [[0; 4]; 60];
    for i in 0..60 {
        w[i] = if i < 8 {
            from_fn(|j| key[4 * i + j])
        } else {
            add_column(w[i - 8], step(i, w[i - 1]))
        };
    }
    from_fn(|round| from_fn(|i| w[4 * round + i / 4][i % 4]))
}

/// The contribution of the previous word to word i.
pub fn step(i: usize, previous: Column) -> Column {
    let [a, b, c, d] = previous;
    match i % 8 {
        0 => add_column(sub_word([b, c, d, a]), [round_constant(i / 8), 0, 0, 0]),
        4 => sub_word(previous),
        _ => previous,
    }
}

/// `AddRoundKey` (section 5.1.4).
pub fn add_round_key(x: Block, key: Block) -> Block {
    from_fn(|i| x[i] ^ key[i])
}

/// `Cipher` (section 5.1).
pub fn encrypt(key: [u8; 32], block: Block) -> Block {
    let schedule = expand(key);
    let mut x = add_round_key(block, schedule[0]);
    for key in &schedule[1..14] {
        x = aes_round(x, *key);
    }
    add_round_key(shift_rows(sub_bytes(x)), schedule[14])
}

/// The inverse of the S-box: the inverse of the affine map, then the inverse in GF(2^8) (section 5.3.2).
pub fn inv_sub_byte(x: u8) -> u8 {
    gf_inverse(x.rotate_left(1) ^ x.rotate_left(3) ^ x.rotate_left(6) ^ 0x05)
}

/// `InvSubBytes` (section 5.3.2).
pub fn inv_sub_bytes(x: Block) -> Block {
    x.map(inv_sub_byte)
}

/// `InvShiftRows`: row r rotates right by r places (section 5.3.1).
pub fn inv_shift_rows(x: Block) -> Block {
    from_fn(|i| {
        let (row, column) = (i % 4, i / 4);
        x[4 * ((column + 4 - row) % 4) + row]
    })
}

/// One column times the inverse matrix (section 5.3.3, equation (5.10)).
pub fn inv_mix_column(column: Column) -> Column {
    let matrix = [[14, 11, 13, 9], [9, 14, 11, 13], [13, 9, 14, 11], [11, 13, 9, 14]];
    from_fn(|i| {
        let mut sum = 0;
        for j in 0..4 {
            sum ^= gf_mul(matrix[i][j], column[j]);
        }
        sum
    })
}

/// `InvMixColumns` (section 5.3.3).
pub fn inv_mix_columns(x: Block) -> Block {
    let columns: [Column; 4] = from_fn(|c| inv_mix_column(from_fn(|row| x[4 * c + row])));
    from_fn(|i| columns[i / 4][i % 4])
}

/// A round of `InvCipher`.
pub fn inv_round(x: Block, key: Block) -> Block {
    inv_mix_columns(add_round_key(inv_sub_bytes(inv_shift_rows(x)), key))
}

/// `InvCipher` (section 5.3).
pub fn decrypt(key: [u8; 32], block: Block) -> Block {
    let schedule = expand(key);
    let mut x = add_round_key(block, schedule[14]);
    for i in 0..13 {
        x = inv_round(x, schedule[13 - i]);
    }
    add_round_key(inv_sub_bytes(inv_shift_rows(x)), schedule[0])
}
