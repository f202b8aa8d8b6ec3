//! Attacks on a small permutation, which the bounds of `proofs/rocq/bound` must allow, and which come near them: so the
//! games are not empty, and no bound is far too large. States have an outer part of 16 bits and an inner part of 8.

use std::collections::HashMap;

const INNER: u32 = 256;
const STATES: u32 = INNER << 16;
const TRIALS: u32 = 20_000;
/// The values of a tag: few, so that guesses of tags outweigh those of keys.
const TAGS: u32 = 16;

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        u32::try_from((z ^ (z >> 31)) >> 32).unwrap() % n
    }
}

/// A random permutation, chosen as it is asked. The inner part is `y % INNER`.
#[derive(Default)]
struct Permutation(HashMap<u32, u32>);

impl Permutation {
    fn ask(&mut self, x: u32, random: &mut Random) -> u32 {
        if let Some(&y) = self.0.get(&x) {
            return y;
        }
        let y = loop {
            let y = random.below(STATES);
            if self.0.values().all(|&used| used != y) {
                break y;
            }
        };
        self.0.insert(x, y);
        y
    }
}

fn frequency(mut game: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random(1);
    f64::from((0..TRIALS).map(|_| u32::from(game(&mut random))).sum::<u32>()) / f64::from(TRIALS)
}

/// `states_collide`: after different first blocks two states have one inner part, or that of the start. A second block
/// makes them equal.
#[test]
fn states_collide_nearly_as_often_as_the_bound_says() {
    let calls = 9;
    let success = frequency(|random| {
        let mut permutation = Permutation::default();
        let mut inner = vec![0];
        inner.extend((1..calls).map(|block| permutation.ask(block * INNER, random) % INNER));
        inner.sort_unstable();
        inner.windows(2).any(|pair| pair[0] == pair[1])
    });
    let bound = f64::from(calls * (calls + 1) * (STATES / INNER)) / f64::from(2 * (STATES - calls));
    assert!(success <= bound, "{success} {bound}");
    assert!(success >= bound / 2.0, "{success} {bound}");
}

/// `digests_second`: other messages than a target's, whose digests have four bits.
#[test]
fn second_preimages_are_found_nearly_as_often_as_the_bound_says() {
    let (calls, digests) = (5, 16);
    let success = frequency(|random| {
        let mut permutation = Permutation::default();
        let mut digest = |block| permutation.ask(block * INNER, random) / INNER % digests;
        let target = digest(0);
        (1..calls).any(|block| digest(block) == target)
    });
    let bound = f64::from(calls * (calls + 1) * (STATES / INNER) + 2 * calls * (STATES / digests))
        / f64::from(2 * (STATES - calls));
    assert!(success <= bound, "{success} {bound}");
    assert!(success >= bound / 2.0, "{success} {bound}");
}

/// `ratchet_random`: guesses of the bits that Ratchet zeroed, each tried backward and compared with an output before it.
#[test]
fn zeroed_bits_are_guessed_nearly_as_often_as_the_bound_says() {
    let (calls, guesses) = (2, 32);
    let success = frequency(|random| {
        let mut permutation = Permutation::default();
        let before = permutation.ask(random.below(INNER) * INNER, random);
        let after = permutation.ask(before, random);
        (0..guesses).any(|guess| {
            let state = after / INNER * INNER + guess;
            let back = permutation.0.iter().find(|(_, y)| **y == state);
            back.is_some_and(|(x, _)| x / INNER == before / INNER)
        })
    });
    let bound = f64::from(calls * (2 * guesses + calls)) / f64::from(INNER);
    assert!(success <= bound, "{success} {bound}");
    assert!(success >= bound / 5.0, "{success} {bound}");
}

/// `keyed_bound`: guesses of the keys of several users, each compared with one output of each.
#[test]
fn keys_are_guessed_nearly_as_often_as_the_bound_says() {
    let (users, guesses) = (4, 8);
    let game = |real: bool| {
        frequency(|random| {
            let mut permutation = Permutation::default();
            let outputs: Vec<u32> = (0..users)
                .map(|_| {
                    let key = random.below(INNER);
                    if real {
                        permutation.ask(key * INNER, random) / INNER
                    } else {
                        random.below(STATES / INNER)
                    }
                })
                .collect();
            (0..guesses).any(|key| outputs.contains(&(permutation.ask(key * INNER, random) / INNER)))
        })
    };
    let advantage = game(true) - game(false);
    let bound = f64::from(users * (2 * guesses + users)) / f64::from(INNER);
    assert!(advantage <= bound, "{advantage} {bound}");
    assert!(advantage >= bound / 4.0, "{advantage} {bound}");
}

/// What comes out after a key and two blocks. The last one's first bits are a tag.
fn keyed(permutation: &mut Permutation, key: u32, blocks: [u32; 2], random: &mut Random) -> u32 {
    let state = permutation.ask((key ^ (blocks[0] << 8)) * INNER, random);
    permutation.ask(state ^ (blocks[1] * INNER), random) / INNER
}

/// `aead_secure` and `mac_secure`: a message that was not sealed, tried with several tags.
#[test]
fn tags_are_guessed_nearly_as_often_as_the_bound_says() {
    let tries = 4;
    let success = frequency(|random| {
        let (mut permutation, key) = (Permutation::default(), random.below(INNER));
        let tag = keyed(&mut permutation, key, [1, 2], random) % TAGS;
        (0..tries).any(|guess| guess == tag)
    });
    let calls = 2;
    let bound = f64::from(tries) / f64::from(TAGS) + f64::from(calls * calls) / f64::from(INNER);
    assert!(success <= bound, "{success} {bound}");
    assert!(success >= bound / 2.0, "{success} {bound}");
}

/// `siv_secure`: several messages with one nonce. Where two tags are equal, the key streams are.
#[test]
fn equal_tags_are_found_nearly_as_often_as_the_bound_says() {
    let messages = 4;
    let game = |real: bool| {
        frequency(|random| {
            let (mut permutation, key) = (Permutation::default(), random.below(INNER));
            let mut seen = HashMap::new();
            (1..=messages).any(|message| {
                let (tag, ciphertext) = if real {
                    let tag = keyed(&mut permutation, key, [1, message], random) % TAGS;
                    (tag, message ^ keyed(&mut permutation, key, [2, tag], random))
                } else {
                    (random.below(TAGS), random.below(STATES / INNER))
                };
                seen.insert(tag, message ^ ciphertext)
                    .is_some_and(|stream| stream == message ^ ciphertext)
            })
        })
    };
    let advantage = game(true) - game(false);
    let calls = 2 + 2 * messages;
    let bound =
        f64::from(messages * messages) / f64::from(2 * TAGS) + f64::from(calls * calls) / f64::from(INNER);
    assert!(advantage <= bound, "{advantage} {bound}");
    assert!(advantage >= bound / 4.0, "{advantage} {bound}");
}
