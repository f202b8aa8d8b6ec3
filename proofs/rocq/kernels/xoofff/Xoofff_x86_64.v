(** * Xoofff_x86_64: the machine code of the kernels of Xoofff for x86-64 and for AVX2

    Run in any memory, the literal bytes absorb or squeeze n groups of four blocks, or of eight, for every n. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Call Loop XoodooRows XoofffKernels X86_64 Call_x86_64.
From Veriplex Require Kernels_xoofff_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The crate's table is that of the theorems. *)
Theorem xoofff_table_is : Kernels_xoofff_x86_64.xoofff_constants_x4 = constants_x4.
Proof. vm_compute; reflexivity. Qed.

(** Where the test of the counter is.  At the test the state is in memory; for eight states, squeezing has planes 2 and 3 of
    the output states in ymm15, too: pieces 5 and 6 of what it carries. *)
Local Notation V := (convention_x86_64 0).

Theorem xoofff_absorb_blocks_x4_x86_64 : absorbs V 4 constants_x4 Kernels_xoofff_x86_64.xoofff_absorb_blocks_x4.
Proof. apply (absorb_sound V true planes_x4 _ 0xeb6 true _ _ 96 [] eq_refl eq_refl); by_evaluation. Qed.

Theorem xoofff_squeeze_blocks_x4_x86_64 : squeezes V 4 constants_x4 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x4.
Proof. apply (squeeze_sound V true planes_x4 _ 0xef8 true _ _ 96 [] eq_refl eq_refl); by_evaluation. Qed.

Theorem xoofff_absorb_blocks_x8_x86_64 : absorbs V 8 constants_x4 Kernels_xoofff_x86_64.xoofff_absorb_blocks_x8.
Proof. apply (absorb_sound V true planes_x4 _ 0xf52 true _ _ 96 [] eq_refl eq_refl); by_evaluation. Qed.

Theorem xoofff_squeeze_blocks_x8_x86_64 : squeezes V 8 constants_x4 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x8.
Proof. apply (squeeze_ahead_sound V true planes_x4 _ 0xf8e true _ _ 112 [(15, [5; 6])]%nat eq_refl eq_refl); by_evaluation. Qed.
