//! `veriplex-spec-to-rocq GIVEN.rs:FUNCTION FILE.rs...`: writes these modules of the twin (`spec/hacspec`) for Rocq, to the
//! standard output. FUNCTION is not translated: it becomes a variable, with its type from GIVEN.rs.
//!
//! What it does not know is an error that names the line. `proofs/rocq/framing/Rust.v` says what the words mean that it writes.

mod items;
mod scope;
mod terms;
mod types;

use std::process::ExitCode;
use std::{env, fs};

/// Why a file cannot be translated: where, and what.
#[derive(Debug)]
pub struct Refusal {
    line: usize,
    why: String,
}

impl Refusal {
    fn at(node: &impl syn::spanned::Spanned, why: impl Into<String>) -> Self {
        let line = node.span().start().line;
        Self {
            line,
            why: why.into(),
        }
    }
}

fn translate(arguments: &[String]) -> Result<String, String> {
    let [given, files @ ..] = arguments else {
        return Err("veriplex-spec-to-rocq GIVEN.rs:FUNCTION FILE.rs...".to_owned());
    };
    let (given, function) = given.rsplit_once(':').ok_or("no FUNCTION after GIVEN.rs")?;
    let mut crate_ = scope::Crate::default();
    let mut text = |path: &str, given: Option<&str>| {
        let source = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let stem = path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs"));
        let module = stem.ok_or_else(|| format!("{path}: not the name of a module"))?;
        crate_
            .module(module, &source, given)
            .map_err(|refusal| format!("{path}:{}: {}", refusal.line, refusal.why))
    };
    let mut all = text(given, Some(function))?;
    for file in files {
        all += &text(file, None)?;
    }
    Ok(format!("{}{all}\nEnd Twin.\n", items::HEAD))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match translate(&arguments) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests;
