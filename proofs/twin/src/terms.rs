//! Functions: statements and expressions.

use std::fmt::Write;

use quote::quote;
use syn::{BinOp, UnOp};
use syn::{Block, Expr, ExprLit, ExprPath, Ident, Lit, Local, Member, Pat, RangeLimits, Stmt};

use crate::Refusal;
use crate::items::{Known, Scope, only};
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

    /// A term's value: an outcome gets a name.
    fn bound(&mut self, term: Term, lets: &mut Vec<String>) -> String {
        match term {
            Term::Value(value) => value,
            Term::Outcome(outcome) => {
                let name = self.fresh();
                lets.push(bind("let?", &name, &outcome));
                name
            }
        }
    }

    fn value(
        &mut self,
        expression: &Expr,
        variables: &Variables,
        want: &Type,
        lets: &mut Vec<String>,
    ) -> Result<(String, Type), Refusal> {
        let (term, ty) = self.expression(expression, variables, want, lets)?;
        Ok((self.bound(term, lets), ty))
    }

    /// A block that gives a value, and its type.
    fn branch(
        &mut self,
        block: &Block,
        variables: &Variables,
        want: &Type,
    ) -> Result<(String, Type), Refusal> {
        let mut variables = variables.clone();
        for variable in &mut variables {
            variable.assignable = false;
        }
        self.block(block, &variables, &End::Value(want))
    }

    fn expression(
        &mut self,
        expression: &Expr,
        variables: &Variables,
        want: &Type,
        lets: &mut Vec<String>,
    ) -> Result<(Term, Type), Refusal> {
        let (term, ty) = self.any(expression, variables, want, lets)?;
        match ty.both(want) {
            Some(both) => Ok((term, both)),
            None => refuse(
                expression,
                format!("a value of type {ty:?} where {want:?} must be"),
            ),
        }
    }

    fn any(
        &mut self,
        expression: &Expr,
        variables: &Variables,
        want: &Type,
        lets: &mut Vec<String>,
    ) -> Result<(Term, Type), Refusal> {
        let value = |term: String, ty: Type| Ok((Term::Value(term), ty));
        match expression {
            Expr::Lit(lit) => Self::literal(lit, want),
            Expr::Path(path) => {
                let name = quote!(#path).to_string();
                if let Some(variable) = variables.iter().rev().find(|v| v.name == name) {
                    return value(name, variable.ty.clone());
                }
                match self.scope.find(&name) {
                    Some((Known::Constant(ty, _), rocq)) => value(rocq, ty.clone()),
                    _ => refuse(path, format!("a name that is not known: {name}")),
                }
            }
            Expr::Paren(paren) => {
                let inner = &paren.expr;
                only(paren, &quote!((#inner)))?;
                self.any(inner, variables, want, lets)
            }
            Expr::Reference(reference) => {
                let inner = &reference.expr;
                only(reference, &quote!(&#inner))?;
                self.any(inner, variables, want, lets)
            }
            Expr::Unary(unary) => {
                let (UnOp::Deref(_), inner) = (&unary.op, &unary.expr) else {
                    return refuse(unary, "an operator that is not known");
                };
                only(unary, &quote!(*#inner))?;
                self.any(inner, variables, want, lets)
            }
            Expr::Field(field) => {
                let (base, ty) = self.value(&field.base, variables, &Type::Unknown, lets)?;
                let (name, member, ty) = self.field(field, &ty)?;
                value(format!("({name}_{member} {base})"), ty)
            }
            Expr::Index(index) => {
                let (list, at) = (&index.expr, &index.index);
                only(index, &quote!(#list[#at]))?;
                let (list, ty) = self.value(list, variables, &Type::Unknown, lets)?;
                let Type::List(of, _) = ty else {
                    return refuse(index, "an index into what is no list");
                };
                let (at, ty) = self.value(at, variables, &Type::Usize, lets)?;
                if ty != Type::Usize {
                    return refuse(index, "an index of another type");
                }
                Ok((Term::Outcome(format!("Rust.index {list} {at}")), *of))
            }
            Expr::Array(_) | Expr::Repeat(_) | Expr::Macro(_) | Expr::Tuple(_) => {
                self.listed(expression, variables, want, lets)
            }
            Expr::Struct(made) => self.structure(made, variables, lets),
            Expr::Call(call) => self.call(call, variables, want, lets),
            Expr::MethodCall(call) => self.method(call, variables, lets),
            Expr::Cast(cast) => {
                let (from, to) = (&cast.expr, &cast.ty);
                only(cast, &quote!(#from as #to))?;
                let (term, from) = self.value(from, variables, &Type::Unknown, lets)?;
                match (from.bits(), self.scope.read_type(to)?) {
                    (Some(_), to @ (Type::U8 | Type::U64 | Type::Usize)) => {
                        let bits = to.bits().unwrap_or_default();
                        value(format!("(Rust.cast {bits} {term})"), to)
                    }
                    _ => refuse(cast, "a cast that is not known"),
                }
            }
            Expr::Binary(binary) => self.binary(binary, variables, want, lets),
            Expr::Block(_) | Expr::If(_) => self.blocks(expression, variables, want, lets),
            Expr::Match(choice) => self.choice(choice, variables, want),
            other => refuse(
                other,
                format!("an expression that is not known: {}", quote!(#other)),
            ),
        }
    }

    /// Arrays, vectors and tuples.
    fn listed(
        &mut self,
        expression: &Expr,
        variables: &Variables,
        want: &Type,
        lets: &mut Vec<String>,
    ) -> Result<(Term, Type), Refusal> {
        let value = |term: String, ty: Type| Ok((Term::Value(term), ty));
        match expression {
            Expr::Array(array) => {
                let elems = &array.elems;
                only(array, &quote!([#elems]))?;
                let mut of = if let Type::List(of, _) = want {
                    (**of).clone()
                } else {
                    Type::Unknown
                };
                let mut terms = Vec::new();
                for element in elems {
                    let (term, ty) = self.value(element, variables, &of, lets)?;
                    of = ty;
                    terms.push(term);
                }
                let length = u64::try_from(terms.len()).ok();
                value(
                    format!("[{}]", terms.join("; ")),
                    Type::List(Box::new(of), length),
                )
            }
            Expr::Repeat(repeat) => {
                let (element, len) = (&repeat.expr, &repeat.len);
                only(repeat, &quote!([#element; #len]))?;
                let number = self.scope.number(len)?;
                let of = if let Type::List(of, _) = want {
                    (**of).clone()
                } else {
                    Type::Unknown
                };
                let (element, of) = self.value(element, variables, &of, lets)?;
                value(
                    format!("(Rust.copies {element} {number})"),
                    Type::List(Box::new(of), Some(number)),
                )
            }
            Expr::Macro(call) if call.mac.path.is_ident("vec") && self.scope.library("alloc::vec") => {
                let tokens = &call.mac.tokens;
                only(call, &quote!(vec![#tokens]))?;
                let Ok(Expr::Repeat(repeat)) = syn::parse2(quote!([#tokens])) else {
                    return refuse(call, "a vec! that is not known");
                };
                let (element, of) = self.value(&repeat.expr, variables, &Type::Unknown, lets)?;
                let (number, _) = self.value(&repeat.len, variables, &Type::Usize, lets)?;
                value(
                    format!("(Rust.copies {element} {number})"),
                    Type::List(Box::new(of), None),
                )
            }
            Expr::Tuple(parts) if parts.elems.len() > 1 => {
                let elems = &parts.elems;
                only(parts, &quote!((#elems)))?;
                let (mut terms, mut types) = (Vec::new(), Vec::new());
                for (i, part) in elems.iter().enumerate() {
                    let want = match want {
                        Type::Tuple(of) if of.len() == elems.len() => &of[i],
                        _ => &Type::Unknown,
                    };
                    let (term, ty) = self.value(part, variables, want, lets)?;
                    terms.push(term);
                    types.push(ty);
                }
                value(tuple(&terms), Type::Tuple(types))
            }
            other => refuse(
                other,
                format!("an expression that is not known: {}", quote!(#other)),
            ),
        }
    }

    /// A block, or one of two.
    fn blocks(
        &mut self,
        expression: &Expr,
        variables: &Variables,
        want: &Type,
        lets: &mut Vec<String>,
    ) -> Result<(Term, Type), Refusal> {
        match expression {
            Expr::Block(block) => {
                let inner = &block.block;
                only(block, inner)?;
                let (body, ty) = self.branch(inner, variables, want)?;
                Ok((Term::Outcome(format!("(\n  {})", indent(&body))), ty))
            }
            Expr::If(branch) => {
                let (cond, then) = (&branch.cond, &branch.then_branch);
                let Some((_, otherwise)) = &branch.else_branch else {
                    return refuse(branch, "an if without else");
                };
                only(branch, &quote!(if #cond #then else #otherwise))?;
                let Expr::Block(otherwise) = &**otherwise else {
                    return refuse(branch, "an else that is not known");
                };
                let body = &otherwise.block;
                only(otherwise, body)?;
                let (condition, _) = self.value(cond, variables, &Type::Bool, lets)?;
                let (then, ty) = self.branch(then, variables, want)?;
                let (otherwise, ty) = self.branch(body, variables, &ty)?;
                let (then, otherwise) = (indent(&then), indent(&otherwise));
                let term = format!("(if {condition} then\n  {then}\nelse\n  {otherwise})");
                Ok((Term::Outcome(term), ty))
            }
            other => refuse(
                other,
                format!("an expression that is not known: {}", quote!(#other)),
            ),
        }
    }

    fn literal(lit: &ExprLit, want: &Type) -> Result<(Term, Type), Refusal> {
        only(lit, &lit.lit)?;
        match &lit.lit {
            Lit::Int(number) => {
                let digits = number.base10_digits().to_owned();
                let ty = match (number.suffix(), want) {
                    ("", Type::U8 | Type::U64 | Type::Usize | Type::Unknown) => want.clone(),
                    ("u8", _) => Type::U8,
                    ("u64", _) => Type::U64,
                    ("usize", _) => Type::Usize,
                    _ => return refuse(lit, "a number of a type that is not known"),
                };
                let fits = digits
                    .parse()
                    .is_ok_and(|number: u128| number >> ty.bits().unwrap_or(64) == 0);
                if !fits {
                    return refuse(lit, "a number that is too large");
                }
                Ok((Term::Value(digits), ty))
            }
            Lit::Bool(flag) => Ok((Term::Value(flag.value.to_string()), Type::Bool)),
            _ => refuse(lit, "a literal that is not known"),
        }
    }

    fn structure(
        &mut self,
        made: &syn::ExprStruct,
        variables: &Variables,
        lets: &mut Vec<String>,
    ) -> Result<(Term, Type), Refusal> {
        let (path, fields) = (&made.path, &made.fields);
        only(made, &quote!(#path { #fields }))?;
        let Some((Known::Type(ty @ Type::Struct(name)), _)) = self.scope.find(&quote!(#path).to_string())
        else {
            return refuse(made, "a structure that is not known");
        };
        let known = self.scope.fields(name).unwrap_or_default();
        let mut values = vec![None; known.len()];
        for field in fields {
            let Member::Named(member) = &field.member else {
                return refuse(field, "a field that is not known");
            };
            let Some(at) = known.iter().position(|(name, _)| member == name) else {
                return refuse(field, "a field that is not known");
            };
            let expr = &field.expr;
            if field.colon_token.is_some() {
                only(field, &quote!(#member: #expr))?;
            } else {
                only(field, member)?;
            }
            values[at] = Some(self.value(expr, variables, &known[at].1, lets)?.0);
        }
        let Some(values) = values.into_iter().collect::<Option<Vec<String>>>() else {
            return refuse(made, "a field is missing");
        };
        Ok((
            Term::Value(format!("(make_{name} {})", values.join(" "))),
            ty.clone(),
        ))
    }

    fn call(
        &mut self,
        call: &syn::ExprCall,
        variables: &Variables,
        want: &Type,
        lets: &mut Vec<String>,
    ) -> Result<(Term, Type), Refusal> {
        let (func, args) = (&call.func, &call.args);
        only(call, &quote!(#func(#args)))?;
        let Expr::Path(ExprPath { qself: None, .. }) = &**func else {
            return refuse(call, "a call that is not known");
        };
        let name = quote!(#func).to_string();
        if variables.iter().any(|v| v.name == name) {
            return refuse(call, "a call of a variable");
        }
        let args: Vec<&Expr> = args.iter().collect();
        match (name.as_str(), args.as_slice()) {
            ("Vec :: new", []) if self.scope.library("alloc::vec::Vec") => {
                return Ok((
                    Term::Value("[]".to_owned()),
                    Type::List(Box::new(Type::Unknown), None),
                ));
            }
            ("usize :: from", [number]) => {
                let (number, _) = self.value(number, variables, &Type::U8, lets)?;
                return Ok((Term::Value(number), Type::Usize));
            }
            ("from_fn", [Expr::Closure(closure)]) if self.scope.library("core::array::from_fn") => {
                let (inputs, body) = (&closure.inputs, &closure.body);
                only(closure, &quote!(|#inputs| #body))?;
                let (Type::List(of, Some(length)), Some(Pat::Ident(_)), 1) =
                    (want, inputs.first(), inputs.len())
                else {
                    return refuse(call, "a from_fn whose length is not known");
                };
                let mut inner = variables.clone();
                for variable in &mut inner {
                    variable.assignable = false;
                }
                let name = Self::pattern(&inputs[0], &Type::Usize, &mut inner)?;
                let mut lines = Vec::new();
                let (term, _) = self.expression(body, &inner, of, &mut lines)?;
                let body = close(&lines, &term);
                let term = format!("Rust.from_fn {length} (fun {name} =>\n  {})", indent(&body));
                return Ok((Term::Outcome(term), want.clone()));
            }
            _ => {}
        }
        let own = name == self.name;
        let (parameters, result, given, rocq) = if own {
            self.recursive = true;
            let types = self.parameters.iter().map(|p| p.ty.clone()).collect();
            let rocq = self.scope.own(&name);
            (types, self.result.clone(), false, format!("{rocq}_within depth'"))
        } else {
            match self.scope.find(&name) {
                Some((
                    Known::Function {
                        parameters,
                        result,
                        given,
                    },
                    rocq,
                )) => (parameters.clone(), result.clone(), *given, rocq),
                _ => return refuse(call, format!("a function that is not known: {name}")),
            }
        };
        if parameters.len() != args.len() {
            return refuse(call, "another number of arguments");
        }
        let mut term = rocq;
        for (argument, ty) in args.iter().zip(&parameters) {
            term += " ";
            term += &self.value(argument, variables, ty, lets)?.0;
        }
        let term = if given {
            Term::Value(format!("({term})"))
        } else {
            Term::Outcome(term)
        };
        Ok((term, result))
    }

    fn method(
        &mut self,
        call: &syn::ExprMethodCall,
        variables: &Variables,
        lets: &mut Vec<String>,
    ) -> Result<(Term, Type), Refusal> {
        let (receiver, method, args) = (&call.receiver, &call.method, &call.args);
        only(call, &quote!(#receiver.#method(#args)))?;
        let args: Vec<&Expr> = args.iter().collect();
        let (term, ty) = self.value(receiver, variables, &Type::Unknown, lets)?;
        match (method.to_string().as_str(), &ty, args.as_slice()) {
            ("len", Type::List(..), []) => Ok((Term::Value(format!("(Rust.len {term})")), Type::Usize)),
            ("to_le_bytes", Type::U64, []) => {
                let bytes = Type::List(Box::new(Type::U8), Some(8));
                Ok((Term::Value(format!("(Rust.le_bytes 8 {term})")), bytes))
            }
            ("split_at", Type::List(of, _), [at]) => {
                let (at, _) = self.value(at, variables, &Type::Usize, lets)?;
                let half = Type::List(of.clone(), None);
                let halves = Type::Tuple(vec![half.clone(), half]);
                Ok((Term::Outcome(format!("Rust.split_at {term} {at}")), halves))
            }
            ("concat", Type::List(lists, _), []) => match &**lists {
                Type::List(of, _) => Ok((
                    Term::Value(format!("(concat {term})")),
                    Type::List(of.clone(), None),
                )),
                _ => refuse(call, "a concat of what is no list"),
            },
            _ => refuse(call, format!("a method that is not known: {method} of {ty:?}")),
        }
    }

    /// An operation on two values.
    fn arithmetic(
        node: &syn::ExprBinary,
        op: &BinOp,
        (left, left_ty): (&str, &Type),
        (right, right_ty): (&str, &Type),
    ) -> Result<(Term, Type), Refusal> {
        let Some(ty) = left_ty.both(right_ty) else {
            return refuse(node, "two types");
        };
        let term = match (op, ty.bits()) {
            (BinOp::Add(_), Some(bits)) => Term::Outcome(format!("Rust.add {bits} {left} {right}")),
            (BinOp::Sub(_), Some(_)) => Term::Outcome(format!("Rust.sub {left} {right}")),
            (BinOp::BitXor(_), Some(_)) => Term::Value(format!("(N.lxor {left} {right})")),
            (BinOp::BitOr(_), Some(_)) => Term::Value(format!("(N.lor {left} {right})")),
            _ => {
                return refuse(
                    node,
                    "an operator that is not known, or of a type that is not known",
                );
            }
        };
        Ok((term, ty))
    }

    fn binary(
        &mut self,
        binary: &syn::ExprBinary,
        variables: &Variables,
        want: &Type,
        lets: &mut Vec<String>,
    ) -> Result<(Term, Type), Refusal> {
        let (left, op, right) = (&binary.left, &binary.op, &binary.right);
        only(binary, &quote!(#left #op #right))?;
        match op {
            BinOp::And(_) | BinOp::Or(_) => {
                let (first, _) = self.value(left, variables, &Type::Bool, lets)?;
                let mut more = Vec::new();
                let (second, _) = self.value(right, variables, &Type::Bool, &mut more)?;
                if !more.is_empty() {
                    return refuse(right, "something that may panic after && or ||");
                }
                let word = if matches!(op, BinOp::And(_)) {
                    "andb"
                } else {
                    "orb"
                };
                Ok((Term::Value(format!("({word} {first} {second})")), Type::Bool))
            }
            BinOp::Shr(_) => {
                let (term, ty) = self.value(left, variables, want, lets)?;
                let places = quote!(#right).to_string();
                match (ty.bits(), places.parse::<u32>()) {
                    (Some(bits), Ok(places)) if places < bits => {
                        Ok((Term::Value(format!("(N.shiftr {term} {places})")), ty))
                    }
                    _ => refuse(binary, "a shift that is not known"),
                }
            }
            BinOp::Eq(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                let (first, ty) = self.value(left, variables, &Type::Unknown, lets)?;
                let (second, ty) = self.value(right, variables, &ty, lets)?;
                let term = match (op, ty.bits()) {
                    (BinOp::Eq(_), Some(_)) => format!("(N.eqb {first} {second})"),
                    (BinOp::Lt(_), Some(_)) => format!("(N.ltb {first} {second})"),
                    (BinOp::Le(_), Some(_)) => format!("(N.leb {first} {second})"),
                    (BinOp::Gt(_), Some(_)) => format!("(N.ltb {second} {first})"),
                    (BinOp::Ge(_), Some(_)) => format!("(N.leb {second} {first})"),
                    (BinOp::Eq(_), None) if matches!(&ty, Type::List(of, _) if of.bits().is_some()) => {
                        format!("(Rust.same {first} {second})")
                    }
                    _ => return refuse(binary, "a comparison that is not known"),
                };
                Ok((Term::Value(term), Type::Bool))
            }
            _ => {
                let (first, ty) = self.value(left, variables, want, lets)?;
                let (second, right_ty) = self.value(right, variables, &ty, lets)?;
                Self::arithmetic(binary, op, (&first, &ty), (&second, &right_ty))
            }
        }
    }

    /// A match of a variable with numbers, as tests one after the other.
    fn choice(
        &mut self,
        choice: &syn::ExprMatch,
        variables: &Variables,
        want: &Type,
    ) -> Result<(Term, Type), Refusal> {
        let (of, arms) = (&choice.expr, &choice.arms);
        only(choice, &quote!(match #of { #(#arms)* }))?;
        let Expr::Path(_) = &**of else {
            return refuse(of, "a match of what is no variable");
        };
        let (of, ty) = self.value(of, variables, &Type::Unknown, &mut Vec::new())?;
        let [tests @ .., last] = arms.as_slice() else {
            return refuse(choice, "a match without arms");
        };
        let mut text = String::new();
        for arm in tests {
            let (pat, body, comma) = (&arm.pat, &arm.body, &arm.comma);
            only(arm, &quote!(#pat => #body #comma))?;
            let (Pat::Lit(number), Some(_)) = (pat, ty.bits()) else {
                return refuse(pat, "a pattern that is not known");
            };
            let (Term::Value(number), _) = Self::literal(number, &ty)? else {
                return refuse(pat, "a pattern that is not known");
            };
            let body = self.arm(body, variables, want)?;
            write!(text, "if N.eqb {of} {number} then\n  {}\nelse ", indent(&body)).expect(WRITES);
        }
        let (pat, body, comma) = (&last.pat, &last.body, &last.comma);
        only(last, &quote!(_ => #body #comma))?;
        if !matches!(pat, Pat::Wild(_)) {
            return refuse(pat, "a match whose last arm is not _");
        }
        text += &self.arm(body, variables, want)?;
        Ok((Term::Outcome(format!("({text})")), want.clone()))
    }

    fn arm(&mut self, body: &Expr, variables: &Variables, want: &Type) -> Result<String, Refusal> {
        let mut variables = variables.clone();
        for variable in &mut variables {
            variable.assignable = false;
        }
        let mut lets = Vec::new();
        let (term, _) = self.expression(body, &variables, want, &mut lets)?;
        Ok(close(&lets, &term))
    }
}
