//! The command line, and what each command does.

mod disk;
mod key;
mod sum;

use std::io::{self, IsTerminal, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::thread::available_parallelism;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgGroup, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use rayon::ThreadPoolBuilder;
use rustix::process::{Resource, Rlimit, setrlimit};
use signal_hook::consts::SIGXFSZ;
use veriplex::digest::Digest;
use veriplex::keys::PublicKey;
use veriplex::mhf::Mhf;
use veriplex_files::crypt::{Job, Kind, Make, Range, Secret, is_in_folder};
use veriplex_files::error::{EXIT_STATUSES, Error, Status, warn};
use veriplex_files::files::{Input, Output};
use veriplex_files::terminal_quoting;
use veriplex_files::{descriptors, files, places, text};

use crate::keys::Private;
use crate::sealed::Receivers;
use crate::secrets::{KeyFile, PasswordFrom, PrivateKeyFile, SecretArgs, one_of};
use crate::signature::Signers;
use crate::{checksum_list, encrypted, examples, keys, levels, pages, password, sealed, signature, tunnel};

static VERSION: LazyLock<String> =
    LazyLock::new(|| format!("{} (backend {})", env!("CARGO_PKG_VERSION"), veriplex::backend()));

fn exit_statuses() -> String {
    let lines = EXIT_STATUSES.map(|(status, meaning)| {
        let meaning = meaning.replace('\n', "\n       ");
        format!("  {status:5}{meaning}")
    });
    format!("Exit status:\n{}", lines.join("\n"))
}

/// Digest, authenticate, encrypt and sign files, encrypt disks, and tunnel connections, with Veriplex
#[derive(Parser)]
#[command(name = "veriplex", version = VERSION.as_str(), after_help = exit_statuses())]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Show no progress bar and, with --check, only failures
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Show no progress bar
    #[arg(long, global = true)]
    no_progress: bool,
    /// With --version, show the self-test result of each implementation, and which is used
    #[arg(short, long, requires = "version")]
    verbose: bool,
}

/// The default cost of passwords: 320 MiB.
const COST: &str = "16";

#[derive(Subcommand)]
enum Command {
    /// Print the digest of each file, or check a list of digests
    Digest {
        /// Digest size in bytes
        #[arg(short, long, value_name = "N", default_value_t = Digest::LEN as u64,
            value_parser = clap::value_parser!(u64).range(1..=checksum_list::MAX_DIGEST_LEN))]
        length: u64,
        #[command(flatten)]
        sums: Sums,
    },
    /// Print the authentication tag of each file under a key, or check a list of tags
    #[command(group(one_of(["key_file", "key_fd"])))]
    Mac {
        #[command(flatten)]
        key: KeyFile,
        #[command(flatten)]
        sums: Sums,
    },
    /// Print the digest of each file, computed on all cores, or check a list of digests
    ///
    /// The digest differs from that of `digest`: with it and an outboard, parts of a file can be verified. With a key,
    /// only those who have the key can compute the digest.
    Sum(sum::Args),
    /// Make and inspect keys, and change their passwords
    #[command(subcommand)]
    Key(key::Command),
    /// Encrypt files, folders or standard input; FILE becomes FILE.vpx
    ///
    /// A folder becomes one encrypted file, with its files, folders and symbolic links as a tar stream, without owners.
    Encrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        cost: Cost,
        /// Make the same ciphertext for the same file and key; this reveals which files are equal
        ///
        /// Reads the file twice. Input and output must be regular files.
        #[arg(long, conflicts_with_all = ["cost", "password", "PasswordFrom"])]
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
    /// A file or folder appears only after all of it has been verified. A pipe receives data as soon as they are
    /// verified: use them only if the exit status is 0. If the input is armored or a pipe, truncation is detected only
    /// at the end. Standard output receives a folder as a tar stream.
    Decrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        max_cost: MaxCost,
        /// Output the plaintext from this byte on; only the required part of a file is read
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        offset: u64,
        /// Output at most this many bytes
        #[arg(short, long, value_name = "N")]
        length: Option<u64>,
        #[command(flatten)]
        threads: Threads,
        #[command(flatten)]
        files: Files,
    },
    /// Print a password hash, to store and pass to verify-password
    HashPassword {
        #[command(flatten)]
        password: PasswordFrom,
        #[command(flatten)]
        cost: Cost,
    },
    /// Verify a password against its hash
    VerifyPassword {
        #[command(flatten)]
        password: PasswordFrom,
        #[command(flatten)]
        max_cost: MaxCost,
        /// A file whose first line hash-password printed; - for standard input
        #[arg(value_name = "HASHFILE")]
        hash: PathBuf,
    },
    /// Sign files or standard input; the signature of FILE becomes FILE.vpsig
    #[command(group(one_of(["key_file", "key_fd"])))]
    Sign {
        #[command(flatten)]
        key: PrivateKeyFile,
        /// Comment to sign with the file, shown on verification (default: the time and the file's name)
        #[arg(short, long, value_name = "TEXT")]
        comment: Option<String>,
        #[command(flatten)]
        files: Files,
    },
    /// Verify the signatures of files or standard input
    Verify {
        #[command(flatten)]
        from: FromArgs,
        /// The signature (default: FILE.vpsig); allows one FILE only
        #[arg(short, long, value_name = "SIG")]
        signature: Option<PathBuf>,
        /// The files; - or none for standard input
        #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
        files: Vec<PathBuf>,
    },
    /// Encrypt files, folders or standard input to public keys; FILE becomes FILE.sealed
    ///
    /// Reading it without a receiver's private key requires breaking both Ristretto255 and ML-KEM-768. The receiver
    /// learns that the file comes from the holder of your private key, but cannot prove this to others. If there are
    /// several receivers, each of them could change what the others get: if that matters, sign the file too.
    #[command(group(one_of(["key_file", "key_fd", "anonymous"])))]
    Seal {
        #[command(flatten)]
        key: PrivateKeyFile,
        /// Seal without your key: the receiver does not learn who sealed the file; it could be anyone
        #[arg(long, conflicts_with = "PasswordFrom")]
        anonymous: bool,
        /// A receiver's public key, or a list of public keys, one per line; may be repeated
        #[arg(long, value_name = "FILE", required = true)]
        to: Vec<PathBuf>,
        #[command(flatten)]
        armor: Armor,
        #[command(flatten)]
        threads: Threads,
        #[command(flatten)]
        files: Files,
    },
    /// Decrypt and verify what was sealed to your public key; FILE.sealed becomes FILE
    ///
    /// Standard error names the sender; --quiet turns that off.
    ///
    /// A file or folder appears only after all of it has been verified. A pipe receives data as soon as they are
    /// verified: use them only if the exit status is 0. If the input is armored or a pipe, truncation is detected only
    /// at the end.
    #[command(group(one_of(["key_file", "key_fd"])))]
    #[command(group(ArgGroup::new("sender").args(["from", "anonymous"]).required(true)))]
    Unseal {
        #[command(flatten)]
        key: PrivateKeyFile,
        /// The sender's public key, or a list of public keys, one per line, of possible senders
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Open what was sealed with --anonymous; anyone could have made it
        #[arg(long)]
        anonymous: bool,
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
    /// Print the completions of a shell
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
#[group(required = true, multiple = false)]
struct FromArgs {
    /// The signer's public key, or a list of public keys, one per line, of possible signers
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// The signer's key itself: the 64 hexadecimal digits that `veriplex key inspect` prints after `verify --from-key`
    #[arg(long, value_name = "KEY", value_parser = parse_key)]
    from_key: Option<PublicKey>,
}

impl FromArgs {
    fn signers(&self) -> Result<Signers, Error> {
        match (self.from_key, &self.from) {
            (Some(key), _) => Ok(Signers::Key(key)),
            (_, Some(path)) => keys::read_public(path).map(Signers::Named),
            _ => Err(Error::usage("--from", "is missing")),
        }
    }
}

/// Decodes a public key from 64 hexadecimal digits of either case, or says what is wrong with them.
pub fn parse_key(digits: &str) -> Result<PublicKey, String> {
    let bytes = text::digits_or_file(digits, "--from")?;
    PublicKey::from_bytes(&bytes).map_err(|_| "these digits are no public key".into())
}

#[derive(Args)]
struct Cost {
    /// Password-hash cost: 5 * 2^N KiB of memory (12 to 18 recommended)
    #[arg(long, value_name = "N", default_value = COST,
        value_parser = clap::value_parser!(u8).range(..=i64::from(Mhf::MAX_COST)))]
    cost: u8,
}

#[derive(Args)]
struct MaxCost {
    /// Refuse a password-hash cost above N, which needs 5 * 2^N KiB of memory
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
    /// Check the files listed in each FILE, a list that this command printed
    #[arg(short, long)]
    check: bool,
    /// With --check, skip files that do not exist; fail if no file was verified
    #[arg(long, requires = "check")]
    ignore_missing: bool,
    /// With --check, print no results; the exit status tells
    #[arg(long, requires = "check")]
    status: bool,
    /// With --check and --untagged, also fail on malformed lines
    #[arg(long, requires = "check")]
    strict: bool,
    /// Print lines that do not name the algorithm, as sha256sum does; with --check, accept them
    #[arg(long)]
    untagged: bool,
    /// End lines with NUL instead of a newline, and do not escape names; not on a terminal
    #[arg(short, long, conflicts_with = "check")]
    zero: bool,
    /// Include the files in folders and below; symbolic links are not followed
    #[arg(short, long, conflicts_with = "check")]
    recursive: bool,
}

impl Sums {
    fn run(&self, kind: &checksum_list::Kind, quiet: bool, show_progress: bool) -> Result<Status, Error> {
        if self.check {
            let how = checksum_list::Check {
                ignore_missing: self.ignore_missing,
                quiet,
                status: self.status,
                strict: self.strict,
                untagged: self.untagged,
                show_progress,
            };
            return checksum_list::check(kind, &self.files, how);
        }
        checksum_list::print(kind, &self.files, self.recursive, self.style(show_progress))
    }

    fn style(&self, show_progress: bool) -> checksum_list::Style {
        checksum_list::Style {
            untagged: self.untagged,
            // Names could act on a terminal.
            zero: self.zero && !io::stdout().is_terminal(),
            show_progress,
        }
    }
}

const MAX_THREADS: u16 = 1024;

#[derive(Args)]
struct Threads {
    /// Number of threads (default: one for each core)
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_THREADS)))]
    threads: Option<u16>,
}

impl Threads {
    /// Starts the threads.
    fn start(&self) -> Result<(), Error> {
        // Not rayon's own default, which the environment can set without limit.
        let cores = || available_parallelism().map_or(1, |cores| cores.get().min(MAX_THREADS.into()));
        ThreadPoolBuilder::new()
            .num_threads(self.threads.map_or_else(cores, usize::from))
            .build_global()
            .map_err(|error| Error::io("threads", error))
    }

    /// The same, but if the system has no threads left, this one does all the work.
    fn start_or_do_without(&self) -> Result<(), Error> {
        self.start().or_else(|error| {
            let single = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
            // It exists as long as this thread.
            single.build().map(mem::forget).map_err(|_| error)
        })
    }
}

#[derive(Args)]
struct Armor {
    /// Write ASCII armor instead of binary; it is recognised when opened
    #[arg(short, long)]
    armor: bool,
}

#[derive(Args)]
struct Files {
    /// Output file, or an existing folder for the outputs; - for standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Overwrite existing files, and write binary data even to a terminal
    #[arg(short, long)]
    force: bool,
    /// Input files; - or none for standard input
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    inputs: Vec<PathBuf>,
}

impl Files {
    /// Processes each, with a secret that is read once, when the first of them is open, so that nobody is asked in
    /// vain. An error with one does not stop the others, but nothing is done if an output would be an input, or another
    /// output.
    fn each<S>(
        &self,
        make: Make,
        armor: bool,
        show_progress: bool,
        read: impl Fn(&str) -> Result<S, Error>,
        work: impl Fn(&Path, Input, Output, &S) -> Result<(), Error>,
    ) -> Result<Status, Error> {
        if self.inputs.len() > 1 && self.output.as_deref().is_some_and(|path| !is_in_folder(path)) {
            return Err(Error::usage(
                "--output",
                "must be an existing folder if there are several inputs",
            ));
        }
        let jobs = self.inputs.iter().map(|input| Job {
            input,
            output: self.output.as_deref(),
            force: self.force,
            armor,
            show_progress,
        });
        let outputs: Vec<_> = jobs.clone().filter_map(|job| job.to(make).ok()).collect();
        places::plan(&[("input", &self.inputs)], &outputs)?;
        let mut status = Status::Ok;
        let mut secret = None;
        for job in jobs {
            let done = match job.open(make) {
                Ok((input, output)) => {
                    let known = secret.take().map_or_else(|| read(&input.name), Ok)?;
                    work(job.input, input, output, secret.insert(known))
                }
                Err(error) => Err(error),
            };
            if let (Ok(()), Ok(path)) = (&done, job.to(make)) {
                places::finished(&path);
            }
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

/// Does what the command line says, and reports errors on standard error.
pub fn main() -> ExitCode {
    // Exceeding `ulimit -f` is then an error of the file, where the signal would end the process.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
    // A core would contain keys and passwords. Linux writes no core of 1 byte; to a pipe, it writes a core with any
    // other limit.
    let limit = Some(u64::from(cfg!(target_os = "linux")));
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: limit,
            maximum: limit,
        },
    );
    if let Err(error) = levels::forbid().and_then(|()| files::check_outputs()) {
        return error.report().into();
    }
    let parsed = examples::add(Cli::command()).try_get_matches();
    let parsed = parsed.and_then(|found| Ok((Cli::from_arg_matches(&found)?, found)));
    let (cli, found) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return report(&with_suggestion(error)),
    };
    let run = descriptors::adopt(paths(&found).into_iter()).and_then(|()| run(&cli));
    let status = run.unwrap_or_else(|error| error.report());
    let finished = files::finish_stdout().map_or_else(|error| error.report(), |()| Status::Ok);
    status.and(finished).into()
}

/// All paths on the command line.
fn paths(found: &ArgMatches) -> Vec<&PathBuf> {
    let values = found
        .ids()
        .filter_map(|id| found.try_get_many::<PathBuf>(id.as_str()).ok()?);
    let mut paths: Vec<_> = values.flatten().collect();
    if let Some((_, found)) = found.subcommand() {
        paths.extend(self::paths(found));
    }
    paths
}

/// Two commands compute what other programs call a hash, and neither name is similar.
fn with_suggestion(mut error: clap::Error) -> clap::Error {
    if matches!(error.get(ContextKind::InvalidSubcommand), Some(ContextValue::String(name)) if name == "hash")
    {
        let names = ["sum", "digest"].map(String::from).to_vec();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(names));
    }
    error
}

/// Prints help, or what is wrong with the command line, which may contain file names that a shell put in for `*`.
fn report(error: &clap::Error) -> ExitCode {
    let mut text = terminal_quoting::visible(&error.render().to_string());
    // clap stops at --version, and does not read the rest.
    if error.kind() == ErrorKind::DisplayVersion
        && std::env::args_os().any(|argument| argument == "-v" || argument == "--verbose")
    {
        text += &levels::report();
    }
    // Not `print!`, which panics if it cannot write.
    if error.use_stderr() {
        let _ = io::stderr().write_all(text.as_bytes());
        return Status::Usage.into();
    }
    let written = files::stdout().and_then(|mut stdout| {
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|error| Error::write("standard output", &error))
    });
    written
        .map_or_else(|error| error.report(), |()| Status::Ok)
        .into()
}

#[allow(clippy::too_many_lines)] // one arm per command
fn run(cli: &Cli) -> Result<Status, Error> {
    let show_progress = !cli.quiet && !cli.no_progress && io::stderr().is_terminal();
    match &cli.command {
        Command::Digest { length, sums: files } => {
            places::plan(&[("input", &files.files)], &[])?;
            let length = usize::try_from(*length).expect("at most 2^14");
            files.run(&checksum_list::Kind::Digest(length), cli.quiet, show_progress)
        }
        Command::Mac { key, sums: files } => {
            places::plan(&[("key", key.paths()), ("input", &files.files)], &[])?;
            let kind = keys::read_symmetric(key.required(), checksum_list::Kind::mac)?;
            files.run(&kind, cli.quiet, show_progress)
        }
        Command::Sum(args) => sum::run(args, cli.quiet, show_progress),
        Command::Key(command) => key::run(command),
        Command::Encrypt {
            secret,
            cost,
            deterministic,
            armor,
            threads,
            files,
        } => {
            threads.start_or_do_without()?;
            if secret.is_password() {
                password::warn_of_cost(cost.cost);
            }
            files.each(
                Make::Ciphertext(Kind::Encrypted),
                armor.armor,
                show_progress,
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
                Make::Plaintext(Kind::Encrypted),
                false,
                show_progress,
                secret.reader(&files.inputs, false)?,
                |_, input, output, secret| {
                    encrypted::decrypt(input, output, secret, max_cost.max_cost, range)
                },
            )
        }
        Command::HashPassword { password, cost } => {
            password::warn_of_cost(cost.cost);
            password::hash(&password.source(), cost.cost).map(|()| Status::Ok)
        }
        Command::VerifyPassword {
            password,
            max_cost,
            hash,
        } => {
            let hashes = std::slice::from_ref(hash);
            places::plan(&[("password", password.paths()), ("hash", hashes)], &[])?;
            password::verify(hash, &password.source(), max_cost.max_cost).map(|()| Status::Ok)
        }
        Command::Sign { key, comment, files } => {
            let read_key = key.reader(&files.inputs, &[], Private::sign)?;
            files.each(
                Make::Signature,
                false,
                show_progress,
                |_| read_key(),
                |file, input, output, key| signature::sign(file, input, output, key, comment.as_deref()),
            )
        }
        Command::Verify {
            from,
            signature,
            files,
        } => {
            let (public, signatures) = (from.from.as_slice(), signature.as_slice());
            places::plan(
                &[
                    ("public key", public),
                    ("signature", signatures),
                    ("input", files),
                ],
                &[],
            )?;
            if !cli.quiet {
                files::claim_stdout()?;
            }
            let signers = from.signers()?;
            if signature.is_some() && files.len() > 1 {
                return Err(Error::usage("--signature", "is for one file"));
            }
            each(files, |file| {
                signature::verify(&signers, file, signature.as_deref(), cli.quiet, show_progress)
            })
        }
        Command::Seal {
            key,
            anonymous,
            to,
            armor,
            threads,
            files,
        } => {
            threads.start_or_do_without()?;
            let read_key = key.reader(&files.inputs, to, Private::seal)?;
            let mut receivers = Receivers::new();
            for path in to {
                let found = keys::read_public(path)?.into_iter().map(|named| named.key.seal);
                receivers.extend(found.map(|key| (key.fingerprint().to_bytes(), key)));
            }
            files.each(
                Make::Ciphertext(Kind::Sealed),
                armor.armor,
                show_progress,
                |_| {
                    if *anonymous {
                        Ok(None)
                    } else {
                        read_key().map(Some)
                    }
                },
                |_, input, output, key| sealed::seal_file(input, output, key.as_ref(), &receivers),
            )
        }
        Command::Unseal {
            key,
            from,
            threads,
            files,
            ..
        } => {
            threads.start_or_do_without()?;
            let read_key = key.reader(&files.inputs, from.as_slice(), Private::seal)?;
            let senders = from.as_deref().map(keys::read_public).transpose()?;
            files.each(
                Make::Plaintext(Kind::Sealed),
                false,
                show_progress,
                |_| read_key(),
                |_, input, output, key| {
                    let name = input.name.clone();
                    let sender = sealed::unseal_file(input, output, key, senders.as_deref())?;
                    match sender {
                        Some(sender) if !cli.quiet => {
                            warn(format_args!("{name}: sealed by {}", sender.name));
                        }
                        None if !cli.quiet => warn(format_args!("{name}: nobody knows who sealed it")),
                        _ => {}
                    }
                    Ok(())
                },
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
