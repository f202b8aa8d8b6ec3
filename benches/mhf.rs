//! The memory-hard hash, in MiB of memory filled per second. Compared with its definition as a plain loop over
//! `Protocol`, and with one Mix and one Derive of as many bytes as its nodes absorb and output.

// The sizes are small.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use veriplex::hazmat::{Backend, set_hardware_enabled};
use veriplex::mhf::{BLOCK_LEN, Block, Mhf};
use veriplex::{Protocol, label};

const PASSWORD: &[u8] = b"correct horse battery staple";
const SALT: &[u8] = &[7; 16];

fn leb128(mut n: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n >= 0x80 {
        bytes.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

/// The parents of a group of three blocks, in the order of the definition.
fn parents(independent: &Protocol, columns: usize, u: usize) -> Vec<usize> {
    let mut parents = Vec::new();
    if u >= 1 {
        parents.push(u - 1);
    }
    if u >= 2 {
        let mut node = independent.clone();
        node.mix(label!("node"), &leb128(u));
        let level = u64::from_le_bytes(node.derive_array(label!("level")));
        let offset = u64::from_le_bytes(node.derive_array(label!("offset")));
        let distance = 2 << (level % (u64::from((u - 1).ilog2()) + 1));
        parents.push((u + (offset % (distance / 2)) as usize).saturating_sub(distance as usize));
    }
    if u >= columns {
        parents.push(u - columns);
    }
    parents
}

/// The definition, node by node.
fn naive(cost: u8, output: &mut [u8]) {
    let n = 1_usize << cost;
    let columns = (n as f64).powf(0.8).round() as usize;
    let mut memory: Vec<Block> = vec![[0; BLOCK_LEN]; 5 * n];
    let mut root = Protocol::new(label!("bench.mhf"));
    root.mix(label!("cost"), &[cost]);
    root.mix(label!("salt"), SALT);
    let [independent, mut dependent] = root.fork(label!("data"), ["independent", "dependent"]);
    dependent.mix(label!("password"), PASSWORD);
    memory[0] = dependent.derive_array(label!("source"));
    for v in 1..3 * n {
        let parents = parents(&independent, columns, v / 3);
        let last = |parent: &usize| 3 * parent + 2;
        let (required, optional) = match v % 3 {
            0 => (last(&parents[0]), None),
            k => (v - 1, parents.get(k).map(last)),
        };
        let mut node = dependent.clone();
        node.mix(label!("node"), &leb128(v));
        node.mix(label!("required"), &memory[required]);
        if let Some(optional) = optional {
            node.mix(label!("optional"), &memory[optional]);
        }
        memory[v] = node.derive_array(label!("static"));
    }
    for v in 3 * n..5 * n {
        let mut node = dependent.clone();
        node.mix(label!("prev"), &memory[v - 1]);
        let r = u64::from_le_bytes(node.derive_array(label!("pre-label"))) as usize % n;
        node.mix(label!("back-pointer"), &memory[3 * r + 2]);
        memory[v] = node.derive_array(label!("dynamic"));
    }
    dependent.mix(label!("final"), &memory[5 * n - 1]);
    dependent.derive(label!("output"), output);
}

fn bulk(cost: u8, buffer: &mut [u8]) {
    let mut protocol = Protocol::new(label!("bench.mhf"));
    // All 5N nodes absorb one block, and all but a few of 4N absorb a second one.
    protocol.mix(label!("in"), &buffer[..(9 * BLOCK_LEN) << cost]);
    protocol.derive(label!("out"), &mut buffer[..(5 * BLOCK_LEN) << cost]);
}

fn mhf(c: &mut Criterion) {
    for backend in Backend::available() {
        set_hardware_enabled(backend.name() != "portable");
        let mut group = c.benchmark_group(format!("mhf/{}", backend.name()));
        group.sample_size(20);
        for cost in [10, 14] {
            let mhf = Mhf::with_any_cost(label!("bench.mhf"), cost).unwrap();
            let (mut ours, mut naives) = ([0; 32], [0; 32]);
            mhf.hash_into(PASSWORD, SALT, &mut ours).unwrap();
            naive(cost, &mut naives);
            assert_eq!(ours, naives);
            group.throughput(Throughput::Bytes((mhf.memory_blocks() * BLOCK_LEN) as u64));
            group.bench_function(BenchmarkId::new("hash_into", cost), |b| {
                b.iter(|| mhf.hash_into(PASSWORD, SALT, black_box(&mut ours)));
            });
            group.bench_function(BenchmarkId::new("naive", cost), |b| {
                b.iter(|| naive(cost, black_box(&mut ours)));
            });
            let mut buffer = vec![0; (9 * BLOCK_LEN) << cost];
            group.bench_function(BenchmarkId::new("bulk", cost), |b| {
                b.iter(|| bulk(cost, black_box(&mut buffer)));
            });
        }
    }
    set_hardware_enabled(true);
}

criterion_group!(benches, mhf);
criterion_main!(benches);
