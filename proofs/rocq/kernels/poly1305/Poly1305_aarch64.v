(** * Poly1305_aarch64: the machine code of the kernel of Poly1305 for ARMv8

    Run in any memory, the literal bytes add n groups of four blocks to four sums, for every n: limbs of 26 bits, a lane has
    one block of each group.  Two calls compute the polynomial. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Arx Call ChaChaRows ChaChaKernels Loop LanePrograms LaneGroups Poly1305Rows
  Poly1305Quads AArch64 Call_aarch64.
From Veriplex Require Poly1305 Poly1305Limbs Poly1305Lanes Kernels_poly1305_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.

(** Where the test of the counter is, and what the vector registers have there: the limbs of the sums, two lanes in each; and
    the low halves of the multipliers' limbs, in the order of the blocks. *)
Theorem poly1305_add_blocks_x4_aarch64 :
  adds_groups (convention_aarch64 width) 5 4 9 4 64 Poly1305Lanes.add_group Kernels_poly1305_aarch64.poly1305_add_blocks_x4.
Proof.
  apply (groups_are_added_in_order _ (running quad_program quad_inputs quad_results) 5 4 9 4 64 quad_place _ _ 0x244
    (map (fun i => (nth i [0; 1; 2; 3; 4; 5; 6; 7; 16; 17] 0, [i])%nat) (seq 0 10)) []
    (map (fun k => ((18 + k)%nat, flat_map (fun l => map (fun j => (0, 32 * k + 8 * l + j)%nat) (seq 0 4)) order)) (seq 0 9))
    quad_places (fun s => eq_refl) quads_are_added); by_evaluation.
Qed.

Theorem poly1305_add_blocks_x4_polynomial : computes_polynomial (convention_aarch64 width) 5 4 9 4 64
  (Poly1305Lanes.below (2 ^ 27)) Poly1305Lanes.start Poly1305Lanes.same_multipliers Poly1305Lanes.last_multipliers
  (fun sums => Poly1305.limbs_number (Poly1305Limbs.reduce_limbs (Poly1305Limbs.carry_limbs (Poly1305Limbs.sum_lanes sums))))
  Poly1305.limbs_number Kernels_poly1305_aarch64.poly1305_add_blocks_x4.
Proof.
  apply (polynomial_sound _ _ _ _ _ _ _ _ _ _ _ _ _ _ poly1305_add_blocks_x4_aarch64).
  - exact (lanes_after_order (running quad_program quad_inputs quad_results) 5 4 9 4 64 quad_place Poly1305Lanes.add_group
      quad_places quads_are_added).
  - exact Poly1305Lanes.lanes_are_the_polynomial.
Qed.
End Width.
