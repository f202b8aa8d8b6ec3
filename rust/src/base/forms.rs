//! The forms in which schemes hash, seal and open messages, as their public methods and functions.

/// `Write` of what has `update`.
macro_rules! hash_writer {
    ($($name:ty),*) => {$(
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
        }

        #[cfg(feature = "alloc")]
        impl<$($declared)*> $name<$($used)*> {
            /// Encrypts into a new vector: ciphertext, then tag.
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
