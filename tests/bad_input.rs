//! Truncated, extended and changed input to everything that parses or opens: an error each, never a panic,
//! nothing given out, and the state as it was.

mod common;
#[path = "common/random.rs"]
mod random;

use std::io::{self, Read, Write};

use common::on_each_backend;
use random::Random;
use veriplex::aead::Aead;
use veriplex::aestream::{MAX_BLOCK_LEN, OVERHEAD, OpenReader, Opener, SealWriter, Sealer};
use veriplex::mac::Mac;
use veriplex::siv::Siv;
use veriplex::{Error, Label, Protocol, label};

/// Mutated inputs per entry point.
const MUTATIONS: usize = 100_000;

impl Random {
    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }

    /// Something other than `original`: cut, extended, changed in places, or unrelated.
    fn mutate(&mut self, original: &[u8]) -> Vec<u8> {
        let mut bytes = original.to_vec();
        match self.below(5) {
            0 => bytes.truncate(self.below(original.len().max(1))),
            1 => (0..=self.below(40)).for_each(|_| bytes.push(self.byte())),
            2 => {
                let length = self.below(original.len() + 40);
                bytes = (0..length).map(|_| self.byte()).collect();
            }
            3 if !bytes.is_empty() => {
                let at = self.below(bytes.len());
                bytes.remove(at);
            }
            _ => {
                for _ in 0..=self.below(3) {
                    let at = self.below(bytes.len().max(1));
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << self.below(8);
                    }
                }
            }
        }
        if bytes == original {
            bytes.push(0);
        }
        bytes
    }
}

fn keyed() -> Protocol {
    let mut protocol = Protocol::new(label!("bad input"));
    protocol.mix(label!("key"), &[7; 32]);
    protocol
}

const MESSAGE: [u8; 150] = [0x5a; 150];

#[test]
fn open_in_place() {
    on_each_backend(|_| {
        let mut random = Random(1);
        let sealed = keyed().seal_vec(label!("m"), &MESSAGE);
        let before = keyed();
        for _ in 0..MUTATIONS {
            let mut input = random.mutate(&sealed);
            let mut protocol = before.clone();
            assert_eq!(
                protocol.open_in_place(label!("m"), &mut input),
                Err(Error::Verification)
            );
            assert_eq!(protocol, before, "an error leaves the protocol as it was");
            if let Some((message, _)) = input.split_last_chunk::<16>() {
                assert!(
                    message.iter().all(|&byte| byte == 0),
                    "unverified plaintext is wiped"
                );
            }
            // And it still opens the real one.
            assert_eq!(protocol.open_vec(label!("m"), &sealed).unwrap(), MESSAGE);
        }
    });
}

#[test]
fn open_into_and_open_vec() {
    let mut random = Random(2);
    let sealed = keyed().seal_vec(label!("m"), &MESSAGE);
    let before = keyed();
    for _ in 0..MUTATIONS {
        let input = random.mutate(&sealed);
        let mut output = vec![0xa5; input.len().saturating_sub(16)];
        let mut protocol = before.clone();
        assert_eq!(
            protocol.open_into(label!("m"), &input, &mut output),
            Err(Error::Verification)
        );
        assert!(output.iter().all(|&byte| byte == 0));
        assert_eq!(protocol.open_vec(label!("m"), &input), Err(Error::Verification));
        assert_eq!(protocol, before);
    }
}

#[test]
fn aead_and_siv() {
    on_each_backend(|_| {
        let mut random = Random(3);
        let (aead, siv) = (
            Aead::<16>::new(label!("d"), &[7; 32]),
            Siv::new(label!("d"), &[7; 32]),
        );
        let (nonce, ad) = ([1; 16], b"header");
        let (a, s) = (
            aead.seal_vec(&nonce, ad, &MESSAGE),
            siv.seal_vec(&nonce, ad, &MESSAGE),
        );
        for _ in 0..MUTATIONS {
            assert_eq!(
                aead.open_vec(&nonce, ad, &random.mutate(&a)),
                Err(Error::Verification)
            );
            assert_eq!(
                siv.open_vec(&nonce, ad, &random.mutate(&s)),
                Err(Error::Verification)
            );
            let wrong_ad = random.mutate(ad);
            assert_eq!(aead.open_vec(&nonce, &wrong_ad, &a), Err(Error::Verification));
            assert_eq!(siv.open_vec(&nonce, &wrong_ad, &s), Err(Error::Verification));
            assert_eq!(
                siv.open_vec(&random.mutate(&nonce), ad, &s),
                Err(Error::Verification)
            );
        }
        let mut wiped = s.clone();
        let (message, tag) = wiped.split_last_chunk_mut().unwrap();
        tag[0] ^= 1;
        assert_eq!(
            siv.open_in_place_detached(&nonce, ad, message, tag),
            Err(Error::Verification)
        );
        assert_eq!(message, [0; MESSAGE.len()]);
    });
}

#[test]
fn mac_verify() {
    let mut random = Random(4);
    let mut mac = Mac::new(label!("d"), &[7; 32]);
    mac.update(&MESSAGE);
    let tag = mac.clone().finalize();
    for _ in 0..MUTATIONS {
        assert_eq!(mac.clone().verify(&random.mutate(&tag)), Err(Error::Verification));
    }
    assert_eq!(mac.verify(&tag), Ok(()));
}

#[test]
fn from_bytes() {
    let mut random = Random(5);
    let mut protocol = keyed();
    protocol.mix(label!("x"), &MESSAGE);
    let saved = protocol.to_bytes();
    let mut restored = 0;
    for _ in 0..MUTATIONS {
        let mut input = random.mutate(&saved);
        if random.below(2) == 0 {
            // Mostly the indices: the first two bytes.
            input = saved.to_vec();
            input[random.below(2)] = random.byte();
        }
        let valid = input.len() == 130 && input[0] < 94 && input[1] < 94;
        match Protocol::try_from(input.as_slice()) {
            Ok(mut protocol) => {
                assert!(valid);
                assert_eq!(protocol.to_bytes(), input.as_slice());
                // Whatever was restored works.
                protocol.mix(label!("x"), &MESSAGE);
                protocol.ratchet(label!("x"));
                restored += 1;
            }
            Err(error) => {
                assert!(!valid);
                assert_eq!(error, Error::InvalidState);
            }
        }
    }
    assert!(
        restored > MUTATIONS / 10 && restored < MUTATIONS * 9 / 10,
        "both kinds are tested: {restored}"
    );
    for index in 94..=255 {
        for at in 0..2 {
            let mut input = saved;
            input[at] = index;
            assert_eq!(Protocol::from_bytes(&input), Err(Error::InvalidState));
        }
    }
}

#[test]
fn labels() {
    let mut random = Random(6);
    for _ in 0..MUTATIONS {
        let length = random.below(400);
        let bytes: Vec<u8> = (0..length).map(|_| random.byte()).collect();
        match Label::new(&bytes) {
            Ok(label) => assert!(length <= 91 && label.as_bytes() == bytes),
            Err(error) => assert!(length > 91 && error == Error::LabelTooLong),
        }
    }
    assert!(Label::try_from("x".repeat(91).as_str()).is_ok());
    assert!(Label::try_from("x".repeat(92).as_str()).is_err());
    assert!(Label::try_from([0; 92].as_slice()).is_err());
}

/// A stream of several blocks.
fn stream() -> Vec<u8> {
    let mut writer = SealWriter::new(keyed(), Vec::new());
    for length in [1, 60, 94, 200] {
        writer.write_all(&vec![0x5a; length]).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap()
}

#[test]
fn open_reader() {
    on_each_backend(|_| {
        let mut random = Random(7);
        let sealed = stream();
        for _ in 0..MUTATIONS / 10 {
            // Reading allocates 64 KiB: the other nine tenths are in `opener`.
            let input = random.mutate(&sealed);
            let mut reader = OpenReader::new(keyed(), input.as_slice());
            let mut out = Vec::new();
            let result = reader.read_to_end(&mut out);
            // Only what was sealed is ever given out, and the end only where it was verified.
            assert!(out.len() <= 355 && out.iter().all(|&byte| byte == 0x5a));
            assert_eq!(result.is_ok(), reader.is_finished());
            if let Err(error) = result {
                assert!(matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
                ));
                assert!(reader.read(&mut [0]).is_err(), "and nothing more after an error");
                assert!(reader.finish().is_err());
            } else {
                // The whole stream was there; what follows it is left to the caller.
                assert_eq!(input[..sealed.len()], sealed);
                let (_, rest) = reader.finish().unwrap();
                assert_eq!(rest, &input[sealed.len()..]);
            }
        }
    });
}

#[test]
fn every_cut_of_a_stream_is_an_error() {
    let sealed = stream();
    for length in 0..sealed.len() {
        let error = OpenReader::new(keyed(), &sealed[..length])
            .read_to_end(&mut Vec::new())
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}

/// Feeds blocks to an `Opener`; returns how many it opened before the first error, and whether it reached the
/// verified end.
fn open_blocks(blocks: &[Vec<u8>]) -> (usize, bool) {
    let mut opener = Opener::new(keyed());
    for (i, block) in blocks.iter().enumerate() {
        let mut block = block.clone();
        let opened = block.split_first_chunk_mut().is_some_and(|(header, sealed)| {
            opener.header(*header).is_ok_and(|body| body.open(sealed).is_ok())
        });
        if !opened {
            if block.len() >= 2 {
                assert_eq!(opener.header([0; 2]).unwrap_err(), Error::Verification);
            }
            let finished = opener.is_finished();
            assert_eq!(opener.finish().is_ok(), finished);
            return (i, finished);
        }
    }
    (blocks.len(), opener.is_finished())
}

#[test]
fn opener() {
    let mut sealer = Sealer::new(keyed());
    let mut blocks: Vec<Vec<u8>> = [1, 60, 94, 200]
        .map(|length| {
            let mut block = vec![0x5a; length + OVERHEAD];
            sealer.seal_block(&mut block).unwrap();
            block
        })
        .into();
    blocks.push(sealer.finish().0.to_vec());
    assert_eq!(open_blocks(&blocks), (5, true));

    let mut random = Random(8);
    for _ in 0..MUTATIONS {
        let mut changed = blocks.clone();
        let at = random.below(blocks.len());
        changed[at] = random.mutate(&blocks[at]);
        assert_eq!(open_blocks(&changed), (at, false));
    }
    // Reordered, repeated, dropped, spliced, and something after the end.
    for at in 0..blocks.len() - 1 {
        let mut swapped = blocks.clone();
        swapped.swap(at, at + 1);
        assert_eq!(open_blocks(&swapped), (at, false));
        let mut repeated = blocks.clone();
        repeated.insert(at, blocks[at].clone());
        assert_eq!(open_blocks(&repeated), (at + 1, false));
        let mut dropped = blocks.clone();
        dropped.remove(at);
        assert_eq!(open_blocks(&dropped), (at, false));
    }
    blocks.push(blocks[4].clone());
    assert_eq!(
        open_blocks(&blocks),
        (5, true),
        "the end was reached, and nothing opens after it"
    );
}

#[test]
fn wrong_buffer_lengths_change_nothing() {
    let before = keyed();
    let mut protocol = before.clone();
    assert_eq!(
        protocol.mask_into(label!("m"), &[0; 5], &mut [0; 4]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        protocol.unmask_into(label!("m"), &[0; 5], &mut [0; 6]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        protocol.seal_in_place(label!("m"), &mut [0; 15]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        protocol.seal_into(label!("m"), &[0; 5], &mut [0; 20]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        protocol.seal_into(label!("m"), &[], &mut [0; 15]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        protocol.open_into(label!("m"), &[0; 20], &mut [0; 5]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        protocol.open_into(label!("m"), &[0; 15], &mut []),
        Err(Error::Verification)
    );
    assert_eq!(
        protocol.open_in_place(label!("m"), &mut [0; 15]),
        Err(Error::Verification)
    );
    assert_eq!(protocol, before);

    let mut sealer = Sealer::new(before.clone());
    for length in [0, 1, OVERHEAD - 1, OVERHEAD, MAX_BLOCK_LEN + OVERHEAD + 1] {
        assert_eq!(sealer.seal_block(&mut vec![0; length]), Err(Error::BufferLength));
    }
    assert_eq!(sealer.finish().0, Sealer::new(before).finish().0);
}

/// A writer whose inner writer failed refuses to go on.
#[test]
fn a_failed_writer_stays_failed() {
    struct Broken(usize);
    impl Write for Broken {
        fn write(&mut self, input: &[u8]) -> io::Result<usize> {
            let n = input.len().min(self.0);
            self.0 -= n;
            if n == 0 {
                Err(io::ErrorKind::BrokenPipe.into())
            } else {
                Ok(n)
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = SealWriter::new(keyed(), Broken(30));
    writer.write_all(&[1; 20]).unwrap();
    assert_eq!(writer.flush().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert!(writer.write(&[1]).is_err());
    assert!(writer.finish().is_err());

    let mut protocol = keyed();
    let mut writer = protocol.mask_stream(label!("m")).writer(Broken(30));
    writer.write_all(&[1; 20]).unwrap();
    assert!(writer.write_all(&[1; 20]).is_err());
    assert!(writer.write(&[1]).is_err());
}
