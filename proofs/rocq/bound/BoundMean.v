(** * BoundMean: what a program outputs on blocks that nobody has asked for is uniform

    In the ideal world of BoundSecret.v an outer part that was asked for and not looked at may as well be chosen later
    ([asked_later]).  [mean] is the expected value over the outer parts that a program of the ideal world asks for, chosen as they are asked.
    [emitted_uniform]: bytes squeezed, encrypted or decrypted from fresh blocks are, together, a uniform string.
    [mean_forget]: what was asked for and not looked at may as well not have been asked for. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa FinFun Permutation
  Setoid Morphisms.
From Veriplex Require Import Duplex Framing Protocol BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret.
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
End Lazy.

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

(** A program sees only what it asks for. *)
Lemma result_same {A} O O' (r : prog A) : (forall bs, In bs (needs O' r) -> O bs = O' bs) -> result O r = result O' r.
Proof.
  induction r as [a|bs f IH]; intro H; [reflexivity|]; cbn [result needs] in *; rewrite (H bs) by (now left).
  apply IH; intros cs I; apply H; now right.
Qed.

Lemma names_in i j b r cs : forall above, In (j, b, r) (names i above cs) -> j = i /\ exists w, rev above ++ cs = rev (b :: r) ++ w.
Proof.
  induction cs as [|c cs IH]; intros above I; [destruct I|]; destruct I as [I|I].
  - injection I as <- <- <-; split; [reflexivity|exists cs]; cbn [rev]; now rewrite <- app_assoc.
  - apply IH in I as [-> [w E]]; split; [reflexivity|exists w]; rewrite <- E; cbn [rev]; now rewrite <- app_assoc.
Qed.

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

End Fed.

(** ** Averages over strings *)

Local Transparent strings.

Lemma average_empty (f : list byte -> Q) : (average f (strings 0) == f [])%Q.
Proof. unfold average; cbn [strings sum length]; change (nat_q 1) with 1%Q; field. Qed.

Lemma average_byte (f : list byte -> Q) : (average f (strings 1) == average (fun b => f [b]) values)%Q.
Proof. cbn [strings flat_map]; rewrite app_nil_r, average_map; reflexivity. Qed.

Lemma average_xor (f : byte -> Q) k : (k < 256)%N -> (average (fun b => f (N.lxor b k)) values == average f values)%Q.
Proof.
  intro K; rewrite <- (average_map (fun b => N.lxor b k)); unfold average; rewrite map_length.
  assert (P : Permutation (map (fun b => N.lxor b k) values) values).
  { apply NoDup_Permutation_bis.
    - apply Injective_map_NoDup; [|apply values_once]; intros a b E; apply (f_equal (fun c => N.lxor c k)) in E.
      now rewrite !N.lxor_assoc, N.lxor_nilpotent, !N.lxor_0_r in E.
    - now rewrite map_length.
    - intros c I; apply in_map_iff in I as (b & <- & I); apply in_values; apply in_values in I; now apply lxor_small. }
  rewrite (sum_permutation f _ _ P); reflexivity.
Qed.
Opaque strings.

Lemma average_bytes n (f : list byte -> Q) :
  (average (fun b => average (fun s => f (b :: s)) (strings n)) values == average f (strings (S n)))%Q.
Proof. rewrite <- (average_strings 1 n f), average_byte; reflexivity. Qed.

(** ** The mean of a program *)

Fixpoint walked (i : nat) (above bs : list block) (o : list byte) (F : list byte -> course -> Q) (v : course) : Q :=
  match bs with
  | [] => F o v
  | b :: bs =>
      match lookup (i, b, above) v with
      | Some o => walked i (b :: above) bs o F v
      | None => average (fun o => walked i (b :: above) bs o F (((i, b, above), o) :: v)) (strings (rate + 2))
      end
  end.

Fixpoint mean {A} (i : nat) (r : prog A) (F : A -> course -> Q) (v : course) : Q :=
  match r with Ret a => F a v | Need bs f => walked i [] bs [] (fun o => mean i (f o) F) v end.

Lemma walked_ext i F F' bs : (forall o v, F o v == F' o v)%Q -> forall above o v,
  (walked i above bs o F v == walked i above bs o F' v)%Q.
Proof.
  intro H; induction bs as [|b bs IH]; intros above o v; cbn [walked]; [apply H|].
  destruct (lookup _ v); [apply IH|]; apply average_ext; intros; apply IH.
Qed.

Lemma mean_ext {A} i (r : prog A) F F' : (forall a v, F a v == F' a v)%Q -> forall v, (mean i r F v == mean i r F' v)%Q.
Proof. intro H; induction r as [a|bs f IH]; intro v; cbn [mean]; [apply H|]; apply walked_ext; intros; apply IH. Qed.

Lemma mean_bind {A B} i (q : prog A) (f : A -> prog B) F : forall v,
  (mean i (bind q f) F v == mean i q (fun a => mean i (f a) F) v)%Q.
Proof. induction q as [a|bs g IH]; intro v; cbn [bind mean]; [reflexivity|]; apply walked_ext; intros; apply IH. Qed.

Lemma chance_ask {A} p i (r : prog A) k : forall v, (chance p (ask i r k) v == mean i r (fun a => chance p (k a)) v)%Q.
Proof.
  induction r as [a|bs f IH]; intro v; cbn [ask mean]; [reflexivity|]; generalize (@nil byte) as o, (@nil block) as above; revert v.
  induction bs as [|b bs IHb]; intros v o above; cbn [walk walked ideal]; [apply IH|].
  destruct (lookup _ v); [apply IHb|]; apply average_ext; intros; apply IHb.
Qed.

Lemma walked_plus i F F' bs : forall above o v,
  (walked i above bs o (fun o v => F o v + F' o v) v == walked i above bs o F v + walked i above bs o F' v)%Q.
Proof.
  induction bs as [|b bs IH]; intros above o v; cbn [walked]; [reflexivity|]; destruct (lookup _ v); [apply IH|].
  rewrite <- average_plus; apply average_ext; intros; apply IH.
Qed.

Lemma mean_plus {A} i (r : prog A) F F' : forall v, (mean i r (fun a v => F a v + F' a v) v == mean i r F v + mean i r F' v)%Q.
Proof.
  induction r as [a|bs f IH]; intro v; cbn [mean]; [reflexivity|]; rewrite <- walked_plus; apply walked_ext; intros; apply IH.
Qed.

(** *** What it reaches *)

(** The tables that a program may leave when it began with [v]. *)
Definition reached {A} (i : nat) (r : prog A) (v v' : course) : Prop :=
  more v v' /\ known i v' r /\ (small_table v -> small_table v') /\ forall n, In n (map fst v') -> In n (map fst v) \/
    exists bs, In bs (needs (by_table i v') r) /\ In n (names i [] bs).

Lemma average_within {A} (f g : A -> Q) l c : (0 <= c)%Q -> (forall a, In a l -> f a <= g a + c)%Q -> (average f l <= average g l + c)%Q.
Proof. apply over_constant. Qed.

Lemma small_new n o (v : course) : small o -> small_table v -> small_table ((n, o) :: v).
Proof. intros S V x y E; cbn [found] in E; destruct (place_dec block_dec x n); [now injection E as <-|exact (V _ _ E)]. Qed.

Lemma walked_within c i F F' bs : (0 <= c)%Q -> forall above o v,
  (forall v', more v v' -> (forall n, In n (map fst v') -> In n (map fst v) \/ In n (names i above bs)) ->
    incl (names i above bs) (map fst v') -> (small_table v -> small_table v') -> (F (arrives i above bs o v') v' <= F' (arrives i above bs o v') v' + c)%Q) ->
  (walked i above bs o F v <= walked i above bs o F' v + c)%Q.
Proof.
  intro C; induction bs as [|b bs IH]; intros above o v H; cbn [walked].
  - apply (H v); [apply more_refl|auto|intros x []|auto].
  - assert (G : forall o1 v1, more v v1 -> lookup (i, b, above) v1 = Some o1 ->
      (forall n, In n (map fst v1) -> In n (map fst v) \/ n = (i, b, above)) -> (small_table v -> small_table v1) ->
      (walked i (b :: above) bs o1 F v1 <= walked i (b :: above) bs o1 F' v1 + c)%Q).
    { intros o1 v1 M1 E N1 S1; apply IH; intros v' M N I S; rewrite <- (arrives_first i above b bs o o1 v' (M _ _ E)).
      apply H; [eapply more_trans; eauto| | |auto].
      - intros n J; apply N in J as [J|J]; [apply N1 in J as [J| ->]; [now left|right; now left]|right; now right].
      - intros n [<-|J]; [exact (found_some _ _ _ _ (M _ _ E))|now apply I]. }
    destruct (lookup (i, b, above) v) as [o1|] eqn:E; [apply (G o1 v); auto using more_refl|].
    apply average_within; [exact C|]; intros o1 J1; apply G; [now apply more_new| | |].
    + cbn [found]; destruct (place_dec block_dec _ _); congruence.
    + intros n [<-|J]; [now right|now left].
    + apply small_new; now apply in_strings in J1.
Qed.

Lemma mean_within {A} c i F F' (r : prog A) : (0 <= c)%Q -> forall v,
  (forall v', reached i r v v' -> (F (result (by_table i v') r) v' <= F' (result (by_table i v') r) v' + c)%Q) ->
  (mean i r F v <= mean i r F' v + c)%Q.
Proof.
  intro C; induction r as [a|bs f IH]; intros v H; cbn [mean].
  - apply (H v); repeat split; auto using more_refl; intros bs [].
  - apply walked_within; [exact C|]; intros v1 M1 N1 I1 S1.
    replace (arrives i [] bs [] v1) with (by_table i v1 bs) by (now destruct bs); apply IH; intros v' (M & K & S2 & N).
    pose proof (by_table_known i v1 v' bs M I1) as S; specialize (H v'); cbn [needs result] in H; rewrite S in H; apply H.
    split; [eapply more_trans; eauto|split; [|split; [auto|]]]; cbn [needs]; unfold known; cbn [needs]; rewrite ?S.
    + intros cs [<-|J]; [|now apply K]; intros n L; apply (more_in _ _ M), I1, L.
    + intros n J; apply N in J as [J|(cs & J & L)]; [apply N1 in J as [J|J]; [now left|]|]; right.
      * exists bs; split; [now left|exact J].
      * exists cs; split; [now right|exact L].
Qed.

(** Two numbers at most [c] apart. *)
Definition near (a b c : Q) : Prop := (a <= b + c /\ b <= a + c)%Q.

Global Instance near_proper : Proper (Qeq ==> Qeq ==> Qeq ==> iff) near.
Proof. intros a a' A b b' B c c' C; unfold near; rewrite A, B, C; reflexivity. Qed.

Lemma near_trans a b c d e : near a b d -> near b c e -> near a c (d + e).
Proof. unfold near; lra. Qed.
Lemma near_more a b c d : (c <= d)%Q -> near a b c -> near a b d.
Proof. unfold near; lra. Qed.

Lemma mean_near {A} c i F F' (r : prog A) v : (0 <= c)%Q ->
  (forall v', reached i r v v' -> near (F (result (by_table i v') r) v') (F' (result (by_table i v') r) v') c) ->
  near (mean i r F v) (mean i r F' v) c.
Proof. intros C H; split; apply mean_within; auto; intros v' R; apply (H v' R). Qed.

Lemma mean_same {A} i F F' (r : prog A) v :
  (forall v', reached i r v v' -> (F (result (by_table i v') r) v' == F' (result (by_table i v') r) v')%Q) -> (mean i r F v == mean i r F' v)%Q.
Proof.
  intro H; apply Qle_antisym; [rewrite <- (Qplus_0_r (mean i r F' v))|rewrite <- (Qplus_0_r (mean i r F v))];
    (apply mean_within; [discriminate|]; intros w R; specialize (H w R); lra).
Qed.

Lemma mean_known {A} i F v (r : prog A) : known i v r -> (mean i r F v == F (result (by_table i v) r) v)%Q.
Proof.
  induction r as [a|bs f IH]; intro K; cbn [mean]; [reflexivity|].
  assert (W : forall F, incl (names i [] bs) (map fst v) -> (walked i [] bs [] F v == F (by_table i v bs) v)%Q).
  { clear; intros F I; replace (by_table i v bs) with (arrives i [] bs [] v) by (now destruct bs).
    revert I; generalize (@nil byte) as o, (@nil block) as above.
    induction bs as [|b bs IH]; intros o above I; cbn [walked]; [reflexivity|].
    destruct (lookup (i, b, above) v) as [o1|] eqn:E; [|destruct (found_none _ _ _ E (I _ (or_introl eq_refl)))].
    rewrite IH by (intros n J; apply I; now right); now rewrite (arrives_first i above b bs o o1 v E). }
  rewrite W by (apply K; now left); apply IH; intros cs J; apply K; now right.
Qed.

(** *** What may be chosen before *)

(** It depends on what the table says, and an outer part that is not in the table may as well be. *)
Definition lazy (C : course -> Q) : Prop :=
  (forall v v', (forall n, lookup n v = lookup n v') -> C v == C v')%Q /\
  (forall n v, lookup n v = None -> average (fun o => C ((n, o) :: v)) (strings (rate + 2)) == C v)%Q.

Lemma lazy_const c : lazy (fun _ => c).
Proof. split; [reflexivity|]; intros n v _; apply average_const, some_strings. Qed.

Lemma lazy_chance p t : lazy (chance p t).
Proof. split; [apply chance_ext|intros n v; now apply asked_later]. Qed.

Lemma lazy_walked i bs F : (forall o, lazy (F o)) -> forall above o, lazy (walked i above bs o F).
Proof.
  intro H; induction bs as [|b bs IH]; intros above o; [apply H|].
  assert (EXT : forall v v', (forall n, lookup n v = lookup n v') ->
    (walked i above (b :: bs) o F v == walked i above (b :: bs) o F v')%Q).
  { intros v v' E; cbn [walked]; rewrite <- E; destruct (lookup (i, b, above) v); [now apply IH|].
    apply average_ext; intros o1 _; apply IH; intro n; cbn [found]; destruct (place_dec block_dec n _); auto. }
  split; [exact EXT|]; intros n v N; cbn [walked]; destruct (place_dec block_dec (i, b, above) n) as [<-|D].
  - rewrite N; apply average_ext; intros o1 _; cbn [found]; destruct (place_dec block_dec _ _); [reflexivity|congruence].
  - assert (FD : forall o, lookup (i, b, above) ((n, o) :: v) = lookup (i, b, above) v)
      by (intro o1; cbn [found]; destruct (place_dec block_dec _ _); [congruence|reflexivity]).
    destruct (lookup (i, b, above) v) as [o1|] eqn:E.
    + rewrite <- (proj2 (IH (b :: above) o1) n v N); apply average_ext; intros o2 _; rewrite FD; reflexivity.
    + transitivity (average (fun o2 => average (fun o1 => walked i (b :: above) bs o1 F ((n, o2) :: ((i, b, above), o1) :: v))
        (strings (rate + 2))) (strings (rate + 2))).
      * apply average_ext; intros o2 _; rewrite FD; apply average_ext; intros o1 _; apply IH; intro n'.
        cbn [found]; destruct (place_dec block_dec n' (i, b, above)), (place_dec block_dec n' n); congruence.
      * rewrite average_swap; apply average_ext; intros o1 _; apply IH; cbn [found].
        destruct (place_dec block_dec n (i, b, above)); [congruence|exact N].
Qed.

Lemma lazy_mean {A} i (r : prog A) F : (forall a, lazy (F a)) -> lazy (mean i r F).
Proof. intro H; induction r as [a|bs f IH]; [apply H|]; apply (lazy_walked i bs _ IH). Qed.

Theorem mean_forget {A} i (r : prog A) C v : lazy C -> (mean i r (fun _ => C) v == C v)%Q.
Proof.
  intro L; revert v; induction r as [a|bs f IH]; intro v; cbn [mean]; [reflexivity|].
  generalize (@nil byte) as o, (@nil block) as above; revert v; induction bs as [|b bs IHb]; intros v o above; cbn [walked]; [apply IH|].
  destruct (lookup (i, b, above) v) eqn:E; [apply IHb|]; rewrite <- (proj2 L _ _ E); apply average_ext; intros; apply IHb.
Qed.

Lemma mean_const {A} i (r : prog A) c v : (mean i r (fun _ _ => c) v == c)%Q.
Proof. exact (mean_forget i r (fun _ => c) v (lazy_const c)). Qed.

(** Names may be taken as known. *)
Lemma sampled N C X : lazy C -> forall v,
  (forall v', more v v' -> incl N (map fst v') -> (forall n, In n (map fst v') -> In n (map fst v) \/ In n N) -> C v' == X)%Q ->
  (C v == X)%Q.
Proof.
  intros L; induction N as [|n N IH]; intros v H.
  - apply H; [apply more_refl|intros n []|auto].
  - assert (G : forall v1, more v v1 -> In n (map fst v1) -> (forall k, In k (map fst v1) -> In k (map fst v) \/ k = n) -> (C v1 == X)%Q).
    { intros v1 M1 I1 N1; apply IH; intros v' M I J; apply H; [eapply more_trans; eauto| |].
      - intros k [<-|K]; [exact (more_in _ _ M _ I1)|now apply I].
      - intros k K; apply J in K as [K|K]; [apply N1 in K as [K| ->]; [now left|right; now left]|right; now right]. }
    destruct (lookup n v) as [o|] eqn:E.
    + apply G; [apply more_refl|exact (found_some _ _ _ _ E)|auto].
    + rewrite <- (proj2 L n v E), <- (average_const X (strings (rate + 2))) by apply some_strings; apply average_ext; intros o _.
      apply G; [now apply more_new|now left|intros k [<-|K]; auto].
Qed.

(** ** Emitting *)

(** Nothing was asked for after these blocks, nor after more. *)
Definition fresh (i : nat) (bs : list block) (v : course) : Prop :=
  forall b r, In (i, b, r) (map fst v) -> ~ prefix bs (rev (b :: r)).

(** A byte that is output, and what is fed for it; or the end of a block. *)
Inductive emit := Shut | Emit (k : byte) (e : byte -> byte).

Definition emit_ok (f : emit) : Prop := match f with Shut => True | Emit k _ => (k < 256)%N end.

Fixpoint emitting (fs : list emit) (t : tape) : prog (list byte * tape) :=
  match fs with
  | [] => Ret ([], t)
  | Shut :: fs => emitting fs (feed1 t Close)
  | Emit k e :: fs => Need (closed t) (fun o => let b := get (length (cur t)) o in
      bind (emitting fs (feed1 t (Byte (e b)))) (fun r => Ret (N.lxor b k :: fst r, snd r)))
  end.

Fixpoint emitted (fs : list emit) : nat := match fs with [] => 0 | Shut :: fs => emitted fs | Emit _ _ :: fs => S (emitted fs) end.

Lemma emitting_app i fs gs : forall F t v, (mean i (emitting (fs ++ gs) t) F v ==
  mean i (emitting fs t) (fun r => mean i (emitting gs (snd r)) (fun q => F (fst r ++ fst q, snd q))) v)%Q.
Proof.
  induction fs as [|[|k e] fs IH]; intros F t v; cbn [app emitting].
  - cbn [mean fst snd app]; apply mean_ext; intros [x u] w; reflexivity.
  - apply IH.
  - cbn [mean]; apply walked_ext; intros o w; rewrite !mean_bind, IH; apply mean_ext; intros r w1; cbn [mean fst snd].
    apply mean_ext; intros q w2; reflexivity.
Qed.

Lemma last_of {A} (l : list A) : l <> [] -> exists r a, l = r ++ [a].
Proof. intro H; destruct l as [|a l _] using rev_ind; [congruence|eauto]. Qed.

Lemma walked_ready i bs b F v o : lookup (i, b, rev bs) v = Some o -> incl (names i [] bs) (map fst v) ->
  (walked i [] (bs ++ [b]) [] F v == F o v)%Q.
Proof.
  intros E I; transitivity (mean i (Need (bs ++ [b]) (fun o => Ret o)) F v); [reflexivity|]; rewrite mean_known; cbn [result].
  - rewrite by_table_snoc, E; reflexivity.
  - intros cs [<-|[]]; rewrite names_app, app_nil_r; intros n J; apply in_app_or in J as [J|[<-|[]]]; [now apply I|exact (found_some _ _ _ _ E)].
Qed.

Section Uniform.
Variable i : nat.
Variable G : list byte -> Q.

Local Notation mean_of fs t H := (mean i (emitting fs t) (fun r _ => H (fst r))).

Lemma in_block fs : Forall emit_ok fs -> forall (H : list byte -> Q) t bs b pre v, length (cur t) < rate -> closed t = bs ++ [b] ->
  length pre = length (cur t) -> fresh i (closed t) v -> incl (names i [] bs) (map fst v) ->
  (average (fun s => mean_of fs t H (((i, b, rev bs), pre ++ s) :: v)) (strings (rate + 2 - length (cur t)))
    == average H (strings (emitted fs)))%Q.
Proof.
  induction 1 as [|f fs OK FS IH]; intros H t bs b pre v L C LP FR I.
  - cbn [emitting mean emitted fst]; rewrite average_empty, average_const by apply some_strings; reflexivity.
  - (* a block that begins *)
    assert (NEXT : forall t' x H o, cur t' = [] -> closed t' = closed t ++ [x] ->
      (mean_of fs t' H (((i, b, rev bs), o) :: v) == average H (strings (emitted fs)))%Q).
    { clear H; intros t' x H o Z C'; set (v1 := ((i, b, rev bs), o) :: v).
      apply (sampled (names i [] (closed t))); [apply lazy_mean; intro; apply lazy_const|]; intros v2 M I2 N2.
      assert (FR2 : fresh i (closed t') v2).
      { rewrite C'; intros c r J [w E]; apply N2 in J as [[J|J]|J].
        - injection J as <- <-; cbn [rev] in E; rewrite rev_involutive, <- C in E.
          apply (f_equal (@length _)) in E; rewrite !app_length in E; cbn in E; lia.
        - apply (FR c r J); exists (x :: w); rewrite E, <- app_assoc; reflexivity.
        - apply names_in in J as [_ [w' J]]; cbn [rev app] in J; rewrite J in E; apply (f_equal (@length _)) in E.
          cbn [rev] in E; rewrite !app_length in E; cbn in E; lia. }
      assert (N : lookup (i, x, rev (closed t)) v2 = None).
      { destruct (lookup _ v2) eqn:E; [|reflexivity]; exfalso; apply found_some in E; apply (FR2 _ _ E).
        rewrite C'; cbn [rev]; rewrite rev_involutive; apply prefix_refl. }
      transitivity (average (fun o' => mean_of fs t' H (((i, x, rev (closed t)), o') :: v2)) (strings (rate + 2))).
      { symmetry; apply (lazy_mean i (emitting fs t') (fun r _ => H (fst r))); [intro; apply lazy_const|exact N]. }
      pose proof (IH H t' (closed t) x [] v2) as X; rewrite Z in X; rewrite Nat.sub_0_r in X; apply X; auto; unfold rate; cbn; lia. }
    destruct f as [|k e]; cbn [emitting emitted].
    + transitivity (average (fun _ => average H (strings (emitted fs))) (strings (rate + 2 - length (cur t)))); [|apply average_const, some_strings].
      apply average_ext; intros s _; now apply (NEXT _ (cur t, fi t)).
    + assert (SPLIT : rate + 2 - length (cur t) = S (rate + 1 - length (cur t))) by lia.
      rewrite SPLIT, <- !average_bytes, <- (average_xor (fun b => average (fun y => H (b :: y)) (strings (emitted fs))) k OK); apply average_ext; intros x _.
      assert (STEP : forall s, (mean i (emitting (Emit k e :: fs) t) (fun r _ => H (fst r)) (((i, b, rev bs), pre ++ x :: s) :: v) ==
        mean_of fs (feed1 t (Byte (e x))) (fun y => H (N.lxor x k :: y)) (((i, b, rev bs), pre ++ x :: s) :: v))%Q).
      { intro s; cbn [emitting mean]; rewrite C.
        rewrite (walked_ready i bs b _ _ (pre ++ x :: s)).
        2:{ cbn [found]; destruct (place_dec block_dec _ _); congruence. }
        2:{ intros n J; right; now apply I. }
        replace (get (length (cur t)) (pre ++ x :: s)) with x
          by (unfold get; rewrite app_nth2, LP, Nat.sub_diag by lia; reflexivity).
        rewrite mean_bind; reflexivity. }
      destruct (Nat.eq_dec (length (cur t) + 1) rate) as [F|F].
      * rewrite feed1_full in STEP by exact F.
        transitivity (average (fun _ => average (fun y => H (N.lxor x k :: y)) (strings (emitted fs))) (strings (rate + 1 - length (cur t)))).
        { apply average_ext; intros s _; etransitivity; [apply STEP|]; now apply (NEXT _ (cur t ++ [e x], fi t) (fun y => H (N.lxor x k :: y))). }
        apply average_const, some_strings.
      * rewrite feed1_inside in STEP by exact F.
        rewrite <- (IH (fun y => H (N.lxor x k :: y)) (Tape (closed t) (cur t ++ [e x]) (fi t)) bs b (pre ++ [x]) v); cbn [closed cur]; auto;
          rewrite ?app_length; cbn [length]; try lia.
        replace (rate + 2 - (length (cur t) + 1)) with (rate + 1 - length (cur t)) by lia.
        apply average_ext; intros s _; etransitivity; [apply STEP|]; rewrite <- app_assoc; reflexivity.
Qed.

Theorem emitted_uniform fs t v : Forall emit_ok fs -> cur t = [] -> closed t <> [] -> fresh i (closed t) v ->
  (mean_of fs t G v == average G (strings (emitted fs)))%Q.
Proof.
  intros OK Z C FR; destruct (last_of _ C) as (bs & b & E).
  assert (LZ : lazy (mean_of fs t G)) by (apply lazy_mean; intro; apply lazy_const).
  apply (sampled (names i [] bs)); [exact LZ|]; intros v1 M I N1.
  assert (FR1 : fresh i (closed t) v1).
  { intros c r J P; apply N1 in J as [J|J]; [now apply (FR c r J)|]; apply names_in in J as [_ [w J]]; cbn [rev app] in J.
    destruct P as [w' P]; rewrite E, J in P; apply (f_equal (@length _)) in P; cbn [rev] in P; rewrite !app_length in P; cbn in P; lia. }
  assert (N : lookup (i, b, rev bs) v1 = None).
  { destruct (lookup _ v1) eqn:X; [|reflexivity]; exfalso; apply found_some in X; apply (FR1 _ _ X).
    rewrite E; cbn [rev]; rewrite rev_involutive; apply prefix_refl. }
  rewrite <- (proj2 LZ _ _ N); pose proof (in_block fs OK G t bs b [] v1) as X; rewrite Z, Nat.sub_0_r in X; apply X; auto; unfold rate; cbn; lia.
Qed.
End Uniform.

(** *** The programs that emit *)

Lemma squeezing_emits i n : forall F t v,
  (mean i (squeezing n t) F v == mean i (emitting (repeat (Emit 0 (fun b => b)) n) t) F v)%Q.
Proof.
  induction n as [|n IH]; intros F t v; [reflexivity|]; cbn [squeezing repeat emitting mean]; apply walked_ext; intros o w.
  rewrite !mean_bind, IH, N.lxor_0_r; reflexivity.
Qed.

Lemma encrypting_emits i x : forall F t v,
  (mean i (encrypting x t) F v == mean i (emitting (map (fun k => Emit k (fun _ => k)) x) t) F v)%Q.
Proof.
  induction x as [|k x IH]; intros F t v; [reflexivity|]; cbn [encrypting map emitting mean]; apply walked_ext; intros o w.
  rewrite !mean_bind, IH; reflexivity.
Qed.

Lemma emitted_app fs gs : emitted (fs ++ gs) = emitted fs + emitted gs.
Proof. induction fs as [|[|k e] fs IH]; cbn [app emitted]; lia. Qed.
Lemma emitted_squeezed n : emitted (repeat (Emit 0 (fun b => b)) n) = n.
Proof. induction n; cbn [repeat emitted]; auto. Qed.
Lemma emitted_encrypted x : emitted (map (fun k => Emit k (fun _ => k)) x) = length x.
Proof. induction x; cbn [map emitted length]; auto. Qed.
Lemma squeezed_ok n : Forall emit_ok (repeat (Emit 0 (fun b => b)) n).
Proof. induction n; constructor; cbn [emit_ok]; [lia|assumption]. Qed.
Lemma encrypted_ok x : small x -> Forall emit_ok (map (fun k => Emit k (fun _ => k)) x).
Proof. induction 1; constructor; auto. Qed.
