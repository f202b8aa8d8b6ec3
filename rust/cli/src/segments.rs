//! Files that are encrypted in segments: on all cores, and any part can be decrypted alone.
//!
//! | version | next | then | to the end |
//! |---|---|---|---|
//! | 0x04, a key | random salt (32 bytes) | tag of the header (16 bytes) | the plaintext as a `veriplex::seekable` |
//! | 0x05, a password | cost (1 byte), random salt (32 bytes) | the same | the same |
//!
//! The segments have 16384 bytes and are in the domain `veriplex.file.seekable.v1`, with the salt as the nonce and
//! everything before it as associated data. The tag is a `veriplex::mac` of everything before it, in the domain
//! `veriplex.file.header.v1`: it tells a wrong key from a damaged file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use rayon::prelude::*;
use veriplex::mac::Mac;
use veriplex::seekable::{DEFAULT_SEGMENT_LEN, Message, Reader, Seekable, StreamReader, Writer};
use veriplex::{Key, TAG_LEN, label};
use zeroize::Zeroizing;

use crate::crypt::{Range, SALT_LEN, copy_out, read_array, read_error};
use crate::error::Error;
use crate::files::{Input, Output};
use crate::progress::Progress;
use crate::treesum::read_exact_at;

/// How it is made.
const ENCRYPTED: &str = "encrypted";
/// How much is read at a time of what cannot be read in parts: enough for all threads.
const PIECE: usize = 1 << 20;
/// The length of a sealed segment.
const SLOT: usize = DEFAULT_SEGMENT_LEN + TAG_LEN;
/// How many segments a thread reads and seals at a time: the lanes' number.
const TASK: usize = 8;
/// How many are sealed while those before them are written: 2 MiB.
const ROUND: usize = 16 * TASK;

fn message(key: &Key, header: &[u8], salt: &[u8; SALT_LEN]) -> Message {
    Seekable::<SALT_LEN>::new(label!("veriplex.file.seekable.v1"), key).message(salt, header)
}

fn header_mac(key: &Key, header: &[u8], salt: &[u8; SALT_LEN]) -> Mac {
    let mut mac = Mac::new(label!("veriplex.file.header.v1"), key);
    mac.update(header);
    mac.update(salt);
    mac
}

/// Writes the header, and the input in segments.
pub fn seal(
    key: &Key,
    header: &[u8],
    salt: &[u8; SALT_LEN],
    input: Input,
    mut output: Output,
) -> Result<(), Error> {
    let name = output.name.clone();
    let failed = |error: io::Error| Error::write(&name, &error);
    let tag = header_mac(key, header, salt).finalize();
    [header, salt, tag.as_bytes()]
        .iter()
        .try_for_each(|part| output.write_all(part))
        .map_err(failed)?;
    let message = message(key, header, salt);
    let mut input = match input.into_file() {
        Ok((file, len, mut progress, input_name)) if len > PIECE as u64 => {
            return match parts(&message, &file, len, &mut progress, &mut output) {
                Ok(()) => output.commit(),
                Err(Failure::Read(error)) => Err(Error::io(&input_name, error)),
                Err(Failure::Write(error)) => Err(failed(error)),
            };
        }
        Ok((file, _, progress, name)) => Input::from_file(file, progress, name),
        Err(input) => input,
    };
    let mut writer = Writer::new_rayon(&message, output);
    let mut buffer = Zeroizing::new(vec![0; PIECE]);
    loop {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => writer.write_all(&buffer[..n]).map_err(failed)?,
            Err(error) => return Err(Error::io(&input.name, error)),
        }
    }
    writer.finish().map_err(failed)?.commit()
}

/// What went wrong.
enum Failure {
    Read(io::Error),
    Write(io::Error),
}

/// Seals a file of this length, of which each part can be read by itself: by the thread that seals it, to where it is
/// sealed. What is added to the file meanwhile is left out.
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
            read_exact_at(file, index * DEFAULT_SEGMENT_LEN as u64, &mut slot[..segment_len])?;
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

/// Writes the plaintext of the segments that the rest of the input is; `wrong` says what it means that the header was not
/// made with this key.
pub fn open(
    key: &Key,
    header: &[u8],
    salt: &[u8; SALT_LEN],
    mut input: Input,
    output: Output,
    range: Range,
    wrong: &str,
) -> Result<(), Error> {
    let name = input.name.clone();
    let tag: [u8; TAG_LEN] = read_array(&mut input, ENCRYPTED)?;
    header_mac(key, header, salt)
        .verify(&tag)
        .map_err(|_| Error::unverified(&name, wrong))?;
    let message = message(key, header, salt);
    let failed = |error: io::Error| read_error(&name, &error);
    if !input.can_seek() {
        let mut reader = StreamReader::new_rayon(&message, input);
        return copy_out(&mut reader, range, output, &name);
    }
    // The end first: what was cut is noticed before anything is written.
    let whole = range.is_whole();
    let mut reader = if whole {
        Reader::new_rayon(&message, input)
    } else {
        // One segment at first, and few at a time.
        Reader::new(&message, input)
    }
    .map_err(failed)?;
    let len = reader.layout().plaintext_len();
    if range.offset > len {
        return Err(range.beyond(&name, len));
    }
    reader.seek(SeekFrom::Start(range.offset)).map_err(failed)?;
    let left = range.length.unwrap_or(u64::MAX);
    copy_out(&mut reader.take(left), Range::default(), output, &name)
}
