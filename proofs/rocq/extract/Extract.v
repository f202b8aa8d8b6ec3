(** Extraction of the executable model: the same functions that the theorems are about.  Only bool,
    option, pairs and lists become OCaml's own types; numbers stay Coq's. *)
From Coq Require Import Extraction ExtrOcamlBasic.
From Veriplex Require Import Duplex Protocol Tree Seekable.

Extraction Language OCaml.
Extraction "machine.ml" step unmask opened unseal run fed tape_run render start
  derive base tree seal stream finished plaintext_len.
