(** * WordLanes_x86_64: calls of the kernels that use the vector registers zmm0 to zmm24, and no others *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call X86_64 Call_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements *)

(** The return: these registers are zero, and the others of AVX-512 unchanged. *)
Record returned_zmm0_to_24 (m m' : machine) : Prop := Returned_zmm0_to_24 {
  d_returned_25 : returned m m';
  d_cleared_25 : Forall (fun r => vec m' r = zero 64) (seq 16 9);
  d_unchanged_25 : Forall (fun r => vec m' r = vec m r) (seq 25 7)
}.

(** ** The calling convention *)

Definition abi_zmm0_to_24 : abi :=
  Abi x86_64 16 25 64 [rdi; rsi; rdx; rcx; r8] [rbx; rsp; rbp; 12; 13; 14; 15]%nat (seq 25 7) (seq 0 25) ret 1.

Lemma called_valid_zmm0_to_24 code buffers m : called code buffers m -> valid abi_zmm0_to_24 code [return_address m] buffers m.
Proof. intros [C V R P]; constructor; [exact C|apply le_n|exact V|exact R|exact P]. Qed.

Lemma return_step_zmm0_to_24 code buffers m m' : ends_in_return abi_zmm0_to_24 code -> called code buffers m ->
  at_return abi_zmm0_to_24 code m m' -> same_outside buffers (mem m) (mem m') ->
  exists m'', step x86_64 m' = Some m'' /\ returned_zmm0_to_24 m m'' /\ mem m'' = mem m' /\
    trace m'' = last_accesses_x86_64 (gpr m rsp) (pc m + last_at abi_zmm0_to_24 code) ++ trace m'.
Proof.
  intros E C [PC SV KT CL] FR; cbn [abi_zmm0_to_24 cleared kept] in CL, KT.
  assert (LESS : at_return abi_x86_64 code m m').
  { constructor; [exact PC|exact SV|intros r []|]; intros r J; apply CL; cbn [abi_x86_64 cleared] in J; rewrite in_seq in *; lia. }
  destruct (return_whole _ _ _ _ E C LESS FR) as (m2 & S & RT & VE & ME & TR).
  exists m2; split; [exact S|]; split; [|split; [exact ME|exact TR]].
  constructor; [exact RT|apply Forall_forall; intros r J; rewrite VE..].
  - apply CL; rewrite in_seq in *; lia.
  - apply KT, J.
Qed.

Definition convention_zmm0_to_24 : convention :=
  Convention abi_zmm0_to_24 called returned_zmm0_to_24 (fun m => [return_address m]) (fun m => gpr m rsp)
    last_accesses_x86_64 called_valid_zmm0_to_24 last_touches_x86_64 return_step_zmm0_to_24.

Lemma distinct_arguments_zmm0_to_24 : NoDup (arguments (abi_of convention_zmm0_to_24)).
Proof. exact distinct_arguments. Qed.

Lemma four_arguments_zmm0_to_24 : (4 <= length (arguments (abi_of convention_zmm0_to_24)))%nat.
Proof. exact four_arguments. Qed.
