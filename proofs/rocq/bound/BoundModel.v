(** * BoundModel: the model of Protocol as a program that asks for outer parts

    What a transcript outputs depends on the permutation only through the first 96 bytes of its outputs: those of the
    states after the blocks that were fed.  [transcript] is the model as a program that asks for them ([Need]), and
    [transcript_is] says that it is the model.  Bytes are below 256 here. *)

From Coq Require Import List Bool NArith Arith Lia FinFun.
From Veriplex Require Import Duplex Framing Protocol.
Import ListNotations.

(** ** Strings of bytes *)

Definition values : list byte := map N.of_nat (seq 0 256).

Fixpoint strings (n : nat) : list (list byte) :=
  match n with O => [[]] | S n => flat_map (fun s => map (fun b => b :: s) values) (strings n) end.

Definition small (x : list byte) : Prop := Forall (fun b => (b < 256)%N) x.

Lemma in_values b : In b values <-> (b < 256)%N.
Proof.
  unfold values; rewrite in_map_iff; split.
  - intros (n & <- & I); apply in_seq in I; lia.
  - intro H; exists (N.to_nat b); rewrite N2Nat.id, in_seq; split; [reflexivity|lia].
Qed.

Lemma values_once : NoDup values.
Proof. apply Injective_map_NoDup; [exact Nat2N.inj|apply seq_NoDup]. Qed.

Lemma values_length : length values = 256.
Proof. unfold values; now rewrite map_length, seq_length. Qed.
Opaque values.

Lemma in_strings n : forall s, In s (strings n) <-> length s = n /\ small s.
Proof.
  induction n as [|n IH]; intro s; cbn [strings].
  - split; [intros [<-|[]]; split; [reflexivity|constructor]|]; intros [L _]; destruct s; [now left|discriminate].
  - rewrite in_flat_map; split.
    + intros (r & I & J); apply IH in I as [L S]; apply in_map_iff in J as (b & <- & J); apply in_values in J.
      split; [cbn; lia|now constructor].
    + intros [L S]; destruct s as [|b s]; [discriminate|]; inversion S; subst; exists s; split; [apply IH; split; auto|].
      apply in_map_iff; exists b; split; [reflexivity|now apply in_values].
Qed.

Lemma strings_length n : length (strings n) = 256 ^ n.
Proof.
  induction n as [|n IH]; [reflexivity|]; cbn [strings].
  assert (F : forall l : list (list byte), length (flat_map (fun s => map (fun b => b :: s) values) l) = 256 * length l).
  { induction l as [|s l IHl]; [reflexivity|]; cbn [flat_map length]; rewrite app_length, map_length, values_length, IHl; lia. }
  rewrite F, IH, Nat.pow_succ_r'; reflexivity.
Qed.

Lemma strings_once n : NoDup (strings n).
Proof.
  induction n as [|n IH]; cbn [strings]; [repeat constructor; auto|].
  induction IH as [|s l I N IHl]; cbn [flat_map]; [constructor|].
  assert (J : forall a b : list (list byte), NoDup a -> NoDup b -> (forall c, In c a -> ~ In c b) -> NoDup (a ++ b)).
  { clear; intros a b A B D; induction A as [|c a I A IH]; [exact B|]; cbn; constructor.
    - rewrite in_app_iff; intros [K|K]; [now apply I|now apply (D c (or_introl eq_refl))].
    - apply IH; intros d K; apply D; now right. }
  apply J; [apply Injective_map_NoDup; [congruence|apply values_once]|exact IHl|].
  intros c K M; apply in_map_iff in K as (b & <- & _); apply in_flat_map in M as (r & M & K).
  apply in_map_iff in K as (b' & E & _); injection E as _ ->; contradiction.
Qed.
Opaque strings.

(** How many strings have given bytes at one end. *)
Lemma count_by (f : list byte -> list byte) (g : list byte -> bool) n m :
  (forall s, In s (strings n) -> g s = true -> In (f s) (strings m)) ->
  (forall s r, In s (strings n) -> In r (strings n) -> g s = true -> g r = true -> f s = f r -> s = r) ->
  length (filter g (strings n)) <= 256 ^ m.
Proof.
  intros I J; rewrite <- strings_length, <- (map_length f); apply NoDup_incl_length.
  - assert (X : forall s, In s (filter g (strings n)) -> In s (strings n) /\ g s = true) by (intro; apply filter_In).
    pose proof (NoDup_filter g (strings_once n)) as N; revert X N; generalize (filter g (strings n)).
    induction l as [|s l IH]; intros X N; cbn [map]; [constructor|]; inversion N as [|? ? U V]; subst.
    constructor; [|apply IH; auto; intros; apply X; now right].
    intro K; apply in_map_iff in K as (r & E & K); destruct (X s (or_introl eq_refl)), (X r (or_intror K)).
    rewrite (J r s) in K by auto; contradiction.
  - intros r K; apply in_map_iff in K as (s & <- & K); apply filter_In in K as [K G]; auto.
Qed.

Lemma small_firstn n x : small x -> small (firstn n x).
Proof. intro S; rewrite <- (firstn_skipn n x) in S; now apply Forall_app in S. Qed.
Lemma small_skipn n x : small x -> small (skipn n x).
Proof. intro S; rewrite <- (firstn_skipn n x) in S; now apply Forall_app in S. Qed.

Definition bytes_dec : forall x y : list byte, {x = y} + {x <> y} := list_eq_dec N.eq_dec.

Lemma count_inner c k n : k <= n ->
  length (filter (fun b => if bytes_dec (skipn k b) c then true else false) (strings n)) <= 256 ^ k.
Proof.
  intro K; apply (count_by (firstn k)).
  - intros s I _; apply in_strings in I as [L S]; apply in_strings; rewrite firstn_length; split; [lia|now apply small_firstn].
  - intros s r _ _ G H E; destruct (bytes_dec (skipn k s) c), (bytes_dec (skipn k r) c); try discriminate.
    rewrite <- (firstn_skipn k s), <- (firstn_skipn k r); congruence.
Qed.

Lemma count_front w k n : k <= n ->
  length (filter (fun b => if bytes_dec (firstn k b) (firstn k w) then true else false) (strings n)) <= 256 ^ (n - k).
Proof.
  intro K; apply (count_by (skipn k)).
  - intros s I _; apply in_strings in I as [L S]; apply in_strings; rewrite skipn_length; split; [lia|now apply small_skipn].
  - intros s r _ _ G H E; destruct (bytes_dec (firstn k s) (firstn k w)), (bytes_dec (firstn k r) (firstn k w)); try discriminate.
    rewrite <- (firstn_skipn k s), <- (firstn_skipn k r); congruence.
Qed.

(** ** Bytes stay bytes *)

Lemma lxor_small a b : (a < 256)%N -> (b < 256)%N -> (N.lxor a b < 256)%N.
Proof.
  intros A B; assert (E : N.lxor a b = (N.lxor a b mod 2 ^ 8)%N).
  { apply N.bits_inj; intro i; destruct (N.lt_ge_cases i 8) as [I|I].
    - now rewrite N.mod_pow2_bits_low.
    - rewrite N.mod_pow2_bits_high, N.lxor_spec by exact I.
      rewrite <- (N.mod_small a (2 ^ 8)), <- (N.mod_small b (2 ^ 8)) by assumption.
      now rewrite !N.mod_pow2_bits_high. }
  rewrite E; apply N.mod_lt; discriminate.
Qed.

Lemma small_xor_at i b s : small s -> (b < 256)%N -> small (xor_at i b s).
Proof.
  intros S B; revert i; induction S as [|a s A S IH]; intros [|i]; cbn [xor_at]; constructor; auto.
  - now apply lxor_small.
  - apply IH.
Qed.

Lemma small_xors s : forall x, small s -> small x -> small (xors s x).
Proof.
  induction s as [|a s IH]; intros [|b x] S X; cbn [xors]; auto; inversion S; inversion X; subst; constructor.
  - now apply lxor_small.
  - now apply IH.
Qed.

Lemma small_repeat b n : (b < 256)%N -> small (repeat b n).
Proof. intro B; induction n; cbn; constructor; auto. Qed.

Lemma small_get i s : small s -> (get i s < 256)%N.
Proof.
  intro S; unfold get; destruct (nth_in_or_default i s 0%N) as [I| ->]; [|lia].
  exact (proj1 (Forall_forall _ _) S _ I).
Qed.

Lemma small_app x y : small x -> small y -> small (x ++ y).
Proof. intros X Y; apply Forall_app; auto. Qed.

Definition small_block (b : block) : Prop := small (fst b) /\ (N.of_nat (snd b) < 256)%N.
Definition small_tape (t : tape) : Prop := Forall small_block (closed t) /\ small_block (cur t, fi t).

Lemma small_pad b : small_block b -> small (pad b).
Proof.
  destruct b as [x f]; intros [X F]; cbn [fst snd] in *; unfold pad.
  repeat apply small_xor_at; try lia; apply small_app; [exact X|apply small_repeat; lia].
Qed.

Lemma small_feed1 t k : small_tape t -> (forall b, k = Byte b -> (b < 256)%N) -> small_tape (feed1 t k).
Proof.
  intros [C D] K; destruct k as [b|]; cbn [feed1].
  - specialize (K b eq_refl); destruct D as [X F]; cbn [fst snd] in *.
    assert (Y : small (cur t ++ [b])) by (apply small_app; [exact X|now constructor]).
    destruct (_ =? _); split; cbn [closed cur fi]; auto.
    + apply Forall_app; split; [exact C|]; constructor; [split; auto|constructor].
    + split; cbn; [constructor|lia].
    + split; auto.
  - split; cbn [closed cur fi]; [apply Forall_app; split; [exact C|constructor; [exact D|constructor]]|].
    split; cbn; [constructor|lia].
Qed.

Lemma small_feed x : forall t, small_tape t -> small x -> small_tape (feed (bytes x) t).
Proof.
  induction x as [|b x IH]; intros t T X; [exact T|]; inversion X; subst.
  apply IH; [|assumption]; apply small_feed1; [exact T|]; intros c E; now injection E as <-.
Qed.

Lemma small_mark id t : wf t -> small_tape t -> (id < 256)%N -> small_tape (mark id t).
Proof.
  intros W T I; unfold mark.
  assert (T' : small_tape (feed1 t (Byte (N.of_nat (fi t))))).
  { apply small_feed1; [exact T|]; intros c E; injection E as <-; apply T. }
  assert (W' : wf (feed1 t (Byte (N.of_nat (fi t))))) by now apply wf_feed1.
  apply small_feed1; [|intros c E; now injection E as <-].
  destruct T' as [C [X F]], W' as (L & _ & _); split; [exact C|]; split; [exact X|]; cbn [snd fi cur fst]; unfold rate in *; lia.
Qed.

Lemma small_header c l t : wf t -> small_tape t -> (c < 128)%N -> small l -> small_tape (tape_header c l t).
Proof.
  intros W T C L; unfold tape_header; apply small_mark; [now apply wf_feed, wf_mark| |lia].
  apply small_feed; [|exact L]; apply small_mark; auto; lia.
Qed.

Lemma small_leb n : small (leb n).
Proof.
  assert (F : forall k x, (x < 2 ^ N.of_nat k)%N -> small (leb_fuel k x)).
  { induction k as [|k IH]; intros x H; cbn [leb_fuel].
    - cbn in H; constructor; [lia|constructor].
    - destruct (N.ltb_spec x 128); [constructor; [lia|constructor]|].
      constructor; [pose proof (N.mod_lt x 128 ltac:(discriminate)); lia|]; apply IH.
      apply N.div_lt_upper_bound; [discriminate|]; rewrite Nat2N.inj_succ, N.pow_succ_r' in H; lia. }
  apply F; rewrite N2Nat.id; apply N.size_gt.
Qed.

(** The bytes that an operation is given. *)
Definition data (o : op) : list byte :=
  match o with Init _ | Derive _ _ | Ratchet _ => [] | Mix _ x | Mask _ x | Seal _ x => x | Fork _ i v => i :: v end.

Definition legal (T : list op) : Prop := forall o, In o T -> length (label o) <= label_max /\ small (label o) /\ small (data o).

(** A state: 128 bytes. *)
Definition is_state (s : list byte) : Prop := length s = width /\ small s.

Lemma feed_close x w t : feed (bytes x ++ Close :: w) t = feed w (feed1 (feed (bytes x) t) Close).
Proof. exact (feed_app (bytes x) (Close :: w) t). Qed.

Section Permuted.
Variable P : list byte -> list byte.
Hypothesis HP : keeps_length P.
Hypothesis SP : forall s, is_state s -> is_state (P s).

Lemma zeros_in : is_state (repeat 0%N width).
Proof. split; [apply repeat_length|apply small_repeat; lia]. Qed.

Lemma xors_in y x : is_state y -> small x -> is_state (xors y x).
Proof. intros [L S] X; split; [rewrite xors_length; exact L|apply small_xors; assumption]. Qed.

Lemma play_in bs : Forall small_block bs -> is_state (snd (play P bs)) /\ forall x, In x (fst (play P bs)) -> is_state x.
Proof.
  induction bs as [|b bs IH] using rev_ind; intro S; [split; [apply zeros_in|intros x []]|].
  apply Forall_app in S as [S B]; inversion B; subst; destruct (IH S) as [I J]; rewrite play_snoc; unfold play1; cbn [fst snd].
  assert (X : is_state (xors (snd (play P bs)) (pad b))) by (apply xors_in; [exact I|apply small_pad; assumption]).
  split; [apply SP, X|]; intros x K; apply in_app_or in K as [K|[<-|[]]]; [apply J, K|exact X].
Qed.

Lemma small_render t : small_tape t -> small (state (render P t)).
Proof.
  intros [C [X _]]; destruct (play_in (closed t) C) as [[_ S] _].
  unfold render; destruct (play P (closed t)); cbn [state snd] in *; now apply small_xors.
Qed.

Lemma small_squeezed n : forall t, wf t -> small_tape t ->
  small (fst (squeeze P n (render P t))) /\ small_tape (feed (bytes (fst (squeeze P n (render P t)))) t).
Proof.
  induction n as [|n IH]; intros t W T; [split; [constructor|exact T]|]; cbn [squeeze].
  rewrite set_is_xor, N.lxor_0_r; set (b := get (rate_idx (render P t)) (state (render P t))).
  assert (B : (b < 256)%N) by now apply small_get, small_render.
  change (advance P (xor_at (rate_idx (render P t)) b (state (render P t))) (render P t)) with (absorb1 P b (render P t)).
  rewrite <- (render_absorb1 P HP) by apply W.
  assert (T' : small_tape (feed1 t (Byte b))) by (apply small_feed1; [exact T|intros c E; now injection E as <-]).
  destruct (IH (feed1 t (Byte b)) (wf_feed1 _ _ W) T') as [S U].
  destruct (squeeze P n (render P (feed1 t (Byte b)))) as [os d]; cbn [fst] in *; split; [now constructor|exact U].
Qed.

Lemma small_step t o : wf t -> small_tape t -> small (label o) -> small (data o) -> small_tape (tape_step P t o).
Proof.
  intros W T L D; unfold tape_step; pose proof (code_small o) as C.
  assert (H : small_tape (tape_header (code o) (label o) t)) by now apply small_header.
  assert (WH : wf (tape_header (code o) (label o) t)) by now apply wf_tape_header.
  revert H WH; generalize (tape_header (code o) (label o) t); intros h H WH.
  assert (CL : forall u, small_tape u -> small_tape (feed1 u Close)) by (intros u U; apply small_feed1; [exact U|discriminate]).
  destruct o as [l|l x|l n|l p|l p|l i v|l]; cbn [body data] in *; auto using small_feed.
  - rewrite (feed_close (leb n)), <- (render_absorb P HP) by exact WH.
    set (u := feed (bytes (leb n)) h); assert (U : wf u) by now apply wf_feed.
    destruct (render_close P HP [] u U) as (_ & R & U'); rewrite <- R.
    apply small_squeezed; [exact U'|]; apply CL, small_feed; [exact H|apply small_leb].
  - change (small_tape (feed (bytes p) (feed1 h Close))); apply small_feed; auto.
  - rewrite (feed_close (leb (length p))), (feed_close p).
    set (u := feed (bytes (leb (length p))) h); assert (U : wf u) by now apply wf_feed.
    rewrite <- (render_absorb P HP) by exact WH; fold u.
    destruct (render_close P HP [] u U) as (_ & R & U'); rewrite <- R.
    rewrite <- (render_absorb P HP) by exact U'.
    set (v := feed (bytes p) (feed1 u Close)); assert (V : wf v) by now apply wf_feed.
    destruct (render_close P HP [] v V) as (_ & R' & V'); rewrite <- R'.
    apply small_squeezed; [exact V'|]; apply CL, small_feed; [|exact D]; apply CL, small_feed; [exact H|apply small_leb].
  - assert (I : rate_idx (render P h) = length (cur h)) by (unfold render; now destruct (play P (closed h))).
    rewrite I; destruct (Nat.eqb_spec (length (cur h)) 0) as [E|E].
    + apply small_feed; [exact H|]; apply small_firstn, small_render, H.
    + destruct (render_close P HP [] h WH) as (_ & R & W'); rewrite <- R.
      change (small_tape (feed (bytes (firstn 32 (state (render P (feed1 h Close))))) (feed1 h Close))).
      apply small_feed; [now apply CL|]; apply small_firstn, small_render, CL, H.
Qed.

Lemma small_run T : legal T -> small_tape (tape_run P T).
Proof.
  induction T as [|o T IH] using rev_ind; intro S.
  - split; cbn; [constructor|split; cbn; [constructor|lia]].
  - rewrite tape_run_snoc; destruct (S o) as (_ & L & D); [apply in_or_app; right; now left|].
    apply small_step; auto; [now apply wf_tape_run|]; apply IH; intros r I; apply S, in_or_app; now left.
Qed.
End Permuted.

(** ** The model as a program *)

Inductive prog (A : Type) := Ret (a : A) | Need (bs : list block) (k : list byte -> prog A).
Arguments Ret {A} a.
Arguments Need {A} bs k.

Fixpoint bind {A B} (p : prog A) (f : A -> prog B) : prog B :=
  match p with Ret a => f a | Need bs k => Need bs (fun o => bind (k o) f) end.

(** The outer part of the state after some blocks. *)
Fixpoint result {A} (O : list block -> list byte) (p : prog A) : A :=
  match p with Ret a => a | Need bs k => result O (k (O bs)) end.
Fixpoint needs {A} (O : list block -> list byte) (p : prog A) : list (list block) :=
  match p with Ret a => [] | Need bs k => bs :: needs O (k (O bs)) end.

Fixpoint squeezing (n : nat) (t : tape) : prog (list byte * tape) :=
  match n with
  | O => Ret ([], t)
  | S n => Need (closed t) (fun o => let b := get (length (cur t)) o in
      bind (squeezing n (feed1 t (Byte b))) (fun r => Ret (b :: fst r, snd r)))
  end.

Fixpoint encrypting (p : list byte) (t : tape) : prog (list byte * tape) :=
  match p with
  | [] => Ret ([], t)
  | b :: p => Need (closed t) (fun o =>
      bind (encrypting p (feed1 t (Byte b))) (fun r => Ret (N.lxor (get (length (cur t)) o) b :: fst r, snd r)))
  end.

Definition stepping (o : op) (t : tape) : prog (list byte * tape) :=
  let h := tape_header (code o) (label o) t in
  match o with
  | Init _ => Ret ([], h)
  | Mix _ x => Ret ([], feed (bytes x) h)
  | Derive _ n => squeezing n (feed1 (feed (bytes (leb n)) h) Close)
  | Mask _ p => encrypting p (feed1 h Close)
  | Seal _ p => bind (encrypting p (feed1 (feed (bytes (leb (length p))) h) Close)) (fun r =>
      bind (squeezing tag_length (feed1 (snd r) Close)) (fun q => Ret (fst r ++ fst q, snd q)))
  | Fork _ i v => Ret ([], feed (bytes (i :: v)) h)
  | Ratchet _ => let t := if length (cur h) =? 0 then h else feed1 h Close in
      Need (closed t) (fun o => Ret ([], feed (bytes (firstn 32 o)) t))
  end.

Fixpoint transcript (T : list op) (r : list byte * tape) : prog (list byte * tape) :=
  match T with [] => Ret r | o :: T => bind (stepping o (snd r)) (transcript T) end.

(** What the last operation of a transcript outputs. *)
Definition answer (P : list byte -> list byte) (T : list op) : list byte :=
  fst (fold_left (fun r o => step P o (snd r)) T ([], start)).

Lemma result_bind {A B} O (p : prog A) (f : A -> prog B) : result O (bind p f) = result O (f (result O p)).
Proof. induction p as [a|bs k IH]; cbn [bind result]; auto. Qed.
Lemma needs_bind {A B} O (p : prog A) (f : A -> prog B) : needs O (bind p f) = needs O p ++ needs O (f (result O p)).
Proof. induction p as [a|bs k IH]; cbn [bind needs result app]; auto; now rewrite IH. Qed.

Definition outer (y : list byte) : list byte := firstn (rate + 2) y.
Definition outer_of (P : list byte -> list byte) (bs : list block) : list byte := outer (snd (play P bs)).

Section Is.
Variable P : list byte -> list byte.
Hypothesis HP : keeps_length P.
Notation O := (outer_of P).

Lemma get_outer i y : i < rate + 2 -> get i (outer y) = get i y.
Proof.
  unfold get, outer; generalize (rate + 2); intros n H; revert i y H.
  induction n as [|n IH]; intros i y H; [lia|]; destruct y, i; cbn; auto; apply IH; lia.
Qed.

Lemma next_outer t : wf t -> get (length (cur t)) (O (closed t)) = get (rate_idx (render P t)) (state (render P t)).
Proof.
  intros (L & _); unfold outer_of; rewrite get_outer by lia; unfold render; destruct (play P (closed t)); cbn [snd state rate_idx].
  now rewrite get_xors_beyond.
Qed.

Lemma squeezing_is n : forall t, wf t -> result O (squeezing n t) =
  (fst (squeeze P n (render P t)), feed (bytes (fst (squeeze P n (render P t)))) t).
Proof.
  induction n as [|n IH]; intros t W; [reflexivity|]; cbn [squeezing result squeeze]; rewrite (next_outer t W).
  rewrite set_is_xor, N.lxor_0_r; set (b := get (rate_idx (render P t)) (state (render P t))).
  change (advance P (xor_at (rate_idx (render P t)) b (state (render P t))) (render P t)) with (absorb1 P b (render P t)).
  rewrite <- (render_absorb1 P HP) by apply W; rewrite result_bind, IH by now apply wf_feed1.
  destruct (squeeze P n (render P (feed1 t (Byte b)))) as [os d]; reflexivity.
Qed.

Lemma encrypting_is p : forall t, wf t -> result O (encrypting p t) =
  (fst (encrypt P p (render P t)), feed (bytes p) t).
Proof.
  induction p as [|b p IH]; intros t W; [reflexivity|]; cbn [encrypting result encrypt]; rewrite (next_outer t W).
  change (advance P (xor_at (rate_idx (render P t)) b (state (render P t))) (render P t)) with (absorb1 P b (render P t)).
  rewrite <- (render_absorb1 P HP) by apply W; rewrite result_bind, IH by now apply wf_feed1.
  rewrite get_xor_at, Nat.eqb_refl, (render_state_length P HP).
  replace (rate_idx (render P t) <? width) with true.
  2:{ symmetry; apply Nat.ltb_lt; destruct W as (L & _); unfold render; destruct (play P (closed t)); cbn [rate_idx].
      unfold rate, width in *; lia. }
  destruct (encrypt P p (render P (feed1 t (Byte b)))) as [os d]; reflexivity.
Qed.

Lemma outer_first n t : wf t -> cur t = [] -> n <= rate + 2 -> firstn n (O (closed t)) = firstn n (state (render P t)).
Proof.
  intros W E N; unfold outer_of, outer; rewrite firstn_firstn, Nat.min_l by exact N.
  unfold render; destruct (play P (closed t)); rewrite E, xors_nil; reflexivity.
Qed.

(** For a tag of any length, so that nothing is computed 16 times. *)
Lemma sealing_is k p h : wf h ->
  result O (bind (encrypting p (feed1 (feed (bytes (leb (length p))) h) Close)) (fun r =>
    bind (squeezing k (feed1 (snd r) Close)) (fun q => Ret (fst r ++ fst q, snd q)))) =
  (fst (let (c, d1) := encrypt P p (permute P (absorb P (leb (length p)) (render P h))) in
        let (tag, d2) := squeeze P k (permute P d1) in (c ++ tag, d2)),
   feed (bytes (leb (length p)) ++ Close :: bytes p ++ Close ::
     bytes (fst (squeeze P k (permute P (absorb P p (permute P (absorb P (leb (length p)) (render P h)))))))) h).
Proof.
  intro WH; rewrite (feed_close (leb (length p))), (feed_close p).
  set (u := feed (bytes (leb (length p))) h); assert (U : wf u) by now apply wf_feed.
  rewrite <- (render_absorb P HP) by exact WH; fold u.
  destruct (render_close P HP [] u U) as (_ & R & U'); rewrite <- R.
  rewrite result_bind, encrypting_is by exact U'; cbn [snd fst].
  pose proof (encrypt_absorbs P p (render P (feed1 u Close))) as EA.
  destruct (encrypt P p (render P (feed1 u Close))) as [c d1]; cbn [fst snd] in *; subst d1.
  rewrite <- (render_absorb P HP) by exact U'.
  set (v := feed (bytes p) (feed1 u Close)); assert (V : wf v) by now apply wf_feed.
  destruct (render_close P HP [] v V) as (_ & R' & V'); rewrite <- R'.
  rewrite result_bind, squeezing_is by exact V'; cbn [result fst snd].
  destruct (squeeze P k (render P (feed1 v Close))); reflexivity.
Qed.

Theorem stepping_is o t : wf t -> result O (stepping o t) = (fst (step P o (render P t)), tape_step P t o).
Proof.
  intro W; unfold stepping, step, tape_step.
  assert (WH : wf (tape_header (code o) (label o) t)) by now apply wf_tape_header.
  rewrite <- (render_header P HP) by exact W.
  revert WH; generalize (tape_header (code o) (label o) t); intros h WH.
  destruct o as [l|l x|l n|l p|l p|l i v|l]; cbn [act body]; try reflexivity.
  - rewrite (feed_close (leb n)), <- (render_absorb P HP) by exact WH.
    set (u := feed (bytes (leb n)) h); assert (U : wf u) by now apply wf_feed.
    destruct (render_close P HP [] u U) as (_ & R & U'); rewrite <- R.
    now apply squeezing_is.
  - destruct (render_close P HP [] h WH) as (_ & R & U'); rewrite <- R.
    change (feed (Close :: bytes p) h) with (feed (bytes p) (feed1 h Close)); now apply encrypting_is.
  - apply (sealing_is tag_length p h WH).
  - assert (I : rate_idx (render P h) = length (cur h)) by (unfold render; now destruct (play P (closed h))).
    cbn [result fst]; f_equal; rewrite I; destruct (Nat.eqb_spec (length (cur h)) 0) as [E|E].
    + rewrite outer_first; auto; [|unfold rate; lia]; now destruct (cur h).
    + destruct (render_close P HP [] h WH) as (_ & R & W'); rewrite <- R.
      change (feed ([Close] ++ bytes (firstn 32 (state (render P (feed1 h Close))))) h) with
        (feed (bytes (firstn 32 (state (render P (feed1 h Close))))) (feed1 h Close)).
      rewrite outer_first; auto; unfold rate; lia.
Qed.

Theorem transcript_is T : result O (transcript T ([], blank)) = (answer P T, tape_run P T).
Proof.
  assert (H : forall T x t, wf t -> result O (transcript T (x, t)) =
    (fst (fold_left (fun r o => step P o (snd r)) T (x, render P t)), fold_left (tape_step P) T t)).
  { clear T; induction T as [|o T IH]; intros x t W; [reflexivity|]; cbn [transcript fold_left snd].
    rewrite result_bind, stepping_is, IH by auto using wf_tape_step.
    rewrite (step_agrees P HP) by exact W; now rewrite <- surjective_pairing. }
  apply (H T [] blank wf_blank).
Qed.
End Is.

(** *** What is asked for was fed *)

Definition prefix {A} (x y : list A) : Prop := exists z, y = x ++ z.

Lemma prefix_refl {A} (x : list A) : prefix x x.
Proof. exists []; now rewrite app_nil_r. Qed.
Lemma prefix_trans {A} (x y z : list A) : prefix x y -> prefix y z -> prefix x z.
Proof. intros [a ->] [b ->]; exists (a ++ b); now rewrite app_assoc. Qed.

Lemma closed_feed1 k t : prefix (closed t) (closed (feed1 t k)).
Proof. destruct k; cbn [feed1]; [destruct (_ =? _)|]; cbn [closed]; try apply prefix_refl; eexists; reflexivity. Qed.
Lemma closed_feed w : forall t, prefix (closed t) (closed (feed w t)).
Proof. induction w as [|k w IH]; intro t; [apply prefix_refl|]; eapply prefix_trans; [apply closed_feed1|apply IH]. Qed.
Lemma closed_mark id t : prefix (closed t) (closed (mark id t)).
Proof. unfold mark; eapply prefix_trans; [apply (closed_feed1 (Byte (N.of_nat (fi t))))|]; apply (closed_feed1 _ (Tape _ _ _)). Qed.
Lemma closed_header c l t : prefix (closed t) (closed (tape_header c l t)).
Proof. unfold tape_header; eapply prefix_trans; [apply closed_mark|]; eapply prefix_trans; [apply closed_feed|apply closed_mark]. Qed.

(** Between two tapes: the program begins at [t], and asks only for what is closed at its end, which is [t] fed more. *)
Definition within_tapes (O : list block -> list byte) (t : tape) (p : prog (list byte * tape)) : Prop :=
  prefix (closed t) (closed (snd (result O p))) /\
  forall bs, In bs (needs O p) -> prefix (closed t) bs /\ prefix bs (closed (snd (result O p))).

Lemma within_ret O t x u : prefix (closed t) (closed u) -> within_tapes O t (Ret (x, u)).
Proof. intro H; split; [exact H|intros bs []]. Qed.

Lemma within_from O t u p : prefix (closed t) (closed u) -> within_tapes O u p -> within_tapes O t p.
Proof.
  intros H [A B]; split; [eapply prefix_trans; eauto|]; intros bs I; destruct (B bs I); split; auto; eapply prefix_trans; eauto.
Qed.

Lemma within_bind O t p f : within_tapes O t p -> (forall r, within_tapes O (snd r) (f r)) -> within_tapes O t (bind p f).
Proof.
  intros [A B] H; unfold within_tapes; rewrite result_bind, needs_bind; destruct (H (result O p)) as [C D]; split.
  - eapply prefix_trans; eauto.
  - intros bs I; apply in_app_or in I as [I|I]; [destruct (B bs I)|destruct (D bs I)]; split; auto; eapply prefix_trans; eauto.
Qed.

Lemma within_squeezing O n : forall t, within_tapes O t (squeezing n t).
Proof.
  induction n as [|n IH]; intro t; [apply within_ret, prefix_refl|]; unfold within_tapes; cbn [squeezing result needs].
  set (b := get (length (cur t)) (O (closed t))).
  assert (H : within_tapes O t (bind (squeezing n (feed1 t (Byte b))) (fun r => Ret (b :: fst r, snd r)))).
  { apply within_bind; [eapply within_from; [apply closed_feed1|apply IH]|]; intros [x u]; apply within_ret, prefix_refl. }
  destruct H as [H1 H2]; split; [exact H1|]; intros bs [<-|I]; [split; [apply prefix_refl|exact H1]|auto].
Qed.

Lemma within_encrypting O p : forall t, within_tapes O t (encrypting p t).
Proof.
  induction p as [|b p IH]; intro t; [apply within_ret, prefix_refl|]; unfold within_tapes; cbn [encrypting result needs].
  match goal with |- context [bind ?q ?f] => assert (H : within_tapes O t (bind q f)) end.
  { apply within_bind; [eapply within_from; [apply closed_feed1|apply IH]|]; intros [x u]; apply within_ret, prefix_refl. }
  destruct H as [H1 H2]; split; [exact H1|]; intros bs [<-|I]; [split; [apply prefix_refl|exact H1]|auto].
Qed.

Lemma within_stepping O o t : within_tapes O t (stepping o t).
Proof.
  apply (within_from O t (tape_header (code o) (label o) t)); [apply closed_header|]; unfold stepping.
  generalize (tape_header (code o) (label o) t); clear t; intro h.
  destruct o as [l|l x|l n|l p|l p|l i v|l].
  - apply within_ret, prefix_refl.
  - apply within_ret, closed_feed.
  - eapply within_from; [|apply within_squeezing]; eapply prefix_trans; [apply closed_feed|apply closed_feed1].
  - eapply within_from; [|apply within_encrypting]; apply closed_feed1.
  - apply within_bind.
    + eapply within_from; [|apply within_encrypting]; eapply prefix_trans; [apply closed_feed|apply closed_feed1].
    + intros [c u]; apply within_bind; [eapply within_from; [|apply within_squeezing]; apply closed_feed1|].
      intros [tag v]; apply within_ret, prefix_refl.
  - apply within_ret, closed_feed.
  - set (t := if length (cur h) =? 0 then h else feed1 h Close).
    apply (within_from O h t); [unfold t; destruct (_ =? _); [apply prefix_refl|apply closed_feed1]|].
    split; cbn [result snd needs]; [apply closed_feed|]; intros bs [<-|[]]; split; [apply prefix_refl|apply closed_feed].
Qed.

Lemma within_transcript O T : forall r, within_tapes O (snd r) (transcript T r).
Proof.
  induction T as [|o T IH]; intro r; cbn [transcript].
  - destruct r; apply within_ret, prefix_refl.
  - apply within_bind; [apply within_stepping|exact IH].
Qed.
