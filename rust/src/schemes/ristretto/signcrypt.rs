//! Encryption to a public key with a signature inside: signcryption.
//!
//! Mix `receiver`, Mix `sender`, Fork `role`. The sender's branch takes in the private key, 64 random bytes and the
//! message, and derives the ephemeral key and the nonce; the receiver's branch takes in the ephemeral public key and
//! the Diffie-Hellman result, masks the message, then masks a Schnorr signature of all that came before.
//!
//! - Designed to be confidential under chosen ciphertexts against everyone except the receiver, even with the sender's
//!   key (IND-CCA, insider security), if the gap Diffie-Hellman problem is hard. There is no forward secrecy for the
//!   receiver.
//! - What opens was made with the sender's key. The receiver cannot forge it either (sUF-CMA, insider security), by the
//!   argument of [`sig`](crate::sig). [`hpke`](crate::hpke) lacks this. The receiver can show others who signed.
//! - Ephemeral key and nonce depend on key, message and randomness. A generator that repeats or fails reveals equal
//!   messages to the same receiver, and no more.
//! - Messages can be repeated and reordered without notice.
//!
//! The notions are those of An, Dodis and Rabin ("On the Security of Joint Signature and Encryption", 2002). There is
//! no published proof for this scheme, which is Newplex's.
//!
//! A sealed message is [`OVERHEAD`] = 96 bytes longer: the ephemeral public key, the masked message, then a masked
//! commitment and a masked scalar, of 32 bytes each.
//!
//! ```
//! use veriplex::{keys::PrivateKey, label, os_rng, signcrypt};
//!
//! let domain = label!("com.example.signcrypt");
//! let alice = PrivateKey::generate(&mut os_rng());
//! let bob = PrivateKey::generate(&mut os_rng());
//! let sealed = signcrypt::seal_vec(domain, &alice, bob.public_key(), &mut os_rng(), b"message")?;
//! assert_eq!(signcrypt::open_vec(domain, &bob, alice.public_key(), &sealed)?, b"message");
//! # Ok::<(), veriplex::Error>(())
//! ```

use curve25519_dalek::RistrettoPoint;
use rand_core::CryptoRng;
use subtle::{Choice, ConstantTimeEq};

use super::group::{self, ELEMENT_LEN, SCALAR_LEN};
use crate::base::in_out::{self, InOut};
use crate::base::timing::Timing;
use crate::base::wipe::Secret;
use crate::keys::{PrivateKey, PublicKey};
use crate::schemes::ristretto::forms::to_public_key;
use crate::{Error, Label, Protocol, label};

/// How many bytes longer a sealed message is: an ephemeral key, a commitment and a scalar.
pub const OVERHEAD: usize = PublicKey::LEN + PROOF_LEN;

/// Size in bytes of the masked commitment and scalar that follow the ciphertext.
pub const PROOF_LEN: usize = ELEMENT_LEN + SCALAR_LEN;

to_public_key!(
    proof,
    PROOF_LEN,
    64,
    "if the ephemeral key or a Diffie-Hellman step gives the identity (a probability of 2^-252)"
);

/// What all forms of sealing do; returns the ephemeral public key and the masked proof.
fn seal<R: CryptoRng + ?Sized>(
    domain: Label<'_>,
    sender: &PrivateKey,
    receiver: &PublicKey,
    rng: &mut R,
    data: InOut<'_>,
) -> Result<([u8; PublicKey::LEN], [u8; PROOF_LEN]), Error> {
    let _timing = Timing::independent();
    let mut proof = [0; PROOF_LEN];
    let [mut hidden, mut shared] = start(domain, sender.public_key(), receiver);
    hidden.mix(label!("sender-private"), sender.scalar().as_bytes());
    hidden.mix(label!("rand"), group::random_bytes(rng).as_slice());
    hidden.mix(label!("message"), data.input());
    let ephemeral = PrivateKey::from_scalar(group::derive_scalar(&mut hidden, label!("ephemeral-private")))?;
    let nonce = group::derive_scalar(&mut hidden, label!("commitment"));

    shared.mix(label!("ephemeral"), ephemeral.public_key().as_bytes());
    ephemeral.mix_shared(receiver, &mut shared, label!("ecdh"))?;
    shared.mask_begin(label!("message"));
    shared.mask_more(data);
    let [commitment, scalar] = proof.as_chunks_mut().0 else {
        return Err(Error::BufferLength);
    };
    *commitment = RistrettoPoint::mul_base(&nonce).compress().to_bytes();
    shared.mask(label!("commitment"), commitment);
    let challenge = group::derive_scalar(&mut shared, label!("challenge"));
    *scalar = (*nonce + **sender.scalar() * *challenge).to_bytes();
    shared.mask(label!("proof"), scalar);
    Ok((ephemeral.public_key().to_bytes(), proof))
}

/// What all forms of opening do. If it fails, the output is all zeros.
fn open(
    domain: Label<'_>,
    receiver: &PrivateKey,
    sender: &PublicKey,
    ephemeral: &[u8; PublicKey::LEN],
    mut data: InOut<'_>,
    proof: &[u8; PROOF_LEN],
) -> Result<(), Error> {
    let verified = unmask_and_verify(domain, receiver, sender, ephemeral, data.reborrow(), *proof);
    in_out::release_or_wipe(verified.unwrap_or(Choice::from(0)), data.output())
}

/// Whether the signature is right. In constant time: it is as secret as the message.
fn unmask_and_verify(
    domain: Label<'_>,
    receiver: &PrivateKey,
    sender: &PublicKey,
    ephemeral: &[u8; PublicKey::LEN],
    data: InOut<'_>,
    proof: [u8; PROOF_LEN],
) -> Result<Choice, Error> {
    let _timing = Timing::independent();
    let ephemeral = PublicKey::from_bytes(ephemeral)?;
    let [_, mut shared] = start(domain, sender, receiver.public_key());
    shared.mix(label!("ephemeral"), ephemeral.as_bytes());
    receiver.mix_shared(&ephemeral, &mut shared, label!("ecdh"))?;
    shared.mask_begin(label!("message"));
    shared.unmask_more(data);
    let mut proof = Secret::new(proof);
    let [commitment, scalar] = proof.as_chunks_mut().0 else {
        return Err(Error::Verification);
    };
    shared.unmask(label!("commitment"), commitment);
    let challenge = group::derive_scalar(&mut shared, label!("challenge"));
    shared.unmask(label!("proof"), scalar);
    let scalar = Secret::new(group::decode_scalar(scalar)?);
    let expected = Secret::new(RistrettoPoint::mul_base(&scalar) - *challenge * sender.element());
    Ok(expected.compress().as_bytes().ct_eq(&*commitment))
}

fn start(domain: Label<'_>, sender: &PublicKey, receiver: &PublicKey) -> [Protocol; 2] {
    let mut protocol = Protocol::new(domain);
    protocol.mix(label!("receiver"), receiver.as_bytes());
    protocol.mix(label!("sender"), sender.as_bytes());
    protocol.fork(label!("role"), ["sender", "receiver"])
}
