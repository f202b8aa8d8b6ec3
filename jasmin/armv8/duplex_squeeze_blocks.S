/* veriplex_duplex_squeeze_blocks: for each of n >= 0 blocks of 94 bytes: move the state's first 94 bytes into it,
 * leaving zeros; XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Duplex::squeeze_blocks
 * C             void veriplex_duplex_squeeze_blocks(uint8_t state[128], uint8_t *output, size_t n,
 *                                                   const uint32_t round_constants[72][4]);
 * Arguments     x0 state (read and written), x1 output: 94 n bytes (written), x2 n,
 *               x3 round_constants: K(1)..K(72) (read)
 * Alignment     none
 * Registers     changes x1, x2, x3, v0-v7, v16-v31; no stack
 * CPU features  FEAT_AES, Advanced SIMD
 * Constant time pointers and n are public, what the pointers point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	add	x3, x3, #128
	simpira_load	x0, 2
	b	1f
2:
	// Bytes 78 to 93 of the state.
	ext	v28.16b, v24.16b, v25.16b, #14
	simpira_store_block	x1, 20, 21, 22, 23, 24, 28
	movi	v0.2d, #0
	movi	v1.2d, #0
	movi	v2.2d, #0
	movi	v3.2d, #0
	movi	v4.2d, #0
	simpira_padding	v28
	// Zeros, then the state's bytes 94 and 95 with the padding.
	eor	v25.16b, v25.16b, v28.16b
	ext	v25.16b, v25.16b, v25.16b, #14
	ext	v5.16b, v4.16b, v25.16b, #2
	mov	v6.16b, v26.16b
	mov	v7.16b, v27.16b
	simpira_permutation	x3
	add	x1, x1, #94
	sub	x2, x2, #1
1:
	cbnz	x2, 2b
	simpira_store	x0
	simpira_clear
	ret
