(** * Call_x86_64: a call of a kernel, by the System V ABI *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call X86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements about a call *)

Definition return_address (m : machine) : buffer := (false, (gpr m rsp, 8)).

(** The call: the code is in memory at the program counter; code, return address and buffers lie in the address
    space; a buffer that is written overlaps nothing else. *)
Record called (code : list byte) (buffers : list buffer) (m : machine) : Prop := Called {
  c_code : read (mem m) (pc m) (length code) = code;
  c_vec : forall r, length (vec m r) = 64%nat;
  c_range : Forall (fun b => 0 <= fst (snd b) /\ fst (snd b) + snd (snd b) <= 2 ^ 64)
    (code_part code m :: return_address m :: buffers);
  c_apart : ForallOrdPairs compatible (code_part code m :: return_address m :: buffers)
}.

Definition return_to (m : machine) : Z := wrap (number_of (read (mem m) (gpr m rsp) 8)).

Section Extra.
Variable extra : nat.   (* how many of the vector registers from zmm16 on the kernel uses *)

(** The return: to the return address, which is popped from the stack; the callee-saved registers are unchanged, and the
    vector registers are zero, in full width; those from zmm16 on that the kernel does not use are unchanged. *)
Record returned (m m' : machine) : Prop := Returned {
  d_pc : pc m' = return_to m;
  d_rsp : gpr m' rsp = wrap (gpr m rsp + 8);
  d_saved : Forall (fun r => gpr m' r = gpr m r) [rbx; rbp; 12; 13; 14; 15]%nat;
  d_cleared : Forall (fun r => vec m' r = zero 64) (seq 0 (16 + extra));
  d_kept : Forall (fun r => vec m' r = vec m r) (seq (16 + extra) (16 - extra))
}.

(** ** The calling convention *)

Definition abi_x86_64 : abi :=
  Abi x86_64 16 (16 + extra) 64 [rdi; rsi; rdx; rcx; r8] [rbx; rsp; rbp; 12; 13; 14; 15]%nat (seq (16 + extra) (16 - extra))
    (seq 0 (16 + extra)) ret 1.

Lemma called_valid_x86_64 code buffers m : called code buffers m -> valid abi_x86_64 code [return_address m] buffers m.
Proof. intros [C V R P]; constructor; [exact C|apply le_n|exact V|exact R|exact P]. Qed.

Definition last_accesses_x86_64 (stack at_ : Z) : list event := [Read stack 8; Fetch at_ 1].

Lemma last_touches_x86_64 code buffers m : ends_in_return abi_x86_64 code -> called code buffers m ->
  Forall (touches (snd (code_part code m)) ([return_address m] ++ buffers) buffers)
    (last_accesses_x86_64 (gpr m rsp) (pc m + last_at abi_x86_64 code)).
Proof.
  intros [L _] _; constructor; [|constructor; [|constructor]].
  - apply Exists_cons_hd; unfold within; cbn [return_address fst snd]; lia.
  - unfold touches, within, code_part, last_at; cbn [fst snd abi_x86_64 ending_length] in *; lia.
Qed.

Lemma return_step_x86_64 code buffers m m' : ends_in_return abi_x86_64 code -> called code buffers m ->
  at_return abi_x86_64 code m m' -> same_outside buffers (mem m) (mem m') ->
  exists m'', step x86_64 m' = Some m'' /\ returned m m'' /\ mem m'' = mem m' /\
    trace m'' = last_accesses_x86_64 (gpr m rsp) (pc m + last_at abi_x86_64 code) ++ trace m'.
Proof.
  intros [L E] CALL [PC SV KT CL] FR; cbn [abi_x86_64 ending_length ending isa_of saved kept cleared] in *.
  pose proof (called_valid_x86_64 _ _ _ CALL) as V.
  pose proof (v_range _ _ _ _ _ V) as RG; inversion RG as [|? ? R1 R2]; subst; inversion R2 as [|? ? R3 _]; subst.
  unfold in_space, code_part, return_address in R1, R3; cbn [fst snd] in R1, R3.
  assert (CODE : read (mem m') (pc m) (length code) = code).
  { rewrite <- (v_code _ _ _ _ _ V) at 2.
    exact (beside_same _ _ _ _ m m' (code_part code m) V FR (or_introl eq_refl) eq_refl _ (Z.le_refl _)). }
  assert (RA : read (mem m') (gpr m rsp) 8 = read (mem m) (gpr m rsp) 8).
  { exact (beside_same _ _ _ _ m m' (return_address m) V FR (or_intror (or_introl eq_refl)) eq_refl 8%nat (Z.le_refl _)). }
  assert (SP : gpr m' rsp = gpr m rsp) by (apply SV; cbn; tauto).
  assert (AT : pc m' = pc m + Z.of_nat (length code - 1)) by (rewrite PC; unfold last_at; cbn [abi_x86_64 ending_length]; lia).
  rewrite (step_in x86_64 code m' (pc m) (length code - 1) ret 1 AT CODE) by (exact E || lia).
  assert (T : fits (gpr m rsp) 8 = true) by (apply Z.leb_le; lia).
  unfold ret; cbn [apply_all apply log with_pc gpr mem pc]; rewrite SP, T.
  eexists; split; [reflexivity|]; split; [|split; [reflexivity|]].
  - constructor; cbn [pc gpr vec mem log with_pc with_gpr].
    + unfold return_to; rewrite RA; reflexivity.
    + unfold Machine.set; cbn [Nat.eqb rsp]; reflexivity.
    + apply Forall_forall; intros r J; unfold Machine.set.
      repeat destruct J as [<-|J]; try destruct J; (apply SV; cbn; tauto).
    + apply Forall_forall; intros r J; exact (CL r J).
    + apply Forall_forall; intros r J; exact (KT r J).
  - cbn [trace log with_pc with_gpr app]; unfold last_accesses_x86_64, last_at; cbn [abi_x86_64 ending_length app].
    do 3 f_equal; lia.
Qed.

Lemma distinct_x86_64 : NoDup (arguments abi_x86_64).
Proof. repeat constructor; cbn; intuition discriminate. Qed.

Lemma below_x86_64 : Forall (fun r => r < 32)%nat (arguments abi_x86_64).
Proof. repeat constructor. Qed.

Lemma lengths_x86_64 : Forall (fun n => 0 < n)%nat (lengths x86_64).
Proof. apply Forall_forall; intros n J; unfold lengths, x86_64 in J; apply in_seq in J; lia. Qed.

Definition convention_x86_64 : convention :=
  Convention abi_x86_64 called returned return_to (fun m => [return_address m]) (fun m => gpr m rsp) last_accesses_x86_64.

#[export] Instance proper_x86_64 : proper convention_x86_64 :=
  Proper convention_x86_64 called_valid_x86_64 d_pc last_touches_x86_64 return_step_x86_64 distinct_x86_64 eq_refl below_x86_64
    lengths_x86_64.
End Extra.
