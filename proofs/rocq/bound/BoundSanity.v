(** * BoundSanity: who wins the games when a hypothesis is dropped

    With a label of 92 bytes two transcripts collide for every permutation ([label_92_wins]).  Who encrypts twice with a nonce
    tells the worlds apart ([nonce_twice_wins]).  Both worlds decrypt what was encrypted ([honest_opens]). *)

From Coq Require Import String List Bool NArith Arith Lia QArith Qabs Lqa.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundSchemes BoundKeyed BoundSecret
  BoundMean BoundAnswers BoundFresh BoundAttack BoundAead BoundMac.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** ** What is certain *)

Lemma permutations_some : all_permutations <> [].
Proof. apply some_permutation; exact states_once. Qed.

Lemma certain (f : graph -> bool) : (forall p, In p all_permutations -> f p = true) -> (probability f == 1)%Q.
Proof.
  intro H; unfold probability; rewrite (average_ext _ (fun _ => 1%Q)); [apply average_const, permutations_some|].
  intros p I; now rewrite (H p I).
Qed.

Lemma really_certain {question} (scheme : (list byte -> list byte) -> list byte -> list byte -> question -> option (list byte)) users domain A :
  (forall p keys, In p all_permutations -> attacks scheme domain p keys A = true) -> (real_world scheme users domain A == 1)%Q.
Proof.
  intro H; unfold real_world; rewrite (average_ext _ (fun _ => 1%Q)).
  - apply average_const; unfold key_lists; pose proof (some_strings 32) as S; revert S; generalize (strings 32); intros l S.
    induction users as [|n IH]; cbn [vectors]; [discriminate|]; destruct (vectors l n), l; try congruence; discriminate.
  - intros keys _; apply (certain (fun p => attacks scheme domain p keys A)); auto.
Qed.

(** ** A label of 92 bytes *)

Definition both : adversary := BoundPublic.Ask collision_left (fun _ => BoundPublic.Ask collision_right (fun _ => BoundPublic.Stop)).

(** [states_collide] needs its limit of 91. *)
Theorem label_92_wins : (probability (fun p => some_pair (state_collision (perm p)) (asks p both)) == 1)%Q.
Proof.
  apply certain; intros p IP; unfold some_pair; cbn [asks both]; destruct label_92_collision as (N & _ & E).
  specialize (E (perm p) (perm_length p IP)); revert N E; generalize collision_left, collision_right; intros T1 T2 N E.
  apply existsb_exists; exists T1; split; [now left|]; apply existsb_exists; exists T2; split; [right; now left|].
  unfold state_collision, different, same, last_input; rewrite E; destruct (list_eq_dec _ _ _); [contradiction|].
  now destruct (bytes_dec _ _).
Qed.

(** ** A nonce for two messages *)

Definition twice : attacker aead_question :=
  Ask 0 (Encrypt (repeat 7%N 16) [] [0%N]) (fun r => Ask 0 (Encrypt (repeat 7%N 16) [] [1%N]) (fun s =>
    Halt match r, s with Some y, Some w => N.eqb (N.lxor (get 0 y) (get 0 w)) 1 | _, _ => false end)).

(** What Seal outputs, by the program. *)
Lemma seal_by P (HP : keeps_length P) l T x : let O := outer_of P in
  fst (step P (Seal l x) (run P T)) =
  let r := result O (encrypting x (feed1 (starting (Seal l x) (tape_run P T)) Close)) in
  fst r ++ fst (result O (squeezing tag_length (feed1 (snd r) Close))).
Proof.
  cbv zeta; rewrite (run_agrees P HP); pose proof (stepping_is P HP (Seal l x) (tape_run P T) (wf_tape_run P T)) as E.
  apply (f_equal fst) in E; rewrite seal_result in E; symmetry; exact E.
Qed.

Lemma seal_byte P (HP : keeps_length P) l T : exists k, forall b, get 0 (fst (step P (Seal l [b]) (run P T))) = N.lxor k b.
Proof.
  set (t := feed1 (starting (Seal l [0%N]) (tape_run P T)) Close).
  exists (get (length (cur t)) (outer_of P (closed t))); intro b; rewrite (seal_by P HP); cbv zeta.
  change (feed1 (starting (Seal l [b]) (tape_run P T)) Close) with t; generalize tag_length; intro n; reflexivity.
Qed.

(** [aead_secure] needs nonces that do not repeat. *)
Theorem nonce_twice_wins users domain : (inject_Z 255 / inject_Z 256 <= advantage aead aead_ideal users domain twice)%Q.
Proof.
  assert (R : (real_world aead users domain twice == 1)%Q).
  { apply really_certain; intros p keys IP; unfold twice; cbn [attacks aead]; unfold aead_seal.
    destruct (seal_byte (perm p) (perm_length p IP) (text "message") (keyed (domain 0) (nth 0 keys []) (aead_context (repeat 7%N 16) []))) as [k K].
    rewrite !K, N.lxor_0_r, <- N.lxor_assoc, N.lxor_nilpotent; reflexivity. }
  assert (I : (ideal_world aead_ideal twice <= 1 # 256)%Q).
  { apply average_below; [discriminate|]; intros p _; unfold twice; cbn [imagined aead_ideal length].
    apply average_below; [discriminate|]; intros y _; generalize (get 0 y); intro g; change (1 + tag_length) with (S tag_length).
    rewrite <- average_bytes; generalize tag_length; intro n.
    rewrite (average_ext _ (fun b => indicator (N.eqb (N.lxor g b) 1))) by (intros b _; cbn [get nth]; apply average_const, some_strings).
    eapply Qle_trans; [apply (average_few (fun b => N.eqb (N.lxor g b) 1) values values_once)|rewrite values_length; apply Qle_refl].
    intros a b _ _ A B; apply N.eqb_eq in A, B; rewrite <- B in A; apply (f_equal (N.lxor g)) in A.
    now rewrite <- !N.lxor_assoc, N.lxor_nilpotent, !N.lxor_0_l in A. }
  assert (E : (inject_Z 255 / inject_Z 256 == 255 # 256)%Q) by reflexivity; rewrite E.
  unfold advantage; rewrite R; eapply Qle_trans; [|apply Qle_Qabs]; lra.
Qed.

(** ** What was encrypted is decrypted *)

Definition honest (nonce ad x : list byte) : attacker aead_question :=
  Ask 0 (Encrypt nonce ad x) (fun r => match r with
    | Some y => Ask 0 (Decrypt nonce ad y) (fun s => Halt match s with Some z => same_bytes z x | None => false end)
    | None => Halt false
    end).

Lemma open_sealed P (HP : keeps_length P) d key nonce ad x : aead_open P d key nonce ad (aead_seal P d key nonce ad x) = Some x.
Proof.
  unfold aead_open, aead_seal; cbv zeta; rewrite (seal_by P HP); cbv zeta.
  generalize (keyed d key (aead_context nonce ad)), (text "message"); intros T l; rewrite (run_agrees P HP).
  set (O := outer_of P); set (t := tape_run P T); destruct (result O (encrypting x (feed1 (starting (Seal l x) t) Close))) as [c u] eqn:E.
  cbn [fst snd]; set (g := fst (result O (squeezing tag_length (feed1 u Close)))).
  assert (LG : length g = tag_length) by apply squeezing_length.
  assert (LC : length c = length x) by (pose proof (encrypting_length O x (feed1 (starting (Seal l x) t) Close)) as LE; now rewrite E in LE).
  rewrite app_length, LG; destruct (Nat.ltb_spec (length c + tag_length) tag_length); [lia|]; rewrite Nat.add_sub.
  rewrite firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all; cbn [firstn skipn app]; rewrite app_nil_r.
  rewrite <- (opening_is P HP l c t (wf_tape_run P T) g); fold O; rewrite opening_result; cbv zeta.
  assert (S : starting (Seal l c) t = starting (Seal l x) t) by (unfold starting; cbn [size code label]; now rewrite LC).
  rewrite S; destruct (decrypt_back O x _ c u E) as [-> _]; cbn [fst snd]; fold g.
  unfold taken; rewrite LC, firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all; cbn [firstn skipn app]; rewrite app_nil_r.
  destruct (list_eq_dec N.eq_dec g g); [reflexivity|congruence].
Qed.

(** Neither world refuses all. *)
Theorem honest_opens users domain nonce ad x :
  (real_world aead users domain (honest nonce ad x) == 1)%Q /\ (ideal_world aead_ideal (honest nonce ad x) == 1)%Q.
Proof.
  assert (S : same_bytes x x = true) by (unfold same_bytes; now destruct (bytes_dec x x)).
  split.
  - apply really_certain; intros p keys IP; unfold honest; cbn [attacks aead]; now rewrite (open_sealed _ (perm_length p IP)).
  - unfold ideal_world; rewrite (average_ext _ (fun _ => 1%Q)); [apply average_const, permutations_some|].
    intros p _; unfold honest; cbn [imagined aead_ideal]; rewrite (average_ext _ (fun _ => 1%Q)); [apply average_const, some_strings|].
    intros y _; cbn [imagined aead_ideal decrypted]; destruct (Nat.eq_dec 0 0); [|congruence].
    destruct (list_eq_dec bytes_dec _ _); [now rewrite S|congruence].
Qed.
