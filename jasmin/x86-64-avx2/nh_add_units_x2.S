/* veriplex_nh_add_units_x2: adds the two products of each of n >= 0 units of 16 bytes to the sums of NH's four passes.
 * Each pass uses 16 bytes of a unit's key, in order. The key of the next unit begins 16 bytes later.
 *
 * Cryptol       NH::add_units
 * C             void veriplex_nh_add_units_x2(uint64_t sums[4][2], const uint8_t *input, const uint8_t *key,
 *                                             size_t n);
 * Arguments     rdi sums: 64 bytes (read and written), rsi input: 16 n bytes (read),
 *               rdx key: 16 n + 48 bytes (read; none if n = 0), rcx n
 * Alignment     none
 * Registers     changes rcx, rdx, rsi, ymm0-ymm5 and the flags, and clears ymm6-ymm15; no stack
 * CPU features  AVX2
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	// The two sums of a pass in each 16 bytes.
	vmovdqu	(%rdi), %ymm0
	vmovdqu	32(%rdi), %ymm1
	jmp	1f
2:
	vbroadcasti128	(%rsi), %ymm3
	vpaddd	(%rdx), %ymm3, %ymm2
	vpaddd	32(%rdx), %ymm3, %ymm3
	// Words 0 and 1 of each four, times words 2 and 3.
	vpshufd	$0x10, %ymm2, %ymm4
	vpshufd	$0x10, %ymm3, %ymm5
	vpshufd	$0x32, %ymm2, %ymm2
	vpshufd	$0x32, %ymm3, %ymm3
	vpmuludq	%ymm2, %ymm4, %ymm2
	vpmuludq	%ymm3, %ymm5, %ymm3
	vpaddq	%ymm2, %ymm0, %ymm0
	vpaddq	%ymm3, %ymm1, %ymm1
	addq	$16, %rsi
	addq	$16, %rdx
	decq	%rcx
1:
	cmpq	$0, %rcx
	ja	2b
	vmovdqu	%ymm0, (%rdi)
	vmovdqu	%ymm1, 32(%rdi)
	vzeroall
	ret
