/* ChaCha on six blocks at once, in vector registers of 256 bits: what the kernels share.
 *
 * Cryptol: ChaCha (spec/cryptol). Macros only; the exports are in the other files of this folder. Jasmin has these
 * instructions, but not VZEROUPPER, without which later code that uses SSE would be slow.
 *
 * Registers: a row of two blocks in each, the first in the low half. Row r of blocks 2g and 2g + 1 is in ymm<3r + g>.
 * ymm12 and ymm13 have the shuffles that rotate by 16 and by 8, ymm14 the last rows before the rounds (a number of 64
 * bits and the nonce), ymm15 intermediate values. With a word of eight blocks in each register instead, rounds would
 * need no moves, but no register would be left for intermediate values, and there is no memory for them. */

/* Both halves from two constants, by way of ymm15. Changes r8. */
.macro chacha_constant_x6 low, high, to
	movabsq	$\low, %r8
	vmovq	%r8, %xmm\to
	movabsq	$\high, %r8
	vmovq	%r8, %xmm15
	vpunpcklqdq	%ymm15, %ymm\to, %ymm\to
	vinserti128	$1, %xmm\to, %ymm\to, %ymm\to
.endm

/* The shuffles, and the last rows of blocks 0 and 1. Changes r8, ymm0 and ymm15. */
.macro chacha_enter_x6 last_row
	chacha_constant_x6 0x0504070601000302, 0x0d0c0f0e09080b0a, 12
	chacha_constant_x6 0x0605040702010003, 0x0e0d0c0f0a09080b, 13
	movabsq	$1, %r8
	vmovq	%r8, %xmm15
	vpxor	%ymm0, %ymm0, %ymm0
	vinserti128	$1, %xmm15, %ymm0, %ymm0
	vbroadcasti128	(\last_row), %ymm14
	vpaddq	%ymm0, %ymm14, %ymm14
.endm

/* Two for each number, in ymm15. Changes `number`. On macOS, $1 has another meaning in macros without parameters. */
.macro chacha_two_x6 number=%r8
	movabsq	$2, \number
	vmovq	\number, %xmm15
	vinserti128	$1, %xmm15, %ymm15, %ymm15
.endm

/* The rows before the rounds. */
.macro chacha_start_x6 start
	chacha_two_x6
	vbroadcasti128	(\start), %ymm0
	vbroadcasti128	(\start), %ymm1
	vbroadcasti128	(\start), %ymm2
	vbroadcasti128	16(\start), %ymm3
	vbroadcasti128	16(\start), %ymm4
	vbroadcasti128	16(\start), %ymm5
	vbroadcasti128	32(\start), %ymm6
	vbroadcasti128	32(\start), %ymm7
	vbroadcasti128	32(\start), %ymm8
	vmovdqu	%ymm14, %ymm9
	vpaddq	%ymm15, %ymm9, %ymm10
	vpaddq	%ymm15, %ymm10, %ymm11
.endm

/* x += y, z ^= x, and z rotates as a shuffle says. Here and below, the rows are named by their first register. */
.macro chacha_shuffle_x6 shuffle, x0, x1, x2, y0, y1, y2, z0, z1, z2
	vpaddd	%ymm\y0, %ymm\x0, %ymm\x0
	vpaddd	%ymm\y1, %ymm\x1, %ymm\x1
	vpaddd	%ymm\y2, %ymm\x2, %ymm\x2
	vpxor	%ymm\x0, %ymm\z0, %ymm\z0
	vpxor	%ymm\x1, %ymm\z1, %ymm\z1
	vpxor	%ymm\x2, %ymm\z2, %ymm\z2
	vpshufb	%ymm\shuffle, %ymm\z0, %ymm\z0
	vpshufb	%ymm\shuffle, %ymm\z1, %ymm\z1
	vpshufb	%ymm\shuffle, %ymm\z2, %ymm\z2
.endm

/* The same for row 2, row 3 and row 1, which rotates left by a count, so right by the other one. */
.macro chacha_shift_x6 left, right
	vpaddd	%ymm9, %ymm6, %ymm6
	vpaddd	%ymm10, %ymm7, %ymm7
	vpaddd	%ymm11, %ymm8, %ymm8
	vpxor	%ymm6, %ymm3, %ymm3
	vpxor	%ymm7, %ymm4, %ymm4
	vpxor	%ymm8, %ymm5, %ymm5
	vpslld	$\left, %ymm3, %ymm15
	vpsrld	$\right, %ymm3, %ymm3
	vpor	%ymm3, %ymm15, %ymm3
	vpslld	$\left, %ymm4, %ymm15
	vpsrld	$\right, %ymm4, %ymm4
	vpor	%ymm4, %ymm15, %ymm4
	vpslld	$\left, %ymm5, %ymm15
	vpsrld	$\right, %ymm5, %ymm5
	vpor	%ymm5, %ymm15, %ymm5
.endm

/* A quarter round on each column. */
.macro chacha_columns_x6
	chacha_shuffle_x6 12, 0, 1, 2, 3, 4, 5, 9, 10, 11
	chacha_shift_x6 12, 20
	chacha_shuffle_x6 13, 0, 1, 2, 3, 4, 5, 9, 10, 11
	chacha_shift_x6 7, 25
.endm

/* The words of rows 0, 2 and 3 move by columns. Row 1, on which the next round waits, stays. */
.macro chacha_turn_x6 row0, row2, row3
	vpshufd	$\row0, %ymm0, %ymm0
	vpshufd	$\row0, %ymm1, %ymm1
	vpshufd	$\row0, %ymm2, %ymm2
	vpshufd	$\row3, %ymm9, %ymm9
	vpshufd	$\row3, %ymm10, %ymm10
	vpshufd	$\row3, %ymm11, %ymm11
	vpshufd	$\row2, %ymm6, %ymm6
	vpshufd	$\row2, %ymm7, %ymm7
	vpshufd	$\row2, %ymm8, %ymm8
.endm

.macro chacha_rounds_x6 count
	.rept	\count / 2
	chacha_columns_x6
	chacha_turn_x6 0x93, 0x39, 0x4e
	chacha_columns_x6
	chacha_turn_x6 0x39, 0x93, 0x4e
	.endr
.endm

/* The rows before the rounds, added to those after. Afterwards the numbers are six higher. */
.macro chacha_feed_forward_x6 start
	vbroadcasti128	(\start), %ymm15
	vpaddd	%ymm15, %ymm0, %ymm0
	vpaddd	%ymm15, %ymm1, %ymm1
	vpaddd	%ymm15, %ymm2, %ymm2
	vbroadcasti128	16(\start), %ymm15
	vpaddd	%ymm15, %ymm3, %ymm3
	vpaddd	%ymm15, %ymm4, %ymm4
	vpaddd	%ymm15, %ymm5, %ymm5
	vbroadcasti128	32(\start), %ymm15
	vpaddd	%ymm15, %ymm6, %ymm6
	vpaddd	%ymm15, %ymm7, %ymm7
	vpaddd	%ymm15, %ymm8, %ymm8
	chacha_two_x6
	vpaddd	%ymm14, %ymm9, %ymm9
	vpaddq	%ymm15, %ymm14, %ymm14
	vpaddd	%ymm14, %ymm10, %ymm10
	vpaddq	%ymm15, %ymm14, %ymm14
	vpaddd	%ymm14, %ymm11, %ymm11
	vpaddq	%ymm15, %ymm14, %ymm14
.endm

/* Two blocks, from the registers with their rows, XORed into in_out. */
.macro chacha_output_x6 in_out, at, r0, r1, r2, r3
	vperm2i128	$0x20, %ymm\r1, %ymm\r0, %ymm15
	vperm2i128	$0x31, %ymm\r1, %ymm\r0, %ymm\r0
	vpxor	\at(\in_out), %ymm15, %ymm15
	vpxor	\at+64(\in_out), %ymm\r0, %ymm\r0
	vmovdqu	%ymm15, \at(\in_out)
	vmovdqu	%ymm\r0, \at+64(\in_out)
	vperm2i128	$0x20, %ymm\r3, %ymm\r2, %ymm15
	vperm2i128	$0x31, %ymm\r3, %ymm\r2, %ymm\r2
	vpxor	\at+32(\in_out), %ymm15, %ymm15
	vpxor	\at+96(\in_out), %ymm\r2, %ymm\r2
	vmovdqu	%ymm15, \at+32(\in_out)
	vmovdqu	%ymm\r2, \at+96(\in_out)
.endm

/* The whole kernel. */
.macro chacha_xor_blocks_x6 rounds, last_row, start, in_out, n
	chacha_enter_x6 \last_row
	jmp	1f
2:
	chacha_start_x6 \start
	chacha_rounds_x6 \rounds
	chacha_feed_forward_x6 \start
	chacha_output_x6 \in_out, 0, 0, 3, 6, 9
	chacha_output_x6 \in_out, 128, 1, 4, 7, 10
	chacha_output_x6 \in_out, 256, 2, 5, 8, 11
	addq	$384, \in_out
	decq	\n
1:
	cmpq	$0, \n
	ja	2b
	vmovdqu	%xmm14, (\last_row)
	vzeroall
	ret
.endm
