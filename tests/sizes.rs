//! Messages of 2^k - 1, 2^k and 2^k + 1 bytes: the backends agree, the twin agrees where it is fast enough, and no wrong
//! tag opens. Defects may wait for a size: a count in 16 bits is right up to 6 MB.

#![allow(clippy::range_plus_one)] // the ends are exclusive throughout

mod common;

use common::{data, fewer_cases, on_each_backend};
use veriplex::aead::{Aead, Message};
use veriplex::hazmat::{Backend, Duplex, LANES, LaneBackend, RATE, STATE_LEN, States};
use veriplex::siv::Siv;
use veriplex::{Error, Key, Label, Protocol, committing, digest, label, seekable, tree};
use veriplex_spec as spec;

/// Every backend up to here.
const MAX_LOG: u32 = 26;

/// The twin up to here: it takes a second for a megabyte.
const TWIN_MAX_LOG: u32 = 14;

fn sizes(logs: impl Iterator<Item = u32>) -> impl Iterator<Item = usize> {
    logs.flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1])
}

/// One of the three for each k from 20 on.
fn large(max: u32) -> impl Iterator<Item = usize> {
    (20..max + 1).map(|k| (1 << k) + k as usize % 3 - 1)
}

/// What an operation of a protocol leaves of a message, and of the protocol.
type Operation = (&'static str, fn(&mut Protocol, &mut Vec<u8>));

const OPERATIONS: [Operation; 5] = [
    ("mix", |p, message| p.mix(label!("mix"), message)),
    ("derive", |p, message| p.derive(label!("derive"), message)),
    ("mask", |p, message| p.mask(label!("mask"), message)),
    ("unmask", |p, message| p.unmask(label!("unmask"), message)),
    ("seal", |p, message| {
        let tag = p.seal_in_place_detached(label!("seal"), message);
        message.extend(tag);
    }),
];

fn started() -> Protocol {
    let mut protocol = Protocol::new(label!("veriplex.test.sizes"));
    protocol.mix(label!("first"), b"not at the start of a block");
    protocol
}

/// The fingerprints that each backend leaves.
fn compare(cases: &[(usize, Operation)]) {
    let message = data(1, cases.iter().map(|(len, _)| *len).max().unwrap());
    let mut first = None;
    on_each_backend(|backend| {
        let found: Vec<[u8; 32]> = (cases.iter())
            .map(|(len, (_, operation))| {
                let (mut protocol, mut buffer) = (started(), message[..*len].to_vec());
                operation(&mut protocol, &mut buffer);
                // The end of the output as it is; all of it is in the state, except what Derive gives.
                let end = buffer.len().saturating_sub(200);
                protocol.mix(label!("end"), &buffer[end..]);
                protocol.derive_array(label!("fingerprint"))
            })
            .collect();
        let first = first.get_or_insert_with(|| found.clone());
        for (((len, (name, _)), a), b) in cases.iter().zip(first).zip(&found) {
            assert!(a == b, "{backend:?}: {name} of {len} bytes");
        }
    });
}

#[test]
fn backends_agree() {
    // All operations while that is fast; then each size with one of them.
    let max = if fewer_cases() { 16 } else { MAX_LOG };
    let small = sizes(0..20.min(max)).flat_map(|len| OPERATIONS.map(|operation| (len, operation)));
    let large = large(max)
        .enumerate()
        .map(|(i, len)| (len, OPERATIONS[i % OPERATIONS.len()]));
    compare(&small.chain(large).collect::<Vec<_>>());
}

#[test]
#[ignore = "takes minutes: `make test-sizes`"]
fn backends_agree_on_every_operation() {
    for len in sizes(20..MAX_LOG + 1) {
        compare(&OPERATIONS.map(|operation| (len, operation)));
    }
}

/// Protocol, written again over a duplex that gets everything in short pieces: code that only a long piece reaches is not
/// in it.
#[derive(Clone)]
struct Pieces(Duplex);

impl Pieces {
    fn new(protocol: &Protocol) -> Self {
        Self(Duplex::from_bytes(&protocol.to_bytes()).unwrap())
    }

    fn begin(&mut self, op: u8, label: &[u8], len: Option<usize>) {
        self.0.frame(op);
        self.0.absorb(label);
        self.0.frame(op | 0x80);
        if let Some(mut len) = len {
            while len >= 0x80 {
                self.0.absorb(&[len.to_le_bytes()[0] | 0x80]);
                len >>= 7;
            }
            self.0.absorb(&len.to_le_bytes()[..1]);
        }
        if op != 2 {
            self.0.permute();
        }
    }

    /// Applies an operation of the duplex to pieces of up to 2,068 bytes, which are whole blocks now and then.
    fn each(&mut self, data: &mut [u8], operation: fn(&mut Duplex, &mut [u8])) {
        let mut lengths = [1, 2 * RATE, 93, 1000, 22 * RATE].into_iter().cycle();
        let mut rest = data;
        while !rest.is_empty() {
            let len = lengths.next().unwrap().min(rest.len());
            let (piece, after) = rest.split_at_mut(len);
            operation(&mut self.0, piece);
            rest = after;
        }
    }

    fn mix(&mut self, label: &[u8], input: &[u8]) {
        self.begin(2, label, None);
        self.each(&mut input.to_vec(), |duplex, piece| duplex.absorb(piece));
    }

    fn derive(&mut self, label: &[u8], output: &mut [u8]) {
        self.begin(3, label, Some(output.len()));
        self.each(output, Duplex::squeeze);
    }

    fn seal(&mut self, label: &[u8], message: &mut Vec<u8>) {
        self.begin(5, label, Some(message.len()));
        self.each(message, Duplex::encrypt);
        self.0.permute();
        let mut tag = [0; 16];
        self.0.squeeze(&mut tag);
        message.extend(tag);
    }
}

/// A form of an operation: what it makes of a message.
type Form = (&'static str, fn(&mut Protocol, &[u8]) -> Vec<u8>);

fn in_place(input: &[u8], operation: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut buffer = input.to_vec();
    operation(&mut buffer);
    buffer
}

fn apart(input: &[u8], len: usize, operation: impl FnOnce(&[u8], &mut [u8])) -> Vec<u8> {
    let mut output = vec![0; len];
    operation(input, &mut output);
    output
}

const LABEL: Label<'_> = label!("label");

const MIX: &[Form] = &[
    ("mix", |p, input| in_place(input, |data| p.mix(LABEL, data))),
    ("mix_stream", |p, input| {
        in_place(input, |data| p.mix_stream(LABEL).update(data))
    }),
];
const DERIVE: &[Form] = &[("derive", |p, input| in_place(input, |data| p.derive(LABEL, data)))];
const MASK: &[Form] = &[
    ("mask", |p, input| in_place(input, |data| p.mask(LABEL, data))),
    ("mask_into", |p, input| {
        apart(input, input.len(), |from, to| {
            p.mask_into(LABEL, from, to).unwrap();
        })
    }),
    ("mask_stream", |p, input| {
        in_place(input, |data| p.mask_stream(LABEL).update(data))
    }),
];
const UNMASK: &[Form] = &[
    ("unmask", |p, input| in_place(input, |data| p.unmask(LABEL, data))),
    ("unmask_into", |p, input| {
        apart(input, input.len(), |from, to| {
            p.unmask_into(LABEL, from, to).unwrap();
        })
    }),
    ("unmask_stream", |p, input| {
        in_place(input, |data| p.unmask_stream(LABEL).update(data))
    }),
];
const SEAL: &[Form] = &[
    ("seal_vec", |p, input| p.seal_vec(LABEL, input)),
    ("seal_into", |p, input| {
        apart(input, input.len() + 16, |from, to| {
            p.seal_into(LABEL, from, to).unwrap();
        })
    }),
];
const OPEN: &[Form] = &[
    ("open_vec", |p, input| p.open_vec(LABEL, input).unwrap()),
    ("open_into", |p, input| {
        apart(input, input.len() - 16, |from, to| {
            p.open_into(LABEL, from, to).unwrap();
        })
    }),
];

/// Each operation on a whole message, in the forms that users call, does what it does in pieces.
fn compare_with_pieces(len: usize, portable: bool) {
    let message = data(7, len);
    let pieces = |operation: &dyn Fn(&mut Pieces, &mut Vec<u8>)| {
        let (mut pieces, mut buffer) = (Pieces::new(&started()), message.clone());
        operation(&mut pieces, &mut buffer);
        (pieces, buffer)
    };
    on_each_backend(|backend| {
        if !portable && backend.name() == "portable" {
            return;
        }
        let check = |expected: &(Pieces, Vec<u8>), input: &[u8], forms: &[Form]| {
            for (name, form) in forms {
                let mut protocol = started();
                let output = form(&mut protocol, input);
                assert!(output == expected.1, "{backend:?}: {name} of {len} bytes");
                let state = expected.0.0.to_bytes();
                assert!(
                    protocol.to_bytes() == state,
                    "{backend:?}: after {name} of {len} bytes"
                );
            }
        };
        let label = LABEL.as_bytes();
        check(
            &pieces(&|pieces, buffer| pieces.mix(label, buffer)),
            &message,
            MIX,
        );
        check(
            &pieces(&|pieces, buffer| pieces.derive(label, buffer)),
            &message,
            DERIVE,
        );
        let masked = pieces(&|pieces, buffer| {
            pieces.begin(4, label, None);
            pieces.each(buffer, Duplex::encrypt);
        });
        check(&masked, &message, MASK);
        check(&(masked.0, message.clone()), &masked.1, UNMASK);
        let sealed = pieces(&|pieces, buffer| pieces.seal(label, buffer));
        check(&sealed, &message, SEAL);
        check(&(sealed.0, message.clone()), &sealed.1, OPEN);

        let (nonce, ad) = ([5; 24], &message[..len.min(9_000_000)]);
        let aead = Aead::from_protocol(started());
        let (_, expected) = pieces(&|pieces, buffer| {
            pieces.mix(b"nonce", &nonce);
            pieces.mix(b"ad", ad);
            pieces.seal(b"message", buffer);
        });
        assert!(
            aead.seal_vec(&nonce, ad, &message) == expected,
            "{backend:?}: aead, {len} bytes"
        );
        assert!(
            aead.open_vec(&nonce, ad, &expected).as_ref() == Ok(&message),
            "{backend:?}: aead, {len} bytes"
        );
    });
}

/// Beyond 2^23 bytes, and at numbers of blocks near which code could branch.
#[test]
fn a_long_message_is_its_pieces() {
    compare_with_pieces(RATE * 257 + 1, true);
    if !fewer_cases() {
        // Once in Rust, where it takes long. The code above the backends is the same.
        compare_with_pieces((1 << 23) + 5, true);
        // So many blocks after any head.
        compare_with_pieces((RATE << 17) + RATE - 1, false);
        compare_with_pieces((RATE << 18) - 1, false);
    }
}

#[test]
#[ignore = "takes minutes: `make test-sizes`"]
fn a_longer_message_is_its_pieces() {
    for len in sizes(24..MAX_LOG + 1).chain((15..20).map(|k| (RATE << k) + RATE - 1)) {
        compare_with_pieces(len, true);
    }
}

/// A segment as its transcript alone makes it, in the message of [`segmented`].
fn segment(segment_len: u32, number: u64, is_last: bool, plaintext: &[u8]) -> Vec<u8> {
    let mut segment = Protocol::new(label!("veriplex.test.sizes"));
    segment.mix(label!("key"), &[4; 32]);
    segment.mix(label!("nonce"), &[3; 24]);
    segment.mix(label!("ad"), b"ad");
    segment.mix(label!("segment-length"), &segment_len.to_le_bytes());
    let place = [&number.to_le_bytes()[..], &[u8::from(is_last)]].concat();
    segment.mix(label!("segment"), &place);
    segment.seal_vec(label!("message"), plaintext)
}

fn segmented(segment_len: u32) -> seekable::Message {
    seekable::Seekable::<24>::new(label!("veriplex.test.sizes"), &Key::from([4; 32]))
        .with_segment_len(segment_len as usize)
        .unwrap()
        .message(&[3; 24], b"ad")
}

/// Lanes with many blocks each: what several segments together give is what each gives alone.
#[test]
fn segments_of_any_length() {
    for segment_len in [94 * 257, 1 << 18] {
        let plaintext = data(10, 9 * segment_len as usize + 95);
        let expected = (0..).zip(plaintext.chunks(segment_len as usize));
        let expected: Vec<u8> = expected
            .flat_map(|(number, plaintext)| segment(segment_len, number, number == 9, plaintext))
            .collect();
        assert!(
            segmented(segment_len).seal_vec(&plaintext) == expected,
            "{segment_len}"
        );
        assert!(
            segmented(segment_len).open_vec(&expected).unwrap() == plaintext,
            "{segment_len}"
        );
    }
}

/// Segments are numbered with 64 bits.
#[test]
fn segments_of_any_number() {
    let message = segmented(64);
    // As long as it can be: with its tags it has 2^64 - 16 bytes.
    let segments = u64::MAX / 80;
    let sealer = message.sealer(64 * segments).unwrap();
    let sealed = |number, is_last, plaintext: &[u8]| segment(64, number, is_last, plaintext);
    let plaintext = data(8, 64);
    let mut last = sealed(segments - 1, true, &plaintext);
    let opener = message.opener(80 * segments, &mut last).unwrap();
    for power in [0, 8, 16, 31, 32, 33, 40, 48, 56, 57] {
        for first in [(1 << power) - 1_u64, 1 << power, segments - 9] {
            let count = usize::try_from(1 + first % 9).unwrap();
            let expected: Vec<u8> = (first..first + count as u64)
                .flat_map(|number| sealed(number, number == segments - 1, &plaintext))
                .collect();
            let mut slots = [&plaintext[..], &[0; 16]].concat().repeat(count);
            sealer.seal(first, &mut slots).unwrap();
            assert!(slots == expected, "{count} from {first}");
            assert!(
                opener.open(first, &mut slots).unwrap() == plaintext.repeat(count),
                "{count} from {first}"
            );
        }
    }
}

/// Levels of the tree that no message in memory reaches, over made-up chaining values.
#[test]
fn the_tree_to_its_top() {
    let domain = label!("veriplex.test.sizes");
    let node = |level: usize, bytes: &[u8]| {
        let mut node = Protocol::new(domain);
        node.mix(label!("level"), &level.to_le_bytes()[..1]);
        node.mix(label!("node"), bytes);
        node
    };
    for below in 0..8 {
        let unit = tree::Tree::unit_len(below).unwrap();
        for count in [2_usize, 7, 8, 128, 129, 300, 128 * 128 + 1] {
            let Some(len) = unit.checked_mul(count as u64).map(|len| len - 1) else {
                continue;
            };
            let values = data(9, 32 * count);
            let (mut level, mut string) = (below + 1, values.clone());
            while string.len() > 4096 {
                string = (string.chunks(4096))
                    .flat_map(|chunk| node(level, chunk).derive_array::<32>(label!("cv")))
                    .collect();
                level += 1;
            }
            let mut root = node(level, &string);
            root.mix(label!("length"), &len.to_le_bytes());
            let mut digest = [0; 32];
            tree::Tree::new(domain)
                .combine_into(below, &values, len, &mut digest)
                .unwrap();
            assert_eq!(
                digest,
                root.derive_array(label!("digest")),
                "{count} of level {below}"
            );
        }
    }
}

/// Eight at once, of more blocks each than 16 bits count, are eight one by one.
#[test]
fn lanes_agree() {
    type Blocks = Vec<[u8; RATE]>;
    type Operation = (
        fn(LaneBackend, &mut States, &mut [&mut [[u8; RATE]]; LANES]),
        fn(Backend, &mut [u8; STATE_LEN], &mut [[u8; RATE]]),
    );
    let operations: [Operation; 4] = [
        (
            |backend, states, blocks| {
                backend.absorb_blocks(states, &blocks.each_ref().map(|blocks| &**blocks));
            },
            |backend, state, blocks| backend.absorb_blocks(state, blocks),
        ),
        (LaneBackend::encrypt_blocks, Backend::encrypt_blocks),
        (LaneBackend::decrypt_blocks, Backend::decrypt_blocks),
        (LaneBackend::squeeze_blocks, Backend::squeeze_blocks),
    ];
    for backend in LaneBackend::available() {
        // Without kernels there is no such count, and it takes long.
        let few = fewer_cases() || backend.name() == LaneBackend::PORTABLE.name();
        let len = RATE * ((1 << if few { 8 } else { 16 }) + 1);
        let bytes = data(5, len + LANES);
        let mut blocks: [Blocks; LANES] =
            std::array::from_fn(|lane| bytes[lane..][..len].as_chunks().0.to_vec());
        let mut expected = blocks.clone();
        let (mut states, mut alone) = (States::new(), [[0; STATE_LEN]; LANES]);
        for (i, (together, one)) in operations.iter().enumerate() {
            together(
                backend,
                &mut states,
                &mut blocks.each_mut().map(Vec::as_mut_slice),
            );
            for (lane, (state, blocks)) in alone.iter_mut().zip(&mut expected).enumerate() {
                one(Backend::current(), state, blocks);
                assert!(
                    states.lane(lane) == *state,
                    "{backend:?}: operation {i}, lane {lane}"
                );
            }
            assert!(blocks == expected, "{backend:?}: operation {i}");
        }
    }
}

fn compare_with_twin(logs: impl Iterator<Item = u32>) {
    for len in sizes(logs) {
        let message = data(2, len);
        let twin = spec::protocol::init(b"veriplex.test.sizes");
        let twin = spec::protocol::mix(twin, b"first", b"not at the start of a block");
        let expected = [
            (spec::protocol::mix(twin, b"mix", &message), message.clone()),
            spec::protocol::derive(twin, b"derive", len),
            spec::protocol::mask(twin, b"mask", &message),
            spec::protocol::unmask(twin, b"unmask", &message),
            spec::protocol::seal(twin, b"seal", &message),
        ];
        on_each_backend(|backend| {
            for ((name, operation), (state, output)) in OPERATIONS.iter().zip(&expected) {
                let (mut protocol, mut buffer) = (started(), message.clone());
                operation(&mut protocol, &mut buffer);
                assert!(buffer == *output, "{backend:?}: {name} of {len} bytes");
                let state = spec::duplex::serialize(*state);
                assert!(
                    protocol.to_bytes()[..] == state[..],
                    "{backend:?}: after {name} of {len} bytes"
                );
            }
        });
    }
}

#[test]
fn the_twin_agrees() {
    compare_with_twin(0..=TWIN_MAX_LOG);
}

#[test]
#[ignore = "takes minutes: `make test-sizes`"]
fn the_twin_agrees_on_large_messages() {
    compare_with_twin(TWIN_MAX_LOG + 1..23);
}

/// The right tag opens; with a changed tag or message nothing does, and nothing of the plaintext comes out.
fn refuse(len: usize) {
    let message = data(3, len);
    let mut sealed = message.clone();
    let tag = started().seal_in_place_detached(label!("seal"), &mut sealed);
    let open = |buffer: &mut [u8], tag| {
        let mut protocol = started();
        let opened = protocol.open_in_place_detached(label!("seal"), buffer, tag);
        assert!(
            opened.is_ok() || protocol.to_bytes() == started().to_bytes(),
            "{len} bytes"
        );
        opened
    };
    let mut buffer = sealed.clone();
    open(&mut buffer, &tag).unwrap();
    assert!(buffer == message, "{len} bytes");
    // The bit that is changed is another one at each size.
    let mut forged = tag;
    forged[len % tag.len()] ^= 1 << (len / 3 % 8);
    buffer.copy_from_slice(&sealed);
    assert_eq!(
        open(&mut buffer, &forged),
        Err(Error::Verification),
        "{len} bytes, the tag"
    );
    assert!(buffer.iter().all(|byte| *byte == 0), "{len} bytes");
    for place in [0, len / 2, len.saturating_sub(1)] {
        if let Some(byte) = sealed.get_mut(place) {
            *byte ^= 0x10;
            buffer.copy_from_slice(&sealed);
            assert_eq!(
                open(&mut buffer, &tag),
                Err(Error::Verification),
                "{len} bytes, byte {place}"
            );
            sealed[place] ^= 0x10;
        }
    }
}

#[test]
fn no_wrong_tag_opens() {
    let max = if fewer_cases() { 16 } else { MAX_LOG };
    for len in sizes(0..20.min(max)).chain(large(max)) {
        refuse(len);
    }
    // The same through a scheme that has its own forms of opening.
    let aead = Aead::new(label!("veriplex.test.sizes"), &[7; 32].into());
    for len in sizes((0..max + 1).step_by(4)) {
        let mut sealed = aead.seal_vec(&[1; 24], b"ad", &data(4, len));
        let last = sealed.len() - 1;
        for place in [0, last.wrapping_sub(16), last - 15, last] {
            if let Some(byte) = sealed.get_mut(place) {
                *byte ^= 2;
                assert_eq!(
                    aead.open_vec(&[1; 24], b"ad", &sealed),
                    Err(Error::Verification),
                    "{len} {place}"
                );
                sealed[place] ^= 2;
            }
        }
        assert!(aead.open_vec(&[1; 24], b"ad", &sealed).is_ok(), "{len}");
    }
}

/// Of the schemes with code of their own that compares tags.
#[test]
fn no_wrong_tag_opens_under_any_scheme() {
    type Scheme<'a> = (
        &'static str,
        &'a dyn Fn(&[u8]) -> Vec<u8>,
        &'a dyn Fn(&[u8]) -> Result<Vec<u8>, Error>,
    );
    let (domain, key, nonce) = (label!("veriplex.test.sizes"), Key::from([7; 32]), [1; 24]);
    let siv = Siv::new(domain, &key);
    let long_aead = committing::Aead::<24>::new(domain, &key);
    let long_siv = committing::Siv::new(domain, &key);
    let schemes: [Scheme<'_>; 3] = [
        (
            "siv",
            &|message| siv.seal_vec(&nonce, b"ad", message),
            &|sealed| siv.open_vec(&nonce, b"ad", sealed),
        ),
        (
            "committing aead",
            &|message| long_aead.seal_vec(&nonce, b"ad", message),
            &|sealed| long_aead.open_vec(&nonce, b"ad", sealed),
        ),
        (
            "committing siv",
            &|message| long_siv.seal_vec(&nonce, b"ad", message),
            &|sealed| long_siv.open_vec(&nonce, b"ad", sealed),
        ),
    ];
    let max = if fewer_cases() { 16 } else { 21 };
    for len in sizes((0..max).step_by(5)) {
        let message = data(6, len);
        for (name, seal, open) in schemes {
            let mut sealed = seal(&message);
            assert!(open(&sealed).as_ref() == Ok(&message), "{name}, {len} bytes");
            for place in [0, sealed.len() / 2, sealed.len() - 16, sealed.len() - 1] {
                sealed[place] ^= 0x40;
                assert!(
                    open(&sealed) == Err(Error::Verification),
                    "{name}, {len} bytes, byte {place}"
                );
                sealed[place] ^= 0x40;
            }
        }

        // Of several at once only the one that was changed is refused.
        let aead = Aead::<24>::new(domain, &key);
        let sealed = aead.seal_vec(&nonce, b"ad", &message);
        for place in [len / 2, sealed.len() - 1] {
            let mut buffers = vec![sealed.clone(); LANES];
            buffers[3][place] ^= 1;
            let mut messages: Vec<_> = buffers
                .iter_mut()
                .map(|in_out| Message {
                    nonce: &nonce,
                    ad: b"ad",
                    in_out,
                })
                .collect();
            let mut opened = 0;
            aead.open_many(&mut messages, |i, plaintext| {
                assert!(
                    plaintext.is_ok_and(|plaintext| plaintext == message) == (i != 3),
                    "{len} bytes, message {i}"
                );
                opened += 1;
            });
            assert_eq!(opened, LANES);
        }
    }
}

/// Beyond 2^32, in one piece and in pieces. The message is zeros, of which a system need not have any in memory.
#[test]
#[ignore = "takes minutes, and address space of 4 GiB: `make test-sizes`"]
fn more_than_4_gib() {
    for len in sizes(32..33) {
        let message = vec![0; len];
        let whole = digest::digest(label!("veriplex.test.sizes"), &message);
        let mut hasher = digest::Hasher::new(label!("veriplex.test.sizes"));
        message.chunks(1_000_003).for_each(|piece| hasher.update(piece));
        assert!(hasher.finalize() == whole, "{len}");
    }
}
