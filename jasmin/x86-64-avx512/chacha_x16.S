/* ChaCha on sixteen blocks at once, in vector registers of 512 bits: what the kernels share.
 *
 * Cryptol: ChaCha (spec/cryptol). Macros only; the exports are in the other files of this folder.
 *
 * Registers: word i of every block is in zmm<i>, a block in each lane of 32 bits. zmm16-zmm19 hold intermediate values,
 * zmm20 and zmm21 the two halves of the block numbers, zmm22 the numbers of the even lanes and zmm23 those of the odd
 * ones, 64 bits each, zmm24 sixteen in every 64 bits. */

/* The even and the odd numbers, and sixteen. Changes r8 and zmm0. */
.macro chacha_enter_x16 numbers
	vmovdqu64	(\numbers), %zmm22
	vmovdqu64	64(\numbers), %zmm23
	movabsq	$16, %r8
	vmovq	%r8, %xmm0
	vshufi64x2	$0, %zmm0, %zmm0, %zmm24
	vpunpcklqdq	%zmm24, %zmm24, %zmm24
.endm

/* The words before the rounds: those of `start`, but the numbers for words 12 and 13. */
.macro chacha_start_x16 start
	vpunpckldq	%zmm23, %zmm22, %zmm16
	vpunpckhdq	%zmm23, %zmm22, %zmm17
	vpunpcklqdq	%zmm17, %zmm16, %zmm20
	vpunpckhqdq	%zmm17, %zmm16, %zmm21
	vpbroadcastd	(\start), %zmm0
	vpbroadcastd	4(\start), %zmm1
	vpbroadcastd	8(\start), %zmm2
	vpbroadcastd	12(\start), %zmm3
	vpbroadcastd	16(\start), %zmm4
	vpbroadcastd	20(\start), %zmm5
	vpbroadcastd	24(\start), %zmm6
	vpbroadcastd	28(\start), %zmm7
	vpbroadcastd	32(\start), %zmm8
	vpbroadcastd	36(\start), %zmm9
	vpbroadcastd	40(\start), %zmm10
	vpbroadcastd	44(\start), %zmm11
	vmovdqu64	%zmm20, %zmm12
	vmovdqu64	%zmm21, %zmm13
	vpbroadcastd	56(\start), %zmm14
	vpbroadcastd	60(\start), %zmm15
.endm

/* A quarter of two quarter rounds: x += y, z ^= x, z <<<= count. */
.macro chacha_quarter_x16 count, x0, y0, z0, x1, y1, z1
	vpaddd	%zmm\y0, %zmm\x0, %zmm\x0
	vpaddd	%zmm\y1, %zmm\x1, %zmm\x1
	vpxorq	%zmm\x0, %zmm\z0, %zmm\z0
	vpxorq	%zmm\x1, %zmm\z1, %zmm\z1
	vprold	$\count, %zmm\z0, %zmm\z0
	vprold	$\count, %zmm\z1, %zmm\z1
.endm

/* A round: a quarter round on these words of each row. Two by two, and those that wait for each other beside each other in
 * the next round too: in another order some of the rotations, which only two units have, come too late. */
.macro chacha_round_x16 a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3
	chacha_quarter_x16 16, \a0, \b0, \d0, \a1, \b1, \d1
	chacha_quarter_x16 16, \a2, \b2, \d2, \a3, \b3, \d3
	chacha_quarter_x16 12, \c0, \d0, \b0, \c1, \d1, \b1
	chacha_quarter_x16 12, \c2, \d2, \b2, \c3, \d3, \b3
	chacha_quarter_x16 8, \a0, \b0, \d0, \a1, \b1, \d1
	chacha_quarter_x16 8, \a2, \b2, \d2, \a3, \b3, \d3
	chacha_quarter_x16 7, \c0, \d0, \b0, \c1, \d1, \b1
	chacha_quarter_x16 7, \c2, \d2, \b2, \c3, \d3, \b3
.endm

.macro chacha_rounds_x16 count
	.rept	\count / 2
	chacha_round_x16 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	chacha_round_x16 3, 0, 1, 2, 4, 5, 6, 7, 9, 10, 11, 8, 14, 15, 12, 13
	.endr
.endm

/* The words before the rounds, added to those after. */
.macro chacha_add_x16 start, offset, word
	vpbroadcastd	\offset(\start), %zmm16
	vpaddd	%zmm16, %zmm\word, %zmm\word
.endm
.macro chacha_feed_forward_x16 start
	chacha_add_x16 \start, 0, 0
	chacha_add_x16 \start, 4, 1
	chacha_add_x16 \start, 8, 2
	chacha_add_x16 \start, 12, 3
	chacha_add_x16 \start, 16, 4
	chacha_add_x16 \start, 20, 5
	chacha_add_x16 \start, 24, 6
	chacha_add_x16 \start, 28, 7
	chacha_add_x16 \start, 32, 8
	chacha_add_x16 \start, 36, 9
	chacha_add_x16 \start, 40, 10
	chacha_add_x16 \start, 44, 11
	vpaddd	%zmm20, %zmm12, %zmm12
	vpaddd	%zmm21, %zmm13, %zmm13
	chacha_add_x16 \start, 56, 14
	chacha_add_x16 \start, 60, 15
.endm

/* Four words of every block: afterwards register i holds them for lanes i, 4 + i, 8 + i and 12 + i. */
.macro chacha_transpose_words_x16 w0, w1, w2, w3
	vpunpckldq	%zmm\w1, %zmm\w0, %zmm16
	vpunpckhdq	%zmm\w1, %zmm\w0, %zmm17
	vpunpckldq	%zmm\w3, %zmm\w2, %zmm18
	vpunpckhdq	%zmm\w3, %zmm\w2, %zmm19
	vpunpcklqdq	%zmm18, %zmm16, %zmm\w0
	vpunpckhqdq	%zmm18, %zmm16, %zmm\w1
	vpunpcklqdq	%zmm19, %zmm17, %zmm\w2
	vpunpckhqdq	%zmm19, %zmm17, %zmm\w3
.endm

/* The blocks in lanes i, 4 + i, 8 + i and 12 + i, from the registers with their rows, XORed into in_out. */
.macro chacha_output_x16 in_out, offset, r0, r1, r2, r3
	vshufi64x2	$0x44, %zmm\r1, %zmm\r0, %zmm16
	vshufi64x2	$0xee, %zmm\r1, %zmm\r0, %zmm17
	vshufi64x2	$0x44, %zmm\r3, %zmm\r2, %zmm18
	vshufi64x2	$0xee, %zmm\r3, %zmm\r2, %zmm19
	vshufi64x2	$0x88, %zmm18, %zmm16, %zmm\r0
	vshufi64x2	$0xdd, %zmm18, %zmm16, %zmm\r1
	vshufi64x2	$0x88, %zmm19, %zmm17, %zmm\r2
	vshufi64x2	$0xdd, %zmm19, %zmm17, %zmm\r3
	vpxorq	\offset(\in_out), %zmm\r0, %zmm\r0
	vpxorq	\offset+256(\in_out), %zmm\r1, %zmm\r1
	vpxorq	\offset+512(\in_out), %zmm\r2, %zmm\r2
	vpxorq	\offset+768(\in_out), %zmm\r3, %zmm\r3
	vmovdqu64	%zmm\r0, \offset(\in_out)
	vmovdqu64	%zmm\r1, \offset+256(\in_out)
	vmovdqu64	%zmm\r2, \offset+512(\in_out)
	vmovdqu64	%zmm\r3, \offset+768(\in_out)
.endm

/* The whole kernel. */
.macro chacha_xor_blocks_x16 rounds, numbers, start, in_out, n
	chacha_enter_x16 \numbers
	jmp	1f
2:
	chacha_start_x16 \start
	chacha_rounds_x16 \rounds
	chacha_feed_forward_x16 \start
	vpaddq	%zmm24, %zmm22, %zmm22
	vpaddq	%zmm24, %zmm23, %zmm23
	chacha_transpose_words_x16 0, 1, 2, 3
	chacha_transpose_words_x16 4, 5, 6, 7
	chacha_transpose_words_x16 8, 9, 10, 11
	chacha_transpose_words_x16 12, 13, 14, 15
	chacha_output_x16 \in_out, 0, 0, 4, 8, 12
	chacha_output_x16 \in_out, 64, 1, 5, 9, 13
	chacha_output_x16 \in_out, 128, 2, 6, 10, 14
	chacha_output_x16 \in_out, 192, 3, 7, 11, 15
	addq	$1024, \in_out
	decq	\n
1:
	cmpq	$0, \n
	ja	2b
	vmovdqu64	%zmm22, (\numbers)
	vmovdqu64	%zmm23, 64(\numbers)
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
	ret
.endm
