/* Simpira-1024 (Simpira v2 with b = 8) on eight states at once, in vector registers of 512 bits: what the kernels share.
 *
 * Cryptol: Simpira1024, Lanes (spec/cryptol). Macros only; the exports are in the other files of this folder.
 *
 * Registers: word i of the states in lanes 0 to 3 is in zmm<i>, that of lanes 4 to 7 in zmm1<i>; zmm24-zmm31 hold calls
 * of F, zmm19 the padding, the others intermediate values. In memory a word of lane 0 lies beside the same word of the
 * other lanes, as in the registers.
 *
 * The round constants are an argument, each four times, so that AESENC can take them from memory and no vector
 * instruction is spent on them. */

/* One round, on both halves of the lanes: four calls of F(c, x) = AESENC(AESENC(x, K(c)), 0) for four constants, which
 * lie at k + offset: word d ^= F(c, word s). The second AES round takes the destination as its key, so the XOR costs
 * nothing. The eight calls do not depend on each other: enough to keep the AES units busy. */
.macro simpira_round_x8 k, offset, s0, d0, s1, d1, s2, d2, s3, d3
	vaesenc	\offset(\k), %zmm\s0, %zmm24
	vaesenc	\offset(\k), %zmm1\s0, %zmm28
	vaesenc	\offset+64(\k), %zmm\s1, %zmm25
	vaesenc	\offset+64(\k), %zmm1\s1, %zmm29
	vaesenc	\offset+128(\k), %zmm\s2, %zmm26
	vaesenc	\offset+128(\k), %zmm1\s2, %zmm30
	vaesenc	\offset+192(\k), %zmm\s3, %zmm27
	vaesenc	\offset+192(\k), %zmm1\s3, %zmm31
	vaesenc	%zmm\d0, %zmm24, %zmm\d0
	vaesenc	%zmm1\d0, %zmm28, %zmm1\d0
	vaesenc	%zmm\d1, %zmm25, %zmm\d1
	vaesenc	%zmm1\d1, %zmm29, %zmm1\d1
	vaesenc	%zmm\d2, %zmm26, %zmm\d2
	vaesenc	%zmm1\d2, %zmm30, %zmm1\d2
	vaesenc	%zmm\d3, %zmm27, %zmm\d3
	vaesenc	%zmm1\d3, %zmm31, %zmm1\d3
.endm

/* Six of the 18 rounds: the period of the index pattern s = [0,1,6,5,4,3], t = [2,7]. */
.macro simpira_pass_x8 k, offset
	simpira_round_x8 \k, \offset, 0, 1, 2, 3, 4, 5, 6, 7
	simpira_round_x8 \k, \offset+256, 1, 6, 7, 0, 3, 4, 5, 2
	simpira_round_x8 \k, \offset+512, 6, 5, 2, 1, 0, 3, 4, 7
	simpira_round_x8 \k, \offset+768, 5, 4, 7, 6, 1, 0, 3, 2
	simpira_round_x8 \k, \offset+1024, 4, 3, 2, 5, 6, 1, 0, 7
	simpira_round_x8 \k, \offset+1280, 3, 0, 7, 4, 5, 6, 1, 2
.endm

.macro simpira_permutation_x8 k
	simpira_pass_x8 \k, 0
	simpira_pass_x8 \k, 1536
	simpira_pass_x8 \k, 3072
.endm

/* The same, with the output of the previous block between the first rounds. simpira_put_x8 left its words in the memory
 * of the states. This takes loads and stores, which need none of the units that AESENC needs. */
.macro simpira_permutation_and_output_x8 k, states, pointers, offset
	simpira_round_x8 \k, 0, 0, 1, 2, 3, 4, 5, 6, 7
	simpira_output_x8 \states, \pointers, \offset, 0, 0
	simpira_output_x8 \states, \pointers, \offset, 8, 16
	simpira_round_x8 \k, 256, 1, 6, 7, 0, 3, 4, 5, 2
	simpira_output_x8 \states, \pointers, \offset, 16, 32
	simpira_output_x8 \states, \pointers, \offset, 24, 48
	simpira_round_x8 \k, 512, 6, 5, 2, 1, 0, 3, 4, 7
	simpira_output_x8 \states, \pointers, \offset, 32, 64
	simpira_output_x8 \states, \pointers, \offset, 40, 80
	simpira_round_x8 \k, 768, 5, 4, 7, 6, 1, 0, 3, 2
	simpira_output_x8 \states, \pointers, \offset, 48, 96
	simpira_output_x8 \states, \pointers, \offset, 56, 112
	simpira_round_x8 \k, 1024, 4, 3, 2, 5, 6, 1, 0, 7
	simpira_round_x8 \k, 1280, 3, 0, 7, 4, 5, 6, 1, 2
	simpira_pass_x8 \k, 1536
	simpira_pass_x8 \k, 3072
.endm

.macro simpira_load_x8 states
	vmovdqu64	(\states), %zmm0
	vmovdqu64	64(\states), %zmm10
	vmovdqu64	128(\states), %zmm1
	vmovdqu64	192(\states), %zmm11
	vmovdqu64	256(\states), %zmm2
	vmovdqu64	320(\states), %zmm12
	vmovdqu64	384(\states), %zmm3
	vmovdqu64	448(\states), %zmm13
	vmovdqu64	512(\states), %zmm4
	vmovdqu64	576(\states), %zmm14
	vmovdqu64	640(\states), %zmm5
	vmovdqu64	704(\states), %zmm15
	vmovdqu64	768(\states), %zmm6
	vmovdqu64	832(\states), %zmm16
	vmovdqu64	896(\states), %zmm7
	vmovdqu64	960(\states), %zmm17
.endm

.macro simpira_store_x8 states
	vmovdqu64	%zmm0, (\states)
	vmovdqu64	%zmm10, 64(\states)
	vmovdqu64	%zmm1, 128(\states)
	vmovdqu64	%zmm11, 192(\states)
	vmovdqu64	%zmm2, 256(\states)
	vmovdqu64	%zmm12, 320(\states)
	vmovdqu64	%zmm3, 384(\states)
	vmovdqu64	%zmm13, 448(\states)
	vmovdqu64	%zmm4, 512(\states)
	vmovdqu64	%zmm14, 576(\states)
	vmovdqu64	%zmm5, 640(\states)
	vmovdqu64	%zmm15, 704(\states)
	vmovdqu64	%zmm6, 768(\states)
	vmovdqu64	%zmm16, 832(\states)
	vmovdqu64	%zmm7, 896(\states)
	vmovdqu64	%zmm17, 960(\states)
.endm

/* The padding of a full block, 0x81 at byte 15 of each lane: to be XORed into word 5. Changes `number`. On macOS, $0 has
 * another meaning in macros without parameters. */
.macro simpira_padding_x8 number=%r8
	movabsq	$0x8100000000000000, \number
	vmovq	\number, %xmm8
	vpslldq	$8, %xmm8, %xmm8
	vshufi64x2	$0, %zmm8, %zmm8, %zmm19
.endm

/* The blocks of four lanes, offset bytes after the pointers that lie at `pointers` plus `first` bytes: words 0 to 3 in
 * zmm20-zmm23, word 4 in zmm8, bytes 78 to 93 in zmm9. A load puts 64 bytes of one lane into a register; afterwards it
 * holds 16 bytes of each lane. Changes r9-r11. */
.macro simpira_load_blocks_x8 pointers, first, offset
	movq	\first(\pointers), %r9
	movq	\first+8(\pointers), %r10
	movq	\first+16(\pointers), %r11
	vmovdqu64	(%r9,\offset), %zmm20
	vmovdqu64	(%r10,\offset), %zmm21
	vmovdqu64	(%r11,\offset), %zmm22
	vmovdqu	62(%r9,\offset), %ymm8
	vinserti64x4	$1, 62(%r10,\offset), %zmm8, %zmm8
	movq	\first+24(\pointers), %r9
	vmovdqu	62(%r11,\offset), %ymm9
	vmovdqu64	(%r9,\offset), %zmm23
	vinserti64x4	$1, 62(%r9,\offset), %zmm9, %zmm9
	vshufi64x2	$0x44, %zmm21, %zmm20, %zmm24
	vshufi64x2	$0xee, %zmm21, %zmm20, %zmm25
	vshufi64x2	$0x44, %zmm23, %zmm22, %zmm26
	vshufi64x2	$0xee, %zmm23, %zmm22, %zmm27
	vshufi64x2	$0x88, %zmm26, %zmm24, %zmm20
	vshufi64x2	$0xdd, %zmm26, %zmm24, %zmm21
	vshufi64x2	$0x88, %zmm27, %zmm25, %zmm22
	vshufi64x2	$0xdd, %zmm27, %zmm25, %zmm23
	vshufi64x2	$0x88, %zmm9, %zmm8, %zmm18
	vshufi64x2	$0xdd, %zmm9, %zmm8, %zmm9
	vpalignr	$2, %zmm18, %zmm9, %zmm8
.endm

/* Moves words 0 to 4 and bytes 78 to 93 of a block of four lanes into the memory of the states, to the first five words
 * and the last. simpira_output_x8 takes them from there. While the loop runs, the states are in registers. */
.macro simpira_put_x8 states, first, w0, w1, w2, w3, w4, end
	vmovdqu64	%zmm\w0, \first(\states)
	vmovdqu64	%zmm\w1, \first+128(\states)
	vmovdqu64	%zmm\w2, \first+256(\states)
	vmovdqu64	%zmm\w3, \first+384(\states)
	vmovdqu64	%zmm\w4, \first+512(\states)
	vmovdqu64	%zmm\end, \first+896(\states)
.endm

/* Writes the block of one lane to its place. Changes r9, zmm8 and zmm9. */
.macro simpira_output_x8 states, pointers, offset, pointer, first
	movq	\pointer(\pointers), %r9
	vmovdqu	\first(\states), %xmm8
	vmovdqu	\first+128(\states), %xmm9
	vmovdqu	%xmm8, (%r9,\offset)
	vmovdqu	%xmm9, 16(%r9,\offset)
	vmovdqu	\first+256(\states), %xmm8
	vmovdqu	\first+384(\states), %xmm9
	vmovdqu	%xmm8, 32(%r9,\offset)
	vmovdqu	%xmm9, 48(%r9,\offset)
	vmovdqu	\first+512(\states), %xmm8
	vmovdqu	\first+896(\states), %xmm9
	vmovdqu	%xmm8, 64(%r9,\offset)
	vmovdqu	%xmm9, 78(%r9,\offset)
.endm

/* Zeros in all vector registers that are used. */
.macro simpira_clear_x8
	vzeroall
	vpxorq	%zmm16, %zmm16, %zmm16
	vpxorq	%zmm17, %zmm17, %zmm17
	vpxorq	%zmm18, %zmm18, %zmm18
	vpxorq	%zmm19, %zmm19, %zmm19
	vpxorq	%zmm20, %zmm20, %zmm20
	vpxorq	%zmm21, %zmm21, %zmm21
	vpxorq	%zmm22, %zmm22, %zmm22
	vpxorq	%zmm23, %zmm23, %zmm23
	vpxorq	%zmm24, %zmm24, %zmm24
	vpxorq	%zmm25, %zmm25, %zmm25
	vpxorq	%zmm26, %zmm26, %zmm26
	vpxorq	%zmm27, %zmm27, %zmm27
	vpxorq	%zmm28, %zmm28, %zmm28
	vpxorq	%zmm29, %zmm29, %zmm29
	vpxorq	%zmm30, %zmm30, %zmm30
	vpxorq	%zmm31, %zmm31, %zmm31
.endm
