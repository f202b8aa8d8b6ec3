//! The keyless AES round (FIPS 197, section 5.1) on four blocks at once, bitsliced.
//!
//! Plane b holds bit b of every byte: the byte in row r and column c of the block in lane l is at bit
//! 16r + 4c + l. There is no table and no branch on data.

use crate::backend::simpira1024::State;

pub(super) type Planes = [u64; 8];

/// Packs the blocks of one group (0: even, 1: odd) into planes.
#[inline(always)]
pub(super) fn pack(state: &State, group: usize) -> Planes {
    let mut q = [0; 8];
    for lane in 0..4 {
        let block = &state[32 * lane + 16 * group..][..16];
        let column = |c: usize| {
            u32::from_le_bytes([block[4 * c], block[4 * c + 1], block[4 * c + 2], block[4 * c + 3]])
        };
        q[lane] = interleave(column(0), column(2));
        q[lane + 4] = interleave(column(1), column(3));
    }
    transpose(&mut q);
    q
}

/// The reverse of [`pack`].
#[inline(always)]
pub(super) fn unpack(planes: &Planes, state: &mut State, group: usize) {
    let mut q = *planes;
    transpose(&mut q);
    for lane in 0..4 {
        let block = &mut state[32 * lane + 16 * group..][..16];
        let (c0, c2) = deinterleave(q[lane]);
        let (c1, c3) = deinterleave(q[lane + 4]);
        for (bytes, column) in block.chunks_exact_mut(4).zip([c0, c1, c2, c3]) {
            bytes.copy_from_slice(&column.to_le_bytes());
        }
    }
}

/// Moves the bytes of `a` to the even places, and those of `b` to the odd places.
#[inline(always)]
fn interleave(a: u32, b: u32) -> u64 {
    let spread = |x: u32| {
        let x = u64::from(x);
        let x = (x | x << 16) & 0x0000_ffff_0000_ffff;
        (x | x << 8) & 0x00ff_00ff_00ff_00ff
    };
    spread(a) | spread(b) << 8
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // the upper half of `gather` is to be dropped
fn deinterleave(x: u64) -> (u32, u32) {
    let gather = |x: u64| {
        let x = x & 0x00ff_00ff_00ff_00ff;
        let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
        (x | x >> 16) as u32
    };
    (gather(x), gather(x >> 8))
}

/// Transposes the 8 by 8 bits that each byte position holds across the eight words. It is its own inverse.
#[inline(always)]
fn transpose(q: &mut Planes) {
    const STEPS: [(usize, u64); 3] = [
        (1, 0x5555_5555_5555_5555),
        (2, 0x3333_3333_3333_3333),
        (4, 0x0f0f_0f0f_0f0f_0f0f),
    ];
    for (step, low) in STEPS {
        for i in 0..8 {
            if i & step == 0 {
                let (a, b) = (q[i], q[i + step]);
                q[i] = a & low | (b & low) << step;
                q[i + step] = (a >> step) & low | b & !low;
            }
        }
    }
}

/// MixColumns(ShiftRows(SubBytes(x))).
// The proofs (proofs/saw/lib/portable.saw) keep it a separate function: the permutation's proof builds on its proof.
#[cfg_attr(not(veriplex_proofs), inline(always))]
#[cfg_attr(veriplex_proofs, inline(never))]
pub(super) fn round(x: &mut Planes) {
    sub_bytes(x);
    shift_rows(x);
    mix_columns(x);
}

/// `ShiftRows` (FIPS 197, section 5.1.2): row r moves left by r columns.
#[inline(always)]
fn shift_rows(x: &mut Planes) {
    for x in x {
        let y = *x;
        *x = y & 0x0000_0000_0000_ffff
            | (y >> 4) & 0x0000_0000_0fff_0000
            | (y << 12) & 0x0000_0000_f000_0000
            | (y >> 8) & 0x0000_00ff_0000_0000
            | (y << 8) & 0x0000_ff00_0000_0000
            | (y >> 12) & 0x000f_0000_0000_0000
            | (y << 4) & 0xfff0_0000_0000_0000;
    }
}

/// FIPS 197, section 5.1.3: with t = a ^ (a one row down), the result is
/// 2t ^ (a one row down) ^ (t two rows down).
#[inline(always)]
fn mix_columns(x: &mut Planes) {
    let next: Planes = x.map(|x| x.rotate_right(16));
    let t: Planes = core::array::from_fn(|i| x[i] ^ next[i]);
    // 2t modulo x^8 + x^4 + x^3 + x + 1.
    let double = [
        t[7],
        t[0] ^ t[7],
        t[1],
        t[2] ^ t[7],
        t[3] ^ t[7],
        t[4],
        t[5],
        t[6],
    ];
    for i in 0..8 {
        x[i] = double[i] ^ next[i] ^ t[i].rotate_right(32);
    }
}

/// FIPS 197, section 5.1.1, as the circuit of Boyar and Peralta, "A small depth-16 circuit for the AES
/// S-box" (eprint 2011/332), whose U0 and S0 are the most significant bits.
#[inline(always)]
#[allow(clippy::too_many_lines)] // one circuit
fn sub_bytes(x: &mut Planes) {
    let [u7, u6, u5, u4, u3, u2, u1, u0] = *x;

    let y14 = u3 ^ u5;
    let y13 = u0 ^ u6;
    let y9 = u0 ^ u3;
    let y8 = u0 ^ u5;
    let t0 = u1 ^ u2;
    let y1 = t0 ^ u7;
    let y4 = y1 ^ u3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ u0;
    let y5 = y1 ^ u6;
    let y3 = y5 ^ y8;
    let t1 = u4 ^ y12;
    let y15 = t1 ^ u5;
    let y20 = t1 ^ u1;
    let y6 = y15 ^ u7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = u7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = u0 ^ y16;

    let t2 = y12 & y15;
    let t3 = y3 & y6;
    let t4 = t3 ^ t2;
    let t5 = y4 & u7;
    let t6 = t5 ^ t2;
    let t7 = y13 & y16;
    let t8 = y5 & y1;
    let t9 = t8 ^ t7;
    let t10 = y2 & y7;
    let t11 = t10 ^ t7;
    let t12 = y9 & y11;
    let t13 = y14 & y17;
    let t14 = t13 ^ t12;
    let t15 = y8 & y10;
    let t16 = t15 ^ t12;
    let t17 = t4 ^ t14;
    let t18 = t6 ^ t16;
    let t19 = t9 ^ t14;
    let t20 = t11 ^ t16;
    let t21 = t17 ^ y20;
    let t22 = t18 ^ y19;
    let t23 = t19 ^ y21;
    let t24 = t20 ^ y18;

    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t28 = t25 & t27;
    let t29 = t28 ^ t22;
    let t30 = t23 ^ t24;
    let t31 = t22 ^ t26;
    let t32 = t31 & t30;
    let t33 = t32 ^ t24;
    let t34 = t23 ^ t33;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t34;
    let t38 = t27 ^ t36;
    let t39 = t29 & t38;
    let t40 = t25 ^ t39;

    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & u7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;

    let t46 = z15 ^ z16;
    let t47 = z10 ^ z11;
    let t48 = z5 ^ z13;
    let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;
    let t51 = z2 ^ z5;
    let t52 = z7 ^ z8;
    let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;
    let t55 = z16 ^ z17;
    let t56 = z12 ^ t48;
    let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;
    let t59 = z3 ^ t54;
    let t60 = t46 ^ t57;
    let t61 = z14 ^ t57;
    let t62 = t52 ^ t58;
    let t63 = t49 ^ t58;
    let t64 = z4 ^ t59;
    let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;
    let s0 = t59 ^ t63;
    let s6 = t56 ^ !t62;
    let s7 = t48 ^ !t60;
    let t67 = t64 ^ t65;
    let s3 = t53 ^ t66;
    let s4 = t51 ^ t66;
    let s5 = t47 ^ t65;
    let s1 = t64 ^ !s3;
    let s2 = t55 ^ !t67;

    *x = [s7, s6, s5, s4, s3, s2, s1, s0];
}
