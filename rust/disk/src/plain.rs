//! Images without a header, as dm-crypt makes them: the user says where the sectors are.
//!
//! LUKS2 headers are not read. That would take JSON, Argon2id, an anti-forensic splitter and three more crates, to
//! learn what `cryptsetup luksDump --dump-volume-key` prints: the key and where the sectors begin.

use veriplex_files::crypt::Secret;
use veriplex_files::error::Error;

use super::header::Sectors;
use super::image::Image;

/// The place of an image's encrypted part.
pub struct Plain {
    pub sector_len: usize,
    pub start: u64,
    /// All whole sectors, if not given.
    pub len: Option<u64>,
}

impl Plain {
    pub(super) fn sectors(&self, image: &Image, secret: &Secret) -> Result<Sectors, Error> {
        let Secret::Key(key) = secret else {
            return Err(Error::usage("--plain", "needs a key of 32 bytes, not a password"));
        };
        let left = image.len().saturating_sub(self.start);
        let whole = left - left % self.sector_len as u64;
        let geometry = image.geometry(self.sector_len, self.start, self.len.or(Some(whole)))?;
        Ok(Sectors::new(geometry, key.as_bytes()))
    }
}
