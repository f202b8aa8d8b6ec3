//! Chooses the backend: the one place that knows which ones exist.
//!
//! Every backend has the same five operations: the permutation, and absorb, encrypt, decrypt and squeeze over any
//! number of full 94-byte blocks, with the state kept in registers across blocks. Encrypt and decrypt also work from
//! one buffer to another. The bulk operations start and end at rate index and frame index 0; after each block the state
//! is padded (byte 95 ^= 0x81) and permuted.

use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::simpira1024::{Block, State};

// The kernel boundary. `unsafe` is only here, in `lane_backend` and in `timing`.
#[cfg(all(veriplex_hardware, target_arch = "aarch64"))]
#[allow(unsafe_code)]
mod aarch64;
#[cfg(all(veriplex_kernels, feature = "adiantum"))]
#[allow(unsafe_code)]
pub(crate) mod chacha;
#[cfg(veriplex_kernels)]
#[allow(unsafe_code)]
mod constants;
#[cfg(veriplex_kernels)]
pub(crate) mod kernels;
#[cfg(all(veriplex_kernels, feature = "adiantum"))]
#[allow(unsafe_code)]
pub(crate) mod nh;
#[cfg(all(veriplex_kernels, feature = "poly1305"))]
#[allow(unsafe_code)]
pub(crate) mod poly1305;
pub(crate) mod portable;
#[cfg(all(veriplex_hardware, any(not(veriplex_kernels), test)))]
mod vector;
#[cfg(all(veriplex_hardware, target_arch = "x86_64"))]
#[allow(unsafe_code)]
mod x86_64;
#[cfg(all(veriplex_kernels, feature = "xoofff"))]
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

/// An implementation of the permutation that this CPU can run.
///
/// A value exists only on a CPU that has the instructions that it needs.
#[derive(Clone, Copy)]
pub struct Backend(Kind);

#[derive(Clone, Copy)]
enum Kind {
    Portable,
    #[cfg(veriplex_hardware)]
    Hardware(hardware::Token),
}

/// Set while [`set_hardware_enabled`] forbids the hardware backend.
static HARDWARE_DISABLED: AtomicBool = AtomicBool::new(false);

/// Allows or forbids the hardware backend in this process. At the start it is allowed.
///
/// This changes speed, not results; it is meant for tests and measurements. It has no effect if
/// `--cfg veriplex_backend` fixes the backend.
pub fn set_hardware_enabled(enabled: bool) {
    HARDWARE_DISABLED.store(!enabled, Ordering::Relaxed);
}

/// Calls an operation of whichever backend it is.
macro_rules! dispatch {
    ($backend:expr, $operation:ident($($argument:expr),*)) => {
        match $backend.0 {
            Kind::Portable => portable::$operation($($argument),*),
            #[cfg(veriplex_hardware)]
            Kind::Hardware(token) => token.$operation($($argument),*),
        }
    };
}

impl Backend {
    /// The constant-time backend that every target has.
    pub const PORTABLE: Self = Self(Kind::Portable);

    /// The backend of this CPU's AES instructions, if it has them and the backend is compiled in.
    #[must_use]
    #[inline]
    pub fn hardware() -> Option<Self> {
        #[cfg(veriplex_hardware)]
        return hardware::Token::detect().map(|token| Self(Kind::Hardware(token)));
        #[cfg(not(veriplex_hardware))]
        return None;
    }

    /// Every backend that this CPU can run.
    pub fn available() -> impl Iterator<Item = Self> {
        [Some(Self::PORTABLE), Self::hardware()].into_iter().flatten()
    }

    /// The backend that the library uses now.
    ///
    /// # Panics
    ///
    /// If the crate was compiled for `veriplex_backend="x86_64"` or `"aarch64"` and runs on a CPU without
    /// the instructions.
    #[must_use]
    #[inline]
    pub fn current() -> Self {
        #[cfg(any(veriplex_backend = "x86_64", veriplex_backend = "aarch64"))]
        return Self::hardware().expect("this CPU lacks the instructions of the chosen veriplex_backend");
        #[cfg(not(any(veriplex_backend = "x86_64", veriplex_backend = "aarch64")))]
        match Self::hardware() {
            Some(hardware) if !HARDWARE_DISABLED.load(Ordering::Relaxed) => hardware,
            _ => Self::PORTABLE,
        }
    }

    /// Whether kernels beside those of the permutation may be used. They ask for the CPU features that they need.
    #[cfg(all(
        veriplex_kernels,
        any(feature = "adiantum", feature = "xoofff", feature = "poly1305")
    ))]
    #[inline]
    pub(crate) fn kernels_allowed() -> bool {
        cfg!(any(veriplex_backend = "x86_64", veriplex_backend = "aarch64"))
            || !HARDWARE_DISABLED.load(Ordering::Relaxed)
    }

    /// `"portable"`, `"x86_64"` or `"aarch64"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Kind::Portable => "portable",
            #[cfg(all(veriplex_hardware, target_arch = "x86_64"))]
            Kind::Hardware(_) => "x86_64",
            #[cfg(all(veriplex_hardware, target_arch = "aarch64"))]
            Kind::Hardware(_) => "aarch64",
        }
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
