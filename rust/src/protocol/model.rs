//! The model of `proofs/rocq`, which the theorems are about, compared with this code: on the transcripts of the known
//! answers (each branch and root of each fork is one) and on random ones, both feed the same inputs to
//! the permutation and give the same outputs and states.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{println, vec};

use serde_json::Value;

use super::Protocol;
use crate::Label;
use crate::backend::portable::{self, record};
use crate::backend::set_hardware_enabled;

#[path = "../../../tests/common/vectors.rs"]
mod vectors;

#[derive(Clone)]
enum Op {
    Init(Vec<u8>),
    Mix(Vec<u8>, Vec<u8>),
    Derive(Vec<u8>, usize),
    Mask(Vec<u8>, Vec<u8>),
    Unmask(Vec<u8>, Vec<u8>),
    Seal(Vec<u8>, Vec<u8>),
    /// A sealed message, as it was or changed.
    Open(Vec<u8>, Vec<u8>),
    /// Which of the values to go on with; `None` for the root.
    Fork(Vec<u8>, Vec<Vec<u8>>, Option<usize>),
    Ratchet(Vec<u8>),
}

fn hex(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        "-".to_string()
    } else {
        hex::encode(bytes)
    }
}

/// Runs a transcript here, and writes it for the model into `request` and what the model must answer into
/// `expected`.
fn run(name: &str, ops: &[Op], request: &mut String, expected: &mut String) {
    fn label(bytes: &[u8]) -> Label<'_> {
        Label::new(bytes).unwrap()
    }
    record::take();
    let mut protocol = Protocol::from_bytes(&[0; 130]).unwrap();
    writeln!(request, "begin {name}").unwrap();
    writeln!(expected, "begin {name}").unwrap();
    for op in ops {
        let output = match op {
            Op::Init(domain) => {
                writeln!(request, "init {}", hex(domain)).unwrap();
                protocol = Protocol::new(label(domain));
                None
            }
            Op::Mix(l, data) => {
                writeln!(request, "mix {} {}", hex(l), hex(data)).unwrap();
                protocol.mix(label(l), data);
                None
            }
            Op::Derive(l, n) => {
                writeln!(request, "derive {} {n}", hex(l)).unwrap();
                Some(protocol.derive_vec(label(l), *n))
            }
            Op::Mask(l, data) => {
                writeln!(request, "mask {} {}", hex(l), hex(data)).unwrap();
                Some(protocol.mask_vec(label(l), data))
            }
            Op::Unmask(l, data) => {
                writeln!(request, "unmask {} {}", hex(l), hex(data)).unwrap();
                Some(protocol.unmask_vec(label(l), data))
            }
            Op::Seal(l, data) => {
                writeln!(request, "seal {} {}", hex(l), hex(data)).unwrap();
                Some(protocol.seal_vec(label(l), data))
            }
            Op::Open(l, sealed) => {
                let (ciphertext, tag) = sealed.split_at(sealed.len() - 16);
                writeln!(request, "open {} {} {}", hex(l), hex(ciphertext), hex(tag)).unwrap();
                Some(protocol.open_vec(label(l), sealed).unwrap())
            }
            Op::Fork(l, values, branch) => {
                let (number, value) = branch.map_or((0, [].as_slice()), |i| (i + 1, values[i].as_slice()));
                writeln!(request, "fork {} {number} {}", hex(l), hex(value)).unwrap();
                let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
                // All branches are made here, but only this one's inputs belong to the transcript.
                let mut before = protocol.clone();
                let earlier = record::take();
                let branches = protocol.fork_vec(label(l), &values).unwrap();
                record::take();
                restore(&earlier);
                before.header(super::Op::Fork, label(l));
                before.duplex.absorb(&[u8::try_from(number).unwrap()]);
                before.duplex.absorb(value);
                let chosen = branch.map_or(&protocol, |i| &branches[i]);
                assert_eq!(before, *chosen);
                protocol = before;
                None
            }
            Op::Ratchet(l) => {
                writeln!(request, "ratchet {}", hex(l)).unwrap();
                protocol.ratchet(label(l));
                None
            }
        };
        if let Some(output) = output {
            writeln!(expected, "out {}", hex(&output)).unwrap();
        }
    }
    writeln!(request, "end").unwrap();

    let inputs = record::take();
    let mut before = [0; 128];
    let mut fed = String::new();
    for input in &inputs {
        let block: Vec<u8> = input[..96].iter().zip(before).map(|(i, b)| i ^ b).collect();
        assert_eq!(
            input[96..],
            before[96..],
            "the capacity passes from output to input unchanged"
        );
        let mut output = *input;
        portable::permute(&mut output);
        writeln!(request, "perm {} {}", hex(input), hex(&output)).unwrap();
        writeln!(expected, "in {}", hex(input)).unwrap();
        writeln!(fed, "fed {}", hex(&block)).unwrap();
        before = output;
    }
    let state = protocol.to_bytes();
    let (rate_idx, frame_idx) = (state[0], state[1]);
    let open: Vec<u8> = state[2..]
        .iter()
        .zip(before)
        .map(|(s, b)| s ^ b)
        .take(usize::from(rate_idx))
        .collect();
    writeln!(expected, "{fed}last {frame_idx} {}", hex(&open)).unwrap();
    writeln!(expected, "state {rate_idx} {frame_idx} {}\nend", hex(&state[2..])).unwrap();
}

/// Puts recorded inputs back.
fn restore(inputs: &[crate::simpira1024::State]) {
    inputs.iter().for_each(record::input);
}

/// The transcripts of the known answers, with their forks taken every way.
fn from_vectors() -> Vec<Vec<Op>> {
    let text = std::fs::read_to_string(vectors::folder("newplex").join("protocol.json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let mut transcripts = Vec::new();
    for case in file["transcripts"]
        .as_array()
        .unwrap()
        .iter()
        .chain(file["long_labels"].as_array().unwrap())
    {
        let text = |v: &Value| v.as_str().unwrap().as_bytes().to_vec();
        let bytes = |v: &Value| hex::decode(v.as_str().unwrap()).unwrap();
        let mut ops = vec![Op::Init(text(&case["domain"]))];
        for op in case["ops"].as_array().unwrap() {
            let label = text(&op["label"]);
            ops.push(match op["op"].as_str().unwrap() {
                "mix" => Op::Mix(label, bytes(&op["input"])),
                "derive" => Op::Derive(label, usize::try_from(op["n"].as_u64().unwrap()).unwrap()),
                "mask" => Op::Mask(label, bytes(&op["plaintext"])),
                "unmask" => Op::Unmask(label, bytes(&op["ciphertext"])),
                "seal" => {
                    let mut opened = ops.clone();
                    opened.push(Op::Open(label.clone(), bytes(&op["sealed"])));
                    transcripts.push(opened);
                    Op::Seal(label, bytes(&op["plaintext"]))
                }
                "fork" => {
                    let values: Vec<Vec<u8>> = op["values"].as_array().unwrap().iter().map(bytes).collect();
                    let taken = usize::try_from(op["continue_with"].as_u64().unwrap())
                        .unwrap()
                        .checked_sub(1);
                    for way in (0..values.len())
                        .map(Some)
                        .chain([None])
                        .filter(|way| *way != taken)
                    {
                        let mut other = ops.clone();
                        other.push(Op::Fork(label.clone(), values.clone(), way));
                        transcripts.push(other);
                    }
                    Op::Fork(label, values, taken)
                }
                "ratchet" => Op::Ratchet(label),
                other => panic!("unknown operation {other}"),
            });
        }
        transcripts.push(ops);
    }
    transcripts
}

/// Random transcripts, many of them with headers across the end of a block.
fn random(count: usize) -> Vec<Vec<Op>> {
    let mut source = Protocol::new(crate::label!("transcripts"));
    let mut below = |n: usize| {
        let x = u64::from_le_bytes(source.derive_array(crate::label!("number")));
        usize::try_from(x % u64::try_from(n).unwrap()).unwrap()
    };
    (0..count)
        .map(|_| {
            let mut bytes = |max: usize| -> Vec<u8> {
                let n = below(max + 1);
                (0..n).map(|_| u8::try_from(below(256)).unwrap()).collect()
            };
            let mut ops = vec![Op::Init(bytes(91))];
            for _ in 0..=bytes(6).len() {
                let label = bytes(91);
                ops.push(match bytes(6).len() {
                    0 => Op::Mix(label, bytes(200)),
                    1 => Op::Derive(label, bytes(200).len()),
                    2 => Op::Mask(label, bytes(200)),
                    3 => Op::Unmask(label, bytes(200)),
                    4 => Op::Seal(label, bytes(200)),
                    5 => {
                        let values = vec![bytes(100), bytes(100)];
                        Op::Fork(label, values, [None, Some(0), Some(1)][bytes(2).len()])
                    }
                    _ => Op::Ratchet(label),
                });
            }
            ops
        })
        .collect()
}

#[test]
#[ignore = "needs the executable model, which `make rocq` builds, and then runs this"]
fn the_model_feeds_the_same_blocks() {
    set_hardware_enabled(false); // the portable backend is the one that records
    let vectors = from_vectors();
    assert!(vectors.len() >= 300, "{} transcripts", vectors.len());
    let random = random(300);
    println!(
        "{} transcripts of the known answers, {} random ones",
        vectors.len(),
        random.len()
    );

    let (mut request, mut expected) = (String::new(), String::new());
    for (i, ops) in vectors.iter().chain(&random).enumerate() {
        let mut transcript = String::new();
        run(&i.to_string(), ops, &mut transcript, &mut expected);
        // The model wants the permutation's table before the line that needs it.
        let (table, lines): (Vec<&str>, Vec<&str>) = transcript.lines().partition(|l| l.starts_with("perm"));
        for line in table.into_iter().chain(lines) {
            writeln!(request, "{line}").unwrap();
        }
    }

    let mut model = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/proofs/rocq/model"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("proofs/rocq/model, built by `make rocq`");
    let mut stdin = model.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(request.as_bytes()));
    let answer = model.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(answer.status.success());
    let answer = String::from_utf8(answer.stdout).unwrap();
    for (a, e) in answer.lines().zip(expected.lines()) {
        assert_eq!(a, e);
    }
    assert_eq!(answer.lines().count(), expected.lines().count());
}
