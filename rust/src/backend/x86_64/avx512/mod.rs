//! The kernels of `jasmin/x86-64-avx512`: eight lanes of the duplex, four in each register; sixteen blocks of `ChaCha`, of
//! Poly1305 and of Xoofff; the four passes of NH in a register.

use super::avx2;
use crate::backend::dispatch::Level;
use crate::backend::kernels::symbol;
use crate::backend::lanes;
#[cfg(feature = "poly1305")]
use crate::backend::poly1305;
use crate::backend::simpira1024::ROUND_CONSTANTS;
#[cfg(feature = "xoofff")]
use crate::backend::xoofff;
#[cfg(feature = "adiantum")]
use crate::backend::{chacha, nh};

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "x86-64-avx512", ".S", [att_syntax, raw], "sysv64"; $($declarations)* }
    };
}
include!("declarations.rs");

pub(crate) const LEVEL: Level = Level {
    name: "x86-64-avx512",
    detect: || features::get() && (avx2::LEVEL.detect)(),
};

/// `K(1)` to `K(72)`, each four times: as many as there are 128-bit lanes in the widest register.
#[repr(C, align(64))]
pub(super) struct Keys(pub(super) [[u32; 4]; 4 * ROUND_CONSTANTS.len()]);

// Under a symbol, for proofs and tests to find it.
#[unsafe(export_name = symbol!("simpira1024_round_constants_x4"))]
pub(super) static KEYS: Keys = Keys(keys());

const fn keys() -> [[u32; 4]; 4 * ROUND_CONSTANTS.len()] {
    let mut keys = [[0; 4]; 4 * ROUND_CONSTANTS.len()];
    let mut i = 0;
    while i < keys.len() {
        keys[i] = ROUND_CONSTANTS[i / 4];
        i += 1;
    }
    keys
}

pub(crate) const X8: lanes::Kernels = lanes::Kernels {
    width: 8,
    serial_threshold: 1,
    permute: simpira1024_permute_x8,
    absorb_blocks: duplex_absorb_blocks_x8,
    encrypt_blocks: duplex_encrypt_blocks_x8,
    decrypt_blocks: duplex_decrypt_blocks_x8,
    squeeze_blocks: duplex_squeeze_blocks_x8,
    round_constants: &KEYS.0,
};

#[cfg(feature = "adiantum")]
pub(crate) const CHACHA_X16: chacha::Kernels = chacha::Kernels {
    lanes: 16,
    avx2: true,
    numbers: chacha::of_each_lane::<16>,
    xor_blocks_8: chacha8_xor_blocks_x16,
    xor_blocks_12: chacha12_xor_blocks_x16,
    xor_blocks_20: chacha20_xor_blocks_x16,
};

#[cfg(feature = "adiantum")]
pub(crate) const NH_X4: nh::Kernels = nh::Kernels {
    add_units: nh_add_units_x4,
    add_groups: Some(nh_add_groups_x4),
};

#[cfg(feature = "poly1305")]
pub(crate) const POLY1305_X16: poly1305::limbs44::Kernels = poly1305::Kernels::new(poly1305_add_blocks_x16);

/// The constants of the last six rounds of Xoodoo and the 7 of the roll of output states, each sixteen times; the places of
/// a shift register's words in the 64 bytes that end with a state; those of the state's words in the register. The
/// first four of each are not used.
#[repr(C, align(64))]
struct XoofffConstants([u32; 9 * 16]);

// Under a symbol, for proofs and tests to find it.
#[unsafe(export_name = symbol!("xoofff_constants_x16"))]
static XOOFFF_CONSTANTS: XoofffConstants = XoofffConstants(xoofff_constants());

const fn xoofff_constants() -> [u32; 9 * 16] {
    const REPEATED: [u32; 7] = [0x60, 0x2c, 0x380, 0xf0, 0x1a0, 0x12, 7];
    const TO_REGISTER: [u32; 16] = [4, 8, 12, 5, 4, 8, 12, 5, 9, 13, 6, 10, 14, 7, 11, 15];
    const TO_STATE: [u32; 16] = [0, 3, 6, 9, 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11];
    let mut constants = [0; 9 * 16];
    let mut i = 0;
    while i < constants.len() {
        constants[i] = match i / 16 {
            7 => TO_REGISTER[i % 16],
            8 => TO_STATE[i % 16],
            row => REPEATED[row],
        };
        i += 1;
    }
    constants
}

#[cfg(feature = "xoofff")]
pub(crate) const XOOFFF_X16: xoofff::Kernels = xoofff::Kernels {
    lanes: 16,
    absorb_blocks: xoofff_absorb_blocks_x16,
    squeeze_blocks: xoofff_squeeze_blocks_x16,
    constants: &XOOFFF_CONSTANTS.0,
};
