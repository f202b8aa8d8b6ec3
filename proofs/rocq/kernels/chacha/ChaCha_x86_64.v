(** * ChaCha_x86_64: the machine code of the kernels of ChaCha for x86-64 and for AVX2

    Run in any memory, the literal bytes XOR three blocks of ChaCha, or six, into each of n groups, for every n. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Call Loop ChaChaKernels ChaChaPairs X86_64 Call_x86_64.
From Veriplex Require ChaCha Kernels_chacha_x86_64 Kernels_chacha_x6_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** Where the test of the counter is.  There one register has the last row, and two have the shuffles that rotate by 16 and
    by 8. *)
Definition by_16 : list byte := [2; 3; 0; 1; 6; 7; 4; 5; 10; 11; 8; 9; 14; 15; 12; 13]%N.
Definition by_8 : list byte := [3; 0; 1; 2; 7; 4; 5; 6; 11; 8; 9; 10; 15; 12; 13; 14]%N.

Local Ltac rows head row :=
  apply (rows_sound _ true _ head 3 _ [(row, [0])]%nat [(0%nat, by_16); (1%nat, by_8)]); by_evaluation.

Theorem chacha8_xor_blocks_x3_x86_64 : xors (convention_x86_64 0) 3 8 Kernels_chacha_x86_64.chacha8_xor_blocks_x3.
Proof. rows 0xa1a 14%nat. Qed.

Theorem chacha12_xor_blocks_x3_x86_64 : xors (convention_x86_64 0) 3 12 Kernels_chacha_x86_64.chacha12_xor_blocks_x3.
Proof. rows 0xe1f 14%nat. Qed.

Theorem chacha20_xor_blocks_x3_x86_64 : xors (convention_x86_64 0) 3 20 Kernels_chacha_x86_64.chacha20_xor_blocks_x3.
Proof. rows 0x1710 2%nat. Qed.

(** With AVX2: there ymm14 has the last rows of two blocks, ymm12 and ymm13 the shuffles. *)
Local Ltac pairs head :=
  apply (pairs_sound _ _ head _ 3 [(14, [0; 1])]%nat [(12%nat, by_16 ++ by_16); (13%nat, by_8 ++ by_8)]); by_evaluation.

Theorem chacha8_xor_blocks_x6_x86_64 : xors (convention_x86_64 0) 6 8 Kernels_chacha_x6_x86_64.chacha8_xor_blocks_x6.
Proof. pairs 0xa59. Qed.

Theorem chacha12_xor_blocks_x6_x86_64 : xors (convention_x86_64 0) 6 12 Kernels_chacha_x6_x86_64.chacha12_xor_blocks_x6.
Proof. pairs 0xe6d. Qed.

Theorem chacha20_xor_blocks_x6_x86_64 : xors (convention_x86_64 0) 6 20 Kernels_chacha_x6_x86_64.chacha20_xor_blocks_x6.
Proof. pairs 0x1695. Qed.
