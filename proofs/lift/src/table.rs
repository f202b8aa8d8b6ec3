//! How each kernel is called: the one place where the lifter knows what a kernel is.

/// What an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The state: 128 bytes, read and written.
    State,
    /// The table of round constants: 72 of 16 bytes, read.
    Table,
    /// n blocks of 94 bytes, read.
    Input,
    /// n blocks of 94 bytes, written.
    Output,
    /// n, any number.
    Count,
}

/// An export.
#[derive(Debug)]
pub struct Kernel {
    /// The name of its definition in `spec/cryptol`, and of its symbol without `veriplex_`.
    pub name: &'static str,
    /// In the order of the argument registers.
    pub arguments: &'static [Argument],
}

impl Kernel {
    /// Whether input and output may be the same buffer: then the step of the loop is lifted for that case as well.
    #[must_use]
    pub fn in_place(&self) -> bool {
        [Argument::Input, Argument::Output]
            .iter()
            .all(|a| self.arguments.contains(a))
    }
}

/// The exports, for both architectures.
pub const KERNELS: [Kernel; 5] = {
    use Argument::{Count, Input, Output, State, Table};
    [
        Kernel {
            name: "permute",
            arguments: &[State, Table],
        },
        Kernel {
            name: "absorb_blocks",
            arguments: &[State, Input, Count, Table],
        },
        Kernel {
            name: "encrypt_blocks",
            arguments: &[State, Input, Output, Count, Table],
        },
        Kernel {
            name: "decrypt_blocks",
            arguments: &[State, Input, Output, Count, Table],
        },
        Kernel {
            name: "squeeze_blocks",
            arguments: &[State, Output, Count, Table],
        },
    ]
};

/// A memory object of a call. No two overlap, and each has all its bytes: the caller's part of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// Its name in the Cryptol.
    pub name: &'static str,
    /// In bytes; of one block where it is a buffer of blocks.
    pub len: i64,
    /// n blocks: only an iteration of the loop may use it, and only the block that is its turn.
    pub blocks: bool,
    /// May it be written?
    pub writable: bool,
}

pub(crate) const STATE: Buffer = Buffer {
    name: "state",
    len: 128,
    blocks: false,
    writable: true,
};
pub(crate) const TABLE: Buffer = Buffer {
    name: "table",
    len: 72 * 16,
    blocks: false,
    writable: false,
};
pub(crate) const INPUT: Buffer = Buffer {
    name: "input",
    len: 94,
    blocks: true,
    writable: false,
};
pub(crate) const OUTPUT: Buffer = Buffer {
    name: "output",
    len: 94,
    blocks: true,
    writable: true,
};
/// Input and output at once.
pub(crate) const DATA: Buffer = Buffer {
    name: "data",
    len: 94,
    blocks: true,
    writable: true,
};
