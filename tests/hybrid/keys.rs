//! Keys and fingerprints: their encodings, and what is none.

use veriplex::Error;
use veriplex::hybrid::{Fingerprint, PrivateKey, PublicKey};

use crate::common::Recorded;
use crate::key;
use crate::random::Random;

const WRONG: Error = Error::InvalidKey;

#[test]
fn encodings_round_trip() {
    for number in 1..20 {
        let key = key(number);
        let public = key.public_key();
        assert_eq!(PrivateKey::from_bytes(&key.to_bytes()).unwrap(), key);
        assert_eq!(PrivateKey::from_pem(&key.to_pem()).unwrap(), key);
        assert_eq!(PrivateKey::from_pem(key.to_pem().trim_end()).unwrap(), key);
        assert_eq!(PublicKey::from_bytes(public.as_bytes()).unwrap(), *public);
        assert_eq!(PublicKey::from_pem(&public.to_pem()).unwrap(), *public);
        assert_eq!(key.to_pem().lines().count(), 4);
        assert_eq!(public.to_pem().lines().count(), 28);
        let fingerprint = public.fingerprint();
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        assert_eq!(fingerprint.to_string().to_uppercase().parse(), Ok(fingerprint));
        assert_eq!(Fingerprint::from_bytes(*fingerprint.as_bytes()), fingerprint);
        assert_eq!(format!("{public:?}"), format!("PublicKey({fingerprint})"));
        let shown = format!("PrivateKey {{ public_key: PublicKey({fingerprint}), .. }}");
        assert_eq!(format!("{key:?}"), shown);
        let text = public.to_string();
        assert_eq!(text, hex::encode(public.as_ref()));
        assert_eq!(&text.parse::<PublicKey>().unwrap(), public);
        assert_eq!(PublicKey::try_from(public.to_bytes()).as_ref(), Ok(public));
        assert_eq!(text[2..].parse::<PublicKey>().err(), Some(Error::InvalidKey));
        #[cfg(feature = "serde")]
        serde_has(&key);
    }
    assert_ne!(key(1), key(2));
    assert_ne!(key(1).public_key(), key(2).public_key());
    // Each half counts.
    for at in [0, 40, 95] {
        let mut other = key(1).to_bytes();
        other[at] ^= 1;
        let other = PrivateKey::from_bytes(&other).unwrap();
        assert_ne!(other, key(1), "byte {at}");
        // The last 32 bytes are what ML-KEM rejects with: they are not in the public key.
        assert_eq!(other.public_key() == key(1).public_key(), at == 95);
    }
}

#[test]
fn a_generator_of_zeros_is_an_error() {
    assert_eq!(PrivateKey::generate(&mut Recorded::new([0; 128])), Err(WRONG));
}

#[test]
fn wrong_bytes_are_no_key() {
    let private = key(1).to_bytes();
    for bytes in [&[][..], &private[..95], &[&private[..], &[0]].concat()] {
        assert_eq!(PrivateKey::try_from(bytes), Err(WRONG));
    }
    let order = hex::decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010").unwrap();
    for scalar in [vec![0; 32], vec![0xff; 32], order] {
        let bytes = [&scalar, &private[32..]].concat();
        assert_eq!(PrivateKey::try_from(&bytes[..]), Err(WRONG));
    }
    let public = *key(1).public_key().as_bytes();
    for bytes in [&[][..], &public[..1215], &[&public[..], &[0]].concat()] {
        assert_eq!(PublicKey::try_from(bytes), Err(WRONG));
    }
    for element in [[0; 32], [0xff; 32]] {
        let bytes = [&element, &public[32..]].concat();
        assert_eq!(PublicKey::try_from(&bytes[..]), Err(WRONG));
    }
    // Each coefficient of 12 bits is below 3329.
    for at in 0..384 {
        for (low, high) in [(0x01, 0xd), (0xff, 0xf)] {
            let mut bytes = public;
            let three = &mut bytes[32 + 3 * at..][..3];
            three[0] = low;
            three[1] = three[1] & 0xf0 | high;
            assert_eq!(
                PublicKey::from_bytes(&bytes),
                Err(WRONG),
                "coefficient {}",
                2 * at
            );
            let mut bytes = public;
            let three = &mut bytes[32 + 3 * at..][..3];
            three[1] = three[1] & 0x0f | low << 4;
            three[2] = low >> 4 | high << 4;
            assert_eq!(
                PublicKey::from_bytes(&bytes),
                Err(WRONG),
                "coefficient {}",
                2 * at + 1
            );
        }
    }
}

#[test]
fn wrong_text_is_no_key() {
    let (private, public) = (key(1).to_pem(), key(1).public_key().to_pem());
    assert_eq!(PrivateKey::from_pem(&public), Err(WRONG));
    assert_eq!(PublicKey::from_pem(&private), Err(WRONG));
    let mut random = Random(1);
    for end in ["\r\n", " \n", "\t \r\n"] {
        let [private, public] = [&*private, &public].map(|text| text.replace('\n', end));
        for ending in ["", "\n", " \r\n"] {
            let [private, public] = [&private, &public].map(|text| format!("{}{ending}", text.trim_end()));
            assert_eq!(PrivateKey::from_pem(&private), Ok(key(1)));
            assert_eq!(PublicKey::from_pem(&public).as_ref(), Ok(key(1).public_key()));
        }
    }
    for text in [&private, &public] {
        for cut in 0..text.len() - 1 {
            assert_eq!(PrivateKey::from_pem(&text[..cut]), Err(WRONG));
            assert_eq!(PublicKey::from_pem(&text[..cut]), Err(WRONG));
        }
        for extended in [format!(" {text}"), text.replacen('\n', "\n\n", 1)] {
            assert_eq!(PrivateKey::from_pem(&extended), Err(WRONG));
            assert_eq!(PublicKey::from_pem(&extended), Err(WRONG));
        }
        for _ in 0..2000 {
            let mut bytes = text.clone().into_bytes();
            let at = random.below(bytes.len() - 1);
            bytes[at] = b"\0 \n-=AZaz09+/~"[random.below(14)];
            let changed = String::from_utf8(bytes).unwrap();
            // Blanks at the ends of lines do not count.
            if changed.lines().map(str::trim_end).ne(text.lines()) {
                // Another key perhaps, if a digit became another one.
                assert_ne!(PrivateKey::from_pem(&changed), Ok(key(1)));
                assert_ne!(PublicKey::from_pem(&changed).as_ref(), Ok(key(1).public_key()));
            }
        }
    }
    let fingerprint = key(1).public_key().fingerprint().to_string();
    for text in [
        "",
        &fingerprint[1..],
        &format!("{fingerprint}0"),
        &format!(" {fingerprint}"),
        &format!("{}g", &fingerprint[1..]),
        &format!("{}é", &fingerprint[2..]),
    ] {
        assert_eq!(text.parse::<Fingerprint>(), Err(WRONG), "{text}");
    }
}

#[cfg(feature = "serde")]
fn serde_has(key: &PrivateKey) {
    use veriplex::serde::Exposed;

    let json = serde_json::to_string(key.public_key()).unwrap();
    assert_eq!(json, format!("\"{}\"", key.public_key()));
    assert_eq!(
        &serde_json::from_str::<PublicKey>(&json).unwrap(),
        key.public_key()
    );
    let json = serde_json::to_string(&Exposed(key.clone())).unwrap();
    assert_eq!(json, format!("\"{}\"", hex::encode(key.to_bytes())));
    assert_eq!(
        &serde_json::from_str::<Exposed<PrivateKey>>(&json).unwrap().0,
        key
    );
    let fingerprint = key.public_key().fingerprint();
    let json = serde_json::to_string(&fingerprint).unwrap();
    assert_eq!(serde_json::from_str::<Fingerprint>(&json).unwrap(), fingerprint);
}
