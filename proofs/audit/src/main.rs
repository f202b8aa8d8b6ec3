//! `veriplex-audit FILE…`: see the usage text.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use veriplex_audit::{Finding, MANIFEST, Proved, architectures, audit, bytes_of, missing, verdict};

const USAGE: &str = "\
veriplex-audit [--all] FILE...

Checks whether the Veriplex kernels in a binary or static library (ELF, Mach-O, PE or COFF;
x86-64, AArch64), and the tables of constants that they read, have the bytes that were proved. It
finds kernels by symbol and by their bytes, so it also works on stripped files. It checks
every copy. Linkers leave out what is not called: that is no failure.

  --all    fail if any kernel or table was not found. In a stripped file, a kernel so
           different that it is not recognised is not found
  --list   print the proved kernels and tables: architecture, symbol, length, SHA-256
  --bytes  print proofs/generated/kernels.txt, after `make proofs` has changed the manifest,
           from FILEs that together have the symbols of all kernels

Exit status:
  0        each file has a kernel, and every kernel and table found has the proved bytes
  1        a kernel or table differs or was not proved; a file has no kernel, or lacks one
           of several that are always linked together; with --all, one was not found
  2        a file cannot be read or has another format; wrong command line
";

fn main() -> ExitCode {
    let (mut all, mut bytes) = (false, false);
    let mut files = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match argument.to_str() {
            Some("--all") => all = true,
            Some("--list") => return report(list()),
            Some("--bytes") => bytes = true,
            Some("--help" | "-h") => return report(write!(io::stdout(), "{USAGE}").map(|()| 0)),
            Some(option) if option.starts_with('-') => return usage(),
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        return usage();
    }
    if bytes {
        return report(print_bytes(&files));
    }
    let proved = match Proved::embedded() {
        Ok(proved) => proved,
        Err(error) => {
            eprintln!("veriplex-audit: {error}");
            return ExitCode::from(2);
        }
    };
    let mut status = 0;
    for file in files {
        let name = file.to_string_lossy().escape_debug().to_string();
        let findings = std::fs::read(&file).map_err(|e| e.to_string()).and_then(|data| {
            let findings = audit(&data, &proved).map_err(|e| e.to_string())?;
            Ok((architectures(&data).map_err(|e| e.to_string())?, findings))
        });
        match findings {
            Ok((architectures, findings)) => match print(&name, &architectures, &findings, &proved, all) {
                Ok(good) => status = status.max(u8::from(!good)),
                Err(error) => return report(Err(error)),
            },
            Err(error) => {
                eprintln!("veriplex-audit: {name}: {error}");
                status = 2;
            }
        }
    }
    ExitCode::from(status)
}

/// Prints the findings in a file. Returns true if all is well.
fn print(
    name: &str,
    architectures: &BTreeSet<&'static str>,
    findings: &[Finding],
    proved: &Proved,
    all: bool,
) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    for finding in findings {
        writeln!(out, "  {finding}")?;
    }
    let missing = missing(architectures, findings, proved);
    for missing in &missing {
        writeln!(out, "  {missing}")?;
    }
    let verdict = verdict(findings, &missing);
    let (Ok(text) | Err(text)) = &verdict;
    writeln!(out, "{name}: {text}")?;
    Ok(verdict.is_ok() && (missing.is_empty() || !all))
}

fn print_bytes(files: &[OsString]) -> io::Result<u8> {
    let files = files.iter().map(std::fs::read).collect::<io::Result<Vec<_>>>()?;
    let text = bytes_of(&files, MANIFEST).map_err(io::Error::other)?;
    write!(io::stdout(), "{text}")?;
    Ok(0)
}

fn list() -> io::Result<u8> {
    let proved = Proved::embedded().map_err(io::Error::other)?;
    for kernel in proved.kernels() {
        let sha256 = hex::encode(kernel.sha256);
        let architecture = kernel.architecture.unwrap_or("data");
        writeln!(
            io::stdout(),
            "{architecture:<8}{:<40}{:>6}  {sha256}",
            kernel.symbol,
            kernel.len
        )?;
    }
    Ok(0)
}

fn usage() -> ExitCode {
    eprint!("{USAGE}");
    ExitCode::from(2)
}

fn report(result: io::Result<u8>) -> ExitCode {
    match result {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("veriplex-audit: {error}");
            ExitCode::from(2)
        }
    }
}
