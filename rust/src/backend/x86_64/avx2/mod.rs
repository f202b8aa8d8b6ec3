//! The kernels of `jasmin/x86-64-avx2`: six blocks of `ChaCha`, eight of Xoofff and of Poly1305, the four passes of NH,
//! two of each in a register.

use crate::backend::dispatch::Level;
#[cfg(feature = "poly1305")]
use crate::backend::poly1305;
#[cfg(feature = "adiantum")]
use crate::backend::{chacha, nh};
#[cfg(feature = "xoofff")]
use crate::backend::{constants, xoofff};

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "x86-64-avx2", ".S", [att_syntax, raw], "sysv64"; $($declarations)* }
    };
}
include!("declarations.rs");

pub(crate) const LEVEL: Level = Level {
    name: "x86-64-avx2",
    detect: features::get,
};

#[cfg(feature = "adiantum")]
pub(crate) const CHACHA_X6: chacha::Kernels = chacha::Kernels {
    lanes: 6,
    avx2: true,
    numbers: chacha::last_row,
    xor_blocks_8: chacha8_xor_blocks_x6,
    xor_blocks_12: chacha12_xor_blocks_x6,
    xor_blocks_20: chacha20_xor_blocks_x6,
};

#[cfg(feature = "adiantum")]
pub(crate) const NH_X2: nh::Kernels = nh::Kernels {
    add_units: nh_add_units_x2,
    add_groups: None,
};

#[cfg(feature = "poly1305")]
pub(crate) const POLY1305_X8: poly1305::limbs26::Kernels = poly1305::Kernels::new(poly1305_add_blocks_x8);

#[cfg(feature = "xoofff")]
pub(crate) const XOOFFF_X8: xoofff::Kernels = xoofff::Kernels {
    lanes: 8,
    absorb_blocks: xoofff_absorb_blocks_x8,
    squeeze_blocks: xoofff_squeeze_blocks_x8,
    constants: &constants::XOOFFF_X4.0,
};
