//! Xoodoo on one state, with a plane in each vector register: the compiler does not find this form by itself. SSE2 is
//! part of x86-64, so nothing has to be detected.

use core::arch::x86_64::{
    __m128i as Plane, _mm_andnot_si128, _mm_cvtsi32_si128, _mm_cvtsi128_si64, _mm_or_si128, _mm_set_epi64x,
    _mm_shuffle_epi32, _mm_slli_epi32, _mm_srli_epi32, _mm_unpackhi_epi64, _mm_xor_si128,
};

/// A round for each of these constants.
#[inline]
pub(crate) fn xoodoo<const ROUNDS: usize>(state: &mut [u8; 48], constants: &[u32; ROUNDS]) {
    // SAFETY: this module is compiled only where the whole program has SSE2.
    unsafe { rounds(state, constants) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn rounds<const ROUNDS: usize>(state: &mut [u8; 48], constants: &[u32; ROUNDS]) {
    let (halves, _) = state.as_chunks_mut();
    let load = |y: usize| {
        _mm_set_epi64x(
            i64::from_le_bytes(halves[2 * y + 1]),
            i64::from_le_bytes(halves[2 * y]),
        )
    };
    let mut planes = [load(0), load(1), load(2)];
    for &constant in constants {
        planes = round(planes, constant.cast_signed());
    }
    for (halves, plane) in halves.chunks_exact_mut(2).zip(planes) {
        halves[0] = _mm_cvtsi128_si64(plane).to_le_bytes();
        halves[1] = _mm_cvtsi128_si64(_mm_unpackhi_epi64(plane, plane)).to_le_bytes();
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn round([a0, a1, a2]: [Plane; 3], constant: i32) -> [Plane; 3] {
    // Theta.
    let parity = next_column(xor(xor(a0, a1), a2));
    let effect = xor(rotate::<5, 27>(parity), rotate::<14, 18>(parity));
    // Rho-west, and iota. The constant does not wait for theta.
    let b0 = xor(xor(a0, _mm_cvtsi32_si128(constant)), effect);
    let b1 = next_column(xor(a1, effect));
    let b2 = rotate::<11, 21>(xor(a2, effect));
    // Chi, and rho-east, which shifts plane 2 by two columns.
    let a1 = rotate::<1, 31>(xor(b1, _mm_andnot_si128(b2, b0)));
    let a2 = rotate::<8, 24>(xor(b2, _mm_andnot_si128(b0, b1)));
    [
        xor(b0, _mm_andnot_si128(b1, b2)),
        a1,
        _mm_shuffle_epi32::<0b01_00_11_10>(a2),
    ]
}

#[inline]
#[target_feature(enable = "sse2")]
fn xor(a: Plane, b: Plane) -> Plane {
    _mm_xor_si128(a, b)
}

/// Each word to the left by `LEFT` bits; `RIGHT` is 32 - `LEFT`.
#[inline]
#[target_feature(enable = "sse2")]
fn rotate<const LEFT: i32, const RIGHT: i32>(a: Plane) -> Plane {
    const { assert!(LEFT + RIGHT == 32) };
    _mm_or_si128(_mm_slli_epi32::<LEFT>(a), _mm_srli_epi32::<RIGHT>(a))
}

/// Word x to column x + 1.
#[inline]
#[target_feature(enable = "sse2")]
fn next_column(a: Plane) -> Plane {
    _mm_shuffle_epi32::<0b10_01_00_11>(a)
}
