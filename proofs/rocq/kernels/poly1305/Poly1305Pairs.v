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

Definition lanes_total (sums : list (list Z)) : Z := fold_right (fun h rest => limbs_number h + rest) 0 sums.

Lemma sum_of_lanes sums : fits sums ->
  below (2 ^ 29) (sum_lanes sums) /\ limbs_number (sum_lanes sums) = lanes_total sums.
Proof.
  intros H. destruct (fits_four _ H) as (a & b & c & d & -> & _).
  destruct (sum_lanes_number _ _ _ _ H) as [B E]. split; [exact B|].
  rewrite E. unfold lanes_total. cbn [fold_right]. ring.
Qed.

(* -- Four lanes --------------------------------------------------------------------------------------------------- *)

(* Each lane with its sum, its two multipliers and its two blocks. *)
Fixpoint add_lane_pairs (sums rs ts bs cs : list (list Z)) : list (list Z) :=
  match sums, rs, ts, bs, cs with
  | h :: sums, r :: rs, t :: ts, b :: bs, c :: cs => add_pair h r t b c :: add_lane_pairs sums rs ts bs cs
  | _, _, _, _, _ => []
  end.

Definition add_group_of_pairs (multipliers sums : list (list Z)) (group : list byte) : list (list Z) :=
  add_lane_pairs sums (firstn 4 multipliers) (skipn 4 multipliers)
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

Lemma block_of_pairs_full i group : (i < 8)%nat -> whole_pairs group -> full (block_at i group).
Proof.
  intros Hi [L F]. unfold block_at, full. split.
  - rewrite firstn_length, skipn_length. lia.
  - rewrite <- (firstn_skipn (16 * i) group) in F. apply Forall_app in F as [_ F].
    rewrite <- (firstn_skipn 16 (skipn (16 * i) group)) in F. now apply Forall_app in F as [F _].
Qed.

(* What sums are worth with such pair_exponents, and the pairs_contribution of two blocks in each lane. *)
Fixpoint worth_of (r : Z) (es : list Z) (sums : list (list Z)) : Z :=
  match es, sums with
  | e :: es, h :: sums => limbs_number h * r ^ e + worth_of r es sums
  | _, _ => 0
  end.

Fixpoint pairs_contribution (r : Z) (es : list Z) (bs cs : list (list byte)) : Z :=
  match es, bs, cs with
  | e :: es, b :: bs, c :: cs => block_number b * r ^ e + block_number c * r ^ (e - 4) + pairs_contribution r es bs cs
  | _, _, _ => 0
  end.

(* One group of the loop, for lanes in any number. *)
Lemma loop_pairs r : forall es sums bs cs, Forall (fun e => 4 <= e) es -> length sums = length es ->
  length bs = length es -> length cs = length es -> Forall (below (2 ^ 27)) sums -> Forall full bs -> Forall full cs ->
  let out := add_lane_pairs sums (map (fun _ => power r 8) es) (map (fun _ => power r 4) es)
    (map words bs) (map words cs) in
  length out = length es /\ Forall (below (2 ^ 27)) out /\
  congruent (worth_of r es out) (r ^ 8 * (worth_of r es sums + pairs_contribution r es bs cs)).
Proof.
  induction es as [|e es IH]; intros [|h sums] [|b bs] [|c cs] He Ls Lb Lc Hs Hb Hc; try discriminate.
  - repeat split; [constructor|]. exists 0. cbn [worth_of pairs_contribution add_lane_pairs map]. ring.
  - inversion_clear He. inversion_clear Hs.
    inversion_clear Hb as [|? ? [Lb1 Fb1] ?]. inversion_clear Hc as [|? ? [Lc1 Fc1] ?].
    cbn [length] in *.
    destruct (IH sums bs cs) as (L & B & C); try assumption; try lia.
    destruct (add_pair_number h (r ^ 8 mod prime) (r ^ 4 mod prime) b c) as [B1 C1];
      try assumption; try apply prime_range.
    cbn [map add_lane_pairs worth_of pairs_contribution length] in *. cbv zeta in *.
    split; [f_equal; exact L|]. split; [apply Forall_cons; assumption|].
    fold (power r 8) in *. fold (power r 4) in *.
    set (out1 := add_pair h (power r 8) (power r 4) (words b) (words c)) in *.
    apply congruent_sym in C1.
    assert (C2 : congruent ((limbs_number h + block_number b) * (r ^ 8 mod prime) + block_number c * (r ^ 4 mod prime))
                   ((limbs_number h + block_number b) * r ^ 8 + block_number c * r ^ 4)).
    { apply congruent_plus; rewrite !(Z.mul_comm _ (_ mod _)), !(Z.mul_comm _ (r ^ _));
        apply congruent_times, congruent_mod_prime. }
    pose proof (congruent_times _ _ (r ^ e) (congruent_trans _ _ _ C1 C2)) as C3.
    pose proof (congruent_plus _ _ _ _ C3 C) as C4.
    assert (E : r ^ 4 * r ^ e = r ^ 8 * r ^ (e - 4)) by (rewrite <- !Z.pow_add_r by lia; f_equal; lia).
    eapply congruent_trans; [exact C4|]. exists 0.
    set (r8 := r ^ 8) in *. set (re := r ^ e) in *. set (re4 := r ^ (e - 4)) in *. set (r4 := r ^ 4) in *.
    replace (((limbs_number h + block_number b) * r8 + block_number c * r4) * re)
      with ((limbs_number h + block_number b) * r8 * re + block_number c * (r4 * re)) by ring.
    rewrite E. ring.
Qed.

(* The last group, and the sum of the lanes. *)
Lemma last_group_of_pairs r : forall es sums bs cs, length sums = length es ->
  length bs = length es -> length cs = length es -> Forall (below (2 ^ 27)) sums -> Forall full bs -> Forall full cs ->
  let out := add_lane_pairs sums (map (power r) es) (map (fun e => power r (e - 4)) es) (map words bs) (map words cs) in
  length out = length es /\ Forall (below (2 ^ 27)) out /\
  congruent (lanes_total out) (worth_of r es sums + pairs_contribution r es bs cs).
Proof.
  induction es as [|e es IH]; intros [|h sums] [|b bs] [|c cs] Ls Lb Lc Hs Hb Hc; try discriminate.
  - repeat split; [constructor|]. exists 0.
    cbn [lanes_total fold_right worth_of pairs_contribution add_lane_pairs map]. ring.
  - inversion_clear Hs. inversion_clear Hb as [|? ? [Lb1 Fb1] ?]. inversion_clear Hc as [|? ? [Lc1 Fc1] ?].
    cbn [length] in *.
    destruct (IH sums bs cs) as (L & B & C); try assumption; try lia.
    destruct (add_pair_number h (r ^ e mod prime) (r ^ (e - 4) mod prime) b c) as [B1 C1];
      try assumption; try apply prime_range.
    cbn [map add_lane_pairs worth_of pairs_contribution length] in *. cbv zeta in *.
    split; [f_equal; exact L|]. split; [apply Forall_cons; assumption|].
    fold (power r e) in *. fold (power r (e - 4)) in *.
    set (out1 := add_pair h (power r e) (power r (e - 4)) (words b) (words c)) in *.
    apply congruent_sym in C1.
    assert (C2 : congruent
                   ((limbs_number h + block_number b) * (r ^ e mod prime) + block_number c * (r ^ (e - 4) mod prime))
                   ((limbs_number h + block_number b) * r ^ e + block_number c * r ^ (e - 4))).
    { apply congruent_plus; rewrite !(Z.mul_comm _ (_ mod _)), !(Z.mul_comm _ (r ^ _));
        apply congruent_times, congruent_mod_prime. }
    pose proof (congruent_plus _ _ _ _ (congruent_trans _ _ _ C1 C2) C) as C4.
    unfold lanes_total in *. cbn [fold_right].
    eapply congruent_trans; [exact C4|]. exists 0. ring.
Qed.

Definition first_of_pairs (group : list byte) : list (list byte) :=
  map (fun i => block_at i group) [0; 2; 1; 3]%nat.
Definition second_of_pairs (group : list byte) : list (list byte) :=
  map (fun i => block_at i group) [4; 6; 5; 7]%nat.

Lemma blocks_of_pairs group :
  whole_pairs group -> Forall full (first_of_pairs group) /\ Forall full (second_of_pairs group).
Proof.
  intros Hg. unfold first_of_pairs, second_of_pairs. cbn [map].
  split; repeat (apply Forall_cons; [apply block_of_pairs_full; [lia|assumption]|]); apply Forall_nil.
Qed.

Definition pairs_number (r : Z) (group : list byte) : Z :=
  pairs_contribution r pair_exponents (first_of_pairs group) (second_of_pairs group).

Lemma loop_pairs_group r sums group : fits sums -> whole_pairs group ->
  fits (add_group_of_pairs (same_pairs r) sums group) /\
  congruent (worth_of r pair_exponents (add_group_of_pairs (same_pairs r) sums group))
    (r ^ 8 * (worth_of r pair_exponents sums + pairs_number r group)).
Proof.
  intros [Ls Hs] Hg. destruct (blocks_of_pairs _ Hg) as [Hb Hc].
  destruct (loop_pairs r pair_exponents sums (first_of_pairs group) (second_of_pairs group)) as (L & B & C);
    try assumption; try reflexivity.
  { unfold pair_exponents. repeat (apply Forall_cons; [lia|]). apply Forall_nil. }
  exact (conj (conj L B) C).
Qed.

Lemma last_pairs_number r sums group : fits sums -> whole_pairs group ->
  fits (add_group_of_pairs (last_pairs r) sums group) /\
  congruent (limbs_number (sum_lanes (add_group_of_pairs (last_pairs r) sums group)))
    (worth_of r pair_exponents sums + pairs_number r group).
Proof.
  intros [Ls Hs] Hg. destruct (blocks_of_pairs _ Hg) as [Hb Hc].
  destruct (last_group_of_pairs r pair_exponents sums (first_of_pairs group) (second_of_pairs group)) as (L & B & C);
    try assumption; try reflexivity.
  assert (Hfits : fits (add_group_of_pairs (last_pairs r) sums group)) by exact (conj L B).
  split; [exact Hfits|]. destruct (sum_of_lanes _ Hfits) as [_ ->]. exact C.
Qed.

Lemma horner_pairs r h group message : whole_pairs group ->
  horner r h (blocks (group ++ message)) = horner r (r ^ 8 * h + pairs_number r group) (blocks message).
Proof.
  intros [L _]. rewrite (blocks_of_group 8) by assumption. unfold horner. rewrite fold_left_app. f_equal.
  unfold pairs_number, first_of_pairs, second_of_pairs, pair_exponents.
  cbn [seq map fold_left pairs_contribution].
  repeat match goal with |- context [r ^ (?e - 4)] => let n := eval vm_compute in (e - 4) in change (e - 4) with n end.
  ring.
Qed.

(* -- The polynomial ----------------------------------------------------------------------------------------------- *)

(* The loop: for every number of groups. *)
Lemma loop_pairs_groups r : forall groups sums h, fits sums -> Forall whole_pairs groups ->
  congruent (worth_of r pair_exponents sums) (r ^ 8 * h) ->
  fits (fold_left (add_group_of_pairs (same_pairs r)) groups sums) /\
  exists h',
    congruent (worth_of r pair_exponents (fold_left (add_group_of_pairs (same_pairs r)) groups sums)) (r ^ 8 * h') /\
    forall message, horner r h (blocks (concat groups ++ message)) = horner r h' (blocks message).
Proof.
  induction groups as [|group groups IH]; intros sums h Hs Hg [k Hw].
  - split; [exact Hs|]. exists h. split; [exists k; exact Hw|reflexivity].
  - inversion Hg as [|? ? Hgroup Hgroups]; subst.
    destruct (loop_pairs_group r sums group Hs Hgroup) as [Hs1 [k1 Hw1]].
    assert (Hw2 : congruent (worth_of r pair_exponents (add_group_of_pairs (same_pairs r) sums group))
                    (r ^ 8 * (r ^ 8 * h + pairs_number r group))).
    { exists (k1 + r ^ 8 * k). rewrite Hw1, Hw. ring. }
    destruct (IH _ _ Hs1 Hgroups Hw2) as [Hs' (h' & Hw' & Hh')]. cbn [fold_left]. split; [exact Hs'|].
    exists h'. split; [exact Hw'|]. intros message. cbn [concat].
    rewrite <- app_assoc, horner_pairs by assumption. apply Hh'.
Qed.

(* Two calls of a kernel, for every number of groups; the sum of the lanes; its reduction. The result is the value of
   the polynomial from h on. *)
Theorem pairs_are_the_polynomial : forall r h groups last_group,
  below (2 ^ 27) h -> Forall whole_pairs groups -> whole_pairs last_group ->
  limbs_number (reduce_limbs (carry_limbs (sum_lanes (two_calls_of_pairs (clamp r) (start h) groups last_group)))) =
  fold_left (add_block r) (blocks (concat groups ++ last_group)) (limbs_number h).
Proof.
  intros r h groups last_group Hh Hgroups Hlast. set (x := clamp r).
  assert (Hzero : below (2 ^ 27) [0; 0; 0; 0; 0]) by (apply five_below; lia).
  assert (Hs : fits (start h)).
  { split; [reflexivity|]. unfold start. repeat (apply Forall_cons; [assumption|]). apply Forall_nil. }
  assert (Hw : congruent (worth_of x pair_exponents (start h)) (x ^ 8 * limbs_number h)).
  { exists 0. unfold start, pair_exponents. cbn [worth_of]. rewrite (five_number 0 0 0 0 0). ring. }
  destruct (loop_pairs_groups x groups (start h) (limbs_number h) Hs Hgroups Hw) as [Hs1 (h1 & [k1 Hw1] & Hh1)].
  destruct (last_pairs_number x _ last_group Hs1 Hlast) as [Hs2 [k2 Hw2]].
  change (add_group_of_pairs (last_pairs x) (fold_left (add_group_of_pairs (same_pairs x)) groups (start h)) last_group)
    with (two_calls_of_pairs x (start h) groups last_group) in Hs2, Hw2.
  rewrite Hw1 in Hw2. set (lanes := two_calls_of_pairs x (start h) groups last_group) in *.
  destruct (sum_of_lanes _ Hs2) as [Bs _]. destruct (carry_limbs_number _ Bs) as [Hc [k3 Hw3]].
  rewrite reduce_limbs_number by assumption. rewrite Hw2 in Hw3.
  (* The specification reduces after every block, and there is one. *)
  assert (Hany : concat groups ++ last_group <> []).
  { intros H0. apply app_eq_nil in H0 as [_ ->]. now destruct Hlast. }
  destruct (blocks_of_some _ Hany) as (first & rest & Hsome).
  assert (Hmod : fold_left (add_block r) (blocks (concat groups ++ last_group)) (limbs_number h) mod prime =
                 fold_left (add_block r) (blocks (concat groups ++ last_group)) (limbs_number h))
    by (rewrite Hsome; apply fold_reduced).
  rewrite <- Hmod. symmetry. apply congruent_mod.
  destruct (horner_mod r (blocks (concat groups ++ last_group)) _ _ (same (limbs_number h))) as [k4 Hw4].
  assert (Hend : horner x h1 (blocks last_group) = x ^ 8 * h1 + pairs_number x last_group).
  { rewrite <- (app_nil_r last_group) at 1. rewrite horner_pairs by assumption. reflexivity. }
  rewrite Hw4. fold x. rewrite Hh1, Hend.
  assert (Hcarry : limbs_number (carry_limbs (sum_lanes lanes)) =
    x ^ 8 * h1 + prime * k1 + pairs_number x last_group + prime * k2 - prime * k3) by (rewrite Hw3; ring).
  rewrite Hcarry. exists (k4 - k1 - k2 + k3). ring.
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
