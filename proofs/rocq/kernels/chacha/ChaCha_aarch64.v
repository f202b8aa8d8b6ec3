(** * ChaCha_aarch64: the machine code of the kernels of ChaCha for ARMv8

    Run in any memory, the literal bytes XOR four blocks of ChaCha into each of n groups, for every n. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Call ArxRounds Loop ChaChaKernels AArch64 Call_aarch64.
From Veriplex Require ChaCha Kernels_chacha_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

(** Where the test of the counter is.  There v28 has the last row, v29 a one for its number. *)
Local Ltac rows head := apply (rows_sound _ false _ head 4 _ [(28, [0])]%nat [(29%nat, one)]); by_evaluation.

Theorem chacha8_xor_blocks_x4_aarch64 width :
  xors (convention_aarch64 width) 4 8 Kernels_chacha_aarch64.chacha8_xor_blocks_x4.
Proof. rows 0xab0. Qed.

Theorem chacha12_xor_blocks_x4_aarch64 width :
  xors (convention_aarch64 width) 4 12 Kernels_chacha_aarch64.chacha12_xor_blocks_x4.
Proof. rows 0xf70. Qed.

Theorem chacha20_xor_blocks_x4_aarch64 width :
  xors (convention_aarch64 width) 4 20 Kernels_chacha_aarch64.chacha20_xor_blocks_x4.
Proof. rows 0x18f0. Qed.
