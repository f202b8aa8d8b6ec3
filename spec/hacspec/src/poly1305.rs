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

// -- As kernels compute it -------------------------------------------------------------------------------------------

/// The low 26 bits.
const MASK: u64 = 0x3ff_ffff;

/// The product of the low halves of two words.
pub fn low_product(x: u64, y: u64) -> u64 {
    (x & 0xffff_ffff) * (y & 0xffff_ffff)
}

/// The limbs of a full block, which is given as two words: its number, 2^128 included.
pub fn block_limbs(words: [u64; 2]) -> [u64; 5] {
    let [low, high] = words;
    [
        low & MASK,
        (low >> 26) & MASK,
        (low >> 52) + ((high << 12) & MASK),
        (high >> 14) & MASK,
        (high >> 40) + 0x100_0000,
    ]
}

/// The sum of two numbers, limb by limb.
pub fn add_limbs(x: [u64; 5], y: [u64; 5]) -> [u64; 5] {
    from_fn(|i| x[i].wrapping_add(y[i]))
}

/// A product modulo p. The second factor has the limbs r0 to r4; s1 to s4 are five times r1 to r4.
pub fn multiply(a: [u64; 5], multiplier: [u64; 9]) -> [u64; 5] {
    let [r0, r1, r2, r3, r4, s1, s2, s3, s4] = multiplier;
    let sum = |factors: [u64; 5]| {
        let mut d = 0_u64;
        for j in 0..5 {
            d = d.wrapping_add(low_product(a[j], factors[j]));
        }
        d
    };
    let d0 = sum([r0, s4, s3, s2, s1]);
    let d1 = sum([r1, r0, s4, s3, s2]);
    let d2 = sum([r2, r1, r0, s4, s3]);
    let d3 = sum([r3, r2, r1, r0, s4]);
    let d4 = sum([r4, r3, r2, r1, r0]);
    let u1 = d1.wrapping_add(d0 >> 26);
    let u4 = d4.wrapping_add(d3 >> 26);
    let u2 = d2.wrapping_add(u1 >> 26);
    let u0 = (d0 & MASK) + 5 * (u4 >> 26);
    let u3 = (d3 & MASK) + (u2 >> 26);
    [
        u0 & MASK,
        (u1 & MASK) + (u0 >> 26),
        u2 & MASK,
        u3 & MASK,
        (u4 & MASK) + (u3 >> 26),
    ]
}

/// A sum after one more block.
pub fn add_full_block(h: [u64; 5], multiplier: [u64; 9], block: [u64; 2]) -> [u64; 5] {
    multiply(add_limbs(h, block_limbs(block)), multiplier)
}

/// Four sums, each after one more block and with its own multiplier.
pub fn add_group(sums: [[u64; 5]; 4], multipliers: [[u64; 9]; 4], blocks: [[u64; 2]; 4]) -> [[u64; 5]; 4] {
    from_fn(|lane| add_full_block(sums[lane], multipliers[lane], blocks[lane]))
}

/// The same for groups of four blocks in a row, all with the same multipliers.
pub fn add_blocks(
    sums: [[u64; 5]; 4],
    multipliers: [[u64; 9]; 4],
    groups: &[[[u64; 2]; 4]],
) -> [[u64; 5]; 4] {
    let mut sums = sums;
    for group in groups {
        sums = add_group(sums, multipliers, *group);
    }
    sums
}

/// The sum of four numbers.
pub fn sum_lanes(lanes: [[u64; 5]; 4]) -> [u64; 5] {
    add_limbs(add_limbs(lanes[0], lanes[1]), add_limbs(lanes[2], lanes[3]))
}

/// The same number modulo p, with limbs of 26 bits; limb 1 may be a carry larger. It is below 2 p.
pub fn carry_limbs(x: [u64; 5]) -> [u64; 5] {
    let u1 = x[1].wrapping_add(x[0] >> 26);
    let u2 = x[2].wrapping_add(u1 >> 26);
    let u3 = x[3].wrapping_add(u2 >> 26);
    let u4 = x[4].wrapping_add(u3 >> 26);
    let u0 = (x[0] & MASK) + 5 * (u4 >> 26);
    [
        u0 & MASK,
        (u1 & MASK) + (u0 >> 26),
        u2 & MASK,
        u3 & MASK,
        u4 & MASK,
    ]
}

/// The last reduction: subtracts p if h + 5 reaches 2^130. To subtract p is to add 5 and to drop 2^130.
pub fn reduce_limbs(h: [u64; 5]) -> [u64; 5] {
    let mut q = 5_u64;
    for limb in h {
        q = limb.wrapping_add(q) >> 26;
    }
    let mut carry = 5_u64.wrapping_mul(q);
    let mut z = h;
    for limb in &mut z {
        let u = limb.wrapping_add(carry);
        *limb = u & MASK;
        carry = u >> 26;
    }
    z
}

/// A product modulo p, like that of multiply, but not carried.
pub fn product_limbs(a: [u64; 5], multiplier: [u64; 9]) -> [u64; 5] {
    from_fn(|i| {
        let mut d = 0_u64;
        for (j, x) in a.into_iter().enumerate() {
            let place = if j > i { 9 + i - j } else { i - j };
            d = d.wrapping_add(low_product(x, multiplier[place]));
        }
        d
    })
}

/// The sum of two products modulo p, a r + b t.
pub fn multiply_pair(a: [u64; 5], r: [u64; 9], b: [u64; 5], t: [u64; 9]) -> [u64; 5] {
    carry_limbs(add_limbs(product_limbs(b, t), product_limbs(a, r)))
}

/// A sum after two more blocks, of which the first is added before the sum is multiplied.
pub fn add_pair(h: [u64; 5], r: [u64; 9], t: [u64; 9], block: [u64; 2], other: [u64; 2]) -> [u64; 5] {
    multiply_pair(add_limbs(h, block_limbs(block)), r, block_limbs(other), t)
}

/// Four sums, each after two more blocks: four blocks that are added to the sums, and four others.
pub fn add_group_of_pairs(
    sums: [[u64; 5]; 4],
    multipliers: [[u64; 9]; 8],
    blocks: [[u64; 2]; 8],
) -> [[u64; 5]; 4] {
    from_fn(|lane| {
        let other = lane + 4;
        add_pair(
            sums[lane],
            multipliers[lane],
            multipliers[other],
            blocks[lane],
            blocks[other],
        )
    })
}

/// The same for groups of eight blocks in a row, all with the same multipliers.
pub fn add_pairs(sums: [[u64; 5]; 4], multipliers: [[u64; 9]; 8], groups: &[[[u64; 2]; 8]]) -> [[u64; 5]; 4] {
    let mut sums = sums;
    for group in groups {
        sums = add_group_of_pairs(sums, multipliers, *group);
    }
    sums
}

/// The limbs of a number below 2^130, and five times all but the first.
pub fn multiplier(x: &BigUint) -> [u64; 9] {
    let limb = |i: usize| {
        let limb = (x >> (26 * i)) & BigUint::from(MASK);
        limb.iter_u64_digits().next().unwrap_or(0)
    };
    from_fn(|i| if i < 5 { limb(i) } else { 5 * limb(i - 4) })
}

/// The number with these limbs.
pub fn limbs_number(limbs: [u64; 5]) -> BigUint {
    let mut x = BigUint::ZERO;
    for limb in limbs.into_iter().rev() {
        x = (x << 26) + limb;
    }
    x
}

// -- The same with limbs of 44, 44 and 42 bits ------------------------------------------------------------------------

/// The low 44 bits.
const MASK44: u64 = 0xfff_ffff_ffff;

/// The low 42 bits.
const MASK42: u64 = 0x3ff_ffff_ffff;

/// The product of the low 52 bits of two words.
fn product52(x: u64, y: u64) -> u128 {
    let low = |x: u64| u128::from(x & 0xf_ffff_ffff_ffff);
    low(x) * low(y)
}

/// The low 52 bits of the product of the low 52 bits of two words.
#[allow(clippy::cast_possible_truncation, reason = "52 bits")]
pub fn low52(x: u64, y: u64) -> u64 {
    (product52(x, y) & 0xf_ffff_ffff_ffff) as u64
}

/// The high 52 bits of the same product.
#[allow(clippy::cast_possible_truncation, reason = "52 bits")]
pub fn high52(x: u64, y: u64) -> u64 {
    (product52(x, y) >> 52) as u64
}

/// The limbs of a full block, which is given as two words: its number, 2^128 included.
pub fn block_limbs44(words: [u64; 2]) -> [u64; 3] {
    let [low, high] = words;
    [
        low & MASK44,
        (low >> 44) + ((high << 20) & MASK44),
        (high >> 24) + 0x100_0000_0000,
    ]
}

/// The sum of two numbers, limb by limb.
pub fn add_limbs44(x: [u64; 3], y: [u64; 3]) -> [u64; 3] {
    from_fn(|i| x[i].wrapping_add(y[i]))
}

/// The sum of two products modulo p, a r + b t. The second factors have three limbs; the last two of their words are
/// twenty times the last two limbs.
pub fn multiply_two(a: [u64; 3], r: [u64; 5], b: [u64; 3], t: [u64; 5]) -> [u64; 3] {
    let sum = |product: fn(u64, u64) -> u64, places: [usize; 3]| {
        let mut d = 0_u64;
        for (x, multiplier) in [(b, t), (a, r)] {
            for j in 0..3 {
                d = d.wrapping_add(product(x[j], multiplier[places[j]]));
            }
        }
        d
    };
    let places = [[0, 4, 3], [1, 0, 4], [2, 1, 0]];
    let low = places.map(|places| sum(low52, places));
    let high = places.map(|places| sum(high52, places));
    let v1 = low[1].wrapping_add((low[0] >> 44).wrapping_add(high[0] << 8));
    let v2 = low[2].wrapping_add((v1 >> 44).wrapping_add(high[1] << 8));
    let v0 = (low[0] & MASK44).wrapping_add((v2 >> 42).wrapping_add(high[2] << 10).wrapping_mul(5));
    [v0 & MASK44, (v1 & MASK44) + (v0 >> 44), v2 & MASK42]
}

/// A sum after two more blocks, of which the first is added before the sum is multiplied.
pub fn add_two_blocks(h: [u64; 3], r: [u64; 5], t: [u64; 5], block: [u64; 2], other: [u64; 2]) -> [u64; 3] {
    multiply_two(add_limbs44(h, block_limbs44(block)), r, block_limbs44(other), t)
}

/// Eight sums, each after two more blocks: eight blocks that are added to the sums, and eight others.
pub fn add_group44(
    sums: [[u64; 3]; 8],
    multipliers: [[u64; 5]; 16],
    blocks: [[u64; 2]; 16],
) -> [[u64; 3]; 8] {
    from_fn(|lane| {
        let other = lane + 8;
        add_two_blocks(
            sums[lane],
            multipliers[lane],
            multipliers[other],
            blocks[lane],
            blocks[other],
        )
    })
}

/// The same for groups of sixteen blocks in a row, all with the same multipliers.
pub fn add_blocks44(
    sums: [[u64; 3]; 8],
    multipliers: [[u64; 5]; 16],
    groups: &[[[u64; 2]; 16]],
) -> [[u64; 3]; 8] {
    let mut sums = sums;
    for group in groups {
        sums = add_group44(sums, multipliers, *group);
    }
    sums
}

/// The sum of four numbers.
pub fn sum_four44(a: [u64; 3], b: [u64; 3], c: [u64; 3], d: [u64; 3]) -> [u64; 3] {
    add_limbs44(add_limbs44(a, b), add_limbs44(c, d))
}

/// The sum of eight numbers.
pub fn sum_lanes44(lanes: [[u64; 3]; 8]) -> [u64; 3] {
    let [a, b, c, d, e, f, g, h] = lanes;
    add_limbs44(sum_four44(a, b, c, d), sum_four44(e, f, g, h))
}

/// The same number modulo p, with limbs of 44, 44 and 42 bits; limb 1 may be a carry larger. It is below 2 p.
pub fn carry_limbs44(x: [u64; 3]) -> [u64; 3] {
    let u1 = x[1].wrapping_add(x[0] >> 44);
    let u2 = x[2].wrapping_add(u1 >> 44);
    let u0 = (x[0] & MASK44) + 5 * (u2 >> 42);
    [u0 & MASK44, (u1 & MASK44) + (u0 >> 44), u2 & MASK42]
}

/// The last reduction: subtracts p if h + 5 reaches 2^130. To subtract p is to add 5 and to drop 2^130.
pub fn reduce_limbs44(h: [u64; 3]) -> [u64; 3] {
    let bits = [(44, MASK44), (44, MASK44), (42, MASK42)];
    let mut q = 5_u64;
    for (limb, (bits, _)) in h.into_iter().zip(bits) {
        q = limb.wrapping_add(q) >> bits;
    }
    let mut carry = 5_u64.wrapping_mul(q);
    let mut z = h;
    for (limb, (bits, mask)) in z.iter_mut().zip(bits) {
        let u = limb.wrapping_add(carry);
        *limb = u & mask;
        carry = u >> bits;
    }
    z
}

/// The limbs of a number below 2^130, and twenty times all but the first.
pub fn multiplier44(x: &BigUint) -> [u64; 5] {
    let limb = |i: usize| {
        let limb = (x >> (44 * i)) & BigUint::from(MASK44);
        limb.iter_u64_digits().next().unwrap_or(0)
    };
    from_fn(|i| if i < 3 { limb(i) } else { 20 * limb(i - 2) })
}

/// The number with these limbs.
pub fn limbs_number44(limbs: [u64; 3]) -> BigUint {
    let mut x = BigUint::ZERO;
    for limb in limbs.into_iter().rev() {
        x = (x << 44) + limb;
    }
    x
}
