(** * Call_aarch64: a call of a kernel, by the AAPCS64 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call AArch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.   (* of a vector register, in bytes *)

(** ** Statements about a call *)

(** The call: the code is in memory at the program counter; code and buffers lie in the address space; a buffer that is
    written overlaps nothing else. *)
Record called (code : list byte) (buffers : list buffer) (m : machine) : Prop := Called {
  c_aligned : pc m mod 4 = 0;
  c_code : read (mem m) (pc m) (length code) = code;
  c_width : (16 <= width)%nat;
  c_vec : forall r, length (vec m r) = width;
  c_range : Forall (fun b => 0 <= fst (snd b) /\ fst (snd b) + snd (snd b) <= 2 ^ 64) (code_part code m :: buffers);
  c_apart : ForallOrdPairs compatible (code_part code m :: buffers)
}.

(** The return: to the address in the link register, x30.  Unchanged are x18 (which belongs to the platform) to x30, the
    stack pointer (here number 31), and all of v8 to v15; the other vector registers are zero. *)
Record returned (m m' : machine) : Prop := Returned {
  d_pc : pc m' = gpr m 30%nat;
  d_saved : Forall (fun r => gpr m' r = gpr m r) (seq 18 14);
  d_kept : Forall (fun r => vec m' r = vec m r) (seq 8 8);
  d_cleared : Forall (fun r => vec m' r = zero width) (seq 0 8 ++ seq 16 16)
}.

(** ** The calling convention *)

Definition abi_aarch64 : abi :=
  Abi (aarch64 width) 32 32 16 [0; 1; 2; 3; 4]%nat (seq 18 14) (seq 8 8) (seq 0 8 ++ seq 16 16) ret 4.

Lemma called_valid_aarch64 code buffers m : called code buffers m -> valid abi_aarch64 code [] buffers m.
Proof. intros [_ C W V R P]; constructor; [exact C|exact W|exact V|exact R|exact P]. Qed.

Definition last_accesses_aarch64 (_ at_ : Z) : list event := [Fetch at_ 4].

Lemma last_touches_aarch64 code buffers m : ends_in_return abi_aarch64 code -> called code buffers m ->
  Forall (touches (snd (code_part code m)) ([] ++ buffers) buffers)
    (last_accesses_aarch64 0 (pc m + last_at abi_aarch64 code)).
Proof.
  intros [L _] _; constructor; [|constructor].
  unfold touches, within, code_part, last_at; cbn [fst snd abi_aarch64 ending_length] in *; lia.
Qed.

Lemma return_step_aarch64 code buffers m m' : ends_in_return abi_aarch64 code -> called code buffers m ->
  at_return abi_aarch64 code m m' -> same_outside buffers (mem m) (mem m') ->
  exists m'', step (aarch64 width) m' = Some m'' /\ returned m m'' /\ mem m'' = mem m' /\
    trace m'' = last_accesses_aarch64 0 (pc m + last_at abi_aarch64 code) ++ trace m'.
Proof.
  intros [L E] CALL [PC SV KP CL] FR; cbn [abi_aarch64 ending_length ending isa_of saved kept cleared] in *.
  pose proof (called_valid_aarch64 _ _ _ CALL) as V.
  pose proof (v_range _ _ _ _ _ V) as RG; inversion RG as [|? ? R1 _]; subst.
  unfold in_space, code_part in R1; cbn [fst snd] in R1.
  assert (CODE : read (mem m') (pc m) (length code) = code).
  { rewrite <- (v_code _ _ _ _ _ V) at 2.
    exact (beside_same _ _ _ _ m m' (code_part code m) V FR (or_introl eq_refl) eq_refl _ (Z.le_refl _)). }
  assert (AT : pc m' = pc m + Z.of_nat (length code - 4)) by (rewrite PC; unfold last_at; cbn [abi_aarch64 ending_length]; lia).
  rewrite (step_in (aarch64 width) code m' (pc m) (length code - 4) ret 4 AT CODE) by (exact E || lia).
  unfold ret; cbn [apply_all apply log with_pc gpr mem pc].
  eexists; split; [reflexivity|]; split; [|split; [reflexivity|]].
  - constructor; cbn [pc gpr vec mem log with_pc].
    + apply SV; cbn; tauto.
    + apply Forall_forall; intros r J; exact (SV r J).
    + apply Forall_forall; intros r J; exact (KP r J).
    + apply Forall_forall; intros r J; exact (CL r J).
  - cbn [trace log with_pc app]; unfold last_accesses_aarch64, last_at; cbn [abi_aarch64 ending_length app].
    do 2 f_equal; lia.
Qed.

Lemma distinct_aarch64 : NoDup (arguments abi_aarch64).
Proof. repeat constructor; cbn; intuition discriminate. Qed.

Lemma below_aarch64 : Forall (fun r => r < 32)%nat (arguments abi_aarch64).
Proof. repeat constructor. Qed.

Lemma lengths_aarch64 : Forall (fun n => 0 < n)%nat (lengths (aarch64 width)).
Proof. repeat constructor. Qed.

Definition convention_aarch64 : convention :=
  Convention abi_aarch64 called returned (fun m => gpr m 30) (fun _ => []) (fun _ => 0) last_accesses_aarch64.

#[export] Instance proper_aarch64 : proper convention_aarch64 :=
  Proper convention_aarch64 called_valid_aarch64 d_pc last_touches_aarch64 return_step_aarch64 distinct_aarch64 eq_refl
    below_aarch64 lengths_aarch64.
End Width.
