//! Runs the checks and proofs of this repository, one subcommand for each kind.
//!
//! A missing tool is not an error: one line says what was skipped. With `--strict` it is an error, and so is a tool of
//! another version than that of `proofs/versions.toml`.

mod defects;
mod isa;
mod kernels;
mod mutants;
mod parallel;
mod proofs;
mod rocq;
mod sbom;
mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use veriplex_lift::sha256;

const USAGE: &str = "\
veriplex-tools COMMAND [OPTIONS]

  spec     type-check spec/cryptol, prove and check its properties, run the known answers,
           and compare it with the Rust twin on random inputs
           --strict     fail if cryptol or z3 is not installed
           --all        also the long known answers (takes hours)
           --only TEXT  only the steps whose name contains TEXT; such a run never passes as a whole
           --seed N     the seed of the random inputs
  proofs   prove the theorems of proofs/saw about the code that this crate's build makes,
           and write proofs/generated
           --strict     fail if saw, yices or z3 is not installed
           --only TEXT  only the scripts whose name contains TEXT; such a run never passes as a whole
           --object F   about the kernels in this object, library or executable; such a run never passes either
           Ends a script after VERIPLEX_SECONDS (900), or when a process of it has VERIPLEX_MEGABYTES (5000)
  isa      compare spec/cryptol/isa with the runs of instructions that veriplex-isa wrote
           --strict     fail if cryptol is not installed, or an architecture or a form was not executed
           --runs DIR   where it wrote them, if not to target/isa
           --first N    only the first N runs of each form
  lift     compare proofs/generated/lifted with what the code of this crate's build lifts to
  lifted-mutants  show that the theorems about lifted kernels are false for broken ones
           --strict     fail if cryptol is not installed
  mutants  plant defects in a copy, and expect the manifest's test and a proof to notice each
           --strict     fail if saw, yices, z3 or git is not installed
           --only TEXT  only defects for scripts whose name contains TEXT; such a run never passes as a whole
  spec-mutants  plant defects in a copy of spec/cryptol, and expect a step of `spec` to find each false
           --strict     fail if cryptol or z3 is not installed
           --only TEXT  only defects in files whose name contains TEXT; such a run never passes as a whole
  rocq-mutants  plant defects in copies of proofs/rocq, as `make -C proofs/rocq mutants` does, which compiles it first
           --only TEXT  only defects whose name contains TEXT; such a run never passes as a whole
  semantics-mutants  the same in decoders and instructions, as `make -C proofs/rocq mutants-semantics` does
           --runs DIR   where veriplex-isa wrote its runs, if not to target/isa
           --answers DIR  what libraries decoded, if not in proofs/rocq/build/answers
           --only TEXT  only defects whose name contains TEXT; such a run never passes as a whole
  kernels  generate the assembly of jasmin/ from its Jasmin source
           --check      compare with what is committed instead; check constant time and memory safety
           --strict     fail if jasminc or jasmin-ct is not installed
  sbom     print the software bill of materials of the program (CycloneDX, JSON)
           --program F  instead, check that this program lists all its crates
";

fn main() -> ExitCode {
    let mut args = env::args().skip(1);
    match args.next().as_deref() {
        Some("spec") => spec::main(args, &root()),
        Some("proofs") => proofs::main(args, &root()),
        Some("isa") => isa::main(args, &root()),
        Some("lift") => proofs::lifted::main(args, &root()),
        Some("lifted-mutants") => proofs::lifted::mutants(args, &root()),
        Some("mutants") => mutants::main(args, &root()),
        Some("rocq-mutants") => rocq::main(args, &root()),
        Some("semantics-mutants") => rocq::semantics::main(args, &root()),
        Some("spec-mutants") => spec::mutants::main(args, &root()),
        Some("kernels") => kernels::main(args, &root()),
        Some("sbom") => sbom::main(args, &root()),
        Some("help" | "--help") => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprint!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The options after a subcommand.
struct Options {
    flags: BTreeSet<String>,
    values: BTreeMap<String, String>,
}

impl Options {
    /// Parses these flags, and these options that have a value.
    fn parse(mut args: impl Iterator<Item = String>, flags: &[&str], values: &[&str]) -> Option<Self> {
        let mut options = Self {
            flags: BTreeSet::new(),
            values: BTreeMap::new(),
        };
        while let Some(arg) = args.next() {
            if flags.contains(&&*arg) {
                options.flags.insert(arg);
            } else if values.contains(&&*arg) {
                options.values.insert(arg, args.next()?);
            } else {
                return None;
            }
        }
        Some(options)
    }

    fn has(&self, flag: &str) -> bool {
        self.flags.contains(flag)
    }

    fn value(&self, option: &str) -> Option<&str> {
        self.values.get(option).map(String::as_str)
    }
}

/// Runs a subcommand if its options are right and its tools are installed.
fn subcommand(
    name: &str,
    options: Option<Options>,
    tools: &[&str],
    run: impl FnOnce(&Options) -> io::Result<bool>,
) -> ExitCode {
    let Some(options) = options else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    if let Some(tool) = tools.iter().find(|tool| !installed(tool)) {
        println!("{name}: skipped, because {tool} is not on PATH");
        return ExitCode::from(u8::from(options.has("--strict")));
    }
    if options.has("--strict") {
        let others: Vec<String> = tools.iter().filter_map(|tool| other_version(tool)).collect();
        if !others.is_empty() {
            eprintln!("{name}: {}", others.join("; "));
            return ExitCode::FAILURE;
        }
    }
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("{name}: {e}");
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository: the folder above this one that holds `spec/cryptol`.
fn root() -> PathBuf {
    let start = env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env::current_dir().expect("a current folder"), PathBuf::from);
    start
        .ancestors()
        .find(|folder| folder.join("spec/cryptol").is_dir())
        .expect("run this inside the repository")
        .to_path_buf()
}

/// The version of a program on PATH, if `proofs/versions.toml` names another.
fn other_version(tool: &str) -> Option<String> {
    let versions = fs::read_to_string(root().join("proofs/versions.toml")).unwrap_or_default();
    let option = if tool == "jasminc" {
        "-version"
    } else {
        "--version"
    };
    let output = Command::new(tool).arg(option).output().ok()?;
    // SAW prints it on standard error.
    let here = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    unlike(&versions, tool, &here)
}

/// Whether a program that prints this has another version than the wanted one, and which.
fn unlike(versions: &str, tool: &str, here: &str) -> Option<String> {
    let wanted = (versions.lines())
        .find_map(|line| line.strip_prefix(tool)?.strip_prefix(" = \"")?.strip_suffix('"'))
        .filter(|wanted| {
            let mut words = here.split(|c: char| !(c.is_ascii_digit() || c == '.'));
            !words.any(|word| {
                word.strip_prefix(wanted)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        })?;
    let first = here
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    Some(format!(
        "{tool} {wanted} is wanted (proofs/versions.toml), and PATH has another: {first}"
    ))
}

/// Is the program on PATH?
fn installed(program: &str) -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

#[cfg(test)]
mod tests {
    use super::unlike;

    #[test]
    fn another_version_is_named() {
        let versions = "# Tools.\nsaw = \"1.5\"\nz3 = \"4.13\"\n";
        for (tool, here) in [
            ("z3", "Z3 version 4.13.4 - 64 bit"),
            ("z3", "Z3 version 4.13"),
            ("saw", "\n1.5.1 (1f227d9d1)"),
            ("git", "git version 2.39"),
        ] {
            assert_eq!(unlike(versions, tool, here), None, "{here}");
        }
        for here in [
            "Z3 version 4.8.12 - 64 bit",
            "Z3 version 4.130.0",
            "Z3 version 14.13",
            "",
        ] {
            let said = unlike(versions, "z3", here).unwrap();
            assert!(
                said.starts_with("z3 4.13 is wanted") && said.ends_with(here),
                "{said}"
            );
        }
    }
}
