//! The kernels of `jasmin/armv8`, included as they are written.

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "armv8", ".S", [raw], "C"; $($declarations)* }
    };
}
include!("declarations.rs");
crate::backend::kernels::backend!(features::get());
