//! The symmetric schemes compared with the twin of their specification, and how they handle changed input.

#![no_main]

use std::io::{Read, Write};

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::aead::Aead;
use veriplex::digest::Hasher;
use veriplex::mac::Mac;
use veriplex::mhf::Mhf;
use veriplex::siv::Siv;
use veriplex::{Error, Label, Protocol, TAG_LEN, aestream, hazmat, label, oae2, stream};
use veriplex_fuzz::{Change, Data, Name};
use veriplex_spec as spec;
use veriplex_spec::duplex::Duplex;

#[derive(Arbitrary, Debug)]
struct Case {
    hardware: bool,
    scheme: Scheme,
    domain: Name,
    key: Data,
    nonce: [u8; 24],
    ad: Data,
    message: Vec<Data>,
    changes: Vec<Change>,
}

#[derive(Arbitrary, Debug)]
enum Scheme {
    Digest(u16),
    Mac,
    Stream,
    Aead,
    Siv,
    Aestream,
    Oae2,
    /// With cost 0 or 1.
    Mhf {
        cost: bool,
        len: u16,
    },
}

fuzz_target!(|case: Case| {
    hazmat::set_hardware_enabled(case.hardware);
    let (domain, name) = (case.domain.label(), case.domain.bytes());
    let (key, nonce, ad) = (&case.key.bytes(), &case.nonce, &case.ad.bytes());
    let pieces: Vec<Vec<u8>> = case.message.iter().map(Data::bytes).collect();
    let message = pieces.concat();
    let changed = |genuine: &[u8]| {
        let mut changed = genuine.to_vec();
        case.changes.iter().for_each(|change| change.apply(&mut changed));
        changed
    };
    match case.scheme {
        Scheme::Digest(n) => {
            let n = usize::from(n % 1000);
            let mut hasher = Hasher::new(domain);
            pieces.iter().for_each(|piece| hasher.update(piece));
            let mut output = vec![0; n];
            hasher.finalize_into(&mut output);
            assert_eq!(output, spec::digest::digest(name, &message, n));
        }
        Scheme::Mac => {
            let mut mac = Mac::from_protocol(keyed(domain, name, key).0);
            pieces.iter().for_each(|piece| mac.update(piece));
            let tag = mac.clone().finalize().into_bytes();
            assert_eq!(tag[..], spec::mac::mac(name, key, &message, TAG_LEN));
            let received = changed(&tag);
            assert_eq!(mac.verify(&received).is_ok(), received == tag);
        }
        Scheme::Stream => {
            let mut data = message.clone();
            let mut keyed = keyed(domain, name, key).0;
            keyed.mix(label!("nonce"), nonce);
            stream::Encryptor::from_protocol(keyed.clone()).update(&mut data);
            assert_eq!(data, spec::stream::encrypt(name, key, nonce, &message));
            stream::Decryptor::from_protocol(keyed).update(&mut data);
            assert_eq!(data, message);
        }
        Scheme::Aead => {
            let aead = Aead::<24>::from_protocol(keyed(domain, name, key).0);
            let sealed = aead.seal_vec(nonce, ad, &message);
            assert_eq!(sealed, spec::aead::seal(name, key, nonce, ad, &message));
            let received = changed(&sealed);
            let opened = aead.open_vec(nonce, ad, &received);
            assert_eq!(opened, verdict(spec::aead::open(name, key, nonce, ad, &received)));
            assert_eq!(opened.is_ok(), received == sealed);
        }
        Scheme::Siv => {
            let siv = Siv::from_protocol(keyed(domain, name, key).0);
            let sealed = siv.seal_vec(nonce, ad, &message);
            assert_eq!(sealed, spec::siv::seal(name, key, nonce, ad, &message));
            let received = changed(&sealed);
            let opened = siv.open_vec(nonce, ad, &received);
            assert_eq!(opened, verdict(spec::siv::open(name, key, nonce, ad, &received)));
            assert_eq!(opened.is_ok(), received == sealed);
        }
        Scheme::Aestream => {
            let (keyed, twin) = keyed(domain, name, key);
            let mut writer = aestream::SealWriter::from_protocol(keyed.clone(), Vec::new());
            for piece in &pieces {
                writer.write_all(piece).unwrap();
                writer.flush().unwrap();
            }
            let sealed = writer.finish().unwrap();
            let blocks: Vec<_> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
            assert_eq!(sealed, spec::aestream::seal(twin, &blocks).1);
            let received = changed(&sealed);
            let mut reader = aestream::OpenReader::from_protocol(keyed, received.as_slice());
            let mut opened = Vec::new();
            let whole = reader.read_to_end(&mut opened).is_ok()
                && reader.finish().is_ok_and(|(_, rest)| rest.is_empty());
            let expected = spec::aestream::open(twin, &received);
            assert_eq!(whole.then_some(opened), expected.ok.then_some(expected.plaintext));
        }
        Scheme::Oae2 => {
            let (keyed, twin) = keyed(domain, name, key);
            let sealed = oae2::Sealer::<32>::from_protocol(keyed.clone()).seal_vec(&message);
            assert_eq!(sealed, spec::oae2::seal(twin, 32, &message).1);
            let received = changed(&sealed);
            let opened = oae2::Opener::<32>::from_protocol(keyed).open_vec(&received);
            assert_eq!(opened, verdict(spec::oae2::open(twin, 32, &received)));
        }
        Scheme::Mhf { cost, len } => {
            let mut output = vec![0; usize::from(len % 200)];
            let mhf = Mhf::with_any_cost(domain, cost.into()).unwrap();
            mhf.hash_into(&message, ad, &mut output).unwrap();
            let expected = spec::mhf::hash(cost.into(), name, &message, ad, output.len());
            assert_eq!(output, expected);
        }
    }
});

/// A protocol that holds the key, and its twin.
fn keyed(domain: Label<'_>, name: &[u8], key: &[u8]) -> (Protocol, Duplex) {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("key"), key);
    let twin = spec::protocol::init(name);
    (protocol, spec::protocol::mix(twin, b"key", key))
}

fn verdict(opened: spec::protocol::Opened) -> Result<Vec<u8>, Error> {
    opened.ok.then_some(opened.plaintext).ok_or(Error::Verification)
}
