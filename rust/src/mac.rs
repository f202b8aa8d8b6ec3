//! Message authentication, also called keyed digest: Mix `key`, Mix `message`, Derive `tag`.
//!
//! A pseudorandom function of the message. The tag has 16 bytes: a forgery succeeds with probability 2^-128 per
//! try. A keyed digest has any length, and collides no sooner than a digest of that length, even for those who know the
//! key. Keys may have any length; use at least 32 random bytes. There is no nonce.
//!
//! ```
//! use veriplex::{label, mac::Mac};
//!
//! let key = [7; 32]; // in practice, 32 random bytes
//! let mut mac = Mac::new(label!("com.example.mac"), &key);
//! mac.update(b"message");
//! let tag = mac.clone().finalize();
//! assert!(mac.verify(&tag).is_ok());
//! ```

use subtle::ConstantTimeEq;

use crate::{Error, Label, Protocol, TAG_LEN, label};

/// The tag of a message.
#[must_use]
pub fn mac(domain: Label<'_>, key: &(impl AsRef<[u8]> + ?Sized), message: &[u8]) -> [u8; TAG_LEN] {
    let mut mac = Mac::new(domain, key);
    mac.update(message);
    mac.finalize()
}

/// Computes a tag piece by piece.
///
/// With feature `std` it is a `Write`.
#[derive(Clone, Debug)]
pub struct Mac(Protocol);

impl Mac {
    /// Starts a tag.
    #[must_use]
    pub fn new(domain: Label<'_>, key: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        let mut protocol = Protocol::new(domain);
        protocol.mix(label!("key"), key.as_ref());
        protocol.mix_begin(label!("message"));
        Self(protocol)
    }

    /// Takes the next piece of the message.
    pub fn update(&mut self, input: &[u8]) {
        self.0.mix_more(input);
    }

    /// The tag, 16 bytes. Compare tags only through [`Mac::verify`].
    #[must_use]
    pub fn finalize(mut self) -> [u8; TAG_LEN] {
        self.0.derive_array(label!("tag"))
    }

    /// A keyed digest of any length. One length's output is not the beginning of another's, so one of 16 bytes is the
    /// tag, and the others reveal nothing about it.
    pub fn finalize_into(mut self, output: &mut [u8]) {
        self.0.derive(label!("tag"), output);
    }

    /// Compares the tag with a received one, in constant time.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if they differ, or if `tag` is not 16 bytes long.
    pub fn verify(self, tag: &[u8]) -> Result<(), Error> {
        if self.finalize().ct_eq(tag).into() {
            Ok(())
        } else {
            Err(Error::Verification)
        }
    }
}

#[cfg(feature = "std")]
impl std::io::Write for Mac {
    fn write(&mut self, input: &[u8]) -> std::io::Result<usize> {
        self.update(input);
        Ok(input.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
