(** * Sound_x86_64: running these bytes computes transcripts that can be decoded in only one way *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call X86_64 Call_x86_64 DuplexBlocks BlockKernels Returns
  Blocks_x86_64 DuplexMachine.
From Veriplex Require Permute Permute_x86_64 Kernels_x86_64 Protocol Framing Duplex.
Import ListNotations.
Local Open Scope Z_scope.

(** ** What a call of the bytes computes *)

Definition return_to (m : machine) : Z := wrap (number_of (read (mem m) (gpr m rsp) 8)).

(** A valid call, and the machine when it first reaches the return address. *)
Record call (code : list byte) (buffers : list (bool * (Z * Z))) (m m' : machine) : Prop := Call {
  k_called : called code buffers m;
  k_registers : forall r, 0 <= gpr m r < 2 ^ 64;
  k_outside : ~ (pc m <= return_to m < pc m + Z.of_nat (length code));
  k_reaches : reaches x86_64 (return_to m) m m'
}.

Definition constants_at (m : machine) (r : nat) : Prop := read (mem m) (gpr m r) 1152 = round_constants.

(** A call in any memory: the state at rdi before and after. *)
Definition from_to (m m' : machine) (s s' : list byte) : Prop :=
  read (mem m) (gpr m rdi) 128 = s /\ read (mem m') (gpr m rdi) 128 = s'.

Definition permutes_x86_64 (s s' : list byte) : Prop :=
  exists m m', call Kernels_x86_64.permute (Permute_x86_64.buffers m) m m' /\ constants_at m rsi /\ from_to m m' s s'.

Definition absorbs_x86_64 (s : list byte) (cs : list (list byte)) (s' : list byte) : Prop :=
  exists m m', let n := length cs in
  call Kernels_x86_64.absorb_blocks
    [(true, (gpr m rdi, 128)); (false, (gpr m rcx, 1152)); (false, (gpr m rsi, 94 * Z.of_nat n))] m m' /\
  gpr m rdx = Z.of_nat n /\ constants_at m rcx /\ chunks (mem m) (gpr m rsi) n = cs /\ from_to m m' s s'.

Definition squeezes_x86_64 (s : list byte) (n : nat) (s' : list byte) (ds : list (list byte)) : Prop :=
  exists m m',
  call Kernels_x86_64.squeeze_blocks
    [(true, (gpr m rdi, 128)); (false, (gpr m rcx, 1152)); (true, (gpr m rsi, 94 * Z.of_nat n))] m m' /\
  gpr m rdx = Z.of_nat n /\ constants_at m rcx /\ chunks (mem m') (gpr m rsi) n = ds /\ from_to m m' s s'.

(** Input and output apart, or the same. *)
Definition crypts_x86_64 (code s : list byte) (cs : list (list byte)) (s' : list byte) (ds : list (list byte)) : Prop :=
  exists m m', let n := length cs in
  (call code [(true, (gpr m rdi, 128)); (false, (gpr m r8, 1152)); (false, (gpr m rsi, 94 * Z.of_nat n));
     (true, (gpr m rdx, 94 * Z.of_nat n))] m m' \/
   gpr m rdx = gpr m rsi /\
   call code [(true, (gpr m rdi, 128)); (false, (gpr m r8, 1152)); (true, (gpr m rsi, 94 * Z.of_nat n))] m m') /\
  gpr m rcx = Z.of_nat n /\ constants_at m r8 /\ chunks (mem m) (gpr m rsi) n = cs /\
  chunks (mem m') (gpr m rdx) n = ds /\ from_to m m' s s'.

Definition kernels_x86_64 : kernels :=
  Kernels permutes_x86_64 absorbs_x86_64 squeezes_x86_64
    (crypts_x86_64 Kernels_x86_64.encrypt_blocks) (crypts_x86_64 Kernels_x86_64.decrypt_blocks).

(** ** It is the specification *)

Opaque read chunks Simpira1024.permute absorb_block squeeze_block encrypt_block decrypt_block round_constants.

(** The end that a theorem about a kernel states is the end of the call. *)
Lemma reaches_of code buffers m k m1 accesses :
  Forall (allowed code buffers m) accesses -> run x86_64 k m = Some m1 -> returned m m1 ->
  trace m1 = accesses ++ trace m -> ~ (pc m <= return_to m < pc m + Z.of_nat (length code)) ->
  reaches x86_64 (return_to m) m m1.
Proof.
  intros AL R RT TR OUT.
  apply (reaches_end x86_64 k m m1 accesses (return_to m) (fun a => pc m <= a < pc m + Z.of_nat (length code)) R TR);
    [|exact (d_pc _ _ RT)|exact OUT].
  intros x n N J; rewrite Forall_forall in AL; specialize (AL _ J); unfold allowed, within, code_part in AL;
    cbn [fst snd] in AL.
  unfold lengths, x86_64 in N; apply in_seq in N; lia.
Qed.

Lemma end_of code buffers m m' k m1 accesses : call code buffers m m' ->
  Forall (allowed code buffers m) accesses -> run x86_64 k m = Some m1 -> returned m m1 ->
  trace m1 = accesses ++ trace m -> m1 = m'.
Proof.
  intros [_ _ O E] AL R RT TR; exact (reaches_unique _ _ _ _ _ (reaches_of _ _ _ _ _ _ AL R RT TR O) E).
Qed.

Local Ltac conclude C H :=
  destruct (H (k_called _ _ _ _ C)) as (AL & k & m1 & R & RT & ST & O & _ & TR); auto; try apply C;
  pose proof (end_of _ _ _ _ _ _ _ C AL R RT TR); subst m1.

Theorem kernels_x86_64_faithful : faithful kernels_x86_64.
Proof.
  constructor; cbn [kernels_x86_64 permutes absorbs squeezes encrypts decrypts].
  - intros s s' (m & m' & C & T & S & S'); destruct Permute_x86_64.permute_x86_64 as (acc & H).
    destruct (H m (k_called _ _ _ _ C) T) as (AL & k & m1 & R & RT & ST & _ & TR).
    pose proof (end_of _ _ _ _ _ _ _ C AL R RT TR); subst m1; rewrite <- S', ST, S; reflexivity.
  - intros s cs s' (m & m' & C & N & T & I & S & S'); destruct absorb_blocks_x86_64 as (acc & H);
    specialize (H m (length cs)).
    cbv zeta in H; conclude C H; rewrite <- S', ST, S, I; reflexivity.
  - intros s n s' ds (m & m' & C & N & T & O' & S & S'); destruct squeeze_blocks_x86_64 as (acc & H);
    specialize (H m n).
    cbv zeta in H; conclude C H; rewrite S in *; rewrite squeeze_blocks_length in O.
    rewrite <- S', <- O', ST, O; apply surjective_pairing.
  - intros s cs s' ds (m & m' & [C|[SAME C]] & N & T & I & O' & S & S').
    + destruct encrypt_blocks_x86_64 as (acc & H); specialize (H m (length cs)).
      cbv zeta in H; conclude C H; rewrite S, I in *; rewrite encrypt_blocks_length in O.
      rewrite <- S', <- O', ST, O; apply surjective_pairing.
    + destruct encrypt_blocks_in_place_x86_64 as (acc & H); specialize (H m (length cs)).
      cbv zeta in H; conclude C H; rewrite S, I in *; rewrite encrypt_blocks_length in O.
      rewrite <- S', <- O', ST, O; apply surjective_pairing.
  - intros s cs s' ds (m & m' & [C|[SAME C]] & N & T & I & O' & S & S').
    + destruct decrypt_blocks_x86_64 as (acc & H); specialize (H m (length cs)).
      cbv zeta in H; conclude C H; rewrite S, I in *; rewrite decrypt_blocks_length in O.
      rewrite <- S', <- O', ST, O; apply surjective_pairing.
    + destruct decrypt_blocks_in_place_x86_64 as (acc & H); specialize (H m (length cs)).
      cbv zeta in H; conclude C H; rewrite S, I in *; rewrite decrypt_blocks_length in O.
      rewrite <- S', <- O', ST, O; apply surjective_pairing.
Qed.

Theorem kernels_in_protocol_x86_64 (T1 T2 : list Protocol.op) outs1 outs2 b1 b2 :
  (forall o, In o (T1 ++ T2) -> (length (Protocol.label o) <= Framing.label_max)%nat) ->
  ran kernels_x86_64 T1 outs1 b1 -> ran kernels_x86_64 T2 outs2 b2 ->
  outs1 = outputs T1 /\ b1 = bare_of (Protocol.run Simpira1024.permute T1) /\
  (Duplex.inputs (Protocol.run Simpira1024.permute T1) = Duplex.inputs (Protocol.run Simpira1024.permute T2) ->
   b1 = b2 -> T1 = T2).
Proof. apply sound, kernels_x86_64_faithful. Qed.

(** ** Such calls exist *)

Section Exists_.
Variable s : list byte.
Hypothesis LENGTH : length s = 128%nat.

(** Code, return address (0), state and constants at some addresses. *)
Definition placed_memory : memory :=
  write (write (write (fun _ => 0%N) 4096 Kernels_x86_64.permute) 131072 s) 262144 round_constants.

Definition placed_machine : machine :=
  Machine 4096 (fun r => if (r =? rdi)%nat then 131072 else if (r =? rsi)%nat then 262144 else if (r =? rsp)%nat then
    65536 else 0)
    (fun _ => zero 64) false false placed_memory [].

Lemma permutes_exists : exists s', permutes_x86_64 s s' /\ length s' = 128%nat.
Proof.
  pose proof Permute_x86_64.code_length as CL; pose proof Permute.table_length as TL.
  unfold Permute_x86_64.code in CL; set (m := placed_machine).
  assert (CODE : read (mem m) 4096 (length Kernels_x86_64.permute) = Kernels_x86_64.permute).
  { cbn [m placed_machine mem]; unfold placed_memory; rewrite !read_beside by (rewrite ?TL, ?LENGTH, CL; lia);
    apply read_written. }
  assert (STATE : read (mem m) 131072 128 = s).
  { cbn [m placed_machine mem]; unfold placed_memory; rewrite read_beside by lia; rewrite <- LENGTH;
    apply read_written. }
  assert (TABLE : read (mem m) 262144 1152 = round_constants).
  { cbn [m placed_machine mem]; unfold placed_memory; rewrite <- TL; apply read_written. }
  assert (CALL : called Kernels_x86_64.permute (Permute_x86_64.buffers m) m).
  { constructor.
    - exact CODE.
    - intro r; reflexivity.
    - unfold code_part, return_address, Permute_x86_64.buffers; rewrite CL; cbn; repeat constructor; cbn; lia.
    - unfold code_part, return_address, Permute_x86_64.buffers; rewrite CL; cbn.
      repeat constructor; unfold compatible, disjoint; cbn; lia. }
  assert (BACK : return_to m = 0).
  { unfold return_to; cbn [m placed_machine mem gpr Nat.eqb rsp rdi rsi]; unfold placed_memory.
    rewrite !read_beside by (rewrite ?TL, ?LENGTH, ?CL; lia).
    Transparent read. reflexivity. Opaque read. }
  destruct Permute_x86_64.permute_x86_64 as (acc & H).
  destruct (H m CALL TABLE) as (AL & k & m1 & R & RT & ST & _ & TR).
  exists (Simpira1024.permute s); split; [|apply permute_length; exact LENGTH].
  exists m, m1; split; [|split; [exact TABLE|split; [exact STATE|]]].
  - constructor.
    + exact CALL.
    + intro r; cbn [m placed_machine gpr]; destruct (r =? rdi)%nat, (r =? rsi)%nat, (r =? rsp)%nat; lia.
    + rewrite BACK; cbn [m placed_machine pc]; lia.
    + apply (reaches_of _ _ _ _ _ _ AL R RT TR); rewrite BACK; cbn [m placed_machine pc]; lia.
  - cbn [m placed_machine gpr Nat.eqb rdi] in ST |- *; rewrite ST; f_equal; exact STATE.
Qed.
End Exists_.

(** Every transcript can be run by these bytes. *)
Theorem veriplex_x86_64_runs (T : list Protocol.op) : exists outs b, ran kernels_x86_64 T outs b.
Proof. apply ran_exists; intros s L; exact (permutes_exists s L). Qed.
