(** * Poly1305Quads: what a kernel of Poly1305 with limbs of 26 bits computes, in four lanes of one block each *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic Call Loop ChaChaRows NHBytes NHKernels LanePrograms
  LaneGroups Poly1305Rows.
From Veriplex Require Words64 Poly1305 Poly1305Limbs Poly1305Lanes.
Import ListNotations.

(** ** The arithmetic, as a program *)

Local Notation "'let*' a := m 'in' f" := (bind m (fun a => f)) (at level 200, a name, right associativity).
Local Notation builder := (builder_of instruction).

(** 26 bits of a block: the low ones of a word, shifted, and the high ones of that before it. *)
Definition limb (mask low high shift : nat) : builder nat :=
  let* l := emit (Left 4 high shift) in let* r := emit (Right 4 low (32 - shift)) in
  let* x := emit (Differ r l) in emit (Both x mask).

(** The limbs of a full block with these four words, from the low 26 bits of a word and from 2^24. *)
Definition limbs (mask one : nat) (word : nat -> nat) : builder (list nat) :=
  let* m0 := emit (Both (word 0) mask) in
  let* m1 := limb mask (word 0) (word 1) 6 in
  let* m2 := limb mask (word 1) (word 2) 12 in
  let* m3 := limb mask (word 2) (word 3) 18 in
  let* t4 := emit (Right 4 (word 3) 8) in let* m4 := emit (Differ t4 one) in
  result [m0; m1; m2; m3; m4].

(** The factors of limb i of a product; of the second number there are also the upper four limbs, five times. *)
Definition factors (x y : list nat) (i : nat) : list (nat * nat) :=
  map (fun k => (nth k x 0, nth (if k <=? i then i - k else 9 + i - k) y 0)) (seq 0 5).

Fixpoint sum_from (sum : nat) (terms : list (nat * nat)) : builder nat :=
  match terms with
  | [] => result sum
  | (x, y) :: terms => let* product := emit (Product x y) in let* sum := emit (Plus 8 sum product) in sum_from sum terms
  end.

Definition sum_of_products (terms : list (nat * nat)) : builder nat :=
  match terms with [] => emit (Word 8 0%N) | (x, y) :: terms => let* product := emit (Product x y) in sum_from product terms end.

(** In two chains: from limb 0, and from limb 3 over limb 4 back to limb 0. *)
Definition carries (mask : nat) (d : list nat) : builder (list nat) :=
  let x i := nth i d 0 in
  let* c0 := emit (Right 8 (x 0) 26) in let* e0 := emit (Both (x 0) mask) in let* u1 := emit (Plus 8 (x 1) c0) in
  let* c3 := emit (Right 8 (x 3) 26) in let* e3 := emit (Both (x 3) mask) in let* u4 := emit (Plus 8 (x 4) c3) in
  let* c1 := emit (Right 8 u1 26) in let* e1 := emit (Both u1 mask) in let* u2 := emit (Plus 8 (x 2) c1) in
  let* c4 := emit (Right 8 u4 26) in let* e4 := emit (Both u4 mask) in
  let* f4 := emit (Left 8 c4 2) in let* g4 := emit (Plus 8 c4 f4) in let* u0 := emit (Plus 8 e0 g4) in
  let* c2 := emit (Right 8 u2 26) in let* h2 := emit (Both u2 mask) in let* u3 := emit (Plus 8 e3 c2) in
  let* k0 := emit (Right 8 u0 26) in let* h0 := emit (Both u0 mask) in let* h1 := emit (Plus 8 e1 k0) in
  let* k3 := emit (Right 8 u3 26) in let* h3 := emit (Both u3 mask) in let* h4 := emit (Plus 8 e4 k3) in
  result [h0; h1; h2; h3; h4].

(** Sums after another block each.  The inputs are their limbs, the low halves of the multipliers', and the blocks' words of
    32 bits. *)
Definition quad_built : program * list nat :=
  (let* mask_4 := emit (Word 4 0x3ffffff) in let* one := emit (Word 4 0x1000000) in let* mask := emit (Word 8 0x3ffffff) in
   let* block := limbs mask_4 one (fun i => 14 + i) in
   let* a := each (fun ib => let* low := emit (Low (fst ib)) in emit (Plus 4 low (snd ib))) (combine (seq 0 5) block) in
   let* d := each (fun i => sum_of_products (factors a (seq 5 9) i)) (seq 0 5) in
   carries mask d) 18.

Definition quad_program : program := Eval vm_compute in fst quad_built.
Definition quad_results : list nat := Eval vm_compute in snd quad_built.

(** ** Four lanes

    In registers they are in the order of their blocks: lanes 0, 2, 1 and 3. *)
Definition order : list nat := [0; 2; 1; 3].

Definition quad_inputs : list (nat * (nat * list nat)) := Eval vm_compute in
  map (fun i => (0, (8, map (fun b => 32 * i + 8 * b) (seq 0 4)))) (seq 0 5) ++
  map (fun k => (1, (4, map (fun l => 32 * k + 8 * l) order))) (seq 0 9) ++
  map (fun w => (2, (4, map (fun b => 16 * b + 4 * w) (seq 0 4)))) (seq 0 4).

(** Where a byte of the sums in registers is in memory, and the other way round. *)
Definition quad_place (i : nat) : nat := 32 * (i / 32) + 8 * nth (i mod 32 / 8) order 0 + i mod 8.

Local Open Scope Z_scope.

(** ** The program is the arithmetic of Poly1305Limbs.v *)

(** Words of 32 bits: what two of them in a row have at the end of the first and the beginning of the second. *)
Lemma spans a b k : 0 <= a < 2 ^ 32 -> 0 <= k <= 32 ->
  Z.lxor (Words64.shift_right a (32 - k)) (Z.shiftl b k mod 2 ^ 32) = a / 2 ^ (32 - k) + b * 2 ^ k mod 2 ^ 32.
Proof.
  intros A K; unfold Words64.shift_right; rewrite <- Z.add_nocarry_lxor.
  - rewrite Z.shiftr_div_pow2, Z.shiftl_mul_pow2 by lia; reflexivity.
  - apply Z.bits_inj'; intros i I; rewrite Z.land_spec, Z.bits_0, Z.shiftr_spec by exact I.
    destruct (Z.lt_ge_cases i k) as [L|L].
    + rewrite Z.mod_pow2_bits_low, Z.shiftl_spec_low by lia; apply andb_false_r.
    + rewrite <- (Z.mod_small a (2 ^ 32) A), Z.mod_pow2_bits_high by lia; reflexivity.
Qed.

Lemma low_26 x : Words64.both x 0x3ffffff = x mod 2 ^ 26.
Proof. unfold Words64.both; change 0x3ffffff with (Z.ones 26); apply Z.land_ones; lia. Qed.

Local Ltac divisions :=
  repeat match goal with |- context [2 ^ ?k] => let v := eval compute in (2 ^ k) in change (2 ^ k) with v in * end;
  Z.div_mod_to_equations'; lia.

Section Block.
Variables low high : Z.
Hypothesis LOW : 0 <= low < 2 ^ 64.
Hypothesis HIGH : 0 <= high < 2 ^ 64.

Lemma low_words : 0 <= low mod 2 ^ 32 < 2 ^ 32 /\ 0 <= low / 2 ^ 32 < 2 ^ 32.
Proof. divisions. Qed.

Lemma high_words : 0 <= high mod 2 ^ 32 < 2 ^ 32 /\ 0 <= high / 2 ^ 32 < 2 ^ 32.
Proof. divisions. Qed.

Lemma limb_0 : Words64.both (low mod 2 ^ 32) 0x3ffffff = Words64.both low 0x3ffffff.
Proof. rewrite !low_26; divisions. Qed.

Lemma limb_1 : Words64.both (Z.lxor (Words64.shift_right (low mod 2 ^ 32) 26) (Z.shiftl (low / 2 ^ 32) 6 mod 2 ^ 32)) 0x3ffffff =
  Words64.both (Words64.shift_right low 26) 0x3ffffff.
Proof.
  rewrite (spans _ _ 6), !low_26 by (apply low_words || lia); unfold Words64.shift_right; rewrite Z.shiftr_div_pow2 by lia.
  divisions.
Qed.

Lemma limb_2 : Words64.both (Z.lxor (Words64.shift_right (low / 2 ^ 32) 20) (Z.shiftl (high mod 2 ^ 32) 12 mod 2 ^ 32)) 0x3ffffff =
  Words64.plus (Words64.shift_right low 52) (Words64.both (Words64.shift_left high 12) 0x3ffffff).
Proof.
  rewrite (spans _ _ 12), !low_26 by (apply low_words || lia); unfold Words64.plus, Words64.shift_right, Words64.shift_left.
  rewrite Z.shiftr_div_pow2, Z.shiftl_mul_pow2 by lia; divisions.
Qed.

Lemma limb_3 : Words64.both (Z.lxor (Words64.shift_right (high mod 2 ^ 32) 14) (Z.shiftl (high / 2 ^ 32) 18 mod 2 ^ 32)) 0x3ffffff =
  Words64.both (Words64.shift_right high 14) 0x3ffffff.
Proof.
  rewrite (spans _ _ 18), !low_26 by (apply high_words || lia); unfold Words64.shift_right; rewrite Z.shiftr_div_pow2 by lia.
  divisions.
Qed.

Lemma limb_4 : Z.lxor (Words64.shift_right (high / 2 ^ 32) 8) 0x1000000 = Words64.plus (Words64.shift_right high 40) 0x1000000.
Proof.
  change 0x1000000 with (Z.shiftl 1 24 mod 2 ^ 32) at 1; rewrite (spans _ _ 24) by (apply high_words || lia).
  unfold Words64.plus, Words64.shift_right; rewrite Z.shiftr_div_pow2 by lia; divisions.
Qed.
End Block.

(** Only lower halves are multiplied. *)
Lemma low_half_of_sum h m : (Words64.low_half h + m) mod 2 ^ 32 = Words64.low_half (Words64.plus h m).
Proof.
  unfold Words64.low_half, Words64.plus; rewrite Zplus_mod_idemp_l.
  change (2 ^ 64) with (2 ^ 32 * 2 ^ 32); rewrite Z.rem_mul_r by lia; rewrite Z.add_comm, Z.mul_comm, Z.mod_add, Z.mod_mod by lia.
  reflexivity.
Qed.

Lemma low_half_is x : x mod 2 ^ 32 = Words64.low_half x.
Proof. reflexivity. Qed.

Opaque Words64.plus Words64.times Words64.low_half Words64.shift_right Words64.shift_left Words64.both.

Lemma quad_program_is h r low high : length h = 5%nat -> length r = 9%nat -> 0 <= low < 2 ^ 64 -> 0 <= high < 2 ^ 64 ->
  map (fun i => nth i (on_integers quad_program (h ++ map Words64.low_half r ++
    [low mod 2 ^ 32; low / 2 ^ 32; high mod 2 ^ 32; high / 2 ^ 32])) 0) quad_results =
  Poly1305Limbs.add_full_block h r [low; high].
Proof.
  intros LH LR LOW HIGH.
  destruct h as [|h0 [|h1 [|h2 [|h3 [|h4 [|? ?]]]]]]; try discriminate LH.
  destruct r as [|r0 [|r1 [|r2 [|r3 [|r4 [|r5 [|r6 [|r7 [|r8 [|? ?]]]]]]]]]]; try discriminate LR.
  cbv [on_integers on_integer quad_program quad_results fold_left app nth map Nat.eqb Z.of_nat Z.of_N Pos.of_succ_nat Pos.succ
    Poly1305Limbs.add_full_block Poly1305Limbs.multiply Poly1305Limbs.block_limbs Poly1305Limbs.add_limbs
    Poly1305Limbs.low_product Words64.bind].
  rewrite !(limb_0 low), !(limb_1 low LOW), !(limb_2 low high LOW), !(limb_3 high HIGH), !(limb_4 high HIGH), !low_half_of_sum.
  (* To convert two terms of this size that differ takes too long. *)
  match goal with |- ?x = ?y => constr_eq x y; exact (eq_refl x) end.
Qed.

(** ** In lanes *)

Lemma lane_number_app x y : lane_number (x ++ y) = (lane_number x + 256 ^ N.of_nat (length x) * lane_number y)%N.
Proof.
  induction x as [|a x IH]; cbn [app lane_number length]; [rewrite N.pow_0_r; lia|].
  rewrite IH, Nat2N.inj_succ, N.pow_succ_r'; lia.
Qed.

(** A word of 64 bits has two of 32. *)
Lemma halves x i : small 256 x -> (8 * i + 8 <= length x)%nat ->
  Z.of_N (lane_number (word_at 4 x (8 * i))) = nth i (words_of x) 0 mod 2 ^ 32 /\
  Z.of_N (lane_number (word_at 4 x (8 * i + 4))) = nth i (words_of x) 0 / 2 ^ 32.
Proof.
  intros S L; rewrite word_is, le_number_of_lane by assumption.
  destruct (word_there 4 x (8 * i) S ltac:(lia)) as [_ B]; change (256 ^ N.of_nat 4)%N with (2 ^ 32)%N in B.
  assert (E : firstn 8 (skipn (8 * i) x) = word_at 4 x (8 * i) ++ word_at 4 x (8 * i + 4)).
  { unfold word_at; rewrite <- (firstn_skipn 4 (firstn 8 (skipn (8 * i) x))), firstn_firstn, skipn_firstn_comm, skipn_twice.
    reflexivity. }
  rewrite E, lane_number_app.
  assert (LW : length (word_at 4 x (8 * i)) = 4%nat) by (unfold word_at; rewrite firstn_length, skipn_length; lia).
  rewrite LW; change (256 ^ N.of_nat 4)%N with (2 ^ 32)%N.
  set (a := lane_number (word_at 4 x (8 * i))) in *; set (b := lane_number (word_at 4 x (8 * i + 4))).
  rewrite N2Z.inj_add, N2Z.inj_mul; change (Z.of_N (2 ^ 32)) with (2 ^ 32); split.
  - rewrite Z.mul_comm, Z.mod_add, Z.mod_small by lia; reflexivity.
  - rewrite Z.mul_comm, Z.div_add, Z.div_small by lia; reflexivity.
Qed.

Local Ltac each_lane l := do 4 (destruct l as [|l]; [reflexivity|]); lia.

Lemma order_twice l : (l < 4)%nat -> (nth l order 0%nat < 4)%nat /\ nth (nth l order 0%nat) order 0%nat = l.
Proof. intro L; do 4 (destruct l as [|l]; [split; [cbn; lia|reflexivity]|]); lia. Qed.

Lemma quad_places i : (i < 160)%nat -> (quad_place i < 160)%nat /\ quad_place (quad_place i) = i.
Proof.
  intro L; assert (Q : forallb (fun i => (quad_place i <? 160) && (quad_place (quad_place i) =? i))%nat (seq 0 160) = true)
    by (vm_compute; reflexivity).
  rewrite forallb_forall in Q; specialize (Q i (proj2 (in_seq _ _ _) (conj (Nat.le_0_l i) L))).
  apply andb_prop in Q as [Q1 Q2]; apply Nat.ltb_lt in Q1; apply Nat.eqb_eq in Q2; split; assumption.
Qed.

Lemma place_of_word i l j : (i < 5)%nat -> (l < 4)%nat -> (j < 8)%nat ->
  quad_place (8 * (4 * i + l) + j) = (32 * i + 8 * nth l order 0%nat + j)%nat.
Proof.
  intros I L J.
  assert (Q : forallb (fun i => forallb (fun l => forallb (fun j =>
    quad_place (8 * (4 * i + l) + j) =? 32 * i + 8 * nth l order 0%nat + j)%nat (seq 0 8)) (seq 0 4)) (seq 0 5) = true)
    by (vm_compute; reflexivity).
  rewrite forallb_forall in Q; specialize (Q i (proj2 (in_seq _ _ _) (conj (Nat.le_0_l i) I))).
  rewrite forallb_forall in Q; specialize (Q l (proj2 (in_seq _ _ _) (conj (Nat.le_0_l l) L))).
  rewrite forallb_forall in Q; specialize (Q j (proj2 (in_seq _ _ _) (conj (Nat.le_0_l j) J))); apply Nat.eqb_eq, Q.
Qed.

(** Words of the sums, in memory and in registers. *)
Lemma word_placed s i l : length s = 160%nat -> small 256 s -> (i < 5)%nat -> (l < 4)%nat ->
  nth (4 * i + l) (words_of (placed 160 quad_place s)) 0 = Z.of_N (lane_number (word_at 8 s (32 * i + 8 * nth l order 0%nat))).
Proof.
  intros LS S I L; destruct (order_twice l L) as [O _].
  rewrite word_is, le_number_of_lane by (apply (placed_small 5 4), S || rewrite (placed_length 5 4); lia); do 2 f_equal.
  unfold placed; rewrite some_of_seq by lia; unfold word_at; rewrite (some_of 0%N) by lia.
  apply map_ext_in; intros j J; apply in_seq in J; f_equal; apply place_of_word; lia.
Qed.

Lemma words_of_lanes l : Forall (fun x => x < 2 ^ 64)%N l -> words_of (in_lanes 8 l) = map Z.of_N l.
Proof.
  intro S; unfold words_of; rewrite lanes_in_lanes, map_map by discriminate; apply map_ext_in; intros x J.
  rewrite Forall_forall in S; rewrite N.mod_small by exact (S x J); reflexivity.
Qed.

Lemma word_range x i : 0 <= nth i (words_of x) 0 < 2 ^ 64.
Proof.
  assert (E : nth i (words_of x) 0 = Z.of_N (nth i (lanes 8 x) 0%N)) by exact (map_nth Z.of_N (lanes 8 x) 0%N i); rewrite E.
  assert (X : (nth i (lanes 8 x) 0 < 2 ^ 64)%N); [|lia].
  destruct (Nat.lt_ge_cases i (length (lanes 8 x))) as [L|L]; [|rewrite nth_overflow by exact L; reflexivity].
  pose proof (nth_In (lanes 8 x) 0%N L) as Y; rewrite lanes_mod in Y at 2; apply in_map_iff in Y as (y & <- & _).
  apply N.mod_lt; discriminate.
Qed.

Opaque lane_number word_at.

Lemma words_of_lane s u b l : (l < 4)%nat -> words_taken quad_inputs [s; u; b] l =
  map (fun i => lane_number (word_at 8 s (32 * i + 8 * l))) (seq 0 5) ++
  map (fun k => lane_number (word_at 4 u (32 * k + 8 * nth l order 0%nat))) (seq 0 9) ++
  map (fun w => lane_number (word_at 4 b (16 * l + 4 * w))) (seq 0 4).
Proof. intro L; each_lane l. Qed.

(** As functions, so that nothing evaluates the program. *)
Lemma placed_results (f : nat -> nat -> N) :
  placed 160 quad_place (in_lanes 8 (flat_map (fun o => map (fun l => f l o) (seq 0 4)) quad_results)) =
  in_lanes 8 (flat_map (fun o => map (fun l => f (nth l order 0%nat) o) (seq 0 4)) quad_results).
Proof. reflexivity. Qed.

Lemma lanes_of_results (f : nat -> nat -> Z) :
  lanes_of_words 5 4 (flat_map (fun o => map (fun l => f l o) (seq 0 4)) quad_results) =
  map (fun l => map (f l) quad_results) (seq 0 4).
Proof. reflexivity. Qed.

Opaque on_words on_integers quad_program words_of Poly1305Limbs.add_full_block.

Lemma quads_are_added s u b : length s = 160%nat -> small 256 s -> length u = 288%nat -> small 256 u -> length b = 64%nat ->
  small 256 b -> let t := on_strings quad_program quad_inputs quad_results s [u; b] in length t = 160%nat /\ small 256 t /\
  lanes_of_words 5 4 (words_of (placed 160 quad_place t)) =
  Poly1305Lanes.add_group (lanes_of_words 9 4 (words_of u)) (lanes_of_words 5 4 (words_of (placed 160 quad_place s))) b.
Proof.
  intros LS SS LU SU LB SB t.
  destruct (on_strings_are quad_program quad_inputs quad_results s [u; b]) as [E B].
  { cbn [map]; rewrite LS, LU, LB; vm_compute; reflexivity. }
  { repeat constructor; assumption. }
  fold t in E; set (result := fun l o => nth o (on_words quad_program (words_taken quad_inputs [s; u; b] l)) 0%N) in *.
  change (t = in_lanes 8 (flat_map (fun o => map (fun l => result l o) (seq 0 4)) quad_results)) in E.
  split; [rewrite E, in_lanes_length; reflexivity|]; split; [rewrite E; apply in_lanes_small|].
  rewrite E, placed_results.
  assert (W : words_of (in_lanes 8 (flat_map (fun o => map (fun l => result (nth l order 0%nat) o) (seq 0 4)) quad_results)) =
    flat_map (fun o => map (fun l => Z.of_N (result (nth l order 0%nat) o)) (seq 0 4)) quad_results).
  { rewrite words_of_lanes.
    - rewrite !flat_map_concat_map, concat_map, map_map; f_equal; apply map_ext; intro o; apply map_map.
    - apply Forall_flat_map, Forall_forall; intros o J; rewrite Forall_map, Forall_forall; intros l _; exact (B _ _ J). }
  rewrite W, (lanes_of_results (fun l o => Z.of_N (result (nth l order 0%nat) o))).
  assert (BL : Poly1305.lane_blocks b = map (fun l => two (words_of b) (nth l order 0%nat)) (seq 0 4)).
  { unfold Poly1305.lane_blocks; change (seq 0 4) with [0; 1; 2; 3]%nat; cbn [map nth order].
    rewrite !block_is by (exact SB || rewrite LB; lia); reflexivity. }
  unfold Poly1305Lanes.add_group; rewrite BL; clear BL.
  transitivity (map (fun l => Poly1305Limbs.add_full_block
    (map (fun i => nth (4 * i + l) (words_of (placed 160 quad_place s)) 0) (seq 0 5))
    (map (fun k => nth (4 * k + l) (words_of u) 0) (seq 0 9))
    (two (words_of b) (nth l order 0%nat))) (seq 0 4)); [|reflexivity].
  apply map_ext_in; intros l J; apply in_seq in J; destruct (order_twice l ltac:(lia)) as [O T]; unfold two.
  destruct (halves b (2 * nth l order 0%nat) SB ltac:(lia)) as [B0 B1].
  destruct (halves b (2 * nth l order 0%nat + 1) SB ltac:(lia)) as [B2 B3].
  rewrite <- quad_program_is by (rewrite ?map_length, ?seq_length; reflexivity || apply word_range).
  apply map_ext; intro o; unfold result; rewrite <- (map_nth Z.of_N), on_integers_are; change (Z.of_N 0) with 0.
  f_equal; f_equal; rewrite words_of_lane, !map_app, !map_map by lia; f_equal; [|f_equal].
  - apply map_ext_in; intros i I; apply in_seq in I; symmetry; apply word_placed; assumption || lia.
  - apply map_ext_in; intros k K; apply in_seq in K; rewrite T.
    destruct (halves u (4 * k + l) SU ltac:(lia)) as [U _]; rewrite <- low_half_is, <- U; do 3 f_equal; lia.
  - cbn [seq map]; rewrite <- B0, <- B1, <- B2, <- B3.
    repeat (f_equal; [do 3 f_equal; lia|]); do 4 f_equal; lia.
Qed.
