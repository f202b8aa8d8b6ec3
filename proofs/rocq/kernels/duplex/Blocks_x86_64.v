(** * Blocks_x86_64: the machine code of the kernels that process blocks *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call Loop Operations DuplexBlocks BlockKernels X86_64 Call_x86_64.
From Veriplex Require Kernels_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, where the test of the counter is, and which registers have words of the state and the padding there. *)
Definition padding : list byte := zero 15 ++ [0x81%N].

Definition absorb_words : list (nat * nat) := [(9, 0); (6, 1); (10, 2); (1, 3); (7, 4); (2, 5); (3, 6); (4, 7)]%nat.
Definition squeeze_words : list (nat * nat) := [(8, 0); (1, 1); (6, 2); (4, 3); (7, 4); (2, 5); (3, 6); (5, 7)]%nat.
Definition encrypt_words : list (nat * nat) := [(7, 0); (1, 1); (6, 2); (2, 3); (8, 4); (9, 5); (3, 6); (4, 7)]%nat.
Definition decrypt_words : list (nat * nat) := [(7, 0); (1, 1); (8, 2); (2, 3); (3, 4); (4, 5); (5, 6); (6, 7)]%nat.

Local Notation kernel_of shape code head words := (shape code head 0 words [(0%nat, padding)]).

Definition absorb_kernel : kernel := kernel_of (one_buffer convention_x86_64) Kernels_x86_64.absorb_blocks 0x449 absorb_words false.
Definition squeeze_kernel : kernel := kernel_of (one_buffer convention_x86_64) Kernels_x86_64.squeeze_blocks 0x464 squeeze_words true.
Definition encrypt_kernel : kernel := kernel_of (two_buffers convention_x86_64) Kernels_x86_64.encrypt_blocks 0x473 encrypt_words.
Definition encrypt_in_place_kernel : kernel := kernel_of (in_place convention_x86_64) Kernels_x86_64.encrypt_blocks 0x473 encrypt_words.
Definition decrypt_kernel : kernel := kernel_of (two_buffers convention_x86_64) Kernels_x86_64.decrypt_blocks 0x4a0 decrypt_words.
Definition decrypt_in_place_kernel : kernel := kernel_of (in_place convention_x86_64) Kernels_x86_64.decrypt_blocks 0x4a0 decrypt_words.

Lemma absorb_checks : checks abi_x86_64 absorb_kernel absorb_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_checks : checks abi_x86_64 squeeze_kernel squeeze_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_checks : checks abi_x86_64 encrypt_kernel encrypt_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_in_place_checks : checks abi_x86_64 encrypt_in_place_kernel encrypt_in_place_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_checks : checks abi_x86_64 decrypt_kernel decrypt_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_in_place_checks : checks abi_x86_64 decrypt_in_place_kernel decrypt_in_place_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma absorb_ends : ends_in_return abi_x86_64 Kernels_x86_64.absorb_blocks.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma squeeze_ends : ends_in_return abi_x86_64 Kernels_x86_64.squeeze_blocks.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma encrypt_ends : ends_in_return abi_x86_64 Kernels_x86_64.encrypt_blocks.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma decrypt_ends : ends_in_return abi_x86_64 Kernels_x86_64.decrypt_blocks.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque end_block round_constants read Kernels_x86_64.absorb_blocks Kernels_x86_64.squeeze_blocks
  Kernels_x86_64.encrypt_blocks Kernels_x86_64.decrypt_blocks.

(** What holds when a kernel returns: about its buffers, its accesses, the state after it, and its output. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (state : list byte) (output : option (Z * list (list byte))) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run x86_64 k m = Some m' /\ returned m m' /\
    read (mem m') (gpr m rdi) 128 = state /\
    match output with Some (at_, blocks) => chunks (mem m') at_ (length blocks) = blocks | None => True end /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

Theorem absorb_blocks_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let table := gpr m rcx in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n))] in
  called Kernels_x86_64.absorb_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m rdx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.absorb_blocks buffers (accesses (pc m) (gpr m rsp) state input table n) m
    (absorb_blocks (read (mem m) state 128) (chunks (mem m) input n)) None.
Proof. exact (absorb_sound convention_x86_64 distinct_arguments eq_refl _ _ _ _ _ absorb_checks absorb_ends). Qed.

Theorem squeeze_blocks_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let output := gpr m rsi in let table := gpr m rcx in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (output, 94 * Z.of_nat n))] in
  let after := squeeze_blocks n (read (mem m) state 128) in
  called Kernels_x86_64.squeeze_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m rdx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.squeeze_blocks buffers (accesses (pc m) (gpr m rsp) state output table n) m
    (fst after) (Some (output, snd after)).
Proof. exact (squeeze_sound convention_x86_64 distinct_arguments eq_refl _ _ _ _ _ squeeze_checks squeeze_ends). Qed.

Theorem encrypt_blocks_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let output := gpr m rdx in let table := gpr m r8 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n)); (true, (output, 94 * Z.of_nat n))] in
  let after := encrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called Kernels_x86_64.encrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m rcx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.encrypt_blocks buffers (accesses (pc m) (gpr m rsp) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof. exact (crypt_sound convention_x86_64 distinct_arguments eq_refl _ _ _ _ _ encrypt_op encrypt_block encrypt_blocks
  eq_refl encrypt_is (fun s => eq_refl) encrypt_blocks_next encrypt_checks encrypt_ends). Qed.

Theorem encrypt_blocks_in_place_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let output := gpr m rdx in let table := gpr m r8 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (input, 94 * Z.of_nat n))] in
  let after := encrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called Kernels_x86_64.encrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  output = input ->
  gpr m rcx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.encrypt_blocks buffers (accesses (pc m) (gpr m rsp) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof. exact (crypt_in_place_sound convention_x86_64 distinct_arguments eq_refl _ _ _ _ _ encrypt_in_place_op encrypt_block encrypt_blocks
  eq_refl encrypt_in_place_is (fun s => eq_refl) encrypt_blocks_next encrypt_in_place_checks encrypt_ends). Qed.

Theorem decrypt_blocks_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let output := gpr m rdx in let table := gpr m r8 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n)); (true, (output, 94 * Z.of_nat n))] in
  let after := decrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called Kernels_x86_64.decrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m rcx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.decrypt_blocks buffers (accesses (pc m) (gpr m rsp) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof. exact (crypt_sound convention_x86_64 distinct_arguments eq_refl _ _ _ _ _ decrypt_op decrypt_block decrypt_blocks
  eq_refl decrypt_is (fun s => eq_refl) decrypt_blocks_next decrypt_checks decrypt_ends). Qed.

Theorem decrypt_blocks_in_place_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m rdi in let input := gpr m rsi in let output := gpr m rdx in let table := gpr m r8 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (input, 94 * Z.of_nat n))] in
  let after := decrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called Kernels_x86_64.decrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  output = input ->
  gpr m rcx = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_x86_64.decrypt_blocks buffers (accesses (pc m) (gpr m rsp) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof. exact (crypt_in_place_sound convention_x86_64 distinct_arguments eq_refl _ _ _ _ _ decrypt_in_place_op decrypt_block decrypt_blocks
  eq_refl decrypt_in_place_is (fun s => eq_refl) decrypt_blocks_next decrypt_in_place_checks decrypt_ends). Qed.
