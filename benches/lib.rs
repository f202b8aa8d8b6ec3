//! Empty: this package consists of its benchmarks. `cargo bench -p veriplex-benches --bench permutation` runs one.
