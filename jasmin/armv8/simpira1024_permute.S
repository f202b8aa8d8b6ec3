/* veriplex_simpira1024_permute: Simpira-1024 on a state of 128 bytes.
 *
 * Cryptol       Simpira1024::permute
 * C             void veriplex_simpira1024_permute(uint8_t state[128], const uint32_t round_constants[72][4]);
 * Arguments     x0 state (read and written), x1 round_constants: K(1)..K(72) (read)
 * Alignment     none
 * Registers     changes x1, v0-v7, v16-v31; no stack
 * CPU features  FEAT_AES, Advanced SIMD
 * Constant time the pointers are public, what they point to is secret; DIT instructions only
 * Wiped         v0-v7, v16-v31 (to their full width) are zero on return */

	add	x1, x1, #128
	simpira_load	x0
	simpira_permutation	x1
	simpira_store	x0
	simpira_clear
	ret
