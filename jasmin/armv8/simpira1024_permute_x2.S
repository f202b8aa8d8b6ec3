/* veriplex_simpira1024_permute_x2: Simpira-1024 on two of eight states of 128 bytes.
 *
 * Cryptol       Lanes::permute_x2
 * C             void veriplex_simpira1024_permute_x2(uint8_t states[7 * 128 + 32],
 *                                                    const uint32_t round_constants[72][4]);
 * Arguments     x0 states: word i of lane l at 128 i + 16 l (read and written), x1 round_constants: K(1)..K(72) (read)
 * Alignment     none
 * Registers     changes x1, v0-v7, v16-v31; no stack
 * CPU features  FEAT_AES, Advanced SIMD
 * Constant time the pointers are public, what they point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	add	x1, x1, #128
	simpira_load_x2	x0
	simpira_load_word_x2	x0
	simpira_permutation_x2	x1
	simpira_store_x2	x0
	simpira_store_word_x2	x0
	simpira_clear_x2
	ret
