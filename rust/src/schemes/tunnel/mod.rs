//! Connections between two peers that know each other by [hybrid](crate::hybrid) public key: a handshake of two
//! messages, records, and renewal of the keys as the connection goes on. Pure state machines: bytes in, bytes out. The
//! crate `veriplex-tunnel` runs them over any stream.
//!
//! Sizes in bytes: request 3552, response 3424; a record has at most 65535 bytes of data, and 20 more. If no quantum
//! computer is to be feared, [`handshake`](crate::handshake) is smaller.
//!
//! It is secure if either Ristretto255 (RFC 9496) or ML-KEM-768 (FIPS 203) is. The shape is that of
//! [Yrgourd](https://github.com/codahale/yrgourd). `docs/formats.md` has the format, `design.md` the argument.
//!
//! ```
//! use veriplex::{hybrid::PrivateKey, label, tunnel::{self, Frame, Initiator, Responder}};
//!
//! let mut rng = veriplex::os_rng();
//! let (alice, bob) = (PrivateKey::generate(&mut rng)?, PrivateKey::generate(&mut rng)?);
//! let domain = label!("com.example.tunnel");
//!
//! let (initiator, request) = Initiator::start(domain, &alice, bob.public_key(), &mut rng)?;
//! let claimed = Responder::receive(domain, &bob, &*request)?;
//! assert_eq!(claimed.peer(), alice.public_key()); // look it up in a list of allowed keys
//! let (responder, response) = claimed.accept(&mut rng)?;
//! let mut alices = initiator.receive(&*response)?; // now Alice knows that it is Bob
//!
//! let mut record = vec![0; tunnel::DATA_OVERHEAD + 5];
//! tunnel::room(&mut record)?.copy_from_slice(b"hello");
//! alices.sender.seal(&mut record)?;
//! let (bobs, frame) = responder.confirm(&mut record)?; // now Bob knows that it is Alice
//! assert_eq!(frame, Frame::Data(b"hello"));
//! # drop((alices, bobs));
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! # What is known when
//!
//! - The initiator knows the responder's key beforehand. A response that opens is the responder's.
//! - A request that opens was made with the private key of the initiator that it names, in the half over Ristretto255,
//!   or with the responder's. It may be a copy of an old one. The first record that opens is the initiator's, and no
//!   copy. Before that there is no [`Session`], so there is nothing to send data with.
//! - Observers learn lengths and times, but nothing about the keys. Whoever gets the responder's private key later
//!   learns who the initiators were, but not what was sent.
//!
//! # Random numbers
//!
//! Ephemeral keys and encapsulations depend on the generator alone, so it must be good.
//!
//! # Values that are used once
//!
//! Each step of the handshake consumes the value of the step before, so that none can be left out or done twice:
//!
//! ```compile_fail,E0382
//! # fn twice(initiator: veriplex::tunnel::Initiator, response: &[u8]) {
//! let first = initiator.receive(response);
//! let second = initiator.receive(response);
//! # }
//! ```
//!
//! A responder cannot send before the initiator has proved itself:
//!
//! ```compile_fail,E0609
//! # fn early(responder: veriplex::tunnel::Responder, record: &mut [u8]) {
//! responder.sender.seal(record);
//! # }
//! ```
//!
//! and there is nothing after the end of a direction:
//!
//! ```compile_fail,E0382
//! # fn late(sender: veriplex::tunnel::Sender, record: &mut [u8]) {
//! let end = sender.finish();
//! sender.seal(record);
//! # }
//! ```

mod chain;
mod handshake;
mod records;
mod renewal;

pub use chain::HEADER_LEN;
pub use handshake::{ClaimedInitiator, Initiator, REQUEST_LEN, RESPONSE_LEN, Responder, Session};
pub use records::{
    DATA_OVERHEAD, END_LEN, Frame, MAX_DATA_LEN, MAX_RECORD_LEN, Receiver, Sender, room, share,
};
pub use renewal::RenewalKeys;
