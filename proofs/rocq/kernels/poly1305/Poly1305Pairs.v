(* Poly1305 in four lanes of two blocks each, on limbs of 26 bits in words of 64 bits: no word wraps, and the result is
   the polynomial.

   As in Poly1305Lanes.v, Poly1305Limbs.v is written from spec/cryptol/Poly1305.cry, to which SAW proves the kernel
   equal.

   [pairs_are_the_polynomial]: for every number of groups of eight blocks, two calls of the kernel, the sum of the lanes
   and the last reduction give the polynomial. The first call has r^8 in every lane for the blocks that are added to the
   sums, and r^4 for the others; the second, of one group, r^8 to r. *)

From Coq Require Import Lia List NArith ZArith.
From Veriplex Require Import AES Words64 Poly1305 Poly1305Limbs Poly1305Lanes Poly1305Lanes44.
Import ListNotations.
Local Open Scope Z_scope.

(* -- The generated functions -------------------------------------------------------------------------------------- *)

Definition multiplied_limbs (a r out : list Z) : Prop :=
  below (2 ^ 60) out /\ congruent (limbs_number a * limbs_number r) (limbs_number out).

(* No word wraps, for factors of any limbs below 2^28 and 2^26, and the result is the product modulo p. *)
Lemma product_limbs_number a x : below (2 ^ 28) a -> 0 <= x < 2 ^ 130 ->
  below (2 ^ 60) (product_limbs a (multiplier x)) /\
  congruent (limbs_number a * x) (limbs_number (product_limbs a (multiplier x))).
Proof.
  intros Ha Hx.
  destruct (below_five _ _ Ha) as (a0 & a1 & a2 & a3 & a4 & -> & ? & ? & ? & ? & ?).
  destruct (multiplier_limbs x Hx) as (r0 & r1 & r2 & r3 & r4 & -> & ? & ? & ? & ? & ? & <-).
  clear Ha Hx.
  remember (5 * r1) as s1 eqn:S1. remember (5 * r2) as s2 eqn:S2.
  remember (5 * r3) as s3 eqn:S3. remember (5 * r4) as s4 eqn:S4.
  assert (0 <= s1 <= 5 * (2 ^ 26 - 1)) by lia. assert (0 <= s2 <= 5 * (2 ^ 26 - 1)) by lia.
  assert (0 <= s3 <= 5 * (2 ^ 26 - 1)) by lia. assert (0 <= s4 <= 5 * (2 ^ 26 - 1)) by lia.
  change (multiplied_limbs [a0; a1; a2; a3; a4] [r0; r1; r2; r3; r4]
    (product_limbs [a0; a1; a2; a3; a4] [r0; r1; r2; r3; r4; s1; s2; s3; s4])).
  unfold product_limbs, low_product. operations. split; [bounded_result|].
  exists (a1 * r4 + a2 * r3 + a3 * r2 + a4 * r1 + 2 ^ 26 * (a2 * r4 + a3 * r3 + a4 * r2)
    + 2 ^ 52 * (a3 * r4 + a4 * r3) + 2 ^ 78 * (a4 * r4)).
  no_bounds. rewrite !five_number. expand. unfold prime. ring.
Qed.

Definition carried_to_27 (x out : list Z) : Prop :=
  below (2 ^ 27) out /\ congruent (limbs_number x) (limbs_number out).

(* Of limbs that are sums of products, limb 1 keeps a carry. *)
Lemma carry_products_number x : below (2 ^ 61) x ->
  below (2 ^ 27) (carry_limbs x) /\ congruent (limbs_number x) (limbs_number (carry_limbs x)).
Proof.
  intros Hx. destruct (below_five _ _ Hx) as (x0 & x1 & x2 & x3 & x4 & -> & ? & ? & ? & ? & ?). clear Hx.
  change (carried_to_27 [x0; x1; x2; x3; x4] (carry_limbs [x0; x1; x2; x3; x4])).
  unfold carry_limbs. operations. split; [bounded_result|].
  match goal with E : _ = ?c * 2 ^ 2 |- _ => exists c end.
  no_bounds. rewrite !five_number. expand. unfold prime. ring.
Qed.

(* The sum of the products modulo p. *)
Lemma multiply_pair_number a x b y : below (2 ^ 28) a -> 0 <= x < 2 ^ 130 -> below (2 ^ 28) b -> 0 <= y < 2 ^ 130 ->
  below (2 ^ 27) (multiply_pair a (multiplier x) b (multiplier y)) /\
  congruent (limbs_number a * x + limbs_number b * y) (limbs_number (multiply_pair a (multiplier x) b (multiplier y))).
Proof.
  intros Ha Hx Hb Hy. unfold multiply_pair.
  destruct (product_limbs_number a x Ha Hx) as [B1 C1]. destruct (product_limbs_number b y Hb Hy) as [B2 C2].
  (* As variables, so that nothing unfolds them. *)
  revert B1 C1 B2 C2. generalize (product_limbs a (multiplier x)) (product_limbs b (multiplier y)).
  intros p q B1 C1 B2 C2.
  destruct (add_limbs_number _ _ _ _ B2 B1 ltac:(lia)) as [B3 E3].
  destruct (carry_products_number _ B3) as [B4 C4]. split; [exact B4|].
  eapply congruent_trans; [|exact C4]. rewrite E3, Z.add_comm. now apply congruent_plus.
Qed.

Lemma below_weaker m n x : m <= n -> below m x -> below n x.
Proof. intros H [L F]. split; [exact L|]. eapply Forall_impl; [|exact F]. cbv beta. lia. Qed.

Lemma add_pair_number h x y block other : below (2 ^ 27) h -> 0 <= x < 2 ^ 130 -> 0 <= y < 2 ^ 130 ->
  length block = 16%nat -> Forall (fun b => (b < 256)%N) block ->
  length other = 16%nat -> Forall (fun b => (b < 256)%N) other ->
  below (2 ^ 27) (add_pair h (multiplier x) (multiplier y) (words block) (words other)) /\
  congruent ((limbs_number h + block_number block) * x + block_number other * y)
    (limbs_number (add_pair h (multiplier x) (multiplier y) (words block) (words other))).
Proof.
  intros Hh Hx Hy L F L' F'. destruct (words_number block L F) as (low & high & -> & Hl & Hi & ->).
  destruct (words_number other L' F') as (low' & high' & -> & Hl' & Hi' & ->).
  destruct (block_limbs_number low high Hl Hi) as [Bm Em].
  destruct (block_limbs_number low' high' Hl' Hi') as [Bm' Em'].
  destruct (add_limbs_number _ _ _ _ Hh Bm ltac:(lia)) as [Ba Ea].
  unfold add_pair. rewrite <- Em, <- Ea, <- Em'.
  apply multiply_pair_number; try assumption; eapply below_weaker; [|exact Ba| |exact Bm']; lia.
Qed.

Notation lanes_total := (total_of limbs_number).

Lemma sum_of_lanes sums : fits sums ->
  below (2 ^ 29) (sum_lanes sums) /\ limbs_number (sum_lanes sums) = lanes_total sums.
Proof.
  intros H. destruct (fits_four _ H) as (a & b & c & d & -> & _).
  destruct (sum_lanes_number _ _ _ _ H) as [B E]. split; [exact B|].
  rewrite E. unfold total_of. cbn [fold_right]. ring.
Qed.

(* -- Four lanes --------------------------------------------------------------------------------------------------- *)

Definition add_group_of_pairs (multipliers sums : list (list Z)) (group : list byte) : list (list Z) :=
  add_lanes add_pair sums (firstn 4 multipliers) (skipn 4 multipliers)
    (firstn 4 (lane_pairs group)) (skipn 4 (lane_pairs group)).

(* The exponents of the blocks that are added to the sums, in the order of the lanes; those of the others are four
   less. *)
Definition pair_exponents : list Z := [8; 6; 7; 5].

(* Of the loop, r^8 and r^4 in every lane; of the last group, what remains of r^8 to r. *)
Definition same_pairs (r : Z) : list (list Z) :=
  map (fun _ => power r 8) pair_exponents ++ map (fun _ => power r 4) pair_exponents.
Definition last_pairs (r : Z) : list (list Z) :=
  map (power r) pair_exponents ++ map (fun e => power r (e - 4)) pair_exponents.

(* Two calls of a kernel: for n groups, and for one group more. *)
Definition two_calls_of_pairs (r : Z) (sums : list (list Z)) (groups : list (list byte)) (last_group : list byte)
    : list (list Z) :=
  add_group_of_pairs (last_pairs r) (fold_left (add_group_of_pairs (same_pairs r)) groups sums) last_group.

(* A group is eight blocks of 16 bytes. *)
Definition whole_pairs (group : list byte) : Prop := length group = 128%nat /\ Forall (fun b => (b < 256)%N) group.

Definition first_of_pairs (group : list byte) : list (list byte) :=
  map (fun i => block_at i group) [0; 2; 1; 3]%nat.
Definition second_of_pairs (group : list byte) : list (list byte) :=
  map (fun i => block_at i group) [4; 6; 5; 7]%nat.

Lemma blocks_of_pairs group :
  whole_pairs group -> Forall full (first_of_pairs group) /\ Forall full (second_of_pairs group).
Proof.
  intros Hg. unfold first_of_pairs, second_of_pairs. cbn [map].
  split; repeat (apply Forall_cons; [apply (block_at_full 8); [lia|assumption]|]); apply Forall_nil.
Qed.

Definition pairs_worth (r : Z) (sums : list (list Z)) : Z := worth_of limbs_number r pair_exponents sums.

Definition pairs_number (r : Z) (group : list byte) : Z :=
  contribution 4 r pair_exponents (first_of_pairs group) (second_of_pairs group).

Lemma loop_pairs_group r sums group : fits sums -> whole_pairs group ->
  fits (add_group_of_pairs (same_pairs r) sums group) /\
  congruent (pairs_worth r (add_group_of_pairs (same_pairs r) sums group))
    (r ^ 8 * (pairs_worth r sums + pairs_number r group)).
Proof.
  intros [Ls Hs] Hg. destruct (blocks_of_pairs _ Hg) as [Hb Hc].
  destruct (loop_lanes limbs_number (below (2 ^ 27)) add_pair multiplier 4 eq_refl add_pair_number r pair_exponents sums
    (first_of_pairs group) (second_of_pairs group)) as (L & B & C);
    try assumption; try reflexivity.
  { unfold pair_exponents. repeat (apply Forall_cons; [lia|]). apply Forall_nil. }
  exact (conj (conj L B) C).
Qed.

Lemma last_pairs_number r sums group : fits sums -> whole_pairs group ->
  fits (add_group_of_pairs (last_pairs r) sums group) /\
  congruent (limbs_number (sum_lanes (add_group_of_pairs (last_pairs r) sums group)))
    (pairs_worth r sums + pairs_number r group).
Proof.
  intros [Ls Hs] Hg. destruct (blocks_of_pairs _ Hg) as [Hb Hc].
  destruct (last_lanes limbs_number (below (2 ^ 27)) add_pair multiplier 4 add_pair_number r pair_exponents sums
    (first_of_pairs group) (second_of_pairs group)) as (L & B & C);
    try assumption; try reflexivity.
  assert (Hfits : fits (add_group_of_pairs (last_pairs r) sums group)) by exact (conj L B).
  split; [exact Hfits|]. destruct (sum_of_lanes _ Hfits) as [_ ->]. exact C.
Qed.

Lemma horner_pairs r h group message : whole_pairs group ->
  horner r h (blocks (group ++ message)) = horner r (r ^ 8 * h + pairs_number r group) (blocks message).
Proof.
  intros [L _]. rewrite (blocks_of_group 8) by assumption. unfold horner. rewrite fold_left_app. f_equal.
  unfold pairs_number, first_of_pairs, second_of_pairs, pair_exponents.
  cbn [seq map fold_left contribution].
  repeat match goal with |- context [r ^ (?e - 4)] => let n := eval vm_compute in (e - 4) in change (e - 4) with n end.
  ring.
Qed.

(* -- The polynomial ----------------------------------------------------------------------------------------------- *)

(* Two calls of a kernel, for every number of groups; the sum of the lanes; its reduction. The result is the value of
   the polynomial from h on. *)
Theorem pairs_are_the_polynomial : forall r h groups last_group,
  below (2 ^ 27) h -> Forall whole_pairs groups -> whole_pairs last_group ->
  limbs_number (reduce_limbs (carry_limbs (sum_lanes (two_calls_of_pairs (clamp r) (start h) groups last_group)))) =
  fold_left (add_block r) (blocks (concat groups ++ last_group)) (limbs_number h).
Proof.
  intros r h groups last_group Hh Hgroups Hlast.
  assert (Hzero : below (2 ^ 27) [0; 0; 0; 0; 0]) by (apply five_below; lia).
  apply (calls_are_the_polynomial fits whole_pairs add_group_of_pairs same_pairs last_pairs 8 pairs_worth pairs_number
    (fun sums => limbs_number (sum_lanes sums)) (fun sums => limbs_number (reduce_limbs (carry_limbs (sum_lanes sums))))
    loop_pairs_group last_pairs_number horner_pairs); try assumption.
  - exact sums_value.
  - split; [reflexivity|]. unfold start. repeat (apply Forall_cons; [assumption|]). apply Forall_nil.
  - exists 0. unfold pairs_worth, start, pair_exponents. cbn [worth_of]. rewrite (five_number 0 0 0 0 0). ring.
  - intros ->. now destruct Hlast.
Qed.

(* A message of whole groups: the tag. *)
Theorem pairs_are_poly1305 : forall key groups last_group,
  Forall whole_pairs groups -> whole_pairs last_group ->
  poly1305 key (concat groups ++ last_group) =
  le_bytes (limbs_number (reduce_limbs (carry_limbs (sum_lanes
      (two_calls_of_pairs (clamp (firstn 16 key)) (start [0; 0; 0; 0; 0]) groups last_group))))
    + le_number (skipn 16 key)).
Proof.
  intros key groups last_group Hgroups Hlast.
  rewrite pairs_are_the_polynomial by (try assumption; apply five_below; lia).
  reflexivity.
Qed.
