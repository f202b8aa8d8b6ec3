(** * BoundMac: the keyed digest is a random function

    [mac_secure]: nobody tells tags of any length from those of a random function of the message and the length, and of [n]
    tags of 16 bytes that were tried, and not asked for, none is taken. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundSchemes BoundKeyed BoundSecret
  BoundMean BoundAnswers BoundFresh BoundAttack.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Local Notation chance := (ideal bytes_dec block_dec (strings (rate + 2))).

(** A tag of [n] bytes; or whether a tag of 16 bytes is that of a message. *)
Inductive mac_question := Tag (message : list byte) (n : nat) | Verify (message tag : list byte).

Definition mac_tag P (domain key message : list byte) (n : nat) : list byte :=
  fst (step P (Derive (text "tag") n) (run P (keyed domain key [Mix (text "message") message]))).

Definition yes_if (b : bool) : option (list byte) := if b then Some [] else None.

Definition same_bytes (x y : list byte) : bool := if bytes_dec x y then true else false.

Definition mac P (domain key : list byte) (q : mac_question) : option (list byte) :=
  match q with
  | Tag message n => Some (mac_tag P domain key message n)
  | Verify message tag => yes_if (same_bytes (mac_tag P domain key message 16) tag)
  end.

(** The tag of [n] bytes that has been given for this message. *)
Fixpoint tagged (h : log mac_question) (i : nat) (message : list byte) (n : nat) : option (list byte) :=
  match h with
  | [] => None
  | (j, Tag message' n', y) :: h =>
      if list_eq_dec Nat.eq_dec [j; n'] [i; n] then if bytes_dec message' message then Some y else tagged h i message n
      else tagged h i message n
  | _ :: h => tagged h i message n
  end.

(** A random function of user, message and length; a tag is taken if it has been given. *)
Definition mac_ideal (h : log mac_question) (i : nat) (q : mac_question) : option (list byte) + nat :=
  match q with
  | Tag message n => match tagged h i message n with Some y => inl (Some y) | None => inr n end
  | Verify message tag => inl (yes_if match tagged h i message 16 with Some y => same_bytes y tag | None => false end)
  end.

Definition verifies (q : mac_question) : bool := match q with Verify _ _ => true | _ => false end.

Definition tag_transcript (message : list byte) (n : nat) : list op := [Mix (text "message") message] ++ [Derive (text "tag") n].

Fixpoint mac_player (A : attacker mac_question) : player :=
  match A with
  | Halt yes => Say yes
  | Apply x k => Permute x (fun y => mac_player (k y))
  | Invert y k => Unpermute y (fun x => mac_player (k x))
  | Ask i (Tag message n) k => Use i (tag_transcript message n) (fun y => mac_player (k (Some y)))
  | Ask i (Verify message tag) k => Use i (tag_transcript message 16) (fun y => mac_player (k (yes_if (same_bytes y tag))))
  end.

Lemma mac_says domain p keys A : says domain p keys (mac_player A) = attacks mac domain p keys A.
Proof.
  assert (T : forall P d key message n, answer P (keyed d key (tag_transcript message n)) = mac_tag P d key message n)
    by (intros P d key message n; exact (answer_snoc P (keyed d key [Mix (text "message") message]) (Derive (text "tag") n))).
  induction A as [r|x k IH|y k IH|i [message n|message tag] k IH]; cbn [mac_player attacks mac says]; rewrite ?T, ?IH; reflexivity.
Qed.

Definition tag_log (h : log mac_question) : history := map (fun e =>
  match snd (fst e) with
  | Tag message n => (fst (fst e), tag_transcript message n, snd e)
  | Verify message _ => (fst (fst e), tag_transcript message 16, snd e)
  end) h.

Lemma tagged_some h i message n y : tagged h i message n = Some y -> In (i, tag_transcript message n, y) (tag_log h).
Proof.
  induction h as [|[[j [m k|m k]] w] h IH]; cbn [tagged]; [discriminate| |intro; right; auto].
  destruct (list_eq_dec _ _ _) as [E|_]; [destruct (bytes_dec m message) as [->|_]|]; intro T; [|right; auto..].
  injection E as -> ->; injection T as ->; now left.
Qed.

Lemma tagged_none h i message n : (forall e, In e h -> verifies (snd (fst e)) = false) -> tagged h i message n = None ->
  forall S, In (i, S) (map fst (tag_log h)) -> clash (tag_transcript message n) S -> False.
Proof.
  intros V T S I (M & o & o' & E & -> & A); unfold tag_transcript in E; apply app_inj_tail in E as [<- <-].
  destruct o' as [d|l z|l k|l z|l z|l j z|l]; try destruct A; subst.
  revert T I; induction h as [|[[j [m k'|m k']] w] h IH]; cbn [tagged]; intros T I; [destruct I| |now pose proof (V _ (or_introl eq_refl))].
  assert (V' : forall e, In e h -> verifies (snd (fst e)) = false) by (intros e J; apply V; now right).
  destruct I as [I|I].
  - injection I as -> -> ->; destruct (list_eq_dec _ _ _); [destruct (bytes_dec _ _); congruence|congruence].
  - destruct (list_eq_dec _ _ _); [destruct (bytes_dec _ _); [discriminate|]|]; auto.
Qed.

(** There is another tag. *)
Lemma other_tag n tag : exists y, In y (strings (S n)) /\ same_bytes y tag = false.
Proof.
  assert (T : forall b, (b < 256)%N -> In (repeat b (S n)) (strings (S n)))
    by (intros b B; apply in_strings; split; [apply repeat_length|now apply small_repeat]).
  unfold same_bytes; destruct (bytes_dec (repeat 0%N (S n)) tag) as [<-|D].
  - exists (repeat 1%N (S n)); split; [apply T; reflexivity|]; destruct (bytes_dec _ _); [discriminate|reflexivity].
  - exists (repeat 0%N (S n)); split; [apply T; reflexivity|]; destruct (bytes_dec _ _); [contradiction|reflexivity].
Qed.

Section Users.
Variable users : nat.
Variable domain : nat -> list byte.
Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).

Lemma mac_near p A : In p all_permutations -> forall q m n h v, affords users domain q m (mac_player A) -> at_most verifies n A ->
  kept users domain (tag_log h) v -> (forall e, In e h -> verifies (snd (fst e)) = false) ->
  near (chance p (compiled domain (mac_player A)) v) (imagined mac_ideal p h A) (nat_q n * guess).
Proof.
  intro IP; assert (PS : forall message, passive [Mix (text "message") message]) by (intros m o [<-|[]]; exact I).
  induction A as [r|x k IH|y k IH|i [message t|message tag] k IH]; intros q m n h v F AM K V;
    cbn [mac_player compiled imagined mac_ideal affords at_most verifies] in *.
  - unfold near; cbn [ideal]; pose proof (guess_nonneg n); lra.
  - destruct F as [X F], q as [|q]; [destruct F|]; exact (IH _ q m n h v (F _ (perm_states p IP x X)) (AM _) K V).
  - destruct F as [X F], q as [|q]; [destruct F|]; exact (IH _ q m n h v (F _ (unperm_states p y IP X)) (AM _) K V).
  - destruct F as (U & L & a & m' & _ & _ & F); destruct (legal_fit users i _ _ U L (PS message)) as [FT SD]; [cbn; auto|].
    destruct (tagged h i message t) as [y|] eqn:T.
    + rewrite (use_old users domain p _ v i K (fun y => compiled domain (mac_player (k (Some y)))) _ y (tagged_some _ _ _ _ _ T)).
      pose proof (kept_in users domain _ v i K _ y L (tagged_some _ _ _ _ _ T)); apply (IH _ q m' n); auto.
    + apply (use_new users domain domains p _ v i K (fun y => compiled domain (mac_player (k (Some y)))) _ _ FT SD); [|apply guess_nonneg|].
      * exact (tagged_none h i message t V T).
      * intros y v' Y K' _; apply (IH _ q m' n); [now apply F|apply AM|exact K'|]; intros e [<-|J]; [reflexivity|now apply V].
  - destruct n as [|n]; [destruct AM|].
    destruct F as (U & L & a & m' & _ & _ & F); destruct (legal_fit users i _ _ U L (PS message)) as [FT SD]; [cbn; auto|].
    destruct (tagged h i message 16) as [y|] eqn:T.
    + rewrite (use_old users domain p _ v i K (fun y => compiled domain (mac_player (k (yes_if (same_bytes y tag))))) _ y (tagged_some _ _ _ _ _ T)).
      apply (near_more _ _ (nat_q n * guess)); [rewrite nat_q_S; pose proof (guess_nonneg 1); change (nat_q 1) with 1%Q in *; lra|].
      pose proof (kept_in users domain _ v i K _ y L (tagged_some _ _ _ _ _ T)); apply (IH _ q m' n); auto.
    + apply (near_more _ _ (guess + nat_q n * guess)); [rewrite nat_q_S; lra|].
      destruct (other_tag 15 tag) as (y & Y & NO); apply F in Y; rewrite NO in Y.
      apply (near_trans _ (chance p (compiled domain (mac_player (k None))) v)); [|exact (IH None q m' n h v Y (AM _) K V)].
      apply (use_unseen users domain p _ v i K (fun y => compiled domain (mac_player (k (yes_if (same_bytes y tag))))) _ _ FT SD)
        with (bad := fun y => same_bytes y tag); [exact (tagged_none h i message 16 V T)|intros w ->; reflexivity|exact (one_of_tags tag)].
Qed.

(** Tags are those of a random function, and [n] tries to verify take only what has been given. *)
Theorem mac_secure A q m n : affords users domain q m (mac_player A) -> at_most verifies n A ->
  (advantage mac mac_ideal users domain A <=
    nat_q n / inject_Z (2 ^ 128) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros F AM; rewrite guesses; apply (advantage_near mac mac_ideal users domain domains A (mac_player A)); auto using mac_says, guess_nonneg.
  intros p IP; apply (mac_near p A IP q m n); auto; [apply kept_nothing|intros e []].
Qed.

Corollary mac_secure_2_128 A q m n : affords users domain q m (mac_player A) -> at_most verifies n A -> (z (q + m) <= 2 ^ 64)%Z ->
  (advantage mac mac_ideal users domain A <= nat_q (S n) / inject_Z (2 ^ 128))%Q.
Proof.
  intros F AM H; rewrite guesses_more; apply (advantage_2_128 mac mac_ideal users domain domains A (mac_player A) q m); auto using mac_says, guess_nonneg.
  intros p IP; apply (mac_near p A IP q m n); auto; [apply kept_nothing|intros e []].
Qed.
End Users.

(** It asks for the tag of one message, and tries it for another. *)
Definition retag : attacker mac_question :=
  Ask 0 (Tag [] 16) (fun r => Ask 0 (Verify [1%N] match r with Some t => t | None => [] end)
    (fun r => Halt match r with Some _ => true | None => false end)).

(** Two calls, and one try. *)
Example retag_allowed : affords 1 (fun _ => text "example") 0 2 (mac_player retag) /\ at_most verifies 1 retag.
Proof.
  assert (LT : forall m, small m -> legal (tag_transcript m 16)).
  { intros m M o [<-|[<-|[]]]; cbn [label data]; repeat split; auto; try (cbn; unfold label_max; lia); repeat constructor. }
  split; [|repeat intro; exact I].
  unfold retag; cbn [mac_player affords]; split; [lia|split; [apply LT; constructor|]].
  exists 1, 1; split; [lia|split; [intros O _; vm_compute; repeat constructor|]]; intros t _.
  split; [lia|split; [apply LT; repeat constructor|]]; exists 1, 0; split; [lia|split; [intros O _; vm_compute; repeat constructor|]].
  intros x _; exact I.
Qed.
