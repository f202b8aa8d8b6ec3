(** * BlockKernels: the theorems about kernels for blocks, for any calling convention

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call Loop Operations DuplexBlocks.
From Veriplex Require Permute.
Import ListNotations.
Local Open Scope Z_scope.

Opaque end_block round_constants.

(** ** The operations are those of DuplexBlocks.v. *)

Lemma absorb_enters : enter absorb_op = (fun s => s).
Proof. reflexivity. Qed.
Lemma squeeze_enters : enter squeeze_op = (fun s => s).
Proof. reflexivity. Qed.
Lemma squeeze_is s cs : on_bytes squeeze_op s cs = (fst (squeeze_block s), [snd (squeeze_block s)]).
Proof. reflexivity. Qed.
Lemma absorb_is s c : on_bytes absorb_op s [c] = (absorb_block s c, [c]).
Proof. reflexivity. Qed.
Lemma encrypt_is s c d : on_bytes encrypt_op s [c; d] = (fst (encrypt_block s c), [c; snd (encrypt_block s c)]).
Proof. reflexivity. Qed.
Lemma encrypt_in_place_is s c : on_bytes encrypt_in_place_op s [c] = (fst (encrypt_block s c), [snd (encrypt_block s c)]).
Proof. reflexivity. Qed.
Lemma decrypt_is s c d : on_bytes decrypt_op s [c; d] = (fst (decrypt_block s c), [c; snd (decrypt_block s c)]).
Proof. reflexivity. Qed.
Lemma decrypt_in_place_is s c : on_bytes decrypt_in_place_op s [c] = (fst (decrypt_block s c), [snd (decrypt_block s c)]).
Proof. reflexivity. Qed.

Lemma squeeze_blocks_step n s : squeeze_blocks (S n) s =
  (fst (squeeze_blocks n (fst (squeeze_block s))), snd (squeeze_block s) :: snd (squeeze_blocks n (fst (squeeze_block s)))).
Proof. reflexivity. Qed.

Opaque absorb_block squeeze_block encrypt_block decrypt_block absorb_op squeeze_op encrypt_op encrypt_in_place_op
  decrypt_op decrypt_in_place_op read.

Lemma chunks_next m a n : chunks m a (S n) = chunks m a n ++ [read m (a + 94 * Z.of_nat n) 94].
Proof. unfold chunks; rewrite seq_S, map_app; reflexivity. Qed.

Lemma chunks_length m a n : length (chunks m a n) = n.
Proof. unfold chunks; rewrite map_length, seq_length; reflexivity. Qed.

Lemma squeeze_blocks_next n : forall s, squeeze_blocks (S n) s =
  (fst (squeeze_block (fst (squeeze_blocks n s))), snd (squeeze_blocks n s) ++ [snd (squeeze_block (fst (squeeze_blocks n s)))]).
Proof.
  induction n as [|n IH]; intro s; [reflexivity|].
  rewrite (squeeze_blocks_step (S n) s), (IH (fst (squeeze_block s))), (squeeze_blocks_step n s); cbn [fst snd app]; reflexivity.
Qed.

Lemma encrypt_blocks_next cs : forall s c, encrypt_blocks s (cs ++ [c]) =
  (fst (encrypt_block (fst (encrypt_blocks s cs)) c), snd (encrypt_blocks s cs) ++ [snd (encrypt_block (fst (encrypt_blocks s cs)) c)]).
Proof.
  induction cs as [|d cs IH]; intros s c; [reflexivity|]; cbn [app encrypt_blocks fst snd]; rewrite IH; reflexivity.
Qed.

Lemma decrypt_blocks_next cs : forall s c, decrypt_blocks s (cs ++ [c]) =
  (fst (decrypt_block (fst (decrypt_blocks s cs)) c), snd (decrypt_blocks s cs) ++ [snd (decrypt_block (fst (decrypt_blocks s cs)) c)]).
Proof.
  induction cs as [|d cs IH]; intros s c; [reflexivity|]; cbn [app decrypt_blocks fst snd]; rewrite IH; reflexivity.
Qed.

Lemma squeeze_blocks_length n : forall s, length (snd (squeeze_blocks n s)) = n.
Proof. induction n as [|n IH]; intro s; cbn [squeeze_blocks snd length]; [reflexivity|]; now rewrite IH. Qed.

Lemma encrypt_blocks_length cs : forall s, length (snd (encrypt_blocks s cs)) = length cs.
Proof. induction cs as [|c cs IH]; intro s; cbn [encrypt_blocks snd length]; [reflexivity|]; now rewrite IH. Qed.

Lemma decrypt_blocks_length cs : forall s, length (snd (decrypt_blocks s cs)) = length cs.
Proof. induction cs as [|c cs IH]; intro s; cbn [decrypt_blocks snd length]; [reflexivity|]; now rewrite IH. Qed.

(** ** Lists *)

Lemma split_concat w k : forall l : list (list byte), length l = k -> Forall (fun c => length c = w) l -> split w k (concat l) = l.
Proof.
  induction k as [|k IH]; intros [|c l] L F; cbn [length] in L; try discriminate; [reflexivity|].
  inversion F as [|? ? C G]; subst; cbn [concat split].
  rewrite firstn_app, skipn_app, Nat.sub_diag, firstn_O, skipn_O, app_nil_r.
  rewrite firstn_all2, skipn_all2 by lia; cbn [app]; f_equal; apply IH; [congruence|exact G].
Qed.

(** ** Arguments *)

(** The value of a register, from those of the registers with arguments. *)
Fixpoint value_of (rs : list nat) (vs : list Z) (u : nat) : Z :=
  match rs, vs with r :: rs, v :: vs => if (u =? r)%nat then v else value_of rs vs u | _, _ => 0 end.

Lemma value_at rs : forall vs i, NoDup rs -> (i < length rs)%nat -> (i < length vs)%nat ->
  value_of rs vs (nth i rs 0%nat) = nth i vs 0.
Proof.
  induction rs as [|r rs IH]; intros [|v vs] i N L M; cbn [length] in *; try lia; inversion N as [|? ? N1 N2]; subst.
  destruct i as [|i]; cbn [nth value_of]; [rewrite Nat.eqb_refl; reflexivity|].
  destruct (Nat.eqb_spec (nth i rs 0%nat) r) as [E|_]; [|apply IH; auto; lia].
  exfalso; apply N1; rewrite <- E; apply nth_In; lia.
Qed.

Section Kernels.
Variable V : convention.
Let A := abi_of V.
Notation a := (argument A).

Hypothesis DISTINCT : NoDup (arguments A).
Hypothesis FIVE : length (arguments A) = 5%nat.

(** What holds when a kernel returns: about its buffers, its accesses, the state after it, and its output. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (state : list byte) (output : option (Z * list (list byte))) : Prop :=
  Forall (touches (snd (code_part code m)) (beside V m ++ buffers) buffers) accesses /\
  exists k m', run (isa_of A) k m = Some m' /\ returned V m m' /\
    read (mem m') (gpr m (a 0)) 128 = state /\
    match output with Some (at_, blocks) => chunks (mem m') at_ (length blocks) = blocks | None => True end /\
    same_outside buffers (mem m) (mem m') /\
    trace m' = accesses ++ trace m.

Section One.
Variables (code_ : list byte) (head_ shift_ : Z) (words_ : list (nat * nat)) (constants_ : list (nat * list byte)).

(** The state is in registers. There are registers with the table, the number of blocks, and buffers, which are written or
    not, and perhaps one with the same buffer as another. *)
Section Shape.
Variables (table count_ : nat) (data : list (nat * bool)) (alias : list (nat * nat)).

Definition registers : list nat := a 0 :: count_ :: map fst data.

Definition block_kernel : kernel :=
  Kernel code_ head_ (a 0) (filling 128) [(table, round_constants)] [] (map (fun d => Stream (fst d) (snd d) 94 94) data) count_
    ((count_, -1) :: map (fun d => (fst d, 94)) data)
    (map (fun r => (r, (Some r, 0))) (table :: registers) ++ map (fun r => (fst r, (Some (snd r), 0))) alias)
    (map (fun rv => (rv, snd rv)) ((table, (Some table, shift_)) ::
      map (fun r => (r, (Some r, 0))) registers ++ map (fun r => (fst r, (Some (snd r), 0))) alias))
    (map (fun ri => (fst ri, [snd ri])) words_) constants_ [] [].

Definition buffers_of (arg : nat -> Z) (n : nat) : list (bool * (Z * Z)) :=
  (true, (arg (a 0), 128)) :: (false, (arg table, 1152)) :: map (fun d => (snd d, (arg (fst d), 94 * Z.of_nat n))) data.

Definition all_accesses (op : operation) (arg : nat -> Z) (n : nat) (at_ pointer_ : Z) : list event :=
  last_accesses V pointer_ (at_ + last_at A code_) ++ accesses A block_kernel op at_ arg n.

Definition state_after (op : operation) (arg : nat -> Z) (m : machine) : nat -> list byte := carried_after block_kernel op arg m.

Variable op : operation.
Hypothesis CH : checks A block_kernel op = true.

Lemma block_is arg h i : block_at block_kernel arg h i = map (fun d => read h (arg (fst d) + 94 * Z.of_nat i) 94) data.
Proof.
  unfold block_at; cbn [block_kernel streams]; rewrite map_map; apply map_ext_in; intros d J.
  rewrite (B_stream A block_kernel op CH arg i (Stream (fst d) (snd d) 94 94))
    by (apply (in_map (fun d => Stream (fst d) (snd d) 94 94)); exact J); reflexivity.
Qed.

Lemma state_next arg m i : state_after op arg m (S i) = fst (on_bytes op (state_after op arg m i)
  (map (fun d => read (mem m) (arg (fst d) + 94 * Z.of_nat i) 94) data)).
Proof. rewrite <- block_is; reflexivity. Qed.

Lemma state_first arg m : enter op = (fun s => s) -> state_after op arg m 0 = read (mem m) (arg (a 0)) 128.
Proof. intro E; cbn [state_after carried_after]; unfold state_after; cbn [carried_after]; rewrite E; exact (state_filling block_kernel arg 128 (mem m) eq_refl). Qed.

Lemma buffers_are arg n : buffers block_kernel arg n = buffers_of arg n.
Proof.
  unfold buffers, fixed, buffers_of; cbn [block_kernel state arranged room filling tables given streams map app fst snd].
  rewrite Permute.table_length; do 2 f_equal; rewrite map_map; apply map_ext; intro d; unfold buffer_of; rewrite extent_whole; reflexivity.
Qed.

Lemma whole arg m n : enter op = (fun s => s) ->
  ends_in_return A code_ -> (forall r, In r (table :: registers) -> gpr m r = arg r) ->
  called V code_ (buffers_of arg n) m -> read (mem m) (arg table) 1152 = round_constants ->
  arg count_ = Z.of_nat n -> Z.of_nat n < 2 ^ 64 -> Forall (fun r => gpr m (fst r) = arg (snd r)) alias ->
  (forall r, 0 <= gpr m r < 2 ^ 64) ->
  forall output,
  (forall h, (forall j, (j < n)%nat -> map (fun d => read h (arg (fst d) + 94 * Z.of_nat j) 94) data =
       snd (on_bytes op (state_after op arg m j) (map (fun d => read (mem m) (arg (fst d) + 94 * Z.of_nat j) 94) data))) ->
     match output with Some (at_, blocks) => chunks h at_ (length blocks) = blocks | None => True end) ->
  ends code_ (buffers_of arg n) (all_accesses op arg n (pc m) (pointer V m)) m (state_after op arg m n) output.
Proof.
  intros ID EN ARG CALL TABLE COUNT SMALL ALIAS REGS output OUT.
  assert (NUMBER : forall r u, gpr m r = arg u -> gpr m r = number_is arg (Some u, 0)).
  { intros r u E; cbn [number_is]; rewrite Z.add_0_r, <- E, wrap_small by apply REGS; reflexivity. }
  destruct (loop_sound A block_kernel op CH (pc m) arg m n (beside V m)) as (AL & LEN & k & m1 & R & AT & S & DN & FR & TR);
    cbn [block_kernel code tables arguments_in numbers_in known_sums known_pointers count] in *; auto.
  - apply Forall_app; split; apply Forall_forall; intros rv J; apply in_map_iff in J as (r & <- & J); apply NUMBER; cbn [fst snd].
    + exact (ARG r J).
    + rewrite Forall_forall in ALIAS; exact (ALIAS r J).
  - apply Forall_forall; intros r J; apply in_map_iff in J as (x & <- & J); reflexivity.
  - rewrite buffers_are; exact (called_valid V _ _ _ CALL).
  - unfold change; cbn [block_kernel changes find fst snd]; rewrite Nat.eqb_refl; cbn [snd]; lia.
  - rewrite COUNT; exact SMALL.
  - pose proof (same_outside_of A block_kernel op CH arg m n m1 FR) as SO; rewrite buffers_are in AL, SO; clear FR; rename SO into FR.
    destruct (return_step V _ _ _ _ EN CALL AT FR) as (m2 & ST & RT & ME & TR2).
    rewrite (state_filling block_kernel arg 128 _ eq_refl) in S; cbn [block_kernel arranged filling state_size state] in S.
    split; [apply Forall_app; split; [exact (last_touches V _ _ _ EN CALL)|exact AL]|].
    exists (k + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in ST; rewrite ST; reflexivity|].
    split; [exact RT|]; rewrite ME, TR2, TR; split; [|split; [|split; [exact FR|]]].
    + rewrite (ARG (a 0)) by (cbn; tauto); rewrite S; exact (firstn_all2 _ (Nat.eq_le_incl _ _ (LEN n (le_n n)))).
    + apply OUT; intros j L; specialize (DN j L); rewrite block_is in DN; rewrite DN; unfold Loop.output; rewrite block_is; reflexivity.
    + unfold all_accesses; rewrite <- app_assoc; reflexivity.
Qed.
End Shape.

Definition one_buffer (w : bool) : kernel := block_kernel (a 3) (a 2) [(a 1, w)] [].
Definition two_buffers : kernel := block_kernel (a 4) (a 3) [(a 1, false); (a 2, true)] [].
Definition in_place : kernel := block_kernel (a 4) (a 3) [(a 1, true)] [(a 2, a 1)].

Local Ltac values arg vs :=
  pose (arg := value_of (arguments A) vs);
  let get i := (assert (arg (a i) = nth i vs 0) by (apply value_at; [exact DISTINCT|rewrite FIVE; cbn; lia|cbn; lia])) in
  get 0%nat; get 1%nat; get 2%nat; get 3%nat; get 4%nat; cbn [nth] in *.

(** The hypotheses of [whole], but for those about other registers and the output. *)
Local Ltac known := repeat match goal with H : ?f (a ?i) = _ |- context [?f (a ?i)] => rewrite H end; assumption || reflexivity.
Local Ltac whole CH id m n :=
  apply (whole _ _ _ _ _ CH _ m n id); auto; [
    let J := fresh in intros ? J; cbn [registers map fst In] in J; repeat destruct J as [<-|J]; try destruct J; known |
    match goal with BS : buffers_of _ _ _ _ = _ |- _ => rewrite BS end; assumption | known |
    match goal with H : gpr m _ = Z.of_nat n, R : forall r, 0 <= gpr m r < _ |- _ => rewrite <- H; apply R end | .. ].

Theorem absorb_sound : checks A (one_buffer false) absorb_op = true -> ends_in_return A code_ ->
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m (a 0) in let input := gpr m (a 1) in let table := gpr m (a 3) in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n))] in
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends code_ buffers (accesses (pc m) (pointer V m) state input table n) m
    (absorb_blocks (read (mem m) state 128) (chunks (mem m) input n)) None.
Proof.
  intros CH EN; exists (fun at_ p s i t n => all_accesses (a 3) (a 2) [(a 1, false)] [] absorb_op (value_of (arguments A) [s; i; Z.of_nat n; t; 0]) n at_ p).
  intros m n s i t bs CALL REGS COUNT TABLE; values arg [s; i; Z.of_nat n; t; 0]; fold arg.
  assert (ST : forall j, state_after (a 3) (a 2) [(a 1, false)] [] absorb_op arg m j = absorb_blocks (read (mem m) s 128) (chunks (mem m) i j)).
  { induction j as [|j IH]; [rewrite (state_first _ _ _ _ _ _ _ absorb_enters), H; reflexivity|].
    rewrite chunks_next; unfold absorb_blocks; rewrite fold_left_app; fold (absorb_blocks (read (mem m) s 128) (chunks (mem m) i j)).
    rewrite <- IH; rewrite (state_next _ _ _ _ _ CH); cbn [map fst]; rewrite H0, absorb_is; reflexivity. }
  assert (BS : buffers_of (a 3) [(a 1, false)] arg n = bs) by (unfold buffers_of; cbn [map fst snd]; rewrite H, H0, H2; reflexivity).
  rewrite <- ST, <- BS; whole CH absorb_enters m n.
Qed.

Theorem squeeze_sound : checks A (one_buffer true) squeeze_op = true -> ends_in_return A code_ ->
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m (a 0) in let output := gpr m (a 1) in let table := gpr m (a 3) in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (output, 94 * Z.of_nat n))] in
  let after := squeeze_blocks n (read (mem m) state 128) in
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends code_ buffers (accesses (pc m) (pointer V m) state output table n) m (fst after) (Some (output, snd after)).
Proof.
  intros CH EN; exists (fun at_ p s o t n => all_accesses (a 3) (a 2) [(a 1, true)] [] squeeze_op (value_of (arguments A) [s; o; Z.of_nat n; t; 0]) n at_ p).
  intros m n s o t bs after CALL REGS COUNT TABLE; values arg [s; o; Z.of_nat n; t; 0]; fold arg.
  assert (ST : forall j, state_after (a 3) (a 2) [(a 1, true)] [] squeeze_op arg m j = fst (squeeze_blocks j (read (mem m) s 128))).
  { induction j as [|j IH]; [rewrite (state_first _ _ _ _ _ _ _ squeeze_enters), H; reflexivity|].
    rewrite squeeze_blocks_next, <- IH, (state_next _ _ _ _ _ CH), squeeze_is; cbn [fst]; reflexivity. }
  assert (BS : buffers_of (a 3) [(a 1, true)] arg n = bs) by (unfold buffers_of; cbn [map fst snd]; rewrite H, H0, H2; reflexivity).
  unfold after; rewrite <- ST, <- BS; whole CH squeeze_enters m n.
  - intros h DN.
    assert (OUT : forall j, (j <= n)%nat -> chunks h o j = snd (squeeze_blocks j (read (mem m) s 128))).
    { induction j as [|j IH]; intro L; [reflexivity|]; rewrite chunks_next, squeeze_blocks_next, IH by lia; cbn [snd]; f_equal.
      rewrite <- ST; specialize (DN j L); cbn [map fst] in DN; rewrite H0, squeeze_is in DN; exact DN. }
    rewrite <- (OUT n (le_n n)), chunks_length; reflexivity.
Qed.

(** Encryption and decryption, each with its operation on one block. *)
Section Crypt.
Variables (block_op block_in_place_op : operation) (one : list byte -> list byte -> list byte * list byte)
  (many : list byte -> list (list byte) -> list byte * list (list byte)).
Hypothesis block_enters : enter block_op = (fun s => s).
Hypothesis block_in_place_enters : enter block_in_place_op = (fun s => s).
Hypothesis one_is : forall s c d, on_bytes block_op s [c; d] = (fst (one s c), [c; snd (one s c)]).
Hypothesis one_in_place_is : forall s c, on_bytes block_in_place_op s [c] = (fst (one s c), [snd (one s c)]).
Hypothesis many_none : forall s, many s [] = (s, []).
Hypothesis many_next : forall cs s c, many s (cs ++ [c]) =
  (fst (one (fst (many s cs)) c), snd (many s cs) ++ [snd (one (fst (many s cs)) c)]).

Theorem crypt_sound : checks A two_buffers block_op = true -> ends_in_return A code_ ->
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m (a 0) in let input := gpr m (a 1) in let output := gpr m (a 2) in let table := gpr m (a 4) in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n)); (true, (output, 94 * Z.of_nat n))] in
  let after := many (read (mem m) state 128) (chunks (mem m) input n) in
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 3) = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends code_ buffers (accesses (pc m) (pointer V m) state input output table n) m (fst after) (Some (output, snd after)).
Proof.
  intros CH EN; exists (fun at_ p s i o t n => all_accesses (a 4) (a 3) [(a 1, false); (a 2, true)] [] block_op (value_of (arguments A) [s; i; o; Z.of_nat n; t]) n at_ p).
  intros m n s i o t bs after CALL REGS COUNT TABLE; values arg [s; i; o; Z.of_nat n; t]; fold arg.
  assert (ST : forall j, state_after (a 4) (a 3) [(a 1, false); (a 2, true)] [] block_op arg m j = fst (many (read (mem m) s 128) (chunks (mem m) i j))).
  { induction j as [|j IH]; [rewrite (state_first _ _ _ _ _ _ _ block_enters), H; cbn [chunks seq map]; rewrite many_none; reflexivity|].
    rewrite chunks_next, many_next, <- IH, (state_next _ _ _ _ _ CH); cbn [map fst]; rewrite H0, one_is; cbn [fst]; reflexivity. }
  assert (BS : buffers_of (a 4) [(a 1, false); (a 2, true)] arg n = bs) by (unfold buffers_of; cbn [map fst snd]; rewrite H, H0, H1, H3; reflexivity).
  unfold after; rewrite <- ST, <- BS; whole CH block_enters m n.
  - intros h DN.
    assert (OUT : forall j, (j <= n)%nat -> chunks h o j = snd (many (read (mem m) s 128) (chunks (mem m) i j))).
    { induction j as [|j IH]; intro L; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
      rewrite !chunks_next, many_next, IH by lia; cbn [snd]; f_equal.
      rewrite <- ST; specialize (DN j L); cbn [map fst] in DN; rewrite H0, H1, one_is in DN; exact (f_equal (@tl _) DN). }
    rewrite <- (OUT n (le_n n)), chunks_length; reflexivity.
Qed.

Theorem crypt_in_place_sound : checks A in_place block_in_place_op = true -> ends_in_return A code_ ->
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m (a 0) in let input := gpr m (a 1) in let output := gpr m (a 2) in let table := gpr m (a 4) in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (input, 94 * Z.of_nat n))] in
  let after := many (read (mem m) state 128) (chunks (mem m) input n) in
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  output = input ->
  gpr m (a 3) = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends code_ buffers (accesses (pc m) (pointer V m) state input output table n) m (fst after) (Some (output, snd after)).
Proof.
  intros CH EN; exists (fun at_ p s i o t n => all_accesses (a 4) (a 3) [(a 1, true)] [(a 2, a 1)] block_in_place_op (value_of (arguments A) [s; i; o; Z.of_nat n; t]) n at_ p).
  intros m n s i o t bs after CALL REGS SAME COUNT TABLE; values arg [s; i; o; Z.of_nat n; t]; fold arg.
  assert (ST : forall j, (j <= n)%nat -> state_after (a 4) (a 3) [(a 1, true)] [(a 2, a 1)] block_in_place_op arg m j = fst (many (read (mem m) s 128) (chunks (mem m) i j))).
  { induction j as [|j IH]; intro L; [rewrite (state_first _ _ _ _ _ _ _ block_in_place_enters), H; cbn [chunks seq map]; rewrite many_none; reflexivity|].
    rewrite chunks_next, many_next, <- IH by lia; rewrite (state_next _ _ _ _ _ CH); cbn [map fst]; rewrite H0, one_in_place_is; cbn [fst]; reflexivity. }
  assert (BS : buffers_of (a 4) [(a 1, true)] arg n = bs) by (unfold buffers_of; cbn [map fst snd]; rewrite H, H0, H3; reflexivity).
  unfold after; rewrite <- (ST n (le_n n)), <- BS; whole CH block_in_place_enters m n.
  - constructor; [cbn [fst snd]; rewrite H0; exact SAME|constructor].
  - intros h DN; rewrite SAME.
    assert (OUT : forall j, (j <= n)%nat -> chunks h i j = snd (many (read (mem m) s 128) (chunks (mem m) i j))).
    { induction j as [|j IH]; intro L; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
      rewrite (chunks_next h), (chunks_next (mem m)), many_next, IH by lia; cbn [snd]; f_equal.
      rewrite <- ST by lia; specialize (DN j L); cbn [map fst] in DN; rewrite H0, one_in_place_is in DN; exact DN. }
    rewrite <- (OUT n (le_n n)), chunks_length; reflexivity.
Qed.
End Crypt.
End One.
End Kernels.
