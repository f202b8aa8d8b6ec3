//! Each instruction of the lists by itself: what it lifts to, and that what is close to it is refused.

use std::path::Path;
use veriplex_lift::table::{Kernel, Level, Table};
use veriplex_lift::{ARMV8, Lifted, Target, X86_64, assembler, lift, listing};

/// A kernel without a loop, one that may work in place, one with a loop, one with both, and one for lanes.
const TABLE: &str = r#"
[[level]]
name = "LEVEL"
target = "LEVEL"
source = "jazz"
backend = "none"
theorems = ""

[[table]]
name = "keys"
bytes = 48

[[kernel]]
name = "straight"
cryptol = "none"
arguments = [
    { name = "state", bytes = 128, access = "read-write", secret = true },
    { name = "keys", table = "keys" },
]
levels.LEVEL.features = ["aes", "avx", "avx2", "avx512f", "vaes"]

[[kernel]]
name = "copy"
cryptol = "none"
arguments = [
    { name = "input", bytes = 32, access = "read", secret = true },
    { name = "output", bytes = 32, access = "write", secret = true, may_be = "input" },
]
levels.LEVEL.features = ["avx"]

[[kernel]]
name = "fold_blocks"
cryptol = "none"
arguments = [
    { name = "state", bytes = 16, access = "read-write", secret = true },
    { name = "input", bytes = 16, blocks = "n", access = "read", secret = true },
    { name = "n", count = true },
]
levels.LEVEL.features = ["avx"]

[[kernel]]
name = "closed_blocks"
cryptol = "none"
arguments = [
    { name = "input", bytes = 16, access = "read", secret = true },
    { name = "output", bytes = 16, access = "write", secret = true, may_be = "input" },
    { name = "data", bytes = 16, blocks = "n", access = "read", secret = true },
    { name = "n", count = true },
]
levels.LEVEL.features = ["avx"]

[[kernel]]
name = "fold_lanes"
cryptol = "none"
arguments = [
    { name = "state", bytes = 16, access = "read-write", secret = true },
    { name = "input", pointers = 3, bytes = 16, blocks = "n", access = "read", secret = true },
    { name = "n", count = true },
]
levels.LEVEL.features = []
"#;

fn table(target: &Target) -> Table {
    Table::parse(&TABLE.replace("LEVEL", target.name)).unwrap()
}

fn lifted(target: &Target, kernel: &str, code: &[u8]) -> Result<Lifted, String> {
    let table = table(target);
    let (kernel, level): (&Kernel, &Level) = (table.kernel(kernel).unwrap(), &table.levels[0]);
    lift(kernel, level, code).map_err(|e| e.to_string())
}

/// Lifts assembly for x86-64. `None` where there is no rustc for it.
fn lifted_all(name: &str, kernel: &str, sources: &[String]) -> Option<Vec<Result<Lifted, String>>> {
    let Some(rustc) = assembler::rustc(&X86_64) else {
        println!("{name}: skipped, because no rustc here has a library for x86-64");
        return None;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("forms-{name}"));
    let codes = assembler::assemble_all(rustc, &X86_64, sources, &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    Some(codes.iter().map(|code| lifted(&X86_64, kernel, code)).collect())
}

/// Each body, with what `expected` says of it: text of the module, or of the error.
fn check(name: &str, kernel: &str, cases: &[(String, Result<&str, &str>)]) {
    let sources: Vec<String> = cases.iter().map(|(source, _)| source.clone()).collect();
    let Some(all) = lifted_all(name, kernel, &sources) else {
        return;
    };
    let mut wrong = Vec::new();
    for (lifted, (source, expected)) in all.into_iter().zip(cases) {
        let found = lifted.map(|lifted| lifted.module);
        let fits = match (&found, expected) {
            (Ok(module), Ok(line)) => module.contains(line),
            (Err(e), Err(reason)) => e.contains(reason),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{source}: expected {expected:?}, got {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn x86_64_instructions_keep_their_operands_in_order() {
    let cases = [
        ("vmovdqu 3(%rsi), %xmm3", "xmm3_009 = load`{3} keys "),
        (
            "vmovdqu %xmm1, 112(%rdi)",
            "state_009 = store`{112} state xmm1_000 ",
        ),
        ("vmovdqu %xmm1, %xmm3", "xmm3_009 = vmovdqu xmm1_000 "),
        ("vpxor %xmm1, %xmm2, %xmm3", "xmm3_009 = vpxor xmm2_004 xmm1_000 "),
        (
            "vpxor 32(%rdi), %xmm2, %xmm3",
            "xmm3_009 = vpxor xmm2_004 (load`{32} state) ",
        ),
        ("vpxor %xmm2, %xmm2, %xmm3", "xmm3_009 = vpxor_zero "),
        (
            "vaesenc %xmm1, %xmm2, %xmm3",
            "xmm3_009 = vaesenc xmm2_004 xmm1_000 ",
        ),
        (
            "vaesenc 16(%rsi), %xmm2, %xmm3",
            "xmm3_009 = vaesenc xmm2_004 (load`{16} keys) ",
        ),
        (
            "vpalignr $14, %xmm1, %xmm2, %xmm3",
            "xmm3_009 = vpalignr xmm2_004 xmm1_000 14 ",
        ),
        (
            "vpaddd %xmm1, %xmm2, %xmm3",
            "xmm3_009 = vpaddd xmm2_004 xmm1_000 ",
        ),
        (
            "vpaddq 16(%rsi), %xmm2, %xmm3",
            "xmm3_009 = vpaddq xmm2_004 (load`{16} keys) ",
        ),
        (
            "vpunpcklqdq %xmm1, %xmm2, %xmm3",
            "xmm3_009 = vpunpcklqdq xmm2_004 xmm1_000 ",
        ),
        ("vpand %xmm1, %xmm2, %xmm3", "xmm3_009 = vpand xmm2_004 xmm1_000 "),
        (
            "vpandn %xmm1, %xmm2, %xmm3",
            "xmm3_009 = vpandn xmm2_004 xmm1_000 ",
        ),
        ("vpor %xmm1, %xmm2, %xmm3", "xmm3_009 = vpor xmm2_004 xmm1_000 "),
        (
            "vpshufb 16(%rsi), %xmm2, %xmm3",
            "xmm3_009 = vpshufb xmm2_004 (load`{16} keys) ",
        ),
        ("vpshufd $147, %xmm1, %xmm3", "xmm3_009 = vpshufd xmm1_000 147 "),
        ("vpslld $11, %xmm1, %xmm3", "xmm3_009 = vpslld xmm1_000 11 "),
        ("vpsrld $21, %xmm1, %xmm3", "xmm3_009 = vpsrld xmm1_000 21 "),
        ("vpslldq $8, %xmm1, %xmm3", "xmm3_009 = vpslldq xmm1_000 8 "),
        ("vpsrldq $200, %xmm1, %xmm3", "xmm3_009 = vpsrldq xmm1_000 200 "),
        (
            "movabsq $0x123456789abcdef0, %rax\n\tmovq %rax, %xmm3",
            "rax_009 = mov 0x123456789abcdef0 ",
        ),
        (
            "movabsq $0x123456789abcdef0, %r9\n\tmovq %r9, %xmm3",
            "xmm3_013 = movq r9_009 ",
        ),
        (
            "addq $100, %rdi\n\tvmovdqu (%rdi), %xmm3",
            "xmm3_00d = load`{100} state ",
        ),
        (
            "addq $-100, %rdi\n\tvmovdqu 116(%rdi), %xmm3",
            "xmm3_00d = load`{16} state ",
        ),
        (
            "addq $1000, %rdi\n\tvmovdqu -984(%rdi), %xmm3",
            "xmm3_010 = load`{16} state ",
        ),
        ("jmp 1f\n1:\tvmovdqu (%rdi), %xmm3", "xmm3_00b = load`{0} state "),
        (
            "vmovdqu (%rdi), %ymm3\n\tvmovdqu %ymm3, %ymm4",
            "ymm4_00d = vmovdqu_wide ymm3_009 ",
        ),
        (
            "vmovdqu64 (%rdi), %zmm3\n\tvmovdqu64 %zmm3, %zmm4",
            "zmm4_00f = vmovdqu_wide zmm3_009 ",
        ),
        ("vpxor %ymm3, %ymm3, %ymm4", "ymm4_009 = vpxor_zero_wide`{256} "),
        ("vpxorq %zmm3, %zmm3, %zmm4", "zmm4_009 = vpxor_zero_wide`{512} "),
        (
            "vmovdqu64 (%rdi), %zmm3\n\tvmovdqu64 64(%rdi), %zmm4\n\tvpxorq %zmm3, %zmm4, %zmm5",
            "zmm5_016 = vpxor_wide zmm4_00f zmm3_009 ",
        ),
        (
            "vmovdqu64 (%rdi), %zmm3\n\tvmovdqu64 64(%rdi), %zmm4\n\tvaesenc %zmm3, %zmm4, %zmm5",
            "zmm5_016 = vaesenc_wide zmm4_00f zmm3_009 ",
        ),
    ];
    let cases: Vec<_> = cases
        .into_iter()
        .map(|(line, expected)| {
            let source = format!("\tvmovdqu (%rdi), %xmm1\n\tvmovdqu 16(%rdi), %xmm2\n\t{line}\n\tret\n");
            (source, Ok(expected))
        })
        .collect();
    check("order", "straight", &cases);
}

#[test]
fn other_x86_64_instructions_are_refused() {
    let lines = [
        // The same operands, another operation. Wide shifts, VMOVQ and XOR are forms of the kernels for lanes.
        "vdivps %xmm1, %xmm2, %xmm3",
        "vxorps %xmm1, %xmm2, %xmm3",
        "vpaddw %xmm1, %xmm2, %xmm3",
        "vpsubd %xmm1, %xmm2, %xmm3",
        "vorps %xmm1, %xmm2, %xmm3",
        "vpsubq %xmm1, %xmm2, %xmm3",
        "vaesdec %xmm1, %xmm2, %xmm3",
        "vaesenclast %xmm1, %xmm2, %xmm3",
        "vpsignb %xmm1, %xmm2, %xmm3",
        "vpsllq $8, %xmm1, %xmm3",
        "vmovdqa %xmm1, %xmm3",
        "vmovups %xmm1, %xmm3",
        "aesenc %xmm1, %xmm2",
        "movdqu %xmm1, %xmm2",
        "movq (%rdi), %xmm3",
        "vmovd %eax, %xmm3",
        "vpbroadcastq %xmm1, %xmm3",
        "vbroadcastf128 (%rdi), %ymm3",
        // On general registers.
        "movl $1, %eax",
        "movq $1, %rax",
        "movq %rdi, %rax",
        "addq %rax, %rdi",
        "addq $1000, (%rdi)",
        "addl $1, %edi",
        "addq $1, (%rdi)",
        "subq $1, %rdi",
        "incq %rdi",
        "decl %edi",
        "decq (%rdi)",
        "leaq 16(%rdi), %rdi",
        "cmpq $1, %rdi",
        "cmpq $-1, %rdi",
        "cmpq $0, (%rdi)",
        "cmpl $0, %edi",
        "cmpq %rax, %rdi",
        "testq %rdi, %rdi",
        "pushq %rax",
        "popq %rax",
        "call 1f\n1:",
        "nop",
        "syscall",
        "jb 1f\n1:",
        "jae 1f\n1:",
        "jg 1f\n1:",
        "js 1f\n1:",
        "ret $8",
        "jmp *%rax",
    ];
    let cases: Vec<_> = lines
        .map(|line| {
            let source = format!("\tvmovdqu (%rdi), %xmm1\n\tvmovdqu 16(%rdi), %xmm2\n\t{line}\n\tret\n");
            (source, Err("not in the list of instructions"))
        })
        .into();
    check("others", "straight", &cases);
}

/// Forms of listed instructions with other operands. Assemblers have other encodings for some of them.
#[test]
fn other_operands_are_refused() {
    let other = "not in the list of instructions";
    let address = "an address that is not a register plus a constant";
    let refused: [(&[u8], &str); _] = [
        (&[0xc4, 0xe3, 0x7d, 0x39, 0xcb, 0x01], other), // vextracti128 $1, %ymm1, %xmm3
        (&[0xc4, 0xe1, 0xf9, 0x6e, 0x1f], other),       // vmovq (%rdi), %xmm3
        (&[0x66, 0x48, 0x0f, 0x6e, 0x1f], other),       // movq (%rdi), %xmm3
        (&[0x48, 0x8b, 0xc7], other),                   // movq %rdi, %rax
        (&[0x48, 0xc7, 0x07, 0, 0, 0, 0], other),       // movq $0, (%rdi)
        (&[0x31, 0xc8], other),                         // xorl %ecx, %eax
        (&[0x33, 0xc1], other),                         // xorl %ecx, %eax
        (&[0x33, 0x07], other),                         // xorl (%rdi), %eax
        (&[0xc5, 0xfa, 0x6f, 0x1c, 0x47], address),     // vmovdqu (%rdi,%rax,2), %xmm3
        (&[0xc5, 0xfa, 0x6f, 0x1d, 0, 0, 0, 0], address), // vmovdqu 0(%rip), %xmm3
        (&[0xc5, 0xfa, 0x6f, 0x1c, 0x25, 0, 0, 0, 0], address), // vmovdqu 0, %xmm3
        (&[0x67, 0xc5, 0xfa, 0x6f, 0x1f], address),     // vmovdqu (%edi), %xmm3
        (&[0x64, 0xc5, 0xfa, 0x6f, 0x1f], address),     // vmovdqu %fs:(%rdi), %xmm3
        // vmovdqu (%edi,%eax), %xmm3
        (
            &[0x67, 0xc5, 0xfa, 0x6f, 0x1c, 0x07],
            "an index that is not a general register",
        ),
        // movq %rax, %xmm3
        (
            &[0x66, 0x48, 0x0f, 0x6e, 0xd8],
            "rax is read before anything is written to it",
        ),
    ];
    let load = [0xc5, 0xfe, 0x6f, 0x0f]; // vmovdqu (%rdi), %ymm1
    for (code, reason) in refused {
        let code = [&load, code, &[0xc3]].concat();
        let why = lifted(&X86_64, "straight", &code)
            .map(|lifted| lifted.module)
            .unwrap_err();
        assert!(
            why.starts_with("at 0x4: ") && why.contains(reason),
            "{code:02x?}: {why}"
        );
    }
    // movq $0, %rax; ret
    lifted(&X86_64, "straight", &[0x48, 0xc7, 0xc0, 0, 0, 0, 0, 0xc3]).unwrap();
}

/// A legacy form keeps what is above its 16 bytes. That is no obstacle to reading these.
#[test]
fn the_low_bytes_are_read_whatever_is_above() {
    // movabs $0, %rax; movq %rax, %xmm3; vmovdqu %xmm3, (%rdi); ret
    let code = [
        0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x66, 0x48, 0x0f, 0x6e, 0xd8, 0xc5, 0xfa, 0x7f, 0x1f, 0xc3,
    ];
    let module = lifted(&X86_64, "straight", &code).unwrap().module;
    assert!(
        module.contains("state_00f = store`{0} state xmm3_00a "),
        "{module}"
    );
}

#[test]
fn a_kernel_may_do_nothing() {
    // Only an iteration of a loop is given blocks.
    let module = lifted(&X86_64, "fold_blocks", &[0xc3]).unwrap().module;
    assert!(module.ends_with("run state =\n  (state, [])\n"), "{module}");
    for (target, code) in [(&X86_64, vec![0xc3]), (&ARMV8, bytes(&[RET]))] {
        let module = lifted(target, "straight", &code).unwrap().module;
        assert!(
            module.ends_with(
                "run : [128][8] -> [48][8] -> ([128][8], [0]Vector)\nrun state keys =\n  (state, [])\n"
            ),
            "{module}"
        );
    }
}

#[test]
fn instructions_are_listed() {
    // vpxor %xmm1, %xmm1, %xmm1; ret
    let x86_64 = [0xc5, 0xf1, 0xef, 0xc9, 0xc3];
    let armv8 = bytes(&[MOVI_2D, RET]);
    for (target, code, expected) in [
        (&X86_64, &x86_64[..], [(0, 4, "vpxor"), (4, 1, "ret")]),
        (&ARMV8, &armv8, [(0, 4, "movi"), (4, 4, "ret")]),
    ] {
        let listed = listing(&table(target).levels[0], code).unwrap();
        let mnemonics = listed
            .iter()
            .map(|(at, len, text)| (*at, *len, text.split_whitespace().next().unwrap()));
        assert!(mnemonics.eq(expected), "{listed:?}");
    }
    assert!(listing(&table(&X86_64).levels[0], &[0x90]).is_err());
}

/// Encodings with bytes or bits that the instruction does not need.
#[test]
fn only_canonical_encodings_are_accepted() {
    let refused: &[&[u8]] = &[
        &[0x66, 0xc3],
        &[0x48, 0xc3],
        &[0x40, 0xc3],
        &[0xf3, 0xc3],
        &[0xf2, 0xc3],
        &[0x2e, 0xc3],
        &[0x64, 0xc3],
        // REX, which counts only where it is last, before a prefix.
        &[0x48, 0x66, 0xc3],
        &[0x48, 0x66, 0xe9, 0, 0, 0, 0, 0xc3],
        &[0x40, 0x66, 0xe9, 0, 0, 0, 0, 0xc3],
        &[0x66, 0xe9, 0, 0, 0, 0, 0xc3],
        &[0x3e, 0xeb, 0x00, 0xc3],
        &[0x41, 0xeb, 0x00, 0xc3],
        // movq %rax, %xmm3 with 66 twice, and with a bit of REX that it ignores.
        &[
            0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x66, 0x66, 0x48, 0x0f, 0x6e, 0xd8, 0xc3,
        ],
        &[
            0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x66, 0x4a, 0x0f, 0x6e, 0xd8, 0xc3,
        ],
        // vmovdqu (%rdi), %xmm1 in the long form of VEX, with W, with X.
        &[0xc4, 0xe1, 0x7a, 0x6f, 0x0f, 0xc3],
        &[0xc4, 0xe1, 0xfa, 0x6f, 0x0f, 0xc3],
        &[0xc4, 0xa1, 0x7a, 0x6f, 0x0f, 0xc3],
        // addq $1, %rdi with 66, with REX twice, with a bit of REX that it ignores.
        &[0x66, 0x48, 0x83, 0xc7, 0x01, 0xc3],
        &[0x48, 0x48, 0x83, 0xc7, 0x01, 0xc3],
        &[0x4c, 0x83, 0xc7, 0x01, 0xc3],
    ];
    for code in refused {
        let why = lifted(&X86_64, "straight", code)
            .map(|lifted| lifted.module)
            .unwrap_err();
        assert!(why.contains("not the canonical encoding"), "{code:02x?}: {why}");
    }
    for code in [
        &[0xc3][..],
        &[0xeb, 0x00, 0xc3],
        &[
            0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x66, 0x48, 0x0f, 0x6e, 0xd8, 0xc3,
        ],
        &[0xc5, 0xfa, 0x6f, 0x0f, 0xc3],
        &[0x48, 0x83, 0xc7, 0x01, 0xc3],
    ] {
        lifted(&X86_64, "straight", code).unwrap();
    }
}

/// A register that was written, for each: whether the kernel may leave it so.
#[test]
fn the_callers_registers_are_kept() {
    for register in 0..16u8 {
        // movabs $0, register; ret
        let code = [
            0x48 | register >> 3,
            0xb8 | register & 7,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0xc3,
        ];
        let kept = [3, 4, 5, 12, 13, 14, 15].contains(&register);
        let result = lifted(&X86_64, "straight", &code);
        assert_eq!(result.is_err(), kept, "{register}: {result:?}");
        assert!(
            result
                .err()
                .is_none_or(|e| e.contains("is not as the caller left it"))
        );
    }
    for register in 0..32 {
        let result = armv8(&[0x6f00_e400 | register, RET]);
        assert_eq!(
            result.is_err(),
            (8..16).contains(&register),
            "v{register}: {result:?}"
        );
        assert!(
            result
                .err()
                .is_none_or(|e| e.contains("is not as the caller left it"))
        );
    }
}

#[test]
fn a_kernel_may_need_only_the_features_of_its_level() {
    let refused = [
        // vaesenc %xmm0, %xmm0, %xmm0; vmovdqu (%rdi), %ymm0
        (&[0xc4, 0xe2, 0x79, 0xdc, 0xc0, 0xc3][..], "the feature aes"),
        (&[0xc5, 0xfd, 0xef, 0xc0, 0xc3], "the feature avx2"),
        (&[0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x07, 0xc3], "the feature avx512f"),
    ];
    for (code, reason) in refused {
        let why = lifted(&X86_64, "copy", code)
            .map(|lifted| lifted.module)
            .unwrap_err();
        assert!(why.contains(reason), "{code:02x?}: {why}");
    }
    for word in [AESE, AESMC] {
        let why = lifted(&ARMV8, "copy", &bytes(&[word, RET]))
            .map(|lifted| lifted.module)
            .unwrap_err();
        assert!(why.contains("the feature aes"), "{why}");
    }
}

/// Without a loop, a kernel whose buffers may be one is lifted for both cases.
#[test]
fn straight_code_in_place() {
    let source = "\tvmovdqu (%rdi), %xmm0\n\tvmovdqu %xmm0, (%rsi)\n\tvmovdqu 8(%rdi), %xmm0\n\tret\n";
    for line in [
        "run input output =",
        "xmm0_008 = load`{8} input ",
        "run_in_place : [32][8] -> ([32][8], [1]Vector)",
        "run_in_place input =",
        "xmm0_008 = load`{8} input_004 ",
    ] {
        check("in-place", "copy", &[(source.to_owned(), Ok(line))]);
    }
    let source = "\tvmovdqu 16(%rdi), %xmm0\n\tvmovdqu %xmm0, (%rdi)\n\tret\n".to_owned();
    check(
        "in-place-refused",
        "copy",
        &[(source, Err("a store to input, which is read-only"))],
    );
}

const LOOP: &str = "\tvmovdqu (%rdi), %xmm0
	jmp 1f
2:	vpxor (%rsi), %xmm0, %xmm0
	addq $16, %rsi
	decq %rdx
1:	cmpq $0, %rdx
	ja 2b
	vmovdqu %xmm0, (%rdi)
	ret
";

#[test]
#[allow(clippy::too_many_lines)] // a list of cases
fn the_loop_is_the_one_that_the_proof_needs() {
    let other = "a branch on something other than the counter";
    let cases = [
        ("", "", Ok("xmm0_006 = vpxor xmm0 (load`{0} input) ")),
        // Other ways to say the same.
        ("ja 2b", "jne 2b", Ok("step state input (xmm0) =")),
        ("ja 2b", "je 3f\n\tjmp 2b\n3:", Ok("step state input (xmm0) =")),
        ("ja 2b", "jbe 3f\n\tjmp 2b\n3:", Ok("step state input (xmm0) =")),
        ("decq %rdx", "addq $-1, %rdx", Ok("step state input (xmm0) =")),
        (
            "decq %rdx",
            "addq $1, %rdx\n\taddq $-2, %rdx",
            Ok("step state input (xmm0) ="),
        ),
        (
            "(%rsi), %xmm0, %xmm0\n\taddq $16, %rsi",
            "(%rsi), %xmm0, %xmm0\n\taddq $8, %rsi\n\taddq $8, %rsi",
            Ok("load`{0} input"),
        ),
        (
            "(%rsi), %xmm0, %xmm0\n\taddq $16, %rsi",
            "(%rsi), %xmm0, %xmm0\n\taddq $15, %rsi",
            Err("rsi is used as an address, but is not one"),
        ),
        (
            "jmp 1f",
            "addq $16, %rsi\n\tjmp 1f",
            Err("bytes 16 to 31 of input"),
        ),
        (
            "\tvpxor (%rsi)",
            "\taddq $16, %rsi\n\tvpxor -16(%rsi)",
            Err("arithmetic on neither an address nor the counter"),
        ),
        // The flags are the comparison's until something else sets them.
        ("cmpq $0, %rdx", "cmpq $0, %rdx\n\taddq $0, %rdi", Err(other)),
        ("cmpq $0, %rdx", "cmpq $0, %rdx\n\tdecq %rdi", Err(other)),
        ("\tcmpq $0, %rdx\n", "", Err(other)),
        ("1:\tcmpq $0, %rdx", "\tcmpq $0, %rdx\n1:", Err(other)),
        ("cmpq $0, %rdx", "cmpq $0, %rdi", Err(other)),
        ("cmpq $0, %rdx", "cmpq $0, %rax", Err(other)),
        ("cmpq $0, %rdx", "cmpq $0, %rdx\n\tcmpq $0, %rdi", Err(other)),
        (
            "cmpq $0, %rdx",
            "cmpq $1, %rdx",
            Err("not in the list of instructions"),
        ),
        // How often: not once more, once less, every second time.
        ("decq %rdx", "addq $-2, %rdx", Err(other)),
        ("decq %rdx", "addq $1, %rdx", Err(other)),
        ("decq %rdx", "addq $0, %rdx", Err(other)),
        ("\tjmp 1f", "\tdecq %rdx\n\tjmp 1f", Err(other)),
        ("\tjmp 1f", "\taddq $1, %rdx\n\tjmp 1f", Err(other)),
        ("\tjmp 1f\n", "", Err("a block of input, outside the loop")),
        ("ja 2b", "jbe 2b", Err("")),
        ("ja 2b", "je 2b", Err("")),
        // Tests of the counter behind the loop and inside it.
        ("\tret", "\tcmpq $0, %rdx\n\tja 2b\n\tret", Err("a second loop")),
        (
            "\tvmovdqu %xmm0, (%rdi)\n",
            "\tvmovdqu (%rsi), %xmm1\n\tvmovdqu %xmm0, (%rdi)\n",
            Err("a block of input, outside the loop"),
        ),
        (
            "\tdecq %rdx\n",
            "\tdecq %rdx\n\tcmpq $0, %rdx\n\tja 2b\n\tret\n",
            Err("an iteration that does not end at the test of the counter"),
        ),
        // Arithmetic on data.
        (
            "jmp 1f",
            "movabsq $0, %rax\n\taddq $1, %rax\n\tjmp 1f",
            Err("arithmetic on neither an address nor the counter"),
        ),
        (
            "jmp 1f",
            "movabsq $0, %rax\n\tdecq %rax\n\tjmp 1f",
            Err("arithmetic on neither an address nor the counter"),
        ),
        // The state is not written before the end, whether in the loop or before it.
        (
            "jmp 1f",
            "vmovdqu %xmm0, (%rdi)\n\tjmp 1f",
            Err("at 0x0: a buffer without blocks is written before the loop ends"),
        ),
        (
            "decq",
            "vmovdqu %xmm0, (%rdi)\n\tdecq",
            Err("at 0x6: a buffer without blocks is written before the loop ends"),
        ),
        // What one iteration leaves for the next must have been there before the first.
        ("jmp 1f", "jmp 1f", Ok("type Live = (Vector)")),
        (
            "\tvpxor (%rsi)",
            "\tvmovdqu %xmm1, %xmm2\n\tvpxor (%rsi)",
            Err("xmm1 is read before anything is written to it"),
        ),
        (
            "\tdecq",
            "\tvmovdqu (%rsi), %xmm3\n\tdecq",
            Err("bytes 16 to 31 of input, which has 16"),
        ),
        (
            "\taddq $16",
            "\tvmovdqu (%rsi), %xmm3\n\taddq $16",
            Err("xmm3 is as an iteration left it"),
        ),
        (
            "\tvmovdqu %xmm0, (%rdi)\n",
            "\tvmovdqu %xmm0, (%rdi)\n\tvpxor %xmm0, %xmm0, %xmm0\n",
            Ok("[1]Vector"),
        ),
        (
            "jmp 1f",
            "vmovdqu (%rdi), %xmm1\n\tjmp 1f",
            Err("xmm1 is as an iteration left it"),
        ),
    ];
    let used_after = LOOP
        .replacen("jmp 1f", "vmovdqu (%rdi), %xmm1\n\tjmp 1f", 1)
        .replacen("\tret", "\tvpxor %xmm1, %xmm0, %xmm0\n\tret", 1);
    check(
        "used-after",
        "fold_blocks",
        &[(used_after, Ok("exit state (xmm0, xmm1) ="))],
    );
    // Written by a legacy form before the loop and by another in it: what is above differs.
    let differs = LOOP
        .replacen("jmp 1f", "movabsq $0, %rax\n\tmovq %rax, %xmm3\n\tjmp 1f", 1)
        .replacen(
            "\taddq",
            "\tvpxor %xmm3, %xmm0, %xmm0\n\tvmovdqu (%rsi), %xmm3\n\taddq",
            1,
        );
    // A register that could be an index stays what it is.
    let index = LOOP.replacen("jmp 1f", "xorl %eax, %eax\n\tjmp 1f", 1).replacen(
        "\tdecq",
        "\taddq $0, %rax\n\tdecq",
        1,
    );
    check(
        "from-one-iteration-to-the-next",
        "fold_blocks",
        &[
            (
                differs,
                Err("xmm3 is read, but differs from one iteration to the next"),
            ),
            (index, Ok("step state input (xmm0) =")),
        ],
    );
    let cases: Vec<_> = (cases.into_iter())
        .map(|(find, replace, expected)| {
            assert!(LOOP.contains(find), "{find}");
            (LOOP.replacen(find, replace, 1), expected)
        })
        .collect();
    check("loop", "fold_blocks", &cases);
}

/// A kernel with a loop may share only blocks: the code around the loop is lifted once.
#[test]
fn what_is_around_the_loop_is_the_same_in_place() {
    let source = "\tvmovdqu (%rdi), %xmm0
	jmp 1f
2:	vpxor (%rdx), %xmm0, %xmm0
	addq $16, %rdx
	decq %rcx
1:	cmpq $0, %rcx
	ja 2b
	vmovdqu %xmm0, (%rsi)
	ret
";
    let reason = "at 0x0: in place, the code before or after the loop differs";
    check("around", "closed_blocks", &[(source.to_owned(), Err(reason))]);
}

const RET: u32 = 0xd65f_03c0;
const AESE: u32 = 0x4e28_4800;
const AESMC: u32 = 0x4e28_6800;
const EOR: u32 = 0x6e20_1c00;
const ORR: u32 = 0x4ea0_1c00;
const AND: u32 = 0x4e20_1c00;
const BIC: u32 = 0x4e60_1c00;
const ADD_4S: u32 = 0x4ea0_8400;
const ADD_2D: u32 = 0x4ee0_8400;
const UMLAL_2D: u32 = 0x2ea0_8000;
const UMLAL2_2D: u32 = 0x6ea0_8000;
const UMULL_2D: u32 = 0x2ea0_c000;
const UMULL2_2D: u32 = 0x6ea0_c000;
const UZP1_4S: u32 = 0x4e80_1800;
const TRN1_4S: u32 = 0x4e80_2800;
const ZIP1_2D: u32 = 0x4ec0_3800;
const ZIP2_2D: u32 = 0x4ec0_7800;
const BIC_4S: u32 = 0x6f00_1400;
const SHL_2D: u32 = 0x4f40_5400;
const USHR_2D: u32 = 0x6f40_0400;
const USRA_2D: u32 = 0x6f40_1400;
const LD4_4S: u32 = 0x4c40_0800;
const SHL_4S: u32 = 0x4f20_5400;
const SRI_4S: u32 = 0x6f20_4400;
const EXT: u32 = 0x6e00_0000;
const MOVI_2D: u32 = 0x6f00_e400;
const MOVI_8H: u32 = 0x4f00_8400;
const LDP: u32 = 0xad40_0000;
const LDP_X: u32 = 0xa940_0000;
const STP: u32 = 0xad00_0000;
const LDUR: u32 = 0x3cc0_0000;
const STUR: u32 = 0x3c80_0000;
const ADD: u32 = 0x9100_0000;
const SUB: u32 = 0xd100_0000;
const B: u32 = 0x1400_0000;

/// The fields Vd, Vn and Vm.
const fn dnm(d: u32, n: u32, m: u32) -> u32 {
    d | n << 5 | m << 16
}

/// `ldp q1, q2, [x0]`: `v1_000` and `v2_000`.
const LOADED: u32 = LDP | 1 | 2 << 10;

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn armv8(words: &[u32]) -> Result<Lifted, String> {
    lifted(&ARMV8, "straight", &bytes(words))
}

#[test]
fn aarch64_instructions_keep_their_operands_in_order() {
    let accepted: [(&[u32], &str); _] = [
        (&[AESE | dnm(1, 2, 0)], "v1_004 = aese v1_000 v2_000 "),
        (&[AESMC | dnm(3, 2, 0)], "v3_004 = aesmc v2_000 "),
        (&[EOR | dnm(3, 1, 2)], "v3_004 = eor v1_000 v2_000 "),
        (&[ORR | dnm(3, 2, 2)], "v3_004 = mov v2_000 "),
        (&[AND | dnm(3, 1, 2)], "v3_004 = and_16b v1_000 v2_000 "),
        (&[BIC | dnm(3, 1, 2)], "v3_004 = bic v1_000 v2_000 "),
        (&[ADD_4S | dnm(3, 1, 2)], "v3_004 = add_4s v1_000 v2_000 "),
        (&[ADD_2D | dnm(3, 1, 2)], "v3_004 = add_2d v1_000 v2_000 "),
        (
            &[UMLAL_2D | dnm(1, 2, 1)],
            "v1_004 = umlal_2d v1_000 v2_000 v1_000 ",
        ),
        (
            &[UMLAL_2D | dnm(2, 1, 2)],
            "v2_004 = umlal_2d v2_000 v1_000 v2_000 ",
        ),
        (
            &[UMLAL2_2D | dnm(1, 2, 1)],
            "v1_004 = umlal2_2d v1_000 v2_000 v1_000 ",
        ),
        (&[UMULL_2D | dnm(3, 1, 2)], "v3_004 = umull_2d v1_000 v2_000 "),
        (&[UMULL2_2D | dnm(3, 2, 1)], "v3_004 = umull2_2d v2_000 v1_000 "),
        (&[UZP1_4S | dnm(3, 1, 2)], "v3_004 = uzp1_4s v1_000 v2_000 "),
        (&[TRN1_4S | dnm(3, 1, 2)], "v3_004 = trn1_4s v1_000 v2_000 "),
        (&[ZIP1_2D | dnm(3, 1, 2)], "v3_004 = zip1_2d v1_000 v2_000 "),
        (&[ZIP2_2D | dnm(3, 2, 1)], "v3_004 = zip2_2d v2_000 v1_000 "),
        (
            &[BIC_4S | 1 | 0b101 << 16 | 0b00111 << 5],
            "v1_004 = bic_4s v1_000 167 0 ",
        ),
        (
            &[BIC_4S | 2 | 0b111 << 16 | 0b11100 << 5 | 3 << 13],
            "v2_004 = bic_4s v2_000 252 24 ",
        ),
        (&[SHL_2D | dnm(3, 2, 0)], "v3_004 = shl_2d v2_000 0 "),
        (&[SHL_2D | dnm(3, 2, 31)], "v3_004 = shl_2d v2_000 31 "),
        (&[SHL_2D | 32 << 16 | dnm(3, 2, 31)], "v3_004 = shl_2d v2_000 63 "),
        (&[USHR_2D | dnm(3, 2, 0)], "v3_004 = ushr_2d v2_000 64 "),
        (
            &[USHR_2D | 32 << 16 | dnm(3, 2, 31)],
            "v3_004 = ushr_2d v2_000 1 ",
        ),
        (&[USRA_2D | dnm(1, 2, 0)], "v1_004 = usra_2d v1_000 v2_000 64 "),
        (
            &[USRA_2D | 32 << 16 | dnm(1, 2, 6)],
            "v1_004 = usra_2d v1_000 v2_000 26 ",
        ),
        (&[ADD | 48 << 10, LD4_4S | 3], "v3_008 = (ld4_4s`{48} state).0 "),
        (&[ADD | 48 << 10, LD4_4S | 3], "v6_008 = (ld4_4s`{48} state).3 "),
        (&[LD4_4S | 31], "v2_004 = (ld4_4s`{0} state).3 "),
        (&[SHL_4S | dnm(3, 2, 0)], "v3_004 = shl_4s v2_000 0 "),
        (&[SHL_4S | dnm(3, 2, 31)], "v3_004 = shl_4s v2_000 31 "),
        (&[SRI_4S | dnm(1, 2, 31)], "v1_004 = sri_4s v1_000 v2_000 1 "),
        (&[SRI_4S | dnm(1, 2, 0)], "v1_004 = sri_4s v1_000 v2_000 32 "),
        (&[EXT | dnm(3, 1, 2) | 14 << 11], "v3_004 = ext v1_000 v2_000 14 "),
        (
            &[MOVI_2D | 3 | 0b101 << 16 | 0b00101 << 5],
            "v3_004 = movi_2d 165 ",
        ),
        (&[MOVI_8H | 3 | 0b100 << 16 | 1 << 5], "v3_004 = movi_8h 129 0 "),
        (
            &[MOVI_8H | 3 | 0b100 << 16 | 1 << 5 | 1 << 13],
            "v3_004 = movi_8h 129 8 ",
        ),
        (&[LDP | 3 | 4 << 10 | 6 << 15], "v3_004 = (ldp`{96} state).0 "),
        (
            &[LDP | 3 | 4 << 10 | 1 << 5 | 1 << 15],
            "v4_004 = (ldp`{16} keys).1 ",
        ),
        (
            &[STP | 1 | 2 << 10 | 6 << 15],
            "state_004 = stp`{96} state v1_000 v2_000 ",
        ),
        (&[STP | 1 | 1 << 10], "state_004 = stp`{0} state v1_000 v1_000 "),
        (&[LDUR | 3 | 112 << 12], "v3_004 = ldur`{112} state "),
        (&[STUR | 2 | 3 << 12], "state_004 = stur`{3} state v2_000 "),
        (
            &[ADD | 32 << 10, LDP | 3 | 4 << 10 | 127 << 15],
            "v3_008 = (ldp`{16} state).0 ",
        ),
        (
            &[ADD | 32 << 10, SUB | 20 << 10, LDUR | 3 | 0x1ff << 12],
            "v3_00c = ldur`{11} state ",
        ),
        (&[B | 1], "v1_000 = (ldp`{0} state).0 "),
    ];
    for (words, line) in accepted {
        let module = armv8(&[&[LOADED], words, &[RET]].concat()).unwrap().module;
        assert!(module.contains(line), "{words:08x?}: {line}: {module}");
    }
}

#[test]
#[allow(clippy::too_many_lines)] // a table: one line per instruction
fn other_aarch64_instructions_are_refused() {
    let register = "not in the list of registers";
    let other = "not in the list of instructions";
    let refused = [
        (ORR | dnm(3, 1, 2), other),                 // ORR of two registers
        (LDP | 3 | 3 << 10, other),                  // LDP of one register twice
        (ADD | 1 << 22 | 1 << 10, ""),               // ADD with a shift: LSL #12
        (SUB | 1 << 22 | 1 << 10, ""),               // SUB with a shift
        (ADD | 1 << 5 | 1 << 10, other),             // ADD x0, x1, #1
        (ADD | dnm(31, 31, 0) | 16 << 10, register), // ADD sp, sp, #16
        (0x1100_0400, register),                     // ADD w0, w0, #1
        (0xb100_0400, other),                        // ADDS x0, x0, #1
        (0x8b01_0000, other),                        // ADD x0, x0, x1
        (0x4e28_5800, other),                        // AESD
        (0x4e28_7800, other),                        // AESIMC
        (0x2e22_1c23, register),                     // EOR v3.8b, v1.8b, v2.8b
        (0x6e62_1c23, other),                        // BSL
        (0x4ee2_1c42, other),                        // ORN
        (0x0e22_1c23, register),                     // AND v3.8b, v1.8b, v2.8b
        (0x0e62_1c23, register),                     // BIC v3.8b, v1.8b, v2.8b
        (0x1202_0023, register),                     // AND w3, w1, #0x40000000
        (0x4e22_8423, other),                        // ADD v3.16b, v1.16b, v2.16b
        (0x4e62_8423, other),                        // ADD v3.8h, v1.8h, v2.8h
        (0x0ea2_8423, other),                        // ADD v3.2s, v1.2s, v2.2s
        (0x6ea2_8423, other),                        // SUB v3.4s, v1.4s, v2.4s
        (0x5ee2_8423, other),                        // ADD d3, d1, d2
        (0x2e62_8022, register),                     // UMLAL v2.4s, v1.4h, v2.4h
        (0x6e62_8022, register),                     // UMLAL2 v2.4s, v1.8h, v2.8h
        (0x6fa2_2022, other),                        // UMLAL2 v2.2d, v1.4s, v2.s[1]
        (0x2e62_c023, register),                     // UMULL v3.4s, v1.4h, v2.4h
        (0x6e22_c023, register),                     // UMULL2 v3.8h, v1.16b, v2.16b
        (0x0ea2_c023, other),                        // SMULL v3.2d, v1.2s, v2.2s
        (0x0e82_1823, register),                     // UZP1 v3.2s, v1.2s, v2.2s
        (0x4ec2_1823, register),                     // UZP1 v3.2d, v1.2d, v2.2d
        (0x4e82_5823, other),                        // UZP2 v3.4s, v1.4s, v2.4s
        (0x4ec2_2823, register),                     // TRN1 v3.2d, v1.2d, v2.2d
        (0x4e82_6823, other),                        // TRN2 v3.4s, v1.4s, v2.4s
        (0x4e82_3823, register),                     // ZIP1 v3.4s, v1.4s, v2.4s
        (0x4e82_7823, register),                     // ZIP2 v3.4s, v1.4s, v2.4s
        (0x6f00_9420, other),                        // BIC v0.8h, #1
        (0x2f00_1420, other),                        // BIC v0.2s, #1
        (0x5f40_5423, other),                        // SHL d3, d1, #0
        (0x7f40_0422, other),                        // USHR d2, d1, #64
        (0x6f20_1422, register),                     // USRA v2.4s, v1.4s, #32
        (0x4f40_1422, other),                        // SSRA v2.2d, v1.2d, #64
        (0x6f40_2422, other),                        // URSHR v2.2d, v1.2d, #64
        (0x6f40_3422, other),                        // URSRA v2.2d, v1.2d, #64
        (0x4cdf_0803, "an address that is not a register plus a constant"), // LD4 with post-index
        (0x0c40_0803, other),                        // LD4 {v3.2s - v6.2s}
        (0x4c40_0c03, other),                        // LD4 {v3.2d - v6.2d}
        (0x4c40_2803, other),                        // LD1 {v3.4s - v6.4s}
        (0x4d60_a003, other),                        // LD4 {v3.s - v6.s}[0]
        (0x2fa2_2022, other),                        // UMLAL v2.2d, v1.2s, v2.s[1]
        (0x0ea2_8022, other),                        // SMLAL v2.2d, v1.2s, v2.2s
        (0x2ea2_a022, other),                        // UMLSL v2.2d, v1.2s, v2.2s
        (0x0f20_5423, register),                     // SHL v3.2s, v1.2s, #0
        (0x4f10_5423, register),                     // SHL v3.8h, v1.8h, #0
        (0x6f20_5423, other),                        // SLI v3.4s, v1.4s, #0
        (0x4f20_7423, other),                        // SQSHL v3.4s, v1.4s, #0
        (0x2f20_4422, register),                     // SRI v2.2s, v1.2s, #32
        (0x6f10_4422, register),                     // SRI v2.8h, v1.8h, #16
        (0x6f40_4422, register),                     // SRI v2.2d, v1.2d, #64
        (0x6f20_0422, register),                     // USHR v2.4s, v1.4s, #32
        (0x2e02_0023, register),                     // EXT v3.8b
        (0x2f00_e400, ""),                           // MOVI d0, #0
        (0x0f00_8420, ""),                           // MOVI v0.4h, #1
        (0x6f00_8420, other),                        // MVNI v0.8h, #1
        (0x4f00_9420, other),                        // ORR v0.8h, #1
        (0x6f00_f400, other),                        // FMOV v0.2d, #2.0
        (0x4f00_0420, ""),                           // MOVI v0.4s, #1
        (0x4f00_e420, ""),                           // MOVI v0.16b, #1
        (0xadc0_0803, "an address that is not a register plus a constant"), // LDP with pre-index
        (0xacc0_0803, "an address that is not a register plus a constant"), // with post-index
        (0x6d40_0803, register),                     // LDP d3, d2
        (0x2d40_0803, register),                     // LDP s3, s2
        (0xa940_0803, "memory that holds no pointers"), // LDP x3, x2
        (0xa940_0c03, other),                        // LDP of one general register twice
        (0x2940_0803, register),                     // LDP w3, w2
        (0x6940_0803, other),                        // LDPSW x3, x2
        (0xa900_0803, register),                     // STP x3, x2
        (0xa9c0_0803, "an address that is not a register plus a constant"), // LDP x3, x2 with pre-index
        (0xac40_0803, other),                        // LDNP q3, q2
        (0xfc40_0003, register),                     // LDUR d3
        (0xf840_0003, register),                     // LDUR x3
        (0x3cc0_0403, other),                        // LDR q3, [x0], #0
        (0x3dc0_0003, other),                        // LDR q3, [x0]
        (0xfc00_0003, register),                     // STUR d3
        (0x3400_0040, register),                     // CBZ w0
        (0x5400_0040, other),                        // B.EQ
        (0x9400_0001, other),                        // BL
        (0xd61f_03c0, other),                        // BR x30
        (0xd65f_0020, other),                        // RET x1
        (0xd65f_0bff, ""),                           // RETAA
        (0xd503_201f, other),                        // NOP
    ];
    for (word, reason) in refused {
        let why = armv8(&[LOADED, word, RET])
            .map(|lifted| lifted.module)
            .unwrap_err();
        assert!(
            why.starts_with("at 0x4: ") && why.contains(reason),
            "{word:08x}: {reason}: {why}"
        );
    }
    // Half an instruction.
    assert!(lifted(&ARMV8, "straight", &bytes(&[RET])[..3]).is_err());
}

/// A kernel for lanes that loads two pointers with the first word, and sums the blocks at them. `more` is in its loop.
fn fold_lanes(load: u32, first: u32, second: u32, more: Option<u32>) -> Result<String, String> {
    let cbnz = |rt: u32, words: u32| 0xb500_0000 | rt | (words.wrapping_neg() & 0x7_ffff) << 5;
    let body = [
        LDUR | 1 | first << 5,
        EOR | dnm(0, 0, 1),
        LDUR | 1 | second << 5,
        EOR | dnm(0, 0, 1),
        ADD | dnm(first, first, 0) | 16 << 10,
        ADD | dnm(second, second, 0) | 16 << 10,
        SUB | dnm(2, 2, 0) | 1 << 10,
    ];
    let body: Vec<u32> = more.into_iter().chain(body).collect();
    let len = u32::try_from(body.len()).unwrap();
    let before = [load, LDUR, B | (len + 1)];
    let after = [cbnz(2, len), STUR, MOVI_2D | 1, RET];
    let words = [&before[..], &body, &after].concat();
    lifted(&ARMV8, "fold_lanes", &bytes(&words)).map(|lifted| lifted.module)
}

#[test]
fn aarch64_pointers_lead_to_their_lanes() {
    let ldp =
        |first: u32, second: u32, place: u32| LDP_X | first | 1 << 5 | second << 10 | (place & 0x7f) << 15;
    for (first, second, place) in [(4, 5, 0), (5, 4, 0), (17, 3, 1)] {
        let module = fold_lanes(ldp(first, second, place), first, second, None).unwrap();
        for (at, lane) in [("00c", place), ("014", place + 1)] {
            let line = format!("v1_{at} = ldur`{{0}} input_{lane} ");
            assert!(module.contains(&line), "{line}: {module}");
        }
    }
    let refused = [
        (
            ldp(4, 5, 2),
            None,
            "at 0x0: bytes 24 to 31 of input_pointers, which has 24",
        ),
        (ldp(4, 5, 127), None, "at 0x0: bytes -8 to -1 of input_pointers"),
        (ldp(4, 4, 0), None, "at 0x0: not in the list of instructions"),
        (ldp(4, 31, 0), None, "at 0x0: not in the list of registers"),
        (ldp(1, 5, 0), None, "at 0x0: a block of input_0, outside the loop"),
        (ldp(4, 19, 0), None, "x19 is not as the caller left it"),
        // Not the first block there.
        (
            ldp(4, 5, 0),
            Some(ldp(4, 5, 0)),
            "at 0xc: the address of the first block, in the loop",
        ),
        (
            ldp(4, 5, 0),
            Some(ADD | dnm(4, 4, 0) | 1 << 10),
            "bytes 1 to 16 of input_0, which has 16",
        ),
    ];
    for (load, more, reason) in refused {
        let second = if load == ldp(4, 19, 0) { 19 } else { 5 };
        let why = fold_lanes(load, 4, second, more).unwrap_err();
        assert!(why.contains(reason), "{load:08x}: {reason}: {why}");
    }
}

/// The operations on constants, for which `make isa` must have forms.
#[test]
fn constants_are_listed() {
    let words = [
        LOADED,
        EXT | dnm(3, 1, 2) | 14 << 11,
        SHL_4S | dnm(3, 1, 5),
        SRI_4S | dnm(3, 1, 5),
        MOVI_8H | 3 | 0b100 << 16 | 1 << 5 | 1 << 13,
        ADD | 32 << 10,
        SUB | 20 << 10,
        RET,
    ];
    let constants = armv8(&words).unwrap().constants;
    let expected: [(&str, Vec<u64>); 6] = [
        ("add", vec![32]),
        ("ext", vec![14]),
        ("movi_8h", vec![129, 8]),
        ("shl_4s", vec![5]),
        ("sri_4s", vec![27]),
        ("sub", vec![20]),
    ];
    assert_eq!(constants, expected.into());
    assert_eq!(armv8(&[ADD, RET]).unwrap().constants, [("add", vec![0])].into());
    // vmovdqu (%rdi), %ymm1; vextracti128 $1, %ymm1, (%rdi); ret
    let code = [0xc5, 0xfe, 0x6f, 0x0f, 0xc4, 0xe3, 0x7d, 0x39, 0x0f, 0x01, 0xc3];
    assert_eq!(
        lifted(&X86_64, "straight", &code).unwrap().constants,
        [("vextracti128", vec![1])].into()
    );
}
