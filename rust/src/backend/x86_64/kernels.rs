//! The Jasmin kernels of `jasmin/x86-64`, included as the assembly that was generated from them.

#[cfg(feature = "adiantum")]
use crate::backend::chacha;
use crate::backend::dispatch::Level;
use crate::backend::lanes;
#[cfg(feature = "xoofff")]
use crate::backend::{constants, xoofff};

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "x86-64", ".s", [att_syntax, raw], "sysv64"; $($declarations)* }
    };
}
include!("declarations.rs");
crate::backend::kernels::backend!();

pub(crate) const LEVEL: Level = Level {
    name: "x86-64",
    detect: features::get,
};

/// The same instructions on two lanes in turn.
pub(crate) const X2: lanes::Kernels = lanes::Kernels {
    width: 2,
    serial_threshold: 4,
    permute: simpira1024_permute_x2,
    absorb_blocks: duplex_absorb_blocks_x2,
    encrypt_blocks: duplex_encrypt_blocks_x2,
    decrypt_blocks: duplex_decrypt_blocks_x2,
    squeeze_blocks: duplex_squeeze_blocks_x2,
    round_constants: &KEYS.0,
};

/// Of the features of this level, these kernels and those of Xoofff need AVX alone.
#[cfg(feature = "adiantum")]
pub(crate) const CHACHA_X3: chacha::Kernels = chacha::Kernels {
    lanes: 3,
    avx2: false,
    numbers: chacha::last_row,
    xor_blocks_8: chacha8_xor_blocks_x3,
    xor_blocks_12: chacha12_xor_blocks_x3,
    xor_blocks_20: chacha20_xor_blocks_x3,
};

#[cfg(feature = "xoofff")]
pub(crate) const XOOFFF_X4: xoofff::Kernels = xoofff::Kernels {
    lanes: 4,
    absorb_blocks: xoofff_absorb_blocks_x4,
    squeeze_blocks: xoofff_squeeze_blocks_x4,
    constants: &constants::XOOFFF_X4.0,
};
