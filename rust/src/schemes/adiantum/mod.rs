//! Length-preserving encryption: Adiantum and `HPolyC` (P. Crowley and E. Biggers, eprint 2018/720), and HBSH, the
//! construction behind both.
//!
//! The ciphertext is exactly as long as the message, which must have at least 16 bytes. A tweak, such as a sector number,
//! makes the same message encrypt differently in different places; it is public and may repeat. Changing one bit of the
//! message or the tweak changes the whole result.
//!
//! # What it does not do
//!
//! **It does not authenticate.** A changed ciphertext decrypts to noise without an error, and a replayed old ciphertext
//! decrypts to the old message. **It is deterministic**: anyone who sees several versions of a ciphertext under one tweak
//! (several images of a disk, a log of its writes) learns which versions hold the same message, and when a message
//! comes back, but nothing about how different messages differ. Lengths and tweaks are not hidden.
//!
//! Use it for storage that has no room for a nonce and a tag, such as disk sectors. Where there is room, use
//! [`aead`](crate::aead) or [`siv`](crate::siv); for files, [`aestream`](crate::aestream).
//!
//! # Which one to use
//!
//! | cipher | hash | best for | tweaks |
//! |---|---|---|---|
//! | [`Adiantum`] | NH, then Poly1305 | disk sectors: the fastest | of any length |
//! | [`HPolyC`] | Poly1305 | little memory: its expanded keys are smaller | below 2^29 bytes |
//!
//! Keys have 32 bytes. Twelve rounds are the usual choice; 20 give a larger safety margin, 8 a smaller one. An attacker's advantage with q
//! messages of 4 KiB is about q^2 / 2^101; encrypt at most 2^55 bytes under one key. Use each key with only one cipher
//! and one number of rounds.
//!
//! ```
//! use veriplex::{Key, adiantum::{Adiantum, WideBlockCipher}, os_rng};
//!
//! let key: Key = Key::generate(&mut os_rng());
//! let cipher = Adiantum::<12>::new(key.as_bytes());
//! let mut message = *b"sixteen bytes, or more";
//! cipher.encrypt_in_place(b"tweak", &mut message)?;
//! cipher.decrypt_in_place(b"tweak", &mut message)?;
//! assert_eq!(message, *b"sixteen bytes, or more");
//!
//! let mut image = vec![0; 8 * 4096];
//! cipher.encrypt_sectors(4096, 0, &mut image)?;
//! assert_ne!(image[..4096], image[4096..8192]);
//! # Ok::<(), veriplex::Error>(())
//! ```
//!
//! Other numbers of rounds do not compile:
//!
//! ```compile_fail,E0080
//! let cipher = veriplex::adiantum::Adiantum::<10>::new(&[7; 32]);
//! ```

macro_rules! debug_without_keys {
    ($($name:ident),*) => {$(
        /// Shows no part of the key.
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

mod ciphers;
mod hashes;
pub(crate) mod nh;

use core::array::from_fn;
use core::fmt;

use crate::Error;
use crate::base::in_out::copy;
use crate::base::timing::Timing;
use crate::base::wipe::{Secret, Wiped, wipe};
use crate::poly1305::number::MESSAGES_PER_BATCH;
pub use ciphers::{Aes256, XChaCha};
pub use hashes::{NhPoly1305, PaddedPoly1305};

/// Size in bytes of a key.
pub const KEY_LEN: usize = 32;

/// How many tweaks or messages [`Hash::tweak_each`] and [`Hash::hash_each`] take at once.
pub const AT_ONCE: usize = MESSAGES_PER_BATCH;

/// Size in bytes of the shortest message.
pub const MIN_LEN: usize = BLOCK_LEN;

const BLOCK_LEN: usize = 16;
type Block = [u8; BLOCK_LEN];

/// A tweakable cipher for messages of 16 bytes or more.
pub trait WideBlockCipher {
    /// Checks that the cipher accepts a tweak and a message of these sizes in bytes.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if the message is too short, [`Error::LimitReached`] if the tweak is too long.
    fn check(&self, tweak_len: usize, message_len: usize) -> Result<(), Error>;

    /// Encrypts in place.
    ///
    /// # Errors
    ///
    /// Those of [`WideBlockCipher::check`]; the data is then unchanged.
    fn encrypt_in_place(&self, tweak: &[u8], in_out: &mut [u8]) -> Result<(), Error>;

    /// Decrypts in place. Any sufficiently long ciphertext decrypts to something.
    ///
    /// # Errors
    ///
    /// Those of [`WideBlockCipher::check`]; the data is then unchanged.
    fn decrypt_in_place(&self, tweak: &[u8], in_out: &mut [u8]) -> Result<(), Error>;

    /// Encrypts from one buffer into another.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if their lengths differ, and those of [`WideBlockCipher::check`]; the output is then unchanged.
    fn encrypt_into(&self, tweak: &[u8], plaintext: &[u8], ciphertext: &mut [u8]) -> Result<(), Error> {
        self.check(tweak.len(), plaintext.len())?;
        copy(plaintext, ciphertext)?;
        self.encrypt_in_place(tweak, ciphertext)
    }

    /// Decrypts from one buffer into another.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if their lengths differ, and those of [`WideBlockCipher::check`]; the output is then unchanged.
    fn decrypt_into(&self, tweak: &[u8], ciphertext: &[u8], plaintext: &mut [u8]) -> Result<(), Error> {
        self.check(tweak.len(), ciphertext.len())?;
        copy(ciphertext, plaintext)?;
        self.decrypt_in_place(tweak, plaintext)
    }

    /// Encrypts into a new vector.
    ///
    /// # Errors
    ///
    /// Those of [`WideBlockCipher::check`].
    #[cfg(feature = "alloc")]
    fn encrypt_vec(&self, tweak: &[u8], plaintext: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        self.check(tweak.len(), plaintext.len())?;
        let mut ciphertext = plaintext.to_vec();
        self.encrypt_in_place(tweak, &mut ciphertext)?;
        Ok(ciphertext)
    }

    /// Decrypts into a new vector.
    ///
    /// # Errors
    ///
    /// Those of [`WideBlockCipher::check`].
    #[cfg(feature = "alloc")]
    fn decrypt_vec(&self, tweak: &[u8], ciphertext: &[u8]) -> Result<alloc::vec::Vec<u8>, Error> {
        let mut plaintext = ciphertext.to_vec();
        self.decrypt_in_place(tweak, &mut plaintext)?;
        Ok(plaintext)
    }

    /// Encrypts consecutive sectors of `sector_len` bytes in place; the first one has the number `first`.
    ///
    /// The tweak is the sector number in 32 bytes, little-endian, as with `plain64` in Linux's dm-crypt.
    ///
    /// # Errors
    ///
    /// [`Error::BufferLength`] if `in_out` is not a whole number of sectors, [`Error::LimitReached`] if a sector number would exceed
    /// 2^64 - 1, and those of [`WideBlockCipher::check`]; the output is then unchanged.
    fn encrypt_sectors(&self, sector_len: usize, first: u64, in_out: &mut [u8]) -> Result<(), Error> {
        for (tweak, sector) in sectors(self, sector_len, first, in_out)? {
            self.encrypt_in_place(&tweak, sector)?;
        }
        Ok(())
    }

    /// Decrypts consecutive sectors of `sector_len` bytes in place; the first one has the number `first`.
    ///
    /// # Errors
    ///
    /// Those of [`WideBlockCipher::encrypt_sectors`]; `in_out` is then unchanged.
    fn decrypt_sectors(&self, sector_len: usize, first: u64, in_out: &mut [u8]) -> Result<(), Error> {
        for (tweak, sector) in sectors(self, sector_len, first, in_out)? {
            self.decrypt_in_place(&tweak, sector)?;
        }
        Ok(())
    }
}

/// Size in bytes of the tweak of a sector.
const SECTOR_TWEAK_LEN: usize = 32;

/// A sector, after its tweak.
type Sector<'a> = ([u8; SECTOR_TWEAK_LEN], &'a mut [u8]);

/// Iterates over the sectors with their tweaks.
fn sectors<'a, C: WideBlockCipher + ?Sized>(
    cipher: &C,
    sector_len: usize,
    first: u64,
    in_out: &'a mut [u8],
) -> Result<impl ExactSizeIterator<Item = Sector<'a>> + use<'a, C>, Error> {
    cipher.check(SECTOR_TWEAK_LEN, sector_len)?;
    if !in_out.len().is_multiple_of(sector_len) {
        return Err(Error::BufferLength);
    }
    let more = (in_out.len() / sector_len).saturating_sub(1);
    first.checked_add(more as u64).ok_or(Error::LimitReached)?;
    let sectors = in_out.chunks_exact_mut(sector_len).enumerate();
    Ok(sectors.map(move |(i, sector)| {
        let mut tweak = [0; SECTOR_TWEAK_LEN];
        tweak[..8].copy_from_slice(&(first + i as u64).to_le_bytes());
        (tweak, sector)
    }))
}

/// A stream cipher with 16-byte nonces, as HBSH requires.
pub trait StreamCipher {
    /// XORs the stream for this nonce into `in_out`.
    fn apply(&self, nonce: &[u8; 16], in_out: &mut [u8]);

    /// The same for all but the last `spare` bytes of `buffer`. Those have no meaning afterwards: a cipher that works in
    /// blocks need not stop within one.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes.
    fn apply_before(&self, nonce: &[u8; 16], buffer: &mut [u8], spare: usize) {
        let len = buffer.len() - spare;
        self.apply(nonce, &mut buffer[..len]);
    }

    /// [`StreamCipher::apply_before`] for each nonce, to the buffer in its place.
    ///
    /// # Panics
    ///
    /// If a buffer has fewer than `spare` bytes.
    fn apply_each<const N: usize>(&self, nonces: &[[u8; 16]; N], buffers: &mut [&mut [u8]; N], spare: usize) {
        for (nonce, buffer) in nonces.iter().zip(buffers) {
            self.apply_before(nonce, buffer, spare);
        }
    }
}

/// A block cipher with 16-byte blocks, as HBSH requires.
pub trait BlockCipher {
    /// Encrypts in place.
    fn encrypt(&self, block: &mut [u8; 16]);
    /// Decrypts in place.
    fn decrypt(&self, block: &mut [u8; 16]);

    /// Encrypts each block in place.
    fn encrypt_each(&self, blocks: &mut [[u8; 16]]) {
        for block in blocks {
            self.encrypt(block);
        }
    }

    /// Decrypts each block in place.
    fn decrypt_each(&self, blocks: &mut [[u8; 16]]) {
        for block in blocks {
            self.decrypt(block);
        }
    }
}

/// A hash of tweak and message, as HBSH requires: almost universal with respect to differences modulo 2^128.
pub trait Hash {
    /// Size in bytes of the longest tweak.
    const MAX_TWEAK_LEN: usize = usize::MAX;

    /// The precomputed part shared by all messages of one length under one tweak.
    type Tweaked;

    /// Absorbs a tweak of at most [`Hash::MAX_TWEAK_LEN`] bytes and the size of a message in bytes.
    fn tweak(&self, tweak: &[u8], message_len: usize) -> Self::Tweaked;

    /// The hash of a message of that size.
    fn hash(&self, tweaked: &Self::Tweaked, message: &[u8]) -> u128;

    /// The same for all but the last `spare` bytes of `buffer`, on which the hash does not depend: one that works in blocks
    /// may read them nevertheless.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes.
    fn hash_before(&self, tweaked: &Self::Tweaked, buffer: &[u8], spare: usize) -> u128 {
        self.hash(tweaked, &buffer[..buffer.len() - spare])
    }

    /// [`Hash::tweak`] of each of several tweaks. It is made for tweaks of the same size.
    fn tweak_each(&self, tweaks: [&[u8]; AT_ONCE], message_len: usize) -> [Self::Tweaked; AT_ONCE] {
        tweaks.map(|tweak| self.tweak(tweak, message_len))
    }

    /// [`Hash::hash_before`] for each of several buffers, with the tweak in its place. It is made for buffers of the same
    /// size.
    ///
    /// # Panics
    ///
    /// If a buffer has fewer than `spare` bytes.
    fn hash_each(
        &self,
        tweaked: &[Self::Tweaked; AT_ONCE],
        buffers: [&[u8]; AT_ONCE],
        spare: usize,
    ) -> [u128; AT_ONCE] {
        from_fn(|i| self.hash_before(&tweaked[i], buffers[i], spare))
    }
}

/// The construction HBSH: hash, block cipher, stream cipher, hash.
///
/// The parts must have independent keys. Keys are wiped on drop. Threads can share one value.
#[derive(Clone)]
pub struct Hbsh<S, B, H> {
    stream: S,
    block: B,
    hash: H,
}

/// Adiantum-XChaCha-AES256, with 12 rounds by default.
pub type Adiantum<const ROUNDS: usize = 12> = Hbsh<XChaCha<ROUNDS>, Aes256, NhPoly1305>;

/// HPolyC-XChaCha-AES256, with 12 rounds by default.
pub type HPolyC<const ROUNDS: usize = 12> = Hbsh<XChaCha<ROUNDS>, Aes256, PaddedPoly1305>;

#[allow(clippy::missing_panics_doc)] // the lengths are right
impl<const ROUNDS: usize> Hbsh<XChaCha<ROUNDS>, Aes256, NhPoly1305> {
    /// Adiantum with this key.
    #[must_use]
    pub fn new(key: &[u8; KEY_LEN]) -> Self {
        let _timing = Timing::independent();
        let stream = XChaCha::new(key);
        let keys = stream.derive::<{ KEY_LEN + NhPoly1305::KEY_LEN }>();
        let (block, hash) = keys.split_first_chunk().expect("a key of AES-256, and the rest");
        let hash = NhPoly1305::new(hash.try_into().expect("the rest"));
        Self::from_parts(stream, Aes256::new(block), hash)
    }
}

#[allow(clippy::missing_panics_doc)] // the lengths are right
impl<const ROUNDS: usize> Hbsh<XChaCha<ROUNDS>, Aes256, PaddedPoly1305> {
    /// `HPolyC` with this key.
    #[must_use]
    pub fn new(key: &[u8; KEY_LEN]) -> Self {
        let _timing = Timing::independent();
        let stream = XChaCha::new(key);
        let keys = stream.derive::<{ KEY_LEN + 16 }>();
        let (block, hash) = keys.split_first_chunk().expect("a key of AES-256, and the rest");
        let hash = PaddedPoly1305::new(hash.try_into().expect("the rest"));
        Self::from_parts(stream, Aes256::new(block), hash)
    }

    /// The variant in the Go package lukechampine/adiantum, which encrypts differently with tweaks of 12, 28, 44, ... bytes:
    /// it pads them with 16 zeros where no padding is needed. Use it only for compatibility with that package.
    #[must_use]
    pub fn with_go_padding(key: &[u8; KEY_LEN]) -> Self {
        let Self { stream, block, hash } = Self::new(key);
        Self::from_parts(stream, block, hash.with_go_padding())
    }
}

impl<S: StreamCipher, B: BlockCipher, H: Hash> Hbsh<S, B, H> {
    /// The construction over the given parts.
    pub const fn from_parts(stream: S, block: B, hash: H) -> Self {
        Self { stream, block, hash }
    }

    /// Encryption and decryption differ only in what they do to the middle block; its encrypted form serves as the nonce.
    fn run(&self, tweak: &[u8], in_out: &mut [u8], encrypt: bool) -> Result<(), Error> {
        let _timing = Timing::independent();
        self.check(tweak.len(), in_out.len())?;
        let tweaked = self.hash.tweak(tweak, in_out.len() - BLOCK_LEN);

        let hash = Secret::new(self.hash.hash_before(&tweaked, in_out, BLOCK_LEN));
        let (_, right) = halves(in_out)?;
        let sum = Secret::new(u128::from_le_bytes(*right).wrapping_add(*hash));
        let mut middle = Wiped(sum.to_le_bytes());
        let mut nonce = middle.clone();
        if encrypt {
            self.block.encrypt(&mut nonce.0);
            middle.0 = nonce.0;
        } else {
            self.block.decrypt(&mut middle.0);
        }
        self.stream.apply_before(&nonce.0, in_out, BLOCK_LEN);
        let hash = Secret::new(self.hash.hash_before(&tweaked, in_out, BLOCK_LEN));
        let (_, right) = halves(in_out)?;
        let middle = Secret::new(u128::from_le_bytes(middle.0));
        *right = middle.wrapping_sub(*hash).to_le_bytes();
        Ok(())
    }

    /// The same for sectors, each step for some of them at a time.
    fn run_sectors(
        &self,
        sector_len: usize,
        first: u64,
        in_out: &mut [u8],
        encrypt: bool,
    ) -> Result<(), Error> {
        let _timing = Timing::independent();
        let mut sectors = sectors(self, sector_len, first, in_out)?;
        while sector_len <= CACHED_LEN / AT_ONCE && sectors.len() >= AT_ONCE {
            self.run_each(&mut sectors, encrypt)?;
        }
        for (tweak, sector) in sectors {
            self.run(&tweak, sector, encrypt)?;
        }
        Ok(())
    }

    /// Takes the next sectors.
    fn run_each<'a>(
        &self,
        sectors: &mut impl Iterator<Item = Sector<'a>>,
        encrypt: bool,
    ) -> Result<(), Error> {
        let mut tweaks = [[0; SECTOR_TWEAK_LEN]; AT_ONCE];
        let mut buffers: [&mut [u8]; AT_ONCE] = from_fn(|_| Default::default());
        for ((tweak, buffer), sector) in tweaks.iter_mut().zip(&mut buffers).zip(sectors) {
            (*tweak, *buffer) = sector;
        }
        let len = buffers[0].len() - BLOCK_LEN;
        let tweaked = self
            .hash
            .tweak_each(tweaks.each_ref().map(<[u8; _]>::as_slice), len);

        let shared = buffers.each_ref().map(|buffer| &**buffer);
        let hashes = Secret::new(self.hash.hash_each(&tweaked, shared, BLOCK_LEN));
        let mut middles = Blocks([[0; BLOCK_LEN]; AT_ONCE]);
        for ((middle, hash), buffer) in middles.0.iter_mut().zip(*hashes).zip(&mut buffers) {
            let (_, right) = halves(buffer)?;
            *middle = u128::from_le_bytes(*right).wrapping_add(hash).to_le_bytes();
        }
        let mut nonces = middles.clone();
        if encrypt {
            self.block.encrypt_each(&mut nonces.0);
            middles.0 = nonces.0;
        } else {
            self.block.decrypt_each(&mut middles.0);
        }
        self.stream.apply_each(&nonces.0, &mut buffers, BLOCK_LEN);

        let shared = buffers.each_ref().map(|buffer| &**buffer);
        let hashes = Secret::new(self.hash.hash_each(&tweaked, shared, BLOCK_LEN));
        for ((middle, hash), buffer) in middles.0.iter().zip(*hashes).zip(&mut buffers) {
            let (_, right) = halves(buffer)?;
            *right = u128::from_le_bytes(*middle).wrapping_sub(hash).to_le_bytes();
        }
        Ok(())
    }
}

/// A block of each of several sectors. Wiped at once.
#[derive(Clone)]
struct Blocks([Block; AT_ONCE]);

impl Drop for Blocks {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

/// How many bytes of sectors are worked on at once, at most: the cache next to the core shall still have most of them when
/// their next step comes.
const CACHED_LEN: usize = 32 << 10;

/// All but the last 16 bytes, and these.
fn halves(in_out: &mut [u8]) -> Result<(&mut [u8], &mut Block), Error> {
    in_out.split_last_chunk_mut().ok_or(Error::BufferLength)
}

impl<S: StreamCipher, B: BlockCipher, H: Hash> WideBlockCipher for Hbsh<S, B, H> {
    fn check(&self, tweak_len: usize, message_len: usize) -> Result<(), Error> {
        if message_len < MIN_LEN {
            Err(Error::BufferLength)
        } else if tweak_len > H::MAX_TWEAK_LEN {
            Err(Error::LimitReached)
        } else {
            Ok(())
        }
    }

    fn encrypt_in_place(&self, tweak: &[u8], in_out: &mut [u8]) -> Result<(), Error> {
        self.run(tweak, in_out, true)
    }

    fn decrypt_in_place(&self, tweak: &[u8], in_out: &mut [u8]) -> Result<(), Error> {
        self.run(tweak, in_out, false)
    }

    fn encrypt_sectors(&self, sector_len: usize, first: u64, in_out: &mut [u8]) -> Result<(), Error> {
        self.run_sectors(sector_len, first, in_out, true)
    }

    fn decrypt_sectors(&self, sector_len: usize, first: u64, in_out: &mut [u8]) -> Result<(), Error> {
        self.run_sectors(sector_len, first, in_out, false)
    }
}

/// Shows no part of the keys.
impl<S, B, H> fmt::Debug for Hbsh<S, B, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hbsh").finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "std", target_os = "linux"))]
mod tests {
    use super::*;
    use crate::base::wipe::assert_wiped_on_drop;

    #[test]
    fn blocks_are_wiped() {
        assert_wiped_on_drop(Blocks([[0xff; BLOCK_LEN]; AT_ONCE]));
    }
}
