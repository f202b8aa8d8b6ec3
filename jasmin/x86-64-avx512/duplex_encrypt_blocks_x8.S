/* veriplex_duplex_encrypt_blocks_x8: in each of eight lanes, for each of n >= 0 blocks of 94 bytes: XOR it into the
 * state; the result is the block of output; XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::encrypt_blocks_x8
 * C             void veriplex_duplex_encrypt_blocks_x8(uint8_t states[8][8][16], const uint8_t *const input[8],
 *                                                      uint8_t *const output[8], size_t n,
 *                                                      const uint32_t round_constants_x4[72][4][4]);
 * Arguments     rdi states: word i of lane l at [i][l] (read and written), rsi input: eight pointers to 94 n bytes each
 *               (read), rdx output: eight pointers to 94 n bytes each (written; each lane's input may be its output,
 *               else nothing overlaps), rcx n, r8 round_constants_x4: K(1)..K(72), each four times (read)
 * Alignment     none
 * Registers     changes rax, rcx, r9-r11, zmm0-zmm31 and the flags; no stack
 * CPU features  AVX512F, AVX512BW, VAES
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm31 (to their full width) are zero on return */

	simpira_load_x8 %rdi
	simpira_padding_x8 %r9
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
	vpxorq	%zmm9, %zmm5, %zmm5
	// Bytes 78 to 93 of the output.
	vpalignr	$14, %zmm4, %zmm5, %zmm18
	vpxorq	%zmm19, %zmm5, %zmm5
	simpira_put_x8 %rdi, 0, 0, 1, 2, 3, 4, 18
	simpira_load_blocks_x8 %rsi, 32, %rax
	vpsrldq	$2, %zmm9, %zmm9
	vpxorq	%zmm20, %zmm10, %zmm10
	vpxorq	%zmm21, %zmm11, %zmm11
	vpxorq	%zmm22, %zmm12, %zmm12
	vpxorq	%zmm23, %zmm13, %zmm13
	vpxorq	%zmm8, %zmm14, %zmm14
	vpxorq	%zmm9, %zmm15, %zmm15
	vpalignr	$14, %zmm14, %zmm15, %zmm18
	vpxorq	%zmm19, %zmm15, %zmm15
	simpira_put_x8 %rdi, 64, 10, 11, 12, 13, 14, 18
	simpira_permutation_and_output_x8 %r8, %rdi, %rdx, %rax
	addq	$94, %rax
	decq	%rcx
1:
	cmpq	$0, %rcx
	ja	2b
	simpira_store_x8 %rdi
	simpira_clear_x8
	ret
