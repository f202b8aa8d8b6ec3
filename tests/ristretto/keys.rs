//! Keys and their encodings: known answers and bad input.

use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{Error, Protocol, label};

use crate::common::{Recorded, array, cases, vectors};
use crate::order;

#[test]
fn known_answers() {
    for case in cases(&vectors("sig")) {
        let private = PrivateKey::from_uniform_bytes(array(case, "private_uniform")).unwrap();
        assert_eq!(private.to_bytes(), array(case, "private"));
        assert_eq!(private.public_key().to_bytes(), array(case, "public"));
        assert_eq!(&PublicKey::from(&private), private.public_key());
        assert_eq!(PrivateKey::from_bytes(&private.to_bytes()), Ok(private));
    }
}

#[test]
fn bad_encodings() {
    // Zero and the identity, the order of the group, and an encoding above the field's prime.
    assert_eq!(PrivateKey::from_bytes(&[0; 32]), Err(Error::InvalidKey));
    assert_eq!(PrivateKey::from_bytes(&order()), Err(Error::InvalidKey));
    assert_eq!(PublicKey::from_bytes(&[0; 32]), Err(Error::InvalidKey));
    assert_eq!(PublicKey::from_bytes(&[0xff; 32]), Err(Error::InvalidKey));
}

#[test]
fn any_other_length_is_refused() {
    let key = PrivateKey::from_uniform_bytes([7; 64]).unwrap();
    let long = [key.to_bytes().as_slice(), &[0]].concat();
    for n in (0..32).chain([33]) {
        assert_eq!(PrivateKey::try_from(&long[..n]), Err(Error::InvalidKey));
        assert_eq!(PublicKey::try_from(&long[..n]), Err(Error::InvalidKey));
    }
    assert_eq!(PrivateKey::try_from(&long[..32]), Ok(key));
}

/// Bytes that give zero are passed over once. A generator that gives no others ends in a panic, not in a loop.
#[test]
fn a_generator_of_zeros_gives_no_key() {
    let key = PrivateKey::from_uniform_bytes([7; 64]).unwrap();
    assert_eq!(
        PrivateKey::generate(&mut Recorded::new([[0; 64], [7; 64]].concat())),
        key
    );
    // The order of the group is zero, too.
    let wide_order = [order(), [0; 32]].concat();
    assert_eq!(
        PrivateKey::generate(&mut Recorded::new([wide_order, vec![7; 64]].concat())),
        key
    );
    gives_up(|| PrivateKey::generate(&mut Zeros(0)));
}

fn gives_up<T: std::fmt::Debug>(work: impl FnOnce() -> T + std::panic::UnwindSafe) {
    let panicked = std::panic::catch_unwind(work).unwrap_err();
    let message = panicked.downcast_ref::<String>().expect("not that of Zeros");
    assert!(
        message.contains("a generator that gives other bytes than zeros"),
        "{message}"
    );
}

/// Nothing waits for a better generator: what needs none has a result, the rest an error or a panic.
#[test]
fn everything_ends_with_a_generator_of_zeros() {
    use veriplex::{frost, handshake, hpke, oprf, pake, ratchet, sig, signcrypt, vrf};
    let domain = label!("test");
    let key = PrivateKey::from_uniform_bytes([7; 64]).unwrap();
    let public = key.public_key();
    let zeros = &mut Zeros(0);
    // Hedged.
    let _ = sig::sign(domain, &key, b"", zeros);
    let _ = vrf::prove(domain, &key, b"", zeros, &mut [0; 32]).unwrap();
    hpke::seal_vec(domain, &key, public, zeros, b"").unwrap();
    signcrypt::seal_vec(domain, &key, public, zeros, b"").unwrap();
    let (_, request) = handshake::Initiator::start(domain, &key, zeros);
    let _ = handshake::Responder::respond(domain, &key, &request, zeros).unwrap();
    let (_, shares) = frost::deal(domain, 2, 3, zeros).unwrap();
    let _ = shares[0].commit(domain, zeros).unwrap();
    let _ = frost::dkg::start(domain, b"", shares[0].identifier(), 2, 3, zeros).unwrap();
    let server = oprf::ServerKey::from_bytes(&key.to_bytes()).unwrap();
    let element = oprf::BlindedElement::from_bytes(&public.to_bytes()).unwrap();
    oprf::blind_evaluate_verifiable(domain, &server, &[element], zeros).unwrap();
    // Not.
    assert_eq!(oprf::blind(domain, b"", zeros).err(), Some(Error::InvalidKey));
    let names = pake::Names {
        initiator: b"a",
        responder: b"b",
        session: b"1",
    };
    let refused = pake::Initiator::start(domain, &names, b"password", zeros).err();
    assert_eq!(refused, Some(Error::InvalidKey));
    let message = public.to_bytes();
    let refused = pake::respond(domain, &names, b"password", &message, zeros).err();
    assert_eq!(refused, Some(Error::InvalidKey));
    gives_up(|| drop(oprf::ServerKey::generate(&mut Zeros(0))));
    gives_up(|| {
        drop(ratchet::Ratchet::initiator(
            Protocol::new(domain),
            key.clone(),
            *public,
            &mut Zeros(0),
        ));
    });
}

/// Does not end after a few bytes, as `Recorded` would. Counts how often it was asked: nobody may ask for ever.
struct Zeros(usize);

impl rand_core::TryRng for Zeros {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(0)
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(0)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        self.0 += 1;
        assert!(self.0 < 1000, "asked again and again");
        bytes.fill(0);
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Zeros {}

/// Parses a text and formats the result.
type Again = fn(&str) -> Option<String>;

/// Each key has exactly one text in each format: a changed text either fails to parse, or is the text of another key.
#[test]
fn texts_are_canonical() {
    let private = PrivateKey::from_uniform_bytes([7; 64]).unwrap();
    let public = *private.public_key();
    assert_eq!(*private.to_hex(), hex::encode(private.to_bytes()));
    assert_eq!(public.to_string(), hex::encode(public.to_bytes()));
    assert_eq!(format!("{public:?}"), format!("PublicKey({public})"));
    assert_eq!(
        PrivateKey::from_bytes(&{
            let mut three = [0; 32];
            three[0] = 3;
            three
        })
        .unwrap()
        .to_pem()
        .as_str(),
        "-----BEGIN VERIPLEX PRIVATE KEY-----\nAwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\
         -----END VERIPLEX PRIVATE KEY-----\n"
    );
    let private_texts: [(String, Again); 2] = [
        (private.to_hex().to_string(), |t| {
            t.parse().ok().map(|k: PrivateKey| k.to_hex().to_string())
        }),
        (private.to_pem().to_string(), |t| {
            PrivateKey::from_pem(t).ok().map(|k| k.to_pem().to_string())
        }),
    ];
    let public_texts: [(String, Again); 2] = [
        (public.to_string(), |t| {
            t.parse().ok().map(|k: PublicKey| k.to_string())
        }),
        (public.to_pem(), |t| {
            PublicKey::from_pem(t).ok().map(|k| k.to_pem())
        }),
    ];
    // Blanks at the ends of lines of PEM do not count.
    let same = |a: &str, b: &str| a.lines().eq(b.trim_end().lines().map(str::trim_end));
    for (text, again) in private_texts.into_iter().chain(public_texts) {
        assert_eq!(again(&text).as_ref(), Some(&text));
        let is_pem = text.ends_with('\n');
        for n in 0..text.len() {
            // Only the final newline may be missing.
            assert_eq!(again(&text[..n]).is_some(), is_pem && n == text.len() - 1);
            for other in [' ', '\n', '-', '=', 'A', 'a', '0', '\u{e9}'] {
                let mut changed = text.clone();
                changed.replace_range(n..=n, &other.to_string());
                assert!(again(&changed).is_none_or(|t| same(&t, &changed)), "{changed}");
                let mut inserted = text.clone();
                inserted.insert(n, other);
                assert!(
                    again(&inserted).is_none_or(|t| is_pem && same(&t, &inserted)),
                    "{inserted}"
                );
            }
        }
        for end in ["\r\n", " \n", "\t \r\n"] {
            let other = text.trim_end().replace('\n', end) + end + "\n";
            assert_eq!(again(&other).as_ref(), is_pem.then_some(&text), "{other:?}");
        }
        for other in [
            format!("\n{text}"),
            format!("a key\n{text}"),
            format!("{text}{text}"),
            text.replacen('\n', "\n\n", 1),
            if is_pem {
                text.to_lowercase()
            } else {
                text.to_uppercase()
            },
            text.replace("PRIVATE", "SECRET").replace("PUBLIC", "SECRET"),
        ] {
            assert!(other == text || again(&other).is_none(), "{other}");
        }
    }
    assert_eq!(PublicKey::from_pem(&private.to_pem()), Err(Error::InvalidKey));
    assert_eq!(PrivateKey::from_pem(&public.to_pem()), Err(Error::InvalidKey));
    assert_eq!("0".repeat(64).parse::<PublicKey>(), Err(Error::InvalidKey));
}

#[test]
fn equality_sees_every_byte() {
    let key = PrivateKey::from_uniform_bytes([7; 64]).unwrap();
    for n in 0..31 {
        let mut other = key.to_bytes();
        other[n] ^= 1;
        assert_ne!(PrivateKey::from_bytes(&other).unwrap(), key);
    }
}

#[cfg(feature = "getrandom")]
#[test]
fn keys_from_the_operating_system() {
    let [a, b] = [(); 2].map(|()| PrivateKey::generate(&mut veriplex::os_rng()));
    assert_ne!(a, b);
}

#[test]
fn drop_wipes() {
    use std::mem::ManuallyDrop;

    let mut key = ManuallyDrop::new(PrivateKey::from_uniform_bytes([7; 64]).unwrap());
    let secret = key.to_bytes();
    let at: *const u8 = (&raw const *key).cast();
    // SAFETY: this function still owns the memory, and a key has no padding: it consists of arrays of u64 and u8.
    let bytes = || unsafe { std::slice::from_raw_parts(at, size_of::<PrivateKey>()) }.to_vec();
    let holds_secret = |bytes: &[u8]| bytes.windows(8).any(|w| secret.windows(8).any(|s| s == w));
    assert!(holds_secret(&bytes()));
    // SAFETY: the key is dropped only once.
    unsafe { ManuallyDrop::drop(&mut key) };
    assert!(!holds_secret(&bytes()));
}

#[test]
fn debug_shows_the_public_key_only() {
    let key = PrivateKey::from_uniform_bytes([7; 64]).unwrap();
    let public = key.public_key();
    assert_eq!(
        format!("{key:?}"),
        format!("PrivateKey {{ public_key: PublicKey({public}), .. }}")
    );
}
