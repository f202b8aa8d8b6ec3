//! Digest, extendable output and MAC under the traits of `digest` 0.11.
//!
//! ```
//! use digest::{Digest, KeyInit, Mac as _};
//! use veriplex::rustcrypto::{Domain, digest::{Hasher, Mac}};
//! use veriplex::{Key, Label, label, os_rng};
//!
//! enum Files {}
//! impl Domain for Files {
//!     const DOMAIN: Label<'static> = label!("com.example.files");
//! }
//!
//! let digest = Hasher::<Files>::digest(b"message"); // 32 bytes; `Hasher<Files, 64>` has 64
//! # assert_eq!(digest.len(), 32);
//!
//! let key: Key = Key::generate(&mut os_rng());
//! let mac = Mac::<Files>::new(key.as_bytes().into()).chain_update(b"message");
//! let tag = mac.clone().finalize().into_bytes(); // 16 bytes
//! mac.verify_slice(&tag)?;
//! # Ok::<(), digest::MacError>(())
//! ```

use core::fmt;
use core::marker::PhantomData;

use ::digest::array::AssocArraySize;
use ::digest::common::{BlockSizeUser, KeySizeUser};
use ::digest::consts::U94;
use ::digest::{
    ExtendableOutput, ExtendableOutputReset, FixedOutput, FixedOutputReset, HashMarker, Key, KeyInit,
    MacMarker, Output, OutputSizeUser, Reset, Update, XofReader,
};

use super::{Domain, KeySize, native_key};
use crate::digest::Digest;
use crate::{Protocol, TAG_LEN, digest, label, mac};

/// The digest of `LEN` bytes, by default 32: that of [`digest::Hasher`], under `digest::Digest`.
///
/// Digests of different lengths are independent, as always. It also has an extendable output, whose length
/// need not be known beforehand: see [`Reader`].
pub struct Hasher<D, const LEN: usize = { Digest::LEN }> {
    hasher: digest::Hasher,
    domain: PhantomData<fn() -> D>,
}

impl<D: Domain, const LEN: usize> Default for Hasher<D, LEN> {
    fn default() -> Self {
        Self {
            hasher: digest::Hasher::new(D::DOMAIN),
            domain: PhantomData,
        }
    }
}

impl<D, const LEN: usize> Clone for Hasher<D, LEN> {
    fn clone(&self) -> Self {
        Self {
            hasher: self.hasher.clone(),
            domain: PhantomData,
        }
    }
}

impl<D, const LEN: usize> fmt::Debug for Hasher<D, LEN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").finish_non_exhaustive()
    }
}

impl<D, const LEN: usize> HashMarker for Hasher<D, LEN> {}

/// The rate of the duplex, 94 bytes, for code such as HMAC that needs a number. The hash has no blocks of the message that
/// begin at multiples of it, as the domain comes first. For a keyed digest, [`Mac`] is faster.
impl<D, const LEN: usize> BlockSizeUser for Hasher<D, LEN> {
    type BlockSize = U94;
}

impl<D, const LEN: usize> Update for Hasher<D, LEN> {
    fn update(&mut self, data: &[u8]) {
        self.hasher.update(data);
    }
}

impl<D: Domain, const LEN: usize> Reset for Hasher<D, LEN> {
    fn reset(&mut self) {
        *self = Self::default();
    }
}

impl<D, const LEN: usize> OutputSizeUser for Hasher<D, LEN>
where
    [u8; LEN]: AssocArraySize,
{
    type OutputSize = <[u8; LEN] as AssocArraySize>::Size;
}

impl<D, const LEN: usize> FixedOutput for Hasher<D, LEN>
where
    [u8; LEN]: AssocArraySize,
{
    fn finalize_into(self, out: &mut Output<Self>) {
        self.hasher.finalize_into(out);
    }
}

impl<D: Domain, const LEN: usize> FixedOutputReset for Hasher<D, LEN>
where
    [u8; LEN]: AssocArraySize,
{
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        core::mem::take(self).hasher.finalize_into(out);
    }
}

impl<D, const LEN: usize> ExtendableOutput for Hasher<D, LEN> {
    type Reader = Reader;

    fn finalize_xof(self) -> Reader {
        Reader {
            protocol: self.hasher.into_protocol(),
            left: 0,
        }
    }
}

impl<D: Domain, const LEN: usize> ExtendableOutputReset for Hasher<D, LEN> {
    fn finalize_xof_reset(&mut self) -> Reader {
        core::mem::take(self).finalize_xof()
    }
}

/// An extendable output, read in pieces of any size.
///
/// It is **not** that of [`digest::Hasher::finalize_into`], which depends on the length. Here that is
/// not known, so the output is that of one Derive of 65536 bytes with the label `xof` after another, cut where the
/// caller stops: shorter outputs are the beginning of longer ones, and it is independent of every digest.
#[derive(Clone, Debug)]
pub struct Reader {
    protocol: Protocol,
    /// What is left of the Derive that is open.
    left: usize,
}

impl Reader {
    /// Size in bytes of one Derive.
    const DERIVED_LEN: usize = 1 << 16;
}

impl XofReader for Reader {
    fn read(&mut self, mut buffer: &mut [u8]) {
        while !buffer.is_empty() {
            if self.left == 0 {
                self.left = Self::DERIVED_LEN;
                self.protocol.derive_begin(label!("xof"), self.left);
            }
            let (piece, rest) = buffer.split_at_mut(buffer.len().min(self.left));
            self.protocol.derive_more(piece);
            self.left -= piece.len();
            buffer = rest;
        }
    }
}

/// The tag of [`mac::Mac`] under `digest::Mac`, or a keyed digest of `LEN` bytes. To compute many tags under one key, clone
/// or reset it.
pub struct Mac<D, const LEN: usize = TAG_LEN> {
    /// Before the message, for `Reset`.
    keyed: mac::Mac,
    state: mac::Mac,
    domain: PhantomData<fn() -> D>,
}

impl<D, const LEN: usize> Clone for Mac<D, LEN> {
    fn clone(&self) -> Self {
        Self {
            keyed: self.keyed.clone(),
            state: self.state.clone(),
            domain: PhantomData,
        }
    }
}

impl<D, const LEN: usize> fmt::Debug for Mac<D, LEN> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mac").finish_non_exhaustive()
    }
}

impl<D, const LEN: usize> MacMarker for Mac<D, LEN> {}

impl<D, const LEN: usize> KeySizeUser for Mac<D, LEN> {
    type KeySize = KeySize;
}

impl<D: Domain, const LEN: usize> KeyInit for Mac<D, LEN> {
    fn new(key: &Key<Self>) -> Self {
        let keyed = mac::Mac::new(D::DOMAIN, &native_key(key));
        Self {
            state: keyed.clone(),
            keyed,
            domain: PhantomData,
        }
    }
}

impl<D, const LEN: usize> Update for Mac<D, LEN> {
    fn update(&mut self, data: &[u8]) {
        self.state.update(data);
    }
}

impl<D, const LEN: usize> Reset for Mac<D, LEN> {
    fn reset(&mut self) {
        self.state = self.keyed.clone();
    }
}

impl<D, const LEN: usize> OutputSizeUser for Mac<D, LEN>
where
    [u8; LEN]: AssocArraySize,
{
    type OutputSize = <[u8; LEN] as AssocArraySize>::Size;
}

impl<D, const LEN: usize> FixedOutput for Mac<D, LEN>
where
    [u8; LEN]: AssocArraySize,
{
    fn finalize_into(self, out: &mut Output<Self>) {
        self.state.finalize_into(out);
    }
}

impl<D, const LEN: usize> FixedOutputReset for Mac<D, LEN>
where
    [u8; LEN]: AssocArraySize,
{
    fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
        self.state.clone().finalize_into(out);
        self.reset();
    }
}
