(** * ArxRounds: ChaCha on rows, as strings of 16 bytes, and the same on symbolic bytes

    A row is what kernels have in a register.  On the diagonals they turn three of the rows, so that the fourth, on which
    the next round waits, stays: [turns] says by how many bytes each row turns left before and after. *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Symbolic ArxSymbolic.
Import ListNotations.

Notation turns := (nat * nat * nat * nat)%type (only parsing).

Notation "'let?' ( x , n ) := a 'in' b" := (match a with Some (x, n) => b | None => None end)
  (at level 200, x name, n name).

(** Some kernels rotate by whole bytes as they move bytes. *)
Section Moves.
Variable moves : bool.

(** ** On bytes *)

Definition rotate_lanes (k : nat) (x : list byte) : list byte := xor (shift_right 4 (32 - k) x) (shift_left 4 k x).

Definition turn {A} (k : nat) (x : list A) : list A := skipn k x ++ firstn k x.

Definition moved (k : nat) (x : list byte) : list byte := flat_map (turn (4 - k / 8)) (split 4 4 x).

Definition rotated (k : nat) (x : list byte) : list byte :=
  if moves && (k mod 8 =? 0)%nat then moved k x else rotate_lanes k x.

(** x += y, z ^= x, and z rotates left. *)
Definition step (k : nat) (x y z : list byte) : list byte * list byte :=
  let x := plus_lanes 4 x y in (x, rotated k (xor z x)).

Definition rows := (list byte * list byte * list byte * list byte)%type.

Definition columns (x : rows) : rows :=
  let '(a, b, c, d) := x in
  let (a, d) := step 16 a b d in
  let (c, b) := step 12 c d b in
  let (a, d) := step 8 a b d in
  let (c, b) := step 7 c d b in
  (a, b, c, d).

Definition turned {A} (k : turns) (x : list A * list A * list A * list A) : list A * list A * list A * list A :=
  let '(i, j, k, l) := k in let '(a, b, c, d) := x in (turn i a, turn j b, turn k c, turn l d).

Definition two_rounds (there back : turns) (x : rows) : rows :=
  turned back (columns (turned there (columns x))).

Definition plus_rows (x y : rows) : rows :=
  let '(a, b, c, d) := x in let '(e, f, g, h) := y in
  (plus_lanes 4 a e, plus_lanes 4 b f, plus_lanes 4 c g, plus_lanes 4 d h).

(** The rows of a block after n double rounds and the last addition. *)
Definition block_rows (n : nat) (there back : turns) (x : rows) : rows :=
  plus_rows (Nat.iter n (two_rounds there back) x) x.

Definition one : list byte := 1%N :: zero 15.

Definition row {A} (i : nat) (x : list A) : list A := firstn 16 (skipn (16 * i) x).

(** The first three rows, the last, and a block of input: the output. *)
Definition xor_block (n : nat) (there back : turns) (first last input : list byte) : list byte :=
  let '(a, b, c, d) := block_rows n there back (row 0 first, row 1 first, row 2 first, last) in
  xor (row 0 input) a ++ xor (row 1 input) b ++ xor (row 2 input) c ++ xor (row 3 input) d.

(** So many blocks: their output, and the last row of the next. *)
Fixpoint xor_lanes (n : nat) (there back : turns) (first : list byte) (k : nat) (last input : list byte) :
    list byte * list byte :=
  match k with
  | O => ([], last)
  | S k =>
      let (out, last_) := xor_lanes n there back first k (plus_lanes 8 last one) (skipn 64 input) in
      (xor_block n there back first last (firstn 64 input) ++ out, last_)
  end.

(** ** On symbolic bytes *)

Notation found A := (option (A * list node)).
Notation srows := (list sbyte * list sbyte * list sbyte * list sbyte)%type.

Definition srotate (k : nat) (x : list sbyte) (nodes : list node) : found (list sbyte) :=
  if moves && (k mod 8 =? 0)%nat then Some (flat_map (turn (4 - k / 8)) (ssplit 4 4 x), nodes) else
  let? (a, nodes) := sright 4 (32 - k) x nodes in
  let? (b, nodes) := sleft 4 k x nodes in Some (sxor a b, nodes).

Definition sstep (k : nat) (x y z : list sbyte) (nodes : list node) : found (list sbyte * list sbyte) :=
  let? (x, nodes) := splus 4 x y nodes in
  let? (z, nodes) := srotate k (sxor z x) nodes in Some ((x, z), nodes).

Definition scolumns (x : srows) (nodes : list node) : found srows :=
  let '(a, b, c, d) := x in
  let? (ad, nodes) := sstep 16 a b d nodes in
  let? (cb, nodes) := sstep 12 c (snd ad) b nodes in
  let? (ad, nodes) := sstep 8 (fst ad) (snd cb) (snd ad) nodes in
  let? (cb, nodes) := sstep 7 (fst cb) (snd ad) (snd cb) nodes in
  Some ((fst ad, snd cb, fst cb, snd ad), nodes).

Definition stwo_rounds (there back : turns) (x : srows) (nodes : list node) : found srows :=
  let? (x, nodes) := scolumns x nodes in
  let? (x, nodes) := scolumns (turned there x) nodes in Some (turned back x, nodes).

Fixpoint siter (n : nat) (there back : turns) (x : srows) (nodes : list node) : found srows :=
  match n with
  | O => Some (x, nodes)
  | S n => let? (x, nodes) := siter n there back x nodes in stwo_rounds there back x nodes
  end.

Definition splus_rows (x y : srows) (nodes : list node) : found srows :=
  let '(a, b, c, d) := x in let '(e, f, g, h) := y in
  let? (a, nodes) := splus 4 a e nodes in
  let? (b, nodes) := splus 4 b f nodes in
  let? (c, nodes) := splus 4 c g nodes in
  let? (d, nodes) := splus 4 d h nodes in Some ((a, b, c, d), nodes).

Definition sxor_block (n : nat) (there back : turns) (first last input : list sbyte) (nodes : list node) :
    found (list sbyte) :=
  let start := (row 0 first, row 1 first, row 2 first, last) in
  let? (x, nodes) := siter n there back start nodes in
  let? (x, nodes) := splus_rows x start nodes in
  let '(a, b, c, d) := x in
  Some (sxor (row 0 input) a ++ sxor (row 1 input) b ++ sxor (row 2 input) c ++ sxor (row 3 input) d, nodes).

Fixpoint sxor_lanes (n : nat) (there back : turns) (first : list sbyte) (k : nat) (last input : list sbyte)
    (nodes : list node) : found (list sbyte * list sbyte) :=
  match k with
  | O => Some (([], last), nodes)
  | S k =>
      let? (x, nodes) := sxor_block n there back first last (firstn 64 input) nodes in
      let? (last, nodes) := splus 8 last (map const one) nodes in
      let? (r, nodes) := sxor_lanes n there back first k last (skipn 64 input) nodes in
      Some ((x ++ fst r, snd r), nodes)
  end.

Section Meaning.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation consistent := (consistent env).

Definition evs4 (x : srows) : rows := let '(a, b, c, d) := x in (evs a, evs b, evs c, evs d).

(** What is found has this property, if the nodes have their values. *)
Definition finds {A} (r : found A) (nodes : list node) (P : A -> Prop) : Prop :=
  forall x nodes', r = Some (x, nodes') -> extends nodes nodes' /\ (consistent nodes' -> P x).

Lemma finds_bind {A C} (r : found A) (g : A -> list node -> found C) nodes (P : A -> Prop) (Q : C -> Prop) :
  finds r nodes P -> (forall x nodes', finds (g x nodes') nodes' (fun y => P x -> Q y)) ->
  finds (let? (x, n) := r in g x n) nodes Q.
Proof.
  intros R G y nodes' E; destruct r as [[x n]|]; [|discriminate].
  destruct (R x n eq_refl) as [X S]; destruct (G x n y nodes' E) as [X' S'].
  split; [eapply extends_trans; eassumption|]; intro C'; apply (S' C'), S; eapply consistent_older; eassumption.
Qed.

Lemma finds_some {A} (x : A) nodes (P : A -> Prop) : P x -> finds (Some (x, nodes)) nodes P.
Proof.
  intros H y nodes' E; assert (F : x = y /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
  split; [apply extends_refl|auto].
Qed.

Lemma splus_finds w x y nodes : finds (splus w x y nodes) nodes (fun z => evs z = plus_lanes w (evs x) (evs y)).
Proof. intros z nodes'; apply splus_sound. Qed.

Local Ltac steps :=
  repeat match goal with |- finds (match _ with Some _ => _ | None => None end) _ _ => eapply finds_bind; [|intros ? ?; cbv beta] end.
Local Ltac done := apply finds_some; cbv beta; intros.

Lemma evs_turn {A B} (f : A -> B) k x : map f (turn k x) = turn k (map f x).
Proof. unfold turn; rewrite map_app, firstn_map, skipn_map; reflexivity. Qed.

Lemma srotate_finds k x nodes : finds (srotate k x nodes) nodes (fun z => evs z = rotated k (evs x)).
Proof.
  unfold srotate, rotated; destruct (moves && (k mod 8 =? 0)%nat).
  { done; unfold moved; rewrite <- ssplit_evs, !flat_map_concat_map; unfold Symbolic.evs at 1; rewrite concat_map, !map_map.
    f_equal; apply map_ext; intro l; apply evs_turn. }
  steps; [intros z n; apply sright_sound|intros z n; apply sleft_sound|].
  done; unfold rotate_lanes; rewrite evs_xor; congruence.
Qed.

Lemma sstep_finds k x y z nodes : finds (sstep k x y z nodes) nodes
  (fun r => (evs (fst r), evs (snd r)) = step k (evs x) (evs y) (evs z)).
Proof.
  unfold sstep; steps; [apply splus_finds|apply srotate_finds|].
  done; cbn [fst snd]; unfold step; rewrite H, evs_xor, H0; reflexivity.
Qed.

Lemma scolumns_finds x nodes : finds (scolumns x nodes) nodes (fun r => evs4 r = columns (evs4 x)).
Proof.
  destruct x as [[[a b] c] d]; unfold scolumns; steps; [apply sstep_finds..|].
  done; cbn [evs4]; unfold columns.
  rewrite <- H2, <- H1, <- H0, <- H; reflexivity.
Qed.

Lemma evs_turned k x : evs4 (turned k x) = turned k (evs4 x).
Proof. destruct k as [[[i j] k] l], x as [[[a b] c] d]; cbn [turned evs4]; unfold Symbolic.evs; rewrite !evs_turn; reflexivity. Qed.

Lemma stwo_rounds_finds there back x nodes :
  finds (stwo_rounds there back x nodes) nodes (fun r => evs4 r = two_rounds there back (evs4 x)).
Proof.
  unfold stwo_rounds; steps; [apply scolumns_finds..|].
  done; unfold two_rounds; rewrite evs_turned, H, evs_turned, H0; reflexivity.
Qed.

Lemma siter_finds n there back x nodes :
  finds (siter n there back x nodes) nodes (fun r => evs4 r = Nat.iter n (two_rounds there back) (evs4 x)).
Proof.
  induction n as [|n IH]; cbn [siter Nat.iter nat_rect]; [done; reflexivity|].
  eapply finds_bind; [exact IH|]; intros y n'; cbv beta; intros z n'' E.
  destruct (stwo_rounds_finds there back y n' z n'' E) as [X S]; split; [exact X|]; intros C H.
  rewrite (S C), H; reflexivity.
Qed.

Lemma splus_rows_finds x y nodes :
  finds (splus_rows x y nodes) nodes (fun r => evs4 r = plus_rows (evs4 x) (evs4 y)).
Proof.
  destruct x as [[[a b] c] d], y as [[[e f] g] h]; unfold splus_rows; steps; [apply splus_finds..|].
  done; cbn [evs4 plus_rows]; congruence.
Qed.

Lemma evs_row i x : evs (row i x) = row i (evs x).
Proof. unfold row; rewrite evs_firstn, evs_skipn; reflexivity. Qed.

Lemma sxor_block_finds n there back first last input nodes :
  finds (sxor_block n there back first last input nodes) nodes
    (fun r => evs r = xor_block n there back (evs first) (evs last) (evs input)).
Proof.
  unfold sxor_block; steps; [apply siter_finds|apply splus_rows_finds|].
  destruct x0 as [[[a b] c] d]; done; unfold xor_block, block_rows.
  cbn [evs4] in H, H0; rewrite H0 in H; rewrite !evs_row in H; rewrite <- H.
  rewrite !evs_app, !evs_xor, !evs_row; reflexivity.
Qed.

Lemma sxor_lanes_finds n there back first k : forall last input nodes,
  finds (sxor_lanes n there back first k last input nodes) nodes
    (fun r => (evs (fst r), evs (snd r)) = xor_lanes n there back (evs first) k (evs last) (evs input)).
Proof.
  induction k as [|k IH]; intros last input nodes; cbn [sxor_lanes]; [done; reflexivity|].
  steps; [apply sxor_block_finds|apply splus_finds|apply IH|].
  done; cbn [fst snd xor_lanes]; rewrite evs_const in H0; rewrite evs_skipn, H0 in H; rewrite evs_firstn in H1.
  rewrite evs_app, <- H, H1; reflexivity.
Qed.
End Meaning.
End Moves.
