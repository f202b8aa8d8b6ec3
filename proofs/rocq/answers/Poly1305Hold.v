(* The known answers of Poly1305 (tests/vectors) hold of the specification, by evaluation. *)

From Coq Require Import List String.
From Veriplex Require Import KnownAnswers Poly1305 Poly1305Vectors.

Example poly1305_count : List.length poly1305_answers = 245.
Proof. vm_compute; reflexivity. Qed.

Theorem poly1305_holds :
  forallb (fun a => same (poly1305 (unhex (fst (fst a))) (unhex (snd (fst a)))) (unhex (snd a))) poly1305_answers = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
