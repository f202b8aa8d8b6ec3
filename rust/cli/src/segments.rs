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

use std::io::{self, Read, Seek, SeekFrom, Write};

use veriplex::mac::Mac;
use veriplex::seekable::{Message, Reader, Seekable, StreamReader, Writer};
use veriplex::{Key, TAG_LEN, label};
use zeroize::Zeroizing;

use crate::crypt::{Range, SALT_LEN, copy_out, read_array, read_error};
use crate::error::Error;
use crate::files::{Input, Output};

/// How it is made.
const ENCRYPTED: &str = "encrypted";
/// How much is sealed at a time: enough for all threads.
const PIECE: usize = 1 << 20;

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
    mut input: Input,
    mut output: Output,
) -> Result<(), Error> {
    let name = output.name.clone();
    let failed = |error: io::Error| Error::write(&name, &error);
    let tag = header_mac(key, header, salt).finalize();
    [header, salt, tag.as_bytes()]
        .iter()
        .try_for_each(|part| output.write_all(part))
        .map_err(failed)?;
    let mut writer = Writer::new_rayon(&message(key, header, salt), output);
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
