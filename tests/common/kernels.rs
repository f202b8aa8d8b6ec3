//! The kernels that are linked into a test program.

macro_rules! kernels {
    ($($name:ident)*) => {
        mod symbols {
            $(unsafe extern "C" {
                #[link_name = concat!(
                    "veriplex_", stringify!($name),
                    "_v", env!("CARGO_PKG_VERSION_MAJOR"), "_", env!("CARGO_PKG_VERSION_MINOR")
                )]
                pub(super) fn $name();
            })*
        }

        /// Each one's basename and address. This also keeps them all in the program.
        pub fn addresses() -> Vec<(&'static str, *const u8)> {
            // Without a use of the crate it would not be linked.
            std::hint::black_box(veriplex::digest::digest(veriplex::label!("test"), b""));
            std::hint::black_box(vec![$((stringify!($name), symbols::$name as *const u8)),*])
        }
    };
}

kernels!(permute absorb_blocks squeeze_blocks encrypt_blocks decrypt_blocks);
