(** * Lanes: several states at once

    As in spec/cryptol/Lanes.cry, the kernels for lanes map the operations on one state over the lanes. Word i of lane l
    is at 128 i + 16 l: the words of eight lanes beside each other. A kernel for k lanes computes the first k of those
    at its address. *)

From Coq Require Import List Bool Arith NArith ZArith ZifyNat Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call.
From Veriplex Require Permute.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements *)

Definition lane_at (m : memory) (states : Z) (l : nat) : list byte :=
  flat_map (fun i => read m (states + 128 * Z.of_nat i + 16 * Z.of_nat l) 16) (seq 0 8).

(** The first k lanes, and their bytes. *)
Definition lanes (k : nat) (m : memory) (states : Z) : list (list byte) := map (lane_at m states) (seq 0 k).

Definition in_lanes (k : nat) (states a : Z) : Prop :=
  exists i, (i < 8)%nat /\ states + 128 * Z.of_nat i <= a < states + 128 * Z.of_nat i + 16 * Z.of_nat k.

(** ** Lanes in a string of bytes *)

Local Open Scope nat_scope.

(** From the first word of the first lane to the last of the last. *)
Definition size (k : nat) : nat := 7 * 128 + 16 * k.

(** Byte j of a lane, and the byte of a lane at place j. *)
Definition place (l j : nat) : nat := 128 * (j / 16) + 16 * l + j mod 16.
Definition lane_of (j : nat) : nat := j mod 128 / 16.
Definition byte_of (j : nat) : nat := 16 * (j / 128) + j mod 16.

Section Lists.
Context {A : Type}.
Variable none : A.

Definition lane (l : nat) (x : list A) : list A := map (fun j => nth (place l j) x none) (seq 0 128).

(** Other lanes' bytes stay. *)
Definition with_lanes (ss : list (list A)) (x : list A) : list A :=
  map (fun j => if lane_of j <? length ss then nth (byte_of j) (nth (lane_of j) ss []) none else nth j x none)
    (seq 0 (length x)).

Lemma with_lanes_length ss x : length (with_lanes ss x) = length x.
Proof. unfold with_lanes; now rewrite map_length, seq_length. Qed.

Lemma nth_map_seq (f : nat -> A) n i : i < n -> nth i (map f (seq 0 n)) none = f i.
Proof.
  intro L; rewrite nth_indep with (d' := f 0) by now rewrite map_length, seq_length.
  now rewrite (map_nth f), seq_nth.
Qed.

Ltac places := unfold place, lane_of, byte_of in *; zify; Z.to_euclidean_division_equations; lia.

Lemma place_lane l j : l < 8 -> lane_of (place l j) = l.
Proof. intro; places. Qed.

Lemma place_byte l j : l < 8 -> byte_of (place l j) = j.
Proof. intro; places. Qed.

Lemma place_bound l j k : l < k -> j < 128 -> place l j < size k.
Proof. unfold size; intros; places. Qed.

Lemma nth_with_lanes ss x j : j < length x ->
  nth j (with_lanes ss x) none =
  if lane_of j <? length ss then nth (byte_of j) (nth (lane_of j) ss []) none else nth j x none.
Proof. intro L; unfold with_lanes; now rewrite nth_map_seq. Qed.

Lemma lane_with_lanes ss x l : length ss <= 8 -> length x = size (length ss) -> l < length ss ->
  length (nth l ss []) = 128 -> lane l (with_lanes ss x) = nth l ss [].
Proof.
  intros K X L S; apply nth_ext with (d := none) (d' := none); unfold lane; rewrite map_length, seq_length; [auto|].
  intros j J; rewrite nth_map_seq, nth_with_lanes, place_lane, place_byte by (auto; try rewrite X; try apply place_bound; lia).
  apply Nat.ltb_lt in L; rewrite L; reflexivity.
Qed.
End Lists.

(** ** The permutation of each lane, on bytes and on symbolic bytes *)

Definition permuted (k : nat) (x : list byte) : list byte :=
  with_lanes 0%N (map (fun l => permute (lane 0%N l x)) (seq 0 k)) x.

Fixpoint spermutes (xs : list (list sbyte)) (nodes : list node) : list (list sbyte) * list node :=
  match xs with
  | [] => ([], nodes)
  | x :: xs =>
      let* (y, nodes) := spermute x nodes in
      let* (ys, nodes) := spermutes xs nodes in (y :: ys, nodes)
  end.

Definition goal (k : nat) : list sbyte * list node :=
  let x := input 0 (size k) in
  let* (ys, nodes) := spermutes (map (fun l => lane (const 0) l x) (seq 0 k)) [] in (with_lanes (const 0) ys x, nodes).

Lemma spermutes_sound env xs : forall nodes ys nodes', spermutes xs nodes = (ys, nodes') ->
  extends nodes nodes' /\ (consistent env nodes' -> map (evs env) ys = map permute (map (evs env) xs)).
Proof.
  induction xs as [|x xs IH]; cbn [spermutes]; intros nodes ys nodes' H.
  - injection H as <- <-; split; [apply extends_refl|reflexivity].
  - destruct (spermute x nodes) as [y n] eqn:E; destruct (spermutes xs n) as [zs n'] eqn:F; injection H as <- <-.
    apply (spermute_sound env) in E as [X1 S1]; apply IH in F as [X2 S2].
    split; [apply extends_trans with n; assumption|]; intro C; cbn [map].
    rewrite S2, S1 by (auto; apply consistent_older with n'; assumption); reflexivity.
Qed.

Lemma nth_evs env x i : nth i (evs env x) 0%N = ev env (nth i x (const 0)).
Proof. rewrite <- (map_nth (ev env)); unfold evs; rewrite ev_const; reflexivity. Qed.

Lemma evs_lane env l x : evs env (lane (const 0) l x) = lane 0%N l (evs env x).
Proof. unfold lane, evs at 1; rewrite map_map; apply map_ext; intro j; symmetry; apply nth_evs. Qed.

Lemma evs_with_lanes env ss x : evs env (with_lanes (const 0) ss x) = with_lanes 0%N (map (evs env) ss) (evs env x).
Proof.
  unfold with_lanes, evs at 1; rewrite map_map, evs_length, map_length; apply map_ext; intro j.
  destruct (lane_of j <? length ss); [|symmetry; apply nth_evs].
  rewrite <- nth_evs; f_equal; symmetry; apply (map_nth (evs env) ss []).
Qed.

Lemma goal_sound k env : consistent env (snd (goal k)) -> evs env (fst (goal k)) = permuted k (evs env (input 0 (size k))).
Proof.
  unfold goal, permuted; destruct (spermutes _ _) as [ys n] eqn:E; cbn [fst snd]; intro C.
  apply (spermutes_sound env) in E as [_ S]; rewrite evs_with_lanes, S, !map_map by assumption.
  f_equal; apply map_ext; intro l; rewrite evs_lane; reflexivity.
Qed.

(** ** Lanes in memory *)

Local Open Scope Z_scope.

Lemma words_are {B} (f : nat -> nat -> B) :
  flat_map (fun i => map (f i) (seq 0 16)) (seq 0 8) = map (fun j => f (j / 16)%nat (j mod 16)%nat) (seq 0 128).
Proof. reflexivity. Qed.

Lemma lane_is m s k l : (l < k)%nat -> lane_at m s l = lane 0%N l (read m s (size k)).
Proof.
  intro L; unfold lane_at, lane; unfold read at 1.
  rewrite (words_are (fun i j => m (s + 128 * Z.of_nat i + 16 * Z.of_nat l + Z.of_nat j))).
  apply map_ext_in; intros j J; apply in_seq in J; rewrite nth_read by (apply place_bound; lia).
  f_equal; unfold place; lia.
Qed.

(** What the theorem about the whole buffer says about each lane, and about all else. *)
Theorem lanes_permuted k s m m' : (k <= 8)%nat ->
  read m' s (size k) = permuted k (read m s (size k)) ->
  (forall a, ~ s <= a < s + Z.of_nat (size k) -> m' a = m a) ->
  lanes k m' s = map permute (lanes k m s) /\ forall a, ~ in_lanes k s a -> m' a = m a.
Proof.
  intros K R F; unfold permuted in R; set (x := read m s (size k)) in *.
  set (ss := map (fun l => permute (lane 0%N l x)) (seq 0 k)) in *.
  assert (LS : length ss = k) by (unfold ss; now rewrite map_length, seq_length).
  assert (LX : length x = size k) by apply read_length.
  assert (NS : forall l, (l < k)%nat -> nth l ss [] = permute (lane 0%N l x)) by (intros l L; unfold ss; now rewrite nth_map_seq).
  split.
  - unfold lanes; rewrite map_map; apply map_ext_in; intros l J; apply in_seq in J.
    rewrite (lane_is m' s k l), (lane_is m s k l), R by lia; fold x; rewrite <- NS by lia.
    apply lane_with_lanes; rewrite ?LS; try assumption; try lia.
    rewrite NS by lia; apply permute_length; unfold lane; now rewrite map_length, seq_length.
  - intros a N; destruct (Z.lt_ge_cases a s); [apply F; lia|].
    destruct (Z.lt_ge_cases a (s + Z.of_nat (size k))) as [L|]; [|apply F; lia].
    set (j := Z.to_nat (a - s)); assert (J : (j < size k)%nat) by (unfold j; lia).
    assert (A : a = s + Z.of_nat j) by (unfold j; lia).
    assert (Q : nth j (read m' s (size k)) 0%N = nth j x 0%N).
    { rewrite R, nth_with_lanes, LS by lia; destruct (Nat.ltb_spec (lane_of j) k) as [Y|]; [|reflexivity].
      exfalso; apply N; exists (j / 128)%nat; unfold lane_of, size in *; clear - A J Y K.
      zify; Z.to_euclidean_division_equations; lia. }
    unfold x in Q; rewrite !nth_read in Q by assumption; rewrite A; exact Q.
Qed.

(** ** Kernels *)

(** K(1), ..., K(72), each four times: the table of the kernels for four and for eight states. *)
Definition round_constants_x4 : list byte := flat_map (fun c => concat (repeat (round_constant c) 4)) (seq 1 72).

(** A kernel for k states, whose arguments are the addresses of states and table. *)
Definition permutes_lanes (V : convention) (k : nat) (constants code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> list event, forall m : machine,
  let states := gpr m (argument (abi_of V) 0) in let table := gpr m (argument (abi_of V) 1) in
  let buffers := [(true, (states, Z.of_nat (size k))); (false, (table, Z.of_nat (length constants)))] in
  called V code buffers m -> read (mem m) table (length constants) = constants ->
  ends V code buffers (accesses (pc m) (pointer V m) states table) m (fun h =>
    lanes k h states = map permute (lanes k (mem m) states) /\ forall a, ~ in_lanes k states a -> h a = mem m a).

Lemma size_fits k : (k <= 8)%nat -> (0 < size k <= 4096)%nat.
Proof. unfold size; lia. Qed.

Opaque permute goal read permuted size round_constants round_constants_x4.

Theorem permutes_states (V : convention) {P : proper V} k constants code : (k <=? 8)%nat = true ->
  Permute.checks (abi_of V) code constants (size k) (goal k) = true -> ends_in_return (abi_of V) code ->
  permutes_lanes V k constants code.
Proof.
  intros K CH EN; apply Nat.leb_le in K.
  destruct (Permute.permute_sound V code constants (size k) (goal k) (permuted k) (size_fits k K) (goal_sound k) CH EN) as (acc & H).
  exists acc; intros m s t bs CALL CT; destruct (H m CALL CT) as (AL & j & m' & R & RT & S & FR & TR).
  split; [exact AL|]; exists j, m'; do 2 (split; [assumption|]); split; [|split; assumption].
  apply (lanes_permuted k s (mem m) (mem m') K S); intros a N; apply FR; constructor; [intros _; exact N|].
  constructor; [discriminate|constructor].
Qed.
