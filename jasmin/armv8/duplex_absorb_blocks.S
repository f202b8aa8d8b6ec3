/* veriplex_duplex_absorb_blocks: for each of n >= 0 blocks of 94 bytes: XOR it into the state, XOR 0x81 into byte 95
 * of the state, permute.
 *
 * Cryptol       Duplex::absorb_blocks
 * C             void veriplex_duplex_absorb_blocks(uint8_t state[128], const uint8_t *input, size_t n,
 *                                                  const uint32_t round_constants[72][4]);
 * Arguments     x0 state (read and written), x1 input: 94 n bytes (read), x2 n,
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
	simpira_load_block	x1
	simpira_padding	v28
	// Bytes 80 to 93 and the padding.
	ext	v5.16b, v5.16b, v28.16b, #2
	eor	v0.16b, v0.16b, v20.16b
	eor	v1.16b, v1.16b, v21.16b
	eor	v2.16b, v2.16b, v22.16b
	eor	v3.16b, v3.16b, v23.16b
	eor	v4.16b, v4.16b, v24.16b
	eor	v5.16b, v5.16b, v25.16b
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
