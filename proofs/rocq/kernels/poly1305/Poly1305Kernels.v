(** * Poly1305Kernels: what a kernel of Poly1305 with limbs of 26 bits computes, in four lanes of two blocks each

    The arithmetic of Poly1305Limbs.v as a program (LanePrograms.v), and what this is for the sums, multipliers and blocks
    in memory. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Call Loop ChaChaRows LanePrograms Poly1305Rows.
From Veriplex Require Words64 Poly1305 Poly1305Limbs Poly1305Lanes Poly1305Pairs.
Import ListNotations.

(** ** The arithmetic, as a program *)

Local Notation "'let*' a := m 'in' f" := (bind m (fun a => f)) (at level 200, a name, right associativity).

(** Results with the low 26 bits of a word, and with 2^24. *)
Definition constants : builder (nat * nat) :=
  let* mask := emit (Word 0x3ffffff%N) in let* one := emit (Word 0x1000000%N) in result (mask, one).

(** The limbs of a full block with these two words. *)
Definition limbs (constants : nat * nat) (low high : nat) : builder (list nat) :=
  let (mask, one) := constants in
  let* m0 := emit (Both low mask) in
  let* t1 := emit (Right low 26) in let* m1 := emit (Both t1 mask) in
  let* t2 := emit (Right low 52) in let* u2 := emit (Left high 12) in let* v2 := emit (Both u2 mask) in
  let* m2 := emit (Plus t2 v2) in
  let* t3 := emit (Right high 14) in let* m3 := emit (Both t3 mask) in
  let* t4 := emit (Right high 40) in let* m4 := emit (Plus t4 one) in
  result [m0; m1; m2; m3; m4].

Definition added (x y : list nat) : builder (list nat) := each (fun ab => emit (Plus (fst ab) (snd ab))) (combine x y).

(** The factors of limb i of a product; of the second number there are also the upper four limbs, five times. *)
Definition factors (x y : list nat) (i : nat) : list (nat * nat) :=
  map (fun k => (nth k x 0, nth (if k <=? i then i - k else 9 + i - k) y 0)) (seq 0 5).

(** The sum of products, from the first one on. *)
Fixpoint sum_from (sum : nat) (terms : list (nat * nat)) : builder nat :=
  match terms with
  | [] => result sum
  | (x, y) :: terms => let* product := emit (Low_product x y) in let* sum := emit (Plus sum product) in sum_from sum terms
  end.

Definition sum_of_products (terms : list (nat * nat)) : builder nat :=
  match terms with [] => emit (Word 0%N) | (x, y) :: terms => let* product := emit (Low_product x y) in sum_from product terms end.

(** From limb 0 over the others back to limb 0, and once more to limb 1. *)
Definition carries (mask : nat) (d : list nat) : builder (list nat) :=
  let x i := nth i d 0 in
  let* c0 := emit (Right (x 0) 26) in let* e0 := emit (Both (x 0) mask) in let* u1 := emit (Plus (x 1) c0) in
  let* c1 := emit (Right u1 26) in let* e1 := emit (Both u1 mask) in let* u2 := emit (Plus (x 2) c1) in
  let* c2 := emit (Right u2 26) in let* h2 := emit (Both u2 mask) in let* u3 := emit (Plus (x 3) c2) in
  let* c3 := emit (Right u3 26) in let* h3 := emit (Both u3 mask) in let* u4 := emit (Plus (x 4) c3) in
  let* c4 := emit (Right u4 26) in let* h4 := emit (Both u4 mask) in
  let* f4 := emit (Left c4 2) in let* g4 := emit (Plus c4 f4) in let* u0 := emit (Plus e0 g4) in
  let* k0 := emit (Right u0 26) in let* h0 := emit (Both u0 mask) in let* h1 := emit (Plus e1 k0) in
  result [h0; h1; h2; h3; h4].

(** A sum after two more blocks.  The inputs are its limbs, the multiplier's of both blocks, and their words.  The
    products of the second block come first in each sum. *)
Definition pair_built : program * list nat :=
  (let* constants := constants in
   let* other := limbs constants 25 26 in
   let* block := limbs constants 23 24 in
   let* a := added (seq 0 5) block in
   let* d := each (fun i => sum_of_products (factors other (seq 14 9) i ++ factors a (seq 5 9) i)) (seq 0 5) in
   carries (fst constants) d) 27.

Definition pair_program : program := Eval vm_compute in fst pair_built.
Definition pair_results : list nat := Eval vm_compute in snd pair_built.

Local Open Scope Z_scope.

Lemma plus_assoc x y z : Words64.plus x (Words64.plus y z) = Words64.plus (Words64.plus x y) z.
Proof. unfold Words64.plus; rewrite Zplus_mod_idemp_r, Zplus_mod_idemp_l, Z.add_assoc; reflexivity. Qed.

Opaque Words64.plus Words64.times Words64.low_half Words64.shift_right Words64.shift_left Words64.both
  Poly1305Limbs.low_product.

(** The sums of products in the order of the program. *)
Definition products_in_order (b t a r : list Z) : list Z :=
  map (fun i =>
    let terms x y := map (fun k => Poly1305Limbs.low_product (nth k x 0) (nth (if k <=? i then i - k else 9 + i - k)%nat y 0)) (seq 0 5) in
    let l := terms b t ++ terms a r in fold_left Words64.plus (tl l) (hd 0 l)) (seq 0 5).

Lemma in_order_is b0 b1 b2 b3 b4 t0 t1 t2 t3 t4 t5 t6 t7 t8 a0 a1 a2 a3 a4 r0 r1 r2 r3 r4 r5 r6 r7 r8 :
  let b := [b0; b1; b2; b3; b4] in let t := [t0; t1; t2; t3; t4; t5; t6; t7; t8] in
  let a := [a0; a1; a2; a3; a4] in let r := [r0; r1; r2; r3; r4; r5; r6; r7; r8] in
  products_in_order b t a r = Poly1305Limbs.add_limbs (Poly1305Limbs.product_limbs b t) (Poly1305Limbs.product_limbs a r).
Proof.
  cbv zeta; unfold products_in_order, Poly1305Limbs.product_limbs, Poly1305Limbs.add_limbs, Words64.bind.
  cbn [seq map Nat.leb Nat.sub Nat.add nth app hd tl fold_left]; rewrite !plus_assoc; reflexivity.
Qed.

Lemma pair_program_is h r t block other : length h = 5%nat -> length r = 9%nat -> length t = 9%nat -> length block = 2%nat ->
  length other = 2%nat ->
  map (fun i => nth i (on_words pair_program (h ++ r ++ t ++ block ++ other)) 0) pair_results =
  Poly1305Limbs.add_pair h r t block other.
Proof.
  intros LH LR LT LB LO.
  destruct h as [|h0 [|h1 [|h2 [|h3 [|h4 [|? ?]]]]]]; try discriminate LH.
  destruct r as [|r0 [|r1 [|r2 [|r3 [|r4 [|r5 [|r6 [|r7 [|r8 [|? ?]]]]]]]]]]; try discriminate LR.
  destruct t as [|t0 [|t1 [|t2 [|t3 [|t4 [|t5 [|t6 [|t7 [|t8 [|? ?]]]]]]]]]]; try discriminate LT.
  destruct block as [|low [|high [|? ?]]]; try discriminate LB; destruct other as [|low' [|high' [|? ?]]]; try discriminate LO.
  unfold Poly1305Limbs.add_pair, Poly1305Limbs.multiply_pair.
  transitivity (Poly1305Limbs.carry_limbs (products_in_order (Poly1305Limbs.block_limbs [low'; high'])
    [t0; t1; t2; t3; t4; t5; t6; t7; t8]
    (Poly1305Limbs.add_limbs [h0; h1; h2; h3; h4] (Poly1305Limbs.block_limbs [low; high]))
    [r0; r1; r2; r3; r4; r5; r6; r7; r8])); [|f_equal; apply in_order_is].
  cbv [on_words on_word pair_program pair_results fold_left app nth map Poly1305Limbs.carry_limbs products_in_order
    Poly1305Limbs.block_limbs Poly1305Limbs.add_limbs Poly1305Limbs.low_product Words64.bind seq hd tl Nat.leb Nat.sub Nat.add
    Z.of_nat Z.of_N Pos.of_succ_nat Pos.succ].
  (* To convert two terms of this size that differ takes too long. *)
  match goal with |- ?x = ?y => constr_eq x y; exact (eq_refl x) end.
Qed.

(** ** Four lanes, two to a piece of 16 bytes *)

(** The blocks that are added to the sums of lanes 0 to 3; the others are the four after them. *)
Definition first_block : list nat := [0; 2; 1; 3]%nat.

(** The words of two lanes: of the sums, of both multipliers, and of the blocks. *)
Definition in_two_lanes (p : nat) : list (nat * (nat * nat)) :=
  let j := (2 * p)%nat in let b := nth j first_block 0%nat in let c := nth (S j) first_block 0%nat in
  map (fun i => (0, (4 * i + j, 4 * i + S j)))%nat (seq 0 5) ++
  map (fun k => (1, (8 * k + j, 8 * k + S j)))%nat (seq 0 9) ++
  map (fun k => (1, (8 * k + (4 + j), 8 * k + (4 + S j))))%nat (seq 0 9) ++
  [(2, (2 * b, 2 * c)); (2, (2 * b + 1, 2 * c + 1)); (2, (2 * (4 + b), 2 * (4 + c))); (2, (2 * (4 + b) + 1, 2 * (4 + c) + 1))]%nat.

Definition pair_inputs : list (list (nat * (nat * nat))) := Eval vm_compute in map in_two_lanes [0; 1]%nat.

(** Limb by limb. *)
Definition pair_outputs : list (nat * nat) := Eval vm_compute in flat_map (fun r => [(0, r); (1, r)]%nat) pair_results.

Local Ltac each_lane l := do 4 (destruct l as [|l]; [reflexivity|]); lia.

Lemma words_of_lane s u b l : (l < 4)%nat ->
  words_taken [s; u; b] (l mod 2) (nth (l / 2) pair_inputs []) =
  map (fun i => nth (4 * i + l) s 0) (seq 0 5) ++ map (fun k => nth (8 * k + l) u 0) (seq 0 9) ++
  map (fun k => nth (8 * k + (4 + l)) u 0) (seq 0 9) ++
  two b (nth l first_block 0%nat) ++ two b (4 + nth l first_block 0)%nat.
Proof. intro L; each_lane l. Qed.

Opaque on_words.

Lemma results_of_lane ws l : (l < 4)%nat ->
  map (fun i => nth (4 * i + l) (string_results pair_program pair_inputs pair_outputs ws) 0) (seq 0 5) =
  map (fun i => nth i (on_words pair_program (words_taken ws (l mod 2) (nth (l / 2) pair_inputs []))) 0) pair_results.
Proof.
  (* As a variable, so that nothing evaluates the program. *)
  unfold string_results; generalize (on_words pair_program); intros f L; each_lane l.
Qed.

Lemma pairs_are_added s u b : length b = 128%nat -> small 256 b ->
  lanes_of_words 5 4 (string_results pair_program pair_inputs pair_outputs [s; u; words_of b]) =
  Poly1305Pairs.add_group_of_pairs (lanes_of_words 9 8 u) (lanes_of_words 5 4 s) b.
Proof.
  intros LB SB.
  assert (LP : Poly1305.lane_pairs b = map (two (words_of b)) [0; 2; 1; 3; 4; 6; 5; 7]%nat).
  { unfold Poly1305.lane_pairs; apply map_ext_in; intros i I; apply block_is; [exact SB|].
    cbn [In] in I; rewrite LB; intuition lia. }
  unfold Poly1305Pairs.add_group_of_pairs; rewrite LP; clear LP.
  transitivity (Poly1305Lanes.add_lanes Poly1305Limbs.add_pair
    (map (fun l => map (fun i => nth (4 * i + l) s 0) (seq 0 5)) (seq 0 4))
    (map (fun l => map (fun k => nth (8 * k + l) u 0) (seq 0 9)) (seq 0 4))
    (map (fun l => map (fun k => nth (8 * k + (4 + l)) u 0) (seq 0 9)) (seq 0 4))
    (map (fun l => two (words_of b) (nth l first_block 0%nat)) (seq 0 4))
    (map (fun l => two (words_of b) (4 + nth l first_block 0)%nat) (seq 0 4))); [|reflexivity].
  rewrite Poly1305Lanes.add_lanes_each; unfold lanes_of_words; apply map_ext_in; intros l J; apply in_seq in J.
  rewrite results_of_lane, words_of_lane by lia; apply pair_program_is; rewrite ?map_length; reflexivity.
Qed.

Lemma pair_shape : LanePrograms.shape_ok pair_program pair_inputs pair_outputs [160; 576; 128]%nat = true.
Proof. vm_compute; reflexivity. Qed.
