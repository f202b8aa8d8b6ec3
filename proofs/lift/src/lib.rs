//! Lifts the machine code of the Veriplex kernels to Cryptol, one definition for each instruction, so that it can be
//! proved equal to the specification.
//!
//! Libraries decode (`iced-x86`, `yaxpeax-arm`). The proofs also rest on code of our own: the list of instructions with
//! the Cryptol name of each (`x86_64.rs`, `aarch64.rs`), the abstract machine that tracks buffers, counter and data
//! (`machine.rs`), and the emitted text (`emit.rs`). [`table`] says how each kernel is called.
//!
//! The lifter refuses everything that is not in the lists. No operation of the machine lets data become an address or a
//! condition. So **acceptance proves that the kernel's time and addresses do not depend on secrets**, provided that the
//! time of the listed instructions does not depend on their operands.

mod aarch64;
pub mod assembler;
mod emit;
mod machine;
pub mod mutants;
pub mod object_file;
pub mod packages;
pub mod table;
mod x86_64;

use machine::{Instruction, Register, View};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{fmt, io};
use table::TABLE;

pub use aarch64::TARGET as ARMV8;
pub use emit::lift;
pub use object::Architecture;
pub use x86_64::TARGET as X86_64;

/// Instructions by their offsets.
type Decode = fn(&[u8]) -> Result<BTreeMap<u64, Instruction>, Error>;

/// An instruction set and its calling convention.
#[derive(Debug)]
pub struct Target {
    /// The architecture in its object files.
    pub architecture: Architecture,
    /// Its name in `jasmin/kernels.toml`.
    pub name: &'static str,
    /// The Cryptol module with the meaning of its instructions.
    pub(crate) module: &'static str,
    /// The general registers of the arguments, in order.
    pub(crate) arguments: &'static [u8],
    /// The registers that a kernel must preserve.
    pub(crate) callee_saved: &'static [Register],
    /// For each width in bytes, smallest first: the prefix of a vector register's name before its number.
    pub(crate) vector_prefixes: &'static [(u8, &'static str)],
    pub(crate) vector_count: u8,
    pub(crate) general_names: &'static [&'static str],
    /// The decoder and the list of instructions.
    pub(crate) decode: Decode,
    /// The number of these bytes up to the last return.
    pub(crate) code_len: fn(&[u8]) -> u64,
}

impl Target {
    fn vectors(&self) -> impl Iterator<Item = u8> + use<> {
        0..self.vector_count
    }

    fn generals(&self) -> impl Iterator<Item = u8> + use<> {
        (0..=u8::MAX).take(self.general_names.len())
    }

    fn register_name(&self, register: Register) -> String {
        let (bytes, _) = self.vector_prefixes[0];
        self.view_name(View { register, bytes })
    }

    fn view_name(&self, view: View) -> String {
        match view.register {
            Register::Vector(number) => {
                let of_width = self
                    .vector_prefixes
                    .iter()
                    .find(|(bytes, _)| *bytes == view.bytes);
                let (_, prefix) = of_width.expect("a width of this instruction set");
                format!("{prefix}{number}")
            }
            Register::General(number) => self.general_names[usize::from(number)].to_owned(),
        }
    }
}

/// The instruction sets.
pub const TARGETS: [&Target; 2] = [&X86_64, &ARMV8];

/// A kernel that was accepted.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// The name of the kernel.
    pub name: String,
    /// The name of its level.
    pub level: String,
    /// The length of its code.
    pub bytes: usize,
    /// The number of its instructions.
    pub instructions: usize,
    /// Its operations on constants, by name: `spec/cryptol/test/Forms*.cry` must have each with the same constants.
    pub constants: BTreeSet<(&'static str, Vec<u64>)>,
    /// The Cryptol module.
    pub module: String,
}

impl Lifted {
    /// The file of the module, relative to the folder of all modules: `x86-64/simpira1024_permute.cry`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}.cry", self.level, self.name)
    }
}

/// Lifts every proved kernel of a file.
///
/// # Errors
///
/// If there is none, if one is missing, or if one is refused.
pub fn lift_file(file: &Path) -> io::Result<Vec<Lifted>> {
    lift_symbols(&object_file::symbols(file)?)
}

/// Lifts the proved kernels among these symbols. Those of every instruction set that occurs must all be there.
///
/// # Errors
///
/// As [`lift_file`].
pub fn lift_symbols(symbols: &[object_file::Symbol]) -> io::Result<Vec<Lifted>> {
    let mut lifted = Vec::new();
    for (level, kernel) in TABLE.proved() {
        let architecture = level.target.architecture;
        if !(symbols.iter()).any(|symbol| symbol.architecture == architecture) {
            continue;
        }
        let name = level.symbol(kernel);
        let mut found = symbols
            .iter()
            .filter(|symbol| symbol.architecture == architecture && symbol.name == name);
        let symbol = found
            .next()
            .ok_or_else(|| io::Error::other(format!("{}/{name}: no such kernel", level.name)))?;
        if found.any(|other| other.bytes != symbol.bytes) {
            return Err(io::Error::other(format!(
                "{}/{name}: its copies differ",
                level.name
            )));
        }
        let result = lift(kernel, level, &symbol.bytes);
        lifted.push(result.map_err(|e| io::Error::other(format!("{} {e}", symbol.symbol)))?);
    }
    if lifted.is_empty() {
        return Err(io::Error::other("no kernel for a known instruction set"));
    }
    Ok(lifted)
}

/// The instructions of a kernel of this level, in order: where each begins, its length, its text.
///
/// # Errors
///
/// If one is not in the list of instructions.
pub fn listing(level: &table::Level, code: &[u8]) -> Result<Vec<(u64, u64, String)>, Error> {
    let instructions = (level.target.decode)(code)?.into_values();
    Ok(instructions.map(|i| (i.offset, i.len, i.text)).collect())
}

/// What acceptance shows, as text for people.
#[derive(Debug)]
pub struct Report<'a>(pub &'a [Lifted]);

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<24} {:<8} {:>6} {:>13}",
            "kernel", "level", "bytes", "instructions"
        )?;
        for kernel in self.0 {
            let Lifted {
                name,
                level,
                bytes,
                instructions,
                ..
            } = kernel;
            writeln!(f, "{name:<24} {level:<8} {bytes:>6} {instructions:>13}")?;
        }
        f.write_str(
            "Accepted, that is, for every input:\n  \
             constant time: every instruction is in the list of those with data-independent timing, every branch\n  \
             depends on n alone, and every address is an argument plus a constant (plus the stride for each block);\n  \
             memory: every access is inside a buffer of the call; input and table are not written; no stack is used;\n  \
             registers: at the return the callee-saved ones are unchanged.\n",
        )
    }
}

/// Why a kernel is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The offset in the kernel.
    pub offset: u64,
    /// What is not allowed.
    pub reason: String,
}

impl Error {
    fn new(offset: u64, reason: impl Into<String>) -> Self {
        Self {
            offset,
            reason: reason.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {:#x}: {}", self.offset, self.reason)
    }
}

impl std::error::Error for Error {}

/// The SHA-256 of some bytes in hexadecimal, as the manifest and the generated files have it.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
