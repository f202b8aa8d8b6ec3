(** * TwinBlocks: the twin's operations on whole blocks are those that the kernels compute

    [DuplexBlocks.v] has what the theorems about kernels speak of; the twin's functions of these names
    ([TwinText.v]) compute the same, for Simpira-1024, and do not panic. *)

From Coq Require Import List Bool NArith Arith Lia.
From Veriplex Require Import AES Simpira1024 DuplexBlocks Twin.
From Veriplex Require Duplex Rust TwinText.
Import ListNotations.

Lemma from_fn_list n f (t : list byte) : length t = N.to_nat n ->
  (forall i, i < N.to_nat n -> f (N.of_nat i) = Some (nth i t 0%N)) -> Rust.from_fn n f = Some t.
Proof. intros L H; rewrite (from_fn_is n f _ H), <- L; f_equal; apply map_nth_seq. Qed.

Lemma nth_xor x : forall y i, i < length x -> i < length y ->
  nth i (xor x y) 0%N = N.lxor (nth i x 0%N) (nth i y 0%N).
Proof. induction x as [|a x IH]; intros [|b y] [|i] X Y; simpl in *; try lia; auto; apply IH; lia. Qed.

Lemma nth_skip n : forall (s : list byte) i, nth i (skipn n s) 0%N = nth (n + i) s 0%N.
Proof. induction n; intros [|a s] i; simpl; auto; now destruct i. Qed.

Lemma nth_first n : forall (s : list byte) i, i < n -> nth i (firstn n s) 0%N = nth i s 0%N.
Proof. induction n; intros [|a s] [|i] L; simpl; auto; try lia; apply IHn; lia. Qed.

Lemma index_nth s i : i < length s -> Rust.index s (N.of_nat i) = Some (nth i s 0%N).
Proof. apply index_is. Qed.

Lemma nth_zero i n : nth i (zero n) 0%N = 0%N.
Proof. apply nth_repeat. Qed.

Lemma padding_is i : i < 128 ->
  nth i (zero 94 ++ [0x00; 0x81]%N ++ zero 32) 0%N = if i =? 95 then 0x81%N else 0%N.
Proof.
  intro L; assert (A : forallb (fun i => N.eqb (nth i (zero 94 ++ [0x00; 0x81]%N ++ zero 32) 0%N)
    (if i =? 95 then 0x81%N else 0%N)) (seq 0 128) = true) by (vm_compute; reflexivity).
  rewrite forallb_forall in A; apply N.eqb_eq, A, in_seq; lia.
Qed.

Theorem end_block_is s : length s = 128 -> TwinText.duplex_end_block permute s = Some (end_block s).
Proof.
  intro L; unfold TwinText.duplex_end_block, end_block; cbv zeta.
  change 94%N with (N.of_nat 94); rewrite index_is by lia; cbn [Rust.bind].
  rewrite update_is by lia; cbn [Rust.bind]; rewrite set_lxor.
  change 95%N with (N.of_nat 95); rewrite index_is by (rewrite Duplex.xor_at_length; lia); cbn [Rust.bind].
  rewrite update_is by (rewrite Duplex.xor_at_length; lia); cbn [Rust.bind]; rewrite set_lxor; do 2 f_equal.
  apply (nth_ext _ _ 0%N 0%N).
  - now rewrite xor_length, !Duplex.xor_at_length, L.
  - intros i I; rewrite !Duplex.xor_at_length, L in I.
    rewrite nth_xor by (rewrite ?L; auto); rewrite padding_is by exact I.
    fold (Duplex.get i s); change (nth i ?l 0%N) with (Duplex.get i l).
    rewrite !Duplex.get_xor_at, Duplex.xor_at_length, L; change (94 <? 128) with true; change (95 <? 128) with true.
    rewrite !andb_true_r, (Nat.eqb_sym i 95); destruct (95 =? i), (94 =? i); rewrite ?N.lxor_0_r; reflexivity.
Qed.

(** Below the rate, and from there on. *)
Ltac place i :=
  change TwinText.duplex_RATE with 94%N; destruct (N.ltb_spec (N.of_nat i) 94).

Theorem absorb_block_is s c : length s = 128 -> length c = 94 ->
  TwinText.duplex_absorb_block permute s c = Some (absorb_block s c).
Proof.
  intros L C; unfold TwinText.duplex_absorb_block, absorb_block.
  rewrite (from_fn_list _ _ (xor s (c ++ zero 34))).
  - cbn [Rust.bind]; apply end_block_is; rewrite xor_length, app_length, L, C; reflexivity.
  - rewrite xor_length, app_length, L, C; reflexivity.
  - intros i I; change (N.to_nat 128) with 128 in I.
    rewrite nth_xor by (rewrite ?app_length, ?L, ?C; unfold zero; rewrite ?repeat_length; lia); place i.
    + rewrite !index_nth by lia; cbn [Rust.bind]; now rewrite app_nth1 by lia.
    + rewrite index_nth by lia; now rewrite app_nth2, nth_zero, N.lxor_0_r by lia.
Qed.

Theorem squeeze_block_is s : length s = 128 -> TwinText.duplex_squeeze_block permute s = Some (squeeze_block s).
Proof.
  intro L; unfold TwinText.duplex_squeeze_block, squeeze_block.
  assert (Z : length (zero 94 ++ skipn 94 s) = 128) by now rewrite app_length, skipn_length, L.
  rewrite (from_fn_list _ _ (zero 94 ++ skipn 94 s)) by
    (first [exact Z|intros i I; change (N.to_nat 128) with 128 in I; place i;
     [now rewrite app_nth1, nth_zero by (unfold zero; rewrite repeat_length; lia)
     |rewrite app_nth2, nth_skip, index_nth by (unfold zero; rewrite ?repeat_length; lia); unfold zero;
      rewrite repeat_length; do 2 f_equal; lia]]).
  cbn [Rust.bind]; rewrite end_block_is by exact Z; cbn [Rust.bind].
  rewrite (from_fn_list _ _ (firstn 94 s)); [reflexivity|now rewrite firstn_length, L|].
  intros i I; change (N.to_nat 94) with 94 in I; now rewrite index_nth, nth_first by lia.
Qed.

Lemma output_is s c : length s = 128 -> length c = 94 ->
  Rust.from_fn 94 (fun i => Rust.bind (Rust.index s i) (fun a => Rust.bind (Rust.index c i) (fun b =>
    Some (N.lxor a b)))) = Some (xor (firstn 94 s) c).
Proof.
  intros L C; apply from_fn_list; [now rewrite xor_length, firstn_length, L, C|].
  intros i I; change (N.to_nat 94) with 94 in I; rewrite !index_nth by lia; cbn [Rust.bind].
  now rewrite nth_xor, nth_first by (rewrite ?firstn_length; lia).
Qed.

Theorem encrypt_block_is s p : length s = 128 -> length p = 94 ->
  TwinText.duplex_encrypt_block permute s p = Some (encrypt_block s p).
Proof.
  intros L C; unfold TwinText.duplex_encrypt_block, encrypt_block.
  now rewrite absorb_block_is, output_is by assumption.
Qed.

Theorem decrypt_block_is s c : length s = 128 -> length c = 94 ->
  TwinText.duplex_decrypt_block permute s c = Some (decrypt_block s c).
Proof.
  intros L C; unfold TwinText.duplex_decrypt_block, decrypt_block.
  assert (Z : length (c ++ skipn 94 s) = 128) by now rewrite app_length, skipn_length, L, C.
  rewrite (from_fn_list _ _ (c ++ skipn 94 s)) by
    (first [exact Z|intros i I; change (N.to_nat 128) with 128 in I; place i;
     [now rewrite app_nth1, index_nth by lia
     |rewrite app_nth2, nth_skip, index_nth by lia; rewrite C; do 2 f_equal; lia]]).
  cbn [Rust.bind]; rewrite end_block_is by exact Z; cbn [Rust.bind]; now rewrite output_is by assumption.
Qed.

Lemma end_block_length s : length s = 128 -> length (end_block s) = 128.
Proof. intro L; apply permute_length; now rewrite xor_length, L. Qed.

Lemma absorb_block_length s c : length s = 128 -> length c = 94 -> length (absorb_block s c) = 128.
Proof. intros L C; apply end_block_length; rewrite xor_length, app_length, L, C; reflexivity. Qed.

Lemma squeeze_block_length s : length s = 128 -> length (fst (squeeze_block s)) = 128.
Proof. intro L; apply end_block_length; now rewrite app_length, skipn_length, L. Qed.

Lemma decrypt_block_length s c : length s = 128 -> length c = 94 -> length (fst (decrypt_block s c)) = 128.
Proof. intros L C; apply end_block_length; now rewrite app_length, skipn_length, L, C. Qed.

Definition blocks_of_rate (cs : list (list byte)) : Prop := Forall (fun c => length c = 94) cs.

Theorem absorb_blocks_is cs : forall s, length s = 128 -> blocks_of_rate cs ->
  TwinText.duplex_absorb_blocks permute s cs = Some (absorb_blocks s cs).
Proof.
  unfold TwinText.duplex_absorb_blocks; cbv zeta; induction cs as [|c cs IH]; intros s L F; [reflexivity|].
  inversion F; subst; cbn [Rust.for_each]; rewrite absorb_block_is by assumption; cbn [Rust.bind].
  apply IH; auto using absorb_block_length.
Qed.

Theorem squeeze_blocks_is n s : length s = 128 ->
  TwinText.duplex_squeeze_blocks permute s n = Some (squeeze_blocks (N.to_nat n) s).
Proof.
  unfold TwinText.duplex_squeeze_blocks; cbv zeta; rewrite <- range_length; generalize (Rust.range 0 n).
  intros r L.
  match goal with |- context [Rust.for_each ?f r _] =>
    enough (E : forall out, Rust.for_each f r (out, s) =
      Some (out ++ snd (squeeze_blocks (length r) s), fst (squeeze_blocks (length r) s))) end.
  { rewrite E; cbn [Rust.bind app]; now rewrite <- surjective_pairing. }
  revert s L; induction r as [|i r IH]; intros s L out; cbn [Rust.for_each length squeeze_blocks].
  - cbn [fst snd]; now rewrite app_nil_r.
  - rewrite squeeze_block_is by exact L; pose proof (squeeze_block_length s L) as L'.
    destruct (squeeze_block s) as [s' o]; cbn [Rust.bind fst] in *; rewrite IH by exact L'.
    cbn [fst snd]; unfold Rust.push; now rewrite <- app_assoc.
Qed.

Theorem encrypt_blocks_is ps s : length s = 128 -> blocks_of_rate ps ->
  TwinText.duplex_encrypt_blocks permute s ps = Some (encrypt_blocks s ps).
Proof.
  unfold TwinText.duplex_encrypt_blocks; cbv zeta; intros L F.
  match goal with |- context [Rust.for_each ?f ps _] =>
    enough (E : forall out, Rust.for_each f ps (out, s) =
      Some (out ++ snd (encrypt_blocks s ps), fst (encrypt_blocks s ps))) end.
  { rewrite E; cbn [Rust.bind app]; now rewrite <- surjective_pairing. }
  revert s L; induction F as [|p ps C F IH]; intros s L out; cbn [Rust.for_each encrypt_blocks].
  - cbn [fst snd]; now rewrite app_nil_r.
  - rewrite encrypt_block_is by assumption.
    assert (L' : length (fst (encrypt_block s p)) = 128) by (apply absorb_block_length; assumption).
    destruct (encrypt_block s p) as [s' o]; cbn [Rust.bind fst] in *; rewrite IH by exact L'.
    cbn [fst snd]; unfold Rust.push; now rewrite <- app_assoc.
Qed.

Theorem decrypt_blocks_is cs s : length s = 128 -> blocks_of_rate cs ->
  TwinText.duplex_decrypt_blocks permute s cs = Some (decrypt_blocks s cs).
Proof.
  unfold TwinText.duplex_decrypt_blocks; cbv zeta; intros L F.
  match goal with |- context [Rust.for_each ?f cs _] =>
    enough (E : forall out, Rust.for_each f cs (out, s) =
      Some (out ++ snd (decrypt_blocks s cs), fst (decrypt_blocks s cs))) end.
  { rewrite E; cbn [Rust.bind app]; now rewrite <- surjective_pairing. }
  revert s L; induction F as [|c cs C F IH]; intros s L out; cbn [Rust.for_each decrypt_blocks].
  - cbn [fst snd]; now rewrite app_nil_r.
  - rewrite decrypt_block_is by assumption; pose proof (decrypt_block_length s c L C) as L'.
    destruct (decrypt_block s c) as [s' o]; cbn [Rust.bind fst] in *; rewrite IH by exact L'.
    cbn [fst snd]; unfold Rust.push; now rewrite <- app_assoc.
Qed.
