//! The commands of `disk`.

use std::path::{Path, PathBuf};
use std::slice;

use clap::builder::PossibleValuesParser;
use veriplex::with_wiped_stack;
use veriplex_disk::convert::{self, BATCH, Files, Request};
use veriplex_disk::copy::{How, Opened, Plan};
use veriplex_disk::header::{SECTOR_LEN, SECTOR_LENS};
use veriplex_disk::image::{Access, Image, check_other};
use veriplex_disk::plain::Plain;
use veriplex_disk::serve::Address;
use veriplex_disk::{Direction, EXTENSION, copy, info, serve, table};
use veriplex_files::crypt::{Job, Range, Secret};
use veriplex_files::error::{Error, Status};
use veriplex_files::files::stdout;
use veriplex_files::places;
use veriplex_files::terminal_quoting::quoted;

use super::{Cost, MaxCost, Threads};
use crate::password;
use crate::secrets::SecretArgs;

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
            value_parser = PossibleValuesParser::new(SECTOR_SIZES))]
        sector_size: Option<String>,
        /// Encrypt from this byte on; earlier bytes stay unchanged
        #[arg(long, value_name = "N")]
        offset: Option<u64>,
        /// Encrypt this many bytes; later bytes stay unchanged
        #[arg(short, long, value_name = "N")]
        length: Option<u64>,
        /// Accept an IMAGE, or an output to overwrite, that looks half converted because its content begins with
        /// VPX-HALF
        #[arg(long)]
        no_check: bool,
        #[command(flatten)]
        target: Target,
    },
    /// Decrypt an image or a block device; IMAGE.vpdisk becomes IMAGE
    ///
    /// Verifies the key, and that the header belongs to the image. Changed sectors decrypt to noise, without an error.
    /// With --in-place, the header is kept as IMAGE.vphead.old, for copies of the encrypted image. Any program that
    /// already has the image open, whoever runs it, can then read the plaintext.
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
        plain: PlainArgs,
        #[command(flatten)]
        target: Target,
    },
    /// Show what the header of an encrypted image says: how it is unlocked, its sectors, and any conversion under way
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
        /// Let clients discard sectors (TRIM); these read as noise until they are written again
        ///
        /// This makes holes in the image, which show which sectors are unused.
        #[arg(long, conflicts_with = "read_only")]
        trim: bool,
        /// The header (default: IMAGE.vphead); required for block devices
        #[arg(long, value_name = "FILE")]
        header: Option<PathBuf>,
        #[command(flatten)]
        check: Check,
        #[command(flatten)]
        plain: PlainArgs,
        #[command(flatten)]
        threads: Threads,
        /// The encrypted image or block device
        #[arg(value_name = "IMAGE")]
        image: PathBuf,
    },
    /// Print the table from which `dmsetup create` maps an encrypted block device, which Linux then decrypts itself
    ///
    /// The table contains the key of the sectors, unless --keyring names it. While the disk is mapped, the kernel has
    /// the key, and root can read it.
    Table {
        #[command(flatten)]
        opening: Opening,
        /// Refer to the key in the kernel's keyring: a key of type logon with this description, such as veriplex:NAME
        #[arg(long, value_name = "DESCRIPTION")]
        keyring: Option<String>,
        /// The encrypted block device
        #[arg(value_name = "DEVICE")]
        image: PathBuf,
    },
    /// Print the key of the sectors, 32 raw bytes, for cryptsetup, or `keyctl padd`
    ///
    /// It opens this one disk until that is encrypted anew, even if the key file is lost or the password changes.
    Key {
        #[command(flatten)]
        opening: Opening,
        /// The encrypted image or block device
        #[arg(value_name = "IMAGE")]
        image: PathBuf,
    },
}

/// How an image with a header is opened.
#[derive(clap::Args)]
pub struct Opening {
    #[command(flatten)]
    secret: SecretArgs,
    #[command(flatten)]
    max_cost: MaxCost,
    /// The header (default: IMAGE.vphead); required for block devices
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
    #[command(flatten)]
    check: Check,
    #[command(flatten)]
    threads: Threads,
}

impl Opening {
    /// Opens it, and leaves no copy of a key on the stack.
    fn open<T>(&self, image: &PathBuf, work: impl FnOnce(&Opened) -> Result<T, Error>) -> Result<T, Error> {
        self.threads.start_or_do_without()?;
        plan(&self.secret, image, self.header.as_ref(), &[])?;
        let how = how(
            &PlainArgs::default(),
            self.header.as_deref(),
            &self.max_cost,
            &self.check,
        );
        with_wiped_stack(|| {
            let opened = copy::open(image, &how, Access::Look, || {
                self.secret.read(&quoted(image), false)
            })?;
            work(&opened)
        })
    }
}

/// The sector sizes that the command line accepts.
const SECTOR_SIZES: [&str; 8] = ["512", "1024", "2048", "4096", "8192", "16384", "32768", "65536"];

#[derive(clap::Args, Default)]
pub struct PlainArgs {
    /// Open what dm-crypt made with xchacha12,aes-adiantum-plain64 and --iv-large-sectors: KEYFILE has 32 raw bytes,
    /// and there is no header
    #[arg(long, conflicts_with_all = ["header", "no_check", "password", "PasswordFrom", "max_cost"])]
    plain: bool,
    /// With --plain: sector size in bytes (default: 512)
    #[arg(long, value_name = "N", requires = "plain", value_parser = PossibleValuesParser::new(SECTOR_SIZES))]
    sector_size: Option<String>,
    /// With --plain: the encrypted part begins at this byte
    #[arg(
        long,
        value_name = "N",
        requires = "plain",
        default_value_t = 0,
        hide_default_value = true
    )]
    start: u64,
    /// With --plain: the encrypted part has this many bytes
    #[arg(long, value_name = "N", requires = "plain")]
    size: Option<u64>,
}

impl PlainArgs {
    fn read(&self, secret: &SecretArgs, image: &Path) -> Result<Secret, Error> {
        if self.plain {
            secret.read_raw()
        } else {
            secret.read(&quoted(image), false)
        }
    }
}

fn how<'a>(plain: &PlainArgs, header: Option<&'a Path>, max_cost: &MaxCost, check: &Check) -> How<'a> {
    if plain.plain {
        return How::Plain(Plain {
            sector_len: sector_len(plain.sector_size.as_ref()).unwrap_or(*SECTOR_LENS.start()),
            start: plain.start,
            len: plain.size,
        });
    }
    How::Header {
        path: header,
        max_cost: max_cost.max_cost,
        is_checked: !check.no_check,
    }
}

fn sector_len(size: Option<&String>) -> Option<usize> {
    size.and_then(|size| size.parse().ok())
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
    /// Do not check that the header belongs to IMAGE or that IMAGE is whole; needed after another program has rewritten
    /// all of it
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

    /// All that is written, or may be.
    fn written(&self, direction: Direction) -> Result<Vec<PathBuf>, Error> {
        let header = |image: &Path| copy::header_files(image, self.header.as_deref());
        if self.in_place {
            return Ok(header(&self.image)?.to_vec());
        }
        let job = self.job(false);
        let output = match direction {
            Direction::Encrypt => job.encrypted(EXTENSION)?,
            Direction::Decrypt => job.decrypted(EXTENSION)?,
        };
        check_other(&self.image, &output)?;
        let mut written = match direction {
            Direction::Encrypt => header(&output)?.to_vec(),
            Direction::Decrypt => Vec::new(),
        };
        written.push(output);
        Ok(written)
    }

    fn in_place(&self, request: &Request, secret: &SecretArgs, show_progress: bool) -> Result<(), Error> {
        let header = copy::header_path(&self.image, self.header.as_deref())?;
        let files = Files::new(Image::open_any(&self.image, Access::Write)?, &header)?;
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

/// Plans what is read of these, and what is written.
fn plan(
    secret: &SecretArgs,
    image: &PathBuf,
    read: Option<&PathBuf>,
    written: &[PathBuf],
) -> Result<(), Error> {
    let [key, password] = secret.uses();
    let header = ("header", read.map_or(&[][..], slice::from_ref));
    let uses = [key, password, header, ("image", slice::from_ref(image))];
    places::plan(&uses, written)
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
            plan(secret, &target.image, None, &target.written(Direction::Encrypt)?)?;
            if secret.is_password() {
                password::warn_of_cost(cost.cost);
            }
            let sector_len = sector_len(sector_size.as_ref());
            if target.in_place {
                let request = Request {
                    direction: Direction::Encrypt,
                    sector_len,
                    offset: *offset,
                    len: *length,
                    cost: cost.cost,
                    // Progress of work that continues.
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
                copy::encrypt(&target.job(show_progress), header, &read, &plan)?;
            }
        }
        Command::Decrypt {
            secret,
            max_cost,
            offset,
            length,
            check,
            plain,
            target,
        } => {
            target.threads.start_or_do_without()?;
            let read = if target.in_place || plain.plain {
                None
            } else {
                Some(copy::header_path(&target.image, target.header.as_deref())?)
            };
            let written = target.written(Direction::Decrypt)?;
            plan(secret, &target.image, read.as_ref(), &written)?;
            if target.in_place && plain.plain {
                return Err(Error::usage("--plain", "cannot be used with --in-place"));
            }
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
                copy::decrypt(
                    &target.job(show_progress),
                    &how(plain, target.header.as_deref(), max_cost, check),
                    &|| plain.read(secret, &target.image),
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
            trim,
            header,
            check,
            plain,
            threads,
            image,
        } => {
            let written = if plain.plain {
                Vec::new()
            } else {
                copy::header_files(image, header.as_deref())?.to_vec()
            };
            plan(secret, image, None, &written)?;
            if !quiet {
                stdout()?;
            }
            threads.start()?;
            let address = address.address()?;
            let export = serve::open(
                image,
                &how(plain, header.as_deref(), max_cost, check),
                *read_only,
                *trim,
                || plain.read(secret, image),
            )?;
            serve::serve(export, &address, quiet)?;
        }
        Command::Table {
            opening,
            keyring,
            image,
        } => opening.open(image, |opened| {
            table::print_line(image, opened, keyring.as_deref())
        })?,
        Command::Key { opening, image } => opening.open(image, table::print_key)?,
    }
    Ok(Status::Ok)
}
