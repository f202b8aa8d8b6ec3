//! The instructions in the kernels for one state. Each form that occurs in one has a formula in
//! `proofs/saw/x86-64/instructions.saw`. SAW's model of the machine is proved to equal the formula, and we compare
//! the formula with this CPU here. A form without a formula fails.
//!
//! We also check what SAW does not: that a kernel leaves its caller's registers alone.
#![cfg(all(
    target_arch = "x86_64",
    target_os = "linux",
    not(veriplex_backend = "portable")
))]

use iced_x86::{
    Decoder, DecoderOptions, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register,
};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use veriplex_lift::Architecture;
use veriplex_lift::table::{Kernel, TABLE};
use veriplex_spec::aes::aes_round;

#[path = "linked.rs"]
mod addresses;

std::arch::global_asm!(
    ".pushsection .text.forms,\"ax\",@progbits",
    include_str!("../../proofs/saw/lib/instructions.s"),
    ".popsection",
    options(att_syntax)
);

/// The registers that a function in `instructions.s` works on: xmm0, xmm1, rax.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
struct Registers {
    x: [u64; 2],
    y: [u64; 2],
    r: u64,
}

fn word(x: [u64; 2]) -> u128 {
    u128::from(x[0]) | u128::from(x[1]) << 64
}

#[allow(clippy::cast_possible_truncation)] // the halves of a 128-bit number
fn halves(x: u128) -> [u64; 2] {
    [x as u64, (x >> 64) as u64]
}

/// A form: its name, the function in `instructions.s`, and the formula, which maps xmm0, xmm1 and rax to the new xmm0
/// and rax.
type Formula = fn(u128, u128, u64) -> (u128, u64);

macro_rules! forms {
    ($($name:ident $symbol:ident: $formula:expr;)*) => {
        unsafe extern "C" {
            $(fn $symbol(registers: *mut Registers);)*
        }
        const FORMS: &[(&str, unsafe extern "C" fn(*mut Registers), Formula)] =
            &[$((stringify!($name), $symbol, $formula)),*];
    };
}

fn aesenc(x: u128, key: u128) -> u128 {
    u128::from_le_bytes(aes_round(x.to_le_bytes(), key.to_le_bytes()))
}

forms! {
    vpxor_register form_vpxor_register: |x, y, r| (x ^ y, r);
    vpxor_memory form_vpxor_memory: |x, y, r| (x ^ y, r);
    vaesenc_register form_vaesenc_register: |x, y, r| (aesenc(x, y), r);
    vaesenc_memory form_vaesenc_memory: |x, y, r| (aesenc(x, y), r);
    vmovdqu_register form_vmovdqu_register: |_, y, r| (y, r);
    vmovdqu_store_register form_vmovdqu_store_register: |_, y, r| (y, r);
    vmovdqu_load form_vmovdqu_load: |x, y, r| (x >> 64 | y << 64, r);
    vpslldq_8 form_vpslldq_8: |_, y, r| (y << (8 * 8), r);
    vpslldq_14 form_vpslldq_14: |_, y, r| (y << (8 * 14), r);
    vpsrldq_2 form_vpsrldq_2: |_, y, r| (y >> (8 * 2), r);
    vpsrldq_14 form_vpsrldq_14: |_, y, r| (y >> (8 * 14), r);
    vpalignr_14 form_vpalignr_14: |x, y, r| (x << (8 * 2) | y >> (8 * 14), r);
    movq form_movq: |_, _, r| (u128::from(r), r);
    movabs form_movabs: |x, _, _| (x, 0x8100_0000_0000_0000);
    add_94 form_add_94: |x, _, r| (x, r.wrapping_add(94));
    dec form_dec: |x, _, r| (x, r.wrapping_sub(1));
    cmp_0_ja form_cmp_0_ja: |x, y, r| (if r > 0 { x } else { y }, r);
    jmp form_jmp: |x, _, r| (x, r);
}

unsafe extern "C" {
    fn form_vmovdqu_store(registers: *mut Registers);
}

/// Any number, and often a small one or one with a single bit set.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => any::<u64>(), 1 => 0..4u64, 1 => (0..64u32).prop_map(|i| 1 << i), 1 => Just(u64::MAX)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn the_cpu_does_what_the_proofs_say(x: [u64; 2], y: [u64; 2], r in number()) {
        prop_assume!(std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("avx"));
        for (name, function, formula) in FORMS {
            let (expected, r_expected) = formula(word(x), word(y), r);
            let mut registers = Registers { x, y, r };
            // SAFETY: the CPU has the instructions, and the function touches only this struct.
            unsafe { function(&raw mut registers) };
            prop_assert_eq!(registers, Registers { x: halves(expected), y, r: r_expected }, "{}", name);
        }
        let mut registers = Registers { x, y, r };
        // SAFETY: as above.
        unsafe { form_vmovdqu_store(&raw mut registers) };
        prop_assert_eq!(registers, Registers { x: [x[0], y[0]], y: [y[1], y[1]], r }, "vmovdqu_store");
    }
}

/// The functions of this program whose names begin with `prefix`, and their instructions.
fn functions(prefix: &str) -> BTreeMap<String, Vec<Instruction>> {
    assert!(!addresses::addresses().is_empty());
    let file = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let object = object::File::parse(&*file).unwrap();
    object
        .symbols()
        .filter(|symbol| symbol.size() > 0 && symbol.kind() == object::SymbolKind::Text)
        .filter_map(|symbol| {
            let name = symbol.name().ok()?.strip_prefix(prefix)?;
            let section = object.section_by_index(symbol.section_index()?).ok()?;
            let bytes = section.data_range(symbol.address(), symbol.size()).ok()??;
            let decoder = Decoder::with_ip(64, bytes, symbol.address(), DecoderOptions::NONE);
            Some((name.to_owned(), decoder.into_iter().collect()))
        })
        .collect()
}

fn kernels() -> BTreeMap<String, Vec<Instruction>> {
    let kernels: BTreeMap<_, _> = (functions("veriplex_").into_iter())
        .filter_map(|(name, instructions)| Some((name.rsplit_once("_v")?.0.to_owned(), instructions)))
        .filter(|(name, _)| TABLE.find(Architecture::X86_64, name).is_some())
        .collect();
    assert_eq!(
        kernels.len(),
        addresses::addresses().len(),
        "{:?}",
        kernels.keys()
    );
    kernels
}

/// What distinguishes one form from another: the encoding, whether an operand is in memory and how it is addressed, and
/// the constant. The width and target of a jump do not.
fn form(instruction: &Instruction) -> String {
    if instruction.is_jmp_short_or_near() || instruction.is_jcc_short_or_near() {
        return format!("{:?}", instruction.mnemonic());
    }
    let mut form = format!("{:?}", instruction.code());
    for i in 0..instruction.op_count() {
        match instruction.op_kind(i) {
            OpKind::Register => form.push_str(" register"),
            OpKind::Memory => {
                assert_eq!(instruction.memory_index(), Register::None, "{instruction:?}");
                assert_eq!(instruction.segment_prefix(), Register::None, "{instruction:?}");
                assert!(!instruction.is_ip_rel_memory_operand(), "{instruction:?}");
                form.push_str(" memory");
            }
            _ => write!(form, " {:#x}", instruction.immediate(i)).unwrap(),
        }
    }
    form
}

/// The proof with SAW's own decoder and model, if a kernel has one.
fn macaw_script(level: &str, kernel: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join(format!("proofs/saw/{level}/{kernel}_macaw.saw"))
}

#[test]
fn every_form_in_a_kernel_is_compared() {
    let compared: BTreeMap<String, String> = functions("form_")
        .iter()
        .flat_map(|(name, instructions)| instructions.iter().map(|i| (form(i), name.clone())))
        .collect();
    assert_eq!(
        functions("form_").len(),
        FORMS.len() + 1,
        "a function in instructions.s is not compared"
    );
    let mut missing = BTreeSet::new();
    for (kernel, instructions) in kernels() {
        let (level, _) = TABLE.find(Architecture::X86_64, &kernel).unwrap();
        if !macaw_script(&level.name, &kernel).is_file() {
            assert!(TABLE.kernel(&kernel).is_some_and(Kernel::has_lanes), "{kernel}");
            continue; // SAW's model has not seen it
        }
        for instruction in instructions {
            let form = form(&instruction);
            if !compared.contains_key(&form) {
                missing.insert(format!("{kernel}: {form}"));
            }
        }
    }
    assert!(missing.is_empty(), "instructions.s lacks {missing:#?}");
}

/// Every instruction in a kernel exists on every CPU with the features of its level.
#[test]
fn the_features_suffice() {
    let mut wrong = BTreeSet::new();
    for (name, instructions) in kernels() {
        let (level, kernel) = TABLE.find(Architecture::X86_64, &name).unwrap();
        let features = &kernel.levels[&level.name].features;
        for feature in instructions.iter().flat_map(Instruction::cpuid_features) {
            let feature = format!("{feature:?}").to_lowercase().replace('_', "");
            // What every x86-64 CPU has.
            let base = feature.starts_with("intel") || ["x64", "sse", "sse2", "cmov"].contains(&&*feature);
            if !base && !features.contains(&feature) {
                wrong.insert(format!("{name} needs {feature}"));
            }
        }
    }
    assert!(wrong.is_empty(), "jasmin/kernels.toml: {wrong:?}");
}

#[test]
fn the_callers_registers_and_the_stack_are_left_alone() {
    const KEPT: [Register; 7] = [
        Register::RBX,
        Register::RBP,
        Register::RSP,
        Register::R12,
        Register::R13,
        Register::R14,
        Register::R15,
    ];
    let mut factory = InstructionInfoFactory::new();
    for (kernel, instructions) in kernels() {
        assert_eq!(
            instructions
                .iter()
                .filter(|i| i.mnemonic() == Mnemonic::Ret)
                .count(),
            1,
            "{kernel}"
        );
        assert_eq!(instructions.last().unwrap().mnemonic(), Mnemonic::Ret, "{kernel}");
        for instruction in instructions.iter().filter(|i| i.mnemonic() != Mnemonic::Ret) {
            assert!(!instruction.is_stack_instruction(), "{kernel}: {instruction:?}");
            for used in factory.info(instruction).used_registers() {
                let written = !matches!(
                    used.access(),
                    OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess
                );
                let register = used.register().full_register();
                assert!(!written || !KEPT.contains(&register), "{kernel}: {instruction:?}");
            }
            assert_eq!(
                instruction.rflags_modified() & iced_x86::RflagsBits::DF,
                0,
                "{kernel}: {instruction:?}"
            );
        }
    }
}
