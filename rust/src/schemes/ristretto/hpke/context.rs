//! Encryption to a public key with more context: info, associated data, and a sender's key or none.

use rand_core::CryptoRng;

use crate::base::in_out::{self, InOut};
use crate::base::wipe::wipe;
use crate::keys::{PrivateKey, PublicKey};
use crate::schemes::ristretto::group;
use crate::{Error, Label, Protocol, TAG_LEN, label};

/// What an ephemeral key is for: one message, or a protocol.
#[derive(Clone, Copy)]
enum Use {
    Message,
    Setup,
}

/// Seals messages to a public key: with a sender's key or without one, with info and associated data.
///
/// [`Sealer::anonymous`] does what the Base mode of RFC 9180 does, [`Sealer::authenticated`] what its Auth mode does.
/// The format is not that of the functions of this module, nor that of the RFC: Mix `mode`, `info`, the `sender` if there
/// is one, `receiver`, `ephemeral`, `ephemeral ecdh`, with a sender `static ecdh`, then `ad`; Seal `message`. A message is
/// [`OVERHEAD`](super::OVERHEAD) = 48 bytes longer.
///
/// **Anyone can make an anonymous message.** It says nothing about who did, and only the receiver can read it. Its
/// ephemeral key comes from domain, info, receiver, associated data, message and the generator: whoever can predict the
/// generator's bytes can test a guess at the message.
/// ```
/// use veriplex::hpke::{Opener, Sealer};
/// use veriplex::{keys::PrivateKey, label, os_rng};
///
/// let domain = label!("com.example.reports");
/// let office = PrivateKey::generate(&mut os_rng());
/// let sealer = Sealer::anonymous(domain, office.public_key()).with_info(b"version 1");
/// let sealed = sealer.seal_vec(b"ticket 17", &mut os_rng(), b"message")?;
///
/// let opener = Opener::anonymous(domain, &office).with_info(b"version 1");
/// assert_eq!(opener.open_vec(b"ticket 17", &sealed)?, b"message");
/// assert!(opener.open_vec(b"ticket 18", &sealed).is_err());
/// # Ok::<(), veriplex::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sealer<'k> {
    domain: Label<'k>,
    sender: Option<&'k PrivateKey>,
    receiver: &'k PublicKey,
    info: &'k [u8],
}

impl<'k> Sealer<'k> {
    /// Without a sender's key.
    #[must_use]
    pub const fn anonymous(domain: Label<'k>, receiver: &'k PublicKey) -> Self {
        Self {
            domain,
            sender: None,
            receiver,
            info: b"",
        }
    }

    /// With the sender's key, which the receiver knows.
    #[must_use]
    pub const fn authenticated(domain: Label<'k>, sender: &'k PrivateKey, receiver: &'k PublicKey) -> Self {
        Self {
            domain,
            sender: Some(sender),
            receiver,
            info: b"",
        }
    }

    /// Sets the info, which the receiver must also have: what all messages have in common, such as a version. The
    /// default is empty.
    #[must_use]
    pub const fn with_info(mut self, info: &'k [u8]) -> Self {
        self.info = info;
        self
    }

    /// A protocol for several messages, or a stream; the receiver computes the same from the 32 bytes returned with it.
    ///
    /// It is independent of all messages sealed with this sealer. The ephemeral key does not depend on what the protocol
    /// is used for: if the generator repeats, so does the key stream.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if a Diffie-Hellman step gives the identity, which it never does with valid keys.
    pub fn setup<R: CryptoRng + ?Sized>(
        &self,
        rng: &mut R,
    ) -> Result<([u8; PublicKey::LEN], Protocol), Error> {
        let protocol = self.start(Use::Setup);
        let hidden = self.hedge(&protocol, rng);
        self.agree(protocol, hidden)
    }

    /// Encrypts in place. Returns the ephemeral public key and the tag.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] as for [`Sealer::setup`].
    pub fn seal_in_place_detached<R: CryptoRng + ?Sized>(
        &self,
        ad: &[u8],
        rng: &mut R,
        in_out: &mut [u8],
    ) -> Result<([u8; PublicKey::LEN], [u8; TAG_LEN]), Error> {
        self.seal(ad, rng, in_out.into())
    }

    /// Seals from one buffer into another, which is [`OVERHEAD`](super::OVERHEAD) bytes longer.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if it is not; [`Error::InvalidKey`] as for [`Sealer::setup`].
    pub fn seal_into<R: CryptoRng + ?Sized>(
        &self,
        ad: &[u8],
        rng: &mut R,
        plaintext: &[u8],
        sealed: &mut [u8],
    ) -> Result<(), Error> {
        in_out::seal_into(plaintext, sealed, |data| self.seal(ad, rng, data))
    }

    /// Seals into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] as for [`Sealer::setup`].
    #[cfg(feature = "alloc")]
    pub fn seal_vec<R: CryptoRng + ?Sized>(
        &self,
        ad: &[u8],
        rng: &mut R,
        plaintext: &[u8],
    ) -> Result<alloc::vec::Vec<u8>, Error> {
        in_out::seal_vec(plaintext, |data| self.seal(ad, rng, data))
    }

    fn seal<R: CryptoRng + ?Sized>(
        &self,
        ad: &[u8],
        rng: &mut R,
        data: InOut<'_>,
    ) -> Result<([u8; PublicKey::LEN], [u8; TAG_LEN]), Error> {
        let protocol = self.start(Use::Message);
        let mut hidden = self.hedge(&protocol, rng);
        hidden.mix(label!("ad"), ad);
        hidden.mix(label!("message"), data.input());
        let (ephemeral, mut protocol) = self.agree(protocol, hidden)?;
        protocol.mix(label!("ad"), ad);
        Ok((ephemeral, protocol.seal(label!("message"), data)))
    }

    fn start(&self, purpose: Use) -> Protocol {
        let sender = self.sender.map(PrivateKey::public_key);
        start(self.domain, purpose, self.info, sender, self.receiver)
    }

    /// What the ephemeral key comes from.
    fn hedge<R: CryptoRng + ?Sized>(&self, protocol: &Protocol, rng: &mut R) -> Protocol {
        match self.sender {
            Some(sender) => group::hedge(protocol, sender.scalar(), rng),
            None => group::randomized(protocol.clone(), rng),
        }
    }

    fn agree(
        &self,
        mut protocol: Protocol,
        hidden: Protocol,
    ) -> Result<([u8; PublicKey::LEN], Protocol), Error> {
        let ephemeral = PrivateKey::ephemeral(hidden);
        let public = ephemeral.public_key().to_bytes();
        protocol.mix(label!("ephemeral"), &public);
        ephemeral.mix_shared(self.receiver, &mut protocol, label!("ephemeral ecdh"))?;
        if let Some(sender) = self.sender {
            sender.mix_shared(self.receiver, &mut protocol, label!("static ecdh"))?;
        }
        Ok((public, protocol))
    }
}

/// Opens what a [`Sealer`] sealed with the same domain, info and keys.
#[derive(Clone, Copy, Debug)]
pub struct Opener<'k> {
    domain: Label<'k>,
    receiver: &'k PrivateKey,
    sender: Option<&'k PublicKey>,
    info: &'k [u8],
}

impl<'k> Opener<'k> {
    /// For messages without a sender's key: anyone can have made them.
    #[must_use]
    pub const fn anonymous(domain: Label<'k>, receiver: &'k PrivateKey) -> Self {
        Self {
            domain,
            receiver,
            sender: None,
            info: b"",
        }
    }

    /// For messages of this sender.
    #[must_use]
    pub const fn authenticated(domain: Label<'k>, receiver: &'k PrivateKey, sender: &'k PublicKey) -> Self {
        Self {
            domain,
            receiver,
            sender: Some(sender),
            info: b"",
        }
    }

    /// With the info that the sender gave.
    #[must_use]
    pub const fn with_info(mut self, info: &'k [u8]) -> Self {
        self.info = info;
        self
    }

    /// The protocol of [`Sealer::setup`], from the 32 bytes that came with it. Nothing is verified yet.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the bytes are not a public key, or a Diffie-Hellman step gives the identity.
    pub fn setup(&self, ephemeral: &[u8; PublicKey::LEN]) -> Result<Protocol, Error> {
        self.agree(Use::Setup, ephemeral)
    }

    /// Decrypts in place, with what [`Sealer::seal_in_place_detached`] returned.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if this is not what was sealed so; `in_out` is then all zeros.
    pub fn open_in_place_detached(
        &self,
        ad: &[u8],
        ephemeral: &[u8; PublicKey::LEN],
        in_out: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        self.open(ad, ephemeral, in_out.into(), tag)
    }

    /// Opens from one buffer into another, which is [`OVERHEAD`](super::OVERHEAD) bytes shorter.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if this is not what was sealed so, [`Error::TooShort`] if it is shorter than
    /// [`OVERHEAD`](super::OVERHEAD); `plaintext` is then all zeros.
    /// [`Error::BufferLength`] if `plaintext` has the wrong length.
    pub fn open_into(&self, ad: &[u8], sealed: &[u8], plaintext: &mut [u8]) -> Result<(), Error> {
        in_out::open_into(sealed, plaintext, |ephemeral, data, tag| {
            self.open(ad, ephemeral, data, tag)
        })
    }

    /// Opens into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if this is not what was sealed so, [`Error::TooShort`] if it is shorter than
    /// [`OVERHEAD`](super::OVERHEAD).
    #[cfg(feature = "alloc")]
    pub fn open_vec(&self, ad: &[u8], sealed: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        in_out::open_vec(sealed, |ephemeral, data, tag| self.open(ad, ephemeral, data, tag))
    }

    fn open(
        &self,
        ad: &[u8],
        ephemeral: &[u8; PublicKey::LEN],
        mut data: InOut<'_>,
        tag: &[u8; TAG_LEN],
    ) -> Result<(), Error> {
        let opened = self.agree(Use::Message, ephemeral).and_then(|mut protocol| {
            protocol.mix(label!("ad"), ad);
            protocol.open(label!("message"), data.reborrow(), tag)
        });
        if opened.is_err() {
            wipe(data.output());
        }
        opened
    }

    fn agree(&self, purpose: Use, ephemeral: &[u8; PublicKey::LEN]) -> Result<Protocol, Error> {
        let wrong = |_| Error::Verification;
        let ephemeral = PublicKey::from_bytes(ephemeral).map_err(wrong)?;
        let receiver = self.receiver.public_key();
        let mut protocol = start(self.domain, purpose, self.info, self.sender, receiver);
        protocol.mix(label!("ephemeral"), ephemeral.as_bytes());
        self.receiver
            .mix_shared(&ephemeral, &mut protocol, label!("ephemeral ecdh"))
            .map_err(wrong)?;
        if let Some(sender) = self.sender {
            self.receiver
                .mix_shared(sender, &mut protocol, label!("static ecdh"))
                .map_err(wrong)?;
        }
        Ok(protocol)
    }
}

/// The transcript before the ephemeral key.
fn start(
    domain: Label<'_>,
    purpose: Use,
    info: &[u8],
    sender: Option<&PublicKey>,
    receiver: &PublicKey,
) -> Protocol {
    let mode = match (sender, purpose) {
        (None, Use::Message) => "base",
        (None, Use::Setup) => "base-setup",
        (Some(_), Use::Message) => "auth",
        (Some(_), Use::Setup) => "auth-setup",
    };
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("mode"), mode.as_bytes());
    protocol.mix(label!("info"), info);
    if let Some(sender) = sender {
        protocol.mix(label!("sender"), sender.as_bytes());
    }
    protocol.mix(label!("receiver"), receiver.as_bytes());
    protocol
}
