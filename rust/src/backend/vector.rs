//! The body of a backend with 128-bit vectors and an AES instruction, over the primitives of its
//! architecture: a type `V` and the functions `load`, `store`, `zero`, `pad`, `xor`, `drop_2`, `keep_2`,
//! `straddle` and `f`, each compiled for the CPU features `$features`.

/// Defines `LEVEL`, and `X1` for one state.
macro_rules! backend {
    ($features:literal, $level:literal, $detect:expr) => {
        use crate::backend::Kernels;
        use crate::backend::dispatch::Level;
        use crate::backend::simpira1024::{Block, State};

        pub(crate) const LEVEL: Level = Level {
            name: $level,
            detect: $detect,
        };

        pub(crate) const X1: Kernels = Kernels {
            permute,
            absorb_blocks,
            encrypt_blocks,
            encrypt_blocks_into,
            decrypt_blocks,
            decrypt_blocks_into,
            squeeze_blocks,
        };

        #[inline]
        #[target_feature(enable = $features)]
        fn load_state(state: &State) -> [V; 8] {
            // SAFETY: eight unaligned loads of 16 bytes cover the 128 bytes exactly.
            core::array::from_fn(|i| unsafe { load(state.as_ptr().add(16 * i)) })
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn store_state(state: &mut State, x: [V; 8]) {
            for (i, x) in x.into_iter().enumerate() {
                // SAFETY: as in `load_state`.
                unsafe { store(state.as_mut_ptr().add(16 * i), x) };
            }
        }

        /// The 94 bytes of a block in six registers; the last two bytes of the sixth are zero.
        #[inline]
        #[target_feature(enable = $features)]
        fn load_block(block: &Block) -> [V; 6] {
            // SAFETY: bytes 16i..16i+16 lie inside the block for i < 5, and bytes 78..94 do.
            core::array::from_fn(|i| unsafe {
                if i < 5 {
                    load(block.as_ptr().add(16 * i))
                } else {
                    drop_2(load(block.as_ptr().add(78)))
                }
            })
        }

        /// The reverse of [`load_block`]; the last two bytes of the sixth register are ignored.
        #[inline]
        #[target_feature(enable = $features)]
        fn store_block(block: &mut Block, x: [V; 6]) {
            for (i, &x) in x[..5].iter().enumerate() {
                // SAFETY: as in `load_block`.
                unsafe { store(block.as_mut_ptr().add(16 * i), x) };
            }
            // SAFETY: as in `load_block`.
            unsafe { store(block.as_mut_ptr().add(78), straddle(x[4], x[5])) };
        }

        /// The 18 rounds. The index pattern s = [0,1,6,5,4,3], t = [2,7] has period 6: three passes over
        /// six rounds. In a round the four sources are not among the four destinations, so the order
        /// within it is free.
        #[inline]
        #[target_feature(enable = $features)]
        fn rounds(mut x: [V; 8]) -> [V; 8] {
            macro_rules! round {
                ($i:expr, $s0:literal => $d0:literal, $s1:literal => $d1:literal,
                 $s2:literal => $d2:literal, $s3:literal => $d3:literal) => {
                    x[$d0] = f($i, x[$s0], x[$d0]);
                    x[$d1] = f($i + 1, x[$s1], x[$d1]);
                    x[$d2] = f($i + 2, x[$s2], x[$d2]);
                    x[$d3] = f($i + 3, x[$s3], x[$d3]);
                };
            }
            for pass in 0..3 {
                let i = 24 * pass;
                round!(i,      0 => 1, 2 => 3, 4 => 5, 6 => 7);
                round!(i + 4,  1 => 6, 7 => 0, 3 => 4, 5 => 2);
                round!(i + 8,  6 => 5, 2 => 1, 0 => 3, 4 => 7);
                round!(i + 12, 5 => 4, 7 => 6, 1 => 0, 3 => 2);
                round!(i + 16, 4 => 3, 2 => 5, 6 => 1, 0 => 7);
                round!(i + 20, 3 => 0, 7 => 4, 5 => 6, 1 => 2);
            }
            x
        }

        /// Pads a full block and permutes.
        #[inline]
        #[target_feature(enable = $features)]
        fn permute_full(mut x: [V; 8]) -> [V; 8] {
            x[5] = xor(x[5], pad());
            rounds(x)
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn rate(x: [V; 8]) -> [V; 6] {
            [x[0], x[1], x[2], x[3], x[4], x[5]]
        }

        #[target_feature(enable = $features)]
        fn permute(state: &mut State) {
            store_state(state, rounds(load_state(state)));
        }

        #[target_feature(enable = $features)]
        fn absorb_blocks(state: &mut State, blocks: &[Block]) {
            let mut x = load_state(state);
            for block in blocks {
                for (x, b) in x.iter_mut().zip(load_block(block)) {
                    *x = xor(*x, b);
                }
                x = permute_full(x);
            }
            store_state(state, x);
        }

        /// Encrypts a block: the state before it is padded and permuted. Its rate is the ciphertext.
        #[inline]
        #[target_feature(enable = $features)]
        fn encrypt(mut x: [V; 8], block: [V; 6]) -> [V; 8] {
            for (x, b) in x.iter_mut().zip(block) {
                *x = xor(*x, b);
            }
            x
        }

        /// Decrypts a block: the plaintext, and the state before it is padded and permuted.
        #[inline]
        #[target_feature(enable = $features)]
        fn decrypt(mut x: [V; 8], c: [V; 6]) -> ([V; 6], [V; 8]) {
            let mut p = rate(x);
            for (p, c) in p.iter_mut().zip(c) {
                *p = xor(*p, c);
            }
            x[..5].copy_from_slice(&c[..5]);
            x[5] = xor(c[5], keep_2(x[5]));
            (p, x)
        }

        #[target_feature(enable = $features)]
        fn encrypt_blocks(state: &mut State, blocks: &mut [Block]) {
            let mut x = load_state(state);
            for block in blocks {
                x = encrypt(x, load_block(block));
                store_block(block, rate(x));
                x = permute_full(x);
            }
            store_state(state, x);
        }

        #[target_feature(enable = $features)]
        fn encrypt_blocks_into(state: &mut State, input: &[Block], output: &mut [Block]) {
            let mut x = load_state(state);
            for (input, output) in input.iter().zip(output) {
                x = encrypt(x, load_block(input));
                store_block(output, rate(x));
                x = permute_full(x);
            }
            store_state(state, x);
        }

        #[target_feature(enable = $features)]
        fn decrypt_blocks(state: &mut State, blocks: &mut [Block]) {
            let mut x = load_state(state);
            for block in blocks {
                let (p, after) = decrypt(x, load_block(block));
                store_block(block, p);
                x = permute_full(after);
            }
            store_state(state, x);
        }

        #[target_feature(enable = $features)]
        fn decrypt_blocks_into(state: &mut State, input: &[Block], output: &mut [Block]) {
            let mut x = load_state(state);
            for (input, output) in input.iter().zip(output) {
                let (p, after) = decrypt(x, load_block(input));
                store_block(output, p);
                x = permute_full(after);
            }
            store_state(state, x);
        }

        #[target_feature(enable = $features)]
        fn squeeze_blocks(state: &mut State, blocks: &mut [Block]) {
            let mut x = load_state(state);
            for block in blocks {
                store_block(block, rate(x));
                x[..5].fill(zero());
                x[5] = keep_2(x[5]);
                x = permute_full(x);
            }
            store_state(state, x);
        }
    };
}
pub(crate) use backend;

/// Where the kernels are used, the intrinsics are only tested: against the portable backend, which the known answers
/// and the kernels' own tests tie to the rest.
#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use crate::backend::dispatch::{Candidate, Token};
    use crate::backend::hardware::intrinsics::{LEVEL, X1};
    use crate::backend::simpira1024::{Block, State};
    use crate::backend::{Backend, Kernels, Kind};

    type Operation = fn(Backend, &mut State, &mut [Block]);

    /// Runs an operation from a copy of the blocks into the blocks.
    fn out_of_place(blocks: &mut [Block], into: impl FnOnce(&[Block], &mut [Block])) {
        let input = blocks.to_vec();
        blocks.fill([0xa5; 94]);
        into(&input, blocks);
    }

    const OPERATIONS: [Operation; 7] = [
        |backend, state, _| backend.permute(state),
        |backend, state, blocks| backend.absorb_blocks(state, blocks),
        Backend::encrypt_blocks,
        Backend::decrypt_blocks,
        Backend::squeeze_blocks,
        |backend, state, blocks| {
            out_of_place(blocks, |from, to| backend.encrypt_blocks_into(state, from, to));
        },
        |backend, state, blocks| {
            out_of_place(blocks, |from, to| backend.decrypt_blocks_into(state, from, to));
        },
    ];

    #[test]
    fn intrinsics_agree_with_portable() {
        static INTRINSICS: Candidate<Kernels> = LEVEL.of(X1);
        let Some(token) = Token::detect(&INTRINSICS) else {
            return;
        };
        let intrinsics = Backend(Kind::Hardware(token));
        let mut bytes = (0..=u8::MAX).cycle();
        let mut state: State = core::array::from_fn(|_| bytes.next().unwrap());
        for n in 0..4 {
            for operation in OPERATIONS {
                let mut blocks: Vec<Block> = (0..n)
                    .map(|_| core::array::from_fn(|_| bytes.next().unwrap()))
                    .collect();
                let mut expected = (state, blocks.clone());
                operation(Backend::PORTABLE, &mut expected.0, &mut expected.1);
                operation(intrinsics, &mut state, &mut blocks);
                assert_eq!((state, blocks), expected);
            }
        }
    }
}
