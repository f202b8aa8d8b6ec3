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
PACKAGES = build-essential coq cvc5 e2fsprogs gcc-aarch64-linux-gnu iproute2 libc6-dev-arm64-cross libnbd-bin locales nix-bin \
    ocaml-findlib procps python3 qemu-user qemu-utils valgrind z3
# For `make site-test` and `make report`. The last two are a Rust for WebAssembly: they install /usr/bin/rustc, too, which
# serves where the rustc on PATH has no such library (`rustup target add wasm32-unknown-unknown` installs one).
SITE_PACKAGES = chromium chromium-driver npm rust-web-src lld-19
# For `make test-aarch64`, if rustc has no standard library for AArch64 (`rustup target add` installs one). They install
# /usr/bin/rustc.
CROSS_PACKAGES = rustc-web libstd-rust-web-dev:arm64
# For `make test-i686`. The second line as above.
I686_PACKAGES = gcc-i686-linux-gnu libc6-dev-i386-cross
I686_CROSS_PACKAGES = rustc-web libstd-rust-web-dev:i386

# The backend override that this machine supports, and one that it does not.
ARCH := $(if $(filter aarch64 arm64,$(shell uname -m)),aarch64,x86_64)
IMPOSSIBLE := $(if $(filter aarch64,$(ARCH)),x86_64,aarch64)

# Of `make mutate`: one shard of so many.
SHARD ?= 0/1

.PHONY: help install test test-workspace test-sizes store-test package publish-dry-run minimal-versions bare-targets msrv miri deny semver mutate test-aarch64 test-i686 test-windows lint features fuzz bench deps deps-site spec isa isa-runs proofs rocq kernels kernels-check ct audit replay mutants model reproducible dist dist-check site site-test plots report nix

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

# The same packages each time: with others, dependencies have other features and are compiled again. The benchmarks
# have no tests.
TESTED = --workspace --exclude veriplex-benches --all-features

PREFIX = /usr/local
# What `make install` installs; another build than the release can be named.
PROGRAM = target/release/veriplex

install: ## install the program, its man pages, completions and systemd units, under PREFIX (/usr/local)
	@[ "$(PROGRAM)" != target/release/veriplex ] || $(CARGO) build --release --package veriplex-cli
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

test: test-workspace ## run every test, with all features, without any, and with a fixed backend
	RUSTDOC=$(CURDIR)/scripts/rustdoc $(CARGO) test $(TESTED) --doc
	$(CARGO) test --no-default-features --tests
	$(CARGO) build $(TESTED) --examples
	for example in examples/*.rs; do \
	    $${CARGO_TARGET_DIR:-target}/debug/examples/$$(basename $$example .rs) >/dev/null || exit 1; \
	done
	for backend in portable intrinsics; do \
	    VERIPLEX_COMPILED_FOR=$$backend RUSTC_WORKSPACE_WRAPPER=$(CURDIR)/scripts/rustc/$$backend \
	        $(CARGO) test $(TESTED) --test vectors || exit 1; \
	done
	RUSTFLAGS='--cfg veriplex_backend="$(ARCH)"' $(CARGO) check --lib --target-dir target/override
	@for backend in $(IMPOSSIBLE) unknown; do \
	    if RUSTFLAGS="--cfg veriplex_backend=\"$$backend\"" \
	        $(CARGO) check --lib --target-dir target/override >target/override/log 2>&1; \
	    then echo "veriplex_backend=\"$$backend\" must not build" >&2; exit 1; fi; \
	    grep "error: .*veriplex_backend=\"$$backend\"" target/override/log; \
	done

test-workspace: # the part of `test` that `dist-check` runs alone
	$(CARGO) test $(TESTED) --tests

# Those of the crate itself. What else the assurance crate tests is the same on every architecture.
CRATE_TESTS = $(patsubst tests/%.rs,--test %,$(wildcard tests/*.rs)) \
  $(patsubst tests/%/main.rs,--test %,$(wildcard tests/*/main.rs))

test-aarch64: ## run the tests of the crate and the kernels on AArch64 under qemu, with fewer random cases
	@VERIPLEX_CASES=400 VERIPLEX_MUTATIONS=20000 scripts/on aarch64 test --package veriplex --package veriplex-assurance \
	    --all-features --lib $(CRATE_TESTS) --test detection --test kernels --test manifest -- --test-threads=2

test-i686: ## run the tests of the crate with pointers of 32 bits, with fewer random cases
	@VERIPLEX_CASES=400 VERIPLEX_MUTATIONS=20000 scripts/on i686 test --package veriplex --all-features --tests -- --test-threads=1

test-windows: ## run the tests of the crate on Windows, which wine plays: symmetric schemes, lanes, tree, with fewer random cases
	@VERIPLEX_CASES=400 VERIPLEX_MUTATIONS=20000 scripts/on windows test --features rayon --lib \
	    --test vectors --test properties --test lanes --test twin --test tree --test seekable

test-sizes: ## run the tests of large messages that `make test` leaves out: minutes, and 4 GiB of address space
	$(CARGO) test --release --test sizes -- --ignored

store-test: ## check and test the encrypted object store, alone, under DataFusion and on an S3 server; they have their own lock files (needs the registry; minutes)
	$(CARGO) fmt --manifest-path rust/store/Cargo.toml --check
	$(CARGO) clippy --manifest-path rust/store/Cargo.toml --locked --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --manifest-path rust/store/Cargo.toml --locked --no-deps
	$(CARGO) test --manifest-path rust/store/Cargo.toml --locked
	$(CARGO) run --quiet --manifest-path rust/store/Cargo.toml --locked --example tree_workers
	$(CARGO) fmt --manifest-path rust/store/datafusion/Cargo.toml --check
	$(CARGO) clippy --manifest-path rust/store/datafusion/Cargo.toml --locked --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --manifest-path rust/store/datafusion/Cargo.toml --locked --no-deps
	$(CARGO) test --manifest-path rust/store/datafusion/Cargo.toml --locked
	$(CARGO) run --quiet --manifest-path rust/store/datafusion/Cargo.toml --locked --example query

package: ## package the published crates, and build, test and use them elsewhere, with nothing of this repository beside them
	@scripts/package

mutate: ## run mutation tests of rust/src and proofs/lift/src: survivors are those listed in tests/mutation, where not-run.txt names the files that are left out (needs the registry); SHARD=0/40 for a part, JOBS=2 tests at a time
	$(CARGO) run --quiet --locked --manifest-path tests/mutation/Cargo.toml -- --shard $(SHARD)

reproducible: ## build program, library and packages twice, each time under other conditions, and compare every byte; SBOM, SHA256SUMS (needs cargo-auditable)
	packaging/reproducible target/reproducible

dist: ## make the source archive, with all crates in it, which builds without a network
	packaging/dist target/dist

dist-check: ## make that archive twice, compare the bytes, find each lock file's crates in it, and run its tests without a network
	packaging/dist-check target/dist-check

nix: ## evaluate the flake and build its packages in a store of their own, with this machine's tools, and compare them with those of `make reproducible` (needs nix, cargo-auditable)
	nix/check target/nix

# The program that `make site-test` audits.
SITE_PROGRAM = target/release/veriplex

site: ## write the site to target/site (two of its pages need a rustc for WebAssembly)
	site/build target/site

plots: ## measure the speeds that the site's plots show, here and now (needs the registry, for the crates to compare with)
	site/plots

# `make site-test` checks accessibility with it. It is fetched from npm, and no part of the repository.
AXE_VERSION = 4.14.1
AXE = target/axe/package/axe.min.js

$(AXE):
	mkdir -p target/axe
	cd target/axe && npm pack --silent axe-core@$(AXE_VERSION) && tar -xzf axe-core-$(AXE_VERSION).tgz

site-test: site ## look at the site in a browser: links, search, audits, files, both themes, two widths, axe (needs Chromium, its driver, npm)
	@if ! command -v chromedriver >/dev/null; then \
	    echo "make site-test: skipped, no chromedriver on PATH (make deps-site)"; [ -z "$(STRICT)" ]; \
	else \
	    { [ "$(SITE_PROGRAM)" != target/release/veriplex ] || $(CARGO) build --release --package veriplex-cli; } && \
	    { $(MAKE) --quiet $(AXE) || { echo "make site-test: axe was skipped, npm could not get it"; [ -z "$(STRICT)" ]; }; } && \
	    SITE=$(CURDIR)/target/site PROGRAM=$(abspath $(SITE_PROGRAM)) AXE=$$(ls $(CURDIR)/$(AXE) 2>/dev/null || :) \
	        $(CARGO) test --package veriplex-site --test browser -- --ignored; \
	fi

report: site ## print what the site says to target/report.pdf, as one document (needs Chromium)
	@if ! command -v chromium >/dev/null; then \
	    echo "make report: skipped, no chromium on PATH (make deps-site)"; [ -z "$(STRICT)" ]; \
	else site/report target/site target/report.pdf; fi

lint: ## check formatting, clippy and rustdoc (needs a C++ compiler, for the fuzz targets)
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	$(CARGO) clippy --lib --no-default-features -- -D warnings
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(CARGO) clippy --manifest-path fuzz/Cargo.toml -- -D warnings
	$(CARGO) fmt --manifest-path tests/mutation/Cargo.toml --check
	$(CARGO) clippy --manifest-path tests/mutation/Cargo.toml --locked -- -D warnings
	RUSTFLAGS='--cfg veriplex_hax' $(CARGO) check --quiet --package veriplex-spec --target-dir target/override
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --all-features --no-deps
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --lib --no-deps
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --lib --no-default-features --no-deps

features: ## run clippy on the crate with many sets of features (scripts/feature-sets), and build it for bare targets
	@scripts/features
	@STRICT= scripts/bare-targets

publish-dry-run: ## package the published crates in order, as for crates.io, up to the upload (needs the registry)
	$(CARGO) publish --dry-run --no-verify -p veriplex -p veriplex-tunnel -p veriplex-cli
	$(CARGO) publish --dry-run --no-verify --manifest-path rust/store/Cargo.toml --config 'patch.crates-io.veriplex.path="$(CURDIR)"'

bare-targets: # the part of `features` that a workflow runs alone
	@scripts/bare-targets

msrv: ## build the published crates with the oldest Rust that each allows (needs Rust 1.88 and 1.94)
	@scripts/msrv

miri: ## look for undefined behaviour in the core, on the portable backend and with intrinsics (needs a nightly Rust with Miri)
	@scripts/miri

deny: ## check the dependencies: advisories, licences, bans, sources (needs cargo-deny and a network)
	@if command -v cargo-deny >/dev/null; then $(CARGO) deny check && \
	    $(CARGO) deny --manifest-path rust/store/Cargo.toml --config $(CURDIR)/deny.toml check; \
	else echo "make deny: skipped, no cargo-deny on PATH (cargo install cargo-deny)"; [ -z "$(STRICT)" ]; fi

# The last release is that of the last tag. Before the first one, every change of the interface is allowed.
semver: ## compare the public interface with that of the last release, or of the commit in BASELINE (needs cargo-semver-checks)
	@baseline=$(or $(BASELINE),$$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)); \
	if [ -z "$$baseline" ]; then \
	    echo "make semver: nothing to compare with: there is no release yet, no tag v* (BASELINE=COMMIT compares with a commit)"; \
	elif command -v cargo-semver-checks >/dev/null; then \
	    $(CARGO) semver-checks --package veriplex --package veriplex-tunnel --baseline-rev "$$baseline"; \
	else echo "make semver: skipped, no cargo-semver-checks on PATH (cargo install cargo-semver-checks)"; [ -z "$(STRICT)" ]; fi

minimal-versions: ## check the packaged crate with the oldest versions of its dependencies that it allows (needs the registry)
	@scripts/minimal-versions

kernels: ## compile the assembly in jasmin/x86-64 from its Jasmin source (needs jasminc)
	$(CARGO) run --quiet --package veriplex-tools -- kernels

kernels-check: ## check that the kernels lift to proofs/generated, and that their assembly is what the Jasmin compiles to, constant-time and memory-safe; that each instruction comes from the line in site/lines (needs jasminc, jasmin-ct, the cross gcc)
	$(CARGO) run --quiet --package veriplex-tools -- lift
	$(CARGO) run --quiet --package veriplex-tools -- kernels --check $(if $(STRICT),--strict)
	@if command -v jasminc >/dev/null; then $(CARGO) run --quiet --package veriplex-site -- --lines --check; \
	else echo "make kernels-check: skipped, no jasminc on PATH: the lines of the sources in site/lines"; [ -z "$(STRICT)" ]; fi

ct: ## check under valgrind, on the known answers, that no branch and no address depends on a secret (needs valgrind)
	$(CARGO) run --quiet --release --package veriplex-ct -- $(if $(STRICT),--strict)
	RUSTFLAGS='--cfg veriplex_intrinsics' $(CARGO) run --quiet --release --target-dir target/intrinsics --package veriplex-ct -- $(if $(STRICT),--strict)

fuzz: ## run every fuzz target in turn, for SECONDS (60) each (needs cargo-fuzz and a C++ compiler)
	@if command -v cargo-fuzz >/dev/null; then cd fuzz && \
	    for target in $$($(CARGO) fuzz list); do \
	        $(CARGO) fuzz run --release --sanitizer none --no-trace-compares $$target -- \
	            -max_total_time=$(SECONDS) -timeout=10 -print_final_stats=1 || exit 1; \
	    done; \
	else echo "make fuzz: skipped, no cargo-fuzz on PATH (cargo install cargo-fuzz)"; [ -z "$(STRICT)" ]; fi

bench: ## measure the permutation, the lanes and bulk data against their bounds, the schemes, the memory-hard hash against a plain loop, the tunnel against plain TCP
	for bench in permutation lanes bulk schemes mhf ristretto adiantum siblings tunnel; do $(CARGO) bench --package veriplex-benches --bench $$bench || exit 1; done

# Packages $(3), which are of Debian's architecture $(2), for `scripts/on $(1)`, unless there is a rustc for it. If they
# cannot be installed, the architecture goes again: with an index that cannot be had, the next `apt-get update` fails.
define cross_deps
@if ! STRICT=1 scripts/on $(1) --rustc; then \
    had=$$(dpkg --print-foreign-architectures | grep -x $(2)); \
    dpkg --add-architecture $(2) && apt-get update && \
    apt-get install --no-install-recommends --no-remove --yes $(3) || { \
        echo "make deps: could not install $(3); rustup target add $(1)-unknown-linux-gnu works too"; \
        [ -n "$$had" ] || { dpkg --remove-architecture $(2); apt-get update; }; }; fi
endef

deps: ## install the Debian packages that these targets need; removes no package, and replaces no rustc or cargo on PATH
	apt-get update
	apt-get install --no-install-recommends --no-remove --yes $(PACKAGES)
	$(call cross_deps,aarch64,arm64,$(CROSS_PACKAGES))
	-apt-get install --no-install-recommends --no-remove --yes $(I686_PACKAGES)
	$(call cross_deps,i686,i386,$(I686_CROSS_PACKAGES))

deps-site: ## install those that `site-test` and `report` need: a browser and npm
	apt-get update
	apt-get install --no-install-recommends --no-remove --yes $(SITE_PACKAGES)

spec: ## check the Cryptol: types, properties, known answers; compare it with the Rust twin (needs cryptol, z3)
	$(CARGO) run --quiet --package veriplex-tools -- spec $(if $(STRICT),--strict)

isa-runs: # runs each instruction in a kernel on 10,000 random inputs
	rm -rf target/isa
	$(CARGO) run --quiet --package veriplex-isa -- target/isa $(SEED)
	@scripts/on aarch64 run --quiet --package veriplex-isa -- target/isa $(SEED)

# How many of the runs Cryptol reads: each takes it about a millisecond, mostly to read the numbers.
ISA_RUNS ?= 10000

isa: isa-runs ## compare the Cryptol of each instruction in a kernel with 10,000 runs on random inputs, or the first ISA_RUNS of them (needs cryptol)
	$(CARGO) run --quiet --package veriplex-tools -- isa --first $(ISA_RUNS) $(if $(STRICT),--strict)

# Which kernels it must have is a test (rust/cli/tests/audit.rs).
audit: ## check that the kernels in the shipped program are the proved bytes
	$(CARGO) build --release --package veriplex-cli
	$(CARGO) run --quiet --package veriplex-audit -- target/release/veriplex

rocq: ## check the Rocq theorems: proofs, mutants; the model against the code, the semantics against the CPU (needs coq)
	@if command -v coqc >/dev/null; then \
	    $(MAKE) isa-runs && \
	    $(MAKE) -C proofs/rocq -j$$(getconf _NPROCESSORS_ONLN) check model runs mutants && \
	    CARGO="$(CARGO)" $(MAKE) -C proofs/rocq decoders mutants-semantics && \
	    $(CARGO) test --lib -- --ignored --nocapture the_model_feeds_the_same_blocks the_model_hashes_the_same_trees \
	        the_model_reads_the_same_segments; \
	else echo "make rocq: skipped, no coqc on PATH: the theorems of proofs/rocq were not checked"; \
	    [ -z "$(STRICT)" ]; fi

proofs: rocq ## prove every theorem, in Rocq and in SAW; writes proofs/generated (needs coq, saw, z3, yices)
	$(CARGO) run --quiet --package veriplex-tools -- proofs $(if $(STRICT),--strict)

model: ## look for attacks on the tunnel in a symbolic model, with broken and planted parts (needs verifpal)
	@if ! command -v verifpal >/dev/null; then \
	    echo "make model: skipped, no verifpal on PATH (cargo install verifpal --version 1.6.7)"; [ -z "$(STRICT)" ]; \
	else proofs/model/check; fi

replay: ## solve again, without SAW, the goals that SAW gave to z3 (needs z3 or cvc5)
	$(CARGO) run --quiet --package veriplex-tools -- replay $(if $(STRICT),--strict)

mutants: ## plant defects, which the manifest and the proofs, or the checks of the specification, must notice, and break kernels, which must refute theorems (needs saw, yices, z3, cryptol)
	$(CARGO) run --quiet --package veriplex-tools -- spec-mutants $(if $(STRICT),--strict)
	$(CARGO) run --quiet --package veriplex-tools -- lifted-mutants $(if $(STRICT),--strict)
	$(CARGO) run --quiet --package veriplex-tools -- mutants $(if $(STRICT),--strict)
