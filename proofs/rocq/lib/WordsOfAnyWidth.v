(* Words of 32, 64 and 128 bits, as words.awk writes their operations, and when these are operations on integers. What
   does not depend on the width is in Words64.v. *)

From Coq Require Import Bool Lia ZArith.
From Veriplex Require Import Words64.
Local Open Scope Z_scope.

Definition plus_at (w x y : Z) : Z := (x + y) mod 2 ^ w.
Definition times_at (w x y : Z) : Z := (x * y) mod 2 ^ w.
Definition shift_left_at (w x k : Z) : Z := Z.shiftl x k mod 2 ^ w.
Definition either (x y : Z) : Z := Z.lor x y.
Definition narrowed (w x : Z) : Z := x mod 2 ^ w.
Definition widened (x : Z) : Z := x.

(* As in Words64.v: from the largest values of the operands, that of the result. *)

Lemma plus_at_exact v w x X y Y : v = plus_at w x y -> 0 <= x <= X -> 0 <= y <= Y ->
  (X + Y <? 2 ^ w) = true -> v = x + y /\ 0 <= v <= X + Y.
Proof. intros -> Hx Hy H. apply Z.ltb_lt in H. unfold plus_at. rewrite Z.mod_small; lia. Qed.

Lemma times_at_exact v w x X y Y : v = times_at w x y -> 0 <= x <= X -> 0 <= y <= Y ->
  (X * Y <? 2 ^ w) = true -> v = x * y /\ 0 <= v <= X * Y.
Proof.
  intros -> Hx Hy H. apply Z.ltb_lt in H. unfold times_at.
  assert (0 <= x * y) by (apply Z.mul_nonneg_nonneg; lia).
  assert (x * y <= X * Y) by (apply Z.mul_le_mono_nonneg; lia).
  rewrite Z.mod_small by lia. auto.
Qed.

Lemma shift_left_at_exact v w x X k : v = shift_left_at w x k -> 0 <= x <= X ->
  (0 <=? k) && (X * 2 ^ k <? 2 ^ w) = true -> v = x * 2 ^ k /\ 0 <= v <= X * 2 ^ k.
Proof.
  intros -> Hx H. apply andb_prop in H as [Hk H]. apply Z.leb_le in Hk. apply Z.ltb_lt in H.
  unfold shift_left_at. rewrite Z.shiftl_mul_pow2 by assumption.
  assert (0 < 2 ^ k) by now apply Z.pow_pos_nonneg.
  assert (0 <= x * 2 ^ k) by (apply Z.mul_nonneg_nonneg; lia).
  assert (x * 2 ^ k <= X * 2 ^ k) by (apply Z.mul_le_mono_nonneg_r; lia). rewrite Z.mod_small by lia. auto.
Qed.

Lemma low_bits x p : 0 < p -> x mod p = x - p * (x / p) /\ 0 <= x mod p <= p - 1.
Proof. intros P. pose proof (Z.mod_pos_bound x p P). split; [apply Z.mod_eq|]; lia. Qed.

(* The low k bits: x without the upper ones. *)
Lemma both_ones_exact v x X k m : v = both x m -> 0 <= x <= X -> (0 <=? k) && (m =? 2 ^ k - 1) = true ->
  v = x - 2 ^ k * (x / 2 ^ k) /\ 0 <= v <= 2 ^ k - 1.
Proof.
  intros -> _ H. apply andb_prop in H as [Hk H]. apply Z.leb_le in Hk. apply Z.eqb_eq in H as ->.
  assert (P : 0 < 2 ^ k) by now apply Z.pow_pos_nonneg.
  assert (E : both x (2 ^ k - 1) = x mod 2 ^ k).
  { unfold both. replace (2 ^ k - 1) with (Z.ones k) by (rewrite Z.ones_equiv; lia). now apply Z.land_ones. }
  rewrite E. apply low_bits, P.
Qed.

(* A narrower word loses nothing of a small number. *)
Lemma narrowed_exact v w x X : v = narrowed w x -> 0 <= x <= X -> (X <? 2 ^ w) = true -> v = x /\ 0 <= v <= X.
Proof. intros -> Hx H. apply Z.ltb_lt in H. unfold narrowed. rewrite Z.mod_small; lia. Qed.

(* Otherwise it keeps the low bits. *)
Lemma narrowed_bound v w x : v = narrowed w x -> (0 <=? w) = true -> v = x mod 2 ^ w /\ 0 <= v <= 2 ^ w - 1.
Proof.
  intros -> H. apply Z.leb_le in H. unfold narrowed.
  assert (P : 0 < 2 ^ w) by now apply Z.pow_pos_nonneg. split; [reflexivity|]. apply low_bits, P.
Qed.

Lemma both_narrowed_exact v n w x k m : v = both n m -> n = x mod 2 ^ w ->
  (0 <=? k) && (k <=? w) && (m =? 2 ^ k - 1) = true -> v = x - 2 ^ k * (x / 2 ^ k) /\ 0 <= v <= 2 ^ k - 1.
Proof.
  intros -> -> H. apply andb_prop in H as [H Hm]. apply andb_prop in H as [Hk Hw].
  apply Z.leb_le in Hk, Hw. apply Z.eqb_eq in Hm as ->.
  assert (P : 0 < 2 ^ k) by now apply Z.pow_pos_nonneg.
  assert (E : both (x mod 2 ^ w) (2 ^ k - 1) = x mod 2 ^ k).
  { unfold both. replace (2 ^ k - 1) with (Z.ones k) by (rewrite Z.ones_equiv; lia). rewrite Z.land_ones by assumption.
    replace w with (k + (w - k)) by lia. rewrite Z.pow_add_r by lia.
    rewrite Z.rem_mul_r by lia. rewrite Z.mul_comm, Z_mod_plus_full. apply Z.mod_mod. lia. }
  rewrite E. apply low_bits, P.
Qed.

(* A sum that may wrap, and its carry. *)
Lemma carry_exact s c x y : s = plus_at 128 x y -> 0 <= x < 2 ^ 128 -> 0 <= y < 2 ^ 128 ->
  c = (if s <? y then 1 else 0) -> s + 2 ^ 128 * c = x + y /\ 0 <= s < 2 ^ 128 /\ 0 <= c <= 1.
Proof.
  unfold plus_at. intros -> Hx Hy ->.
  destruct (Z.ltb_spec ((x + y) mod 2 ^ 128) y); Z.div_mod_to_equations; lia.
Qed.

(* Two halves of 64 bits, of which the upper may lose what is above. *)
Lemma halves_exact h l x y : h = shift_left_at 128 x 64 -> l = both y 0xffffffffffffffff -> 0 <= x -> 0 <= y ->
  either h l = 2 ^ 64 * (x - 2 ^ 64 * (x / 2 ^ 64)) + (y - 2 ^ 64 * (y / 2 ^ 64)).
Proof.
  intros -> -> Hx Hy. unfold either, shift_left_at, both.
  replace 0xffffffffffffffff with (Z.ones 64) by reflexivity. rewrite Z.land_ones by lia.
  rewrite Z.shiftl_mul_pow2 by lia. change (2 ^ 128) with (2 ^ 64 * 2 ^ 64).
  rewrite Z.mul_mod_distr_r by lia.
  rewrite <- !Z.mod_eq by lia. rewrite (Z.mul_comm (2 ^ 64)).
  assert (D : Z.land (x mod 2 ^ 64 * 2 ^ 64) (y mod 2 ^ 64) = 0).
  { rewrite <- Z.shiftl_mul_pow2 by lia. rewrite <- (Z.land_ones y) by lia. apply Z.bits_inj'. intros n Hn.
    rewrite !Z.land_spec, Z.bits_0. destruct (Z.ltb_spec n 64).
    - rewrite Z.shiftl_spec_low by assumption. reflexivity.
    - rewrite Z.ones_spec_high by lia. rewrite !andb_false_r. reflexivity. }
  rewrite <- Z.lxor_lor by exact D. symmetry. apply Z.add_nocarry_lxor. exact D.
Qed.

Lemma plus_at_comm w x y : plus_at w x y = plus_at w y x.
Proof. unfold plus_at. now rewrite Z.add_comm. Qed.
