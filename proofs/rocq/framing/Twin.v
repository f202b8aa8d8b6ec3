(** * Twin: the model is the twin

    [TwinText.v] is the duplex and Protocol of the twin (spec/hacspec), as veriplex-spec-to-rocq writes them.  Each function
    there computes what the model of [Duplex.v] and [Protocol.v] computes, for every permutation and every state that a
    transcript can reach ([sane]), and does not panic.  The model counts the permutation's inputs, the twin does not:
    [twin_of] forgets them. *)

From Coq Require Import List Bool NArith Arith Lia.
From Veriplex Require Import Duplex Framing Protocol.
From Veriplex Require Rust TwinText.
Import ListNotations.

Notation make_Duplex := TwinText.make_Duplex (only parsing).
Notation make_Opened := TwinText.make_Opened (only parsing).

Definition twin_of (d : duplex) : TwinText.Duplex :=
  make_Duplex (state d) (N.of_nat (rate_idx d)) (N.of_nat (frame_idx d)).

(** An output and a state, in the twin's order. *)
Definition twin_out (r : list byte * duplex) : TwinText.Duplex * list byte := (twin_of (snd r), fst r).

(** A length that a machine of 64 bits can have. *)
Definition fits (n : nat) : Prop := (N.of_nat n < 2 ^ 64)%N.

(** ** Rust's words *)

Lemma index_is s i : i < length s -> Rust.index s (N.of_nat i) = Some (get i s).
Proof. intro L; unfold Rust.index, get; rewrite Nat2N.id; now apply nth_error_nth'. Qed.

Lemma update_is i b : forall s, i < length s -> Rust.update s (N.of_nat i) b = Some (set_at i b s).
Proof.
  unfold Rust.update; rewrite Nat2N.id; induction i as [|i IH]; intros [|x s] L; simpl in *; try lia; auto.
  now rewrite IH by lia.
Qed.

Lemma set_at_length i b : forall s, length (set_at i b s) = length s.
Proof. induction i; intros [|x s]; simpl; auto. Qed.

Lemma set_lxor i b s : set_at i (N.lxor (get i s) b) s = xor_at i b s.
Proof. now rewrite set_is_xor, <- N.lxor_assoc, N.lxor_nilpotent, N.lxor_0_l. Qed.

Lemma same_is xs : forall ys, Rust.same xs ys = if list_eq_dec N.eq_dec xs ys then true else false.
Proof.
  induction xs as [|x xs IH]; intros [|y ys]; try reflexivity; cbn [Rust.same]; rewrite IH.
  destruct (N.eqb_spec x y) as [->|X], (list_eq_dec N.eq_dec xs ys) as [->|Y], (list_eq_dec N.eq_dec _ _);
    simpl; congruence.
Qed.

Lemma range_length n : length (Rust.range 0 n) = N.to_nat n.
Proof. unfold Rust.range; now rewrite map_length, seq_length, N.sub_0_r. Qed.

Lemma collect_is {A} (f : N -> option A) (g : nat -> A) is :
  (forall i, In i is -> f (N.of_nat i) = Some (g i)) ->
  Rust.collect f (map N.of_nat is) = Some (map g is).
Proof.
  induction is as [|i is IH]; intro H; [reflexivity|]; cbn [map Rust.collect].
  rewrite H by (now left); cbn [Rust.bind]; rewrite IH by (intros; apply H; now right); reflexivity.
Qed.

Lemma from_fn_is {A} n (f : N -> option A) (g : nat -> A) :
  (forall i, i < N.to_nat n -> f (N.of_nat i) = Some (g i)) -> Rust.from_fn n f = Some (map g (seq 0 (N.to_nat n))).
Proof.
  intro H; unfold Rust.from_fn, Rust.range; rewrite N.sub_0_r; apply collect_is.
  intros i I; apply in_seq in I; apply H; lia.
Qed.

Lemma map_nth_seq {A} (d : A) s : map (fun i => nth i s d) (seq 0 (length s)) = s.
Proof.
  induction s as [|x s IH]; [reflexivity|]; cbn [length seq map nth]; f_equal.
  rewrite <- seq_shift, map_map; exact IH.
Qed.

Lemma map_seq_from {A} (d : A) k n s : length s = k + n -> map (fun i => nth i s d) (seq k n) = skipn k s.
Proof.
  revert s; induction k as [|k IH]; intros s L; [simpl in L; rewrite <- L; apply map_nth_seq|].
  destruct s as [|x s]; [discriminate|]; cbn [skipn]; rewrite <- seq_shift, map_map.
  apply IH; simpl in L; lia.
Qed.

Section Twin.
Variable P : list byte -> list byte.
Hypothesis HP : keeps_length P.

(** ** The duplex *)

Lemma duplex_xor_at_is s i b : i < length s -> TwinText.duplex_xor_at s (N.of_nat i) b = Some (xor_at i b s).
Proof.
  intro L; unfold TwinText.duplex_xor_at; cbv zeta; rewrite index_is by exact L; cbn [Rust.bind].
  rewrite update_is by exact L; cbn [Rust.bind]; now rewrite set_lxor.
Qed.

Lemma add_is bits x y : (N.of_nat x + y < 2 ^ bits)%N -> Rust.add bits (N.of_nat x) y = Some (N.of_nat (x + N.to_nat y)).
Proof.
  intro L; unfold Rust.add; destruct (N.ltb_spec (N.of_nat x + y) (2 ^ bits)); [f_equal|]; lia.
Qed.

Lemma pad_permute_full d : rate_idx d <= rate -> length (state d) = width ->
  TwinText.duplex_pad_permute P (twin_of d) = Some (twin_of (permute P d)).
Proof.
  intros L W; unfold TwinText.duplex_pad_permute, twin_of, permute.
  cbn [TwinText.Duplex_state TwinText.Duplex_rate_idx TwinText.Duplex_frame_idx state rate_idx frame_idx].
  rewrite duplex_xor_at_is by (unfold rate, width in *; lia); cbn [Rust.bind].
  rewrite add_is by (unfold rate in *; simpl; lia); cbn [Rust.bind].
  rewrite duplex_xor_at_is by (rewrite xor_at_length; unfold rate, width in *; simpl; lia); cbn [Rust.bind].
  change 95%N with (N.of_nat 95).
  rewrite duplex_xor_at_is by (rewrite !xor_at_length; unfold rate, width in *; lia); reflexivity.
Qed.

Theorem pad_permute_is d : sane d -> TwinText.duplex_pad_permute P (twin_of d) = Some (twin_of (permute P d)).
Proof. intros [L W]; apply pad_permute_full; auto; lia. Qed.

Theorem get_is d : sane d -> TwinText.duplex_get (twin_of d) = Some (get (rate_idx d) (state d)).
Proof. intros [L W]; apply index_is; unfold rate, width in *; lia. Qed.

Theorem put_is b d : sane d ->
  TwinText.duplex_put P (twin_of d) b = Some (twin_of (advance P (set_at (rate_idx d) b (state d)) d)).
Proof.
  intros [L W]; unfold TwinText.duplex_put, twin_of at 1 2 3 4 5; cbv zeta.
  cbn [TwinText.Duplex_state TwinText.Duplex_rate_idx TwinText.Duplex_frame_idx].
  rewrite update_is by (unfold rate, width in *; lia); cbn [Rust.bind].
  cbn [TwinText.Duplex_state TwinText.Duplex_rate_idx TwinText.Duplex_frame_idx].
  rewrite add_is by (unfold rate in *; simpl; lia); cbn [Rust.bind].
  cbn [TwinText.Duplex_state TwinText.Duplex_rate_idx TwinText.Duplex_frame_idx].
  set (d' := Duplex (set_at (rate_idx d) b (state d)) (rate_idx d + 1) (frame_idx d) (inputs d)).
  change (advance P (set_at (rate_idx d) b (state d)) d) with
    (if rate_idx d' =? rate then permute P d' else d').
  change (N.to_nat 1) with 1.
  change (make_Duplex _ _ _) with (twin_of d').
  replace (N.eqb _ _) with (rate_idx d' =? rate).
  - destruct (Nat.eqb_spec (rate_idx d') rate); [|reflexivity].
    apply pad_permute_full; [lia|]; unfold d'; cbn [state]; now rewrite set_at_length.
  - unfold TwinText.duplex_RATE, rate, d'; cbn [rate_idx].
    destruct (Nat.eqb_spec (rate_idx d + 1) 94), (N.eqb_spec (N.of_nat (rate_idx d + 1)) 94); auto; lia.
Qed.

Theorem xor_in_is b d : sane d -> TwinText.duplex_xor_in P (twin_of d) b = Some (twin_of (absorb1 P b d)).
Proof.
  intro H; unfold TwinText.duplex_xor_in; rewrite get_is by exact H; cbn [Rust.bind].
  now rewrite put_is, set_lxor by exact H.
Qed.

Lemma sane_set b d : sane d -> sane (advance P (set_at (rate_idx d) b (state d)) d).
Proof. intro H; rewrite set_is_xor; now apply (sane_absorb1 P HP). Qed.

Theorem absorb_is x : forall d, sane d -> TwinText.duplex_absorb P (twin_of d) x = Some (twin_of (absorb P x d)).
Proof.
  unfold TwinText.duplex_absorb; cbv zeta; induction x as [|b x IH]; intros d H; [reflexivity|].
  cbn [Rust.for_each]; rewrite xor_in_is by exact H; cbn [Rust.bind]; rewrite absorb_cons.
  apply IH; now apply sane_absorb1.
Qed.

Theorem squeeze_is n d : sane d ->
  TwinText.duplex_squeeze P (twin_of d) n = Some (twin_out (squeeze P (N.to_nat n) d)).
Proof.
  unfold TwinText.duplex_squeeze; cbv zeta; rewrite <- range_length; generalize (Rust.range 0 n).
  intros r H.
  match goal with |- context [Rust.for_each ?f r _] =>
    enough (E : forall out, Rust.for_each f r (out, twin_of d) =
      Some (out ++ fst (squeeze P (length r) d), twin_of (snd (squeeze P (length r) d)))) end.
  { now rewrite E. }
  revert d H; induction r as [|i r IH]; intros d H out; cbn [Rust.for_each length squeeze].
  - cbn [fst snd]; now rewrite app_nil_r.
  - rewrite get_is by exact H; cbn [Rust.bind]; rewrite put_is by exact H; cbn [Rust.bind].
    rewrite IH by (now apply sane_set).
    destruct (squeeze P (length r) _) as [os d']; cbn [fst snd]; unfold Rust.push; now rewrite <- app_assoc.
Qed.

Theorem encrypt_is p d : sane d -> TwinText.duplex_encrypt P (twin_of d) p = Some (twin_out (encrypt P p d)).
Proof.
  unfold TwinText.duplex_encrypt; cbv zeta; intro H.
  match goal with |- context [Rust.for_each ?f p _] =>
    enough (E : forall out, Rust.for_each f p (out, twin_of d) =
      Some (out ++ fst (encrypt P p d), twin_of (snd (encrypt P p d)))) end.
  { now rewrite E. }
  revert d H; induction p as [|b p IH]; intros d H out; cbn [Rust.for_each encrypt].
  - cbn [fst snd]; now rewrite app_nil_r.
  - rewrite get_is by exact H; cbn [Rust.bind]; rewrite xor_in_is by exact H; cbn [Rust.bind].
    rewrite IH by (now apply sane_absorb1).
    fold (absorb1 P b d); destruct (encrypt P p _) as [os d']; cbn [fst snd]; unfold Rust.push.
    rewrite <- app_assoc; repeat f_equal; destruct H as [L W]; rewrite get_xor_at, Nat.eqb_refl.
    destruct (Nat.ltb_spec (rate_idx d) (length (state d))); [reflexivity|unfold rate, width in *; lia].
Qed.

Theorem decrypt_is c d : sane d -> TwinText.duplex_decrypt P (twin_of d) c = Some (twin_out (decrypt P c d)).
Proof.
  unfold TwinText.duplex_decrypt; cbv zeta; intro H.
  match goal with |- context [Rust.for_each ?f c _] =>
    enough (E : forall out, Rust.for_each f c (out, twin_of d) =
      Some (out ++ fst (decrypt P c d), twin_of (snd (decrypt P c d)))) end.
  { now rewrite E. }
  revert d H; induction c as [|b c IH]; intros d H out; cbn [Rust.for_each decrypt].
  - cbn [fst snd]; now rewrite app_nil_r.
  - rewrite get_is by exact H; cbn [Rust.bind]; rewrite put_is by exact H; cbn [Rust.bind].
    rewrite IH by (now apply sane_set).
    destruct (decrypt P c _) as [os d']; cbn [fst snd]; unfold Rust.push; now rewrite <- app_assoc.
Qed.

(** Seven bits of a number, and the mark that more follow. *)
Lemma more_is x : N.lor (x mod 256) 128 = (x mod 128 + 128)%N.
Proof.
  apply N.bits_inj; intro i; rewrite N.lor_spec.
  replace (x mod 128 + 128)%N with (N.lor (x mod 128) 128).
  - rewrite N.lor_spec; change 256%N with (2 ^ 8)%N; change 128%N with (2 ^ 7)%N.
    destruct (N.lt_ge_cases i 7).
    + now rewrite !N.mod_pow2_bits_low by lia.
    + rewrite (N.mod_pow2_bits_high x 7) by lia.
      destruct (N.eq_dec i 7) as [->|]; [now rewrite N.pow2_bits_true, !orb_true_r|].
      now rewrite N.mod_pow2_bits_high by lia.
  - rewrite <- N.lxor_lor, <- N.add_nocarry_lxor; auto;
      apply N.bits_inj; intro j; rewrite N.land_spec, N.bits_0; change 128%N with (2 ^ 7)%N;
      destruct (N.eq_dec j 7) as [->|];
      [rewrite N.mod_pow2_bits_high by lia|rewrite N.pow2_bits_false by lia; apply andb_false_r
      |rewrite N.mod_pow2_bits_high by lia|rewrite N.pow2_bits_false by lia; apply andb_false_r]; reflexivity.
Qed.

Lemma leb_deeper k : forall j x, (x < 2 ^ N.of_nat k)%N -> (x < 2 ^ N.of_nat j)%N -> leb_fuel k x = leb_fuel j x.
Proof.
  assert (Q : forall k x, (x < 2 ^ N.of_nat (S k) -> x / 128 < 2 ^ N.of_nat k)%N).
  { intros n x H; apply N.div_lt_upper_bound; [discriminate|]; rewrite Nat2N.inj_succ, N.pow_succ_r' in H; lia. }
  induction k as [|k IH]; intros [|j] x K J; auto.
  - simpl in K; assert (x = 0%N) by lia; subst; reflexivity.
  - simpl in J; assert (x = 0%N) by lia; subst; reflexivity.
  - cbn [leb_fuel]; destruct (x <? 128)%N; [reflexivity|]; f_equal; apply IH; auto.
Qed.

Lemma absorb_leb128_within k : forall x d, sane d -> (x < 2 ^ N.of_nat k)%N ->
  TwinText.duplex_absorb_leb128_within P (S k) (twin_of d) x = Some (twin_of (absorb P (leb_fuel k x) d)).
Proof.
  induction k as [|k IH]; intros x d H L.
  - simpl in L; assert (x = 0%N) by lia; subst x; cbn - [TwinText.duplex_absorb absorb]; now apply absorb_is.
  - remember (S k) as k'; cbn [TwinText.duplex_absorb_leb128_within]; subst k'.
    change (Rust.index (Rust.le_bytes 8 x) 0) with (Some (x mod 256)%N); cbn [Rust.bind leb_fuel].
    destruct (N.ltb_spec x 128).
    + rewrite N.mod_small by lia; now apply absorb_is.
    + rewrite absorb_is by exact H; cbn [Rust.bind]; rewrite more_is.
      rewrite IH.
      * now rewrite N.shiftr_div_pow2.
      * now apply sane_absorb.
      * rewrite N.shiftr_div_pow2; apply N.div_lt_upper_bound; [discriminate|].
        rewrite Nat2N.inj_succ, N.pow_succ_r' in L; change (2 ^ 7)%N with 128%N; lia.
Qed.

Theorem absorb_leb128_is n d : sane d -> fits n ->
  TwinText.duplex_absorb_leb128 P (twin_of d) (N.of_nat n) = Some (twin_of (absorb P (leb n) d)).
Proof.
  intros H L; unfold TwinText.duplex_absorb_leb128, leb, fits in *; change Rust.deep with (S 99).
  assert (L' : (N.of_nat n < 2 ^ N.of_nat 99)%N) by (eapply N.lt_trans; [exact L|reflexivity]).
  rewrite absorb_leb128_within by auto; do 3 f_equal.
  apply leb_deeper; auto; rewrite N2Nat.id; apply N.size_gt.
Qed.

Theorem frame_is id d : sane d -> TwinText.duplex_frame P (twin_of d) id = Some (twin_of (frame P id d)).
Proof.
  intro H; unfold TwinText.duplex_frame.
  change (TwinText.Duplex_frame_idx (twin_of d)) with (N.of_nat (frame_idx d)).
  rewrite absorb_is by exact H; cbn [Rust.bind]; cbv zeta.
  change (absorb P [N.of_nat (frame_idx d)] d) with (absorb1 P (N.of_nat (frame_idx d)) d).
  set (d' := absorb1 P (N.of_nat (frame_idx d)) d); assert (H' : sane d') by now apply sane_absorb1.
  change (make_Duplex _ _ _) with (twin_of (Duplex (state d') (rate_idx d') (rate_idx d') (inputs d'))).
  rewrite absorb_is by (destruct H'; now split); reflexivity.
Qed.

Lemma sane_ratchet d : sane d -> sane (ratchet P d).
Proof.
  intro H; unfold ratchet; set (e := if rate_idx d =? 0 then d else permute P d).
  assert (E : sane e) by (unfold e; destruct (rate_idx d =? 0); auto; now apply sane_permute).
  destruct E as [_ W]; split; cbn [rate_idx state]; [unfold rate; lia|].
  rewrite app_length, repeat_length, skipn_length, W; reflexivity.
Qed.

Theorem ratchet_is d : sane d -> TwinText.duplex_ratchet P (twin_of d) = Some (twin_of (ratchet P d)).
Proof.
  intro H; unfold TwinText.duplex_ratchet, ratchet; set (e := if rate_idx d =? 0 then d else permute P d).
  assert (E : sane e) by (unfold e; destruct (rate_idx d =? 0); auto; now apply sane_permute).
  replace (if (0 <? TwinText.Duplex_rate_idx (twin_of d))%N then _ else _) with (Some (twin_of e)).
  2:{ unfold e; change (TwinText.Duplex_rate_idx (twin_of d)) with (N.of_nat (rate_idx d)).
      destruct (N.ltb_spec 0 (N.of_nat (rate_idx d))), (Nat.eqb_spec (rate_idx d) 0); try lia; auto.
      symmetry; now apply pad_permute_is. }
  cbn [Rust.bind]; clearbody e; destruct E as [_ W].
  rewrite (from_fn_is _ _ (fun i => if i <? 32 then 0%N else get i (state e))).
  - cbn [Rust.bind]; unfold twin_of; cbn [state rate_idx frame_idx TwinText.Duplex_frame_idx]; do 2 f_equal.
    change (N.to_nat 128) with (32 + 96); rewrite seq_app, map_app; f_equal.
    rewrite <- (map_seq_from 0%N 32 96) by exact W; apply map_ext_in; intros i I; apply in_seq in I.
    destruct (Nat.ltb_spec i 32); [lia|reflexivity].
  - intros i I; change (N.to_nat 128) with 128 in I.
    destruct (N.ltb_spec (N.of_nat i) 32), (Nat.ltb_spec i 32); try lia; auto.
    apply index_is; unfold twin_of; cbn [TwinText.Duplex_state]; unfold width in W; lia.
Qed.

(** ** Protocol *)

Lemma closing_is c : (c < 128)%N -> N.lor c 128 = (c + 128)%N.
Proof.
  intro L; rewrite <- (N.mod_small c 128) at 2 by exact L; rewrite <- more_is, N.mod_small by lia; reflexivity.
Qed.

Theorem header_is c l d : sane d -> (c < 128)%N ->
  TwinText.protocol_header P (twin_of d) c l = Some (twin_of (header P c l d)).
Proof.
  intros H C; unfold TwinText.protocol_header, header.
  rewrite frame_is by exact H; cbn [Rust.bind].
  rewrite absorb_is by (now apply sane_frame); cbn [Rust.bind].
  rewrite closing_is by exact C; apply frame_is; auto using sane_frame, sane_absorb.
Qed.

Local Hint Resolve sane_header sane_permute sane_absorb : core.

Lemma sane_start : sane start.
Proof. split; [unfold start, rate; simpl; lia|reflexivity]. Qed.

Lemma sane_encrypt p d : sane d -> sane (snd (encrypt P p d)).
Proof. intro H; rewrite encrypt_absorbs; auto. Qed.

Lemma sane_decrypt c d : sane d -> sane (snd (decrypt P c d)).
Proof. intro H; rewrite decrypt_absorbs; auto. Qed.

Lemma sane_squeeze n d : sane d -> sane (snd (squeeze P n d)).
Proof. intro H; rewrite squeeze_absorbs; auto. Qed.

Local Hint Resolve sane_encrypt sane_decrypt sane_squeeze sane_start : core.

Theorem init_is l : TwinText.protocol_init P l = Some (twin_of (snd (step P (Init l) start))).
Proof. apply (header_is 1 l start); [apply sane_start|reflexivity]. Qed.

Theorem mix_is l x d : sane d ->
  TwinText.protocol_mix P (twin_of d) l x = Some (twin_of (snd (step P (Mix l x) d))).
Proof.
  intro H; unfold TwinText.protocol_mix; rewrite header_is by (auto; reflexivity); cbn [Rust.bind].
  apply absorb_is; auto.
Qed.

Lemma cast_is n : fits n -> Rust.cast 64 (N.of_nat n) = N.of_nat n.
Proof. apply N.mod_small. Qed.

Theorem derive_is l n d : sane d -> fits n ->
  TwinText.protocol_derive P (twin_of d) l (N.of_nat n) = Some (twin_out (step P (Derive l n) d)).
Proof.
  intros H L; unfold TwinText.protocol_derive; rewrite header_is by (auto; reflexivity); cbn [Rust.bind].
  rewrite cast_is, absorb_leb128_is by auto; cbn [Rust.bind].
  rewrite pad_permute_is by auto; cbn [Rust.bind]; rewrite squeeze_is, Nat2N.id by auto; reflexivity.
Qed.

Theorem mask_is l p d : sane d ->
  TwinText.protocol_mask P (twin_of d) l p = Some (twin_out (step P (Mask l p) d)).
Proof.
  intro H; unfold TwinText.protocol_mask; rewrite header_is by (auto; reflexivity); cbn [Rust.bind].
  rewrite pad_permute_is by auto; cbn [Rust.bind]; apply encrypt_is; auto.
Qed.

Theorem unmask_is l c d : sane d ->
  TwinText.protocol_unmask P (twin_of d) l c = Some (twin_out (unmask P l c d)).
Proof.
  intro H; unfold TwinText.protocol_unmask; rewrite header_is by (auto; reflexivity); cbn [Rust.bind].
  rewrite pad_permute_is by auto; cbn [Rust.bind]; apply decrypt_is; auto.
Qed.

Theorem seal_is l p d : sane d -> fits (length p) ->
  TwinText.protocol_seal P (twin_of d) l p = Some (twin_out (step P (Seal l p) d)).
Proof.
  intros H L; unfold TwinText.protocol_seal, Rust.len; cbv zeta.
  rewrite header_is by (auto; reflexivity); cbn [Rust.bind].
  rewrite cast_is, absorb_leb128_is by auto; cbn [Rust.bind].
  rewrite pad_permute_is by auto; cbn [Rust.bind]; rewrite encrypt_is by auto.
  unfold step; cbn [act code label]; set (d0 := permute P _).
  assert (H0 : sane d0) by (unfold d0; auto); clearbody d0.
  pose proof (sane_encrypt p d0 H0) as H1; destruct (encrypt P p d0) as [c d1]; cbn [snd] in H1.
  unfold twin_out at 1; cbn [Rust.bind fst snd]; rewrite pad_permute_is by auto; cbn [Rust.bind].
  rewrite squeeze_is by auto; change (N.to_nat TwinText.protocol_TAG_LEN) with tag_length.
  destruct (squeeze P tag_length (permute P d1)) as [t d2]; unfold twin_out; cbn [Rust.bind fst snd concat].
  now rewrite app_nil_r.
Qed.

(** What the twin's [open] gives for a result of the model's [unseal], on [n] bytes of ciphertext in the state [d]. *)
Definition opening (n : nat) (d : duplex) (r : option (list byte) * duplex) : TwinText.Duplex * TwinText.Opened :=
  match fst r with
  | Some p => (twin_of (snd r), make_Opened true p)
  | None => (twin_of d, make_Opened false (repeat 0%N n))
  end.

Theorem open_is l c tag d : sane d -> length tag = tag_length -> fits (length (c ++ tag)) ->
  TwinText.protocol_open P (twin_of d) l (c ++ tag) = Some (opening (length c) d (unseal P l c tag d)).
Proof.
  intros H T F; unfold TwinText.protocol_open, Rust.len; rewrite app_length, T in *; unfold tag_length, fits in *.
  change TwinText.protocol_TAG_LEN with 16%N.
  destruct (N.ltb_spec (N.of_nat (length c + 16)) 16); [lia|].
  unfold Rust.sub; destruct (N.leb_spec 16 (N.of_nat (length c + 16))); [|lia]; cbn [Rust.bind].
  replace (N.of_nat (length c + 16) - 16)%N with (N.of_nat (length c)) by lia.
  unfold Rust.split_at, Rust.len; rewrite app_length, T.
  destruct (N.leb_spec (N.of_nat (length c)) (N.of_nat (length c + 16))); [|lia]; cbn [Rust.bind].
  rewrite Nat2N.id, firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all, firstn_O, app_nil_r, skipn_O.
  cbn [app]; rewrite header_is by (auto; reflexivity); cbn [Rust.bind].
  rewrite cast_is, absorb_leb128_is by (auto; unfold fits; lia); cbn [Rust.bind].
  rewrite pad_permute_is by auto; cbn [Rust.bind]; rewrite decrypt_is by auto.
  unfold unseal, opened; set (d0 := permute P _).
  assert (S0 : sane d0) by (unfold d0; auto); clearbody d0.
  pose proof (sane_decrypt c d0 S0) as S1; destruct (decrypt P c d0) as [p d1]; cbn [snd] in S1.
  unfold twin_out at 1; cbn [Rust.bind fst snd]; rewrite pad_permute_is by auto; cbn [Rust.bind].
  rewrite squeeze_is by auto; change (N.to_nat 16) with tag_length.
  destruct (squeeze P tag_length (permute P d1)) as [t d2]; unfold twin_out; cbn [Rust.bind fst snd].
  rewrite same_is; unfold opening; destruct (list_eq_dec N.eq_dec t tag); cbn [fst snd]; [reflexivity|].
  cbv zeta; unfold Rust.copies; now rewrite Nat2N.id.
Qed.

Theorem open_short l sealed d : length sealed < tag_length ->
  TwinText.protocol_open P (twin_of d) l sealed = Some (twin_of d, make_Opened false []).
Proof.
  intro L; unfold TwinText.protocol_open, Rust.len, tag_length in *; change TwinText.protocol_TAG_LEN with 16%N.
  destruct (N.ltb_spec (N.of_nat (length sealed)) 16); [reflexivity|lia].
Qed.

Theorem fork_branch_is l i v d : sane d ->
  TwinText.protocol_fork_branch P (twin_of d) l i v = Some (twin_of (snd (step P (Fork l i v) d))).
Proof.
  intro H; unfold TwinText.protocol_fork_branch; rewrite header_is by (auto; reflexivity); cbn [Rust.bind].
  rewrite absorb_is by auto; cbn [Rust.bind]; apply absorb_is; auto.
Qed.

Theorem fork_root_is l d : sane d ->
  TwinText.protocol_fork_root P (twin_of d) l = Some (twin_of (snd (step P (Fork l 0 []) d))).
Proof. apply fork_branch_is. Qed.

Theorem protocol_ratchet_is l d : sane d ->
  TwinText.protocol_ratchet P (twin_of d) l = Some (twin_of (snd (step P (Ratchet l) d))).
Proof.
  intro H; unfold TwinText.protocol_ratchet; rewrite header_is by (auto; reflexivity); cbn [Rust.bind].
  apply ratchet_is; auto.
Qed.

(** ** Whole transcripts *)

Lemma sane_step o d : sane d -> sane (snd (step P o d)).
Proof.
  intro H; unfold step; assert (H' : sane (header P (code o) (label o) d)) by auto.
  set (h := header P (code o) (label o) d) in *; clearbody h; destruct o as [m|m x|m n|m p|m p|m i v|m]; cbn [act snd]; auto.
  - pose proof (sane_encrypt p (permute P (absorb P (leb (length p)) h))) as E.
    destruct (encrypt P p _) as [c d1]; cbn [snd] in E.
    pose proof (sane_squeeze tag_length (permute P d1)) as F.
    destruct (squeeze P tag_length _) as [t d2]; cbn [snd] in *; auto 6.
  - now apply sane_ratchet.
Qed.

(** Every state that a transcript reaches is one of which the theorems above speak. *)
Theorem sane_run T : sane (run P T).
Proof. induction T as [|o T IH] using rev_ind; [apply sane_start|rewrite run_snoc; now apply sane_step]. Qed.

Definition no_output (t : Rust.outcome TwinText.Duplex) : Rust.outcome (TwinText.Duplex * list byte) :=
  Rust.bind t (fun t => Some (t, [])).

(** An operation by the twin.  [Init] does not look at the state; [Fork] with number 0 is [fork_root]. *)
Definition twin_step (o : op) (t : TwinText.Duplex) : Rust.outcome (TwinText.Duplex * list byte) :=
  match o with
  | Init l => no_output (TwinText.protocol_init P l)
  | Mix l x => no_output (TwinText.protocol_mix P t l x)
  | Derive l n => TwinText.protocol_derive P t l (N.of_nat n)
  | Mask l p => TwinText.protocol_mask P t l p
  | Seal l p => TwinText.protocol_seal P t l p
  | Fork l i v => no_output (TwinText.protocol_fork_branch P t l i v)
  | Ratchet l => no_output (TwinText.protocol_ratchet P t l)
  end.

(** A transcript by the twin: the state and all outputs. *)
Fixpoint twin_run (T : list op) (t : TwinText.Duplex) : Rust.outcome (TwinText.Duplex * list (list byte)) :=
  match T with
  | [] => Some (t, [])
  | o :: T => Rust.bind (twin_step o t) (fun r => Rust.bind (twin_run T (fst r)) (fun s => Some (fst s, snd r :: snd s)))
  end.

(** The same by the model. *)
Fixpoint model_outputs (T : list op) (d : duplex) : list (list byte) :=
  match T with
  | [] => []
  | o :: T => fst (step P o d) :: model_outputs T (snd (step P o d))
  end.

(** Lengths that a machine of 64 bits can have; [Init] only where the state is that of the beginning. *)
Definition runs_on (o : op) : Prop :=
  match o with Init _ => False | Derive _ n => fits n | Seal _ p => fits (length p) | _ => True end.

Lemma twin_step_is o d : sane d -> runs_on o -> twin_step o (twin_of d) = Some (twin_out (step P o d)).
Proof.
  intros H R; destruct o as [l|l x|l n|l p|l p|l i v|l]; cbn [twin_step runs_on] in *.
  - destruct R.
  - rewrite mix_is by exact H; reflexivity.
  - now apply derive_is.
  - now apply mask_is.
  - now apply seal_is.
  - rewrite fork_branch_is by exact H; reflexivity.
  - rewrite protocol_ratchet_is by exact H; reflexivity.
Qed.

Lemma twin_run_is T : forall d, sane d -> Forall runs_on T ->
  twin_run T (twin_of d) = Some (twin_of (fold_left (fun d o => snd (step P o d)) T d), model_outputs T d).
Proof.
  induction T as [|o T IH]; intros d H F; [reflexivity|]; cbn [twin_run]; inversion F; subst.
  rewrite twin_step_is by assumption; cbn [Rust.bind]; unfold twin_out; cbn [fst snd].
  rewrite IH by (auto using sane_step); reflexivity.
Qed.

(** The twin computes the state and the outputs of the model, on every transcript. *)
Theorem model_is_twin l T : Forall runs_on T ->
  twin_run (Init l :: T) TwinText.duplex_EMPTY =
  Some (twin_of (run P (Init l :: T)), model_outputs (Init l :: T) start).
Proof.
  intro F; cbn [twin_run twin_step]; rewrite init_is; unfold no_output; cbn [Rust.bind fst snd].
  rewrite twin_run_is by (auto using sane_step); reflexivity.
Qed.

End Twin.
