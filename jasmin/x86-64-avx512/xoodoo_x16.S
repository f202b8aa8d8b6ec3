/* Xoodoo[6] on sixteen states at once, in vector registers of 512 bits, and what the kernels of Xoofff share.
 *
 * Cryptol: Xoodoo, Xoofff (spec/cryptol). Macros only; the exports are in the other files of this folder.
 *
 * Registers: word x of plane y of the states is in zmm<x + 4y>, state j in dword j. zmm12 holds the shift register of the
 * masks or of the output states, zmm13-zmm15 belong to the kernel, zmm16-zmm24 hold intermediate values.
 *
 * In the order a0 a4 a8 a1 a5 a9 ... the words of a mask or an output state are a shift register u: a roll drops the
 * first and appends one. Word i of sixteen states in a row is sixteen neighbours, from place 3 * (i % 4) + i / 4 on.
 * zmm12 has words 0 to 15, of which the last four follow from the others.
 *
 * Constants at k: those of the six rounds, each sixteen times; at 384, sixteen times 7; at 448 and 512, the indices of
 * VPERMD from a state to a shift register and back. */

/* One round with the constant at k + offset. a .. d are the registers of plane 1 and e .. h those of plane 2 for columns 0
 * to 3. The moves by columns are in the caller's choice of registers: afterwards plane 1 is in d, a, b, c and plane 2
 * in g, h, e, f. */
.macro xoodoo_round_x16 k, offset, a, b, c, d, e, f, g, h
	// Theta: the parities of the columns, each rotated by 5 and by 14 into the next column.
	vmovdqu64	%zmm0, %zmm16
	vmovdqu64	%zmm1, %zmm17
	vmovdqu64	%zmm2, %zmm18
	vmovdqu64	%zmm3, %zmm19
	vpternlogq	$0x96, %zmm\a, %zmm\e, %zmm16
	vpternlogq	$0x96, %zmm\b, %zmm\f, %zmm17
	vpternlogq	$0x96, %zmm\c, %zmm\g, %zmm18
	vpternlogq	$0x96, %zmm\d, %zmm\h, %zmm19
	vprold	$5, %zmm16, %zmm20
	vprold	$5, %zmm17, %zmm21
	vprold	$5, %zmm18, %zmm22
	vprold	$5, %zmm19, %zmm23
	vprold	$14, %zmm16, %zmm16
	vprold	$14, %zmm17, %zmm17
	vprold	$14, %zmm18, %zmm18
	vprold	$14, %zmm19, %zmm19
	vpternlogq	$0x96, %zmm19, %zmm23, %zmm0
	vpternlogq	$0x96, %zmm16, %zmm20, %zmm1
	vpternlogq	$0x96, %zmm17, %zmm21, %zmm2
	vpternlogq	$0x96, %zmm18, %zmm22, %zmm3
	vpternlogq	$0x96, %zmm19, %zmm23, %zmm\a
	vpternlogq	$0x96, %zmm16, %zmm20, %zmm\b
	vpternlogq	$0x96, %zmm17, %zmm21, %zmm\c
	vpternlogq	$0x96, %zmm18, %zmm22, %zmm\d
	vpternlogq	$0x96, %zmm19, %zmm23, %zmm\e
	vpternlogq	$0x96, %zmm16, %zmm20, %zmm\f
	vpternlogq	$0x96, %zmm17, %zmm21, %zmm\g
	vpternlogq	$0x96, %zmm18, %zmm22, %zmm\h
	// Iota, and the rotations of rho-west.
	vpxorq	\offset(\k), %zmm0, %zmm0
	vprold	$11, %zmm\e, %zmm\e
	vprold	$11, %zmm\f, %zmm\f
	vprold	$11, %zmm\g, %zmm\g
	vprold	$11, %zmm\h, %zmm\h
	// Chi, on columns of which plane 1 has moved by one.
	xoodoo_chi_x16 0, \d, \e, 16, 20
	xoodoo_chi_x16 1, \a, \f, 17, 21
	xoodoo_chi_x16 2, \b, \g, 18, 22
	xoodoo_chi_x16 3, \c, \h, 19, 23
.endm

/* Chi on a column, x, y, z from plane 0 on, and the rotations of rho-east. */
.macro xoodoo_chi_x16 x, y, z, s, t
	vmovdqu64	%zmm\x, %zmm\s
	vmovdqu64	%zmm\y, %zmm\t
	vpternlogq	$0xd2, %zmm\z, %zmm\y, %zmm\x
	vpternlogq	$0xd2, %zmm\s, %zmm\z, %zmm\y
	vpternlogq	$0xd2, %zmm\t, %zmm\s, %zmm\z
	vprold	$1, %zmm\y, %zmm\y
	vprold	$8, %zmm\z, %zmm\z
.endm

/* The permutation. Afterwards plane 1 is in zmm6, zmm7, zmm4, zmm5. */
.macro xoodoo_permutation_x16 k
	xoodoo_round_x16 \k, 0, 4, 5, 6, 7, 8, 9, 10, 11
	xoodoo_round_x16 \k, 64, 7, 4, 5, 6, 10, 11, 8, 9
	xoodoo_round_x16 \k, 128, 6, 7, 4, 5, 8, 9, 10, 11
	xoodoo_round_x16 \k, 192, 5, 6, 7, 4, 10, 11, 8, 9
	xoodoo_round_x16 \k, 256, 4, 5, 6, 7, 8, 9, 10, 11
	xoodoo_round_x16 \k, 320, 7, 4, 5, 6, 10, 11, 8, 9
.endm

/* The shift register from 48 bytes, which end 64 bytes after `at`: words 0 to 11 in dwords 4 to 15 of zmm24. */
.macro xoofff_register_x16 k, at
	vmovdqu64	448(\k), %zmm24
	vpermd	\at, %zmm24, %zmm24
.endm

/* The next words of the shift register of the masks: from the first words in zmm16 and the second in zmm17, to zmm\to. */
.macro xoofff_mask_words_x16 to
	vpslld	$13, %zmm16, %zmm\to
	vprold	$3, %zmm17, %zmm17
	vpternlogq	$0x96, %zmm17, %zmm16, %zmm\to
.endm

/* The same for output states: the third words are in zmm18. */
.macro xoofff_output_words_x16 k, to
	vprold	$5, %zmm16, %zmm\to
	vprold	$13, %zmm17, %zmm16
	vpternlogq	$0x96, 384(\k), %zmm16, %zmm\to
	vpternlogq	$0x78, %zmm18, %zmm17, %zmm\to
.endm

/* The transpose of four by four dwords, in each 128 bits separately: four registers become p, q, r, s. */
.macro xoodoo_transpose_x16 a, b, c, d, p, q, r, s
	vpunpckldq	%zmm\b, %zmm\a, %zmm16
	vpunpckhdq	%zmm\b, %zmm\a, %zmm17
	vpunpckldq	%zmm\d, %zmm\c, %zmm18
	vpunpckhdq	%zmm\d, %zmm\c, %zmm19
	vpunpcklqdq	%zmm18, %zmm16, %zmm\p
	vpunpckhqdq	%zmm18, %zmm16, %zmm\q
	vpunpcklqdq	%zmm19, %zmm17, %zmm\r
	vpunpckhqdq	%zmm19, %zmm17, %zmm\s
.endm

/* The transpose of four by four words of 128 bits. */
.macro xoodoo_transpose_words_x16 a, b, c, d, p, q, r, s
	vshufi64x2	$0x44, %zmm\b, %zmm\a, %zmm20
	vshufi64x2	$0xee, %zmm\b, %zmm\a, %zmm21
	vshufi64x2	$0x44, %zmm\d, %zmm\c, %zmm22
	vshufi64x2	$0xee, %zmm\d, %zmm\c, %zmm23
	vshufi64x2	$0x88, %zmm22, %zmm20, %zmm\p
	vshufi64x2	$0xdd, %zmm22, %zmm20, %zmm\q
	vshufi64x2	$0x88, %zmm23, %zmm21, %zmm\r
	vshufi64x2	$0xdd, %zmm23, %zmm21, %zmm\s
.endm

/* The registers at `at` of each four blocks of the sixteen: their words of 128 bits, by the place in a register. */
.macro xoofff_load_x16 input, at, p, q, r, s
	vmovdqu64	\at(\input), %zmm16
	vmovdqu64	\at+192(\input), %zmm17
	vmovdqu64	\at+384(\input), %zmm18
	vmovdqu64	\at+576(\input), %zmm19
	xoodoo_transpose_words_x16 16, 17, 18, 19, \p, \q, \r, \s
.endm

/* The other way round, XOR a mask. */
.macro xoofff_store_x16 output, at, mask, p, q, r, s
	xoodoo_transpose_words_x16 \p, \q, \r, \s, 16, 17, 18, 19
	vpxorq	%zmm\mask, %zmm16, %zmm16
	vpxorq	%zmm\mask, %zmm17, %zmm17
	vpxorq	%zmm\mask, %zmm18, %zmm18
	vpxorq	%zmm\mask, %zmm19, %zmm19
	vmovdqu64	%zmm16, \at(\output)
	vmovdqu64	%zmm17, \at+192(\output)
	vmovdqu64	%zmm18, \at+384(\output)
	vmovdqu64	%zmm19, \at+576(\output)
.endm

/* Sixteen neighbours of the shift register, from a place on, into a word of the states. Words 16 and on are in zmm24. */
.macro xoofff_add_masks_x16 word, place
	valignd	$\place, %zmm12, %zmm24, %zmm16
	vpxorq	%zmm16, %zmm\word, %zmm\word
.endm

/* The sum of the sixteen states, four of its words, into each 128 bits of an accumulator. */
.macro xoofff_fold_x16 a, b, c, d, accumulator
	vpunpckldq	%zmm\b, %zmm\a, %zmm16
	vpunpckhdq	%zmm\b, %zmm\a, %zmm17
	vpunpckldq	%zmm\d, %zmm\c, %zmm18
	vpunpckhdq	%zmm\d, %zmm\c, %zmm19
	vpxorq	%zmm17, %zmm16, %zmm16
	vpxorq	%zmm19, %zmm18, %zmm18
	vpunpcklqdq	%zmm18, %zmm16, %zmm17
	vpunpckhqdq	%zmm18, %zmm16, %zmm19
	vpxorq	%zmm19, %zmm17, %zmm16
	vshufi64x2	$0x4e, %zmm16, %zmm16, %zmm17
	vpxorq	%zmm17, %zmm16, %zmm16
	vshufi64x2	$0xb1, %zmm16, %zmm16, %zmm17
	vpternlogq	$0x96, %zmm17, %zmm16, %zmm\accumulator
.endm

/* Zeros in all vector registers that are used. */
.macro xoodoo_clear_x16
	vzeroall
	vpxorq	%zmm16, %zmm16, %zmm16
	vpxorq	%zmm17, %zmm17, %zmm17
	vpxorq	%zmm18, %zmm18, %zmm18
	vpxorq	%zmm19, %zmm19, %zmm19
	vpxorq	%zmm20, %zmm20, %zmm20
	vpxorq	%zmm21, %zmm21, %zmm21
	vpxorq	%zmm22, %zmm22, %zmm22
	vpxorq	%zmm23, %zmm23, %zmm23
	vpxorq	%zmm24, %zmm24, %zmm24
.endm
