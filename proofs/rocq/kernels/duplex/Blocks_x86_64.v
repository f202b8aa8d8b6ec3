(** * Blocks_x86_64: the machine code of the kernels of the duplex for one state, on x86-64

    Run in any memory, the literal bytes compute the permutation; and absorb, squeeze, encrypt or decrypt n whole blocks, for
    every n, from one buffer to another or in place. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Call Loop Operations DuplexBlocks BlockKernels Permute X86_64 Call_x86_64.
From Veriplex Require Kernels_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

Local Notation V := (convention_x86_64 0).

(** The table of the crate is that of the specification. *)
Lemma table_is : Kernels_x86_64.round_constants = Simpira1024.round_constants.
Proof. vm_compute; reflexivity. Qed.

(** Where the test of the counter is, and which registers have words of the state and the padding there. *)
Definition padding : list byte := zero 15 ++ [0x81%N].

Definition absorb_words : list (nat * nat) := [(9, 0); (6, 1); (10, 2); (1, 3); (7, 4); (2, 5); (3, 6); (4, 7)]%nat.
Definition squeeze_words : list (nat * nat) := [(8, 0); (1, 1); (6, 2); (4, 3); (7, 4); (2, 5); (3, 6); (5, 7)]%nat.
Definition encrypt_words : list (nat * nat) := [(7, 0); (1, 1); (6, 2); (2, 3); (8, 4); (9, 5); (3, 6); (4, 7)]%nat.
Definition decrypt_words : list (nat * nat) := [(7, 0); (1, 1); (8, 2); (2, 3); (3, 4); (4, 5); (5, 6); (6, 7)]%nat.

Theorem permute_x86_64 : permutes V Kernels_x86_64.permute.
Proof. apply (permutes_state V); by_evaluation. Qed.

Theorem absorb_blocks_x86_64 : absorbs V Kernels_x86_64.absorb_blocks.
Proof. apply (absorb_sound V _ 0x449 0 absorb_words [(0%nat, padding)]); by_evaluation. Qed.

Theorem squeeze_blocks_x86_64 : squeezes V Kernels_x86_64.squeeze_blocks.
Proof. apply (squeeze_sound V _ 0x464 0 squeeze_words [(0%nat, padding)]); by_evaluation. Qed.

Theorem encrypt_blocks_x86_64 : crypts V true encrypt_blocks Kernels_x86_64.encrypt_blocks.
Proof. apply (encrypt_sound V _ 0x473 0 encrypt_words [(0%nat, padding)]); by_evaluation. Qed.

Theorem encrypt_blocks_in_place_x86_64 : crypts V false encrypt_blocks Kernels_x86_64.encrypt_blocks.
Proof. apply (encrypt_in_place_sound V _ 0x473 0 encrypt_words [(0%nat, padding)]); by_evaluation. Qed.

Theorem decrypt_blocks_x86_64 : crypts V true decrypt_blocks Kernels_x86_64.decrypt_blocks.
Proof. apply (decrypt_sound V _ 0x4a0 0 decrypt_words [(0%nat, padding)]); by_evaluation. Qed.

Theorem decrypt_blocks_in_place_x86_64 : crypts V false decrypt_blocks Kernels_x86_64.decrypt_blocks.
Proof. apply (decrypt_in_place_sound V _ 0x4a0 0 decrypt_words [(0%nat, padding)]); by_evaluation. Qed.
