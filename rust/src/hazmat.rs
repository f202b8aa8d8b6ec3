//! The layers below [`Protocol`](crate::Protocol), for tests, proofs, measurements and new constructions.
//!
//! Nothing here separates one use from another: the framing that does so is in `Protocol`. A raw [`Duplex`] also
//! accepts the frame sequences that [`Label`](crate::Label) exists to refuse.

pub use crate::backend::{Backend, set_hardware_enabled};
pub use crate::duplex::{Duplex, RATE};

/// Size in bytes of the state of the permutation.
pub const STATE_LEN: usize = crate::simpira1024::STATE_LEN;
