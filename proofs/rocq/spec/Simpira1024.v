(** * Simpira1024: Simpira v2 with b = 8, a permutation of 1024 bits (eprint 2016/122)

    The definitions of spec/cryptol/Simpira1024.cry, with the same names and in the same order.
    The state is 128 bytes, x0 || x1 || ... || x7. *)

From Coq Require Import List Arith NArith Lia.
From Veriplex Require Import AES.
Import ListNotations.

(** The bytes of a number, least significant first. *)
Fixpoint little_endian (len : nat) (x : N) : list byte :=
  match len with
  | O => []
  | S len => N.land x 0xff :: little_endian len (N.shiftr x 8)
  end.

(** Cut into [n] pieces of [len] bytes; [concat] joins them again. *)
Fixpoint split (len n : nat) (x : list byte) : list (list byte) :=
  match n with
  | O => []
  | S n => firstn len x :: split len n (skipn len x)
  end.

(** Replace element [i]. *)
Fixpoint update {A} (i : nat) (a : A) (x : list A) : list A :=
  match x, i with
  | [], _ => []
  | _ :: r, O => a :: r
  | b :: r, S i => b :: update i a r
  end.

Definition zero (len : nat) : list byte := repeat 0%N len.

(** The constant of the c-th F: the words 16 * i ^ b ^ c for i = 0..3, little-endian (section 3). *)
Definition round_constant (c : nat) : list byte :=
  flat_map (fun i => little_endian 4 (N.lxor (N.lxor (16 * i) 8) (N.of_nat c))) [0; 1; 2; 3]%N.

(** F: two AES rounds, keyed by the constant and by zero (section 3). *)
Definition feistel (c : nat) (x : list byte) : list byte :=
  aes_round (aes_round x (round_constant c)) (zero 16).

(** Which blocks round r reads and which it changes, as (from, to): the general construction for
    b >= 6 (section 3). *)
Definition edges (r : nat) : list (nat * nat) :=
  let s i := nth (i mod 6) [0; 1; 6; 5; 4; 3] 0 in
  let t i := nth (i mod 2) [2; 7] 0 in
  [(s r, s (r + 1)); (t r, s (r + 5)); (s (r + 4), s (r + 3)); (s (r + 2), t (r + 1))].

(** Round r: everything is computed from the blocks before the round, then the four are replaced. *)
Definition round (x : list (list byte)) (r : nat) : list (list byte) :=
  let new := map (fun ec => let '((from, to), c) := ec in
                            (to, xor (nth to x []) (feistel c (nth from x []))))
                 (combine (edges r) (seq (4 * r + 1) 4)) in
  fold_left (fun y n => update (fst n) (snd n) y) new x.

(** The permutation: 18 rounds (design.md, "Permutation"). *)
Definition permute (x : list byte) : list byte :=
  concat (fold_left round (seq 0 18) (split 16 8 x)).

(** The kernels read the constants from a table: K(1), ..., K(72). *)
Definition round_constants : list byte := flat_map round_constant (seq 1 72).

(** ** Lengths *)

Lemma little_endian_length len : forall x, length (little_endian len x) = len.
Proof. induction len; intro x; cbn [little_endian length]; auto. Qed.

Lemma little_endian_is len x : little_endian (S len) x = (x mod 256)%N :: little_endian len (x / 256)%N.
Proof.
  cbn [little_endian]; change 256%N with (2 ^ 8)%N; rewrite <- N.land_ones, <- N.shiftr_div_pow2; reflexivity.
Qed.

Definition blocks_of (len : nat) (x : list (list byte)) : Prop := Forall (fun b => length b = len) x.

Lemma update_length {A} i (a : A) x : length (update i a x) = length x.
Proof. revert i; induction x; intros [|i]; simpl; auto. Qed.

Lemma update_blocks len i a x : length a = len -> blocks_of len x -> blocks_of len (update i a x).
Proof. intros A; revert i; induction x; intros [|i] H; inversion H; constructor; auto; now apply IHx. Qed.

Lemma split_length len n x : length (split len n x) = n.
Proof. revert x; induction n; intros x; simpl; auto. Qed.

Lemma split_blocks len n x : length x = len * n -> blocks_of len (split len n x).
Proof.
  revert x; induction n as [|n IH]; intros x H; constructor.
  - rewrite firstn_length; nia.
  - apply IH; rewrite skipn_length; nia.
Qed.

Lemma concat_blocks_length len x : blocks_of len x -> length (concat x) = len * length x.
Proof. induction 1; simpl; rewrite ?app_length; nia. Qed.

Lemma feistel_length c x : length (feistel c x) = 16.
Proof. unfold feistel, aes_round; now rewrite !xor_length. Qed.

Lemma edges_to_small r e : In e (edges r) -> snd e < 8.
Proof.
  assert (N : forall i l, Forall (fun k => k < 8) l -> nth i l 0 < 8).
  { induction i; intros [|k l] F; simpl; try lia; inversion F; auto. }
  unfold edges; intros I; repeat destruct I as [<-|I]; try destruct I; apply N; repeat constructor; lia.
Qed.

Lemma round_blocks x r : length x = 8 -> blocks_of 16 x -> length (round x r) = 8 /\ blocks_of 16 (round x r).
Proof.
  intros L B; unfold round.
  match goal with |- context [fold_left _ ?l x] => set (new := l) end.
  assert (W : Forall (fun n => length (snd n) = 16) new).
  { apply Forall_forall; intros n I; apply in_map_iff in I as ([[from to] c] & <- & I).
    apply in_combine_l, edges_to_small in I; simpl in *.
    rewrite xor_length, feistel_length.
    rewrite (proj1 (Forall_forall _ x) B); [reflexivity|apply nth_In; lia]. }
  clearbody new; revert x L B; induction W as [|n new E W IH]; intros x L B; simpl; auto.
  apply IH; [now rewrite update_length|now apply update_blocks].
Qed.

Lemma rounds_blocks rs : forall x, length x = 8 -> blocks_of 16 x ->
  length (fold_left round rs x) = 8 /\ blocks_of 16 (fold_left round rs x).
Proof. induction rs; intros x L B; simpl; auto; apply IHrs; now apply round_blocks. Qed.

Theorem permute_length x : length x = 128 -> length (permute x) = 128.
Proof.
  intro L; unfold permute.
  destruct (rounds_blocks (seq 0 18) (split 16 8 x)) as [N B].
  - apply split_length.
  - now apply split_blocks.
  - now rewrite (concat_blocks_length 16), N.
Qed.
