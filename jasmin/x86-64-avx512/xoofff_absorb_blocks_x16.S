/* veriplex_xoofff_absorb_blocks_x16: for each of n >= 0 times sixteen blocks of 48 bytes: XOR each with its mask, which is
 * rolled from the one before; permute; XOR the results into the accumulator.
 *
 * Cryptol       Xoofff::absorb_blocks
 * C             void veriplex_xoofff_absorb_blocks_x16(uint8_t deck[96], const uint8_t *input, size_t n,
 *                                                      const uint32_t xoofff_constants_x16[9][16]);
 * Arguments     rdi deck: accumulator, mask (read and written), rsi input: 768 n bytes (read), rdx n,
 *               rcx xoofff_constants_x16: see xoodoo_x16.S (read)
 * Alignment     none
 * Registers     changes rdx, rsi, zmm0-zmm24 and the flags; no stack
 * CPU features  AVX512F
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm24 (to their full width) are zero on return */

	// The accumulator: four words in each of zmm13, zmm14 and zmm15, four times.
	vbroadcasti32x4	(%rdi), %zmm13
	vbroadcasti32x4	16(%rdi), %zmm14
	vbroadcasti32x4	32(%rdi), %zmm15
	xoofff_register_x16 %rcx, 32(%rdi)
	valignd	$4, %zmm24, %zmm24, %zmm16
	valignd	$5, %zmm24, %zmm24, %zmm17
	xoofff_mask_words_x16 18
	valignd	$4, %zmm24, %zmm18, %zmm12
	jmp	1f
2:
	// Four blocks are three registers, in which 16 bytes of a block lie. Register 4c + r gets those of words 4c to 4c + 3
	// of blocks r, 4 + r, 8 + r and 12 + r.
	xoofff_load_x16 %rsi, 0, 0, 4, 8, 1
	xoofff_load_x16 %rsi, 64, 5, 9, 2, 6
	xoofff_load_x16 %rsi, 128, 10, 3, 7, 11
	xoodoo_transpose_x16 0, 1, 2, 3, 0, 1, 2, 3
	xoodoo_transpose_x16 4, 5, 6, 7, 4, 5, 6, 7
	xoodoo_transpose_x16 8, 9, 10, 11, 8, 9, 10, 11
	// Words 16 to 31 of the shift register, into zmm24: 16 to 26 follow from zmm12 alone.
	valignd	$4, %zmm12, %zmm12, %zmm16
	valignd	$5, %zmm12, %zmm12, %zmm17
	xoofff_mask_words_x16 18
	valignd	$15, %zmm12, %zmm18, %zmm16
	vmovdqu64	%zmm18, %zmm17
	xoofff_mask_words_x16 19
	valignd	$11, %zmm18, %zmm18, %zmm18
	valignd	$5, %zmm18, %zmm19, %zmm24
	vpxorq	%zmm12, %zmm0, %zmm0
	xoofff_add_masks_x16 1, 3
	xoofff_add_masks_x16 2, 6
	xoofff_add_masks_x16 3, 9
	xoofff_add_masks_x16 4, 1
	xoofff_add_masks_x16 5, 4
	xoofff_add_masks_x16 6, 7
	xoofff_add_masks_x16 7, 10
	xoofff_add_masks_x16 8, 2
	xoofff_add_masks_x16 9, 5
	xoofff_add_masks_x16 10, 8
	xoofff_add_masks_x16 11, 11
	vmovdqu64	%zmm24, %zmm12
	xoodoo_permutation_x16 %rcx
	xoofff_fold_x16 0, 1, 2, 3, 13
	xoofff_fold_x16 6, 7, 4, 5, 14
	xoofff_fold_x16 8, 9, 10, 11, 15
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
