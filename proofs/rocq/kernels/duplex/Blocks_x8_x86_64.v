(** * Blocks_x8_x86_64: the machine code of the kernels of the duplex for eight states, on x86-64 with AVX-512

    Run in any memory, the literal bytes compute the permutation of each state; and absorb, squeeze, encrypt or decrypt n
    whole blocks of each, for every n, from one buffer to another or in place. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Call Loop Operations DuplexBlocks BlockKernels Lanes LaneKernels X86_64 Call_x86_64.
From Veriplex Require Kernels_x8_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

Local Notation V := (convention_x86_64 16).

(** Where the test of the counter is, and what is in registers there: word i of the states in lanes 0 to 3 in zmm i, that of
    lanes 4 to 7 in zmm 10 + i; in zmm19 the padding; rax has what is added to the addresses of the blocks. No word is in
    memory. *)
Definition words_in : list (nat * list (nat * nat)) :=
  flat_map (fun i => [(i, map (fun l => (l, i)) (seq 0 4)); (10 + i, map (fun l => (l, i)) (seq 4 4))]%nat) (seq 0 8).

Definition padding : list byte := concat (repeat (zero 15 ++ [0x81%N]) 4).

Theorem permute_x8_x86_64 : permutes_lanes V 8 round_constants_x4 Kernels_x8_x86_64.permute_x8.
Proof. apply (permutes_states V); by_evaluation. Qed.

Theorem absorb_blocks_x8_x86_64 : maps_lanes V 8 round_constants_x4 false absorb_many Kernels_x8_x86_64.absorb_blocks_x8.
Proof. apply (absorb_lanes V _ 0x97c 8 round_constants_x4 0 [(rax, None)] words_in [(19%nat, padding)] [] []); by_evaluation. Qed.

Theorem squeeze_blocks_x8_x86_64 : maps_lanes V 8 round_constants_x4 true squeeze_many Kernels_x8_x86_64.squeeze_blocks_x8.
Proof. apply (squeeze_lanes V _ 0xb7a 8 round_constants_x4 0 [(rax, None)] words_in [(19%nat, padding)] [] []); by_evaluation. Qed.

Theorem encrypt_blocks_x8_x86_64 : crypts_lanes V 8 round_constants_x4 true encrypt_blocks Kernels_x8_x86_64.encrypt_blocks_x8.
Proof. apply (encrypt_lanes V _ 0xcb5 8 round_constants_x4 0 [(rax, None)] words_in [(19%nat, padding)] [] [] true); by_evaluation. Qed.

Theorem encrypt_blocks_in_place_x8_x86_64 : crypts_lanes V 8 round_constants_x4 false encrypt_blocks Kernels_x8_x86_64.encrypt_blocks_x8.
Proof. apply (encrypt_lanes V _ 0xcb5 8 round_constants_x4 0 [(rax, None)] words_in [(19%nat, padding)] [] [] false); by_evaluation. Qed.

Theorem decrypt_blocks_x8_x86_64 : crypts_lanes V 8 round_constants_x4 true decrypt_blocks Kernels_x8_x86_64.decrypt_blocks_x8.
Proof. apply (decrypt_lanes V _ 0xd0f 8 round_constants_x4 0 [(rax, None)] words_in [(19%nat, padding)] [] [] true); by_evaluation. Qed.

Theorem decrypt_blocks_in_place_x8_x86_64 : crypts_lanes V 8 round_constants_x4 false decrypt_blocks Kernels_x8_x86_64.decrypt_blocks_x8.
Proof. apply (decrypt_lanes V _ 0xd0f 8 round_constants_x4 0 [(rax, None)] words_in [(19%nat, padding)] [] [] false); by_evaluation. Qed.
