/* veriplex_duplex_absorb_blocks_x8: in each of eight lanes, for each of n >= 0 blocks of 94 bytes: XOR it into the state,
 * XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::absorb_blocks_x8
 * C             void veriplex_duplex_absorb_blocks_x8(uint8_t states[8][8][16], const uint8_t *const input[8], size_t n,
 *                                                     const uint32_t round_constants_x4[72][4][4]);
 * Arguments     rdi states: word i of lane l at [i][l] (read and written), rsi input: eight pointers to 94 n bytes each
 *               (read), rdx n, rcx round_constants_x4: K(1)..K(72), each four times (read)
 * Alignment     none
 * Registers     changes rax, rdx, r8-r11, zmm0-zmm31 and the flags; no stack
 * CPU features  AVX512F, AVX512BW, VAES
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm31 (to their full width) are zero on return */

	simpira_load_x8 %rdi
	simpira_padding_x8
	xorl	%eax, %eax
	jmp	1f
2:
	simpira_load_blocks_x8 %rsi, 0, %rax
	vpsrldq	$2, %zmm9, %zmm9
	vpxorq	%zmm20, %zmm0, %zmm0
	vpxorq	%zmm21, %zmm1, %zmm1
	vpxorq	%zmm22, %zmm2, %zmm2
	vpxorq	%zmm23, %zmm3, %zmm3
	vpxorq	%zmm8, %zmm4, %zmm4
	vpternlogq	$0x96, %zmm19, %zmm9, %zmm5
	simpira_load_blocks_x8 %rsi, 32, %rax
	vpsrldq	$2, %zmm9, %zmm9
	vpxorq	%zmm20, %zmm10, %zmm10
	vpxorq	%zmm21, %zmm11, %zmm11
	vpxorq	%zmm22, %zmm12, %zmm12
	vpxorq	%zmm23, %zmm13, %zmm13
	vpxorq	%zmm8, %zmm14, %zmm14
	vpternlogq	$0x96, %zmm19, %zmm9, %zmm15
	simpira_permutation_x8 %rcx
	addq	$94, %rax
	decq	%rdx
1:
	cmpq	$0, %rdx
	ja	2b
	simpira_store_x8 %rdi
	simpira_clear_x8
	ret
