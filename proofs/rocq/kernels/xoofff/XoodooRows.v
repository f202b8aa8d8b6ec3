(** * XoodooRows: what XoodooRounds.v computes on planes is Xoofff *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx ArxRounds ChaChaRows XoodooRounds.
From Veriplex Require ChaCha Xoodoo Xoofff.
Import ListNotations.
Local Open Scope N_scope.

Local Notation rotate_word := ChaCha.rotate_word.
Local Opaque ChaCha.rotate_word.

(** ** Words *)

Lemma word_bits a b : (forall i, 32 <= i -> N.testbit a i = false) -> b = a mod 2 ^ 32 -> a = b.
Proof.
  intros H ->; apply N.bits_inj; intro i; destruct (N.lt_ge_cases i 32) as [L|L].
  - rewrite N.mod_pow2_bits_low by exact L; reflexivity.
  - rewrite N.mod_pow2_bits_high, H by exact L; reflexivity.
Qed.

Lemma word_high a i : a < 2 ^ 32 -> 32 <= i -> N.testbit a i = false.
Proof. intros A L; rewrite <- (N.mod_small a (2 ^ 32) A); apply N.mod_pow2_bits_high, L. Qed.

Lemma word_small a : (forall i, 32 <= i -> N.testbit a i = false) -> a < 2 ^ 32.
Proof. intro H; rewrite (word_bits a _ H eq_refl); apply N.mod_lt; discriminate. Qed.

Lemma word_ldiff a b : a < 2 ^ 32 -> N.ldiff a b < 2 ^ 32.
Proof. intro A; apply word_small; intros i L; rewrite N.ldiff_spec, (word_high a i A L); reflexivity. Qed.

Lemma word_land a b : a < 2 ^ 32 -> N.land a b < 2 ^ 32.
Proof. intro A; apply word_small; intros i L; rewrite N.land_spec, (word_high a i A L); reflexivity. Qed.

Lemma rotate_0 a : a < 2 ^ 32 -> rotate_word a 0 = a.
Proof.
  intro A; rewrite <- rotate_is by (assumption || lia); change (2 ^ (32 - 0)) with (2 ^ 32).
  rewrite N.div_small, N.lxor_0_l, N.mul_1_r by exact A; apply N.mod_small, A.
Qed.

Lemma word_shift a k : a * 2 ^ k mod 2 ^ 32 < 2 ^ 32.
Proof. apply N.mod_lt; discriminate. Qed.

(** ** Planes *)

Lemma and_not_4 a b c d e f g h : and_not (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) =
  in_lanes 4 [N.ldiff e a; N.ldiff f b; N.ldiff g c; N.ldiff h d].
Proof.
  unfold and_not; change (ones 16) with (ones 4 ++ ones 4 ++ ones 4 ++ ones 4 ++ []); cbn [in_lanes flat_map].
  rewrite !xor_apart by (rewrite little_endian_length; reflexivity).
  rewrite !and_app, !inverted_and_little_endian by (rewrite AES.xor_length, !little_endian_length; reflexivity).
  reflexivity.
Qed.

Lemma and_4 a b c d e f g h : and_bytes (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) =
  in_lanes 4 [N.land a e; N.land b f; N.land c g; N.land d h].
Proof.
  cbn [in_lanes flat_map]; rewrite !app_nil_r, !and_app, !and_little_endian by (rewrite !little_endian_length; reflexivity).
  reflexivity.
Qed.

Lemma turn_12 a b c d : turn 12 (in_lanes 4 [a; b; c; d]) = in_lanes 4 [d; a; b; c].
Proof. reflexivity. Qed.

Lemma turn_8 a b c d : turn 8 (in_lanes 4 [a; b; c; d]) = in_lanes 4 [c; d; a; b].
Proof. reflexivity. Qed.

Lemma shift_13 a b c d : a < 2 ^ 32 -> b < 2 ^ 32 -> c < 2 ^ 32 -> d < 2 ^ 32 ->
  shift_left 4 13 (in_lanes 4 [a; b; c; d]) =
  in_lanes 4 [a * 2 ^ 13 mod 2 ^ 32; b * 2 ^ 13 mod 2 ^ 32; c * 2 ^ 13 mod 2 ^ 32; d * 2 ^ 13 mod 2 ^ 32].
Proof.
  intros A B C D; rewrite shift_left_is, lanes_in_lanes by discriminate; cbn [map].
  change (256 ^ N.of_nat 4) with (2 ^ 32); rewrite !(N.mod_small _ (2 ^ 32)) by assumption.
  apply in_lanes_eq; cbn [map]; change (256 ^ N.of_nat 4) with (2 ^ 32); rewrite !N.mod_mod by discriminate; reflexivity.
Qed.

(** A state of planes of words. *)
Definition state_ok (a : list (list N)) : Prop :=
  length a = 3%nat /\ Forall (fun p => length p = 4%nat /\ small (2 ^ 32) p) a.

Definition triple_of (a : list (list N)) : triple (list byte) :=
  (in_lanes 4 (Xoodoo.plane 0 a), in_lanes 4 (Xoodoo.plane 1 a), in_lanes 4 (Xoodoo.plane 2 a)).

Ltac four x H :=
  let L := fresh "L" in let S := fresh "S" in destruct H as [L S];
  do 4 (destruct x as [|? x]; [discriminate L|]); destruct x; [|discriminate L]; clear L;
  repeat match goal with S : small _ (_ :: _) |- _ => inversion S; subst; clear S end;
  repeat match goal with S : Forall _ (_ :: _) |- _ => inversion S; subst; clear S end.

Ltac twelve a H :=
  let L := fresh "L" in let F := fresh "F" in destruct H as [L F];
  let p := fresh "p" in let q := fresh "q" in let r := fresh "r" in
  destruct a as [|p [|q [|r [|? ?]]]]; try discriminate L; clear L;
  let P := fresh "P" in let Q := fresh "Q" in let R := fresh "R" in
  pose proof (Forall_inv F) as P; pose proof (Forall_inv (Forall_inv_tail F)) as Q;
  pose proof (Forall_inv (Forall_inv_tail (Forall_inv_tail F))) as R; clear F; cbv beta in P, Q, R;
  four p P; four q Q; four r R.

Ltac word := auto 25 using word_lxor, word_rotate, word_ldiff, word_land, word_shift.

(** The rotations that occur. *)
Lemma rotated_is moves k a b c d : (k mod 8 <> 0 \/ k = 8)%nat -> (k <= 32)%nat ->
  a < 2 ^ 32 -> b < 2 ^ 32 -> c < 2 ^ 32 -> d < 2 ^ 32 ->
  rotated moves k (in_lanes 4 [a; b; c; d]) =
  in_lanes 4 [rotate_word a (N.of_nat k); rotate_word b (N.of_nat k); rotate_word c (N.of_nat k); rotate_word d (N.of_nat k)].
Proof.
  intros K K2 A B C D; unfold rotated; destruct (Nat.eqb_spec (k mod 8) 0) as [Z|_].
  - destruct K as [K|K]; [contradiction|]; subst k; destruct moves; [apply moved_4|apply rotate_4]; auto; lia.
  - rewrite andb_false_r; apply rotate_4; auto.
Qed.

Section Moves.
Variable moves : bool.

Local Ltac rotation := first [left; discriminate | right; reflexivity].

(** ** A round *)

Lemma round_is k a : k < 2 ^ 32 -> state_ok a ->
  round_planes moves (in_lanes 4 [k; 0; 0; 0]) (triple_of a) = triple_of (Xoodoo.round a k) /\ state_ok (Xoodoo.round a k).
Proof.
  intros K H; twelve a H; assert (Z : 0 < 2 ^ 32) by reflexivity.
  unfold Xoodoo.round, Xoodoo.theta; cbn [Xoodoo.plane nth].
  match goal with |- context [map (fun p => xor p ?e) _] => set (effect := e) end.
  assert (E : exists e f g h, effect = [e; f; g; h] /\ e < 2 ^ 32 /\ f < 2 ^ 32 /\ g < 2 ^ 32 /\ h < 2 ^ 32 /\
    forall p q r, p = in_lanes 4 [n; n0; n1; n2] -> q = in_lanes 4 [n3; n4; n5; n6] -> r = in_lanes 4 [n7; n8; n9; n10] ->
      let t := turn 12 (xor (xor p q) r) in xor (rotated moves 5 t) (rotated moves 14 t) = in_lanes 4 [e; f; g; h]).
  { unfold effect, Xoodoo.shift; cbn [xor Nat.sub skipn firstn app map]; do 4 eexists; split; [reflexivity|].
    do 4 (split; [word|]); intros p q r -> -> ->; cbv zeta; rewrite !xor_4, turn_12.
    rewrite !rotated_is by (rotation || lia || word); rewrite xor_4; reflexivity. }
  destruct E as (e & f & g & h & -> & ? & ? & ? & ? & E).
  unfold triple_of at 1; cbn [Xoodoo.plane nth]; unfold round_planes.
  specialize (E _ _ _ eq_refl eq_refl eq_refl); cbv zeta in E; cbv zeta; rewrite E; clear E.
  rewrite !xor_4, !N.lxor_0_r.
  cbn [map xor]; unfold Xoodoo.rho_west, Xoodoo.iota, Xoodoo.shift; cbn [Xoodoo.plane nth Nat.sub skipn firstn app map xor].
  rewrite !rotate_0, !N.lxor_0_r by word; rewrite !turn_12.
  rewrite (rotated_is _ 11) by (rotation || lia || word); change (N.of_nat 11) with 11.
  unfold Xoodoo.chi; cbn [seq map Nat.add Nat.modulo Nat.divmod fst snd Nat.sub Xoodoo.plane nth ChaCha.zip_with combine xor].
  rewrite !and_not_4, !xor_4, turn_8.
  rewrite (rotated_is _ 1), (rotated_is _ 8) by (rotation || lia || word).
  unfold Xoodoo.rho_east, Xoodoo.shift, triple_of; cbn [Xoodoo.plane nth Nat.sub skipn firstn app map].
  split; [reflexivity|]; split; [reflexivity|]; repeat constructor; word.
Qed.

Lemma rounds_are ks : Forall (fun k => k < 2 ^ 32) ks -> forall a, state_ok a ->
  fold_left (fun x k => round_planes moves k x) (map (fun k => in_lanes 4 [k; 0; 0; 0]) ks) (triple_of a) =
  triple_of (fold_left Xoodoo.round ks a) /\ state_ok (fold_left Xoodoo.round ks a).
Proof.
  induction 1 as [|k ks K _ IH]; intros a H; cbn [map fold_left]; [auto|].
  destruct (round_is k a K H) as [E O]; rewrite E; apply IH, O.
Qed.

(** ** States as bytes *)

Definition is_block (x : list byte) : Prop := length x = 48%nat /\ small 256 x.

Lemma planes_are x : is_block x -> state_ok (Xoodoo.planes x) /\ triple_of (Xoodoo.planes x) = state_at 0 x /\
  Xoodoo.bytes (Xoodoo.planes x) = x.
Proof.
  intros [L S]; destruct (le_word_bytes_is 12 x L S) as (E & F & G); unfold Xoodoo.planes.
  set (y := ChaCha.le_words 12 x) in *; clearbody y.
  enough (H : state_ok (split 4 3 y) /\ triple_of (split 4 3 y) = state_at 0 (in_lanes 4 y) /\
    Xoodoo.bytes (split 4 3 y) = in_lanes 4 y) by (rewrite E in H; exact H).
  clear E L S x.
  do 12 (destruct y as [|? y]; [discriminate F|]); destruct y; [|discriminate F]; clear F.
  cbn [split firstn skipn]; split; [|split; reflexivity].
  unfold small in G; split; [reflexivity|].
  repeat match goal with G : Forall _ (_ :: _) |- _ => inversion G; subst; clear G end; repeat constructor; assumption.
Qed.

Lemma bytes_are a : state_ok a -> is_block (Xoodoo.bytes a) /\ Xoodoo.planes (Xoodoo.bytes a) = a /\
  Xoodoo.bytes a = joined (triple_of a) /\ state_at 0 (Xoodoo.bytes a) = triple_of a.
Proof.
  intro H.
  assert (B : is_block (Xoodoo.bytes a)).
  { split; [|apply (in_lanes_small 4 (concat a))].
    change (Xoodoo.bytes a) with (in_lanes 4 (concat a)); rewrite in_lanes_length; twelve a H; reflexivity. }
  split; [exact B|]; twelve a H; split; [|split; reflexivity].
  unfold Xoodoo.planes, Xoodoo.bytes, ChaCha.le_words.
  change (ChaCha.le_word_bytes ?l) with (in_lanes 4 l); cbn [concat app].
  rewrite (split_in_lanes 4 [n; n0; n1; n2; n3; n4; n5; n6; n7; n8; n9; n10] : split 4 12 _ = _), map_map.
  assert (E : forall b, b < 2 ^ 32 -> ChaCha.le_number (little_endian 4 b) = b).
  { intros b Q; rewrite le_number_is, lane_number_le; apply N.mod_small, Q. }
  cbn [map split firstn skipn]; rewrite !E by assumption; reflexivity.
Qed.

Variable T : known_planes.

Hypothesis CONSTANTS : constants_of T = map (fun k => in_lanes 4 [k; 0; 0; 0]) (skipn 6 Xoodoo.round_constants).
Hypothesis SEVENS : sevens T = in_lanes 4 [7; 7; 7; 7].

Lemma p_is x : is_block x -> permute_planes moves T (state_at 0 x) = state_at 0 (Xoofff.p x) /\ is_block (Xoofff.p x).
Proof.
  intro B; destruct (planes_are x B) as (O & E & _); unfold permute_planes; rewrite CONSTANTS, <- E.
  destruct (rounds_are (skipn 6 Xoodoo.round_constants) ltac:(repeat constructor) _ O) as [F G]; rewrite F.
  destruct (bytes_are _ G) as (H & _ & _ & J); split; [symmetry; exact J|exact H].
Qed.

(** ** Rolls *)

Definition new_word (q : sequence) (a b c : N) : N :=
  match q with
  | Masks => N.lxor (N.lxor a (a * 2 ^ 13 mod 2 ^ 32)) (rotate_word b 3)
  | Outputs => N.lxor (N.lxor (N.lxor (N.land b c) (rotate_word a 5)) (rotate_word b 13)) 7
  end.

Definition rolled (q : sequence) (x : list byte) : list byte :=
  match q with Masks => Xoofff.roll_c x | Outputs => Xoofff.roll_e x end.

(** A roll on planes. *)
Definition rolled_planes (q : sequence) (a : list (list N)) : list (list N) :=
  [Xoodoo.plane 1 a; Xoodoo.plane 2 a;
   tl (Xoodoo.plane 0 a) ++ [new_word q (Xoofff.first_word 0 a) (Xoofff.first_word 1 a) (Xoofff.first_word 2 a)]].

Lemma new_word_small q a b c : a < 2 ^ 32 -> b < 2 ^ 32 -> c < 2 ^ 32 -> new_word q a b c < 2 ^ 32.
Proof.
  assert (S : 7 < 2 ^ 32) by reflexivity; intros; destruct q; unfold new_word; word.
Qed.

Lemma rolled_ok q a : state_ok a -> state_ok (rolled_planes q a).
Proof.
  intro H; twelve a H; unfold rolled_planes, Xoofff.first_word; cbn [Xoodoo.plane nth tl app].
  split; [reflexivity|]; repeat constructor; auto using new_word_small.
Qed.

Lemma iter_ok q a i : state_ok a -> state_ok (Nat.iter i (rolled_planes q) a).
Proof. intro H; induction i as [|i IH]; [exact H|exact (rolled_ok q _ IH)]. Qed.

Lemma rolled_is q x : is_block x -> rolled q x = Xoodoo.bytes (rolled_planes q (Xoodoo.planes x)).
Proof. intro B; destruct q; reflexivity. Qed.

Lemma iter_is q x i : is_block x ->
  Nat.iter i (rolled q) x = Xoodoo.bytes (Nat.iter i (rolled_planes q) (Xoodoo.planes x)) /\ is_block (Nat.iter i (rolled q) x).
Proof.
  intro B; destruct (planes_are x B) as (O & _ & E); induction i as [|i [IH IB]]; [split; [symmetry; exact E|exact B]|].
  pose proof (iter_ok q _ i O) as P; pose proof (iter_ok q _ (S i) O) as P1.
  destruct (bytes_are _ P) as (_ & PB & _); destruct (bytes_are _ P1) as (B1 & _).
  change (Nat.iter (S i) (rolled q) x) with (rolled q (Nat.iter i (rolled q) x)).
  rewrite (rolled_is q _ IB), IH, PB; split; [reflexivity|exact B1].
Qed.

Lemma new_words_are q a b c d e f g h i j k l :
  a < 2 ^ 32 -> b < 2 ^ 32 -> c < 2 ^ 32 -> d < 2 ^ 32 -> e < 2 ^ 32 -> f < 2 ^ 32 -> g < 2 ^ 32 -> h < 2 ^ 32 ->
  i < 2 ^ 32 -> j < 2 ^ 32 -> k < 2 ^ 32 -> l < 2 ^ 32 ->
  new_words moves T q (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) (in_lanes 4 [i; j; k; l]) =
  in_lanes 4 [new_word q a e i; new_word q b f j; new_word q c g k; new_word q d h l].
Proof.
  assert (M : forall x y z, N.lxor (N.lxor x y) z = N.lxor (N.lxor y z) x) by (intros; rewrite N.lxor_assoc; apply N.lxor_comm).
  intros; destruct q; unfold new_words, new_word.
  - rewrite (rotated_is _ 3), shift_13, !xor_4 by (rotation || lia || assumption); change (N.of_nat 3) with 3.
    rewrite !(M (rotate_word _ _)); reflexivity.
  - rewrite (rotated_is _ 5), (rotated_is _ 13), and_4, SEVENS, !xor_4 by (rotation || lia || assumption).
    change (N.of_nat 5) with 5; change (N.of_nat 13) with 13.
    rewrite <- !(M (N.land _ _)); reflexivity.
Qed.

Local Opaque new_word.

(** The planes of the states in a row. *)
Lemma planes_roll q a i : (i <= 9)%nat -> state_ok a ->
  planes_at (triple_of a) (all_words moves T q (triple_of a)) i = triple_of (Nat.iter i (rolled_planes q) a).
Proof.
  intros I H; twelve a H; unfold triple_of at 1 2; cbn [Xoodoo.plane nth]; unfold all_words.
  assert (L1 : forall a b c d e f g h, later 1 (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) = in_lanes 4 [b; c; d; e])
    by reflexivity.
  pose proof (new_word_small q) as NW.
  rewrite !new_words_are, !L1 by (auto 25); rewrite !new_words_are, !L1 by (auto 25); rewrite !new_words_are by (auto 25).
  do 10 (destruct i as [|i]; [reflexivity|]); lia.
Qed.

Lemma states_roll q x i : (i <= 9)%nat -> is_block x ->
  planes_at (state_at 0 x) (all_words moves T q (state_at 0 x)) i = state_at 0 (Nat.iter i (rolled q) x).
Proof.
  intros I B; destruct (planes_are x B) as (O & E & _); rewrite <- E, (planes_roll q _ i I O).
  destruct (iter_is q x i B) as [F _]; rewrite F; symmetry; apply bytes_are, iter_ok, O.
Qed.

(** ** Blocks *)

Lemma xor_firstn n : forall x y, firstn n (xor x y) = xor (firstn n x) (firstn n y).
Proof. induction n as [|n IH]; intros [|a x] [|b y]; cbn [firstn xor]; try reflexivity; rewrite IH; reflexivity. Qed.

Lemma xor_nil x : xor x [] = [].
Proof. destruct x; reflexivity. Qed.

Lemma xor_skipn n : forall x y, skipn n (xor x y) = xor (skipn n x) (skipn n y).
Proof.
  induction n as [|n IH]; intros [|a x] [|b y]; cbn [skipn xor]; try reflexivity; try apply IH.
  symmetry; apply xor_nil.
Qed.

Lemma xor_states i x y : xor_triple (state_at i x) (state_at i y) = state_at i (xor x y).
Proof. unfold state_at, xor_triple, row; rewrite !xor_skipn, !xor_firstn; reflexivity. Qed.

Lemma xor_small x y : small 256 x -> small 256 y -> small 256 (xor x y).
Proof.
  unfold small; intro X; revert y; induction X as [|a x A _ IH]; intros y Y; [constructor|].
  destruct Y as [|b y B Y]; cbn [xor]; constructor; [|exact (IH y Y)].
  change 256 with (2 ^ 8) in *; rewrite <- (N.mod_small a (2 ^ 8) A), <- (N.mod_small b (2 ^ 8) B), <- lxor_mod.
  apply N.mod_lt; discriminate.
Qed.

Lemma xor_blocks x y : is_block x -> is_block y -> is_block (xor x y).
Proof. intros [L S] [M R]; split; [rewrite AES.xor_length; lia|apply xor_small; assumption]. Qed.

Lemma joined_state (x : list byte) : length x = 48%nat -> joined (state_at 0 x) = x.
Proof.
  intro L; unfold joined, state_at, row; cbn [Nat.mul Nat.add]; rewrite skipn_O.
  rewrite <- (firstn_skipn 16 x) at 4; f_equal.
  rewrite <- (firstn_skipn 16 (skipn 16 x)) at 2; f_equal; rewrite skipn_twice; cbn [Nat.add].
  apply firstn_all2; rewrite skipn_length; lia.
Qed.

(** Block i of several. *)
Definition nth_block (i : nat) (x : list byte) : list byte := firstn 48 (skipn (48 * i) x).

Lemma firstn_part {A} (m n : nat) : forall x : list A, (m <= n)%nat -> firstn m (firstn n x) = firstn m x.
Proof. intros x L; rewrite firstn_firstn; f_equal; lia. Qed.

Lemma row_of_block {A} i j (x : list A) : (j < 3)%nat -> row (3 * i + j) x = row j (firstn 48 (skipn (48 * i) x)).
Proof.
  intro J; unfold row; rewrite skipn_firstn_comm, skipn_twice, firstn_part by lia.
  f_equal; f_equal; lia.
Qed.

Lemma state_of_block i x : state_at i x = state_at 0 (nth_block i x).
Proof.
  unfold state_at, nth_block; rewrite !(row_of_block i) by lia.
  replace (3 * i)%nat with (3 * i + 0)%nat by lia; rewrite (row_of_block i 0) by lia; reflexivity.
Qed.

Lemma nth_block_is k x i : (i < k)%nat -> length x = (48 * k)%nat -> small 256 x -> is_block (nth_block i x).
Proof.
  intros I L S; split; unfold nth_block; [rewrite firstn_length, skipn_length; lia|].
  unfold small in *; rewrite <- (firstn_skipn (48 * i) x) in S; apply Forall_app in S as [_ S].
  rewrite <- (firstn_skipn 48 (skipn (48 * i) x)) in S; apply Forall_app in S; apply S.
Qed.

Lemma split_blocks_from k : forall i x, split 48 k (skipn (48 * i) x) = map (fun j => nth_block j x) (seq i k).
Proof.
  induction k as [|k IH]; intros i x; cbn [split seq map]; [reflexivity|]; f_equal.
  rewrite skipn_twice, <- IH; do 2 f_equal; lia.
Qed.

Lemma iter_next {A} (f : A -> A) i x : f (Nat.iter i f x) = Nat.iter (S i) f x.
Proof. reflexivity. Qed.

(** Accumulator and mask, as they are in memory. *)
Definition deck_of (s : list byte) : Xoofff.deck := Xoofff.Deck (nth_block 0 s) (nth_block 1 s).
Definition bytes_of (d : Xoofff.deck) : list byte := Xoofff.acc d ++ Xoofff.mask d.

Definition deck_ok (d : Xoofff.deck) : Prop := is_block (Xoofff.acc d) /\ is_block (Xoofff.mask d).

Lemma absorb_sum_is m input k : forall i acc, (i + k <= 8)%nat -> is_block m -> is_block acc ->
  length input = (48 * (i + k))%nat -> small 256 input ->
  let d := Xoofff.absorb_blocks (Xoofff.Deck acc (Nat.iter i Xoofff.roll_c m)) (split 48 k (skipn (48 * i) input)) in
  absorb_sum moves T (state_at 0 m) (all_words moves T Masks (state_at 0 m)) input k i (state_at 0 acc) =
    state_at 0 (Xoofff.acc d) /\ is_block (Xoofff.acc d) /\ Xoofff.mask d = Nat.iter (i + k) Xoofff.roll_c m.
Proof.
  induction k as [|k IH]; intros i acc K M A L SM; cbn [absorb_sum split Xoofff.absorb_blocks fold_left].
  - cbn [Xoofff.acc Xoofff.mask]; rewrite Nat.add_0_r; auto.
  - cbn zeta; rewrite (state_of_block i input), (states_roll Masks) by (assumption || lia).
    rewrite xor_states.
    pose proof (nth_block_is (i + S k) input i ltac:(lia) L SM) as BI.
    destruct (iter_is Masks m i M) as [_ MI]; change (rolled Masks) with Xoofff.roll_c in *.
    destruct (p_is _ (xor_blocks _ _ BI MI)) as [P PB]; rewrite P, xor_states.
    unfold Xoofff.absorb_block; cbn [Xoofff.acc Xoofff.mask]; rewrite iter_next, skipn_twice.
    replace (48 * i + 48)%nat with (48 * S i)%nat by lia.
    replace (i + S k)%nat with (S i + k)%nat in * by lia.
    exact (IH (S i) (xor acc (Xoofff.p (xor (nth_block i input) (Nat.iter i Xoofff.roll_c m)))) K M
      (xor_blocks _ _ A PB) L SM).
Qed.

Lemma absorb_lanes_is k s input : (k <= 8)%nat -> length s = 96%nat -> small 256 s ->
  length input = (48 * k)%nat -> small 256 input ->
  absorb_lanes moves T k s input = bytes_of (Xoofff.absorb_blocks (deck_of s) (split 48 k input)) /\
  deck_ok (Xoofff.absorb_blocks (deck_of s) (split 48 k input)).
Proof.
  intros K L S LI SI; unfold absorb_lanes.
  pose proof (nth_block_is 2 s 0 ltac:(lia) L S) as B0; pose proof (nth_block_is 2 s 1 ltac:(lia) L S) as B1.
  rewrite (state_of_block 1 s), (state_of_block 0 s).
  destruct (absorb_sum_is (nth_block 1 s) input k 0 (nth_block 0 s) K B1 B0 LI SI) as (E & A & M).
  rewrite skipn_O in E, A, M; cbn [Nat.iter nat_rect Nat.add] in E, A, M; change (48 * 0)%nat with 0%nat in *; rewrite ?skipn_O in *.
  fold (deck_of s) in E, A, M; rewrite E, (states_roll Masks) by (assumption || lia); unfold bytes_of.
  destruct (iter_is Masks (nth_block 1 s) k B1) as [_ MI]; change (rolled Masks) with Xoofff.roll_c in *; rewrite M.
  rewrite !joined_state by (apply A || apply MI); split; [reflexivity|]; split; [exact A|rewrite M; exact MI].
Qed.

Lemma squeeze_all_is m y k : forall i, (i + k <= 8)%nat -> is_block m -> is_block y ->
  let r := Xoofff.squeeze_blocks m (Nat.iter i Xoofff.roll_e y) k in
  squeeze_all moves T (state_at 0 m) (state_at 0 y) (all_words moves T Outputs (state_at 0 y)) k i = concat (snd r) /\
  fst r = Nat.iter (i + k) Xoofff.roll_e y.
Proof.
  induction k as [|k IH]; intros i K M Y; cbn [squeeze_all Xoofff.squeeze_blocks].
  - cbn [fst snd concat]; rewrite Nat.add_0_r; auto.
  - rewrite (states_roll Outputs) by (assumption || lia).
    destruct (iter_is Outputs y i Y) as [_ YI]; change (rolled Outputs) with Xoofff.roll_e in *.
    destruct (p_is _ YI) as [P PB]; rewrite P, xor_states, joined_state by apply (xor_blocks _ _ PB M).
    rewrite iter_next; destruct (IH (S i) ltac:(lia) M Y) as [E F].
    destruct (Xoofff.squeeze_blocks m (Nat.iter (S i) Xoofff.roll_e y) k) as [last blocks]; cbn [fst snd concat] in *.
    rewrite E, F; split; [reflexivity|]; f_equal; lia.
Qed.

Lemma squeeze_lanes_is k s : (k <= 8)%nat -> length s = 96%nat -> small 256 s ->
  squeeze_lanes moves T k s =
  (let r := Xoofff.squeeze_blocks (nth_block 0 s) (nth_block 1 s) k in (nth_block 0 s ++ fst r, concat (snd r))) /\
  is_block (fst (Xoofff.squeeze_blocks (nth_block 0 s) (nth_block 1 s) k)).
Proof.
  intros K L S; unfold squeeze_lanes.
  pose proof (nth_block_is 2 s 0 ltac:(lia) L S) as B0; pose proof (nth_block_is 2 s 1 ltac:(lia) L S) as B1.
  rewrite (state_of_block 1 s), (state_of_block 0 s).
  destruct (squeeze_all_is (nth_block 0 s) (nth_block 1 s) k 0 K B0 B1) as [E F]; cbn [Nat.iter nat_rect Nat.add] in E, F.
  rewrite E, (states_roll Outputs) by (assumption || lia).
  destruct (iter_is Outputs (nth_block 1 s) k B1) as [_ YI]; change (rolled Outputs) with Xoofff.roll_e in *.
  rewrite !joined_state by (apply B0 || apply YI); cbv zeta; rewrite F; split; [reflexivity|exact YI].
Qed.

(** ** Any number of blocks *)

Lemma roll_e_block y : is_block y -> is_block (Xoofff.roll_e y).
Proof. intro Y; exact (proj2 (iter_is Outputs y 1 Y)). Qed.

Lemma squeeze_blocks_ok m n : forall y, is_block m -> is_block y -> is_block (fst (Xoofff.squeeze_blocks m y n)) /\
  length (snd (Xoofff.squeeze_blocks m y n)) = n /\ Forall is_block (snd (Xoofff.squeeze_blocks m y n)).
Proof.
  induction n as [|n IH]; intros y M Y; cbn [Xoofff.squeeze_blocks]; [cbn [fst snd length]; auto|].
  destruct (IH _ M (roll_e_block y Y)) as (A & B & C).
  destruct (Xoofff.squeeze_blocks m (Xoofff.roll_e y) n) as [last blocks]; cbn [fst snd length] in *.
  split; [exact A|]; split; [congruence|]; constructor; [apply xor_blocks; [apply p_is, Y|exact M]|exact C].
Qed.

Lemma squeeze_blocks_more m a b : forall y, Xoofff.squeeze_blocks m y (a + b) =
  (let r := Xoofff.squeeze_blocks m y a in let t := Xoofff.squeeze_blocks m (fst r) b in (fst t, snd r ++ snd t)).
Proof.
  induction a as [|a IH]; intro y; cbn [Nat.add Xoofff.squeeze_blocks fst snd app].
  - destruct (Xoofff.squeeze_blocks m y b); reflexivity.
  - rewrite IH; destruct (Xoofff.squeeze_blocks m (Xoofff.roll_e y) a) as [last blocks]; cbn [fst snd app].
    destruct (Xoofff.squeeze_blocks m last b); reflexivity.
Qed.

Lemma absorb_blocks_more d x y : Xoofff.absorb_blocks d (x ++ y) = Xoofff.absorb_blocks (Xoofff.absorb_blocks d x) y.
Proof. apply fold_left_app. Qed.

Lemma two_blocks x y : is_block x -> is_block y -> nth_block 0 (x ++ y) = x /\ nth_block 1 (x ++ y) = y /\
  length (x ++ y) = 96%nat /\ small 256 (x ++ y).
Proof.
  intros [L S] [M R]; unfold nth_block; change (48 * 0)%nat with 0%nat; change (48 * 1)%nat with 48%nat; rewrite skipn_O.
  rewrite firstn_app, skipn_app, L, Nat.sub_diag, firstn_O, app_nil_r, skipn_O, firstn_all2, skipn_all2 by lia.
  split; [reflexivity|]; split; [cbn [app]; apply firstn_all2; lia|]; split; [rewrite app_length; lia|].
  apply Forall_app; split; assumption.
Qed.

Lemma deck_again d : deck_ok d -> deck_of (bytes_of d) = d /\ length (bytes_of d) = 96%nat /\ small 256 (bytes_of d).
Proof.
  intros [A M]; destruct d as [acc mask]; unfold deck_of, bytes_of; cbn [Xoofff.acc Xoofff.mask] in *.
  destruct (two_blocks acc mask A M) as (-> & -> & H); split; [reflexivity|exact H].
Qed.

Lemma split_concat_48 k : forall l, length l = k -> Forall is_block l -> split 48 k (concat l) = l.
Proof.
  induction k as [|k IH]; intros [|c l] L F; cbn [length] in L; try discriminate; [reflexivity|].
  inversion F as [|? ? [C _] G]; subst; cbn [concat split].
  rewrite firstn_app, skipn_app, C, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
  rewrite firstn_all2, skipn_all2 by lia; cbn [app]; f_equal; apply IH; [congruence|exact G].
Qed.

(** ** Eight states, of which one plane more is carried *)

Lemma later_0 {A} (p w : list A) : later 0 p w = p.
Proof. unfold later; cbn [Nat.mul skipn firstn]; apply app_nil_r. Qed.

Lemma ahead_states_are (p w : triple (list byte)) : let '(a, b, c) := p in
  ahead_states p (plane_at p w 3) w (snd (fst w)) = map (planes_at p w) (seq 0 8).
Proof.
  destruct p as [[a b] c], w as [[w0 w1] w2]; cbn [seq map fst snd]; unfold ahead_states, planes_at; cbn [fst snd].
  assert (E : forall i, (i < 3)%nat -> plane_at (a, b, c) (w0, w1, w2) i = nth i [a; b; c] []).
  { intros i L; do 3 (destruct i as [|i]; [apply later_0|]); lia. }
  change (0 + 1)%nat with 1%nat; change (0 + 2)%nat with 2%nat; change (1 + 1)%nat with 2%nat.
  rewrite !(E 0%nat), !(E 1%nat), !(E 2%nat) by lia; reflexivity.
Qed.

Lemma permuted_blocks_are mask p w k : forall i,
  permuted_blocks moves T mask (map (planes_at p w) (seq i k)) = squeeze_all moves T mask p w k i.
Proof. induction k as [|k IH]; intro i; [reflexivity|]; cbn [seq map squeeze_all]; rewrite <- IH; reflexivity. Qed.

Lemma states_ahead (s d : list byte) : length s = 96%nat -> length d = 16%nat ->
  state_at 0 (s ++ d) = state_at 0 s /\ state_at 1 (s ++ d) = state_at 1 s /\ row 6 (s ++ d) = d.
Proof.
  intros L M.
  assert (R : forall i, (i < 6)%nat -> row i (s ++ d) = row i s).
  { intros i I; unfold row; rewrite skipn_app, firstn_app, skipn_length.
    replace (16 - (length s - 16 * i))%nat with 0%nat by lia; rewrite firstn_O; apply app_nil_r. }
  unfold state_at; cbn [Nat.mul Nat.add]; rewrite !R by lia; split; [reflexivity|]; split; [reflexivity|].
  unfold row; rewrite skipn_app, skipn_all2 by lia; replace (16 * 6 - length s)%nat with 0%nat by lia; cbn [app skipn].
  apply firstn_all2; lia.
Qed.

Lemma plane_ahead y : is_block y -> let '(a, b, c) := state_at 0 y in
  later 1 a (new_words moves T Outputs a b c) = row 2 (Xoofff.roll_e y).
Proof.
  intro Y; pose proof (states_roll Outputs y 1 ltac:(lia) Y) as R; cbn [Nat.iter nat_rect] in R.
  change (rolled Outputs y) with (Xoofff.roll_e y) in R.
  destruct (state_at 0 y) as [[a b] c]; exact (f_equal (fun t => snd t) R).
Qed.

Lemma squeeze_ahead_is s : length s = 96%nat -> small 256 s ->
  let r := squeeze_lanes moves T 8 s in squeeze_ahead moves T (ahead moves T s) = (ahead moves T (fst r), snd r).
Proof.
  intros L S; pose proof (nth_block_is 2 s 0 ltac:(lia) L S) as B0; pose proof (nth_block_is 2 s 1 ltac:(lia) L S) as B1.
  set (y := nth_block 1 s) in *; assert (SY : state_at 1 s = state_at 0 y) by apply state_of_block.
  assert (AH : forall t z, state_at 1 t = state_at 0 z -> is_block z -> ahead moves T t = t ++ row 2 (Xoofff.roll_e z)).
  { intros t z E Z; unfold ahead; rewrite E; pose proof (plane_ahead z Z) as P; destruct (state_at 0 z) as [[a b] c].
    rewrite P; reflexivity. }
  assert (RL : forall z, is_block z -> length (row 2 (Xoofff.roll_e z)) = 16%nat).
  { intros z Z; apply row_length; rewrite (proj1 (roll_e_block z Z)); lia. }
  rewrite (AH s y SY B1); unfold squeeze_ahead.
  destruct (states_ahead s _ L (RL y B1)) as (-> & -> & ->).
  pose proof (plane_ahead y B1) as P; unfold squeeze_lanes; cbn [fst snd]; rewrite SY.
  pose proof (states_roll Outputs y 8 ltac:(lia) B1) as R8; pose proof (states_roll Outputs y 9 ltac:(lia) B1) as R9.
  destruct (state_at 0 y) as [[a b] c] eqn:E; unfold ahead_words; rewrite <- P.
  set (w := all_words moves T Outputs (a, b, c)) in *.
  change (new_words moves T Outputs a b c) with (fst (fst w)).
  change (new_words moves T Outputs b c (later 1 a (fst (fst w)))) with (snd (fst w)).
  change (new_words moves T Outputs c (later 1 a (fst (fst w))) (later 1 b (snd (fst w)))) with (snd w).
  rewrite <- !surjective_pairing; change (later 1 a (fst (fst w))) with (plane_at (a, b, c) (fst (fst w), snd (fst w), snd w) 3).
  rewrite <- !surjective_pairing, (ahead_states_are (a, b, c) w), permuted_blocks_are; f_equal.
  destruct (iter_is Outputs y 8 B1) as [_ Y8]; change (rolled Outputs) with Xoofff.roll_e in *.
  rewrite R8, (joined_state (Nat.iter 8 Xoofff.roll_e y)) by apply Y8.
  assert (J : length (joined (state_at 0 s)) = 48%nat).
  { unfold joined, state_at; rewrite !app_length, !row_length by lia; reflexivity. }
  rewrite (AH _ (Nat.iter 8 Xoofff.roll_e y)); [|clear - J Y8|exact Y8].
  - rewrite <- app_assoc; do 2 f_equal; exact (f_equal (fun t => snd t) R9).
  - rewrite state_of_block; f_equal; unfold nth_block; change (48 * 1)%nat with 48%nat.
    rewrite skipn_app, J, skipn_all2 by lia; rewrite Nat.sub_diag, skipn_O; cbn [app]; apply firstn_all2; rewrite (proj1 Y8); lia.
Qed.
End Moves.
