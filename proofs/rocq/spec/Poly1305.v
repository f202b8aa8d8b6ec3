(* Poly1305 (RFC 8439, section 2.5), definition by definition as in spec/cryptol/Poly1305.cry. *)

From Coq Require Import List NArith ZArith.
From Veriplex Require Import AES.
Import ListNotations.
Local Open Scope Z_scope.

Definition prime : Z := 2 ^ 130 - 5.

(* The number that bytes represent in little-endian order. *)
Fixpoint le_number (bytes : list byte) : Z :=
  match bytes with
  | [] => 0
  | b :: bytes => Z.of_N b + 2 ^ 8 * le_number bytes
  end.

(* The last 128 bits of a number. *)
Definition le_bytes (x : Z) : list byte :=
  map (fun i => Z.to_N (x / 2 ^ (8 * Z.of_nat i) mod 2 ^ 8)) (seq 0 16).

Definition clamp (r : list byte) : Z := Z.land (le_number r) 0x0ffffffc0ffffffc0ffffffc0fffffff.

(* A block of at most 16 bytes: its bytes, and a 1 after them. *)
Definition block_number (block : list byte) : Z := le_number block + 2 ^ (8 * Z.of_nat (length block)).

(* Cut into blocks of 16 bytes; the last one may be shorter. The number of bytes is enough fuel. *)
Fixpoint cut (fuel : nat) (message : list byte) : list (list byte) :=
  match fuel, message with
  | O, _ | _, [] => []
  | S fuel, _ => firstn 16 message :: cut fuel (skipn 16 message)
  end.

Definition blocks (message : list byte) : list (list byte) := cut (length message) message.

Definition add_block (r : list byte) (h : Z) (block : list byte) : Z := (h + block_number block) * clamp r mod prime.

Definition polynomial (r message : list byte) : Z := fold_left (add_block r) (blocks message) 0.

Definition poly1305 (key message : list byte) : list byte :=
  le_bytes (polynomial (firstn 16 key) message + le_number (skipn 16 key)).

(* -- As kernels compute it: four lanes. Poly1305Limbs.v has the arithmetic. --------------------------------------- *)

(* The limbs of a number below 2^130, and five times all but the first. *)
Definition limbs (x : Z) : list Z := map (fun i => x / 2 ^ (26 * i) mod 2 ^ 26) [0; 1; 2; 3; 4].

Definition multiplier (x : Z) : list Z := limbs x ++ map (Z.mul 5) (skipn 1 (limbs x)).

(* The number with these limbs. *)
Definition limbs_number (x : list Z) : Z := fold_right (fun limb rest => limb + 2 ^ 26 * rest) 0 x.

(* The two words of a block, and the blocks of a group in the order of the lanes (proofs/saw/lib/LiftedPoly1305.cry). *)
Definition words (block : list byte) : list Z := [le_number (firstn 8 block); le_number (skipn 8 block)].

Definition lane_blocks (group : list byte) : list (list Z) :=
  map (fun i => words (firstn 16 (skipn (16 * i) group))) [0; 2; 1; 3]%nat.

(* The same for groups of eight: the blocks that are added to the sums, and the others. *)
Definition lane_pairs (group : list byte) : list (list Z) :=
  map (fun i => words (firstn 16 (skipn (16 * i) group))) [0; 2; 1; 3; 4; 6; 5; 7]%nat.

(* -- As kernels compute it: eight lanes, two blocks each, limbs of 44, 44 and 42 bits ----------------------------- *)

(* The limbs of a number below 2^130, and twenty times all but the first. *)
Definition limbs44 (x : Z) : list Z := map (fun i => x / 2 ^ (44 * i) mod 2 ^ 44) [0; 1; 2].

Definition multiplier44 (x : Z) : list Z := limbs44 x ++ map (Z.mul 20) (skipn 1 (limbs44 x)).

(* The number with these limbs. *)
Definition limbs_number44 (x : list Z) : Z := fold_right (fun limb rest => limb + 2 ^ 44 * rest) 0 x.

(* The blocks of a group in the order of the lanes (proofs/saw/lib/LiftedPoly1305.cry): those that are added to the sums,
   and the others. *)
Definition lane_blocks44 (group : list byte) : list (list Z) :=
  map (fun i => words (firstn 16 (skipn (16 * i) group))) [0; 4; 1; 5; 2; 6; 3; 7; 8; 12; 9; 13; 10; 14; 11; 15]%nat.
