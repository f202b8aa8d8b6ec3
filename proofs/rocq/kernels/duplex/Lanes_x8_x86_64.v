(** * Lanes_x8_x86_64: the machine code of the permutation of eight lanes *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call X86_64 Call_x86_64 Lanes WideLanes_x86_64.
From Veriplex Require Kernels_x8_x86_64 Permute.
Import ListNotations.
Local Open Scope Z_scope.

Definition code := Kernels_x8_x86_64.permute_x8.

Lemma checks_hold : Permute.checks abi_avx512 code round_constants_x4 (size 8) (goal 8) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma code_ends : ends_in_return abi_avx512 code.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

Opaque code round_constants_x4 permute goal read permuted size.

Definition buffers (m : machine) : list buffer := [(true, (gpr m rdi, 1024)); (false, (gpr m rsi, 4608))].

Theorem permute_x8_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> list event, forall m : machine,
  called code (buffers m) m ->
  read (mem m) (gpr m rsi) 4608 = round_constants_x4 ->
  Forall (allowed code (buffers m) m) (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi)) /\
  exists k m', run x86_64 k m = Some m' /\ returned_avx512 m m' /\
    lanes 8 (mem m') (gpr m rdi) = map permute (lanes 8 (mem m) (gpr m rdi)) /\
    (forall a, ~ in_lanes 8 (gpr m rdi) a -> mem m' a = mem m a) /\
    trace m' = accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) ++ trace m.
Proof.
  destruct (Permute.permute_sound convention_avx512 code round_constants_x4 (size 8) (goal 8) (permuted 8)
    (sizes 8 ltac:(lia)) (goal_sound 8) checks_hold code_ends) as (acc & H).
  exists acc; intros m CALL CT; unfold Permute.buffers in H; rewrite table_length in H.
  replace (Z.of_nat 4608) with 4608 in H by (vm_compute; reflexivity).
  replace (Z.of_nat (size 8)) with 1024 in H by (vm_compute; reflexivity).
  destruct (H m CALL CT) as (AL & k & m' & R & RT & S & FR & TR).
  destruct (lanes_permuted 8 (gpr m rdi) (mem m) (mem m') ltac:(lia) S) as [L O].
  { intros a N; apply FR; constructor; [intros _; exact N|constructor; [discriminate|constructor]]. }
  split; [exact AL|]; exists k, m'; auto 6.
Qed.
