(** * BoundFresh: all that different questions output is random

    The games of BoundSecret.v, where each transcript is Mixes and Forks and then one operation that outputs.  In the [fair]
    world each new question has a uniform output of its own, and Open takes what Seal has given, and nothing else.
    [questions_random]: nobody who asks no two questions that begin alike tells the two worlds apart by more than
    n / 2^128 + m (2 q + m) / 2^256, with n questions to Open.  That aead, mac and stream are secure follows. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret BoundNonces
  BoundMean BoundAnswers.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Local Notation chance := (ideal bytes_dec block_dec (strings (rate + 2))).
Local Notation course := (@table (list byte) block).
Local Notation ends u bs := (prefix (closed (feed1 u Close)) bs).

(** ** The game *)

Definition passive (T : list op) : Prop := forall o, In o T -> match o with Mix _ _ | Fork _ _ _ => True | _ => False end.

(** Operations whose outputs may come from one state, after the same transcript. *)
Definition alike (o o' : op) : Prop :=
  match o, o' with
  | Derive l n, Derive l' n' => l = l' /\ n = n'
  | Mask l _, Mask l' _ => l = l'
  | Seal l x, Seal l' x' => l = l' /\ length x = length x'
  | _, _ => False
  end.

Definition clash (T T' : list op) : Prop := exists M o o', T = M ++ [o] /\ T' = M ++ [o'] /\ alike o o'.

(** What was asked for and answered: user, transcript, output. *)
Definition history := list (nat * list op * list byte).

Definition answer_dec : forall x y : nat * list op * list byte, {x = y} + {x <> y}.
Proof.
  intros [[i T] x] [[j S] y]; destruct (Nat.eq_dec i j), (list_eq_dec op_eq_dec T S), (bytes_dec x y); [left; congruence|right; congruence..].
Defined.

(** What a question has been answered, if it has. *)
Fixpoint recall (i : nat) (T : list op) (h : history) : option (list byte) :=
  match h with
  | [] => None
  | (j, T0, y) :: h => if Nat.eq_dec i j then if list_eq_dec op_eq_dec T T0 then Some y else recall i T h else recall i T h
  end.

(** The plaintext that Seal has given this ciphertext and tag for. *)
Fixpoint unsealed (i : nat) (T : list op) (l y : list byte) (h : history) : option (list byte) :=
  match h with
  | [] => None
  | e :: h =>
      match last (snd (fst e)) (Init []) with
      | Seal _ x => if answer_dec e (i, T ++ [Seal l x], y) then Some x else unsealed i T l y h
      | _ => unsealed i T l y h
      end
  end.

(** The probability of yes in the fair world, for one permutation, after [h].  [apart] has no Unmask. *)
Fixpoint fair (p : graph) (h : history) (A : player) : Q :=
  match A with
  | Say yes => indicator yes
  | Permute x k => fair p h (k (perm p x))
  | Unpermute y k => fair p h (k (perm_inverse p y))
  | Use i T k =>
      match recall i T h with
      | Some y => fair p h (k y)
      | None => average (fun y => fair p ((i, T, y) :: h) (k y)) (strings (out_length (last T (Init []))))
      end
  | Open i T l c tag k => fair p h (k (unsealed i T l (c ++ tag) h))
  | Unmask _ _ _ _ _ => 0
  end.

Definition fairly (A : player) : Q := average (fun p => fair p [] A) all_permutations.

(** Every transcript is Mixes and Forks and one operation that outputs; no two that clash, but for the same again. *)
Fixpoint apart (asked : list (nat * list op)) (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute _ k | Unpermute _ k => forall x, apart asked (k x)
  | Use i T k => (exists M o, T = M ++ [o] /\ passive M /\ alike o o) /\
      (forall S, In (i, S) asked -> clash T S -> S = T) /\ forall y, apart ((i, T) :: asked) (k y)
  | Open _ T _ _ tag k => passive T /\ length tag = tag_length /\ forall x, apart asked (k x)
  | Unmask _ _ _ _ _ => False
  end.

(** At most [n] questions to Open. *)
Fixpoint opens (n : nat) (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute _ k | Unpermute _ k | Use _ _ k | Unmask _ _ _ _ k => forall x, opens n (k x)
  | Open _ _ _ _ _ k => match n with O => False | S n => forall x, opens n (k x) end
  end.

Lemma apart_less A : forall l l', incl l' l -> apart l A -> apart l' A.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros a a' I H; cbn [apart] in *; eauto.
  - destruct H as (X & D & H); split; [exact X|split; [auto|]]; intro y; apply (IH y ((i, T) :: a)); auto.
    intros e [<-|J]; [now left|right; auto].
  - destruct H as (X & L & H); split; [exact X|split; [exact L|]]; intro y; eauto.
Qed.

Lemma recall_some i T h y : recall i T h = Some y -> In (i, T, y) h.
Proof.
  induction h as [|[[j S] z] h IH]; cbn [recall]; [discriminate|].
  destruct (Nat.eq_dec i j) as [<-|]; [destruct (list_eq_dec op_eq_dec T S) as [<-|]|]; intro E; [|right; auto..].
  injection E as ->; now left.
Qed.

Lemma recall_none i T h : recall i T h = None -> forall y, ~ In (i, T, y) h.
Proof.
  induction h as [|[[j S] z] h IH]; cbn [recall]; intros E y; [intros []|].
  destruct (Nat.eq_dec i j) as [<-|D]; [destruct (list_eq_dec op_eq_dec T S) as [<-|D]; [discriminate|]|];
    (intros [J|J]; [congruence|exact (IH E y J)]).
Qed.

Lemma unsealed_some i T l y h x : unsealed i T l y h = Some x -> In (i, T ++ [Seal l x], y) h.
Proof.
  induction h as [|e h IH]; cbn [unsealed]; [discriminate|].
  destruct (last (snd (fst e)) (Init [])); try solve [intro; right; auto].
  destruct (answer_dec e (i, T ++ [Seal l p], y)) as [->|]; intro E; [injection E as ->; now left|right; auto].
Qed.

Lemma unsealed_none i T l y h : unsealed i T l y h = None -> forall x, ~ In (i, T ++ [Seal l x], y) h.
Proof.
  induction h as [|e h IH]; cbn [unsealed]; intros E x; [intros []|]; intros [->|J].
  - cbn [fst snd] in E; rewrite last_last in E; destruct (answer_dec _ _); congruence.
  - destruct (last (snd (fst e)) (Init [])); try exact (IH E x J).
    destruct (answer_dec e _); [discriminate|exact (IH E x J)].
Qed.

(** ** Transcripts of this kind *)

(** What is fed between the header and the first block that is closed early. *)
Definition size (o : op) : list byte :=
  match o with Derive _ n => leb n | Seal _ x => leb (length x) | _ => [] end.

Definition starting (o : op) (t : tape) : tape := feed (bytes (size o)) (tape_header (code o) (label o) t).

Definition emits (o : op) : list emit :=
  match o with
  | Derive _ n => repeat (Emit 0 (fun b => b)) n
  | Mask _ x => map (fun k => Emit k (fun _ => k)) x
  | Seal _ x => map (fun k => Emit k (fun _ => k)) x ++ Shut :: repeat (Emit 0 (fun b => b)) tag_length
  | _ => []
  end.

Lemma emitted_emits o : emitted (emits o) = out_length o.
Proof.
  destruct o; cbn [emits out_length]; rewrite ?emitted_app; cbn [emitted]; rewrite ?emitted_squeezed, ?emitted_encrypted; reflexivity.
Qed.

Lemma emits_ok o : small (data o) -> Forall emit_ok (emits o).
Proof.
  intro S; destruct o; cbn [emits data] in *; try apply Forall_nil; [apply squeezed_ok|now apply encrypted_ok|].
  apply Forall_app; split; [now apply encrypted_ok|]; constructor; [exact I|apply squeezed_ok].
Qed.

Lemma seal_result O l x t : result O (stepping (Seal l x) t) =
  let r := result O (encrypting x (feed1 (starting (Seal l x) t) Close)) in
  let q := result O (squeezing tag_length (feed1 (snd r) Close)) in (fst r ++ fst q, snd q).
Proof.
  unfold stepping, starting; cbn [code label size]; generalize tag_length; intro k.
  rewrite (result_bind _ (encrypting _ _)), (result_bind _ (squeezing k _)); reflexivity.
Qed.

Lemma seal_needs O l x t : needs O (stepping (Seal l x) t) =
  needs O (encrypting x (feed1 (starting (Seal l x) t) Close)) ++
  needs O (squeezing tag_length (feed1 (snd (result O (encrypting x (feed1 (starting (Seal l x) t) Close)))) Close)).
Proof.
  unfold stepping, starting; cbn [code label size]; generalize tag_length; intro k.
  rewrite (needs_bind _ (encrypting _ _)), (needs_bind _ (squeezing k _)); cbn [needs]; now rewrite app_nil_r.
Qed.

Lemma stepping_emits i o t F v : alike o o ->
  (mean i (stepping o t) F v == mean i (emitting (emits o) (feed1 (starting o t) Close)) F v)%Q.
Proof.
  intro A; destruct o as [d|l x|l n|l x|l x|l j x|l]; try destruct A; unfold starting; cbn [code label size emits].
  - apply squeezing_emits.
  - apply encrypting_emits.
  - unfold stepping; cbn [code label]; generalize tag_length; intro k; rewrite (mean_bind i (encrypting _ _)), encrypting_emits, emitting_app.
    apply mean_ext; intros r w; rewrite (mean_bind i (squeezing k _)), squeezing_emits; reflexivity.
Qed.

(** What an operation outputs after blocks that nobody has asked for is a uniform string. *)
Theorem stepping_uniform i o t G v : alike o o -> small (data o) -> fresh i (closed (feed1 (starting o t) Close)) v ->
  (mean i (stepping o t) (fun r _ => G (fst r)) v == average G (strings (out_length o)))%Q.
Proof.
  intros A S FR; rewrite stepping_emits, <- emitted_emits by exact A; apply emitted_uniform; auto using emits_ok, close_not_nil.
Qed.

Lemma decrypt_back O x : forall t c u, result O (encrypting x t) = (c, u) ->
  result O (decrypting c t) = (x, u) /\ needs O (decrypting c t) = needs O (encrypting x t).
Proof.
  induction x as [|b x IH]; intros t c u E; cbn [encrypting result needs] in *.
  - injection E as <- <-; auto.
  - rewrite result_bind in E; cbn [result] in E; set (k := get (length (cur t)) (O (closed t))) in *.
    destruct (result O (encrypting x (feed1 t (Byte b)))) as [d w] eqn:X; cbn [fst snd] in E; injection E as <- <-.
    cbn [decrypting result needs]; fold k.
    rewrite <- N.lxor_assoc, N.lxor_nilpotent, N.lxor_0_l, result_bind, !needs_bind; destruct (IH _ _ _ X) as [-> ->]; auto.
Qed.

Section Users.
Variable users : nat.
Variable domain : nat -> list byte.
Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).

Definition prologue (i : nat) (M : list op) : tape := fold_left (tape_step (fun s => s)) M (begun domain i no_key).

Lemma laid R M : passive M -> forall x t, exists y, transcript (M ++ R) (x, t) = transcript R (y, fold_left (tape_step (fun s => s)) M t).
Proof.
  induction M as [|o M IH]; intros P x t; [now exists x|]; pose proof (P o (or_introl eq_refl)) as PO.
  assert (PM : passive M) by (intros a I; apply P; now right).
  destruct o; try destruct PO; cbn [app transcript stepping code label snd bind fold_left]; now apply IH.
Qed.

Lemma program_at i M o : passive M -> exists y, program domain i (M ++ [o]) = transcript [o] (y, prologue i M).
Proof. intro P; rewrite program_from; now apply laid. Qed.

Lemma program_result O i M o : passive M -> result O (program domain i (M ++ [o])) = result O (stepping o (prologue i M)).
Proof. intro P; destruct (program_at i M o P) as [y ->]; cbn [transcript snd]; rewrite result_bind; reflexivity. Qed.

Lemma program_needs O i M o : passive M -> needs O (program domain i (M ++ [o])) = needs O (stepping o (prologue i M)).
Proof. intro P; destruct (program_at i M o P) as [y ->]; cbn [transcript snd]; rewrite needs_bind; cbn [needs]; apply app_nil_r. Qed.

Lemma program_mean i M o F v : passive M -> (mean i (program domain i (M ++ [o])) F v == mean i (stepping o (prologue i M)) F v)%Q.
Proof. intro P; destruct (program_at i M o P) as [y ->]; cbn [transcript snd]; rewrite mean_bind; reflexivity. Qed.

Lemma open_at i M l c : passive M -> open_program domain i M l c = opening l c (prologue i M).
Proof.
  intro P; unfold open_program; rewrite program_from; destruct (laid [] M P [] (begun domain i no_key)) as [y E].
  rewrite app_nil_r in E; rewrite E; reflexivity.
Qed.

(** *** Where blocks are closed early *)

Lemma prologue_is i M : prologue i M = tape_run (fun s => s) (keyed (domain i) no_key M).
Proof.
  unfold prologue, tape_run, begun, keyed; generalize (text "key"), no_key; intros l key; cbn [fold_left]; f_equal; reflexivity.
Qed.

Lemma ready_prologue i M : ready (prologue i M).
Proof. rewrite prologue_is; apply ready_tape_run. Qed.

Lemma prologue_inj i M M' : i < users -> legal M -> legal M' -> prologue i M = prologue i M' -> M = M'.
Proof.
  intros U L L' E; rewrite !prologue_is in E; apply tape_injective in E; [now injection E|..];
    (constructor; [destruct (domains i U); unfold short, label_max; cbn [label]; lia|];
     constructor; [unfold short; vm_compute; lia|]; apply Forall_forall; intros o J).
  - now destruct (L o J).
  - now destruct (L' o J).
Qed.

Lemma passive_whole u M : length (cur u) < rate -> passive M -> forall t, ends u (closed (fold_left (tape_step (fun s => s)) M t)) -> ends u (closed t).
Proof.
  intro U; induction M as [|o M IH]; intros P t E; [exact E|]; cbn [fold_left] in E.
  apply IH in E; [|intros a I; apply P; now right]; pose proof (P o (or_introl eq_refl)) as PO; clear IH; unfold tape_step in E.
  destruct o as [d|l x|l n|l x|l x|l j x|l]; try destruct PO; cbn [body code label] in E.
  - now apply (ends_bytes _ U), (ends_header _ U) in E.
  - now apply (ends_bytes _ U (j :: x)), (ends_header _ U) in E.
Qed.

Lemma begun_whole u i : length (cur u) < rate -> ~ ends u (closed (begun domain i no_key)).
Proof.
  intros U E; assert (B : begun domain i no_key = feed (bytes no_key) (tape_header 2 (text "key") (tape_header 1 (domain i) blank)))
    by (unfold begun, keyed; generalize (text "key"), no_key; reflexivity).
  rewrite B in E; clear B; revert E; generalize no_key, (text "key"), (domain i); intros x l d E.
  apply (ends_bytes _ U), (ends_header _ U), (ends_header _ U) in E; now apply ends_nothing in E.
Qed.

Lemma prologue_whole u i M : length (cur u) < rate -> passive M -> ~ ends u (closed (prologue i M)).
Proof. intros U P E; apply (passive_whole u M U P) in E; now apply begun_whole in E. Qed.

(** The tape before the tag of a Seal. *)
Definition tagging (i : nat) (M : list op) (l x : list byte) : tape :=
  feed (bytes x) (feed1 (starting (Seal l x) (prologue i M)) Close).

Lemma starting_open o i M : length (cur (starting o (prologue i M))) < rate.
Proof. assert (W : wf (starting o (prologue i M))); [|apply W]; apply wf_feed, wf_tape_header, ready_prologue. Qed.

Lemma tagging_open i M l x : length (cur (tagging i M l x)) < rate.
Proof. assert (W : wf (tagging i M l x)); [|apply W]; apply wf_feed, wf_feed1, wf_feed, wf_tape_header, ready_prologue. Qed.

Lemma starting_whole u o i M : length (cur u) < rate -> passive M -> ~ ends u (closed (starting o (prologue i M))).
Proof. intros U P E; apply (ends_bytes _ U), (ends_header _ U) in E; now apply (prologue_whole u i M U P). Qed.

Lemma stepping_closes O u o i M : length (cur u) < rate -> passive M ->
  ends u (closed (snd (result O (stepping o (prologue i M))))) ->
  u = starting o (prologue i M) \/ exists l x, o = Seal l x /\ u = tagging i M l x.
Proof.
  intros U P; pose proof (starting_whole u o i M U P) as W.
  assert (S : forall y, ends u (closed (feed (bytes y) (feed1 (starting o (prologue i M)) Close))) -> u = starting o (prologue i M))
    by (intros y E; apply (ends_close _ U) in E as [E|E]; [contradiction|exact E]).
  unfold stepping, tagging; destruct o as [d|l x|l n|l x|l x|l j x|l]; unfold starting in *; cbn [code label size] in *; intro E.
  - contradiction.
  - cbn [result snd] in E; now apply (ends_bytes _ U) in E.
  - match type of E with context [squeezing n ?t] => destruct (squeezing_feeds O n t) as [y Y]; rewrite Y in E end; left; exact (S y E).
  - rewrite encrypting_feeds in E; left; exact (S x E).
  - revert E; generalize tag_length; intros k E; rewrite (result_bind _ (encrypting _ _)), (result_bind _ (squeezing k _)) in E; cbn [result snd] in E.
    rewrite encrypting_feeds in E.
    match type of E with context [squeezing k ?t] => destruct (squeezing_feeds O k t) as [y Y]; rewrite Y in E end.
    apply (ends_close _ U) in E as [E|E]; [left; exact (S x E)|right; eauto].
  - cbn [result snd] in E; now apply (ends_bytes _ U (j :: x)) in E.
  - cbn [result snd] in E; destruct (_ =? 0); [now apply (ends_bytes _ U) in E|left; exact (S _ E)].
Qed.

(** Questions that may be asked. *)
Definition fit (i : nat) (M : list op) (o : op) : Prop :=
  i < users /\ legal M /\ passive M /\ length (label o) <= label_max /\ alike o o.

Lemma starting_inj i M M' o o' : fit i M o -> fit i M' o' -> starting o (prologue i M) = starting o' (prologue i M') -> M = M' /\ alike o o'.
Proof.
  intros (U & L & _ & D & A) (_ & L' & _ & D' & A') E; unfold starting in E.
  apply header_injective in E as (C & LB & S & E); auto using ready_prologue, code_small.
  split; [now apply (prologue_inj i)|]; apply bytes_inj in S; destruct o, o'; cbn [code] in C; try discriminate C; cbn [alike label size] in *;
    try destruct A; try destruct A'; split || idtac; auto; now apply leb_inj in S.
Qed.

Lemma tagging_is i M l x : tagging i M l x = feed (bytes (leb (length x)) ++ Close :: bytes x) (tape_header 5 l (prologue i M)).
Proof. unfold tagging, starting; cbn [size code label]; now rewrite feed_close. Qed.

Lemma starting_tagging i M M' o l x : length (label o) <= label_max -> length l <= label_max -> starting o (prologue i M) <> tagging i M' l x.
Proof.
  intros L L' E; rewrite tagging_is in E; unfold starting in E.
  apply header_injective in E as (_ & _ & E & _); auto using ready_prologue, code_small; [|reflexivity]; now apply no_close in E.
Qed.

Lemma tagging_inj i M M' l l' x x' : i < users -> legal M -> legal M' -> length l <= label_max -> length l' <= label_max ->
  tagging i M l x = tagging i M' l' x' -> M = M' /\ l = l' /\ x = x'.
Proof.
  intros U L L' D D' E; rewrite !tagging_is in E.
  apply header_injective in E as (_ & -> & S & E); auto using ready_prologue; try reflexivity.
  apply split_at_close in S as [_ S]; apply bytes_inj in S; split; [now apply (prologue_inj i)|auto].
Qed.

(** ** What the table has *)

(** All that was answered is in the table, and no blocks after the place of a tag, unless for a Seal. *)
Definition given (h : history) (v : course) : Prop :=
  (forall i T y, In (i, T, y) h -> known i v (program domain i T) /\ fst (result (by_table i v) (program domain i T)) = y) /\
  (forall i M l x b r, fit i M (Seal l x) -> In (i, b, r) (map fst v) -> ends (tagging i M l x) (rev (b :: r)) ->
    In (i, M ++ [Seal l x]) (map fst h)).

(** Nor after a place where an output begins, unless for an answer. *)
Definition kept (h : history) (v : course) : Prop :=
  small_table v /\ given h v /\
  (forall i M o b r, fit i M o -> In (i, b, r) (map fst v) -> ends (starting o (prologue i M)) (rev (b :: r)) ->
    exists o', alike o o' /\ In (i, M ++ [o']) (map fst h)).

Lemma given_nothing : given [] [].
Proof. split; [intros i T y []|intros i M l x b r _ []]. Qed.

Lemma kept_nothing : kept [] [].
Proof. split; [discriminate|split; [apply given_nothing|intros i M o b r _ []]]. Qed.

Lemma new_ends u i b r bs w : In (i, b, r) (names i [] bs) -> ends u (rev (b :: r)) -> prefix bs w -> ends u w.
Proof.
  intros J E W; eapply prefix_trans; [exact E|]; eapply prefix_trans; [|exact W].
  apply names_in in J as [_ [z J]]; exists z; exact J.
Qed.

Section Asked.
Variables (h : history) (v v' : course) (i : nat) (M : list op) (o : op).
Hypothesis P : passive M.
Hypothesis R : reached i (program domain i (M ++ [o])) v v'.
Notation now_answered := ((i, M ++ [o], fst (result (by_table i v') (program domain i (M ++ [o])))) :: h).

Lemma new_closes u j b r : length (cur u) < rate -> In (j, b, r) (map fst v') -> ends u (rev (b :: r)) ->
  In (j, b, r) (map fst v) \/ j = i /\ (u = starting o (prologue i M) \/ exists l x, o = Seal l x /\ u = tagging i M l x).
Proof.
  destruct R as (_ & _ & _ & NEW); intros LU J E; apply NEW in J as [J|(bs & B & J)]; [now left|right].
  pose proof (names_in _ _ _ _ _ _ J) as [-> _]; split; [reflexivity|].
  rewrite program_needs in B by exact P; destruct (within_stepping (by_table i v') o (prologue i M)) as [_ W].
  apply (stepping_closes (by_table i v') u o i M); auto; destruct (W bs B) as [_ Q]; now apply (new_ends u i b r bs).
Qed.

Lemma given_more : given h v -> i < users -> legal M -> length (label o) <= label_max -> given now_answered v'.
Proof.
  intros [K1 K3] U L D; pose proof R as (MV & KN & _); split.
  - intros j T y [E|J]; [injection E as <- <- <-; auto|].
    destruct (K1 j T y J) as [KJ RJ]; destruct (result_known j v v' _ MV KJ) as [-> K']; auto.
  - intros j N l x b r FT J E; pose proof (tagging_open j N l x) as LU.
    destruct (new_closes _ j b r LU J E) as [J'|(-> & [X|(l' & x' & EO & X)])].
    + right; exact (K3 j N l x b r FT J' E).
    + exfalso; symmetry in X; revert X; apply starting_tagging; [exact D|apply FT].
    + rewrite EO in D; apply tagging_inj in X as (-> & -> & ->); auto; try apply FT; rewrite EO; now left.
Qed.

Lemma kept_more : kept h v -> fit i M o -> kept now_answered v'.
Proof.
  intros (K0 & K & K2) FT; pose proof FT as (U & L & _ & D & _); split; [now apply R|split; [now apply given_more|]].
  intros j N o' b r FT' J E; pose proof (starting_open o' j N) as LU.
  destruct (new_closes _ j b r LU J E) as [J'|(-> & [X|(l & x & EO & X)])].
  - destruct (K2 j N o' b r FT' J' E) as (o2 & A2 & I2); exists o2; split; [exact A2|now right].
  - apply (starting_inj i N M o' o FT' FT) in X as [-> X]; exists o; split; [exact X|now left].
  - exfalso; rewrite EO in D; revert X; apply starting_tagging; [apply FT'|exact D].
Qed.
End Asked.

(** Unmask closes a block early only where its key stream begins. *)
Lemma unmask_at i M l c : passive M -> unmask_program domain i M l c = unmasking l c (prologue i M).
Proof.
  intro P; unfold unmask_program; rewrite program_from; destruct (laid [] M P [] (begun domain i no_key)) as [y E].
  rewrite app_nil_r in E; rewrite E; reflexivity.
Qed.

Lemma unmask_closes O u i M l c bs b r : length (cur u) < rate -> passive M -> In bs (needs O (unmask_program domain i M l c)) ->
  In (i, b, r) (names i [] bs) -> ends u (rev (b :: r)) -> u = starting (Mask l []) (prologue i M).
Proof.
  intros U P B J E; rewrite (unmask_at i M l c P) in B; destruct (within_unmasking O l c (prologue i M)) as [_ W].
  destruct (W bs B) as [_ Q]; unfold unmasking in Q.
  destruct (decrypting_feeds O c (feed1 (tape_header 4 l (prologue i M)) Close)) as (TT & _ & _); rewrite TT in Q.
  pose proof (new_ends _ i b r bs _ J E Q) as X; apply (ends_close _ U) in X as [X|X]; [|exact X].
  now destruct (starting_whole u (Mask l []) i M U P).
Qed.

(** A question that clashes with none is about blocks that nobody has asked for. *)
Lemma question_fresh h v i M o : kept h v -> fit i M o ->
  (forall S, In (i, S) (map fst h) -> clash (M ++ [o]) S -> False) -> fresh i (closed (feed1 (starting o (prologue i M)) Close)) v.
Proof.
  intros (_ & _ & K2) FT N b r J E; destruct (K2 i M o b r FT J E) as (o' & A & I); apply (N _ I); exists M, o, o'; auto.
Qed.

(** ** Tags that nobody made *)

Definition guess : Q := 1 / inject_Z (2 ^ 128).

Lemma guess_nonneg n : (0 <= nat_q n * guess)%Q.
Proof. apply Qmult_le_0_compat; [apply nat_q_nonneg|discriminate]. Qed.

Lemma one_of_tags tag : (average (fun g => indicator (if bytes_dec g tag then true else false)) (strings tag_length) <= guess)%Q.
Proof.
  assert (T : (nat_q (length (strings tag_length)) == inject_Z (2 ^ 128))%Q).
  { unfold nat_q; rewrite strings_length, Nat2Z.inj_pow; change (Z.of_nat 256) with (2 ^ 8)%Z; change (Z.of_nat tag_length) with 16%Z.
    rewrite <- Z.pow_mul_r by lia; reflexivity. }
  unfold guess; rewrite <- T; apply average_few; [apply strings_once|].
  intros a b _ _; destruct (bytes_dec a tag), (bytes_dec b tag); congruence.
Qed.

Lemma opening_mean i l c t F v : (mean i (opening l c t) F v ==
  mean i (decrypting c (feed1 (starting (Seal l c) t) Close)) (fun r =>
    mean i (squeezing tag_length (feed1 (snd r) Close)) (fun q => F (fst r ++ fst q, snd q))) v)%Q.
Proof.
  unfold opening, starting; cbn [code label size]; generalize tag_length; intro k; rewrite (mean_bind i (decrypting _ _)).
  apply mean_ext; intros r w; rewrite (mean_bind i (squeezing k _)); reflexivity.
Qed.

Lemma opening_result O l c t : result O (opening l c t) =
  let r := result O (decrypting c (feed1 (starting (Seal l c) t) Close)) in
  let q := result O (squeezing tag_length (feed1 (snd r) Close)) in (fst r ++ fst q, snd q).
Proof.
  unfold opening, starting; cbn [code label size]; generalize tag_length; intro k.
  rewrite (result_bind _ (decrypting _ _)), (result_bind _ (squeezing k _)); reflexivity.
Qed.

Lemma opening_needs O l c t : needs O (opening l c t) =
  needs O (decrypting c (feed1 (starting (Seal l c) t) Close)) ++
  needs O (squeezing tag_length (feed1 (snd (result O (decrypting c (feed1 (starting (Seal l c) t) Close)))) Close)).
Proof.
  unfold opening, starting; cbn [code label size]; generalize tag_length; intro k.
  rewrite (needs_bind _ (decrypting _ _)), (needs_bind _ (squeezing k _)); cbn [needs]; now rewrite app_nil_r.
Qed.

Definition accepted {A} (x : option A) : bool := match x with Some _ => true | None => false end.

Lemma open_new h v i M l c tag : given h v -> fit i M (Seal l c) -> unsealed i M l (c ++ tag) h = None ->
  (mean i (opening l c (prologue i M)) (fun r _ => indicator (accepted (taken c tag (fst r)))) v <= guess)%Q.
Proof.
  intros K FT NO; pose proof FT as (U & L & P & D & _); pose proof K as [K1 K3].
  assert (G0 : (0 <= guess)%Q) by discriminate.
  rewrite opening_mean; set (t := feed1 (starting (Seal l c) (prologue i M)) Close).
  apply Qle_trans with (mean i (decrypting c t) (fun _ _ => 0) v + guess)%Q; [|rewrite mean_const; lra].
  apply mean_within; [exact G0|]; intros v1 (MV & KN & _ & NEW).
  destruct (decrypting_feeds (by_table i v1) c t) as (T1 & LX & EN); set (x := fst (result (by_table i v1) (decrypting c t))) in *.
  assert (TS : starting (Seal l x) (prologue i M) = starting (Seal l c) (prologue i M)) by (unfold starting; cbn [size code label]; now rewrite LX).
  assert (TT : snd (result (by_table i v1) (decrypting c t)) = tagging i M l x) by (rewrite T1; unfold tagging; now rewrite TS).
  rewrite TT in *; fold x; set (u := feed1 (tagging i M l x) Close).
  assert (FX : fit i M (Seal l x)) by (split; [exact U|split; [exact L|split; [exact P|split; [exact D|cbn; auto]]]]).
  destruct (in_dec (fun a b : nat * list op => ltac:(decide equality; [apply list_eq_dec, op_eq_dec|apply Nat.eq_dec]) : {a = b} + {a <> b})
    (i, M ++ [Seal l x]) (map fst h)) as [I|NI].
  - apply in_map_iff in I as ([[j S] y] & E & I); cbn [fst] in E; injection E as -> ->.
    destruct (K1 _ _ _ I) as [KP RP]; destruct (result_known i v v1 _ MV KP) as [RE KP1]; rewrite <- RE in RP; clear RE.
    rewrite program_result, seal_result in RP by exact P; cbv zeta in RP; rewrite TS in RP; fold t in RP; rewrite EN in RP; cbn [fst snd] in RP.
    fold u in RP; assert (KS : known i v1 (squeezing tag_length u)).
    { intros bs B; apply KP1; rewrite program_needs, seal_needs by exact P; apply in_or_app; right; rewrite TS; fold t; rewrite EN; exact B. }
    rewrite mean_known by exact KS; set (g := fst (result (by_table i v1) (squeezing tag_length u))) in *; cbn [fst].
    destruct (taken c tag (x ++ g)) as [z|] eqn:TK; apply taken_none in TK; try exact LX; cbn [accepted].
    + exfalso; destruct TK as [[_ ->]|TK]; [|discriminate]; rewrite <- RP in I; exact (unsealed_none _ _ _ _ _ NO _ I).
    + unfold indicator; lra.
  - rewrite squeezing_emits.
    rewrite (emitted_uniform i (fun g => indicator (accepted (taken c tag (x ++ g)))) _ u v1); [|apply squeezed_ok|reflexivity|apply close_not_nil|].
    + rewrite emitted_squeezed, Qplus_0_l; eapply Qle_trans; [|apply (one_of_tags tag)].
      apply average_le; intros g _; destruct (taken c tag (x ++ g)) as [z|] eqn:TK; apply taken_none in TK; try exact LX; cbn [accepted].
      * destruct TK as [[_ ->]|TK]; [|discriminate]; destruct (bytes_dec tag tag); [apply Qle_refl|congruence].
      * unfold indicator; destruct (bytes_dec g tag); discriminate.
    + intros b r J E; apply NEW in J as [J|(bs & B & J)]; [now apply NI, (K3 i M l x b r)|].
      destruct (within_decrypting (by_table i v1) c t) as [_ W]; destruct (W bs B) as [_ Q]; rewrite TT in Q.
      pose proof (new_ends _ i b r bs _ J E Q) as E'; pose proof (tagging_open i M l x) as O.
      unfold tagging in E' at 2; apply (ends_close _ O) in E' as [E'|E']; [now apply (starting_whole _ _ i M O P) in E'|].
      symmetry in E'; revert E'; now apply starting_tagging.
Qed.

Lemma open_old h v i M l c tag x : given h v -> passive M -> length tag = tag_length -> unsealed i M l (c ++ tag) h = Some x ->
  known i v (opening l c (prologue i M)) /\ taken c tag (fst (result (by_table i v) (opening l c (prologue i M)))) = Some x.
Proof.
  intros [K1 _] P LT E; apply unsealed_some in E; destruct (K1 _ _ _ E) as [KP RP].
  rewrite program_result, seal_result in RP by exact P; cbv zeta in RP; cbn [fst] in RP.
  assert (KN : forall bs, In bs (needs (by_table i v) (stepping (Seal l x) (prologue i M))) -> incl (names i [] bs) (map fst v))
    by (intros bs B; apply KP; now rewrite program_needs).
  rewrite seal_needs in KN; set (t := feed1 (starting (Seal l x) (prologue i M)) Close) in *.
  destruct (result (by_table i v) (encrypting x t)) as [c' u] eqn:EN; cbn [fst snd] in *.
  set (g := fst (result (by_table i v) (squeezing tag_length (feed1 u Close)))) in *.
  assert (LG : length g = length tag) by (rewrite LT; apply squeezing_length).
  apply (f_equal (@rev byte)) in RP as RR; rewrite !rev_app_distr in RR; apply app_split in RR as [RR _]; [|now rewrite !rev_length].
  apply (f_equal (@rev byte)) in RR; rewrite !rev_involutive in RR; rewrite RR in RP; apply app_inv_tail in RP; subst c'.
  destruct (decrypt_back _ x t c u EN) as [DE DN]; pose proof (decrypting_feeds (by_table i v) c t) as (_ & LX & _); rewrite DE in LX; cbn [fst] in LX.
  assert (TS : t = feed1 (starting (Seal l c) (prologue i M)) Close) by (unfold t, starting; cbn [size code label]; now rewrite LX).
  split.
  - intros bs B; rewrite opening_needs, <- TS, DE, DN in B; cbn [snd] in B; now apply KN.
  - rewrite opening_result; cbv zeta; rewrite <- TS, DE; cbn [fst snd]; fold g.
    unfold taken; rewrite <- LX, firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all; cbn [firstn skipn app]; rewrite app_nil_r.
    destruct (list_eq_dec N.eq_dec g tag); [reflexivity|congruence].
Qed.

(** ** One question *)

Lemma mean_until {A} p i (r : prog A) (f : A -> @BoundKeyed.tree (list byte) (list byte) block) (bad : A -> bool) T v :
  (forall a, bad a = false -> f a = T) ->
  near (mean i r (fun a => chance p (f a)) v) (chance p T v) (mean i r (fun a _ => indicator (bad a)) v).
Proof.
  intro H; rewrite <- (mean_forget i r _ v (lazy_chance p T)).
  assert (B : forall a w, (0 <= chance p (f a) w <= 1 /\ 0 <= chance p T w <= 1)%Q) by (split; apply chance_bounds).
  split; rewrite <- mean_plus;
    (match goal with |- (?x <= ?y)%Q => apply Qle_trans with (y + 0)%Q; [|lra] end; apply mean_within; [lra|]; intros w _;
     destruct (bad _) eqn:E; unfold indicator; [specialize (B (result (by_table i w) r) w); lra|rewrite (H _ E); lra]).
Qed.

Section One.
Variable p : @graph (list byte).
Variables (h : history) (v : course) (i : nat).
Hypothesis KEPT : kept h v.
Variable k : list byte -> @BoundKeyed.tree (list byte) (list byte) block.
Notation used T := (chance p (ask i (program domain i T) (fun r => k (fst r))) v).

(** It was asked before. *)
Lemma use_old T y : In (i, T, y) h -> (used T == chance p (k y) v)%Q.
Proof. intro I; destruct (proj1 (proj1 (proj2 KEPT)) _ _ _ I) as [KN <-]; rewrite chance_ask; now apply (mean_known i (fun r => chance p (k (fst r)))). Qed.

Lemma kept_in T y : legal T -> In (i, T, y) h -> In y (strings (out_length (last T (Init [])))).
Proof.
  intros L I; destruct (proj1 (proj1 (proj2 KEPT)) _ _ _ I) as [_ <-]; rewrite program_from.
  apply transcript_in; [apply by_table_small, KEPT|exact L].
Qed.

(** It clashes with none before: the answer is uniform. *)
Variables (M : list op) (o : op).
Hypothesis FIT : fit i M o.
Hypothesis SMALL : small (data o).
Hypothesis NEW : forall S, In (i, S) (map fst h) -> clash (M ++ [o]) S -> False.

Lemma use_mostly J bad c e : (0 <= c)%Q -> (average (fun y => indicator (bad y)) (strings (out_length o)) <= e)%Q ->
  (forall y v', In y (strings (out_length o)) -> kept ((i, M ++ [o], y) :: h) v' -> more v v' ->
    near (chance p (k y) v') (J y) (c + indicator (bad y))) ->
  near (used (M ++ [o])) (average J (strings (out_length o))) (c + e).
Proof.
  intros C B H; pose proof FIT as (_ & _ & P & _ & A); pose proof (question_fresh h v i M o KEPT FIT NEW) as FR.
  assert (UNI : forall G, (mean i (program domain i (M ++ [o])) (fun r _ => G (fst r)) v == average G (strings (out_length o)))%Q)
    by (intro G; rewrite program_mean by exact P; now apply stepping_uniform).
  assert (H' : forall v', reached i (program domain i (M ++ [o])) v v' ->
    let y := fst (result (by_table i v') (program domain i (M ++ [o]))) in near (chance p (k y) v') (J y) (c + indicator (bad y))).
  { intros v' RV; pose proof (kept_more h v v' i M o P RV KEPT FIT) as K; apply H; [|exact K|apply RV].
    rewrite program_result by exact P; apply stepping_in; [apply by_table_small, K|exact SMALL]. }
  pose proof (UNI (fun y => indicator (bad y))) as UB; cbv beta in UB; rewrite chance_ask, <- (UNI J); split.
  - apply Qle_trans with (mean i (program domain i (M ++ [o])) (fun r _ => J (fst r) + indicator (bad (fst r))) v + c)%Q.
    + apply mean_within; [exact C|]; intros v' RV; destruct (H' v' RV); lra.
    + rewrite mean_plus; lra.
  - apply Qle_trans with (mean i (program domain i (M ++ [o])) (fun r w => chance p (k (fst r)) w + indicator (bad (fst r))) v + c)%Q.
    + apply mean_within; [exact C|]; intros v' RV; destruct (H' v' RV); lra.
    + rewrite (mean_plus i _ (fun r => chance p (k (fst r))) (fun r _ => indicator (bad (fst r)))); lra.
Qed.

Lemma use_new J c : (0 <= c)%Q ->
  (forall y v', In y (strings (out_length o)) -> kept ((i, M ++ [o], y) :: h) v' -> more v v' -> near (chance p (k y) v') (J y) c) ->
  near (used (M ++ [o])) (average J (strings (out_length o))) c.
Proof.
  intros C H; rewrite <- (Qplus_0_r c); apply (use_mostly J (fun _ => false)); [exact C|rewrite average_zero; [apply Qle_refl|reflexivity]|].
  intros y v' Y K MV; apply (near_more _ _ c); [unfold indicator; lra|now apply H].
Qed.

(** It makes a difference only where a uniform answer is bad. *)
Lemma use_unseen bad T c : (forall y, bad y = false -> k y = T) ->
  (average (fun y => indicator (bad y)) (strings (out_length o)) <= c)%Q -> near (used (M ++ [o])) (chance p T v) c.
Proof.
  intros H B; pose proof FIT as (_ & _ & P & _ & A); pose proof (question_fresh h v i M o KEPT FIT NEW) as FR.
  rewrite <- (stepping_uniform i o (prologue i M) _ v A SMALL FR), <- program_mean in B by exact P.
  apply (near_more _ _ _ _ B); rewrite chance_ask.
  apply (mean_until p i (program domain i (M ++ [o])) (fun r => k (fst r)) (fun r => bad (fst r))); auto.
Qed.
End One.

Lemma legal_fit i M o : i < users -> legal (M ++ [o]) -> passive M -> alike o o -> fit i M o /\ small (data o).
Proof.
  intros U L P A; destruct (L o) as (LO & _ & SD); [apply in_or_app; right; now left|].
  split; [split; [exact U|split; [intros e J; apply L, in_or_app; now left|auto]]|exact SD].
Qed.

(** ** The theorem *)

Lemma unperm_states p y : In p all_permutations -> is_state y -> is_state (perm_inverse p y).
Proof. intros IP Y; apply in_states; apply in_states in Y; exact (inverse_in bytes_dec states states_once p IP y Y). Qed.

Theorem fair_near p A : In p all_permutations -> forall q m n h v, affords users domain q m A -> apart (map fst h) A -> opens n A -> kept h v ->
  near (chance p (compiled domain A) v) (fair p h A) (nat_q n * guess).
Proof.
  intro IP; induction A as [r|x k IH|y k IH|i T k IH|i M l c tag k IH|i M l c k IH]; intros q m n h v F AP OP K; cbn [compiled affords apart opens fair] in *.
  - unfold near; cbn [ideal]; pose proof (guess_nonneg n); lra.
  - destruct F as [X F], q as [|q]; [destruct F|]; exact (IH _ q m n h v (F _ (perm_states p IP x X)) (AP _) (OP _) K).
  - destruct F as [X F], q as [|q]; [destruct F|]; exact (IH _ q m n h v (F _ (unperm_states p y IP X)) (AP _) (OP _) K).
  - destruct F as (U & L & a & m' & _ & _ & F), AP as [(M & o & -> & P & A) [D AP]].
    destruct (legal_fit i M o U L P A) as [FT SD]; destruct (recall i (M ++ [o]) h) as [y|] eqn:R.
    + apply recall_some in R; rewrite (use_old p h v i K (fun y => compiled domain (k y)) _ y R).
      pose proof (kept_in h v i K _ y L R) as Y.
      apply (IH _ q m' n); auto; eapply apart_less; [|now apply AP]; intros e J; now right.
    + rewrite last_last; apply (use_new p h v i K (fun y => compiled domain (k y)) M o FT SD); [|apply guess_nonneg|].
      * intros S J C; rewrite (D S J C) in J; apply in_map_iff in J as ([e y] & E & J); cbn [fst] in E; subst e.
        exact (recall_none _ _ _ R y J).
      * intros y v' Y K' _; apply (IH _ q m' n); [apply F; now rewrite last_last|apply AP|apply OP|exact K'].
  - destruct F as (U & L & (LL & _ & SC) & a & m' & _ & _ & N & F), AP as (P & LT & AP), n as [|n]; [destruct OP|].
    rewrite chance_ask, (open_at i M l c P); destruct (unsealed i M l (c ++ tag) h) as [x|] eqn:E.
    + destruct (open_old h v i M l c tag x (proj1 (proj2 K)) P LT E) as [KN R].
      pose proof (opening_in _ (by_table_small i v (proj1 K)) _ _ _ _ _ SC R) as X; rewrite mean_known, R by exact KN.
      apply (near_more _ _ (nat_q n * guess)); [rewrite nat_q_S; pose proof (guess_nonneg 1); change (nat_q 1) with 1%Q in *; lra|].
      apply (IH _ q m' n); auto.
    + assert (FT : fit i M (Seal l c)) by (split; [exact U|split; [exact L|split; [exact P|split; [exact LL|cbn; auto]]]]).
      apply (near_more _ _ (guess + nat_q n * guess)); [rewrite nat_q_S; lra|].
      apply (near_trans _ (chance p (compiled domain (k None)) v)); [|now apply (IH _ q m' n)].
      apply (near_more _ _ _ _ (open_new h v i M l c tag (proj1 (proj2 K)) FT E)).
      apply (mean_until p i (opening l c (prologue i M)) (fun r => compiled domain (k (taken c tag (fst r))))
        (fun r => accepted (taken c tag (fst r)))).
      intros r; destruct (taken c tag (fst r)); [discriminate|reflexivity].
  - destruct AP.
Qed.

Theorem questions_random A q m n : affords users domain q m A -> apart [] A -> opens n A ->
  (Qabs (really users domain A - fairly A) <= nat_q n / inject_Z (2 ^ 128) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros F AP OP; pose proof (answers_random users domain domains A q m F) as R; apply Qabs_Qle_condition in R as [R1 R2].
  assert (E : (nat_q n / inject_Z (2 ^ 128) == nat_q n * guess)%Q) by (unfold guess; field; discriminate).
  assert (N : near (ideally domain A) (fairly A) (nat_q n * guess)).
  { pose proof (fun p I => fair_near p A I q m n [] [] F AP OP kept_nothing) as N; pose proof (guess_nonneg n).
    split; apply average_within; auto; intros p I; now apply N. }
  destruct N; rewrite E; apply Qabs_Qle_condition; split; lra.
Qed.
End Users.

Corollary questions_random_2_128 users domain A q m n : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m A -> apart [] A -> opens n A -> (z (q + m) <= 2 ^ 64)%Z ->
  (Qabs (really users domain A - fairly A) <= nat_q (S n) / inject_Z (2 ^ 128))%Q.
Proof.
  intros D F AP OP H; eapply Qle_trans; [exact (questions_random users domain D A q m n F AP OP)|].
  assert (E : (nat_q (S n) / inject_Z (2 ^ 128) == nat_q n / inject_Z (2 ^ 128) + 1 / inject_Z (2 ^ 128))%Q)
    by (rewrite nat_q_S; field; discriminate).
  rewrite E; apply Qplus_le_compat; [apply Qle_refl|]; now apply below_2_128.
Qed.
