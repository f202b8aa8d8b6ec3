(** * XoofffAnswers: the specification of Xoodoo and Xoofff, evaluated on known answers *)

From Coq Require Import String List Bool NArith.
From Veriplex Require Import AES Simpira1024 KnownAnswers Xoodoo Xoofff.
Import ListNotations.

(** Strings with their domain, the number of its bits, and the output after them; then more output after the last. *)
Record xoofff_answer := Xoofff_answer {
  xoofff_key : string; xoofff_offset : N; xoofff_strings : list (string * N * N * string); xoofff_output : string
}.

(** The input, the result of 6 and that of 12 rounds. *)
Definition xoodoo_holds (a : string * string * string) : bool :=
  let '(input, six, twelve) := a in
  same (permute 6 (unhex input)) (unhex six) && same (permute 12 (unhex input)) (unhex twelve).

Definition output_is (d : deck) (offset : N) (want : string) : bool :=
  let want := unhex want in same (output d (N.to_nat offset) (List.length want)) want.

Fixpoint strings_hold (d : deck) (offset : N) (strings : list (string * N * N * string)) (last : string) : bool :=
  match strings with
  | [] => output_is d offset last
  | (data, domain, bits, after) :: strings =>
      let d := append d (unhex data) domain bits in output_is d offset after && strings_hold d offset strings last
  end.

Definition xoofff_holds (a : xoofff_answer) : bool :=
  strings_hold (start (unhex (xoofff_key a))) (xoofff_offset a) (xoofff_strings a) (xoofff_output a).
