//! Modules and their items.

use std::collections::BTreeMap;

use quote::quote;
use syn::{Attribute, FnArg, Item, ItemFn, Pat, PatType, ReturnType};

use crate::scope::{Crate, Field, Known, LIBRARY, Scope, only};
use crate::terms::{Function, Variable};
use crate::types::Type;
use crate::{Refusal, terms};

/// What comes before the first module.
pub const HEAD: &str = "(* Written by veriplex-spec-to-rocq from spec/hacspec. *)
From Coq Require Import List NArith.
From Veriplex Require Rust.
Import ListNotations Rust.Notations.
Local Open Scope N_scope.

Section Twin.
";

/// Attributes that do not change what the code does.
fn attributes(all: &[Attribute], derives: bool) -> Result<(), Refusal> {
    for attribute in all {
        let text = quote!(#attribute).to_string();
        let known = attribute.path().is_ident("doc")
            || text.starts_with("# [cfg_attr (veriplex_hax , hax_lib :: requires (")
            || text.starts_with("# [cfg_attr (veriplex_hax , hax_lib :: ensures (")
            || derives && attribute.path().is_ident("derive");
        if !known {
            return Err(Refusal::at(
                attribute,
                format!("an attribute that is not known: {text}"),
            ));
        }
    }
    Ok(())
}

impl Scope<'_> {
    /// Parameters and result of a function.
    fn signature(&self, function: &ItemFn) -> Result<(Vec<Variable>, Type), Refusal> {
        let ItemFn {
            attrs,
            vis,
            sig,
            block,
            ..
        } = function;
        let (name, inputs, output) = (&sig.ident, &sig.inputs, &sig.output);
        only(
            function,
            &quote!(#(#attrs)* #vis fn #name(#inputs) #output #block),
        )?;
        attributes(attrs, false)?;
        let mut parameters = Vec::new();
        for input in inputs {
            let FnArg::Typed(PatType { pat, ty, .. }) = input else {
                return Err(Refusal::at(input, "a parameter that is not known"));
            };
            only(input, &quote!(#pat: #ty))?;
            let Pat::Ident(name) = &**pat else {
                return Err(Refusal::at(pat, "a parameter that is not known"));
            };
            only(pat, &name.ident)?;
            terms::local_name(&name.ident)?;
            parameters.push(Variable::new(&name.ident, self.read_type(ty)?));
        }
        let ReturnType::Type(_, result) = output else {
            return Err(Refusal::at(sig, "a function without a result"));
        };
        Ok((parameters, self.read_type(result)?))
    }
}

impl Crate {
    /// Translates a module; if `given` names a function, only that becomes known, as a variable.
    pub fn module(&mut self, module: &str, source: &str, given: Option<&str>) -> Result<String, Refusal> {
        let file = syn::parse_file(source).map_err(|error| Refusal {
            line: error.span().start().line,
            why: error.to_string(),
        })?;
        attributes(&file.attrs, false)?;
        let (mut used, mut modules, mut library) = (BTreeMap::new(), Vec::new(), Vec::new());
        let mut text = String::new();
        let mut found = false;
        for item in &file.items {
            if let Some(given) = given {
                match item {
                    Item::Type(_) => {}
                    Item::Fn(function) if function.sig.ident == given => found = true,
                    _ => continue,
                }
            }
            let mut scope = Scope {
                crate_: self,
                module: module.to_owned(),
                used,
                modules,
                library,
            };
            let (name, known, written) = scope.item(item, given.is_some())?;
            let record = match (&known, item) {
                (Some(Known::Type(Type::Struct(name))), Item::Struct(item)) => {
                    Some((name.clone(), scope.record(item)?))
                }
                _ => None,
            };
            (used, modules, library) = (scope.used, scope.modules, scope.library);
            if let Some((name, fields)) = record
                && self.structs.insert(name.clone(), fields).is_some()
            {
                return Err(Refusal::at(item, format!("a second structure {name}")));
            }
            if let Some(known) = known {
                if LIBRARY.iter().any(|path| path.rsplit("::").next() == Some(&name))
                    || used.contains_key(&name)
                {
                    return Err(Refusal::at(item, format!("a name that is taken: {name}")));
                }
                if self
                    .items
                    .insert((module.to_owned(), name.clone()), known)
                    .is_some()
                {
                    return Err(Refusal::at(item, format!("a name that is taken: {name}")));
                }
            }
            text += &written;
        }
        match given {
            Some(function) if !found => Err(Refusal {
                line: 1,
                why: format!("there is no function {function}"),
            }),
            _ => Ok(text),
        }
    }
}

impl Scope<'_> {
    /// The fields of a structure.
    fn record(&self, item: &syn::ItemStruct) -> Result<Vec<Field>, Refusal> {
        let mut fields = Vec::new();
        for field in &item.fields {
            let syn::Field { attrs, vis, ty, .. } = field;
            let Some(name) = &field.ident else {
                return Err(Refusal::at(field, "a field without a name"));
            };
            only(field, &quote!(#(#attrs)* #vis #name: #ty))?;
            attributes(attrs, false)?;
            fields.push((name.to_string(), self.read_type(ty)?));
        }
        Ok(fields)
    }

    /// The name of an item, what it is, and its text.
    fn item(&mut self, item: &Item, given: bool) -> Result<(String, Option<Known>, String), Refusal> {
        match item {
            Item::Use(item) => {
                let tree = &item.tree;
                only(item, &quote!(use #tree;))?;
                self.bring_in(tree, "")?;
                Ok((String::new(), None, String::new()))
            }
            Item::Type(item) => {
                let syn::ItemType {
                    attrs,
                    vis,
                    ident,
                    ty,
                    ..
                } = item;
                only(item, &quote!(#(#attrs)* #vis type #ident = #ty;))?;
                attributes(attrs, false)?;
                Ok((
                    ident.to_string(),
                    Some(Known::Type(self.read_type(ty)?)),
                    String::new(),
                ))
            }
            Item::Struct(item) => {
                let syn::ItemStruct {
                    attrs,
                    vis,
                    ident,
                    fields,
                    ..
                } = item;
                only(item, &quote!(#(#attrs)* #vis struct #ident #fields))?;
                attributes(attrs, true)?;
                let of: Vec<String> = self
                    .record(item)?
                    .iter()
                    .map(|(name, of)| format!("{ident}_{name} : {}", of.rocq()))
                    .collect();
                let text = format!(
                    "\nRecord {ident} := make_{ident} {{\n  {}\n}}.\n",
                    of.join(";\n  ")
                );
                Ok((
                    ident.to_string(),
                    Some(Known::Type(Type::Struct(ident.to_string()))),
                    text,
                ))
            }
            Item::Const(item) => {
                let syn::ItemConst {
                    attrs,
                    vis,
                    ident,
                    ty,
                    expr,
                    ..
                } = item;
                only(item, &quote!(#(#attrs)* #vis const #ident: #ty = #expr;))?;
                attributes(attrs, false)?;
                let ty = self.read_type(ty)?;
                let value = terms::constant(self, expr, &ty)?;
                let text = format!(
                    "\nDefinition {}_{ident} : {} := {value}.\n",
                    self.module,
                    ty.rocq()
                );
                let number = value.parse().ok();
                Ok((ident.to_string(), Some(Known::Constant(ty, number)), text))
            }
            Item::Fn(item) => {
                let (parameters, result) = self.signature(item)?;
                let name = item.sig.ident.to_string();
                let rocq = format!("{}_{name}", self.module);
                let known = Known::Function {
                    parameters: parameters.iter().map(|parameter| parameter.ty.clone()).collect(),
                    result: result.clone(),
                    given,
                };
                let text = if given {
                    let types = parameters.iter().map(|parameter| &parameter.ty).chain([&result]);
                    let types: Vec<String> = types.map(Type::rocq).collect();
                    format!("\nVariable {rocq} : {}.\n", types.join(" -> "))
                } else {
                    Function::new(self, &name, &parameters, &result).text(&rocq, &item.block)?
                };
                Ok((name, Some(known), text))
            }
            other => Err(Refusal::at(other, "an item that is not known")),
        }
    }
}
