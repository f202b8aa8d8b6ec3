//! The options for the sources of keys and passwords, the same for all commands.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use veriplex_files::crypt::Secret;
use veriplex_files::error::Error;
use veriplex_files::places;

use crate::keys::{self, Private};
use crate::password::Source;

/// A descriptor, by a name that [`descriptors::adopt`](veriplex_files::descriptors::adopt) knows.
fn descriptor(number: &str) -> Result<PathBuf, String> {
    match number.parse::<u16>() {
        Ok(0) => Ok("-".into()),
        Ok(1 | 2) => Err("nothing is read from standard output or standard error".into()),
        Ok(number) => Ok(format!("/dev/fd/{number}").into()),
        Err(_) => Err("not the number of a file descriptor".into()),
    }
}

#[derive(Args, Clone)]
#[group(multiple = false)]
pub struct KeyFile {
    /// The key, made by `veriplex key generate`; - for standard input
    #[arg(short, long, value_name = "KEYFILE")]
    key_file: Option<PathBuf>,
    /// The same, from this file descriptor
    #[arg(long, value_name = "N", value_parser = descriptor)]
    key_fd: Option<PathBuf>,
}

impl KeyFile {
    pub fn path(&self) -> Option<&PathBuf> {
        self.key_file.as_ref().or(self.key_fd.as_ref())
    }

    /// The file, where the command line requires one.
    pub fn required(&self) -> &Path {
        self.path().map_or(Path::new(""), PathBuf::as_path)
    }

    /// As [`places::plan`] wants it.
    pub fn paths(&self) -> &[PathBuf] {
        self.path().map_or(&[], std::slice::from_ref)
    }
}

#[derive(Args, Clone)]
#[group(multiple = false)]
#[allow(clippy::struct_field_names)] // the options' names
pub struct PasswordFrom {
    /// Read the password from the first line of this file; - for standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// The same, from this file descriptor
    #[arg(long, value_name = "N", value_parser = descriptor)]
    password_fd: Option<PathBuf>,
    /// Read the password from this environment variable, which your other programs can read too: prefer --password-fd
    #[arg(long, value_name = "NAME")]
    password_env: Option<OsString>,
}

impl PasswordFrom {
    pub fn source(&self) -> Source {
        match (&self.password_env, self.paths()) {
            (Some(name), _) => Source::Variable(name.clone()),
            (None, [path]) => Source::File(path.clone()),
            (None, _) => Source::Terminal("--password-file"),
        }
    }

    pub fn is_given(&self) -> bool {
        !matches!(self.source(), Source::Terminal(_))
    }

    /// As [`places::plan`] wants it.
    pub fn paths(&self) -> &[PathBuf] {
        let path = self.password_file.as_ref().or(self.password_fd.as_ref());
        path.map_or(&[], std::slice::from_ref)
    }
}

/// Requires exactly one of these arguments.
pub fn one_of<const N: usize>(arguments: [&'static str; N]) -> ArgGroup {
    ArgGroup::new("one-of").args(arguments).required(true)
}

/// A private key, with its password if it has one.
#[derive(Args, Clone)]
pub struct PrivateKeyFile {
    #[command(flatten)]
    pub key: KeyFile,
    #[command(flatten)]
    pub password: PasswordFrom,
}

impl PrivateKeyFile {
    /// Returns a function that reads the key, unless that is a stream with another use. The arguments are the other
    /// inputs and the files of public keys.
    pub fn reader<K>(
        &self,
        inputs: &[PathBuf],
        public: &[PathBuf],
        part: impl Fn(&Private) -> Result<K, Error>,
    ) -> Result<impl Fn() -> Result<K, Error>, Error> {
        let uses = [
            ("password", self.password.paths()),
            ("key", self.key.paths()),
            ("public key", public),
            ("input", inputs),
        ];
        places::plan(&uses, &[])?;
        Ok(move || part(&keys::read_private(self.key.required(), &self.password.source())?))
    }
}

/// A symmetric key, or a password.
#[derive(Args)]
#[command(group(one_of(["key_file", "key_fd", "password", "password_file", "password_fd", "password_env"])))]
pub struct SecretArgs {
    #[command(flatten)]
    key: KeyFile,
    /// Ask for a password
    #[arg(short, long)]
    password: bool,
    #[command(flatten)]
    from: PasswordFrom,
}

impl SecretArgs {
    /// What it is read from, as [`places::plan`] wants it.
    pub fn uses(&self) -> [(&str, &[PathBuf]); 2] {
        [("key", self.key.paths()), ("password", self.from.paths())]
    }

    pub fn is_password(&self) -> bool {
        self.key.path().is_none()
    }

    /// What reads the key or the password for the file with a name, a new password for encryption, unless it is a
    /// stream and so is one of the inputs.
    pub fn reader(
        &self,
        inputs: &[PathBuf],
        new: bool,
    ) -> Result<impl Fn(&str) -> Result<Box<Secret>, Error>, Error> {
        let [key, password] = self.uses();
        places::plan(&[key, password, ("input", inputs)], &[])?;
        Ok(move |name: &str| {
            if let Some(path) = self.key.path() {
                // Boxed, since each move would leave a copy.
                return keys::read_symmetric(path, |key| Box::new(Secret::Key(key.clone())));
            }
            let source = self.from.source();
            let password = if new {
                source.read_new(name)
            } else {
                source.read(name)
            };
            password.map(|password| Box::new(Secret::Password(password)))
        })
    }

    /// Reads a key that is not text.
    pub fn read_raw(&self) -> Result<Secret, Error> {
        let path = (self.key.path())
            .ok_or_else(|| Error::usage("--plain", "needs --key-file or --key-fd, with a key of 32 bytes"))?;
        keys::read_raw(path, |key| Secret::Key(key.clone()))
    }

    pub fn read(&self, name: &str, new: bool) -> Result<Secret, Error> {
        // A copy, since a value moved out of a box leaves an unwiped copy there.
        self.reader(&[], new)?(name).map(|secret| Secret::clone(&secret))
    }
}
