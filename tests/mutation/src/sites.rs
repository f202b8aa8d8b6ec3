//! The places in a source file that can be mutated, and their mutants.

use std::cmp::Reverse;
use std::ops::Range;
use std::path::{Path, PathBuf};

use proc_macro2::TokenTree;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, BinOp, Block, Expr, ExprBinary, Item, ItemMacro, Lit, Pat, ReturnType, Signature, Stmt, Type,
    UnOp,
};

/// How a mutant gets into the text.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// An expression, replaced by another.
    Expression,
    /// A statement that is left out.
    Statement,
    /// The arm of a match that is never taken: a guard is inserted here.
    Arm,
    /// The body of a function that returns at once: inserted here.
    Return,
}

#[derive(Clone, Debug)]
pub struct Site {
    pub range: Range<usize>,
    pub form: Form,
    /// What stands there instead, and how the list of mutants describes it.
    pub alternatives: Vec<(String, String)>,
}

/// A function that can be mutated.
#[derive(Debug)]
pub struct Function {
    pub name: String,
    /// The last part of that name.
    pub own_name: String,
    pub body: Range<usize>,
    /// The word `const` before it, which does not go together with a choice at run time.
    pub constant: Option<Range<usize>>,
    /// Whether the body may be there twice, once as it was: a function that returns an `impl` has one type only.
    pub twice: bool,
    pub sites: Vec<Site>,
    /// Whether this build compiles it.
    pub compiled: bool,
}

/// A source file.
#[derive(Debug)]
pub struct File {
    pub path: PathBuf,
    pub text: String,
    pub functions: Vec<Function>,
    /// Bodies of macros that could not be parsed.
    pub unparsed: Vec<String>,
}

/// What `cfg` attributes are answered with.
#[derive(Debug, Default)]
pub struct Configuration {
    /// As rustc prints them: `unix`, `target_arch="x86_64"`.
    pub set: Vec<String>,
}

#[derive(Clone, Copy)]
enum Build {
    Here { test: bool },
    Elsewhere,
}

impl Configuration {
    fn holds(&self, predicate: &syn::Meta, build: Build) -> bool {
        let list = |list: &syn::MetaList| {
            list.parse_args_with(syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated)
                .map(|list| list.into_iter().collect::<Vec<_>>())
                .unwrap_or_default()
        };
        let name = predicate
            .path()
            .get_ident()
            .map(ToString::to_string)
            .unwrap_or_default();
        match (predicate, name.as_str()) {
            (syn::Meta::List(inner), "all") => list(inner).iter().all(|inner| self.holds(inner, build)),
            (syn::Meta::List(inner), "any") => list(inner).iter().any(|inner| self.holds(inner, build)),
            (syn::Meta::List(inner), "not") => match build {
                // Some build does not have it.
                Build::Elsewhere => true,
                Build::Here { .. } => !list(inner).iter().any(|inner| self.holds(inner, build)),
            },
            (_, "test") => matches!(build, Build::Here { test: true }),
            (_, "doctest" | "docsrs") => false,
            _ if matches!(build, Build::Elsewhere) => true,
            (syn::Meta::NameValue(_), "feature") => true,
            (syn::Meta::NameValue(pair), _) => {
                let syn::Expr::Lit(syn::ExprLit {
                    lit: Lit::Str(value), ..
                }) = &pair.value
                else {
                    return false;
                };
                self.set.contains(&format!("{name}=\"{}\"", value.value()))
            }
            _ => self.set.contains(&name),
        }
    }

    fn all(&self, attributes: &[Attribute], build: Build) -> bool {
        attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("cfg"))
            .all(|attribute| {
                attribute
                    .parse_args()
                    .is_ok_and(|predicate| self.holds(&predicate, build))
            })
    }

    /// Whether this is part of the library in some build, and not of its tests.
    fn is_product(&self, attributes: &[Attribute]) -> bool {
        self.all(attributes, Build::Elsewhere)
    }

    fn is_compiled(&self, attributes: &[Attribute]) -> bool {
        self.all(attributes, Build::Here { test: false }) || self.all(attributes, Build::Here { test: true })
    }
}

/// The files of a crate, from its root, with their mutants. Paths are relative to `tree`.
pub fn of_crate(tree: &Path, root: &Path, configuration: &Configuration) -> Vec<File> {
    let mut files = Vec::new();
    load(tree, root, true, true, configuration, &mut files);
    files.sort_by(|a: &File, b| a.path.cmp(&b.path));
    files
}

fn load(
    tree: &Path,
    path: &Path,
    root: bool,
    compiled: bool,
    configuration: &Configuration,
    files: &mut Vec<File>,
) {
    let text = std::fs::read_to_string(tree.join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let parsed = syn::parse_file(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let parent = path.parent().unwrap();
    let own = if root || path.ends_with("mod.rs") {
        parent.to_owned()
    } else {
        path.with_extension("")
    };
    modules(
        &parsed.items,
        &own,
        compiled,
        configuration,
        &mut |path, compiled| {
            load(tree, &path, false, compiled, configuration, files);
        },
        tree,
    );
    let mut finder = Finder::new(&text, 0, configuration, compiled);
    finder.visit_file(&parsed);
    let (functions, unparsed) = (finder.functions, finder.unparsed);
    files.push(File {
        path: path.to_owned(),
        functions,
        unparsed,
        text,
    });
}

fn modules(
    items: &[Item],
    folder: &Path,
    compiled: bool,
    configuration: &Configuration,
    found: &mut impl FnMut(PathBuf, bool),
    tree: &Path,
) {
    for item in items {
        let Item::Mod(module) = item else { continue };
        if !configuration.is_product(&module.attrs) {
            continue;
        }
        let compiled = compiled && configuration.is_compiled(&module.attrs);
        let own = folder.join(module.ident.to_string());
        if let Some((_, items)) = &module.content {
            modules(items, &own, compiled, configuration, found, tree);
        } else {
            let file = own.with_extension("rs");
            found(
                if tree.join(&file).exists() {
                    file
                } else {
                    own.join("mod.rs")
                },
                compiled,
            );
        }
    }
}

struct Finder<'a> {
    text: &'a str,
    /// Where the parsed text begins in the file.
    offset: usize,
    configuration: &'a Configuration,
    compiled: bool,
    scope: Vec<String>,
    functions: Vec<Function>,
    unparsed: Vec<String>,
    /// The function that sites belong to, and how deep in functions this is.
    depth: usize,
    sites: Vec<Site>,
    /// The expressions around this one.
    around: Vec<Range<usize>>,
}

impl<'a> Finder<'a> {
    fn new(text: &'a str, offset: usize, configuration: &'a Configuration, compiled: bool) -> Self {
        Self {
            text,
            offset,
            configuration,
            compiled,
            scope: Vec::new(),
            functions: Vec::new(),
            unparsed: Vec::new(),
            depth: 0,
            sites: Vec::new(),
            around: Vec::new(),
        }
    }

    fn range(&self, node: &impl Spanned) -> Range<usize> {
        let range = node.span().byte_range();
        range.start + self.offset..range.end + self.offset
    }

    fn source(&self, node: &impl Spanned) -> &'a str {
        &self.text[self.range(node)]
    }

    fn add(&mut self, range: Range<usize>, form: Form, alternatives: Vec<(String, String)>) {
        if self.depth > 0 && !alternatives.is_empty() {
            self.sites.push(Site {
                range,
                form,
                alternatives,
            });
        }
    }

    /// An expression and what may stand there instead.
    fn replace(&mut self, node: &impl Spanned, with: impl IntoIterator<Item = String>) {
        let source = self.source(node);
        let with = with
            .into_iter()
            .map(|with| (with.clone(), format!("{} => {}", short(source), short(&with))));
        self.add(self.range(node), Form::Expression, with.collect());
    }

    fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        let own_name = signature.ident.to_string();
        self.scope.push(own_name.clone());
        let outer = self.depth;
        if outer > 0 {
            // One inside of another belongs to it.
            self.visit_block(block);
            self.scope.pop();
            return;
        }
        self.depth += 1;
        let returns = match &signature.output {
            ReturnType::Default => "()".to_owned(),
            ReturnType::Type(_, ty) => self.source(ty).to_owned(),
        };
        let body = self.range(block);
        if !block.stmts.is_empty() {
            let source = short(
                self.source(block)
                    .trim_start_matches('{')
                    .trim_end_matches('}')
                    .trim(),
            );
            let values = match &signature.output {
                ReturnType::Default => vec!["()".to_owned()],
                ReturnType::Type(_, ty) => values(ty),
            };
            let values = values
                .into_iter()
                .filter(|value| *value != source)
                .map(|value| (format!("return {value};"), format!("body => {value}")));
            self.add(body.start + 1..body.start + 1, Form::Return, values.collect());
        }
        self.visit_block(block);
        // The last expression of a function that returns nothing is a statement.
        if returns == "()"
            && let Some(Stmt::Expr(last, None)) = block.stmts.last()
            && block.stmts.len() > 1
            && !matches!(last, Expr::ForLoop(_))
        {
            self.leave_out(last);
        }
        self.depth -= 1;
        let mut sites = std::mem::take(&mut self.sites);
        sites.sort_by_key(|site| (site.range.start, !site.range.is_empty(), Reverse(site.range.end)));
        self.functions.push(Function {
            name: self.scope.join("::"),
            own_name,
            body,
            constant: signature.constness.map(|word| self.range(&word)),
            twice: !(returns.contains("impl ") && returns != "()"),
            sites,
            compiled: self.compiled && self.configuration.is_compiled(attributes),
        });
        self.scope.pop();
    }

    /// A condition is always true, or always false. What follows a `let` in it is a condition as well.
    fn condition(&mut self, condition: &Expr) {
        match condition {
            Expr::Binary(ExprBinary {
                left,
                op: BinOp::And(_),
                right,
                ..
            }) if has_let(left) || has_let(right) => {
                self.condition(left);
                self.condition(right);
            }
            Expr::Let(_) | Expr::Lit(_) => {}
            Expr::Macro(inner) if inner.mac.path.is_ident("cfg") => {}
            _ => self.replace(condition, ["true".to_owned(), "false".to_owned()]),
        }
    }

    fn other_literal(&self, literal: &Lit) -> Option<String> {
        Some(match literal {
            Lit::Int(number) => {
                let next = number.base10_parse::<u128>().ok()?.checked_add(1)?;
                let is_hex = self.source(literal).starts_with("0x");
                let digits = if is_hex {
                    format!("{next:#x}")
                } else {
                    next.to_string()
                };
                digits + number.suffix()
            }
            Lit::Bool(value) => (!value.value).to_string(),
            Lit::Byte(byte) => format!("{}u8", byte.value() ^ 1),
            _ => return None,
        })
    }

    fn leave_out(&mut self, expression: &Expr) {
        let called = match expression {
            Expr::Try(inner) => &*inner.expr,
            Expr::Await(inner) => &*inner.base,
            inner => inner,
        };
        let fits = match called {
            Expr::MethodCall(_) | Expr::Call(_) | Expr::Assign(_) | Expr::ForLoop(_) => true,
            Expr::Binary(inner) => assignment(&inner.op).is_some(),
            _ => false,
        };
        if fits {
            let mut range = self.range(expression);
            if let Some(last) = attributes_of(expression).last() {
                range.start = self.range(last).end;
            }
            let what = short(&self.text[range.clone()]);
            self.add(
                range,
                Form::Statement,
                vec![(String::new(), format!("{what} => nothing"))],
            );
        }
    }

    fn macro_body(&mut self, name: &str, range: Range<usize>) {
        let text = plain(&self.text[range.clone()]);
        let mut inner = Finder::new(self.text, range.start, self.configuration, self.compiled);
        inner.scope = self.scope.clone();
        inner.scope.push(format!("{name}!"));
        if let Ok(file) = syn::parse_file(&text) {
            inner.visit_file(&file);
        } else {
            self.unparsed.push(format!("{name}!"));
        }
        self.functions.append(&mut inner.functions);
        self.unparsed.append(&mut inner.unparsed);
    }
}

/// The body of a macro as if it were written out once: without the signs of repetitions, and with `_` for `$`. It has
/// the same length, so that places stay.
fn plain(body: &str) -> String {
    let mut bytes = body.as_bytes().to_vec();
    // For each open parenthesis: whether it begins a repetition.
    let mut open = Vec::new();
    for i in 0..bytes.len() {
        match bytes[i] {
            b'(' => {
                let repeats = i > 0 && bytes[i - 1] == b'$';
                if repeats {
                    bytes[i - 1..=i].fill(b' ');
                }
                open.push(repeats);
            }
            b')' if open.pop() == Some(true) => {
                let sign = if matches!(bytes.get(i + 1), Some(b'*' | b'+' | b'?')) {
                    1
                } else {
                    2
                };
                let end = (i + sign).min(bytes.len() - 1);
                bytes[i..=end].fill(b' ');
            }
            _ => {}
        }
    }
    String::from_utf8(bytes)
        .expect("only ASCII was replaced")
        .replace('$', "_")
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(inner) => has_let(&inner.left) || has_let(&inner.right),
        _ => false,
    }
}

/// A name in a pattern matches anything, if it is not one like `None`.
fn matches_anything(pattern: &Pat) -> bool {
    match pattern {
        Pat::Wild(_) => true,
        Pat::Ident(inner) => !inner.ident.to_string().starts_with(char::is_uppercase),
        _ => false,
    }
}

fn attributes_of(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::MethodCall(inner) => &inner.attrs,
        Expr::Call(inner) => &inner.attrs,
        Expr::Assign(inner) => &inner.attrs,
        Expr::ForLoop(inner) => &inner.attrs,
        Expr::Binary(inner) => &inner.attrs,
        Expr::Try(inner) => &inner.attrs,
        Expr::Await(inner) => &inner.attrs,
        _ => &[],
    }
}

/// In one line, with a space where there was space.
pub fn short(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= 100 {
        return text;
    }
    let characters: Vec<char> = text.chars().collect();
    let part = |range: Range<usize>| characters[range].iter().collect::<String>();
    format!(
        "{}...{}",
        part(0..60),
        part(characters.len() - 30..characters.len())
    )
}

/// The values that a function of this type could return without doing anything.
fn values(ty: &Type) -> Vec<String> {
    let of = |wrapped: &str, inner: &Type| -> Vec<String> {
        values(inner)
            .iter()
            .map(|value| format!("{wrapped}({value})"))
            .collect()
    };
    match ty {
        Type::Tuple(tuple) if tuple.elems.is_empty() => vec!["()".to_owned()],
        Type::Never(_) | Type::ImplTrait(_) | Type::Tuple(_) => Vec::new(),
        Type::Array(array) => values(&array.elem)
            .iter()
            .map(|value| format!("[{value}; _]"))
            .collect(),
        Type::Reference(reference) => match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => vec!["\"\"".to_owned()],
            Type::Slice(_) => vec!["Default::default()".to_owned()],
            _ => Vec::new(),
        },
        Type::Path(path) => {
            let Some(last) = path.path.segments.last() else {
                return Vec::new();
            };
            let argument = match &last.arguments {
                syn::PathArguments::AngleBracketed(list) => {
                    list.args.iter().find_map(|argument| match argument {
                        syn::GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    })
                }
                _ => None,
            };
            match (last.ident.to_string().as_str(), argument) {
                ("bool", _) => vec!["true".to_owned(), "false".to_owned()],
                ("u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i32" | "i64", _) => {
                    vec!["0".to_owned(), "1".to_owned()]
                }
                ("Choice", _) => vec![
                    "subtle::Choice::from(0)".to_owned(),
                    "subtle::Choice::from(1)".to_owned(),
                ],
                ("Option", Some(inner)) => {
                    let mut all = vec!["None".to_owned()];
                    all.append(&mut of("Some", inner));
                    all
                }
                ("Result", Some(inner)) => of("Ok", inner),
                ("Poll", Some(inner)) => of("core::task::Poll::Ready", inner),
                ("Result", None) => vec!["Ok(())".to_owned()],
                _ => vec!["Default::default()".to_owned()],
            }
        }
        _ => Vec::new(),
    }
}

/// The operator of an assignment, and another.
fn assignment(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::AddAssign(_) => "-=",
        BinOp::SubAssign(_) => "+=",
        BinOp::MulAssign(_) => "+=",
        BinOp::DivAssign(_) => "*=",
        BinOp::RemAssign(_) => "/=",
        BinOp::BitXorAssign(_) => "|=",
        BinOp::BitAndAssign(_) => "|=",
        BinOp::BitOrAssign(_) => "&=",
        BinOp::ShlAssign(_) => ">>=",
        BinOp::ShrAssign(_) => "<<=",
        _ => return None,
    })
}

fn others(op: &BinOp) -> &'static [&'static str] {
    match op {
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) => &["+"],
        BinOp::Mul(_) => &["+"],
        BinOp::Div(_) => &["*"],
        BinOp::Rem(_) => &["/"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::BitXor(_) => &["|"],
        BinOp::BitAnd(_) => &["|"],
        BinOp::BitOr(_) => &["&"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", ">="],
        BinOp::Le(_) => &["<", ">"],
        BinOp::Ge(_) => &[">", "<"],
        BinOp::Gt(_) => &[">=", "<="],
        _ => &[],
    }
}

/// A method that takes and returns the same.
fn other_method(name: &str) -> Option<&'static str> {
    Some(match name {
        "min" => "max",
        "max" => "min",
        "all" => "any",
        "any" => "all",
        "first" => "last",
        "last" => "first",
        "rotate_left" => "rotate_right",
        "rotate_right" => "rotate_left",
        "wrapping_add" => "wrapping_sub",
        "wrapping_sub" => "wrapping_add",
        "checked_add" => "checked_sub",
        "checked_sub" => "checked_add",
        "saturating_sub" => "saturating_add",
        "saturating_add" => "saturating_sub",
        "to_le_bytes" => "to_be_bytes",
        "to_be_bytes" => "to_le_bytes",
        "is_some" => "is_none",
        "is_none" => "is_some",
        "is_ok" => "is_err",
        "is_err" => "is_ok",
        "starts_with" => "ends_with",
        "ends_with" => "starts_with",
        "div_ceil" => "wrapping_div",
        _ => return None,
    })
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Fn(inner) => &inner.attrs,
            Item::Impl(inner) => &inner.attrs,
            Item::Mod(inner) => &inner.attrs,
            Item::Trait(inner) => &inner.attrs,
            Item::Macro(inner) => &inner.attrs,
            _ => return,
        };
        if !self.configuration.is_product(attributes) {
            return;
        }
        let outer = self.compiled;
        self.compiled &= self.configuration.is_compiled(attributes);
        visit::visit_item(self, item);
        self.compiled = outer;
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.content.is_some() {
            self.scope.push(module.ident.to_string());
            visit::visit_item_mod(self, module);
            self.scope.pop();
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let ty = self.source(&*item.self_ty).to_owned();
        self.scope.push(match &item.trait_ {
            Some((_, path, _)) => format!("<{} as {}>", short(&ty), short(self.source(path))),
            None => short(&ty),
        });
        visit::visit_item_impl(self, item);
        self.scope.pop();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.scope.push(item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.scope.pop();
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if self.configuration.is_product(&item.attrs) {
            self.function(&item.attrs, &item.sig, &item.block);
        }
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &item.sig, block);
        }
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        // What other crates expand cannot ask this one which mutant runs.
        let Some(name) = &item.ident else { return };
        if self.depth > 0
            || item
                .attrs
                .iter()
                .any(|attribute| attribute.path().is_ident("macro_export"))
        {
            return;
        }
        let mut tokens = item.mac.tokens.clone().into_iter().peekable();
        while let Some(token) = tokens.next() {
            // `(pattern) => { body }`
            let TokenTree::Punct(arrow) = &token else { continue };
            if arrow.as_char() != '>' {
                continue;
            }
            if let Some(TokenTree::Group(group)) = tokens.next() {
                let range = self.range(&group.span_open()).end..self.range(&group.span_close()).start;
                self.macro_body(&name.to_string(), range);
            }
        }
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        let attributes: &[Attribute] = match statement {
            Stmt::Local(inner) => &inner.attrs,
            Stmt::Expr(inner, _) => attributes_of(inner),
            Stmt::Macro(_) => return,
            Stmt::Item(_) => &[],
        };
        if !self.configuration.is_product(attributes) || !self.configuration.is_compiled(attributes) {
            return;
        }
        if let Stmt::Expr(expression, end) = statement
            && (end.is_some() || matches!(expression, Expr::ForLoop(_)))
        {
            self.leave_out(expression);
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Const(_) => return,
            Expr::Macro(inner) => {
                if inner
                    .mac
                    .path
                    .segments
                    .last()
                    .is_some_and(|last| last.ident == "label")
                {
                    let source = self.source(expression);
                    if let Some(end) = source.rfind('"') {
                        self.replace(expression, [format!("{}!{}", &source[..end], &source[end..])]);
                    }
                }
                return;
            }
            Expr::Lit(inner) => {
                if let Some(with) = self.other_literal(&inner.lit) {
                    let range = self.range(expression);
                    let around = short(&self.text[self.around.last().unwrap_or(&range).clone()]);
                    let what = format!("{} => {with} in {around}", &self.text[range.clone()]);
                    self.add(range, Form::Expression, vec![(with, what)]);
                }
                return;
            }
            Expr::Binary(inner) => {
                let (left, right) = (self.source(&*inner.left), self.source(&*inner.right));
                let all: Vec<&str> = match assignment(&inner.op) {
                    Some(other) => vec![other],
                    None if matches!(inner.op, BinOp::And(_)) && has_let(expression) => Vec::new(),
                    None => others(&inner.op).to_vec(),
                };
                let is_assignment = assignment(&inner.op).is_some();
                let with = all.iter().map(|other| {
                    let left = if is_assignment {
                        left.to_owned()
                    } else {
                        format!("({left})")
                    };
                    format!("{left} {other} ({right})")
                });
                let what = format!("{}: {}", short(self.source(expression)), self.source(&inner.op));
                let both = with
                    .zip(&all)
                    .map(|(with, other)| (with, format!("{what} => {other}")))
                    .collect();
                let mut range = self.range(expression);
                if let Some(last) = inner.attrs.last() {
                    range.start = self.range(last).end;
                }
                self.add(range, Form::Expression, both);
            }
            Expr::Unary(inner) if matches!(inner.op, UnOp::Not(_) | UnOp::Neg(_)) => {
                let with = self.source(&*inner.expr).to_owned();
                self.replace(expression, [with]);
            }
            Expr::MethodCall(inner) if inner.attrs.is_empty() => {
                if let Some(other) = other_method(&inner.method.to_string()) {
                    let (all, name) = (self.range(expression), self.range(&inner.method));
                    let with = format!(
                        "{}{other}{}",
                        &self.text[all.start..name.start],
                        &self.text[name.end..all.end]
                    );
                    let what = format!("{} => {other}", short(&self.text[all.clone()]));
                    self.add(all, Form::Expression, vec![(with, what)]);
                }
            }
            Expr::Call(inner) => {
                let function = self.range(&*inner.func);
                let name = &self.text[function.clone()];
                let other = match name.rsplit("::").next() {
                    Some("from_le_bytes") => "from_be_bytes",
                    Some("from_be_bytes") => "from_le_bytes",
                    _ => "",
                };
                if !other.is_empty() {
                    let all = self.range(expression);
                    let start = function.end - other.len();
                    let with = format!(
                        "{}{other}{}",
                        &self.text[all.start..start],
                        &self.text[function.end..all.end]
                    );
                    let what = format!("{} => {other}", short(&self.text[all.clone()]));
                    self.add(all, Form::Expression, vec![(with, what)]);
                }
            }
            Expr::If(inner) => self.condition(&inner.cond),
            Expr::While(inner) => self.condition(&inner.cond),
            Expr::Match(inner) => {
                let last = inner.arms.len().saturating_sub(1);
                let catches_all =
                    (inner.arms.last()).is_some_and(|arm| arm.guard.is_none() && matches_anything(&arm.pat));
                for (i, arm) in inner.arms.iter().enumerate() {
                    if let Some((_, guard)) = &arm.guard {
                        self.condition(guard);
                    } else if catches_all && i < last {
                        let pattern = self.range(&arm.pat);
                        let what = format!("arm {} => never", short(&self.text[pattern.clone()]));
                        self.add(pattern.end..pattern.end, Form::Arm, vec![(String::new(), what)]);
                    }
                }
            }
            Expr::Repeat(inner) => {
                // The length is a constant.
                self.visit_expr(&inner.expr);
                return;
            }
            _ => {}
        }
        self.around.push(self.range(expression));
        visit::visit_expr(self, expression);
        self.around.pop();
    }

    // Constants and patterns.
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_path(&mut self, _: &'ast syn::Path) {}
    fn visit_generics(&mut self, _: &'ast syn::Generics) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
}
