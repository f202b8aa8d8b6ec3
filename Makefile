# Targets for people: `make help`.
CARGO ?= cargo
SECONDS = 60
export CARGO STRICT
# Of the random inputs of `make isa`.
SEED ?= $(shell date +%s)
PACKAGES = build-essential coq cvc5 gcc-aarch64-linux-gnu libc6-dev-arm64-cross ocaml-findlib qemu-user valgrind z3
# For `make test-aarch64` where rustc has no standard library for it (as `rustup target add` brings). It adds /usr/bin/rustc.
CROSS_PACKAGES = rustc-web libstd-rust-web-dev:arm64

# The backend override that this machine can have, and one that it cannot.
ARCH := $(if $(filter aarch64 arm64,$(shell uname -m)),aarch64,x86_64)
IMPOSSIBLE := $(if $(filter aarch64,$(ARCH)),x86_64,aarch64)

.PHONY: help test test-aarch64 lint features fuzz bench deps spec isa proofs rocq kernels kernels-check ct audit replay mutants

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

test: ## every test, with all features, without any, and with the backend fixed
	$(CARGO) test --workspace --all-features --tests
	RUSTDOC=$(CURDIR)/tests/rustdoc $(CARGO) test --workspace --all-features --doc
	$(CARGO) test --no-default-features --tests
	RUSTFLAGS='--cfg veriplex_backend="portable"' $(CARGO) test --target-dir target/override --test vectors
	RUSTFLAGS='--cfg veriplex_intrinsics' $(CARGO) test --target-dir target/override --test vectors
	RUSTFLAGS='--cfg veriplex_backend="$(ARCH)"' $(CARGO) check --lib --target-dir target/override
	@for backend in $(IMPOSSIBLE) unknown; do \
	    if RUSTFLAGS="--cfg veriplex_backend=\"$$backend\"" \
	        $(CARGO) check --lib --target-dir target/override >target/override/log 2>&1; \
	    then echo "veriplex_backend=\"$$backend\" must not build" >&2; exit 1; fi; \
	    grep "error: .*veriplex_backend=\"$$backend\"" target/override/log; \
	done

test-aarch64: ## the tests of crate and kernels on AArch64, under qemu; fewer random cases
	@VERIPLEX_CASES=400 VERIPLEX_MUTATIONS=20000 tests/on-aarch64 test --package veriplex --package veriplex-assurance --all-features --tests -- --test-threads=1

lint: ## formatting, clippy and rustdoc without warnings (needs a C++ compiler, for the fuzz targets)
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	$(CARGO) clippy --lib --no-default-features -- -D warnings
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --manifest-path fuzz/Cargo.toml -- -D warnings
	RUSTFLAGS='--cfg veriplex_hax' $(CARGO) check --quiet --package veriplex-spec --target-dir target/override
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --all-features --no-deps

features: ## clippy on the crate with many sets of features (tests/feature-sets)
	@tests/feature-sets | while read -r set; do \
	    $(CARGO) clippy --quiet --lib --no-default-features --features "$$set" -- -D warnings || { echo "features: $$set" >&2; exit 1; }; \
	done

kernels: ## the assembly of jasmin/x86-64 from its Jasmin (needs jasminc)
	$(CARGO) run --quiet --package veriplex-tools -- kernels

kernels-check: ## the kernels lift to proofs/generated; their assembly is what the Jasmin compiles to, constant-time and memory-safe (needs jasminc, jasmin-ct)
	$(CARGO) run --quiet --package veriplex-tools -- lift
	$(CARGO) run --quiet --package veriplex-tools -- kernels --check $(if $(STRICT),--strict)

ct: ## under valgrind, on the known answers: no branch and no address depends on a secret (needs valgrind)
	$(CARGO) run --quiet --release --package veriplex-ct -- $(if $(STRICT),--strict)
	RUSTFLAGS='--cfg veriplex_intrinsics' $(CARGO) run --quiet --release --target-dir target/intrinsics --package veriplex-ct -- $(if $(STRICT),--strict)

fuzz: ## every fuzz target in turn, for SECONDS (60) each (needs cargo-fuzz and a C++ compiler)
	@if command -v cargo-fuzz >/dev/null; then cd fuzz && \
	    for target in $$($(CARGO) fuzz list); do \
	        $(CARGO) fuzz run --release --sanitizer none --no-trace-compares $$target -- \
	            -max_total_time=$(SECONDS) -timeout=10 -print_final_stats=1 || exit 1; \
	    done; \
	else echo "make fuzz: skipped, no cargo-fuzz on PATH (cargo install cargo-fuzz)"; [ -z "$(STRICT)" ]; fi

bench: ## measure: the permutation against its lower bound, the schemes, the memory-hard hash against a plain loop
	for bench in permutation schemes mhf ristretto adiantum siblings; do $(CARGO) bench --package veriplex-benches --bench $$bench || exit 1; done

deps: ## install the Debian packages that these targets need; removes none, and replaces no rustc or cargo on PATH
	apt-get update
	apt-get install --no-install-recommends --no-remove --yes $(PACKAGES)
	@if ! STRICT=1 tests/on-aarch64 --rustc; then \
	    dpkg --add-architecture arm64 && apt-get update && \
	    apt-get install --no-install-recommends --no-remove --yes $(CROSS_PACKAGES) || \
	    echo "make deps: without $(CROSS_PACKAGES); rustup target add aarch64-unknown-linux-gnu does as well"; fi

spec: ## the Cryptol: types, properties, known answers; compared with the Rust twin (needs cryptol, z3)
	$(CARGO) run --quiet --package veriplex-tools -- spec $(if $(STRICT),--strict)

isa: ## the Cryptol of each instruction in a kernel, compared with 10,000 runs on random inputs (needs cryptol)
	rm -rf target/isa
	$(CARGO) run --quiet --package veriplex-isa -- target/isa $(SEED)
	@tests/on-aarch64 run --quiet --package veriplex-isa -- target/isa $(SEED)
	$(CARGO) run --quiet --package veriplex-tools -- isa $(if $(STRICT),--strict)

audit: ## the kernels in the program as it ships are the proved bytes
	$(CARGO) build --release --package veriplex-cli
	$(CARGO) run --quiet --package veriplex-audit -- target/release/veriplex

rocq: ## the Rocq theorems: proofs, mutants, and the model compared with the code (needs coq)
	@if command -v coqc >/dev/null; then \
	    $(MAKE) -C proofs/rocq check mutants model && \
	    $(CARGO) test --lib the_model_feeds_the_same_blocks -- --ignored --nocapture; \
	else echo "make rocq: skipped, no coqc on PATH: the theorems of proofs/rocq were not checked"; \
	    [ -z "$(STRICT)" ]; fi

proofs: rocq ## every theorem, from Rocq and from SAW; writes proofs/generated (needs coq, saw, z3, yices)
	$(CARGO) run --quiet --package veriplex-tools -- proofs $(if $(STRICT),--strict)

replay: ## the goals that z3 was given, solved again without SAW (needs z3 or cvc5)
	$(CARGO) run --quiet --package veriplex-tools -- replay $(if $(STRICT),--strict)

mutants: ## planted defects, which manifest and proofs must see; broken kernels, which must refute theorems (needs saw, yices, z3, cryptol)
	$(CARGO) run --quiet --package veriplex-tools -- lifted-mutants $(if $(STRICT),--strict)
	$(CARGO) run --quiet --package veriplex-tools -- mutants $(if $(STRICT),--strict)
