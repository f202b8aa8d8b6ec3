//! What the backends share of Simpira-1024 (Simpira v2 with b = 8, eprint 2016/122): sizes and constants.

/// Size of the state in bytes.
pub(crate) const STATE_LEN: usize = 128;
pub(crate) type State = [u8; STATE_LEN];
/// A full block of the duplex: as many bytes as its rate.
pub(crate) type Block = [u8; 94];

/// The number of calls of the function F in one permutation.
const CALLS: usize = 72;

/// `K(c)` of the specification for c = 1..=72, as the four words of an AES round key.
pub(crate) static ROUND_CONSTANTS: [[u32; 4]; CALLS] = round_constants();

const fn round_constants() -> [[u32; 4]; CALLS] {
    let mut constants = [[0; 4]; CALLS];
    let mut i = 0;
    let mut c = 1;
    while i < CALLS {
        constants[i] = [8 ^ c, 0x10 ^ 8 ^ c, 0x20 ^ 8 ^ c, 0x30 ^ 8 ^ c];
        i += 1;
        c += 1;
    }
    constants
}
