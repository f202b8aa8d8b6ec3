//! What the tests share: known answers and backends.
#![allow(dead_code)] // each test binary uses a part

pub mod vectors;

use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use veriplex::hazmat::{Backend, LaneBackend, set_hardware_enabled, set_lane_backend};
use veriplex::{Error, Label, Protocol, label};

/// The known answers with this name, from the family `newplex`.
pub fn vectors(name: &str) -> Value {
    family_vectors("newplex", name)
}

/// The known answers with this name, from any family.
pub fn family_vectors(family: &str, name: &str) -> Value {
    let path = vectors::folder(family).join(name).with_extension("json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The error for a message that is not what was sealed, where sealed ones are this much longer than their plaintexts.
pub fn refusal(message: &[u8], overhead: usize) -> Error {
    if message.len() < overhead {
        Error::TooShort
    } else {
        Error::Verification
    }
}

/// Expands a seed in the known answers to the bytes it stands for.
pub fn data(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed;
    let next = || {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        x.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(len).collect()
}

/// The digest that the known answers give in place of a long output.
pub fn fingerprint(output: &[u8]) -> [u8; 32] {
    veriplex::digest::digest(veriplex::label!("veriplex.test.digest"), output).to_bytes()
}

/// The elements of an array. Panics if it is empty, since a test of no cases would pass.
pub fn cases(value: &Value) -> &[Value] {
    let cases = value.as_array().expect("an array");
    assert!(!cases.is_empty(), "no cases");
    cases
}

pub fn text<'v>(case: &'v Value, key: &str) -> &'v str {
    case[key]
        .as_str()
        .unwrap_or_else(|| panic!("no text {key} in {case}"))
}

pub fn bytes(case: &Value, key: &str) -> Vec<u8> {
    hex::decode(text(case, key)).unwrap_or_else(|e| panic!("{key}: {e}"))
}

pub fn array<const N: usize>(case: &Value, key: &str) -> [u8; N] {
    bytes(case, key)
        .try_into()
        .unwrap_or_else(|_| panic!("{key} is not {N} bytes long"))
}

pub fn number(case: &Value, key: &str) -> u64 {
    case[key]
        .as_u64()
        .unwrap_or_else(|| panic!("no number {key} in {case}"))
}

// The choice applies to the whole process, so run one test at a time.
static CHOICE: Mutex<()> = Mutex::new(());

/// Runs a test on each backend that this CPU supports, and checks that the library uses it.
pub fn on_each_backend(mut test: impl FnMut(Backend)) {
    let _guard = CHOICE.lock().unwrap_or_else(PoisonError::into_inner);
    for backend in Backend::available() {
        set_hardware_enabled(backend.name() != "portable");
        if cfg!(any(veriplex_backend = "x86_64", veriplex_backend = "aarch64"))
            && backend.name() == "portable"
        {
            continue; // compiled in for direct calls, but the library never uses it here
        }
        assert_eq!(veriplex::backend(), backend.name());
        test(backend);
    }
    set_hardware_enabled(true);
}

/// Runs a test under each way to process eight states at once, and makes sure that the library uses it.
pub fn on_each_lane_backend(mut test: impl FnMut(LaneBackend)) {
    let _guard = CHOICE.lock().unwrap_or_else(PoisonError::into_inner);
    for backend in LaneBackend::available() {
        let portable = backend.name() == LaneBackend::PORTABLE.name();
        if portable && cfg!(any(veriplex_backend = "x86_64", veriplex_backend = "aarch64")) {
            continue; // as above
        }
        set_hardware_enabled(!portable);
        set_lane_backend(Some(backend));
        assert_eq!(LaneBackend::current().name(), backend.name());
        test(backend);
    }
    set_hardware_enabled(true);
    set_lane_backend(None);
}

/// Init `domain`, Mix `key`: what the schemes' `new` begin with, for a key of any length.
pub fn keyed(domain: Label<'_>, key: &[u8]) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("key"), key);
    protocol
}

/// The same, then Mix `nonce`.
pub fn keyed_with_nonce(domain: Label<'_>, key: &[u8], nonce: &[u8]) -> Protocol {
    let mut protocol = keyed(domain, key);
    protocol.mix(label!("nonce"), nonce);
    protocol
}

/// A generator that yields recorded bytes, and panics when they run out.
pub struct Recorded(std::collections::VecDeque<u8>);

impl Recorded {
    pub fn new(bytes: impl IntoIterator<Item = u8>) -> Self {
        Self(bytes.into_iter().collect())
    }

    /// Whether every byte was consumed.
    pub fn is_used_up(&self) -> bool {
        self.0.is_empty()
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.0.pop_front().expect("recorded randomness is used up"))
    }
}

impl rand_core::TryRng for Recorded {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        Ok(u32::from_le_bytes(self.take()))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        Ok(u64::from_le_bytes(self.take()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        bytes.fill_with(|| u8::from_le_bytes(self.take()));
        Ok(())
    }
}

impl rand_core::TryCryptoRng for Recorded {}

/// The usual number of random cases.
const USUAL_CASES: u32 = 2000;

/// The number of random cases that `VERIPLEX_CASES` sets.
pub fn asked_cases() -> u32 {
    std::env::var("VERIPLEX_CASES").map_or(USUAL_CASES, |text| text.parse().expect("a number"))
}

/// Whether `VERIPLEX_CASES` is below the usual number, as on an emulated CPU. Tests then skip long messages.
pub fn fewer_cases() -> bool {
    asked_cases() < USUAL_CASES
}

/// Of the lengths around which a test of long messages tries some: 1 KiB to 4 MiB, or to 64 KiB with fewer cases.
pub fn long_exponents() -> std::ops::RangeInclusive<u32> {
    10..=if fewer_cases() { 16 } else { 22 }
}

/// For proptest: a tenth of the number that `VERIPLEX_CASES` sets (default: 2,000).
pub fn random_cases() -> proptest::prelude::ProptestConfig {
    let asked = asked_cases();
    proptest::prelude::ProptestConfig {
        failure_persistence: None,
        ..proptest::prelude::ProptestConfig::with_cases(asked.div_ceil(10))
    }
}
