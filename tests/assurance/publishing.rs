//! What is published is complete: each dependency has its reason in `dependencies.toml`, a licence and a source that
//! `deny.toml` allows; each crate says where it comes from; no packaged page links to a file that is not packaged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde::Deserialize;
use veriplex_assurance::evidence::{files_under, read, root};

/// The published crates, in the order in which they are published, and their folders.
const CRATES: [(&str, &str); 6] = [
    ("veriplex", ""),
    ("veriplex-files", "rust/files"),
    ("veriplex-disk", "rust/disk"),
    ("veriplex-tunnel", "rust/tunnel"),
    ("veriplex-cli", "rust/cli"),
    ("veriplex-audit", "proofs/audit"),
];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    source: Option<String>,
    license: Option<String>,
    repository: Option<String>,
    homepage: Option<String>,
    documentation: Option<String>,
    description: Option<String>,
    rust_version: Option<String>,
    readme: Option<String>,
    dependencies: Vec<Dependency>,
    publish: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dep>,
}

#[derive(Deserialize)]
struct Dep {
    pkg: String,
    dep_kinds: Vec<DepKind>,
}

#[derive(Deserialize)]
struct DepKind {
    kind: Option<String>,
}

fn metadata() -> Metadata {
    let output = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["metadata", "--format-version=1", "--locked", "--all-features"])
        .current_dir(root())
        .output()
        .expect("cargo metadata");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("the form of cargo metadata")
}

/// Whether a licence expression can be met: `AND` binds before `OR` only in parentheses here.
fn is_allowed(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ");
    expression.split(" AND ").all(|part| {
        let part = part.trim_matches(|c| "() ".contains(c));
        part.split(" OR ").any(|name| allowed.contains(name.trim()))
    })
}

#[test]
fn every_dependency_has_a_reason() {
    let reasons: BTreeMap<String, BTreeMap<String, BTreeMap<String, String>>> =
        toml::from_str(&read("dependencies.toml")).unwrap();
    assert!(
        reasons
            .values()
            .flat_map(BTreeMap::values)
            .all(|reason| !reason["why"].is_empty())
    );
    let listed = |name: &str| -> BTreeSet<String> { reasons[name].keys().cloned().collect() };
    let metadata = metadata();
    for (name, _) in CRATES {
        let package = metadata
            .packages
            .iter()
            .find(|p| p.name == name)
            .expect("a member");
        let needed: BTreeSet<_> = package
            .dependencies
            .iter()
            .filter(|d| d.kind.as_deref() != Some("dev"))
            .map(|d| d.name.clone())
            .collect();
        assert!(!needed.is_empty());
        assert_eq!(listed(name), needed, "dependencies.toml: {name}");
    }
    // In a workspace of its own.
    let store: toml::Table = toml::from_str(&read("rust/store/Cargo.toml")).unwrap();
    let needed = store["dependencies"]
        .as_table()
        .unwrap()
        .keys()
        .cloned()
        .collect();
    assert_eq!(listed("veriplex-store"), needed, "dependencies.toml");
}

#[test]
fn licences_and_sources_are_allowed() {
    #[derive(Deserialize)]
    struct Deny {
        licenses: Licenses,
    }
    #[derive(Deserialize)]
    struct Licenses {
        allow: BTreeSet<String>,
    }
    let deny: Deny = toml::from_str(&read("deny.toml")).unwrap();
    let metadata = metadata();
    let packages: BTreeMap<_, _> = metadata.packages.iter().map(|p| (&p.id, p)).collect();
    let nodes: BTreeMap<_, _> = metadata.resolve.nodes.iter().map(|n| (&n.id, n)).collect();
    let published = |p: &&Package| CRATES.iter().any(|(name, _)| *name == p.name);
    let mut open: Vec<&String> = metadata
        .packages
        .iter()
        .filter(published)
        .map(|p| &p.id)
        .collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        let package = packages[id];
        let licence = package.license.as_deref().unwrap_or_default();
        assert!(
            is_allowed(licence, &deny.licenses.allow),
            "{}: {licence}",
            package.name
        );
        let source = package.source.as_deref();
        let is_registry = source == Some("registry+https://github.com/rust-lang/crates.io-index");
        assert!(is_registry || published(&package), "{}: {source:?}", package.name);
        let needed = nodes[id].deps.iter().filter(|dep| {
            dep.dep_kinds
                .iter()
                .any(|kind| kind.kind.as_deref() != Some("dev"))
        });
        open.extend(needed.map(|dep| &dep.pkg));
    }
    assert!(seen.len() > 100);
}

#[test]
fn licence_expressions() {
    let allowed = ["MIT", "Unicode-3.0"].map(str::to_owned).into();
    for good in [
        "MIT",
        "Apache-2.0 OR MIT",
        "GPL-3.0/MIT",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT OR Apache-2.0) AND GPL-3.0",
        "MIT-0",
    ] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}

#[test]
fn crates_say_where_they_come_from() {
    let metadata = metadata();
    let published: Vec<_> = metadata
        .packages
        .iter()
        .filter(|p| p.source.is_none() && p.publish.is_none())
        .map(|p| p.name.as_str())
        .collect();
    assert_eq!(
        published.iter().collect::<BTreeSet<_>>(),
        CRATES.iter().map(|(name, _)| name).collect()
    );
    for package in metadata
        .packages
        .iter()
        .filter(|p| published.contains(&p.name.as_str()))
    {
        let name = &package.name;
        for field in [
            &package.repository,
            &package.homepage,
            &package.documentation,
            &package.description,
            &package.license,
            &package.rust_version,
            &package.readme,
        ] {
            assert!(
                field.is_some(),
                "{name}: repository, homepage, documentation, description, licence, rust-version or readme is missing"
            );
        }
        let (_, folder) = CRATES.iter().find(|(of, _)| of == name).unwrap();
        for licence in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let packaged = Path::new(folder).join(licence);
            assert_eq!(read(packaged.to_str().unwrap()), read(licence));
        }
    }
}

#[test]
fn packaged_pages_have_absolute_links() {
    let mut links = 0;
    for page in [
        "README.md",
        "CHANGELOG.md",
        "rust/cli/README.md",
        "rust/disk/README.md",
        "rust/files/README.md",
        "rust/tunnel/README.md",
        "proofs/audit/README.md",
    ] {
        for link in read(page).split("](").skip(1) {
            let target = link.split(')').next().unwrap_or_default();
            links += 1;
            assert!(
                target.starts_with("https://") || target.starts_with('#'),
                "{page}: {target}"
            );
        }
    }
    assert!(links > 20);
}

/// The anchors of a page: its headings, as GitHub writes them.
fn anchors(page: &str) -> BTreeSet<String> {
    let slug = |heading: &str| -> String {
        let kept = heading.to_lowercase().replace(' ', "-");
        (kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c))).collect()
    };
    (page.lines().filter(|line| line.starts_with('#')))
        .map(|line| slug(line.trim_start_matches('#').trim()))
        .collect()
}

/// Links to files of the repository, and to headings in them, lead somewhere.
#[test]
fn links_lead_somewhere() {
    let planted = "# One thing\n## What do I have to believe?\ntext";
    assert_eq!(
        anchors(planted),
        ["one-thing", "what-do-i-have-to-believe"]
            .map(String::from)
            .into()
    );
    let mut found = files_under("");
    found.retain(|path| path.extension().is_some_and(|end| end == "md"));
    let mut links = 0;
    let mut wrong = Vec::new();
    for page in found {
        let text = fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split([')', ' ']).next().unwrap_or_default();
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let ours = (path.split_once("veriplex/veriplex/")).and_then(|(_, path)| path.split_once("/main"));
            let path = match ours {
                Some((_, path)) => root().join(path.trim_start_matches('/')),
                None if path.contains("://") || path.starts_with("crate::") => continue,
                None if path.is_empty() => page.clone(),
                None => page.with_file_name(path),
            };
            links += 1;
            let has = |text: String| anchor.is_empty() || anchors(&text).contains(anchor);
            let leads = path.is_dir() || fs::read_to_string(&path).is_ok_and(has);
            if !leads {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(links > 50);
}

/// The lines of examples in doc comments that make a key or a nonce of a constant. Examples that must not compile may.
fn constant_secrets(source: &str) -> Vec<&str> {
    let (mut inside, mut must_fail) = (false, false);
    let mut found = Vec::new();
    for line in source.lines() {
        if line.contains("not(") && line.contains("doc = \"```") {
            continue; // the other half of a condition
        }
        if line.contains("```") {
            inside = !inside;
            must_fail = line.contains("compile_fail");
        } else if inside
            && !must_fail
            && [
                "Key::from([",
                "from_uniform_bytes([",
                "let nonce = [",
                "[1; 24]",
                "let key = [",
            ]
            .iter()
            .any(|constant| line.contains(constant))
        {
            found.push(line);
        }
    }
    found
}

#[test]
fn examples_draw_keys_and_nonces_at_random() {
    let planted = "//! ```\n//! let key = Key::from([7; 32]);\n//! ```\n//! let nonce = [1; 24];";
    assert_eq!(constant_secrets(planted), ["//! let key = Key::from([7; 32]);"]);
    let mut paths = vec![root().join("README.md")];
    paths.extend(["examples", "rust"].into_iter().flat_map(files_under));
    let in_root = |path: &Path| path.strip_prefix(root()).unwrap().to_owned();
    paths.retain(|path| in_root(path).iter().all(|name| name != "tests"));
    let mut pages = 0;
    for path in paths {
        let text = |kind| (path.extension()? == kind).then(|| fs::read_to_string(&path).unwrap());
        let examples = match (text("md"), text("rs")) {
            (Some(page), _) => page,
            (_, Some(program)) if path.starts_with(root().join("examples")) => format!("```\n{program}"),
            (_, Some(source)) => {
                let comments: Vec<_> = (source.lines().map(str::trim_start))
                    .filter(|line| line.starts_with("//") || line.contains("doc = \"```"))
                    .collect();
                comments.join("\n")
            }
            _ => continue,
        };
        pages += 1;
        let found = constant_secrets(&examples);
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
    assert!(pages > 100);
}

/// The targets of the Makefile that a workflow runs: after `make`, or listed as `target`.
fn targets(workflow: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for line in workflow.lines() {
        if let Some((_, command)) = line.split_once("run: make ") {
            found.extend(command.split_whitespace().next());
        } else if let Some((_, names)) = line.split_once("target: ") {
            let (list, rest) = names
                .strip_prefix('[')
                .map_or((false, names), |list| (true, list));
            let end = rest.find(if list { ']' } else { ' ' }).unwrap_or(rest.len());
            let names = rest[..end].trim_end_matches(',').split(", ");
            found.extend(names.filter_map(|name| name.split(' ').next()));
        }
    }
    found.remove("${{"); // names a variable of the matrix
    found
}

#[test]
fn the_workflow_runs_targets_that_exist() {
    let planted = "- { target: one, add: x }\n- { target: two }\ntarget: [three, four X=1]\n- run: make five X=1\n- run: make ${{ a }}";
    let expected = ["one", "two", "three", "four", "five"];
    assert_eq!(targets(planted), expected.into());

    let workflow = read(".github/workflows/checks.yml");
    let makefile = read("Makefile");
    let targets = targets(&workflow);
    assert!(targets.len() > 10);
    for target in targets {
        assert!(
            makefile
                .lines()
                .any(|line| line.split_once(':').is_some_and(|(name, _)| name == target)),
            "checks.yml: make {target}"
        );
    }
}

/// The targets that a page names: in a span of code, or in a block.
fn named(page: &str) -> BTreeSet<&str> {
    let is_name = |word: &&str| {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !word.starts_with('-') && !word.is_empty() && word.chars().all(is_part)
    };
    ["`make ", "&& make ", "\n    make "]
        .into_iter()
        .flat_map(|start| page.split(start).skip(1))
        .filter_map(|rest| rest.split([' ', '`', '\n']).next())
        .filter(is_name)
        .collect()
}

#[test]
fn pages_name_targets_that_exist() {
    let planted =
        "Run `make one` and `make two X=1 && make three`.\n\n    make four\nmake five, and `make -C six`";
    assert_eq!(named(planted), ["one", "two", "three", "four"].into());
    let makefile = read("Makefile");
    let mut pages = files_under("");
    // That of the proofs in Rocq names those of their own Makefile.
    pages.retain(|path| {
        path.extension().is_some_and(|end| end == "md") && !path.ends_with("proofs/rocq/README.md")
    });
    let mut count = 0;
    for page in pages {
        for target in named(&fs::read_to_string(&page).unwrap()) {
            count += 1;
            let rule = format!("\n{target}:");
            assert!(makefile.contains(&rule), "{}: make {target}", page.display());
        }
    }
    assert!(count > 50);
}

/// The modules that the root of the crate re-exports, and the comment that each page begins with.
fn module_pages(root_page: &str) -> Vec<(String, String)> {
    let mut pages = Vec::new();
    let is_page = |line: &&str| line.starts_with("//!") || line.starts_with("#![cfg_attr");
    let exports = root_page.lines().filter_map(|line| line.strip_prefix("pub use "));
    for (folder, names) in exports.filter_map(|path| path.rsplit_once("::")) {
        let folder = format!("rust/src/{}", folder.replace("::", "/"));
        for name in names.trim_matches(['{', '}', ';']).split(", ") {
            let files = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")];
            if let Some(file) = files.iter().find(|file| root().join(file).exists()) {
                let page: Vec<String> = read(file)
                    .lines()
                    .take_while(is_page)
                    .map(str::to_owned)
                    .collect();
                pages.push((name.to_owned(), page.join("\n")));
            }
        }
    }
    pages
}

#[test]
fn every_module_page_has_an_example() {
    let root_page = read("rust/src/lib.rs");
    let pages = module_pages(&root_page);
    assert!(pages.len() > 25);
    let guide = read("rust/src/guide.md");
    for (name, page) in pages {
        // The page of a module of modules has a table instead.
        assert!(page.contains("```") || page.contains("| module |"), "{name}");
        assert!(
            root_page.contains(&format!("//! | [`{name}`]")),
            "{name} is not in lib.rs"
        );
        assert!(
            name == "hazmat" || guide.contains(&format!("`{name}")),
            "{name} is not in the guide"
        );
    }
}
