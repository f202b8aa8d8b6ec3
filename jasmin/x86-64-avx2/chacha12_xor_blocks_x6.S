/* veriplex_chacha12_xor_blocks_x6: six blocks of ChaCha with 12 rounds, XORed into each of n >= 0 groups of six
 * blocks of 64 bytes. The blocks have numbers in a row. Afterwards the number is that of the next block.
 *
 * Cryptol       ChaCha::xor_blocks
 * C             void veriplex_chacha12_xor_blocks_x6(uint8_t last_row[16], const uint8_t start[48], uint8_t *in_out,
 *                                                 size_t n);
 * Arguments     rdi last_row: number, nonce (read and written), rsi start: the other rows before the rounds (read),
 *               rdx in_out: 384 n bytes (read and written), rcx n
 * Alignment     none
 * Registers     changes r8, rdx, rcx, ymm0-ymm15 and the flags; no stack
 * CPU features  AVX2
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	chacha_xor_blocks_x6 12, %rdi, %rsi, %rdx, %rcx
