//! `veriplex-tools semantics-mutants`: plants defects in decoders and instructions of a copy, and builds the executable
//! semantics there. The comparison with CPU or library must notice each; it ends with the first difference. Each defect has
//! a program of its own, so none can hide another one or be found in its place.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{fs, io};

use super::{Needs, end, failure, fresh};
use crate::defects::{self, Defect};
use crate::{Options, subcommand};

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &[], &["--only", "--runs", "--answers"]);
    subcommand("semantics-mutants", options, &[], |options| {
        let only = options.value("--only");
        let mut defects = defects::read(root, "semantics")?;
        defects.retain(|defect| only.is_none_or(|text| defect.name.contains(text)));
        let folder = root.join("proofs/rocq");
        let path = |option, default: &str| {
            options
                .value(option)
                .map_or_else(|| root.join(default), PathBuf::from)
        };
        let semantics = Semantics {
            needs: Needs::parse(&fs::read_to_string(folder.join("build/depend"))?),
            runs: fs::canonicalize(path("--runs", "target/isa"))?,
            answers: fs::canonicalize(path("--answers", "proofs/rocq/build/answers"))?,
            folder,
        };
        let fine = defects::try_all(&defects, |defect| semantics.outcome(defect));
        Ok(fine && only.is_none())
    })
}

struct Semantics {
    folder: PathBuf,
    needs: Needs,
    /// The runs of `veriplex-isa`, and the answers of `proofs/lift/tests/rocq.rs`.
    runs: PathBuf,
    answers: PathBuf,
}

impl Semantics {
    fn outcome(&self, defect: &Defect) -> io::Result<Result<String, String>> {
        let dir = self.folder.join("build/mutants").join(&defect.name);
        let program = || Command::new(dir.join("semantics"));
        let failed = if let Some((set, form)) = defect.place.split_once('/') {
            // A run of this form must differ.
            let (code, runs) = (self.runs.join("code").join(set), self.runs.join(&defect.place));
            let has_run = fs::metadata(runs).is_ok_and(|of| of.len() > 0);
            if code.exists() && !code.join(form).exists() {
                return Err(io::Error::other(format!(
                    "{}: there is no form {form}",
                    defect.name
                )));
            } else if !code.exists() || !has_run {
                return Ok(Ok(format!(
                    "{}: skipped, because no CPU here has executed it",
                    defect.name
                )));
            }
            // It runs too shortly for machine code to be worth its time.
            self.build("ocamlc", defect, &dir)?;
            let log = failure(program().arg("differs").arg(&self.runs).arg(form))?;
            let differs = format!("FAILED: {set} {form}:");
            place(log, &defect.place, |line| line.starts_with(&differs))
        } else {
            // This test must report that the decoders differ. The program answers what the test asks, beside what it expects.
            let set = match &*defect.place {
                "x86_64_decodes_as_iced" => "X86_64",
                "aarch64_decodes_as_yaxpeax" => "AArch64",
                test => return Err(io::Error::other(format!("{}: no test {test}", defect.name))),
            };
            self.build("ocamlopt", defect, &dir)?;
            let log = failure(program().arg("answers").arg(self.answers.join(set)))?;
            place(log, &defect.place, |line| {
                line.starts_with("FAILED: ") && line.contains(", and not ")
            })
        };
        fs::remove_dir_all(&dir)?;
        Ok(defect.verdict(failed.as_deref()))
    }

    /// Builds the program with the defect.
    fn build(&self, compiler: &str, defect: &Defect, dir: &Path) -> io::Result<()> {
        let mut sources: Vec<&str> = self.needs.before("isa/X86_64", None);
        sources.extend(self.needs.before("isa/AArch64", None));
        let files = |ending| sources.iter().map(move |name| format!("{name}{ending}"));
        fresh(dir)?;
        let copied = failure(
            Command::new("cp")
                .current_dir(&self.folder)
                .args(["-rp", "--parents", "Makefile", "extract"])
                .args(files(".v"))
                .args(files(".vo"))
                .arg(dir),
        )?;
        let file = dir.join(&defect.file);
        if let Some(why) = copied {
            return Err(io::Error::other(why));
        }
        fs::write(&file, defect.plant(&fs::read_to_string(&file)?)?)?;
        let mut make = Command::new("make");
        make.env_remove("MAKEFLAGS")
            .arg("-C")
            .arg(dir)
            .args(["-s", "semantics"]);
        make.arg(format!("SOURCES={}", files(".v").collect::<Vec<_>>().join(" ")));
        if let Some(log) = failure(make.arg(format!("OCAMLOPT=ocamlfind {compiler}")))? {
            return Err(io::Error::other(format!("{}: {log}", defect.name)));
        }
        // Without it nothing that rests on the changed file is compiled again.
        fs::metadata(dir.join("build/depend")).map(drop)
    }
}

/// The place in which a comparison must find a difference, if it says that; or the end of what it says.
fn place(log: Option<String>, place: &str, is_found: impl Fn(&str) -> bool) -> Option<String> {
    let log = log?;
    Some(if log.lines().any(is_found) {
        place.to_owned()
    } else {
        end(&log)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_difference_counts() {
        let found = |log: Option<&str>| {
            place(log.map(str::to_owned), "X86_64/ret", |line| {
                line.starts_with("FAILED: X86_64 ret:")
            })
        };
        assert_eq!(found(None), None);
        assert_eq!(
            found(Some("1 form\nFAILED: X86_64 ret: 1, and not 2\n")).unwrap(),
            "X86_64/ret"
        );
        assert_eq!(found(Some("not a form")).unwrap(), "not a form");
    }
}
