//! Records: the two directions of a connection.

use alloc::boxed::Box;
use alloc::vec::Vec;

use rand_core::CryptoRng;

use super::chain::{Chain, DATA, END, HEADER_LEN, MAX_FRAME_LEN, RENEWAL, job, unmask_len};
use super::renewal::{self, RenewalKeys};
use crate::backend::lane_backend::{LANES, LaneBackend};
use crate::duplex::lanes::Direction;
use crate::protocol::many::Guarded;
use crate::{Error, TAG_LEN, label};

/// How many bytes longer a record is than its data: header, type and tag.
pub const DATA_OVERHEAD: usize = HEADER_LEN + 1 + TAG_LEN;
/// Size in bytes of the most data in a record.
pub const MAX_DATA_LEN: usize = MAX_FRAME_LEN - 1;
/// Size in bytes of the longest record.
pub const MAX_RECORD_LEN: usize = MAX_DATA_LEN + DATA_OVERHEAD;
/// Size in bytes of the record that ends a direction.
pub const END_LEN: usize = DATA_OVERHEAD;

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

/// Less data than this in a record cost more than the lanes gain.
const MIN_SHARE: usize = 1 << 10;
/// More than this is not needed to fill the lanes.
const MAX_SHARE: usize = 1 << 13;

/// How much data to put into a record when there are `len` bytes: not all of them where the CPU is faster with several
/// records at once ([`Sender::seal_many`]). At least 1, at most [`MAX_DATA_LEN`].
#[must_use]
pub fn share(len: usize) -> usize {
    if LaneBackend::current().serial_threshold() == LANES {
        len.clamp(1, MAX_DATA_LEN)
    } else {
        len.div_ceil(LANES).clamp(MIN_SHARE, MAX_SHARE)
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

    /// Seals consecutive records in place, eight at a time, which is faster where the CPU has the instructions. The
    /// result is that of [`Sender::seal`] on each. All have `each` bytes, but the last may have fewer. Write the data
    /// to the [`room`] of each first; [`share`] says how much belongs in one.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] as for [`room`], and if there are none; [`Error::LimitReached`] as for [`Sender::seal`].
    /// Then none is sealed.
    pub fn seal_many(&mut self, records: &mut [u8], each: usize) -> Result<(), Error> {
        let lens = DATA_OVERHEAD..=MAX_RECORD_LEN;
        let last = records.len().checked_rem(each).ok_or(Error::BufferLength)?;
        if records.is_empty() || !lens.contains(&each) || (last != 0 && !lens.contains(&last)) {
            return Err(Error::BufferLength);
        }
        for record in records.chunks_mut(each) {
            record[HEADER_LEN] = DATA;
        }
        self.0.seal_many(records, each)
    }

    /// Renews the key of this direction: the record goes to the peer, in order with the others.
    ///
    /// Do so every two minutes while data flow, and at the latest after 2^32 bytes. Renew also when the peer has
    /// renewed and there are no data to send: only a renewal tells the peer of a new key, to replace the one that has
    /// been in use since the last.
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

    /// Ends this direction: send the record of 20 bytes to the peer. Without it, the peer considers the stream cut.
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
    /// It is not verified: whoever changes bytes in transit can make it anything.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if no record has this header, or the direction has ended.
    pub fn record_len(&self, header: &[u8; HEADER_LEN]) -> Result<usize, Error> {
        self.later_len(0, *header)
    }

    /// The length of the record that comes after so many.
    fn later_len(&self, count: usize, header: [u8; HEADER_LEN]) -> Result<usize, Error> {
        if self.has_ended {
            return Err(Error::Verification);
        }
        let number = self.chain.after(count)?;
        let len = self
            .chain
            .with_record(number, |record| unmask_len(record, header))?;
        Ok(HEADER_LEN + len + TAG_LEN)
    }

    /// Opens the next record in place.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if it is not the peer's next record, or the direction has ended; [`Error::TooShort`] if it
    /// has fewer than 20 bytes. The record is then wiped.
    pub fn open<'r>(&mut self, record: &'r mut [u8], keys: &mut RenewalKeys) -> Result<Frame<'r>, Error> {
        let mut record = Guarded::from(record);
        if self.has_ended {
            return Err(Error::Verification);
        }
        let parts = record.output().split_first_chunk_mut();
        let (header, sealed) = parts
            .filter(|(_, sealed)| sealed.len() > TAG_LEN)
            .ok_or(Error::TooShort)?;
        let frame = self.chain.with_record(self.chain.next, |record| {
            if sealed.len() != unmask_len(record, *header)? + TAG_LEN {
                return Err(Error::Verification);
            }
            record.open_in_place(label!("frame"), sealed)
        })?;
        match frame {
            [DATA, ..] => self.chain.next = self.chain.after(1)?,
            [RENEWAL, ..] => {
                keys.receive(&mut self.chain, frame)?;
                return Ok(Frame::Renewal);
            }
            [END] => {
                self.has_ended = true;
                return Ok(Frame::End);
            }
            _ => return Err(Error::Verification),
        }
        Ok(Frame::Data(room(record.release())?))
    }

    /// Opens in place the whole records at the start of `bytes`, up to eight together, which is faster where the CPU
    /// has the instructions. `on_frame` gets their frames in order. Returns how many bytes they took: 0 if not even the
    /// first is whole.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] as for [`Receiver::open`] and [`Receiver::record_len`]. `on_frame` has got the frames
    /// before it; the wrong record is wiped, with everything opened together with it. So is what `on_frame` did not get
    /// if it panics.
    pub fn open_many<'r>(
        &mut self,
        bytes: &'r mut [u8],
        keys: &mut RenewalKeys,
        mut on_frame: impl FnMut(Frame<'r>),
    ) -> Result<usize, Error> {
        let mut lens = [0; LANES];
        let (mut count, mut total) = (0, 0);
        while let Some(header) = bytes[total..].first_chunk()
            && count < LANES
        {
            let len = match self.later_len(count, *header) {
                Ok(len) => len,
                Err(error) if count == 0 => return Err(error),
                Err(_) => break, // the error of the next call
            };
            if len > bytes.len() - total {
                break;
            }
            // What may be more than data is opened alone: after it, the keys may be others.
            let is_alone = len == END_LEN || renewal::RECORD_LENS.contains(&len);
            if is_alone && count > 0 {
                break;
            }
            lens[count] = len;
            count += 1;
            total += len;
            if is_alone {
                break;
            }
        }
        if count <= 1 {
            if count == 1 {
                on_frame(self.open(&mut bytes[..total], keys)?);
            }
            return Ok(total);
        }

        self.chain.after(count)?;
        let numbers = self.chain.next..;
        let mut opened = [const { None }; LANES];
        let mut rest = bytes;
        let jobs = lens[..count].iter().zip(numbers).enumerate();
        let jobs = jobs.map(|(place, (len, number))| {
            let (record, others) = core::mem::take(&mut rest).split_at_mut(*len);
            rest = others;
            job(record, number, Direction::Decrypt, place)
        });
        self.chain.run(Direction::Decrypt, jobs, |mut job| {
            let verified = job.verify();
            opened[job.place] = Some(verified.map(|()| job.data));
            Ok(())
        })?;
        for frame in &mut opened[..count] {
            let mut frame = frame.take().ok_or(Error::Verification)??;
            if frame.output().first() != Some(&DATA) {
                return Err(Error::Verification);
            }
            self.chain.next += 1;
            on_frame(Frame::Data(&frame.release()[1..]));
        }
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::super::chain::header;
    use super::*;
    use crate::Protocol;
    use crate::hybrid::PrivateKey;

    fn chain(next: u64) -> Box<Chain> {
        let protocol = Protocol::new(label!("test"));
        let mut chain = Box::new(Chain::new(protocol));
        chain.next = next;
        chain
    }

    fn keys() -> RenewalKeys {
        let own = PrivateKey::from_bytes(&[1; PrivateKey::LEN]).unwrap();
        RenewalKeys::new(&own, own.public_key().clone())
    }

    /// The last number is never sent, so that the next one is always a number.
    #[test]
    fn the_numbers_of_records_end() {
        const RECORD_LEN: usize = DATA_OVERHEAD + 10;
        let numbers = u64::MAX - 2..;
        let mut sender = Sender(chain(numbers.start));
        let mut three = vec![7; 3 * RECORD_LEN];
        assert_eq!(sender.seal_many(&mut three, RECORD_LEN), Err(Error::LimitReached));
        assert_eq!(sender.0.next, numbers.start);
        assert!(
            three
                .chunks(RECORD_LEN)
                .all(|record| record[HEADER_LEN + 1..] == [7; 26]),
            "none is sealed"
        );
        let mut two = three[..2 * RECORD_LEN].to_vec();
        let mut one_by_one = two.clone();
        sender.seal_many(&mut two, RECORD_LEN).unwrap();
        assert_eq!(sender.0.next, u64::MAX);
        assert_eq!(sender.seal(&mut three[..RECORD_LEN]), Err(Error::LimitReached));
        let mut sender = Sender(chain(numbers.start));
        for record in one_by_one.chunks_mut(RECORD_LEN) {
            sender.seal(record).unwrap();
        }
        assert!(one_by_one == two);
        assert_eq!(sender.finish(), Err(Error::LimitReached));

        // A peer that seals the last one nevertheless.
        let mut last = two[..RECORD_LEN].to_vec();
        last[..HEADER_LEN].copy_from_slice(&header(11).unwrap());
        last[HEADER_LEN..][..11].fill(DATA);
        chain(0)
            .with_record(u64::MAX, |protocol| {
                let (masked, sealed) = last.split_at_mut(HEADER_LEN);
                protocol.mask(label!("len"), masked);
                protocol.seal_in_place(label!("frame"), sealed)
            })
            .unwrap();
        let all = [&two[..], &last].concat();
        let mut taken = 0;
        let mut receiver = Receiver::new(chain(numbers.start));
        let result = receiver.open_many(&mut all.clone(), &mut keys(), |_| taken += 1);
        assert_eq!((result, taken), (Err(Error::LimitReached), 0));
        assert_eq!(
            receiver.open_many(&mut two, &mut keys(), |_| taken += 1),
            Ok(2 * RECORD_LEN)
        );
        assert_eq!((taken, receiver.chain.next), (2, u64::MAX));
        assert_eq!(receiver.open(&mut last, &mut keys()), Err(Error::LimitReached));
    }
}
