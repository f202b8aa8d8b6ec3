(** * NH_x86_64: the machine code of the kernels of NH for AVX2 and AVX-512 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call ChaChaKernels Loop NHBytes NHKernels X86_64 Call_x86_64.
From Veriplex Require NH Kernels_nh_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, where the test of the counter is, and the vector registers that have the sums there, in pieces of 16
    bytes. *)
Lemma units_x2_checks : checks abi_x86_64 (kernel_of convention_x86_64 Kernels_nh_x86_64.nh_add_units_x2 0x48 of_unit
  16 64
  [(0%nat, [0; 1]%nat); (1%nat, [2; 3]%nat)]) (adding false of_unit) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma units_x4_checks : checks abi_x86_64 (kernel_of convention_x86_64 Kernels_nh_x86_64.nh_add_units_x4 0x39 of_unit
  16 64
  [(0%nat, seq 0 4)]) (adding false of_unit) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma groups_x4_checks : checks abi_x86_64 (kernel_of convention_x86_64 Kernels_nh_x86_64.nh_add_groups_x4 0xa8
  of_group 64 112
  [(4%nat, seq 0 4); (5%nat, seq 4 4); (6%nat, seq 8 4); (7%nat, seq 12 4)]) (adding true of_group) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma units_x2_ends : ends_in_return abi_x86_64 Kernels_nh_x86_64.nh_add_units_x2.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma units_x4_ends : ends_in_return abi_x86_64 Kernels_nh_x86_64.nh_add_units_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma groups_x4_ends : ends_in_return abi_x86_64 Kernels_nh_x86_64.nh_add_groups_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque NH.add_units NH.add_groups read Kernels_nh_x86_64.nh_add_units_x2 Kernels_nh_x86_64.nh_add_units_x4
  Kernels_nh_x86_64.nh_add_groups_x4.

(** What holds when a kernel returns: about its accesses and the sums. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine) (size : nat)
    (after : list byte) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run x86_64 k m = Some m' /\ returned m m' /\
    read (mem m') (gpr m rdi) size = after /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers ->
      mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** The products of n units are added to the sums of four passes. *)
Definition adds_units (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let in_out := gpr m rdi in let input := gpr m rsi in let key := gpr m rdx in
  let buffers := [(true, (in_out, 64)); (false, (input, 16 * Z.of_nat n)); (false, (key, key_size 16 n))] in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rcx = Z.of_nat n ->
  ends code buffers (accesses (pc m) (gpr m rsp) in_out input key n) m 64
    (sum_bytes (NH.add_units (sums (mem m) in_out 4) (units (mem m) input n) (units (mem m) key (n + 3)))).

(** Those of n groups, to the sums of four passes and four lanes. *)
Definition adds_groups (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let in_out := gpr m rdi in let input := gpr m rsi in let key := gpr m rdx in
  let buffers := [(true, (in_out, 256)); (false, (input, 64 * Z.of_nat n)); (false, (key, key_size 64 n))] in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rcx = Z.of_nat n ->
  ends code buffers (accesses (pc m) (gpr m rsp) in_out input key n) m 256
    (flat_map sum_bytes (NH.add_groups (lane_sums (mem m) in_out) (unit_groups (mem m) input n)
      (map turn_unit (units (mem m) key (4 * n + 3))))).

Lemma units_of code head words : checks abi_x86_64 (kernel_of convention_x86_64 code head of_unit 16 64 words)
  (adding false of_unit) = true ->
  ends_in_return abi_x86_64 code -> adds_units code.
Proof.
  intros CH EN; destruct (adds_all_as convention_x86_64 code head false of_unit 16 64 words distinct_arguments
    four_arguments CH EN
    units_added (after_units)) as (accesses & H).
  exists accesses; intros m n; specialize (H m n); cbv zeta in *.
  destruct (extents 16 n) as [E1 E2]; cbn [Nat.add] in E2; rewrite E1, E2 in H; exact H.
Qed.

Lemma groups_of code head words : checks abi_x86_64 (kernel_of convention_x86_64 code head of_group 64 112 words)
  (adding true of_group) = true ->
  ends_in_return abi_x86_64 code -> adds_groups code.
Proof.
  intros CH EN; destruct (adds_all_as convention_x86_64 code head true of_group 64 112 words distinct_arguments
    four_arguments CH EN
    groups_added (after_groups)) as (accesses & H).
  exists accesses; intros m n; specialize (H m n); cbv zeta in *.
  destruct (extents 64 n) as [E1 E2]; cbn [Nat.add] in E2; rewrite E1, E2 in H; exact H.
Qed.

Theorem nh_add_units_x2_x86_64 : adds_units Kernels_nh_x86_64.nh_add_units_x2.
Proof. exact (units_of _ _ _ units_x2_checks units_x2_ends). Qed.

Theorem nh_add_units_x4_x86_64 : adds_units Kernels_nh_x86_64.nh_add_units_x4.
Proof. exact (units_of _ _ _ units_x4_checks units_x4_ends). Qed.

Theorem nh_add_groups_x4_x86_64 : adds_groups Kernels_nh_x86_64.nh_add_groups_x4.
Proof. exact (groups_of _ _ _ groups_x4_checks groups_x4_ends). Qed.
