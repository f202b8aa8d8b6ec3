//! AEAD and SIV under the traits of `aead` 0.6.

use core::fmt;
use core::marker::PhantomData;

use ::aead::array::{ArraySize, AssocArraySize};
use ::aead::consts::U16;
use ::aead::inout::InOutBuf;
use ::aead::{AeadCore, AeadInOut, Error, Key, KeyInit, KeySizeUser, Nonce, Tag, TagPosition};

use super::{Domain, KeySize, native_key};
use crate::{aead, siv};

/// [`aead::Aead`] under `aead::AeadInOut`, with nonces of `NONCE_LEN` bytes, which must be at least 16. The tag of 16
/// bytes follows the ciphertext; a failed opening leaves zeros in the output.
///
/// ```
/// use aead::{AeadInOut, KeyInit};
/// use veriplex::rustcrypto::{Domain, aead::Aead};
/// use veriplex::{Key, Label, Nonce, label, os_rng};
///
/// enum Messages {}
/// impl Domain for Messages {
///     const DOMAIN: Label<'static> = label!("com.example.aead");
/// }
///
/// let (key, nonce) = (Key::<32>::generate(&mut os_rng()), Nonce::<24>::generate(&mut os_rng()));
/// let aead = Aead::<Messages, 24>::new(key.as_bytes().into());
/// let nonce = nonce.as_bytes().into(); // never twice under one key
/// let mut message = *b"message";
/// let tag = aead.encrypt_inout_detached(nonce, b"header", message.as_mut_slice().into())?;
/// aead.decrypt_inout_detached(nonce, b"header", message.as_mut_slice().into(), &tag)?;
/// assert_eq!(message, *b"message");
/// # Ok::<(), aead::Error>(())
/// ```
pub struct Aead<D, const NONCE_LEN: usize> {
    native: aead::Aead<NONCE_LEN>,
    domain: PhantomData<fn() -> D>,
}

/// [`siv::Siv`] under `aead::AeadInOut`, with nonces of `NONCE_LEN` bytes, of any number. The tag of 16 bytes follows
/// the ciphertext; a failed opening leaves zeros in the output.
pub struct Siv<D, const NONCE_LEN: usize> {
    native: siv::Siv,
    domain: PhantomData<fn() -> D>,
}

impl<D: Domain, const NONCE_LEN: usize> KeyInit for Aead<D, NONCE_LEN> {
    fn new(key: &Key<Self>) -> Self {
        Self {
            native: aead::Aead::new(D::DOMAIN, &native_key(key)),
            domain: PhantomData,
        }
    }
}

impl<D: Domain, const NONCE_LEN: usize> KeyInit for Siv<D, NONCE_LEN> {
    fn new(key: &Key<Self>) -> Self {
        Self {
            native: siv::Siv::new(D::DOMAIN, &native_key(key)),
            domain: PhantomData,
        }
    }
}

/// What the two have in common: all but the native type.
macro_rules! aead_traits {
    ($($name:ident),*) => {$(
        impl<D, const NONCE_LEN: usize> Clone for $name<D, NONCE_LEN> {
            fn clone(&self) -> Self {
                Self {
                    native: self.native.clone(),
                    domain: PhantomData,
                }
            }
        }

        impl<D, const NONCE_LEN: usize> fmt::Debug for $name<D, NONCE_LEN> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<D, const NONCE_LEN: usize> KeySizeUser for $name<D, NONCE_LEN> {
            type KeySize = KeySize;
        }

        impl<D, const NONCE_LEN: usize> AeadCore for $name<D, NONCE_LEN>
        where
            [u8; NONCE_LEN]: AssocArraySize,
        {
            type NonceSize = <[u8; NONCE_LEN] as AssocArraySize>::Size;
            type TagSize = U16;
            const TAG_POSITION: TagPosition = TagPosition::Postfix;
        }

        impl<D, const NONCE_LEN: usize> AeadInOut for $name<D, NONCE_LEN>
        where
            [u8; NONCE_LEN]: AssocArraySize<Size: ArraySize<ArrayType<u8> = [u8; NONCE_LEN]>>,
        {
            fn encrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
            ) -> Result<Tag<Self>, Error> {
                let in_out = buffer.into_out_with_copied_in();
                let tag = self.native.seal_in_place_detached(&nonce.0, associated_data, in_out);
                Ok(tag.into())
            }

            fn decrypt_inout_detached(
                &self,
                nonce: &Nonce<Self>,
                associated_data: &[u8],
                buffer: InOutBuf<'_, '_, u8>,
                tag: &Tag<Self>,
            ) -> Result<(), Error> {
                let in_out = buffer.into_out_with_copied_in();
                self.native
                    .open_in_place_detached(&nonce.0, associated_data, in_out, &tag.0)
                    .map_err(|_| Error)
            }
        }
    )*};
}
aead_traits!(Aead, Siv);
