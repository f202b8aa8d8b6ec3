(** * Duplex: the Newplex duplex, and what it feeds to its permutation

    How to read this file.

    1. [duplex] is the machine of the format, operation for operation: 128 bytes of state, 94 of
       them usable, the two indices, XOR where the code XORs and overwriting where the code
       overwrites.  It has one field that the code does not have: [inputs], the list of all
       inputs to the permutation so far.  The permutation [P] is any function that keeps the
       length; nothing else is required.
    2. [tape] is the same machine seen from outside the permutation: the sequence of blocks
       (at most 94 bytes and a frame index) that were XORed into the state.  Overwriting counts
       as XOR with the difference, so a tape does not show which of the two happened.  Neither
       does the real state.
    3. [render] turns a tape into a duplex; [render_inj] says that the permutation inputs and
       the last state determine the tape, for every [P].
    4. [duplex_collision]: the framing alone is not injective.

    Bytes are numbers of type [N] with no upper bound.  The code's transcripts are those whose
    bytes are all below 256; XOR, the indices (at most 94) and the opcodes never leave that
    range, so on them this machine is the code's.  The theorems do not need the bound. *)

From Coq Require Import List Bool NArith Arith Lia.
Import ListNotations.

Notation byte := N (only parsing).
Definition rate : nat := 94.    (* usable bytes of a block *)
Definition width : nat := 128.  (* bytes of state *)

(** ** Bytes of the state *)

Fixpoint xor_at (i : nat) (b : byte) (s : list byte) : list byte :=
  match s, i with
  | [], _ => []
  | x :: r, O => N.lxor x b :: r
  | x :: r, S j => x :: xor_at j b r
  end.

Fixpoint set_at (i : nat) (b : byte) (s : list byte) : list byte :=
  match s, i with
  | [], _ => []
  | _ :: r, O => b :: r
  | x :: r, S j => x :: set_at j b r
  end.

Definition get (i : nat) (s : list byte) : byte := nth i s 0%N.

(** ** The machine of the format *)

Record duplex := Duplex {
  state : list byte;
  rate_idx : nat;
  frame_idx : nat;
  inputs : list (list byte)   (* what the permutation was given, oldest first *)
}.

Definition start : duplex := Duplex (repeat 0%N width) 0 0 [].

Section Machine.
Variable P : list byte -> list byte.

Definition permute (d : duplex) : duplex :=
  let s := xor_at (rate_idx d) (N.of_nat (frame_idx d)) (state d) in
  let s := xor_at (rate_idx d + 1) 1%N s in
  let s := xor_at (rate + 1) 128%N s in
  Duplex (P s) 0 0 (inputs d ++ [s]).

(** Store [s] and advance by one byte. *)
Definition advance (s : list byte) (d : duplex) : duplex :=
  let d' := Duplex s (rate_idx d + 1) (frame_idx d) (inputs d) in
  if rate_idx d' =? rate then permute d' else d'.

Definition absorb1 (b : byte) (d : duplex) : duplex :=
  advance (xor_at (rate_idx d) b (state d)) d.

Definition absorb (x : list byte) (d : duplex) : duplex :=
  fold_left (fun d b => absorb1 b d) x d.

Fixpoint squeeze (n : nat) (d : duplex) : list byte * duplex :=
  match n with
  | O => ([], d)
  | S m =>
      let o := get (rate_idx d) (state d) in
      let (os, d') := squeeze m (advance (set_at (rate_idx d) 0%N (state d)) d) in
      (o :: os, d')
  end.

Fixpoint encrypt (p : list byte) (d : duplex) : list byte * duplex :=
  match p with
  | [] => ([], d)
  | b :: p' =>
      let s := xor_at (rate_idx d) b (state d) in
      let o := get (rate_idx d) s in
      let (os, d') := encrypt p' (advance s d) in
      (o :: os, d')
  end.

Fixpoint decrypt (c : list byte) (d : duplex) : list byte * duplex :=
  match c with
  | [] => ([], d)
  | b :: c' =>
      let o := N.lxor (get (rate_idx d) (state d)) b in
      let (os, d') := decrypt c' (advance (set_at (rate_idx d) b (state d)) d) in
      (o :: os, d')
  end.

Definition frame (id : byte) (d : duplex) : duplex :=
  let d' := absorb1 (N.of_nat (frame_idx d)) d in
  absorb1 id (Duplex (state d') (rate_idx d') (rate_idx d') (inputs d')).

Definition ratchet (d : duplex) : duplex :=
  let d' := if rate_idx d =? 0 then d else permute d in
  Duplex (repeat 0%N 32 ++ skipn 32 (state d')) 32 (frame_idx d') (inputs d').

(** Every step is an absorb: overwriting a byte is XORing it with the difference.  So a
    squeeze absorbs the bytes that it outputs, and a decryption absorbs the plaintext. *)

Lemma set_is_xor i b s : set_at i b s = xor_at i (N.lxor (get i s) b) s.
Proof.
  unfold get; revert i; induction s as [|x s IH]; intros [|i]; simpl; auto.
  - now rewrite <- N.lxor_assoc, N.lxor_nilpotent, N.lxor_0_l.
  - now rewrite IH.
Qed.

Lemma absorb_cons b x d : absorb (b :: x) d = absorb x (absorb1 b d).
Proof. reflexivity. Qed.

Lemma absorb_app x y d : absorb (x ++ y) d = absorb y (absorb x d).
Proof. apply fold_left_app. Qed.

Lemma squeeze_absorbs n : forall d,
  snd (squeeze n d) = absorb (fst (squeeze n d)) d.
Proof.
  induction n as [|n IH]; intro d; [reflexivity|]; simpl squeeze.
  rewrite set_is_xor, N.lxor_0_r; fold (absorb1 (get (rate_idx d) (state d)) d).
  specialize (IH (absorb1 (get (rate_idx d) (state d)) d)).
  destruct (squeeze n _) as [os d'] eqn:E; simpl in *; now subst.
Qed.

Lemma squeeze_length n : forall d, length (fst (squeeze n d)) = n.
Proof.
  induction n as [|n IH]; intro d; [reflexivity|]; simpl squeeze.
  specialize (IH (advance (set_at (rate_idx d) 0%N (state d)) d)).
  destruct (squeeze n _); simpl in *; now rewrite IH.
Qed.

Lemma encrypt_absorbs p : forall d, snd (encrypt p d) = absorb p d.
Proof.
  induction p as [|b p IH]; intro d; [reflexivity|]; simpl encrypt.
  fold (absorb1 b d); specialize (IH (absorb1 b d)).
  destruct (encrypt p _); simpl in *; now subst.
Qed.

Lemma decrypt_absorbs c : forall d,
  snd (decrypt c d) = absorb (fst (decrypt c d)) d.
Proof.
  induction c as [|b c IH]; intro d; [reflexivity|]; simpl decrypt.
  rewrite set_is_xor.
  fold (absorb1 (N.lxor (get (rate_idx d) (state d)) b) d).
  specialize (IH (absorb1 (N.lxor (get (rate_idx d) (state d)) b) d)).
  destruct (decrypt c _); simpl in *; now subst.
Qed.

End Machine.

(** ** Tapes: the same machine without the permutation *)

(** A closed block is its data and the frame index it was padded with. *)
Definition block := (list byte * nat)%type.

Record tape := Tape {
  closed : list block;   (* blocks given to the permutation, oldest first *)
  cur : list byte;       (* the block being filled; its length is [rate_idx] *)
  fi : nat               (* [frame_idx] *)
}.

Definition blank : tape := Tape [] [] 0.

(** One step: a byte is fed (a full block is closed at once), or a block is closed early. *)
Inductive token := Byte (b : byte) | Close.

Definition feed1 (t : tape) (k : token) : tape :=
  match k with
  | Byte b =>
      let c := cur t ++ [b] in
      if length c =? rate then Tape (closed t ++ [(c, fi t)]) [] 0
      else Tape (closed t) c (fi t)
  | Close => Tape (closed t ++ [(cur t, fi t)]) [] 0
  end.

Definition feed (w : list token) (t : tape) : tape := fold_left feed1 w t.

Definition bytes (x : list byte) : list token := map Byte x.

Definition mark (id : byte) (t : tape) : tape :=
  let t' := feed1 t (Byte (N.of_nat (fi t))) in
  feed1 (Tape (closed t') (cur t') (length (cur t'))) (Byte id).

(** The 96 bytes that a closed block XORs into the state: data, frame index, pad10*1. *)
Definition pad (b : block) : list byte :=
  let (x, f) := b in
  xor_at (rate + 1) 128%N (xor_at (length x + 1) 1%N (xor_at (length x) (N.of_nat f)
    (x ++ repeat 0%N (rate + 2 - length x)))).

(** XOR [x] into the front of [s]. *)
Fixpoint xors (s x : list byte) : list byte :=
  match s, x with
  | a :: s', b :: x' => N.lxor a b :: xors s' x'
  | _, _ => s
  end.

(** ** From tapes to the machine *)

Section Render.
Variable P : list byte -> list byte.

(** The permutation inputs that a list of blocks gives, and the state after them. *)
Definition play1 (a : list (list byte) * list byte) (b : block) :=
  let i := xors (snd a) (pad b) in (fst a ++ [i], P i).

Definition play (bs : list block) := fold_left play1 bs ([], repeat 0%N width).

Definition render (t : tape) : duplex :=
  let (ins, s) := play (closed t) in
  Duplex (xors s (cur t)) (length (cur t)) (fi t) ins.
End Render.

(** A property of every tape made by [feed] and [mark]. *)
Definition wf (t : tape) : Prop :=
  length (cur t) < rate /\ (fi t = 0 \/ fi t < length (cur t)) /\
  Forall (fun b => length (fst b) <= rate) (closed t).

Definition keeps_length (P : list byte -> list byte) : Prop :=
  forall s, length s = width -> length (P s) = width.

(** *** Lists of bytes *)

Lemma xor_at_length i b s : length (xor_at i b s) = length s.
Proof. revert i; induction s; intros [|i]; simpl; auto. Qed.

Lemma get_xor_at i j b s :
  get j (xor_at i b s) =
    if (i =? j) && (i <? length s) then N.lxor (get j s) b else get j s.
Proof.
  unfold get; revert i j; induction s as [|x s IH]; intros [|i] [|j]; simpl;
    rewrite ?andb_false_r, ?IH; auto.
Qed.

Lemma xors_length s x : length (xors s x) = length s.
Proof. revert x; induction s; intros [|b x]; simpl; auto. Qed.

Lemma xors_nil s : xors s [] = s.
Proof. now destruct s. Qed.

Lemma xors_xor_at i b s x : i < length x -> xor_at i b (xors s x) = xors s (xor_at i b x).
Proof.
  revert i x; induction s as [|a s IH]; intros [|i] [|c x] H; simpl in *; auto; try lia.
  - now rewrite N.lxor_assoc.
  - rewrite IH; auto; lia.
Qed.

Lemma xors_zeros s x k : xors s (x ++ repeat 0%N k) = xors s x.
Proof.
  revert x; induction s as [|a s IH]; intros [|c x]; simpl; auto.
  - revert k a IH; destruct k; simpl; auto; intros; rewrite N.lxor_0_r.
    specialize (IH []); simpl in IH.
    f_equal; clear - s; revert k; induction s; intros [|k]; simpl; auto.
    now rewrite N.lxor_0_r, IHs.
  - now rewrite IH.
Qed.

Lemma xors_snoc s x b :
  length x < length s -> xor_at (length x) b (xors s x) = xors s (x ++ [b]).
Proof.
  revert x; induction s as [|a s IH]; intros [|c x] H; simpl in *; auto; try lia.
  - now rewrite xors_nil.
  - rewrite IH; auto; lia.
Qed.

Lemma xors_inj s x y :
  length x = length y -> length x <= length s -> xors s x = xors s y -> x = y.
Proof.
  revert x y; induction s as [|a s IH]; intros [|b x] [|c y] L M H; simpl in *; auto; try lia.
  injection H as H1 H2; f_equal.
  - apply (f_equal (N.lxor a)) in H1.
    now rewrite <- !N.lxor_assoc, N.lxor_nilpotent, !N.lxor_0_l in H1.
  - apply IH; auto; lia.
Qed.

Lemma get_xors_beyond s x : get (length x) (xors s x) = get (length x) s.
Proof.
  unfold get; revert x; induction s as [|a s IH]; intros [|b x]; simpl; auto.
Qed.

(** *** Padding *)

Lemma pad_length b : length (fst b) <= rate -> length (pad b) = rate + 2.
Proof.
  destruct b as [x f]; unfold pad, rate; intro H; simpl fst in H.
  rewrite !xor_at_length, app_length, repeat_length; lia.
Qed.

(** A padded block determines the length of its data: the terminating 1 is the last bit set but
    one.  So blocks of different lengths differ. *)
Lemma get_pad x f j :
  length x <= rate -> j < rate + 2 ->
  get j (pad (x, f)) =
    N.lxor (N.lxor (N.lxor (if j <? length x then get j x else 0%N)
      (if length x =? j then N.of_nat f else 0%N))
      (if length x + 1 =? j then 1%N else 0%N))
      (if rate + 1 =? j then 128%N else 0%N).
Proof.
  intros H J; unfold pad; rewrite !get_xor_at, !xor_at_length, app_length, repeat_length.
  replace (length x + (rate + 2 - length x)) with (rate + 2) by lia.
  destruct (Nat.ltb_spec (rate + 1) (rate + 2)); [|lia].
  destruct (Nat.ltb_spec (length x + 1) (rate + 2)); [|lia].
  destruct (Nat.ltb_spec (length x) (rate + 2)); [|lia].
  rewrite !andb_true_r.
  replace (get j (x ++ repeat 0%N (rate + 2 - length x)))
    with (if j <? length x then get j x else 0%N).
  2:{ unfold get; destruct (Nat.ltb_spec j (length x)).
      - now rewrite app_nth1.
      - rewrite app_nth2 by lia; symmetry; apply nth_repeat. }
  destruct (rate + 1 =? j), (length x + 1 =? j), (length x =? j); now rewrite ?N.lxor_0_r.
Qed.

Lemma pad_inj b c :
  length (fst b) <= rate -> length (fst c) <= rate -> pad b = pad c -> b = c.
Proof.
  destruct b as [x f], c as [y g]; simpl fst; intros Hx Hy H.
  assert (L : length x = length y).
  { (* the terminating 1 of the longer block stands where the shorter one has 0 *)
    assert (W : forall x f y g, length x < length y -> length y <= rate ->
      get (length y + 1) (pad (x, f)) = get (length y + 1) (pad (y, g)) -> False).
    { clear; intros x f y g Hl Hy E; rewrite !get_pad in E by lia.
      destruct (Nat.ltb_spec (length y + 1) (length x)); [lia|].
      destruct (Nat.ltb_spec (length y + 1) (length y)); [lia|].
      destruct (Nat.eqb_spec (length x) (length y + 1)); [lia|].
      destruct (Nat.eqb_spec (length y) (length y + 1)); [lia|].
      destruct (Nat.eqb_spec (length x + 1) (length y + 1)); [lia|].
      rewrite Nat.eqb_refl in E.
      destruct (rate + 1 =? length y + 1); discriminate. }
    destruct (Nat.lt_trichotomy (length x) (length y)) as [l|[l|l]]; [|exact l|]; exfalso.
    - apply (W x f y g l Hy); now rewrite H.
    - apply (W y g x f l Hx); now rewrite H. }
  assert (F : f = g).
  { assert (E : get (length x) (pad (x, f)) = get (length x) (pad (y, g))) by now rewrite H.
    rewrite !get_pad in E by lia; rewrite <- L in E.
    rewrite Nat.ltb_irrefl, Nat.eqb_refl in E.
    destruct (Nat.eqb_spec (length x + 1) (length x)); [lia|].
    destruct (Nat.eqb_spec (rate + 1) (length x)); [lia|].
    rewrite !N.lxor_0_r, !N.lxor_0_l in E; lia. }
  subst g; f_equal; apply (nth_ext _ _ 0%N 0%N L); intros j J.
  assert (E : get j (pad (x, f)) = get j (pad (y, f))) by now rewrite H.
  rewrite !get_pad in E by lia; rewrite <- L in E.
  destruct (Nat.ltb_spec j (length x)); [|lia].
  destruct (Nat.eqb_spec (length x) j); [lia|].
  destruct (Nat.eqb_spec (length x + 1) j); [lia|].
  destruct (Nat.eqb_spec (rate + 1) j); [lia|].
  now rewrite !N.lxor_0_r in E.
Qed.

(** *** [feed] and [mark] keep a tape well formed *)

Lemma feed_app w v t : feed (w ++ v) t = feed v (feed w t).
Proof. apply fold_left_app. Qed.

Lemma feed_cons k w t : feed (k :: w) t = feed w (feed1 t k).
Proof. reflexivity. Qed.

Lemma wf_blank : wf blank.
Proof. repeat split; simpl; auto; unfold rate; lia. Qed.

(** A byte may be fed under any frame index that lies at or before it. *)
Lemma wf_push b t :
  length (cur t) < rate -> fi t <= length (cur t) ->
  Forall (fun b => length (fst b) <= rate) (closed t) -> wf (feed1 t (Byte b)).
Proof.
  intros L F B; unfold wf, feed1; rewrite app_length; simpl length.
  destruct (Nat.eqb_spec (length (cur t) + 1) rate); simpl.
  - unfold rate; repeat split; auto; try lia.
    rewrite Forall_app; split; auto; constructor; auto; simpl; rewrite app_length; simpl.
    unfold rate in *; lia.
  - rewrite app_length; simpl; split; [|split]; auto; unfold rate in *; lia.
Qed.

Lemma wf_feed1 k t : wf t -> wf (feed1 t k).
Proof.
  intros (L & F & B); destruct k as [b|]; [apply wf_push; auto; lia|].
  unfold wf, rate in *; simpl; repeat split; auto; try lia.
  rewrite Forall_app; split; auto; constructor; auto; simpl; lia.
Qed.

Lemma wf_feed w : forall t, wf t -> wf (feed w t).
Proof. induction w; intros t H; simpl; auto; apply IHw, wf_feed1, H. Qed.

Lemma wf_mark id t : wf t -> wf (mark id t).
Proof.
  intro H; unfold mark.
  destruct (wf_feed1 (Byte (N.of_nat (fi t))) t H) as (L & _ & B).
  apply wf_push; auto.
Qed.

(** *** [render] is a simulation *)

Section Simulation.
Variable P : list byte -> list byte.
Hypothesis HP : keeps_length P.

Lemma play_snoc bs b : play P (bs ++ [b]) = play1 P (play P bs) b.
Proof. unfold play; now rewrite fold_left_app. Qed.

Lemma play_width bs : length (snd (play P bs)) = width.
Proof.
  induction bs as [|b bs IH] using rev_ind; [apply repeat_length|].
  rewrite play_snoc; simpl; apply HP; now rewrite xors_length.
Qed.

Lemma render_blank : render P blank = start.
Proof. reflexivity. Qed.

Lemma render_state_length t : length (state (render P t)) = width.
Proof.
  unfold render; generalize (play_width (closed t)).
  destruct (play P (closed t)); simpl; now rewrite xors_length.
Qed.

Lemma render_permute t : length (cur t) <= rate ->
  render P (feed1 t Close) = permute P (render P t).
Proof.
  intro L; unfold render, feed1; simpl closed; rewrite play_snoc.
  generalize (play_width (closed t)); destruct (play P (closed t)) as [ins s].
  intro W; simpl in W; unfold play1, permute; cbn [fst snd state rate_idx frame_idx inputs cur fi].
  rewrite xors_nil.
  replace (xor_at (rate + 1) 128 _) with (xors s (pad (cur t, fi t))); [reflexivity|].
  unfold pad; rewrite <- !xors_xor_at; rewrite ?xor_at_length, ?app_length, ?repeat_length;
    try lia.
  now rewrite xors_zeros.
Qed.

Lemma render_absorb1 b t : length (cur t) < rate ->
  render P (feed1 t (Byte b)) = absorb1 P b (render P t).
Proof.
  intros L; set (u := Tape (closed t) (cur t ++ [b]) (fi t)).
  assert (U : Duplex (xor_at (rate_idx (render P t)) b (state (render P t)))
                (rate_idx (render P t) + 1) (frame_idx (render P t)) (inputs (render P t))
              = render P u).
  { unfold u, render; simpl; generalize (play_width (closed t)).
    destruct (play P (closed t)) as [ins s]; simpl; intro W.
    rewrite xors_snoc, app_length; simpl; auto; unfold width, rate in *; lia. }
  unfold absorb1, advance; rewrite U; unfold feed1; fold u.
  replace (rate_idx (render P u)) with (length (cur t ++ [b]))
    by (unfold render; simpl; now destruct (play P (closed t))).
  destruct (Nat.eqb_spec (length (cur t ++ [b])) rate) as [E|E]; [|reflexivity].
  rewrite <- (render_permute u) by (simpl; lia); reflexivity.
Qed.

Lemma render_absorb x : forall t, wf t ->
  render P (feed (bytes x) t) = absorb P x (render P t).
Proof.
  induction x as [|b x IH]; intros t H; [reflexivity|].
  change (render P (feed (bytes x) (feed1 t (Byte b))) = absorb P (b :: x) (render P t)).
  rewrite IH by now apply wf_feed1.
  now rewrite render_absorb1 by apply H.
Qed.

Lemma render_mark id t : wf t -> render P (mark id t) = frame P id (render P t).
Proof.
  intro H; unfold mark, frame.
  set (t' := feed1 t (Byte (N.of_nat (fi t)))).
  assert (H' : wf t') by now apply wf_feed1.
  replace (frame_idx (render P t)) with (fi t)
    by (unfold render; now destruct (play P (closed t))).
  rewrite <- render_absorb1 by apply H; fold t'.
  rewrite render_absorb1 by apply H'.
  apply (f_equal (absorb1 P id)); destruct t' as [c x f]; unfold render; simpl.
  now destruct (play P c).
Qed.

(** The permutation inputs determine the closed blocks ... *)
Lemma play_inj bs : forall cs,
  Forall (fun b => length (fst b) <= rate) bs ->
  Forall (fun b => length (fst b) <= rate) cs ->
  fst (play P bs) = fst (play P cs) -> bs = cs.
Proof.
  induction bs as [|b bs IH] using rev_ind; intros cs B C;
    destruct cs as [|c cs _] using rev_ind; auto; rewrite ?play_snoc; simpl; intro E.
  - now apply app_cons_not_nil in E.
  - symmetry in E; now apply app_cons_not_nil in E.
  - apply app_inj_tail in E as [E1 E2].
    apply Forall_app in B as [B B1]; apply Forall_app in C as [C C1].
    inversion B1; inversion C1; subst.
    rewrite (IH cs B C E1) in *; f_equal; f_equal.
    apply pad_inj; auto.
    apply (xors_inj (snd (play P cs))); auto; rewrite ?play_width, ?pad_length; auto.
    unfold rate, width; lia.
Qed.

(** ... and with the last state the tape, whatever [P] is. *)
Theorem render_inj t u : wf t -> wf u -> render P t = render P u -> t = u.
Proof.
  intros (Lt & _ & Bt) (Lu & _ & Bu).
  destruct t as [bs x f], u as [cs y g]; unfold render; simpl closed in *; simpl cur in *.
  pose proof (play_inj bs cs Bt Bu) as I; generalize (play_width bs).
  destruct (play P bs) as [ins s] eqn:E, (play P cs) as [ins' s'] eqn:E'; simpl; intros W H.
  injection H as H1 H2 H3 H4; subst; rewrite (I eq_refl) in *.
  assert (s = s') by congruence; subst s'.
  f_equal; apply (xors_inj s); auto; rewrite W; unfold rate, width in *; lia.
Qed.

(** Within a block the state byte at [rate_idx] is still the permutation's: what a squeeze
    outputs, or an encryption uses as keystream, depends only on the last permutation input and
    the position. *)
Theorem next_byte t : closed t <> [] ->
  let d := render P t in
  get (rate_idx d) (state d) = get (rate_idx d) (P (last (inputs d) [])).
Proof.
  destruct t as [bs x f]; simpl; destruct bs as [|b bs _] using rev_ind; [easy|]; intros _.
  unfold render; simpl closed; rewrite play_snoc; simpl.
  rewrite get_xors_beyond, last_last; reflexivity.
Qed.
End Simulation.

(** ** The framing alone is not injective

    A frame that starts at position 93 feeds its first byte, the old frame index, at 93.  That
    closes the block, so the new frame starts at 0, and 0 means "no frame": it leaves no trace.
    The two event sequences below differ, but feed the permutation the same bytes, for every
    [P].  (There is no condition on [P]: the two runs are the same computation.) *)

Lemma frame_vanishes P id d : rate_idx d = rate - 1 ->
  frame P id d = absorb P [N.of_nat (frame_idx d); id] d.
Proof.
  intro H; unfold frame; rewrite !absorb_cons; apply (f_equal (absorb1 P id)).
  unfold absorb1, advance; cbn [rate_idx]; now rewrite H.
Qed.

Lemma absorb_within_block P x : forall d, rate_idx d + length x < rate ->
  rate_idx (absorb P x d) = rate_idx d + length x /\
  frame_idx (absorb P x d) = frame_idx d.
Proof.
  induction x as [|b x IH]; intros d H; simpl length in *; [split; auto|].
  rewrite absorb_cons; set (d' := absorb1 P b d).
  assert (E : rate_idx d' = rate_idx d + 1 /\ frame_idx d' = frame_idx d).
  { unfold d', absorb1, advance; cbn [rate_idx].
    destruct (Nat.eqb_spec (rate_idx d + 1) rate); [lia|auto]. }
  destruct (IH d') as [R F]; lia.
Qed.

Inductive event := Absorb (x : list byte) | Frame (id : byte).

Definition do_event (P : list byte -> list byte) (d : duplex) (e : event) : duplex :=
  match e with Absorb x => absorb P x d | Frame id => frame P id d end.

Definition do_events P (es : list event) : duplex := fold_left (do_event P) es start.

Theorem duplex_collision :
  let a := repeat 65%N 93 in
  let framed := [Absorb a; Frame 2] in
  let plain := [Absorb (a ++ [0; 2]%N)] in
  framed <> plain /\ forall P, do_events P framed = do_events P plain.
Proof.
  cbv zeta; split; [discriminate|intro P].
  unfold do_events, do_event; cbn [fold_left]; rewrite absorb_app.
  destruct (absorb_within_block P (repeat 65%N 93) start) as [R F].
  - simpl; unfold rate; lia.
  - now rewrite frame_vanishes, F by exact R.
Qed.
