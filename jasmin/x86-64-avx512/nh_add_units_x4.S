/* veriplex_nh_add_units_x4: adds the two products of each of n >= 0 units of 16 bytes to the sums of NH's four passes.
 * Each pass uses 16 bytes of a unit's key, in order. The key of the next unit begins 16 bytes later.
 *
 * Cryptol       NH::add_units
 * C             void veriplex_nh_add_units_x4(uint64_t sums[4][2], const uint8_t *input, const uint8_t *key,
 *                                             size_t n);
 * Arguments     rdi sums: 64 bytes (read and written), rsi input: 16 n bytes (read),
 *               rdx key: 16 n + 48 bytes (read; none if n = 0), rcx n
 * Alignment     none
 * Registers     changes rcx, rdx, rsi, zmm0-zmm2 and the flags, and clears zmm3-zmm15; no stack
 * CPU features  AVX512F
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm15 (to their full width) are zero on return */

	// The two sums of a pass in each 16 bytes.
	vmovdqu64	(%rdi), %zmm0
	jmp	1f
2:
	vbroadcasti32x4	(%rsi), %zmm1
	vpaddd	(%rdx), %zmm1, %zmm1
	// Words 0 and 1 of each four, times words 2 and 3.
	vpshufd	$0x10, %zmm1, %zmm2
	vpshufd	$0x32, %zmm1, %zmm1
	vpmuludq	%zmm1, %zmm2, %zmm1
	vpaddq	%zmm1, %zmm0, %zmm0
	addq	$16, %rsi
	addq	$16, %rdx
	decq	%rcx
1:
	cmpq	$0, %rcx
	ja	2b
	vmovdqu64	%zmm0, (%rdi)
	vzeroall
	ret
