//! Data that nobody may see before they are verified.

use core::ops::{Deref, DerefMut};

use crate::base::in_out::InOut;
use crate::base::wipe::wipe;

/// What a job transforms, in buffers of the caller's. The output is wiped on drop, so that an error or a panic, such as one of
/// a function that the caller gave, leaves no plaintext that was not handed out.
#[derive(Default)]
pub(crate) struct Guarded<'a>(InOut<'a>);

impl<'a> Guarded<'a> {
    /// Hands the data out.
    #[inline(always)]
    pub(crate) fn release(mut self) -> &'a mut [u8] {
        core::mem::take(&mut self.0).buffers().1
    }
}

impl<'a, T: Into<InOut<'a>>> From<T> for Guarded<'a> {
    fn from(data: T) -> Self {
        Self(data.into())
    }
}

impl<'a> Deref for Guarded<'a> {
    type Target = InOut<'a>;

    #[inline]
    fn deref(&self) -> &InOut<'a> {
        &self.0
    }
}

impl<'a> DerefMut for Guarded<'a> {
    #[inline]
    fn deref_mut(&mut self) -> &mut InOut<'a> {
        &mut self.0
    }
}

impl Drop for Guarded<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.0.len() > 0 {
            wipe(self.0.output());
        }
    }
}
