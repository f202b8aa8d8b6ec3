//! Key derivation: Mix `salt`, Mix `secret`; then, for each key, Mix `info`, Derive `key`.
//!
//! It turns secrets that are hard to guess (another key, the result of a Diffie-Hellman exchange) into keys that look
//! random and independent of each other, as HKDF's extract and expand do (RFC 5869). Keys of different domains, salts,
//! secrets, contexts or lengths reveal nothing about each other. It is fast, so it does not protect secrets that can be
//! guessed: for passwords use [`mhf`](crate::mhf).
//!
//! ```
//! use veriplex::{Key, kdf, label, os_rng};
//!
//! let master: Key = Key::generate(&mut os_rng());
//! let for_files: Key = kdf::derive_key(label!("com.example.keys"), master.as_bytes(), b"files v1");
//! let for_logs: Key = kdf::derive_key(label!("com.example.keys"), master.as_bytes(), b"logs v1");
//! assert_ne!(for_files, for_logs);
//! ```

use crate::protocol::many;
use crate::{Domain, Error, Key, Label, Protocol, label};

/// A key of `N` bytes from a secret: [`Kdf::extract`] without a salt, then [`Kdf::expand`].
///
/// The context says what the key is for. It need not be secret.
#[must_use]
pub fn derive_key<const N: usize>(domain: impl Domain, secret: &[u8], context: &[u8]) -> Key<N> {
    Kdf::extract(domain.label(), b"", secret).expand(context)
}

/// What keys are derived from: the domain, a salt and a secret.
#[derive(Clone, Debug)]
pub struct Kdf(Protocol);

impl zeroize::ZeroizeOnDrop for Kdf {}

impl Kdf {
    /// Absorbs the salt, which may be public or empty, and the secret.
    #[must_use]
    pub fn extract(domain: Label<'_>, salt: &[u8], secret: &[u8]) -> Self {
        let mut protocol = Protocol::new(domain);
        protocol.mix(label!("salt"), salt);
        protocol.mix(label!("secret"), secret);
        Self(protocol)
    }

    /// The key of `N` bytes for a context (RFC 5869 calls it `info`).
    ///
    /// ```
    /// use veriplex::{Key, kdf::Kdf, label, os_rng};
    ///
    /// let shared: Key = Key::generate(&mut os_rng()); // stands for the result of a key exchange
    /// let kdf = Kdf::extract(label!("com.example.session"), b"transcript of the exchange", shared.as_bytes());
    /// let (to_client, to_server) = (kdf.expand::<32>(b"to client"), kdf.expand::<32>(b"to server"));
    /// assert_ne!(to_client, to_server);
    /// ```
    #[must_use]
    pub fn expand<const N: usize>(&self, info: &[u8]) -> Key<N> {
        let mut key = Key::from([0; N]);
        self.expand_into(info, key.as_mut_bytes());
        key
    }

    /// Derives the keys for many contexts as [`Kdf::expand`] does, eight at a time, which is faster where the CPU has
    /// the instructions. Contexts of about the same length are the fastest.
    ///
    /// ```
    /// use veriplex::{Key, kdf::Kdf, label, os_rng};
    ///
    /// let master: Key = Key::generate(&mut os_rng());
    /// let kdf = Kdf::extract(label!("com.example.rows"), b"", master.as_bytes());
    /// let rows: Vec<[u8; 8]> = (0..100_u64).map(u64::to_be_bytes).collect();
    /// let mut keys = vec![master.clone(); rows.len()]; // each is overwritten
    /// kdf.expand_many(&rows, &mut keys)?;
    /// assert_eq!(keys[7], kdf.expand(&rows[7]));
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if there are not as many keys as contexts.
    pub fn expand_many<const N: usize>(
        &self,
        infos: &[impl AsRef<[u8]>],
        keys: &mut [Key<N>],
    ) -> Result<(), Error> {
        if infos.len() != keys.len() {
            return Err(Error::BufferLength);
        }
        let mut start = self.0.clone();
        start.mix_begin(label!("info"));
        let infos = infos.iter().map(AsRef::as_ref);
        let keys = keys.iter_mut().map(|key| key.as_mut_bytes().as_mut_slice());
        many::derive(&start, label!("key"), infos, keys);
        Ok(())
    }

    /// Fills `output`, of any length. An output is not the beginning of a longer one.
    pub fn expand_into(&self, info: &[u8], output: &mut [u8]) {
        let mut protocol = self.0.clone();
        protocol.mix(label!("info"), info);
        protocol.derive(label!("key"), output);
    }
}
