//! What can go wrong, and its exit status.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use crate::armor::Malformed;
use crate::terminal_quoting::line;

/// The exit statuses; part of the interface, listed in `--help` and in `README.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Status {
    Ok = 0,
    /// A check or verification failed.
    Unverified = 1,
    /// The same that clap uses.
    Usage = 2,
    /// Input, output or a key file could not be used.
    Io = 3,
    /// The reader of the output went away: what a shell shows for a program that died of SIGPIPE.
    Closed = 141,
}

/// What the exit statuses mean, for `--help` and the man page.
pub const EXIT_STATUSES: [(&str, &str); 5] = [
    ("0", "success"),
    (
        "1",
        "a check or verification failed: a file differs from its list; a list has a malformed line\n\
         (with --untagged: has no other, or has one and --strict is given); a ciphertext was changed,\n\
         truncated, extended, or made with another key; a signature is wrong",
    ),
    ("2", "invalid command line"),
    (
        "3",
        "a file could not be read or written, or a key file or password hash is malformed",
    ),
    ("141", "the reader of the output closed its pipe"),
];

impl Status {
    /// The status of two pieces of work: a failed verification outweighs a file that could not be read.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Ok, status) | (status, Self::Ok) => status,
            _ => self.min(other),
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Why a piece of work failed: a status and one line for the user, which names the file.
#[derive(Debug)]
pub struct Error {
    pub status: Status,
    message: String,
}

impl Error {
    /// What `name` holds is not what its owner made.
    pub fn unverified(name: &str, reason: impl fmt::Display) -> Self {
        Self::new(Status::Unverified, name, reason)
    }

    pub fn usage(name: &str, reason: impl fmt::Display) -> Self {
        Self::new(Status::Usage, name, reason)
    }

    pub fn io(name: &str, reason: impl fmt::Display) -> Self {
        Self::new(Status::Io, name, reason)
    }

    /// A failed read, of armor perhaps.
    pub fn read(name: &str, error: &io::Error) -> Self {
        match error.get_ref() {
            Some(inner) if inner.is::<Malformed>() => Self::unverified(name, inner),
            _ => Self::io(name, error),
        }
    }

    /// A failed write. Whoever closed a pipe already knows that it is closed.
    pub fn write(name: &str, error: &io::Error) -> Self {
        let status = match error.kind() {
            io::ErrorKind::BrokenPipe => Status::Closed,
            _ => Status::Io,
        };
        Self::new(status, name, error)
    }

    pub fn new(status: Status, name: &str, reason: impl fmt::Display) -> Self {
        Self {
            status,
            message: format!("{name}: {reason}"),
        }
    }

    /// Reports it to the user, and returns the exit status.
    pub fn report(&self) -> Status {
        if self.status != Status::Closed {
            warn(&self.message);
        }
        self.status
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// One line on standard error, whatever is in the message.
pub fn warn(message: impl fmt::Display) {
    // Not `eprintln!`, which panics if standard error cannot be written.
    let _ = writeln!(io::stderr(), "veriplex: {}", line(&message.to_string()));
}
