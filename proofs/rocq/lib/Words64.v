(* Words of 64 bits, as limbs.awk writes their operations, and when these are operations on integers. *)

From Coq Require Import Bool Lia ZArith.
Local Open Scope Z_scope.

Definition plus (x y : Z) : Z := (x + y) mod 2 ^ 64.
Definition times (x y : Z) : Z := (x * y) mod 2 ^ 64.
Definition low_half (x : Z) : Z := x mod 2 ^ 32.
Definition shift_right (x k : Z) : Z := Z.shiftr x k.
Definition shift_left (x k : Z) : Z := Z.shiftl x k mod 2 ^ 64.
Definition both (x y : Z) : Z := Z.land x y.

(* The product of the low 52 bits of two words, which has 104 bits, and its halves. *)
Definition product_52 (x y : Z) : Z := (x mod 2 ^ 52) * (y mod 2 ^ 52).
Definition low_52 (x : Z) : Z := x mod 2 ^ 52.
Definition high_52 (x : Z) : Z := x / 2 ^ 52.

(* The rest of a program, with a name for the result of an operation. *)
Definition bind {A : Type} (x : Z) (rest : Z -> A) : A := rest x.

Lemma bind_spec {A} (post : A -> Prop) x rest : (forall v, v = x -> post (rest v)) -> post (bind x rest).
Proof. intros H. now apply H. Qed.

(* Each of these takes the largest values of the operands, and gives that of the result: interval arithmetic. Where the
   result could wrap, the last condition is false, and the lemma cannot be used. *)

Lemma plus_exact v x X y Y : v = plus x y -> 0 <= x <= X -> 0 <= y <= Y ->
  (X + Y <? 2 ^ 64) = true -> v = x + y /\ 0 <= v <= X + Y.
Proof. intros -> Hx Hy H. apply Z.ltb_lt in H. unfold plus. rewrite Z.mod_small; lia. Qed.

Lemma product_exact v x X y Y : v = times (low_half x) (low_half y) -> 0 <= x <= X -> 0 <= y <= Y ->
  (X <? 2 ^ 32) && (Y <? 2 ^ 32) = true -> v = x * y /\ 0 <= v <= X * Y.
Proof.
  intros -> Hx Hy H. apply andb_prop in H as [H1 H2]. apply Z.ltb_lt in H1, H2. unfold times, low_half.
  rewrite (Z.mod_small x), (Z.mod_small y) by lia.
  assert (0 <= x * y) by (apply Z.mul_nonneg_nonneg; lia).
  assert (x * y <= X * Y) by (apply Z.mul_le_mono_nonneg; lia).
  assert (X * Y < 2 ^ 32 * 2 ^ 32) by (apply Z.mul_lt_mono_nonneg; lia).
  rewrite Z.mod_small by lia. auto.
Qed.

Lemma product_52_exact x X y Y : 0 <= x <= X -> 0 <= y <= Y ->
  (X <? 2 ^ 52) && (Y <? 2 ^ 52) = true -> product_52 x y = x * y /\ 0 <= x * y <= X * Y.
Proof.
  intros Hx Hy H. apply andb_prop in H as [H1 H2]. apply Z.ltb_lt in H1, H2. unfold product_52.
  rewrite (Z.mod_small x), (Z.mod_small y) by lia. split; [reflexivity|].
  split; [apply Z.mul_nonneg_nonneg; lia|apply Z.mul_le_mono_nonneg; lia].
Qed.

Lemma low_52_exact v x X y Y : v = low_52 (product_52 x y) -> 0 <= x <= X -> 0 <= y <= Y ->
  (X <? 2 ^ 52) && (Y <? 2 ^ 52) = true -> v = x * y - 2 ^ 52 * (x * y / 2 ^ 52) /\ 0 <= v <= 2 ^ 52 - 1.
Proof.
  intros -> Hx Hy H. destruct (product_52_exact x X y Y Hx Hy H) as [-> B]. unfold low_52.
  pose proof (Z.mod_pos_bound (x * y) (2 ^ 52) eq_refl). split; [|lia]. rewrite Z.mod_eq by lia. reflexivity.
Qed.

Lemma high_52_exact v x X y Y : v = high_52 (product_52 x y) -> 0 <= x <= X -> 0 <= y <= Y ->
  (X <? 2 ^ 52) && (Y <? 2 ^ 52) = true -> v = x * y / 2 ^ 52 /\ 0 <= v <= X * Y / 2 ^ 52.
Proof.
  intros -> Hx Hy H. destruct (product_52_exact x X y Y Hx Hy H) as [-> B]. unfold high_52.
  split; [reflexivity|]. split; [apply Z.div_pos; lia|apply Z.div_le_mono; lia].
Qed.

Lemma shift_right_exact v x X k : v = shift_right x k -> 0 <= x <= X ->
  (0 <=? k) = true -> v = x / 2 ^ k /\ 0 <= v <= X / 2 ^ k.
Proof.
  intros -> Hx Hk. apply Z.leb_le in Hk. unfold shift_right. rewrite Z.shiftr_div_pow2 by assumption.
  assert (0 < 2 ^ k) by now apply Z.pow_pos_nonneg.
  repeat split; [apply Z.div_pos; lia|apply Z.div_le_mono; lia].
Qed.

Lemma shift_left_exact v x X k : v = shift_left x k -> 0 <= x <= X ->
  (0 <=? k) && (X * 2 ^ k <? 2 ^ 64) = true -> v = x * 2 ^ k /\ 0 <= v <= X * 2 ^ k.
Proof.
  intros -> Hx H. apply andb_prop in H as [Hk H]. apply Z.leb_le in Hk. apply Z.ltb_lt in H.
  unfold shift_left. rewrite Z.shiftl_mul_pow2 by assumption.
  assert (0 < 2 ^ k) by now apply Z.pow_pos_nonneg.
  assert (0 <= x * 2 ^ k) by (apply Z.mul_nonneg_nonneg; lia).
  assert (x * 2 ^ k <= X * 2 ^ k) by (apply Z.mul_le_mono_nonneg_r; lia). rewrite Z.mod_small by lia. auto.
Qed.

(* The low n bits. *)
Lemma both_ones x ones n : (0 <=? n) && (ones =? 2 ^ n - 1) = true -> both x ones = x mod 2 ^ n.
Proof.
  intros H. apply andb_prop in H as [Hn H]. apply Z.leb_le in Hn. apply Z.eqb_eq in H. subst ones.
  replace (2 ^ n - 1) with (Z.ones n) by (rewrite Z.ones_equiv; lia). now apply Z.land_ones.
Qed.

Lemma both_mask x : both x 0x0000000003ffffff = x mod 2 ^ 26.
Proof. now apply both_ones. Qed.

Lemma both_exact v x X ones n : v = both x ones -> 0 <= x <= X -> (0 <=? n) && (ones =? 2 ^ n - 1) = true ->
  v = x - 2 ^ n * (x / 2 ^ n) /\ 0 <= v <= 2 ^ n - 1.
Proof.
  intros -> Hx H. rewrite (both_ones x ones n H). apply andb_prop in H as [Hn _]. apply Z.leb_le in Hn.
  assert (P : 0 < 2 ^ n) by now apply Z.pow_pos_nonneg. pose proof (Z.mod_pos_bound x (2 ^ n) P).
  split; [|lia]. rewrite Z.mod_eq by lia. reflexivity.
Qed.

(* The largest value of x that is known; of a constant, itself. *)
Ltac known x :=
  match goal with
  | _ : 0 <= x <= _ |- _ => idtac
  | _ => assert (0 <= x <= x) by lia
  end.

(* An equation that a lemma gives, and a bound, which is computed. *)
Ltac settle lemma :=
  let E := fresh "E" in
  let B := fresh "B" in
  destruct lemma as [E B];
  match type of B with 0 <= ?v <= ?X => let N := eval vm_compute in X in change (0 <= v <= N) in B end.

(* Replaces an operation on words by that on integers. After both halves of a carry or of a product, only the upper one has
   a name. *)
Ltac exact_operation H :=
  lazymatch type of H with
  | ?v = plus ?x ?y =>
      known x; known y;
      match goal with Hx : 0 <= x <= ?X |- _ => match goal with Hy : 0 <= y <= ?Y |- _ =>
        settle (plus_exact v x X y Y H Hx Hy eq_refl) end end
  | ?v = times (low_half ?x) (low_half ?y) =>
      match goal with Hx : 0 <= x <= ?X |- _ => match goal with Hy : 0 <= y <= ?Y |- _ =>
        settle (product_exact v x X y Y H Hx Hy eq_refl) end end
  | ?v = shift_right ?x ?k =>
      match goal with Hx : 0 <= x <= ?X |- _ => settle (shift_right_exact v x X k H Hx eq_refl) end
  | ?v = shift_left ?x ?k =>
      match goal with Hx : 0 <= x <= ?X |- _ => settle (shift_left_exact v x X k H Hx eq_refl) end
  | ?v = low_52 (product_52 ?x ?y) =>
      match goal with Hx : 0 <= x <= ?X |- _ => match goal with Hy : 0 <= y <= ?Y |- _ =>
        settle (low_52_exact v x X y Y H Hx Hy eq_refl) end end
  | ?v = high_52 (product_52 ?x ?y) =>
      match goal with Hx : 0 <= x <= ?X |- _ => match goal with Hy : 0 <= y <= ?Y |- _ =>
        settle (high_52_exact v x X y Y H Hx Hy eq_refl) end end;
      try match goal with
      | E : _ = x * y - 2 ^ 52 * (x * y / 2 ^ 52), C : v = x * y / 2 ^ 52 |- _ => rewrite <- C in E; clear C
      end
  | ?v = both ?x ?ones =>
      let n := eval vm_compute in (Z.log2 (ones + 1)) in
      match goal with Hx : 0 <= x <= ?X |- _ => settle (both_exact v x X ones n H Hx eq_refl) end;
      try match goal with
      | E : v = x - 2 ^ n * (x / 2 ^ n), C : ?c = x / 2 ^ n |- _ => rewrite <- C in E; clear C
      end
  end;
  clear H.

Ltac next :=
  lazymatch goal with
  | |- ?post (bind ?x ?rest) =>
      let v := fresh "v" in
      let H := fresh "H" in
      apply (bind_spec post x rest); intros v H; cbv beta; exact_operation H
  end.

(* All operations of a program. *)
Ltac operations := repeat (lazymatch goal with |- _ (bind _ _) => next end).
