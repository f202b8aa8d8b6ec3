//! The commands of `key`.

use std::path::PathBuf;

use veriplex_files::error::{Error, Status};
use veriplex_files::{files, places};

use super::{Cost, each};
use crate::keys;
use crate::password::Source;
use crate::secrets::PasswordFrom;

#[derive(clap::Subcommand)]
pub enum Command {
    /// Make a random key in a file that only you may read
    ///
    /// It is a symmetric key, for mac, sum, encrypt and disk. With --private it is a private key, for sign, seal, unseal and
    /// tunnel; FILE.pub then has the public key, for others, and its fingerprint is printed. Whoever gets FILE.pub from you
    /// should compare the fingerprint with the one that `veriplex key inspect FILE.pub` shows.
    Generate {
        /// Make a private key, and its public key in FILE.pub
        #[arg(long)]
        private: bool,
        /// Put the private key under a password, which is asked for
        #[arg(short, long, requires = "private", conflicts_with = "PasswordFrom")]
        password: bool,
        #[command(flatten)]
        from: PasswordFrom,
        #[command(flatten)]
        cost: Cost,
        /// The file to make, which must not exist; - prints the key
        #[arg(value_name = "FILE")]
        path: PathBuf,
    },
    /// Print the public key of a private key
    Public {
        #[command(flatten)]
        from: PasswordFrom,
        /// The private key; - for standard input
        #[arg(value_name = "FILE")]
        path: PathBuf,
    },
    /// Print what the keys in files are, with their fingerprints, and nothing secret
    ///
    /// It asks for no password: of a private key under a password the fingerprint is not shown. FILE.pub has it.
    Inspect {
        /// Keys or lists of public keys; - or none for standard input
        #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
        files: Vec<PathBuf>,
    },
    /// Change, add or remove the password of a private key
    ///
    /// Copies of the file, such as backups, keep the old password. If that may be known to others, make a new key.
    Password {
        #[command(flatten)]
        from: PasswordFrom,
        /// Take the first line of a file for the new password, rather than ask for it; - for standard input
        #[arg(long, value_name = "FILE")]
        new_password_file: Option<PathBuf>,
        /// Leave the key without a password
        #[arg(long, conflicts_with_all = ["new_password_file", "cost"])]
        remove: bool,
        #[command(flatten)]
        cost: Cost,
        /// The private key, which is replaced when all is done
        #[arg(value_name = "FILE")]
        path: PathBuf,
    },
}

pub fn run(command: &Command) -> Result<Status, Error> {
    match command {
        Command::Generate {
            private: false,
            from,
            path,
            ..
        } => {
            if from.is_given() {
                return Err(Error::usage("a password", "is for a private key (--private)"));
            }
            keys::generate_symmetric(path)?;
        }
        Command::Generate {
            password,
            from,
            cost,
            path,
            ..
        } => {
            let source = from.source();
            let protection = (*password || from.is_given()).then_some((&source, cost.cost));
            keys::generate_private(path, protection)?;
        }
        Command::Public { from, path } => {
            files::stdout()?;
            places::plan(
                &[("password", from.paths()), ("key", std::slice::from_ref(path))],
                &[],
            )?;
            keys::print_public(path, &from.source())?;
        }
        Command::Inspect { files } => {
            files::stdout()?;
            return each(files, keys::inspect);
        }
        Command::Password {
            from,
            new_password_file,
            remove,
            cost,
            path,
        } => {
            let new = new_password_file.as_slice();
            places::plan(&[("old password", from.paths()), ("new password", new)], &[])?;
            let terminal = Source::Terminal("--new-password-file");
            let new = new_password_file.clone().map_or(terminal, Source::File);
            let new = (!remove).then_some((&new, cost.cost));
            keys::change_password(path, &from.source(), new)?;
        }
    }
    Ok(Status::Ok)
}
