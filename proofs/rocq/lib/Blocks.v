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

(* The same for a kernel that keeps its state in memory between two iterations: a step writes the next one there. *)
Section LoopInMemory.

Variables state_len table_len in_len out_len : nat.
Variable Live : Type.
Variable entry : list Byte -> list Byte -> Live.
(* The registers, the state and the block that an iteration leaves. *)
Variable step : list Byte -> list Byte -> list Byte -> list Byte -> Live -> Live * list Byte * list Byte.
Variable exit : list Byte -> list Byte -> Live -> list Byte.
Variable block : list Byte -> list Byte -> list Byte * list Byte.

Fixpoint loop_in_memory (state table input output n : nat) (live : Live) (m : memory) : Live * memory :=
  match n with
  | 0 => (live, m)
  | S n =>
      let '(live, next, out) :=
        step (read m state state_len) (read m table table_len)
          (read m input in_len) (read m output out_len) live in
      loop_in_memory state table (input + in_len) (output + out_len) n live (write (write m state next) output out)
  end.

Definition call_in_memory (state table input output n : nat) (m : memory) : memory :=
  let live := entry (read m state state_len) (read m table table_len) in
  let (live, m) := loop_in_memory state table input output n live m in
  write m state (exit (read m state state_len) (read m table table_len) live).

Variable T : list Byte.

Hypothesis step_thm : forall s c o,
  length s = state_len -> length c = in_len -> length o = out_len ->
  step s T c o (entry s T) = (entry (fst (block s c)) T, fst (block s c), snd (block s c)).

Hypothesis exit_thm : forall s, length s = state_len -> exit s T (entry s T) = s.

Hypothesis block_state : forall s c,
  length s = state_len -> length c = in_len -> length (fst (block s c)) = state_len.
Hypothesis block_output : forall s c,
  length s = state_len -> length c = in_len -> length (snd (block s c)) = out_len.

Lemma loop_blocks_in_memory : forall n state table input output m s,
  read m state state_len = s -> read m table table_len = T ->
  placed in_len out_len input output n ->
  disjoint table table_len output (out_len * n) ->
  disjoint state state_len output (out_len * n) ->
  disjoint state state_len input (in_len * n) ->
  disjoint state state_len table table_len ->
  let (live, m') := loop_in_memory state table input output n (entry s T) m in
  live = entry (final block s (chunks m input in_len n)) T /\
  read m' state state_len = final block s (chunks m input in_len n) /\
  read m' table table_len = T /\
  chunks m' output out_len n = outputs block s (chunks m input in_len n) /\
  (forall a, (a < output \/ output + out_len * n <= a) -> (a < state \/ state + state_len <= a) -> m' a = m a).
Proof.
  induction n as [|n IH]; intros state table input output m s Hs HT Hplaced Htable Hstate Hin Hst; [now simpl|].
  assert (Hlen : length s = state_len) by (rewrite <- Hs; apply read_length).
  simpl loop_in_memory. rewrite Hs, HT, step_thm by (auto using read_length).
  set (c := read m input in_len). set (b := block s c).
  assert (Hc : length c = in_len) by apply read_length.
  assert (Hb : length (fst b) = state_len) by now apply block_state.
  assert (Ho : length (snd b) = out_len) by now apply block_output.
  set (m0 := write m state (fst b)). set (m1 := write m0 output (snd b)).
  assert (Hm1 : forall a, (a < output \/ output + out_len <= a) -> (a < state \/ state + state_len <= a) -> m1 a = m a).
  { intros a Ha Hb'. unfold m1, m0. rewrite write_outside by now rewrite Ho. apply write_outside. now rewrite Hb. }
  assert (Hs1 : read m1 state state_len = fst b).
  { transitivity (read m0 state state_len).
    - apply read_same. intros a Ha. apply write_outside. rewrite Ho. unfold disjoint in Hstate. nia.
    - rewrite <- Hb. apply read_write. }
  assert (Hrest : chunks m1 (input + in_len) in_len n = chunks m (input + in_len) in_len n).
  { apply chunks_same. intros a Ha. apply Hm1; unfold placed, disjoint in *; nia. }
  specialize (IH state table (input + in_len) (output + out_len) m1 (fst b) Hs1).
  destruct (loop_in_memory state table (input + in_len) (output + out_len) n (entry (fst b) T) m1) as [live m'].
  destruct IH as (Hlive & Hfinal & HT' & Hout & Hframe).
  - rewrite <- HT. apply read_same. intros a Ha. apply Hm1; unfold disjoint in *; nia.
  - unfold placed, disjoint in *. nia.
  - unfold disjoint in *. nia.
  - unfold disjoint in *. nia.
  - unfold disjoint in *. nia.
  - assumption.
  - rewrite Hrest in *. simpl chunks. fold c.
    change (final block s (c :: chunks m (input + in_len) in_len n))
      with (final block (fst b) (chunks m (input + in_len) in_len n)).
    change (outputs block s (c :: chunks m (input + in_len) in_len n))
      with (snd b :: outputs block (fst b) (chunks m (input + in_len) in_len n)).
    repeat split; try assumption.
    + f_equal; [|assumption].
      transitivity (read m1 output out_len).
      * apply read_same. intros a Ha. apply Hframe; unfold disjoint in *; nia.
      * rewrite <- Ho. apply read_write.
    + intros a Ha Hb'. rewrite Hframe by nia. apply Hm1; nia.
Qed.

(* A call, for every n, as in `blocks_for_every_n`. The input must not overlap the state, which is written in the loop. *)
Theorem blocks_in_memory_for_every_n : forall n state table input output m,
  read m table table_len = T ->
  placed in_len out_len input output n ->
  disjoint table table_len output (out_len * n) ->
  disjoint state state_len output (out_len * n) ->
  disjoint state state_len input (in_len * n) ->
  disjoint state state_len table table_len ->
  let s := read m state state_len in
  let cs := chunks m input in_len n in
  let m' := call_in_memory state table input output n m in
  read m' state state_len = final block s cs /\
  chunks m' output out_len n = outputs block s cs /\
  (forall a, (a < output \/ output + out_len * n <= a) -> (a < state \/ state + state_len <= a) -> m' a = m a).
Proof.
  intros n state table input output m HT Hplaced Htable Hstate Hin Hst s cs m'.
  pose proof (loop_blocks_in_memory n state table input output m s eq_refl HT Hplaced Htable Hstate Hin Hst) as H.
  unfold m', call_in_memory. rewrite HT. fold s.
  destruct (loop_in_memory state table input output n (entry s T) m) as [live m1].
  destruct H as (Hlive & Hfinal & HT1 & Hout & Hframe). fold cs in Hlive, Hfinal, Hout.
  assert (Hlen : length (final block s cs) = state_len) by (rewrite <- Hfinal; apply read_length).
  rewrite HT1, Hfinal, Hlive, exit_thm by assumption.
  repeat split.
  - rewrite <- Hlen. apply read_write.
  - rewrite <- Hout. apply chunks_same. intros a Ha. apply write_outside.
    rewrite Hlen. unfold disjoint in Hstate. lia.
  - intros a Ho Ha. rewrite write_outside by now rewrite Hlen. now apply Hframe.
Qed.

End LoopInMemory.

(* Several blocks together: a kernel whose iteration computes a group, which is k blocks in a row of a specification
   that has them one after the other. SAW proves that a step does to a state what the k blocks do, and gives out theirs.
   Then n groups in a row are k n blocks in a row. *)
Section Groups.

(* Blocks in a group. The lengths are of the specification's state and blocks, and of the table. *)
Variables k state_len table_len in_len out_len : nat.

Variable Live : Type.
Variable entry : list Byte -> list Byte -> Live.
Variable step : list Byte -> list Byte -> list Byte -> list Byte -> Live -> Live * list Byte.
Variable exit : list Byte -> list Byte -> Live -> list Byte.

(* The specification of one block. *)
Variable block : list Byte -> list Byte -> list Byte * list Byte.

(* n pieces of a string, of so many bytes each. *)
Fixpoint pieces (size n : nat) (bytes : list Byte) : list (list Byte) :=
  match n with
  | 0 => []
  | S n => firstn size bytes :: pieces size n (skipn size bytes)
  end.

(* The k blocks of a group, as absorb_group and squeeze_group of proofs/saw/lib/LiftedXoofff.cry have them. *)
Definition group (s c : list Byte) : list Byte * list Byte :=
  let cs := pieces in_len k c in (final block s cs, concat (outputs block s cs)).

Variable T : list Byte.

Hypothesis group_step_thm : forall s0 s c o,
  length s0 = state_len -> length s = state_len -> length c = in_len * k -> length o = out_len * k ->
  step s0 T c o (entry s T) = (entry (fst (group s c)) T, snd (group s c)).

Hypothesis exit_thm : forall s0 s,
  length s0 = state_len -> length s = state_len -> exit s0 T (entry s T) = s.

Hypothesis block_state : forall s c,
  length s = state_len -> length c = in_len -> length (fst (block s c)) = state_len.
Hypothesis block_output : forall s c,
  length s = state_len -> length c = in_len -> length (snd (block s c)) = out_len.

Lemma pieces_length size n : forall bytes, length (pieces size n bytes) = n.
Proof. induction n as [|n IH]; intros bytes; [reflexivity|]. cbn [pieces length]. now rewrite IH. Qed.

Lemma pieces_sized size : forall n bytes,
  length bytes = size * n -> forall c, In c (pieces size n bytes) -> length c = size.
Proof.
  induction n as [|n IH]; intros bytes H c Hc; [contradiction|].
  rewrite Nat.mul_succ_r in H. destruct Hc as [<-|Hc].
  - rewrite firstn_length, H. apply Nat.min_l. nia.
  - apply (IH (skipn size bytes)); [rewrite skipn_length, H; lia|assumption].
Qed.

Lemma pieces_concat size : forall xs,
  (forall x : list Byte, In x xs -> length x = size) -> pieces size (length xs) (concat xs) = xs.
Proof.
  induction xs as [|x xs IH]; intros H; [reflexivity|]. cbn [length concat pieces].
  assert (Hx : length x = size) by (apply H; now left). f_equal.
  - rewrite <- Hx, firstn_app, firstn_all, Nat.sub_diag, firstn_O. apply app_nil_r.
  - assert (E : skipn size (x ++ concat xs) = concat xs).
    { rewrite <- Hx, skipn_app, skipn_all, Nat.sub_diag. reflexivity. }
    rewrite E. apply IH. intros y Hy. apply H. now right.
Qed.

Lemma concat_sized size : forall xs,
  (forall x : list Byte, In x xs -> length x = size) -> length (concat xs) = size * length xs.
Proof.
  induction xs as [|x xs IH]; intros H; [symmetry; apply Nat.mul_0_r|]. cbn [concat length].
  rewrite app_length, (H x (or_introl eq_refl)), IH by (intros y Hy; apply H; now right).
  rewrite Nat.mul_succ_r. lia.
Qed.

(* Blocks in memory, in a row. *)
Lemma chunk_length m size n : forall p c, In c (chunks m p size n) -> length c = size.
Proof.
  induction n as [|n IH]; intros p c H; [contradiction|].
  destruct H as [<-|H]; [apply read_length|exact (IH _ _ H)].
Qed.

Lemma chunks_app m size b : forall a p, chunks m p size (a + b) = chunks m p size a ++ chunks m (p + size * a) size b.
Proof.
  induction a as [|a IH]; intros p.
  - rewrite Nat.mul_0_r, Nat.add_0_r. reflexivity.
  - change (S a + b) with (S (a + b)). cbn [chunks app]. rewrite IH.
    replace (p + size * S a) with (p + size + size * a) by (rewrite Nat.mul_succ_r; lia). reflexivity.
Qed.

Lemma pieces_read m size : forall n p, pieces size n (read m p (size * n)) = chunks m p size n.
Proof.
  induction n as [|n IH]; intros p; [reflexivity|]. cbn [pieces chunks].
  assert (E : read m p (size * S n) = read m p size ++ read m (p + size) (size * n)).
  { replace (size * S n) with (size + size * n) by (rewrite Nat.mul_succ_r; lia).
    unfold read. now rewrite seq_app, map_app. }
  assert (L : length (read m p size) = size) by apply read_length.
  rewrite E. f_equal.
  - rewrite firstn_app, L, Nat.sub_diag, firstn_O, app_nil_r. apply firstn_all2. lia.
  - assert (Hnone : skipn size (read m p size) = []) by (apply skipn_all2; lia).
    rewrite skipn_app, L, Nat.sub_diag, Hnone. exact (IH (p + size)).
Qed.

Lemma pieces_of_chunks m size : forall n p,
  concat (map (pieces size k) (chunks m p (size * k) n)) = chunks m p size (k * n).
Proof.
  induction n as [|n IH]; intros p; [now rewrite Nat.mul_0_r|].
  cbn [chunks map concat]. rewrite pieces_read, IH.
  replace (k * S n) with (k + k * n) by (rewrite Nat.mul_succ_r; lia). now rewrite chunks_app.
Qed.

(* The specification's blocks in a row. *)
Lemma final_app s cs ds : final block s (cs ++ ds) = final block (final block s cs) ds.
Proof. unfold final. apply fold_left_app. Qed.

Lemma outputs_app ds : forall cs s,
  outputs block s (cs ++ ds) = outputs block s cs ++ outputs block (final block s cs) ds.
Proof.
  induction cs as [|c cs IH]; intros s; [reflexivity|].
  change (outputs block s ((c :: cs) ++ ds)) with (snd (block s c) :: outputs block (fst (block s c)) (cs ++ ds)).
  rewrite IH. reflexivity.
Qed.

Lemma outputs_length : forall cs s, length (outputs block s cs) = length cs.
Proof.
  induction cs as [|c cs IH]; intros s; [reflexivity|].
  change (S (length (outputs block (fst (block s c)) cs)) = S (length cs)). now rewrite IH.
Qed.

Lemma final_sized : forall cs s,
  length s = state_len -> (forall c, In c cs -> length c = in_len) -> length (final block s cs) = state_len.
Proof.
  induction cs as [|c cs IH]; intros s Hs H; [assumption|].
  change (final block s (c :: cs)) with (final block (fst (block s c)) cs).
  apply IH; [apply block_state; [assumption|apply H; now left]|intros d Hd; apply H; now right].
Qed.

Lemma outputs_sized : forall cs s,
  length s = state_len -> (forall c, In c cs -> length c = in_len) ->
  forall o, In o (outputs block s cs) -> length o = out_len.
Proof.
  induction cs as [|c cs IH]; intros s Hs H o Ho.
  - change False in Ho. contradiction.
  - assert (Hc : length c = in_len) by (apply H; now left).
    change (snd (block s c) = o \/ In o (outputs block (fst (block s c)) cs)) in Ho. destruct Ho as [<-|Ho].
    + now apply block_output.
    + apply (IH (fst (block s c))); [now apply block_state|intros d Hd; apply H; now right|assumption].
Qed.

Lemma group_state s c : length s = state_len -> length c = in_len * k -> length (fst (group s c)) = state_len.
Proof.
  intros Hs Hc. change (length (final block s (pieces in_len k c)) = state_len).
  apply final_sized; [assumption|]. exact (pieces_sized in_len k c Hc).
Qed.

Lemma group_output s c : length s = state_len -> length c = in_len * k -> length (snd (group s c)) = out_len * k.
Proof.
  intros Hs Hc. change (length (concat (outputs block s (pieces in_len k c))) = out_len * k).
  rewrite (concat_sized out_len _ (outputs_sized _ s Hs (pieces_sized in_len k c Hc))).
  now rewrite outputs_length, pieces_length.
Qed.

Lemma group_final : forall gs s, final group s gs = final block s (concat (map (pieces in_len k) gs)).
Proof.
  induction gs as [|g gs IH]; intros s; [reflexivity|]. cbn [map concat]. rewrite final_app.
  change (final group s (g :: gs)) with (final group (final block s (pieces in_len k g)) gs). apply IH.
Qed.

Lemma group_outputs : forall gs s,
  length s = state_len -> (forall g, In g gs -> length g = in_len * k) ->
  concat (map (pieces out_len k) (outputs group s gs)) = outputs block s (concat (map (pieces in_len k) gs)).
Proof.
  induction gs as [|g gs IH]; intros s Hs H; [reflexivity|].
  assert (Hg : length g = in_len * k) by (apply H; now left).
  pose proof (pieces_sized in_len k g Hg) as Hc.
  change (outputs group s (g :: gs)) with
    (concat (outputs block s (pieces in_len k g)) :: outputs group (final block s (pieces in_len k g)) gs).
  cbn [map concat]. rewrite outputs_app. f_equal.
  - pose proof (pieces_concat out_len _ (outputs_sized _ s Hs Hc)) as P.
    rewrite outputs_length, pieces_length in P. exact P.
  - apply IH; [now apply final_sized|intros d Hd; apply H; now right].
Qed.

(* A call, for every n: the state and the output are those of k n blocks of the specification, and no other byte is
   changed. *)
Theorem groups_for_every_n : forall n state table input output m,
  read m table table_len = T ->
  placed (in_len * k) (out_len * k) input output n ->
  disjoint table table_len output (out_len * (k * n)) ->
  disjoint state state_len output (out_len * (k * n)) ->
  disjoint state state_len table table_len ->
  let s := read m state state_len in
  let cs := chunks m input in_len (k * n) in
  let m' := call state_len table_len (in_len * k) (out_len * k) Live entry step exit state table input output n m in
  read m' state state_len = final block s cs /\
  chunks m' output out_len (k * n) = outputs block s cs /\
  (forall a, (a < output \/ output + out_len * (k * n) <= a) -> (a < state \/ state + state_len <= a) -> m' a = m a).
Proof.
  intros n state table input output m HT Hplaced Htable Hstate Hst s cs m'.
  rewrite Nat.mul_assoc in Htable, Hstate |- *.
  assert (H : read m' state state_len = final group s (chunks m input (in_len * k) n) /\
    chunks m' output (out_len * k) n = outputs group s (chunks m input (in_len * k) n) /\
    (forall a, (a < output \/ output + out_len * k * n <= a) -> (a < state \/ state + state_len <= a) -> m' a = m a)).
  { exact (blocks_for_every_n state_len table_len (in_len * k) (out_len * k) Live entry step exit group T
      group_step_thm exit_thm group_state group_output n state table input output m HT Hplaced Htable Hstate Hst). }
  destruct H as (Hfinal & Hout & Hframe). repeat split; [| |exact Hframe].
  - rewrite Hfinal, group_final. unfold cs. now rewrite pieces_of_chunks.
  - transitivity (concat (map (pieces out_len k) (chunks m' output (out_len * k) n))).
    { symmetry. apply pieces_of_chunks. }
    rewrite Hout, group_outputs; [|apply read_length|intros g Hg; exact (chunk_length _ _ _ _ _ Hg)].
    unfold cs. now rewrite pieces_of_chunks.
Qed.

End Groups.

(* The same for a kernel that keeps its state in memory between two groups. *)
Section GroupsInMemory.

Variables k state_len table_len in_len out_len : nat.
Variable Live : Type.
Variable entry : list Byte -> list Byte -> Live.
Variable step : list Byte -> list Byte -> list Byte -> list Byte -> Live -> Live * list Byte * list Byte.
Variable exit : list Byte -> list Byte -> Live -> list Byte.
Variable block : list Byte -> list Byte -> list Byte * list Byte.
Variable T : list Byte.

Hypothesis group_step_thm : forall s c o,
  length s = state_len -> length c = in_len * k -> length o = out_len * k ->
  step s T c o (entry s T) =
    (entry (fst (group k in_len block s c)) T, fst (group k in_len block s c), snd (group k in_len block s c)).

Hypothesis exit_thm : forall s, length s = state_len -> exit s T (entry s T) = s.

Hypothesis block_state : forall s c,
  length s = state_len -> length c = in_len -> length (fst (block s c)) = state_len.
Hypothesis block_output : forall s c,
  length s = state_len -> length c = in_len -> length (snd (block s c)) = out_len.

Theorem groups_in_memory_for_every_n : forall n state table input output m,
  read m table table_len = T ->
  placed (in_len * k) (out_len * k) input output n ->
  disjoint table table_len output (out_len * (k * n)) ->
  disjoint state state_len output (out_len * (k * n)) ->
  disjoint state state_len input (in_len * (k * n)) ->
  disjoint state state_len table table_len ->
  let s := read m state state_len in
  let cs := chunks m input in_len (k * n) in
  let m' :=
    call_in_memory state_len table_len (in_len * k) (out_len * k) Live entry step exit state table input output n m in
  read m' state state_len = final block s cs /\
  chunks m' output out_len (k * n) = outputs block s cs /\
  (forall a, (a < output \/ output + out_len * (k * n) <= a) -> (a < state \/ state + state_len <= a) -> m' a = m a).
Proof.
  intros n state table input output m HT Hplaced Htable Hstate Hin Hst s cs m'.
  rewrite Nat.mul_assoc in Htable, Hstate, Hin |- *.
  pose proof (blocks_in_memory_for_every_n state_len table_len (in_len * k) (out_len * k) Live entry step exit
    (group k in_len block) T group_step_thm exit_thm
    (group_state k state_len in_len block block_state)
    (group_output k state_len in_len out_len block block_state block_output)
    n state table input output m HT Hplaced Htable Hstate Hin Hst) as H.
  cbv zeta in H. fold m' s in H.
  destruct H as (Hfinal & Hout & Hframe). repeat split; [| |exact Hframe].
  - rewrite Hfinal, group_final. unfold cs. now rewrite pieces_of_chunks.
  - transitivity (concat (map (pieces out_len k) (chunks m' output (out_len * k) n))).
    { symmetry. apply pieces_of_chunks. }
    rewrite Hout. unfold cs. rewrite <- pieces_of_chunks.
    apply (group_outputs k state_len in_len out_len block block_state block_output).
    + apply read_length.
    + intros g Hg. exact (chunk_length _ _ _ _ _ Hg).
Qed.

End GroupsInMemory.

(* Several lanes: a kernel that does the same to k states at once, each with a buffer of its own. The states lie in one
   memory, where words of other lanes may lie between theirs. While the loop runs, the kernel keeps some of their words
   there, and uses the place of the others for whatever it likes. *)
Section Lanes.

(* The number of lanes. Bytes of the memory of the states, of the pointers to the lanes' buffers, of the table; of the
   state of a lane, and of a block of its input and of its output. *)
Variables k memory_len pointers_len table_len state_len in_len out_len : nat.

Variable Live : Type.

(* The lifted parts of the kernel, which get the blocks of all lanes and return those that they write. *)
Variable entry : list Byte -> list Byte -> list Byte -> Live.
Variable step : list Byte -> list Byte -> list (list Byte) -> list (list Byte) -> list Byte -> Live
  -> Live * list Byte * list (list Byte).
Variable exit : list Byte -> list Byte -> list Byte -> Live -> list Byte.

(* The specification of one block of one lane. *)
Variable block : list Byte -> list Byte -> list Byte * list Byte.

(* The states in a memory, the memory with other states in it, and with only those of their words that a kernel keeps
   there (proofs/saw/lib/LiftedLanes.cry). A kernel that keeps none is one whose [held m s] is m. *)
Variable lanes : list Byte -> list (list Byte).
Variables with_lanes held : list Byte -> list (list Byte) -> list Byte.

(* zipWith *)
Definition each {A B C} (f : A -> B -> C) (xs : list A) (ys : list B) : list C :=
  map (fun xy => f (fst xy) (snd xy)) (combine xs ys).

Lemma each_length {A B C} (f : A -> B -> C) xs ys : length xs = length ys -> length (each f xs ys) = length xs.
Proof. intros H. unfold each. rewrite map_length, combine_length. lia. Qed.

Lemma each_nth {A B C} (f : A -> B -> C) xs ys i a b c :
  length xs = length ys -> i < length xs -> nth i (each f xs ys) c = f (nth i xs a) (nth i ys b).
Proof.
  revert ys i. induction xs as [|x xs IH]; intros [|y ys] i H Hi; simpl in *; try lia.
  destruct i; [reflexivity|]. apply (IH ys i); lia.
Qed.

Definition next_states ss cs := each (fun s c => fst (block s c)) ss cs.
Definition blocks_out ss cs := each (fun s c => snd (block s c)) ss cs.

(* The final states after all blocks of each lane, as in spec/cryptol/Lanes.cry. *)
Definition finals ss css := each (final block) ss css.

Fixpoint write_all (m : memory) (ps : list nat) (bs : list (list Byte)) : memory :=
  match ps, bs with
  | p :: ps, b :: bs => write_all (write m p b) ps bs
  | _, _ => m
  end.

(* The loop, from a test of the counter. *)
Fixpoint loop_lanes (states pointers table n : nat) (ins outs : list nat) (live : Live) (m : memory) : Live * memory :=
  match n with
  | 0 => (live, m)
  | S n =>
      let '(live, after, out) :=
        step (read m states memory_len) (read m pointers pointers_len)
          (map (fun p => read m p in_len) ins) (map (fun p => read m p out_len) outs) (read m table table_len) live in
      loop_lanes states pointers table n (map (Nat.add in_len) ins) (map (Nat.add out_len) outs) live
        (write_all (write m states after) outs out)
  end.

(* The whole call. *)
Definition call_lanes (states pointers table n : nat) (ins outs : list nat) (m : memory) : memory :=
  let live := entry (read m states memory_len) (read m pointers pointers_len) (read m table table_len) in
  let (live, m) := loop_lanes states pointers table n ins outs live m in
  write m states (exit (read m states memory_len) (read m pointers pointers_len) (read m table table_len) live).

(* k states of the right length, k blocks. *)
Definition sized (len : nat) (xs : list (list Byte)) : Prop :=
  length xs = k /\ forall i, i < k -> length (nth i xs []) = len.

(* What SAW proves, with T for the bytes of the table. *)
Variable T : list Byte.

Hypothesis step_thm : forall m m1 p p1 ss cs os,
  length m = memory_len -> length m1 = memory_len ->
  sized state_len ss -> sized in_len cs -> sized out_len os ->
  let '(live, after, out) := step (held m ss) p cs os T (entry (with_lanes m1 ss) p1 T) in
  let next := next_states ss cs in
  live = entry (with_lanes m1 next) p1 T /\ out = blocks_out ss cs /\
  held after next = after /\ with_lanes after next = with_lanes m next.

Hypothesis exit_thm : forall m m1 p p1 ss,
  length m = memory_len -> length m1 = memory_len -> sized state_len ss ->
  exit (held m ss) p T (entry (with_lanes m1 ss) p1 T) = with_lanes m ss.

Hypothesis with_own_lanes : forall m, length m = memory_len -> with_lanes m (lanes m) = m.
Hypothesis held_own_lanes : forall m, length m = memory_len -> held m (lanes m) = m.
Hypothesis lanes_of_with : forall m ss, length m = memory_len -> sized state_len ss -> lanes (with_lanes m ss) = ss.
Hypothesis with_lanes_twice : forall m ss ts, length m = memory_len -> sized state_len ss -> sized state_len ts ->
  with_lanes (with_lanes m ss) ts = with_lanes m ts.

(* The types of these functions. *)
Hypothesis lanes_sized : forall m, length m = memory_len -> sized state_len (lanes m).
Hypothesis with_lanes_length : forall m ss, length m = memory_len -> length (with_lanes m ss) = memory_len.
Hypothesis step_length : forall m p cs os live,
  length m = memory_len -> length (snd (fst (step m p cs os T live))) = memory_len.
Hypothesis block_state : forall s c,
  length s = state_len -> length c = in_len -> length (fst (block s c)) = state_len.
Hypothesis block_output : forall s c,
  length s = state_len -> length c = in_len -> length (snd (block s c)) = out_len.

(* Which buffers have no byte in common, for n blocks. A lane's input and output may be the same buffer. *)
Definition apart (states table n : nat) (ins outs : list nat) : Prop :=
  length ins = k /\ length outs = k /\ disjoint states memory_len table table_len /\
  (forall i, i < k ->
    disjoint states memory_len (nth i ins 0) (in_len * n) /\
    disjoint states memory_len (nth i outs 0) (out_len * n) /\
    disjoint table table_len (nth i outs 0) (out_len * n) /\
    ((nth i ins 0 = nth i outs 0 /\ in_len = out_len) \/
     disjoint (nth i ins 0) (in_len * n) (nth i outs 0) (out_len * n))) /\
  (forall i j, i < k -> j < k -> i <> j ->
    disjoint (nth i ins 0) (in_len * n) (nth j outs 0) (out_len * n) /\
    disjoint (nth i outs 0) (out_len * n) (nth j outs 0) (out_len * n)).

Lemma write_all_outside ps : forall bs m a,
  length ps = length bs ->
  (forall i, i < length ps -> a < nth i ps 0 \/ nth i ps 0 + length (nth i bs []) <= a) ->
  write_all m ps bs a = m a.
Proof.
  induction ps as [|p ps IH]; intros [|b bs] m a Hlen H; simpl in *; try lia; try reflexivity.
  rewrite IH by (try lia; intros i Hi; apply (H (S i)); lia).
  apply write_outside. apply (H 0). lia.
Qed.

Lemma read_write_all ps : forall bs m i,
  length ps = length bs -> i < length ps ->
  (forall j, j < length ps -> j <> i ->
    disjoint (nth i ps 0) (length (nth i bs [])) (nth j ps 0) (length (nth j bs []))) ->
  read (write_all m ps bs) (nth i ps 0) (length (nth i bs [])) = nth i bs [].
Proof.
  induction ps as [|p ps IH]; intros [|b bs] m i Hlen Hi H; simpl in *; try lia.
  destruct i.
  - transitivity (read (write m p b) p (length b)); [|apply read_write].
    apply read_same. intros a Ha. apply write_all_outside; [lia|].
    intros j Hj. specialize (H (S j) ltac:(lia) ltac:(lia)). simpl in H. unfold disjoint in H. lia.
  - apply IH; try lia. intros j Hj Hne. apply (H (S j)); lia.
Qed.

Lemma nth_map_0 (f : nat -> nat) l i : i < length l -> nth i (map f l) 0 = f (nth i l 0).
Proof. intros H. rewrite (nth_indep _ 0 (f 0)) by now rewrite map_length. apply map_nth. Qed.

Lemma nth_map_list (f : nat -> list Byte) l i : i < length l -> nth i (map f l) [] = f (nth i l 0).
Proof. intros H. rewrite (nth_indep _ [] (f 0)) by now rewrite map_length. apply map_nth. Qed.

Lemma nth_map_lists (f : nat -> list (list Byte)) l i : i < length l -> nth i (map f l) [] = f (nth i l 0).
Proof. intros H. rewrite (nth_indep _ [] (f 0)) by now rewrite map_length. apply map_nth. Qed.

Lemma reads_sized m len ps : length ps = k -> sized len (map (fun p => read m p len) ps).
Proof.
  intros H. split; [now rewrite map_length|]. intros i Hi. rewrite nth_map_list by lia. apply read_length.
Qed.

Lemma next_sized ss cs : sized state_len ss -> sized in_len cs -> sized state_len (next_states ss cs).
Proof.
  intros [Hs Hss] [Hc Hcs]. split; [unfold next_states; rewrite each_length; lia|].
  intros i Hi. unfold next_states. rewrite each_nth with (a := []) (b := []) by lia. auto.
Qed.

Lemma out_sized ss cs : sized state_len ss -> sized in_len cs -> sized out_len (blocks_out ss cs).
Proof.
  intros [Hs Hss] [Hc Hcs]. split; [unfold blocks_out; rewrite each_length; lia|].
  intros i Hi. unfold blocks_out. rewrite each_nth with (a := []) (b := []) by lia. auto.
Qed.

Definition css_of (m : memory) (n : nat) (ins : list nat) := map (fun p => chunks m p in_len n) ins.

Lemma chunks_sized m at_ size n : forall c, In c (chunks m at_ size n) -> length c = size.
Proof.
  revert at_. induction n as [|n IH]; intros at_ c H; [contradiction|].
  destruct H as [<-|H]; [apply read_length|eauto].
Qed.

Lemma final_length cs : forall s,
  length s = state_len -> (forall c, In c cs -> length c = in_len) -> length (final block s cs) = state_len.
Proof.
  induction cs as [|c cs IH]; intros s Hs H; [assumption|].
  change (final block s (c :: cs)) with (final block (fst (block s c)) cs).
  apply IH; [apply block_state; [assumption|apply H; now left]|intros; apply H; now right].
Qed.

Lemma finals_sized m n ss ins : length ins = k -> sized state_len ss -> sized state_len (finals ss (css_of m n ins)).
Proof.
  intros Hi [Hs Hss]. unfold finals, css_of. split; [rewrite each_length; rewrite ?map_length; lia|].
  intros i H. rewrite each_nth with (a := []) (b := []) by (rewrite ?map_length; lia).
  rewrite nth_map_lists by lia. apply final_length; [auto|]. apply chunks_sized.
Qed.

Lemma loop_lanes_blocks states pointers table m1 p1 : length m1 = memory_len -> forall n ins outs m mem ss,
  apart states table n ins outs -> sized state_len ss -> read m table table_len = T ->
  length mem = memory_len -> read m states memory_len = held mem ss ->
  let (live, m') := loop_lanes states pointers table n ins outs (entry (with_lanes m1 ss) p1 T) m in
  let last := finals ss (css_of m n ins) in
  live = entry (with_lanes m1 last) p1 T /\
  (exists mem', length mem' = memory_len /\ read m' states memory_len = held mem' last /\
     with_lanes mem' last = with_lanes mem last) /\
  (forall i, i < k ->
     chunks m' (nth i outs 0) out_len n = outputs block (nth i ss []) (chunks m (nth i ins 0) in_len n)) /\
  (forall a, (forall i, i < k -> a < nth i outs 0 \/ nth i outs 0 + out_len * n <= a) ->
     a < states \/ states + memory_len <= a -> m' a = m a).
Proof.
  intros Hm1. induction n as [|n IH]; intros ins outs m mem ss Hapart Hss HT Hmem Hheld.
  - assert (E : finals ss (css_of m 0 ins) = ss).
    { destruct Hapart as (Hi & _). destruct Hss as [Hs _]. unfold finals, css_of.
      apply nth_ext with (d := []) (d' := []).
      - rewrite each_length; rewrite ?map_length; lia.
      - intros i H. rewrite each_length in H by (rewrite map_length; lia).
        rewrite each_nth with (a := []) (b := []) by (rewrite ?map_length; lia).
        now rewrite nth_map_lists by lia. }
    simpl. rewrite E. repeat split. now exists mem.
  - pose proof Hapart as (Hins & Houts & Hst & Hone & Htwo).
    simpl loop_lanes. rewrite Hheld, HT.
    set (cs := map (fun p => read m p in_len) ins). set (os := map (fun p => read m p out_len) outs).
    set (p := read m pointers pointers_len).
    assert (Hcs : sized in_len cs) by now apply reads_sized.
    assert (Hos : sized out_len os) by now apply reads_sized.
    pose proof (step_thm mem m1 p p1 ss cs os Hmem Hm1 Hss Hcs Hos) as Hstep.
    assert (Hlen : length (held mem ss) = memory_len) by (rewrite <- Hheld; apply read_length).
    pose proof (step_length (held mem ss) p cs os (entry (with_lanes m1 ss) p1 T) Hlen) as Hafter.
    destruct (step (held mem ss) p cs os T (entry (with_lanes m1 ss) p1 T)) as [[live after] out].
    simpl in Hafter. cbv zeta in Hstep. destruct Hstep as (Hlive & Hout & Hkept & Hothers).
    set (next := next_states ss cs) in *.
    assert (Hnext : sized state_len next) by now apply next_sized.
    assert (Hsized : sized out_len out) by (rewrite Hout; now apply out_sized).
    set (ma := write m states after). set (mb := write_all ma outs out).
    assert (Hb : forall a, (forall i, i < k -> a < nth i outs 0 \/ nth i outs 0 + out_len <= a) -> mb a = ma a).
    { intros a Ha. apply write_all_outside; [destruct Hsized; lia|]. intros i Hi. destruct Hsized as [_ Hl].
      rewrite Hl by lia. apply Ha. lia. }
    assert (Ha : forall a, a < states \/ states + memory_len <= a -> ma a = m a).
    { intros a H. apply write_outside. now rewrite Hafter. }
    assert (Hrest : css_of mb n (map (Nat.add in_len) ins) = css_of m n (map (Nat.add in_len) ins)).
    { unfold css_of. rewrite !map_map. apply nth_ext with (d := []) (d' := []); [now rewrite !map_length|].
      intros i Hi. rewrite map_length in Hi. rewrite !nth_map_lists by lia.
      apply chunks_same. intros a Hin. rewrite Hb, Ha; [reflexivity| |].
      - destruct (Hone i ltac:(lia)) as (D & _). unfold disjoint in D. nia.
      - intros j Hj. destruct (Nat.eq_dec i j) as [<-|Hne].
        + destruct (Hone i ltac:(lia)) as (_ & _ & _ & [[E El]|D]); [|unfold disjoint in D]; nia.
        + destruct (Htwo i j ltac:(lia) Hj Hne) as (D & _). unfold disjoint in D. nia. }
    assert (Hlast : finals ss (css_of m (S n) ins) = finals next (css_of m n (map (Nat.add in_len) ins))).
    { unfold finals, css_of, next, next_states. destruct Hss as [Hs _].
      apply nth_ext with (d := []) (d' := []).
      - rewrite !each_length; rewrite ?each_length, ?map_length; try lia; unfold cs; rewrite ?map_length; lia.
      - intros i Hi. rewrite each_length in Hi by (rewrite map_length; lia).
        assert (Hc : length cs = k) by now destruct Hcs.
        rewrite !each_nth with (a := []) (b := []) by (rewrite ?each_length; rewrite ?map_length; lia).
        rewrite !nth_map_lists by (rewrite ?map_length; lia). rewrite nth_map_0 by lia.
        unfold cs. rewrite nth_map_list by lia. simpl chunks.
        rewrite (Nat.add_comm (nth i ins 0) in_len). reflexivity. }
    rewrite Hlive.
    specialize (IH (map (Nat.add in_len) ins) (map (Nat.add out_len) outs) mb after next).
    destruct (loop_lanes states pointers table n (map (Nat.add in_len) ins) (map (Nat.add out_len) outs)
                (entry (with_lanes m1 next) p1 T) mb) as [live' m'] eqn:El.
    destruct IH as (IHlive & (mem' & IHl & IHheld & IHothers) & IHout & IHframe).
    + split; [now rewrite map_length|]. split; [now rewrite map_length|]. split; [assumption|]. split.
      * intros i Hi. rewrite !nth_map_0 by lia. destruct (Hone i Hi) as (D1 & D2 & D3 & D4).
        unfold disjoint in *. repeat split; nia.
      * intros i j Hi Hj Hne. rewrite !nth_map_0 by lia. destruct (Htwo i j Hi Hj Hne) as (D5 & D6).
        unfold disjoint in *. split; nia.
    + assumption.
    + rewrite <- HT. apply read_same. intros a Hin. rewrite Hb, Ha; [reflexivity| |].
      * unfold disjoint in Hst. lia.
      * intros i Hi. destruct (Hone i Hi) as (_ & _ & D & _). unfold disjoint in D. nia.
    + assumption.
    + rewrite Hkept. transitivity (read ma states (length after)); [|apply read_write].
      rewrite Hafter. apply read_same. intros a Hin. apply Hb. intros i Hi.
      destruct (Hone i Hi) as (_ & D & _). unfold disjoint in D. nia.
    + rewrite Hrest in *. cbv zeta. rewrite Hlast.
      assert (Hls : sized state_len (finals next (css_of m n (map (Nat.add in_len) ins)))).
      { apply finals_sized; [now rewrite map_length|assumption]. }
      repeat split.
      * assumption.
      * exists mem'. repeat split; try assumption.
        rewrite IHothers.
        rewrite <- (with_lanes_twice after next) by assumption.
        rewrite Hothers. now apply with_lanes_twice.
      * intros i Hi. simpl chunks.
        change (outputs block (nth i ss []) (read m (nth i ins 0) in_len :: chunks m (nth i ins 0 + in_len) in_len n))
          with (snd (block (nth i ss []) (read m (nth i ins 0) in_len)) ::
                outputs block (fst (block (nth i ss []) (read m (nth i ins 0) in_len)))
                  (chunks m (nth i ins 0 + in_len) in_len n)).
        assert (Hs : length ss = k) by now destruct Hss.
        assert (Hc : length cs = k) by now destruct Hcs.
        assert (Eo : nth i out [] = snd (block (nth i ss []) (read m (nth i ins 0) in_len))).
        { rewrite Hout. unfold blocks_out. rewrite each_nth with (a := []) (b := []) by lia.
          unfold cs. now rewrite nth_map_list by lia. }
        f_equal.
        -- rewrite <- Eo. destruct Hsized as [Hl Hls'].
           transitivity (read mb (nth i outs 0) (length (nth i out []))); [|apply read_write_all; try lia].
           { rewrite (Hls' i Hi). apply read_same. intros a Hin. apply IHframe.
             - intros j Hj. rewrite nth_map_0 by lia. destruct (Nat.eq_dec i j) as [<-|Hne]; [lia|].
               destruct (Htwo i j Hi Hj Hne) as (_ & D). unfold disjoint in D. nia.
             - destruct (Hone i Hi) as (_ & D & _). unfold disjoint in D. nia. }
           { intros j Hj Hne. rewrite !Hls' by lia. destruct (Htwo i j Hi ltac:(lia) ltac:(lia)) as (_ & D).
             unfold disjoint in *. nia. }
        -- specialize (IHout i Hi). rewrite !nth_map_0 in IHout by lia.
           rewrite (Nat.add_comm (nth i outs 0) out_len). rewrite IHout.
           assert (En : nth i next [] = fst (block (nth i ss []) (read m (nth i ins 0) in_len))).
           { unfold next, next_states. rewrite each_nth with (a := []) (b := []) by lia.
             unfold cs. now rewrite nth_map_list by lia. }
           rewrite En, (Nat.add_comm (nth i ins 0) in_len). f_equal.
           assert (Ec : nth i (css_of mb n (map (Nat.add in_len) ins)) [] =
                        nth i (css_of m n (map (Nat.add in_len) ins)) []) by now rewrite Hrest.
           unfold css_of in Ec. rewrite !nth_map_lists in Ec by (rewrite map_length; lia).
           rewrite nth_map_0 in Ec by lia. assumption.
      * intros a Hout' Hin. rewrite IHframe, Hb, Ha; try assumption; [reflexivity| |].
        -- intros i Hi. specialize (Hout' i Hi). nia.
        -- intros i Hi. rewrite nth_map_0 by lia. specialize (Hout' i Hi). nia.
Qed.

(* A call, for every n: the states and the outputs are the specification's, and no other byte is changed. *)
Theorem lanes_for_every_n : forall n states pointers table ins outs m,
  read m table table_len = T -> apart states table n ins outs ->
  let ss := lanes (read m states memory_len) in
  let css := map (fun p => chunks m p in_len n) ins in
  let m' := call_lanes states pointers table n ins outs m in
  read m' states memory_len = with_lanes (read m states memory_len) (finals ss css) /\
  lanes (read m' states memory_len) = finals ss css /\
  (forall i, i < k -> chunks m' (nth i outs 0) out_len n = outputs block (nth i ss []) (nth i css [])) /\
  (forall a, (forall i, i < k -> a < nth i outs 0 \/ nth i outs 0 + out_len * n <= a) ->
     a < states \/ states + memory_len <= a -> m' a = m a).
Proof.
  intros n states pointers table ins outs m HT Hapart ss css m'.
  set (s0 := read m states memory_len) in *.
  assert (Hs0 : length s0 = memory_len) by apply read_length.
  assert (Hss : sized state_len ss) by now apply lanes_sized.
  pose proof Hapart as (Hins & Houts & Hst & Hone & _).
  pose proof (loop_lanes_blocks states pointers table s0 (read m pointers pointers_len) Hs0 n ins outs m s0 ss
    Hapart Hss HT Hs0) as H.
  unfold m', call_lanes. rewrite HT. fold s0.
  assert (Eheld : s0 = held s0 ss) by (symmetry; now apply held_own_lanes).
  assert (Ewith : with_lanes s0 ss = s0) by now apply with_own_lanes.
  specialize (H Eheld). rewrite Ewith in H.
  destruct (loop_lanes states pointers table n ins outs (entry s0 (read m pointers pointers_len) T) m) as [live m1].
  cbv zeta in H. change (css_of m n ins) with css in H.
  destruct H as (Hlive & (mem' & Hl & Hheld & Hothers) & Hout & Hframe).
  assert (Hlast : sized state_len (finals ss css)) by now apply finals_sized.
  assert (HT1 : read m1 table table_len = T).
  { rewrite <- HT. apply read_same. intros a Ha. apply Hframe.
    - intros i Hi. destruct (Hone i Hi) as (_ & _ & D & _). unfold disjoint in D. nia.
    - unfold disjoint in Hst. lia. }
  rewrite HT1, Hheld, Hlive, exit_thm by assumption. rewrite Hothers.
  assert (Hw : length (with_lanes s0 (finals ss css)) = memory_len) by now apply with_lanes_length.
  assert (Hread : read (write m1 states (with_lanes s0 (finals ss css))) states memory_len =
                  with_lanes s0 (finals ss css)).
  { pose proof (read_write m1 states (with_lanes s0 (finals ss css))) as E. now rewrite Hw in E. }
  rewrite Hread. repeat split.
  - now apply lanes_of_with.
  - intros i Hi. assert (E : nth i css [] = chunks m (nth i ins 0) in_len n).
    { unfold css. now rewrite nth_map_lists by lia. }
    rewrite E, <- Hout by assumption.
    apply chunks_same. intros a Ha. apply write_outside. rewrite Hw.
    destruct (Hone i Hi) as (_ & D & _). unfold disjoint in D. nia.
  - intros a Ho Ha. rewrite write_outside by now rewrite Hw. now apply Hframe.
Qed.

End Lanes.

(* A kernel that writes nothing but its state, and reads the blocks of several buffers at once. Blocks of a buffer may
   overlap: the next one begins as many bytes later as the buffer's shape says. *)
Lemma reads_lengths m (shapes : list (nat * nat)) : forall ps,
  length ps = length shapes ->
  map (@length Byte) (map (fun p => read m (fst p) (fst (snd p))) (combine ps shapes)) = map fst shapes.
Proof.
  induction shapes as [|s shapes IH]; intros [|p ps] H; try discriminate; [reflexivity|].
  simpl in *. f_equal; [apply read_length|]. apply IH. lia.
Qed.

Section Reads.

(* Bytes of the state. For each buffer: those of a block, and those from where it begins to where the next one does. *)
Variable state_len : nat.
Variable shapes : list (nat * nat).

Variable Live : Type.

(* The lifted parts of the kernel. *)
Variable entry : list Byte -> Live.
Variable step : list Byte -> list (list Byte) -> Live -> Live.
Variable exit : list Byte -> Live -> list Byte.

(* The specification of one block of each buffer: the next state. *)
Variable block : list Byte -> list (list Byte) -> list Byte.

(* The blocks at these addresses, and the addresses of the next ones. *)
Definition current (m : memory) (ps : list nat) : list (list Byte) :=
  map (fun p => read m (fst p) (fst (snd p))) (combine ps shapes).

Definition further (ps : list nat) : list nat :=
  map (fun p => fst p + snd (snd p)) (combine ps shapes).

Fixpoint currents (m : memory) (ps : list nat) (n : nat) : list (list (list Byte)) :=
  match n with
  | 0 => []
  | S n => current m ps :: currents m (further ps) n
  end.

(* The loop, from a test of the counter. *)
Fixpoint loop_reads (state n : nat) (ps : list nat) (live : Live) (m : memory) : Live :=
  match n with
  | 0 => live
  | S n => loop_reads state n (further ps) (step (read m state state_len) (current m ps) live) m
  end.

(* The whole call. *)
Definition call_reads (state n : nat) (ps : list nat) (m : memory) : memory :=
  let live := loop_reads state n ps (entry (read m state state_len)) m in
  write m state (exit (read m state state_len) live).

(* A block of each buffer. *)
Definition shaped (cs : list (list Byte)) : Prop := map (@length Byte) cs = map fst shapes.

(* What SAW proves. *)
Hypothesis step_thm : forall s0 s cs,
  length s0 = state_len -> length s = state_len -> shaped cs -> step s0 cs (entry s) = entry (block s cs).

Hypothesis exit_thm : forall s0 s,
  length s0 = state_len -> length s = state_len -> exit s0 (entry s) = s.

(* The type of the specification. *)
Hypothesis block_state : forall s cs, length s = state_len -> shaped cs -> length (block s cs) = state_len.

Lemma current_shaped m ps : length ps = length shapes -> shaped (current m ps).
Proof. apply reads_lengths. Qed.

Lemma further_length ps : length ps = length shapes -> length (further ps) = length shapes.
Proof. intros H. unfold further. rewrite map_length, combine_length. lia. Qed.

Lemma loop_reads_blocks : forall n state ps m s,
  length ps = length shapes -> length s = state_len ->
  let last := fold_left block (currents m ps n) s in
  loop_reads state n ps (entry s) m = entry last /\ length last = state_len.
Proof.
  induction n as [|n IH]; intros state ps m s Hps Hs last; [now split|].
  assert (Hc : shaped (current m ps)) by now apply current_shaped.
  unfold last. cbn [loop_reads currents fold_left].
  rewrite step_thm by (try assumption; apply read_length).
  apply IH; [now apply further_length|now apply block_state].
Qed.

(* A call, for every n: the state is the specification's, and no other byte is changed. *)
Theorem reads_for_every_n : forall n state ps m,
  length ps = length shapes ->
  let s := read m state state_len in
  let m' := call_reads state n ps m in
  read m' state state_len = fold_left block (currents m ps n) s /\
  (forall a, a < state \/ state + state_len <= a -> m' a = m a).
Proof.
  intros n state ps m Hps s m'.
  assert (Hs : length s = state_len) by apply read_length.
  destruct (loop_reads_blocks n state ps m s Hps Hs) as [Hlive Hlen].
  set (last := fold_left block (currents m ps n) s) in *.
  assert (Hm : m' = write m state last).
  { unfold m', call_reads. fold s. rewrite Hlive. now rewrite exit_thm. }
  rewrite Hm. split.
  - pose proof (read_write m state last) as H. now rewrite Hlen in H.
  - intros a Ha. apply write_outside. now rewrite Hlen.
Qed.

End Reads.
End Memory.
