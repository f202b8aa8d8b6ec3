/* veriplex_nh_add_groups_x4: adds the two products of each unit in n >= 0 groups of four units of 16 bytes to sums of NH's
 * four passes: those of the first units of groups to one sum, those of the second units to another, and so on. Each pass
 * uses 64 bytes of a group's key, which begin 16 bytes later for the next pass, and 64 bytes later for the next group.
 *
 * Words 1 and 2 of each unit of the key have changed places, in memory.
 *
 * Cryptol       NH::add_groups
 * C             void veriplex_nh_add_groups_x4(uint64_t sums[4][4][2], const uint8_t *input, const uint8_t *key,
 *                                              size_t n);
 * Arguments     rdi sums: 256 bytes (read and written), rsi input: 64 n bytes (read),
 *               rdx key: 64 n + 48 bytes (read; none if n = 0), rcx n
 * Alignment     none
 * Registers     changes rcx, rdx, rsi, zmm0-zmm11 and the flags, and clears zmm12-zmm15; no stack
 * CPU features  AVX512F
 * Constant time pointers and n are public, what the pointers point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm15 (to their full width) are zero on return */

	// The two sums of each unit in each 16 bytes, a pass in each register.
	vmovdqu64	(%rdi), %zmm4
	vmovdqu64	64(%rdi), %zmm5
	vmovdqu64	128(%rdi), %zmm6
	vmovdqu64	192(%rdi), %zmm7
	jmp	1f
2:
	// Words 1 and 2 of each unit change places: so the factors of a product are in the same 8 bytes.
	vmovdqu64	(%rsi), %zmm0
	vpshufd	$0xd8, %zmm0, %zmm0
	vpaddd	(%rdx), %zmm0, %zmm1
	vpaddd	16(%rdx), %zmm0, %zmm2
	vpaddd	32(%rdx), %zmm0, %zmm3
	vpaddd	48(%rdx), %zmm0, %zmm0
	vpsrlq	$32, %zmm1, %zmm8
	vpsrlq	$32, %zmm2, %zmm9
	vpsrlq	$32, %zmm3, %zmm10
	vpsrlq	$32, %zmm0, %zmm11
	vpmuludq	%zmm8, %zmm1, %zmm1
	vpmuludq	%zmm9, %zmm2, %zmm2
	vpmuludq	%zmm10, %zmm3, %zmm3
	vpmuludq	%zmm11, %zmm0, %zmm0
	vpaddq	%zmm1, %zmm4, %zmm4
	vpaddq	%zmm2, %zmm5, %zmm5
	vpaddq	%zmm3, %zmm6, %zmm6
	vpaddq	%zmm0, %zmm7, %zmm7
	addq	$64, %rsi
	addq	$64, %rdx
	decq	%rcx
1:
	cmpq	$0, %rcx
	ja	2b
	vmovdqu64	%zmm4, (%rdi)
	vmovdqu64	%zmm5, 64(%rdi)
	vmovdqu64	%zmm6, 128(%rdi)
	vmovdqu64	%zmm7, 192(%rdi)
	vzeroall
	ret
