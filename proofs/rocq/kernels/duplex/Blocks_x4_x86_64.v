(** * Blocks_x4_x86_64: the machine code of the kernels of the duplex for four states, on x86-64 with VAES

    Run in any memory, the literal bytes compute the permutation of each state; and absorb, squeeze, encrypt or decrypt n
    whole blocks of each, for every n, from one buffer to another or in place. *)

From Coq Require Import List Bool Arith NArith ZArith.
From Veriplex Require Import AES Simpira1024 Call Loop Operations DuplexBlocks BlockKernels Lanes LaneKernels X86_64 Call_x86_64.
From Veriplex Require Kernels_x4_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

Local Notation V := (convention_x86_64 0).

(** The table of the crate is that of the specification. *)
Lemma table_x4_is : Kernels_x4_x86_64.round_constants_x4 = round_constants_x4.
Proof. vm_compute; reflexivity. Qed.

(** Where the test of the counter is, and what is in registers there: word i of the states in lanes 0 and 1 in ymm i, that of
    lanes 2 and 3 in ymm 8 + i. Word 1 of each is in memory; rax has what is added to the addresses of the blocks. *)
Definition words_in : list (nat * list (nat * nat)) :=
  flat_map (fun i => [(i, [(0, i); (1, i)]); (8 + i, [(2, i); (3, i)])]%nat) [0; 2; 3; 4; 5; 6; 7]%nat.

Theorem permute_x4_x86_64 : permutes_lanes V 4 round_constants_x4 Kernels_x4_x86_64.permute_x4.
Proof. apply (permutes_states V); by_evaluation. Qed.

Theorem absorb_blocks_x4_x86_64 : maps_lanes V 4 round_constants_x4 false absorb_many Kernels_x4_x86_64.absorb_blocks_x4.
Proof. apply (absorb_lanes V _ 0xb02 4 round_constants_x4 0 [(rax, None)] words_in [] [] [1%nat]); by_evaluation. Qed.

Theorem squeeze_blocks_x4_x86_64 : maps_lanes V 4 round_constants_x4 true squeeze_many Kernels_x4_x86_64.squeeze_blocks_x4.
Proof. apply (squeeze_lanes V _ 0xb1e 4 round_constants_x4 0 [(rax, None)] words_in [] [] [1%nat]); by_evaluation. Qed.

Theorem encrypt_blocks_x4_x86_64 : crypts_lanes V 4 round_constants_x4 true encrypt_blocks Kernels_x4_x86_64.encrypt_blocks_x4.
Proof. apply (encrypt_lanes V _ 0xbd5 4 round_constants_x4 0 [(rax, None)] words_in [] [] [1%nat] true); by_evaluation. Qed.

Theorem encrypt_blocks_in_place_x4_x86_64 : crypts_lanes V 4 round_constants_x4 false encrypt_blocks Kernels_x4_x86_64.encrypt_blocks_x4.
Proof. apply (encrypt_lanes V _ 0xbd5 4 round_constants_x4 0 [(rax, None)] words_in [] [] [1%nat] false); by_evaluation. Qed.

Theorem decrypt_blocks_x4_x86_64 : crypts_lanes V 4 round_constants_x4 true decrypt_blocks Kernels_x4_x86_64.decrypt_blocks_x4.
Proof. apply (decrypt_lanes V _ 0xc2d 4 round_constants_x4 0 [(rax, None)] words_in [] [] [1%nat] true); by_evaluation. Qed.

Theorem decrypt_blocks_in_place_x4_x86_64 : crypts_lanes V 4 round_constants_x4 false decrypt_blocks Kernels_x4_x86_64.decrypt_blocks_x4.
Proof. apply (decrypt_lanes V _ 0xc2d 4 round_constants_x4 0 [(rax, None)] words_in [] [] [1%nat] false); by_evaluation. Qed.
