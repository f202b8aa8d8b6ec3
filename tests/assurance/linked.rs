//! The kernels that are linked into a test program, as the crate declares them.

/// Declares the kernels with the C calling convention.
macro_rules! kernels {
    (
        features [$($feature:tt)*];
        $(include $include:tt $macros:tt {
            $($(#[$documentation:meta])* fn $name:ident($($argument:ident: $type:ty),*) = $symbol:literal;)*
        })*
    ) => {
        mod symbols {
            unsafe extern "C" {
                $($(
                    #[link_name = concat!(
                        "veriplex_", $symbol, "_v", env!("CARGO_PKG_VERSION_MAJOR"), "_", env!("CARGO_PKG_VERSION_MINOR")
                    )]
                    pub(super) fn $name();
                )*)*
            }
        }

        pub(super) fn addresses() -> Vec<(&'static str, *const u8)> {
            std::hint::black_box(vec![$($(($symbol, symbols::$name as *const u8)),*),*])
        }
    };
}

macro_rules! levels {
    ($($name:ident $file:literal),*) => {
        $(mod $name {
            include!($file);
        })*

        /// The symbol of each, without `veriplex_` and version, and its address. This also keeps them all in the program.
        pub fn addresses() -> Vec<(&'static str, *const u8)> {
            // Unless they are used, the crate and its tables of constants are not linked.
            let many = veriplex::digest::digest_many(veriplex::label!("test"), &[b""; 8], &mut [[0; 32]; 8]);
            std::hint::black_box(many.is_ok());
            let mut strings = veriplex::xoofff::Xoofff::new(&[0; 16]).expect("a short key");
            strings.absorb(&[0; 16 * 48]);
            std::hint::black_box(strings);
            [$($name::addresses()),*].concat()
        }
    };
}
#[cfg(target_arch = "aarch64")]
levels! { armv8 "../../rust/src/backend/aarch64/declarations.rs" }
#[cfg(target_arch = "x86_64")]
levels! {
    x86_64 "../../rust/src/backend/x86_64/declarations.rs",
    avx2 "../../rust/src/backend/x86_64/avx2/declarations.rs",
    vaes "../../rust/src/backend/x86_64/vaes/declarations.rs",
    avx512 "../../rust/src/backend/x86_64/avx512/declarations.rs"
}
