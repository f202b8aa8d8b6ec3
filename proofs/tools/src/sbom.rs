//! The software bill of materials of the program `veriplex`, as `CycloneDX` 1.5.
//!
//! It is made from `cargo tree` and `Cargo.lock`. It has no serial number and no time, so that the same sources give the
//! same bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use object::{Object as _, ObjectSection as _};
use serde_json::{Value, json};

use super::Options;
use veriplex_lift::packages::{Package, checksums};

/// Of the program.
const PACKAGE: &str = "veriplex-cli";

/// What `cargo tree` says of a package.
#[derive(Default)]
struct Node {
    licence: String,
    needs: BTreeSet<Package>,
}

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    super::subcommand(
        "sbom",
        Options::parse(args, &[], &["--program"]),
        &[],
        |options| run(root, options.value("--program")),
    )
}

/// Prints it, or compares it with the list of crates in a program.
fn run(root: &Path, program: Option<&str>) -> io::Result<bool> {
    let all = tree(root, "normal,build")?;
    let linked: BTreeSet<Package> = tree(root, "normal,no-proc-macro")?.into_keys().collect();
    let Some(program) = program else {
        let sums = checksums(&fs::read_to_string(root.join("Cargo.lock"))?);
        println!("{:#}", document(&all, &linked, &sums)?);
        return Ok(true);
    };
    // `cargo auditable` also lists crates that the program would need with features that only tests enable.
    let listed = auditable(&fs::read(program)?)?;
    let missing: Vec<_> = all.keys().filter(|package| !listed.contains(*package)).collect();
    for (name, version) in &missing {
        eprintln!("sbom: {name} {version} is not in the list of {program}");
    }
    println!(
        "sbom: {} crates; {program} lists {} of them, and {} in all",
        all.len(),
        all.len() - missing.len(),
        listed.len()
    );
    Ok(missing.is_empty())
}

/// The packages that the program needs, along these edges.
fn tree(root: &Path, edges: &str) -> io::Result<BTreeMap<Package, Node>> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .current_dir(root)
        .args(["tree", "--locked", "--prefix", "depth", "--format", "|{p}|{l}"]);
    let output = command.args(["--package", PACKAGE, "--edges", edges]).output()?;
    let text = String::from_utf8(output.stdout).map_err(io::Error::other)?;
    if !output.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).into_owned(),
        ));
    }
    let mut nodes: BTreeMap<Package, Node> = BTreeMap::new();
    let mut path: Vec<Package> = Vec::new();
    for line in text.lines() {
        let bad = || io::Error::other(format!("cargo tree: {line}"));
        let mut fields = line.splitn(3, '|');
        let depth: usize = fields.next().and_then(|text| text.parse().ok()).ok_or_else(bad)?;
        let mut words = fields.next().ok_or_else(bad)?.split(' ');
        let licence = fields.next().ok_or_else(bad)?;
        let name = words.next().ok_or_else(bad)?;
        let version = words
            .next()
            .and_then(|word| word.strip_prefix('v'))
            .ok_or_else(bad)?;
        let package = (name.to_owned(), version.to_owned());
        path.truncate(depth);
        if let Some(user) = path.last() {
            nodes
                .entry(user.clone())
                .or_default()
                .needs
                .insert(package.clone());
        }
        // What was listed before ends in a star.
        let licence = licence.strip_suffix(" (*)").unwrap_or(licence);
        licence.clone_into(&mut nodes.entry(package.clone()).or_default().licence);
        path.push(package);
    }
    Ok(nodes)
}

fn document(
    all: &BTreeMap<Package, Node>,
    linked: &BTreeSet<Package>,
    sums: &BTreeMap<Package, String>,
) -> io::Result<Value> {
    let purl = |(name, version): &Package| format!("pkg:cargo/{name}@{version}");
    let component = |package: &Package, node: &Node| {
        let mut value = json!({
            "type": "library",
            "bom-ref": purl(package),
            "name": package.0,
            "version": package.1,
            // What only the build uses, procedural macros among it, is not in the program.
            "scope": if linked.contains(package) { "required" } else { "excluded" },
            "licenses": [{ "expression": node.licence }],
            "purl": purl(package),
        });
        if let Some(sum) = sums.get(package) {
            value["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
        }
        value
    };
    let (program, node) = (all.iter())
        .find(|((name, _), _)| name == PACKAGE)
        .ok_or_else(|| io::Error::other(format!("cargo tree: no {PACKAGE}")))?;
    let mut subject = component(program, node);
    subject["type"] = json!("application");
    let others = all.iter().filter(|(package, _)| *package != program);
    let dependencies = all.iter().map(|(package, node)| {
        json!({ "ref": purl(package), "dependsOn": node.needs.iter().map(purl).collect::<Vec<_>>() })
    });
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": subject },
        "components": others.map(|(package, node)| component(package, node)).collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    }))
}

/// The crates that `cargo auditable` listed in a program.
fn auditable(program: &[u8]) -> io::Result<BTreeSet<Package>> {
    let file = object::File::parse(program).map_err(io::Error::other)?;
    let section = file
        .section_by_name(".dep-v0")
        .ok_or_else(|| io::Error::other("no list of crates in the program"))?;
    let list = flate2::read::ZlibDecoder::new(section.data().map_err(io::Error::other)?);
    let list: Value = serde_json::from_reader(list)?;
    let text = |package: &Value, field: &str| package[field].as_str().unwrap_or_default().to_owned();
    let packages = list["packages"].as_array().into_iter().flatten();
    Ok(packages
        .map(|package| (text(package, "name"), text(package, "version")))
        .collect())
}
