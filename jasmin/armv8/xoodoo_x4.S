/* Xoodoo[6] on four states at once, in vector registers of 128 bits, and what the kernels of Xoofff share.
 *
 * Cryptol: Xoodoo, Xoofff (spec/cryptol). Macros only; the exports are in the other files of this folder.
 *
 * Registers: a plane of a state in each. State 0 is in v0-v2, state 1 in v3-v5, state 2 in v6, v7 and v16, state 3 in
 * v17-v19. v20-v22 have the masks or the output states, v23-v25 belong to the kernel, v26-v31 hold intermediate values.
 * The calling convention saves v8-v15 for the caller: they are not used.
 *
 * A roll drops the first plane and appends one, so the states in a row are planes in a row: state j is planes p(j),
 * p(j + 1), p(j + 2). Plane p(j + 3) is p(j) without its first word, and a new word at the end. v20-v22 are p(0) to
 * p(2).
 *
 * Constants at k, everything twice, as the kernels for AVX2 need it; a load takes one of both. That of round i, which
 * is in the first word of a plane, is at 32 i; four times 7 is at 224. The shuffle at 192 is not used. */

	// Some targets without an operating system leave these instructions out.
	.arch_extension simd

/* A rotation of each word left by a count, so right by the other one: to another register. */
.macro xoodoo_rotate_x4 left, right, from, to
	shl	v\to\().4s, v\from\().4s, #\left
	sri	v\to\().4s, v\from\().4s, #\right
.endm

/* One round with the constant at k + offset, on one state. Changes s, t and u. */
.macro xoodoo_round_x4 k, offset, a, b, c, s, t, u
	// Theta: the parities of the columns, moved by one column, rotated by 5 and by 14.
	eor	v\s\().16b, v\a\().16b, v\b\().16b
	eor	v\s\().16b, v\s\().16b, v\c\().16b
	ext	v\s\().16b, v\s\().16b, v\s\().16b, #12
	xoodoo_rotate_x4 5, 27, \s, \t
	xoodoo_rotate_x4 14, 18, \s, \u
	eor	v\t\().16b, v\t\().16b, v\u\().16b
	eor	v\a\().16b, v\a\().16b, v\t\().16b
	eor	v\b\().16b, v\b\().16b, v\t\().16b
	eor	v\c\().16b, v\c\().16b, v\t\().16b
	// Rho-west, after which plane 2 is in u, and iota.
	ldur	q\s, [\k, #\offset]
	ext	v\b\().16b, v\b\().16b, v\b\().16b, #12
	xoodoo_rotate_x4 11, 21, \c, \u
	eor	v\a\().16b, v\a\().16b, v\s\().16b
	// Chi, after which plane 1 is in t and plane 2 in u.
	bic	v\s\().16b, v\u\().16b, v\b\().16b
	bic	v\t\().16b, v\a\().16b, v\u\().16b
	bic	v\c\().16b, v\b\().16b, v\a\().16b
	eor	v\a\().16b, v\a\().16b, v\s\().16b
	eor	v\t\().16b, v\b\().16b, v\t\().16b
	eor	v\u\().16b, v\u\().16b, v\c\().16b
	// Rho-east.
	ext	v\u\().16b, v\u\().16b, v\u\().16b, #8
	xoodoo_rotate_x4 1, 31, \t, \b
	xoodoo_rotate_x4 8, 24, \u, \c
.endm

/* The same on all four. */
.macro xoodoo_rounds_x4 k, offset
	xoodoo_round_x4 \k, \offset, 0, 1, 2, 26, 27, 28
	xoodoo_round_x4 \k, \offset, 3, 4, 5, 29, 30, 31
	xoodoo_round_x4 \k, \offset, 6, 7, 16, 26, 27, 28
	xoodoo_round_x4 \k, \offset, 17, 18, 19, 29, 30, 31
.endm

/* The permutation of all four. */
.macro xoodoo_permutation_x4 k
	xoodoo_rounds_x4 \k, 0
	xoodoo_rounds_x4 \k, 32
	xoodoo_rounds_x4 \k, 64
	xoodoo_rounds_x4 \k, 96
	xoodoo_rounds_x4 \k, 128
	xoodoo_rounds_x4 \k, 160
.endm

/* The new words of masks: the first is the one that the roll of the first plane appends, the next are every third after
 * it. `second` is the plane after `first`. Changes t. */
.macro xoofff_mask_words_x4 first, second, to, t
	xoodoo_rotate_x4 3, 29, \second, \to
	shl	v\t\().4s, v\first\().4s, #13
	eor	v\to\().16b, v\to\().16b, v\first\().16b
	eor	v\to\().16b, v\to\().16b, v\t\().16b
.endm

/* The same for output states. `third` is the plane after `second`. */
.macro xoofff_output_words_x4 k, first, second, third, to, t
	xoodoo_rotate_x4 5, 27, \first, \to
	xoodoo_rotate_x4 13, 19, \second, \t
	eor	v\to\().16b, v\to\().16b, v\t\().16b
	and	v\t\().16b, v\second\().16b, v\third\().16b
	eor	v\to\().16b, v\to\().16b, v\t\().16b
	ldur	q\t, [\k, #224]
	eor	v\to\().16b, v\to\().16b, v\t\().16b
.endm

/* A plane that follows from another one, with the first of such words at its end: one that comes three later. */
.macro xoofff_third_plane_x4 from, words, to
	ext	v\to\().16b, v\from\().16b, v\words\().16b, #4
.endm

/* The same with the first two: one that comes six later. */
.macro xoofff_sixth_plane_x4 from, words, to
	ext	v\to\().16b, v\from\().16b, v\words\().16b, #8
.endm

/* Zeros in every register that was used, to its full width where the CPU has wider ones (SVE). */
.macro xoodoo_clear_x4
	.irp	v, v0.2d, v1.2d, v2.2d, v3.2d, v4.2d, v5.2d, v6.2d, v7.2d
	movi	\v, #0
	.endr
	.irp	v, v16.2d, v17.2d, v18.2d, v19.2d, v20.2d, v21.2d, v22.2d, v23.2d
	movi	\v, #0
	.endr
	.irp	v, v24.2d, v25.2d, v26.2d, v27.2d, v28.2d, v29.2d, v30.2d, v31.2d
	movi	\v, #0
	.endr
.endm
