//! Values under the traits of `serde` 1: hexadecimal digits in formats that people read, such as JSON and TOML, and bytes
//! in the others.
//!
//! Public values implement the traits themselves: public keys, signatures, proofs, and what the protocols with several
//! parties send. [`Tag`](crate::mac::Tag) does, too. Secrets do not, so that a structure cannot carry one into a log or a
//! file by mistake; [`Exposed`] makes it explicit.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use veriplex::keys::{PrivateKey, PublicKey};
//! use veriplex::{os_rng, serde::Exposed};
//!
//! #[derive(Serialize, Deserialize)]
//! struct Account {
//!     name: String,
//!     key: Exposed<PrivateKey>, // whoever reads the file has the key
//!     friends: Vec<PublicKey>,
//! }
//!
//! let key = PrivateKey::generate(&mut os_rng());
//! let account = Account { name: "alice".into(), friends: vec![*key.public_key()], key: Exposed(key) };
//! let text = serde_json::to_string(&account)?; // {"name":"alice","key":"5f0c...
//! let again: Account = serde_json::from_str(&text)?;
//! assert_eq!(again.key, account.key);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! A secret on its own has no such traits:
//!
//! ```compile_fail,E0277
//! serde_json::to_string(&veriplex::Key::from([7; 32]));
//! ```

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use ::serde::de::{self, Deserialize, Deserializer, Visitor};
use ::serde::ser::{Serialize, Serializer};

use crate::base::hex::Hex;
use crate::{Error, Key, Nonce};

/// A secret that `serde` writes as what it is, and reads.
///
/// For [`Key`], and with their features private keys and shares of keys. The buffers of the format, which hold
/// the secret in between, are not wiped.
#[derive(Clone, PartialEq, Eq)]
pub struct Exposed<T>(pub T);

/// A secret with an encoding.
pub(crate) trait Encoded: FromStr<Err = Error> + for<'b> TryFrom<&'b [u8], Error = Error> {
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R;
}

impl<const N: usize> Encoded for Key<N> {
    fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
        f(self.as_bytes())
    }
}

/// Shows what `T` shows: no secret.
impl<T: fmt::Debug> fmt::Debug for Exposed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Exposed").field(&self.0).finish()
    }
}

#[allow(private_bounds)] // the secrets of this crate
impl<T: Encoded> Serialize for Exposed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.with_bytes(|bytes| serialize(bytes, serializer))
    }
}

#[allow(private_bounds)] // as above
impl<'de, T: Encoded> Deserialize<'de> for Exposed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer).map(Self)
    }
}

impl<const N: usize> Serialize for Nonce<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(self.as_bytes(), serializer)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Nonce<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

/// Writes an encoding.
pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        serializer.collect_str(&Hex(bytes))
    } else {
        serializer.serialize_bytes(bytes)
    }
}

/// Reads what [`serialize`] writes.
pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err = Error> + for<'b> TryFrom<&'b [u8], Error = Error>,
    D: Deserializer<'de>,
{
    if deserializer.is_human_readable() {
        deserializer.deserialize_str(Encoding(PhantomData))
    } else {
        deserializer.deserialize_bytes(Encoding(PhantomData))
    }
}

struct Encoding<T>(PhantomData<T>);

impl<T> Visitor<'_> for Encoding<T>
where
    T: FromStr<Err = Error> + for<'b> TryFrom<&'b [u8], Error = Error>,
{
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hexadecimal digits in lower case, or bytes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<T, E> {
        bytes.try_into().map_err(E::custom)
    }
}
