//! The public items of the crate, read from its sources.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Ident, ImplItem, Item, ItemImpl, ItemMacro, TraitItem, Type, UseTree, Visibility};

/// The path of a module or an item inside the crate.
type ItemPath = Vec<String>;

/// Foreign macros that are called in item position and define nothing public: `include` reads the kernels'
/// declarations.
const FOREIGN_MACROS: [&str; 3] = ["cpufeatures::new", "global_asm", "include"];

/// What is implemented for a type of these, named by its whole path, is no item of ours.
const STANDARD_CRATES: [&str; 3] = ["alloc", "core", "std"];

#[derive(Default)]
struct Sources {
    /// The items of each module, macros expanded.
    modules: BTreeMap<ItemPath, Vec<Item>>,
    /// Matcher and transcriber of each `macro_rules!`.
    macros: BTreeMap<String, String>,
}

/// Every public item: `digest::Hasher::update`, `Error::Verification`, `Label as TryFrom`, `label!`.
///
/// Includes the items of all Cargo features and targets, but no derived implementations.
pub fn items(lib: &Path) -> BTreeSet<String> {
    let mut sources = Sources::default();
    sources.load(lib, &lib.with_file_name(""), vec![]);
    sources.expand();

    let mut public = BTreeMap::new();
    sources.exports(&vec![], &[], &mut public);
    // An alias is another name for its type.
    for (path, names) in public.clone() {
        if let Some(Item::Type(alias)) = sources.definition(&path)
            && let target = type_path(&alias.ty)
            && !target.is_empty()
        {
            // A type from another crate has no items here.
            if let Some(target) = sources.find(&path[..path.len() - 1].to_vec(), &target) {
                public.entry(target).or_default().extend(names);
            }
        }
    }
    let mut items: BTreeSet<String> = public.values().flatten().cloned().collect();

    for (path, names) in &public {
        let Some(ident) = path.last() else { continue };
        let definition = sources.definition(path);
        if let Some(Item::Enum(item)) = definition {
            for (name, variant) in product(names, &item.variants) {
                items.insert(format!("{name}::{}", variant.ident));
            }
        }
        if let Some(Item::Trait(item)) = definition {
            for (name, member) in product(names, item.items.iter().map(trait_member)) {
                items.insert(format!("{name}::{member}"));
            }
        }
        if matches!(definition, Some(Item::Union(_))) {
            panic!("{ident}: public unions are not supported: extend tests/assurance/inventory/public.rs");
        }
        // An alias that fixes an argument of a type may have its own implementations.
        if !matches!(definition, Some(Item::Struct(_) | Item::Enum(_) | Item::Type(_))) {
            continue;
        }
        let implementations = sources
            .modules
            .iter()
            .flat_map(|(module, items)| items.iter().map(move |item| (module, item)));
        for (module, item) in implementations {
            if let Item::Impl(item) = item
                && let self_path = type_path(&item.self_ty)
                && self_path.last() == Some(ident)
                && !STANDARD_CRATES.contains(&self_path[0].as_str())
                && sources.resolve(module, &self_path) == *path
            {
                if item
                    .trait_
                    .as_ref()
                    .is_some_and(|(path, _)| sources.is_private_trait(path))
                {
                    continue;
                }
                for (name, member) in product(names, &members(item)) {
                    items.insert(format!("{name}{member}"));
                }
            }
        }
    }
    for item in sources.modules.values().flatten() {
        if let Item::Macro(item) = item
            && item.attrs.iter().any(|a| a.path().is_ident("macro_export"))
            && let Some(ident) = &item.ident
        {
            items.insert(format!("{ident}!"));
        }
    }
    items
}

impl Sources {
    /// Reads a file and the modules that it declares, which are in `folder`.
    fn load(&mut self, file: &Path, folder: &Path, path: ItemPath) {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        self.add(parsed.items, folder, path);
    }

    fn add(&mut self, items: Vec<Item>, folder: &Path, path: ItemPath) {
        let items: Vec<Item> = items
            .into_iter()
            .filter(|item| !is_test(attributes(item)))
            .collect();
        for item in &items {
            if let Item::Mod(module) = item {
                assert!(
                    !module.attrs.iter().any(|a| a.path().is_ident("path")),
                    "{path:?}: a module with #[path]"
                );
                let name = module.ident.to_string();
                let inner = [path.as_slice(), std::slice::from_ref(&name)].concat();
                let inner_folder = folder.join(&name);
                if let Some((_, items)) = &module.content {
                    self.add(items.clone(), &inner_folder, inner);
                } else {
                    let files: [PathBuf; 2] =
                        [folder.join(format!("{name}.rs")), inner_folder.join("mod.rs")];
                    let file = files
                        .iter()
                        .find(|file| file.is_file())
                        .unwrap_or_else(|| panic!("no {files:?}"));
                    self.load(file, &inner_folder, inner);
                }
            }
            if let Item::Macro(ItemMacro {
                ident: Some(ident),
                mac,
                ..
            }) = item
            {
                self.macros
                    .insert(ident.to_string(), mac.tokens.to_string().replace("$ ", "$"));
            }
        }
        self.modules.entry(path).or_default().extend(items);
    }

    /// Replaces calls of the crate's macros with what they define, if that may be public.
    fn expand(&mut self) {
        let macros = &self.macros;
        for items in self.modules.values_mut() {
            let expansions: Vec<Item> = items
                .iter()
                .filter_map(|item| match item {
                    Item::Macro(item) if item.ident.is_none() => Some(&item.mac),
                    _ => None,
                })
                .flat_map(|call| {
                    let segments: Vec<_> = call.path.segments.iter().map(|s| s.ident.to_string()).collect();
                    let name = segments.last().unwrap();
                    if FOREIGN_MACROS.contains(&segments.join("::").as_str()) {
                        return Vec::new();
                    }
                    let rules = macros
                        .get(name)
                        .unwrap_or_else(|| panic!("{name}!: an unknown macro"));
                    // Other macros may implement a trait.
                    if has_public(rules)
                        || repeated(rules).is_some()
                        || rules.replace(' ', "").starts_with("($name:ident,[")
                    {
                        expansion(name, rules, &call.tokens.to_string())
                    } else {
                        Vec::new()
                    }
                })
                .collect();
            items.extend(expansions);
        }
    }

    /// Collects the names under which the items of a public module are reachable, by the path of the definition.
    fn exports(&self, module: &ItemPath, name: &[String], public: &mut BTreeMap<ItemPath, BTreeSet<String>>) {
        for item in &self.modules[module] {
            let (visibility, ident) = match item {
                Item::Const(i) => (&i.vis, &i.ident),
                Item::Enum(i) => (&i.vis, &i.ident),
                Item::Fn(i) => (&i.vis, &i.sig.ident),
                Item::Mod(i) => (&i.vis, &i.ident),
                Item::Static(i) => (&i.vis, &i.ident),
                Item::Struct(i) => (&i.vis, &i.ident),
                Item::Trait(i) => (&i.vis, &i.ident),
                Item::Type(i) => (&i.vis, &i.ident),
                Item::Union(i) => (&i.vis, &i.ident),
                // With a colon in front it is another crate, whose items are not ours.
                Item::Use(i) if is_public(&i.vis) && i.leading_colon.is_none() => {
                    for (path, ident) in leaves(&i.tree, vec![]) {
                        let name = [name, &[ident]].concat();
                        let whole = absolute(module, &path);
                        if self.modules.contains_key(&whole) {
                            self.exports(&whole, &name, public);
                            continue;
                        }
                        let path = self.resolve(module, &path);
                        public.entry(path).or_default().insert(name.join("::"));
                    }
                    continue;
                }
                _ => continue,
            };
            if is_public(visibility) {
                let path = [module.as_slice(), &[ident.to_string()]].concat();
                let name = [name, &[ident.to_string()]].concat();
                if matches!(item, Item::Mod(_)) {
                    self.exports(&path, &name, public);
                } else {
                    public.entry(path).or_default().insert(name.join("::"));
                }
            }
        }
    }

    /// Where the item that a `use` in this module names is defined.
    fn resolve(&self, module: &ItemPath, path: &[String]) -> ItemPath {
        self.find(module, path)
            .unwrap_or_else(|| panic!("{path:?} in {module:?}: not found"))
    }

    /// [`Sources::resolve`], if it is in this crate.
    fn find(&self, module: &ItemPath, path: &[String]) -> Option<ItemPath> {
        let path = absolute(module, path);
        if self.definition(&path).is_some() {
            return Some(path);
        }
        let (ident, module) = path.split_last().unwrap();
        let module = module.to_vec();
        if !self.modules.contains_key(&module) {
            // A module that the root re-exports.
            let (again, _) = self.uses(&Vec::new()).find(|(_, name)| *name == path[0])?;
            return self.find(&Vec::new(), &[again.as_slice(), &path[1..]].concat());
        }
        let (again, _) = self.uses(&module).find(|(_, name)| name == ident)?;
        self.find(&module, &again)
    }

    /// What a module imports, and under which names.
    fn uses(&self, module: &ItemPath) -> impl Iterator<Item = (Vec<String>, String)> {
        self.modules
            .get(module)
            .into_iter()
            .flatten()
            .flat_map(|item| match item {
                Item::Use(i) => leaves(&i.tree, vec![]),
                _ => Vec::new(),
            })
    }

    /// Whether the crate has a private trait of this name, which callers cannot use.
    fn is_private_trait(&self, path: &syn::Path) -> bool {
        self.modules.values().flatten().any(|item| match item {
            Item::Trait(item) => path.is_ident(&item.ident) && !is_public(&item.vis),
            _ => false,
        })
    }

    fn definition(&self, path: &[String]) -> Option<&Item> {
        let (ident, module) = path.split_last()?;
        self.modules.get(module)?.iter().find(|item| {
            let defined = match item {
                Item::Const(i) => &i.ident,
                Item::Enum(i) => &i.ident,
                Item::Fn(i) => &i.sig.ident,
                Item::Static(i) => &i.ident,
                Item::Struct(i) => &i.ident,
                Item::Trait(i) => &i.ident,
                Item::Type(i) => &i.ident,
                Item::Union(i) => &i.ident,
                _ => return false,
            };
            defined == ident
        })
    }
}

/// The absolute path in the crate that a path in this module refers to.
fn absolute(module: &ItemPath, path: &[String]) -> ItemPath {
    match path[0].as_str() {
        "crate" => path[1..].to_vec(),
        "self" => [module.as_slice(), &path[1..]].concat(),
        "super" => [&module[..module.len() - 1], &path[1..]].concat(),
        _ => [module.as_slice(), path].concat(),
    }
}

/// The items that a macro defines, if it has the form `($($x:ident),*) => {$( items )*}` or that of [`adapter`].
fn expansion(name: &str, rules: &str, arguments: &str) -> Vec<Item> {
    if let Some((variables, body)) = adapter(rules) {
        let items = syn::parse_file(&adapted(&variables, body, arguments));
        return items.unwrap_or_else(|e| panic!("{name}!: {e}")).items;
    }
    let (variable, body) = repeated(rules).unwrap_or_else(|| {
        panic!("{name}!: defines public items in a form that tests/assurance/inventory/public.rs cannot read")
    });
    arguments
        .split(',')
        .flat_map(|argument| {
            let text = body.replace(variable, argument.trim());
            syn::parse_file(&text)
                .unwrap_or_else(|e| panic!("{name}!: {e}"))
                .items
        })
        .collect()
}

/// The variable and the transcriber of a macro of that form.
fn repeated(rules: &str) -> Option<(&str, &str)> {
    let (matcher, body) = rules.split_once("=>")?;
    let (variable, rest) = matcher.trim().strip_prefix("($(")?.split_once(':')?;
    let body = body.trim().trim_end_matches(';').trim();
    let body = body.strip_prefix('{')?.strip_suffix('}')?.trim();
    let body = body
        .strip_prefix("$(")?
        .strip_suffix('*')?
        .trim()
        .strip_suffix(')')?;
    (rest.replace(' ', "") == "ident),*)").then_some((variable.trim(), body))
}

/// Variables and transcriber of a macro of the form `($a:kind, [$($b:tt)*], ...) => { items }`.
fn adapter(rules: &str) -> Option<(Vec<String>, &str)> {
    let (matcher, body) = rules.split_once("=>")?;
    let body = body.trim().trim_end_matches(';').trim();
    let body = body.strip_prefix('{')?.strip_suffix('}')?;
    let matcher = matcher.replace(' ', "");
    let variables = matcher
        .strip_prefix('(')?
        .strip_suffix(')')?
        .split(',')
        .map(|part| {
            let list = part
                .strip_prefix("[$(")
                .and_then(|part| part.strip_suffix(":tt)*]"));
            match list {
                Some(name) => Some(format!("$({name})*")),
                None => Some(part.split_once(':')?.0.to_owned()),
            }
        });
    let variables: Vec<String> = variables.collect::<Option<_>>()?;
    let is_plain = |variable: &String| variable.starts_with('$') && !variable.contains(':');
    variables.iter().all(is_plain).then_some((variables, body))
}

/// That transcriber with its variables replaced.
fn adapted(variables: &[String], body: &str, arguments: &str) -> String {
    let arguments: Vec<_> = arguments.parse::<TokenStream>().unwrap().into_iter().collect();
    let arguments = arguments
        .split(|token| matches!(token, TokenTree::Punct(p) if p.as_char() == ','))
        .map(|argument| argument.iter().cloned().collect::<TokenStream>().to_string());
    let mut replacements: Vec<(&String, String)> = variables.iter().zip(arguments).collect();
    replacements.sort_by_key(|(variable, _)| Reverse(variable.len())); // no name begins with one that is replaced before
    let body = body.replace(") *", ")*").replace("$crate", "crate");
    replacements.iter().fold(body, |body, (variable, argument)| {
        let list = argument.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
        let is_list = variable.starts_with("$(");
        body.replace(*variable, list.filter(|_| is_list).unwrap_or(argument))
    })
}

/// Whether a macro contains the word `pub`, other than in `pub(crate)` and the like.
fn has_public(rules: &str) -> bool {
    rules.split("pub ").skip(1).any(|rest| !rest.starts_with('('))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = attribute.to_token_stream().to_string().replace(' ', "");
        text == "#[cfg(test)]" || text.starts_with("#[cfg(all(test,")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

/// The paths that a `use` names, each with its new name.
fn leaves(tree: &UseTree, mut path: ItemPath) -> Vec<(ItemPath, String)> {
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            leaves(&tree.tree, path)
        }
        UseTree::Name(tree) => {
            path.push(tree.ident.to_string());
            vec![(path, tree.ident.to_string())]
        }
        UseTree::Rename(tree) => {
            path.push(tree.ident.to_string());
            vec![(path, tree.rename.to_string())]
        }
        UseTree::Group(tree) => tree.items.iter().flat_map(|t| leaves(t, path.clone())).collect(),
        // This names an item `*`, which does not exist, so a public glob fails when it is resolved.
        UseTree::Glob(_) => vec![([path, vec!["*".into()]].concat(), "*".into())],
    }
}

/// The path of a type without its arguments, if it has one.
fn type_path(of: &Type) -> ItemPath {
    match of {
        Type::Path(path) => path.path.segments.iter().map(|s| s.ident.to_string()).collect(),
        _ => vec![],
    }
}

/// What an implementation adds to the name of its type.
fn members(item: &ItemImpl) -> Vec<String> {
    if let Some((path, _)) = &item.trait_ {
        return path
            .segments
            .last()
            .map(|segment| format!(" as {}", segment.ident))
            .into_iter()
            .collect();
    }
    item.items
        .iter()
        .filter_map(|item| match item {
            ImplItem::Fn(i) if is_public(&i.vis) => Some(format!("::{}", i.sig.ident)),
            ImplItem::Const(i) if is_public(&i.vis) => Some(format!("::{}", i.ident)),
            ImplItem::Fn(_) | ImplItem::Const(_) => None,
            _ => panic!("an inherent implementation with something other than functions and constants"),
        })
        .collect()
}

fn trait_member(item: &TraitItem) -> &Ident {
    match item {
        TraitItem::Const(i) => &i.ident,
        TraitItem::Fn(i) => &i.sig.ident,
        TraitItem::Type(i) => &i.ident,
        _ => panic!("a trait with something other than constants, functions and types"),
    }
}

fn product<T>(
    names: &BTreeSet<String>,
    of: impl IntoIterator<Item = T> + Clone,
) -> impl Iterator<Item = (&String, T)> {
    names
        .iter()
        .flat_map(move |name| of.clone().into_iter().map(move |member| (name, member)))
}
