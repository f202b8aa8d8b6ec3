(** * ChaCha_x16_x86_64: the machine code of the kernels of ChaCha for x86-64 with AVX-512 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call Loop ChaChaKernels ChaChaWords X86_64 Call_x86_64 WordLanes_x86_64.
From Veriplex Require ChaCha Kernels_chacha_x16_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, and where the test of the counter is.  There zmm22 and zmm23 have the numbers, and zmm24 has sixteen in every
    64 bits. *)
Definition kernel_of (code : list byte) (head : Z) : kernel :=
  words_kernel convention_zmm0_to_24 code head [(22, [0; 1; 2; 3]); (23, [4; 5; 6; 7])]%nat [(24%nat, firstn 64 sixteen_each)].

Definition chacha8_kernel : kernel := kernel_of Kernels_chacha_x16_x86_64.chacha8_xor_blocks_x16 0xd88.
Definition chacha12_kernel : kernel := kernel_of Kernels_chacha_x16_x86_64.chacha12_xor_blocks_x16 0x1248.
Definition chacha20_kernel : kernel := kernel_of Kernels_chacha_x16_x86_64.chacha20_xor_blocks_x16 0x1bc8.

Lemma chacha8_checks : checks abi_zmm0_to_24 chacha8_kernel (words_op 8) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma chacha12_checks : checks abi_zmm0_to_24 chacha12_kernel (words_op 12) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma chacha20_checks : checks abi_zmm0_to_24 chacha20_kernel (words_op 20) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma chacha8_ends : ends_in_return abi_zmm0_to_24 Kernels_chacha_x16_x86_64.chacha8_xor_blocks_x16.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma chacha12_ends : ends_in_return abi_zmm0_to_24 Kernels_chacha_x16_x86_64.chacha12_xor_blocks_x16.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma chacha20_ends : ends_in_return abi_zmm0_to_24 Kernels_chacha_x16_x86_64.chacha20_xor_blocks_x16.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque ChaCha.xor_blocks read number_rows Kernels_chacha_x16_x86_64.chacha8_xor_blocks_x16
  Kernels_chacha_x16_x86_64.chacha12_xor_blocks_x16 Kernels_chacha_x16_x86_64.chacha20_xor_blocks_x16.

(** What holds when a kernel for sixteen lanes returns: about its buffers, its accesses, the numbers after it, and its
    output. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine) (n : nat)
    (numbers : list N) (output : list (list (list byte))) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists j m', run x86_64 j m = Some m' /\ returned_zmm0_to_24 m m' /\
    read (mem m') (gpr m rdi) 128 = number_rows numbers /\ groups (mem m') (gpr m rdx) 16 n = output /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** Sixteen blocks with any numbers are XORed into each of n groups. *)
Definition xors (rounds : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat) (key nonce : list byte) (numbers : list N),
  let at_numbers := gpr m rdi in let start := gpr m rsi in let in_out := gpr m rdx in
  let buffers := [(true, (at_numbers, 128)); (false, (start, 64)); (true, (in_out, 1024 * Z.of_nat n))] in
  let after := ChaCha.xor_blocks rounds key nonce numbers (groups (mem m) in_out 16 n) in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rcx = Z.of_nat n -> length numbers = 16%nat ->
  read (mem m) at_numbers 128 = number_rows numbers ->
  read (mem m) start 48 = ChaCha.first_rows key -> read (mem m) (start + 56) 8 = nonce ->
  ends code buffers (accesses (pc m) (gpr m rsp) at_numbers start in_out n) m n (fst after) (snd after).

Lemma xors_of rounds code head : checks abi_zmm0_to_24 (kernel_of code head) (words_op rounds) = true ->
  ends_in_return abi_zmm0_to_24 code -> xors rounds code.
Proof.
  intros CH EN; exact (xor_words_sound convention_zmm0_to_24 distinct_arguments_zmm0_to_24 four_arguments_zmm0_to_24
    code head rounds _ _ CH EN).
Qed.

Theorem chacha8_xor_blocks_x16_x86_64 : xors 8 Kernels_chacha_x16_x86_64.chacha8_xor_blocks_x16.
Proof. exact (xors_of _ _ _ chacha8_checks chacha8_ends). Qed.

Theorem chacha12_xor_blocks_x16_x86_64 : xors 12 Kernels_chacha_x16_x86_64.chacha12_xor_blocks_x16.
Proof. exact (xors_of _ _ _ chacha12_checks chacha12_ends). Qed.

Theorem chacha20_xor_blocks_x16_x86_64 : xors 20 Kernels_chacha_x16_x86_64.chacha20_xor_blocks_x16.
Proof. exact (xors_of _ _ _ chacha20_checks chacha20_ends). Qed.
