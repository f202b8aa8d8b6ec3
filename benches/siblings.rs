//! The siblings of Newplex compared with the crates that they replace, on the same data.

use std::hint::black_box;

use chacha20::cipher::{KeyIvInit, StreamCipher};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use poly1305::universal_hash::KeyInit;
use veriplex::adiantum::{Adiantum, HPolyC, WideBlockCipher};
use veriplex::hazmat::chacha::xchacha;
use veriplex::hazmat::set_hardware_enabled;
use veriplex::xoofff::{DomainBits, Offset, Xoofff};

const KEY: [u8; 32] = [7; 32];
const SIZES: [(&str, usize); 3] = [("32B", 32), ("1KiB", 1 << 10), ("64KiB", 64 << 10)];

/// Input and output of each size, of this crate and of the crate `xoofff`.
fn xoofff(c: &mut Criterion) {
    for (name, len) in SIZES {
        let (input, mut out) = (vec![0x5a; len], vec![0; len]);
        let mut group = c.benchmark_group(format!("xoofff/{name} in and out"));
        group.throughput(Throughput::Bytes(2 * len as u64));
        let keyed = Xoofff::new(&KEY).expect("a short key");
        group.bench_function(BenchmarkId::from_parameter("veriplex"), |b| {
            b.iter(|| {
                let mut strings = keyed.clone();
                strings.absorb(black_box(&input));
                strings.finalize(DomainBits::NONE, Offset::ZERO).squeeze(&mut out);
            });
        });
        let keyed = xoofff::Xoofff::new(&KEY);
        group.bench_function(BenchmarkId::from_parameter("crate xoofff"), |b| {
            b.iter(|| {
                let mut strings = keyed;
                strings.absorb(black_box(&input));
                strings.finalize(0, 0, 0);
                strings.squeeze(&mut out);
            });
        });
    }
}

/// The bare permutation of each.
fn xoodoo(c: &mut Criterion) {
    let (mut state, mut words) = ([0x5a; 48], [0x5a5a_5a5a; 12]);
    let mut group = c.benchmark_group("xoodoo/12 rounds");
    group.bench_function(BenchmarkId::from_parameter("veriplex"), |b| {
        b.iter(|| veriplex::hazmat::xoodoo::<12>(black_box(&mut state)));
    });
    group.bench_function(BenchmarkId::from_parameter("crate xoofff"), |b| {
        b.iter(|| xoofff::xoodoo::permute::<12>(black_box(&mut words)));
    });
}

/// XORs the stream of `XChaCha` with so many rounds into data of each size: with the kernels of this CPU, by the portable
/// code, and by the crate `chacha20`.
fn xchacha_rounds<const ROUNDS: usize, C: KeyIvInit + StreamCipher>(c: &mut Criterion) {
    const NONCE: [u8; 24] = [1; 24];
    for (name, len) in [("64B", 64), ("4KiB", 4 << 10), ("64KiB", 64 << 10)] {
        let mut data = vec![0x5a; len];
        let mut group = c.benchmark_group(format!("xchacha{ROUNDS}/{name}"));
        group.throughput(Throughput::Bytes(len as u64));
        for (of, enabled) in [("veriplex", true), ("veriplex portable", false)] {
            set_hardware_enabled(enabled);
            group.bench_function(BenchmarkId::from_parameter(of), |b| {
                b.iter(|| xchacha::<ROUNDS>(&KEY, &NONCE, black_box(&mut data)));
            });
        }
        set_hardware_enabled(true);
        group.bench_function(BenchmarkId::from_parameter("crate chacha20"), |b| {
            b.iter(|| {
                let mut cipher = C::new_from_slices(&KEY, &NONCE).expect("their sizes");
                cipher.apply_keystream(black_box(&mut data));
            });
        });
    }
}

fn streams(c: &mut Criterion) {
    xchacha_rounds::<12, chacha20::XChaCha12>(c);
    xchacha_rounds::<20, chacha20::XChaCha20>(c);
}

/// The tag of a message of each size: with the kernels of this CPU, by the portable code, and by the crate `poly1305`.
fn poly1305_tags(c: &mut Criterion) {
    for (name, len) in [
        ("64B", 64),
        ("1KiB", 1 << 10),
        ("8KiB", 8 << 10),
        ("64KiB", 64 << 10),
    ] {
        let data = vec![0x5a; len];
        let mut group = c.benchmark_group(format!("poly1305/{name}"));
        group.throughput(Throughput::Bytes(len as u64));
        for (of, enabled) in [("veriplex", true), ("veriplex portable", false)] {
            set_hardware_enabled(enabled);
            group.bench_function(BenchmarkId::from_parameter(of), |b| {
                b.iter(|| veriplex::poly1305::auth(KEY, black_box(&data)));
            });
        }
        set_hardware_enabled(true);
        group.bench_function(BenchmarkId::from_parameter("crate poly1305"), |b| {
            b.iter(|| poly1305::Poly1305::new(&KEY.into()).compute_unpadded(black_box(&data)));
        });
    }
}

/// 256 sectors, one by one and with one call.
fn sectors(c: &mut Criterion) {
    let adiantum = Adiantum::<12>::new(&KEY);
    let hpolyc = HPolyC::<12>::new(&KEY);
    let ciphers: [(&str, &dyn WideBlockCipher); 2] = [("adiantum12", &adiantum), ("hpolyc12", &hpolyc)];
    for (name, cipher) in ciphers {
        for sector_len in [512, 4096] {
            let mut data = vec![0x5a; 256 * sector_len];
            let mut group = c.benchmark_group(format!("{name}/256 sectors of {sector_len}"));
            group.throughput(Throughput::Bytes(data.len() as u64));
            group.bench_function("one by one", |b| {
                b.iter(|| {
                    for (number, sector) in (0_u64..).zip(data.chunks_exact_mut(sector_len)) {
                        let mut tweak = [0; 32];
                        tweak[..8].copy_from_slice(&number.to_le_bytes());
                        cipher
                            .encrypt_in_place(&tweak, black_box(sector))
                            .expect("a sector");
                    }
                });
            });
            group.bench_function("encrypt_sectors", |b| {
                b.iter(|| {
                    let data = black_box(data.as_mut_slice());
                    cipher
                        .encrypt_sectors(sector_len, 0, data)
                        .expect("whole sectors");
                });
            });
        }
    }
}

criterion_group!(benches, xoofff, xoodoo, streams, poly1305_tags, sectors);
criterion_main!(benches);
