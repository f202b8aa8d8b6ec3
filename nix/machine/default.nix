# A package set made of the tools of this machine, as far as nix/overlay.nix needs one, so that `make nix` can evaluate the
# flake and build its packages without nixpkgs. VERIPLEX_CRATES is a folder with all crates (`cargo vendor`), and
# VERIPLEX_PATH the PATH of the builds; both come from nix/check. It proves nothing about what nixpkgs would build. But only
# with the compiler of `make reproducible`, which nixpkgs does not have, must nix's sandbox give the same bytes.
{ system, overlays ? [ ] }:
let
  path = builtins.getEnv "VERIPLEX_PATH";
  mkDerivation = attributes:
    let
      outputs = attributes.outputs or [ "out" ];
      made = derivation (attributes // {
        name = "${attributes.pname}-${attributes.version}";
        inherit system outputs;
        builder = "/bin/sh";
        args = [ "-e" ./builder ];
        PATH = path;
        RUSTUP_HOME = builtins.getEnv "VERIPLEX_RUSTUP_HOME";
      });
      # As in nixpkgs. Without it, newer nix takes `veriplex.crates` for `veriplex`.
      output = name: { inherit name; value = made.${name} // { outputSpecified = true; }; };
    in
    made // builtins.listToAttrs (map output outputs);
  # A tool of PATH. As a package it is empty.
  tool = pname: mkDerivation { inherit pname; version = "0"; src = ./.; installPhase = "mkdir $out"; };
  names = [
    "binutils" "cargo" "cargo-auditable" "cargo-deny" "cargo-fuzz" "cargo-mutants" "cargo-semver-checks" "chromedriver" "chromium"
    "clippy" "coq" "cryptol" "diffoscope" "e2fsprogs" "git" "gnumake" "iproute2" "jasmin-compiler" "libnbd" "mdbook" "nodejs" "ocaml" "qemu" "rustc"
    "rustfmt" "saw-tools" "strace" "util-linux" "valgrind" "yices" "z3"
  ];
  machine = final: builtins.listToAttrs (map (name: { inherit name; value = tool name; }) names) // {
    stdenv = {
      inherit mkDerivation;
      isLinux = builtins.match ".*-linux" system != null;
      cc = tool "cc";
    };
    mkShell = { packages }: mkDerivation {
      pname = "shell";
      version = "0";
      src = ./.;
      nativeBuildInputs = packages;
      installPhase = "mkdir $out";
    };
    ocamlPackages.findlib = tool "findlib";
    pkgsCross.aarch64-multiplatform.stdenv.cc = tool "aarch64-cc";
    rustPlatform.importCargoLock = { lockFile }: builtins.path {
      path = builtins.getEnv "VERIPLEX_CRATES";
      name = "crates";
    };
  };
  extend = set: overlay: final: let prev = set final; in prev // overlay final prev;
  fix = set: let final = set final; in final;
in
fix (builtins.foldl' extend machine overlays)
