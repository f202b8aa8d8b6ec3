(** * NH_x86_64: the machine code of the kernels of NH for AVX2 and AVX-512

    Run in any memory, the literal bytes add the products of n units, or of n groups of four, to the sums of NH, for every
    n.  Each proof says where the test of the counter is, and the vector registers that have the sums there, in pieces of 16
    bytes. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Call Loop NHBytes NHKernels X86_64 Call_x86_64.
From Veriplex Require NH Kernels_nh_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

Theorem nh_add_units_x2_x86_64 : adds_units (convention_x86_64 0) Kernels_nh_x86_64.nh_add_units_x2.
Proof. apply (units_sound _ _ 0x48 [(0%nat, [0; 1]%nat); (1%nat, [2; 3]%nat)]); by_evaluation. Qed.

Theorem nh_add_units_x4_x86_64 : adds_units (convention_x86_64 0) Kernels_nh_x86_64.nh_add_units_x4.
Proof. apply (units_sound _ _ 0x39 [(0%nat, seq 0 4)]); by_evaluation. Qed.

Theorem nh_add_groups_x4_x86_64 : adds_groups (convention_x86_64 0) Kernels_nh_x86_64.nh_add_groups_x4.
Proof.
  apply (groups_sound _ _ 0xa8 [(4%nat, seq 0 4); (5%nat, seq 4 4); (6%nat, seq 8 4); (7%nat, seq 12 4)]); by_evaluation.
Qed.
