# Targets for people: `make help`.
CARGO ?= cargo
PACKAGES = build-essential

.PHONY: help test lint bench deps

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

test: ## every test, with all features, without any, and with the backend fixed to portable
	$(CARGO) test --workspace --all-features
	$(CARGO) test --no-default-features
	RUSTFLAGS='--cfg veriplex_backend="portable"' $(CARGO) test --target-dir target/portable --test vectors

lint: ## formatting, clippy and rustdoc without warnings
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings
	$(CARGO) clippy --lib --no-default-features -- -D warnings
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --all-features --no-deps

bench: ## measure: the permutation beside its lower bound, then the schemes
	$(CARGO) bench --bench permutation
	$(CARGO) bench --bench schemes

deps: ## Debian packages for every target of this file
	apt-get update
	apt-get install --no-install-recommends --yes $(PACKAGES)
