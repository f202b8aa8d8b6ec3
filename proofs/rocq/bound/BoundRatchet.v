(** * BoundRatchet: a state that leaks after Ratchet tells nothing of what was output before

    The games of BoundSecret.v, where some transcripts that end with Ratchet give the whole state: [exposable] says which
    may.  In the ideal world such a state is 32 zeros and 96 bytes of its own, uniform and independent, while outputs come
    from other places ([exposed_apart]).  [ratchet_random]: no adversary tells the two worlds apart by more than
    m (2 q + m) / 2^256.  The zeroed bytes are the secret of such a state, where elsewhere the inner part is. *)

From Coq Require Import Ascii String List Bool NArith Arith Lia QArith Qabs.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret BoundNonces BoundMean.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** ** The games *)

Section Users.
Variable users : nat.
Variable domain : nat -> list byte.
(** Of which transcripts the state may leak. *)
Variable exposable : nat -> list op -> bool.

Definition ratchets (T : list op) : bool := match rev T with Ratchet _ :: _ => true | _ => false end.
Definition leaks (i : nat) (T : list op) : bool := ratchets T && exposable i T.

(** The real world: [Use] of such a transcript gives the state after it. *)
Fixpoint exposes (p : graph) (keys : list (list byte)) (A : player) : bool :=
  match A with
  | Say yes => yes
  | Permute x k => exposes p keys (k (perm p x))
  | Unpermute y k => exposes p keys (k (perm_inverse p y))
  | Use i T k => let T' := keyed (domain i) (nth i keys []) T in
      exposes p keys (k (if leaks i T then Duplex.state (run (perm p) T') else answer (perm p) T'))
  | Open i T l c tag k => exposes p keys (k (fst (unseal (perm p) l c tag (run (perm p) (keyed (domain i) (nth i keys []) T)))))
  | Unmask i T l c k => exposes p keys (k (fst (unmask (perm p) l c (run (perm p) (keyed (domain i) (nth i keys []) T)))))
  end.

(** The tape when Ratchet zeroes bytes, from that after its header. *)
Definition ratcheted (h : tape) : tape := if length (cur h) =? 0 then h else feed1 h Close.

Definition spot (T : list op) (t : tape) : tape := ratcheted (tape_header 7 (label (last T (Init []))) t).

(** The state after Ratchet, as a program: what is there behind the zeros. *)
Definition exposing (i : nat) (T : list op) : prog (list byte * tape) :=
  bind (program domain i (removelast T)) (fun r =>
    Need (closed (spot T (snd r))) (fun o => Ret (repeat 0%N 32 ++ o, spot T (snd r)))).

Fixpoint exposed (A : player) : @tree (list byte) (list byte) block :=
  match A with
  | Say yes => Stop yes
  | Permute x k => Forward x (fun y => exposed (k y))
  | Unpermute y k => Inverse y (fun x => exposed (k x))
  | Use i T k => ask i (if leaks i T then exposing i T else program domain i T) (fun r => exposed (k (fst r)))
  | Open i T l c tag k => ask i (open_program domain i T l c) (fun r => exposed (k (taken c tag (fst r))))
  | Unmask i T l c k => ask i (unmask_program domain i T l c) (fun r => exposed (k (fst r)))
  end.

Definition really_exposed (A : player) : Q :=
  average (fun keys => average (fun p => indicator (exposes p keys A)) all_permutations) (key_lists users).
Definition ideally_exposed (A : player) : Q :=
  average (fun p => ideal bytes_dec block_dec (strings (rate + 2)) p (exposed A) []) all_permutations.

(** No transcript goes on where the state may leak: from there the adversary has the state. *)
Definition ends_before (i : nat) (T : list op) : Prop := forall U W, T = U ++ W -> leaks i U = false.

Fixpoint settled (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute _ k | Unpermute _ k => forall x, settled (k x)
  | Use i T k => (if leaks i T then ends_before i (removelast T) else ends_before i T) /\ forall x, settled (k x)
  | Open i T _ _ _ k => ends_before i T /\ forall x, settled (k x)
  | Unmask i T _ _ k => ends_before i T /\ forall x, settled (k x)
  end.

Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).

(** ** What programs feed *)

(** After its header an operation feeds such tokens. *)
Inductive fed : op -> list token -> Prop :=
  | fed_init l : fed (Init l) []
  | fed_mix l x : fed (Mix l x) (bytes x)
  | fed_derive l n y : fed (Derive l n) (bytes (leb n) ++ Close :: bytes y)
  | fed_mask l x : fed (Mask l x) (Close :: bytes x)
  | fed_seal l x y : fed (Seal l x) (bytes (leb (length x)) ++ Close :: bytes x ++ Close :: bytes y)
  | fed_fork l i x : fed (Fork l i x) (bytes (i :: x))
  | fed_ratchet l w : fed (Ratchet l) w.

Inductive laid : list op -> tape -> Prop :=
  | laid_none : laid [] blank
  | laid_op T t o w : laid T t -> fed o w -> laid (T ++ [o]) (feed w (tape_header (code o) (label o) t)).

Lemma laid_ready T t : laid T t -> ready t.
Proof. induction 1 as [|T t o w L [W _] F]; [apply ready_blank|]; now apply ready_feed, ready_header. Qed.

Lemma fed_inj o o' w : fed o w -> fed o' w -> code o = code o' -> label o = label o' -> o = o'.
Proof.
  intro F; destruct F; intros F' C L; destruct o' as [l'|l' x'|l' n'|l' p'|l' p'|l' i' v'|l']; cbn [code label] in *; try discriminate;
    subst; inversion F'; subst; auto.
  - now match goal with H : bytes _ = bytes _ |- _ => apply bytes_inj in H as -> end.
  - match goal with H : _ ++ _ = _ ++ _ |- _ => apply split_at_close in H as [H _]; now apply leb_inj in H as -> end.
  - now match goal with H : bytes _ = bytes _ |- _ => apply bytes_inj in H as -> end.
  - match goal with H : _ ++ _ = _ ++ _ |- _ => apply split_at_close in H as [_ H]; now apply split_at_close in H as [-> _] end.
  - now match goal with H : bytes _ = bytes _ |- _ => apply bytes_inj in H as -> end.
Qed.

Lemma header_not_blank w c l t : feed w (tape_header c l t) <> blank.
Proof.
  destruct w as [|k w _] using rev_ind; [apply feed1_not_blank|rewrite feed_app; apply feed1_not_blank].
Qed.

Lemma laid_inj T t : laid T t -> forall T', Forall short T -> Forall short T' -> laid T' t -> T = T'.
Proof.
  induction 1 as [|T t o w L IH F]; intros T' S S' L'.
  - inversion L' as [|U u o w L F E E']; [reflexivity|]; exfalso; now apply header_not_blank in E'.
  - inversion L' as [E E'|U u o' w' LU F' E E'].
    + exfalso; symmetry in E'; now apply header_not_blank in E'.
    + subst T'; apply Forall_app in S as [S SO]; apply Forall_app in S' as [S' SO']; inversion SO; inversion SO'; subst.
      apply header_injective in E' as (C & LB & W & T'); eauto using laid_ready, code_small; subst.
      f_equal; [now apply IH|f_equal; now apply (fed_inj o o' w)].
Qed.

Section Outer.
Variable O : list block -> list byte.

Lemma stepping_fed o t : exists w, fed o w /\ snd (result O (stepping o t)) = feed w (tape_header (code o) (label o) t).
Proof.
  unfold stepping; generalize (tape_header (code o) (label o) t); intro h; destruct o as [l|l x|l n|l x|l x|l i x|l].
  - exists []; split; [constructor|reflexivity].
  - exists (bytes x); split; [constructor|reflexivity].
  - destruct (squeezing_feeds O n (feed1 (feed (bytes (leb n)) h) Close)) as [y Y]; exists (bytes (leb n) ++ Close :: bytes y).
    split; [constructor|]; rewrite Y; symmetry; apply feed_close.
  - exists (Close :: bytes x); split; [constructor|]; now rewrite encrypting_feeds.
  - generalize tag_length; intro k; rewrite (result_bind _ (encrypting _ _)), (result_bind _ (squeezing k _)), encrypting_feeds; cbn [result snd].
    match goal with |- context [squeezing k ?u] => destruct (squeezing_feeds O k u) as [y ->] end.
    exists (bytes (leb (length x)) ++ Close :: bytes x ++ Close :: bytes y); split; [constructor|]; now rewrite !feed_close.
  - exists (bytes (i :: x)); split; [constructor|reflexivity].
  - cbn [result snd]; destruct (length (cur h) =? 0); [eexists; split; [constructor|reflexivity]|].
    exists (Close :: bytes (firstn 32 (O (closed (feed1 h Close))))); split; [constructor|reflexivity].
Qed.

Lemma transcript_laid V : forall U x t, laid U t -> laid (U ++ V) (snd (result O (transcript V (x, t)))).
Proof.
  induction V as [|o V IH]; intros U x t L; [now rewrite app_nil_r|]; cbn [transcript snd]; rewrite result_bind.
  destruct (stepping_fed o t) as (w & F & E); change (U ++ o :: V) with (U ++ [o] ++ V); rewrite app_assoc.
  destruct (result O (stepping o t)) as [y u]; cbn [snd] in E; subst u; apply IH; now constructor.
Qed.

Lemma program_laid i V : laid (keyed (domain i) no_key V) (snd (result O (program domain i V))).
Proof. unfold program; apply (transcript_laid _ [] [] blank); constructor. Qed.

Lemma squeezing_at n : forall t bs, In bs (needs O (squeezing n t)) -> exists y, bs = closed (feed (bytes y) t).
Proof.
  induction n as [|n IH]; intros t bs I; [destruct I|]; cbn [squeezing needs] in I; rewrite needs_bind in I.
  destruct I as [<-|I]; [now exists []|]; apply in_app_or in I as [I|[]]; apply IH in I as [y ->].
  match goal with |- context [feed1 t (Byte ?b)] => now exists (b :: y) end.
Qed.

Lemma encrypting_at x : forall t bs, In bs (needs O (encrypting x t)) -> exists y, bs = closed (feed (bytes y) t).
Proof.
  induction x as [|b x IH]; intros t bs I; [destruct I|]; cbn [encrypting needs] in I; rewrite needs_bind in I.
  destruct I as [<-|I]; [now exists []|]; apply in_app_or in I as [I|[]]; apply IH in I as [y ->]; now exists (b :: y).
Qed.

Lemma decrypting_at x : forall t bs, In bs (needs O (decrypting x t)) -> exists y, bs = closed (feed (bytes y) t).
Proof.
  induction x as [|b x IH]; intros t bs I; [destruct I|]; cbn [decrypting needs] in I; rewrite needs_bind in I.
  destruct I as [<-|I]; [now exists []|]; apply in_app_or in I as [I|[]]; apply IH in I as [y ->].
  match goal with |- context [feed1 t (Byte ?b)] => now exists (b :: y) end.
Qed.

Lemma needs_at V : forall x t bs, In bs (needs O (transcript V (x, t))) ->
  exists U o W, V = U ++ o :: W /\ In bs (needs O (stepping o (snd (result O (transcript U (x, t)))))).
Proof.
  induction V as [|o V IH]; intros x t bs I; [destruct I|]; cbn [transcript snd] in I; rewrite needs_bind in I.
  apply in_app_or in I as [I|I]; [exists [], o, V; auto|]; destruct (result O (stepping o t)) as [y u] eqn:E.
  destruct (IH y u bs I) as (U & o' & W & -> & J); exists (o :: U), o', W; cbn [app transcript snd]; rewrite result_bind, E; auto.
Qed.
End Outer.

Lemma ratcheted_is h : wf h -> cur (ratcheted h) = [] /\ wf (ratcheted h) /\ exists w, ratcheted h = feed w h.
Proof.
  intro W; unfold ratcheted; destruct (Nat.eqb_spec (length (cur h)) 0) as [E|E].
  - split; [now destruct (cur h)|split; [exact W|now exists []]].
  - split; [reflexivity|split; [now apply wf_feed1|now exists [Close]]].
Qed.

Lemma start_is r s : wf r -> wf s -> cur r = [] -> cur s = [] -> closed r = closed s -> r = s.
Proof.
  intros (_ & F & _) (_ & G & _) C D E; destruct r as [a b c], s as [a' b' c']; cbn [closed cur fi] in *; subst; cbn in *; f_equal; lia.
Qed.

(** Only Ratchet asks for the blocks before its zeros. *)
Lemma started_elsewhere l u c m t pre y : ready u -> ready t -> length l <= label_max -> length m <= label_max -> (c < 128)%N -> c <> 7%N ->
  closed (ratcheted (tape_header 7 l u)) = closed (feed (bytes y) (feed1 (feed pre (tape_header c m t)) Close)) -> False.
Proof.
  intros RU RT L M C N E; pose proof (wf_tape_header 7 l u (proj1 RU)) as WU; pose proof (wf_tape_header c m t (proj1 RT)) as WT.
  destruct (ratcheted_is _ WU) as (Z & W & w & R).
  assert (W1 : wf (feed1 (feed pre (tape_header c m t)) Close)) by now apply wf_feed1, wf_feed.
  destruct (block_start y (feed1 (feed pre (tape_header c m t)) Close)) as (y1 & z1 & _ & Z1 & C1); [reflexivity|]; rewrite <- C1 in E.
  apply start_is in E; auto; [|now apply wf_feed]; rewrite R in E.
  change (feed1 (feed pre ?h) Close) with (feed [Close] (feed pre h)) in E; rewrite <- !feed_app in E.
  apply header_injective in E as (X & _); auto; try reflexivity; congruence.
Qed.

Lemma stepping_elsewhere O l u o t bs : ready u -> ready t -> length l <= label_max -> length (label o) <= label_max ->
  In bs (needs O (stepping o t)) -> bs = closed (ratcheted (tape_header 7 l u)) -> o = Ratchet l /\ u = t.
Proof.
  intros RU RT L M I E; symmetry in E; unfold stepping in I; destruct o as [d|d x|d n|d x|d x|d j x|d]; cbn [code label needs] in *; try contradiction.
  - apply squeezing_at in I as [y ->]; exfalso; revert E; now apply started_elsewhere.
  - apply encrypting_at in I as [y ->]; exfalso; revert E; apply (started_elsewhere l u 4 d t []); auto; easy.
  - exfalso; revert I; generalize tag_length; intros k I; rewrite (needs_bind _ (encrypting _ _)), (needs_bind _ (squeezing k _)), encrypting_feeds in I.
    cbn [needs snd] in I; rewrite app_nil_r in I; apply in_app_or in I as [I|I].
    + apply encrypting_at in I as [y ->]; revert E; now apply started_elsewhere.
    + apply squeezing_at in I as [y ->].
      change (feed1 (feed (bytes (leb (length x))) ?h) Close) with (feed [Close] (feed (bytes (leb (length x))) h)) in E; rewrite <- !feed_app in E.
      revert E; now apply started_elsewhere.
  - pose proof (wf_tape_header 7 l u (proj1 RU)) as WU; pose proof (wf_tape_header 7 d t (proj1 RT)) as WT.
    destruct I as [<-|[]]; fold (ratcheted (tape_header 7 d t)) in E; destruct (ratcheted_is _ WU) as (Z & W & w & R), (ratcheted_is _ WT) as (Z' & W' & w' & R').
    apply start_is in E; auto; rewrite R, R' in E; apply header_injective in E as (_ & -> & _ & ->); auto; reflexivity.
Qed.

Lemma opening_elsewhere O l u m c t bs : ready u -> ready t -> length l <= label_max -> length m <= label_max ->
  In bs (needs O (opening m c t)) -> bs <> closed (ratcheted (tape_header 7 l u)).
Proof.
  intros RU RT L M I E; symmetry in E; unfold opening in I; revert I; generalize tag_length; intros k I.
  rewrite (needs_bind _ (decrypting _ _)), (needs_bind _ (squeezing k _)) in I; cbn [needs] in I; rewrite app_nil_r in I.
  apply in_app_or in I as [I|I].
  - apply decrypting_at in I as [y ->]; revert E; now apply started_elsewhere.
  - destruct (decrypting_feeds O c (feed1 (feed (bytes (leb (length c))) (tape_header 5 m t)) Close)) as (F & _ & _).
    apply squeezing_at in I as [y ->]; rewrite F in E.
    change (feed1 (feed (bytes (leb (length c))) ?h) Close) with (feed [Close] (feed (bytes (leb (length c))) h)) in E; rewrite <- !feed_app in E.
    revert E; now apply started_elsewhere.
Qed.

Lemma unmasking_elsewhere O l u m c t bs : ready u -> ready t -> length l <= label_max -> length m <= label_max ->
  In bs (needs O (unmasking m c t)) -> bs <> closed (ratcheted (tape_header 7 l u)).
Proof.
  intros RU RT L M I E; symmetry in E; unfold unmasking in I; apply decrypting_at in I as [y ->]; revert E.
  now apply (started_elsewhere l u 4 m t []).
Qed.

Lemma ratchets_is T : ratchets T = true -> exists l, T = removelast T ++ [Ratchet l] /\ label (last T (Init [])) = l.
Proof.
  unfold ratchets; intro H; destruct T as [|o T _] using rev_ind; [discriminate|]; rewrite rev_app_distr in H; cbn [rev app] in H.
  destruct o; try discriminate; rewrite removelast_last, last_last; now exists l.
Qed.

Lemma short_keyed i T : i < users -> legal T -> Forall short (keyed (domain i) no_key T).
Proof.
  intros U L; destruct (domains i U) as [D _]; constructor; [unfold short, label_max; cbn [label]; lia|].
  constructor; [unfold short; vm_compute; lia|]; apply Forall_forall; intros o J; now destruct (L o J).
Qed.

Lemma legal_before T : legal T -> legal (removelast T).
Proof.
  intros L o I; apply L; destruct T as [|a T _] using rev_ind; [exact I|]; rewrite removelast_last in I; apply in_or_app; now left.
Qed.

(** Where a state may leak no other transcript looks. *)
Theorem exposed_apart O i T t T' bs : i < users -> legal T -> legal T' -> leaks i T = true ->
  laid (keyed (domain i) no_key (removelast T)) t -> ends_before i T' ->
  In bs (needs O (program domain i T')) -> bs <> closed (spot T t).
Proof.
  intros U L L' LK LT EB I E; pose proof LK as LK'; unfold leaks in LK; apply andb_true_iff in LK as [R _].
  destruct (ratchets_is T R) as (l & TE & LE); unfold spot in E; rewrite LE in E.
  unfold program in I; apply needs_at in I as (V & o & W & VE & I).
  pose proof (transcript_laid O V [] [] blank laid_none) as LV; cbn [app] in LV.
  pose proof (short_keyed i T' U L') as SH; rewrite VE in SH; apply Forall_app in SH as [SV SO]; pose proof (Forall_inv SO) as SO'.
  assert (LL : length l <= label_max).
  { destruct (L (Ratchet l)) as [X _]; [rewrite TE; apply in_or_app; right; now left|exact X]. }
  destruct (stepping_elsewhere O l t o _ bs (laid_ready _ _ LT) (laid_ready _ _ LV) LL SO' I E) as [OE TT].
  rewrite <- TT in LV; apply (laid_inj _ _ LT) in LV; [|apply short_keyed; auto using legal_before|exact SV].
  rewrite <- LV in VE; unfold keyed in VE; cbn [app] in VE; injection VE as VE.
  rewrite (EB T W) in LK'; [discriminate|]; rewrite TE, <- app_assoc, <- OE; exact VE.
Qed.

Lemma after_apart (f : tape -> prog (list byte * tape)) O i T t T' bs :
  (forall l u t, ready u -> ready t -> length l <= label_max -> In bs (needs O (f t)) -> bs <> closed (ratcheted (tape_header 7 l u))) ->
  i < users -> legal T -> legal T' -> leaks i T = true -> laid (keyed (domain i) no_key (removelast T)) t -> ends_before i T' ->
  In bs (needs O (bind (program domain i T') (fun r => f (snd r)))) -> bs <> closed (spot T t).
Proof.
  intros H U L L' LK LT EB I; rewrite needs_bind in I; apply in_app_or in I as [I|I]; [now apply (exposed_apart O i T t T')|].
  unfold leaks in LK; apply andb_true_iff in LK as [R _]; destruct (ratchets_is T R) as (l & TE & LE); unfold spot; rewrite LE.
  apply (H l t) in I; eauto using laid_ready, program_laid.
  destruct (L (Ratchet l)) as [X _]; [rewrite TE; apply in_or_app; right; now left|exact X].
Qed.

(** ** The real game is that of the tree *)

Definition spot_dec : forall x y : nat * list block, {x = y} + {x <> y}.
Proof. intros [i a] [j b]; destruct (Nat.eq_dec i j), (list_eq_dec block_dec a b); [left; congruence|right; congruence..]. Defined.

(** Where states leak, for one permutation and one list of keys. *)
Fixpoint spots (p : graph) (keys : list (list byte)) (A : player) : list (nat * list block) :=
  match A with
  | Say _ => []
  | Permute x k => spots p keys (k (perm p x))
  | Unpermute y k => spots p keys (k (perm_inverse p y))
  | Use i T k => let T' := keyed (domain i) (nth i keys []) T in
      if leaks i T
      then (i, closed (spot T (snd (result (has_after domain p keys i) (program domain i (removelast T)))))) ::
        spots p keys (k (Duplex.state (run (perm p) T')))
      else spots p keys (k (answer (perm p) T'))
  | Open i T l c tag k => spots p keys (k (fst (unseal (perm p) l c tag (run (perm p) (keyed (domain i) (nth i keys []) T)))))
  | Unmask i T l c k => spots p keys (k (fst (unmask (perm p) l c (run (perm p) (keyed (domain i) (nth i keys []) T)))))
  end.

Definition leaky (A : player) (i : nat) (bs : list block) : bool :=
  existsb (fun p => existsb (fun keys => if in_dec spot_dec (i, bs) (spots p keys A) then true else false) (key_lists users)) all_permutations.

Lemma leaky_in A p keys i bs : In p all_permutations -> In keys (key_lists users) -> In (i, bs) (spots p keys A) -> leaky A i bs = true.
Proof.
  intros P K I; apply existsb_exists; exists p; split; [exact P|]; apply existsb_exists; exists keys; split; [exact K|].
  destruct (in_dec _ _ _); [reflexivity|contradiction].
Qed.

(** What a leak is of. *)
Definition leak_at (i : nat) (bs : list block) : Prop := i < users /\ exists T t, legal T /\ leaks i T = true /\
  laid (keyed (domain i) no_key (removelast T)) t /\ bs = closed (spot T t).

Lemma spots_are p keys A : forall q m, spending users domain q m A -> forall i bs, In (i, bs) (spots p keys A) -> leak_at i bs.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m F j bs J; cbn [spending spots] in *.
  - destruct J.
  - destruct F as [_ F], q as [|q]; [destruct F|]; exact (IH _ q m (F _) j bs J).
  - destruct F as [_ F], q as [|q]; [destruct F|]; exact (IH _ q m (F _) j bs J).
  - destruct F as (U & L & c & n & _ & _ & F); destruct (leaks i T) eqn:E; [|exact (IH _ q n (F _) j bs J)].
    destruct J as [J|J]; [|exact (IH _ q n (F _) j bs J)]; injection J as <- <-; split; [exact U|].
    exists T, (snd (result (has_after domain p keys i) (program domain i (removelast T)))); split; [exact L|split; [exact E|split; [apply program_laid|reflexivity]]].
  - destruct F as (U & L & _ & a & n & _ & _ & F); exact (IH _ q n (F _) j bs J).
  - destruct F as (U & L & _ & a & n & _ & _ & F); exact (IH _ q n (F _) j bs J).
Qed.

Section Same.
Variable leaky_at : nat -> list block -> bool.

(** What a node shows: the outer part, or what is behind the first 32 bytes. *)
Definition shows (n : @place block) (y : list byte) : list byte :=
  let '(i, b, bs) := n in if leaky_at i (rev (b :: bs)) then skipn 32 y else outer y.
Definition makes (n : @place block) (o c : list byte) : list byte :=
  let '(i, b, bs) := n in if leaky_at i (rev (b :: bs)) then c ++ o else o ++ c.

Local Notation leads p w := (node bytes_dec [] (place_of domain) after p w).
Local Notation tree_says p w t := (real bytes_dec [] shows (place_of domain) after p w t).

Definition shown (p : graph) (w : list (list byte)) (i : nat) (above : list block) : list byte :=
  match above with [] => [] | b :: bs => shows (i, b, bs) (leads p w i above) end.

Lemma shown_walk p w i bs : forall above o k, tree_says p w (walk i above bs o k) =
  tree_says p w (k (match bs with [] => o | _ => shown p w i (rev bs ++ above) end)).
Proof.
  induction bs as [|b bs IH]; intros above o k; [reflexivity|]; cbn [walk real]; rewrite IH.
  destruct bs as [|c bs]; [reflexivity|]; cbn [rev]; now rewrite <- !app_assoc.
Qed.

Lemma shown_ask {A} p w i (q : prog A) k : tree_says p w (ask i q k) = tree_says p w (k (result (fun bs => shown p w i (rev bs)) q)).
Proof.
  induction q as [a|bs f IH]; [reflexivity|]; cbn [ask result]; rewrite shown_walk, IH.
  destruct bs as [|b bs]; [reflexivity|now rewrite app_nil_r].
Qed.

Lemma shown_not p w i bs : leaky_at i bs = false -> shown p w i (rev bs) = has_after domain p w i bs.
Proof.
  intro L; unfold has_after; destruct bs as [|b bs]; [reflexivity|]; unfold shown.
  destruct (rev (b :: bs)) as [|c cs] eqn:E; [apply (f_equal (@length _)) in E; rewrite rev_length in E; discriminate|].
  unfold shows; rewrite <- E, rev_involutive, L; reflexivity.
Qed.

Lemma shown_leaky p w i bs : bs <> [] -> leaky_at i bs = true -> shown p w i (rev bs) = skipn 32 (leads p w i (rev bs)).
Proof.
  intros N L; unfold shown; destruct (rev bs) as [|c cs] eqn:E; [apply (f_equal (@rev _)) in E; rewrite rev_involutive in E; now elim N|].
  unfold shows; rewrite <- E, rev_involutive, L; reflexivity.
Qed.

(** The state after Ratchet. *)
Lemma state_is p keys i T : In p all_permutations -> In keys (key_lists users) -> i < users -> ratchets T = true ->
  let u := spot T (snd (result (has_after domain p keys i) (program domain i (removelast T)))) in
  closed u <> [] /\ Duplex.state (run (perm p) (keyed (domain i) (nth i keys []) T)) = repeat 0%N 32 ++ skipn 32 (leads p keys i (rev (closed u))).
Proof.
  intros IP IK U R u; destruct (ratchets_is T R) as (l & TE & LE).
  set (P := perm p); pose proof (perm_length p IP : keeps_length P) as HP; set (key := nth i keys []).
  destruct (run_is users domain domains p keys i IK U (removelast T)) as [RU HK].
  pose proof (transcript_is P HP (keyed (domain i) key (removelast T))) as E; fold P key in RU; rewrite RU in E; injection E as _ E; clear RU.
  set (t := snd (result (has_after domain p keys i) (program domain i (removelast T)))) in *.
  assert (UE : u = ratcheted (tape_header 7 l t)) by (unfold u, spot; now rewrite LE); clearbody u.
  set (m := mask domain i key) in *; pose proof (key_length users keys i IK U) as KL; fold key in KL.
  assert (M : 0 < length m) by (unfold m, mask; rewrite app_length, KL; lia).
  destruct (shift_header m M 7 l t HK) as [SH HH].
  assert (W : wf (tape_header 7 l t)) by (apply wf_tape_header; destruct (laid_ready _ _ (program_laid (has_after domain p keys i) i (removelast T))) as [X _]; exact X).
  assert (SR : shift m u = ratcheted (shift m (tape_header 7 l t)) /\ holds_key m u).
  { rewrite UE; unfold ratcheted; rewrite shift_cur_length; destruct (_ =? 0); [auto|]; exact (shift_feed1 m M _ Close HH). }
  destruct SR as [SR HU]; destruct (ratcheted_is _ W) as (Z & _); rewrite <- UE in Z.
  assert (N : closed u <> []) by (intro C; unfold holds_key in HU; rewrite C, Z in HU; cbn in HU; lia).
  split; [exact N|].
  assert (RUN : run P (keyed (domain i) key T) = snd (step P (Ratchet l) (run P (keyed (domain i) key (removelast T))))).
  { rewrite TE at 1; change (keyed (domain i) key (removelast T ++ [Ratchet l])) with (keyed (domain i) key (removelast T) ++ [Ratchet l]).
    unfold run; now rewrite fold_left_app. }
  rewrite RUN, (run_agrees P HP), <- E; unfold step; cbn [act snd code label].
  assert (WS : wf (shift m t)) by (rewrite E; apply wf_tape_run).
  rewrite <- (render_header P HP) by exact WS; rewrite <- SH.
  assert (WH : wf (shift m (tape_header 7 l t))) by (rewrite SH; now apply wf_tape_header).
  set (h := shift m (tape_header 7 l t)) in *; unfold ratchet.
  assert (RI : rate_idx (render P h) = length (cur h)) by (unfold render; now destruct (play P (closed h))).
  assert (D : (if rate_idx (render P h) =? 0 then render P h else permute P (render P h)) = render P (ratcheted h)).
  { rewrite RI; unfold ratcheted; destruct (_ =? 0); [reflexivity|]; destruct (render_close P HP [] h WH) as (_ & -> & _); reflexivity. }
  rewrite D; cbn [Duplex.state]; f_equal; f_equal; rewrite <- SR.
  assert (ZS : cur (shift m u) = []) by (rewrite shift_cur by exact N; exact Z).
  unfold render; destruct (play P (closed (shift m u))) as [ins y] eqn:PL; cbn [Duplex.state]; rewrite ZS, xors_nil.
  assert (Y : y = snd (play P (closed (shift m u)))) by now rewrite PL.
  rewrite Y; clear Y PL; unfold play, shift; rewrite play_fold; unfold holds_key in HU; revert N HU.
  destruct (closed u) as [|[x f] bs]; [congruence|]; intros _ HU; rewrite leads_fold; cbn [closed snd fold_left].
  assert (X : after (repeat 0%N width) (xors x m, f) = after (place_of domain i key) (x, f)).
  { unfold after, place_of; rewrite pad_xors by exact HU; apply xors_xors; unfold pad; rewrite !xor_at_length, app_length; unfold m in HU; lia. }
  now rewrite X.
Qed.
End Same.

Lemma exposes_is A0 p keys A : In p all_permutations -> In keys (key_lists users) ->
  (forall i bs, leaky A0 i bs = true -> leak_at i bs) -> incl (spots p keys A) (spots p keys A0) ->
  forall q m, spending users domain q m A -> settled A ->
  exposes p keys A = real bytes_dec [] (shows (leaky A0)) (place_of domain) after p keys (exposed A).
Proof.
  intros IP IK LK; induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros SP q m F SE;
    cbn [exposes exposed real spending settled spots] in *.
  - reflexivity.
  - destruct F as [_ F], q as [|q]; [destruct F|]; exact (IH _ SP q m (F _) (SE _)).
  - destruct F as [_ F], q as [|q]; [destruct F|]; exact (IH _ SP q m (F _) (SE _)).
  - destruct F as (U & L & a & n & _ & _ & F), SE as [EB SE]; rewrite shown_ask.
    assert (SAME : forall T', legal T' -> ends_before i T' -> result (fun bs => shown (leaky A0) p keys i (rev bs)) (program domain i T') =
      result (has_after domain p keys i) (program domain i T')).
    { intros T' L' E'; apply result_same; intros bs I; apply shown_not; destruct (leaky A0 i bs) eqn:Y; [exfalso|reflexivity].
      apply LK in Y as (_ & T0 & t0 & L0 & K0 & LD & ->); exact (exposed_apart _ i T0 t0 T' _ U L0 L' K0 LD E' I eq_refl). }
    destruct (leaks i T) eqn:E.
    + assert (R : ratchets T = true) by (unfold leaks in E; now apply andb_true_iff in E).
      unfold exposing; rewrite result_bind, SAME by auto using legal_before; cbn [result fst].
      set (u := spot T _) in *; destruct (state_is p keys i T IP IK U R) as [N S]; fold u in N, S; rewrite S.
      rewrite shown_leaky; [|exact N|apply (leaky_in A0 p keys); auto; apply SP; now left].
      rewrite <- S; apply (IH _ (fun z Z => SP z (or_intror Z)) q n (F _) (SE _)).
    + rewrite (SAME T L EB), <- (answers_are users domain domains p keys i IP IK U T); exact (IH _ SP q n (F _) (SE _)).
  - destruct F as (U & L & (LL & _ & _) & a & n & _ & _ & F), SE as [EB SE]; rewrite shown_ask.
    rewrite (result_same _ (has_after domain p keys i)).
    + rewrite <- (openings_are users domain domains p keys i IP IK U T l c tag); exact (IH _ SP q n (F _) (SE _)).
    + intros bs I; apply shown_not; destruct (leaky A0 i bs) eqn:Y; [exfalso|reflexivity].
      apply LK in Y as (_ & T0 & t0 & L0 & K0 & LD & ->);
      exact (after_apart (opening l c) _ i T0 t0 T _ (fun l0 u t RU RT S => opening_elsewhere _ l0 u l c t _ RU RT S LL) U L0 L K0 LD EB I eq_refl).
  - destruct F as (U & L & (LL & _ & _) & a & n & _ & _ & F), SE as [EB SE]; rewrite shown_ask.
    rewrite (result_same _ (has_after domain p keys i)).
    + rewrite <- (unmaskings_are users domain domains p keys i IP IK U T l c); exact (IH _ SP q n (F _) (SE _)).
    + intros bs I; apply shown_not; destruct (leaky A0 i bs) eqn:Y; [exfalso|reflexivity].
      apply LK in Y as (_ & T0 & t0 & L0 & K0 & LD & ->);
      exact (after_apart (unmasking l c) _ i T0 t0 T _ (fun l0 u t RU RT S => unmasking_elsewhere _ l0 u l c t _ RU RT S LL) U L0 L K0 LD EB I eq_refl).
Qed.

(** ** What the game visits *)

Lemma closed_ratcheted h : prefix (closed h) (closed (ratcheted h)).
Proof. unfold ratcheted; destruct (_ =? 0); [apply prefix_refl|apply closed_feed1]. Qed.

Lemma ratchet_tape O i T : ratchets T = true -> exists x, length x <= 32 /\
  snd (result O (program domain i T)) = feed (bytes x) (spot T (snd (result O (program domain i (removelast T))))).
Proof.
  intro R; destruct (ratchets_is T R) as (l & TE & LE); unfold spot; rewrite LE.
  assert (J : forall V r o, snd (result O (transcript (V ++ [o]) r)) = snd (result O (stepping o (snd (result O (transcript V r)))))).
  { clear; induction V as [|a V IH]; intros r o; cbn [app transcript]; rewrite !result_bind; [reflexivity|apply IH]. }
  pose proof (f_equal (program domain i) TE) as PE; rewrite PE; clear PE.
  change (program domain i (removelast T ++ [Ratchet l])) with (transcript (keyed (domain i) no_key (removelast T) ++ [Ratchet l]) ([], blank)).
  rewrite J; fold (program domain i (removelast T)); cbn [stepping code label result snd]; unfold ratcheted.
  eexists; split; [|reflexivity]; rewrite firstn_length; lia.
Qed.

Lemma ratchet_costs i T c : ratchets T = true ->
  (forall O : list block -> list byte, let u := spot T (snd (result O (program domain i (removelast T)))) in cur u = [] /\ length (closed u) <= c) ->
  costs (program domain i T) c.
Proof.
  intros R H O _; destruct (ratchet_tape O i T R) as (x & L & ->); destruct (H O) as [C D].
  rewrite feed_bytes_within by (rewrite C; cbn [length]; unfold rate; lia); exact D.
Qed.

Lemma exposed_fits A : forall q m v, spending users domain q m A -> small_table v -> fits_game users (exposed A) q m v.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m v F SV; cbn [exposed spending] in *.
  - exact I.
  - destruct F as [X F], q as [|q]; [destruct F|]; split; [now apply in_states|]; intro; apply IH; auto.
  - destruct F as [X F], q as [|q]; [destruct F|]; split; [now apply in_states|]; intro; apply IH; auto.
  - destruct F as (U & L & c & n & M & C & F).
    apply (fits_more _ _ _ _ _ _ q (c - length (@nil (@place block)) + n)); [cbn [length]; lia|].
    apply (fits_ask users i U c n q _ (fun r => closed (snd r))); [|constructor|intros x []|exact SV|intros a v' SV'; apply IH; auto].
    intros O (_ & S & _); destruct (leaks i T) eqn:E.
    + assert (R : ratchets T = true) by (unfold leaks in E; now apply andb_true_iff in E).
      destruct (ratchets_is T R) as (l & TE & LE); unfold exposing; rewrite result_bind, needs_bind; cbn [needs result snd].
      set (t := snd (result O (program domain i (removelast T)))).
      assert (LB : legal (keyed (domain i) no_key (removelast T))) by (apply (legal_keyed users domain domains); auto using legal_before).
      assert (G : good_tape t) by (apply (good_transcript O S); [exact LB|apply good_blank]).
      assert (SL : small l) by (destruct (L (Ratchet l)) as (_ & X & _); [rewrite TE; apply in_or_app; right; now left|exact X]).
      assert (GS : good_tape (spot T t)).
      { unfold spot; rewrite LE; destruct G as [W SM].
        assert (GH : good_tape (tape_header 7 l t)) by (split; [now apply wf_tape_header|now apply small_header]).
        unfold ratcheted; destruct (_ =? 0); [exact GH|now apply good_close]. }
      assert (PT : prefix (closed t) (closed (spot T t))) by (eapply prefix_trans; [apply closed_header|apply closed_ratcheted]).
      split; [|split; [now apply good_blocks|split; [|intros x []]]].
      * intros bs I; apply in_app_or in I as [I|[<-|[]]]; [|apply prefix_refl]; eapply prefix_trans; [|exact PT].
        destruct (within_transcript O (keyed (domain i) no_key (removelast T)) ([], blank)) as [_ W]; now apply W.
      * eapply Nat.le_trans; [|exact (C O S)].
        destruct (ratchet_tape O i T R) as (x & _ & ->); fold t.
        destruct (closed_feed (bytes x) (spot T t)) as [w ->]; rewrite app_length; lia.
    + destruct (within_transcript O (keyed (domain i) no_key T) ([], blank)) as [_ W].
      split; [intros bs I; now apply W|split; [|split; [exact (C O S)|intros x []]]].
      apply good_blocks, (good_transcript O S); [now apply (legal_keyed users domain domains)|apply good_blank].
  - destruct F as (U & L & (_ & SL & SC) & a & n & M & C & F).
    apply (fits_more _ _ _ _ _ _ q (a - length (@nil (@place block)) + n)); [cbn [length]; lia|].
    apply (fits_ask users i U a n q _ (fun r => closed (snd r))); [|constructor|intros x []|exact SV|intros x v' SV'; apply IH; auto].
    intros O (_ & S & _).
    assert (W : within_tapes O blank (open_program domain i T l c)).
    { apply within_bind; [apply (within_transcript O (keyed (domain i) no_key T) ([], blank))|]; intro r; apply within_opening. }
    split; [intros bs I; now apply W|split; [|split; [exact (C O S)|intros x []]]].
    apply good_blocks; unfold open_program; rewrite result_bind; apply good_opening; auto.
    apply (good_transcript O S); [now apply (legal_keyed users domain domains)|apply good_blank].
  - destruct F as (U & L & (_ & SL & SC) & a & n & M & C & F).
    apply (fits_more _ _ _ _ _ _ q (a - length (@nil (@place block)) + n)); [cbn [length]; lia|].
    apply (fits_ask users i U a n q _ (fun r => closed (snd r))); [|constructor|intros x []|exact SV|intros x v' SV'; apply IH; auto].
    intros O (_ & S & _).
    assert (W : within_tapes O blank (unmask_program domain i T l c)).
    { apply within_bind; [apply (within_transcript O (keyed (domain i) no_key T) ([], blank))|]; intro r; apply within_unmasking. }
    split; [intros bs I; now apply W|split; [|split; [exact (C O S)|intros x []]]].
    apply good_blocks; unfold unmask_program; rewrite result_bind; apply good_unmasking; auto.
    apply (good_transcript O S); [now apply (legal_keyed users domain domains)|apply good_blank].
Qed.

(** ** The theorem *)

Theorem ratchet_random A q m : spending users domain q m A -> settled A ->
  (Qabs (really_exposed A - ideally_exposed A) <= inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros F SE; assert (SPLIT : states = strings (rate + 2 + 32)) by exact states_are.
  assert (SPLIT' : states = strings (32 + (rate + 2))) by exact states_are.
  assert (LK : forall i bs, leaky A i bs = true -> leak_at i bs).
  { intros i bs L; apply existsb_exists in L as (p & _ & L); apply existsb_exists in L as (keys & _ & L).
    destruct (in_dec _ _ _) as [I|]; [|discriminate]; exact (spots_are p keys A q m F i bs I). }
  assert (E : (really_exposed A == real_probability bytes_dec states (strings 32) [] (shows (leaky A)) (place_of domain) after users (exposed A))%Q).
  { apply average_ext; intros keys K; apply average_ext; intros p P; now rewrite (exposes_is A p keys A P K LK (incl_refl _) q m F SE). }
  rewrite E; apply (games_near users domain domains (makes (leaky A)) (shows (leaky A)) (exposed A)).
  - intros [[i b] bs] o c I J; apply in_strings in I as [L _], J as [LC _]; unfold shows, makes; destruct (leaky _ _ _).
    + rewrite <- LC, skipn_app, Nat.sub_diag, skipn_all; reflexivity.
    + unfold outer; rewrite <- L, firstn_app, Nat.sub_diag, firstn_all; apply app_nil_r.
  - intros [[i b] bs] f; unfold makes; destruct (leaky _ _ _).
    + rewrite average_swap, SPLIT'; apply average_strings.
    + rewrite SPLIT; apply average_strings.
  - intros [[i b] bs] o c I J; unfold makes; destruct (leaky _ _ _); [rewrite SPLIT'|rewrite SPLIT]; now apply app_strings.
  - intros [[i b] bs] o c c' I J J'; unfold makes; destruct (leaky _ _ _); intro X; [|now apply app_inv_head in X].
    now apply app_inv_tail in X.
  - apply exposed_fits; [exact F|discriminate].
Qed.
End Users.

(** ** In numbers *)

Corollary ratchet_random_2_128 users domain exposable A q m : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  spending users domain q m A -> settled exposable A -> (z (q + m) <= 2 ^ 64)%Z ->
  (Qabs (really_exposed users domain exposable A - ideally_exposed domain exposable A) <= 1 / inject_Z (2 ^ 128))%Q.
Proof.
  intros D F SE H; eapply Qle_trans; [exact (ratchet_random users domain exposable D A q m F SE)|now apply below_2_128].
Qed.

(** Who asks for 32 bytes, takes the state after the Ratchet that follows, guesses what was zeroed, and looks what was
    before. *)
Example ratchet_example : let T := [Derive (text "key") 32] in let A := Use 0 T (fun x => Use 0 (T ++ [Ratchet (text "done")]) (fun s =>
    if in_dec bytes_dec s states then Unpermute s (fun y => Say (if bytes_dec (firstn 32 y) x then true else false)) else Say false)) in
  spending 1 (fun _ => text "example") 1 3 A /\ settled (fun _ _ => true) A.
Proof.
  cbv zeta; split.
  - split; [apply le_n|split].
    + intros o [<-|[]]; cbn [label data]; repeat split; repeat constructor.
    + exists 1, 2; split; [apply le_n|split; [intros O _; vm_compute; repeat constructor|]]; intro x; split; [apply le_n|split].
      * intros o [<-|[<-|[]]]; cbn [label data]; repeat split; repeat constructor.
      * exists 2, 0; split; [apply le_n|split].
        -- apply ratchet_costs; [reflexivity|]; intros O; vm_compute; split; [reflexivity|repeat constructor].
        -- intro s; destruct (in_dec bytes_dec s states) as [J|_]; [split; [now apply in_states|exact (fun _ => I)]|exact I].
  - assert (X : ends_before (fun _ _ => true) 0 [Derive (text "key") 32]).
    { intros U W E; destruct U as [|a [|b U]]; [reflexivity|injection E as E _; subst a; reflexivity|discriminate]. }
    cbn [settled]; split; [exact X|]; intros x; split; [exact X|]; intro s; destruct (in_dec bytes_dec s states); cbn [settled]; auto.
Qed.
