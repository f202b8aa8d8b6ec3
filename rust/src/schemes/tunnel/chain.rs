//! The chain of records of one direction: how each is sealed, and its number.

use crate::base::wipe::opaque;
use crate::duplex::lanes::Direction;
use crate::protocol::many::{self, Aligned, Closing, Job, Mixed, Output};
use crate::{Error, Protocol, TAG_LEN, label};

/// Size in bytes of what stands before a frame: its length, masked.
pub const HEADER_LEN: usize = 3;
pub(super) const MAX_FRAME_LEN: usize = 1 << 16;

pub(super) const DATA: u8 = 1;
pub(super) const RENEWAL: u8 = 2;
pub(super) const END: u8 = 3;

/// What [`Chain::seal`] and [`Receiver::open`](super::Receiver::open) do, for a record among others: a Mix of its number, a Mask of its length,
/// and a Seal of its frame.
pub(super) fn job(
    record: &mut [u8],
    number: u64,
    direction: Direction,
    place: usize,
) -> Result<Job<'_>, Error> {
    let mut mixed = [0; 9];
    mixed[..8].copy_from_slice(&number.to_le_bytes());
    let (header, rest) = record.split_first_chunk_mut().ok_or(Error::BufferLength)?;
    let (frame, tag) = rest.split_last_chunk_mut().ok_or(Error::BufferLength)?;
    Ok(Job {
        mixed: Mixed::Short(Aligned(mixed), 8),
        ad: None,
        masked: Some(header),
        data: frame.into(),
        output: match direction {
            Direction::Encrypt => Output::Write(tag),
            _ => Output::compare(tag),
        },
        place,
    })
}

/// The header of a frame of this many bytes, not yet masked.
pub(super) fn header(len: usize) -> Result<[u8; HEADER_LEN], Error> {
    let [_, header @ ..] = u32::try_from(len).map_err(|_| Error::BufferLength)?.to_be_bytes();
    Ok(header)
}

/// The protocol of a direction and the number of its next record.
pub(super) struct Chain {
    protocol: Protocol,
    pub(super) next: u64,
}

impl Chain {
    pub(super) fn new(protocol: Protocol) -> Self {
        Self { protocol, next: 0 }
    }

    /// Uses the protocol of the next record where it is made: what is moved leaves a copy, from which earlier records
    /// can be computed.
    pub(super) fn with_record<R>(&self, number: u64, work: impl FnOnce(&mut Protocol) -> R) -> R {
        let mut record = self.protocol.clone();
        record.mix(label!("record"), &number.to_le_bytes());
        work(&mut record)
    }

    /// The number of the record after so many.
    pub(super) fn after(&self, count: usize) -> Result<u64, Error> {
        let count = u64::try_from(count).map_err(|_| Error::LimitReached)?;
        self.next.checked_add(count).ok_or(Error::LimitReached)
    }

    /// Seals the frame between header and tag.
    pub(super) fn seal(&mut self, record: &mut [u8]) -> Result<(), Error> {
        let len = record.len() - HEADER_LEN - TAG_LEN;
        let (masked, sealed) = record.split_at_mut(HEADER_LEN);
        masked.copy_from_slice(&header(len)?);
        let next = self.after(1)?;
        self.with_record(self.next, |protocol| {
            protocol.mask(label!("len"), masked);
            protocol.seal_in_place(label!("frame"), sealed)
        })?;
        self.next = next;
        Ok(())
    }

    /// Seals the frames of records that follow one another.
    pub(super) fn seal_many(&mut self, records: &mut [u8], each: usize) -> Result<(), Error> {
        let next = self.after(records.len().div_ceil(each))?;
        for record in records.chunks_mut(each) {
            let header = header(record.len() - HEADER_LEN - TAG_LEN)?;
            record[..HEADER_LEN].copy_from_slice(&header);
        }
        let jobs = records.chunks_mut(each).zip(self.next..);
        let jobs = jobs.map(|(record, number)| job(record, number, Direction::Encrypt, 0));
        self.run(Direction::Encrypt, jobs, |job| job.release().map(drop))?;
        self.next = next;
        Ok(())
    }

    pub(super) fn run<'r>(
        &self,
        direction: Direction,
        jobs: impl IntoIterator<Item = Result<Job<'r>, Error>>,
        done: impl FnMut(Job<'r>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut start = self.protocol.clone();
        start.mix_begin(label!("record"));
        many::run(&start, Closing::Seal(label!("frame"), direction), jobs, done)
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
pub(super) fn unmask_len(record: &mut Protocol, header: [u8; HEADER_LEN]) -> Result<usize, Error> {
    let mut len = [0; 4];
    len[1..].copy_from_slice(&header);
    record.unmask(label!("len"), &mut len[1..]);
    match usize::try_from(u32::from_be_bytes(len)) {
        Ok(len @ 1..=MAX_FRAME_LEN) => Ok(len),
        _ => Err(Error::Verification),
    }
}

opaque!(Chain);
