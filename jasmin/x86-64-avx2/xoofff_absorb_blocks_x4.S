/* veriplex_xoofff_absorb_blocks_x4: for each of n >= 0 times four blocks of 48 bytes: XOR each with its mask, which is
 * rolled from the one before; permute; XOR the results into the accumulator.
 *
 * Cryptol       Xoofff::absorb_blocks
 * C             void veriplex_xoofff_absorb_blocks_x4(uint8_t deck[96], const uint8_t *input, size_t n,
 *                                                     const uint32_t xoofff_constants_x4[8][8]);
 * Arguments     rdi deck: accumulator, mask (read and written), rsi input: 192 n bytes (read), rdx n,
 *               rcx xoofff_constants_x4: see xoodoo_x4.S (read)
 * Alignment     none
 * Registers     changes rdx, rsi, ymm0-ymm15 and the flags; no stack
 * CPU features  AVX2
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	// The accumulator, in both halves of ymm9, ymm10 and ymm11.
	vbroadcasti128	(%rdi), %ymm9
	vbroadcasti128	16(%rdi), %ymm10
	vbroadcasti128	32(%rdi), %ymm11
	vmovdqu	48(%rdi), %ymm6
	vmovdqu	64(%rdi), %ymm7
	xoofff_mask_words_x4 6, 7, 12
	vpalignr	$4, %ymm6, %ymm12, %ymm12
	xoofff_planes_x4 7, 12, 8
	jmp	1f
2:
	vmovdqu	(%rsi), %xmm0
	vmovdqu	16(%rsi), %xmm1
	vmovdqu	32(%rsi), %xmm2
	vmovdqu	96(%rsi), %xmm3
	vmovdqu	112(%rsi), %xmm4
	vmovdqu	128(%rsi), %xmm5
	vinserti128	$1, 48(%rsi), %ymm0, %ymm0
	vinserti128	$1, 64(%rsi), %ymm1, %ymm1
	vinserti128	$1, 80(%rsi), %ymm2, %ymm2
	vinserti128	$1, 144(%rsi), %ymm3, %ymm3
	vinserti128	$1, 160(%rsi), %ymm4, %ymm4
	vinserti128	$1, 176(%rsi), %ymm5, %ymm5
	vpxor	%ymm6, %ymm0, %ymm0
	vpxor	%ymm7, %ymm1, %ymm1
	vpxor	%ymm8, %ymm2, %ymm2
	vpxor	%ymm8, %ymm3, %ymm3
	// Planes 3 and 4, 6 and 7.
	xoofff_mask_words_x4 6, 7, 12
	vpalignr	$4, %ymm6, %ymm12, %ymm13
	vpalignr	$8, %ymm6, %ymm12, %ymm12
	vpxor	%ymm13, %ymm4, %ymm4
	// Planes 4 and 5, then those of the next masks.
	xoofff_mask_words_x4 7, 8, 6
	vpalignr	$4, %ymm7, %ymm6, %ymm6
	vpxor	%ymm6, %ymm5, %ymm5
	xoofff_planes_x4 6, 12, 7
	vmovdqu	%ymm12, %ymm8
	xoodoo_permutation_x4 %rcx
	// The sum of the four, into both halves.
	vpxor	%ymm3, %ymm0, %ymm0
	vpxor	%ymm4, %ymm1, %ymm1
	vpxor	%ymm5, %ymm2, %ymm2
	xoofff_planes_x4 0, 0, 3
	xoofff_planes_x4 1, 1, 4
	xoofff_planes_x4 2, 2, 5
	vpxor	%ymm0, %ymm9, %ymm9
	vpxor	%ymm1, %ymm10, %ymm10
	vpxor	%ymm2, %ymm11, %ymm11
	vpxor	%ymm3, %ymm9, %ymm9
	vpxor	%ymm4, %ymm10, %ymm10
	vpxor	%ymm5, %ymm11, %ymm11
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
