//! The kernels of `jasmin/armv8`, included as they are written.

use crate::lane_backend::kernels::Kernels;

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "armv8", ".S", [raw], "C"; $($declarations)* }
    };
}
include!("declarations.rs");
crate::backend::kernels::backend!(features::get());

/// Two lanes side by side. `few` is that of x86-64: it was not measured on such a CPU.
pub(crate) static X2: Kernels = Kernels {
    name: "armv8",
    width: 2,
    few: 4,
    detect: features::get,
    permute: simpira1024_permute_x2,
    absorb_blocks: duplex_absorb_blocks_x2,
    encrypt_blocks: duplex_encrypt_blocks_x2,
    decrypt_blocks: duplex_decrypt_blocks_x2,
    squeeze_blocks: duplex_squeeze_blocks_x2,
    round_constants: &KEYS.0,
};

/// Whether there are vector instructions, as on every target with an operating system. The kernels for several blocks, and
/// those for NH and Poly1305, need no others.
#[cfg(any(feature = "poly1305", feature = "xoofff"))]
fn has_vectors() -> bool {
    cfg!(target_feature = "neon")
}

#[cfg(feature = "adiantum")]
pub(crate) static CHACHA_X4: crate::backend::chacha::Kernels = crate::backend::chacha::Kernels {
    lanes: 4,
    detect: has_vectors,
    numbers: crate::backend::chacha::last_row,
    xor_blocks_8: chacha8_xor_blocks_x4,
    xor_blocks_12: chacha12_xor_blocks_x4,
    xor_blocks_20: chacha20_xor_blocks_x4,
};

/// One pass in a register.
#[cfg(feature = "adiantum")]
pub(crate) static NH_X1: crate::backend::nh::Kernels = crate::backend::nh::Kernels {
    detect: has_vectors,
    add_units: nh_add_units_x1,
};

#[cfg(feature = "poly1305")]
pub(crate) static POLY1305_X4: crate::backend::poly1305::limbs26::Kernels =
    crate::backend::poly1305::Kernels::new("neon", has_vectors, poly1305_add_blocks_x4);

#[cfg(feature = "xoofff")]
pub(crate) static XOOFFF_X4: crate::backend::xoofff::Kernels = crate::backend::xoofff::Kernels {
    lanes: 4,
    detect: has_vectors,
    absorb_blocks: xoofff_absorb_blocks_x4,
    squeeze_blocks: xoofff_squeeze_blocks_x4,
    constants: &crate::backend::constants::XOOFFF_X4.0,
};
