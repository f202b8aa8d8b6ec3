(** * ArxSymbolic: sums, products, shifts and conjunctions of symbolic bytes

    Each is a node, but for a shift to the right and back of what came from the same shift to the left: an insertion of
    shifted bits is made of that. *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Symbolic.
Import ListNotations.

(** The node whose bytes these are. *)
Definition node_at (x : list sbyte) (nodes : list node) : option node :=
  match x with
  | (_, [a]) :: _ =>
      let id := N.to_nat ((a - first) / 16) in
      if (id <? length nodes)%nat then
        match nth_error nodes (length nodes - 1 - id) with
        | Some n => if word_eqb x (map atom (atoms_of id)) then Some n else None
        | None => None
        end
      else None
  | _ => None
  end.

(** In the order in which it is already there. *)
Definition splus (w : nat) (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if lane_ok w && (length x =? 16)%nat && (length y =? 16)%nat then
    match find_node (Sum w, y ++ x) nodes with
    | Some _ => Some (intern (Sum w) (y ++ x) nodes)
    | None => Some (intern (Sum w) (x ++ y) nodes)
    end
  else None.

(** Two products of lanes of 4 bytes, in the order in which they are already there. *)
Definition stimes (w : nat) (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if (w =? 4)%nat && (length x =? 8)%nat && (length y =? 8)%nat then
    match find_node (Product w, y ++ x) nodes with
    | Some _ => Some (intern (Product w) (y ++ x) nodes)
    | None => Some (intern (Product w) (x ++ y) nodes)
    end
  else None.

(** The same of products of 52 bits. *)
Definition stimes_52 (high : bool) (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if (length x =? 16)%nat && (length y =? 16)%nat then
    match find_node (Product_52 high, y ++ x) nodes with
    | Some _ => Some (intern (Product_52 high) (y ++ x) nodes)
    | None => Some (intern (Product_52 high) (x ++ y) nodes)
    end
  else None.

(** Constants, which need no node. *)
Definition constants (x : list sbyte) : bool := forallb (fun b => match snd b with [] => true | _ => false end) x.

Definition sright (w k : nat) (x : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if lane_ok w && (length x =? 16)%nat then
    if constants x then Some (map const (shift_right w k (map fst x)), nodes) else Some (intern (Right w k) x nodes)
  else None.

(** What it is if it came from a shift to the left. *)
Definition shifted_back (w k : nat) (x : list sbyte) (nodes : list node) : option (list sbyte) :=
  match node_at x nodes with
  | Some (Right v j, y) =>
      if (v =? w)%nat && (j =? k)%nat then
        match node_at y nodes with
        | Some (Left v j, t) =>
            if (v =? w)%nat && (j =? k)%nat && (k <=? 8 * w)%nat && (length t =? 16)%nat then Some y else None
        | _ => None
        end
      else None
  | _ => None
  end.

Definition sleft (w k : nat) (x : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if lane_ok w && (length x =? 16)%nat then
    if constants x then Some (map const (shift_left w k (map fst x)), nodes)
    else match shifted_back w k x nodes with
         | Some y => if (length y =? 16)%nat then Some (y, nodes) else None
         | None => Some (intern (Left w k) x nodes)
         end
  else None.

(** A shift to the left and one to the right whose bits do not meet. *)
Definition apart_shifts (x y : list sbyte) (nodes : list node) : bool :=
  match node_at x nodes, node_at y nodes with
  | Some (Left w k, s), Some (Right v j, t) =>
      (v =? w)%nat && lane_ok w && (k + j =? 8 * w)%nat && (length s =? 16)%nat && (length t =? 16)%nat
  | _, _ => false
  end.

(* [if], because evaluation of [||] would not stop at the first. *)
Definition sor (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if (if apart_shifts x y nodes then true else apart_shifts y x nodes) then Some (sxor x y, nodes) else None.

(** Of 16 bytes, in the order in which it is already there. *)
Definition sand (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if (length x =? 16)%nat && (length y =? 16)%nat then
    match find_node (Conjunction, y ++ x) nodes with
    | Some _ => Some (intern Conjunction (y ++ x) nodes)
    | None => Some (intern Conjunction (x ++ y) nodes)
    end
  else None.

(** By constants only. *)
Definition sshuffle (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if constants y
  then Some (map (fun i => if N.testbit (fst i) 7 then const 0 else nth (N.to_nat (fst i mod 16)) x (const 0)) y, nodes) else None.

(** By constants only. *)
Definition schoose (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if forallb (fun b => match snd b with [] => true | _ => false end) y
  then Some (flat_map (fun c => firstn 4 (skipn (4 * N.to_nat (lane_number c mod 16)) x)) (split 4 (length y / 4) (map fst y)),
    nodes)
  else None.

(** Of more than 16 bytes: of 16 each. *)
Section Each.
Variable f : list sbyte -> list sbyte -> list node -> option (list sbyte * list node).

Fixpoint each_16 (n : nat) (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  match n with
  | O => match x, y with [], [] => Some ([], nodes) | _, _ => None end
  | S n =>
      if (length (firstn 16 x) =? 16)%nat && (length (firstn 16 y) =? 16)%nat then
        match f (firstn 16 x) (firstn 16 y) nodes with
        | Some (a, nodes) =>
            match each_16 n (skipn 16 x) (skipn 16 y) nodes with
            | Some (b, nodes) => Some (a ++ b, nodes)
            | None => None
            end
        | None => None
        end
      else None
  end.
End Each.

Definition splus_all (w : nat) (x y : list sbyte) := each_16 (splus w) (length x / 16) x y.
Definition stimes_52_all (high : bool) (x y : list sbyte) := each_16 (stimes_52 high) (length x / 16) x y.
Definition sand_all (x y : list sbyte) := each_16 sand (length x / 16) x y.
Definition sor_all (x y : list sbyte) := each_16 sor (length x / 16) x y.
Definition sshuffle_all (x y : list sbyte) := each_16 sshuffle (length y / 16) x y.
Definition sleft_all (w k : nat) (x : list sbyte) := each_16 (fun x _ => sleft w k x) (length x / 16) x x.
Definition sright_all (w k : nat) (x : list sbyte) := each_16 (fun x _ => sright w k x) (length x / 16) x x.

Section Meaning.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation consistent := (consistent env).

Lemma consistent_at nodes : forall i n, nth_error nodes i = Some n -> consistent nodes ->
  map env (atoms_of (length nodes - 1 - i)) = node_value env n.
Proof.
  induction nodes as [|m r IH]; intros [|i] n E; cbn [nth_error] in E; try discriminate; intros [C D].
  - injection E as <-; cbn [length]; replace (S (length r) - 1 - 0)%nat with (length r) by lia; exact C.
  - rewrite <- (IH i n E D); cbn [length]; do 2 f_equal; lia.
Qed.

Lemma node_at_sound x nodes n : node_at x nodes = Some n -> consistent nodes -> evs x = node_value env n.
Proof.
  unfold node_at; intros E C; destruct x as [|[b [|a [|? ?]]] x]; try discriminate.
  set (id := N.to_nat ((a - first) / 16)) in *.
  destruct (Nat.ltb_spec id (length nodes)) as [L|]; [|discriminate].
  destruct (nth_error nodes (length nodes - 1 - id)) as [m|] eqn:F; [|discriminate].
  destruct (word_eqb _ _) eqn:W; [|discriminate]; injection E as <-.
  apply word_eqb_eq in W; rewrite W, evs_atom, <- (consistent_at nodes _ _ F C); do 2 f_equal; lia.
Qed.

Lemma splus_sound w x y nodes z nodes' : splus w x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = plus_lanes w (evs x) (evs y)).
Proof.
  unfold splus; destruct (lane_ok w && (length x =? 16)%nat && (length y =? 16)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [Q LY]; apply andb_prop in Q as [W LX]; apply Nat.eqb_eq in LX, LY; intro E.
  assert (O : forall u v, length u = 16%nat -> length v = 16%nat -> intern (Sum w) (u ++ v) nodes = (z, nodes') ->
    extends nodes nodes' /\ (consistent nodes' -> evs z = plus_lanes w (evs u) (evs v))).
  { intros u v LU LV F; apply (intern_sound env) in F as [X S]; split; [exact X|]; intro C; rewrite (S C), node_value_is.
    cbn [fst snd]; rewrite evs_app, firstn_app, skipn_app, evs_length, LU, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
    rewrite firstn_all2, skipn_all2 by (rewrite evs_length; lia); cbn [app].
    apply filled_is, plus_lanes_length; rewrite ?evs_length; assumption. }
  destruct (find_node (Sum w, y ++ x) nodes); [|apply O; auto; congruence].
  rewrite plus_lanes_comm; apply O; auto; congruence.
Qed.

Lemma stimes_sound w x y nodes z nodes' : stimes w x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = times_lanes w (evs x) (evs y)).
Proof.
  unfold stimes; destruct ((w =? 4)%nat && (length x =? 8)%nat && (length y =? 8)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [Q LY]; apply andb_prop in Q as [W LX]; apply Nat.eqb_eq in LX, LY, W; subst w; intro E.
  assert (O : forall u v, length u = 8%nat -> length v = 8%nat -> intern (Product 4) (u ++ v) nodes = (z, nodes') ->
    extends nodes nodes' /\ (consistent nodes' -> evs z = times_lanes 4 (evs u) (evs v))).
  { intros u v LU LV F; apply (intern_sound env) in F as [X S]; split; [exact X|]; intro C; rewrite (S C), node_value_is.
    cbn [fst snd]; rewrite evs_app, firstn_app, skipn_app, evs_length, LU, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
    rewrite firstn_all2, skipn_all2 by (rewrite evs_length; lia); cbn [app].
    apply filled_is, times_lanes_length; rewrite ?evs_length; assumption. }
  destruct (find_node (Product 4, y ++ x) nodes); [|apply O; auto; congruence].
  rewrite times_lanes_comm; apply O; auto; congruence.
Qed.

Lemma stimes_52_sound high x y nodes z nodes' : stimes_52 high x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = times_52 high (evs x) (evs y)).
Proof.
  unfold stimes_52; destruct ((length x =? 16)%nat && (length y =? 16)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [LX LY]; apply Nat.eqb_eq in LX, LY; intro E.
  assert (O : forall u v, length u = 16%nat -> length v = 16%nat -> intern (Product_52 high) (u ++ v) nodes = (z, nodes') ->
    extends nodes nodes' /\ (consistent nodes' -> evs z = times_52 high (evs u) (evs v))).
  { intros u v LU LV F; apply (intern_sound env) in F as [X S]; split; [exact X|]; intro C; rewrite (S C), node_value_is.
    cbn [fst snd]; rewrite evs_app, firstn_app, skipn_app, evs_length, LU, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
    rewrite firstn_all2, skipn_all2 by (rewrite evs_length; lia); cbn [app].
    apply filled_is, times_52_length; rewrite ?evs_length; assumption. }
  destruct (find_node (Product_52 high, y ++ x) nodes); [|apply O; auto; congruence].
  rewrite times_52_comm; apply O; auto; congruence.
Qed.

Lemma constants_are x : constants x = true -> evs x = map fst x.
Proof.
  intro Q; apply map_ext_in; intros [c [|? ?]] J; unfold constants in Q; rewrite forallb_forall in Q; specialize (Q _ J);
    [apply N.lxor_0_r|discriminate].
Qed.

Lemma sright_sound w k x nodes z nodes' : sright w k x nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = shift_right w k (evs x)).
Proof.
  unfold sright; destruct (lane_ok w && (length x =? 16)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [W LX]; apply Nat.eqb_eq in LX; destruct (constants x) eqn:N; intro E.
  { assert (F : map const (shift_right w k (map fst x)) = z /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|]; intros _; rewrite evs_const, (constants_are x N); reflexivity. }
  assert (F : intern (Right w k) x nodes = (z, nodes')) by congruence.
  apply (intern_sound env) in F as [X S]; split; [exact X|]; intro C; rewrite (S C), node_value_is; cbn [fst snd].
  apply filled_is, shift_right_length; rewrite ?evs_length; assumption.
Qed.

Lemma shifted_back_sound w k x nodes y : lane_ok w = true -> shifted_back w k x nodes = Some y -> length x = 16%nat ->
  length y = 16%nat -> consistent nodes -> evs y = shift_left w k (evs x).
Proof.
  unfold shifted_back; intros W E LX LY C.
  destruct (node_at x nodes) as [[[| | | |v j| | |] u]|] eqn:A; try discriminate.
  destruct ((v =? w)%nat && (j =? k)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [Q1 Q2]; apply Nat.eqb_eq in Q1 as ->; apply Nat.eqb_eq in Q2 as ->.
  destruct (node_at u nodes) as [[[| | |v j| | | |] t]|] eqn:D; try discriminate.
  destruct ((v =? w)%nat && (j =? k)%nat && (k <=? 8 * w)%nat && (length t =? 16)%nat) eqn:Q; [|discriminate].
  injection E as <-; apply andb_prop in Q as [Q LT]; apply andb_prop in Q as [Q K]; apply Nat.eqb_eq in LT;
  apply andb_prop in Q as [Q1 Q2]; apply Nat.eqb_eq in Q1 as ->; apply Nat.eqb_eq in Q2 as ->.
  apply Nat.leb_le in K.
  apply node_at_sound in A; [|exact C]; apply node_at_sound in D; [|exact C].
  rewrite node_value_is in A, D; cbn [fst snd] in A, D.
  rewrite filled_is in A by (apply shift_right_length; rewrite ?evs_length; assumption).
  rewrite filled_is in D by (apply shift_left_length; rewrite ?evs_length; assumption).
  rewrite A, D, shift_back by assumption; reflexivity.
Qed.

Lemma sleft_sound w k x nodes z nodes' : sleft w k x nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = shift_left w k (evs x)).
Proof.
  unfold sleft; destruct (lane_ok w && (length x =? 16)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [W LX]; apply Nat.eqb_eq in LX; destruct (constants x) eqn:N.
  { intro E; assert (F : map const (shift_left w k (map fst x)) = z /\ nodes = nodes') by (split; congruence).
    destruct F as [<- <-].
    split; [apply extends_refl|]; intros _; rewrite evs_const, (constants_are x N); reflexivity. }
  destruct (shifted_back w k x nodes) as [y|] eqn:B.
  - destruct (Nat.eqb_spec (length y) 16) as [LY|]; [|discriminate]; intro E.
    assert (F : y = z /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|]; intro C; exact (shifted_back_sound w k x nodes y W B LX LY C).
  - intro E; assert (F : intern (Left w k) x nodes = (z, nodes')) by congruence.
    apply (intern_sound env) in F as [X S]; split; [exact X|]; intro C; rewrite (S C), node_value_is; cbn [fst snd].
    apply filled_is, shift_left_length; rewrite ?evs_length; assumption.
Qed.

Lemma apart_shifts_sound x y nodes : apart_shifts x y nodes = true -> consistent nodes ->
  or_bytes (evs x) (evs y) = xor (evs x) (evs y).
Proof.
  unfold apart_shifts; intros E C.
  destruct (node_at x nodes) as [[[| | |w k| | | |] s]|] eqn:X; try discriminate.
  destruct (node_at y nodes) as [[[| | | |v j| | |] t]|] eqn:Y; try discriminate.
  apply andb_prop in E as [E LT]; apply andb_prop in E as [E LS]; apply andb_prop in E as [E KJ]; apply andb_prop in E as [E W].
  apply Nat.eqb_eq in E as ->; apply Nat.eqb_eq in KJ, LS, LT.
  apply node_at_sound in X; [|exact C]; apply node_at_sound in Y; [|exact C].
  rewrite node_value_is in X, Y; cbn [fst snd] in X, Y.
  rewrite filled_is in X by (apply shift_left_length; rewrite ?evs_length; assumption).
  rewrite filled_is in Y by (apply shift_right_length; rewrite ?evs_length; assumption).
  rewrite X, Y; apply or_is_xor; rewrite ?evs_length; assumption.
Qed.

Lemma sor_sound x y nodes z nodes' : sor x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = or_bytes (evs x) (evs y)).
Proof.
  unfold sor; change (if apart_shifts x y nodes then true else apart_shifts y x nodes)
    with (apart_shifts x y nodes || apart_shifts y x nodes).
  destruct (apart_shifts x y nodes || apart_shifts y x nodes) eqn:Q; [|discriminate]; intro E.
  assert (F : sxor x y = z /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
  split; [apply extends_refl|]; intro C; rewrite evs_xor; apply orb_prop in Q as [Q|Q].
  - rewrite (apart_shifts_sound _ _ _ Q C); reflexivity.
  - rewrite or_comm, (apart_shifts_sound _ _ _ Q C); apply xor_sym.
Qed.

Lemma sand_sound x y nodes z nodes' : sand x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = and_bytes (evs x) (evs y)).
Proof.
  unfold sand; destruct ((length x =? 16)%nat && (length y =? 16)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [LX LY]; apply Nat.eqb_eq in LX, LY; intro E.
  assert (O : forall u v, length u = 16%nat -> length v = 16%nat -> intern Conjunction (u ++ v) nodes = (z, nodes') ->
    extends nodes nodes' /\ (consistent nodes' -> evs z = and_bytes (evs u) (evs v))).
  { intros u v LU LV F; apply (intern_sound env) in F as [X S]; split; [exact X|]; intro C; rewrite (S C), node_value_is.
    cbn [fst snd]; rewrite evs_app, firstn_app, skipn_app, evs_length, LU, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
    rewrite firstn_all2, skipn_all2 by (rewrite evs_length; lia); cbn [app].
    apply filled_is; rewrite and_length; rewrite !evs_length; congruence. }
  destruct (find_node (Conjunction, y ++ x) nodes); [|apply O; auto; congruence].
  rewrite and_comm; apply O; auto; congruence.
Qed.

Lemma sshuffle_sound x y nodes z nodes' : sshuffle x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = shuffle_16 (evs x) (evs y)).
Proof.
  unfold sshuffle, constants; match goal with |- context [forallb ?f y] => destruct (forallb f y) eqn:Q end; [|discriminate];
    intro E.
  match type of E with Some (?v, _) = _ => assert (F : v = z /\ nodes = nodes') by (split; congruence) end.
  destruct F as [<- <-]; split; [apply extends_refl|]; intros _; unfold shuffle_16, Symbolic.evs; rewrite !map_map.
  apply map_ext_in; intros [c [|? ?]] J; rewrite forallb_forall in Q; specialize (Q _ J); cbn [fst snd] in *; [|discriminate].
  unfold ev at 2 3; cbn [fst snd Symbolic.sum fold_right]; rewrite N.lxor_0_r.
  destruct (N.testbit c 7); [reflexivity|].
  rewrite <- (ev_const env 0) at 2; symmetry; apply map_nth.
Qed.

Lemma schoose_sound x y nodes z nodes' : schoose x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = choose_words (evs x) (evs y)).
Proof.
  unfold schoose; match goal with |- context [forallb ?f y] => destruct (forallb f y) eqn:Q end; [|discriminate]; intro E.
  match type of E with Some (?v, _) = _ => assert (F : v = z /\ nodes = nodes') by (split; congruence) end.
  destruct F as [<- <-]; split; [apply extends_refl|]; intros _; unfold choose_words; rewrite evs_length.
  replace (evs y) with (map fst y).
  - induction (split 4 (length y / 4) (map fst y)) as [|c l IH]; cbn [flat_map]; [reflexivity|].
    rewrite evs_app, evs_firstn, evs_skipn, IH; reflexivity.
  - apply map_ext_in; intros [c [|? ?]] J; rewrite forallb_forall in Q; specialize (Q _ J); cbn [snd] in Q; [|discriminate].
    symmetry; apply ev_const.
Qed.

Lemma each_16_sound f g (P : Prop) n :
  (forall x y nodes z nodes', length x = 16%nat -> length y = 16%nat -> f x y nodes = Some (z, nodes') ->
     P /\ extends nodes nodes' /\ (consistent nodes' -> evs z = g (evs x) (evs y))) ->
  g [] [] = [] ->
  (P -> forall a b c d, length a = 16%nat -> length c = 16%nat -> g (a ++ b) (c ++ d) = g a c ++ g b d) ->
  forall x y nodes z nodes', each_16 f n x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = g (evs x) (evs y)).
Proof.
  intros F G0 G; induction n as [|n IH]; intros x y nodes z nodes' E; cbn [each_16] in E.
  - destruct x, y; try discriminate; assert (Q : [] = z /\ nodes = nodes') by (split; congruence); destruct Q as [<- <-].
    split; [apply extends_refl|]; intros _; exact (eq_sym G0).
  - destruct ((length (firstn 16 x) =? 16)%nat && (length (firstn 16 y) =? 16)%nat) eqn:L; [|discriminate].
    apply andb_prop in L as [LX LY]; apply Nat.eqb_eq in LX, LY.
    destruct (f (firstn 16 x) (firstn 16 y) nodes) as [[a n1]|] eqn:E1; [|discriminate].
    destruct (each_16 f n (skipn 16 x) (skipn 16 y) n1) as [[b n2]|] eqn:E2; [|discriminate].
    assert (Q : a ++ b = z /\ n2 = nodes') by (split; congruence); destruct Q as [<- <-].
    apply (F _ _ _ _ _ LX LY) in E1 as (H & X1 & S1); apply IH in E2 as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite evs_app, S1, S2 by (auto; eapply consistent_older; eassumption).
    rewrite <- G by (rewrite ?evs_length; assumption).
    rewrite <- !evs_app, !firstn_skipn; reflexivity.
Qed.

Lemma splus_all_sound w x y nodes z nodes' : splus_all w x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = plus_lanes w (evs x) (evs y)).
Proof.
  apply (each_16_sound (splus w) (plus_lanes w) (lane_ok w = true));
    [|destruct w; reflexivity|intros W a b c d A C; exact (plus_lanes_app w a b c d W A C)].
  intros u v n t n' _ _ E; split; [|exact (splus_sound _ _ _ _ _ _ E)].
  unfold splus in E; destruct (lane_ok w); [reflexivity|discriminate].
Qed.

Lemma sand_all_sound x y nodes z nodes' : sand_all x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = and_bytes (evs x) (evs y)).
Proof.
  apply (each_16_sound sand and_bytes True); [|reflexivity|intros _ a b c d A C; apply and_app; congruence].
  intros u v n w n' _ _ E; split; [exact Logic.I|exact (sand_sound _ _ _ _ _ E)].
Qed.

Lemma stimes_52_all_sound high x y nodes z nodes' : stimes_52_all high x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = times_52 high (evs x) (evs y)).
Proof.
  apply (each_16_sound (stimes_52 high) (times_52 high) True);
    [|reflexivity|intros _ a b c d A C; exact (times_52_app high a b c d A C)].
  intros u v n w n' _ _ E; split; [exact Logic.I|exact (stimes_52_sound _ _ _ _ _ _ E)].
Qed.

Lemma sor_all_sound x y nodes z nodes' : sor_all x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = or_bytes (evs x) (evs y)).
Proof.
  apply (each_16_sound sor or_bytes True); [|reflexivity|intros _ a b c d A C; apply or_app; congruence].
  intros u v n w n' _ _ E; split; [exact Logic.I|exact (sor_sound _ _ _ _ _ E)].
Qed.

Lemma sshuffle_all_sound x y nodes z nodes' : sshuffle_all x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = shuffle (evs x) (evs y)).
Proof.
  apply (each_16_sound sshuffle shuffle True); [|reflexivity|].
  - intros u v n w n' U V E; split; [exact Logic.I|]; rewrite shuffle_is_16 by (rewrite evs_length; assumption).
    exact (sshuffle_sound _ _ _ _ _ E).
  - intros _ a b c d A C; rewrite shuffle_app, (shuffle_is_16 a c) by assumption; reflexivity.
Qed.

Lemma sleft_all_sound w k x nodes z nodes' : sleft_all w k x nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = shift_left w k (evs x)).
Proof.
  apply (each_16_sound (fun x _ => sleft w k x) (fun x _ => shift_left w k x) (lane_ok w = true));
    [|destruct w; reflexivity|intros W a b _ _ A _; exact (shift_left_app w k a b W A)].
  intros u v n t n' _ _ E; split; [|exact (sleft_sound _ _ _ _ _ _ E)].
  unfold sleft in E; destruct (lane_ok w); [reflexivity|discriminate].
Qed.

Lemma sright_all_sound w k x nodes z nodes' : sright_all w k x nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = shift_right w k (evs x)).
Proof.
  apply (each_16_sound (fun x _ => sright w k x) (fun x _ => shift_right w k x) (lane_ok w = true));
    [|destruct w; reflexivity|intros W a b _ _ A _; exact (shift_right_app w k a b W A)].
  intros u v n t n' _ _ E; split; [|exact (sright_sound _ _ _ _ _ _ E)].
  unfold sright in E; destruct (lane_ok w); [reflexivity|discriminate].
Qed.
End Meaning.
