(** * NH_aarch64: the machine code of the kernel of NH *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call ChaChaKernels Loop NHBytes NHKernels AArch64 Call_aarch64.
From Veriplex Require NH Kernels_nh_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.

(** The bytes, where the test of the counter is, and the vector registers that have the sums there. *)
Lemma units_x1_checks : checks (abi_aarch64 width) (kernel_of (convention_aarch64 width)
  Kernels_nh_aarch64.nh_add_units_x1 0x54
  of_unit 16 64 (map (fun p => (p, [p])) (seq 0 4))) (adding false of_unit) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma units_x1_ends : ends_in_return (abi_aarch64 width) Kernels_nh_aarch64.nh_add_units_x1.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorem *)

Opaque NH.add_units read Kernels_nh_aarch64.nh_add_units_x1.

(** What holds when a kernel returns: about its accesses and the sums. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine) (after :
  list byte) :
    Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\
    read (mem m') (gpr m 0) 64 = after /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers ->
      mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** The products of n units are added to the sums of four passes. *)
Definition adds_units (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let in_out := gpr m 0 in let input := gpr m 1 in let key := gpr m 2 in
  let buffers := [(true, (in_out, 64)); (false, (input, 16 * Z.of_nat n)); (false, (key, key_size 16 n))] in
  called width code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m 3 = Z.of_nat n ->
  ends code buffers (accesses (pc m) in_out input key n) m
    (sum_bytes (NH.add_units (sums (mem m) in_out 4) (units (mem m) input n) (units (mem m) key (n + 3)))).

Theorem nh_add_units_x1_aarch64 : adds_units Kernels_nh_aarch64.nh_add_units_x1.
Proof.
  destruct (adds_all_as (convention_aarch64 width) _ _ false of_unit 16 64 _ distinct_arguments four_arguments
    units_x1_checks
    units_x1_ends units_added (after_units)) as (accesses & H).
  exists (fun at_ => accesses at_ 0); intros m n; specialize (H m n); cbv zeta in *.
  destruct (extents 16 n) as [E1 E2]; cbn [Nat.add] in E2; rewrite E1, E2 in H; exact H.
Qed.
End Width.
