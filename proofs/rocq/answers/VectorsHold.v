(** * VectorsHold: all known answers of the permutation and of the duplex (tests/vectors) *)

From Coq Require Import List.
From Veriplex Require Import Simpira1024 KnownAnswers Vectors.

(** No answer was lost on the way from the files. *)
Example counts : (length permutations, length sequences) = (63, 155).
Proof. vm_compute; reflexivity. Qed.

Theorem permutations_hold :
  map (fun v => permute (unhex (fst v))) permutations = map (fun v => unhex (snd v)) permutations.
Proof. apply map_all_hold; vm_cast_no_check (eq_refl true). Qed.

Theorem sequences_hold : forallb holds sequences = true.
Proof. apply forallb_all_hold; vm_cast_no_check (eq_refl true). Qed.
