//! aestream and OAE2 over a hostile channel: what comes out is a prefix of what went in, and the end comes out only if
//! everything before it did.

#![no_main]

use std::io::{ErrorKind, Read, Write};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::{Error, Protocol, aestream, label, oae2};
use veriplex_fuzz::Change;

#[derive(Arbitrary, Debug)]
struct Case {
    format: Format,
    writes: Vec<Vec<u8>>,
    /// Swap two blocks.
    swap: Option<(u8, u8)>,
    changes: Vec<Change>,
    /// The number of bytes per read, less one.
    read: u16,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Format {
    Aestream,
    /// With small blocks.
    Oae2,
}

const BLOCK_LEN: usize = 32;

fuzz_target!(|case: Case| {
    let mut keyed = Protocol::new(label!("veriplex.fuzz"));
    keyed.mix(label!("key"), &[7; 32]);
    let piece = usize::from(case.read) + 1;
    let plaintext = case.writes.concat();
    match case.format {
        Format::Aestream => {
            let mut writer = aestream::SealWriter::from_protocol(keyed.clone(), Vec::new());
            for write in &case.writes {
                writer.write_all(write).unwrap();
                writer.flush().unwrap();
            }
            let genuine = writer.finish().unwrap();
            let lens = case.writes.iter().map(Vec::len).filter(|&len| len > 0);
            let received = case.received(&genuine, lens.map(|len| len + 18));
            let mut reader = aestream::OpenReader::from_protocol(keyed.clone(), received.as_slice());
            let (opened, error) = read(&mut reader, piece);
            assert!(plaintext.starts_with(&opened));
            assert_eq!(reader.is_finished(), error.is_none());
            // What follows the end is not part of the stream.
            if let Some(after) = received.strip_prefix(genuine.as_slice()) {
                assert_eq!((error, &opened), (None, &plaintext));
                assert_eq!(reader.finish().unwrap().1, after);
            } else {
                assert!(matches!(
                    error,
                    Some(ErrorKind::InvalidData | ErrorKind::UnexpectedEof)
                ));
                assert_eq!(reader.finish().unwrap_err(), Error::Verification);
            }
            assert_eq!(aestream_by_blocks(keyed, &received), (opened, error.is_none()));
        }
        Format::Oae2 => {
            let mut writer = oae2::SealWriter::<_, BLOCK_LEN>::from_protocol(keyed.clone(), Vec::new());
            case.writes
                .iter()
                .for_each(|write| writer.write_all(write).unwrap());
            let genuine = writer.finish().unwrap();
            assert_eq!(
                genuine,
                oae2::Sealer::<BLOCK_LEN>::from_protocol(keyed.clone()).seal_vec(&plaintext)
            );
            let blocks = plaintext.len() / BLOCK_LEN;
            let received = case.received(&genuine, std::iter::repeat_n(BLOCK_LEN + 16, blocks));
            let mut reader =
                oae2::OpenReader::<_, BLOCK_LEN>::from_protocol(keyed.clone(), received.as_slice());
            let (opened, error) = read(&mut reader, piece);
            assert!(plaintext.starts_with(&opened));
            assert_eq!(error.is_none(), received == genuine);
            let whole = oae2::Opener::<BLOCK_LEN>::from_protocol(keyed).open_vec(&received);
            assert_eq!(whole.ok(), error.is_none().then_some(opened));
        }
    }
});

impl Case {
    /// What arrives from a stream whose blocks, except the last, have these lengths.
    fn received(&self, genuine: &[u8], lens: impl Iterator<Item = usize>) -> Vec<u8> {
        let mut rest = genuine;
        let mut blocks: Vec<&[u8]> = lens.map(|len| rest.split_off(..len).unwrap()).collect();
        blocks.push(rest);
        if let Some((a, b)) = self.swap {
            let n = blocks.len();
            blocks.swap(usize::from(a) % n, usize::from(b) % n);
        }
        let mut received = blocks.concat();
        self.changes.iter().for_each(|change| change.apply(&mut received));
        received
    }
}

/// What a reader returns, and its error.
fn read(reader: &mut impl Read, piece: usize) -> (Vec<u8>, Option<ErrorKind>) {
    let mut opened = Vec::new();
    let mut buffer = vec![0; piece];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return (opened, None),
            Ok(n) => opened.extend_from_slice(&buffer[..n]),
            Err(error) => {
                // An error must persist.
                assert!(reader.read(&mut buffer).is_err());
                return (opened, Some(error.kind()));
            }
        }
    }
}

/// The same without `std::io`: what was opened, and whether the end was reached.
fn aestream_by_blocks(keyed: Protocol, received: &[u8]) -> (Vec<u8>, bool) {
    let mut opener = aestream::Opener::from_protocol(keyed);
    let mut opened = Vec::new();
    let mut received = received.to_vec();
    let mut rest = received.as_mut_slice();
    while !opener.is_finished() {
        let Some((header, after)) = rest.split_first_chunk_mut() else {
            break;
        };
        let body = opener.header(*header).unwrap();
        let Some((sealed, after)) = after.split_at_mut_checked(body.sealed_len()) else {
            break;
        };
        match body.open(sealed) {
            Ok(plaintext) => opened.extend_from_slice(plaintext.unwrap_or_default()),
            Err(error) => {
                assert_eq!(error, Error::Verification);
                assert!(opener.header([0; 2]).is_err());
                break;
            }
        }
        rest = after;
    }
    (opened, opener.is_finished())
}
