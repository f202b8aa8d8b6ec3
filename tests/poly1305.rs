//! Poly1305: known answers, the twin of the specification, every backend, every split.

mod common;

use common::{array, bytes, cases, family_vectors, text};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;
use veriplex::hazmat::poly1305::{Backend, State};
use veriplex::poly1305::{self, Poly1305};
use veriplex::{Error, Key};
use veriplex_spec::poly1305 as spec;

/// Expands a seed by the rule that the known answers use.
fn by_rule(seed: u64, n: usize) -> Vec<u8> {
    let mut x = seed;
    let mut next = || {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        x.to_be_bytes()[0]
    };
    (0..n).map(|_| next()).collect()
}

fn message(case: &Value) -> Vec<u8> {
    match case["message_seed"].as_u64() {
        Some(seed) => by_rule(
            seed,
            usize::try_from(common::number(case, "message_len")).unwrap(),
        ),
        None => bytes(case, "message"),
    }
}

/// Computes the tag in every way that a backend offers.
fn check_backend(backend: Backend, key: &[u8; 32], message: &[u8], tag: [u8; 16]) {
    assert_eq!(backend.auth(key, message), tag, "{backend:?}");
    let (blocks, rest) = message.split_at(message.len() / 16 * 16);
    for hint in [0, 1, message.len(), usize::MAX] {
        for at_once in [1, 2, 3, 5, blocks.len() / 16 + 1] {
            let mut state = backend.start(key, hint);
            for piece in blocks.chunks(at_once * 16) {
                state.blocks(piece).unwrap();
                state.blocks(&[]).unwrap();
            }
            assert_eq!(state.finish(rest), Ok(tag), "{backend:?} {at_once}");
        }
    }
}

fn in_pieces(mut poly: Poly1305, message: &[u8], size: usize) -> [u8; 16] {
    for piece in message.chunks(size) {
        poly.update(piece);
        poly.update(&[]);
    }
    poly.finalize()
}

#[test]
fn known_answers() {
    let file = family_vectors("poly1305", "poly1305");
    let mut wrong = 0;
    for case in cases(&file) {
        let (key, message, tag) = (array(case, "key"), message(case), bytes(case, "tag"));
        if case["valid"] == false {
            assert_eq!(poly1305::verify(key, &message, &tag), Err(Error::Verification));
            wrong += 1;
            continue;
        }
        let tag: [u8; 16] = tag.try_into().unwrap();
        assert_eq!(poly1305::auth(key, &message), tag, "{}", text(case, "name"));
        assert_eq!(poly1305::verify(key, &message, &tag), Ok(()));
        for size in [1, 15, 16, 17, 63, 64, 65, usize::MAX] {
            assert_eq!(in_pieces(Poly1305::new(key), &message, size), tag);
        }
        for backend in Backend::available() {
            check_backend(backend, &key, &message, tag);
        }
    }
    assert_eq!(wrong, 13);
}

/// The other checksum in the self-test of poly1305-opt, from its first release. It covers, for each n up to 255, a
/// message of n bytes n.
#[test]
fn the_total_of_the_first_release() {
    let total = |s_is_n: bool| {
        let tags: Vec<u8> = (0..=255_u8)
            .flat_map(|n| {
                let mut key = [n; 32];
                if !s_is_n {
                    key[16..].fill(0xff);
                }
                poly1305::auth(key, &vec![n; n.into()])
            })
            .collect();
        let mut key = [0xff; 32];
        key[..14].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9]);
        key[28..].fill(0);
        hex::encode(poly1305::auth(key, &tags))
    };
    assert_eq!(total(true), "64afe2e8d6ad7bbdd287f97c44623d39");
    assert_eq!(total(false), "c69dc3b975ee5f6b289957944127d75e");
}

#[test]
fn each_backend_of_this_cpu_is_available() {
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    let kernels = {
        let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        let others = is_x86_feature_detected!("avx512ifma") && is_x86_feature_detected!("vaes");
        let avx2 = is_x86_feature_detected!("avx2").then_some("x86-64-avx2");
        [(avx512 && others).then_some("x86-64-avx512"), avx2]
    };
    #[cfg(all(veriplex_kernels, target_arch = "aarch64"))]
    let kernels = [cfg!(target_feature = "neon").then_some("armv8")];
    #[cfg(not(veriplex_kernels))]
    let kernels = [None];
    let expected = kernels.into_iter().flatten().chain(["portable64", "portable32"]);
    assert!(Backend::available().map(Backend::name).eq(expected));
    let best = Backend::available().next().map(Backend::name);
    assert_eq!(best, Some(Backend::current().name()));
}

/// One message in every way: each split in two, hints with the usual mistakes, unaligned.
#[test]
fn every_cut_and_every_hint() {
    let (key, data) = (by_rule(3, 32), by_rule(4, 300));
    let key: [u8; 32] = key.try_into().unwrap();
    for n in 0..=290 {
        for offset in 0..=9 {
            let message = &data[offset..offset + n];
            assert_eq!(poly1305::auth(key, message), spec::poly1305(&key, message));
        }
        let message = &data[..n];
        let tag = spec::poly1305(&key, message);
        for hint in [0, 1, n.saturating_sub(1), n, n + 1, n + 1000, usize::MAX] {
            let poly = Poly1305::with_bytes_hint(key, hint);
            assert_eq!(in_pieces(poly, message, 7), tag);
        }
    }
    for n in [1, 16, 33, 64, 130] {
        let message = &data[..n];
        let tag = spec::poly1305(&key, message);
        for (i, j) in (0..=n).flat_map(|i| (i..=n).map(move |j| (i, j))) {
            let mut poly = Poly1305::new(key);
            poly.update(&message[..i]);
            poly.update(&message[i..j]);
            poly.update(&message[j..]);
            assert_eq!(poly.finalize(), tag);
        }
    }
}

/// Every bit of r and of the message is set, which gives the largest limbs. Overflow checks are on in this build.
#[test]
fn all_ones() {
    for n in [15, 16, 17, 31, 32, 64, 320, 8192, 8193, 100_000] {
        for key in [[0xff; 32], std::array::from_fn(|i| if i < 16 { 0xff } else { 0 })] {
            let message = vec![0xff; n];
            let tag = spec::poly1305(&key, &message);
            for backend in Backend::available() {
                check_backend(backend, &key, &message, tag);
            }
        }
    }
}

/// With r = 1 the result is the sum of the blocks. Tests sums near p, 2^130 and the limb boundaries.
#[test]
fn sums_around_edges() {
    let mut key = [0; 32];
    key[0] = 1;
    // Each block adds 2^128 as its padding bit, so these values bring the sum near 2^130.
    let blocks = |values: &[u128]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    let mut sums = 0;
    let edges = [26, 32, 44, 52, 64, 78, 88, 104, 127].map(|bits| 1_u128 << bits);
    for edge in edges.into_iter().chain([0]) {
        for near in (0..=8).flat_map(|d| [edge.wrapping_add(d), edge.wrapping_sub(d), d.wrapping_sub(edge)]) {
            for other in [0, 1, near, edge, edge.wrapping_sub(1), u128::MAX, u128::MAX - 5] {
                let message = blocks(&[u128::MAX, near, other, u128::MAX]);
                for n in [32, 48, 64] {
                    let tag = spec::poly1305(&key, &message[..n]);
                    for backend in Backend::available() {
                        assert_eq!(backend.auth(&key, &message[..n]), tag, "{backend:?}");
                    }
                }
                sums += 1;
            }
        }
    }
    assert_eq!(sums, 10 * 27 * 7);
    // Every sum from p - 6 to p + 9: three padding bits of 2^128, and the rest.
    for above in 0..16 {
        let message = blocks(&[u128::MAX - 10, above, 0]);
        let tag = spec::poly1305(&key, &message);
        let expected = if above < 6 {
            u128::MAX - 10 + above
        } else {
            above - 6
        };
        assert_eq!(u128::from_le_bytes(tag), expected);
        for backend in Backend::available() {
            assert_eq!(backend.auth(&key, &message), tag, "{backend:?} {above}");
        }
    }
}

/// The same sums after enough blocks for kernels: the 2^128 of 128 blocks are 160 modulo p, and four blocks have the rest,
/// all in one lane or one in each, for groups of four, eight and sixteen.
#[test]
fn sums_around_p_in_lanes() {
    let mut key = [0; 32];
    key[0] = 1;
    for above in 0..16 {
        for places in [
            [0, 1, 2, 3],
            [0, 4, 8, 12],
            [0, 8, 16, 24],
            [0, 16, 32, 48],
            [124, 125, 126, 127],
            [3, 7, 11, 127],
            [1, 70, 80, 127],
        ] {
            for more in 0..6 {
                let mut blocks = vec![0_u128; 128];
                for place in places {
                    blocks[place] = u128::MAX;
                }
                blocks[places[3]] -= 167 - above;
                // Four blocks more add 2^130, which is 5 modulo p: take that away again.
                blocks.extend([0; 4].repeat(more));
                blocks[places[2]] -= 5 * more as u128;
                let message: Vec<u8> = blocks.iter().flat_map(|block| block.to_le_bytes()).collect();
                // Sums from p - 6 on.
                let expected = if above < 6 {
                    u128::MAX - 10 + above
                } else {
                    above - 6
                };
                assert_eq!(u128::from_le_bytes(spec::poly1305(&key, &message)), expected);
                for backend in Backend::available() {
                    let tag = u128::from_le_bytes(backend.auth(&key, &message));
                    assert_eq!(tag, expected, "{backend:?} {above} {places:?}");
                }
            }
        }
    }
}

/// A clamped bit changes nothing. Every other bit changes the tag.
#[test]
fn the_clamp() {
    let key: [u8; 32] = by_rule(9, 32).try_into().unwrap();
    let message = by_rule(10, 100);
    let clear = 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff_u128;
    let mut cleared = 0;
    for bit in 0..128 {
        let mut other = key;
        other[bit / 8] ^= 1 << (bit % 8);
        for backend in Backend::available() {
            let same = backend.auth(&other, &message) == backend.auth(&key, &message);
            assert_eq!(same, clear >> bit & 1 == 0, "{backend:?} {bit}");
        }
        cleared += usize::from(clear >> bit & 1 == 0);
    }
    assert_eq!(cleared, 22);
}

#[test]
fn bad_input() {
    let (key, message) = ([7; 32], [0x5a; 100]);
    let tag = poly1305::auth(key, &message);
    for n in (0..40).filter(|n| *n != 16) {
        let received: Vec<u8> = tag.iter().copied().cycle().take(n).collect();
        assert_eq!(
            poly1305::verify(key, &message, &received),
            Err(Error::Verification)
        );
    }
    for bit in 0..128 {
        let mut received = tag;
        received[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(
            poly1305::verify(key, &message, &received),
            Err(Error::Verification)
        );
        let mut poly = Poly1305::new(Key::from(key));
        poly.update(&message);
        assert_eq!(poly.verify(&received), Err(Error::Verification));
    }
    let mut poly = Poly1305::new(Key::from(key));
    poly.update(&message);
    assert_eq!(poly.verify(&tag), Ok(()));

    for backend in Backend::available() {
        let start = || -> State {
            let mut state = backend.start(&key, 0);
            state.blocks(&message[..96]).unwrap();
            state
        };
        for bad in (1..48_usize).filter(|bad| !bad.is_multiple_of(16)) {
            let mut state = start();
            assert_eq!(state.blocks(&[1; 100][..bad]), Err(Error::BufferLength));
            assert_eq!(state.finish(&message[96..]), Ok(tag), "the state changed");
        }
        for bad in 16..48 {
            assert_eq!(start().finish(&[1; 100][..bad]), Err(Error::BufferLength));
        }
        assert_eq!(start().clone().finish(&message[96..]), Ok(tag));
    }
}

#[test]
fn debug_shows_no_state() {
    assert_eq!(format!("{:?}", Poly1305::new([7; 32])), "Poly1305 { .. }");
    let state = Backend::PORTABLE_64.start(&[7; 32], 0);
    assert_eq!(format!("{state:?}"), "State { .. }");
}

/// Writing through `std::io::Write` gives the same tag.
#[test]
fn write() {
    let message = by_rule(11, 1000);
    let mut poly = Poly1305::new([7; 32]);
    std::io::copy(&mut message.as_slice(), &mut poly).unwrap();
    std::io::Write::flush(&mut poly).unwrap();
    assert_eq!(poly.finalize(), spec::poly1305(&[7; 32], &message));
}

#[cfg(feature = "rustcrypto")]
#[test]
fn universal_hash_trait() {
    use universal_hash::{KeyInit, UniversalHash};
    use veriplex::rustcrypto::universal_hash::Poly1305;

    let key: [u8; 32] = by_rule(12, 32).try_into().unwrap();
    let message = by_rule(13, 100);
    let tag = |n: usize| spec::poly1305(&key, &message[..n]);
    let (blocks, rest) = universal_hash::array::Array::slice_as_chunks(&message);

    let mut poly = Poly1305::new(&key.into());
    poly.update(&blocks[..2]);
    poly.update(&blocks[2..]);
    assert_eq!(poly.clone().finalize()[..], tag(96));
    assert!(poly.clone().verify(&tag(96).into()).is_ok());
    assert!(poly.clone().verify(&tag(97).into()).is_err());
    assert_eq!(poly.compute_unpadded(rest)[..], tag(100));

    // Padding fills up the last block with zeros.
    let mut poly = Poly1305::new(&key.into());
    poly.update_padded(&message);
    let mut padded = message.clone();
    padded.resize(112, 0);
    assert_eq!(poly.finalize()[..], spec::poly1305(&key, &padded));
}

/// Random bytes, some of them in runs, so that limbs of all zeros and all ones occur.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![2 => any::<u8>(), 1 => Just(0xff), 1 => Just(0)];
    prop_oneof![
        2 => vec(byte, 0..=400_usize),
        1 => vec((prop_oneof![Just(0), Just(0xff), any::<u8>()], 1..40_usize), 0..20)
            .prop_map(|runs| runs.into_iter().flat_map(|(byte, n)| vec![byte; n]).collect()),
    ]
}

/// A key with only a few bits of r set, or any key.
fn key() -> impl Strategy<Value = [u8; 32]> {
    let few = |bits: Vec<usize>| {
        let mut key = [0; 32];
        for bit in bits {
            key[bit / 8] |= 1 << (bit % 8);
        }
        key
    };
    prop_oneof![
        any::<[u8; 32]>(),
        vec(0..256_usize, 0..5).prop_map(few),
        Just([0xff; 32])
    ]
}

proptest! {
    #![proptest_config(common::random_cases())]
    #[test]
    fn agrees_with_the_twin(key in key(), message in data(), cuts in vec(0..70_usize, 0..12), hint in 0..500_usize) {
        let tag = spec::poly1305(&key, &message);
        let mut poly = Poly1305::with_bytes_hint(key, hint);
        let mut rest = message.as_slice();
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            poly.update(piece);
            rest = after;
        }
        poly.update(rest);
        prop_assert_eq!(poly.finalize(), tag);
        for backend in Backend::available() {
            check_backend(backend, &key, &message, tag);
        }
    }
}
