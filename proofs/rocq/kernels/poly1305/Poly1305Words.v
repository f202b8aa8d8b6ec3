(* Poly1305 as the portable Rust computes it: no word wraps unless its carry is kept, and the tag is that of RFC 8439.

   Poly1305Text.v is written from proofs/saw/lib/Poly1305Words.cry, to which SAW proves the bitcode equal. Interval
   arithmetic (WordsOfAnyWidth.v) shows that no operation loses anything, for every sum below the bound that a block
   keeps, and every clamped r; then `ring` shows what the result is modulo p. *)

From Coq Require Import Lia List NArith ZArith.
From Veriplex Require Import AES Words64 WordsOfAnyWidth Poly1305 Poly1305Lanes Poly1305Text.
Import ListNotations.
Local Open Scope Z_scope.

(* -- Messages: by hand, definition by definition as in Poly1305Words.cry ------------------------------------------ *)

Definition word : list byte -> Z := le_number.

Definition halves (key : list byte) : Z * Z := (clamp (firstn 16 key), word (skipn 16 key)).

Definition wide_multiplier (r : Z) : list Z := [narrowed 64 r; narrowed 64 (shift_right r 64)].

Definition small_multiplier (r : Z) : list Z :=
  map (fun x => times_at 32 5 x) (skipn 1 (small_limbs r)) ++ small_limbs r.

Definition wide_blocks (h r : list Z) (blocks : list (list byte)) (high : Z) : list Z :=
  fold_left (fun h b => wide_block h r (word b) high) blocks h.

Definition small_blocks (h r : list Z) (blocks : list (list byte)) (high : Z) : list Z :=
  fold_left (fun h b => small_block h r (small_limbs (word b)) high) blocks h.

Definition padded (rest : list byte) : list byte := rest ++ [1%N] ++ repeat 0%N (15 - length rest).

Definition tag_of (h : list Z) (s : Z) : list byte := le_bytes (plus_at 128 (nth 0 (reduce h) 0) s).

(* The tag of a message of these full blocks and the rest. *)
Definition wide_tag (key : list byte) (blocks : list (list byte)) (rest : list byte) : list byte :=
  let (r, s) := halves key in
  let h := wide_blocks [0; 0] (wide_multiplier r) blocks 1 in
  tag_of (if (length rest =? 0)%nat then h else wide_blocks h (wide_multiplier r) [padded rest] 0) s.

Definition small_tag (key : list byte) (blocks : list (list byte)) (rest : list byte) : list byte :=
  let (r, s) := halves key in
  let h := small_blocks [0; 0; 0; 0; 0] (small_multiplier r) blocks 1 in
  tag_of (small_value (if (length rest =? 0)%nat then h else small_blocks h (small_multiplier r) [padded rest] 0)) s.

(* -- Operations --------------------------------------------------------------------------------------------------- *)

Ltac take v H :=
  lazymatch goal with
  | |- ?post (bind ?x ?rest) => apply (bind_spec post x rest); intros v H; cbv beta
  end.

(* Replaces an operation on words by that on integers, with the bound of the result. *)
Ltac exact_at H :=
  lazymatch type of H with
  | ?v = plus_at ?w ?x ?y =>
      known x; known y;
      match goal with Hx : 0 <= x <= ?X |- _ => match goal with Hy : 0 <= y <= ?Y |- _ =>
        settle (plus_at_exact v w x X y Y H Hx Hy eq_refl) end end
  | ?v = times_at ?w ?x ?y =>
      known x; known y;
      match goal with Hx : 0 <= x <= ?X |- _ => match goal with Hy : 0 <= y <= ?Y |- _ =>
        settle (times_at_exact v w x X y Y H Hx Hy eq_refl) end end
  | ?v = shift_right ?x ?k =>
      match goal with Hx : 0 <= x <= ?X |- _ => settle (shift_right_exact v x X k H Hx eq_refl) end
  | ?v = shift_left_at ?w ?x ?k =>
      match goal with Hx : 0 <= x <= ?X |- _ => settle (shift_left_at_exact v w x X k H Hx eq_refl) end
  | ?v = both ?n ?m =>
      let k := eval vm_compute in (Z.log2 (m + 1)) in
      first
        [ match goal with E : n = ?x mod 2 ^ ?w |- _ => settle (both_narrowed_exact v n w x k m H E eq_refl) end
        | match goal with Hx : 0 <= n <= ?X |- _ => settle (both_ones_exact v n X k m H Hx eq_refl) end ]
  | ?v = narrowed ?w ?x =>
      first
        [ match goal with Hx : 0 <= x <= ?X |- _ => settle (narrowed_exact v w x X H Hx eq_refl) end
        | settle (narrowed_bound v w x H eq_refl) ]
  | ?v = widened ?x =>
      let E := fresh "E" in
      assert (E : v = x) by exact H;
      match goal with Hx : 0 <= x <= ?X |- _ =>
        let B := fresh "B" in assert (B : 0 <= v <= X) by (rewrite E; exact Hx) end
  end;
  clear H.

Ltac next_at :=
  lazymatch goal with
  | |- _ (bind _ _) => let v := fresh "v" in let H := fresh "H" in take v H; exact_at H
  end.

Ltac operations_at := repeat next_at.

(* -- The clamp ---------------------------------------------------------------------------------------------------- *)

Definition mask : Z := 0x0ffffffc0ffffffc0ffffffc0fffffff.

Lemma clamped r : 0 <= clamp r < 2 ^ 124 /\
  exists r0 t, wide_multiplier (clamp r) = [r0; 4 * t] /\ 0 <= r0 <= 2 ^ 60 - 1 /\ 0 <= t <= 2 ^ 58 - 1 /\
    clamp r = r0 + 2 ^ 64 * (4 * t).
Proof.
  unfold clamp. set (x := le_number r). change 0x0ffffffc0ffffffc0ffffffc0fffffff with mask.
  assert (B : Z.land x mask mod 2 ^ 124 = Z.land x mask).
  { rewrite <- Z.land_ones, <- Z.land_assoc by lia. reflexivity. }
  pose proof (Z.mod_pos_bound (Z.land x mask) (2 ^ 124) eq_refl) as H. rewrite B in H.
  assert (L : Z.land x mask mod 2 ^ 64 = Z.land x (Z.land mask (Z.ones 64))).
  { rewrite <- Z.land_ones, <- Z.land_assoc by lia. reflexivity. }
  assert (L60 : Z.land x (Z.land mask (Z.ones 64)) mod 2 ^ 60 = Z.land x (Z.land mask (Z.ones 64))).
  { rewrite <- Z.land_ones, <- Z.land_assoc by lia. reflexivity. }
  pose proof (Z.mod_pos_bound (Z.land x (Z.land mask (Z.ones 64))) (2 ^ 60) eq_refl) as H0.
  rewrite L60, <- L in H0.
  assert (Q : Z.land x mask / 2 ^ 64 mod 2 ^ 2 = 0).
  { rewrite <- Z.shiftr_div_pow2, Z.shiftr_land, <- Z.land_ones, <- Z.land_assoc by lia.
    change (Z.land (Z.shiftr mask 64) (Z.ones 2)) with 0. apply Z.land_0_r. }
  set (y := Z.land x mask) in *. split; [exact H|].
  exists (y mod 2 ^ 64), (y / 2 ^ 64 / 4).
  assert (E : 4 * (y / 2 ^ 64 / 4) = y / 2 ^ 64) by (change (2 ^ 2) with 4 in Q; Z.div_mod_to_equations; lia).
  assert (R : 0 <= y / 2 ^ 64 < 2 ^ 60).
  { split; [apply Z.div_pos; lia|]. apply Z.div_lt_upper_bound; [lia|]. change (2 ^ 64 * 2 ^ 60) with (2 ^ 124). lia. }
  split; [|split; [lia|split; [lia|]]].
  - unfold wide_multiplier, narrowed, shift_right. rewrite Z.shiftr_div_pow2 by lia.
    rewrite E. rewrite (Z.mod_small (y / 2 ^ 64)) by lia. reflexivity.
  - rewrite E. pose proof (Z.div_mod y (2 ^ 64)). lia.
Qed.

(* -- Words of 64 bits --------------------------------------------------------------------------------------------- *)

Definition number (h : list Z) : Z := nth 0 h 0 + 2 ^ 128 * nth 1 h 0.

(* What a sum is between two blocks. The bound is below 2 p, as the last reduction needs. *)
Definition sum_fits (h : list Z) : Prop :=
  exists low top, h = [low; top] /\ 0 <= low < 2 ^ 128 /\ 0 <= top /\ low + 2 ^ 128 * top < 2 ^ 130 + 2 ^ 66.

Definition sum_of (x : Z) (h : list Z) : Prop := sum_fits h /\ congruent x (number h).

(* No operation loses anything but what a carry keeps, for every sum that fits, block and r; and the result is the
   product modulo p. *)
Lemma wide_block_number h r0 t block high : sum_fits h -> 0 <= r0 <= 2 ^ 60 - 1 -> 0 <= t <= 2 ^ 58 - 1 ->
  0 <= block < 2 ^ 128 -> 0 <= high <= 1 ->
  sum_fits (wide_block h [r0; 4 * t] block high) /\
  congruent ((number h + block + 2 ^ 128 * high) * (r0 + 2 ^ 64 * (4 * t)))
    (number (wide_block h [r0; 4 * t] block high)).
Proof.
  intros (low & top & -> & Hlow & Htop & Hsum) Hr0 Ht Hblock Hhigh.
  assert (Htop4 : 0 <= top <= 4) by lia. clear Hsum Htop.
  change (sum_of ((number [low; top] + block + 2 ^ 128 * high) * (r0 + 2 ^ 64 * (4 * t)))
    (wide_block [low; top] [r0; 4 * t] block high)).
  remember (4 * t) as r1 eqn:R1. assert (Hr1 : 0 <= r1 <= 4 * (2 ^ 58 - 1)) by lia.
  unfold wide_block, wide_product, word_product, carry_of.
  take q1 Hq1. unfold shift_right in Hq1. rewrite Z.shiftr_div_pow2 in Hq1 by lia.
  assert (Eq1 : q1 = t) by (rewrite Hq1, R1, Z.mul_comm; now apply Z.div_mul). clear Hq1.
  assert (Bq1 : 0 <= q1 <= 2 ^ 58 - 1) by lia.
  next_at.
  take total Hs. take carry Hc.
  destruct (carry_exact _ _ _ _ Hs Hblock Hlow Hc) as (Etotal & Btotal & Bcarry). clear Hs Hc.
  assert (Btotal' : 0 <= total <= 2 ^ 128 - 1) by lia. clear Btotal.
  take h0 H. exact_at H. take h1 H. exact_at H.
  take h2' H. exact_at H. take h2 H. exact_at H.
  do 3 next_at.
  do 2 next_at. take d0 H. exact_at H. do 2 next_at. take c0 H. exact_at H. do 4 next_at. take d1 H. exact_at H.
  take c1 H. exact_at H. do 2 next_at. take d2 H. exact_at H.
  take l0 Hl0. take l1 Hl1. take low1 Hlow1.
  match goal with B0 : 0 <= d0 <= _ |- _ => match goal with B1 : 0 <= d1 <= _ |- _ =>
    pose proof (halves_exact l1 l0 d1 d0 Hl1 Hl0 (proj1 B1) (proj1 B0)) as El end end.
  rewrite <- Hlow1 in El.
  match goal with E : c1 = d1 / 2 ^ 64 |- _ => rewrite <- E in El end.
  match goal with E : c0 = d0 / 2 ^ 64 |- _ => rewrite <- E in El end.
  assert (Blow1 : 0 <= low1 < 2 ^ 128).
  { rewrite El.
    match goal with E1 : c1 = _, E0 : c0 = _ |- _ => clear - E0 E1; subst c0 c1 end.
    Z.div_mod_to_equations. lia. }
  clear Hl0 Hl1 Hlow1.
  take q H. exact_at H. do 2 next_at.
  take low2 Hs. take k Hc.
  match type of Hs with _ = plus_at _ _ ?g => assert (Bg : 0 <= g < 2 ^ 128) by lia end.
  rewrite plus_at_comm in Hs. destruct (carry_exact _ _ _ _ Hs Bg Blow1 Hc) as (Elow2 & Blow2 & Bk).
  clear Hs Hc.
  take d3 H. exact_at H. next_at.
  match goal with E : d3 = d2 - 2 ^ 2 * (d2 / 2 ^ 2), C : q = d2 / 2 ^ 2 |- _ => rewrite <- C in E end.
  split.
  { do 2 eexists. split; [reflexivity|]. split; [exact Blow2|]. split; lia. }
  match goal with E : h0 = total - 2 ^ 64 * (total / 2 ^ 64), C : h1 = total / 2 ^ 64 |- _ => rewrite <- C in E end.
  assert (A : number [low; top] + block + 2 ^ 128 * high = h0 + 2 ^ 64 * h1 + 2 ^ 128 * h2)
    by (change (number [low; top]) with (low + 2 ^ 128 * top); lia).
  rewrite A. clear A.
  exists (h1 * t + 2 ^ 64 * h2 * t + q).
  match goal with |- _ = number [low2; ?top2] + _ =>
    assert (N : number [low2; top2] = low1 + 5 * q + 2 ^ 128 * (d2 - 4 * q))
      by (change (number [low2; top2]) with (low2 + 2 ^ 128 * top2); change (2 ^ 2) with 4 in *; lia) end.
  rewrite N, El.
  assert (Ed1 : d1 = h0 * r1 + h1 * r0 + h2 * (r1 + q1) + c0) by congruence.
  assert (Ed2 : d2 = h2 * r0 + c1) by congruence.
  assert (Ed0 : d0 = h0 * r0 + h1 * (r1 + q1)) by congruence.
  rewrite Ed2, Ed1, Ed0, R1, Eq1. unfold prime. ring.
Qed.

Definition remainder_of (x : Z) (h : list Z) : Prop :=
  exists low top, h = [low; top] /\ 0 <= low < 2 ^ 128 /\ low + 2 ^ 128 * top = x mod prime.

(* The last reduction, for every number below 2 p: those from p to 2^130, and those above, included. *)
Lemma reduce_number low top : 0 <= low < 2 ^ 128 -> 0 <= top -> low + 2 ^ 128 * top < 2 * prime ->
  remainder_of (low + 2 ^ 128 * top) (reduce [low; top]).
Proof.
  intros Hlow Htop Hsum. assert (Htop7 : 0 <= top <= 7) by (unfold prime in Hsum; lia).
  unfold reduce, wide_product, word_product, carry_of.
  take plus5 Hs. take c Hc. rewrite plus_at_comm in Hs.
  assert (B5 : 0 <= 5 < 2 ^ 128) by lia.
  destruct (carry_exact _ _ _ _ Hs B5 Hlow Hc) as (Eplus5 & Bplus5 & Bc). clear Hs Hc.
  next_at. next_at. next_at. next_at.
  take low1 Hs. take k Hc. rewrite plus_at_comm in Hs.
  match type of Hs with _ = plus_at _ ?g _ => assert (Bg : 0 <= g < 2 ^ 128) by lia end.
  destruct (carry_exact _ _ _ _ Hs Bg Hlow Hc) as (Elow1 & Blow1 & Bk). clear Hs Hc.
  operations_at. do 2 eexists. split; [reflexivity|]. split; [exact Blow1|].
  set (h := low + 2 ^ 128 * top) in *.
  assert (D : h mod prime = if h <? prime then h else h - prime).
  { destruct (Z.ltb_spec h prime); [apply Z.mod_small; lia|].
    symmetry. apply Z.mod_unique with 1; unfold prime in *; lia. }
  rewrite D. clear D. subst h. unfold prime in *. change (2 ^ 2) with 4 in *.
  destruct (Z.ltb_spec (low + 2 ^ 128 * top) (2 ^ 130 - 5)); Z.div_mod_to_equations; lia.
Qed.

(* -- Every number of blocks --------------------------------------------------------------------------------------- *)

Definition full (block : list byte) : Prop := length block = 16%nat /\ Forall (fun b => (b < 256)%N) block.

Lemma full_word block : full block -> 0 <= word block < 2 ^ 128 /\ block_number block = word block + 2 ^ 128.
Proof.
  intros [L F]. pose proof (le_number_bounds block F) as B. unfold block_number, word. rewrite L in *.
  split; [exact B|reflexivity].
Qed.

Lemma zeros_number n : le_number (repeat 0%N n) = 0.
Proof. induction n as [|n IH]; [reflexivity|]. cbn [repeat le_number]. rewrite IH. reflexivity. Qed.

(* The last bytes: the 1 after them is a part of the word. *)
Lemma padded_word rest : (length rest < 16)%nat -> Forall (fun b => (b < 256)%N) rest ->
  0 <= word (padded rest) < 2 ^ 128 /\ word (padded rest) = block_number rest.
Proof.
  intros L F. assert (E : word (padded rest) = block_number rest).
  { unfold word, padded, block_number. rewrite !le_number_app, zeros_number. cbn [le_number]. ring. }
  split; [|exact E]. rewrite E. unfold block_number. pose proof (le_number_bounds rest F) as B.
  assert (P : 2 ^ (8 * Z.of_nat (length rest)) <= 2 ^ 120) by (apply Z.pow_le_mono_r; lia).
  change (2 ^ 128) with (2 ^ 120 * 256). lia.
Qed.

(* What r is to both forms of the code. *)
Definition is_clamped (r : Z) : Prop :=
  exists r0 t, wide_multiplier r = [r0; 4 * t] /\ 0 <= r0 <= 2 ^ 60 - 1 /\ 0 <= t <= 2 ^ 58 - 1 /\
    r = r0 + 2 ^ 64 * (4 * t).

Lemma wide_block_step r x h block high n : is_clamped r -> sum_fits h -> congruent x (number h) ->
  0 <= block < 2 ^ 128 -> 0 <= high <= 1 -> n = block + 2 ^ 128 * high ->
  sum_fits (wide_block h (wide_multiplier r) block high) /\
  congruent ((x + n) * r) (number (wide_block h (wide_multiplier r) block high)).
Proof.
  intros (r0 & t & -> & Hr0 & Ht & Er) Hh [k Hx] Hblock Hhigh ->.
  destruct (wide_block_number h r0 t block high Hh Hr0 Ht Hblock Hhigh) as [Hf [j Hj]]. rewrite <- Er in Hj.
  split; [exact Hf|]. exists (j + k * r). rewrite Hx.
  assert (E : number (wide_block h [r0; 4 * t] block high) =
              (number h + block + 2 ^ 128 * high) * r - prime * j) by (rewrite Hj; ring).
  rewrite E. ring.
Qed.

(* The loop: for every number of blocks. *)
Theorem wide_blocks_are_horner : forall r blocks x h, is_clamped r -> Forall full blocks -> sum_fits h ->
  congruent x (number h) ->
  sum_fits (wide_blocks h (wide_multiplier r) blocks 1) /\
  congruent (horner r x blocks) (number (wide_blocks h (wide_multiplier r) blocks 1)).
Proof.
  intros r. induction blocks as [|b blocks IH]; intros x h Hr Hb Hh Hx; [split; assumption|].
  inversion Hb as [|? ? Hfull Hblocks]; subst. destruct (full_word b Hfull) as [B N].
  destruct (wide_block_step r x h (word b) 1 (block_number b) Hr Hh Hx B ltac:(lia) ltac:(lia)) as [Hh' Hx'].
  exact (IH _ _ Hr Hblocks Hh' Hx').
Qed.

Lemma blocks_of_full full_blocks rest : Forall full full_blocks -> (length rest < 16)%nat ->
  blocks (concat full_blocks ++ rest) = full_blocks ++ if (length rest =? 0)%nat then [] else [rest].
Proof.
  intros F L. induction F as [|b bs [Lb _] _ IH].
  - cbn [concat app]. destruct rest as [|x rest]; [reflexivity|]. unfold blocks. cbn [length Nat.eqb cut].
    rewrite firstn_all2, skipn_all2 by (cbn [length] in *; lia). now destruct (length rest).
  - cbn [concat app]. rewrite <- app_assoc, blocks_app by exact Lb. now rewrite IH.
Qed.

Lemma horner_app r x bs cs : horner r x (bs ++ cs) = horner r (horner r x bs) cs.
Proof. apply fold_left_app. Qed.

Lemma polynomial_reduced r message : polynomial r message mod prime = polynomial r message.
Proof. unfold polynomial. destruct (blocks message) as [|b bs]; [reflexivity|apply fold_reduced]. Qed.

Lemma le_bytes_wraps x : le_bytes (x mod 2 ^ 128) = le_bytes x.
Proof.
  unfold le_bytes. apply map_ext_in. intros i Hi. apply in_seq in Hi. f_equal.
  set (k := 8 * Z.of_nat i). assert (Hk : 0 <= k <= 120) by lia.
  rewrite (Z.div_mod x (2 ^ 128)) at 2 by lia.
  assert (E : 2 ^ 128 = 2 ^ k * (2 ^ 8 * 2 ^ (120 - k))) by (rewrite <- !Z.pow_add_r by lia; f_equal; lia).
  assert (P : 0 < 2 ^ k) by (apply Z.pow_pos_nonneg; lia).
  rewrite E at 2. rewrite <- Z.mul_assoc, (Z.mul_comm (2 ^ k)), Z.add_comm, Z.div_add by lia.
  rewrite <- Z.mul_assoc, (Z.mul_comm (2 ^ 8)), Z_mod_plus_full. reflexivity.
Qed.

Lemma congruent_trans x y z : congruent x y -> congruent y z -> congruent x z.
Proof. intros [k ->] [j ->]. exists (k + j). ring. Qed.

(* From any sum that fits: the last reduction and s. *)
Lemma tag_of_number r message h s : sum_fits h -> congruent (polynomial r message) (number h) ->
  tag_of h s = le_bytes (polynomial r message + s).
Proof.
  intros (low & top & -> & Hlow & Htop & Hsum) Hp. change (number [low; top]) with (low + 2 ^ 128 * top) in Hp.
  destruct (reduce_number low top Hlow Htop) as (z & w & E & Hz & Ez); [unfold prime; lia|].
  unfold tag_of. rewrite E. cbn [nth]. unfold plus_at. rewrite le_bytes_wraps.
  apply congruent_mod in Hp. rewrite polynomial_reduced in Hp. rewrite Hp, <- Ez.
  rewrite <- (le_bytes_wraps (z + s)), <- (le_bytes_wraps (z + 2 ^ 128 * w + s)). f_equal.
  replace (z + 2 ^ 128 * w + s) with (z + s + w * 2 ^ 128) by ring. symmetry. apply Z_mod_plus_full.
Qed.

(* For every key and every message, given as its full blocks and the rest. *)
Theorem wide_tag_is_poly1305 : forall key full_blocks rest,
  Forall full full_blocks -> (length rest < 16)%nat -> Forall (fun b => (b < 256)%N) rest ->
  wide_tag key full_blocks rest = poly1305 key (concat full_blocks ++ rest).
Proof.
  intros key bs rest Hbs Hrest Hbytes. unfold wide_tag, halves, poly1305. set (r := firstn 16 key).
  pose proof (proj2 (clamped r)) as Hr. change (is_clamped (clamp r)) in Hr.
  assert (H0 : sum_fits [0; 0]) by (do 2 eexists; split; [reflexivity|]; lia).
  assert (C0 : congruent 0 (number [0; 0])) by (exists 0; reflexivity).
  destruct (wide_blocks_are_horner (clamp r) bs 0 [0; 0] Hr Hbs H0 C0) as [Hh Hx].
  apply (tag_of_number r).
  - destruct (length rest =? 0)%nat; [exact Hh|].
    destruct (padded_word rest Hrest Hbytes) as [B _].
    exact (proj1 (wide_block_step _ _ _ _ 0 _ Hr Hh Hx B ltac:(lia) eq_refl)).
  - assert (Hp : congruent (polynomial r (concat bs ++ rest))
        (horner (clamp r) 0 (bs ++ if (length rest =? 0)%nat then [] else [rest]))).
    { unfold polynomial. rewrite blocks_of_full by assumption. apply horner_mod. exists 0. ring. }
    apply (congruent_trans _ _ _ Hp). rewrite horner_app. destruct (length rest =? 0)%nat; [exact Hx|].
    destruct (padded_word rest Hrest Hbytes) as [B N].
    exact (proj2 (wide_block_step _ _ _ _ 0 (block_number rest) Hr Hh Hx B ltac:(lia) ltac:(lia))).
Qed.

(* -- Limbs of 26 bits in words of 32 ------------------------------------------------------------------------------ *)

(* What a sum is between two blocks: limb 1 may be a carry larger than 26 bits. *)
Definition small_fits (h : list Z) : Prop :=
  exists h0 h1 h2 h3 h4, h = [h0; h1; h2; h3; h4] /\ 0 <= h0 <= 2 ^ 26 - 1 /\ 0 <= h1 <= 2 ^ 26 - 1 + 2 ^ 11 /\
    0 <= h2 <= 2 ^ 26 - 1 /\ 0 <= h3 <= 2 ^ 26 - 1 /\ 0 <= h4 <= 2 ^ 26 - 1.

Definition limbs_of (x : Z) (m : list Z) : Prop :=
  exists m0 m1 m2 m3 m4, m = [m0; m1; m2; m3; m4] /\ 0 <= m0 <= 2 ^ 26 - 1 /\ 0 <= m1 <= 2 ^ 26 - 1 /\
    0 <= m2 <= 2 ^ 26 - 1 /\ 0 <= m3 <= 2 ^ 26 - 1 /\ 0 <= m4 <= 2 ^ 24 - 1 /\ limbs_number m = x.

Lemma small_limbs_number x : 0 <= x < 2 ^ 128 -> limbs_of x (small_limbs x).
Proof.
  intros Hx. assert (Bx : 0 <= x <= 2 ^ 128 - 1) by lia. clear Hx. unfold small_limbs. operations_at.
  do 5 eexists. split; [reflexivity|].
  repeat (split; [match goal with B : 0 <= ?v <= _ |- 0 <= ?v <= _ => exact B end|]).
  rewrite five_number. Z.div_mod_to_equations. lia.
Qed.

Lemma small_multiplier_limbs r : 0 <= r < 2 ^ 128 ->
  exists r0 r1 r2 r3 r4, small_multiplier r = [5 * r1; 5 * r2; 5 * r3; 5 * r4; r0; r1; r2; r3; r4] /\
    limbs_of r [r0; r1; r2; r3; r4].
Proof.
  intros Hr. destruct (small_limbs_number r Hr) as (r0 & r1 & r2 & r3 & r4 & E & B0 & B1 & B2 & B3 & B4 & N).
  exists r0, r1, r2, r3, r4. split.
  - unfold small_multiplier, times_at. rewrite E. cbn [skipn map app]. rewrite !Z.mod_small by lia. reflexivity.
  - rewrite E in N. repeat eexists; try eassumption; tauto.
Qed.

Definition small_sum_of (x : Z) (h : list Z) : Prop := small_fits h /\ congruent x (limbs_number h).

(* No operation loses anything that another one does not take, for every sum that fits, block and r; and the result is
   the product modulo p. *)
Lemma small_block_number h r block high : small_fits h -> 0 <= r < 2 ^ 128 -> 0 <= block < 2 ^ 128 -> 0 <= high <= 1 ->
  small_fits (small_block h (small_multiplier r) (small_limbs block) high) /\
  congruent ((limbs_number h + block + 2 ^ 128 * high) * r)
    (limbs_number (small_block h (small_multiplier r) (small_limbs block) high)).
Proof.
  intros (h0 & h1 & h2 & h3 & h4 & -> & ? & ? & ? & ? & ?) Hr Hblock Hhigh.
  destruct (small_multiplier_limbs r Hr) as (r0 & r1 & r2 & r3 & r4 & -> & Hlimbs).
  destruct Hlimbs as (? & ? & ? & ? & ? & [= <- <- <- <- <-] & ? & ? & ? & ? & ? & <-).
  destruct (small_limbs_number block Hblock) as (m0 & m1 & m2 & m3 & m4 & -> & ? & ? & ? & ? & ? & <-).
  clear Hr Hblock.
  remember (5 * r1) as s1 eqn:S1. remember (5 * r2) as s2 eqn:S2.
  remember (5 * r3) as s3 eqn:S3. remember (5 * r4) as s4 eqn:S4.
  assert (0 <= s1 <= 5 * (2 ^ 26 - 1)) by lia. assert (0 <= s2 <= 5 * (2 ^ 26 - 1)) by lia.
  assert (0 <= s3 <= 5 * (2 ^ 26 - 1)) by lia. assert (0 <= s4 <= 5 * (2 ^ 24 - 1)) by lia.
  change (small_sum_of ((limbs_number [h0; h1; h2; h3; h4] + limbs_number [m0; m1; m2; m3; m4] + 2 ^ 128 * high) *
      limbs_number [r0; r1; r2; r3; r4])
    (small_block [h0; h1; h2; h3; h4] [s1; s2; s3; s4; r0; r1; r2; r3; r4] [m0; m1; m2; m3; m4] high)).
  unfold small_block, word_product. operations_at.
  split.
  { do 5 eexists. split; [reflexivity|]. repeat split;
      match goal with
      | B : 0 <= ?v <= _ |- 0 <= ?v => exact (proj1 B)
      | B : 0 <= ?v <= ?X |- ?v <= _ => apply (Z.le_trans _ X); [exact (proj2 B)|vm_compute; discriminate]
      end. }
  no_bounds.
  (* What was only narrowed has another name for the same number. *)
  repeat match goal with E : ?v = _ mod 2 ^ 32 |- _ => clear E v end.
  repeat match goal with E : ?v = ?x |- _ => is_var v; is_var x; subst v end.
  (* After both halves of a carry, only the upper one has a name. *)
  repeat match goal with
  | E : _ = ?x - 2 ^ 26 * (?x / 2 ^ 26), C : _ = ?x / 2 ^ 26 |- _ => rewrite <- C in E; clear C
  end.
  match goal with E : _ = ?c * 5 |- _ =>
    exists ((h1 + m1) * r4 + (h2 + m2) * r3 + (h3 + m3) * r2 + (h4 + m4 + 2 ^ 24 * high) * r1
      + 2 ^ 26 * ((h2 + m2) * r4 + (h3 + m3) * r3 + (h4 + m4 + 2 ^ 24 * high) * r2)
      + 2 ^ 52 * ((h3 + m3) * r4 + (h4 + m4 + 2 ^ 24 * high) * r3) + 2 ^ 78 * ((h4 + m4 + 2 ^ 24 * high) * r4) + c)
  end.
  rewrite !five_number. expand. unfold prime. ring.
Qed.

Definition value_of (x : Z) (h : list Z) : Prop := sum_fits h /\ number h = x.

(* The number as the last reduction takes it. *)
Lemma small_value_number h : small_fits h ->
  sum_fits (small_value h) /\ number (small_value h) = limbs_number h.
Proof.
  intros (h0 & h1 & h2 & h3 & h4 & -> & ? & ? & ? & ? & ?).
  change (value_of (limbs_number [h0; h1; h2; h3; h4]) (small_value [h0; h1; h2; h3; h4])).
  unfold small_value, carry_of. do 5 next_at. do 3 next_at.
  take y4 Hy4. assert (Ey4 : y4 = 2 ^ 104 * (h4 - 2 ^ 24 * (h4 / 2 ^ 24))).
  { rewrite Hy4. match goal with E : ?x = h4 |- _ => rewrite E end. unfold shift_left_at.
    rewrite Z.shiftl_mul_pow2 by lia. Z.div_mod_to_equations. lia. }
  clear Hy4. assert (By4 : 0 <= y4 < 2 ^ 128) by (Z.div_mod_to_equations; lia).
  do 2 next_at. take rest H'. exact_at H'.
  take low Hs. take k Hc. rewrite plus_at_comm in Hs.
  assert (Brest : 0 <= rest < 2 ^ 128) by lia.
  destruct (carry_exact _ _ _ _ Hs By4 Brest Hc) as (Elow & Blow & Bk). clear Hs Hc.
  operations_at.
  match goal with |- value_of _ [low; ?top] =>
    assert (N : low + 2 ^ 128 * top = limbs_number [h0; h1; h2; h3; h4])
      by (rewrite five_number; Z.div_mod_to_equations; lia) end.
  split; [|exact N].
  do 2 eexists. split; [reflexivity|]. split; [exact Blow|]. split; [lia|].
  rewrite N, five_number. lia.
Qed.

Lemma small_block_step r x h block high n : 0 <= r < 2 ^ 128 -> small_fits h -> congruent x (limbs_number h) ->
  0 <= block < 2 ^ 128 -> 0 <= high <= 1 -> n = block + 2 ^ 128 * high ->
  small_fits (small_block h (small_multiplier r) (small_limbs block) high) /\
  congruent ((x + n) * r) (limbs_number (small_block h (small_multiplier r) (small_limbs block) high)).
Proof.
  intros Hr Hh [k Hx] Hblock Hhigh ->.
  destruct (small_block_number h r block high Hh Hr Hblock Hhigh) as [Hf [j Hj]].
  split; [exact Hf|]. exists (j + k * r). rewrite Hx.
  set (out := small_block _ _ _ _) in *.
  assert (E : limbs_number out = (limbs_number h + block + 2 ^ 128 * high) * r - prime * j) by (rewrite Hj; ring).
  rewrite E. ring.
Qed.

(* The loop: for every number of blocks. *)
Theorem small_blocks_are_horner : forall r blocks x h, 0 <= r < 2 ^ 128 -> Forall full blocks -> small_fits h ->
  congruent x (limbs_number h) ->
  small_fits (small_blocks h (small_multiplier r) blocks 1) /\
  congruent (horner r x blocks) (limbs_number (small_blocks h (small_multiplier r) blocks 1)).
Proof.
  intros r. induction blocks as [|b blocks IH]; intros x h Hr Hb Hh Hx; [split; assumption|].
  inversion Hb as [|? ? Hfull Hblocks]; subst. destruct (full_word b Hfull) as [B N].
  destruct (small_block_step r x h (word b) 1 (block_number b) Hr Hh Hx B ltac:(lia) ltac:(lia)) as [Hh' Hx'].
  exact (IH _ _ Hr Hblocks Hh' Hx').
Qed.

(* For every key and every message, given as its full blocks and the rest. *)
Theorem small_tag_is_poly1305 : forall key full_blocks rest,
  Forall full full_blocks -> (length rest < 16)%nat -> Forall (fun b => (b < 256)%N) rest ->
  small_tag key full_blocks rest = poly1305 key (concat full_blocks ++ rest).
Proof.
  intros key bs rest Hbs Hrest Hbytes. unfold small_tag, halves, poly1305. set (r := firstn 16 key).
  assert (Hr : 0 <= clamp r < 2 ^ 128) by (pose proof (proj1 (clamped r)); lia).
  assert (H0 : small_fits [0; 0; 0; 0; 0]) by (do 5 eexists; split; [reflexivity|]; lia).
  assert (C0 : congruent 0 (limbs_number [0; 0; 0; 0; 0])) by (exists 0; reflexivity).
  destruct (small_blocks_are_horner (clamp r) bs 0 _ Hr Hbs H0 C0) as [Hh Hx].
  destruct (padded_word rest Hrest Hbytes) as [B N].
  pose proof (small_block_step _ _ _ _ 0 (block_number rest) Hr Hh Hx B ltac:(lia) ltac:(lia)) as [Hh' Hx'].
  set (h := if (length rest =? 0)%nat then _ else _).
  assert (Hfits : small_fits h) by (unfold h; destruct (length rest =? 0)%nat; assumption).
  destruct (small_value_number h Hfits) as [Hsum Hnumber].
  apply (tag_of_number r); [exact Hsum|]. rewrite Hnumber.
  apply congruent_trans with (horner (clamp r) 0 (bs ++ if (length rest =? 0)%nat then [] else [rest])).
  { unfold polynomial. rewrite blocks_of_full by assumption. apply horner_mod. exists 0. ring. }
  rewrite horner_app. unfold h. destruct (length rest =? 0)%nat; assumption.
Qed.
