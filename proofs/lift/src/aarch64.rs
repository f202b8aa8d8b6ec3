//! The 64-bit Arm architecture: the instructions that a kernel may have. All are in Arm's list of instructions with
//! data-independent timing (PSTATE.DIT). Their meaning is in `spec/cryptol/isa/AArch64.cry`.

use crate::machine::{Address, Effect, Instruction, Operand, Register, VECTOR, View};
use crate::{Error, Target};
use object::Architecture;
use std::collections::BTreeMap;
use yaxpeax_arch::{Decoder as _, U8Reader};
use yaxpeax_arm::armv8::a64::{
    InstDecoder, Instruction as Decoded, Opcode, Operand as Part, SIMDSizeCode, SizeCode,
};

const STACK_POINTER: u8 = 31;
const LINK: u8 = 30;
/// RET through the link register.
const RET: u32 = 0xd65f_03c0;

/// The AAPCS64.
pub const TARGET: Target = Target {
    architecture: Architecture::Aarch64,
    name: "armv8",
    module: "isa::AArch64",
    arguments: &[0, 1, 2, 3, 4, 5, 6, 7],
    // x18 belongs to the platform. Of v8 to v15 only the lower halves are callee-saved; the kernels use neither half.
    callee_saved: &[
        Register::General(18),
        Register::General(19),
        Register::General(20),
        Register::General(21),
        Register::General(22),
        Register::General(23),
        Register::General(24),
        Register::General(25),
        Register::General(26),
        Register::General(27),
        Register::General(28),
        Register::General(29),
        Register::General(STACK_POINTER),
        Register::Vector(8),
        Register::Vector(9),
        Register::Vector(10),
        Register::Vector(11),
        Register::Vector(12),
        Register::Vector(13),
        Register::Vector(14),
        Register::Vector(15),
    ],
    vector_prefixes: &[(VECTOR, "v")],
    vector_count: 32,
    general_names: &[
        "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29",
        "x30", "sp",
    ],
    decode,
    code_len,
};

/// The bits of an instruction that are not operands, and their values. A decoder that ignored one of them would take an
/// instruction that does not exist for one of these.
const ENCODINGS: [(u32, u32); 37] = [
    (0xffff_fc00, 0x4e28_4800), // AESE
    (0xffff_fc00, 0x4e28_6800), // AESMC
    (0xffe0_fc00, 0x6e20_1c00), // EOR
    (0xffe0_fc00, 0x4ea0_1c00), // ORR
    (0xffe0_fc00, 0x4e20_1c00), // AND
    (0xffe0_fc00, 0x4e60_1c00), // BIC
    (0xffe0_fc00, 0x4ea0_8400), // ADD, 4S
    (0xffe0_fc00, 0x4ee0_8400), // ADD, 2D
    (0xffe0_fc00, 0x2ea0_8000), // UMLAL, 2D
    (0xffe0_fc00, 0x6ea0_8000), // UMLAL2, 2D
    (0xffe0_fc00, 0x2ea0_c000), // UMULL, 2D
    (0xffe0_fc00, 0x6ea0_c000), // UMULL2, 2D
    (0xffe0_fc00, 0x4e80_1800), // UZP1, 4S
    (0xffe0_fc00, 0x4e80_2800), // TRN1, 4S
    (0xffe0_fc00, 0x4ec0_3800), // ZIP1, 2D
    (0xffe0_fc00, 0x4ec0_7800), // ZIP2, 2D
    (0xffc0_fc00, 0x4f40_5400), // SHL, 2D
    (0xffc0_fc00, 0x6f40_0400), // USHR, 2D
    (0xffc0_fc00, 0x6f40_1400), // USRA, 2D
    (0xfff8_9c00, 0x6f00_1400), // BIC, 4S, with a constant
    (0xffff_fc00, 0x4c40_0800), // LD4, 4S
    (0xffe0_fc00, 0x4f20_5400), // SHL, 4S
    (0xffe0_fc00, 0x6f20_4400), // SRI, 4S
    (0xffe0_8400, 0x6e00_0000), // EXT
    (0xfff8_fc00, 0x6f00_e400), // MOVI, 2D
    (0xfff8_dc00, 0x4f00_8400), // MOVI, 8H
    (0xffc0_0000, 0xad40_0000), // LDP
    (0xffc0_0000, 0xa940_0000), // LDP, 64 bits
    (0xffc0_0000, 0xad00_0000), // STP
    (0xffe0_0c00, 0x3cc0_0000), // LDUR
    (0xffe0_0c00, 0x3c80_0000), // STUR
    (0xffc0_0000, 0x9100_0000), // ADD
    (0xffc0_0000, 0xd100_0000), // SUB
    (0xff00_0000, 0xb400_0000), // CBZ
    (0xff00_0000, 0xb500_0000), // CBNZ
    (0xfc00_0000, 0x1400_0000), // B
    (0xffff_ffff, 0xd65f_03c0), // RET
];

fn code_len(code: &[u8]) -> u64 {
    let (words, _) = code.as_chunks();
    let last = words.iter().rposition(|word| u32::from_le_bytes(*word) == RET);
    last.map_or(0, |last| 4 * (last as u64 + 1))
}

fn decode(code: &[u8]) -> Result<BTreeMap<u64, Instruction>, Error> {
    let decoder = InstDecoder::default();
    let mut instructions = BTreeMap::new();
    for (index, bytes) in code.chunks(4).enumerate() {
        let offset = 4 * index as u64;
        let decoded = decoder
            .decode(&mut U8Reader::new(bytes))
            .map_err(|e| Error::new(offset, format!("not an instruction: {e}")))?;
        let text = decoded.to_string();
        let effects =
            effects(&decoded, offset).map_err(|reason| Error::new(offset, format!("{reason}: {text}")))?;
        let word = bytes.try_into().map(u32::from_le_bytes).unwrap_or_default();
        if !ENCODINGS.iter().any(|(mask, bits)| word & mask == *bits) {
            return Err(Error::new(
                offset,
                format!("not an encoding of an instruction in the list: {text}"),
            ));
        }
        instructions.insert(
            offset,
            Instruction {
                offset,
                len: 4,
                text,
                features: features(decoded.opcode),
                effects,
            },
        );
    }
    Ok(instructions)
}

/// The CPU features that it needs, by their names in Rust, except those that every ARMv8-A with vectors has.
fn features(opcode: Opcode) -> Vec<String> {
    match opcode {
        Opcode::AESE | Opcode::AESMC => vec!["aes".to_owned()],
        _ => Vec::new(),
    }
}

#[allow(clippy::too_many_lines)] // a table: one arm per encoding
fn effects(i: &Decoded, at: u64) -> Result<Vec<Effect>, String> {
    let compute = |function: &'static str, destination: View, operands: Vec<Operand>| {
        Ok(vec![Effect::Compute {
            destination,
            function,
            operands,
            keeps_above: false,
        }])
    };
    let value = |part: Part| Ok::<_, String>(Operand::Register(vector(part)?));
    let word = |part: Part| Ok::<_, String>(Operand::Register(words(part)?));
    let half = |part: Part| Ok::<_, String>(Operand::Register(halves(part)?));
    match (i.opcode, i.operands) {
        (Opcode::AESE, [d, n, Part::Nothing, _]) => compute("aese", vector(d)?, vec![value(d)?, value(n)?]),
        (Opcode::AESMC, [d, n, Part::Nothing, _]) => compute("aesmc", vector(d)?, vec![value(n)?]),
        (Opcode::EOR, [d, n, m, Part::Nothing]) => compute("eor", vector(d)?, vec![value(n)?, value(m)?]),
        (Opcode::ORR, [d, n, m, Part::Nothing]) if n == m => compute("mov", vector(d)?, vec![value(n)?]),
        (Opcode::AND, [d, n, m, Part::Nothing]) => compute("and_16b", vector(d)?, vec![value(n)?, value(m)?]),
        (Opcode::BIC, [d, n, m @ Part::SIMDRegisterElements(..), Part::Nothing]) => {
            compute("bic", vector(d)?, vec![value(n)?, value(m)?])
        }
        (
            Opcode::ADD,
            [
                Part::SIMDRegisterElements(SIMDSizeCode::Q, d, size),
                n,
                m,
                Part::Nothing,
            ],
        ) if size == SIMDSizeCode::S || size == SIMDSizeCode::D => {
            let function = if size == SIMDSizeCode::S {
                "add_4s"
            } else {
                "add_2d"
            };
            let value = |part| Ok::<_, String>(Operand::Register(elements(part, size)?));
            compute(function, view(d)?, vec![value(n)?, value(m)?])
        }
        (
            Opcode::UMLAL | Opcode::UMLAL2 | Opcode::UMULL | Opcode::UMULL2,
            [
                d,
                n @ Part::SIMDRegisterElements(..),
                m @ Part::SIMDRegisterElements(..),
                Part::Nothing,
            ],
        ) => {
            let (function, adds, half): (_, _, fn(Part) -> _) = match i.opcode {
                Opcode::UMLAL => ("umlal_2d", true, low_words),
                Opcode::UMLAL2 => ("umlal2_2d", true, words),
                Opcode::UMULL => ("umull_2d", false, low_words),
                _ => ("umull2_2d", false, words),
            };
            let d = elements(d, SIMDSizeCode::D)?;
            let sums = adds.then_some(Operand::Register(d));
            let factors = [n, m].map(|part| half(part).map(Operand::Register));
            let operands = sums.into_iter().map(Ok).chain(factors);
            compute(function, d, operands.collect::<Result<_, _>>()?)
        }
        (Opcode::UZP1, [d, n, m, Part::Nothing]) => compute("uzp1_4s", words(d)?, vec![word(n)?, word(m)?]),
        (Opcode::TRN1, [d, n, m, Part::Nothing]) => compute("trn1_4s", words(d)?, vec![word(n)?, word(m)?]),
        (Opcode::ZIP1, [d, n, m, Part::Nothing]) => compute("zip1_2d", halves(d)?, vec![half(n)?, half(m)?]),
        (Opcode::ZIP2, [d, n, m, Part::Nothing]) => compute("zip2_2d", halves(d)?, vec![half(n)?, half(m)?]),
        (
            Opcode::BIC,
            [
                Part::SIMDRegisterElements(SIMDSizeCode::Q, d, SIMDSizeCode::S),
                Part::ImmShift(imm, amount),
                _,
                _,
            ],
        ) if imm < 256 => {
            let operands = vec![
                Operand::Register(view(d)?),
                Operand::Constant(imm.into(), 8),
                Operand::Constant(amount.into(), 5),
            ];
            compute("bic_4s", view(d)?, operands)
        }
        (
            Opcode::SHL,
            [
                d @ Part::SIMDRegisterElements(_, _, SIMDSizeCode::D),
                n,
                Part::Immediate(shift),
                _,
            ],
        ) => compute(
            "shl_2d",
            halves(d)?,
            vec![half(n)?, Operand::Constant(shift.into(), 6)],
        ),
        (Opcode::USHR, [d, n, Part::Immediate(shift), _]) => compute(
            "ushr_2d",
            halves(d)?,
            vec![half(n)?, Operand::Constant(shift.into(), 7)],
        ),
        (Opcode::USRA, [d, n, Part::Immediate(shift), _]) => compute(
            "usra_2d",
            halves(d)?,
            vec![half(d)?, half(n)?, Operand::Constant(shift.into(), 7)],
        ),
        (Opcode::SHL, [d, n, Part::Immediate(shift), Part::Nothing]) => compute(
            "shl_4s",
            words(d)?,
            vec![Operand::Register(words(n)?), Operand::Constant(shift.into(), 5)],
        ),
        (Opcode::SRI, [d, n, Part::Immediate(shift), Part::Nothing]) => compute(
            "sri_4s",
            words(d)?,
            vec![
                Operand::Register(words(d)?),
                Operand::Register(words(n)?),
                Operand::Constant(shift.into(), 6),
            ],
        ),
        (Opcode::EXT, [d, n, m, Part::Imm16(index)]) => compute(
            "ext",
            vector(d)?,
            vec![value(n)?, value(m)?, Operand::Constant(index.into(), 4)],
        ),
        (
            Opcode::MOVI,
            [
                Part::SIMDRegisterElements(SIMDSizeCode::Q, d, SIMDSizeCode::D),
                Part::Imm64(imm),
                _,
                _,
            ],
        ) => compute("movi_2d", view(d)?, vec![Operand::Constant(byte_mask(imm)?, 8)]),
        (
            Opcode::MOVI,
            [
                Part::SIMDRegisterElements(SIMDSizeCode::Q, d, SIMDSizeCode::H),
                Part::ImmShift(imm, amount),
                _,
                _,
            ],
        ) if imm < 256 => {
            let operands = vec![
                Operand::Constant(imm.into(), 8),
                Operand::Constant(amount.into(), 4),
            ];
            compute("movi_8h", view(d)?, operands)
        }
        // The architecture does not say what a load of two values into one register does.
        (
            Opcode::LDP,
            [
                t1 @ Part::Register(SizeCode::X, _),
                t2 @ Part::Register(SizeCode::X, _),
                place,
                Part::Nothing,
            ],
        ) if t1 != t2 => {
            let first = address(place)?;
            let second = Address {
                offset: first.offset + 8,
                ..first
            };
            let pointer = |t, address| {
                Ok::<_, String>(Effect::LoadPointer {
                    register: general(t)?,
                    address,
                    moves: true,
                })
            };
            Ok(vec![pointer(t1, first)?, pointer(t2, second)?])
        }
        (Opcode::LDP, [t1, t2, place, Part::Nothing]) if t1 != t2 => Ok(vec![Effect::Load {
            destinations: vec![q(t1)?, q(t2)?],
            function: "ldp",
            address: address(place)?,
        }]),
        // The last register may be followed by the first one.
        (
            Opcode::LD4,
            [
                Part::SIMDRegisterGroup(SIMDSizeCode::Q, first, SIMDSizeCode::S, 4),
                place,
                Part::Nothing,
                _,
            ],
        ) => Ok(vec![Effect::Load {
            destinations: (first..first + 4)
                .map(|n| view(n % 32))
                .collect::<Result<_, _>>()?,
            function: "ld4_4s",
            address: address(place)?,
        }]),
        (Opcode::LDUR, [t, place, Part::Nothing, _]) => Ok(vec![Effect::Load {
            destinations: vec![q(t)?],
            function: "ldur",
            address: address(place)?,
        }]),
        (Opcode::STP, [t1, t2, place, Part::Nothing]) => Ok(vec![Effect::Store {
            sources: vec![q(t1)?, q(t2)?],
            function: "stp",
            address: address(place)?,
        }]),
        (Opcode::STUR, [t, place, Part::Nothing, _]) => Ok(vec![Effect::Store {
            sources: vec![q(t)?],
            function: "stur",
            address: address(place)?,
        }]),
        (Opcode::ADD | Opcode::SUB, [d, n, Part::Immediate(imm), Part::Nothing]) if d == n => {
            let constant = if i.opcode == Opcode::ADD {
                i64::from(imm)
            } else {
                -i64::from(imm)
            };
            Ok(vec![Effect::Add {
                register: general(d)?,
                constant,
            }])
        }
        (Opcode::CBNZ | Opcode::CBZ, [t, Part::PCOffset(offset), _, _]) => Ok(vec![Effect::Branch {
            target: at.wrapping_add_signed(offset),
            if_zero: i.opcode == Opcode::CBZ,
            register: Some(general(t)?),
        }]),
        (Opcode::B, [Part::PCOffset(offset), Part::Nothing, _, _]) => Ok(vec![Effect::Jump {
            target: at.wrapping_add_signed(offset),
        }]),
        (Opcode::RET, [Part::Register(SizeCode::X, link), ..]) if link == LINK.into() => {
            Ok(vec![Effect::Return {
                link: Some(Register::General(LINK)),
            }])
        }
        _ => Err("not in the list of instructions".into()),
    }
}

fn number(register: u16) -> Result<u8, String> {
    u8::try_from(register).map_err(|e| e.to_string())
}

fn view(vector: u16) -> Result<View, String> {
    Ok(View {
        register: Register::Vector(number(vector)?),
        bytes: VECTOR,
    })
}

/// A whole vector register as 16 bytes.
fn vector(part: Part) -> Result<View, String> {
    elements(part, SIMDSizeCode::B)
}

/// A whole vector register as four words of 32 bits.
fn words(part: Part) -> Result<View, String> {
    elements(part, SIMDSizeCode::S)
}

/// The low half of a vector register, two words of 32 bits. Its definition gets the whole register.
fn low_words(part: Part) -> Result<View, String> {
    match part {
        Part::SIMDRegisterElements(SIMDSizeCode::D, n, SIMDSizeCode::S) => view(n),
        _ => Err("not in the list of registers".into()),
    }
}

/// A whole vector register as two words of 64 bits.
fn halves(part: Part) -> Result<View, String> {
    elements(part, SIMDSizeCode::D)
}

fn elements(part: Part, of: SIMDSizeCode) -> Result<View, String> {
    match part {
        Part::SIMDRegisterElements(SIMDSizeCode::Q, n, size) if size == of => view(n),
        _ => Err("not in the list of registers".into()),
    }
}

/// A whole vector register.
fn q(part: Part) -> Result<View, String> {
    match part {
        Part::SIMDRegister(SIMDSizeCode::Q, n) => view(n),
        _ => Err("not in the list of registers".into()),
    }
}

/// A general register of 64 bits, but not the zero register. Where 31 is the stack pointer, it is excluded too.
fn general(part: Part) -> Result<Register, String> {
    match part {
        Part::Register(SizeCode::X, n) | Part::RegisterOrSP(SizeCode::X, n) if n < STACK_POINTER.into() => {
            Ok(Register::General(number(n)?))
        }
        _ => Err("not in the list of registers".into()),
    }
}

/// A base register, which may be the stack pointer, plus a constant; no write-back.
fn address(part: Part) -> Result<Address, String> {
    match part {
        Part::RegPreIndex(base, offset, false) => Ok(Address {
            base: Register::General(number(base)?),
            index: None,
            offset: offset.into(),
        }),
        _ => Err("an address that is not a register plus a constant".into()),
    }
}

/// The eight bits of a constant whose bytes are 0x00 or 0xff.
fn byte_mask(imm: u64) -> Result<u64, String> {
    imm.to_be_bytes()
        .into_iter()
        .try_fold(0, |mask, byte| match byte {
            0x00 => Ok(mask << 1),
            0xff => Ok(mask << 1 | 1),
            _ => Err("not a constant of MOVI".into()),
        })
}
