(** * ChaCha_x86_64: the machine code of the kernels of ChaCha for x86-64 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call Loop ChaChaKernels X86_64 Call_x86_64.
From Veriplex Require ChaCha Kernels_chacha_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, and where the test of the counter is.  At the test one register has the last row, and two have the shuffles
    that rotate by 16 and by 8. *)
Definition by_16 : list byte := [2; 3; 0; 1; 6; 7; 4; 5; 10; 11; 8; 9; 14; 15; 12; 13]%N.
Definition by_8 : list byte := [3; 0; 1; 2; 7; 4; 5; 6; 11; 8; 9; 10; 15; 12; 13; 14]%N.

Definition kernel_of (code : list byte) (head : Z) (row : nat) : kernel :=
  group_kernel convention_x86_64 code head 3 16 [(row, [0])]%nat [(0%nat, by_16); (1%nat, by_8)].

Definition chacha8_kernel : kernel := kernel_of Kernels_chacha_x86_64.chacha8_xor_blocks_x3 0xa1a 14.
Definition chacha12_kernel : kernel := kernel_of Kernels_chacha_x86_64.chacha12_xor_blocks_x3 0xe1f 14.
Definition chacha20_kernel : kernel := kernel_of Kernels_chacha_x86_64.chacha20_xor_blocks_x3 0x1710 2.

Lemma chacha8_checks : checks abi_x86_64 chacha8_kernel (rows_op true 8 3) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma chacha12_checks : checks abi_x86_64 chacha12_kernel (rows_op true 12 3) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma chacha20_checks : checks abi_x86_64 chacha20_kernel (rows_op true 20 3) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma chacha8_ends : ends_in_return abi_x86_64 Kernels_chacha_x86_64.chacha8_xor_blocks_x3.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma chacha12_ends : ends_in_return abi_x86_64 Kernels_chacha_x86_64.chacha12_xor_blocks_x3.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma chacha20_ends : ends_in_return abi_x86_64 Kernels_chacha_x86_64.chacha20_xor_blocks_x3.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque ChaCha.xor_blocks read Kernels_chacha_x86_64.chacha8_xor_blocks_x3 Kernels_chacha_x86_64.chacha12_xor_blocks_x3
  Kernels_chacha_x86_64.chacha20_xor_blocks_x3.

(** What holds when a kernel for k lanes returns: about its buffers, its accesses, the last row after it, and its output. *)
Definition ends (k : nat) (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine) (n : nat)
    (row : list byte) (output : list (list (list byte))) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists j m', run x86_64 j m = Some m' /\ returned m m' /\
    read (mem m') (gpr m rdi) 16 = row /\ groups (mem m') (gpr m rdx) k n = output /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** k blocks with numbers from i on are XORed into each of n groups. *)
Definition xors (k rounds : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat) (key nonce : list byte) (i : N),
  let last_row := gpr m rdi in let start := gpr m rsi in let in_out := gpr m rdx in
  let buffers := [(true, (last_row, 16)); (false, (start, 48)); (true, (in_out, Z.of_nat (64 * k) * Z.of_nat n))] in
  let after := ChaCha.xor_blocks rounds key nonce (ChaCha.numbers_from i k) (groups (mem m) in_out k n) in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rcx = Z.of_nat n ->
  read (mem m) start 48 = ChaCha.first_rows key -> read (mem m) last_row 16 = ChaCha.last_row i nonce ->
  ends k code buffers (accesses (pc m) (gpr m rsp) last_row start in_out n) m n
    (ChaCha.last_row (nth 0 (fst after) 0%N) nonce) (snd after).

Lemma xors_of rounds code head row : checks abi_x86_64 (kernel_of code head row) (rows_op true rounds 3) = true ->
  ends_in_return abi_x86_64 code -> xors 3 rounds code.
Proof.
  intros CH EN; exact (xor_blocks_sound convention_x86_64 distinct_arguments four_arguments code head 3 16 rounds _ _
    (rows_op true rounds 3) (rows_op_is true rounds 3) row_only (Nat.lt_0_succ 2) CH EN).
Qed.

Theorem chacha8_xor_blocks_x3_x86_64 : xors 3 8 Kernels_chacha_x86_64.chacha8_xor_blocks_x3.
Proof. exact (xors_of _ _ _ _ chacha8_checks chacha8_ends). Qed.

Theorem chacha12_xor_blocks_x3_x86_64 : xors 3 12 Kernels_chacha_x86_64.chacha12_xor_blocks_x3.
Proof. exact (xors_of _ _ _ _ chacha12_checks chacha12_ends). Qed.

Theorem chacha20_xor_blocks_x3_x86_64 : xors 3 20 Kernels_chacha_x86_64.chacha20_xor_blocks_x3.
Proof. exact (xors_of _ _ _ _ chacha20_checks chacha20_ends). Qed.
