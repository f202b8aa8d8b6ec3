//! The layers of the library: a module uses only modules of its own layer and of lower ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, UseTree};
use veriplex_assurance::evidence::files_under;

/// From the lowest to the highest: the folders of `rust/src`.
const LAYERS: [&str; 7] = [
    "base",
    "backend",
    "primitives",
    "duplex",
    "protocol",
    "schemes",
    "adapters",
];

/// The path of a module or an item inside the crate.
type ItemPath = Vec<String>;

/// The paths that the sources use, and where.
#[derive(Default)]
struct Uses {
    /// A module, and a path that it names.
    all: Vec<(ItemPath, ItemPath)>,
    /// The names at the root of the crate, and their modules. An item defined at the root has no module.
    root: BTreeMap<String, ItemPath>,
    modules: BTreeSet<ItemPath>,
    /// A module, and a number in hex that it writes.
    hex: Vec<(ItemPath, String)>,
}

impl Uses {
    /// Loads this file and its modules, except test modules.
    fn load(&mut self, file: &Path, folder: &Path, module: &ItemPath) {
        self.modules.insert(module.clone());
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.items(parsed.items, folder, module);
    }

    fn items(&mut self, items: Vec<Item>, folder: &Path, module: &ItemPath) {
        for item in items {
            match item {
                Item::Mod(item) if is_for_tests(&item.attrs) => {}
                Item::Mod(item) => {
                    let name = item.ident.to_string();
                    let inner = [module.as_slice(), std::slice::from_ref(&name)].concat();
                    let own = folder.join(&name);
                    match item.content {
                        Some((_, items)) => self.items(items, &own, &inner),
                        None if own.join("mod.rs").is_file() => self.load(&own.join("mod.rs"), &own, &inner),
                        None => self.load(&own.with_extension("rs"), &own, &inner),
                    }
                }
                // The root may name everything, because it says what is public and under which name.
                Item::Use(item) if module.is_empty() => self.names(&item.tree, &mut Vec::new()),
                item if module.is_empty() => {
                    for token in item.to_token_stream() {
                        if let TokenTree::Ident(name) = token {
                            self.root.entry(name.to_string()).or_default();
                        }
                    }
                }
                Item::Macro(item) if item.attrs.iter().any(|a| a.path().is_ident("macro_export")) => {
                    self.root
                        .extend(item.ident.map(|name| (name.to_string(), module.clone())));
                    self.paths(item.mac.tokens, module);
                }
                item => {
                    let tokens = item.to_token_stream();
                    if !starts_for_tests(&tokens) {
                        self.paths(tokens, module);
                    }
                }
            }
        }
    }

    fn names(&mut self, tree: &UseTree, path: &mut ItemPath) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.names(&inner.tree, path);
                path.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|inner| self.names(inner, path)),
            UseTree::Name(name) => {
                self.root.insert(name.ident.to_string(), path.clone());
            }
            UseTree::Rename(name) => {
                self.root.insert(name.rename.to_string(), path.clone());
            }
            UseTree::Glob(_) => panic!("a glob at the root of the crate"),
        }
    }

    /// The paths that begin with `crate` or `super`, including those in macros.
    fn paths(&mut self, tokens: TokenStream, module: &ItemPath) {
        let mut rest: Vec<TokenTree> = tokens.into_iter().collect();
        rest.reverse();
        while let Some(token) = rest.pop() {
            match token {
                TokenTree::Group(group) => self.paths(group.stream(), module),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    self.hex.extend(
                        text.strip_prefix("0x")
                            .map(|digits| (module.clone(), digits.to_owned())),
                    );
                }
                TokenTree::Ident(name) if name == "crate" => self.path(&mut rest, Vec::new(), module),
                TokenTree::Ident(name) if name == "super" => {
                    self.path(&mut rest, module[..module.len() - 1].to_vec(), module);
                }
                _ => (),
            }
        }
    }

    /// The rest of such a path.
    fn path(&mut self, rest: &mut Vec<TokenTree>, mut path: ItemPath, module: &ItemPath) {
        let is_colon =
            |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == ':');
        let mut named = false;
        while is_colon(rest.last()) && is_colon(rest.get(rest.len().wrapping_sub(2))) {
            rest.truncate(rest.len() - 2);
            named = true;
            match rest.pop() {
                Some(TokenTree::Ident(name)) if name == "super" => {
                    path.pop();
                }
                Some(TokenTree::Ident(name)) => path.push(name.to_string()),
                Some(TokenTree::Group(group)) => {
                    for part in group
                        .stream()
                        .into_iter()
                        .collect::<Vec<_>>()
                        .split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ','))
                    {
                        let mut part: Vec<TokenTree> = part.iter().rev().cloned().collect();
                        if let Some(TokenTree::Ident(name)) = part.pop() {
                            let inner = if name == "self" {
                                path.clone()
                            } else {
                                [path.as_slice(), &[name.to_string()]].concat()
                            };
                            self.path(&mut part, inner.clone(), module);
                            self.all.push((module.clone(), inner));
                        }
                    }
                }
                _ => break,
            }
        }
        if named {
            self.all.push((module.clone(), path));
        }
    }

    /// Uses of higher layers, and modules that belong to no layer.
    fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (module, path) in &self.all {
            let target = match path.first() {
                Some(first) if layer(std::slice::from_ref(first)).is_none() => match self.root.get(first) {
                    Some(from) if from.is_empty() => continue,
                    Some(from) => from.clone(),
                    None => path.clone(),
                },
                _ => path.clone(),
            };
            // What remains is the root itself, as in `super::*` in a top-level module.
            if target.is_empty() {
                continue;
            }
            let [from, to] = [module, &target]
                .map(|path| layer(path).ok_or_else(|| format!("{}: is in no layer", path[0])));
            match (from, to) {
                (Ok(from), Ok(to)) if to > from => wrong.push(format!(
                    "{} ({}) uses {} ({})",
                    module.join("::"),
                    LAYERS[from],
                    path.join("::"),
                    LAYERS[to]
                )),
                (Ok(_), Ok(_)) => (),
                (from, to) => wrong.extend([from.err(), to.err()].into_iter().flatten()),
            }
        }
        wrong.sort();
        wrong.dedup();
        wrong
    }

    /// The circles of modules that use each other, as they stand beside each other in their parent; a module counts as all
    /// that is in it. That a module and what is in it use each other is no circle.
    fn circles(&self) -> Vec<String> {
        let mut edges: BTreeMap<&[String], BTreeMap<&str, BTreeSet<&str>>> = BTreeMap::new();
        for (module, path) in &self.all {
            let target = self.module_of(path);
            let common = module.iter().zip(target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.get(common), target.get(common)) {
                let siblings = edges.entry(&module[..common]).or_default();
                siblings.entry(from).or_default().insert(to);
            }
        }
        let mut circles = BTreeSet::new();
        for (parent, edges) in &edges {
            for from in edges.keys() {
                let after = reachable(edges, from);
                let circle: Vec<&str> = after
                    .iter()
                    .copied()
                    .filter(|to| reachable(edges, to).contains(from))
                    .collect();
                if !circle.is_empty() {
                    let circle = format!("{{{}}}", circle.join(", "));
                    let path: Vec<&str> = parent.iter().map(String::as_str).chain([&*circle]).collect();
                    circles.insert(path.join("::"));
                }
            }
        }
        circles.into_iter().collect()
    }

    /// The module in which this item is, or is re-exported from to the root.
    fn module_of<'a>(&'a self, path: &'a [String]) -> &'a [String] {
        let path = match path.first().and_then(|first| self.root.get(first)) {
            Some(module) if !self.modules.contains(&path[..1]) => module,
            _ => path,
        };
        let known = (0..=path.len())
            .rev()
            .find(|&n| self.modules.contains(&path[..n]));
        &path[..known.unwrap_or(0)]
    }

    /// Bytes of frames, padding or LEB128 in transcripts, written elsewhere than in `framing`.
    fn framing_elsewhere(&self) -> Vec<String> {
        let (first, last) = (layer_named("duplex"), layer_named("schemes"));
        // `oae2` pads a message of its own.
        let elsewhere = |module: &ItemPath| {
            let name = module.last().map_or("", String::as_str);
            (first..=last).contains(&layer(module).unwrap_or(0)) && name != "framing" && name != "oae2"
        };
        let is_framing =
            |digits: &String| matches!(u32::from_str_radix(digits, 16), Ok(1..=7 | 0x7f | 0x80 | 0x81));
        let wrong = self
            .hex
            .iter()
            .filter(|(module, digits)| elsewhere(module) && is_framing(digits));
        wrong
            .map(|(module, digits)| format!("{}: 0x{digits}", module.join("::")))
            .collect()
    }
}

/// What can be reached from here, by one edge or more.
fn reachable<'a>(edges: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(from) = next.pop() {
        next.extend(
            edges
                .get(from)
                .into_iter()
                .flatten()
                .filter(|to| found.insert(**to)),
        );
    }
    found
}

fn layer_named(name: &str) -> usize {
    LAYERS.iter().position(|layer| *layer == name).unwrap()
}

/// The layer of a module or an item, by its place in the list.
fn layer(path: &[String]) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == path[0])
}

/// Whether an item is compiled for tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .any(|attribute| starts_for_tests(&attribute.to_token_stream()))
}

fn starts_for_tests(tokens: &TokenStream) -> bool {
    let text = tokens.to_string().replace(' ', "");
    text.starts_with("#[cfg(test)]") || text.starts_with("#[cfg(all(test,")
}

fn uses(folder: &Path) -> Uses {
    let mut uses = Uses::default();
    let lib = folder.join("lib.rs");
    let root = if lib.is_file() {
        lib
    } else {
        folder.join("main.rs")
    };
    uses.load(&root, folder, &Vec::new());
    uses
}

#[test]
fn no_module_uses_a_higher_layer() {
    let uses = uses(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rust/src"));
    assert!(uses.all.len() > 100, "{:?}", uses.all);
    let wrong = uses.wrong();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn modules_do_not_use_each_other_in_circles() {
    for folder in [
        "rust/src",
        "rust/cli/src",
        "rust/disk/src",
        "rust/files/src",
        "rust/store/src",
        "rust/tunnel/src",
        "proofs/audit/src",
        "proofs/lift/src",
        "proofs/spec-to-rocq/src",
        "proofs/tools/src",
    ] {
        let uses = uses(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder));
        assert!(!uses.all.is_empty(), "{folder}");
        let circles = uses.circles();
        assert!(circles.is_empty(), "{folder}: {}", circles.join("\n"));
    }
}

/// So the theorems about `framing` are about every frame.
#[test]
fn the_framing_is_formed_in_one_module() {
    let uses = uses(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rust/src"));
    assert!(
        uses.hex
            .iter()
            .any(|(module, digits)| *module == ["duplex", "framing"] && digits == "80")
    );
    let wrong = uses.framing_elsewhere();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn planted_uses_are_seen() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("layers");
    for inner in ["duplex", "protocol/b", "schemes"] {
        fs::create_dir_all(folder.join(inner)).unwrap();
    }
    for (file, text) in [
        (
            "lib.rs",
            "mod backend; mod duplex; mod novel; mod protocol; mod schemes; pub use protocol::Protocol; pub use schemes::aead;
             pub use schemes::aead::Aead as A; pub const TAG_LEN: usize = 16; #[cfg(test)] mod absent;",
        ),
        ("backend.rs", "use crate::{base::Error, duplex::{self, Duplex}}; fn f() { crate::aead::seal() }"),
        ("duplex/mod.rs", "mod framing; #[cfg(test)] mod tests { use crate::aead::Aead; } /// crate::aead::Aead\n use super::A;"),
        ("duplex/framing.rs", "const END: u8 = 0x80;"),
        ("novel.rs", "use crate::Protocol;"),
        ("protocol/a.rs", "use super::b::x;"),
        ("protocol/b/mod.rs", "mod inner;"),
        ("protocol/b/inner.rs", "use super::super::c; use super::y;"),
        ("protocol/c.rs", "use crate::protocol::a;"),
        ("protocol/mod.rs", "mod a; mod b; mod c; macro_rules! m { () => { $crate::schemes::siv::open(0x80) } } pub(crate) fn f() {}"),
        ("schemes/mod.rs", "pub mod aead;"),
        ("schemes/aead.rs", "use crate::{Protocol, TAG_LEN}; mod inner { use super::super::super::adapters::x; }"),
    ] {
        fs::write(folder.join(file), text).unwrap();
    }
    assert_eq!(
        uses(&folder).wrong(),
        [
            "backend (backend) uses aead::seal (schemes)",
            "backend (backend) uses duplex (duplex)",
            "backend (backend) uses duplex::Duplex (duplex)",
            "duplex (duplex) uses A (schemes)",
            "novel: is in no layer",
            "protocol (protocol) uses schemes::siv::open (schemes)",
            "schemes::aead::inner (schemes) uses adapters::x (adapters)",
        ]
    );
    assert_eq!(uses(&folder).framing_elsewhere(), ["protocol: 0x80"]);
    assert_eq!(
        uses(&folder).circles(),
        ["protocol::{a, b, c}", "{protocol, schemes}"]
    );
}

/// Generated files are included in a module, where such a line cannot stand.
const WITHOUT_LINE: &str = "declarations.rs";

#[test]
fn every_module_says_what_it_is_for() {
    let folders = [
        "benches", "examples", "fuzz", "proofs", "rust", "site", "spec", "tests",
    ];
    let mut files: Vec<PathBuf> = folders.into_iter().flat_map(files_under).collect();
    files.retain(|path| {
        path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with(WITHOUT_LINE)
            && !fs::read_to_string(path).unwrap().starts_with("//! ")
    });
    assert!(files.is_empty(), "without a //! line: {files:#?}");
}
