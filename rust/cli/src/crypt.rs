//! Encrypted files.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `VERIPLEX` |
//! | 1 | version, 0x01 |
//! | 32 | random salt |
//! | the rest | the plaintext as an aestream, to its end; nothing follows |
//!
//! The stream's protocol is Init `veriplex.file.v1`, Mix `header` (the first nine bytes), Mix `key` (32
//! bytes), Mix `nonce` (the salt).

use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use veriplex::aestream::{OpenReader, SealWriter};
use veriplex::{Protocol, label};
use zeroize::Zeroizing;

use crate::error::Error;
use crate::files::{CHUNK, Input, Output, is_stdio, printable};
use crate::keyfile::{self, Key};

const HEADER: &[u8; 9] = b"VERIPLEX\x01";
const SALT_LEN: usize = 32;
/// The extension of an encrypted file.
const EXTENSION: &str = "vpx";

fn keyed(key: &Key, salt: &[u8; SALT_LEN]) -> Protocol {
    let mut protocol = Protocol::new(label!("veriplex.file.v1"));
    protocol.mix(label!("header"), HEADER);
    protocol.mix(label!("key"), key.as_slice());
    protocol.mix(label!("nonce"), salt);
    protocol
}

/// What to work on, and how.
pub struct Job<'a> {
    pub key_file: &'a Path,
    pub input: &'a Path,
    pub output: Option<&'a Path>,
    pub force: bool,
    pub show_progress: bool,
}

pub fn encrypt(job: &Job<'_>) -> Result<(), Error> {
    let destination = job.output.map_or_else(
        || {
            let mut name = job.input.as_os_str().to_owned();
            if !is_stdio(job.input) {
                name.push(".");
                name.push(EXTENSION);
            }
            name.into()
        },
        Path::to_owned,
    );
    let key = keyfile::read(job.key_file)?;
    let (input, mut output) = open(job, &destination)?;
    if output.is_terminal() && !job.force {
        return Err(Error::usage(
            &output.name,
            "is a terminal, which ciphertext can upset (--force writes it all the same)",
        ));
    }

    let mut salt = [0; SALT_LEN];
    getrandom::fill(&mut salt).map_err(|error| Error::io("random numbers", error))?;
    let name = output.name.clone();
    let failed = |error: io::Error| Error::write(&name, &error);
    output
        .write_all(HEADER)
        .and_then(|()| output.write_all(&salt))
        .map_err(failed)?;
    let mut writer = SealWriter::new(keyed(&key, &salt), output);
    input.pump(|chunk| writer.write_all(chunk).map_err(failed))?;
    writer.finish().map_err(failed)?.commit()
}

pub fn decrypt(job: &Job<'_>) -> Result<(), Error> {
    let destination = match job.output {
        Some(path) => path.to_owned(),
        None if is_stdio(job.input) => job.input.to_owned(),
        None => without_extension(job.input)?,
    };
    let key = keyfile::read(job.key_file)?;
    let (input, mut output) = open(job, &destination)?;
    let name = input.name.clone();
    let mut input = BufReader::with_capacity(CHUNK, input);

    let mut header = [0; HEADER.len()];
    read_exact(&mut input, &mut header, &name)?;
    if header != *HEADER {
        let same_magic = header.split_last().map(|(_, magic)| magic) == Some(b"VERIPLEX");
        return Err(Error::unverified(
            &name,
            if same_magic {
                "made by another version of veriplex"
            } else {
                "not encrypted by veriplex"
            },
        ));
    }
    let mut salt = [0; SALT_LEN];
    read_exact(&mut input, &mut salt, &name)?;

    let mut reader = OpenReader::new(keyed(&key, &salt), input);
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

fn open(job: &Job<'_>, destination: &Path) -> Result<(Input, Output), Error> {
    let output = Output::create(destination, job.force)?;
    // A bar would be drawn into the plaintext.
    let show_progress = job.show_progress && !output.is_terminal();
    Ok((Input::open(job.input, show_progress)?, output))
}

fn without_extension(path: &Path) -> Result<PathBuf, Error> {
    if path.extension().is_some_and(|extension| extension == EXTENSION) {
        Ok(path.with_extension(""))
    } else {
        Err(Error::usage(
            &printable(path),
            "does not end in .vpx: name the output with -o",
        ))
    }
}

fn read_exact(input: &mut impl Read, buffer: &mut [u8], name: &str) -> Result<(), Error> {
    input.read_exact(buffer).map_err(|error| {
        if is_end(&error) {
            Error::unverified(name, "too short to be encrypted by veriplex")
        } else {
            Error::io(name, error)
        }
    })
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
            "verification failed: cut short, damaged, or encrypted with another key",
        )
    } else if error.kind() == io::ErrorKind::InvalidData && error.raw_os_error().is_none() {
        Error::unverified(
            name,
            "verification failed: damaged, or encrypted with another key",
        )
    } else {
        Error::io(name, error)
    }
}
