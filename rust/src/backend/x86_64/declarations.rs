// The kernels of `jasmin/x86-64`: written from `jasmin/kernels.toml` by
// `VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test kernels`, not to be edited.
kernels! {
    features ["aes" "avx"];
    include [] [] {
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
    include [] [] {
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
    include [] [] {
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 192 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha8_xor_blocks_x3(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha8_xor_blocks_x3";
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 192 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha12_xor_blocks_x3(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha12_xor_blocks_x3";
        /// `ChaCha::xor_blocks`.
        ///
        /// - `last_row`: 16 bytes, read and written, secret
        /// - `start`: 48 bytes, read, secret
        /// - `in_out`: blocks of 192 bytes, read and written, secret
        /// - `n`: how many blocks, 0 or more
        fn chacha20_xor_blocks_x3(last_row: *mut u8, start: *const u8, in_out: *mut u8, n: usize) = "chacha20_xor_blocks_x3";
    }
    include [] [] {
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
