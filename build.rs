//! Decides whether a hardware backend is compiled in (`cfg(veriplex_hardware)`) and whether it is made of kernels
//! or of intrinsics (`cfg(veriplex_kernels)`), and rejects an override that the target does not support.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(veriplex_hardware, veriplex_kernels)");
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    let endian = env::var("CARGO_CFG_TARGET_ENDIAN").unwrap_or_default();
    let has_hardware = matches!(arch.as_str(), "x86_64" | "aarch64") && endian == "little";

    let compile_hardware = match env::var("CARGO_CFG_VERIPLEX_BACKEND").as_deref() {
        Err(_) => has_hardware,
        Ok("portable") => false,
        Ok(backend @ ("x86_64" | "aarch64")) => {
            if backend != arch || !has_hardware {
                println!(
                    "cargo::error=veriplex_backend=\"{backend}\" is impossible on this {endian}-endian {arch} target"
                );
            }
            true
        }
        Ok(other) => {
            println!("cargo::error=veriplex_backend=\"{other}\" is unknown: use portable, x86_64 or aarch64");
            false
        }
    };
    if compile_hardware {
        println!("cargo::rustc-cfg=veriplex_hardware");
        if has_kernels(&arch) {
            println!("cargo::rustc-cfg=veriplex_kernels");
        }
    }
}

/// Whether the kernels work on this target: they need 64-bit pointers, and those for `AArch64` no COFF. With
/// `--cfg veriplex_intrinsics` the answer is no, so that we can test the intrinsics on any system.
fn has_kernels(arch: &str) -> bool {
    let os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let pointer_width = env::var("CARGO_CFG_TARGET_POINTER_WIDTH").unwrap_or_default();
    (arch == "x86_64" || !matches!(os.as_str(), "windows" | "uefi" | "cygwin"))
        && pointer_width == "64"
        && env::var_os("CARGO_CFG_VERIPLEX_INTRINSICS").is_none()
}
