//! The commands of `disk`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;

use super::secrets::SecretArgs;
use super::{Cost, MaxCost, Threads};
use crate::crypt::{Job, Range};
use crate::disk::convert::{self, BATCH, Files, Request};
use crate::disk::header::SECTOR_LEN;
use crate::disk::image::Image;
use crate::disk::serve::Address;
use crate::disk::{Direction, copy, serve};
use crate::error::{Error, Status};
use crate::password;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Encrypt an image or a block device; IMAGE becomes IMAGE.vpdisk, beside its header IMAGE.vpdisk.vphead
    ///
    /// Each sector is encrypted in its place, with a key of its own for each image. Nothing is authenticated: a change is
    /// not noticed, and makes noise of its sector. Keep the header: without it nothing can be decrypted.
    Encrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        cost: Cost,
        /// Size of a sector in bytes, 4096 if not given
        #[arg(long, value_name = "N",
            value_parser = PossibleValuesParser::new(["512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"]))]
        sector_size: Option<String>,
        /// Encrypt from this byte on; what is before stays as it is
        #[arg(long, value_name = "N")]
        offset: Option<u64>,
        /// Encrypt this many bytes; what is behind them stays as it is
        #[arg(short, long, value_name = "N")]
        length: Option<u64>,
        #[command(flatten)]
        target: Target,
    },
    /// Decrypt an image or a block device; IMAGE.vpdisk becomes IMAGE
    ///
    /// Only the key is verified, and that the header is that of the image: sectors that were changed become noise, without
    /// an error. With --in-place, the header stays as IMAGE.vphead.old, which copies of the encrypted image need.
    Decrypt {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        max_cost: MaxCost,
        /// Give only the decrypted image from this byte on
        #[arg(long, value_name = "N", conflicts_with = "in_place")]
        offset: Option<u64>,
        /// Give at most this many bytes of it
        #[arg(short, long, value_name = "N", conflicts_with = "in_place")]
        length: Option<u64>,
        #[command(flatten)]
        check: Check,
        #[command(flatten)]
        target: Target,
    },
    /// Serve an encrypted image, decrypted, as a block device for NBD clients of this machine
    ///
    /// It prints where they connect, and runs until SIGINT or SIGTERM. NBD asks nobody who they are: whoever can
    /// connect has the disk. Through --socket that is only you.
    Serve {
        #[command(flatten)]
        secret: SecretArgs,
        #[command(flatten)]
        max_cost: MaxCost,
        #[command(flatten)]
        address: AddressArgs,
        /// Refuse what would change the image
        #[arg(short, long)]
        read_only: bool,
        /// Where the header is, if not in IMAGE.vphead; needed for block devices
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
    /// Make a Unix socket here, through which only you may connect
    #[arg(short, long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Listen on TCP at a loopback address, such as 127.0.0.1:10809: everybody on this machine may connect
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
    /// Do not check that the header is that of IMAGE; needed if another program rewrote all of it
    #[arg(long)]
    no_check: bool,
}

#[derive(clap::Args)]
pub struct Target {
    /// Where the header is, if not in IMAGE.vphead; needed for block devices
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
    /// Change IMAGE itself; after an interruption, the same command goes on
    #[arg(long)]
    in_place: bool,
    /// Where the result goes; - for standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "in_place")]
    output: Option<PathBuf>,
    /// Replace an existing output and header, and write to a device
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
        let files = Files::new(Image::open_any(&self.image, true)?, header);
        if request.direction == Direction::Decrypt {
            files.image.check_private()?;
        }
        convert::in_place(
            &files,
            |sector_len, offset, len| files.image.geometry(sector_len, offset, len),
            request,
            |new| secret.read(&[], new),
            show_progress,
        )
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
            target,
        } => {
            target.threads.start_or_do_without()?;
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
                    is_checked: true,
                    batch: BATCH,
                };
                target.in_place(&request, secret, show_progress)?;
            } else {
                let header = target.header.as_deref();
                let secret = secret.read(&[], true)?;
                copy::encrypt(
                    &target.job(show_progress),
                    sector_len.unwrap_or(SECTOR_LEN),
                    offset.unwrap_or(0),
                    *length,
                    header,
                    &secret,
                    cost.cost,
                )?;
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
                let secret = secret.read(&[], false)?;
                copy::decrypt(
                    &target.job(show_progress),
                    header,
                    &secret,
                    max_cost.max_cost,
                    !check.no_check,
                    range,
                )?;
            }
        }
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
            threads.start()?;
            let address = address.address()?;
            let export = serve::open(
                image,
                header.as_deref(),
                *read_only,
                || secret.read(&[], false),
                max_cost.max_cost,
                !check.no_check,
            )?;
            serve::serve(export, &address, quiet)?;
        }
    }
    Ok(Status::Ok)
}
