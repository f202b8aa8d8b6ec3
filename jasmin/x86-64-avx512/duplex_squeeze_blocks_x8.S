/* veriplex_duplex_squeeze_blocks_x8: in each of eight lanes, for each of n >= 0 blocks of 94 bytes: move the state's first
 * 94 bytes into it, leaving zeros; XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::squeeze_blocks_x8
 * C             void veriplex_duplex_squeeze_blocks_x8(uint8_t states[8][8][16], uint8_t *const output[8], size_t n,
 *                                                      const uint32_t round_constants_x4[72][4][4]);
 * Arguments     rdi states: word i of lane l at [i][l] (read and written), rsi output: eight pointers to 94 n bytes each
 *               (written), rdx n, rcx round_constants_x4: K(1)..K(72), each four times (read)
 * Alignment     none
 * Registers     changes rax, rdx, r8, zmm0-zmm31 and the flags; no stack
 * CPU features  AVX512F, AVX512BW, VAES
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm31 (to their full width) are zero on return */

	simpira_load_x8 %rdi
	simpira_padding_x8
	xorl	%eax, %eax
	jmp	1f
2:
	// Bytes 78 to 93 of the output.
	vpalignr	$14, %zmm4, %zmm5, %zmm18
	simpira_put_x8 %rdi, 0, 0, 1, 2, 3, 4, 18
	vpalignr	$14, %zmm14, %zmm15, %zmm18
	simpira_put_x8 %rdi, 64, 10, 11, 12, 13, 14, 18
	// The state's bytes after them, with the padding.
	vpsrldq	$14, %zmm5, %zmm5
	vpslldq	$14, %zmm5, %zmm5
	vpxorq	%zmm19, %zmm5, %zmm5
	vpsrldq	$14, %zmm15, %zmm15
	vpslldq	$14, %zmm15, %zmm15
	vpxorq	%zmm19, %zmm15, %zmm15
	vpxorq	%zmm0, %zmm0, %zmm0
	vpxorq	%zmm1, %zmm1, %zmm1
	vpxorq	%zmm2, %zmm2, %zmm2
	vpxorq	%zmm3, %zmm3, %zmm3
	vpxorq	%zmm4, %zmm4, %zmm4
	vpxorq	%zmm10, %zmm10, %zmm10
	vpxorq	%zmm11, %zmm11, %zmm11
	vpxorq	%zmm12, %zmm12, %zmm12
	vpxorq	%zmm13, %zmm13, %zmm13
	vpxorq	%zmm14, %zmm14, %zmm14
	simpira_permutation_and_output_x8 %rcx, %rdi, %rsi, %rax
	addq	$94, %rax
	decq	%rdx
1:
	cmpq	$0, %rdx
	ja	2b
	simpira_store_x8 %rdi
	simpira_clear_x8
	ret
