//! Machine code from assembly, for the tests: rustc assembles it, as it does for the crate.

use crate::object_file::symbols;
use crate::table::{Kernel, Level};
use crate::{Target, aarch64, x86_64};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// A compiler with a standard library for this instruction set, on Linux, if there is one. No linker is needed.
#[must_use]
pub fn rustc(target: &Target) -> Option<&'static str> {
    ["rustc", "/usr/bin/rustc"].into_iter().find(|rustc| {
        let output = Command::new(rustc)
            .args(["--print", "target-libdir", "--target", triple(target)])
            .output();
        let folder = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        folder.and_then(fs::read_dir).is_ok_and(|files| {
            files
                .flatten()
                .any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
        })
    })
}

/// The name of the instruction set on Linux, for rustc.
#[must_use]
pub fn triple(target: &Target) -> &'static str {
    if target.name == aarch64::TARGET.name {
        "aarch64-unknown-linux-gnu"
    } else {
        "x86_64-unknown-linux-gnu"
    }
}

/// The assembly of a kernel as it is committed, what it includes before it.
///
/// # Errors
///
/// If a file cannot be read.
pub fn source(root: &Path, level: &Level, kernel: &Kernel) -> io::Result<String> {
    let folder = root.join("jasmin").join(&level.name);
    // The assembly that was made of Jasmin has everything in it.
    if level.source == "jazz" {
        return fs::read_to_string(folder.join(format!("{}.s", kernel.name)));
    }
    let mut source = match &kernel.levels[&level.name].include {
        Some(include) => fs::read_to_string(folder.join(include))?,
        None => String::new(),
    };
    source += &fs::read_to_string(folder.join(format!("{}.{}", kernel.name, level.source)))?;
    Ok(source)
}

/// Assembles one kernel in a folder, and returns its code.
///
/// # Errors
///
/// If it cannot be assembled.
pub fn assemble(rustc: &str, target: &Target, source: &str, folder: &Path) -> io::Result<Vec<u8>> {
    fs::create_dir_all(folder)?;
    let syntax = if target.name == x86_64::TARGET.name {
        ", options(att_syntax, raw)"
    } else {
        ", options(raw)"
    };
    // The macros of a kernel come before its first instruction: the label does not mind.
    fs::write(
        folder.join("kernel.rs"),
        format!(
            "#![no_std]\ncore::arch::global_asm!(\".text\", \".globl veriplex_mutant_v0\", \
             \".type veriplex_mutant_v0,@function\", \"veriplex_mutant_v0:\", include_str!(\"kernel.s\"), \
             \".size veriplex_mutant_v0, . - veriplex_mutant_v0\"{syntax});\n"
        ),
    )?;
    fs::write(folder.join("kernel.s"), source)?;
    let output = Command::new(rustc)
        .current_dir(folder)
        .args([
            "--edition=2024",
            "--crate-type=lib",
            "--emit=obj",
            "--target",
            triple(target),
            "-o",
            "kernel.o",
        ])
        .arg("kernel.rs")
        .output()?;
    if !output.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    Ok(symbols(&folder.join("kernel.o"))?.remove(0).bytes)
}
