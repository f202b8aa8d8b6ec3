//! Eight states at once: each operation beside the time of its AES instructions alone, bound by throughput. All in one run,
//! each row the best of many rounds.

use std::hint::black_box;

use veriplex::hazmat::{LANES, LaneBackend, RATE, States};
use veriplex_benches::{PERMUTATIONS, Subject, in_turns, rounds, throughput_bounds};

/// As many as the bounds have permutations of eight states.
const BLOCKS: usize = PERMUTATIONS;
const ROUNDS: usize = 300;

/// The operations of a backend.
fn operations(backend: LaneBackend) -> Vec<Subject> {
    fn blocks() -> Vec<Vec<[u8; RATE]>> {
        vec![vec![[0x5a; RATE]; BLOCKS]; LANES]
    }
    fn slices(blocks: &mut [Vec<[u8; RATE]>]) -> [&mut [[u8; RATE]]; LANES] {
        let mut blocks = blocks.iter_mut();
        std::array::from_fn(|_| blocks.next().map_or(&mut [][..], Vec::as_mut_slice))
    }
    type Transform = fn(LaneBackend, &mut States, &mut [&mut [[u8; RATE]]; LANES]);
    type Apart = fn(LaneBackend, &mut States, &[&[[u8; RATE]]; LANES], &mut [&mut [[u8; RATE]]; LANES]);
    // Two sets of states in turn: what one call stores, the next does not load.
    let mut states = [States::new(), States::new()];
    let mut subjects = vec![Subject::new("permute", move || {
        (0..BLOCKS).for_each(|i| backend.permute(black_box(&mut states[i % 2])));
    })];
    let mut states = States::new();
    let input = blocks();
    subjects.push(Subject::new("absorb_blocks", move || {
        let input = std::array::from_fn(|lane| input[lane].as_slice());
        backend.absorb_blocks(&mut states, black_box(&input));
    }));
    let transforms: [(&str, Transform); 3] = [
        ("encrypt_blocks", LaneBackend::encrypt_blocks),
        ("decrypt_blocks", LaneBackend::decrypt_blocks),
        ("squeeze_blocks", LaneBackend::squeeze_blocks),
    ];
    for (name, transform) in transforms {
        let (mut states, mut blocks) = (States::new(), blocks());
        subjects.push(Subject::new(name, move || {
            transform(backend, &mut states, black_box(&mut slices(&mut blocks)));
        }));
    }
    let apart: [(&str, Apart); 2] = [
        ("encrypt_blocks_into", LaneBackend::encrypt_blocks_into),
        ("decrypt_blocks_into", LaneBackend::decrypt_blocks_into),
    ];
    for (name, transform) in apart {
        let (mut states, input, mut output) = (States::new(), blocks(), blocks());
        subjects.push(Subject::new(name, move || {
            let input = std::array::from_fn(|lane| input[lane].as_slice());
            transform(backend, &mut states, black_box(&input), &mut slices(&mut output));
        }));
    }
    subjects
}

fn main() {
    let mut bounds = throughput_bounds();
    let mut backends: Vec<(LaneBackend, Vec<Subject>)> = (LaneBackend::available())
        .filter(|backend| backend.name() != LaneBackend::PORTABLE.name())
        .map(|backend| (backend, operations(backend)))
        .collect();
    let all = backends.iter_mut().flat_map(|(_, subjects)| subjects);
    in_turns(
        bounds.iter_mut().map(|(_, bound)| bound).chain(all),
        rounds(ROUNDS),
    );
    println!(
        "{:16} {:34} {:>10} {:>9}",
        "", "per state and block", "ns", "/ bound"
    );
    for (backend, subjects) in &backends {
        let bound = bounds
            .iter()
            .find(|(level, _)| *level == backend.name())
            .map(|(_, bound)| bound);
        for subject in bound.into_iter().chain(subjects) {
            let ns = subject.nanoseconds_per(BLOCKS * LANES);
            let ratio = bound.map_or(f64::NAN, |bound| ns / bound.nanoseconds_per(BLOCKS * LANES));
            println!("{:16} {:34} {ns:10.2} {ratio:9.3}", backend.name(), subject.name);
        }
    }
}
