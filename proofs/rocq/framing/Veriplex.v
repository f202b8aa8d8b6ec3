(** * Veriplex: the theorems about transcripts, for the permutation of Veriplex

    Protocol.v has them for every function from 128 bytes to 128 bytes; here the function is
    Simpira-1024. *)

From Coq Require Import List.
From Veriplex Require Import Duplex Framing Protocol.
From Veriplex Require Simpira1024.
Import ListNotations.

Notation simpira1024 := Simpira1024.permute (only parsing).

Corollary veriplex_transcript_injective (T1 T2 : list op) :
  (forall o, In o (T1 ++ T2) -> length (label o) <= label_max) ->
  run simpira1024 T1 = run simpira1024 T2 -> T1 = T2.
Proof. apply transcript_injective, Simpira1024.permute_length. Qed.

Corollary veriplex_transcript_injective_padded (T1 T2 : list op) :
  (forall o, In o (T1 ++ T2) -> length (label o) <= label_max) ->
  inputs (permute simpira1024 (run simpira1024 T1)) = inputs (permute simpira1024 (run simpira1024 T2)) ->
  T1 = T2.
Proof. apply transcript_injective_padded, Simpira1024.permute_length. Qed.

Corollary veriplex_output_blocks_distinct (T1 T2 : list op) (q1 q2 : point) :
  (forall o, In o (T1 ++ T2) -> length (label o) <= label_max) ->
  length (point_label q1) <= label_max -> length (point_label q2) <= label_max ->
  inputs (reach simpira1024 T1 q1) = inputs (reach simpira1024 T2 q2) ->
  T1 = T2 /\ exists q0, begins q0 q1 /\ begins q0 q2 /\ rate_idx (reach simpira1024 T1 q0) = 0.
Proof. apply output_blocks_distinct, Simpira1024.permute_length. Qed.
