//! Against the twin of the specification, on random input. `VERIPLEX_CASES` sets the number of sequences (default:
//! 2,000). The other tests run a fraction of it.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use veriplex::hazmat::xoodoo;
use veriplex::xoofff::{DomainBits, Offset, Sane, Sanse, Wbc, WbcAe, Xoofff};
use veriplex_spec::{self as spec, protocol::Opened};

use crate::KEY;

/// The first message of a session: ciphertext and tag.
pub fn sane(ad: &[u8], message: &[u8]) -> Vec<u8> {
    let (_, ciphertext, tag) = spec::xoofff_sane::seal(spec::xoofff_sane::start(&KEY, b"nonce"), ad, message);
    [ciphertext, tag].concat()
}

pub fn sanse(ad: &[u8], message: &[u8]) -> Vec<u8> {
    let (_, ciphertext, tag) = spec::xoofff_sanse::seal(spec::xoofff_sanse::start(&KEY), ad, message);
    [ciphertext, tag].concat()
}

pub fn wbc_ae(ad: &[u8], message: &[u8]) -> Vec<u8> {
    spec::xoofff_wbc::seal(&KEY, ad, message)
}

/// The configured number of cases, divided by `share`.
fn cases(share: u32) -> ProptestConfig {
    let asked = crate::common::asked_cases();
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(asked.div_ceil(share))
    }
}

/// Mostly short, more often near the edges of blocks and of batches, and now and then long.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let length = prop_oneof![
        60 => 0..=150_usize,
        40 => (0..=40_usize, 0..=2_usize).prop_map(|(blocks, more)| (48 * blocks + more).saturating_sub(1)),
        1 => Just(20_000_usize),
    ];
    length.prop_flat_map(|n| vec(any::<u8>(), n))
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..=47)
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![3 => 0..=150_usize, 1 => 0..=2500_usize]
}

/// Splits `data` at the cuts.
fn pieces<'d>(data: &'d [u8], cuts: &[Index]) -> Vec<&'d [u8]> {
    let mut rest = data;
    let mut pieces: Vec<&[u8]> = Vec::new();
    for cut in cuts {
        let (piece, after) = rest.split_at(cut.index(rest.len() + 1));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// A string with its cuts and domain bits; an offset, an output length and its cuts; and whether the sequence continues
/// from a branch.
type Step = ((Vec<u8>, Vec<Index>, u8, u8), (usize, usize, Vec<Index>), bool);

fn step() -> impl Strategy<Value = Step> {
    (
        (data(), vec(any::<Index>(), 0..4), any::<u8>(), 0..=7_u8),
        (0..=48_usize, length(), vec(any::<Index>(), 0..4)),
        any::<bool>(),
    )
}

proptest! {
    #![proptest_config(cases(1))]
    #[test]
    fn permutation(state in vec(any::<u8>(), 48)) {
        let state: [u8; 48] = state.try_into().unwrap();
        let (mut six, mut twelve) = (state, state);
        xoodoo::<6>(&mut six);
        xoodoo::<12>(&mut twelve);
        prop_assert_eq!(six, spec::xoodoo::permute(6, state));
        prop_assert_eq!(twelve, spec::xoodoo::permute(12, state));
    }

    #[test]
    fn sequences(key in key(), steps in vec(step(), 1..5)) {
        let mut deck = spec::xoofff::start(&key);
        let mut strings = Xoofff::new(&key).unwrap();
        for ((string, cuts, domain, w), (offset, n, output_cuts), branch) in &steps {
            deck = spec::xoofff::append(deck, string, *domain, *w);
            for piece in pieces(string, cuts) {
                strings.absorb(piece);
            }
            let other = strings.clone();
            let bits = DomainBits::new(*domain, u32::from(*w)).unwrap();
            let mut output = strings.finalize(bits, Offset::new(*offset).unwrap());
            let mut out = vec![0xa5; *n];
            let mut rest = out.as_mut_slice();
            for cut in output_cuts {
                let (piece, after) = rest.split_at_mut(cut.index(rest.len() + 1));
                output.squeeze(piece);
                rest = after;
            }
            output.squeeze(rest);
            prop_assert_eq!(out, spec::xoofff::output(deck, *offset, *n));
            strings = if *branch {
                other.finalize(bits, Offset::ZERO).restart()
            } else {
                output.restart()
            };
        }
    }
}

/// Changes a message in transit.
fn forge(ciphertext: &mut Vec<u8>, tag: &mut [u8], place: Index, how: u8) {
    let n = ciphertext.len();
    match how {
        8 if n > 0 => ciphertext.truncate(place.index(n)),
        9 => ciphertext.push(0),
        how => {
            let place = place.index(n + tag.len());
            let byte = if place < n {
                &mut ciphertext[place]
            } else {
                &mut tag[place - n]
            };
            *byte ^= 1 << (how % 8);
        }
    }
}

type Message = (Vec<u8>, Vec<u8>, Option<(Index, u8)>);

fn message() -> impl Strategy<Value = Message> {
    let ad = prop_oneof![1 => Just(Vec::new()), 3 => data()];
    (ad, data(), prop::option::of((any::<Index>(), 0..10_u8)))
}

/// A session in which, for some messages, a forgery arrives before the genuine one.
macro_rules! session {
    ($mode:ident, $messages:ident, $session:expr, $twin:expr) => {{
        use spec::$mode::{open, seal};
        let (mut sender, mut receiver, mut twin) = ($session, $session, $twin);
        for (ad, message, forgery) in &$messages {
            let (after, ciphertext, tag) = seal(twin, ad, message);
            let mut in_out = message.clone();
            prop_assert_eq!(&sender.seal_in_place_detached(ad, &mut in_out)[..], &tag);
            prop_assert_eq!(&in_out, &ciphertext);
            if let Some((place, how)) = forgery {
                let (mut forged, mut tag) = (ciphertext.clone(), tag.clone());
                forge(&mut forged, &mut tag, *place, *how);
                let (unchanged, opened) = open(twin, ad, &forged, &tag);
                prop_assert_eq!((unchanged, opened.ok), (twin, false));
                let tag = tag.try_into().unwrap();
                prop_assert!(receiver.open_in_place_detached(ad, &mut forged, &tag).is_err());
                prop_assert_eq!(forged, opened.plaintext);
            }
            let plaintext = message.clone();
            prop_assert_eq!(
                open(twin, ad, &ciphertext, &tag),
                (after, Opened { ok: true, plaintext })
            );
            let tag = tag.try_into().unwrap();
            prop_assert!(receiver.open_in_place_detached(ad, &mut in_out, &tag).is_ok());
            prop_assert_eq!(&in_out, message);
            twin = after;
        }
    }};
}

proptest! {
    #![proptest_config(cases(2))]
    #[test]
    fn sane_sessions(key in key(), nonce in data(), messages in vec(message(), 1..5)) {
        session!(xoofff_sane, messages, Sane::new(&key, &nonce).unwrap(), spec::xoofff_sane::start(&key, &nonce));
    }

    #[test]
    fn sanse_sessions(key in key(), messages in vec(message(), 1..5)) {
        session!(xoofff_sanse, messages, Sanse::new(&key).unwrap(), spec::xoofff_sanse::start(&key));
    }

    #[test]
    fn wide_block_ciphers(key in key(), tweak in data(), message in data(), place in any::<Index>(), how in 0..10_u8) {
        let enciphered = spec::xoofff_wbc::encipher(&key, &tweak, &message);
        let deciphered = spec::xoofff_wbc::decipher(&key, &tweak, &message);
        let cipher = Wbc::new(&key).unwrap();
        let mut in_out = message.clone();
        cipher.encipher(&tweak, &mut in_out);
        prop_assert_eq!(&in_out, &enciphered);
        cipher.decipher(&tweak, &mut in_out);
        prop_assert_eq!(&in_out, &message);
        cipher.decipher(&tweak, &mut in_out);
        prop_assert_eq!(in_out, deciphered);

        let cipher = WbcAe::new(&key).unwrap();
        let mut sealed = cipher.seal_vec(&tweak, &message);
        prop_assert_eq!(&sealed, &spec::xoofff_wbc::seal(&key, &tweak, &message));
        let opened = cipher.open_vec(&tweak, &sealed);
        prop_assert_eq!(opened.as_ref(), Ok(&message));
        let opened = spec::xoofff_wbc::open(&key, &tweak, &sealed);
        prop_assert_eq!(opened, Opened { ok: true, plaintext: message });
        forge(&mut sealed, &mut [], place, how);
        prop_assert!(!spec::xoofff_wbc::open(&key, &tweak, &sealed).ok);
        prop_assert!(cipher.open_vec(&tweak, &sealed).is_err());
    }
}

/// Lengths around powers of two.
#[test]
fn long_strings_and_outputs() {
    for exponent in crate::common::long_exponents() {
        for n in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
            let string = crate::data(n);
            let mut strings = Xoofff::new(&KEY).unwrap();
            strings.absorb(&string);
            let mut output = strings.finalize(DomainBits::NONE, Offset::ZERO);
            let deck = spec::xoofff::append(spec::xoofff::start(&KEY), &string, 0, 0);
            assert!(output.squeeze_vec(n) == spec::xoofff::output(deck, 0, n), "{n}");
        }
    }
}
