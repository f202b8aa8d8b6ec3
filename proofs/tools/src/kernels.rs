//! `veriplex-tools kernels`: the assembly of those kernels of `jasmin/` that have Jasmin, and with `--check` the proof that it
//! still is what is committed, constant-time and memory-safe.

use crate::{Options, parallel, sha256, subcommand};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, fs, io};
use veriplex_lift::table::{Kernel, Level, TABLE};

/// A kernel of a level whose sources are Jasmin.
type Export = (&'static Level, &'static Kernel);

fn exports() -> impl Iterator<Item = Export> {
    TABLE.all().filter(|(level, _)| level.source == "jazz")
}

const GENERATOR: &str = "proofs/tools/src/kernels.rs";

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--check", "--strict"], &[]);
    subcommand("kernels", options, &["jasminc", "jasmin-ct"], |options| {
        let result = if options.has("--check") {
            check(root)
        } else {
            generate_all(root)
        };
        result.map(|()| true).map_err(io::Error::other)
    })
}

fn generate_all(root: &Path) -> Result<(), String> {
    for export in exports() {
        let path = path(root, export, "s");
        fs::write(&path, generate(root, export)?).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Prints the table; an error if one of its cells is not "ok".
fn check(root: &Path) -> Result<(), String> {
    println!(
        "{:32} {:>10} {:>10} {:>10} {:>10} {:>8}",
        "export", "committed", "ct", "sct", "safety", "seconds"
    );
    let exports: Vec<Export> = exports().collect();
    let failures = parallel::map(&exports, |export| check_one(root, *export)).concat();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures)
    }
}

/// Prints a row of the table. Returns what failed.
fn check_one(root: &Path, export: Export) -> String {
    let (level, kernel) = export;
    let name = format!("{}/{}", level.name, kernel.name);
    let start = Instant::now();
    let mut failures = String::new();
    let mut cell = |what: &str, result: Result<(), String>| match result {
        Ok(()) => "ok",
        Err(e) => {
            let _ = write!(failures, "\n{name}: {what}: {e}");
            "FAILED"
        }
    };
    let committed = cell("committed", compare(root, export));
    let ct = cell("ct", constant_time(root, export));
    let mut shown = |what: &str, except: &[&str], check: fn(&Path, Export) -> Result<(), String>| {
        if except.contains(&kernel.name.as_str()) {
            "not shown"
        } else {
            cell(what, check(root, export))
        }
    };
    let sct = shown("sct", &OF_POINTERS, speculative);
    let safety = shown("safety", &[&OF_POINTERS[..], &OF_CHACHA].concat(), safe);
    let seconds = start.elapsed().as_secs_f64();
    println!("{name:32} {committed:>10} {ct:>10} {sct:>10} {safety:>10} {seconds:8.1}");
    failures
}

/// Kernels that read pointers to their blocks from memory. The checkers know nothing of those, and show neither speculative
/// constant time nor memory safety. The lifter's check of the bounds covers all kernels.
const OF_POINTERS: [&str; 4] = [
    "duplex_absorb_blocks_x2",
    "duplex_squeeze_blocks_x2",
    "duplex_encrypt_blocks_x2",
    "duplex_decrypt_blocks_x2",
];

/// Kernels for which the check of memory safety does not end in half an hour.
const OF_CHACHA: [&str; 3] = [
    "chacha8_xor_blocks_x3",
    "chacha12_xor_blocks_x3",
    "chacha20_xor_blocks_x3",
];

/// Is what is committed what the sources give?
fn compare(root: &Path, export: Export) -> Result<(), String> {
    let path = path(root, export, "s");
    let committed = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let generated = generate(root, export)?;
    if committed == generated {
        return Ok(());
    }
    let line = (committed.lines().zip(generated.lines()))
        .take_while(|(c, g)| c == g)
        .count();
    Err(format!(
        "{} differs from what its sources give, first in line {}",
        path.display(),
        line + 1
    ))
}

fn constant_time(root: &Path, export: Export) -> Result<(), String> {
    run(Command::new("jasmin-ct")
        .arg("--doit")
        .arg(path(root, export, "jazz")))
    .map(drop)
}

/// Speculative constant time, of a kernel whose source says for what arguments. The checker holds that arguments of an
/// exported function are always tainted by speculation in its caller: so this is about the same function, not exported.
fn speculative(root: &Path, export: Export) -> Result<(), String> {
    let source = path(root, export, "jazz");
    let text = fs::read_to_string(&source).map_err(|e| format!("{}: {e}", source.display()))?;
    if !text.contains("#[sct = ") {
        return Err(format!("{} does not say for what arguments", source.display()));
    }
    let (head, rest) = text.split_once("\nexport fn ").ok_or("no exported function")?;
    let folder = source.parent().ok_or("no folder")?;
    // What it requires stands beside it.
    let text =
        format!("{head}\nfn {rest}").replace("require \"", &format!("require \"{}/", folder.display()));
    let copy = scratch(export, "jazz")?;
    fs::write(&copy, text).map_err(|e| format!("{}: {e}", copy.display()))?;
    run(Command::new("jasmin-ct").arg("--sct").arg(copy)).map(drop)
}

/// Memory safety, and how far each pointer to blocks reaches: not beyond the stride of each of them. The analysis runs
/// when inlining and copies are done with: on the source as it is written it takes very much longer.
fn safe(root: &Path, export: Export) -> Result<(), String> {
    let (level, kernel) = export;
    let config = scratch(export, "json")?;
    fs::write(&config, SAFETY_CONFIG).map_err(|e| format!("{}: {e}", config.display()))?;
    let mut command = Command::new("jasminc");
    command.arg("-checksafety").arg("-safetyconfig").arg(&config);
    let pointers: Vec<(&str, i64)> = (kernel.arguments.iter())
        .filter_map(|argument| Some((argument.name.as_str(), argument.buffer()?.stride?)))
        .collect();
    // What the checker is to relate.
    let count = kernel.arguments.iter().find(|argument| argument.is_count());
    let count = count.map_or("", |argument| &argument.name);
    if !pointers.is_empty() {
        let names: Vec<&str> = pointers.iter().map(|(name, _)| *name).collect();
        let relation = format!("veriplex_{}>{};{count}", level.symbol(kernel), names.join(","));
        command.arg("-safetyparam").arg(relation);
    }
    let report = run(command.arg(path(root, export, "jazz")))?;
    if !report.contains("*** No Safety Violation") {
        return Err(report);
    }
    for (pointer, stride) in pointers {
        if !report.contains(&format!("{stride}·inv_{count} ≥ mem_{pointer}")) {
            return Err(format!(
                "{pointer} is not shown to stay within {stride} {count} bytes\n{report}"
            ));
        }
    }
    Ok(())
}

const SAFETY_CONFIG: &str = r#"{
  "compilation_pass": "renamingd",
  "input_range": {},
  "k_unroll": 1,
  "flow_dependency": false,
  "if_disjunction": true,
  "pif_movecc_as_if": true,
  "while_flags_setfrom_dep": true,
  "dynamic_packing": false,
  "zero_threshold": true,
  "param_threshold": true,
  "more_threshold": false,
  "print_program": false,
  "print_stats": false,
  "arr_no_print": true,
  "glob_no_print": true,
  "nrel_no_print": false,
  "ignore_unconstrained": true,
  "is_init_no_print": "IP_None",
  "bool_no_print": true,
  "print_symb_subst": true,
  "var_append_fun_name": false,
  "widening_out": false,
  "call_policy": "CallDirectAll"
}
"#;

fn path(root: &Path, (level, kernel): Export, extension: &str) -> PathBuf {
    root.join("jasmin")
        .join(&level.name)
        .join(&kernel.name)
        .with_extension(extension)
}

/// A file of this process for an intermediate result.
fn scratch((level, kernel): Export, extension: &str) -> Result<PathBuf, String> {
    let folder = env::temp_dir().join(format!("veriplex-kernels-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    Ok(folder.join(level.symbol(kernel)).with_extension(extension))
}

/// What the command says, if it succeeds.
fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    if output.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}

fn generate(root: &Path, export: Export) -> Result<String, String> {
    let (level, kernel) = export;
    let name = &kernel.name;
    let raw = scratch(export, "s")?;
    run(Command::new("jasminc")
        .arg("-o")
        .arg(&raw)
        .arg(path(root, export, "jazz")))?;
    let raw = fs::read_to_string(&raw).map_err(|e| format!("{}: {e}", raw.display()))?;
    let symbol = format!("veriplex_{}", level.symbol(kernel));
    let (body, compiler) = body(&raw, &symbol)?;

    let hash = |path: &str| {
        let bytes = fs::read(root.join(path)).map_err(|e| format!("{path}: {e}"))?;
        Ok::<_, String>(sha256(&bytes))
    };
    let mut text = String::new();
    let folder = format!("jasmin/{}", level.name);
    let mut from = vec![("source", format!("{folder}/{name}.jazz"))];
    from.extend(
        (kernel.levels[&level.name].include.iter()).map(|file| ("source", format!("{folder}/{file}"))),
    );
    from.push(("generator", GENERATOR.to_owned()));
    let _ = writeln!(
        text,
        "# {symbol}: generated by `make kernels`, not to be edited; see {name}.jazz."
    );
    let _ = writeln!(text, "# compiler  {compiler}");
    for (what, path) in from {
        let _ = writeln!(text, "# {what:9} {} {path}", hash(&path)?);
    }
    let _ = writeln!(text, "# body      {} the lines below", sha256(body.as_bytes()));
    Ok(text + &body)
}

/// The instructions of the one function that the compiler's output defines, and the compiler's name.
///
/// Labels become numeric ones, which every object format and linking with others' kernels allow. Everything about
/// sections and symbols is left to the crate, which knows the object format. Anything unforeseen is an error.
fn body(raw: &str, symbol: &str) -> Result<(String, String), String> {
    let mut lines = raw.lines();
    let head = ["\t.att_syntax", "\t.text", "\t.p2align\t5"]
        .map(String::from)
        .into_iter()
        .chain([
            format!("\t.global\t{symbol}"),
            format!("\t.type\t{symbol}, %function"),
            format!("{symbol}:"),
        ]);
    for expected in head {
        let line = lines.next().unwrap_or_default();
        if line != expected {
            return Err(format!("expected {expected:?} and found {line:?}"));
        }
    }
    let lines: Vec<&str> = lines.collect();
    let [instructions @ .., ident, note] = &*lines else {
        return Err("no instructions".into());
    };
    let compiler = (ident
        .strip_prefix("\t.ident\t\"")
        .and_then(|rest| rest.strip_suffix('"')))
    .ok_or_else(|| format!("expected the compiler's name and found {ident:?}"))?;
    if *note != "\t.section\t\".note.GNU-stack\", \"\", %progbits" {
        return Err(format!("unexpected: {note:?}"));
    }

    let prefix = format!("L{symbol}$");
    let mut labels = HashMap::new();
    for (i, line) in instructions.iter().enumerate() {
        if let Some(label) = line.strip_suffix(':') {
            let number = (label.strip_prefix(&prefix))
                .filter(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
                .ok_or_else(|| format!("unexpected label {label:?}"))?;
            labels.insert(label, (i, number));
        }
    }
    let mut text = String::new();
    for (i, line) in instructions.iter().enumerate() {
        if let Some((_, number)) = line.strip_suffix(':').and_then(|label| labels.get(label)) {
            let _ = writeln!(text, "{number}:");
            continue;
        }
        let instruction = (line.strip_prefix('\t'))
            .filter(|rest| !rest.starts_with('.'))
            .ok_or_else(|| format!("not an instruction: {line:?}"))?;
        let (mnemonic, operands) = instruction.split_once('\t').unwrap_or((instruction, ""));
        let mnemonic = mnemonic.trim_end();
        if let Some((at, number)) = labels.get(operands) {
            let direction = if *at < i { 'b' } else { 'f' };
            let _ = writeln!(text, "\t{mnemonic}\t{number}{direction}");
        } else if operands.contains(['$', '(']) && operands.contains(&prefix) || operands.contains("rip") {
            return Err(format!("refers to an address: {line:?}"));
        } else if operands.is_empty() {
            let _ = writeln!(text, "\t{mnemonic}");
        } else {
            let _ = writeln!(text, "\t{mnemonic}\t{operands}");
        }
    }
    if !text.ends_with("\tret\n") || text.matches("\tret\n").count() != 1 {
        return Err("the function does not end at its only return".into());
    }
    Ok((text, compiler.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "\t.att_syntax\n\t.text\n\t.p2align\t5\n\t.global\tf\n\t.type\tf, %function\nf:\n";
    const TAIL: &str = "\t.ident\t\"Jasmin\"\n\t.section\t\".note.GNU-stack\", \"\", %progbits\n";

    fn body_of(instructions: &str) -> Result<(String, String), String> {
        body(&format!("{HEAD}{instructions}{TAIL}"), "f")
    }

    #[test]
    fn labels_become_numeric() {
        let raw = "\tjmp \tLf$1\nLf$2:\n\tdecq\t%rdx\nLf$1:\n\tjne\tLf$2\n\tret\n";
        let expected = "\tjmp\t1f\n2:\n\tdecq\t%rdx\n1:\n\tjne\t2b\n\tret\n";
        assert_eq!(body_of(raw), Ok((expected.into(), "Jasmin".into())));
    }

    #[test]
    fn the_unforeseen_is_refused() {
        for raw in [
            "",
            "\tnop\n",
            "\tret\n\tret\n",
            "\tret\n\tnop\n",
            "\t.data\n\tret\n",
            "glob_data:\n\tret\n",
            "\tleaq\tglob_data(%rip), %rax\n\tret\n",
            "\tmovq\t$Lf$1, %rax\nLf$1:\n\tret\n",
            "nop\n\tret\n",
        ] {
            assert!(body_of(raw).is_err(), "{raw:?}");
        }
        assert!(body(&format!("{HEAD}\tret\n{TAIL}"), "g").is_err());
        assert!(body(&format!("{HEAD}\tret\n\t.section\t.data\n"), "f").is_err());
    }
}
