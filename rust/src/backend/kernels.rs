//! Backends made from the kernels of `jasmin/`, included as assembly: the same for every instruction set.

/// The linker symbol of a kernel. It has the part of the crate's version by which Cargo allows two versions to be
/// linked together, so that these do not clash.
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

/// The kernels that a generated `declarations.rs` lists, and `features`, which says whether this CPU has what they need.
/// Before the list come the folder, the file extension, the assembler's options and the calling convention.
macro_rules! kernels {
    (
        $folder:literal, $extension:literal, $options:tt, $abi:literal;
        features [$($feature:tt)*];
        $(include $include:tt $macros:tt {
            $($(#[$documentation:meta])* fn $name:ident($($argument:ident: $type:ty),*) = $symbol:literal;)*
        })*
    ) => {
        cpufeatures::new!(features, $($feature),*);
        $($($crate::backend::kernels::kernel! {
            $folder, $extension, $options, $abi, $include, $macros;
            $(#[$documentation])* fn $name($($argument: $type),*) = $symbol
        })*)*
    };
}
pub(crate) use kernels;

/// The lines before and after the instructions of a hidden function with this symbol. Where the format has them, it has a type
/// and a size.
#[cfg(not(any(target_vendor = "apple", windows, target_os = "uefi", target_os = "cygwin")))]
#[rustfmt::skip]
macro_rules! function {
    (begin $symbol:expr) => {
        concat!(
            ".pushsection .text.", $symbol, ",\"ax\",@progbits\n.p2align 5\n.globl ", $symbol,
            "\n.hidden ", $symbol, "\n.type ", $symbol, ",@function\n", $symbol, ":"
        )
    };
    (end $symbol:expr) => { concat!(".size ", $symbol, ", . - ", $symbol, "\n.popsection") };
}

#[cfg(target_vendor = "apple")]
#[rustfmt::skip]
macro_rules! function {
    (begin $symbol:expr) => {
        concat!(
            ".pushsection __TEXT,__text,regular,pure_instructions\n.p2align 5\n.globl _", $symbol,
            "\n.private_extern _", $symbol, "\n_", $symbol, ":"
        )
    };
    (end $symbol:expr) => { ".popsection" };
}

/// Kernels do not touch the stack, so they need no unwind table.
#[cfg(any(windows, target_os = "uefi", target_os = "cygwin"))]
#[rustfmt::skip]
macro_rules! function {
    (begin $symbol:expr) => {
        concat!(".section .text$", $symbol, ",\"xr\"\n.p2align 5\n.globl ", $symbol, "\n", $symbol, ":")
    };
    (end $symbol:expr) => { ".text" };
}
pub(crate) use function;

/// One kernel: its assembly under its symbol. The file that it includes has macros, which are purged afterwards, because the
/// next kernel may be in the same unit and define them again.
macro_rules! kernel {
    (
        $folder:literal, $extension:literal, [$($options:tt)*], $abi:literal, [$($include:literal)?], [$($macro:literal)*];
        $(#[$documentation:meta])* fn $name:ident($($argument:ident: $type:ty),*) = $symbol:literal
    ) => {
        core::arch::global_asm!(
            $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/jasmin/", $folder, "/", $include)),)?
            $crate::backend::kernels::function!(begin $crate::backend::kernels::symbol!($symbol)),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/jasmin/", $folder, "/", stringify!($name), $extension)),
            $crate::backend::kernels::function!(end $crate::backend::kernels::symbol!($symbol)),
            $(concat!(".purgem ", $macro),)*
            options($($options)*)
        );
        unsafe extern $abi {
            $(#[$documentation])*
            #[allow(dead_code)] // while the feature that uses it is off
            #[link_name = $crate::backend::kernels::symbol!($symbol)]
            fn $name($($argument: $type),*);
        }
    };
}
pub(crate) use kernel;

/// Defines `X1`, for one state, from the kernels that are declared in the same module.
macro_rules! backend {
    () => {
        use crate::backend::simpira1024::ROUND_CONSTANTS;

        /// `K(1)` to `K(72)`, none of them across two cache lines.
        #[repr(C, align(64))]
        struct Keys([[u32; 4]; 72]);

        // Under a symbol, so that the proofs find it.
        #[unsafe(export_name = $crate::backend::kernels::symbol!("simpira1024_round_constants"))]
        static KEYS: Keys = Keys(ROUND_CONSTANTS);

        const KEYS_AT: *const u8 = (&raw const KEYS).cast();

        // SAFETY, of all: the caller vouches for the features. A kernel reads the round constants, reads and writes the 128
        // bytes of the state, reads or writes n blocks of 94 bytes, and touches nothing else. It reads a block before it
        // writes it, so that input and output may be the same buffer.
        #[allow(clippy::undocumented_unsafe_blocks)] // it is said above
        pub(crate) const X1: $crate::backend::Kernels = $crate::backend::Kernels {
            permute: |state| unsafe { simpira1024_permute(state.as_mut_ptr(), KEYS_AT) },
            absorb_blocks: |state, blocks| unsafe {
                duplex_absorb_blocks(
                    state.as_mut_ptr(),
                    blocks.as_ptr().cast(),
                    blocks.len(),
                    KEYS_AT,
                );
            },
            encrypt_blocks: |state, blocks| unsafe {
                let in_out = blocks.as_mut_ptr().cast();
                duplex_encrypt_blocks(state.as_mut_ptr(), in_out, in_out, blocks.len(), KEYS_AT);
            },
            encrypt_blocks_into: |state, input, output| unsafe {
                let n = input.len().min(output.len());
                let (input, output) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
                duplex_encrypt_blocks(state.as_mut_ptr(), input, output, n, KEYS_AT);
            },
            decrypt_blocks: |state, blocks| unsafe {
                let in_out = blocks.as_mut_ptr().cast();
                duplex_decrypt_blocks(state.as_mut_ptr(), in_out, in_out, blocks.len(), KEYS_AT);
            },
            decrypt_blocks_into: |state, input, output| unsafe {
                let n = input.len().min(output.len());
                let (input, output) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
                duplex_decrypt_blocks(state.as_mut_ptr(), input, output, n, KEYS_AT);
            },
            squeeze_blocks: |state, blocks| unsafe {
                duplex_squeeze_blocks(
                    state.as_mut_ptr(),
                    blocks.as_mut_ptr().cast(),
                    blocks.len(),
                    KEYS_AT,
                );
            },
        };
    };
}
pub(crate) use backend;
