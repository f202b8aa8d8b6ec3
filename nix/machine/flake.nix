{
  description = "The tools of this machine, in the place of nixpkgs: for `make nix` alone";
  outputs = { self }: { };
}
