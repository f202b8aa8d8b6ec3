//! The traits of types that have an encoding, alike for all of them: texts, bytes, order, `serde`.
//!
//! Each macro names what it needs of a type. `INVALID` is the error for whatever is not an encoding of it.

/// What types of one size have: `TryFrom` and `FromStr`. They need `LEN`, `from_bytes`, `INVALID`.
#[cfg(feature = "ristretto")]
macro_rules! decoded {
    ($($name:ident),*) => {$(
        impl TryFrom<&[u8]> for $name {
            type Error = crate::Error;

            /// `from_bytes`, where any other length is an error too.
            fn try_from(bytes: &[u8]) -> Result<Self, crate::Error> {
                Self::from_bytes(bytes.try_into().map_err(|_| Self::INVALID)?)
            }
        }

        impl TryFrom<&[u8; $name::LEN]> for $name {
            type Error = crate::Error;

            /// `from_bytes`.
            fn try_from(bytes: &[u8; $name::LEN]) -> Result<Self, crate::Error> {
                Self::from_bytes(bytes)
            }
        }

        impl TryFrom<[u8; $name::LEN]> for $name {
            type Error = crate::Error;

            /// `from_bytes`. The array that is passed is a copy.
            fn try_from(bytes: [u8; $name::LEN]) -> Result<Self, crate::Error> {
                Self::from_bytes(&bytes)
            }
        }

        impl core::str::FromStr for $name {
            type Err = crate::Error;

            /// `from_bytes` of hexadecimal digits, two for each byte, in lower case.
            fn from_str(hex: &str) -> Result<Self, crate::Error> {
                let mut bytes = crate::base::wipe::Secret::new([0; $name::LEN]);
                crate::base::hex::decode_hex(hex, bytes.as_mut_slice(), Self::INVALID)?;
                Self::from_bytes(&bytes)
            }
        }
    )*};
}

/// What types without a fixed size have: `TryFrom` and `FromStr`. They need `from_bytes`, `INVALID`.
#[cfg(all(feature = "ristretto", feature = "alloc"))]
macro_rules! decoded_slice {
    ($($name:ident),*) => {$(
        impl TryFrom<&[u8]> for $name {
            type Error = crate::Error;

            /// `from_bytes`.
            fn try_from(bytes: &[u8]) -> Result<Self, crate::Error> {
                Self::from_bytes(bytes)
            }
        }

        impl core::str::FromStr for $name {
            type Err = crate::Error;

            /// `from_bytes` of hexadecimal digits, two for each byte, in lower case.
            fn from_str(hex: &str) -> Result<Self, crate::Error> {
                let mut bytes = alloc::vec![0; hex.len() / 2];
                crate::base::hex::decode_hex(hex, &mut bytes, Self::INVALID)?;
                Self::from_bytes(&bytes)
            }
        }
    )*};
}

/// What public values have: a text, an order (of their bytes), a hash, `serde`. They need `to_bytes`, and the
/// `FromStr` and `TryFrom` of `decoded`.
macro_rules! public {
    ($($name:ident),*) => {$(
        impl core::fmt::Display for $name {
            /// Hexadecimal digits, two for each byte.
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&crate::base::hex::Hex(&self.to_bytes()), f)
            }
        }

        impl Ord for $name {
            /// The order of the bytes.
            fn cmp(&self, other: &Self) -> core::cmp::Ordering {
                self.to_bytes().cmp(&other.to_bytes())
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }

        impl core::hash::Hash for $name {
            fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
                self.to_bytes().hash(state);
            }
        }

        #[cfg(feature = "serde")]
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                crate::serde::serialize(&self.to_bytes(), serializer)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::serde::deserialize(deserializer)
            }
        }
    )*};
}

/// What public values have whose bytes are in one place: `AsRef`, `From` into an array, `Debug`. They need `LEN` and
/// `as_bytes`, and what `public` gives.
macro_rules! public_bytes {
    ($($name:ident),*) => {$(
        impl AsRef<[u8]> for $name {
            fn as_ref(&self) -> &[u8] {
                self.as_bytes()
            }
        }

        impl From<$name> for [u8; $name::LEN] {
            fn from(value: $name) -> Self {
                *value.as_bytes()
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{}({self})", stringify!($name))
            }
        }
    )*};
}

/// What secrets have: `serde` in its wrapper. They need `to_bytes`, and what `decoded` gives.
#[cfg(all(feature = "ristretto", feature = "serde"))]
macro_rules! secret {
    ($($name:ident),*) => {$(
        impl crate::serde::Encoded for $name {
            fn with_bytes<R>(&self, f: impl FnOnce(&[u8]) -> R) -> R {
                f(crate::base::wipe::Secret::new(self.to_bytes()).as_slice())
            }
        }
    )*};
}

#[cfg(all(feature = "ristretto", not(feature = "serde")))]
macro_rules! secret {
    ($($name:ident),*) => {};
}

#[cfg(all(feature = "ristretto", feature = "alloc"))]
pub(crate) use decoded_slice;
#[cfg(feature = "ristretto")]
pub(crate) use {decoded, secret};
pub(crate) use {public, public_bytes};
