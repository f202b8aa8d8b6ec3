//! Messages of 2^k - 1, 2^k and 2^k + 1 bytes: the backends agree, the twin agrees where it is fast enough, and no wrong
//! tag opens. Defects may wait for a size: a count in 16 bits is right up to 6 MB.

#![allow(clippy::range_plus_one)] // the ends are exclusive throughout

mod common;

use common::{data, fewer_cases, on_each_backend};
use veriplex::aead::{Aead, Message};
use veriplex::hazmat::{Duplex, LANES, LaneBackend, Lanes, RATE};
use veriplex::siv::Siv;
use veriplex::{Error, Key, Protocol, committing, digest, label};
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

/// Eight at once, of more blocks each than 16 bits count, are eight one by one.
#[test]
fn lanes_agree() {
    type Operation = (
        &'static str,
        fn(&mut Lanes, [&mut [u8]; LANES]),
        fn(&mut Duplex, &mut [u8]),
    );
    let operations: [Operation; 3] = [
        ("encrypt", Lanes::encrypt, Duplex::encrypt),
        ("decrypt", Lanes::decrypt, Duplex::decrypt),
        ("squeeze", Lanes::squeeze, Duplex::squeeze),
    ];
    for backend in LaneBackend::available() {
        // Without kernels there is no such count, and it takes long.
        let few = fewer_cases() || backend.name() == LaneBackend::PORTABLE.name();
        let len = RATE * ((1 << if few { 8 } else { 16 }) + 1) + 7;
        let bytes = data(5, len + LANES);
        let inputs: [&[u8]; LANES] = std::array::from_fn(|lane| &bytes[lane..][..len]);
        let (mut lanes, mut duplexes) = (Lanes::with_backend(backend), <[Duplex; LANES]>::default());
        lanes.absorb(inputs);
        for (duplex, input) in duplexes.iter_mut().zip(inputs) {
            duplex.absorb(input);
        }
        for (name, together, alone) in operations {
            let mut found = inputs.map(<[u8]>::to_vec);
            together(&mut lanes, found.each_mut().map(Vec::as_mut_slice));
            for (lane, duplex) in duplexes.iter_mut().enumerate() {
                let mut expected = inputs[lane].to_vec();
                alone(duplex, &mut expected);
                assert!(found[lane] == expected, "{backend:?}: {name} in lane {lane}");
            }
        }
        for (lane, duplex) in duplexes.iter().enumerate() {
            assert_eq!(lanes.lane(lane), *duplex, "{backend:?}: lane {lane}");
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
