//! `seekable` and `tree` over a hostile channel: only what was sealed or hashed comes out, at any place, in any pieces.

#![no_main]

use std::io::{Cursor, Read, Seek, SeekFrom, Write};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::seekable::{Layout, Message, OpenReader, SealWriter, SeekReader, Seekable};
use veriplex::tree::{CHUNK_LEN, Tree, outboard};
use veriplex::{Key, label};
use veriplex_fuzz::{Change, Data};
use veriplex_spec as spec;

#[derive(Arbitrary, Debug)]
struct Case {
    nonce: [u8; 24],
    ad: Data,
    segment_len: u8,
    writes: Vec<Data>,
    /// Swap two segments.
    swap: Option<(u8, u8)>,
    changes: Vec<Change>,
    /// The number of bytes per read, less one, and where to read.
    read: u16,
    places: Vec<u16>,
    /// How often the tree's message repeats the writes, and changes to its outboard or proof.
    more: u8,
    of_outboard: Vec<Change>,
}

fuzz_target!(|case: Case| {
    let writes: Vec<Vec<u8>> = case.writes.iter().map(Data::bytes).collect();
    case.seekable(&writes);
    case.tree(&writes);
});

impl Case {
    fn seekable(&self, writes: &[Vec<u8>]) {
        let plaintext = writes.concat();
        let (key, ad) = ([7; 32], self.ad.bytes());
        let segment_len = 64 + usize::from(self.segment_len);
        let message = Seekable::<24>::new(label!("veriplex.fuzz"), &Key::from(key));
        let message = message.with_segment_len(segment_len).unwrap();
        let message = message.message(&self.nonce, &ad);

        let mut writer = SealWriter::new(&message, Vec::new());
        writes.iter().for_each(|write| writer.write_all(write).unwrap());
        let genuine = writer.finish().unwrap();
        assert_eq!(message.seal_vec(&plaintext), genuine);
        // The twin is slow.
        if plaintext.len() <= 600 {
            let base = spec::seekable::base(segment_len, b"veriplex.fuzz", &key, &self.nonce, &ad);
            assert_eq!(spec::seekable::seal(base, segment_len, &plaintext), genuine);
        }
        let mut received = genuine.clone();
        if let Some((a, b)) = self.swap {
            let mut segments: Vec<_> = genuine.chunks(segment_len + 16).collect();
            let [a, b] = [a, b].map(|i| usize::from(i) % segments.len());
            segments.swap(a, b);
            received = segments.concat();
        }
        self.changes.iter().for_each(|change| change.apply(&mut received));
        let is_genuine = received == genuine;
        let opened = message.open_vec(&received);
        assert_eq!(opened.is_ok(), is_genuine);
        assert!(opened.is_err() || opened.as_ref() == Ok(&plaintext));
        let mut in_out = received.clone();
        if message.open_in_place(&mut in_out).is_err() {
            assert!(in_out.iter().all(|byte| *byte == 0));
        }

        let mut reader = OpenReader::new(&message, received.as_slice());
        let (given, ended) = self.drain(&mut reader);
        assert!(plaintext.starts_with(&given));
        assert_eq!(ended, is_genuine);
        assert_eq!(reader.is_finished(), is_genuine);
        self.at_random(&message, &received, &plaintext, is_genuine);
    }

    /// A read at each place gives the plaintext there, or an error.
    fn at_random(&self, message: &Message, received: &[u8], plaintext: &[u8], is_genuine: bool) {
        let layout = Layout::of_sealed(received.len() as u64, 64 + usize::from(self.segment_len));
        let Ok(mut reader) = SeekReader::new(message, Cursor::new(received)) else {
            assert!(!is_genuine);
            return;
        };
        // The reader has verified the end, so the length is right.
        assert_eq!(layout.unwrap().plaintext_len(), plaintext.len() as u64);
        for place in &self.places {
            reader.seek(SeekFrom::Start(u64::from(*place))).unwrap();
            let mut output = vec![0; usize::from(self.read) + 1];
            let there = plaintext.get(usize::from(*place)..).unwrap_or_default();
            match reader.read(&mut output) {
                Ok(n) => {
                    assert!(n > 0 || there.is_empty());
                    assert_eq!(output[..n], there[..n]);
                }
                Err(_) => assert!(!is_genuine),
            }
        }
    }

    /// Everything that the reader releases, and whether it reached the end.
    fn drain(&self, reader: &mut impl Read) -> (Vec<u8>, bool) {
        let mut given = Vec::new();
        let mut buffer = vec![0; usize::from(self.read) + 1];
        loop {
            match reader.read(&mut buffer) {
                Ok(0) => return (given, true),
                Ok(n) => given.extend_from_slice(&buffer[..n]),
                Err(_) => return (given, false),
            }
        }
    }

    fn tree(&self, writes: &[Vec<u8>]) {
        let key = [7; 32];
        let tree = Tree::keyed(label!("veriplex.fuzz"), &Key::from(key));
        let message = writes.concat().repeat(usize::from(self.more));
        // More levels would test nothing new.
        let message = &message[..message.len().min(1 << 20)];
        let len = message.len() as u64;
        let mut builder = outboard::Builder::new(&tree);
        message
            .chunks(usize::from(self.read) + 1)
            .for_each(|piece| builder.update(piece));
        let (digest, strings) = builder.finalize();
        assert_eq!(tree.digest(message), digest);
        if message.len() <= 600 {
            let base = spec::tree::keyed_base(b"veriplex.fuzz", &key);
            assert_eq!(spec::tree::digest(base, message, 32), digest.to_bytes());
        }

        let mut changed = message.to_vec();
        self.changes.iter().for_each(|change| change.apply(&mut changed));
        let mut strings_changed = strings.clone();
        self.of_outboard
            .iter()
            .for_each(|change| change.apply(&mut strings_changed));
        let received = outboard::Outboard::new(&strings_changed, len);
        assert!(received.is_ok() || strings_changed.len() != strings.len());
        let genuine = outboard::Outboard::new(&strings, len).unwrap();
        for place in &self.places {
            let index = u64::from(*place) % len.div_ceil(CHUNK_LEN as u64).max(1);
            let start = usize::try_from(index).unwrap() * CHUNK_LEN;
            let chunk = |message: &[u8]| {
                let end = message.len().min(start + CHUNK_LEN);
                message.get(start..end).unwrap_or_default().to_vec()
            };
            let (expected, given) = (chunk(message), chunk(&changed));
            if let Ok(received) = &received {
                let result = received.verify_range(&tree, &digest, start as u64, &given);
                assert!(result.is_err() || given == expected);
                assert!(result.is_ok() || given != expected || strings_changed != strings);
            }
            let mut proof = genuine.proof(index).unwrap();
            self.of_outboard
                .iter()
                .for_each(|change| change.apply(&mut proof));
            let is_genuine = proof == genuine.proof(index).unwrap() && given == expected;
            let result = outboard::verify_chunk(&tree, &digest, len, index, &given, &proof);
            assert_eq!(result.is_ok(), is_genuine);
        }
        let (message_cursor, strings_cursor) = (Cursor::new(&changed), Cursor::new(&strings_changed));
        let reader = outboard::Reader::new(&tree, &digest, len, message_cursor, strings_cursor);
        let Ok(mut reader) = reader else {
            return assert!(strings_changed != strings || changed != *message);
        };
        let (given, ended) = self.drain(&mut reader);
        assert!(message.starts_with(&given));
        assert!(!ended || given == message);
    }
}
