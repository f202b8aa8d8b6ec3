/* veriplex_nh_add_units_x1: adds the two products of each of n >= 0 units of 16 bytes to the sums of NH's four passes.
 * Each pass uses 16 bytes of a unit's key, in order. The key of the next unit begins 16 bytes later.
 *
 * Cryptol       NH::add_units
 * C             void veriplex_nh_add_units_x1(uint64_t sums[4][2], const uint8_t *input, const uint8_t *key,
 *                                             size_t n);
 * Arguments     x0 sums: 64 bytes (read and written), x1 input: 16 n bytes (read),
 *               x2 key: 16 n + 48 bytes (read; none if n = 0), x3 n
 * Alignment     none
 * Registers     changes x1, x2, x3, v0-v7, v16-v20, and clears v21-v31; no stack
 * CPU features  Advanced SIMD
 * Constant time pointers and n are public, what the pointers point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	// The two sums of a pass in each register.
	ldp	q0, q1, [x0]
	ldp	q2, q3, [x0, #32]
	b	1f
2:
	ldur	q4, [x1]
	ldp	q5, q6, [x2]
	ldp	q7, q16, [x2, #32]
	add	v5.4s, v5.4s, v4.4s
	add	v6.4s, v6.4s, v4.4s
	add	v7.4s, v7.4s, v4.4s
	add	v16.4s, v16.4s, v4.4s
	// Words 0 and 1 of each four, times words 2 and 3.
	ext	v17.16b, v5.16b, v5.16b, #8
	ext	v18.16b, v6.16b, v6.16b, #8
	ext	v19.16b, v7.16b, v7.16b, #8
	ext	v20.16b, v16.16b, v16.16b, #8
	umlal	v0.2d, v5.2s, v17.2s
	umlal	v1.2d, v6.2s, v18.2s
	umlal	v2.2d, v7.2s, v19.2s
	umlal	v3.2d, v16.2s, v20.2s
	add	x1, x1, #16
	add	x2, x2, #16
	sub	x3, x3, #1
1:
	cbnz	x3, 2b
	stp	q0, q1, [x0]
	stp	q2, q3, [x0, #32]
	.irp	v, v0.2d, v1.2d, v2.2d, v3.2d, v4.2d, v5.2d, v6.2d, v7.2d
	movi	\v, #0
	.endr
	.irp	v, v16.2d, v17.2d, v18.2d, v19.2d, v20.2d, v21.2d, v22.2d, v23.2d
	movi	\v, #0
	.endr
	.irp	v, v24.2d, v25.2d, v26.2d, v27.2d, v28.2d, v29.2d, v30.2d, v31.2d
	movi	\v, #0
	.endr
	ret
