//! The kernels that are linked into a test program, as the crate declares them.

/// The calling convention of the kernels is here the one of C.
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

        /// The symbol of each, without `veriplex_` and version, and its address. This also keeps them all in the program.
        pub fn addresses() -> Vec<(&'static str, *const u8)> {
            // Without a use of the crate it would not be linked.
            std::hint::black_box(veriplex::digest::digest(veriplex::label!("test"), b""));
            std::hint::black_box(vec![$($(($symbol, symbols::$name as *const u8)),*),*])
        }
    };
}
#[cfg(target_arch = "aarch64")]
include!("../../rust/src/backend/aarch64/declarations.rs");
#[cfg(target_arch = "x86_64")]
include!("../../rust/src/backend/x86_64/declarations.rs");
