//! The site: `make site-test`, which has made it. `SITE` is its folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn folder(variable: &str) -> PathBuf {
    PathBuf::from(
        std::env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set: use make site-test")),
    )
}

/// The files of the site, by their paths in it.
fn files(folder: &Path, under: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder.join(under)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{under}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(folder, &format!("{path}/"), found);
        } else {
            found.insert(path);
        }
    }
}

/// The values of an attribute.
fn attributes<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = format!(" {name}=\"");
    text.split(start.as_str())
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect()
}

/// Each link of each page leads to a file of the site and a place in it. Nothing is loaded from elsewhere.
#[test]
#[ignore = "needs the site: make site-test"]
fn every_link_leads_somewhere() {
    let site = folder("SITE");
    let mut all = BTreeSet::new();
    files(&site, "", &mut all);
    let pages: Vec<&String> = all
        .iter()
        .filter(|name| name.rsplit('.').next() == Some("html"))
        .collect();
    let mut wrong = Vec::new();
    let mut links = 0;
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for page in pages {
        let text = fs::read_to_string(site.join(page)).unwrap();
        for source in attributes(&text, "src") {
            assert!(!source.contains(':'), "{page} loads {source}");
        }
        for link in attributes(&text, "href")
            .into_iter()
            .chain(attributes(&text, "src"))
        {
            if link.contains("://") {
                continue;
            }
            links += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let mut parts: Vec<&str> = page.split('/').collect();
            if !path.is_empty() {
                parts.pop();
            }
            for part in path.split('/').filter(|part| !part.is_empty()) {
                if part == ".." {
                    parts.pop();
                } else {
                    parts.push(part);
                }
            }
            let target = parts.join("/");
            let anchor = anchor.replace("%27", "'");
            if !all.contains(&target) {
                wrong.push(format!("{page}: no {target}"));
            } else if !anchor.is_empty() {
                let ids = places.entry(target.clone()).or_insert_with(|| {
                    let text = fs::read_to_string(site.join(&target)).unwrap();
                    attributes(&text, "id").into_iter().map(str::to_owned).collect()
                });
                if !ids.contains(&anchor) {
                    wrong.push(format!("{page}: no {target}#{anchor}"));
                }
            }
        }
    }
    assert!(links > 200, "{links}");
    assert!(
        wrong.is_empty(),
        "{} of {links} links:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
