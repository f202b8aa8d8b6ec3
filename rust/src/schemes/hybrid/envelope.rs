//! Encryption to a hybrid key.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::kem::{CIPHERTEXT_LEN, Ciphertext, SECRET_LEN};
use super::{PrivateKey, PublicKey};
use crate::base::in_out;
use crate::base::wipe::{Secret, with_wiped_stack};
use crate::schemes::ristretto::group::{self, ELEMENT_LEN};
use crate::{Error, Label, Protocol, TAG_LEN, keys, label};

/// Size in bytes of what a receiver needs to compute the key: an element, and a ciphertext of ML-KEM.
pub const ENCAPSULATION_LEN: usize = ELEMENT_LEN + CIPHERTEXT_LEN;
/// How many bytes longer a sealed message is: [`ENCAPSULATION_LEN`] and a tag.
pub const OVERHEAD: usize = ENCAPSULATION_LEN + TAG_LEN;

/// The sender's protocol, and the 1120 bytes from which the receiver computes the same. For a stream of any length use it
/// with [`aestream`](crate::aestream), say, in a domain of its own.
///
/// Takes 96 bytes from the generator. The ephemeral key depends on nothing else: if the generator repeats, key streams
/// can repeat.
///
/// # Errors
///
/// [`Error::InvalidKey`] if the generator is broken, as for [`PrivateKey::generate`].
#[allow(clippy::type_complexity)] // it is a pair
pub fn setup_sender<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    sender: &PrivateKey,
    receiver: &PublicKey,
    rng: &mut R,
) -> Result<(Box<[u8; ENCAPSULATION_LEN]>, Box<Protocol>), Error> {
    with_wiped_stack(|| {
        let ephemeral = keys::PrivateKey::from_uniform_bytes(*group::random_bytes(rng))?;
        let (ciphertext, secret) = receiver.encapsulate(rng);
        let element = ephemeral.public_key();
        let mut protocol = Box::new(start(domain, sender.public_key(), receiver, element));
        ephemeral.mix_shared(receiver.element(), &mut protocol, label!("ephemeral ecdh"))?;
        sender.mix_shared(receiver, &mut protocol, label!("static ecdh"))?;
        finish(&mut protocol, &ciphertext, &secret);
        let mut encapsulation = Box::new([0; ENCAPSULATION_LEN]);
        encapsulation[..ELEMENT_LEN].copy_from_slice(element.as_bytes());
        encapsulation[ELEMENT_LEN..].copy_from_slice(&ciphertext);
        Ok((encapsulation, protocol))
    })
}

/// The receiver's protocol, from the 1120 bytes of [`setup_sender`].
///
/// Nothing is verified yet: what the protocol opens was made by the sender.
///
/// # Errors
///
/// [`Error::Verification`] if the first 32 bytes are not an element, or the identity.
pub fn setup_receiver(
    domain: Label<'_>,
    receiver: &PrivateKey,
    sender: &PublicKey,
    encapsulation: &[u8; ENCAPSULATION_LEN],
) -> Result<Box<Protocol>, Error> {
    let wrong = |_| Error::Verification;
    with_wiped_stack(|| {
        let (element, ciphertext) = encapsulation.split_first_chunk().ok_or(Error::Verification)?;
        let element = keys::PublicKey::from_bytes(element).map_err(wrong)?;
        let ciphertext = ciphertext.try_into().map_err(|_| Error::Verification)?;
        let mut protocol = Box::new(start(domain, sender, receiver.public_key(), &element));
        receiver
            .element()
            .mix_shared(&element, &mut protocol, label!("ephemeral ecdh"))
            .and_then(|()| receiver.mix_shared(sender, &mut protocol, label!("static ecdh")))
            .map_err(wrong)?;
        finish(&mut protocol, ciphertext, &receiver.decapsulate(ciphertext));
        Ok(protocol)
    })
}

/// Encrypts a message to a public key; the result is 1136 bytes longer.
///
/// # Errors
///
/// [`Error::InvalidKey`] as for [`setup_sender`].
pub fn seal<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    sender: &PrivateKey,
    receiver: &PublicKey,
    rng: &mut R,
    plaintext: &[u8],
) -> Result<Vec<u8>, Error> {
    let (encapsulation, mut protocol) = setup_sender(domain, sender, receiver, rng)?;
    in_out::seal_vec(plaintext, |data| {
        Ok((*encapsulation, protocol.seal(label!("message"), data)))
    })
}

/// Decrypts a message.
///
/// # Errors
///
/// [`Error::Verification`] if it is not what this sender sealed for this receiver in this domain, [`Error::TooShort`] if it
/// has fewer than [`OVERHEAD`] bytes.
pub fn open(
    domain: Label<'_>,
    receiver: &PrivateKey,
    sender: &PublicKey,
    sealed: &[u8],
) -> Result<Vec<u8>, Error> {
    in_out::open_vec(sealed, |encapsulation, data, tag| {
        setup_receiver(domain, receiver, sender, encapsulation)?.open(label!("message"), data, tag)
    })
}

fn start(domain: Label<'_>, sender: &PublicKey, receiver: &PublicKey, element: &keys::PublicKey) -> Protocol {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("sender"), sender.as_bytes());
    protocol.mix(label!("receiver"), receiver.as_bytes());
    protocol.mix(label!("ephemeral"), element.as_bytes());
    protocol
}

fn finish(protocol: &mut Protocol, ciphertext: &Ciphertext, secret: &Secret<[u8; SECRET_LEN]>) {
    protocol.mix(label!("ciphertext"), ciphertext);
    protocol.mix(label!("encapsulated"), secret.as_slice());
}
