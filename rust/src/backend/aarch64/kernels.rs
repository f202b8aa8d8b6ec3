//! The kernels of `jasmin/armv8`, included as they are written.

cpufeatures::new!(features, "aes");
crate::backend::kernels::backend!(
    features::get(),
    "armv8",
    [include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/jasmin/armv8/simpira1024.S"
    ))],
    ".S",
    // The next kernel may be in the same unit, and defines them again.
    [
        ".purgem simpira_f",
        ".purgem simpira_xor",
        ".purgem simpira_round",
        ".purgem simpira_permutation",
        ".purgem simpira_load",
        ".purgem simpira_store",
        ".purgem simpira_load_block",
        ".purgem simpira_store_block",
        ".purgem simpira_padding",
        ".purgem simpira_clear"
    ],
    [raw],
    "C"
);
