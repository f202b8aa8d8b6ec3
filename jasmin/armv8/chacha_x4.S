/* ChaCha on four blocks at once, in vector registers of 128 bits: what the kernels share.
 *
 * Cryptol: ChaCha (spec/cryptol). Macros only; the exports are in the other files of this folder.
 *
 * Registers: a row of a block in each. Row 0 of the blocks is in v0-v3, row 1 in v4-v7, row 2 in v16-v19, row 3 in
 * v20-v23. v24-v27 hold intermediate values, v28 has the last row of the next block before the rounds (a number of 64
 * bits and the nonce), v29 a one for the number. The calling convention saves v8-v15 for the caller: they are not used.
 * With a word of four blocks in each register instead, rounds would need no moves, but input and output had to be
 * transposed, and three fourths of the words before the rounds would be loaded one by one. */

	// Some targets without an operating system leave these instructions out.
	.arch_extension simd

/* The last row of the first block, and the one. Changes v30. */
.macro chacha_enter_x4 last_row
	ldur	q28, [\last_row]
	movi	v29.8h, #1
	movi	v30.2d, #0
	ext	v29.16b, v29.16b, v30.16b, #14
.endm

/* The rows before the rounds. */
.macro chacha_start_x4 start
	ldp	q0, q4, [\start]
	ldur	q16, [\start, #32]
	mov	v1.16b, v0.16b
	mov	v2.16b, v0.16b
	mov	v3.16b, v0.16b
	mov	v5.16b, v4.16b
	mov	v6.16b, v4.16b
	mov	v7.16b, v4.16b
	mov	v17.16b, v16.16b
	mov	v18.16b, v16.16b
	mov	v19.16b, v16.16b
	mov	v20.16b, v28.16b
	add	v21.2d, v20.2d, v29.2d
	add	v22.2d, v21.2d, v29.2d
	add	v23.2d, v22.2d, v29.2d
.endm

/* x += y, z ^= x, and z rotates left by a count, so right by the other one: in all four blocks, whose registers follow
 * each other. */
.macro chacha_step_x4 left, right, x0, x1, x2, x3, y0, y1, y2, y3, z0, z1, z2, z3
	add	v\x0\().4s, v\x0\().4s, v\y0\().4s
	add	v\x1\().4s, v\x1\().4s, v\y1\().4s
	add	v\x2\().4s, v\x2\().4s, v\y2\().4s
	add	v\x3\().4s, v\x3\().4s, v\y3\().4s
	eor	v24.16b, v\z0\().16b, v\x0\().16b
	eor	v25.16b, v\z1\().16b, v\x1\().16b
	eor	v26.16b, v\z2\().16b, v\x2\().16b
	eor	v27.16b, v\z3\().16b, v\x3\().16b
	shl	v\z0\().4s, v24.4s, #\left
	shl	v\z1\().4s, v25.4s, #\left
	shl	v\z2\().4s, v26.4s, #\left
	shl	v\z3\().4s, v27.4s, #\left
	sri	v\z0\().4s, v24.4s, #\right
	sri	v\z1\().4s, v25.4s, #\right
	sri	v\z2\().4s, v26.4s, #\right
	sri	v\z3\().4s, v27.4s, #\right
.endm

/* A quarter round on each column. */
.macro chacha_columns_x4
	chacha_step_x4 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23
	chacha_step_x4 12, 20, 16, 17, 18, 19, 20, 21, 22, 23, 4, 5, 6, 7
	chacha_step_x4 8, 24, 0, 1, 2, 3, 4, 5, 6, 7, 20, 21, 22, 23
	chacha_step_x4 7, 25, 16, 17, 18, 19, 20, 21, 22, 23, 4, 5, 6, 7
.endm

/* A row of all four blocks, moved by columns: the word at byte `from` comes first. */
.macro chacha_move_x4 from, r0, r1, r2, r3
	ext	v\r0\().16b, v\r0\().16b, v\r0\().16b, #\from
	ext	v\r1\().16b, v\r1\().16b, v\r1\().16b, #\from
	ext	v\r2\().16b, v\r2\().16b, v\r2\().16b, #\from
	ext	v\r3\().16b, v\r3\().16b, v\r3\().16b, #\from
.endm

/* Those of rows 0, 2 and 3. Row 1, on which the next round waits, stays. */
.macro chacha_turn_x4 row0, row2, row3
	chacha_move_x4 \row0, 0, 1, 2, 3
	chacha_move_x4 \row3, 20, 21, 22, 23
	chacha_move_x4 \row2, 16, 17, 18, 19
.endm

.macro chacha_rounds_x4 count
	.rept	\count / 2
	chacha_columns_x4
	chacha_turn_x4 12, 4, 8
	chacha_columns_x4
	chacha_turn_x4 4, 12, 8
	.endr
.endm

/* A row before the rounds, added to that of all four blocks. */
.macro chacha_add_x4 row, r0, r1, r2, r3
	add	v\r0\().4s, v\r0\().4s, v\row\().4s
	add	v\r1\().4s, v\r1\().4s, v\row\().4s
	add	v\r2\().4s, v\r2\().4s, v\row\().4s
	add	v\r3\().4s, v\r3\().4s, v\row\().4s
.endm

/* The last row of a block, added to its row. Afterwards the number is that of the next block. */
.macro chacha_add_last_x4 row
	add	v\row\().4s, v\row\().4s, v28.4s
	add	v28.2d, v28.2d, v29.2d
.endm

/* The rows before the rounds, added to those after. Afterwards the number is four higher. */
.macro chacha_feed_forward_x4 start
	ldp	q24, q25, [\start]
	ldur	q26, [\start, #32]
	chacha_add_x4 24, 0, 1, 2, 3
	chacha_add_x4 25, 4, 5, 6, 7
	chacha_add_x4 26, 16, 17, 18, 19
	chacha_add_last_x4 20
	chacha_add_last_x4 21
	chacha_add_last_x4 22
	chacha_add_last_x4 23
.endm

/* A block, from the registers with its rows, XORed into in_out. */
.macro chacha_output_x4 in_out, at, r0, r1, r2, r3
	ldp	q24, q25, [\in_out, #\at]
	ldp	q26, q27, [\in_out, #\at + 32]
	eor	v24.16b, v24.16b, v\r0\().16b
	eor	v25.16b, v25.16b, v\r1\().16b
	eor	v26.16b, v26.16b, v\r2\().16b
	eor	v27.16b, v27.16b, v\r3\().16b
	stp	q24, q25, [\in_out, #\at]
	stp	q26, q27, [\in_out, #\at + 32]
.endm

/* Zeros in every register that was used, to its full width where the CPU has wider ones (SVE). */
.macro chacha_clear_x4
	.irp	v, v0.2d, v1.2d, v2.2d, v3.2d, v4.2d, v5.2d, v6.2d, v7.2d
	movi	\v, #0
	.endr
	.irp	v, v16.2d, v17.2d, v18.2d, v19.2d, v20.2d, v21.2d, v22.2d, v23.2d
	movi	\v, #0
	.endr
	.irp	v, v24.2d, v25.2d, v26.2d, v27.2d, v28.2d, v29.2d, v30.2d, v31.2d
	movi	\v, #0
	.endr
.endm

/* The whole kernel. */
.macro chacha_xor_blocks_x4 rounds, last_row, start, in_out, n
	chacha_enter_x4 \last_row
	b	1f
2:
	chacha_start_x4 \start
	chacha_rounds_x4 \rounds
	chacha_feed_forward_x4 \start
	chacha_output_x4 \in_out, 0, 0, 4, 16, 20
	chacha_output_x4 \in_out, 64, 1, 5, 17, 21
	chacha_output_x4 \in_out, 128, 2, 6, 18, 22
	chacha_output_x4 \in_out, 192, 3, 7, 19, 23
	add	\in_out, \in_out, #256
	sub	\n, \n, #1
1:
	cbnz	\n, 2b
	stur	q28, [\last_row]
	chacha_clear_x4
	ret
.endm
