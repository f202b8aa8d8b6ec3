(** * BoundPreimages: first and second preimages, below the bound of collisions

    Targets are asked for first; from then on an output of the permutation that agrees with one of them is a hit ([Aim] of
    BoundGraph.v).  An output that was there before is one of the targets itself, because no target passes the place
    where another Derive begins ([point_decides]). *)

From Coq Require Import Ascii String List Bool NArith Arith Lia QArith.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundGraph BoundModel BoundPublic BoundSchemes BoundMean.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** ** The games *)

(** It asks for its targets, one after another as the answers say, and then goes on as an adversary. *)
Inductive hunter := Then (A : adversary) | Target (T : list op) (k : list byte -> hunter).

Fixpoint hunts (h : hunter) : adversary :=
  match h with Then A => A | Target T k => Ask T (fun r => hunts (k r)) end.
Fixpoint targets (p : graph) (h : hunter) : list (list op) :=
  match h with Then _ => [] | Target T k => T :: targets p (k (answer (perm p) T)) end.
Fixpoint at_most (t : nat) (h : hunter) : Prop :=
  match h with Then _ => True | Target _ k => match t with O => False | S t => forall r, at_most t (k r) end end.

(** Nothing is output before the Derive at the end. *)
Definition plain (T : list op) : Prop := exists U l m, T = U ++ [Derive l m] /\
  forall o, In o U -> match o with Init _ | Mix _ _ | Fork _ _ _ => True | _ => False end.

(** What [N] calls may find for [t] targets, or values, of [n] bytes. *)
Definition hunted (N t n : nat) : Q :=
  inject_Z (z N * (z N + 1)) / inject_Z (2 ^ 257 - 1) + inject_Z (2 * z N * z t) / inject_Z (2 ^ (8 * z n + 1) - 1).

(** ** The tree of queries *)

Definition like (n : nat) (rs : list (list byte)) (y : list byte) : bool := existsb (fun r => same (firstn n y) (firstn n r)) rs.

Fixpoint aimed (n : nat) (rs : list (list byte)) (h : hunter) : @tree (list byte) :=
  match h with
  | Then A => compile A
  | Target T k => serve (transcript T ([], blank)) (fun r => walk (whole (snd r)) zeros (fun _ =>
      Aim (like n (fst r :: rs)) (aimed n (fst r :: rs) (k (fst r)))))
  end.

Fixpoint unaimed (t : @tree (list byte)) : Prop :=
  match t with Done => True | Forward _ k | Inverse _ k => forall b, unaimed (k b) | Aim _ _ => False end.

Lemma unaimed_walk bs k : (forall y, unaimed (k y)) -> forall y, unaimed (walk bs y k).
Proof. intro H; induction bs as [|b bs IH]; intro y; cbn [walk unaimed]; auto. Qed.
Lemma unaimed_serve {Z} (q : prog Z) k : (forall a, unaimed (k a)) -> unaimed (serve q k).
Proof. intro H; induction q as [a|bs f IH]; cbn [serve]; auto using unaimed_walk. Qed.
Lemma unaimed_compile A : unaimed (compile A).
Proof. induction A as [|x k IH|y k IH|T k IH]; cbn [compile unaimed]; auto using unaimed_serve, unaimed_walk. Qed.

Lemma like_few n rs : n <= width -> hits_few states (length rs * 256 ^ (width - n)) (like n rs).
Proof.
  intro N; unfold hits_few; induction rs as [|r rs IH]; cbn [like existsb length].
  - rewrite filter_none; [apply le_n|reflexivity].
  - etransitivity; [apply filter_or|]; cbn [Nat.mul]; apply Nat.add_le_mono; [|exact IH].
    rewrite states_are; unfold same; now apply count_front.
Qed.

Lemma unaimed_aims c t : unaimed t -> aims states c t.
Proof. induction t; cbn [unaimed aims]; auto; intros []. Qed.

Lemma aims_walk c bs k : (forall y, aims states c (k y)) -> forall y, aims states c (walk bs y k).
Proof. intro H; induction bs as [|b bs IH]; intro y; cbn [walk aims]; auto. Qed.
Lemma aims_serve c {Z} (q : prog Z) k : (forall a, aims states c (k a)) -> aims states c (serve q k).
Proof. intro H; induction q as [a|bs f IH]; cbn [serve]; auto using aims_walk. Qed.

Lemma aimed_aims n t0 h : n <= width -> forall rs t, at_most t h -> length rs + t <= t0 ->
  aims states (t0 * 256 ^ (width - n)) (aimed n rs h).
Proof.
  intro N; induction h as [A|T k IH]; intros rs t M L; cbn [aimed at_most] in *.
  - apply unaimed_aims, unaimed_compile.
  - destruct t as [|t]; [destruct M|]; apply aims_serve; intros [x u]; apply aims_walk; intros _; cbn [aims fst]; split.
    + eapply Nat.le_trans; [apply (like_few n _ N)|]; apply Nat.mul_le_mono_r; cbn [length]; lia.
    + apply (IH x (x :: rs) t); [apply M|cbn [length]; lia].
Qed.

Section One.
Variable p : @graph (list byte).
Hypothesis IP : In p all_permutations.
Notation P := (perm p).
Notation HP := (perm_length p IP).
Notation goes := (played bytes_dec bytes_dec states inner root p).
Notation sound s := (good bytes_dec inner root (fun _ _ => false) s = true).
Notation all_inputs T := (inputs (permute P (run P T))).

Lemma touched_aimed n h : forall rs, touched bytes_dec p (aimed n rs h) = touched bytes_dec p (compile (hunts h)).
Proof.
  induction h as [A|T k IH]; intro rs; cbn [aimed hunts compile]; [reflexivity|].
  rewrite !(touched_serve p), !(touched_walk p); cbn [touched]; now rewrite IH.
Qed.

Lemma goes_walk hit bs k : forall y s, goes hit (walk bs y k) s =
  goes hit (k (snd (fold_left (play1 P) bs ([], y)))) (goes hit (walk bs y (fun _ => Done)) s).
Proof.
  induction bs as [|b bs IH]; intros y s; [reflexivity|]; cbn [walk played]; rewrite IH.
  change (fold_left (play1 P) (b :: bs) ([], y)) with (fold_left (play1 P) bs ([xors y (pad b)], P (xors y (pad b)))).
  rewrite (play_from p bs [xors y (pad b)]); reflexivity.
Qed.

Lemma goes_serve hit {Z} (q : prog Z) k : forall s, goes hit (serve q k) s =
  goes hit (k (result (outer_of P) q)) (goes hit (serve q (fun _ => Done)) s).
Proof.
  induction q as [a|bs f IH]; intro s; [reflexivity|]; cbn [serve result].
  rewrite goes_walk, IH, (goes_walk hit bs (fun y => serve (f (outer y)) (fun _ => Done))); reflexivity.
Qed.

Definition asking (T : list op) : tree := compile (Ask T (fun _ => Stop)).

Lemma goes_target hit n rs T k s : goes hit (aimed n rs (Target T k)) s =
  goes (like n (answer P T :: rs)) (aimed n (answer P T :: rs) (k (answer P T))) (goes hit (asking T) s).
Proof.
  cbn [aimed]; rewrite goes_serve, (transcript_is P HP); cbn [fst snd].
  rewrite goes_walk; cbn [played]; f_equal; unfold asking; cbn [compile].
  rewrite (goes_serve hit _ (fun r => walk (whole (snd r)) zeros (fun _ => Done))), (transcript_is P HP); reflexivity.
Qed.

Lemma sound_earlier t : forall hit s, sound (goes hit t s) -> sound s.
Proof.
  induction t as [|x k IH|y k IH|h k IH]; intros hit s G; cbn [played] in G; [exact G| | |exact (IH _ _ G)];
    apply IH in G; destruct (old _ _ _ _); auto; now apply good_tail in G.
Qed.

(** What is new is no hit. *)
Lemma newer t hit : unaimed t -> forall s e, In e (goes hit t s) -> In e s \/ fst e = false \/ hit (snd (snd e)) = false.
Proof.
  induction t as [|x k IH|y k IH|h k IH]; intros U s e I; cbn [played unaimed] in *; [now left| | |destruct U];
    (apply IH in I; [|apply U]); destruct I as [I|I]; auto; destruct (old _ _ _ _); auto; destruct I as [<-|I]; auto; cbn [fst snd]; right.
  destruct (hit _); [left; apply andb_false_r|now right].
Qed.

(** ** Where a Derive begins *)

Lemma plain_before u T : length (cur u) < rate -> (forall o, In o T -> match o with Init _ | Mix _ _ | Fork _ _ _ => True | _ => False end) ->
  ~ prefix (closed (feed1 u Close)) (closed (tape_run P T)).
Proof.
  intro U; induction T as [|o T IH] using rev_ind; intros S E; [now apply (ends_nothing u) in E|].
  rewrite tape_run_snoc in E; unfold tape_step in E; pose proof (S o ltac:(apply in_or_app; right; now left)) as O.
  apply IH; [intros a I; apply S, in_or_app; now left|].
  destruct o; cbn [body code label] in *; try destruct O; try (apply (ends_bytes _ U) in E); now apply (ends_header _ U) in E.
Qed.

Lemma run_derive U l m : tape_run P (U ++ [Derive l m]) =
  feed (bytes (fst (squeeze P m (render P (point_tape p U l m))))) (point_tape p U l m).
Proof.
  rewrite tape_run_snoc; unfold tape_step; cbn [body code label]; rewrite (feed_close (leb m)).
  rewrite <- (render_absorb P HP) by (apply wf_tape_header, wf_tape_run).
  destruct (render_close P HP [] (feed (bytes (leb m)) (tape_header 3 l (tape_run P U)))) as (_ & R & _);
    [apply wf_feed, wf_tape_header, wf_tape_run|]; rewrite <- R; reflexivity.
Qed.

(** No plain transcript passes the place where another's Derive begins. *)
Lemma point_decides T U l m : plain T -> legal T -> legal (U ++ [Derive l m]) ->
  prefix (closed (point_tape p U l m)) (whole (tape_run P T)) -> T = U ++ [Derive l m].
Proof.
  intros (V & l1 & m1 & -> & S) L1 L2 E.
  assert (LL : length l1 <= label_max) by (apply (L1 (Derive l1 m1)), in_or_app; right; now left).
  assert (LM : length l <= label_max) by (apply (L2 (Derive l m)), in_or_app; right; now left).
  assert (SV : Forall short V) by (apply Forall_forall; intros o I; apply (L1 o), in_or_app; now left).
  assert (SU : Forall short U) by (apply Forall_forall; intros o I; apply (L2 o), in_or_app; now left).
  rewrite run_derive in E; set (x := fst (squeeze P m1 _)) in E; clearbody x.
  unfold point_tape in E; set (u := feed (bytes (leb m)) (tape_header 3 l (tape_run P U))) in *.
  assert (W : length (cur u) < rate) by (unfold u; apply wf_feed, wf_tape_header, wf_tape_run).
  change (whole ?t) with (closed (feed [] (feed1 t Close))) in E; apply (ends_close _ W []) in E as [E|E].
  - apply (ends_close _ W) in E as [E|E].
    + apply (ends_bytes _ W), (ends_header _ W) in E; now apply (plain_before u V W S) in E.
    + unfold u in E; apply header_injective in E as (_ & -> & E & F); auto using ready_tape_run; try reflexivity.
      apply tape_injective in F as ->; auto; apply bytes_inj in E.
      now apply leb_inj in E as ->.
  - exfalso; unfold u in E; rewrite <- feed_close in E; apply header_injective in E as (_ & _ & E & _); auto using ready_tape_run; try reflexivity.
    now apply no_close in E.
Qed.

(** ** Targets and what was asked for later differ *)

Section Length.
Variable n : nat.
Hypothesis N94 : n <= rate.

Definition apart_at (T1 T2 : list op) : Prop := T1 <> T2 -> derives n T1 = true -> derives n T2 = true ->
  firstn n (answer P T1) <> firstn n (answer P T2).

Lemma derives_is T : derives n T = true -> exists U l m, T = U ++ [Derive l m] /\ n <= m.
Proof.
  intro H; unfold derives in H; destruct (rev T) as [|[l|l x|l m|l q|l q|l i v|l] r] eqn:R; try discriminate.
  exists (rev r), l, m; split; [|now apply Nat.leb_le]; rewrite <- (rev_involutive T), R; reflexivity.
Qed.

(** The history after some targets: theirs, and nothing else. *)
Record phase (ts : list (list op)) (s : @BoundGraph.history (list byte)) : Prop := Phase {
  f_consistent : consistent bytes_dec p s;
  f_once : NoDup (xs_of s);
  f_states : incl (xs_of s) states;
  f_theirs : forall x, In x (xs_of s) -> exists T, In T ts /\ In x (all_inputs T);
  f_plain : forall T, In T ts -> plain T /\ legal T;
  f_apart : forall T1 T2, In T1 ts -> In T2 ts -> apart_at T1 T2
}.

Lemma play_at bs x : In x (fst (play P bs)) -> exists bs1 b r, bs = bs1 ++ b :: r /\ x = xors (snd (play P bs1)) (pad b).
Proof.
  induction bs as [|b bs IH] using rev_ind; intro I; [destruct I|]; rewrite play_snoc in I; unfold play1 in I; cbn [fst] in I.
  apply in_app_or in I as [I|[<-|[]]]; [|exists bs, b, []; auto].
  destruct (IH I) as (bs1 & b1 & r & -> & E); exists bs1, b1, (r ++ [b]); split; [|exact E]; now rewrite <- app_assoc.
Qed.

Lemma new_no_hit ts s hit t T : phase ts s -> unaimed t -> sound (goes hit t s) ->
  ~ In T ts -> legal T -> (forall x, In x (all_inputs T) -> In (x, P x) (pairs (goes hit t s))) ->
  (forall T1 x, In T1 ts -> In x (all_inputs T1) -> In (x, P x) (pairs (goes hit t s))) ->
  derives n T = true -> exists y, firstn n (answer P T) = firstn n y /\ hit y = false.
Proof.
  intros F UA G NI L A A1 D; apply derives_is in D as (U & l & m & -> & M).
  rewrite (derive_answer p IP U l m n M N94).
  set (s1 := goes _ t s) in *; set (pt := point_tape p U l m) in *.
  assert (WP : wf pt) by (apply wf_feed1, wf_feed, wf_tape_header, wf_tape_run); destruct WP as (_ & _ & WP).
  assert (AP : forall x, In x (fst (play P (closed pt))) -> In (x, P x) (pairs s1)).
  { intros x I; apply A; rewrite (inputs_whole p IP); revert I; apply play_prefix.
    eapply prefix_trans; [apply (point_prefix p U l m)|apply whole_prefix]. }
  assert (C : exists bs b, closed pt = bs ++ [b]) by (eexists _, _; reflexivity); destruct C as (bs & b & C).
  rewrite C in AP, WP |- *; pose proof WP as WP'; apply Forall_app in WP' as [WB LB]; inversion LB as [|? ? LB' _]; subst.
  rewrite play_snoc in AP |- *; unfold play1 in AP |- *; cbn [fst snd] in AP |- *.
  set (x := xors (snd (play P bs)) (pad b)) in *.
  assert (X : In (x, P x) (pairs s1)) by (apply AP, in_or_app; right; now left).
  pose proof (play_chain p s1 bs WB b LB' (fun y I => AP y (in_or_app _ _ _ (or_introl I)))) as CH; fold x in CH.
  pose proof (chain_true bytes_dec inner root (fun _ _ => false) s1 x _ (P x) G CH X) as TR.
  exists (P x); split; [reflexivity|]; destruct (newer t _ UA s _ TR) as [O|[O|O]]; [exfalso|discriminate O|exact O].
  assert (XS : In x (xs_of s)) by exact (in_map fst _ _ (in_map snd _ _ O)).
  destruct (f_theirs _ _ F x XS) as (T2 & I2 & X2); rewrite (inputs_whole p IP) in X2.
  destruct (play_at _ _ X2) as (cs & c & r & E2 & EX); apply NI.
  assert (WT : Forall (fun b => length (fst b) <= rate) (cs ++ [c])).
  { pose proof (wf_whole _ (wf_tape_run P T2)) as WT.
    rewrite E2 in WT; change (cs ++ c :: r) with (cs ++ [c] ++ r) in WT; rewrite app_assoc in WT; now apply Forall_app in WT. }
  assert (EB : cs ++ [c] = bs ++ [b]).
  { apply (ends_decide p IP s1 (fun _ _ => false) G (fun _ _ => eq_refl) cs c bs b WT WP).
    - intros y [Y|Y]; [|apply AP, in_or_app; now left]; apply (A1 T2 y I2); rewrite (inputs_whole p IP), E2; revert Y.
      apply play_prefix; eexists; reflexivity.
    - rewrite !play_snoc; unfold play1; cbn [fst]; rewrite !last_last; fold x; congruence. }
  destruct (f_plain _ _ F T2 I2) as [PL LE]; rewrite <- (point_decides T2 U l m PL LE L); [exact I2|].
  fold pt; rewrite C, <- EB, E2; exists r; now rewrite <- app_assoc.
Qed.

Lemma new_apart ts s t T : phase ts s -> unaimed t -> let hit := like n (map (answer P) ts) in sound (goes hit t s) ->
  ~ In T ts -> legal T -> (forall x, In x (all_inputs T) -> In (x, P x) (pairs (goes hit t s))) ->
  (forall T1 x, In T1 ts -> In x (all_inputs T1) -> In (x, P x) (pairs (goes hit t s))) ->
  forall T1, In T1 ts -> apart_at T1 T.
Proof.
  intros F UA hit G NI L A A1 T1 I1 _ _ D E; destruct (new_no_hit ts s hit t T F UA G NI L A A1 D) as (y & Y & H).
  assert (X : hit y = true); [|congruence]; apply existsb_exists; exists (answer P T1); split; [now apply in_map|].
  unfold same; destruct (bytes_dec _ _); congruence.
Qed.

Lemma phase_pairs ts s hit t : phase ts s -> (forall T x, In T ts -> In x (all_inputs T) -> In (x, P x) (pairs s)) ->
  forall T x, In T ts -> In x (all_inputs T) -> In (x, P x) (pairs (goes hit t s)).
Proof.
  intros F H T x I X; destruct (played_spec bytes_dec bytes_dec states states_once inner root p IP t hit s
    (f_consistent _ _ F) (f_once _ _ F) (f_states _ _ F)) as (_ & _ & K & _); apply K; eauto.
Qed.

Lemma hunted_apart h : forall ts s, phase ts s -> (forall T x, In T ts -> In x (all_inputs T) -> In (x, P x) (pairs s)) ->
  sound (goes (like n (map (answer P) ts)) (aimed n (map (answer P) ts) h) s) ->
  (forall T, In T (asks p (hunts h)) -> legal T) -> (forall T, In T (targets p h) -> plain T) ->
  forall T1 T2, In T1 (ts ++ targets p h) -> In T2 (ts ++ asks p (hunts h)) -> apart_at T1 T2.
Proof.
  induction h as [A|T k IH]; intros ts s F H G LE PL T1 T2 I1 I2.
  - cbn [targets hunts aimed] in *; rewrite app_nil_r in I1; apply in_app_or in I2 as [I2|I2]; [now apply (f_apart _ _ F)|].
    destruct (in_dec (list_eq_dec op_eq_dec) T2 ts) as [J|J]; [now apply (f_apart _ _ F)|].
    apply (new_apart ts s (compile A) T2 F (unaimed_compile A) G J (LE T2 I2)); auto.
    + intros x X; destruct (played_spec bytes_dec bytes_dec states states_once inner root p IP (compile A)
        (like n (map (answer P) ts)) s (f_consistent _ _ F) (f_once _ _ F) (f_states _ _ F)) as (_ & _ & _ & _ & K).
      destruct (asked_pairs p A T2 IP I2 (LE T2 I2) x X); auto.
    + now apply phase_pairs.
  - rewrite goes_target in G; cbn [targets hunts asks] in *; set (r := answer P T) in *.
    set (s' := goes (like n (map (answer P) ts)) (asking T) s) in *.
    pose proof (sound_earlier _ _ _ G) as G'; pose proof (LE T (or_introl eq_refl)) as LT; pose proof (PL T (or_introl eq_refl)) as PT.
    destruct (played_spec bytes_dec bytes_dec states states_once inner root p IP (asking T)
      (like n (map (answer P) ts)) s (f_consistent _ _ F) (f_once _ _ F) (f_states _ _ F)) as (C & ND & MORE & XS & K); fold s' in C, ND, MORE, XS, K.
    destruct (asked_inputs p IP (Ask T (fun _ => Stop))) as [SP _]; cbn [spends] in SP; rewrite app_nil_r in SP.
    assert (NEW : forall x, In x (all_inputs T) -> In (x, P x) (pairs s')).
    { intros x X; destruct (asked_pairs p (Ask T (fun _ => Stop)) T IP (or_introl eq_refl) LT x X); now apply K. }
    assert (OLD : forall T1 x, In T1 ts -> In x (all_inputs T1) -> In (x, P x) (pairs s')) by (intros T0 x I X; eapply MORE, H; eauto).
    assert (F' : phase (T :: ts) s').
    { constructor; auto.
      - intros x X; apply XS, in_app_or in X as [X|X]; [now apply (f_states _ _ F)|].
        exact (proj2 (asked_pairs p (Ask T (fun _ => Stop)) T IP (or_introl eq_refl) LT x (SP x X))).
      - intros x X; apply XS, in_app_or in X as [X|X]; [destruct (f_theirs _ _ F x X) as (T0 & I0 & X0); exists T0; split; [now right|exact X0]|].
        exists T; split; [now left|now apply SP].
      - intros T0 [<-|I0]; [auto|now apply (f_plain _ _ F)].
      - assert (Q : forall T0, In T0 ts -> apart_at T0 T).
        { destruct (in_dec (list_eq_dec op_eq_dec) T ts) as [J|J]; [intros; now apply (f_apart _ _ F)|].
          apply (new_apart ts s (asking T) T F (unaimed_compile _) G' J LT); auto. }
        intros T0 T3 [<-|J0] [<-|J3]; [intro X; congruence| |now apply Q|now apply (f_apart _ _ F)].
        intros X D0 D3 E; apply (Q T3 J3); auto. }
    apply (IH r (T :: ts) s'); auto.
    + intros T0 x [<-|J] X; eauto.
    + intros T0 J; apply LE; now right.
    + intros T0 J; apply PL; now right.
    + apply in_app_or in I1 as [I1|[<-|I1]]; [right; apply in_or_app; now left|now left|right; apply in_or_app; now right].
    + apply in_app_or in I2 as [I2|[<-|I2]]; [right; apply in_or_app; now left|now left|right; apply in_or_app; now right].
Qed.
End Length.
End One.

(** ** The theorems *)

Lemma hunted_share N t n K C : (z N <= 2 ^ 256)%Z -> n <= 94 -> (z K = 2 ^ 768)%Z -> (z C = 2 ^ (8 * z (width - n)))%Z ->
  (nat_q (N * (N + 1) * K + N * N * 0 + 2 * N * (t * C)) / nat_q (2 * (length states - N)) <= hunted N t n)%Q.
Proof.
  intros NN N94 KE CE; rewrite Nat.mul_0_r, Nat.add_0_r, nat_q_plus; unfold hunted; unfold Qdiv at 1.
  rewrite Qmult_plus_distr_l; apply Qplus_le_compat.
  - exact (first_term N K NN KE).
  - replace (nat_q (2 * N * (t * C))) with (inject_Z (2 * z N * z t * z C))
      by (unfold nat_q, z; rewrite !Nat2Z.inj_mul; f_equal; lia).
    replace (8 * z n + 1)%Z with (1025 - 8 * z (width - n))%Z by (unfold z, width; lia).
    apply share; [unfold z; lia|exact NN|exact CE|unfold z, width; lia].
Qed.

Lemma rest_count n : (z (256 ^ (width - n)) = 2 ^ (8 * z (width - n)))%Z.
Proof.
  unfold z; rewrite Nat2Z.inj_pow; change (Z.of_nat 256) with (2 ^ 8)%Z; rewrite <- Z.pow_mul_r by lia; reflexivity.
Qed.

Lemma no_clashes : forall b, length (filter (fun a : list byte => (fun _ _ : list byte => false) a b) states) <= 0.
Proof. exact no_clash. Qed.

(** A Derive that gives [n] bytes of the value [v], which is fixed before. *)
Theorem first_preimages A N n v : admissible N A -> (z N <= 2 ^ 256)%Z -> n <= 94 ->
  (probability (fun p => existsb (fun T => derives n T && same (firstn n (answer (perm p) T)) (firstn n v)) (asks p A)) <= hunted N 1 n)%Q.
Proof.
  intros AD NN N94; assert (W : n <= width) by (unfold width; lia).
  eapply Qle_trans; [apply (tree_bound A N (compile A) (like n [v]) (fun _ _ => false) 0 (1 * 256 ^ (width - n)))|].
  - exact no_clashes.
  - exact (like_few n [v] W).
  - apply unaimed_aims, unaimed_compile.
  - reflexivity.
  - exact AD.
  - exact (enough_states N NN).
  - intros p IP G; destruct (AD p IP) as [_ LEGAL], (existsb _ (asks p A)) eqn:E; [exfalso|reflexivity].
    apply existsb_exists in E as (T & I & E); apply andb_true_iff in E as [D E]; unfold same in E.
    destruct (bytes_dec _ _) as [V|]; [|discriminate]; clear E.
    destruct (played_here p (like n [v]) (compile A) IP) as (_ & _ & K).
    destruct (new_no_hit p IP n N94 [] [] (like n [v]) (compile A) T) as (y & Y & H); auto.
    + constructor; [intros x y []|constructor|intros x []|intros x []|intros T0 []|intros T0 T1 []].
    + apply unaimed_compile.
    + intros x X; destruct (asked_pairs p A T IP I (LEGAL T I) x X); auto.
    + intros T1 x [].
    + unfold like, same in H; cbn [existsb] in H; destruct (bytes_dec _ _); [discriminate|congruence].
  - exact (hunted_share _ _ _ _ _ NN N94 inner_count (rest_count n)).
Qed.

(** A target and another transcript that share [n] bytes of what they output. *)
Theorem second_preimages h N t n : admissible N (hunts h) -> (z N <= 2 ^ 256)%Z -> n <= 94 -> at_most t h ->
  (forall p T, In p all_permutations -> In T (targets p h) -> plain T) ->
  (probability (fun p => existsb (fun T => existsb (output_collision n (perm p) T) (asks p (hunts h))) (targets p h)) <= hunted N t n)%Q.
Proof.
  intros AD NN N94 AM PL; assert (W : n <= width) by (unfold width; lia).
  eapply Qle_trans; [apply (tree_bound (hunts h) N (aimed n [] h) (like n []) (fun _ _ => false) 0 (t * 256 ^ (width - n)))|].
  - exact no_clashes.
  - eapply Nat.le_trans; [apply (like_few n [] W)|]; apply Nat.le_0_l.
  - apply (aimed_aims n t h W [] t AM); cbn [length]; lia.
  - intro p; apply touched_aimed.
  - exact AD.
  - exact (enough_states N NN).
  - intros p IP G; destruct (AD p IP) as [_ LEGAL], (existsb _ (targets p h)) eqn:E; [exfalso|reflexivity].
    apply existsb_exists in E as (T1 & I1 & E); apply existsb_exists in E as (T2 & I2 & E).
    unfold output_collision, different, same in E; destruct (list_eq_dec op_eq_dec T1 T2) as [|D]; [discriminate|].
    apply andb_true_iff in E as [_ E]; apply andb_true_iff in E as [E F]; apply andb_true_iff in E as [D1 D2].
    destruct (bytes_dec _ _) as [V|]; [|discriminate].
    apply (hunted_apart p IP n N94 h [] [] ltac:(constructor; [intros x y []|constructor|intros x []|intros x []|intros T0 []|intros T0 T3 []])
      ltac:(intros T x []) G LEGAL (fun T I => PL p T IP I) T1 T2 I1 I2 D D1 D2 V).
  - exact (hunted_share _ _ _ _ _ NN N94 inner_count (rest_count n)).
Qed.

(** *** Digests *)

Lemma digest_plain d m n : plain (digest d m n).
Proof. exists [Init d; Mix (text "message") m], (text "digest"), n; split; [reflexivity|]; intros o [<-|[<-|[]]]; exact I. Qed.

Lemma digest_derives k d m n : k <= n -> derives k (digest d m n) = true.
Proof. exact (derives_last k [Init d; Mix (text "message") m] (text "digest") n). Qed.

(** A message and a domain with the digest [v], which is fixed before. *)
Theorem digests_invert A N n v (event : graph -> bool) : admissible N A -> (z N <= 2 ^ 256)%Z ->
  (forall p, In p all_permutations -> event p = true -> exists d m, In (digest d m n) (asks p A) /\ answer (perm p) (digest d m n) = v) ->
  (probability event <= hunted N 1 (Nat.min n 94))%Q.
Proof.
  intros AD NN H; eapply Qle_trans; [|apply (first_preimages A N (Nat.min n 94) v AD NN); lia].
  apply average_le; intros p IP; unfold indicator; destruct (event p) eqn:E; [|destruct (existsb _ _); discriminate].
  destruct (H p IP E) as (d & m & I & V); replace (existsb _ _) with true; [apply Qle_refl|symmetry].
  apply existsb_exists; exists (digest d m n); split; [exact I|]; rewrite (digest_derives _ d m n (Nat.le_min_l n 94)), V.
  unfold same; destruct (bytes_dec _ _); [reflexivity|congruence].
Qed.

Lemma second_event h N t n (event : graph -> bool) : admissible N (hunts h) -> (z N <= 2 ^ 256)%Z -> n <= 94 -> at_most t h ->
  (forall p T, In p all_permutations -> In T (targets p h) -> plain T) ->
  (forall p, In p all_permutations -> event p = true -> exists T1 T2, T1 <> T2 /\ In T1 (targets p h) /\ In T2 (asks p (hunts h)) /\
    derives n T1 = true /\ derives n T2 = true /\ firstn n (answer (perm p) T1) = firstn n (answer (perm p) T2)) ->
  (probability event <= hunted N t n)%Q.
Proof.
  intros AD NN N94 AM PL H; eapply Qle_trans; [|exact (second_preimages h N t n AD NN N94 AM PL)].
  apply average_le; intros p IP; unfold indicator; destruct (event p) eqn:E; [|destruct (existsb _ _); discriminate].
  destruct (H p IP E) as (T1 & T2 & D & I1 & I2 & D1 & D2 & V); replace (existsb _ _) with true; [apply Qle_refl|symmetry].
  apply existsb_exists; exists T1; split; [exact I1|]; apply existsb_exists; exists T2; split; [exact I2|].
  unfold output_collision, different, same; rewrite D1, D2, V.
  destruct (list_eq_dec op_eq_dec T1 T2); [contradiction|]; destruct (bytes_dec _ _); [reflexivity|congruence].
Qed.

(** Another message, or domain, with the digest of a message that was fixed before. *)
Theorem digests_second d m n A N (event : graph -> bool) : admissible N (Ask (digest d m n) A) -> (z N <= 2 ^ 256)%Z ->
  (forall p, In p all_permutations -> event p = true -> exists d2 m2, (d2, m2) <> (d, m) /\
    In (digest d2 m2 n) (asks p (Ask (digest d m n) A)) /\ answer (perm p) (digest d2 m2 n) = answer (perm p) (digest d m n)) ->
  (probability event <= hunted N 1 (Nat.min n 94))%Q.
Proof.
  intros AD NN H; apply (second_event (Target (digest d m n) (fun r => Then (A r))) N 1 (Nat.min n 94) event AD NN);
    [lia|exact (fun _ => I)|intros p T _ [<-|[]]; apply digest_plain|]; intros p IP E.
  destruct (H p IP E) as (d2 & m2 & D & I2 & V); exists (digest d m n), (digest d2 m2 n).
  split; [intro X; apply D; injection X; intros; subst; reflexivity|split; [now left|split; [exact I2|]]].
  rewrite !digest_derives, V by apply Nat.le_min_l; auto.
Qed.

(** Another message, or base, with the digest of [tree] of a message all of whose nodes are targets. *)
Theorem trees_second h B m n t N (event : graph -> bool) : admissible N (hunts h) -> (z N <= 2 ^ 256)%Z -> at_most t h ->
  (forall p T, In p all_permutations -> In T (targets p h) -> plain T) ->
  (forall p, In p all_permutations -> event p = true -> exists B2 m2, (B2, m2) <> (B, m) /\
    (forall q, In q (asked (derive (perm p)) B m n) -> In (asked_as q) (targets p h)) /\
    (forall q, In q (asked (derive (perm p)) B2 m2 n) -> In (asked_as q) (asks p (hunts h))) /\
    Tree.tree (derive (perm p)) B2 m2 n = Tree.tree (derive (perm p)) B m n) ->
  (probability event <= hunted N t (Nat.min n 32))%Q.
Proof.
  intros AD NN AM PL H; apply (second_event h N t (Nat.min n 32) event AD NN); [lia|exact AM|exact PL|]; intros p IP E.
  destruct (H p IP E) as (B2 & m2 & D & ALL & ALL2 & F).
  assert (D' : (B, m, n) <> (B2, m2, n)) by congruence; symmetry in F.
  apply (tree_collision (derive (perm p)) (derive_length (perm p)) B m n B2 m2 n D') in F as (Q & EQ & J1 & J2).
  destruct (collide (derive (perm p)) B m n B2 m2 n) as [q1 q2]; cbn [fst snd] in *.
  pose proof (asked_derives _ _ _ _ _ J1) as L1; pose proof (asked_derives _ _ _ _ _ J2) as L2.
  exists (asked_as q1), (asked_as q2); split; [|split; [apply ALL, J1|split; [apply ALL2, J2|split; [|split]]]].
  - intro X; apply Q; destruct q1 as [[T1 l1] k1], q2 as [[T2 l2] k2]; cbn [asked_as] in X.
    apply app_inj_tail in X as [-> X]; injection X as -> ->; reflexivity.
  - destruct q1 as [[T1 l1] k1]; apply derives_last; exact L1.
  - destruct q2 as [[T2 l2] k2]; apply derives_last; exact L2.
  - destruct q1 as [[T1 l1] k1], q2 as [[T2 l2] k2]; cbn [asked_as derive] in *; now rewrite !answer_snoc, EQ.
Qed.

(** The nodes of a message are such targets, in every base of the format. *)
Lemma asked_plain D domain key m n q : In q (asked D (base domain key) m n) -> plain (asked_as q).
Proof.
  assert (BASE : forall o, In o (base domain key) -> match o with Init _ | Mix _ _ | Fork _ _ _ => True | _ => False end)
    by (intros o; unfold base; destruct key; intros [<-|[<-|[]]] || intros [<-|[]]; exact I).
  intro J; apply in_app_or in J as [J|[<-|[]]].
  - assert (H : forall f k x, In q (nodes D (base domain key) f k x) -> plain (asked_as q)); [|exact (H _ _ _ J)].
    clear J; induction f as [|f IH]; intros k x J; cbn [nodes] in J; [destruct J|].
    destruct (length x <=? chunk_len); [destruct J|]; apply in_app_or in J as [J|J]; [|exact (IH _ _ J)].
    apply in_map_iff in J as (c & <- & _); eexists _, _, _; split; [reflexivity|]; intros o O.
    apply in_app_or in O as [O|[<-|[<-|[]]]]; [now apply BASE|exact I|exact I].
  - unfold top; destruct (climb D (base domain key) (length m) 0 m); eexists _, _, _; split; [reflexivity|]; intros o O.
    apply in_app_or in O as [O|[<-|[]]]; [|exact I]; apply in_app_or in O as [O|[<-|[<-|[]]]]; [now apply BASE|exact I|exact I].
Qed.

(** With fewer than 2^64 calls, digests of 16 bytes: a collision is likely, a second preimage has at most 2^-63. *)
Corollary digests_second_2_63 d m A N (event : graph -> bool) : admissible N (Ask (digest d m 16) A) -> (z N < 2 ^ 64)%Z ->
  (forall p, In p all_permutations -> event p = true -> exists d2 m2, (d2, m2) <> (d, m) /\
    In (digest d2 m2 16) (asks p (Ask (digest d m 16) A)) /\ answer (perm p) (digest d2 m2 16) = answer (perm p) (digest d m 16)) ->
  (probability event < 1 / inject_Z (2 ^ 63))%Q.
Proof.
  intros AD H EV; eapply Qle_lt_trans; [apply (digests_second d m 16 A N event AD); [|exact EV]|].
  - apply Z.le_trans with (2 ^ 64)%Z; [lia|vm_compute; discriminate].
  - change (Nat.min 16 94) with 16; unfold hunted; change (8 * z 16 + 1)%Z with 129%Z; change (z 1) with 1%Z.
    apply Qle_lt_trans with (inject_Z ((2 ^ 64 - 1) * 2 ^ 64) / inject_Z (2 ^ 257 - 1) +
      inject_Z (2 * (2 ^ 64 - 1) * 1) / inject_Z (2 ^ 129 - 1))%Q; [|vm_compute; reflexivity].
    apply Qplus_le_compat; unfold Qdiv; (apply Qmult_le_compat_r; [|vm_compute; discriminate]);
      rewrite <- Zle_Qle; unfold z in *; pose proof (Nat2Z.is_nonneg N); nia.
Qed.
