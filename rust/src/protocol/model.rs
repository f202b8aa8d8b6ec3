//! The model of `proofs/rocq`, which the theorems are about, compared with this code: on the transcripts of the known
//! answers (each branch and root of each fork is one) and on random ones, both feed the same inputs to
//! the permutation and give the same outputs and states. The same for the messages of the known answers of `tree` and
//! `seekable`, and for sealed messages that were changed or cut.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{println, vec};

use serde_json::Value;

use super::Protocol;
use crate::backend::dispatch::set_hardware_enabled;
use crate::backend::portable::{self, record};
use crate::seekable::{Message, Seekable};
use crate::tree::Tree;
use crate::{Key, Label};

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
fn restore(inputs: &[crate::backend::simpira1024::State]) {
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

    assert_answers(request, &expected);
}

/// Gives a request to the model, whose answer must be this.
fn assert_answers(request: String, expected: &str) {
    // It handles lists by recursion.
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/proofs/rocq/model");
    let mut model = Command::new("sh")
        .args(["-c", "ulimit -s $(ulimit -H -s) && exec \"$0\"", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = model.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(request.as_bytes()));
    let answer = model.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(answer.status.success(), "proofs/rocq/model, built by `make rocq`");
    let answer = String::from_utf8(answer.stdout).unwrap();
    for (a, e) in answer.lines().zip(expected.lines()) {
        assert_eq!(a, e);
    }
    assert_eq!(answer.lines().count(), expected.lines().count());
}

/// The inputs since the last call, and what the permutation makes of them, for the model.
fn write_table(request: &mut String) {
    for input in record::take() {
        let mut output = input;
        portable::permute(&mut output);
        writeln!(request, "perm {} {}", hex(&input), hex(&output)).unwrap();
    }
    record::take();
}

/// The messages of the known answers.
fn data(seed: u64, len: usize) -> Vec<u8> {
    let mut x = seed;
    let next = || {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        x.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(len).collect()
}

fn answers(family: &str) -> Vec<Value> {
    let path = vectors::folder(family).join(std::format!("{family}.json"));
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    file[family].as_array().unwrap().clone()
}

fn number(case: &Value, name: &str) -> usize {
    usize::try_from(case[name].as_u64().unwrap()).unwrap()
}

fn bytes(case: &Value, name: &str) -> Vec<u8> {
    hex::decode(case[name].as_str().unwrap()).unwrap()
}

#[test]
#[ignore = "needs the executable model, which `make rocq` builds, and then runs this"]
fn the_model_hashes_the_same_trees() {
    set_hardware_enabled(false);
    let (mut request, mut expected, mut count) = (String::new(), String::new(), 0);
    for case in answers("tree") {
        let len = number(&case, "len");
        // Of two levels above the message the shortest.
        if len > 40_000 && len != 524_289 {
            continue;
        }
        count += 1;
        let domain = case["domain"].as_str().unwrap();
        let message = data(case["seed"].as_u64().unwrap(), len);
        let mut digest = vec![0; number(&case, "out_len")];
        record::take();
        let mut base = Protocol::new(Label::new(domain.as_bytes()).unwrap());
        let mut key_text = "none".to_string();
        if case["key"].is_string() {
            let key = bytes(&case, "key");
            base.mix(crate::label!("key"), &key);
            key_text = hex(&key);
        }
        Tree::from_protocol(base).digest_into(&message, &mut digest);
        assert_eq!(digest, bytes(&case, "digest"));
        write_table(&mut request);
        let domain = hex(domain.as_bytes());
        writeln!(
            request,
            "tree {domain} {key_text} {} {}",
            digest.len(),
            hex(&message)
        )
        .unwrap();
        writeln!(expected, "out {}", hex(&digest)).unwrap();
    }
    println!("{count} trees of the known answers");
    assert!(count >= 35, "{count} trees");
    assert_answers(request, &expected);
}

fn seekable_message(domain: Label<'_>, key: &Key, nonce: &[u8], ad: &[u8], segment_len: usize) -> Message {
    macro_rules! by_length {
        ($($n:literal)*) => {
            match nonce.len() {
                $($n => {
                    let seekable = Seekable::<$n>::new(domain, key).with_segment_len(segment_len).unwrap();
                    seekable.message(nonce.try_into().unwrap(), ad)
                })*
                n => panic!("add {n} to the list of nonce lengths"),
            }
        };
    }
    by_length!(24 25 26 27 28 29 30 31 32)
}

#[test]
#[ignore = "needs the executable model, which `make rocq` builds, and then runs this"]
fn the_model_reads_the_same_segments() {
    set_hardware_enabled(false);
    let (mut request, mut expected) = (String::new(), String::new());
    let (mut sealed_ones, mut refused) = (0, 0);
    for case in answers("seekable") {
        let (len, segment_len) = (number(&case, "len"), number(&case, "segment_len"));
        if len > 20_000 {
            continue;
        }
        let domain = case["domain"].as_str().unwrap().as_bytes();
        let (key, nonce, ad) = (bytes(&case, "key"), bytes(&case, "nonce"), bytes(&case, "ad"));
        let plaintext = data(case["seed"].as_u64().unwrap(), len);
        let context = std::format!(
            "{} {} {} {} {segment_len}",
            hex(domain),
            hex(&key),
            hex(&nonce),
            hex(&ad)
        );
        record::take();
        let message = seekable_message(
            Label::new(domain).unwrap(),
            &Key::try_from(key.as_slice()).unwrap(),
            &nonce,
            &ad,
            segment_len,
        );
        let sealed = message.seal_vec(&plaintext);
        assert!(hex(&sealed).starts_with(case["ciphertext_first_256"].as_str().unwrap()));
        write_table(&mut request);
        writeln!(request, "segments {context} {}", hex(&plaintext)).unwrap();
        writeln!(expected, "out {}", hex(&sealed)).unwrap();
        sealed_ones += 1;

        // As it was sealed, with one byte changed, cut after the first segment and before the last, and made longer.
        let slot_len = segment_len + 16;
        let mut changed = sealed.clone();
        changed[sealed.len() / 2] ^= 1;
        let slots = sealed.len().div_ceil(slot_len);
        let longer = [sealed.as_slice(), &vec![0; if len == 0 { 1 } else { slot_len }]].concat();
        for (read, accepted) in [
            (sealed.as_slice(), slots),
            (&changed, sealed.len() / 2 / slot_len),
            (&sealed[..slot_len.min(sealed.len() - 1)], 0),
            (&sealed[..(slots - 1) * slot_len], slots.saturating_sub(2)),
            (&longer, slots - 1),
        ] {
            let opened = message.open_vec(read);
            assert_eq!(opened.is_ok(), accepted == slots && read.len() == sealed.len());
            write_table(&mut request);
            writeln!(request, "stream {context} {}", hex(read)).unwrap();
            let segments: Vec<&[u8]> = match plaintext.as_slice() {
                [] => vec![&[]],
                plaintext => plaintext.chunks(segment_len).collect(),
            };
            for segment in &segments[..accepted] {
                writeln!(expected, "out {}", hex(segment)).unwrap();
            }
            if let Ok(opened) = opened {
                writeln!(expected, "finished true {}", opened.len()).unwrap();
            } else {
                refused += 1;
                writeln!(expected, "finished false").unwrap();
            }
        }
    }
    println!("{sealed_ones} sealed messages of the known answers, {refused} others refused");
    assert!(sealed_ones >= 50, "{sealed_ones} messages");
    assert_answers(request, &expected);
}
