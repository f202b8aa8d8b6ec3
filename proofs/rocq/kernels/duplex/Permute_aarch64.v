(** * Permute_aarch64: the machine code of the permutation computes the permutation *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call AArch64 Call_aarch64.
From Veriplex Require Kernels_aarch64 Permute.
Import ListNotations.
Local Open Scope Z_scope.

Definition code := Kernels_aarch64.permute.

Lemma checks_hold width : Permute.checks (abi_aarch64 width) code round_constants 128 Permute.one = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma code_ends width : ends_in_return (abi_aarch64 width) code.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

Lemma code_length : length code = 1736%nat.
Proof. vm_compute; reflexivity. Qed.

(** The state has 128 bytes. *)
Lemma sizes : (0 < 128 <= 4096)%nat.
Proof. lia. Qed.

Opaque code round_constants permute.

Definition buffers (m : machine) : list buffer := [(true, (gpr m 0, 128)); (false, (gpr m 1, 1152))].

Theorem permute_aarch64 (width : nat) :
  exists accesses : Z -> Z -> Z -> list event, forall m : machine,
  called width code (buffers m) m ->
  read (mem m) (gpr m 1) 1152 = round_constants ->
  Forall (allowed code (buffers m) m) (accesses (pc m) (gpr m 0) (gpr m 1)) /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\
    read (mem m') (gpr m 0) 128 = permute (read (mem m) (gpr m 0) 128) /\
    (forall a, ~ gpr m 0 <= a < gpr m 0 + 128 -> mem m' a = mem m a) /\
    trace m' = accesses (pc m) (gpr m 0) (gpr m 1) ++ trace m.
Proof.
  destruct (Permute.permute_sound (convention_aarch64 width) code round_constants 128 Permute.one permute sizes Permute.one_sound (checks_hold width) (code_ends width)) as (acc & H).
  exists (fun at_ => acc at_ 0); intros m CALL CT.
  unfold Permute.buffers in H; rewrite Permute.table_length in H; destruct (H m CALL CT) as (AL & k & m' & R & RT & S & FR & TR).
  split; [exact AL|]; exists k, m'; repeat (split; [assumption|]); split; [|exact TR].
  intros a N; apply FR; constructor; [intros _; exact N|constructor; [discriminate|constructor]].
Qed.
