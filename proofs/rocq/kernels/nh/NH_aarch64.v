(** * NH_aarch64: the machine code of the kernel of NH for ARMv8

    Run in any memory, the literal bytes add the products of n units to the sums of NH, for every n.  At the test of the
    counter v0 to v3 have the sums. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Call Loop NHBytes NHKernels AArch64 Call_aarch64.
From Veriplex Require NH Kernels_nh_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Theorem nh_add_units_x1_aarch64 width : adds_units (convention_aarch64 width) Kernels_nh_aarch64.nh_add_units_x1.
Proof. apply (units_sound _ _ 0x54 (map (fun p => (p, [p])) (seq 0 4))); by_evaluation. Qed.
