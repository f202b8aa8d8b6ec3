(** * BoundSchemes: collisions of digest, tree and committing, in numbers

    Each is a collision of outputs (BoundPublic.v), because different inputs have different transcripts.  An event is any
    set of permutations, decided by a function; what it implies is written out. *)

From Coq Require Import Ascii String List Bool NArith Arith Lia QArith.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** What [N] calls may find, with outputs of [n] bytes: the inner part's term and the output's own. *)
Definition birthday (N n : nat) : Q :=
  inject_Z (z N * (z N + 1)) / inject_Z (2 ^ 257 - 1) + inject_Z (z N * z N) / inject_Z (2 ^ (8 * z n + 1) - 1).

(** The transcripts.  The output of a digest has any length. *)
Definition digest (domain message : list byte) (n : nat) : list op :=
  [Init domain; Mix (text "message") message; Derive (text "digest") n].

Definition committing (domain key nonce ad message : list byte) : list op :=
  [Init domain; Mix (text "key") key; Mix (text "tag-length") [32%N]; Mix (text "nonce") nonce; Mix (text "ad") ad;
   Mask (text "message") message; Derive (text "tag") 32].

(** The SIV of committing: the branch that makes the tag. *)
Definition committing_siv (domain key nonce ad message : list byte) : list op :=
  [Init domain; Mix (text "key") key; Mix (text "tag-length") [32%N]; Mix (text "nonce") nonce; Mix (text "ad") ad;
   Fork (text "role") 1 (text "auth"); Mix (text "message") message; Derive (text "tag") 32].

Definition asked_as (q : query) : list op := let '(T, l, n) := q in T ++ [Derive l n].

(** What a winner has asked for: two different messages with one digest; two different sets of key, nonce, associated
    data and message with one tag; two different messages with one digest of [tree], with all nodes of both. *)
Definition finds_digests (p : graph) (A : adversary) (n : nat) : Prop :=
  exists d1 m1 d2 m2, (d1, m1) <> (d2, m2) /\
    In (digest d1 m1 n) (asks p A) /\ In (digest d2 m2 n) (asks p A) /\
    answer (perm p) (digest d1 m1 n) = answer (perm p) (digest d2 m2 n).

Definition finds_tags (form : list byte -> list byte -> list byte -> list byte -> list byte -> list op)
    (p : graph) (A : adversary) : Prop :=
  exists d1 k1 n1 a1 m1 d2 k2 n2 a2 m2, (d1, k1, n1, a1, m1) <> (d2, k2, n2, a2, m2) /\
    In (form d1 k1 n1 a1 m1) (asks p A) /\ In (form d2 k2 n2 a2 m2) (asks p A) /\
    answer (perm p) (form d1 k1 n1 a1 m1) = answer (perm p) (form d2 k2 n2 a2 m2).

Definition finds_trees (p : graph) (A : adversary) (n : nat) : Prop :=
  exists B1 m1 B2 m2, (B1, m1) <> (B2, m2) /\
    (forall q, In q (asked (derive (perm p)) B1 m1 n) \/ In q (asked (derive (perm p)) B2 m2 n) -> In (asked_as q) (asks p A)) /\
    tree (derive (perm p)) B1 m1 n = tree (derive (perm p)) B2 m2 n.

(** ** Theorems *)

Lemma event_bound A N n (event : graph -> bool) : admissible N A -> (z N <= 2 ^ 256)%Z -> n <= 94 ->
  (forall p, In p all_permutations -> event p = true -> exists T1 T2, T1 <> T2 /\ In T1 (asks p A) /\ In T2 (asks p A) /\
    derives n T1 = true /\ derives n T2 = true /\ firstn n (answer (perm p) T1) = firstn n (answer (perm p) T2)) ->
  (probability event <= birthday N n)%Q.
Proof.
  intros AD NN N94 H; eapply Qle_trans; [|exact (outputs_collide A N n AD NN N94)].
  apply average_le; intros p I; unfold indicator.
  destruct (event p) eqn:E; [|destruct (some_pair _ _); discriminate].
  destruct (H p I E) as (T1 & T2 & D & I1 & I2 & D1 & D2 & F).
  replace (some_pair (output_collision n (perm p)) (asks p A)) with true; [apply Qle_refl|symmetry].
  apply existsb_exists; exists T1; split; [exact I1|]; apply existsb_exists; exists T2; split; [exact I2|].
  unfold output_collision, different, same; rewrite D1, D2, F.
  destruct (list_eq_dec op_eq_dec T1 T2); [contradiction|]; destruct (bytes_dec _ _); [reflexivity|congruence].
Qed.

Lemma derives_last n T l m : n <= m -> derives n (T ++ [Derive l m]) = true.
Proof. intro H; unfold derives; rewrite rev_app_distr; cbn [rev app]; now apply Nat.leb_le. Qed.

Lemma answer_snoc P T o : answer P (T ++ [o]) = fst (step P o (run P T)).
Proof.
  unfold answer; rewrite fold_left_app; cbn [fold_left]; do 2 f_equal.
  assert (H : forall r, snd (fold_left (fun r o => step P o (snd r)) T r) = fold_left (fun d o => snd (step P o d)) T (snd r)).
  { induction T as [|a T IH]; intro r; [reflexivity|]; cbn [fold_left]; now rewrite IH. }
  apply (H ([], start)).
Qed.

Theorem digests_collide A N n (event : graph -> bool) : admissible N A -> (z N <= 2 ^ 256)%Z ->
  (forall p, In p all_permutations -> event p = true -> finds_digests p A n) ->
  (probability event <= birthday N (Nat.min n 94))%Q.
Proof.
  intros AD NN H; apply (event_bound A N _ event AD NN); [lia|]; intros p I E.
  destruct (H p I E) as (d1 & m1 & d2 & m2 & D & I1 & I2 & F); exists (digest d1 m1 n), (digest d2 m2 n).
  split; [intro X; apply D; injection X; intros; subst; reflexivity|].
  split; [exact I1|split; [exact I2|]]; split; [|split; [|exact (f_equal (firstn (Nat.min n 94)) F)]].
  - exact (derives_last (Nat.min n 94) [Init d1; Mix (text "message") m1] (text "digest") n (Nat.le_min_l n 94)).
  - exact (derives_last (Nat.min n 94) [Init d2; Mix (text "message") m2] (text "digest") n (Nat.le_min_l n 94)).
Qed.

Theorem tags_commit form A N (event : graph -> bool) : form = committing \/ form = committing_siv ->
  admissible N A -> (z N <= 2 ^ 256)%Z -> (forall p, In p all_permutations -> event p = true -> finds_tags form p A) ->
  (probability event <= birthday N 32)%Q.
Proof.
  intros FORM AD NN H; apply (event_bound A N 32 event AD NN); [lia|]; intros p I E.
  destruct (H p I E) as (d1 & k1 & n1 & a1 & m1 & d2 & k2 & n2 & a2 & m2 & D & I1 & I2 & F).
  exists (form d1 k1 n1 a1 m1), (form d2 k2 n2 a2 m2).
  assert (LAST : forall d k n a m, exists T, form d k n a m = T ++ [Derive (text "tag") 32]).
  { intros d k n a m; destruct FORM as [-> | ->]; [exists (firstn 6 (committing d k n a m))|exists (firstn 7 (committing_siv d k n a m))];
      reflexivity. }
  split; [intro X; apply D; destruct FORM as [-> | ->]; injection X; intros; subst; reflexivity|].
  split; [exact I1|split; [exact I2|]]; split; [|split; [|exact (f_equal (firstn 32) F)]].
  - destruct (LAST d1 k1 n1 a1 m1) as [T ->]; exact (derives_last 32 T (text "tag") 32 (le_n 32)).
  - destruct (LAST d2 k2 n2 a2 m2) as [T ->]; exact (derives_last 32 T (text "tag") 32 (le_n 32)).
Qed.

Lemma asked_derives D B m n q : In q (asked D B m n) -> Nat.min n 32 <= snd q.
Proof.
  intro I; apply in_app_or in I as [I|[<-|[]]].
  - assert (H : forall f k x, In q (nodes D B f k x) -> Nat.min n 32 <= snd q); [|exact (H _ _ _ I)].
    clear I; induction f as [|f IH]; intros k x I; cbn [nodes] in I; [destruct I|].
    destruct (length x <=? chunk_len); [destruct I|].
    apply in_app_or in I as [I|I]; [|exact (IH _ _ I)].
    apply in_map_iff in I as (c & <- & _); unfold node, cv_len; cbn [snd]; lia.
  - unfold top; destruct (climb D B (length m) 0 m); exact (Nat.le_min_l n 32).
Qed.

Theorem trees_collide A N n (event : graph -> bool) : admissible N A -> (z N <= 2 ^ 256)%Z ->
  (forall p, In p all_permutations -> event p = true -> finds_trees p A n) ->
  (probability event <= birthday N (Nat.min n 32))%Q.
Proof.
  intros AD NN H; apply (event_bound A N _ event AD NN); [lia|]; intros p I E.
  destruct (H p I E) as (B1 & m1 & B2 & m2 & D & ALL & F).
  assert (D' : (B1, m1, n) <> (B2, m2, n)) by congruence.
  apply (tree_collision (derive (perm p)) (derive_length (perm p)) B1 m1 n B2 m2 n D') in F as (Q & EQ & J1 & J2).
  destruct (collide (derive (perm p)) B1 m1 n B2 m2 n) as [q1 q2]; cbn [fst snd] in *.
  pose proof (asked_derives _ _ _ _ _ J1) as L1; pose proof (asked_derives _ _ _ _ _ J2) as L2.
  exists (asked_as q1), (asked_as q2).
  split; [|split; [apply ALL; left; exact J1|split; [apply ALL; right; exact J2|split; [|split]]]].
  - intro X; apply Q; destruct q1 as [[T1 l1] k1], q2 as [[T2 l2] k2]; cbn [asked_as] in X.
    apply app_inj_tail in X as [-> X]; injection X as -> ->; reflexivity.
  - destruct q1 as [[T1 l1] k1]; apply derives_last; exact L1.
  - destruct q2 as [[T2 l2] k2]; apply derives_last; exact L2.
  - destruct q1 as [[T1 l1] k1], q2 as [[T2 l2] k2]; cbn [asked_as derive] in *; now rewrite !answer_snoc, EQ.
Qed.

(** ** Fewer than 2^64 calls *)

Corollary states_below_2_129 A N : admissible N A -> (z N < 2 ^ 64)%Z ->
  (probability (fun p => some_pair (state_collision (perm p)) (asks p A)) < 1 / inject_Z (2 ^ 129))%Q.
Proof.
  intros AD H; eapply Qle_lt_trans; [apply (states_collide A N AD)|].
  - apply Z.le_trans with (2 ^ 64)%Z; [lia|vm_compute; discriminate].
  - apply Qle_lt_trans with (inject_Z ((2 ^ 64 - 1) * 2 ^ 64) / inject_Z (2 ^ 257 - 1))%Q; [|vm_compute; reflexivity].
    unfold Qdiv; apply Qmult_le_compat_r; [|vm_compute; discriminate].
    rewrite <- Zle_Qle; unfold z in *; pose proof (Nat2Z.is_nonneg N); nia.
Qed.

Corollary digests_below_2_128 A N (event : graph -> bool) : admissible N A -> (z N < 2 ^ 64)%Z ->
  (forall p, In p all_permutations -> event p = true -> finds_digests p A 32) ->
  (probability event < 1 / inject_Z (2 ^ 128))%Q.
Proof.
  intros AD H EV; eapply Qle_lt_trans; [apply (digests_collide A N 32 event AD); [|exact EV]|].
  - apply Z.le_trans with (2 ^ 64)%Z; [lia|vm_compute; discriminate].
  - change (Nat.min 32 94) with 32; unfold birthday; change (8 * z 32 + 1)%Z with 257%Z.
    apply Qle_lt_trans with (inject_Z ((2 ^ 64 - 1) * 2 ^ 64) / inject_Z (2 ^ 257 - 1) +
      inject_Z ((2 ^ 64 - 1) * (2 ^ 64 - 1)) / inject_Z (2 ^ 257 - 1))%Q; [|vm_compute; reflexivity].
    apply Qplus_le_compat; unfold Qdiv; (apply Qmult_le_compat_r; [|vm_compute; discriminate]);
      rewrite <- Zle_Qle; unfold z in *; pose proof (Nat2Z.is_nonneg N); nia.
Qed.
