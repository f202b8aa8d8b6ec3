(** * BoundCommitting: the AEAD of committing

    [committing_secure]: the game of [aead_secure], with tags of 32 bytes.  The tag is what Derive gives after Mask, so that a
    question has two outputs: a key stream, and a tag of the transcript with the message. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundSchemes BoundKeyed BoundSecret
  BoundNonces BoundMean BoundAnswers BoundFresh BoundAttack BoundAead BoundMac BoundSiv.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Local Notation chance := (ideal bytes_dec block_dec (strings (rate + 2))).
Local Notation course := (@table (list byte) block).
Local Notation ends u bs := (prefix (closed (feed1 u Close)) bs).

(** ** The scheme *)

Definition committing_context (nonce ad : list byte) : list op :=
  [Mix (text "tag-length") [32%N]; Mix (text "nonce") nonce; Mix (text "ad") ad].
Definition hides (nonce ad x : list byte) : list op := committing_context nonce ad ++ [Mask (text "message") x].
Definition tags (nonce ad x : list byte) : list op := hides nonce ad x ++ [Derive (text "tag") 32].

(** Under a key it is the transcript of [tags_commit]. *)
Lemma tags_committing d key nonce ad x : keyed d key (tags nonce ad x) = committing d key nonce ad x.
Proof. reflexivity. Qed.

Definition committing_tag P (domain key nonce ad x : list byte) : list byte :=
  fst (step P (Derive (text "tag") 32) (run P (keyed domain key (hides nonce ad x)))).

Definition committing_seal P (domain key nonce ad x : list byte) : list byte :=
  fst (step P (Mask (text "message") x) (run P (keyed domain key (committing_context nonce ad)))) ++
  committing_tag P domain key nonce ad x.

Definition committing_open P (domain key nonce ad y : list byte) : option (list byte) :=
  let n := length y - 32 in
  if length y <? 32 then None
  else
    let x := fst (unmask P (text "message") (firstn n y) (run P (keyed domain key (committing_context nonce ad)))) in
    if same_bytes (committing_tag P domain key nonce ad x) (skipn n y) then Some x else None.

Definition committing_aead P (domain key : list byte) (q : aead_question) : option (list byte) :=
  match q with
  | Encrypt nonce ad x => Some (committing_seal P domain key nonce ad x)
  | Decrypt nonce ad y => committing_open P domain key nonce ad y
  end.

(** Every ciphertext and tag is a uniform string; only these are decrypted. *)
Definition committing_ideal (h : log aead_question) (i : nat) (q : aead_question) : option (list byte) + nat :=
  match q with
  | Encrypt _ _ x => inr (length x + 32)
  | Decrypt nonce ad y => inl (decrypted h i nonce ad y)
  end.

Fixpoint committing_player (A : attacker aead_question) : player :=
  match A with
  | Halt yes => Say yes
  | Apply x k => Permute x (fun y => committing_player (k y))
  | Invert y k => Unpermute y (fun x => committing_player (k x))
  | Ask i (Encrypt nonce ad x) k =>
      Use i (hides nonce ad x) (fun c => Use i (tags nonce ad x) (fun tag => committing_player (k (Some (c ++ tag)))))
  | Ask i (Decrypt nonce ad y) k =>
      let n := length y - 32 in
      if length y <? 32 then committing_player (k None)
      else
        Unmask i (committing_context nonce ad) (text "message") (firstn n y) (fun x =>
        Use i (tags nonce ad x) (fun tag => committing_player (k (if same_bytes tag (skipn n y) then Some x else None))))
  end.

Lemma committing_says domain p keys A : says domain p keys (committing_player A) = attacks committing_aead domain p keys A.
Proof.
  assert (T : forall P d key nonce ad x, answer P (keyed d key (tags nonce ad x)) = committing_tag P d key nonce ad x)
    by (intros P d key nonce ad x; exact (answer_snoc P (keyed d key (hides nonce ad x)) (Derive (text "tag") 32))).
  assert (C : forall P d key nonce ad x, answer P (keyed d key (hides nonce ad x)) =
    fst (step P (Mask (text "message") x) (run P (keyed d key (committing_context nonce ad)))))
    by (intros P d key nonce ad x; exact (answer_snoc P (keyed d key (committing_context nonce ad)) (Mask (text "message") x))).
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad y] k IH]; cbn [committing_player attacks committing_aead]; cbv zeta; cbn [says].
  - reflexivity.
  - apply IH.
  - apply IH.
  - rewrite T, C, IH; reflexivity.
  - unfold committing_open; cbv zeta; destruct (length y <? 32); cbn [says]; [apply IH|]; rewrite T, IH; reflexivity.
Qed.

Lemma context_is_passive nonce ad : passive (committing_context nonce ad).
Proof. intros o [<-|[<-|[<-|[]]]]; exact I. Qed.

Lemma decrypted_short h i nonce ad c : (forall e, In e h -> 32 <= length (snd e)) -> length c < 32 -> decrypted h i nonce ad c = None.
Proof.
  intros L S; destruct (decrypted h i nonce ad c) as [x|] eqn:E; [|reflexivity]; exfalso.
  apply decrypted_some in E; apply L in E; cbn [snd] in E; lia.
Qed.

(** ** Where blocks are closed early *)

Section Users.
Variable users : nat.
Variable domain : nat -> list byte.
Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).

(** Derive after Mask, after what is passive: the tapes, and where they are closed early. *)
Section Masked.
Variables (i : nat) (M : list op) (l l2 : list byte) (n : nat).
Hypothesis P : passive M.
Notation here := (starting (Mask l []) (prologue domain i M)).
Notation masked x := (prologue domain i (M ++ [Mask l x])).
Notation masking x := (stepping (Mask l x) (prologue domain i M)).
Notation deriving x := (program domain i ((M ++ [Mask l x]) ++ [Derive l2 n])).

Lemma masked_tape x : masked x = feed (bytes x) (feed1 here Close).
Proof. unfold prologue; rewrite fold_left_app; reflexivity. Qed.

Lemma masking_tape O x : snd (result O (masking x)) = masked x.
Proof. rewrite masked_tape; unfold stepping; apply encrypting_feeds. Qed.

Lemma deriving_is x : exists y, deriving x = transcript [Mask l x; Derive l2 n] (y, prologue domain i M).
Proof. rewrite program_from, <- app_assoc; exact (laid [Mask l x; Derive l2 n] M P [] (begun domain i no_key)). Qed.

Lemma deriving_mean x F v : (mean i (deriving x) F v == mean i (masking x) (fun r => mean i (stepping (Derive l2 n) (snd r)) F) v)%Q.
Proof.
  destruct (deriving_is x) as [y ->]; cbn [transcript snd]; rewrite (mean_bind i (masking x)).
  apply mean_ext; intros r w; rewrite mean_bind; reflexivity.
Qed.

Lemma deriving_result O x : result O (deriving x) = result O (stepping (Derive l2 n) (masked x)).
Proof. destruct (deriving_is x) as [y ->]; cbn [transcript snd]; rewrite !result_bind, masking_tape; reflexivity. Qed.

Lemma deriving_needs O x : needs O (deriving x) = needs O (masking x) ++ needs O (stepping (Derive l2 n) (masked x)).
Proof. destruct (deriving_is x) as [y ->]; cbn [transcript snd]; rewrite !needs_bind, masking_tape; cbn [needs]; now rewrite app_nil_r. Qed.

Lemma masked_whole u x : length (cur u) < rate -> ends u (closed (masked x)) -> u = here.
Proof.
  intros U E; rewrite masked_tape in E; apply (ends_close _ U) in E as [E|E]; [|exact E].
  now destruct (starting_whole domain u (Mask l []) i M U P).
Qed.

Lemma masking_closes O u x bs b r : length (cur u) < rate -> In bs (needs O (masking x)) ->
  In (i, b, r) (names i [] bs) -> ends u (rev (b :: r)) -> u = here.
Proof.
  intros U B J E; destruct (within_stepping O (Mask l x) (prologue domain i M)) as [_ W].
  destruct (W bs B) as [_ Q]; rewrite masking_tape in Q; apply (masked_whole u x U); now apply (new_ends u i b r bs).
Qed.

Lemma deriving_closes O u x bs b r : length (cur u) < rate -> In bs (needs O (deriving x)) ->
  In (i, b, r) (names i [] bs) -> ends u (rev (b :: r)) -> u = here \/ u = starting (Derive l2 n) (masked x).
Proof.
  intros U B J E; rewrite deriving_needs in B; apply in_app_or in B as [B|B]; [left; exact (masking_closes O u x bs b r U B J E)|].
  destruct (within_stepping O (Derive l2 n) (masked x)) as [_ W]; destruct (W bs B) as [_ Q].
  pose proof (new_ends u i b r bs _ J E Q) as X; unfold stepping in X; cbn [code label] in X.
  match type of X with context [squeezing n ?t] => destruct (squeezing_feeds O n t) as [y Y]; rewrite Y in X end.
  apply (ends_close _ U) in X as [X|X]; [left|right; exact X].
  apply (ends_bytes _ U), (ends_header _ U) in X; exact (masked_whole u x U X).
Qed.

(** The two places are apart, and each has one transcript. *)
Lemma here_no_tag M' l' x : length l <= label_max -> length l2 <= label_max -> here <> starting (Derive l2 n) (prologue domain i (M' ++ [Mask l' x])).
Proof.
  intros L L2 E; unfold starting in E.
  apply header_injective in E as (E & _); auto using ready_prologue; try reflexivity; discriminate.
Qed.

Lemma here_inj M' : i < users -> legal M -> legal M' -> length l <= label_max -> here = starting (Mask l []) (prologue domain i M') -> M = M'.
Proof.
  intros U L L' S E; unfold starting in E.
  apply header_injective in E as (_ & _ & _ & E); auto using ready_prologue; try reflexivity.
  now apply (prologue_inj users domain domains i).
Qed.

Lemma derive_inj M' x x' : i < users -> legal (M ++ [Mask l x]) -> legal (M' ++ [Mask l x']) -> length l2 <= label_max ->
  starting (Derive l2 n) (masked x) = starting (Derive l2 n) (prologue domain i (M' ++ [Mask l x'])) -> M = M' /\ x = x'.
Proof.
  intros U L L' S E; unfold starting in E.
  apply header_injective in E as (_ & _ & _ & E); auto using ready_prologue; try reflexivity.
  apply (prologue_inj users domain domains i) in E; auto; apply app_inj_tail in E as [E X]; injection X as ->; auto.
Qed.

Lemma unmasking_back O c : let x := fst (result O (unmask_program domain i M l c)) in fst (result O (masking x)) = c.
Proof.
  cbv zeta; rewrite (unmask_at domain i _ _ _ P); unfold stepping, unmasking; cbn [code label].
  now destruct (decrypting_feeds O c (feed1 (tape_header 4 l (prologue domain i M)) Close)) as (_ & _ & ->).
Qed.

Lemma masking_back v c x : fst (result (by_table i v) (masking x)) = c -> known i v (masking x) ->
  known i v (unmask_program domain i M l c) /\ fst (result (by_table i v) (unmask_program domain i M l c)) = x.
Proof.
  rewrite (unmask_at domain i _ _ _ P); unfold unmasking, stepping; cbn [code label]; intros R K.
  destruct (result (by_table i v) (encrypting x (feed1 (tape_header 4 l (prologue domain i M)) Close))) as [c' u] eqn:E.
  cbn [fst] in R; subst c'; destruct (decrypt_back _ _ _ _ _ E) as [-> DN]; split; [|reflexivity].
  intros bs B; apply K; rewrite DN in B; exact B.
Qed.
End Masked.

Lemma here_any l x t : starting (Mask l x) t = starting (Mask l []) t.
Proof. reflexivity. Qed.

Lemma context_inj nonce ad nonce' ad' : committing_context nonce ad = committing_context nonce' ad' -> nonce = nonce' /\ ad = ad'.
Proof. intro E; injection E; auto. Qed.

Lemma message_short : length (text "message") <= label_max.
Proof. cbn; unfold label_max; lia. Qed.
Lemma tag_short : length (text "tag") <= label_max.
Proof. cbn; unfold label_max; lia. Qed.
Lemma message_small : small (text "message").
Proof. repeat constructor. Qed.

Local Notation stream_at i nonce ad := (starting (Mask (text "message") []) (prologue domain i (committing_context nonce ad))).
Local Notation tag_at i nonce ad x := (starting (Derive (text "tag") 32) (prologue domain i (committing_context nonce ad ++ [Mask (text "message") x]))).
Local Notation masking i nonce ad x := (stepping (Mask (text "message") x) (prologue domain i (committing_context nonce ad))).

(** ** What the table has *)

Local Notation hiding i nonce ad x := (program domain i (hides nonce ad x)).
Local Notation tagging_it i nonce ad x := (program domain i (tags nonce ad x)).
Local Notation PA nonce ad := (context_is_passive nonce ad).

Lemma hiding_result O i nonce ad x : result O (hiding i nonce ad x) = result O (masking i nonce ad x).
Proof. exact (program_result domain O i (committing_context nonce ad) (Mask (text "message") x) (PA nonce ad)). Qed.
Lemma hiding_needs O i nonce ad x : needs O (hiding i nonce ad x) = needs O (masking i nonce ad x).
Proof. exact (program_needs domain O i (committing_context nonce ad) (Mask (text "message") x) (PA nonce ad)). Qed.
Lemma hiding_mean i nonce ad x F v : (mean i (hiding i nonce ad x) F v == mean i (masking i nonce ad x) F v)%Q.
Proof. exact (program_mean domain i (committing_context nonce ad) (Mask (text "message") x) F v (PA nonce ad)). Qed.
Lemma tags_result O i nonce ad x : result O (tagging_it i nonce ad x) =
  result O (stepping (Derive (text "tag") 32) (prologue domain i (committing_context nonce ad ++ [Mask (text "message") x]))).
Proof. exact (deriving_result i (committing_context nonce ad) (text "message") (text "tag") 32 (PA nonce ad) O x). Qed.
Lemma tags_needs O i nonce ad x : needs O (tagging_it i nonce ad x) = needs O (masking i nonce ad x) ++
  needs O (stepping (Derive (text "tag") 32) (prologue domain i (committing_context nonce ad ++ [Mask (text "message") x]))).
Proof. exact (deriving_needs i (committing_context nonce ad) (text "message") (text "tag") 32 (PA nonce ad) O x). Qed.
Lemma tags_mean i nonce ad x F v : (mean i (tagging_it i nonce ad x) F v ==
  mean i (masking i nonce ad x) (fun r => mean i (stepping (Derive (text "tag") 32) (snd r)) F) v)%Q.
Proof. exact (deriving_mean i (committing_context nonce ad) (text "message") (text "tag") 32 (PA nonce ad) x F v). Qed.
Lemma mask_tape O i nonce ad x : snd (result O (masking i nonce ad x)) = prologue domain i (committing_context nonce ad ++ [Mask (text "message") x]).
Proof. exact (masking_tape i (committing_context nonce ad) (text "message") O x). Qed.
Lemma mask_closes O u i nonce ad x bs b r : length (cur u) < rate -> In bs (needs O (masking i nonce ad x)) ->
  In (i, b, r) (names i [] bs) -> ends u (rev (b :: r)) -> u = stream_at i nonce ad.
Proof. exact (masking_closes i (committing_context nonce ad) (text "message") (PA nonce ad) O u x bs b r). Qed.

(** Possible answers, as [affords] says it. *)
Lemma hiding_out O i nonce ad x : (forall bs, small (O bs)) -> small x ->
  In (fst (result O (hiding i nonce ad x))) (strings (out_length (last (hides nonce ad x) (Init [])))).
Proof. intros S X; unfold hides at 2; rewrite last_last, hiding_result; exact (stepping_in O S (Mask (text "message") x) _ X). Qed.
Lemma tags_out O i nonce ad x : (forall bs, small (O bs)) ->
  In (fst (result O (tagging_it i nonce ad x))) (strings (out_length (last (tags nonce ad x) (Init [])))).
Proof. intro S; unfold tags at 2; rewrite last_last, tags_result; apply (stepping_in O S (Derive (text "tag") 32)); constructor. Qed.

Definition held (h : log aead_question) (v : course) : Prop :=
  small_table v /\
  (forall e, In e h -> exists nonce ad x, snd (fst e) = Encrypt nonce ad x /\ length (snd e) = length x + 32) /\
  (forall i nonce ad x y, In (i, Encrypt nonce ad x, y) h -> known i v (tagging_it i nonce ad x) /\
    y = fst (result (by_table i v) (hiding i nonce ad x)) ++ fst (result (by_table i v) (tagging_it i nonce ad x))) /\
  (forall i nonce ad b r, i < users -> legal (committing_context nonce ad) -> In (i, b, r) (map fst v) ->
    ends (stream_at i nonce ad) (rev (b :: r)) -> exists x y, In (i, Encrypt nonce ad x, y) h) /\
  (forall i nonce ad x b r, i < users -> legal (hides nonce ad x) -> In (i, b, r) (map fst v) ->
    ends (tag_at i nonce ad x) (rev (b :: r)) -> exists y, In (i, Encrypt nonce ad x, y) h).

Lemma held_nothing : held [] [].
Proof. split; [discriminate|]; split; [intros e []|split; [intros i n a x y []|split; [intros i n a b r _ _ []|intros i n a x b r _ _ []]]]. Qed.

Lemma known_hides i v nonce ad x : known i v (tagging_it i nonce ad x) -> known i v (masking i nonce ad x).
Proof. intros K bs B; apply K; rewrite tags_needs; apply in_or_app; now left. Qed.
Lemma known_hiding i v nonce ad x : known i v (tagging_it i nonce ad x) -> known i v (hiding i nonce ad x).
Proof. intros K bs B; rewrite hiding_needs in B; exact (known_hides i v nonce ad x K bs B). Qed.

Lemma legal_hides nonce ad x : legal (hides nonce ad x) -> legal (committing_context nonce ad) /\ small x.
Proof.
  intro L; split; [intros o J; apply L, in_or_app; now left|].
  destruct (L (Mask (text "message") x)) as (_ & _ & S); [apply in_or_app; right; now left|exact S].
Qed.

Lemma open_at_all o M j : length (cur (starting o (prologue domain j M))) < rate.
Proof. apply starting_open. Qed.

Lemma held_more h v v1 v2 i nonce ad x : held h v -> i < users -> legal (hides nonce ad x) ->
  reached i (hiding i nonce ad x) v v1 -> reached i (tagging_it i nonce ad x) v1 v2 ->
  held ((i, Encrypt nonce ad x, fst (result (by_table i v1) (hiding i nonce ad x)) ++ fst (result (by_table i v2) (tagging_it i nonce ad x))) :: h) v2.
Proof.
  intros (H0 & H1 & H2 & H3 & H4) U L (M1 & K1 & S1 & N1) (M2 & K2 & S2 & N2); destruct (legal_hides _ _ _ L) as [LC SX].
  assert (NEW : forall u j b r, length (cur u) < rate -> In (j, b, r) (map fst v2) -> ends u (rev (b :: r)) ->
    In (j, b, r) (map fst v) \/ j = i /\ (u = stream_at i nonce ad \/ u = tag_at i nonce ad x)).
  { intros u j b r LU J E; apply N2 in J as [J|(bs & B & J)].
    - apply N1 in J as [J|(bs & B & J)]; [now left|right].
      pose proof (names_in _ _ _ _ _ _ J) as [-> _]; split; [reflexivity|left].
      rewrite hiding_needs in B; exact (mask_closes _ u i nonce ad x bs b r LU B J E).
    - right; pose proof (names_in _ _ _ _ _ _ J) as [-> _]; split; [reflexivity|].
      exact (deriving_closes i (committing_context nonce ad) (text "message") (text "tag") 32 (PA nonce ad) _ u x bs b r LU B J E). }
  split; [auto|split; [|split; [|split]]].
  - intros e [<-|J]; [|auto]; exists nonce, ad, x; cbn [fst snd]; split; [reflexivity|rewrite app_length; f_equal].
    + rewrite hiding_result; apply encrypting_length.
    + rewrite tags_result; apply squeezing_length.
  - intros j n a z y [E|J].
    + injection E as <- <- <- <- <-; split; [exact K2|]; f_equal; f_equal; symmetry; now apply (result_known i v1 v2).
    + destruct (H2 j n a z y J) as [KJ RJ]; pose proof (more_trans _ _ _ M1 M2) as M.
      destruct (result_known j v v2 _ M KJ) as [-> K']; destruct (result_known j v v2 _ M (known_hiding _ _ _ _ _ KJ)) as [-> _]; auto.
  - intros j n a b r UJ LJ J E; destruct (NEW _ j b r (open_at_all _ _ j) J E) as [J'|(-> & [X|X])].
    + destruct (H3 j n a b r UJ LJ J' E) as (z & y & I); exists z, y; now right.
    + apply here_inj in X; auto using message_short; apply context_inj in X as [-> ->]; exists x; eexists; now left.
    + exfalso; revert X; apply here_no_tag; [apply message_short|apply tag_short].
  - intros j n a z b r UJ LJ J E; destruct (NEW _ j b r (open_at_all _ _ j) J E) as [J'|(-> & [X|X])].
    + destruct (H4 j n a z b r UJ LJ J' E) as (y & I); exists y; now right.
    + exfalso; symmetry in X; revert X; apply here_no_tag; [apply message_short|apply tag_short].
    + apply derive_inj in X as [X ->]; auto using tag_short; apply context_inj in X as [-> ->]; eexists; now left.
Qed.

(** ** Encryption *)

Lemma tag_fresh h v v1 i nonce ad x : held h v -> i < users -> legal (hides nonce ad x) -> (forall y, ~ In (i, Encrypt nonce ad x, y) h) ->
  (forall b r, In (i, b, r) (map fst v1) -> In (i, b, r) (map fst v) \/
    forall u, length (cur u) < rate -> ends u (rev (b :: r)) -> u = stream_at i nonce ad) ->
  fresh i (closed (feed1 (tag_at i nonce ad x) Close)) v1.
Proof.
  intros (_ & _ & _ & _ & H4) U L NO N b r J E; apply N in J as [J|X].
  - destruct (H4 i nonce ad x b r U L J E) as [y I]; exact (NO y I).
  - specialize (X _ (open_at_all _ _ i) E); symmetry in X; revert X; apply here_no_tag; [apply message_short|apply tag_short].
Qed.

Lemma sealed_uniform h v i nonce ad x (G : list byte -> Q) : held h v -> i < users -> legal (hides nonce ad x) ->
  (forall z y, ~ In (i, Encrypt nonce ad z, y) h) ->
  (mean i (hiding i nonce ad x) (fun r => mean i (tagging_it i nonce ad x) (fun s _ => G (fst r ++ fst s))) v ==
   average G (strings (length x + 32)))%Q.
Proof.
  intros H U L NO; pose proof H as (_ & _ & _ & H3 & _); destruct (legal_hides _ _ _ L) as [LC SX].
  rewrite hiding_mean; transitivity (mean i (masking i nonce ad x) (fun r _ => average (fun t => G (fst r ++ t)) (strings 32)) v).
  - apply mean_same; intros v1 (M1 & K1 & S1 & N1).
    rewrite tags_mean, (mean_known i (fun r => mean i (stepping (Derive (text "tag") 32) (snd r)) _) v1) by exact K1; rewrite mask_tape.
    apply (stepping_uniform i (Derive (text "tag") 32) _ (fun t => G (fst (result (by_table i v1) (masking i nonce ad x)) ++ t)));
      [split; reflexivity|constructor|].
    apply (tag_fresh h v v1 i nonce ad x H U L (NO x)); intros b r J; apply N1 in J as [J|(bs & B & J)]; [now left|right].
    intros u LU E; exact (mask_closes _ u i nonce ad x bs b r LU B J E).
  - assert (FR : fresh i (closed (feed1 (starting (Mask (text "message") x) (prologue domain i (committing_context nonce ad))) Close)) v)
      by (rewrite here_any; intros b r J E; destruct (H3 i nonce ad b r U LC J E) as (z & y & I); exact (NO z y I)).
    etransitivity; [exact (stepping_uniform i (Mask (text "message") x) (prologue domain i (committing_context nonce ad))
      (fun c => average (fun t => G (c ++ t)) (strings 32)) v eq_refl SX FR)|exact (average_strings (length x) 32 G)].
Qed.

(** ** Tags that nobody made *)

Definition guess_32 : Q := 1 / inject_Z (2 ^ 256).

Lemma one_of_32 tag : (average (fun t => indicator (same_bytes t tag)) (strings 32) <= guess_32)%Q.
Proof.
  unfold guess_32; rewrite <- keys_count; apply average_few; [apply strings_once|].
  intros a b _ _; unfold same_bytes; destruct (bytes_dec a tag), (bytes_dec b tag); congruence.
Qed.

Local Notation unmasked i nonce ad c := (unmask_program domain i (committing_context nonce ad) (text "message") c).

Definition attempt (i : nat) (nonce ad c : list byte) : prog (list byte * list byte) :=
  bind (unmasked i nonce ad c) (fun r => bind (tagging_it i nonce ad (fst r)) (fun s => Ret (fst r, fst s))).

Lemma unmasked_in O i nonce ad c : (forall bs, small (O bs)) -> small c -> In (fst (result O (unmasked i nonce ad c))) (strings (length c)).
Proof. intros S C; rewrite (unmask_at domain i (committing_context nonce ad) (text "message") c (PA nonce ad)); now apply unmasking_in. Qed.

Lemma attempt_new h v i nonce ad c tag : held h v -> i < users -> legal (committing_context nonce ad) -> small c ->
  decrypted h i nonce ad (c ++ tag) = None ->
  (mean i (attempt i nonce ad c) (fun a _ => indicator (same_bytes (snd a) tag)) v <= guess_32)%Q.
Proof.
  intros H U LC SC NO; pose proof H as (H0 & _ & H2 & _ & _); unfold attempt; rewrite mean_bind.
  assert (G0 : (0 <= guess_32)%Q) by discriminate.
  apply Qle_trans with (mean i (unmasked i nonce ad c) (fun _ _ => 0) v + guess_32)%Q; [|rewrite mean_const; lra].
  apply mean_within; [exact G0|]; intros v1 (MV & KN & SV & NEW).
  pose proof (unmasked_in _ i nonce ad c (by_table_small i v1 (SV H0)) SC) as XS.
  pose proof (unmasking_back i (committing_context nonce ad) (text "message") (PA nonce ad) (by_table i v1) c) as EN; cbv zeta in EN.
  rewrite <- hiding_result in EN; set (x := fst (result (by_table i v1) (unmasked i nonce ad c))) in *.
  assert (L : legal (hides nonce ad x)).
  { intros o J; apply in_app_or in J as [J|[<-|[]]]; [now apply LC|]; cbn [label data]; apply in_strings in XS as [_ XS].
    split; [apply message_short|split; [apply message_small|exact XS]]. }
  rewrite mean_bind; cbn [mean fst snd].
  destruct (encrypted h i nonce ad x) as [y1|] eqn:E1.
  - apply encrypted_some in E1; destruct (H2 _ _ _ _ _ E1) as [KT Y].
    destruct (result_known i v v1 _ MV KT) as [RT KT1]; destruct (result_known i v v1 _ MV (known_hiding _ _ _ _ _ KT)) as [RH _].
    rewrite <- RT, <- RH, EN in Y; rewrite (mean_known i (fun s _ => indicator (same_bytes (fst s) tag))) by exact KT1.
    unfold same_bytes; destruct (bytes_dec _ tag) as [E|]; [|unfold indicator; lra].
    exfalso; rewrite E in Y; subst y1; exact (decrypted_none _ _ _ _ _ NO x E1).
  - rewrite tags_mean.
    apply Qle_trans with (mean i (masking i nonce ad x) (fun _ _ => 0) v1 + guess_32)%Q; [|rewrite mean_const; lra].
    apply mean_within; [exact G0|]; intros v2 (M2 & K2 & S2 & N2); rewrite mask_tape, Qplus_0_l.
    eapply Qle_trans; [apply Qle_lteq; right; apply (stepping_uniform i (Derive (text "tag") 32) _ (fun t => indicator (same_bytes t tag)) v2);
      [split; reflexivity|constructor|]|exact (one_of_32 tag)].
    apply (tag_fresh h v v2 i nonce ad x H U L (encrypted_none _ _ _ _ _ E1)); intros b r J.
    apply N2 in J as [J|(bs & B & J)].
    + apply NEW in J as [J|(bs & B & J)]; [now left|right]; intros u LU E.
      exact (unmask_closes domain _ u i _ _ _ bs b r LU (PA nonce ad) B J E).
    + right; intros u LU E; exact (mask_closes _ u i nonce ad x bs b r LU B J E).
Qed.

(** ** The theorem *)

Lemma committing_near p A : In p all_permutations -> forall q m n h v used, affords users domain q m (committing_player A) ->
  at_most decrypts n A -> new_nonces aead_nonce used A -> (forall i nonce ad x y, In (i, Encrypt nonce ad x, y) h -> In (i, nonce) used) ->
  held h v -> near (chance p (compiled domain (committing_player A)) v) (imagined committing_ideal p h A) (nat_q n * guess_32).
Proof.
  assert (E0 : forall n, (0 <= nat_q n * guess_32)%Q) by (intro n; apply Qmult_le_0_compat; [apply nat_q_nonneg|discriminate]).
  assert (EN : forall n, (nat_q (S n) * guess_32 == guess_32 + nat_q n * guess_32)%Q) by (intro n; rewrite nat_q_S; ring).
  intro IP; induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad y] k IH]; intros q m n h v used F AD NN US H;
    cbn [committing_player at_most decrypts new_nonces aead_nonce] in *; cbv zeta in *.
  - cbn [compiled imagined ideal]; unfold near; pose proof (E0 n); lra.
  - cbn [compiled imagined affords] in *; destruct F as [X F], q as [|q]; [destruct F|].
    exact (IH _ q m n h v used (F _ (perm_states p IP x X)) (AD _) (NN _) US H).
  - cbn [compiled imagined affords] in *; destruct F as [X F], q as [|q]; [destruct F|].
    exact (IH _ q m n h v used (F _ (unperm_states p _ IP X)) (AD _) (NN _) US H).
  - cbn [affords] in F; destruct F as (U & L & a & m' & _ & _ & F), NN as [NU NN].
    assert (NO : forall z y, ~ In (i, Encrypt nonce ad z, y) h) by (intros z y J; apply NU; exact (US i nonce ad z y J)).
    destruct (legal_hides _ _ _ L) as [LC SX]; cbn [imagined committing_ideal compiled].
    rewrite <- (sealed_uniform h v i nonce ad x _ H U L NO), chance_ask.
    apply mean_near; [apply E0|]; intros v1 R1; rewrite chance_ask; apply mean_near; [apply E0|]; intros v2 R2.
    pose proof (held_more h v v1 v2 i nonce ad x H U L R1 R2) as H'.
    assert (S1 : small_table v1) by (apply R1, H).
    destruct (F _ (hiding_out _ i nonce ad x (by_table_small i v1 S1) SX)) as (_ & _ & a' & m2 & _ & _ & F2).
    pose proof (F2 _ (tags_out _ i nonce ad x (by_table_small i v2 (proj1 H')))) as F3.
    apply (IH _ q m2 n _ v2 ((i, nonce) :: used)); auto.
    intros j n' a2 z y [J|J]; [injection J as -> -> _ _ _; now left|right; exact (US j n' a2 z y J)].
  - destruct n as [|n]; [destruct AD|]; cbn [imagined committing_ideal]; destruct (Nat.ltb_spec (length y) 32) as [SH|SH].
    + rewrite decrypted_short; [|intros e J; destruct H as (_ & H1 & _); destruct (H1 e J) as (n' & a' & z & _ & ->); lia|exact SH].
      apply (near_more _ _ (nat_q n * guess_32)); [rewrite EN; assert (0 <= guess_32)%Q by discriminate; lra|]; apply (IH _ q m n h v used); auto.
    + set (c := firstn (length y - 32) y) in *; set (tag := skipn (length y - 32) y) in *.
      assert (Y : y = c ++ tag) by (symmetry; apply firstn_skipn).
      cbn [affords] in F; destruct F as (U & LC & (_ & _ & SC) & a & m' & _ & _ & F); cbn [compiled].
      assert (X : (chance p (ask i (unmask_program domain i (committing_context nonce ad) (text "message") c) (fun r =>
          ask i (program domain i (tags nonce ad (fst r))) (fun s =>
          compiled domain (committing_player (k (if same_bytes (fst s) tag then Some (fst r) else None)))))) v ==
        mean i (attempt i nonce ad c) (fun a => chance p (compiled domain (committing_player (k (if same_bytes (snd a) tag then Some (fst a) else None))))) v)%Q)
        by (unfold attempt; rewrite chance_ask, mean_bind; apply mean_ext; intros r w; rewrite chance_ask, mean_bind; reflexivity).
      rewrite X; clear X; destruct (decrypted h i nonce ad y) as [x|] eqn:E.
      * apply decrypted_some in E as I; pose proof H as (H0 & H1 & H2 & _); destruct (H2 _ _ _ _ _ I) as [KT YT].
        destruct (H1 _ I) as (n' & a' & z & EQ & LY); cbn [fst snd] in EQ, LY; injection EQ as <- <- <-.
        assert (RC : fst (result (by_table i v) (hiding i nonce ad x)) = c /\ fst (result (by_table i v) (tagging_it i nonce ad x)) = tag).
        { rewrite Y in YT; apply app_split in YT as [-> ->]; [auto|].
          rewrite hiding_result; unfold stepping; cbn [code label]; rewrite encrypting_length; unfold c; rewrite firstn_length; lia. }
        destruct RC as [RC RT]; rewrite hiding_result in RC.
        destruct (masking_back i (committing_context nonce ad) (text "message") (PA nonce ad) v c x RC (known_hides _ _ _ _ _ KT)) as [KU RU].
        pose proof (unmasked_in _ i nonce ad c (by_table_small i v H0) SC) as XS; rewrite RU in XS; specialize (F _ XS).
        destruct F as (_ & _ & a2 & m2 & _ & _ & F).
        pose proof (tags_out _ i nonce ad x (by_table_small i v H0)) as TS; rewrite RT in TS; specialize (F _ TS).
        unfold attempt; rewrite mean_bind.
        rewrite (mean_known i (fun r => mean i (bind (tagging_it i nonce ad (fst r)) (fun s => Ret (fst r, fst s))) _) v) by exact KU.
        rewrite RU, mean_bind; cbn [mean fst snd].
        rewrite (mean_known i (fun s => chance p (compiled domain (committing_player (k (if same_bytes (fst s) tag then Some x else None))))) v) by exact KT.
        rewrite RT; unfold same_bytes in *; destruct (bytes_dec tag tag) as [_|N]; [|congruence].
        apply (near_more _ _ (nat_q n * guess_32)); [rewrite EN; assert (0 <= guess_32)%Q by discriminate; lra|]; apply (IH _ q m2 n h v used); auto.
      * rewrite EN; apply (near_trans _ (chance p (compiled domain (committing_player (k None))) v)).
        -- rewrite Y in E; apply (near_more _ _ _ _ (attempt_new h v i nonce ad c tag H U LC SC E)).
           apply (mean_until p i (attempt i nonce ad c) (fun a => compiled domain (committing_player (k (if same_bytes (snd a) tag then Some (fst a) else None))))
             (fun a => same_bytes (snd a) tag)).
           intros b ->; reflexivity.
        -- assert (X : In (repeat 0%N (length c)) (strings (length c))) by (apply in_strings; split; [apply repeat_length|apply small_repeat; lia]).
           specialize (F _ X); destruct F as (_ & _ & a' & m2 & _ & _ & F); unfold tags in F; rewrite last_last in F; cbn [out_length] in F.
           destruct (other_tag 31 tag) as (t & T & NO); specialize (F t T); rewrite NO in F.
           apply (IH None q m2 n h v used); auto.
Qed.

(** As [aead_secure], with tags of 32 bytes. *)
Theorem committing_secure A q m n : affords users domain q m (committing_player A) -> new_nonces aead_nonce [] A -> at_most decrypts n A ->
  (advantage committing_aead committing_ideal users domain A <=
    nat_q n / inject_Z (2 ^ 256) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros F NN AM; assert (E : (nat_q n / inject_Z (2 ^ 256) == nat_q n * guess_32)%Q) by (unfold guess_32; field; discriminate); rewrite E.
  apply (advantage_near committing_aead committing_ideal users domain domains A (committing_player A)); auto using committing_says.
  - intros p IP; apply (committing_near p A IP q m n [] [] []); auto using held_nothing; intros i nonce ad x y [].
  - apply Qmult_le_0_compat; [apply nat_q_nonneg|discriminate].
Qed.

(** With nonces of 24 random bytes. *)
Theorem committing_random_nonces A q m n s : no_nonces aead_nonce A ->
  (forall w, In w (nonces s) -> affords users domain q m (committing_player (with_nonces w A)) /\ at_most decrypts n (with_nonces w A)) ->
  (random_advantage committing_aead committing_ideal users domain s A <=
    inject_Z (z s * z s) / inject_Z (2 ^ 193) + (nat_q n / inject_Z (2 ^ 256) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256)))%Q.
Proof.
  intros NO H; apply (random_nonces aead_nonce); [|exact NO|].
  - apply Qle_trans with (0 + 0)%Q; [discriminate|]; apply Qplus_le_compat; [|apply rest_nonneg].
    apply Qmult_le_0_compat; [apply nat_q_nonneg|discriminate].
  - intros w I NN; destruct (H w I); now apply committing_secure.
Qed.
End Users.

Corollary committing_secure_2_128 users domain A q m n : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m (committing_player A) -> new_nonces aead_nonce [] A -> at_most decrypts n A -> (z (q + m) <= 2 ^ 64)%Z ->
  (advantage committing_aead committing_ideal users domain A <= nat_q n / inject_Z (2 ^ 256) + 1 / inject_Z (2 ^ 128))%Q.
Proof.
  intros D F NN AM H; eapply Qle_trans; [exact (committing_secure users domain D A q m n F NN AM)|].
  apply Qplus_le_compat; [apply Qle_refl|now apply below_2_128].
Qed.

(** The attacker of aead: it encrypts nothing, and decrypts what it got with other associated data. *)
Example committing_replay_allowed : let d := fun _ => text "example" in
  affords 1 d 0 12 (committing_player replay) /\ new_nonces aead_nonce [] replay /\ at_most decrypts 1 replay.
Proof.
  cbv zeta; split; [|split; [split; [intros []|]; repeat constructor|repeat intro; exact I]].
  assert (N : small (repeat 7%N 16)) by (apply small_repeat; lia).
  assert (LC : forall ad, small ad -> legal (committing_context (repeat 7%N 16) ad)).
  { intros ad A o [<-|[<-|[<-|[]]]]; cbn [label data]; repeat split; auto; try (cbn; unfold label_max; lia); repeat constructor. }
  assert (LH : forall ad, small ad -> legal (hides (repeat 7%N 16) ad [])).
  { intros ad A o J; apply in_app_or in J as [J|[<-|[]]]; [exact (LC ad A o J)|]; cbn [label data].
    split; [apply message_short|split; [apply message_small|constructor]]. }
  assert (LT : forall ad, small ad -> legal (tags (repeat 7%N 16) ad [])).
  { intros ad A o J; apply in_app_or in J as [J|[<-|[]]]; [exact (LH ad A o J)|]; cbn [label data].
    split; [apply tag_short|split; repeat constructor]. }
  unfold replay; cbn [committing_player]; cbv zeta; cbn [affords]; split; [lia|split; [apply LH; constructor|]].
  exists 3, 9; split; [lia|split; [intros O _; vm_compute; repeat constructor|]]; intros c C; apply in_strings in C as [LX _].
  split; [lia|split; [apply LT; constructor|]]; exists 3, 6; split; [lia|split; [intros O _; vm_compute; repeat constructor|]].
  intros t T; apply in_strings in T as [LY _]; cbn in LX; destruct c; [|discriminate]; cbn [app].
  assert (L32 : length t = 32) by exact LY; rewrite L32; cbn [Nat.ltb Nat.leb]; change (32 - 32) with 0; cbn [firstn affords].
  split; [lia|split; [apply LC; repeat constructor|split; [split; [apply message_short|split; [apply message_small|constructor]]|]]].
  exists 3, 3; split; [lia|split; [intros O _; vm_compute; repeat constructor|]]; intros x X; apply in_strings in X as [LZ _]; destruct x; [|discriminate].
  split; [lia|split; [apply LT; repeat constructor|]]; exists 3, 0; split; [lia|split; [intros O _; vm_compute; repeat constructor|intros; exact I]].
Qed.
