//! The kernels of `jasmin/x86-64-avx2`: six blocks of `ChaCha`, four of Xoofff, the four passes of NH, two of each in a
//! register.

use crate::backend::kernels::symbol;

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "x86-64-avx2", ".S", [att_syntax, raw], "sysv64"; $($declarations)* }
    };
}
include!("declarations.rs");

#[cfg(feature = "adiantum")]
pub(crate) static CHACHA_X6: crate::backend::chacha::Kernels = crate::backend::chacha::Kernels {
    lanes: 6,
    detect: features::get,
    numbers: crate::backend::chacha::last_row,
    xor_blocks_8: chacha8_xor_blocks_x6,
    xor_blocks_12: chacha12_xor_blocks_x6,
    xor_blocks_20: chacha20_xor_blocks_x6,
};

#[cfg(feature = "adiantum")]
pub(crate) static NH_X2: crate::backend::nh::Kernels = crate::backend::nh::Kernels {
    detect: features::get,
    add_units: nh_add_units_x2,
};

/// For both halves of a register: the constants of the last six rounds of Xoodoo, in the first word of a plane; the shuffle
/// that moves the words of a plane by two columns and rotates each by 8; the 7 of the roll of output states, in every
/// word.
#[repr(C, align(64))]
struct XoofffConstants([u32; 8 * 8]);

// Under a symbol, for proofs and tests to find it.
#[unsafe(export_name = symbol!("xoofff_constants_x4"))]
static XOOFFF_CONSTANTS: XoofffConstants = XoofffConstants(xoofff_constants());

const fn xoofff_constants() -> [u32; 8 * 8] {
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

#[cfg(feature = "xoofff")]
pub(crate) static XOOFFF_X4: crate::backend::xoofff::Kernels = crate::backend::xoofff::Kernels {
    lanes: 4,
    detect: features::get,
    absorb_blocks: xoofff_absorb_blocks_x4,
    squeeze_blocks: xoofff_squeeze_blocks_x4,
    constants: &XOOFFF_CONSTANTS.0,
};
