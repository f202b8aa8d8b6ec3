(** * LaneKernels: the theorem about kernels that process blocks of several states, for any calling convention

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call Loop Operations DuplexBlocks.
From Veriplex Require Import BlockKernels Lanes.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements *)

(** The addresses of k lanes' blocks, beside each other in memory. *)
Definition addresses_at (m : memory) (a : Z) (k : nat) : list Z :=
  map (fun l => wrap (number_of (read m (a + 8 * Z.of_nat l) 8))) (seq 0 k).

(** ** An operation on each of several states, with one block each *)

Section Each.
Variables (op : operation) (k : nat).

(** The first of the other buffers has the addresses of the blocks. *)
Definition each_bytes (s : list byte) (cs : list (list byte)) : list byte * list (list byte) :=
  let rs := map (fun sc => on_bytes op (fst sc) [snd sc]) (combine (split 128 k s) (tl cs)) in
  (concat (map fst rs), map (fun r => nth 0 (snd r) []) rs).

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
  match each (ssplit 128 k s) (tl cs) nodes with Some (ss, cs, nodes) => Some (concat ss, cs, nodes) | None => None end.

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
  assert (X : concat ss = s' /\ ds = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (<- & <- & ->).
  apply (each_sound env) in E as [X S]; split; [exact X|]; intro C; destruct (S C) as [Y1 Y2]; unfold each_bytes.
  rewrite <- ssplit_evs; replace (tl (map (evs env) cs)) with (map (evs env) (tl cs)) by (destruct cs; reflexivity).
  rewrite Y1, Y2, (concat_map (ev env) ss : evs env (concat ss) = _); reflexivity.
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
Let A := abi_of V.
Notation a := (argument A).

Hypothesis DISTINCT : NoDup (arguments A).
Hypothesis FIVE : length (arguments A) = 5%nat.

Hypothesis BELOW : forallb (fun r => r <? 99)%nat (arguments A) = true.

Section One.
(** The arguments are the addresses of the states and of the blocks' addresses, the number of blocks, and the address of the
    table, to which the code adds [shift].  [moving]: registers with the offset of the blocks, or with the address of the
    next block of a lane.  Vector registers have words of the states (lane, word), or constants. *)
Variables (code_ : list byte) (head_ : Z) (k : nat) (constants : list byte) (shift : Z) (written_ : bool)
  (moving_ : list (nat * option nat)) (words_ : list (nat * list (nat * nat))) (constants_ : list (nat * list byte))
  (numbers_ : list (nat * Z)) (held_ : list nat).

Definition lanes_kernel : kernel :=
  Kernel code_ head_ (a 0) (in_lanes_of k held_) [(a 3, constants)] [(a 1, (8 * k)%nat)]
    (map (fun l => Stream (lane_block l) written_ 94 94) (seq 0 k)) (a 2)
    ((a 2, -1) :: (offset, 94) :: map (fun l => (lane_block l, 94)) (seq 0 k))
    (map (fun i => (a i, (Some (a i), 0))) (seq 0 4))
    ((a 3, (Some (a 3), shift), (Some (a 3), shift)) :: map (fun i => (a i, (Some (a i), 0), (Some (a i), 0))) (seq 0 3) ++
     map (fun r => match snd r with
                   | None => (fst r, (None, 0), (Some offset, 0))
                   | Some l => (fst r, (Some (lane_pointer l), 0), (Some (lane_block l), 0))
                   end) moving_ ++ map (fun rz => (fst rz, (None, snd rz), (None, snd rz))) numbers_)
    (map (fun rl => (fst rl, map (fun lw => 8 * fst lw + snd lw)%nat (snd rl))) words_) constants_
    (map (fun l => (lane_pointer l, offset, lane_block l)) (seq 0 k))
    (map (fun l => (a 1, 8 * Z.of_nat l, lane_pointer l)) (seq 0 k)).

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

Theorem lanes_sound : checks A lanes_kernel (each_op op k) = true -> ends_in_return A code_ ->
  exists accesses : Z -> Z -> Z -> Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let states := gpr m (a 0) in let addresses := gpr m (a 1) in let table := gpr m (a 3) in
  let blocks := addresses_at (mem m) addresses k in
  let buffers := (true, (states, Z.of_nat (size k))) :: (false, (table, Z.of_nat (length constants))) ::
    (false, (addresses, 8 * Z.of_nat k)) :: map (fun p => (written_, (p, 94 * Z.of_nat n))) blocks in
  let after := map (fun l => many n (lane_at (mem m) states l) (chunks (mem m) (nth l blocks 0) n)) (seq 0 k) in
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table (length constants) = constants ->
  Forall (touches (snd (code_part code_ m)) (beside V m ++ buffers) buffers)
    (accesses (pc m) (pointer V m) states addresses blocks table n) /\
  exists j m', run (isa_of A) j m = Some m' /\ returned V m m' /\
    lanes k (mem m') states = map fst after /\
    map (fun p => chunks (mem m') p n) blocks = map snd after /\
    (forall a, ~ in_lanes k states a ->
       Forall (fun p => written_ = true -> ~ p <= a < p + 94 * Z.of_nat n) blocks -> mem m' a = mem m a) /\
    trace m' = accesses (pc m) (pointer V m) states addresses blocks table n ++ trace m.
Proof.
  intros CH EN; set (K := lanes_kernel) in *.
  set (from := fun s b bs t n => origin_of (value_of (arguments A) [s; b; Z.of_nat n; t; 0]) (fun l => nth l bs 0)).
  exists (fun at_ p s b bs t n => last_accesses V p (at_ + last_at A code_) ++
    accesses A K (each_op op k) at_ (from s b bs t n) n).
  intros m n s b t bs buffers_ after CALL REGS COUNT TABLE; set (ptr := fun l => nth l bs 0); set (origin := from s b bs t n).
  assert (GET : forall i, (i < 5)%nat -> origin (a i) = nth i [s; b; Z.of_nat n; t; 0] 0).
  { intros i L; unfold origin, from, origin_of; rewrite forallb_forall in BELOW.
    rewrite (BELOW (a i)) by (apply nth_In; rewrite FIVE; exact L); apply value_at; [exact DISTINCT|rewrite FIVE; exact L|exact L]. }
  pose proof (GET 0%nat ltac:(lia)) as G0; pose proof (GET 1%nat ltac:(lia)) as G1.
  pose proof (GET 2%nat ltac:(lia)) as G2; pose proof (GET 3%nat ltac:(lia)) as G3; cbn [nth] in G0, G1, G2, G3.
  assert (OP : forall l, origin (lane_pointer l) = ptr l) by (intro; apply origin_pointer).
  assert (OB : forall l, origin (lane_block l) = ptr l) by (intro; apply origin_block).
  assert (PTR : forall l, (l < k)%nat -> ptr l = wrap (number_of (read (mem m) (b + 8 * Z.of_nat l) 8))).
  { intros l L; unfold ptr, bs, addresses_at; rewrite (nth_map_seq 0) by exact L; reflexivity. }
  assert (BSM : bs = map ptr (seq 0 k)).
  { unfold bs, addresses_at; apply map_ext_in; intros l J; apply in_seq in J; symmetry; apply PTR; lia. }
  assert (BS : buffers K origin n = buffers_).
  { unfold buffers, fixed, buffers_; cbn [K lanes_kernel state arranged in_lanes_of room tables given streams map app fst snd].
    rewrite G0, G1, G3, BSM, !map_map, Nat2Z.inj_mul; do 3 f_equal; apply map_ext; intro l; unfold buffer_of.
    rewrite extent_whole; cbn [begins written]; rewrite OB; reflexivity. }
  assert (NUMBER : forall i, (i < 4)%nat -> gpr m (a i) = number_is origin (Some (a i), 0)).
  { intros i L; cbn [number_is]; rewrite Z.add_0_r; assert (E : gpr m (a i) = origin (a i)).
    { destruct i as [|[|[|[|i]]]]; [rewrite G0|rewrite G1|rewrite G2; exact COUNT|rewrite G3|lia]; reflexivity. }
    rewrite <- E, wrap_small by apply REGS; reflexivity. }
  destruct (loop_sound A K (each_op op k) CH (pc m) origin m n (beside V m) eq_refl) as (AL & LEN & j & m1 & R & AT & ST & DN & FR & TR).
  { apply Forall_forall; intros rv J; apply in_map_iff in J as (r & <- & J); apply in_seq in J; apply NUMBER; lia. }
  { constructor; [reflexivity|]; apply Forall_app; split; [|apply Forall_app; split]; apply Forall_forall; intros rv J;
      apply in_map_iff in J as (r & <- & J); try reflexivity.
    destruct (snd r); cbn [fst snd number_is]; [rewrite OP, OB|]; reflexivity. }
  { rewrite BS; exact (called_valid V _ _ _ CALL). }
  { constructor; [cbn [fst snd]; rewrite G3; exact TABLE|constructor]. }
  { apply Forall_forall; intros x J; apply in_map_iff in J as (l & <- & J); rewrite OP, OB; apply Z.add_0_r. }
  { apply Forall_forall; intros x J; apply in_map_iff in J as (l & <- & J); apply in_seq in J.
    rewrite OP, G1, (PTR l) by lia; unfold wrap; rewrite Z.mod_mod by lia; reflexivity. }
  { unfold change; cbn [K lanes_kernel changes count find fst snd]; rewrite Nat.eqb_refl, G2; cbn [snd]; lia. }
  { cbn [K lanes_kernel count]; rewrite G2, <- COUNT; apply REGS. }
  { exact EN. }
  pose proof (same_outside_of A K (each_op op k) CH origin m n m1 FR) as SO; rewrite BS in AL, SO.
  destruct (return_step V _ _ _ _ EN CALL AT SO) as (m2 & S2 & RT & ME & TR2).
  set (f := fun i l => many i (lane_at (mem m) s l) (chunks (mem m) (ptr l) i)).
  assert (SA : forall h, state_at K origin h = concat (map (lane_at h s) (seq 0 k))).
  { intro h; unfold state_at; cbn [K lanes_kernel state arranged in_lanes_of state_size Loop.place]; rewrite G0.
    rewrite (in_rows (fun l i => h (s + Z.of_nat (place l i)))) by discriminate; f_equal; apply map_ext_in; intros l J.
    apply in_seq in J; rewrite (lane_is h s k l) by lia; unfold lane; apply map_ext_in; intros i I; apply in_seq in I.
    rewrite nth_read by (apply place_bound; lia); reflexivity. }
  assert (LL : forall h l, (l < k)%nat -> length (lane_at h s l) = 128%nat).
  { intros h l L; rewrite (lane_is h s k l L); unfold lane; now rewrite map_length, seq_length. }
  assert (BA : forall h i, block_at K origin h i = map (fun l => read h (ptr l + 94 * Z.of_nat i) 94) (seq 0 k)).
  { intros h i; unfold block_at; cbn [K lanes_kernel streams]; rewrite map_map; apply map_ext_in; intros l J.
    pose proof (B_stream A K (each_op op k) CH origin i (Stream (lane_block l) written_ 94 94)
      (in_map (fun l => Stream (lane_block l) written_ 94 94) _ _ J)) as E; cbn [begins stride block_size] in *.
    rewrite E, OB; reflexivity. }
  assert (FL : forall i l, (l < k)%nat -> length (fst (f i l)) = 128%nat).
  { intros i l L; induction i as [|i IH]; unfold f in *; [cbn [chunks seq map]; rewrite many_none; apply LL; exact L|].
    rewrite chunks_next, many_next; apply one_length; [exact IH|apply read_length]. }
  assert (CA : forall i, carried_after K (each_op op k) origin m i = concat (map (fun l => fst (f i l)) (seq 0 k))).
  { induction i as [|i IH]; cbn [carried_after].
    - cbn [each_op enter]; rewrite SA; f_equal; apply map_ext; intro l; unfold f; cbn [chunks seq map]; rewrite many_none; reflexivity.
    - rewrite IH, BA; cbn [K lanes_kernel given_bytes given map app each_op on_bytes]; unfold each_bytes; cbn [fst tl].
      rewrite split_concat.
      + f_equal; rewrite (combine_map (fun l => fst (f i l))), !map_map; apply map_ext; intro l; cbn [fst snd].
        rewrite one_is; unfold f; rewrite chunks_next, many_next; reflexivity.
      + now rewrite map_length, seq_length.
      + apply Forall_forall; intros x J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; apply FL; lia. }
  assert (OUT : forall i, output K (each_op op k) origin m i =
    map (fun l => snd (one (fst (f i l)) (read (mem m) (ptr l + 94 * Z.of_nat i) 94))) (seq 0 k)).
  { intro i; unfold output; rewrite CA, BA; cbn [K lanes_kernel given_bytes given map app each_op on_bytes]; unfold each_bytes; cbn [snd tl].
    rewrite split_concat.
    - rewrite (combine_map (fun l => fst (f i l))), !map_map; apply map_ext; intro l; cbn [fst snd]; rewrite one_is; reflexivity.
    - now rewrite map_length, seq_length.
    - apply Forall_forall; intros x J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; apply FL; lia. }
  split; [apply Forall_app; split; [exact (last_touches V _ _ _ EN CALL)|exact AL]|].
  exists (j + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in S2; rewrite S2; reflexivity|].
  split; [exact RT|]; rewrite ME, TR2, TR; split; [|split; [|split; [|rewrite <- app_assoc; reflexivity]]].
  - rewrite SA, CA in ST; rewrite firstn_all2 in ST.
    + unfold lanes, after; rewrite map_map; change (fun l => fst _) with (fun l => fst (f n l)).
      rewrite <- (split_concat 128 k (map (lane_at (mem m1) s) (seq 0 k))), <- (split_concat 128 k (map (fun l => fst (f n l)) (seq 0 k))), ST;
        [reflexivity|now rewrite map_length, seq_length| |now rewrite map_length, seq_length|];
        apply Forall_forall; intros x J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; [apply FL|apply LL]; lia.
    + rewrite <- CA, (LEN n (le_n n)); apply le_n.
  - assert (CH1 : forall l i, (l < k)%nat -> (i <= n)%nat -> chunks (mem m1) (ptr l) i = snd (f i l)).
    { intros l i L; induction i as [|i IH]; intro LI; unfold f in *; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
      rewrite (chunks_next (mem m1)), (chunks_next (mem m)), many_next, IH by lia; cbn [snd]; f_equal; f_equal.
      specialize (DN i LI); rewrite BA, OUT in DN; apply (f_equal (fun x => nth l x [])) in DN.
      rewrite !(nth_map_seq []) in DN by exact L; exact DN. }
    rewrite BSM, map_map; unfold after; rewrite map_map; apply map_ext_in; intros l J; apply in_seq in J.
    apply CH1; lia.
  - intros x NI F; apply FR; intros [(i & L & E)|(d & J & W & X)].
    + cbn [K lanes_kernel state arranged in_lanes_of state_size Loop.place] in L, E; rewrite G0 in E; apply NI.
      assert (I : (i / 128 < k)%nat) by (apply Nat.div_lt_upper_bound; lia).
      pose proof (Nat.mod_upper_bound i 128 ltac:(lia)) as IM; set (l := (i / 128)%nat) in *; set (q := (i mod 128)%nat) in *.
      exists (q / 16)%nat; split; [apply Nat.div_lt_upper_bound; lia|]; subst x; unfold place.
      pose proof (Nat.mod_upper_bound q 16 ltac:(lia)); lia.
    + cbn [K lanes_kernel streams] in J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; cbn [begins written block_size] in *.
      rewrite OB in X; rewrite BSM, Forall_map, Forall_forall in F; exact (F l ltac:(apply in_seq; lia) W X).
Qed.
End One.
End Kernels.
