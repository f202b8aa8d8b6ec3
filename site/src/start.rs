//! The first page, and those with scripts for files: the audit and the demonstration.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;

use crate::Site;
use crate::evidence::Evidence;
use crate::html::{code, escape, page, with_code};
use crate::items::status;

/// What this project claims.
pub struct Claim {
    what: &'static str,
    /// What repeats it.
    pub command: &'static str,
    /// Besides Rust.
    needs: &'static str,
}

impl Claim {
    const fn new(what: &'static str, command: &'static str, needs: &'static str) -> Self {
        Self { what, command, needs }
    }
}

/// Each is on the first page and in the report.
pub const CLAIMS: [Claim; 14] = [
    Claim::new(
        "every test passes: known answers, random inputs beside an executable specification, hostile input",
        "make test",
        "",
    ),
    Claim::new(
        "the kernels' machine code equals the specification for every input and every number of blocks",
        "make proofs STRICT=1",
        "SAW*, yices*, z3, Coq",
    ),
    Claim::new(
        "theorems in Rocq: the framing is injective; the kernels' bytes compute the specification",
        "make rocq STRICT=1",
        "Coq, OCaml; for ARMv8 GCC and qemu-user",
    ),
    Claim::new(
        "the specification has the properties that it should, and the known answers; its twin in Rust agrees",
        "make spec STRICT=1",
        "Cryptol*, z3",
    ),
    Claim::new(
        "each instruction in a kernel does what the specification says, on the CPU (ARMv8: under qemu)",
        "make isa STRICT=1",
        "Cryptol*; for ARMv8 GCC and qemu-user",
    ),
    Claim::new(
        "the kernels' assembly is what their Jasmin source compiles to, constant-time and memory-safe",
        "make kernels-check STRICT=1",
        "Jasmin*; for ARMv8 GCC",
    ),
    Claim::new(
        "the kernels in the program are the proved bytes",
        "make audit",
        "",
    ),
    Claim::new(
        "known answers run without a branch or address that depends on a secret (x86-64)",
        "make ct STRICT=1",
        "valgrind",
    ),
    Claim::new(
        "the tests of the crate and of the kernels pass on AArch64",
        "make test-aarch64 STRICT=1",
        "for ARMv8 GCC and qemu-user",
    ),
    Claim::new(
        "two builds, each under other conditions, are equal byte for byte",
        "make reproducible STRICT=1",
        "cargo-auditable; a locale besides C (locales-all)",
    ),
    Claim::new(
        "the flake's packages, built with the tools of the machine in the place of nixpkgs, have the bytes of make reproducible",
        "make nix STRICT=1",
        "nix (nix-bin), cargo-auditable; make reproducible before",
    ),
    Claim::new(
        "the source archive builds and passes its tests without a network",
        "make dist-check STRICT=1",
        "unshare, ip",
    ),
    Claim::new(
        "this site works in a browser",
        "make site-test STRICT=1",
        "Chromium and its driver (chromium-driver), pip; a rustc for WebAssembly (rustup target add wasm32-unknown-unknown)",
    ),
];

/// Said of what the commands need.
const NEEDS: &str = "Each needs the repository, Rust, and what the table names. On Debian, <code>make deps</code> installs the \
    packages that proofs and tests need; the others are in brackets. Debian does not have what has a star, and cargo-auditable, \
    which cargo installs. Not every release has the version that is needed: the theorems in Rocq need Coq 8.16, of Debian 12. A \
    command that lacks a tool says so in one line; with STRICT=1 that is an error.";

pub fn write(site: &Site, evidence: &Evidence) -> io::Result<()> {
    site.write("index.html", &page("Veriplex", 0, &[], &overview(evidence)))?;
    site.write(
        "audit.html",
        &page(
            "Audit a binary",
            0,
            &["audit-module.js", "audit.js"],
            &AUDIT.replace("PROGRAM", &in_the_program()),
        ),
    )?;
    site.write(
        "try.html",
        &page("Try it", 0, &["demo-module.js", "demo.js"], DEMO),
    )
}

/// A command as its runs are found.
fn bare(command: &str) -> &str {
    command.trim_end_matches(" STRICT=1")
}

/// The table of claims, and of what else was run.
pub fn claims(evidence: &Evidence) -> String {
    let rows = CLAIMS.iter().fold(String::new(), |mut rows, claim| {
        let last = evidence.last_run(bare(claim.command));
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td>{}</td><td data-name=\"Needs\">{}</td><td data-name=\"Last run\">{last}</td></tr>",
            escape(claim.what),
            code(claim.command),
            escape(claim.needs)
        );
        rows
    });
    let is_claimed = |command: &str| CLAIMS.iter().any(|claim| bare(claim.command) == command);
    let others: BTreeSet<&str> = (evidence.runs.iter().map(|run| bare(&run.command)))
        .filter(|command| !is_claimed(command))
        .collect();
    let others = others.iter().fold(String::new(), |mut rows, command| {
        let last = evidence.last_run(command);
        let _ = writeln!(
            rows,
            "<tr><td>{}</td><td data-name=\"Last run\">{last}</td></tr>",
            code(command)
        );
        rows
    });
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table class=\"stacked\"><thead><tr><th>Claim</th><th>Command</th><th>Needs</th><th>Last recorded run</th></tr></thead>\
         <tbody>{rows}</tbody></table></div><p>{NEEDS}</p><p>Other commands, which repeat no claim or a part of one:</p>\
         <div class=\"wide\" tabindex=\"0\"><table class=\"stacked\"><thead><tr><th>Command</th><th>Last recorded run</th></tr></thead>\
         <tbody>{others}</tbody></table></div>"
    )
}

/// How many operations and items have each status.
pub fn statuses(evidence: &Evidence) -> String {
    let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for operation in &evidence.inventory.operation {
        counts.entry(&operation.status).or_default().0 += operation.names.len();
    }
    for api in &evidence.inventory.api {
        counts.entry(&api.status).or_default().1 += api.items.len();
    }
    let rows = evidence
        .inventory
        .statuses
        .iter()
        .fold(String::new(), |mut rows, (name, meaning)| {
            let (operations, items) = counts.get(name.as_str()).copied().unwrap_or_default();
            let _ = writeln!(
                rows,
                "<tr><td>{}</td><td>{}</td><td data-name=\"Operations\">{operations}</td>\
                 <td data-name=\"Items around them\">{items}</td></tr>",
                status(name),
                with_code(meaning)
            );
            rows
        });
    format!(
        "<div class=\"wide\" tabindex=\"0\"><table class=\"stacked\"><thead><tr><th>Status</th><th>Meaning</th><th>Operations</th><th>Items around them</th></tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    )
}

fn overview(evidence: &Evidence) -> String {
    format!(
        "<p>Veriplex is a Rust library for symmetric cryptography: the Newplex duplex over Simpira-1024, and what is built on it. \
         This site shows what is known about each part of it, on what that rests, and how you repeat it. It was made from the \
         files of the repository.</p>\
         <p><strong>Proved</strong> is the machine code of the kernels, for one state and for several at once. <strong>Tested</strong> is everything else. \
         <strong>Neither</strong> is whether the design is secure: there has been little cryptanalysis. \
         <a href=\"text/soundness.html\">Soundness</a> says all of this in full.</p>\
         <h2>What is known</h2>{}\
         <p>Operations are the code that computes, on each backend. <a href=\"items.html\">Items</a> are what a program calls.</p>\
         <h2>How to repeat it</h2>{}\
         <p><a href=\"text/contributing.html#checks\">Contributing</a> has more commands. \
         <a href=\"text/proofs-readme.html#tools\">Proofs</a> says how to get the tools.</p>\
         <p>All of this as one document: <a href=\"report.html\">report</a> ({}). What theorems rest on: \
         <a href=\"assumptions.html\">assumptions</a>.</p>",
        statuses(evidence),
        claims(evidence),
        code("make report"),
    )
}

/// Of which families the program has every kernel; `make site-test` looks whether it does.
const IN_THE_PROGRAM: [&str; 5] = ["simpira1024", "duplex", "chacha12", "nh", "poly1305"];

fn in_the_program() -> String {
    IN_THE_PROGRAM.map(code).join(", ")
}

const AUDIT: &str = "<p>Choose a program or static library for Linux, macOS or Windows (ELF, Mach-O, PE or COFF; x86-64 or AArch64), or drop it on this \
    page. The audit finds the Veriplex kernels in it, by symbol and by their bytes, and says whether they are the bytes that \
    were proved; so too for the tables of constants that kernels read. It is the code of <code>veriplex-audit</code>, as \
    WebAssembly. The file stays in your browser: this page may load nothing and send nothing.</p>\
    <p>A program has only the kernels that it may call, and the tables of constants that those read. The program \
    <code>veriplex</code> has those of <span id=\"program\">PROGRAM</span>; what is not found in it need not be there.</p>\
    <noscript><p>This page needs scripts. Without: <code>cargo run -p veriplex-audit -- FILE</code></p></noscript>\
    <p id=\"drop\"><label>File to audit <input type=\"file\" id=\"file\"></label></p>\
    <p id=\"verdict\" class=\"verdict\" role=\"status\"></p><pre id=\"findings\" tabindex=\"0\" hidden></pre>";

const DEMO: &str = "<p>Hash, encrypt and open a file: the library runs in your browser, as WebAssembly. The file stays there: this \
    page may load nothing and send nothing. What it makes has the formats of the program <code>veriplex</code>, which opens it, \
    and the other way round.</p>\
    <p>This is a demonstration. The code is the backend <code id=\"backend\">portable</code>, which is slower than the kernels, \
    and neither the browser nor this page wipes keys and files from memory. For your files, use the program.</p>\
    <noscript><p>This page needs scripts. Without: <code>veriplex sum FILE</code>, <code>veriplex encrypt --key-file KEYFILE \
    FILE</code></p></noscript>\
    <h2>Hash and encrypt</h2><p><label>File <input type=\"file\" id=\"file\"></label></p>\
    <p id=\"hashed\" class=\"verdict\" role=\"status\"></p><dl id=\"digests\" class=\"digests\"></dl>\
    <p><button type=\"button\" id=\"encrypt\">Encrypt it under a new key</button></p>\
    <p id=\"encrypted\" class=\"verdict\" role=\"status\"></p><ul id=\"made\"></ul>\
    <h2>Open</h2><p><label>Encrypted file <input type=\"file\" id=\"sealed\"></label></p>\
    <p><label>Key file <input type=\"file\" id=\"key\"></label></p>\
    <p><button type=\"button\" id=\"open\">Open it</button></p>\
    <p id=\"opened\" class=\"verdict\" role=\"status\"></p><ul id=\"plain\"></ul>";
