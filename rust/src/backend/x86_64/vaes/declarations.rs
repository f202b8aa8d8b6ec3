// The kernels of `jasmin/x86-64-vaes`: written from `jasmin/kernels.toml` by
// `VERIPLEX_UPDATE=1 cargo test -p veriplex-assurance --test kernels`, not to be edited.
kernels! {
    features ["avx" "avx2" "vaes"];
    include ["simpira1024_x4.S"] ["simpira_call_x4" "simpira_last_call_x4" "simpira_pass_x4" "simpira_permutation_x4" "simpira_load_x4" "simpira_store_x4" "simpira_pointers_x4" "simpira_load_pair_x4" "simpira_store_pair_x4" "simpira_pair_pointers_x4" "simpira_pad_x4"] {
        /// `Lanes::permute_x4`.
        ///
        /// - `states`: 960 bytes, read and written, secret
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn simpira1024_permute_x4(states: *mut u8, round_constants_x4: *const u8) = "simpira1024_permute_x4";
        /// `Lanes::absorb_blocks_x4`.
        ///
        /// - `states`: 960 bytes, read and written, secret
        /// - `input`: 4 pointers, each to blocks of 94 bytes, read, secret
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn duplex_absorb_blocks_x4(states: *mut u8, input: *const *const u8, n: usize, round_constants_x4: *const u8) = "duplex_absorb_blocks_x4";
        /// `Lanes::encrypt_blocks_x4`.
        ///
        /// - `states`: 960 bytes, read and written, secret
        /// - `input`: 4 pointers, each to blocks of 94 bytes, read, secret
        /// - `output`: 4 pointers, each to blocks of 94 bytes, written, secret; may be `input`
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn duplex_encrypt_blocks_x4(states: *mut u8, input: *const *const u8, output: *const *mut u8, n: usize, round_constants_x4: *const u8) = "duplex_encrypt_blocks_x4";
        /// `Lanes::decrypt_blocks_x4`.
        ///
        /// - `states`: 960 bytes, read and written, secret
        /// - `input`: 4 pointers, each to blocks of 94 bytes, read, secret
        /// - `output`: 4 pointers, each to blocks of 94 bytes, written, secret; may be `input`
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn duplex_decrypt_blocks_x4(states: *mut u8, input: *const *const u8, output: *const *mut u8, n: usize, round_constants_x4: *const u8) = "duplex_decrypt_blocks_x4";
        /// `Lanes::squeeze_blocks_x4`.
        ///
        /// - `states`: 960 bytes, read and written, secret
        /// - `output`: 4 pointers, each to blocks of 94 bytes, written, secret
        /// - `n`: how many blocks, 0 or more
        /// - `round_constants_x4`: the 4608 bytes of `simpira1024_round_constants_x4`, read
        fn duplex_squeeze_blocks_x4(states: *mut u8, output: *const *mut u8, n: usize, round_constants_x4: *const u8) = "duplex_squeeze_blocks_x4";
    }
}
