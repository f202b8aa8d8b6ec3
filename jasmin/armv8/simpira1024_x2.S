/* Simpira-1024 (Simpira v2 with b = 8) on two states at once, side by side in a round: what the kernels share.
 *
 * Cryptol: Simpira1024, Lanes (spec/cryptol). Macros only; the exports are in the other files of this folder, one per
 * file.
 *
 * Registers: word i of the first state is in v<i>, of the second in v2<i>; v16-v19 hold calls of F, v28-v31 constants.
 * The calling convention saves v8-v15 for the caller: they are not used, so a third state has no place.
 *
 * In memory word i of a lane lies beside that of the other lanes, of which there are eight: from one word to the next
 * it is 128 bytes. Between blocks word 1 of each state is there, as with the kernels of x86-64, so that the same
 * theorems hold of both. It costs a load and a store for each block.
 *
 * The round constants are an argument, not a global: so the code refers to no address, and its bytes are the same
 * wherever it is linked. */

	.arch_extension aes

/* Half a round: two calls of F(c, x) = AESENC(AESENC(x, K(c)), 0) in both states, d ^= F(c, s). AESE adds its key
 * before SubBytes. So the key of its first AESE is the source, and K(c), in v<k>, is that of its second. */
.macro simpira_half_x2 k0, s0, d0, k1, s1, d1
	movi	v16.2d, #0
	movi	v17.2d, #0
	movi	v18.2d, #0
	movi	v19.2d, #0
	aese	v16.16b, v\s0\().16b
	aesmc	v16.16b, v16.16b
	aese	v17.16b, v2\s0\().16b
	aesmc	v17.16b, v17.16b
	aese	v18.16b, v\s1\().16b
	aesmc	v18.16b, v18.16b
	aese	v19.16b, v2\s1\().16b
	aesmc	v19.16b, v19.16b
	aese	v16.16b, v\k0\().16b
	aesmc	v16.16b, v16.16b
	aese	v17.16b, v\k0\().16b
	aesmc	v17.16b, v17.16b
	aese	v18.16b, v\k1\().16b
	aesmc	v18.16b, v18.16b
	aese	v19.16b, v\k1\().16b
	aesmc	v19.16b, v19.16b
	eor	v\d0\().16b, v\d0\().16b, v16.16b
	eor	v2\d0\().16b, v2\d0\().16b, v17.16b
	eor	v\d1\().16b, v\d1\().16b, v18.16b
	eor	v2\d1\().16b, v2\d1\().16b, v19.16b
.endm

/* The constants of a round, which lie at k + offset. */
.macro simpira_constants_x2 k, offset
	ldp	q28, q29, [\k, #\offset]
	ldp	q30, q31, [\k, #\offset + 32]
.endm

/* Six of the 18 rounds: the index pattern s = [0,1,6,5,4,3], t = [2,7]. The four sources of a round are not among its
 * four destinations, so the order within a round is free. What a first half takes from the round before comes from its
 * first half, what a second half takes from its second: so one half need not wait for the other. */
.macro simpira_six_rounds_x2 k, offset
	simpira_constants_x2	\k, \offset
	simpira_half_x2	28, 0, 1, 29, 2, 3
	simpira_half_x2	30, 4, 5, 31, 6, 7
	simpira_constants_x2	\k, \offset + 64
	simpira_half_x2	28, 1, 6, 30, 3, 4
	simpira_half_x2	29, 7, 0, 31, 5, 2
	simpira_constants_x2	\k, \offset + 128
	simpira_half_x2	28, 6, 5, 31, 4, 7
	simpira_half_x2	29, 2, 1, 30, 0, 3
	simpira_constants_x2	\k, \offset + 192
	simpira_half_x2	28, 5, 4, 29, 7, 6
	simpira_half_x2	30, 1, 0, 31, 3, 2
	simpira_constants_x2	\k, \offset + 256
	simpira_half_x2	28, 4, 3, 30, 6, 1
	simpira_half_x2	29, 2, 5, 31, 0, 7
	simpira_constants_x2	\k, \offset + 320
	simpira_half_x2	28, 3, 0, 31, 1, 2
	simpira_half_x2	29, 7, 4, 30, 5, 6
.endm

/* The 18 rounds, from and to v0-v7 and v20-v27; k points to the constants, 128 bytes into them (the offsets of ldp
 * reach from -1024 to 1008). */
.macro simpira_permutation_x2 k
	simpira_six_rounds_x2	\k, -128
	simpira_six_rounds_x2	\k, 256
	simpira_six_rounds_x2	\k, 640
.endm

/* Word 1 of both states, from and to memory. */
.macro simpira_load_word_x2 states
	ldp	q1, q21, [\states, #128]
.endm

.macro simpira_store_word_x2 states
	stp	q1, q21, [\states, #128]
.endm

/* The other words. */
.macro simpira_load_x2 states
	ldp	q0, q20, [\states]
	ldp	q2, q22, [\states, #256]
	ldp	q3, q23, [\states, #384]
	ldp	q4, q24, [\states, #512]
	ldp	q5, q25, [\states, #640]
	ldp	q6, q26, [\states, #768]
	ldp	q7, q27, [\states, #896]
.endm

.macro simpira_store_x2 states
	stp	q0, q20, [\states]
	stp	q2, q22, [\states, #256]
	stp	q3, q23, [\states, #384]
	stp	q4, q24, [\states, #512]
	stp	q5, q25, [\states, #640]
	stp	q6, q26, [\states, #768]
	stp	q7, q27, [\states, #896]
.endm

/* 94 bytes at p to v16-v19, v28, v29. The last 14 come from a load inside the block: v29 has bytes 78 to 93, of which
 * the first two are also in v28. */
.macro simpira_load_block_x2 p
	ldp	q16, q17, [\p]
	ldp	q18, q19, [\p, #32]
	ldur	q28, [\p, #64]
	ldur	q29, [\p, #78]
.endm

/* To p words 0 to 4 of a state, in the registers q or q2, and bytes 78 to 93 of the block again from q<end>. */
.macro simpira_store_block_x2 p, q, end
	stp	\q\()0, \q\()1, [\p]
	stp	\q\()2, \q\()3, [\p, #32]
	stur	\q\()4, [\p, #64]
	stur	q\end, [\p, #78]
.endm

/* The padding of a full block, 0x81 in byte 95 of the state, to be shifted to the end of word 5: the bytes 0x00, 0x81
 * eight times. */
.macro simpira_padding_x2 v
	movi	\v\().8h, #0x81, lsl #8
.endm

/* XORs the block at p, and the padding, into the state in the registers v or v2. */
.macro simpira_absorb_x2 p, v
	simpira_load_block_x2	\p
	simpira_padding_x2	v30
	// Bytes 80 to 93 and the padding.
	ext	v29.16b, v29.16b, v30.16b, #2
	eor	\v\()0.16b, \v\()0.16b, v16.16b
	eor	\v\()1.16b, \v\()1.16b, v17.16b
	eor	\v\()2.16b, \v\()2.16b, v18.16b
	eor	\v\()3.16b, \v\()3.16b, v19.16b
	eor	\v\()4.16b, \v\()4.16b, v28.16b
	eor	\v\()5.16b, \v\()5.16b, v29.16b
.endm

/* Zeros in every register that was used, to its full width where the CPU has wider ones (SVE). */
.macro simpira_clear_x2
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
