(** * LaneKernels: the theorem about kernels that process blocks of several states, for any calling convention

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call Loop KernelCall Operations DuplexBlocks.
From Veriplex Require Import BlockKernels Lanes.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements *)

(** The addresses of k lanes' blocks, beside each other in memory. *)
Definition addresses_at (m : memory) (a : Z) (k : nat) : list Z :=
  map (fun l => wrap (number_of (read m (a + 8 * Z.of_nat l) 8))) (seq 0 k).

(** The buffers of a kernel that encrypts or decrypts n blocks of each of k lanes: the states, the table, the addresses of
    inputs and of outputs, and the blocks, in place or [apart]. *)
Definition crypt_buffers (apart : bool) (k : nat) (states inputs outputs table size_of_table : Z) (from to : list Z) (n : nat) :
    list (bool * (Z * Z)) :=
  (true, (states, Z.of_nat (size k))) :: (false, (table, size_of_table)) ::
  (false, (inputs, 8 * Z.of_nat k)) :: (false, (outputs, 8 * Z.of_nat k)) ::
  (if apart then map (fun p => (false, (p, 94 * Z.of_nat n))) from else []) ++ map (fun p => (true, (p, 94 * Z.of_nat n))) to.

(** ** An operation on each of several states, with one block each *)

Section Each.
Variables (op : operation) (k g : nat) (apart : bool).

(** The first g of the other buffers have the addresses of the blocks. Each lane has a block, in which the operation works;
    or, apart, the blocks of all lanes stay, and what the operation makes of them is in as many others. *)
Definition with_inputs {T} (cs rs : list T) : list T := (if apart then firstn k (skipn g cs) else []) ++ rs.

Definition each_bytes (s : list byte) (cs : list (list byte)) : list byte * list (list byte) :=
  let rs := map (fun sc => on_bytes op (fst sc) [snd sc]) (combine (split 128 k s) (skipn g cs)) in
  (concat (map fst rs), with_inputs cs (map (fun r => nth 0 (snd r) []) rs)).

Fixpoint each (ss cs : list (list sbyte)) (nodes : list node) : option (list (list sbyte) * list (list sbyte) * list node) :=
  match ss, cs with
  | s :: ss, c :: cs =>
      match on_symbols op s [c] nodes with
      | Some (s, bs, nodes) =>
          match each ss cs nodes with Some (ss, cs, nodes) => Some (s :: ss, nth 0 bs [] :: cs, nodes) | None => None end
      | None => None
      end
  | _, _ => Some ([], [], nodes)
  end.

Definition each_symbols (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :=
  match each (ssplit 128 k s) (skipn g cs) nodes with
  | Some (ss, ds, nodes) => Some (concat ss, with_inputs cs ds, nodes)
  | None => None
  end.

Lemma each_sound env ss : forall cs nodes ss' cs' nodes', each ss cs nodes = Some (ss', cs', nodes') -> extends nodes nodes' /\
  (consistent env nodes' ->
   let rs := map (fun sc => on_bytes op (fst sc) [snd sc]) (combine (map (evs env) ss) (map (evs env) cs)) in
   map fst rs = map (evs env) ss' /\ map (fun r => nth 0 (snd r) []) rs = map (evs env) cs').
Proof.
  induction ss as [|s ss IH]; intros [|c cs] nodes ss' cs' nodes' E; cbn [each] in E.
  1, 2, 3: injection E as <- <- <-; split; [apply extends_refl|]; intros _; split; reflexivity.
  destruct (on_symbols op s [c] nodes) as [[[t bs] n1]|] eqn:E1; [|discriminate].
  destruct (each ss cs n1) as [[[ts ds] n2]|] eqn:E2; [|discriminate]; injection E as <- <- <-.
  destruct (agree op env _ _ _ _ _ _ E1) as [X1 S1]; destruct (IH cs n1 ts ds n2 E2) as [X2 S2].
  split; [eapply extends_trans; eassumption|]; intro C; destruct (S2 C) as [Y1 Y2].
  specialize (S1 (consistent_older env _ _ X2 C)); cbn [map] in S1; cbn [map combine fst snd]; rewrite S1; cbn [fst snd].
  rewrite Y1, Y2, nth_map_evs; split; reflexivity.
Qed.

Lemma each_agree env s cs nodes s' cs' nodes' : each_symbols s cs nodes = Some (s', cs', nodes') -> extends nodes nodes' /\
  (consistent env nodes' -> each_bytes (evs env s) (map (evs env) cs) = (evs env s', map (evs env) cs')).
Proof.
  unfold each_symbols; destruct (each _ _ _) as [[[ss ds] n]|] eqn:E; [|discriminate]; intro F.
  assert (X : concat ss = s' /\ with_inputs cs ds = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (<- & <- & ->).
  apply (each_sound env) in E as [X S]; split; [exact X|]; intro C; destruct (S C) as [Y1 Y2]; unfold each_bytes.
  rewrite <- ssplit_evs, skipn_map, Y1, Y2, (concat_map (ev env) ss : evs env (concat ss) = _); unfold with_inputs.
  rewrite map_app, skipn_map; destruct apart; [rewrite firstn_map|]; reflexivity.
Qed.

Definition each_op : operation :=
  Operation (fun s => s) each_bytes (fun s nodes => Some (s, nodes)) each_symbols enters_agree each_agree.
End Each.

(** The states in lanes of one buffer, of which the words [held] are in memory at the test. *)
Definition in_lanes_of (k : nat) (held : list nat) : arrangement :=
  Arrangement (size k) (128 * k) (fun j => Lanes.place (j / 128) (j mod 128))%nat
    (fun p => if (lane_of p <? k)%nat then Some (128 * lane_of p + byte_of p)%nat else None)
    (fun j => existsb (Nat.eqb (j mod 128 / 16)) held)%nat (128 * k).

(** Unknowns besides the arguments: what the code has added to the addresses in memory, these addresses, and the sums. *)
Definition offset : nat := 99.
Definition lane_pointer (l : nat) : nat := (100 + 2 * l)%nat.
Definition lane_block (l : nat) : nat := (101 + 2 * l)%nat.

Lemma combine_map {S T U} (f : S -> T) (g : S -> U) l : combine (map f l) (map g l) = map (fun x => (f x, g x)) l.
Proof. induction l as [|x l IH]; cbn [map combine]; [reflexivity|]; rewrite IH; reflexivity. Qed.

Lemma nth_skipn {T} (x : T) d : forall l bs, nth l (skipn d bs) x = nth (d + l) bs x.
Proof. induction d as [|d IH]; intros l [|b bs]; cbn [skipn Nat.add nth]; [| | destruct l|apply IH]; reflexivity. Qed.

(** The second list may be longer. *)
Lemma combine_more {S T U} (f : S -> T) (g : S -> U) l more : combine (map f l) (map g l ++ more) = map (fun x => (f x, g x)) l.
Proof. induction l as [|x l IH]; cbn [map combine app]; [reflexivity|]; rewrite IH; reflexivity. Qed.

Lemma seq_from a n : seq a n = map (fun i => (a + i)%nat) (seq 0 n).
Proof. induction n as [|n IH]; [reflexivity|]; rewrite !seq_S, map_app, <- IH; reflexivity. Qed.

Lemma in_rows {T} (f : nat -> nat -> T) w k : w <> 0%nat ->
  map (fun j => f (j / w)%nat (j mod w)%nat) (seq 0 (w * k)%nat) = concat (map (fun l => map (f l) (seq 0 w)) (seq 0 k)).
Proof.
  intro W; induction k as [|k IH]; [rewrite Nat.mul_0_r; reflexivity|].
  rewrite Nat.mul_succ_r, seq_app, map_app, IH, seq_S, map_app, concat_app; cbn [map concat Nat.add]; rewrite app_nil_r; f_equal.
  rewrite seq_from, map_map; apply map_ext_in; intros i J; apply in_seq in J; rewrite (Nat.mul_comm w k), Nat.add_comm.
  rewrite Nat.div_add, Nat.mod_add, Nat.div_small, Nat.mod_small by lia; reflexivity.
Qed.

(** ** Operations, each with what it does to a whole number of blocks *)

Lemma end_length s : length s = 128%nat -> length (end_block s) = 128%nat.
Proof. intro L; apply permute_length; rewrite AES.xor_length, L; reflexivity. Qed.

Lemma absorb_length s c : length s = 128%nat -> length c = 94%nat -> length (absorb_block s c) = 128%nat.
Proof. intros L M; apply end_length; rewrite AES.xor_length, app_length, L, M; reflexivity. Qed.

Lemma squeeze_length (s c : list byte) : length s = 128%nat -> length c = 94%nat -> length (fst (squeeze_block s)) = 128%nat.
Proof. intros L _; apply end_length; rewrite app_length, skipn_length, L; reflexivity. Qed.

Lemma encrypt_length s c : length s = 128%nat -> length c = 94%nat -> length (fst (encrypt_block s c)) = 128%nat.
Proof. apply absorb_length. Qed.

Lemma decrypt_length s c : length s = 128%nat -> length c = 94%nat -> length (fst (decrypt_block s c)) = 128%nat.
Proof. intros L M; apply end_length; rewrite app_length, skipn_length, L, M; reflexivity. Qed.

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
Context {PROPER : proper V}.
Let A := abi_of V.
Notation a := (argument A).

(** One lane's blocks. *)
Definition blocks_of (m : machine) (n : nat) (blocks : list Z) (l : nat) : list (list byte) := chunks (mem m) (nth l blocks 0) n.

(** For each of k lanes n blocks are read or, if they are [written_], written: [many] says what the states and, if they are
    written, the blocks become.  The arguments are the addresses of the states and of the blocks' addresses, n, and the
    address of the table.  Nothing but the lanes and such blocks changes. *)
Definition maps_lanes (k : nat) (constants : list byte) (written_ : bool)
    (many : nat -> list byte -> list (list byte) -> list byte * list (list byte)) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let states := gpr m (a 0) in let addresses := gpr m (a 1) in let table := gpr m (a 3) in
  let blocks := addresses_at (mem m) addresses k in
  let buffers := (true, (states, Z.of_nat (size k))) :: (false, (table, Z.of_nat (length constants))) ::
    (false, (addresses, 8 * Z.of_nat k)) :: map (fun p => (written_, (p, 94 * Z.of_nat n))) blocks in
  let after := map (fun l => many n (lane_at (mem m) states l) (blocks_of m n blocks l)) (seq 0 k) in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table (length constants) = constants ->
  ends V code buffers (accesses (pc m) (pointer V m) states addresses blocks table n) m (fun h =>
    lanes k h states = map fst after /\ map (fun p => chunks h p n) blocks = map snd after /\
    forall x, ~ in_lanes k states x -> Forall (fun p => written_ = true -> ~ p <= x < p + 94 * Z.of_nat n) blocks -> h x = mem m x).

(** For each of k lanes n blocks are encrypted or decrypted ([many]), from one buffer to another ([apart]) or in place. *)
Definition crypts_lanes (k : nat) (constants : list byte) (apart : bool)
    (many : list byte -> list (list byte) -> list byte * list (list byte)) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let states := gpr m (a 0) in let inputs := gpr m (a 1) in let outputs := gpr m (a 2) in let table := gpr m (a 4) in
  let from := addresses_at (mem m) inputs k in let to := addresses_at (mem m) outputs k in
  let buffers := crypt_buffers apart k states inputs outputs table (Z.of_nat (length constants)) from to n in
  let after := map (fun l => many (lane_at (mem m) states l) (blocks_of m n from l)) (seq 0 k) in
  called V code buffers m -> (apart = false -> to = from) -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 3) = Z.of_nat n -> read (mem m) table (length constants) = constants ->
  ends V code buffers (accesses (pc m) (pointer V m) states inputs outputs from to table n) m (fun h =>
    lanes k h states = map fst after /\ map (fun p => chunks h p n) to = map snd after /\
    forall x, ~ in_lanes k states x -> Forall (fun p => ~ p <= x < p + 94 * Z.of_nat n) to -> h x = mem m x).

Section One.
(** The arguments are the addresses of the states and of the blocks' addresses, the number of blocks, and the address of the
    table, to which the code adds [shift].  There are as many arguments with addresses as [streams_of] has elements, which
    say where among all streams of blocks are those of the lanes; [written_] says which of these are written.  [moving]:
    registers with the offset of the blocks, or with the address of the next block of a stream.  Vector registers have words
    of the states (lane, word), or constants. *)
Variables (code_ : list byte) (head_ : Z) (k : nat) (constants : list byte) (shift : Z) (streams_of : list nat) (written_ : list bool)
  (moving_ : list (nat * option nat)) (words_ : list (nat * list (nat * nat))) (constants_ : list (nat * list byte))
  (numbers_ : list (nat * Z)) (held_ : list nat).

Notation g := (length streams_of).
Notation count_at := (1 + g)%nat.
Notation table_at := (2 + g)%nat.

Definition lanes_kernel : kernel :=
  Kernel code_ head_ (a 0) (in_lanes_of k held_) [(a table_at, constants)] (map (fun i => (a (S i), (8 * k)%nat)) (seq 0 g))
    (map (fun l => Stream (lane_block l) (nth l written_ false) 94 94) (seq 0 (length written_))) (a count_at)
    ((a count_at, -1) :: (offset, 94) :: map (fun l => (lane_block l, 94)) (seq 0 (length written_)))
    (map (fun i => (a i, (Some (a i), 0))) (seq 0 (S table_at)))
    ((a table_at, (Some (a table_at), shift), (Some (a table_at), shift)) ::
     map (fun i => (a i, (Some (a i), 0), (Some (a i), 0))) (seq 0 table_at) ++
     map (fun r => match snd r with
                   | None => (fst r, (None, 0), (Some offset, 0))
                   | Some l => (fst r, (Some (lane_pointer l), 0), (Some (lane_block l), 0))
                   end) moving_ ++ map (fun rz => (fst rz, (None, snd rz), (None, snd rz))) numbers_)
    (map (fun rl => (fst rl, map (fun lw => 8 * fst lw + snd lw)%nat (snd rl))) words_) constants_
    (map (fun l => (lane_pointer l, offset, lane_block l)) (seq 0 (length written_)))
    (flat_map (fun i => map (fun l => (a (S i), 8 * Z.of_nat l, lane_pointer (nth i streams_of 0 + l)%nat)) (seq 0 k)) (seq 0 g)).

(** The unknowns, from the arguments and the addresses in memory. *)
Definition origin_of (arg : nat -> Z) (ptr : nat -> Z) (u : nat) : Z :=
  if (u <? 99)%nat then arg u else if (u =? 99)%nat then 0 else ptr ((u - 100) / 2)%nat.

Lemma origin_pointer arg ptr l : origin_of arg ptr (lane_pointer l) = ptr l.
Proof.
  unfold origin_of, lane_pointer; destruct (Nat.ltb_spec (100 + 2 * l) 99); [lia|]; destruct (Nat.eqb_spec (100 + 2 * l) 99); [lia|].
  f_equal; replace (100 + 2 * l - 100)%nat with (l * 2)%nat by lia; apply Nat.div_mul; lia.
Qed.

Lemma origin_block arg ptr l : origin_of arg ptr (lane_block l) = ptr l.
Proof.
  unfold origin_of, lane_block; destruct (Nat.ltb_spec (101 + 2 * l) 99); [lia|]; destruct (Nat.eqb_spec (101 + 2 * l) 99); [lia|].
  f_equal; replace (101 + 2 * l - 100)%nat with (1 + l * 2)%nat by lia; rewrite Nat.div_add by lia; reflexivity.
Qed.

Variables (op : operation).
Variables (one : list byte -> list byte -> list byte * list byte)
  (many : nat -> list byte -> list (list byte) -> list byte * list (list byte)).
Hypothesis one_is : forall s c, on_bytes op s [c] = (fst (one s c), [snd (one s c)]).
Hypothesis one_length : forall s c, length s = 128%nat -> length c = 94%nat -> length (fst (one s c)) = 128%nat.
Hypothesis many_none : forall s, many 0 s [] = (s, []).
Hypothesis many_next : forall n cs s c, many (S n) s (cs ++ [c]) =
  (fst (one (fst (many n s cs)) c), snd (many n s cs) ++ [snd (one (fst (many n s cs)) c)]).

(** With [apart], the inputs of the lanes are the first streams, and the outputs those after them. *)
Variable apart : bool.
Hypothesis SHAPE : length written_ = (if apart then k + k else k)%nat.
Hypothesis ADDRESSES : (0 < g <= 2)%nat.

Theorem whole : checks A lanes_kernel (each_op op k g apart) = true -> ends_in_return A code_ ->
  exists accesses : Z -> Z -> list Z -> list Z -> nat -> list event, forall (m : machine) (n : nat) (bs : list Z),
  let states := gpr m (a 0) in let table := gpr m (a table_at) in
  let buffers := (true, (states, Z.of_nat (size k))) :: (false, (table, Z.of_nat (length constants))) ::
    map (fun i => (false, (gpr m (a (S i)), 8 * Z.of_nat k))) (seq 0 g) ++
    map (fun wp => (fst wp, (snd wp, 94 * Z.of_nat n))) (combine written_ bs) in
  let after := map (fun l => many n (lane_at (mem m) states l) (chunks (mem m) (nth l bs 0) n)) (seq 0 k) in
  length bs = length written_ ->
  (forall i l, (i < g)%nat -> (l < k)%nat ->
     nth (nth i streams_of 0 + l)%nat bs 0 = nth l (addresses_at (mem m) (gpr m (a (S i))) k) 0) ->
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a count_at) = Z.of_nat n -> read (mem m) table (length constants) = constants ->
  ends V code_ buffers (accesses (pc m) (pointer V m) (map (fun i => gpr m (a i)) (seq 0 (S table_at))) bs n) m (fun h =>
    lanes k h states = map fst after /\
    map (fun p => chunks h p n) (skipn (if apart then k else 0) bs) = map snd after /\
    forall a, ~ in_lanes k states a ->
      Forall (fun wp => fst wp = true -> ~ snd wp <= a < snd wp + 94 * Z.of_nat n) (combine written_ bs) -> h a = mem m a).
Proof.
  intros CH EN; set (K := lanes_kernel) in *; set (OP := each_op op k g apart) in *; set (q := length written_) in *.
  set (from := fun vs bs => origin_of (value_of (arguments A) vs) (fun l => nth l bs 0)).
  exists (fun at_ p vs bs n => all_accesses V K OP at_ p (from vs bs) n).
  intros m n bs s t buffers_ after LB PTR CALL REGS COUNT TABLE; set (vs := map (fun i => gpr m (a i)) (seq 0 (S table_at))).
  set (ptr := fun l => nth l bs 0); set (origin := from vs bs) in *.
  assert (GET : forall i, (i < S table_at)%nat -> origin (a i) = gpr m (a i)).
  { intros i L; unfold origin, from, origin_of; pose proof (five_arguments V) as FIVE.
    pose proof (proj1 (Forall_forall _ _) (arguments_below V) (a i) ltac:(apply nth_In; fold A in FIVE |- *; rewrite FIVE; lia)) as BELOW.
    rewrite (proj2 (Nat.ltb_lt (a i) 99)) by (cbv beta in BELOW; lia); transitivity (nth i vs 0).
    - apply (argument_value V vs); unfold vs; rewrite map_length, seq_length; [exact L|lia].
    - apply (nth_map_seq 0 (fun i => gpr m (a i))); exact L. }
  pose proof (GET 0%nat ltac:(lia)) as G0; fold s in G0; pose proof (GET table_at ltac:(lia)) as GT; fold t in GT.
  pose proof (GET count_at ltac:(lia)) as GC; rewrite COUNT in GC.
  assert (PO : forall l, origin (lane_pointer l) = ptr l) by (intro; apply origin_pointer).
  assert (BO : forall l, origin (lane_block l) = ptr l) by (intro; apply origin_block).
  assert (BSM : bs = map ptr (seq 0 q)).
  { apply nth_ext with (d := 0) (d' := 0); [rewrite map_length, seq_length; exact LB|]; intros l L.
    rewrite (nth_map_seq 0) by lia; reflexivity. }
  assert (WS : combine written_ bs = map (fun l => (nth l written_ false, ptr l)) (seq 0 q)).
  { rewrite BSM, <- (combine_map (fun l => nth l written_ false) ptr); f_equal.
    apply nth_ext with (d := false) (d' := false); [rewrite map_length, seq_length; reflexivity|]; intros l L.
    rewrite (nth_map_seq false) by exact L; reflexivity. }
  assert (BS : buffers K origin n = buffers_).
  { unfold buffers, fixed, buffers_; cbn [K lanes_kernel state arranged in_lanes_of room tables given streams map app fst snd].
    rewrite G0, GT, WS, !map_map; do 2 f_equal; f_equal.
    - apply map_ext_in; intros i J; apply in_seq in J; cbn [fst snd]; rewrite GET, Nat2Z.inj_mul by lia; reflexivity.
    - apply map_ext; intro l; unfold buffer_of; rewrite extent_whole; cbn [begins written fst snd]; rewrite BO; reflexivity. }
  set (f := fun i l => many i (lane_at (mem m) s l) (chunks (mem m) (ptr l) i)).
  assert (SA : forall h, state_at K origin h = concat (map (lane_at h s) (seq 0 k))).
  { intro h; unfold state_at; cbn [K lanes_kernel state arranged in_lanes_of state_size Loop.place]; rewrite G0.
    rewrite (in_rows (fun l i => h (s + Z.of_nat (place l i)))) by discriminate; f_equal; apply map_ext_in; intros l J.
    apply in_seq in J; rewrite (lane_is h s k l) by lia; unfold lane; apply map_ext_in; intros i I; apply in_seq in I.
    rewrite nth_read by (apply place_bound; lia); reflexivity. }
  assert (LL : forall h l, (l < k)%nat -> length (lane_at h s l) = 128%nat).
  { intros h l L; rewrite (lane_is h s k l L); unfold lane; now rewrite map_length, seq_length. }
  assert (KQ : (k <= q)%nat) by (rewrite SHAPE; destruct apart; lia).
  set (block := fun h i l => read h (ptr l + 94 * Z.of_nat i) 94).
  assert (BA : forall h i, block_at K origin h i = map (block h i) (seq 0 q)).
  { intros h i; unfold block_at; cbn [K lanes_kernel streams]; rewrite map_map; apply map_ext_in; intros l J.
    pose proof (B_stream A K OP CH origin i (Stream (lane_block l) (nth l written_ false) 94 94)
      (in_map (fun l => Stream (lane_block l) (nth l written_ false) 94 94) _ _ J)) as E; cbn [begins stride block_size] in *.
    rewrite E, BO; reflexivity. }
  assert (FL : forall i l, (l < k)%nat -> length (fst (f i l)) = 128%nat).
  { intros i l L; induction i as [|i IH]; unfold f in *; [cbn [chunks seq map]; rewrite many_none; apply LL; exact L|].
    rewrite chunks_next, many_next; apply one_length; [exact IH|apply read_length]. }
  (** One iteration, on the states of all lanes. *)
  assert (GL : length (given_bytes K origin m) = g).
  { unfold given_bytes; cbn [K lanes_kernel given]; now rewrite !map_length, seq_length. }
  assert (EACH : forall i, each_bytes op k g apart (concat (map (fun l => fst (f i l)) (seq 0 k)))
      (given_bytes K origin m ++ map (block (mem m) i) (seq 0 q)) =
    (concat (map (fun l => fst (one (fst (f i l)) (block (mem m) i l))) (seq 0 k)),
     (if apart then map (block (mem m) i) (seq 0 k) else []) ++
     map (fun l => snd (one (fst (f i l)) (block (mem m) i l))) (seq 0 k))).
  { intro i; unfold each_bytes, with_inputs; rewrite <- GL, skipn_app, skipn_all, Nat.sub_diag, skipn_O; cbn [app].
    replace q with (k + (q - k))%nat by lia; rewrite seq_app, map_app.
    rewrite split_concat, firstn_app, map_length, seq_length, Nat.sub_diag, firstn_O, app_nil_r.
    - rewrite firstn_all2 by (rewrite map_length, seq_length; lia); rewrite (combine_more (fun l => fst (f i l))), !map_map.
      f_equal; [f_equal|f_equal]; apply map_ext; intro l; cbn [fst snd]; rewrite one_is; reflexivity.
    - now rewrite map_length, seq_length.
    - apply Forall_forall; intros x J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; apply FL; lia. }
  assert (CA : forall i, carried_after K OP origin m i = concat (map (fun l => fst (f i l)) (seq 0 k))).
  { induction i as [|i IH]; cbn [carried_after].
    - cbn [OP each_op enter]; rewrite SA; f_equal; apply map_ext; intro l; unfold f; cbn [chunks seq map]; rewrite many_none; reflexivity.
    - rewrite IH, BA; cbn [OP each_op on_bytes]; rewrite EACH; cbn [fst]; f_equal; apply map_ext; intro l.
      unfold f; rewrite chunks_next, many_next; reflexivity. }
  assert (OUT : forall i, output K OP origin m i = (if apart then map (block (mem m) i) (seq 0 k) else []) ++
    map (fun l => snd (one (fst (f i l)) (block (mem m) i l))) (seq 0 k)).
  { intro i; unfold output; rewrite CA, BA; cbn [OP each_op on_bytes]; rewrite EACH; reflexivity. }
  rewrite <- BS; apply (call_sound V K OP CH EN origin m n).
  { apply Forall_forall; intros rv J; apply in_map_iff in J as (r & <- & J); apply in_seq in J; cbn [fst snd number_is].
    rewrite Z.add_0_r, GET, wrap_small by (lia || apply REGS); reflexivity. }
  { constructor; [reflexivity|]; apply Forall_app; split; [|apply Forall_app; split]; apply Forall_forall; intros rv J;
      apply in_map_iff in J as (r & <- & J); try reflexivity.
    destruct (snd r); cbn [fst snd number_is]; [rewrite PO, BO|]; reflexivity. }
  { rewrite BS; exact CALL. }
  { constructor; [cbn [fst snd]; rewrite GT; exact TABLE|constructor]. }
  { apply Forall_forall; intros x J; apply in_map_iff in J as (l & <- & J); rewrite PO, BO; apply Z.add_0_r. }
  { apply Forall_forall; intros x J; apply in_flat_map in J as (i & I & J); apply in_seq in I.
    apply in_map_iff in J as (l & <- & J); apply in_seq in J; rewrite PO, GET by lia; unfold ptr; rewrite PTR by lia.
    unfold addresses_at; rewrite (nth_map_seq 0) by lia; unfold wrap; rewrite Z.mod_mod by lia; reflexivity. }
  { unfold change; cbn [K lanes_kernel changes count find fst snd]; rewrite Nat.eqb_refl, GC; cbn [snd]; lia. }
  { cbn [K lanes_kernel count]; rewrite GC, <- COUNT; apply REGS. }
  intros h (LEN & ST & DN & FR); split; [|split].
  - rewrite SA, CA in ST; rewrite firstn_all2 in ST.
    + unfold lanes, after; rewrite map_map; change (fun l => fst _) with (fun l => fst (f n l)).
      rewrite <- (split_concat 128 k (map (lane_at h s) (seq 0 k))), <- (split_concat 128 k (map (fun l => fst (f n l)) (seq 0 k))), ST;
        [reflexivity|now rewrite map_length, seq_length| |now rewrite map_length, seq_length|];
        apply Forall_forall; intros x J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; [apply FL|apply LL]; lia.
    + rewrite <- CA, LEN; apply le_n.
  - assert (CH1 : forall l i, (l < k)%nat -> (i <= n)%nat -> chunks h (ptr ((if apart then k else 0) + l)%nat) i = snd (f i l)).
    { intros l i L; induction i as [|i IH]; intro LI; unfold f in *; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
      rewrite (chunks_next h), (chunks_next (mem m)), many_next, IH by lia; cbn [snd]; f_equal; f_equal.
      specialize (DN i LI); rewrite BA, OUT in DN; apply (f_equal (fun x => nth ((if apart then k else 0) + l)%nat x [])) in DN.
      rewrite (nth_map_seq []) in DN by (rewrite SHAPE; destruct apart; lia); unfold block in DN; rewrite DN.
      destruct apart; [rewrite app_nth2; rewrite map_length, seq_length|]; [|lia|]; cbn [app]; rewrite ?Nat.add_0_l;
        [replace (k + l - k)%nat with l by lia|]; rewrite (nth_map_seq []) by exact L; reflexivity. }
    unfold after; rewrite map_map; apply nth_ext with (d := []) (d' := []).
    + rewrite !map_length, skipn_length, seq_length, LB, SHAPE; destruct apart; lia.
    + rewrite map_length, skipn_length, LB, SHAPE; intros l L; assert (LK : (l < k)%nat) by (destruct apart; lia).
      rewrite (nth_map_seq []) by exact LK; rewrite (nth_indep _ [] (chunks h 0 n)) by
        (rewrite map_length, skipn_length, LB, SHAPE; exact L).
      rewrite (map_nth (fun p => chunks h p n)), nth_skipn; exact (CH1 l n LK (le_n n)).
  - intros x NI F; apply FR; intros [(i & L & E)|(d & J & W & X)].
    + cbn [K lanes_kernel state arranged in_lanes_of state_size Loop.place] in L, E; rewrite G0 in E; apply NI.
      assert (I : (i / 128 < k)%nat) by (apply Nat.div_lt_upper_bound; lia).
      pose proof (Nat.mod_upper_bound i 128 ltac:(lia)) as IM; set (l := (i / 128)%nat) in *; set (r := (i mod 128)%nat) in *.
      exists (r / 16)%nat; split; [apply Nat.div_lt_upper_bound; lia|]; subst x; unfold place.
      pose proof (Nat.mod_upper_bound r 16 ltac:(lia)); lia.
    + cbn [K lanes_kernel streams] in J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; cbn [begins written block_size] in *.
      rewrite BO in X; rewrite WS, Forall_map, Forall_forall in F; exact (F l ltac:(apply in_seq; lia) W X).
Qed.
End One.

(** ** The theorems: kernels with a buffer for each lane, and those that encrypt or decrypt from one to another, or in place *)

Lemma addresses_length m p k : length (addresses_at m p k) = k.
Proof. unfold addresses_at; now rewrite map_length, seq_length. Qed.

Lemma combine_repeat {T} (w : bool) (bs : list T) : combine (repeat w (length bs)) bs = map (fun p => (w, p)) bs.
Proof. induction bs as [|b bs IH]; cbn [length repeat combine map]; [reflexivity|]; rewrite IH; reflexivity. Qed.

Lemma combine_one {T} (w : bool) k (bs : list T) : length bs = k -> combine (repeat w k) bs = map (fun p => (w, p)) bs.
Proof. intros <-; apply combine_repeat. Qed.

Lemma combine_two {T} (v w : bool) k (bs cs : list T) : length bs = k -> length cs = k ->
  combine (repeat v k ++ repeat w k) (bs ++ cs) = map (fun p => (v, p)) bs ++ map (fun p => (w, p)) cs.
Proof.
  intros <- L; rewrite <- (combine_one w _ cs L), <- combine_repeat; generalize (repeat w (length bs)) as rest; clear L.
  induction bs as [|b bs IH]; intro rest; cbn [length repeat app combine]; [reflexivity|]; rewrite IH; reflexivity.
Qed.

Section Two.
Variables (code_ : list byte) (head_ : Z) (k : nat) (constants : list byte) (shift : Z) (moving_ : list (nat * option nat))
  (words_ : list (nat * list (nat * nat))) (constants_ : list (nat * list byte)) (numbers_ : list (nat * Z)) (held_ : list nat).
Notation kernel_ streams written := (lanes_kernel code_ head_ k constants shift streams written moving_ words_ constants_ numbers_ held_).

Definition one_kernel (w : bool) : kernel := kernel_ [0%nat] (repeat w k).
Definition crypt_kernel (apart : bool) : kernel :=
  if apart then kernel_ [0%nat; k] (repeat false k ++ repeat true k) else kernel_ [0; 0]%nat (repeat true k).

Variables (op : operation) (one : list byte -> list byte -> list byte * list byte)
  (many : nat -> list byte -> list (list byte) -> list byte * list (list byte)).
Hypothesis one_is : forall s c, on_bytes op s [c] = (fst (one s c), [snd (one s c)]).
Hypothesis one_length : forall s c, length s = 128%nat -> length c = 94%nat -> length (fst (one s c)) = 128%nat.
Hypothesis many_none : forall s, many 0 s [] = (s, []).
Hypothesis many_next : forall n cs s c, many (S n) s (cs ++ [c]) =
  (fst (one (fst (many n s cs)) c), snd (many n s cs) ++ [snd (one (fst (many n s cs)) c)]).

Theorem lanes_sound w : checks A (one_kernel w) (each_op op k 1 false) = true -> ends_in_return A code_ ->
  maps_lanes k constants w many code_.
Proof.
  intros CH EN; destruct (whole code_ head_ k constants shift [0%nat] (repeat w k) moving_ words_ constants_ numbers_ held_
    op one many one_is one_length many_none many_next false (repeat_length w k) ltac:(cbn [length]; lia) CH EN) as (acc & H).
  exists (fun at_ p s b bs t n => acc at_ p [s; b; Z.of_nat n; t] bs n).
  intros m n s b t blocks bfs after CALL REGS COUNT TABLE; pose proof (addresses_length (mem m) b k) as LB; fold blocks in LB.
  specialize (H m n blocks); cbv zeta in H; cbn [length map seq app nth skipn Nat.add] in H.
  rewrite (combine_one w k blocks LB), COUNT, map_map, repeat_length in H; cbn [fst snd] in H.
  destruct (H LB) as (AL & j & m' & R & RT & (ST & O & FR) & SO & TR);
    [intros [|i] l I L; [reflexivity|lia]|exact CALL|exact REGS|reflexivity|exact TABLE|].
  split; [exact AL|]; exists j, m'; do 2 (split; [assumption|]); split; [|split; assumption]; do 2 (split; [assumption|]).
  intros x NI F; apply FR; [exact NI|]; rewrite Forall_map; exact F.
Qed.

Theorem crypt_sound crypt apart : many = (fun _ => crypt) ->
  checks A (crypt_kernel apart) (each_op op k 2 apart) = true -> ends_in_return A code_ ->
  crypts_lanes k constants apart crypt code_.
Proof.
  intro MANY; destruct apart; intros CH EN; cbn [crypt_kernel] in CH.
  - assert (SH : length (repeat false k ++ repeat true k) = (k + k)%nat) by (rewrite app_length, !repeat_length; reflexivity).
    destruct (whole code_ head_ k constants shift [0%nat; k] (repeat false k ++ repeat true k) moving_ words_ constants_ numbers_
      held_ op one many one_is one_length many_none many_next true SH ltac:(cbn [length]; lia) CH EN) as (acc & H).
    exists (fun at_ p s i o from to t n => acc at_ p [s; i; o; Z.of_nat n; t] (from ++ to) n).
    intros m n s i o t from to bfs after CALL _ REGS COUNT TABLE; rewrite MANY in H.
    pose proof (addresses_length (mem m) i k) as LF; fold from in LF; pose proof (addresses_length (mem m) o k) as LT; fold to in LT.
    specialize (H m n (from ++ to)); cbv zeta in H; cbn [length map seq app nth Nat.add] in H.
    rewrite (combine_two false true k from to LF LT), COUNT, SH, app_length, LF, LT in H.
    replace (skipn k (from ++ to)) with to in H by (rewrite skipn_app, LF, Nat.sub_diag, <- LF, skipn_all; reflexivity).
    replace (map (fun l => crypt (lane_at (mem m) (gpr m (a 0)) l) (chunks (mem m) (nth l (from ++ to) 0) n)) (seq 0 k)) with after in H
      by (apply map_ext_in; intros l J; apply in_seq in J; rewrite app_nth1 by lia; reflexivity).
    rewrite map_app, !map_map in H; cbn [fst snd] in H.
    destruct (H eq_refl) as (AL & j & m' & R & RT & (ST & O & FR) & SO & TR); [|exact CALL|exact REGS|reflexivity|exact TABLE|].
    + intros [|[|u]] l I L; cbn [nth Nat.add]; [rewrite app_nth1 by lia; reflexivity| |lia].
      rewrite app_nth2 by lia; rewrite LF; replace (k + l - k)%nat with l by lia; reflexivity.
    + split; [exact AL|]; exists j, m'; do 2 (split; [assumption|]); split; [|split; assumption]; do 2 (split; [assumption|]).
      intros x NI F; apply FR; [exact NI|]; apply Forall_app; split; rewrite Forall_map; cbn [fst snd];
        [apply Forall_forall; discriminate|revert F; apply Forall_impl; auto].
  - destruct (whole code_ head_ k constants shift [0; 0]%nat (repeat true k) moving_ words_ constants_ numbers_
      held_ op one many one_is one_length many_none many_next false (repeat_length true k) ltac:(cbn [length]; lia) CH EN) as (acc & H).
    exists (fun at_ p s i o from to t n => acc at_ p [s; i; o; Z.of_nat n; t] to n).
    intros m n s i o t from to bfs after CALL SAME REGS COUNT TABLE; specialize (SAME eq_refl); rewrite MANY in H.
    pose proof (addresses_length (mem m) o k) as LT; fold to in LT.
    specialize (H m n to); cbv zeta in H; cbn [length map seq app nth skipn Nat.add] in H.
    rewrite (combine_one true k to LT), COUNT, map_map, repeat_length in H; cbn [fst snd] in H.
    unfold after; rewrite <- SAME.
    destruct (H LT) as (AL & j & m' & R & RT & (ST & O & FR) & SO & TR); [|exact CALL|exact REGS|reflexivity|exact TABLE|].
    + intros [|[|u]] l I L; cbn [nth Nat.add]; [rewrite SAME; reflexivity|reflexivity|lia].
    + split; [exact AL|]; exists j, m'; do 2 (split; [assumption|]); split; [|split; assumption]; do 2 (split; [assumption|]).
      intros x NI F; apply FR; [exact NI|]; rewrite Forall_map; cbn [fst snd]; revert F; apply Forall_impl; auto.
Qed.
End Two.

(** The operations of the duplex. *)
Section Operations.
Variables (code_ : list byte) (head_ : Z) (k : nat) (constants : list byte) (shift : Z) (moving_ : list (nat * option nat))
  (words_ : list (nat * list (nat * nat))) (constants_ : list (nat * list byte)) (numbers_ : list (nat * Z)) (held_ : list nat).
Notation with_ sound op one many one_is one_length next := (sound code_ head_ k constants shift moving_ words_ constants_ numbers_
  held_ op one many one_is one_length (fun s => eq_refl) next).

Definition absorb_lanes := with_ lanes_sound absorb_op absorb_one absorb_many absorb_lane absorb_length absorb_many_next false.
Definition squeeze_lanes := with_ lanes_sound squeeze_op squeeze_one squeeze_many squeeze_lane squeeze_length squeeze_many_next true.
Definition encrypt_lanes apart := with_ crypt_sound encrypt_in_place_op encrypt_block encrypt_many encrypt_in_place_is encrypt_length
  encrypt_many_next encrypt_blocks apart eq_refl.
Definition decrypt_lanes apart := with_ crypt_sound decrypt_in_place_op decrypt_block decrypt_many decrypt_in_place_is decrypt_length
  decrypt_many_next decrypt_blocks apart eq_refl.
End Operations.
End Kernels.
