//! Encrypted files: `VERIPLEX`, the version, and what belongs to it.
//!
//! | version | next | then, to the end |
//! |---|---|---|
//! | 0x01, a key | random salt (32 bytes) | the plaintext as an aestream |
//! | 0x02, a password | cost (1 byte), random salt (32 bytes) | the plaintext as an aestream |
//! | 0x03, a key, deterministic | SIV tag (16 bytes) | the ciphertext of SIV |
//! | 0x04, a key | random salt (32 bytes), tag of the header (16 bytes) | segments |
//! | 0x05, a password | cost (1 byte), random salt (32 bytes), tag of the header (16 bytes) | segments |
//!
//! Versions 0x01 and 0x02 are opened, and made no more. The protocol of their stream is Init `veriplex.file.v1`, Mix
//! `header` (all before the salt), Mix `key` (32 bytes), Mix `nonce` (the salt). The memory-hard hash makes the key from a
//! password, in the domain `veriplex.file.password.v1`, with the salt. SIV is in the domain `veriplex.file.siv.v1`, with no
//! nonce; its associated data are the first nine bytes. [`segments`] has the rest.

use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use subtle::ConstantTimeEq;
use veriplex::aestream::{OpenReader, SealWriter};
use veriplex::{Key, Label, Protocol, TAG_LEN, label};
use zeroize::Zeroizing;

use crate::armor::Malformed;
use crate::error::Error;
use crate::files::{CHUNK, Existing, Input, Output, Readers, beside, is_stdio};
use crate::names::quoted;
use crate::password::{self, Password};
use crate::{sealed, segments};

const MAGIC: &[u8; 8] = b"VERIPLEX";
pub(crate) const SALT_LEN: usize = 32;
/// The extension of an encrypted file.
const EXTENSION: &str = "vpx";
/// How much plaintext is written at a time.
const PIECE: usize = 1 << 20;
/// The domain of versions 0x01 and 0x02.
const STREAM: Label<'static> = label!("veriplex.file.v1");
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
    SegmentsKey = 4,
    SegmentsPassword = 5,
}

impl Version {
    const ALL: [Self; 5] = [
        Self::Key,
        Self::Password,
        Self::Deterministic,
        Self::SegmentsKey,
        Self::SegmentsPassword,
    ];

    /// The first bytes of a file.
    fn header(self) -> Vec<u8> {
        [MAGIC.as_slice(), &[self as u8]].concat()
    }

    fn read(input: &mut Input) -> Result<Self, Error> {
        let header: [u8; MAGIC.len() + 1] = read_array(input, ENCRYPTED)?;
        if !header.starts_with(MAGIC) {
            let reason = if header.starts_with(sealed::MAGIC) {
                "sealed to a public key: veriplex unseal opens it"
            } else {
                "not a veriplex file: it does not begin with VERIPLEX"
            };
            return Err(Error::unverified(&input.name, reason));
        }
        let found = Self::ALL.into_iter().find(|version| version.header() == header);
        found.ok_or_else(|| Error::unverified(&input.name, "made by another version of veriplex"))
    }
}

/// Fills the buffer with random numbers of the system.
pub(crate) fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::io("random numbers", error))
}

/// The protocol that this key has with a header and a salt.
pub(crate) fn keyed(domain: Label<'_>, header: &[u8], key: &Key, salt: &[u8; SALT_LEN]) -> Protocol {
    let mut protocol = Protocol::new(domain);
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
    /// Write ciphertext as text.
    pub armor: bool,
    pub show_progress: bool,
}

/// What of the plaintext is wanted: all, unless something else is said.
#[derive(Clone, Copy, Default)]
pub struct Range {
    pub offset: u64,
    /// To the end, if not given.
    pub length: Option<u64>,
}

impl Range {
    pub(crate) fn is_whole(&self) -> bool {
        self.offset == 0 && self.length.is_none()
    }

    /// What of the next piece of plaintext, which begins at `at`, is wanted.
    fn of<'p>(&self, at: u64, piece: &'p [u8]) -> &'p [u8] {
        let place = |wanted: u64| {
            let ahead = wanted.saturating_sub(at);
            usize::try_from(ahead).map_or(piece.len(), |ahead| ahead.min(piece.len()))
        };
        let end = self.offset.saturating_add(self.length.unwrap_or(u64::MAX));
        &piece[place(self.offset)..place(end)]
    }

    /// There is nothing: not even the end of the plaintext is where the range begins.
    pub(crate) fn beyond(&self, name: &str, len: u64) -> Error {
        Error::usage(
            name,
            format_args!("has {len} bytes of plaintext, none at offset {}", self.offset),
        )
    }
}

impl Job<'_> {
    /// Where a file with this extension goes that is made of the input.
    pub fn encrypted(&self, extension: &str) -> PathBuf {
        self.output
            .map_or_else(|| beside(self.input, extension), Path::to_owned)
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
                &quoted(self.input),
                format_args!("does not end in .{extension}: name the output with -o"),
            )),
        }
    }

    /// Where plaintext goes, which is its owner's only.
    pub fn output_of_plaintext(&self, destination: &Path) -> Result<Output, Error> {
        self.output(destination, Readers::Owner)
    }

    /// Where something goes that anybody may read.
    pub fn public_output(&self, destination: &Path) -> Result<Output, Error> {
        self.output(destination, Readers::Any)
    }

    fn output(&self, destination: &Path, readers: Readers) -> Result<Output, Error> {
        Output::create(destination, Existing::forced(self.force), readers)
    }

    pub fn input(&self, output: &Output) -> Result<Input, Error> {
        Input::open(self.input, self.shows_progress(output))
    }

    /// The same for what this program may have made, perhaps in armor.
    pub fn ciphertext(&self, output: &Output) -> Result<Input, Error> {
        Input::open_ciphertext(self.input, self.shows_progress(output))
    }

    fn shows_progress(&self, output: &Output) -> bool {
        // A bar would be drawn into the plaintext.
        self.show_progress && !output.is_terminal()
    }

    pub fn output_of_ciphertext(&self, extension: &str) -> Result<Output, Error> {
        let output = self.public_output(&self.encrypted(extension))?;
        if self.armor {
            return Ok(output.armored());
        }
        if output.is_terminal() && !self.force {
            return Err(Error::usage(
                &output.name,
                "is a terminal, which ciphertext can upset (--armor writes text, --force writes it all the same)",
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
    random(&mut salt)?;
    match secret {
        Secret::Key(key) => segments::seal(key, &Version::SegmentsKey.header(), &salt, input, output),
        Secret::Password(password) => {
            let mut header = Version::SegmentsPassword.header();
            header.push(cost);
            let key = password::stretch(password, cost, &salt)?;
            segments::seal(&key, &header, &salt, input, output)
        }
    }
}

/// Writes `head`, and the input as an aestream.
pub fn seal_stream(head: &[&[u8]], keyed: Protocol, input: Input, mut output: Output) -> Result<(), Error> {
    let name = output.name.clone();
    let failed = |error: io::Error| Error::write(&name, &error);
    head.iter()
        .try_for_each(|part| output.write_all(part))
        .map_err(failed)?;
    let mut writer = SealWriter::from_protocol(keyed, output);
    input.pump(|chunk| writer.write_all(chunk).map_err(failed))?;
    writer.finish().map_err(failed)?.commit()
}

/// Decrypts a file of any version, a password with a cost of at most `max_cost`.
pub fn decrypt(job: &Job<'_>, secret: &Secret, max_cost: u8, range: Range) -> Result<(), Error> {
    let output = job.output_of_plaintext(&job.decrypted(EXTENSION)?)?;
    let mut input = job.ciphertext(&output)?;
    let version = Version::read(&mut input)?;
    let mut header = version.header();
    match (version, secret) {
        (Version::Key, Secret::Key(key)) => {
            let salt = read_array(&mut input, ENCRYPTED)?;
            open_stream(keyed(STREAM, &header, key, &salt), input, output, range)
        }
        (Version::SegmentsKey, Secret::Key(key)) => {
            let salt = read_array(&mut input, ENCRYPTED)?;
            let wrong = "wrong key, or its first bytes are damaged";
            segments::open(key, &header, &salt, input, output, range, wrong)
        }
        (Version::Password | Version::SegmentsPassword, Secret::Password(password)) => {
            let [cost] = read_array(&mut input, ENCRYPTED)?;
            password::check_cost(&input.name, cost, max_cost)?;
            header.push(cost);
            let salt = read_array(&mut input, ENCRYPTED)?;
            let key = password::stretch(password, cost, &salt)?;
            if let Version::Password = version {
                return open_stream(keyed(STREAM, &header, &key, &salt), input, output, range);
            }
            let wrong = "wrong password, or its first bytes are damaged";
            segments::open(&key, &header, &salt, input, output, range, wrong)
        }
        (Version::Deterministic, Secret::Key(key)) => decrypt_deterministic(job, key, input, output, range),
        (Version::Password | Version::SegmentsPassword, Secret::Key(_)) => Err(Error::unverified(
            &input.name,
            "encrypted with a password (--password)",
        )),
        (_, Secret::Password(_)) => Err(Error::unverified(
            &input.name,
            "encrypted with a key file (--key-file)",
        )),
    }
}

/// Writes the plaintext of the aestream that the rest of the input is.
pub fn open_stream(keyed: Protocol, input: Input, output: Output, range: Range) -> Result<(), Error> {
    let name = input.name.clone();
    let mut reader = OpenReader::from_protocol(keyed, BufReader::with_capacity(CHUNK, input));
    let output = copy_verified(&mut reader, range, output, &name)?;
    let (_, mut input) = reader.finish().map_err(|error| Error::unverified(&name, error))?;
    match input.read_exact(&mut [0]) {
        Err(error) if is_end(&error) => output.commit(),
        Err(error) => Err(Error::read(&name, &error)),
        Ok(()) => Err(Error::unverified(
            &name,
            "more bytes follow the end of the stream",
        )),
    }
}

/// Writes what `reader` gives, which it has verified, and lets the output appear at the end.
pub(crate) fn copy_out(
    reader: &mut impl Read,
    range: Range,
    output: Output,
    name: &str,
) -> Result<(), Error> {
    copy_verified(reader, range, output, name)?.commit()
}

fn copy_verified(
    reader: &mut impl Read,
    range: Range,
    mut output: Output,
    name: &str,
) -> Result<Output, Error> {
    let mut buffer = Zeroizing::new(vec![0; PIECE]);
    let mut at = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) if range.offset > at => return Err(range.beyond(name, at)),
            Ok(0) => return Ok(output),
            Ok(n) => {
                // Flushed, so that the other end of a pipe has all blocks before the one that fails.
                output
                    .write_all(range.of(at, &buffer[..n]))
                    .and_then(|()| output.flush())
                    .map_err(|error| Error::write(&output.name, &error))?;
                at += n as u64;
            }
            Err(error) => return Err(read_error(name, &error)),
        }
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
    for (name, is_file) in [
        (&input.name, input.is_regular()),
        (&output.name, output.is_file()),
    ] {
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
fn decrypt_deterministic(
    job: &Job<'_>,
    key: &Key,
    input: Input,
    mut output: Output,
    range: Range,
) -> Result<(), Error> {
    check_files(&input, &output)?;
    let name = input.name.clone();
    unmask(key, input, |_| Ok(()))?;
    // Verified again, as it may have changed.
    let mut input = job.ciphertext(&output)?;
    Version::read(&mut input)?;
    let mut at = 0;
    unmask(key, input, |chunk| {
        let wanted = range.of(at, chunk);
        at += chunk.len() as u64;
        output
            .write_all(wanted)
            .map_err(|error| Error::write(&output.name, &error))
    })?;
    if range.offset > at {
        return Err(range.beyond(&name, at));
    }
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
        Err(error) => Err(Error::read(&input.name, &error)),
    }
}

/// Whether the input ended, rather than that the system could not read it.
fn is_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof && error.raw_os_error().is_none()
}

pub(crate) fn read_error(name: &str, error: &io::Error) -> Error {
    if error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync + 'static>::is::<Malformed>)
    {
        Error::read(name, error)
    } else if is_end(error) {
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
