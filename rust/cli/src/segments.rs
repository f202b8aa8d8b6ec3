//! The content of an encrypted file, after its header. It uses all cores, and any part can be decrypted alone.
//!
//! | bytes | what |
//! |---|---|
//! | 32 | random salt |
//! | 16 | tag of the header |
//! | the rest | the plaintext as a `veriplex::seekable` |
//!
//! The segments have 16384 bytes and are in the domain `veriplex.file.seekable.v1`, with the salt as the nonce and the
//! header as associated data. The tag is a `veriplex::mac` of header and salt in the domain `veriplex.file.header.v1`: it
//! tells a wrong key from a damaged file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use rayon::prelude::*;
use veriplex::mac::Mac;
use veriplex::seekable::{DEFAULT_SEGMENT_LEN, Message, OpenReader, SealWriter, SeekReader, Seekable};
use veriplex::{Key, TAG_LEN, label};
use veriplex_files::armor;
use veriplex_files::crypt::{Content, Range, SALT_LEN, is_end, other_version, read_array};
use veriplex_files::error::Error;
use veriplex_files::files::{Input, NewFolder, Output, read_part};
use veriplex_files::folder;
use veriplex_files::progress::{Counted, Progress};
use zeroize::Zeroizing;

/// How much plaintext is written at a time, and above which size a file is read in parts: enough for all threads.
const BUFFER_LEN: usize = 1 << 20;
/// The length of a sealed segment.
const SLOT: usize = DEFAULT_SEGMENT_LEN + TAG_LEN;
/// How many segments a thread reads and seals at a time: the lanes' number.
const TASK: usize = 8;
/// How many are sealed while those before them are written: 2 MiB.
const ROUND: usize = 16 * TASK;

/// A file's key, and all of it before the tag.
pub struct Segments<'a> {
    pub key: &'a Key,
    /// Its last byte is the [`Content`].
    pub header: &'a [u8],
    pub salt: &'a [u8; SALT_LEN],
}

impl Segments<'_> {
    fn message(&self) -> Message {
        Seekable::<SALT_LEN>::new(label!("veriplex.file.seekable.v1"), self.key)
            .message(self.salt, self.header)
    }

    fn header_mac(&self) -> Mac {
        let mut mac = Mac::new(label!("veriplex.file.header.v1"), self.key);
        mac.update(self.header);
        mac.update(self.salt);
        mac
    }

    /// Writes the header, and the input in segments.
    pub fn seal(&self, input: Input, mut output: Output) -> Result<(), Error> {
        let name = output.name.clone();
        let failed = |error: io::Error| Error::write(&name, &error);
        let tag = self.header_mac().finalize();
        [self.header, self.salt, tag.as_bytes()]
            .iter()
            .try_for_each(|part| output.write_all(part))
            .map_err(failed)?;
        let message = self.message();
        let mut input = match input.into_file() {
            Ok((file, len, mut progress, input_name)) if len > BUFFER_LEN as u64 => {
                return match parts(&message, &file, len, &mut progress, &mut output) {
                    Ok(()) => output.commit(),
                    Err(Failure::Read(error)) => Err(Error::io(&input_name, error)),
                    Err(Failure::Write(error)) => Err(failed(error)),
                };
            }
            Ok((file, _, progress, name)) => Input::from_file(file, progress, name),
            Err(input) => input,
        };
        let mut writer = SealWriter::new_rayon(&message, output);
        input.pump(|chunk| writer.write_all(chunk).map_err(failed))?;
        writer.finish().map_err(failed)?.commit()
    }

    /// Writes the plaintext of the rest of the input; `wrong` is the error if the header was not made with this key.
    pub fn open(&self, mut input: Input, output: Output, range: Range, wrong: &str) -> Result<(), Error> {
        let tag: [u8; TAG_LEN] = read_array(&mut input, "encrypted")?;
        self.header_mac()
            .verify(&tag)
            .map_err(|_| Error::unverified(&input.name, wrong))?;
        let content = self.header.last().and_then(|&byte| Content::from_byte(byte));
        let output = match content.ok_or_else(|| other_version(&input.name))? {
            Content::File => Destination::Stream(output),
            // On other systems it is a stream, too.
            Content::Folder => (output.into_folder()?).map_or_else(Destination::Stream, Destination::Folder),
        };
        if matches!(output, Destination::Folder(_)) && !range.is_whole() {
            let reason =
                "contains a folder: --offset and --length need -o -, and count bytes of its tar stream";
            return Err(Error::usage(&input.name, reason));
        }
        let message = self.message();
        let name = input.name.clone();
        let begin = (self.header.len() + SALT_LEN + TAG_LEN) as u64;
        // The start of the segment that contains this byte of the plaintext.
        let offset = |at: u64| begin + at / DEFAULT_SEGMENT_LEN as u64 * SLOT as u64;
        let mut progress = input.hand_over(None);
        let Some(file_len) = input.len().filter(|_| input.can_seek()) else {
            let is_armored = input.is_armored();
            let reader = OpenReader::new_rayon(&message, input);
            return copy(
                Counted { reader, progress },
                0,
                range,
                output,
                &name,
                |at| match offset(at) {
                    at if is_armored => {
                        format!("truncated or damaged, at or after line {}", armor::line_of(at))
                    }
                    at => format!("truncated or damaged, at or after offset {at}"),
                },
            );
        };
        // The end first, to notice truncation before anything is written.
        let mut reader = if range.is_whole() {
            SeekReader::new_rayon(&message, input)
        } else {
            // One segment at first, then a few at a time.
            SeekReader::new(&message, input)
        }
        .map_err(|error| {
            let last = begin + file_len.saturating_sub(begin + 1) / SLOT as u64 * SLOT as u64;
            let damage = || format!("truncated, extended, or damaged at offset {last}");
            read_error(&name, &error, damage)
        })?;
        let len = reader.layout().plaintext_len();
        if range.offset > len {
            return Err(range.beyond(&name, len));
        }
        let failed = |error| Error::io(&name, error);
        reader.seek(SeekFrom::Start(range.offset)).map_err(failed)?;
        let wanted = range.length.unwrap_or(u64::MAX).min(len - range.offset);
        let progress = progress.hand_over(Some(wanted));
        let reader = reader.take(wanted);
        copy(
            Counted { reader, progress },
            range.offset,
            range,
            output,
            &name,
            |at| format!("damaged at offset {}", offset(at)),
        )
    }
}

/// What went wrong.
enum Failure {
    Read(io::Error),
    Write(io::Error),
}

/// Seals a file of this length with random access: the thread that seals a part reads it into its place. Data added to
/// the file meanwhile are left out.
fn parts(
    message: &Message,
    file: &File,
    len: u64,
    progress: &mut Progress,
    output: &mut Output,
) -> Result<(), Failure> {
    let sealer = (message.sealer(len)).map_err(|error| Failure::Read(io::Error::other(error)))?;
    let layout = sealer.layout();
    let read = |first: u64, slots: &mut [u8]| {
        for (index, slot) in (first..).zip(slots.chunks_mut(SLOT)) {
            let segment_len = slot.len() - TAG_LEN;
            read_part(file, &mut slot[..segment_len], index * DEFAULT_SEGMENT_LEN as u64)?;
        }
        sealer.seal(first, slots).map_err(io::Error::other)
    };
    let [mut next, mut before] = [(); 2].map(|()| Zeroizing::new(vec![0; ROUND * SLOT]));
    let mut before_len = 0;
    let mut first = 0;
    while first < layout.segments() || before_len > 0 {
        let range = layout.sealed_range(first..first + ROUND as u64);
        let next_len = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let (written, sealed) = rayon::join(
            || output.write_all(&before[..before_len]),
            || {
                (next[..next_len].par_chunks_mut(TASK * SLOT).enumerate())
                    .try_for_each(|(i, slots)| read(first + (i * TASK) as u64, slots))
            },
        );
        written.map_err(Failure::Write)?;
        sealed.map_err(Failure::Read)?;
        let done = next_len.div_ceil(SLOT);
        progress.advance((next_len - done * TAG_LEN) as u64);
        std::mem::swap(&mut next, &mut before);
        before_len = next_len;
        first += done as u64;
    }
    Ok(())
}

/// Where the plaintext goes.
#[allow(clippy::large_enum_variant)] // there is one of them
enum Destination {
    Stream(Output),
    /// It is a tar stream.
    Folder(NewFolder),
}

/// Writes what a reader gives of the plaintext from `at` on, which it has verified; `damage` says what it means that it has
/// not, from a place on.
fn copy(
    mut reader: impl Read,
    mut at: u64,
    range: Range,
    output: Destination,
    name: &str,
    damage: impl Fn(u64) -> String,
) -> Result<(), Error> {
    let mut output = match output {
        Destination::Stream(output) => output,
        Destination::Folder(folder) => {
            return unpack(reader, folder, name, |error, at| {
                read_error(name, error, || damage(at))
            });
        }
    };
    let mut buffer = Zeroizing::new(vec![0; BUFFER_LEN]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) if range.offset > at => return Err(range.beyond(name, at)),
            Ok(0) => return output.commit(),
            Ok(n) => {
                // Flushed, so that the other end of a pipe gets all segments before the one that fails.
                output
                    .write_all(range.of(at, &buffer[..n]))
                    .and_then(|()| output.flush())
                    .map_err(|error| Error::write(&output.name, &error))?;
                at += n as u64;
            }
            Err(error) => return Err(read_error(name, &error, || damage(at))),
        }
    }
}

/// Unpacks a tar stream into a folder, which appears when everything is verified.
fn unpack(
    reader: impl Read,
    folder: NewFolder,
    name: &str,
    failed: impl Fn(&io::Error, u64) -> Error,
) -> Result<(), Error> {
    let mut reader = Watched {
        reader,
        at: 0,
        failed: None,
    };
    // Data after the end of the archive must be verified too.
    let unpacked =
        folder::unpack(&mut reader, &folder.folder).and_then(|()| io::copy(&mut reader, &mut io::sink()));
    match (unpacked, &reader.failed) {
        (Ok(_), _) => folder.commit(),
        (Err(_), Some(error)) => Err(failed(error, reader.at)),
        (Err(error), None) if error.raw_os_error().is_some() => Err(Error::io(&folder.name, error)),
        (Err(error), None) => Err(Error::unverified(name, format_args!("invalid archive: {error}"))),
    }
}

/// Keeps the error of a failed read, because the parser returns another one.
struct Watched<R> {
    reader: R,
    /// How much was read.
    at: u64,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.reader.read(buffer) {
            Ok(n) => {
                self.at += n as u64;
                Ok(n)
            }
            Err(error) => {
                let kind = error.kind();
                self.failed = Some(error);
                Err(kind.into())
            }
        }
    }
}

/// A failed read, or one of what was not verified.
fn read_error(name: &str, error: &io::Error, damage: impl Fn() -> String) -> Error {
    let is_damage = <dyn std::error::Error + Send + Sync + 'static>::is::<veriplex::Error>;
    if error.get_ref().is_some_and(is_damage) {
        Error::unverified(name, damage())
    } else if is_end(error) {
        Error::io(name, "became shorter while it was read")
    } else {
        Error::read(name, error)
    }
}
