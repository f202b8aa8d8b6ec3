(** * BoundSiv: misuse resistance

    [siv_secure]: with any nonces, repeated ones too, nobody tells encryption from uniform strings, the same for the same
    question, and decryption from refusals, by more than s^2 / 2^129 for s encryptions, which is for two equal tags, n / 2^128
    for n tries to decrypt, and the rest. *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundSchemes BoundKeyed BoundSecret
  BoundNonces BoundMean BoundAnswers BoundFresh BoundAttack BoundAead BoundMac.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

Local Notation chance := (ideal bytes_dec block_dec (strings (rate + 2))).

(** ** The scheme *)

Definition siv_auth (nonce ad x : list byte) : list op :=
  aead_context nonce ad ++ [Fork (text "role") 1 (text "auth"); Mix (text "message") x].
Definition siv_conf (nonce ad tag : list byte) : list op :=
  aead_context nonce ad ++ [Fork (text "role") 2 (text "conf"); Mix (text "tag") tag].

Definition siv_tag P (domain key nonce ad x : list byte) : list byte :=
  fst (step P (Derive (text "tag") 16) (run P (keyed domain key (siv_auth nonce ad x)))).

Definition siv_seal P (domain key nonce ad x : list byte) : list byte :=
  let tag := siv_tag P domain key nonce ad x in
  fst (step P (Mask (text "message") x) (run P (keyed domain key (siv_conf nonce ad tag)))) ++ tag.

Definition siv_open P (domain key nonce ad y : list byte) : option (list byte) :=
  let n := length y - 16 in
  if length y <? 16 then None
  else
    let tag := skipn n y in
    let x := fst (unmask P (text "message") (firstn n y) (run P (keyed domain key (siv_conf nonce ad tag)))) in
    if same_bytes (siv_tag P domain key nonce ad x) tag then Some x else None.

Definition siv P (domain key : list byte) (q : aead_question) : option (list byte) :=
  match q with
  | Encrypt nonce ad x => Some (siv_seal P domain key nonce ad x)
  | Decrypt nonce ad y => siv_open P domain key nonce ad y
  end.

Fixpoint encrypted (h : log aead_question) (i : nat) (nonce ad x : list byte) : option (list byte) :=
  match h with
  | [] => None
  | (j, Encrypt nonce' ad' x', y) :: h =>
      if Nat.eq_dec j i then if list_eq_dec bytes_dec [nonce'; ad'; x'] [nonce; ad; x] then Some y else encrypted h i nonce ad x
      else encrypted h i nonce ad x
  | _ :: h => encrypted h i nonce ad x
  end.

(** A uniform string for each new nonce, associated data and message; only these are decrypted. *)
Definition siv_ideal (h : log aead_question) (i : nat) (q : aead_question) : option (list byte) + nat :=
  match q with
  | Encrypt nonce ad x => match encrypted h i nonce ad x with Some y => inl (Some y) | None => inr (length x + 16) end
  | Decrypt nonce ad y => inl (decrypted h i nonce ad y)
  end.

Fixpoint siv_player (A : attacker aead_question) : player :=
  match A with
  | Halt yes => Say yes
  | Apply x k => Permute x (fun y => siv_player (k y))
  | Invert y k => Unpermute y (fun x => siv_player (k x))
  | Ask i (Encrypt nonce ad x) k =>
      Use i (siv_auth nonce ad x ++ [Derive (text "tag") 16]) (fun tag =>
      Use i (siv_conf nonce ad tag ++ [Mask (text "message") x]) (fun c => siv_player (k (Some (c ++ tag)))))
  | Ask i (Decrypt nonce ad y) k =>
      let n := length y - 16 in
      if length y <? 16 then siv_player (k None)
      else
        Unmask i (siv_conf nonce ad (skipn n y)) (text "message") (firstn n y) (fun x =>
        Use i (siv_auth nonce ad x ++ [Derive (text "tag") 16]) (fun tag =>
          siv_player (k (if same_bytes tag (skipn n y) then Some x else None))))
  end.

Lemma siv_says domain p keys A : says domain p keys (siv_player A) = attacks siv domain p keys A.
Proof.
  assert (T : forall P d key nonce ad x, answer P (keyed d key (siv_auth nonce ad x ++ [Derive (text "tag") 16])) = siv_tag P d key nonce ad x)
    by (intros P d key nonce ad x; exact (answer_snoc P (keyed d key (siv_auth nonce ad x)) (Derive (text "tag") 16))).
  assert (C : forall P d key nonce ad t x, answer P (keyed d key (siv_conf nonce ad t ++ [Mask (text "message") x])) =
    fst (step P (Mask (text "message") x) (run P (keyed d key (siv_conf nonce ad t)))))
    by (intros P d key nonce ad t x; exact (answer_snoc P (keyed d key (siv_conf nonce ad t)) (Mask (text "message") x))).
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad y] k IH]; cbn [siv_player attacks siv]; cbv zeta; cbn [says].
  - reflexivity.
  - apply IH.
  - apply IH.
  - rewrite T, C, IH; reflexivity.
  - unfold siv_open; cbv zeta; destruct (length y <? 16); cbn [says]; [apply IH|]; rewrite T, IH; reflexivity.
Qed.

Lemma auth_passive nonce ad x : passive (siv_auth nonce ad x).
Proof. intros o [<-|[<-|[<-|[<-|[]]]]]; exact I. Qed.
Lemma conf_passive nonce ad t : passive (siv_conf nonce ad t).
Proof. intros o [<-|[<-|[<-|[<-|[]]]]]; exact I. Qed.

(** ** The log *)

Definition asked_by (e : nat * aead_question * list byte) : history :=
  match snd (fst e) with
  | Encrypt nonce ad x | Decrypt nonce ad x =>
      let tag := skipn (length x) (snd e) in
      [(fst (fst e), siv_conf nonce ad tag ++ [Mask (text "message") x], firstn (length x) (snd e));
       (fst (fst e), siv_auth nonce ad x ++ [Derive (text "tag") 16], tag)]
  end.

Definition siv_log (h : log aead_question) : history := flat_map asked_by h.

Lemma encrypted_some h i nonce ad x y : encrypted h i nonce ad x = Some y -> In (i, Encrypt nonce ad x, y) h.
Proof.
  induction h as [|[[j [n a z|n a z]] w] h IH]; cbn [encrypted]; [discriminate| |intro; right; auto].
  destruct (Nat.eq_dec j i) as [->|]; [destruct (list_eq_dec _ _ _) as [E|]|]; intro T; [|right; auto..].
  injection E as -> -> ->; injection T as ->; now left.
Qed.

Lemma encrypted_none h i nonce ad x : encrypted h i nonce ad x = None -> forall y, ~ In (i, Encrypt nonce ad x, y) h.
Proof.
  induction h as [|[[j [n a z|n a z]] w] h IH]; cbn [encrypted]; intros E y; [intros []| |intros [J|J]; [discriminate|exact (IH E y J)]].
  intros [J|J].
  - injection J as -> -> -> -> ->; destruct (Nat.eq_dec i i); [destruct (list_eq_dec _ _ _)|]; congruence.
  - destruct (Nat.eq_dec j i); [destruct (list_eq_dec _ _ _); [discriminate|]|]; exact (IH E y J).
Qed.

Lemma decrypted_some h i nonce ad y x : decrypted h i nonce ad y = Some x -> In (i, Encrypt nonce ad x, y) h.
Proof.
  induction h as [|[[j [n a z|n a z]] w] h IH]; cbn [decrypted]; [discriminate| |intro; right; auto].
  destruct (Nat.eq_dec j i) as [->|]; [destruct (list_eq_dec _ _ _) as [E|]|]; intro T; [|right; auto..].
  injection E as -> -> ->; injection T as ->; now left.
Qed.

Lemma decrypted_none h i nonce ad y : decrypted h i nonce ad y = None -> forall x, ~ In (i, Encrypt nonce ad x, y) h.
Proof.
  induction h as [|[[j [n a z|n a z]] w] h IH]; cbn [decrypted]; intros E x; [intros []| |intros [J|J]; [discriminate|exact (IH E x J)]].
  intros [J|J].
  - injection J as -> -> -> -> ->; destruct (Nat.eq_dec i i); [destruct (list_eq_dec _ _ _)|]; congruence.
  - destruct (Nat.eq_dec j i); [destruct (list_eq_dec _ _ _); [discriminate|]|]; exact (IH E x J).
Qed.

Lemma logged_in h i nonce ad x y : In (i, Encrypt nonce ad x, y) h ->
  In (i, siv_conf nonce ad (skipn (length x) y) ++ [Mask (text "message") x], firstn (length x) y) (siv_log h) /\
  In (i, siv_auth nonce ad x ++ [Derive (text "tag") 16], skipn (length x) y) (siv_log h).
Proof. intro I; split; apply in_flat_map; exists (i, Encrypt nonce ad x, y); (split; [exact I|]); cbn; auto. Qed.

Lemma auth_asked h i nonce ad x t : logged h -> In (i, siv_auth nonce ad x ++ [Derive (text "tag") 16], t) (siv_log h) ->
  exists y, In (i, Encrypt nonce ad x, y) h /\ t = skipn (length x) y.
Proof.
  intros L I; apply in_flat_map in I as ([[j q] y] & I & J); pose proof (L _ I) as LE; cbn [fst snd] in LE; destruct q as [n a z|]; [|destruct LE].
  unfold asked_by in J; cbn [fst snd In] in J; destruct J as [J|[J|[]]].
  - exfalso; injection J as _ E _; discriminate.
  - injection J as -> -> -> -> <-; eauto.
Qed.

(** The tags of the log. *)
Definition has_tag (h : log aead_question) (tag : list byte) : bool :=
  existsb (fun e => match snd (fst e) with Encrypt _ _ x | Decrypt _ _ x => same_bytes tag (skipn (length x) (snd e)) end) h.

Lemma conf_asked h i nonce ad x t : In (i, siv_conf nonce ad t ++ [Mask (text "message") x]) (map fst (siv_log h)) -> logged h -> has_tag h t = true.
Proof.
  intros I L; apply in_map_iff in I as (e0 & E & I); apply in_flat_map in I as ([[j q] y] & I & J).
  pose proof (L _ I) as LE; cbn [fst snd] in LE; destruct q as [n a z|]; [|destruct LE].
  apply existsb_exists; exists (j, Encrypt n a z, y); split; [exact I|]; cbn [fst snd].
  unfold asked_by in J; cbn [fst snd In] in J; destruct J as [<-|[<-|[]]]; cbn [fst] in E; [|injection E; discriminate].
  injection E as _ _ _ <- _; unfold same_bytes; destruct (bytes_dec _ _); congruence.
Qed.

Lemma has_tag_few h : (average (fun t => indicator (has_tag h t)) (strings 16) <= nat_q (length h) * guess)%Q.
Proof.
  unfold has_tag.
  eapply Qle_trans; [apply (average_any (fun (e : nat * aead_question * list byte) t => match snd (fst e) with Encrypt _ _ x | Decrypt _ _ x => same_bytes t (skipn (length x) (snd e)) end) h (strings 16) guess)|apply Qle_refl].
  intros e _; destruct (snd (fst e)); apply one_of_tags.
Qed.

(** ** Unmask *)

Section Users.
Variable users : nat.
Variable domain : nat -> list byte.
Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).

Lemma unmask_old h v i M l c x : kept users domain h v -> passive M -> In (i, M ++ [Mask l x], c) h ->
  known i v (unmask_program domain i M l c) /\ fst (result (by_table i v) (unmask_program domain i M l c)) = x.
Proof.
  intros (_ & [K1 _] & _) P I; destruct (K1 _ _ _ I) as [KN R]; rewrite (unmask_at domain i M l c P); unfold unmasking.
  rewrite program_result in R by exact P; unfold stepping in R; cbn [code label] in R.
  destruct (result (by_table i v) (encrypting x (feed1 (tape_header 4 l (prologue domain i M)) Close))) as [c' u] eqn:E; cbn [fst] in R; subst c'.
  destruct (decrypt_back _ _ _ _ _ E) as [-> DN]; split; [|reflexivity].
  intros bs B; apply KN; rewrite program_needs by exact P; rewrite DN in B; exact B.
Qed.

(** The message that a tag was tried for has this tag with probability at most 1 / 2^128, unless it was encrypted so. *)
Definition tried (i : nat) (nonce ad tag c : list byte) : prog (list byte * list byte) :=
  bind (unmask_program domain i (siv_conf nonce ad tag) (text "message") c) (fun r =>
  bind (program domain i (siv_auth nonce ad (fst r) ++ [Derive (text "tag") 16])) (fun s => Ret (fst r, fst s))).

Lemma tried_new h v i nonce ad tag c : kept users domain (siv_log h) v -> logged h -> i < users -> legal (siv_conf nonce ad tag) -> small c ->
  length tag = 16 -> decrypted h i nonce ad (c ++ tag) = None ->
  (mean i (tried i nonce ad tag c) (fun a _ => indicator (same_bytes (snd a) tag)) v <= guess)%Q.
Proof.
  intros K LG U LC SC LT NO; pose proof K as (K0 & [K1 _] & K2); unfold tried; rewrite mean_bind.
  assert (PC := conf_passive nonce ad tag); assert (G0 : (0 <= guess)%Q) by discriminate.
  apply Qle_trans with (mean i (unmask_program domain i (siv_conf nonce ad tag) (text "message") c) (fun _ _ => 0) v + guess)%Q;
    [|rewrite mean_const; lra].
  apply mean_within; [discriminate|]; intros v1 (MV & KN & SV & NEW).
  pose proof (unmasking_in _ (by_table_small i v1 (SV K0)) (text "message") c (prologue domain i (siv_conf nonce ad tag)) SC) as XS.
  rewrite <- (unmask_at domain i _ _ _ PC) in XS; set (x := fst (result (by_table i v1) (unmask_program domain i (siv_conf nonce ad tag) (text "message") c))) in *.
  assert (EN : fst (result (by_table i v1) (program domain i (siv_conf nonce ad tag ++ [Mask (text "message") x]))) = c).
  { rewrite program_result by exact PC; unfold stepping; cbn [code label].
    destruct (decrypting_feeds (by_table i v1) c (feed1 (tape_header 4 (text "message") (prologue domain i (siv_conf nonce ad tag))) Close)) as (_ & _ & E).
    unfold x; rewrite (unmask_at domain i _ _ _ PC); unfold unmasking; rewrite E; reflexivity. }
  assert (FA : fit users i (siv_auth nonce ad x) (Derive (text "tag") 16)).
  { split; [exact U|split; [|split; [apply auth_passive|split; [cbn; unfold label_max; lia|cbn; auto]]]].
    assert (TX : forall s : list byte, s = text "message" -> length s <= label_max /\ small s) by (intros s ->; split; [cbn; unfold label_max; lia|repeat constructor]).
    intros o J; destruct J as [<-|[<-|[<-|[<-|[]]]]].
    - apply LC; now left.
    - apply LC; right; now left.
    - cbn [label data]; repeat split; try (cbn; unfold label_max; lia); repeat constructor.
    - cbn [label data]; destruct (TX _ eq_refl); repeat split; auto; now apply in_strings in XS. }
  rewrite mean_bind; cbn [mean fst snd].
  destruct (encrypted h i nonce ad x) as [y1|] eqn:E1.
  - apply encrypted_some in E1; destruct (logged_in _ _ _ _ _ _ E1) as [I1 I2].
    destruct (K1 _ _ _ I2) as [KA RA]; destruct (result_known i v v1 _ MV KA) as [RE KA1]; rewrite <- RE in RA.
    rewrite mean_known, RA by exact KA1; unfold same_bytes; destruct (bytes_dec (skipn (length x) y1) tag) as [E|]; [|unfold indicator; lra].
    exfalso; rewrite E in I1; destruct (K1 _ _ _ I1) as [KC RC]; destruct (result_known i v v1 _ MV KC) as [RE' _].
    rewrite <- RE', EN in RC; apply (decrypted_none _ _ _ _ _ NO x); rewrite RC, <- E, firstn_skipn; exact E1.
  - rewrite program_mean by apply auth_passive.
    rewrite (stepping_uniform i _ _ (fun t => indicator (same_bytes t tag)) v1); [rewrite Qplus_0_l; apply (one_of_tags tag)|cbn; auto|constructor|].
    intros b r J E; apply NEW in J as [J|(bs & B & J)].
    + destruct (K2 _ _ _ _ _ FA J E) as (o' & A & I); destruct o' as [d|l z|l z|l z|l z|l j z|l]; cbn [alike] in A; try contradiction; destruct A as [<- <-].
      apply in_map_iff in I as ([e t] & EE & I); cbn [fst] in EE; subst e.
      apply auth_asked in I as (y & I & _); [|exact LG]; exact (encrypted_none _ _ _ _ _ E1 _ I).
    + pose proof (starting_open domain (Derive (text "tag") 16) i (siv_auth nonce ad x)) as SO.
      pose proof (unmask_closes domain _ _ i _ _ _ bs b r SO PC B J E) as X.
      assert (FC : fit users i (siv_conf nonce ad tag) (Mask (text "message") []))
        by (split; [exact U|split; [exact LC|split; [exact PC|split; [cbn; unfold label_max; lia|reflexivity]]]]).
      apply (starting_inj users domain domains i _ _ (Derive (text "tag") 16) (Mask (text "message") []) FA FC) in X as [_ []].
Qed.

(** ** The theorem *)

(** Pairs among [s] more encryptions, and those with [a] before. *)
Definition pairs (s a : nat) : Q := nat_q s * nat_q a + nat_q s * nat_q (pred s) * (1 # 2).

Definition siv_error (n s a : nat) : Q := (nat_q n + pairs s a) * guess.

Lemma pairs_nonneg s a : (0 <= pairs s a)%Q.
Proof.
  unfold pairs; apply Qle_trans with (0 + 0)%Q; [discriminate|]; apply Qplus_le_compat; repeat apply Qmult_le_0_compat; auto using nat_q_nonneg; discriminate.
Qed.

Lemma pairs_next s a : (pairs (S s) a == pairs s (S a) + nat_q a)%Q.
Proof. unfold pairs; cbn [pred]; rewrite !nat_q_S; destruct s as [|s]; cbn [pred]; [change (nat_q 0) with 0%Q; ring|]; rewrite nat_q_S; ring. Qed.

Lemma pairs_more s a : (pairs s a <= pairs (S s) a)%Q.
Proof. rewrite pairs_next; pose proof (nat_q_nonneg a); unfold pairs; rewrite nat_q_S; pose proof (nat_q_nonneg s); lra. Qed.

Lemma siv_near p A : In p all_permutations -> forall q m n s h v, affords users domain q m (siv_player A) ->
  at_most decrypts n A -> at_most encrypts s A -> kept users domain (siv_log h) v -> logged h ->
  near (chance p (compiled domain (siv_player A)) v) (imagined siv_ideal p h A) (siv_error n s (length h)).
Proof.
  assert (G0 : (0 <= guess)%Q) by discriminate.
  assert (E0 : forall n s a, (0 <= siv_error n s a)%Q)
    by (intros n s a; unfold siv_error; apply Qmult_le_0_compat; [pose proof (nat_q_nonneg n); pose proof (pairs_nonneg s a); lra|exact G0]).
  assert (EN : forall n s a, (siv_error (S n) s a == guess + siv_error n s a)%Q) by (intros n s a; unfold siv_error; rewrite nat_q_S; ring).
  intro IP; induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad y] k IH]; intros q m n s h v F AD AE K LG;
    cbn [siv_player at_most decrypts encrypts negb] in *; cbv zeta in *.
  - cbn [compiled imagined ideal]; unfold near; pose proof (E0 n s (length h)); lra.
  - cbn [compiled imagined affords] in *; destruct F as [X F], q as [|q]; [destruct F|].
    exact (IH _ q m n s h v (F _ (perm_states p IP x X)) (AD _) (AE _) K LG).
  - cbn [compiled imagined affords] in *; destruct F as [X F], q as [|q]; [destruct F|].
    exact (IH _ q m n s h v (F _ (unperm_states p _ IP X)) (AD _) (AE _) K LG).
  - destruct s as [|s]; [destruct AE|]; cbn [imagined siv_ideal].
    cbn [affords] in F; destruct F as (U & L & a & m' & _ & _ & F); rewrite last_last in F; cbn [out_length] in F.
    destruct (legal_fit users i _ _ U L (auth_passive nonce ad x)) as [FA SA]; [cbn; auto|].
    cbn [compiled]; destruct (encrypted h i nonce ad x) as [y|] eqn:E.
    + apply encrypted_some in E; destruct (logged_in _ _ _ _ _ _ E) as [I1 I2].
      rewrite (use_old users domain p _ v i K (fun tag => compiled domain (Use i (siv_conf nonce ad tag ++ [Mask (text "message") x])
        (fun c => siv_player (k (Some (c ++ tag)))))) _ _ I2).
      pose proof (kept_in users domain _ v i K _ _ L I2) as T2; rewrite last_last in T2; cbn [out_length] in T2; specialize (F _ T2).
      destruct F as (_ & L' & a' & m2 & _ & _ & F); cbn [compiled].
      rewrite (use_old users domain p _ v i K (fun c => compiled domain (siv_player (k (Some (c ++ skipn (length x) y))))) _ _ I1).
      pose proof (kept_in users domain _ v i K _ _ L' I1) as T1; specialize (F _ T1); rewrite firstn_skipn in *.
      apply (near_more _ _ (siv_error n s (length h))); [unfold siv_error; pose proof (pairs_more s (length h)); apply Qmult_le_compat_r; lra|].
      apply (IH _ q m2); auto.
    + set (f y := imagined siv_ideal p ((i, Encrypt nonce ad x, y) :: h) (k (Some y))).
      assert (J : (average f (strings (length x + 16)) == average (fun t => average (fun c => f (c ++ t)) (strings (length x))) (strings 16))%Q)
        by (rewrite average_swap; symmetry; apply average_strings).
      rewrite J; assert (EE : (siv_error n (S s) (length h) == siv_error n s (S (length h)) + nat_q (length h) * guess)%Q)
        by (unfold siv_error; rewrite pairs_next; ring).
      rewrite EE.
      apply (use_mostly users domain domains p _ v i K (fun tag => compiled domain (Use i (siv_conf nonce ad tag ++ [Mask (text "message") x])
        (fun c => siv_player (k (Some (c ++ tag)))))) (siv_auth nonce ad x) (Derive (text "tag") 16) FA SA) with (bad := has_tag h); [|apply E0|apply has_tag_few|].
      * intros S0 I (M & o & o' & X & -> & A); apply app_inj_tail in X as [<- <-].
        destruct o' as [d|l z|l z|l z|l z|l j z|l]; try destruct A; subst; apply in_map_iff in I as ([e t] & X & I); cbn [fst] in X; subst e.
        apply auth_asked in I as (y & I & _); [|exact LG]; exact (encrypted_none _ _ _ _ _ E _ I).
      * intros t v' T K' MV; destruct (has_tag h t) eqn:B.
        -- pose proof (chance_bounds p (compiled domain (Use i (siv_conf nonce ad t ++ [Mask (text "message") x]) (fun c => siv_player (k (Some (c ++ t)))))) v') as C1.
           assert (C2 : (0 <= average (fun c => f (c ++ t)) (strings (length x)) <= 1)%Q)
             by (split; [apply average_nonneg|apply average_below; [discriminate|]]; intros; apply imagined_bounds).
           unfold near, indicator; pose proof (E0 n s (S (length h))); lra.
        -- apply (near_more _ _ (siv_error n s (S (length h)))); [unfold indicator; lra|].
           specialize (F t T); destruct F as (_ & L' & a' & m2 & _ & _ & F); rewrite last_last in F; cbn [out_length] in F; cbn [compiled].
           destruct (legal_fit users i _ _ U L' (conf_passive nonce ad t)) as [FC SC]; [reflexivity|].
           apply (use_new users domain domains p _ v' i K' (fun c => compiled domain (siv_player (k (Some (c ++ t))))) (siv_conf nonce ad t) (Mask (text "message") x) FC SC);
             [|apply E0|].
           ++ intros S0 [I|I] (M & o & o' & X & X' & A); apply app_inj_tail in X as [<- <-]; subst S0.
              ** cbn [fst] in I; apply (f_equal snd) in I; cbn [snd] in I; apply app_inj_tail in I as [I _]; discriminate.
              ** destruct o' as [d|l z|l z|l z|l z|l j z|l]; cbn [alike] in A; try contradiction; subst l.
                 rewrite (conf_asked h i nonce ad z t I LG) in B; discriminate.
           ++ intros c v2 C K2 _; pose proof C as C'; apply in_strings in C' as [LC _]; cbn [out_length] in LC; apply in_strings in T as [LT _].
              apply (IH (Some (c ++ t)) q m2 n s ((i, Encrypt nonce ad x, c ++ t) :: h) v2 (F c C) (AD _) (AE _)).
              ** unfold siv_log; cbn [flat_map]; unfold asked_by at 1; cbn [fst snd].
                 rewrite <- LC, skipn_app, firstn_app, Nat.sub_diag, firstn_all, skipn_all; cbn [firstn skipn app]; rewrite app_nil_r; exact K2.
              ** intros e [<-|I]; [cbn [fst snd]; rewrite app_length, LC, LT; reflexivity|now apply LG].
  - destruct n as [|n]; [destruct AD|]; cbn [imagined siv_ideal]; destruct (Nat.ltb_spec (length y) 16) as [SH|SH].
    + rewrite decrypted_long by assumption; apply (near_more _ _ (siv_error n s (length h))); [rewrite EN; lra|]; apply (IH _ q m); auto.
    + set (c := firstn (length y - 16) y) in *; set (tag := skipn (length y - 16) y) in *.
      assert (Y : y = c ++ tag) by (symmetry; apply firstn_skipn).
      assert (LT : length tag = 16) by (unfold tag; rewrite skipn_length; lia).
      cbn [affords] in F; destruct F as (U & L & (_ & _ & SC) & a & m' & _ & _ & F); cbn [compiled].
      destruct (decrypted h i nonce ad y) as [x|] eqn:E.
      * apply decrypted_some in E as I; destruct (logged_in _ _ _ _ _ _ I) as [I1 I2]; pose proof (LG _ I) as LX; cbn [fst snd] in LX.
        assert (LE : length x = length y - 16) by (unfold tag_length in LX; lia).
        rewrite LE in I1, I2; fold c tag in I1, I2.
        destruct (unmask_old _ v i _ _ _ _ K (conf_passive nonce ad tag) I1) as [KN R].
        pose proof (unmasking_in _ (by_table_small i v (proj1 K)) (text "message") c (prologue domain i (siv_conf nonce ad tag)) SC) as XS.
        rewrite <- (unmask_at domain i _ _ _ (conf_passive nonce ad tag)), R in XS; specialize (F _ XS).
        destruct F as (_ & L' & a' & m2 & _ & _ & F).
        rewrite chance_ask, mean_known, R by exact KN; cbn [compiled].
        rewrite (use_old users domain p _ v i K (fun t => compiled domain (siv_player (k (if same_bytes t tag then Some x else None)))) _ _ I2).
        pose proof (kept_in users domain _ v i K _ _ L' I2) as T2; specialize (F _ T2).
        unfold same_bytes in *; destruct (bytes_dec tag tag) as [_|N]; [|congruence].
        apply (near_more _ _ (siv_error n s (length h))); [rewrite EN; lra|]; apply (IH _ q m2); auto.
      * rewrite EN; apply (near_trans _ (chance p (compiled domain (siv_player (k None))) v)).
        -- rewrite Y in E; apply (near_more _ _ _ _ (tried_new h v i nonce ad tag c K LG U L SC LT E)).
           assert (X : (chance p (ask i (unmask_program domain i (siv_conf nonce ad tag) (text "message") c) (fun r =>
               ask i (program domain i (siv_auth nonce ad (fst r) ++ [Derive (text "tag") 16])) (fun s =>
               compiled domain (siv_player (k (if same_bytes (fst s) tag then Some (fst r) else None)))))) v ==
             mean i (tried i nonce ad tag c) (fun a => chance p (compiled domain (siv_player (k (if same_bytes (snd a) tag then Some (fst a) else None))))) v)%Q).
           { unfold tried; rewrite chance_ask, mean_bind; apply mean_ext; intros r w; rewrite chance_ask, mean_bind; reflexivity. }
           cbn [compiled]; rewrite X.
           apply (mean_until p i (tried i nonce ad tag c) (fun a => compiled domain (siv_player (k (if same_bytes (snd a) tag then Some (fst a) else None))))
             (fun a => same_bytes (snd a) tag)).
           intros b ->; reflexivity.
        -- assert (X : In (repeat 0%N (length c)) (strings (length c))) by (apply in_strings; split; [apply repeat_length|apply small_repeat; lia]).
           specialize (F _ X); destruct F as (_ & _ & a' & m2 & _ & _ & F).
           destruct (other_tag 15 tag) as (t & T & NO); rewrite last_last in F; specialize (F t T); rewrite NO in F.
           apply (IH None q m2); auto.
Qed.
End Users.

Lemma siv_error_is n s : (siv_error n s 0 <= nat_q n / inject_Z (2 ^ 128) + inject_Z (z s * z s) / inject_Z (2 ^ 129))%Q.
Proof.
  unfold siv_error, pairs; rewrite guesses, Qmult_plus_distr_l; apply Qplus_le_compat; [apply Qle_refl|].
  assert (E : (inject_Z (z s * z s) / inject_Z (2 ^ 129) == nat_q s * nat_q s * (1 # 2) * guess)%Q)
    by (rewrite inject_Z_mult; change (inject_Z (2 ^ 129)) with (2 * inject_Z (2 ^ 128))%Q; unfold guess, nat_q, z; field; discriminate).
  rewrite E; apply Qmult_le_compat_r; [|discriminate]; change (nat_q 0) with 0%Q.
  pose proof (Qmult_le_compat_r _ _ _ (nat_q_le (pred s) s (Nat.le_pred_l s)) (nat_q_nonneg s)); lra.
Qed.

(** Encryption with any nonces is like a uniform string for each new question, and decryption like refusals. *)
Theorem siv_secure users domain A q m n s : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m (siv_player A) -> at_most decrypts n A -> at_most encrypts s A ->
  (advantage siv siv_ideal users domain A <= nat_q n / inject_Z (2 ^ 128) + inject_Z (z s * z s) / inject_Z (2 ^ 129) +
    inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros D F AD AE; eapply Qle_trans; [|apply Qplus_le_compat; [apply siv_error_is|apply Qle_refl]].
  apply (advantage_near siv siv_ideal users domain D A (siv_player A)); auto using siv_says.
  - intros p IP; apply (siv_near users domain D p A IP q m n s [] []); auto; [apply kept_nothing|intros e []].
  - unfold siv_error; apply Qmult_le_0_compat; [pose proof (nat_q_nonneg n); pose proof (pairs_nonneg s 0); lra|discriminate].
Qed.

Corollary siv_secure_2_128 users domain A q m n s : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  affords users domain q m (siv_player A) -> at_most decrypts n A -> at_most encrypts s A -> (z (q + m) <= 2 ^ 64)%Z ->
  (advantage siv siv_ideal users domain A <= nat_q (S n) / inject_Z (2 ^ 128) + inject_Z (z s * z s) / inject_Z (2 ^ 129))%Q.
Proof.
  intros D F AD AE H; eapply Qle_trans; [eapply (advantage_2_128 siv siv_ideal users domain D A (siv_player A) q m); eauto using siv_says|].
  - intros p IP; apply (siv_near users domain D p A IP q m n s [] []); auto; [apply kept_nothing|intros e []].
  - cbn [length]; unfold siv_error; apply Qmult_le_0_compat; [pose proof (nat_q_nonneg n); pose proof (pairs_nonneg s 0); lra|discriminate].
  - pose proof (siv_error_is n s) as E; rewrite guesses in E; rewrite guesses_more; cbn [length] in *; lra.
Qed.

(** The attacker of aead: it encrypts nothing, and decrypts what it got with other associated data. *)
Example siv_replay_allowed : let d := fun _ => text "example" in
  affords 1 d 0 12 (siv_player replay) /\ at_most decrypts 1 replay /\ at_most encrypts 1 replay.
Proof.
  cbv zeta; split; [|split; repeat intro; exact I].
  assert (N : small (repeat 7%N 16)) by (apply small_repeat; lia).
  assert (LC : forall ad T, small ad -> (forall o, In o T -> length (label o) <= 10 /\ small (label o) /\ small (data o)) ->
    legal (aead_context (repeat 7%N 16) ad ++ T)).
  { intros ad T A H o J; apply in_app_or in J as [J|J]; [exact (legal_context _ ad N A o J)|].
    destruct (H o J) as (X & Y & Z); repeat split; auto; unfold label_max; lia. }
  assert (LA : forall ad, small ad -> legal (siv_auth (repeat 7%N 16) ad [] ++ [Derive (text "tag") 16])).
  { intros ad A; unfold siv_auth; rewrite <- app_assoc; apply LC; [exact A|]; intros o [<-|[<-|[<-|[]]]]; cbn [label data];
      (split; [cbn; lia|split; repeat constructor]). }
  assert (LF : forall ad t T, small ad -> small t -> (T = [] \/ T = [Mask (text "message") []]) -> legal (siv_conf (repeat 7%N 16) ad t ++ T)).
  { intros ad t T A S H; unfold siv_conf; rewrite <- app_assoc; apply LC; [exact A|]; intros o [<-|[<-|J]]; cbn [label data].
    - split; [cbn; lia|split; repeat constructor].
    - split; [cbn; lia|split; [repeat constructor|exact S]].
    - destruct H as [-> | ->]; [destruct J|]; destruct J as [<-|[]]; cbn [label data]; split; [cbn; lia|split; repeat constructor]. }
  unfold replay; cbn [siv_player]; cbv zeta; cbn [affords]; split; [lia|split; [now apply LA; constructor|]].
  exists 3, 9; split; [lia|split; [intros O _; vm_compute; repeat constructor|]]; intros t T; apply in_strings in T as [LT S].
  cbn [out_length] in LT; change (length t = 16) in LT.
  split; [lia|split; [apply LF; auto; constructor|]]; exists 3, 6; split; [lia|split].
  { intros O _; do 16 (destruct t as [|? t]; [discriminate|]); destruct t; [|discriminate]; vm_compute; repeat constructor. }
  intros c C; apply in_strings in C as [C _]; change (length c = 0) in C; destruct c; [|discriminate]; cbn [app]; rewrite LT; cbn [Nat.ltb Nat.leb].
  change (16 - 16) with 0; cbn [firstn skipn affords]; split; [lia|split; [rewrite <- (app_nil_r (siv_conf _ _ _)); apply LF; auto; repeat constructor|]].
  split; [repeat split; [cbn; unfold label_max; lia|repeat constructor|constructor]|]; exists 3, 3; split; [lia|split].
  { intros O _; do 16 (destruct t as [|? t]; [discriminate|]); destruct t; [|discriminate]; vm_compute; repeat constructor. }
  intros x X; apply in_strings in X as [X _]; destruct x; [|discriminate].
  split; [lia|split; [apply LA; repeat constructor|]]; exists 3, 0; split; [lia|split; [intros O _; vm_compute; repeat constructor|]].
  intros w _; exact I.
Qed.
