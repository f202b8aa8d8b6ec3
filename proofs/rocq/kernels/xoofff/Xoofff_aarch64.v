(** * Xoofff_aarch64: the machine code of the kernels of Xoofff for ARMv8

    Run in any memory, the literal bytes absorb or squeeze n groups of four blocks, for every n. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Call Loop XoodooRows XoofffKernels AArch64 Call_aarch64.
From Veriplex Require Kernels_xoofff_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.
Local Notation V := (convention_aarch64 width).

(** At the test of the counter v23 to v25 have the first half of the state, v20 to v22 the second. *)
Definition planes_in : list (nat * list nat) :=
  [(23, [0]); (24, [1]); (25, [2]); (20, [3]); (21, [4]); (22, [5])]%nat.

Theorem xoofff_absorb_blocks_x4_aarch64 : absorbs V 4 constants_x4 Kernels_xoofff_aarch64.xoofff_absorb_blocks_x4.
Proof. apply (absorb_sound V false planes_x4 _ 0xb00 false _ _ 96 planes_in eq_refl eq_refl); by_evaluation. Qed.

Theorem xoofff_squeeze_blocks_x4_aarch64 : squeezes V 4 constants_x4 Kernels_xoofff_aarch64.xoofff_squeeze_blocks_x4.
Proof. apply (squeeze_sound V false planes_x4 _ 0xb2c false _ _ 96 planes_in eq_refl eq_refl); by_evaluation. Qed.
End Width.
