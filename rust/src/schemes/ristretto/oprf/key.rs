//! The keys of a server: types of their own, because a server is an oracle for its key.

use core::fmt;

use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};

use crate::Error;
use crate::base::encoding::{decoded, public, public_bytes, secret};
use crate::keys::{PrivateKey, PublicKey};

/// The private key of a server. No other scheme accepts it, and no function makes one from a
/// [`PrivateKey`](crate::keys::PrivateKey):
///
/// ```compile_fail,E0308
/// # use veriplex::{Error, hpke, keys::PublicKey, label, oprf::ServerKey};
/// # fn open(server: &ServerKey, sender: &PublicKey, sealed: &[u8]) -> Result<Vec<u8>, Error> {
/// hpke::open_vec(label!("com.example.mail"), server, sender, sealed)
/// # }
/// ```
///
/// ```compile_fail,E0308
/// # use veriplex::{Error, keys::PrivateKey, oprf::{self, BlindedElement, EvaluatedElement}};
/// # fn evaluate(key: &PrivateKey, blinded: &BlindedElement) -> Result<EvaluatedElement, Error> {
/// oprf::blind_evaluate(key, blinded)
/// # }
/// ```
///
/// Nor should you decode the bytes of another key as one of these. The PEM has its own label, so files cannot be
/// confused. Wiped on drop, compared in constant time, and never printed.
///
/// ```
/// use veriplex::{keys::PrivateKey, oprf::ServerKey, os_rng};
///
/// let server = ServerKey::generate(&mut os_rng());
/// assert_eq!(ServerKey::from_pem(&server.to_pem())?, server);
/// assert!(PrivateKey::from_pem(&server.to_pem()).is_err());
/// # Ok::<(), veriplex::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ServerKey {
    pub(super) key: PrivateKey,
    public: ServerPublicKey,
}

impl ServerKey {
    /// Size in bytes of an encoded key.
    pub const LEN: usize = PrivateKey::LEN;

    const INVALID: Error = Error::InvalidKey;

    const PEM_LABEL: &str = "VERIPLEX OPRF SERVER KEY";

    /// A random key, as [`PrivateKey::generate`](crate::keys::PrivateKey::generate) makes one.
    #[must_use]
    pub fn generate<R: CryptoRng + ?Sized>(rng: &mut R) -> Self {
        Self::new(PrivateKey::generate(rng))
    }

    /// Decodes a key of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] unless they are the canonical encoding of a scalar other than zero.
    pub fn from_bytes(bytes: &[u8; Self::LEN]) -> Result<Self, Error> {
        PrivateKey::from_bytes(bytes).map(Self::new)
    }

    /// The key as 32 bytes, which are as secret as the key.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        self.key.to_bytes()
    }

    /// Decodes a key in PEM, with the label `VERIPLEX OPRF SERVER KEY`.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] for anything but what [`ServerKey::to_pem`] writes. Lines may end in blanks and CRLF; the last
    /// line may lack its end.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        PrivateKey::from_pem_labelled(Self::PEM_LABEL, pem).map(Self::new)
    }

    /// The key in PEM, three lines that are as secret as the key.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_pem(&self) -> zeroize::Zeroizing<alloc::string::String> {
        self.key.to_pem_labelled(Self::PEM_LABEL)
    }

    /// The public key, which clients of the verifiable form need.
    #[must_use]
    pub const fn public_key(&self) -> &ServerPublicKey {
        &self.public
    }

    fn new(key: PrivateKey) -> Self {
        Self {
            public: ServerPublicKey(*key.public_key()),
            key,
        }
    }
}

impl ConstantTimeEq for ServerKey {
    fn ct_eq(&self, other: &Self) -> Choice {
        self.key.ct_eq(&other.key)
    }
}

/// Shows the public key.
impl fmt::Debug for ServerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerKey")
            .field("public_key", &self.public)
            .finish_non_exhaustive()
    }
}

impl zeroize::ZeroizeOnDrop for ServerKey {}

/// The public key of a server. Nothing can be sealed to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ServerPublicKey(pub(super) PublicKey);

element!(ServerPublicKey);
decoded!(ServerKey, ServerPublicKey);
secret!(ServerKey);
public!(ServerPublicKey);
public_bytes!(ServerPublicKey);
