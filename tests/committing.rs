//! Authenticated encryption with tags of 32 bytes: beside the specification, every form, every change refused.

mod common;

use common::{on_each_backend, random_cases, refusal};
use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::committing::{Aead, Siv, TAG_LEN};
use veriplex::{Error, Key, Label, Protocol, aead, label, siv};
use veriplex_spec as spec;
use veriplex_spec::protocol::Opened;

const MESSAGE: [u8; 150] = [0x5a; 150];
const NONCE: [u8; 16] = [1; 16];

fn data() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..300)
}

proptest! {
    #![proptest_config(random_cases())]

    #[test]
    fn agrees_with_the_twin(
        (domain, key, nonce) in (vec(any::<u8>(), 0..=91), data(), any::<[u8; 16]>()),
        (ad, message) in (data(), data()),
        (place, bit) in (any::<prop::sample::Index>(), 0..8_u8),
    ) {
        let by_aead = spec::committing::aead_seal(&domain, &key, &nonce, &ad, &message);
        let by_siv = spec::committing::siv_seal(&domain, &key, &nonce, &ad, &message);
        prop_assert_eq!(by_aead.len(), message.len() + TAG_LEN);
        let forge = |sealed: &[u8]| {
            let mut forged = sealed.to_vec();
            forged[place.index(sealed.len())] ^= 1 << bit;
            forged
        };
        let (forged_aead, forged_siv) = (forge(&by_aead), forge(&by_siv));
        let opened = Opened { ok: true, plaintext: message.clone() };
        let refused = Opened { ok: false, plaintext: vec![0; message.len()] };
        for (sealed, expected) in [(&by_aead, &opened), (&forged_aead, &refused)] {
            prop_assert_eq!(&spec::committing::aead_open(&domain, &key, &nonce, &ad, sealed), expected);
        }
        for (sealed, expected) in [(&by_siv, &opened), (&forged_siv, &refused)] {
            prop_assert_eq!(&spec::committing::siv_open(&domain, &key, &nonce, &ad, sealed), expected);
        }
        on_each_backend(|_| {
            let domain = Label::new(&domain).unwrap();
            let mut keyed = Protocol::new(domain);
            keyed.mix(label!("key"), &key);
            let aead = Aead::<16>::from_protocol(keyed.clone());
            assert_eq!(aead.seal_vec(&nonce, &ad, &message), by_aead);
            assert_eq!(aead.open_vec(&nonce, &ad, &by_aead).as_ref(), Ok(&message));
            assert_eq!(aead.open_vec(&nonce, &ad, &forged_aead), Err(Error::Verification));
            let siv = Siv::from_protocol(keyed);
            assert_eq!(siv.seal_vec(&nonce, &ad, &message), by_siv);
            assert_eq!(siv.open_vec(&nonce, &ad, &by_siv).as_ref(), Ok(&message));
            assert_eq!(siv.open_vec(&nonce, &ad, &forged_siv), Err(Error::Verification));
        });
    }

    /// All forms give the same bytes, and open them.
    #[test]
    fn forms(key in any::<[u8; 32]>(), nonce in any::<[u8; 24]>(), (ad, message) in (data(), data())) {
        macro_rules! check {
            ($cipher:expr) => {
                let cipher = $cipher;
                let sealed = cipher.seal_vec(&nonce, &ad, &message);
                let mut into = vec![0; sealed.len()];
                cipher.seal_into(&nonce, &ad, &message, &mut into).unwrap();
                prop_assert_eq!(&into, &sealed);
                let mut in_place = [message.as_slice(), &[0; TAG_LEN]].concat();
                cipher.seal_in_place(&nonce, &ad, &mut in_place).unwrap();
                prop_assert_eq!(&in_place, &sealed);
                let mut detached = message.clone();
                let tag = cipher.seal_in_place_detached(&nonce, &ad, &mut detached);
                prop_assert_eq!(&[detached.as_slice(), &tag].concat(), &sealed);

                prop_assert_eq!(&cipher.open_vec(&nonce, &ad, &sealed).unwrap(), &message);
                let mut opened = vec![0; message.len()];
                cipher.open_into(&nonce, &ad, &sealed, &mut opened).unwrap();
                prop_assert_eq!(&opened, &message);
                prop_assert_eq!(cipher.open_in_place(&nonce, &ad, &mut in_place).unwrap(), &message);
                cipher.open_in_place_detached(&nonce, &ad, &mut detached, &tag).unwrap();
                prop_assert_eq!(&detached, &message);
            };
        }
        check!(Aead::<24>::new(label!("test"), &Key::from(key)));
        check!(Siv::new(label!("test"), &Key::from(key)));
    }
}

/// Opens in every form; a refusal leaves zeros.
macro_rules! open {
    ($cipher:expr, $nonce:expr, $ad:expr, $sealed:expr) => {{
        let (cipher, sealed) = ($cipher, $sealed.to_vec());
        let result = cipher.open_vec($nonce, $ad, &sealed);
        let mut into = vec![0xa5; sealed.len().saturating_sub(TAG_LEN)];
        assert_eq!(
            cipher.open_into($nonce, $ad, &sealed, &mut into).err(),
            result.as_ref().err().copied()
        );
        let mut in_place = sealed.clone();
        assert_eq!(
            cipher.open_in_place($nonce, $ad, &mut in_place).err(),
            result.as_ref().err().copied()
        );
        if result.is_err() && sealed.len() >= TAG_LEN {
            assert!(into.iter().all(|&byte| byte == 0));
            assert_eq!(in_place[..into.len()], into);
        }
        result
    }};
}

#[test]
fn anything_changed_is_refused() {
    let wrong = Err(Error::Verification);
    macro_rules! check {
        ($new:expr) => {
            let new = $new;
            let sealed = new(label!("test"), &Key::from([7; 32])).seal_vec(&NONCE, b"ad", &MESSAGE);
            let cipher = new(label!("test"), &Key::from([7; 32]));
            assert_eq!(open!(&cipher, &NONCE, b"ad", sealed), Ok(MESSAGE.to_vec()));
            for bit in 0..8 * sealed.len() {
                let mut changed = sealed.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(open!(&cipher, &NONCE, b"ad", changed), wrong, "bit {bit}");
            }
            for n in 0..sealed.len() {
                let refused = Err(refusal(&sealed[..n], TAG_LEN));
                assert_eq!(
                    open!(&cipher, &NONCE, b"ad", sealed[..n]),
                    refused,
                    "{n} bytes"
                );
            }
            assert_eq!(
                open!(&cipher, &NONCE, b"ad", [&sealed[..], &[0]].concat()),
                wrong
            );
            assert_eq!(open!(&cipher, &[2; 16], b"ad", sealed), wrong);
            assert_eq!(open!(&cipher, &NONCE, b"", sealed), wrong);
            assert_eq!(
                open!(
                    &new(label!("test"), &Key::from([8; 32])),
                    &NONCE,
                    b"ad",
                    sealed
                ),
                wrong
            );
            assert_eq!(
                open!(
                    &new(label!("other"), &Key::from([7; 32])),
                    &NONCE,
                    b"ad",
                    sealed
                ),
                wrong
            );

            let length = Err(Error::BufferLength);
            assert_eq!(
                cipher.seal_in_place(&NONCE, b"", &mut [0; TAG_LEN - 1]),
                length
            );
            for n in (0..60).filter(|n| *n != 5 + TAG_LEN) {
                assert_eq!(
                    cipher.seal_into(&NONCE, b"", &[0; 5], &mut vec![0; n]),
                    length
                );
            }
            for n in (0..MESSAGE.len() + 2).filter(|n| *n != MESSAGE.len()) {
                assert_eq!(
                    cipher.open_into(&NONCE, b"ad", &sealed, &mut vec![0; n]),
                    length
                );
            }
        };
    }
    check!(|domain, key: &Key| Aead::<16>::new(domain, key));
    check!(|domain, key: &Key| Siv::new(domain, key));
}

/// Under one domain and key, none of the four opens what another made, nor is it that with another tag.
#[test]
fn domains_of_their_own() {
    let (domain, key) = (label!("test"), Key::from([7; 32]));
    let (long_aead, long_siv) = (Aead::<16>::new(domain, &key), Siv::new(domain, &key));
    let (aead, siv) = (aead::Aead::<16>::new(domain, &key), siv::Siv::new(domain, &key));
    let all = [
        long_aead.seal_vec(&NONCE, b"", &MESSAGE),
        long_siv.seal_vec(&NONCE, b"", &MESSAGE),
        aead.seal_vec(&NONCE, b"", &MESSAGE),
        siv.seal_vec(&NONCE, b"", &MESSAGE),
    ];
    for (made_by, sealed) in all.iter().enumerate() {
        let opened = [
            long_aead.open_vec(&NONCE, b"", sealed).is_ok(),
            long_siv.open_vec(&NONCE, b"", sealed).is_ok(),
            aead.open_vec(&NONCE, b"", sealed).is_ok(),
            siv.open_vec(&NONCE, b"", sealed).is_ok(),
        ];
        assert_eq!(opened, std::array::from_fn(|i| i == made_by));
        for other in &all[..made_by] {
            // Neither ciphertexts nor tags have anything in common.
            assert!(
                !other
                    .windows(8)
                    .any(|part| sealed.windows(8).any(|window| window == part))
            );
        }
    }
}

#[test]
fn debug_shows_nothing() {
    let aead = Aead::<16>::new(label!("test"), &Key::from([0xab; 32]));
    assert_eq!(format!("{aead:?}"), "Aead(Protocol { .. })");
    assert_eq!(
        format!("{:?}", Siv::new(label!("test"), &Key::from([0xab; 32]))),
        "Siv(Protocol { .. })"
    );
}
