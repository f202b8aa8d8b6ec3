(** * Xoodoo[n]: a permutation of 384 bits with n rounds (eprint 2018/767, section 2)

    The definitions of spec/cryptol/Xoodoo.cry, with the same names and in the same order.  A word is a number below
    2^32, a plane is four of them, one in each column, and a state is three planes. *)

From Coq Require Import List Arith NArith.
From Veriplex Require Import AES Simpira1024.
From Veriplex Require ChaCha.
Import ListNotations.
Local Open Scope N_scope.

(** The constants of the twelve rounds (table 2). *)
Definition round_constants : list N :=
  [0x00000058; 0x00000038; 0x000003c0; 0x000000d0; 0x00000120; 0x00000014;
   0x00000060; 0x0000002c; 0x00000380; 0x000000f0; 0x000001a0; 0x00000012].

(** The planes of a state, its words little-endian. *)
Definition planes (state : list byte) : list (list N) := split 4 3 (ChaCha.le_words 12 state).

(** The state of these planes. *)
Definition bytes (a : list (list N)) : list byte := ChaCha.le_word_bytes (concat a).

(** Plane i. *)
Definition plane (i : nat) (a : list (list N)) : list N := nth i a [].

(** Moves the words of a plane by t columns and rotates each left by v places. *)
Definition shift (p : list N) (t : nat) (v : N) : list N :=
  map (fun word => ChaCha.rotate_word word v) (skipn (4 - t) p ++ firstn (4 - t) p).

(** Mixes columns. *)
Definition theta (a : list (list N)) : list (list N) :=
  let parity := xor (xor (plane 0 a) (plane 1 a)) (plane 2 a) in
  let effect := xor (shift parity 1 5) (shift parity 1 14) in
  map (fun p => xor p effect) a.

(** Moves planes 1 and 2 before [chi]. *)
Definition rho_west (a : list (list N)) : list (list N) :=
  [plane 0 a; shift (plane 1 a) 1 0; shift (plane 2 a) 0 11].

(** Adds the constant of a round. *)
Definition iota (a : list (list N)) (constant : N) : list (list N) :=
  [xor (plane 0 a) [constant; 0; 0; 0]; plane 1 a; plane 2 a].

(** The nonlinear step: x + (not y) z, where a word without the bits of y is what (not y) leaves of it. *)
Definition chi (a : list (list N)) : list (list N) :=
  map (fun i => let next k := plane ((i + k) mod 3) a in xor (next 0%nat) (ChaCha.zip_with N.ldiff (next 2%nat) (next 1%nat)))
    (seq 0 3).

(** Moves planes 1 and 2 after [chi]. *)
Definition rho_east (a : list (list N)) : list (list N) :=
  [plane 0 a; shift (plane 1 a) 0 1; shift (plane 2 a) 2 8].

(** One round (algorithm 1). *)
Definition round (a : list (list N)) (constant : N) : list (list N) :=
  rho_east (chi (iota (rho_west (theta a)) constant)).

(** The permutation: the last n rounds of twelve. *)
Definition permute (n : nat) (x : list byte) : list byte :=
  bytes (fold_left round (skipn (12 - n) round_constants) (planes x)).
