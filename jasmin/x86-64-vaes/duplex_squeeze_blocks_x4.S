/* veriplex_duplex_squeeze_blocks_x4: in four of eight lanes, for each of n >= 0 blocks of 94 bytes: move the state's
 * first 94 bytes into it, leaving zeros; XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::squeeze_blocks_x4
 * C             void veriplex_duplex_squeeze_blocks_x4(uint8_t states[7 * 128 + 64], uint8_t *const output[4], size_t n,
 *                                                     const uint32_t round_constants_x4[72][4][4]);
 * Arguments     rdi states: word i of lane l at 128 i + 16 l (read and written), rsi output: four pointers to 94 n bytes
 *               each (written), rdx n, rcx round_constants_x4: K(1)..K(72), each four times (read)
 * Alignment     none
 * Registers     changes rax, rdx, r8-r11, ymm0-ymm15 and the flags; no stack
 * CPU features  AVX2, VAES
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	simpira_load_x4 %rdi
	xorl	%eax, %eax
	jmp	1f
2:
	simpira_pointers_x4 %rsi
	// Bytes 78 to 93 of the output.
	vpalignr	$14, %ymm4, %ymm5, %ymm9
	simpira_store_pair_x4 0, %r8, %r9, %rax, 0
	simpira_store_pair_x4 32, %r8, %r9, %rax, 2
	simpira_store_pair_x4 48, %r8, %r9, %rax, 3
	simpira_store_pair_x4 64, %r8, %r9, %rax, 4
	vmovdqu	128(%rdi), %ymm1
	simpira_store_pair_x4 16, %r8, %r9, %rax, 1
	simpira_store_pair_x4 78, %r8, %r9, %rax, 9
	vpxor	%ymm1, %ymm1, %ymm1
	vmovdqu	%ymm1, 128(%rdi)
	vpxor	%ymm0, %ymm0, %ymm0
	vpxor	%ymm2, %ymm2, %ymm2
	vpxor	%ymm3, %ymm3, %ymm3
	vpxor	%ymm4, %ymm4, %ymm4
	vpsrldq	$14, %ymm5, %ymm5
	vpslldq	$14, %ymm5, %ymm5
	// Bytes 78 to 93 of the output.
	vpalignr	$14, %ymm12, %ymm13, %ymm9
	simpira_store_pair_x4 0, %r10, %r11, %rax, 8
	simpira_store_pair_x4 32, %r10, %r11, %rax, 10
	simpira_store_pair_x4 48, %r10, %r11, %rax, 11
	simpira_store_pair_x4 64, %r10, %r11, %rax, 12
	vmovdqu	160(%rdi), %ymm1
	simpira_store_pair_x4 16, %r10, %r11, %rax, 1
	simpira_store_pair_x4 78, %r10, %r11, %rax, 9
	vpxor	%ymm1, %ymm1, %ymm1
	vmovdqu	%ymm1, 160(%rdi)
	vpxor	%ymm8, %ymm8, %ymm8
	vpxor	%ymm10, %ymm10, %ymm10
	vpxor	%ymm11, %ymm11, %ymm11
	vpxor	%ymm12, %ymm12, %ymm12
	vpsrldq	$14, %ymm13, %ymm13
	vpslldq	$14, %ymm13, %ymm13
	simpira_pad_x4
	simpira_permutation_x4 %rdi, %rcx
	addq	$94, %rax
	decq	%rdx
1:
	cmpq	$0, %rdx
	ja	2b
	simpira_store_x4 %rdi
	vzeroall
	ret
