{
  description = "Veriplex: symmetric cryptography with verified kernels";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      overlay = import ./nix/overlay.nix { source = self; };
      each = systems: make: builtins.listToAttrs (map
        (system: {
          name = system;
          value = make (import nixpkgs { inherit system; overlays = [ overlay ]; });
        })
        systems);
      linux = [ "x86_64-linux" "aarch64-linux" ];
      all = linux ++ [ "x86_64-darwin" "aarch64-darwin" ];
    in
    {
      overlays.default = overlay;

      packages = each all (pkgs: {
        inherit (pkgs) veriplex veriplex-site;
        default = pkgs.veriplex;
      });

      # On darwin there are no proofs: they read ELF files, and valgrind and qemu-user do not run there.
      checks = each all (pkgs: import ./nix/checks.nix { inherit pkgs; });

      devShells = each all (pkgs: {
        default = pkgs.mkShell { packages = with pkgs.veriplexTools; rust ++ linux ++ disks ++ others; };
      });

      apps = each all (pkgs: {
        default = { type = "app"; program = "${pkgs.veriplex}/bin/veriplex"; };
        veriplex = { type = "app"; program = "${pkgs.veriplex}/bin/veriplex"; };
        audit = { type = "app"; program = "${pkgs.veriplex-audit}/bin/veriplex-audit"; };
      });
    };
}
