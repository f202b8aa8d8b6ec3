/* veriplex_poly1305_add_blocks_x8: adds each of n >= 0 groups of eight full blocks to the four sums of Poly1305, modulo
 * p. Of the two blocks of a lane, the first is added to the sum, and both are multiplied, each with its multiplier.
 *
 * A number has five limbs of 26 bits, each in a word of 64 bits. A row has one limb of all four lanes. Blocks 0, 2, 1 and
 * 3 of a group are the first ones of lanes 0 to 3, and the blocks four after these are the second ones. A multiplier has
 * its five limbs r0 to r4, and then 5 r1 to 5 r4. A row of multipliers has first those of the first blocks, then those of
 * the second ones.
 *
 * Cryptol       Poly1305::add_pairs
 * C             void veriplex_poly1305_add_blocks_x8(uint64_t sums[5][4], const uint64_t multipliers[9][8],
 *                                                    const uint8_t *input, size_t n);
 * Arguments     rdi sums: 160 bytes (read and written), rsi multipliers: 576 bytes (read),
 *               rdx input: 128 n bytes (read), rcx n
 * Limits        limbs of sums below 2^27, of multipliers below 2^26: then no word overflows
 * Alignment     none
 * Registers     changes rax, rcx, rdx, ymm0-ymm15 and the flags; no stack
 * CPU features  AVX2
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	vmovdqu	(%rdi), %ymm0
	vmovdqu	32(%rdi), %ymm1
	vmovdqu	64(%rdi), %ymm2
	vmovdqu	96(%rdi), %ymm3
	vmovdqu	128(%rdi), %ymm4
	// The low 26 bits of each word, and 2^24: the 2^128 of a full block.
	movabsq	$0x3ffffff, %rax
	vmovq	%rax, %xmm5
	vpunpcklqdq	%ymm5, %ymm5, %ymm5
	vinserti128	$1, %xmm5, %ymm5, %ymm5
	movabsq	$0x1000000, %rax
	vmovq	%rax, %xmm6
	vpunpcklqdq	%ymm6, %ymm6, %ymm6
	vinserti128	$1, %xmm6, %ymm6, %ymm6
	jmp	1f
2:
	// Words 0 of blocks 4 to 7 in ymm12, words 1 in ymm13. Each of their limbs times each limb of the multiplier; what
	// reaches 2^130 comes back five times.
	vmovdqu	64(%rdx), %ymm14
	vmovdqu	96(%rdx), %ymm15
	vpunpcklqdq	%ymm15, %ymm14, %ymm12
	vpunpckhqdq	%ymm15, %ymm14, %ymm13
	vpand	%ymm5, %ymm12, %ymm14
	vpmuludq	32(%rsi), %ymm14, %ymm7
	vpmuludq	96(%rsi), %ymm14, %ymm8
	vpmuludq	160(%rsi), %ymm14, %ymm9
	vpmuludq	224(%rsi), %ymm14, %ymm10
	vpmuludq	288(%rsi), %ymm14, %ymm11
	vpsrlq	$26, %ymm12, %ymm14
	vpand	%ymm5, %ymm14, %ymm14
	vpmuludq	544(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm7, %ymm7
	vpmuludq	32(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpmuludq	96(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm9, %ymm9
	vpmuludq	160(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm10, %ymm10
	vpmuludq	224(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm11, %ymm11
	vpsrlq	$52, %ymm12, %ymm14
	vpsllq	$12, %ymm13, %ymm15
	vpand	%ymm5, %ymm15, %ymm15
	vpaddq	%ymm15, %ymm14, %ymm14
	vpmuludq	480(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm7, %ymm7
	vpmuludq	544(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpmuludq	32(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm9, %ymm9
	vpmuludq	96(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm10, %ymm10
	vpmuludq	160(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm11, %ymm11
	vpsrlq	$14, %ymm13, %ymm14
	vpand	%ymm5, %ymm14, %ymm14
	vpmuludq	416(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm7, %ymm7
	vpmuludq	480(%rsi), %ymm14, %ymm12
	vpaddq	%ymm12, %ymm8, %ymm8
	vpmuludq	544(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm9, %ymm9
	vpmuludq	32(%rsi), %ymm14, %ymm12
	vpaddq	%ymm12, %ymm10, %ymm10
	vpmuludq	96(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm11, %ymm11
	vpsrlq	$40, %ymm13, %ymm14
	vpaddq	%ymm6, %ymm14, %ymm14
	vpmuludq	352(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm7, %ymm7
	vpmuludq	416(%rsi), %ymm14, %ymm12
	vpaddq	%ymm12, %ymm8, %ymm8
	vpmuludq	480(%rsi), %ymm14, %ymm13
	vpaddq	%ymm13, %ymm9, %ymm9
	vpmuludq	544(%rsi), %ymm14, %ymm15
	vpaddq	%ymm15, %ymm10, %ymm10
	vpmuludq	32(%rsi), %ymm14, %ymm12
	vpaddq	%ymm12, %ymm11, %ymm11
	// The same of blocks 0 to 3. Each of their limbs is added to that of the sums, and this one multiplied.
	vmovdqu	(%rdx), %ymm14
	vmovdqu	32(%rdx), %ymm15
	vpunpcklqdq	%ymm15, %ymm14, %ymm12
	vpunpckhqdq	%ymm15, %ymm14, %ymm13
	vpand	%ymm5, %ymm12, %ymm14
	vpaddq	%ymm14, %ymm0, %ymm0
	vpmuludq	(%rsi), %ymm0, %ymm14
	vpaddq	%ymm14, %ymm7, %ymm7
	vpmuludq	64(%rsi), %ymm0, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpmuludq	128(%rsi), %ymm0, %ymm14
	vpaddq	%ymm14, %ymm9, %ymm9
	vpmuludq	192(%rsi), %ymm0, %ymm15
	vpaddq	%ymm15, %ymm10, %ymm10
	vpmuludq	256(%rsi), %ymm0, %ymm14
	vpaddq	%ymm14, %ymm11, %ymm11
	vpsrlq	$26, %ymm12, %ymm14
	vpand	%ymm5, %ymm14, %ymm14
	vpaddq	%ymm14, %ymm1, %ymm1
	vpmuludq	512(%rsi), %ymm1, %ymm14
	vpaddq	%ymm14, %ymm7, %ymm7
	vpmuludq	(%rsi), %ymm1, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpmuludq	64(%rsi), %ymm1, %ymm14
	vpaddq	%ymm14, %ymm9, %ymm9
	vpmuludq	128(%rsi), %ymm1, %ymm15
	vpaddq	%ymm15, %ymm10, %ymm10
	vpmuludq	192(%rsi), %ymm1, %ymm14
	vpaddq	%ymm14, %ymm11, %ymm11
	vpsrlq	$52, %ymm12, %ymm14
	vpsllq	$12, %ymm13, %ymm15
	vpand	%ymm5, %ymm15, %ymm15
	vpaddq	%ymm15, %ymm14, %ymm14
	vpaddq	%ymm14, %ymm2, %ymm2
	vpmuludq	448(%rsi), %ymm2, %ymm14
	vpaddq	%ymm14, %ymm7, %ymm7
	vpmuludq	512(%rsi), %ymm2, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpmuludq	(%rsi), %ymm2, %ymm14
	vpaddq	%ymm14, %ymm9, %ymm9
	vpmuludq	64(%rsi), %ymm2, %ymm15
	vpaddq	%ymm15, %ymm10, %ymm10
	vpmuludq	128(%rsi), %ymm2, %ymm14
	vpaddq	%ymm14, %ymm11, %ymm11
	vpsrlq	$14, %ymm13, %ymm14
	vpand	%ymm5, %ymm14, %ymm14
	vpaddq	%ymm14, %ymm3, %ymm3
	vpmuludq	384(%rsi), %ymm3, %ymm14
	vpaddq	%ymm14, %ymm7, %ymm7
	vpmuludq	448(%rsi), %ymm3, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpmuludq	512(%rsi), %ymm3, %ymm12
	vpaddq	%ymm12, %ymm9, %ymm9
	vpmuludq	(%rsi), %ymm3, %ymm14
	vpaddq	%ymm14, %ymm10, %ymm10
	vpmuludq	64(%rsi), %ymm3, %ymm15
	vpaddq	%ymm15, %ymm11, %ymm11
	vpsrlq	$40, %ymm13, %ymm14
	vpaddq	%ymm6, %ymm14, %ymm14
	vpaddq	%ymm14, %ymm4, %ymm4
	vpmuludq	320(%rsi), %ymm4, %ymm14
	vpaddq	%ymm14, %ymm7, %ymm7
	vpmuludq	384(%rsi), %ymm4, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpmuludq	448(%rsi), %ymm4, %ymm12
	vpaddq	%ymm12, %ymm9, %ymm9
	vpmuludq	512(%rsi), %ymm4, %ymm13
	vpaddq	%ymm13, %ymm10, %ymm10
	vpmuludq	(%rsi), %ymm4, %ymm14
	vpaddq	%ymm14, %ymm11, %ymm11
	// The carries: from limb 0 over the others back to limb 0, and once more to limb 1.
	vpsrlq	$26, %ymm7, %ymm12
	vpand	%ymm5, %ymm7, %ymm7
	vpaddq	%ymm12, %ymm8, %ymm8
	vpsrlq	$26, %ymm8, %ymm13
	vpand	%ymm5, %ymm8, %ymm8
	vpaddq	%ymm13, %ymm9, %ymm9
	vpsrlq	$26, %ymm9, %ymm14
	vpand	%ymm5, %ymm9, %ymm2
	vpaddq	%ymm14, %ymm10, %ymm10
	vpsrlq	$26, %ymm10, %ymm15
	vpand	%ymm5, %ymm10, %ymm3
	vpaddq	%ymm15, %ymm11, %ymm11
	vpsrlq	$26, %ymm11, %ymm12
	vpand	%ymm5, %ymm11, %ymm4
	vpsllq	$2, %ymm12, %ymm13
	vpaddq	%ymm13, %ymm12, %ymm12
	vpaddq	%ymm12, %ymm7, %ymm7
	vpsrlq	$26, %ymm7, %ymm14
	vpand	%ymm5, %ymm7, %ymm0
	vpaddq	%ymm14, %ymm8, %ymm1
	addq	$128, %rdx
	decq	%rcx
1:
	cmpq	$0, %rcx
	ja	2b
	vmovdqu	%ymm0, (%rdi)
	vmovdqu	%ymm1, 32(%rdi)
	vmovdqu	%ymm2, 64(%rdi)
	vmovdqu	%ymm3, 96(%rdi)
	vmovdqu	%ymm4, 128(%rdi)
	vzeroall
	ret
