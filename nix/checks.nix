# The make targets as checks, each with STRICT=1: a tool that is missing is an error.
{ pkgs }:
let
  check = tools: target: pkgs.stdenv.mkDerivation {
    pname = "veriplex-check-${target}";
    inherit (pkgs.veriplex) version src;
    nativeBuildInputs = tools;
    buildPhase = ''
      ${pkgs.veriplexPrepare}
      make ${target} STRICT=1
    '';
    installPhase = "touch $out";
  };
  inherit (pkgs.veriplexTools) rust linux disks;
  named = tools: targets: builtins.listToAttrs (map (target: { name = target; value = check tools target; }) targets);
in
named rust [ "lint" "audit" ]
// named (rust ++ disks) [ "test" ]
// (if !pkgs.stdenv.isLinux then { } else
  named (rust ++ linux) [ "rocq" "proofs" "spec" "kernels-check" "ct" "test-aarch64" ]
  // {
    # nixpkgs moves on, and its versions may not be those that proofs/versions.toml names.
    versions = pkgs.stdenv.mkDerivation {
      pname = "veriplex-check-versions";
      inherit (pkgs.veriplex) version src;
      nativeBuildInputs = rust ++ linux;
      buildPhase = "sh nix/versions";
      installPhase = "touch $out";
    };
  })
