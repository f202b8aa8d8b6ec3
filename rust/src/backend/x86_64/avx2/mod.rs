//! The kernels of `jasmin/x86-64-avx2`: six blocks of `ChaCha`, eight of Xoofff and of Poly1305, the four passes of NH,
//! two of each in a register.

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
    add_groups: None,
};

#[cfg(feature = "poly1305")]
pub(crate) static POLY1305_X8: crate::backend::poly1305::limbs26::Kernels =
    crate::backend::poly1305::Kernels::new("avx2", features::get, poly1305_add_blocks_x8);

#[cfg(feature = "xoofff")]
pub(crate) static XOOFFF_X8: crate::backend::xoofff::Kernels = crate::backend::xoofff::Kernels {
    lanes: 8,
    detect: features::get,
    absorb_blocks: xoofff_absorb_blocks_x8,
    squeeze_blocks: xoofff_squeeze_blocks_x8,
    constants: &crate::backend::constants::XOOFFF_X4.0,
};
