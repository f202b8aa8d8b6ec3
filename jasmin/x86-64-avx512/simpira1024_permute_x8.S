/* veriplex_simpira1024_permute_x8: Simpira-1024 on eight states of 128 bytes.
 *
 * Cryptol       Lanes::permute_x8
 * C             void veriplex_simpira1024_permute_x8(uint8_t states[8][8][16],
 *                                                    const uint32_t round_constants_x4[72][4][4]);
 * Arguments     rdi states: word i of lane l at [i][l] (read and written), rsi round_constants_x4: K(1)..K(72), each
 *               four times (read)
 * Alignment     none
 * Registers     changes zmm0-zmm31; no stack
 * CPU features  AVX512F, VAES
 * Constant time the pointers are public, what they point to is secret; DOIT instructions only
 * Wiped         zmm0-zmm31 (to their full width) are zero on return */

	simpira_load_x8 %rdi
	simpira_permutation_x8 %rsi
	simpira_store_x8 %rdi
	simpira_clear_x8
	ret
