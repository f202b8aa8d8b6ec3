//! The kernels as the crate's build assembled them, and what SAW needs to look at them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};
use veriplex_lift::object_file::Symbol;
use veriplex_lift::{Architecture, Target, assembler};

/// Builds the crate as a static library: for this machine, or with a compiler for another.
pub fn build(root: &Path, out: &Path, other: Option<(&str, &Target)>) -> io::Result<PathBuf> {
    let mut library = out.join("build");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .args([
            "rustc",
            "--release",
            "--package",
            "veriplex",
            "--lib",
            "--crate-type",
            "staticlib",
        ])
        .arg("--target-dir")
        .arg(&library);
    if let Some((rustc, target)) = other {
        command
            .args(["--target", assembler::triple(target)])
            .env("RUSTC", rustc);
        library.push(assembler::triple(target));
    }
    super::call(&mut command)?;
    Ok(library.join("release/libveriplex.a"))
}

/// Lays the bytes into a static executable, each kernel under its basename, with type and size; and the instructions
/// one by one.
pub fn link(root: &Path, kernels: &[Symbol], out: &Path) -> io::Result<()> {
    let mut text = String::from(".text\n");
    let start = Symbol {
        name: "_start".into(),
        symbol: String::new(),
        architecture: Architecture::X86_64,
        bytes: vec![0xc3],
    };
    if let Some(table) = kernels.iter().find(|kernel| kernel.name == "round_constants") {
        let listed: Vec<String> = table.bytes.iter().map(u8::to_string).collect();
        let text = format!(
            "module Table where\n\ntable : [{}][8]\ntable = [{}]\n",
            listed.len(),
            listed.join(", ")
        );
        fs::write(out.join("Table.cry"), text)?;
    }
    for Symbol { name, bytes, .. } in kernels.iter().chain([&start]) {
        let listed: Vec<String> = bytes.iter().map(u8::to_string).collect();
        let _ = write!(
            text,
            ".p2align 5\n.globl {name}\n.type {name}, @function\n{name}:\n.byte {}\n.size {name}, . - {name}\n",
            listed.join(",")
        );
    }
    text += ".section .note.GNU-stack,\"\",@progbits\n";
    fs::write(out.join("kernels.s"), text)?;
    super::call(
        Command::new("cc")
            .current_dir(out)
            .args([
                "-nostdlib",
                "-static",
                "-no-pie",
                "-Wl,--build-id=none",
                "-o",
                "kernels",
                "kernels.s",
            ])
            .arg(root.join("proofs/saw/instructions.s")),
    )?;
    Ok(())
}

/// Compiles the prototypes.
pub fn bitcode(root: &Path, out: &Path) -> io::Result<()> {
    super::call(
        Command::new("rustc")
            .args([
                "--edition=2024",
                "--crate-type=lib",
                "--emit=llvm-bc",
                "-Copt-level=0",
                "-Cpanic=abort",
                "-o",
            ])
            .arg(out.join("prototypes.bc"))
            .arg(root.join("proofs/saw/prototypes.rs")),
    )?;
    Ok(())
}
