//! The kernels of `jasmin/armv8`, included as they are written.

use crate::backend::dispatch::Level;
use crate::backend::lanes;
#[cfg(feature = "poly1305")]
use crate::backend::poly1305;
#[cfg(feature = "adiantum")]
use crate::backend::{chacha, nh};
#[cfg(feature = "xoofff")]
use crate::backend::{constants, xoofff};

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "armv8", ".S", [raw], "C"; $($declarations)* }
    };
}
include!("declarations.rs");
crate::backend::kernels::backend!();

pub(crate) const LEVEL: Level = Level {
    name: "armv8",
    detect: features::get,
};

/// Two lanes side by side. `serial_threshold` is that of x86-64: it was not measured on such a CPU.
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

/// That of the kernels for several blocks, and of those for NH and Poly1305: vector instructions, as on every target with an
/// operating system, and no others.
#[cfg(any(feature = "poly1305", feature = "xoofff"))]
pub(crate) const VECTORS: Level = Level {
    name: LEVEL.name,
    detect: || cfg!(target_feature = "neon"),
};

#[cfg(feature = "adiantum")]
pub(crate) const CHACHA_X4: chacha::Kernels = chacha::Kernels {
    lanes: 4,
    numbers: chacha::last_row,
    xor_blocks_8: chacha8_xor_blocks_x4,
    xor_blocks_12: chacha12_xor_blocks_x4,
    xor_blocks_20: chacha20_xor_blocks_x4,
};

/// One pass in a register.
#[cfg(feature = "adiantum")]
pub(crate) const NH_X1: nh::Kernels = nh::Kernels {
    add_units: nh_add_units_x1,
    add_groups: None,
};

#[cfg(feature = "poly1305")]
pub(crate) const POLY1305_X4: poly1305::limbs26::Kernels = poly1305::Kernels::new(poly1305_add_blocks_x4);

#[cfg(feature = "xoofff")]
pub(crate) const XOOFFF_X4: xoofff::Kernels = xoofff::Kernels {
    lanes: 4,
    absorb_blocks: xoofff_absorb_blocks_x4,
    squeeze_blocks: xoofff_squeeze_blocks_x4,
    constants: &constants::XOOFFF_X4.0,
};
