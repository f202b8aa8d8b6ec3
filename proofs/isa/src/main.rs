//! `veriplex-isa FOLDER SEED`: executes each form of instruction that is in a kernel on random registers, and writes the
//! runs to `FOLDER/ARCHITECTURE/FORM`, for `veriplex-tools isa` to compare with `spec/cryptol/isa`.
//!
//! A run is the image of the registers (`spec/cryptol/test/Forms.cry`) before and after. The file of a form that this CPU
//! does not have is empty.

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn main() {
    eprintln!("veriplex-isa: has no forms for this system");
    std::process::exit(1);
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn main() -> std::io::Result<()> {
    forms::run()
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod forms {
    use std::io::{Error, Write as _};
    use std::{env, fs};

    /// Runs of each form.
    const RUNS: usize = 10_000;

    /// Two vector registers and a general one, as far as a set has them.
    type Image = [u64; 17];

    /// Forms on the same registers.
    struct Set {
        /// How many words of the image they are.
        words: usize,
        /// What a CPU must have.
        features: &'static str,
        runs_here: fn() -> bool,
        forms: &'static [(&'static str, unsafe extern "C" fn(*mut Image))],
    }

    macro_rules! forms {
        ($architecture:literal: $($words:literal words, $detect:ident($($feature:tt),*): $($name:ident)*;)*) => {
            const ARCHITECTURE: &str = $architecture;
            mod functions {
                unsafe extern "C" {
                    $($(#[link_name = concat!("form_", stringify!($name))]
                    pub(super) fn $name(image: *mut super::Image);)*)*
                }
            }
            const SETS: &[Set] = &[$(Set {
                words: $words,
                features: concat!($(" ", $feature),*),
                runs_here: || true $(&& std::arch::$detect!($feature))*,
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
    #[cfg(target_arch = "x86_64")]
    forms! { "X86_64":
        5 words, is_x86_feature_detected("aes", "avx"):
        vpxor_register vpxor_memory vpxor_zero vaesenc_register vaesenc_memory
        vmovdqu_register vmovdqu_store_register vmovdqu_load vmovdqu_store
        vpslldq_0 vpslldq_8 vpslldq_14 vpslldq_15 vpslldq_16 vpslldq_255
        vpsrldq_0 vpsrldq_2 vpsrldq_14 vpsrldq_15 vpsrldq_16 vpsrldq_255
        vpalignr_0 vpalignr_14 vpalignr_15 vpalignr_16 vpalignr_31 vpalignr_255
        movq movabs add_94 dec cmp_0_ja jmp;
        17 words, is_x86_feature_detected("vaes", "avx512f"):
        vpxor_above vpxor_zero_above vaesenc_above vmovdqu_register_above vmovdqu_load_above
        vpslldq_above vpsrldq_above vpalignr_above movq_above
        vmovdqu_ymm_register vmovdqu_ymm_store_register vmovdqu_ymm_load vmovdqu_ymm_store
        vpxor_ymm_register vpxor_ymm_memory vpxor_ymm_zero vaesenc_ymm vbroadcasti128
        vmovdqu64_register vmovdqu64_store_register vmovdqu64_load vmovdqu64_store
        vpxorq_register vpxorq_memory vpxorq_zero vaesenc_zmm vbroadcasti32x4 zmm_high;
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
        5 words, is_aarch64_feature_detected("aes"):
        aese aesmc eor ext_0 ext_1 ext_2 ext_14 ext_15 mov movi_2d_0 movi_2d_0xa5 movi_8h_0x81_8 movi_8h_0x81_0
        ldp_least ldp_most stp_least stp_most ldur_least ldur_most stur_least stur_most
        add_94 add_128 add_4095 sub_1 sub_4095 cbnz b;
    }

    pub fn run() -> std::io::Result<()> {
        let mut arguments = env::args().skip(1);
        let (Some(folder), Some(Ok(seed))) = (arguments.next(), arguments.next().map(|seed| seed.parse()))
        else {
            return Err(Error::other("veriplex-isa FOLDER SEED"));
        };
        let folder = std::path::Path::new(&folder).join(ARCHITECTURE);
        fs::create_dir_all(&folder)?;
        let mut random = Random(seed);
        for set in SETS {
            let runs_here = (set.runs_here)();
            for (name, function) in set.forms {
                let mut runs = Vec::new();
                for _ in 0..if runs_here { RUNS } else { 0 } {
                    let mut image = [(); 17].map(|()| random.number());
                    write(&mut runs, &image[..set.words])?;
                    // SAFETY: the CPU has the instruction, and the function touches this image alone.
                    unsafe { function(&raw mut image) };
                    write(&mut runs, &image[..set.words])?;
                }
                fs::write(folder.join(name), runs)?;
            }
            let count = set.forms.len();
            if runs_here {
                println!("veriplex-isa: {ARCHITECTURE}: {count} forms, {RUNS} runs each");
            } else {
                println!(
                    "veriplex-isa: {ARCHITECTURE}: {count} forms not executed, for want of{}",
                    set.features
                );
            }
        }
        Ok(())
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

        /// Any number, and one time in four a small one, one of few bits, or one near the end.
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
}
