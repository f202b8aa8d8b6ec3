//! Transcripts of a `Protocol` compared with the twin of its specification: every output and every state.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::{Error, Protocol, hazmat};
use veriplex_fuzz::{Change, Data, Name};
use veriplex_spec::duplex::{Duplex, deserialize, serialize};
use veriplex_spec::protocol as spec;

#[derive(Arbitrary, Debug)]
enum Op {
    Mix(Vec<Data>),
    Derive(u16),
    Mask(Vec<Data>),
    Unmask(Vec<Data>),
    Seal(Data),
    /// Open the sealed form of this, with changes.
    Open(Data, Vec<Change>),
    /// Continue with one of the branches, or with the root.
    Fork(Vec<Vec<u8>>, u8),
    Ratchet,
    /// Serialise and restore the state, and then restore from these bytes, if they are a state.
    Restore(Vec<u8>),
}

#[derive(Arbitrary, Debug)]
struct Transcript {
    hardware: bool,
    domain: Name,
    ops: Vec<(Name, Op)>,
}

fuzz_target!(|input: Transcript| {
    hazmat::set_hardware_enabled(input.hardware);
    let mut twin = spec::init(input.domain.bytes());
    let mut protocol = Protocol::new(input.domain.label());
    for (name, op) in &input.ops {
        twin = step(&mut protocol, twin, name, op);
        assert_eq!(protocol.to_bytes(), serialize(twin), "after {op:?}");
    }
});

fn bytes(pieces: &[Data]) -> Vec<Vec<u8>> {
    pieces.iter().map(Data::bytes).collect()
}

fn step(protocol: &mut Protocol, twin: Duplex, name: &Name, op: &Op) -> Duplex {
    let label = name.label();
    let name = name.bytes();
    match op {
        Op::Mix(pieces) => {
            let pieces = bytes(pieces);
            let mut stream = protocol.mix_stream(label);
            pieces.iter().for_each(|piece| stream.update(piece));
            spec::mix(twin, name, &pieces.concat())
        }
        Op::Derive(n) => {
            let n = usize::from(n % 1000);
            let (twin, expected) = spec::derive(twin, name, n);
            assert_eq!(protocol.derive_vec(label, n), expected);
            twin
        }
        Op::Mask(pieces) => {
            let mut pieces = bytes(pieces);
            let (twin, expected) = spec::mask(twin, name, &pieces.concat());
            let mut stream = protocol.mask_stream(label);
            pieces.iter_mut().for_each(|piece| stream.update(piece));
            assert_eq!(pieces.concat(), expected);
            twin
        }
        Op::Unmask(pieces) => {
            let mut pieces = bytes(pieces);
            let (twin, expected) = spec::unmask(twin, name, &pieces.concat());
            let mut stream = protocol.unmask_stream(label);
            pieces.iter_mut().for_each(|piece| stream.update(piece));
            assert_eq!(pieces.concat(), expected);
            twin
        }
        Op::Seal(plaintext) => {
            let plaintext = plaintext.bytes();
            let (twin, expected) = spec::seal(twin, name, &plaintext);
            assert_eq!(protocol.seal_vec(label, &plaintext), expected);
            twin
        }
        Op::Open(plaintext, changes) => {
            let genuine = spec::seal(twin, name, &plaintext.bytes()).1;
            let mut sealed = genuine.clone();
            changes.iter().for_each(|change| change.apply(&mut sealed));
            let (twin, opened) = spec::open(twin, name, &sealed);
            assert_eq!(opened.ok, sealed == genuine);
            let expected = opened.ok.then_some(opened.plaintext).ok_or(Error::Verification);
            assert_eq!(protocol.open_vec(label, &sealed), expected);
            twin
        }
        Op::Fork(values, next) => {
            let slices: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
            let forked = protocol.fork_vec(label, &slices);
            let Ok(mut states) = forked else {
                assert!(values.len() > 255);
                return twin;
            };
            let mut twins: Vec<_> = (1..)
                .zip(values)
                .map(|(i, value)| spec::fork_branch(twin, name, i, value))
                .collect();
            states.push(protocol.clone());
            twins.push(spec::fork_root(twin, name));
            for (state, twin) in states.iter().zip(&twins) {
                assert_eq!(state.to_bytes(), serialize(*twin));
            }
            let next = usize::from(*next) % states.len();
            *protocol = states.swap_remove(next);
            twins[next]
        }
        Op::Ratchet => {
            protocol.ratchet(label);
            spec::ratchet(twin, name)
        }
        Op::Restore(bytes) => {
            *protocol = Protocol::from_bytes(&protocol.to_bytes()).expect("the bytes of a state");
            let Ok(bytes) = <[u8; 130]>::try_from(bytes.as_slice()) else {
                assert_eq!(Protocol::try_from(bytes.as_slice()), Err(Error::InvalidState));
                return twin;
            };
            let (valid, other) = deserialize(bytes);
            // A duplex can begin a frame without data before it, a protocol cannot.
            let valid = valid && (bytes[1] == 0 || bytes[1] < bytes[0]);
            match Protocol::from_bytes(&bytes) {
                Ok(restored) => {
                    assert!(valid);
                    *protocol = restored;
                    other
                }
                Err(error) => {
                    assert_eq!((valid, error), (false, Error::InvalidState));
                    twin
                }
            }
        }
    }
}
