//! The Jasmin kernels of `jasmin/x86-64`, included as the assembly that was generated from them.

macro_rules! kernels {
    ($($declarations:tt)*) => {
        $crate::backend::kernels::kernels! { "x86-64", ".s", [att_syntax, raw], "sysv64"; $($declarations)* }
    };
}
include!("declarations.rs");
crate::backend::kernels::backend!(features::get());
