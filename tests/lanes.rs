//! Eight at a time is eight times one: lanes, and what is built on them, against the serial functions and the twin.

mod common;

use common::{on_each_lane_backend, refusal};
use proptest::collection::vec;
use proptest::prelude::*;
use veriplex::aead::{Aead, Message};
use veriplex::hazmat::{Backend, LANES, LaneBackend, RATE, STATE_LEN, States};
use veriplex::kdf::Kdf;
use veriplex::mac::{self, Mac, Tag};
use veriplex::{Error, Key, Label, TAG_LEN, digest, label};
use veriplex_spec as spec;

/// One case in `share` of those asked for.
fn cases(share: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(common::asked_cases().div_ceil(share))
    }
}

/// Any length, the edges of blocks more often, and now and then many blocks.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![
        30 => 0..=400_usize,
        10 => (0..8_usize, 0..=6_usize).prop_map(|(n, more)| (RATE * n + more).saturating_sub(3)),
        1 => 2_000..=5_000_usize,
    ];
    length.prop_flat_map(|n| vec(any::<u8>(), n))
}

/// Messages of any lengths, of one length, or of two.
fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let mixed = vec(data(), 0..30);
    let alike =
        (0..600_usize, 0..600_usize, 0..30_usize, 1..9_usize).prop_map(|(len, other, count, every)| {
            let of = |i: usize| if i.is_multiple_of(every) { len } else { other };
            (0..count).map(|i| common::data(i as u64, of(i))).collect()
        });
    prop_oneof![mixed, alike]
}

fn domain() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=91)
}

fn state() -> impl Strategy<Value = [u8; STATE_LEN]> {
    vec(any::<u8>(), STATE_LEN).prop_map(|state| state.try_into().unwrap())
}

proptest! {
    #![proptest_config(cases(10))]

    /// Every operation on eight states is the serial one on each.
    #[test]
    fn lane_backends_agree(
        start in prop::array::uniform8(state()),
        inputs in prop::array::uniform8(vec(vec(any::<u8>(), RATE), 0..7)),
    ) {
        type Blocks = Vec<[u8; RATE]>;
        type Together = fn(LaneBackend, &mut States, &mut [Blocks; LANES]);
        type Alone = fn(Backend, &mut [u8; STATE_LEN], &mut [[u8; RATE]]);
        /// From copies of what the first blocks of each lane hold.
        fn apart(
            blocks: &mut [Blocks; LANES],
            operation: impl FnOnce(&[&[[u8; RATE]]; LANES], &mut [&mut [[u8; RATE]]; LANES]),
        ) {
            let input = blocks.clone();
            let n = input.iter().map(Vec::len).min().unwrap();
            for blocks in &mut *blocks {
                blocks[..n].fill([9; RATE]);
            }
            operation(
                &input.each_ref().map(Vec::as_slice),
                &mut blocks.each_mut().map(Vec::as_mut_slice),
            );
        }
        let operations: [(Together, Alone); 7] = [
            (
                |backend, states, blocks| {
                    apart(blocks, |input, output| {
                        backend.encrypt_blocks_into(&mut *states, input, output);
                    });
                },
                Backend::encrypt_blocks,
            ),
            (
                |backend, states, blocks| {
                    apart(blocks, |input, output| {
                        backend.decrypt_blocks_into(&mut *states, input, output);
                    });
                },
                Backend::decrypt_blocks,
            ),
            (|backend, states, _| backend.permute(states), |backend, state, _| backend.permute(state)),
            (
                |backend, states, blocks| backend.absorb_blocks(states, &blocks.each_ref().map(Vec::as_slice)),
                |backend, state, blocks| backend.absorb_blocks(state, blocks),
            ),
            (
                |backend, states, blocks| {
                    backend.encrypt_blocks(states, &mut blocks.each_mut().map(Vec::as_mut_slice));
                },
                Backend::encrypt_blocks,
            ),
            (
                |backend, states, blocks| {
                    backend.decrypt_blocks(states, &mut blocks.each_mut().map(Vec::as_mut_slice));
                },
                Backend::decrypt_blocks,
            ),
            (
                |backend, states, blocks| {
                    backend.squeeze_blocks(states, &mut blocks.each_mut().map(Vec::as_mut_slice));
                },
                Backend::squeeze_blocks,
            ),
        ];
        let inputs: [Blocks; LANES] = inputs.map(|blocks| {
            blocks.into_iter().map(|block| block.try_into().unwrap()).collect()
        });
        let n = inputs.iter().map(Vec::len).min().unwrap();
        for (together, alone) in operations {
            let mut expected = (start, inputs.clone());
            for (state, blocks) in expected.0.iter_mut().zip(&mut expected.1) {
                alone(Backend::PORTABLE, state, &mut blocks[..n]);
            }
            for backend in LaneBackend::available() {
                let mut states = States::new();
                (0..LANES).for_each(|lane| states.set_lane(lane, &start[lane]));
                let mut blocks = inputs.clone();
                together(backend, &mut states, &mut blocks);
                let actual = (std::array::from_fn(|lane| states.lane(lane)), blocks);
                prop_assert_eq!(&actual, &expected, "{:?}", backend);
            }
        }
    }

    #[test]
    fn digests_and_tags_agree_with_each_and_with_the_twin(
        domain in domain(),
        key in any::<[u8; 32]>().prop_map(Key::from),
        messages in messages(),
    ) {
        let label = Label::new(&domain).unwrap();
        let digests: Vec<[u8; 32]> = messages.iter().map(|message| digest::digest(label, message).into()).collect();
        let tags: Vec<Tag> = messages.iter().map(|message| mac::mac(label, &key, message)).collect();
        let long: Vec<[u8; 100]> = (messages.iter())
            .map(|message| {
                let mut digest = [0; 100];
                digest::digest_into(label, message, &mut digest);
                digest
            })
            .collect();
        let keyed: Vec<Tag<33>> = (messages.iter())
            .map(|message| {
                let mut mac = Mac::new(label, &key);
                mac.update(message);
                mac.finalize_array()
            })
            .collect();
        let kdf = Kdf::extract(label, b"salt", key.as_bytes());
        let keys: Vec<Key<64>> = messages.iter().map(|message| kdf.expand(message)).collect();
        if let Some(i) = messages.len().checked_sub(1) {
            let (message, secret) = (&messages[i], key.as_bytes());
            prop_assert_eq!(&spec::digest::digest(&domain, message, 32), &digests[i]);
            prop_assert_eq!(&spec::digest::digest(&domain, message, 100), &long[i]);
            prop_assert_eq!(&spec::mac::mac(&domain, secret, message, TAG_LEN), tags[i].as_bytes());
            prop_assert_eq!(&spec::mac::mac(&domain, secret, message, 33), keyed[i].as_bytes());
            let twins = spec::kdf::kdf(&domain, b"salt", secret, message, 64);
            prop_assert_eq!(&twins, keys[i].as_bytes());
        }
        on_each_lane_backend(|backend| {
            let mut actual = vec![[0; 32]; messages.len()];
            digest::digest_many(label, &messages, &mut actual).unwrap();
            assert_eq!(actual, digests, "{backend:?}");
            let mut actual = vec![Tag::from([0; TAG_LEN]); messages.len()];
            mac::mac_many(label, &key, &messages, &mut actual).unwrap();
            assert_eq!(actual, tags, "{backend:?}");
            let mut actual = vec![[0; 100]; messages.len()];
            digest::digest_many(label, &messages, &mut actual).unwrap();
            assert_eq!(actual, long, "{backend:?}");
            let mut actual = vec![Tag::from([0; 33]); messages.len()];
            mac::mac_many(label, &key, &messages, &mut actual).unwrap();
            assert_eq!(actual, keyed, "{backend:?}");
            let mut actual = vec![Key::from([0; 64]); messages.len()];
            kdf.expand_many(&messages, &mut actual).unwrap();
            assert_eq!(actual, keys, "{backend:?}");
        });
    }

    /// Sealed at once and one by one is the same; of what is opened at once, only the messages that are wrong fail.
    #[test]
    fn aead_of_many_agrees_with_each_and_with_the_twin(
        domain in domain(),
        key in any::<[u8; 32]>().prop_map(Key::from),
        messages in messages(),
        ads in vec(data(), 30),
        changes in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..8_u32), 0..4),
    ) {
        let aead = Aead::<24>::new(Label::new(&domain).unwrap(), &key);
        let nonces: Vec<[u8; 24]> = (0..messages.len()).map(|i| [u8::try_from(i).unwrap(); 24]).collect();
        let sealed: Vec<Vec<u8>> = (messages.iter().zip(&nonces).zip(&ads))
            .map(|((message, nonce), ad)| aead.seal_vec(nonce, ad, message))
            .collect();
        if let (Some(message), Some(sealed)) = (messages.last(), sealed.last()) {
            let i = messages.len() - 1;
            prop_assert_eq!(&spec::aead::seal(&domain, key.as_bytes(), &nonces[i], &ads[i], message), sealed);
        }
        let mut damaged = sealed.clone();
        for (message, place, bit) in &changes {
            if !damaged.is_empty() {
                let message = message.get_mut(&mut damaged);
                *place.get_mut(message) ^= 1 << bit;
            }
        }
        on_each_lane_backend(|backend| {
            let mut buffers: Vec<Vec<u8>> = messages.iter().map(|m| [m.as_slice(), &[0; TAG_LEN]].concat()).collect();
            aead.seal_many(&mut to_messages(&nonces, &ads, &mut buffers)).unwrap();
            assert_eq!(buffers, sealed, "{backend:?}");

            buffers.clone_from(&damaged);
            let mut seen = vec![0; messages.len()];
            aead.open_many(&mut to_messages(&nonces, &ads, &mut buffers), |i, opened| {
                seen[i] += 1;
                if damaged[i] == sealed[i] {
                    assert_eq!(opened.as_deref(), Ok(messages[i].as_slice()), "{backend:?}");
                } else {
                    assert_eq!(opened, Err(Error::Verification), "{backend:?}");
                }
            });
            assert_eq!(seen, vec![1; messages.len()]);
            for (i, buffer) in buffers.iter().enumerate() {
                let (text, tag) = buffer.split_at(buffer.len() - TAG_LEN);
                let expected = if damaged[i] == sealed[i] { messages[i].clone() } else { vec![0; text.len()] };
                assert_eq!(text, expected, "{backend:?}");
                assert_eq!(tag, &damaged[i][text.len()..], "{backend:?}");
            }
        });
    }
}

fn to_messages<'a>(
    nonces: &'a [[u8; 24]],
    ads: &'a [Vec<u8>],
    buffers: &'a mut [Vec<u8>],
) -> Vec<Message<'a, 24>> {
    (nonces.iter().zip(ads).zip(buffers))
        .map(|((nonce, ad), in_out)| Message { nonce, ad, in_out })
        .collect()
}

/// Headers, numbers and ends of messages at every place of a block, and numbers at the edges of LEB128. Before them, long
/// associated data.
#[test]
fn every_place_in_a_block() {
    let key = Key::from([7; 32]);
    let aead = Aead::<24>::new(label!("places"), &key);
    let places = (0..2 * RATE + 2).map(|place| (place, 3 * place));
    let edges = [127, 128, 129, (1 << 14) - 1, 1 << 14, (1 << 14) + 1].map(|len| (5, len));
    // More than eight in a row that are not put together, because they absorb too many blocks first.
    let long = (0..10).map(|i| (300 + i, 20));
    let (ads, messages): (Vec<Vec<u8>>, Vec<Vec<u8>>) = long
        .chain(places)
        .chain(edges)
        .map(|(ad, message)| (common::data(1, ad), common::data(2, message)))
        .unzip();
    let nonces: Vec<[u8; 24]> = (0..messages.len())
        .map(|i| [u8::try_from(i).unwrap(); 24])
        .collect();
    let sealed: Vec<Vec<u8>> = (messages.iter().zip(&nonces).zip(&ads))
        .map(|((message, nonce), ad)| aead.seal_vec(nonce, ad, message))
        .collect();
    let digests: Vec<[u8; 32]> = messages
        .iter()
        .map(|message| digest::digest(label!("places"), message).into())
        .collect();
    on_each_lane_backend(|backend| {
        let mut buffers: Vec<Vec<u8>> = messages
            .iter()
            .map(|m| [m.as_slice(), &[0; TAG_LEN]].concat())
            .collect();
        aead.seal_many(&mut to_messages(&nonces, &ads, &mut buffers))
            .unwrap();
        assert!(buffers == sealed, "{backend:?}");
        let mut opened = vec![false; messages.len()];
        aead.open_many(&mut to_messages(&nonces, &ads, &mut buffers), |i, message| {
            opened[i] = message.as_deref() == Ok(messages[i].as_slice());
        });
        assert!(opened.iter().all(|&opened| opened), "{backend:?}");
        let mut actual = vec![[0; 32]; messages.len()];
        digest::digest_many(label!("places"), &messages, &mut actual).unwrap();
        assert_eq!(actual, digests, "{backend:?}");
    });
}

/// Every one that this CPU can run, in this order, each time that they are asked for.
#[test]
fn lane_backends_are_those_of_the_cpu() {
    #[cfg(all(veriplex_kernels, target_arch = "x86_64"))]
    let hardware = {
        let serial = is_x86_feature_detected!("aes") && is_x86_feature_detected!("avx");
        let vaes = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("vaes");
        let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        let ifma = is_x86_feature_detected!("avx512ifma");
        [
            (vaes && avx512 && ifma).then_some("x86-64-avx512"),
            vaes.then_some("x86-64-vaes"),
            serial.then_some("x86-64"),
            serial.then_some("x86-64 serial"),
        ]
    };
    #[cfg(all(veriplex_kernels, target_arch = "aarch64"))]
    let hardware = ["armv8", "armv8 serial"].map(|name| Backend::hardware().and(Some(name)));
    #[cfg(not(veriplex_kernels))]
    let hardware = {
        let name = if cfg!(target_arch = "x86_64") {
            "x86-64 serial"
        } else {
            "armv8 serial"
        };
        [Backend::hardware().and(Some(name))]
    };
    for _ in 0..3 {
        let names = ["portable serial"]
            .into_iter()
            .chain(hardware.into_iter().flatten());
        assert!(LaneBackend::available().map(LaneBackend::name).eq(names));
    }
}

/// As many places as messages, and room for each tag: otherwise nothing is done.
#[test]
fn wrong_lengths_are_errors() {
    let messages = [[1; 10]; 3];
    let mut digests = [[7; 32]; 2];
    assert_eq!(
        digest::digest_many(label!("test"), &messages, &mut digests),
        Err(Error::BufferLength)
    );
    assert_eq!(digests, [[7; 32]; 2]);
    let mut tags = [Tag::from([7; 16]); 4];
    assert_eq!(
        mac::mac_many(label!("test"), &Key::from([7; 32]), &messages, &mut tags),
        Err(Error::BufferLength)
    );
    assert_eq!(tags, [Tag::from([7; 16]); 4]);
    let mut keys = [5; 2].map(|byte| Key::from([byte; 32]));
    let kdf = Kdf::extract(label!("test"), b"", &[7; 32]);
    assert_eq!(kdf.expand_many(&messages, &mut keys), Err(Error::BufferLength));
    assert_eq!(keys.map(|key| *key.as_bytes()), [[5; 32]; 2]);

    let aead = Aead::<24>::new(label!("test"), &Key::from([7; 32]));
    let (nonces, ads) = ([[0; 24]; 3], [const { Vec::new() }; 3]);
    let mut buffers = [vec![5; 40], vec![5; 15], vec![5; 20]];
    let before = buffers.clone();
    let result = aead.seal_many(&mut to_messages(&nonces, &ads, &mut buffers));
    assert_eq!((result, &buffers), (Err(Error::BufferLength), &before));
    let mut errors = [0; 3];
    aead.open_many(&mut to_messages(&nonces, &ads, &mut buffers), |i, opened| {
        assert_eq!(opened, Err(refusal(&before[i], 16)));
        errors[i] += 1;
    });
    assert_eq!(errors, [1; 3]);
}

/// The memory of a value after it was dropped.
fn dropped<T>(value: T) -> Vec<u8> {
    let mut value = std::mem::ManuallyDrop::new(value);
    // SAFETY: dropped once; the memory is still there, and initialised where the value has no padding.
    unsafe {
        std::mem::ManuallyDrop::drop(&mut value);
        std::slice::from_raw_parts((&raw const value).cast(), size_of::<T>()).to_vec()
    }
}

#[test]
fn lanes_are_wiped() {
    let mut states = States::default();
    (0..LANES).for_each(|lane| states.set_lane(lane, &[0xab; STATE_LEN]));
    assert!(dropped(states.clone()).iter().all(|&byte| byte == 0));
    states.clear();
    (0..LANES).for_each(|lane| assert_eq!(states.lane(lane), [0; STATE_LEN]));
}

#[test]
fn debug_shows_no_state() {
    assert_eq!(format!("{:?}", States::new()), "States { .. }");
    assert_eq!(
        format!("{:?}", LaneBackend::PORTABLE),
        "LaneBackend(portable serial)"
    );
    assert_eq!(format!("{:?}", Backend::PORTABLE), "Backend(portable)");
}

/// A caller's function that panics at one message, in any place, leaves no plaintext of those that it was not given: of
/// messages of one shape, of others, and of both, longer than a block and shorter.
#[test]
fn what_a_panic_leaves_behind() {
    let aead = Aead::<24>::new(label!("panic"), &Key::from([7; 32]));
    let shapes: [&dyn Fn(usize) -> usize; 4] = [&|_| 300, &|_| 20, &|i| 37 * (i % 7), &|i| [3000, 90][i % 2]];
    for len_of in shapes {
        let plaintexts: Vec<Vec<u8>> = (0..19).map(|i| vec![0xa5; len_of(i).max(1)]).collect();
        let nonces: Vec<[u8; 24]> = (0..19).map(|i| [i; 24]).collect();
        let ads = vec![Vec::new(); plaintexts.len()];
        let sealed: Vec<Vec<u8>> = (plaintexts.iter().zip(&nonces))
            .map(|(plaintext, nonce)| aead.seal_vec(nonce, b"", plaintext))
            .collect();
        on_each_lane_backend(|backend| {
            for bad in 0..sealed.len() {
                let mut buffers = sealed.clone();
                buffers[bad][0] ^= 1;
                let mut given = vec![false; sealed.len()];
                let open = std::panic::AssertUnwindSafe(|| {
                    aead.open_many(&mut to_messages(&nonces, &ads, &mut buffers), |i, opened| {
                        given[i] = true;
                        if opened.is_err() {
                            std::panic::resume_unwind(Box::new(()));
                        }
                    });
                });
                std::panic::catch_unwind(open).unwrap_err();
                for (i, (buffer, given)) in buffers.iter().zip(&given).enumerate() {
                    let text = &buffer[..buffer.len() - TAG_LEN];
                    let is_open = text.len() > 3 && text.windows(4).any(|four| four == [0xa5; 4]);
                    assert!(*given && i != bad || !is_open, "{backend:?}, {bad}, {i}");
                }
            }
        });
    }
}
