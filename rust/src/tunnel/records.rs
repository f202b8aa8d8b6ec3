//! Records: the two directions of a connection.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use rand_core::CryptoRng;

use super::renewal::RenewalKeys;
use crate::{Error, Protocol, TAG_LEN, label};

/// Size in bytes of what stands before a frame: its length, masked.
pub const HEADER_LEN: usize = 3;
/// How many bytes longer a record is than its data: header, type and tag.
pub const DATA_OVERHEAD: usize = HEADER_LEN + 1 + TAG_LEN;
/// Size in bytes of the most data in a record.
pub const MAX_DATA_LEN: usize = MAX_FRAME_LEN - 1;
/// Size in bytes of the longest record.
pub const MAX_RECORD_LEN: usize = MAX_DATA_LEN + DATA_OVERHEAD;
/// Size in bytes of the record that ends a direction.
pub const END_LEN: usize = DATA_OVERHEAD;

const MAX_FRAME_LEN: usize = 1 << 16;

const DATA: u8 = 1;
pub(super) const RENEWAL: u8 = 2;
const END: u8 = 3;

/// What a record says.
#[derive(Debug, PartialEq, Eq)]
pub enum Frame<'r> {
    /// Bytes of the stream, maybe none.
    Data(&'r [u8]),
    /// The peer has renewed the key of this direction.
    Renewal,
    /// The end of this direction.
    End,
}

/// Where the data belong in a record that has [`DATA_OVERHEAD`] bytes more.
///
/// # Errors
///
/// [`Error::BufferLength`] if it is shorter than that, or longer than [`MAX_RECORD_LEN`].
pub fn room(record: &mut [u8]) -> Result<&mut [u8], Error> {
    if !(DATA_OVERHEAD..=MAX_RECORD_LEN).contains(&record.len()) {
        return Err(Error::BufferLength);
    }
    let end = record.len() - TAG_LEN;
    Ok(&mut record[HEADER_LEN + 1..end])
}

/// The protocol of a direction and the number of its next record.
pub(super) struct Chain {
    protocol: Protocol,
    next: u64,
}

impl Chain {
    pub(super) fn new(protocol: Protocol) -> Self {
        Self { protocol, next: 0 }
    }

    /// Uses the protocol of the next record where it is made: what is moved leaves a copy, from which earlier records
    /// can be computed.
    fn with_record<R>(&self, work: impl FnOnce(&mut Protocol) -> R) -> R {
        let mut record = self.protocol.clone();
        record.mix(label!("record"), &self.next.to_le_bytes());
        work(&mut record)
    }

    fn following(&self) -> Result<u64, Error> {
        self.next.checked_add(1).ok_or(Error::LimitReached)
    }

    /// Seals the frame between header and tag.
    pub(super) fn seal(&mut self, record: &mut [u8]) -> Result<(), Error> {
        let len = record.len() - HEADER_LEN - TAG_LEN;
        let (header, sealed) = record.split_at_mut(HEADER_LEN);
        header.copy_from_slice(&u32::try_from(len).map_err(|_| Error::BufferLength)?.to_be_bytes()[1..]);
        let next = self.following()?;
        self.with_record(|protocol| {
            protocol.mask(label!("len"), header);
            protocol.seal_in_place(label!("frame"), sealed)
        })?;
        self.next = next;
        Ok(())
    }

    /// After a renewal: the frame, and what both sides computed from it.
    pub(super) fn renew(&mut self, mut protocol: Protocol) {
        protocol.ratchet(label!("epoch"));
        self.protocol.copy_from(&protocol);
        self.next = 0;
    }

    pub(super) fn protocol(&self) -> &Protocol {
        &self.protocol
    }
}

/// The length of the frame, which is not verified.
fn unmask_len(record: &mut Protocol, header: [u8; HEADER_LEN]) -> Result<usize, Error> {
    let mut len = [0; 4];
    len[1..].copy_from_slice(&header);
    record.unmask(label!("len"), &mut len[1..]);
    match usize::try_from(u32::from_be_bytes(len)) {
        Ok(len @ 1..=MAX_FRAME_LEN) => Ok(len),
        _ => Err(Error::Verification),
    }
}

/// Shows nothing.
impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").finish_non_exhaustive()
    }
}

/// The sending end of a direction.
#[derive(Debug)]
#[must_use]
pub struct Sender(pub(super) Box<Chain>);

impl Sender {
    /// Seals a record in place. Write the data to its [`room`] before.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] as for [`room`]; [`Error::LimitReached`] after 2^64 records without a renewal.
    pub fn seal(&mut self, record: &mut [u8]) -> Result<(), Error> {
        room(record)?;
        record[HEADER_LEN] = DATA;
        self.0.seal(record)
    }

    /// Renews the key of this direction: the record goes to the peer, in order with the others.
    ///
    /// Do so every two minutes while there are data, and at the latest after 2^32 bytes. Renew also when the peer did
    /// and there are no data: only a renewal tells it of a new key, in place of one that has served since the last time.
    ///
    /// The record has 1145 bytes, or 2329 if it announces a new key, which it does unless the peer has not used the last
    /// one yet. Takes 96 or 160 bytes from the generator.
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] as for [`Sender::seal`]; [`Error::InvalidKey`] if the generator is broken, as for
    /// [`PrivateKey::generate`](crate::hybrid::PrivateKey::generate).
    pub fn renew<R: CryptoRng + ?Sized>(
        &mut self,
        keys: &mut RenewalKeys,
        rng: &mut R,
    ) -> Result<Vec<u8>, Error> {
        keys.send(&mut self.0, rng)
    }

    /// Ends this direction: the record of 20 bytes goes to the peer. Without it the peer takes the stream for cut.
    ///
    /// # Errors
    ///
    /// [`Error::LimitReached`] as for [`Sender::seal`].
    pub fn finish(mut self) -> Result<[u8; END_LEN], Error> {
        let mut record = [0; END_LEN];
        record[HEADER_LEN] = END;
        self.0.seal(&mut record)?;
        Ok(record)
    }
}

/// The receiving end of a direction.
#[derive(Debug)]
#[must_use]
pub struct Receiver {
    chain: Box<Chain>,
    has_ended: bool,
}

impl Receiver {
    pub(super) fn new(chain: Box<Chain>) -> Self {
        Self {
            chain,
            has_ended: false,
        }
    }

    /// The length of the next record, header included, from its first three bytes. At most [`MAX_RECORD_LEN`].
    ///
    /// It is not verified: someone who changes bytes on their way can make it any other.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if no record has this header, or the direction has ended.
    pub fn record_len(&self, header: &[u8; HEADER_LEN]) -> Result<usize, Error> {
        if self.has_ended {
            return Err(Error::Verification);
        }
        let len = self.chain.with_record(|record| unmask_len(record, *header))?;
        Ok(HEADER_LEN + len + TAG_LEN)
    }

    /// Opens the next record in place.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not the peer's next record, and then it is wiped, or if the direction has ended.
    pub fn open<'r>(&mut self, record: &'r mut [u8], keys: &mut RenewalKeys) -> Result<Frame<'r>, Error> {
        let wrong = Err(Error::Verification);
        let Some((header, sealed)) = record.split_first_chunk_mut() else {
            return wrong;
        };
        if self.has_ended {
            return wrong;
        }
        let frame = self.chain.with_record(|record| {
            if sealed.len() != unmask_len(record, *header)? + TAG_LEN {
                return Err(Error::Verification);
            }
            record.open_in_place(label!("frame"), sealed)
        })?;
        match frame {
            [DATA, data @ ..] => {
                self.chain.next = self.chain.following()?;
                Ok(Frame::Data(data))
            }
            [RENEWAL, ..] => {
                keys.receive(&mut self.chain, frame)?;
                Ok(Frame::Renewal)
            }
            [END] => {
                self.has_ended = true;
                Ok(Frame::End)
            }
            _ => wrong,
        }
    }
}
