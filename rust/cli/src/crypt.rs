//! Encrypted files: `VERIPLEX`, the version, and what belongs to it.
//!
//! | version | next | then, to the end |
//! |---|---|---|
//! | 0x01, a key | random salt (32 bytes) | the plaintext as an aestream |
//! | 0x02, a password | cost (1 byte), random salt (32 bytes) | the plaintext as an aestream |
//! | 0x03, a key, deterministic | SIV tag (16 bytes) | the ciphertext of SIV |
//!
//! The protocol of a stream is Init `veriplex.file.v1`, Mix `header` (all before the salt), Mix `key` (32 bytes), Mix
//! `nonce` (the salt). The memory-hard hash makes the key from a password, in the domain
//! `veriplex.file.password.v1`, with the salt. SIV is in the domain `veriplex.file.siv.v1`, with no nonce; its
//! associated data are the first nine bytes.

use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use subtle::ConstantTimeEq;
use veriplex::aestream::{OpenReader, SealWriter};
use veriplex::{Key, Protocol, TAG_LEN, label};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::files::{CHUNK, Input, Output, is_stdio, printable};
use crate::password::{self, Password};

const MAGIC: &[u8; 8] = b"VERIPLEX";
const SALT_LEN: usize = 32;
/// The extension of an encrypted file.
const EXTENSION: &str = "vpx";
/// How it is made.
const ENCRYPTED: &str = "encrypted";

/// What a file is encrypted with.
pub enum Secret {
    Key(Key),
    Password(Password),
}

/// The versions of the format.
#[derive(Clone, Copy)]
#[repr(u8)]
enum Version {
    Key = 1,
    Password = 2,
    Deterministic = 3,
}

impl Version {
    const ALL: [Self; 3] = [Self::Key, Self::Password, Self::Deterministic];

    /// The first bytes of a file.
    fn header(self) -> Vec<u8> {
        [MAGIC.as_slice(), &[self as u8]].concat()
    }

    fn read(input: &mut Input) -> Result<Self, Error> {
        let header: [u8; MAGIC.len() + 1] = read_array(input, ENCRYPTED)?;
        if !header.starts_with(MAGIC) {
            return Err(Error::unverified(&input.name, "not encrypted by veriplex"));
        }
        let found = Self::ALL.into_iter().find(|version| version.header() == header);
        found.ok_or_else(|| Error::unverified(&input.name, "made by another version of veriplex"))
    }
}

fn keyed(header: &[u8], key: &Key, salt: &[u8; SALT_LEN]) -> Protocol {
    let mut protocol = Protocol::new(label!("veriplex.file.v1"));
    protocol.mix(label!("header"), header);
    protocol.mix(label!("key"), key.as_bytes());
    protocol.mix(label!("nonce"), salt);
    protocol
}

/// The input and the output, and how to handle them.
pub struct Job<'a> {
    pub input: &'a Path,
    pub output: Option<&'a Path>,
    pub force: bool,
    pub show_progress: bool,
}

impl Job<'_> {
    /// Where a file with this extension goes that is made of the input.
    fn encrypted(&self, extension: &str) -> PathBuf {
        self.output.map_or_else(
            || {
                let mut name = self.input.as_os_str().to_owned();
                if !is_stdio(self.input) {
                    name.push(".");
                    name.push(extension);
                }
                name.into()
            },
            Path::to_owned,
        )
    }

    /// Where the content of the input goes, which is a file with this extension.
    pub fn decrypted(&self, extension: &str) -> Result<PathBuf, Error> {
        match self.output {
            Some(path) => Ok(path.to_owned()),
            None if is_stdio(self.input) => Ok(self.input.to_owned()),
            None if self.input.extension().is_some_and(|found| found == extension) => {
                Ok(self.input.with_extension(""))
            }
            None => Err(Error::usage(
                &printable(self.input),
                format_args!("does not end in .{extension}: name the output with -o"),
            )),
        }
    }

    pub fn output(&self, destination: &Path) -> Result<Output, Error> {
        Output::create(destination, self.force)
    }

    pub fn input(&self, output: &Output) -> Result<Input, Error> {
        // A bar would be drawn into the plaintext.
        Input::open(self.input, self.show_progress && !output.is_terminal())
    }

    pub fn output_of_ciphertext(&self, extension: &str) -> Result<Output, Error> {
        let output = self.output(&self.encrypted(extension))?;
        if output.is_terminal() && !self.force {
            return Err(Error::usage(
                &output.name,
                "is a terminal, which ciphertext can upset (--force writes it all the same)",
            ));
        }
        Ok(output)
    }
}

/// Encrypts with a fresh salt; a password is hashed with this cost.
pub fn encrypt(job: &Job<'_>, secret: &Secret, cost: u8) -> Result<(), Error> {
    let output = job.output_of_ciphertext(EXTENSION)?;
    let input = job.input(&output)?;
    let mut salt = [0; SALT_LEN];
    getrandom::fill(&mut salt).map_err(|error| Error::io("random numbers", error))?;
    let (header, keyed) = match secret {
        Secret::Key(key) => {
            let header = Version::Key.header();
            let keyed = keyed(&header, key, &salt);
            (header, keyed)
        }
        Secret::Password(password) => {
            let mut header = Version::Password.header();
            header.push(cost);
            let keyed = keyed(&header, &password::stretch(password, cost, &salt)?, &salt);
            (header, keyed)
        }
    };
    seal_stream(&[&header, &salt], keyed, input, output)
}

/// Writes `head`, and the input as an aestream.
pub fn seal_stream(head: &[&[u8]], keyed: Protocol, input: Input, mut output: Output) -> Result<(), Error> {
    let name = output.name.clone();
    let failed = |error: io::Error| Error::write(&name, &error);
    head.iter()
        .try_for_each(|part| output.write_all(part))
        .map_err(failed)?;
    let mut writer = SealWriter::new(keyed, output);
    input.pump(|chunk| writer.write_all(chunk).map_err(failed))?;
    writer.finish().map_err(failed)?.commit()
}

/// Decrypts what [`encrypt`] or [`encrypt_deterministically`] made, a password with a cost of at most `max_cost`.
pub fn decrypt(job: &Job<'_>, secret: &Secret, max_cost: u8) -> Result<(), Error> {
    let output = job.output(&job.decrypted(EXTENSION)?)?;
    let mut input = job.input(&output)?;
    let mut header;
    let keyed = match (Version::read(&mut input)?, secret) {
        (version @ Version::Key, Secret::Key(key)) => {
            header = version.header();
            keyed(&header, key, &read_array(&mut input, ENCRYPTED)?)
        }
        (version @ Version::Password, Secret::Password(password)) => {
            header = version.header();
            let [cost] = read_array(&mut input, ENCRYPTED)?;
            password::check_cost(&input.name, cost, max_cost)?;
            header.push(cost);
            let salt = read_array(&mut input, ENCRYPTED)?;
            keyed(&header, &password::stretch(password, cost, &salt)?, &salt)
        }
        (Version::Deterministic, Secret::Key(key)) => {
            return decrypt_deterministic(job, key, input, output);
        }
        (Version::Password, Secret::Key(_)) => {
            return Err(Error::unverified(
                &input.name,
                "encrypted with a password (--password)",
            ));
        }
        (_, Secret::Password(_)) => {
            return Err(Error::unverified(
                &input.name,
                "encrypted with a key file (--key-file)",
            ));
        }
    };
    open_stream(keyed, input, output)
}

/// Writes the plaintext of the aestream that the rest of the input is.
pub fn open_stream(keyed: Protocol, input: Input, mut output: Output) -> Result<(), Error> {
    let name = input.name.clone();
    let mut reader = OpenReader::new(keyed, BufReader::with_capacity(CHUNK, input));
    let mut buffer = Zeroizing::new(vec![0; CHUNK]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => break,
            // Flushed, so that the other end of a pipe has all blocks before the one that fails.
            Ok(n) => output
                .write_all(&buffer[..n])
                .and_then(|()| output.flush())
                .map_err(|error| Error::write(&output.name, &error))?,
            Err(error) => return Err(read_error(&name, &error)),
        }
    }
    let (_, mut input) = reader.finish().map_err(|error| Error::unverified(&name, error))?;
    match input.read_exact(&mut [0]) {
        Err(error) if is_end(&error) => output.commit(),
        Err(error) => Err(Error::io(&name, error)),
        Ok(()) => Err(Error::unverified(
            &name,
            "more bytes follow the end of the stream",
        )),
    }
}

/// The branches of `veriplex::siv` with no nonce and the header as associated data. That one works on messages in
/// memory; files need not fit.
fn branches(key: &Key) -> [Protocol; 2] {
    let mut protocol = Protocol::new(label!("veriplex.file.siv.v1"));
    protocol.mix(label!("key"), key.as_bytes());
    protocol.mix(label!("nonce"), b"");
    protocol.mix(label!("ad"), &Version::Deterministic.header());
    protocol.fork(label!("role"), ["auth", "conf"])
}

/// The input is read twice. If it changes meanwhile, nobody may see the output: neither unverified plaintext, nor
/// ciphertext under a tag that is not its own.
fn check_files(input: &Input, output: &Output) -> Result<(), Error> {
    for (name, is_file) in [(&input.name, input.is_regular), (&output.name, output.is_file())] {
        if !is_file {
            return Err(Error::usage(name, "is no file, which --deterministic needs"));
        }
    }
    Ok(())
}

/// Reads the file twice, and makes the same ciphertext for the same plaintext and key.
pub fn encrypt_deterministically(job: &Job<'_>, key: &Key) -> Result<(), Error> {
    let mut output = job.output_of_ciphertext(EXTENSION)?;
    let input = job.input(&output)?;
    check_files(&input, &output)?;
    let [mut auth, mut conf] = branches(key);
    let mut again = auth.clone();
    let mut message = auth.mix_stream(label!("message"));
    input.pump(|chunk| {
        message.update(chunk);
        Ok(())
    })?;
    let tag = auth.derive_array::<TAG_LEN>(label!("tag"));

    let input = job.input(&output)?;
    let changed = Error::io(&input.name, "changed while it was read");
    conf.mix(label!("tag"), &tag);
    let mut mask = conf.mask_stream(label!("message"));
    let mut message = again.mix_stream(label!("message"));
    let name = output.name.clone();
    let failed = |error: io::Error| Error::write(&name, &error);
    output
        .write_all(&Version::Deterministic.header())
        .and_then(|()| output.write_all(&tag))
        .map_err(failed)?;
    input.pump(|chunk| {
        message.update(chunk);
        mask.update(chunk);
        output.write_all(chunk).map_err(failed)
    })?;
    if again.derive_array::<TAG_LEN>(label!("tag")) != tag {
        return Err(changed);
    }
    output.commit()
}

/// Reads the rest of the file twice: only when it was verified is any of it written.
fn decrypt_deterministic(job: &Job<'_>, key: &Key, input: Input, mut output: Output) -> Result<(), Error> {
    check_files(&input, &output)?;
    unmask(key, input, |_| Ok(()))?;
    // Verified again, as it may have changed.
    let mut input = job.input(&output)?;
    Version::read(&mut input)?;
    unmask(key, input, |chunk| {
        output
            .write_all(chunk)
            .map_err(|error| Error::write(&output.name, &error))
    })?;
    output.commit()
}

/// Passes the plaintext to `sink`, which must keep it to itself unless this succeeds.
fn unmask(
    key: &Key,
    mut input: Input,
    mut sink: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    let [mut auth, mut conf] = branches(key);
    let tag: [u8; TAG_LEN] = read_array(&mut input, ENCRYPTED)?;
    let name = input.name.clone();
    conf.mix(label!("tag"), &tag);
    let mut mask = conf.unmask_stream(label!("message"));
    let mut message = auth.mix_stream(label!("message"));
    input.pump(|chunk| {
        mask.update(chunk);
        message.update(chunk);
        sink(chunk)
    })?;
    if auth.derive_array::<TAG_LEN>(label!("tag")).ct_eq(&tag).into() {
        Ok(())
    } else {
        Err(Error::unverified(
            &name,
            "verification failed: cut short, damaged, or made with another key or password",
        ))
    }
}

/// The next bytes of a header; `made`: how the file should have been.
pub fn read_array<const N: usize>(input: &mut Input, made: &str) -> Result<[u8; N], Error> {
    let mut array = [0; N];
    match input.read_exact(&mut array) {
        Ok(()) => Ok(array),
        Err(error) if is_end(&error) => Err(Error::unverified(
            &input.name,
            format_args!("too short to be {made} by veriplex"),
        )),
        Err(error) => Err(Error::io(&input.name, error)),
    }
}

/// Whether the input ended, rather than that the system could not read it.
fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof && error.raw_os_error().is_none()
}

fn read_error(name: &str, error: &io::Error) -> Error {
    if is_end(error) {
        // Under a wrong key or after damage the length of a block is a random one.
        Error::unverified(
            name,
            "verification failed: cut short, damaged, or made with another key or password",
        )
    } else if error.kind() == io::ErrorKind::InvalidData && error.raw_os_error().is_none() {
        Error::unverified(
            name,
            "verification failed: damaged, or made with another key or password",
        )
    } else {
        Error::io(name, error)
    }
}
