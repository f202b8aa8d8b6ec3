(** * Seekable: what is read was sealed, or a tag is forged

    How to read this file.

    A [context] is what the segments of a message share.  [seal] makes the sealed message of the format from the model
    of Protocol, for any permutation.  A reader sees any string as slots ([slots]): numbered, cut at multiples of the
    segment length and 16, the last one marked.  [stream] is a reader from start to end, [open_last] and [read_segment]
    are one with random access.  What was sealed is a list of pairs of context and message, no two of them with one
    context: a nonce is not used twice with a key.

    [sealing] is the transcript of a segment up to its tag.  [forged] finds the first accepted transcript that was never
    sealed.  The theorems:

    - [segment_injective]: different domain, key, nonce, associated data, segment length, number or end give
      different transcripts;
    - [stream_sound]: [forged] finds a transcript, or what a stream gave out is the beginning of the message that was
      sealed in this context, and all of it once the end was accepted;
    - [random_sound]: [forged] finds a transcript, or length and segments are those of that message;
    - [forged_is_new]: the tag of a forged transcript comes from permutation inputs that gave no sealed tag. *)

From Coq Require Import String List Bool NArith Arith Lia.
From Veriplex Require Import Duplex Framing Protocol Tree.
From Veriplex Require Import Simpira1024.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** ** The format *)

Record context := Context {
  domain : list byte;
  key : list byte;
  nonce : list byte;
  ad : list byte;
  segment_len : nat
}.

(** The transcript of a segment before its content. *)
Definition segment (x : context) (i : nat) (last : bool) : list op :=
  [Init (domain x); Mix (text "key") (key x); Mix (text "nonce") (nonce x); Mix (text "ad") (ad x);
   Mix (text "segment-length") (little_endian 4 (N.of_nat (segment_len x)));
   Mix (text "segment") (little_endian 8 (N.of_nat i) ++ [if last then 1%N else 0%N])].

(** The same with the content: what a tag stands for. *)
Definition sealing (x : context) (i : nat) (last : bool) (p : list byte) : list op :=
  segment x i last ++ [Seal (text "message") p].

(** Pieces with their number, and whether they are the last. *)
Fixpoint places (i : nat) (ps : list (list byte)) : list (nat * bool * list byte) :=
  match ps with
  | [] => []
  | [p] => [(i, true, p)]
  | p :: rest => (i, false, p) :: places (S i) rest
  end.

Definition transcripts (x : context) (m : list byte) : list (list op) :=
  map (fun '(i, last, p) => sealing x i last p) (places 0 (cut (segment_len x) m)).

(** A reader's view of a string. *)
Definition slots (x : context) (c : list byte) : list (nat * bool * list byte) :=
  places 0 (cut (segment_len x + tag_length) c).

(** Only a lone segment may be empty. *)
Definition fits (i : nat) (s : list byte) : bool :=
  (tag_length <? length s) || (i =? 0) && (length s =? tag_length).

Definition plaintext_len (x : context) (c : list byte) : nat := length c - tag_length * length (slots x c).

Section Seekable.
Variable P : list byte -> list byte.

Definition seal_segment (x : context) (i : nat) (last : bool) (p : list byte) : list byte :=
  fst (step P (Seal (text "message") p) (run P (segment x i last))).

Definition seal (x : context) (m : list byte) : list byte :=
  concat (map (fun '(i, last, p) => seal_segment x i last p) (places 0 (cut (segment_len x) m))).

(** The content of a slot, if its tag is the right one. *)
Definition accept (x : context) (slot : nat * bool * list byte) : option (list byte) :=
  let '(i, last, s) := slot in
  if fits i s then
    let n := length s - tag_length in
    fst (unseal P (text "message") (firstn n s) (skipn n s) (run P (segment x i last)))
  else None.

(** What a reader from start to end gives out, up to the first slot that it refuses. *)
Fixpoint stream_from (x : context) (ss : list (nat * bool * list byte)) : list (list byte) :=
  match ss with
  | [] => []
  | s :: rest => match accept x s with Some p => p :: stream_from x rest | None => [] end
  end.

Definition stream (x : context) (c : list byte) : list (list byte) := stream_from x (slots x c).

(** Whether it accepted the end. *)
Definition finished (x : context) (c : list byte) : bool := length (stream x c) =? length (slots x c).

(** A reader with random access opens the last slot before it gives out anything. *)
Definition open_last (x : context) (c : list byte) : option (list byte) :=
  accept x (last (slots x c) (0, true, [])).

Definition read_segment (x : context) (c : list byte) (j : nat) : option (list byte) :=
  match open_last x c, nth_error (slots x c) j with
  | Some _, Some slot => accept x slot
  | _, _ => None
  end.

(** ** What a reader accepted, and what was sealed *)

Definition accepted (x : context) (slot : nat * bool * list byte) : list (list op) :=
  let '(i, last, _) := slot in
  match accept x slot with Some p => [sealing x i last p] | None => [] end.

Definition accepted_by_stream (x : context) (c : list byte) : list (list op) :=
  flat_map (accepted x) (firstn (length (stream x c)) (slots x c)).

Definition accepted_at (x : context) (c : list byte) (js : list nat) : list (list op) :=
  accepted x (last (slots x c) (0, true, [])) ++
  flat_map (fun j => match nth_error (slots x c) j with Some slot => accepted x slot | None => [] end) js.

Definition sealed (H : list (context * list byte)) : list (list op) :=
  flat_map (fun '(x, m) => transcripts x m) H.

(** The first accepted transcript that was never sealed. *)
Definition forged (H : list (context * list byte)) (A : list (list op)) : option (list op) :=
  find (fun T => if in_dec (list_eq_dec op_eq_dec) T (sealed H) then false else true) A.

(** The permutation inputs up to the place where the tag begins. *)
Definition tag_inputs (T : list op) : list (list byte) :=
  match rev T with
  | Seal l p :: before => inputs (reach P (rev before) (AtTag l p 0))
  | _ => []
  end.

(** *** Distinct transcripts *)

Definition in_range (x : context) : Prop := (N.of_nat (segment_len x) < 2 ^ 32)%N /\ 0 < segment_len x.

Theorem segment_injective x1 x2 i1 i2 last1 last2 :
  in_range x1 -> in_range x2 -> (N.of_nat i1 < 2 ^ 64)%N -> (N.of_nat i2 < 2 ^ 64)%N ->
  segment x1 i1 last1 = segment x2 i2 last2 -> x1 = x2 /\ i1 = i2 /\ last1 = last2.
Proof.
  destruct x1 as [d1 k1 n1 a1 s1], x2 as [d2 k2 n2 a2 s2]; unfold in_range, segment;
    cbn [domain key nonce ad segment_len]; intros [S1 _] [S2 _] I1 I2.
  set (f := little_endian 4); set (g := little_endian 8); intro E.
  assert (G : g (N.of_nat i1) ++ [if last1 then 1%N else 0%N] = g (N.of_nat i2) ++ [if last2 then 1%N else 0%N])
    by congruence.
  assert (F : f (N.of_nat s1) = f (N.of_nat s2)) by congruence.
  apply app_inj_tail in G as [G L]; unfold f, g in *.
  apply little_endian_inj in F; auto; apply little_endian_inj in G; auto.
  assert (s1 = s2) by lia; assert (i1 = i2) by lia; subst.
  repeat split; try congruence; destruct last1, last2; congruence.
Qed.

Theorem sealing_injective x1 x2 i1 i2 last1 last2 p1 p2 :
  in_range x1 -> in_range x2 -> (N.of_nat i1 < 2 ^ 64)%N -> (N.of_nat i2 < 2 ^ 64)%N ->
  sealing x1 i1 last1 p1 = sealing x2 i2 last2 p2 -> x1 = x2 /\ i1 = i2 /\ last1 = last2 /\ p1 = p2.
Proof.
  unfold sealing; intros R1 R2 I1 I2 E; apply app_inj_tail in E as [E F].
  apply segment_injective in E as (-> & -> & ->); auto; repeat split; congruence.
Qed.

(** *** Places *)

Lemma nth_error_places ps : forall i j,
  nth_error (places i ps) j =
    match nth_error ps j with Some p => Some (i + j, S j =? length ps, p) | None => None end.
Proof.
  induction ps as [|p ps IH]; intros i j; [now destruct j|].
  destruct ps as [|q ps].
  - destruct j as [|[|j]]; cbn [places nth_error length]; auto; now rewrite Nat.add_0_r.
  - change (places i (p :: q :: ps)) with ((i, false, p) :: places (S i) (q :: ps)).
    destruct j as [|j]; [cbn [nth_error length]; now rewrite Nat.add_0_r|].
    cbn [nth_error]; rewrite IH, <- Nat.add_succ_comm; reflexivity.
Qed.

Lemma places_length ps : forall i, length (places i ps) = length ps.
Proof.
  induction ps as [|p ps IH]; intro i; auto; destruct ps as [|q ps]; auto.
  change (places i (p :: q :: ps)) with ((i, false, p) :: places (S i) (q :: ps)); cbn [length]; now rewrite IH.
Qed.

Lemma in_places ps i last p : In (i, last, p) (places 0 ps) -> nth_error ps i = Some p /\ last = (S i =? length ps).
Proof.
  intro I; apply In_nth_error in I as [j J]; rewrite nth_error_places in J.
  destruct (nth_error ps j) as [q|] eqn:E; [|discriminate].
  injection J as <- <- <-; auto.
Qed.

Lemma cut_length_le size x : 0 < size -> length (cut size x) <= S (length x).
Proof. intro Z; destruct (cut_length size Z x) as [C|[-> ->]]; [nia|auto]. Qed.

(** *** An accepted slot is the sealed segment of what it gives *)

Hypothesis HP : forall s, length s = width -> length (P s) = width.

Lemma accept_is_seal x i last s p : accept x (i, last, s) = Some p -> s = seal_segment x i last p.
Proof.
  unfold accept; destruct (fits i s); [|discriminate].
  set (n := length s - tag_length); set (d := run P (segment x i last)).
  assert (W : sane d).
  { unfold d; rewrite (run_agrees P HP); apply (sane_render P HP), (wf_tape_run P). }
  destruct (unseal P (text "message") (firstn n s) (skipn n s) d) as [r d'] eqn:U; cbn [fst]; intros ->.
  apply (unseal_is_seal P HP) in U as (q & t & E & _ & R); auto.
  destruct (list_eq_dec N.eq_dec t (skipn n s)) as [->|]; [|discriminate].
  injection R as ->; unfold seal_segment; fold d; rewrite E; symmetry; apply firstn_skipn.
Qed.

Lemma seal_segment_length x i last p : length (seal_segment x i last p) = length p + tag_length.
Proof.
  assert (L : forall p d, length (fst (encrypt P p d)) = length p).
  { clear; induction p as [|b p IH]; intro d; [reflexivity|]; cbn [encrypt].
    match goal with |- context [encrypt P p ?d] => specialize (IH d); destruct (encrypt P p d) end.
    cbn [fst length] in *; now rewrite IH. }
  unfold seal_segment, step; cbn [act].
  match goal with |- context [encrypt P p ?d] => specialize (L p d); destruct (encrypt P p d) as [e d1] end.
  pose proof (squeeze_length P tag_length (Duplex.permute P d1)) as Q.
  destruct (squeeze P tag_length (Duplex.permute P d1)) as [t d2]; cbn [fst] in *; rewrite app_length; lia.
Qed.

(** *** Lists *)

Lemma begins_with {A} (l1 : list A) : forall l2,
  (forall j p, nth_error l1 j = Some p -> nth_error l2 j = Some p) -> exists rest, l2 = l1 ++ rest.
Proof.
  induction l1 as [|a l1 IH]; intros l2 E; [now exists l2|].
  destruct l2 as [|b l2]; [now specialize (E 0 a eq_refl)|].
  destruct (IH l2) as [rest ->]; [intros j; apply (E (S j))|].
  exists rest; specialize (E 0 a eq_refl); cbn in E; now injection E as ->.
Qed.

(** All pieces but the last are full. *)
Lemma cut_exact size : 0 < size -> forall y z, nth_error (cut size y) (length (cut size y) - 1) = Some z ->
  length y + size = size * length (cut size y) + length z.
Proof.
  intros Z; apply (by_length size Z (fun y => forall z, nth_error (cut size y) (length (cut size y) - 1) = Some z ->
    length y + size = size * length (cut size y) + length z)); intros y L.
  - intros z E; rewrite (cut_step size Z y) in *; destruct (Nat.leb_spec (length y) size); [|lia].
    cbn in E; injection E as ->; simpl length; lia.
  - intros IH z E; rewrite (cut_step size Z y) in *; destruct (Nat.leb_spec (length y) size); [lia|].
    assert (cut size (skipn size y) <> []).
    { rewrite (cut_step size Z); now destruct (length (skipn size y) <=? size). }
    cbn [length] in *; rewrite Nat.sub_succ, Nat.sub_0_r in E.
    destruct (length (cut size (skipn size y))) as [|k] eqn:K.
    { now destruct (cut size (skipn size y)). }
    cbn [nth_error] in E; specialize (IH z); rewrite Nat.sub_succ, Nat.sub_0_r in IH.
    specialize (IH E); rewrite skipn_length in IH; rewrite !Nat.mul_succ_r in *; lia.
Qed.

(** *** The theorems *)

Section Reader.
Variable H : list (context * list byte).
Variable x : context.

(** A nonce is used once with a key, so each context has one message. *)
Hypothesis once : forall y m1 m2, In (y, m1) H -> In (y, m2) H -> m1 = m2.
Hypothesis ranges : forall y m, In (y, m) H -> in_range y /\ (N.of_nat (length m) < 2 ^ 64)%N.
Hypothesis range : in_range x.

Lemma forged_some A T : forged H A = Some T -> In T A /\ ~ In T (sealed H).
Proof.
  intro F; apply find_some in F as [I F]; split; auto.
  destruct (in_dec (list_eq_dec op_eq_dec) T (sealed H)); [discriminate|auto].
Qed.

Lemma forged_none A T : forged H A = None -> In T A -> In T (sealed H).
Proof.
  intros F I; apply (find_none _ _ F) in I.
  destruct (in_dec (list_eq_dec op_eq_dec) T (sealed H)); [auto|discriminate].
Qed.

Lemma sealed_segment i last p : (N.of_nat i < 2 ^ 64)%N -> In (sealing x i last p) (sealed H) ->
  exists m, In (x, m) H /\ nth_error (cut (segment_len x) m) i = Some p /\
            last = (S i =? length (cut (segment_len x) m)).
Proof.
  intros L I; apply in_flat_map in I as ((y & m) & I & J).
  apply in_map_iff in J as (((j & e) & q) & E & J).
  destruct (ranges y m I) as [R M]; apply in_places in J as [N ->].
  assert (j < length (cut (segment_len y) m)) as B by (apply nth_error_Some; congruence).
  pose proof (cut_length_le (segment_len y) m (proj2 R)).
  apply sealing_injective in E as (-> & -> & <- & ->); auto; [eauto|lia].
Qed.

Variable c : list byte.
Hypothesis c_length : (N.of_nat (length c) < 2 ^ 64)%N.

Let n := length (slots x c).

Lemma slot_number i last s : In (i, last, s) (slots x c) ->
  nth_error (slots x c) i = Some (i, last, s) /\ last = (S i =? n) /\ (N.of_nat i < 2 ^ 64)%N.
Proof.
  intro I; apply in_places in I as [E ->]; unfold n, slots; rewrite places_length, nth_error_places, E.
  repeat split; auto.
  assert (i < length (cut (segment_len x + tag_length) c)) by (apply nth_error_Some; congruence).
  pose proof (cut_length_le (segment_len x + tag_length) c).
  unfold in_range, tag_length in *; lia.
Qed.

Lemma slots_not_empty : slots x c <> [].
Proof.
  intro E; apply (f_equal (@length _)) in E; unfold slots in E; rewrite places_length in E.
  rewrite cut_step in E by (unfold tag_length; lia).
  destruct (length c <=? segment_len x + tag_length); discriminate.
Qed.

Lemma last_slot : exists s, last (slots x c) (0, true, []) = (n - 1, true, s) /\
  nth_error (slots x c) (n - 1) = Some (n - 1, true, s).
Proof.
  pose proof slots_not_empty as N; destruct (exists_last N) as (before & [[i e] s] & E).
  assert (I : In (i, e, s) (slots x c)) by (rewrite E; apply in_or_app; right; now left).
  assert (L : n = S (length before)) by (unfold n; rewrite E, app_length; simpl; lia).
  assert (X : nth_error (slots x c) (n - 1) = Some (i, e, s)).
  { rewrite L, E; replace (S (length before) - 1) with (length before) by lia.
    now rewrite nth_error_app2, Nat.sub_diag by lia. }
  apply slot_number in I as (I & -> & _).
  assert (i = n - 1) as ->.
  { unfold slots in X; rewrite nth_error_places in X.
    destruct (nth_error (cut (segment_len x + tag_length) c) (n - 1)); [|discriminate]; now injection X. }
  replace (S (n - 1) =? n) with true in * by (symmetry; apply Nat.eqb_eq; lia).
  exists s; split; auto; rewrite E; apply last_last.
Qed.

(** A slot whose acceptance is no forgery is a segment of a sealed message. *)
Lemma accepted_segment i last s p : In (i, last, s) (slots x c) -> accept x (i, last, s) = Some p ->
  (forall T, In T (accepted x (i, last, s)) -> In T (sealed H)) ->
  exists m, In (x, m) H /\ nth_error (cut (segment_len x) m) i = Some p /\
            last = (S i =? length (cut (segment_len x) m)) /\ last = (S i =? n).
Proof.
  intros I A F; apply slot_number in I as (_ & L & B).
  destruct (sealed_segment i last p B) as (m & M & N & E); [|eauto].
  apply F; unfold accepted; rewrite A; now left.
Qed.
Lemma stream_nth ss : forall j p, nth_error (stream_from x ss) j = Some p ->
  exists s, nth_error ss j = Some s /\ accept x s = Some p.
Proof.
  induction ss as [|s ss IH]; intros j p E; cbn [stream_from] in E; [now destruct j|].
  destruct (accept x s) eqn:A; [|now destruct j].
  destruct j as [|j]; cbn [nth_error] in *; [|now apply IH].
  exists s; split; congruence.
Qed.

Lemma stream_accepted j p : nth_error (stream x c) j = Some p ->
  exists last s, In (j, last, s) (slots x c) /\ nth_error (cut (segment_len x + tag_length) c) j = Some s /\
    accept x (j, last, s) = Some p /\ incl (accepted x (j, last, s)) (accepted_by_stream x c).
Proof.
  intro E; pose proof E as F; apply stream_nth in F as ([[i last] s] & F & A).
  pose proof F as G; unfold slots in G; rewrite nth_error_places in G.
  destruct (nth_error (cut (segment_len x + tag_length) c) j) as [t|] eqn:C; [|discriminate].
  change (0 + j) with j in G; assert (j = i /\ (S j =? length (cut (segment_len x + tag_length) c)) = last /\ t = s)
    as (<- & <- & <-) by (repeat split; congruence).
  exists (S j =? length (cut (segment_len x + tag_length) c)), t.
  assert (L : j < length (stream x c)) by (apply nth_error_Some; congruence).
  split; [now apply nth_error_In in F|repeat split; auto].
  intros T I; apply in_flat_map; eexists; split; [|exact I].
  apply nth_error_In with (n := j); rewrite <- F.
  clear - L; revert L; generalize (length (stream x c)) (slots x c) j; clear.
  intros k l j; revert k l; induction j as [|j IH]; intros [|k] [|a l] L; cbn; auto; try lia; apply IH; lia.
Qed.

Theorem stream_sound :
  match forged H (accepted_by_stream x c) with
  | Some T => In T (accepted_by_stream x c) /\ ~ In T (sealed H)
  | None =>
      stream x c = [] /\ finished x c = false \/
      exists m rest, In (x, m) H /\ m = concat (stream x c) ++ rest /\
                     (finished x c = true -> rest = [] /\ c = seal x m)
  end.
Proof.
  destruct (forged H (accepted_by_stream x c)) as [T|] eqn:F; [now apply forged_some|].
  assert (Good : forall j p, nth_error (stream x c) j = Some p ->
    exists m, In (x, m) H /\ nth_error (cut (segment_len x) m) j = Some p /\
              (S j =? length (cut (segment_len x) m)) = (S j =? n)).
  { intros j p E; apply stream_accepted in E as (last & s & I & _ & A & L).
    destruct (accepted_segment j last s p I A) as (m & M & N & E1 & E2); [|exists m; repeat split; congruence].
    intros T J; apply (forged_none _ T F), L, J. }
  unfold finished; fold n; pose proof slots_not_empty as NE.
  destruct (stream x c) as [|p0 ps] eqn:S.
  - left; split; auto; unfold n; now destruct (slots x c).
  - right; destruct (Good 0 p0 eq_refl) as (m & M & _).
    assert (Same : forall j p, nth_error (p0 :: ps) j = Some p -> nth_error (cut (segment_len x) m) j = Some p /\
              (Datatypes.S j =? length (cut (segment_len x) m)) = (Datatypes.S j =? n)).
    { intros j p E; destruct (Good j p E) as (m' & M' & R); now rewrite (once x m m' M M'). }
    destruct (begins_with (p0 :: ps) (cut (segment_len x) m)) as [rest R]; [intros j p E; now apply Same|].
    exists m, (concat rest); split; [exact M|split].
    + rewrite <- concat_app, <- R; symmetry; apply concat_cut, range.
    + intro L; apply Nat.eqb_eq in L.
      assert (C : length (cut (segment_len x) m) = n).
      { destruct (nth_error (p0 :: ps) (n - 1)) as [p|] eqn:E.
        - destruct (Same _ _ E) as [_ Q]; cbn [length] in L.
          replace (Datatypes.S (n - 1)) with n in Q by lia; rewrite Nat.eqb_refl in Q; apply Nat.eqb_eq in Q; auto.
        - apply nth_error_None in E; cbn [length] in *; lia. }
      assert (rest = []) as ->.
      { apply (f_equal (@length _)) in R; rewrite app_length in R; destruct rest; auto; cbn [length] in *; lia. }
      split; [reflexivity|].
      rewrite <- (concat_cut (segment_len x + tag_length) ltac:(unfold tag_length; lia) c).
      unfold seal; rewrite R, app_nil_r; f_equal.
      destruct (begins_with (map (fun '(i, last, p) => seal_segment x i last p) (places 0 (p0 :: ps)))
        (cut (segment_len x + tag_length) c)) as [more Q].
      * intros j s E; rewrite nth_error_map, nth_error_places in E.
        destruct (nth_error (p0 :: ps) j) as [p|] eqn:J; [|discriminate]; injection E as <-.
        rewrite <- S in J; apply stream_accepted in J as (last & s & I & X & A & _).
        rewrite X; f_equal; apply slot_number in I as (_ & -> & _).
        apply accept_is_seal in A; rewrite <- L in A; exact A.
      * rewrite Q; destruct more; [now rewrite app_nil_r|].
        apply (f_equal (@length _)) in Q; rewrite app_length, map_length, places_length in Q.
        unfold n, slots in L; rewrite places_length in L; cbn [length] in *; lia.
Qed.

Theorem random_sound js : open_last x c <> None ->
  match forged H (accepted_at x c js) with
  | Some T => In T (accepted_at x c js) /\ ~ In T (sealed H)
  | None =>
      exists m, In (x, m) H /\ plaintext_len x c = length m /\
        length (slots x c) = length (cut (segment_len x) m) /\
        forall j p, In j js -> read_segment x c j = Some p -> nth_error (cut (segment_len x) m) j = Some p
  end.
Proof.
  intro O; destruct (forged H (accepted_at x c js)) as [T|] eqn:F; [now apply forged_some|].
  destruct last_slot as (s & L & E); unfold open_last in O; rewrite L in O.
  destruct (accept x (n - 1, true, s)) as [p|] eqn:A; [|congruence].
  destruct (accepted_segment (n - 1) true s p) as (m & M & N & E1 & E2); auto.
  { apply nth_error_In in E; exact E. }
  { intros T I; apply (forged_none _ T F), in_or_app; left; rewrite L; exact I. }
  assert (1 <= n) by (unfold n; pose proof slots_not_empty; destruct (slots x c); simpl; [congruence|lia]).
  symmetry in E1; apply Nat.eqb_eq in E1; replace (S (n - 1)) with n in E1 by lia.
  exists m; split; [exact M|split; [|split; [exact E1|]]].
  - assert (K : nth_error (cut (segment_len x + tag_length) c) (n - 1) = Some s).
    { unfold slots in E; rewrite nth_error_places in E.
      destruct (nth_error (cut (segment_len x + tag_length) c) (n - 1)); [|discriminate]; now injection E as _ ->. }
    assert (n = length (cut (segment_len x + tag_length) c)) as C by (unfold n, slots; apply places_length).
    rewrite C in K; apply cut_exact in K; [|unfold tag_length; lia].
    rewrite E1 in N; apply cut_exact in N; [|apply range].
    apply accept_is_seal in A; apply (f_equal (@length _)) in A; rewrite seal_segment_length in A.
    rewrite <- C in K; rewrite <- E1 in N; rewrite Nat.mul_add_distr_r in K.
    unfold plaintext_len; fold n; lia.
  - intros j q J R; unfold read_segment in R; destruct (open_last x c); [|discriminate].
    destruct (nth_error (slots x c) j) as [[[i e] t]|] eqn:S; [|discriminate].
    assert (i = j) as ->.
    { unfold slots in S; rewrite nth_error_places in S.
      destruct (nth_error (cut (segment_len x + tag_length) c) j); [|discriminate]; now injection S. }
    destruct (accepted_segment j e t q) as (m' & M' & N' & _); auto.
    { now apply nth_error_In in S. }
    { intros T I; apply (forged_none _ T F), in_or_app; right; apply in_flat_map.
      exists j; rewrite S; auto. }
    now rewrite (once x m m' M M').
Qed.
End Reader.

Theorem forged_is_new (H : list (context * list byte)) x i last p T :
  length (domain x) <= label_max -> (forall y m, In (y, m) H -> length (domain y) <= label_max) ->
  ~ In (sealing x i last p) (sealed H) -> In T (sealed H) -> tag_inputs (sealing x i last p) <> tag_inputs T.
Proof.
  intros X S N I E; pose proof I as J; apply in_flat_map in J as ((y & m) & J & K).
  apply in_map_iff in K as (((j & e) & q) & <- & _).
  unfold tag_inputs, sealing in E; rewrite !rev_unit, !rev_involutive in E.
  assert (Short : forall z k l, length (domain z) <= label_max ->
    forall o, In o (segment z k l) -> length (label o) <= label_max).
  { clear; intros z k l L o I; unfold label_max in *; cbn [segment In] in I.
    repeat destruct I as [<-|I]; simpl; lia. }
  apply output_points_injective in E as [E F]; auto; try (unfold label_max; cbn; lia).
  - apply N; unfold sealing in *; rewrite E; injection F as ->; exact I.
  - intros o O; apply in_app_or in O as [O|O]; eapply Short; try exact O; eauto.
Qed.
End Seekable.
