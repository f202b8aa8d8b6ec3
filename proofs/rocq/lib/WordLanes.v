(** * WordLanes: registers that hold one word of many blocks

    Register i has word i of each block, a block in each lane of 32 bits.  What a kernel computes on such registers is a
    list of steps on words.  [run_words] says what they do to a block, [run_bytes] what they do to registers, and
    [run_symbols] the same on symbolic bytes.  [run_lanes]: the registers of some blocks become those of the blocks that
    [run_words] gives.  [transposed] goes from registers to blocks and back. *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Symbolic ArxSymbolic ArxRounds ChaChaRows Checker Loop.
From Veriplex Require ChaCha.
Import ListNotations.
Local Open Scope N_scope.

(** ** Steps *)

(** A word, from others by their numbers. *)
Inductive expression :=
  | Sum_of (x y : nat)
  | Xor_of (x y : nat)
  | And_of (x y : nat)
  | Without (x y : nat)     (* the second without the bits of the first *)
  | Rotate_of (k x : nat)   (* to the left *)
  | Constant (c : N).

(** A word gets the value of an expression, one after the other. *)
Notation program := (list (nat * expression)).

(** Of a block: its words. *)
Definition word_of (e : expression) (x : list N) : N :=
  match e with
  | Sum_of i j => ChaCha.add_words (nth i x 0) (nth j x 0)
  | Xor_of i j => N.lxor (nth i x 0) (nth j x 0)
  | And_of i j => N.land (nth i x 0) (nth j x 0)
  | Without i j => N.ldiff (nth j x 0) (nth i x 0)
  | Rotate_of k i => ChaCha.rotate_word (nth i x 0) (N.of_nat k)
  | Constant c => c
  end.

Definition run_words (p : program) (x : list N) : list N :=
  fold_left (fun x s => update (fst s) (word_of (snd s) x) x) p x.

(** ** New nodes

    A step makes nodes that are not there yet, unless another piece of the same register has the same content.  So it
    looks at the newest ones only: the others are many. *)

Fixpoint find_newest (few : nat) (n : node) (nodes : list node) : option nat :=
  match few, nodes with
  | S few, m :: r => if node_eqb n m then Some (length r) else find_newest few n r
  | _, _ => None
  end.

Definition intern_new (op : kind) (x : list sbyte) (nodes : list node) : list sbyte * list node :=
  match find_newest 8 (op, x) nodes with
  | Some id => (map atom (atoms_of id), nodes)
  | None => (map atom (atoms_of (length nodes)), (op, x) :: nodes)
  end.

(** Of two pieces of 16 bytes, in the order in which [splus] and [sand] look first. *)
Definition new_of_two (op : kind) (x y : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if (length x =? 16)%nat && (length y =? 16)%nat then Some (intern_new op (y ++ x) nodes) else None.

(** The two shifts of a rotation have no bits in common. *)
Definition new_rotation (k : nat) (x : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  if (length x =? 16)%nat && (k <=? 32)%nat then
    let* (a, nodes) := intern_new (Left 4 k) x nodes in
    let* (b, nodes) := intern_new (Right 4 (32 - k)) x nodes in Some (sxor a b, nodes)
  else None.

(** Of any number of pieces. *)
Definition splus_new (x y : list sbyte) := each_16 (new_of_two (Sum 4)) (length x / 16) x y.
Definition sand_new (x y : list sbyte) := each_16 (new_of_two Conjunction) (length x / 16) x y.
Definition srotate_new (k : nat) (x : list sbyte) := each_16 (fun x _ => new_rotation k x) (length x / 16) x x.

Definition rotated_bits (k : nat) (x : list byte) : list byte := or_bytes (shift_left 4 k x) (shift_right 4 (32 - k) x).

Section New.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation consistent := (consistent env).

Lemma find_newest_is few : forall n nodes id, find_newest few n nodes = Some id -> find_node n nodes = Some id.
Proof.
  induction few as [|few IH]; intros n [|m r] id E; try discriminate; cbn [find_newest find_node] in *.
  destruct (node_eqb n m); [exact E|exact (IH n r id E)].
Qed.

Lemma intern_new_sound op x nodes w nodes' : intern_new op x nodes = (w, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs w = node_value env (op, x)).
Proof.
  unfold intern_new; destruct (find_newest 8 (op, x) nodes) as [id|] eqn:F; intro E.
  - apply (intern_sound env op x nodes); unfold intern; rewrite (find_newest_is _ _ _ _ F); exact E.
  - assert (Q : map atom (atoms_of (length nodes)) = w /\ (op, x) :: nodes = nodes') by (split; congruence); destruct Q as [<- <-].
    split; [exists [(op, x)]; reflexivity|]; intros [C _]; rewrite evs_atom; exact C.
Qed.

Lemma new_of_two_sound op g x y nodes z nodes' :
  (forall u v, length u = 16%nat -> length v = 16%nat -> node_value env (op, v ++ u) = g (evs u) (evs v)) ->
  new_of_two op x y nodes = Some (z, nodes') -> extends nodes nodes' /\ (consistent nodes' -> evs z = g (evs x) (evs y)).
Proof.
  unfold new_of_two; intro G; destruct ((length x =? 16)%nat && (length y =? 16)%nat) eqn:Q; [|discriminate]; intro E.
  apply andb_prop in Q as [LX LY]; apply Nat.eqb_eq in LX, LY.
  assert (F : intern_new op (y ++ x) nodes = (z, nodes')) by congruence.
  apply intern_new_sound in F as [X S]; split; [exact X|]; intro C; rewrite (S C); apply G; assumption.
Qed.

Lemma halves u v : length u = 16%nat -> length v = 16%nat ->
  firstn 16 (evs (v ++ u)) = evs v /\ skipn 16 (evs (v ++ u)) = evs u.
Proof.
  intros U V; rewrite evs_app, firstn_app, skipn_app, evs_length, V, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
  rewrite firstn_all2, skipn_all2 by (rewrite evs_length; lia); split; reflexivity.
Qed.

Lemma splus_new_sound x y nodes z nodes' : splus_new x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = plus_lanes 4 (evs x) (evs y)).
Proof.
  apply (each_16_sound env _ (plus_lanes 4) True); [|reflexivity|intros _ a b c d; apply plus_lanes_app; reflexivity].
  intros u v n t n' _ _ E; split; [exact Logic.I|]; apply (new_of_two_sound (Sum 4) (plus_lanes 4)) in E; [exact E|]; clear; intros u v U V.
  rewrite node_value_is; cbn [fst snd]; destruct (halves u v U V) as [-> ->]; rewrite plus_lanes_comm.
  apply filled_is, plus_lanes_length; rewrite ?evs_length; auto.
Qed.

Lemma sand_new_sound x y nodes z nodes' : sand_new x y nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = and_bytes (evs x) (evs y)).
Proof.
  apply (each_16_sound env _ and_bytes True); [|reflexivity|intros _ a b c d A C; apply and_app; congruence].
  intros u v n t n' _ _ E; split; [exact Logic.I|]; apply (new_of_two_sound Conjunction and_bytes) in E; [exact E|]; clear; intros u v U V.
  rewrite node_value_is; cbn [fst snd]; destruct (halves u v U V) as [-> ->]; rewrite and_comm.
  apply filled_is; rewrite and_length; rewrite !evs_length; congruence.
Qed.

Lemma new_rotation_sound k x nodes z nodes' : new_rotation k x nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = rotated_bits k (evs x)).
Proof.
  unfold new_rotation; destruct ((length x =? 16)%nat && (k <=? 32)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [L K]; apply Nat.eqb_eq in L; apply Nat.leb_le in K.
  destruct (intern_new (Left 4 k) x nodes) as [a n1] eqn:E1; destruct (intern_new (Right 4 (32 - k)) x n1) as [b n2] eqn:E2.
  intro E; assert (F : sxor a b = z /\ n2 = nodes') by (split; congruence); destruct F as [<- <-].
  apply intern_new_sound in E1 as [X1 S1]; apply intern_new_sound in E2 as [X2 S2].
  split; [eapply extends_trans; eassumption|]; intro C; rewrite evs_xor, (S2 C), S1 by (eapply consistent_older; eassumption).
  rewrite !node_value_is; cbn [fst snd].
  rewrite !filled_is by (apply shift_left_length || apply shift_right_length; rewrite ?evs_length; auto).
  symmetry; apply or_is_xor; rewrite ?evs_length; auto; lia.
Qed.

Lemma srotate_new_sound k x nodes z nodes' : srotate_new k x nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = rotated_bits k (evs x)).
Proof.
  apply (each_16_sound env (fun x _ => new_rotation k x) (fun x _ => rotated_bits k x) True); [|reflexivity|].
  - intros u v n t n' _ _ E; split; [exact Logic.I|exact (new_rotation_sound _ _ _ _ _ E)].
  - intros _ a b _ _ A _; unfold rotated_bits; rewrite shift_left_app, shift_right_app by auto.
    apply or_app; rewrite shift_left_length, shift_right_length; auto.
Qed.
End New.

(** ** What steps do to registers with k lanes *)

Section Lanes.
Variable k : nat.

Definition bytes_of (e : expression) (r : list (list byte)) : list byte :=
  match e with
  | Sum_of i j => plus_lanes 4 (nth i r []) (nth j r [])
  | Xor_of i j => xor (nth i r []) (nth j r [])
  | And_of i j => and_bytes (nth i r []) (nth j r [])
  | Without i j => and_bytes (xor (nth i r []) (ones (4 * k))) (nth j r [])
  | Rotate_of n i => rotated_bits n (nth i r [])
  | Constant c => concat (repeat (little_endian 4 c) k)
  end.

Definition run_bytes (p : program) (r : list (list byte)) : list (list byte) :=
  fold_left (fun r s => update (fst s) (bytes_of (snd s) r) r) p r.

Definition symbols_of (e : expression) (r : list (list sbyte)) (nodes : list node) : option (list sbyte * list node) :=
  match e with
  | Sum_of i j => splus_new (nth i r []) (nth j r []) nodes
  | Xor_of i j => Some (sxor (nth i r []) (nth j r []), nodes)
  | And_of i j => sand_new (nth i r []) (nth j r []) nodes
  | Without i j => sand_new (sxor (nth i r []) (map const (ones (4 * k)))) (nth j r []) nodes
  | Rotate_of n i => srotate_new n (nth i r []) nodes
  | Constant c => Some (map const (concat (repeat (little_endian 4 c) k)), nodes)
  end.

Fixpoint run_symbols (p : program) (r : list (list sbyte)) (nodes : list node) : option (list (list sbyte) * list node) :=
  match p with
  | [] => Some (r, nodes)
  | s :: p => let? (a, nodes) := symbols_of (snd s) r nodes in run_symbols p (update (fst s) a r) nodes
  end.

(** Only n words, and rotations and constants that a word has. *)
Definition expression_ok (n : nat) (e : expression) : bool :=
  match e with
  | Sum_of i j | Xor_of i j | And_of i j | Without i j => (i <? n)%nat && (j <? n)%nat
  | Rotate_of k i => (k <=? 32)%nat && (i <? n)%nat
  | Constant c => c <? 2 ^ 32
  end.

Definition program_ok (n : nat) (p : program) : bool := forallb (fun s => (fst s <? n)%nat && expression_ok n (snd s)) p.

(** ** Symbolic bytes *)

Section Meaning.
Variable env : N -> byte.
Local Notation evs := (evs env).

Lemma symbols_of_finds e r nodes : finds env (symbols_of e r nodes) nodes (fun a => evs a = bytes_of e (map evs r)).
Proof.
  assert (Q : forall i, nth i (map evs r) [] = evs (nth i r [])) by (intro i; apply (map_nth evs r [])).
  destruct e as [i j|i j|i j|i j|n i|c]; cbn [symbols_of bytes_of]; rewrite ?Q.
  - intros a nodes'; apply splus_new_sound.
  - apply finds_some, evs_xor.
  - intros a nodes'; apply sand_new_sound.
  - intros a nodes' E; apply (sand_new_sound env) in E as [X S]; split; [exact X|]; intro C.
    rewrite (S C), evs_xor, evs_const; reflexivity.
  - intros a nodes'; apply srotate_new_sound.
  - apply finds_some, evs_const.
Qed.

Lemma run_symbols_finds p : forall r nodes, finds env (run_symbols p r nodes) nodes
  (fun r' => map evs r' = run_bytes p (map evs r)).
Proof.
  induction p as [|s p IH]; intros r nodes; cbn [run_symbols]; [apply finds_some; reflexivity|].
  eapply finds_bind; [apply symbols_of_finds|]; intros a n1; cbv beta.
  intros r' n2 E; destruct (IH _ _ _ _ E) as [X S]; split; [exact X|]; intros C A.
  rewrite (S C), map_update, A; reflexivity.
Qed.
End Meaning.
End Lanes.

(** ** The same word of many blocks *)

Lemma combine_maps {A B C} (f : A -> B) (g : A -> C) l : combine (map f l) (map g l) = map (fun a => (f a, g a)) l.
Proof. induction l as [|a l IH]; cbn [map combine]; [reflexivity|]; rewrite IH; reflexivity. Qed.

Section Many.
Context {A : Type}.
Implicit Types (f g : A -> N) (l : list A).

Lemma plus_many w f g l : w <> 0%nat ->
  plus_lanes w (in_lanes w (map f l)) (in_lanes w (map g l)) = in_lanes w (map (fun a => (f a + g a) mod 256 ^ N.of_nat w) l).
Proof.
  intro W; unfold plus_lanes; rewrite !lanes_in_lanes, !map_map, combine_maps, map_map by exact W; cbn [fst snd].
  apply in_lanes_same; intros a _; rewrite <- N.add_mod, N.mod_mod by (apply N.pow_nonzero; lia); reflexivity.
Qed.

Lemma xor_many w f g l : xor (in_lanes w (map f l)) (in_lanes w (map g l)) = in_lanes w (map (fun a => N.lxor (f a) (g a)) l).
Proof.
  induction l as [|a l IH]; cbn [map in_lanes flat_map]; [reflexivity|].
  rewrite xor_apart, xor_little_endian by (rewrite !little_endian_length; reflexivity); f_equal; exact IH.
Qed.

Lemma or_many w f g l : or_bytes (in_lanes w (map f l)) (in_lanes w (map g l)) = in_lanes w (map (fun a => N.lor (f a) (g a)) l).
Proof.
  induction l as [|a l IH]; cbn [map in_lanes flat_map]; [reflexivity|].
  rewrite or_app, or_little_endian by (rewrite !little_endian_length; reflexivity); f_equal; exact IH.
Qed.

Lemma and_many w f g l : and_bytes (in_lanes w (map f l)) (in_lanes w (map g l)) = in_lanes w (map (fun a => N.land (f a) (g a)) l).
Proof.
  induction l as [|a l IH]; cbn [map in_lanes flat_map]; [reflexivity|].
  rewrite and_app, and_little_endian by (rewrite !little_endian_length; reflexivity); f_equal; exact IH.
Qed.

Lemma without_many w f g l : and_bytes (xor (in_lanes w (map f l)) (ones (w * length l))) (in_lanes w (map g l)) =
  in_lanes w (map (fun a => N.ldiff (g a) (f a)) l).
Proof.
  induction l as [|a l IH]; cbn [map in_lanes flat_map length]; [reflexivity|].
  assert (O : ones (w * S (length l)) = ones w ++ ones (w * length l)).
  { unfold ones; rewrite <- repeat_app; f_equal; lia. }
  assert (L : forall x, length x = w -> length (xor x (ones w)) = w).
  { unfold ones; clear; induction w as [|n IH]; intros [|b x] E; cbn [length repeat xor] in *; auto; discriminate. }
  rewrite O, xor_apart by (unfold ones; rewrite little_endian_length, repeat_length; reflexivity).
  rewrite and_app, inverted_and_little_endian by (rewrite L, ?little_endian_length; apply little_endian_length || reflexivity).
  f_equal; exact IH.
Qed.

Lemma shift_left_many w k f l : w <> 0%nat ->
  shift_left w k (in_lanes w (map f l)) = in_lanes w (map (fun a => f a * 2 ^ N.of_nat k mod 256 ^ N.of_nat w) l).
Proof.
  intro W; rewrite shift_left_is, lanes_in_lanes, !map_map by exact W; apply in_lanes_same; intros a _.
  rewrite N.mul_mod_idemp_l, N.mod_mod by (apply N.pow_nonzero; lia); reflexivity.
Qed.

Lemma shift_right_many w k f l : w <> 0%nat -> Forall (fun a => f a < 256 ^ N.of_nat w) l ->
  shift_right w k (in_lanes w (map f l)) = in_lanes w (map (fun a => f a / 2 ^ N.of_nat k) l).
Proof.
  intros W S; rewrite shift_right_is, lanes_in_lanes, !map_map by exact W; apply in_lanes_same; intros a J.
  rewrite (N.mod_small (f a)); [reflexivity|exact (proj1 (Forall_forall _ _) S a J)].
Qed.

Lemma rotate_many k f l : (k <= 32)%nat -> Forall (fun a => f a < 2 ^ 32) l ->
  rotated_bits k (in_lanes 4 (map f l)) = in_lanes 4 (map (fun a => ChaCha.rotate_word (f a) (N.of_nat k)) l).
Proof.
  intros K S; unfold rotated_bits; rewrite shift_left_many, shift_right_many, or_many by (discriminate || exact S); apply in_lanes_same; intros a _.
  unfold ChaCha.rotate_word; replace (N.of_nat (32 - k)) with (32 - N.of_nat k) by lia; reflexivity.
Qed.

Lemma constant_many w c l : concat (repeat (little_endian w c) (length l)) = in_lanes w (map (fun _ : A => c) l).
Proof. induction l as [|a l IH]; cbn [length repeat concat map in_lanes flat_map]; [reflexivity|]; f_equal; exact IH. Qed.
End Many.

(** ** Registers and blocks *)

(** A block of n words. *)
Definition block_ok (n : nat) (x : list N) : Prop := length x = n /\ small (2 ^ 32) x.

Definition word_register (i : nat) (blocks : list (list N)) : list byte := in_lanes 4 (map (fun x => nth i x 0) blocks).

Definition registers (n : nat) (blocks : list (list N)) : list (list byte) := map (fun i => word_register i blocks) (seq 0 n).

Lemma registers_length n blocks : length (registers n blocks) = n.
Proof. unfold registers; rewrite map_length; apply seq_length. Qed.

Lemma nth_register n blocks i : (i < n)%nat -> nth i (registers n blocks) [] = word_register i blocks.
Proof. exact (nth_map_seq [] (fun i => word_register i blocks) n i). Qed.

Lemma nth_small x i : small (2 ^ 32) x -> nth i x 0 < 2 ^ 32.
Proof.
  intro S; destruct (Nat.lt_ge_cases i (length x)) as [L|L]; [|rewrite nth_overflow by exact L; reflexivity].
  exact (proj1 (Forall_forall _ _) S _ (nth_In x 0 L)).
Qed.

Lemma words_small blocks n i : Forall (block_ok n) blocks -> Forall (fun x => nth i x 0 < 2 ^ 32) blocks.
Proof. apply Forall_impl; intros x [_ S]; apply nth_small, S. Qed.

Lemma below_bits a k : a < 2 ^ k <-> a mod 2 ^ k = a.
Proof.
  split; [apply N.mod_small|]; intros <-; apply N.mod_lt, N.pow_nonzero; lia.
Qed.

Lemma word_of_small n e x : expression_ok n e = true -> small (2 ^ 32) x -> word_of e x < 2 ^ 32.
Proof.
  intros OK S; pose proof (fun i => nth_small x i S) as W; destruct e as [i j|i j|i j|i j|k i|c]; cbn [word_of].
  - apply word_add.
  - apply word_lxor; apply W.
  - apply below_bits; rewrite <- N.land_ones, <- N.land_assoc, N.land_ones, (proj1 (below_bits _ _) (W j)); reflexivity.
  - apply below_bits; rewrite <- N.land_ones, N.land_comm.
    apply N.bits_inj; intro b; rewrite N.land_spec, !N.ldiff_spec.
    rewrite <- (proj1 (below_bits _ _) (W j)), <- N.land_ones, N.land_spec.
    destruct (N.testbit (nth j x 0) b), (N.testbit (nth i x 0) b), (N.testbit (N.ones 32) b); reflexivity.
  - apply word_rotate, W.
  - cbn [expression_ok] in OK; apply N.ltb_lt, OK.
Qed.

Lemma bytes_of_registers n e blocks : Forall (block_ok n) blocks -> expression_ok n e = true ->
  bytes_of (length blocks) e (registers n blocks) = in_lanes 4 (map (word_of e) blocks).
Proof.
  intros OK E; destruct e as [i j|i j|i j|i j|k i|c]; cbn [expression_ok bytes_of] in *; try apply andb_prop in E as [E F];
    try apply Nat.ltb_lt in E; try apply Nat.ltb_lt in F; rewrite ?nth_register by assumption; unfold word_register.
  - apply (plus_many 4); discriminate.
  - apply xor_many.
  - apply and_many.
  - apply without_many.
  - apply rotate_many; [apply Nat.leb_le, E|exact (words_small blocks n i OK)].
  - apply constant_many.
Qed.

Lemma update_length {T} i (a : T) : forall l, length (update i a l) = length l.
Proof. revert i; intros i l; revert i; induction l as [|b l IH]; intros [|i]; cbn [update length]; auto. Qed.

Lemma update_small i a x : small (2 ^ 32) x -> a < 2 ^ 32 -> small (2 ^ 32) (update i a x).
Proof.
  intros S L; revert i; induction S as [|b x B S IH]; intros [|i]; cbn [update]; try (constructor; assumption).
  constructor; [exact B|apply IH].
Qed.

Lemma run_ok n p : program_ok n p = true -> forall x, block_ok n x -> block_ok n (run_words p x).
Proof.
  unfold program_ok, run_words; induction p as [|[d e] p IH]; cbn [forallb fold_left fst snd]; intros H x OK; [exact OK|].
  apply andb_prop in H as [H P]; apply andb_prop in H as [_ E]; apply (IH P); destruct OK as [L S].
  split; [rewrite update_length; exact L|]; apply update_small; [exact S|exact (word_of_small n e x E S)].
Qed.

Theorem run_lanes n p : program_ok n p = true -> forall blocks, Forall (block_ok n) blocks ->
  run_bytes (length blocks) p (registers n blocks) = registers n (map (run_words p) blocks).
Proof.
  induction p as [|[d e] p IH]; intros H blocks OK.
  - cbn [run_bytes fold_left]; f_equal; symmetry; apply map_id.
  - pose proof H as H0; unfold program_ok in H; cbn [forallb fst snd] in H; apply andb_prop in H as [H P].
    apply andb_prop in H as [D E]; apply Nat.ltb_lt in D; cbn [run_bytes fold_left fst snd].
    set (step := fun x : list N => update d (word_of e x) x).
    assert (OK' : Forall (block_ok n) (map step blocks)).
    { rewrite Forall_map; eapply Forall_impl; [|exact OK]; intros x X; apply (run_ok n [(d, e)]); [|exact X].
      unfold program_ok; cbn [forallb fst snd]; rewrite E, andb_true_r; apply andb_true_intro; split; [apply Nat.ltb_lt, D|reflexivity]. }
    assert (S : update d (bytes_of (length blocks) e (registers n blocks)) (registers n blocks) = registers n (map step blocks)).
    { rewrite (bytes_of_registers n e blocks OK E); apply nth_ext with (d := []) (d' := []).
      - rewrite update_length, !registers_length; reflexivity.
      - intros i L; rewrite update_length, registers_length in L.
        rewrite nth_update by (rewrite registers_length; exact D); rewrite !nth_register by exact L.
        unfold word_register; rewrite map_map; destruct (Nat.eqb_spec i d) as [->|N]; f_equal; apply map_ext_in; intros x J.
        + unfold step; rewrite nth_update, Nat.eqb_refl; [reflexivity|].
          rewrite (proj1 (proj1 (Forall_forall _ _) OK x J)); exact D.
        + unfold step; rewrite nth_update; [apply Nat.eqb_neq in N; rewrite N; reflexivity|].
          rewrite (proj1 (proj1 (Forall_forall _ _) OK x J)); exact D. }
    rewrite S; pose proof (IH P (map step blocks) OK') as X; rewrite map_length, map_map in X; exact X.
Qed.

(** ** Transposition *)

Definition lane_word {A} (i : nat) (x : list A) : list A := firstn 4 (skipn (4 * i) x).

(** Word i of each string, for i below n. *)
Definition transposed {A} (n : nat) (x : list (list A)) : list (list A) :=
  map (fun i => concat (map (lane_word i) x)) (seq 0 n).

Lemma lane_word_is x : forall i, (i < length x)%nat -> lane_word i (in_lanes 4 x) = little_endian 4 (nth i x 0).
Proof.
  unfold lane_word; induction x as [|a x IH]; intros i L; cbn [length] in L; [lia|].
  cbn [in_lanes flat_map]; destruct i as [|i].
  - rewrite Nat.mul_0_r, skipn_O, firstn_app, little_endian_length, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2.
    rewrite little_endian_length; lia.
  - rewrite skipn_app, skipn_all2, little_endian_length by (rewrite little_endian_length; lia).
    replace (4 * S i - 4)%nat with (4 * i)%nat by lia; apply IH; lia.
Qed.

Lemma concat_in_lanes {A} (f : A -> N) l : concat (map (fun a => little_endian 4 (f a)) l) = in_lanes 4 (map f l).
Proof. unfold in_lanes; rewrite flat_map_concat_map, map_map; reflexivity. Qed.

(** From blocks to registers. *)
Lemma transposed_blocks n blocks : Forall (block_ok n) blocks -> transposed n (map (in_lanes 4) blocks) = registers n blocks.
Proof.
  intro OK; unfold transposed, registers; apply map_ext_in; intros i J; apply in_seq in J; rewrite map_map.
  unfold word_register; rewrite <- concat_in_lanes; f_equal; apply map_ext_in; intros x X; apply lane_word_is.
  rewrite (proj1 (proj1 (Forall_forall _ _) OK x X)); lia.
Qed.

(** And back. *)
Lemma transposed_registers n blocks : Forall (block_ok n) blocks ->
  transposed (length blocks) (registers n blocks) = map (in_lanes 4) blocks.
Proof.
  intro OK; apply nth_ext with (d := []) (d' := []).
  - unfold transposed; rewrite !map_length, seq_length; reflexivity.
  - intros j J; unfold transposed in *; rewrite map_length, seq_length in J.
    rewrite (nth_map_seq []) by exact J; unfold registers; rewrite map_map.
    rewrite nth_indep with (d := []) (d' := in_lanes 4 []) by (rewrite map_length; exact J); rewrite (map_nth (in_lanes 4)).
    destruct (proj1 (Forall_forall _ _) OK _ (nth_In blocks [] J)) as [L _].
    assert (E : nth j blocks [] = map (fun i => nth i (nth j blocks []) 0) (seq 0 n)).
    { apply nth_ext with (d := 0) (d' := 0); rewrite ?map_length, ?seq_length; [exact L|].
      intros i I; rewrite (nth_map_seq 0) by lia; reflexivity. }
    rewrite E, <- concat_in_lanes; f_equal; apply map_ext; intro i; unfold word_register.
    rewrite lane_word_is by (rewrite map_length; exact J).
    f_equal; rewrite nth_indep with (d' := nth i [] 0) by (rewrite map_length; exact J).
    apply (map_nth (fun x => nth i x 0)).
Qed.

Lemma evs_transposed env n x : map (evs env) (transposed n x) = transposed n (map (evs env) x).
Proof.
  unfold transposed; rewrite map_map; apply map_ext; intro i; unfold evs at 1; rewrite concat_map, !map_map; f_equal.
  apply map_ext; intro y; unfold lane_word; rewrite <- evs_skipn, <- evs_firstn; reflexivity.
Qed.
