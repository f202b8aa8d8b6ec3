(** * BlockKernels: the theorems about kernels for blocks, for any calling convention

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call Loop KernelCall Operations DuplexBlocks.
From Veriplex Require Permute.
Import ListNotations.
Local Open Scope Z_scope.

Opaque end_block round_constants.

(** ** The operations are those of DuplexBlocks.v. *)

Lemma absorb_enters : enter absorb_op = (fun s => s).
Proof. reflexivity. Qed.
Lemma squeeze_enters : enter squeeze_op = (fun s => s).
Proof. reflexivity. Qed.
Lemma encrypt_enters : enter encrypt_op = (fun s => s).
Proof. reflexivity. Qed.
Lemma encrypt_in_place_enters : enter encrypt_in_place_op = (fun s => s).
Proof. reflexivity. Qed.
Lemma decrypt_enters : enter decrypt_op = (fun s => s).
Proof. reflexivity. Qed.
Lemma decrypt_in_place_enters : enter decrypt_in_place_op = (fun s => s).
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

Section Kernels.
Variable V : convention.
Context {PROPER : proper V}.
Let A := abi_of V.
Notation a := (argument A).

(** n blocks are absorbed; the arguments are the addresses of state and input, n, and the address of the table. *)
Definition absorbs (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m (a 0) in let input := gpr m (a 1) in let table := gpr m (a 3) in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n))] in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends V code buffers (accesses (pc m) (pointer V m) state input table n) m (fun h =>
    read h state 128 = absorb_blocks (read (mem m) state 128) (chunks (mem m) input n)).

(** n blocks are squeezed. *)
Definition squeezes (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m (a 0) in let output := gpr m (a 1) in let table := gpr m (a 3) in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (output, 94 * Z.of_nat n))] in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends V code buffers (accesses (pc m) (pointer V m) state output table n) m (fun h =>
    (read h state 128, chunks h output n) = squeeze_blocks n (read (mem m) state 128)).

(** n blocks are encrypted or decrypted ([many]), from one buffer to another ([apart]) or in place. *)
Definition crypts (apart : bool) (many : list byte -> list (list byte) -> list byte * list (list byte)) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m (a 0) in let input := gpr m (a 1) in let output := gpr m (a 2) in let table := gpr m (a 4) in
  let buffers := (true, (state, 128)) :: (false, (table, 1152)) :: (if apart then [(false, (input, 94 * Z.of_nat n))] else []) ++
    [(true, (output, 94 * Z.of_nat n))] in
  called V code buffers m -> (apart = false -> output = input) -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 3) = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends V code buffers (accesses (pc m) (pointer V m) state input output table n) m (fun h =>
    (read h state 128, chunks h output n) = many (read (mem m) state 128) (chunks (mem m) input n)).

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

Definition accesses_of (op : operation) (arg : nat -> Z) (n : nat) (at_ pointer_ : Z) : list event :=
  all_accesses V block_kernel op at_ pointer_ arg n.

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
  forall result : memory -> Prop,
  (forall h, read h (arg (a 0)) 128 = state_after op arg m n ->
     (forall j, (j < n)%nat -> map (fun d => read h (arg (fst d) + 94 * Z.of_nat j) 94) data =
       snd (on_bytes op (state_after op arg m j) (map (fun d => read (mem m) (arg (fst d) + 94 * Z.of_nat j) 94) data))) ->
     result h) ->
  ends V code_ (buffers_of arg n) (accesses_of op arg n (pc m) (pointer V m)) m result.
Proof.
  intros ID EN ARG CALL TABLE COUNT SMALL ALIAS REGS result RESULT.
  assert (NUMBER : forall r u, gpr m r = arg u -> gpr m r = number_is arg (Some u, 0)).
  { intros r u E; cbn [number_is]; rewrite Z.add_0_r, <- E, wrap_small by apply REGS; reflexivity. }
  rewrite <- (buffers_are arg n) in CALL |- *; apply (call_sound V block_kernel op CH EN arg m n);
    cbn [block_kernel code tables arguments_in numbers_in known_sums known_pointers count] in *; auto.
  - apply Forall_app; split; apply Forall_forall; intros rv J; apply in_map_iff in J as (r & <- & J); apply NUMBER; cbn [fst snd].
    + exact (ARG r J).
    + rewrite Forall_forall in ALIAS; exact (ALIAS r J).
  - apply Forall_forall; intros r J; apply in_map_iff in J as (x & <- & J); reflexivity.
  - unfold change; cbn [block_kernel changes find fst snd]; rewrite Nat.eqb_refl; cbn [snd]; lia.
  - rewrite COUNT; exact SMALL.
  - intros h (LEN & S & DN & _); rewrite (state_filling block_kernel arg 128 _ eq_refl) in S.
    cbn [block_kernel arranged filling state_size state carried] in S, LEN; apply RESULT.
    + rewrite S; apply firstn_all2, Nat.eq_le_incl, LEN.
    + intros j L; specialize (DN j L); rewrite block_is in DN; rewrite DN; unfold Loop.output; rewrite block_is; reflexivity.
Qed.
End Shape.

Definition one_buffer (w : bool) : kernel := block_kernel (a 3) (a 2) [(a 1, w)] [].
Definition two_buffers : kernel := block_kernel (a 4) (a 3) [(a 1, false); (a 2, true)] [].
Definition in_place : kernel := block_kernel (a 4) (a 3) [(a 1, true)] [(a 2, a 1)].

Local Ltac values arg vs :=
  pose (arg := value_of (arguments A) vs);
  let get i := (assert (arg (a i) = nth i vs 0) by (apply (argument_value V vs i); cbn; lia)) in
  get 0%nat; get 1%nat; get 2%nat; get 3%nat; get 4%nat; cbn [nth] in *.

(** The hypotheses of [whole], but for those about other registers and the output. *)
Local Ltac known := repeat match goal with H : ?f (a ?i) = _ |- context [?f (a ?i)] => rewrite H end; assumption || reflexivity.
Local Ltac whole CH id m n :=
  apply (whole _ _ _ _ _ CH _ m n id); auto; [
    let J := fresh in intros ? J; cbn [registers map fst In] in J; repeat destruct J as [<-|J]; try destruct J; known |
    match goal with BS : buffers_of _ _ _ _ = _ |- _ => rewrite BS end; assumption | known |
    match goal with H : gpr m _ = Z.of_nat n, R : forall r, 0 <= gpr m r < _ |- _ => rewrite <- H; apply R end | .. ].

Theorem absorb_sound : checks A (one_buffer false) absorb_op = true -> ends_in_return A code_ -> absorbs code_.
Proof.
  intros CH EN; exists (fun at_ p s i t n => accesses_of (a 3) (a 2) [(a 1, false)] [] absorb_op (value_of (arguments A) [s; i; Z.of_nat n; t; 0]) n at_ p).
  intros m n s i t bs CALL REGS COUNT TABLE; values arg [s; i; Z.of_nat n; t; 0]; fold arg.
  assert (ST : forall j, state_after (a 3) (a 2) [(a 1, false)] [] absorb_op arg m j = absorb_blocks (read (mem m) s 128) (chunks (mem m) i j)).
  { induction j as [|j IH]; [rewrite (state_first _ _ _ _ _ _ _ absorb_enters), H; reflexivity|].
    rewrite chunks_next; unfold absorb_blocks; rewrite fold_left_app; fold (absorb_blocks (read (mem m) s 128) (chunks (mem m) i j)).
    rewrite <- IH; rewrite (state_next _ _ _ _ _ CH); cbn [map fst]; rewrite H0, absorb_is; reflexivity. }
  assert (BS : buffers_of (a 3) [(a 1, false)] arg n = bs) by (unfold buffers_of; cbn [map fst snd]; rewrite H, H0, H2; reflexivity).
  rewrite <- ST, <- BS; whole CH absorb_enters m n; intros h S _; rewrite H in S; exact S.
Qed.

Theorem squeeze_sound : checks A (one_buffer true) squeeze_op = true -> ends_in_return A code_ -> squeezes code_.
Proof.
  intros CH EN; exists (fun at_ p s o t n => accesses_of (a 3) (a 2) [(a 1, true)] [] squeeze_op (value_of (arguments A) [s; o; Z.of_nat n; t; 0]) n at_ p).
  intros m n s o t bs CALL REGS COUNT TABLE; values arg [s; o; Z.of_nat n; t; 0]; fold arg.
  assert (ST : forall j, state_after (a 3) (a 2) [(a 1, true)] [] squeeze_op arg m j = fst (squeeze_blocks j (read (mem m) s 128))).
  { induction j as [|j IH]; [rewrite (state_first _ _ _ _ _ _ _ squeeze_enters), H; reflexivity|].
    rewrite squeeze_blocks_next, <- IH, (state_next _ _ _ _ _ CH), squeeze_is; cbn [fst]; reflexivity. }
  assert (BS : buffers_of (a 3) [(a 1, true)] arg n = bs) by (unfold buffers_of; cbn [map fst snd]; rewrite H, H0, H2; reflexivity).
  rewrite <- BS; whole CH squeeze_enters m n.
  - intros h S DN; rewrite H, ST in S; rewrite (surjective_pairing (squeeze_blocks n _)); f_equal; [exact S|].
    assert (OUT : forall j, (j <= n)%nat -> chunks h o j = snd (squeeze_blocks j (read (mem m) s 128))); [|exact (OUT n (le_n n))].
    induction j as [|j IH]; intro L; [reflexivity|]; rewrite chunks_next, squeeze_blocks_next, IH by lia; cbn [snd]; f_equal.
    rewrite <- ST; specialize (DN j L); cbn [map fst] in DN; rewrite H0, squeeze_is in DN; cbn [snd] in DN; congruence.
Qed.

(** Encryption and decryption, each with its operation on one block. *)
Section Crypt.
Variables (one : list byte -> list byte -> list byte * list byte) (many : list byte -> list (list byte) -> list byte * list (list byte)).
Hypothesis many_none : forall s, many s [] = (s, []).
Hypothesis many_next : forall cs s c, many s (cs ++ [c]) =
  (fst (one (fst (many s cs)) c), snd (many s cs) ++ [snd (one (fst (many s cs)) c)]).

Theorem crypt_sound (op : operation) : enter op = (fun s => s) ->
  (forall s c d, on_bytes op s [c; d] = (fst (one s c), [c; snd (one s c)])) ->
  checks A two_buffers op = true -> ends_in_return A code_ -> crypts true many code_.
Proof.
  intros enters one_is CH EN; exists (fun at_ p s i o t n => accesses_of (a 4) (a 3) [(a 1, false); (a 2, true)] [] op (value_of (arguments A) [s; i; o; Z.of_nat n; t]) n at_ p).
  intros m n s i o t bs CALL _ REGS COUNT TABLE; values arg [s; i; o; Z.of_nat n; t]; fold arg.
  assert (ST : forall j, state_after (a 4) (a 3) [(a 1, false); (a 2, true)] [] op arg m j = fst (many (read (mem m) s 128) (chunks (mem m) i j))).
  { induction j as [|j IH]; [rewrite (state_first _ _ _ _ _ _ _ enters), H; cbn [chunks seq map]; rewrite many_none; reflexivity|].
    rewrite chunks_next, many_next, <- IH, (state_next _ _ _ _ _ CH); cbn [map fst]; rewrite H0, one_is; cbn [fst]; reflexivity. }
  assert (BS : buffers_of (a 4) [(a 1, false); (a 2, true)] arg n = bs) by (unfold buffers_of; cbn [map fst snd]; rewrite H, H0, H1, H3; reflexivity).
  rewrite <- BS; whole CH enters m n.
  - intros h S DN; rewrite H, ST in S; rewrite (surjective_pairing (many _ _)); f_equal; [exact S|].
    assert (OUT : forall j, (j <= n)%nat -> chunks h o j = snd (many (read (mem m) s 128) (chunks (mem m) i j))); [|exact (OUT n (le_n n))].
    induction j as [|j IH]; intro L; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
    rewrite !chunks_next, many_next, IH by lia; cbn [snd]; f_equal.
    rewrite <- ST; specialize (DN j L); cbn [map fst] in DN; rewrite H0, H1, one_is in DN; exact (f_equal (@tl _) DN).
Qed.

Theorem crypt_in_place_sound (op : operation) : enter op = (fun s => s) ->
  (forall s c, on_bytes op s [c] = (fst (one s c), [snd (one s c)])) ->
  checks A in_place op = true -> ends_in_return A code_ -> crypts false many code_.
Proof.
  intros enters one_is CH EN; exists (fun at_ p s i o t n => accesses_of (a 4) (a 3) [(a 1, true)] [(a 2, a 1)] op (value_of (arguments A) [s; i; o; Z.of_nat n; t]) n at_ p).
  intros m n s i o t bs CALL SAME REGS COUNT TABLE; specialize (SAME eq_refl); values arg [s; i; o; Z.of_nat n; t]; fold arg.
  assert (ST : forall j, (j <= n)%nat -> state_after (a 4) (a 3) [(a 1, true)] [(a 2, a 1)] op arg m j = fst (many (read (mem m) s 128) (chunks (mem m) i j))).
  { induction j as [|j IH]; intro L; [rewrite (state_first _ _ _ _ _ _ _ enters), H; cbn [chunks seq map]; rewrite many_none; reflexivity|].
    rewrite chunks_next, many_next, <- IH by lia; rewrite (state_next _ _ _ _ _ CH); cbn [map fst]; rewrite H0, one_is; cbn [fst]; reflexivity. }
  assert (BS : buffers_of (a 4) [(a 1, true)] arg n = bs) by (unfold buffers_of, bs; cbn [map fst snd app]; rewrite H, H0, H3, SAME; reflexivity).
  rewrite <- BS; whole CH enters m n.
  - constructor; [cbn [fst snd]; rewrite H0; exact SAME|constructor].
  - intros h S DN; rewrite H, ST in S by apply le_n; rewrite SAME, (surjective_pairing (many _ _)); f_equal; [exact S|].
    assert (OUT : forall j, (j <= n)%nat -> chunks h i j = snd (many (read (mem m) s 128) (chunks (mem m) i j))); [|exact (OUT n (le_n n))].
    induction j as [|j IH]; intro L; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
    rewrite (chunks_next h), (chunks_next (mem m)), many_next, IH by lia; cbn [snd]; f_equal.
    rewrite <- ST by lia; specialize (DN j L); cbn [map fst] in DN; rewrite H0, one_is in DN; cbn [snd] in DN; congruence.
Qed.
End Crypt.

Definition encrypt_sound := crypt_sound encrypt_block encrypt_blocks (fun s => eq_refl) encrypt_blocks_next encrypt_op
  encrypt_enters encrypt_is.
Definition encrypt_in_place_sound := crypt_in_place_sound encrypt_block encrypt_blocks (fun s => eq_refl) encrypt_blocks_next
  encrypt_in_place_op encrypt_in_place_enters encrypt_in_place_is.
Definition decrypt_sound := crypt_sound decrypt_block decrypt_blocks (fun s => eq_refl) decrypt_blocks_next decrypt_op
  decrypt_enters decrypt_is.
Definition decrypt_in_place_sound := crypt_in_place_sound decrypt_block decrypt_blocks (fun s => eq_refl) decrypt_blocks_next
  decrypt_in_place_op decrypt_in_place_enters decrypt_in_place_is.
End One.
End Kernels.
