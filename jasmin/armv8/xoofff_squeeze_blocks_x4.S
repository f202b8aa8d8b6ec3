/* veriplex_xoofff_squeeze_blocks_x4: for each of n >= 0 times four blocks of 48 bytes: the permutation of an output
 * state, which is rolled from the one before, XOR the mask.
 *
 * Cryptol       Xoofff::squeeze_blocks
 * C             void veriplex_xoofff_squeeze_blocks_x4(uint8_t states[96], uint8_t *output, size_t n,
 *                                                      const uint32_t xoofff_constants_x4[8][8]);
 * Arguments     x0 states: mask, output state (read and written), x1 output: 192 n bytes (written), x2 n,
 *               x3 xoofff_constants_x4: see xoodoo_x4.S (read)
 * Alignment     none
 * Registers     changes x1, x2, v0-v7, v16-v31; no stack
 * CPU features  Advanced SIMD
 * Constant time pointers and n are public, what the pointers point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	// The mask is in v23-v25.
	ldp	q23, q24, [x0]
	ldp	q25, q20, [x0, #32]
	ldp	q21, q22, [x0, #64]
	b	1f
2:
	mov	v0.16b, v20.16b
	mov	v1.16b, v21.16b
	mov	v2.16b, v22.16b
	mov	v3.16b, v21.16b
	mov	v4.16b, v22.16b
	mov	v6.16b, v22.16b
	// Planes 3, in v5, and 6.
	xoofff_output_words_x4 x3, 20, 21, 22, 27, 28
	xoofff_third_plane_x4 20, 27, 5
	xoofff_sixth_plane_x4 20, 27, 29
	mov	v7.16b, v5.16b
	mov	v17.16b, v5.16b
	// Planes 4 and 5. Planes 4 to 6 are those of the next states.
	xoofff_output_words_x4 x3, 21, 22, 5, 27, 28
	xoofff_third_plane_x4 21, 27, 20
	mov	v16.16b, v20.16b
	mov	v18.16b, v20.16b
	xoofff_output_words_x4 x3, 22, 5, 20, 27, 28
	xoofff_third_plane_x4 22, 27, 21
	mov	v19.16b, v21.16b
	mov	v22.16b, v29.16b
	xoodoo_permutation_x4 x3
	eor	v0.16b, v0.16b, v23.16b
	eor	v1.16b, v1.16b, v24.16b
	eor	v2.16b, v2.16b, v25.16b
	eor	v3.16b, v3.16b, v23.16b
	eor	v4.16b, v4.16b, v24.16b
	eor	v5.16b, v5.16b, v25.16b
	eor	v6.16b, v6.16b, v23.16b
	eor	v7.16b, v7.16b, v24.16b
	eor	v16.16b, v16.16b, v25.16b
	eor	v17.16b, v17.16b, v23.16b
	eor	v18.16b, v18.16b, v24.16b
	eor	v19.16b, v19.16b, v25.16b
	stp	q0, q1, [x1]
	stp	q2, q3, [x1, #32]
	stp	q4, q5, [x1, #64]
	stp	q6, q7, [x1, #96]
	stp	q16, q17, [x1, #128]
	stp	q18, q19, [x1, #160]
	add	x1, x1, #192
	sub	x2, x2, #1
1:
	cbnz	x2, 2b
	stp	q23, q24, [x0]
	stp	q25, q20, [x0, #32]
	stp	q21, q22, [x0, #64]
	xoodoo_clear_x4
	ret
