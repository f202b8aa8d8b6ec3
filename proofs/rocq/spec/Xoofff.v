(** * Xoofff: Farfalle over Xoodoo[6], a keyed function of a sequence of strings (eprint 2016/1188, 2018/767)

    The definitions of spec/cryptol/Xoofff.cry, with the same names and in the same order. *)

From Coq Require Import List Arith NArith.
From Veriplex Require Import AES Simpira1024 Xoodoo.
From Veriplex Require ChaCha.
Import ListNotations.
Local Open Scope N_scope.

(** Size in bytes of a block. *)
Definition block_len : nat := 48.

(** The state after the strings so far: the sum of their permuted blocks, and the next mask. *)
Record deck := Deck { acc : list byte; mask : list byte }.

(** The permutation of Xoofff. *)
Definition p (x : list byte) : list byte := permute 6 x.

(** The step that both roll functions share, given the new word. *)
Definition roll (a : list (list N)) (word : N) : list byte := bytes [plane 1 a; plane 2 a; tl (plane 0 a) ++ [word]].

Definition first_word (i : nat) (a : list (list N)) : N := nth 0 (plane i a) 0.

(** The next mask. *)
Definition roll_c (x : list byte) : list byte :=
  let a := planes x in
  roll a (N.lxor (N.lxor (first_word 0 a) (first_word 0 a * 2 ^ 13 mod 2 ^ 32)) (ChaCha.rotate_word (first_word 1 a) 3)).

(** The next output state. *)
Definition roll_e (x : list byte) : list byte :=
  let a := planes x in
  roll a (N.lxor (N.lxor (N.lxor (N.land (first_word 1 a) (first_word 2 a)) (ChaCha.rotate_word (first_word 0 a) 5))
    (ChaCha.rotate_word (first_word 1 a) 13)) 7).

(** The byte that closes a string: w domain bits, the first one lowest, and a 1. *)
Definition closing (domain w : N) : byte := let end_ := 2 ^ w in N.lxor end_ (N.land domain (end_ - 1)).

(** A string as blocks: its bytes, the closing byte, zeros. *)
Definition pad (string : list byte) (end_ : byte) : list (list byte) :=
  let n := (length string / block_len + 1)%nat in split block_len n (string ++ [end_] ++ zero block_len).

(** One block of input. *)
Definition absorb_block (d : deck) (block : list byte) : deck :=
  Deck (xor (acc d) (p (xor block (mask d)))) (roll_c (mask d)).

(** Blocks of input. *)
Definition absorb_blocks (d : deck) (blocks : list (list byte)) : deck := fold_left absorb_block blocks d.

(** n blocks of output from an output state, and the next output state. *)
Fixpoint squeeze_blocks (mask y : list byte) (n : nat) : list byte * list (list byte) :=
  match n with
  | O => (y, [])
  | S n => let (last, blocks) := squeeze_blocks mask (roll_e y) n in (last, xor (p y) mask :: blocks)
  end.

(** The empty sequence of strings under a key of fewer than 48 bytes. *)
Definition start (key : list byte) : deck :=
  Deck (zero block_len) (p (firstn block_len (key ++ [0x01] ++ zero block_len))).

(** Appends a string with w domain bits, and the gap after it. *)
Definition append (d : deck) (string : list byte) (domain w : N) : deck :=
  let after := absorb_blocks d (pad string (closing domain w)) in Deck (acc after) (roll_c (mask after)).

(** Bytes q to q + n - 1 of the output from an output state. *)
Definition stream (mask y : list byte) (q n : nat) : list byte :=
  firstn n (skipn q (concat (snd (squeeze_blocks mask y ((q + n) / block_len + 1))))).

(** Bytes q to q + n - 1 of Xoofff. *)
Definition output (d : deck) (q n : nat) : list byte := stream (mask d) (p (acc d)) q n.

(** n bytes of the short version of Xoofff. *)
Definition short (d : deck) (n : nat) : list byte := stream (mask d) (acc d) 0 n.
