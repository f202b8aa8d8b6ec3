(** * BoundAead: nonce-based encryption, as a game

    The schemes aead and stream, their ideals, and that nobody tells them apart ([aead_secure], [stream_secure]).  Forgeries
    and nonces of 24 random bytes are corollaries. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundSchemes BoundKeyed BoundSecret
  BoundMean BoundAnswers BoundFresh BoundAttack.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Lemma opens_more A : forall n n', n <= n' -> opens n A -> opens n' A.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros n n' L O; cbn [opens] in *; eauto.
  destruct n as [|n]; [destruct O|]; destruct n' as [|n']; [lia|]; intro r; apply (IH r n); [lia|auto].
Qed.

(** ** aead *)

(** A nonce, associated data, and a message or a ciphertext with its tag. *)
Inductive aead_question := Encrypt (nonce ad x : list byte) | Decrypt (nonce ad c : list byte).

Definition aead_context (nonce ad : list byte) : list op := [Mix (text "nonce") nonce; Mix (text "ad") ad].

Definition aead_seal P (domain key nonce ad x : list byte) : list byte :=
  fst (step P (Seal (text "message") x) (run P (keyed domain key (aead_context nonce ad)))).

Definition aead_open P (domain key nonce ad c : list byte) : option (list byte) :=
  let n := length c - tag_length in
  if length c <? tag_length then None
  else fst (unseal P (text "message") (firstn n c) (skipn n c) (run P (keyed domain key (aead_context nonce ad)))).

Definition aead P (domain key : list byte) (q : aead_question) : option (list byte) :=
  match q with
  | Encrypt nonce ad x => Some (aead_seal P domain key nonce ad x)
  | Decrypt nonce ad c => aead_open P domain key nonce ad c
  end.

(** The message that was encrypted to [c] by this user, with this nonce and associated data. *)
Fixpoint decrypted (h : log aead_question) (i : nat) (nonce ad c : list byte) : option (list byte) :=
  match h with
  | [] => None
  | (j, Encrypt nonce' ad' x, y) :: h =>
      if Nat.eq_dec j i then if list_eq_dec bytes_dec [nonce'; ad'; y] [nonce; ad; c] then Some x else decrypted h i nonce ad c
      else decrypted h i nonce ad c
  | _ :: h => decrypted h i nonce ad c
  end.

(** Every ciphertext and tag is a uniform string; only these are decrypted. *)
Definition aead_ideal (h : log aead_question) (i : nat) (q : aead_question) : option (list byte) + nat :=
  match q with
  | Encrypt _ _ x => inr (length x + tag_length)
  | Decrypt nonce ad c => inl (decrypted h i nonce ad c)
  end.

Definition decrypts (q : aead_question) : bool := match q with Decrypt _ _ _ => true | _ => false end.
Definition encrypts (q : aead_question) : bool := negb (decrypts q).

Definition aead_nonce (q : aead_question) : option (list byte) := match q with Encrypt nonce _ _ => Some nonce | Decrypt _ _ _ => None end.

(** The same attacker as one of BoundSecret.v, for what it spends. *)
Fixpoint aead_player (A : attacker aead_question) : player :=
  match A with
  | Halt yes => Say yes
  | Apply x k => Permute x (fun y => aead_player (k y))
  | Invert y k => Unpermute y (fun x => aead_player (k x))
  | Ask i (Encrypt nonce ad x) k => Use i (aead_context nonce ad ++ [Seal (text "message") x]) (fun y => aead_player (k (Some y)))
  | Ask i (Decrypt nonce ad c) k =>
      let n := length c - tag_length in
      if length c <? tag_length then aead_player (k None)
      else Open i (aead_context nonce ad) (text "message") (firstn n c) (skipn n c) (fun r => aead_player (k r))
  end.

Lemma aead_says domain p keys A : says domain p keys (aead_player A) = attacks aead domain p keys A.
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; cbn [aead_player attacks aead]; cbv zeta; cbn [says]; auto.
  unfold aead_open; cbv zeta; destruct (length c <? tag_length); cbn [says]; auto.
Qed.

(** What the fair world has asked, from the log. *)
Definition sealed_log (h : log aead_question) : history := map (fun e =>
  match snd (fst e) with
  | Encrypt nonce ad x | Decrypt nonce ad x => (fst (fst e), aead_context nonce ad ++ [Seal (text "message") x], snd e)
  end) h.

(** Only what was encrypted, with the length that it has. *)
Definition logged (h : log aead_question) : Prop :=
  forall e, In e h -> match snd (fst e) with Encrypt _ _ x => length (snd e) = length x + tag_length | _ => False end.

Lemma decrypted_is h i nonce ad c : logged h ->
  unsealed i (aead_context nonce ad) (text "message") c (sealed_log h) = decrypted h i nonce ad c.
Proof.
  induction h as [|[[j [nonce' ad' x|nonce' ad' x]] y] h IH]; intro L; [reflexivity| |destruct (L _ (or_introl eq_refl))].
  assert (L' : logged h) by (intros e I; apply L; now right).
  unfold sealed_log; cbn [map fst snd unsealed decrypted]; fold (sealed_log h); rewrite last_last.
  destruct (answer_dec _ _) as [E|N].
  - injection E as -> -> -> ->; destruct (Nat.eq_dec i i); [|congruence]; destruct (list_eq_dec _ _ _); [reflexivity|congruence].
  - destruct (Nat.eq_dec j i) as [->|]; [|auto]; destruct (list_eq_dec _ _ _) as [E|]; [|auto]; elim N; injection E as -> -> ->; reflexivity.
Qed.

Lemma decrypted_long h i nonce ad c : logged h -> length c < tag_length -> decrypted h i nonce ad c = None.
Proof.
  induction h as [|[[j [nonce' ad' x|nonce' ad' x]] y] h IH]; intros L S; [reflexivity| |destruct (L _ (or_introl eq_refl))].
  pose proof (L _ (or_introl eq_refl)) as LY; cbn [fst snd] in LY; cbn [decrypted].
  assert (L' : logged h) by (intros e I; apply L; now right).
  destruct (Nat.eq_dec j i); [destruct (list_eq_dec _ _ _) as [E|]|]; auto; injection E as _ _ ->; lia.
Qed.

Lemma used_nonce i nonce ad x h : In (i, aead_context nonce ad ++ [Seal (text "message") x]) (map fst (sealed_log h)) -> logged h ->
  exists ad' x' y, In (i, Encrypt nonce ad' x', y) h.
Proof.
  intros I L; apply in_map_iff in I as (e & E & I); apply in_map_iff in I as ([[j q] y] & <- & I); pose proof (L _ I) as LE.
  cbn [fst snd] in *; destruct q as [nonce' ad' x'|]; [|destruct LE]; injection E as -> -> _ _; eauto.
Qed.

Lemma aead_fair p A : forall h used, logged h -> (forall i nonce ad x y, In (i, Encrypt nonce ad x, y) h -> In (i, nonce) used) ->
  new_nonces aead_nonce used A -> (fair p (sealed_log h) (aead_player A) == imagined aead_ideal p h A)%Q.
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; intros h used L US NN; cbn [aead_player imagined aead_ideal new_nonces aead_nonce] in *;
    cbv zeta; cbn [fair]; try (apply (IH _ h used); auto; fail); [reflexivity| |].
  - destruct NN as [NU NN]; destruct (recall _ _ _) as [y|] eqn:R.
    + exfalso; apply NU; apply recall_some, (in_map fst) in R; apply used_nonce in R as (ad' & x' & y' & R); [|exact L]; eauto.
    + rewrite last_last; cbn [out_length]; apply average_ext; intros y J; apply in_strings in J as [LY _].
      apply (IH (Some y) ((i, Encrypt nonce ad x, y) :: h) ((i, nonce) :: used)); [| |apply NN].
      * intros e [<-|J]; [exact LY|now apply L].
      * intros j n a z w [J|J]; [injection J as -> -> _ _ _; now left|right; eauto].
  - destruct (Nat.ltb_spec (length c) tag_length) as [S|S].
    + rewrite decrypted_long by assumption; apply (IH _ h used); auto.
    + cbn [fair]; rewrite firstn_skipn, decrypted_is by exact L; apply (IH _ h used); auto.
Qed.

Lemma context_passive nonce ad : passive (aead_context nonce ad).
Proof. intros o [<-|[<-|[]]]; exact I. Qed.

Lemma aead_apart A : forall asked used, (forall i nonce ad x, In (i, aead_context nonce ad ++ [Seal (text "message") x]) asked -> In (i, nonce) used) ->
  new_nonces aead_nonce used A -> apart asked (aead_player A).
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; intros asked used US NN; cbn [aead_player new_nonces aead_nonce] in *; cbv zeta; cbn [apart];
    try (intros; apply (IH _ asked used); auto; fail); [exact I| |].
  - destruct NN as [NU NN]; split; [exists (aead_context nonce ad), (Seal (text "message") x); split; [reflexivity|split; [apply context_passive|cbn; auto]]|split].
    + intros T J (M & o & o' & E & -> & AL); exfalso; apply app_inj_tail in E as [<- <-]; apply NU.
      destruct o' as [d|l z|l z|l z|l z|l j z|l]; try destruct AL; subst; eauto.
    + intro y; apply (IH _ _ ((i, nonce) :: used)); [|apply NN]; intros j n a z [J|J]; [injection J as -> -> _ _; now left|right; eauto].
  - destruct (Nat.ltb_spec (length c) tag_length) as [S|S]; [apply (IH _ asked used); auto|]; cbn [apart].
    split; [apply context_passive|split; [rewrite skipn_length; lia|intro; apply (IH _ asked used); auto]].
Qed.

Lemma aead_opens A : forall n, at_most decrypts n A -> opens n (aead_player A).
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; intros n M; cbn [aead_player at_most decrypts] in *; cbv zeta; cbn [opens]; auto.
  destruct n as [|n]; [destruct M|]; destruct (length c <? tag_length); cbn [opens]; auto; apply (opens_more _ n); auto.
Qed.

Lemma aead_near users domain A q m n : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m (aead_player A) -> new_nonces aead_nonce [] A -> at_most decrypts n A ->
  forall p, In p all_permutations -> near (ideal bytes_dec block_dec (strings (rate + 2)) p (compiled domain (aead_player A)) [])
    (imagined aead_ideal p [] A) (nat_q n * guess).
Proof.
  intros D F NN AM p IP; rewrite <- (aead_fair p A [] []); [|intros e []|intros i nonce ad x y []|exact NN].
  apply (fair_near users domain D p (aead_player A) IP q m n [] [] F); [|now apply aead_opens|apply kept_nothing].
  apply (aead_apart A [] []); auto; intros i nonce ad x [].
Qed.

(** Encryption with new nonces, and [n] tries to decrypt, are like uniform strings and refusals. *)
Theorem aead_secure users domain A q m n : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m (aead_player A) -> new_nonces aead_nonce [] A -> at_most decrypts n A ->
  (advantage aead aead_ideal users domain A <=
    nat_q n / inject_Z (2 ^ 128) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros D F NN AM; rewrite guesses.
  apply (advantage_near aead aead_ideal users domain D A (aead_player A)); auto using aead_says, guess_nonneg; now apply (aead_near users domain A q m).
Qed.

Corollary aead_secure_2_128 users domain A q m n : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m (aead_player A) -> new_nonces aead_nonce [] A -> at_most decrypts n A -> (z (q + m) <= 2 ^ 64)%Z ->
  (advantage aead aead_ideal users domain A <= nat_q (S n) / inject_Z (2 ^ 128))%Q.
Proof.
  intros D F NN AM H; rewrite guesses_more.
  apply (advantage_2_128 aead aead_ideal users domain D A (aead_player A) q m); auto using aead_says, guess_nonneg; now apply (aead_near users domain A q m).
Qed.

(** ** Forgeries *)

(** The same attacker, which says yes when what nobody encrypted is decrypted, and otherwise no. *)
Fixpoint forger (h : log aead_question) (A : attacker aead_question) : attacker aead_question :=
  match A with
  | Halt _ => Halt false
  | Apply x k => Apply x (fun y => forger h (k y))
  | Invert y k => Invert y (fun x => forger h (k x))
  | Ask i (Encrypt nonce ad x) k => Ask i (Encrypt nonce ad x) (fun r =>
      forger (match r with Some y => (i, Encrypt nonce ad x, y) :: h | None => h end) (k r))
  | Ask i (Decrypt nonce ad c) k => Ask i (Decrypt nonce ad c) (fun r =>
      match r, decrypted h i nonce ad c with Some _, None => Halt true | _, _ => forger h (k r) end)
  end.

Lemma forger_ideal p A : forall h, (imagined aead_ideal p h (forger h A) == 0)%Q.
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; intro h; cbn [forger imagined aead_ideal]; auto; [reflexivity|apply average_zero; auto|].
  destruct (decrypted h i nonce ad c); auto.
Qed.

Lemma forger_nonces A : forall h used, new_nonces aead_nonce used A -> new_nonces aead_nonce used (forger h A).
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; intros h used NN; cbn [forger new_nonces aead_nonce] in *; auto.
  - destruct NN; split; auto.
  - intros [r|]; [destruct (decrypted _ _ _ _ _)|]; cbn [new_nonces aead_nonce]; auto.
Qed.

Lemma forger_at_most kind A : forall h n, at_most kind n A -> at_most kind n (forger h A).
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; intros h n M; cbn [forger at_most] in *; auto;
    (destruct (kind _); [destruct n as [|n]; [exact M|]|]); intros; try (apply IH; auto);
    (destruct r as [r|]; [destruct (decrypted _ _ _ _ _)|]; cbn [at_most]; auto).
Qed.

Lemma forger_affords users domain A : forall q m h, affords users domain q m (aead_player A) -> affords users domain q m (aead_player (forger h A)).
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; intros q m h F; cbn [forger aead_player] in *; cbv zeta in *; cbn [affords] in *; auto.
  - destruct F as [X F], q as [|q]; auto.
  - destruct F as [X F], q as [|q]; auto.
  - destruct F as (U & L & a & n & M & C & F); split; [exact U|split; [exact L|]]; exists a, n; auto.
  - destruct (length c <? tag_length); [now apply IH|]; cbn [affords] in *.
    destruct F as (U & L & D & a & n & M & C & N & F); split; [exact U|split; [exact L|split; [exact D|]]]; exists a, n.
    split; [exact M|split; [exact C|split; [now apply IH|]]]; intros r J; destruct (decrypted _ _ _ _ _); cbn [aead_player affords]; auto.
Qed.

(** One of [n] tries to decrypt takes what nobody encrypted. *)
Corollary aead_unforged users domain A q m n : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m (aead_player A) -> new_nonces aead_nonce [] A -> at_most decrypts n A ->
  (real_world aead users domain (forger [] A) <=
    nat_q n / inject_Z (2 ^ 128) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros D F NN AM.
  pose proof (aead_secure users domain (forger [] A) q m n D (forger_affords users domain A q m [] F) (forger_nonces A [] [] NN)
    (forger_at_most decrypts A [] n AM)) as B.
  unfold advantage in B; apply Qabs_Qle_condition in B as [_ B].
  assert (Z : (ideal_world aead_ideal (forger [] A) == 0)%Q) by (apply average_zero; intros; apply forger_ideal).
  rewrite Z in B; lra.
Qed.

(** With nonces of 24 random bytes. *)
Theorem aead_random_nonces users domain A q m n s : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  no_nonces aead_nonce A ->
  (forall w, In w (nonces s) -> affords users domain q m (aead_player (with_nonces w A)) /\ at_most decrypts n (with_nonces w A)) ->
  (random_advantage aead aead_ideal users domain s A <=
    inject_Z (z s * z s) / inject_Z (2 ^ 193) + (nat_q n / inject_Z (2 ^ 128) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256)))%Q.
Proof.
  intros D NO H; apply (random_nonces aead_nonce); [|exact NO|].
  - rewrite guesses; pose proof (guess_nonneg n); pose proof (rest_nonneg q m); lra.
  - intros w I NN; destruct (H w I); now apply aead_secure.
Qed.

(** ** stream *)

(** A nonce and a message. *)
Inductive stream_question := Hide (nonce x : list byte).

Definition stream P (domain key : list byte) (q : stream_question) : option (list byte) :=
  let 'Hide nonce x := q in Some (fst (step P (Mask (text "message") x) (run P (keyed domain key [Mix (text "nonce") nonce])))).

(** Every ciphertext is a uniform string. *)
Definition stream_ideal (h : log stream_question) (i : nat) (q : stream_question) : option (list byte) + nat :=
  let 'Hide _ x := q in inr (length x).

Definition stream_nonce (q : stream_question) : option (list byte) := let 'Hide nonce _ := q in Some nonce.

Definition hidden (nonce x : list byte) : list op := [Mix (text "nonce") nonce] ++ [Mask (text "message") x].

Fixpoint stream_player (A : attacker stream_question) : player :=
  match A with
  | Halt yes => Say yes
  | Apply x k => Permute x (fun y => stream_player (k y))
  | Invert y k => Unpermute y (fun x => stream_player (k x))
  | Ask i (Hide nonce x) k => Use i (hidden nonce x) (fun y => stream_player (k (Some y)))
  end.

Lemma stream_says domain p keys A : says domain p keys (stream_player A) = attacks stream domain p keys A.
Proof.
  assert (T : forall P d key nonce x, answer P (keyed d key (hidden nonce x)) =
    fst (step P (Mask (text "message") x) (run P (keyed d key [Mix (text "nonce") nonce]))))
    by (intros P d key nonce x; exact (answer_snoc P (keyed d key [Mix (text "nonce") nonce]) (Mask (text "message") x))).
  induction A as [r|x k IH|y k IH|i [nonce x] k IH]; cbn [stream_player attacks stream says]; rewrite ?T, ?IH; reflexivity.
Qed.

Lemma stream_near users domain p A : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) -> In p all_permutations ->
  forall q m h g v used, affords users domain q m (stream_player A) -> new_nonces stream_nonce used A -> kept users domain h v ->
  (forall i nonce x, In (i, hidden nonce x) (map fst h) -> In (i, nonce) used) ->
  near (ideal bytes_dec block_dec (strings (rate + 2)) p (compiled domain (stream_player A)) v) (imagined stream_ideal p g A) 0.
Proof.
  intros D IP; induction A as [r|x k IH|y k IH|i [nonce x] k IH]; intros q m h g v used F NN K US;
    cbn [stream_player compiled imagined stream_ideal affords new_nonces stream_nonce] in *.
  - cbn [ideal]; unfold near; lra.
  - destruct F as [X F], q as [|q]; [destruct F|]; exact (IH _ q m h g v used (F _ (perm_states p IP x X)) (NN _) K US).
  - destruct F as [X F], q as [|q]; [destruct F|]; exact (IH _ q m h g v used (F _ (unperm_states p _ IP X)) (NN _) K US).
  - destruct F as (U & L & a & m' & _ & _ & F), NN as [NU NN].
    destruct (legal_fit users i [Mix (text "nonce") nonce] (Mask (text "message") x) U L) as [FT SD]; [intros o [<-|[]]; exact I|reflexivity|].
    apply (use_new users domain D p h v i K (fun y => compiled domain (stream_player (k (Some y)))) _ _ FT SD); [|lra|].
    + intros T J (M & o & o' & E & -> & A); apply app_inj_tail in E as [<- <-]; apply NU.
      destruct o' as [d|l z|l z|l z|l z|l j z|l]; cbn [alike] in A; try contradiction; subst l; exact (US i nonce z J).
    + intros y v' Y K' _; apply (IH _ q m' ((i, hidden nonce x, y) :: h) _ v' ((i, nonce) :: used)); [now apply F|apply NN|exact K'|].
      intros j n z [J|J]; [injection J as <- <- _; now left|right; exact (US j n z J)].
Qed.

(** Ciphertexts under new nonces are like uniform strings. *)
Theorem stream_secure users domain A q m : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m (stream_player A) -> new_nonces stream_nonce [] A ->
  (advantage stream stream_ideal users domain A <= inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros D F NN; rewrite <- (Qplus_0_l (inject_Z _ / _)); apply (advantage_near stream stream_ideal users domain D A (stream_player A)); auto using stream_says; [|discriminate].
  intros p IP; apply (stream_near users domain p A D IP q m [] [] [] [] F NN (kept_nothing users domain)); intros i nonce x [].
Qed.

(** With nonces of 24 random bytes. *)
Theorem stream_random_nonces users domain A q m s : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  no_nonces stream_nonce A -> (forall w, In w (nonces s) -> affords users domain q m (stream_player (with_nonces w A))) ->
  (random_advantage stream stream_ideal users domain s A <=
    inject_Z (z s * z s) / inject_Z (2 ^ 193) + inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros D NO H; apply (random_nonces stream_nonce); [apply rest_nonneg|exact NO|]; intros w I NN; now apply stream_secure; auto.
Qed.

(** ** Such attackers exist *)

(** It encrypts nothing, and decrypts what it got with other associated data. *)
Definition replay : attacker aead_question :=
  Ask 0 (Encrypt (repeat 7%N 16) [] []) (fun r => Ask 0 (Decrypt (repeat 7%N 16) [1%N] match r with Some c => c | None => [] end)
    (fun r => Halt match r with Some _ => true | None => false end)).

Lemma legal_context nonce ad : small nonce -> small ad -> legal (aead_context nonce ad).
Proof. intros N A o [<-|[<-|[]]]; cbn [label data]; repeat split; auto; try (cbn; unfold label_max; lia); repeat constructor. Qed.

(** Six calls, and one try: so it succeeds with probability at most 1 / 2^128 + 36 / 2^256. *)
Example replay_allowed : let d := fun _ => text "example" in
  affords 1 d 0 6 (aead_player replay) /\ new_nonces aead_nonce [] replay /\ at_most decrypts 1 replay.
Proof.
  cbv zeta; split; [|split; [split; [intros []|]; repeat constructor|repeat intro; exact I]].
  unfold replay; cbn [aead_player]; cbv zeta; cbn [affords]; split; [lia|split].
  - intros o J; apply in_app_or in J as [J|[<-|[]]]; [|cbn [label data]; repeat split; repeat constructor; cbn; lia].
    apply (legal_context (repeat 7%N 16) []); [apply small_repeat; lia|constructor|exact J].
  - exists 3, 3; split; [lia|split; [intros O _; vm_compute; repeat constructor|]]; intros c C; apply in_strings in C as [L S].
    cbn [last aead_context app out_length length] in L; change (0 + tag_length) with 16 in L; rewrite L; cbn [Nat.ltb Nat.leb tag_length].
    change (16 - 16) with 0; cbn [firstn skipn affords]; split; [lia|split; [apply legal_context; [apply small_repeat; lia|repeat constructor]|]].
    split; [repeat split; [cbn; unfold label_max; lia|repeat constructor|constructor]|].
    exists 3, 0; split; [lia|split; [intros O _; vm_compute; repeat constructor|split; [exact I|intros x _; exact I]]].
Qed.
