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
    /// By default it is a symmetric key, for mac, sum, encrypt and disk. With --private it is a private key, for sign,
    /// seal, unseal and tunnel; its public key, to give to others, is written to FILE.pub, and the fingerprint is
    /// printed. Whoever receives FILE.pub should compare that fingerprint with what `veriplex key inspect FILE.pub`
    /// shows.
    Generate {
        /// Make a private key, and its public key in FILE.pub
        #[arg(long)]
        private: bool,
        /// Ask for a password, and protect the private key with it
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
    /// Print the kinds and fingerprints of the keys in files, and nothing secret
    ///
    /// It asks for no password, so it cannot show the fingerprint of a private key that has one. Inspect FILE.pub
    /// instead.
    Inspect {
        /// Keys or lists of public keys; - or none for standard input
        #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
        files: Vec<PathBuf>,
    },
    /// Change, add or remove the password of a private key
    ///
    /// Copies of the file, such as backups, keep the old password. If others may know it, make a new key.
    Password {
        #[command(flatten)]
        from: PasswordFrom,
        /// Read the new password from the first line of this file; - for standard input
        #[arg(long, value_name = "FILE")]
        new_password_file: Option<PathBuf>,
        /// Remove the password
        #[arg(long, conflicts_with_all = ["new_password_file", "cost"])]
        remove: bool,
        #[command(flatten)]
        cost: Cost,
        /// The private key; the file is replaced only if everything succeeds
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
