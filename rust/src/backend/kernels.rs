//! A backend made of the kernels of `jasmin/`, included as assembly: the same on every instruction set.

/// The linker symbol of a kernel: the crate's version is in it as far as Cargo lets two versions of the crate
/// be linked together, so that these do not clash.
macro_rules! symbol {
    ($name:literal) => {
        concat!(
            "veriplex_",
            $name,
            "_v",
            env!("CARGO_PKG_VERSION_MAJOR"),
            "_",
            env!("CARGO_PKG_VERSION_MINOR")
        )
    };
}
pub(crate) use symbol;

/// One kernel: its assembly under its symbol, as a hidden function with type and size where there are such things.
macro_rules! kernel {
    (
        $folder:literal, [$($before:expr),*], $extension:literal, [$($after:expr),*], [$($options:tt)*], $abi:literal;
        $name:literal: fn $function:ident($($argument:ident: $type:ty),*)
    ) => {
        #[cfg(not(target_vendor = "apple"))]
        core::arch::global_asm!(
            concat!(".pushsection .text.", $crate::backend::kernels::symbol!($name), ",\"ax\",@progbits"),
            $($before,)*
            ".p2align 5",
            concat!(".globl ", $crate::backend::kernels::symbol!($name)),
            concat!(".hidden ", $crate::backend::kernels::symbol!($name)),
            concat!(".type ", $crate::backend::kernels::symbol!($name), ",@function"),
            concat!($crate::backend::kernels::symbol!($name), ":"),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/jasmin/", $folder, "/", $name, $extension)),
            concat!(".size ", $crate::backend::kernels::symbol!($name), ", . - ", $crate::backend::kernels::symbol!($name)),
            $($after,)*
            ".popsection",
            options($($options)*)
        );
        #[cfg(target_vendor = "apple")]
        core::arch::global_asm!(
            ".pushsection __TEXT,__text,regular,pure_instructions",
            $($before,)*
            ".p2align 5",
            concat!(".globl _", $crate::backend::kernels::symbol!($name)),
            concat!(".private_extern _", $crate::backend::kernels::symbol!($name)),
            concat!("_", $crate::backend::kernels::symbol!($name), ":"),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/jasmin/", $folder, "/", $name, $extension)),
            $($after,)*
            ".popsection",
            options($($options)*)
        );
        unsafe extern $abi {
            #[link_name = $crate::backend::kernels::symbol!($name)]
            fn $function($($argument: $type),*);
        }
    };
}
pub(crate) use kernel;

/// Defines `Token`, the witness that this CPU has the features, with `permute` and the bulk operations. What `$asm`
/// stands for is in [`kernel`]: the folder, what goes before and after each kernel, the assembler's options, the
/// calling convention.
macro_rules! backend {
    ($detect:expr, $($asm:tt)*) => {
        use crate::simpira1024::{Block, ROUND_CONSTANTS, State};

        $crate::backend::kernels::kernel!($($asm)*; "permute":
            fn veriplex_permute(state: *mut u8, k: *const Keys));
        $crate::backend::kernels::kernel!($($asm)*; "absorb_blocks":
            fn veriplex_absorb_blocks(state: *mut u8, input: *const u8, n: usize, k: *const Keys));
        $crate::backend::kernels::kernel!($($asm)*; "encrypt_blocks":
            fn veriplex_encrypt_blocks(
                state: *mut u8, input: *const u8, output: *mut u8, n: usize, k: *const Keys));
        $crate::backend::kernels::kernel!($($asm)*; "decrypt_blocks":
            fn veriplex_decrypt_blocks(
                state: *mut u8, input: *const u8, output: *mut u8, n: usize, k: *const Keys));
        $crate::backend::kernels::kernel!($($asm)*; "squeeze_blocks":
            fn veriplex_squeeze_blocks(state: *mut u8, output: *mut u8, n: usize, k: *const Keys));

        /// `K(1)` to `K(72)`, none of them across two cache lines.
        #[repr(C, align(64))]
        struct Keys([[u32; 4]; 72]);

        // Under a symbol, for the proofs to find it.
        #[unsafe(export_name = $crate::backend::kernels::symbol!("round_constants"))]
        static KEYS: Keys = Keys(ROUND_CONSTANTS);

        /// A witness that this CPU has the instructions of the kernels.
        #[derive(Clone, Copy)]
        pub(crate) struct Token(());

        #[allow(clippy::unused_self)] // it is there to have been made: it vouches for the features
        impl Token {
            #[inline]
            pub(crate) fn detect() -> Option<Self> {
                features::get().then_some(Self(()))
            }

            #[inline]
            pub(crate) fn permute(self, state: &mut State) {
                // SAFETY: a Token exists only where the CPU has the features; the kernel reads and writes the 128
                // bytes of the state and nothing else.
                unsafe { veriplex_permute(state.as_mut_ptr(), &raw const KEYS) };
            }

            #[inline]
            pub(crate) fn absorb_blocks(self, state: &mut State, blocks: &[Block]) {
                // SAFETY: as in `permute`; the kernel also reads the n blocks of 94 bytes.
                unsafe {
                    veriplex_absorb_blocks(
                        state.as_mut_ptr(),
                        blocks.as_ptr().cast(),
                        blocks.len(),
                        &raw const KEYS,
                    );
                }
            }

            #[inline]
            pub(crate) fn encrypt_blocks(self, state: &mut State, blocks: &mut [Block]) {
                let (in_out, n) = (blocks.as_mut_ptr().cast(), blocks.len());
                // SAFETY: as in `permute`; the kernel also reads and writes the n blocks of 94 bytes, each block
                // after it has been read, so that input and output may be one buffer.
                unsafe { veriplex_encrypt_blocks(state.as_mut_ptr(), in_out, in_out, n, &raw const KEYS) };
            }

            #[inline]
            pub(crate) fn decrypt_blocks(self, state: &mut State, blocks: &mut [Block]) {
                let (in_out, n) = (blocks.as_mut_ptr().cast(), blocks.len());
                // SAFETY: as in `encrypt_blocks`.
                unsafe { veriplex_decrypt_blocks(state.as_mut_ptr(), in_out, in_out, n, &raw const KEYS) };
            }

            #[inline]
            pub(crate) fn squeeze_blocks(self, state: &mut State, blocks: &mut [Block]) {
                // SAFETY: as in `permute`; the kernel also writes the n blocks of 94 bytes.
                unsafe {
                    veriplex_squeeze_blocks(
                        state.as_mut_ptr(),
                        blocks.as_mut_ptr().cast(),
                        blocks.len(),
                        &raw const KEYS,
                    );
                }
            }
        }
    };
}
pub(crate) use backend;
