//! The `AArch64` backend: `FEAT_AES`, the state in eight vector registers across blocks.

use core::arch::aarch64::{
    uint8x16_t as V, vaeseq_u8, vaesmcq_u8, vandq_u8, vcombine_u8, vcreate_u8, vdupq_n_u8, veorq_u8,
    vextq_u8, vld1q_u8, vld1q_u32, vreinterpretq_u8_u32, vst1q_u8,
};

use crate::backend::simpira1024::ROUND_CONSTANTS;

cpufeatures::new!(features, "aes");
crate::backend::vector::backend!("neon,aes", "armv8", features::get);

#[inline]
#[target_feature(enable = "neon,aes")]
unsafe fn load(from: *const u8) -> V {
    // SAFETY: the caller vouches for 16 readable bytes; no alignment is asked.
    unsafe { vld1q_u8(from) }
}

#[inline]
#[target_feature(enable = "neon,aes")]
unsafe fn store(to: *mut u8, x: V) {
    // SAFETY: the caller vouches for 16 writable bytes; no alignment is asked.
    unsafe { vst1q_u8(to, x) }
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn zero() -> V {
    vdupq_n_u8(0)
}

/// The padding of a full block: both bits in byte 95.
#[inline]
#[target_feature(enable = "neon,aes")]
fn pad() -> V {
    vcombine_u8(vcreate_u8(0), vcreate_u8(0x81 << 56))
}

#[inline]
#[target_feature(enable = "neon,aes")]
fn xor(a: V, b: V) -> V {
    veorq_u8(a, b)
}

/// Moves bytes 2..16 down and fills with zeros.
#[inline]
#[target_feature(enable = "neon,aes")]
fn drop_2(x: V) -> V {
    vextq_u8::<2>(x, zero())
}

/// Bytes 14 and 15; the others zero.
#[inline]
#[target_feature(enable = "neon,aes")]
fn keep_2(x: V) -> V {
    vandq_u8(x, vcombine_u8(vcreate_u8(0), vcreate_u8(0xffff << 48)))
}

/// The last two bytes of `low`, then the first 14 of `high`.
#[inline]
#[target_feature(enable = "neon,aes")]
fn straddle(low: V, high: V) -> V {
    vextq_u8::<14>(low, high)
}

/// `destination ^ F(K(i + 1), source)`.
#[inline]
#[target_feature(enable = "neon,aes")]
fn f(i: usize, source: V, destination: V) -> V {
    // SAFETY: a row of the table has 16 bytes.
    let key = vreinterpretq_u8_u32(unsafe { vld1q_u32(ROUND_CONSTANTS[i].as_ptr()) });
    // AESE adds its key before SubBytes: the first key of F moves to the second instruction.
    let y = vaesmcq_u8(vaeseq_u8(source, zero()));
    veorq_u8(destination, vaesmcq_u8(vaeseq_u8(y, key)))
}
