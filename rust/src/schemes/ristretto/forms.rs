//! The forms of encryption to a public key, as public functions.

/// The forms of encryption from a private key to a public key. They need `seal(domain, sender, receiver, rng, data)`, which
/// returns the ephemeral public key and what follows the ciphertext, and `open(domain, receiver, sender, ephemeral, data,
/// last)`. What follows has a name, a type and a size in bytes; `error` is when there is [`Error::InvalidKey`].
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
pub(crate) use to_public_key;
