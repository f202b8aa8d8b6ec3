//! `veriplex-isa FOLDER SEED`: executes each form of instruction that occurs in a kernel on random registers, and
//! writes the runs to `FOLDER/ARCHITECTURE/FORM`, for `veriplex-tools isa` to compare with `spec/cryptol/isa`. The
//! bytes of the form itself go to `FOLDER/code/ARCHITECTURE/FORM`, for `proofs/rocq` to execute by its own semantics.
//!
//! A run is the image of the registers (`spec/cryptol/test/Forms.cry`) before and after. If this CPU lacks a form, the
//! form's file is empty. What it needs is known from its bytes.

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn main() {
    eprintln!("veriplex-isa: there are no forms for this system");
    std::process::exit(1);
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn main() -> std::io::Result<()> {
    forms::run()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod forms {
    use std::collections::BTreeMap;
    #[cfg(target_arch = "x86_64")]
    use std::collections::BTreeSet;
    use std::io::{Error, Write as _};
    use std::{env, fs};

    /// The number of runs of each form.
    const RUNS: usize = 10_000;

    /// Two vector registers and a general one, as wide as the set uses them.
    type Image = [u64; 17];

    type Form = unsafe extern "C" fn(*mut Image);

    /// Forms that work on the same registers.
    struct Set {
        /// The number of words of the image that these registers take up.
        words: usize,
        /// What each function has before the form, and after it.
        frame: [&'static [u8]; 2],
        forms: &'static [(&'static str, Form)],
    }

    macro_rules! forms {
        ($architecture:literal: $($words:literal words, $frame:ident: $($name:ident)*;)*) => {
            const ARCHITECTURE: &str = $architecture;
            mod functions {
                unsafe extern "C" {
                    $($(#[link_name = concat!("form_", stringify!($name))]
                    pub(super) fn $name(image: *mut super::Image);)*)*
                }
            }
            const SETS: &[Set] = &[$(Set {
                words: $words,
                frame: $frame,
                forms: &[$((stringify!($name), functions::$name)),*],
            }),*];
        };
    }

    #[cfg(target_arch = "x86_64")]
    std::arch::global_asm!(
        ".pushsection .text.forms,\"ax\",@progbits",
        include_str!("../../saw/lib/instructions.s"),
        include_str!("x86_64.s"),
        ".popsection",
        options(att_syntax)
    );
    // The first two vector registers and the general one from memory, and back.
    #[cfg(target_arch = "x86_64")]
    const NARROW: [&[u8]; 2] = [
        b"\xc5\xfa\x6f\x07\xc5\xfa\x6f\x4f\x10\x48\x8b\x47\x20",
        b"\xc5\xfa\x7f\x07\xc5\xfa\x7f\x4f\x10\x48\x89\x47\x20\xc3",
    ];
    // Before and after these is `in_ymm` or `in_zmm`.
    #[cfg(target_arch = "x86_64")]
    const WIDE: [&[u8]; 2] = [b"", b"\xc3form end"];
    #[cfg(target_arch = "x86_64")]
    unsafe extern "C" {
        fn in_ymm(image: *mut Image, form: Form);
        fn in_zmm(image: *mut Image, form: Form);
    }
    #[cfg(target_arch = "aarch64")]
    const NARROW: [&[u8]; 2] = [
        b"\x00\x04\x40\xad\x01\x10\x40\xf9",
        b"\x00\x04\x00\xad\x01\x10\x00\xf9\xc0\x03\x5f\xd6",
    ];

    #[cfg(target_arch = "x86_64")]
    forms! { "X86_64":
        5 words, NARROW:
        vpxor_register vpxor_memory vpxor_zero vaesenc_register vaesenc_memory
        vmovdqu_register vmovdqu_store_register vmovdqu_load vmovdqu_store
        vpslldq_0 vpslldq_8 vpslldq_14 vpslldq_15 vpslldq_16 vpslldq_255
        vpsrldq_0 vpsrldq_2 vpsrldq_14 vpsrldq_15 vpsrldq_16 vpsrldq_255
        vpalignr_0 vpalignr_14 vpalignr_15 vpalignr_16 vpalignr_31 vpalignr_255
        movq movabs add_94 dec cmp_0_ja jmp
        add_94_ja_near cmp_3_ja_near cmp_3_dec_ja_near jmp_near ret
        add_2_flags add_minus_2_flags cmp_3_flags dec_flags xor_flags;
        17 words, WIDE:
        vpxor_above vpxor_zero_above vaesenc_above vmovdqu_register_above vmovdqu_load_above
        vpslldq_above vpsrldq_above vpalignr_above movq_above
        vmovdqu_ymm_register vmovdqu_ymm_store_register vmovdqu_ymm_load vmovdqu_ymm_store
        vpxor_ymm_register vpxor_ymm_memory vpxor_ymm_zero vaesenc_ymm vbroadcasti128
        vmovdqu64_register vmovdqu64_store_register vmovdqu64_load vmovdqu64_store
        vpxorq_register vpxorq_memory vpxorq_zero vaesenc_zmm vbroadcasti32x4 zmm_high
        vpslldq_ymm_14 vpsrldq_ymm_2 vpsrldq_ymm_14 vpalignr_ymm_14
        vpslldq_zmm_14 vpsrldq_zmm_2 vpsrldq_zmm_14 vpalignr_zmm_2 vpalignr_zmm_14
        vinserti128_0 vinserti128_1 vinserti128_memory_1 vinserti64x4_0 vinserti64x4_1 vinserti64x4_memory_1
        vextracti128_0 vextracti128_1
        vshufi64x2_0 vshufi64x2_27 vshufi64x2_68 vshufi64x2_136 vshufi64x2_221 vshufi64x2_238
        vpternlogq_xor vmovq vzeroall vmovdqu_index xor_index mov_pointer mov_load mov_negative
        vprold_zmm_1 vprold_zmm_3 vprold_zmm_5 vprold_zmm_7 vprold_zmm_8 vprold_zmm_11 vprold_zmm_12
        vprold_zmm_13 vprold_zmm_14 vprold_zmm_16 vprold_zmm_31 vpslld_zmm_13 vpslld_zmm_31 vpslld_zmm_32
        vpslld_zmm_255 vpsrld_zmm_19 vpsrld_zmm_31 vpsrld_zmm_32 vpsrld_zmm_255 vpslld_ymm_1 vpslld_ymm_3
        vpslld_ymm_5 vpslld_ymm_7 vpslld_ymm_8 vpslld_ymm_11 vpslld_ymm_12 vpslld_ymm_13 vpslld_ymm_14
        vpslld_ymm_16 vpslld_ymm_32 vpsrld_ymm_31 vpsrld_ymm_29 vpsrld_ymm_27 vpsrld_ymm_25 vpsrld_ymm_24
        vpsrld_ymm_21 vpsrld_ymm_20 vpsrld_ymm_19 vpsrld_ymm_18 vpsrld_ymm_16 vpsrld_ymm_32 vpor_ymm_register
        vpor_ymm_memory vpandn_ymm_register vpandn_ymm_memory vpand_ymm_register vpand_ymm_memory
        vpunpckldq_ymm vpunpckldq_zmm vpunpckhdq_ymm vpunpckhdq_zmm vpunpcklqdq_ymm vpunpcklqdq_zmm
        vpunpckhqdq_ymm vpunpckhqdq_zmm vpshufd_ymm_27 vpshufd_ymm_57 vpshufd_ymm_78 vpshufd_ymm_147
        vperm2i128_3 vperm2i128_8 vperm2i128_32 vperm2i128_49 vperm2i128_136 vpermd_register vpermd_memory
        valignd_0 valignd_1 valignd_2 valignd_3 valignd_4 valignd_5 valignd_6 valignd_7 valignd_8 valignd_9
        valignd_10 valignd_11 valignd_12 valignd_13 valignd_14 valignd_15 valignd_17 vpternlogq_xor_andn
        vpternlogq_xor_and vshufi64x2_36 vshufi64x2_73 vshufi64x2_78 vshufi64x2_146 vshufi64x2_177
        vpternlogq_memory add_768 add_negative vpaddd_ymm_register vpaddd_ymm_memory vpaddd_zmm_register vpaddd_zmm_memory vpaddq_ymm_register
        vpaddq_ymm_memory vpaddq_zmm_register vpaddq_zmm_memory vpmuludq_ymm_register vpmuludq_ymm_memory
        vpmuludq_zmm_register vpmuludq_zmm_memory vpbroadcastd_ymm vpbroadcastd_zmm vpshufb_ymm_register
        vpshufb_ymm_memory movabs_16 add_1024
        movabs_1 movabs_2 movabs_0504070601000302 movabs_0d0c0f0e09080b0a movabs_0605040702010003
        movabs_0e0d0c0f0a09080b add_384 vpalignr_ymm_4 vpalignr_ymm_8 vperm2i128_33 add_192
        vpshufd_ymm_16 vpshufd_ymm_50 vpshufd_zmm_16 vpshufd_zmm_50 vpshufd_zmm_147 vpshufd_zmm_216 add_16
        vpslld_xmm_1 vpslld_xmm_3 vpslld_xmm_5 vpslld_xmm_11 vpslld_xmm_13 vpslld_xmm_14 vpslld_xmm_32
        vpsrld_xmm_31 vpsrld_xmm_29 vpsrld_xmm_27 vpsrld_xmm_21 vpsrld_xmm_19 vpsrld_xmm_18 vpsrld_xmm_32
        vpor_xmm_register vpor_xmm_memory vpandn_xmm_register vpandn_xmm_memory vpand_xmm_register
        vpand_xmm_memory vpshufb_xmm_register vpshufb_xmm_memory vpshufd_xmm_27 vpshufd_xmm_147
        vpslld_xmm_7 vpslld_xmm_12 vpsrld_xmm_25 vpsrld_xmm_20 vpaddd_xmm_register vpaddd_xmm_memory
        vpaddq_xmm_register vpaddq_xmm_memory vpunpcklqdq_xmm vpshufd_xmm_57 vpshufd_xmm_78 vpsrldq_xmm_7
        movabs_0100000000000000
        vpalignr_xmm_4 vpalignr_xmm_8 vpalignr_ymm_12 vpsllq_ymm_2 vpsllq_ymm_12 vpsllq_ymm_64 vpsllq_ymm_255
        vpsrlq_ymm_14 vpsrlq_ymm_26 vpsrlq_ymm_40 vpsrlq_ymm_52 vpsrlq_ymm_64 vpsrlq_ymm_255 movabs_3ffffff
        movabs_1000000 add_64 add_128
        vpsllq_zmm_2 vpsllq_zmm_8 vpsllq_zmm_10 vpsllq_zmm_20 vpsllq_zmm_40 vpsllq_zmm_64 vpsllq_zmm_255
        vpsrlq_zmm_2 vpsrlq_zmm_24 vpsrlq_zmm_32 vpsrlq_zmm_42 vpsrlq_zmm_43 vpsrlq_zmm_44 vpsrlq_zmm_64 vpsrlq_zmm_255
        vpandq_register vpandq_memory movabs_fffffffffff add_256
        vpmadd52luq_register vpmadd52luq_memory vpmadd52luq_three vpmadd52huq_register vpmadd52huq_memory
        vpmadd52huq_three;
    }

    #[cfg(target_arch = "aarch64")]
    std::arch::global_asm!(
        ".pushsection .text.forms,\"ax\",@progbits",
        include_str!("aarch64.S"),
        ".popsection",
        options(raw)
    );
    #[cfg(target_arch = "aarch64")]
    forms! { "AArch64":
        5 words, NARROW:
        aese aesmc eor and_16b bic add_4s add_2d umlal_2d umlal2_2d umull_2d umull2_2d uzp1_4s trn1_4s zip1_2d zip2_2d
        bic_4s_0xfc_24 bic_4s_0xa5_0 shl_2d_0 shl_2d_2 shl_2d_63 ushr_2d_1 ushr_2d_26 ushr_2d_38 ushr_2d_64
        usra_2d_1 usra_2d_26 usra_2d_64 ext_0 ext_1 ext_2 ext_4 ext_8 ext_12 ext_14 ext_15
        shl_0 shl_1 shl_3 shl_5 shl_6 shl_7 shl_8 shl_11 shl_12 shl_13 shl_14 shl_16 shl_18 shl_31
        sri_1 sri_8 sri_14 sri_16 sri_18 sri_19 sri_20 sri_21 sri_24 sri_25 sri_26 sri_27 sri_29 sri_31 sri_32
        mov movi_2d_0 movi_2d_0xa5 movi_8h_0x81_8 movi_8h_0x81_0 movi_8h_1_0 movi_8h_1_8 movi_2d_0xff
        ldp_least ldp_most ldp_x_first ldp_x_second stp_least stp_most ld4_low ld4_high ldur_least ldur_most stur_least stur_most
        add_16 add_64 add_94 add_128 add_192 add_256 add_4095 sub_1 sub_4095 cbnz b ret;
    }

    pub fn run() -> std::io::Result<()> {
        let mut arguments = env::args().skip(1);
        let (Some(folder), Some(Ok(seed))) = (arguments.next(), arguments.next().map(|seed| seed.parse()))
        else {
            return Err(Error::other("veriplex-isa FOLDER SEED"));
        };
        let codes = std::path::Path::new(&folder).join("code").join(ARCHITECTURE);
        let folder = std::path::Path::new(&folder).join(ARCHITECTURE);
        fs::create_dir_all(&folder)?;
        fs::create_dir_all(&codes)?;
        let mut random = Random(seed);
        let mut executed = 0;
        let mut lacking = BTreeMap::<String, usize>::new();
        for set in SETS {
            for (name, function) in set.forms {
                let code = code(*function, set.frame)?;
                let lacks = lacks(&code);
                let mut runs = Vec::new();
                for _ in 0..if lacks.is_empty() { RUNS } else { 0 } {
                    let mut image = [(); 17].map(|()| random.number());
                    clear(&mut image[..set.words]);
                    write(&mut runs, &image[..set.words])?;
                    execute(*function, set.words, &mut image);
                    write(&mut runs, &image[..set.words])?;
                }
                if lacks.is_empty() {
                    executed += 1;
                } else {
                    *lacking.entry(lacks).or_default() += 1;
                }
                fs::write(folder.join(name), runs)?;
                fs::write(codes.join(name), code)?;
            }
        }
        println!(
            "veriplex-isa: {ARCHITECTURE}: {executed} forms, {RUNS} runs each, on {}",
            cpu()
        );
        for (features, count) in lacking {
            println!(
                "veriplex-isa: {ARCHITECTURE}: {count} forms not executed, because this CPU lacks {features}"
            );
        }
        Ok(())
    }

    /// What Linux calls this CPU; under qemu, the one that emulates.
    fn cpu() -> String {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = (text.lines())
            .find_map(|line| line.strip_prefix("model name"))
            .and_then(|rest| rest.split_once(": "));
        name.map_or("a CPU without a name", |(_, name)| name).to_owned()
    }

    /// The features that a form and its frame need and this CPU lacks.
    #[cfg(target_arch = "x86_64")]
    fn lacks(code: &[u8]) -> String {
        use iced_x86::CpuidFeature as Feature;
        use std::arch::is_x86_feature_detected as detected;
        let here = |feature: &Feature| match feature {
            Feature::AES => detected!("aes"),
            Feature::AVX => detected!("avx"),
            Feature::AVX2 => detected!("avx2"),
            Feature::VAES => detected!("vaes"),
            Feature::AVX512F => detected!("avx512f"),
            Feature::AVX512BW => detected!("avx512bw"),
            Feature::AVX512_IFMA => detected!("avx512ifma"),
            _ => false,
        };
        let needed = needs(code).into_iter().filter(|feature| !here(feature));
        needed
            .map(|feature| format!("{feature:?}"))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The features beyond those of every x86-64 CPU that a form and its frame need.
    #[cfg(target_arch = "x86_64")]
    fn needs(code: &[u8]) -> BTreeSet<iced_x86::CpuidFeature> {
        use iced_x86::{CpuidFeature as Feature, Decoder};
        let base = [
            Feature::INTEL8086,
            Feature::INTEL186,
            Feature::INTEL386,
            Feature::X64,
            Feature::SSE2,
        ];
        (Decoder::new(64, code, 0).into_iter())
            .flat_map(|instruction| instruction.cpuid_features())
            .copied()
            .chain([Feature::AVX])
            .filter(|feature| !base.contains(feature))
            .collect()
    }

    #[cfg(target_arch = "aarch64")]
    fn lacks(_: &[u8]) -> String {
        let aes = std::arch::is_aarch64_feature_detected!("aes");
        if aes { String::new() } else { "AES".to_owned() }
    }

    /// Whether the image's upper halves of vector registers exist.
    fn has_upper_halves() -> bool {
        #[cfg(target_arch = "x86_64")]
        return std::arch::is_x86_feature_detected!("avx512f");
        #[cfg(target_arch = "aarch64")]
        false
    }

    /// Clears what registers lack in the image.
    fn clear(image: &mut [u64]) {
        if image.len() == 17 && !has_upper_halves() {
            image[4..8].fill(0);
            image[12..16].fill(0);
        }
    }

    /// Executes a form on an image of so many words. The CPU must have it.
    fn execute(form: Form, words: usize, image: &mut Image) {
        // SAFETY: the CPU has the instructions, and function and frame touch only this image.
        unsafe {
            match words {
                #[cfg(target_arch = "x86_64")]
                17 if has_upper_halves() => in_zmm(image, form),
                #[cfg(target_arch = "x86_64")]
                17 => in_ymm(image, form),
                _ => form(image),
            }
        }
    }

    /// The bytes of a function between those that are in every one.
    fn code(function: Form, [before, after]: [&[u8]; 2]) -> std::io::Result<Vec<u8>> {
        let start = function as *const u8;
        let mut code = Vec::new();
        while !code.ends_with(after) {
            // SAFETY: every function has these bytes at its end, and what is before them belongs to it.
            code.push(unsafe { start.add(code.len()).read() });
        }
        code.truncate(code.len() - after.len());
        let form = code.strip_prefix(before).map(<[u8]>::to_vec);
        form.ok_or_else(|| Error::other("a form that begins in another way"))
    }

    fn write(to: &mut Vec<u8>, image: &[u64]) -> std::io::Result<()> {
        image
            .iter()
            .try_for_each(|word| to.write_all(&word.to_le_bytes()))
    }

    /// `SplitMix64`: enough to spread test inputs.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        /// Any number; one time in four a small one, one with a single bit set or cleared, or one near the maximum.
        fn number(&mut self) -> u64 {
            match self.next() % 16 {
                0 => self.next() % 4,
                1 => 1 << (self.next() % 64),
                2 => !(1 << (self.next() % 64)),
                3 => u64::MAX - self.next() % 4,
                _ => self.next(),
            }
        }
    }

    #[cfg(all(test, target_arch = "x86_64"))]
    #[test]
    fn a_form_needs_no_more_than_its_instructions() {
        for (name, needed) in [
            ("add_16", "AVX"),
            ("vpslld_xmm_1", "AVX"),
            ("vpslld_ymm_1", "AVX AVX2"),
            ("vmovdqu_ymm_store", "AVX"),
            ("vaesenc_ymm", "AVX VAES"),
            ("vpslld_zmm_13", "AVX AVX512F"),
        ] {
            let mut all = SETS
                .iter()
                .flat_map(|set| set.forms.iter().map(move |form| (set, form)));
            let (set, (_, form)) = all.find(|(_, (own, _))| *own == name).unwrap();
            let features: Vec<String> = (needs(&code(*form, set.frame).unwrap()).iter())
                .map(|feature| format!("{feature:?}"))
                .collect();
            assert_eq!(features.join(" "), needed, "{name}");
        }
    }
}
