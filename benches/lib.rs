//! Nothing: the benchmarks are the package. `cargo bench -p veriplex-benches --bench permutation` runs one of them.
