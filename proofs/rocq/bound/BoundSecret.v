(** * BoundSecret: what a transcript outputs under a secret key is random

    The games with secrets: the definitions first, the theorems at the end.  [proofs/rocq/bound/README.md] says the same in
    prose. *)

From Coq Require Import Ascii String List Bool NArith Arith Lia QArith Qabs.
From Veriplex Require Import Duplex Framing Protocol Tree BoundSampling BoundModel BoundPublic BoundKeyed.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** ** The games *)

(** A transcript with a key: that of aead, mac, siv, stream and committing begins so. *)
Definition keyed (d key : list byte) (T : list op) : list op := Init d :: Mix (text "key") key :: T.

(** It asks the permutation, its inverse, for what a transcript under the key of a user outputs last, whether Open takes a
    ciphertext and a tag after one, and what Unmask gives; it goes on as the answers say, and ends with yes or no. *)
Inductive player :=
  | Say (yes : bool)
  | Permute (x : list byte) (k : list byte -> player)
  | Unpermute (y : list byte) (k : list byte -> player)
  | Use (i : nat) (T : list op) (k : list byte -> player)
  | Open (i : nat) (T : list op) (l c tag : list byte) (k : option (list byte) -> player)
  | Unmask (i : nat) (T : list op) (l c : list byte) (k : list byte -> player).

Section Users.
(** The users: how many, and the domain of each. *)
Variable users : nat.
Variable domain : nat -> list byte.

(** The real world, for one permutation and one list of keys. *)
Fixpoint says (p : graph) (keys : list (list byte)) (A : player) : bool :=
  match A with
  | Say yes => yes
  | Permute x k => says p keys (k (perm p x))
  | Unpermute y k => says p keys (k (perm_inverse p y))
  | Use i T k => says p keys (k (answer (perm p) (keyed (domain i) (nth i keys []) T)))
  | Open i T l c tag k => says p keys (k (fst (unseal (perm p) l c tag (run (perm p) (keyed (domain i) (nth i keys []) T)))))
  | Unmask i T l c k => says p keys (k (fst (unmask (perm p) l c (run (perm p) (keyed (domain i) (nth i keys []) T)))))
  end.

(** The model as a program that asks for the outer part after some blocks ([transcript]), with zeros for a key that
    nothing depends on.  Each list of blocks of each user is a name: [Visit] asks for what it has. *)
Fixpoint walk (i : nat) (above bs : list block) (o : list byte) (k : list byte -> @tree (list byte) (list byte) block) :=
  match bs with [] => k o | b :: bs => Visit i b above (fun o => walk i (b :: above) bs o k) end.

Fixpoint ask {A} (i : nat) (q : prog A) (k : A -> @tree (list byte) (list byte) block) :=
  match q with Ret a => k a | Need bs f => walk i [] bs [] (fun o => ask i (f o) k) end.

Definition no_key : list byte := repeat 0%N 32.

Definition program (i : nat) (T : list op) : prog (list byte * tape) := transcript (keyed (domain i) no_key T) ([], blank).

Fixpoint decrypting (c : list byte) (t : tape) : prog (list byte * tape) :=
  match c with
  | [] => Ret ([], t)
  | b :: c => Need (closed t) (fun o => let x := N.lxor (get (length (cur t)) o) b in
      bind (decrypting c (feed1 t (Byte x))) (fun r => Ret (x :: fst r, snd r)))
  end.

(** The plaintext, and the tag that it should have. *)
Definition opening (l c : list byte) (t : tape) : prog (list byte * tape) :=
  bind (decrypting c (feed1 (feed (bytes (leb (length c))) (tape_header 5 l t)) Close)) (fun r =>
    bind (squeezing tag_length (feed1 (snd r) Close)) (fun q => Ret (fst r ++ fst q, snd q))).

Definition open_program (i : nat) (T : list op) (l c : list byte) : prog (list byte * tape) :=
  bind (program i T) (fun r => opening l c (snd r)).

Definition unmasking (l c : list byte) (t : tape) : prog (list byte * tape) := decrypting c (feed1 (tape_header 4 l t) Close).

Definition unmask_program (i : nat) (T : list op) (l c : list byte) : prog (list byte * tape) :=
  bind (program i T) (fun r => unmasking l c (snd r)).

Definition taken (c tag x : list byte) : option (list byte) :=
  if list_eq_dec N.eq_dec (skipn (length c) x) tag then Some (firstn (length c) x) else None.

Fixpoint compiled (A : player) : @tree (list byte) (list byte) block :=
  match A with
  | Say yes => Stop yes
  | Permute x k => Forward x (fun y => compiled (k y))
  | Unpermute y k => Inverse y (fun x => compiled (k x))
  | Use i T k => ask i (program i T) (fun r => compiled (k (fst r)))
  | Open i T l c tag k => ask i (open_program i T l c) (fun r => compiled (k (taken c tag (fst r))))
  | Unmask i T l c k => ask i (unmask_program i T l c) (fun r => compiled (k (fst r)))
  end.

Definition key_lists : list (list (list byte)) := vectors (strings 32) users.

Definition block_dec : forall x y : block, {x = y} + {x <> y}.
Proof. decide equality; [apply Nat.eq_dec|apply bytes_dec]. Defined.

(** The probability of yes, in both worlds. *)
Definition really (A : player) : Q :=
  average (fun keys => average (fun p => indicator (says p keys A)) all_permutations) key_lists.
Definition ideally (A : player) : Q :=
  average (fun p => ideal bytes_dec block_dec (strings (rate + 2)) p (compiled A) []) all_permutations.

(** At most [c] calls of the permutation, whatever is output. *)
Definition costs (r : prog (list byte * tape)) (c : nat) : Prop :=
  forall O : list block -> list byte, (forall bs, small (O bs)) -> length (closed (snd (result O r))) <= c.

(** At most [q] direct queries, and [m] calls of the permutation for the users; labels of at most 91 bytes. *)
Fixpoint spending (q m : nat) (A : player) : Prop :=
  match A with
  | Say _ => True
  | Permute x k => is_state x /\ match q with O => False | S q => forall y, spending q m (k y) end
  | Unpermute y k => is_state y /\ match q with O => False | S q => forall x, spending q m (k x) end
  | Use i T k => i < users /\ legal T /\ exists c n, c + n <= m /\ costs (program i T) c /\ forall x, spending q n (k x)
  | Open i T l c tag k => i < users /\ legal T /\ (length l <= label_max /\ small l /\ small c) /\
      exists a n, a + n <= m /\ costs (open_program i T l c) a /\ forall x, spending q n (k x)
  | Unmask i T l c k => i < users /\ legal T /\ (length l <= label_max /\ small l /\ small c) /\
      exists a n, a + n <= m /\ costs (unmask_program i T l c) a /\ forall x, spending q n (k x)
  end.

(** So that a key is in the first block. *)
Hypothesis domains : forall i, i < users -> length (domain i) <= 51 /\ small (domain i).

(** ** Keys as roots *)

Definition mask (i : nat) (key : list byte) : list byte := repeat 0%N (length (domain i) + 11) ++ key.
Definition place_of (i : nat) (key : list byte) : list byte := xors zeros (mask i key).
Definition after (y : list byte) (b : block) : list byte := xors y (pad b).
Definition ok_block (b : block) : Prop := length (fst b) <= rate /\ small_block b.

Lemma xors_xors s : forall x m, length m <= length x -> xors s (xors x m) = xors (xors s m) x.
Proof.
  induction s as [|a s IH]; intros [|b x] [|c m] H; cbn [xors length] in *; auto; try lia.
  rewrite IH by lia; f_equal; rewrite N.lxor_assoc; f_equal; apply N.lxor_comm.
Qed.

Lemma xors_app x y : forall m, length m <= length x -> xors (x ++ y) m = xors x m ++ y.
Proof. induction x as [|a x IH]; intros [|c m] H; cbn [xors length app] in *; auto; try lia; [now rewrite xors_nil|]. now rewrite IH by lia. Qed.

Lemma xor_at_xors i b s : forall m, xor_at i b (xors s m) = xors (xor_at i b s) m.
Proof.
  revert i; induction s as [|a s IH]; intros [|i] [|c m]; cbn [xors xor_at]; auto.
  - now rewrite !N.lxor_assoc, (N.lxor_comm c b).
  - now rewrite IH.
Qed.

Lemma pad_xors x f m : length m <= length x -> pad (xors x m, f) = xors (pad (x, f)) m.
Proof. intro H; unfold pad; rewrite xors_length, <- !xor_at_xors, xors_app by exact H; reflexivity. Qed.

Lemma xors_twice y x : xors (xors y x) x = y.
Proof.
  revert x; induction y as [|a y IH]; intros [|b x]; cbn [xors]; auto.
  now rewrite N.lxor_assoc, N.lxor_nilpotent, N.lxor_0_r, IH.
Qed.

(** The same tape under a key: the key is in the first block. *)
Section Shift.
Variable m : list byte.
Hypothesis M : 0 < length m.

Definition shift (t : tape) : tape :=
  match closed t with
  | [] => Tape [] (xors (cur t) m) (fi t)
  | (x, f) :: bs => Tape ((xors x m, f) :: bs) (cur t) (fi t)
  end.
Definition holds_key (t : tape) : Prop := length m <= length (match closed t with [] => cur t | (x, _) :: _ => x end).

Lemma shift_feed1 t k : holds_key t -> shift (feed1 t k) = feed1 (shift t) k /\ holds_key (feed1 t k).
Proof.
  unfold holds_key, shift; destruct t as [[|[x f] bs] c g]; cbn [closed cur fi]; intro H; destruct k as [b|]; cbn [feed1 closed cur fi app].
  - rewrite <- xors_app, xors_length by exact H; rewrite app_length; destruct (_ =? _); cbn [closed cur fi app fst];
      split; auto; rewrite app_length; lia.
  - auto.
  - destruct (_ =? _); auto.
  - auto.
Qed.

Lemma shift_feed w : forall t, holds_key t -> shift (feed w t) = feed w (shift t) /\ holds_key (feed w t).
Proof.
  induction w as [|k w IH]; intros t H; [auto|]; destruct (shift_feed1 t k H) as [E H']; rewrite !feed_cons, <- E; auto.
Qed.

Lemma shift_mark id t : holds_key t -> shift (mark id t) = mark id (shift t) /\ holds_key (mark id t).
Proof.
  intro H; unfold mark; assert (F : fi (shift t) = fi t) by (unfold shift; destruct (closed t) as [|[x f] bs]; reflexivity).
  rewrite F; destruct (shift_feed1 t (Byte (N.of_nat (fi t))) H) as [E H']; rewrite <- E.
  generalize dependent (feed1 t (Byte (N.of_nat (fi t)))); intros r _ H'.
  destruct (shift_feed1 (Tape (closed r) (cur r) (length (cur r))) (Byte id)) as [E H2]; [exact H'|]; split; [|exact H2].
  rewrite E; f_equal; unfold shift; cbn [closed cur fi]; destruct (closed r) as [|[x f] bs]; cbn [closed cur fi]; now rewrite ?xors_length.
Qed.

Lemma shift_header c l t : holds_key t -> shift (tape_header c l t) = tape_header c l (shift t) /\ holds_key (tape_header c l t).
Proof.
  intro H; unfold tape_header; destruct (shift_mark c t H) as [<- H1], (shift_feed (bytes l) _ H1) as [<- H2]; now apply shift_mark.
Qed.

Lemma shift_cur t : closed t <> [] -> cur (shift t) = cur t.
Proof. unfold shift; destruct (closed t) as [|[x f] bs]; [congruence|reflexivity]. Qed.

Lemma shift_cur_length t : length (cur (shift t)) = length (cur t).
Proof. unfold shift; destruct (closed t) as [|[x f] bs]; cbn [cur]; now rewrite ?xors_length. Qed.

Variables O O' : list block -> list byte.
Hypothesis SAME : forall t, holds_key t -> closed t <> [] -> O' (closed (shift t)) = O (closed t).

Lemma closed_not_nil w t : closed t <> [] -> closed (feed w t) <> [].
Proof. intro H; destruct (closed_feed w t) as [r ->]; intro E; apply app_eq_nil in E; tauto. Qed.
Lemma close_not_nil t : closed (feed1 t Close) <> [].
Proof. cbn; intro E; symmetry in E; now apply app_cons_not_nil in E. Qed.

Lemma shift_squeezing n : forall t, holds_key t -> closed t <> [] ->
  result O' (squeezing n (shift t)) = (fst (result O (squeezing n t)), shift (snd (result O (squeezing n t)))) /\
  holds_key (snd (result O (squeezing n t))).
Proof.
  induction n as [|n IH]; intros t H C; [auto|]; cbn [squeezing result]; rewrite SAME, shift_cur by assumption.
  set (b := get (length (cur t)) (O (closed t))); destruct (shift_feed1 t (Byte b) H) as [<- H'].
  destruct (IH _ H') as [E H2]; [apply (closed_not_nil [Byte b] t C)|]; rewrite !result_bind, E; auto.
Qed.

Lemma shift_encrypting p : forall t, holds_key t -> closed t <> [] ->
  result O' (encrypting p (shift t)) = (fst (result O (encrypting p t)), shift (snd (result O (encrypting p t)))) /\
  holds_key (snd (result O (encrypting p t))) /\ closed (snd (result O (encrypting p t))) <> [].
Proof.
  induction p as [|b p IH]; intros t H C; [auto|]; cbn [encrypting result]; rewrite SAME, shift_cur by assumption.
  destruct (shift_feed1 t (Byte b) H) as [<- H'].
  destruct (IH _ H') as (E & H2 & C2); [apply (closed_not_nil [Byte b] t C)|]; rewrite !result_bind, E; auto.
Qed.

Lemma shift_decrypting c : forall t, holds_key t -> closed t <> [] ->
  result O' (decrypting c (shift t)) = (fst (result O (decrypting c t)), shift (snd (result O (decrypting c t)))) /\
  holds_key (snd (result O (decrypting c t))).
Proof.
  induction c as [|b c IH]; intros t H C; [auto|]; cbn [decrypting result]; rewrite SAME, shift_cur by assumption.
  set (x := N.lxor (get (length (cur t)) (O (closed t))) b); destruct (shift_feed1 t (Byte x) H) as [<- H'].
  destruct (IH _ H') as [E H2]; [apply (closed_not_nil [Byte x] t C)|]; rewrite !result_bind, E; auto.
Qed.

Lemma shift_opening l c t : holds_key t -> fst (result O' (opening l c (shift t))) = fst (result O (opening l c t)).
Proof.
  intro H; unfold opening; destruct (shift_header 5 l t H) as [<- H0].
  destruct (shift_feed (bytes (leb (length c))) _ H0) as [<- H1], (shift_feed1 _ Close H1) as [<- H2].
  generalize tag_length; intro k; rewrite !(result_bind _ (decrypting _ _)).
  destruct (shift_decrypting c _ H2 (close_not_nil _)) as [-> H3]; cbn [fst snd]; destruct (shift_feed1 _ Close H3) as [<- H4].
  rewrite !(result_bind _ (squeezing k _)); destruct (shift_squeezing k _ H4 (close_not_nil _)) as [-> _]; reflexivity.
Qed.

Lemma shift_unmasking l c t : holds_key t -> fst (result O' (unmasking l c (shift t))) = fst (result O (unmasking l c t)).
Proof.
  intro H; unfold unmasking; destruct (shift_header 4 l t H) as [<- H0], (shift_feed1 _ Close H0) as [<- H1].
  destruct (shift_decrypting c _ H1 (close_not_nil _)) as [-> _]; reflexivity.
Qed.

Lemma shift_stepping o t : holds_key t -> result O' (stepping o (shift t)) =
  (fst (result O (stepping o t)), shift (snd (result O (stepping o t)))) /\ holds_key (snd (result O (stepping o t))).
Proof.
  intro H; unfold stepping; destruct (shift_header (code o) (label o) t H) as [<- H1].
  revert H1; generalize (tape_header (code o) (label o) t); clear t H; intros h H.
  destruct o as [l|l x|l n|l p|l p|l i v|l].
  - auto.
  - cbn [result fst snd]; destruct (shift_feed (bytes x) h H) as [-> H1]; auto.
  - destruct (shift_feed (bytes (leb n)) h H) as [<- H1], (shift_feed1 _ Close H1) as [<- H2].
    apply shift_squeezing; [exact H2|apply close_not_nil].
  - destruct (shift_feed1 _ Close H) as [<- H2]; destruct (shift_encrypting p _ H2 (close_not_nil _)) as (E & H3 & _); auto.
  - destruct (shift_feed (bytes (leb (length p))) h H) as [<- H1], (shift_feed1 _ Close H1) as [<- H2].
    generalize tag_length; intro k; rewrite !(result_bind _ (encrypting _ _)).
    destruct (shift_encrypting p _ H2 (close_not_nil _)) as (-> & H3 & C).
    cbn [fst snd]; destruct (shift_feed1 _ Close H3) as [<- H4].
    rewrite !(result_bind _ (squeezing k _)); destruct (shift_squeezing k _ H4 (close_not_nil _)) as [-> H5]; auto.
  - cbn [result fst snd]; destruct (shift_feed (bytes (i :: v)) h H) as [-> H1]; auto.
  - cbn [result fst snd]; rewrite shift_cur_length.
    assert (X : forall t, holds_key t -> closed t <> [] -> (@nil byte, feed (bytes (firstn 32 (O' (closed (shift t))))) (shift t)) =
      ([], shift (feed (bytes (firstn 32 (O (closed t)))) t)) /\ holds_key (feed (bytes (firstn 32 (O (closed t)))) t)).
    { intros t H1 C; rewrite SAME by assumption; destruct (shift_feed (bytes (firstn 32 (O (closed t)))) t H1) as [-> H2]; auto. }
    destruct (Nat.eqb_spec (length (cur h)) 0) as [E|E].
    + apply X; [exact H|]; intro C; unfold holds_key in H; rewrite C in H; lia.
    + destruct (shift_feed1 h Close H) as [<- H2]; apply X; [exact H2|apply close_not_nil].
Qed.

Lemma shift_transcript T : forall x t, holds_key t -> result O' (transcript T (x, shift t)) =
  (fst (result O (transcript T (x, t))), shift (snd (result O (transcript T (x, t))))) /\
  holds_key (snd (result O (transcript T (x, t)))).
Proof.
  induction T as [|o T IH]; intros x t H; [auto|]; cbn [transcript snd]; rewrite !result_bind.
  destruct (shift_stepping o t H) as [-> H1]; destruct (IH (fst (result O (stepping o t))) _ H1) as [-> H2].
  rewrite <- surjective_pairing in *; auto.
Qed.
End Shift.

Lemma mark_inside id t : closed t = [] -> length (cur t) + 2 < rate ->
  exists c, mark id t = Tape [] c (length (cur t) + 1) /\ length c = length (cur t) + 2.
Proof.
  intros C L; unfold mark; rewrite (feed1_inside _ t) by lia; cbn [closed cur]; rewrite feed1_inside; cbn [closed cur fi];
    rewrite ?app_length; cbn [length]; [|lia]; eexists; rewrite C; split; [reflexivity|]; rewrite !app_length; cbn; lia.
Qed.

Lemma header_inside c l t : closed t = [] -> length (cur t) + length l + 4 < rate ->
  exists x f, tape_header c l t = Tape [] x f /\ length x = length (cur t) + length l + 4.
Proof.
  intros C L; unfold tape_header; destruct (mark_inside c t C) as (x & -> & X); [lia|].
  rewrite feed_bytes_within by (cbn [cur]; lia); cbn [closed cur fi].
  destruct (mark_inside (c + 128) (Tape [] (x ++ l) (length (cur t) + 1)) eq_refl) as (y & -> & Y);
    cbn [cur] in *; rewrite ?app_length in *; [lia|]; eexists _, _; split; [reflexivity|lia].
Qed.

Definition begun (i : nat) (key : list byte) : tape := snd (result (fun _ => []) (transcript (keyed (domain i) key []) ([], blank))).

Lemma keyed_from O i key T : result O (transcript (keyed (domain i) key T) ([], blank)) = result O (transcript T ([], begun i key)).
Proof. reflexivity. Qed.

(** Bytes that fill the block. *)
Lemma feed_fills x t : x <> [] -> length (cur t) + length x = rate ->
  feed (bytes x) t = Tape (closed t ++ [(cur t ++ x, fi t)]) [] 0.
Proof.
  intros N L; destruct x as [|b x _] using rev_ind; [congruence|]; rewrite app_length in L; cbn [length] in L.
  unfold bytes; rewrite map_app, feed_app; fold (bytes x); rewrite (feed_bytes_within x t) by lia; cbn [map feed fold_left].
  rewrite feed1_full; cbn [closed cur fi]; [now rewrite <- app_assoc|rewrite app_length; lia].
Qed.

Lemma begun_is i key : i < users -> length key = 32 ->
  begun i key = shift (mask i key) (begun i no_key) /\ holds_key (mask i key) (begun i no_key).
Proof.
  intros U K; destruct (domains i U) as [D _].
  assert (F : forall key, begun i key = feed (bytes key) (tape_header 2 (text "key") (tape_header 1 (domain i) blank))) by reflexivity.
  rewrite !F; destruct (header_inside 1 (domain i) blank eq_refl) as (x & f & -> & X); [cbn [cur length blank]; unfold rate; lia|].
  destruct (header_inside 2 (text "key") (Tape [] x f) eq_refl) as (y & g & -> & Y); [cbn [cur blank length] in *; cbn; unfold rate; lia|].
  cbn [cur length blank] in *; change (length (text "key")) with 3 in Y.
  assert (Z : length no_key = 32) by apply repeat_length.
  assert (E : xors (y ++ no_key) (mask i key) = y ++ key).
  { unfold mask; replace (length (domain i) + 11) with (length y) by lia.
    assert (A : forall a b c d, length a = length c -> xors (a ++ b) (c ++ d) = xors a c ++ xors b d).
    { clear; induction a as [|e a IH]; intros b [|g c] d L; cbn [length app xors] in *; try lia; [now rewrite ?xors_nil|f_equal; apply IH; lia]. }
    rewrite A by now rewrite repeat_length.
    pose proof (xors_zeros y [] (length y)) as E; cbn [app] in E; rewrite E, xors_nil; f_equal.
    unfold no_key; rewrite <- K; clear; induction key as [|a k IH]; cbn [length repeat xors]; [reflexivity|]; now rewrite N.lxor_0_l, IH. }
  assert (H : length (mask i key) <= length (y ++ no_key)) by (unfold mask; rewrite !app_length, repeat_length; lia).
  unfold holds_key; destruct (Nat.eq_dec (length (domain i)) 51) as [L|L].
  - rewrite !feed_fills; cbn [closed cur fi app]; unfold shift; cbn [closed cur fi]; rewrite ?E; auto; unfold rate; try lia; intro R; rewrite R in *; discriminate.
  - rewrite !feed_bytes_within by (cbn [cur]; unfold rate; lia); cbn [closed cur fi]; unfold shift; cbn [closed cur fi]; now rewrite E.
Qed.

(** ** The real game is that of the tree *)

Notation leads p w := (node bytes_dec [] place_of after p w).
Notation tree_says p w t := (real bytes_dec [] (fun _ => outer) place_of after p w t).

(** What the real world has under a name. *)
Definition has_after (p : graph) (w : list (list byte)) (i : nat) (bs : list block) : list byte :=
  match bs with [] => [] | _ => outer (leads p w i (rev bs)) end.

Lemma real_walk p w i bs : forall above o k, tree_says p w (walk i above bs o k) =
  tree_says p w (k (match bs with [] => o | _ => outer (leads p w i (rev bs ++ above)) end)).
Proof.
  induction bs as [|b bs IH]; intros above o k; [reflexivity|]; cbn [walk real]; rewrite IH.
  destruct bs as [|c bs]; [reflexivity|]; cbn [rev]; now rewrite <- !app_assoc.
Qed.

Lemma real_ask {A} p w i (q : prog A) k : tree_says p w (ask i q k) = tree_says p w (k (result (has_after p w i) q)).
Proof.
  induction q as [a|bs f IH]; [reflexivity|]; cbn [ask result]; rewrite real_walk, IH.
  unfold has_after at 3; destruct bs as [|b bs]; [reflexivity|now rewrite app_nil_r].
Qed.

Lemma leads_fold p w i bs : leads p w i (rev bs) = fold_left (fun y b => perm p (after y b)) bs (place_of i (nth i w [])).
Proof.
  induction bs as [|b bs IH] using rev_ind; [reflexivity|]; rewrite rev_app_distr, fold_left_app; cbn [rev app node fold_left].
  now rewrite IH.
Qed.

Lemma play_fold P bs : forall a, snd (fold_left (play1 P) bs a) = fold_left (fun y b => P (after y b)) bs (snd a).
Proof. induction bs as [|b bs IH]; intro a; [reflexivity|]; cbn [fold_left]; rewrite IH; reflexivity. Qed.

(** The model, with the permutation, on opening. *)
Lemma decrypting_is P (HP : keeps_length P) c : forall t, wf t -> result (outer_of P) (decrypting c t) =
  (fst (decrypt P c (render P t)), feed (bytes (fst (decrypt P c (render P t)))) t).
Proof.
  induction c as [|b c IH]; intros t W; [reflexivity|]; cbn [decrypting result decrypt]; rewrite (next_outer P t W), set_is_xor.
  set (x := N.lxor (get (rate_idx (render P t)) (Duplex.state (render P t))) b).
  change (advance P (xor_at (rate_idx (render P t)) x (Duplex.state (render P t))) (render P t)) with (absorb1 P x (render P t)).
  rewrite <- (render_absorb1 P HP) by apply W; rewrite result_bind, IH by now apply wf_feed1.
  destruct (decrypt P c (render P (feed1 t (Byte x)))) as [os d]; reflexivity.
Qed.

Lemma opening_is P (HP : keeps_length P) l c t : wf t -> forall tag,
  taken c tag (fst (result (outer_of P) (opening l c t))) = fst (unseal P l c tag (render P t)).
Proof.
  intros W tag; unfold opening, unseal, opened; assert (WH : wf (tape_header 5 l t)) by now apply wf_tape_header.
  rewrite <- (render_header P HP) by exact W; rewrite <- (render_absorb P HP) by exact WH.
  set (v := feed (bytes (leb (length c))) (tape_header 5 l t)); assert (V : wf v) by now apply wf_feed.
  destruct (render_close P HP [] v V) as (_ & R & V'); rewrite <- R; generalize tag_length; intro k.
  rewrite (result_bind _ (decrypting _ _)), (decrypting_is P HP) by exact V'; cbn [fst snd].
  pose proof (decrypt_absorbs P c (render P (feed1 v Close))) as A; pose proof (decrypt_length P c (render P (feed1 v Close))) as LC.
  destruct (decrypt P c (render P (feed1 v Close))) as [x d]; cbn [fst snd] in *; subst d.
  rewrite <- (render_absorb P HP) by exact V'; set (w := feed (bytes x) (feed1 v Close)); assert (WW : wf w) by now apply wf_feed.
  destruct (render_close P HP [] w WW) as (_ & R' & W'); rewrite <- R'.
  rewrite (result_bind _ (squeezing _ _)), (squeezing_is P HP) by exact W'; cbn [result fst].
  destruct (squeeze P k (render P (feed1 w Close))) as [g d]; cbn [fst snd]; unfold taken.
  rewrite <- LC, firstn_app, skipn_app, Nat.sub_diag, firstn_all, skipn_all; cbn [firstn skipn app]; now rewrite app_nil_r.
Qed.

Lemma unmasking_is P (HP : keeps_length P) l c t : wf t ->
  fst (result (outer_of P) (unmasking l c t)) = fst (unmask P l c (render P t)).
Proof.
  intro W; unfold unmasking, unmask; assert (WH : wf (tape_header 4 l t)) by now apply wf_tape_header.
  rewrite <- (render_header P HP) by exact W; destruct (render_close P HP [] _ WH) as (_ & R & W'); rewrite <- R.
  now rewrite (decrypting_is P HP) by exact W'.
Qed.

Section Same.
Variables (p : @graph (list byte)) (keys : list (list byte)) (i : nat).
Hypothesis IP : In p all_permutations.
Hypothesis IK : In keys key_lists.
Hypothesis U : i < users.
Notation key := (nth i keys []).

Lemma key_length : length key = 32.
Proof.
  destruct (in_vectors _ _ _ IK) as [LK SK]; assert (X : In key (strings 32)) by (apply SK, nth_In; lia).
  now apply in_strings in X.
Qed.

Lemma same_outer t : holds_key (mask i key) t -> closed t <> [] ->
  outer_of (perm p) (closed (shift (mask i key) t)) = has_after p keys i (closed t).
Proof.
  intros HK C; unfold outer_of, play, shift, has_after; rewrite play_fold; unfold holds_key in HK.
  destruct (closed t) as [|[x f] bs]; [congruence|]; rewrite leads_fold; cbn [closed snd fold_left].
  assert (X : after (repeat 0%N width) (xors x (mask i key), f) = after (place_of i key) (x, f)).
  { unfold after, place_of; rewrite pad_xors by exact HK; apply xors_xors; unfold pad; rewrite !xor_at_length, app_length; lia. }
  now rewrite X.
Qed.

Lemma mask_some : 0 < length (mask i key).
Proof. unfold mask; rewrite app_length, key_length; lia. Qed.

Lemma run_is T : result (outer_of (perm p)) (transcript (keyed (domain i) key T) ([], blank)) =
  (fst (result (has_after p keys i) (program i T)), shift (mask i key) (snd (result (has_after p keys i) (program i T)))) /\
  holds_key (mask i key) (snd (result (has_after p keys i) (program i T))).
Proof.
  unfold program; rewrite !keyed_from; destruct (begun_is i key U key_length) as [-> H].
  apply shift_transcript; [exact mask_some|exact same_outer|exact H].
Qed.

Lemma answers_are T : answer (perm p) (keyed (domain i) key T) = fst (result (has_after p keys i) (program i T)).
Proof.
  pose proof (transcript_is (perm p) (perm_length p IP) (keyed (domain i) key T)) as E.
  destruct (run_is T) as [R _]; rewrite R in E; now injection E.
Qed.

Lemma openings_are T l c tag : fst (unseal (perm p) l c tag (run (perm p) (keyed (domain i) key T))) =
  taken c tag (fst (result (has_after p keys i) (open_program i T l c))).
Proof.
  pose proof (transcript_is (perm p) (perm_length p IP) (keyed (domain i) key T)) as E; destruct (run_is T) as [R H].
  rewrite R in E; injection E as _ E; unfold open_program; rewrite result_bind.
  rewrite (run_agrees (perm p) (perm_length p IP)), <- (opening_is (perm p) (perm_length p IP) l c _ (wf_tape_run _ _)), <- E.
  now rewrite (shift_opening (mask i key) mask_some (has_after p keys i) (outer_of (perm p)) same_outer l c _ H).
Qed.

Lemma unmaskings_are T l c : fst (unmask (perm p) l c (run (perm p) (keyed (domain i) key T))) =
  fst (result (has_after p keys i) (unmask_program i T l c)).
Proof.
  pose proof (transcript_is (perm p) (perm_length p IP) (keyed (domain i) key T)) as E; destruct (run_is T) as [R H].
  rewrite R in E; injection E as _ E; unfold unmask_program; rewrite result_bind.
  rewrite (run_agrees (perm p) (perm_length p IP)), <- (unmasking_is (perm p) (perm_length p IP) l c _ (wf_tape_run _ _)), <- E.
  exact (shift_unmasking (mask i key) mask_some (has_after p keys i) (outer_of (perm p)) same_outer l c _ H).
Qed.
End Same.

Lemma says_is p keys A : In p all_permutations -> In keys key_lists -> forall q m, spending q m A ->
  says p keys A = tree_says p keys (compiled A).
Proof.
  intros IP IK; induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m F; cbn [says compiled real spending] in *.
  - reflexivity.
  - destruct F as [_ F], q as [|q]; [destruct F|]; exact (IH _ q m (F _)).
  - destruct F as [_ F], q as [|q]; [destruct F|]; exact (IH _ q m (F _)).
  - destruct F as (U & _ & c & n & _ & _ & F); rewrite real_ask, answers_are by assumption; exact (IH _ q n (F _)).
  - destruct F as (U & _ & _ & a & n & _ & _ & F); rewrite real_ask, openings_are by assumption; exact (IH _ q n (F _)).
  - destruct F as (U & _ & _ & a & n & _ & _ & F); rewrite real_ask, unmaskings_are by assumption; exact (IH _ q n (F _)).
Qed.

(** ** What a game visits *)

Notation lookup := (found block_dec).
Definition fits_game := fits block_dec states (strings (rate + 2)) users ok_block.

Definition small_table (v : @table (list byte) block) : Prop := forall n o, lookup n v = Some o -> small o.

(** An assignment of outer parts that says what the table says. *)
Definition agrees (i : nat) (v : table) (O : list block -> list byte) : Prop :=
  O [] = [] /\ (forall bs, small (O bs)) /\ forall b bs o, lookup (i, b, bs) v = Some o -> O (rev (b :: bs)) = o.

Definition by_table (i : nat) (v : table) (bs : list block) : list byte :=
  match rev bs with [] => [] | b :: bs => match lookup (i, b, bs) v with Some o => o | None => [] end end.

Lemma by_table_agrees i v : small_table v -> agrees i v (by_table i v).
Proof.
  intro S; split; [reflexivity|split].
  - intro bs; unfold by_table; destruct (rev bs) as [|b r]; [constructor|].
    destruct (lookup (i, b, r) v) eqn:E; [exact (S _ _ E)|constructor].
  - intros b bs o E; unfold by_table; now rewrite rev_involutive, E.
Qed.

(** The names of a list of blocks and its beginnings. *)
Fixpoint names (i : nat) (above bs : list block) : list (@place block) :=
  match bs with [] => [] | b :: bs => (i, b, above) :: names i (b :: above) bs end.

Lemma names_length i bs : forall above, length (names i above bs) = length bs.
Proof. induction bs as [|b bs IH]; intro above; cbn [names length]; auto. Qed.
Lemma names_app i bs cs : forall above, names i above (bs ++ cs) = names i above bs ++ names i (rev bs ++ above) cs.
Proof.
  induction bs as [|b bs IH]; intro above; [reflexivity|]; cbn [names app rev]; rewrite IH; do 2 f_equal.
  now rewrite <- app_assoc.
Qed.
Lemma names_prefix i bs cs : prefix bs cs -> incl (names i [] bs) (names i [] cs).
Proof. intros [ds ->]; rewrite names_app; apply incl_appl, incl_refl. Qed.

Definition more (v v' : @table (list byte) block) : Prop := forall n o, lookup n v = Some o -> lookup n v' = Some o.

Lemma agrees_less i v v' O : more v v' -> agrees i v' O -> agrees i v O.
Proof. intros M (A & B & C); repeat split; auto. Qed.

Lemma fits_walk i (U : i < users) L c n q k bs : forall above o v N,
  below (map fst v) i above -> incl N (names i [] L) -> incl (names i above bs) (names i [] L) -> length L <= c ->
  NoDup N -> incl N (map fst v) -> small_table v -> Forall ok_block bs ->
  (forall o' v' N', more v v' -> small_table v' -> NoDup N' -> incl N' (map fst v') -> incl N' (N ++ names i above bs) ->
    length N' <= c -> match bs with [] => o' = o | _ => forall b r, rev bs ++ above = b :: r -> lookup (i, b, r) v' = Some o' end ->
    fits_game (k o') q (c - length N' + n) v') ->
  fits_game (walk i above bs o k) q (c - length N + n) v.
Proof.
  induction bs as [|b bs IH]; intros above o v N PA IN INB LC ND NV SV OK H.
  - cbn [walk]; apply (H o v N); auto; [intros m x; auto|apply incl_appl, incl_refl|].
    etransitivity; [apply (NoDup_incl_length ND IN)|now rewrite names_length].
  - cbn [walk]; unfold fits_game; cbn [fits]; split; [exact U|]; inversion OK as [|? ? OB OK']; subst.
    cbn [names] in INB; assert (INN : In (i, b, above) (names i [] L)) by (apply INB; now left).
    assert (INB' : incl (names i (b :: above) bs) (names i [] L)) by (intros x X; apply INB; now right).
    destruct (lookup (i, b, above) v) as [o1|] eqn:E.
    + apply (IH (b :: above) o1 v N); auto; [exact (found_some _ _ _ _ E)|].
      intros o' v' N' M SV' ND' NV' IN' LN Q; apply (H o' v' N'); auto.
      * intros x X; apply IN', in_app_or in X as [X|X]; apply in_or_app; [now left|right; now right].
      * destruct bs as [|b2 bs]; [subst o'; intros b3 r X; cbn in X; injection X as <- <-; now apply M|].
        intros b3 r X; apply Q; rewrite <- X; cbn [rev]; now rewrite <- !app_assoc.
    + assert (NI : ~ In (i, b, above) N).
      { intro X; apply NV in X; exact (found_none _ _ _ E X). }
      assert (ND' : NoDup ((i, b, above) :: N)) by now constructor.
      assert (LN : S (length N) <= c).
      { etransitivity; [|exact LC]; rewrite <- (names_length i L []); apply (NoDup_incl_length ND').
        intros x [<-|X]; auto. }
      split; [exact OB|split; [exact PA|]]; replace (c - length N + n) with (S (c - S (length N) + n)) by lia.
      intros o1 O1; apply in_strings in O1 as [_ O1].
      assert (SV' : small_table (((i, b, above), o1) :: v)).
      { intros x y Y; cbn [found] in Y; destruct (place_dec block_dec x (i, b, above)); [now injection Y as <-|exact (SV _ _ Y)]. }
      assert (MV : more v (((i, b, above), o1) :: v)).
      { intros x y Y; cbn [found]; destruct (place_dec block_dec x (i, b, above)) as [->|]; [congruence|exact Y]. }
      apply (IH (b :: above) o1 (((i, b, above), o1) :: v) ((i, b, above) :: N)); auto.
      * now left.
      * intros x [<-|X]; auto.
      * intros x [<-|X]; [now left|right; auto].
      * intros o' v' N' M SV'' ND'' NV' IN' LN' Q; apply (H o' v' N'); auto.
        -- intros x y Y; apply M, MV, Y.
        -- intros x X; apply IN' in X; destruct X as [<-|X]; [apply in_or_app; right; now left|].
           apply in_app_or in X as [X|X]; apply in_or_app; [now left|right; now right].
        -- destruct bs as [|b2 bs].
           ++ subst o'; intros b3 r X; cbn in X; injection X as <- <-; apply M; cbn [found].
              destruct (place_dec block_dec (i, b, above) (i, b, above)); congruence.
           ++ intros b3 r X; apply Q; rewrite <- X; cbn [rev]; now rewrite <- !app_assoc.
Qed.

(** Within a program: it asks for what it feeds, at most [c] blocks, and [N] are the names that it has brought. *)
Definition on_the_way {A} (i c : nat) (v : table) (N : list place) (last : A -> list block) (r : prog A) : Prop :=
  forall O, agrees i v O ->
    (forall bs, In bs (needs O r) -> prefix bs (last (result O r))) /\ Forall ok_block (last (result O r)) /\
    length (last (result O r)) <= c /\ incl N (names i [] (last (result O r))).

Lemma fits_ask {A} i (U : i < users) c n q (k : A -> tree) last (r : prog A) : forall v N,
  on_the_way i c v N last r -> NoDup N -> incl N (map fst v) -> small_table v ->
  (forall a v', small_table v' -> fits_game (k a) q n v') -> fits_game (ask i r k) q (c - length N + n) v.
Proof.
  induction r as [a|bs f IH]; intros v N W ND NV SV H; cbn [ask].
  - apply (fits_more _ _ _ _ _ _ q n); [lia|]; now apply H.
  - destruct (W _ (by_table_agrees i v SV)) as (P & OK & LC & IN); cbn [needs] in P.
    assert (PB : prefix bs (last (result (by_table i v) (Need bs f)))) by (apply P; now left).
    apply (fits_walk i U (last (result (by_table i v) (Need bs f)))); auto; [exact I|now apply names_prefix| |].
    + destruct PB as [r E]; rewrite E in OK; now apply Forall_app in OK.
    + intros o' v' N' M SV' ND' NV' IN' LN Q; apply (IH o' v' N'); auto.
      intros O AG; assert (OB : O bs = o').
      { destruct AG as (Z & _ & AG); destruct bs as [|b bs]; [now rewrite Z|].
        destruct (rev (b :: bs)) as [|b2 r] eqn:R; [apply (f_equal (@length _)) in R; rewrite rev_length in R; discriminate|].
        rewrite <- (rev_involutive (b :: bs)), R; apply AG, Q; now rewrite app_nil_r. }
      destruct (W O (agrees_less i v v' O M AG)) as (P1 & OK1 & LC1 & IN1); cbn [needs result] in *; rewrite OB in *.
      split; [intros cs J; apply P1; now right|split; [exact OK1|split; [exact LC1|]]]; intros x X; apply IN', in_app_or in X as [X|X]; [auto|].
      apply (names_prefix i bs); [apply P1; now left|exact X].
Qed.

(** *** Transcripts feed what is legal *)

Definition good_tape (t : tape) : Prop := wf t /\ small_tape t.

Lemma good_feed1 t k : good_tape t -> (forall b, k = Byte b -> (b < 256)%N) -> good_tape (feed1 t k).
Proof. intros [W S] K; split; [now apply wf_feed1|now apply small_feed1]. Qed.
Lemma good_close t : good_tape t -> good_tape (feed1 t Close).
Proof. intro G; apply good_feed1; [exact G|discriminate]. Qed.
Lemma good_feed x t : good_tape t -> small x -> good_tape (feed (bytes x) t).
Proof. intros [W S] X; split; [now apply wf_feed|now apply small_feed]. Qed.
Lemma good_blank : good_tape blank.
Proof. split; [apply wf_blank|split; cbn; [constructor|split; cbn; [constructor|lia]]]. Qed.

Lemma good_blocks t : good_tape t -> Forall ok_block (closed t).
Proof.
  intros [(_ & _ & L) [S _]]; apply Forall_forall; intros b I; split; [exact (proj1 (Forall_forall _ _) L b I)|].
  exact (proj1 (Forall_forall _ _) S b I).
Qed.

Section Small.
Variable O : list block -> list byte.
Hypothesis SO : forall bs, small (O bs).

Lemma good_squeezing n : forall t, good_tape t -> good_tape (snd (result O (squeezing n t))).
Proof.
  induction n as [|n IH]; intros t G; [exact G|]; cbn [squeezing result]; rewrite result_bind; cbn [result snd].
  apply IH, good_feed1; [exact G|]; intros b E; injection E as <-; apply small_get, SO.
Qed.

Lemma good_encrypting p : small p -> forall t, good_tape t -> good_tape (snd (result O (encrypting p t))).
Proof.
  induction p as [|b p IH]; intros S t G; [exact G|]; cbn [encrypting result]; rewrite result_bind; cbn [result snd].
  inversion S; subst; apply IH; [assumption|]; apply good_feed1; [exact G|]; intros c E; now injection E as <-.
Qed.

Lemma good_stepping o t : good_tape t -> small (label o) -> small (data o) -> good_tape (snd (result O (stepping o t))).
Proof.
  intros [W S] L D; unfold stepping; pose proof (code_small o) as C.
  assert (H : good_tape (tape_header (code o) (label o) t)) by (split; [now apply wf_tape_header|now apply small_header]).
  revert H; generalize (tape_header (code o) (label o) t); intros h H.
  destruct o as [l|l x|l n|l p|l p|l i v|l]; cbn [data] in D.
  - exact H.
  - now apply good_feed.
  - apply good_squeezing, good_close, good_feed; [exact H|apply small_leb].
  - apply good_encrypting; [exact D|now apply good_close].
  - generalize tag_length; intro k; rewrite (result_bind _ (encrypting _ _)), (result_bind _ (squeezing k _)); cbn [result snd].
    apply good_squeezing, good_close, good_encrypting; [exact D|]; apply good_close, good_feed; [exact H|apply small_leb].
  - now apply good_feed.
  - cbn [result snd]; apply good_feed; [|apply small_firstn, SO]; destruct (_ =? _); [exact H|now apply good_close].
Qed.

Lemma good_decrypting c : small c -> forall t, good_tape t -> good_tape (snd (result O (decrypting c t))).
Proof.
  induction c as [|b c IH]; intros S t G; [exact G|]; cbn [decrypting result]; rewrite result_bind; cbn [result snd].
  inversion S; subst; apply IH; [assumption|]; apply good_feed1; [exact G|]; intros d E; injection E as <-.
  apply lxor_small; [apply small_get, SO|assumption].
Qed.

Lemma good_opening l c t : good_tape t -> small l -> small c -> good_tape (snd (result O (opening l c t))).
Proof.
  intros [W S] L C; unfold opening; generalize tag_length; intro k.
  rewrite (result_bind _ (decrypting _ _)), (result_bind _ (squeezing k _)); cbn [result snd].
  apply good_squeezing, good_close, good_decrypting; [exact C|]; apply good_close, good_feed; [|apply small_leb].
  split; [now apply wf_tape_header|apply small_header; auto; reflexivity].
Qed.

Lemma good_unmasking l c t : good_tape t -> small l -> small c -> good_tape (snd (result O (unmasking l c t))).
Proof.
  intros [W S] L C; unfold unmasking; apply good_decrypting; [exact C|]; apply good_close.
  split; [now apply wf_tape_header|apply small_header; auto; reflexivity].
Qed.

Lemma good_transcript T : legal T -> forall r, good_tape (snd r) -> good_tape (snd (result O (transcript T r))).
Proof.
  induction T as [|o T IH]; intros L r G; [exact G|]; cbn [transcript]; rewrite result_bind.
  destruct (L o (or_introl eq_refl)) as (_ & SL & SD); apply IH; [intros a I; apply L; now right|]; now apply good_stepping.
Qed.
End Small.

Lemma small_text : small (text "key").
Proof. repeat constructor. Qed.

Lemma legal_keyed i T : i < users -> legal T -> legal (keyed (domain i) no_key T).
Proof.
  intros U L o I; destruct (domains i U) as [D S]; destruct I as [<-|[<-|I]]; [| |now apply L]; cbn [label data].
  - repeat split; [unfold label_max; lia|exact S|constructor].
  - repeat split; [cbn; unfold label_max; lia|exact small_text|apply small_repeat; lia].
Qed.

Lemma within_decrypting O c : forall t, within_tapes O t (decrypting c t).
Proof.
  induction c as [|b c IH]; intro t; [apply within_ret, prefix_refl|]; unfold within_tapes; cbn [decrypting result needs].
  match goal with |- context [bind ?q ?f] => assert (H : within_tapes O t (bind q f)) end.
  { apply within_bind; [eapply within_from; [apply closed_feed1|apply IH]|]; intros [x u]; apply within_ret, prefix_refl. }
  destruct H as [H1 H2]; split; [exact H1|]; intros bs [<-|I]; [split; [apply prefix_refl|exact H1]|auto].
Qed.

Lemma within_opening O l c t : within_tapes O t (opening l c t).
Proof.
  unfold opening; generalize tag_length; intro k; apply within_bind.
  - eapply within_from; [|apply within_decrypting]; eapply prefix_trans; [apply (closed_header 5 l)|].
    eapply prefix_trans; [apply closed_feed|apply closed_feed1].
  - intros [x u]; apply within_bind; [eapply within_from; [|apply within_squeezing]; apply closed_feed1|].
    intros [g v]; apply within_ret, prefix_refl.
Qed.

Lemma within_unmasking O l c t : within_tapes O t (unmasking l c t).
Proof. eapply within_from; [|apply within_decrypting]; eapply prefix_trans; [apply (closed_header 4 l)|apply closed_feed1]. Qed.

Lemma compiled_fits A : forall q m v, spending q m A -> small_table v -> fits_game (compiled A) q m v.
Proof.
  induction A as [r|x k IH|y k IH|i T k IH|i T l c tag k IH|i T l c k IH]; intros q m v F SV; cbn [compiled spending] in *.
  - exact I.
  - destruct F as [X F], q as [|q]; [destruct F|]; split; [now apply in_states|]; intro; apply IH; auto.
  - destruct F as [X F], q as [|q]; [destruct F|]; split; [now apply in_states|]; intro; apply IH; auto.
  - destruct F as (U & L & c & n & M & C & F).
    apply (fits_more _ _ _ _ _ _ q (c - length (@nil (@place block)) + n)); [cbn [length]; lia|].
    apply (fits_ask i U c n q _ (fun r => closed (snd r))); [|constructor|intros x []|exact SV|].
    + intros O (_ & S & _); destruct (within_transcript O (keyed (domain i) no_key T) ([], blank)) as [_ W].
      split; [intros bs I; now apply W|split; [|split; [exact (C O S)|intros x []]]].
      apply good_blocks, good_transcript; [exact S|now apply legal_keyed|apply good_blank].
    + intros a v' SV'; apply IH; auto.
  - destruct F as (U & L & (_ & SL & SC) & a & n & M & C & F).
    apply (fits_more _ _ _ _ _ _ q (a - length (@nil (@place block)) + n)); [cbn [length]; lia|].
    apply (fits_ask i U a n q _ (fun r => closed (snd r))); [|constructor|intros x []|exact SV|].
    + intros O (_ & S & _).
      assert (W : within_tapes O blank (open_program i T l c)).
      { apply within_bind; [apply (within_transcript O (keyed (domain i) no_key T) ([], blank))|]; intro r; apply within_opening. }
      split; [intros bs I; now apply W|split; [|split; [exact (C O S)|intros x []]]].
      apply good_blocks; unfold open_program; rewrite result_bind; apply good_opening; auto.
      apply good_transcript; [exact S|now apply legal_keyed|apply good_blank].
    + intros x v' SV'; apply IH; auto.
  - destruct F as (U & L & (_ & SL & SC) & a & n & M & C & F).
    apply (fits_more _ _ _ _ _ _ q (a - length (@nil (@place block)) + n)); [cbn [length]; lia|].
    apply (fits_ask i U a n q _ (fun r => closed (snd r))); [|constructor|intros x []|exact SV|].
    + intros O (_ & S & _).
      assert (W : within_tapes O blank (unmask_program i T l c)).
      { apply within_bind; [apply (within_transcript O (keyed (domain i) no_key T) ([], blank))|]; intro r; apply within_unmasking. }
      split; [intros bs I; now apply W|split; [|split; [exact (C O S)|intros x []]]].
      apply good_blocks; unfold unmask_program; rewrite result_bind; apply good_unmasking; auto.
      apply good_transcript; [exact S|now apply legal_keyed|apply good_blank].
    + intros x v' SV'; apply IH; auto.
Qed.

(** ** States, and what they are made of *)

Lemma strings_app a b : forall s, In s (strings (a + b)) -> exists x y, s = x ++ y /\ In x (strings a) /\ In y (strings b).
Proof.
  intros s I; apply in_strings in I as [L S]; exists (firstn a s), (skipn a s); split; [symmetry; apply firstn_skipn|].
  rewrite !in_strings, firstn_length, skipn_length; repeat split; try lia; [now apply small_firstn|now apply small_skipn].
Qed.

Lemma app_strings a b x y : In x (strings a) -> In y (strings b) -> In (x ++ y) (strings (a + b)).
Proof. rewrite !in_strings, app_length; intros [] []; split; [lia|now apply small_app]. Qed.

Lemma sum_permutation {A} (f : A -> Q) l l' : Permutation.Permutation l l' -> (sum f l == sum f l')%Q.
Proof.
  induction 1; cbn [sum]; [reflexivity|now rewrite IHPermutation|ring|now rewrite IHPermutation1].
Qed.

Lemma average_strings a b (f : list byte -> Q) :
  (average (fun x => average (fun y => f (x ++ y)) (strings b)) (strings a) == average f (strings (a + b)))%Q.
Proof.
  rewrite <- (average_product (fun e => f (fst e ++ snd e))), <- (average_map (fun e => fst e ++ snd e)).
  assert (P : Permutation.Permutation (strings (a + b)) (map (fun e => fst e ++ snd e) (list_prod (strings a) (strings b)))).
  { apply Permutation.NoDup_Permutation_bis; [apply strings_once| |].
    - rewrite map_length, prod_length, !strings_length, Nat.pow_add_r; apply le_n.
    - intros s I; apply strings_app in I as (x & y & -> & X & Y); apply in_map_iff; exists (x, y); split; [reflexivity|now apply in_prod]. }
  unfold average; rewrite (sum_permutation f _ _ P), (Permutation.Permutation_length P); reflexivity.
Qed.

Lemma some_strings n : strings n <> [].
Proof.
  intro E; assert (I : In (repeat 0%N n) (strings n)); [|rewrite E in I; destruct I].
  apply in_strings; split; [apply repeat_length|apply small_repeat; lia].
Qed.

Lemma keys_count : (nat_q (length (strings 32)) == inject_Z (2 ^ 256))%Q.
Proof.
  unfold nat_q; rewrite strings_length, Nat2Z.inj_pow; change (Z.of_nat 256) with (2 ^ 8)%Z; change (Z.of_nat 32) with 32%Z.
  rewrite <- Z.pow_mul_r by lia; reflexivity.
Qed.

(** ** The theorem *)

(** Whatever is made of an outer part and a secret. *)
Lemma games_near (join : @place block -> list byte -> list byte -> list byte) (shows : @place block -> list byte -> list byte) t q m :
  (forall n o c, In o (strings (rate + 2)) -> In c (strings 32) -> shows n (join n o c) = o) ->
  (forall n (f : list byte -> Q), average (fun o => average (fun c => f (join n o c)) (strings 32)) (strings (rate + 2)) == average f states)%Q ->
  (forall n o c, In o (strings (rate + 2)) -> In c (strings 32) -> In (join n o c) states) ->
  (forall n o c c', In o (strings (rate + 2)) -> In c (strings 32) -> In c' (strings 32) -> join n o c = join n o c' -> c = c') ->
  fits_game t q m [] ->
  (Qabs (real_probability bytes_dec states (strings 32) [] shows place_of after users t -
         ideal_probability bytes_dec block_dec states (strings (rate + 2)) t) <= inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intros H1 H2 H3 H4 FT.
  pose proof (keyed_bound bytes_dec block_dec states (strings 32) (strings (rate + 2)) states_once (strings_once 32)
    (some_strings 32) (some_strings (rate + 2)) [] join shows place_of after users ok_block) as H.
  replace (inject_Z (z m * (2 * z q + z m))) with (nat_q (m * (2 * q + m)))
    by (unfold nat_q, z; f_equal; rewrite Nat2Z.inj_mul, Nat2Z.inj_add, Nat2Z.inj_mul; reflexivity).
  rewrite <- keys_count; apply H; clear H; try assumption.
  - intros i c I; apply in_states; unfold place_of; apply xors_in; [apply zeros_in|]; apply in_strings in I as [_ S].
    apply small_app; [apply small_repeat; lia|exact S].
  - intros i c c' U I J X; apply in_strings in I as [L _], J as [L' _]; destruct (domains i U) as [D _].
    unfold place_of in X; apply xors_inj in X; unfold mask in *; rewrite ?app_length, ?repeat_length, ?L, ?L' in *; auto.
    + now apply app_inv_head in X.
    + unfold zeros; rewrite repeat_length; unfold width; lia.
  - intros y b Y [_ S]; apply in_states; apply in_states in Y; apply xors_in; [exact Y|now apply small_pad].
  - intros y y' b _ _ X; unfold after in X; apply (f_equal (fun s => xors s (pad b))) in X; now rewrite !xors_twice in X.
  - intros y b b' Y [L _] [L' _] X; apply in_states in Y as [Y _]; unfold after in X; apply xors_inj in X.
    + now apply pad_inj in X.
    + now rewrite !pad_length.
    + rewrite pad_length, Y by exact L; unfold rate, width; lia.
Qed.

Theorem outputs_random A q m : spending q m A ->
  (Qabs (really A - ideally A) <= inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256))%Q.
Proof.
  intro F; assert (SPLIT : states = strings (rate + 2 + 32)) by exact states_are.
  assert (E : (really A == real_probability bytes_dec states (strings 32) [] (fun _ => outer) place_of after users (compiled A))%Q).
  { apply average_ext; intros keys K; apply average_ext; intros p P; now rewrite (says_is p keys A P K q m F). }
  rewrite E; apply (games_near (fun _ o c => o ++ c) (fun _ => outer) (compiled A)).
  - intros n o c I _; apply in_strings in I as [L _]; unfold outer; rewrite <- L, firstn_app, Nat.sub_diag, firstn_all.
    apply app_nil_r.
  - intros n f; rewrite SPLIT; apply average_strings.
  - intros n o c I J; rewrite SPLIT; now apply app_strings.
  - intros n o c c' _ _ _ X; now apply app_inv_head in X.
  - apply compiled_fits; [exact F|discriminate].
Qed.
End Users.

(** ** In numbers *)

Lemma both_below q m n : q + m <= n -> (inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256) <= inject_Z (z n * z n) / inject_Z (2 ^ 256))%Q.
Proof.
  intro H; unfold Qdiv; apply Qmult_le_compat_r; [|vm_compute; discriminate]; rewrite <- Zle_Qle; unfold z.
  apply Nat2Z.inj_le in H; rewrite Nat2Z.inj_add in H; nia.
Qed.

Lemma below_2_128 q m : (z (q + m) <= 2 ^ 64)%Z -> (inject_Z (z m * (2 * z q + z m)) / inject_Z (2 ^ 256) <= 1 / inject_Z (2 ^ 128))%Q.
Proof.
  intro H; eapply Qle_trans; [apply (both_below q m (q + m)), le_n|].
  apply Qle_trans with (inject_Z (2 ^ 64 * 2 ^ 64) / inject_Z (2 ^ 256))%Q; [|vm_compute; discriminate].
  unfold Qdiv; apply Qmult_le_compat_r; [|vm_compute; discriminate]; rewrite <- Zle_Qle; unfold z in *.
  pose proof (Nat2Z.is_nonneg (q + m)); nia.
Qed.

Corollary outputs_random_2_128 users domain A q m :
  (forall i, i < users -> length (domain i) <= 51 /\ small (domain i)) -> spending users domain q m A ->
  (z (q + m) <= 2 ^ 64)%Z -> (Qabs (really users domain A - ideally domain A) <= 1 / inject_Z (2 ^ 128))%Q.
Proof.
  intros D F H; eapply Qle_trans; [exact (outputs_random users domain D A q m F)|now apply below_2_128].
Qed.

(** Who asks for a tag of 16 bytes and looks at the first spends one call. *)
Example spending_example :
  spending 1 (fun _ => text "example") 0 1 (Use 0 [Derive (text "tag") 16] (fun x => Say (N.eqb (get 0 x) 0))).
Proof.
  split; [apply le_n|]; split.
  - intros o [<-|[]]; cbn [label data]; repeat split; repeat constructor.
  - exists 1, 0; repeat split; [apply le_n|]; intros O _; vm_compute; repeat constructor.
Qed.

(** Who opens an empty ciphertext with a tag of zeros spends two. *)
Example opening_example :
  spending 1 (fun _ => text "example") 0 2 (Open 0 [] (text "message") [] (repeat 0%N 16) (fun x =>
    Say (match x with Some _ => true | None => false end))).
Proof.
  split; [apply le_n|split; [intros o []|split; [repeat split; repeat constructor|]]].
  exists 2, 0; repeat split; [apply le_n|]; intros O _; vm_compute; repeat constructor.
Qed.
