//! x86-64: the instructions that a kernel may have, each in its canonical encoding. `spec/cryptol/isa/X86_64.cry` says
//! what they do. Those that work on data are in Intel's list "Data Operand Independent Timing Instructions", which goes
//! by mnemonics. VAESENC, VALIGND, VBROADCASTI128, VBROADCASTI32X4, VEXTRACTI128, VINSERTI128, VINSERTI64X4, VMOVDQU64,
//! VMOVQ, VPADDD, VPADDQ, VPALIGNR, VPAND, VPANDN, VPANDQ, VPBROADCASTD, VPERM2I128, VPERMD, VPMADD52HUQ, VPMADD52LUQ,
//! VPMULUDQ, VPOR, VPROLD, VPSHUFB, VPSHUFD, VPSLLD, VPSLLDQ, VPSLLQ, VPSRLD, VPSRLDQ, VPSRLQ, VPTERNLOGQ, VPUNPCKHDQ,
//! VPUNPCKHQDQ, VPUNPCKLDQ, VPUNPCKLQDQ, VPXORQ, VSHUFI64X2 and VZEROALL were looked up in a copy of it: that of August
//! 2024 in the tool doit-enforcer, which has all of them. Jasmin's copy has no forms on 64 bytes and no VZEROALL.

use crate::machine::{Address, Effect, Instruction, Operand, Register, VECTOR, View};
use crate::{Error, Target};
use iced_x86::{
    Code, CpuidFeature, Decoder, DecoderOptions, Encoder, EncodingKind, Formatter as _, GasFormatter, OpKind,
};
use object::Architecture;
use std::collections::BTreeMap;

/// The System V ABI.
pub const TARGET: Target = Target {
    architecture: Architecture::X86_64,
    name: "x86-64",
    module: "isa::X86_64",
    // rdi, rsi, rdx, rcx, r8, r9
    arguments: &[7, 6, 2, 1, 8, 9],
    // rbx, rsp, rbp, r12 to r15
    callee_saved: &[
        Register::General(3),
        Register::General(4),
        Register::General(5),
        Register::General(12),
        Register::General(13),
        Register::General(14),
        Register::General(15),
    ],
    vector_prefixes: &[(VECTOR, "xmm"), (32, "ymm"), (64, "zmm")],
    vector_count: 32,
    general_names: &[
        "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
        "r14", "r15",
    ],
    decode,
    code_len,
};

fn code_len(code: &[u8]) -> u64 {
    Decoder::new(64, code, DecoderOptions::NONE)
        .into_iter()
        .filter(|decoded| decoded.code() == Code::Retnq)
        .last()
        .map_or(0, |last| last.next_ip())
}

fn decode(code: &[u8]) -> Result<BTreeMap<u64, Instruction>, Error> {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let mut formatter = GasFormatter::new();
    let mut instructions = BTreeMap::new();
    while decoder.can_decode() {
        let decoded = decoder.decode();
        let mut text = String::new();
        formatter.format(&decoded, &mut text);
        let effects =
            effects(&decoded).map_err(|reason| Error::new(decoded.ip(), format!("{reason}: {text}")))?;
        if !is_canonical(&decoded, code) {
            return Err(Error::new(
                decoded.ip(),
                format!("not the canonical encoding: {text}"),
            ));
        }
        let len = decoded.len() as u64;
        instructions.insert(
            decoded.ip(),
            Instruction {
                offset: decoded.ip(),
                len,
                text,
                features: features(&decoded),
                effects,
            },
        );
    }
    Ok(instructions)
}

/// Whether encoding the instruction again gives the bytes that it was decoded from. This excludes prefixes and bits
/// that the instruction does not need. Processors ignore some of them, and disagree about others: on some, 66 before a
/// jump or a return makes it a 16-bit one.
fn is_canonical(decoded: &iced_x86::Instruction, code: &[u8]) -> bool {
    // The encoder would repeat these. The decoder refuses LOCK.
    if decoded.has_rep_prefix() || decoded.has_repne_prefix() || decoded.has_segment_prefix() {
        return false;
    }
    let mut encoder = Encoder::new(64);
    let Ok(len) = encoder.encode(decoded, decoded.ip()) else {
        return false;
    };
    let at = usize::try_from(decoded.ip()).unwrap_or(usize::MAX);
    len == decoded.len()
        && code
            .get(at..)
            .is_some_and(|rest| rest.starts_with(&encoder.take_buffer()))
}

/// The CPU features that it needs, by their names in Rust, except those that every x86-64 has.
fn features(decoded: &iced_x86::Instruction) -> Vec<String> {
    use CpuidFeature::{CMOV, INTEL186, INTEL286, INTEL386, INTEL486, INTEL8086, SSE, SSE2, X64};
    let base = [
        CMOV, INTEL386, INTEL486, INTEL8086, INTEL186, INTEL286, SSE, SSE2, X64,
    ];
    let features = decoded.cpuid_features().iter();
    features
        .filter(|feature| !base.contains(feature))
        .map(|feature| format!("{feature:?}").to_lowercase().replace('_', ""))
        .collect()
}

#[allow(clippy::too_many_lines, clippy::match_same_arms)] // a table: one arm per encoding
fn effects(i: &iced_x86::Instruction) -> Result<Vec<Effect>, String> {
    let compute = |function: &'static str, operands: Vec<Operand>| -> Result<Vec<Effect>, String> {
        let destination = view(i, 0)?;
        // A legacy encoding keeps the rest of a vector register. VEX and EVEX encodings zero it.
        let legacy = i.encoding() == EncodingKind::Legacy;
        Ok(vec![Effect::Compute {
            destination,
            function,
            operands,
            keeps_above: legacy && matches!(destination.register, Register::Vector(_)),
        }])
    };
    // From register to register, or between a register and memory.
    let transfer = |function: &'static str| match (i.op0_kind(), i.op1_kind()) {
        (OpKind::Memory, _) => Ok(vec![Effect::Store {
            sources: vec![view(i, 1)?],
            function: "store",
            address: address(i)?,
        }]),
        (_, OpKind::Memory) => Ok(vec![Effect::Load {
            destinations: vec![view(i, 0)?],
            function: "load",
            address: address(i)?,
        }]),
        _ => compute(function, vec![operand(i, 1)?]),
    };
    let with_itself = i.op2_kind() == OpKind::Register && i.op1_register() == i.op2_register();
    let branch = |if_zero| {
        Ok(vec![Effect::Branch {
            target: i.near_branch64(),
            if_zero,
            register: None,
        }])
    };
    let count = |index| Operand::Constant(i.immediate(index), 8);
    if i.has_op_mask() || i.zeroing_masking() || i.is_broadcast() {
        return Err("with a mask or a broadcast".into());
    }
    match i.code() {
        Code::VEX_Vmovdqu_xmm_xmmm128 | Code::VEX_Vmovdqu_xmmm128_xmm => transfer("vmovdqu"),
        Code::VEX_Vmovdqu_ymm_ymmm256
        | Code::VEX_Vmovdqu_ymmm256_ymm
        | Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512
        | Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm => transfer("vmovdqu_wide"),
        Code::VEX_Vpxor_xmm_xmm_xmmm128 if with_itself => compute("vpxor_zero", vec![]),
        Code::VEX_Vpxor_ymm_ymm_ymmm256 if with_itself => compute("vpxor_zero_wide`{256}", vec![]),
        Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64 if with_itself => compute("vpxor_zero_wide`{512}", vec![]),
        Code::VEX_Vpxor_xmm_xmm_xmmm128 => compute("vpxor", vec![operand(i, 1)?, operand(i, 2)?]),
        Code::VEX_Vpxor_ymm_ymm_ymmm256 | Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64 => {
            compute("vpxor_wide", vec![operand(i, 1)?, operand(i, 2)?])
        }
        Code::VEX_Vaesenc_xmm_xmm_xmmm128 => compute("vaesenc", vec![operand(i, 1)?, operand(i, 2)?]),
        Code::VEX_Vaesenc_ymm_ymm_ymmm256 | Code::EVEX_Vaesenc_zmm_zmm_zmmm512 => {
            compute("vaesenc_wide", vec![operand(i, 1)?, operand(i, 2)?])
        }
        // On every 32 or 64 bits.
        Code::VEX_Vpaddd_xmm_xmm_xmmm128
        | Code::VEX_Vpaddd_ymm_ymm_ymmm256
        | Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 => compute("vpaddd", vec![operand(i, 1)?, operand(i, 2)?]),
        Code::VEX_Vpaddq_xmm_xmm_xmmm128
        | Code::VEX_Vpaddq_ymm_ymm_ymmm256
        | Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64 => compute("vpaddq", vec![operand(i, 1)?, operand(i, 2)?]),
        Code::VEX_Vpmuludq_ymm_ymm_ymmm256 | Code::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64 => {
            compute("vpmuludq", vec![operand(i, 1)?, operand(i, 2)?])
        }
        // Each adds to its destination, which comes first.
        Code::EVEX_Vpmadd52luq_zmm_k1z_zmm_zmmm512b64 => compute(
            "vpmadd52luq",
            vec![operand(i, 0)?, operand(i, 1)?, operand(i, 2)?],
        ),
        Code::EVEX_Vpmadd52huq_zmm_k1z_zmm_zmmm512b64 => compute(
            "vpmadd52huq",
            vec![operand(i, 0)?, operand(i, 1)?, operand(i, 2)?],
        ),
        Code::VEX_Vpbroadcastd_ymm_xmmm32 if i.op1_kind() == OpKind::Memory => {
            compute("vpbroadcastd`{8}", vec![operand(i, 1)?])
        }
        Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32 if i.op1_kind() == OpKind::Memory => {
            compute("vpbroadcastd`{16}", vec![operand(i, 1)?])
        }
        Code::VEX_Vpshufb_xmm_xmm_xmmm128 | Code::VEX_Vpshufb_ymm_ymm_ymmm256 => {
            compute("vpshufb", vec![operand(i, 1)?, operand(i, 2)?])
        }
        Code::VEX_Vbroadcasti128_ymm_m128 => compute("vbroadcasti128", vec![operand(i, 1)?]),
        Code::EVEX_Vbroadcasti32x4_zmm_k1z_m128 => compute("vbroadcasti32x4", vec![operand(i, 1)?]),
        Code::VEX_Vpalignr_xmm_xmm_xmmm128_imm8 => {
            compute("vpalignr", vec![operand(i, 1)?, operand(i, 2)?, count(3)])
        }
        Code::VEX_Vpalignr_ymm_ymm_ymmm256_imm8 | Code::EVEX_Vpalignr_zmm_k1z_zmm_zmmm512_imm8 => {
            compute("vpalignr_wide", vec![operand(i, 1)?, operand(i, 2)?, count(3)])
        }
        Code::VEX_Vpslldq_ymm_ymm_imm8 | Code::EVEX_Vpslldq_zmm_zmmm512_imm8 => {
            compute("vpslldq_wide", vec![operand(i, 1)?, count(2)])
        }
        Code::VEX_Vpsrldq_ymm_ymm_imm8 | Code::EVEX_Vpsrldq_zmm_zmmm512_imm8 => {
            compute("vpsrldq_wide", vec![operand(i, 1)?, count(2)])
        }
        Code::EVEX_Vshufi64x2_zmm_k1z_zmm_zmmm512b64_imm8 => {
            compute("vshufi64x2", vec![operand(i, 1)?, operand(i, 2)?, count(3)])
        }
        Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8 => {
            compute("vinserti128", vec![operand(i, 1)?, operand(i, 2)?, count(3)])
        }
        Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8 => {
            compute("vinserti64x4", vec![operand(i, 1)?, operand(i, 2)?, count(3)])
        }
        Code::VEX_Vextracti128_xmmm128_ymm_imm8 if i.op0_kind() == OpKind::Memory => {
            Ok(vec![Effect::StorePart {
                source: view(i, 1)?,
                function: "vextracti128",
                part: i.immediate(2),
                address: address(i)?,
            }])
        }
        // The XOR of three registers; the XOR of one with two of which the first is complemented, or neither.
        Code::EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8 => {
            let function = match i.immediate(3) {
                0x96 => "vpternlogq_xor",
                0xd2 => "vpternlogq_xor_andn",
                0x78 => "vpternlogq_xor_and",
                _ => return Err("not in the list of instructions".into()),
            };
            compute(function, vec![operand(i, 0)?, operand(i, 1)?, operand(i, 2)?])
        }
        Code::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8 => compute("vprold", vec![operand(i, 1)?, count(2)]),
        Code::VEX_Vpslld_xmm_xmm_imm8
        | Code::VEX_Vpslld_ymm_ymm_imm8
        | Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8 => compute("vpslld", vec![operand(i, 1)?, count(2)]),
        Code::VEX_Vpsrld_xmm_xmm_imm8
        | Code::VEX_Vpsrld_ymm_ymm_imm8
        | Code::EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8 => compute("vpsrld", vec![operand(i, 1)?, count(2)]),
        Code::VEX_Vpsllq_ymm_ymm_imm8 | Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8 => {
            compute("vpsllq", vec![operand(i, 1)?, count(2)])
        }
        Code::VEX_Vpsrlq_ymm_ymm_imm8 | Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8 => {
            compute("vpsrlq", vec![operand(i, 1)?, count(2)])
        }
        Code::VEX_Vpor_xmm_xmm_xmmm128 | Code::VEX_Vpor_ymm_ymm_ymmm256 => {
            compute("vpor", vec![operand(i, 1)?, operand(i, 2)?])
        }
        Code::VEX_Vpandn_xmm_xmm_xmmm128 | Code::VEX_Vpandn_ymm_ymm_ymmm256 => {
            compute("vpandn", vec![operand(i, 1)?, operand(i, 2)?])
        }
        Code::VEX_Vpand_xmm_xmm_xmmm128
        | Code::VEX_Vpand_ymm_ymm_ymmm256
        | Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64 => compute("vpand", vec![operand(i, 1)?, operand(i, 2)?]),
        Code::VEX_Vpunpckldq_ymm_ymm_ymmm256 | Code::EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32 => {
            compute("vpunpckldq", vec![operand(i, 1)?, operand(i, 2)?])
        }
        Code::VEX_Vpunpckhdq_ymm_ymm_ymmm256 | Code::EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32 => {
            compute("vpunpckhdq", vec![operand(i, 1)?, operand(i, 2)?])
        }
        Code::VEX_Vpunpcklqdq_xmm_xmm_xmmm128
        | Code::VEX_Vpunpcklqdq_ymm_ymm_ymmm256
        | Code::EVEX_Vpunpcklqdq_zmm_k1z_zmm_zmmm512b64 => {
            compute("vpunpcklqdq", vec![operand(i, 1)?, operand(i, 2)?])
        }
        Code::VEX_Vpunpckhqdq_ymm_ymm_ymmm256 | Code::EVEX_Vpunpckhqdq_zmm_k1z_zmm_zmmm512b64 => {
            compute("vpunpckhqdq", vec![operand(i, 1)?, operand(i, 2)?])
        }
        Code::VEX_Vpshufd_xmm_xmmm128_imm8
        | Code::VEX_Vpshufd_ymm_ymmm256_imm8
        | Code::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8 => compute("vpshufd", vec![operand(i, 1)?, count(2)]),
        Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8 => {
            compute("vperm2i128", vec![operand(i, 1)?, operand(i, 2)?, count(3)])
        }
        Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32 => compute("vpermd", vec![operand(i, 1)?, operand(i, 2)?]),
        Code::EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8 => {
            compute("valignd", vec![operand(i, 1)?, operand(i, 2)?, count(3)])
        }
        // The sixteen registers from before AVX-512, to their full width.
        Code::VEX_Vzeroall => Ok((0..16)
            .map(|number| Effect::Compute {
                destination: View {
                    register: Register::Vector(number),
                    bytes: 64,
                },
                function: "vpxor_zero_wide`{512}",
                operands: vec![],
                keeps_above: false,
            })
            .collect()),
        Code::VEX_Vmovq_xmm_rm64 if i.op1_kind() == OpKind::Register => compute("movq", vec![operand(i, 1)?]),
        Code::Mov_r64_rm64 if i.op1_kind() == OpKind::Memory => Ok(vec![Effect::LoadPointer {
            register: view(i, 0)?.register,
            address: address(i)?,
            moves: false,
        }]),
        Code::Mov_rm64_imm32 if i.op0_kind() == OpKind::Register && i.immediate(1) == 0 => {
            Ok(vec![Effect::SetIndex {
                register: view(i, 0)?.register,
            }])
        }
        // A write to the low half clears the high half.
        Code::Xor_r32_rm32 | Code::Xor_rm32_r32
            if i.op1_kind() == OpKind::Register && i.op0_register() == i.op1_register() =>
        {
            let number = u8::try_from(i.op0_register().number()).map_err(|e| e.to_string())?;
            Ok(vec![
                Effect::SetIndex {
                    register: Register::General(number),
                },
                Effect::ClobberFlags,
            ])
        }
        Code::VEX_Vpslldq_xmm_xmm_imm8 => compute("vpslldq", vec![operand(i, 1)?, count(2)]),
        Code::VEX_Vpsrldq_xmm_xmm_imm8 => compute("vpsrldq", vec![operand(i, 1)?, count(2)]),
        Code::Movq_xmm_rm64 if i.op1_kind() == OpKind::Register => compute("movq", vec![operand(i, 1)?]),
        Code::Mov_r64_imm64 => compute("mov", vec![Operand::Constant(i.immediate(1), 64)]),
        Code::Add_rm64_imm8 | Code::Add_rm64_imm32 if i.op0_kind() == OpKind::Register => {
            let constant = i.immediate(1).cast_signed();
            Ok(vec![
                Effect::Add {
                    register: view(i, 0)?.register,
                    constant,
                },
                Effect::ClobberFlags,
            ])
        }
        Code::Dec_rm64 if i.op0_kind() == OpKind::Register => Ok(vec![
            Effect::Add {
                register: view(i, 0)?.register,
                constant: -1,
            },
            Effect::ClobberFlags,
        ]),
        Code::Cmp_rm64_imm8 if i.op0_kind() == OpKind::Register && i.immediate(1) == 0 => {
            Ok(vec![Effect::Compare {
                register: view(i, 0)?.register,
            }])
        }
        // After a comparison with zero, "above" means "not equal".
        Code::Ja_rel8_64 | Code::Ja_rel32_64 | Code::Jne_rel8_64 | Code::Jne_rel32_64 => branch(false),
        Code::Jbe_rel8_64 | Code::Jbe_rel32_64 | Code::Je_rel8_64 | Code::Je_rel32_64 => branch(true),
        Code::Jmp_rel8_64 | Code::Jmp_rel32_64 => Ok(vec![Effect::Jump {
            target: i.near_branch64(),
        }]),
        Code::Retnq => Ok(vec![Effect::Return { link: None }]),
        _ => Err("not in the list of instructions".into()),
    }
}

fn operand(i: &iced_x86::Instruction, index: u32) -> Result<Operand, String> {
    match i.op_kind(index) {
        OpKind::Memory => {
            let bytes = u8::try_from(i.memory_size().size()).map_err(|e| e.to_string())?;
            Ok(Operand::Memory(address(i)?, bytes))
        }
        _ => Ok(Operand::Register(view(i, index)?)),
    }
}

fn view(i: &iced_x86::Instruction, index: u32) -> Result<View, String> {
    let register = i.op_register(index);
    let number = u8::try_from(register.number()).map_err(|e| e.to_string())?;
    let bytes = u8::try_from(register.size()).map_err(|e| e.to_string())?;
    let register = match register {
        _ if register.is_vector_register() && number < 32 => Register::Vector(number),
        _ if register.is_gpr64() && number < 16 => Register::General(number),
        _ => return Err("not in the list of registers".into()),
    };
    Ok(View { register, bytes })
}

/// A 64-bit base register plus a constant, perhaps plus an unscaled index; no segment, not relative to the instruction.
fn address(i: &iced_x86::Instruction) -> Result<Address, String> {
    let base = i.memory_base();
    let general = |register: iced_x86::Register| {
        let number = u8::try_from(register.number()).ok();
        number
            .filter(|number| register.is_gpr64() && *number < 16)
            .map(Register::General)
    };
    let index = match i.memory_index() {
        iced_x86::Register::None => None,
        index => Some(general(index).ok_or("an index that is not a general register")?),
    };
    if let Some(base) = general(base)
        && !i.has_segment_prefix()
        && (index.is_none() || i.memory_index_scale() == 1)
    {
        let offset = i.memory_displacement64().cast_signed();
        Ok(Address { base, index, offset })
    } else {
        Err("an address that is not a register plus a constant".into())
    }
}
