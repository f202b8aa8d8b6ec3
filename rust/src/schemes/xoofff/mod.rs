//! Xoofff: a keyed function of a sequence of strings, with an output of any length (a *deck function*), and its modes.
//!
//! | type | what |
//! |---|---|
//! | [`Xoofff`], [`Output`] | the deck function: MAC, stream cipher, key derivation, all under one key |
//! | [`Sane`] | authenticated encryption of the messages of a session, with a nonce |
//! | [`Sanse`] | the same without a nonce (synthetic IV) |
//! | [`Wbc`] | a tweakable cipher on whole messages, as long as the message, without authentication |
//! | [`WbcAe`] | authenticated encryption with that cipher, 16 bytes longer than the message |
//!
//! Farfalle ("Farfalle: parallel permutation-based cryptography", [eprint 2016/1188](https://eprint.iacr.org/2016/1188))
//! over Xoodoo\[6\] ("Xoodoo cookbook", [eprint 2018/767](https://eprint.iacr.org/2018/767)), with the bytes of the
//! designers' code and, for the deck function, of the crate `xoofff`. Nothing here is part of Newplex.
//!
//! # When to use it
//!
//! Take a deck function rather than [`Protocol`](crate::Protocol)
//!
//! - when one key has to authenticate and encrypt a lot of data fast: blocks are independent, so a CPU can work on several
//!   at a time, for input as well as output. A duplex cannot;
//! - when input arrives over time and outputs are needed along the way: the cost of a new string depends only on its own
//!   length, and a copy of the state (two blocks of 48 bytes and buffered data) is a branch with the same history;
//! - when the format requires it.
//!
//! Take `Protocol` or the schemes over it
//!
//! - when there is no key: Xoofff is not a hash function. Anyone who knows the key finds collisions easily, so outputs and
//!   tags commit neither to the input nor to the key;
//! - when inputs have names: a deck function distinguishes strings only by order and at most seven domain bits, not by
//!   labels;
//! - when a leaked state must not reveal the past: every step of the mask can be undone, so any state reveals the key.
//!   There is no ratchet.
//!
//! # Security
//!
//! The designers claim a security strength of 128 bits for keys of at least 16 bytes: outputs for different sequences of
//! strings look random and independent. Keys have at most 47 bytes; use 16 to 32 random bytes. Shorter keys, even empty
//! ones, are accepted because the format allows them.
//!
//! # Strings
//!
//! `("ab", "c")`, `("a", "bc")` and `("abc")` are different sequences, and so are a string without and with domain bits.
//! Output produced in between makes no difference.
//!
//! ```
//! use veriplex::xoofff::{DomainBits, Offset, Xoofff};
//! use veriplex::{Key, os_rng};
//!
//! let key: Key = Key::generate(&mut os_rng());
//! let mut strings = Xoofff::new(&key)?;
//! strings.absorb(b"one st");
//! strings.absorb(b"ring");
//! let mut output = strings.finalize(DomainBits::NONE, Offset::ZERO);
//! let mac: [u8; 32] = output.squeeze_array();
//!
//! // The same state continues with the second string of the sequence; a copy continues with another one.
//! let mut second = output.restart();
//! let mut other = second.clone();
//! second.absorb(b"two");
//! other.absorb(b"TWO");
//! let second: [u8; 32] = second.finalize(DomainBits::NONE, Offset::ZERO).squeeze_array();
//! let other: [u8; 32] = other.finalize(DomainBits::NONE, Offset::ZERO).squeeze_array();
//! assert!(second != other && second != mac);
//! # Ok::<(), veriplex::Error>(())
//! ```

mod blocks;
mod sane;
mod sanse;
mod wbc;

use core::fmt;

use crate::Error;
use crate::base::in_out::copy;
use crate::base::timing::Timing;
use crate::base::wipe::{Wiped, wipe};
use crate::primitives::xoodoo::xoodoo;
use blocks::{BLOCK_LEN, Block, ROUNDS};

pub use sane::Sane;
pub use sanse::Sanse;
pub use wbc::{Wbc, WbcAe};

/// The domain bits that end a string: 0 to 7 of them.
///
/// Strings with the same bytes but different domain bits are different strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DomainBits(
    /// The bits, the first one lowest, and a 1 above them: the byte that closes the string.
    u8,
);

impl DomainBits {
    /// The empty domain bits.
    pub const NONE: Self = Self(1);

    /// The lowest `len` bits of `bits`, the first one lowest. Bits above are ignored.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if `len` is more than 7.
    pub const fn new(bits: u8, len: u32) -> Result<Self, Error> {
        if len > 7 {
            return Err(Error::OutOfRange);
        }
        Ok(Self::masked(bits, len))
    }

    /// [`DomainBits::new`] for a `len` that is known to be at most 7.
    const fn masked(bits: u8, len: u32) -> Self {
        let end = 1 << len;
        Self(end | bits & (end - 1))
    }

    /// [`DomainBits::new`] of constants, checked at compile time.
    ///
    /// ```
    /// use veriplex::xoofff::DomainBits;
    ///
    /// assert_eq!(Ok(DomainBits::constant::<0b01, 2>()), DomainBits::new(0b01, 2));
    /// ```
    ///
    /// More than 7 bits do not compile:
    ///
    /// ```compile_fail,E0080
    /// # fn main() {
    /// veriplex::xoofff::DomainBits::constant::<0, 8>();
    /// # }
    /// ```
    #[must_use]
    pub const fn constant<const BITS: u8, const LEN: u32>() -> Self {
        const {
            match Self::new(BITS, LEN) {
                Ok(bits) => bits,
                Err(_) => panic!("there are at most 7 domain bits"),
            }
        }
    }
}

/// How many bytes of an output to skip: 0 to 48.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset(usize);

impl Offset {
    /// Nothing is skipped.
    pub const ZERO: Self = Self(0);

    /// Skips this many bytes.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfRange`] if there are more than 48.
    pub const fn new(bytes: usize) -> Result<Self, Error> {
        if bytes > BLOCK_LEN {
            return Err(Error::OutOfRange);
        }
        Ok(Self(bytes))
    }

    /// [`Offset::new`] of a constant, checked at compile time.
    ///
    /// ```
    /// use veriplex::xoofff::Offset;
    ///
    /// assert_eq!(Ok(Offset::constant::<48>()), Offset::new(48));
    /// ```
    ///
    /// More than 48 bytes do not compile:
    ///
    /// ```compile_fail,E0080
    /// # fn main() {
    /// veriplex::xoofff::Offset::constant::<49>();
    /// # }
    /// ```
    #[must_use]
    pub const fn constant<const BYTES: usize>() -> Self {
        const {
            match Self::new(BYTES) {
                Ok(offset) => offset,
                Err(_) => panic!("an offset is at most 48 bytes"),
            }
        }
    }
}

/// The state after the strings so far.
#[derive(Clone)]
struct History {
    accumulator: Wiped<Block>,
    /// That of the next block of input, and of every block of output.
    mask: Wiped<Block>,
}

impl History {
    /// The output over these strings; `whitened` is what Xoofff has before the short version of it.
    fn output(&self, whitened: bool) -> Output {
        let mut state = self.accumulator.clone();
        if whitened {
            xoodoo::<ROUNDS>(&mut state.0);
        }
        Output {
            history: self.clone(),
            state,
            block: Wiped([0; BLOCK_LEN]),
            used: BLOCK_LEN,
        }
    }
}

/// Xoofff while it absorbs a string, in pieces of any size.
///
/// [`Xoofff::finalize`] ends the string and returns an [`Output`]; [`Output::restart`] turns that back into a `Xoofff` for
/// the next string. A clone is a branch with the same history. Everything is wiped on drop.
///
/// Output before the string has ended does not compile:
///
/// ```compile_fail,E0599
/// # fn main() -> Result<(), veriplex::Error> {
/// let mut strings = veriplex::xoofff::Xoofff::new(&[7; 32])?;
/// strings.squeeze(&mut [0; 32]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Xoofff {
    history: History,
    /// The bytes of the string that do not fill a block yet.
    block: Wiped<Block>,
    used: usize,
}

impl Xoofff {
    /// The longest key in bytes.
    pub const MAX_KEY_LEN: usize = BLOCK_LEN - 1;

    /// The empty sequence under this key, at the start of its first string.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the key has more than 47 bytes ([`Xoofff::MAX_KEY_LEN`]).
    pub fn new(key: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        let key = key.as_ref();
        if key.len() > Self::MAX_KEY_LEN {
            return Err(Error::InvalidKey);
        }
        let _timing = Timing::independent();
        let mut mask = Wiped([0; BLOCK_LEN]);
        mask.0[..key.len()].copy_from_slice(key);
        mask.0[key.len()] = 1;
        xoodoo::<ROUNDS>(&mut mask.0);
        let accumulator = Wiped([0; BLOCK_LEN]);
        Ok(Self::from(History { accumulator, mask }))
    }

    /// At the beginning of the next string.
    fn from(history: History) -> Self {
        Self {
            history,
            block: Wiped([0; BLOCK_LEN]),
            used: 0,
        }
    }

    /// Absorbs more of the string.
    pub fn absorb(&mut self, mut input: &[u8]) {
        let _timing = Timing::independent();
        if self.used > 0 {
            let free = &mut self.block.0[self.used..];
            let (more, rest) = input.split_at(input.len().min(free.len()));
            free[..more.len()].copy_from_slice(more);
            self.used += more.len();
            if self.used < BLOCK_LEN {
                return;
            }
            self.absorb_block();
            input = rest;
        }
        let (blocks, rest) = input.as_chunks();
        let History { accumulator, mask } = &mut self.history;
        blocks::absorb_blocks(&mut mask.0, &mut accumulator.0, blocks);
        self.block.0[..rest.len()].copy_from_slice(rest);
        self.used = rest.len();
    }

    fn absorb_block(&mut self) {
        let History { accumulator, mask } = &mut self.history;
        blocks::absorb_blocks(
            &mut mask.0,
            &mut accumulator.0,
            core::slice::from_ref(&self.block.0),
        );
        self.used = 0;
    }

    /// Ends the string, which may be empty, with these domain bits. The output for the sequence so far skips the first
    /// `offset` bytes.
    ///
    /// The offset affects nothing else: neither the rest of this output nor later outputs.
    #[must_use]
    pub fn finalize(mut self, bits: DomainBits, offset: Offset) -> Output {
        self.end(bits);
        self.output(offset)
    }

    /// Ends the string and begins the next one.
    fn end(&mut self, bits: DomainBits) {
        let _timing = Timing::independent();
        // A full block was absorbed at once, so there is room.
        self.block.0[self.used] = bits.0;
        self.block.0[self.used + 1..].fill(0);
        self.absorb_block();
        // The gap between strings.
        blocks::roll(&mut self.history.mask.0);
    }

    /// One more string.
    fn append(&mut self, string: &[u8], bits: DomainBits) {
        self.absorb(string);
        self.end(bits);
    }

    /// The same with one string more.
    fn with(&self, string: &[u8], bits: DomainBits) -> Self {
        let mut longer = self.clone();
        longer.append(string, bits);
        longer
    }

    /// The output over the strings that have ended.
    fn output(&self, offset: Offset) -> Output {
        let _timing = Timing::independent();
        let mut output = self.history.output(true);
        if offset != Offset::ZERO {
            output.squeeze(&mut Wiped([0; BLOCK_LEN]).0[..offset.0]);
        }
        output
    }
}

/// The output of [`Xoofff`] over a sequence of strings, in pieces of any size.
///
/// The sizes of the pieces do not affect the bytes. There is no practical limit on the length.
#[derive(Clone)]
pub struct Output {
    history: History,
    /// The state before the permutation that gives the next block.
    state: Wiped<Block>,
    /// The present block, of which some bytes are used.
    block: Wiped<Block>,
    used: usize,
}

impl Output {
    /// Fills `out` with the next bytes.
    pub fn squeeze(&mut self, out: &mut [u8]) {
        self.next(out, <[u8]>::copy_from_slice, blocks::squeeze_blocks);
    }

    /// XORs the next bytes into `in_out`: a stream cipher, provided the sequence of strings is never repeated.
    pub fn apply_keystream(&mut self, in_out: &mut [u8]) {
        const PIECE: usize = 16;
        self.next(in_out, xor, |state, mask, blocks| {
            if blocks.is_empty() {
                return;
            }
            let mut keystream = Wiped([0; PIECE * BLOCK_LEN]);
            let (keystream, _) = keystream.0.as_chunks_mut();
            for piece in blocks.chunks_mut(PIECE) {
                let keystream = &mut keystream[..piece.len()];
                blocks::squeeze_blocks(state, mask, keystream);
                xor(piece.as_flattened_mut(), keystream.as_flattened());
            }
        });
    }

    /// Puts the next bytes into `out`, by `put` those of blocks that are not whole there, by `put_blocks` the others.
    fn next(
        &mut self,
        out: &mut [u8],
        put: fn(&mut [u8], &[u8]),
        put_blocks: impl FnOnce(&mut Block, &Block, &mut [Block]),
    ) {
        let _timing = Timing::independent();
        let (first, rest) = out.split_at_mut(out.len().min(BLOCK_LEN - self.used));
        put(first, &self.block.0[self.used..][..first.len()]);
        self.used += first.len();
        let (blocks, last) = rest.as_chunks_mut();
        let (state, mask) = (&mut self.state.0, &self.history.mask.0);
        put_blocks(state, mask, blocks);
        if !last.is_empty() {
            blocks::squeeze_blocks(state, mask, core::slice::from_mut(&mut self.block.0));
            put(last, &self.block.0[..last.len()]);
            self.used = last.len();
        }
    }

    /// The next `N` bytes.
    #[must_use]
    pub fn squeeze_array<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        self.squeeze(&mut out);
        out
    }

    /// The next `n` bytes.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn squeeze_vec(&mut self, n: usize) -> alloc::vec::Vec<u8> {
        let mut out = alloc::vec![0; n];
        self.squeeze(&mut out);
        out
    }

    /// Starts the next string of the sequence. How much was output makes no difference.
    ///
    /// Absorbing input without it does not compile:
    ///
    /// ```compile_fail,E0599
    /// # fn main() -> Result<(), veriplex::Error> {
    /// use veriplex::xoofff::{DomainBits, Offset, Xoofff};
    ///
    /// let mut output = Xoofff::new(&[7; 32])?.finalize(DomainBits::NONE, Offset::ZERO);
    /// output.absorb(b"second string");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn restart(self) -> Xoofff {
        Xoofff::from(self.history)
    }
}

fn xor(bytes: &mut [u8], others: &[u8]) {
    for (byte, other) in bytes.iter_mut().zip(others) {
        *byte ^= other;
    }
}

/// The forms of sealing and opening that keep ciphertext and tag together.
macro_rules! sessions {
    ($($session:ident),*) => {$(
        impl $session {
            /// Encrypts the next message from one buffer into another, which is [`Self::TAG_LEN`] bytes longer:
            /// ciphertext, then tag.
            ///
            /// # Errors
            ///
            /// [`Error::BufferLength`] if it is not; the session is then as before.
            pub fn seal_into(&mut self, ad: &[u8], plaintext: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
                let (message, tag) = sealed.split_last_chunk_mut().ok_or(Error::BufferLength)?;
                copy(plaintext, message)?;
                *tag = self.seal_in_place_detached(ad, message);
                Ok(())
            }

            /// Decrypts the next message from one buffer into another, which is [`Self::TAG_LEN`] bytes shorter.
            ///
            /// # Errors
            ///
            /// [`Error::Verification`] if it is not the next message that was sealed, [`Error::TooShort`] if it is shorter
            /// than a tag; `plaintext` is then all zeros. [`Error::BufferLength`] if `plaintext` has the wrong length. The session is then as before.
            pub fn open_into(&mut self, ad: &[u8], sealed: &[u8], plaintext: &mut [u8]) -> Result<(), Error> {
                let Some((message, tag)) = sealed.split_last_chunk() else {
                    wipe(plaintext);
                    return Err(Error::TooShort);
                };
                copy(message, plaintext)?;
                self.open_in_place_detached(ad, plaintext, tag)
            }
        }

        #[cfg(feature = "alloc")]
        impl $session {
            /// Encrypts the next message into a new vector: ciphertext, then tag.
            #[must_use]
            pub fn seal_vec(&mut self, ad: &[u8], plaintext: &[u8]) -> alloc::vec::Vec<u8> {
                let mut sealed = alloc::vec::Vec::with_capacity(plaintext.len() + Self::TAG_LEN);
                sealed.extend_from_slice(plaintext);
                let tag = self.seal_in_place_detached(ad, &mut sealed);
                sealed.extend_from_slice(&tag);
                sealed
            }

            /// Decrypts the next message into a new vector.
            ///
            /// # Errors
            ///
            /// [`Error::Verification`] if it is not the next message that was sealed, [`Error::TooShort`] if it is shorter
            /// than a tag. The session is then as before.
            pub fn open_vec(&mut self, ad: &[u8], sealed: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
                let (message, tag) = sealed.split_last_chunk().ok_or(Error::TooShort)?;
                let mut plaintext = message.to_vec();
                self.open_in_place_detached(ad, &mut plaintext, tag)?;
                Ok(plaintext)
            }
        }
    )*};
}
sessions!(Sane, Sanse);

macro_rules! secrets {
    ($($name:ident),*) => {$(
        /// Shows no part of the state.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl zeroize::ZeroizeOnDrop for $name {}
    )*};
}
secrets!(Xoofff, Output, Sane, Sanse, Wbc, WbcAe);
