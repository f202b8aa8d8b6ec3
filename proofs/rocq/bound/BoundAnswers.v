(** * BoundAnswers: players that use what they are answered

    [spending] speaks of every answer, even of one that no question has.  [affords] is the same for possible answers alone:
    strings of the right length.  So an adversary may feed what it got into its next question.  [answers_random] is
    [outputs_random] for these. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret
  BoundNonces BoundMean.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Local Notation chance := (ideal bytes_dec block_dec (strings (rate + 2))).
Local Notation lookup := (found block_dec).

(** How many bytes an operation outputs. *)
Definition out_length (o : op) : nat :=
  match o with Derive _ n => n | Mask _ x => length x | Seal _ x => length x + tag_length | _ => 0 end.

(** ** What programs output *)

Section Outputs.
Variable O : list block -> list byte.

Lemma squeezing_length n : forall t, length (fst (result O (squeezing n t))) = n.
Proof. induction n as [|n IH]; intro t; [reflexivity|]; cbn [squeezing result]; rewrite result_bind; cbn [result fst length]; now rewrite IH. Qed.
Lemma encrypting_length x : forall t, length (fst (result O (encrypting x t))) = length x.
Proof. induction x as [|b x IH]; intro t; [reflexivity|]; cbn [encrypting result]; rewrite result_bind; cbn [result fst length]; now rewrite IH. Qed.

Hypothesis SO : forall bs, small (O bs).

Lemma squeezing_small n : forall t, small (fst (result O (squeezing n t))).
Proof.
  induction n as [|n IH]; intro t; [constructor|]; cbn [squeezing result]; rewrite result_bind; cbn [result fst].
  constructor; [apply small_get, SO|apply IH].
Qed.
Lemma encrypting_small x : small x -> forall t, small (fst (result O (encrypting x t))).
Proof.
  induction x as [|b x IH]; intros S t; [constructor|]; inversion S; subst; cbn [encrypting result]; rewrite result_bind; cbn [result fst].
  constructor; [apply lxor_small; [apply small_get, SO|assumption]|now apply IH].
Qed.
Lemma decrypting_small c : small c -> forall t, small (fst (result O (decrypting c t))).
Proof.
  induction c as [|b c IH]; intros S t; [constructor|]; inversion S; subst; cbn [decrypting result]; rewrite result_bind; cbn [result fst].
  constructor; [apply lxor_small; [apply small_get, SO|assumption]|now apply IH].
Qed.

Lemma stepping_in o t : small (data o) -> In (fst (result O (stepping o t))) (strings (out_length o)).
Proof.
  intro S; apply in_strings; destruct o as [d|l x|l n|l x|l x|l j x|l]; cbn [out_length data] in *.
  - split; [reflexivity|constructor].
  - split; [reflexivity|constructor].
  - split; [apply squeezing_length|apply squeezing_small].
  - split; [apply encrypting_length|now apply encrypting_small].
  - unfold stepping; cbn [code label]; generalize tag_length; intro k.
    rewrite (result_bind _ (encrypting _ _)), (result_bind _ (squeezing k _)); cbn [result fst].
    rewrite app_length, encrypting_length, squeezing_length; split; [reflexivity|]; apply small_app; [now apply encrypting_small|apply squeezing_small].
  - split; [reflexivity|constructor].
  - split; [reflexivity|constructor].
Qed.

Lemma transcript_in T : legal T -> forall t, In (fst (result O (transcript T ([], t)))) (strings (out_length (last T (Init [])))).
Proof.
  induction T as [|o T _] using rev_ind; intros L t.
  - apply in_strings; split; [reflexivity|constructor].
  - rewrite last_last; assert (E : forall r, exists u, result O (transcript (T ++ [o]) r) = result O (stepping o u)).
    { induction T as [|a T IH]; intro r; cbn [app transcript]; rewrite result_bind; [eexists; reflexivity|].
      apply IH; intros b I; apply L; now right. }
    destruct (E ([], t)) as [u ->]; apply stepping_in, L, in_or_app; right; now left.
Qed.

Lemma taken_none c tag x g r : length x = length c -> taken c tag (x ++ g) = r ->
  (r = Some x /\ g = tag) \/ r = None.
Proof.
  intros L <-; unfold taken; rewrite <- L, skipn_app, firstn_app, Nat.sub_diag, skipn_all, firstn_all; cbn [skipn firstn app].
  rewrite app_nil_r; destruct (list_eq_dec N.eq_dec g tag); auto.
Qed.

Lemma opening_in l c t tag x : small c -> taken c tag (fst (result O (opening l c t))) = Some x -> In x (strings (length c)).
Proof.
  intros S E; unfold opening in E; revert E; generalize tag_length; intros k E.
  rewrite (result_bind _ (decrypting _ _)), (result_bind _ (squeezing k _)) in E; cbn [result fst] in E.
  match type of E with context [decrypting c ?u] => destruct (decrypting_feeds O c u) as (_ & L & _); pose proof (decrypting_small c S u) as D end.
  apply taken_none in E; [|exact L]; destruct E as [[E _]|E]; [injection E as ->|discriminate]; apply in_strings; auto.
Qed.

Lemma unmasking_in l c t : small c -> In (fst (result O (unmasking l c t))) (strings (length c)).
Proof. intro S; apply in_strings; split; [apply decrypting_feeds|now apply decrypting_small]. Qed.
End Outputs.

Section Users.
Variable users : nat.
Variable domain : nat -> list byte.
Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).

(** At most [q] direct queries, and [m] calls of the permutation for the users, whatever possible is answered. *)
Fixpoint affords (q m : nat) (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute x k => is_state x /\ match q with O => False | S q => forall y, is_state y -> affords q m (k y) end
  | Unpermute y k => is_state y /\ match q with O => False | S q => forall x, is_state x -> affords q m (k x) end
  | Use i T k => i < users /\ legal T /\ exists c n, c + n <= m /\ costs (program domain i T) c /\
      forall x, In x (strings (out_length (last T (Init [])))) -> affords q n (k x)
  | Open i T l c tag k => i < users /\ legal T /\ (length l <= label_max /\ small l /\ small c) /\
      exists a n, a + n <= m /\ costs (open_program domain i T l c) a /\
      affords q n (k None) /\ forall x, In x (strings (length c)) -> affords q n (k (Some x))
  | Unmask i T l c k => i < users /\ legal T /\ (length l <= label_max /\ small l /\ small c) /\
      exists a n, a + n <= m /\ costs (unmask_program domain i T l c) a /\ forall x, In x (strings (length c)) -> affords q n (k x)
  end.

(** The same player, which gives up at an impossible answer. *)
Definition one_of (l : list (list byte)) (x : list byte) (A : player) : player := if in_dec bytes_dec x l then A else Say false.

Fixpoint checked (A : player) : player :=
  match A with
  | Say yes => Say yes
  | Permute x k => Permute x (fun y => one_of states y (checked (k y)))
  | Unpermute y k => Unpermute y (fun x => one_of states x (checked (k x)))
  | Use i T k => Use i T (fun x => one_of (strings (out_length (last T (Init [])))) x (checked (k x)))
  | Open i T l c tag k => Open i T l c tag (fun r =>
      match r with Some x => one_of (strings (length c)) x (checked (k r)) | None => checked (k r) end)
  | Unmask i T l c k => Unmask i T l c (fun x => one_of (strings (length c)) x (checked (k x)))
  end.

Lemma one_of_in l x A : In x l -> one_of l x A = A.
Proof. intro I; unfold one_of; destruct (in_dec _ _ _); [reflexivity|contradiction]. Qed.

Lemma one_of_spends l x A q m : (In x l -> spending users domain q m A) -> spending users domain q m (one_of l x A).
Proof. intro H; unfold one_of; destruct (in_dec _ _ _); [auto|exact I]. Qed.

Lemma checked_spends A : forall q m, affords q m A -> spending users domain q m (checked A).
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m F; cbn [affords checked spending] in *.
  - exact I.
  - destruct F as [X F], q as [|q]; [destruct F|]; split; [exact X|]; intro w; apply one_of_spends; intro J; apply IH, F; now apply in_states.
  - destruct F as [X F], q as [|q]; [destruct F|]; split; [exact X|]; intro w; apply one_of_spends; intro J; apply IH, F; now apply in_states.
  - destruct F as (U & L & a & n & M & C & F); split; [exact U|split; [exact L|]]; exists a, n; split; [exact M|split; [exact C|]].
    intro w; apply one_of_spends; auto.
  - destruct F as (U & L & D & a & n & M & C & N & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n.
    split; [exact M|split; [exact C|]]; intros [x|]; [apply one_of_spends|]; auto.
  - destruct F as (U & L & D & a & n & M & C & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n.
    split; [exact M|split; [exact C|]]; intro w; apply one_of_spends; auto.
Qed.

(** *** In the ideal world *)

Lemma by_table_small i v : small_table v -> forall bs, small (by_table i v bs).
Proof. intros S; apply (by_table_agrees i v S). Qed.

Lemma checked_ideal p A : In p all_permutations -> forall q m v, affords q m A -> small_table v ->
  (chance p (compiled domain (checked A)) v == chance p (compiled domain A) v)%Q.
Proof.
  intro IP; induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m v F S; cbn [affords checked compiled ideal] in *.
  - reflexivity.
  - destruct F as [X F], q as [|q]; [destruct F|]; pose proof (perm_states p IP x X) as Y.
    rewrite one_of_in by (now apply in_states); apply (IH _ q m); auto.
  - destruct F as [X F], q as [|q]; [destruct F|]; apply in_states in X.
    pose proof (inverse_in bytes_dec states states_once p IP y X) as Y.
    rewrite one_of_in by exact Y; apply (IH _ q m); auto; apply F; now apply in_states.
  - destruct F as (U & L & a & n & _ & _ & F); rewrite !chance_ask; apply mean_same; intros w (_ & _ & SW & _).
    pose proof (transcript_in _ (by_table_small i w (SW S)) T L (begun domain i no_key)) as J; rewrite <- program_from in J.
    rewrite one_of_in by exact J; apply (IH _ q n); auto.
  - destruct F as (U & L & (_ & _ & SC) & a & n & _ & _ & N & F); rewrite !chance_ask; apply mean_same; intros w (_ & _ & SW & _).
    destruct (taken c tag _) as [x|] eqn:E; [|apply (IH _ q n); auto].
    unfold open_program in E; rewrite result_bind in E; apply opening_in in E; [|now apply by_table_small, SW|exact SC].
    rewrite one_of_in by exact E; apply (IH _ q n); auto.
  - destruct F as (U & L & (_ & _ & SC) & a & n & _ & _ & F); rewrite !chance_ask; apply mean_same; intros w (_ & _ & SW & _).
    match goal with |- context [result ?O (unmask_program domain i T l c)] =>
      assert (J : In (fst (result O (unmask_program domain i T l c))) (strings (length c)))
        by (unfold unmask_program; rewrite result_bind; apply unmasking_in; [now apply by_table_small, SW|exact SC]) end.
    rewrite one_of_in by exact J; apply (IH _ q n); auto.
Qed.

(** *** In the real world *)

Section Real.
Variables (p : @graph (list byte)) (keys : list (list byte)) (i : nat).
Hypothesis IP : In p all_permutations.
Hypothesis IK : In keys (key_lists users).
Hypothesis U : i < users.

Definition small_part (bs : list block) : list byte :=
  let o := has_after domain p keys i bs in if in_dec bytes_dec o (strings (length o)) then o else [].

Lemma small_part_small bs : small (small_part bs).
Proof. unfold small_part; destruct (in_dec _ _ _) as [I|_]; [now apply in_strings in I|constructor]. Qed.

Lemma has_after_small bs : Forall ok_block bs -> small (has_after domain p keys i bs).
Proof.
  intro B; unfold has_after; destruct bs as [|b bs]; [constructor|]; apply small_firstn.
  assert (H : forall bs, Forall ok_block bs -> is_state (node bytes_dec [] (place_of domain) after p keys i (rev bs))); [|now apply H].
  clear b bs B; intros bs B; induction bs as [|b bs IH] using rev_ind; [|rewrite rev_app_distr].
  - apply xors_in; [apply zeros_in|]; destruct (in_vectors _ _ _ IK) as [LK SK].
    assert (X : In (nth i keys []) (strings 32)) by (apply SK, nth_In; lia); apply in_strings in X as [_ X].
    apply small_app; [apply small_repeat; lia|exact X].
  - apply Forall_app in B as [B C]; inversion C as [|? ? [_ SB] _]; subst; cbn [rev app node]; apply (perm_states p IP), xors_in; [now apply IH|].
    now apply small_pad.
Qed.

Lemma real_small (r : prog (list byte * tape)) :
  (forall O, (forall bs, small (O bs)) -> forall bs, In bs (needs O r) -> Forall ok_block bs) ->
  result (has_after domain p keys i) r = result small_part r.
Proof.
  intro H; apply result_same; intros bs I; apply (H _ small_part_small) in I; apply has_after_small in I.
  unfold small_part; destruct (in_dec _ _ _) as [_|N]; [reflexivity|]; elim N; now apply in_strings.
Qed.

Lemma prefix_blocks bs t : prefix bs (closed t) -> good_tape t -> Forall ok_block bs.
Proof. intros [w E] G; apply good_blocks in G; rewrite E in G; now apply Forall_app in G. Qed.

Lemma program_blocks T O : legal T -> (forall bs, small (O bs)) -> good_tape (snd (result O (program domain i T))) /\
  forall bs, In bs (needs O (program domain i T)) -> Forall ok_block bs.
Proof.
  intros L S; assert (G : good_tape (snd (result O (program domain i T))))
    by (apply good_transcript; [exact S|now apply (legal_keyed users domain domains)|apply good_blank]).
  split; [exact G|]; intros bs I; destruct (within_transcript O (keyed (domain i) no_key T) ([], blank)) as [_ W].
  now apply (prefix_blocks bs _ (proj2 (W bs I))).
Qed.

Lemma after_blocks T f O : legal T -> (forall bs, small (O bs)) -> (forall t, within_tapes O t (f t)) ->
  (forall t, good_tape t -> good_tape (snd (result O (f t)))) ->
  forall bs, In bs (needs O (bind (program domain i T) (fun r => f (snd r)))) -> Forall ok_block bs.
Proof.
  intros L S W G bs I; rewrite needs_bind in I; destruct (program_blocks T O L S) as [GT B]; apply in_app_or in I as [I|I]; [auto|].
  destruct (W (snd (result O (program domain i T)))) as [_ X]; apply (prefix_blocks bs _ (proj2 (X bs I))), G, GT.
Qed.

(** What the real world answers is possible. *)
Lemma used_in T : legal T -> In (answer (perm p) (keyed (domain i) (nth i keys []) T)) (strings (out_length (last T (Init [])))).
Proof.
  intro L; rewrite (answers_are users domain domains p keys i IP IK U), real_small by (intros O S; now apply program_blocks).
  rewrite program_from; apply transcript_in; [apply small_part_small|exact L].
Qed.

Lemma opened_in T l c tag x : legal T -> small l -> small c ->
  fst (unseal (perm p) l c tag (run (perm p) (keyed (domain i) (nth i keys []) T))) = Some x -> In x (strings (length c)).
Proof.
  intros L SL SC; rewrite (openings_are users domain domains p keys i IP IK U), real_small
    by (intros O S; apply (after_blocks T (opening l c) O L S); [intro; apply within_opening|intros; now apply good_opening]).
  unfold open_program; rewrite result_bind; apply opening_in; [apply small_part_small|exact SC].
Qed.

Lemma unmasked_in T l c : legal T -> small l -> small c ->
  In (fst (unmask (perm p) l c (run (perm p) (keyed (domain i) (nth i keys []) T)))) (strings (length c)).
Proof.
  intros L SL SC; rewrite (unmaskings_are users domain domains p keys i IP IK U), real_small
    by (intros O S; apply (after_blocks T (unmasking l c) O L S); [intro; apply within_unmasking|intros; now apply good_unmasking]).
  unfold unmask_program; rewrite result_bind; apply unmasking_in; [apply small_part_small|exact SC].
Qed.
End Real.

Section Says.
Variables (p : @graph (list byte)) (keys : list (list byte)).
Hypothesis IP : In p all_permutations.
Hypothesis IK : In keys (key_lists users).

Lemma permuted_in x : is_state x -> In (perm p x) states.
Proof. intro X; now apply in_states, perm_states. Qed.
Lemma unpermuted_in y : is_state y -> In (perm_inverse p y) states.
Proof. intro Y; apply (inverse_in bytes_dec states states_once p IP y); now apply in_states. Qed.

Lemma checked_says A : forall q m, affords q m A -> says domain p keys (checked A) = says domain p keys A.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m F; cbn [affords checked says] in *.
  - reflexivity.
  - destruct F as [X F], q as [|q]; [destruct F|]; pose proof (permuted_in x X) as J.
    rewrite one_of_in by exact J; apply (IH _ q m), F; now apply in_states.
  - destruct F as [X F], q as [|q]; [destruct F|]; pose proof (unpermuted_in y X) as J.
    rewrite one_of_in by exact J; apply (IH _ q m), F; now apply in_states.
  - destruct F as (U & L & a & n & _ & _ & F); pose proof (used_in p keys i IP IK U T L) as J; rewrite one_of_in by exact J; apply (IH _ q n); auto.
  - destruct F as (U & L & (_ & SL & SC) & a & n & _ & _ & N & F); pose proof (opened_in p keys i IP IK U T l c tag) as J.
    destruct (fst (unseal _ _ _ _ _)) as [x|]; [|apply (IH _ q n); auto].
    specialize (J x L SL SC eq_refl); rewrite one_of_in by exact J; apply (IH _ q n); auto.
  - destruct F as (U & L & (_ & SL & SC) & a & n & _ & _ & F); pose proof (unmasked_in p keys i IP IK U T l c L SL SC) as J.
    rewrite one_of_in by exact J; apply (IH _ q n); auto.
Qed.

End Says.

Theorem answers_random A q m : affords q m A ->
  (Qabs (really users domain A - ideally domain A) <= inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intro F; eapply Qle_trans; [|exact (outputs_random users domain domains (checked A) q m (checked_spends A q m F))]; apply Qle_lteq; right.
  apply Qabs_wd; unfold really, ideally, Qminus; apply Qplus_comp; [|apply Qopp_comp].
  - apply average_ext; intros keys K; apply average_ext; intros p P; now rewrite (checked_says p keys P K A q m F).
  - apply average_ext; intros p P; symmetry; apply (checked_ideal p A P q m); [exact F|discriminate].
Qed.
End Users.
