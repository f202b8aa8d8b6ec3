/* veriplex_poly1305_add_blocks_x4: adds each of n >= 0 groups of four full blocks to the four sums of Poly1305, one to
 * each, and multiplies each sum with its multiplier, modulo p.
 *
 * A number has five limbs of 26 bits, each in a word of 64 bits. A row has one limb of all four lanes. Blocks 0, 2, 1 and
 * 3 of a group belong to lanes 0 to 3. A multiplier has its five limbs r0 to r4, and then 5 r1 to 5 r4.
 *
 * Cryptol       Poly1305::add_blocks
 * C             void veriplex_poly1305_add_blocks_x4(uint64_t sums[5][4], const uint64_t multipliers[9][4],
 *                                                    const uint8_t *input, size_t n);
 * Arguments     x0 sums: 160 bytes (read and written), x1 multipliers: 288 bytes (read),
 *               x2 input: 64 n bytes (read), x3 n
 * Limits        limbs of sums below 2^27, of multipliers below 2^26: then no word overflows
 * Alignment     none
 * Registers     changes x2, x3, v0-v7, v16-v31; no stack
 * CPU features  Advanced SIMD
 * Constant time pointers and n are public, what the pointers point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	// Limb i of the sums, in two registers: of blocks 0 and 1 (lanes 0 and 2), and of blocks 2 and 3.
	ldp	q27, q28, [x0]
	zip1	v0.2d, v27.2d, v28.2d
	zip2	v1.2d, v27.2d, v28.2d
	ldp	q27, q28, [x0, #32]
	zip1	v2.2d, v27.2d, v28.2d
	zip2	v3.2d, v27.2d, v28.2d
	ldp	q27, q28, [x0, #64]
	zip1	v4.2d, v27.2d, v28.2d
	zip2	v5.2d, v27.2d, v28.2d
	ldp	q27, q28, [x0, #96]
	zip1	v6.2d, v27.2d, v28.2d
	zip2	v7.2d, v27.2d, v28.2d
	ldp	q27, q28, [x0, #128]
	zip1	v16.2d, v27.2d, v28.2d
	zip2	v17.2d, v27.2d, v28.2d
	// The low halves of the limbs of the multipliers, by blocks: r0 to r4 in v18-v22, 5 r1 to 5 r4 in v23-v26.
	ldp	q27, q28, [x1]
	trn1	v18.4s, v27.4s, v28.4s
	ldp	q27, q28, [x1, #32]
	trn1	v19.4s, v27.4s, v28.4s
	ldp	q27, q28, [x1, #64]
	trn1	v20.4s, v27.4s, v28.4s
	ldp	q27, q28, [x1, #96]
	trn1	v21.4s, v27.4s, v28.4s
	ldp	q27, q28, [x1, #128]
	trn1	v22.4s, v27.4s, v28.4s
	ldp	q27, q28, [x1, #160]
	trn1	v23.4s, v27.4s, v28.4s
	ldp	q27, q28, [x1, #192]
	trn1	v24.4s, v27.4s, v28.4s
	ldp	q27, q28, [x1, #224]
	trn1	v25.4s, v27.4s, v28.4s
	ldp	q27, q28, [x1, #256]
	trn1	v26.4s, v27.4s, v28.4s
	b	1f
2:
	// Word i of the four blocks in v28 + i. Of the sums only the low halves are needed from here on.
	ld4	{v28.4s, v29.4s, v30.4s, v31.4s}, [x2]
	uzp1	v27.4s, v0.4s, v1.4s
	// Limbs 1, 2, 3, 0 and 4 of the blocks, the last with 2^24: the 2^128 of a full block.
	shl	v0.4s, v29.4s, #6
	sri	v0.4s, v28.4s, #26
	bic	v0.4s, #0xfc, lsl #24
	shl	v1.4s, v30.4s, #12
	sri	v1.4s, v29.4s, #20
	bic	v1.4s, #0xfc, lsl #24
	shl	v29.4s, v31.4s, #18
	sri	v29.4s, v30.4s, #14
	bic	v29.4s, #0xfc, lsl #24
	bic	v28.4s, #0xfc, lsl #24
	movi	v30.8h, #1, lsl #8
	sri	v30.4s, v31.4s, #8
	// Limbs 0 to 4 of the sums with these: in v27, v28, v31, v29 and v30.
	add	v27.4s, v27.4s, v28.4s
	uzp1	v28.4s, v2.4s, v3.4s
	add	v28.4s, v28.4s, v0.4s
	uzp1	v31.4s, v4.4s, v5.4s
	add	v31.4s, v31.4s, v1.4s
	uzp1	v0.4s, v6.4s, v7.4s
	add	v29.4s, v29.4s, v0.4s
	uzp1	v1.4s, v16.4s, v17.4s
	add	v30.4s, v30.4s, v1.4s
	// Limb 0 times each limb of the multiplier; what reaches 2^130 comes back five times.
	umull	v0.2d, v27.2s, v18.2s
	umull2	v1.2d, v27.4s, v18.4s
	umull	v2.2d, v27.2s, v19.2s
	umull2	v3.2d, v27.4s, v19.4s
	umull	v4.2d, v27.2s, v20.2s
	umull2	v5.2d, v27.4s, v20.4s
	umull	v6.2d, v27.2s, v21.2s
	umull2	v7.2d, v27.4s, v21.4s
	umull	v16.2d, v27.2s, v22.2s
	umull2	v17.2d, v27.4s, v22.4s
	// Limb 1.
	umlal	v0.2d, v28.2s, v26.2s
	umlal2	v1.2d, v28.4s, v26.4s
	umlal	v2.2d, v28.2s, v18.2s
	umlal2	v3.2d, v28.4s, v18.4s
	umlal	v4.2d, v28.2s, v19.2s
	umlal2	v5.2d, v28.4s, v19.4s
	umlal	v6.2d, v28.2s, v20.2s
	umlal2	v7.2d, v28.4s, v20.4s
	umlal	v16.2d, v28.2s, v21.2s
	umlal2	v17.2d, v28.4s, v21.4s
	// Limb 2.
	umlal	v0.2d, v31.2s, v25.2s
	umlal2	v1.2d, v31.4s, v25.4s
	umlal	v2.2d, v31.2s, v26.2s
	umlal2	v3.2d, v31.4s, v26.4s
	umlal	v4.2d, v31.2s, v18.2s
	umlal2	v5.2d, v31.4s, v18.4s
	umlal	v6.2d, v31.2s, v19.2s
	umlal2	v7.2d, v31.4s, v19.4s
	umlal	v16.2d, v31.2s, v20.2s
	umlal2	v17.2d, v31.4s, v20.4s
	// Limb 3.
	umlal	v0.2d, v29.2s, v24.2s
	umlal2	v1.2d, v29.4s, v24.4s
	umlal	v2.2d, v29.2s, v25.2s
	umlal2	v3.2d, v29.4s, v25.4s
	umlal	v4.2d, v29.2s, v26.2s
	umlal2	v5.2d, v29.4s, v26.4s
	umlal	v6.2d, v29.2s, v18.2s
	umlal2	v7.2d, v29.4s, v18.4s
	umlal	v16.2d, v29.2s, v19.2s
	umlal2	v17.2d, v29.4s, v19.4s
	// Limb 4.
	umlal	v0.2d, v30.2s, v23.2s
	umlal2	v1.2d, v30.4s, v23.4s
	umlal	v2.2d, v30.2s, v24.2s
	umlal2	v3.2d, v30.4s, v24.4s
	umlal	v4.2d, v30.2s, v25.2s
	umlal2	v5.2d, v30.4s, v25.4s
	umlal	v6.2d, v30.2s, v26.2s
	umlal2	v7.2d, v30.4s, v26.4s
	umlal	v16.2d, v30.2s, v18.2s
	umlal2	v17.2d, v30.4s, v18.4s
	// The low 26 bits of each word.
	movi	v27.2d, #0xffffffffffffffff
	ushr	v27.2d, v27.2d, #38
	// The carries, in two chains: from limb 0, and from limb 3 over limb 4 back to limb 0.
	usra	v2.2d, v0.2d, #26
	usra	v3.2d, v1.2d, #26
	usra	v16.2d, v6.2d, #26
	usra	v17.2d, v7.2d, #26
	and	v0.16b, v0.16b, v27.16b
	and	v1.16b, v1.16b, v27.16b
	and	v6.16b, v6.16b, v27.16b
	and	v7.16b, v7.16b, v27.16b
	usra	v4.2d, v2.2d, #26
	usra	v5.2d, v3.2d, #26
	ushr	v28.2d, v16.2d, #26
	ushr	v30.2d, v17.2d, #26
	and	v2.16b, v2.16b, v27.16b
	and	v3.16b, v3.16b, v27.16b
	and	v16.16b, v16.16b, v27.16b
	and	v17.16b, v17.16b, v27.16b
	shl	v29.2d, v28.2d, #2
	shl	v31.2d, v30.2d, #2
	usra	v6.2d, v4.2d, #26
	usra	v7.2d, v5.2d, #26
	add	v28.2d, v28.2d, v29.2d
	add	v30.2d, v30.2d, v31.2d
	and	v4.16b, v4.16b, v27.16b
	and	v5.16b, v5.16b, v27.16b
	add	v0.2d, v0.2d, v28.2d
	add	v1.2d, v1.2d, v30.2d
	usra	v16.2d, v6.2d, #26
	usra	v17.2d, v7.2d, #26
	and	v6.16b, v6.16b, v27.16b
	and	v7.16b, v7.16b, v27.16b
	usra	v2.2d, v0.2d, #26
	usra	v3.2d, v1.2d, #26
	and	v0.16b, v0.16b, v27.16b
	and	v1.16b, v1.16b, v27.16b
	add	x2, x2, #64
	sub	x3, x3, #1
1:
	cbnz	x3, 2b
	zip1	v27.2d, v0.2d, v1.2d
	zip2	v28.2d, v0.2d, v1.2d
	stp	q27, q28, [x0]
	zip1	v27.2d, v2.2d, v3.2d
	zip2	v28.2d, v2.2d, v3.2d
	stp	q27, q28, [x0, #32]
	zip1	v27.2d, v4.2d, v5.2d
	zip2	v28.2d, v4.2d, v5.2d
	stp	q27, q28, [x0, #64]
	zip1	v27.2d, v6.2d, v7.2d
	zip2	v28.2d, v6.2d, v7.2d
	stp	q27, q28, [x0, #96]
	zip1	v27.2d, v16.2d, v17.2d
	zip2	v28.2d, v16.2d, v17.2d
	stp	q27, q28, [x0, #128]
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
