//! Xoofff and its modes, compared with the twin of their specification: strings, outputs and messages in any pieces and
//! order, and changed messages.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::Error;
use veriplex::xoofff::{DomainBits, Offset, Sane, Sanse, Wbc, WbcAe, Xoofff};
use veriplex_fuzz::{Change, Data};
use veriplex_spec as spec;

#[derive(Arbitrary, Debug)]
struct Case {
    key: Data,
    nonce: Data,
    what: What,
}

#[derive(Arbitrary, Debug)]
enum What {
    Strings(Vec<Str>),
    Sane(Vec<Message>),
    Sanse(Vec<Message>),
    Wbc(Message),
}

#[derive(Arbitrary, Debug)]
struct Str {
    pieces: Vec<Data>,
    domain: u8,
    /// Including values that are refused.
    bits: u8,
    offset: u8,
    outputs: Vec<u16>,
    /// Continue from a copy made before any output.
    branch: bool,
}

#[derive(Arbitrary, Debug)]
struct Message {
    ad: Data,
    message: Data,
    forged: Vec<Change>,
}

/// A session of either mode, in which each message arrives changed first and then genuine.
macro_rules! session {
    ($mode:ident, $type:ident, $start:expr, $twin:expr, $messages:expr) => {{
        let (mut sender, mut receiver, mut twin) = ($start(), $start(), $twin);
        for Message { ad, message, forged } in $messages {
            let (ad, message) = (ad.bytes(), message.bytes());
            let (after, ciphertext, tag) = spec::$mode::seal(twin, &ad, &message);
            let sealed = sender.seal_vec(&ad, &message);
            assert_eq!(sealed, [ciphertext, tag].concat());
            let changed = changed(&sealed, forged);
            if changed != sealed {
                if let Some((ciphertext, tag)) = changed.split_last_chunk::<{ $type::TAG_LEN }>() {
                    assert!(!spec::$mode::open(twin, &ad, ciphertext, tag).1.ok);
                }
                assert_eq!(receiver.open_vec(&ad, &changed), Err(Error::Verification));
            }
            assert_eq!(receiver.open_vec(&ad, &sealed), Ok(message));
            twin = after;
        }
    }};
}

fuzz_target!(|case: Case| {
    let (mut key, nonce) = (case.key.bytes(), case.nonce.bytes());
    if key.len() > Xoofff::MAX_KEY_LEN {
        assert_eq!(Xoofff::new(&key).err(), Some(Error::InvalidKey));
        key.truncate(Xoofff::MAX_KEY_LEN);
    }
    match &case.what {
        What::Strings(list) => strings(&key, list),
        What::Sane(messages) => {
            let start = || Sane::new(&key, &nonce).expect("a short key");
            session!(
                xoofff_sane,
                Sane,
                start,
                spec::xoofff_sane::start(&key, &nonce),
                messages
            );
        }
        What::Sanse(messages) => {
            let start = || Sanse::new(&key).expect("a short key");
            session!(
                xoofff_sanse,
                Sanse,
                start,
                spec::xoofff_sanse::start(&key),
                messages
            );
        }
        What::Wbc(Message { ad, message, forged }) => {
            let (ad, message) = (ad.bytes(), message.bytes());
            let cipher = Wbc::new(&key).expect("a short key");
            let mut in_out = message.clone();
            cipher.encipher(&ad, &mut in_out);
            assert_eq!(in_out, spec::xoofff_wbc::encipher(&key, &ad, &message));
            cipher.decipher(&ad, &mut in_out);
            assert_eq!(in_out, message);
            let cipher = WbcAe::new(&key).expect("a short key");
            let sealed = cipher.seal_vec(&ad, &message);
            assert_eq!(sealed, spec::xoofff_wbc::seal(&key, &ad, &message));
            let changed = changed(&sealed, forged);
            let opened = cipher.open_vec(&ad, &changed);
            let expected = spec::xoofff_wbc::open(&key, &ad, &changed);
            assert_eq!(expected.ok, changed == sealed);
            assert_eq!(opened, expected.ok.then_some(message).ok_or(Error::Verification));
        }
    }
});

fn changed(sealed: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut changed = sealed.to_vec();
    for change in changes {
        change.apply(&mut changed);
    }
    changed
}

fn strings(key: &[u8], list: &[Str]) {
    let mut deck = spec::xoofff::start(key);
    let mut strings = Xoofff::new(key).expect("a short key");
    for string in list {
        let pieces: Vec<Vec<u8>> = string.pieces.iter().map(Data::bytes).collect();
        for piece in &pieces {
            strings.absorb(piece);
        }
        let (w, offset) = (string.bits % 9, usize::from(string.offset % 50));
        let (Ok(bits), Ok(skipped)) = (DomainBits::new(string.domain, w.into()), Offset::new(offset)) else {
            assert!(w == 8 || offset == 49);
            return;
        };
        deck = spec::xoofff::append(deck, &pieces.concat(), string.domain, w);
        let mut output = strings.finalize(bits, skipped);
        let copy = output.clone();
        let lens = string.outputs.iter().map(|len| usize::from(len % 1000));
        let expected = spec::xoofff::output(deck, offset, lens.clone().sum());
        let mut rest = expected.as_slice();
        for (i, len) in lens.enumerate() {
            let (piece, after) = rest.split_at(len);
            if i % 2 == 0 {
                assert_eq!(output.squeeze_vec(len), piece);
            } else {
                let mut in_out = piece.to_vec();
                output.apply_keystream(&mut in_out);
                assert_eq!(in_out, vec![0; len]);
            }
            rest = after;
        }
        strings = if string.branch { copy } else { output }.restart();
    }
}
