//! The bytes of an object: README.md, "Format".

use object_store::path::Path;
use object_store::{GetRange, ObjectMeta, PutPayload};
use std::ops::Range;
use veriplex::kdf::Kdf;
use veriplex::mac::Mac;
use veriplex::seekable::{DEFAULT_SEGMENT_LEN, Layout, MAX_SEGMENT_LEN, MIN_SEGMENT_LEN, Message, Seekable};
use veriplex::{Error, Key, Nonce, TAG_LEN, label};

use crate::{ObjectError, Reason};

const NONCE_LEN: usize = 32;
const MAGIC: [u8; 8] = *b"vpxstor\x01";

const TAGGED: usize = MAGIC.len() + 4 + NONCE_LEN;
pub(crate) const HEADER: usize = TAGGED + TAG_LEN;
/// How many bytes an object has before its segments.
pub const HEADER_LEN: u64 = HEADER as u64;

/// How much plaintext is opened at a time, if it is more than a segment.
const BATCH: usize = 1 << 17;

#[derive(Clone, Debug)]
pub(crate) struct Format {
    keys: Kdf,
    segment_len: usize,
}

impl Format {
    pub(crate) fn new(key: &Key, context: &[u8]) -> Self {
        Self {
            keys: Kdf::extract(label!("veriplex.store.keys.v1"), context, key.as_bytes()),
            segment_len: DEFAULT_SEGMENT_LEN,
        }
    }

    pub(crate) fn with_segment_len(self, segment_len: usize) -> Result<Self, Error> {
        if !(MIN_SEGMENT_LEN..=MAX_SEGMENT_LEN).contains(&segment_len) {
            return Err(Error::BufferLength);
        }
        Ok(Self { segment_len, ..self })
    }

    pub(crate) fn segment_len(&self) -> usize {
        self.segment_len
    }

    /// How many segments are opened at a time.
    pub(crate) fn batch(&self) -> u64 {
        (BATCH / self.segment_len).max(1) as u64
    }

    /// The header of a new object, and what seals its content.
    pub(crate) fn create(&self, path: &Path) -> Result<([u8; HEADER], Message), ObjectError> {
        let nonce = Nonce::<NONCE_LEN>::generate(&mut veriplex::os_rng());
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&self.segment_len.to_le_bytes()[..4]);
        header[12..TAGGED].copy_from_slice(nonce.as_bytes());
        let key = self.keys.expand(nonce.as_bytes());
        let tag = header_mac(&key, &header[..TAGGED]).finalize();
        header[TAGGED..].copy_from_slice(tag.as_bytes());
        Ok((header, self.message(path, &header)?))
    }

    /// What opens the content of the object with this header.
    pub(crate) fn message(&self, path: &Path, header: &[u8; HEADER]) -> Result<Message, ObjectError> {
        let error = |reason| ObjectError::new(path, reason);
        let (magic, rest) = header.split_first_chunk::<8>().expect("it is longer");
        let (segment_len, rest) = rest.split_first_chunk::<4>().expect("it is longer");
        let (nonce, tag) = rest.split_first_chunk::<NONCE_LEN>().expect("it is longer");
        if *magic != MAGIC {
            return Err(error(Reason::Header));
        }
        let found = u32::from_le_bytes(*segment_len);
        if found as usize != self.segment_len {
            return Err(error(Reason::SegmentLength(found)));
        }
        let key = self.keys.expand(nonce);
        let tagged = header_mac(&key, &header[..TAGGED]).verify(tag);
        tagged.map_err(|_| error(Reason::Key))?;
        let seekable = Seekable::new(label!("veriplex.store.v1"), &key);
        let seekable = seekable.with_segment_len(self.segment_len);
        let seekable = seekable.map_err(|_| error(Reason::SegmentLength(found)))?;
        Ok(seekable.message(nonce, path.as_ref().as_bytes()))
    }

    /// Where the segments of an object of this many bytes lie.
    pub(crate) fn layout(&self, path: &Path, stored_len: u64) -> Result<Layout, ObjectError> {
        (stored_len.checked_sub(HEADER_LEN))
            .and_then(|sealed_len| Layout::of_sealed(sealed_len, self.segment_len).ok())
            .ok_or_else(|| ObjectError::new(path, Reason::Length))
    }

    /// What is known of a stored object, with the length of its plaintext.
    pub(crate) fn plain_meta(&self, meta: ObjectMeta) -> Result<ObjectMeta, ObjectError> {
        let size = self.layout(&meta.location, meta.size)?.plaintext_len();
        Ok(ObjectMeta { size, ..meta })
    }

    /// A whole object.
    pub(crate) fn seal(&self, path: &Path, payload: &PutPayload) -> Result<Vec<u8>, ObjectError> {
        let too_large = || ObjectError::new(path, Reason::TooLarge);
        let (header, message) = self.create(path)?;
        let layout = message.layout(payload.content_length() as u64);
        let sealed_len = layout.map_err(|_| too_large())?.sealed_len();
        let len = usize::try_from(sealed_len)
            .ok()
            .and_then(|len| len.checked_add(HEADER));
        let len = len.ok_or_else(too_large)?;
        let mut object = vec![0; len];
        let (start, sealed) = object.split_at_mut(HEADER);
        start.copy_from_slice(&header);
        let sealed = match payload.as_ref() {
            [plaintext] => message.seal_into(plaintext, sealed),
            pieces => {
                let mut rest = &mut *sealed;
                for bytes in pieces {
                    let (now, later) = rest.split_at_mut(bytes.len());
                    now.copy_from_slice(bytes);
                    rest = later;
                }
                message.seal_in_place(sealed)
            }
        };
        sealed.map_err(|_| too_large())?;
        Ok(object)
    }
}

/// What tells a wrong key from a damaged object.
fn header_mac(key: &Key, header: &[u8]) -> Mac {
    let mut mac = Mac::new(label!("veriplex.store.header.v1"), key);
    mac.update(header);
    mac
}

/// Where these segments lie in the stored object.
pub(crate) fn stored_range(layout: &Layout, segments: Range<u64>) -> Range<u64> {
    let range = layout.sealed_range(segments);
    range.start + HEADER_LEN..range.end + HEADER_LEN
}

/// The range of the plaintext that is asked for.
pub(crate) fn resolve(path: &Path, range: Option<&GetRange>, len: u64) -> Result<Range<u64>, ObjectError> {
    match range {
        None => Ok(0..len),
        Some(range) => range
            .as_range(len)
            .map_err(|error| ObjectError::new(path, Reason::Range(error.to_string()))),
    }
}
