//! That Protocol hands the length of its data on and does nothing else with it: a look at the bitcode. And that no layer
//! between the user and the kernels can tell a long message from a longer one: a look at the source.
//!
//! Neither a theorem nor a test for some lengths sees a branch that only other lengths take. So this follows the length
//! of the data through Protocol's functions, as LLVM has them after optimisation, in its text form. It may be an argument
//! of a function of the duplex that takes data, of `Duplex::number`, or the size of what is set or copied. Any other use
//! is an error: a comparison, arithmetic, a store.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use veriplex_assurance::evidence::{files_under, root};

/// Functions of `veriplex::protocol::Protocol`, and the parameter that is their data. There may be several instances.
const ROOTS: [(&str, &str); 13] = [
    ("mix", "input"),
    ("mix_more", "input"),
    ("derive", "output"),
    ("derive_begin", "len"),
    ("mask", "in_out"),
    ("unmask", "in_out"),
    ("mask_more", "data"),
    ("unmask_more", "data"),
    ("seal_in_place_detached", "in_out"),
    ("open_in_place_detached", "in_out"),
    ("seal", "data"),
    ("open", "data"),
    ("branch", "value"),
];

/// What may get a length.
const ENDS: [&str; 7] = [
    "veriplex::duplex::Duplex::absorb",
    "veriplex::duplex::Duplex::squeeze",
    "veriplex::duplex::Duplex::encrypt",
    "veriplex::duplex::Duplex::decrypt",
    "veriplex::duplex::Duplex::encrypt_into",
    "veriplex::duplex::Duplex::decrypt_into",
    "veriplex::duplex::Duplex::number",
];

/// The modules whose functions may get a length, and are then looked at.
const FOLLOWED: [&str; 2] = ["veriplex::protocol::", "veriplex::base::in_out::"];

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Length,
    /// A pointer into an `InOut`, whose integers are lengths.
    InOut,
}

/// A function's symbol, and the parameter that is a length or has one.
type Place<'m> = (&'m str, (usize, Kind));

struct Function<'m> {
    path: String,
    parameters: Vec<&'m str>,
    body: Vec<&'m str>,
}

/// How many functions were looked at, and what is wrong.
fn check(module: &str) -> (usize, Vec<String>) {
    let functions = functions(module);
    let mut wrong = Vec::new();
    let mut todo = Vec::new();
    for (name, data) in ROOTS {
        let path = format!("veriplex::protocol::Protocol::{name}");
        let mut found = false;
        for (symbol, function) in functions.iter().filter(|(_, function)| function.path == path) {
            let place = |name: &str| {
                function
                    .parameters
                    .iter()
                    .position(|parameter| *parameter == name)
            };
            let scalar = place(&format!("%{data}.1")).or_else(|| place("%len").filter(|_| data == "len"));
            let of = match (scalar, place(&format!("%{data}"))) {
                (Some(at), _) => (at, Kind::Length),
                (None, Some(at)) => (at, Kind::InOut),
                (None, None) => continue,
            };
            todo.push((*symbol, of));
            found = true;
        }
        if !found {
            wrong.push(format!("{path} is not in the bitcode, or has no {data}"));
        }
    }
    let mut seen = BTreeSet::new();
    while let Some((symbol, (parameter, kind))) = todo.pop() {
        if seen.insert((symbol, parameter, kind)) {
            let function = &functions[symbol];
            match follow(&functions, function, function.parameters[parameter], kind) {
                Ok(calls) => todo.extend(calls),
                Err(line) => wrong.push(format!("{} uses the length of its data: {line}", function.path)),
            }
        }
    }
    let symbols: BTreeSet<&str> = seen.into_iter().map(|(symbol, ..)| symbol).collect();
    (symbols.len(), wrong)
}

/// The calls through which a length leaves a function: symbol, and parameter with what it gets. The error is a line that
/// does something else with it.
fn follow<'m>(
    functions: &BTreeMap<&'m str, Function<'m>>,
    function: &Function<'m>,
    parameter: &'m str,
    kind: Kind,
) -> Result<Vec<Place<'m>>, &'m str> {
    let mut values = BTreeMap::from([(parameter, kind)]);
    let mut calls = Vec::new();
    // Blocks may be in any order.
    loop {
        let before = values.len();
        calls.clear();
        for &line in &function.body {
            let used: Vec<(&str, Kind)> = (values.iter())
                .filter(|(value, _)| mentions(operands(line), value))
                .map(|(value, kind)| (*value, *kind))
                .collect();
            if used.is_empty() {
                continue;
            }
            if let Some((symbol, arguments)) = call(line) {
                for (at, argument) in arguments.iter().enumerate() {
                    for (_, kind) in used.iter().filter(|(value, _)| mentions(argument, value)) {
                        match passed(functions, symbol, at, *kind) {
                            Some(true) => calls.push((symbol, (at, *kind))),
                            Some(false) => (),
                            None => return Err(line),
                        }
                    }
                }
            } else if used.iter().any(|(_, kind)| *kind == Kind::Length) {
                return Err(line);
            } else {
                let Some((result, operation)) = line.split_once(" = ") else {
                    return Err(line);
                };
                let result = result.trim();
                if operation.starts_with("getelementptr ") {
                    values.insert(result, Kind::InOut);
                } else if operation.starts_with("load i64,") {
                    values.insert(result, Kind::Length);
                } else if !operation.starts_with("load ptr,") {
                    return Err(line);
                }
            }
        }
        if values.len() == before {
            return Ok(calls);
        }
    }
}

/// Whether a call that gets this is to be followed. None if it must not get it.
fn passed(functions: &BTreeMap<&str, Function<'_>>, symbol: &str, at: usize, kind: Kind) -> Option<bool> {
    if symbol.starts_with("llvm.memset.") || symbol.starts_with("llvm.memcpy.") {
        return (kind == Kind::Length && at == 2).then_some(false);
    }
    let path = &functions.get(symbol)?.path;
    if kind == Kind::Length && ENDS.contains(&path.as_str()) {
        return Some(false);
    }
    FOLLOWED
        .iter()
        .any(|module| path.starts_with(module))
        .then_some(true)
}

/// The path of a symbol, as rustc mangles: `_ZN`, then each name after its length, then a hash.
fn path(symbol: &str) -> String {
    let mut names = Vec::new();
    let mut rest = symbol.strip_prefix("_ZN").unwrap_or_default();
    while let Some(digits) = rest
        .find(|c: char| !c.is_ascii_digit())
        .filter(|digits| *digits > 0)
    {
        let (len, after) = rest.split_at(digits);
        let Some((name, after)) = len.parse().ok().and_then(|len| after.split_at_checked(len)) else {
            break;
        };
        names.push(name);
        rest = after;
    }
    names.pop();
    names.join("::")
}

/// The functions that the module defines, by symbol.
fn functions(module: &str) -> BTreeMap<&str, Function<'_>> {
    let mut functions = BTreeMap::new();
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        if !line.starts_with("define ") {
            continue;
        }
        let body = lines.by_ref().take_while(|line| *line != "}").collect();
        if let Some((symbol, parameters)) = named(line) {
            let name = |text: &&'_ str| text.rsplit(' ').next().is_some_and(|name| name.starts_with('%'));
            debug_assert!(
                parameters
                    .iter()
                    .all(|text| text.is_empty() || name(text) || *text == "...")
            );
            functions.insert(
                symbol,
                Function {
                    path: path(symbol),
                    parameters: (parameters.iter())
                        .map(|text| text.rsplit(' ').next().unwrap_or_default())
                        .collect(),
                    body,
                },
            );
        }
    }
    functions
}

/// The symbol that a call names, and its arguments.
fn call(line: &str) -> Option<(&str, Vec<&str>)> {
    let operation = line
        .split_once(" = ")
        .map_or(line, |(_, operation)| operation)
        .trim_start();
    let words = ["call ", "tail call ", "musttail call ", "notail call ", "invoke "];
    (words.iter().any(|word| operation.starts_with(word)))
        .then(|| named(line))
        .flatten()
}

/// The symbol after the first `@`, and what is in the parentheses after it.
fn named(line: &str) -> Option<(&str, Vec<&str>)> {
    let (_, rest) = line.split_once('@')?;
    let (symbol, rest) = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\"(")?,
        None => rest.split_once('(')?,
    };
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' if depth == 0 => {
                parts.push(rest[start..at].trim());
                return Some((symbol, parts));
            }
            ')' | ']' | '}' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(rest[start..at].trim());
                start = at + 1;
            }
            _ => (),
        }
    }
    None
}

/// A line without the value that it defines.
fn operands(line: &str) -> &str {
    line.split_once(" = ").map_or(line, |(_, operation)| operation)
}

/// Whether a text names this value.
fn mentions(text: &str, value: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "._$-".contains(c);
    (text.match_indices(value)).any(|(at, _)| !text[at + value.len()..].starts_with(part))
}

/// The crate, compiled as for a release, but in one piece and with its private functions.
fn module() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = root.join("target/lengths");
    let compile = || {
        let output = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
            .current_dir(&root)
            // So that the functions of the duplex are called.
            .env("RUSTFLAGS", "--cfg veriplex_proofs")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .args(["rustc", "--quiet", "--release", "--package", "veriplex", "--lib"])
            .args(["--crate-type", "rlib", "--target-dir"])
            .arg(&target)
            .args(["--", "--emit=llvm-ir", "-Ccodegen-units=1", "-Clink-dead-code"])
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        (fs::read_dir(target.join("release/deps")).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                let name = path.file_name().unwrap().to_string_lossy();
                name.starts_with("veriplex-") && name.ends_with(".ll")
            })
            .collect::<Vec<_>>()
    };
    let mut modules = compile();
    // Another compiler has left another file.
    if modules.len() > 1 {
        fs::remove_dir_all(&target).unwrap();
        modules = compile();
    }
    fs::read_to_string(&modules[0]).unwrap()
}

#[test]
fn protocol_hands_lengths_on() {
    let (looked_at, wrong) = check(&module());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(looked_at >= ROOTS.len(), "{looked_at}");
}

/// A module in which each of the functions is defined. The body of `open` is this, that of the others hands it on.
fn planted(open: &str) -> String {
    let mut module = String::from(
        "define void @_ZN8veriplex6duplex6Duplex7decrypt17h0000000000000000E(ptr %self, ptr %in_out.0, i64 %in_out.1) {\n\
         \x20 %0 = icmp eq i64 %in_out.1, 94\n  ret void\n}\n\
         define void @_ZN8veriplex4base6in_out15release_or_wipe17h0000000000000000E(i8 %ok, ptr %opened.0, i64 range(i64 0, 9) %opened.1) {\n\
         \x20 tail call void @llvm.memset.p0.i64(ptr align 1 %opened.0, i8 0, i64 %opened.1, i1 false)\n  ret void\n}\n",
    );
    for (name, data) in ROOTS {
        let (parameter, body) = match (name, data) {
            ("open", _) => (format!("ptr align 8 captures(none) %{data}"), open.to_owned()),
            (_, "len") => ("i64 noundef %len".to_owned(), decrypts("%len")),
            _ => (
                format!("ptr %{data}.0, i64 noundef range(i64 0, 5) %{data}.1"),
                decrypts(&format!("%{data}.1")),
            ),
        };
        let (len, hash) = (name.len(), "17h0000000000000000E");
        let function = format!(
            "define hidden {{ i16, i16 }} @_ZN8veriplex8protocol8Protocol{len}{name}{hash}(ptr %self, {parameter}) \
             unnamed_addr #6 {{\nstart:\n{body}\n}}\n"
        );
        module.push_str(&function);
    }
    module
}

fn decrypts(len: &str) -> String {
    format!(
        "  tail call void @_ZN8veriplex6duplex6Duplex7decrypt17h0000000000000000E(ptr %self, ptr %p, i64 noundef {len})\n  \
         ret void"
    )
}

const LOADS: &str = "  %at = getelementptr inbounds nuw i8, ptr %data, i64 8\n  %p = load ptr, ptr %data, align 8\n  \
                     %n = load i64, ptr %at, align 8\n";

#[test]
fn a_length_may_be_handed_on() {
    let keep =
        "  call void @_ZN8veriplex4base6in_out15release_or_wipe17h0000000000000000E(i8 1, ptr %p, i64 %n)\n";
    let (looked_at, wrong) = check(&planted(&format!("{LOADS}{keep}{}", decrypts("%n"))));
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(
        looked_at,
        ROOTS.len() + 1,
        "release_or_wipe too, but not the duplex"
    );
}

#[test]
fn any_other_use_is_seen() {
    for line in [
        "%big = icmp ugt i64 %n, 1048575",
        "%more = add i64 %n, 1",
        "%end = getelementptr inbounds i8, ptr %p, i64 %n",
        "store i64 %n, ptr %self, align 8",
        "br label %n.1\n  %x = select i1 %c, i64 0, i64 %n",
        "switch i64 %n, label %a [ i64 0, label %b ]",
        "ret i64 %n",
        "%r = call i64 @elsewhere(i64 %n)",
        "%r = tail call i64 @llvm.umin.i64(i64 %n, i64 5)",
        "call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 5, i1 %n)",
        "%byte = load i32, ptr %at, align 4",
        "%same = icmp eq ptr %data, %p",
    ] {
        for body in [format!("{LOADS}  {line}\n"), format!("  {line}\n{LOADS}")] {
            let (_, wrong) = check(&planted(&body));
            assert_eq!(wrong.len(), 1, "{line}: {wrong:?}");
            assert!(wrong[0].contains("Protocol::open uses the length"), "{wrong:?}");
        }
    }
}

#[test]
fn a_function_that_is_missing_is_seen() {
    let all = planted(&decrypts("%n"));
    let (_, wrong) = check(&all.replace("Protocol4mask17", "Protocol4mist17"));
    assert_eq!(
        wrong,
        ["veriplex::protocol::Protocol::mask is not in the bitcode, or has no in_out"]
    );
    let (_, wrong) = check(&all.replace("%input", "%data"));
    assert_eq!(wrong.len(), 2, "{wrong:?}");
}

/// By what code can single out a large number: literals above 255, shifts by a constant, and casts that drop bits.
fn large(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for item in syn::parse_file(source).unwrap().items {
        let tokens = item.to_token_stream();
        // `#[cfg(test)]`, `#[cfg(all(test, ..))]`
        if !tokens.to_string().starts_with("# [cfg (test")
            && !tokens.to_string().starts_with("# [cfg (all (test")
        {
            large_in(tokens, &mut found);
        }
    }
    found
}

fn large_in(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (i, token) in tokens.iter().enumerate() {
        let is = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.to_string() == text);
        let next = |at: usize| tokens.get(at).map_or(String::new(), ToString::to_string);
        match token {
            TokenTree::Group(group) => large_in(group.stream(), found),
            TokenTree::Literal(literal) => {
                let number = literal.to_string().replace('_', "").to_lowercase();
                let number = number
                    .trim_end_matches("usize")
                    .trim_end_matches("u64")
                    .trim_end_matches("u32");
                let value = match number.strip_prefix("0x") {
                    Some(digits) => u128::from_str_radix(digits, 16),
                    None => number.parse(),
                };
                // Text and a literal in another form are no numbers.
                let is_large = value.is_ok_and(|value| value > 255);
                found.extend(
                    (is_large || number.starts_with("0b") || number.starts_with("0o"))
                        .then(|| literal.to_string()),
                );
            }
            TokenTree::Ident(ident)
                if ident == "as" && ["u8", "u16", "u32"].iter().any(|to| is(i + 1, to)) =>
            {
                found.push(format!("as {}", next(i + 1)));
            }
            // Two brackets that close generics are followed by something else, such as the parameters of a method.
            TokenTree::Punct(first) if ["<", ">"].iter().any(|of| is(i, of) && is(i + 1, of)) => {
                let by = i + if is(i + 2, "=") { 3 } else { 2 };
                let shifts = first.as_char() == '<'
                    || by > i + 2
                    || match tokens.get(by) {
                        Some(TokenTree::Literal(_)) => true,
                        Some(TokenTree::Group(group)) => {
                            group.delimiter() == Delimiter::Parenthesis
                                && !next(by).starts_with("(& mut self ,")
                        }
                        _ => false,
                    };
                found.extend(shifts.then(|| format!("{0}{0} {1}", first.as_char(), next(by))));
            }
            _ => (),
        }
    }
}

#[test]
fn large_numbers_are_seen() {
    for (code, seen) in [
        ("if blocks.len() > 80_000 {}", "80_000"),
        ("if n > 1 << 25 {}", "<< 25"),
        ("if n >> 20 > 0 {}", ">> 20"),
        ("first & 0xffff_ffff", "0xffff_ffff"),
        ("n as u32", "as u32"),
        ("n & 0b11", "0b11"),
    ] {
        assert_eq!(large(&format!("fn f() {{ {code} }}")), [seen], "{code}");
    }
    let source = "#[cfg(test)] mod tests { const N: usize = 1000; } fn f(x: Vec<Vec<u8>>) -> Option<Option<u8>> { g(x[94..], \"1000\") }";
    assert_eq!(large(source), Vec::<String>::new());
}

/// The layers have none but these: the bits of LEB128 and of indices, and the sizes of segments, chunks and buffers. So a
/// branch that only long messages take, or a number that wraps, is seen here.
#[test]
fn no_layer_singles_out_a_large_number() {
    let source = root().join("rust/src");
    let layers = [
        "base/in_out.rs",
        "duplex",
        "protocol",
        "schemes/seekable",
        "schemes/tree",
    ];
    let mut found = BTreeMap::new();
    for path in files_under("rust/src") {
        let name = path.strip_prefix(&source).unwrap();
        let is_test = ["protocol/model.rs", "protocol/many/tests.rs"]
            .map(Path::new)
            .contains(&name);
        if layers.iter().any(|layer| name.starts_with(layer)) && !is_test {
            let large = large(&fs::read_to_string(&path).unwrap()).join(", ");
            found.insert(name.to_str().unwrap().to_owned(), large);
        }
    }
    assert!(found.len() > 15, "{found:?}");
    found.retain(|_, large| !large.is_empty());
    let known = [
        (
            "duplex/framing.rs",
            "as u8, as u8, >> 7, as u8, as u8, >> 7, >> 7",
        ),
        ("protocol/many/mod.rs", ">> (7 * group . done)"),
        ("schemes/seekable/io.rs", "<< 17, << 23, << 26"),
        ("schemes/seekable/mod.rs", "<< 24, 16384, << 24, << 16"),
        (
            "schemes/tree/mod.rs",
            "4096, << CHUNK_BITS, << FANOUT_BITS, << (CHUNK_BITS + FANOUT_BITS * level)",
        ),
        (
            "schemes/tree/outboard.rs",
            ">> (FANOUT_BITS * level), << FANOUT_BITS",
        ),
        ("schemes/tree/outboard/io.rs", "<< FANOUT_BITS"),
        ("schemes/tree/outboard/io/writer.rs", "<< 16"),
        ("schemes/tree/threads.rs", "4096"),
    ];
    assert_eq!(
        found,
        known
            .map(|(name, large)| (name.to_owned(), large.to_owned()))
            .into()
    );
}
