(** * Permute_x86_64: the machine code of the permutation computes the permutation *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call X86_64 Call_x86_64.
From Veriplex Require Import Kernels_x86_64.
From Veriplex Require Permute.
Import ListNotations.
Local Open Scope Z_scope.

Definition code := Kernels_x86_64.permute.

Lemma checks_hold : Permute.checks abi_x86_64 code Simpira1024.round_constants 128 Permute.one = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma code_ends : ends_in_return abi_x86_64 code.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

Lemma code_length : length code = 1134%nat.
Proof. vm_compute; reflexivity. Qed.

(** The table of the crate is that of the specification. *)
Lemma table_is : Kernels_x86_64.round_constants = Simpira1024.round_constants.
Proof. vm_compute; reflexivity. Qed.

(** The state has 128 bytes. *)
Lemma sizes : (0 < 128 <= 4096)%nat.
Proof. lia. Qed.

Opaque code Simpira1024.round_constants Kernels_x86_64.round_constants Simpira1024.permute.

Definition buffers (m : machine) : list buffer := [(true, (gpr m rdi, 128)); (false, (gpr m rsi, 1152))].

Theorem permute_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> list event, forall m : machine,
  called code (buffers m) m ->
  read (mem m) (gpr m rsi) 1152 = round_constants ->
  Forall (allowed code (buffers m) m) (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi)) /\
  exists k m', run x86_64 k m = Some m' /\ returned m m' /\
    read (mem m') (gpr m rdi) 128 = Simpira1024.permute (read (mem m) (gpr m rdi) 128) /\
    (forall a, ~ gpr m rdi <= a < gpr m rdi + 128 -> mem m' a = mem m a) /\
    trace m' = accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) ++ trace m.
Proof.
  destruct (Permute.permute_sound convention_x86_64 code Simpira1024.round_constants 128 Permute.one Simpira1024.permute sizes Permute.one_sound checks_hold code_ends) as (acc & H).
  exists acc; intros m CALL CT; rewrite table_is in CT.
  unfold Permute.buffers in H; rewrite Permute.table_length in H; destruct (H m CALL CT) as (AL & k & m' & R & RT & S & FR & TR).
  split; [exact AL|]; exists k, m'; repeat (split; [assumption|]); split; [|exact TR].
  intros a N; apply FR; constructor; [intros _; exact N|constructor; [discriminate|constructor]].
Qed.
