//! The memory-hard hash under the traits of `password-hash` 0.6, with [PHC
//! strings](https://github.com/P-H-C/phc-string-format/blob/master/phc-sf-spec.md):
//!
//! ```text
//! $veriplex-mhf$v=1$c=14$<salt>$<hash>
//! ```
//!
//! `c` is the cost. Salt (8 to 48 bytes) and hash (10 to 64 bytes) are in base64 without padding. The domain is not in
//! the string: a hash is verified in the domain that it was made in.

use core::fmt;
use core::marker::PhantomData;

use ::password_hash::phc::{Decimal, Ident, Output, ParamsString, PasswordHash, Salt};
use ::password_hash::{CustomizedPasswordHasher, Error, PasswordHasher, Result, Version};

use super::Domain;
use crate::base::wipe::wipe;
use crate::mhf;

/// The name of the algorithm in a PHC string.
pub const ALGORITHM: &str = "veriplex-mhf";
/// The version of the algorithm in a PHC string.
pub const VERSION: Version = 1;
/// The name of the cost in a PHC string.
const COST: &str = "c";

/// What a PHC string says about a hash, besides its salt: cost and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// The cost; the memory is 5 * 2^cost KiB.
    pub cost: u8,
    /// Size in bytes of the hash: 10 to 64.
    pub output_len: usize,
}

impl Default for Params {
    /// Cost 14 (80 MiB), 32 bytes.
    fn default() -> Self {
        Self {
            cost: mhf::Mhf::RECOMMENDED_COST,
            output_len: 32,
        }
    }
}

impl TryFrom<&PasswordHash> for Params {
    type Error = Error;

    /// # Errors
    ///
    /// [`Error::Version`], [`Error::ParamsInvalid`] if there is anything but one cost, [`Error::ParamInvalid`] if that
    /// is not a number below 256, [`Error::OutputSize`] if there is no hash.
    fn try_from(hash: &PasswordHash) -> Result<Self> {
        if hash.version != Some(VERSION) {
            return Err(Error::Version);
        }
        let mut params = hash.params.iter();
        let (Some((name, cost)), None) = (params.next(), params.next()) else {
            return Err(Error::ParamsInvalid);
        };
        if name.as_str() != COST {
            return Err(Error::ParamsInvalid);
        }
        Ok(Self {
            cost: cost
                .decimal()
                .ok()
                .and_then(|cost| cost.try_into().ok())
                .ok_or(Error::ParamInvalid { name: COST })?,
            output_len: hash.hash.ok_or(Error::OutputSize)?.len(),
        })
    }
}

/// [`mhf::Mhf`] as a `PasswordHasher` and a `PasswordVerifier`.
///
/// ```
/// use veriplex::rustcrypto::traits::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
/// use veriplex::rustcrypto::{Domain, password_hash::{Mhf, Params}};
/// use veriplex::{Label, label};
///
/// enum Passwords {}
/// impl Domain for Passwords {
///     const DOMAIN: Label<'static> = label!("com.example.passwords");
/// }
///
/// let hasher = Mhf::<Passwords>::new(Params { cost: 10, output_len: 32 }, 16);
/// let hash = hasher.hash_password(b"password")?; // with a random salt (feature `getrandom`)
/// let text = hash.to_string(); // $veriplex-mhf$v=1$c=10$...
///
/// let hash = PasswordHash::new(&text)?;
/// assert_eq!(hasher.verify_password(b"password", &hash), Ok(()));
/// assert!(hasher.verify_password(b"passwort", &hash).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mhf<D> {
    params: Params,
    min_cost: u8,
    max_cost: u8,
    domain: PhantomData<fn() -> D>,
}

impl<D> Mhf<D> {
    /// Makes hashes with these parameters. It neither makes nor verifies one with a cost below [`mhf::Mhf::MIN_COST`] or
    /// above `max_cost`: otherwise whoever can write the string to be verified could make the verifier use up its time
    /// and memory.
    #[must_use]
    pub const fn new(params: Params, max_cost: u8) -> Self {
        Self {
            min_cost: mhf::Mhf::MIN_COST,
            ..Self::with_any_cost(params, max_cost)
        }
    }

    /// The same without a lower bound: for tests, and for hashes that were made with such a cost, as
    /// [`mhf::Mhf::with_any_cost`].
    #[must_use]
    pub const fn with_any_cost(params: Params, max_cost: u8) -> Self {
        Self {
            params,
            min_cost: 0,
            max_cost,
            domain: PhantomData,
        }
    }
}

impl<D> Default for Mhf<D> {
    /// The default parameters, and at most cost 16 (320 MiB).
    fn default() -> Self {
        Self::new(Params::default(), 16)
    }
}

impl<D> Clone for Mhf<D> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<D> fmt::Debug for Mhf<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mhf")
            .field("params", &self.params)
            .field("min_cost", &self.min_cost)
            .field("max_cost", &self.max_cost)
            .finish_non_exhaustive()
    }
}

impl<D: Domain> PasswordHasher<PasswordHash> for Mhf<D> {
    /// # Errors
    ///
    /// Those of `hash_password_customized`.
    fn hash_password_with_salt(&self, password: &[u8], salt: &[u8]) -> Result<PasswordHash> {
        self.hash_password_customized(password, salt, None, None, self.params)
    }
}

impl<D: Domain> CustomizedPasswordHasher<PasswordHash> for Mhf<D> {
    type Params = Params;

    /// # Errors
    ///
    /// [`Error::Algorithm`], [`Error::Version`] for those of another; [`Error::ParamInvalid`] for a cost outside
    /// of the limits; [`Error::SaltInvalid`], [`Error::OutputSize`] for lengths that the PHC string cannot hold; all these
    /// before any work. [`Error::OutOfMemory`].
    fn hash_password_customized(
        &self,
        password: &[u8],
        salt: &[u8],
        algorithm: Option<&str>,
        version: Option<Version>,
        params: Params,
    ) -> Result<PasswordHash> {
        if algorithm.is_some_and(|name| name != ALGORITHM) {
            return Err(Error::Algorithm);
        }
        if version.is_some_and(|version| version != VERSION) {
            return Err(Error::Version);
        }
        if !(self.min_cost..=self.max_cost).contains(&params.cost) {
            return Err(Error::ParamInvalid { name: COST });
        }
        let mhf = mhf::Mhf::with_any_cost(D::DOMAIN, params.cost)
            .map_err(|_| Error::ParamInvalid { name: COST })?;
        let salt = Salt::new(salt)?;
        let mut buffer = [0; Output::MAX_LENGTH];
        let output = buffer.get_mut(..params.output_len).ok_or(Error::OutputSize)?;
        if output.len() < Output::MIN_LENGTH {
            return Err(Error::OutputSize);
        }
        let mut phc_params = ParamsString::new();
        phc_params.add_decimal(COST, Decimal::from(params.cost))?;
        mhf.hash_into(password, &salt, output)
            .map_err(|_| Error::OutOfMemory)?;
        let hash = Output::new(output);
        wipe(&mut buffer);
        Ok(PasswordHash {
            algorithm: Ident::new(ALGORITHM)?,
            version: Some(VERSION),
            params: phc_params,
            salt: Some(salt),
            hash: Some(hash?),
        })
    }
}
