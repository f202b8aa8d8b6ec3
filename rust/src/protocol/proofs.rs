//! What the proofs about bitcode call besides the functions themselves: a result as a bit, and an instance of a generic
//! function.

#![allow(dead_code)] // only SAW calls them

use super::Protocol;
use crate::{Label, TAG_LEN};

/// What [`Protocol::open_in_place_detached`] does; whether the tag was right.
pub(crate) fn open(
    protocol: &mut Protocol,
    label: Label<'_>,
    in_out: &mut [u8],
    tag: &[u8; TAG_LEN],
) -> bool {
    protocol.open(label, in_out, tag).is_ok()
}

/// [`Protocol::fork`] into two branches.
pub(crate) fn fork(protocol: &mut Protocol, label: Label<'_>, values: [&[u8]; 2]) -> [Protocol; 2] {
    protocol.fork(label, values)
}
