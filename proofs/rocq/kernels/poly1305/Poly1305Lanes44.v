(* Poly1305 in eight lanes of two blocks each, on limbs of 44, 44 and 42 bits in words of 64 bits, with products of 52 bits:
   no word wraps, no half of a product is lost, and the result is the polynomial.

   As in Poly1305Lanes.v, Poly1305Limbs.v is written from spec/cryptol/Poly1305.cry, to which SAW proves the kernel equal.

   [lanes44_are_the_polynomial]: for every number of groups of sixteen blocks, two calls of the kernel, the sum of the lanes
   and the last reduction give the polynomial. The first call has r^16 in every lane for the blocks that are added to the
   sums, and r^8 for the others; the second, of one group, r^16 to r. *)

From Coq Require Import Lia List NArith ZArith.
From Veriplex Require Import AES Words64 Poly1305 Poly1305Limbs Poly1305Lanes.
Import ListNotations.
Local Open Scope Z_scope.

(* Three limbs below a bound. *)
Definition below3 (bound : Z) (x : list Z) : Prop := length x = 3%nat /\ Forall (fun limb => 0 <= limb < bound) x.

Lemma below_three bound x : below3 bound x ->
  exists x0 x1 x2, x = [x0; x1; x2] /\ 0 <= x0 <= bound - 1 /\ 0 <= x1 <= bound - 1 /\ 0 <= x2 <= bound - 1.
Proof.
  intros [L F]. destruct x as [|x0 [|x1 [|x2 [|x3 x]]]]; try discriminate.
  exists x0, x1, x2. split; [reflexivity|].
  repeat match goal with H : Forall _ (_ :: _) |- _ => inversion_clear H end. cbv beta in *. lia.
Qed.

Lemma three_below bound x0 x1 x2 : 0 <= x0 < bound -> 0 <= x1 < bound -> 0 <= x2 < bound -> below3 bound [x0; x1; x2].
Proof. intros. split; [reflexivity|]. repeat (apply Forall_cons; [assumption|]). apply Forall_nil. Qed.

Lemma three_number x0 x1 x2 : limbs_number44 [x0; x1; x2] = x0 + 2 ^ 44 * x1 + 2 ^ 88 * x2.
Proof. unfold limbs_number44. cbn [fold_right]. ring. Qed.

(* -- The specification's numbers ---------------------------------------------------------------------------------- *)

Lemma multiplier44_limbs x : 0 <= x < 2 ^ 130 ->
  exists r0 r1 r2, multiplier44 x = [r0; r1; r2; 20 * r1; 20 * r2] /\
    0 <= r0 <= 2 ^ 44 - 1 /\ 0 <= r1 <= 2 ^ 44 - 1 /\ 0 <= r2 <= 2 ^ 44 - 1 /\ limbs_number44 [r0; r1; r2] = x.
Proof.
  intros H. exists (x mod 2 ^ 44), (x / 2 ^ 44 mod 2 ^ 44), (x / 2 ^ 88 mod 2 ^ 44).
  split.
  - unfold multiplier44, limbs44. cbn [map app skipn]. rewrite Z.mul_0_r, Z.pow_0_r, Z.div_1_r. reflexivity.
  - assert (E2 : x / 2 ^ 88 = x / 2 ^ 44 / 2 ^ 44) by (rewrite Z.div_div by lia; reflexivity).
    rewrite three_number, E2. Z.div_mod_to_equations. lia.
Qed.

(* -- The generated functions -------------------------------------------------------------------------------------- *)

Lemma block_limbs44_number low high : 0 <= low < 2 ^ 64 -> 0 <= high < 2 ^ 64 ->
  below3 (2 ^ 44) (block_limbs44 [low; high]) /\
  limbs_number44 (block_limbs44 [low; high]) = low + 2 ^ 64 * high + 2 ^ 128.
Proof.
  intros Hl Hh. unfold block_limbs44, bind. rewrite !(both_ones _ 0x00000fffffffffff 44) by reflexivity.
  unfold plus, shift_left, shift_right. rewrite !Z.shiftr_div_pow2, !Z.shiftl_mul_pow2 by lia.
  rewrite three_number. split.
  - apply three_below; Z.div_mod_to_equations; lia.
  - Z.div_mod_to_equations. lia.
Qed.

Lemma add_limbs44_number a b x y : below3 a x -> below3 b y -> a + b <= 2 ^ 64 ->
  below3 (a + b) (add_limbs44 x y) /\ limbs_number44 (add_limbs44 x y) = limbs_number44 x + limbs_number44 y.
Proof.
  intros Hx Hy Hab.
  destruct (below_three _ _ Hx) as (x0 & x1 & x2 & -> & ? & ? & ?).
  destruct (below_three _ _ Hy) as (y0 & y1 & y2 & -> & ? & ? & ?).
  unfold add_limbs44, bind, plus. rewrite !Z.mod_small by lia. rewrite !three_number. split; [|ring].
  apply three_below; lia.
Qed.

(* The bounds of the results, from those that the operations gave. *)
Ltac three_bounded :=
  apply three_below;
  match goal with B : 0 <= ?v <= ?X |- 0 <= ?v < _ =>
    split; [exact (proj1 B)|apply (Z.le_lt_trans _ X); [exact (proj2 B)|vm_compute; reflexivity]]
  end.

Definition multiplied_two (a r b t out : list Z) : Prop :=
  below3 (2 ^ 45) out /\
  congruent (limbs_number44 a * limbs_number44 r + limbs_number44 b * limbs_number44 t) (limbs_number44 out).

(* No word wraps and no factor has more than 52 bits, for numbers of any limbs below 2^46 and 2^44, and the result is the
   sum of the products modulo p. *)
Lemma multiply_two_number a x b y : below3 (2 ^ 46) a -> 0 <= x < 2 ^ 130 -> below3 (2 ^ 44) b -> 0 <= y < 2 ^ 130 ->
  below3 (2 ^ 45) (multiply_two a (multiplier44 x) b (multiplier44 y)) /\
  congruent (limbs_number44 a * x + limbs_number44 b * y)
    (limbs_number44 (multiply_two a (multiplier44 x) b (multiplier44 y))).
Proof.
  intros Ha Hx Hb Hy.
  destruct (below_three _ _ Ha) as (a0 & a1 & a2 & -> & ? & ? & ?).
  destruct (below_three _ _ Hb) as (b0 & b1 & b2 & -> & ? & ? & ?).
  destruct (multiplier44_limbs x Hx) as (r0 & r1 & r2 & -> & ? & ? & ? & <-).
  destruct (multiplier44_limbs y Hy) as (t0 & t1 & t2 & -> & ? & ? & ? & <-).
  clear Ha Hx Hb Hy.
  remember (20 * r1) as s1 eqn:S1. remember (20 * r2) as s2 eqn:S2.
  remember (20 * t1) as u1 eqn:U1. remember (20 * t2) as u2 eqn:U2.
  assert (0 <= s1 <= 20 * (2 ^ 44 - 1)) by lia. assert (0 <= s2 <= 20 * (2 ^ 44 - 1)) by lia.
  assert (0 <= u1 <= 20 * (2 ^ 44 - 1)) by lia. assert (0 <= u2 <= 20 * (2 ^ 44 - 1)) by lia.
  change (multiplied_two [a0; a1; a2] [r0; r1; r2] [b0; b1; b2] [t0; t1; t2]
    (multiply_two [a0; a1; a2] [r0; r1; r2; s1; s2] [b0; b1; b2] [t0; t1; t2; u1; u2])).
  unfold multiply_two, low52, high52. operations. split; [three_bounded|].
  match goal with E : _ = ?c * 2 ^ 2 |- _ =>
    exists (4 * (a1 * r2 + a2 * r1 + b1 * t2 + b2 * t1) + 2 ^ 46 * (a2 * r2 + b2 * t2) + c)
  end.
  no_bounds. rewrite !three_number. expand. unfold prime. ring.
Qed.

Lemma add_two_blocks_number h x y block other : below3 (2 ^ 45) h -> 0 <= x < 2 ^ 130 -> 0 <= y < 2 ^ 130 ->
  length block = 16%nat -> Forall (fun b => (b < 256)%N) block ->
  length other = 16%nat -> Forall (fun b => (b < 256)%N) other ->
  below3 (2 ^ 45) (add_two_blocks h (multiplier44 x) (multiplier44 y) (words block) (words other)) /\
  congruent ((limbs_number44 h + block_number block) * x + block_number other * y)
    (limbs_number44 (add_two_blocks h (multiplier44 x) (multiplier44 y) (words block) (words other))).
Proof.
  intros Hh Hx Hy L F L' F'. destruct (words_number block L F) as (low & high & -> & Hl & Hi & ->).
  destruct (words_number other L' F') as (low' & high' & -> & Hl' & Hi' & ->).
  destruct (block_limbs44_number low high Hl Hi) as [Bm Em].
  destruct (block_limbs44_number low' high' Hl' Hi') as [Bm' Em'].
  destruct (add_limbs44_number _ _ _ _ Hh Bm ltac:(lia)) as [Ba Ea].
  unfold add_two_blocks. rewrite <- Em, <- Ea, <- Em'.
  apply multiply_two_number; try assumption.
  destruct (below_three _ _ Ba) as (a0 & a1 & a2 & -> & ? & ? & ?). apply three_below; lia.
Qed.

(* The lanes of the kernel, between two groups. *)
Definition fits44 (sums : list (list Z)) : Prop := length sums = 8%nat /\ Forall (below3 (2 ^ 45)) sums.

Notation total := (total_of limbs_number44).

Lemma sum_lanes44_number sums : fits44 sums ->
  below3 (2 ^ 48) (sum_lanes44 sums) /\ limbs_number44 (sum_lanes44 sums) = total sums.
Proof.
  intros [L F].
  destruct sums as [|a [|b [|c [|d [|e [|f [|g [|h [|i sums]]]]]]]]]; try discriminate.
  repeat match goal with H : Forall _ (_ :: _) |- _ => inversion_clear H end.
  assert (four : forall a b c d, below3 (2 ^ 45) a -> below3 (2 ^ 45) b -> below3 (2 ^ 45) c -> below3 (2 ^ 45) d ->
    below3 (2 ^ 47) (sum_four44 a b c d) /\ limbs_number44 (sum_four44 a b c d) =
      limbs_number44 a + limbs_number44 b + limbs_number44 c + limbs_number44 d).
  { intros a' b' c' d' Ha Hb Hc Hd. unfold sum_four44.
    destruct (add_limbs44_number _ _ _ _ Ha Hb ltac:(lia)) as [B1 E1].
    destruct (add_limbs44_number _ _ _ _ Hc Hd ltac:(lia)) as [B2 E2].
    destruct (add_limbs44_number _ _ _ _ B1 B2 ltac:(lia)) as [B3 E3].
    split; [exact B3|]. rewrite E3, E1, E2. ring. }
  unfold sum_lanes44.
  destruct (four a b c d) as [B1 E1]; try assumption. destruct (four e f g h) as [B2 E2]; try assumption.
  destruct (add_limbs44_number _ _ _ _ B1 B2 ltac:(lia)) as [B3 E3].
  split; [exact B3|]. rewrite E3, E1, E2. unfold total_of. cbn [fold_right]. ring.
Qed.

(* What is carried is below 2 p. *)
Definition carried44 (x : list Z) : Prop :=
  exists x0 x1 x2, x = [x0; x1; x2] /\ 0 <= x0 <= 2 ^ 44 - 1 /\ 0 <= x1 <= 2 ^ 44 /\ 0 <= x2 <= 2 ^ 42 - 1.

Definition carried_from44 (x out : list Z) : Prop :=
  carried44 out /\ congruent (limbs_number44 x) (limbs_number44 out).

Lemma carry_limbs44_number x : below3 (2 ^ 48) x ->
  carried44 (carry_limbs44 x) /\ congruent (limbs_number44 x) (limbs_number44 (carry_limbs44 x)).
Proof.
  intros Hx. destruct (below_three _ _ Hx) as (x0 & x1 & x2 & -> & ? & ? & ?). clear Hx.
  change (carried_from44 [x0; x1; x2] (carry_limbs44 [x0; x1; x2])).
  unfold carry_limbs44. operations. split.
  - do 3 eexists. split; [reflexivity|]. repeat split;
      match goal with
      | B : 0 <= ?v <= _ |- 0 <= ?v => exact (proj1 B)
      | B : 0 <= ?v <= ?X |- ?v <= _ => apply (Z.le_trans _ X); [exact (proj2 B)|vm_compute; discriminate]
      end.
  - match goal with E : _ = ?c * 2 ^ 2 |- _ => exists c end.
    no_bounds. rewrite !three_number. expand. unfold prime. ring.
Qed.

Definition reduced_from44 (x out : list Z) : Prop := limbs_number44 out = limbs_number44 x mod prime.

(* For every number below 2 p that is carried, those from p to 2^130 included: p is subtracted once, if at all. *)
Lemma reduce_limbs44_number x : carried44 x -> limbs_number44 (reduce_limbs44 x) = limbs_number44 x mod prime.
Proof.
  intros (h0 & h1 & h2 & -> & ? & ? & ?).
  assert (Hsmall : limbs_number44 [h0; h1; h2] < 2 * prime) by (rewrite three_number; unfold prime; lia).
  change (reduced_from44 [h0; h1; h2] (reduce_limbs44 [h0; h1; h2])).
  unfold reduce_limbs44. operations. unfold reduced_from44. rewrite three_number in Hsmall. rewrite !three_number.
  remember (h0 + 2 ^ 44 * h1 + 2 ^ 88 * h2) as h eqn:Hh.
  assert (D : h mod prime = if h <? prime then h else h - prime).
  { destruct (Z.ltb_spec h prime); [apply Z.mod_small; lia|].
    symmetry. apply Z.mod_unique with 1; unfold prime in *; lia. }
  rewrite D. clear D. unfold prime in *.
  destruct (Z.ltb_spec h (2 ^ 130 - 5)); Z.div_mod_to_equations; lia.
Qed.

(* -- Eight lanes -------------------------------------------------------------------------------------------------- *)

Definition add_group44 (multipliers sums : list (list Z)) (group : list byte) : list (list Z) :=
  add_lanes add_two_blocks sums (firstn 8 multipliers) (skipn 8 multipliers)
    (firstn 8 (lane_blocks44 group)) (skipn 8 (lane_blocks44 group)).

(* The exponents of the blocks that are added to the sums, in the order of the lanes; those of the others are eight less. *)
Definition exponents : list Z := [16; 12; 15; 11; 14; 10; 13; 9].

(* Of the loop, r^16 and r^8 in every lane; of the last group, what remains of r^16 to r. *)
Definition power44 (r e : Z) : list Z := multiplier44 (r ^ e mod prime).
Definition same_multipliers44 (r : Z) : list (list Z) :=
  map (fun _ => power44 r 16) exponents ++ map (fun _ => power44 r 8) exponents.
Definition last_multipliers44 (r : Z) : list (list Z) :=
  map (power44 r) exponents ++ map (fun e => power44 r (e - 8)) exponents.

(* Two calls of a kernel: for n groups, and for one group more. *)
Definition two_calls44 (r : Z) (sums : list (list Z)) (groups : list (list byte)) (last_group : list byte)
    : list (list Z) :=
  add_group44 (last_multipliers44 r) (fold_left (add_group44 (same_multipliers44 r)) groups sums) last_group.

(* A group is sixteen blocks of 16 bytes. *)
Definition whole44 (group : list byte) : Prop := length group = 256%nat /\ Forall (fun b => (b < 256)%N) group.

Definition first_blocks (group : list byte) : list (list byte) :=
  map (fun i => block_at i group) [0; 4; 1; 5; 2; 6; 3; 7]%nat.
Definition second_blocks (group : list byte) : list (list byte) :=
  map (fun i => block_at i group) [8; 12; 9; 13; 10; 14; 11; 15]%nat.

Lemma blocks_of_lanes group : whole44 group -> Forall full (first_blocks group) /\ Forall full (second_blocks group).
Proof.
  intros Hg. unfold first_blocks, second_blocks. cbn [map].
  split; repeat (apply Forall_cons; [apply (block_at_full 16); [lia|assumption]|]); apply Forall_nil.
Qed.

Definition worth44 (r : Z) (sums : list (list Z)) : Z := worth_of limbs_number44 r exponents sums.

Definition group_number44 (r : Z) (group : list byte) : Z :=
  contribution 8 r exponents (first_blocks group) (second_blocks group).

Lemma loop_group44 r sums group : fits44 sums -> whole44 group ->
  fits44 (add_group44 (same_multipliers44 r) sums group) /\
  congruent (worth44 r (add_group44 (same_multipliers44 r) sums group))
    (r ^ 16 * (worth44 r sums + group_number44 r group)).
Proof.
  intros [Ls Hs] Hg. destruct (blocks_of_lanes _ Hg) as [Hb Hc].
  destruct (loop_lanes limbs_number44 (below3 (2 ^ 45)) add_two_blocks multiplier44 8 eq_refl add_two_blocks_number r exponents sums
    (first_blocks group) (second_blocks group)) as (L & B & C);
    try assumption; try reflexivity.
  { unfold exponents. repeat (apply Forall_cons; [lia|]). apply Forall_nil. }
  exact (conj (conj L B) C).
Qed.

Lemma last_group44_number r sums group : fits44 sums -> whole44 group ->
  fits44 (add_group44 (last_multipliers44 r) sums group) /\
  congruent (limbs_number44 (sum_lanes44 (add_group44 (last_multipliers44 r) sums group)))
    (worth44 r sums + group_number44 r group).
Proof.
  intros [Ls Hs] Hg. destruct (blocks_of_lanes _ Hg) as [Hb Hc].
  destruct (last_lanes limbs_number44 (below3 (2 ^ 45)) add_two_blocks multiplier44 8 add_two_blocks_number r exponents sums
    (first_blocks group) (second_blocks group)) as (L & B & C);
    try assumption; try reflexivity.
  assert (Hfits : fits44 (add_group44 (last_multipliers44 r) sums group)) by exact (conj L B).
  split; [exact Hfits|]. destruct (sum_lanes44_number _ Hfits) as [_ ->]. exact C.
Qed.

(* -- The blocks of a message -------------------------------------------------------------------------------------- *)

Lemma skipn_twice m : forall k (x : list byte), skipn m (skipn k x) = skipn (m + k) x.
Proof.
  induction k as [|k IH]; intros x; [now rewrite Nat.add_0_r|].
  rewrite Nat.add_succ_r. destruct x; [now rewrite !skipn_nil|]. apply IH.
Qed.

Lemma blocks_of_group : forall n group message, length group = (16 * n)%nat ->
  blocks (group ++ message) = map (fun i => block_at i group) (seq 0 n) ++ blocks message.
Proof.
  induction n as [|n IH]; intros group message L.
  - destruct group; [reflexivity|discriminate].
  - rewrite <- (firstn_skipn 16 group) at 1. rewrite <- app_assoc, blocks_app by (rewrite firstn_length; lia).
    cbn [seq map]. rewrite <- app_comm_cons. f_equal.
    rewrite IH by (rewrite skipn_length; lia). f_equal. rewrite <- seq_shift, map_map. apply map_ext. intros i.
    unfold block_at. replace (16 * S i)%nat with (16 * i + 16)%nat by lia. f_equal.
    apply skipn_twice.
Qed.

Lemma horner_group44 r h group message : whole44 group ->
  horner r h (blocks (group ++ message)) = horner r (r ^ 16 * h + group_number44 r group) (blocks message).
Proof.
  intros [L _]. rewrite (blocks_of_group 16) by assumption. unfold horner. rewrite fold_left_app. f_equal.
  unfold group_number44, first_blocks, second_blocks, exponents.
  cbn [seq map fold_left contribution].
  repeat match goal with |- context [r ^ (?e - 8)] => let n := eval vm_compute in (e - 8) in change (e - 8) with n end.
  ring.
Qed.

(* -- The polynomial ----------------------------------------------------------------------------------------------- *)

(* The lanes at the start: a number in the first one. *)
Definition start44 (h : list Z) : list (list Z) := h :: repeat [0; 0; 0] 7.

(* Two calls of a kernel, for every number of groups; the sum of the lanes; its reduction. The result is the value of
   the polynomial from h on. *)
Theorem lanes44_are_the_polynomial : forall r h groups last_group,
  below3 (2 ^ 45) h -> Forall whole44 groups -> whole44 last_group ->
  limbs_number44 (reduce_limbs44 (carry_limbs44 (sum_lanes44 (two_calls44 (clamp r) (start44 h) groups last_group)))) =
  fold_left (add_block r) (blocks (concat groups ++ last_group)) (limbs_number44 h).
Proof.
  intros r h groups last_group Hh Hgroups Hlast.
  assert (Hzero : below3 (2 ^ 45) [0; 0; 0]) by (apply three_below; lia).
  apply (calls_are_the_polynomial fits44 whole44 add_group44 same_multipliers44 last_multipliers44 16 worth44 group_number44
    (fun sums => limbs_number44 (sum_lanes44 sums))
    (fun sums => limbs_number44 (reduce_limbs44 (carry_limbs44 (sum_lanes44 sums))))
    loop_group44 last_group44_number horner_group44); try assumption.
  - intros sums Hs. destruct (sum_lanes44_number _ Hs) as [Bs _]. destruct (carry_limbs44_number _ Bs) as [Hc C].
    rewrite reduce_limbs44_number by assumption. symmetry. now apply congruent_mod.
  - split; [reflexivity|]. unfold start44. cbn [repeat]. repeat (apply Forall_cons; [assumption|]). apply Forall_nil.
  - exists 0. unfold worth44, start44, exponents. cbn [repeat worth_of]. rewrite three_number. ring.
  - intros ->. now destruct Hlast.
Qed.

(* A message of whole groups: the tag. *)
Theorem lanes44_are_poly1305 : forall key groups last_group,
  Forall whole44 groups -> whole44 last_group ->
  poly1305 key (concat groups ++ last_group) =
  le_bytes (limbs_number44 (reduce_limbs44 (carry_limbs44 (sum_lanes44
      (two_calls44 (clamp (firstn 16 key)) (start44 [0; 0; 0]) groups last_group)))) + le_number (skipn 16 key)).
Proof.
  intros key groups last_group Hgroups Hlast.
  rewrite lanes44_are_the_polynomial by (try assumption; apply three_below; lia).
  reflexivity.
Qed.
