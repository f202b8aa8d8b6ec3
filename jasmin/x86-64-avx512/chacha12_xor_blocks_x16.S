/* veriplex_chacha12_xor_blocks_x16: sixteen blocks of ChaCha with 12 rounds, XORed into each of n >= 0 groups of sixteen
 * blocks of 64 bytes. Each lane has a block number, which afterwards is sixteen higher.
 *
 * Cryptol       ChaCha::xor_blocks
 * C             void veriplex_chacha12_xor_blocks_x16(uint64_t numbers[2][8], const uint32_t start[16], uint8_t *in_out,
 *                                                   size_t n);
 * Arguments     rdi numbers: those of lanes 0, 2, ..., 14, then those of lanes 1, 3, ..., 15 (read and written), rsi start:
 *               the words before the rounds, of which 12 and 13 are not used (read), rdx in_out: 1024 n bytes (read and
 *               written), rcx n
 * Alignment     none
 * Registers     changes r8, rdx, rcx, zmm0-zmm24 and the flags; no stack
 * CPU features  AVX512F
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm24 (to their full width) are zero on return */

	chacha_xor_blocks_x16 12, %rdi, %rsi, %rdx, %rcx
