//! Truncated, extended and changed input to everything that parses or opens: each gives an error, never a panic,
//! no output, and leaves the state unchanged.

mod common;
#[cfg(target_os = "linux")]
#[path = "common/limited.rs"]
mod limited;
#[path = "common/random.rs"]
mod random;

use std::collections::HashSet;
use std::io::{self, BufWriter, Read, Write};

use common::{on_each_backend, refusal};
use random::Random;
use veriplex::aead::Aead;
use veriplex::aestream::{MAX_BLOCK_LEN, OVERHEAD, OpenReader, Opener, SealWriter, Sealer};
use veriplex::mac::Mac;
use veriplex::mhf::{self, BLOCK_LEN, Mhf};
use veriplex::siv::Siv;
use veriplex::{Error, Key, Label, Protocol, label, oae2, stream};

/// Mutated inputs per entry point. `VERIPLEX_MUTATIONS` overrides the number.
fn mutations() -> usize {
    std::env::var("VERIPLEX_MUTATIONS").map_or(100_000, |text| text.parse().expect("a number"))
}

impl Random {
    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[3]
    }

    /// Something other than `original`: truncated, extended, changed in places, or unrelated.
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
        for _ in 0..mutations() {
            let mut input = random.mutate(&sealed);
            let refused = refusal(&input, 16);
            let mut protocol = before.clone();
            assert_eq!(protocol.open_in_place(label!("m"), &mut input), Err(refused));
            assert_eq!(protocol, before, "an error must not change the protocol");
            if let Some((message, _)) = input.split_last_chunk::<16>() {
                assert!(
                    message.iter().all(|&byte| byte == 0),
                    "unverified plaintext was not wiped"
                );
            }
            // It still opens the genuine message.
            assert_eq!(protocol.open_vec(label!("m"), &sealed).unwrap(), MESSAGE);
        }
    });
}

#[test]
fn open_into_and_open_vec() {
    let mut random = Random(2);
    let sealed = keyed().seal_vec(label!("m"), &MESSAGE);
    let before = keyed();
    for _ in 0..mutations() {
        let input = random.mutate(&sealed);
        let mut output = vec![0xa5; input.len().checked_sub(16).unwrap_or(9)];
        let mut protocol = before.clone();
        assert_eq!(
            protocol.open_into(label!("m"), &input, &mut output),
            Err(refusal(&input, 16))
        );
        assert!(output.iter().all(|&byte| byte == 0));
        assert_eq!(protocol.open_vec(label!("m"), &input), Err(refusal(&input, 16)));
        assert_eq!(protocol, before);
    }
}

#[test]
fn aead_and_siv() {
    on_each_backend(|_| {
        let mut random = Random(3);
        let (aead, siv) = (
            Aead::<16>::new(label!("d"), &Key::from([7; 32])),
            Siv::new(label!("d"), &Key::from([7; 32])),
        );
        let (nonce, ad) = ([1; 16], b"header");
        let (a, s) = (
            aead.seal_vec(&nonce, ad, &MESSAGE),
            siv.seal_vec(&nonce, ad, &MESSAGE),
        );
        for _ in 0..mutations() {
            let mut changed = random.mutate(&a);
            let refused = refusal(&changed, 16);
            assert_eq!(aead.open_vec(&nonce, ad, &changed), Err(refused));
            assert_eq!(aead.open_in_place(&nonce, ad, &mut changed), Err(refused));
            assert!(changed.iter().rev().skip(16).all(|&byte| byte == 0));
            let changed = random.mutate(&s);
            let refused = refusal(&changed, 16);
            let mut in_place = changed.clone();
            assert_eq!(siv.open_in_place(&nonce, ad, &mut in_place), Err(refused));
            assert!(in_place.iter().rev().skip(16).all(|&byte| byte == 0));
            assert_eq!(siv.open_vec(&nonce, ad, &changed), Err(refused));
            let mut output = vec![0xa5; changed.len().checked_sub(16).unwrap_or(9)];
            assert_eq!(siv.open_into(&nonce, ad, &changed, &mut output), Err(refused));
            assert!(output.iter().all(|&byte| byte == 0));
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
    let mut mac = Mac::new(label!("d"), &Key::from([7; 32]));
    mac.update(&MESSAGE);
    let tag = mac.clone().finalize();
    for _ in 0..mutations() {
        assert_eq!(
            mac.clone().verify(&random.mutate(tag.as_bytes())),
            Err(Error::Verification)
        );
    }
    assert_eq!(mac.verify(tag.as_bytes()), Ok(()));
}

#[test]
fn from_bytes() {
    let mut random = Random(5);
    let mut protocol = keyed();
    protocol.mix(label!("x"), &MESSAGE);
    let saved = protocol.to_bytes();
    let mut restored = 0;
    for _ in 0..mutations() {
        let mut input = random.mutate(&saved);
        if random.below(2) == 0 {
            // Half the time, change only an index: one of the first two bytes.
            input = saved.to_vec();
            input[random.below(2)] = random.byte();
        }
        let valid = input.len() == 130 && has_indices(&input);
        match Protocol::try_from(input.as_slice()) {
            Ok(mut protocol) => {
                assert!(valid);
                assert_eq!(protocol.to_bytes(), input.as_slice());
                // Any restored state works.
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
        restored > mutations() / 10 && restored < mutations() * 9 / 10,
        "valid and invalid states must both be common: {restored}"
    );
}

/// What the documentation says of an active attacker: a flipped bit of the header is one of the length, so how much the
/// receiver then reads shows that bit.
#[test]
fn the_mask_of_a_header_hides_nothing_from_an_active_attacker() {
    for len in [1, 5, 1000, 40_000] {
        let mut block = vec![0; len + OVERHEAD];
        Sealer::from_protocol(keyed()).seal_block(&mut block).unwrap();
        for bit in 0..16 {
            let header = u16::from_be_bytes([block[0], block[1]]) ^ 1 << bit;
            let mut opener = Opener::from_protocol(keyed());
            let body = opener.header(header.to_be_bytes()).unwrap();
            assert_eq!(body.sealed_len(), (len ^ 1 << bit) + 16);
        }
    }
}

/// Whether a protocol can have these indices: the last frame began in an earlier block, or before the cursor.
fn has_indices(state: &[u8]) -> bool {
    let [rate_idx, frame_idx] = [state[0], state[1]];
    rate_idx < 94 && frame_idx < 94 && (frame_idx == 0 || frame_idx < rate_idx)
}

/// Every pair of indices that is accepted is one that a protocol has, and the other way round.
#[test]
fn indices_that_no_protocol_has() {
    let mut reached = std::collections::BTreeSet::new();
    let mut see = |protocol: &Protocol| reached.insert([protocol.to_bytes()[0], protocol.to_bytes()[1]]);
    for domain in 0..=91 {
        for label in [0, 91] {
            for len in 0..95 {
                let mut protocol = Protocol::new(Label::new(&[b'd'; 91][..domain]).unwrap());
                see(&protocol);
                protocol.mix(Label::new(&[b'l'; 91][..label]).unwrap(), &[0; 95][..len]);
                see(&protocol);
                protocol.ratchet(label!("r"));
                see(&protocol);
            }
        }
    }
    let mut accepted = std::collections::BTreeSet::new();
    for rate_idx in 0..=255 {
        for frame_idx in 0..=255 {
            let mut input = [0x5a; 130];
            [input[0], input[1]] = [rate_idx, frame_idx];
            match Protocol::from_bytes(&input) {
                Ok(_) => assert!(accepted.insert([rate_idx, frame_idx])),
                Err(error) => assert_eq!(error, Error::InvalidState),
            }
            assert_eq!(accepted.contains(&[rate_idx, frame_idx]), has_indices(&input));
        }
    }
    assert_eq!(accepted, reached);
    assert_eq!(accepted.len(), 94 * 94 - 4464);
}

#[test]
fn labels() {
    let mut random = Random(6);
    for _ in 0..mutations() {
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

fn every_error() -> [Error; 9] {
    [
        Error::LabelTooLong,
        Error::BufferLength,
        Error::TooManyBranches,
        Error::Verification,
        Error::TooShort,
        Error::InvalidState,
        Error::InvalidKey,
        Error::LimitReached,
        Error::OutOfRange,
    ]
}

/// What goes into a log tells which error it was, in one line.
#[test]
fn each_error_has_its_text() {
    use mhf::Error::{CostTooHigh, CostTooLow, OutOfMemory};
    let of_mhf = [CostTooHigh, CostTooLow, OutOfMemory].map(|error| error.to_string());
    let texts: Vec<_> = every_error().iter().map(Error::to_string).chain(of_mhf).collect();
    for text in &texts {
        // As the standard library's are: part of a line, and no sentence.
        assert!(text.starts_with(char::is_lowercase), "{text}");
        assert!(!text.ends_with('.') && !text.contains('\n'), "{text}");
    }
    assert_eq!(
        texts.iter().collect::<HashSet<_>>().len(),
        texts.len(),
        "{texts:?}"
    );
    let limit = |error: Error, limit: usize| assert!(error.to_string().contains(&format!(" {limit} ")));
    limit(Error::LabelTooLong, Label::MAX_LEN);
    limit(Error::TooManyBranches, Protocol::MAX_BRANCHES);
}

#[test]
fn an_error_of_input_and_output_holds_the_error() {
    for error in every_error() {
        let outer = io::Error::from(error);
        let inner = outer.get_ref().and_then(|inner| inner.downcast_ref());
        assert_eq!(inner, Some(&error));
        let kind = match error {
            Error::Verification | Error::TooShort | Error::InvalidState | Error::InvalidKey => {
                io::ErrorKind::InvalidData
            }
            _ => io::ErrorKind::InvalidInput,
        };
        assert_eq!(outer.kind(), kind, "{error}");
    }
}

/// A label in a log is in one line, whatever its bytes are.
#[test]
fn labels_are_shown_escaped() {
    assert_eq!(
        format!("{:?}", label!("com.example.app")),
        "Label(\"com.example.app\")"
    );
    let odd = Label::new(b"a\"b\n\xff\0").unwrap();
    assert_eq!(format!("{odd:?}"), r#"Label("a\"b\n\xff\x00")"#);
}

/// A flush of the writers reaches the one that they write to.
#[test]
fn a_flush_reaches_the_inner_writer() {
    let mut buffered = [(); 2].map(|()| BufWriter::new(Vec::new()));
    let [first, second] = &mut buffered;
    let mut protocol = keyed();
    let mut writer = protocol.mask_stream(label!("m")).writer(first);
    writer.write_all(&MESSAGE).unwrap();
    writer.flush().unwrap();
    let encryptor = stream::Encryptor::new(label!("d"), &Key::from([7; 32]), &[1; 16]);
    let mut writer = encryptor.writer(second);
    writer.write_all(&MESSAGE).unwrap();
    writer.flush().unwrap();
    for buffered in buffered {
        assert!(buffered.buffer().is_empty());
        assert_eq!(buffered.get_ref().len(), MESSAGE.len());
    }
}

/// A stream of several blocks.
fn sealed_stream() -> Vec<u8> {
    let mut writer = SealWriter::from_protocol(keyed(), Vec::new());
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
        let sealed = sealed_stream();
        for _ in 0..mutations() / 10 {
            // Reading allocates 64 KiB: the other nine tenths are in `opener`.
            let input = random.mutate(&sealed);
            assert_eq!(
                Opener::from_protocol(keyed()).open_vec(&input),
                Err(Error::Verification)
            );
            let mut reader = OpenReader::from_protocol(keyed(), input.as_slice());
            let mut out = Vec::new();
            let result = reader.read_to_end(&mut out);
            // The output is a prefix of what was sealed, and the end is reported only once it is verified.
            assert!(out.len() <= 355 && out.iter().all(|&byte| byte == 0x5a));
            assert_eq!(result.is_ok(), reader.is_finished());
            if let Err(error) = result {
                assert!(matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
                ));
                assert!(reader.read(&mut [0]).is_err(), "an error must persist");
                assert!(reader.finish().is_err());
            } else {
                // The whole stream was there. What follows it is left to the caller.
                assert_eq!(input[..sealed.len()], sealed);
                let (_, rest) = reader.finish().unwrap();
                assert_eq!(rest, &input[sealed.len()..]);
            }
        }
    });
}

#[test]
fn every_cut_of_a_stream_is_an_error() {
    let sealed = sealed_stream();
    for length in 0..sealed.len() {
        assert_eq!(
            Opener::from_protocol(keyed()).open_vec(&sealed[..length]),
            Err(Error::Verification)
        );
        let error = OpenReader::from_protocol(keyed(), &sealed[..length])
            .read_to_end(&mut Vec::new())
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}

/// Feeds blocks to an `Opener`. Returns how many it opened before the first error, and whether it reached the
/// verified end.
fn open_blocks(blocks: &[Vec<u8>]) -> (usize, bool) {
    let mut opener = Opener::from_protocol(keyed());
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
    let mut sealer = Sealer::from_protocol(keyed());
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
    for _ in 0..mutations() {
        let mut changed = blocks.clone();
        let at = random.below(blocks.len());
        changed[at] = random.mutate(&blocks[at]);
        assert_eq!(open_blocks(&changed), (at, false));
    }
    // Swapped, repeated, dropped and spliced blocks, and one after the end.
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
    // Spliced: a block, and a tail, from another stream under the same key.
    let mut other = keyed();
    other.mix(label!("nonce"), &[1]);
    let mut other = Sealer::from_protocol(other).seal_vec(&[0x5a; 94]);
    let end = other.split_off(94 + OVERHEAD);
    for (at, foreign) in [(2, other), (4, end)] {
        let mut spliced = blocks.clone();
        spliced[at] = foreign;
        assert_eq!(open_blocks(&spliced), (at, false));
    }
    blocks.push(blocks[4].clone());
    assert_eq!(open_blocks(&blocks), (5, true), "nothing may open after the end");
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
        Err(Error::TooShort)
    );
    assert_eq!(
        protocol.open_in_place(label!("m"), &mut [0; 15]),
        Err(Error::TooShort)
    );
    assert_eq!(protocol, before);

    for length in [4, 6] {
        let mut output = vec![0xa5; length];
        let result = stream::encrypt_into(label!("d"), &Key::from([7; 32]), &[1; 16], &[0; 5], &mut output);
        assert_eq!(result, Err(Error::BufferLength));
        let result = stream::decrypt_into(label!("d"), &Key::from([7; 32]), &[1; 16], &[0; 5], &mut output);
        assert_eq!(result, Err(Error::BufferLength));
        assert_eq!(output, vec![0xa5; length]);
    }

    let siv = Siv::new(label!("d"), &Key::from([7; 32]));
    assert_eq!(
        siv.seal_into(b"", b"", &[0; 5], &mut [0; 20]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        siv.seal_in_place(b"", b"", &mut [0; 15]),
        Err(Error::BufferLength)
    );
    let aead = Aead::<16>::new(label!("d"), &Key::from([7; 32]));
    assert_eq!(
        aead.seal_in_place(&[0; 16], b"", &mut [0; 15]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        siv.seal_into(b"", b"", &[], &mut [0; 15]),
        Err(Error::BufferLength)
    );
    assert_eq!(
        siv.open_into(b"", b"", &[0; 20], &mut [0; 5]),
        Err(Error::BufferLength)
    );

    let mut sealer = oae2::Sealer::<8>::from_protocol(before.clone());
    for length in [0, 8, 23, 25, 48] {
        let mut block = vec![0x5a; length];
        assert_eq!(sealer.seal_block(&mut block), Err(Error::BufferLength));
        assert_eq!(sealer.clone().finish(&mut block, 0), Err(Error::BufferLength));
        assert_eq!(block, vec![0x5a; length]);
    }
    for plaintext_len in [8, 9, 24, usize::MAX] {
        let finished = sealer.clone().finish(&mut [0; 24], plaintext_len);
        assert_eq!(finished, Err(Error::BufferLength));
    }
    let end = |sealer: oae2::Sealer<8>| sealer.finish(&mut [0; 24], 0).unwrap();
    assert_eq!(end(sealer), end(oae2::Sealer::from_protocol(before.clone())));

    let mut sealer = Sealer::from_protocol(before.clone());
    for length in [0, 1, OVERHEAD - 1, OVERHEAD, MAX_BLOCK_LEN + OVERHEAD + 1] {
        assert_eq!(sealer.seal_block(&mut vec![0; length]), Err(Error::BufferLength));
    }
    assert_eq!(sealer.finish().0, Sealer::from_protocol(before).finish().0);
}

/// Blocks of 8 bytes: three full ones and a last one.
const OAE2_MESSAGE: [u8; 29] = [0x5a; 29];

fn oae2_blocks() -> Vec<Vec<u8>> {
    let sealed = oae2::Sealer::<8>::from_protocol(keyed()).seal_vec(&OAE2_MESSAGE);
    sealed.chunks(24).map(<[u8]>::to_vec).collect()
}

/// Feeds blocks to an `Opener`, the last of them as the stream's last. Returns how many it opened before the first
/// error, and whether it reached the verified end.
fn open_oae2(blocks: &[Vec<u8>]) -> (usize, bool) {
    let mut opener = oae2::Opener::<8>::from_protocol(keyed());
    for (i, block) in blocks.iter().enumerate() {
        let mut block = block.clone();
        let opened = if i + 1 < blocks.len() {
            opener
                .open_block(&mut block)
                .map(|plaintext| plaintext.len() == 8)
        } else {
            opener.open_last(&mut block).map(|plaintext| plaintext.len() == 5)
        };
        match opened {
            Ok(expected) => assert!(expected),
            Err(error) => {
                assert_eq!(error, Error::Verification);
                if block.len() == 24 {
                    assert_eq!(block[..8], [0; 8], "unverified plaintext was not wiped");
                }
                let mut real = oae2_blocks()[i].clone();
                assert!(opener.open_block(&mut real).is_err() && opener.open_last(&mut real).is_err());
                assert!(!opener.is_finished() && opener.finish().is_err());
                return (i, false);
            }
        }
    }
    assert!(opener.is_finished());
    let mut more = blocks[0].clone();
    assert_eq!(opener.open_block(&mut more), Err(Error::Verification));
    assert_eq!(opener.open_last(&mut more), Err(Error::Verification));
    (blocks.len(), opener.finish().is_ok())
}

#[test]
fn oae2_opener() {
    let blocks = oae2_blocks();
    assert_eq!(open_oae2(&blocks), (4, true));
    let mut random = Random(9);
    for _ in 0..mutations() {
        let mut changed = blocks.clone();
        let at = random.below(blocks.len());
        changed[at] = random.mutate(&blocks[at]);
        assert_eq!(open_oae2(&changed), (at, false));
    }
    for at in 0..blocks.len() {
        // Dropped: also the last block, so that the one before it is rejected as the last.
        let mut dropped = blocks.clone();
        dropped.remove(at);
        assert_eq!(open_oae2(&dropped), (at.min(2), false));
        let mut repeated = blocks.clone();
        repeated.insert(at, blocks[at].clone());
        assert_eq!(open_oae2(&repeated), (if at == 3 { 3 } else { at + 1 }, false));
        if at < 3 {
            let mut swapped = blocks.clone();
            swapped.swap(at, at + 1);
            assert_eq!(open_oae2(&swapped), (at, false));
        }
    }
    // Spliced: a block, and a tail, from another stream under the same key.
    let mut other = keyed();
    other.mix(label!("nonce"), &[1]);
    let other = oae2::Sealer::<8>::from_protocol(other).seal_vec(&OAE2_MESSAGE);
    for at in 0..blocks.len() {
        let mut spliced = blocks.clone();
        spliced[at] = other[24 * at..][..24].to_vec();
        assert_eq!(open_oae2(&spliced), (at, false));
        spliced[at..].clone_from_slice(&other.chunks(24).map(<[u8]>::to_vec).collect::<Vec<_>>()[at..]);
        assert_eq!(open_oae2(&spliced), (at, false));
    }
}

/// Reader and one-shot form on changed streams: only a prefix of what was sealed comes out, and an error.
#[test]
fn oae2_reader() {
    on_each_backend(|_| {
        let mut random = Random(10);
        let sealed = oae2_blocks().concat();
        for i in 0..mutations() {
            // Every truncation first.
            let input = if i < sealed.len() {
                sealed[..i].to_vec()
            } else {
                random.mutate(&sealed)
            };
            let mut reader = oae2::OpenReader::<_, 8>::from_protocol(keyed(), input.as_slice());
            let mut out = Vec::new();
            let error = reader.read_to_end(&mut out).unwrap_err();
            assert!(out.len() % 8 == 0 && OAE2_MESSAGE.starts_with(&out));
            // A cut between blocks looks like a last block that fails. The empty stream has no last block.
            let cut_inside = input.len() % 24 != 0 || input.is_empty();
            if i < sealed.len() && cut_inside {
                assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
            } else {
                assert!(matches!(
                    error.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData
                ));
            }
            assert!(reader.read(&mut [0]).is_err(), "an error must persist");
            assert!(!reader.is_finished() && reader.finish().is_err());
            assert_eq!(
                oae2::Opener::<8>::from_protocol(keyed()).open_vec(&input),
                Err(Error::Verification)
            );
        }
        assert_eq!(
            oae2::Opener::<8>::from_protocol(keyed())
                .open_vec(&sealed)
                .unwrap(),
            OAE2_MESSAGE
        );
    });
}

/// A last block that was sealed under the right key, but with wrong padding.
#[test]
fn oae2_padding() {
    for padded in [
        [0; 8],
        [1, 2, 3, 4, 5, 6, 7, 8],
        [0x80, 0, 0, 0, 0, 0, 0, 1],
        [5, 0x80, 0, 0, 0x81, 0, 0, 0],
    ] {
        let mut block = keyed().seal_vec(label!("final"), &padded);
        let mut opener = oae2::Opener::<8>::from_protocol(keyed());
        assert_eq!(opener.open_last(&mut block), Err(Error::Verification));
        assert_eq!(block[..8], [0; 8]);
        assert!(opener.finish().is_err());
    }
    let mut block = keyed().seal_vec(label!("final"), &[1, 0x80, 2, 0x80, 0, 0, 0, 0]);
    let mut opener = oae2::Opener::<8>::from_protocol(keyed());
    assert_eq!(opener.open_last(&mut block).unwrap(), [1, 0x80, 2]);
}

/// Blocks that were sealed under the right key, but with more or less in them than a block has.
#[test]
fn oae2_blocks_of_other_lengths() {
    for len in [0, 1, 7, 9, 16] {
        let mut block = keyed().seal_vec(label!("block"), &vec![0x80; len]);
        let mut opener = oae2::Opener::<8>::from_protocol(keyed());
        assert_eq!(opener.open_block(&mut block), Err(Error::Verification), "{len}");
        let mut block = keyed().seal_vec(label!("final"), &vec![0x80; len]);
        let mut opener = oae2::Opener::<8>::from_protocol(keyed());
        assert_eq!(opener.open_last(&mut block), Err(Error::Verification), "{len}");
        assert!(!opener.is_finished() && opener.finish().is_err());
    }
}

#[test]
fn mhf() {
    for cost in Mhf::MAX_COST + 1..=u8::MAX {
        assert_eq!(Mhf::new(label!("d"), cost), Err(mhf::Error::CostTooHigh));
        assert_eq!(
            Mhf::with_any_cost(label!("d"), cost),
            Err(mhf::Error::CostTooHigh)
        );
    }
    let largest = Mhf::new(label!("d"), Mhf::MAX_COST).unwrap();
    assert!(largest.memory_blocks() <= isize::MAX as usize / BLOCK_LEN);

    for cost in 0..Mhf::MIN_COST {
        assert_eq!(Mhf::new(label!("d"), cost), Err(mhf::Error::CostTooLow));
    }
    let least = Mhf::new(label!("d"), Mhf::MIN_COST);
    assert_eq!(least, Mhf::with_any_cost(label!("d"), Mhf::MIN_COST));
    assert!(least.is_ok() && Mhf::new(label!("d"), Mhf::RECOMMENDED_COST).is_ok());
    let mhf = Mhf::with_any_cost(label!("d"), 1).unwrap();
    assert_eq!(mhf.memory_blocks(), 10);
    for blocks in [0, 9, 11] {
        let (mut memory, mut output) = (vec![[0x5a; BLOCK_LEN]; blocks], [0xa5; 32]);
        let result = mhf.hash_into_with_memory(b"p", b"s", &mut output, &mut memory);
        assert_eq!(result, Err(Error::BufferLength));
        assert_eq!((memory, output), (vec![[0x5a; BLOCK_LEN]; blocks], [0xa5; 32]));
    }
}

/// Runs in a child process that is limited to 1 GiB.
#[cfg(target_os = "linux")]
#[cfg_attr(
    target_arch = "aarch64",
    ignore = "the test starts itself as a child process, which does not work under an emulator"
)]
#[test]
fn mhf_out_of_memory() {
    if !limited::is_limited_child("mhf_out_of_memory") {
        return;
    }
    let mut output = [0xa5; 32];
    let mhf = Mhf::new(label!("d"), 18).unwrap();
    assert_eq!(
        mhf.hash_into(b"p", b"s", &mut output),
        Err(mhf::Error::OutOfMemory)
    );
    assert_eq!(output, [0xa5; 32]);
}

#[test]
fn key_lengths() {
    for length in [0, 31, 33, 64] {
        let bytes = vec![7; length];
        assert_eq!(Key::<32>::try_from(bytes.as_slice()), Err(Error::InvalidKey));
    }
    assert_eq!(Key::try_from([7; 32].as_slice()), Ok(Key::from([7; 32])));
}

/// Yields its input in small pieces, and fails between them.
struct Moody<'a> {
    input: &'a [u8],
    random: Random,
}

impl Read for Moody<'_> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        match self.random.below(3) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            1 => Err(io::ErrorKind::Interrupted.into()),
            _ => {
                let n = output.len().min(1 + self.random.below(9));
                self.input.read(&mut output[..n])
            }
        }
    }
}

/// Takes small pieces, and fails between them.
struct MoodyWriter {
    output: Vec<u8>,
    random: Random,
}

impl Write for MoodyWriter {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.flush()?;
        let n = input.len().min(1 + self.random.below(9));
        self.output.extend_from_slice(&input[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.random.below(3) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            1 => Err(io::ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

/// Repeats a call for as long as the inner reader or writer fails.
fn persist<T>(mut call: impl FnMut() -> io::Result<T>) -> T {
    loop {
        match call() {
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            result => return result.unwrap(),
        }
    }
}

fn write_persistently(writer: &mut impl Write, message: &[u8], flush: bool) {
    for mut piece in message.chunks(11) {
        while !piece.is_empty() {
            let n = persist(|| writer.write(piece));
            piece = &piece[n..];
        }
        if flush {
            persist(|| writer.flush());
        }
    }
}

fn read_persistently(mut reader: impl Read) -> Vec<u8> {
    let mut message = Vec::new();
    loop {
        let mut piece = [0; 7];
        match persist(|| reader.read(&mut piece)) {
            0 => return message,
            n => message.extend_from_slice(&piece[..n]),
        }
    }
}

/// An error of the inner reader or writer loses nothing: the caller repeats the call, and the stream is the same.
#[test]
fn inner_errors_can_be_retried() {
    for seed in 1..200 {
        let mut inner = MoodyWriter {
            output: Vec::new(),
            random: Random(seed),
        };
        let mut writer = SealWriter::from_protocol(keyed(), &mut inner);
        write_persistently(&mut writer, &MESSAGE, seed % 2 == 0);
        persist(|| writer.try_finish());
        let late = writer.write(b"late").unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::Other, "no write may follow the end");
        persist(|| writer.try_finish());
        let sealed = inner.output;
        if seed % 2 != 0 {
            assert_eq!(sealed, Sealer::from_protocol(keyed()).seal_vec(&MESSAGE));
        }
        let input = Moody {
            input: &sealed,
            random: Random(seed),
        };
        let mut reader = OpenReader::from_protocol(keyed(), input);
        assert_eq!(read_persistently(&mut reader), MESSAGE);
        assert!(reader.is_finished());

        let mut inner = MoodyWriter {
            output: Vec::new(),
            random: Random(seed),
        };
        let mut writer = oae2::SealWriter::<_, 16>::from_protocol(keyed(), &mut inner);
        write_persistently(&mut writer, &MESSAGE, seed % 2 == 0);
        persist(|| writer.try_finish());
        let sealed = inner.output;
        assert_eq!(
            sealed,
            oae2::Sealer::<16>::from_protocol(keyed()).seal_vec(&MESSAGE)
        );
        let input = Moody {
            input: &sealed,
            random: Random(seed),
        };
        let mut reader = oae2::OpenReader::<_, 16>::from_protocol(keyed(), input);
        assert_eq!(read_persistently(&mut reader), MESSAGE);
        assert!(reader.is_finished());

        let ciphertext = stream::encrypt_vec(label!("d"), &Key::from([7; 32]), &[1; 16], &MESSAGE);
        let input = Moody {
            input: &ciphertext,
            random: Random(seed),
        };
        let decryptor = stream::Decryptor::new(label!("d"), &Key::from([7; 32]), &[1; 16]);
        assert_eq!(read_persistently(decryptor.reader(input)), MESSAGE);
    }
}

/// Reports the end of its input, and later yields more.
struct Resumed<'a>(Vec<&'a [u8]>);

impl Read for Resumed<'_> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let Some(input) = self.0.first_mut() else {
            return Ok(0);
        };
        let n = input.read(output)?;
        if n == 0 {
            self.0.remove(0);
        }
        Ok(n)
    }
}

/// Once the reader has seen its input end, the stream has ended, even if more input comes later.
#[test]
fn a_cut_stream_does_not_go_on() {
    let check = |mut reader: Box<dyn Read + '_>, whole: bool| {
        let mut message = Vec::new();
        let result = reader.read_to_end(&mut message);
        assert_eq!(result.is_ok(), whole);
        assert!(MESSAGE.starts_with(&message) && (!whole || message.len() == MESSAGE.len()));
        for _ in 0..3 {
            assert_eq!(reader.read(&mut [0]).ok(), whole.then_some(0));
            assert_eq!(reader.read(&mut []).ok(), whole.then_some(0));
        }
    };
    let sealed = Sealer::from_protocol(keyed()).seal_vec(&MESSAGE);
    for at in 0..=sealed.len() {
        let input = Resumed(vec![&sealed[..at], &sealed[at..]]);
        check(
            Box::new(OpenReader::from_protocol(keyed(), input)),
            at == sealed.len(),
        );
    }
    let sealed = oae2::Sealer::<16>::from_protocol(keyed()).seal_vec(&MESSAGE);
    for at in 0..=sealed.len() {
        let input = Resumed(vec![&sealed[..at], &sealed[at..]]);
        let reader = oae2::OpenReader::<_, 16>::from_protocol(keyed(), input);
        check(Box::new(reader), at == sealed.len());
    }
}

/// A dropped writer leaves a stream without an end, and writes no plaintext.
#[test]
fn a_dropped_writer_leaves_a_cut_stream() {
    let mut sealed = Vec::new();
    let mut writer = SealWriter::from_protocol(keyed(), &mut sealed);
    writer.write_all(&MESSAGE).unwrap();
    writer.flush().unwrap();
    writer.write_all(&MESSAGE).unwrap();
    drop(writer);
    assert_eq!(sealed.len(), MESSAGE.len() + OVERHEAD);
    let mut opened = Vec::new();
    let error = OpenReader::from_protocol(keyed(), sealed.as_slice())
        .read_to_end(&mut opened)
        .unwrap_err();
    assert_eq!(
        (error.kind(), opened),
        (io::ErrorKind::UnexpectedEof, MESSAGE.to_vec())
    );
}

/// A writer whose inner writer failed keeps failing.
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
    let mut writer = SealWriter::from_protocol(keyed(), Broken(30));
    writer.write_all(&[1; 20]).unwrap();
    assert_eq!(writer.flush().unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert!(writer.write(&[1]).is_err());
    assert!(writer.finish().is_err());

    // An inner writer that is full.
    let mut full = [0; 30];
    let mut writer = SealWriter::from_protocol(keyed(), full.as_mut_slice());
    writer.write_all(&[1; 20]).unwrap();
    for _ in 0..2 {
        assert_eq!(writer.try_finish().unwrap_err().kind(), io::ErrorKind::WriteZero);
    }

    let mut protocol = keyed();
    let mut writer = protocol.mask_stream(label!("m")).writer(Broken(30));
    writer.write_all(&[1; 20]).unwrap();
    for kind in [io::ErrorKind::BrokenPipe, io::ErrorKind::Other] {
        assert_eq!(writer.write(&[1; 20]).unwrap_err().kind(), kind);
    }
}

/// Also where nobody could repeat the call.
#[test]
fn an_interrupted_writer_is_called_again() {
    struct Interrupted(bool, Vec<u8>);
    impl Write for Interrupted {
        fn write(&mut self, input: &[u8]) -> io::Result<usize> {
            self.0 = !self.0;
            if self.0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            self.1.write(&input[..input.len().min(7)])
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut writer = SealWriter::from_protocol(keyed(), Interrupted(false, Vec::new()));
    writer.write_all(&MESSAGE).unwrap();
    let sealed = writer.finish().unwrap().1;
    assert_eq!(sealed, Sealer::from_protocol(keyed()).seal_vec(&MESSAGE));
}

/// A writer whose inner writer panicked keeps failing: nobody knows what was written.
#[test]
fn a_writer_that_panicked_stays_failed() {
    struct Panics;
    impl Write for Panics {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            panic!("as some writers do")
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut protocol = keyed();
    let mut writer = protocol.mask_stream(label!("m")).writer(Panics);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| writer.write(&[1])));
    assert!(panicked.is_err());
    assert_eq!(writer.write(&[1]).unwrap_err().kind(), io::ErrorKind::Other);
}

/// A caught panic of the caller's code leaves the protocol after a whole Fork.
#[test]
fn a_fork_is_whole_before_the_caller_sees_a_branch() {
    struct Panics;
    impl AsRef<[u8]> for Panics {
        fn as_ref(&self) -> &[u8] {
            panic!("as some values do")
        }
    }
    let caught = |fork: &dyn Fn(&mut Protocol)| {
        let mut protocol = keyed();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| fork(&mut protocol))).unwrap_err();
        protocol
    };
    let mut whole = keyed();
    let _branches = whole.fork(label!("f"), ["x"]);
    let by_value = caught(&|protocol| drop(protocol.fork(label!("f"), [Panics])));
    let by_callback = caught(&|protocol| {
        let _ = protocol.fork_each(label!("f"), &[b"x"], |_, _| panic!("as some callers do"));
    });
    for mut protocol in [by_value, by_callback] {
        assert_eq!(
            protocol.derive_array::<32>(label!("d")),
            whole.clone().derive_array::<32>(label!("d"))
        );
    }
}

#[test]
fn blocks_of_different_numbers() {
    use veriplex::hazmat::{Backend, RATE};

    let input = [[7; RATE]; 3];
    for backend in Backend::available() {
        for n in 0..3 {
            for operation in [Backend::encrypt_blocks_into, Backend::decrypt_blocks_into] {
                let (mut state, mut short) = ([1; 128], vec![[0; RATE]; n]);
                operation(backend, &mut state, &input, &mut short);
                let (mut same, mut long) = ([1; 128], [[0; RATE]; 3]);
                operation(backend, &mut same, &input[..n], &mut long);
                assert_eq!((state, short.as_slice()), (same, &long[..n]), "{backend:?}");
                assert_eq!(long[n..], [[0; RATE]; 3][n..], "{backend:?}");
            }
        }
    }
}

#[test]
fn aestream_parts_of_wrong_lengths() {
    let sealed = Sealer::from_protocol(keyed()).seal_vec(&MESSAGE);
    for after_header in [false, true] {
        for longer in [false, true] {
            let mut opener = Opener::from_protocol(keyed());
            let mut rest = sealed.as_slice();
            if after_header {
                let (header, body) = rest.split_at(opener.wanted());
                assert_eq!(opener.open(&mut header.to_vec()).unwrap(), b"");
                rest = body;
            }
            let right = opener.wanted();
            let wrong = if longer { right + 1 } else { right - 1 };
            for len in [wrong, right] {
                let mut part = rest[..len].to_vec();
                assert_eq!(opener.open(&mut part), Err(Error::Verification));
                assert_eq!(part, rest[..len], "nothing is written");
                assert_eq!((opener.wanted(), opener.is_finished()), (0, false));
            }
        }
    }
    // What follows the end is an error, but the end was verified.
    let mut opener = Opener::from_protocol(keyed());
    let mut rest = sealed.clone();
    while !opener.is_finished() {
        let after = rest.split_off(opener.wanted());
        opener.open(&mut rest).unwrap();
        rest = after;
    }
    for len in 0..4 {
        assert_eq!(opener.open(&mut vec![0; len]), Err(Error::Verification));
        assert!(opener.is_finished());
    }
    assert!(opener.finish().is_ok());
    for len in 0..=18 {
        assert_eq!(Sealer::room(&mut vec![0; len]), Err(Error::BufferLength));
    }
    let mut block: Vec<u8> = (0..19).collect();
    assert_eq!(Sealer::room(&mut block).unwrap(), [2]);
}
