(** * BoundKeyed: states under secrets are random

    A tree of states: from the root of each user, which is his secret at its place, each label leads to the permutation of
    [step].  An adversary asks for outer parts of its nodes, for the permutation and its inverse.  In the other world,
    [ideal], each node has an outer part of its own, uniform and independent.  [keyed_bound]: with q direct queries and m
    nodes no adversary tells the two apart by more than m (2 q + m) / |secrets|.

    The proof is by H-coefficients (Patarin 2008; Chen and Steinberger 2014).  After the game the ideal world chooses
    secrets and inner parts, and so an input and an output of the permutation for each node.  Where all inputs differ and
    all outputs do ([fine]), the real world has this course at least as often ([worth]).  Otherwise one secret has hit one
    value ([one_secret]). *)

From Coq Require Import List Bool Arith Lia QArith Qabs Lqa.
From Veriplex Require Import BoundSampling.
Import ListNotations.

(** ** Averages *)

Lemma average_thin {A} (f : A -> bool) (g h : A -> Q) l :
  (forall a, In a l -> f a = false -> g a == 0) -> (forall a, In a l -> f a = true -> g a <= h a) ->
  (forall a, In a l -> 0 <= h a) -> average g l <= average h (filter f l).
Proof.
  intros Z G H; assert (S : sum g l <= sum h (filter f l) /\ 0 <= sum h (filter f l)).
  { induction l as [|a l IH]; cbn [sum filter]; [split; apply Qle_refl|].
    destruct IH as [I J]; [intros; apply Z; auto; now right|intros; apply G; auto; now right|intros; apply H; now right|].
    pose proof (Z a (or_introl eq_refl)) as ZA; pose proof (G a (or_introl eq_refl)) as GA; pose proof (H a (or_introl eq_refl)).
    destruct (f a); cbn [sum]; [specialize (GA eq_refl)|specialize (ZA eq_refl)]; split; lra. }
  destruct S as [S P]; unfold average; eapply Qle_trans; [apply over_le, S|].
  assert (N : (length (filter f l) <= length l)%nat)
    by (clear; induction l as [|a l IH]; cbn [filter length]; [lia|]; destruct (f a); cbn [length]; lia).
  destruct (filter f l) as [|b r] eqn:E; cbn [length] in *.
  - cbn [sum]; unfold Qdiv; rewrite !Qmult_0_l; apply Qle_refl.
  - revert N P; generalize (length l), (sum h (b :: r)); intros m q N P.
    apply Qle_shift_div_l; [apply nat_q_pos; lia|]; unfold Qdiv; rewrite <- Qmult_assoc, (Qmult_comm (/ _)), Qmult_assoc.
    apply Qle_shift_div_r; [apply nat_q_pos; lia|]; rewrite !(Qmult_comm q).
    apply Qmult_le_compat_r; [apply nat_q_le, N|exact P].
Qed.

Lemma average_zero {A} (f : A -> Q) l : (forall a, In a l -> f a == 0) -> average f l == 0.
Proof. intro H; unfold average; rewrite (sum_ext f (fun _ => 0) l H), sum_const; unfold Qdiv; ring. Qed.

Lemma average_few {A} (f : A -> bool) l : NoDup l -> (forall a b, In a l -> In b l -> f a = true -> f b = true -> a = b) ->
  average (fun a => indicator (f a)) l <= 1 / nat_q (length l).
Proof.
  intros N H; unfold average; apply over_le; rewrite sum_indicator; change 1 with (nat_q 1); apply nat_q_le.
  assert (X : forall a b, In a (filter f l) -> In b (filter f l) -> a = b)
    by (intros a b I J; apply filter_In in I, J; apply H; tauto).
  apply (NoDup_filter f) in N; destruct (filter f l) as [|a [|b r]]; cbn [length]; auto.
  inversion N as [|? ? M _]; subst; exfalso; apply M; left; apply X; [right; now left|now left].
Qed.

Lemma average_any {A C} (f : C -> A -> bool) (cs : list C) (l : list A) r :
  (forall c, In c cs -> average (fun a => indicator (f c a)) l <= r) ->
  average (fun a => indicator (existsb (fun c => f c a) cs)) l <= nat_q (length cs) * r.
Proof.
  induction cs as [|c cs IH]; intro H; cbn [existsb length].
  - rewrite average_zero by reflexivity; change (nat_q 0) with 0; rewrite Qmult_0_l; apply Qle_refl.
  - eapply Qle_trans; [apply (average_le _ (fun a => indicator (f c a) + indicator (existsb (fun c => f c a) cs)))|].
    + intros a _; unfold indicator; destruct (f c a), (existsb _ cs); discriminate.
    + rewrite average_plus, nat_q_S, Qmult_plus_distr_l, Qmult_1_l; apply Qplus_le_compat; [apply H; now left|].
      apply IH; intros; apply H; now right.
Qed.

(** ** Vectors of secrets *)

Section Keyed.
Context {B Sec Out Lab : Type}.
Variables (eqB : forall x y : B, {x = y} + {x <> y}) (eqL : forall x y : Lab, {x = y} + {x <> y}).
Variables (all : list B) (secrets : list Sec) (outers : list Out).
Hypothesis all_once : NoDup all.
Hypothesis secrets_once : NoDup secrets.
Hypothesis some_secret : secrets <> [].
Hypothesis some_outer : outers <> [].

Fixpoint vectors (n : nat) : list (list Sec) :=
  match n with O => [[]] | S n => map (fun e => fst e ++ [snd e]) (list_prod (vectors n) secrets) end.

Lemma vectors_more n f : average f (vectors (S n)) == average (fun w => average (fun c => f (w ++ [c])) secrets) (vectors n).
Proof. cbn [vectors]; rewrite average_map, average_product; reflexivity. Qed.

Lemma in_vectors n : forall w, In w (vectors n) -> length w = n /\ incl w secrets.
Proof.
  induction n as [|n IH]; intros w I.
  - destruct I as [<-|[]]; split; [reflexivity|intros a []].
  - apply in_map_iff in I as ([v c] & <- & I); apply in_prod_iff in I as [I J]; cbn [fst snd]; destruct (IH v I) as [<- K].
    rewrite app_length; split; [cbn; lia|]; intros a M; apply in_app_or in M as [M|[<-|[]]]; auto.
Qed.

(** Where what happens depends on one secret in at most one way. *)
Lemma one_secret n (E : list Sec -> bool) (s0 : Sec) a : (a < n)%nat ->
  (forall w w', In w (vectors n) -> In w' (vectors n) -> (forall b, b <> a -> nth b w s0 = nth b w' s0) ->
    E w = true -> E w' = true -> nth a w s0 = nth a w' s0) ->
  average (fun w => indicator (E w)) (vectors n) <= 1 / nat_q (length secrets).
Proof.
  assert (C : 0 <= 1 / nat_q (length secrets)) by (unfold Qdiv; rewrite Qmult_1_l; apply Qinv_le_0_compat, nat_q_nonneg).
  assert (MORE : forall m w c, In w (vectors m) -> In c secrets -> In (w ++ [c]) (vectors (S m))).
  { intros m w c I J; cbn [vectors]; apply in_map_iff; exists (w, c); split; [reflexivity|now apply in_prod]. }
  revert E; induction n as [|n IH]; intros E A H; [lia|]; rewrite vectors_more.
  destruct (Nat.eq_dec a n) as [->|D].
  - apply average_below; [exact C|]; intros w I; apply average_few; [exact secrets_once|]; intros c c' J J' X X'.
    destruct (in_vectors n w I) as [L _]; pose proof (H (w ++ [c]) (w ++ [c']) (MORE n w c I J) (MORE n w c' I J')) as K.
    rewrite !app_nth2, L, Nat.sub_diag in K by lia; apply K; auto; intros b N.
    destruct (Nat.lt_ge_cases b n); [rewrite !app_nth1 by lia; reflexivity|].
    rewrite !(nth_overflow (w ++ _)); [reflexivity|rewrite app_length; cbn; lia..].
  - rewrite average_swap; apply average_below; [exact C|]; intros c J; apply IH; [lia|]; intros w w' I I' K X X'.
    destruct (in_vectors n w I) as [L _], (in_vectors n w' I') as [L' _].
    specialize (H (w ++ [c]) (w' ++ [c]) (MORE n w c I J) (MORE n w' c I' J)); rewrite !app_nth1 in H by lia.
    apply H; auto; intros b N; destruct (Nat.lt_ge_cases b n); [rewrite !app_nth1 by lia; auto|].
    rewrite !app_nth2, L, L' by lia; reflexivity.
Qed.

(** ** The two worlds *)

(** A node: its user, the label that leads to it, and those above, the nearest first. *)
Definition place : Type := nat * Lab * list Lab.
Definition table := list (place * Out).

Variable s0 : Sec.
(** What a node is made of may depend on its name. *)
Variable join : place -> Out -> Sec -> B.
Variable outer : place -> B -> Out.
Variable root : nat -> Sec -> B.
Variable step : B -> Lab -> B.

Definition place_dec (x y : place) : {x = y} + {x <> y}.
Proof.
  destruct x as [[i b] bs], y as [[i' b'] bs']; destruct (Nat.eq_dec i i'), (eqL b b'), (list_eq_dec eqL bs bs');
    [left; congruence|right; congruence..].
Defined.

Inductive tree :=
  | Stop (r : bool)
  | Forward (x : B) (k : B -> tree)
  | Inverse (y : B) (k : B -> tree)
  | Visit (i : nat) (b : Lab) (bs : list Lab) (k : Out -> tree).

Fixpoint node (p : @graph B) (w : list Sec) (i : nat) (bs : list Lab) : B :=
  match bs with [] => root i (nth i w s0) | b :: bs => forward eqB p (step (node p w i bs) b) end.

Fixpoint real (p : @graph B) (w : list Sec) (t : tree) : bool :=
  match t with
  | Stop r => r
  | Forward x k => real p w (k (forward eqB p x))
  | Inverse y k => real p w (k (inverse eqB p y))
  | Visit i b bs k => real p w (k (outer (i, b, bs) (node p w i (b :: bs))))
  end.

Fixpoint found (n : place) (v : table) : option Out :=
  match v with [] => None | (n', o) :: v => if place_dec n n' then Some o else found n v end.

(** The probability that it says yes, for one permutation; what a node has is chosen when it is asked for, and kept. *)
Fixpoint ideal (p : @graph B) (t : tree) (v : table) : Q :=
  match t with
  | Stop r => indicator r
  | Forward x k => ideal p (k (forward eqB p x)) v
  | Inverse y k => ideal p (k (inverse eqB p y)) v
  | Visit i b bs k =>
      match found (i, b, bs) v with
      | Some o => ideal p (k o) v
      | None => average (fun o => ideal p (k o) (((i, b, bs), o) :: v)) outers
      end
  end.

(** Users below [u]; at most [q] direct queries and [m] nodes beside those in [v], each below one that was visited. *)
Variable u : nat.
Variable legal : Lab -> Prop.

Definition below (ns : list place) (i : nat) (bs : list Lab) : Prop :=
  match bs with [] => True | b :: bs => In (i, b, bs) ns end.

Fixpoint fits (t : tree) (q m : nat) (v : table) : Prop :=
  match t with
  | Stop _ => True
  | Forward x k => In x all /\ match q with O => False | S q => forall y, fits (k y) q m v end
  | Inverse y k => In y all /\ match q with O => False | S q => forall x, fits (k x) q m v end
  | Visit i b bs k => (i < u)%nat /\
      match found (i, b, bs) v with
      | Some o => fits (k o) q m v
      | None => legal b /\ below (map fst v) i bs /\
          match m with O => False | S m => forall o, In o outers -> fits (k o) q m (((i, b, bs), o) :: v) end
      end
  end.

(** ** What the ideal world chooses afterwards *)

Hypothesis outer_join : forall n o c, In o outers -> In c secrets -> outer n (join n o c) = o.
Hypothesis join_all : forall n (f : B -> Q), average (fun o => average (fun c => f (join n o c)) secrets) outers == average f all.
Hypothesis join_in : forall n o c, In o outers -> In c secrets -> In (join n o c) all.
Hypothesis join_inj : forall n o c c', In o outers -> In c secrets -> In c' secrets -> join n o c = join n o c' -> c = c'.
Hypothesis root_in : forall i c, In c secrets -> In (root i c) all.
Hypothesis root_inj : forall i c c', (i < u)%nat -> In c secrets -> In c' secrets -> root i c = root i c' -> c = c'.
Hypothesis step_in : forall y b, In y all -> legal b -> In (step y b) all.
Hypothesis step_inj : forall y y' b, In y all -> In y' all -> step y b = step y' b -> y = y'.
Hypothesis step_label : forall y b b', In y all -> legal b -> legal b' -> step y b = step y b' -> b = b'.

(** How a node is made of a secret, and which one: those of the users come first. *)
Fixpoint slot_in (n : place) (v : table) : option ((Sec -> B) * nat) :=
  match v with
  | [] => None
  | (n', o) :: v => if place_dec n n' then Some (join n o, u + length v)%nat else slot_in n v
  end.
Definition slot (v : table) (i : nat) (bs : list Lab) : (Sec -> B) * nat :=
  match bs with
  | [] => (root i, i)
  | b :: bs => match slot_in (i, b, bs) v with Some f => f | None => (root i, i) end
  end.
Definition state (w : list Sec) (v : table) (i : nat) (bs : list Lab) : B := fst (slot v i bs) (nth (snd (slot v i bs)) w s0).

Definition into (w : list Sec) (v : table) (n : place) : B := let '(i, b, bs) := n in step (state w v i bs) b.

Fixpoint made (w : list Sec) (v : table) : @graph B :=
  match v with [] => [] | (n, o) :: v => (into w v n, join n o (nth (u + length v) w s0)) :: made w v end.

Fixpoint sound (v : table) : Prop :=
  match v with
  | [] => True
  | ((i, b, bs), o) :: v => (i < u)%nat /\ legal b /\ below (map fst v) i bs /\ In o outers /\ ~ In (i, b, bs) (map fst v) /\ sound v
  end.

Fixpoint once (l : list B) : bool := match l with [] => true | b :: l => negb (mem eqB b l) && once l end.
Definition fine (g : @graph B) : bool := once (map fst g) && once (map snd g).

Definition worth (t : tree) (s : @graph B) (v : table) (w : list Sec) : Q :=
  if fine (s ++ made w v) then expect eqB all (s ++ made w v) (fun p => indicator (real p (firstn u w) t)) else 0.

Definition limit (q m : nat) : Q := nat_q (m * (2 * q + m)) / nat_q (length secrets).

Lemma once_spec l : once l = true <-> NoDup l.
Proof.
  induction l as [|b l IH]; cbn [once]; [split; [constructor|auto]|].
  rewrite andb_true_iff, negb_true_iff, mem_not, IH; split; [intros []; now constructor|intro N; inversion N; auto].
Qed.

(** *** Slots *)

Lemma slot_in_some n v : In n (map fst v) -> sound v -> exists o a, slot_in n v = Some (join n o, a) /\ In o outers /\ (u <= a < u + length v)%nat.
Proof.
  induction v as [|[n' o] v IH]; intros I W; [destruct I|]; destruct n' as [[i b] bs], W as (_ & _ & _ & J & _ & W).
  cbn [slot_in length]; destruct (place_dec n (i, b, bs)) as [E|D].
  - exists o, (u + length v)%nat; repeat split; auto; lia.
  - destruct I as [E|I]; [now elim D|]; destruct (IH I W) as (o' & a & E & K & A); exists o', a; repeat split; auto; lia.
Qed.

Lemma slot_in_inj n n' v f f' a : sound v -> slot_in n v = Some (f, a) -> slot_in n' v = Some (f', a) -> n = n'.
Proof.
  intro W; revert f f' a; induction v as [|[m o] v IH]; intros f f' a E E'; [discriminate|].
  assert (X : forall n f, slot_in n v = Some (f, (u + length v)%nat) -> False).
  { intros n1 f1 Y; destruct m as [[i b] bs], W as (_ & _ & _ & _ & _ & W).
    destruct (in_dec place_dec n1 (map fst v)) as [I|N].
    - destruct (slot_in_some n1 v I W) as (o1 & a1 & Z & _ & A); rewrite Y in Z; injection Z as _ Z; lia.
    - clear - Y N; induction v as [|[m' o'] v IH]; [discriminate|]; cbn [slot_in map fst In] in *.
      destruct (place_dec n1 m'); [now elim N; left|].
      assert (G : forall k v, ~ In n1 (map fst v) -> slot_in n1 v = Some k -> False).
      { clear; intros k v; induction v as [|[m o] v IH]; intros N E; [discriminate|]; cbn [slot_in map fst In] in *.
        destruct (place_dec n1 m); [elim N; now left|apply IH; auto]. }
      apply (G (f1, (u + length ((m', o') :: v))%nat) v); auto. }
  destruct m as [[i b] bs]; assert (W' : sound v) by apply W; cbn [slot_in] in *.
  destruct (place_dec n (i, b, bs)) as [->|D], (place_dec n' (i, b, bs)) as [->|D']; auto.
  - injection E as <- <-; destruct (X n' f' E').
  - injection E' as <- <-; destruct (X n f E).
  - eapply IH; eauto.
Qed.

Lemma state_older w n o v i bs : below (map fst v) i bs -> ~ In n (map fst v) -> state w ((n, o) :: v) i bs = state w v i bs.
Proof.
  intros P N; unfold state, slot; destruct bs as [|b bs]; [reflexivity|]; cbn [slot_in].
  destruct (place_dec (i, b, bs) n) as [<-|]; [contradiction|reflexivity].
Qed.

Lemma state_is w v i bs : (i < u)%nat -> below (map fst v) i bs -> sound v -> length w = (u + length v)%nat -> incl w secrets ->
  In (state w v i bs) all /\ (snd (slot v i bs) < u + length v)%nat.
Proof.
  intros I P W LW IW; assert (N : forall a, (a < u + length v)%nat -> In (nth a w s0) secrets)
    by (intros a A; apply IW, nth_In; lia).
  unfold state, slot; destruct bs as [|b bs]; cbn [fst snd]; [split; [apply root_in, N; lia|lia]|].
  destruct (slot_in_some _ v P W) as (o & a & E & J & A); rewrite E; cbn [fst snd]; split; [apply join_in; auto; apply N; lia|lia].
Qed.

Lemma slot_inj v i bs c c' : (i < u)%nat -> below (map fst v) i bs -> sound v -> In c secrets -> In c' secrets ->
  fst (slot v i bs) c = fst (slot v i bs) c' -> c = c'.
Proof.
  intros I P W C C'; unfold slot; destruct bs as [|b bs]; cbn [fst]; [now apply root_inj|].
  destruct (slot_in_some _ v P W) as (o & a & E & J & _); rewrite E; cbn [fst]; now apply join_inj.
Qed.

Lemma slots_differ v i bs i' bs' : (i < u)%nat -> (i' < u)%nat -> below (map fst v) i bs -> below (map fst v) i' bs' -> sound v ->
  snd (slot v i bs) = snd (slot v i' bs') -> i = i' /\ bs = bs'.
Proof.
  intros I I' P P' W; unfold slot; destruct bs as [|b bs], bs' as [|b' bs']; cbn [snd].
  - auto.
  - destruct (slot_in_some _ v P' W) as (o & a & E & _ & A); rewrite E; cbn [snd]; lia.
  - destruct (slot_in_some _ v P W) as (o & a & E & _ & A); rewrite E; cbn [snd]; lia.
  - destruct (slot_in_some _ v P W) as (o & a & E & _ & A), (slot_in_some _ v P' W) as (o' & a' & E' & _ & A').
    rewrite E, E'; cbn [snd]; intros <-; pose proof (slot_in_inj _ _ v _ _ _ W E E') as X; injection X; intros; subst; auto.
Qed.

Lemma below_more n ns i bs : below ns i bs -> below (n :: ns) i bs.
Proof. destruct bs; cbn [below]; auto; now right. Qed.

(** *** Pairs *)

Lemma state_app w c v i bs : (snd (slot v i bs) < length w)%nat -> state (w ++ [c]) v i bs = state w v i bs.
Proof. intro H; unfold state; now rewrite app_nth1. Qed.

Lemma made_app w c v : sound v -> length w = (u + length v)%nat -> made (w ++ [c]) v = made w v.
Proof.
  assert (H : forall v, sound v -> (u + length v <= length w)%nat -> made (w ++ [c]) v = made w v); [|intros; apply H; auto; lia].
  clear v; induction v as [|[[[i b] bs] o] v IH]; intros W LW; [reflexivity|]; cbn [made length] in *.
  destruct W as (I & _ & P & _ & _ & W); rewrite IH, app_nth1 by (auto; lia); unfold into; rewrite state_app; [reflexivity|].
  unfold slot; destruct bs as [|b' bs]; cbn [snd]; [lia|].
  destruct (slot_in_some _ v P W) as (o' & a & E & _ & A); rewrite E; cbn [snd]; lia.
Qed.

(** The inputs of all nodes, by the whole table. *)
Lemma made_inputs w v : sound v -> map fst (made w v) = map (fun e => into w v (fst e)) v.
Proof.
  induction v as [|[n o] v IH]; intro W; [reflexivity|]; destruct n as [[i b] bs].
  pose proof W as (I & _ & P & _ & N & W'); cbn [made map fst]; f_equal.
  - unfold into; now rewrite state_older.
  - rewrite IH by exact W'; apply map_ext_in; intros [[[i' b'] bs'] o'] J; cbn [fst into]; rewrite state_older; auto.
    clear - J W'; induction v as [|[[[i1 b1] bs1] o1] v IH]; [destruct J|]; destruct W' as (_ & _ & P1 & _ & _ & W').
    destruct J as [E|J]; cbn [map fst]; apply below_more; [injection E; intros; subst; exact P1|now apply IH].
Qed.

Lemma sound_entry v i b bs o : sound v -> In ((i, b, bs), o) v -> (i < u)%nat /\ legal b /\ below (map fst v) i bs /\ In o outers.
Proof.
  induction v as [|[[[i1 b1] bs1] o1] v IH]; intros W J; [destruct J|]; destruct W as (I & LB & P & U & _ & W).
  destruct J as [E|J]; cbn [map fst].
  - injection E; intros; subst; auto using below_more.
  - destruct (IH W J) as (I' & LB' & P' & U'); auto using below_more.
Qed.

Lemma made_in w v : sound v -> (u + length v <= length w)%nat -> incl w secrets ->
  incl (map fst (made w v)) all /\ incl (map snd (made w v)) all.
Proof.
  intros W LW IW; induction v as [|[[[i b] bs] o] v IH]; [split; intros x []|]; destruct W as (I & LB & P & U & _ & W).
  cbn [length] in LW; assert (N : forall a, (a < u + S (length v))%nat -> In (nth a w s0) secrets)
    by (intros a A; apply IW, nth_In; lia).
  destruct IH as [I1 I2]; [exact W|lia|]; cbn [made map fst snd]; split; intros x [<-|J]; auto.
  - apply step_in; [|exact LB]; unfold state, slot; destruct bs as [|b' bs]; cbn [fst snd]; [apply root_in, N; lia|].
    destruct (slot_in_some _ v P W) as (o' & a & E & J & A); rewrite E; cbn [fst snd]; apply join_in; auto; apply N; lia.
  - apply join_in; auto; apply N; lia.
Qed.

Lemma nth_front (w : list Sec) i : (i < u)%nat -> nth i (firstn u w) s0 = nth i w s0.
Proof.
  revert i w; generalize u; intro n; induction n as [|n IH]; intros i w H; [lia|]; destruct w, i; cbn [firstn nth]; auto; apply IH; lia.
Qed.

Lemma node_is p w v : sound v -> (forall x y, In (x, y) (made w v) -> forward eqB p x = y) ->
  forall i bs, (i < u)%nat -> below (map fst v) i bs -> node p (firstn u w) i bs = state w v i bs.
Proof.
  induction v as [|[n o] v IH]; intros W E i bs U P.
  - destruct bs; [unfold state; cbn [slot fst snd node]; now rewrite nth_front|destruct P].
  - destruct n as [[i1 b1] bs1]; pose proof W as (I & _ & P1 & _ & N & W').
    specialize (IH W' (fun x y J => E x y (or_intror J))).
    destruct bs as [|b bs]; [unfold state; cbn [slot fst snd node]; now rewrite nth_front|]; cbn [below map fst] in P.
    destruct (place_dec (i1, b1, bs1) (i, b, bs)) as [X|D].
    + injection X; intros; subst; clear X; cbn [node]; rewrite (IH i bs U P1); fold (into w v (i, b, bs)).
      rewrite (E (into w v (i, b, bs)) _ (or_introl eq_refl)).
      unfold state, slot; cbn [slot_in]; destruct (place_dec _ _); [reflexivity|contradiction].
    + destruct P as [P|P]; [contradiction|]; rewrite (IH i (b :: bs) U P), state_older; auto.
Qed.

Lemma made_more w c n o v : sound ((n, o) :: v) -> length w = (u + length v)%nat ->
  made (w ++ [c]) ((n, o) :: v) = (into w v n, join n o c) :: made w v.
Proof.
  destruct n as [[i b] bs]; intros (I & _ & P & _ & _ & W) LW; cbn [made].
  rewrite made_app, app_nth2, LW, Nat.sub_diag by (auto; lia); cbn [nth]; unfold into; rewrite state_app; [reflexivity|].
  rewrite LW; unfold slot; destruct bs as [|b' bs]; cbn [snd]; [lia|].
  destruct (slot_in_some _ v P W) as (o' & a & E & _ & A); rewrite E; cbn [snd]; lia.
Qed.

Lemma made_length w v : length (made w v) = length v.
Proof. induction v as [|[n o] v IH]; cbn [made length]; auto. Qed.

Lemma once_swap b l m : once (l ++ b :: m) = once (b :: l ++ m).
Proof.
  apply eq_true_iff_eq; rewrite !once_spec; split; intro N; revert N; apply Permutation.Permutation_NoDup;
    [apply Permutation.Permutation_sym|]; apply Permutation.Permutation_middle.
Qed.

Lemma fine_swap s e m : fine (s ++ e :: m) = fine (e :: s ++ m).
Proof. unfold fine; rewrite !map_app; cbn [map]; rewrite !once_swap, !map_app; reflexivity. Qed.

Lemma expect_swap s e m f : expect eqB all (s ++ e :: m) f = expect eqB all (e :: s ++ m) f.
Proof.
  unfold expect, rest; f_equal; apply filter_ext; intro p; unfold extends; cbn [forallb]; rewrite !forallb_app; cbn [forallb].
  destruct (forallb _ s), (forallb _ m), (if eqB _ _ then true else false); reflexivity.
Qed.

Lemma fine_more x y g : fine ((x, y) :: g) = negb (mem eqB x (map fst g)) && negb (mem eqB y (map snd g)) && fine g.
Proof.
  unfold fine; cbn [map fst snd once].
  destruct (mem eqB x _), (mem eqB y _), (once (map fst g)), (once (map snd g)); reflexivity.
Qed.

Lemma mem_any b l : mem eqB b l = existsb (fun c => if eqB b c then true else false) l.
Proof.
  apply eq_true_iff_eq; rewrite mem_in, existsb_exists; split.
  - intro I; exists b; split; [exact I|]; destruct (eqB b b); congruence.
  - intros (c & I & E); destruct (eqB b c); [now subst|discriminate].
Qed.

Lemma vectors_some n : vectors n <> [].
Proof.
  induction n as [|n IH]; [discriminate|]; cbn [vectors].
  destruct (vectors n) as [|w l]; [now elim IH|]; destruct secrets; [now elim some_secret|discriminate].
Qed.

Lemma limit_more q m q' m' : (q <= q')%nat -> (m <= m')%nat -> limit q m <= limit q' m'.
Proof. intros Q M; apply over_le, nat_q_le; nia. Qed.

Lemma partial_fine s : partial all s -> fine s = true.
Proof. intros (N & N' & _); unfold fine; apply once_spec in N, N'; now rewrite N, N'. Qed.

Lemma fine_partial s v w : partial all s -> sound v -> In w (vectors (u + length v)) -> fine (s ++ made w v) = true ->
  partial all (s ++ made w v).
Proof.
  intros (_ & _ & I & J) W K F; destruct (in_vectors _ w K) as [LW IW].
  destruct (made_in w v W ltac:(lia) IW) as [I' J']; unfold fine in F; apply andb_true_iff in F as [F F'].
  apply once_spec in F, F'; repeat split; auto; rewrite map_app; now apply incl_app.
Qed.

Lemma rest_some s : partial all s -> rest eqB all s <> [].
Proof.
  induction s as [|[x y] s IH]; intros (N & N' & I & J); [rewrite rest_all; now apply some_permutation|].
  cbn [map fst snd] in *; inversion N; inversion N'; subst.
  assert (P : partial all s) by (repeat split; auto; intros z Z; [apply I|apply J]; now right).
  destruct (seen_forward eqB all all_once s x (fun _ => 0) P (IH P)) as (_ & _ & R); auto; [apply I; now left|].
  apply (R y), in_free; split; [apply J; now left|assumption].
Qed.

(** *** Hits *)

Lemma inputs_hit s i b bs v : sound v -> (i < u)%nat -> legal b -> below (map fst v) i bs -> ~ In (i, b, bs) (map fst v) ->
  average (fun w => indicator (mem eqB (into w v (i, b, bs)) (map fst (s ++ made w v)))) (vectors (u + length v)) <=
    nat_q (length s + length v) / nat_q (length secrets).
Proof.
  intros W I LB P N; set (x w := into w v (i, b, bs)).
  set (targets := map (fun (e : B * B) (w : list Sec) => fst e) s ++ map (fun (e : place * Out) w => into w v (fst e)) v).
  rewrite (average_ext _ (fun w => indicator (existsb (fun h => if eqB (x w) (h w) then true else false) targets))).
  2:{ intros w _; rewrite mem_any, map_app, made_inputs, !existsb_app by exact W; unfold targets; rewrite existsb_app.
      assert (X : forall {A} (g : A -> B) l, existsb (fun c => if eqB (x w) c then true else false) (map g l) =
        existsb (fun e => if eqB (x w) (g e) then true else false) l)
        by (intros A g l; induction l as [|a l IHl]; cbn [map existsb]; [reflexivity|now rewrite IHl]).
      assert (Y : forall {A} (g : A -> list Sec -> B) l, existsb (fun h => if eqB (x w) (h w) then true else false) (map g l) =
        existsb (fun e => if eqB (x w) (g e w) then true else false) l)
        by (intros A g l; induction l as [|a l IHl]; cbn [map existsb]; [reflexivity|now rewrite IHl]).
      rewrite !X, !Y; reflexivity. }
  eapply Qle_trans; [apply (average_any _ _ _ (1 / nat_q (length secrets)))|].
  2:{ unfold targets; rewrite app_length, !map_length; unfold Qdiv; rewrite Qmult_1_l; apply Qle_refl. }
  assert (ST : forall w i bs, (i < u)%nat -> below (map fst v) i bs -> In w (vectors (u + length v)) -> In (state w v i bs) all).
  { intros w i1 bs1 I1 P1 J; destruct (in_vectors _ w J) as [LW IW]; apply state_is; auto. }
  assert (SEC : forall w a, In w (vectors (u + length v)) -> (a < u + length v)%nat -> In (nth a w s0) secrets).
  { intros w a J A; destruct (in_vectors _ w J) as [LW IW]; apply IW, nth_In; lia. }
  assert (A : (snd (slot v i bs) < u + length v)%nat).
  { destruct bs as [|b1 bs]; cbn [slot snd]; [lia|].
    destruct (slot_in_some _ v P W) as (o & a & E & _ & A); unfold slot; rewrite E; cbn [snd]; lia. }
  intros h J; apply (one_secret _ _ s0 (snd (slot v i bs)) A); intros w w' K K' SAME E E'.
  destruct (eqB (x w) (h w)) as [X|]; [|discriminate]; destruct (eqB (x w') (h w')) as [X'|]; [|discriminate].
  assert (SOLVE : h w = h w' -> nth (snd (slot v i bs)) w s0 = nth (snd (slot v i bs)) w' s0).
  { intro H; rewrite <- X, <- X' in H; unfold x, into in H; apply step_inj in H; auto.
    apply (slot_inj v i bs); auto. }
  apply in_app_or in J as [J|J]; apply in_map_iff in J as (e & <- & J); [now apply SOLVE|].
  destruct e as [[[i' b'] bs'] o']; destruct (sound_entry _ _ _ _ _ W J) as (I' & LB' & P' & _); cbn [fst] in *.
  destruct (Nat.eq_dec (snd (slot v i' bs')) (snd (slot v i bs))) as [D|D].
  - apply slots_differ in D as [-> ->]; auto; exfalso; apply N.
    unfold x, into in X; apply step_label in X; auto; subst b'; exact (in_map fst _ _ J).
  - apply SOLVE; unfold into, state; now rewrite (SAME _ D).
Qed.

Lemma not_fine_few s v : partial all s -> sound v ->
  average (fun w => indicator (negb (fine (s ++ made w v)))) (vectors (u + length v)) <= limit (length s) (length v).
Proof.
  intros P W; induction v as [|[n o] v IH].
  - rewrite average_zero; [|intros w _; cbn [made]; now rewrite app_nil_r, partial_fine].
    unfold limit, Qdiv; apply Qmult_le_0_compat; [apply nat_q_nonneg|apply Qinv_le_0_compat, nat_q_nonneg].
  - assert (SV : sound ((n, o) :: v)) by exact W; destruct n as [[i b] bs]; destruct W as (I & LB & PB & U & N & W); specialize (IH W).
    cbn [length]; rewrite Nat.add_succ_r, vectors_more.
    set (hit w := mem eqB (into w v (i, b, bs)) (map fst (s ++ made w v))).
    set (k := nat_q (length s + length v) / nat_q (length secrets)).
    eapply Qle_trans; [apply (average_le _ (fun w => indicator (negb (fine (s ++ made w v))) + (indicator (hit w) + k)))|].
    + intros w J; destruct (in_vectors _ w J) as [LW IW].
      eapply Qle_trans; [apply (average_le _ (fun c => (indicator (negb (fine (s ++ made w v))) + indicator (hit w)) +
        indicator (mem eqB (join (i, b, bs) o c) (map snd (s ++ made w v)))))|].
      * intros c _; rewrite made_more, fine_swap, fine_more by auto; fold (hit w).
        unfold indicator; destruct (hit w), (mem eqB (join (i, b, bs) o c) _), (fine (s ++ made w v)); discriminate.
      * rewrite average_plus, Qplus_assoc; apply Qplus_le_compat.
        -- apply average_below; [|intros; apply Qle_refl]; unfold indicator; destruct (negb _), (hit w); discriminate.
        -- rewrite (average_ext _ (fun c => indicator (existsb (fun y => if eqB (join (i, b, bs) o c) y then true else false) (map snd (s ++ made w v)))))
             by (intros; rewrite mem_any; reflexivity).
           eapply Qle_trans; [apply (average_any _ _ _ (1 / nat_q (length secrets)))|].
           ++ intros y _; apply average_few; [exact secrets_once|]; intros c c' C C' E E'.
              destruct (eqB (join (i, b, bs) o c) y) as [F|]; [|discriminate]; destruct (eqB (join (i, b, bs) o c') y) as [F'|]; [|discriminate].
              apply (join_inj (i, b, bs) o); congruence.
           ++ rewrite map_length, app_length, made_length; unfold k, Qdiv; rewrite Qmult_1_l; apply Qle_refl.
    + rewrite average_plus, average_plus; pose proof (inputs_hit s i b bs v W I LB PB N) as H; fold hit in H; fold k in H.
      assert (K : average (fun _ : list Sec => k) (vectors (u + length v)) == k) by apply average_const, vectors_some.
      rewrite K; eapply Qle_trans; [apply Qplus_le_compat; [exact IH|apply Qplus_le_compat; [exact H|apply Qle_refl]]|].
      unfold limit, k, Qdiv; rewrite <- !Qmult_plus_distr_l, <- !nat_q_plus; apply over_le, nat_q_le; nia.
Qed.

(** *** The real world has what is fine at least as often *)

(** [l] is any list whose new values are those that are free. *)
Lemma answered g x l F val : partial all g -> In x all -> ~ In x (map fst g) -> (forall p, 0 <= F p) ->
  filter (fun y => negb (mem eqB y (map snd g))) l = free eqB all (map snd g) ->
  (forall y, In y (map snd g) -> val y == 0) -> 
  (forall y, In y all -> ~ In y (map snd g) -> val y <= expect eqB all ((x, y) :: g) F) ->
  average val l <= expect eqB all g F.
Proof.
  intros P X N F0 E Z H; destruct (seen_forward eqB all all_once g x F P (rest_some g P) X N) as (-> & _ & _).
  rewrite <- E; apply average_thin.
  - intros y _ M; apply Z; now apply negb_false_iff, mem_in in M.
  - intros y J M; apply H; [|now apply negb_true_iff, mem_not in M].
    assert (K : In y (free eqB all (map snd g))) by (rewrite <- E; apply filter_In; auto); apply in_free in K; tauto.
  - intros y _; apply average_nonneg; auto.
Qed.

Lemma answered_back g y l F val : partial all g -> In y all -> ~ In y (map snd g) -> (forall p, 0 <= F p) ->
  filter (fun x => negb (mem eqB x (map fst g))) l = free eqB all (map fst g) ->
  (forall x, In x (map fst g) -> val x == 0) -> 
  (forall x, In x all -> ~ In x (map fst g) -> val x <= expect eqB all ((x, y) :: g) F) ->
  average val l <= expect eqB all g F.
Proof.
  intros P Y N F0 E Z H; destruct (seen_inverse eqB all all_once g y F P (rest_some g P) Y N) as (-> & _ & _).
  rewrite <- E; apply average_thin.
  - intros x _ M; apply Z; now apply negb_false_iff, mem_in in M.
  - intros x J M; apply H; [|now apply negb_true_iff, mem_not in M].
    assert (K : In x (free eqB all (map fst g))) by (rewrite <- E; apply filter_In; auto); apply in_free in K; tauto.
  - intros x _; apply average_nonneg; auto.
Qed.

Lemma free_less l m : filter (fun y => negb (mem eqB y (l ++ m))) (free eqB all l) = free eqB all (l ++ m).
Proof.
  unfold free; generalize all; clear; intro r; induction r as [|b r IH]; cbn [filter]; [reflexivity|].
  destruct (mem eqB b l) eqn:E; cbn [negb].
  - assert (M : mem eqB b (l ++ m) = true) by (apply mem_in, in_or_app; left; now apply (mem_in eqB) in E).
    rewrite M; cbn [negb]; exact IH.
  - cbn [filter]; destruct (mem eqB b (l ++ m)); cbn [negb]; now rewrite IH.
Qed.

Lemma pair_of p s m x y : In p (rest eqB all (s ++ m)) -> In (x, y) s -> forward eqB p x = y.
Proof. intros J I; apply in_rest in J as [_ J]; apply J, in_or_app; now left. Qed.

Lemma found_some n v o : found n v = Some o -> In n (map fst v).
Proof.
  induction v as [|[m o'] v IH]; cbn [found map fst]; [discriminate|].
  destruct (place_dec n m); [left; congruence|intro E; right; auto].
Qed.
Lemma found_none n v : found n v = None -> ~ In n (map fst v).
Proof.
  induction v as [|[m o'] v IH]; cbn [found map fst]; intros E; [intros []|].
  destruct (place_dec n m); [discriminate|intros [H|H]; [congruence|now apply IH]].
Qed.

Lemma found_state w i b bs v o : sound v -> In w (vectors (u + length v)) -> found (i, b, bs) v = Some o ->
  outer (i, b, bs) (state w v i (b :: bs)) = o.
Proof.
  intros W J; destruct (in_vectors _ w J) as [LW IW]; unfold state, slot.
  assert (H : forall v', sound v' -> (u + length v' <= u + length v)%nat -> found (i, b, bs) v' = Some o ->
    exists a, slot_in (i, b, bs) v' = Some (join (i, b, bs) o, a) /\ In o outers /\ (a < u + length v)%nat).
  { clear W J; induction v' as [|[[[i1 b1] bs1] o1] v' IH]; cbn [found slot_in]; intros W LE E; [discriminate|].
    destruct W as (_ & _ & _ & U & _ & W); cbn [length] in LE; destruct (place_dec _ _).
    - injection E as <-; exists (u + length v')%nat; repeat split; auto; lia.
    - apply IH; auto; lia. }
  intro E; destruct (H v W (le_n _) E) as (a & X & U & A); rewrite X; cbn [fst snd].
  apply outer_join; [exact U|]; apply IW, nth_In; lia.
Qed.

Lemma fits_more t : forall q m m' v, (m <= m')%nat -> fits t q m v -> fits t q m' v.
Proof.
  induction t as [r|x k IH|y k IH|i b bs k IH]; intros q m m' v M F; cbn [fits] in *; auto.
  - destruct F as [X F], q; [destruct F|]; eauto.
  - destruct F as [X F], q; [destruct F|]; eauto.
  - destruct F as [X F]; split; [exact X|]; destruct (found _ _); [eauto|]; destruct F as (LB & P & F), m as [|m]; [destruct F|].
    destruct m' as [|m']; [lia|]; repeat split; auto; intros o U; apply (IH o q m); auto; lia.
Qed.

Lemma over_constant {A} (f g : A -> Q) l c : 0 <= c -> (forall a, In a l -> f a <= g a + c) -> average f l <= average g l + c.
Proof.
  intros C H; eapply Qle_trans; [apply (average_le f (fun a => g a + c)), H|]; rewrite average_plus.
  apply Qplus_le_compat; [apply Qle_refl|]; apply average_below; [exact C|intros; apply Qle_refl].
Qed.

Lemma limit_nonneg q m : 0 <= limit q m.
Proof. unfold limit, Qdiv; apply Qmult_le_0_compat; [apply nat_q_nonneg|apply Qinv_le_0_compat, nat_q_nonneg]. Qed.

Theorem worth_bound t : forall q m s v, fits t q m v -> sound v -> partial all s ->
  expect eqB all s (fun p => ideal p t v) <= average (worth t s v) (vectors (u + length v)) + limit (length s + q) (length v + m).
Proof.
  induction t as [r|x k IH|y k IH|i b bs k IH]; intros q m s v F W P; cbn [fits ideal] in *.
  - unfold expect; rewrite average_const by now apply rest_some.
    eapply Qle_trans; [|apply Qplus_le_compat; [apply Qle_refl|apply (limit_more (length s) (length v)); lia]].
    eapply Qle_trans; [|apply Qplus_le_compat; [apply Qle_refl|exact (not_fine_few s v P W)]].
    rewrite <- average_plus; rewrite <- (average_const (indicator r) (vectors (u + length v))) by apply vectors_some.
    apply average_le; intros w J; unfold worth; destruct (fine (s ++ made w v)) eqn:E.
    + unfold expect; cbn [real negb]; rewrite average_const by (apply rest_some, fine_partial; auto).
      unfold indicator; destruct r; discriminate.
    + unfold indicator; destruct r; discriminate.
  - destruct F as [X F], q as [|q]; [destruct F|]; destruct (in_dec eqB x (map fst s)) as [I|N].
    + apply in_map_iff in I as ([x' y] & E & I); cbn in E; subst x'.
      assert (FW : forall m p, In p (rest eqB all (s ++ m)) -> forward eqB p x = y) by (intros m' p J; apply (pair_of p s m' x y J I)).
      assert (E1 : expect eqB all s (fun p => ideal p (k (forward eqB p x)) v) == expect eqB all s (fun p => ideal p (k y) v)).
      { apply average_ext; intros p J; rewrite (FW [] p); [reflexivity|now rewrite app_nil_r]. }
      rewrite E1; eapply Qle_trans; [apply (IH y q m s v (F y) W P)|]; apply Qplus_le_compat; [|apply limit_more; lia].
      apply average_le; intros w _; unfold worth; destruct (fine _); [|apply Qle_refl].
      apply average_le; intros p J; cbn [real]; rewrite (FW _ p J); apply Qle_refl.
    + destruct (seen_forward eqB all all_once s x (fun p => ideal p (k (forward eqB p x)) v) P (rest_some s P) X N) as (E & _ & R).
      rewrite E; clear E; eapply Qle_trans.
      * apply (over_constant _ (fun y => average (worth (k y) ((x, y) :: s) v) (vectors (u + length v))) _
          (limit (length s + S q) (length v + m)) (limit_nonneg _ _)); intros y J; destruct (R y J) as [_ PY].
        assert (E1 : expect eqB all ((x, y) :: s) (fun p => ideal p (k (forward eqB p x)) v) ==
          expect eqB all ((x, y) :: s) (fun p => ideal p (k y) v)).
        { apply average_ext; intros p K; apply in_rest in K as [_ K]; rewrite (K x y (or_introl eq_refl)); reflexivity. }
        rewrite E1; pose proof (IH y q m _ v (F y) W PY) as H; cbn [length] in H; rewrite Nat.add_succ_r; exact H.
      * apply Qplus_le_compat; [|apply Qle_refl]; rewrite average_swap; apply average_le; intros w J.
        unfold worth at 2; destruct (fine (s ++ made w v)) eqn:G.
        2:{ rewrite average_zero; [apply Qle_refl|]; intros y _; unfold worth; cbn [app]; rewrite fine_more, G, andb_false_r; reflexivity. }
        pose proof (fine_partial s v w P W J G) as PG; destruct (in_dec eqB x (map fst (s ++ made w v))) as [I|NI].
        -- rewrite average_zero; [apply average_nonneg; intros p _; unfold indicator; destruct (real _ _ _); discriminate|].
           intros y _; unfold worth; cbn [app]; rewrite fine_more; apply (mem_in eqB) in I; rewrite I; reflexivity.
        -- apply (answered _ x); auto; [intro p; unfold indicator; destruct (real _ _ _); discriminate| | |].
           ++ rewrite map_app; apply free_less.
           ++ intros y I; unfold worth; cbn [app]; rewrite fine_more; apply (mem_in eqB) in I; rewrite I, andb_false_r; reflexivity.
           ++ intros y _ NY; unfold worth; cbn [app]; destruct (fine ((x, y) :: s ++ made w v)).
              ** apply average_le; intros p K; apply in_rest in K as [_ K]; cbn [real]; rewrite (K x y (or_introl eq_refl)); apply Qle_refl.
              ** apply average_nonneg; intros p _; unfold indicator; destruct (real _ _ _); discriminate.
  - destruct F as [Y F], q as [|q]; [destruct F|]; destruct (in_dec eqB y (map snd s)) as [I|N].
    + apply in_map_iff in I as ([x y'] & E & I); cbn in E; subst y'.
      assert (FW : forall m p, In p (rest eqB all (s ++ m)) -> inverse eqB p y = x).
      { intros m' p J; pose proof (pair_of p s m' x y J I) as E; apply in_rest in J as [J _]; rewrite <- E.
        apply (inverse_forward eqB all all_once p J); destruct P as (_ & _ & XS & _); exact (XS _ (in_map fst _ _ I)). }
      assert (E1 : expect eqB all s (fun p => ideal p (k (inverse eqB p y)) v) == expect eqB all s (fun p => ideal p (k x) v)).
      { apply average_ext; intros p J; rewrite (FW [] p); [reflexivity|now rewrite app_nil_r]. }
      rewrite E1; eapply Qle_trans; [apply (IH x q m s v (F x) W P)|]; apply Qplus_le_compat; [|apply limit_more; lia].
      apply average_le; intros w _; unfold worth; destruct (fine _); [|apply Qle_refl].
      apply average_le; intros p J; cbn [real]; rewrite (FW _ p J); apply Qle_refl.
    + destruct (seen_inverse eqB all all_once s y (fun p => ideal p (k (inverse eqB p y)) v) P (rest_some s P) Y N) as (E & _ & R).
      assert (INV : forall x m p, In p (rest eqB all ((x, y) :: m)) -> In x all -> inverse eqB p y = x).
      { intros x m' p K X; apply in_rest in K as [K K']; rewrite <- (K' x y (or_introl eq_refl)).
        now apply (inverse_forward eqB all all_once p K). }
      rewrite E; clear E; eapply Qle_trans.
      * apply (over_constant _ (fun x => average (worth (k x) ((x, y) :: s) v) (vectors (u + length v))) _
          (limit (length s + S q) (length v + m)) (limit_nonneg _ _)); intros x J; destruct (R x J) as [_ PX].
        assert (E1 : expect eqB all ((x, y) :: s) (fun p => ideal p (k (inverse eqB p y)) v) ==
          expect eqB all ((x, y) :: s) (fun p => ideal p (k x) v)).
        { apply average_ext; intros p K; rewrite (INV x s p K); [reflexivity|]; apply in_free in J; tauto. }
        rewrite E1; pose proof (IH x q m _ v (F x) W PX) as H; cbn [length] in H; rewrite Nat.add_succ_r; exact H.
      * apply Qplus_le_compat; [|apply Qle_refl]; rewrite average_swap; apply average_le; intros w J.
        unfold worth at 2; destruct (fine (s ++ made w v)) eqn:G.
        2:{ rewrite average_zero; [apply Qle_refl|]; intros x _; unfold worth; cbn [app]; rewrite fine_more, G, andb_false_r; reflexivity. }
        pose proof (fine_partial s v w P W J G) as PG; destruct (in_dec eqB y (map snd (s ++ made w v))) as [I|NI].
        -- rewrite average_zero; [apply average_nonneg; intros p _; unfold indicator; destruct (real _ _ _); discriminate|].
           intros x _; unfold worth; cbn [app]; rewrite fine_more; apply (mem_in eqB) in I; rewrite I; rewrite andb_false_r; reflexivity.
        -- apply (answered_back _ y); auto; [intro p; unfold indicator; destruct (real _ _ _); discriminate| | |].
           ++ rewrite map_app; apply free_less.
           ++ intros x I; unfold worth; cbn [app]; rewrite fine_more; apply (mem_in eqB) in I; rewrite I; reflexivity.
           ++ intros x X NX; unfold worth; cbn [app]; destruct (fine ((x, y) :: s ++ made w v)).
              ** apply average_le; intros p K; cbn [real]; rewrite (INV x _ p K X); apply Qle_refl.
              ** apply average_nonneg; intros p _; unfold indicator; destruct (real _ _ _); discriminate.
  - destruct F as [I F]; destruct (found (i, b, bs) v) as [o|] eqn:E.
    + pose proof (found_some _ _ _ E) as J; eapply Qle_trans; [apply (IH o q m s v F W P)|]; apply Qplus_le_compat; [|apply Qle_refl].
      apply average_le; intros w K; unfold worth; destruct (fine _); [|apply Qle_refl].
      apply average_le; intros p R; cbn [real]; rewrite (node_is p w v W) by
        (exact I || exact J || (intros x y M; apply in_rest in R as [_ R]; apply R, in_or_app; now right)).
      rewrite (found_state w i b bs v o W K E); apply Qle_refl.
    + apply found_none in E as N; destruct F as (LB & PB & F), m as [|m]; [destruct F|]; set (n := (i, b, bs)).
      assert (SV : forall o, In o outers -> sound ((n, o) :: v)) by (intros o U; cbn [sound n]; auto 7).
      unfold expect; rewrite average_swap; eapply Qle_trans.
      * apply (over_constant _ (fun o => average (worth (k o) s ((n, o) :: v)) (vectors (S (u + length v)))) _
          (limit (length s + q) (length v + S m)) (limit_nonneg _ _)); intros o U.
        pose proof (IH o q m s ((n, o) :: v) (F o U) (SV o U) P) as H; cbn [length] in H.
        rewrite Nat.add_succ_r in H; rewrite Nat.add_succ_r; exact H.
      * apply Qplus_le_compat; [|apply Qle_refl].
        rewrite (average_ext _ _ _ (fun o _ => vectors_more (u + length v) (worth (k o) s ((n, o) :: v)))).
        rewrite average_swap; apply average_le; intros w J; destruct (in_vectors _ w J) as [LW IW].
        set (x := into w v n).
        set (val y := if fine (s ++ (x, y) :: made w v)
          then expect eqB all (s ++ (x, y) :: made w v) (fun p => indicator (real p (firstn u w) (k (outer n y)))) else 0).
        assert (V : average (fun o => average (fun c => worth (k o) s ((n, o) :: v) (w ++ [c])) secrets) outers == average val all).
        { rewrite <- (join_all n); apply average_ext; intros o U; apply average_ext; intros c C; unfold worth, val.
          rewrite made_more by auto; fold x; rewrite outer_join by auto; destruct (fine _); [|reflexivity].
          rewrite firstn_app, LW, (proj2 (Nat.sub_0_le u (u + length v))), app_nil_r by lia; reflexivity. }
        rewrite V; clear V; unfold worth; destruct (fine (s ++ made w v)) eqn:G.
        2:{ rewrite average_zero; [apply Qle_refl|]; intros y _; unfold val; rewrite fine_swap, fine_more, G, andb_false_r; reflexivity. }
        pose proof (fine_partial s v w P W J G) as PG; destruct (in_dec eqB x (map fst (s ++ made w v))) as [M|NM].
        -- rewrite average_zero; [apply average_nonneg; intros p _; unfold indicator; destruct (real _ _ _); discriminate|].
           intros y _; unfold val; rewrite fine_swap, fine_more; apply (mem_in eqB) in M; rewrite M; reflexivity.
        -- apply (answered _ x); auto; [|intro p; unfold indicator; destruct (real _ _ _); discriminate| |].
           ++ unfold x, n, into; apply step_in; [|exact LB]; now apply state_is.
           ++ intros y M; unfold val; rewrite fine_swap, fine_more; apply (mem_in eqB) in M; rewrite M, andb_false_r; reflexivity.
           ++ intros y _ NY; unfold val; rewrite expect_swap; destruct (fine (s ++ (x, y) :: made w v)).
              ** apply average_le; intros p K; apply in_rest in K as [_ K]; cbn [real node].
                 rewrite (node_is p w v W) by (exact I || exact PB || (intros x1 y1 M; apply K; right; apply in_or_app; now right)).
                 change (step (state w v i bs) b) with x; rewrite (K x y (or_introl eq_refl)); apply Qle_refl.
              ** apply average_nonneg; intros p _; unfold indicator; destruct (real _ _ _); discriminate.
Qed.

(** *** Both directions *)

Fixpoint flip (t : tree) : tree :=
  match t with
  | Stop r => Stop (negb r)
  | Forward x k => Forward x (fun y => flip (k y))
  | Inverse y k => Inverse y (fun x => flip (k x))
  | Visit i b bs k => Visit i b bs (fun o => flip (k o))
  end.

Lemma flip_real p w t : real p w (flip t) = negb (real p w t).
Proof. induction t as [r|x k IH|y k IH|i b bs k IH]; cbn [flip real]; auto. Qed.

Lemma flip_fits t : forall q m v, fits t q m v -> fits (flip t) q m v.
Proof.
  induction t as [r|x k IH|y k IH|i b bs k IH]; intros q m v F; cbn [flip fits] in *; auto.
  - destruct F as [X F], q; auto.
  - destruct F as [X F], q; auto.
  - destruct F as [X F]; split; [exact X|]; destruct (found _ _); auto; destruct F as (LB & P & F), m; auto.
Qed.

Lemma flip_ideal p t : forall v, ideal p (flip t) v == 1 - ideal p t v.
Proof.
  induction t as [r|x k IH|y k IH|i b bs k IH]; intro v; cbn [flip ideal]; auto.
  - unfold indicator; destruct r; reflexivity.
  - destruct (found _ v) as [o|]; [apply IH|].
    rewrite (average_ext _ (fun o => 1 + (-1 # 1) * ideal p (k o) (((i, b, bs), o) :: v))) by (intros; rewrite IH; ring).
    rewrite average_plus, average_scale, average_const by exact some_outer; ring.
Qed.

Definition real_probability (t : tree) : Q :=
  average (fun w => average (fun p => indicator (real p w t)) (permutations eqB all)) (vectors u).
Definition ideal_probability (t : tree) : Q := average (fun p => ideal p t []) (permutations eqB all).

Lemma ideal_below t q m : fits t q m [] -> ideal_probability t <= real_probability t + limit q m.
Proof.
  intro F; assert (P : partial all []) by (repeat split; cbn; try constructor; intros b []).
  pose proof (worth_bound t q m [] [] F I P) as H; cbn [length] in H; rewrite Nat.add_0_r in H; unfold expect in H.
  rewrite rest_all in H; eapply Qle_trans; [exact H|]; apply Qplus_le_compat; [|apply Qle_refl].
  apply average_le; intros w J; destruct (in_vectors _ w J) as [LW _]; unfold worth; cbn [made app fine map once andb].
  unfold expect; rewrite rest_all, firstn_all2 by (cbn [length] in LW; lia); apply Qle_refl.
Qed.

Theorem keyed_bound t q m : fits t q m [] -> Qabs (real_probability t - ideal_probability t) <= limit q m.
Proof.
  intro F; pose proof (ideal_below t q m F) as H; pose proof (ideal_below _ q m (flip_fits t q m [] F)) as H'.
  assert (NP : permutations eqB all <> []) by now apply some_permutation.
  assert (R : real_probability (flip t) == 1 - real_probability t).
  { unfold real_probability; rewrite (average_ext _ (fun w => 1 + (-1 # 1) * average (fun p => indicator (real p w t)) (permutations eqB all))).
    - rewrite average_plus, average_scale, average_const by apply vectors_some; ring.
    - intros w _; rewrite (average_ext _ (fun p => 1 + (-1 # 1) * indicator (real p w t))).
      + rewrite average_plus, average_scale, average_const by exact NP; ring.
      + intros p _; rewrite flip_real; unfold indicator; destruct (real p w t); reflexivity. }
  assert (J : ideal_probability (flip t) == 1 - ideal_probability t).
  { unfold ideal_probability; rewrite (average_ext _ (fun p => 1 + (-1 # 1) * ideal p t [])) by (intros; rewrite flip_ideal; ring).
    rewrite average_plus, average_scale, average_const by exact NP; ring. }
  rewrite R, J in H'; apply Qabs_Qle_condition; split; lra.
Qed.
End Keyed.
