(** * ChaCha_x16_x86_64: the machine code of the kernels of ChaCha for AVX-512

    Run in any memory, the literal bytes XOR sixteen blocks of ChaCha, with any numbers, into each of n groups, for every
    n. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Call Loop ChaChaWords X86_64 Call_x86_64.
From Veriplex Require ChaCha Kernels_chacha_x16_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** Where the test of the counter is.  There zmm22 and zmm23 have the numbers, and zmm24 has sixteen in every 64 bits. *)
Local Ltac words head :=
  apply (xor_words_sound _ _ head _ [(22, [0; 1; 2; 3]); (23, [4; 5; 6; 7])]%nat [(24%nat, firstn 64 sixteen_each)]);
  by_evaluation.

Theorem chacha8_xor_blocks_x16_x86_64 :
  xors_words (convention_x86_64 9) 8 Kernels_chacha_x16_x86_64.chacha8_xor_blocks_x16.
Proof. words 0xd88. Qed.

Theorem chacha12_xor_blocks_x16_x86_64 :
  xors_words (convention_x86_64 9) 12 Kernels_chacha_x16_x86_64.chacha12_xor_blocks_x16.
Proof. words 0x1248. Qed.

Theorem chacha20_xor_blocks_x16_x86_64 :
  xors_words (convention_x86_64 9) 20 Kernels_chacha_x16_x86_64.chacha20_xor_blocks_x16.
Proof. words 0x1bc8. Qed.
