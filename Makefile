# Targets for people: `make help`.
CARGO ?= cargo
SECONDS = 60
export CARGO STRICT
# From a clean clone, what incremental builds store costs a fifth of the time to compile.
export CARGO_INCREMENTAL ?= 0
# Nor do the tests need lines of code in backtraces, which take time to compile.
export CARGO_PROFILE_DEV_DEBUG ?= 0
# The seed of the random inputs of `make isa`.
SEED ?= $(shell date +%s)
# Of `make mutate`: the commit since which code has changed. With SHARD=0/400 it is a part of all code instead. Debian's
# cargo-mutants cannot do either: it lacks --in-diff, and options of our configuration.
BASE ?= main

.PHONY: help install test test-sizes test-dm-crypt test-dependents store-test cluster-test package minimal-versions fresh-root bare-targets msrv miri deny semver mutate test-aarch64 test-i686 test-windows lint features fuzz bench deps deps-dm-crypt deps-site spec isa isa-runs proofs rocq rocq-mutants coqchk kernels kernels-check ct audit mutants model reproducible dist-check site site-test nix

help: ## use: print this list
	@for group in use check prove release; do \
	    echo "To $$group:"; sed -n "s/^\([a-z0-9-]*\):.*## $$group: \(.*\)/\1|\2/p" Makefile | sort -t '|' -k 1,1 | \
	        awk -F '|' '{ printf "  make %-18s %s\n", $$1, $$2 }'; \
	done

PREFIX = /usr/local
# What `make install` installs; another build than the release can be named.
PROGRAM = target/release/veriplex

install: ## use: install the program, its man pages, completions and systemd units under PREFIX (/usr/local)
	@[ "$(PROGRAM)" != target/release/veriplex ] || $(CARGO) build --locked --release --package veriplex-cli
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/veriplex
	$(PROGRAM) man-pages $(DESTDIR)$(PREFIX)/share/man/man1
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions \
	    $(DESTDIR)$(PREFIX)/share/zsh/site-functions $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(PROGRAM) completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/veriplex
	$(PROGRAM) completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_veriplex
	$(PROGRAM) completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/veriplex.fish
	install -d $(DESTDIR)$(PREFIX)/lib/systemd/system $(DESTDIR)$(PREFIX)/share/doc/veriplex
	sed 's,/usr/local/,$(PREFIX)/,' rust/cli/systemd/veriplex-tunnel.service \
	    > $(DESTDIR)$(PREFIX)/lib/systemd/system/veriplex-tunnel.service
	install -m 644 rust/cli/systemd/veriplex-tunnel.socket $(DESTDIR)$(PREFIX)/lib/systemd/system
	install -m 644 rust/cli/systemd/tunnel.toml $(DESTDIR)$(PREFIX)/share/doc/veriplex

test: ## check: run every test, with all features
	@scripts/test

# Those of the crate itself. What else the assurance crate tests is the same on every architecture.
CRATE_TESTS = $(patsubst tests/%.rs,--test %,$(wildcard tests/*.rs)) \
  $(patsubst tests/%/main.rs,--test %,$(wildcard tests/*/main.rs))

test-aarch64: ## check: run the tests of crate and kernels on AArch64 under qemu
	@VERIPLEX_CASES=400 VERIPLEX_MUTATIONS=20000 scripts/on aarch64 test --package veriplex --package veriplex-assurance \
	    --all-features --lib $(CRATE_TESTS) --test detection --test kernels --test manifest -- --test-threads=2
	@ROUNDS=1 scripts/on aarch64 test --quiet --locked --manifest-path benches/peers/Cargo.toml --bench speed

test-i686: ## check: run the tests of the crate with 32-bit pointers
	@VERIPLEX_CASES=400 VERIPLEX_MUTATIONS=20000 scripts/on i686 test --package veriplex --all-features --tests -- --test-threads=1

test-windows: ## check: run the tests of the crate under wine
	@VERIPLEX_CASES=400 VERIPLEX_MUTATIONS=20000 scripts/on windows test --features rayon --lib \
	    --test vectors --test properties --test lanes --test twin --test tree --test seekable

test-sizes: ## check: run the tests of large messages: minutes, 4 GiB of address space
	$(CARGO) test --release --test sizes -- --ignored

# Another build can be named; how many random sectors are compared is SECTORS.
test-dm-crypt: ## check: let Linux's dm-crypt open disks of the program, and the other way round, in qemu (make deps-dm-crypt)
	@[ "$(PROGRAM)" != target/release/veriplex ] || $(CARGO) build --quiet --release --package veriplex-cli
	@tests/dm-crypt/run $(PROGRAM)

test-dependents: ## check: audit three projects that depend on this one, with each kernel changed too
	@tests/dependents/run

store-test: ## check: test the encrypted object store, under DataFusion and on an S3 server
	$(CARGO) fmt --manifest-path rust/store/Cargo.toml --check
	$(CARGO) clippy --manifest-path rust/store/Cargo.toml --locked --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --manifest-path rust/store/Cargo.toml --locked --no-deps
	$(CARGO) test --manifest-path rust/store/Cargo.toml --locked
	$(CARGO) fmt --manifest-path rust/store/datafusion/Cargo.toml --check
	$(CARGO) clippy --manifest-path rust/store/datafusion/Cargo.toml --locked --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --manifest-path rust/store/datafusion/Cargo.toml --locked --no-deps
	$(CARGO) test --manifest-path rust/store/datafusion/Cargo.toml --locked
	$(CARGO) run --quiet --manifest-path rust/store/datafusion/Cargo.toml --locked --example query

# How large TPC-H's tables are can be set: SCALE=0.1.
cluster-test: ## check: let Ballista's executors, as processes, run TPC-H on encrypted objects; kill some, and give some wrong keys
	$(CARGO) fmt --manifest-path rust/store/cluster/Cargo.toml --check
	$(CARGO) clippy --manifest-path rust/store/cluster/Cargo.toml --locked --all-targets -- -D warnings
	$(CARGO) test --manifest-path rust/store/cluster/Cargo.toml --locked -- --test-threads=1 --nocapture

package: ## release: publish the crates up to the upload, and build, test and use them elsewhere
	@scripts/package

mutate: ## check: find changes of the code since BASE (main) that no test sees; SHARD=0/400 for a part of all (cargo-mutants)
	@if ! command -v cargo-mutants >/dev/null; then \
	    echo "make mutate: skipped, no cargo-mutants on PATH (cargo install --locked cargo-mutants)"; [ -z "$(STRICT)" ]; \
	elif [ -n "$(SHARD)" ]; then CARGO_INCREMENTAL=1 $(CARGO) mutants --workspace --shard $(SHARD); \
	else mkdir -p target && git diff $(BASE) >target/mutants.diff && \
	    CARGO_INCREMENTAL=1 $(CARGO) mutants --workspace --in-diff target/mutants.diff; fi

reproducible: ## release: build program, library and packages twice and compare every byte (cargo-auditable)
	packaging/reproducible target/reproducible

dist-check: ## release: make the source archive twice, compare, and run its tests without a network
	packaging/dist-check target/dist-check

nix: ## release: evaluate the flake and build its packages with this machine's tools (nix)
	nix/check target/nix

# The program that `make site-test` audits.
SITE_PROGRAM = target/release/veriplex

site: ## release: write the site to target/site (mdbook)
	@if command -v mdbook >/dev/null; then site/build target/site; \
	else echo "make site: skipped, no mdbook on PATH (make deps-site)"; [ -z "$(STRICT)" ]; fi

# `make site-test` checks accessibility with it. It is no part of the repository: a package for Python has it as one file.
AXE_PACKAGE = axe-playwright-python==0.1.8
AXE = target/axe/axe_playwright_python/axe.min.js

$(AXE):
	rm -rf target/axe
	python3 -m pip download --quiet --no-deps --dest target/axe $(AXE_PACKAGE)
	python3 -m zipfile -e target/axe/*.whl target/axe

site-test: site ## release: test the site in a browser (make deps-site)
	@if ! command -v chromedriver >/dev/null || ! command -v mdbook >/dev/null; then \
	    echo "make site-test: skipped, no chromedriver or no mdbook on PATH (make deps-site)"; [ -z "$(STRICT)" ]; \
	else \
	    { [ "$(SITE_PROGRAM)" != target/release/veriplex ] || $(CARGO) build --release --package veriplex-cli; } && \
	    { $(MAKE) --quiet $(AXE) || { echo "make site-test: axe was skipped, pip could not get it (make deps-site)"; [ -z "$(STRICT)" ]; }; } && \
	    SITE=$(CURDIR)/target/site PROGRAM=$(abspath $(SITE_PROGRAM)) AXE=$$(ls $(CURDIR)/$(AXE) 2>/dev/null || :) \
	        $(CARGO) test --package veriplex-site --test browser -- --ignored; \
	fi

lint: ## check: check formatting, clippy, rustdoc, the lock files and the length of documents
	scripts/words
	for lock in $$(git ls-files '*Cargo.lock'); do \
	    $(CARGO) update --quiet --workspace --locked --manifest-path $${lock%lock}toml || exit 1; done
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	$(CARGO) clippy --lib --no-default-features -- -D warnings
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --manifest-path fuzz/Cargo.toml -- -D warnings
	$(CARGO) fmt --manifest-path site/demo/Cargo.toml --check
	$(CARGO) clippy --manifest-path site/demo/Cargo.toml --locked -- -D warnings
	$(CARGO) fmt --manifest-path benches/peers/Cargo.toml --check
	$(CARGO) clippy --manifest-path benches/peers/Cargo.toml --locked --all-targets --target-dir target/peers -- -D warnings
	RUSTFLAGS='--cfg veriplex_hax' $(CARGO) check --quiet --package veriplex-spec --target-dir target/override
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --all-features --no-deps
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --lib --no-deps
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --lib --no-default-features --no-deps

features: ## check: check many sets of features, each fixed backend, and bare targets
	@scripts/features
	@scripts/backends
	@STRICT= scripts/bare-targets

fresh-root: ## release: run the quick start of the README in a fresh Debian 12 and 13 (root, debootstrap)
	@scripts/fresh-root bookworm trixie

bare-targets: # the part of `features` that a workflow runs alone
	@scripts/bare-targets

msrv: ## release: build the published crates with the oldest Rust that each allows
	@scripts/msrv

miri: ## check: look for undefined behaviour in the core (nightly Rust with Miri)
	@scripts/miri

deny: ## release: check advisories, licences, bans and sources of the dependencies (cargo-deny)
	@if command -v cargo-deny >/dev/null; then $(CARGO) deny check && \
	    $(CARGO) deny --manifest-path rust/store/Cargo.toml --config $(CURDIR)/deny.toml check; \
	else echo "make deny: skipped, no cargo-deny on PATH (cargo install --locked cargo-deny)"; [ -z "$(STRICT)" ]; fi

# The last release is that of the last tag. Before the first one, every change of the interface is allowed.
semver: ## release: compare the public interface with that of the last tag, or of BASELINE (cargo-semver-checks)
	@baseline=$(or $(BASELINE),$$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)); \
	if [ -z "$$baseline" ]; then \
	    echo "make semver: nothing to compare with: there is no release yet, no tag v* (BASELINE=COMMIT compares with a commit)"; \
	elif command -v cargo-semver-checks >/dev/null; then \
	    $(CARGO) semver-checks --package veriplex --package veriplex-tunnel --baseline-rev "$$baseline"; \
	else echo "make semver: skipped, no cargo-semver-checks on PATH (cargo install --locked cargo-semver-checks)"; [ -z "$(STRICT)" ]; fi

minimal-versions: ## release: check the packaged crate with the oldest dependencies that it allows
	@scripts/minimal-versions

kernels: ## prove: compile jasmin/x86-64 from its Jasmin source (jasminc)
	$(CARGO) run --quiet --package veriplex-tools -- kernels

kernels-check: ## prove: check that the assembly is what its Jasmin compiles to, constant-time and memory-safe (jasminc)
	$(CARGO) run --quiet --package veriplex-tools -- lift
	$(CARGO) run --quiet --package veriplex-tools -- kernels --check $(if $(STRICT),--strict)

ct: ## check: check under valgrind that no branch and no address depends on a secret
	$(CARGO) run --quiet --release --package veriplex-ct -- $(if $(STRICT),--strict)
	RUSTFLAGS='--cfg veriplex_intrinsics' $(CARGO) run --quiet --release --target-dir target/intrinsics --package veriplex-ct -- $(if $(STRICT),--strict)

fuzz: ## check: run every fuzz target for SECONDS (60) each (cargo-fuzz)
	@if command -v cargo-fuzz >/dev/null; then cd fuzz && \
	    for target in $$($(CARGO) fuzz list); do \
	        $(CARGO) fuzz run --release --sanitizer none --no-trace-compares $$target -- \
	            -max_total_time=$(SECONDS) -timeout=10 -print_final_stats=1 || exit 1; \
	    done; \
	else echo "make fuzz: skipped, no cargo-fuzz on PATH (cargo install --locked cargo-fuzz)"; [ -z "$(STRICT)" ]; fi

# ROUNDS=1 only tries all.
bench: ## use: measure speeds beside what bounds them and other crates, for minutes; MACHINE="its name" keeps the tables
	@[ "$(PROGRAM)" != target/release/veriplex ] || $(CARGO) build --quiet --locked --release --package veriplex-cli
	PROGRAM=$(abspath $(PROGRAM)) $(CARGO) bench --locked --manifest-path benches/peers/Cargo.toml --target-dir target/peers
	@[ -z "$(MACHINE)" ] || VERIPLEX_UPDATE=1 $(CARGO) test --quiet --locked --package veriplex-assurance --test inventory performance

deps: ## use: install the Debian packages that the checks need, as root
	@scripts/deps

deps-dm-crypt: ## use: install those that `test-dm-crypt` needs, as root, and fetch Debian's kernel
	@scripts/deps dm-crypt

deps-site: ## use: install those that `site-test` needs, as root
	@scripts/deps site

spec: ## prove: check the Cryptol, and compare it with its Rust twin (cryptol, z3)
	$(CARGO) run --quiet --package veriplex-tools -- spec $(if $(STRICT),--strict)

isa-runs: # runs each instruction in a kernel on 10,000 random inputs
	rm -rf target/isa
	$(CARGO) run --quiet --package veriplex-isa -- target/isa $(SEED)
	@scripts/on aarch64 run --quiet --package veriplex-isa -- target/isa $(SEED)

# How many of the runs Cryptol reads: each takes it about a millisecond, mostly to read the numbers.
ISA_RUNS ?= 10000

isa: isa-runs ## prove: compare the Cryptol of each instruction with ISA_RUNS runs on the CPU (cryptol)
	$(CARGO) run --quiet --package veriplex-tools -- isa --first $(ISA_RUNS) $(if $(STRICT),--strict)

# Which kernels it must have is a test (rust/cli/tests/audit.rs).
audit: ## check: check that the kernels in the shipped program are the proved bytes
	$(CARGO) build --release --package veriplex-cli
	$(CARGO) run --quiet --package veriplex-audit -- target/release/veriplex

rocq: ## prove: check the Rocq theorems, and what they assume of instructions and code (coq)
	@if command -v coqc >/dev/null; then \
	    $(MAKE) isa-runs && \
	    $(MAKE) -C proofs/rocq -j$$(getconf _NPROCESSORS_ONLN) check model runs && \
	    CARGO="$(CARGO)" $(MAKE) -C proofs/rocq decoders && \
	    $(CARGO) test --lib -- --ignored --nocapture the_model_feeds_the_same_blocks the_model_hashes_the_same_trees \
	        the_model_reads_the_same_segments && \
	    $(CARGO) test --package veriplex-assurance --test manifest -- --ignored rocq_has_the_proved_bytes; \
	else echo "make rocq: skipped, no coqc on PATH: the theorems of proofs/rocq were not checked"; \
	    [ -z "$(STRICT)" ]; fi

rocq-mutants: ## prove: plant defects in the Rocq proofs, which must fail in the right place (coq)
	@if command -v coqc >/dev/null; then \
	    $(MAKE) isa-runs && \
	    CARGO="$(CARGO)" $(MAKE) -C proofs/rocq -j$$(getconf _NPROCESSORS_ONLN) mutants && \
	    CARGO="$(CARGO)" $(MAKE) -C proofs/rocq mutants-semantics; \
	else echo "make rocq-mutants: skipped, no coqc on PATH"; [ -z "$(STRICT)" ]; fi

coqchk: ## prove: check the compiled Rocq theorems again, with Coq's second checker (coqchk)
	@if command -v coqchk >/dev/null; then $(MAKE) -C proofs/rocq -j$$(getconf _NPROCESSORS_ONLN) coqchk; \
	else echo "make coqchk: skipped, no coqchk on PATH"; [ -z "$(STRICT)" ]; fi

proofs: rocq ## prove: prove every theorem, in Rocq and in SAW; writes proofs/generated (coq, saw, z3, yices)
	$(CARGO) run --quiet --package veriplex-tools -- proofs $(if $(STRICT),--strict)

model: ## prove: look for attacks on the tunnel in a symbolic model (verifpal)
	@if ! command -v verifpal >/dev/null; then \
	    echo "make model: skipped, no verifpal on PATH (cargo install --locked --ignore-rust-version verifpal --version 1.6.7)"; [ -z "$(STRICT)" ]; \
	else proofs/model/check; fi

mutants: rocq-mutants ## prove: plant defects in proofs, specification and kernels, too (all of the tools)
	$(CARGO) run --quiet --package veriplex-tools -- spec-mutants $(if $(STRICT),--strict)
	$(CARGO) run --quiet --package veriplex-tools -- lifted-mutants $(if $(STRICT),--strict)
	$(CARGO) run --quiet --package veriplex-tools -- mutants $(if $(STRICT),--strict)
