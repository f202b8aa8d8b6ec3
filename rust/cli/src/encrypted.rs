//! Files encrypted with a key or a password: `VERIPLEX`, the version, and what belongs to it.
//!
//! | version | then, to the end |
//! |---|---|
//! | 0x01, a key | content (1 byte), [`segments`](crate::segments) |
//! | 0x02, a password | cost (1 byte), content (1 byte), segments |
//! | 0x03, a key, deterministic | SIV tag (16 bytes), the ciphertext of SIV |
//!
//! The content is 0x00 for a file, 0x01 for a folder, which follows as a tar stream. The memory-hard hash makes the key from a password, in the domain `veriplex.file.password.v1`, with the salt of the
//! segments. SIV is in the domain `veriplex.file.siv.v1`, with no nonce; its associated data are the first nine bytes.

use std::io::Write;

use veriplex::siv::Siv;
use veriplex::{Key, TAG_LEN, label};
use veriplex_files::crypt::{
    Content, Kind, Range, SALT_LEN, Secret, check_cost, other_version, random, read_array, stretch,
};
use veriplex_files::error::Error;
use veriplex_files::files::{Input, Output};

use crate::segments::Segments;

const KEY: u8 = 1;
const PASSWORD: u8 = 2;
const DETERMINISTIC: u8 = 3;

/// Encrypts with a fresh salt; a password is hashed with this cost.
pub fn encrypt(input: Input, output: Output, secret: &Secret, cost: u8) -> Result<(), Error> {
    let mut salt = [0; SALT_LEN];
    random(&mut salt)?;
    let stretched;
    let (mut header, key) = match secret {
        Secret::Key(key) => (Kind::Encrypted.header(KEY), key),
        Secret::Password(password) => {
            let mut header = Kind::Encrypted.header(PASSWORD);
            header.push(cost);
            stretched = stretch(password, cost, &salt)?;
            (header, &stretched)
        }
    };
    header.push(Content::of(&input) as u8);
    let segments = Segments {
        key,
        header: &header,
        salt: &salt,
    };
    segments.seal(input, output)
}

/// Decrypts a file of any version, a password with a cost of at most `max_cost`.
pub fn decrypt(
    mut input: Input,
    output: Output,
    secret: &Secret,
    max_cost: u8,
    range: Range,
) -> Result<(), Error> {
    let version = Kind::Encrypted.read_version(&mut input)?;
    let mut header = Kind::Encrypted.header(version);
    let stretched;
    let (key, salt, wrong) = match (version, secret) {
        (KEY, Secret::Key(key)) => {
            header.extend::<[u8; 1]>(read_array(&mut input, "encrypted")?);
            let salt = read_array(&mut input, "encrypted")?;
            (key, salt, "wrong key, or damaged header")
        }
        (PASSWORD, Secret::Password(password)) => {
            let [cost] = read_array(&mut input, "encrypted")?;
            check_cost(&input.name, cost, max_cost)?;
            let [content] = read_array(&mut input, "encrypted")?;
            header.extend([cost, content]);
            let salt = read_array(&mut input, "encrypted")?;
            stretched = stretch(password, cost, &salt)?;
            (&stretched, salt, "wrong password, or damaged header")
        }
        (DETERMINISTIC, Secret::Key(key)) => return decrypt_deterministic(input, output, key, range),
        (KEY | DETERMINISTIC, Secret::Password(_)) => {
            let reason = "encrypted with a key file (--key-file)";
            return Err(Error::unverified(&input.name, reason));
        }
        (PASSWORD, Secret::Key(_)) => {
            let reason = "encrypted with a password (--password)";
            return Err(Error::unverified(&input.name, reason));
        }
        _ => return Err(other_version(&input.name)),
    };
    let segments = Segments {
        key,
        header: &header,
        salt: &salt,
    };
    segments.open(input, output, range, wrong)
}

fn siv(key: &Key) -> Siv {
    Siv::new(label!("veriplex.file.siv.v1"), key)
}

/// Requires a file, which can be read twice, or stays invisible until it is verified.
fn check_file(name: &str, is_file: bool) -> Result<(), Error> {
    if is_file {
        return Ok(());
    }
    Err(Error::usage(
        name,
        "not a regular file, which a deterministic ciphertext requires",
    ))
}

/// Reads the file twice, and makes the same ciphertext for the same plaintext and key. If the file changes meanwhile,
/// nobody sees the ciphertext, whose tag would be wrong.
pub fn encrypt_deterministically(mut input: Input, mut output: Output, key: &Key) -> Result<(), Error> {
    check_file(&input.name, input.is_regular())?;
    check_file(&output.name, output.is_file())?;
    let header = Kind::Encrypted.header(DETERMINISTIC);
    let mut tagger = siv(key).tagger(b"", &header);
    input.pump(|chunk| {
        tagger.update(chunk);
        Ok(())
    })?;
    let (tag, mut encryptor) = tagger.finish();
    input.rewind()?;
    let mut write = |bytes: &[u8]| {
        output
            .write_all(bytes)
            .map_err(|error| Error::write(&output.name, &error))
    };
    write(&header)?;
    write(&tag)?;
    input.pump(|chunk| {
        encryptor.update(chunk);
        write(chunk)
    })?;
    encryptor
        .finish()
        .map_err(|_| Error::io(&input.name, "changed while it was read"))?;
    output.commit()
}

/// The output is verified when it is complete, and invisible before.
fn decrypt_deterministic(mut input: Input, mut output: Output, key: &Key, range: Range) -> Result<(), Error> {
    check_file(&output.name, output.is_file())?;
    let tag: [u8; TAG_LEN] = read_array(&mut input, "encrypted")?;
    let mut decryptor = siv(key).decryptor(b"", &Kind::Encrypted.header(DETERMINISTIC), &tag);
    let mut at = 0;
    input.pump(|chunk| {
        decryptor.update(chunk);
        let wanted = range.of(at, chunk);
        at += chunk.len() as u64;
        output
            .write_all(wanted)
            .map_err(|error| Error::write(&output.name, &error))
    })?;
    decryptor
        .finish()
        .map_err(|_| Error::unverified(&input.name, "wrong key, or truncated, extended or damaged"))?;
    if range.offset > at {
        return Err(range.beyond(&input.name, at));
    }
    output.commit()
}
