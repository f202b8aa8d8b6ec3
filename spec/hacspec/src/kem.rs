//! ML-KEM-768 (FIPS 203) as functions on encodings. The algorithm comes from the library ml-kem, which is another one than
//! that of the crate. There is no Cryptol twin.

use alloc::vec::Vec;
use ml_kem::kem::{Decapsulate, KeyExport};
use ml_kem::ml_kem_768::{DecapsulationKey, EncapsulationKey};

/// The bytes of an encapsulation key.
pub const KEY_LEN: usize = 1184;

/// The bytes of a ciphertext.
pub const CIPHERTEXT_LEN: usize = 1088;

/// The encapsulation key of a seed, d and then z.
#[cfg_attr(veriplex_hax, hax_lib::requires(seed.len() == 64))]
pub fn generate(seed: &[u8]) -> Vec<u8> {
    let key = DecapsulationKey::from_seed(seed.try_into().unwrap());
    key.encapsulation_key().to_bytes().to_vec()
}

/// The decapsulation key of a seed, as FIPS 203 writes it.
#[cfg_attr(veriplex_hax, hax_lib::requires(seed.len() == 64))]
#[allow(deprecated)]
pub fn expanded(seed: &[u8]) -> Vec<u8> {
    let key = DecapsulationKey::from_seed(seed.try_into().unwrap());
    ml_kem::ExpandedKeyEncoding::to_expanded_bytes(&key).to_vec()
}

/// Does it pass the check of FIPS 203, section 7.2?
pub fn is_key(key: &[u8]) -> bool {
    match key.try_into() {
        Ok(key) => EncapsulationKey::new(key).is_ok(),
        Err(_) => false,
    }
}

/// The ciphertext and the shared secret.
#[cfg_attr(veriplex_hax, hax_lib::requires(is_key(key) && randomness.len() == 32))]
pub fn encapsulate(key: &[u8], randomness: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let key = EncapsulationKey::new(key.try_into().unwrap()).unwrap();
    let (ciphertext, secret) = key.encapsulate_deterministic(randomness.try_into().unwrap());
    (ciphertext.to_vec(), secret.to_vec())
}

/// The shared secret.
#[cfg_attr(veriplex_hax, hax_lib::requires(seed.len() == 64 && ciphertext.len() == CIPHERTEXT_LEN))]
pub fn decapsulate(seed: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let key = DecapsulationKey::from_seed(seed.try_into().unwrap());
    key.decapsulate(ciphertext.try_into().unwrap()).to_vec()
}
