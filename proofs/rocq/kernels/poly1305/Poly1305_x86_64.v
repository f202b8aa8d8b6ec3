(** * Poly1305_x86_64: the machine code of the kernel of Poly1305 for AVX2

    Run in any memory, the literal bytes add n groups of eight blocks to four sums, for every n: limbs of 26 bits, a lane has
    two blocks of each group and a multiplier for either.  Two calls compute the polynomial. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Arx Call ChaChaRows ChaChaKernels Loop LanePrograms Poly1305Rows Poly1305Kernels
  X86_64 Call_x86_64.
From Veriplex Require Poly1305 Poly1305Limbs Poly1305Lanes Poly1305Pairs Kernels_poly1305_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** Where the test of the counter is, the vector registers that have the sums there, and those with the low 26 bits of each
    word and with 2^24. *)
Theorem poly1305_add_blocks_x8_x86_64 :
  adds_groups (convention_x86_64 0) 5 4 9 8 128 Poly1305Pairs.add_group_of_pairs Kernels_poly1305_x86_64.poly1305_add_blocks_x8.
Proof.
  apply (groups_are_added _ pair_program pair_inputs pair_outputs 5 4 9 8 128 _ _ 0x394
    (map (fun i => (i, [2 * i; 2 * i + 1]%nat)) (seq 0 5))
    [(5%nat, in_lanes 8 (repeat 0x3ffffff%N 4)); (6%nat, in_lanes 8 (repeat 0x1000000%N 4))] [] eq_refl pair_shape pairs_are_added);
    by_evaluation.
Qed.

Theorem poly1305_add_blocks_x8_polynomial : computes_polynomial (convention_x86_64 0) 5 4 9 8 128
  (Poly1305Lanes.below (2 ^ 27)) Poly1305Lanes.start Poly1305Pairs.same_pairs Poly1305Pairs.last_pairs
  (fun sums => Poly1305.limbs_number (Poly1305Limbs.reduce_limbs (Poly1305Limbs.carry_limbs (Poly1305Limbs.sum_lanes sums))))
  Poly1305.limbs_number Kernels_poly1305_x86_64.poly1305_add_blocks_x8.
Proof.
  apply (polynomial_sound _ _ _ _ _ _ _ _ _ _ _ _ _ _ poly1305_add_blocks_x8_x86_64).
  - exact (lanes_after pair_program pair_inputs pair_outputs 5 4 9 8 128 Poly1305Pairs.add_group_of_pairs eq_refl pair_shape
      pairs_are_added).
  - exact Poly1305Pairs.pairs_are_the_polynomial.
Qed.
