(** * Blocks_x2_aarch64: the machine code of the kernels of the duplex for two states, on ARMv8

    Run in any memory, the literal bytes compute the permutation of each state; and absorb, squeeze, encrypt or decrypt n
    whole blocks of each, for every n, from one buffer to another or in place. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Call Loop Operations DuplexBlocks BlockKernels Lanes LaneKernels AArch64 Call_aarch64.
From Veriplex Require Kernels_x2_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.
Local Notation V := (convention_aarch64 width).

(** Which registers have words of the states at the test of the counter, whose place each proof gives. Word 1 of each is in
    memory; x4 and x5 go through the blocks or, with an output, x5 and x6, and x7 and x8 through that. The code adds 128 to
    the address of the round constants. *)
Definition lane_words : list (nat * list (nat * nat)) :=
  (flat_map (fun w => [(w, [(0, w)]); (20 + w, [(1, w)])]) [0; 2; 3; 4; 5; 6; 7])%nat.

Theorem permute_x2_aarch64 : permutes_lanes V 2 round_constants Kernels_x2_aarch64.permute_x2.
Proof. apply (permutes_states V); by_evaluation. Qed.

Theorem absorb_blocks_x2_aarch64 : maps_lanes V 2 round_constants false absorb_many Kernels_x2_aarch64.absorb_blocks_x2.
Proof. apply (absorb_lanes V _ 0xeac 2 round_constants 128 [(4, Some 0); (5, Some 1)]%nat lane_words [] [] [1%nat]); by_evaluation. Qed.

Theorem squeeze_blocks_x2_aarch64 : maps_lanes V 2 round_constants true squeeze_many Kernels_x2_aarch64.squeeze_blocks_x2.
Proof. apply (squeeze_lanes V _ 0xebc 2 round_constants 128 [(4, Some 0); (5, Some 1)]%nat lane_words [] [] [1%nat]); by_evaluation. Qed.

Theorem encrypt_blocks_x2_aarch64 : crypts_lanes V 2 round_constants true encrypt_blocks Kernels_x2_aarch64.encrypt_blocks_x2.
Proof. apply (encrypt_lanes V _ 0xee0 2 round_constants 128 [(5, Some 0); (6, Some 1); (7, Some 2); (8, Some 3)]%nat
  lane_words [] [] [1%nat] true); by_evaluation. Qed.

Theorem encrypt_blocks_in_place_x2_aarch64 : crypts_lanes V 2 round_constants false encrypt_blocks Kernels_x2_aarch64.encrypt_blocks_x2.
Proof. apply (encrypt_lanes V _ 0xee0 2 round_constants 128 [(5, Some 0); (6, Some 1); (7, Some 0); (8, Some 1)]%nat
  lane_words [] [] [1%nat] false); by_evaluation. Qed.

Theorem decrypt_blocks_x2_aarch64 : crypts_lanes V 2 round_constants true decrypt_blocks Kernels_x2_aarch64.decrypt_blocks_x2.
Proof. apply (decrypt_lanes V _ 0xf18 2 round_constants 128 [(5, Some 0); (6, Some 1); (7, Some 2); (8, Some 3)]%nat
  lane_words [] [] [1%nat] true); by_evaluation. Qed.

Theorem decrypt_blocks_in_place_x2_aarch64 : crypts_lanes V 2 round_constants false decrypt_blocks Kernels_x2_aarch64.decrypt_blocks_x2.
Proof. apply (decrypt_lanes V _ 0xf18 2 round_constants 128 [(5, Some 0); (6, Some 1); (7, Some 0); (8, Some 1)]%nat
  lane_words [] [] [1%nat] false); by_evaluation. Qed.
End Width.
