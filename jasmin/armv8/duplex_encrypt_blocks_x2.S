/* veriplex_duplex_encrypt_blocks_x2: in two of eight lanes, for each of n >= 0 blocks of 94 bytes: XOR it into the
 * state; the result is the block of output; XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::encrypt_blocks_x2
 * C             void veriplex_duplex_encrypt_blocks_x2(uint8_t states[7 * 128 + 32], const uint8_t *const input[2],
 *                                                      uint8_t *const output[2], size_t n,
 *                                                      const uint32_t round_constants[72][4]);
 * Arguments     x0 states: word i of lane l at 128 i + 16 l (read and written), x1 input: two pointers to 94 n bytes
 *               each (read), x2 output: two pointers to 94 n bytes each (written; each lane's input may be its output,
 *               else nothing overlaps), x3 n, x4 round_constants: K(1)..K(72) (read)
 * Alignment     none
 * Registers     changes x3-x8, v0-v7, v16-v31; no stack
 * CPU features  FEAT_AES, Advanced SIMD
 * Constant time pointers and n are public, what the pointers point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	add	x4, x4, #128
	ldp	x5, x6, [x1]
	ldp	x7, x8, [x2]
	simpira_load_x2	x0
	b	1f
2:
	simpira_load_word_x2	x0
	simpira_absorb_x2	x5, v
	// Bytes 78 to 93 of the output.
	ext	v28.16b, v4.16b, v5.16b, #14
	simpira_store_block_x2	x7, q, 28
	simpira_absorb_x2	x6, v2
	ext	v28.16b, v24.16b, v25.16b, #14
	simpira_store_block_x2	x8, q2, 28
	simpira_permutation_x2	x4
	simpira_store_word_x2	x0
	add	x5, x5, #94
	add	x6, x6, #94
	add	x7, x7, #94
	add	x8, x8, #94
	sub	x3, x3, #1
1:
	cbnz	x3, 2b
	simpira_store_x2	x0
	simpira_clear_x2
	ret
