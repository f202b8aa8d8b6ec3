(** * XoodooWords: Xoofff on sixteen states at once, whose words are in sixteen lanes

    The kernels with AVX-512 have word i of sixteen states in one register (WordLanes.v).  In the order a0 a4 a8 a1 ... the
    words of a state are a shift register: a roll drops the first one and appends one ([shifted]).  Sixteen states in a row
    are windows on its next words.  A kernel carries sixteen words, of which the last four follow from the others, computes
    the next sixteen in two steps, and leaves out what it has computed from words that are not there yet ([next_register]).
    This file does the same on bytes and on symbolic bytes, and proves that it is Xoofff.v. *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Symbolic ArxSymbolic ArxRounds ChaChaRows XoodooRounds XoodooRows WordLanes.
From Veriplex Require ChaCha Xoodoo Xoofff.
Import ListNotations.
Local Open Scope N_scope.

Local Notation found A := (option (A * list node)).
Local Notation "'let?' ( x , n ) := a 'in' b" := (match a with Some (x, n) => b | None => None end)
  (at level 200, x name, n name).
Local Notation rotate_word := ChaCha.rotate_word.
Local Opaque ChaCha.rotate_word new_word.

(** ** The permutation as steps on words

    Words 0 to 11 are the state, but for moves by columns: word x of plane 1 is in [plane_1 x], and so for plane 2.  Words 12
    to 19 hold intermediate values. *)

Section Round.
Variables (plane_1 plane_2 : nat -> nat).

Local Open Scope nat_scope.

Definition column_steps (x : nat) : program :=
  [(12 + x, Xor_of x (plane_1 x)); (12 + x, Xor_of (12 + x) (plane_2 x));
   (16 + x, Rotate_of 5 (12 + x)); (12 + x, Rotate_of 14 (12 + x)); (12 + x, Xor_of (16 + x) (12 + x))].

Definition theta_steps (x : nat) : program :=
  let e := 12 + (x + 3) mod 4 in [(x, Xor_of x e); (plane_1 x, Xor_of (plane_1 x) e); (plane_2 x, Xor_of (plane_2 x) e)].

(** On a column of which plane 1 has moved by one. *)
Definition chi_steps (x : nat) : program :=
  let y := plane_1 ((x + 3) mod 4) in let z := plane_2 x in
  [(z, Rotate_of 11 z); (16, Without y z); (17, Without z x); (18, Without x y);
   (x, Xor_of x 16); (y, Xor_of y 17); (z, Xor_of z 18); (y, Rotate_of 1 y); (z, Rotate_of 8 z)].

Definition round_steps (c : N) : program :=
  flat_map column_steps (seq 0 4) ++ flat_map theta_steps (seq 0 4) ++ [(16, Constant c); (0, Xor_of 0 16)] ++
  flat_map chi_steps (seq 0 4).
End Round.

(** After r rounds plane 1 has moved by r columns and plane 2 by 2 r. *)
Definition plane_1_after (r x : nat) : nat := (4 + (x + 3 * r) mod 4)%nat.
Definition plane_2_after (r x : nat) : nat := (8 + (x + 2 * r) mod 4)%nat.

Fixpoint rounds_steps (r : nat) (ks : list N) : program :=
  match ks with [] => [] | k :: ks => round_steps (plane_1_after r) (plane_2_after r) k ++ rounds_steps (S r) ks end.

Definition permute_steps : program := rounds_steps 0 (skipn 6 Xoodoo.round_constants).

(** First, XOR each word with one of words 12 to 23. *)
Definition masked_steps : program := map (fun i => (i, Xor_of i (12 + i))) (seq 0 12).

(** Where the words of the state are after the rounds. *)
Definition state_order : list nat := [0; 1; 2; 3; 6; 7; 4; 5; 8; 9; 10; 11]%nat.

(** ** The shift register *)

(** The place of word i of a state, and the words in that order. *)
Definition place_of (i : nat) : nat := (3 * (i mod 4) + i / 4)%nat.
Definition in_order : list nat := map (fun i => 4 * (i mod 3) + i / 3)%nat (seq 0 12).

(** Sixteen neighbours for each word of the states. *)
Definition windows {A} (r : list A) : list (list A) := map (fun i => firstn 64 (skipn (4 * place_of i) r)) (seq 0 12).

(** Words from the first ones, the second ones, and the third ones, in so many lanes. *)
Definition new_lanes (lanes : nat) (q : sequence) (a b c : list byte) : list byte :=
  match q with
  | Masks => xor (xor (rotated_bits 3 b) a) (shift_left 4 13 a)
  | Outputs => xor (xor (xor (and_bytes b c) (rotated_bits 5 a)) (rotated_bits 13 b)) (concat (repeat (little_endian 4 7) lanes))
  end.

(** The sixteen words after these.  From words 4 to 15 follow as many as are known at once. *)
Definition known_words (q : sequence) : nat := match q with Masks => 11 | Outputs => 10 end.

(** Words k to k + 15 of two registers. *)
Definition aligned {A} (k : nat) (low high : list A) : list A := firstn 64 (skipn (4 * k) (low ++ high)).

Definition next_register (q : sequence) (u : list byte) : list byte :=
  let w := new_lanes 16 q (turn 16 u) (turn 20 u) (turn 24 u) in
  let k := known_words q in
  let t := new_lanes 16 q (aligned (4 + k) u w) (aligned (5 + k) u w) (aligned (min (6 + k) 16) u w) in
  aligned (16 - k) (turn (4 * k) w) t.

(** A state of twelve words in that order, as a register. *)
Definition first_register (q : sequence) (u : list byte) : list byte :=
  u ++ new_lanes 4 q (row 0 u) (firstn 16 (skipn 4 u)) (firstn 16 (skipn 8 u)).

(** ** What a kernel does with sixteen blocks *)

Definition ordered_words {A} (r : list (list A)) : list (list A) := map (fun i => nth i r []) state_order.

(** From the accumulator and the register. *)
Definition absorb_sixteen (s input : list byte) : list byte :=
  let u := skipn 48 s in
  let v := next_register Masks u in
  let r := run_bytes 16 (masked_steps ++ permute_steps) (transposed 12 (split 48 16 input) ++ windows (u ++ v)) in
  fold_left xor (transposed 16 (ordered_words r)) (firstn 48 s) ++ v.

(** From the mask and the register. *)
Definition squeeze_sixteen (s : list byte) : list byte * list byte :=
  let u := skipn 48 s in
  let v := next_register Outputs u in
  let w := windows (u ++ v) in
  let r := run_bytes 16 permute_steps (w ++ w) in
  (firstn 48 s ++ v, flat_map (fun x => xor x (firstn 48 s)) (transposed 16 (ordered_words r))).

Definition enter_sixteen (q : sequence) (s : list byte) : list byte := firstn 48 s ++ first_register q (skipn 48 s).

(** ** On symbolic bytes *)

Definition srotated_bits (k : nat) (x : list sbyte) (nodes : list node) : found (list sbyte) :=
  let? (a, nodes) := sleft_all 4 k x nodes in
  let? (b, nodes) := sright_all 4 (32 - k) x nodes in sor_all a b nodes.

Definition snew_lanes (lanes : nat) (q : sequence) (a b c : list sbyte) (nodes : list node) : found (list sbyte) :=
  match q with
  | Masks =>
      let? (r, nodes) := srotated_bits 3 b nodes in
      let? (t, nodes) := sleft_all 4 13 a nodes in Some (sxor (sxor r a) t, nodes)
  | Outputs =>
      let? (r, nodes) := srotated_bits 5 a nodes in
      let? (s, nodes) := srotated_bits 13 b nodes in
      let? (t, nodes) := sand_all b c nodes in
      Some (sxor (sxor (sxor t r) s) (map const (concat (repeat (little_endian 4 7) lanes))), nodes)
  end.

Definition snext_register (q : sequence) (u : list sbyte) (nodes : list node) : found (list sbyte) :=
  let? (w, nodes) := snew_lanes 16 q (turn 16 u) (turn 20 u) (turn 24 u) nodes in
  let k := known_words q in
  let? (t, nodes) := snew_lanes 16 q (aligned (4 + k) u w) (aligned (5 + k) u w) (aligned (min (6 + k) 16) u w) nodes in
  Some (aligned (16 - k) (turn (4 * k) w) t, nodes).

Definition sfirst_register (q : sequence) (u : list sbyte) (nodes : list node) : found (list sbyte) :=
  let? (w, nodes) := snew_lanes 4 q (row 0 u) (firstn 16 (skipn 4 u)) (firstn 16 (skipn 8 u)) nodes in Some (u ++ w, nodes).

Definition sabsorb_sixteen (s input : list sbyte) (nodes : list node) : found (list sbyte) :=
  let u := skipn 48 s in
  let? (v, nodes) := snext_register Masks u nodes in
  let? (r, nodes) := run_symbols 16 (masked_steps ++ permute_steps) (transposed 12 (ssplit 48 16 input) ++ windows (u ++ v)) nodes in
  Some (fold_left sxor (transposed 16 (ordered_words r)) (firstn 48 s) ++ v, nodes).

Definition ssqueeze_sixteen (s : list sbyte) (nodes : list node) : found (list sbyte * list sbyte) :=
  let u := skipn 48 s in
  let? (v, nodes) := snext_register Outputs u nodes in
  let w := windows (u ++ v) in
  let? (r, nodes) := run_symbols 16 permute_steps (w ++ w) nodes in
  Some ((firstn 48 s ++ v, flat_map (fun x => sxor x (firstn 48 s)) (transposed 16 (ordered_words r))), nodes).

Definition senter_sixteen (q : sequence) (s : list sbyte) (nodes : list node) : found (list sbyte) :=
  let? (r, nodes) := sfirst_register q (skipn 48 s) nodes in Some (firstn 48 s ++ r, nodes).

(** ** What they find *)

Section Meaning.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation finds := (finds env).

Local Ltac steps :=
  repeat match goal with |- finds (match _ with Some _ => _ | None => None end) _ _ =>
    eapply (finds_bind env); [|intros ? ?; cbv beta] end.
Local Ltac done := apply (finds_some env); cbv beta; intros.

Lemma evs_aligned k x y : evs (aligned k x y) = aligned k (evs x) (evs y).
Proof. unfold aligned; rewrite evs_firstn, evs_skipn, evs_app; reflexivity. Qed.

Lemma evs_windows r : map evs (windows r) = windows (evs r).
Proof. unfold windows; rewrite map_map; apply map_ext; intro i; rewrite evs_firstn, evs_skipn; reflexivity. Qed.

Lemma evs_ordered_words r : map evs (ordered_words r) = ordered_words (map evs r).
Proof. unfold ordered_words; rewrite map_map; apply map_ext; intro i; symmetry; apply (map_nth evs r []). Qed.

Lemma srotated_bits_finds k x nodes : finds (srotated_bits k x nodes) nodes (fun z => evs z = rotated_bits k (evs x)).
Proof.
  unfold srotated_bits; steps; [intros z n; apply sleft_all_sound|intros z n; apply sright_all_sound|].
  intros z n E; apply (sor_all_sound env) in E as [X S]; split; [exact X|]; intros C A B; rewrite (S C), A, B; reflexivity.
Qed.

Lemma snew_lanes_finds lanes q a b c nodes :
  finds (snew_lanes lanes q a b c nodes) nodes (fun r => evs r = new_lanes lanes q (evs a) (evs b) (evs c)).
Proof.
  destruct q; unfold snew_lanes, new_lanes; steps;
    [apply srotated_bits_finds|intros z n; apply sleft_all_sound| |apply srotated_bits_finds|apply srotated_bits_finds|
     intros z n; apply sand_all_sound|];
    done; rewrite !evs_xor, ?evs_const; congruence.
Qed.

Lemma snext_register_finds q u nodes : finds (snext_register q u nodes) nodes (fun r => evs r = next_register q (evs u)).
Proof.
  unfold snext_register; steps; [apply snew_lanes_finds..|].
  done; unfold next_register; rewrite !evs_aligned in *; unfold Symbolic.evs in *; rewrite !evs_turn in *; rewrite H, H0; reflexivity.
Qed.

Lemma sfirst_register_finds q u nodes : finds (sfirst_register q u nodes) nodes (fun r => evs r = first_register q (evs u)).
Proof.
  unfold sfirst_register; steps; [apply snew_lanes_finds|].
  done; unfold first_register; rewrite evs_app, H, evs_row, !evs_firstn, !evs_skipn; reflexivity.
Qed.

Lemma fold_xor l : forall a, evs (fold_left sxor l a) = fold_left xor (map evs l) (evs a).
Proof. induction l as [|b l IH]; intro a; cbn [fold_left map]; [reflexivity|]; rewrite IH, evs_xor; reflexivity. Qed.

Lemma sabsorb_sixteen_finds s input nodes :
  finds (sabsorb_sixteen s input nodes) nodes (fun r => evs r = absorb_sixteen (evs s) (evs input)).
Proof.
  unfold sabsorb_sixteen; steps; [apply snext_register_finds|apply run_symbols_finds|].
  done; unfold absorb_sixteen; rewrite evs_skipn in *; rewrite <- H0, evs_app, fold_xor, evs_firstn, evs_transposed, evs_ordered_words, H.
  rewrite map_app, evs_transposed, ssplit_evs, evs_windows, evs_app, evs_skipn; reflexivity.
Qed.

Lemma ssqueeze_sixteen_finds s nodes :
  finds (ssqueeze_sixteen s nodes) nodes (fun r => (evs (fst r), evs (snd r)) = squeeze_sixteen (evs s)).
Proof.
  unfold ssqueeze_sixteen; steps; [apply snext_register_finds|apply run_symbols_finds|].
  done; cbn [fst snd]; unfold squeeze_sixteen; rewrite evs_skipn in *; rewrite <- H0, evs_app, evs_firstn; f_equal.
  rewrite !flat_map_concat_map; unfold Symbolic.evs at 1; rewrite concat_map, map_map; fold evs; f_equal.
  rewrite <- evs_skipn, <- evs_app, <- evs_windows, <- map_app, <- H, <- evs_ordered_words, <- evs_transposed, map_map.
  apply map_ext; intro y; rewrite <- evs_firstn; apply evs_xor.
Qed.

Lemma senter_sixteen_finds q s nodes : finds (senter_sixteen q s nodes) nodes (fun r => evs r = enter_sixteen q (evs s)).
Proof.
  unfold senter_sixteen; steps; [apply sfirst_register_finds|].
  done; unfold enter_sixteen; rewrite evs_app, H, evs_firstn, evs_skipn; reflexivity.
Qed.
End Meaning.

(** ** A state and its words *)

Definition words_of (a : list (list N)) : list N := concat a.

Definition planes_of (plane_1 plane_2 : nat -> nat) (x : list N) : list (list N) :=
  map (fun f => map (fun c => nth (f c) x 0) (seq 0 4)) [fun c => c; plane_1; plane_2].

Lemma words_ok a : state_ok a -> block_ok 12 (words_of a) /\
  planes_of (plane_1_after 0) (plane_2_after 0) (words_of a) = a /\ Xoodoo.bytes a = in_lanes 4 (words_of a).
Proof.
  intro H; twelve a H; cbn [words_of concat app]; split; [|split; reflexivity].
  split; [reflexivity|]; unfold small; repeat constructor; assumption.
Qed.

Lemma planes_ok f g x : small (2 ^ 32) x -> state_ok (planes_of f g x).
Proof.
  intro S; split; [reflexivity|]; unfold planes_of; repeat constructor; apply nth_small, S.
Qed.

(** A round, after so many. *)
Lemma round_steps_are r k x : (r < 6)%nat -> k < 2 ^ 32 -> block_ok 24 x ->
  planes_of (plane_1_after (S r)) (plane_2_after (S r)) (run_words (round_steps (plane_1_after r) (plane_2_after r) k) x) =
  Xoodoo.round (planes_of (plane_1_after r) (plane_2_after r) x) k.
Proof.
  intros R K [L S]; do 24 (destruct x as [|? x]; [discriminate L|]); destruct x; [|discriminate L]; clear L.
  unfold small in S; repeat match goal with S : Forall _ (_ :: _) |- _ => inversion S; subst; clear S end.
  do 6 (destruct r as [|r]; [
    lazy -[N.lxor N.ldiff N.pow ChaCha.rotate_word];
    rewrite !rotate_0, !N.lxor_0_r by word; reflexivity|]); lia.
Qed.

Lemma round_steps_ok r k : (r < 6)%nat -> k < 2 ^ 32 -> program_ok 24 (round_steps (plane_1_after r) (plane_2_after r) k) = true.
Proof.
  intros R K; apply N.ltb_lt in K; do 6 (destruct r as [|r]; [lazy -[N.ltb N.pow]; rewrite K; reflexivity|]); lia.
Qed.

Lemma run_words_app p q x : run_words (p ++ q) x = run_words q (run_words p x).
Proof. apply fold_left_app. Qed.

Lemma rounds_steps_are ks : Forall (fun k => k < 2 ^ 32) ks -> forall r x, (r + length ks <= 6)%nat -> block_ok 24 x ->
  planes_of (plane_1_after (r + length ks)) (plane_2_after (r + length ks)) (run_words (rounds_steps r ks) x) =
  fold_left Xoodoo.round ks (planes_of (plane_1_after r) (plane_2_after r) x).
Proof.
  induction 1 as [|k ks K _ IH]; intros r x R OK; cbn [rounds_steps fold_left length] in *; [rewrite Nat.add_0_r; reflexivity|].
  rewrite run_words_app, <- round_steps_are by (lia || assumption).
  replace (r + S (length ks))%nat with (S r + length ks)%nat by lia; apply IH; [lia|].
  apply run_ok; [apply round_steps_ok; [lia|exact K]|exact OK].
Qed.

Lemma constants_small : Forall (fun k => k < 2 ^ 32) (skipn 6 Xoodoo.round_constants).
Proof. repeat constructor. Qed.

(** ** Blocks *)

Definition block_words (x : list byte) : list N := words_of (Xoodoo.planes x).

Lemma block_words_ok x : is_block x -> block_ok 12 (block_words x) /\ in_lanes 4 (block_words x) = x.
Proof.
  intro B; destruct (planes_are x B) as (O & _ & E); destruct (words_ok _ O) as (H & _ & F); split; [exact H|].
  unfold block_words; rewrite <- F; exact E.
Qed.

Lemma blocks_again l : Forall is_block l -> map (in_lanes 4) (map block_words l) = l.
Proof.
  intro F; rewrite map_map; rewrite <- (map_id l) at 2; apply map_ext_in; intros x J; apply block_words_ok.
  exact (proj1 (Forall_forall _ _) F x J).
Qed.

Lemma words_of_blocks l : Forall is_block l -> Forall (block_ok 12) (map block_words l).
Proof. intro F; apply Forall_map; eapply Forall_impl; [|exact F]; intros x X; apply block_words_ok, X. Qed.

Definition out_words (x : list N) : list N := map (fun i => nth i x 0) state_order.

Lemma six_rounds x : block_ok 24 x -> planes_of (plane_1_after 6) (plane_2_after 6) (run_words permute_steps x) =
  fold_left Xoodoo.round (skipn 6 Xoodoo.round_constants) (planes_of (plane_1_after 0) (plane_2_after 0) x).
Proof. exact (rounds_steps_are (skipn 6 Xoodoo.round_constants) constants_small 0 x (le_n 6)). Qed.

Lemma out_words_are x : words_of (planes_of (plane_1_after 6) (plane_2_after 6) x) = out_words x.
Proof. reflexivity. Qed.

Lemma begins_with x t : state_ok x -> planes_of (plane_1_after 0) (plane_2_after 0) (words_of x ++ t) = x.
Proof. intro O; twelve x O; reflexivity. Qed.

Opaque permute_steps.

Lemma permute_steps_are x t : is_block x -> block_ok 12 t ->
  in_lanes 4 (out_words (run_words permute_steps (block_words x ++ t))) = Xoofff.p x /\
  block_ok 12 (out_words (run_words permute_steps (block_words x ++ t))).
Proof.
  intros B [LT ST]; destruct (planes_are x B) as (O & _ & _).
  assert (OK : block_ok 24 (block_words x ++ t)).
  { destruct (block_words_ok x B) as [[L S] _]; split; [rewrite app_length; lia|apply Forall_app; split; assumption]. }
  pose proof (six_rounds _ OK) as R; unfold block_words at 2 in R; rewrite begins_with in R by exact O.
  rewrite <- out_words_are, R; destruct (rounds_are false (skipn 6 Xoodoo.round_constants) constants_small _ O) as [_ OR].
  destruct (words_ok _ OR) as (W & _ & F); split; [symmetry; exact F|exact W].
Qed.

Lemma xor_in_lanes w a : forall b, length a = length b -> xor (in_lanes w a) (in_lanes w b) = in_lanes w (xor a b).
Proof.
  induction a as [|x a IH]; intros [|y b] L; cbn [length] in L; try discriminate; [reflexivity|].
  cbn [in_lanes flat_map xor]; rewrite xor_apart, xor_little_endian by (rewrite !little_endian_length; reflexivity).
  f_equal; apply IH; congruence.
Qed.

Lemma masked_steps_are x y : is_block x -> is_block y ->
  run_words masked_steps (block_words x ++ block_words y) = block_words (xor x y) ++ block_words y.
Proof.
  intros X Y; destruct (planes_are x X) as (OX & _ & EX); destruct (planes_are y Y) as (OY & _ & EY).
  rewrite <- EX at 2; rewrite <- EY at 2; unfold block_words; set (a := Xoodoo.planes x) in *; set (b := Xoodoo.planes y) in *.
  destruct (words_ok a OX) as ([LA _] & _ & ->); destruct (words_ok b OY) as ([LB _] & _ & ->).
  clearbody a b; rewrite xor_in_lanes by congruence; clear EX EY LA LB.
  twelve a OX; twelve b OY; cbn [words_of concat app xor].
  match goal with |- context [Xoodoo.planes (in_lanes 4 [?a; ?b; ?c; ?d; ?e; ?f; ?g; ?h; ?i; ?j; ?k; ?l])] =>
    change (in_lanes 4 [a; b; c; d; e; f; g; h; i; j; k; l]) with (Xoodoo.bytes [[a; b; c; d]; [e; f; g; h]; [i; j; k; l]]) end.
  match goal with |- context [Xoodoo.planes (Xoodoo.bytes ?z)] => assert (OZ : state_ok z) by
    (split; [reflexivity|]; repeat constructor; word); destruct (bytes_are _ OZ) as (_ & -> & _) end.
  reflexivity.
Qed.

(** ** The words of a state as a shift register *)

Definition shifted (q : sequence) (l : list N) : list N := tl l ++ [new_word q (nth 0 l 0) (nth 1 l 0) (nth 2 l 0)].

(** With the n words after them. *)
Fixpoint long (q : sequence) (n : nat) (l : list N) : list N :=
  match n with O => l | S n => hd 0 l :: long q n (shifted q l) end.

Fixpoint states {A} (f : A -> A) (n : nat) (x : A) : list A := match n with O => [] | S n => x :: states f n (f x) end.
Fixpoint after {A} (f : A -> A) (n : nat) (x : A) : A := match n with O => x | S n => after f n (f x) end.

Definition order_of (x : list byte) : list N := map (fun i => nth i (block_words x) 0) in_order.

Definition register (q : sequence) (x : list byte) : list byte := in_lanes 4 (long q 4 (order_of x)).

Lemma order_ok x : is_block x -> block_ok 12 (order_of x).
Proof.
  intro B; destruct (block_words_ok x B) as [[L S] _]; split; [reflexivity|]; apply Forall_map, Forall_forall.
  intros i _; apply nth_small, S.
Qed.

Lemma rolled_block q x : is_block x -> is_block (rolled q x).
Proof. intro B; exact (proj2 (iter_is q x 1 B)). Qed.

Lemma order_rolled q x : is_block x -> order_of (rolled q x) = shifted q (order_of x).
Proof.
  intro B; destruct (planes_are x B) as (O & _ & _); rewrite (rolled_is q x B); unfold order_of, block_words.
  destruct (bytes_are _ (rolled_ok q _ O)) as (_ & -> & _).
  set (a := Xoodoo.planes x) in *; clearbody a; twelve a O; reflexivity.
Qed.

Lemma shifted_length q l : length l = 12%nat -> length (shifted q l) = 12%nat.
Proof. intro L; unfold shifted; rewrite app_length; destruct l; cbn [length tl] in *; lia. Qed.

Lemma long_begins q n : forall l i, length l = 12%nat -> (i < 12)%nat -> nth i (long q n l) 0 = nth i l 0.
Proof.
  induction n as [|n IH]; intros l i L I; [reflexivity|]; cbn [long].
  destruct l as [|a l]; [discriminate|]; destruct i as [|i]; [reflexivity|]; cbn [nth].
  cbn [length] in L; rewrite IH by (lia || apply shifted_length, L); unfold shifted; cbn [tl]; apply app_nth1; lia.
Qed.

Lemma long_length q n : forall l, length l = 12%nat -> length (long q n l) = (n + 12)%nat.
Proof. induction n as [|n IH]; intros l L; [exact L|]; cbn [long length]; rewrite IH by apply shifted_length, L; reflexivity. Qed.

Lemma skipn_is {A} (d : A) i : forall l, (i < length l)%nat -> skipn i l = nth i l d :: skipn (S i) l.
Proof. induction i as [|i IH]; intros [|a l] L; cbn [length] in L; try lia; [reflexivity|]; apply IH; lia. Qed.

Lemma window q i n : (i < 12)%nat -> forall k l, length l = 12%nat -> (n <= k)%nat ->
  map (fun l => nth i l 0) (states (shifted q) n l) = firstn n (skipn i (long q k l)).
Proof.
  intro I; induction n as [|n IH]; intros k l L K; [reflexivity|]; destruct k as [|k]; [lia|].
  rewrite (skipn_is 0) by (rewrite long_length by exact L; lia); rewrite long_begins by assumption; cbn [states map firstn].
  rewrite (IH k) by (lia || apply shifted_length, L); reflexivity.
Qed.

Lemma long_after q n : forall k l, skipn n (long q (n + k) l) = long q k (after (shifted q) n l).
Proof. induction n as [|n IH]; intros k l; [reflexivity|]; apply IH. Qed.

Lemma orders q n : forall x, is_block x -> map order_of (states (rolled q) n x) = states (shifted q) n (order_of x) /\
  order_of (after (rolled q) n x) = after (shifted q) n (order_of x) /\
  Forall is_block (states (rolled q) n x) /\ is_block (after (rolled q) n x).
Proof.
  induction n as [|n IH]; intros x B; cbn [states after map]; [auto|].
  destruct (IH _ (rolled_block q x B)) as (E & F & G & H); rewrite E, F, order_rolled by exact B; auto.
Qed.

Lemma states_length {A} (f : A -> A) n : forall x, length (states f n x) = n.
Proof. induction n as [|n IH]; intro x; cbn [states length]; auto. Qed.

(** ** Registers of sixteen words *)

Lemma firstn_in_lanes k : forall l, firstn (4 * k) (in_lanes 4 l) = in_lanes 4 (firstn k l).
Proof.
  induction k as [|k IH]; intros l; [reflexivity|]; replace (4 * S k)%nat with (S (S (S (S (4 * k))))) by lia.
  destruct l as [|a l]; [reflexivity|]; cbn [in_lanes flat_map little_endian app firstn]; do 4 f_equal; apply IH.
Qed.

Lemma skipn_in_lanes k : forall l, skipn (4 * k) (in_lanes 4 l) = in_lanes 4 (skipn k l).
Proof.
  induction k as [|k IH]; intros l; [reflexivity|]; replace (4 * S k)%nat with (S (S (S (S (4 * k))))) by lia.
  destruct l as [|a l]; [reflexivity|]; cbn [in_lanes flat_map little_endian app skipn]; apply IH.
Qed.

Lemma in_lanes_app a b : in_lanes 4 (a ++ b) = in_lanes 4 a ++ in_lanes 4 b.
Proof. apply flat_map_app. Qed.

Lemma turn_in_lanes j k l : j = (4 * k)%nat -> turn j (in_lanes 4 l) = in_lanes 4 (turn k l).
Proof. intros ->; unfold turn; rewrite skipn_in_lanes, firstn_in_lanes, in_lanes_app; reflexivity. Qed.

Definition aligned_words (k : nat) (low high : list N) : list N := firstn 16 (skipn k (low ++ high)).

Lemma aligned_in_lanes k u w : aligned k (in_lanes 4 u) (in_lanes 4 w) = in_lanes 4 (aligned_words k u w).
Proof. unfold aligned; rewrite <- in_lanes_app, skipn_in_lanes; exact (firstn_in_lanes 16 _). Qed.

Definition new_of (q : sequence) (a b c : list N) : list N :=
  map (fun t => new_word q (fst (fst t)) (snd (fst t)) (snd t)) (combine (combine a b) c).

Lemma map_combine {A B} : forall (a : list A) (b : list B), length a = length b ->
  map fst (combine a b) = a /\ map snd (combine a b) = b.
Proof.
  induction a as [|x a IH]; intros [|y b] L; cbn [length] in L; try discriminate; [auto|]; cbn [combine map].
  destruct (IH b ltac:(congruence)) as [-> ->]; auto.
Qed.

Local Transparent new_word.
Lemma new_lanes_are lanes q a b c : length a = lanes -> length b = lanes -> length c = lanes ->
  small (2 ^ 32) a -> small (2 ^ 32) b ->
  new_lanes lanes q (in_lanes 4 a) (in_lanes 4 b) (in_lanes 4 c) = in_lanes 4 (new_of q a b c).
Proof.
  intros LA LB LC SA SB; unfold new_of; set (l := combine (combine a b) c).
  destruct (map_combine a b ltac:(congruence)) as [EA EB].
  destruct (map_combine (combine a b) c ltac:(rewrite combine_length; lia)) as [EAB EC]; fold l in EAB, EC.
  assert (LL : length l = lanes) by (unfold l; rewrite !combine_length; lia).
  assert (FA : a = map (fun t => fst (fst t)) l) by (rewrite <- map_map, EAB; symmetry; exact EA).
  assert (FB : b = map (fun t => snd (fst t)) l) by (rewrite <- map_map, EAB; symmetry; exact EB).
  assert (FC : c = map (fun t => snd t) l) by (symmetry; exact EC).
  clearbody l; rewrite FA in SA; rewrite FB in SB; rewrite FA, FB, FC, <- LL; clear - SA SB; unfold small in *.
  rewrite Forall_map in SA, SB; destruct q; unfold new_lanes, new_word.
  - rewrite rotate_many, shift_left_many, !xor_many by (assumption || discriminate || lia); f_equal; apply map_ext; intro t.
    rewrite N.lxor_assoc, N.lxor_comm; reflexivity.
  - rewrite !rotate_many, and_many, constant_many, !xor_many by (assumption || lia); reflexivity.
Qed.
Local Opaque new_word.

Definition next_words (q : sequence) (u : list N) : list N :=
  let w := new_of q (turn 4 u) (turn 5 u) (turn 6 u) in
  let k := known_words q in
  let t := new_of q (aligned_words (4 + k) u w) (aligned_words (5 + k) u w) (aligned_words (min (6 + k) 16) u w) in
  aligned_words (16 - k) (turn k w) t.

Lemma new_of_ok q a b c n : block_ok n a -> block_ok n b -> block_ok n c -> block_ok n (new_of q a b c).
Proof.
  intros [LA SA] [LB SB] [LC SC]; split; [unfold new_of; rewrite map_length, !combine_length; lia|].
  apply Forall_map, Forall_forall; intros [[x y] z] J; cbn [fst snd].
  pose proof (in_combine_l _ _ _ _ J) as J1; pose proof (in_combine_r _ _ _ _ J) as J2.
  unfold small in *; rewrite Forall_forall in SA, SB, SC.
  apply new_word_small; [exact (SA _ (in_combine_l _ _ _ _ J1))|exact (SB _ (in_combine_r _ _ _ _ J1))|exact (SC _ J2)].
Qed.

Lemma small_part k n x : small (2 ^ 32) x -> small (2 ^ 32) (firstn n (skipn k x)).
Proof.
  unfold small; intro S; rewrite <- (firstn_skipn k x) in S; apply Forall_app in S as [_ S].
  rewrite <- (firstn_skipn n (skipn k x)) in S; apply Forall_app in S; apply S.
Qed.

Lemma turn_ok k n u : (k <= n)%nat -> block_ok n u -> block_ok n (turn k u).
Proof.
  intros K [L S]; split; unfold turn; [rewrite app_length, skipn_length, firstn_length; lia|].
  unfold small in *; rewrite <- (firstn_skipn k u) in S; apply Forall_app in S; apply Forall_app; split; apply S.
Qed.

Lemma aligned_ok k u w : (k <= 16)%nat -> block_ok 16 u -> block_ok 16 w -> block_ok 16 (aligned_words k u w).
Proof.
  intros K [LU SU] [LW SW]; split; unfold aligned_words.
  - rewrite firstn_length, skipn_length, app_length; lia.
  - apply small_part, Forall_app; split; assumption.
Qed.

Lemma next_register_words q u : block_ok 16 u -> next_register q (in_lanes 4 u) = in_lanes 4 (next_words q u).
Proof.
  intro U; assert (K : (known_words q <= 11)%nat) by (destruct q; cbn; lia).
  pose proof (turn_ok 4 16 u ltac:(lia) U) as T4; pose proof (turn_ok 5 16 u ltac:(lia) U) as T5.
  pose proof (turn_ok 6 16 u ltac:(lia) U) as T6; pose proof (new_of_ok q _ _ _ _ T4 T5 T6) as W.
  unfold next_register; rewrite (turn_in_lanes 16 4), (turn_in_lanes 20 5), (turn_in_lanes 24 6) by reflexivity.
  rewrite new_lanes_are by (apply T4 || apply T5 || apply T6); unfold next_words.
  set (w := new_of q (turn 4 u) (turn 5 u) (turn 6 u)) in *; set (k := known_words q) in *; clearbody w k.
  rewrite !aligned_in_lanes, (turn_in_lanes (4 * k) k) by reflexivity.
  pose proof (aligned_ok (4 + k) u w ltac:(lia) U W) as A4; pose proof (aligned_ok (5 + k) u w ltac:(lia) U W) as A5.
  pose proof (aligned_ok (min (6 + k) 16) u w ltac:(lia) U W) as A6.
  rewrite new_lanes_are by (apply A4 || apply A5 || apply A6); apply aligned_in_lanes.
Qed.

Lemma shifted_ok q l : block_ok 12 l -> block_ok 12 (shifted q l).
Proof.
  intros [L S]; split; [apply shifted_length, L|]; pose proof (fun i => nth_small l i S) as W.
  apply Forall_app; split; [destruct S; [constructor|assumption]|constructor; [apply new_word_small; apply W|constructor]].
Qed.

Lemma long_ok q n : forall l, block_ok 12 l -> block_ok (n + 12) (long q n l).
Proof.
  induction n as [|n IH]; intros l O; [exact O|]; cbn [long Nat.add]; destruct (IH _ (shifted_ok q l O)) as [L S].
  split; [cbn [length]; congruence|]; constructor; [|exact S]; destruct O as [_ O]; destruct O; [reflexivity|assumption].
Qed.

Ltac twelve_of l H := let L := fresh "L" in destruct H as [L _]; do 12 (destruct l as [|? l]; [discriminate L|]);
  destruct l; [|discriminate L]; clear L.

Lemma next_words_are q l : block_ok 12 l -> next_words q (long q 4 l) = skipn 16 (long q 20 l).
Proof. intro H; twelve_of l H; destruct q; reflexivity. Qed.

Lemma long_joined q l : block_ok 12 l -> long q 4 l ++ skipn 16 (long q 20 l) = long q 20 l.
Proof. intro H; twelve_of l H; reflexivity. Qed.

(** The register of the state after sixteen. *)
Lemma next_register_is q x : is_block x ->
  next_register q (register q x) = register q (after (rolled q) 16 x) /\
  register q x ++ next_register q (register q x) = in_lanes 4 (long q 20 (order_of x)).
Proof.
  intro B; pose proof (order_ok x B) as O; unfold register at 1 3 4; rewrite next_register_words by exact (long_ok q 4 _ O).
  rewrite next_words_are by exact O; split.
  - rewrite (long_after q 16 4); destruct (orders q 16 x B) as (_ & E & _); unfold register; rewrite E; reflexivity.
  - rewrite <- in_lanes_app, long_joined by exact O; reflexivity.
Qed.

Lemma first_register_is q x : is_block x -> first_register q (in_lanes 4 (order_of x)) = register q x.
Proof.
  intro B; pose proof (order_ok x B) as O; unfold register; set (l := order_of x) in *; clearbody l.
  destruct O as [L S]; do 12 (destruct l as [|? l]; [discriminate L|]); destruct l; [|discriminate L]; clear L.
  unfold small in S; repeat match goal with S : Forall _ (_ :: _) |- _ => inversion S; subst; clear S end.
  unfold first_register.
  change (row 0 (in_lanes 4 [n; n0; n1; n2; n3; n4; n5; n6; n7; n8; n9; n10])) with (in_lanes 4 [n; n0; n1; n2]).
  change (firstn 16 (skipn 4 (in_lanes 4 [n; n0; n1; n2; n3; n4; n5; n6; n7; n8; n9; n10]))) with (in_lanes 4 [n0; n1; n2; n3]).
  change (firstn 16 (skipn 8 (in_lanes 4 [n; n0; n1; n2; n3; n4; n5; n6; n7; n8; n9; n10]))) with (in_lanes 4 [n1; n2; n3; n4]).
  rewrite new_lanes_are by (reflexivity || unfold small; repeat constructor; assumption).
  rewrite <- in_lanes_app; reflexivity.
Qed.

Lemma windows_are q x : is_block x ->
  windows (in_lanes 4 (long q 20 (order_of x))) = registers 12 (map block_words (states (rolled q) 16 x)).
Proof.
  intro B; unfold windows, registers; apply map_ext_in; intros i I; apply in_seq in I.
  rewrite skipn_in_lanes; change 64%nat with (4 * 16)%nat; rewrite firstn_in_lanes.
  assert (P : (place_of i < 12)%nat) by (clear - I; do 12 (destruct i as [|i]; [cbn; lia|]); lia).
  rewrite <- (window q _ 16 P 20) by (lia || apply (order_ok x B)).
  destruct (orders q 16 x B) as (<- & _); unfold word_register; rewrite !map_map; f_equal; apply map_ext; intro y.
  unfold order_of; generalize (block_words y) as l; clear - I; intro l; do 12 (destruct i as [|i]; [reflexivity|]); lia.
Qed.

(** ** Sixteen blocks *)

Lemma registers_join {A} (f g : A -> list N) l : (forall a, In a l -> length (f a) = 12%nat) ->
  registers 12 (map f l) ++ registers 12 (map g l) = registers 24 (map (fun a => f a ++ g a) l).
Proof.
  intro H; unfold registers; change (seq 0 24) with (seq 0 12 ++ map (fun i => 12 + i)%nat (seq 0 12)); rewrite map_app, map_map.
  f_equal; apply map_ext_in; intros i I; apply in_seq in I; unfold word_register; rewrite !map_map; f_equal;
    apply map_ext_in; intros a J; specialize (H a J).
  - symmetry; apply app_nth1; lia.
  - rewrite app_nth2 by lia; f_equal; lia.
Qed.

Lemma ordered_registers l : ordered_words (registers 24 l) = registers 12 (map out_words l).
Proof.
  unfold registers at 2; unfold word_register; cbn [seq map]; rewrite !map_map; unfold out_words, state_order; cbn [map nth].
  reflexivity.
Qed.

Local Transparent permute_steps.
Lemma masked_steps_ok : program_ok 24 (masked_steps ++ permute_steps) = true.
Proof. vm_compute; reflexivity. Qed.

Lemma permute_steps_ok : program_ok 24 permute_steps = true.
Proof. vm_compute; reflexivity. Qed.

Opaque permute_steps.

(** Sixteen states, whose words are in registers, are permuted. *)
Lemma run_sixteen {A} p (f g : A -> list N) (h : A -> list byte) l : program_ok 24 p = true -> length l = 16%nat ->
  (forall a, In a l -> block_ok 12 (f a) /\ block_ok 12 (g a) /\
     in_lanes 4 (out_words (run_words p (f a ++ g a))) = h a /\ block_ok 12 (out_words (run_words p (f a ++ g a)))) ->
  transposed 16 (ordered_words (run_bytes 16 p (registers 12 (map f l) ++ registers 12 (map g l)))) = map h l.
Proof.
  intros P L H; rewrite registers_join by (intros a J; apply (H a J)).
  assert (OK : Forall (block_ok 24) (map (fun a => f a ++ g a) l)).
  { apply Forall_map, Forall_forall; intros a J; destruct (H a J) as ([LF SF] & [LG SG] & _).
    split; [rewrite app_length; lia|apply Forall_app; split; assumption]. }
  pose proof (run_lanes 24 p P _ OK) as R; rewrite map_length, L in R; rewrite R, ordered_registers.
  assert (OUT : Forall (block_ok 12) (map out_words (map (run_words p) (map (fun a => f a ++ g a) l)))).
  { rewrite !map_map; apply Forall_map, Forall_forall; intros a J; apply (H a J). }
  pose proof (transposed_registers 12 _ OUT) as T; rewrite !map_length, L in T; rewrite T, !map_map.
  apply map_ext_in; intros a J; apply (H a J).
Qed.

Lemma absorb_blocks_are cs : forall d, Xoofff.absorb_blocks d cs =
  Xoofff.Deck (fold_left xor (map (fun cm => Xoofff.p (xor (fst cm) (snd cm)))
    (combine cs (states Xoofff.roll_c (length cs) (Xoofff.mask d)))) (Xoofff.acc d)) (after Xoofff.roll_c (length cs) (Xoofff.mask d)).
Proof.
  induction cs as [|c cs IH]; intros [acc m]; [reflexivity|].
  change (Xoofff.absorb_blocks (Xoofff.Deck acc m) (c :: cs)) with
    (Xoofff.absorb_blocks (Xoofff.absorb_block (Xoofff.Deck acc m) c) cs); rewrite IH; reflexivity.
Qed.

Lemma squeeze_blocks_are m n : forall y, Xoofff.squeeze_blocks m y n =
  (after Xoofff.roll_e n y, map (fun y => xor (Xoofff.p y) m) (states Xoofff.roll_e n y)).
Proof.
  induction n as [|n IH]; intro y; [reflexivity|]; cbn [Xoofff.squeeze_blocks]; rewrite IH; reflexivity.
Qed.

Lemma split_blocks k input : length input = (48 * k)%nat -> small 256 input ->
  length (split 48 k input) = k /\ Forall is_block (split 48 k input).
Proof.
  intros L S; split; [apply split_length|]; pose proof (split_blocks_from k 0 input) as E.
  change (48 * 0)%nat with 0%nat in E; rewrite skipn_O in E; rewrite E; apply Forall_map, Forall_forall; intros i I.
  apply in_seq in I; apply (nth_block_is k); [lia|exact L|exact S].
Qed.

Lemma two_parts (x y : list byte) : length x = 48%nat -> firstn 48 (x ++ y) = x /\ skipn 48 (x ++ y) = y.
Proof.
  intro L; rewrite firstn_app, skipn_app, L, Nat.sub_diag, firstn_O, skipn_O, app_nil_r, firstn_all2, skipn_all2 by lia.
  auto.
Qed.

Lemma fold_blocks l : Forall is_block l -> forall acc, is_block acc -> is_block (fold_left xor l acc).
Proof. induction 1 as [|b l B _ IH]; intros acc A; cbn [fold_left]; [exact A|]; apply IH, xor_blocks; assumption. Qed.

Lemma p_block x : is_block x -> is_block (Xoofff.p x).
Proof.
  intro B; destruct (planes_are x B) as (O & _); destruct (rounds_are false _ constants_small _ O) as [_ R].
  apply (bytes_are _ R).
Qed.

Theorem absorb_sixteen_is d input : deck_ok d -> length input = 768%nat -> small 256 input ->
  let e := Xoofff.absorb_blocks d (split 48 16 input) in
  absorb_sixteen (Xoofff.acc d ++ register Masks (Xoofff.mask d)) input = Xoofff.acc e ++ register Masks (Xoofff.mask e) /\
  deck_ok e.
Proof.
  intros [A M] L S; destruct d as [acc m]; cbn [Xoofff.acc Xoofff.mask] in *; cbv zeta.
  destruct (split_blocks 16 input L S) as [LC FC]; set (cs := split 48 16 input) in *.
  destruct (next_register_is Masks m M) as [NR J]; destruct (orders Masks 16 m M) as (_ & _ & FM & MA).
  rewrite absorb_blocks_are, LC; cbn [Xoofff.acc Xoofff.mask]; change (rolled Masks) with Xoofff.roll_c in *.
  set (l := combine cs (states Xoofff.roll_c 16 m)).
  assert (BL : forall cm, In cm l -> is_block (fst cm) /\ is_block (snd cm)).
  { intros [c k] I; rewrite Forall_forall in FC, FM; split; [exact (FC _ (in_combine_l _ _ _ _ I))|exact (FM _ (in_combine_r _ _ _ _ I))]. }
  assert (LL : length l = 16%nat) by (unfold l; rewrite combine_length, states_length; lia).
  assert (E : transposed 16 (ordered_words (run_bytes 16 (masked_steps ++ permute_steps)
    (transposed 12 cs ++ windows (in_lanes 4 (long Masks 20 (order_of m)))))) =
    map (fun cm => Xoofff.p (xor (fst cm) (snd cm))) l).
  { rewrite (windows_are Masks m M); change (rolled Masks) with Xoofff.roll_c.
    rewrite <- (blocks_again cs FC) at 1; rewrite transposed_blocks by apply words_of_blocks, FC.
    destruct (map_combine cs (states Xoofff.roll_c 16 m)) as [E1 E2]; [rewrite states_length; exact LC|]; fold l in E1, E2.
    rewrite <- E1 at 1; rewrite <- E2, !map_map.
    apply run_sixteen; [exact masked_steps_ok|exact LL|]; intros cm I; destruct (BL cm I) as [B1 B2].
    split; [apply block_words_ok, B1|]; split; [apply block_words_ok, B2|].
    rewrite run_words_app, masked_steps_are by assumption; apply permute_steps_are; [apply xor_blocks; assumption|].
    apply block_words_ok, B2. }
  unfold absorb_sixteen; destruct (two_parts acc (register Masks m) (proj1 A)) as [-> ->]; fold cs.
  rewrite J, E, NR; split; [reflexivity|]; split; cbn [Xoofff.acc Xoofff.mask]; [|exact MA].
  apply fold_blocks; [|exact A]; apply Forall_map, Forall_forall; intros cm I; destruct (BL cm I); apply p_block, xor_blocks; assumption.
Qed.

Theorem squeeze_sixteen_is m y : is_block m -> is_block y -> let r := Xoofff.squeeze_blocks m y 16 in
  squeeze_sixteen (m ++ register Outputs y) = (m ++ register Outputs (fst r), concat (snd r)).
Proof.
  intros M Y; cbv zeta; rewrite squeeze_blocks_are; cbn [fst snd].
  destruct (next_register_is Outputs y Y) as [NR J]; destruct (orders Outputs 16 y Y) as (_ & _ & FY & _).
  change (rolled Outputs) with Xoofff.roll_e in *.
  set (l := states Xoofff.roll_e 16 y) in *.
  assert (E : transposed 16 (ordered_words (run_bytes 16 permute_steps
    (windows (in_lanes 4 (long Outputs 20 (order_of y))) ++ windows (in_lanes 4 (long Outputs 20 (order_of y)))))) =
    map Xoofff.p l).
  { rewrite (windows_are Outputs y Y); change (rolled Outputs) with Xoofff.roll_e; fold l.
    apply run_sixteen; [exact permute_steps_ok|apply states_length|]; intros z I.
    pose proof (proj1 (Forall_forall _ _) FY z I) as B; pose proof (proj1 (block_words_ok z B)) as W.
    split; [exact W|]; split; [exact W|]; apply permute_steps_are; assumption. }
  unfold squeeze_sixteen; destruct (two_parts m (register Outputs y) (proj1 M)) as [-> ->].
  rewrite J, E, NR, flat_map_concat_map, map_map; reflexivity.
Qed.
