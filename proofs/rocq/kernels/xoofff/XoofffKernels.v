(** * XoofffKernels: the theorems about kernels of Xoofff, for any calling convention and number of states

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic Checker Segment Call ArxRounds ChaChaRows Loop
  KernelCall BlockKernels ChaChaKernels XoodooRounds XoodooRows.
From Veriplex Require ChaCha Xoodoo Xoofff.
Import ListNotations.
Local Open Scope Z_scope.

(** ** The table *)

Definition twice {A} (x : list A) : list A := x ++ x.

(** The constant of a round, in the first word of a plane. *)
Definition constant_plane (k : N) : list byte := ChaCha.le_word_bytes [k; 0; 0; 0]%N.

(** The bytes of a plane whose words have moved by two columns and rotated left by 8. *)
Definition moved_bytes : list byte := [11; 8; 9; 10; 15; 12; 13; 14; 3; 0; 1; 2; 7; 4; 5; 6]%N.

(** What the kernels for four and for eight states read: everything twice. *)
Definition constants_x4 : list byte :=
  flat_map (fun k => twice (constant_plane k)) (skipn 6 Xoodoo.round_constants) ++ twice moved_bytes ++
  ChaCha.le_word_bytes (repeat 7%N 8).

Definition planes_x4 : known_planes :=
  Known_planes (map (fun k => in_lanes 4 [k; 0; 0; 0]%N) (skipn 6 Xoodoo.round_constants)) (in_lanes 4 [7; 7; 7; 7]%N).

(** ** Memory *)

(** Accumulator and mask. *)
Definition deck_at (m : memory) (a : Z) : Xoofff.deck := Xoofff.Deck (read m a 48) (read m (a + 48) 48).

(** n blocks in a row. *)
Definition blocks (m : memory) (a : Z) (n : nat) : list (list byte) :=
  map (fun j => read m (a + 48 * Z.of_nat j) 48) (seq 0 n).

Lemma read_block m a : bytes_in_memory m -> is_block (read m a 48).
Proof. intro H; split; [apply read_length|apply read_small, H]. Qed.

Lemma split_read k : forall m a, split 48 k (read m a (48 * k)) = blocks m a k.
Proof.
  induction k as [|k IH]; intros m a; [reflexivity|]; unfold blocks; cbn [split seq map]; f_equal.
  - pose proof (read_part m a (48 * S k) 0 48 ltac:(lia)) as P; rewrite skipn_O in P; rewrite <- P; f_equal; lia.
  - pose proof (read_part m a (48 * S k) 48 (48 * k) ltac:(lia)) as P.
    rewrite (firstn_all2 (n := (48 * k)%nat)) in P by (rewrite skipn_length, read_length; lia).
    rewrite <- P, IH; unfold blocks; rewrite <- seq_shift, map_map; apply map_ext; intro j; f_equal; lia.
Qed.

Lemma blocks_more m a i k : blocks m a (i + k) = blocks m a i ++ blocks m (a + 48 * Z.of_nat i) k.
Proof.
  unfold blocks; rewrite seq_app, map_app; f_equal; rewrite Nat.add_0_l.
  replace (seq i k) with (map (fun j => (i + j)%nat) (seq 0 k)).
  - rewrite map_map; apply map_ext; intro j; f_equal; lia.
  - clear; induction i as [|i IH]; [rewrite map_id; reflexivity|].
    rewrite <- seq_shift, <- IH, map_map; reflexivity.
Qed.

Lemma two_reads m a : read m a 96 = read m a 48 ++ read m (a + 48) 48.
Proof.
  rewrite <- (firstn_skipn 48 (read m a 96)); apply (f_equal2 (@app byte)).
  - pose proof (read_part m a 96 0 48 ltac:(lia)) as P; rewrite skipn_O in P; rewrite <- P; f_equal; lia.
  - pose proof (read_part m a 96 48 48 ltac:(lia)) as P; change (a + Z.of_nat 48) with (a + 48) in P.
    rewrite firstn_all2 in P by (rewrite skipn_length, read_length; lia); symmetry; exact P.
Qed.

(** ** What a kernel does with the blocks of one iteration *)

Section Operations.
Variable moves : bool.
Variable T : known_planes.
Variable k : nat.

Lemma enters_is env (s : list sbyte) (nodes : list node) t nodes' : Some (s, nodes) = Some (t, nodes') ->
  consistent env nodes' -> evs env s = evs env t.
Proof. intros E _; assert (F : s = t) by congruence; rewrite F; reflexivity. Qed.

Definition absorb_symbols (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :=
  match sabsorb_lanes moves T k s (nth 0 cs []) nodes with
  | Some (t, nodes) => Some (t, [nth 0 cs []], nodes)
  | None => None
  end.

Lemma absorb_agrees env s cs nodes s' cs' nodes' : absorb_symbols s cs nodes = Some (s', cs', nodes') ->
  extends nodes nodes' /\ (consistent env nodes' ->
    (absorb_lanes moves T k (evs env s) (nth 0 (map (evs env) cs) []), [nth 0 (map (evs env) cs) []]) =
    (evs env s', map (evs env) cs')).
Proof.
  unfold absorb_symbols; destruct (sabsorb_lanes _ _ _ _ _ _) as [[t n]|] eqn:E; [|discriminate]; intro F.
  assert (X : t = s' /\ [nth 0 cs []] = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (<- & <- & <-).
  apply (sabsorb_lanes_finds moves T env) in E as [G S]; split; [exact G|]; intro C.
  assert (N : nth 0 (map (evs env) cs) [] = evs env (nth 0 cs [])) by apply (map_nth (evs env) cs []).
  rewrite N, (S C); reflexivity.
Qed.

Definition absorb_op : operation :=
  Operation (fun s => s) (fun s cs => (absorb_lanes moves T k s (nth 0 cs []), [nth 0 cs []]))
    (fun s nodes => Some (s, nodes)) absorb_symbols enters_is absorb_agrees.

Definition squeeze_symbols (s : list sbyte) (_ : list (list sbyte)) (nodes : list node) :=
  match ssqueeze_lanes moves T k s nodes with
  | Some (r, nodes) => Some (fst r, [snd r], nodes)
  | None => None
  end.

Lemma squeeze_agrees env s cs nodes s' cs' nodes' : squeeze_symbols s cs nodes = Some (s', cs', nodes') ->
  extends nodes nodes' /\ (consistent env nodes' ->
    (fst (squeeze_lanes moves T k (evs env s)), [snd (squeeze_lanes moves T k (evs env s))]) =
    (evs env s', map (evs env) cs')).
Proof.
  unfold squeeze_symbols; destruct (ssqueeze_lanes _ _ _ _ _) as [[r n]|] eqn:E; [|discriminate]; intro F.
  assert (X : fst r = s' /\ [snd r] = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (<- & <- & <-).
  apply (ssqueeze_lanes_finds moves T env) in E as [G S]; split; [exact G|]; intro C; rewrite <- (S C); reflexivity.
Qed.

Definition squeeze_op : operation :=
  Operation (fun s => s) (fun s _ => (fst (squeeze_lanes moves T k s), [snd (squeeze_lanes moves T k s)]))
    (fun s nodes => Some (s, nodes)) squeeze_symbols enters_is squeeze_agrees.

(** For eight states, with plane 3 of the output states carried. *)
Lemma ahead_enters env s nodes t nodes' : sahead moves T s nodes = Some (t, nodes') -> consistent env nodes' ->
  ahead moves T (evs env s) = evs env t.
Proof. intros E C; apply (sahead_finds moves T env) in E as [_ S]; symmetry; exact (S C). Qed.

Definition squeeze_ahead_symbols (s : list sbyte) (_ : list (list sbyte)) (nodes : list node) :=
  match ssqueeze_ahead moves T s nodes with
  | Some (r, nodes) => Some (fst r, [snd r], nodes)
  | None => None
  end.

Lemma squeeze_ahead_agrees env s cs nodes s' cs' nodes' : squeeze_ahead_symbols s cs nodes = Some (s', cs', nodes') ->
  extends nodes nodes' /\ (consistent env nodes' ->
    (fst (squeeze_ahead moves T (evs env s)), [snd (squeeze_ahead moves T (evs env s))]) = (evs env s', map (evs env) cs')).
Proof.
  unfold squeeze_ahead_symbols; destruct (ssqueeze_ahead _ _ _ _) as [[r n]|] eqn:E; [|discriminate]; intro F.
  assert (X : fst r = s' /\ [snd r] = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (<- & <- & <-).
  apply (ssqueeze_ahead_finds moves T env) in E as [G S]; split; [exact G|]; intro C; rewrite <- (S C); reflexivity.
Qed.

Definition squeeze_ahead_op : operation :=
  Operation (ahead moves T) (fun s _ => (fst (squeeze_ahead moves T s), [snd (squeeze_ahead moves T s)]))
    (sahead moves T) squeeze_ahead_symbols ahead_enters squeeze_ahead_agrees.
End Operations.

(** ** Kernels *)

(** A state of 96 bytes, which are in memory at the test, or in registers, and how many bytes a kernel carries. *)
Definition deck_in (memory_ : bool) (carried_ : nat) : arrangement :=
  Arrangement 96 96 (fun j => j) Some (fun _ => memory_) carried_.

Section Shape.
Variable A : abi.
Notation a := (argument A).

(** The arguments are the state, the blocks, the number of groups of k of them, and the table. *)
Definition kernel_with (code : list byte) (head : Z) (arranged_ : arrangement) (written_ : bool) (table : list byte) (k : nat)
    (words : list (nat * list nat)) : kernel :=
  let at_start := map (fun r => (r, (Some r, 0))) [a 0; a 1; a 2; a 3] in
  Kernel code head (a 0) arranged_ [(a 3, table)] [] [Stream (a 1) written_ (48 * k) (48 * k)] (a 2)
    [(a 2, -1); (a 1, Z.of_nat (48 * k))] at_start (map (fun rv => (rv, snd rv)) at_start)
    words [] [] [].

Definition kernel_of (code : list byte) (head : Z) (memory_ written_ : bool) (table : list byte) (k carried_ : nat)
    (words : list (nat * list nat)) : kernel :=
  kernel_with code head (deck_in memory_ carried_) written_ table k words.
End Shape.

(** The bytes of a state in the order in which a kernel carries them. *)
Definition ordered (place_ : nat -> nat) (s : list byte) : list byte := map (fun j => nth (place_ j) s 0%N) (seq 0 96).

Lemma ordered_plainly s : length s = 96%nat -> ordered (fun j => j) s = s.
Proof.
  intro L; apply nth_ext with (d := 0%N) (d' := 0%N); unfold ordered; rewrite map_length, seq_length; [symmetry; exact L|].
  intros i I; apply (nth_map_seq 0%N), I.
Qed.

Lemma blocks_squeezed m n y : is_block m -> is_block y -> is_block (fst (Xoofff.squeeze_blocks m y n)) /\
  length (snd (Xoofff.squeeze_blocks m y n)) = n /\ Forall is_block (snd (Xoofff.squeeze_blocks m y n)).
Proof. apply (squeeze_blocks_ok false planes_x4 eq_refl). Qed.

Section Kernels.
Variable V : convention.
Context {PROPER : proper V}.
Let A := abi_of V.
Notation a := (argument A).

(** n groups of k blocks are absorbed. *)
Definition absorbs (k : nat) (table_ code_ : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let deck := gpr m (a 0) in let input := gpr m (a 1) in let table := gpr m (a 3) in
  let buffers := [(true, (deck, 96)); (false, (table, Z.of_nat (length table_))); (false, (input, Z.of_nat (48 * k) * Z.of_nat n))] in
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table (length table_) = table_ ->
  ends V code_ buffers (accesses (pc m) (pointer V m) deck input table n) m (fun after =>
    deck_at after deck = Xoofff.absorb_blocks (deck_at (mem m) deck) (blocks (mem m) input (k * n))).

(** n groups of k blocks are squeezed. *)
Definition squeezes (k : nat) (table_ code_ : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let states := gpr m (a 0) in let output := gpr m (a 1) in let table := gpr m (a 3) in
  let buffers := [(true, (states, 96)); (false, (table, Z.of_nat (length table_))); (true, (output, Z.of_nat (48 * k) * Z.of_nat n))] in
  let mask := read (mem m) states 48 in
  let squeezed := Xoofff.squeeze_blocks mask (read (mem m) (states + 48) 48) (k * n) in
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table (length table_) = table_ ->
  ends V code_ buffers (accesses (pc m) (pointer V m) states output table n) m (fun after =>
    read after states 48 = mask /\ read after (states + 48) 48 = fst squeezed /\ blocks after output (k * n) = snd squeezed).

(** Of any arrangement. *)
Section Arranged.
Variables (code_ : list byte) (head_ : Z) (place_ : nat -> nat) (owner_ : nat -> option nat) (held_ : nat -> bool)
  (table_ : list byte) (k carried_ : nat) (words_ : list (nat * list nat)).
Notation R_ := (Arrangement 96 96 place_ owner_ held_ carried_).

Hypothesis PLACES : forall j, (j < 96)%nat -> (place_ j < 96)%nat.
Hypothesis SAME : forall s t, length s = 96%nat -> length t = 96%nat -> ordered place_ s = ordered place_ t -> s = t.
Hypothesis ENDS : ends_in_return A code_.

Section Any.
Variables (written_ : bool) (op : operation).
Notation K := (kernel_with A code_ head_ R_ written_ table_ k words_).

Hypothesis CHECKS : checks A K op = true.

Definition buffers_of (state data table : Z) (n : nat) : list (bool * (Z * Z)) :=
  [(true, (state, 96)); (false, (table, Z.of_nat (length table_))); (written_, (data, Z.of_nat (48 * k) * Z.of_nat n))].

Definition accesses_of (at_ p state data table : Z) (n : nat) : list event :=
  all_accesses V K op at_ p (value_of (arguments A) [state; data; Z.of_nat n; table]) n.

Lemma state_is origin h : Loop.state_at K origin h = ordered place_ (read h (origin (a 0)) 96).
Proof.
  unfold Loop.state_at, ordered; cbn [kernel_with arranged state_size place state]; apply map_ext_in; intros j J; apply in_seq in J.
  symmetry; apply nth_read, PLACES; lia.
Qed.

Lemma whole m n (arg := value_of (arguments A) [gpr m (a 0); gpr m (a 1); Z.of_nat n; gpr m (a 3)]) :
  called V code_ (buffers_of (gpr m (a 0)) (gpr m (a 1)) (gpr m (a 3)) n) m ->
  (forall r, 0 <= gpr m r < 2 ^ 64) -> gpr m (a 2) = Z.of_nat n ->
  read (mem m) (gpr m (a 3)) (length table_) = table_ ->
  forall result : memory -> Prop,
  (forall h, ordered place_ (read h (gpr m (a 0)) 96) = firstn 96 (carried_after K op arg m n) ->
     (forall i, (i < n)%nat -> [read h (gpr m (a 1) + Z.of_nat (48 * k) * Z.of_nat i) (48 * k)] =
        snd (on_bytes op (carried_after K op arg m i) [read (mem m) (gpr m (a 1) + Z.of_nat (48 * k) * Z.of_nat i) (48 * k)])) ->
     result h) ->
  ends V code_ (buffers_of (gpr m (a 0)) (gpr m (a 1)) (gpr m (a 3)) n)
    (accesses_of (pc m) (pointer V m) (gpr m (a 0)) (gpr m (a 1)) (gpr m (a 3)) n) m result.
Proof.
  intros CALL REGS COUNT TABLE result RESULT.
  assert (GET : forall i, (i < 4)%nat -> arg (a i) = nth i [gpr m (a 0); gpr m (a 1); Z.of_nat n; gpr m (a 3)] 0)
    by (intros i L; apply (argument_value V [gpr m (a 0); gpr m (a 1); Z.of_nat n; gpr m (a 3)] i); cbn [length]; lia).
  pose proof (GET 0%nat ltac:(lia)) as V0; pose proof (GET 1%nat ltac:(lia)) as V1.
  pose proof (GET 3%nat ltac:(lia)) as V3; cbn [nth] in V0, V1, V3.
  assert (BS : buffers K arg n = buffers_of (gpr m (a 0)) (gpr m (a 1)) (gpr m (a 3)) n).
  { unfold buffers, fixed, buffers_of, buffer_of; cbn [kernel_with state arranged room tables given streams map app fst snd
      begins written]; rewrite extent_whole, V0, V1, V3; reflexivity. }
  assert (BLOCK : forall h i, block_at K arg h i = [read h (gpr m (a 1) + Z.of_nat (48 * k) * Z.of_nat i) (48 * k)]).
  { intros h i; unfold block_at; cbn [kernel_with streams map begins block_size].
    pose proof (B_stream A K op CHECKS arg i (Stream (a 1) written_ (48 * k) (48 * k)) (or_introl eq_refl)) as P.
    cbn [begins stride] in P; rewrite P, V1; reflexivity. }
  plainly (plain_call V K op CHECKS ENDS [gpr m (a 0); gpr m (a 1); Z.of_nat n; gpr m (a 3)] 2) BS COUNT.
  - constructor; [exact (eq_trans (f_equal (fun x => read (mem m) x (length table_)) V3) TABLE)|constructor].
  - intros h D; change (done K op arg m n h) in D; destruct D as (_ & ST & DN & _); apply RESULT.
    + rewrite <- V0, <- (state_is arg); exact ST.
    + intros i L; specialize (DN i L); unfold output in DN; rewrite !BLOCK in DN; exact DN.
Qed.

Lemma carried_next arg m i : arg (a 1) = gpr m (a 1) -> carried_after K op arg m (S i) = fst (on_bytes op
  (carried_after K op arg m i) [read (mem m) (gpr m (a 1) + Z.of_nat (48 * k) * Z.of_nat i) (48 * k)]).
Proof.
  intro V1; cbn [carried_after kernel_with given]; unfold given_bytes, block_at; cbn [kernel_with given streams map app begins block_size].
  pose proof (B_stream A K op CHECKS arg i (Stream (a 1) written_ (48 * k) (48 * k)) (or_introl eq_refl)) as P.
  cbn [begins stride] in P; rewrite P, V1; reflexivity.
Qed.
End Any.

Lemma absorbed_by (op : operation) :
  (forall d input, deck_ok d -> length input = (48 * k)%nat -> small 256 input ->
     let e := Xoofff.absorb_blocks d (split 48 k input) in
     fst (on_bytes op (enter op (ordered place_ (bytes_of d))) [input]) = enter op (ordered place_ (bytes_of e)) /\ deck_ok e) ->
  (forall s, length s = 96%nat -> firstn 96 (enter op (ordered place_ s)) = ordered place_ s) ->
  checks A (kernel_with A code_ head_ R_ false table_ k words_) op = true ->
  absorbs k table_ code_.
Proof.
  intros ON_BYTES FIRST CH; exists (accesses_of false op); intros m n deck input table bs CALL REGS SMALL COUNT TABLE.
  pose (arg := value_of (arguments A) [deck; input; Z.of_nat n; table]).
  set (d0 := deck_at (mem m) deck).
  assert (D0 : deck_ok d0) by (split; apply read_block, SMALL).
  assert (V0 : arg (a 0) = deck) by (apply (argument_value V [deck; input; Z.of_nat n; table] 0); cbn [length]; lia).
  assert (V1 : arg (a 1) = input) by (apply (argument_value V [deck; input; Z.of_nat n; table] 1); cbn [length]; lia).
  assert (SA : forall i, let d := Xoofff.absorb_blocks d0 (blocks (mem m) input (k * i)) in
    carried_after (kernel_with A code_ head_ R_ false table_ k words_) op arg m i = enter op (ordered place_ (bytes_of d)) /\
    deck_ok d).
  { induction i as [|i [IH OK]]; cbv zeta.
    - rewrite Nat.mul_0_r; cbn [Xoofff.absorb_blocks blocks seq map fold_left carried_after]; split; [|exact D0].
      rewrite state_is, V0, two_reads; reflexivity.
    - rewrite carried_next by (assumption || exact V1); rewrite IH.
      set (d := Xoofff.absorb_blocks d0 (blocks (mem m) input (k * i))) in *.
      destruct (ON_BYTES d (read (mem m) (input + Z.of_nat (48 * k) * Z.of_nat i) (48 * k)) OK (read_length _ _ _)
        (read_small _ _ _ SMALL)) as [E O]; rewrite split_read in E, O.
      replace (k * S i)%nat with (k * i + k)%nat by lia; rewrite blocks_more, absorb_blocks_more; fold d.
      replace (input + 48 * Z.of_nat (k * i)) with (input + Z.of_nat (48 * k) * Z.of_nat i) by lia.
      split; [exact E|exact O]. }
  apply whole; try assumption.
  intros h ST _; destruct (SA n) as [E O]; fold deck input table arg in ST; rewrite E in ST.
  destruct (deck_again _ O) as (DD & L & _); rewrite FIRST in ST by exact L.
  apply SAME in ST; [|apply read_length|exact L]; rewrite two_reads in ST.
  rewrite <- DD, <- ST; unfold deck_of, deck_at; apply (f_equal2 Xoofff.Deck).
  - unfold nth_block; cbn [Nat.mul]; rewrite skipn_O, firstn_app, read_length, Nat.sub_diag, firstn_O, app_nil_r.
    symmetry; apply firstn_all2; rewrite read_length; lia.
  - unfold nth_block; change (48 * 1)%nat with 48%nat; rewrite skipn_app, read_length, Nat.sub_diag, skipn_O.
    rewrite skipn_all2 by (rewrite read_length; lia); cbn [app]; symmetry; apply firstn_all2; rewrite read_length; lia.
Qed.

Lemma squeezed_by (op : operation) :
  (forall mask y cs, is_block mask -> is_block y -> let r := Xoofff.squeeze_blocks mask y k in
     on_bytes op (enter op (ordered place_ (mask ++ y))) cs = (enter op (ordered place_ (mask ++ fst r)), [concat (snd r)])) ->
  (forall s, length s = 96%nat -> firstn 96 (enter op (ordered place_ s)) = ordered place_ s) ->
  checks A (kernel_with A code_ head_ R_ true table_ k words_) op = true ->
  squeezes k table_ code_.
Proof.
  intros ON_BYTES FIRST CH; exists (accesses_of true op); intros m n states output table bs mask squeezed CALL REGS SMALL COUNT TABLE.
  pose (arg := value_of (arguments A) [states; output; Z.of_nat n; table]).
  set (y := read (mem m) (states + 48) 48) in *.
  assert (M : is_block mask) by apply read_block, SMALL; assert (Y : is_block y) by apply read_block, SMALL.
  assert (V0 : arg (a 0) = states) by (apply (argument_value V [states; output; Z.of_nat n; table] 0); cbn [length]; lia).
  assert (V1 : arg (a 1) = output) by (apply (argument_value V [states; output; Z.of_nat n; table] 1); cbn [length]; lia).
  pose (state_after := fun i => fst (Xoofff.squeeze_blocks mask y (k * i))).
  assert (OK : forall i, is_block (state_after i)) by (intro i; apply blocks_squeezed; assumption).
  assert (ON : forall i cs, on_bytes op (enter op (ordered place_ (mask ++ state_after i))) cs =
    (enter op (ordered place_ (mask ++ state_after (S i))), [concat (snd (Xoofff.squeeze_blocks mask (state_after i) k))])).
  { intros i cs; rewrite (ON_BYTES mask (state_after i) cs M (OK i)); cbv zeta.
    unfold state_after; replace (k * S i)%nat with (k * i + k)%nat by lia; rewrite squeeze_blocks_more; reflexivity. }
  assert (SIZE : forall i, length (mask ++ state_after i) = 96%nat /\ small 256 (mask ++ state_after i)).
  { intro i; destruct (two_blocks mask (state_after i) M (OK i)) as (_ & _ & H); exact H. }
  assert (SA : forall i,
    carried_after (kernel_with A code_ head_ R_ true table_ k words_) op arg m i = enter op (ordered place_ (mask ++ state_after i))).
  { induction i as [|i IH].
    - unfold state_after; rewrite Nat.mul_0_r; cbn [Xoofff.squeeze_blocks fst carried_after].
      rewrite state_is, V0, two_reads; reflexivity.
    - rewrite carried_next by (assumption || exact V1); rewrite IH, ON; reflexivity. }
  apply whole; try assumption.
  intros h ST DN; fold states output table arg in ST, DN; rewrite SA, FIRST in ST by apply SIZE.
  apply SAME in ST; [|apply read_length|apply SIZE]; rewrite two_reads in ST.
  apply app_parts in ST as [S0 S1]; [|rewrite read_length; symmetry; apply M].
  split; [exact S0|]; split; [exact S1|].
  assert (ALL : forall i, (i <= n)%nat -> blocks h output (k * i) = snd (Xoofff.squeeze_blocks mask y (k * i))).
  { induction i as [|i IH]; intro LE; [rewrite Nat.mul_0_r; reflexivity|].
    specialize (DN i ltac:(lia)); rewrite SA, ON in DN; cbn [snd] in DN.
    replace (k * S i)%nat with (k * i + k)%nat by lia; rewrite blocks_more, squeeze_blocks_more, IH by lia; cbn [snd]; f_equal.
    replace (output + 48 * Z.of_nat (k * i)) with (output + Z.of_nat (48 * k) * Z.of_nat i) by lia.
    rewrite <- split_read; apply (f_equal (fun l => nth 0 l [])) in DN; cbn [nth] in DN; rewrite DN.
    destruct (blocks_squeezed mask k (state_after i) M (OK i)) as (_ & LN & F).
    apply split_concat_48; assumption. }
  exact (ALL n (le_n n)).
Qed.

End Arranged.

(** ** Up to eight states, in their order *)

Variables (moves : bool) (T : known_planes) (code_ : list byte) (head_ : Z) (memory_ : bool) (table_ : list byte)
  (k carried_ : nat) (words_ : list (nat * list nat)).

Hypothesis CONSTANTS : constants_of T = map (fun k => in_lanes 4 [k; 0; 0; 0]%N) (skipn 6 Xoodoo.round_constants).
Hypothesis SEVENS : sevens T = in_lanes 4 [7; 7; 7; 7]%N.
Hypothesis EIGHT : (k <=? 8)%nat = true.
Hypothesis ENDS : ends_in_return A code_.

Lemma at_most_8 : (k <= 8)%nat.
Proof. apply Nat.leb_le, EIGHT. Qed.

Lemma plainly_same s t : length s = 96%nat -> length t = 96%nat -> ordered (fun j => j) s = ordered (fun j => j) t -> s = t.
Proof. intros L M; rewrite !ordered_plainly by assumption; auto. Qed.

Opaque absorb_lanes squeeze_lanes.

(** Blocks are absorbed. *)
Theorem absorb_sound :
  checks A (kernel_of A code_ head_ memory_ false table_ k carried_ words_) (absorb_op moves T k) = true ->
  absorbs k table_ code_.
Proof.
  apply (absorbed_by code_ head_ (fun j => j) Some (fun _ => memory_) table_ k carried_ words_ (fun j L => L)
    plainly_same ENDS (absorb_op moves T k)); cbn [absorb_op on_bytes enter fst nth].
  - intros d input O LI SI; destruct (deck_again d O) as (DD & L & SM); rewrite ordered_plainly by exact L.
    destruct (absorb_lanes_is moves T CONSTANTS SEVENS k (bytes_of d) input at_most_8 L SM LI SI) as [E Q]; rewrite DD in E, Q.
    cbv zeta; rewrite E; split; [|exact Q]; symmetry; apply ordered_plainly, (deck_again _ Q).
  - intros s L; rewrite ordered_plainly by exact L; apply firstn_all2; lia.
Qed.

(** Blocks are squeezed by an operation that carries more. *)
Lemma squeezed_plainly (op : operation) :
  (forall s cs, length s = 96%nat -> small 256 s -> let r := squeeze_lanes moves T k s in
     on_bytes op (enter op s) cs = (enter op (fst r), [snd r])) ->
  (forall s, length s = 96%nat -> firstn 96 (enter op s) = s) ->
  checks A (kernel_of A code_ head_ memory_ true table_ k carried_ words_) op = true ->
  squeezes k table_ code_.
Proof.
  intros ON_BYTES FIRST.
  apply (squeezed_by code_ head_ (fun j => j) Some (fun _ => memory_) table_ k carried_ words_ (fun j L => L)
    plainly_same ENDS op).
  - intros mask y cs M Y; destruct (two_blocks mask y M Y) as (B0 & B1 & L & SM); cbv zeta.
    assert (R : length (mask ++ fst (Xoofff.squeeze_blocks mask y k)) = 96%nat)
      by (rewrite app_length, (proj1 M), (proj1 (proj1 (blocks_squeezed mask k y M Y))); reflexivity).
    rewrite !ordered_plainly, ON_BYTES by assumption.
    destruct (squeeze_lanes_is moves T CONSTANTS SEVENS k _ at_most_8 L SM) as [E _]; rewrite E, B0, B1; reflexivity.
  - intros s L; rewrite ordered_plainly by exact L; apply FIRST, L.
Qed.

Theorem squeeze_sound :
  checks A (kernel_of A code_ head_ memory_ true table_ k carried_ words_) (squeeze_op moves T k) = true ->
  squeezes k table_ code_.
Proof.
  apply (squeezed_plainly (squeeze_op moves T k)); [reflexivity|]; intros s L; apply firstn_all2; cbn [squeeze_op enter]; lia.
Qed.

(** With plane 3 of the output states carried. *)
Theorem squeeze_ahead_sound : (k =? 8)%nat = true ->
  checks A (kernel_of A code_ head_ memory_ true table_ k carried_ words_) (squeeze_ahead_op moves T) = true ->
  squeezes k table_ code_.
Proof.
  intro E8; apply Nat.eqb_eq in E8; apply (squeezed_plainly (squeeze_ahead_op moves T)); cbn [squeeze_ahead_op enter on_bytes].
  - intros s cs L SM; rewrite E8, (squeeze_ahead_is moves T SEVENS s L SM); reflexivity.
  - intros s L; unfold ahead; destruct (state_at 1 s) as [[x y] z].
    rewrite firstn_app, L, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia.
Qed.
End Kernels.
