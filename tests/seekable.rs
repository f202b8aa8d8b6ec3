//! Encryption in segments: known answers, the twin, pieces, random access, and input that differs from what was sealed.

mod common;
#[path = "common/random.rs"]
mod random;

use std::cell::{Cell, RefCell};
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

use common::{
    bytes, cases, data, family_vectors, fewer_cases, fingerprint, keyed, keyed_with_nonce, number,
    on_each_backend, on_each_lane_backend, text,
};
use proptest::prelude::*;
use random::{Random, reads_like_a_cursor};
use serde_json::Value;
use veriplex::seekable::{
    DEFAULT_SEGMENT_LEN, Layout, MAX_SEGMENT_LEN, MIN_SEGMENT_LEN, Message, OpenReader, SealWriter,
    SeekReader, Seekable,
};
use veriplex::{Error, Key, Label, TAG_LEN, label};
use veriplex_spec as spec;

/// A message with a nonce of any length that the tests use.
fn message_with(domain: Label<'_>, key: &Key, nonce: &[u8], ad: &[u8], segment_len: usize) -> Message {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match nonce.len() {
                $($n => {
                    let seekable = Seekable::<$n>::new(domain, key).with_segment_len(segment_len).unwrap();
                    seekable.message(nonce.try_into().unwrap(), ad)
                })*
                n => panic!("add {n} to the list of nonce lengths"),
            }
        };
    }
    by_length!(24 25 26 27 28 29 30 31 32)
}

fn message_of(case: &Value) -> Message {
    let domain = Label::try_from(text(case, "domain")).unwrap();
    let key = Key::try_from(bytes(case, "key").as_slice()).unwrap();
    let segment_len = usize::try_from(number(case, "segment_len")).unwrap();
    message_with(
        domain,
        &key,
        &bytes(case, "nonce"),
        &bytes(case, "ad"),
        segment_len,
    )
}

/// The message that most tests use, in segments of this many bytes.
fn message(segment_len: usize) -> Message {
    message_with(label!("test"), &Key::from([7; 32]), &[1; 24], b"ad", segment_len)
}

fn written(message: &Message, plaintext: &[u8], piece: usize) -> Vec<u8> {
    let mut writer = SealWriter::new(message, Vec::new());
    for piece in plaintext.chunks(piece) {
        writer.write_all(piece).unwrap();
        writer.flush().unwrap();
    }
    writer.finish().unwrap()
}

/// Reads to the end or to the first error, which must persist.
fn streamed(message: &Message, sealed: &[u8], piece: usize) -> (Vec<u8>, Result<(), ErrorKind>) {
    let mut reader = OpenReader::new(message, sealed);
    let (mut plaintext, mut buffer) = (Vec::new(), vec![0; piece]);
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => {
                assert!(reader.is_finished());
                assert!(reader.finish().unwrap().is_empty());
                return (plaintext, Ok(()));
            }
            Ok(n) => plaintext.extend_from_slice(&buffer[..n]),
            Err(error) => {
                assert!(!reader.is_finished());
                assert!(reader.read(&mut buffer).is_err(), "an error must persist");
                assert!(reader.read(&mut []).is_err(), "every call must fail");
                assert_eq!(reader.finish().err(), Some(Error::Verification));
                return (plaintext, Err(error.kind()));
            }
        }
    }
}

/// Writers and readers, which count segments themselves, beyond 2^16.
#[test]
fn many_segments() {
    let message = message(64);
    let plaintext = data(3, 64 * 66_000);
    let sealed = message.seal_vec(&plaintext);
    assert!(written(&message, &plaintext, 1 << 20) == sealed);
    assert!(streamed(&message, &sealed, 1 << 20) == (plaintext, Ok(())));
}

#[test]
fn a_reader_with_a_byte_left_is_not_finished() {
    let message = message(64);
    let sealed = message.seal_vec(&[7; 100]);
    let mut reader = OpenReader::new(&message, &sealed[..]);
    reader.read_exact(&mut [0; 99]).unwrap();
    assert!(!reader.is_finished());
    assert_eq!(reader.finish().err(), Some(Error::Verification));
}

#[test]
fn known_answers() {
    let file = family_vectors("seekable", "seekable");
    on_each_backend(|backend| {
        for case in cases(&file["seekable"]) {
            let (message, len) = (message_of(case), usize::try_from(number(case, "len")).unwrap());
            if len > 500_000 && backend.name() == "portable" {
                continue; // it would take a minute
            }
            let plaintext = data(number(case, "seed"), len);
            let sealed = message.seal_vec(&plaintext);
            assert_eq!(sealed.len() as u64, number(case, "ciphertext_len"));
            assert_eq!(
                message.layout(len as u64).unwrap().sealed_len(),
                sealed.len() as u64
            );
            assert_eq!(
                sealed[..sealed.len().min(256)],
                bytes(case, "ciphertext_first_256")
            );
            assert_eq!(hex::encode(fingerprint(&sealed)), text(case, "ciphertext_digest"));

            let mut in_out = [&plaintext[..], &vec![0xa5; sealed.len() - len]].concat();
            message.seal_in_place(&mut in_out).unwrap();
            assert_eq!(in_out, sealed);
            assert_eq!(message.open_in_place(&mut in_out).unwrap(), plaintext);
            assert!(in_out[len..].iter().all(|byte| *byte == 0));
            assert_eq!(message.open_vec(&sealed).unwrap(), plaintext);
            for piece in [1 << 20, 1000] {
                assert_eq!(written(&message, &plaintext, piece), sealed, "{case} {piece}");
                assert_eq!(streamed(&message, &sealed, piece), (plaintext.clone(), Ok(())));
            }
            let mut all = Vec::new();
            SeekReader::new(&message, Cursor::new(&sealed))
                .unwrap()
                .read_to_end(&mut all)
                .unwrap();
            assert_eq!(all, plaintext);
        }
    });
}

/// `VERIPLEX_CASES` as in `tests/twin.rs`.
fn twin_cases() -> u32 {
    let asked = common::asked_cases();
    asked.div_ceil(20)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(twin_cases()) })]
    #[test]
    fn twin(
        domain in prop::collection::vec(any::<u8>(), 0..=91),
        key: [u8; 32],
        nonce in prop::collection::vec(any::<u8>(), 24..=32),
        ad in prop::collection::vec(any::<u8>(), 0..200),
        s in prop_oneof![Just(64_usize), 64..200_usize],
        plaintext in prop::collection::vec(any::<u8>(), 0..700),
        change: prop::sample::Index,
        bit in 0..8,
    ) {
        let base = spec::seekable::base(s, &domain, &key, &nonce, &ad);
        let expected = spec::seekable::seal(base, s, &plaintext);
        // Changed, truncated, or extended with a segment from another place.
        let mut changed = expected.clone();
        let place = change.index(expected.len());
        match bit {
            0..5 => changed[place] ^= 1 << bit,
            5 => changed.truncate(place),
            6 => changed.truncate(place / (s + 16) * (s + 16)),
            _ => changed.extend_from_within(..place.min(s + 16)),
        }
        let refused = spec::seekable::open(base, s, &changed);
        on_each_backend(|_| {
            let message = message_with(Label::new(&domain).unwrap(), &Key::from(key), &nonce, &ad, s);
            assert_eq!(message.seal_vec(&plaintext), expected);
            assert_eq!(message.open_vec(&expected).as_ref(), Ok(&plaintext));
            assert_eq!(message.open_vec(&changed).ok(), refused.ok.then(|| refused.plaintext.clone()));
            assert_eq!(written(&message, &plaintext, 50), expected);
            assert_eq!(streamed(&message, &expected, 50), (plaintext.clone(), Ok(())));
        });
    }
}

/// Lengths at the edges of segments and batches.
fn lengths(segment_len: usize) -> Vec<usize> {
    let edges = [1, 2, 7, 8, 9, 16, 17, 40].map(|segments| segments * segment_len);
    let mut lengths = vec![0, 1, 10];
    lengths.extend(edges.iter().flat_map(|edge| [edge - 1, *edge, edge + 1]));
    lengths
}

#[test]
fn pieces_do_not_matter() {
    let mut random = Random(1);
    for segment_len in [64, 100, 16384] {
        let message = message(segment_len);
        // Also around the 128 KiB that writer and reader hold.
        let held = ((1 << 17) / segment_len).max(8) * segment_len;
        for len in lengths(segment_len).into_iter().chain([
            held - 1,
            held,
            held + 1,
            2 * held,
            2 * held + 1,
            3 * held + 5,
        ]) {
            let plaintext = data(1, len);
            let sealed = message.seal_vec(&plaintext);
            let piece = 1 + random.below(2 * segment_len);
            assert_eq!(
                written(&message, &plaintext, piece),
                sealed,
                "{segment_len} {len} {piece}"
            );
            assert_eq!(written(&message, &plaintext, len.max(1)), sealed);
            assert_eq!(streamed(&message, &sealed, piece), (plaintext.clone(), Ok(())));
            // One byte is left of what the reader holds.
            assert_eq!(streamed(&message, &sealed, held - 1), (plaintext.clone(), Ok(())));
            assert_eq!(streamed(&message, &sealed, len + 1), (plaintext, Ok(())));
        }
    }
}

/// However eight segments are processed at once, in place or from one buffer into another: one to more than two times
/// eight, with the last of them shorter or not.
#[test]
fn lanes_do_not_matter() {
    for segment_len in [64, 3500] {
        let message = message(segment_len);
        for segments in [1, 2, 3, 4, 5, 7, 8, 9, 12, 17] {
            for len in [segments * segment_len, segments * segment_len - segment_len / 3] {
                let plaintext = data(11, len);
                let mut first = None;
                on_each_lane_backend(|backend| {
                    // It is slow.
                    if backend.name() == "portable serial" && len > 1000 {
                        return;
                    }
                    let sealed = message.seal_vec(&plaintext);
                    let expected: &Vec<u8> = first.get_or_insert_with(|| sealed.clone());
                    assert!(sealed == *expected, "{backend:?} {segment_len} {len}");
                    assert!(message.open_vec(&sealed).unwrap() == plaintext);
                    let mut in_out = [&plaintext[..], &vec![0xa5; sealed.len() - len]].concat();
                    message.seal_in_place(&mut in_out).unwrap();
                    assert!(in_out == *expected, "{backend:?} {segment_len} {len}");
                    assert!(message.open_in_place(&mut in_out).unwrap() == plaintext);
                    let mut changed = sealed;
                    let middle = changed.len() / 2;
                    changed[middle] ^= 1;
                    let mut opened = vec![0xa5; len];
                    assert_eq!(message.open_into(&changed, &mut opened), Err(Error::Verification));
                    assert!(opened.iter().all(|byte| *byte == 0));
                    assert_eq!(message.open_in_place(&mut changed), Err(Error::Verification));
                });
            }
        }
    }
}

/// Segments that are sealed one by one, in any order and some at a time, are those that are sealed together.
#[test]
fn order_does_not_matter() {
    let message = message(100);
    let mut random = Random(8);
    for len in [0, 1, 99, 100, 101, 850, 1600, 1601, 4321] {
        let plaintext = data(3, len);
        let expected = message.seal_vec(&plaintext);
        let sealer = message.sealer(len as u64).unwrap();
        assert_eq!(sealer.layout().sealed_len(), expected.len() as u64);
        for _ in 0..10 {
            let mut slots = vec![0xa5; expected.len()];
            for (slot, segment) in slots.chunks_mut(116).zip(plaintext.chunks(100)) {
                slot[..segment.len()].copy_from_slice(segment);
            }
            let mut parts = Vec::new();
            let (mut first, mut rest) = (0, &mut slots[..]);
            while !rest.is_empty() {
                let (part, later) = rest.split_at_mut(rest.len().min(116 * (1 + random.below(20))));
                parts.push((first, part));
                first += parts.last().map_or(0, |(_, part)| part.len().div_ceil(116)) as u64;
                rest = later;
            }
            while !parts.is_empty() {
                let (first, part) = parts.swap_remove(random.below(parts.len()));
                sealer.seal(first, part).unwrap();
            }
            assert!(slots == expected, "{len}");
        }
        // What the message does not have.
        let segments = sealer.layout().segments();
        for (first, len) in [
            (0, 0),
            (0, expected.len() + 1),
            (0, expected.len() - 1),
            (1, expected.len()),
            (segments, 1),
            (segments - 1, 15),
            (u64::MAX, 116),
        ] {
            if len % 116 == 0 && len > 0 && len < expected.len() {
                continue; // full segments
            }
            let mut part = vec![0x5a; len];
            assert_eq!(
                sealer.seal(first, &mut part),
                Err(Error::BufferLength),
                "{first} {len}"
            );
            assert!(part.iter().all(|byte| *byte == 0x5a));
        }
    }
    assert_eq!(message.sealer(u64::MAX).err(), Some(Error::LimitReached));
}

/// A length that no message can have is an error everywhere, before any of the input is read.
#[test]
fn lengths_that_no_message_gives() {
    for segment_len in [64, 65, 100] {
        let slot_len = segment_len + TAG_LEN;
        let message = message(segment_len);
        let mut valid = std::collections::BTreeMap::new();
        for len in 0..=10 * segment_len {
            let layout = Layout::of_plaintext(len as u64, segment_len).unwrap();
            assert_eq!(layout.plaintext_len(), len as u64);
            assert_eq!(layout.segments(), len.div_ceil(segment_len).max(1) as u64);
            assert_eq!(layout.segment_len(), segment_len);
            valid.insert(layout.sealed_len(), layout);
        }
        for sealed_len in 0..=10 * slot_len {
            let layout = Layout::of_sealed(sealed_len as u64, segment_len);
            let mut in_out = vec![0xa5; sealed_len];
            if let Some(expected) = valid.get(&(sealed_len as u64)) {
                assert_eq!(layout.as_ref(), Ok(expected));
                assert_eq!(message.seal_in_place(&mut in_out), Ok(()));
                continue;
            }
            assert_eq!(layout, Err(Error::Verification), "{sealed_len}");
            assert_eq!(message.seal_in_place(&mut in_out), Err(Error::BufferLength));
            assert!(in_out.iter().all(|byte| *byte == 0xa5));
            assert_eq!(message.open_vec(&in_out), Err(Error::Verification));
            let (_, end) = streamed(&message, &in_out, 100);
            assert_eq!(end, Err(ErrorKind::InvalidData));
            let error = SeekReader::new(&message, Cursor::new(&in_out)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            let mut plaintext = vec![0xa5; sealed_len];
            assert_eq!(
                message.open_into(&in_out, &mut plaintext),
                Err(Error::Verification)
            );
            assert!(plaintext.iter().all(|byte| *byte == 0));
            assert_eq!(
                message.opener(sealed_len as u64, &mut plaintext).err(),
                Some(Error::Verification)
            );
            assert_eq!(message.open_in_place(&mut in_out), Err(Error::Verification));
            assert!(in_out.iter().all(|byte| *byte == 0));
        }
    }
}

/// Buffers of the wrong length, invalid segment lengths, and lengths that nothing in memory can have.
#[test]
fn hostile_lengths() {
    let message = message(64);
    let sealed = message.seal_vec(&[5; 100]);
    for len in [0, 99, 101, 132, 1000] {
        let mut buffer = vec![0xa5; len];
        assert_eq!(message.open_into(&sealed, &mut buffer), Err(Error::BufferLength));
        assert_eq!(message.seal_into(&[5; 100], &mut buffer).is_ok(), len == 132);
    }
    for segment_len in [0, 1, 63, MAX_SEGMENT_LEN + 1, usize::MAX] {
        assert_eq!(Layout::of_plaintext(1, segment_len), Err(Error::BufferLength));
        assert_eq!(Layout::of_sealed(17, segment_len), Err(Error::BufferLength));
        let seekable = Seekable::<24>::new(label!("test"), &Key::from([7; 32]));
        assert_eq!(
            seekable.with_segment_len(segment_len).err(),
            Some(Error::BufferLength)
        );
    }
    for segment_len in [MIN_SEGMENT_LEN, DEFAULT_SEGMENT_LEN, MAX_SEGMENT_LEN] {
        let slot_len = (segment_len + TAG_LEN) as u128;
        for sealed_len in [
            u64::MAX,
            u64::MAX - 1,
            u64::MAX - 16,
            u64::MAX - 17,
            1 << 63,
            (1 << 63) - 1,
        ] {
            let rest = u128::from(sealed_len) % slot_len;
            let Ok(layout) = Layout::of_sealed(sealed_len, segment_len) else {
                assert!((1..=16).contains(&rest));
                continue;
            };
            assert!(!(1..=16).contains(&rest));
            assert_eq!(layout.sealed_len(), sealed_len);
            assert_eq!(
                Layout::of_plaintext(layout.plaintext_len(), segment_len),
                Ok(layout)
            );
            let n = layout.segments();
            let last = layout.sealed_range(n - 1..n);
            assert_eq!(
                (last.end, u128::from(last.end - last.start)),
                (sealed_len, if rest == 0 { slot_len } else { rest })
            );
            assert_eq!(layout.segments_of(layout.plaintext_len() - 1..u64::MAX), n - 1..n);
            assert_eq!(layout.sealed_range(0..u64::MAX), 0..sealed_len);
            let reversed = std::ops::Range {
                start: u64::MAX,
                end: 0,
            };
            assert!(layout.segments_of(5..5).is_empty() && layout.segments_of(reversed).is_empty());
            assert!(layout.sealed_range(n..u64::MAX).is_empty());
        }
        let longest = (0..=16).find_map(|less| Layout::of_sealed(u64::MAX - less, segment_len).ok());
        for plaintext_len in [longest.unwrap().plaintext_len() + 1, u64::MAX] {
            assert_eq!(
                Layout::of_plaintext(plaintext_len, segment_len),
                Err(Error::LimitReached)
            );
        }
    }
    let mut last = [0xa5; 80];
    for sealed_len in [81, 160, 1 << 40, u64::MAX] {
        last.fill(0xa5);
        assert_eq!(
            message.opener(sealed_len, &mut last).err(),
            Some(Error::Verification)
        );
        assert_eq!(last, [0; 80]);
    }
}

/// Opens, in every way, input that is not the sealed message: each gives an error, releases no wrong plaintext, and
/// wipes its outputs.
fn check_refused(message: &Message, sealed: &[u8], plaintext: &[u8]) {
    assert_eq!(message.open_vec(sealed), Err(Error::Verification));
    let mut in_out = sealed.to_vec();
    assert_eq!(message.open_in_place(&mut in_out), Err(Error::Verification));
    assert!(in_out.iter().all(|byte| *byte == 0), "not wiped");
    if let Ok(layout) = Layout::of_sealed(sealed.len() as u64, 64) {
        let mut output = vec![0xa5; usize::try_from(layout.plaintext_len()).unwrap()];
        assert_eq!(message.open_into(sealed, &mut output), Err(Error::Verification));
        assert!(output.iter().all(|byte| *byte == 0), "not wiped");
    }
    let (given, end) = streamed(message, sealed, 1000);
    assert_eq!(end, Err(ErrorKind::InvalidData));
    assert!(plaintext.starts_with(&given));
    // Either the reader refuses the end at once, or it opens each segment by itself.
    match SeekReader::new(message, Cursor::new(sealed)) {
        Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidData),
        Ok(mut reader) => {
            let mut given = Vec::new();
            assert_eq!(
                reader.read_to_end(&mut given).unwrap_err().kind(),
                ErrorKind::InvalidData
            );
            assert!(plaintext.starts_with(&given));
        }
    }
}

#[test]
fn every_change_cut_and_extension_is_an_error() {
    let message = message(64);
    for len in [0, 1, 64, 65, 150] {
        let plaintext = data(2, len);
        let sealed = message.seal_vec(&plaintext);
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1 << (place % 8);
            check_refused(&message, &changed, &plaintext);
            check_refused(&message, &sealed[..place], &plaintext);
        }
        for more in (1..=100).step_by(3) {
            check_refused(&message, &[&sealed[..], &vec![0; more]].concat(), &plaintext);
            check_refused(
                &message,
                &[&sealed[..], &sealed[..more.min(sealed.len())]].concat(),
                &plaintext,
            );
        }
    }
    // The same in a message of many batches: random bits of segments or their tags.
    let plaintext = data(2, 3000 * 64);
    let sealed = message.seal_vec(&plaintext);
    let mut random = Random(2);
    for _ in 0..if fewer_cases() { 2 } else { 50 } {
        let mut changed = sealed.clone();
        changed[random.below(sealed.len())] ^= 1 << random.below(8);
        check_refused(&message, &changed, &plaintext);
    }
}

/// In a message above 1 MiB with segments of the default size, every segment's tag is checked.
#[test]
fn every_tag_is_checked_in_long_messages() {
    let message = message(DEFAULT_SEGMENT_LEN);
    let plaintext = data(3, (5 << 20) + 77);
    let sealed = message.seal_vec(&plaintext);
    let slot_len = DEFAULT_SEGMENT_LEN + TAG_LEN;
    let step = if fewer_cases() { 50 } else { 1 };
    for segment in (0..sealed.len().div_ceil(slot_len)).step_by(step) {
        let end = sealed.len().min((segment + 1) * slot_len);
        let mut changed = sealed.clone();
        changed[end - 1 - segment % 40] ^= 1; // in the tag, or in the ciphertext before it
        assert_eq!(message.open_vec(&changed), Err(Error::Verification), "{segment}");
        assert_eq!(
            message.open_in_place(&mut changed.clone()),
            Err(Error::Verification),
            "{segment}"
        );
        let (given, end) = streamed(&message, &changed, 1 << 20);
        assert_eq!(end, Err(ErrorKind::InvalidData), "{segment}");
        assert!(plaintext.starts_with(&given) && given.len() <= segment * DEFAULT_SEGMENT_LEN);
        #[cfg(feature = "rayon")]
        {
            assert_eq!(
                message.open_in_place_rayon(&mut changed.clone()),
                Err(Error::Verification)
            );
            let mut output = vec![0xa5; plaintext.len()];
            assert_eq!(
                message.open_into_rayon(&changed, &mut output),
                Err(Error::Verification)
            );
            assert!(output.iter().all(|byte| *byte == 0));
        }
    }
}

#[test]
fn moved_segments_are_an_error() {
    let message = message(64);
    let plaintext = [7; 64 * 20]; // all segments alike
    let sealed = message.seal_vec(&plaintext);
    let segments: Vec<&[u8]> = sealed.chunks(80).collect();
    let mut random = Random(3);
    for _ in 0..100 {
        let (a, b) = (random.below(20), random.below(20));
        if a != b {
            let mut moved = segments.clone();
            moved.swap(a, b);
            check_refused(&message, &moved.concat(), &plaintext);
            let mut repeated = segments.clone();
            repeated[a] = segments[b];
            check_refused(&message, &repeated.concat(), &plaintext);
        }
        let mut dropped = segments.clone();
        dropped.remove(a);
        check_refused(&message, &dropped.concat(), &plaintext);
        let mut added = segments.clone();
        added.insert(a, segments[b]);
        check_refused(&message, &added.concat(), &plaintext);
        check_refused(&message, &segments[..a].concat(), &plaintext);
    }
    // Segments from another message under the same key, at the same place.
    let other = message_with(label!("test"), &Key::from([7; 32]), &[2; 24], b"ad", 64).seal_vec(&plaintext);
    for (i, segment) in other.chunks(80).enumerate() {
        let mut exchanged = segments.clone();
        exchanged[i] = segment;
        check_refused(&message, &exchanged.concat(), &plaintext);
    }
}

#[test]
fn another_context_is_an_error() {
    let (domain, key) = (label!("test"), Key::from([7; 32]));
    for len in [0, 64, 1000] {
        let plaintext = data(4, len);
        let sealed = message(64).seal_vec(&plaintext);
        for other in [
            message_with(label!("other"), &key, &[1; 24], b"ad", 64),
            message_with(domain, &Key::from([8; 32]), &[1; 24], b"ad", 64),
            message_with(domain, &key, &[2; 24], b"ad", 64),
            message_with(domain, &key, &[1; 25], b"ad", 64),
            message_with(domain, &key, &[1; 24], b"da", 64),
            message_with(domain, &key, &[1; 24], b"", 64),
            message_with(domain, &key, &[1; 24], b"ad", 65),
            message_with(domain, &key, &[1; 24], b"ad", 16384),
        ] {
            assert_eq!(other.open_vec(&sealed), Err(Error::Verification));
            assert_eq!(
                streamed(&other, &sealed, 100),
                (vec![], Err(ErrorKind::InvalidData))
            );
            assert!(SeekReader::new(&other, Cursor::new(&sealed)).is_err());
        }
    }
}

/// A cut between two segments: found before the first byte with random access, and at the end of a stream.
#[test]
fn cuts_between_segments() {
    let message = message(64);
    let plaintext = data(5, 64 * 5000);
    let sealed = message.seal_vec(&plaintext);
    for segments in [1, 2, 8, 2047, 2048, 2049, 4096, 4999] {
        let cut = &sealed[..segments * 80];
        assert_eq!(
            SeekReader::new(&message, Cursor::new(cut)).unwrap_err().kind(),
            ErrorKind::InvalidData
        );
        let mut last = cut[cut.len() - 80..].to_vec();
        assert_eq!(
            message.opener(cut.len() as u64, &mut last).err(),
            Some(Error::Verification)
        );
        assert_eq!(last, [0; 80]);
        let (given, end) = streamed(&message, cut, 999);
        assert_eq!(end, Err(ErrorKind::InvalidData));
        assert!(plaintext.starts_with(&given) && given.len() < segments * 64);
    }
}

/// An inner reader that counts the bytes read from it.
struct Counting<'a> {
    inner: Cursor<&'a [u8]>,
    read: &'a Cell<usize>,
}

impl Read for Counting<'_> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(output)?;
        self.read.set(self.read.get() + n);
        Ok(n)
    }
}

impl Seek for Counting<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// An empty segment that ends a message is one only if it is the first, also where a reader has none before it in its
/// buffer. Only who has the key can seal another.
#[test]
fn no_empty_segment_follows_others() {
    let (domain, key, nonce) = (label!("test"), [7; 32], [1; 24]);
    // The reader holds that many segments of this length.
    for (segment_len, held) in [(64, 2048), ((1 << 22) + 1, 1)] {
        let message = message(segment_len);
        let mut base = keyed_with_nonce(domain, &key, &nonce);
        base.mix(label!("ad"), b"ad");
        base.mix(
            label!("segment-length"),
            &u32::try_from(segment_len).unwrap().to_le_bytes(),
        );
        let seal = |i: u64, is_last: bool, segment: &[u8]| {
            let mut transcript = base.clone();
            transcript.mix(
                label!("segment"),
                &[&i.to_le_bytes()[..], &[is_last.into()]].concat(),
            );
            transcript.seal_vec(label!("message"), segment)
        };
        assert_eq!(
            streamed(&message, &seal(0, true, b""), 100),
            (vec![], Ok(())),
            "the first"
        );
        let plaintext = data(13, held * segment_len);
        let segments = (0..).zip(plaintext.chunks(segment_len));
        let mut sealed: Vec<u8> = segments
            .flat_map(|(i, segment)| seal(i, false, segment))
            .collect();
        sealed.extend(seal(held as u64, true, b""));
        let (given, end) = streamed(&message, &sealed, 1000);
        assert!(given == plaintext, "{segment_len}");
        assert_eq!(end, Err(ErrorKind::InvalidData), "{segment_len}");
    }
}

/// As the definition has it, under a key of another length than `new` takes.
#[test]
fn a_protocol_holds_the_key() {
    let (domain, nonce, plaintext) = (label!("test"), [3; 24], data(8, 150));
    let from = |key: &[u8]| {
        Seekable::<24>::from_protocol(keyed(domain, key))
            .with_segment_len(64)
            .unwrap()
    };
    let by_hand = |key: &[u8]| {
        let mut base = keyed_with_nonce(domain, key, &nonce);
        base.mix(label!("ad"), b"ad");
        base.mix(label!("segment-length"), &64_u32.to_le_bytes());
        let seal = |(i, segment): (u64, &[u8])| {
            let mut transcript = base.clone();
            let place = [&i.to_le_bytes()[..], &[u8::from(segment.len() < 64)]].concat();
            transcript.mix(label!("segment"), &place);
            transcript.seal_vec(label!("message"), segment)
        };
        (0..)
            .zip(plaintext.chunks(64))
            .flat_map(seal)
            .collect::<Vec<u8>>()
    };
    for key in [[7; 32].as_slice(), b"16 bytes, secret", &[8; 100]] {
        let message = from(key).message(&nonce, b"ad");
        assert_eq!(message.seal_vec(&plaintext), by_hand(key));
        assert_eq!(message.open_vec(&by_hand(key)).as_ref(), Ok(&plaintext));
    }
    let new = message_with(domain, &Key::from([7; 32]), &nonce, b"ad", 64);
    assert_eq!(new.seal_vec(&plaintext), by_hand(&[7; 32]));
}

#[test]
fn reader_against_a_cursor() {
    let mut random = Random(6);
    for (segment_len, len) in [
        (64, 0),
        (64, 1),
        (64, 64),
        (64, 10_000),
        (100, 300_000),
        (16384, 1_000_000),
    ] {
        let message = message(segment_len);
        let plaintext = data(6, len);
        let sealed = [b"header", &message.seal_vec(&plaintext)[..]].concat();
        let mut inner = Cursor::new(&sealed);
        inner.set_position(6);
        let mut reader = SeekReader::new(&message, inner).unwrap();
        assert_eq!(reader.layout().plaintext_len(), len as u64);
        reads_like_a_cursor(&mut reader, &plaintext, &mut random, 1000, 5000);
        assert_eq!(reader.into_inner().into_inner().len(), sealed.len());
    }
}

#[test]
fn nothing_secret_is_printed() {
    let message = message(64);
    let sealed = message.seal_vec(&[0xab; 100]);
    let mut random = SeekReader::new(&message, Cursor::new(&sealed)).unwrap();
    random.read_exact(&mut [0; 10]).unwrap();
    assert_eq!(format!("{random:?}"), "SeekReader { .. }");
    let mut writer = SealWriter::new(&message, Vec::new());
    writer.write_all(&[0xab; 10]).unwrap();
    assert_eq!(format!("{writer:?}"), "SealWriter { .. }");
    let mut stream = OpenReader::new(&message, &*sealed);
    stream.read_exact(&mut [0; 10]).unwrap();
    assert_eq!(format!("{stream:?}"), "OpenReader { .. }");
    let shown = "Message { base: Protocol { .. }, segment_len: 64 }";
    assert_eq!(format!("{message:?}"), shown);
}

/// A read at a random place reads one segment, and damage elsewhere does not matter.
#[test]
fn random_access_reads_what_it_needs() {
    let message = message(1024);
    let plaintext = data(7, 1_000_000);
    let mut sealed = message.seal_vec(&plaintext);
    sealed[500 * 1040] ^= 1;
    let read = Cell::new(0);
    let inner = Counting {
        inner: Cursor::new(&sealed),
        read: &read,
    };
    let mut reader = SeekReader::new(&message, inner).unwrap();
    assert_eq!(read.get(), (1_000_000 - 976 * 1024) + 16);
    let mut random = Random(7);
    let mut earlier = 0;
    for _ in 0..200 {
        let place = random.below(999_000);
        let (segment, before) = (place / 1024, read.get());
        reader.seek(SeekFrom::Start(place as u64)).unwrap();
        let mut output = [0; 10];
        let result = reader.read(&mut output);
        if segment == 500 {
            assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidData);
            assert_eq!(output, [0; 10]);
        } else {
            let n = result.unwrap();
            assert_eq!(output[..n], plaintext[place..place + n]);
        }
        // One segment. More only if the previous read was in the segment before, and then not many.
        let read = read.get() - before;
        assert!(
            read <= 1040 || segment > 0 && earlier == segment - 1 && read <= 1040 * 128,
            "{read}"
        );
        earlier = segment;
    }
    // Everything but the damaged segment opens.
    for segment in 0..976 {
        let mut output = [0; 1024];
        reader.seek(SeekFrom::Start(segment * 1024)).unwrap();
        assert_eq!(
            reader.read_exact(&mut output).is_ok(),
            segment != 500,
            "{segment}"
        );
    }
}

/// One segment at first and after a seek, then many: as many as the writer holds.
#[test]
fn sequential_reads_load_many_segments() {
    let message = message(1024);
    let plaintext = data(7, 300 * 1024);
    let sealed = message.seal_vec(&plaintext);
    let read = Cell::new(0);
    let inner = Counting {
        inner: Cursor::new(&sealed),
        read: &read,
    };
    let mut reader = SeekReader::new(&message, inner).unwrap();
    for (segment, loaded) in [
        (0, 1),
        (1, 128),
        (128, 0),
        (129, 128),
        (257, 43),
        (100, 1),
        (102, 1),
        (103, 128),
        (0, 1),
    ] {
        let (before, start) = (read.get(), 1024 * segment);
        reader.seek(SeekFrom::Start(start as u64)).unwrap();
        let mut output = [0; 1024];
        reader.read_exact(&mut output).unwrap();
        assert_eq!(output, plaintext[start..][..1024]);
        assert_eq!(read.get() - before, 1040 * loaded, "{segment}");
    }
}

/// What a segment that was refused has overwritten is read again.
#[test]
fn other_segments_after_a_damaged_one() {
    let message = message(64);
    let plaintext = data(7, 64 * 100);
    let mut sealed = message.seal_vec(&plaintext);
    sealed[20 * 80] ^= 1;
    let mut reader = SeekReader::new(&message, Cursor::new(&sealed)).unwrap();
    for segment in [10, 20, 10, 20, 0, 20, 1] {
        reader.seek(SeekFrom::Start(64 * segment as u64)).unwrap();
        let mut output = [0; 64];
        let result = reader.read_exact(&mut output);
        assert_eq!(result.is_ok(), segment != 20);
        if segment != 20 {
            assert_eq!(output, plaintext[64 * segment..][..64], "{segment}");
        }
    }
}

/// An inner reader whose content changes after it has been lent.
#[derive(Clone)]
struct Shared(Rc<RefCell<Cursor<Vec<u8>>>>);

impl Read for Shared {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(output)
    }
}

impl Seek for Shared {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.borrow_mut().seek(to)
    }
}

/// Of two segments that are loaded together the second is damaged, or gone: the first is read nevertheless.
#[test]
fn damage_after_the_end_was_verified() {
    type Damage = (ErrorKind, fn(&mut Vec<u8>));
    let message = message(64);
    let plaintext = data(7, 64 * 3);
    let damages: [Damage; 2] = [
        (ErrorKind::InvalidData, |sealed| sealed[2 * 80] ^= 1),
        (ErrorKind::UnexpectedEof, |sealed| sealed.truncate(2 * 80 + 1)),
    ];
    for (kind, damage) in damages {
        let shared = Shared(Rc::new(RefCell::new(Cursor::new(message.seal_vec(&plaintext)))));
        let mut reader = SeekReader::new(&message, shared.clone()).unwrap();
        let mut output = [0; 64];
        reader.read_exact(&mut output).unwrap();
        damage(shared.0.borrow_mut().get_mut());
        if kind == ErrorKind::InvalidData {
            reader.read_exact(&mut output).unwrap();
            assert_eq!(output, plaintext[64..128]);
        }
        reader.seek(SeekFrom::Start(128)).unwrap();
        assert_eq!(reader.read_exact(&mut output).unwrap_err().kind(), kind);
        reader.rewind().unwrap();
        reader.read_exact(&mut output).unwrap();
        assert_eq!(output, plaintext[..64]);
    }
}

/// There is no longer segment than the last of this message.
#[test]
fn a_last_segment_of_the_largest_size() {
    let message = message(MAX_SEGMENT_LEN);
    let sealed = message.seal_vec(&vec![7; MAX_SEGMENT_LEN]);
    let mut reader = SeekReader::new(&message, Cursor::new(&sealed)).unwrap();
    let mut output = [0; 100];
    reader.seek(SeekFrom::End(-100)).unwrap();
    reader.read_exact(&mut output).unwrap();
    assert_eq!(output, [7; 100]);
}

/// Damage late in a batch does not make the reader read the whole batch again for each segment before it.
#[test]
fn damage_is_not_read_again_and_again() {
    let message = message(64);
    let plaintext = data(12, 64 * 3000);
    let mut sealed = message.seal_vec(&plaintext);
    sealed[1900 * 80] ^= 1;
    let read = Cell::new(0);
    let inner = Counting {
        inner: Cursor::new(&sealed),
        read: &read,
    };
    let mut reader = SeekReader::new(&message, inner).unwrap();
    let mut given = Vec::new();
    let error = reader.read_to_end(&mut given).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert_eq!(given, plaintext[..1900 * 64]);
    assert!(read.get() <= 2 * sealed.len(), "{}", read.get());
}

#[test]
fn read_at_needs_no_state() {
    let mut random = Random(8);
    for (segment_len, len) in [
        (64, 0),
        (64, 64),
        (64, 20_000),
        (1000, 300_000),
        (16384, 1_000_000),
    ] {
        let message = message(segment_len);
        let plaintext = data(8, len);
        let sealed = message.seal_vec(&plaintext);
        let layout = Layout::of_sealed(sealed.len() as u64, segment_len).unwrap();
        let last = layout.sealed_range(layout.segments() - 1..layout.segments());
        let place = |at: u64| usize::try_from(at).unwrap();
        let mut end = sealed[place(last.start)..place(last.end)].to_vec();
        let opener = message.opener(sealed.len() as u64, &mut end).unwrap();
        assert_eq!(opener.layout(), &layout);
        assert!(plaintext.ends_with(&end[..end.len() - TAG_LEN]));

        let reads = RefCell::new(Vec::new());
        let from = |sealed: &[u8], at: u64, output: &mut [u8]| {
            reads.borrow_mut().push(output.len());
            output.copy_from_slice(&sealed[place(at)..][..output.len()]);
            Ok(())
        };
        for _ in 0..100 {
            let most = [100, 5000, 300_000][random.below(3)];
            let (start, wanted) = (random.below(len + 50), random.below(most));
            let mut output = vec![0xa5; wanted];
            reads.borrow_mut().clear();
            let n = opener
                .read_at(start as u64, &mut output, |at, output| from(&sealed, at, output))
                .unwrap();
            assert_eq!(n, wanted.min(len.saturating_sub(start)));
            assert_eq!(output[..n], plaintext[start.min(len)..][..n]);
            assert!(output[n..].iter().all(|byte| *byte == 0xa5));
            // Whole segments, and only those needed.
            let read: usize = reads.borrow().iter().sum();
            let needed = if n == 0 {
                0..0
            } else {
                start / segment_len..(start + n).div_ceil(segment_len)
            };
            let range = layout.sealed_range(needed.start as u64..needed.end as u64);
            assert_eq!(read as u64, range.end - range.start);

            // The same by hand, in place.
            let mut slots = sealed[place(range.start)..place(range.end)].to_vec();
            let opened = opener.open(needed.start as u64, &mut slots);
            if n == 0 {
                assert_eq!(opened, Err(Error::Verification), "no segment");
            } else {
                let expected = &plaintext[needed.start * segment_len..len.min(needed.end * segment_len)];
                assert_eq!(opened.unwrap(), expected);
                // At the wrong place, or truncated.
                for (first, cut) in [(needed.start + 1, 0), (needed.start, 1), (usize::MAX, 0)] {
                    let mut slots = sealed[place(range.start)..place(range.end) - cut].to_vec();
                    assert_eq!(opener.open(first as u64, &mut slots), Err(Error::Verification));
                    assert!(slots.iter().all(|byte| *byte == 0));
                }
                // With a change in one of them.
                let mut changed = sealed.clone();
                changed[place(range.start) + random.below(read)] ^= 1 << random.below(8);
                let error =
                    opener.read_at(start as u64, &mut output, |at, output| from(&changed, at, output));
                assert_eq!(error.unwrap_err().kind(), ErrorKind::InvalidData);
                assert!(output.iter().all(|byte| *byte == 0));
                output.fill(0xa5);
                let error = opener.read_at(start as u64, &mut output, |_, _| Err(ErrorKind::TimedOut.into()));
                assert_eq!(error.unwrap_err().kind(), ErrorKind::TimedOut);
                assert!(output.iter().all(|byte| *byte == 0));
            }
        }
        let mut output = [0xa5; 10];
        for offset in [len as u64, u64::MAX - 5, u64::MAX] {
            let never = |_, _: &mut [u8]| panic!("there is nothing to read there");
            assert_eq!(opener.read_at(offset, &mut output, never).unwrap(), 0);
        }
    }
}

/// An inner reader or writer that fails or is interrupted on every other call, and otherwise moves a byte or two.
struct Flaky<T> {
    inner: T,
    calls: usize,
}

impl<T> Flaky<T> {
    fn trouble(&mut self) -> io::Result<()> {
        self.calls += 1;
        match self.calls % 4 {
            0 => Err(ErrorKind::TimedOut.into()),
            2 => Err(ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

impl<T: Read> Read for Flaky<T> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        self.trouble()?;
        let n = output.len().min(700);
        self.inner.read(&mut output[..n])
    }
}

impl<T: Seek> Seek for Flaky<T> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl Write for Flaky<Vec<u8>> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.trouble()?;
        self.inner.write(&input[..input.len().min(700)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.trouble()
    }
}

/// Repeats a call while it gives a transient error.
fn again<T>(mut call: impl FnMut() -> io::Result<T>) -> T {
    loop {
        match call() {
            Ok(value) => return value,
            Err(error) => assert!(
                matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::Interrupted),
                "{error}"
            ),
        }
    }
}

/// What the inner writer has no room for is not taken as written.
#[test]
fn a_full_inner_writer_is_an_error() {
    let mut full = [0; 30];
    let mut writer = SealWriter::new(&message(64), full.as_mut_slice());
    let error = writer.write_all(&vec![7; 1 << 18]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WriteZero);
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::WriteZero);
}

#[test]
fn inner_errors_can_be_retried() {
    let message = message(64);
    for len in [0, 1, 200, 1 << 17, (1 << 17) + 1, 400_000] {
        let plaintext = data(9, len);
        let sealed = message.seal_vec(&plaintext);
        let mut flaky = Flaky {
            inner: Vec::new(),
            calls: 0,
        };
        let mut writer = SealWriter::new(&message, &mut flaky);
        let mut rest = plaintext.as_slice();
        while !rest.is_empty() {
            let n = again(|| writer.write(rest));
            assert!(n > 0);
            rest = &rest[n..];
        }
        again(|| writer.try_finish());
        assert!(writer.write(b"late").is_err());
        again(|| writer.try_finish());
        assert_eq!(flaky.inner, sealed);

        let mut reader = OpenReader::new(
            &message,
            Flaky {
                inner: sealed.as_slice(),
                calls: 0,
            },
        );
        let (mut all, mut buffer) = (Vec::new(), [0; 1000]);
        loop {
            match again(|| reader.read(&mut buffer)) {
                0 => break,
                n => all.extend_from_slice(&buffer[..n]),
            }
        }
        assert_eq!(all, plaintext);
        let mut calls = 0;
        let mut reader = again(|| {
            calls += 1;
            SeekReader::new(
                &message,
                Flaky {
                    inner: Cursor::new(&sealed),
                    calls,
                },
            )
        });
        all.clear();
        // The reader reads a whole segment at once, across `Interrupted` errors.
        reader.seek(SeekFrom::Start(0)).unwrap();
        while all.len() < len.min(1000) {
            let n = again(|| reader.read(&mut buffer[..10]));
            assert!(n > 0);
            all.extend_from_slice(&buffer[..n]);
        }
        assert_eq!(all, plaintext[..all.len()]);
    }
}

/// Segments of which the eight that are sealed together are longer than what the threads share at a time.
#[cfg(feature = "rayon")]
#[test]
fn large_segments_on_threads() {
    let message = message(1 << 22);
    let plaintext = data(14, 1000);
    let mut in_out = [&plaintext[..], &[0; TAG_LEN]].concat();
    message.seal_in_place_rayon(&mut in_out).unwrap();
    assert_eq!(in_out, message.seal_vec(&plaintext));
    assert_eq!(message.open_in_place_rayon(&mut in_out).unwrap(), plaintext);
}

#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_matter() {
    let (segments, threads): (_, &[_]) = if fewer_cases() { (3, &[3]) } else { (17, &[1, 3]) };
    for segment_len in [64, 16384, 1 << 20] {
        let message = message(segment_len);
        let lengths = match segment_len {
            16384 => lengths(segment_len),
            _ => vec![0, segment_len, segments * segment_len + 1],
        };
        for len in lengths
            .into_iter()
            .chain([(if fewer_cases() { 2 } else { 16 } << 20) + 5])
        {
            let plaintext = data(10, len);
            let expected = message.seal_vec(&plaintext);
            for threads in threads {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(*threads)
                    .build()
                    .unwrap();
                pool.install(|| {
                    let mut sealed = vec![0xa5; expected.len()];
                    message.seal_into_rayon(&plaintext, &mut sealed).unwrap();
                    assert_eq!(sealed, expected, "{segment_len} {len}");
                    sealed[..len].copy_from_slice(&plaintext);
                    message.seal_in_place_rayon(&mut sealed).unwrap();
                    assert_eq!(sealed, expected);
                    assert_eq!(message.open_in_place_rayon(&mut sealed).unwrap(), plaintext);
                    let mut opened = vec![0xa5; len];
                    message.open_into_rayon(&expected, &mut opened).unwrap();
                    assert_eq!(opened, plaintext);

                    let mut writer = SealWriter::new_rayon(&message, Vec::new());
                    plaintext
                        .chunks(100_000)
                        .for_each(|piece| writer.write_all(piece).unwrap());
                    assert_eq!(writer.finish().unwrap(), expected);
                    opened.clear();
                    let mut reader = OpenReader::new_rayon(&message, expected.as_slice());
                    reader.read_to_end(&mut opened).unwrap();
                    assert_eq!(opened, plaintext);
                    opened.clear();
                    let mut reader = SeekReader::new_rayon(&message, Cursor::new(&expected)).unwrap();
                    reader.read_to_end(&mut opened).unwrap();
                    assert_eq!(opened, plaintext);
                });
            }
        }
    }
}
