(** * Blocks_x2_x86_64: the machine code of the kernels of the duplex for two states, on x86-64

    Run in any memory, the literal bytes compute the permutation of each state; and absorb, squeeze, encrypt or decrypt n
    whole blocks of each, for every n, from one buffer to another or in place. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Call Loop Operations DuplexBlocks BlockKernels Lanes LaneKernels X86_64 Call_x86_64.
From Veriplex Require Kernels_x2_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

Local Notation V := (convention_x86_64 0).

(** Where the test of the counter is, and which registers have words of the states there. Word 1 of each is in memory; r8 or,
    with an output, r9 has what is added to the addresses of the blocks, rax the padding. *)
Definition lane_words : list (nat * nat) :=
  [(0, 0); (1, 0); (0, 2); (1, 2); (0, 3); (1, 3); (0, 4); (1, 4); (0, 5); (1, 5); (0, 6); (1, 6); (0, 7); (1, 7)]%nat.

Definition words_in (registers : list nat) : list (nat * list (nat * nat)) := combine registers (map (fun lw => [lw]) lane_words).

Local Notation padding := [(rax, 0x8100000000000000)].

Theorem permute_x2_x86_64 : permutes_lanes V 2 round_constants Kernels_x2_x86_64.permute_x2.
Proof. apply (permutes_states V); by_evaluation. Qed.

Theorem absorb_blocks_x2_x86_64 : maps_lanes V 2 round_constants false absorb_many Kernels_x2_x86_64.absorb_blocks_x2.
Proof. apply (absorb_lanes V _ 0xa5a 2 round_constants 0 [(8%nat, None)]
  (words_in [2; 7; 15; 11; 0; 1; 8; 14; 4; 13; 5; 6; 3; 12]%nat) [] padding [1%nat]); by_evaluation. Qed.

Theorem squeeze_blocks_x2_x86_64 : maps_lanes V 2 round_constants true squeeze_many Kernels_x2_x86_64.squeeze_blocks_x2.
Proof. apply (squeeze_lanes V _ 0xa94 2 round_constants 0 [(8%nat, None)]
  (words_in [2; 7; 9; 11; 0; 1; 8; 10; 4; 13; 5; 6; 3; 12]%nat) [] padding [1%nat]); by_evaluation. Qed.

Theorem encrypt_blocks_x2_x86_64 : crypts_lanes V 2 round_constants true encrypt_blocks Kernels_x2_x86_64.encrypt_blocks_x2.
Proof. apply (encrypt_lanes V _ 0xac1 2 round_constants 0 [(9%nat, None)]
  (words_in [2; 7; 15; 11; 0; 1; 8; 10; 13; 4; 5; 6; 3; 12]%nat) [] padding [1%nat] true); by_evaluation. Qed.

Theorem encrypt_blocks_in_place_x2_x86_64 : crypts_lanes V 2 round_constants false encrypt_blocks Kernels_x2_x86_64.encrypt_blocks_x2.
Proof. apply (encrypt_lanes V _ 0xac1 2 round_constants 0 [(9%nat, None)]
  (words_in [2; 7; 15; 11; 0; 1; 8; 10; 13; 4; 5; 6; 3; 12]%nat) [] padding [1%nat] false); by_evaluation. Qed.

Theorem decrypt_blocks_x2_x86_64 : crypts_lanes V 2 round_constants true decrypt_blocks Kernels_x2_x86_64.decrypt_blocks_x2.
Proof. apply (decrypt_lanes V _ 0xb79 2 round_constants 0 [(9%nat, None)]
  (words_in [2; 7; 11; 14; 0; 1; 8; 10; 13; 4; 5; 6; 3; 12]%nat) [] padding [1%nat] true); by_evaluation. Qed.

Theorem decrypt_blocks_in_place_x2_x86_64 : crypts_lanes V 2 round_constants false decrypt_blocks Kernels_x2_x86_64.decrypt_blocks_x2.
Proof. apply (decrypt_lanes V _ 0xb79 2 round_constants 0 [(9%nat, None)]
  (words_in [2; 7; 11; 14; 0; 1; 8; 10; 13; 4; 5; 6; 3; 12]%nat) [] padding [1%nat] false); by_evaluation. Qed.
