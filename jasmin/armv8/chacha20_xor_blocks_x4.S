/* veriplex_chacha20_xor_blocks_x4: four blocks of ChaCha with 20 rounds, XORed into each of n >= 0 groups of four
 * blocks of 64 bytes. The blocks have numbers in a row. Afterwards the number is that of the next block.
 *
 * Cryptol       ChaCha::xor_blocks
 * C             void veriplex_chacha20_xor_blocks_x4(uint8_t last_row[16], const uint8_t start[48], uint8_t *in_out,
 *                                                  size_t n);
 * Arguments     x0 last_row: number, nonce (read and written), x1 start: the other rows before the rounds (read),
 *               x2 in_out: 256 n bytes (read and written), x3 n
 * Alignment     none
 * Registers     changes x2, x3, v0-v7, v16-v31; no stack
 * CPU features  Advanced SIMD
 * Constant time pointers and n are public, what the pointers point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	chacha_xor_blocks_x4 20, x0, x1, x2, x3
