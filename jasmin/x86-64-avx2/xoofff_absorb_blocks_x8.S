/* veriplex_xoofff_absorb_blocks_x8: for each of n >= 0 times eight blocks of 48 bytes: XOR each with its mask, which is
 * rolled from the one before; permute; XOR the results into the accumulator.
 *
 * Cryptol       Xoofff::absorb_blocks
 * C             void veriplex_xoofff_absorb_blocks_x8(uint8_t deck[96], const uint8_t *input, size_t n,
 *                                                     const uint32_t xoofff_constants_x4[8][8]);
 * Arguments     rdi deck: accumulator, mask (read and written), rsi input: 384 n bytes (read), rdx n,
 *               rcx xoofff_constants_x4: see xoodoo_x8.S (read)
 * Alignment     none
 * Registers     changes rdx, rsi, ymm0-ymm15 and the flags; no stack
 * CPU features  AVX2
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	jmp	1f
2:
	// Planes of the masks: 0 and 1, 1 and 2. No load spans two stores of the group before.
	vmovdqu	48(%rdi), %ymm0
	vbroadcasti128	80(%rdi), %ymm2
	xoofff_planes_x8 0, 2, 1
	// 3 and 4, 6 and 7, 9 and 10; 2 and 3.
	xoofff_mask_words_x8 0, 1, 12
	vpalignr	$4, %ymm0, %ymm12, %ymm4
	vpalignr	$8, %ymm0, %ymm12, %ymm8
	vpalignr	$12, %ymm0, %ymm12, %ymm13
	xoofff_planes_x8 1, 4, 2
	// 4 and 5, 7 and 8; 5 and 6, 8 and 9. Planes 8 to 10 are the next mask.
	xoofff_mask_words_x8 1, 2, 12
	vpalignr	$4, %ymm1, %ymm12, %ymm5
	vpalignr	$8, %ymm1, %ymm12, %ymm10
	xoofff_planes_x8 5, 8, 7
	xoofff_planes_x8 10, 13, 11
	vmovdqu	%ymm11, 48(%rdi)
	vextracti128	$1, %ymm13, 80(%rdi)
	xoofff_input_x8 %rsi, 0, 0, 0
	xoofff_input_x8 %rsi, 16, 1, 1
	xoofff_input_x8 %rsi, 96, 2, 3
	xoofff_input_x8 %rsi, 32, 2, 2
	xoofff_input_x8 %rsi, 112, 4, 4
	xoofff_input_x8 %rsi, 192, 5, 6
	xoofff_input_x8 %rsi, 128, 5, 5
	xoofff_input_x8 %rsi, 208, 7, 7
	xoofff_input_x8 %rsi, 288, 8, 9
	xoofff_input_x8 %rsi, 224, 8, 8
	xoofff_input_x8 %rsi, 304, 10, 10
	xoofff_input_x8 %rsi, 320, 11, 11
	xoodoo_permutation_x8 %rcx
	xoofff_add_x8 0, 3, 6, 9, (%rdi)
	xoofff_add_x8 1, 4, 7, 10, 16(%rdi)
	xoofff_add_x8 2, 5, 8, 11, 32(%rdi)
	addq	$384, %rsi
	decq	%rdx
1:
	cmpq	$0, %rdx
	ja	2b
	vzeroall
	ret
