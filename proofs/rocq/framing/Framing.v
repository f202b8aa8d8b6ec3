(** * Framing: a header with a label of at most 91 bytes can be found from the right

    A header is two frames, [mark c] and [mark (c + 128)], around a label.  [header_injective]:
    from the tape after a header and any further tokens, the opcode, the label, the tokens and
    the tape before the header can be recovered.

    The argument.  The frame index of a tape points at the last visible frame of the block, so
    "a visible frame ends here" can be read off a tape ([mark_stop]); tokens never look like
    one.  Two headers that give the same tape are compared at their last visible frame, going
    from right to left.  A frame vanishes if its first byte falls on position 93.  The first bytes
    of the two frames of a header are |label| + 2 bytes apart, so both can vanish only if that is
    a multiple of 94.  [label_max] excludes this, so each header leaves at least one visible
    frame, whose id says which of the two it is. *)

From Coq Require Import List Bool NArith Arith Lia.
From Veriplex Require Import Duplex.
Import ListNotations.

(** The limit on labels and domains.  All its uses are in this file.  With 92 the lemma
    [one_frame_visible] is false, and the proof stops there. *)
Definition label_max : nat := 91.

Definition visible (t : tape) : Prop := length (cur t) <> rate - 1.

Definition tape_header (c : N) (l : list byte) (t : tape) : tape :=
  mark (c + 128) (feed (bytes l) (mark c t)).

(** What holds between operations: the last visible frame of the open block, if there is one,
    closes a header. *)
Definition ready (t : tape) : Prop :=
  wf t /\ (fi t = 0 \/ (128 <= get (fi t) (cur t))%N).

(** ** Reading tokens from the right *)

Lemma feed1_inj t u j k :
  length (cur t) < rate -> length (cur u) < rate ->
  feed1 t j = feed1 u k -> t = u /\ j = k.
Proof.
  destruct t as [ct xt ft], u as [cu xu fu]; simpl; intros Lt Lu.
  destruct j as [a|], k as [b|]; simpl; rewrite ?app_length; simpl;
    repeat match goal with |- context [?n =? rate] => destruct (Nat.eqb_spec n rate) end;
    intro E; injection E; clear E; intros;
    repeat match goal with
    | H : _ ++ [_] = _ ++ [_] |- _ => apply app_inj_tail in H as [? H]; inversion H; clear H
    | H : [] = _ ++ [_] |- _ => now apply app_cons_not_nil in H
    | H : _ ++ [_] = [] |- _ => symmetry in H; now apply app_cons_not_nil in H
    end; subst; rewrite ?app_length in *; simpl in *; try lia; auto.
Qed.

(** Two token sequences with the same result: one is a tail of the other. *)
Lemma feed_inj_tail v : forall w t u, wf t -> wf u -> feed v t = feed w u ->
  (exists x, v = x ++ w /\ feed x t = u) \/ (exists x, w = x ++ v /\ feed x u = t).
Proof.
  induction v as [|j v IH] using rev_ind; intros w t u Ht Hu E.
  - right; exists w; now rewrite app_nil_r.
  - destruct w as [|k w _] using rev_ind.
    + left; exists (v ++ [j]); now rewrite app_nil_r.
    + rewrite !feed_app in E; simpl in E.
      apply feed1_inj in E as [E ->]; try (apply wf_feed; assumption).
      destruct (IH w t u Ht Hu E) as [(x & -> & X)|(x & -> & X)]; [left|right];
        exists x; now rewrite app_assoc.
Qed.

Corollary feed_inj v w t u : wf t -> wf u -> length v = length w ->
  feed v t = feed w u -> v = w /\ t = u.
Proof.
  intros Ht Hu L E; destruct (feed_inj_tail v w t u Ht Hu E) as [(x & X & Y)|(x & X & Y)];
    apply (f_equal (@length token)) in X as X'; rewrite app_length in X';
    destruct x; simpl in *; try lia; subst; auto.
Qed.

(** Where bytes end up: the position grows modulo [rate] ... *)
Lemma feed_bytes_position x : forall t, length (cur t) < rate ->
  exists k, length (cur (feed (bytes x) t)) + k * rate = length (cur t) + length x.
Proof.
  induction x as [|b x IH]; intros t L; [exists 0; simpl; lia|].
  change (feed (bytes (b :: x)) t) with (feed (bytes x) (feed1 t (Byte b))).
  assert (S : length (cur (feed1 t (Byte b))) < rate /\
    exists j, length (cur (feed1 t (Byte b))) + j * rate = length (cur t) + 1).
  { simpl; rewrite app_length; simpl length.
    destruct (Nat.eqb_spec (length (cur t) + 1) rate) as [e|e]; simpl.
    - split; [unfold rate; lia|exists 1; lia].
    - rewrite app_length; simpl; split; [lia|exists 0; lia]. }
  destruct S as [L' [j J]], (IH _ L') as [k K].
  exists (k + j); change (length (b :: x)) with (S (length x)); lia.
Qed.

(** ... and within one block nothing else changes. *)
Lemma feed_bytes_within x : forall t, length (cur t) + length x < rate ->
  feed (bytes x) t = Tape (closed t) (cur t ++ x) (fi t).
Proof.
  induction x as [|b x IH]; intros t L; simpl in *.
  - destruct t; simpl; now rewrite app_nil_r.
  - rewrite app_length; simpl length.
    destruct (Nat.eqb_spec (length (cur t) + 1) rate); [lia|].
    rewrite IH; simpl; rewrite ?app_length; simpl; [|lia].
    now rewrite <- app_assoc.
Qed.

(** ** Marks *)

Definition backref (t : tape) : byte := N.of_nat (fi t).

Lemma feed1_inside b t : length (cur t) + 1 <> rate ->
  feed1 t (Byte b) = Tape (closed t) (cur t ++ [b]) (fi t).
Proof.
  intro H; simpl; rewrite app_length; simpl.
  destruct (Nat.eqb_spec (length (cur t) + 1) rate); [lia|reflexivity].
Qed.

Lemma feed1_full b t : length (cur t) + 1 = rate ->
  feed1 t (Byte b) = Tape (closed t ++ [(cur t ++ [b], fi t)]) [] 0.
Proof. intro H; simpl; rewrite app_length; simpl; now rewrite H, Nat.eqb_refl. Qed.

Lemma mark_visible id t : wf t -> visible t -> mark id t =
  if length (cur t) + 2 =? rate
  then Tape (closed t ++ [(cur t ++ [backref t; id], length (cur t) + 1)]) [] 0
  else Tape (closed t) (cur t ++ [backref t; id]) (length (cur t) + 1).
Proof.
  intros (L & _ & _) V; unfold mark, visible in *; fold (backref t).
  rewrite (feed1_inside (backref t) t) by (unfold rate in *; lia); cbn [closed cur].
  assert (E : (cur t ++ [backref t]) ++ [id] = cur t ++ [backref t; id])
    by now rewrite <- app_assoc.
  rewrite app_length; change (length [backref t]) with 1.
  destruct (Nat.eqb_spec (length (cur t) + 2) rate).
  - rewrite feed1_full; cbn [closed cur fi]; [now rewrite E|].
    rewrite app_length; simpl; lia.
  - rewrite feed1_inside; cbn [closed cur fi]; [now rewrite E|].
    rewrite app_length; simpl; lia.
Qed.

(** The flaw: at position 93 the frame's first byte closes the block. *)
Lemma mark_vanishes id t : wf t -> ~ visible t ->
  mark id t = feed [Byte (backref t); Byte id] t /\
  cur (mark id t) = [id] /\ fi (mark id t) = 0.
Proof.
  intros (L & _ & _) V; unfold mark, visible in *; fold (backref t).
  unfold feed, fold_left; rewrite (feed1_full (backref t) t) by (unfold rate in *; lia); auto.
Qed.

(** Just after a visible frame, the frame index points at the last byte; after a token, it
    points further back. *)
Lemma mark_stop id t u k : wf t -> wf u -> visible t -> mark id t = feed1 u k -> False.
Proof.
  intros Ht (Lu & Fu & _) V; rewrite (mark_visible id t Ht V).
  destruct Ht as (Lt & _ & _), t as [ct xt ft], u as [cu xu fu]; unfold visible in V; simpl in *.
  destruct k as [b|]; simpl; rewrite ?app_length; simpl length;
    repeat match goal with |- context [?n =? rate] => destruct (Nat.eqb_spec n rate) end;
    intro E; injection E; clear E; intros;
    repeat match goal with
    | H : _ ++ [_] = _ ++ [_] |- _ => apply app_inj_tail in H as [? H]; inversion H; clear H
    | H : [] = _ ++ [_] |- _ => now apply app_cons_not_nil in H
    | H : _ ++ _ :: _ = [] |- _ => symmetry in H; now apply app_cons_not_nil in H
    | H : _ ++ _ = ?x ++ [_] |- _ => apply (f_equal (@length N)) in H
    | H : _ ++ _ = xu |- _ => apply (f_equal (@length N)) in H
    end; rewrite ?app_length in *; simpl in *; try lia.
Qed.

Lemma app_split {A} (x y v w : list A) :
  length x = length y -> x ++ v = y ++ w -> x = y /\ v = w.
Proof.
  revert y; induction x as [|a x IH]; intros [|b y] L E; simpl in *; try discriminate; auto.
  injection E as -> E; injection L as L; now destruct (IH y L E) as [-> ->].
Qed.

Lemma mark_inj i j t u : wf t -> wf u -> visible t -> visible u ->
  mark i t = mark j u -> i = j /\ t = u.
Proof.
  intros Ht Hu Vt Vu; rewrite (mark_visible i t Ht Vt), (mark_visible j u Hu Vu).
  unfold backref; destruct t as [ct xt ft], u as [cu xu fu]; simpl.
  assert (F : xt ++ [N.of_nat ft; i] = xu ++ [N.of_nat fu; j] ->
    length xt + 1 = length xu + 1 -> i = j /\ xt = xu /\ ft = fu).
  { intros E L; apply app_split in E as [-> E]; [|lia].
    injection E as E ->; repeat split; lia. }
  repeat match goal with |- context [?n =? rate] => destruct (Nat.eqb_spec n rate) end;
    intro E; injection E; clear E; intros;
    repeat match goal with
    | H : _ ++ [_] = _ ++ [_] |- _ => apply app_inj_tail in H as [? H]; inversion H; clear H
    | H : [] = _ ++ _ :: _ |- _ => now apply app_cons_not_nil in H
    | H : _ ++ _ :: _ = [] |- _ => symmetry in H; now apply app_cons_not_nil in H
    end; destruct F as (-> & -> & ->); subst; auto.
Qed.

(** The last visible frame of a tape, and the tokens after it, are determined. *)
Lemma last_mark i j v w t u : wf t -> wf u -> visible t -> visible u ->
  feed v (mark i t) = feed w (mark j u) -> v = w /\ i = j /\ t = u.
Proof.
  intros Ht Hu Vt Vu E.
  assert (N : forall x i j t u, wf t -> wf u -> visible t -> visible u ->
    feed x (mark i t) = mark j u -> x = [] /\ i = j /\ t = u).
  { clear; intros x i j t u Ht Hu Vt Vu E; destruct x as [|k x _] using rev_ind.
    - split; auto; now apply mark_inj.
    - rewrite feed_app in E; exfalso; symmetry in E.
      apply (mark_stop j u (feed x (mark i t)) k); auto using wf_feed, wf_mark. }
  apply feed_inj_tail in E as [(x & -> & X)|(x & -> & X)]; auto using wf_mark.
  - destruct (N x i j t u) as (-> & -> & ->); auto.
  - destruct (N x j i u t) as (-> & -> & ->); auto.
Qed.

(** ** Headers *)

Lemma visible_dec t : {visible t} + {~ visible t}.
Proof. unfold visible; destruct (Nat.eq_dec (length (cur t)) (rate - 1)); auto. Qed.

(** The only lemma that needs the exact limit: if the first frame vanishes, the second stays. *)
Lemma one_frame_visible c l t : wf t -> length l <= label_max -> ~ visible t ->
  visible (feed (bytes l) (mark c t)).
Proof.
  intros H L V; destruct (mark_vanishes c t H V) as (_ & C & _).
  rewrite feed_bytes_within; rewrite C; simpl; unfold visible; simpl;
    unfold label_max, rate in *; lia.
Qed.

(** A visible opening frame cannot be the last one before a position where the next header's
    opening frame vanishes: that position would have to be in a later block. *)
Lemma open_mark_not_ready c x t : wf t -> visible t -> (c < 128)%N ->
  length x + 2 <= label_max ->
  ready (feed (bytes x) (mark c t)) -> ~ visible (feed (bytes x) (mark c t)) -> False.
Proof.
  intros H V C L [_ R] N; unfold visible in N.
  assert (M : wf (mark c t)) by now apply wf_mark.
  destruct (feed_bytes_position x (mark c t)) as [k K]; [apply M|].
  revert R K N; rewrite (mark_visible c t H V); destruct H as (Lt & _ & _).
  destruct (Nat.eqb_spec (length (cur t) + 2) rate) as [e|e]; cbn [cur]; intros R K N.
  - unfold label_max, rate in *; simpl length in *; lia.
  - rewrite feed_bytes_within in R; cbn [closed cur fi] in *;
      rewrite app_length in *; simpl length in *;
      [|unfold label_max, rate in *; lia].
    destruct R as [R|R]; [lia|]; revert R; unfold get.
    rewrite <- app_assoc, app_nth2 by lia.
    replace (length (cur t) + 1 - length (cur t)) with 1 by lia; simpl; lia.
Qed.

Lemma bytes_inj x y : bytes x = bytes y -> x = y.
Proof.
  revert y; induction x as [|a x IH]; intros [|b y] E; try discriminate; auto.
  injection E as -> E; f_equal; auto.
Qed.

Lemma label_mixed c l m t u :
  wf t -> ready u -> visible t -> ~ visible u -> (c < 128)%N -> length l <= label_max ->
  feed (bytes l) (mark c t) = feed (bytes m) (mark c u) -> False.
Proof.
  intros Ht Ru Vt Vu C L E.
  destruct (mark_vanishes c u (proj1 Ru) Vu) as (X & _ & _); rewrite X, <- feed_app in E.
  apply feed_inj_tail in E as [(x & E & Y)|(x & E & Y)]; auto using wf_mark; [| |apply Ru].
  - unfold bytes in E; apply map_eq_app in E as (x' & z & -> & <- & Z); fold (bytes x') in Y.
    apply (f_equal (@length token)) in Z; rewrite app_length, !map_length in Z.
    rewrite app_length in L; simpl length in Z.
    rewrite <- Y in Ru, Vu; apply (open_mark_not_ready c x' t); auto; lia.
  - destruct x as [|k x _] using rev_ind.
    + simpl in Y; subst u; apply (open_mark_not_ready c [] t); auto; simpl; unfold label_max; lia.
    + rewrite feed_app in Y; symmetry in Y.
      apply (mark_stop c t (feed x u) k); auto; apply wf_feed, Ru.
Qed.

Lemma label_injective c l m t u :
  ready t -> ready u -> (c < 128)%N -> length l <= label_max -> length m <= label_max ->
  feed (bytes l) (mark c t) = feed (bytes m) (mark c u) -> l = m /\ t = u.
Proof.
  intros Rt Ru C L M E.
  destruct (visible_dec t) as [Vt|Vt], (visible_dec u) as [Vu|Vu].
  - apply last_mark in E as (E & _ & ->); auto; try apply Rt; try apply Ru.
    split; auto; now apply bytes_inj.
  - exfalso; apply (label_mixed c l m t u); auto; apply Rt.
  - exfalso; apply (label_mixed c m l u t); auto; apply Ru.
  - destruct (mark_vanishes c t (proj1 Rt) Vt) as (Xt & Ct & _).
    destruct (mark_vanishes c u (proj1 Ru) Vu) as (Xu & Cu & _).
    assert (S : c :: l = c :: m).
    { apply (f_equal cur) in E; rewrite !feed_bytes_within in E;
        rewrite ?Ct, ?Cu; simpl; try (unfold label_max, rate in *; lia).
      simpl in E; now rewrite Ct, Cu in E. }
    injection S as ->; split; auto.
    rewrite Xt, Xu, <- !feed_app in E.
    apply feed_inj in E as [_ E]; auto; [apply Rt|apply Ru].
Qed.

Theorem header_injective c d l m v w t u :
  ready t -> ready u -> (c < 128)%N -> (d < 128)%N ->
  length l <= label_max -> length m <= label_max ->
  feed v (tape_header c l t) = feed w (tape_header d m u) ->
  c = d /\ l = m /\ v = w /\ t = u.
Proof.
  intros Rt Ru C D L M; unfold tape_header.
  pose proof (proj1 Rt) as Wt; pose proof (proj1 Ru) as Wu.
  assert (Wt' : wf (feed (bytes l) (mark c t))) by auto using wf_feed, wf_mark.
  assert (Wu' : wf (feed (bytes m) (mark d u))) by auto using wf_feed, wf_mark.
  (* a vanished closing frame is two more bytes after a visible opening frame *)
  assert (B : forall c l v t, wf t -> length l <= label_max ->
    ~ visible (feed (bytes l) (mark c t)) ->
    visible t /\ exists a b, feed v (mark (c + 128) (feed (bytes l) (mark c t))) =
      feed (bytes (l ++ [a; b]) ++ v) (mark c t)).
  { clear; intros c l v t W L V; split.
    - destruct (visible_dec t) as [|N]; auto.
      now apply (one_frame_visible c l) in N.
    - assert (W' : wf (feed (bytes l) (mark c t))) by auto using wf_feed, wf_mark.
      destruct (mark_vanishes (c + 128) _ W' V) as (X & _ & _); rewrite X.
      eexists _, _; unfold bytes; rewrite map_app, !feed_app; reflexivity. }
  destruct (visible_dec (feed (bytes l) (mark c t))) as [Vt|Vt],
    (visible_dec (feed (bytes m) (mark d u))) as [Vu|Vu]; intro E.
  - apply last_mark in E as (-> & Q & E); auto.
    assert (c = d) by lia; subst d.
    apply label_injective in E as [-> ->]; auto.
  - destruct (B d m w u Wu M Vu) as (V & a & b & X); rewrite X in E.
    apply last_mark in E as (_ & Q & _); auto; lia.
  - destruct (B c l v t Wt L Vt) as (V & a & b & X); rewrite X in E.
    apply last_mark in E as (_ & Q & _); auto; lia.
  - destruct (B c l v t Wt L Vt) as (V & a & b & X),
      (B d m w u Wu M Vu) as (V' & a' & b' & X'); rewrite X, X' in E.
    apply last_mark in E as (E & -> & ->); auto.
    (* both labels end at position 93, so they have the same length *)
    assert (S : length l = length m).
    { assert (K : wf (mark d u)) by now apply wf_mark.
      destruct (feed_bytes_position l (mark d u) (proj1 K)) as [i I].
      destruct (feed_bytes_position m (mark d u) (proj1 K)) as [j J].
      unfold visible, label_max, rate in *; lia. }
    apply app_split in E as [E ->].
    + apply bytes_inj in E; apply app_split in E as [-> _]; auto.
    + unfold bytes; rewrite !map_length, !app_length; simpl; lia.
Qed.

(** Operations leave a tape [ready] for the next one. *)

Lemma ready_blank : ready blank.
Proof. split; [apply wf_blank|auto]. Qed.

Lemma ready_feed w : forall t, ready t -> ready (feed w t).
Proof.
  induction w as [|k w IH]; intros t [W F]; simpl; [split; auto|].
  apply IH; split; [now apply wf_feed1|].
  destruct W as (L & I & _); destruct k as [b|]; simpl; auto.
  destruct (length (cur t ++ [b]) =? rate); simpl; auto.
  destruct F as [F|F]; auto; destruct I as [I|I]; auto.
  right; unfold get in *; now rewrite app_nth1.
Qed.

Lemma ready_header c l t : wf t -> ready (tape_header c l t).
Proof.
  intro W; unfold tape_header.
  assert (W' : wf (feed (bytes l) (mark c t))) by auto using wf_feed, wf_mark.
  split; [now apply wf_mark|].
  destruct (visible_dec (feed (bytes l) (mark c t))) as [V|V].
  - rewrite mark_visible by auto.
    destruct (length (cur (feed (bytes l) (mark c t))) + 2 =? rate); cbn [fi cur]; auto.
    right; unfold get; rewrite app_nth2 by lia.
    replace (length (cur (feed (bytes l) (mark c t))) + 1
             - length (cur (feed (bytes l) (mark c t)))) with 1 by lia; simpl; lia.
  - left; apply mark_vanishes; auto.
Qed.
