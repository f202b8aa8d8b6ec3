//! What is known about each public item, and what whoever calls it has to trust.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use veriplex_assurance::evidence::{Api, Operation, read};

use crate::Site;
use crate::evidence::{Evidence, names, uses};
use crate::html::{code, escape, list, page, slug, with_code};
use crate::kernels;

/// The code that the same item runs on different machines: a name, backends of the inventory, and when.
const WAYS: [(&str, &[&str], &str); 3] = [
    (
        "x86-64",
        &[
            "x86-64 kernels",
            "x86-64-avx2 kernels",
            "x86-64-vaes kernels",
            "x86-64-avx512 kernels",
        ],
        "on x86-64, if the CPU has AES and AVX (proved for ELF and Mach-O; the same source on Windows)",
    ),
    (
        "AArch64",
        &["armv8 kernels"],
        "on AArch64, except Windows and UEFI, if the CPU has AES",
    ),
    ("portable", &["portable"], "everywhere else"),
];

/// Said of parts that use lanes, where there are kernels for them: on x86-64, and on `AArch64`.
const LANES: &str = "With several chunks, segments or messages at hand, these items fill lanes and run the kernels whose names end \
    in the number of lanes: eight if the CPU has VAES and AVX-512, four if it has VAES and AVX2, else two. What is left runs on the \
    kernels for one state. The Rust that fills the lanes is tested, not proved.";
const PAIRS: &str = "With several chunks, segments or messages at hand, these items fill lanes and run the kernels whose names end \
    in x2, on two states at once. What is left runs on the kernels for one state. The Rust that fills the lanes is tested, not \
    proved.";

pub fn write(site: &Site, evidence: &Evidence) -> io::Result<()> {
    site.write(
        "items.html",
        &page("What is proved", 0, &["items.js"], &table(evidence)),
    )?;
    for api in &evidence.inventory.api {
        let path = format!("parts/{}.html", slug(&api.what));
        site.write(&path, &page(&api.what, 1, &[], &part(evidence, api)))?;
    }
    site.write(
        "assumptions.html",
        &page("Assumptions", 0, &[], &assumptions(evidence)),
    )
}

/// Every item in one table. Scripts only hide rows of it.
fn table(evidence: &Evidence) -> String {
    let mut rows: Vec<(&String, &Api)> = evidence
        .inventory
        .api
        .iter()
        .flat_map(|api| api.items.iter().map(move |item| (item, api)))
        .collect();
    rows.sort_by_key(|(item, _)| *item);
    let options = |names: &mut dyn Iterator<Item = &String>| {
        names.fold(String::new(), |text, name| {
            format!("{text}<option>{}</option>", escape(name))
        })
    };
    let ways = WAYS.map(|(name, ..)| format!("<option>{name}</option>")).concat();
    let mut body = format!(
        "<p>Each public item of the crate: what is known about its own Rust, and, under the name of a machine, what it rests on \
         there, down to the theorems about machine code. {} items.</p>\n\
         <form class=\"filters\" role=\"search\" hidden><label>Name <input type=\"search\" id=\"text\"></label>\
         <label>Status <select id=\"status\"><option value=\"\">any</option>{}</select></label>\
         <label>Machine <select id=\"way\">{ways}</select></label>\
         <label>Trusts <select id=\"trust\"><option value=\"\">anything</option>{}</select></label>\
         <output id=\"count\"></output></form>\n\
         <div class=\"wide\" tabindex=\"0\"><table id=\"items\" class=\"stacked\"><thead><tr><th>Item</th><th>Its Rust</th><th>What it runs, and what that rests on</th>\
         </tr></thead><tbody>\n",
        rows.len(),
        options(&mut evidence.inventory.statuses.keys()),
        options(&mut evidence.inventory.assumptions.keys()),
    );
    for (item, api) in rows {
        let file = format!("parts/{}.html", slug(&api.what));
        let mut links = String::new();
        for (name, backends, _) in WAYS {
            let assumed: Vec<&str> = evidence.assumptions(api, backends).into_iter().collect();
            let statuses: BTreeSet<&str> = evidence
                .operations(api, backends)
                .iter()
                .map(|operation| operation.status.as_str())
                .collect();
            let statuses = if statuses.is_empty() {
                "no kernel".to_owned()
            } else {
                Vec::from_iter(statuses).join(", ")
            };
            let _ = write!(
                links,
                "<a href=\"{file}#{}\" data-way=\"{name}\" data-status=\"{statuses}\" data-trust=\"{}\">{name}: {statuses}</a> ",
                slug(name),
                assumed.join(" "),
            );
        }
        let _ = writeln!(
            body,
            "<tr><td><a href=\"{file}\">{}</a></td><td>{}</td><td class=\"ways\">{links}</td></tr>",
            code(item),
            status(&api.status),
        );
    }
    body + "</tbody></table></div>\n"
}

pub fn status(name: &str) -> String {
    format!("<span class=\"status {0}\">{0}</span>", escape(name))
}

/// The way down from some items, on each machine.
fn part(evidence: &Evidence, api: &Api) -> String {
    let meaning = evidence
        .inventory
        .statuses
        .get(&api.status)
        .map_or("", String::as_str);
    let mut body = format!(
        "<h2>Items</h2>{}<h2>Their Rust</h2><p>{}: {}.</p>",
        list(api.items.iter().map(|item| code(item))),
        status(&api.status),
        escape(meaning),
    );
    body += &theorems(evidence, &api.theorems);
    body += &format!("<h3>Tests</h3>{}", commands(evidence, &api.tests));
    for (name, backends, when) in WAYS {
        let _ = write!(
            body,
            "<h2 id=\"{}\">On {name}</h2><p>{}.</p>",
            slug(name),
            capital(when)
        );
        let operations = evidence.operations(api, backends);
        if operations.is_empty() {
            body += "<p>These items run no kernel and nothing in its place.</p>";
        }
        for (level, text) in [("avx512", LANES), ("armv8", PAIRS)] {
            if api.lanes
                && operations
                    .iter()
                    .any(|operation| operation.backend.contains(level))
            {
                let _ = write!(body, "<p>{text}</p>");
            }
        }
        for operation in operations {
            body += &self::operation(evidence, operation, api);
        }
        body += &format!(
            "<h3>What you must trust there</h3>{}",
            trust(evidence, &evidence.assumptions(api, backends))
        );
    }
    body
}

fn capital(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

/// The code that computes: kernels, or the functions of a backend.
fn operation(evidence: &Evidence, operation: &Operation, api: &Api) -> String {
    let mut text = String::new();
    for name in operation.names.iter().filter(|name| uses(api, name)) {
        let level = operation.backend.strip_suffix(" kernels");
        let place = level.map_or_else(|| code(name), |level| kernels::link(level, name, "../"));
        let _ = write!(text, "<h3>{place}</h3><p>{}</p>", status(&operation.status));
    }
    text += &list(operation.code.iter().map(|file| code(file))).replace("<p>None.</p>", "");
    text += &theorems(evidence, &operation.theorems);
    text += &format!(
        "<p>Constant time:</p>{}",
        commands(evidence, &operation.constant_time)
    );
    text + &format!("<p>Tests:</p>{}", commands(evidence, &operation.tests))
}

fn theorems(evidence: &Evidence, theorems: &[String]) -> String {
    if theorems.is_empty() {
        return "<p>No theorem.</p>".to_owned();
    }
    let all: String = names(theorems)
        .iter()
        .map(|name| evidence.theorem(name))
        .collect();
    format!(
        "<p>Theorems (<code>make proofs STRICT=1</code>; last run: {}):</p>{all}",
        evidence.last_run("make proofs")
    )
}

/// The commands that repeat these tests.
pub fn commands(evidence: &Evidence, tests: &[String]) -> String {
    let mut of_cargo = false;
    let commands = list(tests.iter().map(|test| {
        let command = command(test);
        let run = if command.starts_with("make ") {
            format!(" <small>({})</small>", evidence.last_run(&command))
        } else {
            of_cargo = true;
            String::new()
        };
        if command == *test {
            code(test) + &run
        } else {
            format!("{}: {}{run}", code(test), code(&command))
        }
    }));
    if !of_cargo {
        return commands;
    }
    format!(
        "{commands}<p><small>{} runs those of cargo too ({}).</small></p>",
        code("make test"),
        evidence.last_run("make test")
    )
}

/// Where the tests of packages are; those of `veriplex` are in `tests`.
const PACKAGES: [(&str, &str); 5] = [
    ("tests/assurance/", "veriplex-assurance"),
    ("proofs/lift/tests/", "veriplex-lift"),
    ("proofs/audit/tests/", "veriplex-audit"),
    ("rust/cli/tests/", "veriplex-cli"),
    ("rust/tunnel/tests/", "veriplex-tunnel"),
];

/// What makes a test run that cargo alone ignores, as it needs what the target makes before.
fn target(file: &str, name: &str) -> Option<String> {
    let text = read(file);
    let (before, _) = text.split_once(&format!("fn {name}("))?;
    let mut attributes = (before.lines().rev().map(str::trim))
        .filter(|line| !line.is_empty())
        .take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    if !attributes.any(|line| line.starts_with("#[ignore")) {
        return None;
    }
    [
        ("Makefile", "make"),
        ("proofs/rocq/Makefile", "make -C proofs/rocq"),
    ]
    .into_iter()
    .find_map(|(makefile, make)| {
        let makefile = read(makefile);
        let recipe = (makefile.lines()).position(|line| {
            line.starts_with('\t') && (line.split_whitespace()).any(|word| word.trim_end_matches(';') == name)
        })?;
        let head = (makefile.lines().take(recipe))
            .filter(|line| !line.starts_with(['\t', '#', '.', '$', ' ']))
            .filter_map(|line| line.split_once(':'))
            .last()?;
        Some(format!("{make} {}", head.0))
    })
}

/// The command that runs one test, `FILE::NAME`.
fn command(test: &str) -> String {
    let Some((file, name)) = test.split_once("::") else {
        return test.to_owned();
    };
    if let Some(target) = target(file, name) {
        return target;
    }
    let package = PACKAGES
        .iter()
        .find_map(|(folder, package)| Some((file.strip_prefix(folder)?, *package)));
    match package.or_else(|| Some((file.strip_prefix("tests/")?, "veriplex"))) {
        Some((inner, package)) => {
            let target = inner.split(['/', '.']).next().unwrap_or(inner);
            let features = if package == "veriplex" {
                " --all-features"
            } else {
                ""
            };
            format!("cargo test -p {package}{features} --test {target} {name}")
        }
        None => format!("cargo test --all-features --lib {name}"),
    }
}

/// The assumptions, with why, and the checks that would show them to be wrong.
fn trust(evidence: &Evidence, names: &BTreeSet<&str>) -> String {
    list(names.iter().map(|name| {
        let what = evidence
            .inventory
            .assumptions
            .get(*name)
            .map_or("", |assumption| &assumption.what);
        format!(
            "<a href=\"../assumptions.html#{name}\"><strong>{name}</strong></a>: {}",
            with_code(what)
        )
    }))
}

pub fn assumptions(evidence: &Evidence) -> String {
    let mut body = String::from(
        "<p>What theorems and tests take for granted, why that is plausible, and what would show it to be wrong.</p>",
    );
    for (name, assumption) in &evidence.inventory.assumptions {
        let _ = write!(
            body,
            "<h2 id=\"{name}\">{name}</h2><p>{}.</p><p>Because {}.</p>{}",
            with_code(&capital(&assumption.what)),
            with_code(&assumption.because),
            if assumption.checks.is_empty() {
                "<p>No check.</p>".to_owned()
            } else {
                commands(evidence, &assumption.checks)
            },
        );
        body.extend(
            names(&assumption.theorems)
                .iter()
                .map(|name| evidence.theorem(name)),
        );
    }
    body
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use serde_json::Value;
    use veriplex_assurance::evidence::{inventory, root};

    use super::*;

    /// The packages of the workspace, each with its name and its targets: kind, name, file.
    fn packages() -> Vec<(String, Vec<[String; 3]>)> {
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
            .current_dir(root())
            .output()
            .unwrap();
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let list = |value: &Value| value.as_array().unwrap().clone();
        (list(&metadata["packages"]).iter())
            .map(|package| {
                let targets = (list(&package["targets"]).iter())
                    .map(|target| [&target["kind"][0], &target["name"], &target["src_path"]].map(text))
                    .collect();
                (text(&package["name"]), targets)
            })
            .collect()
    }

    /// Each command that stands for a test names a package and a target with the test's file in it.
    #[test]
    fn commands_run_their_tests() {
        let packages = packages();
        let inventory = inventory();
        let tests: BTreeSet<String> = (inventory.api.into_iter().flat_map(|api| api.tests))
            .chain(
                (inventory.operation.into_iter())
                    .flat_map(|operation| [operation.tests, operation.constant_time].concat()),
            )
            .chain(
                inventory
                    .assumptions
                    .into_values()
                    .flat_map(|assumption| assumption.checks),
            )
            .collect();
        assert!(tests.len() > 300, "{}", tests.len());
        for test in tests.iter().filter(|test| !test.starts_with("make ")) {
            let (file, name) = test.split_once("::").unwrap();
            let command = command(test);
            let words: Vec<&str> = command.split(' ').collect();
            let (package, kind, target) = match words[..] {
                ["make", ..] => continue,
                [
                    "cargo",
                    "test",
                    "-p",
                    package,
                    "--all-features",
                    "--test",
                    target,
                    test,
                ]
                | ["cargo", "test", "-p", package, "--test", target, test]
                    if test == name =>
                {
                    (package, "test", target)
                }
                ["cargo", "test", "--all-features", "--lib", test] if test == name => {
                    ("veriplex", "lib", "veriplex")
                }
                _ => panic!("{test}: {command}"),
            };
            let (_, targets) = (packages.iter())
                .find(|(name, _)| name == package)
                .unwrap_or_else(|| panic!("{command}: no such package"));
            let [.., path] = (targets.iter())
                .find(|[its_kind, its_name, _]| its_kind == kind && its_name == target)
                .unwrap_or_else(|| panic!("{command}: no such target"));
            // A target is a file, or the folder around it.
            let path = Path::new(path);
            let own = root().join(file).canonicalize().unwrap();
            assert!(
                own == path || own.starts_with(path.parent().unwrap()),
                "{command}: {file}"
            );
            assert!(
                kind == "lib" || own == path || path.ends_with("main.rs"),
                "{command}: {file}"
            );
        }
    }

    /// Cargo alone would run no test, and say that all is well.
    #[test]
    fn ignored_tests_are_run_by_make() {
        for (test, expected) in [
            (
                "rust/src/protocol/model.rs::the_model_reads_the_same_segments",
                "make rocq",
            ),
            (
                "proofs/lift/tests/rocq.rs::x86_64_decodes_as_iced",
                "make -C proofs/rocq decoders",
            ),
            (
                "tests/vectors.rs::duplex",
                "cargo test -p veriplex --all-features --test vectors duplex",
            ),
        ] {
            assert_eq!(command(test), expected);
        }
    }
}
