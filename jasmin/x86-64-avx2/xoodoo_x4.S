/* Xoodoo[6] on four states at once, in vector registers of 256 bits, and what the kernels of Xoofff share.
 *
 * Cryptol: Xoodoo, Xoofff (spec/cryptol). Macros only; the exports are in the other files of this folder.
 *
 * Registers: a plane of two states in each, the first in the low half. Plane y of states 0 and 1 is in ymm<y>, that of
 * states 2 and 3 in ymm<3 + y>. ymm6-ymm8 have the masks or the output states, ymm9-ymm11 belong to the kernel, and
 * ymm12-ymm15 hold intermediate values.
 *
 * A roll drops the first plane and appends one, so the states in a row are planes in a row: state j is planes p(j),
 * p(j + 1), p(j + 2). Plane p(j + 3) is p(j) without its first word, and a new word at the end. ymm6, ymm7 and ymm8 are
 * p(0) and p(1), p(1) and p(2), p(2) and p(3), the last of which follows from the others.
 *
 * Constants at k: those of the six rounds, 16 bytes twice, of which the first word is the constant; at 192, twice the
 * shuffle that moves the words of a plane by two columns and rotates each by 8; at 224, eight times 7. */

/* A rotation of each word left by a count, so right by the other one. Changes t. */
.macro xoodoo_rotate_x4 left, right, from, to, t
	vpslld	$\left, %ymm\from, %ymm\t
	vpsrld	$\right, %ymm\from, %ymm\to
	vpor	%ymm\to, %ymm\t, %ymm\to
.endm

/* One round with the constant at k + offset, on two states. */
.macro xoodoo_round_x4 k, offset, a, b, c
	// Theta: the parities of the columns, moved by one column, rotated by 5 and by 14.
	vpxor	%ymm\b, %ymm\a, %ymm12
	vpxor	%ymm\c, %ymm12, %ymm12
	vpshufd	$0x93, %ymm12, %ymm12
	xoodoo_rotate_x4 5, 27, 12, 13, 14
	xoodoo_rotate_x4 14, 18, 12, 12, 14
	vpxor	%ymm13, %ymm12, %ymm12
	vpxor	%ymm12, %ymm\a, %ymm\a
	vpxor	%ymm12, %ymm\b, %ymm\b
	vpxor	%ymm12, %ymm\c, %ymm\c
	// Rho-west and iota.
	vpshufd	$0x93, %ymm\b, %ymm\b
	xoodoo_rotate_x4 11, 21, \c, \c, 14
	vpxor	\offset(\k), %ymm\a, %ymm\a
	// Chi.
	vpandn	%ymm\c, %ymm\b, %ymm12
	vpandn	%ymm\a, %ymm\c, %ymm13
	vpandn	%ymm\b, %ymm\a, %ymm14
	vpxor	%ymm12, %ymm\a, %ymm\a
	vpxor	%ymm13, %ymm\b, %ymm\b
	vpxor	%ymm14, %ymm\c, %ymm\c
	// Rho-east.
	xoodoo_rotate_x4 1, 31, \b, \b, 12
	vpshufb	%ymm15, %ymm\c, %ymm\c
.endm

/* The permutation of all four. */
.macro xoodoo_permutation_x4 k
	vmovdqu	192(\k), %ymm15
	xoodoo_round_x4 \k, 0, 0, 1, 2
	xoodoo_round_x4 \k, 0, 3, 4, 5
	xoodoo_round_x4 \k, 32, 0, 1, 2
	xoodoo_round_x4 \k, 32, 3, 4, 5
	xoodoo_round_x4 \k, 64, 0, 1, 2
	xoodoo_round_x4 \k, 64, 3, 4, 5
	xoodoo_round_x4 \k, 96, 0, 1, 2
	xoodoo_round_x4 \k, 96, 3, 4, 5
	xoodoo_round_x4 \k, 128, 0, 1, 2
	xoodoo_round_x4 \k, 128, 3, 4, 5
	xoodoo_round_x4 \k, 160, 0, 1, 2
	xoodoo_round_x4 \k, 160, 3, 4, 5
.endm

/* The new words of masks: the first word of each half is the one that the roll of its plane appends, the next are every
 * third after it. `second` has the planes after those of `first`. */
.macro xoofff_mask_words_x4 first, second, to
	xoodoo_rotate_x4 3, 29, \second, \to, 14
	vpslld	$13, %ymm\first, %ymm14
	vpxor	%ymm\first, %ymm\to, %ymm\to
	vpxor	%ymm14, %ymm\to, %ymm\to
.endm

/* The same for output states. `third` has the planes after `second`. */
.macro xoofff_output_words_x4 k, first, second, third, to
	xoodoo_rotate_x4 5, 27, \first, \to, 14
	xoodoo_rotate_x4 13, 19, \second, 13, 14
	vpand	%ymm\third, %ymm\second, %ymm14
	vpxor	224(\k), %ymm13, %ymm13
	vpxor	%ymm14, %ymm\to, %ymm\to
	vpxor	%ymm13, %ymm\to, %ymm\to
.endm

/* The high half of one and the low half of the other. */
.macro xoofff_planes_x4 high, low, to
	vperm2i128	$0x21, %ymm\low, %ymm\high, %ymm\to
.endm
