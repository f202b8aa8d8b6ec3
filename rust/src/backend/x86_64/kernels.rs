//! The Jasmin kernels of `jasmin/x86-64`, included as the assembly that was generated from them.

cpufeatures::new!(features, "aes", "avx");
crate::backend::kernels::backend!(
    features::get(),
    "x86-64",
    [],
    ".s",
    [],
    [att_syntax, raw],
    "sysv64"
);
