//! Chooses the backend: the one place that knows which ones exist.
//!
//! Every backend has the same five operations: the permutation, and absorb, encrypt, decrypt and squeeze over any
//! number of full 94-byte blocks, with the state kept in registers across blocks. Encrypt and decrypt also work from
//! one buffer to another. The bulk operations start and end at rate index and frame index 0; after each block the state
//! is padded (byte 95 ^= 0x81) and permuted.

use core::fmt;

use crate::backend::simpira1024::{Block, State};
use dispatch::{Candidate, Dispatch, Primitive, Token, checksum, input};

// The kernel boundary. `unsafe` is only here and in `timing`.
#[cfg(all(veriplex_hardware, target_arch = "aarch64"))]
#[allow(unsafe_code)]
mod aarch64;
#[cfg(feature = "adiantum")]
#[allow(unsafe_code)]
pub(crate) mod chacha;
#[cfg(veriplex_kernels)]
#[allow(unsafe_code)]
mod constants;
pub(crate) mod dispatch;
#[cfg(veriplex_kernels)]
mod kernels;
pub(crate) mod lane_backend;
pub(crate) mod lanes;
#[cfg(feature = "adiantum")]
#[allow(unsafe_code)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // no kernel for groups
pub(crate) mod nh;
#[cfg(feature = "poly1305")]
#[allow(unsafe_code)]
pub(crate) mod poly1305;
pub(crate) mod portable;
pub(crate) mod simpira1024;
#[cfg(all(veriplex_hardware, any(not(veriplex_kernels), test)))]
mod vector;
#[cfg(all(veriplex_hardware, target_arch = "x86_64"))]
#[allow(unsafe_code)]
mod x86_64;
#[cfg(feature = "xoofff")]
#[allow(unsafe_code)]
pub(crate) mod xoofff;

#[cfg(all(
    veriplex_hardware,
    target_arch = "x86_64",
    target_feature = "sse2",
    feature = "xoofff"
))]
pub(crate) use x86_64::xoodoo;

#[cfg(all(veriplex_hardware, target_arch = "aarch64"))]
use aarch64 as hardware;
#[cfg(all(veriplex_hardware, target_arch = "x86_64"))]
use x86_64 as hardware;

/// The operations with AES instructions. Each needs the CPU features of its candidate.
#[derive(Clone, Copy)]
pub(crate) struct Kernels {
    pub(crate) permute: unsafe fn(&mut State),
    pub(crate) absorb_blocks: unsafe fn(&mut State, &[Block]),
    pub(crate) encrypt_blocks: unsafe fn(&mut State, &mut [Block]),
    pub(crate) encrypt_blocks_into: unsafe fn(&mut State, &[Block], &mut [Block]),
    pub(crate) decrypt_blocks: unsafe fn(&mut State, &mut [Block]),
    pub(crate) decrypt_blocks_into: unsafe fn(&mut State, &[Block], &mut [Block]),
    pub(crate) squeeze_blocks: unsafe fn(&mut State, &mut [Block]),
}

#[cfg(veriplex_hardware)]
use hardware::DUPLEX as CANDIDATES;
#[cfg(not(veriplex_hardware))]
const CANDIDATES: [Candidate<Kernels>; 0] = [];

impl Dispatch for Kernels {
    const PRIMITIVE: Primitive = Primitive::Duplex;
    const CANDIDATES: &[Candidate<Self>] = &CANDIDATES;
    const KNOWN: u64 = 0x94b1_b642_1a7c_395f;

    fn answers(kernels: Option<Token<Self>>) -> u64 {
        let backend = kernels.map_or(Backend::PORTABLE, |token| Backend(Kind::Hardware(token)));
        let mut state = input(1);
        let mut blocks = [2, 3].map(input);
        let mut others = [[0; _]; 2];
        backend.permute(&mut state);
        backend.absorb_blocks(&mut state, &blocks);
        backend.encrypt_blocks(&mut state, &mut blocks);
        backend.decrypt_blocks(&mut state, &mut blocks);
        backend.encrypt_blocks_into(&mut state, &blocks, &mut others);
        backend.decrypt_blocks_into(&mut state, &others, &mut blocks);
        backend.squeeze_blocks(&mut state, &mut others);
        let outputs = [&state, blocks.as_flattened(), others.as_flattened()];
        outputs.into_iter().fold(0, checksum)
    }
}

/// An implementation of the permutation that this CPU can run.
///
/// A value exists only on a CPU that has the instructions that it needs, and computes right with them.
#[derive(Clone, Copy)]
pub struct Backend(Kind);

#[derive(Clone, Copy)]
enum Kind {
    Portable,
    Hardware(Token<Kernels>),
}

/// Calls an operation of whichever backend it is.
macro_rules! dispatch {
    ($backend:expr, $operation:ident($($argument:expr),*)) => {
        match $backend.0 {
            Kind::Portable => portable::$operation($($argument),*),
            // SAFETY: a Token exists only where the CPU has the features.
            #[allow(unsafe_code)]
            Kind::Hardware(token) => unsafe { (token.$operation)($($argument),*) },
        }
    };
}

impl Backend {
    /// The constant-time backend that every target has.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// The backend of this CPU's AES instructions, if it has them, they compute right, and the backend is compiled in.
    #[must_use]
    pub fn hardware() -> Option<Self> {
        Kernels::right().next().map(|token| Self(Kind::Hardware(token)))
    }

    /// Every backend that this CPU can run.
    pub fn available() -> impl Iterator<Item = Self> {
        [Some(Self::PORTABLE), Self::hardware()].into_iter().flatten()
    }

    /// The backend that the library uses now.
    ///
    /// # Panics
    ///
    /// If the portable backend computes something wrong, or the crate was compiled for `veriplex_backend="x86_64"` or
    /// `"aarch64"` and the CPU lacks the instructions or computes something wrong with them.
    #[must_use]
    #[inline]
    pub fn current() -> Self {
        if cfg!(veriplex_backend = "portable") {
            return Self::PORTABLE; // nothing is left to choose
        }
        let hardware = Kernels::first().map(|token| Self(Kind::Hardware(token)));
        #[cfg(any(veriplex_backend = "x86_64", veriplex_backend = "aarch64"))]
        return hardware
            .expect("this CPU lacks the instructions of the chosen veriplex_backend, or computes wrongly");
        #[cfg(not(any(veriplex_backend = "x86_64", veriplex_backend = "aarch64")))]
        hardware.unwrap_or(Self::PORTABLE)
    }

    /// `"portable"`, `"x86_64"` or `"aarch64"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            Kind::Hardware(_) if cfg!(target_arch = "x86_64") => "x86_64",
            Kind::Hardware(_) => "aarch64",
        }
    }

    #[inline]
    pub(crate) const fn is_hardware(self) -> bool {
        matches!(self.0, Kind::Hardware(_))
    }

    /// Simpira-1024 on a state of 128 bytes.
    #[inline]
    pub fn permute(self, state: &mut State) {
        dispatch!(self, permute(state));
    }

    /// Per block: XOR it into the state; pad; permute.
    #[inline]
    pub fn absorb_blocks(self, state: &mut State, blocks: &[Block]) {
        dispatch!(self, absorb_blocks(state, blocks));
    }

    /// Per block: XOR it into the state and replace it with the result; pad; permute.
    #[inline]
    pub fn encrypt_blocks(self, state: &mut State, blocks: &mut [Block]) {
        dispatch!(self, encrypt_blocks(state, blocks));
    }

    /// [`Backend::encrypt_blocks`] from one buffer to another. If their lengths differ, the shorter one counts.
    #[inline]
    pub fn encrypt_blocks_into(self, state: &mut State, input: &[Block], output: &mut [Block]) {
        dispatch!(self, encrypt_blocks_into(state, input, output));
    }

    /// Per block: replace it with its XOR with the state, and the state's bytes with the old block; pad;
    /// permute.
    #[inline]
    pub fn decrypt_blocks(self, state: &mut State, blocks: &mut [Block]) {
        dispatch!(self, decrypt_blocks(state, blocks));
    }

    /// [`Backend::decrypt_blocks`] from one buffer to another. If their lengths differ, the shorter one counts.
    #[inline]
    pub fn decrypt_blocks_into(self, state: &mut State, input: &[Block], output: &mut [Block]) {
        dispatch!(self, decrypt_blocks_into(state, input, output));
    }

    /// Per block: move the state's bytes into it, leaving zeros; pad; permute.
    #[inline]
    pub fn squeeze_blocks(self, state: &mut State, blocks: &mut [Block]) {
        dispatch!(self, squeeze_blocks(state, blocks));
    }
}

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Backend({})", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dispatch::would_serve;

    /// One wrong bit in any output of any operation is enough.
    #[test]
    fn the_self_test_sees_each_wrong_operation() {
        const RIGHT: Kernels = Kernels {
            permute: portable::permute,
            absorb_blocks: portable::absorb_blocks,
            encrypt_blocks: portable::encrypt_blocks,
            encrypt_blocks_into: portable::encrypt_blocks_into,
            decrypt_blocks: portable::decrypt_blocks,
            decrypt_blocks_into: portable::decrypt_blocks_into,
            squeeze_blocks: portable::squeeze_blocks,
        };
        macro_rules! wrong {
            ($operation:ident($($argument:ident),*), $output:expr) => {
                assert!(!would_serve(Kernels {
                    $operation: |$($argument),*| {
                        portable::$operation($($argument),*);
                        $output ^= 0x80;
                    },
                    ..RIGHT
                }));
            };
        }
        assert!(would_serve(RIGHT));
        wrong!(permute(state), state[127]);
        wrong!(absorb_blocks(state, blocks), state[127]);
        wrong!(encrypt_blocks(state, blocks), state[127]);
        wrong!(encrypt_blocks(state, blocks), blocks[1][93]);
        wrong!(encrypt_blocks_into(state, input, output), state[127]);
        wrong!(encrypt_blocks_into(state, input, output), output[1][93]);
        wrong!(decrypt_blocks(state, blocks), state[127]);
        wrong!(decrypt_blocks(state, blocks), blocks[1][93]);
        wrong!(decrypt_blocks_into(state, input, output), state[127]);
        wrong!(decrypt_blocks_into(state, input, output), output[1][93]);
        wrong!(squeeze_blocks(state, blocks), state[127]);
        wrong!(squeeze_blocks(state, blocks), blocks[1][93]);
    }
}
