//! What is translated, and what is refused, with its line.

use crate::scope::Crate;

const GIVEN: &str = "pub type State = [u8; 4];\npub fn permute(x: State) -> State {\n    x\n}\n";

fn translate(source: &str) -> Result<String, String> {
    let mut crate_ = Crate::default();
    crate_
        .module("given", GIVEN, Some("permute"))
        .map_err(|refusal| refusal.why)?;
    crate_
        .module(
            "m",
            &format!("use crate::given::{{State, permute}};\n{source}"),
            None,
        )
        .map_err(|refusal| format!("{}: {}", refusal.line, refusal.why))
}

/// A function of a number `x`, a vector `v` and an array `s`, on the third line.
fn body(body: &str) -> Result<String, String> {
    translate(&format!(
        "use alloc::{{vec, vec::Vec}};use core::array::from_fn;\npub fn f(x: u8, n: usize, v: &[u8], s: State) -> u8 {{ {body} }}"
    ))
}

#[test]
fn forms_have_the_meaning_that_rust_gives_them() {
    for (source, text) in [
        ("x + 1", "Rust.add 8 x 1."),
        ("x - 1", "Rust.sub x 1."),
        ("x ^ 0x0f", "Some (N.lxor x 15)."),
        ("x | 1", "Some (N.lor x 1)."),
        ("x >> 7", "Some (N.shiftr x 7)."),
        ("n as u8", "Some (Rust.cast 8 n)."),
        ("v[n]", "Rust.index v n."),
        ("s[usize::from(x)]", "Rust.index s x."),
        ("permute(s)[2]", "Rust.index (given_permute s) 2."),
        (
            "if x > 3 { 1 } else { x }",
            "(if (N.ltb 3 x) then\n    Some 1\n  else\n    Some x).",
        ),
        (
            "if x >= 3 || n == 0 { 1 } else { 2 }",
            "(if (orb (N.leb 3 x) (N.eqb n 0)) then\n    Some 1\n  else\n    Some 2).",
        ),
        (
            "if v == &s { 1 } else { 2 }",
            "(if (Rust.same v s) then\n    Some 1\n  else\n    Some 2).",
        ),
        (
            "match n { 0 => 5, _ => x }",
            "(if N.eqb n 0 then\n    Some 5\n  else Some x).",
        ),
        (
            "let mut s = s; s[n] ^= x; s[0]",
            "let s := s in\n  let? t1' := Rust.index s n in\n  let? t2' := Rust.update s n (N.lxor t1' x) in\n  \
             let s := t2' in\n  Rust.index s 0.",
        ),
        (
            "let mut y = 0; for b in v { y = y ^ *b; } y",
            "let y := 0 in\n  let? y := Rust.for_each (fun b y =>\n    let y := (N.lxor y b) in\n    Some y) v y in\n  Some y.",
        ),
        (
            "if n < 2 { return x; } x + 1",
            "if (N.ltb n 2) then\n    Some x\n  else\n    Rust.add 8 x 1.",
        ),
        (
            "if n == 0 { x } else { f(x, n - 1, v, s) }",
            "(if (N.eqb n 0) then\n      Some x\n    else\n      let? t1' := Rust.sub n 1 in\n      m_f_within depth' x t1' v s)",
        ),
    ] {
        let source = if source.contains("y ^ *b") {
            source.replace("let mut y = 0;", "let mut y: u8 = 0;")
        } else {
            source.into()
        };
        let got = body(&source).unwrap_or_else(|refusal| panic!("{source}: {refusal}"));
        assert!(got.contains(text), "{source}: {got}");
    }
}

#[test]
fn what_is_not_known_is_refused_with_its_line() {
    for (source, why) in [
        ("x * 2", "an operator that is not known"),
        ("x / 2", "an operator that is not known"),
        ("!x", "an operator that is not known"),
        ("x << 1", "an operator that is not known"),
        ("x >> 8", "a shift that is not known"),
        ("x >> n", "a shift that is not known"),
        ("x.wrapping_add(1)", "a method that is not known: wrapping_add"),
        ("x.rotate_left(1)", "a method that is not known: rotate_left"),
        ("v.iter().sum()", "a method that is not known: iter"),
        ("v.len()", "a value of type Usize where U8 must be"),
        ("v[x]", "a value of type U8 where Usize must be"),
        ("x + n", "a value of type Usize where U8 must be"),
        ("256", "a number that is too large"),
        ("unsafe { x }", "an expression that is not known"),
        ("g(x)", "a function that is not known: g"),
        ("f(x)", "another number of arguments"),
        ("y", "a name that is not known: y"),
        ("while x < 3 {} x", "a statement that is not known"),
        ("loop {}", "an expression that is not known"),
        (
            "let mut y = x; if x > 3 { y = 4; } y",
            "an if without else that does not return",
        ),
        (
            "let mut y = x; let z = if x > 3 { y = 4; 1 } else { 2 }; y",
            "an assignment in a block that gives a value",
        ),
        (
            "let z = if x > 3 { if x > 4 { return 9; } 1 } else { 2 }; z",
            "a statement that is not known here",
        ),
        (
            "let mut y = x; for b in v { let y = *b; } y",
            "a loop that hides a variable: y",
        ),
        (
            "let mut y = x; for b in v { if y > 3 { y = *b; } } y",
            "a statement that is not known in a loop",
        ),
        ("for b in v { } x", "a loop that changes nothing"),
        (
            "let mut y = x; for b in v.iter() { y = *b; } y",
            "a method that is not known",
        ),
        (
            "let mut y = x; 'a: for b in v { y = *b; } y",
            "a form that is not known",
        ),
        (
            "let mut y = x; for i in 0..=n { y = 1; } y",
            "a range that is not known",
        ),
        (
            "let t = from_fn(|i| v[i]); t[0]",
            "a from_fn whose length is not known",
        ),
        (
            "let Some(y) = g() else { return 1; }; y",
            "a form that is not known",
        ),
        ("let RATE = x; RATE", "a name that may be a constant's"),
        ("#[cfg(test)] let y = x; x", "a form that is not known"),
        ("match n { 0 | 1 => 5, _ => x }", "a pattern that is not known"),
        (
            "match n { 0 if x > 1 => 5, _ => x }",
            "a pattern that is not known",
        ),
        ("match n { 0 => 5, m => x }", "a form that is not known"),
        (
            "let mut w = Vec::new(); w.extend(v); x",
            "a statement that is not known",
        ),
        (
            "let mut w: Vec<u8> = Vec::new(); w.push(n); x",
            "a value of type Usize where U8 must be",
        ),
        (
            "if n > 1 && v[n] > 2 { 1 } else { 2 }",
            "something that may panic after && or ||",
        ),
        ("assert!(x > 1); x", "a statement that is not known"),
        ("let y = (x, n); y.0", "a field that is not known"),
    ] {
        match body(source) {
            Err(refusal) => assert!(
                refusal.starts_with("3: ") && refusal.contains(why),
                "{source}: {refusal}"
            ),
            Ok(text) => panic!("{source}: {text}"),
        }
    }
}

#[test]
fn items_that_are_not_known_are_refused() {
    for (source, why) in [
        (
            "pub unsafe fn f(x: u8) -> u8 { x }",
            "2: a form that is not known",
        ),
        ("pub const fn f(x: u8) -> u8 { x }", "2: a form that is not known"),
        ("pub fn f<T>(x: u8) -> u8 { x }", "2: a form that is not known"),
        ("pub fn f(x: &mut u8) -> u8 { 1 }", "2: a type that is not known"),
        ("pub fn f(mut x: u8) -> u8 { x }", "2: a form that is not known"),
        (
            "pub fn f(m_RATE: u8) -> u8 { 1 }",
            "2: a name that may be a constant's",
        ),
        ("pub fn f(x: u16) -> u8 { 1 }", "2: a type that is not known: u16"),
        ("pub fn f(x: u8) {}", "2: a function without a result"),
        (
            "#[cfg(test)]\npub fn f(x: u8) -> u8 { x }",
            "2: an attribute that is not known",
        ),
        (
            "#[cfg_attr(veriplex_hax, inline)]\npub fn f(x: u8) -> u8 { x }",
            "2: an attribute that is not known",
        ),
        ("static X: u8 = 1;", "2: an item that is not known"),
        ("impl State {}", "2: an item that is not known"),
        ("macro_rules! m { () => {} }", "2: an item that is not known"),
        (
            "use core::mem::swap;",
            "2: a name that is not known: core::mem::swap",
        ),
        ("use crate::given::unpermute;", "2: a name that is not known"),
        ("use crate::given::*;", "2: a use that is not known"),
        ("use crate::given::permute as p;", "2: a use that is not known"),
        ("pub struct S(u8);", "2: a form that is not known"),
        (
            "pub fn permute(x: u8) -> u8 { x }",
            "2: a name that is taken: permute",
        ),
        (
            "pub fn from_fn(x: u8) -> u8 { x }",
            "2: a name that is taken: from_fn",
        ),
        ("pub const C: u8 = 1 + 1;", "2: a constant that is not a value"),
        ("pub fn f(x: Vec<u8>) -> u8 { 1 }", "2: Vec without its use"),
    ] {
        match translate(source) {
            Err(refusal) => assert!(refusal.starts_with(why), "{source}: {refusal}"),
            Ok(text) => panic!("{source}: {text}"),
        }
    }
}

#[test]
fn a_given_function_must_be_there() {
    let missing = Crate::default().module("given", GIVEN, Some("other"));
    assert_eq!(
        missing.map_err(|refusal| refusal.why),
        Err("there is no function other".to_owned())
    );
}
