// The kernels of `jasmin/x86-64-avx2`: written from `jasmin/kernels.toml` by
// `VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test kernels`, not to be edited.
kernels! {
    features ["avx" "avx2"];
    include ["chacha_x6.S"] ["chacha_constant_x6" "chacha_enter_x6" "chacha_two_x6" "chacha_start_x6" "chacha_shuffle_x6" "chacha_shift_x6" "chacha_columns_x6" "chacha_turn_x6" "chacha_rounds_x6" "chacha_feed_forward_x6" "chacha_output_x6" "chacha_xor_blocks_x6"] {
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 384 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha8_xor_blocks_x6(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha8_xor_blocks_x6";
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 384 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha12_xor_blocks_x6(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha12_xor_blocks_x6";
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 384 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha20_xor_blocks_x6(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha20_xor_blocks_x6";
    }
    include [] [] {
        /// `NH::add_units`.
        ///
        /// - `sums`: 64 bytes, read and written, secret
        /// - `input`: blocks of 16 bytes, read, secret
        /// - `key`: blocks of 64 bytes, 16 from one to the next, read, secret
        /// - `n`: how many blocks, 0 or more
        fn nh_add_units_x2(sums: *mut u8, input: *const u8, key: *const u8, n: usize) = "nh_add_units_x2";
        /// `Poly1305::add_pairs`.
        ///
        /// - `sums`: 160 bytes, read and written, secret
        /// - `multipliers`: 576 bytes, read, secret
        /// - `input`: blocks of 128 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        fn poly1305_add_blocks_x8(sums: *mut u8, multipliers: *const u8, input: *const u8, n: usize) = "poly1305_add_blocks_x8";
    }
    include ["xoodoo_x8.S"] ["xoodoo_rotate_x8" "xoodoo_round_x8" "xoodoo_rounds_x8" "xoodoo_permutation_x8" "xoofff_mask_words_x8" "xoofff_output_words_x8" "xoofff_planes_x8" "xoofff_input_x8" "xoofff_add_x8" "xoofff_output_x8"] {
        /// `Xoofff::absorb_blocks`.
        ///
        /// - `deck`: 96 bytes, read and written, secret
        /// - `input`: blocks of 384 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        /// - `constants`: the 256 bytes of `xoofff_constants_x4`, read
        fn xoofff_absorb_blocks_x8(deck: *mut u8, input: *const u8, n: usize, constants: *const u8) = "xoofff_absorb_blocks_x8";
        /// `Xoofff::squeeze_blocks`.
        ///
        /// - `states`: 96 bytes, read and written, secret
        /// - `output`: blocks of 384 bytes, written, secret
        /// - `n`: how many blocks, 0 or more
        /// - `constants`: the 256 bytes of `xoofff_constants_x4`, read
        fn xoofff_squeeze_blocks_x8(states: *mut u8, output: *mut u8, n: usize, constants: *const u8) = "xoofff_squeeze_blocks_x8";
    }
}
