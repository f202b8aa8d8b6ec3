//! The levels of kernels: which are forbidden, and the results of their self-tests.

use std::fmt::Write;

use veriplex::Outcome;
use veriplex::hazmat::forbid_level;
use veriplex_files::error::Error;

/// The environment variable with the levels not to use, separated by commas.
const FORBID: &str = "VERIPLEX_FORBID";

/// Forbids those levels.
pub fn forbid() -> Result<(), Error> {
    let Some(levels) = std::env::var_os(FORBID) else {
        return Ok(());
    };
    for level in levels
        .to_string_lossy()
        .split(',')
        .filter(|level| !level.is_empty())
    {
        forbid_level(level).map_err(|_| Error::usage(FORBID, format_args!("there is no level {level:?}")))?;
    }
    Ok(())
}

/// A line for each implementation of each primitive.
pub fn report() -> String {
    let mut serving = None;
    veriplex::self_test().fold(String::new(), |mut text, test| {
        let outcome = match test.outcome {
            Outcome::Passed if serving != Some(test.primitive) => {
                serving = Some(test.primitive);
                "serves"
            }
            Outcome::Passed => "passed",
            Outcome::Failed => "FAILED: wrong answers",
            Outcome::Forbidden => "forbidden",
            _ => "not on this CPU",
        };
        let (primitive, implementation) = (test.primitive, test.implementation);
        let _ = writeln!(text, "{primitive:30}{implementation:15}{outcome}");
        text
    })
}
