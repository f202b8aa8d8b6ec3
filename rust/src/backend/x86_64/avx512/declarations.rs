// The kernels of `jasmin/x86-64-avx512`: written from `jasmin/kernels.toml` by
// `VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test kernels`, not to be edited.
kernels! {
    features ["avx" "avx512bw" "avx512f" "avx512ifma" "vaes"];
    include ["simpira1024_x8.S"] ["simpira_round_x8" "simpira_pass_x8" "simpira_permutation_x8" "simpira_permutation_and_output_x8" "simpira_load_x8" "simpira_store_x8" "simpira_padding_x8" "simpira_load_blocks_x8" "simpira_put_x8" "simpira_output_x8" "simpira_clear_x8"] {
        /// `Lanes::permute_x8`.
        ///
        /// - `states`: 1024 bytes, read and written, secret
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn simpira1024_permute_x8(states: *mut u8, round_constants_x4: *const u8) = "simpira1024_permute_x8";
        /// `Lanes::absorb_blocks_x8`.
        ///
        /// - `states`: 1024 bytes, read and written, secret
        /// - `input`: 8 pointers, each to blocks of 94 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn duplex_absorb_blocks_x8(states: *mut u8, input: *const *const u8, n: usize, round_constants_x4: *const u8) = "duplex_absorb_blocks_x8";
        /// `Lanes::encrypt_blocks_x8`.
        ///
        /// - `states`: 1024 bytes, read and written, secret
        /// - `input`: 8 pointers, each to blocks of 94 bytes, read, secret
        /// - `output`: 8 pointers, each to blocks of 94 bytes, written, secret; may be `input`
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn duplex_encrypt_blocks_x8(states: *mut u8, input: *const *const u8, output: *const *mut u8, n: usize, round_constants_x4: *const u8) = "duplex_encrypt_blocks_x8";
        /// `Lanes::decrypt_blocks_x8`.
        ///
        /// - `states`: 1024 bytes, read and written, secret
        /// - `input`: 8 pointers, each to blocks of 94 bytes, read, secret
        /// - `output`: 8 pointers, each to blocks of 94 bytes, written, secret; may be `input`
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn duplex_decrypt_blocks_x8(states: *mut u8, input: *const *const u8, output: *const *mut u8, n: usize, round_constants_x4: *const u8) = "duplex_decrypt_blocks_x8";
        /// `Lanes::squeeze_blocks_x8`.
        ///
        /// - `states`: 1024 bytes, read and written, secret
        /// - `output`: 8 pointers, each to blocks of 94 bytes, written, secret
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn duplex_squeeze_blocks_x8(states: *mut u8, output: *const *mut u8, n: usize, round_constants_x4: *const u8) = "duplex_squeeze_blocks_x8";
    }
    include ["chacha_x16.S"] ["chacha_enter_x16" "chacha_start_x16" "chacha_quarter_x16" "chacha_round_x16" "chacha_rounds_x16" "chacha_add_x16" "chacha_feed_forward_x16" "chacha_transpose_words_x16" "chacha_output_x16" "chacha_xor_blocks_x16"] {
        /// `ChaCha::xor_blocks`.
        ///
        /// - `numbers`: 128 bytes, read and written, public
        /// - `start`: 64 bytes, read, secret
        /// - `in_out`: blocks of 1024 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha8_xor_blocks_x16(numbers: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha8_xor_blocks_x16";
        /// `ChaCha::xor_blocks`.
        ///
        /// - `numbers`: 128 bytes, read and written, public
        /// - `start`: 64 bytes, read, secret
        /// - `in_out`: blocks of 1024 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha12_xor_blocks_x16(numbers: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha12_xor_blocks_x16";
        /// `ChaCha::xor_blocks`.
        ///
        /// - `numbers`: 128 bytes, read and written, public
        /// - `start`: 64 bytes, read, secret
        /// - `in_out`: blocks of 1024 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha20_xor_blocks_x16(numbers: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha20_xor_blocks_x16";
    }
    include [] [] {
        /// `NH::add_units`.
        ///
        /// - `sums`: 64 bytes, read and written, secret
        /// - `input`: blocks of 16 bytes, read, secret
        /// - `key`: blocks of 64 bytes, 16 from one to the next, read, secret
        /// - `n`: how many blocks, 0 or more
        fn nh_add_units_x4(sums: *mut u8, input: *const u8, key: *const u8, n: usize) = "nh_add_units_x4";
        /// `NH::add_groups`.
        ///
        /// - `sums`: 256 bytes, read and written, secret
        /// - `input`: blocks of 64 bytes, read, secret
        /// - `key`: blocks of 112 bytes, 64 from one to the next, read, secret
        /// - `n`: how many blocks, 0 or more
        fn nh_add_groups_x4(sums: *mut u8, input: *const u8, key: *const u8, n: usize) = "nh_add_groups_x4";
        /// `Poly1305::add_blocks44`.
        ///
        /// - `sums`: 192 bytes, read and written, secret
        /// - `multipliers`: 640 bytes, read, secret
        /// - `input`: blocks of 256 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        fn poly1305_add_blocks_x16(sums: *mut u8, multipliers: *const u8, input: *const u8, n: usize) = "poly1305_add_blocks_x16";
    }
    include ["xoodoo_x16.S"] ["xoodoo_round_x16" "xoodoo_chi_x16" "xoodoo_permutation_x16" "xoofff_register_x16" "xoofff_mask_words_x16" "xoofff_output_words_x16" "xoodoo_transpose_x16" "xoodoo_transpose_words_x16" "xoofff_load_x16" "xoofff_store_x16" "xoofff_add_masks_x16" "xoofff_fold_x16" "xoodoo_clear_x16"] {
        /// `Xoofff::absorb_blocks`.
        ///
        /// - `deck`: 96 bytes, read and written, secret
        /// - `input`: blocks of 768 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        /// - `constants`: the 576 bytes of `xoofff_constants_x16`, read
        fn xoofff_absorb_blocks_x16(deck: *mut u8, input: *const u8, n: usize, constants: *const u8) = "xoofff_absorb_blocks_x16";
        /// `Xoofff::squeeze_blocks`.
        ///
        /// - `states`: 96 bytes, read and written, secret
        /// - `output`: blocks of 768 bytes, written, secret
        /// - `n`: how many blocks, 0 or more
        /// - `constants`: the 576 bytes of `xoofff_constants_x16`, read
        fn xoofff_squeeze_blocks_x16(states: *mut u8, output: *mut u8, n: usize, constants: *const u8) = "xoofff_squeeze_blocks_x16";
    }
}
