//! The machine with buffers that no kernel has yet: what it takes and what it refuses follows the table, and a table that
//! says what cannot be is refused.

use std::path::Path;
use veriplex_lift::table::{Argument, Table};
use veriplex_lift::{ARMV8, Lifted, X86_64, assembler, lift};

const LEVEL: &str = r#"
[[level]]
name = "made-up"
target = "x86-64"
source = "jazz"
backend = "none"
theorems = ""

[[table]]
name = "keys"
bytes = 48
"#;

/// Two inputs, one of them with gaps between its blocks of 64 bytes, and an output that may be the other.
const KERNEL: &str = r#"
[[kernel]]
name = "mix_blocks"
cryptol = "none"
arguments = [
    { name = "state", bytes = 32, access = "read-write", secret = true },
    { name = "left", bytes = 64, blocks = "n", stride = 96, access = "read", secret = true },
    { name = "right", bytes = 64, blocks = "n", access = "read", secret = false },
    { name = "output", bytes = 64, blocks = "n", access = "write", secret = true, may_be = "right" },
    { name = "n", count = true },
    { name = "keys", table = "keys" },
]
[kernel.levels]
made-up = { features = ["avx"] }
"#;

const SOURCE: &str = "\
	vmovdqu	16(%rdi), %xmm1
	jmp	1f
2:
	vmovdqu	48(%rsi), %xmm0
	vpxor	48(%rdx), %xmm0, %xmm0
	vpxor	32(%r9), %xmm0, %xmm0
	vpxor	%xmm0, %xmm1, %xmm1
	vmovdqu	%xmm1, 48(%rcx)
	addq	$96, %rsi
	addq	$64, %rdx
	addq	$64, %rcx
	decq	%r8
1:
	cmpq	$0, %r8
	ja	2b
	vmovdqu	%xmm1, 16(%rdi)
	vpxor	%xmm0, %xmm0, %xmm0
	vpxor	%xmm1, %xmm1, %xmm1
	ret
";

/// The kernel with a change of its assembly, lifted; or why not. `None` where there is no rustc for it.
fn lifted(name: &str, find: &str, replace: &str) -> Option<Result<Lifted, String>> {
    let Some(rustc) = assembler::rustc(&X86_64) else {
        println!("{name}: skipped, because no rustc here has a library for x86-64");
        return None;
    };
    assert!(SOURCE.contains(find), "{find}");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("table-{name}"));
    let source = SOURCE.replacen(find, replace, 1);
    let code = assembler::assemble(rustc, &X86_64, &source, &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let table = Table::parse(&format!("{LEVEL}{KERNEL}")).unwrap();
    Some(lift(&table.kernels[0], &table.levels[0], &code).map_err(|e| e.reason))
}

#[test]
fn buffers_are_those_of_the_table() {
    let Some(lifted) = lifted("accepted", "", "") else {
        return;
    };
    let module = lifted.unwrap().module;
    for line in [
        "entry : [32][8] -> [48][8] -> Live",
        "step : [32][8] -> [64][8] -> [64][8] -> [64][8] -> [48][8] -> Live -> (Live, [64][8])",
        "step state left right output keys (xmm1) =",
        "xmm0_007 = load`{48} left ",
        "xmm0_00c = vpxor xmm0_007 (load`{48} right) ",
        "xmm0_011 = vpxor xmm0_00c (load`{32} keys) ",
        "output_01b = store`{48} output xmm1_017 ",
        // In place: one buffer less, written under the name of the input.
        "step_in_place : [32][8] -> [64][8] -> [64][8] -> [48][8] -> Live -> (Live, [64][8])",
        "step_in_place state left right keys (xmm1) =",
        "right_01b = store`{48} right xmm1_017 ",
        "exit : [32][8] -> [48][8] -> Live -> ([32][8], [2]Vector)",
    ] {
        assert!(module.contains(line), "{line}: {module}");
    }
}

#[test]
fn what_leaves_a_buffer_is_refused() {
    let refused = [
        ("48(%rsi)", "49(%rsi)", "bytes 49 to 64 of left, which has 64"),
        // In the gap before the next block.
        ("48(%rsi)", "80(%rsi)", "bytes 80 to 95 of left, which has 64"),
        ("48(%rdx)", "-16(%rdx)", "bytes -16 to -1 of right, which has 64"),
        ("48(%rcx)", "64(%rcx)", "bytes 64 to 79 of output, which has 64"),
        ("32(%r9)", "40(%r9)", "bytes 40 to 55 of keys, which has 48"),
        (
            "16(%rdi), %xmm1\n\tjmp",
            "17(%rdi), %xmm1\n\tjmp",
            "bytes 17 to 32 of state, which has 32",
        ),
        (
            "%xmm1, 48(%rcx)",
            "%xmm1, 48(%rdx)",
            "a store to right, which is read-only",
        ),
        (
            "%xmm1, 48(%rcx)",
            "%xmm1, 32(%r9)",
            "a store to keys, which is read-only",
        ),
        // Each pointer goes on by its own stride.
        (
            "$96, %rsi",
            "$64, %rsi",
            "rsi is used as an address, but is not one",
        ),
        (
            "$64, %rdx",
            "$96, %rdx",
            "rdx is used as an address, but is not one",
        ),
        (
            "\taddq\t$64, %rcx\n",
            "",
            "rcx is used as an address, but is not one",
        ),
        (
            "decq\t%r8",
            "decq\t%r9",
            "a branch on something other than the counter",
        ),
        (
            "\tjmp\t1f",
            "\tvmovdqu\t(%rdx), %xmm0\n\tjmp\t1f",
            "a block of right, outside the loop",
        ),
    ];
    for (i, (find, replace, reason)) in refused.into_iter().enumerate() {
        let Some(lifted) = lifted(&format!("refused-{i}"), find, replace) else {
            return;
        };
        let why = lifted.map(|lifted| lifted.module).unwrap_err();
        assert!(why.contains(reason), "{replace}: {why}");
    }
}

#[test]
#[allow(clippy::too_many_lines)] // a list of cases
fn a_table_that_cannot_be_is_refused() {
    let right = format!("{LEVEL}{KERNEL}");
    Table::parse(&right).unwrap();
    for (find, replace, reason) in [
        ("target = \"x86-64\"", "target = \"z80\"", "no target z80"),
        ("made-up = {", "other = {", "no level other"),
        ("table = \"keys\"", "table = \"other\"", "no table other"),
        (
            "table = \"keys\" }",
            "table = \"keys\", bytes = 48 }",
            "a table has its own length",
        ),
        ("bytes = 48", "bytes = 0", "a name and a length"),
        (
            "name = \"mix_blocks\"",
            "name = \"Mix blocks\"",
            "needs a name and at least one level",
        ),
        ("name = \"right\"", "name = \"left\"", "not a unique name"),
        ("{ name = \"n\", count = true },", "", "blocks without a count"),
        ("count = true }", "count = true, bytes = 8 }", "neither a count"),
        ("bytes = 32, access", "bytes = 0, access", "neither a count"),
        (", secret = false", "", "neither a count"),
        ("blocks = \"n\", stride", "stride", "blocks without a count"),
        (
            "blocks = \"n\", access = \"write\"",
            "blocks = \"n\", stride = 63, access = \"write\"",
            "blocks without a count, or written ones that overlap",
        ),
        (
            "may_be = \"right\"",
            "may_be = \"left\"",
            "may_be is for a written argument",
        ),
        (
            "may_be = \"right\"",
            "may_be = \"state\"",
            "may_be is for a written argument",
        ),
        (
            "may_be = \"right\"",
            "may_be = \"other\"",
            "may_be is for a written argument",
        ),
        (
            "blocks = \"n\", access = \"write\"",
            "blocks = \"n\", pointers = 2, access = \"write\"",
            "may_be is for a written argument",
        ),
        (
            "{ name = \"keys\", table = \"keys\" }",
            "{ name = \"m\", count = true }",
            "more than one count",
        ),
        ("cryptol", "crytpol", "unknown field"),
        (
            "made-up = { features = [\"avx\"] }",
            "",
            "needs a name and at least one level",
        ),
        (
            "name = \"mix_blocks\"",
            "name = \"2_blocks\"",
            "needs a name and at least one level",
        ),
        (
            "name = \"mix_blocks\"",
            "name = \"mix-blocks\"",
            "needs a name and at least one level",
        ),
        (
            "name = \"keys\"\nbytes",
            "name = \"Keys\"\nbytes",
            "no table keys",
        ),
        (
            "access = \"write\"",
            "access = \"read\"",
            "may_be is for a written argument",
        ),
        (
            "blocks = \"n\", access",
            "blocks = \"m\", access",
            "blocks without a count",
        ),
        (
            "blocks = \"n\", access",
            "blocks = \"left\", access",
            "blocks without a count",
        ),
        (
            "bytes = 32, access",
            "bytes = 32, pointers = 2, access",
            "blocks without a count",
        ),
        (
            "count = true }",
            "count = true, table = \"keys\" }",
            "neither a count",
        ),
        (
            "{ name = \"n\", count = true },",
            "{ name = \"n\", count = true }, { name = \"seventh\", bytes = 1, access = \"read\", secret = true },",
            "more arguments than argument registers",
        ),
    ] {
        assert!(right.contains(find), "{find}");
        let why = Table::parse(&right.replacen(find, replace, 1)).unwrap_err();
        assert!(why.contains(reason), "{replace}: {why}");
    }
    // A count and a table are not described as a buffer is.
    let alone = right.replacen(", may_be = \"right\"", "", 1);
    for bare in ["count = true", "table = \"keys\""] {
        for described in [
            "access = \"read\"",
            "secret = true",
            "may_be = \"right\"",
            "blocks = \"n\"",
            "stride = 64",
            "pointers = 2",
        ] {
            let both = alone.replacen(&format!("{bare} }}"), &format!("{bare}, {described} }}"), 1);
            assert_ne!(both, alone);
            let why = Table::parse(&both).unwrap_err();
            assert!(why.contains("neither a count"), "{bare}, {described}: {why}");
        }
    }
    // A table, a level, a kernel twice; two buffers that may be others.
    let twice = |text: &str| Table::parse(&format!("{text}{right}")).unwrap_err();
    let why = twice("[[table]]\nname = \"keys\"\nbytes = 48\n");
    assert!(why.contains("a table is there twice"), "{why}");
    let why = twice(&LEVEL.replace("keys", "others"));
    assert!(why.contains("a level is there twice"), "{why}");
    let argument = "{ name = \"second\", bytes = 64, blocks = \"n\", access = \"write\", secret = true, may_be = \"right\" }";
    let why =
        Table::parse(&right.replacen("{ name = \"keys\", table = \"keys\" }", argument, 1)).unwrap_err();
    assert!(why.contains("more than one buffer that may be another"), "{why}");
    let why = Table::parse(&format!("{right}{KERNEL}")).unwrap_err();
    assert!(why.contains("its symbol is not unique"), "{why}");
}

#[test]
fn a_table_is_read() {
    let right = format!("{LEVEL}{KERNEL}");
    for (find, replace) in [
        ("stride = 96", "stride = 64"),
        // Blocks that are only read may overlap.
        ("stride = 96", "stride = 63"),
        // Written ones may be side by side.
        (
            "blocks = \"n\", access = \"write\"",
            "blocks = \"n\", stride = 64, access = \"write\"",
        ),
        ("mix_blocks", "mix_2_blocks"),
        ("bytes = 32, access", "bytes = 1, access"),
        ("theorems = \"\"", "theorems = \"\"\nsymbols = \"_x\""),
    ] {
        assert!(right.contains(find), "{find}");
        Table::parse(&right.replacen(find, replace, 1)).unwrap();
    }
    let table =
        Table::parse(&right.replacen("theorems = \"\"", "theorems = \"\"\nsymbols = \"_x\"", 1)).unwrap();
    let (level, kernel) = table.find(X86_64.architecture, "mix_blocks_x").unwrap();
    assert_eq!((&*level.name, &*kernel.name), ("made-up", "mix_blocks"));
    assert!(table.find(X86_64.architecture, "mix_blocks").is_none());
    assert!(table.find(ARMV8.architecture, "mix_blocks_x").is_none());
    assert!(table.level("made-up").is_some() && table.level("x86-64").is_none());
    assert!(table.kernel("mix_blocks").is_some() && table.kernel("mix").is_none());
    assert!(table.is_constants("keys") && !table.is_constants("mix_blocks"));
    assert!(table.reads_constants(X86_64.architecture, "keys"));
    assert!(!table.reads_constants(X86_64.architecture, "right"));
    assert!(!table.reads_constants(ARMV8.architecture, "keys"));
    assert_eq!(table.all().count(), 1);
    assert!(kernel.has_count() && kernel.in_place());
    assert_eq!(
        kernel.prototype(),
        "state: *mut u8, left: *const u8, right: *const u8, output: *mut u8, n: usize, keys: *const u8"
    );
    let of = |property: fn(&Argument) -> bool| -> Vec<&str> {
        kernel
            .arguments
            .iter()
            .filter(|a| property(a))
            .map(|a| &*a.name)
            .collect()
    };
    assert_eq!(of(Argument::is_count), ["n"]);
    assert_eq!(of(Argument::is_secret), ["state", "left", "output"]);
    assert_eq!(of(|a| a.table() == Some("keys")), ["keys"]);
    assert_eq!(of(|a| a.may_be() == Some("right")), ["output"]);
    assert_eq!(
        of(|a| a.buffer().is_some_and(|buffer| buffer.writable)),
        ["state", "output"]
    );
}

/// What is asked of the tables of this repository: two kernels, of which one is proved and reads constants, and three
/// tables of constants, of which two are proved.
#[test]
fn what_is_proved_is_known() {
    let other = KERNEL
        .replace("mix_blocks", "mix")
        .replace("cryptol", "unproved = \"all\"\ncryptol")
        .replace(
            "table = \"keys\"",
            "bytes = 48, access = \"read\", secret = false",
        );
    let constants = "[[table]]\nname = \"others\"\nbytes = 16\nunproved = \"all\"\n\
                     [[table]]\nname = \"more\"\nbytes = 16\n";
    let table = Table::parse(&format!("{LEVEL}{constants}{KERNEL}{other}")).unwrap();
    let x86_64 = X86_64.architecture;
    for (symbol, proved) in [
        ("mix_blocks", true),
        ("mix", false),
        ("keys", true),
        ("more", true),
        ("others", false),
        ("left", false),
    ] {
        assert_eq!(table.is_proved(x86_64, symbol), proved, "{symbol}");
    }
    assert!(!table.is_proved(ARMV8.architecture, "mix_blocks"));
    let names: Vec<_> = table.proved().map(|(_, kernel)| &*kernel.name).collect();
    assert_eq!(names, ["mix_blocks"]);
    let names: Vec<_> = table
        .proved_constants()
        .map(|constants| &*constants.name)
        .collect();
    assert_eq!(names, ["keys", "more"]);
    assert!(table.is_constants("keys") && table.is_constants("others"));
    assert!(table.reads_constants(x86_64, "keys") && !table.reads_constants(x86_64, "others"));
}

#[test]
fn kernels_for_lanes_are_known() {
    let table = &*veriplex_lift::table::TABLE;
    for (name, lanes, pointers) in [
        ("simpira1024_permute", false, false),
        ("simpira1024_permute_x4", true, false),
        ("duplex_absorb_blocks", false, false),
        ("duplex_absorb_blocks_x4", true, true),
        ("nh_add_units_x4", true, false),
        ("nh_add_groups_x4", true, false),
        ("poly1305_add_blocks_x4", true, false),
        ("poly1305_add_blocks_x8", true, false),
        ("poly1305_add_blocks_x16", true, false),
    ] {
        let kernel = table.kernel(name).unwrap();
        assert_eq!(
            (kernel.has_lanes(), kernel.has_pointers()),
            (lanes, pointers),
            "{name}"
        );
        assert_eq!(kernel.has_count(), !name.contains("permute"), "{name}");
    }
}
