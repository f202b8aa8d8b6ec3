//! Mix, Mask and Unmask in pieces.

use crate::base::timing::Timing;
use crate::duplex::Duplex;

/// An open Mix, by [`Protocol::mix_stream`](crate::Protocol::mix_stream). Dropping it ends the operation.
///
/// With feature `std` it is a `Write`.
#[derive(Debug)]
pub struct MixStream<'p>(pub(super) &'p mut Duplex);

impl MixStream<'_> {
    /// Takes the next piece.
    pub fn update(&mut self, input: &[u8]) {
        let _timing = Timing::independent();
        self.0.absorb(input);
    }
}

/// An open Mask, by [`Protocol::mask_stream`](crate::Protocol::mask_stream). Dropping it ends the operation.
#[derive(Debug)]
pub struct MaskStream<'p>(pub(super) &'p mut Duplex);

impl MaskStream<'_> {
    /// Encrypts the next piece in place.
    pub fn update(&mut self, in_out: &mut [u8]) {
        let _timing = Timing::independent();
        self.0.encrypt(in_out);
    }
}

/// An open Unmask, by [`Protocol::unmask_stream`](crate::Protocol::unmask_stream). Dropping it ends the operation.
#[derive(Debug)]
pub struct UnmaskStream<'p>(pub(super) &'p mut Duplex);

impl UnmaskStream<'_> {
    /// Decrypts the next piece in place.
    pub fn update(&mut self, in_out: &mut [u8]) {
        let _timing = Timing::independent();
        self.0.decrypt(in_out);
    }
}
