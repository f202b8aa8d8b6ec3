//! Data that nobody may see before they are verified.

use core::ops::{Deref, DerefMut};

use crate::base::wipe::wipe;

/// What a job transforms, in a buffer of the caller's. It is wiped on drop, so that an error or a panic, such as one of a
/// function that the caller gave, leaves no plaintext that was not handed out.
#[derive(Default)]
pub(crate) struct Guarded<'a>(&'a mut [u8]);

impl<'a> Guarded<'a> {
    /// Hands the data out.
    pub(crate) fn release(mut self) -> &'a mut [u8] {
        core::mem::take(&mut self.0)
    }
}

impl<'a> From<&'a mut [u8]> for Guarded<'a> {
    fn from(data: &'a mut [u8]) -> Self {
        Self(data)
    }
}

impl Deref for Guarded<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.0
    }
}

impl DerefMut for Guarded<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0
    }
}

impl Drop for Guarded<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_empty() {
            wipe(self.0);
        }
    }
}
