//! Digest, MAC, stream cipher, AEAD and SIV beside the twin of their specification, and what they make of changed input.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use veriplex::aead::Aead;
use veriplex::digest::Hasher;
use veriplex::mac::Mac;
use veriplex::siv::Siv;
use veriplex::{Error, TAG_LEN, hazmat, stream};
use veriplex_fuzz::{Change, Data, Name};
use veriplex_spec as spec;

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
            let mut mac = Mac::new(domain, key);
            pieces.iter().for_each(|piece| mac.update(piece));
            let tag = mac.clone().finalize();
            assert_eq!(tag[..], spec::mac::mac(name, key, &message, TAG_LEN));
            let received = changed(&tag);
            assert_eq!(mac.verify(&received).is_ok(), received == tag);
        }
        Scheme::Stream => {
            let mut data = message.clone();
            stream::encrypt(domain, key, nonce, &mut data);
            assert_eq!(data, spec::stream::encrypt(name, key, nonce, &message));
            stream::decrypt(domain, key, nonce, &mut data);
            assert_eq!(data, message);
        }
        Scheme::Aead => {
            let aead = Aead::<24>::new(domain, key);
            let sealed = aead.seal_vec(nonce, ad, &message);
            assert_eq!(sealed, spec::aead::seal(name, key, nonce, ad, &message));
            let received = changed(&sealed);
            let opened = aead.open_vec(nonce, ad, &received);
            assert_eq!(opened, verdict(spec::aead::open(name, key, nonce, ad, &received)));
            assert_eq!(opened.is_ok(), received == sealed);
        }
        Scheme::Siv => {
            let siv = Siv::new(domain, key);
            let sealed = siv.seal_vec(nonce, ad, &message);
            assert_eq!(sealed, spec::siv::seal(name, key, nonce, ad, &message));
            let received = changed(&sealed);
            let opened = siv.open_vec(nonce, ad, &received);
            assert_eq!(opened, verdict(spec::siv::open(name, key, nonce, ad, &received)));
            assert_eq!(opened.is_ok(), received == sealed);
        }
    }
});

fn verdict(opened: spec::protocol::Opened) -> Result<Vec<u8>, Error> {
    opened.ok.then_some(opened.plaintext).ok_or(Error::Verification)
}
