/* veriplex_xoofff_squeeze_blocks_x8: for each of n >= 0 times eight blocks of 48 bytes: the permutation of an output
 * state, which is rolled from the one before, XOR the mask.
 *
 * Cryptol       Xoofff::squeeze_blocks
 * C             void veriplex_xoofff_squeeze_blocks_x8(uint8_t states[96], uint8_t *output, size_t n,
 *                                                      const uint32_t xoofff_constants_x4[8][8]);
 * Arguments     rdi states: mask, output state (read and written), rsi output: 384 n bytes (written), rdx n,
 *               rcx xoofff_constants_x4: see xoodoo_x8.S (read)
 * Alignment     none
 * Registers     changes rdx, rsi, ymm0-ymm15 and the flags; no stack
 * CPU features  AVX2
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	// Planes 2 and 3 of the output states, in ymm15. Of the function here, the low half is that of the first words.
	vmovdqu	48(%rdi), %ymm0
	vbroadcasti128	80(%rdi), %ymm2
	xoofff_planes_x8 0, 2, 1
	xoofff_output_words_x8 %rcx, 0, 1, 2, 12
	vpalignr	$4, %ymm0, %ymm12, %ymm12
	xoofff_planes_x8 1, 12, 15
	jmp	1f
2:
	// Planes of the output states: 0 and 1, 1 and 2. No load spans two stores of the group before.
	vmovdqu	48(%rdi), %ymm0
	xoofff_planes_x8 0, 15, 1
	// 3 and 4, 6 and 7, 9 and 10.
	xoofff_output_words_x8 %rcx, 0, 1, 15, 12
	vpalignr	$4, %ymm0, %ymm12, %ymm4
	vpalignr	$8, %ymm0, %ymm12, %ymm8
	vpalignr	$12, %ymm0, %ymm12, %ymm11
	// 4 and 5, 7 and 8, 10 and 11; 5 and 6, 8 and 9. Planes 8 to 10 are the next state.
	xoofff_output_words_x8 %rcx, 1, 15, 4, 12
	vmovdqu	%ymm15, %ymm2
	vmovdqu	%ymm15, %ymm3
	vpalignr	$4, %ymm1, %ymm12, %ymm5
	vpalignr	$8, %ymm1, %ymm12, %ymm10
	vpalignr	$12, %ymm1, %ymm12, %ymm15
	xoofff_planes_x8 5, 8, 7
	xoofff_planes_x8 10, 11, 11
	vmovdqu	%ymm11, 48(%rdi)
	vmovdqu	%xmm15, 80(%rdi)
	vmovdqu	%ymm5, %ymm6
	vmovdqu	%ymm8, %ymm9
	xoodoo_permutation_x8 %rcx
	vbroadcasti128	(%rdi), %ymm12
	vbroadcasti128	16(%rdi), %ymm13
	vbroadcasti128	32(%rdi), %ymm14
	xoofff_output_x8 %rsi, 0, 12, 0
	xoofff_output_x8 %rsi, 16, 13, 1
	xoofff_output_x8 %rsi, 32, 14, 2
	xoofff_output_x8 %rsi, 96, 12, 3
	xoofff_output_x8 %rsi, 112, 13, 4
	xoofff_output_x8 %rsi, 128, 14, 5
	xoofff_output_x8 %rsi, 192, 12, 6
	xoofff_output_x8 %rsi, 208, 13, 7
	xoofff_output_x8 %rsi, 224, 14, 8
	xoofff_output_x8 %rsi, 288, 12, 9
	xoofff_output_x8 %rsi, 304, 13, 10
	xoofff_output_x8 %rsi, 320, 14, 11
	addq	$384, %rsi
	decq	%rdx
1:
	cmpq	$0, %rdx
	ja	2b
	vzeroall
	ret
