(** * ChaCha_aarch64: the machine code of the kernels of ChaCha *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call ArxRounds Loop ChaChaKernels AArch64 Call_aarch64.
From Veriplex Require ChaCha Kernels_chacha_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.

(** The bytes, and where the test of the counter is.  v28 has the last row there, v29 a one for its number. *)
Definition kernel_of (code : list byte) (head : Z) : kernel :=
  group_kernel (convention_aarch64 width) code head 4 16 [(28, [0])]%nat [(29%nat, one)].

Definition chacha8_kernel : kernel := kernel_of Kernels_chacha_aarch64.chacha8_xor_blocks_x4 0xab0.
Definition chacha12_kernel : kernel := kernel_of Kernels_chacha_aarch64.chacha12_xor_blocks_x4 0xf70.
Definition chacha20_kernel : kernel := kernel_of Kernels_chacha_aarch64.chacha20_xor_blocks_x4 0x18f0.

Lemma chacha8_checks : checks (abi_aarch64 width) chacha8_kernel (rows_op false 8 4) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma chacha12_checks : checks (abi_aarch64 width) chacha12_kernel (rows_op false 12 4) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma chacha20_checks : checks (abi_aarch64 width) chacha20_kernel (rows_op false 20 4) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma chacha8_ends : ends_in_return (abi_aarch64 width) Kernels_chacha_aarch64.chacha8_xor_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma chacha12_ends : ends_in_return (abi_aarch64 width) Kernels_chacha_aarch64.chacha12_xor_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma chacha20_ends : ends_in_return (abi_aarch64 width) Kernels_chacha_aarch64.chacha20_xor_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque ChaCha.xor_blocks read Kernels_chacha_aarch64.chacha8_xor_blocks_x4 Kernels_chacha_aarch64.chacha12_xor_blocks_x4
  Kernels_chacha_aarch64.chacha20_xor_blocks_x4.

(** What holds when a kernel returns: about its buffers, its accesses, the last row after it, and its output. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine) (n : nat)
    (row : list byte) (output : list (list (list byte))) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\
    read (mem m') (gpr m 0) 16 = row /\ groups (mem m') (gpr m 2) 4 n = output /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** Four blocks with numbers from i on are XORed into each of n groups. *)
Definition xors (rounds : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat) (key nonce : list byte) (i : N),
  let last_row := gpr m 0 in let start := gpr m 1 in let in_out := gpr m 2 in
  let buffers := [(true, (last_row, 16)); (false, (start, 48)); (true, (in_out, 256 * Z.of_nat n))] in
  let after := ChaCha.xor_blocks rounds key nonce (ChaCha.numbers_from i 4) (groups (mem m) in_out 4 n) in
  called width code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m 3 = Z.of_nat n ->
  read (mem m) start 48 = ChaCha.first_rows key -> read (mem m) last_row 16 = ChaCha.last_row i nonce ->
  ends code buffers (accesses (pc m) last_row start in_out n) m n
    (ChaCha.last_row (nth 0 (fst after) 0%N) nonce) (snd after).

Lemma xors_of rounds code head : checks (abi_aarch64 width) (kernel_of code head) (rows_op false rounds 4) = true ->
  ends_in_return (abi_aarch64 width) code -> xors rounds code.
Proof.
  intros CH EN; destruct (xor_blocks_sound (convention_aarch64 width) distinct_arguments four_arguments code head 4 16 rounds _ _
    (rows_op false rounds 4) (rows_op_is false rounds 4) row_only (Nat.lt_0_succ 3) CH EN) as (accesses & H).
  exists (fun at_ => accesses at_ 0); intros m n key nonce i; exact (H m n key nonce i).
Qed.

Theorem chacha8_xor_blocks_x4_aarch64 : xors 8 Kernels_chacha_aarch64.chacha8_xor_blocks_x4.
Proof. exact (xors_of _ _ _ chacha8_checks chacha8_ends). Qed.

Theorem chacha12_xor_blocks_x4_aarch64 : xors 12 Kernels_chacha_aarch64.chacha12_xor_blocks_x4.
Proof. exact (xors_of _ _ _ chacha12_checks chacha12_ends). Qed.

Theorem chacha20_xor_blocks_x4_aarch64 : xors 20 Kernels_chacha_aarch64.chacha20_xor_blocks_x4.
Proof. exact (xors_of _ _ _ chacha20_checks chacha20_ends). Qed.
End Width.
