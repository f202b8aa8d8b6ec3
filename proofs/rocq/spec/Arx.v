(** * Arx: strings of bytes as lanes, which hold numbers in little-endian order: sums and shifts *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024.
Import ListNotations.
Local Open Scope N_scope.

Fixpoint lane_number (x : list byte) : N :=
  match x with [] => 0 | b :: x => b + 256 * lane_number x end.

(** The numbers in lanes of w bytes: below 2^(8 w), whatever the bytes are. *)
Definition lanes (w : nat) (x : list byte) : list N :=
  map (fun l => N.land (lane_number l) (N.ones (8 * N.of_nat w))) (split w (length x / w) x).

(** Lanes with these numbers, of which each keeps what fits. *)
Definition in_lanes (w : nat) (numbers : list N) : list byte := flat_map (little_endian w) numbers.

Definition plus_lanes (w : nat) (x y : list byte) : list byte :=
  in_lanes w (map (fun ab => fst ab + snd ab) (combine (lanes w x) (lanes w y))).

Definition shift_left (w k : nat) (x : list byte) : list byte :=
  in_lanes w (map (fun a => N.shiftl a (N.of_nat k)) (lanes w x)).

Definition shift_right (w k : nat) (x : list byte) : list byte :=
  in_lanes w (map (fun a => N.shiftr a (N.of_nat k)) (lanes w x)).

(** Products of lanes of w bytes, in lanes of twice that. *)
Definition times_lanes (w : nat) (x y : list byte) : list byte :=
  in_lanes (2 * w) (map (fun ab => fst ab * snd ab) (combine (lanes w x) (lanes w y))).

(** Products of the lower 52 bits of lanes of 8 bytes, of which the lower or the upper 52 bits. *)
Definition times_52 (high : bool) (x y : list byte) : list byte :=
  in_lanes 8 (map (fun ab => let product := N.land (fst ab) (N.ones 52) * N.land (snd ab) (N.ones 52) in
    if high then N.shiftr product 52 else N.land product (N.ones 52)) (combine (lanes 8 x) (lanes 8 y))).

(** Byte by byte. *)
Fixpoint or_bytes (x y : list byte) : list byte :=
  match x, y with
  | a :: x, b :: y => N.lor a b :: or_bytes x y
  | _, _ => []
  end.

Fixpoint and_bytes (x y : list byte) : list byte :=
  match x, y with
  | a :: x, b :: y => N.land a b :: and_bytes x y
  | _, _ => []
  end.

(** XOR with these inverts n bytes. *)
Definition ones (n : nat) : list byte := repeat 0xff n.

(** Bytes of 16, chosen by the lower half of each byte of another string; zero if its upper bit is set. *)
Definition shuffle_16 (x choice : list byte) : list byte :=
  map (fun i => if N.testbit i 7 then 0 else nth (N.to_nat (i mod 16)) x 0) choice.

(** The same in each 16 bytes. *)
Definition shuffle (x choice : list byte) : list byte :=
  let k := (length choice / 16)%nat in
  flat_map (fun xc => shuffle_16 (fst xc) (snd xc)) (combine (split 16 k x) (split 16 k choice)).

(** Words of 4 bytes out of sixteen, chosen by the lower bits of each word of another string. *)
Definition choose_words (x choice : list byte) : list byte :=
  flat_map (fun c => firstn 4 (skipn (4 * N.to_nat (lane_number c mod 16)) x)) (split 4 (length choice / 4) choice).

(** ** Lengths *)

Lemma in_lanes_length w l : length (in_lanes w l) = (w * length l)%nat.
Proof.
  induction l as [|a l IH]; cbn [in_lanes flat_map length]; [lia|].
  rewrite app_length, little_endian_length; unfold in_lanes in IH; rewrite IH; lia.
Qed.

Lemma split_length len n : forall x, length (split len n x) = n.
Proof. induction n as [|n IH]; intro x; cbn [split length]; auto. Qed.

Lemma lanes_mod w x : lanes w x = map (fun l => lane_number l mod 256 ^ N.of_nat w) (split w (length x / w) x).
Proof. apply map_ext; intro l; rewrite N.land_ones, N.pow_mul_r; reflexivity. Qed.

Lemma lanes_length w x : length (lanes w x) = (length x / w)%nat.
Proof. unfold lanes; now rewrite map_length, split_length. Qed.

(** The lanes that the checker knows: they fill a register of 16 bytes. *)
Definition lane_ok (w : nat) : bool := ((w =? 4) || (w =? 8))%nat.

Lemma lane_fills w n : lane_ok w = true -> n = 16%nat -> (w * (n / w) = 16 /\ w <> 0)%nat.
Proof.
  unfold lane_ok; intros H ->; apply orb_prop in H as [H|H]; apply Nat.eqb_eq in H as ->; split; reflexivity || lia.
Qed.

Lemma plus_lanes_length w x y : lane_ok w = true -> length x = 16%nat -> length y = 16%nat ->
  length (plus_lanes w x y) = 16%nat.
Proof.
  intros H X Y; unfold plus_lanes; rewrite in_lanes_length, map_length, combine_length, !lanes_length, X, Y, Nat.min_id.
  apply (lane_fills w 16 H eq_refl).
Qed.

Lemma plus_lanes_comm w : forall x y, plus_lanes w x y = plus_lanes w y x.
Proof.
  intros x y; unfold plus_lanes; f_equal; generalize (lanes w y); induction (lanes w x) as [|a l IH]; intros [|b m];
    cbn [combine map fst snd]; [reflexivity..|]; rewrite N.add_comm, IH; reflexivity.
Qed.

Lemma times_lanes_length x y : length x = 8%nat -> length y = 8%nat -> length (times_lanes 4 x y) = 16%nat.
Proof.
  intros X Y; unfold times_lanes; rewrite in_lanes_length, map_length, combine_length, !lanes_length, X, Y; reflexivity.
Qed.

Lemma times_lanes_comm w : forall x y, times_lanes w x y = times_lanes w y x.
Proof.
  intros x y; unfold times_lanes; f_equal; generalize (lanes w y); induction (lanes w x) as [|a l IH]; intros [|b m];
    cbn [combine map fst snd]; [reflexivity..|]; rewrite N.mul_comm, IH; reflexivity.
Qed.

Lemma times_52_length high x y : length x = 16%nat -> length y = 16%nat -> length (times_52 high x y) = 16%nat.
Proof.
  intros X Y; unfold times_52; rewrite in_lanes_length, map_length, combine_length, !lanes_length, X, Y; reflexivity.
Qed.

Lemma times_52_comm high : forall x y, times_52 high x y = times_52 high y x.
Proof.
  intros x y; unfold times_52; f_equal; generalize (lanes 8 y); induction (lanes 8 x) as [|a l IH]; intros [|b m];
    cbn [combine map fst snd]; [reflexivity..|]; rewrite (N.mul_comm (N.land a _)), IH; reflexivity.
Qed.

Lemma split_app w n : forall a b, length a = (w * n)%nat -> forall k, split w (n + k) (a ++ b) = split w n a ++ split w k b.
Proof.
  induction n as [|n IH]; intros a b L k; cbn [split Nat.add app].
  - destruct a; [reflexivity|cbn [length] in L; lia].
  - rewrite firstn_app, skipn_app; replace (w - length a)%nat with 0%nat by lia; rewrite firstn_O, skipn_O, app_nil_r.
    rewrite IH by (rewrite skipn_length; lia); reflexivity.
Qed.

Lemma lanes_app w n a b : w <> 0%nat -> length a = (w * n)%nat -> lanes w (a ++ b) = lanes w a ++ lanes w b.
Proof.
  intros W L; unfold lanes; rewrite app_length, L, (Nat.mul_comm w n), Nat.div_add_l, Nat.div_mul by exact W.
  rewrite split_app by exact L; apply map_app.
Qed.

(** Sums of 16 bytes, and of what follows. *)
Lemma plus_lanes_app w a b c d : lane_ok w = true -> length a = 16%nat -> length c = 16%nat ->
  plus_lanes w (a ++ b) (c ++ d) = plus_lanes w a c ++ plus_lanes w b d.
Proof.
  intros W A C; destruct (lane_fills w 16 W eq_refl) as [F NZ].
  assert (LA : length (lanes w a) = length (lanes w c)) by (rewrite !lanes_length, A, C; reflexivity).
  unfold plus_lanes; rewrite !(lanes_app w (16 / w)) by lia.
  revert LA; generalize (lanes w c) as m; induction (lanes w a) as [|x l IH]; intros [|y m] LA; cbn [length] in LA;
    try discriminate; [reflexivity|]; cbn [app combine map in_lanes flat_map fst snd]; unfold in_lanes in IH.
  rewrite IH, app_assoc by congruence; reflexivity.
Qed.

Lemma times_52_app high a b c d : length a = 16%nat -> length c = 16%nat ->
  times_52 high (a ++ b) (c ++ d) = times_52 high a c ++ times_52 high b d.
Proof.
  intros A C; assert (LA : length (lanes 8 a) = length (lanes 8 c)) by (rewrite !lanes_length, A, C; reflexivity).
  unfold times_52; rewrite !(lanes_app 8 2) by (assumption || discriminate).
  revert LA; generalize (lanes 8 c) as m; induction (lanes 8 a) as [|x l IH]; intros [|y m] LA; cbn [length] in LA;
    try discriminate; [reflexivity|]; cbn [app combine map in_lanes flat_map fst snd]; unfold in_lanes in IH.
  rewrite IH, app_assoc by congruence; reflexivity.
Qed.

Lemma shift_left_length w k x : lane_ok w = true -> length x = 16%nat -> length (shift_left w k x) = 16%nat.
Proof.
  intros H X; unfold shift_left; rewrite in_lanes_length, map_length, lanes_length, X; apply (lane_fills w 16 H eq_refl).
Qed.

Lemma shift_right_length w k x : lane_ok w = true -> length x = 16%nat -> length (shift_right w k x) = 16%nat.
Proof.
  intros H X; unfold shift_right; rewrite in_lanes_length, map_length, lanes_length, X; apply (lane_fills w 16 H eq_refl).
Qed.

(** ** Numbers *)

Lemma lane_number_le w : forall a, lane_number (little_endian w a) = a mod 256 ^ N.of_nat w.
Proof.
  induction w as [|w IH]; intro a; rewrite ?little_endian_is; cbn [little_endian lane_number].
  - rewrite N.pow_0_r, N.mod_1_r; reflexivity.
  - rewrite IH, Nat2N.inj_succ, N.pow_succ_r', N.mod_mul_r by (try apply N.pow_nonzero; lia); reflexivity.
Qed.

Lemma little_endian_mod w : forall a, little_endian w (a mod 256 ^ N.of_nat w) = little_endian w a.
Proof.
  induction w as [|w IH]; intro a; [reflexivity|]; rewrite !little_endian_is.
  rewrite Nat2N.inj_succ, N.pow_succ_r', N.mod_mul_r by (try apply N.pow_nonzero; lia).
  f_equal.
  - rewrite N.mul_comm, N.mod_add by lia; apply N.mod_mod; lia.
  - rewrite N.mul_comm, N.div_add by lia.
    rewrite N.div_small by (apply N.mod_lt; lia); cbn [N.add]; apply IH.
Qed.

Lemma split_in_lanes w l : split w (length l) (in_lanes w l) = map (little_endian w) l.
Proof.
  induction l as [|a l IH]; cbn [in_lanes flat_map length split map]; [reflexivity|].
  rewrite firstn_app, skipn_app, little_endian_length, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
  rewrite firstn_all2, skipn_all2 by (rewrite little_endian_length; lia); cbn [app]; f_equal; exact IH.
Qed.

Lemma lanes_in_lanes w l : w <> 0%nat -> lanes w (in_lanes w l) = map (fun a => a mod 256 ^ N.of_nat w) l.
Proof.
  intro W; rewrite lanes_mod, in_lanes_length, Nat.mul_comm, Nat.div_mul, split_in_lanes, map_map by assumption.
  apply map_ext; intro a; rewrite lane_number_le; apply N.mod_mod, N.pow_nonzero; lia.
Qed.

Lemma in_lanes_same {A} w (f g : A -> N) l : (forall a, In a l -> f a mod 256 ^ N.of_nat w = g a mod 256 ^ N.of_nat w) ->
  in_lanes w (map f l) = in_lanes w (map g l).
Proof.
  intro H; unfold in_lanes; induction l as [|a l IH]; cbn [map flat_map]; [reflexivity|].
  rewrite <- (little_endian_mod w (f a)), (H a), little_endian_mod by (now left); f_equal; apply IH; intros; apply H; now right.
Qed.

Lemma bits_of_bytes w : 256 ^ N.of_nat w = 2 ^ N.of_nat (8 * w).
Proof. change 256 with (2 ^ 8); rewrite <- N.pow_mul_r; f_equal; lia. Qed.

Lemma shift_left_is w k x : shift_left w k x = in_lanes w (map (fun a => a * 2 ^ N.of_nat k) (lanes w x)).
Proof. unfold shift_left; f_equal; apply map_ext; intro a; apply N.shiftl_mul_pow2. Qed.

Lemma shift_right_is w k x : shift_right w k x = in_lanes w (map (fun a => a / 2 ^ N.of_nat k) (lanes w x)).
Proof. unfold shift_right; f_equal; apply map_ext; intro a; apply N.shiftr_div_pow2. Qed.

(** What came from a shift to the left is as it was after a shift to the right and back. *)
Lemma shift_back w k x : lane_ok w = true -> (k <= 8 * w)%nat ->
  shift_left w k (shift_right w k (shift_left w k x)) = shift_left w k x.
Proof.
  intros H K; assert (W : w <> 0%nat) by (intros ->; discriminate).
  rewrite !shift_left_is, shift_right_is, !lanes_in_lanes, !map_map by assumption.
  apply in_lanes_same; intros a _; rewrite bits_of_bytes.
  set (p := 2 ^ N.of_nat k); set (q := 2 ^ N.of_nat (8 * w - k)).
  assert (P : p <> 0) by (apply N.pow_nonzero; lia); assert (Q : q <> 0) by (apply N.pow_nonzero; lia).
  replace (2 ^ N.of_nat (8 * w)) with (q * p) by (unfold p, q; rewrite <- N.pow_add_r; f_equal; lia).
  rewrite (N.mul_mod_distr_r a q p) by assumption; rewrite N.div_mul by assumption.
  rewrite (N.mod_small (a mod q)).
  - rewrite !N.mul_mod_distr_r, N.mod_mod by assumption; reflexivity.
  - apply N.lt_le_trans with q; [apply N.mod_lt; exact Q|]; nia.
Qed.

(** ** Two shifts of which no bits meet *)

Lemma or_little_endian w : forall a b, or_bytes (little_endian w a) (little_endian w b) = little_endian w (N.lor a b).
Proof.
  induction w as [|w IH]; intros a b; cbn [little_endian or_bytes]; [reflexivity|]; f_equal.
  - symmetry; apply N.land_lor_distr_l.
  - rewrite N.shiftr_lor; apply IH.
Qed.

Lemma xor_little_endian w : forall a b, xor (little_endian w a) (little_endian w b) = little_endian w (N.lxor a b).
Proof.
  induction w as [|w IH]; intros a b; cbn [little_endian xor]; [reflexivity|]; f_equal.
  - apply N.bits_inj; intro i; rewrite N.lxor_spec, !N.land_spec, N.lxor_spec.
    destruct (N.testbit a i), (N.testbit b i), (N.testbit 0xff i); reflexivity.
  - rewrite N.shiftr_lxor; apply IH.
Qed.

Lemma or_app a b c d : length a = length c -> or_bytes (a ++ b) (c ++ d) = or_bytes a c ++ or_bytes b d.
Proof.
  revert c; induction a as [|x a IH]; intros [|y c] E; cbn [length] in E; try discriminate; [reflexivity|].
  cbn [app or_bytes]; f_equal; apply IH; congruence.
Qed.

Lemma xor_apart a b c d : length a = length c -> xor (a ++ b) (c ++ d) = xor a c ++ xor b d.
Proof.
  revert c; induction a as [|x a IH]; intros [|y c] E; cbn [length] in E; try discriminate; [reflexivity|].
  cbn [app xor]; f_equal; apply IH; congruence.
Qed.

Lemma or_is_xor w k j x y : lane_ok w = true -> length x = 16%nat -> length y = 16%nat -> (k + j = 8 * w)%nat ->
  or_bytes (shift_left w k x) (shift_right w j y) = xor (shift_left w k x) (shift_right w j y).
Proof.
  intros W LX LY K; unfold shift_left, shift_right.
  assert (L : length (lanes w x) = length (lanes w y)) by (rewrite !lanes_length, LX, LY; reflexivity).
  assert (S : Forall (fun b => b < 2 ^ N.of_nat (8 * w)) (lanes w y)).
  { rewrite lanes_mod; apply Forall_forall; intros b J; apply in_map_iff in J as (l & <- & _); rewrite <- bits_of_bytes.
    apply N.mod_lt, N.pow_nonzero; lia. }
  clear LX LY; revert L S; generalize (lanes w y); induction (lanes w x) as [|a l IH]; intros [|b m] L S;
    cbn [length] in L; try discriminate; [reflexivity|].
  inversion S as [|? ? B T]; subst; cbn [map in_lanes flat_map].
  rewrite or_app, xor_apart by (rewrite !little_endian_length; reflexivity).
  f_equal; [|apply IH; [congruence|exact T]].
  rewrite or_little_endian, xor_little_endian; f_equal; symmetry; apply N.lxor_lor, N.bits_inj; intro i.
  rewrite N.land_spec, N.bits_0, N.shiftr_spec'.
  destruct (N.lt_ge_cases i (N.of_nat k)) as [Q|Q]; [rewrite N.shiftl_spec_low by assumption; reflexivity|].
  replace (N.testbit b (i + N.of_nat j)) with false; [apply andb_false_r|].
  symmetry; destruct (N.eq_dec b 0) as [->|NZ]; [apply N.bits_0|].
  apply N.bits_above_log2; apply N.log2_lt_pow2 in B; lia.
Qed.

Lemma or_comm x : forall y, or_bytes x y = or_bytes y x.
Proof. induction x as [|a x IH]; intros [|b y]; cbn [or_bytes]; auto; rewrite N.lor_comm, IH; reflexivity. Qed.

Lemma xor_sym x : forall y, xor x y = xor y x.
Proof. induction x as [|a x IH]; intros [|b y]; cbn [xor]; auto; rewrite N.lxor_comm, IH; reflexivity. Qed.

(** ** Conjunctions *)

Lemma and_comm x : forall y, and_bytes x y = and_bytes y x.
Proof. induction x as [|a x IH]; intros [|b y]; cbn [and_bytes]; auto; rewrite N.land_comm, IH; reflexivity. Qed.

Lemma and_length x : forall y, length x = length y -> length (and_bytes x y) = length x.
Proof.
  induction x as [|a x IH]; intros [|b y] E; cbn [length and_bytes] in *; try discriminate; [reflexivity|].
  rewrite IH; congruence.
Qed.

Lemma and_app a b c d : length a = length c -> and_bytes (a ++ b) (c ++ d) = and_bytes a c ++ and_bytes b d.
Proof.
  revert c; induction a as [|x a IH]; intros [|y c] E; cbn [length] in E; try discriminate; [reflexivity|].
  cbn [app and_bytes]; f_equal; apply IH; congruence.
Qed.

Lemma and_little_endian w : forall a b, and_bytes (little_endian w a) (little_endian w b) = little_endian w (N.land a b).
Proof.
  induction w as [|w IH]; intros a b; cbn [little_endian and_bytes]; [reflexivity|]; f_equal.
  - apply N.bits_inj; intro i; rewrite !N.land_spec.
    destruct (N.testbit a i), (N.testbit b i), (N.testbit 0xff i); reflexivity.
  - rewrite N.shiftr_land; apply IH.
Qed.

(** What is inverted leaves what the other has alone. *)
Lemma inverted_and_little_endian w : forall a b,
  and_bytes (xor (little_endian w a) (ones w)) (little_endian w b) = little_endian w (N.ldiff b a).
Proof.
  induction w as [|w IH]; intros a b; [reflexivity|]; change (ones (S w)) with (0xff :: ones w).
  cbn [little_endian xor and_bytes]; f_equal.
  - apply N.bits_inj; intro i; rewrite !N.land_spec, N.ldiff_spec, N.lxor_spec, N.land_spec.
    destruct (N.testbit a i), (N.testbit b i), (N.testbit 0xff i); reflexivity.
  - rewrite IH; f_equal; symmetry; apply N.shiftr_ldiff.
Qed.

(** ** 16 bytes, and what follows *)

Lemma map_lanes_app w f a b : lane_ok w = true -> length a = 16%nat ->
  in_lanes w (map f (lanes w (a ++ b))) = in_lanes w (map f (lanes w a)) ++ in_lanes w (map f (lanes w b)).
Proof.
  intros W A; destruct (lane_fills w 16 W eq_refl) as [F NZ].
  rewrite (lanes_app w (16 / w)), map_app by lia; apply flat_map_app.
Qed.

Lemma shift_left_app w k a b : lane_ok w = true -> length a = 16%nat ->
  shift_left w k (a ++ b) = shift_left w k a ++ shift_left w k b.
Proof. apply map_lanes_app. Qed.

Lemma shift_right_app w k a b : lane_ok w = true -> length a = 16%nat ->
  shift_right w k (a ++ b) = shift_right w k a ++ shift_right w k b.
Proof. apply map_lanes_app. Qed.

Lemma shuffle_app a b c d : length a = 16%nat -> length c = 16%nat -> shuffle (a ++ b) (c ++ d) = shuffle_16 a c ++ shuffle b d.
Proof.
  intros A C; unfold shuffle; rewrite app_length, C.
  replace ((16 + length d) / 16)%nat with (S (length d / 16)) by exact (eq_sym (Nat.div_add_l 1 16 (length d) ltac:(lia))).
  cbn [split combine flat_map fst snd]; rewrite !firstn_app, !skipn_app, A, C, Nat.sub_diag, !firstn_O, !skipn_O, !app_nil_r.
  rewrite !firstn_all2, !skipn_all2 by lia; reflexivity.
Qed.

Lemma shuffle_is_16 a c : length a = 16%nat -> length c = 16%nat -> shuffle a c = shuffle_16 a c.
Proof.
  intros A C; rewrite <- (app_nil_r a), <- (app_nil_r c) at 1; rewrite shuffle_app by assumption; apply app_nil_r.
Qed.
