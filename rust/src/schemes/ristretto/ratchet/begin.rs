//! How a conversation begins in a session: each side sends a first key, sealed.

use rand_core::CryptoRng;

use super::Ratchet;
use crate::keys::{PrivateKey, PublicKey};
use crate::schemes::ristretto::{handshake, pake};
use crate::{Error, Protocol, label};

/// Size in bytes of what each side sends to begin a conversation: its first public key, sealed.
pub const FIRST_KEY_LEN: usize = PublicKey::SEALED_LEN;

/// A side that waits for the peer's first key: made by `into_ratchet` of a session.
///
/// Nothing can be sent before it has arrived:
///
/// ```compile_fail,E0599
/// # fn early(pending: veriplex::ratchet::Pending) {
/// let message = pending.seal_vec(b"message");
/// # }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Pending {
    send: Protocol,
    recv: Protocol,
    local: PrivateKey,
}

impl handshake::Session {
    /// Continues as a conversation whose messages may be lost or reordered. Send the returned 48 bytes to the peer:
    /// this side's first key, new and sealed. It takes 64 bytes from `rng`.
    ///
    /// No other key is used: long-term keys do not get into the ratchet's state.
    ///
    /// ```
    /// # use veriplex::{handshake::{Initiator, Responder}, keys::PrivateKey, label};
    /// # let mut rng = veriplex::os_rng();
    /// # let (alice, bob) = (PrivateKey::generate(&mut rng), PrivateKey::generate(&mut rng));
    /// # let domain = label!("com.example.handshake");
    /// # let (initiator, request) = Initiator::start(domain, &alice, &mut rng);
    /// # let (responder, response) = Responder::respond(domain, &bob, &request, &mut rng)?;
    /// # let (alice_session, confirmation) = initiator.receive(&response)?.accept();
    /// # let bob_session = responder.receive(&confirmation)?.accept();
    /// let (alice, to_bob) = alice_session.into_ratchet(&mut rng);
    /// let (bob, to_alice) = bob_session.into_ratchet(&mut rng);
    /// let mut alice = alice.receive(&to_alice, &mut rng)?; // now Alice knows that Bob has his private key
    /// let mut bob = bob.receive(&to_bob, &mut rng)?;
    ///
    /// let message = alice.seal_vec(b"message")?;
    /// assert_eq!(bob.open_vec(&message, &mut rng)?, b"message");
    /// # Ok::<(), veriplex::Error>(())
    /// ```
    pub fn into_ratchet<R: CryptoRng + ?Sized>(self, rng: &mut R) -> (Pending, [u8; FIRST_KEY_LEN]) {
        Pending::new(self.send, self.recv, rng)
    }
}

impl pake::Session {
    /// Continues as a conversation whose messages may be lost or reordered: see
    /// [`handshake::Session::into_ratchet`](crate::handshake::Session::into_ratchet).
    pub fn into_ratchet<R: CryptoRng + ?Sized>(self, rng: &mut R) -> (Pending, [u8; FIRST_KEY_LEN]) {
        Pending::new(self.send, self.recv, rng)
    }
}

impl Pending {
    fn new<R: CryptoRng + ?Sized>(
        mut send: Protocol,
        recv: Protocol,
        rng: &mut R,
    ) -> (Self, [u8; FIRST_KEY_LEN]) {
        let local = PrivateKey::generate(rng);
        let mut first_key = [0; FIRST_KEY_LEN];
        send.seal_into(label!("ratchet"), local.public_key().as_bytes(), &mut first_key)
            .expect("it has room for the tag");
        (Self { send, recv, local }, first_key)
    }

    /// Reads the peer's first key, 48 bytes. If ours is the smaller one, we begin with a step, which takes 64 bytes from
    /// `rng`; so one side does. The key is the peer's: now it is known to have its private key, or the password.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not what the peer's `into_ratchet` gave.
    pub fn receive<R: CryptoRng + ?Sized>(self, first_key: &[u8], rng: &mut R) -> Result<Ratchet, Error> {
        let Self {
            send,
            mut recv,
            local,
        } = self;
        let remote = PublicKey::open(&mut recv, label!("ratchet"), first_key)?;
        let is_initiator = local.public_key().as_bytes() < remote.as_bytes();
        let mut ratchet = Ratchet::new(send, recv, local, remote);
        if is_initiator {
            ratchet.ratchet(rng)?;
        }
        Ok(ratchet)
    }
}
