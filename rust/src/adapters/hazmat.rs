//! The layers below [`Protocol`](crate::Protocol), for tests, proofs, measurements and new constructions.
//!
//! Nothing here separates one use from another: the framing that does so is in `Protocol`. A raw [`Duplex`] also
//! accepts the frame sequences that [`Label`](crate::Label) exists to refuse.
//!
//! ```
//! use veriplex::hazmat::Duplex;
//!
//! let mut duplex = Duplex::new();
//! duplex.absorb(b"input"); // into the rate
//! duplex.permute();
//! let mut output = [0; 32];
//! duplex.squeeze(&mut output);
//! # assert_ne!(output, [0; 32]);
//! ```

pub use crate::backend::Backend;
pub use crate::backend::dispatch::{forbid_level, set_hardware_enabled};
pub use crate::backend::lane_backend::{LANES, LaneBackend, States, set_lane_backend};
pub use crate::duplex::{Duplex, RATE};
#[cfg(feature = "xoofff")]
pub use crate::primitives::xoodoo::xoodoo;

/// Size in bytes of the state of the permutation.
pub const STATE_LEN: usize = crate::backend::simpira1024::STATE_LEN;

/// Schemes over Ristretto255 with ephemeral keys and nonces that the caller chooses, for known answers. The schemes
/// themselves derive them from the private key, the context and the generator, so that none repeats in another context.
///
/// Whoever chooses must never choose one twice, and must be able to keep it secret: one that is known or repeats gives
/// messages, sessions or the key away.
#[cfg(feature = "ristretto")]
pub mod unhedged {
    pub use crate::schemes::ristretto::unhedged::{
        handshake_respond, handshake_start, hpke_setup_sender, oprf_blind_evaluate,
    };
}

/// Backends and block functions of Poly1305.
#[cfg(feature = "poly1305")]
pub mod poly1305 {
    pub use crate::poly1305::backend::{Backend, State};
}

/// `ChaCha` with a nonce of 8 bytes and a block counter of 64 bits, as its author defined it, `HChaCha` and `XChaCha`:
/// streams without authentication, of 8, 12 or 20 rounds.
#[cfg(feature = "adiantum")]
pub mod chacha {
    pub use crate::primitives::chacha::{chacha, hchacha, xchacha};
}

/// NH (UMAC, RFC 4418), with the parameters of Adiantum.
#[cfg(feature = "adiantum")]
pub mod nh {
    pub use crate::adiantum::nh::{HASH_LEN, KEY_LEN, MAX_LEN, Nh};
}
