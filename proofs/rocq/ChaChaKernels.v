(** * ChaChaKernels: the theorem about kernels of ChaCha, for any calling convention and number of lanes

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic Checker Segment Call ArxRounds ChaChaRows ChaChaLoop
  BlockKernels.
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

Lemma split_concat k : forall l, length l = k -> Forall (fun c => length c = 64%nat) l -> split 64 k (concat l) = l.
Proof.
  induction k as [|k IH]; intros [|c l] L F; cbn [length] in L; try discriminate; [reflexivity|].
  inversion F as [|? ? C G]; subst; cbn [concat split].
  rewrite firstn_app, skipn_app, C, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
  rewrite firstn_all2, skipn_all2 by lia; cbn [app]; f_equal; apply IH; [congruence|exact G].
Qed.

Lemma split_lengths k : forall x, length x = (64 * k)%nat -> Forall (fun c => length c = 64%nat) (split 64 k x).
Proof.
  induction k as [|k IH]; intros x L; cbn [split]; constructor; [rewrite firstn_length; lia|].
  apply IH; rewrite skipn_length; lia.
Qed.

Section Kernels.
Variable V : convention.
Let A := abi_of V.
Notation a := (argument A).
Variable K : kernel.
Variable rounds : nat.

Hypothesis DISTINCT : NoDup (arguments A).
Hypothesis FOUR : (4 <= length (arguments A))%nat.
Hypothesis ROUNDS : double_rounds K = (rounds / 2)%nat.
Hypothesis THERE : there K = diagonals.
Hypothesis BACK : back K = columns_again.
Hypothesis SOME : (0 < lanes K)%nat.
Hypothesis CHECKS : checks A K = true.
Hypothesis ENDS : ends_in_return A (code K).

Notation k := (lanes K).

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
    rewrite xor_length; [exact D|]; rewrite D; symmetry; apply (block_length (moves K)); assumption.
Qed.
End Blocks.

(** What holds when a kernel returns: about its accesses, the last row after it, and its output. *)
Definition ends (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine) (n : nat)
    (row : list byte) (output : list (list (list byte))) : Prop :=
  Forall (touches (snd (code_part (code K) m)) (beside V m ++ buffers) buffers) accesses /\
  exists j m', run (isa_of A) j m = Some m' /\ returned V m m' /\
    read (mem m') (gpr m (a 0)) 16 = row /\
    groups (mem m') (gpr m (a 2)) k n = output /\
    same_outside buffers (mem m) (mem m') /\
    trace m' = accesses ++ trace m.

Opaque ChaCha.xor_group ChaCha.xor_blocks.

Theorem xor_blocks_sound :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat) key nonce i,
  let last_row := gpr m (a 0) in let start := gpr m (a 1) in let in_out := gpr m (a 2) in
  let buffers := [(true, (last_row, 16)); (false, (start, 48)); (true, (in_out, Z.of_nat (64 * k) * Z.of_nat n))] in
  let after := ChaCha.xor_blocks rounds key nonce (ChaCha.numbers_from i k) (groups (mem m) in_out k n) in
  called V (code K) buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n ->
  read (mem m) start 48 = ChaCha.first_rows key -> read (mem m) last_row 16 = ChaCha.last_row i nonce ->
  ends buffers (accesses (pc m) (pointer V m) last_row start in_out n) m n
    (ChaCha.last_row (nth 0 (fst after) 0%N) nonce) (snd after).
Proof.
  exists (fun at_ p s o d n => last_accesses V p (at_ + last_at A (code K)) ++
    accesses A K at_ (value_of (arguments A) [s; o; d; Z.of_nat n]) n).
  intros m n key nonce i s o d bs after CALL REGS SMALL COUNT FIRST LAST.
  set (arg := value_of (arguments A) [s; o; d; Z.of_nat n]).
  assert (V0 : arg (a 0) = s) by (apply (value_at (arguments A) [s; o; d; Z.of_nat n] 0 DISTINCT); cbn [length]; lia).
  assert (V1 : arg (a 1) = o) by (apply (value_at (arguments A) [s; o; d; Z.of_nat n] 1 DISTINCT); cbn [length]; lia).
  assert (V2 : arg (a 2) = d) by (apply (value_at (arguments A) [s; o; d; Z.of_nat n] 2 DISTINCT); cbn [length]; lia).
  assert (V3 : arg (a 3) = Z.of_nat n) by (apply (value_at (arguments A) [s; o; d; Z.of_nat n] 3 DISTINCT); cbn [length]; lia).
  assert (BS : buffers A K arg n = bs).
  { unfold buffers, bs, state, others_at, data, size; fold A; rewrite V0, V1, V2; reflexivity. }
  assert (FL : length key = 32%nat /\ small 256 key).
  { pose proof (read_small (mem m) o 48 SMALL) as S; pose proof (read_length (mem m) o 48) as L; fold o in FIRST.
    rewrite FIRST in S, L; unfold ChaCha.first_rows in S, L; rewrite app_length in L; cbn [length ChaCha.constants] in L.
    split; [lia|]; unfold small in *; apply Forall_app in S; apply S. }
  assert (NL : length nonce = 8%nat /\ small 256 nonce).
  { pose proof (read_small (mem m) s 16 SMALL) as S; pose proof (read_length (mem m) s 16) as L; fold s in LAST.
    rewrite LAST in S, L; unfold ChaCha.last_row in S, L; rewrite app_length, little_endian_length in L.
    split; [lia|]; unfold small in *; apply Forall_app in S; apply S. }
  destruct FL as [KL KS], NL as [NL NS].
  destruct (loop_sound A K CHECKS (pc m) arg m n (beside V m) eq_refl) as (AL & j & m1 & R & AT & ST & DN & FR & TR).
  { intros r [<-|[<-|[<-|[<-|[]]]]]; unfold state, others_at, data, count; fold A; rewrite ?V0, ?V1, ?V2, ?V3;
      first [reflexivity|exact COUNT]. }
  { rewrite BS; exact (called_valid V _ _ _ CALL). }
  { unfold count; fold A; exact V3. }
  { rewrite <- COUNT; apply REGS. }
  { exact ENDS. }
  { exact REGS. }
  rewrite BS in AL, FR.
  destruct (return_step V _ _ _ _ ENDS CALL AT FR) as (m2 & S2 & RT & ME & TR2).
  assert (GA : forall mm l, group_at A K arg mm l = read mm (d + Z.of_nat (64 * k) * Z.of_nat l) (64 * k)).
  { intros; unfold group_at, data, size; fold A; rewrite V2; reflexivity. }
  assert (OR : other_rows A arg m = ChaCha.first_rows key).
  { unfold other_rows, others_at; fold A; rewrite V1; exact FIRST. }
  assert (OG : forall x c, length c = (64 * k)%nat -> on_group A K arg m (ChaCha.last_row x nonce) c =
    (concat (snd (ChaCha.xor_group rounds key nonce (ChaCha.numbers_from x k) (split 64 k c))),
     ChaCha.last_row (x + N.of_nat k) nonce)).
  { intros x c L; unfold on_group; rewrite OR, ROUNDS, THERE, BACK; apply (xor_lanes_is (moves K)); assumption. }
  assert (SA : forall l, state_after A K arg m l = ChaCha.last_row (i + N.of_nat (k * l)) nonce).
  { induction l as [|l IH]; cbn [state_after].
    - unfold state; fold A; rewrite V0, Nat.mul_0_r, N.add_0_r; exact LAST.
    - rewrite IH, OG by (rewrite GA; apply read_length); cbn [snd]; f_equal; lia. }
  unfold after, groups; rewrite xor_blocks_are; cbn [fst snd].
  split; [apply Forall_app; split; [exact (last_touches V _ _ _ ENDS CALL)|exact AL]|].
  exists (j + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in S2; rewrite S2; reflexivity|].
  split; [exact RT|]; rewrite ME; split; [|split; [|split; [exact FR|]]].
  - unfold state in ST; fold A in ST; rewrite V0 in ST; fold s; rewrite ST, SA.
    unfold ChaCha.numbers_from; destruct k; [lia|]; cbn [seq map nth]; rewrite N.add_0_r, last_row_mod; reflexivity.
  - apply map_ext_in; intros l J; apply in_seq in J; specialize (DN l ltac:(lia)).
    rewrite !GA, SA, OG in DN by apply read_length; cbn [fst] in DN; fold d; rewrite DN, Nat.sub_0_r.
    apply split_concat; apply group_lengths; auto; apply read_length.
  - rewrite TR2, TR, <- app_assoc; reflexivity.
Qed.
End Kernels.
