(** * Poly1305_x16_x86_64: the machine code of the kernel of Poly1305 for AVX-512 IFMA

    Run in any memory, the literal bytes add n groups of sixteen blocks to eight sums, for every n: limbs of 44, 44 and 42
    bits, a lane has two blocks of each group and a multiplier for either.  Two calls compute the polynomial. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Arx Call ChaChaRows ChaChaKernels Loop LanePrograms Poly1305Rows
  Poly1305Kernels44 X86_64 Call_x86_64.
From Veriplex Require Poly1305 Poly1305Limbs Poly1305Lanes44 Kernels_poly1305_x16_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** Where the test of the counter is, and what the vector registers have there: the limbs of the sums; the low 44 and the low
    42 bits of each word, and 2^40; and the multipliers, those of the first eight blocks of a group before the others. *)
Definition multipliers_in (from register k : nat) : nat * list (nat * nat) :=
  ((register + k)%nat, map (fun j => (0, 128 * k + from + j)%nat) (seq 0 64)).

Theorem poly1305_add_blocks_x16_x86_64 :
  adds_groups (convention_x86_64 13) 3 8 5 16 256 Poly1305Lanes44.add_group44 Kernels_poly1305_x16_x86_64.poly1305_add_blocks_x16.
Proof.
  apply (groups_are_added _ two_program all_inputs all_outputs 3 8 5 16 256 _ _ 0x2b4
    (map (fun k => (k, seq (4 * k) 4)) (seq 0 3))
    [(3%nat, in_lanes 8 (repeat 0xfffffffffff%N 8)); (4%nat, in_lanes 8 (repeat 0x3ffffffffff%N 8));
     (5%nat, in_lanes 8 (repeat 0x10000000000%N 8))]
    (map (multipliers_in 0 6) (seq 0 5) ++ map (multipliers_in 64 11) (seq 0 5)) eq_refl two_shape two_are_added); by_evaluation.
Qed.

Theorem poly1305_add_blocks_x16_polynomial : computes_polynomial (convention_x86_64 13) 3 8 5 16 256
  (Poly1305Lanes44.below3 (2 ^ 45)) Poly1305Lanes44.start44 Poly1305Lanes44.same_multipliers44 Poly1305Lanes44.last_multipliers44
  (fun sums => Poly1305.limbs_number44 (Poly1305Limbs.reduce_limbs44 (Poly1305Limbs.carry_limbs44 (Poly1305Limbs.sum_lanes44 sums))))
  Poly1305.limbs_number44 Kernels_poly1305_x16_x86_64.poly1305_add_blocks_x16.
Proof.
  apply (polynomial_sound _ _ _ _ _ _ _ _ _ _ _ _ _ _ poly1305_add_blocks_x16_x86_64).
  - exact (lanes_after two_program all_inputs all_outputs 3 8 5 16 256 Poly1305Lanes44.add_group44 eq_refl two_shape two_are_added).
  - exact Poly1305Lanes44.lanes44_are_the_polynomial.
Qed.
