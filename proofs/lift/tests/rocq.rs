//! The decoder of `proofs/rocq` beside a library's: on every instruction of the kernels, on some of each form with every
//! single bit inverted and with every kind of operand, and on random bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// Random strings.
const RANDOM: usize = 20_000;

/// The instructions of each form and length of which each single bit is inverted and each operand tried.
const OF_EACH: usize = 16;

/// An instruction set.
struct Set {
    /// The folders of its kernels.
    levels: &'static [&'static str],
    /// Instructions of the tables that no kernel has.
    besides: &'static [&'static [u8]],
    /// Its name for the executable semantics.
    name: &'static str,
    /// The length of its longest instruction.
    longest: usize,
    /// The length of the instruction with which a kernel's bytes go on.
    length: fn(&[u8]) -> usize,
    /// What instructions of one form have in common.
    form: fn(&[u8]) -> String,
    /// The answer for bytes that begin with any instruction.
    expected: fn(&[u8]) -> Option<String>,
    /// The instruction with each kind of operand in its place of a register or memory.
    operands: fn(&mut Random, &[u8]) -> Vec<Vec<u8>>,
    /// Keeps a part of an instruction of a kernel in random bytes.
    mixed: fn(&mut Random, &mut [u8], &[u8]),
}

#[test]
#[ignore = "needs the executable semantics, which `make rocq` builds, and then runs this"]
fn x86_64_decodes_as_iced() {
    compare(&Set {
        levels: &["x86-64", "x86-64-vaes", "x86-64-avx2", "x86-64-avx512"],
        // ADD to RAX of a number of four bytes.
        besides: &[&[0x48, 0x05, 0x00, 0xfd, 0xff, 0xff]],
        name: "X86_64",
        longest: 15,
        length: x86_64::length,
        form: x86_64::form,
        expected: x86_64::expected,
        operands: x86_64::operands,
        mixed: |random, bytes, start| {
            let kept = random.below(start.len());
            bytes[..kept].copy_from_slice(&start[..kept]);
        },
    });
}

#[test]
#[ignore = "needs the executable semantics, which `make rocq` builds, and then runs this"]
fn aarch64_decodes_as_yaxpeax() {
    compare(&Set {
        levels: &["armv8"],
        besides: &[],
        name: "AArch64",
        longest: 4,
        length: |_| 4,
        // Bits of any word may say which it is.
        form: hex,
        expected: aarch64::expected,
        // Each instruction has one kind of operand.
        operands: |_, _| Vec::new(),
        // What says which instruction it is may be anywhere in the word: about one bit in eight is random.
        mixed: |random, bytes, start| {
            for (byte, start) in bytes.iter_mut().zip(start) {
                *byte = start ^ (*byte & random.byte() & random.byte());
            }
        },
    });
}

/// What both say about the same bytes.
fn compare(set: &Set) {
    let (name, expected) = (set.name, set.expected);
    let mut in_kernels = BTreeSet::new();
    for code in kernels(set.levels) {
        let mut at = 0;
        while at < code.len() {
            let len = (set.length)(&code[at..]);
            let mut bytes = code[at..at + len].to_vec();
            bytes.resize(set.longest, 0);
            in_kernels.insert((bytes, len));
            at += len;
        }
    }
    for instruction in set.besides {
        let mut bytes = instruction.to_vec();
        bytes.resize(set.longest, 0);
        in_kernels.insert((bytes, instruction.len()));
    }
    let mut strings: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut inverted: BTreeMap<(String, usize), usize> = BTreeMap::new();
    let mut random = Random(0x1357_9bdf);
    for (bytes, len) in &in_kernels {
        strings.insert(bytes.clone());
        let so_many = inverted.entry(((set.form)(bytes), *len)).or_default();
        *so_many += 1;
        if *so_many > OF_EACH {
            continue;
        }
        for bit in 0..8 * len {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            strings.insert(flipped);
        }
        for mut other in (set.operands)(&mut random, &bytes[..*len]) {
            other.resize(set.longest, 0);
            strings.insert(other);
        }
    }
    // Every other one has a part of an instruction of a kernel.
    let starts: Vec<_> = in_kernels.iter().collect();
    for number in 0..RANDOM {
        let mut bytes: Vec<u8> = (0..set.longest).map(|_| random.byte()).collect();
        if number % 2 == 0 {
            let (start, len) = starts[random.below(starts.len())];
            (set.mixed)(&mut random, &mut bytes, &start[..*len]);
        }
        strings.insert(bytes);
    }

    let answers = ask(name, &strings);
    let mut wrong = String::new();
    let mut decoded = 0;
    let mut all_expected = String::new();
    for (bytes, answer) in strings.iter().zip(&answers) {
        let expected = expected(bytes).unwrap_or_else(|| "-".to_owned());
        let _ = writeln!(all_expected, "{name} {} {expected}", hex(bytes));
        decoded += usize::from(answer != "-");
        if *answer != expected && wrong.len() < 2000 {
            let _ = writeln!(wrong, "{}: {answer}, and not {expected}", hex(bytes));
        }
    }
    assert_eq!(wrong, "");
    for (bytes, _) in &in_kernels {
        assert!(expected(bytes).is_some(), "{}: must be in the tables", hex(bytes));
    }
    // For the defects in proofs/rocq/checks/defects.toml.
    if let Some(folder) = std::env::var_os("VERIPLEX_ANSWERS") {
        std::fs::write(Path::new(&folder).join(name), all_expected).unwrap();
    }
    println!(
        "{name}: {} strings, of which {decoded} begin with an instruction of the tables",
        strings.len()
    );
}

/// The bytes of the kernels of these levels.
fn kernels(levels: &[&str]) -> Vec<Vec<u8>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../generated/kernels.txt");
    let mut kernels = Vec::new();
    let mut wanted = false;
    for line in std::fs::read_to_string(file).unwrap().lines() {
        if let Some(name) = line.strip_suffix(':') {
            wanted = name
                .split_once('/')
                .is_some_and(|(level, _)| levels.contains(&level));
            if wanted {
                kernels.push(Vec::new());
            }
        } else if wanted {
            let digits = (0..line.len()).step_by(2);
            let bytes = digits.map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap());
            kernels.last_mut().unwrap().extend(bytes);
        }
    }
    assert_eq!(kernels.len(), if levels.len() == 1 { 17 } else { 40 });
    kernels
}

fn ask(name: &str, strings: &BTreeSet<Vec<u8>>) -> Vec<String> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rocq/semantics");
    let mut child = Command::new(program)
        .arg("decode")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("proofs/rocq/semantics, built by `make rocq`");
    let mut stdin = child.stdin.take().unwrap();
    let lines: Vec<String> = (strings.iter())
        .map(|bytes| format!("{name} {}\n", hex(bytes)))
        .collect();
    let input = lines.concat();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let answers: Vec<_> = BufReader::new(child.stdout.take().unwrap())
        .lines()
        .map(Result::unwrap)
        .collect();
    writer.join().unwrap().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(answers.len(), strings.len());
    answers
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// In hexadecimal, as the executable semantics writes numbers.
fn signed(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{:x}", number.unsigned_abs())
}

/// So many zeros.
fn zeros(count: usize) -> String {
    format!("(bytes {})", "00".repeat(count))
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }
}

mod x86_64 {
    use super::{Random, signed, zeros};
    use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};

    fn decode(bytes: &[u8]) -> Instruction {
        Decoder::new(64, bytes, DecoderOptions::NONE).decode()
    }

    pub fn length(bytes: &[u8]) -> usize {
        decode(bytes).len()
    }

    pub fn form(bytes: &[u8]) -> String {
        let i = decode(bytes);
        let kinds = (0..i.op_count()).map(|operand| i.op_kind(operand));
        format!("{:?} {:?}", i.code(), kinds.collect::<Vec<_>>())
    }

    /// Where `ModRM` is.
    fn modrm(bytes: &[u8]) -> usize {
        match bytes[0] {
            0x62 => 5,
            0xc4 => 4,
            0xc5 => 3,
            _ => 2,
        }
    }

    /// How long `ModRM`, SIB and displacement are together.
    fn operand_length(modrm: u8) -> usize {
        let (mode, rm) = (modrm >> 6, modrm & 7);
        let displacement = match mode {
            0 if rm == 5 => 4,
            0 | 3 => 0,
            1 => 1,
            _ => 4,
        };
        1 + usize::from(mode != 3 && rm == 4) + displacement
    }

    pub fn operands(random: &mut Random, bytes: &[u8]) -> Vec<Vec<u8>> {
        let at = modrm(bytes);
        if at >= bytes.len() {
            return Vec::new();
        }
        let immediate = at + operand_length(bytes[at]);
        if immediate > bytes.len() {
            return Vec::new();
        }
        let with = |operand: u8| {
            let operand = bytes[at] & 0x38 | operand & 0xc7;
            let mut other = [&bytes[..at], &[operand]].concat();
            other.extend((1..operand_length(operand)).map(|_| random.byte()));
            other.extend(&bytes[immediate..]);
            other
        };
        (0..32)
            .map(|kind| kind << 3 & 0xc0 | kind & 7)
            .map(with)
            .collect()
    }

    /// Length and effects, by the manual's description of each form in the tables of `X86_64.v`.
    pub fn expected(bytes: &[u8]) -> Option<String> {
        let i = decode(bytes);
        let effects = effects(&i, bytes)?;
        Some(format!("{} {effects}", i.len()))
    }

    /// What the instruction does with each 16 bytes.
    fn pieces(width: usize, piece: impl Fn(usize) -> String) -> String {
        let pieces = (0..width / 16).rev().map(piece);
        pieces
            .reduce(|after, piece| format!("(append {piece} {after})"))
            .unwrap()
    }

    #[allow(clippy::too_many_lines)] // one arm for each form
    fn effects(i: &Instruction, bytes: &[u8]) -> Option<String> {
        let general = |operand| {
            let register = i.op_register(operand);
            (i.op_kind(operand) == OpKind::Register && register.is_gpr64()).then(|| register.number())
        };
        let modrm = bytes[modrm(bytes)];
        let with_sib = modrm & 7 == 4 && modrm < 0xc0;
        let in_memory = (0..i.op_count()).any(|operand| i.op_kind(operand) == OpKind::Memory);
        // Encodings of the same instructions that no kernel has are not in the tables.
        let rex = bytes[0] & 0xfe == 0x48;
        let w = bytes[2] & 0x80 != 0;
        let x = bytes[1] & 0x40 == 0;
        let plain = match i.code() {
            Code::Retnq => bytes[0] == 0xc3,
            Code::Jmp_rel32_64 => bytes[0] == 0xe9,
            Code::Ja_rel32_64 => bytes[0] == 0x0f,
            Code::Jmp_rel8_64 => bytes[0] == 0xeb,
            Code::Ja_rel8_64 => bytes[0] == 0x77,
            Code::Xor_rm32_r32 => bytes[0] == 0x31,
            Code::Add_rm64_imm8 | Code::Cmp_rm64_imm8 => rex && bytes[1] == 0x83,
            Code::Add_rm64_imm32 => rex && bytes[1] == 0x81,
            Code::Add_RAX_imm32 => bytes[..2] == [0x48, 0x05],
            Code::Dec_rm64 => rex && bytes[1] == 0xff,
            Code::Mov_r64_imm64 => rex && bytes[1] >> 3 == 0x17,
            Code::Mov_rm64_imm32 => rex && bytes[1] == 0xc7,
            Code::Mov_r64_rm64 => bytes[0] & 0xfa == 0x48 && bytes[1] == 0x8b,
            Code::Movq_xmm_rm64 => {
                bytes[0] == 0x66 && bytes[1] >> 4 == 4 && bytes[1] & 2 == 0 && bytes[2] == 0x0f
            }
            Code::VEX_Vzeroall => bytes[..2] == [0xc5, 0xfc] || bytes[..3] == [0xc4, 0xe1, 0x7c],
            _ => match bytes[0] {
                0xc5 => true,
                0xc4 => (!x || with_sib) && w == (i.code() == Code::VEX_Vmovq_xmm_rm64),
                // 512 bits, no mask.
                0x62 => bytes[3] & 0xf7 == 0x40 && (!x || with_sib || !in_memory),
                _ => false,
            },
        };
        if !plain {
            return None;
        }
        let address = || {
            let base = i.memory_base();
            if !base.is_gpr64() {
                return None;
            }
            let index = match (with_sib, i.memory_index()) {
                (false, _) => String::new(),
                (true, index) if index.is_gpr64() && i.memory_index_scale() == 1 => {
                    format!("+{}", index.number())
                }
                _ => return None,
            };
            let displacement = signed(i.memory_displacement64().cast_signed());
            Some(format!("{}{index} {displacement}", base.number()))
        };
        let register = |operand| i.op_register(operand).number();
        // Of the widest register: the others are pieces of such.
        let registers = (0..i.op_count()).filter(|&operand| i.op_kind(operand) == OpKind::Register);
        let width = registers
            .map(|operand| i.op_register(operand).size())
            .max()
            .unwrap_or(0);
        let source = |operand, width| match i.op_kind(operand) {
            OpKind::Register => Some(format!("(vec {} {width})", register(operand))),
            OpKind::Memory => Some(format!("(load {} {width})", address()?)),
            _ => None,
        };
        let vec = |operand, width| format!("(vec {} {width})", register(operand));
        let piece = |operand, number: usize| format!("(slice {} 16 {})", 16 * number, vec(operand, width));
        let vector = |value: String| Some(format!("(set_vec {} {value} false)", register(0)));
        let immediate = || usize::from(i.immediate8());
        let offset = || signed(i.near_branch64().wrapping_sub(i.len() as u64).cast_signed());
        // The fields of a group of instructions extend nothing.
        let group = || match bytes[0] {
            0x62 => bytes[1] & 0x90 == 0x90,
            _ => bytes[1] & 0x80 != 0,
        };
        match i.code() {
            Code::VEX_Vmovdqu_xmmm128_xmm
            | Code::VEX_Vmovdqu_ymmm256_ymm
            | Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm
                if i.op0_kind() == OpKind::Memory =>
            {
                Some(format!("(store {} {})", address()?, vec(1, width)))
            }
            Code::VEX_Vmovdqu_xmm_xmmm128
            | Code::VEX_Vmovdqu_xmmm128_xmm
            | Code::VEX_Vmovdqu_ymm_ymmm256
            | Code::VEX_Vmovdqu_ymmm256_ymm
            | Code::EVEX_Vmovdqu64_zmm_k1z_zmmm512
            | Code::EVEX_Vmovdqu64_zmmm512_k1z_zmm => vector(source(1, width)?),
            Code::VEX_Vpxor_xmm_xmm_xmmm128
            | Code::VEX_Vpxor_ymm_ymm_ymmm256
            | Code::EVEX_Vpxorq_zmm_k1z_zmm_zmmm512b64 => {
                vector(format!("(xor {} {})", vec(1, width), source(2, width)?))
            }
            Code::VEX_Vpaddd_xmm_xmm_xmmm128
            | Code::VEX_Vpaddd_ymm_ymm_ymmm256
            | Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32 => {
                vector(format!("(plus 4 {} {})", vec(1, width), source(2, width)?))
            }
            Code::VEX_Vpaddq_xmm_xmm_xmmm128
            | Code::VEX_Vpaddq_ymm_ymm_ymmm256
            | Code::EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64 => {
                vector(format!("(plus 8 {} {})", vec(1, width), source(2, width)?))
            }
            Code::VEX_Vpmuludq_ymm_ymm_ymmm256 | Code::EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64 if !in_memory => {
                let even = |piece: String| format!("(append (slice 0 4 {piece}) (slice 8 4 {piece}))");
                vector(pieces(width, |number| {
                    format!("(times 4 {} {})", even(piece(1, number)), even(piece(2, number)))
                }))
            }
            Code::EVEX_Vpmadd52luq_zmm_k1z_zmm_zmmm512b64 | Code::EVEX_Vpmadd52huq_zmm_k1z_zmm_zmmm512b64 => {
                let high = i.mnemonic() == Mnemonic::Vpmadd52huq;
                let products = format!("(times_52 {high} {} {})", vec(1, width), source(2, width)?);
                vector(format!("(plus 8 {} {products})", vec(0, width)))
            }
            // Memory is read once.
            Code::VEX_Vpmuludq_ymm_ymm_ymmm256 => {
                let even = |number: usize| {
                    let piece = format!("(slice {} 16 {})", 16 * number, vec(0, 64));
                    format!("(append (slice 0 4 {piece}) (slice 8 4 {piece}))")
                };
                let both = format!("(append {} {})", vec(1, 32), source(2, 32)?);
                let products = pieces(32, |number| {
                    format!("(times 4 {} {})", even(number), even(2 + number))
                });
                Some(format!("{} {}", vector(both)?, vector(products)?))
            }
            Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8 if immediate() == 32 && group() && !in_memory => {
                vector(pieces(width, |number| {
                    let (from, zeros) = (piece(1, number), zeros(4));
                    format!(
                        "(append (slice 4 4 {from}) (append {zeros} (append (slice 12 4 {from}) {zeros})))"
                    )
                }))
            }
            Code::EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8 if group() && !in_memory => {
                vector(format!("(shift_right 8 {} {})", immediate(), vec(1, width)))
            }
            Code::EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8 if group() && !in_memory => {
                vector(format!("(shift_left 8 {} {})", immediate(), vec(1, width)))
            }
            Code::VEX_Vbroadcasti128_ymm_m128 | Code::EVEX_Vbroadcasti32x4_zmm_k1z_m128 => Some(format!(
                "{} {}",
                vector(source(1, 16)?)?,
                vector(pieces(width, |_| vec(0, 16)))?
            )),
            Code::VEX_Vpor_xmm_xmm_xmmm128 | Code::VEX_Vpor_ymm_ymm_ymmm256 => {
                vector(format!("(or {} {})", vec(1, width), source(2, width)?))
            }
            Code::VEX_Vpand_xmm_xmm_xmmm128
            | Code::VEX_Vpand_ymm_ymm_ymmm256
            | Code::EVEX_Vpandq_zmm_k1z_zmm_zmmm512b64 => {
                vector(format!("(and {} {})", vec(1, width), source(2, width)?))
            }
            Code::VEX_Vpandn_xmm_xmm_xmmm128 | Code::VEX_Vpandn_ymm_ymm_ymmm256 => vector(format!(
                "(and (xor {} (bytes {})) {})",
                vec(1, width),
                "ff".repeat(width),
                source(2, width)?
            )),
            Code::VEX_Vpshufb_xmm_xmm_xmmm128 | Code::VEX_Vpshufb_ymm_ymm_ymmm256 => {
                vector(format!("(shuffle {} {})", vec(1, width), source(2, width)?))
            }
            Code::VEX_Vpunpcklqdq_xmm_xmm_xmmm128 => vector(format!(
                "(append (slice 0 8 {}) (slice 0 8 {}))",
                vec(1, 16),
                source(2, 16)?
            )),
            Code::VEX_Vpunpcklqdq_ymm_ymm_ymmm256
            | Code::VEX_Vpunpckhqdq_ymm_ymm_ymmm256
            | Code::EVEX_Vpunpcklqdq_zmm_k1z_zmm_zmmm512b64
            | Code::EVEX_Vpunpckhqdq_zmm_k1z_zmm_zmmm512b64
            | Code::EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32
            | Code::EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32
                if !in_memory =>
            {
                let lane = match i.mnemonic() {
                    Mnemonic::Vpunpckldq | Mnemonic::Vpunpckhdq => 4,
                    _ => 8,
                };
                let high = matches!(i.mnemonic(), Mnemonic::Vpunpckhdq | Mnemonic::Vpunpckhqdq);
                vector(pieces(width, |number| {
                    let lanes = (0..16 / lane).rev().map(|place| {
                        let from = 8 * usize::from(high) + place / 2 * lane;
                        format!(
                            "(slice {from} {lane} {})",
                            piece(1 + u32::from(place % 2 == 1), number)
                        )
                    });
                    lanes
                        .reduce(|after, lane| format!("(append {lane} {after})"))
                        .unwrap()
                }))
            }
            Code::EVEX_Vprold_zmm_k1z_zmmm512b32_imm8 if immediate() < 32 && group() && !in_memory => {
                vector(format!(
                    "(or (shift_left 4 {} {}) (shift_right 4 {} {}))",
                    immediate(),
                    vec(1, 64),
                    32 - immediate(),
                    vec(1, 64)
                ))
            }
            Code::EVEX_Vpbroadcastd_zmm_k1z_xmmm32 if in_memory => {
                let lanes = (1..16).fold(vec(0, 4), |after, _| format!("(append {} {after})", vec(0, 4)));
                Some(format!("{} {}", vector(source(1, 4)?)?, vector(lanes)?))
            }
            Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8 if immediate() == 0x20 && !in_memory => {
                vector(format!("(append {} {})", vec(1, 16), vec(2, 16)))
            }
            Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8 if immediate() == 0x31 && !in_memory => {
                vector(format!(
                    "(append (slice 16 16 {}) (slice 16 16 {}))",
                    vec(1, 32),
                    vec(2, 32)
                ))
            }
            Code::VEX_Vpshufd_xmm_xmmm128_imm8 => {
                let from = source(1, 16)?;
                let word =
                    |number: usize| format!("(slice {} 4 {from})", 4 * (immediate() >> (2 * number) & 3));
                let [a, b, c, d] = [word(0), word(1), word(2), word(3)];
                vector(format!("(append {a} (append {b} (append {c} {d})))"))
            }
            Code::VEX_Vpshufd_ymm_ymmm256_imm8 | Code::EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8 if !in_memory => {
                vector(pieces(width, |number| {
                    let word = |place: usize| {
                        let chosen = immediate() >> (2 * place) & 3;
                        format!("(slice {} 4 {})", 4 * chosen, piece(1, number))
                    };
                    let [a, b, c, d] = [word(0), word(1), word(2), word(3)];
                    format!("(append {a} (append {b} (append {c} {d})))")
                }))
            }
            Code::VEX_Vpslld_xmm_xmm_imm8
            | Code::VEX_Vpslld_ymm_ymm_imm8
            | Code::EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8
                if group() && !in_memory =>
            {
                vector(format!("(shift_left 4 {} {})", immediate(), vec(1, width)))
            }
            Code::VEX_Vpsrld_xmm_xmm_imm8 | Code::VEX_Vpsrld_ymm_ymm_imm8 if group() => {
                vector(format!("(shift_right 4 {} {})", immediate(), vec(1, width)))
            }
            Code::VEX_Vpsllq_xmm_xmm_imm8 | Code::VEX_Vpsllq_ymm_ymm_imm8 if group() => {
                vector(format!("(shift_left 8 {} {})", immediate(), vec(1, width)))
            }
            Code::VEX_Vpsrlq_xmm_xmm_imm8 | Code::VEX_Vpsrlq_ymm_ymm_imm8 if group() => {
                vector(format!("(shift_right 8 {} {})", immediate(), vec(1, width)))
            }
            Code::VEX_Vaesenc_xmm_xmm_xmmm128
            | Code::VEX_Vaesenc_ymm_ymm_ymmm256
            | Code::EVEX_Vaesenc_zmm_zmm_zmmm512
                if bytes[0] != 0x62 || !w =>
            {
                let rounds = pieces(width, |number| format!("(mix (sub_shift {}))", piece(1, number)));
                vector(format!("(xor {rounds} {})", source(2, width)?))
            }
            Code::VEX_Vpalignr_xmm_xmm_xmmm128_imm8 if immediate() <= 16 && in_memory => {
                let both = format!("(append {} {})", source(2, 16)?, vec(1, 16));
                vector(format!("(slice {} 16 {both})", immediate()))
            }
            Code::VEX_Vpalignr_xmm_xmm_xmmm128_imm8
            | Code::VEX_Vpalignr_ymm_ymm_ymmm256_imm8
            | Code::EVEX_Vpalignr_zmm_k1z_zmm_zmmm512_imm8
                if immediate() <= 16 && !in_memory && (bytes[0] != 0x62 || !w) =>
            {
                vector(pieces(width, |number| {
                    format!(
                        "(slice {} 16 (append {} {}))",
                        immediate(),
                        piece(2, number),
                        piece(1, number)
                    )
                }))
            }
            Code::VEX_Vpslldq_xmm_xmm_imm8
            | Code::VEX_Vpslldq_ymm_ymm_imm8
            | Code::EVEX_Vpslldq_zmm_zmmm512_imm8
                if immediate() <= 16 && group() && !in_memory && (bytes[0] != 0x62 || !w) =>
            {
                vector(pieces(width, |number| {
                    format!(
                        "(slice 0 16 (append {} {}))",
                        zeros(immediate()),
                        piece(1, number)
                    )
                }))
            }
            Code::VEX_Vpsrldq_xmm_xmm_imm8
            | Code::VEX_Vpsrldq_ymm_ymm_imm8
            | Code::EVEX_Vpsrldq_zmm_zmmm512_imm8
                if immediate() <= 16 && group() && !in_memory && (bytes[0] != 0x62 || !w) =>
            {
                vector(pieces(width, |number| {
                    format!(
                        "(slice {} 16 (append {} {}))",
                        immediate(),
                        piece(1, number),
                        zeros(16)
                    )
                }))
            }
            Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8 if immediate() == 1 => {
                vector(format!("(append {} {})", vec(1, 16), source(2, 16)?))
            }
            Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8 if immediate() == 1 => {
                vector(format!("(append {} {})", vec(1, 32), source(2, 32)?))
            }
            Code::VEX_Vperm2i128_ymm_ymm_ymmm256_imm8 if immediate() == 0x21 && !in_memory => {
                vector(format!("(append (slice 16 16 {}) {})", vec(1, 32), vec(2, 16)))
            }
            Code::VEX_Vextracti128_xmmm128_ymm_imm8 if immediate() == 1 && in_memory => {
                Some(format!("(store {} (slice 16 16 {}))", address()?, vec(1, 32)))
            }
            Code::EVEX_Vshufi64x2_zmm_k1z_zmm_zmmm512b64_imm8 if !in_memory => vector(pieces(64, |number| {
                piece(1 + u32::from(number >= 2), (immediate() >> (2 * number)) & 3)
            })),
            Code::EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8 if immediate() == 0x96 => vector(format!(
                "(xor (xor {} {}) {})",
                vec(0, 64),
                vec(1, 64),
                source(2, 64)?
            )),
            Code::EVEX_Vpternlogq_zmm_k1z_zmm_zmmm512b64_imm8
                if matches!(immediate(), 0x78 | 0xd2) && !in_memory =>
            {
                let first = if immediate() == 0x78 {
                    vec(1, 64)
                } else {
                    format!("(xor {} (bytes {}))", vec(1, 64), "ff".repeat(64))
                };
                vector(format!("(xor {} (and {first} {}))", vec(0, 64), vec(2, 64)))
            }
            Code::EVEX_Valignd_zmm_k1z_zmm_zmmm512b32_imm8 if !in_memory => {
                let both = format!("(append {} {})", vec(2, 64), vec(1, 64));
                vector(format!("(slice {} 64 {both})", 4 * (immediate() % 16)))
            }
            Code::EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32 => {
                vector(format!("(choose {} {})", source(2, 64)?, vec(1, 64)))
            }
            Code::VEX_Vzeroall => Some(
                (0..16)
                    .map(|r| format!("(set_vec {r} {} false)", zeros(16)))
                    .collect::<Vec<_>>()
                    .join(" "),
            ),
            Code::Movq_xmm_rm64 => {
                let value = format!("(append (gpr {}) {})", general(1)?, zeros(8));
                Some(format!("(set_vec {} {value} true)", register(0)))
            }
            Code::VEX_Vmovq_xmm_rm64 => vector(format!("(append (gpr {}) {})", general(1)?, zeros(8))),
            Code::Mov_r64_imm64 => Some(format!("(set_gpr {} {:x})", general(0)?, i.immediate64())),
            Code::Mov_rm64_imm32 => {
                let z = signed(i.immediate32to64());
                Some(format!("(set_gpr {} {z})", general(0)?))
            }
            Code::Mov_r64_rm64 if in_memory => Some(format!("(load_gpr {} {})", register(0), address()?)),
            Code::Xor_rm32_r32 if !in_memory && register(0) == register(1) => Some(format!(
                "(set_carry (below 0 0)) (set_zero (equal 0 0)) (set_gpr {} 0)",
                register(0)
            )),
            Code::Add_rm64_imm8 | Code::Add_rm64_imm32 | Code::Add_RAX_imm32 => {
                let long = i.code() != Code::Add_rm64_imm8;
                let z = if long {
                    i.immediate32to64()
                } else {
                    i.immediate8to64()
                };
                let (r, z) = (general(0)?, signed(z));
                let sum = format!("(add (gpr {r}) {z})");
                Some(format!(
                    "(set_carry (below {sum} {z})) (set_zero (equal {sum} 0)) (set_gpr {r} {sum})"
                ))
            }
            Code::Dec_rm64 => {
                let r = general(0)?;
                let difference = format!("(sub (gpr {r}) 1)");
                Some(format!(
                    "(set_zero (equal {difference} 0)) (set_gpr {r} {difference})"
                ))
            }
            Code::Cmp_rm64_imm8 => {
                let (r, z) = (general(0)?, signed(i.immediate8to64()));
                Some(format!(
                    "(set_carry (below (gpr {r}) {z})) (set_zero (equal (gpr {r}) {z}))"
                ))
            }
            Code::Jmp_rel32_64 | Code::Jmp_rel8_64 => Some(format!("(branch (equal 0 0) {})", offset())),
            Code::Ja_rel32_64 | Code::Ja_rel8_64 => {
                Some(format!("(branch (and (not carry) (not zero)) {})", offset()))
            }
            Code::Retnq => Some("(pop_jump 4)".to_owned()),
            _ => None,
        }
    }
}

mod aarch64 {
    use super::signed;
    use std::fmt::Write as _;
    use yaxpeax_arch::{Decoder as _, U8Reader};
    use yaxpeax_arm::armv8::a64::{InstDecoder, Instruction, Opcode, Operand, SIMDSizeCode, SizeCode};

    /// Length and effects, by the manual's description of each form in the table of `AArch64.v`.
    pub fn expected(bytes: &[u8]) -> Option<String> {
        let i = InstDecoder::default().decode(&mut U8Reader::new(bytes)).ok()?;
        // The library takes words that the manual does not allocate: for MOVI and BIC with bit 11 (o2), for LD4 with
        // bit 31 or 21.
        let immediate = matches!(i.operands[1], Operand::ImmShift(..) | Operand::Imm64(_));
        if immediate && bytes[1] & 8 != 0
            || i.opcode == Opcode::LD4 && (bytes[3] & 0x80 | bytes[2] & 0x20) != 0
        {
            return None;
        }
        Some(format!("4 {}", effects(&i)?))
    }

    /// A whole vector register, as 16 bytes or as one value.
    fn vector(operand: Operand) -> Option<u16> {
        match operand {
            Operand::SIMDRegisterElements(SIMDSizeCode::Q, r, SIMDSizeCode::B)
            | Operand::SIMDRegister(SIMDSizeCode::Q, r) => Some(r),
            _ => None,
        }
    }

    /// A whole vector register as lanes of 32 or 64 bits, and the size of a lane in bytes.
    fn lanes(operand: Operand) -> Option<(u16, u32)> {
        match operand {
            Operand::SIMDRegisterElements(SIMDSizeCode::Q, r, SIMDSizeCode::S) => Some((r, 4)),
            Operand::SIMDRegisterElements(SIMDSizeCode::Q, r, SIMDSizeCode::D) => Some((r, 8)),
            _ => None,
        }
    }

    /// The lower half of a vector register as lanes of 32 bits.
    fn half(operand: Operand) -> Option<u16> {
        match operand {
            Operand::SIMDRegisterElements(SIMDSizeCode::D, r, SIMDSizeCode::S) => Some(r),
            _ => None,
        }
    }

    /// The upper half of a vector register, as lanes of this size.
    fn upper(operand: Operand, size: u32) -> Option<String> {
        let (r, lane) = lanes(operand)?;
        (lane == size).then(|| format!("(slice 8 8 (vec {r} 16))"))
    }

    fn appended([a, b, c, d]: &[String; 4]) -> String {
        format!("(append {a} (append {b} (append {c} {d})))")
    }

    /// A general register of 64 bits, not the stack pointer or zero.
    fn general(operand: Operand) -> Option<u16> {
        match operand {
            Operand::Register(SizeCode::X, r) | Operand::RegisterOrSP(SizeCode::X, r) => {
                (r < 31).then_some(r)
            }
            _ => None,
        }
    }

    fn address(operand: Operand) -> Option<(u16, i64)> {
        match operand {
            Operand::RegPreIndex(r, offset, false) if r < 31 => Some((r, offset.into())),
            _ => None,
        }
    }

    fn set(r: u16, value: &str) -> String {
        format!("(set_vec {r} {value} false)")
    }

    /// What an instruction that only computes in vector registers writes, and where.
    fn computed(i: &Instruction) -> Option<(u16, String)> {
        let [a, b, c, d] = i.operands;
        let set = |r: u16, value: String| Some((r, value));
        let constant = |r: u16, bytes: &[u8]| {
            let hex = bytes.iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            set(r, format!("(bytes {hex})"))
        };
        match i.opcode {
            Opcode::AESE => {
                let (d, n) = (vector(a)?, vector(b)?);
                set(d, format!("(sub_shift (xor (vec {d} 16) (vec {n} 16)))"))
            }
            Opcode::AESMC => set(vector(a)?, format!("(mix (vec {} 16))", vector(b)?)),
            Opcode::EOR => set(
                vector(a)?,
                format!("(xor (vec {} 16) (vec {} 16))", vector(b)?, vector(c)?),
            ),
            Opcode::AND => set(
                vector(a)?,
                format!("(and (vec {} 16) (vec {} 16))", vector(b)?, vector(c)?),
            ),
            Opcode::BIC if matches!(b, Operand::ImmShift(..)) => {
                let ((d, 4), Operand::ImmShift(value, amount)) = (lanes(a)?, b) else {
                    return None;
                };
                let kept = !(u32::from(value) << amount);
                let bytes = format!("{:08x}", kept.swap_bytes()).repeat(4);
                set(d, format!("(and (vec {d} 16) (bytes {bytes}))"))
            }
            Opcode::BIC => set(
                vector(a)?,
                format!(
                    "(and (vec {} 16) (xor (vec {} 16) (bytes {})))",
                    vector(b)?,
                    vector(c)?,
                    "ff".repeat(16)
                ),
            ),
            Opcode::ORR if vector(b)? == vector(c)? => set(vector(a)?, format!("(vec {} 16)", vector(b)?)),
            Opcode::EXT => {
                let Operand::Imm16(index) = d else { return None };
                let both = format!("(append (vec {} 16) (vec {} 16))", vector(b)?, vector(c)?);
                set(vector(a)?, format!("(slice {index} 16 {both})"))
            }
            Opcode::MOVI => match (a, b) {
                (
                    Operand::SIMDRegisterElements(SIMDSizeCode::Q, r, SIMDSizeCode::D),
                    Operand::Imm64(lane),
                ) => constant(r, &[lane.to_le_bytes(); 2].concat()),
                (
                    Operand::SIMDRegisterElements(SIMDSizeCode::Q, r, SIMDSizeCode::H),
                    Operand::ImmShift(value, amount),
                ) => constant(r, &(value << amount).to_le_bytes().repeat(8)),
                _ => None,
            },
            _ => computed_in_lanes(i),
        }
    }

    /// The same of those that compute in lanes of 4 or 8 bytes.
    fn computed_in_lanes(i: &Instruction) -> Option<(u16, String)> {
        let [a, b, c, _] = i.operands;
        let set = |r: u16, value: String| Some((r, value));
        match i.opcode {
            Opcode::ADD if lanes(a).is_some() => {
                let ((d, w), (n, _), (m, _)) = (lanes(a)?, lanes(b)?, lanes(c)?);
                set(d, format!("(plus {w} (vec {n} 16) (vec {m} 16))"))
            }
            Opcode::UMULL | Opcode::UMULL2 | Opcode::UMLAL | Opcode::UMLAL2 => {
                let factor = |operand| match i.opcode {
                    Opcode::UMULL | Opcode::UMLAL => Some(format!("(vec {} 8)", half(operand)?)),
                    _ => upper(operand, 4),
                };
                let ((d, 8), n, m) = (lanes(a)?, factor(b)?, factor(c)?) else {
                    return None;
                };
                let products = format!("(times 4 {n} {m})");
                if matches!(i.opcode, Opcode::UMULL | Opcode::UMULL2) {
                    return set(d, products);
                }
                set(d, format!("(plus 8 (vec {d} 16) {products})"))
            }
            Opcode::UZP1 | Opcode::TRN1 => {
                let ((d, 4), (n, 4), (m, 4)) = (lanes(a)?, lanes(b)?, lanes(c)?) else {
                    return None;
                };
                let word = |r: u16, number: usize| format!("(slice {} 4 (vec {r} 16))", 4 * number);
                let words = if i.opcode == Opcode::UZP1 {
                    [word(n, 0), word(n, 2), word(m, 0), word(m, 2)]
                } else {
                    [word(n, 0), word(m, 0), word(n, 2), word(m, 2)]
                };
                set(d, appended(&words))
            }
            Opcode::ZIP1 | Opcode::ZIP2 => {
                let ((d, 8), (n, 8), (m, 8)) = (lanes(a)?, lanes(b)?, lanes(c)?) else {
                    return None;
                };
                set(
                    d,
                    if i.opcode == Opcode::ZIP1 {
                        format!("(append (vec {n} 8) (vec {m} 8))")
                    } else {
                        format!("(append {} {})", upper(b, 8)?, upper(c, 8)?)
                    },
                )
            }
            Opcode::SHL | Opcode::USHR | Opcode::USRA if matches!(lanes(a), Some((_, 8))) => {
                let ((d, 8), (n, 8), Operand::Immediate(shift)) = (lanes(a)?, lanes(b)?, c) else {
                    return None;
                };
                let direction = if i.opcode == Opcode::SHL { "left" } else { "right" };
                let shifted = format!("(shift_{direction} 8 {shift} (vec {n} 16))");
                if i.opcode == Opcode::USRA {
                    return set(d, format!("(plus 8 (vec {d} 16) {shifted})"));
                }
                set(d, shifted)
            }
            Opcode::SHL | Opcode::SRI => {
                let ((d, 4), (n, _), Operand::Immediate(shift)) = (lanes(a)?, lanes(b)?, c) else {
                    return None;
                };
                if i.opcode == Opcode::SHL {
                    return set(d, format!("(shift_left 4 {shift} (vec {n} 16))"));
                }
                let kept = 32 - shift;
                let upper = format!("(shift_left 4 {kept} (shift_right 4 {kept} (vec {d} 16)))");
                set(d, format!("(xor (shift_right 4 {shift} (vec {n} 16)) {upper})"))
            }
            _ => None,
        }
    }

    fn effects(i: &Instruction) -> Option<String> {
        let [a, b, c, _] = i.operands;
        // Relative to the end of the instruction.
        let branch =
            |condition: &str, offset: i64| Some(format!("(branch {condition} {})", signed(offset - 4)));
        match i.opcode {
            Opcode::LDP if general(a).is_some() => {
                let (t1, t2, (n, offset)) = (general(a)?, general(b)?, address(c)?);
                let (first, second) = (signed(offset), signed(offset + 8));
                (t1 != t2 && t1 != n)
                    .then(|| format!("(load_gpr {t1} {n} {first}) (load_gpr {t2} {n} {second})"))
            }
            Opcode::LDP | Opcode::STP => {
                let (t1, t2, (n, offset)) = (vector(a)?, vector(b)?, address(c)?);
                let (first, second) = (signed(offset), signed(offset + 16));
                if i.opcode == Opcode::STP {
                    return Some(format!(
                        "(store {n} {first} (vec {t1} 16)) (store {n} {second} (vec {t2} 16))"
                    ));
                }
                let load = |t: u16, at: &str| set(t, &format!("(load {n} {at} 16)"));
                (t1 != t2).then(|| format!("{} {}", load(t1, &first), load(t2, &second)))
            }
            Opcode::LD4 => {
                let Operand::SIMDRegisterGroup(SIMDSizeCode::Q, t, SIMDSizeCode::S, 4) = a else {
                    return None;
                };
                let (n, 0) = address(b)? else { return None };
                let (Operand::Nothing, Operand::Nothing) = (c, i.operands[3]) else {
                    return None;
                };
                let word = |structure: i64, number: u16| {
                    format!("(load {n} {} 4)", signed(16 * structure + 4 * i64::from(number)))
                };
                let register = |number: u16| {
                    let words = [0, 1, 2, 3].map(|structure| word(structure, number));
                    set((t + number) % 32, &appended(&words))
                };
                Some([0, 1, 2, 3].map(register).join(" "))
            }
            Opcode::LDUR => {
                let (t, (n, offset)) = (vector(a)?, address(b)?);
                Some(set(t, &format!("(load {n} {} 16)", signed(offset))))
            }
            Opcode::STUR => {
                let (t, (n, offset)) = (vector(a)?, address(b)?);
                Some(format!("(store {n} {} (vec {t} 16))", signed(offset)))
            }
            Opcode::ADD | Opcode::SUB if general(a).is_some() => {
                let (d, n) = (general(a)?, general(b)?);
                let Operand::Immediate(imm) = c else { return None };
                let operator = if i.opcode == Opcode::ADD { "add" } else { "sub" };
                Some(format!("(set_gpr {d} ({operator} (gpr {n}) {imm:x}))"))
            }
            Opcode::CBNZ => {
                let Operand::PCOffset(offset) = b else { return None };
                branch(&format!("(not (equal (gpr {}) 0))", general(a)?), offset)
            }
            Opcode::B => {
                let Operand::PCOffset(offset) = a else { return None };
                branch("(equal 0 0)", offset)
            }
            Opcode::RET => (general(a)? == 30).then(|| "(jump 30)".to_owned()),
            _ => computed(i).map(|(r, value)| set(r, &value)),
        }
    }
}
