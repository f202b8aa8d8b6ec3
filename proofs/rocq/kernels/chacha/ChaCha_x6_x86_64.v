(** * ChaCha_x6_x86_64: the machine code of the kernels of ChaCha for x86-64 with AVX2 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call Loop ChaChaPairs ChaChaKernels X86_64 Call_x86_64 ChaCha_x86_64.
From Veriplex Require ChaCha Kernels_chacha_x6_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, and where the test of the counter is.  There ymm14 has the last rows of two blocks, ymm12 and ymm13 have the
    shuffles that rotate by 16 and by 8. *)
Definition kernel_of (code : list byte) (head : Z) : kernel :=
  group_kernel convention_x86_64 code head 6 32 [(14, [0; 1])]%nat [(12%nat, by_16 ++ by_16); (13%nat, by_8 ++ by_8)].

Definition chacha8_kernel : kernel := kernel_of Kernels_chacha_x6_x86_64.chacha8_xor_blocks_x6 0xa59.
Definition chacha12_kernel : kernel := kernel_of Kernels_chacha_x6_x86_64.chacha12_xor_blocks_x6 0xe6d.
Definition chacha20_kernel : kernel := kernel_of Kernels_chacha_x6_x86_64.chacha20_xor_blocks_x6 0x1695.

Lemma chacha8_checks : checks abi_x86_64 chacha8_kernel (pairs_op 8 3) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma chacha12_checks : checks abi_x86_64 chacha12_kernel (pairs_op 12 3) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma chacha20_checks : checks abi_x86_64 chacha20_kernel (pairs_op 20 3) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma chacha8_ends : ends_in_return abi_x86_64 Kernels_chacha_x6_x86_64.chacha8_xor_blocks_x6.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma chacha12_ends : ends_in_return abi_x86_64 Kernels_chacha_x6_x86_64.chacha12_xor_blocks_x6.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma chacha20_ends : ends_in_return abi_x86_64 Kernels_chacha_x6_x86_64.chacha20_xor_blocks_x6.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque ChaCha.xor_blocks read Kernels_chacha_x6_x86_64.chacha8_xor_blocks_x6 Kernels_chacha_x6_x86_64.chacha12_xor_blocks_x6
  Kernels_chacha_x6_x86_64.chacha20_xor_blocks_x6.

Lemma xors_of rounds code head : checks abi_x86_64 (kernel_of code head) (pairs_op rounds 3) = true ->
  ends_in_return abi_x86_64 code -> xors 6 rounds code.
Proof.
  intros CH EN; exact (xor_blocks_sound convention_x86_64 distinct_arguments four_arguments code head 6 32 rounds _ _
    (pairs_op rounds 3) (pairs_op_is rounds 3) (pairs_begin rounds 3) (Nat.lt_0_succ 5) CH EN).
Qed.

Theorem chacha8_xor_blocks_x6_x86_64 : xors 6 8 Kernels_chacha_x6_x86_64.chacha8_xor_blocks_x6.
Proof. exact (xors_of _ _ _ chacha8_checks chacha8_ends). Qed.

Theorem chacha12_xor_blocks_x6_x86_64 : xors 6 12 Kernels_chacha_x6_x86_64.chacha12_xor_blocks_x6.
Proof. exact (xors_of _ _ _ chacha12_checks chacha12_ends). Qed.

Theorem chacha20_xor_blocks_x6_x86_64 : xors 6 20 Kernels_chacha_x6_x86_64.chacha20_xor_blocks_x6.
Proof. exact (xors_of _ _ _ chacha20_checks chacha20_ends). Qed.
