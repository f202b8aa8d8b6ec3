//! Instructions on 32 and 64 bytes: what they lift to, that it is what the same on 16 bytes lifts to, and what is
//! refused.

use std::path::{Path, PathBuf};
use std::process::Command;
use veriplex_lift::table::Table;
use veriplex_lift::{Lifted, X86_64, assembler, lift};

/// A function of state and table.
const TABLE: &str = r#"
[[level]]
name = "x86-64"
target = "x86-64"
source = "jazz"
backend = "none"
theorems = ""

[[table]]
name = "keys"
bytes = 1152

[[kernel]]
name = "rounds"
cryptol = "none"
arguments = [
    { name = "state", bytes = 128, access = "read-write", secret = true },
    { name = "table", table = "keys" },
]
[kernel.levels]
x86-64 = { features = ["aes", "avx", "avx2", "avx512f", "avx512ifma", "vaes"] }
"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Such a function, assembled and lifted; or why not. `None` where there is no rustc for it.
fn lifted(name: &str, source: &str) -> Option<Result<Lifted, String>> {
    let Some(rustc) = assembler::rustc(&X86_64) else {
        println!("{name}: skipped, because no rustc here has a library for x86-64");
        return None;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("wide-{name}"));
    let code = assembler::assemble(rustc, &X86_64, source, &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let table = Table::parse(TABLE).unwrap();
    Some(lift(&table.kernels[0], &table.levels[0], &code).map_err(|e| e.reason))
}

/// Two rounds of AES on each 16 bytes of the state, with an XOR between them, the same two keys for all; so many bytes at
/// a time.
fn rounds(bytes: usize) -> String {
    // `key` puts it into all lanes.
    let (v, load, xor, key) = match bytes {
        16 => ("%xmm", "vmovdqu", "vpxor", "vmovdqu"),
        32 => ("%ymm", "vmovdqu", "vpxor", "vbroadcasti128"),
        _ => ("%zmm", "vmovdqu64", "vpxorq", "vbroadcasti32x4"),
    };
    let mut lines = vec![format!("{key} (%rsi), {v}1"), format!("{key} 16(%rsi), {v}2")];
    for at in (0..128).step_by(bytes) {
        lines.extend([
            format!("{load} {at}(%rdi), {v}0"),
            format!("vaesenc {v}1, {v}0, {v}3"),
            format!("{xor} {at}(%rdi), {v}3, {v}3"),
            format!("vaesenc {v}2, {v}3, {v}3"),
            format!("{load} {v}3, {at}(%rdi)"),
        ]);
    }
    lines.extend((0..4).map(|i| format!("vpxor %xmm{i}, %xmm{i}, %xmm{i}")));
    lines.join("\n") + "\nret\n"
}

#[test]
fn wide_forms_lift_and_do_what_the_narrow_ones_do() {
    let names = [(16, "narrow"), (32, "ymm"), (64, "zmm")];
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wide-prove");
    std::fs::create_dir_all(&folder).unwrap();
    for (bytes, name) in names {
        let Some(lifted) = lifted(name, &rounds(bytes)) else {
            return;
        };
        let module = lifted
            .unwrap()
            .module
            .replace("module rounds", &format!("module {name}"));
        std::fs::write(folder.join(format!("{name}.cry")), &module).unwrap();
        // What is left in the registers is zero above its 16 bytes.
        assert!(module.contains("([128][8], [4]Vector)"), "{module}");
        let lines: &[&str] = match bytes {
            32 => &[
                "ymm1_000 = vbroadcasti128 (load`{0} table) ",
                "ymm0_00b = load_wide`{0, 32} state ",
                "ymm3_00f = vaesenc_wide ymm0_00b ymm1_000 ",
                "ymm3_014 = vpxor_wide ymm3_00f (load_wide`{0, 32} state) ",
                "state_01d = store_wide`{0, 32} state ymm3_018 ",
            ],
            64 => &[
                "zmm1_000 = vbroadcasti32x4 (load`{0} table) ",
                "store_wide`{64, 64} state",
            ],
            _ => &[],
        };
        for line in lines {
            assert!(module.contains(line), "{line}: {module}");
        }
    }
    if Command::new("cryptol").arg("--version").output().is_err() {
        println!("the comparison is skipped, because cryptol is not on PATH");
        return;
    }
    for wide in ["ymm", "zmm"] {
        let property = format!(
            "module equal where\nimport narrow as narrow\nimport {wide} as wide\n\
             property equal s t = wide::run s t == narrow::run s t\n"
        );
        std::fs::write(folder.join("equal.cry"), property).unwrap();
        let output = Command::new("cryptol")
            .current_dir(&folder)
            .env("CRYPTOLPATH", format!("{}/spec/cryptol:.", root().display()))
            .args(["-c", ":m equal", "-c", ":set tests=5", "-c", ":check equal"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("Passed 5 tests"), "{wide}: {said}");
    }
}

/// What is refused, each as a line before the return.
#[test]
fn what_is_not_exact_is_refused() {
    let load = "\tvmovdqu\t(%rdi), %ymm0\n\tmovq\t$-9151314442816847872, %rax\n";
    let refused = [
        ("vpxorq\t%zmm0, %zmm0, %zmm1{%k1}", "with a mask or a broadcast"),
        (
            "vpxorq\t%zmm0, %zmm0, %zmm1{%k1}{z}",
            "with a mask or a broadcast",
        ),
        ("vpxorq\t(%rsi){1to8}, %zmm0, %zmm1", "with a mask or a broadcast"),
        ("vmovdqu64\t(%rsi), %zmm1{%k2}{z}", "with a mask or a broadcast"),
        // EVEX forms of other widths, which nothing here executes.
        ("vmovdqu64\t(%rsi), %ymm1", "not in the list of instructions"),
        ("vpxord\t%zmm0, %zmm0, %zmm1", "not in the list of instructions"),
        ("vprold\t$5, %zmm0, %zmm1{%k1}", "with a mask or a broadcast"),
        ("vprold\t$5, %ymm0, %ymm1", "not in the list of instructions"),
        ("vprolvd\t%zmm0, %zmm0, %zmm1", "not in the list of instructions"),
        ("vpslld\t%xmm0, %ymm0, %ymm1", "not in the list of instructions"),
        (
            "vpternlogq\t$0xd3, %zmm0, %zmm0, %zmm1",
            "not in the list of instructions",
        ),
        ("vpermd\t%ymm0, %ymm0, %ymm1", "not in the list of instructions"),
        ("vpbroadcastd\t%xmm0, %zmm1", "not in the list of instructions"),
        (
            "vpaddd\t(%rsi){1to16}, %zmm0, %zmm1",
            "with a mask or a broadcast",
        ),
        ("vpaddw\t%zmm0, %zmm0, %zmm1", "not in the list of instructions"),
        (
            "valignq\t$1, %zmm0, %zmm0, %zmm1",
            "not in the list of instructions",
        ),
        (
            "vaesenclast\t%ymm0, %ymm0, %ymm1",
            "not in the list of instructions",
        ),
        // A legacy form keeps what is above.
        (
            "movq\t%rax, %xmm1\n\tvmovdqu\t%ymm1, (%rdi)",
            "ymm1 is read, but only its low 16 bytes were written",
        ),
        (
            "movq\t%rax, %xmm0",
            "xmm0 is written, but its higher bytes are kept",
        ),
        (
            "movq\t%rax, %xmm1",
            "xmm1 is left with only its low bytes written, beside wider ones",
        ),
        (
            "vmovdqu\t%ymm5, (%rdi)",
            "ymm5 is read before anything is written to it",
        ),
        (
            "vmovdqu\t97(%rdi), %ymm1",
            "bytes 97 to 128 of state, which has 128",
        ),
        (
            "vpxor\t1121(%rsi), %ymm0, %ymm1",
            "bytes 1121 to 1152 of table, which has 1152",
        ),
        (
            "vaesenc\t1089(%rsi), %zmm0, %zmm1",
            "bytes 1089 to 1152 of table, which has 1152",
        ),
        (
            "vbroadcasti128\t1137(%rsi), %ymm1",
            "bytes 1137 to 1152 of table, which has 1152",
        ),
        (
            "vmovdqu64\t%zmm0, 65(%rdi)",
            "bytes 65 to 128 of state, which has 128",
        ),
        ("vmovdqu\t%ymm0, (%rsi)", "a store to table, which is read-only"),
    ];
    for (i, (line, reason)) in refused.into_iter().enumerate() {
        let Some(lifted) = lifted(&format!("refused-{i}"), &format!("{load}\t{line}\n\tret\n")) else {
            return;
        };
        let why = lifted.map(|lifted| lifted.module).unwrap_err();
        assert!(why.contains(reason), "{line}: {why}");
    }
}

/// A register is read and left as wide as it was written, and zero above.
#[test]
fn widths_of_one_register() {
    let accepted = [
        // A 16-byte form sets the register to zero above, and a legacy one after it leaves that.
        (
            "vmovdqu\t(%rdi), %xmm0\n\tvmovdqu\t%ymm0, (%rdi)",
            "store_wide`{0, 32} state (zext`{256} xmm0_000)",
        ),
        (
            "vpxor\t%xmm0, %xmm0, %xmm0\n\tmovq\t$-9151314442816847872, %rax\n\tmovq\t%rax, %xmm0\n\tvmovdqu64\t%zmm0, (%rdi)",
            "store_wide`{0, 64} state (zext`{512} xmm0_00e)",
        ),
        (
            "vmovdqu64\t(%rdi), %zmm17\n\tvmovdqu64\t%zmm17, %zmm0\n\tvmovdqu\t%xmm0, (%rdi)",
            "store`{0} state (low`{128} zmm0_006)",
        ),
        // What is left is as wide as the widest.
        (
            "vmovdqu64\t(%rdi), %zmm17\n\tvmovdqu\t(%rdi), %ymm1\n\tvmovdqu\t(%rdi), %xmm2",
            "[(zext`{512} ymm1_006), (zext`{512} xmm2_00a), zmm17_000]",
        ),
    ];
    for (i, (lines, expected)) in accepted.into_iter().enumerate() {
        let Some(lifted) = lifted(&format!("accepted-{i}"), &format!("\t{lines}\n\tret\n")) else {
            return;
        };
        let module = lifted.unwrap().module;
        assert!(module.contains(expected), "{module}");
    }
}

/// Operations on every 32 bits and moves of them: each operand in its place, constants included.
#[test]
#[allow(clippy::too_many_lines)] // a table
fn operations_on_words_keep_their_operands_in_order() {
    let load = "\tvmovdqu64\t(%rdi), %zmm0\n\tvmovdqu64\t64(%rdi), %zmm1\n";
    let accepted = [
        ("vprold $5, %zmm1, %zmm2", "zmm2_00d = vprold zmm1_006 5 "),
        ("vpslld $13, %zmm1, %zmm2", "zmm2_00d = vpslld zmm1_006 13 "),
        (
            "vpslld $13, %ymm1, %ymm2",
            "ymm2_00d = vpslld (low`{256} zmm1_006) 13 ",
        ),
        (
            "vpsrld $19, %ymm1, %ymm2",
            "ymm2_00d = vpsrld (low`{256} zmm1_006) 19 ",
        ),
        (
            "vpsllq $12, %ymm1, %ymm2",
            "ymm2_00d = vpsllq (low`{256} zmm1_006) 12 ",
        ),
        (
            "vpsrlq $40, %ymm1, %ymm2",
            "ymm2_00d = vpsrlq (low`{256} zmm1_006) 40 ",
        ),
        (
            "vpternlogq $0xd2, %zmm0, %zmm1, %zmm0",
            "zmm0_00d = vpternlogq_xor_andn zmm0_000 zmm1_006 zmm0_000 ",
        ),
        (
            "vpternlogq $0x78, 64(%rsi), %zmm1, %zmm0",
            "zmm0_00d = vpternlogq_xor_and zmm0_000 zmm1_006 (load_wide`{64, 64} table) ",
        ),
        (
            "vpunpckldq %zmm1, %zmm0, %zmm2",
            "zmm2_00d = vpunpckldq zmm0_000 zmm1_006 ",
        ),
        (
            "vpunpckhqdq %ymm1, %ymm0, %ymm2",
            "ymm2_00d = vpunpckhqdq (low`{256} zmm0_000) (low`{256} zmm1_006) ",
        ),
        (
            "vpandn %ymm1, %ymm0, %ymm2",
            "ymm2_00d = vpandn (low`{256} zmm0_000) (low`{256} zmm1_006) ",
        ),
        (
            "vperm2i128 $49, %ymm1, %ymm0, %ymm2",
            "ymm2_00d = vperm2i128 (low`{256} zmm0_000) (low`{256} zmm1_006) 49 ",
        ),
        (
            "vpshufd $147, %ymm1, %ymm2",
            "ymm2_00d = vpshufd (low`{256} zmm1_006) 147 ",
        ),
        ("vpshufd $147, %zmm1, %zmm2", "zmm2_00d = vpshufd zmm1_006 147 "),
        (
            "vpermd %zmm1, %zmm0, %zmm2",
            "zmm2_00d = vpermd zmm0_000 zmm1_006 ",
        ),
        (
            "vpermd 64(%rsi), %zmm0, %zmm2",
            "zmm2_00d = vpermd zmm0_000 (load_wide`{64, 64} table) ",
        ),
        (
            "valignd $11, %zmm1, %zmm0, %zmm2",
            "zmm2_00d = valignd zmm0_000 zmm1_006 11 ",
        ),
        ("addq $512, %rsi\n\tvmovdqu (%rsi), %xmm2", "load`{512} table"),
        (
            "vpaddd %zmm1, %zmm0, %zmm2",
            "zmm2_00d = vpaddd zmm0_000 zmm1_006 ",
        ),
        (
            "vpaddq 64(%rsi), %zmm0, %zmm2",
            "zmm2_00d = vpaddq zmm0_000 (load_wide`{64, 64} table) ",
        ),
        (
            "vpmuludq %ymm1, %ymm0, %ymm2",
            "ymm2_00d = vpmuludq (low`{256} zmm0_000) (low`{256} zmm1_006) ",
        ),
        (
            "vpmadd52luq %zmm1, %zmm0, %zmm0",
            "zmm0_00d = vpmadd52luq zmm0_000 zmm0_000 zmm1_006 ",
        ),
        (
            "vpmadd52huq 64(%rsi), %zmm1, %zmm0",
            "zmm0_00d = vpmadd52huq zmm0_000 zmm1_006 (load_wide`{64, 64} table) ",
        ),
        (
            "vpandq %zmm1, %zmm0, %zmm2",
            "zmm2_00d = vpand zmm0_000 zmm1_006 ",
        ),
        ("vpsllq $20, %zmm1, %zmm2", "zmm2_00d = vpsllq zmm1_006 20 "),
        ("vpsrlq $44, %zmm1, %zmm2", "zmm2_00d = vpsrlq zmm1_006 44 "),
        (
            "vpbroadcastd 12(%rsi), %zmm2",
            "zmm2_00d = vpbroadcastd`{16} (load_wide`{12, 4} table) ",
        ),
        (
            "vpbroadcastd 12(%rsi), %ymm2",
            "ymm2_00d = vpbroadcastd`{8} (load_wide`{12, 4} table) ",
        ),
        (
            "vpshufb %ymm1, %ymm0, %ymm2",
            "ymm2_00d = vpshufb (low`{256} zmm0_000) (low`{256} zmm1_006) ",
        ),
    ];
    let sources: Vec<String> = (accepted.iter())
        .map(|(line, _)| format!("{load}\t{line}\n\tret\n"))
        .collect();
    let Some(rustc) = assembler::rustc(&X86_64) else {
        println!("skipped, because no rustc here has a library for x86-64");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wide-words");
    let codes = assembler::assemble_all(rustc, &X86_64, &sources, &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let table = Table::parse(TABLE).unwrap();
    for (code, (line, expected)) in codes.iter().zip(accepted) {
        let module = lift(&table.kernels[0], &table.levels[0], code).unwrap().module;
        assert!(module.contains(expected), "{line}: {module}");
    }
}
