# The packages, and the tools with which they are checked. What it takes from nixpkgs, nix/machine/default.nix has too.
{ source }:
final: prev:
let
  version = (builtins.fromTOML (builtins.readFile ../Cargo.toml)).workspace.package.version;
  # What a folder needs in which cargo finds all crates without a network.
  prepare = vendored: ''
    cp -rL ${vendored} vendor
    chmod -R u+w vendor
    mkdir -p .cargo
    printf '[source.crates-io]\nreplace-with = "vendored-sources"\n[source.vendored-sources]\ndirectory = "vendor"\n' >.cargo/config.toml
    export CARGO_HOME=$PWD/target/cargo CARGO_NET_OFFLINE=true
  '';
  package = attributes: final.stdenv.mkDerivation ({
    inherit version;
    src = source;
    nativeBuildInputs = final.veriplexTools.rust;
    # The bytes are those of packaging/build.
    dontStrip = true;
  } // attributes);
in
{
  veriplexCrates = final.rustPlatform.importCargoLock { lockFile = ../Cargo.lock; };
  veriplexPrepare = prepare final.veriplexCrates;

  # The program, and in the output `crates` its static library and the packages for crates.io.
  veriplex = package {
    pname = "veriplex";
    outputs = [ "out" "crates" ];
    buildPhase = ''
      ${final.veriplexPrepare}
      sh packaging/build $crates
    '';
    installPhase = ''
      mkdir -p built
      mv $crates/veriplex built
      make install PROGRAM=built/veriplex PREFIX=$out
    '';
  };

  veriplex-audit = package {
    pname = "veriplex-audit";
    buildPhase = ''
      ${final.veriplexPrepare}
      cargo build --locked --release --package veriplex-audit
    '';
    installPhase = "install -D target/release/veriplex-audit $out/bin/veriplex-audit";
  };

  veriplex-site = package {
    pname = "veriplex-site";
    nativeBuildInputs = final.veriplexTools.rust ++ [ final.mdbook ];
    buildPhase = final.veriplexPrepare;
    installPhase = "sh site/build $out";
  };

  # The check `versions` says whether these are the versions of proofs/versions.toml.
  veriplexTools = {
    rust = with final; [ cargo rustc rustfmt clippy cargo-auditable gnumake ];
    linux = if !final.stdenv.isLinux then [ ] else with final; [
      binutils
      cargo-fuzz
      cargo-mutants
      (final.coq_8_16 or coq)
      cryptol
      git
      jasmin-compiler
      ocaml
      ocamlPackages.findlib
      pkgsCross.aarch64-multiplatform.stdenv.cc
      qemu
      saw-tools
      valgrind
      yices
      z3
    ];
    # Clients for the test of `disk serve`, and what makes system calls fail.
    disks = if !final.stdenv.isLinux then [ ] else with final; [ e2fsprogs libnbd qemu strace ];
    # For the targets that are no checks. Not here: Verifpal 1.6, of which nixpkgs has 0.27, and rustc for other systems.
    others = if !final.stdenv.isLinux then [ ] else with final; [
      cargo-deny
      cargo-semver-checks
      chromedriver
      chromium
      diffoscope
      iproute2
      nodejs
      util-linux
    ];
  };
}
