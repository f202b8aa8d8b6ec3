//! The stream cipher under the traits of `cipher` 0.5.
//!
//! That crate's `StreamCipher` is for ciphers that XOR a key stream that depends only on key and nonce, so that
//! encryption and decryption are one function. [`stream`] does not fit: as in CFB mode, what it XORs depends on the
//! ciphertext before. The traits that fit are those of CFB with feedback of bytes, `BlockModeEncrypt` and
//! `BlockModeDecrypt` with blocks of one byte; many bytes in one call are as fast as in the native form.

use core::fmt;
use core::marker::PhantomData;

use ::cipher::array::{Array, ArraySize, AssocArraySize};
use ::cipher::common::ParBlocksSizeUser;
use ::cipher::consts::{U1, U470};
use ::cipher::{
    Block, BlockModeDecBackend, BlockModeDecClosure, BlockModeDecrypt, BlockModeEncBackend,
    BlockModeEncClosure, BlockModeEncrypt, BlockSizeUser, InOut, InOutBuf, Iv, IvSizeUser, Key, KeyIvInit,
    KeySizeUser, ParBlocks,
};

use super::{Domain, KeySize, native_key};
use crate::stream;

/// [`stream::Encryptor`] under `cipher::BlockModeEncrypt`, with nonces ("IV") of `NONCE_LEN` bytes, which must be
/// at least 16.
///
/// ```
/// use cipher::array::Array;
/// use cipher::{BlockModeDecrypt, BlockModeEncrypt, KeyIvInit};
/// use veriplex::rustcrypto::{Domain, cipher::{Decryptor, Encryptor}};
/// use veriplex::{Key, Label, Nonce, label, os_rng};
///
/// enum Streams {}
/// impl Domain for Streams {
///     const DOMAIN: Label<'static> = label!("com.example.stream");
/// }
///
/// let (key, nonce) = (Key::<32>::generate(&mut os_rng()), Nonce::<24>::generate(&mut os_rng()));
/// let (key, nonce) = (key.as_bytes().into(), nonce.as_bytes().into()); // never the same nonce twice under one key
/// let mut message = *b"message";
/// let bytes = Array::cast_slice_from_core_mut(message.as_chunks_mut().0);
/// Encryptor::<Streams, 24>::new(key, nonce).encrypt_blocks(bytes);
/// Decryptor::<Streams, 24>::new(key, nonce).decrypt_blocks(bytes);
/// assert_eq!(message, *b"message");
/// ```
pub struct Encryptor<D, const NONCE_LEN: usize> {
    cipher: stream::Encryptor,
    domain: PhantomData<fn() -> D>,
}

/// [`stream::Decryptor`] under `cipher::BlockModeDecrypt`, with nonces ("IV") of `NONCE_LEN` bytes.
pub struct Decryptor<D, const NONCE_LEN: usize> {
    cipher: stream::Decryptor,
    domain: PhantomData<fn() -> D>,
}

/// What a call of the trait works on.
struct Backend<'c, C>(&'c mut C);

/// The bytes of blocks, in the output buffer.
fn bytes<'out>(blocks: InOutBuf<'_, 'out, Array<u8, U1>>) -> &'out mut [u8] {
    Array::slice_as_flattened_mut(blocks.into_out_with_copied_in())
}

impl<C> BlockSizeUser for Backend<'_, C> {
    type BlockSize = U1;
}

/// Five blocks of the duplex at a time.
impl<C> ParBlocksSizeUser for Backend<'_, C> {
    type ParBlocksSize = U470;
}

impl BlockModeEncBackend for Backend<'_, stream::Encryptor> {
    fn encrypt_block(&mut self, block: InOut<'_, '_, Block<Self>>) {
        self.0.update(block.into_out_with_copied_in());
    }

    fn encrypt_par_blocks(&mut self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.0.update(bytes(blocks.into_buf()));
    }

    fn encrypt_tail_blocks(&mut self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.0.update(bytes(blocks));
    }
}

impl BlockModeDecBackend for Backend<'_, stream::Decryptor> {
    fn decrypt_block(&mut self, block: InOut<'_, '_, Block<Self>>) {
        self.0.update(block.into_out_with_copied_in());
    }

    fn decrypt_par_blocks(&mut self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.0.update(bytes(blocks.into_buf()));
    }

    fn decrypt_tail_blocks(&mut self, blocks: InOutBuf<'_, '_, Block<Self>>) {
        self.0.update(bytes(blocks));
    }
}

/// What the two have in common: all but the direction.
macro_rules! cipher_traits {
    ($($name:ident),*) => {$(
        impl<D, const NONCE_LEN: usize> fmt::Debug for $name<D, NONCE_LEN> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }

        impl<D, const NONCE_LEN: usize> KeySizeUser for $name<D, NONCE_LEN> {
            type KeySize = KeySize;
        }

        impl<D, const NONCE_LEN: usize> IvSizeUser for $name<D, NONCE_LEN>
        where
            [u8; NONCE_LEN]: AssocArraySize,
        {
            type IvSize = <[u8; NONCE_LEN] as AssocArraySize>::Size;
        }

        impl<D: Domain, const NONCE_LEN: usize> KeyIvInit for $name<D, NONCE_LEN>
        where
            [u8; NONCE_LEN]: AssocArraySize<Size: ArraySize<ArrayType<u8> = [u8; NONCE_LEN]>>,
        {
            fn new(key: &Key<Self>, nonce: &Iv<Self>) -> Self {
                Self {
                    cipher: stream::$name::new(D::DOMAIN, &native_key(key), &nonce.0),
                    domain: PhantomData,
                }
            }
        }

        impl<D, const NONCE_LEN: usize> BlockSizeUser for $name<D, NONCE_LEN> {
            type BlockSize = U1;
        }
    )*};
}
cipher_traits!(Encryptor, Decryptor);

impl<D, const NONCE_LEN: usize> BlockModeEncrypt for Encryptor<D, NONCE_LEN> {
    fn encrypt_with_backend(&mut self, f: impl BlockModeEncClosure<BlockSize = U1>) {
        f.call(&mut Backend(&mut self.cipher));
    }
}

impl<D, const NONCE_LEN: usize> BlockModeDecrypt for Decryptor<D, NONCE_LEN> {
    fn decrypt_with_backend(&mut self, f: impl BlockModeDecClosure<BlockSize = U1>) {
        f.call(&mut Backend(&mut self.cipher));
    }
}
