//! The kernels as the crate's build assembled them, and what SAW needs to look at them.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// A kernel of the library.
pub struct Kernel {
    /// Its basename, which is also that of its Cryptol definition, its source and its proof.
    pub name: String,
    pub symbol: String,
    pub bytes: Vec<u8>,
}

/// Builds the crate as a static library.
pub fn build(root: &Path, out: &Path) -> io::Result<PathBuf> {
    let target = out.join("build");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    super::call(
        Command::new(cargo)
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
            .arg(&target),
    )?;
    Ok(target.join("release/libveriplex.a"))
}

/// The kernels in a static library, an object or an executable: the functions `veriplex_NAME_vVERSION`.
pub fn kernels(file: &Path) -> io::Result<Vec<Kernel>> {
    let data = fs::read(file)?;
    let mut kernels = Vec::new();
    if let Ok(archive) = object::read::archive::ArchiveFile::parse(&*data) {
        for member in archive.members() {
            let member = member
                .map_err(io::Error::other)?
                .data(&*data)
                .map_err(io::Error::other)?;
            kernels.extend(kernels_of_object(member)?);
        }
    } else {
        kernels = kernels_of_object(&data)?;
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    if kernels.is_empty() {
        return Err(io::Error::other(format!("{}: no kernel in it", file.display())));
    }
    Ok(kernels)
}

fn kernels_of_object(data: &[u8]) -> io::Result<Vec<Kernel>> {
    let Ok(object) = object::File::parse(data) else {
        return Ok(Vec::new());
    };
    let mut kernels = Vec::new();
    for symbol in object.symbols() {
        let text = symbol.name().unwrap_or_default();
        let (Some(name), Some(index)) = (basename(text), symbol.section_index()) else {
            continue;
        };
        let section = object.section_by_index(index).map_err(io::Error::other)?;
        let start = symbol.address() - section.address();
        let range = start..start + symbol.size();
        if section.relocations().any(|(at, _)| range.contains(&at)) {
            return Err(io::Error::other(format!(
                "{text}: its bytes depend on where they are linked"
            )));
        }
        let bytes = section.data().map_err(io::Error::other)?;
        let bytes = usize::try_from(range.start)
            .ok()
            .zip(usize::try_from(range.end).ok())
            .and_then(|(start, end)| bytes.get(start..end))
            .filter(|bytes| !bytes.is_empty())
            .ok_or_else(|| io::Error::other(format!("{text}: no size")))?;
        kernels.push(Kernel {
            name: name.to_owned(),
            symbol: text.to_owned(),
            bytes: bytes.to_vec(),
        });
    }
    Ok(kernels)
}

/// `permute` of `veriplex_permute_v0_1`.
fn basename(symbol: &str) -> Option<&str> {
    let (name, version) = symbol.strip_prefix("veriplex_")?.rsplit_once("_v")?;
    version
        .chars()
        .all(|c| c.is_ascii_digit() || c == '_')
        .then_some(name)
}

/// Lays the bytes into a static executable, each kernel under its basename, with type and size.
pub fn link(kernels: &[Kernel], out: &Path) -> io::Result<()> {
    let mut text = String::from(".text\n");
    let start = Kernel {
        name: "_start".into(),
        symbol: String::new(),
        bytes: vec![0xc3],
    };
    for Kernel { name, bytes, .. } in kernels.iter().chain([&start]) {
        let listed: Vec<String> = bytes.iter().map(u8::to_string).collect();
        let _ = write!(
            text,
            ".p2align 5\n.globl {name}\n.type {name}, @function\n{name}:\n.byte {}\n.size {name}, . - {name}\n",
            listed.join(",")
        );
    }
    text += ".section .note.GNU-stack,\"\",@progbits\n";
    fs::write(out.join("kernels.s"), text)?;
    super::call(Command::new("cc").current_dir(out).args([
        "-nostdlib",
        "-static",
        "-no-pie",
        "-Wl,--build-id=none",
        "-o",
        "kernels",
        "kernels.s",
    ]))?;
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
