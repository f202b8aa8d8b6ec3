(** * ParallelHold: the short known answers of tree and seekable (tests/vectors) *)

From Coq Require Import List.
From Veriplex Require Import KnownAnswers ParallelAnswers ParallelVectors.

(** No answer was lost on the way from the files. *)
Example parallel_counts : (length trees, length messages) = (20, 16).
Proof. vm_compute; reflexivity. Qed.

Theorem trees_hold : forallb tree_holds trees = true.
Proof. apply forallb_all_hold; vm_cast_no_check (eq_refl true). Qed.

Theorem messages_hold : forallb seekable_holds messages = true.
Proof. apply forallb_all_hold; vm_cast_no_check (eq_refl true). Qed.
