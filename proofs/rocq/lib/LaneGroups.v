(** * LaneGroups: programs on groups of four words, of 32 or 64 bits

    As in LanePrograms.v, but a result has four words, in 16 or in 32 bytes: products of words of 32 bits have 64, and of
    these the lower halves can be taken. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic ChaChaRows ChaChaKernels NHBytes NHKernels Loop
  LanePrograms.
From Veriplex Require Words64 WordLanes.
Import ListNotations.

(** Operands are numbers of results; the inputs of the program come first.  w is the size of the words, in bytes. *)
Inductive instruction :=
  | Plus (w i j : nat)
  | Product (i j : nat)
  | Right (w i k : nat)
  | Left (w i k : nat)
  | Both (i j : nat)
  | Differ (i j : nat)      (* exclusive or *)
  | Low (i : nat)
  | Word (w : nat) (x : N).

Definition program := list instruction.

Definition modulus (w : nat) : N := (if (w =? 8)%nat then 2 ^ 64 else 2 ^ 32)%N.

Definition on_word (x : instruction) (v : list N) : N :=
  (let a i := nth i v 0 in
   match x with
   | Plus w i j => (a i + a j) mod modulus w
   | Product i j => (a i * a j) mod 2 ^ 64
   | Right _ i k => a i / 2 ^ N.of_nat k
   | Left w i k => (a i * 2 ^ N.of_nat k) mod modulus w
   | Both i j => N.land (a i) (a j)
   | Differ i j => N.lxor (a i) (a j)
   | Low i => a i mod 2 ^ 32
   | Word _ x => x
   end)%N.

(** The same with the operations of Words64.v. *)
Definition on_integer (x : instruction) (v : list Z) : Z :=
  (let a i := nth i v 0 in
   match x with
   | Plus w i j => if (w =? 8)%nat then Words64.plus (a i) (a j) else (a i + a j) mod 2 ^ 32
   | Product i j => Words64.times (a i) (a j)
   | Right _ i k => Words64.shift_right (a i) (Z.of_nat k)
   | Left w i k => if (w =? 8)%nat then Words64.shift_left (a i) (Z.of_nat k) else Z.shiftl (a i) (Z.of_nat k) mod 2 ^ 32
   | Both i j => Words64.both (a i) (a j)
   | Differ i j => Z.lxor (a i) (a j)
   | Low i => Words64.low_half (a i)
   | Word _ x => Z.of_N x
   end)%Z.

(** The lower halves of four words. *)
Definition lows {A} (x : list A) : list A := flat_map (fun i => firstn 4 (skipn (8 * i) x)) (seq 0 4).

Definition on_group (x : instruction) (v : list (list byte)) : list byte :=
  let a i := nth i v [] in
  match x with
  | Plus w i j => plus_lanes w (a i) (a j)
  | Product i j => times_lanes 4 (firstn 8 (a i)) (firstn 8 (a j)) ++ times_lanes 4 (skipn 8 (a i)) (skipn 8 (a j))
  | Right w i k => shift_right w k (a i)
  | Left w i k => shift_left w k (a i)
  | Both i j => and_bytes (a i) (a j)
  | Differ i j => xor (a i) (a j)
  | Low i => lows (a i)
  | Word w x => in_lanes w (repeat x 4)
  end.

Definition on_symbol (x : instruction) (v : list (list sbyte)) (nodes : list node) : option (list sbyte * list node) :=
  let a i := nth i v [] in
  match x with
  | Plus w i j => splus_all w (a i) (a j) nodes
  | Product i j =>
      match stimes 4 (firstn 8 (a i)) (firstn 8 (a j)) nodes with
      | Some (y, nodes) =>
          match stimes 4 (skipn 8 (a i)) (skipn 8 (a j)) nodes with Some (z, nodes) => Some (y ++ z, nodes) | None => None end
      | None => None
      end
  | Right w i k => sright_all w k (a i) nodes
  | Left w i k => sleft_all w k (a i) nodes
  | Both i j => sand_all (a i) (a j) nodes
  | Differ i j => Some (sxor (a i) (a j), nodes)
  | Low i => Some (lows (a i), nodes)
  | Word w x => Some (map const (in_lanes w (repeat x 4)), nodes)
  end.

Definition on_words (p : program) (v : list N) : list N := fold_left (fun v x => v ++ [on_word x v]) p v.
Definition on_integers (p : program) (v : list Z) : list Z := fold_left (fun v x => v ++ [on_integer x v]) p v.
Definition on_groups (p : program) (v : list (list byte)) : list (list byte) := fold_left (fun v x => v ++ [on_group x v]) p v.

Fixpoint on_symbols (p : program) (v : list (list sbyte)) (nodes : list node) : option (list (list sbyte) * list node) :=
  match p with
  | [] => Some (v, nodes)
  | x :: p => match on_symbol x v nodes with Some (a, nodes) => on_symbols p (v ++ [a]) nodes | None => None end
  end.

(** The size of a result's words, from those of the results before it, if these fit. *)
Definition width_of (x : instruction) (ws : list nat) : option nat :=
  let a i := nth i ws 0 in
  match x with
  | Plus w i j => if lane_ok w && (a i =? w) && (a j =? w) then Some w else None
  | Product i j => if (a i =? 4) && (a j =? 4) then Some 8 else None
  | Right w i _ | Left w i _ => if lane_ok w && (a i =? w) then Some w else None
  | Both i j => if lane_ok (a i) && (a j =? a i) then Some (a i) else None
  | Differ i j => if (a i =? 4) && (a j =? 4) then Some 4 else None
  | Low i => if a i =? 8 then Some 4 else None
  | Word w x => if lane_ok w && (x <? modulus w)%N then Some w else None
  end.

Fixpoint widths (p : program) (ws : list nat) : option (list nat) :=
  match p with
  | [] => Some ws
  | x :: p => match width_of x ws with Some w => widths p (ws ++ [w]) | None => None end
  end.

(** ** Words and groups *)

Lemma modulus_is w : lane_ok w = true -> modulus w = (256 ^ N.of_nat w)%N.
Proof. unfold lane_ok; intro H; apply orb_prop in H as [H|H]; apply Nat.eqb_eq in H as ->; reflexivity. Qed.

Lemma lane_nonzero w : lane_ok w = true -> w <> 0.
Proof. intros H ->; discriminate. Qed.

Lemma on_integer_is x v : Z.of_N (on_word x v) = on_integer x (map Z.of_N v).
Proof.
  assert (A : forall i, nth i (map Z.of_N v) 0%Z = Z.of_N (nth i v 0%N)) by (intro i; exact (map_nth Z.of_N v 0%N i)).
  destruct x as [w i j|i j|w i k|w i k|i j|i j|i|w x]; cbn [on_word on_integer]; rewrite ?A.
  - unfold modulus; destruct (w =? 8); unfold Words64.plus; rewrite N2Z.inj_mod, N2Z.inj_add; reflexivity.
  - unfold Words64.times; rewrite N2Z.inj_mod, N2Z.inj_mul; reflexivity.
  - unfold Words64.shift_right; rewrite Z.shiftr_div_pow2, N2Z.inj_div, N2Z.inj_pow, nat_N_Z by lia; reflexivity.
  - unfold modulus; destruct (w =? 8); unfold Words64.shift_left; rewrite Z.shiftl_mul_pow2, N2Z.inj_mod, N2Z.inj_mul,
      N2Z.inj_pow, nat_N_Z by lia; reflexivity.
  - apply land_of_N.
  - destruct (nth i v 0%N), (nth j v 0%N); reflexivity.
  - unfold Words64.low_half; rewrite N2Z.inj_mod; reflexivity.
  - reflexivity.
Qed.

Lemma on_integers_are p : forall v, map Z.of_N (on_words p v) = on_integers p (map Z.of_N v).
Proof.
  induction p as [|x p IH]; intro v; [reflexivity|]; unfold on_words, on_integers in *; cbn [fold_left].
  rewrite IH, map_app; cbn [map]; rewrite on_integer_is; reflexivity.
Qed.

Section Lanes.
Notation four := (seq 0 4).

(** Of each lane, the words that these groups have. *)
Definition hold (ws : list nat) (vs : list (list byte)) (f : nat -> list N) : Prop :=
  length vs = length ws /\ (forall l, length (f l) = length ws) /\
  forall i, lane_ok (nth i ws 0) = true -> nth i vs [] = in_lanes (nth i ws 0) (map (fun l => nth i (f l) 0%N) four) /\
    forall l, (nth i (f l) 0 < 256 ^ N.of_nat (nth i ws 0%nat))%N.

Lemma products (f g : nat -> N) : (forall l, f l < 2 ^ 32)%N -> (forall l, g l < 2 ^ 32)%N ->
  times_lanes 4 (firstn 8 (in_lanes 4 (map f four))) (firstn 8 (in_lanes 4 (map g four))) ++
  times_lanes 4 (skipn 8 (in_lanes 4 (map f four))) (skipn 8 (in_lanes 4 (map g four))) =
  in_lanes 8 (map (fun l => (f l * g l) mod 2 ^ 64)%N four).
Proof.
  intros F G; cbn [seq map].
  change (times_lanes 4 (in_lanes 4 [f 0; f 1]) (in_lanes 4 [g 0; g 1]) ++
    times_lanes 4 (in_lanes 4 [f 2; f 3]) (in_lanes 4 [g 2; g 3]) =
    in_lanes 8 (map (fun l => (f l * g l) mod 2 ^ 64)%N four)).
  rewrite !times_two, !N.mod_small by auto.
  change (in_lanes 8 (map (fun l => (f l * g l)%N) four) = in_lanes 8 (map (fun l => (f l * g l) mod 2 ^ 64)%N four)).
  apply in_lanes_same; intros l _; symmetry; apply N.mod_mod; discriminate.
Qed.

Lemma lows_are (f : nat -> N) : lows (in_lanes 8 (map f four)) = in_lanes 4 (map (fun l => (f l mod 2 ^ 32)%N) four).
Proof.
  transitivity (in_lanes 4 (map f four)); [reflexivity|]; apply in_lanes_same; intros l _; symmetry; apply N.mod_mod; discriminate.
Qed.

Lemma on_group_is x ws vs f w : hold ws vs f -> width_of x ws = Some w ->
  lane_ok w = true /\ on_group x vs = in_lanes w (map (fun l => on_word x (f l)) four) /\
  forall l, (on_word x (f l) < 256 ^ N.of_nat w)%N.
Proof.
  intros (_ & _ & H) W.
  assert (NZ : forall n, lane_ok n = true -> (256 ^ N.of_nat n <> 0)%N) by (intros n _; apply N.pow_nonzero; discriminate).
  destruct x as [v i j|i j|v i k|v i k|i j|i j|i|v x]; cbn [width_of on_group on_word] in *.
  - destruct (lane_ok v && (nth i ws 0 =? v) && (nth j ws 0 =? v)) eqn:Q; [|discriminate].
    apply andb_prop in Q as [Q J]; apply andb_prop in Q as [L I]; apply Nat.eqb_eq in I, J; assert (w = v) by congruence; subst w.
    destruct (H i ltac:(rewrite I; exact L)) as [-> _]; destruct (H j ltac:(rewrite J; exact L)) as [-> _]; rewrite I, J.
    split; [exact L|]; split.
    + rewrite WordLanes.plus_many by (apply lane_nonzero, L); rewrite (modulus_is v L); reflexivity.
    + intro l; rewrite (modulus_is v L); apply N.mod_lt, (NZ v L).
  - destruct ((nth i ws 0 =? 4) && (nth j ws 0 =? 4)) eqn:Q; [|discriminate].
    apply andb_prop in Q as [I J]; apply Nat.eqb_eq in I, J; assert (8 = w) by congruence; subst w.
    destruct (H i ltac:(rewrite I; reflexivity)) as [-> A]; destruct (H j ltac:(rewrite J; reflexivity)) as [-> B].
    rewrite I, J in *; split; [reflexivity|]; split; [exact (products _ _ A B)|]; intro l; apply N.mod_lt; discriminate.
  - destruct (lane_ok v && (nth i ws 0 =? v)) eqn:Q; [|discriminate].
    apply andb_prop in Q as [L I]; apply Nat.eqb_eq in I; assert (w = v) by congruence; subst w.
    destruct (H i ltac:(rewrite I; exact L)) as [-> A]; rewrite I in *; split; [exact L|]; split.
    + apply WordLanes.shift_right_many; [apply lane_nonzero, L|]; apply Forall_forall; intros l _; apply A.
    + intro l; apply N.le_lt_trans with (nth i (f l) 0%N); [|apply A].
      apply N.div_le_upper_bound; [apply N.pow_nonzero; discriminate|].
      assert (P : (2 ^ N.of_nat k <> 0)%N) by (apply N.pow_nonzero; discriminate); nia.
  - destruct (lane_ok v && (nth i ws 0 =? v)) eqn:Q; [|discriminate].
    apply andb_prop in Q as [L I]; apply Nat.eqb_eq in I; assert (w = v) by congruence; subst w.
    destruct (H i ltac:(rewrite I; exact L)) as [-> _]; rewrite I; split; [exact L|]; split.
    + rewrite WordLanes.shift_left_many by (apply lane_nonzero, L); rewrite (modulus_is v L); reflexivity.
    + intro l; rewrite (modulus_is v L); apply N.mod_lt, (NZ v L).
  - destruct (lane_ok (nth i ws 0) && (nth j ws 0 =? nth i ws 0)) eqn:Q; [|discriminate].
    apply andb_prop in Q as [L J]; apply Nat.eqb_eq in J; assert (E : nth i ws 0 = w) by congruence.
    destruct (H i L) as [-> A]; destruct (H j ltac:(rewrite J; exact L)) as [-> _]; rewrite J, E in *.
    split; [exact L|]; split; [apply WordLanes.and_many|]; intro l; specialize (A l); rewrite bits_of_bytes in *; apply land_below, A.
  - destruct ((nth i ws 0 =? 4) && (nth j ws 0 =? 4)) eqn:Q; [|discriminate].
    apply andb_prop in Q as [I J]; apply Nat.eqb_eq in I, J; assert (4 = w) by congruence; subst w.
    destruct (H i ltac:(rewrite I; reflexivity)) as [-> A]; destruct (H j ltac:(rewrite J; reflexivity)) as [-> B].
    rewrite I, J in *; split; [reflexivity|]; split; [apply WordLanes.xor_many|]; intro l; exact (word_lxor _ _ (A l) (B l)).
  - destruct (nth i ws 0 =? 8) eqn:I; [|discriminate]; apply Nat.eqb_eq in I; assert (4 = w) by congruence; subst w.
    destruct (H i ltac:(rewrite I; reflexivity)) as [-> _]; rewrite I; split; [reflexivity|]; split; [apply lows_are|].
    intro l; apply N.mod_lt; discriminate.
  - destruct (lane_ok v && (x <? modulus v)%N) eqn:Q; [|discriminate].
    apply andb_prop in Q as [L X]; apply N.ltb_lt in X; assert (w = v) by congruence; subst w.
    split; [exact L|]; split; [reflexivity|]; intros _; rewrite <- (modulus_is v L); exact X.
Qed.

Lemma on_groups_are p : forall ws vs f ws', hold ws vs f -> widths p ws = Some ws' ->
  hold ws' (on_groups p vs) (fun l => on_words p (f l)).
Proof.
  induction p as [|x p IH]; intros ws vs f ws' H W; cbn [widths] in W.
  - assert (E : ws = ws') by congruence; subst ws'; exact H.
  - destruct (width_of x ws) as [w|] eqn:Q; [|discriminate].
    destruct (on_group_is x ws vs f w H Q) as (L & E & B); destruct H as (LV & LF & H).
    apply (IH (ws ++ [w]) (vs ++ [on_group x vs]) (fun l => f l ++ [on_word x (f l)]) ws'); [|exact W].
    split; [rewrite !app_length, LV; reflexivity|]; split; [intro l; rewrite !app_length, LF; reflexivity|]; intros i LO.
    destruct (Nat.lt_trichotomy i (length ws)) as [C|[C|C]].
    + rewrite (app_nth1 ws) in LO |- * by lia; rewrite (app_nth1 vs) by lia; destruct (H i LO) as [E1 B1]; split.
      * rewrite E1; f_equal; apply map_ext; intro l; rewrite app_nth1 by (rewrite LF; lia); reflexivity.
      * intro l; rewrite app_nth1 by (rewrite LF; lia); apply B1.
    + subst i; rewrite nth_middle; rewrite <- LV at 1; rewrite nth_middle; split.
      * rewrite E; f_equal; apply map_ext; intro l; rewrite <- (LF l), nth_middle; reflexivity.
      * intro l; rewrite <- (LF l), nth_middle; apply B.
    + rewrite nth_overflow in LO by (rewrite app_length; cbn [length]; lia); discriminate.
Qed.
End Lanes.

(** ** Symbolic groups *)

Section Meaning.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation consistent := (consistent env).

Lemma evs_lows x : evs (lows x) = lows (evs x).
Proof. unfold lows; rewrite flat_map_evs; apply flat_map_ext; intro i; rewrite evs_firstn, evs_skipn; reflexivity. Qed.

Lemma on_symbol_sound x v nodes a nodes' : on_symbol x v nodes = Some (a, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs a = on_group x (map evs v)).
Proof.
  destruct x as [w i j|i j|w i k|w i k|i j|i j|i|w x]; cbn [on_symbol on_group]; intro E; rewrite ?(nth_symbols env).
  - exact (splus_all_sound env _ _ _ _ _ _ E).
  - destruct (stimes 4 (firstn 8 (nth i v [])) (firstn 8 (nth j v [])) nodes) as [[y n1]|] eqn:E1; [|discriminate].
    destruct (stimes 4 (skipn 8 (nth i v [])) (skipn 8 (nth j v [])) n1) as [[z n2]|] eqn:E2; [|discriminate].
    assert (F : y ++ z = a /\ n2 = nodes') by (split; congruence); destruct F as [<- <-].
    apply (stimes_sound env) in E1 as [X1 S1]; apply (stimes_sound env) in E2 as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite evs_app, (S2 C), (S1 (consistent_older _ _ _ X2 C)), !evs_firstn, !evs_skipn; reflexivity.
  - exact (sright_all_sound env _ _ _ _ _ _ E).
  - exact (sleft_all_sound env _ _ _ _ _ _ E).
  - exact (sand_all_sound env _ _ _ _ _ E).
  - assert (F : sxor (nth i v []) (nth j v []) = a /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|]; intros _; apply evs_xor.
  - assert (F : lows (nth i v []) = a /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|]; intros _; apply evs_lows.
  - assert (F : map const (in_lanes w (repeat x 4)) = a /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|]; intros _; apply evs_const.
Qed.

Lemma on_symbols_sound p : forall v nodes w nodes', on_symbols p v nodes = Some (w, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> map evs w = on_groups p (map evs v)).
Proof.
  induction p as [|x p IH]; intros v nodes w nodes' E; cbn [on_symbols] in E.
  - assert (F : v = w /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|reflexivity].
  - destruct (on_symbol x v nodes) as [[a n1]|] eqn:E1; [|discriminate].
    apply on_symbol_sound in E1 as [X1 S1]; apply IH in E as [X2 S2]; split; [eapply extends_trans; eassumption|]; intro C.
    rewrite (S2 C), map_app; cbn [map]; rewrite (S1 (consistent_older _ _ _ X2 C)); reflexivity.
Qed.
End Meaning.

(** ** What a kernel does in an iteration *)

(** A word at this byte. *)
Definition word_at {A} (w : nat) (x : list A) (i : nat) : list A := firstn w (skipn i x).

(** An input: of the string with this number, four words of this size, at these bytes. *)
Notation input := (nat * (nat * list nat))%type (only parsing).

Definition taken {A} (xs : list (list A)) (from : input) : list A :=
  flat_map (word_at (fst (snd from)) (nth (fst from) xs [])) (snd (snd from)).

Section Operation.
Variables (p : program) (inputs : list input) (outputs : list nat).
(* String 0 is what is carried, string 1 is only read, string 2 a block. *)

Definition on_strings (s : list byte) (cs : list (list byte)) : list byte :=
  let v := on_groups p (map (taken (s :: cs)) inputs) in flat_map (fun o => nth o v []) outputs.

Definition on_symbolic_strings (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :
    option (list sbyte * list (list sbyte) * list node) :=
  match on_symbols p (map (taken (s :: cs)) inputs) nodes with
  | Some (v, nodes) => Some (flat_map (fun o => nth o v []) outputs, skipn 1 cs, nodes)
  | None => None
  end.

Lemma evs_taken env xs from : evs env (taken xs from) = taken (map (evs env) xs) from.
Proof.
  unfold taken; rewrite (nth_symbols env), flat_map_evs; apply flat_map_ext; intro i; unfold word_at.
  rewrite evs_firstn, evs_skipn; reflexivity.
Qed.

Lemma on_strings_agree env s cs nodes s' cs' nodes' : on_symbolic_strings s cs nodes = Some (s', cs', nodes') ->
  extends nodes nodes' /\
  (consistent env nodes' -> (on_strings (evs env s) (map (evs env) cs), skipn 1 (map (evs env) cs)) = (evs env s', map (evs env) cs')).
Proof.
  unfold on_symbolic_strings; destruct (on_symbols p _ nodes) as [[v n1]|] eqn:E; [|discriminate]; intro F.
  match type of F with Some (?t, _, _) = _ => assert (G : t = s' /\ skipn 1 cs = cs' /\ n1 = nodes') by (repeat split; congruence) end.
  destruct G as (<- & <- & <-); apply (on_symbols_sound env) in E as [X S]; split; [exact X|]; intro C.
  f_equal; [|apply skipn_map]; unfold on_strings; rewrite flat_map_evs.
  assert (T : map (evs env) (map (taken (s :: cs)) inputs) = map (taken (evs env s :: map (evs env) cs)) inputs).
  { rewrite map_map; apply map_ext; intro from; apply evs_taken. }
  rewrite <- T, <- (S C); apply flat_map_ext; intro o; apply (nth_symbols env).
Qed.

Definition running : operation :=
  Operation (fun s => s) (fun s cs => (on_strings s cs, skipn 1 cs)) (fun s nodes => Some (s, nodes)) on_symbolic_strings
    (fun env s nodes t nodes' E _ =>
      f_equal (evs env) (f_equal (fun o => match o with Some (t, _) => t | None => [] end) E))
    on_strings_agree.

(** *** On words *)

(** The inputs, as words of one lane. *)
Definition words_taken (xs : list (list byte)) (l : nat) : list N :=
  map (fun from => lane_number (word_at (fst (snd from)) (nth (fst from) xs []) (nth l (snd (snd from)) 0))) inputs.

(** Four words are taken, which are there, and the results have 64 bits. *)
Definition shape_ok (lengths : list nat) : bool :=
  forallb (fun from => lane_ok (fst (snd from)) && (length (snd (snd from)) =? 4) &&
    forallb (fun i => i + fst (snd from) <=? nth (fst from) lengths 0) (snd (snd from))) inputs &&
  match widths p (map (fun from => fst (snd from)) inputs) with
  | Some ws => forallb (fun o => nth o ws 0 =? 8) outputs
  | None => false
  end.

Lemma word_there w (x : list byte) i : small 256 x -> i + w <= length x ->
  little_endian w (lane_number (word_at w x i)) = word_at w x i /\ (lane_number (word_at w x i) < 256 ^ N.of_nat w)%N.
Proof.
  intros S L; assert (LW : length (word_at w x i) = w) by (unfold word_at; rewrite firstn_length, skipn_length; lia).
  assert (SW : small 256 (word_at w x i)).
  { unfold word_at, small in *; rewrite <- (firstn_skipn i x) in S; apply Forall_app in S as [_ S].
    rewrite <- (firstn_skipn w (skipn i x)) in S; apply Forall_app in S; apply S. }
  pose proof (little_endian_number _ SW) as P; pose proof (number_small _ SW) as Q; rewrite LW in P, Q; split; assumption.
Qed.

Lemma in_lanes_of_all {A} w (f : A -> list N) l : in_lanes w (flat_map f l) = flat_map (fun a => in_lanes w (f a)) l.
Proof. induction l as [|a l IH]; [reflexivity|]; cbn [flat_map]; rewrite <- IH; apply flat_map_app. Qed.

(** What is carried on, as the words of each lane. *)
Theorem on_strings_are s cs : let xs := s :: cs in shape_ok (map (@length byte) xs) = true -> Forall (small 256) xs ->
  let results l o := nth o (on_words p (words_taken xs l)) 0%N in
  on_strings s cs = in_lanes 8 (flat_map (fun o => map (fun l => results l o) (seq 0 4)) outputs) /\
  forall l o, In o outputs -> (results l o < 2 ^ 64)%N.
Proof.
  intros xs OK SM results; unfold shape_ok in OK; apply andb_prop in OK as [OI OO]; rewrite forallb_forall in OI.
  set (ws := map (fun from : input => fst (snd from)) inputs) in *.
  destruct (widths p ws) as [ws'|] eqn:W; [|discriminate]; rewrite forallb_forall in OO.
  assert (START : hold ws (map (taken xs) inputs) (words_taken xs)).
  { unfold ws, words_taken; split; [rewrite !map_length; reflexivity|]; split; [intro l; rewrite !map_length; reflexivity|].
    intros i LO; assert (I : i < length inputs).
    { destruct (Nat.lt_ge_cases i (length inputs)) as [C|C]; [exact C|].
      rewrite nth_overflow in LO by (rewrite map_length; exact C); discriminate. }
    set (from := nth i inputs (0, (0, []))); assert (IN : In from inputs) by (apply nth_In, I).
    assert (NTH : forall B (g : input -> B) d, nth i (map g inputs) d = g from).
    { intros B g d; rewrite nth_indep with (d' := g (0, (0, []))) by (rewrite map_length; exact I); apply (map_nth g). }
    rewrite !NTH; pose proof (OI from IN) as Q; apply andb_prop in Q as [Q QP]; apply andb_prop in Q as [_ QL].
    apply Nat.eqb_eq in QL; rewrite forallb_forall in QP; destruct from as [k [w ps]] eqn:F; cbn [fst snd] in *.
    assert (LEN : nth k (map (@length byte) xs) 0 = length (nth k xs [])) by exact (map_nth (@length byte) xs [] k).
    assert (SX : small 256 (nth k xs [])).
    { destruct (Nat.lt_ge_cases k (length xs)) as [C|C]; [|rewrite nth_overflow by exact C; constructor].
      rewrite Forall_forall in SM; apply SM, nth_In, C. }
    assert (THERE : forall l, nth l ps 0 + w <= length (nth k xs [])).
    { intro l; rewrite <- LEN; destruct (Nat.lt_ge_cases l (length ps)) as [C|C].
      - apply Nat.leb_le, QP, nth_In, C.
      - rewrite (nth_overflow ps) by exact C; destruct ps as [|i0 ps]; [discriminate|].
        pose proof (QP i0 (or_introl eq_refl)) as X; apply Nat.leb_le in X; lia. }
    split.
    - unfold taken; cbn [fst snd]; rewrite <- (NHBytes.whole 0 ps), QL at 1.
      unfold in_lanes; rewrite !flat_map_concat_map, !map_map; f_equal; apply map_ext; intro l; rewrite NTH; cbn [fst snd].
      symmetry; exact (proj1 (word_there w _ _ SX (THERE l))).
    - intro l; rewrite NTH; cbn [fst snd]; exact (proj2 (word_there w _ _ SX (THERE l))). }
  destruct (on_groups_are p ws _ _ ws' START W) as (_ & _ & H); split.
  - rewrite in_lanes_of_all; unfold on_strings; fold xs; rewrite !flat_map_concat_map; f_equal; apply map_ext_in; intros o J.
    specialize (OO o J); apply Nat.eqb_eq in OO; destruct (H o) as [E _]; [rewrite OO; reflexivity|]; rewrite E, OO; reflexivity.
  - intros l o J; specialize (OO o J); apply Nat.eqb_eq in OO; destruct (H o) as [_ B]; [rewrite OO; reflexivity|].
    specialize (B l); rewrite OO in B; exact B.
Qed.

End Operation.
