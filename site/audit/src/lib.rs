//! The audit of a binary as WebAssembly: the page puts a file into our memory, and reads a report from it.
//!
//! The first line of the report is `good`, `part` or `bad`, the second the verdict; then comes a line for each kernel
//! and each table of constants.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use veriplex_audit::{Proved, architectures, audit, missing};

static FILE: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static REPORT: Mutex<String> = Mutex::new(String::new());

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Room for a file of so many bytes, until the next call.
// SAFETY: no other symbol in the module has this name; so it is for those below.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(len: usize) -> *mut u8 {
    let mut file = lock(&FILE);
    *file = vec![0; len];
    file.as_mut_ptr()
}

/// Audits that file. The report is here until the next call.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn audit_file() -> *const u8 {
    let mut report = lock(&REPORT);
    *report = report_on(&lock(&FILE)).unwrap_or_else(|error| format!("bad\n{error}"));
    report.as_ptr()
}

/// The length of the report.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn report_len() -> usize {
    lock(&REPORT).len()
}

/// The report on a file.
///
/// # Errors
///
/// If it is not a binary that can be audited.
pub fn report_on(file: &[u8]) -> Result<String, veriplex_audit::Error> {
    let proved = Proved::embedded()?;
    let findings = audit(file, &proved)?;
    let missing = missing(&architectures(file)?, &findings, &proved);
    let different = (findings.iter())
        .filter(|finding| finding.difference.is_some())
        .count();
    // Each once, in however many places it is.
    let found: BTreeSet<_> = (findings.iter())
        .map(|finding| (finding.architecture, &finding.symbol, finding.is_code))
        .collect();
    let found = counted(found.into_iter().map(|(.., is_code)| is_code));
    let mut report = if !findings.iter().any(|finding| finding.is_code) {
        "bad\nno Veriplex kernel was found".to_owned()
    } else if different > 0 {
        format!(
            "bad\n{different} of {} places do NOT have the proved bytes",
            findings.len()
        )
    } else if let Some(missing) = missing.iter().find(|missing| missing.is_replaced) {
        format!(
            "bad\n{} was not found, though kernels that are linked with it were: other code is in its place",
            missing.kernel.symbol
        )
    } else if missing.is_empty() {
        format!("good\nall {found} are there, and every place has the proved bytes")
    } else {
        format!(
            "part\nevery place found has the proved bytes: {found}. Not found: {}. A linker leaves out what is not called, and in \
             a stripped file a very different kernel is not recognised",
            counted(missing.iter().map(|missing| missing.kernel.is_code())),
        )
    };
    for finding in &findings {
        let _ = write!(report, "\n{finding}");
    }
    for missing in missing {
        let _ = write!(report, "\n{missing}");
    }
    Ok(report)
}

/// How many there are: kernels, and the tables of constants that kernels read.
fn counted(are_code: impl Iterator<Item = bool>) -> String {
    let (kernels, tables): (Vec<bool>, Vec<bool>) = are_code.partition(|&is_code| is_code);
    let parts = [
        (kernels.len(), "kernel", "kernels"),
        (tables.len(), "table of constants", "tables of constants"),
    ];
    let parts: Vec<String> = (parts.iter())
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
        .collect();
    parts.join(" and ")
}
