//! ML-KEM-768 (FIPS 203). The algorithm is that of the crate `libcrux-ml-kem`, which is verified: see its documentation.
//!
//! It wipes nothing of what it leaves on the stack: call this in [`with_wiped_stack`](crate::base::wipe::with_wiped_stack).

use alloc::boxed::Box;

use libcrux_ml_kem::mlkem768::{self, MlKem768PrivateKey, MlKem768PublicKey};

use crate::base::timing::Timing;
use crate::base::wipe::{Secret, wipe};

/// Size in bytes of an encapsulation key.
pub(crate) const ENCAPSULATION_KEY_LEN: usize = 1184;
/// Size in bytes of a ciphertext.
pub(crate) const CIPHERTEXT_LEN: usize = 1088;
/// Size in bytes of a seed: d and z.
pub(crate) const SEED_LEN: usize = 64;
/// Size in bytes of a shared secret, and of what encapsulation takes from a generator.
pub(crate) const SECRET_LEN: usize = 32;

pub(crate) type Ciphertext = [u8; CIPHERTEXT_LEN];

/// In a box, and wiped.
pub(crate) struct DecapsulationKey(Box<MlKem768PrivateKey>);

impl Drop for DecapsulationKey {
    fn drop(&mut self) {
        wipe(&mut self.0[0..MlKem768PrivateKey::len()]);
    }
}

impl DecapsulationKey {
    /// The shared secret; for a ciphertext that nobody made for this key, one that nobody else knows.
    pub(crate) fn decapsulate(&self, ciphertext: &Ciphertext) -> Secret<[u8; SECRET_LEN]> {
        let _timing = Timing::independent();
        Secret::new(mlkem768::decapsulate(&self.0, &ciphertext.into()))
    }
}

/// The key pair of a seed.
pub(crate) fn generate(seed: &[u8; SEED_LEN]) -> (DecapsulationKey, [u8; ENCAPSULATION_KEY_LEN]) {
    let _timing = Timing::independent();
    let (private, public) = mlkem768::generate_key_pair(*seed).into_parts();
    (DecapsulationKey(Box::new(private)), public.into())
}

/// Whether an encapsulation key passes the check of FIPS 203, section 7.2.
pub(crate) fn is_valid(key: &[u8; ENCAPSULATION_KEY_LEN]) -> bool {
    mlkem768::validate_public_key(&key.into())
}

/// A shared secret, and the ciphertext that gives it to the key's owner. The key is valid.
pub(crate) fn encapsulate(
    key: &[u8; ENCAPSULATION_KEY_LEN],
    randomness: &[u8; SECRET_LEN],
) -> (Ciphertext, Secret<[u8; SECRET_LEN]>) {
    let _timing = Timing::independent();
    let (ciphertext, secret) = mlkem768::encapsulate(&MlKem768PublicKey::from(key), *randomness);
    (ciphertext.into(), Secret::new(secret))
}
