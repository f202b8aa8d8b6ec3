(** * ParallelAnswers: the model of tree and seekable, evaluated on known answers *)

From Coq Require Import String List Bool NArith Arith.
From Veriplex Require Import AES Simpira1024 Duplex Protocol KnownAnswers Tree Seekable.
Import ListNotations.

(** The messages of the known answers. *)
Fixpoint data_from (len : nat) (x : N) : list byte :=
  match len with
  | O => []
  | S len =>
      let x := ((x * 6364136223846793005 + 1442695040888963407) mod 2 ^ 64)%N in
      N.shiftr x 56 :: data_from len x
  end.

Definition data (seed len : N) : list byte := data_from (N.to_nat len) seed.

Record tree_answer := Tree_answer {
  tree_domain : string; tree_key : option string; tree_seed : N; tree_len : N; tree_out_len : N; tree_digest : string
}.

Definition tree_holds (a : tree_answer) : bool :=
  let B := base (text (tree_domain a)) (option_map unhex (tree_key a)) in
  let digest := tree (derive Simpira1024.permute) B (data (tree_seed a) (tree_len a)) (N.to_nat (tree_out_len a)) in
  same digest (unhex (tree_digest a)).

Record seekable_answer := Seekable_answer {
  seekable_domain : string; seekable_key : string; seekable_nonce : string; seekable_ad : string;
  seekable_segment_len : N; seekable_seed : N; seekable_len : N; first_256 : string; ciphertext_digest : string
}.

(** Sealing gives the ciphertext, and a stream of it the segments of the message. *)
Definition seekable_holds (a : seekable_answer) : bool :=
  let P := Simpira1024.permute in
  let x := Context (text (seekable_domain a)) (unhex (seekable_key a)) (unhex (seekable_nonce a))
    (unhex (seekable_ad a)) (N.to_nat (seekable_segment_len a)) in
  let m := data (seekable_seed a) (seekable_len a) in
  let c := seal P x m in
  let digest := derive P ([Init (text "veriplex.test.digest"); Mix (text "message") c], text "digest", 32) in
  same (firstn 256 c) (unhex (first_256 a)) && same digest (unhex (ciphertext_digest a)) &&
  finished P x c && same (concat (stream P x c)) m && (plaintext_len x c =? length m)%nat &&
  match read_segment P x c 0 with Some p => same p (firstn (segment_len x) m) | None => false end.
