(** * Blocks_aarch64: the machine code of the kernels of the duplex for one state, on ARMv8

    Run in any memory, the literal bytes compute the permutation; and absorb, squeeze, encrypt or decrypt n whole blocks, for
    every n, from one buffer to another or in place. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Call Loop Operations DuplexBlocks BlockKernels Permute AArch64 Call_aarch64.
From Veriplex Require Kernels_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.
Local Notation V := (convention_aarch64 width).

(** The registers with the words of the state at the test of the counter, whose place each proof gives.  The code adds 128 to
    the address of the round constants. *)
Definition words : list (nat * nat) := combine (seq 20 8) (seq 0 8).

Theorem permute_aarch64 : permutes V Kernels_aarch64.permute.
Proof. apply (permutes_state V); by_evaluation. Qed.

Theorem absorb_blocks_aarch64 : absorbs V Kernels_aarch64.absorb_blocks.
Proof. apply (absorb_sound V _ 0x698 128 words []); by_evaluation. Qed.

Theorem squeeze_blocks_aarch64 : squeezes V Kernels_aarch64.squeeze_blocks.
Proof. apply (squeeze_sound V _ 0x6a0 128 words []); by_evaluation. Qed.

Theorem encrypt_blocks_aarch64 : crypts V true encrypt_blocks Kernels_aarch64.encrypt_blocks.
Proof. apply (encrypt_sound V _ 0x6b0 128 words []); by_evaluation. Qed.

Theorem encrypt_blocks_in_place_aarch64 : crypts V false encrypt_blocks Kernels_aarch64.encrypt_blocks.
Proof. apply (encrypt_in_place_sound V _ 0x6b0 128 words []); by_evaluation. Qed.

Theorem decrypt_blocks_aarch64 : crypts V true decrypt_blocks Kernels_aarch64.decrypt_blocks.
Proof. apply (decrypt_sound V _ 0x6b8 128 words []); by_evaluation. Qed.

Theorem decrypt_blocks_in_place_aarch64 : crypts V false decrypt_blocks Kernels_aarch64.decrypt_blocks.
Proof. apply (decrypt_in_place_sound V _ 0x6b8 128 words []); by_evaluation. Qed.
End Width.
