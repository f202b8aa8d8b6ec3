(** * Poly1305Kernels44: what a kernel of Poly1305 with limbs of 44 bits computes, in eight lanes

    The arithmetic of Poly1305Limbs.v as a program (LanePrograms.v), which is run on two lanes at once, and what this is
    for the words of all lanes. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic Call Loop ChaChaRows LanePrograms Poly1305Rows.
From Veriplex Require Words64 Poly1305 Poly1305Limbs Poly1305Lanes Poly1305Lanes44.
Import ListNotations.

(** ** The arithmetic, as a program *)

Local Notation "'let*' a := m 'in' f" := (bind m (fun a => f)) (at level 200, a name, right associativity).

(** The limbs of a full block with these two words, from the low 44 bits of a word and from 2^40. *)
Definition limbs (mask one low high : nat) : builder (list nat) :=
  let* m0 := emit (Both low mask) in
  let* t1 := emit (Right low 44) in let* u1 := emit (Left high 20) in let* v1 := emit (Both u1 mask) in
  let* m1 := emit (Plus t1 v1) in
  let* t2 := emit (Right high 24) in let* m2 := emit (Plus t2 one) in
  result [m0; m1; m2].

Definition added (x y : list nat) : builder (list nat) := each (fun ab => emit (Plus (fst ab) (snd ab))) (combine x y).

(** The factors of limb i of a product; of the second number there are also the upper two limbs, twenty times. *)
Definition factors (x y : list nat) (i : nat) : list (nat * nat) :=
  map (fun k => (nth k x 0, nth (if k <=? i then i - k else 5 + i - k) y 0)) (seq 0 3).

(** The sum of halves of products, from another one on. *)
Fixpoint sum_from (high : bool) (sum : nat) (terms : list (nat * nat)) : builder nat :=
  match terms with
  | [] => result sum
  | (x, y) :: terms => let* product := emit (Half_52 high x y) in let* sum := emit (Plus sum product) in sum_from high sum terms
  end.

(** From limb 0 over the others back to limb 0, and once more to limb 1. *)
Definition carries (mask last : nat) (d g : list nat) : builder (list nat) :=
  let x i := nth i d 0 in let y i := nth i g 0 in
  let* c0 := emit (Right (x 0) 44) in let* e0 := emit (Both (x 0) mask) in
  let* i0 := emit (Left (y 0) 8) in let* j0 := emit (Plus c0 i0) in let* v1 := emit (Plus (x 1) j0) in
  let* c1 := emit (Right v1 44) in let* e1 := emit (Both v1 mask) in
  let* i1 := emit (Left (y 1) 8) in let* j1 := emit (Plus c1 i1) in let* v2 := emit (Plus (x 2) j1) in
  let* c2 := emit (Right v2 42) in let* h2 := emit (Both v2 last) in
  let* i2 := emit (Left (y 2) 10) in let* j2 := emit (Plus c2 i2) in
  let* l2 := emit (Left j2 2) in let* m2 := emit (Plus j2 l2) in let* v0 := emit (Plus e0 m2) in
  let* k0 := emit (Right v0 44) in let* h0 := emit (Both v0 mask) in let* h1 := emit (Plus e1 k0) in
  result [h0; h1; h2].

(** A sum after two more blocks.  The inputs are its limbs, the multipliers of both blocks, and their words. *)
Definition two_built : program * list nat :=
  (let* mask := emit (Word 0xfffffffffff) in let* last := emit (Word 0x3ffffffffff) in
   let* one := emit (Word 0x10000000000) in let* none := emit (Word 0) in
   let* other := limbs mask one 15 16 in
   let* block := limbs mask one 13 14 in
   let* a := added (seq 0 3) block in
   let terms := fun i => factors other (seq 8 5) i ++ factors a (seq 3 5) i in
   let* d := each (fun i => sum_from false none (terms i)) (seq 0 3) in
   let* g := each (fun i => sum_from true none (terms i)) (seq 0 3) in
   carries mask last d g) 17.

Definition two_program : program := Eval vm_compute in fst two_built.
Definition two_results : list nat := Eval vm_compute in snd two_built.

Lemma low_from_zero x y : Words64.plus 0 (Words64.low_52 (Words64.product_52 x y)) = Words64.low_52 (Words64.product_52 x y).
Proof.
  unfold Words64.plus, Words64.low_52; rewrite Z.add_0_l; apply Z.mod_small.
  pose proof (Z.mod_pos_bound (Words64.product_52 x y) (2 ^ 52) eq_refl); lia.
Qed.

Lemma high_from_zero x y : Words64.plus 0 (Words64.high_52 (Words64.product_52 x y)) = Words64.high_52 (Words64.product_52 x y).
Proof.
  unfold Words64.plus, Words64.high_52, Words64.product_52; rewrite Z.add_0_l; apply Z.mod_small.
  pose proof (Z.mod_pos_bound x (2 ^ 52) eq_refl); pose proof (Z.mod_pos_bound y (2 ^ 52) eq_refl).
  split; [apply Z.div_pos; nia|apply Z.div_lt_upper_bound; nia].
Qed.

Lemma two_program_is h r t block other : length h = 3 -> length r = 5 -> length t = 5 -> length block = 2 -> length other = 2 ->
  map (fun i => nth i (on_words two_program (h ++ r ++ t ++ block ++ other)) 0%Z) two_results =
  Poly1305Limbs.add_two_blocks h r t block other.
Proof.
  intros LH LR LT LB LO.
  destruct h as [|h0 [|h1 [|h2 [|? ?]]]]; try discriminate LH.
  destruct r as [|r0 [|r1 [|r2 [|r3 [|r4 [|? ?]]]]]]; try discriminate LR.
  destruct t as [|t0 [|t1 [|t2 [|t3 [|t4 [|? ?]]]]]]; try discriminate LT.
  destruct block as [|low [|high [|? ?]]]; try discriminate LB; destruct other as [|low' [|high' [|? ?]]]; try discriminate LO.
  cbv -[Words64.plus Words64.low_52 Words64.high_52 Words64.product_52 Words64.shift_right Words64.shift_left Words64.both].
  rewrite !low_from_zero, !high_from_zero.
  lazymatch goal with |- ?a = ?b => constr_eq a b end; reflexivity.
Qed.

(** ** Eight lanes, two to a piece of 16 bytes *)

(** The blocks that are added to the sums of lanes 0 to 7; the others are the eight after them. *)
Definition first_block : list nat := [0; 4; 1; 5; 2; 6; 3; 7].

(** The words of two lanes: of the sums, of both multipliers, and of the blocks. *)
Definition in_two_lanes (i : nat) : list (nat * (nat * nat)) :=
  let j := 2 * i in let b := nth j first_block 0 in let c := nth (S j) first_block 0 in
  map (fun k => (0, (8 * k + j, 8 * k + S j))) (seq 0 3) ++
  map (fun k => (1, (16 * k + j, 16 * k + S j))) (seq 0 5) ++
  map (fun k => (1, (16 * k + (8 + j), 16 * k + (8 + S j)))) (seq 0 5) ++
  [(2, (2 * b, 2 * c)); (2, (2 * b + 1, 2 * c + 1)); (2, (2 * (8 + b), 2 * (8 + c))); (2, (2 * (8 + b) + 1, 2 * (8 + c) + 1))].

Definition all_inputs : list (list (nat * (nat * nat))) := Eval vm_compute in map in_two_lanes (seq 0 4).

(** Limb by limb. *)
Definition all_outputs : list (nat * nat) :=
  Eval vm_compute in flat_map (fun k => map (fun i => (i, nth k two_results 0)) (seq 0 4)) (seq 0 3).

Local Ltac each_lane l := do 8 (destruct l as [|l]; [reflexivity|]); lia.

Lemma words_of_lane s u b l : l < 8 ->
  words_taken [s; u; b] (l mod 2) (nth (l / 2) all_inputs []) =
  map (fun i => nth (8 * i + l) s 0%Z) (seq 0 3) ++ map (fun i => nth (16 * i + l) u 0%Z) (seq 0 5) ++
  map (fun i => nth (16 * i + (8 + l)) u 0%Z) (seq 0 5) ++
  two b (nth l first_block 0) ++ two b (8 + nth l first_block 0).
Proof. intro L; each_lane l. Qed.

Lemma results_of_lane ws l : l < 8 ->
  map (fun i => nth (8 * i + l) (string_results two_program all_inputs all_outputs ws) 0%Z) (seq 0 3) =
  map (fun i => nth i (on_words two_program (words_taken ws (l mod 2) (nth (l / 2) all_inputs []))) 0%Z) two_results.
Proof. intro L; unfold string_results; generalize (on_words two_program) as f; intro f; each_lane l. Qed.

Lemma two_are_added s u b : length b = 256 -> small 256 b ->
  lanes_of_words 3 8 (string_results two_program all_inputs all_outputs [s; u; words_of b]) =
  Poly1305Lanes44.add_group44 (lanes_of_words 5 16 u) (lanes_of_words 3 8 s) b.
Proof.
  intros LB SB.
  assert (BL : Poly1305.lane_blocks44 b = map (two (words_of b)) (first_block ++ map (Nat.add 8) first_block)).
  { unfold Poly1305.lane_blocks44; change (first_block ++ _) with [0; 4; 1; 5; 2; 6; 3; 7; 8; 12; 9; 13; 10; 14; 11; 15].
    apply map_ext_in; intros i I; apply block_is; [exact SB|]; cbn [In] in I; rewrite LB; intuition lia. }
  unfold Poly1305Lanes44.add_group44; rewrite BL; clear BL.
  transitivity (Poly1305Lanes.add_lanes Poly1305Limbs.add_two_blocks
    (map (fun l => map (fun i => nth (8 * i + l) s 0%Z) (seq 0 3)) (seq 0 8))
    (map (fun l => map (fun i => nth (16 * i + l) u 0%Z) (seq 0 5)) (seq 0 8))
    (map (fun l => map (fun i => nth (16 * i + (8 + l)) u 0%Z) (seq 0 5)) (seq 0 8))
    (map (fun l => two (words_of b) (nth l first_block 0)) (seq 0 8))
    (map (fun l => two (words_of b) (8 + nth l first_block 0)) (seq 0 8))); [|reflexivity].
  rewrite Poly1305Lanes.add_lanes_each; unfold lanes_of_words at 1; apply map_ext_in; intros l J; apply in_seq in J.
  rewrite results_of_lane, words_of_lane by lia; apply two_program_is; rewrite ?map_length; reflexivity.
Qed.

(** Sums, multipliers and a group in bytes. *)
Lemma two_shape : LanePrograms.shape_ok two_program all_inputs all_outputs [192; 640; 256] = true.
Proof. vm_compute; reflexivity. Qed.
