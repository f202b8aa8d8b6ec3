(** * Blocks_x86_64: the machine code of the kernels that process blocks *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment X86_64 Call_x86_64 Loop_x86_64 Operations DuplexBlocks.
From Veriplex Require Kernels_x86_64.
Import ListNotations.

Definition absorb_kernel : kernel := Kernel Kernels_x86_64.absorb_blocks 0x449 rcx rdx [(rsi, false)] []
  [(9, 0); (6, 1); (10, 2); (1, 3); (7, 4); (2, 5); (3, 6); (4, 7)] 0.

Definition squeeze_kernel : kernel := Kernel Kernels_x86_64.squeeze_blocks 0x464 rcx rdx [(rsi, true)] []
  [(8, 0); (1, 1); (6, 2); (4, 3); (7, 4); (2, 5); (3, 6); (5, 7)] 0.

Definition encrypt_kernel : kernel := Kernel Kernels_x86_64.encrypt_blocks 0x473 r8 rcx [(rsi, false); (rdx, true)] []
  [(7, 0); (1, 1); (6, 2); (2, 3); (8, 4); (9, 5); (3, 6); (4, 7)] 0.

Definition encrypt_in_place_kernel : kernel := Kernel Kernels_x86_64.encrypt_blocks 0x473 r8 rcx [(rsi, true)] [(rdx, rsi)]
  [(7, 0); (1, 1); (6, 2); (2, 3); (8, 4); (9, 5); (3, 6); (4, 7)] 0.

Definition decrypt_kernel : kernel := Kernel Kernels_x86_64.decrypt_blocks 0x4a0 r8 rcx [(rsi, false); (rdx, true)] []
  [(7, 0); (1, 1); (8, 2); (2, 3); (3, 4); (4, 5); (5, 6); (6, 7)] 0.

Definition decrypt_in_place_kernel : kernel := Kernel Kernels_x86_64.decrypt_blocks 0x4a0 r8 rcx [(rsi, true)] [(rdx, rsi)]
  [(7, 0); (1, 1); (8, 2); (2, 3); (3, 4); (4, 5); (5, 6); (6, 7)] 0.

Lemma absorb_checks : checks absorb_kernel absorb_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_checks : checks squeeze_kernel squeeze_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_checks : checks encrypt_kernel encrypt_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_in_place_checks : checks encrypt_in_place_kernel encrypt_in_place_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_checks : checks decrypt_kernel decrypt_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_in_place_checks : checks decrypt_in_place_kernel decrypt_in_place_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

(** ** The theorems *)

Local Open Scope Z_scope.
Opaque end_block round_constants.

(** n blocks in a row. *)
Definition chunks (m : memory) (a : Z) (n : nat) : list (list byte) :=
  map (fun j => read m (a + 94 * Z.of_nat j) 94) (seq 0 n).

Definition arguments (rdi_ rsi_ rdx_ rcx_ r8_ : Z) (u : nat) : Z :=
  if (u =? rdi)%nat then rdi_ else if (u =? rsi)%nat then rsi_ else if (u =? rdx)%nat then rdx_ else
  if (u =? rcx)%nat then rcx_ else r8_.

Lemma chunks_next m a n : chunks m a (S n) = chunks m a n ++ [read m (a + 94 * Z.of_nat n) 94].
Proof. unfold chunks; rewrite seq_S, map_app; reflexivity. Qed.

Lemma state_next K op arg m i : state_after K op arg m (S i) =
  fst (on_bytes op (state_after K op arg m i) (block_at K arg (mem m) i)).
Proof. reflexivity. Qed.

(** The operations are those of DuplexBlocks.v. *)
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

Lemma chunks_length m a n : length (chunks m a n) = n.
Proof. unfold chunks; rewrite map_length, seq_length; reflexivity. Qed.

(** What holds when a kernel returns: about its buffers, its accesses, the state after it, and its output. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (state : list byte) (output : option (Z * list (list byte))) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run x86_64 k m = Some m' /\ returned m m' /\
    read (mem m') (gpr m rdi) 128 = state /\
    match output with Some (at_, blocks) => chunks (mem m') at_ (length blocks) = blocks | None => True end /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

Theorem absorb_blocks_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let table := gpr m rcx in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n))] in
  called Kernels_x86_64.absorb_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m rdx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.absorb_blocks buffers (accesses (pc m) (gpr m rsp) state input table n) m
    (absorb_blocks (read (mem m) state 128) (chunks (mem m) input n)) None.
Proof.
  exists (fun at_ stack state input table n =>
    accesses absorb_kernel absorb_op at_ (arguments state input (Z.of_nat n) table 0) n stack).
  intros m n state input table bs CALL REGS COUNT TABLE.
  set (arg := arguments state input (Z.of_nat n) table 0).
  assert (ARG : forall r, In r (Loop_x86_64.arguments absorb_kernel) -> gpr m r = arg r).
  { intros r J; repeat destruct J as [<-|J]; try destruct J; auto. }
  assert (BLOCK : forall h i, block_at absorb_kernel arg h i = [read h (input + 94 * Z.of_nat i) 94]) by reflexivity.
  assert (ST : forall i, (i <= n)%nat -> state_after absorb_kernel absorb_op arg m i =
    absorb_blocks (read (mem m) state 128) (chunks (mem m) input i)).
  { induction i as [|i IH]; intro L; [reflexivity|].
    rewrite chunks_next; unfold absorb_blocks; rewrite fold_left_app; fold (absorb_blocks (read (mem m) state 128) (chunks (mem m) input i)).
    rewrite <- IH by lia; rewrite state_next, BLOCK, absorb_is; reflexivity. }
  destruct (loop_sound absorb_kernel absorb_op absorb_checks (pc m) arg m n eq_refl ARG CALL TABLE eq_refl
    ltac:(rewrite <- COUNT; apply REGS) ltac:(constructor) REGS) as (AL & k & m' & R & RT & S & _ & FR & TR).
  split; [exact AL|]; exists k, m'; repeat (split; [assumption|]); split; [|split; [exact Logic.I|split; [|exact TR]]].
  - exact (eq_trans S (ST n (le_n n))).
  - intros a F; inversion F as [|? ? F1 F2]; subst; apply FR; [|exact (F1 eq_refl)].
    intros (r & [E|[]] & _); discriminate.
Qed.

Theorem squeeze_blocks_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let output := gpr m rsi in let table := gpr m rcx in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (output, 94 * Z.of_nat n))] in
  let after := squeeze_blocks n (read (mem m) state 128) in
  called Kernels_x86_64.squeeze_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m rdx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.squeeze_blocks buffers (accesses (pc m) (gpr m rsp) state output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  exists (fun at_ stack state output table n =>
    accesses squeeze_kernel squeeze_op at_ (arguments state output (Z.of_nat n) table 0) n stack).
  intros m n state output table bs after CALL REGS COUNT TABLE.
  set (arg := arguments state output (Z.of_nat n) table 0).
  assert (ARG : forall r, In r (Loop_x86_64.arguments squeeze_kernel) -> gpr m r = arg r).
  { intros r J; repeat destruct J as [<-|J]; try destruct J; auto. }
  assert (BLOCK : forall h i, block_at squeeze_kernel arg h i = [read h (output + 94 * Z.of_nat i) 94]) by reflexivity.
  assert (ST : forall i, state_after squeeze_kernel squeeze_op arg m i = fst (squeeze_blocks i (read (mem m) state 128))).
  { induction i as [|i IH]; [exact eq_refl|]; rewrite squeeze_blocks_next, <- IH, state_next, squeeze_is; cbn [fst]; reflexivity. }
  destruct (loop_sound squeeze_kernel squeeze_op squeeze_checks (pc m) arg m n eq_refl ARG CALL TABLE eq_refl
    ltac:(rewrite <- COUNT; apply REGS) ltac:(constructor) REGS) as (AL & k & m' & R & RT & S & DN & FR & TR).
  assert (OUT : forall i, (i <= n)%nat -> chunks (mem m') output i = snd (squeeze_blocks i (read (mem m) state 128))).
  { induction i as [|i IH]; intro L; [reflexivity|]; rewrite chunks_next, squeeze_blocks_next, IH by lia; cbn [snd]; f_equal.
    rewrite <- ST; specialize (DN i L); rewrite BLOCK, squeeze_is in DN; exact DN. }
  split; [exact AL|]; exists k, m'; repeat (split; [assumption|]); split; [|split; [|split; [|exact TR]]].
  - exact (eq_trans S (ST n)).
  - cbv beta iota; unfold after; rewrite <- (OUT n (le_n n)), chunks_length; reflexivity.
  - intros a F; inversion F as [|? ? F1 F2]; subst; inversion F2 as [|? ? _ F3]; subst; inversion F3 as [|? ? F4 _]; subst.
    apply FR; [|exact (F1 eq_refl)].
    intros (r & [E|[]] & T); injection E as <-; exact (F4 eq_refl T).
Qed.

Theorem encrypt_blocks_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let output := gpr m rdx in let table := gpr m r8 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n)); (true, (output, 94 * Z.of_nat n))] in
  let after := encrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called Kernels_x86_64.encrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m rcx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.encrypt_blocks buffers (accesses (pc m) (gpr m rsp) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  exists (fun at_ stack state input output table n =>
    accesses encrypt_kernel encrypt_op at_ (arguments state input output (Z.of_nat n) table) n stack).
  intros m n state input output table bs after CALL REGS COUNT TABLE.
  set (arg := arguments state input output (Z.of_nat n) table).
  assert (ARG : forall r, In r (Loop_x86_64.arguments encrypt_kernel) -> gpr m r = arg r).
  { intros r J; repeat destruct J as [<-|J]; try destruct J; auto. }
  assert (BLOCK : forall h i, block_at encrypt_kernel arg h i = [read h (input + 94 * Z.of_nat i) 94; read h (output + 94 * Z.of_nat i) 94]) by reflexivity.
  assert (ST : forall i, state_after encrypt_kernel encrypt_op arg m i =
    fst (encrypt_blocks (read (mem m) state 128) (chunks (mem m) input i))).
  { induction i as [|i IH]; [exact eq_refl|]; rewrite chunks_next, encrypt_blocks_next, <- IH, state_next, BLOCK, encrypt_is; cbn [fst]; reflexivity. }
  destruct (loop_sound encrypt_kernel encrypt_op encrypt_checks (pc m) arg m n eq_refl ARG CALL TABLE eq_refl
    ltac:(rewrite <- COUNT; apply REGS) ltac:(constructor) REGS) as (AL & k & m' & R & RT & S & DN & FR & TR).
  assert (OUT : forall i, (i <= n)%nat -> chunks (mem m') output i =
    snd (encrypt_blocks (read (mem m) state 128) (chunks (mem m) input i))).
  { induction i as [|i IH]; intro L; [reflexivity|]; rewrite !chunks_next, encrypt_blocks_next, IH by lia; cbn [snd]; f_equal.
    rewrite <- ST; specialize (DN i L); rewrite !BLOCK, encrypt_is in DN; exact (f_equal (@tl _) DN). }
  split; [exact AL|]; exists k, m'; repeat (split; [assumption|]); split; [|split; [|split; [|exact TR]]].
  - exact (eq_trans S (ST n)).
  - cbv beta iota; unfold after; rewrite <- (OUT n (le_n n)), chunks_length; reflexivity.
  - intros a F; inversion F as [|? ? F1 F2]; subst; inversion F2 as [|? ? _ F3]; subst; inversion F3 as [|? ? F4 F5]; subst.
    apply FR; [|exact (F1 eq_refl)].
    inversion F5 as [|? ? F6 _]; subst.
    intros (r & [E|[E|[]]] & T); [discriminate|]; injection E as <-; exact (F6 eq_refl T).
Qed.

Theorem encrypt_blocks_in_place_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let output := gpr m rdx in let table := gpr m r8 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (input, 94 * Z.of_nat n))] in
  let after := encrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called Kernels_x86_64.encrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  output = input ->
  gpr m rcx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.encrypt_blocks buffers (accesses (pc m) (gpr m rsp) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  exists (fun at_ stack state input output table n =>
    accesses encrypt_in_place_kernel encrypt_in_place_op at_ (arguments state input output (Z.of_nat n) table) n stack).
  intros m n state input output table bs after CALL REGS SAME_ COUNT TABLE.
  set (arg := arguments state input output (Z.of_nat n) table).
  assert (ARG : forall r, In r (Loop_x86_64.arguments encrypt_in_place_kernel) -> gpr m r = arg r).
  { intros r J; repeat destruct J as [<-|J]; try destruct J; auto. }
  assert (BLOCK : forall h i, block_at encrypt_in_place_kernel arg h i = [read h (input + 94 * Z.of_nat i) 94]) by reflexivity.
  assert (ST : forall i, state_after encrypt_in_place_kernel encrypt_in_place_op arg m i =
    fst (encrypt_blocks (read (mem m) state 128) (chunks (mem m) input i))).
  { induction i as [|i IH]; [exact eq_refl|]; rewrite chunks_next, encrypt_blocks_next, <- IH, state_next, BLOCK, encrypt_in_place_is; cbn [fst]; reflexivity. }
  destruct (loop_sound encrypt_in_place_kernel encrypt_in_place_op encrypt_in_place_checks (pc m) arg m n eq_refl ARG CALL TABLE eq_refl
    ltac:(rewrite <- COUNT; apply REGS) ltac:(constructor; [exact SAME_|constructor]) REGS) as (AL & k & m' & R & RT & S & DN & FR & TR).
  assert (OUT : forall i, (i <= n)%nat -> chunks (mem m') input i =
    snd (encrypt_blocks (read (mem m) state 128) (chunks (mem m) input i))).
  { induction i as [|i IH]; intro L; [reflexivity|]; rewrite !chunks_next, encrypt_blocks_next, IH by lia; cbn [snd]; f_equal.
    rewrite <- ST; specialize (DN i L); rewrite !BLOCK, encrypt_in_place_is in DN; exact DN. }
  split; [exact AL|]; exists k, m'; repeat (split; [assumption|]); split; [|split; [|split; [|exact TR]]].
  - exact (eq_trans S (ST n)).
  - cbv beta iota; unfold after; rewrite SAME_, <- (OUT n (le_n n)), chunks_length; reflexivity.
  - intros a F; inversion F as [|? ? F1 F2]; subst; inversion F2 as [|? ? _ F3]; subst; inversion F3 as [|? ? F4 F5]; subst.
    apply FR; [|exact (F1 eq_refl)].
    intros (r & [E|[]] & T); injection E as <-; exact (F4 eq_refl T).
Qed.

Theorem decrypt_blocks_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let output := gpr m rdx in let table := gpr m r8 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n)); (true, (output, 94 * Z.of_nat n))] in
  let after := decrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called Kernels_x86_64.decrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m rcx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.decrypt_blocks buffers (accesses (pc m) (gpr m rsp) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  exists (fun at_ stack state input output table n =>
    accesses decrypt_kernel decrypt_op at_ (arguments state input output (Z.of_nat n) table) n stack).
  intros m n state input output table bs after CALL REGS COUNT TABLE.
  set (arg := arguments state input output (Z.of_nat n) table).
  assert (ARG : forall r, In r (Loop_x86_64.arguments decrypt_kernel) -> gpr m r = arg r).
  { intros r J; repeat destruct J as [<-|J]; try destruct J; auto. }
  assert (BLOCK : forall h i, block_at decrypt_kernel arg h i = [read h (input + 94 * Z.of_nat i) 94; read h (output + 94 * Z.of_nat i) 94]) by reflexivity.
  assert (ST : forall i, state_after decrypt_kernel decrypt_op arg m i =
    fst (decrypt_blocks (read (mem m) state 128) (chunks (mem m) input i))).
  { induction i as [|i IH]; [exact eq_refl|]; rewrite chunks_next, decrypt_blocks_next, <- IH, state_next, BLOCK, decrypt_is; cbn [fst]; reflexivity. }
  destruct (loop_sound decrypt_kernel decrypt_op decrypt_checks (pc m) arg m n eq_refl ARG CALL TABLE eq_refl
    ltac:(rewrite <- COUNT; apply REGS) ltac:(constructor) REGS) as (AL & k & m' & R & RT & S & DN & FR & TR).
  assert (OUT : forall i, (i <= n)%nat -> chunks (mem m') output i =
    snd (decrypt_blocks (read (mem m) state 128) (chunks (mem m) input i))).
  { induction i as [|i IH]; intro L; [reflexivity|]; rewrite !chunks_next, decrypt_blocks_next, IH by lia; cbn [snd]; f_equal.
    rewrite <- ST; specialize (DN i L); rewrite !BLOCK, decrypt_is in DN; exact (f_equal (@tl _) DN). }
  split; [exact AL|]; exists k, m'; repeat (split; [assumption|]); split; [|split; [|split; [|exact TR]]].
  - exact (eq_trans S (ST n)).
  - cbv beta iota; unfold after; rewrite <- (OUT n (le_n n)), chunks_length; reflexivity.
  - intros a F; inversion F as [|? ? F1 F2]; subst; inversion F2 as [|? ? _ F3]; subst; inversion F3 as [|? ? F4 F5]; subst.
    apply FR; [|exact (F1 eq_refl)].
    inversion F5 as [|? ? F6 _]; subst.
    intros (r & [E|[E|[]]] & T); [discriminate|]; injection E as <-; exact (F6 eq_refl T).
Qed.

Theorem decrypt_blocks_in_place_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let output := gpr m rdx in let table := gpr m r8 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (input, 94 * Z.of_nat n))] in
  let after := decrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called Kernels_x86_64.decrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  output = input ->
  gpr m rcx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.decrypt_blocks buffers (accesses (pc m) (gpr m rsp) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  exists (fun at_ stack state input output table n =>
    accesses decrypt_in_place_kernel decrypt_in_place_op at_ (arguments state input output (Z.of_nat n) table) n stack).
  intros m n state input output table bs after CALL REGS SAME_ COUNT TABLE.
  set (arg := arguments state input output (Z.of_nat n) table).
  assert (ARG : forall r, In r (Loop_x86_64.arguments decrypt_in_place_kernel) -> gpr m r = arg r).
  { intros r J; repeat destruct J as [<-|J]; try destruct J; auto. }
  assert (BLOCK : forall h i, block_at decrypt_in_place_kernel arg h i = [read h (input + 94 * Z.of_nat i) 94]) by reflexivity.
  assert (ST : forall i, state_after decrypt_in_place_kernel decrypt_in_place_op arg m i =
    fst (decrypt_blocks (read (mem m) state 128) (chunks (mem m) input i))).
  { induction i as [|i IH]; [exact eq_refl|]; rewrite chunks_next, decrypt_blocks_next, <- IH, state_next, BLOCK, decrypt_in_place_is; cbn [fst]; reflexivity. }
  destruct (loop_sound decrypt_in_place_kernel decrypt_in_place_op decrypt_in_place_checks (pc m) arg m n eq_refl ARG CALL TABLE eq_refl
    ltac:(rewrite <- COUNT; apply REGS) ltac:(constructor; [exact SAME_|constructor]) REGS) as (AL & k & m' & R & RT & S & DN & FR & TR).
  assert (OUT : forall i, (i <= n)%nat -> chunks (mem m') input i =
    snd (decrypt_blocks (read (mem m) state 128) (chunks (mem m) input i))).
  { induction i as [|i IH]; intro L; [reflexivity|]; rewrite !chunks_next, decrypt_blocks_next, IH by lia; cbn [snd]; f_equal.
    rewrite <- ST; specialize (DN i L); rewrite !BLOCK, decrypt_in_place_is in DN; exact DN. }
  split; [exact AL|]; exists k, m'; repeat (split; [assumption|]); split; [|split; [|split; [|exact TR]]].
  - exact (eq_trans S (ST n)).
  - cbv beta iota; unfold after; rewrite SAME_, <- (OUT n (le_n n)), chunks_length; reflexivity.
  - intros a F; inversion F as [|? ? F1 F2]; subst; inversion F2 as [|? ? _ F3]; subst; inversion F3 as [|? ? F4 F5]; subst.
    apply FR; [|exact (F1 eq_refl)].
    intros (r & [E|[]] & T); injection E as <-; exact (F4 eq_refl T).
Qed.
