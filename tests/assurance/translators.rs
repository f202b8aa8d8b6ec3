//! The awk programs that write text for Rocq: no part of their sources is passed over. A change of any token is refused, or
//! changes the text.
#![cfg(unix)]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use veriplex_assurance::evidence::{read, root};

/// What a translator writes of these texts, or its error.
fn translate(name: &str, texts: &[&str]) -> Result<String, String> {
    // Tests run beside each other.
    let test = thread::current().name().unwrap().to_owned();
    let files: Vec<PathBuf> = (0..texts.len())
        .map(|i| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}-{name}-{i}")))
        .collect();
    for (file, text) in files.iter().zip(texts) {
        fs::write(file, text).unwrap();
    }
    let script = root().join(format!("proofs/rocq/translate/{name}.awk"));
    let output = Command::new("awk")
        .arg("-f")
        .arg(script)
        .args(files)
        .output()
        .unwrap();
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(String::from_utf8(output.stderr).unwrap())
    }
}

/// The tokens of a line: where each begins and ends.
fn tokens(line: &str) -> Vec<(usize, usize)> {
    let kind = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            1
        } else {
            u8::from("><&|+".contains(c)) * 2
        }
    };
    let mut tokens: Vec<(usize, usize)> = Vec::new();
    let mut before = 0;
    for (at, c) in line.char_indices() {
        match (kind(c), tokens.last_mut()) {
            (0, _) => (),
            (now, Some(last)) if now == before => last.1 = at + 1,
            _ => tokens.push((at, at + 1)),
        }
        before = kind(c);
    }
    tokens
}

fn another(token: &str) -> String {
    match token {
        ">>" => "<<".to_owned(),
        "<<" => ">>".to_owned(),
        "+" => "-".to_owned(),
        "&&" => "||".to_owned(),
        "||" => "&&".to_owned(),
        _ => {
            let (rest, last) = token.split_at(token.len() - 1);
            format!("{rest}{}", if last == "1" { "2" } else { "1" })
        }
    }
}

/// The numbers of the lines that a translator of Cryptol reads: without comments, empty lines, `where`, which Cryptol itself
/// demands, and types, whose lengths it checks.
fn code(source: &str, begins: &str, ends: &str) -> Vec<usize> {
    let (mut on, mut comment, mut lines) = (false, false, Vec::new());
    for (number, line) in source.lines().enumerate() {
        if line.starts_with("// -- ") {
            on = line.starts_with(begins) || on && !line.starts_with(ends);
        } else if line.starts_with("/**") || comment {
            comment = !line.contains("*/");
        } else if on
            && !line.starts_with("//")
            && !line.is_empty()
            && line != "  where"
            && !line.contains(" : ")
        {
            lines.push(number);
        }
    }
    lines
}

#[test]
fn every_token_of_the_cryptol_counts() {
    for (name, path, begins, ends) in [
        (
            "limbs",
            "spec/cryptol/Poly1305.cry",
            "// -- As kernels compute it",
            "// -- ",
        ),
        (
            "words",
            "proofs/saw/lib/Poly1305Words.cry",
            "// -- Operations",
            "// -- Messages",
        ),
    ] {
        let source = read(path);
        let text = translate(name, &[&source]).unwrap();
        let lines: Vec<&str> = source.lines().collect();
        let code = code(&source, begins, ends);
        assert!(code.len() > 50, "{path}");
        // One token of each line, now the first, now the last.
        for (i, number) in code.into_iter().enumerate() {
            let line = lines[number];
            let tokens = tokens(line);
            let (start, end) = tokens[i % tokens.len()];
            let changed = format!("{}{}{}", &line[..start], another(&line[start..end]), &line[end..]);
            let mut lines = lines.clone();
            for (line, what) in [(Some(changed.as_str()), "changed"), (None, "left out")] {
                match line {
                    Some(line) => lines[number] = line,
                    None => drop(lines.remove(number)),
                }
                let same = translate(name, &[&(lines.join("\n") + "\n")]).is_ok_and(|other| other == text);
                assert!(!same, "{path}:{}: {changed}: {what}", number + 1);
            }
        }
    }
}

#[test]
fn what_they_do_not_know_is_refused() {
    for (name, path, from, to, why) in [
        (
            "limbs",
            "spec/cryptol/Poly1305.cry",
            "low_product : [64] -> ",
            "low_product : [32] -> ",
            "another product",
        ),
        (
            "limbs",
            "spec/cryptol/Poly1305.cry",
            "low52 : [64] -> ",
            "low52 : [52] -> ",
            "another product",
        ),
        (
            "limbs",
            "spec/cryptol/Poly1305.cry",
            "low_product x y = zext",
            "low_product x y = sext",
            "another product",
        ),
        (
            "limbs",
            "spec/cryptol/Poly1305.cry",
            "[5][64] -> [9][64] -> [5][64]\n",
            "[5][32] -> [9][64] -> [5][64]\n",
            "a type",
        ),
        (
            "limbs",
            "spec/cryptol/Poly1305.cry",
            " >> 26\n",
            " >>> 26\n",
            "an operation",
        ),
        (
            "words",
            "proofs/saw/lib/Poly1305Words.cry",
            " >> 64\n",
            " <<< 64\n",
            "an operation",
        ),
        (
            "words",
            "proofs/saw/lib/Poly1305Words.cry",
            "wide_product x y = x * y",
            "wide_product x y = x + y",
            "another product",
        ),
        (
            "words",
            "proofs/saw/lib/Poly1305Words.cry",
            "0x0000000000000000ffffffffffffffff",
            "0xffffffffffffffff",
            "another width",
        ),
    ] {
        let source = read(path);
        assert!(source.contains(from), "{path}: {from}");
        let refusal = translate(name, &[&source.replacen(from, to, 1)]).unwrap_err();
        assert!(refusal.contains(why), "{name}: {to}: {refusal}");
    }
    let duplex =
        read("tests/vectors/newplex/duplex.json").replacen("\"op\": \"absorb\"", "\"op\": \"absorbs\"", 1);
    let refusal = translate(
        "vectors",
        &[&read("tests/vectors/newplex/simpira1024.json"), &duplex],
    )
    .unwrap_err();
    assert!(refusal.contains("unknown operation absorbs"), "{refusal}");
}

fn json(path: &str) -> Value {
    serde_json::from_str(&read(path)).unwrap()
}

fn list<'v>(value: &'v Value, key: &str) -> &'v Vec<Value> {
    value[key].as_array().unwrap_or_else(|| panic!("{key}"))
}

/// Another reader finds the same answers, in number and in what they end with.
fn answers_end(name: &str, paths: &[&str], ends: &[Vec<String>]) {
    let texts: Vec<String> = paths.iter().map(|path| read(path)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let text = translate(name, &texts).unwrap();
    let lists: Vec<&str> = text.split("\nDefinition ").skip(1).collect();
    assert_eq!(lists.len(), ends.len(), "{name}");
    for (list, ends) in lists.into_iter().zip(ends) {
        let items: Vec<&str> = list
            .split_once("[\n  ")
            .unwrap()
            .1
            .split("].")
            .next()
            .unwrap()
            .split(";\n  ")
            .collect();
        assert_eq!(items.len(), ends.len(), "{name}");
        for (item, end) in items.iter().zip(ends) {
            let item = item.trim_end().trim_end_matches(')');
            assert!(
                item.ends_with(end.as_str()),
                "{name}: {item} does not end with {end}"
            );
        }
    }
}

fn text(value: &Value) -> String {
    format!("\"{}\"", value.as_str().unwrap_or_default())
}

#[test]
fn permutations_and_duplexes_are_those_of_the_files() {
    let [permutations, duplex] = [
        "tests/vectors/newplex/simpira1024.json",
        "tests/vectors/newplex/duplex.json",
    ];
    answers_end(
        "vectors",
        &[permutations, duplex],
        &[
            (list(&json(permutations), "vectors").iter())
                .map(|of| format!("({}, {}", text(&of["input"]), text(&of["output"])))
                .collect(),
            (list(&json(duplex), "sequences").iter())
                .map(|of| format!("] {} {} {}", of["rate_idx"], of["frame_idx"], text(&of["state"])))
                .collect(),
        ],
    );
}

#[test]
fn tags_are_those_of_the_file() {
    let poly1305 = "tests/vectors/poly1305/poly1305.json";
    let answers = json(poly1305);
    let valid = answers.as_array().unwrap().iter().filter(|of| {
        of["valid"] != false
            && of["message"].is_string()
            && of["tag"].as_str().is_some_and(|tag| tag.len() == 32)
    });
    let answers = valid.map(|of| {
        format!(
            "({}, {}, {}",
            text(&of["key"]),
            text(&of["message"]),
            text(&of["tag"])
        )
    });
    answers_end("poly1305", &[poly1305], &[answers.collect()]);
}

#[test]
fn trees_and_segments_are_those_of_the_files() {
    let [tree, seekable] = [
        "tests/vectors/tree/tree.json",
        "tests/vectors/seekable/seekable.json",
    ];
    answers_end(
        "parallel",
        &[tree, seekable],
        &[
            (list(&json(tree), "tree").iter())
                .filter(|of| of["len"].as_u64().unwrap() <= 4097)
                .map(|of| {
                    format!(
                        "{} {} {} {}",
                        of["seed"],
                        of["len"],
                        of["out_len"],
                        text(&of["digest"])
                    )
                })
                .collect(),
            (list(&json(seekable), "seekable").iter())
                .filter(|of| of["segment_len"].as_u64().unwrap() <= 100 && of["len"].as_u64().unwrap() <= 129)
                .map(|of| {
                    let [first, digest] =
                        ["ciphertext_first_256", "ciphertext_digest"].map(|key| text(&of[key]));
                    let numbers = [&of["segment_len"], &of["seed"], &of["len"]];
                    format!("{} {} {} {first} {digest}", numbers[0], numbers[1], numbers[2])
                })
                .collect(),
        ],
    );
}

#[test]
fn xoofff_is_that_of_the_file() {
    let xoofff = "tests/vectors/xoofff/xoofff.json";
    let answers = json(xoofff);
    let short = |value: &Value, most: usize| value.as_str().is_none_or(|hex| hex.len() <= 2 * most);
    answers_end(
        "xoofff",
        &[xoofff],
        &[
            (list(&answers, "xoodoo").iter())
                .map(|of| {
                    format!(
                        "({}, {}, {}",
                        text(&of["input"]),
                        text(&of["rounds_6"]),
                        text(&of["rounds_12"])
                    )
                })
                .collect(),
            (list(&answers, "xoofff").iter())
                .filter(|of| {
                    let strings = list(of, "strings").iter();
                    short(&of["output"], 200)
                        && strings
                            .clone()
                            .all(|string| short(&string["data"], 385) && short(&string["output_after"], 200))
                })
                .map(|of| format!("] {}", text(&of["output"])))
                .collect(),
        ],
    );
}
