/* veriplex_xoofff_squeeze_blocks_x16: for each of n >= 0 times sixteen blocks of 48 bytes: the permutation of an output
 * state, which is rolled from the one before, XOR the mask.
 *
 * Cryptol       Xoofff::squeeze_blocks
 * C             void veriplex_xoofff_squeeze_blocks_x16(uint8_t states[96], uint8_t *output, size_t n,
 *                                                       const uint32_t xoofff_constants_x16[9][16]);
 * Arguments     rdi states: mask, output state (read and written), rsi output: 768 n bytes (written), rdx n,
 *               rcx xoofff_constants_x16: see xoodoo_x16.S (read)
 * Alignment     none
 * Registers     changes rdx, rsi, zmm0-zmm24 and the flags; no stack
 * CPU features  AVX512F
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm24 (to their full width) are zero on return */

	// The masks of four blocks in a row.
	vmovdqu64	(%rdi), %zmm16
	vshufi64x2	$0x24, %zmm16, %zmm16, %zmm13
	vshufi64x2	$0x49, %zmm16, %zmm16, %zmm14
	vshufi64x2	$0x92, %zmm16, %zmm16, %zmm15
	xoofff_register_x16 %rcx, 32(%rdi)
	valignd	$4, %zmm24, %zmm24, %zmm16
	valignd	$5, %zmm24, %zmm24, %zmm17
	valignd	$6, %zmm24, %zmm24, %zmm18
	xoofff_output_words_x16 %rcx, 19
	valignd	$4, %zmm24, %zmm19, %zmm12
	jmp	1f
2:
	// Words 16 to 31 of the shift register, into zmm24: 16 to 25 follow from zmm12 alone.
	valignd	$4, %zmm12, %zmm12, %zmm16
	valignd	$5, %zmm12, %zmm12, %zmm17
	valignd	$6, %zmm12, %zmm12, %zmm18
	xoofff_output_words_x16 %rcx, 19
	valignd	$14, %zmm12, %zmm19, %zmm16
	valignd	$15, %zmm12, %zmm19, %zmm17
	vmovdqu64	%zmm19, %zmm18
	xoofff_output_words_x16 %rcx, 20
	valignd	$10, %zmm19, %zmm19, %zmm19
	valignd	$6, %zmm19, %zmm20, %zmm24
	vmovdqu64	%zmm12, %zmm0
	valignd	$3, %zmm12, %zmm24, %zmm1
	valignd	$6, %zmm12, %zmm24, %zmm2
	valignd	$9, %zmm12, %zmm24, %zmm3
	valignd	$1, %zmm12, %zmm24, %zmm4
	valignd	$4, %zmm12, %zmm24, %zmm5
	valignd	$7, %zmm12, %zmm24, %zmm6
	valignd	$10, %zmm12, %zmm24, %zmm7
	valignd	$2, %zmm12, %zmm24, %zmm8
	valignd	$5, %zmm12, %zmm24, %zmm9
	valignd	$8, %zmm12, %zmm24, %zmm10
	valignd	$11, %zmm12, %zmm24, %zmm11
	vmovdqu64	%zmm24, %zmm12
	xoodoo_permutation_x16 %rcx
	// Register 4c + r gets words 4c to 4c + 3 of blocks r, 4 + r, 8 + r and 12 + r.
	xoodoo_transpose_x16 0, 1, 2, 3, 0, 1, 2, 3
	xoodoo_transpose_x16 6, 7, 4, 5, 4, 5, 6, 7
	xoodoo_transpose_x16 8, 9, 10, 11, 8, 9, 10, 11
	xoofff_store_x16 %rsi, 0, 13, 0, 4, 8, 1
	xoofff_store_x16 %rsi, 64, 14, 5, 9, 2, 6
	xoofff_store_x16 %rsi, 128, 15, 10, 3, 7, 11
	addq	$768, %rsi
	decq	%rdx
1:
	cmpq	$0, %rdx
	ja	2b
	vmovdqu64	512(%rcx), %zmm16
	vpermd	%zmm12, %zmm16, %zmm16
	vmovdqu64	%zmm16, 32(%rdi)
	vmovdqu	%xmm13, (%rdi)
	vmovdqu	%xmm14, 16(%rdi)
	vmovdqu	%xmm15, 32(%rdi)
	xoodoo_clear_x16
	ret
