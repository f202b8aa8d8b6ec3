//! The stream ciphers and the block cipher of Adiantum and `HPolyC`.

use aes::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};

use super::{AT_ONCE, BLOCK_LEN, Block, BlockCipher, StreamCipher};
use crate::Key;
use crate::base::wipe::{Secret, Wiped};
use crate::primitives::chacha::{xchacha, xchacha_each};

/// What a nonce is padded with.
const AFTER_NONCE: [u8; 8] = [1, 0, 0, 0, 0, 0, 0, 0];

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
        self.apply_before(nonce, in_out, 0);
    }

    fn apply_before(&self, nonce: &Block, buffer: &mut [u8], spare: usize) {
        let mut long = Wiped([0; 24]);
        long.0[..BLOCK_LEN].copy_from_slice(nonce);
        long.0[BLOCK_LEN..].copy_from_slice(&AFTER_NONCE);
        xchacha::<ROUNDS>(self.0.as_bytes(), &long.0, to_whole_block(buffer, spare));
    }

    fn apply_each<const N: usize>(&self, nonces: &[Block; N], buffers: &mut [&mut [u8]; N], spare: usize) {
        let mut buffers = (buffers.iter_mut().map(|buffer| to_whole_block(buffer, spare))).peekable();
        let (groups, rest) = nonces.as_chunks();
        for nonces in groups {
            let len = buffers.peek().map_or(0, |buffer| buffer.len());
            xchacha_each::<ROUNDS, AT_ONCE>(self.0.as_bytes(), nonces, AFTER_NONCE, len, &mut buffers);
        }
        for (nonce, buffer) in rest.iter().zip(buffers) {
            self.apply(nonce, buffer);
        }
    }
}

/// Size in bytes of a block of `ChaCha`.
const STREAM_BLOCK_LEN: usize = 64;

/// Without the last `spare` bytes; but with them, if they only fill the last block.
fn to_whole_block(buffer: &mut [u8], spare: usize) -> &mut [u8] {
    let len = buffer.len() - spare;
    if buffer.len() == len.next_multiple_of(STREAM_BLOCK_LEN) {
        buffer
    } else {
        &mut buffer[..len]
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

debug_without_keys!(Aes256);
