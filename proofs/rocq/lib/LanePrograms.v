(** * LanePrograms: programs on words of 64 bits, two of which lie in each string of 16 bytes

    A program is a list of operations, each on results before it.  It has three meanings: on words, with the operations of
    Words64.v; on strings of 16 bytes; and on symbolic ones, where equal operations share a node.  The first two agree
    ([on_pieces_words]), and so do the last two ([on_symbols_sound]). *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic ChaChaRows ChaChaKernels NHBytes NHKernels Loop.
From Veriplex Require Words64.
Import ListNotations.

(** Operands are numbers of results; the inputs of the program come first. *)
Inductive instruction :=
  | Plus (i j : nat)
  | Low_product (i j : nat)                (* of the low halves *)
  | Right (i k : nat)
  | Left (i k : nat)
  | Both (i j : nat)
  | Word (x : N)
  | Half_52 (high : bool) (i j : nat).     (* of the product of the lower 52 bits *)

Definition program := list instruction.

Definition on_word (x : instruction) (v : list Z) : Z :=
  match x with
  | Plus i j => Words64.plus (nth i v 0%Z) (nth j v 0%Z)
  | Low_product i j => Words64.times (Words64.low_half (nth i v 0%Z)) (Words64.low_half (nth j v 0%Z))
  | Right i k => Words64.shift_right (nth i v 0%Z) (Z.of_nat k)
  | Left i k => Words64.shift_left (nth i v 0%Z) (Z.of_nat k)
  | Both i j => Words64.both (nth i v 0%Z) (nth j v 0%Z)
  | Word x => Z.of_N x
  | Half_52 high i j =>
      (if high then Words64.high_52 else Words64.low_52) (Words64.product_52 (nth i v 0%Z) (nth j v 0%Z))
  end.

Definition on_piece (x : instruction) (v : list (list byte)) : list byte :=
  match x with
  | Plus i j => plus_lanes 8 (nth i v []) (nth j v [])
  | Low_product i j => times_lanes 4 (evens (nth i v [])) (evens (nth j v []))
  | Right i k => shift_right 8 k (nth i v [])
  | Left i k => shift_left 8 k (nth i v [])
  | Both i j => and_bytes (nth i v []) (nth j v [])
  | Word x => in_lanes 8 [x; x]
  | Half_52 high i j => times_52 high (nth i v []) (nth j v [])
  end.

Definition on_symbol (x : instruction) (v : list (list sbyte)) (nodes : list node) : option (list sbyte * list node) :=
  match x with
  | Plus i j => splus 8 (nth i v []) (nth j v []) nodes
  | Low_product i j => stimes 4 (evens (nth i v [])) (evens (nth j v [])) nodes
  | Right i k => sright 8 k (nth i v []) nodes
  | Left i k => sleft 8 k (nth i v []) nodes
  | Both i j => sand (nth i v []) (nth j v []) nodes
  | Word x => Some (map const (in_lanes 8 [x; x]), nodes)
  | Half_52 high i j => stimes_52 high (nth i v []) (nth j v []) nodes
  end.

Definition on_words (p : program) (v : list Z) : list Z := fold_left (fun v x => v ++ [on_word x v]) p v.
Definition on_pieces (p : program) (v : list (list byte)) : list (list byte) := fold_left (fun v x => v ++ [on_piece x v]) p v.

Fixpoint on_symbols (p : program) (v : list (list sbyte)) (nodes : list node) : option (list (list sbyte) * list node) :=
  match p with
  | [] => Some (v, nodes)
  | x :: p => match on_symbol x v nodes with Some (a, nodes) => on_symbols p (v ++ [a]) nodes | None => None end
  end.

(** Every operand is there: [n] results come before. *)
Definition operands_in (n : nat) (x : instruction) : bool :=
  match x with
  | Plus i j | Low_product i j | Both i j | Half_52 _ i j => (i <? n) && (j <? n)
  | Right i _ | Left i _ => i <? n
  | Word x => (x <? 2 ^ 64)%N
  end.

Fixpoint well_formed (n : nat) (p : program) : bool :=
  match p with [] => true | x :: p => operands_in n x && well_formed (S n) p end.

(** ** Words and strings *)

Definition word (j : nat) (x : list byte) : Z := Z.of_N (nth j (lanes 8 x) 0%N).

Definition piece (x : list byte) : Prop := length x = 16%nat /\ small 256 x.

Lemma piece_is x : piece x -> exists a b, (a < 2 ^ 64)%N /\ (b < 2 ^ 64)%N /\ x = in_lanes 8 [a; b].
Proof.
  intros [L S]; destruct (lanes_are 8 2 x L S) as [_ E]; [discriminate|].
  destruct (lanes_8 x L) as (a & b & F); rewrite F in E; exists a, b; split; [|split; [|symmetry; exact E]].
  - assert (J : In a (lanes 8 x)) by (rewrite F; now left); rewrite lanes_mod in J; apply in_map_iff in J as (l & <- & _).
    apply N.mod_lt; discriminate.
  - assert (J : In b (lanes 8 x)) by (rewrite F; right; now left); rewrite lanes_mod in J; apply in_map_iff in J as (l & <- & _).
    apply N.mod_lt; discriminate.
Qed.

Lemma lanes_of_two a b : lanes 8 (in_lanes 8 [a; b]) = [(a mod 2 ^ 64)%N; (b mod 2 ^ 64)%N].
Proof. rewrite lanes_in_lanes by discriminate; reflexivity. Qed.

Lemma word_of_two j a b : (j < 2)%nat -> word j (in_lanes 8 [a; b]) = Z.of_N (nth j [a; b] 0%N mod 2 ^ 64).
Proof. intro L; unfold word; rewrite lanes_of_two; destruct j as [|[|j]]; [reflexivity..|lia]. Qed.

Lemma two_are_piece a b : piece (in_lanes 8 [a; b]).
Proof. split; [rewrite in_lanes_length; reflexivity|apply in_lanes_small]. Qed.

Lemma plus_two a b c d : (a < 2 ^ 64)%N -> (b < 2 ^ 64)%N -> (c < 2 ^ 64)%N -> (d < 2 ^ 64)%N ->
  plus_lanes 8 (in_lanes 8 [a; b]) (in_lanes 8 [c; d]) = in_lanes 8 [(a + c)%N; (b + d)%N].
Proof.
  intros A B C D; unfold plus_lanes; rewrite !lanes_of_two, !N.mod_small by assumption; reflexivity.
Qed.

Lemma little_endian_8 a : little_endian 8 a = little_endian 4 a ++ little_endian 4 (a / 2 ^ 32).
Proof.
  change (2 ^ 32)%N with (256 * (256 * (256 * 256)))%N; rewrite <- !N.div_div by discriminate; rewrite !little_endian_is; reflexivity.
Qed.

Lemma evens_two a b : evens (in_lanes 8 [a; b]) = in_lanes 4 [a; b].
Proof. reflexivity. Qed.

Lemma times_two a b c d : times_lanes 4 (in_lanes 4 [a; b]) (in_lanes 4 [c; d]) =
  in_lanes 8 [(a mod 2 ^ 32 * (c mod 2 ^ 32))%N; (b mod 2 ^ 32 * (d mod 2 ^ 32))%N].
Proof. unfold times_lanes; rewrite !lanes_in_lanes by discriminate; reflexivity. Qed.

Definition half_52 (high : bool) (a b : N) : N :=
  (let p := a mod 2 ^ 52 * (b mod 2 ^ 52) in if high then p / 2 ^ 52 else p mod 2 ^ 52)%N.

Lemma half_52_two high a b c d : (a < 2 ^ 64)%N -> (b < 2 ^ 64)%N -> (c < 2 ^ 64)%N -> (d < 2 ^ 64)%N ->
  times_52 high (in_lanes 8 [a; b]) (in_lanes 8 [c; d]) = in_lanes 8 [half_52 high a c; half_52 high b d].
Proof.
  intros A B C D; unfold times_52; rewrite !lanes_of_two, !N.mod_small by assumption; cbn [combine map fst snd].
  rewrite !N.land_ones, !N.shiftr_div_pow2; reflexivity.
Qed.

Lemma half_52_is high a b : Z.of_N (half_52 high a b mod 2 ^ 64) =
  (if high then Words64.high_52 else Words64.low_52) (Words64.product_52 (Z.of_N a) (Z.of_N b)).
Proof.
  assert (P : forall x, (x mod 2 ^ 52 < 2 ^ 52)%N) by (intro x; apply N.mod_lt; discriminate).
  unfold half_52, Words64.product_52, Words64.high_52, Words64.low_52; pose proof (P a); pose proof (P b).
  destruct high; rewrite N.mod_small.
  - rewrite N2Z.inj_div, N2Z.inj_mul, !N2Z.inj_mod; reflexivity.
  - apply N.lt_trans with (2 ^ 52)%N; [apply N.div_lt_upper_bound; [discriminate|]|reflexivity].
    apply N.lt_le_trans with (2 ^ 52 * 2 ^ 52)%N; [apply N.mul_lt_mono; apply P|discriminate].
  - rewrite N2Z.inj_mod, N2Z.inj_mul, !N2Z.inj_mod; reflexivity.
  - apply N.lt_trans with (2 ^ 52)%N; [apply P|reflexivity].
Qed.

Lemma right_two k a b : (a < 2 ^ 64)%N -> (b < 2 ^ 64)%N ->
  shift_right 8 k (in_lanes 8 [a; b]) = in_lanes 8 [(a / 2 ^ N.of_nat k)%N; (b / 2 ^ N.of_nat k)%N].
Proof. intros A B; rewrite shift_right_is, lanes_of_two, !N.mod_small by assumption; reflexivity. Qed.

Lemma left_two k a b : (a < 2 ^ 64)%N -> (b < 2 ^ 64)%N ->
  shift_left 8 k (in_lanes 8 [a; b]) = in_lanes 8 [(a * 2 ^ N.of_nat k)%N; (b * 2 ^ N.of_nat k)%N].
Proof. intros A B; rewrite shift_left_is, lanes_of_two, !N.mod_small by assumption; reflexivity. Qed.

Lemma and_two a b c d : and_bytes (in_lanes 8 [a; b]) (in_lanes 8 [c; d]) = in_lanes 8 [N.land a c; N.land b d].
Proof.
  unfold in_lanes; cbn [flat_map]; rewrite !app_nil_r, and_app by (rewrite !little_endian_length; reflexivity).
  rewrite !and_little_endian; reflexivity.
Qed.

Lemma land_below a b n : (a < 2 ^ n)%N -> (N.land a b < 2 ^ n)%N.
Proof.
  intro A; destruct (N.eq_dec (N.land a b) 0) as [->|NZ]; [lia|].
  apply N.log2_lt_pow2; [lia|]; apply N.le_lt_trans with (N.log2 a).
  - apply N.le_trans with (N.min (N.log2 a) (N.log2 b)); [apply N.log2_land|lia].
  - destruct (N.eq_dec a 0) as [->|Z]; [rewrite N.land_0_l in NZ; lia|apply N.log2_lt_pow2; lia].
Qed.

Lemma land_of_N a b : Z.of_N (N.land a b) = Z.land (Z.of_N a) (Z.of_N b).
Proof. destruct a, b; reflexivity. Qed.

Section Words.
Variable j : nat.
Hypothesis J : (j < 2)%nat.

Lemma nth_two (f : N -> N -> N) a b c d : nth j [f a c; f b d] 0%N = f (nth j [a; b] 0%N) (nth j [c; d] 0%N).
Proof. destruct j as [|[|i]]; [reflexivity..|lia]. Qed.

Lemma nth_one (f : N -> N) a b : nth j [f a; f b] 0%N = f (nth j [a; b] 0%N).
Proof. destruct j as [|[|i]]; [reflexivity..|lia]. Qed.

Lemma nth_below a b : (a < 2 ^ 64)%N -> (b < 2 ^ 64)%N -> (nth j [a; b] 0 < 2 ^ 64)%N.
Proof. destruct j as [|[|i]]; cbn [nth]; auto; lia. Qed.

Lemma word_at i v : word j (nth i v []) = nth i (map (word j) v) 0%Z.
Proof.
  assert (E : word j [] = 0%Z) by (unfold word, lanes; cbn; destruct j; reflexivity); rewrite <- E; symmetry; apply map_nth.
Qed.

Lemma piece_at i v : Forall piece v -> (i < length v)%nat -> piece (nth i v []).
Proof. intros F L; rewrite Forall_forall in F; apply F, nth_In, L. Qed.

(** Each operation on strings is that on the words in either lane. *)
Lemma on_piece_word x v : Forall piece v -> operands_in (length v) x = true ->
  piece (on_piece x v) /\ word j (on_piece x v) = on_word x (map (word j) v).
Proof.
  intros F O.
  assert (TWO : forall i, (i <? length v)%nat = true -> exists a b, (a < 2 ^ 64)%N /\ (b < 2 ^ 64)%N /\
    nth i v [] = in_lanes 8 [a; b] /\ nth i (map (word j) v) 0%Z = Z.of_N (nth j [a; b] 0%N)).
  { intros i L; apply Nat.ltb_lt in L; destruct (piece_is _ (piece_at i v F L)) as (a & b & A & B & E).
    exists a, b; repeat (split; [assumption|]); rewrite <- word_at, E, word_of_two, N.mod_small by (try apply nth_below; assumption).
    reflexivity. }
  destruct x as [i k|i k|i k|i k|i k|x|h i k]; cbn [operands_in on_piece on_word] in *;
    try (apply andb_prop in O as [O1 O2]; destruct (TWO i O1) as (a & b & A & B & -> & ->);
         destruct (TWO k O2) as (c & d & C & D & -> & ->));
    try (destruct (TWO i O) as (a & b & A & B & -> & ->)).
  - rewrite plus_two by assumption; split; [apply two_are_piece|]; rewrite word_of_two by exact J.
    rewrite (nth_two N.add); unfold Words64.plus; rewrite <- N2Z.inj_add, N2Z.inj_mod; reflexivity.
  - rewrite !evens_two, times_two; split; [apply two_are_piece|]; rewrite word_of_two by exact J.
    rewrite (nth_two (fun x y => x mod 2 ^ 32 * (y mod 2 ^ 32))%N); unfold Words64.times, Words64.low_half.
    rewrite N2Z.inj_mod, N2Z.inj_mul, !N2Z.inj_mod; reflexivity.
  - rewrite right_two by assumption; split; [apply two_are_piece|]; rewrite word_of_two by exact J.
    rewrite (nth_one (fun x => x / 2 ^ N.of_nat k)%N); unfold Words64.shift_right.
    pose proof (nth_below a b A B) as Q; rewrite N.mod_small.
    + rewrite Z.shiftr_div_pow2, N2Z.inj_div, N2Z.inj_pow, nat_N_Z by lia; reflexivity.
    + apply N.le_lt_trans with (nth j [a; b] 0%N); [|exact Q].
      apply N.div_le_upper_bound; [apply N.pow_nonzero; discriminate|].
      assert (P : (2 ^ N.of_nat k <> 0)%N) by (apply N.pow_nonzero; discriminate); nia.
  - rewrite left_two by assumption; split; [apply two_are_piece|]; rewrite word_of_two by exact J.
    rewrite (nth_one (fun x => x * 2 ^ N.of_nat k)%N); unfold Words64.shift_left.
    rewrite Z.shiftl_mul_pow2, N2Z.inj_mod, N2Z.inj_mul, N2Z.inj_pow, nat_N_Z by lia; reflexivity.
  - rewrite and_two; split; [apply two_are_piece|]; rewrite word_of_two by exact J.
    rewrite (nth_two N.land), N.mod_small by (apply land_below, nth_below; assumption); apply land_of_N.
  - apply N.ltb_lt in O; split; [apply two_are_piece|]; rewrite word_of_two by exact J.
    assert (E : nth j [x; x] 0%N = x) by (destruct j as [|[|i]]; [reflexivity..|lia]).
    rewrite E, N.mod_small by exact O; reflexivity.
  - rewrite half_52_two by assumption; split; [apply two_are_piece|]; rewrite word_of_two by exact J.
    rewrite (nth_two (half_52 h)); apply half_52_is.
Qed.

Lemma on_pieces_words p : forall v, Forall piece v -> well_formed (length v) p = true ->
  Forall piece (on_pieces p v) /\ map (word j) (on_pieces p v) = on_words p (map (word j) v).
Proof.
  induction p as [|x p IH]; intros v F W; [split; [exact F|reflexivity]|]; cbn [well_formed] in W.
  apply andb_prop in W as [O W]; destruct (on_piece_word x v F O) as [P E].
  destruct (IH (v ++ [on_piece x v])) as [F2 E2].
  - apply Forall_app; split; [exact F|repeat constructor; apply P].
  - rewrite app_length, Nat.add_comm; exact W.
  - split; [exact F2|]; unfold on_pieces, on_words in *; cbn [fold_left]; rewrite E2, map_app; cbn [map]; rewrite E; reflexivity.
Qed.
End Words.

Lemma on_pieces_length p : forall v, length (on_pieces p v) = (length v + length p)%nat.
Proof.
  unfold on_pieces; induction p as [|x p IH]; intro v; cbn [fold_left length]; [lia|]; rewrite IH, app_length; cbn [length]; lia.
Qed.

Lemma on_words_app p q v : on_words (p ++ q) v = on_words q (on_words p v).
Proof. apply fold_left_app. Qed.

(** ** Symbolic strings *)

Section Meaning.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation consistent := (consistent env).

Lemma nth_symbols i v : nth i (map evs v) [] = evs (nth i v []).
Proof. apply (map_nth evs v []). Qed.

Lemma on_symbol_sound x v nodes a nodes' : on_symbol x v nodes = Some (a, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs a = on_piece x (map evs v)).
Proof.
  destruct x as [i j|i j|i k|i k|i j|x|h i j]; cbn [on_symbol on_piece]; intro E.
  - apply (splus_sound env) in E as [X S]; split; [exact X|]; intro C; rewrite !nth_symbols; exact (S C).
  - apply (stimes_sound env) in E as [X S]; split; [exact X|]; intro C; rewrite !nth_symbols, <- !evs_evens; exact (S C).
  - apply (sright_sound env) in E as [X S]; split; [exact X|]; intro C; rewrite !nth_symbols; exact (S C).
  - apply (sleft_sound env) in E as [X S]; split; [exact X|]; intro C; rewrite !nth_symbols; exact (S C).
  - apply (sand_sound env) in E as [X S]; split; [exact X|]; intro C; rewrite !nth_symbols; exact (S C).
  - assert (F : map const (in_lanes 8 [x; x]) = a /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|]; intros _; apply evs_const.
  - apply (stimes_52_sound env) in E as [X S]; split; [exact X|]; intro C; rewrite !nth_symbols; exact (S C).
Qed.

Lemma on_symbols_sound p : forall v nodes w nodes', on_symbols p v nodes = Some (w, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> map evs w = on_pieces p (map evs v)).
Proof.
  induction p as [|x p IH]; intros v nodes w nodes' E; cbn [on_symbols] in E.
  - assert (F : v = w /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|reflexivity].
  - destruct (on_symbol x v nodes) as [[a n1]|] eqn:E1; [|discriminate].
    apply on_symbol_sound in E1 as [X1 S1]; apply IH in E as [X2 S2]; split; [eapply extends_trans; eassumption|]; intro C.
    rewrite (S2 C), map_app; cbn [map]; rewrite (S1 (consistent_older _ _ _ X2 C)); reflexivity.
Qed.
End Meaning.

(** ** Programs are written with names for their results *)

Definition builder_of (I A : Type) := nat -> list I * A.   (* from how many results there are *)
Notation builder := (builder_of instruction).

Definition result {I A} (a : A) : builder_of I A := fun _ => ([], a).
Definition emit {I} (x : I) : builder_of I nat := fun n => ([x], n).
Definition bind {I A B} (m : builder_of I A) (f : A -> builder_of I B) : builder_of I B :=
  fun n => let (p, a) := m n in let (q, b) := f a (length p + n)%nat in (p ++ q, b).

(** Each result for an element of a list. *)
Fixpoint each {I A B} (f : A -> builder_of I B) (l : list A) : builder_of I (list B) :=
  match l with
  | [] => result []
  | a :: l => bind (f a) (fun b => bind (each f l) (fun bs => result (b :: bs)))
  end.

(** ** What a kernel does in an iteration: one program on several pieces *)

(** Words i and j of a string. *)
Definition two_words {A} (x : list A) (ij : nat * nat) : list A :=
  firstn 8 (skipn (8 * fst ij) x) ++ firstn 8 (skipn (8 * snd ij) x).

(** An input: two words of the string with this number. *)
Definition taken {A} (xs : list (list A)) (from : nat * (nat * nat)) : list A := two_words (nth (fst from) xs []) (snd from).

Definition words_of (x : list byte) : list Z := map Z.of_N (lanes 8 x).

Section Operation.
Variables (p : program)
  (inputs : list (list (nat * (nat * nat))))   (* for each piece; string 0 is what is carried, then come the buffers *)
  (outputs : list (nat * nat))                 (* pieces, with results of the program on these *)
  (kept : nat)                                 (* from this byte on, what is carried does not change *)
  (given : nat).                               (* so many buffers are only read; the others have blocks, which stay *)

Definition on_strings (s : list byte) (cs : list (list byte)) : list byte :=
  let vs := map (fun froms => on_pieces p (map (taken (s :: cs)) froms)) inputs in
  flat_map (fun o => nth (snd o) (nth (fst o) vs []) []) outputs ++ skipn kept s.

Fixpoint run_each (xs : list (list sbyte)) (ins : list (list (nat * (nat * nat)))) (nodes : list node) :
    option (list (list (list sbyte)) * list node) :=
  match ins with
  | [] => Some ([], nodes)
  | froms :: ins =>
      match on_symbols p (map (taken xs) froms) nodes with
      | Some (v, nodes) =>
          match run_each xs ins nodes with Some (vs, nodes) => Some (v :: vs, nodes) | None => None end
      | None => None
      end
  end.

Definition on_symbolic_strings (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :
    option (list sbyte * list (list sbyte) * list node) :=
  match run_each (s :: cs) inputs nodes with
  | Some (vs, nodes) => Some (flat_map (fun o => nth (snd o) (nth (fst o) vs []) []) outputs ++ skipn kept s, skipn given cs, nodes)
  | None => None
  end.

Lemma evs_taken env xs from : evs env (taken xs from) = taken (map (evs env) xs) from.
Proof. unfold taken, two_words; rewrite nth_symbols, evs_app, !evs_firstn, !evs_skipn; reflexivity. Qed.

Lemma run_each_sound env xs ins : forall nodes vs nodes', run_each xs ins nodes = Some (vs, nodes') ->
  extends nodes nodes' /\ (consistent env nodes' ->
    map (map (evs env)) vs = map (fun froms => on_pieces p (map (taken (map (evs env) xs)) froms)) ins).
Proof.
  induction ins as [|froms ins IH]; intros nodes vs nodes' E; cbn [run_each] in E.
  - assert (F : [] = vs /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|reflexivity].
  - destruct (on_symbols p _ nodes) as [[v n1]|] eqn:E1; [|discriminate].
    destruct (run_each xs ins n1) as [[ws n2]|] eqn:E2; [|discriminate].
    assert (F : v :: ws = vs /\ n2 = nodes') by (split; congruence); destruct F as [<- <-].
    apply (on_symbols_sound env) in E1 as [X1 S1]; apply IH in E2 as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C; cbn [map].
    rewrite (S2 C), (S1 (consistent_older _ _ _ X2 C)), map_map; do 2 f_equal; apply map_ext; intro from; apply evs_taken.
Qed.

Lemma on_strings_agree env s cs nodes s' cs' nodes' : on_symbolic_strings s cs nodes = Some (s', cs', nodes') ->
  extends nodes nodes' /\
  (consistent env nodes' -> (on_strings (evs env s) (map (evs env) cs), skipn given (map (evs env) cs)) = (evs env s', map (evs env) cs')).
Proof.
  unfold on_symbolic_strings; destruct (run_each (s :: cs) inputs nodes) as [[vs n1]|] eqn:E; [|discriminate]; intro F.
  match type of F with Some (?t, _, _) = _ => assert (G : t = s' /\ skipn given cs = cs' /\ n1 = nodes') by (repeat split; congruence) end.
  destruct G as (<- & <- & <-); apply (run_each_sound env) in E as [X S]; split; [exact X|]; intro C.
  f_equal; [|apply skipn_map].
  unfold on_strings; cbn [map] in S; rewrite <- (S C), evs_app, evs_skipn, flat_map_evs; f_equal; apply flat_map_ext; intro o.
  rewrite <- nth_symbols; f_equal; exact (map_nth (map (evs env)) vs [] (fst o)).
Qed.

Definition running (enter_bytes : list byte -> list byte) (enter_symbolic : list sbyte -> list sbyte)
    (enter_agrees : forall env s, enter_bytes (evs env s) = evs env (enter_symbolic s)) : operation :=
  Operation enter_bytes (fun s cs => (on_strings s cs, skipn given cs)) (fun s nodes => Some (enter_symbolic s, nodes)) on_symbolic_strings
    (fun env s nodes t nodes' E _ => eq_trans (enter_agrees env s)
      (f_equal (evs env) (f_equal (fun o => match o with Some (t, _) => t | None => [] end) E)))
    on_strings_agree.

(** *** On words *)

Lemma nth_split w n : forall i (x : list byte), (i < n)%nat -> nth i (split w n x) [] = firstn w (skipn (w * i) x).
Proof.
  induction n as [|n IH]; intros [|i] x L; [lia|lia|rewrite Nat.mul_0_r; reflexivity|]; cbn [split nth].
  rewrite IH, skipn_twice by lia; do 2 f_equal; lia.
Qed.

Lemma word_in_string i x : (8 * i + 8 <= length x)%nat ->
  nth i (words_of x) 0%Z = Z.of_N (lane_number (firstn 8 (skipn (8 * i) x)) mod 2 ^ 64).
Proof.
  intro L; unfold words_of; rewrite lanes_mod, map_map; change 0%Z with (Z.of_N (lane_number [] mod 256 ^ N.of_nat 8)).
  rewrite (map_nth (fun l => Z.of_N (lane_number l mod 256 ^ N.of_nat 8))), nth_split; [reflexivity|].
  apply Nat.div_le_lower_bound; lia.
Qed.

Lemma two_words_are x ij : small 256 x -> (8 * fst ij + 8 <= length x)%nat -> (8 * snd ij + 8 <= length x)%nat ->
  piece (two_words x ij) /\ word 0 (two_words x ij) = nth (fst ij) (words_of x) 0%Z /\
  word 1 (two_words x ij) = nth (snd ij) (words_of x) 0%Z.
Proof.
  intros S I J; unfold two_words; set (a := firstn 8 (skipn (8 * fst ij) x)); set (b := firstn 8 (skipn (8 * snd ij) x)).
  assert (PART : forall k, small 256 (firstn 8 (skipn k x))).
  { intro k; unfold small in *; rewrite <- (firstn_skipn k x) in S; apply Forall_app in S as [_ S].
    rewrite <- (firstn_skipn 8 (skipn k x)) in S; apply Forall_app in S as [S _]; exact S. }
  assert (LA : length a = 8%nat) by (unfold a; rewrite firstn_length, skipn_length; lia).
  assert (LB : length b = 8%nat) by (unfold b; rewrite firstn_length, skipn_length; lia).
  assert (E : lanes 8 (a ++ b) = [lane_number a mod 2 ^ 64; lane_number b mod 2 ^ 64]%N).
  { rewrite (lanes_app 8 1) by lia; rewrite !lanes_mod, LA, LB; cbn [Nat.div Nat.divmod fst Nat.sub split map app].
    rewrite !firstn_all2 by lia; reflexivity. }
  split; [split; [rewrite app_length; lia|apply Forall_app; split; apply PART]|].
  unfold word; rewrite E, !word_in_string by assumption; split; reflexivity.
Qed.

(** The inputs of a piece, as words of one lane. *)
Definition words_taken (ws : list (list Z)) (j : nat) (froms : list (nat * (nat * nat))) : list Z :=
  map (fun from => nth (match j with O => fst (snd from) | _ => snd (snd from) end) (nth (fst from) ws []) 0%Z) froms.

Definition string_results (ws : list (list Z)) : list Z :=
  flat_map (fun o => map (fun j => nth (snd o) (on_words p (words_taken ws j (nth (fst o) inputs []))) 0%Z) [0; 1]%nat) outputs.

(** Every word that is taken is there, every operand, and every result. *)
Definition shape_ok (lengths : list nat) : bool :=
  forallb (fun froms => well_formed (length froms) p &&
    forallb (fun from => (8 * fst (snd from) + 8 <=? nth (fst from) lengths 0)%nat &&
                         (8 * snd (snd from) + 8 <=? nth (fst from) lengths 0)%nat) froms) inputs &&
  forallb (fun o => (fst o <? length inputs)%nat && (snd o <? length (nth (fst o) inputs []) + length p)%nat) outputs.

Lemma lanes_of_pieces l : Forall piece l -> words_of (concat l) = flat_map (fun x => [word 0 x; word 1 x]) l.
Proof.
  induction 1 as [|x l [L S] F IH]; [reflexivity|]; cbn [concat flat_map]; unfold words_of in *.
  rewrite (lanes_app 8 2), map_app, IH by lia; f_equal; destruct (lanes_8 x L) as (a & b & E); unfold word; rewrite E; reflexivity.
Qed.

Theorem on_strings_words s cs : shape_ok (map (@length byte) (s :: cs)) = true -> Forall (small 256) (s :: cs) ->
  length (on_strings s cs) = (16 * length outputs + (length s - kept))%nat /\ small 256 (on_strings s cs) /\
  words_of (firstn (16 * length outputs) (on_strings s cs)) = string_results (map words_of (s :: cs)) /\
  skipn (16 * length outputs) (on_strings s cs) = skipn kept s.
Proof.
  intros OK SM; unfold shape_ok in OK; apply andb_prop in OK as [OI OO]; rewrite forallb_forall in OI, OO.
  unfold on_strings; set (xs := s :: cs) in *.
  set (vs := map (fun froms => on_pieces p (map (taken xs) froms)) inputs).
  set (one := fun o => nth (snd o) (nth (fst o) vs []) []).
  assert (TAKEN : forall froms, In froms inputs -> Forall piece (map (taken xs) froms) /\
    forall j, (j < 2)%nat -> map (word j) (map (taken xs) froms) = words_taken (map words_of xs) j froms).
  { intros froms I; specialize (OI froms I); apply andb_prop in OI as [_ OF]; rewrite forallb_forall in OF.
    assert (ONE : forall from, In from froms -> piece (taken xs from) /\
      word 0 (taken xs from) = nth (fst (snd from)) (words_of (nth (fst from) xs [])) 0%Z /\
      word 1 (taken xs from) = nth (snd (snd from)) (words_of (nth (fst from) xs [])) 0%Z).
    { intros from J; specialize (OF from J); apply andb_prop in OF as [O1 O2]; apply Nat.leb_le in O1, O2.
      assert (L : nth (fst from) (map (@length byte) xs) 0%nat = length (nth (fst from) xs []))
        by exact (map_nth (@length byte) xs [] (fst from)).
      rewrite L in O1, O2; apply two_words_are; [|assumption|assumption].
      destruct (Nat.lt_ge_cases (fst from) (length xs)) as [Q|Q].
      - rewrite Forall_forall in SM; apply SM, nth_In, Q.
      - rewrite nth_overflow by exact Q; constructor. }
    assert (WS : forall k, nth k (map words_of xs) [] = words_of (nth k xs [])) by (intro k; exact (map_nth words_of xs [] k)).
    split; [rewrite Forall_map, Forall_forall; intros from J; apply ONE, J|].
    intros j LJ; unfold words_taken; rewrite map_map; apply map_ext_in; intros from J; rewrite WS; destruct (ONE from J) as (_ & E0 & E1).
    destruct j as [|[|j]]; [exact E0|exact E1|lia]. }
  assert (OUT : forall o, In o outputs -> piece (one o) /\ forall j, (j < 2)%nat ->
    word j (one o) = nth (snd o) (on_words p (words_taken (map words_of xs) j (nth (fst o) inputs []))) 0%Z).
  { intros o I; specialize (OO o I); apply andb_prop in OO as [O1 O2]; apply Nat.ltb_lt in O1, O2.
    set (froms := nth (fst o) inputs []) in *; assert (IN : In froms inputs) by (apply nth_In, O1).
    assert (V : nth (fst o) vs [] = on_pieces p (map (taken xs) froms)).
    { unfold vs; rewrite nth_indep with (d' := on_pieces p (map (taken xs) [])) by (rewrite map_length; exact O1).
      exact (map_nth (fun froms => on_pieces p (map (taken xs) froms)) inputs [] (fst o)). }
    destruct (TAKEN froms IN) as [PF WF]; pose proof (OI froms IN) as W; apply andb_prop in W as [W _].
    assert (WL : well_formed (length (map (taken xs) froms)) p = true) by (rewrite map_length; exact W).
    unfold one; rewrite V; split.
    - destruct (on_pieces_words 0 ltac:(lia) p _ PF WL) as [P _]; rewrite Forall_forall in P; apply P, nth_In.
      rewrite on_pieces_length, map_length; exact O2.
    - intros j LJ; rewrite (word_at j LJ); destruct (on_pieces_words j LJ p _ PF WL) as [_ ->]; rewrite (WF j LJ); reflexivity. }
  assert (FP : Forall piece (map one outputs)) by (rewrite Forall_map, Forall_forall; intros o I; apply OUT, I).
  assert (LC : length (concat (map one outputs)) = (16 * length outputs)%nat).
  { rewrite <- (map_length one outputs); induction FP as [|x l [L _] F IH]; [reflexivity|]; cbn [concat length]; rewrite app_length.
    lia. }
  fold one; rewrite flat_map_concat_map; split; [|split; [|split]].
  - rewrite app_length, LC, skipn_length; reflexivity.
  - apply Forall_app; split; [apply Forall_concat; eapply Forall_impl; [|exact FP]; intros x [_ S]; exact S|].
    inversion SM as [|? ? S0 _]; subst; unfold small in S0; rewrite <- (firstn_skipn kept s) in S0; apply Forall_app in S0; apply S0.
  - rewrite firstn_app, LC, Nat.sub_diag, firstn_O, app_nil_r, firstn_all2 by lia.
    rewrite lanes_of_pieces by exact FP; unfold string_results; rewrite !flat_map_concat_map, map_map; f_equal; apply map_ext_in.
    intros o I; destruct (OUT o I) as [_ W]; cbn [map]; rewrite (W 0%nat), (W 1%nat) by lia; reflexivity.
  - rewrite skipn_app, LC, Nat.sub_diag, skipn_O, skipn_all2 by lia; reflexivity.
Qed.
End Operation.
