//! Builds the tests of the mutated crate, without the mutants that do not compile.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::render::{Mutant, Place, Rendered, State};
use crate::sites::{self, Configuration, File, Form};
use crate::{Package, render, run};

/// A crate with its mutants.
pub struct Crate {
    pub files: Vec<File>,
    pub states: Vec<State>,
    pub mutants: Vec<Mutant>,
    /// Of the files' texts, by their names.
    hashes: HashMap<String, u64>,
    /// The files as they were written last, without their text.
    places: Vec<(PathBuf, Rendered)>,
}

/// A program with tests.
#[derive(Clone, Debug)]
pub struct Program {
    pub name: String,
    pub path: PathBuf,
    /// The folder of its package.
    pub folder: PathBuf,
}

fn cargo(copy: &Path, arguments: &[&str], target: &Path) -> Vec<Value> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(arguments)
        .args(["--locked", "--message-format=json"])
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("cargo");
    let text = String::from_utf8(output.stdout).expect("text from cargo");
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// What rustc and the build script set. The script is run as cargo does, but before anything is built.
fn configuration(tree: &Path, package: &Package, out: &Path) -> Configuration {
    let text = |output: std::process::Output| String::from_utf8(output.stdout).expect("text");
    let printed = text(
        Command::new("rustc")
            .args(["--print", "cfg"])
            .output()
            .expect("rustc"),
    );
    let mut set: Vec<String> = printed.lines().map(str::to_owned).collect();
    if let Some(script) = package.script {
        let program = out.join("build-script");
        let built = Command::new("rustc")
            .args(["--edition", "2024", "-o"])
            .arg(&program)
            .arg(tree.join(script))
            .status();
        assert!(built.expect("rustc").success(), "{script}");
        let mut run = Command::new(program);
        for line in printed.lines() {
            if let Some((name, value)) = line.split_once('=') {
                run.env(
                    format!("CARGO_CFG_{}", name.to_uppercase()),
                    value.trim_matches('"'),
                );
            }
        }
        let printed = text(run.output().expect("the build script"));
        set.extend(
            printed
                .lines()
                .filter_map(|line| line.strip_prefix("cargo::rustc-cfg="))
                .map(str::to_owned),
        );
    }
    Configuration { set }
}

/// The file of the module that says which mutant runs.
fn module(package: &Package) -> PathBuf {
    Path::new(package.root).with_file_name("mutation.rs")
}

impl Crate {
    /// Finds the mutants of a package in a tree that is not mutated.
    pub fn new(tree: &Path, package: &Package, out: &Path) -> Self {
        let configuration = configuration(tree, package, out);
        let files = sites::of_crate(tree, Path::new(package.root), &configuration);
        let hashes = (files.iter())
            .map(|file| (file.path.display().to_string(), run::hash(file.text.as_bytes())))
            .collect();
        let (mut states, mut mutants) = (Vec::new(), Vec::<Mutant>::new());
        let mut names = HashMap::<String, usize>::new();
        for file in &files {
            for function in &file.functions {
                let start = mutants.len();
                for site in &function.sites {
                    for (_, what) in &site.alternatives {
                        let name = format!("{} {}: {what}", file.path.display(), function.name);
                        let count = names.entry(name.clone()).or_default();
                        *count += 1;
                        mutants.push(Mutant {
                            name: if *count == 1 {
                                name
                            } else {
                                format!("{name} #{count}")
                            },
                            line: file.text[..site.range.start].matches('\n').count() + 1,
                            function: states.len(),
                            form: site.form,
                            compiled: function.compiled,
                            dropped: !function.compiled,
                            chosen: true,
                        });
                    }
                }
                states.push(State {
                    mutants: start..mutants.len(),
                    constant: false,
                });
            }
        }
        Self {
            files,
            states,
            mutants,
            hashes,
            places: Vec::new(),
        }
    }

    /// The files that `build` writes.
    pub fn written(&self, package: &Package) -> BTreeSet<PathBuf> {
        let mutated = self.files.iter().map(|file| file.path.clone());
        mutated.chain([module(package)]).collect()
    }

    fn write(&mut self, copy: &Path, package: &Package) {
        self.places.clear();
        let mut first = 0;
        for file in &self.files {
            let mut rendered = render::file(file, first, &self.states, &self.mutants, "crate::mutation");
            if file.path == Path::new(package.root) {
                rendered.text += "\n#[doc(hidden)]\npub mod mutation;\n";
            }
            // With every mutant in them, functions are too long for that. Of the same length, for the places of errors.
            rendered.text = rendered.text.replace("#[inline(always)]", "#[inline]        ");
            first += file.functions.len();
            write(&copy.join(&file.path), &rendered.text);
            rendered.text.clear();
            self.places.push((file.path.clone(), rendered));
        }
        write(&copy.join(module(package)), &render::module(self.mutants.len()));
    }

    /// Which mutants do not compile and which functions stay const, as `remember` reads it: each with the hash of its
    /// file, so that it says nothing about another text.
    fn dropped(&self) -> String {
        let mut text = String::new();
        for (i, mutant) in self.mutants.iter().enumerate() {
            let state = &self.states[mutant.function];
            let first = state.constant && i == state.mutants.start;
            let words = [
                ("uncompiled", mutant.compiled && mutant.dropped),
                ("constant", first),
            ];
            for (word, _) in words.iter().filter(|(_, is)| *is) {
                writeln!(text, "{word}\t{:x}\t{}", self.hash_of(i), mutant.name).unwrap();
            }
        }
        text
    }

    /// Leaves out what did not compile in an earlier run.
    pub fn remember(&mut self, text: &str) {
        let known: BTreeSet<&str> = text.lines().collect();
        for i in 0..self.mutants.len() {
            let rest = format!("{:x}\t{}", self.hash_of(i), self.mutants[i].name);
            self.mutants[i].dropped |= known.contains(&*format!("uncompiled\t{rest}"));
            self.states[self.mutants[i].function].constant |= known.contains(&*format!("constant\t{rest}"));
        }
    }

    fn hash_of(&self, mutant: usize) -> u64 {
        self.hashes[self.mutants[mutant].name.split(' ').next().unwrap()]
    }

    /// Builds, again and again without what does not compile, which is noted in `known`.
    pub fn build(
        &mut self,
        copy: &Path,
        package: &Package,
        (target, known): (&Path, &Path),
        what: &[String],
    ) -> Vec<Program> {
        let mut arguments = vec!["test", "--no-run"];
        arguments.extend(what.iter().map(String::as_str));
        loop {
            self.write(copy, package);
            let messages = cargo(copy, &arguments, target);
            let errors: Vec<&Value> = messages
                .iter()
                .filter(|message| {
                    message["reason"] == "compiler-message" && message["message"]["level"] == "error"
                })
                .map(|message| &message["message"])
                .collect();
            if errors.is_empty() {
                assert!(
                    messages.iter().any(|message| message["success"] == true),
                    "cargo fails without an error of rustc: run it in {}",
                    copy.display()
                );
                return programs(&messages);
            }
            let mut constants = BTreeSet::new();
            let mut dropped = BTreeSet::new();
            for error in &errors {
                if error["code"]["code"] == "E0015" && self.restore(error, &mut constants) {
                    continue;
                }
                self.blame(error, &mut dropped);
            }
            eprintln!(
                "{} errors: {} functions stay const, {} mutants do not compile",
                errors.len(),
                constants.len(),
                dropped.len()
            );
            if constants.is_empty() && dropped.is_empty() {
                for error in errors.iter().take(5) {
                    eprintln!("{}", error["rendered"].as_str().unwrap_or_default());
                }
                panic!("these errors are not in a mutant");
            }
            for function in constants {
                self.states[function].constant = true;
            }
            for mutant in dropped {
                self.mutants[mutant].dropped = true;
            }
            write(known, &self.dropped());
        }
    }

    /// A constant needs the function that this error names: it must be `const` as before.
    fn restore(&self, error: &Value, constants: &mut BTreeSet<usize>) -> bool {
        let message = error["message"].as_str().unwrap_or_default();
        let Some(path) = message.split('`').nth(1) else {
            return false;
        };
        let mut depth = 0;
        let plain: String = path
            .chars()
            .filter(|&c| {
                depth += i32::from(c == '<');
                let keep = depth == 0;
                depth -= i32::from(c == '>');
                keep
            })
            .collect();
        let name = plain
            .rsplit("::")
            .find(|part| !part.is_empty())
            .unwrap_or_default();
        let functions = self.files.iter().flat_map(|file| &file.functions).enumerate();
        let mut known = false;
        for (i, function) in functions {
            if function.constant.is_some() && function.own_name == name {
                known = true;
                if !self.states[i].constant {
                    constants.insert(i);
                }
            }
        }
        known
    }

    /// The mutants that an error of the compiler is about.
    fn blame(&self, error: &Value, dropped: &mut BTreeSet<usize>) {
        let mut spans = Vec::new();
        collect(error, &mut spans);
        for (path, span) in &spans {
            let Some((_, Rendered { places, .. })) = self.places.iter().find(|(file, _)| file == path) else {
                continue;
            };
            let inside = |range: &Range<usize>| range.start <= span.start && span.end <= range.end;
            let smallest = |places: &mut dyn Iterator<Item = &Place>| places.map(|p| p.whole.len()).min();
            let own = places
                .iter()
                .filter(|place| inside(&place.own))
                .min_by_key(|place| place.own.len());
            if let Some(place) = own {
                dropped.insert(place.mutant);
                return;
            }
            let within: Vec<&Place> = places.iter().filter(|place| inside(&place.whole)).collect();
            if let Some(len) = smallest(&mut within.iter().copied()) {
                dropped.extend(
                    within
                        .iter()
                        .filter(|place| place.whole.len() == len)
                        .map(|place| place.mutant),
                );
                return;
            }
        }
        // None is around it: what is in it, and else the function, first what leaves something out.
        for (path, span) in &spans {
            let Some((
                _,
                Rendered {
                    places, functions, ..
                },
            )) = self.places.iter().find(|(file, _)| file == path)
            else {
                continue;
            };
            let in_it: Vec<&Place> = places
                .iter()
                .filter(|p| span.start <= p.whole.start && p.whole.end <= span.end)
                .collect();
            if !in_it.is_empty() {
                dropped.extend(in_it.iter().map(|place| place.mutant));
                return;
            }
            let Some((function, _)) = functions
                .iter()
                .find(|(_, body)| body.start <= span.start && span.end <= body.end)
            else {
                continue;
            };
            let alive: Vec<usize> = self.states[*function]
                .mutants
                .clone()
                .filter(|&mutant| self.mutants[mutant].is_there())
                .collect();
            let left_out = alive
                .iter()
                .filter(|&&mutant| self.mutants[mutant].form == Form::Statement);
            let left_out: Vec<usize> = left_out.copied().collect();
            let all = if left_out.is_empty() { alive } else { left_out };
            eprintln!(
                "{} mutants of {}: {}",
                all.len(),
                all.first().map_or("", |&mutant| &self.mutants[mutant].name),
                error["message"].as_str().unwrap_or_default()
            );
            dropped.extend(all);
            return;
        }
    }
}

/// The places that an error names, the main one first.
fn collect(error: &Value, found: &mut Vec<(PathBuf, Range<usize>)>) {
    let spans = error["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
    for main in [true, false] {
        for span in spans.iter().filter(|span| span["is_primary"] == main) {
            let mut span = span;
            while !span.is_null() {
                let at = |key: &str| {
                    span[key]
                        .as_u64()
                        .and_then(|at| usize::try_from(at).ok())
                        .unwrap_or(0)
                };
                let path = span["file_name"].as_str().unwrap_or_default();
                found.push((path.into(), at("byte_start")..at("byte_end")));
                span = &span["expansion"]["span"];
            }
        }
    }
    for child in error["children"].as_array().into_iter().flatten() {
        collect(child, found);
    }
}

fn programs(messages: &[Value]) -> Vec<Program> {
    let mut programs: Vec<Program> = messages
        .iter()
        .filter(|message| message["reason"] == "compiler-artifact" && message["profile"]["test"] == true)
        .filter_map(|message| {
            let manifest = Path::new(message["manifest_path"].as_str()?);
            Some(Program {
                name: message["target"]["name"].as_str()?.to_owned(),
                path: message["executable"].as_str()?.into(),
                folder: manifest.parent()?.to_owned(),
            })
        })
        .collect();
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    programs
}

/// Writes a file if it is not so already: cargo looks at the time.
pub fn write(path: &Path, text: &str) {
    if std::fs::read_to_string(path).is_ok_and(|now| now == text) {
        return;
    }
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}
