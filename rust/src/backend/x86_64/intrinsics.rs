//! The operations with intrinsics: AES-NI with VEX encoding, the state in eight vector registers across blocks.

use core::arch::x86_64::{
    __m128i as V, _mm_aesenc_si128, _mm_alignr_epi8, _mm_and_si128, _mm_bsrli_si128, _mm_loadu_si128,
    _mm_set_epi32, _mm_set_epi64x, _mm_setzero_si128, _mm_storeu_si128, _mm_xor_si128,
};

use crate::backend::simpira1024::ROUND_CONSTANTS;

cpufeatures::new!(features, "aes", "avx");
crate::backend::vector::backend!("aes,avx", "x86-64", features::get);

#[inline]
#[target_feature(enable = "aes,avx")]
unsafe fn load(from: *const u8) -> V {
    // SAFETY: the caller vouches for 16 readable bytes; no alignment is asked.
    unsafe { _mm_loadu_si128(from.cast()) }
}

#[inline]
#[target_feature(enable = "aes,avx")]
unsafe fn store(to: *mut u8, x: V) {
    // SAFETY: the caller vouches for 16 writable bytes; no alignment is asked.
    unsafe { _mm_storeu_si128(to.cast(), x) }
}

#[inline]
#[target_feature(enable = "aes,avx")]
fn zero() -> V {
    _mm_setzero_si128()
}

/// The padding of a full block: both bits in byte 95.
#[inline]
#[target_feature(enable = "aes,avx")]
fn pad() -> V {
    _mm_set_epi64x(0x81 << 56, 0)
}

#[inline]
#[target_feature(enable = "aes,avx")]
fn xor(a: V, b: V) -> V {
    _mm_xor_si128(a, b)
}

/// Moves bytes 2..16 down and fills with zeros.
#[inline]
#[target_feature(enable = "aes,avx")]
fn drop_2(x: V) -> V {
    _mm_bsrli_si128::<2>(x)
}

/// Bytes 14 and 15; the others zero.
#[inline]
#[target_feature(enable = "aes,avx")]
fn keep_2(x: V) -> V {
    _mm_and_si128(x, _mm_set_epi64x(0xffff << 48, 0))
}

/// The last two bytes of `low`, then the first 14 of `high`.
#[inline]
#[target_feature(enable = "aes,avx")]
fn straddle(low: V, high: V) -> V {
    _mm_alignr_epi8::<14>(high, low)
}

/// `destination ^ F(K(i + 1), source)`.
#[inline]
#[target_feature(enable = "aes,avx")]
fn f(i: usize, source: V, destination: V) -> V {
    let [w0, w1, w2, w3] = ROUND_CONSTANTS[i].map(u32::cast_signed);
    let key = _mm_set_epi32(w3, w2, w1, w0);
    // The second round key is zero in F, so it can take the destination of the XOR.
    _mm_aesenc_si128(_mm_aesenc_si128(source, key), destination)
}
