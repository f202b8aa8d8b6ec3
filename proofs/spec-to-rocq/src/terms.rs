//! Functions: statements, and what they share with [`expressions`].

mod expressions;

use std::fmt::Write;

use quote::quote;
use syn::{BinOp, Block, Expr, Ident, Local, Member, Pat, RangeLimits, Stmt};

use crate::Refusal;
use crate::scope::{Scope, only};
use crate::types::Type;

/// A variable of the program.
#[derive(Clone, Debug)]
pub struct Variable {
    name: String,
    pub ty: Type,
    /// May it be assigned to here? Not in a block that gives a value, where the new value would be lost.
    assignable: bool,
}

impl Variable {
    pub fn new(name: &Ident, ty: Type) -> Self {
        let (name, assignable) = (name.to_string(), true);
        Self { name, ty, assignable }
    }
}

/// Writing to a string does not fail.
const WRITES: &str = "a string takes all";

type Variables = Vec<Variable>;

/// What an expression comes to. A term stands alone: it has parentheses if it needs them.
enum Term {
    Value(String),
    /// A value or a panic.
    Outcome(String),
}

/// The end of a block: the function's value, a value of a type, or the variables that a loop changes.
enum End<'a> {
    Function,
    Value(&'a Type),
    Changed(&'a str),
}

/// A function on its way.
pub struct Function<'a> {
    scope: &'a Scope<'a>,
    name: &'a str,
    parameters: &'a [Variable],
    result: &'a Type,
    /// How many names have been made up. An apostrophe tells them from those of the program.
    names: usize,
    recursive: bool,
}

fn refuse<T>(node: &impl syn::spanned::Spanned, why: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::at(node, why))
}

/// Refuses a name with a capital letter: it may be a constant of the program, or in Rocq the name of one.
pub fn local_name(name: &Ident) -> Result<(), Refusal> {
    if name
        .to_string()
        .contains(|letter: char| letter.is_ascii_uppercase())
    {
        return refuse(name, "a name that may be a constant's");
    }
    Ok(())
}

/// `let` in Rocq. A tuple needs an apostrophe before it.
fn bind(word: &str, pattern: &str, term: &str) -> String {
    let mark = if pattern.starts_with('(') { "'" } else { "" };
    format!("{word} {mark}{pattern} := {term} in")
}

fn tuple(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        more => format!("({})", more.join(", ")),
    }
}

/// A block as one term.
fn close(lets: &[String], term: &Term) -> String {
    let last = match term {
        Term::Value(value) => format!("Some {value}"),
        Term::Outcome(outcome) => outcome.clone(),
    };
    let lines: Vec<&str> = lets.iter().map(String::as_str).chain([last.as_str()]).collect();
    lines.join("\n")
}

/// A term in a further line, deeper than what it is part of.
fn indent(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// A constant's value.
pub fn constant(scope: &Scope<'_>, expression: &Expr, ty: &Type) -> Result<String, Refusal> {
    let mut function = Function::new(scope, "", &[], ty);
    let mut lets = Vec::new();
    match function.expression(expression, &Vec::new(), ty, &mut lets)? {
        (Term::Value(value), _) if lets.is_empty() => Ok(value),
        _ => refuse(expression, "a constant that is not a value"),
    }
}

impl<'a> Function<'a> {
    pub fn new(scope: &'a Scope<'a>, name: &'a str, parameters: &'a [Variable], result: &'a Type) -> Self {
        Self {
            scope,
            name,
            parameters,
            result,
            names: 0,
            recursive: false,
        }
    }

    /// The definition. A function that calls itself may do so `Rust.deep` times.
    pub fn text(mut self, rocq: &str, block: &Block) -> Result<String, Refusal> {
        let mut parameters = String::new();
        for parameter in self.parameters {
            write!(parameters, " ({} : {})", parameter.name, parameter.ty.rocq()).expect(WRITES);
        }
        let result = self.result.rocq();
        let (body, _) = self.block(block, &self.parameters.to_vec(), &End::Function)?;
        Ok(if self.recursive {
            format!(
                "\nFixpoint {rocq}_within (depth' : nat){parameters} : Rust.outcome {result} :=\n  match depth' with\n  | O \
                 => None\n  | S depth' =>\n    {}\n  end.\n\nDefinition {rocq} := {rocq}_within Rust.deep.\n",
                indent(&indent(&body))
            )
        } else {
            format!(
                "\nDefinition {rocq}{parameters} : Rust.outcome {result} :=\n  {}.\n",
                indent(&body)
            )
        })
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("t{}'", self.names)
    }

    /// A block, and the type of its value.
    fn block(
        &mut self,
        block: &Block,
        variables: &Variables,
        end: &End<'_>,
    ) -> Result<(String, Type), Refusal> {
        let stmts = &block.stmts;
        only(block, &quote!({ #(#stmts)* }))?;
        self.statements(stmts, block, variables.clone(), end)
    }

    fn statements(
        &mut self,
        statements: &[Stmt],
        whole: &Block,
        mut variables: Variables,
        end: &End<'_>,
    ) -> Result<(String, Type), Refusal> {
        let mut lets = Vec::new();
        for (i, statement) in statements.iter().enumerate() {
            let last = i + 1 == statements.len();
            match (statement, end) {
                (Stmt::Expr(value, None), End::Function | End::Value(_))
                    if last && !matches!(value, Expr::ForLoop(_)) =>
                {
                    let ty = if let End::Value(ty) = end { ty } else { self.result };
                    let (term, ty) = self.expression(value, &variables, ty, &mut lets)?;
                    return Ok((close(&lets, &term), ty));
                }
                (Stmt::Local(local), _) => self.local(local, &mut variables, &mut lets)?,
                (Stmt::Expr(Expr::ForLoop(each), None), _) => {
                    self.for_loop(each, &mut variables, &mut lets)?;
                }
                (Stmt::Expr(Expr::If(branch), None), End::Function) => {
                    let syn::ExprIf {
                        cond, then_branch, ..
                    } = branch;
                    only(branch, &quote!(if #cond #then_branch))?;
                    let [before @ .., Stmt::Expr(Expr::Return(leave), Some(_))] =
                        then_branch.stmts.as_slice()
                    else {
                        return refuse(branch, "an if without else that does not return");
                    };
                    let Some(value) = &leave.expr else {
                        return refuse(leave, "a return without a value");
                    };
                    only(then_branch, &quote!({ #(#before)* return #value; }))?;
                    let (condition, _) = self.value(cond, &variables, &Type::Bool, &mut lets)?;
                    let mut taken = before.to_vec();
                    taken.push(Stmt::Expr((**value).clone(), None));
                    let (taken, _) =
                        self.statements(&taken, then_branch, variables.clone(), &End::Function)?;
                    let (rest, ty) = self.statements(&statements[i + 1..], whole, variables, end)?;
                    let term = format!(
                        "if {condition} then\n  {}\nelse\n  {}",
                        indent(&taken),
                        indent(&rest)
                    );
                    return Ok((close(&lets, &Term::Outcome(term)), ty));
                }
                (Stmt::Expr(change, Some(_)), _) => self.change(change, &mut variables, &mut lets)?,
                (other, _) => return refuse(other, "a statement that is not known here"),
            }
        }
        match end {
            End::Changed(names) => Ok((close(&lets, &Term::Value((*names).to_owned())), Type::Unknown)),
            End::Function | End::Value(_) => refuse(whole, "a block without a value"),
        }
    }

    /// The names of a pattern, which become variables.
    fn pattern(pattern: &Pat, ty: &Type, variables: &mut Variables) -> Result<String, Refusal> {
        match (pattern, ty) {
            (Pat::Ident(name), _) => {
                let (mutability, ident) = (&name.mutability, &name.ident);
                only(name, &quote!(#mutability #ident))?;
                local_name(ident)?;
                variables.push(Variable::new(ident, ty.clone()));
                Ok(ident.to_string())
            }
            (Pat::Tuple(parts), Type::Tuple(of)) if parts.elems.len() == of.len() => {
                let elems = &parts.elems;
                only(parts, &quote!((#elems)))?;
                let names: Result<Vec<String>, Refusal> = elems
                    .iter()
                    .zip(of)
                    .map(|(part, ty)| Self::pattern(part, ty, variables))
                    .collect();
                Ok(tuple(&names?))
            }
            (Pat::Wild(wild), _) => {
                only(wild, &quote!(_))?;
                Ok("_".to_owned())
            }
            _ => refuse(pattern, "a pattern that is not known"),
        }
    }

    fn local(
        &mut self,
        local: &Local,
        variables: &mut Variables,
        lets: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let Some(init) = &local.init else {
            return refuse(local, "a variable without a value");
        };
        let (pat, value) = (&local.pat, &init.expr);
        only(local, &quote!(let #pat = #value;))?;
        let (pat, want) = match pat {
            Pat::Type(typed) => {
                let (pat, ty) = (&typed.pat, &typed.ty);
                only(typed, &quote!(#pat: #ty))?;
                (&**pat, self.scope.read_type(ty)?)
            }
            pat => (pat, Type::Unknown),
        };
        let (term, ty) = self.expression(value, variables, &want, lets)?;
        let name = Self::pattern(pat, &ty, variables)?;
        lets.push(match term {
            Term::Value(value) => bind("let", &name, &value),
            Term::Outcome(outcome) => bind("let?", &name, &outcome),
        });
        Ok(())
    }

    /// The variables of `variables` that statements change.
    fn changed(block: &Block, variables: &Variables) -> Result<Vec<String>, Refusal> {
        let mut names: Vec<String> = Vec::new();
        for statement in &block.stmts {
            let root = match statement {
                Stmt::Local(local) => {
                    let mut own = Vec::new();
                    Self::declared(&local.pat, &mut own);
                    if let Some(name) = own.iter().find(|name| variables.iter().any(|v| v.name == **name)) {
                        return refuse(local, format!("a loop that hides a variable: {name}"));
                    }
                    continue;
                }
                Stmt::Expr(Expr::Assign(assign), _) => &assign.left,
                Stmt::Expr(Expr::Binary(binary), _) => &binary.left,
                Stmt::Expr(Expr::MethodCall(call), _) => &call.receiver,
                other => return refuse(other, "a statement that is not known in a loop"),
            };
            let mut root = root;
            while let Expr::Index(syn::ExprIndex { expr: base, .. })
            | Expr::Field(syn::ExprField { base, .. }) = &**root
            {
                root = base;
            }
            let name = quote!(#root).to_string();
            if !names.contains(&name) && variables.iter().any(|v| v.name == name) {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn declared(pattern: &Pat, names: &mut Vec<String>) {
        match pattern {
            Pat::Ident(name) => names.push(name.ident.to_string()),
            Pat::Type(typed) => Self::declared(&typed.pat, names),
            Pat::Tuple(parts) => parts.elems.iter().for_each(|part| Self::declared(part, names)),
            _ => {}
        }
    }

    fn for_loop(
        &mut self,
        each: &syn::ExprForLoop,
        variables: &mut Variables,
        lets: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        let (pat, over, body) = (&each.pat, &each.expr, &each.body);
        only(each, &quote!(for #pat in #over #body))?;
        let (list, element) = if let Expr::Range(range) = &**over {
            let (Some(start), Some(end), RangeLimits::HalfOpen(_)) =
                (&range.start, &range.end, &range.limits)
            else {
                return refuse(range, "a range that is not known");
            };
            only(range, &quote!(#start..#end))?;
            let (low, _) = self.value(start, variables, &Type::Unknown, lets)?;
            let (high, ty) = self.value(end, variables, &Type::Unknown, lets)?;
            (format!("(Rust.range {low} {high})"), ty)
        } else {
            match self.value(over, variables, &Type::Unknown, lets)? {
                (list, Type::List(of, _)) => (list, *of),
                _ => return refuse(over, "a loop over what is no list"),
            }
        };
        let changed = Self::changed(body, variables)?;
        if changed.is_empty() {
            return refuse(each, "a loop that changes nothing");
        }
        let names = tuple(&changed);
        let mark = if changed.len() > 1 { "'" } else { "" };
        let mut inner = variables.clone();
        let item = Self::pattern(pat, &element, &mut inner)?;
        if item.starts_with('(') || variables.iter().any(|v| v.name == item) {
            return refuse(pat, "a loop's variable that is not known");
        }
        let (body, _) = self.block(body, &inner, &End::Changed(&names))?;
        let term = format!(
            "Rust.for_each (fun {item} {mark}{names} =>\n  {}) {list} {names}",
            indent(&body)
        );
        lets.push(bind("let?", &names, &term));
        Ok(())
    }

    /// A statement that changes a variable.
    fn change(
        &mut self,
        change: &Expr,
        variables: &mut Variables,
        lets: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        match change {
            Expr::Assign(assign) => {
                let (left, right) = (&assign.left, &assign.right);
                only(assign, &quote!(#left = #right))?;
                let (_, ty) = self.place(left, variables)?;
                let (value, _) = self.value(right, variables, &ty, lets)?;
                self.store(left, &value, variables, lets)
            }
            Expr::Binary(binary) => {
                let (left, op, right) = (&binary.left, &binary.op, &binary.right);
                only(binary, &quote!(#left #op #right))?;
                let op = match op {
                    BinOp::AddAssign(_) => BinOp::Add(syn::token::Plus::default()),
                    BinOp::SubAssign(_) => BinOp::Sub(syn::token::Minus::default()),
                    BinOp::BitXorAssign(_) => BinOp::BitXor(syn::token::Caret::default()),
                    BinOp::BitOrAssign(_) => BinOp::BitOr(syn::token::Or::default()),
                    _ => return refuse(binary, "a statement that is not known"),
                };
                let (_, ty) = self.place(left, variables)?;
                let (value, _) = self.value(right, variables, &ty, lets)?;
                let (old, _) = self.value(left, variables, &ty, lets)?;
                let (term, _) = Self::arithmetic(binary, &op, (&old, &ty), (&value, &ty))?;
                let new = self.bound(term, lets);
                self.store(left, &new, variables, lets)
            }
            Expr::MethodCall(call) if call.method == "push" => {
                let (receiver, args) = (&call.receiver, &call.args);
                only(call, &quote!(#receiver.push(#args)))?;
                let (Expr::Path(_), Some(value), 1) = (&**receiver, args.first(), args.len()) else {
                    return refuse(call, "a push that is not known");
                };
                let (name, ty) = self.place(receiver, variables)?;
                let Type::List(of, None) = ty else {
                    return refuse(receiver, "a push onto what is no vector");
                };
                let (value, of) = self.value(value, variables, &of, lets)?;
                for variable in variables.iter_mut().rev().filter(|v| v.name == name).take(1) {
                    variable.ty = Type::List(Box::new(of.clone()), None);
                }
                self.store(receiver, &format!("(Rust.push {name} {value})"), variables, lets)
            }
            other => refuse(other, "a statement that is not known"),
        }
    }

    /// The variable of a place that may be assigned to, and the type of what is there.
    fn place(&self, place: &Expr, variables: &Variables) -> Result<(String, Type), Refusal> {
        match place {
            Expr::Path(path) => {
                let name = quote!(#path).to_string();
                match variables.iter().rev().find(|v| v.name == name) {
                    Some(variable) if variable.assignable => Ok((name, variable.ty.clone())),
                    Some(_) => refuse(path, "an assignment in a block that gives a value"),
                    None => refuse(path, "a variable that is not known"),
                }
            }
            Expr::Field(field) => {
                let (root, base) = self.place(&field.base, variables)?;
                let (_, _, ty) = self.field(field, &base)?;
                Ok((root, ty))
            }
            Expr::Index(index) => match self.place(&index.expr, variables)? {
                (root, Type::List(of, _)) => Ok((root, *of)),
                _ => refuse(index, "an index into what is no list"),
            },
            other => refuse(other, "a place that is not known"),
        }
    }

    /// Structure, name and type of a field.
    fn field(&self, field: &syn::ExprField, base: &Type) -> Result<(String, String, Type), Refusal> {
        let (of, member) = (&field.base, &field.member);
        only(field, &quote!(#of.#member))?;
        if let (Type::Struct(name), Member::Named(member)) = (base, member) {
            let fields = self.scope.fields(name).unwrap_or_default();
            if let Some((_, ty)) = fields.iter().find(|(field, _)| member == field) {
                return Ok((name.clone(), member.to_string(), ty.clone()));
            }
        }
        refuse(field, "a field that is not known")
    }

    /// Puts a value into a place.
    fn store(
        &mut self,
        place: &Expr,
        value: &str,
        variables: &Variables,
        lets: &mut Vec<String>,
    ) -> Result<(), Refusal> {
        match place {
            Expr::Path(path) => {
                let (name, _) = self.place(place, variables)?;
                only(path, &path.path)?;
                lets.push(bind("let", &name, value));
                Ok(())
            }
            Expr::Field(field) => {
                let (_, ty) = self.place(&field.base, variables)?;
                let (name, member, _) = self.field(field, &ty)?;
                let (base, _) = self.value(&field.base, variables, &ty, lets)?;
                let fields = self.scope.fields(&name).unwrap_or_default();
                let values: String = fields
                    .iter()
                    .map(|(field, _)| {
                        if *field == member {
                            format!(" {value}")
                        } else {
                            format!(" ({name}_{field} {base})")
                        }
                    })
                    .collect();
                self.store(&field.base, &format!("(make_{name}{values})"), variables, lets)
            }
            Expr::Index(index) => {
                let (list, at) = (&index.expr, &index.index);
                only(index, &quote!(#list[#at]))?;
                let (_, ty) = self.place(list, variables)?;
                let (old, _) = self.value(list, variables, &ty, lets)?;
                let (at, _) = self.value(at, variables, &Type::Usize, lets)?;
                let new = self.bound(Term::Outcome(format!("Rust.update {old} {at} {value}")), lets);
                self.store(list, &new, variables, lets)
            }
            other => refuse(other, "a place that is not known"),
        }
    }
}
