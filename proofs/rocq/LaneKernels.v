(** * LaneKernels: the theorem about kernels that process blocks of several states, for any calling convention

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call Loop Operations DuplexBlocks.
From Veriplex Require Import BlockKernels Lanes.
From Veriplex Require LaneLoop.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements *)

(** The addresses of k lanes' blocks, beside each other in memory. *)
Definition addresses_at (m : memory) (a : Z) (k : nat) : list Z :=
  map (fun l => wrap (number_of (read m (a + 8 * Z.of_nat l) 8))) (seq 0 k).

(** ** Operations, each with what it does to a whole number of blocks *)

Opaque end_block absorb_block squeeze_block encrypt_block decrypt_block round_constants read lane_at.

Definition absorb_one (s c : list byte) := (absorb_block s c, c).
Definition absorb_many (n : nat) (s : list byte) (cs : list (list byte)) := (absorb_blocks s cs, cs).
Definition squeeze_one (s c : list byte) := squeeze_block s.
Definition squeeze_many (n : nat) (s : list byte) (cs : list (list byte)) := squeeze_blocks n s.
Definition encrypt_many (n : nat) := encrypt_blocks.
Definition decrypt_many (n : nat) := decrypt_blocks.

Lemma absorb_lane s c : on_bytes absorb_op s [c] = (fst (absorb_one s c), [snd (absorb_one s c)]).
Proof. apply absorb_is. Qed.

Lemma squeeze_lane s c : on_bytes squeeze_op s [c] = (fst (squeeze_one s c), [snd (squeeze_one s c)]).
Proof. apply squeeze_is. Qed.

Lemma absorb_many_next n cs s c : absorb_many (S n) s (cs ++ [c]) =
  (fst (absorb_one (fst (absorb_many n s cs)) c), snd (absorb_many n s cs) ++ [snd (absorb_one (fst (absorb_many n s cs)) c)]).
Proof. unfold absorb_many, absorb_one, absorb_blocks; rewrite fold_left_app; reflexivity. Qed.

Lemma squeeze_many_next n cs s c : squeeze_many (S n) s (cs ++ [c]) =
  (fst (squeeze_one (fst (squeeze_many n s cs)) c), snd (squeeze_many n s cs) ++ [snd (squeeze_one (fst (squeeze_many n s cs)) c)]).
Proof. apply squeeze_blocks_next. Qed.

Lemma encrypt_many_next (n : nat) cs s c : encrypt_many (S n) s (cs ++ [c]) =
  (fst (encrypt_block (fst (encrypt_many n s cs)) c), snd (encrypt_many n s cs) ++ [snd (encrypt_block (fst (encrypt_many n s cs)) c)]).
Proof. apply encrypt_blocks_next. Qed.

Lemma decrypt_many_next (n : nat) cs s c : decrypt_many (S n) s (cs ++ [c]) =
  (fst (decrypt_block (fst (decrypt_many n s cs)) c), snd (decrypt_many n s cs) ++ [snd (decrypt_block (fst (decrypt_many n s cs)) c)]).
Proof. apply decrypt_blocks_next. Qed.

Section Kernels.
Variable V : convention.
Let A := abi_of V.
Notation a := (argument A).

Hypothesis DISTINCT : NoDup (arguments A).
Hypothesis FIVE : length (arguments A) = 5%nat.

Section One.
Variables (K : LaneLoop.kernel) (op : operation).
Variables (one : list byte -> list byte -> list byte * list byte)
  (many : nat -> list byte -> list (list byte) -> list byte * list (list byte)).
Hypothesis one_is : forall s c, on_bytes op s [c] = (fst (one s c), [snd (one s c)]).
Hypothesis many_none : forall s, many 0 s [] = (s, []).
Hypothesis many_next : forall n cs s c, many (S n) s (cs ++ [c]) =
  (fst (one (fst (many n s cs)) c), snd (many n s cs) ++ [snd (one (fst (many n s cs)) c)]).

Notation k := (LaneLoop.many K).

Theorem lanes_sound : LaneLoop.checks A K op = true -> ends_in_return A (LaneLoop.code K) ->
  exists accesses : Z -> Z -> Z -> Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let states := gpr m (a 0) in let addresses := gpr m (a 1) in let table := gpr m (a 3) in
  let blocks := addresses_at (mem m) addresses k in
  let buffers := (true, (states, Z.of_nat (size k))) :: (false, (table, Z.of_nat (length (LaneLoop.constants K)))) ::
    (false, (addresses, 8 * Z.of_nat k)) :: map (fun p => (LaneLoop.written K, (p, 94 * Z.of_nat n))) blocks in
  let after := map (fun l => many n (lane_at (mem m) states l) (chunks (mem m) (nth l blocks 0) n)) (seq 0 k) in
  called V (LaneLoop.code K) buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table (length (LaneLoop.constants K)) = LaneLoop.constants K ->
  Forall (touches (snd (code_part (LaneLoop.code K) m)) (beside V m ++ buffers) buffers)
    (accesses (pc m) (pointer V m) states addresses blocks table n) /\
  exists j m', run (isa_of A) j m = Some m' /\ returned V m m' /\
    lanes k (mem m') states = map fst after /\
    map (fun p => chunks (mem m') p n) blocks = map snd after /\
    (forall a, ~ in_lanes k states a ->
       Forall (fun p => LaneLoop.written K = true -> ~ p <= a < p + 94 * Z.of_nat n) blocks -> mem m' a = mem m a) /\
    trace m' = accesses (pc m) (pointer V m) states addresses blocks table n ++ trace m.
Proof.
  intros CH EN.
  exists (fun at_ p s b bs t n => last_accesses V p (at_ + last_at A (LaneLoop.code K)) ++
    LaneLoop.accesses A K op at_ (value_of (arguments A) [s; b; Z.of_nat n; t; 0]) (fun l => nth l bs 0) n).
  intros m n s b t bs buffers after CALL REGS COUNT TABLE.
  set (arg := value_of (arguments A) [s; b; Z.of_nat n; t; 0]); set (ptr := fun l => nth l bs 0).
  assert (GET : forall i, (i < 5)%nat -> arg (a i) = nth i [s; b; Z.of_nat n; t; 0] 0)
    by (intros i L; apply value_at; [exact DISTINCT|rewrite FIVE; exact L|exact L]).
  pose proof (GET 0%nat ltac:(lia)) as G0; pose proof (GET 1%nat ltac:(lia)) as G1.
  pose proof (GET 2%nat ltac:(lia)) as G2; pose proof (GET 3%nat ltac:(lia)) as G3; cbn [nth] in G0, G1, G2, G3.
  assert (PTR : forall l, (l < k)%nat -> ptr l = wrap (number_of (read (mem m) (b + 8 * Z.of_nat l) 8))).
  { intros l L; unfold ptr, bs, addresses_at; rewrite (nth_map_seq 0) by exact L; reflexivity. }
  assert (BS : LaneLoop.buffers A K arg ptr n = buffers).
  { unfold LaneLoop.buffers, LaneLoop.fixed, buffers, LaneLoop.state, LaneLoop.table, LaneLoop.addresses.
    rewrite G0, G1, G3; cbn [app]; do 3 f_equal; unfold bs, addresses_at; rewrite map_map.
    apply map_ext_in; intros l J; apply in_seq in J; unfold LaneLoop.buffer_of; rewrite PTR by lia; reflexivity. }
  pose proof CALL as CALL'; rewrite <- BS in CALL'.
  destruct (LaneLoop.lane_loop_sound A K op CH (pc m) arg ptr m n (beside V m) eq_refl) as (AL & j & m1 & R & AT & ST & DN & FR & TR).
  - intros r [<-|[<-|[<-|[<-|[]]]]]; unfold LaneLoop.state, LaneLoop.table, LaneLoop.addresses, LaneLoop.count;
      rewrite ?G0, ?G1, ?G2, ?G3; first [reflexivity|exact COUNT].
  - exact (called_valid V _ _ _ CALL').
  - unfold LaneLoop.table; rewrite G3; exact TABLE.
  - unfold LaneLoop.addresses; rewrite G1; exact PTR.
  - unfold LaneLoop.count; rewrite G2; reflexivity.
  - rewrite <- COUNT; apply REGS.
  - exact EN.
  - exact REGS.
  - rewrite BS in AL.
    assert (S0 : arg (LaneLoop.state A) = s) by exact G0; rewrite S0 in ST.
    assert (BOUND : forall l, (l < k)%nat -> In (ptr l) bs).
    { intros l L; unfold ptr; apply nth_In; unfold bs, addresses_at; now rewrite map_length, seq_length. }
    assert (FRAME : forall a, ~ in_lanes k s a ->
      Forall (fun p => LaneLoop.written K = true -> ~ p <= a < p + 94 * Z.of_nat n) bs -> mem m1 a = mem m a).
    { intros x NI F; apply FR; rewrite Forall_forall in F; intros [X|(l & L & W & X)].
      - apply NI; rewrite <- S0; exact X.
      - exact (F (ptr l) (BOUND l L) W X). }
    assert (SAME : same_outside buffers (mem m) (mem m1)).
    { intros x F; apply FRAME; pose proof (Forall_inv F) as F1; cbn [fst snd] in F1.
      - intros (i & I & X); apply (F1 eq_refl); unfold size; lia.
      - do 3 apply Forall_inv_tail in F; rewrite Forall_map in F; exact F. }
    destruct (return_step V _ _ _ _ EN CALL AT SAME) as (m2 & S2 & RT & ME & TR2).
    assert (AF : forall l i, LaneLoop.lane_after A op arg ptr m l i = fst (many i (lane_at (mem m) s l) (chunks (mem m) (ptr l) i))).
    { intro l; induction i as [|i IH]; cbn [LaneLoop.lane_after].
      - rewrite S0; cbn [chunks seq map]; rewrite many_none; reflexivity.
      - rewrite chunks_next, many_next, <- IH; unfold LaneLoop.block_at; rewrite one_is; reflexivity. }
    split; [apply Forall_app; split; [exact (last_touches V _ _ _ EN CALL)|exact AL]|].
    exists (j + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in S2; rewrite S2; reflexivity|].
    split; [exact RT|]; rewrite ME, TR2, TR; split; [|split; [|split; [exact FRAME|rewrite <- app_assoc; reflexivity]]].
    + unfold lanes, after; rewrite map_map; apply map_ext_in; intros l J; apply in_seq in J.
      rewrite ST, AF by lia; reflexivity.
    + unfold after; rewrite map_map.
      assert (OUT : forall l i, (l < k)%nat -> (i <= n)%nat ->
        chunks (mem m1) (ptr l) i = snd (many i (lane_at (mem m) s l) (chunks (mem m) (ptr l) i))).
      { intros l i L; induction i as [|i IH]; intro LI; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
        rewrite (chunks_next (mem m1)), (chunks_next (mem m)), many_next, IH by lia; cbn [snd]; f_equal.
        rewrite <- AF; specialize (DN l i L LI); unfold LaneLoop.output, LaneLoop.block_at in DN; rewrite one_is in DN.
        cbn [snd nth] in DN; rewrite DN; reflexivity. }
      apply nth_ext with (d := []) (d' := []); [unfold bs, addresses_at; rewrite !map_length, !seq_length; reflexivity|].
      unfold bs at 1, addresses_at; rewrite !map_length, seq_length; intros l L.
      rewrite (nth_map_seq []) by exact L; change (nth l bs 0) with (ptr l); rewrite <- (OUT l n L (le_n n)).
      rewrite nth_indep with (d' := chunks (mem m1) 0 n) by (unfold bs, addresses_at; now rewrite !map_length, seq_length).
      rewrite (map_nth (fun p => chunks (mem m1) p n)); reflexivity.
Qed.
End One.
End Kernels.
