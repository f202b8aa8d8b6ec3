//! Which names a test reaches: those in it, and in the functions of the test suite that it calls.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The functions of some files: for each name, the names in all functions that are called so.
type Functions = BTreeMap<String, BTreeSet<String>>;

/// What the tests of a repository reach.
pub struct Reached {
    root: PathBuf,
    /// By folder.
    functions: BTreeMap<PathBuf, Functions>,
}

impl Reached {
    pub fn new(root: PathBuf) -> Self {
        Self {
            root,
            functions: BTreeMap::new(),
        }
    }

    /// The names in the `use` items of a test's file.
    pub fn imported(&self, test: &str) -> BTreeSet<String> {
        let file = self.root.join(test.split("::").next().unwrap_or(test));
        let mut names = BTreeSet::new();
        let mut in_use = false;
        for token in fs::read_to_string(file).unwrap().parse::<TokenStream>().unwrap() {
            match token {
                TokenTree::Ident(ident) if ident == "use" => in_use = true,
                TokenTree::Ident(ident) if in_use => _ = names.insert(ident.to_string()),
                TokenTree::Group(group) if in_use => identifiers(group.stream(), &mut names),
                TokenTree::Punct(punct) if punct.as_char() == ';' => in_use = false,
                _ => (),
            }
        }
        names
    }

    /// By a test, written `FILE::TEST`: the names in the test and in what it calls in its own folder (in `tests`, its own
    /// file) and in `tests/common`.
    pub fn by(&mut self, test: &str) -> BTreeSet<String> {
        let (file, name) = test.split_once("::").expect("FILE::TEST");
        let name = name.rsplit("::").next().unwrap_or(name);
        let file = self.root.join(file);
        let own = match file.parent() {
            Some(folder) if !folder.ends_with("tests") => folder.to_path_buf(),
            _ => file,
        };
        let common = self.root.join("tests/common");
        for place in [&own, &common] {
            if !self.functions.contains_key(place) {
                let mut functions = Functions::new();
                read(place, &mut functions);
                self.functions.insert(place.clone(), functions);
            }
        }
        let known = [&self.functions[&own], &self.functions[&common]];
        let mut reached = BTreeSet::new();
        let mut todo = vec![name.to_owned()];
        while let Some(name) = todo.pop() {
            for names in known.iter().filter_map(|functions| functions.get(&name)) {
                for name in names {
                    if reached.insert(name.clone()) {
                        todo.push(name.clone());
                    }
                }
            }
        }
        reached
    }
}

/// Adds the functions of a file, or of those in a folder.
fn read(place: &Path, functions: &mut Functions) {
    if place.is_dir() {
        for entry in fs::read_dir(place).unwrap() {
            read(&entry.unwrap().path(), functions);
        }
    } else if place.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(place).unwrap();
        collect(text.parse().unwrap(), functions);
    }
}

/// Adds the functions in these tokens, also those in macros.
fn collect(tokens: TokenStream, functions: &mut Functions) {
    let mut named: Option<String> = None;
    let mut after_fn = false;
    let mut names = BTreeSet::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if ident == "fn" => after_fn = true,
            TokenTree::Ident(ident) if after_fn => {
                named = Some(ident.to_string());
                names.clear();
                after_fn = false;
            }
            TokenTree::Ident(ident) => _ = names.insert(ident.to_string()),
            TokenTree::Group(group) => {
                identifiers(group.stream(), &mut names);
                collect(group.stream(), functions);
                if group.delimiter() == Delimiter::Brace
                    && let Some(name) = named.take()
                {
                    functions.entry(name).or_default().append(&mut names);
                }
            }
            _ => after_fn = false,
        }
    }
}

fn identifiers(tokens: TokenStream, names: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => _ = names.insert(ident.to_string()),
            TokenTree::Group(group) => identifiers(group.stream(), names),
            _ => (),
        }
    }
}

#[test]
fn names_are_followed() {
    let text = "
        fn helper() { veriplex::seal(1) }
        fn other<T: Fn()>(x: T) where T: Copy { open() }
        mod m { macro_rules! tests { () => { #[test] fn a_test() { check!(helper()) } } } }
    ";
    let mut functions = Functions::new();
    collect(text.parse().unwrap(), &mut functions);
    let place = PathBuf::from("/r/tests/a.rs");
    let mut reached = Reached::new("/r".into());
    reached.functions.insert(place, functions);
    reached
        .functions
        .insert("/r/tests/common".into(), Functions::new());
    let names = reached.by("tests/a.rs::a_test");
    assert!(names.contains("seal") && names.contains("helper"), "{names:?}");
    assert!(!names.contains("open"), "{names:?}");
    assert!(reached.by("tests/a.rs::other").contains("open"));
}
