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
    pub input: &'a Path,
    pub output: Option<&'a Path>,
    pub force: bool,
    pub show_progress: bool,
}

pub fn encrypt(job: &Job<'_>, key_file: &Path) -> Result<(), Error> {
    let key = keyfile::read(key_file)?;
    let (input, output) = job.open_to_seal(EXTENSION)?;
    let mut salt = [0; SALT_LEN];
    getrandom::fill(&mut salt).map_err(|error| Error::io("random numbers", error))?;
    seal(input, output, &[HEADER, &salt], keyed(&key, &salt))
}

pub fn decrypt(job: &Job<'_>, key_file: &Path) -> Result<(), Error> {
    let destination = job.destination_of_opened(EXTENSION)?;
    let key = keyfile::read(key_file)?;
    let (mut input, output) = job.open_to_open(&destination)?;
    read_header(&mut input, HEADER, "encrypted")?;
    let salt = read_array(&mut input, "encrypted")?;
    open(input, output, keyed(&key, &salt))
}

impl Job<'_> {
    /// Input and output of a command that makes a file with this extension.
    pub fn open_to_seal(&self, extension: &str) -> Result<(Input, Output), Error> {
        let destination = self.output.map_or_else(
            || {
                let mut name = self.input.as_os_str().to_owned();
                if !is_stdio(self.input) {
                    name.push(".");
                    name.push(extension);
                }
                name.into()
            },
            Path::to_owned,
        );
        let (input, output) = self.open(&destination)?;
        if output.is_terminal() && !self.force {
            return Err(Error::usage(
                &output.name,
                "is a terminal, which ciphertext can upset (--force writes it all the same)",
            ));
        }
        Ok((input, output))
    }

    /// Where the content of a file with this extension goes.
    pub fn destination_of_opened(&self, extension: &str) -> Result<PathBuf, Error> {
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

    pub fn open_to_open(&self, destination: &Path) -> Result<(BufReader<Input>, Output), Error> {
        let (input, output) = self.open(destination)?;
        Ok((BufReader::with_capacity(CHUNK, input), output))
    }

    fn open(&self, destination: &Path) -> Result<(Input, Output), Error> {
        let output = Output::create(destination, self.force)?;
        // A bar would be drawn into the plaintext.
        let show_progress = self.show_progress && !output.is_terminal();
        Ok((Input::open(self.input, show_progress)?, output))
    }
}

/// Writes `head`, and the input as an aestream.
pub fn seal(input: Input, mut output: Output, head: &[&[u8]], keyed: Protocol) -> Result<(), Error> {
    let name = output.name.clone();
    let failed = |error: io::Error| Error::write(&name, &error);
    head.iter()
        .try_for_each(|part| output.write_all(part))
        .map_err(failed)?;
    let mut writer = SealWriter::new(keyed, output);
    input.pump(|chunk| writer.write_all(chunk).map_err(failed))?;
    writer.finish().map_err(failed)?.commit()
}

/// Writes the plaintext of the aestream that the rest of the input is.
pub fn open(input: BufReader<Input>, mut output: Output, keyed: Protocol) -> Result<(), Error> {
    let name = input.get_ref().name.clone();
    let mut reader = OpenReader::new(keyed, input);
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

/// Reads the first bytes of a file, the last of which is the version of its format. `made`: how it was made.
pub fn read_header(
    input: &mut BufReader<Input>,
    expected: &[u8; HEADER.len()],
    made: &str,
) -> Result<(), Error> {
    let header: [u8; HEADER.len()] = read_array(input, made)?;
    if header == *expected {
        return Ok(());
    }
    let same_magic = header[..HEADER.len() - 1] == expected[..HEADER.len() - 1];
    let name = &input.get_ref().name;
    Err(if same_magic {
        Error::unverified(name, "made by another version of veriplex")
    } else {
        Error::unverified(name, format_args!("not {made} by veriplex"))
    })
}

/// The next bytes of a header.
pub fn read_array<const N: usize>(input: &mut BufReader<Input>, made: &str) -> Result<[u8; N], Error> {
    let mut array = [0; N];
    match input.read_exact(&mut array) {
        Ok(()) => Ok(array),
        Err(error) if is_end(&error) => Err(Error::unverified(
            &input.get_ref().name,
            format_args!("too short to be {made} by veriplex"),
        )),
        Err(error) => Err(Error::io(&input.get_ref().name, error)),
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
            "verification failed: cut short, damaged, or made with another key",
        )
    } else if error.kind() == io::ErrorKind::InvalidData && error.raw_os_error().is_none() {
        Error::unverified(name, "verification failed: damaged, or made with another key")
    } else {
        Error::io(name, error)
    }
}
