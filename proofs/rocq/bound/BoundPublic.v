(** * BoundPublic: collisions of transcripts and of outputs, for every adversary

    The games without a secret: the definitions first, the theorems at the end.  The permutation is one of all permutations
    of the 2^1024 states, each as likely as another; [proofs/rocq/bound/README.md] says the same in prose. *)

From Coq Require Import List Bool NArith Arith Lia QArith.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundGraph BoundModel.
Import ListNotations.
Local Open Scope nat_scope.

(** ** The game *)

(** All states, in a form that Coq never evaluates ([states_are]). *)
Definition sealed_strings : {f : nat -> list (list byte) | forall n, f n = strings n}.
Proof. exists strings; reflexivity. Qed.
Definition states : list (list byte) := proj1_sig sealed_strings width.

Lemma states_are : states = strings width.
Proof. exact (proj2_sig sealed_strings width). Qed.

(** All permutations of them, each as a list of pairs. *)
Definition all_permutations : list graph := permutations bytes_dec states.
Definition perm (p : graph) : list byte -> list byte := forward bytes_dec p.
Definition perm_inverse (p : graph) : list byte -> list byte := inverse bytes_dec p.

Definition probability (event : graph -> bool) : Q := average (fun p => indicator (event p)) all_permutations.

(** It asks the permutation, its inverse, and for what a transcript outputs last, and goes on as the answers say. *)
Inductive adversary :=
  | Stop
  | Query (x : list byte) (k : list byte -> adversary)
  | Invert (y : list byte) (k : list byte -> adversary)
  | Ask (T : list op) (k : list byte -> adversary).

(** The transcripts that it asks for. *)
Fixpoint asks (p : graph) (A : adversary) : list (list op) :=
  match A with
  | Stop => []
  | Query x k => asks p (k (perm p x))
  | Invert y k => asks p (k (perm_inverse p y))
  | Ask T k => T :: asks p (k (answer (perm p) T))
  end.

(** What the permutation is given for all this: for a transcript its inputs, with that of its last block, as it is
    padded. *)
Fixpoint spends (p : graph) (A : adversary) : list (list byte) :=
  match A with
  | Stop => []
  | Query x k => x :: spends p (k (perm p x))
  | Invert y k => perm_inverse p y :: spends p (k (perm_inverse p y))
  | Ask T k => inputs (permute (perm p) (run (perm p) T)) ++ spends p (k (answer (perm p) T))
  end.

(** At most [N] calls of the permutation, whatever the permutation is; labels of at most 91 bytes. *)
Definition admissible (N : nat) (A : adversary) : Prop := forall p, In p all_permutations ->
  length (spends p A) <= N /\ forall T, In T (asks p A) -> legal T.

Definition some_pair (test : list op -> list op -> bool) (l : list (list op)) : bool :=
  existsb (fun T => existsb (test T) l) l.

Definition different (T1 T2 : list op) : bool := if list_eq_dec op_eq_dec T1 T2 then false else true.
Definition same (x y : list byte) : bool := if bytes_dec x y then true else false.

(** Two transcripts whose states, with both indices, are one as soon as they are padded. *)
Definition last_input (P : list byte -> list byte) (T : list op) : list byte := last (inputs (permute P (run P T))) [].
Definition state_collision (P : list byte -> list byte) (T1 T2 : list op) : bool :=
  different T1 T2 && same (last_input P T1) (last_input P T2).

(** Two transcripts that end with Derive of at least [n] bytes, and [n] bytes of their outputs are the same. *)
Definition derives (n : nat) (T : list op) : bool :=
  match rev T with Derive _ m :: _ => n <=? m | _ => false end.
Definition output_collision (n : nat) (P : list byte -> list byte) (T1 T2 : list op) : bool :=
  different T1 T2 && (derives n T1 && derives n T2 && same (firstn n (answer P T1)) (firstn n (answer P T2))).

(** ** What is played *)

Section Played.
Context {B C : Type}.
Variables (eqB : forall x y : B, {x = y} + {x <> y}) (eqC : forall x y : C, {x = y} + {x <> y}).
Variables (all : list B) (all_once : NoDup all) (inner : B -> C) (c0 : C) (p : @graph B).
Hypothesis P : In p (permutations eqB all).
Notation play_tree := (played eqB eqC all inner c0 p).

Fixpoint touched (t : @tree B) : list B :=
  match t with
  | Done => []
  | Forward x k => x :: touched (k (forward eqB p x))
  | Inverse y k => inverse eqB p y :: touched (k (inverse eqB p y))
  | Aim _ k => touched k
  end.

Definition consistent (s : @history B) : Prop := forall x y, In (x, y) (pairs s) -> forward eqB p x = y.

Lemma played_spec t : forall hit s, consistent s -> NoDup (xs_of s) -> incl (xs_of s) all ->
  consistent (play_tree hit t s) /\ NoDup (xs_of (play_tree hit t s)) /\ incl (pairs s) (pairs (play_tree hit t s)) /\
  incl (xs_of (play_tree hit t s)) (xs_of s ++ touched t) /\
  forall x, In x (touched t) -> In x all -> In (x, forward eqB p x) (pairs (play_tree hit t s)).
Proof.
  assert (OLD : forall b l, old eqB all b l = false -> ~ In b l /\ In b all).
  { intros b l O; unfold old in O; apply orb_false_iff in O as [O O']; apply mem_not in O.
    apply negb_false_iff, mem_in in O'; auto. }
  assert (KEPT : forall b l, old eqB all b l = true -> In b all -> In b l).
  { intros b l O I; unfold old in O; apply orb_true_iff in O as [O|O]; [now apply mem_in in O|].
    apply negb_true_iff, mem_not in O; contradiction. }
  induction t as [|x k IH|y k IH|h k IH]; intros hit s CO N I; cbn [played touched].
  - repeat split; auto; try apply incl_refl; [apply incl_appl, incl_refl|intros x []].
  - set (y := forward eqB p x); destruct (old eqB all x (xs_of s)) eqn:O.
    + destruct (IH y hit s CO N I) as (A1 & A2 & A3 & A4 & A5); repeat split; auto.
      * intros b J; apply A4, in_app_or in J as [J|J]; apply in_or_app; [now left|right; now right].
      * intros b [<-|J] K; [|auto]; apply A3; apply (KEPT _ _ O) in K; apply in_map_iff in K as ([a c] & E & K).
        cbn in E; subst a; pose proof (CO _ _ K) as F; fold y in F; unfold y in *; rewrite F; exact K.
    + apply OLD in O as [O OA]; set (e := (has eqC (inner x) (rooted inner c0 s) && negb (hit y), (x, y))).
      destruct (IH y hit (e :: s)) as (A1 & A2 & A3 & A4 & A5).
      * intros a b [J|J]; [injection J as <- <-; reflexivity|now apply CO].
      * cbn; constructor; auto.
      * intros b [<-|J]; auto.
      * repeat split; auto.
        -- intros q J; apply A3; now right.
        -- intros b J; apply A4 in J; cbn in J; rewrite in_app_iff in *; destruct J as [<-|J]; [right; now left|].
           destruct J as [J|J]; [now left|right; now right].
        -- intros b [<-|J] K; [|auto]; apply A3; now left.
  - set (x := inverse eqB p y); destruct (old eqB all y (ys_of s)) eqn:O.
    + destruct (IH x hit s CO N I) as (A1 & A2 & A3 & A4 & A5); repeat split; auto.
      * intros b J; apply A4, in_app_or in J as [J|J]; apply in_or_app; [now left|right; now right].
      * intros b [<-|J] K; [|auto]; apply A3.
        assert (Y : In y all).
        { destruct (in_dec eqB y all) as [Y|Y]; [exact Y|exfalso]; apply Y.
          unfold x, inverse in K; destruct (find _ p) as [[a c]|] eqn:E; [|exact K].
          apply find_some in E as [J E]; cbn [snd] in E; destruct (eqB c y) as [->|]; [|discriminate].
          exact (proj2 (pair_in eqB all all_once p P _ _ J)). }
        apply (KEPT _ _ O) in Y as Z; apply in_map_iff in Z as ([a c] & E & J); cbn in E; subst c.
        pose proof (CO _ _ J) as F; replace x with a; [rewrite F; exact J|].
        unfold x; rewrite <- F; symmetry; apply (inverse_forward eqB all all_once p P), I.
        exact (in_map fst _ _ J).
    + apply OLD in O as [O OA].
      assert (F : forward eqB p x = y) by exact (forward_inverse eqB all all_once p P y OA).
      assert (X : ~ In x (xs_of s)).
      { intro J; apply in_map_iff in J as ([a c] & E & J); cbn in E; subst a; apply O.
        rewrite <- F, (CO _ _ J); exact (in_map snd _ _ J). }
      destruct (IH x hit ((false, (x, y)) :: s)) as (A1 & A2 & A3 & A4 & A5).
      * intros a b [J|J]; [injection J as <- <-; exact F|now apply CO].
      * cbn; constructor; auto.
      * intros b [<-|J]; auto; exact (inverse_in eqB all all_once p P y OA).
      * repeat split; auto.
        -- intros q J; apply A3; now right.
        -- intros b J; apply A4 in J; cbn in J; rewrite in_app_iff in *; destruct J as [<-|J]; [right; now left|].
           destruct J as [J|J]; [now left|right; now right].
        -- intros b [<-|J] K; [|auto]; rewrite F; apply A3; now left.
  - now apply IH.
Qed.
End Played.

(** ** The adversary as a tree of queries *)

Definition zeros : list byte := repeat 0%N width.
Definition inner (y : list byte) : list byte := skipn (rate + 2) y.
Definition root : list byte := repeat 0%N 32.

Fixpoint walk (bs : list block) (y : list byte) (k : list byte -> @tree (list byte)) : tree :=
  match bs with [] => k y | b :: bs => Forward (xors y (pad b)) (fun y => walk bs y k) end.

Fixpoint serve {A} (q : prog A) (k : A -> @tree (list byte)) : tree :=
  match q with Ret a => k a | Need bs f => walk bs zeros (fun y => serve (f (outer y)) k) end.

(** All blocks of a tape, with the last one, as it is. *)
Definition whole (t : tape) : list block := closed t ++ [(cur t, fi t)].

Fixpoint compile (A : adversary) : @tree (list byte) :=
  match A with
  | Stop => Done
  | Query x k => Forward x (fun y => compile (k y))
  | Invert y k => Inverse y (fun x => compile (k x))
  | Ask T k => serve (transcript T ([], blank)) (fun r => walk (whole (snd r)) zeros (fun _ => compile (k (fst r))))
  end.

Lemma states_once : NoDup states.
Proof. rewrite states_are; apply strings_once. Qed.

Lemma in_states s : In s states <-> is_state s.
Proof. rewrite states_are; apply in_strings. Qed.

Section One.
Variable p : @graph (list byte).
Hypothesis IP : In p all_permutations.
Notation P := (perm p).


Lemma perm_states s : is_state s -> is_state (P s).
Proof. intro I; apply in_states; apply in_states in I; exact (forward_in bytes_dec states states_once p IP s I). Qed.

Lemma perm_length : keeps_length P.
Proof.
  intros s L; destruct (in_dec bytes_dec s states) as [I|I].
  - apply in_states, perm_states in I; exact (proj1 I).
  - unfold perm; rewrite (forward_outside bytes_dec states states_once p IP s I); exact L.
Qed.

Lemma play_from bs : forall ins y, fold_left (play1 P) bs (ins, y) =
  (ins ++ fst (fold_left (play1 P) bs ([], y)), snd (fold_left (play1 P) bs ([], y))).
Proof.
  induction bs as [|b bs IH]; intros ins y; cbn [fold_left fst snd]; [now rewrite app_nil_r|].
  unfold play1 at 2 4 6; cbn [fst snd app].
  rewrite (IH (ins ++ [_])), (IH [_]); cbn [fst snd]; now rewrite <- app_assoc.
Qed.

Lemma touched_walk bs k : forall y, touched bytes_dec p (walk bs y k) =
  fst (fold_left (play1 P) bs ([], y)) ++ touched bytes_dec p (k (snd (fold_left (play1 P) bs ([], y)))).
Proof.
  induction bs as [|b bs IH]; intro y; cbn [walk touched]; [reflexivity|].
  fold (perm p (xors y (pad b))); rewrite IH.
  change (fold_left (play1 P) (b :: bs) ([], y)) with (fold_left (play1 P) bs ([xors y (pad b)], P (xors y (pad b)))).
  rewrite (play_from bs [xors y (pad b)]); reflexivity.
Qed.

Lemma touched_serve {A} (q : prog A) k : touched bytes_dec p (serve q k) =
  flat_map (fun bs => fst (play P bs)) (needs (outer_of P) q) ++ touched bytes_dec p (k (result (outer_of P) q)).
Proof.
  induction q as [a|bs f IH]; [reflexivity|]; cbn [serve needs result flat_map].
  rewrite touched_walk, <- app_assoc; apply f_equal; apply IH.
Qed.

Lemma inputs_whole T : inputs (permute P (run P T)) = fst (play P (whole (tape_run P T))).
Proof.
  rewrite (run_agrees P perm_length); destruct (wf_tape_run P T) as (L & _ & _).
  rewrite <- (render_permute P perm_length) by lia; unfold render, feed1, whole; cbn [closed].
  destruct (play P _); reflexivity.
Qed.

Lemma play_prefix bs cs : prefix bs cs -> incl (fst (play P bs)) (fst (play P cs)).
Proof.
  intros [ds ->]; unfold play; rewrite fold_left_app; destruct (fold_left (play1 P) bs _) as [i y].
  rewrite play_from; cbn [fst]; apply incl_appl, incl_refl.
Qed.

Lemma whole_prefix t : prefix (closed t) (whole t).
Proof. exists [(cur t, fi t)]; reflexivity. Qed.

Lemma asked_inputs A : incl (touched bytes_dec p (compile A)) (spends p A) /\
  forall T, In T (asks p A) -> incl (inputs (permute P (run P T))) (touched bytes_dec p (compile A)).
Proof.
  induction A as [|x k IH|y k IH|T k IH]; cbn [compile touched spends asks].
  - split; [apply incl_refl|intros T []].
  - destruct (IH (perm p x)) as [H1 H2]; split.
    + intros b [<-|I]; [now left|right; apply H1, I].
    + intros T I b J; right; exact (H2 T I b J).
  - destruct (IH (perm_inverse p y)) as [H1 H2]; split.
    + intros b [<-|I]; [now left|right; apply H1, I].
    + intros T I b J; right; exact (H2 T I b J).
  - rewrite touched_serve, (transcript_is P perm_length), touched_walk; cbn [fst snd].
    destruct (within_transcript (outer_of P) T ([], blank)) as [_ W].
    rewrite (transcript_is P perm_length) in W; cbn [fst snd] in W.
    change (fold_left (play1 P) (whole (tape_run P T)) ([], zeros)) with (play P (whole (tape_run P T))).
    rewrite <- inputs_whole; destruct (IH (answer P T)) as [H1 H2]; split.
    + intros b I; apply in_or_app; apply in_app_or in I as [I|I]; [left|apply in_app_or in I as [I|I]; [left; exact I|right; apply H1, I]].
      apply in_flat_map in I as (bs & I & J); rewrite inputs_whole; revert J; apply play_prefix.
      apply W in I as [_ I]; eapply prefix_trans; [exact I|apply whole_prefix].
    + intros U [<-|I] b J; apply in_or_app; right; apply in_or_app; [left; exact J|right; exact (H2 U I b J)].
Qed.

(** *** Chains *)

Lemma inner_xors y x : length x <= rate + 2 -> inner (xors y x) = inner y.
Proof.
  unfold inner; generalize (rate + 2); intro n; revert y x.
  induction n as [|n IH]; intros [|a y] [|b x] H; cbn [length] in H; try reflexivity; try lia; cbn [xors skipn]; apply IH; lia.
Qed.

Section History.
Variable s : @history (list byte).
Variables (clash : list byte -> list byte -> bool).
Hypothesis G : good bytes_dec inner root clash s = true.
Hypothesis clash_sym : forall a b, clash a b = clash b a.

Lemma play_chain bs : Forall (fun b => length (fst b) <= rate) bs -> forall b, length (fst b) <= rate ->
  (forall x, In x (fst (play P bs)) -> In (x, P x) (pairs s)) ->
  chain inner root s (xors (snd (play P bs)) (pad b)) (rev (fst (play P bs))).
Proof.
  induction bs as [|c bs IH] using rev_ind; intros W b L A.
  - apply chain_start; rewrite inner_xors by (rewrite pad_length by exact L; apply le_n); reflexivity.
  - apply Forall_app in W as [W C]; inversion C as [|? ? LC _]; subst.
    rewrite play_snoc in *; unfold play1 in *; cbn [fst snd] in *; rewrite rev_app_distr; cbn [rev app].
    eapply chain_next; [apply A, in_or_app; right; now left| |apply IH; [exact W|exact LC|]].
    + apply inner_xors; rewrite pad_length by exact L; apply le_n.
    + intros x I; apply A, in_or_app; left; exact I.
Qed.

(** Block lists that end with one input are the same. *)
Lemma ends_decide bs1 b1 bs2 b2 :
  Forall (fun b => length (fst b) <= rate) (bs1 ++ [b1]) -> Forall (fun b => length (fst b) <= rate) (bs2 ++ [b2]) ->
  (forall x, In x (fst (play P bs1)) \/ In x (fst (play P bs2)) -> In (x, P x) (pairs s)) ->
  last (fst (play P (bs1 ++ [b1]))) [] = last (fst (play P (bs2 ++ [b2]))) [] -> bs1 ++ [b1] = bs2 ++ [b2].
Proof.
  intros W1 W2 A E; pose proof W1 as V1; pose proof W2 as V2.
  apply Forall_app in V1 as [V1 L1]; apply Forall_app in V2 as [V2 L2]; inversion L1; inversion L2; subst.
  pose proof E as E'; rewrite !play_snoc in E'; unfold play1 in E'; cbn [fst] in E'; rewrite !last_last in E'.
  pose proof (play_chain bs1 V1 b1 ltac:(assumption) (fun x I => A x (or_introl I))) as C1.
  pose proof (play_chain bs2 V2 b2 ltac:(assumption) (fun x I => A x (or_intror I))) as C2.
  rewrite E' in C1; pose proof (chains_unique bytes_dec inner root clash s _ _ G clash_sym C1 _ C2) as U.
  apply (play_inj P perm_length); [exact W1|exact W2|]; rewrite !play_snoc; unfold play1; cbn [fst]; rewrite E'; f_equal.
  rewrite <- (rev_involutive (fst (play P bs1))), U, rev_involutive; reflexivity.
Qed.

Lemma wf_whole t : wf t -> Forall (fun b => length (fst b) <= rate) (whole t).
Proof. intros (L & _ & W); apply Forall_app; split; [exact W|]; constructor; [cbn; lia|constructor]. Qed.

Lemma last_input_decides T1 T2 : legal T1 -> legal T2 ->
  (forall x, In x (inputs (permute P (run P T1))) \/ In x (inputs (permute P (run P T2))) -> In (x, P x) (pairs s)) ->
  last_input P T1 = last_input P T2 -> T1 = T2.
Proof.
  intros S1 S2 A E; unfold last_input in E; apply (transcript_injective_padded P T1 T2 perm_length).
  - intros o I; apply in_app_or in I as [I|I]; [apply (S1 o I)|apply (S2 o I)].
  - rewrite !inputs_whole in *; f_equal; f_equal; unfold whole in *; apply ends_decide; auto.
    + apply (wf_whole (tape_run P T1)), wf_tape_run.
    + apply (wf_whole (tape_run P T2)), wf_tape_run.
    + intros x [I|I]; apply A; [left|right]; revert I; apply play_prefix, whole_prefix.
Qed.

(** What Derive outputs first. *)
Lemma squeeze_first n : forall t, wf t -> length (cur t) + n <= rate ->
  fst (squeeze P n (render P t)) = firstn n (skipn (length (cur t)) (snd (play P (closed t)))).
Proof.
  induction n as [|n IH]; intros t W H; [reflexivity|].
  pose proof (squeezing_is P perm_length (S n) t W) as Q; cbn [squeezing result] in Q.
  apply (f_equal fst) in Q; cbn [fst] in Q; rewrite <- Q; rewrite result_bind; cbn [result fst].
  set (b := get (length (cur t)) (outer_of P (closed t))).
  rewrite (squeezing_is P perm_length) by now apply wf_feed1.
  cbn [fst]; assert (Y : length (snd (play P (closed t))) = width) by apply play_width, perm_length.
  assert (D : skipn (length (cur t)) (snd (play P (closed t))) = b :: skipn (S (length (cur t))) (snd (play P (closed t)))).
  { unfold b, outer_of; rewrite get_outer by lia; unfold get.
    assert (Z : length (cur t) < length (snd (play P (closed t)))) by (rewrite Y; unfold width, rate in *; lia).
    revert Z; generalize (length (cur t)), (snd (play P (closed t))); clear.
    intros i y; revert i; induction y as [|a y IHy]; intros [|i] Z; cbn in *; try lia; [reflexivity|]; apply IHy; lia. }
  rewrite D; cbn [firstn]; f_equal; destruct n as [|n]; [reflexivity|].
  assert (F : feed1 t (Byte b) = Tape (closed t) (cur t ++ [b]) (fi t)) by (apply feed1_inside; lia).
  rewrite IH.
  - rewrite F; cbn [closed cur]; rewrite app_length; cbn [length]; now rewrite Nat.add_1_r.
  - now apply wf_feed1.
  - rewrite F; cbn [cur]; rewrite app_length; cbn [length]; lia.
Qed.

Definition point_tape (T : list op) (l : list byte) (m : nat) : tape :=
  feed1 (feed (bytes (leb m)) (tape_header 3 l (tape_run P T))) Close.

Lemma derive_answer T l m n : n <= m -> n <= rate ->
  firstn n (answer P (T ++ [Derive l m])) = firstn n (snd (play P (closed (point_tape T l m)))).
Proof.
  intros M N; pose proof (transcript_is P perm_length (T ++ [Derive l m])) as E.
  assert (F : forall r, result (outer_of P) (transcript (T ++ [Derive l m]) r) =
    result (outer_of P) (stepping (Derive l m) (snd (result (outer_of P) (transcript T r))))).
  { clear; induction T as [|o T IH]; intro r; cbn [app transcript].
    - rewrite result_bind; cbn [transcript result]; reflexivity.
    - rewrite !result_bind; apply IH. }
  rewrite F, (transcript_is P perm_length) in E; cbn [snd] in E.
  apply (f_equal fst) in E; cbn [fst] in E; rewrite <- E; cbn [stepping code label].
  assert (W : wf (point_tape T l m)) by (apply wf_feed1, wf_feed, wf_tape_header, wf_tape_run).
  fold (point_tape T l m); rewrite (squeezing_is P perm_length _ _ W); cbn [fst].
  replace m with (n + (m - n)) at 1 by lia; rewrite <- squeeze_take, squeeze_first; [reflexivity|exact W|].
  cbn [point_tape feed1 cur length]; unfold rate in *; lia.
Qed.

Lemma point_prefix T l m : prefix (closed (point_tape T l m)) (closed (tape_run P (T ++ [Derive l m]))).
Proof.
  rewrite tape_run_snoc; unfold tape_step; cbn [body code label]; rewrite feed_app, feed_cons; apply closed_feed.
Qed.

Lemma point_reach T l m : reach P T (AtDerive l m 0) = render P (point_tape T l m).
Proof.
  rewrite (reach_agrees P perm_length); unfold tape_reach; cbn [body_to point_code point_label squeeze fst].
  now rewrite feed_app, feed_cons.
Qed.

Lemma outputs_decide n T1 l1 m1 T2 l2 m2 : n <= m1 -> n <= m2 -> n <= rate ->
  (forall a b, clash a b = same (firstn n a) (firstn n b)) ->
  legal (T1 ++ [Derive l1 m1]) -> legal (T2 ++ [Derive l2 m2]) ->
  (forall x, In x (inputs (permute P (run P (T1 ++ [Derive l1 m1])))) \/
             In x (inputs (permute P (run P (T2 ++ [Derive l2 m2])))) -> In (x, P x) (pairs s)) ->
  firstn n (answer P (T1 ++ [Derive l1 m1])) = firstn n (answer P (T2 ++ [Derive l2 m2])) ->
  T1 ++ [Derive l1 m1] = T2 ++ [Derive l2 m2].
Proof.
  intros M1 M2 N CL S1 S2 A E; rewrite !derive_answer in E by assumption; rewrite !inputs_whole in A.
  assert (A1 : forall x, In x (fst (play P (closed (point_tape T1 l1 m1)))) -> In (x, P x) (pairs s)).
  { intros x I; apply A; left; revert I; apply play_prefix; eapply prefix_trans; [apply point_prefix|apply whole_prefix]. }
  assert (A2 : forall x, In x (fst (play P (closed (point_tape T2 l2 m2)))) -> In (x, P x) (pairs s)).
  { intros x I; apply A; right; revert I; apply play_prefix; eapply prefix_trans; [apply point_prefix|apply whole_prefix]. }
  clear A; assert (W1 : wf (point_tape T1 l1 m1)) by (apply wf_feed1, wf_feed, wf_tape_header, wf_tape_run).
  assert (W2 : wf (point_tape T2 l2 m2)) by (apply wf_feed1, wf_feed, wf_tape_header, wf_tape_run).
  destruct W1 as (_ & _ & W1), W2 as (_ & _ & W2).
  assert (X : fst (play P (closed (point_tape T1 l1 m1))) = fst (play P (closed (point_tape T2 l2 m2)))).
  { unfold point_tape in *; cbn [feed1 closed] in *.
    match goal with |- context [closed ?u ++ [?b]] => set (u1 := closed u) in *; set (b1 := b) in * end.
    match goal with |- _ = fst (play P (closed ?u ++ [?b])) => set (u2 := closed u) in *; set (b2 := b) in * end.
    clearbody u1 b1 u2 b2; f_equal; f_equal; apply (ends_decide u1 b1 u2 b2 W1 W2).
    - intros x [I|I]; [apply A1|apply A2]; revert I; apply play_prefix; [exists [b1]|exists [b2]]; reflexivity.
    - pose proof W1 as V1; pose proof W2 as V2.
      apply Forall_app in V1 as [V1 L1]; apply Forall_app in V2 as [V2 L2]; inversion L1; inversion L2; subst.
      rewrite !play_snoc in *; unfold play1 in *; cbn [fst snd] in *; rewrite !last_last.
      eapply (ends_apart bytes_dec inner root clash s); [exact G|exact clash_sym| | | | |rewrite CL; unfold same].
      + apply (play_chain u1 V1 b1); [assumption|]; intros x I; apply A1, in_or_app; left; exact I.
      + apply (play_chain u2 V2 b2); [assumption|]; intros x I; apply A2, in_or_app; left; exact I.
      + apply A1, in_or_app; right; left; reflexivity.
      + apply A2, in_or_app; right; left; reflexivity.
      + rewrite E; destruct (bytes_dec _ _); congruence. }
  assert (R : forall u, rate_idx (render P u) = length (cur u) /\ inputs (render P u) = fst (play P (closed u)))
    by (intro u; unfold render; now destruct (play P (closed u))).
  destruct (output_points_injective P T1 T2 (AtDerive l1 m1 0) (AtDerive l2 m2 0) perm_length) as [-> Q].
  - intros o I; apply in_app_or in I as [I|I]; [apply (S1 o)|apply (S2 o)]; apply in_or_app; left; exact I.
  - apply (S1 (Derive l1 m1)), in_or_app; right; left; reflexivity.
  - apply (S2 (Derive l2 m2)), in_or_app; right; left; reflexivity.
  - rewrite point_reach; apply R.
  - rewrite point_reach; apply R.
  - rewrite !point_reach; destruct (R (point_tape T1 l1 m1)) as [_ ->], (R (point_tape T2 l2 m2)) as [_ ->]; exact X.
  - injection Q as -> ->; reflexivity.
Qed.
End History.
End One.

(** ** The theorems *)

Definition no_hit (y : list byte) : bool := false.

Notation plays p hit t := (played bytes_dec bytes_dec states inner root p hit t []).

Lemma played_here p hit t : In p all_permutations -> let s := plays p hit t in
  NoDup (xs_of s) /\ incl (xs_of s) (touched bytes_dec p t) /\
  forall x, In x (touched bytes_dec p t) -> In x states -> In (x, perm p x) (pairs s).
Proof.
  intro I; destruct (played_spec bytes_dec bytes_dec states states_once inner root p I t hit []) as (_ & N & _ & X & Y);
    [intros x y []|constructor|intros x []|auto].
Qed.

(** What is asked for is in the history. *)
Lemma asked_pairs p A T : In p all_permutations -> In T (asks p A) -> legal T -> forall x,
  In x (inputs (permute (perm p) (run (perm p) T))) -> In x (touched bytes_dec p (compile A)) /\ In x states.
Proof.
  intros I J LEGAL x X; destruct (asked_inputs p I A) as [_ ASKED]; split; [exact (ASKED T J x X)|].
  apply in_states; rewrite (inputs_whole p I) in X; revert X.
  apply (proj2 (play_in (perm p) (perm_states p I) (whole (tape_run (perm p) T))
    ltac:(destruct (small_run (perm p) (perm_length p I) (perm_states p I) T LEGAL) as [SC SL];
      apply Forall_app; split; [exact SC|constructor; [exact SL|constructor]]))).
Qed.

(** An event that no good history of [t] has, where [t] is the tree of [A] with aims. *)
Lemma tree_bound A N t hit clash L hits (event : graph -> bool) : (forall b, length (filter (fun a => clash a b) states) <= L) ->
  hits_few states hits hit -> aims states hits t -> (forall p, touched bytes_dec p t = touched bytes_dec p (compile A)) ->
  admissible N A -> N < length states ->
  (forall p, In p all_permutations -> good bytes_dec inner root clash (plays p hit t) = true -> event p = false) ->
  (probability event <= nat_q (N * (N + 1) * 256 ^ (rate + 2) + N * N * L + 2 * N * hits) / nat_q (2 * (length states - N)))%Q.
Proof.
  intros FEW HF AI TO AD LT NONE.
  assert (K : forall c, length (filter (fun b => if bytes_dec (inner b) c then true else false) states) <= 256 ^ (rate + 2)).
  { intro c; rewrite states_are; apply count_inner; unfold rate, width; lia. }
  revert K; generalize (256 ^ (rate + 2)); intros K FK.
  eapply Qle_trans; [|apply (graph_bound bytes_dec bytes_dec states states_once inner root K FK clash L FEW hits hit t N HF AI)].
  - apply average_le; intros p I; unfold wrong, indicator; destruct (good _ _ _ _ _) eqn:G.
    + rewrite (NONE p I G); apply Qle_refl.
    + destruct (event p); discriminate.
  - intros p I; cbn [pairs map] in I; rewrite rest_all in I; destruct (played_here p hit t I) as (ND & IN & _).
    destruct (AD p I) as [CO _]; destruct (asked_inputs p I A) as [SP _]; rewrite TO in IN; cbn [length].
    rewrite Nat.add_0_l; etransitivity; [|exact CO].
    replace (length (plays p hit t)) with (length (xs_of (plays p hit t))) by (unfold xs_of, pairs; now rewrite !map_length).
    apply (NoDup_incl_length ND); intros x J; apply SP; exact (IN x J).
  - exact LT.
Qed.

Lemma game_bound A N clash L (test : (list byte -> list byte) -> list op -> list op -> bool) :
  (forall b, length (filter (fun a => clash a b) states) <= L) -> admissible N A -> N < length states ->
  (forall p s T1 T2, In p all_permutations -> good bytes_dec inner root clash s = true ->
    In T1 (asks p A) -> In T2 (asks p A) ->
    (forall x, In x (inputs (permute (perm p) (run (perm p) T1))) \/ In x (inputs (permute (perm p) (run (perm p) T2))) ->
      In (x, perm p x) (pairs s)) -> test (perm p) T1 T2 = false) ->
  (probability (fun p => some_pair (test (perm p)) (asks p A)) <=
    nat_q (N * (N + 1) * 256 ^ (rate + 2) + N * N * L) / nat_q (2 * (length states - N)))%Q.
Proof.
  intros FEW AD LT NONE; set (event := fun p : graph => some_pair (test (perm p)) (asks p A)).
  pose proof (fun H => tree_bound A N (compile A) no_hit clash L 0 event FEW H) as B; rewrite Nat.mul_0_r, Nat.add_0_r in B.
  apply B; auto; clear B.
  - unfold hits_few; rewrite filter_none; [apply le_n|reflexivity].
  - assert (S : forall Z (q : prog Z) k, (forall a, aims states 0 (k a)) -> aims states 0 (serve q k)).
    { intros Z q k H; induction q as [a|bs f IH]; [apply H|]; cbn [serve]; generalize zeros.
      induction bs as [|b bs IHb]; intro y; cbn [walk aims]; auto. }
    assert (W : forall bs k, (forall y, aims states 0 (k y)) -> forall y, aims states 0 (walk bs y k))
      by (induction bs as [|b bs IH]; intros k H y; cbn [walk aims]; auto).
    clear - S W; induction A as [|x k IH|y k IH|T k IH]; cbn [compile aims]; auto.
  - intros p I G; unfold event; destruct (some_pair (test (perm p)) (asks p A)) eqn:E; [exfalso|reflexivity].
    apply existsb_exists in E as (T1 & I1 & E); apply existsb_exists in E as (T2 & I2 & E).
    rewrite (NONE p _ T1 T2 I G I1 I2) in E; [discriminate|].
    destruct (AD p I) as [_ LEGAL], (played_here p no_hit (compile A) I) as (_ & _ & IN).
    intros x [J|J]; [destruct (asked_pairs p A T1 I I1 (LEGAL T1 I1) x J)|destruct (asked_pairs p A T2 I I2 (LEGAL T2 I2) x J)]; auto.
Qed.

Lemma ratio a k d e : (0 <= a -> 0 < d -> 0 < e -> k * e <= d)%Z -> (0 <= a)%Z -> (0 < d)%Z -> (0 < e)%Z ->
  (inject_Z (a * k) / inject_Z d <= inject_Z a / inject_Z e)%Q.
Proof.
  intros H A D E; specialize (H A D E).
  assert (QD : (0 < inject_Z d)%Q) by (change 0%Q with (inject_Z 0); rewrite <- Zlt_Qlt; exact D).
  assert (QE : (0 < inject_Z e)%Q) by (change 0%Q with (inject_Z 0); rewrite <- Zlt_Qlt; exact E).
  apply Qle_shift_div_l; [exact QE|].
  setoid_replace (inject_Z (a * k) / inject_Z d * inject_Z e)%Q with (inject_Z (a * (k * e)) / inject_Z d)%Q
    by (rewrite !inject_Z_mult; field; intro Z; rewrite Z in QD; now apply Qlt_irrefl in QD).
  apply Qle_shift_div_r; [exact QD|]; rewrite <- inject_Z_mult, <- Zle_Qle; nia.
Qed.

Definition z (n : nat) : Z := Z.of_nat n.

(** In numbers: with 2^1024 states, 2^768 of them for each inner part, and at most 2^e that clash with one. *)
Lemma states_count : z (length states) = (2 ^ 1024)%Z.
Proof.
  unfold z; rewrite states_are, strings_length, Nat2Z.inj_pow; unfold width; change (Z.of_nat 256) with (2 ^ 8)%Z.
  change (Z.of_nat 128) with 128%Z; now rewrite <- Z.pow_mul_r.
Qed.

Lemma inner_count : z (256 ^ (rate + 2)) = (2 ^ 768)%Z.
Proof.
  unfold z; rewrite Nat2Z.inj_pow; unfold rate; change (Z.of_nat 256) with (2 ^ 8)%Z.
  change (Z.of_nat (94 + 2)) with 96%Z; now rewrite <- Z.pow_mul_r.
Qed.

(** [2 ^ e] values of [2 ^ 1024] are one of [2 ^ (1024 - e)], as long as [N] takes little away. *)
Lemma share a N L e : (0 <= a)%Z -> (z N <= 2 ^ 256)%Z -> (z L = 2 ^ e)%Z -> (272 <= e <= 1024)%Z ->
  (inject_Z (a * z L) / nat_q (2 * (length states - N)) <= inject_Z a / inject_Z (2 ^ (1025 - e) - 1))%Q.
Proof.
  intros A NN LE E; unfold nat_q, z in *; pose proof states_count as M; unfold z in M; rewrite LE.
  assert (Be : (2 ^ 272 <= 2 ^ e)%Z) by (apply Z.pow_le_mono_r; lia).
  assert (Bse : (2 ^ e * 2 ^ (1025 - e) = 2 * 2 ^ 1024)%Z).
  { rewrite <- Z.pow_add_r by lia; replace (e + (1025 - e))%Z with (Z.succ 1024) by lia; rewrite Z.pow_succ_r by lia; reflexivity. }
  assert (B1 : (2 ^ 1 <= 2 ^ (1025 - e))%Z) by (apply Z.pow_le_mono_r; lia).
  assert (B4 : (2 ^ 272 <= 2 ^ 1024)%Z) by (apply Z.pow_le_mono_r; lia).
  assert (B5 : (2 * 2 ^ 256 <= 2 ^ 272)%Z) by (rewrite <- Z.pow_succ_r by lia; apply Z.pow_le_mono_r; lia).
  assert (P2 : (0 < 2 ^ 256)%Z) by (apply Z.pow_pos_nonneg; lia).
  rewrite Nat2Z.inj_mul, Nat2Z.inj_sub by (apply Nat2Z.inj_le; rewrite M; lia); rewrite M.
  change (Z.of_nat 2) with 2%Z; change (2 ^ 1)%Z with 2%Z in B1.
  pose proof (Nat2Z.is_nonneg N) as N0.
  revert N0 NN Be Bse B1 B4 B5 P2 A; generalize (Z.of_nat N) as n.
  generalize (2 ^ 256)%Z (2 ^ 272)%Z (2 ^ e)%Z (2 ^ 1024)%Z (2 ^ (1025 - e))%Z.
  clear; intros b2 b c m g n N0 NN Be Bse B1 B4 B5 P2 A; apply ratio; try lia; nia.
Qed.

Lemma first_term N K : (z N <= 2 ^ 256)%Z -> (z K = 2 ^ 768)%Z ->
  (nat_q (N * (N + 1) * K) / nat_q (2 * (length states - N)) <= inject_Z (z N * (z N + 1)) / inject_Z (2 ^ 257 - 1))%Q.
Proof.
  intros NN KE; assert (A : (0 <= z N * (z N + 1))%Z) by (unfold z; lia).
  pose proof (share (z N * (z N + 1)) N K 768 A NN KE ltac:(lia)) as H.
  change (1025 - 768)%Z with 257%Z in H.
  replace (nat_q (N * (N + 1) * K)) with (inject_Z (z N * (z N + 1) * z K)); [exact H|].
  unfold nat_q, z; rewrite !Nat2Z.inj_mul, Nat2Z.inj_add; reflexivity.
Qed.

Lemma in_numbers N K L e : (z N <= 2 ^ 256)%Z -> (z K = 2 ^ 768)%Z -> (z L = 2 ^ e)%Z -> (272 <= e <= 1024)%Z ->
  (nat_q (N * (N + 1) * K + N * N * L) / nat_q (2 * (length states - N)) <=
   inject_Z (z N * (z N + 1)) / inject_Z (2 ^ 257 - 1) + inject_Z (z N * z N) / inject_Z (2 ^ (1025 - e) - 1))%Q.
Proof.
  intros NN KE LE E; rewrite nat_q_plus; unfold Qdiv at 1; rewrite Qmult_plus_distr_l; apply Qplus_le_compat.
  - exact (first_term N K NN KE).
  - replace (nat_q (N * N * L)) with (inject_Z (z N * z N * z L)).
    + apply (share (z N * z N) N L e); [unfold z; lia|exact NN|exact LE|exact E].
    + unfold nat_q, z; rewrite !Nat2Z.inj_mul; reflexivity.
Qed.

Lemma no_clash : forall b, length (filter (fun _ => (fun _ _ : list byte => false) b b) states) <= 0.
Proof. intro b; rewrite filter_none; [apply le_n|reflexivity]. Qed.

Lemma enough_states N : (z N <= 2 ^ 256)%Z -> N < length states.
Proof.
  intro H; apply Nat2Z.inj_lt; rewrite states_are, strings_length, Nat2Z.inj_pow; unfold width, z in *.
  change (Z.of_nat 256) with (2 ^ 8)%Z; change (Z.of_nat 128) with 128%Z; rewrite <- Z.pow_mul_r by lia.
  apply Z.le_lt_trans with (2 ^ 256)%Z; [exact H|]; apply Z.pow_lt_mono_r; lia.
Qed.

(** Two transcripts with one state.  For every adversary with at most [N] calls. *)
Theorem states_collide A N : admissible N A -> (z N <= 2 ^ 256)%Z ->
  (probability (fun p => some_pair (state_collision (perm p)) (asks p A)) <=
    inject_Z (z N * (z N + 1)) / inject_Z (2 ^ 257 - 1))%Q.
Proof.
  intros AD NN; pose proof (enough_states N NN) as LT.
  eapply Qle_trans; [apply (game_bound A N (fun _ _ => false) 0 state_collision); [exact no_clash|exact AD|exact LT|]|].
  - intros p s T1 T2 I G I1 I2 IN; destruct (AD p I) as [_ LEGAL]; unfold state_collision, different, same.
    destruct (list_eq_dec op_eq_dec T1 T2) as [D|D]; [reflexivity|]; cbn [andb].
    destruct (bytes_dec _ _) as [E|E]; [exfalso; apply D|reflexivity].
    exact (last_input_decides p I s (fun _ _ => false) G (fun _ _ => eq_refl) T1 T2 (LEGAL T1 I1) (LEGAL T2 I2) IN E).
  - rewrite Nat.mul_0_r, Nat.add_0_r; exact (first_term N _ NN inner_count).
Qed.

(** Two transcripts that end with Derive and share [n] bytes of what they output. *)
Theorem outputs_collide A N n : admissible N A -> (z N <= 2 ^ 256)%Z -> n <= 94 ->
  (probability (fun p => some_pair (output_collision n (perm p)) (asks p A)) <=
    inject_Z (z N * (z N + 1)) / inject_Z (2 ^ 257 - 1) +
    inject_Z (z N * z N) / inject_Z (2 ^ (8 * z n + 1) - 1))%Q.
Proof.
  intros AD NN N94; pose proof (enough_states N NN) as LT.
  set (clash := fun a b : list byte => same (firstn n a) (firstn n b)).
  assert (SYM : forall a b, clash a b = clash b a).
  { intros a b; unfold clash, same; destruct (bytes_dec _ _), (bytes_dec _ _); congruence. }
  eapply Qle_trans; [apply (game_bound A N clash (256 ^ (width - n)) (output_collision n)); [|exact AD|exact LT|]|].
  - intro b; rewrite states_are; unfold clash, same; apply count_front; unfold width; lia.
  - intros p s T1 T2 I G I1 I2 IN; destruct (AD p I) as [_ LEGAL]; unfold output_collision, different, same.
    destruct (list_eq_dec op_eq_dec T1 T2) as [D|D]; [reflexivity|]; cbn [andb].
    destruct (derives n T1) eqn:D1; [|reflexivity]; destruct (derives n T2) eqn:D2; [|reflexivity]; cbn [andb].
    destruct (bytes_dec _ _) as [E|E]; [exfalso; apply D|reflexivity].
    assert (LAST : forall T, derives n T = true -> exists U l m, T = U ++ [Derive l m] /\ n <= m).
    { intros T H; unfold derives in H; destruct (rev T) as [|[l|l x|l m|l q|l q|l i v|l] r] eqn:R; try discriminate.
      exists (rev r), l, m; split; [|now apply Nat.leb_le]; rewrite <- (rev_involutive T), R; reflexivity. }
    destruct (LAST T1 D1) as (U1 & l1 & m1 & -> & M1), (LAST T2 D2) as (U2 & l2 & m2 & -> & M2).
    apply (outputs_decide p I s clash G SYM n); auto; try reflexivity; unfold rate; lia.
  - replace (8 * z n + 1)%Z with (1025 - 8 * z (width - n))%Z by (unfold z, width; lia).
    apply (in_numbers N (256 ^ (rate + 2)) (256 ^ (width - n))); [exact NN|exact inner_count| |unfold z, width; lia].
    unfold z; rewrite Nat2Z.inj_pow; change (Z.of_nat 256) with (2 ^ 8)%Z; rewrite <- Z.pow_mul_r by lia; reflexivity.
Qed.
