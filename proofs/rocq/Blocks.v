(* From one iteration of a kernel's loop to every number of blocks.

   A lifted kernel with a loop is three functions on bytes (proofs/lift): from the call to the first test of the counter
   (entry), an iteration (step), and from the last test to the return (exit). SAW proves two facts about them: a step
   takes the entry of a state to the entry of the next state, and writes the right block; and the exit gives the state
   back (proofs/saw/lib/lifted.saw). Here the loop is put together, in a memory of bytes with addresses, and the theorem
   says for every n what a call leaves in memory.

   The lifter checks that the loop is this loop, because that is about instructions: the pointers advance by the size of
   a block, the counter goes down by one and is compared with zero, and every access is inside the state, the table or
   the current block. *)

From Coq Require Import Arith Lia List.
Import ListNotations.

Section Memory.

Variable Byte : Type.

(* Memory by addresses. No buffer extends beyond the last address, so no address wraps. *)
Definition memory := nat -> Byte.

Definition read (m : memory) (at_ len : nat) : list Byte := map m (seq at_ len).

Definition write (m : memory) (at_ : nat) (bytes : list Byte) : memory :=
  fun a => if at_ <=? a then nth (a - at_) bytes (m a) else m a.

(* n blocks in a row. *)
Fixpoint chunks (m : memory) (at_ size n : nat) : list (list Byte) :=
  match n with
  | 0 => []
  | S n => read m at_ size :: chunks m (at_ + size) size n
  end.

Definition disjoint (p len q len' : nat) : Prop := p + len <= q \/ q + len' <= p.

Lemma read_length m p len : length (read m p len) = len.
Proof. unfold read. now rewrite map_length, seq_length. Qed.

Lemma read_same m m' p len :
  (forall a, p <= a < p + len -> m' a = m a) -> read m' p len = read m p len.
Proof.
  intros H. apply map_ext_in. intros a Ha. apply in_seq in Ha. apply H. lia.
Qed.

Lemma write_outside m p bytes a : a < p \/ p + length bytes <= a -> write m p bytes a = m a.
Proof.
  intros H. unfold write. destruct (Nat.leb_spec p a); [|reflexivity].
  apply nth_overflow. lia.
Qed.

Lemma read_write m p bytes : read (write m p bytes) p (length bytes) = bytes.
Proof.
  unfold read. apply nth_ext with (d := m p) (d' := m p).
  - now rewrite map_length, seq_length.
  - intros i Hi. rewrite map_length, seq_length in Hi.
    rewrite nth_indep with (d' := write m p bytes 0) by now rewrite map_length, seq_length.
    rewrite map_nth, seq_nth by assumption.
    unfold write. destruct (Nat.leb_spec p (p + i)); [|lia].
    replace (p + i - p) with i by lia. now apply nth_indep.
Qed.

Lemma chunks_same m m' size n : forall p,
  (forall a, p <= a < p + size * n -> m' a = m a) -> chunks m' p size n = chunks m p size n.
Proof.
  induction n as [|n IH]; intros p H; [reflexivity|]. simpl. f_equal.
  - apply read_same. intros a Ha. apply H. nia.
  - apply IH. intros a Ha. apply H. nia.
Qed.

Section Loop.

(* Bytes of the state, of the table, and of a block of input and of output; none where a kernel has no input or output. *)
Variables state_len table_len in_len out_len : nat.

(* The registers with data at the test of the counter. *)
Variable Live : Type.

(* The lifted parts of the kernel. Each gets the bytes that it may read, and returns those that it writes. *)
Variable entry : list Byte -> list Byte -> Live.
Variable step : list Byte -> list Byte -> list Byte -> list Byte -> Live -> Live * list Byte.
Variable exit : list Byte -> list Byte -> Live -> list Byte.

(* The specification of one block: the next state, and the block that is written. *)
Variable block : list Byte -> list Byte -> list Byte * list Byte.

(* Its n blocks, as in spec/cryptol/Duplex.cry: foldl, and a comprehension over scanl. *)
Fixpoint scanl (s : list Byte) (cs : list (list Byte)) : list (list Byte) :=
  match cs with
  | [] => [s]
  | c :: cs => s :: scanl (fst (block s c)) cs
  end.

Definition final (s : list Byte) (cs : list (list Byte)) : list Byte :=
  fold_left (fun x c => fst (block x c)) cs s.

Definition outputs (s : list Byte) (cs : list (list Byte)) : list (list Byte) :=
  map (fun xc => snd (block (fst xc) (snd xc))) (combine (scanl s cs) cs).

Lemma final_is_last s cs : final s cs = last (scanl s cs) s.
Proof.
  revert s. induction cs as [|c cs IH]; intros s; [reflexivity|].
  change (final s (c :: cs)) with (final (fst (block s c)) cs). rewrite IH.
  change (scanl s (c :: cs)) with (s :: scanl (fst (block s c)) cs).
  generalize (fst (block s c)). intros x.
  destruct cs as [|d cs]; [reflexivity|]. simpl.
  destruct (scanl (fst (block x d)) cs) as [|y ys] eqn:E; [destruct cs; discriminate|].
  clear. revert y. induction ys as [|z ys IH]; intros y; [reflexivity|]. simpl in *. apply IH.
Qed.

(* The loop, from a test of the counter. *)
Fixpoint loop (state table input output n : nat) (live : Live) (m : memory) : Live * memory :=
  match n with
  | 0 => (live, m)
  | S n =>
      let (live, out) :=
        step (read m state state_len) (read m table table_len)
          (read m input in_len) (read m output out_len) live in
      loop state table (input + in_len) (output + out_len) n live (write m output out)
  end.

(* The whole call. *)
Definition call (state table input output n : nat) (m : memory) : memory :=
  let live := entry (read m state state_len) (read m table table_len) in
  let (live, m) := loop state table input output n live m in
  write m state (exit (read m state state_len) (read m table table_len) live).

(* What SAW proves, with T for the bytes of the table. *)
Variable T : list Byte.

Hypothesis step_thm : forall s0 s c o,
  length s0 = state_len -> length s = state_len -> length c = in_len -> length o = out_len ->
  step s0 T c o (entry s T) = (entry (fst (block s c)) T, snd (block s c)).

Hypothesis exit_thm : forall s0 s,
  length s0 = state_len -> length s = state_len -> exit s0 T (entry s T) = s.

(* The types of the specification. *)
Hypothesis block_state : forall s c,
  length s = state_len -> length c = in_len -> length (fst (block s c)) = state_len.
Hypothesis block_output : forall s c,
  length s = state_len -> length c = in_len -> length (snd (block s c)) = out_len.

(* Input and output are the same buffer, or have no byte in common. *)
Definition placed (input output n : nat) : Prop :=
  (input = output /\ in_len = out_len) \/ disjoint input (in_len * n) output (out_len * n).

Lemma loop_blocks : forall n state table input output m s,
  length s = state_len -> read m table table_len = T ->
  placed input output n ->
  disjoint table table_len output (out_len * n) ->
  let (live, m') := loop state table input output n (entry s T) m in
  live = entry (final s (chunks m input in_len n)) T /\
  length (final s (chunks m input in_len n)) = state_len /\
  chunks m' output out_len n = outputs s (chunks m input in_len n) /\
  (forall a, a < output \/ output + out_len * n <= a -> m' a = m a).
Proof.
  induction n as [|n IH]; intros state table input output m s Hs HT Hplaced Htable; [now simpl|].
  simpl loop. rewrite HT, step_thm by (auto using read_length).
  set (c := read m input in_len). set (b := block s c).
  assert (Hc : length c = in_len) by apply read_length.
  assert (Ho : length (snd b) = out_len) by now apply block_output.
  set (m1 := write m output (snd b)).
  assert (Hm1 : forall a, a < output \/ output + out_len <= a -> m1 a = m a).
  { intros a Ha. apply write_outside. now rewrite Ho. }
  assert (Hrest : chunks m1 (input + in_len) in_len n = chunks m (input + in_len) in_len n).
  { apply chunks_same. intros a Ha. apply Hm1. unfold placed, disjoint in Hplaced. nia. }
  specialize (IH state table (input + in_len) (output + out_len) m1 (fst b)).
  destruct (loop state table (input + in_len) (output + out_len) n (entry (fst b) T) m1) as [live m'].
  destruct IH as (Hlive & Hlen & Hout & Hframe).
  - now apply block_state.
  - rewrite <- HT. apply read_same. intros a Ha. apply Hm1. unfold disjoint in Htable. nia.
  - unfold placed, disjoint in *. nia.
  - unfold disjoint in *. nia.
  - rewrite Hrest in *. simpl chunks. fold c.
    change (final s (c :: chunks m (input + in_len) in_len n))
      with (final (fst b) (chunks m (input + in_len) in_len n)).
    change (outputs s (c :: chunks m (input + in_len) in_len n))
      with (snd b :: outputs (fst b) (chunks m (input + in_len) in_len n)).
    repeat split; try assumption.
    + f_equal; [|assumption].
      rewrite <- (read_write m output (snd b)), Ho. fold m1.
      apply read_same. intros a Ha. apply Hframe. lia.
    + intros a Ha. rewrite Hframe by nia. apply Hm1. nia.
Qed.

(* A call, for every n: the state and the output are the specification's, and no other byte is changed. *)
Theorem blocks_for_every_n : forall n state table input output m,
  read m table table_len = T ->
  placed input output n ->
  disjoint table table_len output (out_len * n) ->
  disjoint state state_len output (out_len * n) ->
  disjoint state state_len table table_len ->
  let s := read m state state_len in
  let cs := chunks m input in_len n in
  let m' := call state table input output n m in
  read m' state state_len = final s cs /\
  chunks m' output out_len n = outputs s cs /\
  (forall a, (a < output \/ output + out_len * n <= a) -> (a < state \/ state + state_len <= a) -> m' a = m a).
Proof.
  intros n state table input output m HT Hplaced Htable Hstate Hst s cs m'.
  assert (Hs : length s = state_len) by apply read_length.
  pose proof (loop_blocks n state table input output m s Hs HT Hplaced Htable) as H.
  unfold m', call. rewrite HT. fold s.
  destruct (loop state table input output n (entry s T) m) as [live m1].
  destruct H as (Hlive & Hlen & Hout & Hframe). fold cs in Hlive, Hlen, Hout.
  assert (HT1 : read m1 table table_len = T).
  { rewrite <- HT. apply read_same. intros a Ha. apply Hframe. unfold disjoint in Htable. lia. }
  rewrite HT1, Hlive, exit_thm by (auto using read_length).
  repeat split.
  - rewrite <- Hlen. apply read_write.
  - rewrite <- Hout. apply chunks_same. intros a Ha. apply write_outside.
    rewrite Hlen. unfold disjoint in Hstate. lia.
  - intros a Ho Ha. rewrite write_outside by now rewrite Hlen. now apply Hframe.
Qed.

End Loop.
End Memory.
