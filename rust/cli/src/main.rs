//! `veriplex`: digests, authenticates, encrypts and decrypts files.
//!
//! The formats are part of the interface: [`sums`] has the lists and their domains, [`keyfile`] the key
//! files, [`crypt`] the encrypted files, [`error`] the exit statuses. `README.md` tells the same to users.

#![forbid(unsafe_code)]

mod crypt;
mod error;
mod files;
mod keyfile;
mod progress;
mod sums;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand};

use crate::error::{Error, Status};

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (backend {})", env!("CARGO_PKG_VERSION"), veriplex::backend()));

const EXIT_STATUSES: &str = "\
Exit status:
  0    all went well
  1    a check or verification failed: a file differs from its list, a list is malformed, a
       ciphertext was changed, cut, extended, or made with another key
  2    the command line is wrong
  3    a file could not be read or written, or a key file is malformed
  141  the reader of the output closed its pipe";

/// Digest, authenticate, encrypt and decrypt files with Veriplex
#[derive(Parser)]
#[command(name = "veriplex", version = VERSION.as_str(), after_help = EXIT_STATUSES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Show no progress bar and, with --check, only what failed
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Show no progress bar
    #[arg(long, global = true)]
    no_progress: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Print the digest of each file, or check a list of digests
    Digest(Sums),
    /// Print the authentication tag of each file under a key, or check a list of tags
    Mac {
        #[command(flatten)]
        key: KeyFile,
        #[command(flatten)]
        sums: Sums,
    },
    /// Make a random key file, which only its owner may read
    Keygen {
        /// The file to make, which must not exist; - prints the key
        #[arg(value_name = "KEYFILE")]
        path: PathBuf,
    },
    /// Encrypt a file or standard input; FILE becomes FILE.vpx
    Encrypt(Crypt),
    /// Decrypt and verify a file or standard input; FILE.vpx becomes FILE
    ///
    /// A file appears only when all of it was verified. A pipe is given each block as soon as it is
    /// verified: use what came out of it only if the exit status is 0.
    Decrypt(Crypt),
}

#[derive(Args)]
struct KeyFile {
    /// The key, made by `veriplex keygen`
    #[arg(short, long = "key-file", value_name = "KEYFILE")]
    key_file: PathBuf,
}

#[derive(Args)]
struct Sums {
    /// The files; - or none for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    files: Vec<PathBuf>,
    /// Take each FILE for a list that this command printed, and check the files in it
    #[arg(short, long)]
    check: bool,
}

#[derive(Args)]
struct Crypt {
    #[command(flatten)]
    key: KeyFile,
    /// Where the result goes; - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace an existing output; write ciphertext even to a terminal
    #[arg(short, long)]
    force: bool,
    /// The input; - or none for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    file: PathBuf,
}

impl Crypt {
    fn job(&self, show_progress: bool) -> crypt::Job<'_> {
        crypt::Job {
            key_file: &self.key.key_file,
            input: &self.file,
            output: self.output.as_deref(),
            force: self.force,
            show_progress,
        }
    }
}

fn main() -> ExitCode {
    let status = match run(&Cli::parse()) {
        Ok(status) => status,
        Err(error) => error.report(),
    };
    status.into()
}

fn run(cli: &Cli) -> Result<Status, Error> {
    let show_progress = !cli.quiet && !cli.no_progress && io::stderr().is_terminal();
    let sums = |kind: &sums::Kind, sums: &Sums| {
        if sums.check {
            sums::check(kind, &sums.files, cli.quiet, show_progress)
        } else {
            sums::print(kind, &sums.files, show_progress)
        }
    };
    let read_key = |path: &Path| keyfile::read(path).map(sums::Kind::Mac);
    match &cli.command {
        Command::Digest(files) => sums(&sums::Kind::Digest, files),
        Command::Mac { key, sums: files } => sums(&read_key(&key.key_file)?, files),
        Command::Keygen { path } => keyfile::generate(path).map(|()| Status::Ok),
        Command::Encrypt(crypt) => crypt::encrypt(&crypt.job(show_progress)).map(|()| Status::Ok),
        Command::Decrypt(crypt) => crypt::decrypt(&crypt.job(show_progress)).map(|()| Status::Ok),
    }
}
