//! The kernels as the crate's build assembled them, and what SAW needs to load them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};
use veriplex_lift::object_file::Symbol;
use veriplex_lift::table::{Argument, Kernel, TABLE};
use veriplex_lift::{Target, assembler};

/// One function for each form of instruction.
pub const INSTRUCTIONS: &str = "proofs/saw/lib/instructions.s";

/// Builds the crate as a static library, for this machine or with a compiler for another.
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

/// The kernel, if it has a second proof, with SAW's own decoder and model of the instructions.
fn by_macaw(root: &Path, symbol: &Symbol) -> Option<&'static Kernel> {
    let (level, kernel) = TABLE.find(symbol.architecture, &symbol.name)?;
    let script = format!("proofs/saw/{}/{}_macaw.saw", level.name, kernel.name);
    root.join(script).is_file().then_some(kernel)
}

/// Writes the tables of constants as modules of Cryptol.
pub fn constants(kernels: &[Symbol], out: &Path) -> io::Result<()> {
    let folder = out.join("tables");
    fs::create_dir_all(&folder)?;
    for Symbol { name, bytes, .. } in kernels.iter().filter(|symbol| TABLE.is_constants(&symbol.name)) {
        let text = format!(
            "module {name} where\n\ntable : [{}][8]\ntable = [{}]\n",
            bytes.len(),
            listed(bytes)
        );
        fs::write(folder.join(format!("{name}.cry")), text)?;
    }
    Ok(())
}

/// Bytes as decimal numbers.
fn listed(bytes: &[u8]) -> String {
    bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// Puts the bytes of those kernels into a static executable, each under its name, with type and size; and the
/// instructions one by one.
pub fn link(root: &Path, kernels: &[Symbol], out: &Path) -> io::Result<()> {
    let mut text = String::from(".text\n");
    let mut function = |name: &str, bytes: &[u8]| {
        let _ = write!(
            text,
            ".p2align 5\n.globl {name}\n.type {name}, @function\n{name}:\n.byte {}\n.size {name}, . - {name}\n",
            listed(bytes)
        );
    };
    function("_start", &[0xc3]);
    let mut cuts = String::new();
    for symbol in kernels {
        if let Some(kernel) = by_macaw(root, symbol) {
            function(&symbol.name, &symbol.bytes);
            if kernel.has_count() {
                cuts += &cut(symbol)?;
            }
        }
    }
    text += &cuts;
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
            .arg(root.join(INSTRUCTIONS)),
    )?;
    Ok(())
}

/// A bulk kernel, cut at the head of its loop. Its layout is
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
/// and the cuts are three functions, which get in r9 a pointer to memory for the registers:
///
/// - `NAME_enter`: the kernel from its start to `end`, but `ja` goes to code that stores the registers, and whether
///   `ja` was taken;
/// - `NAME_step`: the same code, entered at `head` with the xmm registers from memory;
/// - `NAME_leave`: the kernel from `end` on, with the xmm registers from memory.
///
/// The bytes are those of the kernel, except the four that hold the target of `ja`.
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
        return Err(io::Error::other(format!(
            "{name}: it does not have exactly one loop"
        )));
    };
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

/// The number of argument registers of a cut kernel before r9.
const CUT_ARGUMENTS: usize = 5;

/// Compiles the prototypes of what `link` puts into the executable to LLVM bitcode, from which SAW takes the types of
/// the arguments.
pub fn prototypes(root: &Path, kernels: &[Symbol], out: &Path) -> io::Result<()> {
    let mut functions: Vec<(String, Vec<&str>)> = Vec::new();
    for symbol in kernels {
        let Some(kernel) = by_macaw(root, symbol) else {
            continue;
        };
        let mut types: Vec<&str> = kernel.arguments.iter().map(Argument::rust_type).collect();
        functions.push((symbol.name.clone(), types.clone()));
        if kernel.has_count() {
            if types.len() > CUT_ARGUMENTS {
                return Err(io::Error::other(format!(
                    "{}: too many arguments for a cut",
                    symbol.name
                )));
            }
            types.resize(CUT_ARGUMENTS, "usize");
            types.push("*mut u8");
            functions.extend(
                ["enter", "step", "leave"].map(|cut| (format!("{}_{cut}", symbol.name), types.clone())),
            );
        }
    }
    for line in fs::read_to_string(root.join(INSTRUCTIONS))?.lines() {
        let mut words = line.split([' ', ',']);
        if let (Some("form" | "begin"), Some(name)) = (words.next(), words.next()) {
            functions.push((format!("form_{name}"), vec!["*mut u64"]));
        }
    }
    let (mut declarations, mut calls) = (String::new(), String::new());
    for (name, types) in functions {
        let declared: Vec<String> = (types.iter().enumerate())
            .map(|(i, of)| format!("a{i}: {of}"))
            .collect();
        let zeros = types
            .iter()
            .map(|of| if *of == "usize" { "0" } else { "p.cast()" });
        let _ = writeln!(declarations, "fn {name}({});", declared.join(", "));
        let _ = writeln!(calls, "{name}({});", zeros.collect::<Vec<_>>().join(", "));
    }
    let source = format!(
        "#![no_std]\nunsafe extern \"C\" {{\n{declarations}}}\n\
         /// Keeps the declarations in the module; never called.\n#[unsafe(no_mangle)]\n\
         pub unsafe extern \"C\" fn prototypes(p: *mut u8) {{ unsafe {{\n{calls}}} }}\n"
    );
    fs::write(out.join("prototypes.rs"), source)?;
    super::call(Command::new("rustc").current_dir(out).args([
        "--edition=2024",
        "--crate-type=lib",
        "--emit=llvm-bc",
        "-Copt-level=0",
        "-Cpanic=abort",
        "-o",
        "prototypes.bc",
        "prototypes.rs",
    ]))?;
    Ok(())
}
