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

(** What a kernel may touch: it may fetch its code, read the buffers and the return address, and write those buffers
    that are marked as written. *)
Definition allowed (code : list byte) (buffers : list buffer) (m : machine) (e : event) : Prop :=
  match e with
  | Fetch a n => within a (Z.of_nat n) (snd (code_part code m))
  | Read a n => Exists (fun b => within a (Z.of_nat n) (snd b)) (return_address m :: buffers)
  | Write a n => Exists (fun b => fst b = true /\ within a (Z.of_nat n) (snd b)) buffers
  end.

(** The return: to the return address, which is popped from the stack; the callee-saved registers are unchanged, and
    the vector registers are zero. *)
Record returned (m m' : machine) : Prop := Returned {
  d_pc : pc m' = wrap (number_of (read (mem m) (gpr m rsp) 8));
  d_rsp : gpr m' rsp = wrap (gpr m rsp + 8);
  d_saved : Forall (fun r => gpr m' r = gpr m r) [rbx; rbp; 12; 13; 14; 15]%nat;
  d_cleared : Forall (fun r => vec m' r = zero 64) (seq 0 16)
}.

(** The return of a kernel that uses the 32 registers of AVX-512: these are zero, too. *)
Record returned_avx512 (m m' : machine) : Prop := Returned_avx512 {
  d_returned : returned m m';
  d_cleared_too : Forall (fun r => vec m' r = zero 64) (seq 16 16)
}.

(** ** The calling convention *)

Definition abi_x86_64 : abi :=
  Abi x86_64 16 16 64 [rdi; rsi; rdx; rcx; r8] [rbx; rsp; rbp; 12; 13; 14; 15]%nat [] (seq 0 16) ret 1.

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

Lemma return_whole code buffers m m' : ends_in_return abi_x86_64 code -> called code buffers m ->
  at_return abi_x86_64 code m m' -> same_outside buffers (mem m) (mem m') ->
  exists m'', step x86_64 m' = Some m'' /\ returned m m'' /\ vec m'' = vec m' /\ mem m'' = mem m' /\
    trace m'' = last_accesses_x86_64 (gpr m rsp) (pc m + last_at abi_x86_64 code) ++ trace m'.
Proof.
  intros [L E] CALL [PC SV _ CL] FR; cbn [abi_x86_64 ending_length ending isa_of saved cleared] in *.
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
  eexists; split; [reflexivity|]; split; [|split; [reflexivity|split; [reflexivity|]]].
  - constructor; cbn [pc gpr vec mem log with_pc with_gpr].
    + rewrite RA; reflexivity.
    + unfold Machine.set; cbn [Nat.eqb rsp]; reflexivity.
    + apply Forall_forall; intros r J; unfold Machine.set.
      repeat destruct J as [<-|J]; try destruct J; (apply SV; cbn; tauto).
    + apply Forall_forall; intros r J; rewrite (CL r J); reflexivity.
  - cbn [trace log with_pc with_gpr app]; unfold last_accesses_x86_64, last_at; cbn [abi_x86_64 ending_length app].
    do 3 f_equal; lia.
Qed.

Lemma return_step_x86_64 code buffers m m' : ends_in_return abi_x86_64 code -> called code buffers m ->
  at_return abi_x86_64 code m m' -> same_outside buffers (mem m) (mem m') ->
  exists m'', step x86_64 m' = Some m'' /\ returned m m'' /\ mem m'' = mem m' /\
    trace m'' = last_accesses_x86_64 (gpr m rsp) (pc m + last_at abi_x86_64 code) ++ trace m'.
Proof.
  intros E C AT FR; destruct (return_whole _ _ _ _ E C AT FR) as (m2 & S & RT & _ & ME & TR); exists m2; auto.
Qed.

Definition convention_x86_64 : convention :=
  Convention abi_x86_64 called returned (fun m => [return_address m]) (fun m => gpr m rsp) last_accesses_x86_64
    called_valid_x86_64 last_touches_x86_64 return_step_x86_64.

(** With 32 vector registers. *)
Definition abi_avx512 : abi :=
  Abi x86_64 16 32 64 [rdi; rsi; rdx; rcx; r8] [rbx; rsp; rbp; 12; 13; 14; 15]%nat [] (seq 0 32) ret 1.

Lemma called_valid_avx512 code buffers m : called code buffers m -> valid abi_avx512 code [return_address m] buffers m.
Proof. intros [C V R P]; constructor; [exact C|apply le_n|exact V|exact R|exact P]. Qed.

Lemma return_step_avx512 code buffers m m' : ends_in_return abi_avx512 code -> called code buffers m ->
  at_return abi_avx512 code m m' -> same_outside buffers (mem m) (mem m') ->
  exists m'', step x86_64 m' = Some m'' /\ returned_avx512 m m'' /\ mem m'' = mem m' /\
    trace m'' = last_accesses_x86_64 (gpr m rsp) (pc m + last_at abi_avx512 code) ++ trace m'.
Proof.
  intros E C [PC SV KT CL] FR; cbn [abi_avx512 cleared] in CL.
  assert (LESS : at_return abi_x86_64 code m m').
  { constructor; [exact PC|exact SV|exact KT|]; intros r J; apply CL; cbn [abi_x86_64 cleared] in J; rewrite in_seq in *; lia. }
  destruct (return_whole _ _ _ _ E C LESS FR) as (m2 & S & RT & VE & ME & TR).
  exists m2; split; [exact S|]; split; [|split; [exact ME|exact TR]]; constructor; [exact RT|].
  apply Forall_forall; intros r J; rewrite VE; apply CL; rewrite in_seq in *; lia.
Qed.

Definition convention_avx512 : convention :=
  Convention abi_avx512 called returned_avx512 (fun m => [return_address m]) (fun m => gpr m rsp) last_accesses_x86_64
    called_valid_avx512 last_touches_x86_64 return_step_avx512.

Lemma distinct_arguments : NoDup (arguments (abi_of convention_x86_64)).
Proof. repeat constructor; cbn; intuition discriminate. Qed.

Lemma distinct_arguments_avx512 : NoDup (arguments (abi_of convention_avx512)).
Proof. exact distinct_arguments. Qed.

Lemma four_arguments : (4 <= length (arguments (abi_of convention_x86_64)))%nat.
Proof. cbn; lia. Qed.
