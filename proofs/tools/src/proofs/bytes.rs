//! The kernels as the crate's build assembled them, and what SAW needs to look at them.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// A kernel of the library, or the table of round constants.
pub struct Kernel {
    /// Its basename, which is also that of its Cryptol definition, its source and its proof.
    pub name: String,
    pub symbol: String,
    pub bytes: Vec<u8>,
}

/// Builds the crate as a static library.
pub fn build(root: &Path, out: &Path) -> io::Result<PathBuf> {
    let target = out.join("build");
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    super::call(
        Command::new(cargo)
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
            .arg(&target),
    )?;
    Ok(target.join("release/libveriplex.a"))
}

/// The kernels in a static library, an object or an executable: the functions `veriplex_NAME_vVERSION`.
pub fn kernels(file: &Path) -> io::Result<Vec<Kernel>> {
    let data = fs::read(file)?;
    let mut kernels = Vec::new();
    if let Ok(archive) = object::read::archive::ArchiveFile::parse(&*data) {
        for member in archive.members() {
            let member = member
                .map_err(io::Error::other)?
                .data(&*data)
                .map_err(io::Error::other)?;
            kernels.extend(kernels_of_object(member)?);
        }
    } else {
        kernels = kernels_of_object(&data)?;
    }
    kernels.sort_by(|a, b| a.name.cmp(&b.name));
    if kernels.is_empty() {
        return Err(io::Error::other(format!("{}: no kernel in it", file.display())));
    }
    Ok(kernels)
}

fn kernels_of_object(data: &[u8]) -> io::Result<Vec<Kernel>> {
    let Ok(object) = object::File::parse(data) else {
        return Ok(Vec::new());
    };
    let mut kernels = Vec::new();
    for symbol in object.symbols() {
        let text = symbol.name().unwrap_or_default();
        let (Some(name), Some(index)) = (basename(text), symbol.section_index()) else {
            continue;
        };
        let section = object.section_by_index(index).map_err(io::Error::other)?;
        let start = symbol.address() - section.address();
        let range = start..start + symbol.size();
        if section.relocations().any(|(at, _)| range.contains(&at)) {
            return Err(io::Error::other(format!(
                "{text}: its bytes depend on where they are linked"
            )));
        }
        let bytes = section.data().map_err(io::Error::other)?;
        let bytes = usize::try_from(range.start)
            .ok()
            .zip(usize::try_from(range.end).ok())
            .and_then(|(start, end)| bytes.get(start..end))
            .filter(|bytes| !bytes.is_empty())
            .ok_or_else(|| io::Error::other(format!("{text}: no size")))?;
        kernels.push(Kernel {
            name: name.to_owned(),
            symbol: text.to_owned(),
            bytes: bytes.to_vec(),
        });
    }
    Ok(kernels)
}

/// `permute` of `veriplex_permute_v0_1`.
fn basename(symbol: &str) -> Option<&str> {
    let (name, version) = symbol.strip_prefix("veriplex_")?.rsplit_once("_v")?;
    version
        .chars()
        .all(|c| c.is_ascii_digit() || c == '_')
        .then_some(name)
}

/// Lays the bytes into a static executable, each kernel under its basename, with type and size; and the instructions
/// one by one.
pub fn link(root: &Path, kernels: &[Kernel], out: &Path) -> io::Result<()> {
    let mut text = String::from(".text\n");
    let start = Kernel {
        name: "_start".into(),
        symbol: String::new(),
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
    for Kernel { name, bytes, .. } in kernels.iter().chain([&start]) {
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
fn cut(kernel: &Kernel) -> io::Result<String> {
    let Kernel { name, bytes, .. } = kernel;
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
