//! Tables of constants that kernels of several levels read.

use crate::backend::kernels::symbol;

/// For kernels with a plane of one state, or of two, in a register. Each row twice: the constants of the last six rounds
/// of Xoodoo, in the first word of a plane; the shuffle that moves the words of a plane by two columns and rotates each
/// by 8; the 7 of the roll of output states, in every word.
#[repr(C, align(64))]
pub(super) struct XoofffX4(pub(super) [u32; 8 * 8]);

// Under a symbol, for proofs and tests to find it.
#[unsafe(export_name = symbol!("xoofff_constants_x4"))]
pub(super) static XOOFFF_X4: XoofffX4 = XoofffX4(xoofff_x4());

const fn xoofff_x4() -> [u32; 8 * 8] {
    const ROWS: [[u32; 4]; 8] = [
        [0x60, 0, 0, 0],
        [0x2c, 0, 0, 0],
        [0x380, 0, 0, 0],
        [0xf0, 0, 0, 0],
        [0x1a0, 0, 0, 0],
        [0x12, 0, 0, 0],
        [0x0a09_080b, 0x0e0d_0c0f, 0x0201_0003, 0x0605_0407],
        [7; 4],
    ];
    let mut constants = [0; 8 * 8];
    let mut i = 0;
    while i < constants.len() {
        constants[i] = ROWS[i / 8][i % 4];
        i += 1;
    }
    constants
}
