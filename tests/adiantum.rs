//! Adiantum, `HPolyC`, HBSH and their parts: known answers, the twin of the specification, bad input.

mod common;

use common::{array, bytes, cases, family_vectors, number, on_each_backend, text};
use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::Error;
use veriplex::adiantum::{
    AT_ONCE, Adiantum, Aes256, BlockCipher, HPolyC, Hash, Hbsh, NhPoly1305, PaddedPoly1305, StreamCipher,
    WideBlockCipher, XChaCha,
};
use veriplex::hazmat::chacha::{chacha, hchacha, xchacha};
use veriplex::hazmat::nh::{self, Nh};
use veriplex_spec as spec;

/// The cipher of a known answer.
fn cipher(name: &str, go_padding: bool, key: &[u8]) -> Box<dyn WideBlockCipher> {
    let key = key.try_into().unwrap();
    match (name, go_padding) {
        ("Adiantum-XChaCha8-AES256", false) => Box::new(Adiantum::<8>::new(key)),
        ("Adiantum-XChaCha12-AES256", false) => Box::new(Adiantum::<12>::new(key)),
        ("Adiantum-XChaCha20-AES256", false) => Box::new(Adiantum::<20>::new(key)),
        ("HPolyC-XChaCha8-AES256", false) => Box::new(HPolyC::<8>::new(key)),
        ("HPolyC-XChaCha12-AES256", false) => Box::new(HPolyC::<12>::new(key)),
        ("HPolyC-XChaCha20-AES256", false) => Box::new(HPolyC::<20>::new(key)),
        ("HPolyC-XChaCha8-AES256", true) => Box::new(HPolyC::<8>::with_go_padding(key)),
        ("HPolyC-XChaCha12-AES256", true) => Box::new(HPolyC::<12>::with_go_padding(key)),
        ("HPolyC-XChaCha20-AES256", true) => Box::new(HPolyC::<20>::with_go_padding(key)),
        other => panic!("{other:?}"),
    }
}

/// Both directions, in place and from buffer to buffer.
fn check(cipher: &dyn WideBlockCipher, tweak: &[u8], plaintext: &[u8], ciphertext: &[u8]) {
    let mut data = plaintext.to_vec();
    cipher.encrypt_in_place(tweak, &mut data).unwrap();
    assert!(
        data == ciphertext,
        "{} {}",
        hex::encode(&data),
        hex::encode(ciphertext)
    );
    cipher.decrypt_in_place(tweak, &mut data).unwrap();
    assert!(data == plaintext);
    cipher.encrypt_into(tweak, plaintext, &mut data).unwrap();
    assert!(data == ciphertext);
    cipher.decrypt_into(tweak, ciphertext, &mut data).unwrap();
    assert!(data == plaintext);
    assert!(cipher.encrypt_vec(tweak, plaintext).unwrap() == ciphertext);
    assert!(cipher.decrypt_vec(tweak, ciphertext).unwrap() == plaintext);
}

#[test]
fn known_answers() {
    let file = family_vectors("adiantum", "hbsh");
    let mut go = 0;
    for case in cases(&file) {
        let go_padding = match case.get("padding") {
            None => false,
            Some(padding) => padding == "go",
        };
        go += usize::from(go_padding);
        let (name, key) = (text(case, "cipher"), bytes(case, "key"));
        let (tweak, plaintext, ciphertext) = (
            bytes(case, "tweak"),
            bytes(case, "plaintext"),
            bytes(case, "ciphertext"),
        );
        on_each_backend(|_| check(&*cipher(name, go_padding, &key), &tweak, &plaintext, &ciphertext));
        if name.starts_with("HPolyC") {
            // The two paddings agree on all other tweaks, and differ on these.
            let other = cipher(name, !go_padding, &key)
                .encrypt_vec(&tweak, &plaintext)
                .unwrap();
            assert_eq!(other == ciphertext, tweak.len() % 16 != 12);
        }
    }
    assert_eq!(go, 12);
}

/// What the Linux kernel's dm-crypt writes for `xchacha12,aes-adiantum-plain64` with `iv_large_sectors`.
#[test]
fn sectors_of_linux() {
    let file = family_vectors("adiantum", "linux-dm-crypt");
    let cipher = Adiantum::<12>::new(&array(&file, "key"));
    let mut sizes = Vec::new();
    for case in cases(&file["sectors"]) {
        let sector_len = usize::try_from(number(case, "sector_size")).unwrap();
        let (first, plaintext) = (number(case, "sector"), bytes(case, "plaintext"));
        on_each_backend(|_| {
            let mut sector = plaintext.clone();
            cipher.encrypt_sectors(sector_len, first, &mut sector).unwrap();
            assert!(sector == bytes(case, "ciphertext"), "{sector_len}: {first}");
            cipher.decrypt_sectors(sector_len, first, &mut sector).unwrap();
            assert!(sector == plaintext);
        });
        sizes.push(sector_len);
    }
    assert_eq!(sizes, [512, 512, 512, 4096]);
}

fn counted(first: u8, n: u8) -> Vec<u8> {
    (first..first + n).collect()
}

/// The worked example in the description: each part, and every number of rounds.
#[test]
fn worked_example() {
    let (key, tweak, message) = (counted(0, 32), counted(0x40, 16), counted(0x80, 40));
    let check = |name: &str, go_padding, tweak: &[u8], message: &[u8], ciphertext: &str| {
        let ciphertext = hex::decode(ciphertext).unwrap();
        on_each_backend(|_| check(&*cipher(name, go_padding, &key), tweak, message, &ciphertext));
    };
    for (name, ciphertext) in [
        (
            "Adiantum-XChaCha8-AES256",
            "c64ff8b1b4a49ae44fd813c983286d50327e0fcd0778d82f617ac843129290d2f45f177a0217c82d",
        ),
        (
            "Adiantum-XChaCha12-AES256",
            "6d9b12dea2c547d1f50720ccfc8319a618033c368b8e909cf8a4ffef130eca3083d11a0299e02837",
        ),
        (
            "Adiantum-XChaCha20-AES256",
            "690d1dd27a178044cdd94218afb5b889efe18f334b9d39213bfca75f74c516272a4f49392d083376",
        ),
        (
            "HPolyC-XChaCha8-AES256",
            "531519d8709fdc54ba8b243747dc985ea0af40476bacc19d4fce2d41768864cec7e1bd116135c01b",
        ),
        (
            "HPolyC-XChaCha12-AES256",
            "4d7ef51c7782915eb3b1e56d23ab97051c2b432a37450792f38b1b84c7ec3e4a1c763b5924ed61ac",
        ),
        (
            "HPolyC-XChaCha20-AES256",
            "96b8fd06d37152dfff3ff171ab80142d77ff59e9effd697670077ab50a860785e9cb3f0029c32fd2",
        ),
    ] {
        check(name, false, &tweak, &message, ciphertext);
    }
    for (go_padding, ciphertext) in [
        (
            false,
            "5fe918fc9818936c93c627761eb687b7b9036b6a0be6798fb26e1ca889adcf64ca387eabec4b91ec",
        ),
        (
            true,
            "a6bb2060a022056568b607a86b3836249f263e99685eb8ea4171372ae40ba9a213ae7b52d92e5b78",
        ),
    ] {
        check(
            "HPolyC-XChaCha12-AES256",
            go_padding,
            &tweak[..12],
            &message,
            ciphertext,
        );
    }
    for name in ["Adiantum-XChaCha12-AES256", "HPolyC-XChaCha12-AES256"] {
        check(
            name,
            false,
            b"",
            &counted(0x80, 16),
            "b534f6265e6f0c9e204c7a6742180839",
        );
    }

    let key: [u8; 32] = key.try_into().unwrap();
    let mut nonce = [0; 24];
    nonce[0] = 1;
    let subkey = hchacha::<12>(&key, nonce.first_chunk().unwrap());
    assert_eq!(
        hex::encode(subkey.as_bytes()),
        "07822a3f15d751ada92fb3d8c96b63dbd8d4261f48cc6c657f8a2b3ce7e08f88"
    );
    let mut keys = [0; 1136];
    xchacha::<12>(&key, &nonce, &mut keys);
    assert_eq!(hex::encode(&keys[1120..]), "8bfe7f86cf4f09b95e29645b7566a0f0");
    let hash = Nh::new(keys[64..].try_into().unwrap())
        .hash(&message[..24])
        .unwrap();
    assert_eq!(
        hex::encode(hash),
        "269a33a98163cfa318ca39f4c47b3d9df1791952b397416b700fb2c43670906a"
    );
}

/// FIPS 197, appendix C.3, and draft-irtf-cfrg-xchacha-03, section 2.2.1.
#[test]
fn published_answers_of_the_parts() {
    let aes = Aes256::new(&counted(0, 32).try_into().unwrap());
    let plaintext: [u8; 16] = std::array::from_fn(|i| 0x11 * u8::try_from(i).unwrap());
    let mut block = plaintext;
    aes.encrypt(&mut block);
    assert_eq!(hex::encode(block), "8ea2b7ca516745bfeafc49904b496089");
    aes.decrypt(&mut block);
    assert_eq!(block, plaintext);

    let nonce = hex::decode("000000090000004a0000000031415927")
        .unwrap()
        .try_into()
        .unwrap();
    assert_eq!(
        hex::encode(hchacha::<20>(&counted(0, 32).try_into().unwrap(), &nonce).as_bytes()),
        "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc"
    );
}

/// Every length around the lane width, from several first blocks, against one block at a time.
#[test]
fn streams_of_any_length() {
    let (key, nonce) = ([7; 32], [9; 8]);
    for first in [0, 1, 5, u64::from(u32::MAX) - 2, u64::MAX - 36] {
        let blocks: Vec<u8> = (0..36)
            .flat_map(|i| spec::chacha::block(12, &key, &nonce, first + i))
            .collect();
        for n in 0..=blocks.len() {
            on_each_backend(|_| {
                let mut data = vec![0x5a; n];
                chacha::<12>(&key, &nonce, first, &mut data).unwrap();
                assert!(
                    data.iter().zip(&blocks).all(|(d, b)| d ^ b == 0x5a),
                    "{first} {n}"
                );
            });
        }
    }
    // The last block has the number 2^64 - 1.
    for (blocks_left, n, ok) in [
        (1, 64, true),
        (1, 65, false),
        (4, 256, true),
        (4, 257, false),
        (1, 0, true),
    ] {
        let mut data = vec![0x5a; n];
        let result = chacha::<8>(&key, &nonce, u64::MAX - (blocks_left - 1), &mut data);
        assert_eq!(result, if ok { Ok(()) } else { Err(Error::LimitReached) });
        assert_eq!(
            data.iter().all(|byte| *byte == 0x5a),
            !ok || n == 0,
            "the data changed"
        );
    }
}

#[test]
fn nh_takes_1_to_1024_bytes() {
    let nh = Nh::new(&[7; nh::KEY_LEN]);
    assert_eq!(nh.hash(&[]), Err(Error::BufferLength));
    assert_eq!(nh.hash(&[0; 1025]), Err(Error::BufferLength));
    for n in 1..=1024 {
        let message: Vec<u8> = (0..=250).cycle().take(n).collect();
        let expected = spec::nh::nh(&[7; nh::KEY_LEN], &message);
        on_each_backend(|_| assert_eq!(nh.hash(&message).unwrap()[..], expected));
    }
    // The largest possible products.
    let nh = Nh::new(&[0xff; nh::KEY_LEN]);
    let expected = spec::nh::nh(&[0xff; nh::KEY_LEN], &[0; 1024]);
    on_each_backend(|_| assert_eq!(nh.hash(&[0; 1024]).unwrap()[..], expected));
}

/// Rejected input changes nothing.
#[test]
fn bad_input() {
    let (adiantum, hpolyc) = (Adiantum::<12>::new(&[7; 32]), HPolyC::<12>::new(&[7; 32]));
    let ciphers: [&dyn WideBlockCipher; 2] = [&adiantum, &hpolyc];
    for cipher in ciphers {
        let refused = |tweak: &[u8], n: usize, error: Error| {
            let (input, mut data) = (vec![1; n], vec![0x5a; n]);
            assert_eq!(cipher.encrypt_in_place(tweak, &mut data), Err(error));
            assert_eq!(cipher.decrypt_in_place(tweak, &mut data), Err(error));
            assert_eq!(cipher.encrypt_into(tweak, &input, &mut data), Err(error));
            assert_eq!(cipher.decrypt_into(tweak, &input, &mut data), Err(error));
            assert_eq!(cipher.encrypt_vec(tweak, &input), Err(error));
            assert_eq!(cipher.decrypt_vec(tweak, &input), Err(error));
            assert_eq!(cipher.check(tweak.len(), n), Err(error));
            assert_eq!(data, vec![0x5a; n]);
        };
        (0..16).for_each(|n| refused(b"tweak", n, Error::BufferLength));
        for n in [0, 15, 17, 40] {
            let mut output = vec![0x5a; n];
            assert_eq!(
                cipher.encrypt_into(b"", &[1; 16], &mut output),
                Err(Error::BufferLength)
            );
            assert_eq!(
                cipher.decrypt_into(b"", &[1; 16], &mut output),
                Err(Error::BufferLength)
            );
            assert_eq!(output, vec![0x5a; n]);
        }
        let mut image = [0x5a; 64];
        for (sector_len, first, n, error) in [
            (0, 0, 0, Error::BufferLength),
            (0, 0, 64, Error::BufferLength),
            (15, 0, 0, Error::BufferLength),
            (15, 0, 60, Error::BufferLength),
            (16, 0, 63, Error::BufferLength),
            (48, 0, 64, Error::BufferLength),
            (16, u64::MAX, 32, Error::LimitReached),
            (16, u64::MAX - 2, 64, Error::LimitReached),
        ] {
            let image = &mut image[..n];
            assert_eq!(cipher.encrypt_sectors(sector_len, first, image), Err(error));
            assert_eq!(cipher.decrypt_sectors(sector_len, first, image), Err(error));
        }
        assert_eq!(image, [0x5a; 64]);
        cipher.encrypt_sectors(16, u64::MAX - 3, &mut image).unwrap();
        assert_ne!(image[..16], image[16..32]);
        cipher.encrypt_sectors(16, u64::MAX, &mut []).unwrap();
    }
    // These zeros are never read, so they take up no memory.
    let long = vec![0; 1 << 29];
    let mut data = [0x5a; 16];
    assert_eq!(
        hpolyc.encrypt_in_place(&long, &mut data),
        Err(Error::LimitReached)
    );
    assert_eq!(
        hpolyc.decrypt_in_place(&long, &mut data),
        Err(Error::LimitReached)
    );
    assert_eq!(
        hpolyc.encrypt_into(&long, &[1; 16], &mut data),
        Err(Error::LimitReached)
    );
    assert_eq!(data, [0x5a; 16]);
    assert_eq!(hpolyc.check((1 << 29) - 1, 16), Ok(()));
    assert_eq!(adiantum.check(usize::MAX, 16), Ok(()));
}

/// A sector is a message whose tweak is the sector number in 32 bytes, also for a cipher that does not know sectors.
#[test]
fn sectors_are_messages() {
    struct OneByOne(Adiantum<8>);
    impl WideBlockCipher for OneByOne {
        fn check(&self, tweak_len: usize, message_len: usize) -> Result<(), Error> {
            self.0.check(tweak_len, message_len)
        }
        fn encrypt_in_place(&self, tweak: &[u8], in_out: &mut [u8]) -> Result<(), Error> {
            self.0.encrypt_in_place(tweak, in_out)
        }
        fn decrypt_in_place(&self, tweak: &[u8], in_out: &mut [u8]) -> Result<(), Error> {
            self.0.decrypt_in_place(tweak, in_out)
        }
    }
    on_each_backend(|_| {
        let key = [7; 32];
        let ciphers: [Box<dyn WideBlockCipher>; 5] = [
            Box::new(OneByOne(Adiantum::<8>::new(&key))),
            Box::new(Adiantum::<8>::new(&key)),
            Box::new(Adiantum::<20>::new(&key)),
            Box::new(HPolyC::<12>::new(&key)),
            Box::new(HPolyC::<12>::with_go_padding(&key)),
        ];
        for cipher in ciphers {
            sectors_of_one_cipher_are_messages(&*cipher);
        }
    });
}

fn sectors_of_one_cipher_are_messages(cipher: &dyn WideBlockCipher) {
    // Any number of sectors, also of those that are worked on at once; none that does not fit.
    let few = (0..=40).map(|count| (32, count, 1 << 33));
    for (sector_len, count, first) in few.chain([
        (16, 5, 0),
        (512, 3, 77),
        (512, 50, 5),
        (4096, 2, u64::MAX - 1),
        (4096, 9, 3),
        (4096, 33, 3),
        (520, 4, 1 << 40),
        (20_000, 3, 8),
    ]) {
        let image: Vec<u8> = (0..=255).cycle().take(sector_len * count).collect();
        let mut encrypted = image.clone();
        cipher.encrypt_sectors(sector_len, first, &mut encrypted).unwrap();
        for (i, (plain, sector)) in (0..).zip(image.chunks(sector_len).zip(encrypted.chunks(sector_len))) {
            let tweak = [&(first + i).to_le_bytes()[..], &[0; 24]].concat();
            assert!(cipher.encrypt_vec(&tweak, plain).unwrap() == sector);
        }
        cipher.decrypt_sectors(sector_len, first, &mut encrypted).unwrap();
        assert!(encrypted == image);
    }
}

/// Several blocks and several messages at once are one by one.
#[test]
fn parts_at_once_are_one_by_one() {
    fn streams<const N: usize>(stream: &XChaCha<12>) {
        let nonces = core::array::from_fn(|i| [i.to_le_bytes()[0]; 16]);
        let messages: [Vec<u8>; N] = core::array::from_fn(|i| vec![i.to_le_bytes()[0]; 13 * i]);
        let (mut at_once, mut one_by_one) = (messages.clone(), messages);
        stream.apply_each(&nonces, &mut at_once.each_mut().map(Vec::as_mut_slice), 0);
        for (nonce, message) in nonces.iter().zip(&mut one_by_one) {
            stream.apply(nonce, message);
        }
        assert_eq!(at_once, one_by_one, "{N}");
    }
    on_each_backend(|_| {
        let (block, stream) = (Aes256::new(&[7; 32]), XChaCha::<12>::new(&[8; 32]));
        for count in 0..=40 {
            let blocks: Vec<[u8; 16]> = (0..count).map(|i| [i; 16]).collect();
            let (mut at_once, mut one_by_one) = (blocks.clone(), blocks.clone());
            block.encrypt_each(&mut at_once);
            for x in &mut one_by_one {
                block.encrypt(x);
            }
            assert_eq!(at_once, one_by_one, "{count}");
            block.decrypt_each(&mut at_once);
            assert_eq!(at_once, blocks, "{count}");
        }
        streams::<0>(&stream);
        streams::<1>(&stream);
        streams::<7>(&stream);
        streams::<8>(&stream);
        streams::<9>(&stream);
        streams::<17>(&stream);
        streams::<40>(&stream);
    });
}

/// Hashes of several messages at once are those of one by one: of tweaks and messages of every length around the limits of
/// what is done side by side.
#[test]
fn hashes_at_once_are_one_by_one() {
    fn agree<H: Hash>(hash: &H, tweak_len: usize, len: usize) {
        let bytes = |i: usize, len: usize| -> Vec<u8> {
            (0..len)
                .map(|j| (151 * i + 7 * j + j / 97).to_le_bytes()[0])
                .collect()
        };
        let tweaks: [Vec<u8>; AT_ONCE] = std::array::from_fn(|i| bytes(i, tweak_len));
        let mut messages: [Vec<u8>; AT_ONCE] = std::array::from_fn(|i| bytes(i + 1, len));
        messages[3].fill(0xff);
        let tweaked = hash.tweak_each(tweaks.each_ref().map(Vec::as_slice), len);
        let expected: [u128; AT_ONCE] =
            std::array::from_fn(|i| hash.hash(&hash.tweak(&tweaks[i], len), &messages[i]));
        for spare in [0, 5, 16, 32] {
            for message in &mut messages {
                message.resize(len, 0);
                message.resize(len + spare, 0xff);
            }
            let about = format!("tweak of {tweak_len} bytes, message of {len}, {spare} more");
            let at_once = hash.hash_each(&tweaked, messages.each_ref().map(Vec::as_slice), spare);
            assert_eq!(at_once, expected, "{about}");
            for i in 0..AT_ONCE {
                let alone = hash.hash_before(&tweaked[i], &messages[i], spare);
                assert_eq!(alone, expected[i], "{about}");
            }
        }
    }
    /// Those of different sizes are no error.
    fn differ<H: Hash>(hash: &H) {
        let bytes: [u8; 2000] = std::array::from_fn(|i| (7 * i + i / 97).to_le_bytes()[0]);
        for sizes in [
            [16, 40, 0, 33],
            [80, 16, 100, 5],
            [1600, 1616, 2000, 16],
            [1600, 1605, 2000, 17],
            [96, 16, 99, 48],
        ] {
            let parts: [&[u8]; AT_ONCE] = std::array::from_fn(|i| &bytes[..sizes[i % 4]]);
            let tweaked = hash.tweak_each(parts, 16);
            for spare in [0, 16]
                .into_iter()
                .filter(|spare| sizes.iter().min() >= Some(spare))
            {
                let at_once = hash.hash_each(&tweaked, parts, spare);
                for (part, at_once) in parts.into_iter().zip(at_once) {
                    let expected = hash.hash(&hash.tweak(part, 16), &part[..part.len() - spare]);
                    assert_eq!(at_once, expected, "{sizes:?} {spare}");
                }
            }
        }
    }
    on_each_backend(|_| {
        let nh = NhPoly1305::new(&std::array::from_fn(|i| i.to_le_bytes()[0] ^ 0x5a));
        let padded = PaddedPoly1305::new(&std::array::from_fn(|i| !i.to_le_bytes()[0]));
        for len in (0..=40)
            .chain(1000..1060)
            .chain(4070..4110)
            .chain([496, 2032, 4080, 6000])
        {
            agree(&nh, 32, len);
            agree(&padded, 32, len);
        }
        for tweak_len in 0..=165 {
            agree(&nh, tweak_len, 496);
            agree(&padded, tweak_len, 4080);
        }
        differ(&nh);
        differ(&padded);
    });
}

/// Messages of every length up to two of NH's pieces and a part: groups of a kernel, what fills none, and the rest.
#[test]
fn hashes_of_any_length() {
    let key: [u8; NhPoly1305::KEY_LEN] = std::array::from_fn(|i| (31 * i + i / 7).to_le_bytes()[0]);
    let padded_key: [u8; 16] = key[100..116].try_into().unwrap();
    let message: Vec<u8> = (0..2300_u32).map(|i| (7 * i + i / 97).to_le_bytes()[0]).collect();
    let expected: Vec<_> = (0..message.len())
        .map(|n| {
            let message = &message[..n];
            let nh = spec::adiantum::adiantum_hash(&key, b"tweak", message);
            [nh, spec::adiantum::hpolyc_hash(&padded_key, b"tweak", message)].map(u128::from_le_bytes)
        })
        .collect();
    on_each_backend(|_| {
        let (nh, padded) = (NhPoly1305::new(&key), PaddedPoly1305::new(&padded_key));
        for (n, expected) in expected.iter().enumerate() {
            let message = &message[..n];
            assert_eq!(nh.hash(&nh.tweak(b"tweak", n), message), expected[0], "{n}");
            assert_eq!(
                padded.hash(&padded.tweak(b"tweak", n), message),
                expected[1],
                "{n}"
            );
        }
    });
}

/// All but the spare bytes of a buffer get what the message alone gets, whether the stream goes on into them or not; also
/// from a cipher that does not say how.
#[test]
fn spare_bytes_do_not_matter() {
    struct Default(XChaCha<8>);
    impl StreamCipher for Default {
        fn apply(&self, nonce: &[u8; 16], in_out: &mut [u8]) {
            self.0.apply(nonce, in_out);
        }
    }
    on_each_backend(|_| {
        let (stream, nonces) = (XChaCha::<8>::new(&[8; 32]), [[1; 16], [2; 16]]);
        for len in (0..=300).chain([1008, 1009, 4080]) {
            let mut message = vec![0x5a; len];
            stream.apply(&nonces[1], &mut message);
            for spare in [0, 1, 16, 64] {
                let mut buffers: [_; 4] = core::array::from_fn(|_| vec![0x5a; len + spare]);
                stream.apply_before(&nonces[1], &mut buffers[0], spare);
                Default(stream.clone()).apply_before(&nonces[1], &mut buffers[1], spare);
                assert_eq!(buffers[1][len..], vec![0x5a; spare], "untouched");
                let [_, _, one, two] = &mut buffers;
                stream.apply_each(&nonces, &mut [one, two], spare);
                for i in [0, 1, 3] {
                    assert_eq!(buffers[i][..len], message, "{len} {spare} {i}");
                }
            }
        }
    });
}

/// The whole result changes with every bit of the message and of the tweak, and with the tweak's length.
#[test]
fn everything_depends_on_everything() {
    fn differ(a: &[u8], b: &[u8]) {
        assert!(a.chunks(8).zip(b.chunks(8)).all(|(a, b)| a != b));
    }
    let key = [7; 32];
    let ciphers: [Box<dyn WideBlockCipher>; 2] = [
        Box::new(Adiantum::<8>::new(&key)),
        Box::new(HPolyC::<8>::new(&key)),
    ];
    for cipher in ciphers {
        let (message, tweak) = ([0x5a; 56], [0; 40]);
        let encrypted = cipher.encrypt_vec(&tweak, &message).unwrap();
        for bit in 0..8 * message.len() {
            let mut other = message;
            other[bit / 8] ^= 1 << (bit % 8);
            differ(&encrypted, &cipher.encrypt_vec(&tweak, &other).unwrap());
            other = encrypted.clone().try_into().unwrap();
            other[bit / 8] ^= 1 << (bit % 8);
            differ(&message, &cipher.decrypt_vec(&tweak, &other).unwrap());
        }
        for bit in 0..8 * tweak.len() {
            let mut other = tweak;
            other[bit / 8] ^= 1 << (bit % 8);
            differ(&encrypted, &cipher.encrypt_vec(&other, &message).unwrap());
        }
        for n in 0..tweak.len() {
            differ(&encrypted, &cipher.encrypt_vec(&tweak[..n], &message).unwrap());
        }
    }
}

/// HBSH with other components: the four steps, by hand.
#[test]
fn any_parts() {
    struct Xor;
    impl StreamCipher for Xor {
        fn apply(&self, nonce: &[u8; 16], in_out: &mut [u8]) {
            for byte in in_out {
                *byte ^= nonce[0];
            }
        }
    }
    struct Not;
    impl BlockCipher for Not {
        fn encrypt(&self, block: &mut [u8; 16]) {
            block.rotate_left(1);
        }
        fn decrypt(&self, block: &mut [u8; 16]) {
            block.rotate_right(1);
        }
    }
    struct Sum;
    impl Hash for Sum {
        const MAX_TWEAK_LEN: usize = 3;
        type Tweaked = u128;
        fn tweak(&self, tweak: &[u8], message_len: usize) -> u128 {
            tweak.iter().map(|byte| u128::from(*byte)).sum::<u128>() + message_len as u128
        }
        fn hash(&self, tweaked: &u128, message: &[u8]) -> u128 {
            u128::MAX - (tweaked + message.iter().map(|byte| u128::from(*byte)).sum::<u128>())
        }
    }
    let cipher = Hbsh::from_parts(Xor, Not, Sum);
    let mut data = [1, 2, 0x20, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x30];
    // H = -1 - (5 + 2 + 3) = -11: 0x1020 - 11 = 0x1015, which gives the bytes 10 00 .. 30 15.
    cipher.encrypt_in_place(&[5], &mut data).unwrap();
    let sum = u128::from_le_bytes([0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x30, 0x15]);
    let right = (sum + 1 + (5 + 2 + 0x11 + 0x12)).to_le_bytes();
    assert_eq!(data[..2], [0x11, 0x12]);
    assert_eq!(data[2..], right);
    cipher.decrypt_in_place(&[5], &mut data).unwrap();
    assert_eq!(
        data,
        [1, 2, 0x20, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x30]
    );
    assert_eq!(
        cipher.encrypt_in_place(&[0; 4], &mut data),
        Err(Error::LimitReached)
    );
}

/// Sectors with parts that say only what they must: those with everything give the same.
#[test]
fn sectors_with_any_parts() {
    struct Only<T>(T);
    impl<T: StreamCipher> StreamCipher for Only<T> {
        fn apply(&self, nonce: &[u8; 16], in_out: &mut [u8]) {
            self.0.apply(nonce, in_out);
        }
    }
    impl<T: BlockCipher> BlockCipher for Only<T> {
        fn encrypt(&self, block: &mut [u8; 16]) {
            self.0.encrypt(block);
        }
        fn decrypt(&self, block: &mut [u8; 16]) {
            self.0.decrypt(block);
        }
    }
    impl<T: Hash> Hash for Only<T> {
        type Tweaked = T::Tweaked;
        fn tweak(&self, tweak: &[u8], message_len: usize) -> T::Tweaked {
            self.0.tweak(tweak, message_len)
        }
        fn hash(&self, tweaked: &T::Tweaked, message: &[u8]) -> u128 {
            self.0.hash(tweaked, message)
        }
    }
    let (stream, block) = (XChaCha::<8>::new(&[7; 32]), Aes256::new(&[8; 32]));
    let hash = PaddedPoly1305::new(&[9; 16]);
    let whole = Hbsh::from_parts(stream.clone(), block.clone(), hash.clone());
    let only = Hbsh::from_parts(Only(stream), Only(block), Only(hash));
    for sector_len in [16, 33, 512] {
        let image: Vec<u8> = (0..=250).cycle().take((2 * AT_ONCE + 1) * sector_len).collect();
        let [mut data, mut expected] = [image.clone(), image.clone()];
        only.encrypt_sectors(sector_len, 3, &mut data).unwrap();
        whole.encrypt_sectors(sector_len, 3, &mut expected).unwrap();
        assert_eq!(data, expected);
        only.decrypt_sectors(sector_len, 3, &mut data).unwrap();
        assert_eq!(data, image);
    }
}

/// Threads can share one value, and `Debug` does not print it.
#[test]
fn shared_and_not_printed() {
    fn shared<T: Send + Sync + Clone + 'static>(_: &T) {}
    let (adiantum, hpolyc) = (Adiantum::<8>::new(&[7; 32]), HPolyC::<8>::new(&[7; 32]));
    shared(&adiantum);
    shared(&hpolyc);
    assert_eq!(format!("{adiantum:?}{hpolyc:?}"), "Hbsh { .. }Hbsh { .. }");
    assert_eq!(format!("{:?}", Aes256::new(&[7; 32])), "Aes256 { .. }");
    assert_eq!(
        format!("{:?}", XChaCha::<12>::new(&[7; 32])),
        "XChaCha(Key { .. })"
    );
    assert_eq!(format!("{:?}", Nh::new(&[7; nh::KEY_LEN])), "Nh { .. }");
    let expected = adiantum.encrypt_vec(b"", &[1; 100]).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert_eq!(adiantum.encrypt_vec(b"", &[1; 100]).unwrap(), expected);
                }
            });
        }
    });
    assert_eq!(adiantum.clone().encrypt_vec(b"", &[1; 100]).unwrap(), expected);
}

fn check_with_the_twin(key: &[u8; 32], tweak: &[u8], message: &[u8], rounds: usize) {
    type Encrypt = fn(usize, &[u8], &[u8], &[u8]) -> Vec<u8>;
    let ciphers: [(&str, bool, Encrypt); 3] = [
        ("Adiantum", false, spec::adiantum::adiantum_encrypt),
        ("HPolyC", false, spec::adiantum::hpolyc_encrypt),
        ("HPolyC", true, spec::adiantum::hpolyc_go_encrypt),
    ];
    for (name, go, encrypt) in ciphers {
        let expected = encrypt(rounds, key, tweak, message);
        on_each_backend(|_| {
            let cipher = cipher(&format!("{name}-XChaCha{rounds}-AES256"), go, key);
            check(&*cipher, tweak, message, &expected);
        });
    }
}

/// With each number of bytes of the last block filled, and none.
#[test]
fn tweaks_of_any_length() {
    for n in 0..=48 {
        check_with_the_twin(&[7; 32], &counted(1, n), &[0x5a; 20], 8);
    }
}

/// More often around the boundaries of NH's pieces.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![
        6 => 16..300_usize,
        2 => 1024 + 16 - 3..1024 + 16 + 3_usize,
        1 => 2048 + 16 - 3..2048 + 16 + 3_usize,
    ];
    length.prop_flat_map(|n| vec(any::<u8>(), n))
}

proptest! {
    #![proptest_config(common::random_cases())]
    #[test]
    fn agrees_with_the_twin(
        key in any::<[u8; 32]>(),
        tweak in vec(any::<u8>(), 0..50),
        message in message(),
        rounds in prop::sample::select(vec![8, 12, 20]),
    ) {
        check_with_the_twin(&key, &tweak, &message, rounds);
    }

    #[test]
    fn parts_agree_with_the_twin(
        key in any::<[u8; 32]>(),
        nonce in any::<[u8; 24]>(),
        (counter, n) in (any::<u64>(), 0..700_usize),
        nh_key in vec(any::<u8>(), nh::KEY_LEN),
        piece in vec(prop_oneof![any::<u8>(), Just(0xff)], 1..=nh::MAX_LEN),
    ) {
        let short = nonce.first_chunk().unwrap();
        let stream = spec::chacha::xchacha(20, &key, &nonce, n);
        let one_block = spec::chacha::block(8, &key, short, counter);
        let hash = spec::nh::nh(&nh_key, &piece);
        on_each_backend(|_| {
            let mut data = vec![0; n];
            xchacha::<20>(&key, &nonce, &mut data);
            assert!(data == stream);
            let mut data = vec![0; 64];
            chacha::<8>(&key, short, counter, &mut data).unwrap();
            assert!(data == one_block);
            let nh = Nh::new(nh_key.as_slice().try_into().unwrap());
            assert_eq!(nh.hash(&piece).unwrap()[..], hash);
        });

        let mut block = *nonce.first_chunk().unwrap();
        let aes = Aes256::new(&key);
        aes.encrypt(&mut block);
        prop_assert_eq!(block, spec::aes256::encrypt(key, *nonce.first_chunk().unwrap()));
        aes.decrypt(&mut block);
        prop_assert_eq!(block, *nonce.first_chunk().unwrap());
        aes.decrypt(&mut block);
        prop_assert_eq!(block, spec::aes256::decrypt(key, *nonce.first_chunk().unwrap()));
    }
}
