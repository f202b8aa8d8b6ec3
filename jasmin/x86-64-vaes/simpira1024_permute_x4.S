/* veriplex_simpira1024_permute_x4: Simpira-1024 on four of eight states of 128 bytes.
 *
 * Cryptol       Lanes::permute_x4
 * C             void veriplex_simpira1024_permute_x4(uint8_t states[7 * 128 + 64],
 *                                                    const uint32_t round_constants_x4[72][4][4]);
 * Arguments     rdi states: word i of lane l at 128 i + 16 l (read and written), rsi round_constants_x4: K(1)..K(72),
 *               each four times (read)
 * Alignment     none
 * Registers     changes ymm0-ymm15; no stack
 * CPU features  AVX, VAES
 * Constant time the pointers are public, what they point to is secret; DOIT instructions only
 * Wiped         ymm0-ymm15 (to their full width) are zero on return */

	simpira_load_x4 %rdi
	simpira_permutation_x4 %rdi, %rsi
	simpira_store_x4 %rdi
	vzeroall
	ret
