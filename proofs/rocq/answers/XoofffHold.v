(** * XoofffHold: the known answers of Xoodoo and the short ones of Xoofff (tests/vectors) *)

From Coq Require Import String List NArith.
From Veriplex Require Import Simpira1024 KnownAnswers Xoofff XoofffAnswers XoofffVectors.
Import ListNotations.

(** No answer was lost on the way from the file. *)
Example xoofff_counts : (List.length xoodoo_answers, List.length xoofff_answers) = (24, 138).
Proof. vm_compute; reflexivity. Qed.

Theorem xoodoo_answers_hold : forallb xoodoo_holds xoodoo_answers = true.
Proof. apply forallb_all_hold; vm_cast_no_check (eq_refl true). Qed.

Theorem xoofff_answers_hold : forallb xoofff_holds xoofff_answers = true.
Proof. apply forallb_all_hold; vm_cast_no_check (eq_refl true). Qed.

(** The short version, on the example of the format: a string of the bytes 0 to 49 and a bit 0, under the key of the bytes
    0 to 15. *)
Example short_example :
  let counted n := map N.of_nat (seq 0 n) in
  short (append (start (counted 16)) (counted 50) 0 1) 32 =
  unhex "65f25fd89175faafbbedc4959ed055163287d66937997a2ee60fbf2e4543704b".
Proof. vm_compute; reflexivity. Qed.

(** Whole blocks are the blocks of the stream, one after the other. *)
Example squeeze_blocks_example :
  let d := start [1%N] in
  concat (snd (squeeze_blocks (mask d) (p (acc d)) 5)) = output d 0 240 /\
  fst (squeeze_blocks (mask d) (p (acc d)) 5) = Nat.iter 5 roll_e (p (acc d)).
Proof. split; vm_compute; reflexivity. Qed.
