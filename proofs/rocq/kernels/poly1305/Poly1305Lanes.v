(* Poly1305 in four lanes, on limbs of 26 bits in words of 64 bits: no word wraps, and the result is the polynomial.

   Poly1305Limbs.v is written from spec/cryptol/Poly1305.cry, to which SAW proves the kernel equal. Every operation
   there wraps at 2^64, and a product takes 32 bits of its operands. Interval arithmetic (Words64.v) shows that nothing
   is lost, for all limbs below the bounds that the kernel keeps; then `ring` shows what the result is modulo p.

   [lanes_are_the_polynomial]: for every number of groups of four blocks, two calls of the kernel, the sum of the lanes
   and the last reduction give the polynomial. The first call has r^4 in every lane, the second, of one group, r^4 to
   r. *)

From Coq Require Import Lia List NArith ZArith.
From Veriplex Require Import AES Words64 Poly1305 Poly1305Limbs.
Import ListNotations.
Local Open Scope Z_scope.

(* Equal modulo p. *)
Definition congruent (x y : Z) : Prop := exists k, x = y + prime * k.

(* Five limbs below a bound. *)
Definition below (bound : Z) (x : list Z) : Prop := length x = 5%nat /\ Forall (fun limb => 0 <= limb < bound) x.

(* The lanes of the kernels, between two groups. *)
Definition fits (sums : list (list Z)) : Prop := length sums = 4%nat /\ Forall (below (2 ^ 27)) sums.

Lemma below_five bound x : below bound x ->
  exists x0 x1 x2 x3 x4, x = [x0; x1; x2; x3; x4] /\
    0 <= x0 <= bound - 1 /\ 0 <= x1 <= bound - 1 /\ 0 <= x2 <= bound - 1 /\ 0 <= x3 <= bound - 1 /\
    0 <= x4 <= bound - 1.
Proof.
  intros [L F]. destruct x as [|x0 [|x1 [|x2 [|x3 [|x4 [|x5 x]]]]]]; try discriminate.
  exists x0, x1, x2, x3, x4. split; [reflexivity|].
  repeat match goal with H : Forall _ (_ :: _) |- _ => inversion_clear H end. cbv beta in *. lia.
Qed.

Lemma five_below bound x0 x1 x2 x3 x4 :
  0 <= x0 < bound -> 0 <= x1 < bound -> 0 <= x2 < bound -> 0 <= x3 < bound -> 0 <= x4 < bound ->
  below bound [x0; x1; x2; x3; x4].
Proof. intros. split; [reflexivity|]. repeat (apply Forall_cons; [assumption|]). apply Forall_nil. Qed.

Lemma five_number x0 x1 x2 x3 x4 :
  limbs_number [x0; x1; x2; x3; x4] = x0 + 2 ^ 26 * x1 + 2 ^ 52 * x2 + 2 ^ 78 * x3 + 2 ^ 104 * x4.
Proof. unfold limbs_number. cbn [fold_right]. ring. Qed.

Lemma congruent_mod x y : congruent x y -> x mod prime = y mod prime.
Proof. intros [k ->]. rewrite (Z.mul_comm prime k). apply Z_mod_plus_full. Qed.

Lemma same x : congruent x x.
Proof. exists 0. ring. Qed.

Lemma congruent_trans x y z : congruent x y -> congruent y z -> congruent x z.
Proof. intros [j ->] [k ->]. exists (k + j). ring. Qed.

Lemma congruent_sym x y : congruent x y -> congruent y x.
Proof. intros [k ->]. exists (- k). ring. Qed.

Lemma congruent_plus x x' y y' : congruent x x' -> congruent y y' -> congruent (x + y) (x' + y').
Proof. intros [j ->] [k ->]. exists (j + k). ring. Qed.

Lemma congruent_times x y z : congruent x y -> congruent (x * z) (y * z).
Proof. intros [k ->]. exists (k * z). ring. Qed.

(* -- The specification's numbers ---------------------------------------------------------------------------------- *)

Lemma le_number_bounds bytes : Forall (fun b => (b < 256)%N) bytes ->
  0 <= le_number bytes < 2 ^ (8 * Z.of_nat (length bytes)).
Proof.
  induction 1 as [|b bytes Hb _ IH]; [simpl; lia|].
  cbn [le_number length]. rewrite Nat2Z.inj_succ.
  replace (8 * Z.succ (Z.of_nat (length bytes))) with (8 + 8 * Z.of_nat (length bytes)) by lia.
  rewrite Z.pow_add_r by lia. set (size := 2 ^ (8 * Z.of_nat (length bytes))) in *. lia.
Qed.

Lemma le_number_app x y : le_number (x ++ y) = le_number x + 2 ^ (8 * Z.of_nat (length x)) * le_number y.
Proof.
  induction x as [|b x IH]; [cbn [app le_number length]; change (2 ^ (8 * Z.of_nat 0)) with 1; ring|].
  cbn [app le_number length]. rewrite IH, Nat2Z.inj_succ.
  replace (8 * Z.succ (Z.of_nat (length x))) with (8 + 8 * Z.of_nat (length x)) by lia.
  rewrite Z.pow_add_r by lia. ring.
Qed.

Lemma words_number block : length block = 16%nat -> Forall (fun b => (b < 256)%N) block ->
  exists low high, words block = [low; high] /\ 0 <= low < 2 ^ 64 /\ 0 <= high < 2 ^ 64 /\
    block_number block = low + 2 ^ 64 * high + 2 ^ 128.
Proof.
  intros L F. exists (le_number (firstn 8 block)), (le_number (skipn 8 block)).
  rewrite <- (firstn_skipn 8 block) in F. apply Forall_app in F as [F1 F2].
  apply le_number_bounds in F1, F2.
  assert (L1 : length (firstn 8 block) = 8%nat) by (rewrite firstn_length; lia).
  assert (L2 : length (skipn 8 block) = 8%nat) by (rewrite skipn_length; lia).
  rewrite L1 in F1. rewrite L2 in F2.
  split; [reflexivity|]. split; [exact F1|]. split; [exact F2|].
  unfold block_number. rewrite L. rewrite <- (firstn_skipn 8 block) at 1. rewrite le_number_app, L1. reflexivity.
Qed.

Lemma multiplier_limbs x : 0 <= x < 2 ^ 130 ->
  exists r0 r1 r2 r3 r4, multiplier x = [r0; r1; r2; r3; r4; 5 * r1; 5 * r2; 5 * r3; 5 * r4] /\
    0 <= r0 <= 2 ^ 26 - 1 /\ 0 <= r1 <= 2 ^ 26 - 1 /\ 0 <= r2 <= 2 ^ 26 - 1 /\ 0 <= r3 <= 2 ^ 26 - 1 /\
    0 <= r4 <= 2 ^ 26 - 1 /\ limbs_number [r0; r1; r2; r3; r4] = x.
Proof.
  intros H. exists (x mod 2 ^ 26), (x / 2 ^ 26 mod 2 ^ 26), (x / 2 ^ 52 mod 2 ^ 26), (x / 2 ^ 78 mod 2 ^ 26),
    (x / 2 ^ 104 mod 2 ^ 26).
  split.
  - unfold multiplier, limbs. cbn [map app skipn]. rewrite Z.mul_0_r, Z.pow_0_r, Z.div_1_r. reflexivity.
  - assert (E2 : x / 2 ^ 52 = x / 2 ^ 26 / 2 ^ 26) by (rewrite Z.div_div by lia; reflexivity).
    assert (E3 : x / 2 ^ 78 = x / 2 ^ 52 / 2 ^ 26) by (rewrite Z.div_div by lia; reflexivity).
    assert (E4 : x / 2 ^ 104 = x / 2 ^ 78 / 2 ^ 26) by (rewrite Z.div_div by lia; reflexivity).
    rewrite five_number, E4, E3, E2. Z.div_mod_to_equations. lia.
Qed.

(* -- The generated functions -------------------------------------------------------------------------------------- *)

Lemma block_limbs_number low high : 0 <= low < 2 ^ 64 -> 0 <= high < 2 ^ 64 ->
  below (2 ^ 26) (block_limbs [low; high]) /\
  limbs_number (block_limbs [low; high]) = low + 2 ^ 64 * high + 2 ^ 128.
Proof.
  intros Hl Hh. unfold block_limbs, bind. rewrite !both_mask.
  unfold plus, shift_left, shift_right. rewrite !Z.shiftr_div_pow2, !Z.shiftl_mul_pow2 by lia.
  rewrite five_number. split.
  - apply five_below; Z.div_mod_to_equations; lia.
  - Z.div_mod_to_equations. lia.
Qed.

Lemma add_limbs_number a b x y : below a x -> below b y -> a + b <= 2 ^ 64 ->
  below (a + b) (add_limbs x y) /\ limbs_number (add_limbs x y) = limbs_number x + limbs_number y.
Proof.
  intros Hx Hy Hab.
  destruct (below_five _ _ Hx) as (x0 & x1 & x2 & x3 & x4 & -> & ? & ? & ? & ? & ?).
  destruct (below_five _ _ Hy) as (y0 & y1 & y2 & y3 & y4 & -> & ? & ? & ? & ? & ?).
  unfold add_limbs, bind, plus. rewrite !Z.mod_small by lia. rewrite !five_number. split; [|ring].
  apply five_below; lia.
Qed.

(* The bounds of the results, from those that the operations gave. *)
Ltac bounded_result :=
  apply five_below;
  match goal with B : 0 <= ?v <= ?X |- 0 <= ?v < _ =>
    split; [exact (proj1 B)|apply (Z.le_lt_trans _ X); [exact (proj2 B)|vm_compute; reflexivity]]
  end.

Ltac no_bounds := repeat match goal with B : 0 <= _ <= _ |- _ => clear B end.

(* Replaces results by what they are, the last ones first. *)
Ltac expand := repeat match goal with E : ?v = _ |- _ => is_var v; subst v end.

Definition multiplied (a r out : list Z) : Prop :=
  below (2 ^ 27) out /\ congruent (limbs_number a * limbs_number r) (limbs_number out).

(* No word wraps, for factors of any limbs below 2^28 and 2^26, and the result is the product modulo p. *)
Lemma multiply_number a x : below (2 ^ 28) a -> 0 <= x < 2 ^ 130 ->
  below (2 ^ 27) (multiply a (multiplier x)) /\
  congruent (limbs_number a * x) (limbs_number (multiply a (multiplier x))).
Proof.
  intros Ha Hx.
  destruct (below_five _ _ Ha) as (a0 & a1 & a2 & a3 & a4 & -> & ? & ? & ? & ? & ?).
  destruct (multiplier_limbs x Hx) as (r0 & r1 & r2 & r3 & r4 & -> & ? & ? & ? & ? & ? & <-).
  clear Ha Hx.
  remember (5 * r1) as s1 eqn:S1. remember (5 * r2) as s2 eqn:S2.
  remember (5 * r3) as s3 eqn:S3. remember (5 * r4) as s4 eqn:S4.
  assert (0 <= s1 <= 5 * (2 ^ 26 - 1)) by lia. assert (0 <= s2 <= 5 * (2 ^ 26 - 1)) by lia.
  assert (0 <= s3 <= 5 * (2 ^ 26 - 1)) by lia. assert (0 <= s4 <= 5 * (2 ^ 26 - 1)) by lia.
  change (multiplied [a0; a1; a2; a3; a4] [r0; r1; r2; r3; r4]
    (multiply [a0; a1; a2; a3; a4] [r0; r1; r2; r3; r4; s1; s2; s3; s4])).
  unfold multiply, low_product. operations. split; [bounded_result|].
  match goal with E : _ = ?c * 2 ^ 2 |- _ =>
    exists (a1 * r4 + a2 * r3 + a3 * r2 + a4 * r1 + 2 ^ 26 * (a2 * r4 + a3 * r3 + a4 * r2)
      + 2 ^ 52 * (a3 * r4 + a4 * r3) + 2 ^ 78 * (a4 * r4) + c)
  end.
  no_bounds. rewrite !five_number. expand. unfold prime. ring.
Qed.

Lemma add_full_block_number h x block : below (2 ^ 27) h -> 0 <= x < 2 ^ 130 ->
  length block = 16%nat -> Forall (fun b => (b < 256)%N) block ->
  below (2 ^ 27) (add_full_block h (multiplier x) (words block)) /\
  congruent ((limbs_number h + block_number block) * x) (limbs_number (add_full_block h (multiplier x) (words block))).
Proof.
  intros Hh Hx L F. destruct (words_number block L F) as (low & high & -> & Hl & Hi & ->).
  destruct (block_limbs_number low high Hl Hi) as [Bm Em].
  destruct (add_limbs_number _ _ _ _ Hh Bm ltac:(lia)) as [Ba Ea].
  unfold add_full_block. rewrite <- Em, <- Ea.
  apply multiply_number; [|assumption].
  destruct (below_five _ _ Ba) as (a0 & a1 & a2 & a3 & a4 & -> & ? & ? & ? & ? & ?). apply five_below; lia.
Qed.

Lemma sum_lanes_number a b c d : fits [a; b; c; d] ->
  below (2 ^ 29) (sum_lanes [a; b; c; d]) /\
  limbs_number (sum_lanes [a; b; c; d]) = limbs_number a + limbs_number b + limbs_number c + limbs_number d.
Proof.
  intros [_ F]. inversion F as [|? ? Ha F1]; subst. inversion F1 as [|? ? Hb F2]; subst.
  inversion F2 as [|? ? Hc F3]; subst. inversion F3 as [|? ? Hd F4]; subst. clear F F1 F2 F3 F4.
  destruct (add_limbs_number _ _ _ _ Ha Hb ltac:(lia)) as [B1 E1].
  destruct (add_limbs_number _ _ _ _ Hc Hd ltac:(lia)) as [B2 E2].
  destruct (add_limbs_number _ _ _ _ B1 B2 ltac:(lia)) as [B3 E3].
  unfold sum_lanes. split; [exact B3|]. rewrite E3, E1, E2. ring.
Qed.

(* What is carried is below 2 p. *)
Definition carried (x : list Z) : Prop :=
  exists x0 x1 x2 x3 x4, x = [x0; x1; x2; x3; x4] /\ 0 <= x0 <= 2 ^ 26 - 1 /\ 0 <= x1 <= 2 ^ 26 /\
    0 <= x2 <= 2 ^ 26 - 1 /\ 0 <= x3 <= 2 ^ 26 - 1 /\ 0 <= x4 <= 2 ^ 26 - 1.

Definition carried_from (x out : list Z) : Prop := carried out /\ congruent (limbs_number x) (limbs_number out).

Lemma carry_limbs_number x : below (2 ^ 29) x ->
  carried (carry_limbs x) /\ congruent (limbs_number x) (limbs_number (carry_limbs x)).
Proof.
  intros Hx. destruct (below_five _ _ Hx) as (x0 & x1 & x2 & x3 & x4 & -> & ? & ? & ? & ? & ?). clear Hx.
  change (carried_from [x0; x1; x2; x3; x4] (carry_limbs [x0; x1; x2; x3; x4])).
  unfold carry_limbs. operations. split.
  - do 5 eexists. split; [reflexivity|]. repeat split;
      match goal with
      | B : 0 <= ?v <= _ |- 0 <= ?v => exact (proj1 B)
      | B : 0 <= ?v <= ?X |- ?v <= _ => apply (Z.le_trans _ X); [exact (proj2 B)|vm_compute; discriminate]
      end.
  - match goal with E : _ = ?c * 2 ^ 2 |- _ => exists c end.
    no_bounds. rewrite !five_number. expand. unfold prime. ring.
Qed.

Definition reduced_from (x out : list Z) : Prop := limbs_number out = limbs_number x mod prime.

(* For every number below 2 p that is carried, those from p to 2^130 included: p is subtracted once, if at all. *)
Lemma reduce_limbs_number x : carried x -> limbs_number (reduce_limbs x) = limbs_number x mod prime.
Proof.
  intros (h0 & h1 & h2 & h3 & h4 & -> & ? & ? & ? & ? & ?).
  assert (Hsmall : limbs_number [h0; h1; h2; h3; h4] < 2 * prime) by (rewrite five_number; unfold prime; lia).
  change (reduced_from [h0; h1; h2; h3; h4] (reduce_limbs [h0; h1; h2; h3; h4])).
  unfold reduce_limbs. operations. unfold reduced_from. rewrite five_number in Hsmall. rewrite !five_number.
  remember (h0 + 2 ^ 26 * h1 + 2 ^ 52 * h2 + 2 ^ 78 * h3 + 2 ^ 104 * h4) as h eqn:Hh.
  assert (D : h mod prime = if h <? prime then h else h - prime).
  { destruct (Z.ltb_spec h prime); [apply Z.mod_small; lia|].
    symmetry. apply Z.mod_unique with 1; unfold prime in *; lia. }
  rewrite D. clear D. unfold prime in *.
  destruct (Z.ltb_spec h (2 ^ 130 - 5)); Z.div_mod_to_equations; lia.
Qed.

(* -- Four lanes --------------------------------------------------------------------------------------------------- *)

Definition add_group (multipliers sums : list (list Z)) (group : list byte) : list (list Z) :=
  map (fun x => add_full_block (fst (fst x)) (snd (fst x)) (snd x))
    (combine (combine sums multipliers) (lane_blocks group)).

(* Of the loop, r^4 in every lane; of the last group, what remains of r^4 to r. Lanes 1 and 2 have blocks 2 and 1. *)
Definition power (r e : Z) : list Z := multiplier (r ^ e mod prime).
Definition same_multipliers (r : Z) : list (list Z) := [power r 4; power r 4; power r 4; power r 4].
Definition last_multipliers (r : Z) : list (list Z) := [power r 4; power r 2; power r 3; power r 1].

(* Two calls of a kernel: for n groups, and for one group more. *)
Definition two_calls (r : Z) (sums : list (list Z)) (groups : list (list byte)) (last_group : list byte)
    : list (list Z) :=
  add_group (last_multipliers r) (fold_left (add_group (same_multipliers r)) groups sums) last_group.

(* A group is four blocks of 16 bytes. *)
Definition whole (group : list byte) : Prop := length group = 64%nat /\ Forall (fun b => (b < 256)%N) group.

Definition block_at (i : nat) (group : list byte) : list byte := firstn 16 (skipn (16 * i) group).

Lemma block_at_whole i group : (i < 4)%nat -> whole group ->
  length (block_at i group) = 16%nat /\ Forall (fun b => (b < 256)%N) (block_at i group).
Proof.
  intros Hi [L F]. unfold block_at. split.
  - rewrite firstn_length, skipn_length. lia.
  - rewrite <- (firstn_skipn (16 * i) group) in F. apply Forall_app in F as [_ F].
    rewrite <- (firstn_skipn 16 (skipn (16 * i) group)) in F. now apply Forall_app in F as [F _].
Qed.

(* A group's contribution to the polynomial, and what the lanes are worth: lanes 1 and 2 have blocks 2 and 1. *)
Definition group_number (r : Z) (group : list byte) : Z :=
  block_number (block_at 0 group) * r ^ 4 + block_number (block_at 1 group) * r ^ 3 +
  block_number (block_at 2 group) * r ^ 2 + block_number (block_at 3 group) * r.

Definition worth (r : Z) (sums : list (list Z)) : Z :=
  match map limbs_number sums with
  | [a; b; c; d] => a * r ^ 4 + b * r ^ 2 + c * r ^ 3 + d * r
  | _ => 0
  end.

Lemma fits_four sums : fits sums ->
  exists a b c d, sums = [a; b; c; d] /\ below (2 ^ 27) a /\ below (2 ^ 27) b /\ below (2 ^ 27) c /\ below (2 ^ 27) d.
Proof.
  intros [L F]. destruct sums as [|a [|b [|c [|d [|e sums]]]]]; try discriminate.
  exists a, b, c, d. repeat match goal with H : Forall _ (_ :: _) |- _ => inversion_clear H end.
  split; [reflexivity|tauto].
Qed.

Lemma four_fit a b c d :
  below (2 ^ 27) a -> below (2 ^ 27) b -> below (2 ^ 27) c -> below (2 ^ 27) d -> fits [a; b; c; d].
Proof. intros. split; [reflexivity|]. repeat (apply Forall_cons; [assumption|]). apply Forall_nil. Qed.

(* One group, with any multipliers. *)
Lemma add_group_numbers r0 r1 r2 r3 a b c d group :
  0 <= r0 < 2 ^ 130 -> 0 <= r1 < 2 ^ 130 -> 0 <= r2 < 2 ^ 130 -> 0 <= r3 < 2 ^ 130 ->
  below (2 ^ 27) a -> below (2 ^ 27) b -> below (2 ^ 27) c -> below (2 ^ 27) d -> whole group ->
  exists a' b' c' d',
    add_group [multiplier r0; multiplier r1; multiplier r2; multiplier r3] [a; b; c; d] group = [a'; b'; c'; d'] /\
    fits [a'; b'; c'; d'] /\
    congruent ((limbs_number a + block_number (block_at 0 group)) * r0) (limbs_number a') /\
    congruent ((limbs_number b + block_number (block_at 2 group)) * r1) (limbs_number b') /\
    congruent ((limbs_number c + block_number (block_at 1 group)) * r2) (limbs_number c') /\
    congruent ((limbs_number d + block_number (block_at 3 group)) * r3) (limbs_number d').
Proof.
  intros Hr0 Hr1 Hr2 Hr3 Ha Hb Hc Hd Hg.
  destruct (block_at_whole 0 group ltac:(lia) Hg) as [L0 F0].
  destruct (block_at_whole 1 group ltac:(lia) Hg) as [L1 F1].
  destruct (block_at_whole 2 group ltac:(lia) Hg) as [L2 F2].
  destruct (block_at_whole 3 group ltac:(lia) Hg) as [L3 F3].
  destruct (add_full_block_number a r0 _ Ha Hr0 L0 F0) as [Ba Ca].
  destruct (add_full_block_number b r1 _ Hb Hr1 L2 F2) as [Bb Cb].
  destruct (add_full_block_number c r2 _ Hc Hr2 L1 F1) as [Bc Cc].
  destruct (add_full_block_number d r3 _ Hd Hr3 L3 F3) as [Bd Cd].
  exists (add_full_block a (multiplier r0) (words (block_at 0 group))),
    (add_full_block b (multiplier r1) (words (block_at 2 group))),
    (add_full_block c (multiplier r2) (words (block_at 1 group))),
    (add_full_block d (multiplier r3) (words (block_at 3 group))).
  split; [reflexivity|]. split; [now apply four_fit|].
  split; [exact Ca|]. split; [exact Cb|]. split; [exact Cc|exact Cd].
Qed.

Lemma prime_range x : 0 <= x mod prime < 2 ^ 130.
Proof. pose proof (Z.mod_pos_bound x prime eq_refl). unfold prime in *. lia. Qed.

(* x mod p as x and a multiple of p. *)
Lemma mod_prime x : x mod prime = x - prime * (x / prime).
Proof. apply Z.mod_eq. unfold prime. lia. Qed.

Lemma congruent_mod_prime x : congruent (x mod prime) x.
Proof. rewrite mod_prime. exists (- (x / prime)). ring. Qed.

(* One group of the loop. *)
Lemma loop_group r sums group : fits sums -> whole group ->
  fits (add_group (same_multipliers r) sums group) /\
  congruent (worth r (add_group (same_multipliers r) sums group)) (r ^ 4 * (worth r sums + group_number r group)).
Proof.
  intros Hs Hg. destruct (fits_four _ Hs) as (a & b & c & d & -> & Ha & Hb & Hc & Hd).
  pose proof (prime_range (r ^ 4)) as R.
  destruct (add_group_numbers _ _ _ _ a b c d group R R R R Ha Hb Hc Hd Hg)
    as (a' & b' & c' & d' & E & Hfits & [ka Ca] & [kb Cb] & [kc Cc] & [kd Cd]).
  unfold same_multipliers, power. rewrite E. split; [assumption|].
  rewrite mod_prime in Ca, Cb, Cc, Cd. set (q := r ^ 4 / prime) in *.
  unfold worth, group_number. cbn [map].
  set (x0 := block_number (block_at 0 group)) in *. set (x1 := block_number (block_at 1 group)) in *.
  set (x2 := block_number (block_at 2 group)) in *. set (x3 := block_number (block_at 3 group)) in *.
  assert (Ea : limbs_number a' = (limbs_number a + x0) * (r ^ 4 - prime * q) - prime * ka) by (rewrite Ca; ring).
  assert (Eb : limbs_number b' = (limbs_number b + x2) * (r ^ 4 - prime * q) - prime * kb) by (rewrite Cb; ring).
  assert (Ec : limbs_number c' = (limbs_number c + x1) * (r ^ 4 - prime * q) - prime * kc) by (rewrite Cc; ring).
  assert (Ed : limbs_number d' = (limbs_number d + x3) * (r ^ 4 - prime * q) - prime * kd) by (rewrite Cd; ring).
  rewrite Ea, Eb, Ec, Ed.
  exists (- (ka * r ^ 4 + kb * r ^ 2 + kc * r ^ 3 + kd * r)
          - q * ((limbs_number a + x0) * r ^ 4 + (limbs_number b + x2) * r ^ 2 + (limbs_number c + x1) * r ^ 3
                 + (limbs_number d + x3) * r)).
  ring.
Qed.

(* The last group, and the sum of the lanes. *)
Lemma last_group_number r sums group : fits sums -> whole group ->
  fits (add_group (last_multipliers r) sums group) /\
  congruent (limbs_number (sum_lanes (add_group (last_multipliers r) sums group)))
    (worth r sums + group_number r group).
Proof.
  intros Hs Hg. destruct (fits_four _ Hs) as (a & b & c & d & -> & Ha & Hb & Hc & Hd).
  destruct (add_group_numbers _ _ _ _ a b c d group (prime_range (r ^ 4)) (prime_range (r ^ 2)) (prime_range (r ^ 3))
    (prime_range (r ^ 1)) Ha Hb Hc Hd Hg)
    as (a' & b' & c' & d' & E & Hfits & [ka Ca] & [kb Cb] & [kc Cc] & [kd Cd]).
  unfold last_multipliers, power. rewrite E. split; [assumption|].
  destruct (sum_lanes_number _ _ _ _ Hfits) as [_ ->].
  rewrite mod_prime in Ca, Cb, Cc, Cd. rewrite Z.pow_1_r in Cd.
  set (q4 := r ^ 4 / prime) in *. set (q2 := r ^ 2 / prime) in *. set (q3 := r ^ 3 / prime) in *.
  set (q1 := r / prime) in *.
  unfold worth, group_number. cbn [map].
  set (x0 := block_number (block_at 0 group)) in *. set (x1 := block_number (block_at 1 group)) in *.
  set (x2 := block_number (block_at 2 group)) in *. set (x3 := block_number (block_at 3 group)) in *.
  assert (Ea : limbs_number a' = (limbs_number a + x0) * (r ^ 4 - prime * q4) - prime * ka) by (rewrite Ca; ring).
  assert (Eb : limbs_number b' = (limbs_number b + x2) * (r ^ 2 - prime * q2) - prime * kb) by (rewrite Cb; ring).
  assert (Ec : limbs_number c' = (limbs_number c + x1) * (r ^ 3 - prime * q3) - prime * kc) by (rewrite Cc; ring).
  assert (Ed : limbs_number d' = (limbs_number d + x3) * (r - prime * q1) - prime * kd) by (rewrite Cd; ring).
  rewrite Ea, Eb, Ec, Ed.
  exists (- (ka + kb + kc + kd) - q4 * (limbs_number a + x0) - q2 * (limbs_number b + x2)
          - q3 * (limbs_number c + x1) - q1 * (limbs_number d + x3)).
  ring.
Qed.

(* -- The blocks of a message -------------------------------------------------------------------------------------- *)

Lemma cut_enough : forall fuel more message, (length message <= fuel)%nat -> (length message <= more)%nat ->
  cut fuel message = cut more message.
Proof.
  induction fuel as [|fuel IH]; intros [|more] [|b message] H1 H2; try reflexivity; try (simpl in *; lia).
  cbn [cut]. f_equal. apply IH; rewrite skipn_length; cbn [length] in *; lia.
Qed.

Lemma first_and_rest n (x y : list byte) : length x = n -> firstn n (x ++ y) = x /\ skipn n (x ++ y) = y.
Proof.
  intros <-. rewrite firstn_app, skipn_app, firstn_all, skipn_all, Nat.sub_diag.
  split; [apply app_nil_r|reflexivity].
Qed.

Lemma blocks_app block message : length block = 16%nat -> blocks (block ++ message) = block :: blocks message.
Proof.
  intros L. destruct (first_and_rest 16 block message L) as [E1 E2]. unfold blocks.
  destruct block as [|b block]; [discriminate|]. cbn [app] in *. cbn [length cut]. rewrite E1, E2. f_equal.
  apply cut_enough; rewrite ?app_length; lia.
Qed.

Lemma four_blocks group : length group = 64%nat ->
  group = block_at 0 group ++ block_at 1 group ++ block_at 2 group ++ block_at 3 group.
Proof.
  intros L. do 64 (destruct group as [|? group]; [discriminate L|]). destruct group; [reflexivity|discriminate L].
Qed.

Lemma group_blocks group message : whole group ->
  blocks (group ++ message) =
  block_at 0 group :: block_at 1 group :: block_at 2 group :: block_at 3 group :: blocks message.
Proof.
  intros Hg. pose proof (four_blocks group (proj1 Hg)) as E.
  destruct (block_at_whole 0 group ltac:(lia) Hg) as [L0 _].
  destruct (block_at_whole 1 group ltac:(lia) Hg) as [L1 _].
  destruct (block_at_whole 2 group ltac:(lia) Hg) as [L2 _].
  destruct (block_at_whole 3 group ltac:(lia) Hg) as [L3 _].
  rewrite E at 1. rewrite <- !app_assoc. rewrite !blocks_app by assumption. reflexivity.
Qed.

Lemma blocks_of_some message : message <> [] -> exists b bs, blocks message = b :: bs.
Proof. destruct message as [|x message]; [contradiction|]. unfold blocks. cbn [length cut]. eauto. Qed.

(* -- The polynomial ----------------------------------------------------------------------------------------------- *)

(* Horner's rule without reductions. *)
Definition horner (r h : Z) (bs : list (list byte)) : Z := fold_left (fun h b => (h + block_number b) * r) bs h.

Lemma horner_mod r : forall bs h h', congruent h h' ->
  congruent (fold_left (add_block r) bs h) (horner (clamp r) h' bs).
Proof.
  induction bs as [|b bs IH]; intros h h' [k ->]; [exists k; reflexivity|].
  change (horner (clamp r) h' (b :: bs)) with (horner (clamp r) ((h' + block_number b) * clamp r) bs).
  cbn [fold_left]. apply IH. unfold add_block. rewrite mod_prime.
  set (q := (h' + prime * k + block_number b) * clamp r / prime).
  exists (k * clamp r - q). ring.
Qed.

Lemma fold_reduced r : forall bs b h,
  fold_left (add_block r) (b :: bs) h mod prime = fold_left (add_block r) (b :: bs) h.
Proof.
  induction bs as [|c bs IH]; intros b h.
  - cbn [fold_left]. unfold add_block. apply Z.mod_mod. unfold prime. lia.
  - change (fold_left (add_block r) (b :: c :: bs) h) with (fold_left (add_block r) (c :: bs) (add_block r h b)).
    apply IH.
Qed.

Lemma horner_group r h group message : whole group ->
  horner r h (blocks (group ++ message)) = horner r (r ^ 4 * h + group_number r group) (blocks message).
Proof.
  intros Hg. rewrite group_blocks by assumption. unfold horner. cbn [fold_left]. f_equal. unfold group_number. ring.
Qed.

(* Two calls of a kernel, for any limbs, lanes and groups of blocks. *)
Section Calls.
Variables (fits_ : list (list Z) -> Prop) (whole_ : list byte -> Prop).
Variables (add : list (list Z) -> list (list Z) -> list byte -> list (list Z)) (same_ last_ : Z -> list (list Z)).
Variables (n : Z) (worth_ : Z -> list (list Z) -> Z) (contributed : Z -> list byte -> Z) (total_ value : list (list Z) -> Z).

Hypothesis LOOP : forall r sums group, fits_ sums -> whole_ group -> fits_ (add (same_ r) sums group) /\
  congruent (worth_ r (add (same_ r) sums group)) (r ^ n * (worth_ r sums + contributed r group)).
Hypothesis LAST : forall r sums group, fits_ sums -> whole_ group -> fits_ (add (last_ r) sums group) /\
  congruent (total_ (add (last_ r) sums group)) (worth_ r sums + contributed r group).
Hypothesis HORNER : forall r h group message, whole_ group ->
  horner r h (blocks (group ++ message)) = horner r (r ^ n * h + contributed r group) (blocks message).
Hypothesis VALUE : forall sums, fits_ sums -> value sums = total_ sums mod prime.

(* The loop: for every number of groups. *)
Lemma loop_of_calls r : forall groups sums h, fits_ sums -> Forall whole_ groups -> congruent (worth_ r sums) (r ^ n * h) ->
  fits_ (fold_left (add (same_ r)) groups sums) /\
  exists h', congruent (worth_ r (fold_left (add (same_ r)) groups sums)) (r ^ n * h') /\
    forall message, horner r h (blocks (concat groups ++ message)) = horner r h' (blocks message).
Proof.
  induction groups as [|group groups IH]; intros sums h Hs Hg [k Hw].
  - split; [exact Hs|]. exists h. split; [exists k; exact Hw|reflexivity].
  - inversion Hg as [|? ? Hgroup Hgroups]; subst.
    destruct (LOOP r sums group Hs Hgroup) as [Hs1 [k1 Hw1]].
    assert (Hw2 : congruent (worth_ r (add (same_ r) sums group)) (r ^ n * (r ^ n * h + contributed r group))).
    { exists (k1 + r ^ n * k). rewrite Hw1, Hw. ring. }
    destruct (IH _ _ Hs1 Hgroups Hw2) as [Hs' (h' & Hw' & Hh')]. cbn [fold_left]. split; [exact Hs'|].
    exists h'. split; [exact Hw'|]. intros message. cbn [concat].
    rewrite <- app_assoc, HORNER by assumption. apply Hh'.
Qed.

Lemma calls_are_the_polynomial r sums h groups last_group : fits_ sums -> congruent (worth_ (clamp r) sums) (clamp r ^ n * h) ->
  Forall whole_ groups -> whole_ last_group -> last_group <> [] ->
  value (add (last_ (clamp r)) (fold_left (add (same_ (clamp r))) groups sums) last_group) =
  fold_left (add_block r) (blocks (concat groups ++ last_group)) h.
Proof.
  set (x := clamp r). intros Hs Hw Hgroups Hlast Hsome.
  destruct (loop_of_calls x groups sums h Hs Hgroups Hw) as [Hs1 (h1 & [k1 Hw1] & Hh1)].
  destruct (LAST x _ last_group Hs1 Hlast) as [Hs2 [k2 Hw2]]. rewrite VALUE by exact Hs2.
  (* The specification reduces after every block, and there is one. *)
  assert (Hany : concat groups ++ last_group <> []) by (intros H0; apply app_eq_nil in H0 as [_ ->]; now apply Hsome).
  destruct (blocks_of_some _ Hany) as (first & rest & Hblocks).
  assert (Hmod : fold_left (add_block r) (blocks (concat groups ++ last_group)) h mod prime =
                 fold_left (add_block r) (blocks (concat groups ++ last_group)) h)
    by (rewrite Hblocks; apply fold_reduced).
  rewrite <- Hmod. symmetry. apply congruent_mod.
  destruct (horner_mod r (blocks (concat groups ++ last_group)) _ _ (same h)) as [k4 Hw4].
  assert (Hend : horner x h1 (blocks last_group) = x ^ n * h1 + contributed x last_group).
  { rewrite <- (app_nil_r last_group) at 1. rewrite HORNER by assumption. reflexivity. }
  rewrite Hw4. fold x. rewrite Hh1, Hend, Hw2, Hw1. exists (k4 - k1 - k2). ring.
Qed.
End Calls.

(* -- Two blocks in each lane --------------------------------------------------------------------------------------- *)

(* Each lane with its sum, its two multipliers and its two blocks. *)
Fixpoint add_lanes (one : list Z -> list Z -> list Z -> list Z -> list Z -> list Z) (sums rs ts bs cs : list (list Z)) :
    list (list Z) :=
  match sums, rs, ts, bs, cs with
  | h :: sums, r :: rs, t :: ts, b :: bs, c :: cs => one h r t b c :: add_lanes one sums rs ts bs cs
  | _, _, _, _, _ => []
  end.

Lemma add_lanes_each {T} one (f g h j k : T -> list Z) l :
  add_lanes one (map f l) (map g l) (map h l) (map j l) (map k l) = map (fun x => one (f x) (g x) (h x) (j x) (k x)) l.
Proof. induction l as [|x l IH]; cbn [map add_lanes]; [reflexivity|]. rewrite IH. reflexivity. Qed.

Definition full (block : list byte) : Prop := length block = 16%nat /\ Forall (fun b => (b < 256)%N) block.

Lemma block_at_full n i group : (i < n)%nat -> length group = (16 * n)%nat /\ Forall (fun b => (b < 256)%N) group ->
  full (block_at i group).
Proof.
  intros Hi [L F]. unfold block_at, full. split.
  - rewrite firstn_length, skipn_length. lia.
  - rewrite <- (firstn_skipn (16 * i) group) in F. apply Forall_app in F as [_ F].
    rewrite <- (firstn_skipn 16 (skipn (16 * i) group)) in F. now apply Forall_app in F as [F _].
Qed.

Section Two.
Variables (number : list Z -> Z) (fit : list Z -> Prop) (one : list Z -> list Z -> list Z -> list Z -> list Z -> list Z)
  (multiplier_ : Z -> list Z).
Variable k : Z.   (* the exponents of the second blocks are so much less than those of the first *)
Hypothesis POSITIVE : 0 < k.
Hypothesis ONE : forall h x y block other, fit h -> 0 <= x < 2 ^ 130 -> 0 <= y < 2 ^ 130 ->
  length block = 16%nat -> Forall (fun b => (b < 256)%N) block ->
  length other = 16%nat -> Forall (fun b => (b < 256)%N) other ->
  fit (one h (multiplier_ x) (multiplier_ y) (words block) (words other)) /\
  congruent ((number h + block_number block) * x + block_number other * y)
    (number (one h (multiplier_ x) (multiplier_ y) (words block) (words other))).

Definition power_ (r e : Z) : list Z := multiplier_ (r ^ e mod prime).

(* What sums are worth with such exponents, and the contribution of two blocks in each lane. *)
Fixpoint worth_of (r : Z) (es : list Z) (sums : list (list Z)) : Z :=
  match es, sums with
  | e :: es, h :: sums => number h * r ^ e + worth_of r es sums
  | _, _ => 0
  end.

Fixpoint contribution (r : Z) (es : list Z) (bs cs : list (list byte)) : Z :=
  match es, bs, cs with
  | e :: es, b :: bs, c :: cs => block_number b * r ^ e + block_number c * r ^ (e - k) + contribution r es bs cs
  | _, _, _ => 0
  end.

Definition total_of (sums : list (list Z)) : Z := fold_right (fun h rest => number h + rest) 0 sums.

(* One lane, with the powers of these exponents. *)
Lemma one_lane r e d h b c : fit h -> full b -> full c ->
  let out := one h (power_ r e) (power_ r d) (words b) (words c) in
  fit out /\ congruent (number out) ((number h + block_number b) * r ^ e + block_number c * r ^ d).
Proof.
  intros Hh [Lb Fb] [Lc Fc] out.
  destruct (ONE h (r ^ e mod prime) (r ^ d mod prime) b c) as [B C]; try assumption; try apply prime_range.
  split; [exact B|]. apply congruent_sym in C. eapply congruent_trans; [exact C|].
  apply congruent_plus; rewrite !(Z.mul_comm _ (_ mod _)), !(Z.mul_comm _ (r ^ _)); apply congruent_times, congruent_mod_prime.
Qed.

(* One group of the loop, for lanes in any number. *)
Lemma loop_lanes r : forall es sums bs cs, Forall (fun e => k <= e) es -> length sums = length es ->
  length bs = length es -> length cs = length es -> Forall fit sums -> Forall full bs -> Forall full cs ->
  let out := add_lanes one sums (map (fun _ => power_ r (2 * k)) es) (map (fun _ => power_ r k) es) (map words bs) (map words cs) in
  length out = length es /\ Forall fit out /\
  congruent (worth_of r es out) (r ^ (2 * k) * (worth_of r es sums + contribution r es bs cs)).
Proof.
  induction es as [|e es IH]; intros [|h sums] [|b bs] [|c cs] He Ls Lb Lc Hs Hb Hc; try discriminate.
  - repeat split; [constructor|]. exists 0. cbn [worth_of contribution add_lanes map]. ring.
  - inversion_clear He. inversion_clear Hs. inversion_clear Hb. inversion_clear Hc. cbn [length] in *.
    destruct (IH sums bs cs) as (L & B & C); try assumption; try lia.
    destruct (one_lane r (2 * k) k h b c) as [B1 C1]; try assumption.
    cbn [map add_lanes worth_of contribution length] in *. cbv zeta in *.
    split; [f_equal; exact L|]. split; [apply Forall_cons; assumption|].
    set (out1 := one h (power_ r (2 * k)) (power_ r k) (words b) (words c)) in *.
    pose proof (congruent_plus _ _ _ _ (congruent_times _ _ (r ^ e) C1) C) as C4.
    assert (E : r ^ k * r ^ e = r ^ (2 * k) * r ^ (e - k)) by (rewrite <- !Z.pow_add_r by lia; f_equal; lia).
    eapply congruent_trans; [exact C4|]. exists 0.
    set (r2 := r ^ (2 * k)) in *. set (re := r ^ e) in *. set (rd := r ^ (e - k)) in *. set (r1 := r ^ k) in *.
    replace (((number h + block_number b) * r2 + block_number c * r1) * re)
      with ((number h + block_number b) * r2 * re + block_number c * (r1 * re)) by ring.
    rewrite E. ring.
Qed.

(* The last group, and the sum of the lanes. *)
Lemma last_lanes r : forall es sums bs cs, length sums = length es ->
  length bs = length es -> length cs = length es -> Forall fit sums -> Forall full bs -> Forall full cs ->
  let out := add_lanes one sums (map (power_ r) es) (map (fun e => power_ r (e - k)) es) (map words bs) (map words cs) in
  length out = length es /\ Forall fit out /\ congruent (total_of out) (worth_of r es sums + contribution r es bs cs).
Proof.
  induction es as [|e es IH]; intros [|h sums] [|b bs] [|c cs] Ls Lb Lc Hs Hb Hc; try discriminate.
  - repeat split; [constructor|]. exists 0. cbn [total_of fold_right worth_of contribution add_lanes map]. ring.
  - inversion_clear Hs. inversion_clear Hb. inversion_clear Hc. cbn [length] in *.
    destruct (IH sums bs cs) as (L & B & C); try assumption; try lia.
    destruct (one_lane r e (e - k) h b c) as [B1 C1]; try assumption.
    cbn [map add_lanes worth_of contribution length] in *. cbv zeta in *.
    split; [f_equal; exact L|]. split; [apply Forall_cons; assumption|].
    pose proof (congruent_plus _ _ _ _ C1 C) as C4. unfold total_of in *. cbn [fold_right].
    eapply congruent_trans; [exact C4|]. exists 0. ring.
Qed.
End Two.

(* The lanes at the start: a number in the first one. *)
Definition start (h : list Z) : list (list Z) := [h; [0; 0; 0; 0; 0]; [0; 0; 0; 0; 0]; [0; 0; 0; 0; 0]].

Lemma sums_value sums : fits sums ->
  limbs_number (reduce_limbs (carry_limbs (sum_lanes sums))) = limbs_number (sum_lanes sums) mod prime.
Proof.
  intros Hs. destruct (fits_four _ Hs) as (a & b & c & d & -> & _).
  destruct (sum_lanes_number _ _ _ _ Hs) as [Bs _]. destruct (carry_limbs_number _ Bs) as [Hc C].
  rewrite reduce_limbs_number by assumption. symmetry. now apply congruent_mod.
Qed.

(* Two calls of a kernel, for every number of groups; the sum of the lanes; its reduction. The result is the value of
   the polynomial from h on. *)
Theorem lanes_are_the_polynomial : forall r h groups last_group,
  below (2 ^ 27) h -> Forall whole groups -> whole last_group ->
  limbs_number (reduce_limbs (carry_limbs (sum_lanes (two_calls (clamp r) (start h) groups last_group)))) =
  fold_left (add_block r) (blocks (concat groups ++ last_group)) (limbs_number h).
Proof.
  intros r h groups last_group Hh Hgroups Hlast.
  assert (Hzero : below (2 ^ 27) [0; 0; 0; 0; 0]) by (apply five_below; lia).
  apply (calls_are_the_polynomial fits whole add_group same_multipliers last_multipliers 4 worth group_number
    (fun sums => limbs_number (sum_lanes sums)) (fun sums => limbs_number (reduce_limbs (carry_limbs (sum_lanes sums))))
    loop_group last_group_number horner_group); try assumption.
  - exact sums_value.
  - unfold start. now apply four_fit.
  - exists 0. unfold worth, start. cbn [map]. rewrite five_number. ring.
  - intros ->. now destruct Hlast.
Qed.

(* A message of whole groups: the tag. *)
Theorem lanes_are_poly1305 : forall key groups last_group,
  Forall whole groups -> whole last_group ->
  poly1305 key (concat groups ++ last_group) =
  le_bytes (limbs_number (reduce_limbs (carry_limbs (sum_lanes
      (two_calls (clamp (firstn 16 key)) (start [0; 0; 0; 0; 0]) groups last_group)))) + le_number (skipn 16 key)).
Proof.
  intros key groups last_group Hgroups Hlast.
  rewrite lanes_are_the_polynomial by (try assumption; apply five_below; lia).
  reflexivity.
Qed.
