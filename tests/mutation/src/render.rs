//! The text with every mutant in it.

use std::fmt::Write as _;
use std::ops::Range;

use crate::sites::{File, Form, Function, Site};

/// A mutant of the crate. Its number is its place in the list.
#[derive(Debug)]
pub struct Mutant {
    /// File, function, what is changed: what lists name it by.
    pub name: String,
    pub line: usize,
    /// Its function, as a number in the crate.
    pub function: usize,
    pub form: Form,
    pub compiled: bool,
    /// It does not compile.
    pub dropped: bool,
    /// It is among those that this run is about.
    pub chosen: bool,
}

impl Mutant {
    /// Whether it is in the build.
    pub fn is_there(&self) -> bool {
        self.chosen && !self.dropped
    }
}

/// What a function's mutants look like now.
#[derive(Debug)]
pub struct State {
    /// Numbers of its mutants.
    pub mutants: Range<usize>,
    /// Whether it is still `const`, because a constant needs it.
    pub constant: bool,
}

/// Where a mutant is in the rendered file.
#[derive(Debug)]
pub struct Place {
    pub mutant: usize,
    /// What it adds.
    pub own: Range<usize>,
    /// That with what it replaces.
    pub whole: Range<usize>,
}

#[derive(Debug, Default)]
pub struct Rendered {
    pub text: String,
    pub places: Vec<Place>,
    /// Functions and where their bodies are.
    pub functions: Vec<(usize, Range<usize>)>,
}

/// `first` is the number of the file's first function; `path` leads to the module that says which mutant runs.
pub fn file(file: &File, first: usize, states: &[State], mutants: &[Mutant], path: &str) -> Rendered {
    let mut all = Renderer {
        text: &file.text,
        mutants,
        path,
        out: Rendered::default(),
    };
    let mut order: Vec<(usize, &Function)> = file.functions.iter().enumerate().collect();
    order.sort_by_key(|(_, function)| function.body.start);
    let mut at = 0;
    for (i, function) in order {
        let state = &states[first + i];
        let there = state.mutants.clone().any(|mutant| mutants[mutant].is_there());
        let mutated = there && !(function.constant.is_some() && state.constant);
        if let Some(word) = &function.constant
            && mutated
        {
            all.out.text += &file.text[at..word.start];
            at = word.end;
        }
        all.out.text += &file.text[at..function.body.start];
        at = function.body.end;
        let start = all.out.text.len();
        if mutated {
            if function.twice {
                let Range { start, end } = state.mutants;
                write!(all.out.text, "{{ if {path}::within({start}, {end}) ").unwrap();
            }
            let mut number = state.mutants.start;
            all.part(function.body.clone(), &function.sites, &mut number);
            if function.twice {
                all.out.text += " else ";
                all.out.text += &file.text[function.body.clone()];
                all.out.text += " }";
            }
        } else {
            all.out.text += &file.text[function.body.clone()];
        }
        all.out.functions.push((first + i, start..all.out.text.len()));
    }
    all.out.text += &file.text[at..];
    all.out
}

struct Renderer<'a> {
    text: &'a str,
    mutants: &'a [Mutant],
    path: &'a str,
    out: Rendered,
}

impl Renderer<'_> {
    fn part(&mut self, range: Range<usize>, mut sites: &[Site], number: &mut usize) {
        let mut at = range.start;
        while let Some((site, rest)) = sites.split_first() {
            self.out.text += &self.text[at..site.range.start];
            at = site.range.end;
            let inner = if site.range.is_empty() {
                0
            } else {
                rest.iter()
                    .take_while(|inner| inner.range.end <= site.range.end)
                    .count()
            };
            let (inner, rest) = rest.split_at(inner);
            self.site(site, inner, number);
            sites = rest;
        }
        self.out.text += &self.text[at..range.end];
    }

    fn site(&mut self, site: &Site, inner: &[Site], number: &mut usize) {
        let start = self.out.text.len();
        let mut own = Vec::new();
        let path = self.path;
        for (with, _) in &site.alternatives {
            let mutant = *number;
            *number += 1;
            if !self.mutants[mutant].is_there() {
                continue;
            }
            let begin = self.out.text.len();
            match site.form {
                Form::Expression => {
                    let open = if own.is_empty() { "(if" } else { " else if" };
                    write!(self.out.text, "{open} {path}::is({mutant}) {{{with}}}").unwrap();
                }
                Form::Return => write!(self.out.text, " if {path}::is({mutant}) {{ {with} }} ").unwrap(),
                Form::Statement => write!(self.out.text, "if !{path}::is({mutant}) {{").unwrap(),
                Form::Arm => write!(self.out.text, " if !{path}::is({mutant})").unwrap(),
            }
            own.push((mutant, begin..self.out.text.len()));
        }
        let wrapped = !own.is_empty();
        if wrapped && site.form == Form::Expression {
            self.out.text += " else {";
        }
        self.part(site.range.clone(), inner, number);
        match site.form {
            Form::Expression if wrapped => self.out.text += "})",
            Form::Statement if wrapped => self.out.text += ";}",
            _ => {}
        }
        let whole = start..self.out.text.len();
        self.out.places.extend(own.into_iter().map(|(mutant, own)| Place {
            mutant,
            own,
            whole: whole.clone(),
        }));
    }
}

/// The module that says which mutant runs, in the environment's variable `VERIPLEX_MUTANT`: a number, or the name of a
/// file where the numbers of the mutants are written that the process could have run.
pub fn module(count: usize) -> String {
    MODULE.replace("COUNT", &count.to_string())
}

const MODULE: &str = r#"//! Says which mutant runs.
#![allow(warnings, unsafe_code, clippy::all)]
extern crate std;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::string::String;

const NONE: u32 = u32::MAX - 2;
const ALL: u32 = u32::MAX - 1;
const UNKNOWN: u32 = u32::MAX;
static ACTIVE: AtomicU32 = AtomicU32::new(UNKNOWN);
static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

#[inline(always)]
pub fn is(number: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    active == number || (active >= ALL && reach(number))
}

#[inline(always)]
pub fn within(start: u32, end: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    active.wrapping_sub(start) < end - start || (active >= ALL && enter(start, end))
}

#[cold]
#[inline(never)]
fn enter(start: u32, end: u32) -> bool {
    let active = know();
    active == ALL || (start..end).contains(&active)
}

#[cold]
#[inline(never)]
fn reach(number: u32) -> bool {
    let active = know();
    if active == ALL {
        REACHED[number as usize].store(true, Relaxed);
    }
    active == number
}

/// Before `main`: a test that measures memory would see what asking takes.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    know();
}

#[cold]
#[inline(never)]
fn know() -> u32 {
    if ACTIVE.load(Relaxed) == UNKNOWN {
        let active = match std::env::var("VERIPLEX_MUTANT") {
            Ok(text) => text.parse().unwrap_or_else(|_| {
                unsafe extern "C" {
                    fn atexit(function: extern "C" fn()) -> i32;
                }
                unsafe { atexit(write) };
                ALL
            }),
            Err(_) => NONE,
        };
        ACTIVE.store(active, Relaxed);
    }
    ACTIVE.load(Relaxed)
}

extern "C" fn write() {
    let mut text = String::new();
    for (number, reached) in REACHED.iter().enumerate() {
        if reached.load(Relaxed) {
            text += &std::format!("{number}\n");
        }
    }
    let name = std::env::var("VERIPLEX_MUTANT").unwrap();
    let _ = std::fs::write(std::format!("{name}.{}", std::process::id()), text);
}
"#;
