//! The command line, and what each command does.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::{Args, Parser, Subcommand};
use veriplex::digest::DIGEST_LEN;
use veriplex::mhf::Mhf;

use crate::crypt::{Job, Secret};
use crate::error::{Error, Status};
use crate::password::Source;
use crate::{crypt, files, keyfile, keypair, password, sealed, signature, sums, tunnel};

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (backend {})", env!("CARGO_PKG_VERSION"), veriplex::backend()));

const EXIT_STATUSES: &str = "\
Exit status:
  0    all went well
  1    a check or verification failed: a file differs from its list, a list is malformed, a
       ciphertext was changed, cut, extended, or made with another key, a signature is wrong
  2    the command line is wrong
  3    a file could not be read or written, or a key file or a hash of a password is malformed
  141  the reader of the output closed its pipe";

/// Digest, authenticate, encrypt and sign files, and tunnel connections, with Veriplex
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

/// The default cost of passwords, and the default maximum: 5 * 2^n KiB of memory, so 320 MiB and 1.25 GiB.
const COST: &str = "16";
const MAX_COST: &str = "18";

#[derive(Subcommand)]
enum Command {
    /// Print the digest of each file, or check a list of digests
    Digest {
        /// Size of a digest in bytes
        #[arg(short, long, value_name = "N", default_value_t = DIGEST_LEN as u64,
            value_parser = clap::value_parser!(u64).range(1..=sums::MAX_DIGEST_LEN))]
        length: u64,
        #[command(flatten)]
        sums: Sums,
    },
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
        /// Make a private key, for sign, seal, unseal and tunnel, instead of a secret one for mac and encrypt
        #[arg(long)]
        private: bool,
    },
    /// Print the public key of a private key
    Pubkey(PrivateKeyFile),
    /// Encrypt a file or standard input; FILE becomes FILE.vpx
    Encrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        cost: Cost,
        /// Give the same ciphertext for the same file and key, which shows that files are the same
        ///
        /// The file is read twice. Input and output must be files.
        #[arg(long, conflicts_with_all = ["cost", "password", "password_file"])]
        deterministic: bool,
        #[command(flatten)]
        files: Files,
    },
    /// Decrypt and verify a file or standard input; FILE.vpx becomes FILE
    ///
    /// A file appears only when all of it was verified. A pipe is given each block as soon as it is
    /// verified: use what came out of it only if the exit status is 0.
    Decrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        max_cost: MaxCost,
        #[command(flatten)]
        files: Files,
    },
    /// Print a hash of a password, to be stored and given to verify-password
    HashPassword {
        #[command(flatten)]
        password: PasswordFile,
        #[command(flatten)]
        cost: Cost,
    },
    /// Verify a password against its hash
    VerifyPassword {
        #[command(flatten)]
        password: PasswordFile,
        #[command(flatten)]
        max_cost: MaxCost,
        /// Its first line is what hash-password printed; - for standard input
        #[arg(value_name = "HASHFILE")]
        hash: PathBuf,
    },
    /// Sign a file or standard input; the signature of FILE becomes FILE.sig
    Sign {
        #[command(flatten)]
        key: PrivateKeyFile,
        #[command(flatten)]
        files: Files,
    },
    /// Verify the signature of a file or standard input
    Verify {
        /// The signer's public key: 64 hexadecimal digits, or a file with them
        #[arg(long, value_name = "PUBKEY")]
        from: String,
        /// The signature, if it is not FILE.sig
        #[arg(short, long, value_name = "SIG")]
        signature: Option<PathBuf>,
        /// The file; - or none for standard input
        #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
        file: PathBuf,
    },
    /// Encrypt a file or standard input to a public key; FILE becomes FILE.sealed
    ///
    /// The receiver learns that the file comes from the holder of your private key, and can prove it to nobody else.
    Seal {
        #[command(flatten)]
        key: PrivateKeyFile,
        /// The receiver's public key: 64 hexadecimal digits, or a file with them
        #[arg(long, value_name = "PUBKEY")]
        to: String,
        #[command(flatten)]
        files: Files,
    },
    /// Decrypt and verify what was sealed to your public key; FILE.sealed becomes FILE
    ///
    /// A file appears only when all of it was verified. A pipe is given each block as soon as it is
    /// verified: use what came out of it only if the exit status is 0.
    Unseal {
        #[command(flatten)]
        key: PrivateKeyFile,
        /// The sender's public key: 64 hexadecimal digits, or a file with them
        #[arg(long, value_name = "PUBKEY")]
        from: String,
        #[command(flatten)]
        files: Files,
    },
    /// Tunnel TCP connections, encrypted and authenticated by public keys
    #[command(subcommand)]
    Tunnel(Tunnel),
}

#[derive(Subcommand)]
enum Tunnel {
    /// Take tunnels of known clients, and connect each to one place
    Serve(TunnelEnd),
    /// Take connections, and pass each through a tunnel to a server
    Connect(TunnelEnd),
}

#[derive(Args)]
struct TunnelEnd {
    #[command(flatten)]
    key: PrivateKeyFile,
    /// A public key that the other end may have: 64 hexadecimal digits, or a file with one in each line; may be
    /// repeated
    #[arg(long = "peer", value_name = "PUBKEY", required = true)]
    peers: Vec<String>,
    /// Where connections are taken; port 0 for any
    #[arg(long, value_name = "HOST:PORT")]
    listen: String,
    /// Where they go: the server's destination, or the client's server
    #[arg(long, value_name = "HOST:PORT")]
    connect: String,
    /// How many may be open at a time; each takes two file descriptors
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_connections: u32,
    /// How many may be in their handshake at a time; more push out the oldest
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    max_pending: u32,
    /// How long a handshake may take, and a connection to HOST:PORT
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=3600))]
    timeout: u32,
}

impl TunnelEnd {
    fn options(&self, quiet: bool) -> tunnel::Options<'_> {
        tunnel::Options {
            key_file: &self.key.key_file,
            peers: &self.peers,
            listen: &self.listen,
            connect: &self.connect,
            max_connections: self.max_connections,
            max_pending: self.max_pending,
            timeout: self.timeout,
            quiet,
        }
    }
}

#[derive(Args)]
struct PrivateKeyFile {
    /// Your private key, made by `veriplex keygen --private`
    #[arg(short, long = "key-file", value_name = "KEYFILE")]
    key_file: PathBuf,
}

#[derive(Args)]
struct KeyFile {
    /// The key, made by `veriplex keygen`
    #[arg(short, long = "key-file", value_name = "KEYFILE")]
    key_file: PathBuf,
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct SecretArgs {
    /// The key, made by `veriplex keygen`
    #[arg(short, long, value_name = "KEYFILE")]
    key_file: Option<PathBuf>,
    /// Ask for a password
    #[arg(short, long)]
    password: bool,
    /// Take the first line of a file for the password; - for standard input
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

#[derive(Args)]
struct PasswordFile {
    /// Take the first line of a file for the password, - for standard input, rather than ask for it
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

#[derive(Args)]
struct Cost {
    /// What a guess of the password costs: 5 * 2^N KiB of memory
    #[arg(long, value_name = "N", default_value = COST,
        value_parser = clap::value_parser!(u8).range(..=i64::from(Mhf::MAX_COST)))]
    cost: u8,
}

#[derive(Args)]
struct MaxCost {
    /// Refuse what needs more than 5 * 2^N KiB of memory
    #[arg(long, value_name = "N", default_value = MAX_COST,
        value_parser = clap::value_parser!(u8).range(..=i64::from(Mhf::MAX_COST)))]
    max_cost: u8,
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
struct Files {
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

impl Files {
    fn job(&self, show_progress: bool) -> Job<'_> {
        Job {
            input: &self.file,
            output: self.output.as_deref(),
            force: self.force,
            show_progress,
        }
    }
}

impl SecretArgs {
    /// Reads the key or the password, which is a new one for encryption.
    fn read(&self, files: &Files, new: bool) -> Result<Secret, Error> {
        if let Some(path) = &self.key_file {
            return keyfile::read(path).map(Secret::Key);
        }
        let source = source(self.password_file.as_deref());
        only_one_stdin(&source, &files.file)?;
        let password = if new { source.read_new() } else { source.read() };
        password.map(Secret::Password)
    }
}

fn source(password_file: Option<&Path>) -> Source {
    password_file.map_or(Source::Terminal, |path| Source::File(path.to_owned()))
}

/// Standard input is either the password or the input.
fn only_one_stdin(source: &Source, input: &Path) -> Result<(), Error> {
    if source.is_stdin() && files::is_stdio(input) {
        return Err(Error::usage(
            "standard input",
            "cannot be both password and input",
        ));
    }
    Ok(())
}

/// Does what the command line says, and reports errors on standard error.
pub fn main() -> ExitCode {
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
    match &cli.command {
        Command::Digest { length, sums: files } => {
            let length = usize::try_from(*length).expect("at most 2^14");
            sums(&sums::Kind::Digest(length), files)
        }
        Command::Mac { key, sums: files } => sums(&sums::Kind::Mac(keyfile::read(&key.key_file)?), files),
        Command::Keygen { path, private: false } => keyfile::generate(path).map(|()| Status::Ok),
        Command::Keygen { path, private: true } => keypair::generate(path).map(|()| Status::Ok),
        Command::Pubkey(key) => keypair::print_public(&key.key_file).map(|()| Status::Ok),
        Command::Encrypt {
            secret,
            cost,
            deterministic,
            files,
        } => {
            let job = files.job(show_progress);
            match secret.read(files, true)? {
                Secret::Key(key) if *deterministic => crypt::encrypt_deterministically(&job, &key),
                secret => crypt::encrypt(&job, &secret, cost.cost),
            }
            .map(|()| Status::Ok)
        }
        Command::Decrypt {
            secret,
            max_cost,
            files,
        } => {
            let secret = secret.read(files, false)?;
            crypt::decrypt(&files.job(show_progress), &secret, max_cost.max_cost).map(|()| Status::Ok)
        }
        Command::HashPassword { password, cost } => {
            password::hash(&source(password.password_file.as_deref()), cost.cost).map(|()| Status::Ok)
        }
        Command::VerifyPassword {
            password,
            max_cost,
            hash,
        } => {
            let source = source(password.password_file.as_deref());
            only_one_stdin(&source, hash)?;
            password::verify(hash, &source, max_cost.max_cost).map(|()| Status::Ok)
        }
        Command::Sign { key, files } => {
            signature::sign(&files.job(show_progress), &key.key_file).map(|()| Status::Ok)
        }
        Command::Verify {
            from,
            signature,
            file,
        } => {
            signature::verify(from, file, signature.as_deref(), cli.quiet, show_progress).map(|()| Status::Ok)
        }
        Command::Seal { key, to, files } => {
            sealed::seal_file(&files.job(show_progress), &key.key_file, to).map(|()| Status::Ok)
        }
        Command::Unseal { key, from, files } => {
            sealed::unseal_file(&files.job(show_progress), &key.key_file, from).map(|()| Status::Ok)
        }
        Command::Tunnel(Tunnel::Serve(end)) => tunnel::serve(&end.options(cli.quiet)).map(|()| Status::Ok),
        Command::Tunnel(Tunnel::Connect(end)) => {
            tunnel::connect(&end.options(cli.quiet)).map(|()| Status::Ok)
        }
    }
}
