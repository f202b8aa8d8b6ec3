//! The kernels of `jasmin/x86-64-avx512`: eight lanes, four in each register.

use crate::backend::kernels::symbol;
use crate::lane_backend::kernels::Kernels;
use crate::simpira1024::ROUND_CONSTANTS;

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "x86-64-avx512", ".S", [att_syntax, raw], "sysv64"; $($declarations)* }
    };
}
include!("declarations.rs");

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

pub(crate) static X8: Kernels = Kernels {
    name: "x86-64-avx512",
    width: 8,
    few: 1,
    detect: features::get,
    permute: simpira1024_permute_x8,
    absorb_blocks: duplex_absorb_blocks_x8,
    encrypt_blocks: duplex_encrypt_blocks_x8,
    decrypt_blocks: duplex_decrypt_blocks_x8,
    squeeze_blocks: duplex_squeeze_blocks_x8,
    round_constants: &KEYS.0,
};
