//! Functions: expressions.

use std::fmt::Write;

use quote::quote;
use syn::{BinOp, Block, Expr, ExprLit, ExprPath, Lit, Member, Pat, UnOp};

use super::{End, Function, Term, Variables, WRITES, bind, close, indent, refuse, tuple};
use crate::Refusal;
use crate::scope::{Known, only};
use crate::types::Type;

impl Function<'_> {
    /// A term's value: an outcome gets a name.
    pub(super) fn bound(&mut self, term: Term, lets: &mut Vec<String>) -> String {
        match term {
            Term::Value(value) => value,
            Term::Outcome(outcome) => {
                let name = self.fresh();
                lets.push(bind("let?", &name, &outcome));
                name
            }
        }
    }

    pub(super) fn value(
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

    pub(super) fn expression(
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
    pub(super) fn arithmetic(
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
