//! The x86-64 backend: the Jasmin kernels where their object format is known (ELF, Mach-O), and the same
//! with intrinsics elsewhere (Windows, UEFI).

#[cfg(any(not(veriplex_kernels), test))]
mod intrinsics;
#[cfg(veriplex_kernels)]
mod kernels;

#[cfg(not(veriplex_kernels))]
pub(crate) use intrinsics::Token;
#[cfg(veriplex_kernels)]
pub(crate) use kernels::Token;

/// Where the kernels serve, the intrinsics are only tested: against the portable backend, which the known answers
/// and the kernels' own tests tie to the rest.
#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::intrinsics::Token;
    use crate::portable;
    use crate::simpira1024::{Block, State};

    type Operation = (fn(Token, &mut State, &mut [Block]), fn(&mut State, &mut [Block]));

    const OPERATIONS: [Operation; 5] = [
        (
            |token, state, _| token.permute(state),
            |state, _| portable::permute(state),
        ),
        (
            |token, state, blocks| token.absorb_blocks(state, blocks),
            |state, blocks| portable::absorb_blocks(state, blocks),
        ),
        (Token::encrypt_blocks, portable::encrypt_blocks),
        (Token::decrypt_blocks, portable::decrypt_blocks),
        (Token::squeeze_blocks, portable::squeeze_blocks),
    ];

    #[test]
    fn intrinsics_agree_with_portable() {
        let Some(token) = Token::detect() else { return };
        let mut bytes = (0..=u8::MAX).cycle();
        let mut state: State = core::array::from_fn(|_| bytes.next().unwrap());
        for n in 0..4 {
            for (intrinsics, portable) in OPERATIONS {
                let mut blocks: Vec<Block> = (0..n)
                    .map(|_| core::array::from_fn(|_| bytes.next().unwrap()))
                    .collect();
                let mut expected = (state, blocks.clone());
                portable(&mut expected.0, &mut expected.1);
                intrinsics(token, &mut state, &mut blocks);
                assert_eq!((state, blocks), expected);
            }
        }
    }
}
