//! The command line, and what each command does.

mod disk;
mod sum;

use std::collections::HashSet;
use std::io::{self, IsTerminal, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use rayon::ThreadPoolBuilder;
use signal_hook::consts::SIGXFSZ;
use veriplex::digest::Digest;
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::mhf::Mhf;

use crate::crypt::{Job, Kind, Range, Secret};
use crate::error::{Error, Status};
use crate::files::{Input, Output};
use crate::password::Source;
use crate::{
    encrypted, files, keyfile, keypair, levels, names, pages, password, sealed, signature, sums, tunnel,
};

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

/// Digest, authenticate, encrypt and sign files, encrypt disks, and tunnel connections, with Veriplex
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
    /// With --version, show what each implementation gave in its self-test, and which serves
    #[arg(short, long, requires = "version")]
    verbose: bool,
}

/// The default cost of passwords: 320 MiB.
const COST: &str = "16";

#[derive(Subcommand)]
enum Command {
    /// Print the digest of each file, or check a list of digests
    Digest {
        /// Size of a digest in bytes
        #[arg(short, long, value_name = "N", default_value_t = Digest::LEN as u64,
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
    /// Print the digest of each file, computed on all cores, or check a list of digests
    ///
    /// The digest differs from that of `digest`. With it and an outboard, parts of a file can be verified.
    Sum(sum::Args),
    /// Make a random key file, which only its owner may read
    Keygen {
        /// The file to make, which must not exist; - prints the key
        #[arg(value_name = "KEYFILE")]
        path: PathBuf,
        /// Make a private key, for sign, seal and unseal, instead of a secret one for mac, sum, encrypt and disk
        #[arg(long)]
        private: bool,
        /// Put the private key under a password, which is asked for
        #[arg(short, long, requires = "private")]
        password: bool,
        /// The same; take the first line of a file for the password, - for standard input
        #[arg(long, value_name = "FILE", requires = "private", conflicts_with = "password")]
        password_file: Option<PathBuf>,
        #[command(flatten)]
        cost: Cost,
    },
    /// Print the public key of a private key
    Pubkey(PrivateKeyFile),
    /// Encrypt files or standard input; FILE becomes FILE.vpx
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
        armor: Armor,
        #[command(flatten)]
        threads: Threads,
        #[command(flatten)]
        files: Files,
    },
    /// Decrypt and verify files or standard input; FILE.vpx becomes FILE
    ///
    /// A file appears only when all of it was verified. A pipe is given data as soon as they are verified: use
    /// them only if the exit status is 0. Of armor and pipes, a cut is noticed only at the end.
    Decrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        max_cost: MaxCost,
        /// Give only the plaintext from this byte on; of a file, only what is needed is read
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        offset: u64,
        /// Give at most this many bytes of it
        #[arg(short, long, value_name = "N")]
        length: Option<u64>,
        #[command(flatten)]
        threads: Threads,
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
    /// Sign files or standard input; the signature of FILE becomes FILE.vpsig
    Sign {
        #[command(flatten)]
        key: PrivateKeyFile,
        /// What to sign with the file, for whoever verifies it; without it, the time and the file's name
        #[arg(short, long, value_name = "TEXT")]
        comment: Option<String>,
        #[command(flatten)]
        files: Files,
    },
    /// Verify the signatures of files or standard input
    Verify {
        #[command(flatten)]
        from: FromArgs,
        /// The signature of the one FILE, if it is not FILE.vpsig
        #[arg(short, long, value_name = "SIG")]
        signature: Option<PathBuf>,
        /// The files; - or none for standard input
        #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
        files: Vec<PathBuf>,
    },
    /// Encrypt files or standard input to public keys; FILE becomes FILE.sealed
    ///
    /// The receiver learns that the file comes from the holder of your private key, and cannot prove that to anybody
    /// else. If there are several receivers, each of them could change what the others get: sign files for which that
    /// matters.
    Seal {
        #[command(flatten)]
        key: PrivateKeyFile,
        /// A receiver's public key, 64 hexadecimal digits; may be repeated
        #[arg(long, value_name = "PUBKEY", value_parser = keypair::parse_public,
            required_unless_present = "to_file")]
        to: Vec<PublicKey>,
        /// A file with a receiver's public key in each line; may be repeated
        #[arg(long, value_name = "FILE")]
        to_file: Vec<PathBuf>,
        #[command(flatten)]
        armor: Armor,
        #[command(flatten)]
        threads: Threads,
        #[command(flatten)]
        files: Files,
    },
    /// Decrypt and verify what was sealed to your public key; FILE.sealed becomes FILE
    ///
    /// A file appears only when all of it was verified. A pipe is given data as soon as they are verified: use
    /// them only if the exit status is 0. Of armor and pipes, a cut is noticed only at the end.
    Unseal {
        #[command(flatten)]
        key: PrivateKeyFile,
        #[command(flatten)]
        from: FromArgs,
        #[command(flatten)]
        threads: Threads,
        #[command(flatten)]
        files: Files,
    },
    /// Encrypt and decrypt disk images and block devices, each sector in its place
    #[command(subcommand)]
    Disk(disk::Command),
    /// Tunnel connections, encrypted and authenticated by hybrid post-quantum keys
    #[command(subcommand)]
    Tunnel(tunnel::Command),
    /// Print what a shell needs to complete command lines
    Completions {
        #[arg(value_name = "SHELL")]
        shell: clap_complete::Shell,
    },
    /// Write the man pages into a folder
    #[command(hide = true)]
    ManPages {
        #[arg(value_name = "FOLDER")]
        folder: PathBuf,
    },
}

#[derive(Args)]
struct PrivateKeyFile {
    /// Your private key, made by `veriplex keygen --private`; - for standard input
    #[arg(short, long = "key-file", value_name = "KEYFILE")]
    key_file: PathBuf,
    /// Take the first line of a file for the key's password, if it has one, rather than ask for it; - for standard input
    #[arg(long, value_name = "FILE")]
    key_password_file: Option<PathBuf>,
}

impl PrivateKeyFile {
    fn source(&self) -> Source {
        source(self.key_password_file.as_deref())
    }

    /// What reads the key, unless that is standard input and so is something else; these are the inputs besides, and the
    /// files of public keys.
    fn reader(
        &self,
        inputs: &[PathBuf],
        public: &[PathBuf],
    ) -> Result<impl Fn() -> Result<PrivateKey, Error>, Error> {
        only_one_stdin([
            ("password", self.key_password_file.as_slice()),
            ("key", std::slice::from_ref(&self.key_file)),
            ("public key", public),
            ("input", inputs),
        ])?;
        Ok(|| keypair::read_private(&self.key_file, &self.source()))
    }
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct FromArgs {
    /// The public key of whoever made it: 64 hexadecimal digits
    #[arg(long, value_name = "PUBKEY", value_parser = keypair::parse_public)]
    from: Option<PublicKey>,
    /// A file with that public key
    #[arg(long, value_name = "FILE")]
    from_file: Option<PathBuf>,
}

impl FromArgs {
    fn key(&self) -> Result<PublicKey, Error> {
        match (self.from, &self.from_file) {
            (Some(key), _) => Ok(key),
            (_, Some(path)) => keypair::read_one(path),
            _ => Err(Error::usage("--from", "is missing")),
        }
    }
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
    /// What a guess of the password costs: 5 * 2^N KiB of memory; 12 to 18 are of use
    #[arg(long, value_name = "N", default_value = COST,
        value_parser = clap::value_parser!(u8).range(..=i64::from(Mhf::MAX_COST)))]
    cost: u8,
}

#[derive(Args)]
struct MaxCost {
    /// Refuse what needs more than 5 * 2^N KiB of memory
    #[arg(long, value_name = "N", default_value_t = *password::COSTS.end(),
        value_parser = clap::value_parser!(u8).range(..=i64::from(Mhf::MAX_COST)))]
    max_cost: u8,
}

#[derive(Args)]
#[allow(clippy::struct_excessive_bools)] // each is an option
struct Sums {
    /// The files; - or none for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    files: Vec<PathBuf>,
    /// Take each FILE for a list that this command printed, and check the files in it
    #[arg(short, long)]
    check: bool,
    /// With --check, skip files that do not exist; fail if no file was verified
    #[arg(long, requires = "check")]
    ignore_missing: bool,
    /// With --check, print no results: the exit status tells
    #[arg(long, requires = "check")]
    status: bool,
    /// With --check, fail for malformed lines, too
    #[arg(long, requires = "check")]
    strict: bool,
    /// Say in each line what it is, so that no other program takes it for its own
    #[arg(long, conflicts_with = "check")]
    tag: bool,
    /// End lines with NUL instead of a newline, and do not escape names
    #[arg(short, long, conflicts_with = "check")]
    zero: bool,
    /// Of folders, take all the files in them and below; links are not followed
    #[arg(short, long, conflicts_with = "check")]
    recursive: bool,
}

impl Sums {
    fn run(&self, kind: &sums::Kind, quiet: bool, show_progress: bool) -> Result<Status, Error> {
        if self.check {
            let how = sums::Check {
                ignore_missing: self.ignore_missing,
                quiet,
                status: self.status,
                strict: self.strict,
                show_progress,
            };
            return sums::check(kind, &self.files, how);
        }
        sums::print(kind, &self.files, self.recursive, self.style(show_progress))
    }

    fn style(&self, show_progress: bool) -> sums::Style {
        sums::Style {
            tag: self.tag,
            zero: self.zero,
            show_progress,
        }
    }
}

#[derive(Args)]
struct Threads {
    /// How many threads work; without it, as many as there are cores
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl Threads {
    /// Starts the threads.
    fn start(&self) -> Result<(), Error> {
        ThreadPoolBuilder::new()
            .num_threads(self.threads.unwrap_or(0).into())
            .build_global()
            .map_err(|error| Error::io("threads", error))
    }

    /// The same; if the system has none left, this thread does all the work.
    fn start_or_do_without(&self) -> Result<(), Error> {
        self.start().or_else(|error| {
            let alone = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
            // It is there as long as this thread.
            alone.build().map(mem::forget).map_err(|_| error)
        })
    }
}

#[derive(Args)]
struct Armor {
    /// Write ASCII armor instead of binary; it is recognised when it is opened
    #[arg(short, long)]
    armor: bool,
}

#[derive(Args)]
struct Files {
    /// Where the result of the one FILE goes; - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace an existing output; write ciphertext even to a terminal
    #[arg(short, long)]
    force: bool,
    /// The inputs; - or none for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    inputs: Vec<PathBuf>,
}

impl Files {
    /// Does this with each, and with a secret that is read once, when the first of them is open: nobody is asked for it in
    /// vain. An error with one does not stop the others.
    fn each<S>(
        &self,
        armor: bool,
        show_progress: bool,
        open: impl Fn(&Job<'_>) -> Result<(Input, Output), Error>,
        read: impl Fn() -> Result<S, Error>,
        work: impl Fn(&Path, Input, Output, &S) -> Result<(), Error>,
    ) -> Result<Status, Error> {
        if self.output.is_some() && self.inputs.len() > 1 {
            return Err(Error::usage("--output", "is for one file"));
        }
        let mut status = Status::Ok;
        let mut secret = None;
        for input in &self.inputs {
            let opened = open(&Job {
                input,
                output: self.output.as_deref(),
                force: self.force,
                armor,
                show_progress,
            });
            let done = match opened {
                Ok((reader, output)) => {
                    let known = secret.take().map_or_else(&read, Ok)?;
                    work(input, reader, output, secret.insert(known))
                }
                Err(error) => Err(error),
            };
            status = status.and(reported(done)?);
        }
        Ok(status)
    }
}

fn each(files: &[PathBuf], work: impl Fn(&Path) -> Result<(), Error>) -> Result<Status, Error> {
    let mut status = Status::Ok;
    for file in files {
        status = status.and(reported(work(file))?);
    }
    Ok(status)
}

/// Reports an error with one of several files.
fn reported(done: Result<(), Error>) -> Result<Status, Error> {
    match done {
        Ok(()) => Ok(Status::Ok),
        // If nobody reads the results, there is no point in going on.
        Err(error) if error.status == Status::Closed => Err(error),
        Err(error) => Ok(error.report()),
    }
}

impl SecretArgs {
    /// What reads the key or the password, which is a new one for encryption, unless that is standard input and so is one
    /// of the inputs.
    fn reader(
        &self,
        inputs: &[PathBuf],
        new: bool,
    ) -> Result<impl Fn() -> Result<Box<Secret>, Error>, Error> {
        only_one_stdin([
            ("key", self.key_file.as_slice()),
            ("password", self.password_file.as_slice()),
            ("input", inputs),
        ])?;
        Ok(move || {
            if let Some(path) = &self.key_file {
                // In a box, since each move would leave a copy.
                return keyfile::read(path, |key| Box::new(Secret::Key(key.clone())));
            }
            let source = source(self.password_file.as_deref());
            let password = if new { source.read_new() } else { source.read() };
            password.map(|password| Box::new(Secret::Password(password)))
        })
    }

    fn read(&self, inputs: &[PathBuf], new: bool) -> Result<Secret, Error> {
        self.reader(inputs, new)?().map(|secret| *secret)
    }
}

fn source(password_file: Option<&Path>) -> Source {
    password_file.map_or(Source::Terminal, |path| Source::File(path.to_owned()))
}

/// Standard input cannot be two of these.
fn only_one_stdin<const N: usize>(uses: [(&str, &[PathBuf]); N]) -> Result<(), Error> {
    let mut found = uses
        .into_iter()
        .filter(|(_, paths)| paths.iter().any(|path| files::is_stdio(path)));
    if let (Some((one, _)), Some((other, _))) = (found.next(), found.next()) {
        let reason = format_args!("cannot be both {one} and {other}");
        return Err(Error::usage("standard input", reason));
    }
    Ok(())
}

/// Does what the command line says, and reports errors on standard error.
pub fn main() -> ExitCode {
    // What exceeds `ulimit -f` is then an error of the file. The signal would end the process.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    if let Err(error) = levels::forbid() {
        return error.report().into();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return told(&with_suggestion(error)),
    };
    let status = match run(&cli) {
        Ok(status) => status,
        Err(error) => error.report(),
    };
    status.into()
}

/// Two commands make what other programs call a hash, and their names are not similar.
fn with_suggestion(mut error: clap::Error) -> clap::Error {
    if matches!(error.get(ContextKind::InvalidSubcommand), Some(ContextValue::String(name)) if name == "hash")
    {
        let names = ["sum", "digest"].map(String::from).to_vec();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
    error
}

/// Help, or what is wrong with the command line. That may hold the name of a file, which a shell put in for `*`.
fn told(error: &clap::Error) -> ExitCode {
    let mut text = names::visible(&error.render().to_string());
    // clap stops at --version, before it reads what follows.
    if error.kind() == ErrorKind::DisplayVersion
        && std::env::args_os().any(|argument| argument == "-v" || argument == "--verbose")
    {
        text += &levels::report();
    }
    // Not `print!`, which panics if it cannot write.
    let written = if error.use_stderr() {
        io::stderr().write_all(text.as_bytes())
    } else {
        let mut stdout = io::stdout();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush())
    };
    match written {
        Err(failed) if !error.use_stderr() => Error::write("standard output", &failed).report().into(),
        _ if error.use_stderr() => Status::Usage.into(),
        _ => Status::Ok.into(),
    }
}

#[allow(clippy::too_many_lines)] // one arm per command
fn run(cli: &Cli) -> Result<Status, Error> {
    let show_progress = !cli.quiet && !cli.no_progress && io::stderr().is_terminal();
    match &cli.command {
        Command::Digest { length, sums: files } => {
            let length = usize::try_from(*length).expect("at most 2^14");
            files.run(&sums::Kind::Digest(length), cli.quiet, show_progress)
        }
        Command::Mac { key, sums: files } => {
            only_one_stdin([
                ("key", std::slice::from_ref(&key.key_file)),
                ("input", &files.files),
            ])?;
            let kind = keyfile::read(&key.key_file, sums::Kind::mac)?;
            files.run(&kind, cli.quiet, show_progress)
        }
        Command::Sum(args) => sum::run(args, cli.quiet, show_progress),
        Command::Keygen {
            path, private: false, ..
        } => keyfile::generate(path).map(|()| Status::Ok),
        Command::Keygen {
            path,
            password,
            password_file,
            cost,
            ..
        } => {
            let source = source(password_file.as_deref());
            let is_protected = *password || password_file.is_some();
            let protection = is_protected.then_some((&source, cost.cost));
            keypair::generate(path, protection).map(|()| Status::Ok)
        }
        Command::Pubkey(key) => {
            files::stdout()?;
            let key = key.reader(&[], &[])?()?;
            keypair::print_public(key.public_key()).map(|()| Status::Ok)
        }
        Command::Encrypt {
            secret,
            cost,
            deterministic,
            armor,
            threads,
            files,
        } => {
            threads.start_or_do_without()?;
            if secret.key_file.is_none() {
                password::warn_of_cost(cost.cost);
            }
            files.each(
                armor.armor,
                show_progress,
                |job| job.to_encrypt(Kind::Encrypted),
                secret.reader(&files.inputs, true)?,
                |_, input, output, secret| match &**secret {
                    Secret::Key(key) if *deterministic => {
                        encrypted::encrypt_deterministically(input, output, key)
                    }
                    secret => encrypted::encrypt(input, output, secret, cost.cost),
                },
            )
        }
        Command::Decrypt {
            secret,
            max_cost,
            offset,
            length,
            threads,
            files,
        } => {
            threads.start_or_do_without()?;
            let range = Range {
                offset: *offset,
                length: *length,
            };
            files.each(
                false,
                show_progress,
                |job| job.to_decrypt(Kind::Encrypted),
                secret.reader(&files.inputs, false)?,
                |_, input, output, secret| {
                    encrypted::decrypt(input, output, secret, max_cost.max_cost, range)
                },
            )
        }
        Command::HashPassword { password, cost } => {
            password::warn_of_cost(cost.cost);
            password::hash(&source(password.password_file.as_deref()), cost.cost).map(|()| Status::Ok)
        }
        Command::VerifyPassword {
            password,
            max_cost,
            hash,
        } => {
            let source = source(password.password_file.as_deref());
            only_one_stdin([
                ("password", password.password_file.as_slice()),
                ("hash", std::slice::from_ref(hash)),
            ])?;
            password::verify(hash, &source, max_cost.max_cost).map(|()| Status::Ok)
        }
        Command::Sign { key, comment, files } => files.each(
            false,
            show_progress,
            |job| job.to_sign(signature::EXTENSION),
            key.reader(&files.inputs, &[])?,
            |file, input, output, key| signature::sign(file, input, output, key, comment.as_deref()),
        ),
        Command::Verify {
            from,
            signature,
            files,
        } => {
            only_one_stdin([("public key", from.from_file.as_slice()), ("input", files)])?;
            let key = from.key()?;
            if signature.is_some() && files.len() > 1 {
                return Err(Error::usage("--signature", "is for one file"));
            }
            each(files, |file| {
                signature::verify(&key, file, signature.as_deref(), cli.quiet, show_progress)
            })
        }
        Command::Seal {
            key,
            to,
            to_file,
            armor,
            threads,
            files,
        } => {
            threads.start_or_do_without()?;
            let read_key = key.reader(&files.inputs, to_file)?;
            let mut to: HashSet<_> = to.iter().copied().collect();
            for path in to_file {
                to.extend(keypair::read_public(path)?);
            }
            files.each(
                armor.armor,
                show_progress,
                |job| job.to_encrypt(Kind::Sealed),
                read_key,
                |_, input, output, key| sealed::seal_file(input, output, key, &to),
            )
        }
        Command::Unseal {
            key,
            from,
            threads,
            files,
        } => {
            threads.start_or_do_without()?;
            let read_key = key.reader(&files.inputs, from.from_file.as_slice())?;
            let from = from.key()?;
            files.each(
                false,
                show_progress,
                |job| job.to_decrypt(Kind::Sealed),
                read_key,
                |_, input, output, key| sealed::unseal_file(input, output, key, &from),
            )
        }
        Command::Disk(command) => disk::run(command, cli.quiet, show_progress),
        Command::Tunnel(command) => tunnel::run(command, cli.quiet).map(|()| Status::Ok),
        Command::Completions { shell } => {
            pages::print_completions(Cli::command(), *shell).map(|()| Status::Ok)
        }
        Command::ManPages { folder } => pages::write_man_pages(Cli::command(), folder).map(|()| Status::Ok),
    }
}
