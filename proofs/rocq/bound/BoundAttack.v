(** * BoundAttack: the game for any scheme

    An attacker asks for the permutation, for its inverse, and questions of its own kind about users with secret keys.  In the
    real world the scheme answers, with the permutation.  In the ideal world an [idea] says for each question what is
    answered, or how many uniform bytes. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret
  BoundMean BoundAnswers BoundFresh.
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
Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).
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

Lemma rest_nonneg q m : (0 <= inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof. apply Qmult_le_0_compat; [|vm_compute; discriminate]; change 0%Q with (inject_Z 0); rewrite <- Zle_Qle; unfold z; nia. Qed.

(** ** Nonces *)

Definition nonces (s : nat) : list (list (list byte)) := vectors (strings 24) s.

Fixpoint repeats (w : list (list byte)) : bool :=
  match w with [] => false | a :: w => existsb (fun b => if bytes_dec a b then true else false) w || repeats w end.

Lemma repeats_snoc w c : repeats (w ++ [c]) = repeats w || existsb (fun a => if bytes_dec a c then true else false) w.
Proof.
  induction w as [|a w IH]; [reflexivity|]; cbn [app repeats existsb]; rewrite IH, existsb_app; cbn [existsb]; rewrite orb_false_r.
  destruct (existsb _ w), (repeats w), (existsb _ w), (bytes_dec a c); reflexivity.
Qed.

Lemma nonces_count : (nat_q (length (strings 24)) == inject_Z (2 ^ 192))%Q.
Proof.
  unfold nat_q; rewrite strings_length, Nat2Z.inj_pow; change (Z.of_nat 256) with (2 ^ 8)%Z; change (Z.of_nat 24) with 24%Z.
  rewrite <- Z.pow_mul_r by lia; reflexivity.
Qed.

Lemma nonces_repeat s : (average (fun w => indicator (repeats w)) (nonces s) <= inject_Z (z s * z s) / inject_Z (2 ^ 193))%Q.
Proof.
  assert (H : (average (fun w => indicator (repeats w)) (nonces s) <= inject_Z (z s * (z s - 1)) / inject_Z (2 ^ 193))%Q).
  { induction s as [|s IH]; unfold nonces in *; [unfold average; cbn [vectors sum repeats length]; vm_compute; discriminate|]; rewrite vectors_more.
    eapply Qle_trans; [apply (average_le _ (fun w => indicator (repeats w) + nat_q s * (1 / nat_q (length (strings 24))))%Q)|].
    - intros w I; apply in_vectors in I as [L _]; rewrite <- L.
      eapply Qle_trans; [apply (average_le _ (fun c => indicator (repeats w) + indicator (existsb (fun a => if bytes_dec a c then true else false) w))%Q)|].
      + intros c _; rewrite repeats_snoc; unfold indicator; destruct (repeats w), (existsb _ w); discriminate.
      + rewrite average_plus, average_const by apply some_strings; apply Qplus_le_compat; [apply Qle_refl|].
        apply (average_any (fun a c => if bytes_dec a c then true else false) w); intros a _; apply average_few; [apply strings_once|].
        intros b c _ _; destruct (bytes_dec a b), (bytes_dec a c); congruence.
    - rewrite average_plus, average_const, nonces_count.
      + eapply Qle_trans; [apply Qplus_le_compat; [exact IH|apply Qle_refl]|]; unfold nat_q, z.
        rewrite Nat2Z.inj_succ; generalize (Z.of_nat s); intro t.
        apply Qle_lteq; right; change (inject_Z (2 ^ 193)) with (2 * inject_Z (2 ^ 192))%Q.
        unfold Z.succ, Z.sub; rewrite !inject_Z_mult, !inject_Z_plus, !inject_Z_opp; change (inject_Z 1) with 1%Q.
        field; discriminate.
      + intro E; pose proof (some_strings 24) as N; clear -E N; revert E; generalize dependent (strings 24); intros l N E.
        assert (X : forall n, vectors l n <> []); [|now apply (X s)].
        induction n as [|n IH]; cbn [vectors]; [discriminate|]; destruct (vectors l n), l; try congruence; discriminate. }
  eapply Qle_trans; [exact H|]; unfold Qdiv; apply Qmult_le_compat_r; [|vm_compute; discriminate]; rewrite <- Zle_Qle; unfold z; nia.
Qed.

Section Nonces.
Context {question : Type}.
(** The nonce that a question uses up. *)
Variable nonce_of : question -> option (list byte).

(** No user uses up a nonce twice, whatever is answered. *)
Fixpoint new_nonces (used : list (nat * list byte)) (A : attacker question) : Prop :=
  match A with
  | Halt _ => True
  | Apply _ k | Invert _ k => forall x, new_nonces used (k x)
  | Ask i q k =>
      match nonce_of q with
      | Some nonce => ~ In (i, nonce) used /\ forall r, new_nonces ((i, nonce) :: used) (k r)
      | None => forall r, new_nonces used (k r)
      end
  end.

(** It gives no nonce itself: its questions use none up, or a random one completes them. *)
Fixpoint no_nonces (A : attacker (question + (list byte -> question))) : Prop :=
  match A with
  | Halt _ => True
  | Apply _ k | Invert _ k => forall x, no_nonces (k x)
  | Ask _ (inl q) k => nonce_of q = None /\ forall r, no_nonces (k r)
  | Ask _ (inr f) k => (forall nonce, nonce_of (f nonce) = Some nonce) /\ forall r, no_nonces (k r)
  end.

(** With these nonces, one after another; each stands before the answer. *)
Fixpoint with_nonces (w : list (list byte)) (A : attacker (question + (list byte -> question))) : attacker question :=
  match A with
  | Halt yes => Halt yes
  | Apply x k => Apply x (fun y => with_nonces w (k y))
  | Invert y k => Invert y (fun x => with_nonces w (k x))
  | Ask i (inl q) k => Ask i q (fun r => with_nonces w (k r))
  | Ask i (inr f) k =>
      match w with
      | [] => Halt false
      | nonce :: w => Ask i (f nonce) (fun r => with_nonces w (k (option_map (app nonce) r)))
      end
  end.

Lemma with_nonces_new A : no_nonces A -> forall w used, repeats w = false -> (forall i a, In a w -> ~ In (i, a) used) ->
  new_nonces used (with_nonces w A).
Proof.
  induction A as [r|x k IH|y k IH|i [q|f] k IH]; intros X w used R D; cbn [with_nonces new_nonces no_nonces] in *; auto.
  - destruct X as [-> X]; auto.
  - destruct X as [E X], w as [|a w]; cbn [new_nonces]; [exact I|]; cbn [repeats] in R; apply orb_false_elim in R as [R R'].
    rewrite E; split; [apply D; now left|]; intro r; apply IH; [apply X|exact R'|]; intros j b J [B|B].
    + injection B as _ <-; rewrite <- not_true_iff_false in R; apply R, existsb_exists; exists a; split; [exact J|]; destruct (bytes_dec a a); congruence.
    + apply (D j b); [now right|exact B].
Qed.

Variable scheme : (list byte -> list byte) -> list byte -> list byte -> question -> option (list byte).
Variable idea : log question -> nat -> question -> option (list byte) + nat.
Variables (users : nat) (domain : nat -> list byte) (s : nat) (A : attacker (question + (list byte -> question))).

(** With [s] nonces of 24 random bytes, chosen before and given one after another. *)
Definition random_advantage : Q :=
  Qabs (average (fun w => real_world scheme users domain (with_nonces w A)) (nonces s) -
        average (fun w => ideal_world idea (with_nonces w A)) (nonces s)).

Lemma random_nonces B : (0 <= B)%Q -> no_nonces A ->
  (forall w, In w (nonces s) -> new_nonces [] (with_nonces w A) -> (advantage scheme idea users domain (with_nonces w A) <= B)%Q) ->
  (random_advantage <= inject_Z (z s * z s) / inject_Z (2 ^ 193) + B)%Q.
Proof.
  intros P NO H; unfold random_advantage.
  assert (N : forall w, In w (nonces s) -> near (real_world scheme users domain (with_nonces w A)) (ideal_world idea (with_nonces w A)) (indicator (repeats w) + B)).
  { intros w I; destruct (repeats w) eqn:R.
    - assert (R1 : forall C : attacker question, (0 <= real_world scheme users domain C <= 1)%Q).
      { intro C; split; [apply average_nonneg|apply average_below; [discriminate|]]; intros keys _;
          [apply average_nonneg|apply average_below; [discriminate|]]; intros p _; unfold indicator; destruct (attacks _ _ _ _ _); discriminate. }
      assert (I2 : forall C, (0 <= ideal_world idea C <= 1)%Q)
        by (intro C; split; [apply average_nonneg|apply average_below; [discriminate|]]; intros; apply imagined_bounds).
      specialize (R1 (with_nonces w A)); specialize (I2 (with_nonces w A)); unfold near, indicator; lra.
    - pose proof (H w I (with_nonces_new A NO w [] R (fun _ _ _ X => X))) as X.
      unfold advantage in X; apply Qabs_Qle_condition in X as [X Y]; unfold near, indicator; lra. }
  pose proof (nonces_repeat s) as C.
  apply Qabs_Qle_condition; split.
  - assert (X : (average (fun w => ideal_world idea (with_nonces w A)) (nonces s) <=
      average (fun w => real_world scheme users domain (with_nonces w A) + indicator (repeats w)) (nonces s) + B)%Q)
      by (apply average_within; [exact P|]; intros w I; destruct (N w I); lra).
    rewrite average_plus in X; lra.
  - assert (X : (average (fun w => real_world scheme users domain (with_nonces w A)) (nonces s) <=
      average (fun w => ideal_world idea (with_nonces w A) + indicator (repeats w)) (nonces s) + B)%Q)
      by (apply average_within; [exact P|]; intros w I; destruct (N w I); lra).
    rewrite average_plus in X; lra.
Qed.
End Nonces.
