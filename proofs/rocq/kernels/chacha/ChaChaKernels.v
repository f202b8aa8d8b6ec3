(** * ChaChaKernels: the theorem about kernels of ChaCha, for any calling convention and number of lanes

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic Checker Segment Call Loop KernelCall Operations
  ArxRounds ChaChaRows BlockKernels.
From Veriplex Require ChaCha.
Import ListNotations.
Local Open Scope Z_scope.

(** n groups of k blocks of 64 bytes, one after the other. *)
Definition groups (m : memory) (a : Z) (k n : nat) : list (list (list byte)) :=
  map (fun j => split 64 k (read m (a + Z.of_nat (64 * k) * Z.of_nat j) (64 * k))) (seq 0 n).

(** Memory holds bytes. *)
Definition bytes_in_memory (m : memory) : Prop := forall a, (m a < 256)%N.

Lemma read_small m a n : bytes_in_memory m -> small 256 (read m a n).
Proof. intro H; apply Forall_forall; intros b J; apply in_map_iff in J as (i & <- & _); apply H. Qed.

Lemma xor_length x : forall y, length x = length y -> length (xor x y) = length x.
Proof.
  induction x as [|a x IH]; intros [|b y] L; cbn [length xor] in *; try discriminate; [reflexivity|]; rewrite IH; congruence.
Qed.

Lemma split_lengths k : forall x, length x = (64 * k)%nat -> Forall (fun c => length c = 64%nat) (split 64 k x).
Proof.
  induction k as [|k IH]; intros x L; cbn [split]; constructor; [rewrite firstn_length; lia|].
  apply IH; rewrite skipn_length; lia.
Qed.

(** ** What a kernel computes on rows, in registers of 16 bytes *)

Section Rows.
Variables (moves : bool) (rounds k : nat).

Definition rows_symbols (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :=
  match sxor_lanes moves (rounds / 2) diagonals columns_again (nth 0 cs []) k s (nth 1 cs []) nodes with
  | Some (r, nodes) => Some (snd r, [fst r], nodes)
  | None => None
  end.

Definition rows_bytes (s : list byte) (cs : list (list byte)) : list byte * list (list byte) :=
  let r := xor_lanes moves (rounds / 2) diagonals columns_again (nth 0 cs []) k s (nth 1 cs []) in (snd r, [fst r]).

Lemma rows_agree env s cs nodes s' cs' nodes' : rows_symbols s cs nodes = Some (s', cs', nodes') -> extends nodes nodes' /\
  (consistent env nodes' -> rows_bytes (evs env s) (map (evs env) cs) = (evs env s', map (evs env) cs')).
Proof.
  unfold rows_symbols; destruct (sxor_lanes _ _ _ _ _ _ _ _ _) as [[r n]|] eqn:E; [|discriminate]; intro F.
  assert (X : snd r = s' /\ [fst r] = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (<- & <- & ->).
  apply (sxor_lanes_finds moves env) in E as [X S]; split; [exact X|]; intro C; unfold rows_bytes; rewrite !nth_map_evs, <- (S C).
  reflexivity.
Qed.

Definition rows_op : operation :=
  Operation (fun s => s) rows_bytes (fun s nodes => Some (s, nodes)) rows_symbols enters_agree rows_agree.

(** It XORs k blocks with numbers from x on. *)
Lemma rows_op_is key nonce x c : length key = 32%nat -> length nonce = 8%nat -> small 256 key -> small 256 nonce ->
  length c = (64 * k)%nat ->
  on_bytes rows_op (enter rows_op (ChaCha.last_row x nonce)) [ChaCha.first_rows key; c] =
  (enter rows_op (ChaCha.last_row (x + N.of_nat k) nonce),
   [concat (snd (ChaCha.xor_group rounds key nonce (ChaCha.numbers_from x k) (split 64 k c)))]).
Proof.
  intros KL NL KS NS L; cbn [rows_op on_bytes enter]; unfold rows_bytes; cbn [nth].
  rewrite xor_lanes_is by assumption; reflexivity.
Qed.
End Rows.

Lemma row_only nonce x : length nonce = 8%nat -> small 256 nonce -> firstn 16 (ChaCha.last_row x nonce) = ChaCha.last_row x nonce.
Proof. intros L _; apply firstn_all2; unfold ChaCha.last_row; rewrite app_length, little_endian_length; lia. Qed.

Section Kernels.
Variable V : convention.
Context {PROPER : proper V}.
Let A := abi_of V.
Notation a := (argument A).

(** k blocks with numbers from i on are XORed into each of n groups, and the last row gets the next number. *)
Definition xors (k rounds : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat) (key nonce : list byte) (i : N),
  let last_row := gpr m (a 0) in let start := gpr m (a 1) in let in_out := gpr m (a 2) in
  let buffers := [(true, (last_row, 16)); (false, (start, 48)); (true, (in_out, Z.of_nat (64 * k) * Z.of_nat n))] in
  let after := ChaCha.xor_blocks rounds key nonce (ChaCha.numbers_from i k) (groups (mem m) in_out k n) in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n ->
  read (mem m) start 48 = ChaCha.first_rows key -> read (mem m) last_row 16 = ChaCha.last_row i nonce ->
  ends V code buffers (accesses (pc m) (pointer V m) last_row start in_out n) m (fun h =>
    read h last_row 16 = ChaCha.last_row (nth 0 (fst after) 0%N) nonce /\ groups h in_out k n = snd after).

(** The arguments are the last row, the other rows, the buffer and the number of groups.  At the test some registers have
    what the kernel carries, of which the last row is the beginning, and others constants. *)
Variables (code_ : list byte) (head_ : Z) (k carried_ rounds : nat) (words_ : list (nat * list nat)) (constants_ : list (nat * list byte)).

Definition group_kernel : kernel :=
  Kernel code_ head_ (a 0) (Arrangement 16 16 (fun j => j) Some (fun _ => false) carried_) [] [(a 1, 48%nat)]
    [Stream (a 2) true (64 * k) (64 * k)] (a 3) [(a 3, -1); (a 2, Z.of_nat (64 * k))]
    (map (fun i => (a i, (Some (a i), 0))) (seq 0 4)) (map (fun i => (a i, (Some (a i), 0), (Some (a i), 0))) (seq 0 4))
    words_ constants_ [] [].

Variable op : operation.
Hypothesis OP : forall key nonce x c, length key = 32%nat -> length nonce = 8%nat -> small 256 key -> small 256 nonce ->
  length c = (64 * k)%nat ->
  on_bytes op (enter op (ChaCha.last_row x nonce)) [ChaCha.first_rows key; c] =
  (enter op (ChaCha.last_row (x + N.of_nat k) nonce),
   [concat (snd (ChaCha.xor_group rounds key nonce (ChaCha.numbers_from x k) (split 64 k c)))]).
Hypothesis ENTER : forall nonce x, length nonce = 8%nat -> small 256 nonce ->
  firstn 16 (enter op (ChaCha.last_row x nonce)) = ChaCha.last_row x nonce.
Hypothesis SOME : (0 < k)%nat.
Hypothesis CHECKS : checks A group_kernel op = true.
Hypothesis ENDS : ends_in_return A code_.

Section Blocks.
Variables (key nonce : list byte).

Notation xor_group := (ChaCha.xor_group rounds key nonce).
Notation xor_blocks := (ChaCha.xor_blocks rounds key nonce).

Lemma xor_blocks_are f : forall n s i,
  xor_blocks (ChaCha.numbers_from i k) (map f (seq s n)) =
  (ChaCha.numbers_from (i + N.of_nat (k * n)) k,
   map (fun j => snd (xor_group (ChaCha.numbers_from (i + N.of_nat (k * (j - s))) k) (f j))) (seq s n)).
Proof.
  induction n as [|n IH]; intros s i; cbn [seq map ChaCha.xor_blocks].
  - rewrite Nat.mul_0_r, N.add_0_r; reflexivity.
  - rewrite ChaChaRows.numbers_next, IH; cbn [fst snd]; f_equal; [f_equal; lia|].
    rewrite Nat.sub_diag, Nat.mul_0_r, N.add_0_r; f_equal; apply map_ext_in; intros j J; apply in_seq in J.
    do 3 f_equal; replace (j - s)%nat with (S (j - S s)) by lia; lia.
Qed.

Hypothesis KEY : length key = 32%nat.
Hypothesis NONCE : length nonce = 8%nat.
Hypothesis KEY_SMALL : small 256 key.
Hypothesis NONCE_SMALL : small 256 nonce.

Lemma group_lengths i c : length c = (64 * k)%nat ->
  length (snd (xor_group (ChaCha.numbers_from i k) (split 64 k c))) = k /\
  Forall (fun b => length b = 64%nat) (snd (xor_group (ChaCha.numbers_from i k) (split 64 k c))).
Proof.
  intro L; unfold ChaCha.xor_group, ChaCha.numbers_from; cbn [snd]; split.
  - rewrite !map_length, combine_length, split_length, map_length, seq_length; lia.
  - apply Forall_forall; intros b J; apply in_map_iff in J as ([d j] & <- & J); cbn [fst snd].
    apply in_combine_l in J; pose proof (proj1 (Forall_forall _ _) (split_lengths k c L) d J) as D; cbv beta in D.
    rewrite xor_length; [exact D|]; rewrite D; symmetry; apply (block_length true); assumption.
Qed.
End Blocks.

Opaque ChaCha.xor_group ChaCha.xor_blocks.

Theorem xor_blocks_sound : xors k rounds code_.
Proof.
  exists (fun at_ p s o d n => all_accesses V group_kernel op at_ p (value_of (arguments A) [s; o; d; Z.of_nat n]) n).
  intros m n key nonce i s o d bs after CALL REGS SMALL COUNT FIRST LAST.
  set (arg := value_of (arguments A) [s; o; d; Z.of_nat n]).
  assert (GET : forall j, (j < 4)%nat -> arg (a j) = nth j [s; o; d; Z.of_nat n] 0)
    by (intros j L; apply (argument_value V [s; o; d; Z.of_nat n] j); cbn [length]; lia).
  pose proof (GET 0%nat ltac:(lia)) as V0; pose proof (GET 1%nat ltac:(lia)) as V1.
  pose proof (GET 2%nat ltac:(lia)) as V2; pose proof (GET 3%nat ltac:(lia)) as V3; cbn [nth] in V0, V1, V2, V3.
  assert (BS : buffers group_kernel arg n = bs).
  { unfold buffers, bs, fixed, buffer_of; cbn [group_kernel state arranged room tables given streams map app fst snd written begins].
    rewrite V0, V1, V2, extent_whole; reflexivity. }
  assert (FL : length key = 32%nat /\ small 256 key).
  { pose proof (read_small (mem m) o 48 SMALL) as S; pose proof (read_length (mem m) o 48) as L; fold o in FIRST.
    rewrite FIRST in S, L; unfold ChaCha.first_rows in S, L; rewrite app_length in L; cbn [length ChaCha.constants] in L.
    split; [lia|]; unfold small in *; apply Forall_app in S; apply S. }
  assert (NL : length nonce = 8%nat /\ small 256 nonce).
  { pose proof (read_small (mem m) s 16 SMALL) as S; pose proof (read_length (mem m) s 16) as L; fold s in LAST.
    rewrite LAST in S, L; unfold ChaCha.last_row in S, L; rewrite app_length, little_endian_length in L.
    split; [lia|]; unfold small in *; apply Forall_app in S; apply S. }
  destruct FL as [KL KS], NL as [NL NS].
  assert (BA : forall mm l, block_at group_kernel arg mm l = [read mm (d + Z.of_nat (64 * k) * Z.of_nat l) (64 * k)]).
  { intros mm l; unfold block_at; cbn [group_kernel streams map begins block_size]; f_equal.
    pose proof (B_stream A group_kernel op CHECKS arg l (Stream (a 2) true (64 * k) (64 * k)) ltac:(now left)) as E.
    cbn [begins stride] in E; rewrite E, V2; reflexivity. }
  assert (GB : given_bytes group_kernel arg m = [ChaCha.first_rows key]).
  { unfold given_bytes; cbn [group_kernel given map fst snd]; rewrite V1; f_equal; exact FIRST. }
  assert (OG : forall x l, on_bytes op (enter op (ChaCha.last_row x nonce))
      (given_bytes group_kernel arg m ++ block_at group_kernel arg (mem m) l) =
    (enter op (ChaCha.last_row (x + N.of_nat k) nonce), [concat (snd (ChaCha.xor_group rounds key nonce (ChaCha.numbers_from x k)
      (split 64 k (read (mem m) (d + Z.of_nat (64 * k) * Z.of_nat l) (64 * k)))))])).
  { intros x l; rewrite GB, BA; apply OP; auto; apply read_length. }
  assert (SA : forall l, carried_after group_kernel op arg m l = enter op (ChaCha.last_row (i + N.of_nat (k * l)) nonce)).
  { induction l as [|l IH]; cbn [carried_after].
    - unfold state_at; cbn [group_kernel state arranged state_size place]; rewrite V0, Nat.mul_0_r, N.add_0_r; f_equal; exact LAST.
    - rewrite IH, OG; cbn [fst]; do 2 f_equal; lia. }
  unfold after, groups; rewrite xor_blocks_are; cbn [fst snd].
  plainly (plain_call V group_kernel op CHECKS ENDS [s; o; d; Z.of_nat n] 3) BS COUNT; [constructor|].
  intros h D; change (done group_kernel op arg m n h) in D; destruct D as (_ & ST & DN & _); split.
  - unfold state_at in ST; cbn [group_kernel state arranged state_size place] in ST; rewrite V0, SA, ENTER in ST.
    + refine (eq_trans ST _); unfold ChaCha.numbers_from; destruct k; [lia|]; cbn [seq map nth]; rewrite N.add_0_r, last_row_mod; reflexivity.
    + exact NL.
    + exact NS.
  - apply map_ext_in; intros l J; apply in_seq in J; specialize (DN l ltac:(lia)); unfold output in DN.
    rewrite BA, SA, OG in DN; cbn [snd] in DN; apply (f_equal (hd [])) in DN; cbn [hd] in DN; fold d; rewrite DN, Nat.sub_0_r.
    apply split_concat; apply group_lengths; auto; apply read_length.
Qed.
End Kernels.

(** A kernel that computes on rows in registers of 16 bytes. *)
Theorem rows_sound V {P : proper V} moves code head k rounds words constants : (0 <? k)%nat = true ->
  checks (abi_of V) (group_kernel V code head k 16 words constants) (rows_op moves rounds k) = true ->
  ends_in_return (abi_of V) code -> xors V k rounds code.
Proof.
  intros K CH EN; apply Nat.ltb_lt in K.
  exact (xor_blocks_sound V code head k 16 rounds _ _ (rows_op moves rounds k) (rows_op_is moves rounds k) row_only K CH EN).
Qed.
