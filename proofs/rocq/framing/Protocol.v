(** * Protocol: a transcript can be decoded in only one way

    How to read this file.

    [op] lists the operations, [step] is what each of them does to the duplex, as the format
    writes it (XOR, overwriting, squeezing, for any permutation function [P]), and [run] is a
    whole transcript.  The theorems are about [run], the real states and the real inputs of the
    permutation:

    - [transcript_injective]: labels and domains of at most 91 bytes, equal permutation inputs
      and equal last states give equal transcripts, for every [P];
    - [transcript_injective_padded]: the same where the last partial block is seen only as the
      next (padded) permutation input;
    - [output_points_injective], [output_byte], [output_blocks_distinct]: the same for the
      places inside an operation where output is taken, which is the form that arguments
      about a random permutation need;
    - [label_92_collision], [label_limit_sharp]: 91 is the largest limit that works.

    How output is modelled, and why that is faithful.  It is not abstracted: [step] overwrites
    the state where the code does (squeeze: 0, decrypt: the ciphertext, ratchet: 32 zeros).  The
    proof uses that overwriting a byte is XORing it with a difference.  So every operation is a
    sequence of bytes XORed in and early closings of a block ([body]); for Derive and a tag the
    bytes XORed in are the output itself, whatever it is.  The theorems therefore hold even if
    an adversary could choose the outputs, and they do not depend on whether a byte was
    overwritten or XORed.

    Transcripts are written with plaintexts: Unmask and Open reach the state of Mask and Seal of
    the plaintext that they return ([unmask_is_mask], [unseal_is_seal], even if the tag is wrong).
    Mix, Mask and Unmask in pieces are the operation on the whole ([mix_pieces],
    [mask_pieces]).  After a fork, branch i continues from the transcript with [Fork l i v], and
    the root from the one with [Fork l 0 []].  So each state in a tree of protocols is one
    transcript. *)

From Coq Require Import List Bool NArith Arith Lia.
From Veriplex Require Import Duplex Framing.
Import ListNotations.

(** ** Operations *)

(** Unsigned LEB128 in its shortest form.  The number of bits is enough fuel. *)
Fixpoint leb_fuel (fuel : nat) (x : N) : list byte :=
  match fuel with
  | O => [x]
  | S k => if (x <? 128)%N then [x] else (x mod 128 + 128)%N :: leb_fuel k (x / 128)%N
  end.

Definition leb (n : nat) : list byte :=
  leb_fuel (N.to_nat (N.size (N.of_nat n))) (N.of_nat n).

Inductive op :=
  | Init (domain : list byte)
  | Mix (l x : list byte)
  | Derive (l : list byte) (n : nat)
  | Mask (l p : list byte)
  | Seal (l p : list byte)
  | Fork (l : list byte) (i : byte) (v : list byte)
  | Ratchet (l : list byte).

Definition code (o : op) : N :=
  match o with
  | Init _ => 1 | Mix _ _ => 2 | Derive _ _ => 3 | Mask _ _ => 4
  | Seal _ _ => 5 | Fork _ _ _ => 6 | Ratchet _ => 7
  end.

Definition label (o : op) : list byte :=
  match o with
  | Init l | Mix l _ | Derive l _ | Mask l _ | Seal l _ | Fork l _ _ | Ratchet l => l
  end.

Definition tag_length : nat := 16.

Section Operations.
Variable P : list byte -> list byte.

Definition header (c : N) (l : list byte) (d : duplex) : duplex :=
  frame P (c + 128) (absorb P l (frame P c d)).

(** What an operation does after its header: output, new state. *)
Definition act (o : op) (d : duplex) : list byte * duplex :=
  match o with
  | Init _ => ([], d)
  | Mix _ x => ([], absorb P x d)
  | Derive _ n => squeeze P n (permute P (absorb P (leb n) d))
  | Mask _ p => encrypt P p (permute P d)
  | Seal _ p =>
      let (c, d1) := encrypt P p (permute P (absorb P (leb (length p)) d)) in
      let (tag, d2) := squeeze P tag_length (permute P d1) in
      (c ++ tag, d2)
  | Fork _ i v => ([], absorb P v (absorb P [i] d))
  | Ratchet _ => ([], ratchet P d)
  end.

Definition step (o : op) (d : duplex) : list byte * duplex :=
  act o (header (code o) (label o) d).

Definition run (T : list op) : duplex := fold_left (fun d o => snd (step o d)) T start.

(** The receiving side. *)
Definition unmask (l c : list byte) (d : duplex) : list byte * duplex :=
  decrypt P c (permute P (header 4 l d)).

(** Plaintext and expected tag, whatever tag was received; then the comparison. *)
Definition opened (l c : list byte) (d : duplex) : (list byte * list byte) * duplex :=
  let (p, d1) := decrypt P c (permute P (absorb P (leb (length c)) (header 5 l d))) in
  let (t, d2) := squeeze P tag_length (permute P d1) in
  ((p, t), d2).

Definition unseal (l c tag : list byte) (d : duplex) : option (list byte) * duplex :=
  let (pt, d') := opened l c d in
  (if list_eq_dec N.eq_dec (snd pt) tag then Some (fst pt) else None, d').

(** A place inside an operation, just before its next output byte. *)
Inductive point :=
  | AtDerive (l : list byte) (n k : nat)        (* n bytes requested, k output so far *)
  | AtMask (l p : list byte)                    (* p encrypted so far *)
  | AtSeal (l : list byte) (n : nat) (p : list byte)  (* of n bytes, p encrypted so far *)
  | AtTag (l p : list byte) (k : nat).          (* p encrypted, k bytes of the tag output so far *)

Definition point_code (q : point) : N :=
  match q with AtDerive _ _ _ => 3 | AtMask _ _ => 4 | AtSeal _ _ _ | AtTag _ _ _ => 5 end.

Definition point_label (q : point) : list byte :=
  match q with AtDerive l _ _ | AtMask l _ | AtSeal l _ _ | AtTag l _ _ => l end.

Definition act_to (q : point) (d : duplex) : duplex :=
  match q with
  | AtDerive _ n k => snd (squeeze P k (permute P (absorb P (leb n) d)))
  | AtMask _ p => snd (encrypt P p (permute P d))
  | AtSeal _ n p => snd (encrypt P p (permute P (absorb P (leb n) d)))
  | AtTag _ p k =>
      let d1 := snd (encrypt P p (permute P (absorb P (leb (length p)) d))) in
      snd (squeeze P k (permute P d1))
  end.

(** The state in which a transcript [T] stands at the point [q] of its next operation. *)
Definition reach (T : list op) (q : point) : duplex :=
  act_to q (header (point_code q) (point_label q) (run T)).

(** ** The same on tapes *)

(** What an operation feeds after its header.  [d] is the duplex after the header: the bytes of
    an output are those that this duplex outputs. *)
Definition body (o : op) (d : duplex) : list token :=
  match o with
  | Init _ => []
  | Mix _ x => bytes x
  | Derive _ n =>
      bytes (leb n) ++ Close ::
      bytes (fst (squeeze P n (permute P (absorb P (leb n) d))))
  | Mask _ p => Close :: bytes p
  | Seal _ p =>
      let d1 := absorb P p (permute P (absorb P (leb (length p)) d)) in
      bytes (leb (length p)) ++ Close :: bytes p ++ Close ::
      bytes (fst (squeeze P tag_length (permute P d1)))
  | Fork _ i v => bytes (i :: v)
  | Ratchet _ =>
      let d1 := if rate_idx d =? 0 then d else permute P d in
      (if rate_idx d =? 0 then [] else [Close]) ++ bytes (firstn 32 (state d1))
  end.

Definition body_to (q : point) (d : duplex) : list token :=
  match q with
  | AtDerive _ n k =>
      bytes (leb n) ++ Close :: bytes (fst (squeeze P k (permute P (absorb P (leb n) d))))
  | AtMask _ p => Close :: bytes p
  | AtSeal _ n p => bytes (leb n) ++ Close :: bytes p
  | AtTag _ p k =>
      let d1 := absorb P p (permute P (absorb P (leb (length p)) d)) in
      bytes (leb (length p)) ++ Close :: bytes p ++ Close ::
      bytes (fst (squeeze P k (permute P d1)))
  end.

Definition tape_step (t : tape) (o : op) : tape :=
  let h := tape_header (code o) (label o) t in feed (body o (render P h)) h.

Definition tape_run (T : list op) : tape := fold_left tape_step T blank.

Definition tape_reach (T : list op) (q : point) : tape :=
  let h := tape_header (point_code q) (point_label q) (tape_run T) in
  feed (body_to q (render P h)) h.

(** The padded blocks that a transcript feeds: the k-th permutation input is the state after the
    previous permutation, XORed with the k-th of these. *)
Definition fed (T : list op) : list (list byte) := map pad (closed (tape_run T)).

Definition short (o : op) : Prop := length (label o) <= label_max.

(** *** Tapes and the machine agree *)

Section Agree.
Hypothesis HP : keeps_length P.

Lemma wf_tape_header c l t : wf t -> wf (tape_header c l t).
Proof. intro; unfold tape_header; auto using wf_mark, wf_feed. Qed.

Lemma render_header c l t : wf t ->
  render P (tape_header c l t) = header c l (render P t).
Proof.
  intro W; unfold tape_header, header.
  rewrite render_mark, render_absorb, render_mark; auto using wf_mark, wf_feed.
Qed.

Lemma render_close w t : wf t ->
  render P (feed (Close :: w) t) = render P (feed w (feed1 t Close)) /\
  render P (feed1 t Close) = permute P (render P t) /\ wf (feed1 t Close).
Proof.
  intro W; split; [reflexivity|split; [|now apply wf_feed1]].
  apply render_permute; auto; destruct W; lia.
Qed.

(** Zeroing 32 bytes of a fresh block is feeding those 32 bytes. *)
Lemma render_zeroing t : wf t -> cur t = [] ->
  render P (feed (bytes (firstn 32 (state (render P t)))) t) =
  Duplex (repeat 0%N 32 ++ skipn 32 (state (render P t))) 32
    (frame_idx (render P t)) (inputs (render P t)).
Proof.
  intros W E.
  assert (L : length (firstn 32 (state (render P t))) = 32).
  { rewrite firstn_length, render_state_length by assumption; reflexivity. }
  rewrite feed_bytes_within by (rewrite E, L; unfold rate; simpl; lia).
  unfold render in *; cbn [closed cur fi] in *; rewrite E in *.
  destruct (play P (closed t)) as [ins s]; cbn [state rate_idx frame_idx inputs app] in *.
  rewrite xors_nil in *; rewrite L; f_equal.
  rewrite <- L at 2; generalize 32; clear; intro k.
  revert k; induction s as [|a s IH]; intros [|k]; simpl; auto.
  now rewrite N.lxor_nilpotent, IH.
Qed.

Lemma body_agrees o t : wf t ->
  render P (feed (body o (render P t)) t) = snd (act o (render P t)).
Proof.
  intro W; destruct o as [l|l x|l n|l p|l p|l i v|l]; cbn [body act].
  - reflexivity.
  - now apply render_absorb.
  - rewrite feed_app, <- (render_absorb P HP) by assumption.
    set (u := feed (bytes (leb n)) t); assert (U : wf u) by now apply wf_feed.
    destruct (render_close [] u U) as (_ & R & U'); rewrite <- R.
    rewrite feed_cons, render_absorb by assumption; symmetry; apply squeeze_absorbs.
  - destruct (render_close [] t W) as (_ & R & W'); rewrite <- R.
    rewrite feed_cons, render_absorb by assumption; symmetry; apply encrypt_absorbs.
  - rewrite feed_app, <- (render_absorb P HP) by assumption.
    set (u := feed (bytes (leb (length p))) t); assert (U : wf u) by now apply wf_feed.
    destruct (render_close [] u U) as (_ & R & U'); rewrite <- R.
    rewrite feed_cons, feed_app.
    generalize (encrypt_absorbs P p (render P (feed1 u Close))).
    destruct (encrypt P p (render P (feed1 u Close))) as [c d1]; cbn [snd]; intros ->.
    rewrite <- (render_absorb P HP) by assumption.
    set (v := feed (bytes p) (feed1 u Close)); assert (V : wf v) by now apply wf_feed.
    destruct (render_close [] v V) as (_ & R' & V'); rewrite <- R'.
    rewrite feed_cons, render_absorb by assumption.
    rewrite <- squeeze_absorbs; now destruct (squeeze P tag_length _).
  - rewrite <- absorb_app; now apply render_absorb.
  - unfold ratchet.
    assert (I : rate_idx (render P t) = length (cur t))
      by (unfold render; now destruct (play P (closed t))).
    rewrite I; destruct (Nat.eqb_spec (length (cur t)) 0) as [E|E].
    + apply render_zeroing; auto; now destruct (cur t).
    + destruct (render_close [] t W) as (_ & R & W'); rewrite <- R.
      rewrite feed_app; now apply render_zeroing.
Qed.

Lemma wf_tape_step t o : wf t -> wf (tape_step t o).
Proof. intro W; apply wf_feed, wf_tape_header, W. Qed.

Lemma step_agrees t o : wf t -> render P (tape_step t o) = snd (step o (render P t)).
Proof.
  intro W; unfold tape_step, step.
  rewrite body_agrees, render_header; auto using wf_tape_header.
Qed.

Lemma tape_run_snoc T o : tape_run (T ++ [o]) = tape_step (tape_run T) o.
Proof. unfold tape_run; now rewrite fold_left_app. Qed.

Lemma run_snoc T o : run (T ++ [o]) = snd (step o (run T)).
Proof. unfold run; now rewrite fold_left_app. Qed.

Lemma wf_tape_run T : wf (tape_run T).
Proof.
  induction T as [|o T IH] using rev_ind; [apply wf_blank|].
  rewrite tape_run_snoc; now apply wf_tape_step.
Qed.

Theorem run_agrees T : run T = render P (tape_run T).
Proof.
  induction T as [|o T IH] using rev_ind; [reflexivity|].
  rewrite run_snoc, tape_run_snoc, step_agrees, IH; auto using wf_tape_run.
Qed.

Lemma body_to_agrees q t : wf t ->
  render P (feed (body_to q (render P t)) t) = act_to q (render P t).
Proof.
  intro W; destruct q as [l n k|l p|l n p|l p k]; cbn [body_to act_to].
  - rewrite feed_app, <- (render_absorb P HP) by assumption.
    set (u := feed (bytes (leb n)) t); assert (U : wf u) by now apply wf_feed.
    destruct (render_close [] u U) as (_ & R & U'); rewrite <- R.
    rewrite feed_cons, render_absorb by assumption; symmetry; apply squeeze_absorbs.
  - apply (body_agrees (Mask l p) t W).
  - rewrite feed_app, <- (render_absorb P HP) by assumption.
    set (u := feed (bytes (leb n)) t); assert (U : wf u) by now apply wf_feed.
    destruct (render_close [] u U) as (_ & R & U'); rewrite <- R.
    rewrite feed_cons, render_absorb by assumption; symmetry; apply encrypt_absorbs.
  - rewrite feed_app, <- (render_absorb P HP) by assumption.
    set (u := feed (bytes (leb (length p))) t); assert (U : wf u) by now apply wf_feed.
    destruct (render_close [] u U) as (_ & R & U'); rewrite <- R.
    rewrite feed_cons, feed_app, encrypt_absorbs, <- (render_absorb P HP) by assumption.
    set (v := feed (bytes p) (feed1 u Close)); assert (V : wf v) by now apply wf_feed.
    destruct (render_close [] v V) as (_ & R' & V'); rewrite <- R'.
    rewrite feed_cons, render_absorb by assumption; symmetry; apply squeeze_absorbs.
Qed.

Lemma wf_tape_reach T q : wf (tape_reach T q).
Proof. apply wf_feed, wf_tape_header, wf_tape_run. Qed.

Lemma reach_agrees T q : reach T q = render P (tape_reach T q).
Proof.
  unfold reach, tape_reach; rewrite run_agrees.
  rewrite body_to_agrees, render_header; auto using wf_tape_header, wf_tape_run.
Qed.
End Agree.
End Operations.

(** ** Decoding what follows a header *)

Lemma split_at_close x y v w :
  bytes x ++ Close :: v = bytes y ++ Close :: w -> x = y /\ v = w.
Proof.
  revert y; induction x as [|a x IH]; intros [|b y] E; simpl in E; try discriminate.
  - now injection E.
  - injection E as -> E; now destruct (IH y E) as [-> ->].
Qed.

Lemma no_close x y v : bytes x <> bytes y ++ Close :: v.
Proof.
  revert y; induction x as [|a x IH]; intros [|b y] E; try discriminate.
  injection E as _ E; now apply IH in E.
Qed.

Fixpoint unleb (s : list byte) : N :=
  match s with
  | [] => 0
  | b :: r => if (b <? 128)%N then b else (b - 128 + 128 * unleb r)%N
  end.

Lemma unleb_leb_fuel k : forall x, (x < 2 ^ N.of_nat k)%N -> unleb (leb_fuel k x) = x.
Proof.
  induction k as [|k IH]; intros x H.
  - simpl in *; assert (x = 0%N) by lia; now subst.
  - cbn [leb_fuel]; destruct (N.ltb_spec x 128) as [L|L]; cbn [unleb].
    + now destruct (N.ltb_spec x 128); [|lia].
    + assert (Q : (x / 128 < 2 ^ N.of_nat k)%N).
      { apply N.div_lt_upper_bound; [discriminate|].
        rewrite Nat2N.inj_succ, N.pow_succ_r' in H; lia. }
      rewrite (IH _ Q); pose proof (N.div_mod x 128 ltac:(discriminate)) as D.
      revert D; generalize (x mod 128)%N, (x / 128)%N; clear; intros m q D.
      destruct (N.ltb_spec (m + 128) 128); lia.
Qed.

Lemma leb_inj n m : leb n = leb m -> n = m.
Proof.
  intro E; apply (f_equal unleb) in E; unfold leb in E.
  rewrite !unleb_leb_fuel in E by (rewrite N2Nat.id; apply N.size_gt).
  now apply Nat2N.inj.
Qed.

Lemma body_inj P Q o1 o2 d1 d2 : code o1 = code o2 -> label o1 = label o2 ->
  body P o1 d1 = body Q o2 d2 -> o1 = o2.
Proof.
  destruct o1 as [l|l x|l n|l p|l p|l i v|l], o2 as [l'|l' x'|l' n'|l' p'|l' p'|l' i' v'|l'];
    cbn [code label body]; try discriminate; intros _ <- E; try reflexivity.
  - now apply bytes_inj in E as ->.
  - apply split_at_close in E as [E _]; now apply leb_inj in E as ->.
  - injection E as E; now apply bytes_inj in E as ->.
  - apply split_at_close in E as [_ E]; now apply split_at_close in E as [-> _].
  - apply bytes_inj in E; now injection E as -> ->.
Qed.

Lemma body_to_inj P q1 q2 d1 d2 :
  point_code q1 = point_code q2 -> point_label q1 = point_label q2 ->
  body_to P q1 d1 = body_to P q2 d2 -> q1 = q2.
Proof.
  destruct q1 as [l n k|l p|l n p|l p k], q2 as [l' n' k'|l' p'|l' n' p'|l' p' k'];
    cbn [point_code point_label body_to]; try discriminate; intros _ <- E.
  - apply split_at_close in E as [E F]; apply leb_inj in E as ->.
    apply bytes_inj, (f_equal (@length N)) in F; now rewrite !squeeze_length in F; subst.
  - injection E as E; now apply bytes_inj in E as ->.
  - apply split_at_close in E as [E F]; apply leb_inj in E as ->.
    now apply bytes_inj in F as ->.
  - apply split_at_close in E as [_ E]; now apply no_close in E.
  - apply split_at_close in E as [_ E]; symmetry in E; now apply no_close in E.
  - apply split_at_close in E as [_ E]; apply split_at_close in E as [-> F].
    apply bytes_inj, (f_equal (@length N)) in F; now rewrite !squeeze_length in F; subst.
Qed.

(** ** The theorems *)

Lemma code_small o : (code o < 128)%N.
Proof. now destruct o. Qed.

Lemma point_code_small q : (point_code q < 128)%N.
Proof. now destruct q. Qed.

Lemma ready_tape_run P T : ready (tape_run P T).
Proof.
  induction T as [|o T IH] using rev_ind; [apply ready_blank|].
  rewrite tape_run_snoc; apply ready_feed, ready_header, IH.
Qed.

(** An operation leaves a trace: the last thing fed shows. *)
Lemma feed1_not_blank t k : feed1 t k <> blank.
Proof.
  destruct k; simpl; [destruct (_ =? _)|]; intro E; injection E; intros;
    match goal with H : _ ++ [_] = [] |- _ => symmetry in H; now apply app_cons_not_nil in H end.
Qed.

Lemma tape_step_not_blank P t o : tape_step P t o <> blank.
Proof.
  unfold tape_step; generalize (body P o (render P (tape_header (code o) (label o) t))).
  intro w; destruct w as [|k w _] using rev_ind.
  - apply feed1_not_blank.
  - rewrite feed_app; apply feed1_not_blank.
Qed.

(** The fed blocks, closed and open, determine the transcript.  The permutation need not even be
    the same: the blocks alone can be decoded. *)
Theorem tape_injective P Q T1 : forall T2,
  Forall short T1 -> Forall short T2 ->
  tape_run P T1 = tape_run Q T2 -> T1 = T2.
Proof.
  induction T1 as [|o1 T1 IH] using rev_ind; intros T2 S1 S2;
    destruct T2 as [|o2 T2 _] using rev_ind; rewrite ?tape_run_snoc; intro E; auto.
  - symmetry in E; now apply tape_step_not_blank in E.
  - now apply tape_step_not_blank in E.
  - apply Forall_app in S1 as [S1 O1]; apply Forall_app in S2 as [S2 O2].
    inversion O1; inversion O2; subst.
    apply header_injective in E as (C & L & B & E); auto using ready_tape_run, code_small.
    apply body_inj in B as ->; auto.
    now rewrite (IH T2 S1 S2 E).
Qed.

(** Main theorem.  [run P T] is the real state: 128 bytes, both indices, and the list of all
    permutation inputs. *)
Theorem transcript_injective :
  forall (P : list byte -> list byte) (T1 T2 : list op),
  (forall s, length s = width -> length (P s) = width) ->
  (forall o, In o (T1 ++ T2) -> length (label o) <= label_max) ->
  run P T1 = run P T2 -> T1 = T2.
Proof.
  intros P T1 T2 HP S E.
  assert (Forall short T1 /\ Forall short T2) as [S1 S2].
  { split; apply Forall_forall; intros o I; apply S, in_or_app; auto. }
  rewrite !(run_agrees P HP) in E.
  apply render_inj in E; auto using wf_tape_run.
  now apply tape_injective in E.
Qed.

(** The same, seen by the permutation alone: close the last block and compare inputs. *)
Theorem transcript_injective_padded :
  forall (P : list byte -> list byte) (T1 T2 : list op),
  (forall s, length s = width -> length (P s) = width) ->
  (forall o, In o (T1 ++ T2) -> length (label o) <= label_max) ->
  inputs (permute P (run P T1)) = inputs (permute P (run P T2)) -> T1 = T2.
Proof.
  intros P T1 T2 HP S E.
  assert (Forall short T1 /\ Forall short T2) as [S1 S2].
  { split; apply Forall_forall; intros o I; apply S, in_or_app; auto. }
  rewrite !(run_agrees P HP) in E.
  destruct (render_close P HP [] (tape_run P T1) (wf_tape_run P T1)) as (_ & R1 & W1).
  destruct (render_close P HP [] (tape_run P T2) (wf_tape_run P T2)) as (_ & R2 & W2).
  rewrite <- R1, <- R2 in E.
  assert (F : forall t, inputs (render P t) = fst (play P (closed t)))
    by (intro t; unfold render; now destruct (play P (closed t))).
  rewrite !F in E; apply (play_inj P HP) in E; [|apply W1|apply W2].
  apply (tape_injective P P); auto.
  apply feed1_inj with (j := Close) (k := Close); try apply wf_tape_run.
  unfold feed1 in *; cbn [closed] in E; now rewrite E.
Qed.

(** Output.  At a point with [rate_idx] 0 the duplex stands at the start of a block: its state
    is [P (last (inputs d))], and the output bytes (or keystream) of this block are bytes of it
    ([next_byte]), up to 94 or the end of the operation.  So an output byte is determined by such
    a point and an offset.  This theorem says that different points have different sequences of
    permutation inputs: no output block of one transcript is the output block of another, or of
    another place in the same one. *)
Theorem output_points_injective :
  forall (P : list byte -> list byte) (T1 T2 : list op) (q1 q2 : point),
  (forall s, length s = width -> length (P s) = width) ->
  (forall o, In o (T1 ++ T2) -> length (label o) <= label_max) ->
  length (point_label q1) <= label_max -> length (point_label q2) <= label_max ->
  rate_idx (reach P T1 q1) = 0 -> rate_idx (reach P T2 q2) = 0 ->
  inputs (reach P T1 q1) = inputs (reach P T2 q2) ->
  T1 = T2 /\ q1 = q2.
Proof.
  intros P T1 T2 q1 q2 HP S Q1 Q2 I1 I2 E.
  assert (Forall short T1 /\ Forall short T2) as [S1 S2].
  { split; apply Forall_forall; intros o I; apply S, in_or_app; auto. }
  rewrite (reach_agrees P HP) in *; rewrite (reach_agrees P HP) in E.
  assert (R : forall t, rate_idx (render P t) = length (cur t) /\
                        inputs (render P t) = fst (play P (closed t)))
    by (intro t; unfold render; now destruct (play P (closed t))).
  destruct (R (tape_reach P T1 q1)) as [R1 F1], (R (tape_reach P T2 q2)) as [R2 F2].
  destruct (wf_tape_reach P T1 q1) as (_ & G1 & W1), (wf_tape_reach P T2 q2) as (_ & G2 & W2).
  assert (X : tape_reach P T1 q1 = tape_reach P T2 q2).
  { rewrite F1, F2 in E; apply (play_inj P HP) in E; auto.
    destruct (tape_reach P T1 q1) as [c1 [|] f1], (tape_reach P T2 q2) as [c2 [|] f2];
      cbn [closed cur fi] in *; try (rewrite R1 in I1; discriminate);
      try (rewrite R2 in I2; discriminate).
    simpl in G1, G2; f_equal; auto; lia. }
  unfold tape_reach in X.
  apply header_injective in X as (C & L & B & X); auto using ready_tape_run, point_code_small.
  apply body_to_inj in B as ->; auto.
  apply tape_injective in X as ->; auto.
Qed.

(** ** 91 is the limit *)

(** The transcripts of the known answer [label_92_collision]: domain "d", label "a", 83 times
    "A", and "payload" under a label of 92 times "L".  Both frames of that second header fall
    on position 93 and vanish, so it reads as data of the first Mix. *)
Definition payload : list byte := [112; 97; 121; 108; 111; 97; 100]%N.

Definition collision_left : list op :=
  [Init [100%N];
   Mix [97%N] (repeat 65%N 83 ++ [9; 2]%N ++ repeat 76%N 92 ++ [0; 130]%N ++ payload)].

Definition collision_right : list op :=
  [Init [100%N]; Mix [97%N] (repeat 65%N 83); Mix (repeat 76%N 92) payload].

Theorem label_92_collision :
  collision_left <> collision_right /\
  (forall o, In o (collision_left ++ collision_right) -> length (label o) <= 92) /\
  forall P : list byte -> list byte,
    (forall s, length s = width -> length (P s) = width) ->
    run P collision_left = run P collision_right.
Proof.
  split; [discriminate|split].
  - intros o I; simpl in I; repeat destruct I as [<-|I]; try now destruct I; simpl; lia.
  - intros P HP; rewrite !(run_agrees P HP); apply f_equal.
    lazy; reflexivity.
Qed.

(** So a limit [m] on labels and domains makes transcripts injective if and only if [m <= 91]. *)
Theorem label_limit_sharp : forall m : nat,
  (forall (P : list byte -> list byte) (T1 T2 : list op),
     (forall s, length s = width -> length (P s) = width) ->
     (forall o, In o (T1 ++ T2) -> length (label o) <= m) ->
     run P T1 = run P T2 -> T1 = T2)
  <-> m <= 91.
Proof.
  intro m; split.
  - intro H; destruct (le_lt_dec m 91) as [|M]; auto; exfalso.
    destruct label_92_collision as (N & S & E); apply N.
    apply (H (fun s => s)); auto.
    intros o I; specialize (S o I); lia.
  - intros M P T1 T2 HP S; apply transcript_injective; auto.
    intros o I; specialize (S o I); unfold label_max; lia.
Qed.

(** ** Receiving reaches the sender's state *)

Section Receiving.
Variable P : list byte -> list byte.
Hypothesis HP : keeps_length P.

Definition sane (d : duplex) : Prop := rate_idx d < rate /\ length (state d) = width.

Lemma sane_render t : wf t -> sane (render P t).
Proof.
  intros (L & _); split; [|now apply render_state_length].
  unfold render; now destruct (play P (closed t)).
Qed.

Lemma sane_permute_full d : length (state d) = width -> sane (permute P d).
Proof.
  intro W; split; unfold permute; cbn [state rate_idx]; [unfold rate; lia|].
  apply HP; now rewrite !xor_at_length.
Qed.

Lemma sane_permute d : sane d -> sane (permute P d).
Proof. intros [_ W]; now apply sane_permute_full. Qed.

Lemma sane_absorb1 b d : sane d -> sane (absorb1 P b d).
Proof.
  intros [L W]; unfold absorb1, advance; cbn [rate_idx].
  assert (E : length (xor_at (rate_idx d) b (state d)) = width) by now rewrite xor_at_length.
  destruct (Nat.eqb_spec (rate_idx d + 1) rate).
  - apply (sane_permute_full (Duplex _ (rate_idx d + 1) (frame_idx d) (inputs d)) E).
  - split; cbn [rate_idx state]; auto; lia.
Qed.

Lemma sane_absorb x : forall d, sane d -> sane (absorb P x d).
Proof. induction x; intros d H; auto; rewrite absorb_cons; auto using sane_absorb1. Qed.

Lemma sane_frame id d : sane d -> sane (frame P id d).
Proof.
  intro H; unfold frame; apply sane_absorb1.
  destruct (sane_absorb1 (N.of_nat (frame_idx d)) d H); now split.
Qed.

Lemma sane_header c l d : sane d -> sane (header P c l d).
Proof. intro; unfold header; auto using sane_frame, sane_absorb. Qed.

Lemma encrypt_decrypt c : forall d, sane d ->
  encrypt P (fst (decrypt P c d)) d = (c, snd (decrypt P c d)).
Proof.
  induction c as [|b c IH]; intros d H; [reflexivity|]; cbn [decrypt].
  rewrite set_is_xor; set (p := N.lxor (get (rate_idx d) (state d)) b).
  fold (absorb1 P p d); specialize (IH _ (sane_absorb1 p d H)).
  destruct (decrypt P c (absorb1 P p d)) as [ps d']; cbn [fst snd] in *; cbn [encrypt].
  fold (absorb1 P p d); rewrite IH; f_equal; f_equal.
  destruct H as [L W]; rewrite get_xor_at, Nat.eqb_refl.
  destruct (Nat.ltb_spec (rate_idx d) (length (state d))); [|unfold rate, width in *; lia].
  simpl; unfold p; now rewrite <- N.lxor_assoc, N.lxor_nilpotent, N.lxor_0_l.
Qed.

Lemma decrypt_length c : forall d, length (fst (decrypt P c d)) = length c.
Proof.
  induction c as [|b c IH]; intro d; [reflexivity|]; cbn [decrypt].
  specialize (IH (advance P (set_at (rate_idx d) b (state d)) d)).
  destruct (decrypt P c _); simpl in *; now rewrite IH.
Qed.

Theorem unmask_is_mask l c d p d' : sane d ->
  unmask P l c d = (p, d') -> step P (Mask l p) d = (c, d').
Proof.
  intros H E; unfold unmask, step in *; cbn [act code label].
  pose proof (encrypt_decrypt c _ (sane_permute _ (sane_header 4 l d H))) as X.
  now rewrite E in X.
Qed.

(** Opening always reaches the state of sealing the bytes that it decrypted; it returns them if
    and only if the tag is that of this sealing. *)
Lemma opened_is_seal l c d p t d' : sane d ->
  opened P l c d = ((p, t), d') ->
  step P (Seal l p) d = (c ++ t, d') /\ length t = tag_length.
Proof.
  intros H E; unfold opened, step in *; cbn [act code label].
  set (d0 := permute P (absorb P (leb (length c)) (header P 5 l d))) in *.
  assert (H0 : sane d0) by (apply sane_permute, sane_absorb, sane_header, H).
  pose proof (encrypt_decrypt c d0 H0) as X; pose proof (decrypt_length c d0) as L.
  destruct (decrypt P c d0) as [p' d1]; cbn [fst snd] in *.
  pose proof (squeeze_length P tag_length (permute P d1)) as Y.
  destruct (squeeze P tag_length (permute P d1)) as [t' d2] eqn:S; cbn [fst] in Y.
  assert (A : p' = p) by congruence; assert (B : t' = t) by congruence;
    assert (C : d2 = d') by congruence; subst p' t' d2.
  split; [|exact Y]; rewrite L; fold d0; rewrite X, S; reflexivity.
Qed.

Theorem unseal_is_seal l c tag d r d' : sane d ->
  unseal P l c tag d = (r, d') ->
  exists p t, step P (Seal l p) d = (c ++ t, d') /\ length t = tag_length /\
              r = if list_eq_dec N.eq_dec t tag then Some p else None.
Proof.
  intros H; unfold unseal; destruct (opened P l c d) as [[p t] d1] eqn:E; cbn [fst snd].
  intro F; assert (d1 = d') by congruence; subst d1; exists p, t.
  destruct (opened_is_seal l c d p t d' H E); repeat split; auto; congruence.
Qed.

(** Streams: data in pieces. *)
Theorem mix_pieces l x y d :
  absorb P y (snd (step P (Mix l x) d)) = snd (step P (Mix l (x ++ y)) d).
Proof. symmetry; apply absorb_app. Qed.

Theorem mask_pieces l p q d :
  snd (encrypt P q (snd (step P (Mask l p) d))) = snd (step P (Mask l (p ++ q)) d).
Proof.
  unfold step; cbn [act code label]; rewrite !encrypt_absorbs; symmetry; apply absorb_app.
Qed.
End Receiving.

(** ** Where an output byte comes from

    Every point lies in the block of a point with [rate_idx] 0, reached by the same operation
    with the same permutation inputs.  The byte output there (or used as keystream) is the byte
    at [rate_idx] of the permutation's last output. *)

(** [begins q0 q]: [q] is [q0] some bytes later. *)
Inductive begins : point -> point -> Prop :=
  | begins_derive l n k i : begins (AtDerive l n k) (AtDerive l n (k + i))
  | begins_mask l p r : begins (AtMask l p) (AtMask l (p ++ r))
  | begins_seal l n p r : begins (AtSeal l n p) (AtSeal l n (p ++ r))
  | begins_tag l p k i : begins (AtTag l p k) (AtTag l p (k + i)).

Section Output.
Variable P : list byte -> list byte.
Hypothesis HP : keeps_length P.

(** When bytes are fed from the start of a block, the block in which they end begins after some
    of them. *)
Lemma block_start x t : cur t = [] ->
  exists y z, x = y ++ z /\ cur (feed (bytes y) t) = [] /\
              closed (feed (bytes y) t) = closed (feed (bytes x) t).
Proof.
  intro E; induction x as [|b x (y & z & X & C & D)] using rev_ind.
  - exists [], []; auto.
  - unfold bytes in *; rewrite map_app, feed_app; cbn [map feed fold_left feed1].
    destruct (length (cur (feed (map Byte x) t) ++ [b]) =? rate) eqn:F.
    + exists (x ++ [b]), []; rewrite app_nil_r; split; [reflexivity|].
      rewrite map_app, feed_app; cbn [map feed fold_left feed1]; now rewrite F.
    + exists y, (z ++ [b]); subst x; rewrite app_assoc; auto.
Qed.

Lemma closed_stays w : forall t, closed t <> [] -> closed (feed w t) <> [].
Proof.
  induction w as [|k w IH]; intros t N; auto; apply IH.
  destruct k; simpl; [destruct (_ =? _)|]; simpl; auto;
    intro E; symmetry in E; now apply app_cons_not_nil in E.
Qed.

Lemma squeeze_take n m : forall d,
  fst (squeeze P n d) = firstn n (fst (squeeze P (n + m) d)).
Proof.
  induction n as [|n IH]; intro d; [reflexivity|]; cbn [squeeze Nat.add].
  specialize (IH (advance P (set_at (rate_idx d) 0%N (state d)) d)).
  destruct (squeeze P n _), (squeeze P (n + m) _); cbn [fst firstn] in *; now rewrite IH.
Qed.

Lemma squeeze_prefix n d y z : fst (squeeze P n d) = y ++ z ->
  exists i, n = length y + i /\ fst (squeeze P (length y) d) = y.
Proof.
  intro E; pose proof (f_equal (@length N) E) as L.
  rewrite squeeze_length, app_length in L; exists (length z); split; [exact L|].
  rewrite (squeeze_take (length y) (length z)), <- L, E.
  rewrite firstn_app, Nat.sub_diag, firstn_all; simpl; apply app_nil_r.
Qed.

(** The bytes of an output operation follow the closing of a block. *)
Lemma point_shape q d : exists pre x, body_to P q d = pre ++ Close :: bytes x /\
  forall y z, x = y ++ z -> exists q0, begins q0 q /\ point_code q0 = point_code q /\
    point_label q0 = point_label q /\ body_to P q0 d = pre ++ Close :: bytes y.
Proof.
  destruct q as [l n k|l p|l n p|l p k]; cbn [body_to].
  - eexists _, _; split; [reflexivity|]; intros y z E.
    apply squeeze_prefix in E as (i & -> & E).
    exists (AtDerive l n (length y)); cbn [body_to]; rewrite E; auto using begins.
  - exists [], p; split; [reflexivity|]; intros y z ->.
    exists (AtMask l y); auto using begins.
  - eexists _, _; split; [reflexivity|]; intros y z ->.
    exists (AtSeal l n y); auto using begins.
  - set (d1 := absorb P p _); exists (bytes (leb (length p)) ++ Close :: bytes p).
    eexists; split; [now rewrite <- app_assoc|]; intros y z E.
    apply squeeze_prefix in E as (i & -> & E).
    exists (AtTag l p (length y)); cbn [body_to]; fold d1; rewrite E, <- app_assoc.
    auto using begins.
Qed.

Theorem output_byte : forall (T : list op) (q : point),
  (exists q0, begins q0 q /\ rate_idx (reach P T q0) = 0 /\
              inputs (reach P T q0) = inputs (reach P T q)) /\
  let d := reach P T q in
  get (rate_idx d) (state d) = get (rate_idx d) (P (last (inputs d) [])).
Proof.
  intros T q.
  assert (R : forall t, rate_idx (render P t) = length (cur t) /\
                        inputs (render P t) = fst (play P (closed t)))
    by (intro t; unfold render; now destruct (play P (closed t))).
  set (h := tape_header (point_code q) (point_label q) (tape_run P T)).
  destruct (point_shape q (render P h)) as (pre & x & B & X).
  assert (Q : tape_reach P T q = feed (bytes x) (feed1 (feed pre h) Close)).
  { unfold tape_reach; fold h; now rewrite B, feed_app, feed_cons. }
  split.
  - destruct (block_start x (feed1 (feed pre h) Close)) as (y & z & E & C & D); [reflexivity|].
    destruct (X y z E) as (q0 & G & Cq & Lq & B0); exists q0; split; [exact G|].
    assert (Q0 : tape_reach P T q0 = feed (bytes y) (feed1 (feed pre h) Close)).
    { unfold tape_reach; rewrite Cq, Lq; fold h; now rewrite B0, feed_app, feed_cons. }
    rewrite !(reach_agrees P HP), Q0, Q.
    destruct (R (feed (bytes y) (feed1 (feed pre h) Close))) as [-> ->].
    destruct (R (feed (bytes x) (feed1 (feed pre h) Close))) as [_ ->].
    now rewrite C, D.
  - rewrite (reach_agrees P HP); apply next_byte.
    rewrite Q; apply closed_stays; simpl; intro E; symmetry in E.
    now apply app_cons_not_nil in E.
Qed.
End Output.

(** Two output bytes with the same permutation inputs are in the same block of the same
    operation after the same transcript; their offsets in it are the two [rate_idx]. *)
Theorem output_blocks_distinct :
  forall (P : list byte -> list byte) (T1 T2 : list op) (q1 q2 : point),
  (forall s, length s = width -> length (P s) = width) ->
  (forall o, In o (T1 ++ T2) -> length (label o) <= label_max) ->
  length (point_label q1) <= label_max -> length (point_label q2) <= label_max ->
  inputs (reach P T1 q1) = inputs (reach P T2 q2) ->
  T1 = T2 /\ exists q0, begins q0 q1 /\ begins q0 q2 /\ rate_idx (reach P T1 q0) = 0.
Proof.
  intros P T1 T2 q1 q2 HP S Q1 Q2 E.
  assert (L : forall q0 q, begins q0 q -> point_label q0 = point_label q)
    by (intros q0 q B; now destruct B).
  destruct (output_byte P HP T1 q1) as [(p1 & B1 & R1 & I1) _].
  destruct (output_byte P HP T2 q2) as [(p2 & B2 & R2 & I2) _].
  rewrite <- I1, <- I2 in E.
  apply output_points_injective in E as [-> ->]; auto; [|now rewrite (L _ _ B1)|now rewrite (L _ _ B2)].
  eauto.
Qed.
