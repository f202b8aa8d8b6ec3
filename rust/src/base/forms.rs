//! The forms in which schemes hash, seal and open messages, as their public methods and functions.

/// `Write` of what has `update`.
macro_rules! hash_writer {
    ($($name:ident),*) => {$(
        #[cfg(feature = "std")]
        impl std::io::Write for $name {
            fn write(&mut self, input: &[u8]) -> std::io::Result<usize> {
                self.update(input);
                Ok(input.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
    )*};
}
pub(crate) use hash_writer;

/// The forms of a cipher with nonce and associated data. It needs `seal(&self, nonce, ad, data)`, which returns the tag,
/// `open(&self, nonce, ad, data, tag)`, `TAG_LEN`, and that number for the documentation.
macro_rules! with_nonce {
    ($name:ident, [$($declared:tt)*], [$($used:tt)*], $nonce:ty, $tag_len:literal) => {
        impl<$($declared)*> $name<$($used)*> {
            /// Encrypts in place and returns the tag.
            #[must_use]
            pub fn seal_in_place_detached(&self, nonce: &$nonce, ad: &[u8], in_out: &mut [u8]) -> [u8; TAG_LEN] {
                self.seal(nonce.as_ref(), ad, in_out.into())
            }

            /// Decrypts in place.
            ///
            /// # Errors
            ///
            /// [`Error::Verification`] if nonce, associated data, ciphertext or tag are not what was sealed; `in_out` is
            /// then all zeros.
            pub fn open_in_place_detached(
                &self,
                nonce: &$nonce,
                ad: &[u8],
                in_out: &mut [u8],
                tag: &[u8; TAG_LEN],
            ) -> Result<(), Error> {
                self.open(nonce.as_ref(), ad, in_out.into(), tag)
            }

            #[doc = concat!("Encrypts in place: the last ", $tag_len, " bytes of `in_out` are room for the tag.")]
            ///
            /// # Errors
            ///
            #[doc = concat!("[`Error::BufferLength`] if `in_out` has fewer than ", $tag_len, " bytes.")]
            pub fn seal_in_place(&self, nonce: &$nonce, ad: &[u8], in_out: &mut [u8]) -> Result<(), Error> {
                $crate::base::in_out::seal_in_place(in_out, |data| Ok(([], self.seal(nonce.as_ref(), ad, data))))
            }

            #[doc = concat!(
                "Decrypts in place: `in_out` is the ciphertext with its tag of ", $tag_len, " bytes; returns the plaintext."
            )]
            ///
            /// # Errors
            ///
            /// [`Error::Verification`] if nonce, associated data or `in_out` are not what was sealed, and then the
            #[doc = concat!(
                "ciphertext is overwritten with zeros; [`Error::TooShort`] if there are fewer than ", $tag_len, " bytes."
            )]
            pub fn open_in_place<'b>(
                &self,
                nonce: &$nonce,
                ad: &[u8],
                in_out: &'b mut [u8],
            ) -> Result<&'b mut [u8], Error> {
                $crate::base::in_out::open_in_place(in_out, |[], data, tag| self.open(nonce.as_ref(), ad, data, tag))
            }

            #[doc = concat!(
                "Encrypts from one buffer into another, which is ", $tag_len, " bytes longer: ciphertext, then tag."
            )]
            ///
            /// # Errors
            ///
            /// [`Error::BufferLength`] if it is not.
            pub fn seal_into(
                &self,
                nonce: &$nonce,
                ad: &[u8],
                plaintext: &[u8],
                sealed: &mut [u8],
            ) -> Result<(), Error> {
                $crate::base::in_out::seal_into(plaintext, sealed, |data| Ok(([], self.seal(nonce.as_ref(), ad, data))))
            }

            #[doc = concat!("Decrypts from one buffer into another, which is ", $tag_len, " bytes shorter.")]
            ///
            /// # Errors
            ///
            /// [`Error::Verification`] if nonce, associated data or `sealed` are not what was sealed, [`Error::TooShort`]
            #[doc = concat!("if `sealed` has fewer than ", $tag_len, " bytes; `plaintext` is then all zeros.")]
            /// [`Error::BufferLength`] if `plaintext` has the wrong length.
            pub fn open_into(
                &self,
                nonce: &$nonce,
                ad: &[u8],
                sealed: &[u8],
                plaintext: &mut [u8],
            ) -> Result<(), Error> {
                $crate::base::in_out::open_into(sealed, plaintext, |[], data, tag| {
                    self.open(nonce.as_ref(), ad, data, tag)
                })
            }

            /// Encrypts into a new vector: ciphertext, then tag.
            #[cfg(feature = "alloc")]
            #[must_use]
            pub fn seal_vec(&self, nonce: &$nonce, ad: &[u8], plaintext: &[u8]) -> alloc::vec::Vec<u8> {
                let Ok(sealed) = $crate::base::in_out::seal_vec(plaintext, |data| {
                    Ok::<_, core::convert::Infallible>(([], self.seal(nonce.as_ref(), ad, data)))
                });
                sealed
            }

            /// Decrypts into a new vector.
            ///
            /// # Errors
            ///
            /// [`Error::Verification`] if nonce, associated data or `sealed` are not what was sealed, [`Error::TooShort`]
            #[doc = concat!("if `sealed` has fewer than ", $tag_len, " bytes.")]
            #[cfg(feature = "alloc")]
            pub fn open_vec(
                &self,
                nonce: &$nonce,
                ad: &[u8],
                sealed: &[u8],
            ) -> Result<alloc::vec::Vec<u8>, Error> {
                $crate::base::in_out::open_vec(sealed, |[], data, tag| self.open(nonce.as_ref(), ad, data, tag))
            }
        }
    };
}
pub(crate) use with_nonce;

/// The forms of encryption from a private key to a public key. They need `seal(domain, sender, receiver, rng, data)`, which
/// returns the ephemeral public key and what follows the ciphertext, and `open(domain, receiver, sender, ephemeral, data,
/// last)`. What follows has a name, a type and a size in bytes; `error` is when there is [`Error::InvalidKey`].
#[cfg(feature = "ristretto")]
macro_rules! to_public_key {
    ($last:ident, $last_len:ident, $bytes:literal, $error:literal) => {
        #[doc = concat!("Encrypts in place. Returns the ephemeral public key and the ", stringify!($last), ".")]
        ///
        /// # Errors
        ///
        #[doc = concat!("[`Error::InvalidKey`] ", $error, ".")]
        pub fn seal_in_place_detached<R: CryptoRng + ?Sized>(
            domain: Label<'_>,
            sender: &PrivateKey,
            receiver: &PublicKey,
            rng: &mut R,
            in_out: &mut [u8],
        ) -> Result<([u8; PublicKey::LEN], [u8; $last_len]), Error> {
            seal(domain, sender, receiver, rng, in_out.into())
        }

        /// Decrypts in place, with what [`seal_in_place_detached`] returned.
        ///
        /// # Errors
        ///
        /// [`Error::Verification`] if this is not what this sender sealed for this receiver in this domain; `in_out` is
        /// then all zeros.
        pub fn open_in_place_detached(
            domain: Label<'_>,
            receiver: &PrivateKey,
            sender: &PublicKey,
            ephemeral: &[u8; PublicKey::LEN],
            in_out: &mut [u8],
            $last: &[u8; $last_len],
        ) -> Result<(), Error> {
            open(domain, receiver, sender, ephemeral, in_out.into(), $last)
        }

        #[doc = concat!("Seals in place: `in_out` has 32 bytes of room, the plaintext, ", $bytes, " bytes of room.")]
        ///
        /// # Errors
        ///
        /// [`Error::BufferLength`] if `in_out` has fewer than [`OVERHEAD`] bytes;
        #[doc = concat!("[`Error::InvalidKey`] ", $error, ".")]
        pub fn seal_in_place<R: CryptoRng + ?Sized>(
            domain: Label<'_>,
            sender: &PrivateKey,
            receiver: &PublicKey,
            rng: &mut R,
            in_out: &mut [u8],
        ) -> Result<(), Error> {
            in_out::seal_in_place(in_out, |data| seal(domain, sender, receiver, rng, data))
        }

        /// Opens a sealed message in place; returns the plaintext.
        ///
        /// # Errors
        ///
        /// [`Error::Verification`] if `in_out` is not what this sender sealed for this receiver in this domain, and then
        /// the ciphertext is overwritten with zeros; [`Error::TooShort`] if it has fewer than [`OVERHEAD`] bytes.
        pub fn open_in_place<'b>(
            domain: Label<'_>,
            receiver: &PrivateKey,
            sender: &PublicKey,
            in_out: &'b mut [u8],
        ) -> Result<&'b mut [u8], Error> {
            in_out::open_in_place(in_out, |ephemeral, data, $last| {
                open(domain, receiver, sender, ephemeral, data, $last)
            })
        }

        /// Seals from one buffer into another, which is [`OVERHEAD`] bytes longer.
        ///
        /// # Errors
        ///
        #[doc = concat!("[`Error::BufferLength`] if it is not; [`Error::InvalidKey`] ", $error, ".")]
        pub fn seal_into<R: CryptoRng + ?Sized>(
            domain: Label<'_>,
            sender: &PrivateKey,
            receiver: &PublicKey,
            rng: &mut R,
            plaintext: &[u8],
            sealed: &mut [u8],
        ) -> Result<(), Error> {
            in_out::seal_into(plaintext, sealed, |data| {
                seal(domain, sender, receiver, rng, data)
            })
        }

        /// Opens from one buffer into another, which is [`OVERHEAD`] bytes shorter.
        ///
        /// # Errors
        ///
        /// [`Error::Verification`] if `sealed` is not what this sender sealed for this receiver in this domain,
        /// [`Error::TooShort`] if it has fewer than [`OVERHEAD`] bytes; `plaintext` is then all zeros.
        /// [`Error::BufferLength`] if `plaintext` has the wrong length.
        pub fn open_into(
            domain: Label<'_>,
            receiver: &PrivateKey,
            sender: &PublicKey,
            sealed: &[u8],
            plaintext: &mut [u8],
        ) -> Result<(), Error> {
            in_out::open_into(sealed, plaintext, |ephemeral, data, $last| {
                open(domain, receiver, sender, ephemeral, data, $last)
            })
        }

        /// Seals into a new vector.
        ///
        /// # Errors
        ///
        #[doc = concat!("[`Error::InvalidKey`] ", $error, ".")]
        #[cfg(feature = "alloc")]
        pub fn seal_vec<R: CryptoRng + ?Sized>(
            domain: Label<'_>,
            sender: &PrivateKey,
            receiver: &PublicKey,
            rng: &mut R,
            plaintext: &[u8],
        ) -> Result<alloc::vec::Vec<u8>, Error> {
            in_out::seal_vec(plaintext, |data| seal(domain, sender, receiver, rng, data))
        }

        /// Opens into a new vector.
        ///
        /// # Errors
        ///
        /// [`Error::Verification`] if `sealed` is not what this sender sealed for this receiver in this domain,
        /// [`Error::TooShort`] if it has fewer than [`OVERHEAD`] bytes.
        #[cfg(feature = "alloc")]
        pub fn open_vec(
            domain: Label<'_>,
            receiver: &PrivateKey,
            sender: &PublicKey,
            sealed: &[u8],
        ) -> Result<alloc::vec::Vec<u8>, Error> {
            in_out::open_vec(sealed, |ephemeral, data, $last| {
                open(domain, receiver, sender, ephemeral, data, $last)
            })
        }
    };
}
#[cfg(feature = "ristretto")]
pub(crate) use to_public_key;
