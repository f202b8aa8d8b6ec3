//! The parallel digest: known answers, the twin, pieces, parts on several machines, outboards.

mod common;
#[path = "common/random.rs"]
mod random;

use std::cell::Cell;
use std::io::{Cursor, ErrorKind, Read, Seek, SeekFrom, Write};

use common::{
    array, bytes, cases, data, family_vectors, fewer_cases, fingerprint, keyed, number, on_each_backend,
    on_each_lane_backend, text,
};
use proptest::prelude::*;
use random::{Random, reads_like_a_cursor};
use serde_json::Value;
use veriplex::digest::Digest;
use veriplex::tree::outboard::{Builder, Outboard, Reader, Writer, outboard_len, verify_chunk};
use veriplex::tree::{self, CHUNK_LEN, Hasher, Tree};
use veriplex::{Error, Key, Label, Protocol, label};
use veriplex_spec as spec;

fn tree_of(case: &Value) -> Tree {
    let domain = Label::try_from(text(case, "domain")).unwrap();
    match case.get("key") {
        None | Some(Value::Null) => Tree::new(domain),
        Some(_) => Tree::from_protocol(keyed(domain, &bytes(case, "key"))),
    }
}

fn message_of(case: &Value) -> Vec<u8> {
    data(
        number(case, "seed"),
        usize::try_from(number(case, "len")).unwrap(),
    )
}

#[test]
fn no_message_is_printed() {
    let tree = Tree::new(label!("test"));
    let mut hasher = tree.hasher();
    hasher.update(b"message");
    assert_eq!(format!("{hasher:?}"), "Hasher(Nodes { .. })");
    let writer = Writer::new(&tree, 7, Cursor::new(Vec::new())).unwrap();
    assert_eq!(format!("{writer:?}"), "Writer { .. }");
    let digest = tree.digest(b"message");
    let reader = Reader::new(&tree, &digest, 7, Cursor::new(b"message"), Cursor::new([])).unwrap();
    assert_eq!(format!("{reader:?}"), "Reader { .. }");
}

fn output(hasher: Hasher, len: usize) -> Vec<u8> {
    let mut output = vec![0xa5; len];
    hasher.finalize_into(&mut output);
    output
}

/// Lengths at the edges of chunks and levels, and a few others.
fn lengths() -> Vec<usize> {
    let edges = [1, 2, 7, 8, 9, 127, 128, 129, 256, 300].map(|chunks| chunks * CHUNK_LEN);
    let mut lengths = vec![0, 1, 31, 100];
    lengths.extend(edges.iter().flat_map(|edge| [edge - 1, *edge, edge + 1]));
    lengths
}

#[test]
fn known_answers() {
    const LONG: usize = 2_000_000;
    let file = family_vectors("tree", "tree");
    let mut long = 0;
    on_each_backend(|backend| {
        for case in cases(&file["tree"]) {
            let message = message_of(case);
            // These would take minutes on the portable backend, or on an emulated CPU.
            if message.len() > LONG && (backend.name() == "portable" || fewer_cases()) {
                continue;
            }
            long += usize::from(message.len() > LONG);
            let (tree, expected) = (tree_of(case), bytes(case, "digest"));
            let mut one_shot = vec![0xa5; expected.len()];
            tree.digest_into(&message, &mut one_shot);
            assert_eq!(one_shot, expected, "{case}");
            for piece in [1 << 20, 4096, 1111] {
                let mut hasher = tree.hasher();
                message.chunks(piece).for_each(|piece| hasher.update(piece));
                assert_eq!(output(hasher, expected.len()), expected, "{case}, {piece}");
            }
            if case["key"].is_null() {
                let domain = Label::try_from(text(case, "domain")).unwrap();
                one_shot.fill(0xa5);
                tree::digest_into(domain, &message, &mut one_shot);
                assert_eq!(one_shot, expected);
                if expected.len() == 32 {
                    assert_eq!(tree::digest(domain, &message).as_bytes()[..], *expected);
                    assert_eq!(tree.digest(&message).as_bytes()[..], *expected);
                }
            }
        }
    });
    assert!(long >= 5 || cfg!(veriplex_backend = "portable") || fewer_cases());
}

#[test]
fn outboard_known_answers() {
    let file = family_vectors("tree", "tree");
    for case in cases(&file["outboard"]) {
        let (tree, message) = (tree_of(case), message_of(case));
        let mut builder = Builder::new(&tree);
        message.chunks(100_000).for_each(|piece| builder.update(piece));
        let (digest, strings) = builder.finalize();
        assert_eq!(digest.to_bytes(), array(case, "digest"));
        assert_eq!(fingerprint(&strings), array(case, "outboard_digest"));
        let lens = case["level_lengths"].as_array().into_iter().flatten();
        let total: u64 = lens.map(|len| len.as_u64().unwrap()).sum();
        assert_eq!(
            (strings.len() as u64, outboard_len(message.len() as u64)),
            (total, total)
        );
        let outboard = Outboard::new(&strings, message.len() as u64).unwrap();
        assert_eq!(outboard.verify_range(&tree, &digest, 0, &message), Ok(()));
    }
}

/// The digest and the outboard of a message, from the specification.
fn specified(domain: &[u8], key: Option<&[u8]>, message: &[u8], len: usize) -> (Vec<u8>, Vec<u8>) {
    let base = key.map_or_else(
        || spec::tree::base(domain),
        |key| spec::tree::keyed_base(domain, key),
    );
    let (mut outboard, mut string) = (Vec::new(), message.to_vec());
    for level in 0.. {
        if string.len() <= spec::tree::CHUNK_LEN {
            break;
        }
        string = spec::tree::above(base, level, &string);
        outboard = [string.clone(), outboard].concat();
    }
    (spec::tree::digest(base, message, len), outboard)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(twin_cases())
    })]
    #[test]
    fn twin(
        domain in prop::collection::vec(any::<u8>(), 0..=91),
        key in prop::option::of(prop::collection::vec(any::<u8>(), 0..100)),
        seed: u64,
        len in prop_oneof![8 => 0..300_usize, 1 => 4090..4100_usize, 1 => 8190..8200_usize],
        out_len in 0..200_usize,
        piece in 1..5000_usize,
    ) {
        let message = data(seed, len);
        let (digest, strings) = specified(&domain, key.as_deref(), &message, out_len);
        let label = Label::new(&domain).unwrap();
        let tree = key.as_ref().map_or_else(|| Tree::new(label), |key| Tree::from_protocol(keyed(label, key)));
        on_each_backend(|_| {
            let mut hasher = tree.hasher();
            message.chunks(piece).for_each(|piece| hasher.update(piece));
            assert_eq!(output(hasher, out_len), digest);
            let mut builder = Builder::new(&tree);
            builder.update(&message);
            assert_eq!(builder.finalize().1, strings);
        });
    }
}

/// A fiftieth of `VERIPLEX_CASES`, because the twin takes a quarter of a second per chunk.
fn twin_cases() -> u32 {
    let asked = common::asked_cases();
    asked.div_ceil(50)
}

#[test]
fn pieces_do_not_matter() {
    let mut random = Random(1);
    let tree = Tree::keyed(label!("pieces"), &Key::from([7; 32]));
    for len in lengths() {
        let message = data(5, len);
        let expected = tree.digest(&message);
        let mut hasher = tree.hasher();
        let mut rest = message.as_slice();
        while !rest.is_empty() {
            let most = [3, 5000, 100_000][random.below(3)];
            let (now, later) = rest.split_at(random.below(most).min(rest.len()));
            // A copy is independent.
            let mut copy = hasher.clone();
            copy.update(b"other");
            hasher.write_all(now).unwrap();
            rest = later;
        }
        hasher.flush().unwrap();
        assert_eq!(hasher.finalize(), expected, "{len}");
    }
}

/// However many chunks are processed at once.
#[test]
fn lanes_do_not_matter() {
    let tree = Tree::keyed(label!("lanes"), &Key::from([7; 32]));
    for chunks in 0..=18 {
        for len in [chunks * CHUNK_LEN, chunks * CHUNK_LEN + 1 + 211 * chunks] {
            let message = data(6, len);
            let mut first = None;
            on_each_lane_backend(|backend| {
                // It is slow.
                if backend.name() == "portable serial" && chunks > 1 {
                    return;
                }
                let digest = tree.digest(&message);
                assert_eq!(digest, *first.get_or_insert(digest), "{backend:?} {len}");
                let mut values = vec![0; len.div_ceil(CHUNK_LEN) * 32];
                if len > CHUNK_LEN {
                    tree.chaining_values_into(0, &message, &mut values).unwrap();
                    let mut combined = [0; 32];
                    tree.combine_into(0, &values, len as u64, &mut combined).unwrap();
                    assert_eq!(Digest::from(combined), digest, "{backend:?} {len}");
                }
            });
        }
    }
}

/// The digest differs if domain, key, length or content differ, even by zeros at the end.
#[test]
fn digests_differ() {
    let mut seen = std::collections::BTreeSet::new();
    let mut differs = |digest: Digest| assert!(seen.insert(digest));
    for len in lengths() {
        let zeros = vec![0; len];
        differs(tree::digest(label!("a"), &zeros));
        differs(tree::digest(label!("b"), &zeros));
        differs(Tree::from_protocol(keyed(label!("a"), &[])).digest(&zeros));
        differs(Tree::keyed(label!("a"), &Key::from([0; 32])).digest(&zeros));
    }
    let message = data(1, 300 * CHUNK_LEN);
    for place in [0, 4095, 4096, 128 * 4096 - 1, 128 * 4096, message.len() - 1] {
        let mut changed = message.clone();
        changed[place] ^= 1;
        differs(tree::digest(label!("a"), &changed));
    }
    // The level-1 string as a message, against the message it came from.
    let (_, strings) = Builder::new(&Tree::new(label!("a")))
        .also(&message[..8192])
        .finalize();
    differs(tree::digest(label!("a"), &message[..8192]));
    differs(tree::digest(label!("a"), &strings));
    // A longer output does not begin with the shorter one.
    let mut long = [0; 64];
    tree::digest_into(label!("a"), &message, &mut long);
    assert_ne!(long[..32], *tree::digest(label!("a"), &message).as_bytes());
}

trait Also {
    fn also(self, message: &[u8]) -> Self;
}

impl Also for Builder {
    fn also(mut self, message: &[u8]) -> Self {
        self.write_all(message).unwrap();
        self
    }
}

#[test]
fn parts_on_several_machines() {
    let tree = Tree::keyed(label!("parts"), &Key::from([7; 32]));
    for len in lengths().into_iter().chain([128 * 128 * CHUNK_LEN + 5]) {
        let message = data(9, len);
        for level in 0..=2 {
            let unit = usize::try_from(Tree::unit_len(level).unwrap()).unwrap();
            assert_eq!(unit, CHUNK_LEN << (7 * level));
            let mut output = [0xa5; 50];
            let units = len.div_ceil(unit);
            let mut values = vec![0xa5; units * 32];
            // Parts of one, two, three, ... units.
            let (mut start, mut part) = (0, 1);
            while start < units {
                let end = units.min(start + part);
                let bytes = &message[start * unit..len.min(end * unit)];
                let result = tree.chaining_values_into(level, bytes, &mut values[start * 32..end * 32]);
                assert_eq!(result, Ok(()));
                (start, part) = (end, part + 1);
            }
            let result = tree.combine_into(level, &values, len as u64, &mut output);
            if len <= unit {
                assert_eq!(result, Err(Error::LimitReached));
                assert_eq!(output, [0xa5; 50]);
                continue;
            }
            assert_eq!(result, Ok(()));
            let mut expected = [0; 50];
            tree.digest_into(&message, &mut expected);
            assert_eq!(output, expected, "{len} {level}");
            // The length enters the digest, and determines the number of values.
            if !len.is_multiple_of(unit) {
                tree.combine_into(level, &values, len as u64 + 1, &mut output)
                    .unwrap();
                assert_ne!(output, expected);
            }
            for wrong in [
                &values[..values.len() - 1],
                &values[32..],
                &[&values[..], &[0; 32]].concat(),
            ] {
                let result = tree.combine_into(level, wrong, len as u64, &mut output);
                assert_eq!(result, Err(Error::BufferLength));
            }
        }
    }
    let mut value = [0; 64];
    for (level, part, room) in [
        (0, 0, 0),
        (0, 0, 32),
        (0, 4097, 32),
        (0, 4096, 64),
        (0, 1, 31),
        (1, 1, 64),
    ] {
        let result = tree.chaining_values_into(level, &vec![0; part], &mut value[..room]);
        assert_eq!(result, Err(Error::BufferLength), "{level} {part} {room}");
    }
    assert_eq!(Tree::unit_len(7), Ok(1 << 61));
    // A short unit has a chain of nodes.
    let mut node = vec![1];
    for level in 0..=7 {
        let mut protocol = Protocol::new(label!("parts"));
        protocol.mix(label!("key"), &[7; 32]);
        protocol.mix(label!("level"), &[level]);
        protocol.mix(label!("node"), &node);
        node = protocol.derive_array::<32>(label!("cv")).to_vec();
        let result = tree.chaining_values_into(level.into(), &[1], &mut value[..32]);
        assert_eq!((result, &value[..32]), (Ok(()), &node[..]), "{level}");
    }
    for level in [8, 9, 100, usize::MAX] {
        assert_eq!(Tree::unit_len(level), Err(Error::LimitReached));
        assert_eq!(
            tree.chaining_values_into(level, &[1], &mut value[..32]),
            Err(Error::LimitReached)
        );
        assert_eq!(
            tree.combine_into(level, &value, u64::MAX, &mut [0; 32]),
            Err(Error::LimitReached)
        );
    }
}

/// Lengths that nothing in memory can have.
#[test]
fn values_piece_by_piece() {
    let tree = Tree::new(label!("com.example.tree"));
    for len in [4097, 10_000, (1 << 19) + 1, 1 << 20, 3_000_000] {
        let message = data(7, len);
        for level in 0..2 {
            let unit = usize::try_from(Tree::unit_len(level).unwrap()).unwrap();
            let mut values = vec![0; len.div_ceil(unit) * 32];
            tree.chaining_values_into(level, &message, &mut values).unwrap();
            for piece in [32, 96, 4096, 1 << 20] {
                let mut combiner = tree.combiner(level).unwrap();
                for values in values.chunks(piece) {
                    combiner.update(values).unwrap();
                }
                let mut output = [0; 77];
                let result = combiner.clone().finalize_into(len as u64, &mut output);
                if len <= unit {
                    assert_eq!(result, Err(Error::LimitReached));
                    continue;
                }
                result.unwrap();
                let mut expected = [0; 77];
                tree.digest_into(&message, &mut expected);
                assert_eq!(output, expected);
                // One value too few, one too many, and lengths that others have.
                let mut more = combiner.clone();
                more.update(&[0; 32]).unwrap();
                for result in [
                    more.finalize_into(len as u64, &mut output),
                    combiner.clone().finalize_into((len + unit) as u64, &mut output),
                    combiner.finalize_into((len - unit) as u64, &mut output),
                ] {
                    assert!(result.is_err());
                }
            }
        }
    }
    assert_eq!(tree.combiner(8).unwrap_err(), Error::LimitReached);
    let mut combiner = tree.combiner(0).unwrap();
    assert_eq!(combiner.update(&[0; 33]), Err(Error::BufferLength));
    // More than a message below 2^64 bytes can have, at the highest level: 2^64 / unit values.
    let mut combiner = tree.combiner(7).unwrap();
    let most = usize::try_from(u64::MAX.div_ceil(Tree::unit_len(7).unwrap())).unwrap();
    combiner.update(&vec![0; most * 32]).unwrap();
    assert_eq!(combiner.update(&[0; 32]), Err(Error::LimitReached));
    combiner.finalize_into(u64::MAX, &mut [0; 32]).unwrap();
}

/// Takes everything at any place: an outboard for a message of 2^64 bytes begins far away.
struct Nowhere;

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Nowhere {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        Ok(if let SeekFrom::Start(place) = to { place } else { 0 })
    }
}

#[test]
fn outboards_into_a_writer() {
    let tree = Tree::new(label!("com.example.tree"));
    for len in [0, 1, 4096, 4097, 600_000, 10_000_000] {
        let message = data(7, len);
        let expected = with_outboard_of(&tree, &message);
        for piece in [1000, 100_000, 1 << 24] {
            let mut inner = Cursor::new(b"before".to_vec());
            inner.seek(SeekFrom::End(0)).unwrap();
            let mut writer = Writer::new(&tree, len as u64, inner).unwrap();
            for piece in message.chunks(piece) {
                writer.update(piece).unwrap();
            }
            let (digest, inner) = writer.finalize().unwrap();
            assert_eq!(digest, expected.0);
            assert!(inner.into_inner() == [&b"before"[..], &expected.1].concat());
        }
        // Another length than was said.
        for said in [
            len as u64 + 1,
            (len as u64).saturating_sub(1),
            len as u64 / 2,
            u64::MAX,
        ] {
            if said == len as u64 {
                continue;
            }
            let mut writer = Writer::new(&tree, said, Nowhere).unwrap();
            let updated = writer.update(&message).err();
            assert!(
                updated.is_some() || said > len as u64,
                "longer than was said: at once"
            );
            let failed = updated.or_else(|| writer.finalize().err()).unwrap();
            assert_eq!(failed.kind(), ErrorKind::InvalidInput, "{len} {said}");
        }
    }
    // A writer that is full.
    let message = data(7, 10_000_000);
    let mut room = vec![0; 70_000];
    let mut writer = Writer::new(&tree, 10_000_000, Cursor::new(&mut room[..])).unwrap();
    let failed = message
        .chunks(1 << 20)
        .find_map(|piece| writer.update(piece).err());
    let failed = failed.or_else(|| writer.finalize().err()).unwrap();
    assert_eq!(failed.kind(), ErrorKind::WriteZero);
    // Full before the end of the message: its error is given out once, and there is no way on.
    let mut writer = Writer::new(&tree, 10_000_000, Cursor::new(&mut room[..60_000])).unwrap();
    let mut pieces = message.chunks(1 << 20);
    let failed = pieces.find_map(|piece| writer.update(piece).err()).unwrap();
    assert_eq!(failed.kind(), ErrorKind::WriteZero);
    assert!(pieces.next().is_some(), "before the end");
    assert_eq!(writer.update(&[0]).unwrap_err().kind(), ErrorKind::Other);
    assert_eq!(writer.finalize().err().unwrap().kind(), ErrorKind::Other);
}

/// Fails or panics in its first write, or fails in flushing, and otherwise works.
#[derive(Default)]
struct Fails {
    inner: Cursor<Vec<u8>>,
    in_write: bool,
    panics: bool,
    in_flush: bool,
}

impl Write for Fails {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if std::mem::take(&mut self.panics) {
            std::panic::resume_unwind(Box::new(()));
        }
        if std::mem::take(&mut self.in_write) {
            return Err(ErrorKind::TimedOut.into());
        }
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        if self.in_flush {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(())
    }
}

impl Seek for Fails {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.inner.seek(to)
    }
}

/// Of this message the chaining value of the last chunk is what fills a buffer, so that the end writes twice: an error in
/// either, or in flushing, is an error, and there is no outboard.
#[test]
fn errors_at_the_end_of_an_outboard() {
    let tree = Tree::new(label!("com.example.tree"));
    let message = data(7, 2048 * CHUNK_LEN);
    for [in_write, in_flush] in [[false, false], [true, false], [false, true]] {
        let inner = Fails {
            in_write,
            in_flush,
            ..Fails::default()
        };
        let mut writer = Writer::new(&tree, message.len() as u64, inner).unwrap();
        writer.update(&message).unwrap();
        match writer.finalize() {
            Ok((digest, fails)) => {
                assert!(!in_write && !in_flush);
                assert!((digest, fails.inner.into_inner()) == with_outboard_of(&tree, &message));
            }
            Err(error) => {
                assert!(in_write || in_flush);
                assert_eq!(error.kind(), ErrorKind::TimedOut);
            }
        }
    }
}

/// An error is one, although the inner writer works again.
#[test]
fn no_outboard_after_an_error() {
    let tree = Tree::new(label!("com.example.tree"));
    let message = data(7, 10_000_000);
    let inner = Fails {
        in_write: true,
        ..Fails::default()
    };
    let mut writer = Writer::new(&tree, message.len() as u64, inner).unwrap();
    assert_eq!(writer.update(&message).unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(writer.finalize().err().unwrap().kind(), ErrorKind::Other);
}

/// Nor after a panic: what was absorbed until then is not known.
#[test]
fn no_outboard_after_a_panic() {
    let tree = Tree::new(label!("com.example.tree"));
    let message = data(7, 10_000_000);
    let inner = Fails {
        panics: true,
        ..Fails::default()
    };
    let mut writer = Writer::new(&tree, message.len() as u64, inner).unwrap();
    let update = std::panic::AssertUnwindSafe(|| writer.update(&message));
    std::panic::catch_unwind(update).unwrap_err();
    assert_eq!(writer.finalize().err().unwrap().kind(), ErrorKind::Other);
}

/// A message that is longer than was said does not overwrite what follows its outboard.
#[test]
fn nothing_is_written_after_an_outboard() {
    let tree = Tree::new(label!("com.example.tree"));
    let mut inner = Cursor::new(vec![0xa5; 100_000]);
    let mut writer = Writer::new(&tree, 10_000, &mut inner).unwrap();
    let error = writer.update(&data(7, 10_000_000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    drop(writer);
    assert!(inner.into_inner().iter().all(|byte| *byte == 0xa5));
}

/// Counts the calls.
struct Counting<'c, R>(R, &'c Cell<usize>);

impl<R: Read> Read for Counting<'_, R> {
    fn read(&mut self, output: &mut [u8]) -> std::io::Result<usize> {
        self.1.set(self.1.get() + 1);
        self.0.read(output)
    }
}

impl<R: Seek> Seek for Counting<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

/// A chunk that was verified is not read again for the next bytes of it, nor are those above it.
#[test]
fn verified_chunks_are_kept() {
    let tree = Tree::new(label!("com.example.tree"));
    let (message, digest, strings) = with_outboard(&tree, 20_000);
    let counts = [const { Cell::new(0) }; 2];
    let inner = Counting(Cursor::new(&message), &counts[0]);
    let outboard = Counting(Cursor::new(&strings), &counts[1]);
    let mut reader = Reader::new(&tree, &digest, 20_000, inner, outboard).unwrap();
    for bytes in message.chunks(10) {
        let mut output = vec![0; bytes.len()];
        reader.read_exact(&mut output).unwrap();
        assert_eq!(output, bytes);
    }
    assert_eq!(counts.map(Cell::into_inner), [5, 1]);
}

/// Its first read fails.
struct Late<R>(R, bool);

impl<R: Read> Read for Late<R> {
    fn read(&mut self, output: &mut [u8]) -> std::io::Result<usize> {
        if std::mem::take(&mut self.1) {
            return Err(ErrorKind::TimedOut.into());
        }
        self.0.read(output)
    }
}

impl<R: Seek> Seek for Late<R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

/// Errors of the inner readers are passed on, and the call can be repeated.
#[test]
fn errors_of_inner_readers() {
    let tree = Tree::new(label!("com.example.tree"));
    let (message, digest, strings) = with_outboard(&tree, 5000);
    let late = Late(Cursor::new(&strings), true);
    let error = Reader::new(&tree, &digest, 5000, Cursor::new(&message), late).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    let late = Late(Cursor::new(&message), true);
    let mut reader = Reader::new(&tree, &digest, 5000, late, Cursor::new(&strings)).unwrap();
    let mut output = [0; 10];
    assert_eq!(reader.read(&mut output).unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(reader.read(&mut output).unwrap(), 10);
    assert_eq!(output, message[..10]);
    // An empty message has no byte after its end.
    let (_, digest, _) = with_outboard(&tree, 0);
    let [inner, outboard] = [(); 2].map(|()| Cursor::new([]));
    let mut reader = Reader::new(&tree, &digest, 0, inner, outboard).unwrap();
    reader.seek(SeekFrom::Start(1)).unwrap();
    assert_eq!(reader.read(&mut output).unwrap(), 0);
}

/// A length that is not the message's: neither there nor past it is there an end, and no length is told.
#[test]
fn no_end_without_the_root() {
    let tree = Tree::new(label!("com.example.tree"));
    let (message, digest, strings) = with_outboard(&tree, 20_000);
    for forged in [0, 1, 4096, 5000, 19_999, 20_001] {
        // Outboards of the right length, and of any other.
        for strings in [&strings[..], &[0; 64], &[]] {
            for place in [SeekFrom::Start(0), SeekFrom::Start(1_000_000), SeekFrom::End(0)] {
                let [message, strings] = [&message, strings].map(Cursor::new);
                let result = Reader::new(&tree, &digest, forged, message, strings).and_then(|mut reader| {
                    reader.seek(place)?;
                    reader.read_to_end(&mut Vec::new())
                });
                let error = result.expect_err("it was verified");
                assert_eq!(error.kind(), ErrorKind::InvalidData, "{forged}, {place:?}");
            }
        }
    }
}

#[test]
fn hostile_lengths() {
    let tree = Tree::new(label!("hostile"));
    // 2^52 chunks, and above them 2^45, 2^38, ..., 1 or 2 chunks, with 32 bytes for each.
    assert_eq!(
        outboard_len(u64::MAX),
        (0..8).map(|level| 1_u64 << (57 - 7 * level)).sum::<u64>()
    );
    assert_eq!(outboard_len(4096), 0);
    assert_eq!(outboard_len(4097), 64);
    let zeros = vec![0; 99_999];
    for len in [4097, 1 << 40, 1 << 63, u64::MAX - 4096, u64::MAX] {
        assert_eq!(Outboard::new(&[0; 63], len).err(), Some(Error::Verification));
        for index in [0, 1, len / 4096, u64::MAX / 4096, u64::MAX] {
            for proof in [0, 32, 64, 4096, 36_864, 40_000] {
                let result = verify_chunk(
                    &tree,
                    &Digest::from([0; 32]),
                    len,
                    index,
                    &[0; 4096],
                    &vec![0; proof],
                );
                assert_eq!(result, Err(Error::Verification));
            }
        }
        let [message, strings] = [&zeros[..9000], &zeros].map(Cursor::new);
        let error = Reader::new(&tree, &Digest::from([0; 32]), len, message, strings).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
    let (message, digest, strings) = with_outboard(&tree, 5000);
    let at = |bytes, origin| {
        let mut cursor = Cursor::new(bytes);
        cursor.set_position(origin);
        cursor
    };
    let mut reader = Reader::new(&tree, &digest, 5000, at(&message, 0), at(&strings, 0)).unwrap();
    assert_eq!(reader.seek(SeekFrom::End(0)).unwrap(), 5000);
    assert_eq!(reader.read(&mut [0; 10]).unwrap(), 0);
    assert!(reader.seek(SeekFrom::Current(i64::MIN)).is_err());
    assert!(reader.seek(SeekFrom::End(-5001)).is_err());
    assert_eq!(reader.seek(SeekFrom::Start(u64::MAX)).unwrap(), u64::MAX);
    assert!(reader.seek(SeekFrom::Current(1)).is_err());
    assert_eq!(reader.read(&mut [0; 10]).unwrap(), 0);
    // The message or the outboard begins so late that positions in it exceed 64 bits.
    let late = at(&message, u64::MAX - 3);
    let mut reader = Reader::new(&tree, &digest, 5000, late, at(&strings, 0)).unwrap();
    reader.seek(SeekFrom::Start(4096)).unwrap();
    assert_eq!(
        reader.read(&mut [0; 10]).unwrap_err().kind(),
        ErrorKind::InvalidData
    );
    for len in [5000, u64::MAX] {
        let reader = Reader::new(&tree, &digest, len, at(&message, 0), at(&strings, u64::MAX));
        assert_eq!(reader.unwrap_err().kind(), ErrorKind::InvalidData);
    }
    let outboard = Outboard::new(&[], 100).unwrap();
    for offset in [1, 100, 4096, u64::MAX - 4095, u64::MAX] {
        let result = outboard.verify_range(&tree, &Digest::from([0; 32]), offset, &[0; 100]);
        assert_eq!(result, Err(Error::BufferLength));
    }
    assert_eq!(outboard.proof(1), Err(Error::BufferLength));
    assert_eq!(outboard.proof(u64::MAX), Err(Error::BufferLength));
}

/// A message of the given length, with its digest and its outboard.
fn with_outboard(tree: &Tree, len: usize) -> (Vec<u8>, Digest, Vec<u8>) {
    let message = data(3, len);
    let (digest, strings) = Builder::new(tree).also(&message).finalize();
    assert_eq!(digest, tree.digest(&message));
    (message, digest, strings)
}

#[test]
fn ranges_and_proofs() {
    let mut random = Random(2);
    let tree = Tree::new(label!("ranges"));
    for len in lengths().into_iter().chain([128 * 128 * CHUNK_LEN + 5]) {
        let (message, digest, strings) = with_outboard(&tree, len);
        let outboard = Outboard::new(&strings, len as u64).unwrap();
        let chunks = len.div_ceil(CHUNK_LEN).max(1);
        for _ in 0..20 {
            let first = random.below(chunks);
            let last = first + random.below((chunks - first).min(300));
            let (start, end) = (first * CHUNK_LEN, len.min((last + 1) * CHUNK_LEN));
            let range = &message[start..end];
            assert_eq!(
                outboard.verify_range(&tree, &digest, start as u64, range),
                Ok(()),
                "{len} {first} {last}"
            );
            let index = first as u64;
            let proof = outboard.proof(index).unwrap();
            assert!(proof.len() <= 8 * CHUNK_LEN);
            let chunk = &message[start..len.min(start + CHUNK_LEN)];
            assert_eq!(
                verify_chunk(&tree, &digest, len as u64, index, chunk, &proof),
                Ok(())
            );

            // Wrong digest, tree, length, place or content.
            let refused = |result| assert_eq!(result, Err(Error::Verification));
            let mut other = digest.to_bytes();
            other[random.below(32)] ^= 1 << random.below(8);
            let other = Digest::from(other);
            refused(outboard.verify_range(&tree, &other, start as u64, range));
            refused(verify_chunk(&tree, &other, len as u64, index, chunk, &proof));
            let other = Tree::keyed(label!("ranges"), &Key::from([0; 32]));
            refused(outboard.verify_range(&other, &digest, start as u64, range));
            refused(verify_chunk(&tree, &digest, len as u64 + 1, index, chunk, &proof));
            if first > 0 {
                refused(verify_chunk(&tree, &digest, len as u64, index - 1, chunk, &proof));
                let before = outboard.verify_range(&tree, &digest, (start - CHUNK_LEN) as u64, range);
                // The last chunk may not fit there.
                assert!(matches!(before, Err(Error::Verification | Error::BufferLength)));
            }
            if let Some(place) = (!range.is_empty()).then(|| random.below(range.len())) {
                let mut changed = range.to_vec();
                changed[place] ^= 1 << random.below(8);
                refused(outboard.verify_range(&tree, &digest, start as u64, &changed));
                let mut changed = chunk.to_vec();
                let place = random.below(chunk.len());
                changed[place] ^= 1 << random.below(8);
                refused(verify_chunk(&tree, &digest, len as u64, index, &changed, &proof));
                refused(verify_chunk(
                    &tree,
                    &digest,
                    len as u64,
                    index,
                    &chunk[1..],
                    &proof,
                ));
            }
            if !proof.is_empty() {
                let mut changed = proof.clone();
                changed[random.below(proof.len())] ^= 1 << random.below(8);
                refused(verify_chunk(&tree, &digest, len as u64, index, chunk, &changed));
                refused(verify_chunk(
                    &tree,
                    &digest,
                    len as u64,
                    index,
                    chunk,
                    &proof[1..],
                ));
            }
            refused(verify_chunk(
                &tree,
                &digest,
                len as u64,
                index,
                chunk,
                &[&proof[..], &[0]].concat(),
            ));
        }
        // Ranges that are not whole chunks.
        for (start, end) in [(0, len.saturating_sub(1)), (1, len), (0, 1)] {
            if start <= end && end < len.max(1) || start == 1 && len > 1 {
                let result = outboard.verify_range(&tree, &digest, start as u64, &message[start..end]);
                let fits = start % CHUNK_LEN == 0 && end % CHUNK_LEN == 0 && (end > 0 || len == 0);
                assert_eq!(
                    result,
                    if fits { Ok(()) } else { Err(Error::BufferLength) },
                    "{len} {start} {end}"
                );
            }
        }
        assert_eq!(
            Outboard::new(&[&strings[..], &[0]].concat(), len as u64).err(),
            Some(Error::Verification)
        );
    }
}

/// Whoever needs a changed byte of an outboard notices the change, and no one else does.
#[test]
fn changed_outboards() {
    let mut random = Random(3);
    let tree = Tree::new(label!("changed"));
    let len = 300 * CHUNK_LEN + 7;
    let (message, digest, strings) = with_outboard(&tree, len);
    // Level 2 has 3 values, level 1 has 301.
    assert_eq!(strings.len(), 3 * 32 + 301 * 32);
    for _ in 0..300 {
        let place = if random.below(4) == 0 {
            random.below(96)
        } else {
            random.below(strings.len())
        };
        let mut changed = strings.clone();
        changed[place] ^= 1 << random.below(8);
        let outboard = Outboard::new(&changed, len as u64).unwrap();
        // The chunks of the message whose path goes through the changed chunk of the outboard.
        let below = match place.checked_sub(96) {
            None => 0..301,
            Some(place) => place / 4096 * 128..(place / 4096 * 128 + 128).min(301),
        };
        for _ in 0..5 {
            let chunk = random.below(301);
            let range = &message[chunk * CHUNK_LEN..len.min((chunk + 1) * CHUNK_LEN)];
            let expected = if below.contains(&chunk) {
                Err(Error::Verification)
            } else {
                Ok(())
            };
            let result = outboard.verify_range(&tree, &digest, (chunk * CHUNK_LEN) as u64, range);
            assert_eq!(result, expected, "{place} {chunk}");
            let proof = outboard.proof(chunk as u64).unwrap();
            assert_eq!(
                verify_chunk(&tree, &digest, len as u64, chunk as u64, range, &proof),
                expected
            );
            let [inner, outboard] = [&message, &changed].map(Cursor::new);
            let mut output = [0xa5; 7];
            let result = Reader::new(&tree, &digest, len as u64, inner, outboard).and_then(|mut reader| {
                reader.seek(SeekFrom::Start((chunk * CHUNK_LEN) as u64))?;
                reader.read_exact(&mut output)
            });
            assert_eq!(result.is_ok(), expected.is_ok());
            assert_eq!(
                output,
                if expected.is_ok() {
                    range[..7].try_into().unwrap()
                } else {
                    [0xa5; 7]
                }
            );
        }
    }
}

#[test]
fn reader_against_a_cursor() {
    let mut random = Random(4);
    let tree = Tree::new(label!("reader"));
    for len in [0, 1, 4096, 4097, 20_000, 128 * 4096 + 1, 300 * 4096 + 7] {
        let (message, digest, strings) = with_outboard(&tree, len);
        // The message and the outboard each start after a header, not at the start of their file.
        let with_header = |bytes: &[u8]| {
            let mut cursor = Cursor::new([b"header", bytes].concat());
            cursor.set_position(6);
            cursor
        };
        let (inner, outboard) = (with_header(&message), with_header(&strings));
        let mut reader = Reader::new(&tree, &digest, len as u64, inner, outboard).unwrap();
        reads_like_a_cursor(&mut reader, &message, &mut random, 300, 10_000);
        let mut all = Vec::new();
        reader.rewind().unwrap();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, message);
        // Chunks at one place below their parents, one after the other.
        for (i, chunk) in message.chunks(128 * CHUNK_LEN).enumerate() {
            let mut read = vec![0; chunk.len().min(CHUNK_LEN)];
            reader
                .seek(SeekFrom::Start((i * 128 * CHUNK_LEN) as u64))
                .unwrap();
            reader.read_exact(&mut read).unwrap();
            assert!(read == chunk[..read.len()], "{len} {i}");
        }

        let (inner, outboard) = (with_header(&message), with_header(&strings));
        let error = Reader::new(&tree, &Digest::from([0; 32]), len as u64, inner, outboard).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "another digest");
        // A truncated message gives only its whole chunks.
        if len > 0 {
            let cut = Cursor::new(&message[..len - 1]);
            let mut part = Vec::new();
            let error = Reader::new(&tree, &digest, len as u64, cut, Cursor::new(&strings))
                .and_then(|mut reader| reader.read_to_end(&mut part))
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidData);
            assert_eq!(part, message[..(len - 1) / CHUNK_LEN * CHUNK_LEN]);
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn threads_do_not_matter() {
    let tree = Tree::keyed(label!("threads"), &Key::from([7; 32]));
    for len in lengths()
        .into_iter()
        .chain([4096 * CHUNK_LEN, 4096 * CHUNK_LEN + 1, 5_000 * CHUNK_LEN + 9])
    {
        let message = data(9, len);
        let expected = with_outboard_of(&tree, &message);
        for threads in if fewer_cases() { &[3][..] } else { &[1, 2, 3, 8] } {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(*threads)
                .build()
                .unwrap();
            pool.install(|| {
                let mut digest = [0; 32];
                tree.digest_into_rayon(&message, &mut digest);
                assert_eq!(Digest::from(digest), expected.0, "{len} {threads}");
                let mut hasher = tree.hasher();
                let mut builder = Builder::new(&tree);
                let mut writer = Writer::new(&tree, len as u64, Cursor::new(Vec::new())).unwrap();
                for piece in message.chunks(1_000_001) {
                    hasher.update_rayon(piece);
                    builder.update_rayon(piece);
                    writer.update_rayon(piece).unwrap();
                }
                assert_eq!(hasher.finalize(), expected.0);
                assert_eq!(builder.finalize(), expected);
                let (digest, outboard) = writer.finalize().unwrap();
                assert_eq!((digest, outboard.into_inner()), expected);
            });
        }
    }
}

fn with_outboard_of(tree: &Tree, message: &[u8]) -> (Digest, Vec<u8>) {
    Builder::new(tree).also(message).finalize()
}
