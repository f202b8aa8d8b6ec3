//! The names that a module can use, and what they mean.

use std::collections::BTreeMap;

use quote::{ToTokens, quote};
use syn::{Expr, UseTree};

use crate::Refusal;
use crate::types::{self, Type};

/// An item that others can use.
#[derive(Debug)]
pub enum Known {
    Type(Type),
    /// The number, if it is one.
    Constant(Type, Option<u64>),
    Function {
        parameters: Vec<Type>,
        result: Type,
        /// A variable: it is not translated, and does not panic.
        given: bool,
    },
}

/// A field: its name and its type.
pub type Field = (String, Type);

/// What has been translated so far.
#[derive(Debug, Default)]
pub struct Crate {
    /// By module and name.
    pub items: BTreeMap<(String, String), Known>,
    pub structs: BTreeMap<String, Vec<Field>>,
}

/// A module on its way: the names that it can use.
#[derive(Debug)]
pub struct Scope<'a> {
    pub crate_: &'a Crate,
    pub module: String,
    /// Names that `use` brings in, each with its place.
    pub used: BTreeMap<String, (String, String)>,
    /// Modules that `use` brings in.
    pub modules: Vec<String>,
    /// Names of `core` and `alloc` that `use` brings in.
    pub library: Vec<String>,
}

/// What of `core` and `alloc` is known.
pub const LIBRARY: [&str; 3] = ["alloc::vec", "alloc::vec::Vec", "core::array::from_fn"];

/// Refuses a node that is more than those parts of it that have been looked at.
pub fn only(node: &(impl ToTokens + syn::spanned::Spanned), parts: &impl ToTokens) -> Result<(), Refusal> {
    let (whole, parts) = (quote!(#node).to_string(), quote!(#parts).to_string());
    if whole == parts {
        Ok(())
    } else {
        Err(Refusal::at(node, format!("a form that is not known: {whole}")))
    }
}

impl Scope<'_> {
    /// The item that a path means, and its name in Rocq.
    pub fn find(&self, path: &str) -> Option<(&Known, String)> {
        let (module, name) = match path.split_once(" :: ") {
            Some((module, name)) if self.modules.iter().any(|used| used == module) => {
                (module.to_owned(), name.to_owned())
            }
            Some(_) => return None,
            None => match self.used.get(path) {
                Some(place) => place.clone(),
                None => (self.module.clone(), path.to_owned()),
            },
        };
        let rocq = format!("{module}_{name}");
        self.crate_.items.get(&(module, name)).map(|item| (item, rocq))
    }

    /// The name in Rocq of this module's item.
    pub fn own(&self, name: &str) -> String {
        format!("{}_{name}", self.module)
    }

    pub fn fields(&self, name: &str) -> Option<&[Field]> {
        self.crate_.structs.get(name).map(Vec::as_slice)
    }

    /// Is this name of `core` or `alloc` in scope?
    pub fn library(&self, path: &str) -> bool {
        self.library.iter().any(|used| used == path)
    }

    pub fn read_type(&self, syntax: &syn::Type) -> Result<Type, Refusal> {
        let named = |name: &str| match self.find(name)?.0 {
            Known::Type(of) => Some(of.clone()),
            _ => None,
        };
        let syntax_of_vec = quote!(#syntax).to_string();
        if syntax_of_vec.contains("Vec") && !self.library("alloc::vec::Vec") {
            return Err(Refusal::at(syntax, "Vec without its use"));
        }
        types::read(syntax, &named, &|length| self.number(length))
    }

    /// The number that an expression for a length is.
    pub fn number(&self, length: &Expr) -> Result<u64, Refusal> {
        let text = quote!(#length).to_string();
        if let Some((Known::Constant(Type::Usize, Some(number)), _)) = self.find(&text) {
            return Ok(*number);
        }
        text.parse()
            .map_err(|_| Refusal::at(length, format!("a length that is not known: {text}")))
    }

    /// Brings names into scope.
    pub fn bring_in(&mut self, tree: &UseTree, path: &str) -> Result<(), Refusal> {
        let joined = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}::{name}")
            }
        };
        match tree {
            UseTree::Path(inner) => self.bring_in(&inner.tree, &joined(&inner.ident.to_string())),
            UseTree::Group(group) => group
                .items
                .iter()
                .try_for_each(|inner| self.bring_in(inner, path)),
            UseTree::Name(name) => {
                let whole = joined(&name.ident.to_string());
                if LIBRARY.contains(&whole.as_str()) {
                    self.library.push(whole);
                    return Ok(());
                }
                let parts: Vec<&str> = whole.split("::").collect();
                match parts.as_slice() {
                    ["crate", module, "self"] => self.modules.push((*module).to_owned()),
                    ["crate", module, name]
                        if self
                            .crate_
                            .items
                            .contains_key(&((*module).to_owned(), (*name).to_owned())) =>
                    {
                        let place = ((*module).to_owned(), (*name).to_owned());
                        self.used.insert((*name).to_owned(), place);
                    }
                    _ => return Err(Refusal::at(tree, format!("a name that is not known: {whole}"))),
                }
                Ok(())
            }
            UseTree::Rename(_) | UseTree::Glob(_) => Err(Refusal::at(tree, "a use that is not known")),
        }
    }
}
