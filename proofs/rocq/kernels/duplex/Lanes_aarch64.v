(** * Lanes_aarch64: the machine code of the permutation of two lanes *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call AArch64 Call_aarch64 Lanes.
From Veriplex Require Kernels_x2_aarch64 Permute.
Import ListNotations.
Local Open Scope Z_scope.

Definition code := Kernels_x2_aarch64.permute_x2.

Lemma checks_hold width : Permute.checks (abi_aarch64 width) code round_constants (size 2) (goal 2) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma code_ends width : ends_in_return (abi_aarch64 width) code.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

Lemma sizes : (0 < size 2 <= 4096)%nat.
Proof. unfold size; lia. Qed.

Opaque code round_constants permute goal.

Definition buffers (m : machine) : list buffer := [(true, (gpr m 0, 928)); (false, (gpr m 1, 1152))].

Theorem permute_x2_aarch64 (width : nat) :
  exists accesses : Z -> Z -> Z -> list event, forall m : machine,
  called width code (buffers m) m ->
  read (mem m) (gpr m 1) 1152 = round_constants ->
  Forall (allowed code (buffers m) m) (accesses (pc m) (gpr m 0) (gpr m 1)) /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\
    lanes 2 (mem m') (gpr m 0) = map permute (lanes 2 (mem m) (gpr m 0)) /\
    (forall a, ~ in_lanes 2 (gpr m 0) a -> mem m' a = mem m a) /\
    trace m' = accesses (pc m) (gpr m 0) (gpr m 1) ++ trace m.
Proof.
  destruct (Permute.permute_sound (convention_aarch64 width) code round_constants (size 2) (goal 2) (permuted 2) sizes (goal_sound 2)
    (checks_hold width) (code_ends width)) as (acc & H).
  exists (fun at_ => acc at_ 0); intros m CALL CT; unfold Permute.buffers in H; rewrite Permute.table_length in H;
    destruct (H m CALL CT) as (AL & k & m' & R & RT & S & FR & TR).
  destruct (lanes_permuted 2 (gpr m 0) (mem m) (mem m') ltac:(lia) S) as [L O].
  { intros a N; apply FR; constructor; [intros _; exact N|constructor; [discriminate|constructor]]. }
  split; [exact AL|]; exists k, m'; auto 6.
Qed.
