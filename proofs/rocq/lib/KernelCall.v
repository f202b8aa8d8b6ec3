(** * KernelCall: the end of a call of a kernel with a loop, from what its iterations do (Loop.v) *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call Loop.
Import ListNotations.
Local Open Scope Z_scope.

Section Call.
Variable V : convention.
Context {PROPER : proper V}.
Let A := abi_of V.
Notation a := (argument A).
Variables (K : kernel) (op : operation).
Hypothesis CH : checks A K op = true.
Hypothesis EN : ends_in_return A (code K).

Definition all_accesses (at_ p : Z) (origin : nat -> Z) (n : nat) : list event :=
  last_accesses V p (at_ + last_at A (code K)) ++ accesses A K op at_ origin n.

(** What is known of memory after a call: the state, the blocks, and what no iteration touches. *)
Definition done (origin : nat -> Z) (m : machine) (n : nat) (h : memory) : Prop :=
  length (carried_after K op origin m n) = carried (arranged K) /\
  state_at K origin h = firstn (state_size (arranged K)) (carried_after K op origin m n) /\
  (forall i, (i < n)%nat -> block_at K origin h i = output K op origin m i) /\
  (forall x, ~ touched K origin n x -> h x = mem m x).

Theorem call_sound origin m n (result : memory -> Prop) :
  Forall (fun rv => gpr m (fst rv) = number_is origin (snd rv)) (arguments_in K) ->
  Forall (fun r => number_is origin (snd (fst r)) = number_is origin (snd r)) (numbers_in K) ->
  called V (code K) (buffers K origin n) m ->
  Forall (fun t => read (mem m) (origin (fst t)) (length (snd t)) = snd t) (tables K) ->
  Forall (fun s => let '(u, v, w) := s in origin u + origin v = origin w) (known_sums K) ->
  Forall (fun p => let '(u, x, v) := p in
    wrap (number_of (read (mem m) (origin u + x) 8)) = wrap (origin v)) (known_pointers K) ->
  origin (count K) = - change K (count K) * Z.of_nat n -> origin (count K) < 2 ^ 64 ->
  (forall h, done origin m n h -> result h) ->
  ends V (code K) (buffers K origin n) (all_accesses (pc m) (pointer V m) origin n) m result.
Proof.
  intros AR NU CALL TA SU PO CO SM RESULT.
  destruct (loop_sound A K op CH (pc m) origin m n (beside V m) eq_refl AR NU (called_valid V _ _ _ CALL) TA SU PO CO SM EN)
    as (AL & LEN & j & m1 & R & AT & ST & DN & FR & TR).
  pose proof (same_outside_of A K op CH origin m n m1 FR) as SO.
  destruct (return_step V _ _ _ _ EN CALL AT SO) as (m2 & S2 & RT & ME & TR2).
  split; [apply Forall_app; split; [exact (last_touches V _ _ _ EN CALL)|exact AL]|].
  exists (j + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in S2 |- *; rewrite S2; reflexivity|].
  split; [exact RT|]; rewrite ME; split; [apply RESULT; repeat split; auto|]; split; [exact SO|].
  rewrite TR2, TR; unfold all_accesses; rewrite <- app_assoc; reflexivity.
Qed.

(** Of a kernel that keeps its arguments, of which argument c counts iterations, in their registers. *)
Theorem plain_call vs c m n (result : memory -> Prop) :
  let origin := value_of (arguments A) vs in
  arguments_in K = map (fun i => (a i, (Some (a i), 0))) (seq 0 (length vs)) ->
  numbers_in K = map (fun i => (a i, (Some (a i), 0), (Some (a i), 0))) (seq 0 (length vs)) ->
  known_sums K = [] -> known_pointers K = [] -> count K = a c -> hd (0%nat, 0) (changes K) = (a c, -1) ->
  (length vs <= 5)%nat -> (c < length vs)%nat -> nth c vs 0 = Z.of_nat n ->
  map (fun i => gpr m (a i)) (seq 0 (length vs)) = vs -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  called V (code K) (buffers K origin n) m ->
  Forall (fun t => read (mem m) (origin (fst t)) (length (snd t)) = snd t) (tables K) ->
  (forall h, done origin m n h -> result h) ->
  ends V (code K) (buffers K origin n) (all_accesses (pc m) (pointer V m) origin n) m result.
Proof.
  intros origin AR NU SU PO CO CHANGE FIVE C N GPR REGS CALL TA RESULT.
  assert (DOWN : change K (a c) = -1).
  { unfold change; destruct (changes K) as [|x l]; cbn [hd] in CHANGE; subst; [discriminate|].
    cbn [find fst]; rewrite Nat.eqb_refl; reflexivity. }
  assert (G : forall i, (i < length vs)%nat -> gpr m (a i) = origin (a i)).
  { intros i L; unfold origin; etransitivity; [|symmetry; exact (argument_value V vs i L FIVE)].
    transitivity (nth i (map (fun i => gpr m (a i)) (seq 0 (length vs))) 0); [|rewrite GPR; reflexivity].
    symmetry; apply (nth_map_seq 0 (fun i => gpr m (a i))); exact L. }
  apply call_sound; auto; rewrite ?AR, ?NU, ?SU, ?PO; try apply Forall_nil.
  - apply Forall_forall; intros rv J; apply in_map_iff in J as (i & <- & J); apply in_seq in J; cbn [fst snd number_is].
    rewrite Z.add_0_r, <- G, wrap_small by (lia || apply REGS); reflexivity.
  - apply Forall_forall; intros rv J; apply in_map_iff in J as (i & <- & J); reflexivity.
  - rewrite CO, DOWN; pose proof (argument_value V vs c C FIVE) as E; fold A in E; fold origin in E; rewrite E, N; lia.
  - rewrite CO, <- G by exact C; apply REGS.
Qed.
End Call.

(** The premises of [plain_call], but for those about tables and the result; BS says what the buffers are. *)
Ltac plainly call BS COUNT :=
  rewrite <- BS; apply call;
    [reflexivity|reflexivity|reflexivity|reflexivity|reflexivity|reflexivity|cbn [length]; lia|cbn [length]; lia|reflexivity|
     cbn [map seq length]; repeat (apply (f_equal2 (@cons Z)); [first [reflexivity|exact COUNT]|]); reflexivity|
     assumption|refine (eq_ind_r (fun b => called _ _ b _) _ BS); assumption| | ].
