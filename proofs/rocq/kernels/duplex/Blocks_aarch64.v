(** * Blocks_aarch64: the machine code of the kernels that process blocks *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call Loop Operations DuplexBlocks BlockKernels AArch64 Call_aarch64.
From Veriplex Require Kernels_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

(** The registers with the words of the state at the test of the counter. *)
Definition words : list (nat * nat) := combine (seq 20 8) (seq 0 8).

(** The bytes, and where that test is. The code adds 128 to the address of the round constants. *)
Section Width.
Variable width : nat.

Local Notation kernel_of shape code head := (shape (convention_aarch64 width) code head 128 words []).

Definition absorb_kernel : kernel := kernel_of one_buffer Kernels_aarch64.absorb_blocks 0x698 false.
Definition squeeze_kernel : kernel := kernel_of one_buffer Kernels_aarch64.squeeze_blocks 0x6a0 true.
Definition encrypt_kernel : kernel := kernel_of two_buffers Kernels_aarch64.encrypt_blocks 0x6b0.
Definition encrypt_in_place_kernel : kernel := kernel_of in_place Kernels_aarch64.encrypt_blocks 0x6b0.
Definition decrypt_kernel : kernel := kernel_of two_buffers Kernels_aarch64.decrypt_blocks 0x6b8.
Definition decrypt_in_place_kernel : kernel := kernel_of in_place Kernels_aarch64.decrypt_blocks 0x6b8.

Lemma absorb_checks : checks (abi_aarch64 width) absorb_kernel absorb_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_checks : checks (abi_aarch64 width) squeeze_kernel squeeze_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_checks : checks (abi_aarch64 width) encrypt_kernel encrypt_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_in_place_checks : checks (abi_aarch64 width) encrypt_in_place_kernel encrypt_in_place_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_checks : checks (abi_aarch64 width) decrypt_kernel decrypt_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_in_place_checks : checks (abi_aarch64 width) decrypt_in_place_kernel decrypt_in_place_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma absorb_ends : ends_in_return (abi_aarch64 width) Kernels_aarch64.absorb_blocks.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma squeeze_ends : ends_in_return (abi_aarch64 width) Kernels_aarch64.squeeze_blocks.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma encrypt_ends : ends_in_return (abi_aarch64 width) Kernels_aarch64.encrypt_blocks.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma decrypt_ends : ends_in_return (abi_aarch64 width) Kernels_aarch64.decrypt_blocks.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque end_block round_constants read Kernels_aarch64.absorb_blocks Kernels_aarch64.squeeze_blocks
  Kernels_aarch64.encrypt_blocks Kernels_aarch64.decrypt_blocks.

(** What holds when a kernel returns: about its buffers, its accesses, the state after it, and its output. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (state : list byte) (output : option (Z * list (list byte))) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\
    read (mem m') (gpr m 0) 128 = state /\
    match output with Some (at_, blocks) => chunks (mem m') at_ (length blocks) = blocks | None => True end /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

Theorem absorb_blocks_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m 0 in let input := gpr m 1 in let table := gpr m 3 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n))] in
  called width Kernels_aarch64.absorb_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m 2 = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_aarch64.absorb_blocks buffers (accesses (pc m) state input table n) m
    (absorb_blocks (read (mem m) state 128) (chunks (mem m) input n)) None.
Proof.
  destruct (absorb_sound (convention_aarch64 width) distinct_arguments eq_refl _ _ _ _ _ absorb_checks absorb_ends) as (accesses & H).
  exists (fun at_ => accesses at_ 0); intros m n; exact (H m n).
Qed.

Theorem squeeze_blocks_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m 0 in let output := gpr m 1 in let table := gpr m 3 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (output, 94 * Z.of_nat n))] in
  let after := squeeze_blocks n (read (mem m) state 128) in
  called width Kernels_aarch64.squeeze_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m 2 = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_aarch64.squeeze_blocks buffers (accesses (pc m) state output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  destruct (squeeze_sound (convention_aarch64 width) distinct_arguments eq_refl _ _ _ _ _ squeeze_checks squeeze_ends) as (accesses & H).
  exists (fun at_ => accesses at_ 0); intros m n; exact (H m n).
Qed.

Theorem encrypt_blocks_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m 0 in let input := gpr m 1 in let output := gpr m 2 in let table := gpr m 4 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n)); (true, (output, 94 * Z.of_nat n))] in
  let after := encrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called width Kernels_aarch64.encrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m 3 = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_aarch64.encrypt_blocks buffers (accesses (pc m) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  destruct (crypt_sound (convention_aarch64 width) distinct_arguments eq_refl _ _ _ _ _ encrypt_op encrypt_block encrypt_blocks
  eq_refl encrypt_is (fun s => eq_refl) encrypt_blocks_next encrypt_checks encrypt_ends) as (accesses & H).
  exists (fun at_ => accesses at_ 0); intros m n; exact (H m n).
Qed.

Theorem encrypt_blocks_in_place_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m 0 in let input := gpr m 1 in let output := gpr m 2 in let table := gpr m 4 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (input, 94 * Z.of_nat n))] in
  let after := encrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called width Kernels_aarch64.encrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  output = input ->
  gpr m 3 = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_aarch64.encrypt_blocks buffers (accesses (pc m) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  destruct (crypt_in_place_sound (convention_aarch64 width) distinct_arguments eq_refl _ _ _ _ _ encrypt_in_place_op encrypt_block encrypt_blocks
  eq_refl encrypt_in_place_is (fun s => eq_refl) encrypt_blocks_next encrypt_in_place_checks encrypt_ends) as (accesses & H).
  exists (fun at_ => accesses at_ 0); intros m n; exact (H m n).
Qed.

Theorem decrypt_blocks_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m 0 in let input := gpr m 1 in let output := gpr m 2 in let table := gpr m 4 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (false, (input, 94 * Z.of_nat n)); (true, (output, 94 * Z.of_nat n))] in
  let after := decrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called width Kernels_aarch64.decrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  gpr m 3 = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_aarch64.decrypt_blocks buffers (accesses (pc m) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  destruct (crypt_sound (convention_aarch64 width) distinct_arguments eq_refl _ _ _ _ _ decrypt_op decrypt_block decrypt_blocks
  eq_refl decrypt_is (fun s => eq_refl) decrypt_blocks_next decrypt_checks decrypt_ends) as (accesses & H).
  exists (fun at_ => accesses at_ 0); intros m n; exact (H m n).
Qed.

Theorem decrypt_blocks_in_place_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let state := gpr m 0 in let input := gpr m 1 in let output := gpr m 2 in let table := gpr m 4 in
  let buffers := [(true, (state, 128)); (false, (table, 1152)); (true, (input, 94 * Z.of_nat n))] in
  let after := decrypt_blocks (read (mem m) state 128) (chunks (mem m) input n) in
  called width Kernels_aarch64.decrypt_blocks buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) ->
  output = input ->
  gpr m 3 = Z.of_nat n -> read (mem m) table 1152 = round_constants ->
  ends Kernels_aarch64.decrypt_blocks buffers (accesses (pc m) state input output table n) m
    (fst after) (Some (output, snd after)).
Proof.
  destruct (crypt_in_place_sound (convention_aarch64 width) distinct_arguments eq_refl _ _ _ _ _ decrypt_in_place_op decrypt_block decrypt_blocks
  eq_refl decrypt_in_place_is (fun s => eq_refl) decrypt_blocks_next decrypt_in_place_checks decrypt_ends) as (accesses & H).
  exists (fun at_ => accesses at_ 0); intros m n; exact (H m n).
Qed.

End Width.
