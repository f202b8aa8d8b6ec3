//! Poly1305, NH, Adiantum and `HPolyC`, the first compared with the crate `poly1305`.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use poly1305::universal_hash::KeyInit;
use veriplex::adiantum::{Adiantum, HPolyC, WideBlockCipher};
use veriplex::hazmat::nh::{self, Nh};
use veriplex::hazmat::poly1305::Backend;
use veriplex::hazmat::set_hardware_enabled;

const KEY: [u8; 32] = [7; 32];

/// A benchmark for each size.
fn sizes(c: &mut Criterion, name: &str, sizes: &[usize], mut run: impl FnMut(&mut [u8])) {
    let mut group = c.benchmark_group(name);
    for &len in sizes {
        let mut data = vec![0x5a; len];
        group.throughput(Throughput::Bytes(len as u64));
        group.bench_function(BenchmarkId::from_parameter(len), |b| {
            b.iter(|| run(black_box(&mut data)));
        });
    }
}

fn authenticators(c: &mut Criterion) {
    const SIZES: [usize; 3] = [64, 1024, 8192];
    for backend in Backend::available() {
        sizes(c, &format!("poly1305/{}", backend.name()), &SIZES, |data| {
            black_box(backend.auth(&KEY, data));
        });
    }
    sizes(c, "poly1305/the crate", &SIZES, |data| {
        black_box(poly1305::Poly1305::new(&KEY.into()).compute_unpadded(data));
    });
    let nh = Nh::new(&[7; nh::KEY_LEN]);
    for (name, kernels) in [("nh/portable", false), ("nh/kernels", true)] {
        set_hardware_enabled(kernels);
        sizes(c, name, &[64, 1024], |data| {
            black_box(nh.hash(data)).expect("at most 1024 bytes");
        });
    }
}

fn wide_blocks(c: &mut Criterion) {
    const SIZES: [usize; 2] = [512, 4096];
    let (adiantum, hpolyc) = (Adiantum::<12>::new(&KEY), HPolyC::<12>::new(&KEY));
    let ciphers: [(&str, &dyn WideBlockCipher); 2] = [("adiantum", &adiantum), ("hpolyc", &hpolyc)];
    for (name, cipher) in ciphers {
        sizes(c, &format!("{name}/xchacha12"), &SIZES, |data| {
            cipher.encrypt_in_place(&[1; 32], data).expect("16 bytes or more");
        });
        sizes(
            c,
            &format!("{name}/xchacha12, 256 sectors"),
            &[256 * 4096],
            |data| {
                cipher.encrypt_sectors(4096, 0, data).expect("whole sectors");
            },
        );
    }
}

criterion_group!(benches, authenticators, wide_blocks);
criterion_main!(benches);
