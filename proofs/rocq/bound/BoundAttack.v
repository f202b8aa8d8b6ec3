(** * BoundAttack: the game for any scheme

    An attacker asks for the permutation, for its inverse, and questions of its own kind about users with secret keys.  In the
    real world the scheme answers, with the permutation.  In the ideal world an [idea] says for each question what is
    answered, or how many uniform bytes. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret
  BoundForgery BoundMean BoundAnswers BoundFresh.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Local Notation chance := (ideal bytes_dec block_dec (strings (rate + 2))).

Inductive attacker {question : Type} :=
  | Halt (yes : bool)
  | Apply (x : list byte) (k : list byte -> attacker)
  | Invert (y : list byte) (k : list byte -> attacker)
  | Ask (i : nat) (q : question) (k : option (list byte) -> attacker).
Arguments attacker : clear implicits.

Section Game.
Context {question : Type}.
(** Users, questions and answers so far, the last one first. *)
Definition log : Type := list (nat * question * list byte).

(** What the scheme answers, with a permutation, in a domain, under a key. *)
Variable scheme : (list byte -> list byte) -> list byte -> list byte -> question -> option (list byte).
(** What the ideal world answers, or how many uniform bytes, which go into the log. *)
Variable idea : log -> nat -> question -> option (list byte) + nat.
Variable users : nat.
Variable domain : nat -> list byte.

Fixpoint attacks (p : graph) (keys : list (list byte)) (A : attacker question) : bool :=
  match A with
  | Halt yes => yes
  | Apply x k => attacks p keys (k (perm p x))
  | Invert y k => attacks p keys (k (perm_inverse p y))
  | Ask i q k => attacks p keys (k (scheme (perm p) (domain i) (nth i keys []) q))
  end.

Fixpoint imagined (p : graph) (h : log) (A : attacker question) : Q :=
  match A with
  | Halt yes => indicator yes
  | Apply x k => imagined p h (k (perm p x))
  | Invert y k => imagined p h (k (perm_inverse p y))
  | Ask i q k =>
      match idea h i q with
      | inl r => imagined p h (k r)
      | inr n => average (fun y => imagined p ((i, q, y) :: h) (k (Some y))) (strings n)
      end
  end.

(** The probability of yes in both worlds, and how far they are from each other. *)
Definition real_world (A : attacker question) : Q :=
  average (fun keys => average (fun p => indicator (attacks p keys A)) all_permutations) (key_lists users).
Definition ideal_world (A : attacker question) : Q := average (fun p => imagined p [] A) all_permutations.
Definition advantage (A : attacker question) : Q := Qabs (real_world A - ideal_world A).
End Game.
Arguments log : clear implicits.

(** At most [n] questions of a kind. *)
Fixpoint at_most {question} (kind : question -> bool) (n : nat) (A : attacker question) : Prop :=
  match A with
  | Halt _ => True
  | Apply _ k | Invert _ k => forall x, at_most kind n (k x)
  | Ask _ q k => if kind q then match n with O => False | S n => forall r, at_most kind n (k r) end else forall r, at_most kind n (k r)
  end.

Lemma imagined_bounds {question} (idea : log question -> nat -> question -> option (list byte) + nat) p A :
  forall h, (0 <= imagined idea p h A <= 1)%Q.
Proof.
  induction A as [r|x k IH|y k IH|i q k IH]; intro h; cbn [imagined]; auto; [unfold indicator; destruct r; split; discriminate|].
  destruct (idea h i q); [apply IH|]; split; [apply average_nonneg|apply average_below; [discriminate|]]; intros; apply IH.
Qed.

Section Bounds.
Context {question : Type}.
Variables (scheme : (list byte -> list byte) -> list byte -> list byte -> question -> option (list byte)).
Variable idea : log question -> nat -> question -> option (list byte) + nat.
Variables (users : nat) (domain : nat -> list byte).
Hypothesis domains : forall i, i < users -> length (domain i) <= 50 /\ small (domain i).
Variables (A : attacker question) (B : player) (q m : nat) (c : Q).
Hypothesis SPENDS : affords users domain q m B.
Hypothesis SAME : forall p keys, says domain p keys B = attacks scheme domain p keys A.
Hypothesis NEAR : forall p, In p all_permutations -> near (chance p (compiled domain B) []) (imagined idea p [] A) c.
Hypothesis SOME : (0 <= c)%Q.

Lemma worlds_near d : (Qabs (really users domain B - ideally domain B) <= d)%Q -> (advantage scheme idea users domain A <= c + d)%Q.
Proof.
  intro R; apply Qabs_Qle_condition in R as [R1 R2].
  assert (E : (real_world scheme users domain A == really users domain B)%Q)
    by (apply average_ext; intros keys _; apply average_ext; intros p _; now rewrite SAME).
  assert (N : near (ideally domain B) (ideal_world idea A) c) by (split; apply average_within; auto; intros p I; now apply NEAR).
  destruct N; unfold advantage; rewrite E; apply Qabs_Qle_condition; split; lra.
Qed.

Lemma advantage_near : (advantage scheme idea users domain A <= c + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof. apply worlds_near, (answers_random users domain domains B q m SPENDS). Qed.

Lemma advantage_2_128 : (z (q + m) <= 2 ^ 64)%Z -> (advantage scheme idea users domain A <= c + 1 / inject_Z (2 ^ 128))%Q.
Proof. intro H; apply worlds_near; eapply Qle_trans; [apply (answers_random users domain domains B q m SPENDS)|now apply below_2_128]. Qed.
End Bounds.

Lemma guesses n : (nat_q n / inject_Z (2 ^ 128) == nat_q n * guess)%Q.
Proof. unfold guess; field; discriminate. Qed.

Lemma guesses_more n : (nat_q (S n) / inject_Z (2 ^ 128) == nat_q n * guess + 1 / inject_Z (2 ^ 128))%Q.
Proof. rewrite nat_q_S; unfold guess; field; discriminate. Qed.
