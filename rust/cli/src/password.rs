//! Passwords: where they come from, keys made from them, and hashes of them to store.
//!
//! A hash is a PHC string, `$veriplex-mhf$v=1$c=COST$SALT$HASH`, in the domain `veriplex.password.v1`.

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::ops::RangeInclusive;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use password_hash::phc::PasswordHash;
use password_hash::{PasswordHasher, PasswordVerifier};
use veriplex::rustcrypto::{Domain, password_hash as phc};
use veriplex::{Label, label};
use veriplex_files::crypt::{Password, check_cost, random};
use veriplex_files::error::{Error, Status, warn};
use veriplex_files::files::{Ended, stdout};
use veriplex_files::terminal_quoting::quoted;
use veriplex_files::{temporary, terminal, text};
use zeroize::Zeroizing;

/// The longest password, in bytes.
const MAX_LEN: usize = 1024;
/// The longest file with a hash in its first line.
const MAX_HASH_LEN: usize = 1 << 12;
const SALT_LEN: usize = 16;

/// The recommended costs: from 20 MiB, which slows down guessing, to 1.25 GiB, which most machines have. With these,
/// the default limit opens everything.
pub const COSTS: RangeInclusive<u8> = 12..=18;

/// Warns of a requested cost outside [`COSTS`].
pub fn warn_of_cost(cost: u8) {
    if cost < *COSTS.start() {
        warn(format_args!(
            "cost {cost} is below {}: passwords can be guessed fast",
            COSTS.start()
        ));
    } else if cost > *COSTS.end() {
        warn(format_args!(
            "cost {cost} is above {}: it will be refused without --max-cost {cost}",
            COSTS.end()
        ));
    }
}

/// Where a password comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// If it cannot ask, it names this option.
    Terminal(&'static str),
    /// Its first line; `-` for standard input.
    File(PathBuf),
    /// A variable of the environment.
    Variable(OsString),
}

impl Source {
    /// Reads an existing password, for the file with this name.
    pub fn read(&self, name: &str) -> Result<Password, Error> {
        match self {
            Self::Terminal(option) => prompt(&format!("Password for {name}: "), option),
            Self::File(path) => first_line(path),
            Self::Variable(name) => variable(name),
        }
    }

    /// Reads a new password, on a terminal twice. It must not be empty.
    pub fn read_new(&self, name: &str) -> Result<Password, Error> {
        let password = match self {
            Self::Terminal(option) => prompt(&format!("New password for {name}: "), option)?,
            _ => self.read(name)?,
        };
        let name = match self {
            Self::Terminal(_) => "terminal".into(),
            Self::File(path) => quoted(path),
            Self::Variable(name) => quoted(Path::new(name)),
        };
        if password.is_empty() {
            return Err(Error::usage(&name, "the password is empty"));
        }
        if let Self::Terminal(option) = self
            && prompt("Again: ", option)? != password
        {
            return Err(Error::usage(&name, "the passwords do not match"));
        }
        Ok(password)
    }
}

/// Asks on the terminal.
fn prompt(prompt: &str, option: &str) -> Result<Password, Error> {
    let asked = temporary::guard().and_then(|()| terminal::ask(prompt, MAX_LEN));
    let password = asked.map_err(|error| {
        Error::io(
            "terminal",
            format_args!("cannot ask for a password ({option} reads one from a file): {error}"),
        )
    })?;
    if password.len() > MAX_LEN {
        return Err(too_long("terminal"));
    }
    Ok(password)
}

fn too_long(name: &str) -> Error {
    Error::io(name, format_args!("the line is longer than {MAX_LEN} bytes"))
}

/// All of a variable.
fn variable(name: &OsString) -> Result<Password, Error> {
    let shown = quoted(Path::new(name));
    let value = env::var_os(name).ok_or_else(|| Error::io(&shown, "is not in the environment"))?;
    let password = Zeroizing::new(value.into_vec());
    if password.len() > MAX_LEN {
        return Err(Error::io(&shown, format_args!("has more than {MAX_LEN} bytes")));
    }
    Ok(password)
}

/// The first line, without its end.
fn first_line(path: &Path) -> Result<Password, Error> {
    let name = quoted(path);
    // As large as it can become, because growing would leave copies.
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_LEN + 2));
    BufReader::with_capacity(1, Ended(text::open(path)?).take(MAX_LEN as u64 + 2))
        .read_until(b'\n', &mut line)
        .map_err(|error| Error::io(&name, error))?;
    if let Some(reason) = text::wrong_encoding(&line) {
        return Err(Error::io(&name, reason));
    }
    if line.pop_if(|last| *last == b'\n').is_some() {
        line.pop_if(|last| *last == b'\r');
    }
    if line.len() > MAX_LEN {
        return Err(too_long(&name));
    }
    Ok(line)
}

enum Stored {}

impl Domain for Stored {
    const DOMAIN: Label<'static> = label!("veriplex.password.v1");
}

/// Prints the hash of a new password.
pub fn hash(source: &Source, cost: u8) -> Result<(), Error> {
    let mut stdout = stdout()?;
    let password = source.read_new("the hash")?;
    let mut salt = [0; SALT_LEN];
    random(&mut salt)?;
    let params = phc::Params {
        cost,
        ..phc::Params::default()
    };
    let hash = phc::Mhf::<Stored>::with_any_cost(params, cost)
        .hash_password_with_salt(&password, &salt)
        .map_err(|error| Error::io("password", error))?;
    writeln!(stdout, "{hash}")
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

/// Verifies a password against a hash that [`hash`] printed, with a cost of at most `max_cost`.
pub fn verify(hash_file: &Path, source: &Source, max_cost: u8) -> Result<(), Error> {
    let name = quoted(hash_file);
    let hash = text::parse(
        hash_file,
        MAX_HASH_LEN,
        Status::Io,
        "not a password hash",
        |text| PasswordHash::new(text.lines().next()?.trim_ascii_end()).ok(),
    )?;
    let params = phc::Params::try_from(&hash).map_err(|error| Error::io(&name, error))?;
    check_cost(&name, params.cost, max_cost)?;
    let password = source.read(&name)?;
    phc::Mhf::<Stored>::with_any_cost(params, max_cost)
        .verify_password(&password, &hash)
        .map_err(|error| match error {
            password_hash::Error::PasswordInvalid => Error::unverified(&name, "wrong password"),
            error => Error::io(&name, error),
        })
}
