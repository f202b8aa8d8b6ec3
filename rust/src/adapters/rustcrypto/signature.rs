//! Signatures under the traits of `signature` 3.

use core::fmt;
use core::marker::PhantomData;

use ::rand_core::TryCryptoRng;
use ::signature::{
    Error, Keypair, MultipartSigner, MultipartVerifier, RandomizedMultipartSigner, RandomizedSigner,
    SignatureEncoding, Signer, Verifier,
};

use super::Domain;
use crate::base::wipe::Secret;
use crate::keys::{PrivateKey, PublicKey};
use crate::sig::{self, Signature};

/// A private key under `signature::Signer` (without randomness) and `signature::RandomizedSigner`, and their forms for
/// messages in parts, which are concatenated.
///
/// ```
/// use signature::{Keypair, Signer, Verifier};
/// use veriplex::rustcrypto::{Domain, signature::SigningKey};
/// use veriplex::{Label, keys::PrivateKey, label, os_rng};
///
/// enum Letters {}
/// impl Domain for Letters {
///     const DOMAIN: Label<'static> = label!("com.example.letters");
/// }
///
/// let key = SigningKey::<Letters>::from(PrivateKey::generate(&mut os_rng()));
/// let signature = key.sign(b"message");
/// assert!(key.verifying_key().verify(b"message", &signature).is_ok());
/// # Ok::<(), veriplex::Error>(())
/// ```
pub struct SigningKey<D> {
    key: PrivateKey,
    domain: PhantomData<fn() -> D>,
}

/// A public key under `signature::Verifier`, and its form for messages in parts, which are concatenated.
pub struct VerifyingKey<D> {
    key: PublicKey,
    domain: PhantomData<fn() -> D>,
}

impl<D: Domain> SigningKey<D> {
    /// This key, in the domain `D`.
    #[must_use]
    pub const fn new(key: PrivateKey) -> Self {
        Self {
            key,
            domain: PhantomData,
        }
    }

    fn start(&self, parts: &[&[u8]]) -> sig::Signer<'_> {
        let mut signer = sig::Signer::new(D::DOMAIN, &self.key);
        for part in parts {
            signer.update(part);
        }
        signer
    }
}

impl<D: Domain> VerifyingKey<D> {
    /// This key, in the domain `D`.
    #[must_use]
    pub const fn new(key: PublicKey) -> Self {
        Self {
            key,
            domain: PhantomData,
        }
    }
}

impl<D: Domain> From<PrivateKey> for SigningKey<D> {
    fn from(key: PrivateKey) -> Self {
        Self::new(key)
    }
}

impl<D: Domain> From<PublicKey> for VerifyingKey<D> {
    fn from(key: PublicKey) -> Self {
        Self::new(key)
    }
}

impl<D: Domain> From<&SigningKey<D>> for VerifyingKey<D> {
    fn from(key: &SigningKey<D>) -> Self {
        key.verifying_key()
    }
}

impl<D> Clone for SigningKey<D> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            domain: PhantomData,
        }
    }
}

impl<D> Clone for VerifyingKey<D> {
    fn clone(&self) -> Self {
        Self {
            key: self.key,
            domain: PhantomData,
        }
    }
}

impl<D> fmt::Debug for SigningKey<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").finish_non_exhaustive()
    }
}

impl<D> fmt::Debug for VerifyingKey<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VerifyingKey").field(&self.key).finish()
    }
}

impl<D: Domain> Keypair for SigningKey<D> {
    type VerifyingKey = VerifyingKey<D>;

    fn verifying_key(&self) -> VerifyingKey<D> {
        VerifyingKey::new(*self.key.public_key())
    }
}

impl<D: Domain> Signer<Signature> for SigningKey<D> {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, Error> {
        self.try_multipart_sign(&[message])
    }
}

impl<D: Domain> MultipartSigner<Signature> for SigningKey<D> {
    fn try_multipart_sign(&self, parts: &[&[u8]]) -> Result<Signature, Error> {
        Ok(self.start(parts).sign_deterministic())
    }
}

impl<D: Domain> RandomizedSigner<Signature> for SigningKey<D> {
    fn try_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        message: &[u8],
    ) -> Result<Signature, Error> {
        self.try_multipart_sign_with_rng(rng, &[message])
    }
}

impl<D: Domain> RandomizedMultipartSigner<Signature> for SigningKey<D> {
    fn try_multipart_sign_with_rng<R: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut R,
        parts: &[&[u8]],
    ) -> Result<Signature, Error> {
        let mut randomness = Secret::new([0; 64]);
        rng.try_fill_bytes(randomness.as_mut_slice())
            .map_err(|_| Error::new())?;
        Ok(self.start(parts).sign_hedged(randomness.as_slice()))
    }
}

impl<D: Domain> Verifier<Signature> for VerifyingKey<D> {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), Error> {
        self.multipart_verify(&[message], signature)
    }
}

impl<D: Domain> MultipartVerifier<Signature> for VerifyingKey<D> {
    fn multipart_verify(&self, parts: &[&[u8]], signature: &Signature) -> Result<(), Error> {
        let mut verifier = sig::Verifier::new(D::DOMAIN, &self.key);
        for part in parts {
            verifier.update(part);
        }
        verifier.verify(signature).map_err(|_| Error::new())
    }
}

impl SignatureEncoding for Signature {
    type Repr = [u8; Self::LEN];
}
