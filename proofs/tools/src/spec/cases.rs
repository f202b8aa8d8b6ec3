//! Known answers as Cryptol text: one definition of type Bit per case, true if the specification agrees.

use super::Folders;
use super::cryptol::{self, Job};
use std::fmt::Write as _;
use std::{fs, io};
use veriplex_spec::duplex::Duplex;

/// Bytes as a Cryptol expression.
pub fn bytes(data: &[u8]) -> String {
    if data.is_empty() {
        return "([] : [0][8])".into();
    }
    let mut hex = String::new();
    for b in data {
        write!(hex, "{b:02x}").expect("writing to a string");
    }
    format!("(split`{{{}}} 0x{hex})", data.len())
}

pub fn duplex(d: &Duplex) -> String {
    let Duplex {
        state,
        rate_idx,
        frame_idx,
    } = d;
    format!(
        "{{ state = {}, rate_idx = {rate_idx}, frame_idx = {frame_idx} }}",
        bytes(state)
    )
}

/// A case: a Cryptol expression of type Bit, and about how many permutations it takes.
pub struct Case {
    pub expression: String,
    pub cost: usize,
}

/// A chain of operations: the lines of a `where`, and the conditions on the results.
pub struct Chain {
    lines: Vec<String>,
    conditions: Vec<String>,
    step: usize,
}

impl Chain {
    pub fn from(start: &str) -> Chain {
        Chain {
            lines: vec![format!("d0 = {start}")],
            conditions: Vec::new(),
            step: 0,
        }
    }

    /// The current state.
    pub fn now(&self) -> String {
        format!("d{}", self.step)
    }

    /// Continues to the state that `expression` gives.
    pub fn next(&mut self, expression: &str) {
        self.step += 1;
        self.lines.push(format!("d{} = {expression}", self.step));
    }

    /// Continues to the state and the output that `expression` gives.
    pub fn next_with_output(&mut self, expression: &str, want: &[u8]) {
        self.step += 1;
        self.lines.push(format!("(d{0}, o{0}) = {expression}", self.step));
        self.conditions.push(format!("o{} == {}", self.step, bytes(want)));
    }

    pub fn require(&mut self, condition: String) {
        self.conditions.push(condition);
    }

    /// The case: all conditions hold, and this is the final state.
    pub fn end(mut self, state: &Duplex, cost: usize) -> Case {
        let last = format!("{} == {}", self.now(), duplex(state));
        self.conditions.push(last);
        let expression = format!(
            "and\n    [ {} ]\n  where\n    {}",
            self.conditions.join("\n    , "),
            self.lines.join("\n    ")
        );
        Case { expression, cost }
    }
}

/// One operation of a transcript, with the expected results.
pub enum Op {
    Mix {
        label: Vec<u8>,
        input: Vec<u8>,
    },
    Derive {
        label: Vec<u8>,
        output: Vec<u8>,
    },
    Mask {
        label: Vec<u8>,
        plaintext: Vec<u8>,
        ciphertext: Vec<u8>,
    },
    Unmask {
        label: Vec<u8>,
        ciphertext: Vec<u8>,
        plaintext: Vec<u8>,
    },
    Seal {
        label: Vec<u8>,
        plaintext: Vec<u8>,
        sealed: Vec<u8>,
    },
    /// An opening that must fail.
    Refuse {
        label: Vec<u8>,
        sealed: Vec<u8>,
    },
    Fork {
        label: Vec<u8>,
        branches: Vec<(Vec<u8>, Vec<u8>)>,
        root: Vec<u8>,
        continue_with: usize,
    },
    Ratchet {
        label: Vec<u8>,
    },
}

/// A transcript, with serialized states.
pub struct Transcript {
    pub domain: Vec<u8>,
    pub ops: Vec<Op>,
    pub end: Duplex,
}

impl Transcript {
    /// A case for a module that imports Duplex, with `ratchet` hidden, and Protocol.
    pub fn case(&self) -> Case {
        let mut chain = Chain::from(&format!("init {}", bytes(&self.domain)));
        let mut cost = 1;
        for op in &self.ops {
            let p = chain.now();
            let work = match op {
                Op::Mix { label, input } => {
                    chain.next(&format!("mix {p} {} {}", bytes(label), bytes(input)));
                    label.len() + input.len()
                }
                Op::Derive { label, output } => {
                    let n = output.len();
                    chain.next_with_output(&format!("derive`{{{n}}} {p} {}", bytes(label)), output);
                    label.len() + n + 94
                }
                Op::Mask {
                    label,
                    plaintext,
                    ciphertext,
                } => {
                    chain.next_with_output(
                        &format!("mask {p} {} {}", bytes(label), bytes(plaintext)),
                        ciphertext,
                    );
                    label.len() + plaintext.len() + 94
                }
                Op::Unmask {
                    label,
                    ciphertext,
                    plaintext,
                } => {
                    chain.next_with_output(
                        &format!("unmask {p} {} {}", bytes(label), bytes(ciphertext)),
                        plaintext,
                    );
                    label.len() + plaintext.len() + 94
                }
                Op::Seal {
                    label,
                    plaintext,
                    sealed,
                } => {
                    let (label, plain) = (bytes(label), bytes(plaintext));
                    chain.next_with_output(&format!("seal {p} {label} {plain}"), sealed);
                    let after = chain.now();
                    let opened = format!("({after}, {{ ok = True, plaintext = {plain} }})");
                    chain.require(format!("open {p} {label} {} == {opened}", bytes(sealed)));
                    2 * (label.len() + plaintext.len() + 188)
                }
                Op::Refuse { label, sealed } => {
                    let opened = "{ ok = False, plaintext = zero }";
                    let before = p;
                    chain.step += 1;
                    chain.lines.push(format!(
                        "(d{0}, o{0}) = open {before} {1} {2}",
                        chain.step,
                        bytes(label),
                        bytes(sealed)
                    ));
                    chain.require(format!("o{} == {opened}", chain.step));
                    label.len() + sealed.len() + 188
                }
                Op::Fork {
                    label,
                    branches,
                    root,
                    continue_with,
                } => {
                    let l = bytes(label);
                    let mut work = label.len();
                    for (i, (value, state)) in (1..).zip(branches) {
                        let branch = format!("fork_branch {p} {l} {i} {}", bytes(value));
                        chain.require(format!("serialize ({branch}) == {}", bytes(state)));
                        work += label.len() + value.len();
                    }
                    chain.require(format!("serialize (fork_root {p} {l}) == {}", bytes(root)));
                    match continue_with {
                        0 => chain.next(&format!("fork_root {p} {l}")),
                        i => chain.next(&format!("fork_branch {p} {l} {i} {}", bytes(&branches[i - 1].0))),
                    }
                    work
                }
                Op::Ratchet { label } => {
                    chain.next(&format!("ratchet {p} {}", bytes(label)));
                    label.len() + 94
                }
            };
            cost += work.div_ceil(94);
        }
        chain.end(&self.end, cost)
    }
}

pub const TRANSCRIPT_IMPORTS: &str = "import Duplex hiding (ratchet)\nimport Protocol\n";

/// Writes the cases as modules beside the specification, of about `batch` permutations each, and returns the jobs that
/// evaluate them.
pub fn jobs(
    folders: &Folders,
    on_text: bool,
    name: &str,
    imports: &str,
    cases: &[Case],
    batch: usize,
) -> io::Result<Vec<Job>> {
    let mut batches: Vec<Vec<&Case>> = Vec::new();
    let mut room = 0;
    for case in cases {
        if room < case.cost || batches.is_empty() {
            batches.push(Vec::new());
            room = if folders.one_by_one { 0 } else { batch };
        }
        room = room.saturating_sub(case.cost);
        batches.last_mut().expect("a batch").push(case);
    }
    let folder = if on_text { &folders.text } else { &folders.blocks };
    let mut jobs = Vec::new();
    for (i, batch) in batches.iter().enumerate() {
        let module = format!("Answers_{name}_{i}");
        let mut source = format!("module {module} where\n\n{imports}");
        let path = folders.scripts.join(format!("{module}.cry"));
        let mut script = format!(":load {}\n", path.display());
        for (j, case) in batch.iter().enumerate() {
            write!(source, "\ncase_{j} : Bit\ncase_{j} = {}\n", case.expression)
                .expect("writing to a string");
            writeln!(script, "case_{j}").expect("writing to a string");
        }
        fs::write(&path, source)?;
        let count = batch.len();
        jobs.push(Job {
            name: format!("{name} {}/{}", i + 1, batches.len()),
            method: "evaluate".into(),
            folder: folder.clone(),
            script,
            verdict: Box::new(move |output| {
                cryptol::all_true(output, count).map(|()| format!("{count} cases agree"))
            }),
        });
    }
    Ok(jobs)
}
