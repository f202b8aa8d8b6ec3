(** * BoundForgery: tags that nobody made are not accepted, even if transcripts repeat

    [forgery]: a player all of whose transcripts are Mixes and Forks and one more operation of any kind makes Open take what no
    Seal has given with probability at most n / 2^128 + m (2 q + m) / 2^256, for n tries.  Nonces may repeat, and one
    ciphertext may be tried with many tags. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret BoundNonces
  BoundMean BoundAnswers BoundFresh.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Local Notation chance := (ideal bytes_dec block_dec (strings (rate + 2))).

(** ** The game *)

(** The same player, stopped with yes when Open takes a ciphertext and a tag that Seal, for this user after this transcript,
    has not given for the plaintext; with no at the end. *)
Fixpoint watched (h : history) (A : player) : player :=
  match A with
  | Say _ => Say false
  | Permute x k => Permute x (fun y => watched h (k y))
  | Unpermute y k => Unpermute y (fun x => watched h (k x))
  | Use i T k => Use i T (fun x => watched ((i, T, x) :: h) (k x))
  | Open i T l c tag k => Open i T l c tag (fun r =>
      match r with
      | Some x => if in_dec answer_dec (i, T ++ [Seal l x], c ++ tag) h then watched h (k r) else Say true
      | None => watched h (k r)
      end)
  | Unmask i T l c k => Unmask i T l c (fun x => watched h (k x))
  end.

(** Every transcript is Mixes and Forks and one operation of any kind: that of aead, mac, siv, stream. *)
Fixpoint one_shot (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute _ k | Unpermute _ k => forall x, one_shot (k x)
  | Use _ T k => (exists M o, T = M ++ [o] /\ passive M) /\ forall x, one_shot (k x)
  | Open _ T _ _ _ k => passive T /\ forall x, one_shot (k x)
  | Unmask _ T _ _ k => passive T /\ forall x, one_shot (k x)
  end.

Section Users.
Variable users : nat.
Variable domain : nat -> list byte.
Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).

(** What holds for all answers, holds for those that are possible. *)
Lemma spending_affords A : forall q m, spending users domain q m A -> affords users domain q m A.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m F; cbn [spending affords] in *; auto.
  - destruct F as [X F], q as [|q]; auto.
  - destruct F as [X F], q as [|q]; auto.
  - destruct F as (U & L & a & n & M & C & F); split; [exact U|split; [exact L|]]; exists a, n; auto.
  - destruct F as (U & L & D & a & n & M & C & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n; auto 6.
  - destruct F as (U & L & D & a & n & M & C & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n; auto.
Qed.

Lemma watched_affords A : forall q m h, affords users domain q m A -> affords users domain q m (watched h A).
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m h F; cbn [watched affords] in *.
  - exact I.
  - destruct F as [X F], q as [|q]; auto.
  - destruct F as [X F], q as [|q]; auto.
  - destruct F as (U & L & a & n & M & C & F); split; [exact U|split; [exact L|]]; exists a, n; auto.
  - destruct F as (U & L & D & a & n & M & C & N & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n.
    split; [exact M|split; [exact C|split; [auto|]]]; intros x X; destruct (in_dec _ _ _); [auto|exact I].
  - destruct F as (U & L & D & a & n & M & C & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n; auto.
Qed.

Lemma ask_below {A} p c i (r : prog A) k v : (0 <= c)%Q ->
  (forall v', reached i r v v' -> (chance p (k (result (by_table i v') r)) v' <= c)%Q) -> (chance p (ask i r k) v <= c)%Q.
Proof.
  intros C H; rewrite chance_ask; apply Qle_trans with (mean i r (fun _ _ => 0) v + c)%Q; [|rewrite mean_const; lra].
  apply (mean_within c i (fun a => chance p (k a))); [exact C|]; intros v' R; rewrite Qplus_0_l; now apply H.
Qed.

(** A tag of another length is never taken. *)
Lemma open_odd v i M l c tag : length tag <> tag_length ->
  (mean i (opening l c (prologue domain i M)) (fun r _ => indicator (accepted (taken c tag (fst r)))) v <= guess)%Q.
Proof.
  intro LT; apply Qle_trans with (mean i (opening l c (prologue domain i M)) (fun _ _ => 0) v + guess)%Q; [|rewrite mean_const; lra].
  apply mean_within; [discriminate|]; intros v' _; rewrite opening_result; cbv zeta; cbn [fst].
  match goal with |- context [taken c tag (?x ++ ?g)] => set (y := x); set (w := g) end.
  assert (LX : length y = length c) by apply (decrypting_feeds (by_table i v') c).
  assert (LW : length w = tag_length) by apply squeezing_length.
  destruct (taken c tag (y ++ w)) as [x|] eqn:TK; apply taken_none in TK; try exact LX; cbn [accepted]; [|discriminate].
  destruct TK as [[_ ->]|TK]; [congruence|discriminate].
Qed.

Lemma forged p A : In p all_permutations -> forall q m n h v, affords users domain q m A -> one_shot A -> opens n A ->
  small_table v -> given users domain h v -> (chance p (compiled domain (watched h A)) v <= nat_q n * guess)%Q.
Proof.
  intro IP; induction A as [r|x k IH|y k IH|i T k IH|i M l c tag k IH|i M l c k IH]; intros q m n h v F SH OP SV G;
    cbn [compiled watched affords one_shot opens ideal] in *.
  - apply guess_nonneg.
  - destruct F as [X F], q as [|q]; [destruct F|]; exact (IH _ q m n h v (F _ (perm_states p IP x X)) (SH _) (OP _) SV G).
  - destruct F as [X F], q as [|q]; [destruct F|]; exact (IH _ q m n h v (F _ (unperm_states p y IP X)) (SH _) (OP _) SV G).
  - destruct F as (U & L & a & m' & _ & _ & F), SH as [(M & o & -> & P) SH].
    apply ask_below; [apply guess_nonneg|]; intros v' R; assert (SV' : small_table v') by now apply R.
    apply (IH _ q m' n); auto.
    + apply F; rewrite program_from; apply transcript_in; [now apply by_table_small|exact L].
    + apply given_more with (v := v); auto; [intros e J; apply L, in_or_app; now left|].
      destruct (L o) as [D _]; [apply in_or_app; right; now left|exact D].
  - destruct F as (U & L & (LL & _ & SC) & a & m' & _ & _ & N & F), SH as [P SH], n as [|n]; [destruct OP|].
    rewrite chance_ask, (open_at domain i M l c P).
    assert (FT : fit users i M (Seal l c)) by (split; [exact U|split; [exact L|split; [exact P|split; [exact LL|cbn; auto]]]]).
    set (f := fun r : list byte * tape => compiled domain match taken c tag (fst r) with
      | Some x => if in_dec answer_dec (i, M ++ [Seal l x], c ++ tag) h then watched h (k (taken c tag (fst r))) else Say true
      | None => watched h (k (taken c tag (fst r))) end).
    change (mean i (opening l c (prologue domain i M)) (fun r => chance p (f r)) v <= nat_q (S n) * guess)%Q.
    assert (REFUSED : (mean i (opening l c (prologue domain i M)) (fun r _ => indicator (accepted (taken c tag (fst r)))) v <= guess)%Q ->
      (mean i (opening l c (prologue domain i M)) (fun r => chance p (f r)) v <= nat_q (S n) * guess)%Q).
    { intro B; pose proof (IH None q m' n h v N (SH _) (OP _) SV G) as R.
      assert (H : near (mean i (opening l c (prologue domain i M)) (fun r => chance p (f r)) v) (chance p (compiled domain (watched h (k None))) v) guess).
      { apply (near_more _ _ _ _ B), mean_until; intros r E; unfold f; destruct (taken c tag (fst r)); [discriminate|reflexivity]. }
      destruct H as [H _]; rewrite nat_q_S; lra. }
    destruct (Nat.eq_dec (length tag) tag_length) as [LT|LT]; [|now apply REFUSED, open_odd].
    destruct (unsealed i M l (c ++ tag) h) as [x|] eqn:E; [|now apply REFUSED, (open_new users domain h)].
    destruct (open_old users domain h v i M l c tag x G P LT E) as [KN R].
    pose proof (opening_in _ (by_table_small i v SV) _ _ _ _ _ SC R) as X; rewrite (mean_known i (fun r => chance p (f r))) by exact KN.
    unfold f; rewrite R; destruct (in_dec _ _ _) as [_|NI]; [|elim NI; exact (unsealed_some _ _ _ _ _ _ E)].
    apply Qle_trans with (nat_q n * guess)%Q; [apply (IH _ q m' n); auto|].
    rewrite nat_q_S; pose proof (guess_nonneg 1); change (nat_q 1) with 1%Q in *; lra.
  - destruct F as (U & L & (LL & _ & SC) & a & m' & _ & _ & F), SH as [P SH].
    apply ask_below; [apply guess_nonneg|]; intros v' R; assert (SV' : small_table v') by now apply R.
    apply (IH _ q m' n); auto.
    + apply F; rewrite (unmask_at domain i M l c P); apply unmasking_in; [now apply by_table_small|exact SC].
    + destruct R as (MV & _ & _ & NEW), G as [K1 K3]; split.
      * intros j T y J; destruct (K1 j T y J) as [KJ RJ]; destruct (result_known j v v' _ MV KJ) as [-> K']; auto.
      * intros j M' l' x b r FT J E; apply NEW in J as [J|(bs & B & J)]; [now apply (K3 j M' l' x b r)|exfalso].
        pose proof (names_in _ _ _ _ _ _ J) as [-> _].
        pose proof (unmask_closes domain _ _ i M l c bs b r (tagging_open domain i M' l' x) P B J E) as X; symmetry in X; revert X.
        now apply starting_tagging; [|apply FT].
Qed.

(** ** The theorems *)

(** In the ideal world, and so in the real one: that one of [n] tries takes what no Seal has given. *)
Theorem ideal_forgery A q m n : affords users domain q m A -> one_shot A -> opens n A ->
  (ideally domain (watched [] A) <= nat_q n / inject_Z (2 ^ 128))%Q.
Proof.
  intros F S OP; assert (E : (nat_q n / inject_Z (2 ^ 128) == nat_q n * guess)%Q) by (unfold guess; field; discriminate).
  rewrite E; apply average_below; [apply guess_nonneg|]; intros p IP; apply (forged p A IP q m n); auto; [discriminate|].
  apply given_nothing.
Qed.

Theorem forgery A q m n : affords users domain q m A -> one_shot A -> opens n A ->
  (really users domain (watched [] A) <= nat_q n / inject_Z (2 ^ 128) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros F S OP; pose proof (ideal_forgery A q m n F S OP) as H.
  pose proof (answers_random users domain domains (watched [] A) q m (watched_affords A q m [] F)) as R.
  apply Qabs_Qle_condition in R as [_ R]; lra.
Qed.
End Users.

(** ** In numbers *)

Corollary forgery_2_128 users domain A q m n : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m A -> one_shot A -> opens n A -> (z (q + m) <= 2 ^ 64)%Z ->
  (really users domain (watched [] A) <= nat_q (S n) / inject_Z (2 ^ 128))%Q.
Proof.
  intros D F SH OP H; pose proof (forgery users domain D A q m n F SH OP) as R; pose proof (below_2_128 q m H) as B.
  assert (E : (nat_q (S n) / inject_Z (2 ^ 128) == nat_q n / inject_Z (2 ^ 128) + 1 / inject_Z (2 ^ 128))%Q)
    by (rewrite nat_q_S; field; discriminate).
  rewrite E; lra.
Qed.

(** Who tries an empty ciphertext with a tag of zeros is such a player. *)
Example forgery_example : let A := Open 0 [] (text "message") [] (repeat 0%N 16) (fun _ => Say false) in
  affords 1 (fun _ => text "example") 0 2 A /\ one_shot A /\ opens 1 A.
Proof.
  cbv zeta; split; [|split; [split; [intros o []|exact (fun _ => I)]|exact (fun _ => I)]].
  split; [apply le_n|split; [intros o []|split; [repeat split; repeat constructor|]]].
  exists 2, 0; repeat split; [apply le_n|]; intros O _; vm_compute; repeat constructor.
Qed.
