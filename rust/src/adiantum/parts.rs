//! The parts of Adiantum and `HPolyC`.

use core::fmt;

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use super::nh::{self, Nh};
use super::{BLOCK_LEN, Block, BlockCipher, Hash, StreamCipher};
use crate::chacha::{xchacha, xchacha_each};
use crate::poly1305::Poly1305;
use crate::poly1305::backend::Backend;
use crate::wipe::{Secret, Wiped};
use crate::{Error, Key};

/// How many subkeys are computed together: enough for the compiler to vectorise across them.
const LANES: usize = 16;

/// `XChaCha` with 8, 12 or 20 rounds; each nonce is padded with a 1 byte and zeros.
#[derive(Clone, Debug)]
pub struct XChaCha<const ROUNDS: usize = 12>(Key);

impl<const ROUNDS: usize> XChaCha<ROUNDS> {
    /// Creates the cipher with this key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(Key::from(*key))
    }

    /// The start of the stream for the empty nonce, from which the other keys are derived.
    pub(super) fn derive<const N: usize>(&self) -> Secret<[u8; N]> {
        let mut nonce = [0; 24];
        nonce[0] = 1;
        let mut keys = Secret::new([0; N]);
        xchacha::<ROUNDS>(self.0.as_bytes(), &nonce, keys.as_mut_slice());
        keys
    }
}

impl<const ROUNDS: usize> StreamCipher for XChaCha<ROUNDS> {
    fn apply(&self, nonce: &Block, in_out: &mut [u8]) {
        let mut long = Wiped([0; 24]);
        long.0[..BLOCK_LEN].copy_from_slice(nonce);
        long.0[BLOCK_LEN] = 1;
        xchacha::<ROUNDS>(self.0.as_bytes(), &long.0, in_out);
    }

    fn apply_each(&self, nonces: &[Block], messages: &mut dyn Iterator<Item = &mut [u8]>) {
        let (groups, rest) = nonces.as_chunks::<LANES>();
        for nonces in groups {
            let messages = (&mut *messages).take(LANES);
            xchacha_each::<ROUNDS, LANES>(self.0.as_bytes(), nonces, [1, 0, 0, 0, 0, 0, 0, 0], messages);
        }
        for (nonce, message) in rest.iter().zip(messages) {
            self.apply(nonce, message);
        }
    }
}

/// AES-256 (FIPS 197), from the crate `aes`: AES instructions or bitsliced code, without tables.
#[derive(Clone)]
pub struct Aes256(aes::Aes256);

impl Aes256 {
    /// Creates the cipher with this key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        Self(aes::Aes256::new(key.into()))
    }
}

impl BlockCipher for Aes256 {
    fn encrypt(&self, block: &mut Block) {
        self.0.encrypt_block(block.into());
    }

    fn decrypt(&self, block: &mut Block) {
        self.0.decrypt_block(block.into());
    }

    fn encrypt_each(&self, blocks: &mut [Block]) {
        self.0.encrypt_blocks(Array::cast_slice_from_core_mut(blocks));
    }

    fn decrypt_each(&self, blocks: &mut [Block]) {
        self.0.decrypt_blocks(Array::cast_slice_from_core_mut(blocks));
    }
}

/// Poly1305 with a 16-byte key: the value of the polynomial is the hash; nothing is added to it.
fn poly(key: &[u8], bytes_hint: usize) -> Result<Poly1305, Error> {
    let mut long = Wiped([0; 32]);
    long.0[..16].copy_from_slice(key);
    Ok(Poly1305::on(Backend::current()?, &long.0, bytes_hint))
}

fn value(poly: Poly1305) -> u128 {
    u128::from_le_bytes(poly.finalize())
}

/// The hash of Adiantum: Poly1305 over the tweak, and over the NH of each KiB of the message.
pub struct NhPoly1305 {
    tweak: Poly1305,
    message: Poly1305,
    nh: Nh,
}

impl NhPoly1305 {
    /// Size in bytes of a key: one Poly1305 key for the tweak, one for the message, and the NH key.
    pub const KEY_LEN: usize = 16 + 16 + nh::KEY_LEN;

    /// Creates the hash with this key.
    ///
    /// # Errors
    ///
    /// [`Error::SelfTest`] if Poly1305 fails its self-test.
    #[allow(clippy::missing_panics_doc)] // the length is right
    pub fn new(key: &[u8; Self::KEY_LEN]) -> Result<Self, Error> {
        Ok(Self {
            tweak: poly(&key[..16], 0)?,
            message: poly(&key[16..32], 0)?,
            nh: Nh::new(key.last_chunk().expect("the rest")),
        })
    }
}

/// The hash of tweak and length.
pub struct TweakHash(Secret<u128>);

impl Clone for NhPoly1305 {
    fn clone(&self) -> Self {
        Self {
            tweak: self.tweak.fork(),
            message: self.message.fork(),
            nh: self.nh.clone(),
        }
    }
}

impl Hash for NhPoly1305 {
    type Tweaked = TweakHash;

    fn tweak(&self, tweak: &[u8], message_len: usize) -> Self::Tweaked {
        let mut poly = self.tweak.fork();
        poly.update(&(8 * message_len as u128).to_le_bytes());
        poly.update(tweak);
        TweakHash(Secret::new(value(poly)))
    }

    fn hash(&self, tweaked: &Self::Tweaked, message: &[u8]) -> u128 {
        let mut poly = self.message.fork();
        for piece in message.chunks(nh::MAX_LEN) {
            poly.update(&Wiped(self.nh.sums(piece)).0);
        }
        tweaked.0.wrapping_add(value(poly))
    }
}

/// The hash of `HPolyC`: Poly1305 over the tweak, padded, and the message.
pub struct PaddedPoly1305 {
    short: Poly1305,
    /// What a kernel needs for long messages is computed once, but it is more to copy.
    long: Poly1305,
    go_padding: bool,
}

/// From this size in bytes on, a message is long: it has enough blocks for a kernel.
const LONG: usize = 2048;

impl PaddedPoly1305 {
    /// Creates the hash with this key.
    ///
    /// # Errors
    ///
    /// [`Error::SelfTest`] if Poly1305 fails its self-test.
    pub fn new(key: &[u8; 16]) -> Result<Self, Error> {
        Ok(Self {
            short: poly(key, 0)?,
            long: poly(key, LONG)?,
            go_padding: false,
        })
    }

    /// The same, but with a full block of padding where none is needed: tweaks of 12, 28, 44, ... bytes.
    pub(super) fn with_go_padding(self) -> Self {
        Self {
            go_padding: true,
            ..self
        }
    }
}

impl Clone for PaddedPoly1305 {
    fn clone(&self) -> Self {
        Self {
            short: self.short.fork(),
            long: self.long.fork(),
            ..*self
        }
    }
}

impl Hash for PaddedPoly1305 {
    const MAX_TWEAK_LEN: usize = (1 << 29) - 1;
    type Tweaked = Poly1305;

    fn tweak(&self, tweak: &[u8], message_len: usize) -> Self::Tweaked {
        let mut poly = if message_len < LONG {
            self.short.fork()
        } else {
            self.long.fork()
        };
        let bits = 8 * tweak.len() as u128; // below 2^32
        poly.update(&bits.to_le_bytes()[..4]);
        poly.update(tweak);
        let used = (4 + tweak.len()) % BLOCK_LEN;
        if used > 0 || self.go_padding {
            poly.update(&[0; BLOCK_LEN][used..]);
        }
        poly
    }

    fn hash(&self, tweaked: &Self::Tweaked, message: &[u8]) -> u128 {
        let mut poly = tweaked.fork();
        poly.update(message);
        value(poly)
    }
}

macro_rules! debug_without_keys {
    ($($name:ident),*) => {$(
        /// Shows no part of the key.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}
debug_without_keys!(Aes256, NhPoly1305, PaddedPoly1305, TweakHash);
