//! One round of AES, as algebra (FIPS 197).
//!
//! Cryptol twin: `spec/cryptol/AES.cry`. Keep the two in step, definition by definition.

use core::array::from_fn;

/// A block in FIPS 197's byte order: byte i is row i % 4 of column i / 4 (section 3.4).
pub type Block = [u8; 16];

/// The product in GF(2^8) = GF(2)\[x\] / (x^8 + x^4 + x^3 + x + 1) (section 4.2).
pub const fn gf_mul(x: u8, y: u8) -> u8 {
    let mut product = 0;
    let mut power = x;
    let mut i = 0;
    while i < 8 {
        if (y >> i) & 1 == 1 {
            product ^= power;
        }
        power = (power << 1) ^ (if power & 0x80 == 0 { 0 } else { 0x1b });
        i += 1;
    }
    product
}

/// The multiplicative inverse, and 0 for 0: x^254 = x^2 * x^4 * x^8 * ... * x^128.
pub const fn gf_inverse(x: u8) -> u8 {
    let mut inverse = 1;
    let mut square = x;
    let mut i = 0;
    while i < 7 {
        square = gf_mul(square, square);
        inverse = gf_mul(inverse, square);
        i += 1;
    }
    inverse
}

/// The S-box: the inverse, then the affine map of section 5.1.1, equation (5.2).
pub const fn sub_byte(x: u8) -> u8 {
    let b = gf_inverse(x);
    b ^ b.rotate_left(1) ^ b.rotate_left(2) ^ b.rotate_left(3) ^ b.rotate_left(4) ^ 0x63
}

/// `sub_byte` of each byte. Computing it each time would take nine tenths of the time of all tests against this crate.
static SUB_BYTE: [u8; 256] = {
    let mut table = [0; 256];
    let mut x = 0u8;
    loop {
        table[x as usize] = sub_byte(x);
        if x == 255 {
            break table;
        }
        x += 1;
    }
};

/// `SubBytes` (section 5.1.1).
pub fn sub_bytes(x: Block) -> Block {
    from_fn(|i| SUB_BYTE[usize::from(x[i])])
}

/// `ShiftRows`: row r rotates left by r places (section 5.1.2).
pub fn shift_rows(x: Block) -> Block {
    from_fn(|i| {
        let (row, column) = (i % 4, i / 4);
        x[4 * ((column + row) % 4) + row]
    })
}

/// One column times a fixed circulant matrix (section 5.1.3, equation (5.7)).
pub fn mix_column(column: [u8; 4]) -> [u8; 4] {
    let matrix = [[2, 3, 1, 1], [1, 2, 3, 1], [1, 1, 2, 3], [3, 1, 1, 2]];
    from_fn(|i| {
        let mut sum = 0;
        for j in 0..4 {
            sum ^= gf_mul(matrix[i][j], column[j]);
        }
        sum
    })
}

/// `MixColumns` (section 5.1.3).
pub fn mix_columns(x: Block) -> Block {
    let columns: [[u8; 4]; 4] = from_fn(|c| mix_column(from_fn(|row| x[4 * c + row])));
    from_fn(|i| columns[i / 4][i % 4])
}

/// The round without its key.
pub fn aes_round_core(x: Block) -> Block {
    mix_columns(shift_rows(sub_bytes(x)))
}

/// The whole round, with `AddRoundKey` (section 5.1.4): what the x86 instruction AESENC computes.
pub fn aes_round(x: Block, key: Block) -> Block {
    let core = aes_round_core(x);
    from_fn(|i| core[i] ^ key[i])
}
