//! The crate against the specification (`spec/hacspec`, the twin of `spec/cryptol`) on random input, on every
//! backend. `VERIPLEX_CASES` sets the number of transcripts (default: 2,000). The other tests run a fraction of it.

mod common;

use std::io::{Read, Write};

use common::{keyed, keyed_with_nonce, on_each_backend};
use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::aead::Aead;
use veriplex::digest::{self, Hasher};
use veriplex::hazmat::{Backend, Duplex, RATE};
use veriplex::kdf::{Kdf, derive_key};
use veriplex::mac::{self, Mac, Tag};
use veriplex::mhf::Mhf;
use veriplex::siv::Siv;
use veriplex::{Key, Label, Protocol, TAG_LEN, aestream, oae2, stream};
use veriplex_spec as spec;

/// The configured number of cases, divided by `share`.
fn cases(share: u32) -> ProptestConfig {
    let asked = common::asked_cases();
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(asked.div_ceil(share))
    }
}

/// Up to 400 bytes, more often near block boundaries, and now and then 10 kB.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![
        120 => 0..=400_usize,
        40 => prop_oneof![92..=96_usize, 186..=190_usize],
        1 => Just(10_000_usize),
    ];
    length.prop_flat_map(|n| vec(any::<u8>(), n))
}

fn label() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![2 => 0..=20_usize, 1 => 0..=91_usize];
    length.prop_flat_map(|n| vec(any::<u8>(), n))
}

fn as_label(bytes: &[u8]) -> Label<'_> {
    Label::new(bytes).unwrap()
}

// -- Transcripts -----------------------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Op {
    Mix(Vec<u8>),
    Derive(usize),
    Mask(Vec<u8>),
    Unmask(Vec<u8>),
    Seal(Vec<u8>),
    /// Open the sealed form of this.
    Open(Vec<u8>),
    /// Try to open this, which nobody sealed.
    Refuse(Vec<u8>),
    /// Fork, and continue with one of the branches or with the root.
    Fork(Vec<Vec<u8>>, prop::sample::Index),
    Ratchet,
}

fn operation() -> impl Strategy<Value = (Vec<u8>, Op)> {
    let op = prop_oneof![
        data().prop_map(Op::Mix),
        (0..=400_usize).prop_map(Op::Derive),
        data().prop_map(Op::Mask),
        data().prop_map(Op::Unmask),
        data().prop_map(Op::Seal),
        data().prop_map(Op::Open),
        data().prop_map(Op::Refuse),
        (vec(data(), 0..4), any::<prop::sample::Index>()).prop_map(|(values, next)| Op::Fork(values, next)),
        Just(Op::Ratchet),
    ];
    (label(), op)
}

/// The output of an operation as bytes: for a fork, all the states.
fn specified(p: spec::duplex::Duplex, label: &[u8], op: &Op) -> (spec::duplex::Duplex, Vec<u8>) {
    use spec::protocol;
    let opened = |(next, opened): (_, protocol::Opened)| {
        let out = if opened.ok {
            opened.plaintext
        } else {
            b"refused".to_vec()
        };
        (next, out)
    };
    match op {
        Op::Mix(input) => (protocol::mix(p, label, input), Vec::new()),
        Op::Derive(n) => protocol::derive(p, label, *n),
        Op::Mask(plaintext) => protocol::mask(p, label, plaintext),
        Op::Unmask(ciphertext) => protocol::unmask(p, label, ciphertext),
        Op::Seal(plaintext) => protocol::seal(p, label, plaintext),
        Op::Open(plaintext) => opened(protocol::open(p, label, &protocol::seal(p, label, plaintext).1)),
        Op::Refuse(sealed) => opened(protocol::open(p, label, sealed)),
        Op::Fork(values, next) => {
            let branch = |(i, value): (u8, &Vec<u8>)| protocol::fork_branch(p, label, i, value);
            let mut states: Vec<_> = (1..).zip(values).map(branch).collect();
            states.push(protocol::fork_root(p, label));
            let out = states.iter().flat_map(|d| spec::duplex::serialize(*d)).collect();
            (*next.get(&states), out)
        }
        Op::Ratchet => (protocol::ratchet(p, label), Vec::new()),
    }
}

/// Into a vector and in place.
fn open(p: &mut Protocol, label: Label<'_>, sealed: &[u8]) -> Vec<u8> {
    let mut in_place = p.clone();
    let opened = p.open_vec(label, sealed);
    if let Some((message, tag)) = sealed.split_last_chunk() {
        let mut message = message.to_vec();
        let result = in_place.open_in_place_detached(label, &mut message, tag);
        match &opened {
            Ok(plaintext) => assert_eq!(*plaintext, message),
            Err(_) => assert!(message.iter().all(|&byte| byte == 0)),
        }
        assert_eq!(result.err(), opened.as_ref().err().copied());
        assert_eq!(*p, in_place);
    }
    opened.unwrap_or(b"refused".to_vec())
}

fn computed(p: &mut Protocol, label: &[u8], op: &Op) -> Vec<u8> {
    let label = as_label(label);
    match op {
        Op::Mix(input) => {
            p.mix(label, input);
            Vec::new()
        }
        Op::Derive(n) => p.derive_vec(label, *n),
        Op::Mask(plaintext) => {
            let (mut in_place, mut out) = (p.clone(), plaintext.clone());
            in_place.mask(label, &mut out);
            assert_eq!(p.mask_vec(label, plaintext), out);
            assert_eq!(*p, in_place);
            out
        }
        Op::Unmask(ciphertext) => {
            let (mut in_place, mut out) = (p.clone(), ciphertext.clone());
            in_place.unmask(label, &mut out);
            assert_eq!(p.unmask_vec(label, ciphertext), out);
            assert_eq!(*p, in_place);
            out
        }
        Op::Seal(plaintext) => {
            let (mut in_place, mut out) = (p.clone(), plaintext.clone());
            let tag = in_place.seal_in_place_detached(label, &mut out);
            out.extend(tag);
            assert_eq!(p.seal_vec(label, plaintext), out);
            assert_eq!(*p, in_place);
            out
        }
        Op::Open(plaintext) => open(p, label, &p.clone().seal_vec(label, plaintext)),
        Op::Refuse(sealed) => open(p, label, sealed),
        Op::Fork(values, next) => {
            let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
            let mut states = p.fork_vec(label, &values).unwrap();
            states.push(p.clone());
            let out = states.iter().flat_map(Protocol::to_bytes).collect();
            *p = next.get(&states).clone();
            out
        }
        Op::Ratchet => {
            p.ratchet(label);
            Vec::new()
        }
    }
}

proptest! {
    #![proptest_config(cases(1))]
    #[test]
    fn transcripts(domain in label(), ops in vec(operation(), 1..6)) {
        let mut p = spec::protocol::init(&domain);
        let mut expected = vec![(Vec::new(), spec::duplex::serialize(p))];
        for (label, op) in &ops {
            let (next, out) = specified(p, label, op);
            expected.push((out, spec::duplex::serialize(next)));
            p = next;
        }
        on_each_backend(|backend| {
            let mut p = Protocol::new(as_label(&domain));
            let mut got = vec![(Vec::new(), p.to_bytes())];
            for (label, op) in &ops {
                let out = computed(&mut p, label, op);
                got.push((out, p.to_bytes()));
            }
            assert!(got == expected, "{backend:?}: {:?}", got.iter().zip(&expected).position(|(a, b)| a != b));
        });
    }
}

// -- The duplex and the kernels --------------------------------------------------------------------------

#[derive(Clone, Debug)]
enum Raw {
    Absorb(Vec<u8>),
    Squeeze(usize),
    Encrypt(Vec<u8>),
    Decrypt(Vec<u8>),
    Frame(u8),
    Permute,
    Ratchet,
}

fn raw() -> impl Strategy<Value = Raw> {
    prop_oneof![
        data().prop_map(Raw::Absorb),
        (0..=400_usize).prop_map(Raw::Squeeze),
        data().prop_map(Raw::Encrypt),
        data().prop_map(Raw::Decrypt),
        any::<u8>().prop_map(Raw::Frame),
        Just(Raw::Permute),
        Just(Raw::Ratchet),
    ]
}

fn state() -> impl Strategy<Value = [u8; 128]> {
    vec(any::<u8>(), 128).prop_map(|v| v.try_into().unwrap())
}

proptest! {
    #![proptest_config(cases(2))]
    #[test]
    fn duplex_sequences(
        (state, rate_idx, frame_idx) in (state(), 0..94_u8, 0..94_u8),
        ops in vec(raw(), 1..8),
    ) {
        use spec::duplex::{absorb, decrypt, encrypt, frame, pad_permute, ratchet, serialize, squeeze};
        let mut d = spec::duplex::Duplex { state, rate_idx, frame_idx };
        let start = serialize(d);
        let mut expected = Vec::new();
        for op in &ops {
            let (next, out) = match op {
                Raw::Absorb(bytes) => (absorb(d, bytes), Vec::new()),
                Raw::Squeeze(n) => squeeze(d, *n),
                Raw::Encrypt(bytes) => encrypt(d, bytes),
                Raw::Decrypt(bytes) => decrypt(d, bytes),
                Raw::Frame(id) => (frame(d, *id), Vec::new()),
                Raw::Permute => (pad_permute(d), Vec::new()),
                Raw::Ratchet => (ratchet(d), Vec::new()),
            };
            expected.push((out, serialize(next)));
            d = next;
        }
        on_each_backend(|backend| {
            let mut d = Duplex::from_bytes(&start).unwrap();
            let mut got = Vec::new();
            for op in &ops {
                let mut out = Vec::new();
                match op {
                    Raw::Absorb(bytes) => d.absorb(bytes),
                    Raw::Squeeze(n) => {
                        out = vec![0xa5; *n];
                        d.squeeze(&mut out);
                    }
                    Raw::Encrypt(bytes) => {
                        out.clone_from(bytes);
                        d.encrypt(&mut out);
                    }
                    Raw::Decrypt(bytes) => {
                        out.clone_from(bytes);
                        d.decrypt(&mut out);
                    }
                    Raw::Frame(id) => d.frame(*id),
                    Raw::Permute => d.permute(),
                    Raw::Ratchet => d.ratchet(),
                }
                got.push((out, d.to_bytes()));
            }
            assert!(got == expected, "{backend:?}: {:?}", got.iter().zip(&expected).position(|(a, b)| a != b));
        });
    }

    #[test]
    fn kernels(start in state(), data in vec(any::<[u8; 47]>(), 0..14)) {
        let (blocks, _) = data.as_flattened().as_chunks::<RATE>();
        let n = blocks.len();
        let permuted = spec::simpira1024::permute(start);
        let absorbed = spec::duplex::absorb_blocks(start, blocks);
        let squeezed = spec::duplex::squeeze_blocks(start, n);
        let encrypted = spec::duplex::encrypt_blocks(start, blocks);
        let decrypted = spec::duplex::decrypt_blocks(start, blocks);
        prop_assert_eq!(spec::simpira1024::unpermute(permuted), start);
        for backend in Backend::available() {
            let mut state = start;
            backend.permute(&mut state);
            prop_assert_eq!(state, permuted, "{:?}", backend);

            let mut state = start;
            backend.absorb_blocks(&mut state, blocks);
            prop_assert_eq!(state, absorbed, "{:?}", backend);

            let (mut state, mut out) = (start, vec![[0xa5; RATE]; n]);
            backend.squeeze_blocks(&mut state, &mut out);
            prop_assert_eq!(&(state, out), &squeezed, "{:?}", backend);

            let (mut state, mut out) = (start, blocks.to_vec());
            backend.encrypt_blocks(&mut state, &mut out);
            prop_assert_eq!(&(state, out), &encrypted, "{:?}", backend);

            let (mut state, mut out) = (start, vec![[0xa5; RATE]; n]);
            backend.encrypt_blocks_into(&mut state, blocks, &mut out);
            prop_assert_eq!(&(state, out), &encrypted, "{:?}", backend);

            let (mut state, mut out) = (start, blocks.to_vec());
            backend.decrypt_blocks(&mut state, &mut out);
            prop_assert_eq!(&(state, out), &decrypted, "{:?}", backend);

            let (mut state, mut out) = (start, vec![[0xa5; RATE]; n]);
            backend.decrypt_blocks_into(&mut state, blocks, &mut out);
            prop_assert_eq!(&(state, out), &decrypted, "{:?}", backend);
        }
    }
}

// -- Schemes ---------------------------------------------------------------------------------------------

proptest! {
    #![proptest_config(cases(8))]
    #[test]
    fn digest_and_mac(domain in label(), key in data(), message in data(), n in 0..=400_usize) {
        let digest = spec::digest::digest(&domain, &message, 32);
        let long = spec::digest::digest(&domain, &message, n);
        let long_tag = spec::mac::mac(&domain, &key, &message, n);
        let tag: [u8; TAG_LEN] = spec::mac::mac(&domain, &key, &message, TAG_LEN).try_into().unwrap();
        prop_assert!(spec::mac::verify(&domain, &key, &message, tag));
        on_each_backend(|_| {
            let domain = as_label(&domain);
            assert_eq!(digest::digest(domain, &message).as_bytes()[..], digest);
            let mut hasher = Hasher::new(domain);
            hasher.update(&message);
            let mut output = vec![0; n];
            hasher.finalize_into(&mut output);
            assert_eq!(output, long);
            let mut mac = Mac::from_protocol(keyed(domain, &key));
            mac.update(&message);
            assert_eq!(mac.clone().finalize(), Tag::from(tag));
            mac.clone().finalize_into(&mut output);
            assert_eq!(output, long_tag);
            assert!(mac.verify(&tag).is_ok());
        });
    }

    #[test]
    fn key_derivation(domain in label(), salt in data(), secret in data(), info in data(), n in 0..=400_usize) {
        let long = spec::kdf::kdf(&domain, &salt, &secret, &info, n);
        let key = spec::kdf::kdf(&domain, &salt, &secret, &info, 32);
        let unsalted = spec::kdf::kdf(&domain, b"", &secret, &info, 32);
        on_each_backend(|_| {
            let kdf = Kdf::extract(as_label(&domain), &salt, &secret);
            let mut output = vec![0; n];
            kdf.expand_into(&info, &mut output);
            assert_eq!(output, long);
            assert_eq!(kdf.expand::<32>(&info).as_bytes()[..], key);
            let key = derive_key::<32>(as_label(&domain), &secret, &info);
            assert_eq!(key.as_bytes()[..], unsalted);
        });
    }

    /// The safe constructors are those over a protocol, with the key (and the nonce) mixed in.
    #[test]
    fn new_is_mix_of_key_and_nonce(
        (domain, key, nonce) in (label(), any::<[u8; 32]>(), any::<[u8; 24]>()),
        message in data(),
    ) {
        let domain = as_label(&domain);
        let (keyed, both) = (keyed(domain, &key), keyed_with_nonce(domain, &key, &nonce));
        let key = Key::from(key);
        let sealed = Aead::<24>::from_protocol(keyed.clone()).seal_vec(&nonce, b"ad", &message);
        prop_assert_eq!(Aead::<24>::new(domain, &key).seal_vec(&nonce, b"ad", &message), sealed);
        let sealed = Siv::from_protocol(keyed.clone()).seal_vec(&nonce, b"ad", &message);
        prop_assert_eq!(Siv::new(domain, &key).seal_vec(&nonce, b"ad", &message), sealed);
        let mut mac = Mac::from_protocol(keyed);
        mac.update(&message);
        prop_assert_eq!(mac::mac(domain, &key, &message), mac.finalize());

        let mut masked = message.clone();
        stream::Encryptor::from_protocol(both.clone()).update(&mut masked);
        prop_assert_eq!(&stream::encrypt_vec(domain, &key, &nonce, &message), &masked);
        prop_assert_eq!(&stream::decrypt_vec(domain, &key, &nonce, &masked), &message);
        let mut out = message.clone();
        stream::encrypt(domain, &key, &nonce, &mut out);
        prop_assert_eq!(&out, &masked);
        stream::decrypt(domain, &key, &nonce, &mut out);
        prop_assert_eq!(&out, &message);
        stream::encrypt_into(domain, &key, &nonce, &message, &mut out).unwrap();
        prop_assert_eq!(&out, &masked);
        stream::decrypt_into(domain, &key, &nonce, &masked, &mut out).unwrap();
        prop_assert_eq!(&out, &message);

        let sealed = aestream::Sealer::from_protocol(both.clone()).seal_vec(&message);
        prop_assert_eq!(&aestream::Sealer::new(domain, &key, &nonce).seal_vec(&message), &sealed);
        let opened = aestream::Opener::new(domain, &key, &nonce).open_vec(&sealed);
        prop_assert_eq!(opened.as_ref(), Ok(&message));
        let mut writer = aestream::SealWriter::new(domain, &key, &nonce, Vec::new());
        writer.write_all(&message).unwrap();
        prop_assert_eq!(&writer.finish().unwrap(), &sealed);
        let mut out = Vec::new();
        aestream::OpenReader::new(domain, &key, &nonce, sealed.as_slice()).read_to_end(&mut out).unwrap();
        prop_assert_eq!(&out, &message);

        let sealed = oae2::Sealer::<16>::from_protocol(both).seal_vec(&message);
        prop_assert_eq!(&oae2::Sealer::<16>::new(domain, &key, &nonce).seal_vec(&message), &sealed);
        let opened = oae2::Opener::<16>::new(domain, &key, &nonce).open_vec(&sealed);
        prop_assert_eq!(opened.as_ref(), Ok(&message));
        let mut writer = oae2::SealWriter::<_, 16>::new(domain, &key, &nonce, Vec::new());
        writer.write_all(&message).unwrap();
        prop_assert_eq!(&writer.finish().unwrap(), &sealed);
        let mut out = Vec::new();
        oae2::OpenReader::<_, 16>::new(domain, &key, &nonce, sealed.as_slice()).read_to_end(&mut out).unwrap();
        prop_assert_eq!(&out, &message);
    }

    #[test]
    fn stream_cipher(domain in label(), key in data(), nonce in data(), message in data()) {
        let encrypted = spec::stream::encrypt(&domain, &key, &nonce, &message);
        let decrypted = spec::stream::decrypt(&domain, &key, &nonce, &message);
        on_each_backend(|_| {
            let domain = as_label(&domain);
            let keyed = keyed_with_nonce(domain, &key, &nonce);
            let mut out = message.clone();
            stream::Encryptor::from_protocol(keyed.clone()).update(&mut out);
            assert_eq!(out, encrypted);
            out.clone_from(&message);
            stream::Decryptor::from_protocol(keyed).update(&mut out);
            assert_eq!(out, decrypted);
        });
    }

    /// Both authenticated schemes seal as specified, open what they sealed, and refuse it with a changed bit: SIV in pieces
    /// too.
    #[test]
    fn aead_and_siv(
        (domain, key, nonce) in (label(), data(), any::<[u8; 16]>()),
        (ad, message, piece) in (data(), data(), 1..300_usize),
        (place, bit) in (any::<prop::sample::Index>(), 0..8_u8),
    ) {
        let by_aead = spec::aead::seal(&domain, &key, &nonce, &ad, &message);
        let by_siv = spec::siv::seal(&domain, &key, &nonce, &ad, &message);
        let opened = spec::protocol::Opened { ok: true, plaintext: message.clone() };
        prop_assert_eq!(&spec::aead::open(&domain, &key, &nonce, &ad, &by_aead), &opened);
        prop_assert_eq!(&spec::siv::open(&domain, &key, &nonce, &ad, &by_siv), &opened);
        let forge = |sealed: &[u8]| {
            let mut forged = sealed.to_vec();
            forged[place.index(sealed.len())] ^= 1 << bit;
            forged
        };
        let (forged_aead, forged_siv) = (forge(&by_aead), forge(&by_siv));
        let refused = spec::protocol::Opened { ok: false, plaintext: vec![0; message.len()] };
        prop_assert_eq!(&spec::aead::open(&domain, &key, &nonce, &ad, &forged_aead), &refused);
        prop_assert_eq!(&spec::siv::open(&domain, &key, &nonce, &ad, &forged_siv), &refused);
        on_each_backend(|_| {
            let keyed = keyed(as_label(&domain), &key);
            let aead = Aead::<16>::from_protocol(keyed.clone());
            assert_eq!(aead.seal_vec(&nonce, &ad, &message), by_aead);
            assert_eq!(aead.open_vec(&nonce, &ad, &by_aead).as_ref(), Ok(&message));
            assert!(aead.open_vec(&nonce, &ad, &forged_aead).is_err());
            let siv = Siv::from_protocol(keyed);
            assert_eq!(siv.seal_vec(&nonce, &ad, &message), by_siv);
            assert_eq!(siv.open_vec(&nonce, &ad, &by_siv).as_ref(), Ok(&message));
            assert!(siv.open_vec(&nonce, &ad, &forged_siv).is_err());
            let mut tagger = siv.tagger(&nonce, &ad);
            message.chunks(piece).for_each(|piece| tagger.update(piece));
            let (tag, mut encryptor) = tagger.finish();
            let mut sealed = message.clone();
            sealed.chunks_mut(piece).for_each(|piece| encryptor.update(piece));
            assert_eq!(encryptor.finish(), Ok(()));
            assert_eq!([&sealed[..], &tag].concat(), by_siv);
            for (mut sealed, good) in [(by_siv.clone(), true), (forged_siv.clone(), false)] {
                let (ciphertext, tag) = sealed.split_last_chunk_mut().unwrap();
                let mut decryptor = siv.decryptor(&nonce, &ad, tag);
                ciphertext.chunks_mut(piece).for_each(|piece| decryptor.update(piece));
                assert_eq!(decryptor.finish().is_ok(), good);
                assert!(!good || ciphertext == &message[..]);
            }
        });
    }
}

/// A protocol with a key, and the twin's transcript in the same state.
fn both_keyed(domain: &[u8], key: &[u8]) -> (Protocol, spec::duplex::Duplex) {
    let protocol = keyed(as_label(domain), key);
    let transcript = spec::protocol::mix(spec::protocol::init(domain), b"key", key);
    (protocol, transcript)
}

/// A change of one bit, a cut, or something added at the end.
fn forge(sealed: &[u8], place: prop::sample::Index, how: u8) -> Vec<u8> {
    let mut forged = sealed.to_vec();
    match how {
        0..8 => forged[place.index(sealed.len())] ^= 1 << how,
        8 => forged.truncate(place.index(sealed.len())),
        _ => forged.push(how),
    }
    forged
}

fn check_oae2<const B: usize>(domain: &[u8], key: &[u8], message: &[u8], forgery: (prop::sample::Index, u8)) {
    let (keyed, transcript) = both_keyed(domain, key);
    let (after, stream) = spec::oae2::seal(transcript, B, message);
    let opened = spec::oae2::open(transcript, B, &stream);
    assert!(opened.ok && opened.plaintext == message);
    let forged = forge(&stream, forgery.0, forgery.1);
    let refused = spec::oae2::open(transcript, B, &forged);
    assert!(!refused.ok && refused.plaintext.is_empty());
    on_each_backend(|_| {
        assert_eq!(
            oae2::Sealer::<B>::from_protocol(keyed.clone()).seal_vec(message),
            stream
        );
        assert_eq!(
            oae2::Opener::<B>::from_protocol(keyed.clone())
                .open_vec(&stream)
                .unwrap(),
            message
        );
        assert!(
            oae2::Opener::<B>::from_protocol(keyed.clone())
                .open_vec(&forged)
                .is_err()
        );
        let mut reader = oae2::OpenReader::<_, B>::from_protocol(keyed.clone(), stream.as_slice());
        let mut out = Vec::new();
        reader.read_to_end(&mut out).unwrap();
        assert_eq!(out, message);
        let (protocol, _) = reader.finish().unwrap();
        assert_eq!(protocol.to_bytes(), spec::duplex::serialize(after));
        let mut out = Vec::new();
        let mut reader = oae2::OpenReader::<_, B>::from_protocol(keyed.clone(), forged.as_slice());
        assert!(reader.read_to_end(&mut out).is_err());
        assert!(
            message.starts_with(&out),
            "the reader released something that was not sealed"
        );
    });
}

proptest! {
    #![proptest_config(cases(20))]
    #[test]
    fn aestream_blocks(
        (domain, key) in (label(), data()),
        blocks in vec(vec(any::<u8>(), 1..200), 0..4),
        (place, how) in (any::<prop::sample::Index>(), 0..12_u8),
    ) {
        let (keyed, transcript) = both_keyed(&domain, &key);
        let (after, stream) = spec::aestream::seal(transcript, &blocks);
        let message = blocks.concat();
        let opened = spec::aestream::open(transcript, &stream);
        prop_assert!(opened.ok && opened.plaintext == message);
        let forged = forge(&stream, place, how);
        let refused = spec::aestream::open(transcript, &forged);
        prop_assert!(!refused.ok && refused.plaintext.is_empty());
        let whole: Vec<_> = message.chunks(aestream::MAX_BLOCK_LEN).map(<[u8]>::to_vec).collect();
        let (_, whole) = spec::aestream::seal(transcript, &whole);
        on_each_backend(|_| {
            let mut writer = aestream::SealWriter::from_protocol(keyed.clone(), Vec::new());
            for block in &blocks {
                writer.write_all(block).unwrap();
                writer.flush().unwrap();
            }
            assert_eq!(writer.finish().unwrap(), stream);
            assert_eq!(aestream::Sealer::from_protocol(keyed.clone()).seal_vec(&message), whole);
            assert_eq!(aestream::Opener::from_protocol(keyed.clone()).open_vec(&stream).as_ref(), Ok(&message));
            assert!(aestream::Opener::from_protocol(keyed.clone()).open_vec(&forged).is_err());
            let mut reader = aestream::OpenReader::from_protocol(keyed.clone(), stream.as_slice());
            let mut out = Vec::new();
            reader.read_to_end(&mut out).unwrap();
            assert_eq!(out, message);
            let (protocol, _) = reader.finish().unwrap();
            assert_eq!(protocol.to_bytes(), spec::duplex::serialize(after));
            let mut reader = aestream::OpenReader::from_protocol(keyed.clone(), forged.as_slice());
            let mut out = Vec::new();
            let result = reader.read_to_end(&mut out);
            assert!(message.starts_with(&out), "the reader released something that was not sealed");
            // The reader leaves what follows the end to its caller. The specification refuses such input.
            let rest = reader.finish().map_or(0, |(_, rest)| rest.len());
            assert_eq!(result.is_ok(), forged.starts_with(&stream));
            assert_eq!(rest, forged.len().saturating_sub(stream.len()));
        });
    }

    #[test]
    fn oae2_streams(
        (domain, key, message) in (label(), data(), vec(any::<u8>(), 0..400)),
        (place, how) in (any::<prop::sample::Index>(), 0..12_u8),
    ) {
        check_oae2::<1>(&domain, &key, &message[..message.len() / 20], (place, how));
        check_oae2::<16>(&domain, &key, &message[..message.len() / 4], (place, how));
        check_oae2::<94>(&domain, &key, &message, (place, how));
        check_oae2::<200>(&domain, &key, &message, (place, how));
    }
}

proptest! {
    #![proptest_config(cases(100))]
    #[test]
    fn memory_hard_hash(
        (domain, password, salt) in (label(), data(), data()),
        (cost, n) in (0..3_u8, 0..100_usize),
    ) {
        let output = spec::mhf::hash(cost, &domain, &password, &salt, n);
        on_each_backend(|_| {
            let mut got = vec![0; n];
            Mhf::with_any_cost(as_label(&domain), cost).unwrap().hash_into(&password, &salt, &mut got).unwrap();
            assert_eq!(got, output);
        });
    }
}
