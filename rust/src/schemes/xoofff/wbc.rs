//! Xoofff-WBC, a wide-block cipher, and authenticated encryption with it.

use subtle::ConstantTimeEq;

use super::{BLOCK_LEN, DomainBits, Offset, Xoofff};
use crate::base::in_out::release_or_wipe;
use crate::base::timing::Timing;
use crate::base::wipe::wipe;
use crate::{Error, TAG_LEN};

/// What ends a left part and a right part as strings.
const LEFT: DomainBits = DomainBits::constant::<0, 1>();
const RIGHT: DomainBits = DomainBits::constant::<1, 1>();

/// Size in bytes of the left part of a message of `n` bytes. The right part is of the same number of blocks or of
/// more, and then the number on the left is a power of two less a fraction. (ceil((8n + 10) / 384) is floor((n + 49) / 48).)
const fn split(n: usize) -> usize {
    if n <= 94 {
        return n.div_ceil(2);
    }
    let blocks = (n + 49) / BLOCK_LEN;
    let right = 1 << (blocks - 1).ilog2();
    BLOCK_LEN * (blocks - right) - 1
}

/// Xoofff-WBC: a tweakable cipher on a whole message, without authentication.
///
/// The ciphertext is as long as the message, and each of its bits depends on every bit of the message and the tweak:
/// changing the ciphertext garbles the whole plaintext. Equal messages under equal tweaks have equal ciphertexts. Messages
/// and tweaks have any length, but on messages of a few bytes the cipher permutes only a few values and hides no more than
/// that. Use it for disks and fixed-size fields; where there is room for a tag, use [`WbcAe`], [`Sanse`](super::Sanse) or
/// [`Sane`](super::Sane).
///
/// ```
/// use veriplex::{Key, os_rng, xoofff::Wbc};
///
/// let key: Key = Key::generate(&mut os_rng());
/// let cipher = Wbc::new(&key)?;
/// let mut sector = [0x5a; 512];
/// cipher.encipher(b"sector 1", &mut sector);
/// cipher.decipher(b"sector 1", &mut sector);
/// assert_eq!(sector, [0x5a; 512]);
/// # Ok::<(), veriplex::Error>(())
/// ```
#[derive(Clone)]
pub struct Wbc(Xoofff);

impl Wbc {
    /// Creates the cipher with this key.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the key has more than 47 bytes ([`Xoofff::MAX_KEY_LEN`]).
    pub fn new(key: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        Xoofff::new(key).map(Self)
    }

    /// Enciphers in place.
    pub fn encipher(&self, tweak: &[u8], in_out: &mut [u8]) {
        let _timing = Timing::independent();
        let (left, right) = in_out.split_at_mut(split(in_out.len()));
        let tweaked = self.0.with(tweak, DomainBits::NONE);
        self.xor_short(right, left, LEFT);
        xor(left, &tweaked, right, RIGHT);
        xor(right, &tweaked, left, LEFT);
        self.xor_short(left, right, RIGHT);
    }

    /// Deciphers in place.
    pub fn decipher(&self, tweak: &[u8], in_out: &mut [u8]) {
        let _timing = Timing::independent();
        let (left, right) = in_out.split_at_mut(split(in_out.len()));
        let tweaked = self.0.with(tweak, DomainBits::NONE);
        self.xor_short(left, right, RIGHT);
        xor(right, &tweaked, left, LEFT);
        xor(left, &tweaked, right, RIGHT);
        self.xor_short(right, left, LEFT);
    }

    /// XORs the short Xoofff of the other part into the first block of this one.
    fn xor_short(&self, part: &mut [u8], other: &[u8], bits: DomainBits) {
        let first = part.len().min(BLOCK_LEN);
        let mut output = self.0.with(other, bits).history.output(false);
        output.apply_keystream(&mut part[..first]);
    }
}

/// XORs Xoofff of the tweak and the other part into this one.
fn xor(part: &mut [u8], tweaked: &Xoofff, other: &[u8], bits: DomainBits) {
    tweaked
        .with(other, bits)
        .output(Offset::ZERO)
        .apply_keystream(part);
}

/// Xoofff-WBC-AE: authenticated encryption with [`Wbc`], of a message that is followed by 16 zeros.
///
/// Deterministic: equal messages with equal associated data have equal ciphertexts; to hide that, put a nonce into the
/// associated data. The ciphertext is 16 bytes longer than the message. Each forgery attempt succeeds with probability
/// 2^-128.
///
/// ```
/// use veriplex::{Error, Key, os_rng, xoofff::WbcAe};
///
/// let key: Key = Key::generate(&mut os_rng());
/// let cipher = WbcAe::new(&key)?;
/// let sealed = cipher.seal_vec(b"header", b"message");
/// assert_eq!(cipher.open_vec(b"header", &sealed)?, b"message");
/// assert_eq!(cipher.open_vec(b"another", &sealed), Err(Error::Verification));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct WbcAe(Wbc);

impl WbcAe {
    /// Creates the cipher with this key.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] if the key has more than 47 bytes ([`Xoofff::MAX_KEY_LEN`]).
    pub fn new(key: &(impl AsRef<[u8]> + ?Sized)) -> Result<Self, Error> {
        Wbc::new(key).map(Self)
    }

    /// Encrypts in place; the last 16 bytes of `in_out` are room for the expansion.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `in_out` has fewer than 16 bytes.
    pub fn seal_in_place(&self, ad: &[u8], in_out: &mut [u8]) -> Result<(), Error> {
        let (_, room) = in_out.split_last_chunk_mut().ok_or(Error::BufferLength)?;
        *room = [0; TAG_LEN];
        self.0.encipher(ad, in_out);
        Ok(())
    }

    /// Decrypts in place: the message, 16 bytes shorter than `in_out`.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if associated data or ciphertext are not what was sealed, [`Error::TooShort`] if there are
    /// fewer than 16 bytes; `in_out` is then all zeros.
    pub fn open_in_place<'b>(&self, ad: &[u8], in_out: &'b mut [u8]) -> Result<&'b mut [u8], Error> {
        self.0.decipher(ad, in_out);
        let Some(end) = in_out.last_chunk::<TAG_LEN>() else {
            wipe(in_out);
            return Err(Error::TooShort);
        };
        release_or_wipe(end.ct_eq(&[0; TAG_LEN]), in_out)?;
        let message = in_out.len() - TAG_LEN;
        Ok(&mut in_out[..message])
    }
}

#[cfg(feature = "alloc")]
impl WbcAe {
    /// Encrypts into a new vector.
    #[must_use]
    pub fn seal_vec(&self, ad: &[u8], plaintext: &[u8]) -> alloc::vec::Vec<u8> {
        let mut sealed = alloc::vec![0; plaintext.len() + TAG_LEN];
        sealed[..plaintext.len()].copy_from_slice(plaintext);
        self.0.encipher(ad, &mut sealed);
        sealed
    }

    /// Decrypts into a new vector.
    ///
    /// # Errors
    ///
    /// [`Error::Verification`] if associated data or `sealed` are not what was sealed.
    pub fn open_vec(&self, ad: &[u8], sealed: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        let mut message = sealed.to_vec();
        let len = self.open_in_place(ad, &mut message)?.len();
        message.truncate(len);
        Ok(message)
    }
}
