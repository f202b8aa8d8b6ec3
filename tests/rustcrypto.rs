//! The implementations of foreign traits give the same results as the native API. They also pass the trait crates'
//! own tests: we call the functions behind those crates' test macros with answers from the native API, which
//! `tests/vectors.rs` checks against the known answers.

mod common;
#[cfg(target_os = "linux")]
#[path = "common/limited.rs"]
mod limited;

use aead::dev::TestVector as AeadVector;
use aead::inout::InOutBuf;
use aead::{AeadInOut, KeyInit};
use cipher::dev::block_mode::{self, TestVector as CipherVector};
use cipher::{Array, BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
use common::{bytes, cases, number, on_each_backend, text, vectors};
use digest::dev::{MacTestVector, MacTruncSide, TestVector as DigestVector};
use digest::dev::{fixed_reset_test, fixed_test, mac_test, reset_mac_test, xof_reset_test};
use digest::{Digest, ExtendableOutput, FixedOutput, Update, XofReader};
use password_hash::phc::{Output, PasswordHash, Salt};
use password_hash::{CustomizedPasswordHasher, Error, PasswordHasher, PasswordVerifier};
use rand_core::{Rng, SeedableRng};
use veriplex::rustcrypto::Domain;
use veriplex::rustcrypto::aead::{Aead, Siv};
use veriplex::rustcrypto::cipher::{Decryptor, Encryptor};
use veriplex::rustcrypto::digest::{Hasher, Mac};
use veriplex::rustcrypto::password_hash::{Mhf, Params};
use veriplex::rustcrypto::rand_core::Generator;
use veriplex::{Label, Protocol, label, mac, siv, stream};

enum Test {}

impl Domain for Test {
    const DOMAIN: Label<'static> = label!("com.example.rustcrypto");
}

enum Other {}

impl Domain for Other {
    const DOMAIN: Label<'static> = label!("com.example.other");
}

const LENGTHS: [usize; 14] = [0, 1, 15, 16, 17, 93, 94, 95, 187, 188, 189, 470, 471, 2000];

fn noise(purpose: &[u8], len: usize) -> Vec<u8> {
    let mut protocol = Protocol::new(label!("veriplex.test"));
    protocol.mix(label!("purpose"), purpose);
    protocol.derive_vec(label!("noise"), len)
}

/// The trait crates' test functions take only `'static` data.
fn leak(bytes: Vec<u8>) -> &'static [u8] {
    bytes.leak()
}

fn keys_and_messages() -> impl Iterator<Item = ([u8; 32], &'static [u8])> {
    LENGTHS.iter().map(|&len| {
        let key = noise(&len.to_le_bytes(), 32).try_into().unwrap();
        (key, leak(noise(b"message", len)))
    })
}

// -- digest ----------------------------------------------------------------------------------------------

#[test]
fn digests() {
    fn check<const LEN: usize>(message: &'static [u8])
    where
        [u8; LEN]: digest::array::AssocArraySize,
    {
        let mut hasher = veriplex::digest::Hasher::new(Test::DOMAIN);
        hasher.update(message);
        let mut output = vec![0; LEN];
        hasher.finalize_into(&mut output);
        let vector = DigestVector {
            input: message,
            output: leak(output),
        };
        assert_eq!(fixed_test::<Hasher<Test, LEN>>(&vector), Ok(()));
        assert_eq!(fixed_reset_test::<Hasher<Test, LEN>>(&vector), Ok(()));
        assert!(fixed_test::<Hasher<Other, LEN>>(&vector).is_err());
    }
    on_each_backend(|_| {
        for (_, message) in keys_and_messages() {
            assert_eq!(
                Hasher::<Test>::digest(message)[..],
                *veriplex::digest::digest(Test::DOMAIN, message).as_bytes()
            );
            check::<16>(message);
            check::<32>(message);
            check::<64>(message);
        }
    });
}

/// The output that the documentation of `rustcrypto::digest::Reader` promises.
fn extended(message: &[u8], len: usize) -> Vec<u8> {
    let mut protocol = Protocol::new(Test::DOMAIN);
    protocol.mix(label!("message"), message);
    let mut output = Vec::new();
    while output.len() < len {
        output.extend(protocol.derive_vec(label!("xof"), 1 << 16));
    }
    output.truncate(len);
    output
}

#[test]
fn extendable_outputs() {
    on_each_backend(|_| {
        for (_, message) in keys_and_messages() {
            for len in [0, 1, 94, 1000] {
                let vector = DigestVector {
                    input: message,
                    output: leak(extended(message, len)),
                };
                assert_eq!(xof_reset_test::<Hasher<Test>>(&vector), Ok(()));
            }
        }
    });
}

#[test]
fn extendable_output_in_any_pieces() {
    let expected = extended(b"message", 200_000);
    for piece in [1, 94, 1000, 65_535, 65_536, 65_537, 200_000] {
        let mut reader = Hasher::<Test>::default().chain(b"message").finalize_xof();
        let mut output = vec![0; expected.len()];
        for piece in output.chunks_mut(piece) {
            reader.read(piece);
            reader.read(&mut []);
        }
        assert!(output == expected, "piece length {piece}");
    }
}

fn mac_of(key: [u8; 32]) -> mac::Mac {
    let mut mac = mac::Mac::new(Test::DOMAIN, &key.into());
    mac.update(b"message");
    mac
}

/// A keyed digest of `LEN` bytes.
fn longer<const LEN: usize>() -> [u8; LEN]
where
    [u8; LEN]: digest::array::AssocArraySize,
{
    let mac = Mac::<Test, LEN>::new(&[7; 32].into());
    let mut output = [0; LEN];
    output.copy_from_slice(&FixedOutput::finalize_fixed(mac.chain(b"message")));
    output
}

/// HMAC, which code that is generic over `Digest` and `BlockSizeUser` builds: RFC 2104 with blocks of 94 bytes.
#[test]
fn hmac_over_the_hash() {
    use hmac::SimpleHmac;

    for len in [0, 32, 94, 95, 200] {
        let key = vec![7; len];
        let mut hmac = SimpleHmac::<Hasher<Test>>::new_from_slice(&key).unwrap();
        Update::update(&mut hmac, b"message");
        let hash = |bytes: &[u8]| veriplex::digest::digest(Test::DOMAIN, bytes).to_bytes().to_vec();
        let mut block = if len > 94 { hash(&key) } else { key };
        block.resize(94, 0);
        let pad = |with: u8| block.iter().map(|byte| byte ^ with).collect::<Vec<_>>();
        let inner = hash(&[pad(0x36), b"message".to_vec()].concat());
        let expected = hash(&[pad(0x5c), inner].concat());
        assert_eq!(digest::Mac::finalize(hmac).into_bytes()[..], expected);
    }
}

#[test]
fn macs() {
    on_each_backend(|_| {
        for (key, message) in keys_and_messages() {
            let mut native = mac::Mac::new(Test::DOMAIN, &key.into());
            native.update(message);
            let vector = MacTestVector {
                key: leak(key.to_vec()),
                input: message,
                tag: leak(native.finalize().as_bytes().to_vec()),
            };
            assert_eq!(mac_test::<Mac<Test>>(&vector, MacTruncSide::None), Ok(()));
            assert_eq!(reset_mac_test::<Mac<Test>>(&vector, MacTruncSide::None), Ok(()));
            assert!(mac_test::<Mac<Other>>(&vector, MacTruncSide::None).is_err());
        }
    });
    assert_eq!(longer::<32>(), mac_of([7; 32]).finalize_array().into_bytes());
    assert_eq!(longer::<64>(), mac_of([7; 32]).finalize_array().into_bytes());
    assert!(Mac::<Test>::new_from_slice(&[0; 31]).is_err());
    assert!(Mac::<Test>::new_from_slice(&[0; 33]).is_err());
}

// -- aead ------------------------------------------------------------------------------------------------

/// The trait crate's tests, with a valid vector and with each kind of invalid one.
fn check_aead<C: AeadInOut + KeyInit>(vector: &AeadVector) {
    assert_eq!(aead::dev::pass_test::<C>(vector), Ok(()));
    let change = |bytes: &[u8]| {
        let mut changed = bytes.to_vec();
        if let Some(byte) = changed.last_mut() {
            *byte ^= 1;
        } else {
            changed.push(0);
        }
        leak(changed)
    };
    let cut = &vector.ciphertext[..vector.ciphertext.len() - 1];
    for bad in [
        AeadVector {
            key: change(vector.key),
            ..*vector
        },
        AeadVector {
            nonce: change(vector.nonce),
            ..*vector
        },
        AeadVector {
            aad: change(vector.aad),
            ..*vector
        },
        AeadVector {
            ciphertext: change(vector.ciphertext),
            ..*vector
        },
        AeadVector {
            ciphertext: cut,
            ..*vector
        },
        AeadVector {
            ciphertext: &[],
            ..*vector
        },
        AeadVector {
            ciphertext: &cut[..15],
            ..*vector
        },
    ] {
        assert_eq!(aead::dev::fail_test::<C>(&bad), Ok(()));
    }
}

/// A failed opening leaves zeros, even when the ciphertext is in another buffer.
fn check_wiped<C: AeadInOut + KeyInit>(vector: &AeadVector) {
    let cipher = C::new_from_slice(vector.key).unwrap();
    let nonce = vector.nonce.try_into().unwrap();
    let (message, _) = vector.ciphertext.split_at(vector.plaintext.len());
    let mut output = vec![0xa5; message.len()];
    let buffer = InOutBuf::new(message, &mut output).unwrap();
    let tag = aead::Tag::<C>::default();
    assert!(
        cipher
            .decrypt_inout_detached(nonce, vector.aad, buffer, &tag)
            .is_err()
    );
    assert_eq!(output, vec![0; message.len()]);
}

#[test]
fn aeads() {
    fn check<const N: usize>(key: [u8; 32], message: &'static [u8])
    where
        [u8; N]: aead::array::AssocArraySize<Size: aead::array::ArraySize<ArrayType<u8> = [u8; N]>>,
    {
        let (nonce, ad) = (noise(b"nonce", N), leak(noise(b"ad", message.len() % 50)));
        let native = veriplex::aead::Aead::<N>::new(Test::DOMAIN, &key.into());
        let vector = AeadVector {
            key: leak(key.to_vec()),
            nonce: leak(nonce.clone()),
            aad: ad,
            plaintext: message,
            ciphertext: leak(native.seal_vec(&nonce.try_into().unwrap(), ad, message)),
        };
        check_aead::<Aead<Test, N>>(&vector);
        check_wiped::<Aead<Test, N>>(&vector);
        assert_eq!(aead::dev::fail_test::<Aead<Other, N>>(&vector), Ok(()));
    }
    on_each_backend(|_| {
        for (key, message) in keys_and_messages() {
            check::<16>(key, message);
            check::<24>(key, message);
            check::<32>(key, message);
        }
    });
}

#[test]
fn sivs() {
    fn check<const N: usize>(key: [u8; 32], message: &'static [u8])
    where
        [u8; N]: aead::array::AssocArraySize<Size: aead::array::ArraySize<ArrayType<u8> = [u8; N]>>,
    {
        let (nonce, ad) = (leak(noise(b"nonce", N)), leak(noise(b"ad", message.len() % 50)));
        let vector = AeadVector {
            key: leak(key.to_vec()),
            nonce,
            aad: ad,
            plaintext: message,
            ciphertext: leak(siv::Siv::new(Test::DOMAIN, &key.into()).seal_vec(nonce, ad, message)),
        };
        check_aead::<Siv<Test, N>>(&vector);
        check_wiped::<Siv<Test, N>>(&vector);
        assert_eq!(aead::dev::fail_test::<Siv<Other, N>>(&vector), Ok(()));
    }
    on_each_backend(|_| {
        for (key, message) in keys_and_messages() {
            check::<12>(key, message);
            check::<16>(key, message);
        }
    });
}

// -- cipher ----------------------------------------------------------------------------------------------

#[test]
fn stream_ciphers() {
    on_each_backend(|_| {
        for (key, message) in keys_and_messages() {
            let nonce: [u8; 16] = noise(b"nonce", 16).try_into().unwrap();
            let mut ciphertext = message.to_vec();
            stream::encrypt(Test::DOMAIN, &key.into(), &nonce, &mut ciphertext);
            let vector = CipherVector {
                key: leak(key.to_vec()),
                iv: leak(nonce.to_vec()),
                plaintext: message,
                ciphertext: leak(ciphertext),
            };
            assert_eq!(block_mode::encrypt::<Encryptor<Test, 16>>(&vector), Ok(()));
            assert_eq!(block_mode::decrypt::<Decryptor<Test, 16>>(&vector), Ok(()));
            assert_eq!(
                block_mode::encrypt::<Encryptor<Other, 16>>(&vector).is_ok(),
                message.is_empty()
            );
        }
    });
}

#[test]
fn stream_cipher_in_any_pieces() {
    let (key, nonce, message) = ([7; 32], [1; 24], noise(b"message", 3000));
    let mut expected = message.clone();
    stream::encrypt(Test::DOMAIN, &key.into(), &nonce, &mut expected);
    for piece in [1, 93, 94, 469, 470, 471, 1000, 3000] {
        let mut encryptor = Encryptor::<Test, 24>::new(&key.into(), &nonce.into());
        let mut decryptor = Decryptor::<Test, 24>::new(&key.into(), &nonce.into());
        let mut data = message.clone();
        for piece in data.chunks_mut(piece) {
            encryptor.encrypt_blocks(Array::cast_slice_from_core_mut(piece.as_chunks_mut().0));
        }
        assert!(data == expected, "piece length {piece}");
        for piece in data.chunks_mut(piece) {
            decryptor.decrypt_blocks(Array::cast_slice_from_core_mut(piece.as_chunks_mut().0));
        }
        assert!(data == message, "piece length {piece}");
    }
}

// -- password-hash ---------------------------------------------------------------------------------------

enum Known {}

impl Domain for Known {
    const DOMAIN: Label<'static> = label!("example.mhf");
}

/// The known answers that fit a PHC string: each string with its password.
fn known_hashes() -> Vec<(String, Vec<u8>)> {
    let file = vectors("mhf");
    let mut hashes = Vec::new();
    for case in cases(&file) {
        assert_eq!(text(case, "domain").as_bytes(), Known::DOMAIN.as_bytes());
        let Ok(hash) = Output::new(&bytes(case, "output")) else {
            continue;
        };
        let (cost, salt) = (number(case, "cost"), Salt::new(&bytes(case, "salt")).unwrap());
        let phc = format!("$veriplex-mhf$v=1$c={cost}${salt}${hash}");
        hashes.push((phc, bytes(case, "password")));
    }
    assert!(hashes.len() >= 5);
    hashes
}

fn parse(phc: &str) -> PasswordHash {
    PasswordHash::new(phc).unwrap_or_else(|e| panic!("{phc}: {e}"))
}

#[test]
fn password_hashes_are_the_known_answers() {
    let hasher = Mhf::<Known>::with_any_cost(Params::default(), 16);
    for (phc, password) in known_hashes() {
        let hash = parse(&phc);
        assert_eq!(hasher.verify_password(&password, &hash), Ok(()), "{phc}");
        let params = Params::try_from(&hash).unwrap();
        let hasher = Mhf::<Known>::with_any_cost(params, params.cost);
        let again = hasher.hash_password_with_salt(&password, &hash.salt.unwrap());
        assert_eq!(again.unwrap().to_string(), phc);

        let wrong = [password.as_slice(), b"x"].concat();
        assert_eq!(hasher.verify_password(&wrong, &hash), Err(Error::PasswordInvalid));
        let elsewhere = Mhf::<Other>::with_any_cost(Params::default(), 16);
        assert_eq!(
            elsewhere.verify_password(&password, &hash),
            Err(Error::PasswordInvalid)
        );
        let other_salt = PasswordHash {
            salt: Some(Salt::new(&[9; 16]).unwrap()),
            ..hash.clone()
        };
        assert_eq!(
            hasher.verify_password(&password, &other_salt),
            Err(Error::PasswordInvalid)
        );
        let shorter = Output::new(&hash.hash.unwrap().as_bytes()[..10]).unwrap();
        let shorter = PasswordHash {
            hash: Some(shorter),
            ..hash
        };
        assert_eq!(
            hasher.verify_password(&password, &shorter),
            Err(Error::PasswordInvalid)
        );
    }
}

#[test]
fn password_hash_costs_are_limited_before_any_work() {
    let (phc, password) = known_hashes().swap_remove(3);
    let hash = parse(&phc);
    let cost = Params::try_from(&hash).unwrap().cost;
    let with = |params: &str| parse(&phc.replace(&format!("c={cost}"), params));
    let enough = Mhf::<Known>::with_any_cost(Params::default(), cost);
    assert_eq!(enough.verify_password(&password, &hash), Ok(()));
    let refused = Err(Error::ParamInvalid { name: "c" });
    let low = Mhf::<Known>::with_any_cost(Params::default(), cost - 1);
    assert_eq!(low.verify_password(&password, &hash), refused);
    assert_eq!(
        low.hash_password_with_salt(&password, &[0; 16]).map(drop),
        refused
    );
    for cost in [
        "c=0",
        "c=9",
        "c=17",
        "c=26",
        "c=27",
        "c=255",
        "c=256",
        "c=4294967295",
    ] {
        assert_eq!(
            Mhf::<Known>::default().verify_password(&password, &with(cost)),
            refused,
            "{cost}"
        );
    }
    // No limit that the caller sets can raise the hash's own limit.
    assert_eq!(
        Mhf::<Known>::with_any_cost(Params::default(), 255).verify_password(&password, &with("c=27")),
        refused
    );
    for cost in ["c=x", "c=1EB", "c=01", "c=-1"] {
        assert_eq!(
            Mhf::<Known>::default().verify_password(&password, &with(cost)),
            refused,
            "{cost}"
        );
    }
    for params in ["d=1", "c=1,d=1", "c=1,c=1", "d=1,c=1"] {
        assert_eq!(
            Mhf::<Known>::default().verify_password(&password, &with(params)),
            Err(Error::ParamsInvalid),
            "{params}"
        );
    }
}

#[test]
fn other_password_hashes_are_refused() {
    let (phc, password) = known_hashes().swap_remove(0);
    let hasher = Mhf::<Known>::with_any_cost(Params::default(), 16);
    let verdict = |phc: &str| hasher.verify_password(&password, &parse(phc));
    assert_eq!(verdict(&phc), Ok(()));
    assert_eq!(verdict(&phc.replace("v=1", "v=2")), Err(Error::Version));
    assert_eq!(verdict(&phc.replace("$v=1", "")), Err(Error::Version));
    assert_eq!(verdict(&phc.replace("$c=0", "")), Err(Error::ParamsInvalid));
    assert_eq!(
        verdict(&phc.replace("veriplex-mhf", "argon2id")),
        Err(Error::Algorithm)
    );
    assert_eq!(
        verdict(phc.rsplit_once('$').unwrap().0),
        Err(Error::PasswordInvalid)
    );
    let params = |output_len| Params { cost: 0, output_len };
    for (params, salt_len, error) in [
        (params(9), 16, Error::OutputSize),
        (params(65), 16, Error::OutputSize),
        (params(32), 7, Error::SaltInvalid),
        (params(32), 49, Error::SaltInvalid),
    ] {
        let hash = hasher.hash_password_with_params(b"password", &noise(b"salt", salt_len), params);
        assert_eq!(hash, Err(error));
    }
    let of_version = |version| {
        let hash = hasher.hash_password_customized(b"password", &[7; 8], None, Some(version), params(32));
        hash.map(drop)
    };
    assert_eq!([1, 2].map(of_version), [Ok(()), Err(Error::Version)]);
    for params in [params(10), params(64)] {
        let hash = hasher
            .hash_password_with_params(b"password", &[7; 8], params)
            .unwrap();
        assert_eq!(hasher.verify_password(b"password", &hash), Ok(()));
    }
}

/// What needs more memory than there is fails, and what is refused needs none. Runs in a child process that is limited to
/// 1 GiB.
#[cfg(target_os = "linux")]
#[cfg_attr(
    target_arch = "aarch64",
    ignore = "the test starts itself as a child process, which does not work under an emulator"
)]
#[test]
fn password_hashes_out_of_memory() {
    if !limited::is_limited_child("password_hashes_out_of_memory") {
        return;
    }
    let hasher = Mhf::<Known>::new(Params::default(), 18);
    let hash = |output_len| {
        let params = Params { cost: 18, output_len };
        hasher
            .hash_password_with_params(b"password", &[7; 8], params)
            .map(drop)
    };
    assert_eq!(hash(32), Err(Error::OutOfMemory));
    assert_eq!([9, 65].map(hash), [Err(Error::OutputSize); 2]);
}

// -- rand_core -------------------------------------------------------------------------------------------

/// The output that the documentation of [`Generator`] promises.
fn generated(mut protocol: Protocol, len: usize) -> Vec<u8> {
    let mut output = Vec::new();
    while output.len() < len {
        output.extend(protocol.derive_array::<512>(label!("random")));
        protocol.ratchet(label!("random"));
    }
    output.truncate(len);
    output
}

#[test]
fn generator() {
    let mut seeded = Protocol::new(label!("veriplex.generator.v1"));
    seeded.mix(label!("seed"), &[7; 32]);
    on_each_backend(|_| {
        let expected = generated(seeded.clone(), 5000);
        for piece in [1, 7, 511, 512, 513, 1024, 1100, 5000] {
            let mut output = vec![0; expected.len()];
            let mut generator = Generator::from_seed([7; 32]);
            for piece in output.chunks_mut(piece) {
                generator.fill_bytes(piece);
                generator.fill_bytes(&mut []);
            }
            assert!(output == expected, "piece length {piece}");
        }
        let mut generator = Generator::new(seeded.clone());
        let mut words = Vec::new();
        while words.len() < 4984 {
            words.extend(generator.next_u32().to_le_bytes());
            words.extend(generator.next_u64().to_le_bytes());
            words.extend(generator.clone().next_u32().to_le_bytes());
            generator.fill_bytes(&mut [0; 4]);
        }
        assert_eq!(words, expected[..words.len()]);
    });
    assert_ne!(
        Generator::from_seed([8; 32]).next_u64(),
        Generator::from_seed([7; 32]).next_u64()
    );
}

#[test]
fn nothing_secret_is_printed() {
    let texts = [
        format!("{:?}", Hasher::<Test>::default()),
        format!("{:?}", Hasher::<Test>::default().finalize_xof()),
        format!("{:?}", Mac::<Test>::new(&[7; 32].into())),
        format!("{:?}", Aead::<Test, 24>::new(&[7; 32].into())),
        format!("{:?}", Siv::<Test, 24>::new(&[7; 32].into())),
        format!(
            "{:?}",
            Encryptor::<Test, 24>::new(&[7; 32].into(), &[1; 24].into())
        ),
        format!(
            "{:?}",
            Decryptor::<Test, 24>::new(&[7; 32].into(), &[1; 24].into())
        ),
        format!("{:?}", Generator::from_seed([7; 32])),
    ];
    let params = Params {
        cost: 1,
        output_len: 32,
    };
    let hasher = Mhf::<Test>::new(params, 3);
    for hasher in [hasher.clone(), hasher] {
        assert_eq!(
            format!("{hasher:?}"),
            "Mhf { params: Params { cost: 1, output_len: 32 }, min_cost: 10, max_cost: 3, .. }"
        );
    }
    let default = "Mhf { params: Params { cost: 14, output_len: 32 }, min_cost: 10, max_cost: 16, .. }";
    assert_eq!(format!("{:?}", Mhf::<Test>::default()), default);
    for text in texts {
        assert!(text.contains("{ .. }"), "{text}");
    }
}
