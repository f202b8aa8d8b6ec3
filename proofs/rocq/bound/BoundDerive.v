(** * BoundDerive: every output of Derive is uniform and independent

    [questions_random] for those who ask for Derive alone: for each user, each transcript of Mixes and Forks before it, each
    label and each length, Derive is a uniform string of its own.  No nonce is needed, and no answer is forbidden. *)

From Coq Require Import List NArith Arith Lia QArith Qabs.
From Veriplex Require Import Duplex Protocol BoundSampling BoundModel BoundPublic BoundSecret BoundAnswers BoundFresh.
Import ListNotations.
Local Open Scope nat_scope.

Fixpoint derives_only (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute _ k | Unpermute _ k => forall x, derives_only (k x)
  | Use _ T k => (exists M l n, T = M ++ [Derive l n] /\ passive M) /\ forall x, derives_only (k x)
  | Open _ _ _ _ _ _ | Unmask _ _ _ _ _ => False
  end.

Lemma derives_apart A : derives_only A -> forall asked, apart asked A /\ opens 0 A.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros D asked; cbn [derives_only apart opens] in *.
  - auto.
  - split; intro x'; apply (IH x' (D x') asked).
  - split; intro x'; apply (IH x' (D x') asked).
  - destruct D as [(M & l & n & -> & P) D]; split; [split; [|split]|intro y; apply (IH y (D y) asked)].
    + exists M, (Derive l n); split; [reflexivity|split; [exact P|split; reflexivity]].
    + intros S _ (M' & o & o' & E & -> & AL); apply app_inj_tail in E as [<- <-].
      destruct o'; try destruct AL; congruence.
    + intro y; apply (IH y (D y)).
  - destruct D.
  - destruct D.
Qed.

Theorem derive_random users domain A q m : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m A -> derives_only A ->
  (Qabs (really users domain A - fairly A) <= inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros D F O; destruct (derives_apart A O []) as [AP OP].
  pose proof (questions_random users domain D A q m 0 F AP OP) as H; eapply Qle_trans; [exact H|].
  apply Qle_lteq; right; unfold nat_q; cbn [Z.of_nat]; unfold Qdiv at 1; ring.
Qed.

Corollary derive_random_2_128 users domain A q m : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m A -> derives_only A -> (z (q + m) <= 2 ^ 64)%Z ->
  (Qabs (really users domain A - fairly A) <= 1 / inject_Z (2 ^ 128))%Q.
Proof.
  intros D F O H; eapply Qle_trans; [exact (derive_random users domain A q m D F O)|now apply below_2_128].
Qed.
