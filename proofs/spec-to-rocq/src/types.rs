//! Types. References are left out: without mutable ones, a reference is its value.

use crate::Refusal;
use quote::quote;
use syn::{Type as Syntax, TypeArray, TypeReference, TypeSlice, TypeTuple};

/// A type. Numbers of all types are of type `N` in Rocq.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    U8,
    U64,
    Usize,
    Bool,
    /// Array (with its length), slice or vector.
    List(Box<Type>, Option<u64>),
    Struct(String),
    Tuple(Vec<Type>),
    /// What the compiler infers from something that this program does not look at.
    Unknown,
}

impl Type {
    /// How many bits a number of this type has. The proofs are about targets where `usize` has 64.
    pub fn bits(&self) -> Option<u32> {
        match self {
            Self::U8 => Some(8),
            Self::U64 | Self::Usize => Some(64),
            _ => None,
        }
    }

    pub fn rocq(&self) -> String {
        match self {
            Self::U8 | Self::U64 | Self::Usize => "N".to_owned(),
            Self::Bool => "bool".to_owned(),
            Self::List(of, _) => format!("(list {})", of.rocq()),
            Self::Struct(name) => name.clone(),
            Self::Tuple(of) => {
                let of: Vec<String> = of.iter().map(Self::rocq).collect();
                format!("({})%type", of.join(" * "))
            }
            Self::Unknown => "_".to_owned(),
        }
    }

    /// The type that is both; `None` if there is none. An array is also a slice.
    pub fn both(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Unknown, known) | (known, Self::Unknown) => Some(known.clone()),
            (Self::List(a, m), Self::List(b, n)) if m == n || m.is_none() || n.is_none() => {
                Some(Self::List(Box::new(a.both(b)?), m.or(*n)))
            }
            (Self::Tuple(a), Self::Tuple(b)) if a.len() == b.len() => {
                let both: Option<Vec<Self>> = a.iter().zip(b).map(|(a, b)| a.both(b)).collect();
                both.map(Self::Tuple)
            }
            (a, b) => (a == b).then(|| a.clone()),
        }
    }
}

/// What a type in the source means. `named` finds a name of the crate, `constant` the length of an array.
pub fn read(
    syntax: &Syntax,
    named: &impl Fn(&str) -> Option<Type>,
    constant: &impl Fn(&syn::Expr) -> Result<u64, Refusal>,
) -> Result<Type, Refusal> {
    let read = |syntax| read(syntax, named, constant);
    match syntax {
        Syntax::Reference(TypeReference {
            lifetime: None,
            mutability: None,
            elem,
            ..
        }) => read(elem),
        Syntax::Slice(TypeSlice { elem, .. }) => Ok(Type::List(Box::new(read(elem)?), None)),
        Syntax::Array(TypeArray { elem, len, .. }) => {
            Ok(Type::List(Box::new(read(elem)?), Some(constant(len)?)))
        }
        Syntax::Tuple(TypeTuple { elems, .. }) if elems.len() > 1 => {
            elems.iter().map(read).collect::<Result<_, _>>().map(Type::Tuple)
        }
        Syntax::Path(path) => {
            let text = quote!(#path).to_string();
            if let Some(of) = text
                .strip_prefix("Vec < ")
                .and_then(|text| text.strip_suffix(" >"))
            {
                let of = syn::parse_str(of).map_err(|_| Refusal::at(path, "a type that is not known"))?;
                return Ok(Type::List(Box::new(read(&of)?), None));
            }
            match text.as_str() {
                "u8" => Ok(Type::U8),
                "u64" => Ok(Type::U64),
                "usize" => Ok(Type::Usize),
                "bool" => Ok(Type::Bool),
                name => {
                    named(name).ok_or_else(|| Refusal::at(path, format!("a type that is not known: {name}")))
                }
            }
        }
        other => Err(Refusal::at(
            other,
            format!("a type that is not known: {}", quote!(#other)),
        )),
    }
}
