(** * Returns: the first time that a machine reaches an address

    A call ends when the machine first reaches the return address.  So the machine alone determines the final state:
    [reaches_unique]. *)

From Coq Require Import List Arith ZArith Lia.
From Veriplex Require Import Machine.
Import ListNotations.
Local Open Scope Z_scope.

Section Returns.
Variable I : isa.

Definition reaches (a : Z) (m m' : machine) : Prop :=
  exists k, run I k m = Some m' /\ pc m' = a /\
    forall j mj, (j < k)%nat -> run I j m = Some mj -> pc mj <> a.

Lemma reaches_unique a m m1 m2 : reaches a m m1 -> reaches a m m2 -> m1 = m2.
Proof.
  intros (k1 & R1 & P1 & F1) (k2 & R2 & P2 & F2).
  destruct (Nat.lt_trichotomy k1 k2) as [L|[->|L]].
  - destruct (F2 k1 m1 L R1 P1).
  - congruence.
  - destruct (F1 k2 m2 L R2 P2).
Qed.

(** ** The trace has everything that was executed *)

Lemma apply_trace e m m' : apply I e m = Some m' -> exists t, trace m' = t ++ trace m.
Proof.
  destruct e; cbn [apply]; intro H;
    repeat match type of H with context [if ?b then _ else _] => destruct b end; try discriminate H;
    injection H as <-; cbn [trace log with_pc with_gpr with_vec with_carry with_zero with_mem];
    solve [exists []; reflexivity | eexists; reflexivity].
Qed.

Lemma apply_all_trace es : forall m m', apply_all I es m = Some m' -> exists t, trace m' = t ++ trace m.
Proof.
  induction es as [|e es IH]; cbn [apply_all]; intros m m' H; [injection H as <-; exists []; reflexivity|].
  destruct (apply I e m) as [m1|] eqn:E; [|discriminate]; apply apply_trace in E as (t & T).
  apply IH in H as (u & U); exists (u ++ t); rewrite U, T, app_assoc; reflexivity.
Qed.

Lemma fetch_in ns m : forall es n, fetch I ns m = Some (es, n) -> In n ns.
Proof.
  induction ns as [|k ns IH]; cbn [fetch]; intros es n H; [discriminate|].
  destruct (decode I _); [injection H as _ <-; now left|right; eauto].
Qed.

Lemma step_trace m m' : step I m = Some m' -> exists t n, In n (lengths I) /\ trace m' = t ++ Fetch (pc m) n :: trace m.
Proof.
  unfold step; destruct (fetch I (lengths I) m) as [[es n]|] eqn:F; [|discriminate].
  destruct (fits (pc m) n); [|discriminate]; intro H; apply apply_all_trace in H as (t & T).
  exists t, n; split; [exact (fetch_in _ _ _ _ F)|exact T].
Qed.

Lemma run_trace k : forall m m', run I k m = Some m' -> exists t, trace m' = t ++ trace m.
Proof.
  induction k as [|k IH]; cbn [run]; intros m m' H; [injection H as <-; exists []; reflexivity|].
  destruct (step I m) as [m1|] eqn:E; [|discriminate]; apply step_trace in E as (t & n & _ & T).
  apply IH in H as (u & U); exists (u ++ t ++ [Fetch (pc m) n]); rewrite U, T, <- !app_assoc; reflexivity.
Qed.

Lemma run_fetches k m m' new : run I k m = Some m' -> trace m' = new ++ trace m ->
  forall j mj, (j < k)%nat -> run I j m = Some mj -> exists n, In n (lengths I) /\ In (Fetch (pc mj) n) new.
Proof.
  intros R T j mj L RJ.
  replace k with (j + (S (k - S j)))%nat in R by lia; rewrite (run_app I _ _ _ _ RJ) in R; cbn [run] in R.
  destruct (step I mj) as [m1|] eqn:E; [|discriminate]; apply step_trace in E as (t & n & N & T1).
  apply run_trace in R as (u & U); apply run_trace in RJ as (v & V).
  exists n; split; [exact N|]; rewrite U, T1, V in T.
  assert (Q : new = u ++ t ++ Fetch (pc mj) n :: v).
  { apply (app_inv_tail (trace m)); rewrite <- T, <- !app_assoc; reflexivity. }
  rewrite Q; apply in_or_app; right; apply in_or_app; right; now left.
Qed.

(** A run that stays inside the code and ends outside it, at [a]. *)
Theorem reaches_end k m m' new a (inside : Z -> Prop) : run I k m = Some m' -> trace m' = new ++ trace m ->
  (forall x n, In n (lengths I) -> In (Fetch x n) new -> inside x) -> pc m' = a -> ~ inside a -> reaches a m m'.
Proof.
  intros R T H P N; exists k; split; [exact R|]; split; [exact P|]; intros j mj L RJ E; apply N; rewrite <- E.
  destruct (run_fetches k m m' new R T j mj L RJ) as (n & J & F); exact (H _ n J F).
Qed.
End Returns.
