/* veriplex_xoofff_absorb_blocks_x4: for each of n >= 0 times four blocks of 48 bytes: XOR each with its mask, which is
 * rolled from the one before; permute; XOR the results into the accumulator.
 *
 * Cryptol       Xoofff::absorb_blocks
 * C             void veriplex_xoofff_absorb_blocks_x4(uint8_t deck[96], const uint8_t *input, size_t n,
 *                                                     const uint32_t xoofff_constants_x4[8][8]);
 * Arguments     x0 deck: accumulator, mask (read and written), x1 input: 192 n bytes (read), x2 n,
 *               x3 xoofff_constants_x4: see xoodoo_x4.S (read)
 * Alignment     none
 * Registers     changes x1, x2, v0-v7, v16-v31; no stack
 * CPU features  Advanced SIMD
 * Constant time pointers and n are public, what the pointers point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	// The accumulator is in v23-v25.
	ldp	q23, q24, [x0]
	ldp	q25, q20, [x0, #32]
	ldp	q21, q22, [x0, #64]
	b	1f
2:
	ldp	q0, q1, [x1]
	ldp	q2, q3, [x1, #32]
	ldp	q4, q5, [x1, #64]
	ldp	q6, q7, [x1, #96]
	ldp	q16, q17, [x1, #128]
	ldp	q18, q19, [x1, #160]
	eor	v0.16b, v0.16b, v20.16b
	eor	v1.16b, v1.16b, v21.16b
	eor	v2.16b, v2.16b, v22.16b
	eor	v3.16b, v3.16b, v21.16b
	eor	v4.16b, v4.16b, v22.16b
	eor	v6.16b, v6.16b, v22.16b
	// Planes 3, in v26, and 6.
	xoofff_mask_words_x4 20, 21, 27, 28
	xoofff_third_plane_x4 20, 27, 26
	xoofff_sixth_plane_x4 20, 27, 29
	eor	v5.16b, v5.16b, v26.16b
	eor	v7.16b, v7.16b, v26.16b
	eor	v17.16b, v17.16b, v26.16b
	// Planes 4 and 5. Planes 4 to 6 are those of the next masks.
	xoofff_mask_words_x4 21, 22, 27, 28
	xoofff_third_plane_x4 21, 27, 20
	eor	v16.16b, v16.16b, v20.16b
	eor	v18.16b, v18.16b, v20.16b
	xoofff_mask_words_x4 22, 26, 27, 28
	xoofff_third_plane_x4 22, 27, 21
	eor	v19.16b, v19.16b, v21.16b
	mov	v22.16b, v29.16b
	xoodoo_permutation_x4 x3
	eor	v23.16b, v23.16b, v0.16b
	eor	v24.16b, v24.16b, v1.16b
	eor	v25.16b, v25.16b, v2.16b
	eor	v23.16b, v23.16b, v3.16b
	eor	v24.16b, v24.16b, v4.16b
	eor	v25.16b, v25.16b, v5.16b
	eor	v23.16b, v23.16b, v6.16b
	eor	v24.16b, v24.16b, v7.16b
	eor	v25.16b, v25.16b, v16.16b
	eor	v23.16b, v23.16b, v17.16b
	eor	v24.16b, v24.16b, v18.16b
	eor	v25.16b, v25.16b, v19.16b
	add	x1, x1, #192
	sub	x2, x2, #1
1:
	cbnz	x2, 2b
	stp	q23, q24, [x0]
	stp	q25, q20, [x0, #32]
	stp	q21, q22, [x0, #64]
	xoodoo_clear_x4
	ret
