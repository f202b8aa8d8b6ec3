(** * XoodooRounds: Xoofff on planes, as strings of 16 bytes, and the same on symbolic bytes

    A plane is what kernels have in a register, or in a part of one.  Several states are permuted at once, each of which is
    rolled from the one before.  A roll drops the first plane and appends one, so the states are planes in a row: state j is
    planes j, j + 1 and j + 2.  Plane j + 3 has the words of plane j but for the first, and a new one, which is a function
    of the first words of planes j to j + 2; so kernels compute that function of all words of these planes, and plane
    j + 3 m is words m and on of plane j, and the first m of these. *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Symbolic ArxSymbolic ArxRounds.
Import ListNotations.

Local Notation found A := (option (A * list node)).
Local Notation "'let?' ( x , n ) := a 'in' b" := (match a with Some (x, n) => b | None => None end)
  (at level 200, x name, n name).

(** Planes 0 to 2 of a state. *)
Notation triple A := (A * A * A)%type (only parsing).

(** The planes of masks, or those of output states. *)
Inductive sequence := Masks | Outputs.

Definition state_at {A} (i : nat) (x : list A) : triple (list A) := (row (3 * i) x, row (3 * i + 1) x, row (3 * i + 2) x).

Definition joined {A} (x : triple (list A)) : list A := let '(a, b, c) := x in a ++ b ++ c.

(** Words m and on of a plane, and the first m of others. *)
Definition later {A} (m : nat) (p w : list A) : list A := skipn (4 * m) p ++ firstn (4 * m) w.

(** Plane i, from the first three planes and the new words that they lead to. *)
Definition plane_at {A} (p w : triple (list A)) (i : nat) : list A :=
  let '(p0, p1, p2) := p in let '(w0, w1, w2) := w in
  match (i mod 3)%nat with O => later (i / 3) p0 w0 | 1%nat => later (i / 3) p1 w1 | _ => later (i / 3) p2 w2 end.

Definition planes_at {A} (p w : triple (list A)) (i : nat) : triple (list A) :=
  (plane_at p w i, plane_at p w (i + 1), plane_at p w (i + 2)).

(** What kernels read: the constant of each of the six rounds, in the first word of a plane, and four times 7. *)
Record known_planes := Known_planes { constants_of : list (list byte); sevens : list byte }.

Section Moves.
Variable moves : bool.
Variable T : known_planes.

(** ** On bytes *)

Definition and_not (x y : list byte) : list byte := and_bytes (xor x (ones 16)) y.

Definition round_planes (k : list byte) (x : triple (list byte)) : triple (list byte) :=
  let '(a, b, c) := x in
  let p := turn 12 (xor (xor a b) c) in
  let e := xor (rotated moves 5 p) (rotated moves 14 p) in
  let a := xor (xor a e) k in
  let b := turn 12 (xor b e) in
  let c := rotated moves 11 (xor c e) in
  (xor a (and_not b c), rotated moves 1 (xor b (and_not c a)), rotated moves 8 (turn 8 (xor c (and_not a b)))).

Definition permute_planes (x : triple (list byte)) : triple (list byte) :=
  fold_left (fun x k => round_planes k x) (constants_of T) x.

Definition new_words (q : sequence) (a b c : list byte) : list byte :=
  match q with
  | Masks => xor (xor (rotated moves 3 b) a) (shift_left 4 13 a)
  | Outputs => xor (xor (xor (rotated moves 5 a) (rotated moves 13 b)) (and_bytes b c)) (sevens T)
  end.

Definition all_words (q : sequence) (p : triple (list byte)) : triple (list byte) :=
  let '(a, b, c) := p in
  let w0 := new_words q a b c in
  let d := later 1 a w0 in
  let w1 := new_words q b c d in
  let e := later 1 b w1 in
  (w0, w1, new_words q c d e).

Definition xor_triple (x y : triple (list byte)) : triple (list byte) :=
  let '(a, b, c) := x in let '(d, e, f) := y in (xor a d, xor b e, xor c f).

(** From accumulator and mask, and so many blocks of input from number i on: the accumulator. *)
Fixpoint absorb_sum (p w : triple (list byte)) (input : list byte) (k i : nat) (acc : triple (list byte)) :
    triple (list byte) :=
  match k with
  | O => acc
  | S k =>
      absorb_sum p w input k (S i) (xor_triple acc (permute_planes (xor_triple (state_at i input) (planes_at p w i))))
  end.

Definition absorb_lanes (k : nat) (s input : list byte) : list byte :=
  let p := state_at 1 s in let w := all_words Masks p in
  joined (absorb_sum p w input k 0 (state_at 0 s)) ++ joined (planes_at p w k).

(** From mask and output state: the same with the next output state, and so many blocks of output. *)
Fixpoint squeeze_all (mask p w : triple (list byte)) (k i : nat) : list byte :=
  match k with
  | O => []
  | S k => joined (xor_triple (permute_planes (planes_at p w i)) mask) ++ squeeze_all mask p w k (S i)
  end.

Definition squeeze_lanes (k : nat) (s : list byte) : list byte * list byte :=
  let p := state_at 1 s in let w := all_words Outputs p in
  (joined (state_at 0 s) ++ joined (planes_at p w k), squeeze_all (state_at 0 s) p w k 0).

(** The same for eight states by a kernel that has plane 3 of the output states already: it has planes of two states in each
    register, and computes some of them twice.  It keeps that plane of the next states, too. *)
Definition ahead_words (p : triple (list byte)) (d : list byte) : triple (list byte) * list byte :=
  let '(a, b, c) := p in
  let w0 := new_words Outputs a b c in
  let v1 := new_words Outputs b c d in
  ((w0, new_words Outputs b c (later 1 a w0), new_words Outputs c d (later 1 b v1)), v1).

(** States 0 to 7. *)
Definition ahead_states {A} (p : triple (list A)) (d : list A) (w : triple (list A)) (v1 : list A) : list (triple (list A)) :=
  let '(a, b, c) := p in
  let again := plane_at (a, b, c) (fst (fst w), v1, snd w) in
  [(a, b, c); (b, c, d); (c, plane_at p w 3, plane_at p w 4); (d, again 4%nat, plane_at p w 5);
   planes_at p w 4; (plane_at p w 5, plane_at p w 6, again 7%nat); planes_at p w 6; (again 7%nat, plane_at p w 8, plane_at p w 9)].

Definition permuted_blocks (mask : triple (list byte)) (states : list (triple (list byte))) : list byte :=
  flat_map (fun x => joined (xor_triple (permute_planes x) mask)) states.

Definition squeeze_ahead (s : list byte) : list byte * list byte :=
  let p := state_at 1 s in
  let '(w, v1) := ahead_words p (row 6 s) in
  (joined (state_at 0 s) ++ joined (planes_at p w 8) ++ plane_at p w 11,
   permuted_blocks (state_at 0 s) (ahead_states p (row 6 s) w v1)).

(** Plane 3, after mask and output state. *)
Definition ahead (s : list byte) : list byte :=
  let '(a, b, c) := state_at 1 s in s ++ later 1 a (new_words Outputs a b c).

(** ** On symbolic bytes *)

Definition sand_not (x y : list sbyte) (nodes : list node) : found (list sbyte) := sand (sxor x (map const (ones 16))) y nodes.

Definition sround_planes (k : list byte) (x : triple (list sbyte)) (nodes : list node) : found (triple (list sbyte)) :=
  let '(a, b, c) := x in
  let p := turn 12 (sxor (sxor a b) c) in
  let? (e5, nodes) := srotate moves 5 p nodes in
  let? (e14, nodes) := srotate moves 14 p nodes in
  let e := sxor e5 e14 in
  let a := sxor (sxor a e) (map const k) in
  let b := turn 12 (sxor b e) in
  let? (c, nodes) := srotate moves 11 (sxor c e) nodes in
  let? (r, nodes) := sand_not b c nodes in
  let? (s, nodes) := sand_not c a nodes in
  let? (t, nodes) := sand_not a b nodes in
  let? (b, nodes) := srotate moves 1 (sxor b s) nodes in
  let? (c, nodes) := srotate moves 8 (turn 8 (sxor c t)) nodes in
  Some ((sxor a r, b, c), nodes).

Fixpoint srounds_planes (ks : list (list byte)) (x : triple (list sbyte)) (nodes : list node) : found (triple (list sbyte)) :=
  match ks with
  | [] => Some (x, nodes)
  | k :: ks => let? (x, nodes) := sround_planes k x nodes in srounds_planes ks x nodes
  end.

Definition snew_words (q : sequence) (a b c : list sbyte) (nodes : list node) : found (list sbyte) :=
  match q with
  | Masks =>
      let? (r, nodes) := srotate moves 3 b nodes in
      let? (t, nodes) := sleft 4 13 a nodes in Some (sxor (sxor r a) t, nodes)
  | Outputs =>
      let? (r, nodes) := srotate moves 5 a nodes in
      let? (s, nodes) := srotate moves 13 b nodes in
      let? (t, nodes) := sand b c nodes in Some (sxor (sxor (sxor r s) t) (map const (sevens T)), nodes)
  end.

Definition sall_words (q : sequence) (p : triple (list sbyte)) (nodes : list node) : found (triple (list sbyte)) :=
  let '(a, b, c) := p in
  let? (w0, nodes) := snew_words q a b c nodes in
  let d := later 1 a w0 in
  let? (w1, nodes) := snew_words q b c d nodes in
  let e := later 1 b w1 in
  let? (w2, nodes) := snew_words q c d e nodes in Some ((w0, w1, w2), nodes).

Definition sxor_triple (x y : triple (list sbyte)) : triple (list sbyte) :=
  let '(a, b, c) := x in let '(d, e, f) := y in (sxor a d, sxor b e, sxor c f).

Fixpoint sabsorb_sum (p w : triple (list sbyte)) (input : list sbyte) (k i : nat) (acc : triple (list sbyte))
    (nodes : list node) : found (triple (list sbyte)) :=
  match k with
  | O => Some (acc, nodes)
  | S k =>
      let? (x, nodes) := srounds_planes (constants_of T) (sxor_triple (state_at i input) (planes_at p w i)) nodes in
      sabsorb_sum p w input k (S i) (sxor_triple acc x) nodes
  end.

Definition sabsorb_lanes (k : nat) (s input : list sbyte) (nodes : list node) : found (list sbyte) :=
  let p := state_at 1 s in
  let? (w, nodes) := sall_words Masks p nodes in
  let? (acc, nodes) := sabsorb_sum p w input k 0 (state_at 0 s) nodes in
  Some (joined acc ++ joined (planes_at p w k), nodes).

Fixpoint ssqueeze_all (mask p w : triple (list sbyte)) (k i : nat) (nodes : list node) : found (list sbyte) :=
  match k with
  | O => Some ([], nodes)
  | S k =>
      let? (x, nodes) := srounds_planes (constants_of T) (planes_at p w i) nodes in
      let? (rest, nodes) := ssqueeze_all mask p w k (S i) nodes in
      Some (joined (sxor_triple x mask) ++ rest, nodes)
  end.

Definition ssqueeze_lanes (k : nat) (s : list sbyte) (nodes : list node) : found (list sbyte * list sbyte) :=
  let p := state_at 1 s in
  let? (w, nodes) := sall_words Outputs p nodes in
  let? (out, nodes) := ssqueeze_all (state_at 0 s) p w k 0 nodes in
  Some ((joined (state_at 0 s) ++ joined (planes_at p w k), out), nodes).

Definition sahead_words (p : triple (list sbyte)) (d : list sbyte) (nodes : list node) :
    found (triple (list sbyte) * list sbyte) :=
  let '(a, b, c) := p in
  let? (w0, nodes) := snew_words Outputs a b c nodes in
  let? (v1, nodes) := snew_words Outputs b c d nodes in
  let? (w1, nodes) := snew_words Outputs b c (later 1 a w0) nodes in
  let? (w2, nodes) := snew_words Outputs c d (later 1 b v1) nodes in Some ((w0, w1, w2, v1), nodes).

Fixpoint spermuted_blocks (mask : triple (list sbyte)) (states : list (triple (list sbyte))) (nodes : list node) :
    found (list sbyte) :=
  match states with
  | [] => Some ([], nodes)
  | x :: states =>
      let? (x, nodes) := srounds_planes (constants_of T) x nodes in
      let? (rest, nodes) := spermuted_blocks mask states nodes in
      Some (joined (sxor_triple x mask) ++ rest, nodes)
  end.

Definition ssqueeze_ahead (s : list sbyte) (nodes : list node) : found (list sbyte * list sbyte) :=
  let p := state_at 1 s in
  let? (wv, nodes) := sahead_words p (row 6 s) nodes in
  let? (out, nodes) := spermuted_blocks (state_at 0 s) (ahead_states p (row 6 s) (fst wv) (snd wv)) nodes in
  Some ((joined (state_at 0 s) ++ joined (planes_at p (fst wv) 8) ++ plane_at p (fst wv) 11, out), nodes).

Definition sahead (s : list sbyte) (nodes : list node) : found (list sbyte) :=
  let '(a, b, c) := state_at 1 s in
  let? (w, nodes) := snew_words Outputs a b c nodes in Some (s ++ later 1 a w, nodes).

(** ** What they find *)

Section Meaning.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation finds := (finds env).

Definition evs3 (x : triple (list sbyte)) : triple (list byte) := let '(a, b, c) := x in (evs a, evs b, evs c).

Local Ltac steps :=
  repeat match goal with |- finds (match _ with Some _ => _ | None => None end) _ _ =>
    eapply (finds_bind env); [|intros ? ?; cbv beta] end.
Local Ltac done := apply (finds_some env); cbv beta; intros.

Lemma evs_row i x : evs (row i x) = row i (evs x).
Proof. unfold row; rewrite evs_firstn, evs_skipn; reflexivity. Qed.

Lemma evs_state_at i x : evs3 (state_at i x) = state_at i (evs x).
Proof. unfold state_at, evs3; rewrite !evs_row; reflexivity. Qed.

Lemma evs_joined x : evs (joined x) = joined (evs3 x).
Proof. destruct x as [[a b] c]; unfold joined, evs3; rewrite !evs_app; reflexivity. Qed.

Lemma evs_later m p w : evs (later m p w) = later m (evs p) (evs w).
Proof. unfold later; rewrite evs_app, evs_firstn, evs_skipn; reflexivity. Qed.

Lemma evs_plane_at p w i : evs (plane_at p w i) = plane_at (evs3 p) (evs3 w) i.
Proof.
  destruct p as [[a b] c], w as [[d e] f]; unfold plane_at, evs3.
  destruct (i mod 3)%nat as [|[|?]]; apply evs_later.
Qed.

Lemma evs_planes_at p w i : evs3 (planes_at p w i) = planes_at (evs3 p) (evs3 w) i.
Proof. unfold planes_at; cbn [evs3]; rewrite !evs_plane_at; reflexivity. Qed.

Lemma evs_xor_triple x y : evs3 (sxor_triple x y) = xor_triple (evs3 x) (evs3 y).
Proof. destruct x as [[a b] c], y as [[d e] f]; cbn [sxor_triple xor_triple evs3]; rewrite !evs_xor; reflexivity. Qed.

Lemma evs_turned k x : evs (turn k x) = turn k (evs x).
Proof. apply evs_turn. Qed.

Lemma sand_not_finds x y nodes : finds (sand_not x y nodes) nodes (fun z => evs z = and_not (evs x) (evs y)).
Proof.
  intros z nodes' E; apply (sand_sound env) in E as [X S]; split; [exact X|]; intro C; rewrite (S C), evs_xor, evs_const.
  reflexivity.
Qed.

Lemma sround_planes_finds k x nodes : finds (sround_planes k x nodes) nodes (fun r => evs3 r = round_planes k (evs3 x)).
Proof.
  destruct x as [[a b] c]; unfold sround_planes; steps; [apply srotate_finds..|apply sand_not_finds|apply sand_not_finds|
    apply sand_not_finds|apply srotate_finds|apply srotate_finds|].
  done; cbn [evs3]; unfold round_planes.
  repeat match goal with
  | H : evs ?x = _ |- context [evs ?x] => is_var x; rewrite H
  | |- _ => progress rewrite ?evs_turned, ?evs_xor, ?evs_const
  end.
  reflexivity.
Qed.

Lemma srounds_planes_finds ks : forall x nodes,
  finds (srounds_planes ks x nodes) nodes (fun r => evs3 r = fold_left (fun x k => round_planes k x) ks (evs3 x)).
Proof.
  induction ks as [|k ks IH]; intros x nodes; cbn [srounds_planes fold_left]; [done; reflexivity|].
  steps; [apply sround_planes_finds|]; intros z n E; destruct (IH _ _ z n E) as [X S]; split; [exact X|].
  intros C H; rewrite (S C), H; reflexivity.
Qed.

Lemma snew_words_finds q a b c nodes :
  finds (snew_words q a b c nodes) nodes (fun r => evs r = new_words q (evs a) (evs b) (evs c)).
Proof.
  destruct q; unfold snew_words, new_words; steps;
    [apply srotate_finds|intros z n; apply sleft_sound| |apply srotate_finds|apply srotate_finds|intros z n; apply sand_sound|];
    done; rewrite !evs_xor, ?evs_const; congruence.
Qed.

Lemma sall_words_finds q p nodes : finds (sall_words q p nodes) nodes (fun r => evs3 r = all_words q (evs3 p)).
Proof.
  destruct p as [[a b] c]; unfold sall_words; steps; [apply snew_words_finds..|].
  done; cbn [evs3]; unfold all_words; rewrite !evs_later in *; congruence.
Qed.

Lemma sabsorb_sum_finds p w input k : forall i acc nodes,
  finds (sabsorb_sum p w input k i acc nodes) nodes
    (fun r => evs3 r = absorb_sum (evs3 p) (evs3 w) (evs input) k i (evs3 acc)).
Proof.
  induction k as [|k IH]; intros i acc nodes; cbn [sabsorb_sum absorb_sum]; [done; reflexivity|].
  steps; [apply srounds_planes_finds|]; intros z n E; destruct (IH _ _ _ z n E) as [X S]; split; [exact X|].
  intros C H; rewrite (S C), evs_xor_triple, H, evs_xor_triple, evs_state_at, evs_planes_at; reflexivity.
Qed.

Lemma sabsorb_lanes_finds k s input nodes :
  finds (sabsorb_lanes k s input nodes) nodes (fun r => evs r = absorb_lanes k (evs s) (evs input)).
Proof.
  unfold sabsorb_lanes; steps; [apply sall_words_finds|apply sabsorb_sum_finds|].
  done; rewrite evs_app, !evs_joined, evs_planes_at, H, H0, !evs_state_at; reflexivity.
Qed.

Lemma ssqueeze_all_finds mask p w k : forall i nodes,
  finds (ssqueeze_all mask p w k i nodes) nodes (fun r => evs r = squeeze_all (evs3 mask) (evs3 p) (evs3 w) k i).
Proof.
  induction k as [|k IH]; intros i nodes; cbn [ssqueeze_all squeeze_all]; [done; reflexivity|].
  steps; [apply srounds_planes_finds|apply IH|].
  done; rewrite evs_app, evs_joined, evs_xor_triple, H, H0, evs_planes_at; reflexivity.
Qed.

Lemma ssqueeze_lanes_finds k s nodes :
  finds (ssqueeze_lanes k s nodes) nodes (fun r => (evs (fst r), evs (snd r)) = squeeze_lanes k (evs s)).
Proof.
  unfold ssqueeze_lanes; steps; [apply sall_words_finds|apply ssqueeze_all_finds|].
  done; cbn [fst snd]; unfold squeeze_lanes; rewrite evs_app, !evs_joined, evs_planes_at, H, H0, !evs_state_at; reflexivity.
Qed.

Lemma sahead_words_finds p d nodes : finds (sahead_words p d nodes) nodes
  (fun r => (evs3 (fst r), evs (snd r)) = ahead_words (evs3 p) (evs d)).
Proof.
  destruct p as [[a b] c]; unfold sahead_words; steps; [apply snew_words_finds..|].
  done; cbn [evs3 fst snd]; unfold ahead_words; rewrite !evs_later in *; congruence.
Qed.

Lemma spermuted_blocks_finds mask states : forall nodes, finds (spermuted_blocks mask states nodes) nodes
  (fun r => evs r = permuted_blocks (evs3 mask) (map evs3 states)).
Proof.
  induction states as [|x states IH]; intro nodes; cbn [spermuted_blocks map]; [done; reflexivity|].
  steps; [apply srounds_planes_finds|apply IH|].
  done; rewrite evs_app, evs_joined, evs_xor_triple, H, H0; reflexivity.
Qed.

Lemma evs_ahead_states p d w v : map evs3 (ahead_states p d w v) = ahead_states (evs3 p) (evs d) (evs3 w) (evs v).
Proof.
  destruct p as [[a b] c], w as [[w0 w1] w2]; unfold ahead_states, planes_at; cbn [map evs3 fst snd].
  rewrite !evs_plane_at; reflexivity.
Qed.

Lemma ssqueeze_ahead_finds s nodes :
  finds (ssqueeze_ahead s nodes) nodes (fun r => (evs (fst r), evs (snd r)) = squeeze_ahead (evs s)).
Proof.
  unfold ssqueeze_ahead; steps; [apply sahead_words_finds|apply spermuted_blocks_finds|].
  done; cbn [fst snd]; unfold squeeze_ahead.
  rewrite evs_state_at, evs_row in H0; rewrite <- H0.
  rewrite !evs_app, !evs_joined, evs_planes_at, evs_plane_at, H, evs_ahead_states, !evs_state_at, evs_row; reflexivity.
Qed.

Lemma sahead_finds s nodes : finds (sahead s nodes) nodes (fun r => evs r = ahead (evs s)).
Proof.
  unfold sahead, ahead; rewrite <- evs_state_at; destruct (state_at 1 s) as [[a b] c]; cbn [evs3]; steps;
    [apply snew_words_finds|]; done; rewrite evs_app, evs_later, H; reflexivity.
Qed.
End Meaning.
End Moves.
