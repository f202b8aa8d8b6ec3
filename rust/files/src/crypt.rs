//! What all encrypting commands share: secrets, inputs and outputs, and the beginning of files.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use veriplex::mhf::Mhf;
use veriplex::rand_core::SeedableRng;
use veriplex::rustcrypto::rand_core::Generator;
use veriplex::{Key, Label, Protocol, label};
use zeroize::Zeroizing;

use crate::armor;
use crate::error::{Error, warn};
use crate::files::{Existing, Input, Output, Readers, beside};
use crate::places::is_stdio;
use crate::terminal_quoting::quoted;

pub const SALT_LEN: usize = 32;
/// The extension of a signature; `.sig` is that of `GnuPG`.
pub const SIGNATURE_EXTENSION: &str = "vpsig";

/// A password, wiped on drop.
pub type Password = Zeroizing<Vec<u8>>;

/// What a file is encrypted with.
#[derive(Clone)]
pub enum Secret {
    Key(Key),
    Password(Password),
}

/// Fills the buffer with random numbers of the system.
pub fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::io("random numbers", error))
}

/// A generator seeded by the system. Drawing from it cannot fail, as drawing from the system can.
pub fn generator() -> Result<Generator, Error> {
    let mut seed = Zeroizing::new([0; 32]);
    random(seed.as_mut_slice())?;
    Ok(Generator::from_seed(*seed))
}

/// The protocol that this key has with a header and a salt.
pub fn keyed(domain: Label<'_>, header: &[u8], key: &Key, salt: &[u8; SALT_LEN]) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("header"), header);
    protocol.mix(label!("key"), key.as_bytes());
    protocol.mix(label!("nonce"), salt);
    protocol
}

/// Refuses an untrusted cost before any work.
pub fn check_cost(name: &str, cost: u8, max_cost: u8) -> Result<(), Error> {
    if cost > max_cost {
        return Err(Error::unverified(
            name,
            format_args!("its cost {cost} is above the limit of {max_cost} (--max-cost)"),
        ));
    }
    Ok(())
}

/// The key of a file.
pub fn stretch(password: &Password, cost: u8, salt: &[u8]) -> Result<Key, Error> {
    stretch_in(label!("veriplex.file.password.v1"), password, cost, salt)
}

/// The key in a domain.
pub fn stretch_in(domain: Label<'_>, password: &Password, cost: u8, salt: &[u8]) -> Result<Key, Error> {
    let mut key = Zeroizing::new([0; Key::<32>::LEN]);
    Mhf::with_any_cost(domain, cost)
        .and_then(|mhf| mhf.hash_into(password, salt, key.as_mut_slice()))
        .map_err(|error| Error::io("password", error))?;
    Ok(Key::from(*key))
}

/// The kinds of encrypted files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// With a key or a password.
    Encrypted,
    /// To public keys.
    Sealed,
}

impl Kind {
    const ALL: [Self; 2] = [Self::Encrypted, Self::Sealed];

    /// The extension of such a file.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Encrypted => "vpx",
            Self::Sealed => "sealed",
        }
    }

    /// What a file is, judging by its name.
    fn of(file: &Path) -> Option<Self> {
        let extension = file.extension()?;
        Self::ALL.into_iter().find(|kind| extension == kind.extension())
    }

    /// The beginning of such a file, with its version.
    pub fn header(self, version: u8) -> Vec<u8> {
        let mut header = self.magic().to_vec();
        header.push(version);
        header
    }

    fn magic(self) -> &'static [u8; 8] {
        match self {
            Self::Encrypted => b"VERIPLEX",
            Self::Sealed => b"VPX-SEAL",
        }
    }

    /// Reads the beginning, perhaps in armor, and returns the version.
    pub fn read_version(self, input: &mut Input) -> Result<u8, Error> {
        input.unwrap_armor()?;
        let header: [u8; 9] = read_array(input, "encrypted")?;
        let [magic @ .., version] = header;
        let reason = match Self::ALL.into_iter().find(|kind| *kind.magic() == magic) {
            Some(found) if found == self => return Ok(version),
            Some(Self::Encrypted) => "encrypted with a key or a password; use veriplex decrypt",
            Some(Self::Sealed) => "sealed to a public key; use veriplex unseal",
            None => {
                let mut begin = header.to_vec();
                // Even if it cannot be read, it is no veriplex file.
                let _ = input.take(1024).read_to_end(&mut begin);
                armor::problem(&begin).unwrap_or("not a veriplex file")
            }
        };
        Err(Error::unverified(&input.name, reason))
    }
}

/// What an encrypted file holds; the last byte of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Content {
    File = 0,
    /// As a tar stream.
    Folder = 1,
}

impl Content {
    pub fn of(input: &Input) -> Self {
        if input.is_folder() {
            Self::Folder
        } else {
            Self::File
        }
    }

    pub fn from_byte(byte: u8) -> Option<Self> {
        [Self::File, Self::Folder]
            .into_iter()
            .find(|&content| content as u8 == byte)
    }
}

/// A file of this kind that this program does not know.
pub fn other_version(name: &str) -> Error {
    Error::unverified(name, "made by another version of veriplex")
}

/// What is made of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Make {
    Ciphertext(Kind),
    Plaintext(Kind),
    /// Anybody may read it.
    Signature,
}

/// The input and the output, and how to handle them.
pub struct Job<'a> {
    pub input: &'a Path,
    pub output: Option<&'a Path>,
    pub force: bool,
    /// Write ciphertext as text.
    pub armor: bool,
    pub show_progress: bool,
}

/// The wanted part of the plaintext; by default all.
#[derive(Clone, Copy, Default)]
pub struct Range {
    pub offset: u64,
    /// To the end, if not given.
    pub length: Option<u64>,
}

impl Range {
    pub fn is_whole(&self) -> bool {
        self.offset == 0 && self.length.is_none()
    }

    /// The wanted part of the next piece of plaintext, which begins at `at`.
    pub fn of<'p>(&self, at: u64, piece: &'p [u8]) -> &'p [u8] {
        let place = |wanted: u64| {
            let ahead = wanted.saturating_sub(at);
            usize::try_from(ahead).map_or(piece.len(), |ahead| ahead.min(piece.len()))
        };
        let end = self.offset.saturating_add(self.length.unwrap_or(u64::MAX));
        &piece[place(self.offset)..place(end)]
    }

    /// Nothing: the range begins beyond the end of the plaintext.
    pub fn beyond(&self, name: &str, len: u64) -> Error {
        Error::usage(
            name,
            format_args!("offset {} is beyond the plaintext of {len} bytes", self.offset),
        )
    }
}

/// Whether outputs go into the folder with this name.
pub fn is_in_folder(output: &Path) -> bool {
    !is_stdio(output) && output.is_dir()
}

impl Job<'_> {
    /// Where the output goes: the input's name with this extension.
    pub fn encrypted(&self, extension: &str) -> Result<PathBuf, Error> {
        self.destination(|| {
            if is_stdio(self.input) {
                return Ok(self.input.to_owned());
            }
            let name = (self.input.file_name()).ok_or_else(|| {
                Error::usage(&quoted(self.input), "has no file name: name the output with -o")
            })?;
            // Not after the slash that ends a folder's name.
            Ok(beside(&self.input.with_file_name(name), extension))
        })
    }

    /// Where the content of the input, which has this extension, goes.
    pub fn decrypted(&self, extension: &str) -> Result<PathBuf, Error> {
        self.destination(|| {
            if is_stdio(self.input) {
                Ok(self.input.to_owned())
            } else if self.input.extension().is_some_and(|found| found == extension) {
                let name = self.input.with_extension("");
                // Not standard output.
                Ok(if is_stdio(&name) {
                    Path::new(".").join(name)
                } else {
                    name
                })
            } else {
                let advice = match Kind::of(self.input) {
                    Some(Kind::Encrypted) => "use veriplex decrypt",
                    Some(Kind::Sealed) => "use veriplex unseal",
                    None => "name the output file with -o",
                };
                let reason = format_args!("does not end in .{extension}: {advice}");
                Err(Error::usage(&quoted(self.input), reason))
            }
        })
    }

    /// The named output, or the usual name in it if it is a folder; without one, the usual name.
    fn destination(&self, usual: impl FnOnce() -> Result<PathBuf, Error>) -> Result<PathBuf, Error> {
        match self.output {
            None => usual(),
            Some(folder) if is_in_folder(folder) && !is_stdio(self.input) => {
                Ok(folder.join(usual()?.file_name().unwrap_or_default()))
            }
            Some(path) => Ok(path.to_owned()),
        }
    }

    /// Where it goes.
    pub fn to(&self, make: Make) -> Result<PathBuf, Error> {
        match make {
            Make::Ciphertext(kind) => self.encrypted(kind.extension()),
            Make::Plaintext(kind) => self.decrypted(kind.extension()),
            Make::Signature => self.encrypted(SIGNATURE_EXTENSION),
        }
    }

    /// The input, and the output.
    pub fn open(&self, make: Make) -> Result<(Input, Output), Error> {
        let output = match make {
            Make::Ciphertext(kind) => self.output_of_ciphertext(kind.extension(), Readers::Any)?,
            Make::Plaintext(_) => self.output_of_plaintext(&self.to(make)?)?,
            Make::Signature => self.output(&self.to(make)?, Readers::Any)?,
        };
        // A bar would be drawn into the plaintext.
        let shows_progress = self.show_progress && !output.is_terminal();
        let Make::Ciphertext(_) = make else {
            return Ok((Input::open(self.input, shows_progress)?, output));
        };
        let input = Input::open_any(self.input, shows_progress)?;
        if Kind::of(self.input).is_some() {
            warn(format_args!(
                "{}: encrypted already, judging by its name; encrypting it again",
                input.name
            ));
        }
        Ok((input, output))
    }

    /// Where plaintext goes, which only its owner can read.
    pub fn output_of_plaintext(&self, destination: &Path) -> Result<Output, Error> {
        self.output(destination, Readers::Owner)
    }

    fn output(&self, destination: &Path, readers: Readers) -> Result<Output, Error> {
        // Nothing is created beside a device or a named pipe.
        let is_special = |found: Metadata| !found.is_file() && !found.is_dir();
        if self.output.is_none() && !is_stdio(self.input) && self.input.metadata().is_ok_and(is_special) {
            return Err(Error::usage(
                &quoted(self.input),
                "not a regular file: name the output with -o",
            ));
        }
        Output::create(destination, Existing::forced(self.force), readers)
    }

    pub fn output_of_ciphertext(&self, extension: &str, readers: Readers) -> Result<Output, Error> {
        let output = self.output(&self.encrypted(extension)?, readers)?;
        if self.armor {
            return Ok(output.armored());
        }
        if output.is_terminal() && !self.force {
            return Err(Error::usage(
                &output.name,
                "ciphertext is not written to a terminal (--armor writes text; --force writes it anyway)",
            ));
        }
        Ok(output)
    }
}

/// The next bytes of a header; `made` says how the file should have been made.
pub fn read_array<const N: usize>(input: &mut Input, made: &str) -> Result<[u8; N], Error> {
    let mut array = [0; N];
    match input.read_header(&mut array) {
        Ok(()) => Ok(array),
        Err(error) if is_end(&error) => Err(Error::unverified(
            &input.name,
            format_args!("too short: not {made} by veriplex"),
        )),
        Err(error) => Err(Error::read(&input.name, &error)),
    }
}

/// Whether the input ended, as opposed to an error of the system.
pub fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof && error.raw_os_error().is_none()
}
