(** * Sound: running the kernels' bytes computes transcripts that can be decoded in only one way

    For any calling convention; [kernels_in_protocol_x86_64] and [kernels_in_protocol_aarch64] are about the literal bytes of
    the kernels for one state. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Call DuplexBlocks BlockKernels Permute Returns DuplexMachine.
From Veriplex Require X86_64 Call_x86_64 Blocks_x86_64 Kernels_x86_64 AArch64 Call_aarch64 Blocks_aarch64 Kernels_aarch64.
From Veriplex Require Protocol Framing Duplex.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes of the kernels of a level. *)
Record code := Code { to_permute : list byte; to_absorb : list byte; to_squeeze : list byte; to_encrypt : list byte;
  to_decrypt : list byte }.

Section Convention.
Variable V : convention.
Context {PROPER : proper V}.
Notation a := (argument (abi_of V)).
Variable K : code.

(** ** What a call of the bytes computes *)

(** A valid call, and the machine when it first reaches the return address. *)
Record call (bytes : list byte) (buffers : list buffer) (m m' : machine) : Prop := Call {
  k_called : called V bytes buffers m;
  k_registers : forall r, 0 <= gpr m r < 2 ^ 64;
  k_outside : ~ (pc m <= return_to V m < pc m + Z.of_nat (length bytes));
  k_reaches : reaches (isa_of (abi_of V)) (return_to V m) m m'
}.

Definition constants_at (m : machine) (r : nat) : Prop := read (mem m) (gpr m r) 1152 = round_constants.

(** A call in any memory: the state, at the first argument, before and after. *)
Definition from_to (m m' : machine) (s s' : list byte) : Prop :=
  read (mem m) (gpr m (a 0)) 128 = s /\ read (mem m') (gpr m (a 0)) 128 = s'.

Definition permute_calls (s s' : list byte) : Prop :=
  exists m m', call (to_permute K) [(true, (gpr m (a 0), 128)); (false, (gpr m (a 1), 1152))] m m' /\
  constants_at m (a 1) /\ from_to m m' s s'.

Definition absorb_calls (s : list byte) (cs : list (list byte)) (s' : list byte) : Prop :=
  exists m m', let n := length cs in
  call (to_absorb K)
    [(true, (gpr m (a 0), 128)); (false, (gpr m (a 3), 1152)); (false, (gpr m (a 1), 94 * Z.of_nat n))] m m' /\
  gpr m (a 2) = Z.of_nat n /\ constants_at m (a 3) /\ chunks (mem m) (gpr m (a 1)) n = cs /\ from_to m m' s s'.

Definition squeeze_calls (s : list byte) (n : nat) (s' : list byte) (ds : list (list byte)) : Prop :=
  exists m m',
  call (to_squeeze K)
    [(true, (gpr m (a 0), 128)); (false, (gpr m (a 3), 1152)); (true, (gpr m (a 1), 94 * Z.of_nat n))] m m' /\
  gpr m (a 2) = Z.of_nat n /\ constants_at m (a 3) /\ chunks (mem m') (gpr m (a 1)) n = ds /\ from_to m m' s s'.

(** Input and output apart, or the same. *)
Definition crypt_calls (bytes s : list byte) (cs : list (list byte)) (s' : list byte) (ds : list (list byte)) : Prop :=
  exists m m', let n := length cs in
  (exists apart, (apart = false -> gpr m (a 2) = gpr m (a 1)) /\
   call bytes ((true, (gpr m (a 0), 128)) :: (false, (gpr m (a 4), 1152)) ::
     (if apart : bool then [(false, (gpr m (a 1), 94 * Z.of_nat n))] else []) ++ [(true, (gpr m (a 2), 94 * Z.of_nat n))]) m m') /\
  gpr m (a 3) = Z.of_nat n /\ constants_at m (a 4) /\ chunks (mem m) (gpr m (a 1)) n = cs /\
  chunks (mem m') (gpr m (a 2)) n = ds /\ from_to m m' s s'.

Definition kernels_of : kernels :=
  Kernels permute_calls absorb_calls squeeze_calls (crypt_calls (to_encrypt K)) (crypt_calls (to_decrypt K)).

(** ** It is the specification *)

Opaque read chunks Simpira1024.permute absorb_block squeeze_block encrypt_block decrypt_block round_constants.

(** What is proved of the bytes. *)
Record proved : Prop := Proved {
  p_permutes : Permute.permutes V (to_permute K);
  p_absorbs : BlockKernels.absorbs V (to_absorb K);
  p_squeezes : BlockKernels.squeezes V (to_squeeze K);
  p_encrypts : forall apart, crypts V apart encrypt_blocks (to_encrypt K);
  p_decrypts : forall apart, crypts V apart decrypt_blocks (to_decrypt K)
}.

Hypothesis PROVED : proved.

(** The end that a theorem about a kernel states is the end of the call. *)
Lemma reaches_of bytes buffers m k m1 accesses :
  Forall (allowed V bytes buffers m) accesses -> run (isa_of (abi_of V)) k m = Some m1 -> returned V m m1 ->
  trace m1 = accesses ++ trace m -> ~ (pc m <= return_to V m < pc m + Z.of_nat (length bytes)) ->
  reaches (isa_of (abi_of V)) (return_to V m) m m1.
Proof.
  intros AL R RT TR OUT.
  apply (reaches_end (isa_of (abi_of V)) k m m1 accesses (return_to V m)
    (fun a => pc m <= a < pc m + Z.of_nat (length bytes)) R TR); [|exact (returned_there V _ _ RT)|exact OUT].
  intros x n N J; rewrite Forall_forall in AL; specialize (AL _ J).
  unfold allowed, touches, within, code_part in AL; cbn [fst snd] in AL.
  pose proof (proj1 (Forall_forall _ _) (lengths_positive V) n N) as P; cbv beta in P; lia.
Qed.

(** A call's result is that of the theorem. *)
Lemma result_of bytes buffers m m' accesses result : call bytes buffers m m' ->
  ends V bytes buffers accesses m result -> result (mem m').
Proof.
  intros [_ _ O E] (AL & k & m1 & R & RT & RESULT & _ & TR).
  rewrite <- (reaches_unique _ _ _ _ _ (reaches_of _ _ _ _ _ _ AL R RT TR O) E); exact RESULT.
Qed.

Lemma crypt_calls_are bytes many : (forall apart, crypts V apart many bytes) ->
  forall s cs s' ds, crypt_calls bytes s cs s' ds -> many s cs = (s', ds).
Proof.
  intros P s cs s' ds (m & m' & (apart & SAME & C) & N & T & I & O & S & S').
  destruct (P apart) as (acc & H); specialize (H m (length cs) (k_called _ _ _ _ C) SAME (k_registers _ _ _ _ C) N T).
  apply (result_of _ _ _ _ _ _ C) in H; rewrite S, S', I, O in H; symmetry; exact H.
Qed.

Theorem kernels_faithful : faithful kernels_of.
Proof.
  constructor; cbn [kernels_of permutes absorbs squeezes encrypts decrypts].
  - intros s s' (m & m' & C & T & S & S'); destruct (p_permutes PROVED) as (acc & H).
    specialize (H m (k_called _ _ _ _ C) T); apply (result_of _ _ _ _ _ _ C) in H; rewrite S, S' in H; exact H.
  - intros s cs s' (m & m' & C & N & T & I & S & S'); destruct (p_absorbs PROVED) as (acc & H).
    specialize (H m (length cs) (k_called _ _ _ _ C) (k_registers _ _ _ _ C) N T).
    apply (result_of _ _ _ _ _ _ C) in H; rewrite S, S', I in H; exact H.
  - intros s n s' ds (m & m' & C & N & T & O & S & S'); destruct (p_squeezes PROVED) as (acc & H).
    specialize (H m n (k_called _ _ _ _ C) (k_registers _ _ _ _ C) N T).
    apply (result_of _ _ _ _ _ _ C) in H; rewrite S, S', O in H; symmetry; exact H.
  - apply crypt_calls_are, PROVED.
  - apply crypt_calls_are, PROVED.
Qed.

Theorem kernels_in_protocol (T1 T2 : list Protocol.op) outs1 outs2 b1 b2 :
  (forall o, In o (T1 ++ T2) -> (length (Protocol.label o) <= Framing.label_max)%nat) ->
  ran kernels_of T1 outs1 b1 -> ran kernels_of T2 outs2 b2 ->
  outs1 = outputs T1 /\ b1 = bare_of (Protocol.run Simpira1024.permute T1) /\
  (Duplex.inputs (Protocol.run Simpira1024.permute T1) = Duplex.inputs (Protocol.run Simpira1024.permute T2) ->
   b1 = b2 -> T1 = T2).
Proof. apply sound, kernels_faithful. Qed.

(** ** Such calls exist *)

(** Code, state and constants at some addresses. *)
Definition placed_memory (s : list byte) : memory :=
  write (write (write (fun _ => 0%N) 4096 (to_permute K)) 131072 s) 262144 round_constants.

Lemma permutes_exists s m : length s = 128%nat -> (length (to_permute K) <= 4096)%nat ->
  mem m = placed_memory s -> pc m = 4096 -> gpr m (a 0) = 131072 -> gpr m (a 1) = 262144 ->
  (forall r, 0 <= gpr m r < 2 ^ 64) -> return_to V m = 0 ->
  (read (mem m) 4096 (length (to_permute K)) = to_permute K ->
   called V (to_permute K) [(true, (gpr m (a 0), 128)); (false, (gpr m (a 1), 1152))] m) ->
  exists s', permute_calls s s' /\ length s' = 128%nat.
Proof.
  intros LENGTH CL MEM PC A0 A1 REGS BACK CALL; pose proof Permute.table_length as TL.
  assert (CODE : read (mem m) 4096 (length (to_permute K)) = to_permute K).
  { rewrite MEM; unfold placed_memory; rewrite !read_beside by (rewrite ?TL, ?LENGTH; lia); apply read_written. }
  assert (STATE : read (mem m) (gpr m (a 0)) 128 = s).
  { rewrite MEM, A0; unfold placed_memory; rewrite read_beside by lia; rewrite <- LENGTH; apply read_written. }
  assert (TABLE : read (mem m) (gpr m (a 1)) 1152 = round_constants).
  { rewrite MEM, A1; unfold placed_memory; rewrite <- TL; apply read_written. }
  specialize (CALL CODE); destruct (p_permutes PROVED) as (acc & H).
  destruct (H m CALL TABLE) as (AL & k & m1 & R & RT & ST & _ & TR).
  assert (OUT : ~ (pc m <= return_to V m < pc m + Z.of_nat (length (to_permute K)))) by (rewrite BACK, PC; lia).
  exists (Simpira1024.permute s); split; [|apply permute_length; exact LENGTH].
  exists m, m1; split; [|split; [exact TABLE|split; [exact STATE|rewrite ST, STATE; reflexivity]]].
  constructor; auto; exact (reaches_of _ _ _ _ _ _ AL R RT TR OUT).
Qed.
End Convention.

#[local] Existing Instances Call_x86_64.proper_x86_64 Call_aarch64.proper_aarch64.

(** ** x86-64 *)

Definition code_x86_64 : code :=
  Code Kernels_x86_64.permute Kernels_x86_64.absorb_blocks Kernels_x86_64.squeeze_blocks Kernels_x86_64.encrypt_blocks
    Kernels_x86_64.decrypt_blocks.

Definition kernels_x86_64 : kernels := kernels_of (Call_x86_64.convention_x86_64 0) code_x86_64.

Lemma proved_x86_64 : proved (Call_x86_64.convention_x86_64 0) code_x86_64.
Proof.
  constructor; [apply Blocks_x86_64.permute_x86_64|apply Blocks_x86_64.absorb_blocks_x86_64|
    apply Blocks_x86_64.squeeze_blocks_x86_64|intros [|]..];
    [apply Blocks_x86_64.encrypt_blocks_x86_64|apply Blocks_x86_64.encrypt_blocks_in_place_x86_64|
     apply Blocks_x86_64.decrypt_blocks_x86_64|apply Blocks_x86_64.decrypt_blocks_in_place_x86_64].
Qed.

Theorem kernels_x86_64_faithful : faithful kernels_x86_64.
Proof. exact (kernels_faithful _ _ proved_x86_64). Qed.

Theorem kernels_in_protocol_x86_64 (T1 T2 : list Protocol.op) outs1 outs2 b1 b2 :
  (forall o, In o (T1 ++ T2) -> (length (Protocol.label o) <= Framing.label_max)%nat) ->
  ran kernels_x86_64 T1 outs1 b1 -> ran kernels_x86_64 T2 outs2 b2 ->
  outs1 = outputs T1 /\ b1 = bare_of (Protocol.run Simpira1024.permute T1) /\
  (Duplex.inputs (Protocol.run Simpira1024.permute T1) = Duplex.inputs (Protocol.run Simpira1024.permute T2) ->
   b1 = b2 -> T1 = T2).
Proof. exact (kernels_in_protocol _ _ proved_x86_64 T1 T2 outs1 outs2 b1 b2). Qed.

(** The return address is 0. *)
Lemma permutes_exists_x86_64 s : length s = 128%nat -> exists s', permutes kernels_x86_64 s s' /\ length s' = 128%nat.
Proof.
  intro L; assert (CL : length Kernels_x86_64.permute = 1134%nat) by (vm_compute; reflexivity).
  apply (permutes_exists _ _ proved_x86_64 s (Machine 4096
    (fun r => if (r =? X86_64.rdi)%nat then 131072 else if (r =? X86_64.rsi)%nat then 262144 else
      if (r =? X86_64.rsp)%nat then 65536 else 0) (fun _ => zero 64) false false (placed_memory code_x86_64 s) []) L);
    try reflexivity; cbn [code_x86_64 to_permute]; rewrite ?CL.
  - apply Nat.leb_le; reflexivity.
  - intro r; cbn [gpr]; destruct (r =? X86_64.rdi)%nat, (r =? X86_64.rsi)%nat, (r =? X86_64.rsp)%nat; lia.
  - intro CODE; rewrite <- CL in CODE at 1; constructor.
    + exact CODE.
    + intro r; reflexivity.
    + unfold code_part, Call_x86_64.return_address; rewrite CL; cbn; repeat constructor; cbn; lia.
    + unfold code_part, Call_x86_64.return_address; rewrite CL; cbn; repeat constructor; unfold compatible, disjoint; cbn; lia.
Qed.

(** Every transcript can be run by these bytes. *)
Theorem veriplex_x86_64_runs (T : list Protocol.op) : exists outs b, ran kernels_x86_64 T outs b.
Proof. apply ran_exists; exact permutes_exists_x86_64. Qed.

(** ** AArch64 *)

Definition code_aarch64 : code :=
  Code Kernels_aarch64.permute Kernels_aarch64.absorb_blocks Kernels_aarch64.squeeze_blocks Kernels_aarch64.encrypt_blocks
    Kernels_aarch64.decrypt_blocks.

Section Width.
Variable width : nat.   (* of a vector register, in bytes *)

Definition kernels_aarch64 : kernels := kernels_of (Call_aarch64.convention_aarch64 width) code_aarch64.

Lemma proved_aarch64 : proved (Call_aarch64.convention_aarch64 width) code_aarch64.
Proof.
  constructor; [apply Blocks_aarch64.permute_aarch64|apply Blocks_aarch64.absorb_blocks_aarch64|
    apply Blocks_aarch64.squeeze_blocks_aarch64|intros [|]..];
    [apply Blocks_aarch64.encrypt_blocks_aarch64|apply Blocks_aarch64.encrypt_blocks_in_place_aarch64|
     apply Blocks_aarch64.decrypt_blocks_aarch64|apply Blocks_aarch64.decrypt_blocks_in_place_aarch64].
Qed.

Theorem kernels_aarch64_faithful : faithful kernels_aarch64.
Proof. exact (kernels_faithful _ _ proved_aarch64). Qed.

Theorem kernels_in_protocol_aarch64 (T1 T2 : list Protocol.op) outs1 outs2 b1 b2 :
  (forall o, In o (T1 ++ T2) -> (length (Protocol.label o) <= Framing.label_max)%nat) ->
  ran kernels_aarch64 T1 outs1 b1 -> ran kernels_aarch64 T2 outs2 b2 ->
  outs1 = outputs T1 /\ b1 = bare_of (Protocol.run Simpira1024.permute T1) /\
  (Duplex.inputs (Protocol.run Simpira1024.permute T1) = Duplex.inputs (Protocol.run Simpira1024.permute T2) ->
   b1 = b2 -> T1 = T2).
Proof. exact (kernels_in_protocol _ _ proved_aarch64 T1 T2 outs1 outs2 b1 b2). Qed.

Hypothesis WIDTH : (16 <= width)%nat.

(** The return address is 0. *)
Lemma permutes_exists_aarch64 s : length s = 128%nat -> exists s', permutes kernels_aarch64 s s' /\ length s' = 128%nat.
Proof.
  intro L; assert (CL : length Kernels_aarch64.permute = 1736%nat) by (vm_compute; reflexivity).
  apply (permutes_exists _ _ proved_aarch64 s (Machine 4096 (fun r => if (r =? 0)%nat then 131072 else if (r =? 1)%nat then 262144 else 0)
    (fun _ => zero width) false false (placed_memory code_aarch64 s) []) L);
    try reflexivity; cbn [code_aarch64 to_permute]; rewrite ?CL.
  - apply Nat.leb_le; reflexivity.
  - intro r; cbn [gpr]; destruct (r =? 0)%nat, (r =? 1)%nat; lia.
  - intro CODE; rewrite <- CL in CODE at 1; constructor.
    + reflexivity.
    + exact CODE.
    + exact WIDTH.
    + intro r; apply repeat_length.
    + unfold code_part; rewrite CL; cbn; repeat constructor; cbn; lia.
    + unfold code_part; rewrite CL; cbn; repeat constructor; unfold compatible, disjoint; cbn; lia.
Qed.

(** Every transcript can be run by these bytes. *)
Theorem veriplex_aarch64_runs (T : list Protocol.op) : exists outs b, ran kernels_aarch64 T outs b.
Proof. apply ran_exists; exact permutes_exists_aarch64. Qed.
End Width.
