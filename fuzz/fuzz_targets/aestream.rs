//! Streams on a hostile way: what comes out is what went in, from its beginning, and the end is there only if all is.

#![no_main]

use std::io::{ErrorKind, Read, Write};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::aestream::{OpenReader, Opener, SealWriter};
use veriplex::{Error, Protocol, label};
use veriplex_fuzz::Change;

#[derive(Arbitrary, Debug)]
struct Case {
    blocks: Vec<Vec<u8>>,
    changes: Vec<Change>,
    /// Moves whole blocks.
    swap: Option<(u8, u8)>,
    read: u16,
}

fuzz_target!(|case: Case| {
    let mut keyed = Protocol::new(label!("veriplex.fuzz"));
    keyed.mix(label!("key"), &[7; 32]);

    let mut writer = SealWriter::new(keyed.clone(), Vec::new());
    for block in &case.blocks {
        writer.write_all(block).unwrap();
        writer.flush().unwrap();
    }
    let genuine = writer.finish().unwrap();
    let plaintext = case.blocks.concat();

    let mut received = match case.swap {
        Some((a, b)) => swapped(&genuine, &case.blocks, a, b),
        None => genuine.clone(),
    };
    case.changes.iter().for_each(|change| change.apply(&mut received));

    let (opened, error, rest) = read(keyed.clone(), &received, usize::from(case.read) + 1);
    assert!(plaintext.starts_with(&opened));
    // What follows the end belongs to somebody else.
    if let Some(after) = received.strip_prefix(genuine.as_slice()) {
        assert_eq!((error, &opened, rest), (None, &plaintext, Some(after)));
    } else {
        assert!(matches!(error, Some(ErrorKind::InvalidData | ErrorKind::UnexpectedEof)));
        assert_eq!(rest, None);
    }
    assert_eq!(by_blocks(keyed, received), (opened, error.is_none()));
});

/// The stream with two of its blocks in each other's place.
fn swapped(genuine: &[u8], blocks: &[Vec<u8>], a: u8, b: u8) -> Vec<u8> {
    let mut rest = genuine;
    let mut sealed: Vec<&[u8]> = Vec::new();
    for block in blocks.iter().filter(|block| !block.is_empty()) {
        let (first, after) = rest.split_at(block.len() + 18);
        sealed.push(first);
        rest = after;
    }
    sealed.push(rest);
    let n = sealed.len();
    sealed.swap(usize::from(a) % n, usize::from(b) % n);
    sealed.concat()
}

/// What a reader gives out, its error, and what it leaves behind the end.
fn read(keyed: Protocol, received: &[u8], piece: usize) -> (Vec<u8>, Option<ErrorKind>, Option<&[u8]>) {
    let mut reader = OpenReader::new(keyed, received);
    let mut opened = Vec::new();
    let mut buffer = vec![0; piece];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => {
                assert!(reader.is_finished());
                let (_, rest) = reader.finish().unwrap();
                return (opened, None, Some(rest));
            }
            Ok(n) => opened.extend_from_slice(&buffer[..n]),
            Err(error) => {
                // No way back.
                assert!(reader.read(&mut buffer).is_err());
                assert_eq!(reader.finish().unwrap_err(), Error::Verification);
                return (opened, Some(error.kind()), None);
            }
        }
    }
}

/// The same without `std::io`: what was opened, and whether the end was there.
fn by_blocks(keyed: Protocol, mut received: Vec<u8>) -> (Vec<u8>, bool) {
    let mut opener = Opener::new(keyed);
    let mut opened = Vec::new();
    let mut rest = received.as_mut_slice();
    while !opener.is_finished() {
        let Some((header, after)) = rest.split_first_chunk_mut() else { break };
        let body = opener.header(*header).unwrap();
        let Some((sealed, after)) = after.split_at_mut_checked(body.sealed_len()) else { break };
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
