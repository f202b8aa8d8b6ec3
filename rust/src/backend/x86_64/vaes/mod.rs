//! The kernels of `jasmin/x86-64-vaes`: four lanes, two in each register.

use crate::backend::dispatch::Level;
use crate::backend::lanes;
use core::sync::atomic::{AtomicU8, Ordering};

use super::avx512::KEYS;

/// `cpufeatures` has VAES only where the operating system saves registers of 64 bytes. CPUs with VAES and without AVX-512
/// are what this level is for: VAES is found here.
macro_rules! kernels {
    (features ["avx" "avx2" "vaes"]; $($declarations:tt)*) => {
        $crate::backend::kernels::kernels! {
            "x86-64-vaes", ".S", [att_syntax, raw], "sysv64"; features ["avx" "avx2"]; $($declarations)*
        }
    };
}
include!("declarations.rs");

pub(crate) const LEVEL: Level = Level {
    name: "x86-64-vaes",
    detect: || features::get() && has_vaes(),
};

pub(crate) const X4: lanes::Kernels = lanes::Kernels {
    width: 4,
    serial_threshold: 2,
    permute: simpira1024_permute_x4,
    absorb_blocks: duplex_absorb_blocks_x4,
    encrypt_blocks: duplex_encrypt_blocks_x4,
    decrypt_blocks: duplex_decrypt_blocks_x4,
    squeeze_blocks: duplex_squeeze_blocks_x4,
    round_constants: &KEYS.0,
};

/// Bit 9 of ECX in leaf 7 (Intel, "Software Developer's Manual", volume 2, CPUID). CPUID is slow, and asked once.
fn has_vaes() -> bool {
    static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 2;

    if cfg!(any(target_env = "sgx", target_os = "none", target_os = "uefi")) {
        return cfg!(target_feature = "vaes"); // as `cpufeatures` has it there
    }
    match FOUND.load(Ordering::Relaxed) {
        UNKNOWN => {
            #[allow(unused_unsafe)] // it is safe from Rust 1.94 on
            // SAFETY: AVX2, which was found before, is in the same leaf.
            let found = unsafe { core::arch::x86_64::__cpuid_count(7, 0) }.ecx >> 9 & 1 != 0;
            FOUND.store(found.into(), Ordering::Relaxed);
            found
        }
        found => found != 0,
    }
}
