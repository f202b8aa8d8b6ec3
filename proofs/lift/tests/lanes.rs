//! The kernels for lanes: that the lifter accepts them shows that their time and addresses do not depend on secrets and
//! that they stay inside their buffers; and it refuses what is not so.

use std::path::Path;
use veriplex_lift::table::{Kernel, Level, TABLE};
use veriplex_lift::{Error, Lifted, assembler, lift};

fn lifted(
    level: &Level,
    kernel: &Kernel,
    change: impl FnOnce(String) -> String,
) -> Option<Result<Lifted, Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test); // tests run side by side
    let rustc = assembler::rustc(level.target)?;
    let source = change(assembler::source(&root, level, kernel).unwrap());
    let code = assembler::assemble(rustc, level.target, &source, &folder).unwrap();
    Some(lift(kernel, level, &code))
}

#[test]
fn kernels_for_lanes_are_constant_time() {
    let mut seen = 0;
    for (level, kernel) in TABLE.all().filter(|(_, kernel)| kernel.has_lanes()) {
        if let Some(lifted) = lifted(level, kernel, |source| source) {
            assert!(
                lifted.is_ok(),
                "{} {}: {:?}",
                level.name,
                kernel.name,
                lifted.err()
            );
        }
        seen += 1;
    }
    assert_eq!(seen, 47);
}

#[test]
#[allow(clippy::too_many_lines)] // a list
fn what_kernels_for_lanes_may_not_do_is_refused() {
    // Level, kernel, what is replaced by what, and why that is refused.
    let changes = [
        (
            "x86-64-avx512",
            "duplex_absorb_blocks_x8",
            "\taddq\t$94, %rax",
            "\taddq\t$95, %rax",
            "is used as an address",
        ),
        (
            "x86-64-avx512",
            "duplex_absorb_blocks_x8",
            "62(%r9,\\offset)",
            "63(%r9,\\offset)",
            "which has 94",
        ),
        (
            "x86-64-avx512",
            "duplex_absorb_blocks_x8",
            "\tmovq\t\\first(\\pointers), %r9",
            "\tmovq\t(%rdi), %r9",
            "no pointers",
        ),
        (
            "x86-64-avx512",
            "duplex_absorb_blocks_x8",
            "\tmovq\t\\first(\\pointers), %r9",
            "\tmovq\t4+\\first(\\pointers), %r9",
            "parts of two",
        ),
        (
            "x86-64-avx512",
            "duplex_squeeze_blocks_x8",
            "\tvzeroall",
            "\tnop",
            "not in the list",
        ),
        (
            "x86-64-vaes",
            "duplex_absorb_blocks_x4",
            "\tvzeroall",
            "\tvmovdqu %ymm0, (%r8,%rax)\n\tvzeroall",
            "r8 is used as an address",
        ),
        (
            "x86-64-vaes",
            "duplex_absorb_blocks_x4",
            "\txorl\t%eax, %eax",
            "\tvmovdqu\t%ymm0, (%rdi)\n\txorl\t%eax, %eax",
            "is written before the loop ends",
        ),
        (
            "x86-64-vaes",
            "duplex_absorb_blocks_x4",
            "\tvpsrldq\t$2, %ymm1, %ymm1",
            "\tvmovdqu\t%ymm1, (%r8,%rax)",
            "read-only",
        ),
        (
            "x86-64-vaes",
            "duplex_absorb_blocks_x4",
            "\tvpsrldq\t$2, %ymm1, %ymm1",
            "\tvmovdqu\t%ymm1, (%rsi)",
            "a store to input_pointers, which is read-only",
        ),
        (
            "armv8",
            "duplex_absorb_blocks_x2",
            "\tadd\tx5, x5, #94",
            "\tadd\tx5, x5, #95",
            "x5 is used as an address",
        ),
        (
            "armv8",
            "duplex_absorb_blocks_x2",
            "\tldp\tx4, x5, [x1]",
            "\tldp\tx4, x5, [x0]",
            "no pointers",
        ),
        (
            "armv8",
            "duplex_absorb_blocks_x2",
            "\tldp\tx4, x5, [x1]",
            "\tldp\tx4, x5, [x1, #8]",
            "bytes 16 to 23 of input_pointers, which has 16",
        ),
        (
            "armv8",
            "duplex_absorb_blocks_x2",
            "2:\n",
            "2:\n\tldp\tx4, x5, [x1]\n",
            "the address of the first block, in the loop",
        ),
        (
            "armv8",
            "duplex_absorb_blocks_x2",
            "\tb\t1f",
            "\tldur\tq1, [x4]\n\tb\t1f",
            "a block of input_0, outside the loop",
        ),
        (
            "armv8",
            "duplex_absorb_blocks_x2",
            "\tsimpira_clear_x2\n\tret",
            "\tldur\tq1, [x4]\n\tsimpira_clear_x2\n\tret",
            "a block of input_0, outside the loop",
        ),
        (
            "armv8",
            "duplex_absorb_blocks_x2",
            "\tadd\tx4, x4, #94",
            "\tstur\tq16, [x4]\n\tadd\tx4, x4, #94",
            "a store to input_0, which is read-only",
        ),
        (
            "armv8",
            "duplex_encrypt_blocks_x2",
            "simpira_store_block_x2\tx7",
            "simpira_store_block_x2\tx5",
            "a store to input_0, which is read-only",
        ),
        (
            "x86-64-vaes",
            "duplex_decrypt_blocks_x4",
            "\tmovq\t24(%rdx), %r10",
            "\tmovq\t32(%rdx), %r10",
            "bytes 32 to 39 of output_pointers, which has 32",
        ),
        (
            "armv8",
            "duplex_squeeze_blocks_x2",
            "[\\p, #78]\n.endm\n\n/* The padding",
            "[\\p, #79]\n.endm\n\n/* The padding",
            "bytes 79 to 94 of output_0, which has 94",
        ),
    ];
    for (level, kernel, from, to, reason) in changes {
        let (level, kernel) = (TABLE.level(level).unwrap(), TABLE.kernel(kernel).unwrap());
        let result = lifted(level, kernel, |source| {
            assert!(source.contains(from), "{from}");
            source.replacen(from, to, 1)
        });
        let Some(result) = result else { return };
        let refused = result.err().map(|error| error.reason);
        assert!(
            refused.as_ref().is_some_and(|refused| refused.contains(reason)),
            "{to}: {refused:?}"
        );
    }
}
