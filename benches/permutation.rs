//! The bare permutation and the bulk operations on each backend. On x86-64, each also as a ratio to its lower bound,
//! a chain of 36 dependent AES rounds.

use std::hint::black_box;

use veriplex::hazmat::{Backend, RATE, STATE_LEN};
use veriplex_benches::{PERMUTATIONS, Subject, in_turns, latency_bound, rounds};

/// As many as the bound has permutations.
const BLOCKS: usize = PERMUTATIONS;
const ROUNDS: usize = 400;

fn subjects(backend: Backend) -> Vec<Subject> {
    let name = |operation: &str| format!("{}/{operation}", backend.name());
    let mut state = [0; STATE_LEN];
    let mut blocks = [[0x5a; RATE]; BLOCKS];
    let mut output = blocks;
    vec![
        Subject::new(name("permute"), move || {
            (0..BLOCKS).for_each(|_| backend.permute(black_box(&mut state)));
        }),
        Subject::new(name("absorb"), move || {
            backend.absorb_blocks(&mut state, black_box(&blocks));
        }),
        Subject::new(name("encrypt"), move || {
            backend.encrypt_blocks(&mut state, black_box(&mut blocks));
        }),
        Subject::new(name("encrypt into"), move || {
            backend.encrypt_blocks_into(&mut state, black_box(&blocks), black_box(&mut output));
        }),
        Subject::new(name("copy and encrypt"), move || {
            output.copy_from_slice(black_box(&blocks));
            backend.encrypt_blocks(&mut state, black_box(&mut output));
        }),
        Subject::new(name("decrypt"), move || {
            backend.decrypt_blocks(&mut state, black_box(&mut blocks));
        }),
        Subject::new(name("squeeze"), move || {
            backend.squeeze_blocks(&mut state, black_box(&mut blocks));
        }),
    ]
}

fn main() {
    let mut subjects: Vec<Subject> = latency_bound()
        .into_iter()
        .chain(Backend::available().flat_map(subjects))
        .collect();
    in_turns(&mut subjects, rounds(ROUNDS));

    let first = subjects[0].nanoseconds_per(BLOCKS);
    let current = format!("{}/permute", veriplex::backend());
    let permute = subjects
        .iter()
        .find(|s| s.name == current)
        .map_or(f64::NAN, |s| s.nanoseconds_per(BLOCKS));
    println!(
        "{:26} {:>10} {:>12} {:>12}",
        "per call or block", "ns", "/ first row", "/ permute"
    );
    for subject in &subjects {
        let ns = subject.nanoseconds_per(BLOCKS);
        println!(
            "{:26} {ns:10.1} {:12.3} {:12.3}",
            subject.name,
            ns / first,
            ns / permute
        );
    }
}
