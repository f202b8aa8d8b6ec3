//! Poly1305 (RFC 8439, section 2.5), as arithmetic on integers.
//!
//! Cryptol twin: `spec/cryptol/Poly1305.cry`. Keep the two in step, definition by definition. The integers come from
//! the library num-bigint.

use core::array::from_fn;
use num_bigint::BigUint;

/// The number that bytes represent in little-endian order.
pub fn le_number(bytes: &[u8]) -> BigUint {
    BigUint::from_bytes_le(bytes)
}

/// The last 128 bits of a number, in little-endian order.
pub fn le_bytes(number: &BigUint) -> [u8; 16] {
    let bytes = number.to_bytes_le();
    from_fn(|i| bytes.get(i).copied().unwrap_or(0))
}

/// 2^130 - 5.
pub fn prime() -> BigUint {
    (BigUint::from(1_u8) << 130) - 5_u8
}

/// r, with 22 bits cleared.
pub fn clamp(r: &[u8]) -> BigUint {
    le_number(r) & BigUint::from(0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff_u128)
}

/// A block of up to 16 bytes as a number: its bytes, and a 1 after them.
pub fn block_number(block: &[u8]) -> BigUint {
    le_number(block) + (BigUint::from(1_u8) << (8 * block.len()))
}

/// The value of the polynomial whose coefficients are the blocks, at the clamped r, modulo p.
pub fn polynomial(r: &[u8], message: &[u8]) -> BigUint {
    let mut h = BigUint::ZERO;
    for block in message.chunks(16) {
        h = (h + block_number(block)) * clamp(r) % prime();
    }
    h
}

/// The tag.
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32))]
pub fn poly1305(key: &[u8], message: &[u8]) -> [u8; 16] {
    le_bytes(&(polynomial(&key[..16], message) + le_number(&key[16..])))
}

/// Is this the tag of that message?
#[cfg_attr(veriplex_hax, hax_lib::requires(key.len() == 32))]
pub fn verify(key: &[u8], message: &[u8], tag: [u8; 16]) -> bool {
    poly1305(key, message) == tag
}
