//! The operations of a protocol into new vectors.

use alloc::vec;
use alloc::vec::Vec;
use core::convert::Infallible;

use super::Protocol;
use crate::base::in_out::{self, InOut};
use crate::{Error, Label};

impl Protocol {
    /// [`Protocol::derive`] of a vector.
    #[must_use]
    pub fn derive_vec(&mut self, label: Label<'_>, len: usize) -> Vec<u8> {
        let mut output = vec![0; len];
        self.derive(label, &mut output);
        output
    }

    /// [`Protocol::mask`] into a new vector.
    #[must_use]
    pub fn mask_vec(&mut self, label: Label<'_>, plaintext: &[u8]) -> Vec<u8> {
        self.mask_begin(label);
        in_out::transform_vec(plaintext, |data| self.mask_more(data))
    }

    /// [`Protocol::unmask`] into a new vector.
    #[must_use]
    pub fn unmask_vec(&mut self, label: Label<'_>, ciphertext: &[u8]) -> Vec<u8> {
        self.mask_begin(label);
        in_out::transform_vec(ciphertext, |data| self.unmask_more(data))
    }

    /// Seal into a new vector.
    #[must_use]
    pub fn seal_vec(&mut self, label: Label<'_>, plaintext: &[u8]) -> Vec<u8> {
        let seal = |data: InOut<'_>| Ok::<_, Infallible>(([], self.seal(label, data)));
        let Ok(sealed) = in_out::seal_vec(plaintext, seal);
        sealed
    }

    /// Open into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if the tag is wrong, [`Error::TooShort`] if `sealed` has fewer than 16 bytes.
    pub fn open_vec(&mut self, label: Label<'_>, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        in_out::open_vec(sealed, |[], data, tag| self.open(label, data, tag))
    }

    /// [`Protocol::fork_each`] into a vector.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyBranches`] for more than 255 values.
    pub fn fork_vec(&mut self, label: Label<'_>, values: &[&[u8]]) -> Result<Vec<Self>, Error> {
        let mut branches = Vec::with_capacity(values.len());
        self.fork_each(label, values, |_, branch| branches.push(branch))?;
        Ok(branches)
    }
}
