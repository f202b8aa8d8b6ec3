/* Xoodoo[6] on eight states at once, in vector registers of 256 bits, and what the kernels of Xoofff share.
 *
 * Cryptol: Xoodoo, Xoofff (spec/cryptol). Macros only; the exports are in the other files of this folder.
 *
 * Registers: a plane of two states in each, the first in the low half. Planes 0, 1 and 2 of states 2i and 2i + 1 are in
 * ymm<3i>, ymm<3i + 1> and ymm<3i + 2>. ymm12-ymm14 hold intermediate values, ymm15 belongs to the kernel. The
 * accumulator, the masks and the output state are in memory between two groups.
 *
 * A roll drops the first plane and appends one, so the states in a row are planes in a row: state j is planes p(j),
 * p(j + 1), p(j + 2). The last word of p(j + 3) is a function of the first words of p(j) to p(j + 2); the others are those
 * of p(j) without its first word. So plane p(j + 3) is words 1 to 4, p(j + 6) words 2 to 5 and p(j + 9) words 3 to 6 of
 * p(j) and the same function of all its words.
 *
 * Constants at k: those of the six rounds, 16 bytes twice, of which the first word is the constant; at 192, twice the
 * shuffle that moves the words of a plane by two columns and rotates each by 8; at 224, eight times 7. */

/* A rotation of each word left by a count, so right by the other one. Changes t. */
.macro xoodoo_rotate_x8 left, right, from, to, t
	vpslld	$\left, %ymm\from, %ymm\t
	vpsrld	$\right, %ymm\from, %ymm\to
	vpor	%ymm\to, %ymm\t, %ymm\to
.endm

/* One round with the constant at k + offset, on two states. */
.macro xoodoo_round_x8 k, offset, a, b, c
	// Theta: the parities of the columns, moved by one column, rotated by 5 and by 14.
	vpxor	%ymm\b, %ymm\a, %ymm12
	vpxor	%ymm\c, %ymm12, %ymm12
	vpshufd	$0x93, %ymm12, %ymm12
	xoodoo_rotate_x8 5, 27, 12, 13, 14
	xoodoo_rotate_x8 14, 18, 12, 12, 14
	vpxor	%ymm13, %ymm12, %ymm12
	vpxor	%ymm12, %ymm\a, %ymm\a
	vpxor	%ymm12, %ymm\b, %ymm\b
	vpxor	%ymm12, %ymm\c, %ymm\c
	// Rho-west and iota.
	vpshufd	$0x93, %ymm\b, %ymm\b
	xoodoo_rotate_x8 11, 21, \c, \c, 14
	vpxor	\offset(\k), %ymm\a, %ymm\a
	// Chi.
	vpandn	%ymm\c, %ymm\b, %ymm12
	vpandn	%ymm\a, %ymm\c, %ymm13
	vpandn	%ymm\b, %ymm\a, %ymm14
	vpxor	%ymm12, %ymm\a, %ymm\a
	vpxor	%ymm13, %ymm\b, %ymm\b
	vpxor	%ymm14, %ymm\c, %ymm\c
	// Rho-east.
	xoodoo_rotate_x8 1, 31, \b, \b, 12
	vpshufb	192(\k), %ymm\c, %ymm\c
.endm

/* One round on all eight. */
.macro xoodoo_rounds_x8 k, offset
	xoodoo_round_x8 \k, \offset, 0, 1, 2
	xoodoo_round_x8 \k, \offset, 3, 4, 5
	xoodoo_round_x8 \k, \offset, 6, 7, 8
	xoodoo_round_x8 \k, \offset, 9, 10, 11
.endm

/* The permutation of all eight. */
.macro xoodoo_permutation_x8 k
	xoodoo_rounds_x8 \k, 0
	xoodoo_rounds_x8 \k, 32
	xoodoo_rounds_x8 \k, 64
	xoodoo_rounds_x8 \k, 96
	xoodoo_rounds_x8 \k, 128
	xoodoo_rounds_x8 \k, 160
.endm

/* That function for masks, of two planes in a row each. `second` has the planes after those of `first`. */
.macro xoofff_mask_words_x8 first, second, to
	xoodoo_rotate_x8 3, 29, \second, \to, 14
	vpslld	$13, %ymm\first, %ymm14
	vpxor	%ymm\first, %ymm\to, %ymm\to
	vpxor	%ymm14, %ymm\to, %ymm\to
.endm

/* The same for output states. `third` has the planes after `second`. */
.macro xoofff_output_words_x8 k, first, second, third, to
	xoodoo_rotate_x8 5, 27, \first, \to, 14
	xoodoo_rotate_x8 13, 19, \second, 13, 14
	vpand	%ymm\third, %ymm\second, %ymm14
	vpxor	224(\k), %ymm13, %ymm13
	vpxor	%ymm14, %ymm\to, %ymm\to
	vpxor	%ymm13, %ymm\to, %ymm\to
.endm

/* The high half of one and the low half of the other. */
.macro xoofff_planes_x8 high, low, to
	vperm2i128	$0x21, %ymm\low, %ymm\high, %ymm\to
.endm

/* A plane of two blocks of input, the first of which begins before `at`, XOR their masks. */
.macro xoofff_input_x8 input, at, masks, to
	vmovdqu	\at(\input), %xmm12
	vinserti128	$1, \at+48(\input), %ymm12, %ymm12
	vpxor	%ymm12, %ymm\masks, %ymm\to
.endm

/* The sum of a plane of all eight states into that of the accumulator. */
.macro xoofff_add_x8 a, b, c, d, accumulator
	vpxor	%ymm\b, %ymm\a, %ymm\a
	vpxor	%ymm\d, %ymm\c, %ymm\c
	vpxor	%ymm\c, %ymm\a, %ymm\a
	xoofff_planes_x8 \a, \a, 12
	vpxor	%xmm12, %xmm\a, %xmm\a
	vpxor	\accumulator, %xmm\a, %xmm\a
	vmovdqu	%xmm\a, \accumulator
.endm

/* A plane of two blocks of output: that of their states XOR the mask. */
.macro xoofff_output_x8 output, at, mask, states
	vpxor	%ymm\mask, %ymm\states, %ymm\states
	vmovdqu	%xmm\states, \at(\output)
	vextracti128	$1, %ymm\states, \at+48(\output)
.endm
