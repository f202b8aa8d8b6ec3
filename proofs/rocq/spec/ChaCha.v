(** * ChaCha, with a nonce of 8 bytes and a counter of 64 bits, HChaCha and XChaCha, with any even number of rounds

    The definitions of spec/cryptol/ChaCha.cry, with the same names and in the same order.  A word is a number below
    2^32, a state is sixteen of them, in four rows. *)

From Coq Require Import List Arith NArith.
From Veriplex Require Import AES Simpira1024.
Import ListNotations.
Local Open Scope N_scope.

(** The number that bytes represent, and words, in little-endian order. *)
Fixpoint le_number (bytes : list byte) : N :=
  match bytes with [] => 0 | b :: bytes => b + 256 * le_number bytes end.

Definition le_words (n : nat) (bytes : list byte) : list N := map le_number (split 4 n bytes).

(** Their bytes. *)
Definition le_word_bytes (words : list N) : list byte := flat_map (little_endian 4) words.

Definition add_words (x y : N) : N := (x + y) mod 2 ^ 32.

Definition rotate_word (x k : N) : N := N.lor (x * 2 ^ k mod 2 ^ 32) (x / 2 ^ (32 - k)).

(** The quarter round. *)
Definition quarter_round (x : list N) : list N :=
  match x with
  | [a; b; c; d] =>
      let a1 := add_words a b in
      let d2 := rotate_word (N.lxor d a1) 16 in
      let c1 := add_words c d2 in
      let b2 := rotate_word (N.lxor b c1) 12 in
      let a2 := add_words a1 b2 in
      let d4 := rotate_word (N.lxor d2 a2) 8 in
      let c2 := add_words c1 d4 in
      let b4 := rotate_word (N.lxor b2 c2) 7 in
      [a2; b4; c2; d4]
  | _ => []
  end.

(** Four rows of four words. *)
Definition transpose (rows : list (list N)) : list (list N) :=
  map (fun i => map (fun row => nth i row 0) rows) (seq 0 4).

(** A quarter round on each column. *)
Definition column_round (x : list N) : list N :=
  concat (transpose (map quarter_round (transpose (split 4 4 x)))).

Definition rotate_row (r : nat) (row : list N) : list N := skipn r row ++ firstn r row.

(** Row r rotates left by r places. *)
Definition turn_rows (x : list N) : list N :=
  concat (map (fun r => rotate_row r (nth r (split 4 4 x) [])) (seq 0 4)).

(** The inverse of [turn_rows]. *)
Definition turn_rows_back (x : list N) : list N :=
  concat (map (fun r => rotate_row (4 - r) (nth r (split 4 4 x) [])) (seq 0 4)).

(** Columns, then diagonals: the columns of the rotated rows. *)
Definition double_round (x : list N) : list N := turn_rows_back (column_round (turn_rows (column_round x))).

(** n rounds. *)
Definition rounds (n : nat) (x : list N) : list N := Nat.iter (n / 2) double_round x.

(** "expand 32-byte k". *)
Definition constants : list byte :=
  [0x65; 0x78; 0x70; 0x61; 0x6e; 0x64; 0x20; 0x33; 0x32; 0x2d; 0x62; 0x79; 0x74; 0x65; 0x20; 0x6b].

(** The state before the rounds. *)
Definition start (key end_ : list byte) : list N := le_words 16 (constants ++ key ++ end_).

(** The key of the inner ChaCha: the first and the last row after the rounds, without adding the start. *)
Definition hchacha (n : nat) (key nonce : list byte) : list byte :=
  let x := rounds n (start key nonce) in le_word_bytes (firstn 4 x ++ skipn 12 x).

Definition zip_with {A} (f : A -> A -> A) (x y : list A) : list A := map (fun ab => f (fst ab) (snd ab)) (combine x y).

(** A block of the stream. *)
Definition block (n : nat) (key nonce : list byte) (counter : N) : list byte :=
  let x := start key (little_endian 8 counter ++ nonce) in le_word_bytes (zip_with add_words x (rounds n x)).

(** The stream from block 0 on. *)
Definition stream (n : nat) (key nonce : list byte) (len : nat) : list byte :=
  firstn len (flat_map (fun i => block n key nonce (N.of_nat i)) (seq 0 ((len + 63) / 64))).

(** The stream of XChaCha. *)
Definition xchacha (n : nat) (key nonce : list byte) (len : nat) : list byte :=
  stream n (hchacha n key (firstn 16 nonce)) (skipn 16 nonce) len.

(** ** Several blocks at once, each in a lane, as the kernels compute them *)

(** XORs the blocks with these numbers into the input, one in each lane.  Then each number is higher by the number of
    lanes. *)
Definition xor_group (n : nat) (key nonce : list byte) (numbers : list N) (input : list (list byte)) :
    list N * list (list byte) :=
  (map (fun i => (i + N.of_nat (length numbers)) mod 2 ^ 64) numbers,
   map (fun ci => xor (fst ci) (block n key nonce (snd ci))) (combine input numbers)).

(** The same for groups of blocks. *)
Fixpoint xor_blocks (n : nat) (key nonce : list byte) (numbers : list N) (input : list (list (list byte))) :
    list N * list (list (list byte)) :=
  match input with
  | [] => (numbers, [])
  | c :: input =>
      let after := xor_group n key nonce numbers c in
      let rest := xor_blocks n key nonce (fst after) input in
      (fst rest, snd after :: snd rest)
  end.

(** What the kernels get in memory: the words before the rounds but for the last row, the last row, and numbers in a
    row. *)
Definition first_rows (key : list byte) : list byte := constants ++ key.

Definition last_row (i : N) (nonce : list byte) : list byte := little_endian 8 i ++ nonce.

Definition numbers_from (i : N) (k : nat) : list N := map (fun l => (i + N.of_nat l) mod 2 ^ 64) (seq 0 k).
