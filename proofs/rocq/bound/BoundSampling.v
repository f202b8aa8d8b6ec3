(** * BoundSampling: averages, and a random permutation of a finite set

    A probability is an average, as an exact rational, over a finite list.  A random permutation is one of [permutations],
    the list of all; an adversary that knows some of its pairs, [s], is left with those that extend [s].
    [seen_forward] and [seen_inverse]: the answer to a new query is then uniform among the values that are free. *)

From Coq Require Import List Bool Arith Lia QArith Lqa Permutation.
Import ListNotations.

Definition nat_q (n : nat) : Q := inject_Z (Z.of_nat n).

Fixpoint sum {A} (f : A -> Q) (l : list A) : Q := match l with [] => 0 | a :: l => f a + sum f l end.

Definition average {A} (f : A -> Q) (l : list A) : Q := sum f l / nat_q (length l).

(** One if it happens. *)
Definition indicator (b : bool) : Q := if b then 1 else 0.

(** ** Sums *)

Lemma nat_q_nonneg n : 0 <= nat_q n.
Proof. unfold nat_q; change 0 with (inject_Z 0); rewrite <- Zle_Qle; lia. Qed.
Lemma nat_q_pos n : (0 < n)%nat -> 0 < nat_q n.
Proof. intro H; unfold nat_q; change 0 with (inject_Z 0); rewrite <- Zlt_Qlt; lia. Qed.
Lemma nat_q_le m n : (m <= n)%nat -> nat_q m <= nat_q n.
Proof. intro H; unfold nat_q; rewrite <- Zle_Qle; lia. Qed.
Lemma nat_q_S n : nat_q (S n) == 1 + nat_q n.
Proof. unfold nat_q; rewrite Nat2Z.inj_succ, <- Z.add_1_l, inject_Z_plus; reflexivity. Qed.
Lemma nat_q_plus m n : nat_q (m + n) == nat_q m + nat_q n.
Proof. unfold nat_q; rewrite Nat2Z.inj_add, inject_Z_plus; reflexivity. Qed.
Lemma nat_q_mult m n : nat_q (m * n) == nat_q m * nat_q n.
Proof. unfold nat_q; rewrite Nat2Z.inj_mul, inject_Z_mult; reflexivity. Qed.
Lemma nat_q_not_0 n : (0 < n)%nat -> ~ nat_q n == 0.
Proof. intros H Z; pose proof (nat_q_pos n H) as P; rewrite Z in P; now apply Qlt_irrefl in P. Qed.

Section Sums.
Context {A : Type}.
Implicit Types (f g : A -> Q) (l : list A).

Lemma sum_ext f g l : (forall a, In a l -> f a == g a) -> sum f l == sum g l.
Proof. induction l as [|a l IH]; intro H; cbn [sum]; [reflexivity|rewrite (H a), IH; [reflexivity|intros; apply H; now right|now left]]. Qed.
Lemma sum_le f g l : (forall a, In a l -> f a <= g a) -> sum f l <= sum g l.
Proof. induction l as [|a l IH]; intro H; cbn [sum]; [apply Qle_refl|apply Qplus_le_compat; [apply H; now left|apply IH; intros; apply H; now right]]. Qed.
Lemma sum_plus f g l : sum (fun a => f a + g a) l == sum f l + sum g l.
Proof. induction l as [|a l IH]; cbn [sum]; [reflexivity|rewrite IH; ring]. Qed.
Lemma sum_scale c f l : sum (fun a => c * f a) l == c * sum f l.
Proof. induction l as [|a l IH]; cbn [sum]; [ring|rewrite IH; ring]. Qed.
Lemma sum_const c l : sum (fun _ : A => c) l == nat_q (length l) * c.
Proof. induction l as [|a l IH]; cbn [sum length]; [unfold nat_q; cbn; ring|rewrite IH, nat_q_S; ring]. Qed.
Lemma sum_app f l m : sum f (l ++ m) == sum f l + sum f m.
Proof. induction l as [|a l IH]; cbn [sum app]; [ring|rewrite IH; ring]. Qed.
Lemma sum_nonneg f l : (forall a, In a l -> 0 <= f a) -> 0 <= sum f l.
Proof.
  intro H; apply Qle_trans with (sum (fun _ : A => 0) l); [rewrite sum_const; ring_simplify; apply Qle_refl|apply sum_le, H].
Qed.
Lemma sum_filter f (p : A -> bool) l : sum f (filter p l) == sum (fun a => indicator (p a) * f a) l.
Proof. unfold indicator; induction l as [|a l IH]; cbn [sum filter]; [reflexivity|destruct (p a); cbn [sum]; rewrite IH; ring]. Qed.
Lemma sum_indicator (p : A -> bool) l : sum (fun a => indicator (p a)) l == nat_q (length (filter p l)).
Proof.
  unfold indicator; induction l as [|a l IH]; cbn [sum filter]; [reflexivity|].
  destruct (p a); cbn [length]; rewrite ?nat_q_S, IH; ring.
Qed.

Lemma average_ext f g l : (forall a, In a l -> f a == g a) -> average f l == average g l.
Proof. intro H; unfold average; rewrite (sum_ext f g l H); reflexivity. Qed.
Lemma over_le p q n : p <= q -> p / nat_q n <= q / nat_q n.
Proof.
  intro H; destruct n as [|n]; [change (nat_q 0) with 0; unfold Qdiv; change (/ 0) with 0; rewrite !Qmult_0_r; apply Qle_refl|].
  unfold Qdiv; apply Qmult_le_compat_r; [exact H|]; apply Qinv_le_0_compat, nat_q_nonneg.
Qed.
Lemma average_le f g l : (forall a, In a l -> f a <= g a) -> average f l <= average g l.
Proof. intro H; apply over_le, sum_le, H. Qed.
Lemma average_const c l : l <> [] -> average (fun _ : A => c) l == c.
Proof. intro H; unfold average; rewrite sum_const; destruct l; [now elim H|]; field; apply nat_q_not_0; cbn; lia. Qed.
Lemma average_below f c l : 0 <= c -> (forall a, In a l -> f a <= c) -> average f l <= c.
Proof.
  intros P H; destruct l as [|a l]; [exact P|].
  rewrite <- (average_const c (a :: l)) by discriminate; apply average_le, H.
Qed.
Lemma average_nonneg f l : (forall a, In a l -> 0 <= f a) -> 0 <= average f l.
Proof. intro H; unfold average, Qdiv; apply Qmult_le_0_compat; [apply sum_nonneg, H|apply Qinv_le_0_compat, nat_q_nonneg]. Qed.
Lemma average_plus f g l : average (fun a => f a + g a) l == average f l + average g l.
Proof. unfold average; rewrite sum_plus; unfold Qdiv; ring. Qed.
Lemma average_scale c f l : average (fun a => c * f a) l == c * average f l.
Proof. unfold average; rewrite sum_scale; unfold Qdiv; ring. Qed.
End Sums.

Lemma sum_map {A B} (h : A -> B) f l : sum f (map h l) == sum (fun a => f (h a)) l.
Proof. induction l as [|a l IH]; cbn [sum map]; [reflexivity|rewrite IH; reflexivity]. Qed.
Lemma sum_swap {A B} (f : A -> B -> Q) l m :
  sum (fun a => sum (f a) m) l == sum (fun b => sum (fun a => f a b) l) m.
Proof.
  induction l as [|a l IH]; cbn [sum].
  - rewrite sum_const; ring.
  - rewrite IH, <- sum_plus; apply sum_ext; intros; reflexivity.
Qed.
Lemma average_map {A B} (h : A -> B) f l : average f (map h l) == average (fun a => f (h a)) l.
Proof. unfold average; rewrite sum_map, map_length; reflexivity. Qed.
Lemma average_swap {A B} (f : A -> B -> Q) l m :
  average (fun a => average (f a) m) l == average (fun b => average (fun a => f a b) l) m.
Proof.
  unfold average.
  rewrite (sum_ext (fun a => sum (f a) m / nat_q (length m)) (fun a => / nat_q (length m) * sum (f a) m))
    by (intros; unfold Qdiv; ring).
  rewrite (sum_ext (fun b => sum (fun a => f a b) l / nat_q (length l)) (fun b => / nat_q (length l) * sum (fun a => f a b) l))
    by (intros; unfold Qdiv; ring).
  rewrite !sum_scale, sum_swap; unfold Qdiv; ring.
Qed.
Lemma sum_product {A B} (f : A * B -> Q) l m : sum f (list_prod l m) == sum (fun a => sum (fun b => f (a, b)) m) l.
Proof. induction l as [|a l IH]; cbn [list_prod sum]; [reflexivity|rewrite sum_app, sum_map, IH; reflexivity]. Qed.
Lemma average_product {A B} (f : A * B -> Q) l m :
  average f (list_prod l m) == average (fun a => average (fun b => f (a, b)) m) l.
Proof.
  unfold average; rewrite sum_product, prod_length, nat_q_mult.
  rewrite (sum_ext (fun a => sum (fun b => f (a, b)) m / nat_q (length m))
    (fun a => / nat_q (length m) * sum (fun b => f (a, b)) m)) by (intros; unfold Qdiv; ring).
  rewrite sum_scale; unfold Qdiv; rewrite Qinv_mult_distr; ring.
Qed.

(** ** The list of all permutations *)

Section Permutations.
Context {B : Type}.
Variable eqB : forall x y : B, {x = y} + {x <> y}.
Variable all : list B.

(** A permutation as the list of its pairs: all orders of the images. *)
Definition graph := list (B * B).

Fixpoint orders (n : nat) (l : list B) : list (list B) :=
  match n with O => [[]] | S n => flat_map (fun b => map (cons b) (orders n (remove eqB b l))) l end.

Definition permutations : list graph := map (combine all) (orders (length all) all).

(** Strings outside the set stay as they are. *)
Definition forward (p : graph) (x : B) : B :=
  match find (fun e => if eqB (fst e) x then true else false) p with Some e => snd e | None => x end.
Definition inverse (p : graph) (y : B) : B :=
  match find (fun e => if eqB (snd e) y then true else false) p with Some e => fst e | None => y end.

Definition mem (b : B) (l : list B) : bool := if in_dec eqB b l then true else false.
Definition free (used : list B) : list B := filter (fun b => negb (mem b used)) all.

Definition extends (s p : graph) : bool := forallb (fun e => if eqB (forward p (fst e)) (snd e) then true else false) s.
Definition rest (s : graph) : list graph := filter (extends s) permutations.
Definition expect (s : graph) (f : graph -> Q) : Q := average f (rest s).

Hypothesis all_once : NoDup all.

Lemma mem_in b l : mem b l = true <-> In b l.
Proof. unfold mem; destruct (in_dec eqB b l); split; auto; discriminate. Qed.
Lemma mem_not b l : mem b l = false <-> ~ In b l.
Proof. unfold mem; destruct (in_dec eqB b l); split; auto; try discriminate; contradiction. Qed.

Lemma in_free b used : In b (free used) <-> In b all /\ ~ In b used.
Proof. unfold free; rewrite filter_In, negb_true_iff, mem_not; reflexivity. Qed.

Lemma free_once used : NoDup (free used).
Proof. apply NoDup_filter, all_once. Qed.

Lemma NoDup_join {A} (l m : list A) : NoDup l -> NoDup m -> (forall a, In a l -> ~ In a m) -> NoDup (l ++ m).
Proof.
  intros N M D; induction N as [|a l I N IH]; [exact M|]; cbn [app]; constructor.
  - rewrite in_app_iff; intros [J|J]; [now apply I|now apply (D a (or_introl eq_refl))].
  - apply IH; intros b J; apply D; now right.
Qed.

Lemma free_length used : NoDup used -> incl used all -> (length (free used) + length used = length all)%nat.
Proof.
  intros N I; rewrite Nat.add_comm, <- app_length; apply Permutation_length, NoDup_Permutation; [|exact all_once|].
  - apply NoDup_join; [exact N|apply free_once|]; intros b J F; apply in_free in F; tauto.
  - intro b; rewrite in_app_iff, in_free; destruct (in_dec eqB b used); split; intuition.
Qed.

Lemma NoDup_flat_map {A C} (f : A -> list C) l : NoDup l -> (forall a, NoDup (f a)) ->
  (forall a b c, In c (f a) -> In c (f b) -> a = b) -> NoDup (flat_map f l).
Proof.
  intros N F D; induction N as [|a l I N IH]; cbn [flat_map]; [constructor|].
  apply NoDup_join; auto; intros c J K; apply in_flat_map in K as (b & L & K).
  now rewrite (D a b c J K) in I.
Qed.

Lemma remove_permutation b l : NoDup l -> In b l -> Permutation (b :: remove eqB b l) l.
Proof.
  intros N I; apply NoDup_Permutation; [|exact N|].
  - constructor; [apply remove_In|]; clear I; induction N as [|a l J N IH]; cbn [remove]; [constructor|].
    destruct (eqB b a); [exact IH|constructor; [|exact IH]]; intro K; now apply in_remove in K as [K _].
  - intro c; cbn [In]; split; [intros [<-|J]; [exact I|now apply in_remove in J]|].
    intro J; destruct (eqB b c); [now left|right; apply in_in_remove; auto].
Qed.

Lemma orders_spec n : forall l m, NoDup l -> length l = n -> In m (orders n l) <-> Permutation m l.
Proof.
  induction n as [|n IH]; intros l m N L; cbn [orders].
  - destruct l; [|discriminate]; split; [intros [<-|[]]; constructor|]; intro P.
    apply Permutation_sym, Permutation_nil in P as ->; now left.
  - assert (R : forall b, In b l -> NoDup (remove eqB b l) /\ length (remove eqB b l) = n).
    { intros b I; pose proof (remove_permutation b l N I) as P; split.
      - apply Permutation_sym in P; apply (Permutation_NoDup P) in N; now inversion N.
      - apply Permutation_length in P; cbn in P; lia. }
    rewrite in_flat_map; split.
    + intros (b & I & J); apply in_map_iff in J as (r & <- & J); destruct (R b I) as [RN RL].
      apply (IH _ _ RN RL) in J; rewrite J; now apply remove_permutation.
    + intro P; destruct m as [|b m]; [apply Permutation_length in P; cbn in P; lia|].
      assert (I : In b l) by (apply (Permutation_in b P); now left).
      exists b; split; [exact I|]; apply in_map; destruct (R b I) as [RN RL]; apply (IH _ _ RN RL).
      apply (Permutation_cons_inv (a := b)); rewrite P; apply Permutation_sym, remove_permutation; auto.
Qed.

Lemma orders_once n : forall l, NoDup l -> NoDup (orders n l).
Proof.
  induction n as [|n IH]; intros l N; cbn [orders]; [repeat constructor; auto|].
  assert (Q : forall b, NoDup (remove eqB b l)).
  { intro b; clear IH; induction N as [|a l J N IH]; cbn [remove]; [constructor|].
    destruct (eqB b a); [exact IH|constructor; [|exact IH]]; intro K; now apply in_remove in K as [K _]. }
  apply NoDup_flat_map; [exact N| |].
  - intro b; apply FinFun.Injective_map_NoDup; [intros x y E; congruence|apply IH, Q].
  - intros a b c I J; apply in_map_iff in I as (x & <- & _); apply in_map_iff in J as (y & E & _); congruence.
Qed.

(** *** Each is a permutation *)

Lemma in_permutations p : In p permutations <-> exists m, p = combine all m /\ Permutation m all.
Proof.
  unfold permutations; rewrite in_map_iff; split; intros (m & E & P); exists m; split; auto;
    now apply (orders_spec _ _ _ all_once eq_refl).
Qed.

Lemma firsts p : In p permutations -> map fst p = all.
Proof.
  intros (m & -> & P)%in_permutations; apply Permutation_length in P; symmetry in P; revert m P.
  clear; induction all as [|a l IH]; intros [|b m] L; try discriminate; auto; cbn; f_equal; apply IH; now injection L.
Qed.
Lemma seconds p : In p permutations -> Permutation (map snd p) all.
Proof.
  intros (m & -> & P)%in_permutations; replace (map snd (combine all m)) with m; [exact P|].
  apply Permutation_length in P; symmetry in P; revert m P.
  clear; induction all as [|a l IH]; intros [|b m] L; try discriminate; auto; cbn; f_equal; apply IH; now injection L.
Qed.

Lemma pair_of_first (p : graph) x y y' : NoDup (map fst p) -> In (x, y) p -> In (x, y') p -> y = y'.
Proof.
  induction p as [|[a b] p IH]; intros N I J; [destruct I|]; inversion N as [|? ? U V]; subst.
  destruct I as [I|I], J as [J|J]; try congruence; auto; exfalso; apply U;
    [injection I as -> ->; exact (in_map fst _ _ J)|injection J as -> ->; exact (in_map fst _ _ I)].
Qed.
Lemma pair_of_second (p : graph) x x' y : NoDup (map snd p) -> In (x, y) p -> In (x', y) p -> x = x'.
Proof.
  induction p as [|[a b] p IH]; intros N I J; [destruct I|]; inversion N as [|? ? U V]; subst.
  destruct I as [I|I], J as [J|J]; try congruence; auto; exfalso; apply U;
    [injection I as -> ->; exact (in_map snd _ _ J)|injection J as -> ->; exact (in_map snd _ _ I)].
Qed.

Section One.
Variable p : graph.
Hypothesis P : In p permutations.

Lemma firsts_once : NoDup (map fst p).
Proof. now rewrite (firsts p P). Qed.
Lemma seconds_once : NoDup (map snd p).
Proof. exact (Permutation_NoDup (Permutation_sym (seconds p P)) all_once). Qed.

Lemma forward_pair x y : In x all -> forward p x = y <-> In (x, y) p.
Proof.
  intro I; assert (F : In (x, forward p x) p).
  { unfold forward; destruct (find _ p) as [[a b]|] eqn:E.
    - apply find_some in E as [J E]; cbn [fst snd] in *; destruct (eqB a x); [subst; exact J|discriminate].
    - exfalso; rewrite <- (firsts p P) in I; apply in_map_iff in I as ([a b] & <- & J).
      apply (find_none _ _ E) in J; cbn [fst] in J; destruct (eqB a a); congruence. }
  split; [now intros <-|]; intro J; exact (pair_of_first p x _ _ firsts_once F J).
Qed.
Lemma inverse_pair x y : In y all -> inverse p y = x <-> In (x, y) p.
Proof.
  intro I; assert (F : In (inverse p y, y) p).
  { unfold inverse; destruct (find _ p) as [[a b]|] eqn:E.
    - apply find_some in E as [J E]; cbn [fst snd] in *; destruct (eqB b y); [subst; exact J|discriminate].
    - exfalso; rewrite <- (Permutation_in' eq_refl (seconds p P)) in I; apply in_map_iff in I as ([a b] & <- & J).
      apply (find_none _ _ E) in J; cbn [snd] in J; destruct (eqB b b); congruence. }
  split; [now intros <-|]; intro J; exact (pair_of_second p _ _ y seconds_once F J).
Qed.
Lemma pair_in x y : In (x, y) p -> In x all /\ In y all.
Proof.
  intro I; split; [rewrite <- (firsts p P); exact (in_map fst _ _ I)|].
  apply (Permutation_in _ (seconds p P)); exact (in_map snd _ _ I).
Qed.
Lemma forward_in x : In x all -> In (forward p x) all.
Proof. intro I; apply (pair_in x), forward_pair; auto. Qed.
Lemma inverse_in y : In y all -> In (inverse p y) all.
Proof. intro I; apply (pair_in _ y), inverse_pair; auto. Qed.
Lemma forward_inverse y : In y all -> forward p (inverse p y) = y.
Proof. intro I; apply forward_pair; [now apply inverse_in|]; now apply inverse_pair. Qed.
Lemma inverse_forward x : In x all -> inverse p (forward p x) = x.
Proof. intro I; apply inverse_pair; [now apply forward_in|]; now apply forward_pair. Qed.
Lemma forward_outside x : ~ In x all -> forward p x = x.
Proof.
  intro N; unfold forward; destruct (find _ p) as [[a b]|] eqn:E; auto.
  apply find_some in E as [J E]; cbn [fst] in E; destruct (eqB a x) as [->|]; [|discriminate].
  now apply pair_in in J as [J _].
Qed.
End One.

Lemma extends_spec s p : extends s p = true <-> forall x y, In (x, y) s -> forward p x = y.
Proof.
  unfold extends; rewrite forallb_forall; split; intros H.
  - intros x y I; apply H in I; cbn [fst snd] in I; destruct (eqB (forward p x) y); [assumption|discriminate].
  - intros [x y] I; cbn [fst snd]; rewrite (H x y I); destruct (eqB y y); congruence.
Qed.

Lemma in_rest s p : In p (rest s) <-> In p permutations /\ forall x y, In (x, y) s -> forward p x = y.
Proof. unfold rest; rewrite filter_In, extends_spec; reflexivity. Qed.

(** *** Two images can be exchanged *)

Definition exchange (y z b : B) : B := if eqB b y then z else if eqB b z then y else b.

Lemma exchange_twice y z b : exchange y z (exchange y z b) = b.
Proof. unfold exchange; repeat (destruct (eqB _ _); subst; try congruence). Qed.

Definition exchanged (y z : B) (p : graph) : graph := map (fun e => (fst e, exchange y z (snd e))) p.

Lemma exchanged_in y z p : In y all -> In z all -> In p permutations -> In (exchanged y z p) permutations.
Proof.
  intros Y Z (m & -> & P)%in_permutations; apply in_permutations; exists (map (exchange y z) m); split.
  - unfold exchanged; generalize all; intro l; revert m P; clear; intros m _; revert m.
    induction l as [|a l IH]; intros [|b m]; cbn; auto; now rewrite IH.
  - apply NoDup_Permutation_bis; [|rewrite map_length, (Permutation_length P); lia|].
    + apply FinFun.Injective_map_NoDup; [|exact (Permutation_NoDup (Permutation_sym P) all_once)].
      intros a b E; now rewrite <- (exchange_twice y z a), E, exchange_twice.
    + intros b I; apply in_map_iff in I as (a & <- & I); apply (Permutation_in _ P) in I.
      unfold exchange; destruct (eqB a y); [auto|]; destruct (eqB a z); auto.
Qed.

Lemma exchanged_forward y z p x : In p permutations -> In y all -> In z all -> In x all ->
  forward (exchanged y z p) x = exchange y z (forward p x).
Proof.
  intros P Y Z X; apply (forward_pair _ (exchanged_in y z p Y Z P) _ _ X).
  apply (in_map (fun e => (fst e, exchange y z (snd e))) p (x, forward p x)), (forward_pair p P); auto.
Qed.

(** Each is there once. *)
Lemma permutations_once : NoDup permutations.
Proof.
  unfold permutations.
  assert (I : forall m, In m (orders (length all) all) -> map snd (combine all m) = m).
  { intros m J; apply (orders_spec _ _ _ all_once eq_refl), Permutation_length in J; symmetry in J; revert m J.
    clear; induction all as [|a l IH]; intros [|b m] L; try discriminate; auto; cbn; f_equal; apply IH; now injection L. }
  pose proof (orders_once (length all) all all_once) as O; revert I O; generalize (orders (length all) all).
  intro l; induction l as [|a l IH]; intros I O; cbn [map]; [constructor|]; inversion O as [|? ? U V]; subst.
  constructor; [|apply IH; auto; intros; apply I; now right].
  intro J; apply in_map_iff in J as (b & E & J); apply (f_equal (map snd)) in E.
  rewrite !I in E; [subst; contradiction|now left|now right].
Qed.

Lemma classes_le s x y z : In x all -> In y all -> In z all -> incl (map fst s) all -> ~ In y (map snd s) -> ~ In z (map snd s) ->
  (length (rest ((x, y) :: s)) <= length (rest ((x, z) :: s)))%nat.
Proof.
  intros X Y Z XS NY NZ; rewrite <- (map_length (exchanged y z)); apply NoDup_incl_length.
  - apply FinFun.Injective_map_NoDup.
    + assert (T : forall p, exchanged y z (exchanged y z p) = p).
      { intro p; unfold exchanged; rewrite map_map; cbn [fst snd]; rewrite <- (map_id p) at 2; apply map_ext.
        intros [a b]; cbn; now rewrite exchange_twice. }
      intros a b E; now rewrite <- (T a), E, T.
    + apply NoDup_filter, permutations_once.
  - intros q J; apply in_map_iff in J as (p & <- & J); apply in_rest in J as [P E]; apply in_rest.
    split; [now apply exchanged_in|]; intros a b I.
    destruct I as [I|I].
    + injection I as <- <-; rewrite exchanged_forward, (E x y (or_introl eq_refl)) by auto.
      unfold exchange; destruct (eqB y y); congruence.
    + rewrite exchanged_forward, (E a b (or_intror I)); auto; [|exact (XS _ (in_map fst _ _ I))].
      pose proof (in_map snd _ _ I) as J; cbn in J; unfold exchange.
      destruct (eqB b y); [congruence|]; destruct (eqB b z); congruence.
Qed.

(** What a partial permutation is. *)
Definition partial (s : graph) : Prop := NoDup (map fst s) /\ NoDup (map snd s) /\ incl (map fst s) all /\ incl (map snd s) all.

Lemma sum_one (b : B) l : NoDup l -> In b l -> sum (fun a => indicator (if eqB b a then true else false)) l == 1.
Proof.
  intro N; induction N as [|a l J N IH]; intro I; [destruct I|]; cbn [sum]; unfold indicator at 1.
  destruct (eqB b a) as [->|D]; [|rewrite IH; [ring|destruct I; congruence]].
  setoid_replace (sum (fun a0 => indicator (if eqB a a0 then true else false)) l) with 0; [ring|].
  rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_const; ring|].
  intros c K; unfold indicator; destruct (eqB a c); [congruence|reflexivity].
Qed.

Lemma extends_more s x y p : extends ((x, y) :: s) p = (if eqB (forward p x) y then true else false) && extends s p.
Proof. reflexivity. Qed.

Lemma parts_forward s x f : partial s -> In x all -> ~ In x (map fst s) ->
  sum f (rest s) == sum (fun y => sum f (rest ((x, y) :: s))) (free (map snd s)).
Proof.
  intros (NX & NY & IX & IY) X D; unfold rest; rewrite sum_filter.
  rewrite (sum_ext (fun y => sum f (filter (extends ((x, y) :: s)) permutations))
    (fun y => sum (fun p => indicator (if eqB (forward p x) y then true else false) * (indicator (extends s p) * f p)) permutations)).
  2:{ intros y _; rewrite sum_filter; apply sum_ext; intros p _; rewrite extends_more; unfold indicator.
      destruct (eqB (forward p x) y), (extends s p); cbn [andb]; ring. }
  rewrite <- sum_swap; apply sum_ext; intros p P; destruct (extends s p) eqn:E; unfold indicator at 1 3.
  2:{ rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_const; ring|intros; ring]. }
  rewrite (sum_ext _ (fun y => (1 * f p) * indicator (if eqB (forward p x) y then true else false))) by (intros; ring).
  rewrite sum_scale, sum_one; [ring|apply free_once|]; apply in_free; split; [now apply forward_in|].
  intro J; apply in_map_iff in J as ([a b] & F & J); cbn in F; subst b; apply D.
  assert (A : In a all) by exact (IX _ (in_map fst _ _ J)).
  pose proof (proj1 (extends_spec s p) E a _ J) as G; replace x with a; [exact (in_map fst _ _ J)|].
  rewrite <- (inverse_forward p P a A), G; now apply inverse_forward.
Qed.

Lemma parts_inverse s y f : partial s -> In y all -> ~ In y (map snd s) ->
  sum f (rest s) == sum (fun x => sum f (rest ((x, y) :: s))) (free (map fst s)).
Proof.
  intros (NX & NY & IX & IY) Y D; unfold rest; rewrite sum_filter.
  rewrite (sum_ext (fun x => sum f (filter (extends ((x, y) :: s)) permutations))
    (fun x => sum (fun p => indicator (if eqB (inverse p y) x then true else false) * (indicator (extends s p) * f p)) permutations)).
  2:{ intros x FX; rewrite sum_filter; apply sum_ext; intros p P; rewrite extends_more; unfold indicator.
      apply in_free in FX as [X _].
      assert (EQ : (if eqB (forward p x) y then true else false) = if eqB (inverse p y) x then true else false).
      { destruct (eqB (forward p x) y) as [F|F], (eqB (inverse p y) x) as [G|G]; auto; exfalso;
          [apply G; subst y; now apply inverse_forward|apply F; subst x; now apply forward_inverse]. }
      rewrite EQ; destruct (eqB (inverse p y) x), (extends s p); cbn [andb]; ring. }
  rewrite <- sum_swap; apply sum_ext; intros p P; destruct (extends s p) eqn:E; unfold indicator at 1 3.
  2:{ rewrite (sum_ext _ (fun _ => 0)); [rewrite sum_const; ring|intros; ring]. }
  rewrite (sum_ext _ (fun x => (1 * f p) * indicator (if eqB (inverse p y) x then true else false))) by (intros; ring).
  rewrite sum_scale, sum_one; [ring|apply free_once|]; apply in_free; split; [now apply inverse_in|].
  intro J; apply in_map_iff in J as ([a b] & F & J); cbn in F; subst a; apply D.
  pose proof (proj1 (extends_spec s p) E _ _ J) as G; rewrite forward_inverse in G by auto; subst b.
  exact (in_map snd _ _ J).
Qed.

Lemma sum_ones {A} (l : list A) : sum (fun _ => 1) l == nat_q (length l).
Proof. rewrite sum_const; ring. Qed.

(** All classes have one size. *)
Lemma class_size s x y : partial s -> In x all -> ~ In x (map fst s) -> In y all -> ~ In y (map snd s) ->
  (length (rest s) = length (free (map snd s)) * length (rest ((x, y) :: s)))%nat.
Proof.
  intros W X DX Y DY; pose proof (parts_forward s x (fun _ => 1) W X DX) as S.
  rewrite sum_ones, (sum_ext _ (fun _ => nat_q (length (rest ((x, y) :: s))))), sum_const, <- nat_q_mult in S.
  - unfold nat_q, Qeq in S; cbn in S; lia.
  - intros z Z; apply in_free in Z as [Z DZ]; rewrite sum_ones; destruct W as (_ & _ & IX & _).
    rewrite (Nat.le_antisymm _ _ (classes_le s x z y X Z Y IX DZ DY) (classes_le s x y z X Y Z IX DY DZ)); reflexivity.
Qed.

Lemma free_lengths s : partial s -> length (free (map fst s)) = length (free (map snd s)).
Proof.
  intros (NX & NY & IX & IY); pose proof (free_length _ NX IX); pose proof (free_length _ NY IY); rewrite !map_length in *; lia.
Qed.

Lemma spread (m : nat) l (f : B -> Q) (n : B -> nat) : (0 < length l)%nat -> (0 < m)%nat ->
  (forall b, In b l -> (m = length l * n b)%nat) ->
  sum f l / nat_q m == average (fun b => f b / nat_q (n b)) l.
Proof.
  intros L M N; unfold average, Qdiv at 1 2.
  assert (X : forall c k, sum f k * c == sum (fun b => f b * c) k) by (intros c k; induction k; cbn [sum]; [ring|rewrite <- IHk; ring]).
  assert (Y : forall c (g : B -> Q) k, sum g k * c == sum (fun b => g b * c) k)
    by (intros c g k; induction k; cbn [sum]; [ring|rewrite <- IHk; ring]).
  rewrite X, Y; apply sum_ext; intros b I; rewrite (N b I) at 1; rewrite nat_q_mult; pose proof (N b I) as NB.
  field; split; apply nat_q_not_0; nia.
Qed.

Lemma seen_forward s x f : partial s -> rest s <> [] -> In x all -> ~ In x (map fst s) ->
  expect s f == average (fun y => expect ((x, y) :: s) f) (free (map snd s)) /\
  free (map snd s) <> [] /\ forall y, In y (free (map snd s)) -> rest ((x, y) :: s) <> [] /\ partial ((x, y) :: s).
Proof.
  intros W R X DX; pose proof W as (NX & NY & IX & IY).
  assert (L : (0 < length (free (map snd s)))%nat).
  { rewrite <- free_lengths by exact W; assert (I : In x (free (map fst s))) by (apply in_free; auto).
    destruct (free (map fst s)); [destruct I|cbn; lia]. }
  assert (Z : (0 < length (rest s))%nat) by (destruct (rest s); [now elim R|cbn; lia]).
  assert (S : forall y, In y (free (map snd s)) -> length (rest s) = (length (free (map snd s)) * length (rest ((x, y) :: s)))%nat)
    by (intros y F; apply in_free in F as [Y DY]; apply class_size; auto).
  split; [|split].
  - unfold expect at 1, average at 1; rewrite (parts_forward s x f W X DX).
    rewrite (spread (length (rest s)) _ _ (fun y => length (rest ((x, y) :: s))) L Z S); apply average_ext; intros; reflexivity.
  - intro E; rewrite E in L; cbn in L; lia.
  - intros y F; pose proof (S y F) as SY; apply in_free in F as [Y DY]; split.
    + intro E; rewrite E in SY; cbn in SY; lia.
    + repeat split; cbn [map fst snd]; try constructor; auto; intros b [<-|J]; auto.
Qed.

Lemma seen_inverse s y f : partial s -> rest s <> [] -> In y all -> ~ In y (map snd s) ->
  expect s f == average (fun x => expect ((x, y) :: s) f) (free (map fst s)) /\
  free (map fst s) <> [] /\ forall x, In x (free (map fst s)) -> rest ((x, y) :: s) <> [] /\ partial ((x, y) :: s).
Proof.
  intros W R Y DY; pose proof W as (NX & NY & IX & IY).
  assert (L : (0 < length (free (map fst s)))%nat).
  { rewrite free_lengths by exact W; assert (I : In y (free (map snd s))) by (apply in_free; auto).
    destruct (free (map snd s)); [destruct I|cbn; lia]. }
  assert (Z : (0 < length (rest s))%nat) by (destruct (rest s); [now elim R|cbn; lia]).
  assert (S : forall x, In x (free (map fst s)) -> length (rest s) = (length (free (map fst s)) * length (rest ((x, y) :: s)))%nat)
    by (intros x F; apply in_free in F as [X DX]; rewrite free_lengths by exact W; apply class_size; auto).
  split; [|split].
  - unfold expect at 1, average at 1; rewrite (parts_inverse s y f W Y DY).
    rewrite (spread (length (rest s)) _ _ (fun x => length (rest ((x, y) :: s))) L Z S); apply average_ext; intros; reflexivity.
  - intro E; rewrite E in L; cbn in L; lia.
  - intros x F; pose proof (S x F) as SX; apply in_free in F as [X DX]; split.
    + intro E; rewrite E in SX; cbn in SX; lia.
    + repeat split; cbn [map fst snd]; try constructor; auto; intros b [<-|J]; auto.
Qed.

Lemma rest_all : rest [] = permutations.
Proof. unfold rest; induction permutations as [|a l IH]; cbn [filter extends forallb]; [reflexivity|now rewrite IH]. Qed.

Lemma some_permutation : permutations <> [].
Proof.
  intro E; assert (I : In (combine all all) permutations)
    by (apply in_permutations; exists all; split; [reflexivity|apply Permutation_refl]).
  rewrite E in I; destruct I.
Qed.
End Permutations.
