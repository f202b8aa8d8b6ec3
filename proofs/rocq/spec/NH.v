(** * NH, with words of 32 bits, stride 2, four passes and messages of at most 1024 bytes

    The definitions of spec/cryptol/NH.cry, with the same names and in the same order.  A word is a number below 2^32,
    or 2^64 for sums; a unit is four words. *)

From Coq Require Import List Arith NArith.
From Veriplex Require Import AES Simpira1024 ChaCha.
Import ListNotations.
Local Open Scope N_scope.

(** Sums and products of words of 64 bits. *)
Definition add_long (x y : N) : N := (x + y) mod 2 ^ 64.
Definition multiply_long (x y : N) : N := x * y mod 2 ^ 64.
Definition sum_long (l : list N) : N := fold_right add_long 0 l.

(** The two products of a unit of four words with four words of the key. *)
Definition products (m k : list N) : list N :=
  let t := zip_with add_words m k in [multiply_long (nth 0 t 0) (nth 2 t 0); multiply_long (nth 1 t 0) (nth 3 t 0)].

(** The sum of a pass over the first [used] units: unit u of the message with unit u + pass of the key. *)
Definition nh_pass (key units : list (list N)) (used pass : nat) : N :=
  sum_long (map (fun u =>
    if (u <? used)%nat then sum_long (products (nth u units []) (nth (u + pass)%nat key [])) else 0)
    (seq 0 (length units))).

(** The hash of a message of [size] bytes, at most 1024; the bytes after it are zero.  The message is padded with zeros
    to a multiple of 16 bytes, and the units after that do not count. *)
Definition nh (key message : list byte) (size : nat) : list byte :=
  let key_units := split 4 67 (le_words 268 key) in
  let units := split 4 64 (le_words 256 message) in
  flat_map (fun pass => little_endian 8 (nh_pass key_units units ((size + 15) / 16) pass)) (seq 0 4).

(** ** As kernels compute it *)

(** Adds the products of a unit to the two sums of each pass.  Pass p uses unit p of this part of the key. *)
Definition add_unit (sums : list (list N)) (m : list N) (key : list (list N)) : list (list N) :=
  zip_with (fun s k => zip_with add_long s (products m k)) sums key.

(** Adds those of units in a row.  For each, the key begins one unit further on. *)
Definition add_units (sums units key : list (list N)) : list (list N) :=
  fold_left (fun s u => add_unit s (nth u units []) (firstn 4 (skipn u key))) (seq 0 (length units)) sums.

(** Adds the products of four units, each in its lane, to the two sums of each pass and lane.  Unit u uses unit u + p of
    this part of the key in pass p. *)
Definition add_group (sums : list (list (list N))) (units key : list (list N)) : list (list (list N)) :=
  map (fun p =>
    zip_with (zip_with add_long) (nth p sums []) (zip_with products units (firstn 4 (skipn p key)))) (seq 0 4).

(** Adds those of groups in a row.  For each, the key begins four units further on. *)
Definition add_groups (sums : list (list (list N))) (groups : list (list (list N))) (key : list (list N)) :
    list (list (list N)) :=
  fold_left (fun s g => add_group s (nth g groups []) (firstn 7 (skipn (4 * g) key))) (seq 0 (length groups)) sums.
