/* veriplex_poly1305_add_blocks_x16: adds each of n >= 0 groups of sixteen full blocks to the eight sums of Poly1305,
 * modulo p. Of the blocks of a lane, the first is added to the sum, and both are multiplied, each with its multiplier.
 *
 * A number has limbs of 44, 44 and 42 bits, each in a word of 64 bits. A row has one limb of all lanes. Blocks 0, 4, 1,
 * 5, 2, 6, 3 and 7 of a group are the first ones of lanes 0 to 7, and the blocks eight after these are the second ones.
 * A multiplier has its limbs r0, r1 and r2, and then 20 r1 and 20 r2. A row of multipliers has first those of the first
 * blocks, then those of the second ones.
 *
 * Cryptol       Poly1305::add_blocks44
 * C             void veriplex_poly1305_add_blocks_x16(uint64_t sums[3][8], const uint64_t multipliers[5][16],
 *                                                     const uint8_t *input, size_t n);
 * Arguments     rdi sums: 192 bytes (read and written), rsi multipliers: 640 bytes (read),
 *               rdx input: 256 n bytes (read), rcx n
 * Limits        limbs of sums below 2^45, of multipliers below 2^44: then no word overflows, and no factor has more than
 *               52 bits
 * Alignment     none
 * Registers     changes rax, rcx, rdx, zmm0-zmm28 and the flags; no stack
 * CPU features  AVX512F, AVX512_IFMA
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm28 (to their full width) are zero on return */

	vmovdqu64	(%rdi), %zmm0
	vmovdqu64	64(%rdi), %zmm1
	vmovdqu64	128(%rdi), %zmm2
	// The low 44 and the low 42 bits of each word, and 2^40: the 2^128 of a full block.
	movabsq	$0xfffffffffff, %rax
	vmovq	%rax, %xmm3
	vpunpcklqdq	%zmm3, %zmm3, %zmm3
	vshufi64x2	$0, %zmm3, %zmm3, %zmm3
	vpsrlq	$2, %zmm3, %zmm4
	vpsrlq	$43, %zmm3, %zmm5
	vpsllq	$40, %zmm5, %zmm5
	// The multipliers of the first eight blocks of a group (r), and of the others (t).
	vmovdqu64	(%rsi), %zmm6
	vmovdqu64	128(%rsi), %zmm7
	vmovdqu64	256(%rsi), %zmm8
	vmovdqu64	384(%rsi), %zmm9
	vmovdqu64	512(%rsi), %zmm10
	vmovdqu64	64(%rsi), %zmm11
	vmovdqu64	192(%rsi), %zmm12
	vmovdqu64	320(%rsi), %zmm13
	vmovdqu64	448(%rsi), %zmm14
	vmovdqu64	576(%rsi), %zmm15
	jmp	1f
2:
	// The limbs of blocks 8 to 15.
	vmovdqu64	128(%rdx), %zmm27
	vmovdqu64	192(%rdx), %zmm28
	vpunpcklqdq	%zmm28, %zmm27, %zmm25
	vpunpckhqdq	%zmm28, %zmm27, %zmm26
	vpandq	%zmm3, %zmm25, %zmm22
	vpsrlq	$44, %zmm25, %zmm25
	vpsllq	$20, %zmm26, %zmm23
	vpandq	%zmm3, %zmm23, %zmm23
	vpaddq	%zmm23, %zmm25, %zmm23
	vpsrlq	$24, %zmm26, %zmm24
	vpaddq	%zmm5, %zmm24, %zmm24
	// Their products: low halves in zmm16 to zmm18, high halves in zmm19 to zmm21. What reaches 2^132 comes back twenty
	// times.
	vpxorq	%zmm16, %zmm16, %zmm16
	vpxorq	%zmm17, %zmm17, %zmm17
	vpxorq	%zmm18, %zmm18, %zmm18
	vpxorq	%zmm19, %zmm19, %zmm19
	vpxorq	%zmm20, %zmm20, %zmm20
	vpxorq	%zmm21, %zmm21, %zmm21
	vpmadd52luq	%zmm11, %zmm22, %zmm16
	vpmadd52luq	%zmm12, %zmm22, %zmm17
	vpmadd52luq	%zmm13, %zmm22, %zmm18
	vpmadd52huq	%zmm11, %zmm22, %zmm19
	vpmadd52huq	%zmm12, %zmm22, %zmm20
	vpmadd52huq	%zmm13, %zmm22, %zmm21
	vpmadd52luq	%zmm15, %zmm23, %zmm16
	vpmadd52luq	%zmm11, %zmm23, %zmm17
	vpmadd52luq	%zmm12, %zmm23, %zmm18
	vpmadd52huq	%zmm15, %zmm23, %zmm19
	vpmadd52huq	%zmm11, %zmm23, %zmm20
	vpmadd52huq	%zmm12, %zmm23, %zmm21
	vpmadd52luq	%zmm14, %zmm24, %zmm16
	vpmadd52luq	%zmm15, %zmm24, %zmm17
	vpmadd52luq	%zmm11, %zmm24, %zmm18
	vpmadd52huq	%zmm14, %zmm24, %zmm19
	vpmadd52huq	%zmm15, %zmm24, %zmm20
	vpmadd52huq	%zmm11, %zmm24, %zmm21
	// Blocks 0 to 7 are added to the sums.
	vmovdqu64	(%rdx), %zmm27
	vmovdqu64	64(%rdx), %zmm28
	vpunpcklqdq	%zmm28, %zmm27, %zmm25
	vpunpckhqdq	%zmm28, %zmm27, %zmm26
	vpandq	%zmm3, %zmm25, %zmm22
	vpsrlq	$44, %zmm25, %zmm25
	vpsllq	$20, %zmm26, %zmm23
	vpandq	%zmm3, %zmm23, %zmm23
	vpaddq	%zmm23, %zmm25, %zmm23
	vpsrlq	$24, %zmm26, %zmm24
	vpaddq	%zmm5, %zmm24, %zmm24
	vpaddq	%zmm22, %zmm0, %zmm0
	vpaddq	%zmm23, %zmm1, %zmm1
	vpaddq	%zmm24, %zmm2, %zmm2
	// The products of the sums.
	vpmadd52luq	%zmm6, %zmm0, %zmm16
	vpmadd52luq	%zmm7, %zmm0, %zmm17
	vpmadd52luq	%zmm8, %zmm0, %zmm18
	vpmadd52huq	%zmm6, %zmm0, %zmm19
	vpmadd52huq	%zmm7, %zmm0, %zmm20
	vpmadd52huq	%zmm8, %zmm0, %zmm21
	vpmadd52luq	%zmm10, %zmm1, %zmm16
	vpmadd52luq	%zmm6, %zmm1, %zmm17
	vpmadd52luq	%zmm7, %zmm1, %zmm18
	vpmadd52huq	%zmm10, %zmm1, %zmm19
	vpmadd52huq	%zmm6, %zmm1, %zmm20
	vpmadd52huq	%zmm7, %zmm1, %zmm21
	vpmadd52luq	%zmm9, %zmm2, %zmm16
	vpmadd52luq	%zmm10, %zmm2, %zmm17
	vpmadd52luq	%zmm6, %zmm2, %zmm18
	vpmadd52huq	%zmm9, %zmm2, %zmm19
	vpmadd52huq	%zmm10, %zmm2, %zmm20
	vpmadd52huq	%zmm6, %zmm2, %zmm21
	// The carries: from limb 0 over limb 1 and limb 2 back to limb 0. The high half of a limb begins 8 bits above the end of
	// the limb, that of the last one 10 bits.
	vpsrlq	$44, %zmm16, %zmm22
	vpsllq	$8, %zmm19, %zmm23
	vpaddq	%zmm23, %zmm22, %zmm22
	vpandq	%zmm3, %zmm16, %zmm16
	vpaddq	%zmm22, %zmm17, %zmm17
	vpsrlq	$44, %zmm17, %zmm24
	vpsllq	$8, %zmm20, %zmm25
	vpaddq	%zmm25, %zmm24, %zmm24
	vpandq	%zmm3, %zmm17, %zmm17
	vpaddq	%zmm24, %zmm18, %zmm18
	vpsrlq	$42, %zmm18, %zmm26
	vpsllq	$10, %zmm21, %zmm27
	vpaddq	%zmm27, %zmm26, %zmm26
	vpandq	%zmm4, %zmm18, %zmm2
	vpsllq	$2, %zmm26, %zmm28
	vpaddq	%zmm28, %zmm26, %zmm26
	vpaddq	%zmm26, %zmm16, %zmm16
	vpsrlq	$44, %zmm16, %zmm27
	vpandq	%zmm3, %zmm16, %zmm0
	vpaddq	%zmm27, %zmm17, %zmm1
	addq	$256, %rdx
	decq	%rcx
1:
	cmpq	$0, %rcx
	ja	2b
	vmovdqu64	%zmm0, (%rdi)
	vmovdqu64	%zmm1, 64(%rdi)
	vmovdqu64	%zmm2, 128(%rdi)
	vpxorq	%zmm16, %zmm16, %zmm16
	vpxorq	%zmm17, %zmm17, %zmm17
	vpxorq	%zmm18, %zmm18, %zmm18
	vpxorq	%zmm19, %zmm19, %zmm19
	vpxorq	%zmm20, %zmm20, %zmm20
	vpxorq	%zmm21, %zmm21, %zmm21
	vpxorq	%zmm22, %zmm22, %zmm22
	vpxorq	%zmm23, %zmm23, %zmm23
	vpxorq	%zmm24, %zmm24, %zmm24
	vpxorq	%zmm25, %zmm25, %zmm25
	vpxorq	%zmm26, %zmm26, %zmm26
	vpxorq	%zmm27, %zmm27, %zmm27
	vpxorq	%zmm28, %zmm28, %zmm28
	vzeroall
	ret
