(** * BoundForgery: tags that nobody made are not accepted

    In the ideal world of BoundSecret.v an outer part that was asked for and not looked at may as well be chosen later
    ([asked_later]).  So each try to open something that no Seal has made meets a tag that is still to be chosen. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret BoundNonces.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Local Notation chance := (ideal bytes_dec block_dec (strings (rate + 2))).
Local Notation lookup := (found block_dec).
Local Notation game := (@tree (list byte) (list byte) block).
Local Notation course := (@table (list byte) block).

(** ** What is chosen, and when *)

Section Lazy.
Variable p : @graph (list byte).

Lemma chance_ext (t : game) : forall v v', (forall n, lookup n v = lookup n v') -> (chance p t v == chance p t v')%Q.
Proof.
  induction t as [r|x k IH|y k IH|i b bs k IH]; intros v v' E; cbn [ideal]; auto; [reflexivity|].
  rewrite <- E; destruct (lookup (i, b, bs) v) as [o|]; [now apply IH|].
  apply average_ext; intros o _; apply IH; intro n; cbn [found]; destruct (place_dec block_dec n _); auto.
Qed.

(** An outer part that nobody has asked for is uniform and independent of the course so far: the game goes on as if it
    had been chosen before, from all. *)
Theorem asked_later (t : game) : forall n v, lookup n v = None ->
  (average (fun o => chance p t ((n, o) :: v)) (strings (rate + 2)) == chance p t v)%Q.
Proof.
  induction t as [r|x k IH|y k IH|i b bs k IH]; intros n v N; cbn [ideal].
  - apply average_const, some_strings.
  - now apply IH.
  - now apply IH.
  - destruct (place_dec block_dec (i, b, bs) n) as [<-|D].
    + rewrite N; apply average_ext; intros o _; cbn [found]; destruct (place_dec block_dec _ _); [reflexivity|congruence].
    + assert (F : forall o, lookup (i, b, bs) ((n, o) :: v) = lookup (i, b, bs) v)
        by (intro o; cbn [found]; destruct (place_dec block_dec _ _); [congruence|reflexivity]).
      destruct (lookup (i, b, bs) v) as [o1|] eqn:E.
      * transitivity (average (fun o => chance p (k o1) ((n, o) :: v)) (strings (rate + 2))); [|now apply IH].
        apply average_ext; intros o _; rewrite F; reflexivity.
      * transitivity (average (fun o => average (fun o1 => chance p (k o1) ((n, o) :: ((i, b, bs), o1) :: v))
          (strings (rate + 2))) (strings (rate + 2))).
        -- apply average_ext; intros o _; rewrite F; apply average_ext; intros o1 _; apply chance_ext; intro n'.
           cbn [found]; destruct (place_dec block_dec n' (i, b, bs)), (place_dec block_dec n' n); congruence.
        -- rewrite average_swap; apply average_ext; intros o1 _; apply IH; cbn [found].
           destruct (place_dec block_dec n (i, b, bs)); [congruence|exact N].
Qed.

Lemma chance_bounds (t : game) : forall v, (0 <= chance p t v <= 1)%Q.
Proof.
  induction t as [r|x k IH|y k IH|i b bs k IH]; intro v; cbn [ideal]; auto.
  - destruct r; split; discriminate.
  - destruct (lookup _ v); auto; split; [apply average_nonneg|apply average_below; [discriminate|]]; intros; apply IH.
Qed.

(** *** Programs *)

Lemma more_refl v : more v v.
Proof. intros n o; auto. Qed.
Lemma more_trans u v w : more u v -> more v w -> more u w.
Proof. intros A B n o E; auto. Qed.

Lemma more_new n o v : lookup n v = None -> more v ((n, o) :: v).
Proof. intros E x y Y; cbn [found]; destruct (place_dec block_dec x n) as [->|]; [congruence|exact Y]. Qed.

Lemma more_in v v' : more v v' -> incl (map fst v) (map fst v').
Proof.
  intros M n I; destruct (lookup n v) as [o|] eqn:E; [|destruct (found_none _ _ _ E I)].
  apply M in E; now apply found_some in E.
Qed.

Lemma by_table_snoc i v bs b : by_table i v (bs ++ [b]) = match lookup (i, b, rev bs) v with Some o => o | None => [] end.
Proof. unfold by_table; now rewrite rev_app_distr. Qed.

Lemma names_last i bs b : In (i, b, rev bs) (names i [] (bs ++ [b])).
Proof. rewrite names_app, app_nil_r; apply in_or_app; right; now left. Qed.

Lemma by_table_known i v v' bs : more v v' -> incl (names i [] bs) (map fst v) -> by_table i v' bs = by_table i v bs.
Proof.
  intros M I; destruct bs as [|b bs _] using rev_ind; [reflexivity|]; rewrite !by_table_snoc.
  destruct (lookup (i, b, rev bs) v) as [o|] eqn:E; [now rewrite (M _ _ E)|].
  destruct (found_none _ _ _ E (I _ (names_last i bs b))).
Qed.

Definition known {A} (i : nat) (v : course) (r : prog A) : Prop :=
  forall bs, In bs (needs (by_table i v) r) -> incl (names i [] bs) (map fst v).

Lemma result_known {A} i v v' (r : prog A) : more v v' -> known i v r ->
  result (by_table i v') r = result (by_table i v) r /\ known i v' r.
Proof.
  intro M; induction r as [a|bs f IH]; intro K; [split; [reflexivity|intros bs []]|].
  assert (E : by_table i v' bs = by_table i v bs) by (apply by_table_known; [exact M|apply K; now left]).
  destruct (IH (by_table i v bs)) as [R K']; [intros cs I; apply K; now right|].
  split; cbn [result]; rewrite ?E; [exact R|]; intros cs I; cbn [needs] in I; rewrite E in I; destruct I as [<-|I]; [|now apply K'].
  intros n J; apply (more_in v v' M), (K bs); [now left|exact J].
Qed.

Local Notation arrives i above bs o v := (match bs%list with [] => o | _ => by_table i v (rev above ++ bs) end).

Lemma arrives_first i above b bs o o1 v : lookup (i, b, above) v = Some o1 ->
  arrives i above (b :: bs) o v = arrives i (b :: above) bs o1 v.
Proof.
  intro E; destruct bs as [|b2 bs].
  - rewrite by_table_snoc, rev_involutive, E; reflexivity.
  - cbn [rev]; now rewrite <- app_assoc.
Qed.

Lemma walk_below c i k bs : (0 <= c)%Q -> forall above o v,
  (forall v', more v v' -> (forall n, In n (map fst v') -> In n (map fst v) \/ In n (names i above bs)) ->
    incl (names i above bs) (map fst v') -> (chance p (k (arrives i above bs o v')) v' <= c)%Q) ->
  (chance p (walk i above bs o k) v <= c)%Q.
Proof.
  intro C; induction bs as [|b bs IH]; intros above o v H; cbn [walk].
  - apply (H v); [apply more_refl|auto|intros x []].
  - assert (G : forall o1 v1, more v v1 -> lookup (i, b, above) v1 = Some o1 ->
      (forall n, In n (map fst v1) -> In n (map fst v) \/ n = (i, b, above)) -> (chance p (walk i (b :: above) bs o1 k) v1 <= c)%Q).
    { intros o1 v1 M1 E N1; apply IH; intros v' M N I; rewrite <- (arrives_first i above b bs o o1 v' (M _ _ E)).
      apply H; [eapply more_trans; eauto| |].
      - intros n J; apply N in J as [J|J]; [apply N1 in J as [J| ->]; [now left|right; now left]|right; now right].
      - intros n [<-|J]; [exact (found_some _ _ _ _ (M _ _ E))|now apply I]. }
    cbn [ideal]; destruct (lookup (i, b, above) v) as [o1|] eqn:E; [apply (G o1 v); auto using more_refl|].
    apply average_below; [exact C|]; intros o1 _; apply G; [now apply more_new| |].
    + cbn [found]; destruct (place_dec block_dec _ _); congruence.
    + intros n [<-|J]; [now right|now left].
Qed.

Lemma ask_below {A} c i k (r : prog A) : (0 <= c)%Q -> forall v,
  (forall v', more v v' -> (forall n, In n (map fst v') -> In n (map fst v) \/
      exists bs, In bs (needs (by_table i v') r) /\ In n (names i [] bs)) ->
    known i v' r -> (chance p (k (result (by_table i v') r)) v' <= c)%Q) -> (chance p (ask i r k) v <= c)%Q.
Proof.
  intro C; induction r as [a|bs f IH]; intros v H; cbn [ask].
  - apply (H v); [apply more_refl|auto|intros bs []].
  - apply walk_below; [exact C|]; intros v1 M1 N1 I1.
    replace (arrives i [] bs [] v1) with (by_table i v1 bs) by (now destruct bs); apply IH; intros v' M N K.
    pose proof (by_table_known i v1 v' bs M I1) as S; specialize (H v'); cbn [needs result] in H; rewrite S in H; apply H.
    + eapply more_trans; eauto.
    + intros n J; apply N in J as [J|(cs & J & L)]; [apply N1 in J as [J|J]; [now left|]|]; right.
      * exists bs; split; [now left|exact J].
      * exists cs; split; [now right|exact L].
    + intros cs J; cbn [needs] in J; rewrite S in J; destruct J as [<-|J]; [|now apply K].
      intros n L; apply (more_in _ _ M), I1, L.
Qed.

Lemma walk_known i k bs : forall above o v, incl (names i above bs) (map fst v) ->
  (chance p (walk i above bs o k) v == chance p (k (arrives i above bs o v)) v)%Q.
Proof.
  induction bs as [|b bs IH]; intros above o v I; cbn [walk]; [reflexivity|]; cbn [ideal].
  destruct (lookup (i, b, above) v) as [o1|] eqn:E; [|destruct (found_none _ _ _ E (I _ (or_introl eq_refl)))].
  rewrite IH by (intros n J; apply I; now right); now rewrite (arrives_first i above b bs o o1 v E).
Qed.

Lemma ask_known {A} i k v (r : prog A) : known i v r -> (chance p (ask i r k) v == chance p (k (result (by_table i v) r)) v)%Q.
Proof.
  induction r as [a|bs f IH]; intro K; cbn [ask]; [reflexivity|]; rewrite walk_known by (apply K; now left).
  replace (arrives i [] bs [] v) with (by_table i v bs) by (now destruct bs); apply IH; intros cs J; apply K; now right.
Qed.

Lemma walk_ext i k k' bs : (forall o v, chance p (k o) v == chance p (k' o) v)%Q -> forall above o v,
  (chance p (walk i above bs o k) v == chance p (walk i above bs o k') v)%Q.
Proof.
  intro H; induction bs as [|b bs IH]; intros above o v; cbn [walk ideal]; [apply H|].
  destruct (lookup _ v); [apply IH|]; apply average_ext; intros; apply IH.
Qed.

Lemma ask_bind {A B} i (q : prog A) (f : A -> prog B) k : forall v,
  (chance p (ask i (bind q f) k) v == chance p (ask i q (fun a => ask i (f a) k)) v)%Q.
Proof. induction q as [a|bs g IH]; intro v; [reflexivity|]; cbn [bind ask]; apply walk_ext; intros; apply IH. Qed.

Lemma walk_last i k b bs : forall above o v,
  (chance p (walk i above (bs ++ [b]) o k) v == chance p (walk i above bs o (fun _ => Visit i b (rev bs ++ above) k)) v)%Q.
Proof.
  induction bs as [|a bs IH]; intros above o v; [reflexivity|]; cbn [walk app rev ideal]; rewrite <- app_assoc.
  destruct (lookup _ v); [apply IH|]; apply average_ext; intros; apply IH.
Qed.
End Lazy.

(** ** Blocks that end early *)

(** Only a [Close] makes a block shorter than the rate: the list of blocks closed at [u] is nobody else's. *)
Local Notation ends u bs := (prefix (closed (feed1 u Close)) bs).

Lemma prefix_snoc {A} (x y : list A) a : prefix x (y ++ [a]) -> prefix x y \/ x = y ++ [a].
Proof.
  intros [w E]; destruct w as [|b w _] using rev_ind; [right; now rewrite app_nil_r in E|].
  rewrite app_assoc in E; apply app_inj_tail in E as [-> _]; left; eexists; reflexivity.
Qed.

Section Ends.
Variable u : tape.
Hypothesis U : length (cur u) < rate.

Lemma ends_byte b h : ends u (closed (feed1 h (Byte b))) -> ends u (closed h).
Proof.
  cbn [feed1]; destruct (Nat.eqb_spec (length (cur h ++ [b])) rate) as [E|E]; cbn [closed]; auto.
  intro P; apply prefix_snoc in P as [P|P]; [exact P|]; apply app_inj_tail in P as [_ P]; injection P as P _; rewrite P in U; lia.
Qed.

Lemma ends_bytes x : forall h, ends u (closed (feed (bytes x) h)) -> ends u (closed h).
Proof.
  induction x as [|b x IH]; intros h P; [exact P|]; change (bytes (b :: x)) with (Byte b :: bytes x) in P; rewrite feed_cons in P.
  now apply IH, ends_byte in P.
Qed.

Lemma ends_mark id h : ends u (closed (mark id h)) -> ends u (closed h).
Proof. unfold mark; intro P; apply ends_byte in P; cbn [closed] in P; now apply ends_byte in P. Qed.

Lemma ends_header c l h : ends u (closed (tape_header c l h)) -> ends u (closed h).
Proof. unfold tape_header; intro P; now apply ends_mark, ends_bytes, ends_mark in P. Qed.

Lemma ends_close x h : ends u (closed (feed (bytes x) (feed1 h Close))) -> ends u (closed h) \/ u = h.
Proof.
  intro P; apply ends_bytes in P; cbn [feed1 closed] in P; apply prefix_snoc in P as [P|P]; [now left|right].
  apply app_inj_tail in P as [P Q]; destruct u as [a b c], h as [a' b' c']; cbn [closed cur fi] in *; congruence.
Qed.

Lemma ends_nothing : ~ ends u [].
Proof. intros [w E]; cbn [feed1 closed] in E; rewrite <- app_assoc in E; now apply app_cons_not_nil in E. Qed.

Lemma ends_mixed M : mixes M -> forall h, ends u (closed (mixed M h)) -> ends u (closed h).
Proof.
  induction M as [|o M IH]; intros X h P; [exact P|]; destruct (X o (or_introl eq_refl)) as (l & x & ->).
  cbn [mixed] in P; apply IH in P; [|intros o I; apply X; now right]; now apply ends_bytes, ends_header in P.
Qed.
End Ends.

Section Fed.
Variable O : list block -> list byte.

Lemma squeezing_feeds n : forall t, exists x, snd (result O (squeezing n t)) = feed (bytes x) t.
Proof.
  induction n as [|n IH]; intro t; [exists []; reflexivity|]; cbn [squeezing result]; rewrite result_bind; cbn [result snd].
  match goal with |- context [feed1 t (Byte ?b)] => destruct (IH (feed1 t (Byte b))) as [x ->]; exists (b :: x) end; reflexivity.
Qed.

Lemma encrypting_feeds x : forall t, snd (result O (encrypting x t)) = feed (bytes x) t.
Proof.
  induction x as [|b x IH]; intro t; [reflexivity|]; cbn [encrypting result]; rewrite result_bind; cbn [result snd]; now rewrite IH.
Qed.

Lemma decrypting_feeds c : forall t, snd (result O (decrypting c t)) = feed (bytes (fst (result O (decrypting c t)))) t /\
  length (fst (result O (decrypting c t))) = length c /\
  result O (encrypting (fst (result O (decrypting c t))) t) = (c, snd (result O (decrypting c t))).
Proof.
  induction c as [|b c IH]; intro t; [auto|]; cbn [decrypting result]; rewrite result_bind; cbn [result fst snd].
  set (k := get (length (cur t)) (O (closed t))); destruct (IH (feed1 t (Byte (N.lxor k b)))) as (A & L & E).
  split; [exact A|split; [cbn [length]; now rewrite L|]]; cbn [encrypting result]; fold k; rewrite result_bind, E; cbn [result fst snd].
  now rewrite <- N.lxor_assoc, N.lxor_nilpotent, N.lxor_0_l.
Qed.

(** The first bytes of a block. *)
Lemma squeezing_first n : forall t, length (cur t) + n < rate -> length (cur t) + n <= length (O (closed t)) ->
  fst (result O (squeezing n t)) = firstn n (skipn (length (cur t)) (O (closed t))).
Proof.
  induction n as [|n IH]; intros t L W; [reflexivity|]; cbn [squeezing result].
  rewrite result_bind; set (b := get (length (cur t)) (O (closed t))); pose proof (IH (feed1 t (Byte b))) as E.
  rewrite (feed1_inside b t) in * by lia; cbn [closed cur] in *; rewrite app_length in E; cbn [length] in E.
  cbn [result fst]; rewrite E, Nat.add_comm by lia; unfold b, get; revert W; generalize (O (closed t)), (length (cur t)); clear.
  intros s; induction s as [|a s IH]; intros [|k] W; cbn [length] in W; try lia; [reflexivity|].
  cbn [Nat.add skipn nth]; apply (IH k); lia.
Qed.

Lemma squeezing_more n t : exists f, squeezing (S n) t = Need (closed t) f.
Proof. eexists; reflexivity. Qed.

Lemma squeezing_needs n : forall t, length (cur t) + n < rate -> forall bs, In bs (needs O (squeezing n t)) -> bs = closed t.
Proof.
  induction n as [|n IH]; intros t L bs I; [destruct I|]; cbn [squeezing needs] in I; rewrite needs_bind in I.
  destruct I as [<-|I]; [reflexivity|]; apply in_app_or in I as [I|[]]; apply IH in I.
  - now rewrite feed1_inside in I by lia.
  - rewrite feed1_inside by lia; cbn [cur]; rewrite app_length; cbn [length]; lia.
Qed.
End Fed.

(** ** The tag of a Seal *)

Section Users.
Variable users : nat.
Variable domain : nat -> list byte.
Hypothesis domains : forall i, i < users -> length (domain i) <= 50 /\ small (domain i).

Local Notation prologue i M := (mixed M (begun domain i no_key)).
Local Notation sealing l n t := (feed (bytes (leb n)) (tape_header 5 l t)).

(** The tape before the tag of [Seal l x], and the blocks whose state has the tag. *)
Definition tag_tape (i : nat) (M : list op) (l x : list byte) : tape :=
  feed (bytes x) (feed1 (sealing l (length x) (prologue i M)) Close).
Definition tag_blocks i M l x : list block := closed (feed1 (tag_tape i M l x) Close).

Lemma tag_tape_is i M l x : tag_tape i M l x = feed (bytes (leb (length x)) ++ Close :: bytes x) (tape_header 5 l (prologue i M)).
Proof. unfold tag_tape; now rewrite feed_close. Qed.

Lemma mixed_run P M : mixes M -> forall t, fold_left (tape_step P) M t = mixed M t.
Proof.
  induction M as [|o M IH]; intros X t; [reflexivity|]; destruct (X o (or_introl eq_refl)) as (l & x & ->).
  cbn [fold_left mixed]; rewrite IH by (intros o I; apply X; now right); reflexivity.
Qed.

Definition opening_ops (i : nat) (M : list op) : list op := keyed (domain i) no_key M.

Lemma prologue_is i M : mixes M -> prologue i M = tape_run (fun s => s) (opening_ops i M).
Proof.
  intro X; unfold tape_run, opening_ops, begun, keyed; generalize (text "key"), no_key; intros l key; cbn [fold_left].
  rewrite mixed_run by exact X; f_equal; reflexivity.
Qed.

Lemma ready_prologue i M : mixes M -> ready (prologue i M).
Proof. intro X; rewrite prologue_is by exact X; apply ready_tape_run. Qed.

Lemma short_opening i M : i < users -> legal M -> Forall short (opening_ops i M).
Proof.
  intros I L; destruct (domains i I) as [D _]; constructor; [unfold short, label_max; cbn [label]; lia|].
  constructor; [unfold short; vm_compute; lia|]; apply Forall_forall; intros o J; now destruct (L o J).
Qed.

Lemma prologue_inj i M M' : i < users -> legal M -> legal M' -> mixes M -> mixes M' -> prologue i M = prologue i M' -> M = M'.
Proof.
  intros I L L' X X' E; rewrite !prologue_is in E by assumption; apply tape_injective in E; try now apply short_opening.
  now injection E.
Qed.

Lemma wf_tag i M l x : mixes M -> length (cur (tag_tape i M l x)) < rate.
Proof.
  intro X; unfold tag_tape; assert (W : wf (feed (bytes x) (feed1 (sealing l (length x) (prologue i M)) Close))); [|apply W].
  apply wf_feed, wf_feed1, wf_feed, wf_tape_header, ready_prologue, X.
Qed.

Lemma prologue_ends i M M' l x : mixes M -> mixes M' -> ~ ends (tag_tape i M l x) (closed (prologue i M')).
Proof.
  intros X X' E; apply (ends_mixed _ (wf_tag i M l x X)) in E; [|exact X'].
  assert (B : begun domain i no_key = feed (bytes no_key) (tape_header 2 (text "key") (tape_header 1 (domain i) blank)))
    by (unfold begun, keyed; generalize (text "key"), no_key; reflexivity).
  rewrite B in E; pose proof (wf_tag i M l x X) as U; revert E U; generalize (tag_tape i M l x); clear; intros u E U.
  apply (ends_bytes _ U), (ends_header _ U), (ends_header _ U) in E; now apply ends_nothing in E.
Qed.

Lemma seal_first i M M' l l' x n : mixes M -> mixes M' -> length l <= label_max -> length l' <= label_max ->
  tag_tape i M l x <> sealing l' n (prologue i M').
Proof.
  intros X X' L L' E; rewrite tag_tape_is in E.
  apply header_injective in E as (_ & _ & E & _); auto using ready_prologue; try reflexivity.
  symmetry in E; now apply no_close in E.
Qed.

(** Who asks for the blocks of a tag, seals. *)
Lemma tag_once O i M M' l x o : i < users -> legal M -> legal M' -> mixes M -> mixes M' -> length l <= label_max ->
  length (label o) <= label_max ->
  prefix (tag_blocks i M l x) (closed (snd (result O (stepping o (prologue i M'))))) -> M' = M /\ o = Seal l x.
Proof.
  intros I LM LM' X X' L LO; unfold tag_blocks; set (u := tag_tape i M l x); intro E.
  assert (U : length (cur u) < rate) by now apply wf_tag.
  assert (NO : ~ ends u (closed (tape_header (code o) (label o) (prologue i M'))))
    by (intro P; apply ends_header in P; [now apply prologue_ends in P|exact U]).
  assert (NW : forall w, u = feed w (tape_header (code o) (label o) (prologue i M')) ->
    5%N = code o /\ l = label o /\ bytes (leb (length x)) ++ Close :: bytes x = w /\ prologue i M = prologue i M').
  { intros w Y; unfold u in Y; rewrite tag_tape_is in Y; apply header_injective in Y; auto using ready_prologue, code_small; reflexivity. }
  unfold stepping in E; revert E NO NW; set (h := tape_header (code o) (label o) (prologue i M')).
  destruct o as [d|m y|m n|m y|m y|m j y|m]; cbn [code label] in *; intros E NO NW.
  - now elim NO.
  - elim NO; cbn [result snd] in E; now apply ends_bytes in E.
  - exfalso; destruct (squeezing_feeds O n (feed1 (feed (bytes (leb n)) h) Close)) as [z Z]; rewrite Z in E.
    apply ends_close in E as [E|E]; [apply NO; now apply ends_bytes in E|apply NW in E as [E _]; discriminate|exact U].
  - exfalso; rewrite encrypting_feeds in E.
    apply ends_close in E as [E|E]; [now apply NO|apply (NW []) in E as [E _]; discriminate|exact U].
  - revert E; generalize tag_length; intros k E; rewrite (result_bind _ (encrypting _ _)), (result_bind _ (squeezing k _)) in E; cbn [result snd] in E.
    rewrite encrypting_feeds in E.
    match type of E with context [squeezing k ?t] => destruct (squeezing_feeds O k t) as [z Z]; rewrite Z in E end.
    apply ends_close in E as [E|E]; [|rewrite <- feed_close in E; apply NW in E as (_ & -> & E & F)|exact U].
    + apply ends_close in E as [E|E]; [elim NO; now apply ends_bytes in E|apply NW in E as (_ & _ & E & _)|exact U].
      symmetry in E; now apply no_close in E.
    + apply split_at_close in E as [_ E]; apply bytes_inj in E as ->; split; [|reflexivity].
      symmetry; now apply (prologue_inj i).
  - elim NO; cbn [result snd] in E; now apply ends_bytes in E.
  - exfalso; cbn [result snd] in E; destruct (length (cur h) =? 0).
    + apply NO; now apply ends_bytes in E.
    + apply ends_close in E as [E|E]; [now apply NO|apply (NW []) in E as [E _]; discriminate|exact U].
Qed.

(** ** The game *)

(** What was asked for and answered: user, transcript, output. *)
Definition history := list (nat * list op * list byte).

Definition answer_dec : forall x y : nat * list op * list byte, {x = y} + {x <> y}.
Proof.
  intros [[i T] x] [[j S] y]; destruct (Nat.eq_dec i j), (list_eq_dec op_eq_dec T S), (bytes_dec x y); [left; congruence|right; congruence..].
Defined.

(** The same player, stopped with yes when Open takes a ciphertext and a tag that Seal, for this user after this transcript,
    has not given for the plaintext; with no at the end. *)
Fixpoint watched (h : history) (A : player) : player :=
  match A with
  | Say _ => Say false
  | Permute x k => Permute x (fun y => watched h (k y))
  | Unpermute y k => Unpermute y (fun x => watched h (k x))
  | Use i T k => Use i T (fun x => watched ((i, T, x) :: h) (k x))
  | Open i T l c tag k => Open i T l c tag (fun r =>
      match r with
      | Some x => if in_dec answer_dec (i, T ++ [Seal l x], c ++ tag) h then watched h (k r) else Say true
      | None => watched h (k r)
      end)
  | Unmask i T l c k => Unmask i T l c (fun x => watched h (k x))
  end.

(** At most [n] questions to Open. *)
Fixpoint opens (n : nat) (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute _ k | Unpermute _ k | Use _ _ k | Unmask _ _ _ _ k => forall x, opens n (k x)
  | Open _ _ _ _ _ k => match n with O => False | S n => forall x, opens n (k x) end
  end.

(** Every transcript is Mixes and one operation of any kind: that of aead, mac, stream. *)
Fixpoint one_shot (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute _ k | Unpermute _ k => forall x, one_shot (k x)
  | Use _ T k => (exists M o, T = M ++ [o] /\ mixes M) /\ forall x, one_shot (k x)
  | Open _ T _ _ _ k => mixes T /\ forall x, one_shot (k x)
  | Unmask _ T _ _ k => mixes T /\ forall x, one_shot (k x)
  end.

Lemma watched_spending A : forall q m h, spending users domain q m A -> spending users domain q m (watched h A).
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m h F; cbn [watched spending] in *.
  - exact I.
  - destruct F as [X F], q as [|q]; auto.
  - destruct F as [X F], q as [|q]; auto.
  - destruct F as (U & L & a & n & M & C & F); split; [exact U|split; [exact L|]]; exists a, n; auto.
  - destruct F as (U & L & D & a & n & M & C & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n.
    split; [exact M|split; [exact C|]]; intros [x|]; [destruct (in_dec _ _ _); [auto|exact I]|auto].
  - destruct F as (U & L & D & a & n & M & C & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n; auto.
Qed.

(** *** What the table has of a tag, a Seal has given *)

Definition given (h : history) (v : course) : Prop := forall i M l x b r, i < users -> legal M -> mixes M -> length l <= label_max ->
  rev (tag_blocks i M l x) = b :: r -> In (i, b, r) (map fst v) ->
  known i v (program domain i (M ++ [Seal l x])) /\
  In (i, M ++ [Seal l x], fst (result (by_table i v) (program domain i (M ++ [Seal l x])))) h.

Lemma names_in i j b r cs : forall above, In (j, b, r) (names i above cs) -> j = i /\ exists w, rev above ++ cs = rev (b :: r) ++ w.
Proof.
  induction cs as [|c cs IH]; intros above I; [destruct I|]; destruct I as [I|I].
  - injection I as <- <- <-; split; [reflexivity|exists cs]; cbn [rev]; now rewrite <- app_assoc.
  - apply IH in I as [-> [w E]]; split; [reflexivity|exists w]; rewrite <- E; cbn [rev]; now rewrite <- app_assoc.
Qed.

Lemma given_more h h' i v v' : given h v -> more v v' -> incl h h' ->
  (forall n, In n (map fst v') -> In n (map fst v) \/ exists bs, In n (names i [] bs) /\
    forall M l x, i < users -> legal M -> mixes M -> length l <= label_max -> prefix (tag_blocks i M l x) bs ->
      known i v' (program domain i (M ++ [Seal l x])) /\
      In (i, M ++ [Seal l x], fst (result (by_table i v') (program domain i (M ++ [Seal l x])))) h') -> given h' v'.
Proof.
  intros G M H N j M0 l x b r U L X LL E I; apply N in I as [I|(bs & I & B)].
  - destruct (G j M0 l x b r U L X LL E I) as [K J]; destruct (result_known j v v' _ M K) as [-> K']; auto.
  - apply names_in in I as [-> [w W]]; apply B; auto; exists w; cbn [rev app] in W.
    rewrite <- (rev_involutive (tag_blocks i M0 l x)), E; exact W.
Qed.

Lemma program_last O i M o : mixes M -> result O (program domain i (M ++ [o])) = result O (stepping o (prologue i M)) /\
  needs O (program domain i (M ++ [o])) = needs O (stepping o (prologue i M)).
Proof.
  intro X; rewrite program_from; destruct (mixed_is M [o] X [] (begun domain i no_key)) as [y ->]; cbn [transcript snd].
  rewrite result_bind, needs_bind; cbn [needs result]; now rewrite app_nil_r.
Qed.

Lemma open_last i M l c : mixes M -> open_program domain i M l c = opening l c (prologue i M).
Proof.
  intro X; unfold open_program; rewrite program_from; destruct (mixed_is M [] X [] (begun domain i no_key)) as [y E].
  rewrite app_nil_r in E; rewrite E; reflexivity.
Qed.

Lemma unmask_last i M l c : mixes M -> unmask_program domain i M l c = unmasking l c (prologue i M).
Proof.
  intro X; unfold unmask_program; rewrite program_from; destruct (mixed_is M [] X [] (begun domain i no_key)) as [y E].
  rewrite app_nil_r in E; rewrite E; reflexivity.
Qed.

(** What is asked for before the tag is no tag. *)
Lemma no_tag i M M' l l' x y n bs : mixes M -> mixes M' -> length l <= label_max -> length l' <= label_max ->
  prefix bs (closed (feed (bytes y) (feed1 (sealing l' n (prologue i M')) Close))) -> ~ prefix (tag_blocks i M l x) bs.
Proof.
  intros X X' L L' B P; pose proof (prefix_trans _ _ _ P B) as E; pose proof (wf_tag i M l x X) as U.
  apply (ends_close _ U) in E as [E|E]; [|now apply seal_first in E].
  apply (ends_bytes _ U), (ends_header _ U) in E; now apply prologue_ends in E.
Qed.

Definition guess : Q := 1 / inject_Z (2 ^ 128).

Lemma one_guess tag : (average (fun o => indicator (if bytes_dec (firstn 16 o) (firstn 16 tag) then true else false)) (strings (rate + 2)) <= guess)%Q.
Proof.
  unfold average; rewrite sum_indicator, strings_length; eapply Qle_trans; [apply over_le, nat_q_le, count_front; unfold rate; lia|].
  assert (E : rate + 2 = 80 + 16) by reflexivity; rewrite E, Nat.add_sub, Nat.pow_add_r, nat_q_mult.
  assert (T : (nat_q (256 ^ 16) == inject_Z (2 ^ 128))%Q).
  { unfold nat_q; rewrite Nat2Z.inj_pow; change (Z.of_nat 256) with (2 ^ 8)%Z; change (Z.of_nat 16) with 16%Z.
    rewrite <- Z.pow_mul_r by lia; reflexivity. }
  assert (P : (0 < nat_q (256 ^ 80))%Q) by (apply nat_q_pos; pose proof (Nat.pow_nonzero 256 80); lia).
  rewrite T; unfold guess; revert P; generalize (nat_q (256 ^ 80)); intros a P.
  apply Qle_lteq; right; field; split; [discriminate|intro Z; rewrite Z in P; now apply Qlt_irrefl in P].
Qed.

Lemma guess_nonneg n : (0 <= nat_q n * guess)%Q.
Proof. apply Qmult_le_0_compat; [apply nat_q_nonneg|discriminate]. Qed.

Lemma taken_none c tag x g r : length x = length c -> taken c tag (x ++ g) = r ->
  (r = Some x /\ g = tag) \/ r = None.
Proof.
  intros L <-; unfold taken; rewrite <- L, skipn_app, firstn_app, Nat.sub_diag, skipn_all, firstn_all; cbn [skipn firstn app].
  rewrite app_nil_r; destruct (list_eq_dec N.eq_dec g tag); auto.
Qed.

Lemma forged p A : forall q m n h v, spending users domain q m A -> one_shot A -> opens n A -> given h v ->
  (chance p (compiled domain (watched h A)) v <= nat_q n * guess)%Q.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i M l c tag k IH|i M l c k IH]; intros q m n h v F SH OP G;
    cbn [compiled watched spending one_shot opens ideal] in *.
  - apply guess_nonneg.
  - destruct F as [_ F], q as [|q]; [destruct F|]; exact (IH _ q m n h v (F _) (SH _) (OP _) G).
  - destruct F as [_ F], q as [|q]; [destruct F|]; exact (IH _ q m n h v (F _) (SH _) (OP _) G).
  - destruct F as (U & L & a & m' & _ & _ & F), SH as [(M & o & -> & X) SH].
    apply ask_below; [apply guess_nonneg|]; intros v' MV N K.
    apply (IH _ q m' n); auto; apply (given_more h _ i v); auto; [intros e J; now right|].
    assert (LM : legal M) by (intros e J; apply L, in_or_app; now left).
    intros e J; apply N in J as [J|(bs & B & J)]; [now left|right; exists bs; split; [exact J|]].
    intros M0 l x _ L0 X0 LL P; destruct (program_last (by_table i v') i M o X) as [R E]; rewrite E in B.
    destruct (within_stepping (by_table i v') o (prologue i M)) as [_ W]; destruct (W bs B) as [_ Q].
    destruct (tag_once (by_table i v') i M0 M l x o) as [-> ->]; auto;
      [destruct (L o) as [LO _]; [apply in_or_app; right; now left|exact LO]|eapply prefix_trans; eauto|].
    split; [exact K|now left].
  - destruct F as (U & L & (LL & _ & _) & a & m' & _ & _ & F), SH as [X SH], n as [|n]; [destruct OP|].
    rewrite (open_last i M l c X); unfold opening; set (t := feed1 (sealing l (length c) (prologue i M)) Close).
    assert (BOUND : (nat_q n * guess <= nat_q (S n) * guess)%Q)
      by (rewrite nat_q_S; pose proof (guess_nonneg 1); change (nat_q 1) with 1%Q in *; lra).
    rewrite ask_bind; apply ask_below; [apply guess_nonneg|]; intros v1 M1 N1 K1.
    destruct (decrypting_feeds (by_table i v1) c t) as (T1 & LX & EN); set (x := fst (result (by_table i v1) (decrypting c t))) in *.
    assert (G1 : given h v1).
    { apply (given_more h h i v); auto using incl_refl; intros e J; apply N1 in J as [J|(bs & B & J)]; [now left|right].
      exists bs; split; [exact J|]; intros M0 l0 x0 _ L0 X0 LL0 P; exfalso; revert P.
      destruct (within_decrypting (by_table i v1) c t) as [_ W]; destruct (W bs B) as [_ Q]; rewrite T1 in Q.
      now apply (no_tag i M0 M l0 l x0 x (length c)). }
    assert (TT : snd (result (by_table i v1) (decrypting c t)) = tag_tape i M l x) by (rewrite T1; unfold tag_tape; now rewrite LX).
    set (u := tag_tape i M l x) in *; set (t1 := feed1 u Close).
    rewrite TT; fold t1; rewrite ask_bind; cbn [ask].
    set (K := fun q : list byte * tape => compiled domain match taken c tag (fst (x ++ fst q, snd q)) with
      | Some y => if in_dec answer_dec (i, M ++ [Seal l y], c ++ tag) h then watched h (k (taken c tag (x ++ fst q))) else Say true
      | None => watched h (k (taken c tag (x ++ fst q))) end).
    assert (KE : forall q, K q = compiled domain match taken c tag (x ++ fst q) with
      | Some y => if in_dec answer_dec (i, M ++ [Seal l y], c ++ tag) h then watched h (k (taken c tag (x ++ fst q))) else Say true
      | None => watched h (k (taken c tag (x ++ fst q))) end) by reflexivity.
    change tag_length with 16; destruct (squeezing_more 15 t1) as [rest SQ].
    assert (SHORT : length (cur t1) + 16 < rate) by (unfold t1; cbn [feed1 cur length]; unfold rate; lia).
    assert (NEEDS : forall O bs, In bs (needs O (squeezing 16 t1)) -> bs = closed t1) by (intros O bs; now apply squeezing_needs).
    assert (FIRST : forall O, length (O (closed t1)) = rate + 2 -> fst (result O (squeezing 16 t1)) = firstn 16 (O (closed t1)))
      by (intros O LO; rewrite squeezing_first; [reflexivity|exact SHORT|rewrite LO; unfold t1; cbn [feed1 cur length]; unfold rate; lia]).
    remember (squeezing 16 t1) as sq eqn:SE.
    assert (CT : exists lb : block, closed t1 = closed u ++ [lb]) by (now exists (cur u, fi u)); destruct CT as [lb CT].
    assert (FINAL : forall w o, more v1 w -> lookup (i, lb, rev (closed u) ++ []) w = Some o ->
      incl (names i [] (closed u)) (map fst w) -> known i w sq /\ by_table i w (closed t1) = o).
    { intros w o MW E I; rewrite app_nil_r in E; split.
      - intros bs B; apply NEEDS in B as ->; rewrite CT, names_app, app_nil_r; intros e J; apply in_app_or in J as [J|[<-|[]]]; [now apply I|now apply found_some in E].
      - now rewrite CT, by_table_snoc, E. }
    assert (RS : forall O, result O sq = result O (rest (O (closed t1)))) by (intro; rewrite SQ; reflexivity).
    assert (NS : forall O, needs O sq = closed t1 :: needs O (rest (O (closed t1)))) by (intro; rewrite SQ; reflexivity).
    enough (H : (chance p (ask i sq K) v1 <= nat_q (S n) * guess)%Q) by exact H.
    rewrite SQ; change (ask i (Need (closed t1) rest) K) with (walk i [] (closed t1) [] (fun o => ask i (rest o) K)).
    rewrite CT, walk_last.
    apply walk_below; [apply guess_nonneg|]; intros v2 M2 N2 I2.
    assert (G2 : given h v2).
    { apply (given_more h h i v1); auto using incl_refl; intros e J; apply N2 in J as [J|J]; [now left|right].
      exists (closed u); split; [exact J|]; intros M0 l0 x0 _ L0 X0 LL0 P; exfalso; revert P.
      apply (no_tag i M0 M l0 l x0 x (length x)); auto; apply prefix_refl. }
    assert (STEP : forall w o, by_table i w (closed t1) = o -> known i w sq ->
      (chance p (ask i (rest o) K) w == chance p (K (result (by_table i w) sq)) w)%Q).
    { intros w o E KN; rewrite RS, E; apply ask_known; intros bs B; apply KN; rewrite NS, E; now right. }
    cbn [ideal]; destruct (lookup (i, lb, rev (closed u) ++ []) v2) as [o|] eqn:E.
    + destruct (FINAL v2 o M2 E I2) as [KN BT]; rewrite (STEP v2 o BT KN), KE.
      set (g := fst (result (by_table i v2) sq)).
      destruct (result_known i v1 v2 _ M2 K1) as [RD _].
      assert (J : In (i, M ++ [Seal l x], c ++ g) h).
      { assert (TB : rev (tag_blocks i M l x) = lb :: rev (closed u))
          by (change (tag_blocks i M l x) with (closed t1); now rewrite CT, rev_app_distr).
        rewrite app_nil_r in E; destruct (G2 i M l x _ _ U L X LL TB (found_some _ _ _ _ E)) as [_ J].
        destruct (program_last (by_table i v2) i M (Seal l x) X) as [R _]; rewrite R in J.
        revert J; unfold stepping; cbn [code label]; change tag_length with 16; rewrite LX; fold t.
        destruct (decrypting_feeds (by_table i v2) c t) as (_ & _ & EN2); rewrite RD in EN2; fold x in EN2.
        rewrite (result_bind _ (encrypting x t)), EN2, TT; cbn [fst snd]; fold t1; rewrite <- SE.
        rewrite (result_bind _ sq); exact (fun J => J). }
      destruct (taken c tag (x ++ g)) as [y|] eqn:TK; apply taken_none in TK; try exact LX.
      * destruct TK as [[TK ->]|TK]; [injection TK as ->|discriminate].
        destruct (in_dec _ _ _); [|contradiction]; eapply Qle_trans; [apply (IH _ q m' n); auto|exact BOUND].
      * eapply Qle_trans; [apply (IH _ q m' n); auto|exact BOUND].
    + rewrite nat_q_S, Qmult_plus_distr_l, Qmult_1_l.
      set (nm := (i, lb, rev (closed u) ++ [])) in *.
      eapply Qle_trans; [apply (average_le _ (fun o => indicator (if bytes_dec (firstn 16 o) (firstn 16 tag) then true else false) +
        chance p (compiled domain (watched h (k None))) ((nm, o) :: v2))%Q)|].
      * intros o J; apply in_strings in J as [LO _].
        assert (E3 : lookup nm ((nm, o) :: v2) = Some o) by (cbn [found]; destruct (place_dec block_dec nm nm); congruence).
        destruct (FINAL ((nm, o) :: v2) o) as [KN BT]; [eapply more_trans; [exact M2|now apply more_new]|exact E3|intros e J; right; now apply I2|].
        rewrite (STEP _ o BT KN), KE.
        assert (GF : fst (result (by_table i ((nm, o) :: v2)) sq) = firstn 16 o).
        { rewrite FIRST; rewrite BT; [reflexivity|exact LO]. }
        rewrite GF; pose proof (chance_bounds p (compiled domain (watched h (k None))) ((nm, o) :: v2)) as [B0 _].
        destruct (taken c tag (x ++ firstn 16 o)) as [y|] eqn:TK; apply taken_none in TK; try exact LX.
        -- destruct TK as [[_ TG]|TK]; [|discriminate]; destruct (bytes_dec (firstn 16 o) (firstn 16 tag)) as [_|D].
           ++ change (indicator true) with 1%Q; eapply Qle_trans; [apply chance_bounds|]; lra.
           ++ elim D; rewrite <- TG, firstn_firstn; reflexivity.
        -- unfold indicator; destruct (bytes_dec _ _); lra.
      * rewrite average_plus; apply Qplus_le_compat; [apply one_guess|].
        rewrite asked_later by exact E; apply (IH _ q m' n); auto.
  - destruct F as (U & L & (LL & _ & _) & a & m' & _ & _ & F), SH as [X SH].
    rewrite (unmask_last i M l c X); apply ask_below; [apply guess_nonneg|]; intros v' MV N K.
    apply (IH _ q m' n); auto; apply (given_more h h i v); auto using incl_refl; intros e J; apply N in J as [J|(bs & B & J)]; [now left|right].
    exists bs; split; [exact J|]; intros M0 l0 x0 _ L0 X0 LL0 P; exfalso.
    destruct (within_unmasking (by_table i v') l c (prologue i M)) as [_ W]; destruct (W bs B) as [_ Q]; revert Q; unfold unmasking.
    destruct (decrypting_feeds (by_table i v') c (feed1 (tape_header 4 l (prologue i M)) Close)) as (-> & _ & _).
    rewrite <- (encrypting_feeds (by_table i v')); intro Q.
    destruct (tag_once (by_table i v') i M0 M l0 x0 (Mask l (fst (result (by_table i v') (decrypting c
      (feed1 (tape_header 4 l (prologue i M)) Close)))))) as [_ E]; auto; [eapply prefix_trans; [exact P|exact Q]|discriminate].
Qed.

(** ** The theorems *)

(** In the ideal world, and so in the real one: that one of [n] tries takes what no Seal has given. *)
Theorem ideal_forgery A q m n : spending users domain q m A -> one_shot A -> opens n A ->
  (ideally domain (watched [] A) <= nat_q n / inject_Z (2 ^ 128))%Q.
Proof.
  intros F S OP; assert (E : (nat_q n / inject_Z (2 ^ 128) == nat_q n * guess)%Q) by (unfold guess; field; discriminate).
  rewrite E; apply average_below; [apply guess_nonneg|]; intros p _; apply (forged p A q m n); auto.
  intros i M l x b r _ _ _ _ _ [].
Qed.

Theorem forgery A q m n : spending users domain q m A -> one_shot A -> opens n A ->
  (really users domain (watched [] A) <= nat_q n / inject_Z (2 ^ 128) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros F S OP; pose proof (ideal_forgery A q m n F S OP) as H.
  pose proof (outputs_random users domain domains (watched [] A) q m (watched_spending A q m [] F)) as R.
  apply Qabs_Qle_condition in R as [_ R]; lra.
Qed.
End Users.

(** ** In numbers *)

Corollary forgery_2_128 users domain A q m n : (forall i, i < users -> length (domain i) <= 50 /\ small (domain i)) ->
  spending users domain q m A -> one_shot A -> opens n A -> (z (q + m) <= 2 ^ 64)%Z ->
  (really users domain (watched [] A) <= nat_q (S n) / inject_Z (2 ^ 128))%Q.
Proof.
  intros D F SH OP H; pose proof (ideal_forgery users domain D A q m n F SH OP) as I.
  pose proof (outputs_random_2_128 users domain (watched [] A) q m D (watched_spending users domain A q m [] F) H) as R.
  apply Qabs_Qle_condition in R as [_ R].
  assert (E : (nat_q (S n) / inject_Z (2 ^ 128) == 1 / inject_Z (2 ^ 128) + nat_q n / inject_Z (2 ^ 128))%Q)
    by (rewrite nat_q_S; field; discriminate).
  rewrite E; lra.
Qed.

(** Who tries an empty ciphertext with a tag of zeros is such a player. *)
Example forgery_example : let A := Open 0 [] (text "message") [] (repeat 0%N 16) (fun _ => Say false) in
  spending 1 (fun _ => text "example") 0 2 A /\ one_shot A /\ opens 1 A.
Proof.
  cbv zeta; split; [|split; [split; [intros o []|exact (fun _ => I)]|exact (fun _ => I)]].
  split; [apply le_n|split; [intros o []|split; [repeat split; repeat constructor|]]].
  exists 2, 0; repeat split; [apply le_n|]; intros O _; vm_compute; repeat constructor.
Qed.
