/* veriplex_duplex_absorb_blocks_x4: in four of eight lanes, for each of n >= 0 blocks of 94 bytes: XOR it into the
 * state, XOR 0x81 into byte 95 of the state, permute.
 *
 * Cryptol       Lanes::absorb_blocks_x4
 * C             void veriplex_duplex_absorb_blocks_x4(uint8_t states[7 * 128 + 64], const uint8_t *const input[4], size_t n,
 *                                                     const uint32_t round_constants_x4[72][4][4]);
 * Arguments     rdi states: word i of lane l at 128 i + 16 l (read and written), rsi input: four pointers to 94 n bytes
 *               each (read), rdx n, rcx round_constants_x4: K(1)..K(72), each four times (read)
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
	simpira_load_pair_x4 0, %r8, %r9, %rax, 1
	vpxor	%ymm1, %ymm0, %ymm0
	simpira_load_pair_x4 32, %r8, %r9, %rax, 1
	vpxor	%ymm1, %ymm2, %ymm2
	simpira_load_pair_x4 48, %r8, %r9, %rax, 1
	vpxor	%ymm1, %ymm3, %ymm3
	simpira_load_pair_x4 64, %r8, %r9, %rax, 1
	vpxor	%ymm1, %ymm4, %ymm4
	simpira_load_pair_x4 16, %r8, %r9, %rax, 1
	vpxor	128(%rdi), %ymm1, %ymm1
	vmovdqu	%ymm1, 128(%rdi)
	// The last 14 bytes come from a load inside the block: bytes 78 to 93 without the first two.
	simpira_load_pair_x4 78, %r8, %r9, %rax, 1
	vpsrldq	$2, %ymm1, %ymm1
	vpxor	%ymm1, %ymm5, %ymm5
	simpira_load_pair_x4 0, %r10, %r11, %rax, 1
	vpxor	%ymm1, %ymm8, %ymm8
	simpira_load_pair_x4 32, %r10, %r11, %rax, 1
	vpxor	%ymm1, %ymm10, %ymm10
	simpira_load_pair_x4 48, %r10, %r11, %rax, 1
	vpxor	%ymm1, %ymm11, %ymm11
	simpira_load_pair_x4 64, %r10, %r11, %rax, 1
	vpxor	%ymm1, %ymm12, %ymm12
	simpira_load_pair_x4 16, %r10, %r11, %rax, 1
	vpxor	160(%rdi), %ymm1, %ymm1
	vmovdqu	%ymm1, 160(%rdi)
	// The last 14 bytes come from a load inside the block: bytes 78 to 93 without the first two.
	simpira_load_pair_x4 78, %r10, %r11, %rax, 1
	vpsrldq	$2, %ymm1, %ymm1
	vpxor	%ymm1, %ymm13, %ymm13
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
