//! Throughput of the schemes at the sizes that Newplex measures, on each backend.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use veriplex::aead::Aead;
use veriplex::hazmat::{Backend, set_hardware_enabled};
use veriplex::mac::Mac;
use veriplex::{Key, Protocol, digest, label, stream};

const SIZES: [(&str, usize); 6] = [
    ("16B", 16),
    ("256B", 256),
    ("1KiB", 1 << 10),
    ("16KiB", 16 << 10),
    ("64KiB", 64 << 10),
    ("1MiB", 1 << 20),
];
const KEY: [u8; 32] = [7; 32];

/// One group per backend and scheme, one benchmark per size.
fn sizes(c: &mut Criterion, scheme: &str, mut run: impl FnMut(&mut [u8])) {
    for backend in Backend::available() {
        set_hardware_enabled(backend.name() != "portable");
        let mut group = c.benchmark_group(format!("{scheme}/{}", backend.name()));
        for (name, len) in SIZES {
            let mut data = vec![0x5a; len];
            group.throughput(Throughput::Bytes(len as u64));
            group.bench_function(BenchmarkId::from_parameter(name), |b| {
                b.iter(|| run(black_box(&mut data)));
            });
        }
    }
    set_hardware_enabled(true);
}

fn hash(c: &mut Criterion) {
    sizes(c, "hash", |data| {
        black_box(digest::digest(label!("bench.hash"), data));
    });
}

fn mac(c: &mut Criterion) {
    sizes(c, "mac", |data| {
        let mut mac = Mac::new(label!("bench.mac"), &Key::from(KEY));
        mac.update(data);
        black_box(mac.finalize());
    });
}

/// A pseudorandom function with outputs of the given size.
fn prf(c: &mut Criterion) {
    sizes(c, "prf", |data| {
        let mut protocol = Protocol::new(label!("bench.prf"));
        protocol.mix(label!("key"), &KEY);
        protocol.derive(label!("output"), data);
    });
}

fn stream_cipher(c: &mut Criterion) {
    sizes(c, "stream", |data| {
        stream::encrypt(label!("bench.stream"), &Key::from(KEY), &[1; 16], data);
    });
}

fn aead(c: &mut Criterion) {
    let aead = Aead::<16>::new(label!("bench.aead"), &Key::from(KEY));
    sizes(c, "aead", |data| {
        black_box(aead.seal_in_place_detached(&[1; 16], b"", data));
    });
}

criterion_group!(benches, hash, mac, prf, stream_cipher, aead);
criterion_main!(benches);
