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
}
