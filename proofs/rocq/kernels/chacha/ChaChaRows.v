(** * ChaChaRows: what ArxRounds.v computes on rows is ChaCha *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx ArxRounds.
From Veriplex Require ChaCha.
Import ListNotations.
Local Open Scope N_scope.

Local Notation add_words := ChaCha.add_words.
Local Notation rotate_word := ChaCha.rotate_word.
Local Notation quarter_round := ChaCha.quarter_round.

(** Bytes are below 256, words below 2^32. *)
Definition small (bound : N) (x : list N) : Prop := Forall (fun a => a < bound) x.

(** ** Words and their bytes *)

Lemma in_lanes_eq w : forall x y, map (fun a => a mod 256 ^ N.of_nat w) x = map (fun a => a mod 256 ^ N.of_nat w) y ->
  in_lanes w x = in_lanes w y.
Proof.
  induction x as [|a x IH]; intros [|b y] E; cbn [map] in E; try discriminate; [reflexivity|].
  cbn [in_lanes flat_map]; f_equal.
  - rewrite <- (little_endian_mod w a), <- (little_endian_mod w b).
    f_equal; exact (f_equal (fun l => hd 0 l) E).
  - apply IH; exact (f_equal (@tl N) E).
Qed.

Lemma plus_4 a b c d e f g h : plus_lanes 4 (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) =
  in_lanes 4 [add_words a e; add_words b f; add_words c g; add_words d h].
Proof.
  unfold plus_lanes; rewrite !lanes_in_lanes by discriminate; apply in_lanes_eq; cbn [map combine fst snd].
  unfold ChaCha.add_words; change (256 ^ N.of_nat 4) with (2 ^ 32).
  rewrite <- !N.add_mod by (apply N.pow_nonzero; lia); rewrite !N.mod_mod by (apply N.pow_nonzero; lia); reflexivity.
Qed.

Lemma lxor_mod a b k : N.lxor a b mod 2 ^ k = N.lxor (a mod 2 ^ k) (b mod 2 ^ k).
Proof.
  rewrite <- !N.land_ones; apply N.bits_inj; intro i; rewrite N.land_spec, !N.lxor_spec, !N.land_spec.
  destruct (N.testbit a i), (N.testbit b i), (N.testbit (N.ones k) i); reflexivity.
Qed.

Lemma lor_mod a b k : N.lor a b mod 2 ^ k = N.lor (a mod 2 ^ k) (b mod 2 ^ k).
Proof. rewrite <- !N.land_ones; apply N.land_lor_distr_l. Qed.

Lemma xor_4 a b c d e f g h : xor (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) =
  in_lanes 4 [N.lxor a e; N.lxor b f; N.lxor c g; N.lxor d h].
Proof.
  cbn [in_lanes flat_map]; rewrite !app_nil_r, <- !xor_little_endian.
  rewrite !xor_apart by (rewrite !little_endian_length; reflexivity); reflexivity.
Qed.

(** The two parts of a word that rotates share no bit. *)
Lemma rotate_is a k : a < 2 ^ 32 -> k <= 32 -> N.lxor (a / 2 ^ (32 - k)) (a * 2 ^ k mod 2 ^ 32) = rotate_word a k.
Proof.
  intros H K; unfold ChaCha.rotate_word; rewrite N.lxor_comm; apply N.lxor_lor, N.bits_inj; intro i.
  rewrite N.land_spec, N.bits_0, <- N.shiftr_div_pow2, N.shiftr_spec', <- N.land_ones, N.land_spec, <- N.shiftl_mul_pow2.
  destruct (N.lt_ge_cases i k) as [L|L].
  - rewrite N.shiftl_spec_low by assumption; reflexivity.
  - replace (N.testbit a (i + (32 - k))) with false; [rewrite andb_false_r; reflexivity|].
    symmetry; destruct (N.eq_dec a 0) as [->|NZ]; [apply N.bits_0|].
    apply N.bits_above_log2; apply N.log2_lt_pow2 in H; lia.
Qed.

Lemma word_lxor a b : a < 2 ^ 32 -> b < 2 ^ 32 -> N.lxor a b < 2 ^ 32.
Proof.
  intros A B; rewrite <- (N.mod_small a (2 ^ 32)), <- (N.mod_small b (2 ^ 32)), <- lxor_mod by assumption.
  apply N.mod_lt, N.pow_nonzero; lia.
Qed.

Lemma word_add a b : add_words a b < 2 ^ 32.
Proof. apply N.mod_lt, N.pow_nonzero; lia. Qed.

Lemma add_words_comm a b : add_words a b = add_words b a.
Proof. unfold ChaCha.add_words; rewrite N.add_comm; reflexivity. Qed.

Lemma word_rotate a k : a < 2 ^ 32 -> rotate_word a k < 2 ^ 32.
Proof.
  intro A; unfold ChaCha.rotate_word.
  rewrite <- (N.mod_small (a / 2 ^ (32 - k)) (2 ^ 32)), <- lor_mod.
  - apply N.mod_lt, N.pow_nonzero; lia.
  - apply N.le_lt_trans with a; [|exact A]; apply N.div_le_upper_bound; [apply N.pow_nonzero; lia|].
    assert (P : 2 ^ (32 - k) <> 0) by (apply N.pow_nonzero; lia); nia.
Qed.

Lemma rotate_4 k a b c d : a < 2 ^ 32 -> b < 2 ^ 32 -> c < 2 ^ 32 -> d < 2 ^ 32 -> (k <= 32)%nat ->
  rotate_lanes k (in_lanes 4 [a; b; c; d]) =
  in_lanes 4 [rotate_word a (N.of_nat k); rotate_word b (N.of_nat k); rotate_word c (N.of_nat k); rotate_word d (N.of_nat k)].
Proof.
  intros A B C D K; unfold rotate_lanes; rewrite shift_left_is, shift_right_is, !lanes_in_lanes by discriminate; cbn [map].
  change (256 ^ N.of_nat 4) with (2 ^ 32); rewrite !(N.mod_small _ (2 ^ 32)) by assumption.
  assert (E : forall x y z t, in_lanes 4 [x; y; z; t] = in_lanes 4 [x mod 2 ^ 32; y mod 2 ^ 32; z mod 2 ^ 32; t mod 2 ^ 32]).
  { intros; apply in_lanes_eq; cbn [map]; change (256 ^ N.of_nat 4) with (2 ^ 32).
    rewrite !N.mod_mod by (apply N.pow_nonzero; lia); reflexivity. }
  rewrite (E (a * _)), xor_4; replace (N.of_nat (32 - k)) with (32 - N.of_nat k) by lia.
  rewrite !rotate_is by (assumption || lia); reflexivity.
Qed.

(** Rotation by whole bytes moves them. *)
Lemma moved_8 a : a < 2 ^ 32 -> turn 3 (little_endian 4 a) = little_endian 4 (rotate_word a 8).
Proof.
  intro H; rewrite <- (rotate_is a 8 H) by lia; rewrite <- xor_little_endian; change (2 ^ 32) with (256 ^ N.of_nat 4).
  rewrite little_endian_mod; change (32 - 8) with 24; change (2 ^ 8) with 256; change (2 ^ 24) with (256 * (256 * 256)).
  rewrite <- !N.div_div by lia; rewrite !little_endian_is; cbn [little_endian turn skipn firstn app xor].
  rewrite N.mod_mul, N.div_mul, N.lxor_0_r by lia.
  rewrite (N.div_small (a / 256 / 256 / 256) 256) by (rewrite !N.div_div by lia; apply N.div_lt_upper_bound; [lia|exact H]).
  reflexivity.
Qed.

Lemma moved_16 a : a < 2 ^ 32 -> turn 2 (little_endian 4 a) = little_endian 4 (rotate_word a 16).
Proof.
  intro H; rewrite <- (rotate_is a 16 H) by lia; rewrite <- xor_little_endian; change (2 ^ 32) with (256 ^ N.of_nat 4).
  rewrite little_endian_mod; change (32 - 16) with 16; change (2 ^ 16) with (256 * 256).
  rewrite <- !N.div_div, N.mul_assoc by lia; rewrite !little_endian_is; cbn [little_endian turn skipn firstn app xor].
  rewrite !N.div_mul, !N.mod_mul, !N.lxor_0_r by lia.
  rewrite (N.div_small (a / 256 / 256 / 256) 256) by (rewrite !N.div_div by lia; apply N.div_lt_upper_bound; [lia|exact H]).
  reflexivity.
Qed.

Lemma moved_4 k a b c d : k = 8%nat \/ k = 16%nat -> a < 2 ^ 32 -> b < 2 ^ 32 -> c < 2 ^ 32 -> d < 2 ^ 32 ->
  moved k (in_lanes 4 [a; b; c; d]) =
  in_lanes 4 [rotate_word a (N.of_nat k); rotate_word b (N.of_nat k); rotate_word c (N.of_nat k); rotate_word d (N.of_nat k)].
Proof.
  intros K A B C D; unfold moved; rewrite (split_in_lanes 4 [a; b; c; d] : split 4 4 _ = _).
  cbn [map flat_map in_lanes]; destruct K as [-> | ->].
  - change (4 - 8 / 8)%nat with 3%nat; rewrite !moved_8 by assumption; reflexivity.
  - change (4 - 16 / 8)%nat with 2%nat; rewrite !moved_16 by assumption; reflexivity.
Qed.

Section Moves.
Variable moves : bool.

Local Notation step := (step moves).
Local Notation columns := (columns moves).
Local Notation two_rounds := (two_rounds moves).
Local Notation xor_block := (xor_block moves).
Local Notation xor_lanes := (xor_lanes moves).

Lemma rotated_4 k a b c d : In k [16; 12; 8; 7]%nat -> a < 2 ^ 32 -> b < 2 ^ 32 -> c < 2 ^ 32 -> d < 2 ^ 32 ->
  rotated moves k (in_lanes 4 [a; b; c; d]) =
  in_lanes 4 [rotate_word a (N.of_nat k); rotate_word b (N.of_nat k); rotate_word c (N.of_nat k); rotate_word d (N.of_nat k)].
Proof.
  intros K A B C D; unfold rotated; destruct K as [<-|[<-|[<-|[<-|[]]]]]; destruct moves; cbn [andb];
    try (apply rotate_4; auto; lia); try (apply moved_4; auto); apply rotate_4; auto; lia.
Qed.

(** ** Rounds *)

Local Opaque ChaCha.add_words ChaCha.rotate_word.

(** The rows of a state. *)
Definition rows_of (x : list N) : rows :=
  (in_lanes 4 (firstn 4 x), in_lanes 4 (firstn 4 (skipn 4 x)), in_lanes 4 (firstn 4 (skipn 8 x)), in_lanes 4 (firstn 4 (skipn 12 x))).

Definition state_ok (x : list N) : Prop := length x = 16%nat /\ small (2 ^ 32) x.

Local Ltac sixteen x H :=
  let L := fresh "L" in let S := fresh "S" in destruct H as [L S];
  do 16 (destruct x as [|? x]; [discriminate L|]); destruct x; [|discriminate L]; clear L;
  repeat match goal with S : small _ (_ :: _) |- _ => inversion S; subst; clear S end;
  repeat match goal with S : Forall _ (_ :: _) |- _ => inversion S; subst; clear S end.

Local Ltac words := match goal with |- In _ _ => cbn; tauto | _ => auto 15 using word_add, word_rotate, word_lxor end.

Lemma quarter_words a b c d : a < 2 ^ 32 -> b < 2 ^ 32 -> c < 2 ^ 32 -> d < 2 ^ 32 ->
  exists e f g h, quarter_round [a; b; c; d] = [e; f; g; h] /\ e < 2 ^ 32 /\ f < 2 ^ 32 /\ g < 2 ^ 32 /\ h < 2 ^ 32.
Proof. intros; unfold ChaCha.quarter_round; do 4 eexists; split; [reflexivity|]; repeat split; words. Qed.

Lemma step_4 k a b c d e f g h i j l m :
  i < 2 ^ 32 -> j < 2 ^ 32 -> l < 2 ^ 32 -> m < 2 ^ 32 -> In k [16; 12; 8; 7]%nat ->
  step k (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) (in_lanes 4 [i; j; l; m]) =
  (in_lanes 4 [add_words a e; add_words b f; add_words c g; add_words d h],
   in_lanes 4 [rotate_word (N.lxor i (add_words a e)) (N.of_nat k); rotate_word (N.lxor j (add_words b f)) (N.of_nat k);
               rotate_word (N.lxor l (add_words c g)) (N.of_nat k); rotate_word (N.lxor m (add_words d h)) (N.of_nat k)]).
Proof. intros; unfold ArxRounds.step; rewrite plus_4, xor_4, rotated_4 by words; reflexivity. Qed.

Lemma columns_are x : state_ok x -> columns (rows_of x) = rows_of (ChaCha.column_round x).
Proof.
  intro H; sixteen x H; unfold rows_of at 1; cbn [firstn skipn]; unfold ArxRounds.columns.
  rewrite step_4 by words; cbv beta iota; rewrite step_4 by words; cbv beta iota.
  rewrite step_4 by words; cbv beta iota; rewrite step_4 by words; cbv beta iota; reflexivity.
Qed.

Lemma column_round_ok x : state_ok x -> state_ok (ChaCha.column_round x).
Proof.
  intro H; sixteen x H; unfold ChaCha.column_round; cbn [split firstn skipn ChaCha.transpose map nth seq].
  repeat match goal with |- context [quarter_round [?a; ?b; ?c; ?d]] =>
    let E := fresh "E" in
    destruct (quarter_words a b c d) as (? & ? & ? & ? & E & ? & ? & ? & ?); try assumption; rewrite E; clear E end.
  cbn [nth concat app]; split; [reflexivity|]; repeat constructor; assumption.
Qed.

Lemma turn_rows_ok x : state_ok x -> state_ok (ChaCha.turn_rows x).
Proof. intro H; sixteen x H; split; [reflexivity|]; cbn; repeat constructor; assumption. Qed.

Lemma turn_rows_back_ok x : state_ok x -> state_ok (ChaCha.turn_rows_back x).
Proof. intro H; sixteen x H; split; [reflexivity|]; cbn; repeat constructor; assumption. Qed.

Lemma double_round_ok x : state_ok x -> state_ok (ChaCha.double_round x).
Proof. intro H; apply turn_rows_back_ok, column_round_ok, turn_rows_ok, column_round_ok, H. Qed.

(** Turns after which the rows stand by each other as diagonals, and that put them back: the second row stays. *)
Definition diagonals : turns := (12, 0, 4, 8)%nat.
Definition columns_again : turns := (4, 0, 12, 8)%nat.

Lemma two_rounds_are x : state_ok x -> two_rounds diagonals columns_again (rows_of x) = rows_of (ChaCha.double_round x).
Proof.
  intro H; unfold ArxRounds.two_rounds, ChaCha.double_round; rewrite (columns_are x H); apply column_round_ok in H.
  set (y := ChaCha.column_round x) in *; clearbody y; clear x.
  (* The rows of the kernel are those of another state, whose columns are in another order. *)
  assert (T : turned diagonals (rows_of y) =
    rows_of (concat (map (fun r => ChaCha.rotate_row ((r + 3) mod 4) (nth r (split 4 4 y) [])) (seq 0 4)))).
  { pose proof H as G; sixteen y G; reflexivity. }
  rewrite T; clear T; rewrite columns_are by (pose proof H as G; sixteen y G; split; [reflexivity|]; cbn; repeat constructor; assumption).
  sixteen y H; reflexivity.
Qed.

Lemma rounds_are n x : state_ok x ->
  state_ok (ChaCha.rounds n x) /\ Nat.iter (n / 2) (two_rounds diagonals columns_again) (rows_of x) = rows_of (ChaCha.rounds n x).
Proof.
  intro H; unfold ChaCha.rounds; induction (n / 2)%nat as [|k [O IH]]; [split; [exact H|reflexivity]|].
  split; [apply (double_round_ok _ O)|].
  exact (eq_trans (f_equal (two_rounds diagonals columns_again) IH) (two_rounds_are _ O)).
Qed.

(** ** A block *)

Lemma le_number_is x : ChaCha.le_number x = lane_number x.
Proof. induction x as [|b x IH]; cbn [ChaCha.le_number lane_number]; [reflexivity|]; now rewrite IH. Qed.

Lemma little_endian_number x : small 256 x -> little_endian (length x) (lane_number x) = x.
Proof.
  induction 1 as [|b x H _ IH]; [reflexivity|]; cbn [length lane_number]; rewrite little_endian_is.
  rewrite (N.mul_comm 256), N.mod_add, N.div_add, N.mod_small, N.div_small by lia; cbn [N.add]; rewrite IH; reflexivity.
Qed.

Lemma in_lanes_small w l : small 256 (in_lanes w l).
Proof.
  unfold small, in_lanes; apply Forall_flat_map, Forall_forall; intros a _; clear l; revert a; induction w as [|w IH]; intro a;
    [|rewrite little_endian_is]; constructor; [apply N.mod_lt; discriminate|apply IH].
Qed.

Lemma number_small x : small 256 x -> lane_number x < 256 ^ N.of_nat (length x).
Proof.
  induction 1 as [|b x H _ IH]; cbn [length lane_number]; [rewrite N.pow_0_r; lia|].
  rewrite Nat2N.inj_succ, N.pow_succ_r'; lia.
Qed.

Lemma four_bytes a b c d : small 256 [a; b; c; d] -> little_endian 4 (lane_number [a; b; c; d]) = [a; b; c; d].
Proof. exact (little_endian_number [a; b; c; d]). Qed.

(** Words, and the bytes that they are made of. *)
Lemma le_word_bytes_is n : forall x, length x = (4 * n)%nat -> small 256 x ->
  in_lanes 4 (ChaCha.le_words n x) = x /\ length (ChaCha.le_words n x) = n /\ small (2 ^ 32) (ChaCha.le_words n x).
Proof.
  unfold ChaCha.le_words; induction n as [|n IH]; intros x L S; [destruct x; [|discriminate L]; repeat split; constructor|].
  replace (4 * Datatypes.S n)%nat with (4 + 4 * n)%nat in L by lia.
  destruct x as [|a [|b [|c [|d x]]]]; try discriminate L; cbn [split map firstn skipn].
  assert (S4 : small 256 [a; b; c; d] /\ small 256 x).
  { unfold small in *; change (a :: b :: c :: d :: x) with ([a; b; c; d] ++ x) in S; apply Forall_app in S; exact S. }
  destruct S4 as [S4 SX]; destruct (IH x ltac:(cbn [length] in L; lia) SX) as (E & F & G).
  rewrite le_number_is; split; [|split].
  - cbn [in_lanes flat_map]; rewrite (four_bytes a b c d S4); unfold in_lanes in E; cbn [app]; rewrite E; reflexivity.
  - cbn [length]; rewrite F; reflexivity.
  - constructor; [exact (number_small _ S4)|exact G].
Qed.

Lemma plus_4_back a b c d e f g h : plus_lanes 4 (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) =
  in_lanes 4 [add_words e a; add_words f b; add_words g c; add_words h d].
Proof. rewrite plus_4, (add_words_comm a), (add_words_comm b), (add_words_comm c), (add_words_comm d); reflexivity. Qed.

Lemma plus_rows_are x y : state_ok x -> state_ok y -> plus_rows (rows_of x) (rows_of y) = rows_of (ChaCha.zip_with add_words y x).
Proof.
  intros H G; sixteen x H; sixteen y G; unfold rows_of, ChaCha.zip_with; cbn [firstn skipn combine map fst snd plus_rows].
  rewrite !plus_4_back; reflexivity.
Qed.

Lemma rows_concat x : length x = 16%nat ->
  let '(a, b, c, d) := rows_of x in ChaCha.le_word_bytes x = a ++ b ++ c ++ d /\
  length a = 16%nat /\ length b = 16%nat /\ length c = 16%nat /\ length d = 16%nat.
Proof.
  intro L; do 16 (destruct x as [|? x]; [discriminate L|]); destruct x; [|discriminate L].
  unfold rows_of; cbn [firstn skipn]; rewrite !in_lanes_length; cbn [length]; repeat split.
Qed.

Lemma app_parts {A} (a b c d : list A) : length a = length c -> a ++ b = c ++ d -> a = c /\ b = d.
Proof.
  revert c; induction a as [|x a IH]; intros [|y c] L E; cbn [length app] in *; try discriminate; [auto|].
  injection E as -> E; destruct (IH c ltac:(congruence) E) as [-> ->]; auto.
Qed.

Lemma skipn_twice {A} i j : forall x : list A, skipn i (skipn j x) = skipn (j + i) x.
Proof. induction j as [|j IH]; intro x; [reflexivity|]; destruct x; cbn [skipn Nat.add]; [apply skipn_nil|apply IH]. Qed.

Lemma in_rows {A} (x : list A) : length x = 64%nat -> x = row 0 x ++ row 1 x ++ row 2 x ++ row 3 x.
Proof.
  intro L; unfold row; cbn [Nat.mul Nat.add]; rewrite skipn_O.
  rewrite <- (firstn_skipn 16 x) at 1; f_equal.
  rewrite <- (firstn_skipn 16 (skipn 16 x)) at 1; f_equal; rewrite skipn_twice; cbn [Nat.add].
  rewrite <- (firstn_skipn 16 (skipn 32 x)) at 1; f_equal; rewrite skipn_twice; cbn [Nat.add].
  symmetry; apply firstn_all2; rewrite skipn_length; lia.
Qed.

Lemma row_length {A} i (x : list A) : (16 * i + 16 <= length x)%nat -> length (row i x) = 16%nat.
Proof. intro H; unfold row; rewrite firstn_length, skipn_length; lia. Qed.

Lemma rows_of_bytes x y : length x = 48%nat -> length y = 16%nat -> small 256 (x ++ y) ->
  rows_of (ChaCha.le_words 16 (x ++ y)) = (row 0 x, row 1 x, row 2 x, y).
Proof.
  intros X Y S; destruct (le_word_bytes_is 16 (x ++ y) ltac:(rewrite app_length, X, Y; reflexivity) S) as (E & F & _).
  pose proof (rows_concat _ F) as R; destruct (rows_of _) as [[[a b] c] d]; destruct R as (R & A & B & C & D).
  change (ChaCha.le_word_bytes (ChaCha.le_words 16 (x ++ y))) with (in_lanes 4 (ChaCha.le_words 16 (x ++ y))) in R.
  rewrite E in R.
  assert (P : x = row 0 x ++ row 1 x ++ row 2 x).
  { unfold row; cbn [Nat.mul Nat.add]; rewrite skipn_O; rewrite <- (firstn_skipn 16 x) at 1; f_equal.
    rewrite <- (firstn_skipn 16 (skipn 16 x)) at 1; f_equal; rewrite skipn_twice; cbn [Nat.add].
    symmetry; apply firstn_all2; rewrite skipn_length; lia. }
  rewrite P, <- !app_assoc in R at 1.
  apply app_parts in R as [<- R]; [|rewrite row_length by lia; congruence].
  apply app_parts in R as [<- R]; [|rewrite row_length by lia; congruence].
  apply app_parts in R as [<- <-]; [|rewrite row_length by lia; congruence]; reflexivity.
Qed.

(** The state before the rounds. *)
Lemma start_ok key nonce i : length key = 32%nat -> length nonce = 8%nat -> small 256 key -> small 256 nonce ->
  let all := ChaCha.first_rows key ++ ChaCha.last_row i nonce in
  length (ChaCha.first_rows key) = 48%nat /\ length (ChaCha.last_row i nonce) = 16%nat /\ small 256 all /\
  ChaCha.start key (little_endian 8 i ++ nonce) = ChaCha.le_words 16 all /\ state_ok (ChaCha.le_words 16 all).
Proof.
  intros KL NL KS NS all.
  assert (FL : length (ChaCha.first_rows key) = 48%nat) by (unfold ChaCha.first_rows; rewrite app_length, KL; reflexivity).
  assert (LL : length (ChaCha.last_row i nonce) = 16%nat) by (unfold ChaCha.last_row; rewrite app_length, little_endian_length, NL; reflexivity).
  assert (LS : small 256 (little_endian 8 i)) by (rewrite !little_endian_is; repeat constructor; apply N.mod_lt; lia).
  assert (CS : small 256 ChaCha.constants) by (repeat constructor).
  assert (SM : small 256 all).
  { unfold all, small, ChaCha.first_rows, ChaCha.last_row in *; repeat (apply Forall_app; split); assumption. }
  destruct (le_word_bytes_is 16 all ltac:(unfold all; rewrite app_length, FL, LL; reflexivity) SM) as (_ & OL & OS).
  repeat split; auto; unfold all, ChaCha.start, ChaCha.first_rows, ChaCha.last_row; rewrite <- app_assoc; reflexivity.
Qed.

Lemma sum_length x y : length x = 16%nat -> length y = 16%nat -> length (ChaCha.zip_with add_words x y) = 16%nat.
Proof. intros X Y; unfold ChaCha.zip_with; rewrite map_length, combine_length, X, Y; reflexivity. Qed.

Lemma block_length n key nonce i : length key = 32%nat -> length nonce = 8%nat -> small 256 key -> small 256 nonce ->
  length (ChaCha.block n key nonce i) = 64%nat.
Proof.
  intros KL NL KS NS; destruct (start_ok key nonce i KL NL KS NS) as (_ & _ & _ & E & O); unfold ChaCha.block; rewrite E.
  destruct (rounds_are n _ O) as [RO _].
  change (ChaCha.le_word_bytes ?x) with (in_lanes 4 x); rewrite in_lanes_length, sum_length; [reflexivity|apply O|apply RO].
Qed.

Lemma xor_block_is n key nonce i input : length key = 32%nat -> length nonce = 8%nat -> small 256 key -> small 256 nonce ->
  length input = 64%nat ->
  xor_block (n / 2) diagonals columns_again (ChaCha.first_rows key) (ChaCha.last_row i nonce) input =
  xor input (ChaCha.block n key nonce i).
Proof.
  intros KL NL KS NS IL; destruct (start_ok key nonce i KL NL KS NS) as (FL & LL & SM & E & O); unfold ChaCha.block.
  rewrite E; destruct (rounds_are n _ O) as [RO RE].
  unfold ArxRounds.xor_block, block_rows; rewrite <- (rows_of_bytes _ _ FL LL SM), RE, (plus_rows_are _ _ RO O).
  set (y := ChaCha.zip_with add_words _ _).
  assert (YL : length y = 16%nat) by (apply sum_length; [apply O|apply RO]).
  pose proof (rows_concat y YL) as RC; destruct (rows_of y) as [[[a b] c] d]; destruct RC as (-> & A & B & C & D).
  rewrite (in_rows input IL) at 5; rewrite !xor_apart by (rewrite row_length by lia; congruence); reflexivity.
Qed.

(** ** Several blocks *)

Lemma row_plus i j nonce : length nonce = 8%nat -> small 256 nonce ->
  plus_lanes 8 (ChaCha.last_row i nonce) (in_lanes 8 [j; 0]) = ChaCha.last_row (i + j) nonce.
Proof.
  intros L S; unfold ChaCha.last_row.
  assert (E : nonce = little_endian 8 (lane_number nonce)) by (rewrite <- L; symmetry; apply little_endian_number, S).
  rewrite E; set (v := lane_number nonce).
  assert (R : forall a b, little_endian 8 a ++ little_endian 8 b = in_lanes 8 [a; b]) by (intros; cbn [in_lanes flat_map]; rewrite app_nil_r; reflexivity).
  rewrite !R; unfold plus_lanes; rewrite !lanes_in_lanes by discriminate.
  apply in_lanes_eq; cbn [map combine fst snd]; rewrite !N.add_mod_idemp_l, N.add_0_r by (apply N.pow_nonzero; lia).
  rewrite N.add_mod_idemp_r by (apply N.pow_nonzero; lia); reflexivity.
Qed.

Lemma next_row i nonce : length nonce = 8%nat -> small 256 nonce ->
  plus_lanes 8 (ChaCha.last_row i nonce) one = ChaCha.last_row (i + 1) nonce.
Proof. exact (row_plus i 1 nonce). Qed.

Lemma last_row_mod i nonce : ChaCha.last_row (i mod 2 ^ 64) nonce = ChaCha.last_row i nonce.
Proof. unfold ChaCha.last_row; f_equal; exact (little_endian_mod 8 i). Qed.

Lemma block_mod n key nonce i : ChaCha.block n key nonce (i mod 2 ^ 64) = ChaCha.block n key nonce i.
Proof. unfold ChaCha.block; rewrite (little_endian_mod 8 i : little_endian 8 (i mod 2 ^ 64) = little_endian 8 i); reflexivity. Qed.

Lemma xor_lanes_is n key nonce : length key = 32%nat -> length nonce = 8%nat -> small 256 key -> small 256 nonce ->
  forall k i input, length input = (64 * k)%nat ->
  xor_lanes (n / 2) diagonals columns_again (ChaCha.first_rows key) k (ChaCha.last_row i nonce) input =
  (concat (snd (ChaCha.xor_group n key nonce (ChaCha.numbers_from i k) (split 64 k input))), ChaCha.last_row (i + N.of_nat k) nonce).
Proof.
  intros KL NL KS NS; induction k as [|k IH]; intros i input IL.
  - cbn [ArxRounds.xor_lanes ChaCha.xor_group snd split combine map concat N.of_nat]; rewrite N.add_0_r; reflexivity.
  - cbn [ArxRounds.xor_lanes]; rewrite next_row, IH by (assumption || rewrite skipn_length; lia).
    rewrite xor_block_is by (assumption || rewrite firstn_length; lia).
    unfold ChaCha.xor_group; cbn [snd split]; unfold ChaCha.numbers_from; cbn [seq map combine concat fst snd].
    rewrite N.add_0_r, block_mod, <- seq_shift, map_map; f_equal; [|f_equal; lia].
    do 4 f_equal; apply map_ext; intro l; f_equal; lia.
Qed.

End Moves.

(** The numbers of the next group are again in a row. *)
Lemma numbers_next n key nonce i k cs : fst (ChaCha.xor_group n key nonce (ChaCha.numbers_from i k) cs) =
  ChaCha.numbers_from (i + N.of_nat k) k.
Proof.
  unfold ChaCha.xor_group, ChaCha.numbers_from; cbn [fst]; rewrite !map_length, seq_length, map_map; apply map_ext; intro l.
  rewrite N.add_mod_idemp_l by (apply N.pow_nonzero; lia); f_equal; lia.
Qed.
