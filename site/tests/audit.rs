//! What the page that audits a binary says of one.

// The page's own code, which is no dependency: it is made for WebAssembly.
#[path = "../audit/src/lib.rs"]
mod page;

#[path = "../../proofs/audit/tests/made/mod.rs"]
mod made;

use page::report_on;
use veriplex_audit::{Kernel, Proved};

/// The kind, the verdict and the lines of a report on an executable with these kernels and tables.
fn report(kernels: &[Vec<u8>]) -> (String, String, Vec<String>) {
    of(&made::executable(kernels))
}

fn of(file: &[u8]) -> (String, String, Vec<String>) {
    let report = report_on(file).unwrap();
    let mut lines = report.lines().map(str::to_owned);
    let (kind, verdict) = (lines.next().unwrap(), lines.next().unwrap());
    (kind, verdict, lines.collect())
}

/// Kernels and tables of constants are counted apart, and a table alone is no kernel.
#[test]
fn verdicts() {
    let proved = Proved::embedded().unwrap();
    let are_code: Vec<bool> = (proved.kernels().iter())
        .filter(|kernel| kernel.is_for("x86-64"))
        .map(Kernel::is_code)
        .collect();
    let all = made::kernels();
    assert_eq!(all.len(), are_code.len());
    let tables = are_code.iter().filter(|is_code| !**is_code).count();
    let kernels = all.len() - tables;
    assert!(kernels > 1 && tables > 2);

    let (kind, verdict, lines) = report(&all);
    assert_eq!(kind, "good");
    let counts = format!("all {kernels} kernels and {tables} tables of constants are there");
    assert!(verdict.starts_with(&counts), "{verdict}");
    assert_eq!(lines.len(), all.len());
    // Twice: more places, no more kernels.
    let (kind, verdict, lines) = report(&[all.clone(), all.clone()].concat());
    assert!(kind == "good" && verdict.starts_with(&counts), "{verdict}");
    assert_eq!(lines.len(), 2 * all.len());

    // A linker leaves out what is of one primitive, but not one of its kernels.
    let with = |is_kept: &dyn Fn(&str) -> bool| -> Vec<Vec<u8>> {
        let own = (proved.kernels().iter()).filter(|kernel| kernel.is_for("x86-64"));
        let kept = own.zip(&all).filter(|(kernel, _)| is_kept(&kernel.symbol));
        kept.map(|(_, bytes)| bytes.clone()).collect()
    };
    let (kind, verdict, lines) = report(&with(&|symbol| !symbol.contains("_xoofff_")));
    assert_eq!(kind, "part");
    let not = "Not found: 6 kernels and 2 tables of constants. ";
    let found = format!("{} kernels and {} tables", kernels - 6, tables - 2);
    assert!(verdict.contains(&found) && verdict.contains(not), "{verdict}");
    let missing = lines.iter().filter(|line| line.contains("not found (x86-64)"));
    assert_eq!(missing.count(), 8);
    let (kind, verdict, _) = report(&with(&|symbol| symbol != "veriplex_simpira1024_permute_x2"));
    assert_eq!(kind, "bad");
    assert!(
        verdict.starts_with("veriplex_simpira1024_permute_x2 "),
        "{verdict}"
    );

    let only: Vec<Vec<u8>> = (all.iter().zip(&are_code))
        .filter(|(_, is_code)| !**is_code)
        .map(|(bytes, _)| bytes.clone())
        .collect();
    let (kind, verdict, _) = report(&only);
    assert_eq!(
        (kind.as_str(), verdict.as_str()),
        ("bad", "no Veriplex kernel was found")
    );

    let mut changed = all.clone();
    changed[all.len() / 2][7] ^= 1;
    let (kind, verdict, _) = report(&changed);
    assert_eq!(kind, "bad");
    assert!(
        verdict.starts_with(&format!("1 of {} places", all.len())),
        "{verdict}"
    );

    // For AArch64, the tables are missed that its kernels read, and no others.
    let tables = (proved.kernels().iter())
        .filter(|kernel| !kernel.is_code() && kernel.is_for("armv8"))
        .count();
    assert!(tables > 0);
    let mut other = made::executable(&[]);
    other[18] = 0xb7;
    let (kind, _, lines) = of(&other);
    assert_eq!(kind, "bad");
    let missed: Vec<&String> = lines.iter().filter(|line| line.contains("constants")).collect();
    assert!(
        missed.len() == tables && missed.iter().all(|line| line.ends_with("not found (armv8)")),
        "{lines:?}"
    );

    assert!(report_on(b"no program").is_err());
}
