(** * Segment: a piece of a kernel, from what is known at its start to what holds at its end *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker.
Import ListNotations.
Local Open Scope Z_scope.

(** Registers, from a list of the known ones. *)
Definition build {A} (n : nat) (l : list (nat * A)) : list (option A) :=
  fold_right (fun ra t => update (fst ra) (Some (snd ra)) t) (repeat None n) l.

Definition unknown {A} (l : list (option A)) (r : nat) : bool := match nth r l None with None => true | Some _ => false end.

Lemma nth_update_some {A} r i (a : A) l v : nth r (update i (Some a) l) None = Some v ->
  (r = i /\ v = a) \/ nth r l None = Some v.
Proof.
  revert r i; induction l as [|b l IH]; intros r [|i]; cbn [update]; intro E; auto; destruct r; cbn [nth] in *; auto.
  - left; split; congruence.
  - destruct (IH r i E) as [[-> ->]|]; auto.
Qed.

Lemma build_in {A} n (l : list (nat * A)) r v : nth r (build n l) None = Some v -> In (r, v) l.
Proof.
  induction l as [|[i a] l IH]; cbn [build fold_right fst snd]; intro E.
  - exfalso; revert r E; induction n; intros [|r] E; cbn in E; try discriminate; eauto.
  - apply nth_update_some in E as [[-> ->]|E]; [now left|right; auto].
Qed.

(** The bytes of the inputs, as atoms from number [a] on. *)
Definition input (a n : nat) : list sbyte := map (fun i => atom (N.of_nat i)) (seq a n).

Definition inputs (all : list byte) : N -> byte := fun a => nth (N.to_nat a) all 0%N.

Definition agrees (env : N -> byte) (all : list byte) : Prop := forall a, (a < first)%N -> env a = inputs all a.

Lemma input_is env all a n : agrees env all -> (a + n <= length all)%nat -> (a + n <= 4096)%nat ->
  evs env (input a n) = firstn n (skipn a all).
Proof.
  intros H L M; apply nth_ext with (d := 0%N) (d' := 0%N).
  - unfold input; rewrite evs_length, map_length, seq_length, firstn_length, skipn_length; lia.
  - unfold input, evs; rewrite !map_length, seq_length, map_map; intros i Q.
    rewrite nth_indep with (d' := ev env (atom (N.of_nat 0))) by now rewrite map_length, seq_length.
    rewrite (map_nth (fun i => ev env (atom (N.of_nat i)))), seq_nth, ev_atom, H by (assumption || (unfold first; lia)).
    unfold inputs; rewrite Nat2N.id.
    rewrite <- (firstn_skipn a all) at 1; rewrite app_nth2; rewrite firstn_length; [|lia].
    replace (a + i - Nat.min a (length all))%nat with i by lia.
    rewrite <- (firstn_skipn n (skipn a all)) at 1; apply app_nth1; rewrite firstn_length, skipn_length; lia.
Qed.

Section Segment.
Variable I : isa.
Variable code : list byte.

Definition started (at_ : Z) (numbers : list (nat * snumber)) (words : list (nat * list sbyte))
    (regions : list region) (nodes : list node) (gprs vecs : nat) : symbolic :=
  Sym at_ (build gprs numbers) (build vecs (map (fun rw => (fst rw, (snd rw, false))) words)) None None regions [] nodes.

Theorem segment known fuel to at_ numbers words regions nodes gprs vecs s' :
  srun I code known fuel to (started at_ numbers words regions nodes gprs vecs) = Some s' ->
  well_founded (s_nodes s') = true ->
  forall all B code_at m,
  placed I code known B code_at m (map layout_of regions) ->
  pc m = wrap (code_at + at_) ->
  Forall (fun rv => gpr m (fst rv) = number_is B (snd rv)) numbers ->
  (forall env, agrees env all -> Forall (fun rw => (length (snd rw) <= wide known)%nat /\
    firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) words) ->
  (forall env, agrees env all -> Forall (holds env B (mem m)) regions) ->
  exists env k m', agrees env all /\ consistent env (s_nodes s') /\ run I k m = Some m' /\
    related I known env B code_at m (map layout_of regions) s' m'.
Proof.
  intros E W all B code_at m P PC G V M.
  destruct (srun_for_all I code known fuel to _ s' E W (inputs all) B code_at m (map layout_of regions) P)
    as (env & k & m' & A & C & R & S); [|exists env, k, m'; auto].
  intros env A; constructor; cbn [started s_pc s_gpr s_vec s_carry s_zero s_mem s_trace]; try discriminate; auto.
  - intro r; destruct (nth r (build gprs numbers) None) as [v|] eqn:Q; [|reflexivity].
    apply build_in in Q; exact (proj1 (Forall_forall _ _) G _ Q).
  - intro r; destruct (nth r (build vecs _) None) as [[w c]|] eqn:Q; [|reflexivity].
    apply build_in in Q; apply in_map_iff in Q as ([q v] & Q & J); cbn [fst snd] in Q.
    destruct (proj1 (Forall_forall _ _) (V env A) _ J) as [L F]; cbn [fst snd] in *.
    assert (X : q = r /\ v = w /\ c = false) by (repeat split; congruence); destruct X as (-> & -> & ->).
    repeat split; auto; discriminate.
  - exact (p_vec _ _ _ _ _ _ _ P).
  - exact (M env A).
Qed.

(** What is read off the end. *)
Section End_.
Variables (known : knowledge) (env : N -> byte) (B : nat -> Z) (code_at : Z) (m0 : machine) (L : list (nat * bool * nat)).
Variables (s : symbolic) (m : machine).
Hypothesis R : related I known env B code_at m0 L s m.

Lemma same_gpr r : unknown (s_gpr s) r = true -> gpr m r = gpr m0 r.
Proof. intro U; rewrite (r_gpr _ _ _ _ _ _ _ _ _ R r); unfold unknown in U; destruct (nth r (s_gpr s) None); [discriminate|reflexivity]. Qed.

Lemma same_vec r : unknown (s_vec s) r = true -> vec m r = vec m0 r.
Proof.
  intro U; pose proof (r_vec _ _ _ _ _ _ _ _ _ R r) as V; unfold unknown in U; destruct (nth r (s_vec s) None); [discriminate|exact V].
Qed.

Lemma vec_lengths r : length (vec m r) = full I.
Proof. exact (r_width _ _ _ _ _ _ _ _ _ R r). Qed.

Definition snumber_eqb (a b : snumber) : bool :=
  match a, b with
  | (Some u, x), (Some v, y) => (u =? v)%nat && (x =? y)
  | (None, x), (None, y) => x =? y
  | _, _ => false
  end.

Definition number_ok (l : list (option snumber)) (rv : nat * snumber) : bool :=
  match nth (fst rv) l None with Some v => snumber_eqb v (snd rv) | None => false end.

Definition word_ok (l : list (option (list sbyte * bool))) (rw : nat * list sbyte) : bool :=
  match nth (fst rw) l None with Some (w, _) => word_eqb w (snd rw) | None => false end.

Definition cleared_ok (l : list (option (list sbyte * bool))) (r : nat) : bool :=
  match nth r l None with Some (w, c) => word_eqb w (map const (zero (length w))) && c | None => false end.

Lemma numbers_end l : forallb (number_ok (s_gpr s)) l = true ->
  Forall (fun rv => gpr m (fst rv) = number_is B (snd rv)) l.
Proof.
  intro H; apply Forall_forall; intros [r v] J; rewrite forallb_forall in H; specialize (H _ J).
  unfold number_ok in H; cbn [fst snd] in *; rewrite (r_gpr _ _ _ _ _ _ _ _ _ R r).
  destruct (nth r (s_gpr s) None) as [[[u|] x]|]; [| |discriminate]; destruct v as [[v|] y]; try discriminate; cbn [snumber_eqb] in H.
  - apply andb_prop in H as [U X]; apply Nat.eqb_eq in U as ->; apply Z.eqb_eq in X as ->; reflexivity.
  - apply Z.eqb_eq in H as ->; reflexivity.
Qed.

Lemma words_end l : forallb (word_ok (s_vec s)) l = true ->
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) l.
Proof.
  intro H; apply Forall_forall; intros [r w] J; rewrite forallb_forall in H; specialize (H _ J).
  unfold word_ok in H; cbn [fst snd] in *; pose proof (r_vec _ _ _ _ _ _ _ _ _ R r) as V.
  destruct (nth r (s_vec s) None) as [[w' c]|]; [|discriminate].
  apply word_eqb_eq in H as ->; apply V.
Qed.

Lemma cleared_end l : (wide known <= full I)%nat -> forallb (cleared_ok (s_vec s)) l = true ->
  Forall (fun r => vec m r = zero (full I)) l.
Proof.
  intros WD H; apply Forall_forall; intros r J; rewrite forallb_forall in H; specialize (H _ J).
  unfold cleared_ok in H; pose proof (r_vec _ _ _ _ _ _ _ _ _ R r) as V.
  destruct (nth r (s_vec s) None) as [[w' c]|]; [|discriminate].
  apply andb_prop in H as [H ->]; apply word_eqb_eq in H.
  destruct V as (LW & _ & V); rewrite (V eq_refl), H, evs_const, map_length; unfold zero; rewrite repeat_length, <- repeat_app.
  f_equal; lia.
Qed.

(** Every access is inside a region, every write inside one that may be written, every fetch inside the code. *)
Definition event_ok (L : list (nat * bool * nat)) (e : sevent) : bool :=
  match e with
  | SFetch x n => (0 <=? x) && (x + Z.of_nat n <=? Z.of_nat (length code))
  | SRead u x n => existsb (fun g => let '(v, _, l) := g in (u =? v)%nat && (0 <=? x) && (x + Z.of_nat n <=? Z.of_nat l)) L
  | SWrite u x n => existsb (fun g => let '(v, w, l) := g in (u =? v)%nat && w && (0 <=? x) && (x + Z.of_nat n <=? Z.of_nat l)) L
  end.
End End_.
End Segment.
