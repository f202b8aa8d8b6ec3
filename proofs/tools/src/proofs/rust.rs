//! The LLVM bitcode that rustc makes from the crate, and the names of its functions.

use rustc_demangle::demangle;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};
use veriplex_lift::{ARMV8, Target, assembler};

/// A way to compile the crate, on top of its release profile. The cfg `veriplex_proofs` keeps the AES round, a block of
/// Poly1305 and some other functions out of line and others in line, leaves out the inline assembly of `wipe`, and adds
/// what `protocol/proofs.rs` has; `tests/assurance/manifest.rs` checks that it does nothing else.
pub struct Build {
    /// The module is NAME.bc, and its functions are listed in NAME.saw.
    pub name: &'static str,
    /// For which machine, if it is not this one.
    pub target: Option<&'static Target>,
    pub rustflags: &'static str,
    /// On top of the default ones: what the theorems are about.
    pub features: &'static str,
    pub flags: &'static [&'static str],
}

pub static BUILDS: [Build; 3] = [
    Build {
        name: "portable",
        target: None,
        rustflags: "--cfg veriplex_backend=\"portable\" --cfg veriplex_proofs",
        features: "poly1305",
        // The last keeps every function of the crate, including private ones.
        flags: &["--emit=llvm-bc,llvm-ir", "-Ccodegen-units=1", "-Clink-dead-code"],
    },
    shipped("shipped", None),
    shipped("shipped_aarch64", Some(&ARMV8)),
];

/// As users compile it: whether kernels serve is found out when it runs.
const fn shipped(name: &'static str, target: Option<&'static Target>) -> Build {
    Build {
        name,
        target,
        rustflags: "--cfg veriplex_proofs",
        features: "",
        flags: &["--emit=llvm-bc,llvm-ir", "-Ccodegen-units=1"],
    }
}

/// The sources of the functions that the scripts are about. From `label.rs` only the length of labels matters.
pub const SOURCES: [&str; 26] = [
    "rust/src/backend/aarch64/declarations.rs",
    "rust/src/backend/aarch64/kernels.rs",
    "rust/src/backend/aarch64/mod.rs",
    "rust/src/backend/dispatch.rs",
    "rust/src/backend/kernels.rs",
    "rust/src/backend/mod.rs",
    "rust/src/backend/portable/aes.rs",
    "rust/src/backend/portable/mod.rs",
    "rust/src/backend/x86_64/declarations.rs",
    "rust/src/backend/x86_64/kernels.rs",
    "rust/src/backend/x86_64/mod.rs",
    "rust/src/duplex/mod.rs",
    "rust/src/duplex/framing.rs",
    "rust/src/base/in_out.rs",
    "rust/src/base/label.rs",
    "rust/src/primitives/poly1305/backend.rs",
    "rust/src/primitives/poly1305/mod.rs",
    "rust/src/primitives/poly1305/number.rs",
    "rust/src/primitives/poly1305/portable32.rs",
    "rust/src/primitives/poly1305/portable64.rs",
    "rust/src/protocol/mod.rs",
    "rust/src/protocol/proofs.rs",
    "rust/src/protocol/stream.rs",
    "rust/src/backend/simpira1024.rs",
    "rust/src/base/timing.rs",
    "rust/src/base/wipe.rs",
];

/// The modules whose functions the scripts name.
const MODULES: [&str; 5] = ["portable", "dispatch", "duplex", "poly1305", "protocol"];

/// What theorems for every length may assume something of: the functions that `proofs/saw/lib/any_length.saw` names.
const ANY_LENGTH: [&str; 7] = [
    "veriplex::duplex::Duplex::absorb",
    "veriplex::duplex::Duplex::squeeze",
    "veriplex::duplex::Duplex::encrypt",
    "veriplex::duplex::Duplex::decrypt",
    "veriplex::protocol::Protocol::derive_begin",
    "veriplex::protocol::Protocol::seal_begin",
    "veriplex::protocol::Protocol::tag",
];

/// Whether a theorem for every length may assume something of this function.
pub fn of_any_length(symbol: &str) -> bool {
    ANY_LENGTH.contains(&format!("{:#}", demangle(symbol)).as_str())
}

/// What a theorem about the shipped build may assume of this symbol: a kernel does what Rocq proves of its bytes, and what
/// stays within a block does what other theorems say.
pub fn of_shipped(symbol: &str) -> Option<&'static str> {
    if symbol.starts_with("veriplex_duplex_") || symbol == "veriplex_simpira1024_permute_v0_1" {
        return Some("kernels");
    }
    let path = format!("{:#}", demangle(symbol));
    (path.starts_with("veriplex::duplex::Duplex::") && path.ends_with("_partial")).then_some("within")
}

/// Whether the theorem `OBJECT_FUNCTION_thm` is about this function of the duplex.
pub fn is_named(theorem: &str, object: &str, symbol: &str) -> bool {
    let path = format!("{:#}", demangle(symbol));
    let function = path.strip_prefix("veriplex::duplex::Duplex::");
    function.is_some_and(|function| theorem == format!("{object}_{function}_thm"))
}

/// Compiles the crate to `NAME.bc`, and lists its functions in `NAME.saw`, for scripts to include:
/// `duplex_Duplex_absorb` is the symbol of `veriplex::duplex::Duplex::absorb`. Returns the module in LLVM's text form.
pub fn bitcode(root: &Path, out: &Path, build: &Build) -> io::Result<String> {
    let mut folder = out.join(format!("bitcode-{}", build.name));
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .env("RUSTFLAGS", build.rustflags)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .args(["rustc", "--release", "--package", "veriplex", "--lib"])
        .args(["--features", build.features])
        .args(["--crate-type", "rlib", "--target-dir"])
        .arg(&folder);
    if let Some(target) = build.target {
        let triple = assembler::triple(target);
        let rustc = assembler::rustc(target)
            .ok_or_else(|| io::Error::other(format!("no rustc here has a library for {triple}")))?;
        command.args(["--target", triple]).env("RUSTC", rustc);
        folder.push(triple);
    }
    super::call(command.arg("--").args(build.flags))?;
    folder.push("release/deps");
    fs::copy(only(&folder, ".bc")?, out.join(format!("{}.bc", build.name)))?;
    let module = fs::read_to_string(only(&folder, ".ll")?)?;
    let functions = functions(&module);
    let text = functions.iter().fold(String::new(), |mut text, (name, symbol)| {
        let _ = writeln!(text, "let {name} = \"{symbol}\";");
        text
    });
    fs::write(out.join(format!("{}.saw", build.name)), text)?;
    Ok(module)
}

/// Whether a function of the module takes a length: SAW then runs it for some lengths only.
pub fn takes_length(module: &str, symbol: &str) -> Option<bool> {
    let defined = [format!("@{symbol}("), format!("@\"{symbol}\"(")];
    let line = (module.lines())
        .find(|line| line.starts_with("define ") && defined.iter().any(|name| line.contains(name)))?;
    let (_, parameters) = line.split_once('@')?.1.split_once('(')?;
    Some(has_length(parameters))
}

/// Whether a number follows a pointer in a list of parameters: a slice. Attributes of a parameter may have parentheses.
fn has_length(parameters: &str) -> bool {
    let mut depth = 0;
    let flat = parameters.chars().filter(|&c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0 && c != ')'
    });
    let flat: String = flat.collect();
    let parameters: Vec<&str> = flat.split(", ").collect();
    (parameters.windows(2)).any(|two| {
        two[0].starts_with("ptr ") && !two[0].contains(" sret") && two[1].starts_with("i64 noundef")
    })
}

/// The release profile in this `Cargo.toml`.
pub fn profile(manifest: &str) -> String {
    let after = manifest
        .split_once("[profile.release]")
        .map_or("", |(_, after)| after);
    after
        .split("\n[")
        .next()
        .unwrap_or("")
        .split("\n#")
        .next()
        .unwrap_or("")
        .trim()
        .to_owned()
}

/// The file `veriplex-*` with this ending in a folder.
fn only(folder: &Path, ending: &str) -> io::Result<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if name.starts_with("veriplex-") && name.ends_with(ending) {
            found.push(path);
        }
    }
    match (found.pop(), found.is_empty()) {
        (Some(path), true) => Ok(path),
        _ => Err(io::Error::other(format!(
            "{}: not exactly one veriplex-*{ending}",
            folder.display()
        ))),
    }
}

/// The functions and data that a module in LLVM's text form defines: names and symbols of those whose path consists of plain
/// names and is `veriplex::MODULE::...`, `veriplex::backend::MODULE::...` or `veriplex::primitives::MODULE::...`. A path
/// that two functions share is left out.
fn functions(module: &str) -> BTreeMap<String, String> {
    let mut functions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in (module.lines()).filter(|line| line.starts_with("define ") || line.starts_with('@')) {
        let Some(symbol) = line
            .split_once('@')
            .and_then(|(_, rest)| rest.split(['(', ' ']).next())
        else {
            continue;
        };
        let symbol = symbol.trim_matches('"');
        let path = format!("{:#}", demangle(symbol));
        let Some(path) = path.strip_prefix("veriplex::") else {
            continue;
        };
        let path = ["backend::", "primitives::"]
            .iter()
            .find_map(|layer| path.strip_prefix(layer))
            .unwrap_or(path);
        let parts: Vec<&str> = path.split("::").collect();
        let plain = |part: &&str| part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if MODULES.contains(&parts[0]) && parts.iter().all(plain) {
            functions
                .entry(parts.join("_"))
                .or_default()
                .push(symbol.to_owned());
        }
    }
    functions
        .into_iter()
        .filter_map(|(name, symbols)| (symbols.len() == 1).then(|| (name, symbols[0].clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{has_length, is_named};

    #[test]
    fn a_name_says_what_a_theorem_is_about() {
        let symbol = "_ZN8veriplex6duplex6Duplex7encrypt17hca01fcb08609987fE";
        assert!(is_named("shipped_encrypt_thm", "shipped", symbol));
        assert!(!is_named("shipped_decrypt_thm", "shipped", symbol));
        assert!(!is_named("shipped_encrypt_partial_thm", "shipped", symbol));
    }

    #[test]
    fn a_slice_has_a_length() {
        assert!(has_length(
            "ptr noalias captures(address, read_provenance) %x, i64 noundef range(i64 0, 8) %n, i8 %y) #7"
        ));
        assert!(has_length(
            "ptr sret([16 x i8]) %_0, i1 %self, ptr %x, i64 noundef %n)"
        ));
        assert!(!has_length(
            "ptr sret([32 x i8]) align 16 initializes((0, 24)) %_0, i64 noundef %n)"
        ));
        assert!(!has_length("ptr %h, i128 noundef %block, i64 noundef %high)"));
        assert!(!has_length("ptr %state)"));
    }
}
