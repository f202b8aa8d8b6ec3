/* veriplex_duplex_decrypt_blocks_x4: in four of eight lanes, for each of n >= 0 blocks of 94 bytes: its XOR with the
 * state is the block of output; it replaces the state's bytes; XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::decrypt_blocks_x4
 * C             void veriplex_duplex_decrypt_blocks_x4(uint8_t states[7 * 128 + 64], const uint8_t *const input[4],
 *                                                      uint8_t *const output[4], size_t n,
 *                                                      const uint32_t round_constants_x4[72][4][4]);
 * Arguments     rdi states: word i of lane l at 128 i + 16 l (read and written), rsi input: four pointers to 94 n bytes
 *               each (read), rdx output: four pointers to 94 n bytes each (written; each lane's input may be its
 *               output, else nothing overlaps), rcx n, r8 round_constants_x4: K(1)..K(72), each four times (read)
 * Alignment     none
 * Registers     changes rax, rcx, r9-r11, ymm0-ymm15 and the flags; no stack
 * CPU features  AVX2, VAES
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	simpira_load_x4 %rdi
	xorl	%eax, %eax
	jmp	1f
2:
	// r9 and r11 are the pointers of the first lane of two; r10 those of the second, in turns.
	movq	(%rsi), %r9
	movq	(%rdx), %r11
	movq	8(%rsi), %r10
	// Bytes 78 to 93: of the input, before the output overwrites them, and of the output.
	simpira_load_pair_x4 78, %r9, %r10, %rax, 1
	vpalignr	$14, %ymm4, %ymm5, %ymm9
	vpxor	%ymm1, %ymm9, %ymm9
	vpsrldq	$14, %ymm5, %ymm5
	vpslldq	$14, %ymm5, %ymm5
	vpsrldq	$2, %ymm1, %ymm1
	vpxor	%ymm1, %ymm5, %ymm5
	simpira_load_pair_x4 64, %r9, %r10, %rax, 1
	vpxor	%ymm1, %ymm4, %ymm4
	movq	8(%rdx), %r10
	simpira_store_pair_x4 64, %r11, %r10, %rax, 4
	simpira_store_pair_x4 78, %r11, %r10, %rax, 9
	vmovdqu	%ymm1, %ymm4
	movq	8(%rsi), %r10
	simpira_load_pair_x4 0, %r9, %r10, %rax, 1
	simpira_load_pair_x4 32, %r9, %r10, %rax, 9
	vpxor	%ymm1, %ymm0, %ymm0
	vpxor	%ymm9, %ymm2, %ymm2
	movq	8(%rdx), %r10
	simpira_store_pair_x4 0, %r11, %r10, %rax, 0
	simpira_store_pair_x4 32, %r11, %r10, %rax, 2
	vmovdqu	%ymm1, %ymm0
	vmovdqu	%ymm9, %ymm2
	movq	8(%rsi), %r10
	simpira_load_pair_x4 48, %r9, %r10, %rax, 1
	simpira_load_pair_x4 16, %r9, %r10, %rax, 9
	vpxor	%ymm1, %ymm3, %ymm3
	movq	8(%rdx), %r10
	simpira_store_pair_x4 48, %r11, %r10, %rax, 3
	vmovdqu	%ymm1, %ymm3
	vpxor	128(%rdi), %ymm9, %ymm1
	vmovdqu	%ymm9, 128(%rdi)
	simpira_store_pair_x4 16, %r11, %r10, %rax, 1
	movq	16(%rsi), %r9
	movq	16(%rdx), %r11
	movq	24(%rsi), %r10
	simpira_load_pair_x4 78, %r9, %r10, %rax, 1
	vpalignr	$14, %ymm12, %ymm13, %ymm9
	vpxor	%ymm1, %ymm9, %ymm9
	vpsrldq	$14, %ymm13, %ymm13
	vpslldq	$14, %ymm13, %ymm13
	vpsrldq	$2, %ymm1, %ymm1
	vpxor	%ymm1, %ymm13, %ymm13
	simpira_load_pair_x4 64, %r9, %r10, %rax, 1
	vpxor	%ymm1, %ymm12, %ymm12
	movq	24(%rdx), %r10
	simpira_store_pair_x4 64, %r11, %r10, %rax, 12
	simpira_store_pair_x4 78, %r11, %r10, %rax, 9
	vmovdqu	%ymm1, %ymm12
	movq	24(%rsi), %r10
	simpira_load_pair_x4 0, %r9, %r10, %rax, 1
	simpira_load_pair_x4 32, %r9, %r10, %rax, 9
	vpxor	%ymm1, %ymm8, %ymm8
	vpxor	%ymm9, %ymm10, %ymm10
	movq	24(%rdx), %r10
	simpira_store_pair_x4 0, %r11, %r10, %rax, 8
	simpira_store_pair_x4 32, %r11, %r10, %rax, 10
	vmovdqu	%ymm1, %ymm8
	vmovdqu	%ymm9, %ymm10
	movq	24(%rsi), %r10
	simpira_load_pair_x4 48, %r9, %r10, %rax, 1
	simpira_load_pair_x4 16, %r9, %r10, %rax, 9
	vpxor	%ymm1, %ymm11, %ymm11
	movq	24(%rdx), %r10
	simpira_store_pair_x4 48, %r11, %r10, %rax, 11
	vmovdqu	%ymm1, %ymm11
	vpxor	160(%rdi), %ymm9, %ymm1
	vmovdqu	%ymm9, 160(%rdi)
	simpira_store_pair_x4 16, %r11, %r10, %rax, 1
	simpira_pad_x4 %r9
	simpira_permutation_x4 %rdi, %r8
	addq	$94, %rax
	decq	%rcx
1:
	cmpq	$0, %rcx
	ja	2b
	simpira_store_x4 %rdi
	vzeroall
	ret
