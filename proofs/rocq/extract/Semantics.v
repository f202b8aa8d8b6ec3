(** Extraction of the semantics: the same decoder and machine that the theorems are about.  Only bool, option, pairs
    and lists become OCaml's own types; numbers stay Coq's. *)
From Coq Require Import Extraction ExtrOcamlBasic.
From Veriplex Require Import Machine X86_64 AArch64.

Extraction Language OCaml.
Extraction "semantics_of.ml" step lengths decode x86_64 aarch64.
