//! `veriplex-audit FILE…`: see the usage text.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Value, json};
use veriplex_audit::{
    Finding, MANIFEST, Missing, Proved, architectures, audit, bytes_of, missing, verdict, versions,
};

const USAGE: &str = "\
veriplex-audit [--all] [--json | --sarif] FILE...

Checks whether the Veriplex kernels in a binary or static library (ELF, Mach-O, PE or COFF;
x86-64, AArch64), and the tables of constants that they read, have the bytes that were proved. It
finds kernels by symbol and by their bytes, so it also works on stripped files. It checks
every copy. Linkers leave out what is not called: that is no failure.

  --all    fail if any kernel or table was not found. In a stripped file, a kernel so
           different that it is not recognised is not found
  --json   print an array with an object for each file
  --sarif  print what is wrong as SARIF 2.1.0
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
    let (mut all, mut bytes, mut format) = (false, false, Format::Text);
    let mut files = Vec::new();
    for argument in std::env::args_os().skip(1) {
        match argument.to_str() {
            Some("--all") => all = true,
            Some("--json") => format = Format::Json,
            Some("--sarif") => format = Format::Sarif,
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
    let mut audited = Vec::new();
    let mut status = 0;
    for file in files {
        let name = file.to_string_lossy().escape_debug().to_string();
        let audit = std::fs::read(&file)
            .map_err(|e| e.to_string())
            .and_then(|data| Audited::new(name.clone(), &data, &proved, all).map_err(|e| e.to_string()));
        match audit {
            Ok(audit) => {
                status = status.max(u8::from(!audit.is_good));
                audited.push(audit);
            }
            Err(error) => {
                eprintln!("veriplex-audit: {name}: {error}");
                status = 2;
            }
        }
    }
    let printed = match format {
        Format::Text => audited.iter().try_for_each(Audited::print),
        Format::Json => {
            let files: Vec<_> = audited.iter().map(Audited::json).collect();
            writeln!(io::stdout(), "{:#}", Value::from(files))
        }
        Format::Sarif => writeln!(io::stdout(), "{:#}", sarif(&audited)),
    };
    report(printed.map(|()| status))
}

enum Format {
    Text,
    Json,
    Sarif,
}

/// What was found in a file.
struct Audited<'p> {
    name: String,
    findings: Vec<Finding>,
    missing: Vec<Missing<'p>>,
    /// The verdict, and whether all is well.
    text: String,
    is_good: bool,
    linked: BTreeSet<String>,
    proved: Option<&'p str>,
}

impl<'p> Audited<'p> {
    fn new(name: String, data: &[u8], proved: &'p Proved, all: bool) -> Result<Self, veriplex_audit::Error> {
        let findings = audit(data, proved)?;
        let missing = missing(&architectures(data)?, &findings, proved);
        let verdict = verdict(&findings, &missing);
        let is_good = verdict.is_ok() && (missing.is_empty() || !all);
        let (Ok(text) | Err(text)) = verdict;
        Ok(Self {
            name,
            findings,
            missing,
            text,
            is_good,
            linked: versions(data, proved)?,
            proved: proved
                .kernels()
                .iter()
                .find_map(|kernel| kernel.version.as_deref()),
        })
    }

    /// If a version is linked whose kernels this program does not have.
    fn other_version(&self) -> Option<String> {
        let proved = self.proved?;
        let other = self.linked.iter().find(|version| *version != proved)?;
        Some(format!(
            "has Veriplex {other}, but this program has the proved bytes of {proved}: install that version of veriplex-audit"
        ))
    }

    fn print(&self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        for finding in &self.findings {
            writeln!(out, "  {finding}")?;
        }
        for missing in &self.missing {
            writeln!(out, "  {missing}")?;
        }
        if let Some(text) = self.other_version() {
            writeln!(out, "{}: {text}", self.name)?;
        }
        writeln!(out, "{}: {}", self.name, self.text)
    }

    fn json(&self) -> Value {
        let found = self.findings.iter().map(|finding| {
            json!({
                "symbol": finding.symbol,
                "architecture": finding.architecture,
                "part": finding.part,
                "address": finding.address,
                "file_offset": finding.file_offset,
                "length": finding.len,
                "difference": finding.difference,
            })
        });
        let missing = self.missing.iter().map(|missing| {
            json!({
                "symbol": missing.kernel.symbol,
                "architecture": missing.architecture,
                "is_replaced": missing.is_replaced,
            })
        });
        json!({
            "file": self.name,
            "good": self.is_good,
            "verdict": self.text,
            "linked_versions": self.linked,
            "proved_version": self.proved,
            "found": found.collect::<Value>(),
            "missing": missing.collect::<Value>(),
        })
    }

    /// What is wrong, each in a sentence: at least one, unless all is well.
    fn wrong(&self) -> Vec<String> {
        if self.is_good {
            return Vec::new();
        }
        let different = self
            .findings
            .iter()
            .filter(|finding| finding.difference.is_some());
        let mut wrong: Vec<String> = different.map(ToString::to_string).collect();
        wrong.extend(self.other_version());
        wrong.push(self.text.clone());
        wrong
    }
}

fn sarif(audited: &[Audited<'_>]) -> Value {
    let results = audited.iter().flat_map(|audited| {
        audited.wrong().into_iter().map(|text| {
            json!({
                "ruleId": "not-proved",
                "level": "error",
                "message": { "text": text },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": audited.name } } }],
            })
        })
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "veriplex-audit",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": "https://github.com/veriplex/veriplex",
                "rules": [{
                    "id": "not-proved",
                    "shortDescription": { "text": "A kernel of Veriplex does not have the bytes that were proved" },
                }],
            } },
            "results": results.collect::<Value>(),
        }],
    })
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
