(** * ChaChaPairs: what kernels of ChaCha compute with the rows of two blocks in each register

    They carry the last rows of two blocks, and add two to the numbers of both for the next two. *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Symbolic ArxSymbolic ArxRounds ChaChaRows Call Loop Operations ChaChaKernels.
From Veriplex Require ChaCha.
Import ListNotations.

Definition no_more : list byte := zero 16.
Definition two : list byte := 2%N :: zero 15.

Section Pairs.
Variables (rounds pairs : nat).

Local Notation block_of := (xor_block true (rounds / 2) diagonals columns_again).
Local Notation sblock_of := (sxor_block true (rounds / 2) diagonals columns_again).

(** The first three rows, the last of two blocks, and the input: the output, and the last rows of the next two. *)
Fixpoint xor_pairs (first : list byte) (k : nat) (c d input : list byte) : list byte * (list byte * list byte) :=
  match k with
  | O => ([], (c, d))
  | S k =>
      let r := xor_pairs first k (plus_lanes 8 c two) (plus_lanes 8 d two) (skipn 64 (skipn 64 input)) in
      (block_of first c (firstn 64 input) ++ block_of first d (firstn 64 (skipn 64 input)) ++ fst r, snd r)
  end.

Fixpoint sxor_pairs (first : list sbyte) (k : nat) (c d input : list sbyte) (nodes : list node) :
    option ((list sbyte * (list sbyte * list sbyte)) * list node) :=
  match k with
  | O => Some (([], (c, d)), nodes)
  | S k =>
      let? (x, nodes) := sblock_of first c (firstn 64 input) nodes in
      let? (y, nodes) := sblock_of first d (firstn 64 (skipn 64 input)) nodes in
      let? (c, nodes) := splus 8 c (map const two) nodes in
      let? (d, nodes) := splus 8 d (map const two) nodes in
      let? (r, nodes) := sxor_pairs first k c d (skipn 64 (skipn 64 input)) nodes in
      Some ((x ++ y ++ fst r, snd r), nodes)
  end.

Lemma sxor_pairs_finds env first k : forall c d input nodes,
  finds env (sxor_pairs first k c d input nodes) nodes
    (fun r => (evs env (fst r), (evs env (fst (snd r)), evs env (snd (snd r)))) =
      xor_pairs (evs env first) k (evs env c) (evs env d) (evs env input)).
Proof.
  induction k as [|k IH]; intros c d input nodes; cbn [sxor_pairs]; [apply finds_some; reflexivity|].
  eapply finds_bind; [apply sxor_block_finds|]; intros x n1; cbv beta.
  eapply finds_bind; [apply sxor_block_finds|]; intros y n2; cbv beta.
  eapply finds_bind; [apply splus_finds|]; intros c1 n3; cbv beta.
  eapply finds_bind; [apply splus_finds|]; intros d1 n4; cbv beta.
  eapply finds_bind; [apply IH|]; intros r n5; cbv beta.
  apply finds_some; intros R D C Y X; cbn [fst snd xor_pairs].
  rewrite evs_const in C, D; rewrite !evs_skipn, C, D in R; rewrite evs_firstn in X; rewrite evs_firstn, evs_skipn in Y.
  rewrite !evs_app, <- R, X, Y; reflexivity.
Qed.

Definition pairs_enter (s : list byte) : list byte := plus_lanes 8 s no_more ++ plus_lanes 8 s one.

Definition pairs_enter_symbols (s : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  let? (c, nodes) := splus 8 s (map const no_more) nodes in
  let? (d, nodes) := splus 8 s (map const one) nodes in Some (c ++ d, nodes).

Lemma pairs_enters env s nodes t nodes' : pairs_enter_symbols s nodes = Some (t, nodes') -> consistent env nodes' ->
  pairs_enter (evs env s) = evs env t.
Proof.
  intro E; assert (F : finds env (pairs_enter_symbols s nodes) nodes (fun t => pairs_enter (evs env s) = evs env t)).
  { unfold pairs_enter_symbols; eapply finds_bind; [apply splus_finds|]; intros c n1; cbv beta.
    eapply finds_bind; [apply splus_finds|]; intros d n2; cbv beta.
    apply finds_some; intros D C; rewrite evs_const in C, D; unfold pairs_enter; rewrite evs_app, C, D; reflexivity. }
  exact (proj2 (F t nodes' E)).
Qed.

Definition pairs_bytes (s : list byte) (cs : list (list byte)) : list byte * list (list byte) :=
  let r := xor_pairs (nth 0 cs []) pairs (firstn 16 s) (skipn 16 s) (nth 1 cs []) in (fst (snd r) ++ snd (snd r), [fst r]).

Definition pairs_symbols (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :=
  match sxor_pairs (nth 0 cs []) pairs (firstn 16 s) (skipn 16 s) (nth 1 cs []) nodes with
  | Some (r, nodes) => Some (fst (snd r) ++ snd (snd r), [fst r], nodes)
  | None => None
  end.

Lemma pairs_agree env s cs nodes s' cs' nodes' : pairs_symbols s cs nodes = Some (s', cs', nodes') -> extends nodes nodes' /\
  (consistent env nodes' -> pairs_bytes (evs env s) (map (evs env) cs) = (evs env s', map (evs env) cs')).
Proof.
  unfold pairs_symbols; destruct (sxor_pairs _ _ _ _ _ _) as [[r n]|] eqn:E; [|discriminate]; intro F.
  assert (X : fst (snd r) ++ snd (snd r) = s' /\ [fst r] = cs' /\ n = nodes') by (repeat split; congruence).
  destruct X as (<- & <- & ->); apply (sxor_pairs_finds env) in E as [X S]; split; [exact X|]; intro C; specialize (S C).
  unfold pairs_bytes; rewrite !nth_map_evs, <- evs_firstn, <- evs_skipn, <- S; cbn [fst snd map]; rewrite evs_app; reflexivity.
Qed.

Definition pairs_op : operation :=
  Operation pairs_enter pairs_bytes pairs_enter_symbols pairs_symbols pairs_enters pairs_agree.

(** ** It is ChaCha *)

Section Nonce.
Variable nonce : list byte.
Hypothesis NONCE : length nonce = 8%nat.
Hypothesis NONCE_SMALL : small 256 nonce.

Lemma pairs_enter_is x : pairs_enter (ChaCha.last_row x nonce) = ChaCha.last_row x nonce ++ ChaCha.last_row (x + 1) nonce.
Proof.
  unfold pairs_enter; rewrite next_row by assumption; f_equal.
  rewrite (row_plus x 0 nonce NONCE NONCE_SMALL : plus_lanes 8 _ no_more = _), N.add_0_r; reflexivity.
Qed.

Lemma row_two x : plus_lanes 8 (ChaCha.last_row x nonce) two = ChaCha.last_row (x + 2) nonce.
Proof. exact (row_plus x 2 nonce NONCE NONCE_SMALL). Qed.

Lemma xor_pairs_are first k : forall x input,
  xor_pairs first k (ChaCha.last_row x nonce) (ChaCha.last_row (x + 1) nonce) input =
  (fst (xor_lanes true (rounds / 2) diagonals columns_again first (2 * k) (ChaCha.last_row x nonce) input),
   (ChaCha.last_row (x + N.of_nat (2 * k)) nonce, ChaCha.last_row (x + N.of_nat (2 * k) + 1) nonce)).
Proof.
  induction k as [|k IH]; intros x input; [cbn [xor_pairs xor_lanes Nat.mul fst N.of_nat]; rewrite N.add_0_r; reflexivity|].
  replace (2 * S k)%nat with (S (S (2 * k))) by lia; cbn [xor_pairs xor_lanes]; rewrite !row_two, !next_row by assumption.
  replace (x + 1 + 2)%N with (x + 2 + 1)%N by lia; rewrite IH; replace (x + 1 + 1)%N with (x + 2)%N by lia.
  destruct (xor_lanes _ _ _ _ _ (2 * k) _ _) as [out last]; cbn [fst snd]; f_equal; f_equal; f_equal; lia.
Qed.
End Nonce.

Lemma pairs_op_is key nonce x c : length key = 32%nat -> length nonce = 8%nat -> small 256 key -> small 256 nonce ->
  length c = (64 * (2 * pairs))%nat ->
  on_bytes pairs_op (enter pairs_op (ChaCha.last_row x nonce)) [ChaCha.first_rows key; c] =
  (enter pairs_op (ChaCha.last_row (x + N.of_nat (2 * pairs)) nonce),
   [concat (snd (ChaCha.xor_group rounds key nonce (ChaCha.numbers_from x (2 * pairs)) (split 64 (2 * pairs) c)))]).
Proof.
  intros KL NL KS NS L; cbn [pairs_op on_bytes enter]; rewrite !pairs_enter_is by assumption; unfold pairs_bytes; cbn [nth].
  assert (RL : length (ChaCha.last_row x nonce) = 16%nat).
  { unfold ChaCha.last_row; rewrite app_length, little_endian_length, NL; reflexivity. }
  rewrite firstn_app, skipn_app, RL, Nat.sub_diag, firstn_O, skipn_O, app_nil_r, firstn_all2, skipn_all2 by lia; cbn [app].
  rewrite xor_pairs_are by assumption; rewrite xor_lanes_is by assumption; reflexivity.
Qed.

Lemma pairs_begin nonce x : length nonce = 8%nat -> small 256 nonce ->
  firstn 16 (enter pairs_op (ChaCha.last_row x nonce)) = ChaCha.last_row x nonce.
Proof.
  intros NL NS; cbn [pairs_op enter]; rewrite pairs_enter_is by assumption.
  assert (RL : length (ChaCha.last_row x nonce) = 16%nat).
  { unfold ChaCha.last_row; rewrite app_length, little_endian_length, NL; reflexivity. }
  rewrite firstn_app, RL, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia.
Qed.
End Pairs.

(** A kernel that computes so. *)
Theorem pairs_sound V {P : proper V} code head rounds pairs words constants : 0 <? 2 * pairs = true ->
  checks (abi_of V) (group_kernel V code head (2 * pairs) 32 words constants) (pairs_op rounds pairs) = true ->
  ends_in_return (abi_of V) code -> xors V (2 * pairs) rounds code.
Proof.
  intros K CH EN; apply Nat.ltb_lt in K.
  exact (xor_blocks_sound V code head (2 * pairs) 32 rounds _ _ (pairs_op rounds pairs) (pairs_op_is rounds pairs)
    (pairs_begin rounds pairs) K CH EN).
Qed.
