/* veriplex_poly1305_add_blocks_x4: adds each of n >= 0 groups of four full blocks to the four sums of Poly1305, one to
 * each, and multiplies each sum with its multiplier, modulo p.
 *
 * A number has five limbs of 26 bits, each in a word of 64 bits. A row has one limb of all four lanes. Blocks 0, 2, 1 and
 * 3 of a group belong to lanes 0 to 3. A multiplier has its five limbs r0 to r4, and then 5 r1 to 5 r4.
 *
 * Cryptol       Poly1305::add_blocks
 * C             void veriplex_poly1305_add_blocks_x4(uint64_t sums[5][4], const uint64_t multipliers[9][4],
 *                                                    const uint8_t *input, size_t n);
 * Arguments     rdi sums: 160 bytes (read and written), rsi multipliers: 288 bytes (read),
 *               rdx input: 64 n bytes (read), rcx n
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
	// Words 0 of the blocks in ymm7, words 1 in ymm8. Their limbs are added to the sums.
	vmovdqu	(%rdx), %ymm9
	vmovdqu	32(%rdx), %ymm10
	vpunpcklqdq	%ymm10, %ymm9, %ymm7
	vpunpckhqdq	%ymm10, %ymm9, %ymm8
	vpand	%ymm5, %ymm7, %ymm9
	vpaddq	%ymm9, %ymm0, %ymm0
	vpsrlq	$26, %ymm7, %ymm10
	vpand	%ymm5, %ymm10, %ymm10
	vpaddq	%ymm10, %ymm1, %ymm1
	vpsrlq	$52, %ymm7, %ymm11
	vpsllq	$12, %ymm8, %ymm12
	vpand	%ymm5, %ymm12, %ymm12
	vpaddq	%ymm12, %ymm11, %ymm11
	vpaddq	%ymm11, %ymm2, %ymm2
	vpsrlq	$14, %ymm8, %ymm13
	vpand	%ymm5, %ymm13, %ymm13
	vpaddq	%ymm13, %ymm3, %ymm3
	vpsrlq	$40, %ymm8, %ymm14
	vpaddq	%ymm6, %ymm14, %ymm14
	vpaddq	%ymm14, %ymm4, %ymm4
	// Limb 0 times each limb of the multiplier; what reaches 2^130 comes back five times.
	vpmuludq	(%rsi), %ymm0, %ymm8
	vpmuludq	32(%rsi), %ymm0, %ymm9
	vpmuludq	64(%rsi), %ymm0, %ymm10
	vpmuludq	96(%rsi), %ymm0, %ymm11
	vpmuludq	128(%rsi), %ymm0, %ymm12
	// Limb 1.
	vpmuludq	256(%rsi), %ymm1, %ymm7
	vpaddq	%ymm7, %ymm8, %ymm8
	vpmuludq	(%rsi), %ymm1, %ymm13
	vpaddq	%ymm13, %ymm9, %ymm9
	vpmuludq	32(%rsi), %ymm1, %ymm14
	vpaddq	%ymm14, %ymm10, %ymm10
	vpmuludq	64(%rsi), %ymm1, %ymm15
	vpaddq	%ymm15, %ymm11, %ymm11
	vpmuludq	96(%rsi), %ymm1, %ymm7
	vpaddq	%ymm7, %ymm12, %ymm12
	// Limb 2.
	vpmuludq	224(%rsi), %ymm2, %ymm13
	vpaddq	%ymm13, %ymm8, %ymm8
	vpmuludq	256(%rsi), %ymm2, %ymm14
	vpaddq	%ymm14, %ymm9, %ymm9
	vpmuludq	(%rsi), %ymm2, %ymm15
	vpaddq	%ymm15, %ymm10, %ymm10
	vpmuludq	32(%rsi), %ymm2, %ymm7
	vpaddq	%ymm7, %ymm11, %ymm11
	vpmuludq	64(%rsi), %ymm2, %ymm13
	vpaddq	%ymm13, %ymm12, %ymm12
	// Limb 3.
	vpmuludq	192(%rsi), %ymm3, %ymm14
	vpaddq	%ymm14, %ymm8, %ymm8
	vpmuludq	224(%rsi), %ymm3, %ymm15
	vpaddq	%ymm15, %ymm9, %ymm9
	vpmuludq	256(%rsi), %ymm3, %ymm7
	vpaddq	%ymm7, %ymm10, %ymm10
	vpmuludq	(%rsi), %ymm3, %ymm13
	vpaddq	%ymm13, %ymm11, %ymm11
	vpmuludq	32(%rsi), %ymm3, %ymm14
	vpaddq	%ymm14, %ymm12, %ymm12
	// Limb 4.
	vpmuludq	160(%rsi), %ymm4, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpmuludq	192(%rsi), %ymm4, %ymm7
	vpaddq	%ymm7, %ymm9, %ymm9
	vpmuludq	224(%rsi), %ymm4, %ymm13
	vpaddq	%ymm13, %ymm10, %ymm10
	vpmuludq	256(%rsi), %ymm4, %ymm14
	vpaddq	%ymm14, %ymm11, %ymm11
	vpmuludq	(%rsi), %ymm4, %ymm15
	vpaddq	%ymm15, %ymm12, %ymm12
	// The carries, in two chains: from limb 0, and from limb 3 over limb 4 back to limb 0.
	vpsrlq	$26, %ymm8, %ymm7
	vpand	%ymm5, %ymm8, %ymm8
	vpaddq	%ymm7, %ymm9, %ymm9
	vpsrlq	$26, %ymm11, %ymm13
	vpand	%ymm5, %ymm11, %ymm11
	vpaddq	%ymm13, %ymm12, %ymm12
	vpsrlq	$26, %ymm9, %ymm14
	vpand	%ymm5, %ymm9, %ymm9
	vpaddq	%ymm14, %ymm10, %ymm10
	vpsrlq	$26, %ymm12, %ymm15
	vpand	%ymm5, %ymm12, %ymm12
	vpsllq	$2, %ymm15, %ymm7
	vpaddq	%ymm7, %ymm15, %ymm15
	vpaddq	%ymm15, %ymm8, %ymm8
	vpsrlq	$26, %ymm10, %ymm13
	vpand	%ymm5, %ymm10, %ymm2
	vpaddq	%ymm13, %ymm11, %ymm11
	vpsrlq	$26, %ymm8, %ymm14
	vpand	%ymm5, %ymm8, %ymm0
	vpaddq	%ymm14, %ymm9, %ymm1
	vpsrlq	$26, %ymm11, %ymm15
	vpand	%ymm5, %ymm11, %ymm3
	vpaddq	%ymm15, %ymm12, %ymm4
	addq	$64, %rdx
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
