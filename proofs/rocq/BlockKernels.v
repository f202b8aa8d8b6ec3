(** * BlockKernels: the theorems about kernels for blocks, for any calling convention

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call Loop Operations DuplexBlocks.
Import ListNotations.
Local Open Scope Z_scope.

Opaque end_block round_constants.

(** ** The operations are those of DuplexBlocks.v. *)

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

Lemma state_next A K op arg m i : state_after A K op arg m (S i) =
  fst (on_bytes op (state_after A K op arg m i) (block_at K arg (mem m) i)).
Proof. reflexivity. Qed.

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

Definition all_accesses (K : kernel) (op : operation) (arg : nat -> Z) (n : nat) (at_ pointer_ : Z) : list event :=
  last_accesses V pointer_ (at_ + last_at A (code K)) ++ accesses A K op at_ arg n.

Lemma whole K op arg m n :
  checks A K op = true -> ends_in_return A (code K) -> (forall r, In r (used A K) -> gpr m r = arg r) ->
  called V (code K) (buffers A K arg n) m -> read (mem m) (arg (table K)) 1152 = round_constants ->
  arg (count K) = Z.of_nat n -> Z.of_nat n < 2 ^ 64 -> Forall (fun r => gpr m (fst r) = arg (snd r)) (alias K) ->
  (forall r, 0 <= gpr m r < 2 ^ 64) ->
  forall output,
  (forall h, (forall j, (j < n)%nat -> block_at K arg h j = snd (on_bytes op (state_after A K op arg m j) (block_at K arg (mem m) j))) ->
     match output with Some (at_, blocks) => chunks h at_ (length blocks) = blocks | None => True end) ->
  ends (code K) (buffers A K arg n) (all_accesses K op arg n (pc m) (pointer V m)) m (state_after A K op arg m n) output.
Proof.
  intros CH EN ARG CALL TABLE COUNT SMALL ALIAS REGS output OUT.
  destruct (loop_sound A K op CH (pc m) arg m n (beside V m) eq_refl ARG (called_valid V _ _ _ CALL) TABLE COUNT SMALL ALIAS EN REGS)
    as (AL & k & m1 & R & AT & S & DN & FR & TR).
  destruct (return_step V _ _ _ _ EN CALL AT FR) as (m2 & ST & RT & ME & TR2).
  split; [apply Forall_app; split; [exact (last_touches V _ _ _ EN CALL)|exact AL]|].
  exists (k + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in ST; rewrite ST; reflexivity|].
  split; [exact RT|]; rewrite ME, TR2, TR; split; [|split; [apply OUT; exact DN|split; [exact FR|]]].
  - change (read (mem m1) (gpr m (state A)) 128 = state_after A K op arg m n); rewrite (ARG (state A)) by (now left); exact S.
  - unfold all_accesses; rewrite <- app_assoc; reflexivity.
Qed.

(** One buffer, or two; input, output, or both. *)
Section One.
Variables (code_ : list byte) (head_ shift_ : Z) (words_ : list (nat * nat)) (constants_ : list (nat * list byte)).

Definition one_buffer (w : bool) : kernel := Kernel code_ head_ (a 3) shift_ (a 2) [(a 1, w)] [] words_ constants_.
Definition two_buffers : kernel :=
  Kernel code_ head_ (a 4) shift_ (a 3) [(a 1, false); (a 2, true)] [] words_ constants_.
Definition in_place : kernel := Kernel code_ head_ (a 4) shift_ (a 3) [(a 1, true)] [(a 2, a 1)] words_ constants_.

Lemma block_one K arg h i w : data K = [(a 1, w)] -> block_at K arg h i = [read h (arg (a 1) + 94 * Z.of_nat i) 94].
Proof. intro D; unfold block_at; rewrite D; cbn [map fst]; rewrite (B_data K arg i (a 1) w) by (rewrite D; now left); reflexivity. Qed.

Lemma block_two K arg h i : data K = [(a 1, false); (a 2, true)] ->
  block_at K arg h i = [read h (arg (a 1) + 94 * Z.of_nat i) 94; read h (arg (a 2) + 94 * Z.of_nat i) 94].
Proof.
  intro D; unfold block_at; rewrite D; cbn [map fst].
  rewrite (B_data K arg i (a 1) false), (B_data K arg i (a 2) true) by (rewrite D; cbn [In]; tauto); reflexivity.
Qed.

Local Ltac values arg vs :=
  pose (arg := value_of (arguments A) vs);
  let get i := (assert (arg (a i) = nth i vs 0) by (apply value_at; [exact DISTINCT|rewrite FIVE; cbn; lia|cbn; lia])) in
  get 0%nat; get 1%nat; get 2%nat; get 3%nat; get 4%nat; cbn [nth] in *.

Local Ltac known := repeat match goal with H : _ = gpr _ _ |- _ => rewrite H | H : _ (a _) = Z.of_nat _ |- _ => rewrite H end.

Theorem absorb_sound : checks A (one_buffer false) absorb_op = true -> ends_in_return A code_ ->
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m (a 0) in let input := gpr m (a 1) in let table := gpr m (a 3) in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n))] in
  called V code_ buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m (a 2) = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends code_ buffers (accesses (pc m) (pointer V m) state input table n) m
    (absorb_blocks (read (mem m) state 128) (chunks (mem m) input n)) None.
Proof.
  intros CH EN; exists (fun at_ p s i t n => all_accesses (one_buffer false) absorb_op (value_of (arguments A) [s; i; Z.of_nat n; t; 0]) n at_ p).
  intros m n s i t bs CALL REGS COUNT TABLE; values arg [s; i; Z.of_nat n; t; 0]; fold arg.
  assert (ST : forall j, state_after A (one_buffer false) absorb_op arg m j = absorb_blocks (read (mem m) s 128) (chunks (mem m) i j)).
  { induction j as [|j IH]; [cbn [state_after]; unfold Loop.state; rewrite H; reflexivity|].
    rewrite chunks_next; unfold absorb_blocks; rewrite fold_left_app; fold (absorb_blocks (read (mem m) s 128) (chunks (mem m) i j)).
    rewrite <- IH; rewrite state_next, (block_one (one_buffer false) arg _ _ false eq_refl), H0, absorb_is; reflexivity. }
  assert (BS : buffers A (one_buffer false) arg n = bs).
  { unfold buffers; cbn [data table one_buffer map fst snd]; unfold Loop.state; rewrite H, H0, H2; reflexivity. }
  rewrite <- ST, <- BS; apply (whole (one_buffer false) absorb_op arg m n); auto; cbn [code table count alias one_buffer]; try rewrite BS; auto.
  - intros r [<-|[<-|[<-|[<-|[]]]]]; cbn [table count data one_buffer two_buffers in_place map fst]; unfold Loop.state;
      rewrite ?H, ?H0, ?H1, ?H2, ?H3; first [reflexivity|exact COUNT].
  - rewrite H2; exact TABLE.
  - rewrite <- COUNT; apply REGS.
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
  intros CH EN; exists (fun at_ p s o t n => all_accesses (one_buffer true) squeeze_op (value_of (arguments A) [s; o; Z.of_nat n; t; 0]) n at_ p).
  intros m n s o t bs after CALL REGS COUNT TABLE; values arg [s; o; Z.of_nat n; t; 0]; fold arg.
  assert (ST : forall j, state_after A (one_buffer true) squeeze_op arg m j = fst (squeeze_blocks j (read (mem m) s 128))).
  { induction j as [|j IH]; [cbn [state_after]; unfold Loop.state; rewrite H; reflexivity|].
    rewrite squeeze_blocks_next, <- IH, state_next, squeeze_is; cbn [fst]; reflexivity. }
  assert (BS : buffers A (one_buffer true) arg n = bs).
  { unfold buffers; cbn [data table one_buffer map fst snd]; unfold Loop.state; rewrite H, H0, H2; reflexivity. }
  unfold after; rewrite <- ST, <- BS; apply (whole (one_buffer true) squeeze_op arg m n); auto; cbn [code table count alias one_buffer]; try rewrite BS; auto.
  - intros r [<-|[<-|[<-|[<-|[]]]]]; cbn [table count data one_buffer two_buffers in_place map fst]; unfold Loop.state;
      rewrite ?H, ?H0, ?H1, ?H2, ?H3; first [reflexivity|exact COUNT].
  - rewrite H2; exact TABLE.
  - rewrite <- COUNT; apply REGS.
  - intros h DN.
    assert (OUT : forall j, (j <= n)%nat -> chunks h o j = snd (squeeze_blocks j (read (mem m) s 128))).
    { induction j as [|j IH]; intro L; [reflexivity|]; rewrite chunks_next, squeeze_blocks_next, IH by lia; cbn [snd]; f_equal.
      rewrite <- ST; specialize (DN j L); rewrite (block_one (one_buffer true) arg _ _ true eq_refl), H0, squeeze_is in DN; exact DN. }
    rewrite <- (OUT n (le_n n)), chunks_length; reflexivity.
Qed.

(** Encryption and decryption, each with its operation on one block. *)
Section Crypt.
Variables (block_op block_in_place_op : operation) (one : list byte -> list byte -> list byte * list byte)
  (many : list byte -> list (list byte) -> list byte * list (list byte)).
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
  intros CH EN; exists (fun at_ p s i o t n => all_accesses two_buffers block_op (value_of (arguments A) [s; i; o; Z.of_nat n; t]) n at_ p).
  intros m n s i o t bs after CALL REGS COUNT TABLE; values arg [s; i; o; Z.of_nat n; t]; fold arg.
  assert (ST : forall j, state_after A two_buffers block_op arg m j = fst (many (read (mem m) s 128) (chunks (mem m) i j))).
  { induction j as [|j IH]; [cbn [state_after]; unfold Loop.state; rewrite H; cbn [chunks seq map]; rewrite many_none; reflexivity|].
    rewrite chunks_next, many_next, <- IH, state_next, (block_two two_buffers arg _ _ eq_refl), H0, one_is; cbn [fst]; reflexivity. }
  assert (BS : buffers A two_buffers arg n = bs).
  { unfold buffers; cbn [data table two_buffers map fst snd]; unfold Loop.state; rewrite H, H0, H1, H3; reflexivity. }
  unfold after; rewrite <- ST, <- BS; apply (whole two_buffers block_op arg m n); auto; cbn [code table count alias two_buffers]; try rewrite BS; auto.
  - intros r [<-|[<-|[<-|[<-|[<-|[]]]]]]; cbn [table count data one_buffer two_buffers in_place map fst]; unfold Loop.state;
      rewrite ?H, ?H0, ?H1, ?H2, ?H3; first [reflexivity|exact COUNT].
  - rewrite H3; exact TABLE.
  - rewrite <- COUNT; apply REGS.
  - intros h DN.
    assert (OUT : forall j, (j <= n)%nat -> chunks h o j = snd (many (read (mem m) s 128) (chunks (mem m) i j))).
    { induction j as [|j IH]; intro L; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
      rewrite !chunks_next, many_next, IH by lia; cbn [snd]; f_equal.
      rewrite <- ST; specialize (DN j L); rewrite !(block_two two_buffers arg _ _ eq_refl), H0, H1, one_is in DN; exact (f_equal (@tl _) DN). }
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
  intros CH EN; exists (fun at_ p s i o t n => all_accesses in_place block_in_place_op (value_of (arguments A) [s; i; o; Z.of_nat n; t]) n at_ p).
  intros m n s i o t bs after CALL REGS SAME COUNT TABLE; values arg [s; i; o; Z.of_nat n; t]; fold arg.
  assert (ST : forall j, (j <= n)%nat -> state_after A in_place block_in_place_op arg m j = fst (many (read (mem m) s 128) (chunks (mem m) i j))).
  { induction j as [|j IH]; intro L; [cbn [state_after]; unfold Loop.state; rewrite H; cbn [chunks seq map]; rewrite many_none; reflexivity|].
    rewrite chunks_next, many_next, <- IH by lia; rewrite state_next, (block_one in_place arg _ _ true eq_refl), H0, one_in_place_is; cbn [fst]; reflexivity. }
  assert (BS : buffers A in_place arg n = bs).
  { unfold buffers; cbn [data table in_place map fst snd]; unfold Loop.state; rewrite H, H0, H3; reflexivity. }
  unfold after; rewrite <- (ST n (le_n n)), <- BS; apply (whole in_place block_in_place_op arg m n); auto; cbn [code table count alias in_place]; try rewrite BS; auto.
  - intros r [<-|[<-|[<-|[<-|[]]]]]; cbn [table count data one_buffer two_buffers in_place map fst]; unfold Loop.state;
      rewrite ?H, ?H0, ?H1, ?H2, ?H3; first [reflexivity|exact COUNT].
  - rewrite H3; exact TABLE.
  - rewrite <- COUNT; apply REGS.
  - constructor; [cbn [fst snd]; rewrite H0; exact SAME|constructor].
  - intros h DN; rewrite SAME.
    assert (OUT : forall j, (j <= n)%nat -> chunks h i j = snd (many (read (mem m) s 128) (chunks (mem m) i j))).
    { induction j as [|j IH]; intro L; [cbn [chunks seq map]; rewrite many_none; reflexivity|].
      rewrite (chunks_next h), (chunks_next (mem m)), many_next, IH by lia; cbn [snd]; f_equal.
      rewrite <- ST by lia; specialize (DN j L); rewrite !(block_one in_place arg _ _ true eq_refl), H0, one_in_place_is in DN; exact DN. }
    rewrite <- (OUT n (le_n n)), chunks_length; reflexivity.
Qed.
End Crypt.
End One.
End Kernels.
