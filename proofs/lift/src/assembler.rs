//! Machine code from assembly, for the tests. rustc assembles it, as for the crate.

use crate::object_file::symbols;
use crate::table::{Kernel, Level};
use crate::{TARGETS, Target, aarch64, x86_64};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::{fs, io};

/// A compiler with a standard library for this instruction set on Linux, if there is one. It needs no linker.
#[must_use]
pub fn rustc(target: &Target) -> Option<&'static str> {
    static FOUND: [OnceLock<Option<&'static str>>; TARGETS.len()] =
        [const { OnceLock::new() }; TARGETS.len()];
    let index = TARGETS.iter().position(|known| known.name == target.name)?;
    *FOUND[index].get_or_init(|| {
        ["rustc", "/usr/bin/rustc"]
            .into_iter()
            .find(|rustc| has_library(rustc, target))
    })
}

fn has_library(rustc: &str, target: &Target) -> bool {
    let output = Command::new(rustc)
        .args(["--print", "target-libdir", "--target", triple(target)])
        .output();
    let folder = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    folder.and_then(fs::read_dir).is_ok_and(|files| {
        files
            .flatten()
            .any(|file| file.file_name().to_string_lossy().starts_with("libstd-"))
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

/// The assembly of a kernel as committed, after the file that it includes.
///
/// # Errors
///
/// If a file cannot be read.
pub fn source(root: &Path, level: &Level, kernel: &Kernel) -> io::Result<String> {
    let folder = root.join("jasmin").join(&level.name);
    // The assembly made from Jasmin includes nothing.
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
    Ok(assemble_all(rustc, target, &[source.to_owned()], folder)?.remove(0))
}

/// Assembles kernels in a folder, all at once, and returns their code. No two may define the same macro or label.
///
/// # Errors
///
/// If one cannot be assembled.
pub fn assemble_all(
    rustc: &str,
    target: &Target,
    sources: &[String],
    folder: &Path,
) -> io::Result<Vec<Vec<u8>>> {
    fs::create_dir_all(folder)?;
    let syntax = if target.name == x86_64::TARGET.name {
        ", options(att_syntax, raw)"
    } else {
        ", options(raw)"
    };
    let mut text = String::from("#![no_std]\n");
    for (i, source) in sources.iter().enumerate() {
        // With four digits, the names keep their order when `symbols` sorts them. Macros may precede the first
        // instruction.
        let name = format!("veriplex_mutant_{i:04}_v0");
        let _ = writeln!(
            text,
            "core::arch::global_asm!(\".text\", \".globl {name}\", \".type {name},@function\", \"{name}:\", \
             include_str!(\"kernel{i}.s\"), \".size {name}, . - {name}\"{syntax});"
        );
        fs::write(folder.join(format!("kernel{i}.s")), source)?;
    }
    fs::write(folder.join("kernel.rs"), text)?;
    let output = Command::new(rustc)
        .current_dir(folder)
        .args([
            "--edition=2024",
            "--crate-type=lib",
            "--emit=obj",
            "-Ccodegen-units=1",
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
    let symbols = symbols(&folder.join("kernel.o"))?;
    if symbols.len() != sources.len() {
        return Err(io::Error::other("not every kernel was assembled"));
    }
    Ok(symbols.into_iter().map(|symbol| symbol.bytes).collect())
}
