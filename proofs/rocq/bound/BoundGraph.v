(** * BoundGraph: collisions in the graph of a sponge

    A tree of queries to a random permutation and its inverse, whatever it is, leads to a history.  [good] says that no
    new output of a query from a rooted node has the inner part of a node that is rooted or has an outgoing edge, and that
    no inverse leads to a rooted node.  [graph_bound]: a history of at most n pairs is not good with a probability of at
    most the sum of ((i + 1) K + i L + hits) / (M - i) over i < n; [chains_unique]: in a good one each node has one path from the
    root.  This is the argument of Bertoni et al. 2008 (their sets R and O), without a simulator. *)

From Coq Require Import List Bool Arith Lia QArith Lqa.
From Veriplex Require Import BoundSampling.
Import ListNotations.

Section Graph.
Context {B C : Type}.
Variables (eqB : forall x y : B, {x = y} + {x <> y}) (eqC : forall x y : C, {x = y} + {x <> y}).
Variable all : list B.
Hypothesis all_once : NoDup all.
Variable inner : B -> C.
Variable c0 : C.
Variable K : nat.
Hypothesis few : forall c, (length (filter (fun b => if eqC (inner b) c then true else false) all) <= K)%nat.
(** Outputs that must not occur together, and for each output how many those are. *)
Variable clash : B -> B -> bool.
Variable L : nat.
Hypothesis clash_few : forall b, (length (filter (fun a => clash a b) all) <= L)%nat.

(** Outputs that must not occur from now on, and how many. *)
Variable hits : nat.

Inductive tree := Done | Forward (x : B) (k : B -> tree) | Inverse (y : B) (k : B -> tree) | Aim (hit : B -> bool) (k : tree).

Definition hits_few (hit : B -> bool) : Prop := (length (filter hit all) <= hits)%nat.

Fixpoint aims (t : tree) : Prop :=
  match t with
  | Done => True
  | Forward _ k | Inverse _ k => forall b, aims (k b)
  | Aim hit k => hits_few hit /\ aims k
  end.

(** The latest pair first; whether its input was rooted when it was asked, and its output no hit. *)
Definition history := list (bool * (B * B)).
Definition pairs (s : history) : list (B * B) := map snd s.
Definition xs_of (s : history) : list B := map fst (pairs s).
Definition ys_of (s : history) : list B := map snd (pairs s).
Definition outputs (s : history) : list B := ys_of (filter (fun e => fst e) s).

Definition rooted (s : history) : list C := c0 :: map inner (outputs s).
Definition taken (s : history) : list C :=
  c0 :: map (fun e : bool * (B * B) => if fst e then inner (snd (snd e)) else inner (fst (snd e))) s.
Definition has (c : C) (l : list C) : bool := if in_dec eqC c l then true else false.

Definition old (b : B) (l : list B) : bool := mem eqB b l || negb (mem eqB b all).

Fixpoint played (p : list (B * B)) (hit : B -> bool) (t : tree) (s : history) : history :=
  match t with
  | Done => s
  | Forward x k => let y := forward eqB p x in
      played p hit (k y) (if old x (xs_of s) then s else (has (inner x) (rooted s) && negb (hit y), (x, y)) :: s)
  | Inverse y k => let x := inverse eqB p y in
      played p hit (k x) (if old y (ys_of s) then s else (false, (x, y)) :: s)
  | Aim hit k => played p hit k s
  end.

Definition fits (e : bool * (B * B)) (s : history) : bool :=
  let '(m, (x, y)) := e in
  if m then has (inner x) (rooted s) && negb (has (inner y) (taken s)) && negb (existsb (clash y) (outputs s))
  else negb (has (inner x) (rooted s)).

Fixpoint good (s : history) : bool := match s with [] => true | e :: s => fits e s && good s end.

Definition term (i : nat) : Q := nat_q ((i + 1) * K + i * L + hits) / nat_q (length all - i).
Fixpoint bound (i n : nat) : Q := match n with O => 0 | S n => term i + bound (S i) n end.

(** ** The bound *)

Lemma has_in c l : has c l = true <-> In c l.
Proof. unfold has; destruct (in_dec eqC c l); split; auto; discriminate. Qed.
Lemma has_not c l : has c l = false <-> ~ In c l.
Proof. unfold has; destruct (in_dec eqC c l); split; auto; try discriminate; contradiction. Qed.

Lemma term_nonneg i : 0 <= term i.
Proof. unfold term, Qdiv; apply Qmult_le_0_compat; [apply nat_q_nonneg|apply Qinv_le_0_compat, nat_q_nonneg]. Qed.
Lemma bound_nonneg n : forall i, 0 <= bound i n.
Proof. induction n as [|n IH]; intro i; cbn [bound]; [apply Qle_refl|pose proof (term_nonneg i); pose proof (IH (S i)); lra]. Qed.
Lemma filter_none {A} (f : A -> bool) l : (forall a, f a = false) -> filter f l = [].
Proof. intro H; induction l as [|a l IH]; cbn [filter]; [reflexivity|now rewrite H]. Qed.
Lemma filter_or {A} (f g : A -> bool) l :
  (length (filter (fun a => f a || g a) l) <= length (filter f l) + length (filter g l))%nat.
Proof. induction l as [|a l IH]; cbn [filter]; [auto|]; destruct (f a), (g a); cbn [orb length]; lia. Qed.
Lemma filter_if {A} (f g : A -> bool) l : (forall a, f a = true -> g a = true) -> (length (filter f l) <= length (filter g l))%nat.
Proof.
  intro H; induction l as [|a l IH]; cbn [filter]; [auto|]; pose proof (H a).
  destruct (f a), (g a); cbn [length]; try lia; intuition discriminate.
Qed.
Lemma filter_twice {A} (f g : A -> bool) l : (length (filter f (filter g l)) <= length (filter f l))%nat.
Proof. induction l as [|a l IH]; cbn [filter]; [auto|]; destruct (g a); cbn [filter]; destruct (f a); cbn [length]; lia. Qed.

Lemma inner_few cs : (length (filter (fun b => has (inner b) cs) all) <= length cs * K)%nat.
Proof.
  induction cs as [|c cs IH].
  - rewrite filter_none; [cbn; lia|reflexivity].
  - pose proof (few c); cbn [length]; rewrite Nat.mul_succ_l.
    etransitivity; [apply (filter_if _ (fun b => (if eqC (inner b) c then true else false) || has (inner b) cs))|
      etransitivity; [apply filter_or|lia]].
    intros b I; apply has_in in I; apply orb_true_iff; destruct I as [E|I]; [left|right; now apply has_in].
    destruct (eqC (inner b) c); [reflexivity|congruence].
Qed.

Lemma clashes_few ys : (length (filter (fun b => existsb (clash b) ys) all) <= length ys * L)%nat.
Proof.
  induction ys as [|y ys IH].
  - rewrite filter_none; [cbn; lia|reflexivity].
  - pose proof (clash_few y); cbn [length existsb]; rewrite Nat.mul_succ_l.
    etransitivity; [apply filter_or|lia].
Qed.

Lemma outputs_length s : (length (outputs s) <= length s)%nat.
Proof. unfold outputs, ys_of, pairs; rewrite !map_length; induction s as [|[[|] e] s IH]; cbn [filter fst length]; lia. Qed.

Lemma misfits_few x s : has (inner x) (rooted s) = true ->
  (length (filter (fun y => negb (fits (true, (x, y)) s)) all) <= (length s + 1) * K + length s * L)%nat.
Proof.
  intro E; etransitivity; [apply (filter_if _ (fun y => has (inner y) (taken s) || existsb (clash y) (outputs s)))|].
  - intro b; cbn [fits]; rewrite E; cbn [andb]; rewrite negb_andb, !negb_involutive; auto.
  - etransitivity; [apply filter_or|]; pose proof (inner_few (taken s)) as F; pose proof (clashes_few (outputs s)) as G.
    pose proof (outputs_length s); assert (T : length (taken s) = S (length s)) by (cbn; now rewrite map_length).
    rewrite T in F; nia.
Qed.

Lemma average_step (hit : B -> bool) (g : B -> Q) l i n u :
  (length l = length all - i)%nat -> (0 < length l)%nat -> (length (filter hit l) <= n)%nat -> 0 <= u ->
  (forall b, In b l -> g b <= 1) -> (forall b, In b l -> hit b = false -> g b <= u) ->
  average g l <= nat_q n / nat_q (length all - i) + u.
Proof.
  intros E P N U ONE G; rewrite <- E; unfold average.
  assert (H : sum g l <= nat_q n + nat_q (length l) * u).
  { apply Qle_trans with (nat_q (length (filter hit l)) + nat_q (length l) * u);
      [|pose proof (nat_q_le _ _ N); lra].
    clear E P N; induction l as [|b l IH]; cbn [sum filter length]; [change (nat_q 0) with 0; lra|].
    assert (IH' := IH (fun b J => ONE b (or_intror J)) (fun b J => G b (or_intror J))).
    pose proof (ONE b (or_introl eq_refl)); pose proof (G b (or_introl eq_refl)) as GB; rewrite nat_q_S.
    destruct (hit b); cbn [length]; rewrite ?nat_q_S; [lra|]; specialize (GB eq_refl); lra. }
  setoid_replace (nat_q n / nat_q (length l) + u) with ((nat_q n + nat_q (length l) * u) / nat_q (length l))
    by (field; apply nat_q_not_0, P).
  apply over_le, H.
Qed.

Definition wrong (hit : B -> bool) (t : tree) (s : history) (p : list (B * B)) : Q := indicator (negb (good (played p hit t s))).

Lemma wrong_one hit t s p : wrong hit t s p <= 1.
Proof. unfold wrong, indicator; destruct (negb _); [apply Qle_refl|discriminate]. Qed.

Lemma expect_one s f : (forall p, f p <= 1) -> expect eqB all s f <= 1.
Proof. intro H; apply average_below; [discriminate|auto]. Qed.

Lemma played_longer p t : forall hit s, (length s <= length (played p hit t s))%nat.
Proof.
  induction t as [|x k IH|y k IH|hit' k IH]; intros hit s; cbn [played]; [auto|..];
    (etransitivity; [|apply IH]); try destruct (old _ _); cbn [length]; lia.
Qed.

Lemma old_forward s p x : In p (rest eqB all (pairs s)) -> mem eqB x (xs_of s) = true -> exists y, In (x, y) (pairs s) /\ forward eqB p x = y.
Proof.
  intros P I; apply mem_in in I; apply in_map_iff in I as ([a y] & <- & I); exists y; split; [exact I|].
  apply in_rest in P as [_ E]; now apply E.
Qed.

Definition all_within (hit : B -> bool) (t : tree) (s : history) (n : nat) : Prop :=
  forall p, In p (rest eqB all (pairs s)) -> (length (played p hit t s) <= length s + n)%nat.

Lemma expect_ext s f g : (forall p, In p (rest eqB all s) -> f p == g p) -> expect eqB all s f == expect eqB all s g.
Proof. apply average_ext. Qed.

Theorem graph_bound_from t : forall hit n s, hits_few hit -> aims t -> partial all (pairs s) -> rest eqB all (pairs s) <> [] ->
  good s = true -> all_within hit t s n -> (length s + n <= length all)%nat ->
  expect eqB all (pairs s) (wrong hit t s) <= bound (length s) n.
Proof.
  induction t as [|x k IH|y k IH|hit' k IH]; intros hit n s HF AI W R G A M; cbn [aims] in AI.
  - rewrite (expect_ext _ _ (fun _ => 0)); [|intros p _; unfold wrong; cbn [played]; rewrite G; reflexivity].
    unfold expect; rewrite average_const by exact R; apply bound_nonneg.
  - destruct (old x (xs_of s)) eqn:O.
    + (* nothing new *)
      assert (Y : exists y, forall p, In p (rest eqB all (pairs s)) -> forward eqB p x = y).
      { unfold old in O; apply orb_true_iff in O as [O|O].
        - destruct (rest eqB all (pairs s)) as [|q l] eqn:E; [now elim R|].
          destruct (old_forward s q x) as (y & I & _); [rewrite E; now left|exact O|]; exists y; intros p J.
          rewrite <- E in J; apply in_rest in J as [_ J]; now apply J.
        - exists x; intros p J; apply in_rest in J as [J _]; apply (forward_outside eqB all all_once p J).
          apply negb_true_iff, mem_not in O; exact O. }
      destruct Y as [y Y]; rewrite (expect_ext _ _ (wrong hit (k y) s)).
      * apply IH; auto; intros p J; specialize (A p J); cbn [played] in A; rewrite O, (Y p J) in A; exact A.
      * intros p J; unfold wrong; cbn [played]; rewrite O, (Y p J); reflexivity.
    + pose proof O as O'; unfold old in O'; apply orb_false_iff in O' as [OX OA]; apply mem_not in OX.
      apply negb_false_iff, mem_in in OA.
      destruct (seen_forward eqB all all_once (pairs s) x (wrong hit (Forward x k) s) W R OA OX) as (E & NF & EX).
      destruct n as [|n].
      { exfalso; destruct (rest eqB all (pairs s)) as [|p l] eqn:ER; [now elim R|].
        assert (I : In p (rest eqB all (pairs s))) by (rewrite ER; now left).
        specialize (A p I); cbn [played] in A; rewrite O in A.
        match type of A with (length (played _ _ _ ?s') <= _)%nat => pose proof (played_longer p (k (forward eqB p x)) hit s') as PL end.
        cbn [length] in PL; lia. }
      set (m y := has (inner x) (rooted s) && negb (hit y)).
      rewrite E; cbn [bound]; apply (average_step (fun y => negb (fits (m y, (x, y)) s))).
      * destruct W as (_ & NY & _ & IY); pose proof (free_length eqB all all_once _ NY IY) as F.
        unfold pairs in F; rewrite !map_length in F; unfold pairs; lia.
      * destruct (free eqB all (map snd (pairs s))); [now elim NF|cbn; lia].
      * etransitivity; [apply filter_twice|]; unfold m; destruct (has (inner x) (rooted s)) eqn:F; cbn [andb].
        -- etransitivity; [apply (filter_if _ (fun y => negb (fits (true, (x, y)) s) || hit y)); intro b; destruct (hit b);
             [intros _; apply orb_true_r|cbn [negb]; now rewrite orb_false_r]|].
           etransitivity; [apply filter_or|]; apply Nat.add_le_mono; [exact (misfits_few x s F)|exact HF].
        -- cbn [fits]; rewrite F; rewrite filter_none; [cbn; lia|reflexivity].
      * apply bound_nonneg.
      * intros b _; apply expect_one, wrong_one.
      * intros b F FI; apply negb_false_iff in FI; destruct (EX b F) as [R' W'].
        rewrite (expect_ext _ _ (wrong hit (k b) ((m b, (x, b)) :: s))).
        -- apply (IH b hit n ((m b, (x, b)) :: s)); auto; [cbn [good]; now rewrite FI, G| |cbn [length]; lia].
           intros p J; assert (J' : In p (rest eqB all (pairs s)))
             by (apply in_rest in J as [J1 J2]; apply in_rest; split; [exact J1|intros; apply J2; now right]).
           specialize (A p J'); cbn [played] in A; rewrite O in A; apply in_rest in J as [_ J].
           rewrite (J x b (or_introl eq_refl)) in A; cbn [length]; fold (m b) in A; lia.
        -- intros p J; unfold wrong; cbn [played]; apply in_rest in J as [_ J]; rewrite O, (J x b (or_introl eq_refl)).
           reflexivity.
  - destruct (old y (ys_of s)) eqn:O.
    + assert (X : exists x, forall p, In p (rest eqB all (pairs s)) -> inverse eqB p y = x).
      { unfold old in O; apply orb_true_iff in O as [O|O].
        - apply mem_in in O; apply in_map_iff in O as ([x b] & E & I); cbn in E; subst b; exists x; intros p J.
          apply in_rest in J as [J J']; pose proof (J' x y I) as F; destruct W as (_ & _ & IX & _).
          rewrite <- F; apply (inverse_forward eqB all all_once p J); exact (IX _ (in_map fst _ _ I)).
        - exists y; intros p J; apply in_rest in J as [J _]; unfold inverse.
          destruct (find _ p) as [[a b]|] eqn:E; auto; apply find_some in E as [I E]; cbn [snd] in E.
          destruct (eqB b y) as [->|]; [|discriminate]; apply negb_true_iff, mem_not in O; exfalso; apply O.
          exact (proj2 (pair_in eqB all all_once p J _ _ I)). }
      destruct X as [x X]; rewrite (expect_ext _ _ (wrong hit (k x) s)).
      * apply IH; auto; intros p J; specialize (A p J); cbn [played] in A; rewrite O, (X p J) in A; exact A.
      * intros p J; unfold wrong; cbn [played]; rewrite O, (X p J); reflexivity.
    + pose proof O as O'; unfold old in O'; apply orb_false_iff in O' as [OY OA]; apply mem_not in OY.
      apply negb_false_iff, mem_in in OA.
      destruct (seen_inverse eqB all all_once (pairs s) y (wrong hit (Inverse y k) s) W R OA OY) as (E & NF & EX).
      destruct n as [|n].
      { exfalso; destruct (rest eqB all (pairs s)) as [|p l] eqn:ER; [now elim R|].
        assert (I : In p (rest eqB all (pairs s))) by (rewrite ER; now left).
        specialize (A p I); cbn [played] in A; rewrite O in A.
        match type of A with (length (played _ _ _ ?s') <= _)%nat => pose proof (played_longer p (k (inverse eqB p y)) hit s') as PL end.
        cbn [length] in PL; lia. }
      rewrite E; cbn [bound]; apply (average_step (fun x => negb (fits (false, (x, y)) s))).
      * destruct W as (NX & _ & IX & _); pose proof (free_length eqB all all_once _ NX IX) as F.
        unfold pairs in F; rewrite !map_length in F; unfold pairs; lia.
      * destruct (free eqB all (map fst (pairs s))); [now elim NF|cbn; lia].
      * etransitivity; [apply filter_twice|]; cbn [fits].
        etransitivity; [apply (filter_if _ (fun b => has (inner b) (rooted s))); intro b; now rewrite negb_involutive|].
        pose proof (inner_few (rooted s)) as F; unfold rooted in F at 2; cbn [length] in F; rewrite map_length in F.
        pose proof (outputs_length s); nia.
      * apply bound_nonneg.
      * intros b _; apply expect_one, wrong_one.
      * intros b F FI; apply negb_false_iff in FI; destruct (EX b F) as [R' W'].
        assert (IN : forall p, In p (rest eqB all ((b, y) :: pairs s)) -> inverse eqB p y = b).
        { intros p J; apply in_rest in J as [J1 J2]; rewrite <- (J2 b y (or_introl eq_refl)).
          apply (inverse_forward eqB all all_once p J1); apply in_free in F; tauto. }
        rewrite (expect_ext _ _ (wrong hit (k b) ((false, (b, y)) :: s))).
        -- apply (IH b hit n ((false, (b, y)) :: s)); auto; [cbn [good]; now rewrite FI, G| |cbn [length]; lia].
           intros p J; assert (J' : In p (rest eqB all (pairs s)))
             by (apply in_rest in J as [J1 J2]; apply in_rest; split; [exact J1|intros; apply J2; now right]).
           specialize (A p J'); cbn [played] in A; rewrite O, (IN p J) in A; cbn [length]; lia.
        -- intros p J; unfold wrong; cbn [played]; rewrite O, (IN p J); reflexivity.
  - destruct AI as [HF' AI]; exact (IH hit' n s HF' AI W R G A M).
Qed.

(** The sum, in closed form. *)
Lemma bound_closed n : forall i, (i + n < length all)%nat ->
  bound i n <= nat_q (n * (2 * i + n + 1) * K + n * (2 * i + n) * L + 2 * n * hits) / nat_q (2 * (length all - (i + n))).
Proof.
  induction n as [|n IH]; intros i LT; cbn [bound].
  - apply Qle_shift_div_l; [apply nat_q_pos; lia|]; rewrite Qmult_0_l; apply nat_q_nonneg.
  - specialize (IH (S i) ltac:(lia)); replace (S i + n)%nat with (i + S n)%nat in IH by lia.
    set (d := (length all - (i + S n))%nat) in *; assert (D : (0 < d)%nat) by (unfold d; lia).
    assert (T : term i <= nat_q (2 * ((i + 1) * K + i * L + hits)) / nat_q (2 * d)).
    { unfold term; rewrite nat_q_mult, (nat_q_mult 2 d).
      setoid_replace (nat_q 2 * nat_q ((i + 1) * K + i * L + hits) / (nat_q 2 * nat_q d)) with (nat_q ((i + 1) * K + i * L + hits) / nat_q d)
        by (field; split; apply nat_q_not_0; lia).
      apply Qle_shift_div_l; [now apply nat_q_pos|]; unfold Qdiv; rewrite <- Qmult_assoc.
      rewrite <- (Qmult_1_r (nat_q ((i + 1) * K + i * L + hits))) at 2; rewrite !(Qmult_comm (nat_q (_ + _))).
      apply Qmult_le_compat_r; [|apply nat_q_nonneg]; rewrite Qmult_comm.
      apply Qle_shift_div_r; [apply nat_q_pos; lia|]; rewrite Qmult_1_l; apply nat_q_le; unfold d; lia. }
    apply Qle_trans with (nat_q (2 * ((i + 1) * K + i * L + hits)) / nat_q (2 * d) +
      nat_q (n * (2 * S i + n + 1) * K + n * (2 * S i + n) * L + 2 * n * hits) / nat_q (2 * d)); [lra|].
    unfold Qdiv; rewrite <- Qmult_plus_distr_l, <- nat_q_plus; apply over_le, nat_q_le; nia.
Qed.

Theorem graph_bound hit t n : hits_few hit -> aims t -> all_within hit t [] n -> (n < length all)%nat ->
  average (wrong hit t []) (permutations eqB all) <=
    nat_q (n * (n + 1) * K + n * n * L + 2 * n * hits) / nat_q (2 * (length all - n)).
Proof.
  intros HF AI A LT; rewrite <- rest_all; eapply Qle_trans; [apply (graph_bound_from t hit n [])|]; auto; [| |cbn [length]; lia|].
  - repeat split; cbn; try constructor; intros b [].
  - cbn [pairs map]; rewrite rest_all; now apply some_permutation.
  - eapply Qle_trans; [apply bound_closed; cbn; lia|]; cbn [length].
    rewrite Nat.mul_0_r, !Nat.add_0_l; apply Qle_refl.
Qed.

(** ** What a good history is *)

Lemma good_tail e s : good (e :: s) = true -> fits e s = true /\ good s = true.
Proof. cbn [good]; apply andb_true_iff. Qed.

Lemma fits_true x y s : fits (true, (x, y)) s = true ->
  In (inner x) (rooted s) /\ ~ In (inner y) (taken s) /\ existsb (clash y) (outputs s) = false.
Proof.
  cbn [fits]; intro H; apply andb_true_iff in H as [H E]; apply andb_true_iff in H as [H F].
  rewrite negb_true_iff in E, F; apply has_in in H; apply has_not in F; auto.
Qed.

Lemma rooted_more e s c : In c (rooted s) -> In c (rooted (e :: s)).
Proof. destruct e as [[|] [x y]]; unfold rooted, outputs; cbn; intuition. Qed.

Lemma output_of s x y : In (true, (x, y)) s -> In y (outputs s).
Proof.
  intro J; unfold outputs, ys_of, pairs; rewrite map_map; apply in_map_iff.
  exists (true, (x, y)); now rewrite filter_In.
Qed.

Lemma taken_input s x y : In (false, (x, y)) s -> In (inner x) (taken s).
Proof. intro J; right; apply in_map_iff; now exists (false, (x, y)). Qed.
Lemma taken_output s x y : In (true, (x, y)) s -> In (inner y) (taken s).
Proof. intro J; right; apply in_map_iff; now exists (true, (x, y)). Qed.

Lemma unrooted s x y : good s = true -> In (false, (x, y)) s -> ~ In (inner x) (rooted s).
Proof.
  induction s as [|e s IH]; intros G J; [destruct J|]; apply good_tail in G as [F G].
  destruct J as [->|J].
  - cbn [fits] in F; apply negb_true_iff, has_not in F; exact F.
  - specialize (IH G J); destruct e as [[|] [a b]]; [|exact IH].
    apply fits_true in F as (_ & F & _); intro I; unfold rooted, outputs in *; cbn in I.
    destruct I as [I|[I|I]]; [apply IH; now left| |apply IH; now right].
    apply F; rewrite I; exact (taken_input s x y J).
Qed.

Lemma no_start s x y : good s = true -> In (true, (x, y)) s -> inner y <> c0.
Proof.
  induction s as [|e s IH]; intros G J; [destruct J|]; apply good_tail in G as [F G].
  destruct J as [->|J]; [|auto]; apply fits_true in F as (_ & F & _); intro E; apply F; now left.
Qed.

Lemma apart s x y x' y' : good s = true -> (forall a b, clash a b = clash b a) ->
  In (true, (x, y)) s -> In (true, (x', y')) s -> inner y = inner y' \/ clash y y' = true -> (x, y) = (x', y').
Proof.
  intros G S; induction s as [|e s IH]; intros J J' X; [destruct J|]; apply good_tail in G as [F G].
  assert (H : forall x y x' y', In (true, (x', y')) s -> fits (true, (x, y)) s = true ->
    inner y = inner y' \/ clash y y' = true -> False).
  { clear; intros x y x' y' J F X; apply fits_true in F as (_ & F & E); destruct X as [X|X].
    - apply F; rewrite X; exact (taken_output s x' y' J).
    - assert (T : existsb (clash y) (outputs s) = true) by (apply existsb_exists; exists y'; split; [exact (output_of s x' y' J)|exact X]).
      congruence. }
  destruct J as [->|J], J' as [E|J'].
  - congruence.
  - destruct (H x y x' y' J' F X).
  - subst e; destruct (H x' y' x y J F); rewrite S; destruct X; auto.
  - auto.
Qed.

(** Inputs from the start on: each has the inner part of the output before it.  The last one first. *)
Inductive chain (s : history) : B -> list B -> Prop :=
  | chain_start x : inner x = c0 -> chain s x []
  | chain_next x a b r : In (a, b) (pairs s) -> inner x = inner b -> chain s a r -> chain s x (a :: r).

Lemma chain_rooted s x r : good s = true -> chain s x r -> In (inner x) (rooted s).
Proof.
  intros G H; induction H as [x E|x a b r J E H IH]; [rewrite E; now left|].
  apply in_map_iff in J as ([[|] e] & X & J); cbn in X; subst e.
  - rewrite E; right; apply in_map; exact (output_of s a b J).
  - now destruct (unrooted s a b G J).
Qed.

Lemma chain_true s x r y : good s = true -> chain s x r -> In (x, y) (pairs s) -> In (true, (x, y)) s.
Proof.
  intros G H J; apply in_map_iff in J as ([[|] e] & X & J); cbn in X; subst e; [exact J|].
  now destruct (unrooted s x y G J (chain_rooted s x r G H)).
Qed.

(** Two chains with one last input are the same. *)
Theorem chains_unique s x r : good s = true -> (forall a b, clash a b = clash b a) ->
  chain s x r -> forall r', chain s x r' -> r = r'.
Proof.
  intros G S H; induction H as [x E|x a b r J E H IH]; intros r' H'; inversion H' as [x1 E1|x1 a' b' r1 J' E' H1]; subst.
  - reflexivity.
  - apply (chain_true s a' r1 b' G H1) in J'; apply (no_start s a' b' G) in J'; congruence.
  - apply (chain_true s a r b G H) in J; apply (no_start s a b G) in J; congruence.
  - apply (chain_true s a r b G H) in J; apply (chain_true s a' r1 b' G H1) in J'.
    assert (X : (a, b) = (a', b')) by (apply (apart s a b a' b' G S J J'); left; congruence).
    injection X as -> ->; f_equal; now apply IH.
Qed.

(** Outputs at the ends of two chains do not clash. *)
Theorem ends_apart s x y r x' y' r' : good s = true -> (forall a b, clash a b = clash b a) ->
  chain s x r -> chain s x' r' -> In (x, y) (pairs s) -> In (x', y') (pairs s) -> clash y y' = true -> x = x'.
Proof.
  intros G S H H' J J' X; apply (chain_true s x r y G H) in J; apply (chain_true s x' r' y' G H') in J'.
  assert (E : (x, y) = (x', y')) by (apply (apart s x y x' y' G S J J'); now right); congruence.
Qed.
End Graph.
