/* veriplex_duplex_squeeze_blocks_x2: in two of eight lanes, for each of n >= 0 blocks of 94 bytes: move the state's
 * first 94 bytes into it, leaving zeros; XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::squeeze_blocks_x2
 * C             void veriplex_duplex_squeeze_blocks_x2(uint8_t states[7 * 128 + 32], uint8_t *const output[2],
 *                                                      size_t n, const uint32_t round_constants[72][4]);
 * Arguments     x0 states: word i of lane l at 128 i + 16 l (read and written), x1 output: two pointers to 94 n bytes
 *               each (written), x2 n, x3 round_constants: K(1)..K(72) (read)
 * Alignment     none
 * Registers     changes x2, x3, x4, x5, v0-v7, v16-v31; no stack
 * CPU features  FEAT_AES, Advanced SIMD
 * Constant time pointers and n are public, what the pointers point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	add	x3, x3, #128
	ldp	x4, x5, [x1]
	simpira_load_x2	x0
	b	1f
2:
	simpira_load_word_x2	x0
	// Bytes 78 to 93 of the state.
	ext	v28.16b, v4.16b, v5.16b, #14
	simpira_store_block_x2	x4, q, 28
	movi	v0.2d, #0
	movi	v1.2d, #0
	movi	v2.2d, #0
	movi	v3.2d, #0
	movi	v4.2d, #0
	simpira_padding_x2	v28
	// Zeros, then the state's bytes 94 and 95 with the padding.
	eor	v5.16b, v5.16b, v28.16b
	ext	v5.16b, v5.16b, v5.16b, #14
	ext	v5.16b, v4.16b, v5.16b, #2
	// Bytes 78 to 93 of the state.
	ext	v28.16b, v24.16b, v25.16b, #14
	simpira_store_block_x2	x5, q2, 28
	movi	v20.2d, #0
	movi	v21.2d, #0
	movi	v22.2d, #0
	movi	v23.2d, #0
	movi	v24.2d, #0
	simpira_padding_x2	v28
	// Zeros, then the state's bytes 94 and 95 with the padding.
	eor	v25.16b, v25.16b, v28.16b
	ext	v25.16b, v25.16b, v25.16b, #14
	ext	v25.16b, v24.16b, v25.16b, #2
	simpira_permutation_x2	x3
	simpira_store_word_x2	x0
	add	x4, x4, #94
	add	x5, x5, #94
	sub	x2, x2, #1
1:
	cbnz	x2, 2b
	simpira_store_x2	x0
	simpira_clear_x2
	ret
