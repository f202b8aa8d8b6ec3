//! The audit of a binary as WebAssembly: the page puts a file into our memory, and reads a report from it.
//!
//! The first line of the report is `good`, `part` or `bad`, the second the verdict; then comes a line for each kernel
//! and each table of constants.

use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use veriplex_audit::{Proved, architectures, audit, missing, verdict};

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
    let mut report = match verdict(&findings, &missing) {
        Err(verdict) => format!("bad\n{verdict}"),
        Ok(verdict) if missing.is_empty() => format!("good\n{verdict}"),
        Ok(verdict) => format!("part\n{verdict}"),
    };
    for finding in &findings {
        let _ = write!(report, "\n{finding}");
    }
    for missing in missing {
        let _ = write!(report, "\n{missing}");
    }
    Ok(report)
}
