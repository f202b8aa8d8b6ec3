//! The commands of `disk`.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;

use super::secrets::SecretArgs;
use super::{Cost, MaxCost, Threads};
use crate::crypt::{Job, Range, Secret};
use crate::disk::convert::{self, BATCH, Files, Request};
use crate::disk::copy::{Plan, Source};
use crate::disk::header::SECTOR_LEN;
use crate::disk::image::Image;
use crate::disk::serve::Address;
use crate::disk::{Direction, copy, info, serve};
use crate::error::{Error, Status};
use crate::files::stdout;
use crate::names::quoted;
use crate::{password, purposes};

#[derive(clap::Subcommand)]
pub enum Command {
    /// Encrypt an image or a block device; IMAGE becomes IMAGE.vpdisk, beside its header IMAGE.vpdisk.vphead
    ///
    /// Each sector is encrypted in place, under a key unique to the image. Nothing is authenticated: a changed sector
    /// decrypts to noise, without an error. Keep the header: without it nothing can be decrypted.
    Encrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        cost: Cost,
        /// Sector size in bytes (default: 4096)
        #[arg(long, value_name = "N",
            value_parser = PossibleValuesParser::new(["512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"]))]
        sector_size: Option<String>,
        /// Encrypt from this byte on; earlier bytes stay unchanged
        #[arg(long, value_name = "N")]
        offset: Option<u64>,
        /// Encrypt this many bytes; later bytes stay unchanged
        #[arg(short, long, value_name = "N")]
        length: Option<u64>,
        /// Take IMAGE, and an output that is overwritten, for whole even if they look half converted, as content that begins
        /// with VPX-HALF does
        #[arg(long)]
        no_check: bool,
        #[command(flatten)]
        target: Target,
    },
    /// Decrypt an image or a block device; IMAGE.vpdisk becomes IMAGE
    ///
    /// Verifies the key, and that the header belongs to the image. Changed sectors decrypt to noise, without an error.
    /// With --in-place, the header is kept as IMAGE.vphead.old, for copies of the encrypted image.
    Decrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        max_cost: MaxCost,
        /// Output the decrypted image from this byte on
        #[arg(long, value_name = "N", conflicts_with = "in_place")]
        offset: Option<u64>,
        /// Output at most this many bytes
        #[arg(short, long, value_name = "N", conflicts_with = "in_place")]
        length: Option<u64>,
        #[command(flatten)]
        check: Check,
        #[command(flatten)]
        target: Target,
    },
    /// Show what the header of an encrypted image says: how it is unlocked, its sectors, and conversions under way
    ///
    /// No key is needed, so nothing shown is verified.
    Info {
        /// The header (default: IMAGE.vphead); required for block devices
        #[arg(long, value_name = "FILE")]
        header: Option<PathBuf>,
        /// The encrypted image or block device
        #[arg(value_name = "IMAGE")]
        image: PathBuf,
    },
    /// Serve an encrypted image, decrypted, as a block device for NBD clients of this machine
    ///
    /// Prints the address for clients, and runs until SIGHUP, SIGINT or SIGTERM. NBD has no authentication: whoever can connect
    /// can read and write the disk. With --socket, that is only you.
    Serve {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        max_cost: MaxCost,
        #[command(flatten)]
        address: AddressArgs,
        /// Refuse writes
        #[arg(short, long)]
        read_only: bool,
        /// The header (default: IMAGE.vphead); required for block devices
        #[arg(long, value_name = "FILE")]
        header: Option<PathBuf>,
        #[command(flatten)]
        check: Check,
        #[command(flatten)]
        threads: Threads,
        /// The encrypted image or block device
        #[arg(value_name = "IMAGE")]
        image: PathBuf,
    },
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
pub struct AddressArgs {
    /// Listen on a Unix socket, to which only you can connect
    #[arg(short, long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Listen on a loopback address such as 127.0.0.1:10809, to which every user of this machine can connect
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
}

impl AddressArgs {
    fn address(&self) -> Result<Address, Error> {
        match (&self.socket, &self.listen) {
            (Some(path), _) => Ok(Address::Unix(path.clone())),
            (None, Some(listen)) => Address::tcp(listen),
            (None, None) => Err(Error::usage("--socket", "is needed, or --listen")),
        }
    }
}

#[derive(clap::Args)]
pub struct Check {
    /// Do not check that the header belongs to IMAGE; needed after another program rewrote all of it
    #[arg(long)]
    no_check: bool,
}

#[derive(clap::Args)]
pub struct Target {
    /// The header (default: IMAGE.vphead); required for block devices
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
    /// Convert IMAGE itself; after an interruption, the same command continues
    #[arg(long)]
    in_place: bool,
    /// Output file, or an existing folder for it; - for standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Overwrite an existing output and header; write to a device
    #[arg(short, long, conflicts_with = "in_place")]
    force: bool,
    #[command(flatten)]
    threads: Threads,
    /// The image or block device
    #[arg(value_name = "IMAGE")]
    image: PathBuf,
}

impl Target {
    fn job(&self, show_progress: bool) -> Job<'_> {
        Job {
            input: &self.image,
            output: self.output.as_deref(),
            force: self.force,
            armor: false,
            show_progress,
        }
    }

    fn in_place(&self, request: &Request, secret: &SecretArgs, show_progress: bool) -> Result<(), Error> {
        let header = copy::header_path(&self.image, self.header.as_deref())?;
        let files = Files::new(Image::open_any(&self.image, true)?, header)?;
        if request.direction == Direction::Decrypt {
            files.image.check_private()?;
        }
        convert::in_place(
            &files,
            |sector_len, offset, len| files.image.geometry(sector_len, offset, len),
            request,
            |new| secret.read(&files.image.name, new),
            show_progress,
        )
    }
}

/// An error if the image is also the header or what the secret is read from, or both of these are one.
fn check_purposes(secret: &SecretArgs, image: &Path, header: Option<&Path>) -> Result<(), Error> {
    let secrets: Vec<_> = secret.paths().collect();
    let what = if secret.is_password() { "password" } else { "key" };
    purposes::check(&[
        (what, &secrets),
        ("header", header.as_slice()),
        ("image", &[image]),
    ])
}

fn source<'a>(secret: &'a SecretArgs, read: &'a dyn Fn() -> Result<Secret, Error>) -> Source<'a> {
    Source {
        files: secret.paths().collect(),
        read,
    }
}

#[allow(clippy::too_many_lines)] // one arm per command
pub fn run(command: &Command, quiet: bool, show_progress: bool) -> Result<Status, Error> {
    match command {
        Command::Encrypt {
            secret,
            cost,
            sector_size,
            offset,
            length,
            no_check,
            target,
        } => {
            target.threads.start_or_do_without()?;
            // A new header is an output.
            let header = target.header.as_deref().filter(|_| target.in_place);
            check_purposes(secret, &target.image, header)?;
            if secret.is_password() {
                password::warn_of_cost(cost.cost);
            }
            let sector_len = sector_size.as_ref().and_then(|size| size.parse().ok());
            if target.in_place {
                let request = Request {
                    direction: Direction::Encrypt,
                    sector_len,
                    offset: *offset,
                    len: *length,
                    cost: cost.cost,
                    // Of work that goes on.
                    max_cost: cost.cost.max(*password::COSTS.end()),
                    is_checked: !no_check,
                    batch: BATCH,
                };
                target.in_place(&request, secret, show_progress)?;
            } else {
                let header = target.header.as_deref();
                let plan = Plan {
                    sector_len: sector_len.unwrap_or(SECTOR_LEN),
                    offset: offset.unwrap_or(0),
                    len: *length,
                    cost: cost.cost,
                    is_checked: !no_check,
                };
                let read = || secret.read(&quoted(&target.image), true);
                copy::encrypt(&target.job(show_progress), header, &source(secret, &read), &plan)?;
            }
        }
        Command::Decrypt {
            secret,
            max_cost,
            offset,
            length,
            check,
            target,
        } => {
            target.threads.start_or_do_without()?;
            check_purposes(secret, &target.image, target.header.as_deref())?;
            if target.in_place {
                let request = Request {
                    direction: Direction::Decrypt,
                    sector_len: None,
                    offset: None,
                    len: None,
                    cost: 0,
                    max_cost: max_cost.max_cost,
                    is_checked: !check.no_check,
                    batch: BATCH,
                };
                target.in_place(&request, secret, show_progress)?;
            } else {
                let range = Range {
                    offset: offset.unwrap_or(0),
                    length: *length,
                };
                let header = target.header.as_deref();
                copy::decrypt(
                    &target.job(show_progress),
                    header,
                    &source(secret, &|| secret.read(&quoted(&target.image), false)),
                    max_cost.max_cost,
                    !check.no_check,
                    range,
                )?;
            }
        }
        Command::Info { header, image } => info::print(image, header.as_deref())?,
        Command::Serve {
            secret,
            max_cost,
            address,
            read_only,
            header,
            check,
            threads,
            image,
        } => {
            if !quiet {
                stdout()?;
            }
            check_purposes(secret, image, header.as_deref())?;
            threads.start()?;
            let address = address.address()?;
            let export = serve::open(
                image,
                header.as_deref(),
                *read_only,
                || secret.read(&quoted(image), false),
                max_cost.max_cost,
                !check.no_check,
            )?;
            serve::serve(export, &address, quiet)?;
        }
    }
    Ok(Status::Ok)
}
