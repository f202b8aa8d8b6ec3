(** * Symbolic: strings of bytes with unknowns

    A symbolic byte is a constant and a set of atoms, which stand for their XOR.  An atom is an
    unknown byte of the input, or a byte of a node: of ShiftRows of SubBytes, of MixColumns, of a sum, a product or a
    shift in lanes, or of a conjunction (Arx.v), of strings of 16 symbolic bytes.  Equal arguments share one node (value
    numbering), so the value of a permutation is small, although written out it would be exponential. *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx.
Import ListNotations.

Definition sbyte := (N * list N)%type.

(** What a node computes: a sum of the two halves of its argument, in lanes of w bytes, or products of such lanes, or a
    shift of them; or the conjunction of both halves; or the lower or upper halves of products of 52 bits. *)
Inductive kind := Sub_shifted | Mixed | Sum (w : nat) | Left (w k : nat) | Right (w k : nat) | Product (w : nat) |
  Conjunction | Product_52 (high : bool).

Definition node := (kind * list sbyte)%type.   (* with its argument *)

Definition const (b : byte) : sbyte := (b, []).
Definition atom (a : N) : sbyte := (0%N, [a]).

(** Atoms below [first] are inputs; the others are bytes of nodes. *)
Definition first : N := 4096.
(* [start], because evaluation of [N.of_nat id] takes long. *)
Definition atoms_of (id : nat) : list N :=
  let start := (first + 16 * N.of_nat id)%N in map (fun i => start + N.of_nat i)%N (seq 0 16).

Lemma atoms_of_is id : atoms_of id = map (fun i => first + 16 * N.of_nat id + N.of_nat i)%N (seq 0 16).
Proof. reflexivity. Qed.

(* Otherwise [injection] and others evaluate it. *)
Opaque atoms_of.

Fixpoint merge (x : list N) : list N -> list N :=
  match x with
  | [] => fun y => y
  | a :: x' =>
      fix inner (y : list N) : list N :=
        match y with
        | [] => a :: x'
        | b :: y' =>
            match (a ?= b)%N with
            | Eq => merge x' y'
            | Lt => a :: merge x' (b :: y')
            | Gt => b :: inner y'
            end
        end
  end.

Definition sxor1 (x y : sbyte) : sbyte := (N.lxor (fst x) (fst y), merge (snd x) (snd y)).

Fixpoint sxor (x y : list sbyte) : list sbyte :=
  match x, y with
  | a :: x, b :: y => sxor1 a b :: sxor x y
  | _, _ => []
  end.

(** [if], because evaluation of [&&] would not stop at the first difference. *)
Fixpoint list_eqb {A} (eqb : A -> A -> bool) (x y : list A) : bool :=
  match x, y with
  | [], [] => true
  | a :: x, b :: y => if eqb a b then list_eqb eqb x y else false
  | _, _ => false
  end.

Definition sbyte_eqb (x y : sbyte) : bool := if (fst x =? fst y)%N then list_eqb N.eqb (snd x) (snd y) else false.
Definition word_eqb : list sbyte -> list sbyte -> bool := list_eqb sbyte_eqb.

Definition kind_eqb (x y : kind) : bool :=
  match x, y with
  | Sub_shifted, Sub_shifted | Mixed, Mixed | Conjunction, Conjunction => true
  | Sum w, Sum v | Product w, Product v => (w =? v)%nat
  | Left w k, Left v j | Right w k, Right v j => (w =? v)%nat && (k =? j)%nat
  | Product_52 h, Product_52 i => Bool.eqb h i
  | _, _ => false
  end.

Definition node_eqb (x y : node) : bool := if kind_eqb (fst x) (fst y) then word_eqb (snd x) (snd y) else false.

(** Nodes, newest first; the number of a node is the number of older ones. *)
Fixpoint find_node (n : node) (nodes : list node) : option nat :=
  match nodes with
  | [] => None
  | m :: r => if node_eqb n m then Some (length r) else find_node n r
  end.

Definition intern (op : kind) (x : list sbyte) (nodes : list node) : list sbyte * list node :=
  match find_node (op, x) nodes with
  | Some id => (map atom (atoms_of id), nodes)
  | None => (map atom (atoms_of (length nodes)), (op, x) :: nodes)
  end.

(** Every argument has only older atoms: then all atoms have values for each choice of inputs. *)
Fixpoint well_founded (nodes : list node) : bool :=
  match nodes with
  | [] => true
  | n :: r =>
      let bound := (first + 16 * N.of_nat (length r))%N in
      forallb (fun b => forallb (fun a => (a <? bound)%N) (snd b)) (snd n) && well_founded r
  end.

(** ** What symbolic bytes mean *)

Section Meaning.
Variable env : N -> byte.

Definition sum (l : list N) : byte := fold_right (fun a v => N.lxor (env a) v) 0%N l.
Definition ev (x : sbyte) : byte := N.lxor (fst x) (sum (snd x)).
Definition evs (x : list sbyte) : list byte := map ev x.

(** Every value has 16 bytes. *)
Definition filled (x : list byte) : list byte := firstn 16 (x ++ zero 16).

Definition node_value (n : node) : list byte :=
  match fst n with
  | Sub_shifted => shift_rows (sub_bytes (evs (snd n)))
  | Mixed => mix_columns (evs (snd n))
  | Sum w => filled (plus_lanes w (firstn 16 (evs (snd n))) (skipn 16 (evs (snd n))))
  | Left w k => filled (shift_left w k (evs (snd n)))
  | Right w k => filled (shift_right w k (evs (snd n)))
  | Product w => filled (times_lanes w (firstn 8 (evs (snd n))) (skipn 8 (evs (snd n))))
  | Conjunction => filled (and_bytes (firstn 16 (evs (snd n))) (skipn 16 (evs (snd n))))
  | Product_52 high => filled (times_52 high (firstn 16 (evs (snd n))) (skipn 16 (evs (snd n))))
  end.

Lemma node_value_is n :
  node_value n =
  match fst n with
  | Sub_shifted => shift_rows (sub_bytes (evs (snd n)))
  | Mixed => mix_columns (evs (snd n))
  | Sum w => filled (plus_lanes w (firstn 16 (evs (snd n))) (skipn 16 (evs (snd n))))
  | Left w k => filled (shift_left w k (evs (snd n)))
  | Right w k => filled (shift_right w k (evs (snd n)))
  | Product w => filled (times_lanes w (firstn 8 (evs (snd n))) (skipn 8 (evs (snd n))))
  | Conjunction => filled (and_bytes (firstn 16 (evs (snd n))) (skipn 16 (evs (snd n))))
  | Product_52 high => filled (times_52 high (firstn 16 (evs (snd n))) (skipn 16 (evs (snd n))))
  end.
Proof. reflexivity. Qed.

Lemma filled_length x : length (filled x) = 16.
Proof. unfold filled, zero; rewrite firstn_length, app_length, repeat_length; lia. Qed.

Lemma filled_is x : length x = 16 -> filled x = x.
Proof. intro H; unfold filled; rewrite firstn_app, H, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia. Qed.

Lemma node_value_length n : length (node_value n) = 16.
Proof. unfold node_value; destruct (fst n); solve [reflexivity | apply filled_length]. Qed.

Fixpoint consistent (nodes : list node) : Prop :=
  match nodes with
  | [] => True
  | n :: r => map env (atoms_of (length r)) = node_value n /\ consistent r
  end.

Definition extends (old new : list node) : Prop := exists l, new = l ++ old.

Local Opaque node_value.

Lemma extends_refl n : extends n n.
Proof. now exists []. Qed.

Lemma extends_trans a b c : extends a b -> extends b c -> extends a c.
Proof. intros [l ->] [k ->]; exists (k ++ l); now rewrite app_assoc. Qed.

Lemma consistent_older a b : extends a b -> consistent b -> consistent a.
Proof. intros [l ->]; induction l as [|n l IH]; [auto|]; intros [_ C]; exact (IH C). Qed.

Local Ltac xor_bits :=
  apply N.bits_inj; intro; rewrite ?N.lxor_spec, ?N.bits_0;
  repeat match goal with |- context [N.testbit ?a ?b] => destruct (N.testbit a b) end; reflexivity.

Lemma merge_sum x : forall y, sum (merge x y) = N.lxor (sum x) (sum y).
Proof.
  induction x as [|a x IH]; [reflexivity|].
  induction y as [|b y IHy]; [simpl; xor_bits|].
  change (merge (a :: x) (b :: y)) with
    (match (a ?= b)%N with
     | Eq => merge x y | Lt => a :: merge x (b :: y) | Gt => b :: merge (a :: x) y end).
  destruct (N.compare_spec a b) as [->| |].
  - rewrite IH; simpl; generalize (sum x), (sum y), (env b); intros; xor_bits.
  - change (sum (a :: merge x (b :: y))) with (N.lxor (env a) (sum (merge x (b :: y)))).
    rewrite IH; simpl; generalize (sum x), (sum y), (env b), (env a); intros; xor_bits.
  - change (sum (b :: merge (a :: x) y)) with (N.lxor (env b) (sum (merge (a :: x) y))).
    rewrite IHy; simpl; generalize (sum x), (sum y), (env b), (env a); intros; xor_bits.
Qed.

Lemma ev_const b : ev (const b) = b.
Proof. apply N.lxor_0_r. Qed.

Lemma ev_atom a : ev (atom a) = env a.
Proof. unfold ev, atom; simpl; now rewrite N.lxor_0_r. Qed.

Lemma evs_const x : evs (map const x) = x.
Proof. unfold evs; rewrite map_map; rewrite <- (map_id x) at 2; apply map_ext, ev_const. Qed.

Lemma evs_atom x : evs (map atom x) = map env x.
Proof. unfold evs; rewrite map_map; apply map_ext, ev_atom. Qed.

Lemma evs_app x y : evs (x ++ y) = evs x ++ evs y.
Proof. apply map_app. Qed.

Lemma evs_firstn n x : evs (firstn n x) = firstn n (evs x).
Proof. symmetry; apply firstn_map. Qed.

Lemma evs_skipn n x : evs (skipn n x) = skipn n (evs x).
Proof. symmetry; apply skipn_map. Qed.

Lemma evs_xor x : forall y, evs (sxor x y) = xor (evs x) (evs y).
Proof.
  induction x as [|a x IH]; intros [|b y]; simpl; auto; f_equal; auto.
  unfold ev, sxor1; simpl; rewrite merge_sum.
  generalize (sum (snd a)), (sum (snd b)); intros; xor_bits.
Qed.

Lemma evs_length x : length (evs x) = length x.
Proof. apply map_length. Qed.

Lemma list_eqb_eq {A} (eqb : A -> A -> bool) (H : forall a b, eqb a b = true -> a = b) x :
  forall y, list_eqb eqb x y = true -> x = y.
Proof.
  induction x as [|a x IH]; intros [|b y] E; simpl in E; try discriminate; auto.
  apply andb_prop in E as [E F]; now rewrite (H a b E), (IH y F).
Qed.

Lemma sbyte_eqb_eq a b : sbyte_eqb a b = true -> a = b.
Proof.
  destruct a, b; unfold sbyte_eqb; simpl; intro E; apply andb_prop in E as [E F].
  apply N.eqb_eq in E as ->; apply list_eqb_eq in F as ->; auto.
  intros; now apply N.eqb_eq.
Qed.

Lemma word_eqb_eq x y : word_eqb x y = true -> x = y.
Proof. apply list_eqb_eq, sbyte_eqb_eq. Qed.

Lemma kind_eqb_eq x y : kind_eqb x y = true -> x = y.
Proof.
  destruct x, y; cbn [kind_eqb]; intro E; try discriminate E; try reflexivity;
    try (apply andb_prop in E as [E F]; apply Nat.eqb_eq in F as ->);
    (apply Nat.eqb_eq in E as -> || apply eqb_prop in E as ->); reflexivity.
Qed.

Lemma find_node_sound n nodes id : find_node n nodes = Some id -> consistent nodes ->
  map env (atoms_of id) = node_value n.
Proof.
  induction nodes as [|m r IH]; cbn [find_node consistent]; intro F; [inversion F|].
  destruct (node_eqb n m) eqn:E; intros [C D]; [|exact (IH F D)].
  injection F as <-; rewrite C.
  unfold node_eqb in E; destruct (kind_eqb (fst n) (fst m)) eqn:K; [|discriminate].
  apply kind_eqb_eq in K; apply word_eqb_eq in E.
  destruct n, m; cbn [fst snd] in *; subst; reflexivity.
Qed.

Lemma intern_sound op x nodes w nodes' : intern op x nodes = (w, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs w = node_value (op, x)).
Proof.
  unfold intern; destruct (find_node (op, x) nodes) as [id|] eqn:F; intro E; injection E as <- <-.
  - split; [apply extends_refl|]; intro C; rewrite evs_atom; apply find_node_sound with nodes; assumption.
  - split; [exists [(op, x)]; reflexivity|]; intros [C _]; rewrite evs_atom; exact C.
Qed.
End Meaning.

Lemma ev_same env env' b : Forall (fun a => env a = env' a) (snd b) -> ev env b = ev env' b.
Proof.
  unfold ev; intro H; f_equal; induction H as [|a l E F IH]; simpl; [reflexivity|].
  now rewrite E, IH.
Qed.

Opaque node_value.

Lemma node_value_same env env' n :
  Forall (fun b => Forall (fun a => env a = env' a) (snd b)) (snd n) -> node_value env n = node_value env' n.
Proof.
  destruct n as [o x]; cbn [snd]; intro H; rewrite !node_value_is; cbn [fst snd].
  assert (Q : evs env x = evs env' x).
  { apply map_ext_in; intros b I; apply ev_same; exact (proj1 (Forall_forall _ _) H b I). }
  rewrite Q; reflexivity.
Qed.

Lemma consistent_same env env' nodes : well_founded nodes = true ->
  (forall a, (a < first + 16 * N.of_nat (length nodes))%N -> env a = env' a) ->
  consistent env nodes -> consistent env' nodes.
Proof.
  induction nodes as [|n r IH]; cbn [length well_founded consistent]; intros W H; [auto|].
  apply andb_prop in W as [W V]; intros [C D]; split; [|apply IH; auto; intros; apply H; lia].
  rewrite <- (node_value_same env env').
  - rewrite <- C; apply map_ext_in; intros a I; symmetry; apply H.
    rewrite atoms_of_is in I; apply in_map_iff in I as (i & <- & I); apply in_seq in I; lia.
  - apply Forall_forall; intros b I; apply Forall_forall; intros a J.
    rewrite forallb_forall in W; specialize (W b I); rewrite forallb_forall in W.
    specialize (W a J); apply N.ltb_lt in W; apply H; lia.
Qed.

(** For every choice of inputs there are values for all nodes. *)
Lemma values_exist inputs nodes : well_founded nodes = true ->
  exists env, (forall a, (a < first)%N -> env a = inputs a) /\ consistent env nodes.
Proof.
  induction nodes as [|n r IH]; [exists inputs; split; [auto|exact Logic.I]|].
  cbn [well_founded consistent]; intro W; apply andb_prop in W as [W V]; destruct (IH V) as (env & H & C).
  set (start := (first + 16 * N.of_nat (length r))%N).
  pose (env' := fun a => if (a <? start)%N then env a else nth (N.to_nat (a - start)) (node_value env n) 0%N).
  exists env'.
  assert (S : forall a, (a < start)%N -> env a = env' a)
    by (intros a L; unfold env'; apply N.ltb_lt in L; now rewrite L).
  split; [|split].
  - intros a L; rewrite <- S; [apply H; assumption|unfold start; lia].
  - rewrite <- (node_value_same env env').
    + apply nth_ext with (d := 0%N) (d' := 0%N).
      * rewrite map_length, atoms_of_is, node_value_length; reflexivity.
      * rewrite atoms_of_is, map_map, map_length, seq_length; intros i L.
        rewrite nth_indep with (d' := env' (first + 16 * N.of_nat (length r) + N.of_nat 0)%N)
          by now rewrite map_length, seq_length.
        rewrite (map_nth (fun i => env' (first + 16 * N.of_nat (length r) + N.of_nat i)%N)), seq_nth by assumption.
        fold start; unfold env'; destruct (N.ltb_spec (start + N.of_nat (0 + i)) start); [lia|].
        f_equal; lia.
    + apply Forall_forall; intros b I; apply Forall_forall; intros a J.
      rewrite forallb_forall in W; specialize (W b I); rewrite forallb_forall in W.
      apply S, N.ltb_lt, (W a J).
  - apply (consistent_same env); auto.
Qed.

(** ** The specification on symbolic bytes *)

Notation "'let*' ( x , n ) := a 'in' b" := (match a with (x, n) => b end) (at level 200, x name, n name).

Definition score (x : list sbyte) (nodes : list node) :=
  let* (a, nodes) := intern Sub_shifted x nodes in intern Mixed a nodes.

Definition sround1 (x key : list sbyte) (nodes : list node) :=
  let* (a, nodes) := score x nodes in (sxor a key, nodes).

Definition sfeistel (c : nat) (x : list sbyte) (nodes : list node) :=
  let* (a, nodes) := sround1 x (map const (round_constant c)) nodes in sround1 a (map const (zero 16)) nodes.

Fixpoint snew (x : list (list sbyte)) (es : list (nat * nat * nat)) (nodes : list node) :=
  match es with
  | [] => ([], nodes)
  | (from, to, c) :: es =>
      let* (a, nodes) := sfeistel c (nth from x []) nodes in
      let* (r, nodes) := snew x es nodes in
      ((to, sxor (nth to x []) a) :: r, nodes)
  end.

Definition sround (x : list (list sbyte)) (r : nat) (nodes : list node) :=
  let* (new, nodes) := snew x (combine (edges r) (seq (4 * r + 1) 4)) nodes in
  (fold_left (fun y n => update (fst n) (snd n) y) new x, nodes).

Fixpoint srounds (x : list (list sbyte)) (rs : list nat) (nodes : list node) :=
  match rs with
  | [] => (x, nodes)
  | r :: rs => let* (x, nodes) := sround x r nodes in srounds x rs nodes
  end.

Fixpoint ssplit (len n : nat) (x : list sbyte) : list (list sbyte) :=
  match n with
  | O => []
  | S n => firstn len x :: ssplit len n (skipn len x)
  end.

Definition spermute (x : list sbyte) (nodes : list node) :=
  let* (y, nodes) := srounds (ssplit 16 8 x) (seq 0 18) nodes in (concat y, nodes).

Lemma feistel_is c x : feistel c x = aes_round (aes_round x (round_constant c)) (zero 16).
Proof. reflexivity. Qed.

Lemma node_value_mix env x : node_value env (Mixed, x) = mix_columns (evs env x).
Proof. apply node_value_is. Qed.

Lemma core_is env x : mix_columns (node_value env (Sub_shifted, x)) = aes_round_core (evs env x).
Proof. rewrite node_value_is; reflexivity. Qed.

Local Opaque aes_round_core shift_rows sub_bytes mix_columns feistel.

Section Specification.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation consistent := (consistent env).

Local Ltac run_let H :=
  match type of H with context [match ?f with (_, _) => _ end] =>
    let a := fresh "a" in let n := fresh "n" in let E := fresh "E" in destruct f as [a n] eqn:E end.

Lemma score_sound x nodes w nodes' : score x nodes = (w, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs w = aes_round_core (evs x)).
Proof.
  unfold score; intro H; run_let H.
  apply (intern_sound env) in E as [X1 S1]; apply (intern_sound env) in H as [X2 S2].
  split; [apply extends_trans with n; assumption|]; intro C.
  rewrite S2 by assumption; rewrite node_value_mix.
  rewrite S1 by (apply consistent_older with nodes'; assumption); apply core_is.
Qed.

Lemma sround1_sound x key nodes w nodes' : sround1 x key nodes = (w, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs w = aes_round (evs x) (evs key)).
Proof.
  unfold sround1; intro H; run_let H; injection H as <- <-; apply score_sound in E as [X S].
  split; auto; intro C; rewrite evs_xor; unfold aes_round; rewrite S by assumption; reflexivity.
Qed.

Lemma sfeistel_sound c x nodes w nodes' : sfeistel c x nodes = (w, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs w = feistel c (evs x)).
Proof.
  unfold sfeistel; intro H; run_let H; apply sround1_sound in E as [X1 S1]; apply sround1_sound in H as [X2 S2].
  split; [apply extends_trans with n; assumption|]; intro C.
  rewrite S2, S1, !evs_const, feistel_is by (auto; apply consistent_older with nodes'; assumption). reflexivity.
Qed.

Lemma nth_evs i x : nth i (map evs x) [] = evs (nth i x []).
Proof. apply (map_nth evs x []). Qed.

Lemma snew_sound x es : forall nodes new nodes', snew x es nodes = (new, nodes') ->
  extends nodes nodes' /\
  (consistent nodes' -> map (fun n => (fst n, evs (snd n))) new =
     map (fun ec => let '((from, to), c) := ec in
       (to, xor (nth to (map evs x) []) (feistel c (nth from (map evs x) [])))) es).
Proof.
  induction es as [|[[from to] c] es IH]; simpl; intros nodes new nodes' H.
  - injection H as <- <-; split; [apply extends_refl|reflexivity].
  - run_let H; run_let H; injection H as <- <-.
    apply sfeistel_sound in E as [X1 S1]; apply IH in E0 as [X2 S2].
    split; [apply extends_trans with n; assumption|]; intro C; simpl.
    rewrite S2, evs_xor, S1, !nth_evs by (auto; apply consistent_older with n0; assumption). reflexivity.
Qed.

Lemma map_update {A B} (f : A -> B) i a x : map f (update i a x) = update i (f a) (map f x).
Proof. revert i; induction x; intros [|i]; simpl; auto; now rewrite IHx. Qed.

Lemma sround_sound x r nodes y nodes' : sround x r nodes = (y, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> map evs y = round (map evs x) r).
Proof.
  unfold sround; intro H; run_let H; injection H as <- <-; apply snew_sound in E as [X S].
  split; auto; intro C; unfold round; rewrite <- S by assumption; clear.
  revert x; induction a as [|m a IH]; intro x; simpl; auto; now rewrite IH, map_update.
Qed.

Lemma srounds_sound rs : forall x nodes y nodes', srounds x rs nodes = (y, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> map evs y = fold_left round rs (map evs x)).
Proof.
  induction rs as [|r rs IH]; intros x nodes y nodes' H; cbn [srounds fold_left] in *.
  - injection H as <- <-; split; [apply extends_refl|reflexivity].
  - run_let H; apply sround_sound in E as [X1 S1]; apply IH in H as [X2 S2].
    split; [apply extends_trans with n; assumption|]; intro C.
    rewrite S2, S1 by (auto; apply consistent_older with nodes'; assumption). reflexivity.
Qed.

Lemma ssplit_evs len n : forall x, map evs (ssplit len n x) = split len n (evs x).
Proof. induction n; intro x; simpl; auto; now rewrite IHn, evs_firstn, evs_skipn. Qed.

Theorem spermute_sound x nodes w nodes' : spermute x nodes = (w, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs w = permute (evs x)).
Proof.
  unfold spermute; intro H; run_let H; injection H as <- <-; apply srounds_sound in E as [X S].
  split; auto; intro C; unfold permute; rewrite <- ssplit_evs, <- S by assumption.
  apply concat_map.
Qed.
End Specification.
