//! Keys that are safe if either Ristretto255 (RFC 9496) or ML-KEM-768 (FIPS 203) is, and encryption to them.
//!
//! A key has two halves, one for each. [`tunnel`](crate::tunnel) and [`seal`] use both side by side: an attacker has to
//! break both, with a large quantum computer, say, and with an attack on ML-KEM. ML-KEM comes from the crate
//! `libcrux-ml-kem`.
//!
//! A private key is 96 bytes: the scalar (32), and the seed d and z from which ML-KEM generates its keys (64). A public
//! key is 1216 bytes: the element (32) and the encapsulation key (1184). In PEM (RFC 7468, with its strict grammar) they
//! are base64 between `-----BEGIN VERIPLEX HYBRID PRIVATE KEY-----` and `-----END VERIPLEX HYBRID PRIVATE KEY-----` (or
//! `PUBLIC`). Each encoding accepts exactly the form that it writes. As public keys are long, people compare
//! [fingerprints](Fingerprint). `parse` reads hexadecimal digits, not PEM.
//!
//! ```
//! use veriplex::hybrid::{Fingerprint, PrivateKey, PublicKey};
//!
//! let private = PrivateKey::generate(&mut veriplex::os_rng())?;
//! let public = PublicKey::from_pem(&private.public_key().to_pem())?;
//! assert_eq!(&public, private.public_key());
//! let told_on_the_phone: Fingerprint = public.fingerprint().to_string().parse()?;
//! assert_eq!(public.fingerprint(), told_on_the_phone);
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! # Encryption
//!
//! [`seal`] encrypts to a public key, as [`hpke`](crate::hpke) does: only the receiver can read the message, and only
//! sender or receiver can have made it. The difference is what an attacker must break:
//!
//! - Confidentiality holds if either half does. Whoever gets the receiver's private key reads all earlier messages.
//! - **That the message comes from the sender rests on Ristretto255 alone:** a large quantum computer can forge
//!   messages, though not read them. ML-KEM offers nothing comparable for one-way messages.
//! - Messages can be repeated and reordered without notice.
//!
//! ```
//! use veriplex::{hybrid::{self, PrivateKey}, label, os_rng};
//!
//! let domain = label!("com.example.mail");
//! let (alice, bob) = (PrivateKey::generate(&mut os_rng())?, PrivateKey::generate(&mut os_rng())?);
//! let sealed = hybrid::seal(domain, &alice, bob.public_key(), &mut os_rng(), b"message")?;
//! assert_eq!(sealed.len(), 7 + hybrid::OVERHEAD);
//! assert_eq!(hybrid::open(domain, &bob, alice.public_key(), &sealed)?, b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! # Stack
//!
//! Operations on a private key, those of [`tunnel`](crate::tunnel) included, take up to 96 KiB of stack in a release
//! build: 64 KiB of it are [wiped](crate::with_wiped_stack) afterwards. Without optimisation `libcrux-ml-kem` alone
//! takes 600 KiB, in frames that no caller can move to the heap. Then give threads 640 KiB, or optimise that crate, so
//! that 128 KiB are enough:
//!
//! ```toml
//! [profile.dev.package]
//! libcrux-ml-kem = { opt-level = 1 }
//! ```

mod envelope;
pub(crate) mod kem;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::str::FromStr;

pub use envelope::{ENCAPSULATION_LEN, OVERHEAD, open, seal, setup_receiver, setup_sender};

use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use self::kem::{Ciphertext, DecapsulationKey, ENCAPSULATION_KEY_LEN, SECRET_LEN, SEED_LEN};
use crate::base::encoding::{decoded, public, public_bytes, secret};
use crate::base::wipe::{Secret, with_wiped_stack};
use crate::keys::text;
use crate::schemes::ristretto::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::{Error, Label, Protocol, keys, label};

/// A private key: a scalar other than zero and a seed, with the public key.
///
/// Wiped when its last copy is dropped, compared in constant time, and never printed. Copies share
/// one place in memory.
#[derive(Clone)]
pub struct PrivateKey(Arc<Private>);

struct Private {
    element: keys::PrivateKey,
    seed: Secret<[u8; SEED_LEN]>,
    decapsulation: DecapsulationKey,
    public: PublicKey,
}

impl PrivateKey {
    /// Size in bytes of an encoded private key.
    pub const LEN: usize = SCALAR_LEN + SEED_LEN;

    const INVALID: Error = Error::InvalidKey;
    const PEM_LABEL: &str = "VERIPLEX HYBRID PRIVATE KEY";
    /// The text has 208 bytes.
    const PEM_MAX: usize = 256;

    /// A random key, from 128 bytes of the generator: 64 for the scalar, then the seed.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if they give the scalar zero: then the generator is broken.
    pub fn generate<R: CryptoRng + ?Sized>(rng: &mut R) -> Result<Self, Error> {
        with_wiped_stack(|| {
            let uniform = group::random_bytes(rng);
            let seed = group::random_bytes(rng);
            Ok(Self::new(keys::PrivateKey::from_uniform_bytes(*uniform)?, seed))
        })
    }

    /// Decodes a key of 96 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless the first 32 are the canonical encoding of a scalar other than zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        with_wiped_stack(|| {
            let (scalar, seed) = bytes.split_first_chunk().ok_or(Error::InvalidKey)?;
            let seed = seed.try_into().map_err(|_| Error::InvalidKey)?;
            Ok(Self::new(
                keys::PrivateKey::from_bytes(scalar)?,
                Secret::new(seed),
            ))
        })
    }

    /// The key as 96 bytes, which are as secret as the key.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        self.write(&mut bytes);
        bytes
    }

    /// Decodes a key in PEM.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for anything but what [`PrivateKey::to_pem`] writes. Lines may end in blanks and CRLF; the last
    /// line may lack its end.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        with_wiped_stack(|| {
            let bytes = text::from_long_pem::<{ Self::LEN }, { Self::PEM_MAX }>(Self::PEM_LABEL, pem)?;
            Self::from_bytes(&bytes)
        })
    }

    /// The key in PEM, four lines that are as secret as the key.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        with_wiped_stack(|| {
            let bytes = Secret::new(self.to_bytes());
            let mut buffer = Secret::new([0; Self::PEM_MAX]);
            let pem = text::pem(Self::PEM_LABEL, bytes.as_slice(), buffer.as_mut_slice());
            Zeroizing::new(String::from(pem))
        })
    }

    /// The public key.
    #[must_use]
    pub fn public_key(&self) -> &PublicKey {
        &self.0.public
    }

    /// [`PrivateKey::to_bytes`] in a box.
    pub(crate) fn boxed_bytes(&self) -> Box<Secret<[u8; Self::LEN]>> {
        let mut bytes = Box::new(Secret::new([0; Self::LEN]));
        self.write(&mut bytes);
        bytes
    }

    /// The scalar and its public key.
    pub(crate) fn element(&self) -> &keys::PrivateKey {
        &self.0.element
    }

    pub(crate) fn decapsulate(&self, ciphertext: &Ciphertext) -> Secret<[u8; SECRET_LEN]> {
        self.0.decapsulation.decapsulate(ciphertext)
    }

    /// Mix of the result of a Diffie-Hellman step.
    ///
    /// # Errors
    ///
    /// As for [`keys::PrivateKey::mix_shared`].
    pub(crate) fn mix_shared(
        &self,
        other: &PublicKey,
        protocol: &mut Protocol,
        label: Label<'_>,
    ) -> Result<(), Error> {
        self.0.element.mix_shared(other.element(), protocol, label)
    }

    fn new(element: keys::PrivateKey, seed: Secret<[u8; SEED_LEN]>) -> Self {
        let (decapsulation, encapsulation) = kem::generate(&seed);
        let public = PublicKey::of(*element.public_key(), &encapsulation);
        Self(Arc::new(Private {
            element,
            seed,
            decapsulation,
            public,
        }))
    }

    fn write(&self, bytes: &mut [u8; Self::LEN]) {
        let scalar = Secret::new(self.0.element.to_bytes());
        bytes[..SCALAR_LEN].copy_from_slice(scalar.as_slice());
        bytes[SCALAR_LEN..].copy_from_slice(self.0.seed.as_slice());
    }
}

impl ConstantTimeEq for PrivateKey {
    fn ct_eq(&self, other: &Self) -> Choice {
        let seeds = self.0.seed.as_slice().ct_eq(other.0.seed.as_slice());
        self.0.element.ct_eq(&other.0.element) & seeds
    }
}

impl PartialEq for PrivateKey {
    fn eq(&self, other: &Self) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for PrivateKey {}

/// Shows the fingerprint of the public key.
impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("public_key", self.public_key())
            .finish_non_exhaustive()
    }
}

decoded!(PrivateKey, PublicKey);
secret!(PrivateKey);
public!(PublicKey);

/// A public key: an element other than the identity and an encapsulation key. Copies share one place in memory.
#[derive(Clone)]
pub struct PublicKey(Arc<Public>);

struct Public {
    element: keys::PublicKey,
    bytes: [u8; PublicKey::LEN],
}

impl PublicKey {
    /// Size in bytes of an encoded public key.
    pub const LEN: usize = ELEMENT_LEN + ENCAPSULATION_KEY_LEN;

    const INVALID: Error = Error::InvalidKey;
    const PEM_LABEL: &str = "VERIPLEX HYBRID PUBLIC KEY";
    /// The text has 1724 bytes.
    const PEM_MAX: usize = 1800;

    /// Decodes a key of 1216 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless the first 32 are the canonical encoding of an element other than the identity, and
    /// the rest passes the check of FIPS 203, section 7.2.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        let (element, encapsulation) = bytes.split_first_chunk().ok_or(Error::InvalidKey)?;
        let element = keys::PublicKey::from_bytes(element)?;
        let encapsulation = encapsulation.try_into().map_err(|_| Error::InvalidKey)?;
        if !kem::is_valid(encapsulation) {
            return Err(Error::InvalidKey);
        }
        Ok(Self::of(element, encapsulation))
    }

    /// The key as 1216 bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.0.bytes
    }

    /// The key as 1216 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0.bytes
    }

    /// Decodes a key in PEM.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for anything but what [`PublicKey::to_pem`] writes. Lines may end in blanks and CRLF; the last
    /// line may lack its end.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        let bytes = text::from_long_pem::<{ Self::LEN }, { Self::PEM_MAX }>(Self::PEM_LABEL, pem)?;
        Self::from_bytes(&bytes)
    }

    /// The key in PEM, 28 lines.
    #[must_use]
    pub fn to_pem(&self) -> String {
        String::from(text::pem(
            Self::PEM_LABEL,
            self.as_bytes(),
            &mut [0; Self::PEM_MAX],
        ))
    }

    /// The fingerprint, which people compare instead of the key.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let mut protocol = Protocol::new(label!("veriplex.hybrid.fingerprint.v1"));
        protocol.mix(label!("public-key"), self.as_bytes());
        Fingerprint(protocol.derive_array(label!("fingerprint")))
    }

    pub(crate) fn of(element: keys::PublicKey, encapsulation: &[u8; ENCAPSULATION_KEY_LEN]) -> Self {
        let mut bytes = [0; Self::LEN];
        bytes[..ELEMENT_LEN].copy_from_slice(element.as_bytes());
        bytes[ELEMENT_LEN..].copy_from_slice(encapsulation);
        Self(Arc::new(Public { element, bytes }))
    }

    pub(crate) fn element(&self) -> &keys::PublicKey {
        &self.0.element
    }

    pub(crate) fn encapsulation_key(&self) -> &[u8; ENCAPSULATION_KEY_LEN] {
        let (_, key) = self.0.bytes.split_last_chunk().expect("it is longer");
        key
    }

    /// A shared secret for its owner. Takes 32 bytes from the generator.
    pub(crate) fn encapsulate<R: CryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> (Ciphertext, Secret<[u8; SECRET_LEN]>) {
        let mut randomness = Secret::new([0; SECRET_LEN]);
        rng.fill_bytes(randomness.as_mut_slice());
        kem::encapsulate(self.encapsulation_key(), &randomness)
    }
}

impl AsRef<[u8]> for PublicKey {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.bytes == other.0.bytes
    }
}

impl Eq for PublicKey {}

/// Shows the fingerprint.
impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.fingerprint())
    }
}

/// The digest of a public key, of 32 bytes, in the domain `veriplex.hybrid.fingerprint.v1`. Nobody can make two keys
/// with one fingerprint.
///
/// It displays as 64 hexadecimal digits in lower case, and is parsed from 64 in either case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint([u8; Self::LEN]);

impl Fingerprint {
    /// Size in bytes.
    pub const LEN: usize = 32;

    /// A fingerprint of these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    #[must_use]
    pub const fn to_bytes(&self) -> [u8; Self::LEN] {
        self.0
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; Self::LEN] {
        &self.0
    }
}

public!(Fingerprint);
public_bytes!(Fingerprint);

impl FromStr for Fingerprint {
    type Err = Error;

    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless the text is 64 hexadecimal digits.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut bytes = [0; Self::LEN];
        match base16ct::mixed::decode(text, &mut bytes) {
            Ok(decoded) if decoded.len() == Self::LEN => Ok(Self(bytes)),
            _ => Err(Error::InvalidKey),
        }
    }
}

impl From<[u8; Self::LEN]> for Fingerprint {
    fn from(bytes: [u8; Self::LEN]) -> Self {
        Self(bytes)
    }
}

impl TryFrom<&[u8]> for Fingerprint {
    type Error = Error;

    /// [`Error::InvalidKey`] unless there are 32 bytes.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        bytes.try_into().map(Self).map_err(|_| Error::InvalidKey)
    }
}
