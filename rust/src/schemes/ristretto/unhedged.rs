//! The schemes with ephemeral keys and nonces that the caller chooses.

use curve25519_dalek::Scalar;

use super::{handshake, hpke, oprf};
use crate::base::wipe::Secret;
use crate::handshake::{Initiator, REQUEST_LEN, RESPONSE_LEN, Responder};
use crate::keys::{PrivateKey, PublicKey};
use crate::oprf::{BlindedElement, EvaluatedElement, Proof, ServerKey};
use crate::{Error, Label, Protocol};

/// [`hpke::setup_sender`](crate::hpke::setup_sender) with this ephemeral key. [`hpke`](crate::hpke) then seals
/// `message`.
///
/// # Errors
///
/// [`Error::InvalidKey`] as there.
pub fn hpke_setup_sender(
    domain: Label<'_>,
    sender: &PrivateKey,
    receiver: &PublicKey,
    ephemeral: &PrivateKey,
) -> Result<([u8; PublicKey::LEN], Protocol), Error> {
    let protocol = hpke::start(domain, sender.public_key(), receiver);
    hpke::setup(protocol, sender, receiver, ephemeral)
}

/// [`Initiator::start_with_prologue`] with this ephemeral key.
pub fn handshake_start(
    domain: Label<'_>,
    prologue: &[u8],
    own: &PrivateKey,
    ephemeral: PrivateKey,
) -> (Initiator, [u8; REQUEST_LEN]) {
    Initiator::from_ephemeral(handshake::begin(domain, prologue), own, ephemeral)
}

/// [`Responder::respond_with_prologue`] with this ephemeral key.
///
/// # Errors
///
/// [`Error::Verification`] as there.
pub fn handshake_respond(
    domain: Label<'_>,
    prologue: &[u8],
    own: &PrivateKey,
    request: &[u8],
    ephemeral: PrivateKey,
) -> Result<(Responder, [u8; RESPONSE_LEN]), Error> {
    let (protocol, ie) = Responder::receive_request(domain, prologue, request)?;
    Responder::from_ephemeral(protocol, own, &ie, ephemeral)
}

/// [`oprf::blind_evaluate_verifiable`](crate::oprf::blind_evaluate_verifiable) of one element with the nonce of these
/// 64 bytes. **Two proofs with one nonce give the key away.**
///
/// # Errors
///
/// [`Error::InvalidKey`] as there.
pub fn oprf_blind_evaluate(
    domain: Label<'_>,
    key: &ServerKey,
    blinded: &BlindedElement,
    nonce: [u8; 64],
) -> Result<(EvaluatedElement, Proof), Error> {
    let nonce = Secret::new(nonce);
    let mut evaluated = [oprf::blind_evaluate(key, blinded)?];
    let proof = oprf::evaluate_batch(domain, key, &[*blinded], &mut evaluated, |_| {
        Secret::new(Scalar::from_bytes_mod_order_wide(&nonce))
    })?;
    let [evaluated] = evaluated;
    Ok((evaluated, proof))
}
