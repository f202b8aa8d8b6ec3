//! The lifter beside another decoder, that of GNU binutils, on random code: what is accepted must mean what `objdump`
//! prints. The lifter's own decoders are iced-x86 and yaxpeax-arm.

#![allow(clippy::case_sensitive_file_extension_comparisons)] // `.2d` is an arrangement of lanes

use std::path::Path;
use std::process::Command;
use veriplex_lift::table::Table;
use veriplex_lift::{ARMV8, Error, Lifted, Target, X86_64, lift};

/// A kernel without a loop, one with, and one with pointers to buffers.
const TABLE: &str = r#"
[[level]]
name = "LEVEL"
target = "LEVEL"
source = "jazz"
backend = "none"
theorems = ""

[[kernel]]
name = "straight"
cryptol = "none"
arguments = [{ name = "state", bytes = 4096, access = "read-write", secret = true }]
levels.LEVEL.features = ["aes", "avx", "avx2", "vaes"]

[[kernel]]
name = "counted"
cryptol = "none"
arguments = [{ name = "n", count = true }]
levels.LEVEL.features = []

[[kernel]]
name = "pointed"
cryptol = "none"
arguments = [
    { name = "input", pointers = 4, bytes = 16, blocks = "n", access = "read", secret = true },
    { name = "n", count = true },
]
levels.LEVEL.features = []
"#;

struct Lifter(Table);

impl Lifter {
    fn new(target: &Target) -> Self {
        Self(Table::parse(&TABLE.replace("LEVEL", target.name)).unwrap())
    }

    fn lift(&self, kernel: &str, code: &[u8]) -> Result<Lifted, Error> {
        lift(self.0.kernel(kernel).unwrap(), &self.0.levels[0], code)
    }
}

/// What this program prints for these bytes, if it is there and knows the machine.
fn printed(program: &str, machine: &str, name: &str, code: &[u8]) -> Option<String> {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("disassembler-{name}.bin"));
    std::fs::write(&file, code).unwrap();
    let output = Command::new(program)
        .args(["-D", "-z", "-b", "binary", "--insn-width=16", "-m", machine])
        .arg(&file)
        .output();
    std::fs::remove_file(&file).unwrap();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The first of these programs that can disassemble for this machine. None is an error with `STRICT=1`.
fn objdump(programs: &[&'static str], machine: &str, name: &str) -> Option<&'static str> {
    let knows = |program: &&&str| printed(program, machine, name, &[0; 4]).is_some();
    let found = programs.iter().find(knows).copied();
    if found.is_none() {
        println!("skipped, because no objdump for {machine} is on PATH");
        assert!(
            std::env::var("STRICT").unwrap_or_default().is_empty(),
            "no objdump for {machine}"
        );
    }
    found
}

/// What it makes of these bytes, line by line: offset, how many bytes, text.
fn disassembled(program: &str, machine: &str, name: &str, code: &[u8]) -> Vec<(usize, usize, String)> {
    let text = printed(program, machine, name, code).unwrap();
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let offset = usize::from_str_radix(parts.next()?.trim().strip_suffix(':')?, 16).ok()?;
        // A word of AArch64 is one number of eight digits.
        let digits = parts.next()?.chars().filter(char::is_ascii_hexdigit).count();
        Some((offset, digits / 2, parts.next()?.trim().to_owned()))
    };
    text.lines().filter_map(line).collect()
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

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn word(&mut self) -> u32 {
        u32::try_from(self.next() >> 32).unwrap()
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[7]
    }

    fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.below(items.len() as u64)).unwrap()]
    }
}

/// The definitions that an instruction at this offset became, without their comments.
fn definitions(lifted: &Lifted, offset: usize) -> Vec<String> {
    let comment = format!(" // {offset:03x}  ");
    let lines = lifted.module.lines();
    let left = lines.filter_map(|line| line.split_once(&comment).map(|(left, _)| left));
    left.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// A number in decimal or in hexadecimal, with or without a sign and `#` or `$`.
fn number(text: &str) -> Option<i64> {
    let text = text.trim_start_matches(['#', '$']);
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    value.ok().map(|value| sign * value)
}

mod aarch64 {
    use super::*;

    const RET: u32 = 0xd65f_03c0;
    const ADD: u32 = 0x9100_0000;
    const SUB: u32 = 0xd100_0000;
    const LDP: u32 = 0xad40_0000;
    const LDUR: u32 = 0x3cc0_0000;

    /// The bits of each instruction that are no operand.
    const CLASSES: [(u32, u32); 36] = [
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
        (0xffc0_0000, LDP),
        (0xffc0_0000, 0xad00_0000), // STP
        (0xffe0_0c00, LDUR),
        (0xffe0_0c00, 0x3c80_0000), // STUR
        (0xffc0_0000, ADD),
        (0xffc0_0000, SUB),
        (0xff00_0000, 0xb400_0000), // CBZ
        (0xff00_0000, 0xb500_0000), // CBNZ
        (0xfc00_0000, 0x1400_0000), // B
        (0xffff_ffff, RET),
    ];

    /// Words of each class, some with one of the fixed bits changed, and any words.
    fn words(random: &mut Random) -> Vec<u32> {
        let mut words = Vec::new();
        for (mask, bits) in CLASSES {
            for i in 0..600 {
                let mut word = bits | random.word() & !mask;
                // Often x0 as base and as both operands of an addition; the same register twice for ORR.
                if random.below(2) == 0 {
                    word = word & !(0x3ff & !mask) | bits & 0x3ff;
                }
                if random.below(4) == 0 {
                    word = word & !(0x001f_0000 & !mask) | word << 11 & 0x001f_0000 & !mask;
                }
                if i % 3 == 0 {
                    word ^= 1 << random.below(32);
                }
                words.push(word);
            }
        }
        words.extend((0..2_000).map(|_| random.word()));
        words
    }

    /// Every vector register but the caller's holds data; x0 is 2048 bytes into the state.
    fn prologue() -> Vec<u32> {
        let free: Vec<u32> = (0..8).chain(16..32).collect();
        let loads = free.chunks(2).map(|pair| LDP | pair[0] | pair[1] << 10);
        loads.chain([ADD | 2048 << 10]).collect()
    }

    /// The definition of a register of the prologue.
    fn loaded(register: &str) -> Option<String> {
        let n: usize = register.strip_prefix('v')?.parse().ok()?;
        let pair = if n < 8 { n / 2 } else { usize::midpoint(n - 16, 8) };
        Some(format!("v{n}_{:03x}", 4 * pair))
    }

    /// What the lifter should make of the text, of an instruction that defines something.
    #[allow(clippy::too_many_lines)] // a table: one arm per mnemonic
    fn expected(text: &str, at: usize) -> Option<Vec<String>> {
        let (mnemonic, operands) = text.split_once('\t')?;
        let operands: Vec<&str> = operands.split("//").next()?.split(',').map(str::trim).collect();
        let whole = |i: usize| operands.get(i)?.strip_suffix(".16b").and_then(loaded);
        let words = |i: usize| operands.get(i)?.strip_suffix(".4s").and_then(loaded);
        let halves = |i: usize| operands.get(i)?.strip_suffix(".2d").and_then(loaded);
        let d = |ending: &str| Some(format!("{}_{at:03x} =", operands[0].strip_suffix(ending)?));
        let q = |i: usize| Some(format!("v{}", operands.get(i)?.strip_prefix('q')?));
        // [x0] or [x0, #number], after the addition of the prologue.
        let place = |i: usize| {
            let base = operands.get(i)?.strip_prefix("[x0")?;
            let offset = match (base, operands.get(i + 1)) {
                ("]", None) => 0,
                ("", Some(offset)) => number(offset.strip_suffix(']')?)?,
                _ => return None,
            };
            Some(2048 + offset)
        };
        let line = match mnemonic {
            "aese" => format!("{} aese {} {}", d(".16b")?, whole(0)?, whole(1)?),
            "aesmc" => format!("{} aesmc {}", d(".16b")?, whole(1)?),
            "eor" => format!("{} eor {} {}", d(".16b")?, whole(1)?, whole(2)?),
            "and" => format!("{} and_16b {} {}", d(".16b")?, whole(1)?, whole(2)?),
            "bic" if operands[0].ends_with(".16b") => {
                format!("{} bic {} {}", d(".16b")?, whole(1)?, whole(2)?)
            }
            "add" if operands[0].ends_with(".4s") => {
                format!("{} add_4s {} {}", d(".4s")?, words(1)?, words(2)?)
            }
            "add" => format!("{} add_2d {} {}", d(".2d")?, halves(1)?, halves(2)?),
            "umlal2" => {
                let sums = operands[0].strip_suffix(".2d").and_then(loaded)?;
                format!("{} umlal2_2d {sums} {} {}", d(".2d")?, words(1)?, words(2)?)
            }
            "umull" => {
                let low = |i: usize| operands.get(i)?.strip_suffix(".2s").and_then(loaded);
                format!("{} umull_2d {} {}", d(".2d")?, low(1)?, low(2)?)
            }
            "umull2" => format!("{} umull2_2d {} {}", d(".2d")?, words(1)?, words(2)?),
            "uzp1" | "trn1" => format!("{} {mnemonic}_4s {} {}", d(".4s")?, words(1)?, words(2)?),
            "zip1" | "zip2" => format!("{} {mnemonic}_2d {} {}", d(".2d")?, halves(1)?, halves(2)?),
            "bic" if operands[0].ends_with(".4s") => {
                let amount = operands
                    .get(2)
                    .map_or(Some(0), |text| number(text.strip_prefix("lsl ")?))?;
                format!(
                    "{} bic_4s {} {} {amount}",
                    d(".4s")?,
                    words(0)?,
                    number(operands[1])?
                )
            }
            "shl" | "ushr" if operands[0].ends_with(".2d") => format!(
                "{} {mnemonic}_2d {} {}",
                d(".2d")?,
                halves(1)?,
                number(operands.get(2)?)?
            ),
            "usra" => format!(
                "{} usra_2d {} {} {}",
                d(".2d")?,
                halves(0)?,
                halves(1)?,
                number(operands.get(2)?)?
            ),
            "ld4" => {
                let first = operands[0].strip_prefix("{v")?.split(['.', '-']).next()?;
                let first: usize = first.parse().ok()?;
                let base = operands.iter().position(|operand| operand.starts_with('['))?;
                let place = place(base)?;
                return Some(
                    (0..4)
                        .map(|i| format!("v{}_{at:03x} = (ld4_4s`{{{place}}} state).{i}", (first + i) % 32))
                        .collect(),
                );
            }
            "umlal" => {
                let low = |i: usize| operands.get(i)?.strip_suffix(".2s").and_then(loaded);
                let sums = operands[0].strip_suffix(".2d").and_then(loaded)?;
                format!("{} umlal_2d {sums} {} {}", d(".2d")?, low(1)?, low(2)?)
            }
            "shl" => format!("{} shl_4s {} {}", d(".4s")?, words(1)?, number(operands.get(2)?)?),
            "sri" => format!(
                "{} sri_4s {} {} {}",
                d(".4s")?,
                words(0)?,
                words(1)?,
                number(operands.get(2)?)?
            ),
            "mov" => format!("{} mov {}", d(".16b")?, whole(1)?),
            "ext" => format!(
                "{} ext {} {} {}",
                d(".16b")?,
                whole(1)?,
                whole(2)?,
                number(operands[3])?
            ),
            "movi" if operands[0].ends_with(".2d") => {
                let bytes = u64::from_str_radix(operands[1].strip_prefix("#0x")?, 16)
                    .ok()?
                    .to_be_bytes();
                let mask = bytes.iter().fold(0, |mask, byte| mask << 1 | u32::from(byte & 1));
                format!("{} movi_2d {mask}", d(".2d")?)
            }
            "movi" => {
                let amount = operands
                    .get(2)
                    .map_or(Some(0), |text| number(text.strip_prefix("lsl ")?))?;
                format!("{} movi_8h {} {amount}", d(".8h")?, number(operands[1])?)
            }
            "ldp" => {
                let (first, second, place) = (q(0)?, q(1)?, place(2)?);
                return Some(vec![
                    format!("{first}_{at:03x} = (ldp`{{{place}}} state).0"),
                    format!("{second}_{at:03x} = (ldp`{{{place}}} state).1"),
                ]);
            }
            "ldur" => format!("{}_{at:03x} = ldur`{{{}}} state", q(0)?, place(1)?),
            "stp" => {
                let (first, second) = (loaded(&q(0)?)?, loaded(&q(1)?)?);
                format!("state_{at:03x} = stp`{{{}}} state {first} {second}", place(2)?)
            }
            "stur" => format!(
                "state_{at:03x} = stur`{{{}}} state {}",
                place(1)?,
                loaded(&q(0)?)?
            ),
            _ => return None,
        };
        Some(vec![line])
    }

    fn code(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn what_is_accepted_means_what_objdump_prints() {
        let Some(program) = objdump(&["aarch64-linux-gnu-objdump", "objdump"], "aarch64", "aarch64") else {
            return;
        };
        let words = words(&mut Random(1));
        let texts = disassembled(program, "aarch64", "aarch64", &code(&words));
        assert_eq!(texts.len(), words.len());
        let lifter = Lifter::new(&ARMV8);
        let prologue = prologue();
        let at = 4 * prologue.len();
        let mut accepted = std::collections::BTreeMap::new();
        for (i, (&word, (_, _, text))) in words.iter().zip(&texts).enumerate() {
            let what = format!("{word:08x} {text}");
            // A load after it shows where an addition has led.
            let lifted = lifter.lift("straight", &code(&[&prologue[..], &[word, LDUR, RET]].concat()));
            let mnemonic = text.split_whitespace().next().unwrap().to_owned();
            match lifted {
                Ok(lifted) => {
                    let found = definitions(&lifted, at);
                    if found.is_empty() {
                        let (mnemonic, operands) = text.split_once('\t').unwrap();
                        let amount = operands.strip_prefix("x0, x0, ").and_then(number);
                        let moved = match (mnemonic, amount) {
                            ("add", Some(amount)) => amount,
                            ("sub", Some(amount)) => -amount,
                            // To what comes next.
                            _ => panic!("{what}: accepted"),
                        };
                        let load = format!("v0_{:03x} = ldur`{{{}}} state", at + 4, 2048 + moved);
                        assert_eq!(definitions(&lifted, at + 4), [load], "{what}");
                    } else {
                        assert_eq!(Some(found), expected(text, at), "{what}");
                    }
                }
                // A jump out of the code ends there: as far from this word as objdump says, modulo 2^64.
                Err(e) if e.offset != at as u64 && e.reason.starts_with("the code continues") => {
                    let target = text
                        .strip_prefix("b\t0x")
                        .and_then(|t| u64::from_str_radix(t, 16).ok());
                    let distance = target.map(|target| target.wrapping_sub(4 * i as u64));
                    assert_eq!(distance, Some(e.offset.wrapping_sub(at as u64)), "{what}");
                }
                Err(_) => continue,
            }
            *accepted.entry(mnemonic).or_insert(0) += 1;
        }
        for mnemonic in [
            "aese", "aesmc", "eor", "and", "bic", "shl", "sri", "mov", "ext", "movi", "ldp", "stp", "ldur",
            "stur", "add", "sub", "b", "umlal", "umlal2", "umull", "umull2", "uzp1", "trn1", "zip1", "zip2",
            "ushr", "usra", "ld4",
        ] {
            let count = accepted.remove(mnemonic).unwrap_or(0);
            assert!(count >= 20, "{mnemonic}: only {count} were accepted");
        }
        assert_eq!(
            accepted.into_iter().collect::<Vec<_>>(),
            [],
            "accepted, and not in the list of this test"
        );
    }

    /// Which registers get which pointers.
    #[test]
    fn pointers_are_those_that_objdump_prints() {
        let Some(program) = objdump(&["aarch64-linux-gnu-objdump", "objdump"], "aarch64", "pointers") else {
            return;
        };
        let mut random = Random(3);
        let words: Vec<u32> = (0..2_000)
            .map(|_| {
                // LDP of two general registers, often of the first pointers, from x0.
                let mut word = 0xa940_0000 | random.word() & 0x003f_ffff;
                if random.below(4) != 0 {
                    word &= !0x003e_03e0 | random.word() & 0x0001_8000;
                }
                if random.below(4) == 0 {
                    word ^= 1 << random.below(32);
                }
                word
            })
            .collect();
        let texts = disassembled(program, "aarch64", "pointers", &code(&words));
        let parsed = |text: &str| {
            let (first, rest) = text.strip_prefix("ldp\tx")?.split_once(", x")?;
            let (second, place) = rest.split_once(", [x0")?;
            let place = match place.strip_prefix(", #") {
                None if place == "]" => 0,
                place => number(place?.strip_suffix(']')?)?,
            };
            Some((first.parse::<u32>().ok()?, second.parse::<u32>().ok()?, place))
        };
        let lifter = Lifter::new(&ARMV8);
        let mut accepted = 0;
        for (&word, (_, _, text)) in words.iter().zip(&texts) {
            let printed = parsed(text);
            let (first, second, place) = printed.unwrap_or((4, 5, 0));
            let advance = |register: u32| ADD | 16 << 10 | register << 5 | register;
            let words = [
                word,
                0x1400_0006, // to the branch
                LDUR | first << 5,
                LDUR | second << 5 | 1,
                advance(first),
                advance(second),
                SUB | 1 << 10 | 1 << 5 | 1,
                0xb500_0001 | (0x7_ffff & 5u32.wrapping_neg()) << 5, // CBNZ
                0x6f00_e400,                                         // MOVI
                0x6f00_e401,
                RET,
            ];
            let Ok(lifted) = lifter.lift("pointed", &code(&words)) else {
                continue;
            };
            assert!(printed.is_some(), "{word:08x} {text}: accepted");
            for (at, line, place) in [(8, "v0_008", place), (12, "v1_00c", place + 8)] {
                let line = format!("{line} = ldur`{{0}} input_{}", place / 8);
                assert_eq!(definitions(&lifted, at), [line], "{word:08x} {text}");
            }
            accepted += 1;
        }
        assert!(accepted >= 100, "only {accepted} were accepted");
    }

    /// Where conditional branches go, and on which register.
    #[test]
    fn branches_go_where_objdump_says() {
        let Some(program) = objdump(&["aarch64-linux-gnu-objdump", "objdump"], "aarch64", "branches") else {
            return;
        };
        let mut random = Random(2);
        let words: Vec<u32> = (0..400)
            .map(|_| {
                let register = if random.below(4) == 0 {
                    random.word() & 31
                } else {
                    0
                };
                let word = 0xb400_0000 | (random.word() & 0x01ff_ffe0) | register;
                if random.below(8) == 0 {
                    word ^ 1 << random.below(32)
                } else {
                    word
                }
            })
            .collect();
        let texts = disassembled(program, "aarch64", "branches", &code(&words));
        let lifter = Lifter::new(&ARMV8);
        let (mut zero, mut not_zero) = (0, 0);
        for (i, (word, (_, _, text))) in words.iter().zip(&texts).enumerate() {
            let target = |e: &Error| e.offset.wrapping_add(4 * i as u64);
            let printed = |mnemonic: &str| {
                let target = text.strip_prefix(mnemonic)?.strip_prefix("\tx0, 0x")?;
                u64::from_str_radix(target, 16).ok()
            };
            // An iteration that counts once and goes back; the exit is the branch's target.
            let counted = [
                *word,
                SUB | 1 << 10,
                0x1400_0000 | (0x03ff_ffff & 2u32.wrapping_neg()),
            ];
            let outcome = lifter.lift("counted", &code(&counted));
            let why = outcome.map(|lifted| lifted.module).expect_err(text);
            if !why.reason.starts_with("the code continues") {
                continue;
            }
            if let Some(printed) = printed("cbz") {
                assert_eq!(target(&why), printed, "{text}");
                zero += 1;
            } else if let Some(printed) = printed("cbnz") {
                assert_eq!(target(&why), printed, "{text}");
                not_zero += 1;
            } else {
                assert!(text.starts_with("b\t"), "{word:08x} {text}: accepted");
            }
        }
        assert!(zero > 50 && not_zero > 50, "{zero} {not_zero}");
    }
}

mod x86_64 {
    use super::*;

    /// Map, prefix and opcode of the forms that the list has with VEX.
    const OPCODES: [(u8, u8, u8); 23] = [
        (1, 2, 0x6f), // VMOVDQU
        (1, 2, 0x7f),
        (1, 1, 0xef), // VPXOR
        (2, 1, 0xdc), // VAESENC
        (3, 1, 0x0f), // VPALIGNR
        (1, 1, 0x73), // VPSLLDQ, VPSRLDQ, VPSLLQ, VPSRLQ
        (2, 1, 0x5a), // VBROADCASTI128
        (1, 1, 0xfe), // VPADDD
        (1, 1, 0xd4), // VPADDQ
        (1, 1, 0xf4), // VPMULUDQ
        (1, 1, 0xdb), // VPAND
        (1, 1, 0xdf), // VPANDN
        (1, 1, 0xeb), // VPOR
        (1, 1, 0x62), // VPUNPCKLDQ
        (1, 1, 0x6a), // VPUNPCKHDQ
        (1, 1, 0x6c), // VPUNPCKLQDQ
        (1, 1, 0x6d), // VPUNPCKHQDQ
        (1, 1, 0x70), // VPSHUFD
        (1, 1, 0x72), // VPSLLD, VPSRLD
        (2, 1, 0x00), // VPSHUFB
        (2, 1, 0x58), // VPBROADCASTD
        (3, 1, 0x46), // VPERM2I128
        (1, 0, 0x5e), // VDIVPS, which is not in the list
    ];

    /// An instruction has at most 15 bytes, and none that begins in the first half reaches into the next slot.
    const SLOT: usize = 32;

    /// Instructions, each with what follows it.
    fn slots(random: &mut Random) -> Vec<[u8; SLOT]> {
        let slot = |_| {
            let (map, prefix, opcode) = random.of(&OPCODES);
            let long = map != 1 || random.below(8) == 0;
            let (r, vvvv) = (random.byte() & 0x80, random.byte() & 0x78);
            // Where there is no second operand, these bits are ones.
            let vvvv = if random.below(2) == 0 { 0x78 } else { vvvv };
            let l = if random.below(3) == 0 { 4 } else { 0 };
            let mut bytes = if long {
                let w = if random.below(8) == 0 { 0x80 } else { 0 };
                let xb = if random.below(4) == 0 {
                    random.byte() & 0x60
                } else {
                    0x60
                };
                vec![0xc4, r | xb | map, w | vvvv | l | prefix, opcode]
            } else {
                vec![0xc5, r | vvvv | l | prefix, opcode]
            };
            // A register, or from rdi with an offset of 0, 1 or 4 bytes.
            let modrm = match random.below(4) {
                0 => 0xc0 | random.byte() & 0x3f,
                mode => u8::try_from(mode - 1).unwrap() << 6 | random.byte() & 0x38 | 7,
            };
            bytes.push(modrm);
            if modrm >> 6 == 2 {
                bytes.extend([random.byte(), random.byte() & 7, 0, 0]);
            }
            bytes.extend([random.byte() >> random.below(8), random.byte()]);
            if random.below(6) == 0 {
                let at = usize::try_from(random.below(5)).unwrap();
                bytes[at] ^= 1 << random.below(8);
            }
            bytes.resize(SLOT, 0x90);
            bytes.try_into().unwrap()
        };
        (0..40_000).map(slot).collect()
    }

    /// All registers, in this width, loaded from the state; rdi is then 127 bytes into it.
    fn prologue(wide: bool) -> Vec<u8> {
        let mut code = Vec::new();
        for register in 0..16u8 {
            // vmovdqu (%rdi), register
            code.extend([
                0xc5,
                if register < 8 { 0xfa } else { 0x7a } | u8::from(wide) << 2,
                0x6f,
                7 | (register & 7) << 3,
            ]);
        }
        // addq $127, %rdi
        code.extend([0x48, 0x83, 0xc7, 0x7f]);
        code
    }

    /// What the lifter should make of the text.
    #[allow(clippy::too_many_lines)] // a list of forms
    fn expected(text: &str, at: usize, wide: bool) -> Option<String> {
        let (mnemonic, operands) = text.split_once(char::is_whitespace)?;
        let operands: Vec<&str> = operands.trim().split(',').collect();
        let prefix = if wide { "%ymm" } else { "%xmm" };
        let ending = if wide { "_wide" } else { "" };
        let bytes = if wide { 32 } else { 16 };
        let register = |text: &str| {
            let n: usize = text.strip_prefix(prefix)?.parse().ok()?;
            Some(format!("{}{n}_{:03x}", &prefix[1..], 4 * n))
        };
        let place = |text: &str| {
            let offset = text.strip_suffix("(%rdi)")?;
            Some(127 + if offset.is_empty() { 0 } else { number(offset)? })
        };
        let load = |text: &str| {
            let at = place(text)?;
            Some(if wide {
                format!("load_wide`{{{at}, 32}} state")
            } else {
                format!("load`{{{at}}} state")
            })
        };
        let operand = |text: &str| register(text).or_else(|| Some(format!("({})", load(text)?)));
        let result = |text: &str| {
            Some(format!(
                "{}_{at:03x} =",
                text.strip_prefix(prefix)
                    .map(|n| format!("{}{n}", &prefix[1..]))?
            ))
        };
        Some(match (mnemonic, &operands[..]) {
            ("vmovdqu", [source, target]) if place(target).is_some() => {
                let access = if wide {
                    format!("store_wide`{{{}, {bytes}}}", place(target)?)
                } else {
                    format!("store`{{{}}}", place(target)?)
                };
                format!("state_{at:03x} = {access} state {}", register(source)?)
            }
            ("vmovdqu", [source, target]) => match register(source) {
                Some(source) => format!("{} vmovdqu{ending} {source}", result(target)?),
                None => format!("{} {}", result(target)?, load(source)?),
            },
            ("vpxor", [second, first, target]) if first == second => {
                format!(
                    "{} vpxor_zero{}",
                    result(target)?,
                    if wide { "_wide`{256}" } else { "" }
                )
            }
            ("vpxor" | "vaesenc", [second, first, target]) => {
                format!(
                    "{} {mnemonic}{ending} {} {}",
                    result(target)?,
                    register(first)?,
                    operand(second)?
                )
            }
            ("vpalignr", [count, second, first, target]) => {
                format!(
                    "{} vpalignr{ending} {} {} {}",
                    result(target)?,
                    register(first)?,
                    operand(second)?,
                    number(count)?
                )
            }
            ("vpslldq" | "vpsrldq", [count, source, target]) => {
                format!(
                    "{} {mnemonic}{ending} {} {}",
                    result(target)?,
                    register(source)?,
                    number(count)?
                )
            }
            (
                "vpaddd" | "vpaddq" | "vpmuludq" | "vpand" | "vpandn" | "vpor" | "vpshufb" | "vpunpckhdq"
                | "vpunpckhqdq" | "vpunpckldq" | "vpunpcklqdq",
                [second, first, target],
            ) if wide
                || matches!(
                    mnemonic,
                    "vpaddd" | "vpaddq" | "vpand" | "vpandn" | "vpor" | "vpshufb" | "vpunpcklqdq"
                ) =>
            {
                format!(
                    "{} {mnemonic} {} {}",
                    result(target)?,
                    register(first)?,
                    operand(second)?
                )
            }
            ("vpsllq" | "vpsrlq", [count, source, target]) if wide => {
                format!(
                    "{} {mnemonic} {} {}",
                    result(target)?,
                    register(source)?,
                    number(count)?
                )
            }
            ("vpshufd" | "vpslld" | "vpsrld", [count, source, target]) => {
                format!(
                    "{} {mnemonic} {} {}",
                    result(target)?,
                    operand(source)?,
                    number(count)?
                )
            }
            ("vperm2i128", [count, second, first, target]) if wide => {
                format!(
                    "{} vperm2i128 {} {} {}",
                    result(target)?,
                    register(first)?,
                    operand(second)?,
                    number(count)?
                )
            }
            ("vpbroadcastd", [source, target]) if wide => {
                format!(
                    "{} vpbroadcastd`{{8}} (load_wide`{{{}, 4}} state)",
                    result(target)?,
                    place(source)?
                )
            }
            ("vbroadcasti128", [source, target]) if wide => {
                format!(
                    "{} vbroadcasti128 (load`{{{}}} state)",
                    result(target)?,
                    place(source)?
                )
            }
            _ => return None,
        })
    }

    #[test]
    fn what_is_accepted_means_what_objdump_prints() {
        let Some(program) = objdump(&["objdump", "x86_64-linux-gnu-objdump"], "i386:x86-64", "x86-64") else {
            return;
        };
        let slots = slots(&mut Random(3));
        let texts = disassembled(program, "i386:x86-64", "x86-64", &slots.concat());
        let texts: std::collections::HashMap<_, _> =
            texts.iter().map(|(at, len, text)| (*at, (*len, text))).collect();
        let lifter = Lifter::new(&X86_64);
        let mut accepted = std::collections::BTreeMap::new();
        for (i, slot) in slots.iter().enumerate() {
            let (len, text) = texts[&(SLOT * i)];
            for wide in [false, true] {
                let prologue = prologue(wide);
                let at = prologue.len();
                let Ok(lifted) = lifter.lift("straight", &[&prologue, &slot[..len], &[0xc3]].concat()) else {
                    continue;
                };
                let found = definitions(&lifted, at);
                if text.contains(if wide { "%ymm" } else { "%xmm" }) {
                    assert_eq!(found, expected(text, at, wide).as_slice(), "{slot:02x?} {text}");
                    *accepted
                        .entry((text.split_whitespace().next().unwrap().to_owned(), wide))
                        .or_insert(0) += 1;
                }
            }
        }
        for (mnemonic, wide) in [
            ("vmovdqu", false),
            ("vmovdqu", true),
            ("vpxor", false),
            ("vpxor", true),
            ("vaesenc", false),
            ("vaesenc", true),
            ("vpalignr", false),
            ("vpalignr", true),
            ("vpslldq", false),
            ("vpslldq", true),
            ("vpsrldq", false),
            ("vpsrldq", true),
            ("vbroadcasti128", true),
            ("vpaddd", false),
            ("vpaddd", true),
            ("vpaddq", false),
            ("vpaddq", true),
            ("vpmuludq", true),
            ("vpand", false),
            ("vpand", true),
            ("vpandn", false),
            ("vpandn", true),
            ("vpor", false),
            ("vpor", true),
            ("vpunpckldq", true),
            ("vpunpckhdq", true),
            ("vpunpcklqdq", false),
            ("vpunpcklqdq", true),
            ("vpunpckhqdq", true),
            ("vpshufd", false),
            ("vpshufd", true),
            ("vpslld", false),
            ("vpslld", true),
            ("vpsrld", false),
            ("vpsrld", true),
            ("vpsllq", true),
            ("vpsrlq", true),
            ("vpshufb", false),
            ("vpshufb", true),
            ("vpbroadcastd", true),
            ("vperm2i128", true),
        ] {
            let count = accepted.remove(&(mnemonic.to_owned(), wide)).unwrap_or(0);
            assert!(count >= 5, "{mnemonic} {wide}: only {count} were accepted");
        }
        assert_eq!(
            accepted.into_iter().collect::<Vec<_>>(),
            [],
            "accepted, and not in the list of this test"
        );
    }
}
