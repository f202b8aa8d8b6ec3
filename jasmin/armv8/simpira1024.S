/* Simpira-1024 (Simpira v2 with b = 8) on eight 16-byte words in vector registers: what the kernels share.
 *
 * Cryptol: Simpira1024 (spec/cryptol). Macros only; the exports are in the other files of this folder, one per file.
 *
 * Registers: word i of the state is in v<i> or in v2<i>; v16-v19 hold calls of F, v28-v31 their constants. The calling
 * convention saves v8-v15 for the caller: they are not used.
 *
 * The round constants are an argument, not a global: so the code refers to no address, and its bytes are the same
 * wherever it is linked. */

	.arch_extension aes

/* Four calls of F(c, x) = AESENC(AESENC(x, K(c)), 0) for four constants, which lie at k + offset: t = F(c, t ^ source).
 * AESE adds its key before SubBytes. So the key of its first AESE is the other half of the source, which costs
 * nothing, and K(c) is that of its second. The sources are words s0 to s3 in the registers from, v or v2; the first t
 * is v16, the others are v1<t1>, v1<t2>, v1<t3>. */
.macro simpira_f k, offset, from, s0, s1, s2, s3, t1, t2, t3
	ldp	q28, q29, [\k, #\offset]
	ldp	q30, q31, [\k, #\offset + 32]
	aese	v16.16b, \from\s0\().16b
	aesmc	v16.16b, v16.16b
	aese	v1\t1\().16b, \from\s1\().16b
	aesmc	v1\t1\().16b, v1\t1\().16b
	aese	v1\t2\().16b, \from\s2\().16b
	aesmc	v1\t2\().16b, v1\t2\().16b
	aese	v1\t3\().16b, \from\s3\().16b
	aesmc	v1\t3\().16b, v1\t3\().16b
	aese	v16.16b, v28.16b
	aesmc	v16.16b, v16.16b
	aese	v1\t1\().16b, v29.16b
	aesmc	v1\t1\().16b, v1\t1\().16b
	aese	v1\t2\().16b, v30.16b
	aesmc	v1\t2\().16b, v1\t2\().16b
	aese	v1\t3\().16b, v31.16b
	aesmc	v1\t3\().16b, v1\t3\().16b
.endm

/* The end of a round: its four destinations, words d0 to d3, are what they were in the registers from, XORed with
 * the results of F. They go to the registers to. */
.macro simpira_xor from, to, d0, d1, d2, d3, t1, t2, t3
	eor	\to\d0\().16b, \from\d0\().16b, v16.16b
	eor	\to\d1\().16b, \from\d1\().16b, v1\t1\().16b
	eor	\to\d2\().16b, \from\d2\().16b, v1\t2\().16b
	eor	\to\d3\().16b, \from\d3\().16b, v1\t3\().16b
.endm

/* The end of one round, and F in the next. The destinations of a round are the sources of the next: F takes them as
 * they are after F of this round and before its XOR, in two halves. The XOR is thus not on the way from one round to
 * the next, which is four chains of AES rounds. */
.macro simpira_round k, offset, from, to, s0, s1, s2, s3, t1, t2, t3
	simpira_xor	\from, \to, \s0, \s1, \s2, \s3, \t1, \t2, \t3
	simpira_f	\k, \offset, \from, \s0, \s1, \s2, \s3, \t1, \t2, \t3
.endm

/* The 18 rounds, from v0-v7 to v20-v27; k points to the constants, 128 bytes into them (the offsets of ldp reach
 * from -1024 to 1008). Three times the six rounds of the index pattern s = [0,1,6,5,4,3], t = [2,7], each with its
 * sources. */
.macro simpira_permutation k
	movi	v16.2d, #0
	movi	v17.2d, #0
	movi	v18.2d, #0
	movi	v19.2d, #0
	simpira_f	\k, -128, v, 0, 2, 4, 6, 7, 8, 9
	simpira_round	\k, -64, v, v2, 1, 7, 3, 5, 9, 7, 8
	simpira_round	\k, 0, v, v2, 6, 2, 0, 4, 8, 9, 7
	simpira_round	\k, 64, v2, v, 5, 7, 1, 3, 7, 8, 9
	simpira_round	\k, 128, v2, v, 4, 2, 6, 0, 9, 7, 8
	simpira_round	\k, 192, v, v2, 3, 7, 5, 1, 8, 9, 7

	simpira_round	\k, 256, v, v2, 0, 2, 4, 6, 7, 8, 9
	simpira_round	\k, 320, v2, v, 1, 7, 3, 5, 9, 7, 8
	simpira_round	\k, 384, v2, v, 6, 2, 0, 4, 8, 9, 7
	simpira_round	\k, 448, v, v2, 5, 7, 1, 3, 7, 8, 9
	simpira_round	\k, 512, v, v2, 4, 2, 6, 0, 9, 7, 8
	simpira_round	\k, 576, v2, v, 3, 7, 5, 1, 8, 9, 7

	simpira_round	\k, 640, v2, v, 0, 2, 4, 6, 7, 8, 9
	simpira_round	\k, 704, v, v2, 1, 7, 3, 5, 9, 7, 8
	simpira_round	\k, 768, v, v2, 6, 2, 0, 4, 8, 9, 7
	simpira_round	\k, 832, v2, v, 5, 7, 1, 3, 7, 8, 9
	simpira_round	\k, 896, v2, v, 4, 2, 6, 0, 9, 7, 8
	simpira_round	\k, 960, v, v2, 3, 7, 5, 1, 8, 9, 7
	simpira_xor	v, v2, 0, 2, 4, 6, 7, 8, 9
.endm

/* The state from memory to q0-q7 (q empty) or q20-q27 (q is 2). */
.macro simpira_load state, q
	ldp	q\q\()0, q\q\()1, [\state]
	ldp	q\q\()2, q\q\()3, [\state, #32]
	ldp	q\q\()4, q\q\()5, [\state, #64]
	ldp	q\q\()6, q\q\()7, [\state, #96]
.endm

/* The state from q20-q27 to memory. */
.macro simpira_store state
	stp	q20, q21, [\state]
	stp	q22, q23, [\state, #32]
	stp	q24, q25, [\state, #64]
	stp	q26, q27, [\state, #96]
.endm

/* 94 bytes of input to v0-v5. The last 14 come from a load inside the block: v5 has bytes 78 to 93, of which the
 * first two are also in v4. */
.macro simpira_load_block in
	ldp	q0, q1, [\in]
	ldp	q2, q3, [\in, #32]
	ldur	q4, [\in, #64]
	ldur	q5, [\in, #78]
.endm

/* 94 bytes of output from q<r0> to q<r4>, and bytes 78 to 93 again from q<end>. */
.macro simpira_store_block out, r0, r1, r2, r3, r4, end
	stp	q\r0, q\r1, [\out]
	stp	q\r2, q\r3, [\out, #32]
	stur	q\r4, [\out, #64]
	stur	q\end, [\out, #78]
.endm

/* The padding of a full block, 0x81 in byte 95 of the state, to be shifted to the end of word 5: the bytes 0x00, 0x81
 * eight times. */
.macro simpira_padding v
	movi	\v\().8h, #0x81, lsl #8
.endm

/* Zeros in every register that was used, to its full width where the CPU has wider ones (SVE). */
.macro simpira_clear
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
