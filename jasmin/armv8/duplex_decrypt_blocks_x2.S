/* veriplex_duplex_decrypt_blocks_x2: in two of eight lanes, for each of n >= 0 blocks of 94 bytes: its XOR with the
 * state is the block of output; it replaces the state's bytes; XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::decrypt_blocks_x2
 * C             void veriplex_duplex_decrypt_blocks_x2(uint8_t states[7 * 128 + 32], const uint8_t *const input[2],
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
	simpira_load_block_x2	x5
	// Bytes 78 to 93 of the output.
	ext	v30.16b, v4.16b, v5.16b, #14
	eor	v30.16b, v30.16b, v29.16b
	eor	v0.16b, v0.16b, v16.16b
	eor	v1.16b, v1.16b, v17.16b
	eor	v2.16b, v2.16b, v18.16b
	eor	v3.16b, v3.16b, v19.16b
	eor	v4.16b, v4.16b, v28.16b
	simpira_store_block_x2	x7, q, 30
	mov	v0.16b, v16.16b
	mov	v1.16b, v17.16b
	mov	v2.16b, v18.16b
	mov	v3.16b, v19.16b
	mov	v4.16b, v28.16b
	simpira_padding_x2	v30
	// Bytes 80 to 93 of the input, then the state's bytes 94 and 95 with the padding.
	eor	v5.16b, v5.16b, v30.16b
	ext	v5.16b, v5.16b, v5.16b, #14
	ext	v5.16b, v29.16b, v5.16b, #2
	simpira_load_block_x2	x6
	// Bytes 78 to 93 of the output.
	ext	v30.16b, v24.16b, v25.16b, #14
	eor	v30.16b, v30.16b, v29.16b
	eor	v20.16b, v20.16b, v16.16b
	eor	v21.16b, v21.16b, v17.16b
	eor	v22.16b, v22.16b, v18.16b
	eor	v23.16b, v23.16b, v19.16b
	eor	v24.16b, v24.16b, v28.16b
	simpira_store_block_x2	x8, q2, 30
	mov	v20.16b, v16.16b
	mov	v21.16b, v17.16b
	mov	v22.16b, v18.16b
	mov	v23.16b, v19.16b
	mov	v24.16b, v28.16b
	simpira_padding_x2	v30
	// Bytes 80 to 93 of the input, then the state's bytes 94 and 95 with the padding.
	eor	v25.16b, v25.16b, v30.16b
	ext	v25.16b, v25.16b, v25.16b, #14
	ext	v25.16b, v29.16b, v25.16b, #2
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
