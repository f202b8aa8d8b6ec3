//! The kernels of `jasmin/x86-64-avx2`: six blocks of `ChaCha`, two in each register.

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
