//! Encryption to a public key by a sender whose key the receiver knows: hybrid public-key encryption, authenticated.
//!
//! Mix `sender`, `receiver` and `ephemeral` keys, Mix `ephemeral ecdh` and `static ecdh`, Seal `message`. It does what
//! the Auth mode of HPKE (RFC 9180, section 5.1.3) does, but **it is not RFC 9180**: the key schedule differs, and the
//! two do not interoperate. The notions are those of the analysis of that mode (Alwen et al., "Analysing the HPKE
//! Standard", 2021):
//!
//! - Without the receiver's private key, nobody learns more about the message than its length, even with chosen
//!   ciphertexts and the sender's key (IND-CCA, insider security), if the gap Diffie-Hellman problem is hard. Whoever
//!   gets the receiver's key reads all earlier messages: there is no forward secrecy on that side.
//! - What opens was made with one of the two private keys (outsider authenticity). The receiver, or anyone with the
//!   receiver's key, can forge messages to it. For a sender who cannot deny a message, see
//!   [`signcrypt`](crate::signcrypt).
//! - Messages can be repeated and reordered without notice.
//! - The ephemeral key depends on the sender's key, the receiver, the message and randomness. A generator that repeats
//!   or fails reveals equal messages to the same receiver, and no more. [`setup_sender`] does not know the message, so
//!   a repeating generator gives the same protocol again.
//!
//! [`Sealer`] and [`Opener`] are for messages with associated data, with info, or without a sender's key. Their format
//! differs: they cannot open what the functions seal, nor the other way round.
//!
//! A sealed message is [`OVERHEAD`] = 48 bytes longer: the ephemeral public key (32 bytes), ciphertext, tag (16 bytes).
//!
//! ```
//! use veriplex::{hpke, keys::PrivateKey, label, os_rng};
//!
//! let domain = label!("com.example.hpke");
//! let alice = PrivateKey::generate(&mut os_rng());
//! let bob = PrivateKey::generate(&mut os_rng());
//! let sealed = hpke::seal_vec(domain, &alice, bob.public_key(), &mut os_rng(), b"message")?;
//! assert_eq!(hpke::open_vec(domain, &bob, alice.public_key(), &sealed)?, b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! For a stream of any length, or an answer, use the keyed protocol of [`setup_sender`] and [`setup_receiver`], in a
//! domain of its own: with [`aestream`](crate::aestream), say.

mod context;

use rand_core::CryptoRng;

use super::group;
use crate::base::in_out::{self, InOut};
use crate::base::wipe::wipe;
use crate::keys::{PrivateKey, PublicKey};
use crate::schemes::ristretto::forms::to_public_key;
use crate::{Error, Label, Protocol, TAG_LEN, label};
pub use context::{Opener, Sealer};

/// How many bytes longer a sealed message is: an ephemeral key and a tag.
pub const OVERHEAD: usize = PublicKey::LEN + TAG_LEN;

/// The sender's protocol. The receiver computes its key from the 32 bytes that are returned with it.
///
/// Use the protocol for one thing only: do not also seal messages in this domain with [`seal_into`].
///
/// The ephemeral key depends on domain, sender, receiver and 64 bytes of the generator. If these may repeat, mix
/// something unique into the protocol before the first message.
///
/// # Errors
///
/// [`Error::InvalidKey`] if a Diffie-Hellman step gives the identity, which it never does with valid keys.
pub fn setup_sender<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    sender: &PrivateKey,
    receiver: &PublicKey,
    rng: &mut R,
) -> Result<([u8; PublicKey::LEN], Protocol), Error> {
    let protocol = start(domain, sender.public_key(), receiver);
    let hidden = group::hedge(&protocol, sender.scalar(), rng);
    setup(protocol, sender, receiver, &PrivateKey::ephemeral(hidden))
}

/// The sender's protocol, with this ephemeral key.
pub(in crate::schemes::ristretto) fn setup(
    mut protocol: Protocol,
    sender: &PrivateKey,
    receiver: &PublicKey,
    ephemeral: &PrivateKey,
) -> Result<([u8; PublicKey::LEN], Protocol), Error> {
    let public = ephemeral.public_key().to_bytes();
    protocol.mix(label!("ephemeral"), &public);
    ephemeral.mix_shared(receiver, &mut protocol, label!("ephemeral ecdh"))?;
    sender.mix_shared(receiver, &mut protocol, label!("static ecdh"))?;
    Ok((public, protocol))
}

/// The receiver's protocol, from the 32 bytes of [`setup_sender`].
///
/// Nothing is verified yet: what the protocol opens was made by the sender.
///
/// # Errors
///
/// [`Error::Verification`] if the bytes are not a public key, or a Diffie-Hellman step gives the identity.
pub fn setup_receiver(
    domain: Label<'_>,
    receiver: &PrivateKey,
    sender: &PublicKey,
    ephemeral: &[u8; PublicKey::LEN],
) -> Result<Protocol, Error> {
    let ephemeral = PublicKey::from_bytes(ephemeral).map_err(|_| Error::Verification)?;
    let mut protocol = start(domain, sender, receiver.public_key());
    protocol.mix(label!("ephemeral"), ephemeral.as_bytes());
    receiver
        .mix_shared(&ephemeral, &mut protocol, label!("ephemeral ecdh"))
        .and_then(|()| receiver.mix_shared(sender, &mut protocol, label!("static ecdh")))
        .map_err(|_| Error::Verification)?;
    Ok(protocol)
}

to_public_key!(tag, TAG_LEN, 16, "as for [`setup_sender`]");

/// What all forms of sealing do; returns the ephemeral public key and the tag.
fn seal<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    sender: &PrivateKey,
    receiver: &PublicKey,
    rng: &mut R,
    data: InOut<'_>,
) -> Result<([u8; PublicKey::LEN], [u8; TAG_LEN]), Error> {
    let protocol = start(domain, sender.public_key(), receiver);
    let mut hidden = group::hedge(&protocol, sender.scalar(), rng);
    hidden.mix(label!("message"), data.input());
    let (ephemeral, mut protocol) = setup(protocol, sender, receiver, &PrivateKey::ephemeral(hidden))?;
    Ok((ephemeral, protocol.seal(label!("message"), data)))
}

/// What all forms of opening do. If it fails, the output is all zeros.
fn open(
    domain: Label<'_>,
    receiver: &PrivateKey,
    sender: &PublicKey,
    ephemeral: &[u8; PublicKey::LEN],
    mut data: InOut<'_>,
    tag: &[u8; TAG_LEN],
) -> Result<(), Error> {
    let opened = setup_receiver(domain, receiver, sender, ephemeral)
        .and_then(|mut protocol| protocol.open(label!("message"), data.reborrow(), tag));
    if opened.is_err() {
        wipe(data.output());
    }
    opened
}

/// The transcript before the ephemeral key.
pub(in crate::schemes::ristretto) fn start(
    domain: Label<'_>,
    sender: &PublicKey,
    receiver: &PublicKey,
) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("sender"), sender.as_bytes());
    protocol.mix(label!("receiver"), receiver.as_bytes());
    protocol
}
