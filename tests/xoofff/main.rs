//! Xoofff and its modes: known answers, inputs and outputs in any pieces, branches, refused messages, bad input.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/random.rs"]
mod random;
mod secrets;
mod twin;

use common::{array, bytes, cases, family_vectors, number, refusal};
use random::Random;
use serde_json::Value;
use veriplex::Error;
use veriplex::hazmat::xoodoo;
use veriplex::xoofff::{DomainBits, Offset, Output, Sane, Sanse, Wbc, WbcAe, Xoofff};

const KEY: [u8; 32] = [7; 32];

/// The sizes of the pieces into which data is split. The last piece may be shorter.
const PIECES: [usize; 8] = [1, 7, 16, 47, 48, 49, 500, usize::MAX];

fn domain_bits(string: &Value) -> DomainBits {
    let [bits, len] = ["domain", "domain_bits"].map(|key| u32::try_from(number(string, key)).unwrap());
    DomainBits::new(u8::try_from(bits).unwrap(), len).unwrap()
}

fn data(len: usize) -> Vec<u8> {
    (0..len)
        .map(|i| i.wrapping_mul(i).wrapping_add(i / 255).to_le_bytes()[0])
        .collect()
}

/// The output for this string under `KEY`, without domain bits.
fn output(string: &[u8]) -> Output {
    let mut strings = Xoofff::new(&KEY).unwrap();
    strings.absorb(string);
    strings.finalize(DomainBits::NONE, Offset::ZERO)
}

// -- Known answers ---------------------------------------------------------------------------------------

#[test]
fn xoodoo_known_answers() {
    for case in cases(&family_vectors("xoofff", "xoofff")["xoodoo"]) {
        let mut state = array(case, "input");
        xoodoo::<6>(&mut state);
        assert_eq!(state, array(case, "rounds_6"));
        let mut state = array(case, "input");
        xoodoo::<12>(&mut state);
        assert_eq!(state, array(case, "rounds_12"));
    }
}

/// Checks an output in pieces, both squeezed and applied as a keystream.
fn check_output(output: Output, piece: usize, expected: &[u8]) -> Xoofff {
    let mut xored = expected.to_vec();
    let mut by_xor = output.clone();
    for piece in xored.chunks_mut(piece) {
        by_xor.apply_keystream(piece);
    }
    assert_eq!(xored, vec![0; expected.len()]);
    let mut squeezed = vec![0xa5; expected.len()];
    let mut output = output;
    for piece in squeezed.chunks_mut(piece) {
        output.squeeze(piece);
    }
    assert_eq!(squeezed, expected);
    output.restart()
}

#[test]
fn xoofff_known_answers() {
    for case in cases(&family_vectors("xoofff", "xoofff")["xoofff"]) {
        let offset = Offset::new(usize::try_from(number(case, "offset")).unwrap()).unwrap();
        for piece in PIECES {
            let mut strings = Xoofff::new(&bytes(case, "key")).unwrap();
            let list = cases(&case["strings"]);
            for (i, string) in list.iter().enumerate() {
                for piece in bytes(string, "data").chunks(piece) {
                    strings.absorb(piece);
                }
                let output = strings.finalize(domain_bits(string), offset);
                let after = string.get("output_after").map(|_| bytes(string, "output_after"));
                strings = check_output(output.clone(), piece, &after.unwrap_or_default());
                if i == list.len() - 1 && case.get("output").is_some() {
                    check_output(output, piece, &bytes(case, "output"));
                }
            }
        }
    }
}

/// Runs the known answers of a session mode, given its constructor and its name in the file.
macro_rules! session_known_answers {
    ($case:ident => $start:expr, $name:literal) => {{
        let (mut sealed, mut refused) = (0, 0);
        for $case in cases(&family_vectors("xoofff", "modes")[$name]) {
            let (mut sender, mut receiver) = ($start, $start);
            for message in cases(&$case["messages"]) {
                let (ad, ciphertext, tag) = (
                    bytes(message, "ad"),
                    bytes(message, "ciphertext"),
                    array(message, "tag"),
                );
                let mut in_out = ciphertext.clone();
                let opened = receiver.open_in_place_detached(&ad, &mut in_out, &tag);
                if message.get("valid").is_some() {
                    assert_eq!(opened, Err(Error::Verification));
                    assert_eq!(in_out, vec![0; ciphertext.len()]);
                    // The receiver still accepts the next genuine message.
                    let genuine = sender.seal_vec(b"", b"genuine");
                    assert_eq!(receiver.open_vec(b"", &genuine).unwrap(), b"genuine");
                    refused += 1;
                } else {
                    let plaintext = bytes(message, "plaintext");
                    assert_eq!((opened, &in_out), (Ok(()), &plaintext));
                    assert_eq!(sender.seal_in_place_detached(&ad, &mut in_out), tag);
                    assert_eq!(in_out, ciphertext);
                    sealed += 1;
                }
            }
        }
        assert!(sealed > 0 && refused > 0);
    }};
}

#[test]
fn sane_known_answers() {
    session_known_answers!(case => {
        let (key, nonce, tag) = (bytes(case, "key"), bytes(case, "nonce"), array(case, "tag0"));
        assert_eq!(Sane::new(&key, &nonce).unwrap().tag(), &tag);
        Sane::with_tag(&key, &nonce, &tag).unwrap()
    }, "sane");
}

#[test]
fn sanse_known_answers() {
    session_known_answers!(case => Sanse::new(&bytes(case, "key")).unwrap(), "sanse");
}

#[test]
fn wbc_known_answers() {
    for case in cases(&family_vectors("xoofff", "modes")["wbc"]) {
        let cipher = Wbc::new(&bytes(case, "key")).unwrap();
        let (plaintext, ciphertext) = (bytes(case, "plaintext"), bytes(case, "ciphertext"));
        let mut in_out = plaintext.clone();
        cipher.encipher(&bytes(case, "tweak"), &mut in_out);
        assert_eq!(in_out, ciphertext);
        cipher.decipher(&bytes(case, "tweak"), &mut in_out);
        assert_eq!(in_out, plaintext);
    }
}

#[test]
fn wbc_ae_known_answers() {
    let (mut sealed, mut refused) = (0, 0);
    for case in cases(&family_vectors("xoofff", "modes")["wbc_ae"]) {
        let cipher = WbcAe::new(&bytes(case, "key")).unwrap();
        let (ad, ciphertext) = (bytes(case, "ad"), bytes(case, "ciphertext"));
        let opened = cipher.open_vec(&ad, &ciphertext);
        if case.get("valid").is_some() {
            assert_eq!(opened, Err(Error::Verification));
            refused += 1;
        } else {
            let plaintext = bytes(case, "plaintext");
            assert_eq!(opened.as_ref(), Ok(&plaintext));
            assert_eq!(cipher.seal_vec(&ad, &plaintext), ciphertext);
            sealed += 1;
        }
    }
    assert!(sealed > 0 && refused > 0);
}

// -- The deck function -----------------------------------------------------------------------------------

/// Every way to split a string in three, and the output likewise.
#[test]
fn pieces_do_not_matter() {
    let string = data(150);
    let expected = output(&string).squeeze_vec(150);
    for second in 0..=150 {
        for first in 0..=second {
            let (beginning, rest) = string.split_at(second);
            let mut strings = Xoofff::new(&KEY).unwrap();
            for piece in [&beginning[..first], &beginning[first..], rest] {
                strings.absorb(piece);
            }
            let mut output = strings.finalize(DomainBits::NONE, Offset::ZERO);
            let mut out = vec![0xa5; 150];
            let (beginning, rest) = out.split_at_mut(second);
            let (beginning, middle) = beginning.split_at_mut(first);
            output.squeeze(beginning);
            output.squeeze(middle);
            output.squeeze(rest);
            assert_eq!(out, expected);
        }
    }
}

/// Squeezing and applying the keystream may be mixed.
#[test]
fn a_keystream_is_the_output() {
    let expected = output(b"string").squeeze_vec(5000);
    for first in [0, 1, 16, 47, 48, 49, 96] {
        for len in [0, 1, 31, 32, 33, 48, 80, 767, 768, 769, 800, 1600, 4000] {
            let mut output = output(b"string");
            assert_eq!(output.squeeze_vec(first), expected[..first]);
            let mut in_out = data(len);
            output.apply_keystream(&mut in_out);
            for (byte, data) in in_out.iter_mut().zip(data(len)) {
                *byte ^= data;
            }
            assert_eq!(in_out, expected[first..first + len]);
            assert_eq!(output.squeeze_array::<100>(), expected[first + len..][..100]);
        }
    }
}

#[test]
fn an_offset_skips_bytes_of_one_output() {
    let mut strings = Xoofff::new(&KEY).unwrap();
    strings.absorb(b"string");
    let plain = strings.clone().finalize(DomainBits::NONE, Offset::ZERO);
    let expected = plain.clone().squeeze_vec(200);
    let next = plain
        .restart()
        .finalize(DomainBits::NONE, Offset::ZERO)
        .squeeze_vec(200);
    for skipped in 0..=48 {
        let mut output = strings
            .clone()
            .finalize(DomainBits::NONE, Offset::new(skipped).unwrap());
        assert_eq!(output.squeeze_vec(200 - skipped), expected[skipped..]);
        let mut second = output.restart().finalize(DomainBits::NONE, Offset::ZERO);
        assert_eq!(second.squeeze_vec(200), next);
    }
}

/// Clones continue independently, from the middle of a string or of an output.
#[test]
fn clones_are_branches() {
    let string = data(1000);
    let mut strings = Xoofff::new(&KEY).unwrap();
    strings.absorb(&string[..500]);
    let mut other = strings.clone();
    other.absorb(b"other");
    strings.absorb(&string[500..]);
    let mut squeezed = strings.finalize(DomainBits::NONE, Offset::ZERO);
    assert_eq!(squeezed.squeeze_vec(60), output(&string).squeeze_vec(60));
    let mut copy = squeezed.clone();
    assert_eq!(copy.squeeze_vec(600), squeezed.squeeze_vec(600));
    let expected = output(&[&string[..500], b"other"].concat()).squeeze_vec(100);
    assert_eq!(
        other.finalize(DomainBits::NONE, Offset::ZERO).squeeze_vec(100),
        expected
    );
    let [mut first, mut second] = [squeezed.restart(), copy.restart()];
    first.absorb(b"one");
    second.absorb(b"two");
    let [first, second] =
        [first, second].map(|s| s.finalize(DomainBits::NONE, Offset::ZERO).squeeze_array::<32>());
    assert_ne!(first, second);
}

/// Sequences that are easily confused have different outputs.
#[test]
fn sequences_are_told_apart() {
    let none = DomainBits::NONE;
    let bits = |bits, len| DomainBits::new(bits, len).unwrap();
    let zeros = [0; 49];
    let sequences: &[&[(&[u8], DomainBits)]] = &[
        &[(b"", none)],
        &[(b"", none), (b"", none)],
        &[(b"", none), (b"", none), (b"", none)],
        &[(b"abc", none)],
        &[(b"ab", none), (b"c", none)],
        &[(b"a", none), (b"bc", none)],
        &[(b"abc", none), (b"", none)],
        &[(b"", none), (b"abc", none)],
        &[(b"abc", bits(0, 1))],
        &[(b"abc", bits(1, 1))],
        &[(b"abc", bits(0, 2))],
        &[(b"abc", bits(0, 7))],
        &[(b"abc\x01", none)],
        &[(&zeros[..1], none)],
        &[(&zeros[..47], none)],
        &[(&zeros[..48], none)],
        &[(&zeros, none)],
    ];
    let mut outputs = Vec::new();
    for sequence in sequences {
        let mut strings = Xoofff::new(&KEY).unwrap();
        let mut last = None;
        for (string, bits) in *sequence {
            strings.absorb(string);
            let output = strings.finalize(*bits, Offset::ZERO);
            strings = output.clone().restart();
            last = Some(output);
        }
        outputs.push(last.unwrap().squeeze_array::<32>());
    }
    outputs.push(
        Xoofff::new(&[7; 31])
            .unwrap()
            .finalize(none, Offset::ZERO)
            .squeeze_array(),
    );
    outputs.sort_unstable();
    assert!(outputs.windows(2).all(|pair| pair[0] != pair[1]));
}

#[cfg(feature = "rustcrypto")]
#[test]
fn traits_give_the_same_bytes() {
    use digest::{Update, XofReader};

    let mut strings = Xoofff::new(&KEY).unwrap();
    strings.update(b"str");
    let mut strings = strings.chain(b"ing");
    let mut reader = strings.clone().finalize(DomainBits::NONE, Offset::ZERO);
    let mut read = [0xa5; 100];
    reader.read(&mut read[..30]);
    reader.read(&mut read[30..]);
    assert_eq!(read, output(b"string").squeeze_array());
    strings.update(b"s");
    let longer = strings
        .finalize(DomainBits::NONE, Offset::ZERO)
        .squeeze_array::<32>();
    assert_eq!(longer, output(b"strings").squeeze_array());
}

// -- Sessions and messages that are refused ----------------------------------------------------------------

/// Something other than `original`: truncated, extended, or with a changed bit.
fn mutate(random: &mut Random, original: &[u8]) -> Vec<u8> {
    let mut changed = original.to_vec();
    match random.below(4) {
        0 if !changed.is_empty() => changed.truncate(random.below(original.len())),
        1 => changed.push(random.next().to_le_bytes()[0]),
        _ if changed.is_empty() => changed.push(0),
        _ => changed[random.below(original.len())] ^= 1 << random.below(8),
    }
    changed
}

/// The tests that every session mode must pass. `$start` makes a session.
macro_rules! session_tests {
    ($name:ident, $type:ident, $start:expr) => {
        mod $name {
            use super::*;

            fn start() -> $type {
                $start
            }

            const TAG_LEN: usize = $type::TAG_LEN;

            #[test]
            fn refused_messages_change_nothing() {
                let mut random = Random(1);
                let (mut sender, mut receiver) = (start(), start());
                for i in 0..60 {
                    let (ad, message) = (data(random.below(100)), data(random.below(150)));
                    let sealed = sender.seal_vec(&ad, &message);
                    for _ in 0..50 {
                        let forged = mutate(&mut random, &sealed);
                        let mut out = vec![0xa5; forged.len().checked_sub(TAG_LEN).unwrap_or(9)];
                        let refused = refusal(&forged, TAG_LEN);
                        assert_eq!(receiver.open_into(&ad, &forged, &mut out), Err(refused));
                        assert!(
                            out.iter().all(|&byte| byte == 0),
                            "unverified plaintext is wiped"
                        );
                        assert_eq!(receiver.open_vec(&ad, &forged), Err(refused));
                        let other = mutate(&mut random, &ad);
                        assert_eq!(receiver.open_vec(&other, &sealed), Err(Error::Verification));
                    }
                    // A message that was accepted before, and one from another session.
                    let replayed = start().seal_vec(&ad, &message);
                    if i > 0 {
                        assert_eq!(receiver.open_vec(&ad, &replayed), Err(Error::Verification));
                    }
                    assert_eq!(receiver.open_vec(&ad, &sealed).as_ref(), Ok(&message));
                    assert_eq!(
                        receiver.open_vec(&ad, &sealed),
                        Err(Error::Verification),
                        "a replay"
                    );
                }
            }

            /// Long messages, around powers of two, give the twin's bytes, and nothing else is accepted.
            #[test]
            fn long_messages() {
                for exponent in common::long_exponents() {
                    for len in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
                        let message = data(len);
                        let mut sealed = start().seal_vec(b"", &message);
                        assert_eq!(sealed, twin::$name(b"", &message), "{len}");
                        for place in [0, len / 2, len - 1, len, len + TAG_LEN - 1] {
                            sealed[place] ^= 0x10;
                            assert_eq!(
                                start().open_vec(b"", &sealed),
                                Err(Error::Verification),
                                "{len} {place}"
                            );
                            sealed[place] ^= 0x10;
                        }
                        assert!(
                            start()
                                .open_vec(b"", &sealed)
                                .is_ok_and(|opened| opened == message)
                        );
                    }
                }
            }

            #[test]
            fn forms_agree() {
                let mut sessions: [_; 3] = std::array::from_fn(|_| start());
                let [detached, into, vec] = &mut sessions;
                let [mut detached_receiver, mut into_receiver] = [start(), start()];
                for len in [0, 1, 48, 100] {
                    let message = data(len);
                    let sealed = vec.seal_vec(b"ad", &message);
                    let mut in_out = message.clone();
                    let tag = detached.seal_in_place_detached(b"ad", &mut in_out);
                    assert_eq!([&in_out[..], &tag].concat(), sealed);
                    let mut out = vec![0xa5; len + TAG_LEN];
                    into.seal_into(b"ad", &message, &mut out).unwrap();
                    assert_eq!(out, sealed);
                    detached_receiver
                        .open_in_place_detached(b"ad", &mut in_out, &tag)
                        .unwrap();
                    assert_eq!(in_out, message);
                    let mut out = vec![0xa5; len];
                    into_receiver.open_into(b"ad", &sealed, &mut out).unwrap();
                    assert_eq!(out, message);
                }
            }

            #[test]
            fn wrong_buffer_lengths_change_nothing() {
                let (mut sender, mut receiver) = (start(), start());
                let message = data(20);
                for len in [0, TAG_LEN - 1, TAG_LEN, TAG_LEN + 19, TAG_LEN + 21] {
                    let mut sealed = vec![0xa5; len];
                    assert_eq!(
                        sender.seal_into(b"", &message, &mut sealed),
                        Err(Error::BufferLength)
                    );
                    assert_eq!(sealed, vec![0xa5; len]);
                }
                let sealed = sender.seal_vec(b"", &message);
                assert_eq!(sealed, start().seal_vec(b"", &message));
                for len in [0, 19, 21] {
                    let mut out = vec![0xa5; len];
                    assert_eq!(
                        receiver.open_into(b"", &sealed, &mut out),
                        Err(Error::BufferLength)
                    );
                    assert_eq!(out, vec![0xa5; len]);
                }
                for len in 0..TAG_LEN {
                    let short = &sealed[..len];
                    assert_eq!(receiver.open_vec(b"", short), Err(Error::TooShort));
                    assert_eq!(
                        receiver.open_into(b"", short, &mut []),
                        Err(Error::TooShort)
                    );
                }
                assert_eq!(receiver.open_vec(b"", &sealed), Ok(message));
            }

            /// A tag depends on the number of messages so far, even if they are empty.
            #[test]
            fn empty_messages_are_messages() {
                let mut sender = start();
                let tags: Vec<Vec<u8>> = (0..20).map(|_| sender.seal_vec(b"", b"")).collect();
                let mut receiver = start();
                for (i, tag) in tags.iter().enumerate() {
                    for (j, other) in tags.iter().enumerate().filter(|(j, _)| *j != i) {
                        assert_eq!(
                            receiver.open_vec(b"", other),
                            Err(Error::Verification),
                            "{i} {j}"
                        );
                    }
                    receiver.open_vec(b"", tag).unwrap();
                }
            }
        }
    };
}
session_tests!(sane, Sane, Sane::new(&KEY, b"nonce").unwrap());
session_tests!(sanse, Sanse, Sanse::new(&KEY).unwrap());

#[test]
fn the_first_tag_shows_key_and_nonce() {
    let tag = *Sane::new(&KEY, b"nonce").unwrap().tag();
    assert!(Sane::with_tag(&KEY, b"nonce", &tag).is_ok());
    let refused = |key: &[u8], nonce: &[u8], tag: &[u8; 16]| Sane::with_tag(key, nonce, tag).err();
    assert_eq!(refused(&KEY, b"Nonce", &tag), Some(Error::Verification));
    assert_eq!(refused(&[8; 32], b"nonce", &tag), Some(Error::Verification));
    for bit in 0..128 {
        let mut tag = tag;
        tag[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(refused(&KEY, b"nonce", &tag), Some(Error::Verification));
    }
    let mut session = Sane::new(&KEY, b"nonce").unwrap();
    let sealed = session.seal_vec(b"ad", b"message");
    assert_eq!(sealed[7..], *session.tag());
    // A refused message does not enter the tag.
    assert!(session.open_vec(b"ad", &sealed).is_err());
    assert_eq!(sealed[7..], *session.tag());
}

#[test]
fn wbc_ae_refuses_what_was_not_sealed() {
    let mut random = Random(1);
    let cipher = WbcAe::new(&KEY).unwrap();
    for len in (0..100).chain([200, 382, 383, 1000]) {
        let message = data(len);
        let sealed = cipher.seal_vec(b"ad", &message);
        assert_eq!(cipher.open_vec(b"ad", &sealed).as_ref(), Ok(&message));
        let mut in_place = [&message[..], &[0x5a; 16]].concat();
        cipher.seal_in_place(b"ad", &mut in_place).unwrap();
        assert_eq!(in_place, sealed);
        assert_eq!(cipher.open_in_place(b"ad", &mut in_place).unwrap(), message);
        for _ in 0..50 {
            let mut forged = mutate(&mut random, &sealed);
            let refused = refusal(&forged, 16);
            assert_eq!(cipher.open_in_place(b"ad", &mut forged), Err(refused));
            assert!(
                forged.iter().all(|&byte| byte == 0),
                "unverified plaintext is wiped"
            );
            assert_eq!(
                cipher.open_vec(&mutate(&mut random, b"ad"), &sealed),
                Err(Error::Verification)
            );
        }
    }
    for len in 0..16 {
        let mut short = vec![0xa5; len];
        assert_eq!(cipher.seal_in_place(b"", &mut short), Err(Error::BufferLength));
        assert_eq!(short, vec![0xa5; len]);
        assert_eq!(cipher.open_vec(b"", &short), Err(Error::TooShort));
        assert_eq!(cipher.open_in_place(b"", &mut short), Err(Error::TooShort));
    }
}

#[test]
fn long_wbc_ae_messages() {
    let cipher = WbcAe::new(&KEY).unwrap();
    for exponent in common::long_exponents() {
        for len in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
            let message = data(len);
            let mut sealed = cipher.seal_vec(b"", &message);
            assert_eq!(sealed, twin::wbc_ae(b"", &message), "{len}");
            for place in [0, len / 2, len + 15] {
                sealed[place] ^= 0x10;
                assert_eq!(
                    cipher.open_vec(b"", &sealed),
                    Err(Error::Verification),
                    "{len} {place}"
                );
                sealed[place] ^= 0x10;
            }
            assert!(
                cipher
                    .open_vec(b"", &sealed)
                    .is_ok_and(|opened| opened == message)
            );
        }
    }
}

/// Plaintexts that end in zeros except for one byte.
#[test]
fn all_sixteen_zeros_are_checked() {
    let (wbc, cipher) = (Wbc::new(&KEY).unwrap(), WbcAe::new(&KEY).unwrap());
    for place in 0..16 {
        let mut message = [0; 40];
        message[24 + place] = 1;
        wbc.encipher(b"ad", &mut message);
        assert_eq!(
            cipher.open_vec(b"ad", &message),
            Err(Error::Verification),
            "{place}"
        );
    }
}

// -- Bad input ---------------------------------------------------------------------------------------------

#[test]
fn long_keys() {
    for len in [48, 49, 64, 1000] {
        let key = vec![7; len];
        assert_eq!(Xoofff::new(&key).err(), Some(Error::InvalidKey));
        assert_eq!(Sane::new(&key, b"").err(), Some(Error::InvalidKey));
        assert_eq!(Sane::with_tag(&key, b"", &[0; 16]).err(), Some(Error::InvalidKey));
        assert_eq!(Sanse::new(&key).err(), Some(Error::InvalidKey));
        assert_eq!(Wbc::new(&key).err(), Some(Error::InvalidKey));
        assert_eq!(WbcAe::new(&key).err(), Some(Error::InvalidKey));
    }
    assert!(Xoofff::new(&[7; Xoofff::MAX_KEY_LEN]).is_ok());
}

#[test]
fn numbers_out_of_range() {
    for len in (8..300).chain([u32::MAX]) {
        assert_eq!(DomainBits::new(0, len), Err(Error::OutOfRange));
    }
    for bytes in (49..300).chain([usize::MAX]) {
        assert_eq!(Offset::new(bytes), Err(Error::OutOfRange));
    }
    assert_eq!(Offset::new(0), Ok(Offset::ZERO));
    assert_eq!(Offset::new(48), Ok(Offset::constant::<48>()));
    assert_eq!(DomainBits::new(5, 3), Ok(DomainBits::constant::<5, 3>()));
    for bits in 0..=u8::MAX {
        // Bits beyond the given length are ignored.
        assert_eq!(DomainBits::new(bits, 0), Ok(DomainBits::NONE));
        assert_eq!(DomainBits::new(bits, 3), DomainBits::new(bits % 8, 3));
        assert_eq!(DomainBits::new(bits, 3) == DomainBits::new(0, 3), bits % 8 == 0);
        assert_ne!(DomainBits::new(bits, 3), DomainBits::new(bits, 4));
    }
}
