/* veriplex_xoofff_squeeze_blocks_x4: for each of n >= 0 times four blocks of 48 bytes: the permutation of an output
 * state, which is rolled from the one before, XOR the mask.
 *
 * Cryptol       Xoofff::squeeze_blocks
 * C             void veriplex_xoofff_squeeze_blocks_x4(uint8_t states[96], uint8_t *output, size_t n,
 *                                                      const uint32_t xoofff_constants_x4[8][8]);
 * Arguments     rdi states: mask, output state (read and written), rsi output: 192 n bytes (written), rdx n,
 *               rcx xoofff_constants_x4: see xoodoo_x4.S (read)
 * Alignment     none
 * Registers     changes rdx, rsi, ymm0-ymm15 and the flags; no stack
 * CPU features  AVX2
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	// The mask, in both halves of ymm9, ymm10 and ymm11.
	vbroadcasti128	(%rdi), %ymm9
	vbroadcasti128	16(%rdi), %ymm10
	vbroadcasti128	32(%rdi), %ymm11
	vmovdqu	48(%rdi), %ymm6
	vmovdqu	64(%rdi), %ymm7
	xoofff_planes_x4 7, 7, 8
	xoofff_output_words_x4 %rcx, 6, 7, 8, 12
	vpalignr	$4, %ymm6, %ymm12, %ymm12
	xoofff_planes_x4 7, 12, 8
	jmp	1f
2:
	vmovdqu	%ymm6, %ymm0
	vmovdqu	%ymm7, %ymm1
	vmovdqu	%ymm8, %ymm2
	vmovdqu	%ymm8, %ymm3
	// Planes 3 and 4, 6 and 7.
	xoofff_output_words_x4 %rcx, 6, 7, 8, 12
	vpalignr	$4, %ymm6, %ymm12, %ymm4
	vpalignr	$8, %ymm6, %ymm12, %ymm8
	// Planes 4 and 5, then those of the next states.
	xoofff_output_words_x4 %rcx, 7, 2, 4, 12
	vpalignr	$4, %ymm7, %ymm12, %ymm5
	vmovdqu	%ymm5, %ymm6
	xoofff_planes_x4 5, 8, 7
	xoodoo_permutation_x4 %rcx
	vpxor	%ymm9, %ymm0, %ymm0
	vpxor	%ymm10, %ymm1, %ymm1
	vpxor	%ymm11, %ymm2, %ymm2
	vpxor	%ymm9, %ymm3, %ymm3
	vpxor	%ymm10, %ymm4, %ymm4
	vpxor	%ymm11, %ymm5, %ymm5
	vmovdqu	%xmm0, (%rsi)
	vmovdqu	%xmm1, 16(%rsi)
	vmovdqu	%xmm2, 32(%rsi)
	vextracti128	$1, %ymm0, 48(%rsi)
	vextracti128	$1, %ymm1, 64(%rsi)
	vextracti128	$1, %ymm2, 80(%rsi)
	vmovdqu	%xmm3, 96(%rsi)
	vmovdqu	%xmm4, 112(%rsi)
	vmovdqu	%xmm5, 128(%rsi)
	vextracti128	$1, %ymm3, 144(%rsi)
	vextracti128	$1, %ymm4, 160(%rsi)
	vextracti128	$1, %ymm5, 176(%rsi)
	addq	$192, %rsi
	decq	%rdx
1:
	cmpq	$0, %rdx
	ja	2b
	vmovdqu	%xmm9, (%rdi)
	vmovdqu	%xmm10, 16(%rdi)
	vmovdqu	%xmm11, 32(%rdi)
	vmovdqu	%ymm6, 48(%rdi)
	vmovdqu	%xmm8, 80(%rdi)
	vzeroall
	ret
