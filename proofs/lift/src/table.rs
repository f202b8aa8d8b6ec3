//! `jasmin/kernels.toml` and `jasmin/unproved.toml`: how each kernel is called. Nothing else in this crate knows a
//! kernel by its name.

use crate::{TARGETS, Target};
use object::Architecture;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// The table of this repository, compiled into this program.
pub static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let proved = include_str!("../../../jasmin/kernels.toml");
    let unproved = include_str!("../../../jasmin/unproved.toml");
    Table::parse_all(&[proved, unproved])
        .expect("jasmin/kernels.toml and jasmin/unproved.toml are well-formed")
});

/// Levels, tables of constants, kernels.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The dispatch levels.
    #[serde(rename = "level", default)]
    pub levels: Vec<Level>,
    /// The constants that kernels read.
    #[serde(rename = "table", default)]
    pub constants: Vec<Constants>,
    /// The kernels.
    #[serde(rename = "kernel", default)]
    pub kernels: Vec<Kernel>,
}

/// A dispatch level: the kernels for CPUs with the same features.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The name of its folders.
    pub name: String,
    /// Its instruction set.
    #[serde(deserialize_with = "target")]
    pub target: &'static Target,
    /// The file extension of its sources.
    pub source: String,
    /// The folder of `rust/src/backend` that declares its kernels.
    pub backend: String,
    /// The prefix of the names of theorems about it.
    pub theorems: String,
    /// What follows the kernel's name in a symbol.
    #[serde(default)]
    pub symbols: String,
}

/// Constants under a symbol of their own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    /// Its symbol without `veriplex_`.
    pub name: String,
    /// In bytes.
    pub bytes: u32,
    /// What is missing of its proof.
    pub unproved: Option<String>,
}

/// A kernel, on the levels that have it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernel {
    /// Its symbol without `veriplex_`.
    pub name: String,
    /// The definition that it computes.
    pub cryptol: String,
    /// What is missing of its proof.
    pub unproved: Option<String>,
    /// The arguments, in the order of the argument registers.
    pub arguments: Vec<Argument>,
    /// What it needs, per level.
    pub levels: BTreeMap<String, Needs>,
}

/// What a kernel needs on a level.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Needs {
    /// The CPU features, by their names in Rust.
    pub features: Vec<String>,
    /// The file in the same folder that its source includes.
    pub include: Option<String>,
    /// Whether its state is in memory between two iterations, which each write it, and not in registers.
    #[serde(default)]
    pub state_in_memory: bool,
}

/// An argument: the count, or a pointer to a buffer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// Its name in declarations and in Cryptol.
    pub name: String,
    #[serde(default)]
    count: bool,
    table: Option<String>,
    pointers: Option<u32>,
    #[serde(default)]
    bytes: u32,
    blocks: Option<String>,
    stride: Option<u32>,
    access: Option<Access>,
    secret: Option<bool>,
    may_be: Option<String>,
}

/// What a kernel does with a buffer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// It reads it.
    Read,
    /// It writes all of it.
    Write,
    /// It reads it and writes it.
    ReadWrite,
}

/// A memory object of a call. The caller guarantees that no two overlap, and that each has all its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name in the Cryptol.
    pub name: String,
    /// Its size in bytes; for a buffer of blocks, the size of one block.
    pub len: i64,
    /// For a buffer of blocks, the distance from one block to the next; the count says how many there are. Only an
    /// iteration of the loop may use the buffer, and only its current block. Blocks that are only read may overlap.
    pub stride: Option<i64>,
    /// May it be written?
    pub writable: bool,
}

impl Argument {
    /// Is it the number of blocks?
    #[must_use]
    pub fn is_count(&self) -> bool {
        self.count
    }

    /// The table of constants that it points to.
    #[must_use]
    pub fn table(&self) -> Option<&str> {
        self.table.as_deref()
    }

    /// How many pointers it points to, each to a separate buffer: see [`Argument::of_lane`].
    #[must_use]
    pub fn pointers(&self) -> Option<u32> {
        self.pointers
    }

    /// What it points to, unless these are pointers.
    #[must_use]
    pub fn buffer(&self) -> Option<Buffer> {
        (!self.count && self.pointers.is_none()).then(|| self.of_lane(&self.name))
    }

    /// What the pointer of a lane points to, named `name`.
    #[must_use]
    pub fn of_lane(&self, name: &str) -> Buffer {
        Buffer {
            name: name.to_owned(),
            len: self.bytes.into(),
            stride: (self.blocks.as_ref()).map(|_| self.stride.unwrap_or(self.bytes).into()),
            writable: self.access() != Access::Read,
        }
    }

    /// What the kernel does with what it points to.
    #[must_use]
    pub fn access(&self) -> Access {
        self.access.unwrap_or(Access::Read)
    }

    /// Whether what it points to may be secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.secret == Some(true)
    }

    /// The argument whose buffer it may share.
    #[must_use]
    pub fn may_be(&self) -> Option<&str> {
        self.may_be.as_deref()
    }

    /// Its type in Rust.
    #[must_use]
    pub fn rust_type(&self) -> &'static str {
        match (self.count, self.pointers, self.access()) {
            (true, _, _) => "usize",
            (false, None, Access::Read) => "*const u8",
            (false, None, _) => "*mut u8",
            (false, Some(_), Access::Read) => "*const *const u8",
            (false, Some(_), _) => "*const *mut u8",
        }
    }
}

impl Kernel {
    /// Whether two arguments may share a buffer. If so, the step of the loop is lifted for that case too.
    #[must_use]
    pub fn in_place(&self) -> bool {
        self.arguments.iter().any(|argument| argument.may_be.is_some())
    }

    /// Whether it works on several states or blocks side by side: its name says how many.
    #[must_use]
    pub fn has_lanes(&self) -> bool {
        let lanes = self.name.rsplit_once("_x").map(|(_, lanes)| lanes.parse::<u8>());
        lanes.is_some_and(|lanes| lanes.is_ok())
    }

    /// Whether each of its lanes has a buffer of its own.
    #[must_use]
    pub fn has_pointers(&self) -> bool {
        self.arguments.iter().any(|argument| argument.pointers.is_some())
    }

    /// Whether it has a loop, over as many blocks as one of its arguments says.
    #[must_use]
    pub fn has_count(&self) -> bool {
        self.arguments.iter().any(Argument::is_count)
    }

    /// The arguments, as Rust declares them.
    #[must_use]
    pub fn prototype(&self) -> String {
        let arguments = self.arguments.iter();
        let declared: Vec<String> = arguments
            .map(|a| format!("{}: {}", a.name, a.rust_type()))
            .collect();
        declared.join(", ")
    }
}

impl Level {
    /// The symbol of one of its kernels, without `veriplex_` and version.
    #[must_use]
    pub fn symbol(&self, kernel: &Kernel) -> String {
        format!("{}{}", kernel.name, self.symbols)
    }
}

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    ///
    /// If it is malformed or contradictory.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_all(&[text])
    }

    /// Reads a table split into several texts.
    ///
    /// # Errors
    ///
    /// As [`Table::parse`].
    pub fn parse_all(texts: &[&str]) -> Result<Self, String> {
        let mut table = Self {
            levels: Vec::new(),
            constants: Vec::new(),
            kernels: Vec::new(),
        };
        for text in texts {
            let part: Self = toml::from_str(text).map_err(|e| e.to_string())?;
            table.levels.extend(part.levels);
            table.constants.extend(part.constants);
            table.kernels.extend(part.kernels);
        }
        let bytes: BTreeMap<String, u32> = (table.constants.iter())
            .map(|constants| (constants.name.clone(), constants.bytes))
            .collect();
        for kernel in &mut table.kernels {
            for argument in &mut kernel.arguments {
                if let Some(of) = &argument.table {
                    let known = bytes.get(of).ok_or_else(|| format!("no table {of}"))?;
                    if argument.bytes != 0 {
                        return Err(format!("{}: a table has its own length", kernel.name));
                    }
                    argument.bytes = *known;
                }
            }
        }
        table.check()?;
        Ok(table)
    }

    fn check(&self) -> Result<(), String> {
        let mut symbols = BTreeSet::new();
        for constants in &self.constants {
            if !is_name(&constants.name) || constants.bytes == 0 {
                return Err(format!("{:?}: needs a name and a length", constants.name));
            }
            if !symbols.insert((None, constants.name.clone())) {
                return Err(format!("{}: a table is there twice", constants.name));
            }
        }
        let mut levels = BTreeSet::new();
        if let Some(level) = self.levels.iter().find(|level| !levels.insert(&level.name)) {
            return Err(format!("{}: a level is there twice", level.name));
        }
        for kernel in &self.kernels {
            let at = |reason: &str| Err(format!("{}: {reason}", kernel.name));
            if !is_name(&kernel.name) || kernel.levels.is_empty() {
                return at("needs a name and at least one level");
            }
            for name in kernel.levels.keys() {
                let Some(level) = self.level(name) else {
                    return at(&format!("no level {name}"));
                };
                if !symbols.insert((Some(level.target.name), level.symbol(kernel))) {
                    return at("its symbol is not unique");
                }
                if kernel.arguments.len() > level.target.arguments.len() {
                    return at("more arguments than argument registers");
                }
            }
            kernel.check().or_else(|reason| at(&reason))?;
        }
        Ok(())
    }

    /// The level with this name.
    #[must_use]
    pub fn level(&self, name: &str) -> Option<&Level> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// The kernel with this name.
    #[must_use]
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The kernels of a level.
    pub fn of_level(&self, level: &Level) -> impl Iterator<Item = &Kernel> {
        let name = level.name.clone();
        (self.kernels.iter()).filter(move |kernel| kernel.levels.contains_key(&name))
    }

    /// Every kernel, on each of its levels.
    pub fn all(&self) -> impl Iterator<Item = (&Level, &Kernel)> {
        (self.levels.iter()).flat_map(|level| self.of_level(level).map(move |kernel| (level, kernel)))
    }

    /// The proved kernels, on each of their levels.
    pub fn proved(&self) -> impl Iterator<Item = (&Level, &Kernel)> {
        self.all().filter(|(_, kernel)| kernel.unproved.is_none())
    }

    /// The proved tables of constants.
    pub fn proved_constants(&self) -> impl Iterator<Item = &Constants> {
        (self.constants.iter()).filter(|constants| constants.unproved.is_none())
    }

    /// Whether this is the symbol, without `veriplex_` and version, of a proved kernel or a proved table of constants.
    #[must_use]
    pub fn is_proved(&self, architecture: Architecture, symbol: &str) -> bool {
        let kernel = self.find(architecture, symbol);
        kernel.is_some_and(|(_, kernel)| kernel.unproved.is_none())
            || self.proved_constants().any(|constants| constants.name == symbol)
    }

    /// The kernel with this symbol, without `veriplex_` and version, in a file for this architecture.
    #[must_use]
    pub fn find(&self, architecture: Architecture, symbol: &str) -> Option<(&Level, &Kernel)> {
        (self.all()).find(|(level, kernel)| {
            level.target.architecture == architecture && level.symbol(kernel) == symbol
        })
    }

    /// Whether a kernel for this architecture reads the table of constants with this name.
    #[must_use]
    pub fn reads_constants(&self, architecture: Architecture, name: &str) -> bool {
        self.all().any(|(level, kernel)| {
            level.target.architecture == architecture
                && kernel
                    .arguments
                    .iter()
                    .any(|argument| argument.table() == Some(name))
        })
    }

    /// Whether this is the symbol, without `veriplex_` and version, of a table of constants.
    #[must_use]
    pub fn is_constants(&self, symbol: &str) -> bool {
        self.constants.iter().any(|constants| constants.name == symbol)
    }
}

impl Kernel {
    fn check(&self) -> Result<(), String> {
        let mut names = BTreeSet::new();
        let counts = self.arguments.iter().filter(|a| a.count).count();
        if counts > 1 {
            return Err("more than one count".into());
        }
        // Only "none of them" and "all of them" are lifted.
        if self.arguments.iter().filter(|a| a.may_be.is_some()).count() > 1 {
            return Err("more than one buffer that may be another".into());
        }
        for argument in &self.arguments {
            let Argument { name, .. } = argument;
            if !is_name(name) || !names.insert(name) {
                return Err(format!("{name:?}: not a unique name"));
            }
            let described = argument.access.is_some() && argument.secret.is_some();
            let bare = argument.access.is_none() && argument.secret.is_none() && argument.may_be.is_none();
            let plain = argument.blocks.is_none() && argument.stride.is_none() && argument.pointers.is_none();
            let sound = match (argument.count, &argument.table) {
                (true, None) => bare && plain && argument.bytes == 0,
                (false, Some(_)) => bare && plain,
                (false, None) => described && argument.bytes > 0,
                (true, Some(_)) => false,
            };
            if !sound {
                return Err(format!("{name}: neither a count, nor a table, nor a buffer"));
            }
            let is_count = |count: &String| self.arguments.iter().any(|a| a.count && a.name == *count);
            if argument.blocks.as_ref().is_some_and(|count| !is_count(count))
                || argument.stride.is_some() && argument.blocks.is_none()
                || argument
                    .stride
                    .is_some_and(|stride| stride < argument.bytes && argument.access() != Access::Read)
                || argument.pointers.is_some() && argument.blocks.is_none()
            {
                return Err(format!(
                    "{name}: blocks without a count, or written ones that overlap"
                ));
            }
            if let Some(other) = &argument.may_be {
                let other = self.arguments.iter().find(|a| a.name == *other);
                let shape = |a: &Argument| (a.count, a.pointers, a.bytes, a.of_lane("").stride);
                let fits =
                    |other: &Argument| other.access == Some(Access::Read) && shape(other) == shape(argument);
                if argument.access == Some(Access::Read) || !other.is_some_and(fits) {
                    return Err(format!(
                        "{name}: may_be is for a written argument, and names a read one of its shape"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn target<'de, D: Deserializer<'de>>(deserializer: D) -> Result<&'static Target, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = TARGETS.into_iter().find(|target| target.name == name);
    found.ok_or_else(|| D::Error::custom(format!("no target {name}")))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
