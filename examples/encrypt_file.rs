//! Encrypts a file under a password, and reads a part of it back without decrypting the rest:
//! `cargo run --example encrypt_file`.

use std::error::Error;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};

use veriplex::seekable::{Message, SealWriter, SeekReader, Seekable};
use veriplex::{Key, Nonce, label, mhf::Mhf, os_rng};

/// What the file begins with: the salt of the password, and the nonce. Neither is secret.
const HEADER_LEN: usize = 16 + 24;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("veriplex-example-{}", std::process::id()));
    let password = b"correct horse battery staple";

    let header = Nonce::<HEADER_LEN>::generate(&mut os_rng());
    let mut file = File::create(&path)?;
    file.write_all(header.as_bytes())?;
    let mut writer = SealWriter::new(&message(password, &header)?, file);
    for line in 0..10_000 {
        writeln!(writer, "line {line:04}")?;
    }
    writer.finish()?; // without it, the file has no end, and nobody can read it

    let mut file = File::open(&path)?;
    let mut header = [0; HEADER_LEN];
    file.read_exact(&mut header)?;
    let mut reader = SeekReader::new(&message(password, &header)?, Body(file))?;
    reader.seek(SeekFrom::Start(10 * 1234))?;
    let mut line = [0; 9];
    reader.read_exact(&mut line)?;
    println!("{}", String::from_utf8_lossy(&line));
    assert_eq!(&line, b"line 1234");

    fs::remove_file(path)?;
    Ok(())
}

/// The message whose key comes from the password. The header is authenticated with it.
fn message(password: &[u8], header: &[u8; HEADER_LEN]) -> Result<Message, Box<dyn Error>> {
    let (salt, nonce) = header
        .split_first_chunk::<16>()
        .ok_or(veriplex::Error::BufferLength)?;
    let nonce = nonce.try_into().map_err(|_| veriplex::Error::BufferLength)?;
    let mhf = Mhf::new(label!("com.example.passwords"), Mhf::RECOMMENDED_COST)?;
    let key: Key = mhf.derive_key(password, salt)?;
    Ok(Seekable::<24>::new(label!("com.example.files"), &key).message(nonce, header))
}

/// The file behind its header.
struct Body(File);

impl Read for Body {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for Body {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let header = HEADER_LEN as u64;
        let place = match to {
            SeekFrom::Start(place) => self.0.seek(SeekFrom::Start(place + header))?,
            other => self.0.seek(other)?,
        };
        place
            .checked_sub(header)
            .ok_or_else(|| std::io::ErrorKind::InvalidInput.into())
    }
}
