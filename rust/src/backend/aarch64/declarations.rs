// The kernels of `jasmin/armv8`: written from `jasmin/kernels.toml` by
// `VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test kernels`, not to be edited.
kernels! {
    features ["aes"];
    include ["simpira1024.S"] ["simpira_f" "simpira_xor" "simpira_round" "simpira_permutation" "simpira_load" "simpira_store" "simpira_load_block" "simpira_store_block" "simpira_padding" "simpira_clear"] {
        /// `Simpira1024::permute`.
        ///
        /// - `state`: 128 bytes, read and written, secret
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn simpira1024_permute(state: *mut u8, round_constants: *const u8) = "simpira1024_permute";
        /// `Duplex::absorb_blocks`.
        ///
        /// - `state`: 128 bytes, read and written, secret
        /// - `input`: blocks of 94 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn duplex_absorb_blocks(state: *mut u8, input: *const u8, n: usize, round_constants: *const u8) = "duplex_absorb_blocks";
        /// `Duplex::encrypt_blocks`.
        ///
        /// - `state`: 128 bytes, read and written, secret
        /// - `input`: blocks of 94 bytes, read, secret
        /// - `output`: blocks of 94 bytes, written, secret; may be `input`
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn duplex_encrypt_blocks(state: *mut u8, input: *const u8, output: *mut u8, n: usize, round_constants: *const u8) = "duplex_encrypt_blocks";
        /// `Duplex::decrypt_blocks`.
        ///
        /// - `state`: 128 bytes, read and written, secret
        /// - `input`: blocks of 94 bytes, read, secret
        /// - `output`: blocks of 94 bytes, written, secret; may be `input`
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn duplex_decrypt_blocks(state: *mut u8, input: *const u8, output: *mut u8, n: usize, round_constants: *const u8) = "duplex_decrypt_blocks";
        /// `Duplex::squeeze_blocks`.
        ///
        /// - `state`: 128 bytes, read and written, secret
        /// - `output`: blocks of 94 bytes, written, secret
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn duplex_squeeze_blocks(state: *mut u8, output: *mut u8, n: usize, round_constants: *const u8) = "duplex_squeeze_blocks";
    }
    include ["simpira1024_x2.S"] ["simpira_half_x2" "simpira_constants_x2" "simpira_six_rounds_x2" "simpira_permutation_x2" "simpira_load_word_x2" "simpira_store_word_x2" "simpira_load_x2" "simpira_store_x2" "simpira_load_block_x2" "simpira_store_block_x2" "simpira_padding_x2" "simpira_absorb_x2" "simpira_clear_x2"] {
        /// `Lanes::permute_x2`.
        ///
        /// - `states`: 928 bytes, read and written, secret
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn simpira1024_permute_x2(states: *mut u8, round_constants: *const u8) = "simpira1024_permute_x2";
        /// `Lanes::absorb_blocks_x2`.
        ///
        /// - `states`: 928 bytes, read and written, secret
        /// - `input`: 2 pointers, each to blocks of 94 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn duplex_absorb_blocks_x2(states: *mut u8, input: *const *const u8, n: usize, round_constants: *const u8) = "duplex_absorb_blocks_x2";
        /// `Lanes::encrypt_blocks_x2`.
        ///
        /// - `states`: 928 bytes, read and written, secret
        /// - `input`: 2 pointers, each to blocks of 94 bytes, read, secret
        /// - `output`: 2 pointers, each to blocks of 94 bytes, written, secret; may be `input`
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn duplex_encrypt_blocks_x2(states: *mut u8, input: *const *const u8, output: *const *mut u8, n: usize, round_constants: *const u8) = "duplex_encrypt_blocks_x2";
        /// `Lanes::decrypt_blocks_x2`.
        ///
        /// - `states`: 928 bytes, read and written, secret
        /// - `input`: 2 pointers, each to blocks of 94 bytes, read, secret
        /// - `output`: 2 pointers, each to blocks of 94 bytes, written, secret; may be `input`
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn duplex_decrypt_blocks_x2(states: *mut u8, input: *const *const u8, output: *const *mut u8, n: usize, round_constants: *const u8) = "duplex_decrypt_blocks_x2";
        /// `Lanes::squeeze_blocks_x2`.
        ///
        /// - `states`: 928 bytes, read and written, secret
        /// - `output`: 2 pointers, each to blocks of 94 bytes, written, secret
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants`: the 1152 bytes of `simpira1024_round_constants`, read
        fn duplex_squeeze_blocks_x2(states: *mut u8, output: *const *mut u8, n: usize, round_constants: *const u8) = "duplex_squeeze_blocks_x2";
    }
    include ["chacha_x4.S"] ["chacha_enter_x4" "chacha_start_x4" "chacha_step_x4" "chacha_columns_x4" "chacha_move_x4" "chacha_turn_x4" "chacha_rounds_x4" "chacha_add_x4" "chacha_add_last_x4" "chacha_feed_forward_x4" "chacha_output_x4" "chacha_clear_x4" "chacha_xor_blocks_x4"] {
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 256 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha8_xor_blocks_x4(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha8_xor_blocks_x4";
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 256 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha12_xor_blocks_x4(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha12_xor_blocks_x4";
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 256 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha20_xor_blocks_x4(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha20_xor_blocks_x4";
    }
    include [] [] {
        /// `NH::add_units`.
        ///
        /// - `sums`: 64 bytes, read and written, secret
        /// - `input`: blocks of 16 bytes, read, secret
        /// - `key`: blocks of 64 bytes, 16 from one to the next, read, secret
        /// - `n`: how many blocks, 0 or more
        fn nh_add_units_x1(sums: *mut u8, input: *const u8, key: *const u8, n: usize) = "nh_add_units_x1";
        /// `Poly1305::add_blocks`.
        ///
        /// - `sums`: 160 bytes, read and written, secret
        /// - `multipliers`: 288 bytes, read, secret
        /// - `input`: blocks of 64 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        fn poly1305_add_blocks_x4(sums: *mut u8, multipliers: *const u8, input: *const u8, n: usize) = "poly1305_add_blocks_x4";
    }
    include ["xoodoo_x4.S"] ["xoodoo_rotate_x4" "xoodoo_round_x4" "xoodoo_rounds_x4" "xoodoo_permutation_x4" "xoofff_mask_words_x4" "xoofff_output_words_x4" "xoofff_third_plane_x4" "xoofff_sixth_plane_x4" "xoodoo_clear_x4"] {
        /// `Xoofff::absorb_blocks`.
        ///
        /// - `deck`: 96 bytes, read and written, secret
        /// - `input`: blocks of 192 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        /// - `constants`: the 256 bytes of `xoofff_constants_x4`, read
        fn xoofff_absorb_blocks_x4(deck: *mut u8, input: *const u8, n: usize, constants: *const u8) = "xoofff_absorb_blocks_x4";
        /// `Xoofff::squeeze_blocks`.
        ///
        /// - `states`: 96 bytes, read and written, secret
        /// - `output`: blocks of 192 bytes, written, secret
        /// - `n`: how many blocks, 0 or more
        /// - `constants`: the 256 bytes of `xoofff_constants_x4`, read
        fn xoofff_squeeze_blocks_x4(states: *mut u8, output: *mut u8, n: usize, constants: *const u8) = "xoofff_squeeze_blocks_x4";
    }
}
