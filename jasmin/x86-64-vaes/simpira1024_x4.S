/* Simpira-1024 (Simpira v2 with b = 8) on four states at once, in vector registers of 256 bits: what the kernels share.
 *
 * Cryptol: Simpira1024, Lanes (spec/cryptol). Macros only; the exports are in the other files of this folder. Jasmin has
 * these instructions, but not VZEROUPPER, without which later code that uses SSE would be slow.
 *
 * Registers: word i of the states in lanes 0 and 1 is in ymm<i>, that of lanes 2 and 3 in ymm<8 + i>. In memory a word of
 * a lane lies beside the same word of the other lanes. There are eight lanes, so words are 128 bytes apart.
 *
 * No register is left for intermediate values. So one word of each state is always in its place in memory, and its
 * registers hold the intermediate values. It is a different word in each round: the next destination is written there,
 * and the AES round that takes it as its key reads it there. Before and after the permutation it is word 1.
 *
 * The round constants are an argument, each four times, so that AESENC can take them from memory. */

/* A call of F(c, x) = AESENC(AESENC(x, K(c)), 0) on all four lanes: word d ^= F(c, word s), with K(c) at k + offset. The
 * second AES round takes the destination as its key, so the XOR costs nothing. Word m is in memory. Registers of
 * lanes 2 and 3 are eight after those of lanes 0 and 1. */
.macro simpira_call_x4 k, offset, m, m2, s, s2, d, d2
	vaesenc	\offset(\k), %ymm\s, %ymm\m
	vaesenc	\offset(\k), %ymm\s2, %ymm\m2
	vaesenc	%ymm\d, %ymm\m, %ymm\d
	vaesenc	%ymm\d2, %ymm\m2, %ymm\d2
.endm

/* The last call of a round, whose destination is in memory: it goes to registers, and the source to memory. */
.macro simpira_last_call_x4 states, k, offset, s, s2, d, d2
	vaesenc	\offset(\k), %ymm\s, %ymm\d
	vaesenc	\offset(\k), %ymm\s2, %ymm\d2
	vmovdqu	%ymm\s, 128*\s(\states)
	vmovdqu	%ymm\s2, 128*\s+32(\states)
	vaesenc	128*\d(\states), %ymm\d, %ymm\d
	vaesenc	128*\d+32(\states), %ymm\d2, %ymm\d2
.endm

/* Six of the 18 rounds: the period of the index pattern s = [0,1,6,5,4,3], t = [2,7]. */
.macro simpira_pass_x4 states, k, offset
	simpira_call_x4 \k, \offset+64, 1, 9, 2, 10, 3, 11
	simpira_call_x4 \k, \offset+128, 1, 9, 4, 12, 5, 13
	simpira_call_x4 \k, \offset+192, 1, 9, 6, 14, 7, 15
	simpira_last_call_x4 \states, \k, \offset+0, 0, 8, 1, 9
	simpira_call_x4 \k, \offset+256, 0, 8, 1, 9, 6, 14
	simpira_call_x4 \k, \offset+384, 0, 8, 3, 11, 4, 12
	simpira_call_x4 \k, \offset+448, 0, 8, 5, 13, 2, 10
	simpira_last_call_x4 \states, \k, \offset+320, 7, 15, 0, 8
	simpira_call_x4 \k, \offset+512, 7, 15, 6, 14, 5, 13
	simpira_call_x4 \k, \offset+576, 7, 15, 2, 10, 1, 9
	simpira_call_x4 \k, \offset+640, 7, 15, 0, 8, 3, 11
	simpira_last_call_x4 \states, \k, \offset+704, 4, 12, 7, 15
	simpira_call_x4 \k, \offset+832, 4, 12, 7, 15, 6, 14
	simpira_call_x4 \k, \offset+896, 4, 12, 1, 9, 0, 8
	simpira_call_x4 \k, \offset+960, 4, 12, 3, 11, 2, 10
	simpira_last_call_x4 \states, \k, \offset+768, 5, 13, 4, 12
	simpira_call_x4 \k, \offset+1024, 5, 13, 4, 12, 3, 11
	simpira_call_x4 \k, \offset+1152, 5, 13, 6, 14, 1, 9
	simpira_call_x4 \k, \offset+1216, 5, 13, 0, 8, 7, 15
	simpira_last_call_x4 \states, \k, \offset+1088, 2, 10, 5, 13
	simpira_call_x4 \k, \offset+1280, 2, 10, 3, 11, 0, 8
	simpira_call_x4 \k, \offset+1344, 2, 10, 7, 15, 4, 12
	simpira_call_x4 \k, \offset+1408, 2, 10, 5, 13, 6, 14
	simpira_last_call_x4 \states, \k, \offset+1472, 1, 9, 2, 10
.endm

.macro simpira_permutation_x4 states, k
	simpira_pass_x4 \states, \k, 0
	simpira_pass_x4 \states, \k, 1536
	simpira_pass_x4 \states, \k, 3072
.endm

/* All words but word 1. */
.macro simpira_load_x4 states
	vmovdqu	0(\states), %ymm0
	vmovdqu	32(\states), %ymm8
	vmovdqu	256(\states), %ymm2
	vmovdqu	288(\states), %ymm10
	vmovdqu	384(\states), %ymm3
	vmovdqu	416(\states), %ymm11
	vmovdqu	512(\states), %ymm4
	vmovdqu	544(\states), %ymm12
	vmovdqu	640(\states), %ymm5
	vmovdqu	672(\states), %ymm13
	vmovdqu	768(\states), %ymm6
	vmovdqu	800(\states), %ymm14
	vmovdqu	896(\states), %ymm7
	vmovdqu	928(\states), %ymm15
.endm

.macro simpira_store_x4 states
	vmovdqu	%ymm0, 0(\states)
	vmovdqu	%ymm8, 32(\states)
	vmovdqu	%ymm2, 256(\states)
	vmovdqu	%ymm10, 288(\states)
	vmovdqu	%ymm3, 384(\states)
	vmovdqu	%ymm11, 416(\states)
	vmovdqu	%ymm4, 512(\states)
	vmovdqu	%ymm12, 544(\states)
	vmovdqu	%ymm5, 640(\states)
	vmovdqu	%ymm13, 672(\states)
	vmovdqu	%ymm6, 768(\states)
	vmovdqu	%ymm14, 800(\states)
	vmovdqu	%ymm7, 896(\states)
	vmovdqu	%ymm15, 928(\states)
.endm

/* The pointers to the blocks of the four lanes into r8-r11. */
.macro simpira_pointers_x4 pointers
	movq	(\pointers), %r8
	movq	8(\pointers), %r9
	movq	16(\pointers), %r10
	movq	24(\pointers), %r11
.endm

/* Sixteen bytes of each of two lanes. */
.macro simpira_load_pair_x4 at, p, q, offset, x
	vmovdqu	\at(\p,\offset), %xmm\x
	vinserti128	$1, \at(\q,\offset), %ymm\x, %ymm\x
.endm

.macro simpira_store_pair_x4 at, p, q, offset, x
	vmovdqu	%xmm\x, \at(\p,\offset)
	vextracti128	$1, %ymm\x, \at(\q,\offset)
.endm

/* The pointers to the blocks of two lanes into r9 and r10. */
.macro simpira_pair_pointers_x4 at, pointers
	movq	\at(\pointers), %r9
	movq	\at+8(\pointers), %r10
.endm

/* The padding of a full block, 0x81 at byte 95 of each state, into word 5. Changes `number` and ymm1. On macOS, $0 has
 * another meaning in macros without parameters. */
.macro simpira_pad_x4 number=%r8
	movabsq	$0x8100000000000000, \number
	vmovq	\number, %xmm1
	vpslldq	$8, %xmm1, %xmm1
	vinserti128	$1, %xmm1, %ymm1, %ymm1
	vpxor	%ymm1, %ymm5, %ymm5
	vpxor	%ymm1, %ymm13, %ymm13
.endm
