(** * BoundBytes: an adversary against the bytes of the kernels

    The games have the permutation as a variable: [attacked] and [against] are those of BoundAttack.v and BoundSecret.v with
    any function and its inverse.  With a random permutation the bounds speak of them; with Simpira-1024 they are what a
    caller of the kernels computes ([played_is]). *)

From Coq Require Import List Bool NArith Arith Lia QArith Qabs.
From Veriplex Require Import Duplex Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed BoundSecret
  BoundAnswers BoundAttack BoundAead.
From Veriplex Require AES Simpira1024 DuplexMachine Sound Framing.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** ** The inverse of Simpira-1024 *)

Module Inverse.
Import AES Simpira1024.

(** A round does not change what it reads, so that the same round again takes it back. *)
Definition unpermute (y : list byte) : list byte := concat (fold_left round (rev (seq 0 18)) (split 16 8 y)).

Lemma xor_back x : forall f, length f = length x -> xor (xor x f) f = x.
Proof.
  induction x as [|a x IH]; intros [|b f] L; cbn [xor length] in *; try discriminate; auto.
  rewrite IH by lia; now rewrite N.lxor_assoc, N.lxor_nilpotent, N.lxor_0_r.
Qed.

Opaque feistel.

Lemma round_back x r : In r (seq 0 18) -> length x = 8 -> blocks_of 16 x -> round (round x r) r = x.
Proof.
  intros R L B; do 8 (destruct x as [|? x]; [discriminate|]); destruct x; [|discriminate].
  unfold blocks_of in B; rewrite Forall_forall in B.
  assert (E : forall x c y, In x [l; l0; l1; l2; l3; l4; l5; l6] -> xor (xor x (feistel c y)) (feistel c y) = x)
    by (intros x c y I; apply xor_back; rewrite feistel_length; symmetry; now apply B).
  cbn [seq In] in R; clear B L.
  repeat (destruct R as [<-|R]; [cbv - [xor feistel In]; rewrite !E by (cbn [In]; tauto); reflexivity|]); destruct R.
Qed.

Lemma split_concat n : forall x, length x = n -> blocks_of 16 x -> split 16 n (concat x) = x.
Proof.
  induction n as [|n IH]; intros [|b x] L B; try discriminate; [reflexivity|]; inversion B as [|? ? LB B']; subst.
  cbn [split concat]; rewrite firstn_app, skipn_app, LB, Nat.sub_diag, firstn_all2, skipn_all2 by lia; cbn [firstn skipn app].
  rewrite app_nil_r, IH; auto.
Qed.

Lemma concat_split n : forall x : list byte, length x = 16 * n -> concat (split 16 n x) = x.
Proof.
  induction n as [|n IH]; intros x L; [destruct x; [reflexivity|discriminate]|]; cbn [split concat].
  rewrite IH by (rewrite skipn_length; lia); apply firstn_skipn.
Qed.

Lemma rounds_back rs : incl rs (seq 0 18) -> forall x, length x = 8 -> blocks_of 16 x ->
  fold_left round rs (fold_left round (rev rs) x) = x.
Proof.
  induction rs as [|r rs IH]; intros I x L B; [reflexivity|]; cbn [rev]; rewrite fold_left_app; cbn [fold_left].
  destruct (rounds_blocks (rev rs) x L B) as [L' B']; rewrite round_back; auto; [|apply I; now left].
  apply IH; auto; intros a J; apply I; now right.
Qed.

Theorem permute_unpermute y : length y = 128 -> permute (unpermute y) = y /\ length (unpermute y) = 128.
Proof.
  intro L; pose proof (split_length 16 8 y) as SL; pose proof (split_blocks 16 8 y L) as SB.
  destruct (rounds_blocks (rev (seq 0 18)) _ SL SB) as [L' B']; split.
  - unfold permute, unpermute; rewrite split_concat, rounds_back; auto using incl_refl; now apply concat_split.
  - unfold unpermute; now rewrite (concat_blocks_length 16), L'.
Qed.

Theorem unpermute_permute x : length x = 128 -> unpermute (permute x) = x.
Proof.
  intro L; pose proof (split_length 16 8 x) as SL; pose proof (split_blocks 16 8 x L) as SB.
  destruct (rounds_blocks (seq 0 18) _ SL SB) as [L' B']; unfold permute, unpermute; rewrite split_concat by assumption.
  assert (E : forall x, fold_left round (rev (seq 0 18)) (fold_left round (rev (rev (seq 0 18))) x) =
    fold_left round (rev (seq 0 18)) (fold_left round (seq 0 18) x)) by (intro; now rewrite rev_involutive).
  rewrite <- E, rounds_back; auto; [now apply concat_split|intros a I; now apply in_rev].
Qed.
End Inverse.

(** ** The game, with any permutation *)

Section Against.
Variable domain : nat -> list byte.

Fixpoint against (P inv : list byte -> list byte) (keys : list (list byte)) (A : player) : bool :=
  match A with
  | Say yes => yes
  | Permute x k => against P inv keys (k (P x))
  | Unpermute y k => against P inv keys (k (inv y))
  | Use i T k => against P inv keys (k (answer P (keyed (domain i) (nth i keys []) T)))
  | Open i T l c tag k => against P inv keys (k (fst (unseal P l c tag (run P (keyed (domain i) (nth i keys []) T)))))
  | Unmask i T l c k => against P inv keys (k (fst (unmask P l c (run P (keyed (domain i) (nth i keys []) T)))))
  end.

(** ** The game, played by kernels *)

Section Kernels.
Variable K : DuplexMachine.kernels.
Variable keys : list (list byte).

(** What opening computes from a duplex: the plaintext, and the tag that it should have. *)
Definition opened_by (l c : list byte) (b : DuplexMachine.bare) (x t : list byte) : Prop :=
  exists b0 b1 b2 b3 b4 b5, DuplexMachine.headed K 5 l b b0 /\ DuplexMachine.absorbed K (leb (length c)) b0 b1 /\
    DuplexMachine.permuted K b1 b2 /\ DuplexMachine.passed K (DuplexMachine.decrypting K) c b2 x b3 /\
    DuplexMachine.permuted K b3 b4 /\ DuplexMachine.squeezed K tag_length b4 t b5.

Definition unmasked_by (l c : list byte) (b : DuplexMachine.bare) (x : list byte) : Prop :=
  exists b0 b1 b2, DuplexMachine.headed K 4 l b b0 /\ DuplexMachine.permuted K b0 b1 /\
    DuplexMachine.passed K (DuplexMachine.decrypting K) c b1 x b2.

(** The adversary's own queries go to the permutation kernel too: the inverse of a state is one that it takes there. *)
Inductive played : player -> bool -> Prop :=
  | played_say yes : played (Say yes) yes
  | played_permute x y k yes : DuplexMachine.permutes K x y -> played (k y) yes -> played (Permute x k) yes
  | played_unpermute x y k yes :
      length x = width -> DuplexMachine.permutes K x y -> played (k x) yes -> played (Unpermute y k) yes
  | played_use i T k outs b yes : DuplexMachine.ran K (keyed (domain i) (nth i keys []) T) outs b ->
      played (k (last outs [])) yes -> played (Use i T k) yes
  | played_open i T l c tag k outs b x t yes : DuplexMachine.ran K (keyed (domain i) (nth i keys []) T) outs b ->
      opened_by l c b x t -> played (k (if list_eq_dec N.eq_dec t tag then Some x else None)) yes ->
      played (Open i T l c tag k) yes
  | played_unmask i T l c k outs b x yes : DuplexMachine.ran K (keyed (domain i) (nth i keys []) T) outs b ->
      unmasked_by l c b x -> played (k x) yes -> played (Unmask i T l c k) yes.
End Kernels.
End Against.

Notation simpira1024 := Simpira1024.permute (only parsing).
Notation simpira1024_inverse := Inverse.unpermute (only parsing).

Section Faithful.
Variable domain : nat -> list byte.
Variable K : DuplexMachine.kernels.
Hypothesis HK : DuplexMachine.faithful K.
Variable keys : list (list byte).

Lemma outputs_last T : forall d x, last (DuplexMachine.outputs_from T d) x =
  fst (fold_left (fun r o => step simpira1024 o (snd r)) T (x, d)).
Proof.
  induction T as [|o T IH]; intros d x; [reflexivity|]; cbn [DuplexMachine.outputs_from fold_left snd].
  rewrite (surjective_pairing (step simpira1024 o d)) at 3; rewrite <- IH.
  destruct (DuplexMachine.outputs_from T _) as [|y ys]; [reflexivity|]; cbn [last].
  generalize ys, y; clear; induction ys as [|z ys IH]; intro y; [reflexivity|]; cbn [last]; apply IH.
Qed.

Lemma stands_run T : DuplexMachine.stands (DuplexMachine.bare_of (run simpira1024 T)) (run simpira1024 T).
Proof. split; [reflexivity|]; rewrite (run_agrees _ Simpira1024.permute_length); apply sane_render; [exact Simpira1024.permute_length|apply wf_tape_run]. Qed.

Theorem played_is A : forall yes, played domain K keys A yes -> yes = against domain simpira1024 simpira1024_inverse keys A.
Proof.
  intros yes H; induction H as [yes|x y k yes R _ IH|x y k yes L R _ IH|i T k outs b yes R _ IH|i T l c tag k outs b x t yes R OP _ IH
    |i T l c k outs b x yes R UN _ IH];
    cbn [against].
  - reflexivity.
  - apply (DuplexMachine.permutes_is K HK) in R as ->; exact IH.
  - apply (DuplexMachine.permutes_is K HK) in R as ->; rewrite Inverse.unpermute_permute by exact L; exact IH.
  - apply (DuplexMachine.duplex_machine K HK) in R as [-> _]; unfold DuplexMachine.outputs in IH.
    rewrite outputs_last in IH; exact IH.
  - apply (DuplexMachine.duplex_machine K HK) in R as [_ ->].
    destruct OP as (b0 & b1 & b2 & b3 & b4 & b5 & H0 & H1 & H2 & H3 & H4 & H5).
    pose proof (stands_run (keyed (domain i) (nth i keys []) T)) as S.
    apply (DuplexMachine.headed_stands K HK _ _ _ _ _ H0), (DuplexMachine.absorbed_stands K HK _ _ _ _ H1),
      (DuplexMachine.permuted_sane K HK _ _ _ H2), (DuplexMachine.passed_stands K HK _ (DuplexMachine.decrypting_blocks K HK) _ _ _ _ H3) in S.
    rewrite DuplexMachine.each_decrypts in S; unfold unseal, opened.
    destruct (decrypt simpira1024 c _) as [x' d1]; cbn [fst snd] in S; destruct S as [<- S].
    apply (DuplexMachine.permuted_sane K HK _ _ _ H4), (DuplexMachine.squeezed_stands K HK _ _ _ _ _ H5) in S as [-> _].
    destruct (squeeze simpira1024 tag_length _) as [t' d2]; exact IH.
  - apply (DuplexMachine.duplex_machine K HK) in R as [_ ->]; destruct UN as (b0 & b1 & b2 & H0 & H1 & H2).
    pose proof (stands_run (keyed (domain i) (nth i keys []) T)) as S.
    apply (DuplexMachine.headed_stands K HK _ _ _ _ _ H0), (DuplexMachine.permuted_sane K HK _ _ _ H1),
      (DuplexMachine.passed_stands K HK _ (DuplexMachine.decrypting_blocks K HK) _ _ _ _ H2) in S.
    rewrite DuplexMachine.each_decrypts in S; destruct S as [S _]; unfold unmask; rewrite <- S; exact IH.
Qed.

Hypothesis TOTAL : forall s, length s = width -> exists s', DuplexMachine.permutes K s s' /\ length s' = width.

Lemma ran_held T outs b : DuplexMachine.ran K T outs b -> length (DuplexMachine.held b) = width.
Proof. intro R; apply (DuplexMachine.duplex_machine K HK) in R as [_ ->]; apply (stands_run T). Qed.

Lemma opened_exists l c b : length (DuplexMachine.held b) = width -> exists x t, opened_by K l c b x t.
Proof.
  intro W; destruct (DuplexMachine.headed_exists K TOTAL 5 l b W) as (b0 & H0 & W0).
  destruct (DuplexMachine.absorbed_exists K TOTAL (leb (length c)) b0 W0) as (b1 & H1 & W1).
  destruct (DuplexMachine.permuted_exists K TOTAL b1 W1) as (b2 & H2 & W2).
  destruct (DuplexMachine.passed_exists K TOTAL (DuplexMachine.decrypting K) c b2 W2) as (x & b3 & H3 & W3 & _).
  destruct (DuplexMachine.permuted_exists K TOTAL b3 W3) as (b4 & H4 & W4).
  destruct (DuplexMachine.squeezed_exists K TOTAL tag_length b4 W4) as (t & b5 & H5 & _).
  exists x, t, b0, b1, b2, b3, b4, b5; auto 10.
Qed.

Lemma unmasked_exists l c b : length (DuplexMachine.held b) = width -> exists x, unmasked_by K l c b x.
Proof.
  intro W; destruct (DuplexMachine.headed_exists K TOTAL 4 l b W) as (b0 & H0 & W0).
  destruct (DuplexMachine.permuted_exists K TOTAL b0 W0) as (b1 & H1 & W1).
  destruct (DuplexMachine.passed_exists K TOTAL (DuplexMachine.decrypting K) c b1 W1) as (x & b2 & H2 & _).
  exists x, b0, b1, b2; auto.
Qed.

Theorem played_exists users A : forall q m, spending users domain q m A -> exists yes, played domain K keys A yes.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m F; cbn [spending] in F.
  - exists r; constructor.
  - destruct F as [[L _] F], q as [|q]; [destruct F|]; destruct (TOTAL x L) as (y & R & _), (IH y q m (F y)) as [yes H].
    exists yes; now apply (played_permute domain K keys x y).
  - destruct F as [[L _] F], q as [|q]; [destruct F|]; destruct (Inverse.permute_unpermute y L) as [E LX].
    destruct (TOTAL _ LX) as (z & R & _); pose proof (DuplexMachine.permutes_is K HK _ _ R) as Z; rewrite E in Z; subst z.
    destruct (IH _ q m (F (Inverse.unpermute y))) as [yes H]; exists yes; now apply (played_unpermute domain K keys (Inverse.unpermute y)).
  - destruct F as (_ & _ & a & n & _ & _ & F); destruct (DuplexMachine.ran_exists K TOTAL (keyed (domain i) (nth i keys []) T)) as (outs & b & R).
    destruct (IH _ q n (F (last outs []))) as [yes H]; exists yes; exact (played_use domain K keys i T k outs b yes R H).
  - destruct F as (_ & _ & _ & a & n & _ & _ & F); destruct (DuplexMachine.ran_exists K TOTAL (keyed (domain i) (nth i keys []) T)) as (outs & b & R).
    destruct (opened_exists l c b (ran_held _ _ _ R)) as (x & t & O).
    destruct (IH _ q n (F (if list_eq_dec N.eq_dec t tag then Some x else None))) as [yes H].
    exists yes; exact (played_open domain K keys i T l c tag k outs b x t yes R O H).
  - destruct F as (_ & _ & _ & a & n & _ & _ & F); destruct (DuplexMachine.ran_exists K TOTAL (keyed (domain i) (nth i keys []) T)) as (outs & b & R).
    destruct (unmasked_exists l c b (ran_held _ _ _ R)) as (x & O), (IH x q n (F x)) as [yes H].
    exists yes; exact (played_unmask domain K keys i T l c k outs b x yes R O H).
Qed.
End Faithful.

(** ** An attacker of a scheme, with any permutation *)

Section Attacked.
Context {question : Type}.
Variable scheme : (list byte -> list byte) -> list byte -> list byte -> question -> option (list byte).
Variable domain : nat -> list byte.

Fixpoint attacked (P inv : list byte -> list byte) (keys : list (list byte)) (A : attacker question) : bool :=
  match A with
  | Halt yes => yes
  | Apply x k => attacked P inv keys (k (P x))
  | Invert y k => attacked P inv keys (k (inv y))
  | Ask i q k => attacked P inv keys (k (scheme P (domain i) (nth i keys []) q))
  end.

Lemma attacked_is p keys A : attacked (perm p) (perm_inverse p) keys A = attacks scheme domain p keys A.
Proof. induction A as [r|x k IH|y k IH|i q k IH]; cbn [attacked attacks]; auto. Qed.

(** The probability of yes if the permutation is random. *)
Definition with_random_permutation (users : nat) (A : attacker question) : Q :=
  average (fun keys => average (fun p => indicator (attacked (perm p) (perm_inverse p) keys A)) all_permutations) (key_lists users).

Lemma with_random_permutation_is users A : (with_random_permutation users A == real_world scheme users domain A)%Q.
Proof. apply average_ext; intros keys _; apply average_ext; intros p _; now rewrite attacked_is. Qed.
End Attacked.

Lemma against_aead domain P inv keys A : against domain P inv keys (aead_player A) = attacked aead domain P inv keys A.
Proof.
  induction A as [r|x k IH|y k IH|i [nonce ad x|nonce ad c] k IH]; cbn [aead_player attacked aead]; cbv zeta; cbn [against]; auto.
  unfold aead_open; cbv zeta; destruct (length c <? tag_length); cbn [against]; auto.
Qed.

(** ** The theorems *)

(** Idealised: the permutation.  If it is random, an attacker of [aead] whose nonces do not repeat, with [n] tries to decrypt
    and at most 2^64 calls, has this advantage.  The kernels play the same game with Simpira-1024 in its place. *)
Definition aead_holds (users : nat) (domain : nat -> list byte) (K : DuplexMachine.kernels) : Prop :=
  forall A q m n, affords users domain q m (aead_player A) -> new_nonces aead_nonce [] A -> at_most decrypts n A -> (z (q + m) <= 2 ^ 64)%Z ->
  (Qabs (with_random_permutation aead domain users A - ideal_world aead_ideal A) <= nat_q (S n) / inject_Z (2 ^ 128))%Q /\
  forall keys,
    (forall yes, played domain K keys (aead_player A) yes -> yes = attacked aead domain simpira1024 simpira1024_inverse keys A) /\
    exists yes, played domain K keys (checked (aead_player A)) yes.

Theorem aead_on users domain K : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) -> DuplexMachine.faithful K ->
  (forall s, length s = width -> exists s', DuplexMachine.permutes K s s' /\ length s' = width) -> aead_holds users domain K.
Proof.
  intros D HK TOTAL A q m n F NN AM N; split; [|intro keys; split].
  - rewrite with_random_permutation_is; exact (aead_secure_2_128 users domain A q m n D F NN AM N).
  - intros yes H; rewrite <- against_aead; exact (played_is domain K HK keys _ yes H).
  - exact (played_exists domain K HK keys TOTAL users _ q m (checked_spends users domain _ q m F)).
Qed.

Theorem aead_secure_x86_64 users domain : (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  aead_holds users domain Sound.kernels_x86_64.
Proof. intro D; exact (aead_on users domain _ D Sound.kernels_x86_64_faithful Sound.permutes_exists_x86_64). Qed.

Theorem aead_secure_aarch64 vector users domain : 16 <= vector -> (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) ->
  aead_holds users domain (Sound.kernels_aarch64 vector).
Proof.
  intros V D; exact (aead_on users domain _ D (Sound.kernels_aarch64_faithful vector) (Sound.permutes_exists_aarch64 vector V)).
Qed.
