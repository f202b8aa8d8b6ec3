//! The kernels as the crate's build assembled them, and what SAW needs to look at them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};
use veriplex_lift::object_file::Symbol;
use veriplex_lift::{Architecture, Target, assembler};

/// Builds the crate as a static library: for this machine, or with a compiler for another.
pub fn build(root: &Path, out: &Path, other: Option<(&str, &Target)>) -> io::Result<PathBuf> {
    let mut library = out.join("build");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .args([
            "rustc",
            "--release",
            "--package",
            "veriplex",
            "--lib",
            "--crate-type",
            "staticlib",
        ])
        .arg("--target-dir")
        .arg(&library);
    if let Some((rustc, target)) = other {
        command
            .args(["--target", assembler::triple(target)])
            .env("RUSTC", rustc);
        library.push(assembler::triple(target));
    }
    super::call(&mut command)?;
    Ok(library.join("release/libveriplex.a"))
}

/// Lays the bytes into a static executable, each kernel under its basename, with type and size; and the instructions
/// one by one.
pub fn link(root: &Path, kernels: &[Symbol], out: &Path) -> io::Result<()> {
    let mut text = String::from(".text\n");
    let start = Symbol {
        name: "_start".into(),
        symbol: String::new(),
        architecture: Architecture::X86_64,
        bytes: vec![0xc3],
    };
    if let Some(table) = kernels.iter().find(|kernel| kernel.name == "round_constants") {
        let listed: Vec<String> = table.bytes.iter().map(u8::to_string).collect();
        let text = format!(
            "module Table where\n\ntable : [{}][8]\ntable = [{}]\n",
            listed.len(),
            listed.join(", ")
        );
        fs::write(out.join("Table.cry"), text)?;
    }
    for Symbol { name, bytes, .. } in kernels.iter().chain([&start]) {
        let listed: Vec<String> = bytes.iter().map(u8::to_string).collect();
        let _ = write!(
            text,
            ".p2align 5\n.globl {name}\n.type {name}, @function\n{name}:\n.byte {}\n.size {name}, . - {name}\n",
            listed.join(",")
        );
    }
    for kernel in kernels.iter().filter(|kernel| kernel.name.ends_with("_blocks")) {
        text += &cut(kernel)?;
    }
    text += ".section .note.GNU-stack,\"\",@progbits\n";
    fs::write(out.join("kernels.s"), text)?;
    super::call(
        Command::new("cc")
            .current_dir(out)
            .args([
                "-nostdlib",
                "-static",
                "-no-pie",
                "-Wl,--build-id=none",
                "-o",
                "kernels",
                "kernels.s",
            ])
            .arg(root.join("proofs/saw/instructions.s")),
    )?;
    Ok(())
}

/// A bulk kernel cut at the head of its loop. It is laid out as
///
/// ```text
///       (state into registers)
///       jmp test
/// head: (one block)
/// test: cmp $0, n
///       ja head
/// end:  (registers into state)
///       ret
/// ```
///
/// and the cuts are three functions, which get in r9 memory for the registers:
///
/// - `NAME_enter`: the kernel from its start to `end`, but `ja` leaves to the stop: the registers go to memory, and
///   whether `ja` was taken;
/// - `NAME_step`: the same code, entered at `head` with the xmm registers from memory;
/// - `NAME_leave`: the kernel from `end` on, with the xmm registers from memory.
///
/// The bytes are those of the kernel, except for the four that say where `ja` goes.
fn cut(kernel: &Symbol) -> io::Result<String> {
    let Symbol { name, bytes, .. } = kernel;
    let distance = |at: usize| {
        let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
        isize::try_from(i32::from_le_bytes(bytes)).ok()
    };
    let target = |after: usize| after.checked_add_signed(distance(after - 4)?);
    // jmp: e9 and a distance; ja: 0f 87 and a distance; distances count from the end of the instruction.
    let mut cuts = Vec::new();
    for head in (5..bytes.len()).filter(|&head| bytes[head - 5] == 0xe9) {
        for end in (head + 6..bytes.len()).filter(|&end| bytes[end - 6..end - 4] == [0x0f, 0x87]) {
            let test = target(head);
            if target(end) == Some(head) && test.is_some_and(|test| (head..end).contains(&test)) {
                cuts.push((head, end));
            }
        }
    }
    let [(head, end)] = cuts[..] else {
        return Err(io::Error::other(format!("{name}: it does not have the one loop")));
    };
    let listed = |bytes: &[u8]| bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    let (start, rest) = (listed(&bytes[..end - 4]), listed(&bytes[end..]));
    let load: String = (0..16).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "vmovdqu {}(%r9), %xmm{i}", 16 * i);
        text
    });
    let store: String = (0..16).fold(String::new(), |mut text, i| {
        let _ = writeln!(text, "vmovdqu %xmm{i}, {}(%r9)", 16 * i);
        text
    });
    let function = |cut: &str, code: &str| {
        format!(
            ".p2align 5\n.globl {name}_{cut}\n.type {name}_{cut}, @function\n{name}_{cut}:\n{code}\
             .size {name}_{cut}, . - {name}_{cut}\n"
        )
    };
    let stop = format!(
        "movq $0, 296(%r9)\njmp 2f\n1: movq $1, 296(%r9)\n2:\n{store}movq %rdi, 256(%r9)\nmovq %rsi, 264(%r9)\n\
         movq %rdx, 272(%r9)\nmovq %rcx, 280(%r9)\nmovq %r8, 288(%r9)\nret\n"
    );
    Ok(
        function("enter", &format!(".byte {start}\n.long 1f - . - 4\n{stop}"))
            + &function("step", &format!("{load}jmp {name}_enter + {head}\n"))
            + &function("leave", &format!("{load}.byte {rest}\n")),
    )
}

/// Compiles the prototypes.
pub fn bitcode(root: &Path, out: &Path) -> io::Result<()> {
    super::call(
        Command::new("rustc")
            .args([
                "--edition=2024",
                "--crate-type=lib",
                "--emit=llvm-bc",
                "-Copt-level=0",
                "-Cpanic=abort",
                "-o",
            ])
            .arg(out.join("prototypes.bc"))
            .arg(root.join("proofs/saw/prototypes.rs")),
    )?;
    Ok(())
}
