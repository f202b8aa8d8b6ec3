(** * LaneBlocks_x4_x86_64: the machine code of the kernels that process blocks of four states *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call Loop Operations DuplexBlocks BlockKernels Lanes LaneKernels.
From Veriplex Require Import X86_64 Call_x86_64 WideLanes_x86_64.
From Veriplex Require Kernels_x4_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, where the test of the counter is, and what is in registers there: word i of the states in lanes 0 and 1
    in ymm i, that of lanes 2 and 3 in ymm 8 + i. Word 1 of each is in memory; rax has what is added to the addresses of
    the blocks. *)
Definition words_in : list (nat * list (nat * nat)) :=
  flat_map (fun i => [(i, [(0, i); (1, i)]); (8 + i, [(2, i); (3, i)])]%nat) [0; 2; 3; 4; 5; 6; 7]%nat.

Definition kernel_of (code : list byte) (head : Z) (written : bool) : kernel :=
  one_kernel convention_x86_64 code head 4 round_constants_x4 0 [(rax, None)] words_in [] [] [1%nat] written.

Definition crypt_of (code : list byte) (head : Z) (apart : bool) : kernel :=
  crypt_kernel convention_x86_64 code head 4 round_constants_x4 0 [(rax, None)] words_in [] [] [1%nat] apart.

Definition absorb_kernel := kernel_of Kernels_x4_x86_64.absorb_blocks_x4 0xb02 false.
Definition squeeze_kernel := kernel_of Kernels_x4_x86_64.squeeze_blocks_x4 0xb1e true.
Definition encrypt_kernel := crypt_of Kernels_x4_x86_64.encrypt_blocks_x4 0xbd5.
Definition decrypt_kernel := crypt_of Kernels_x4_x86_64.decrypt_blocks_x4 0xc2d.

Lemma absorb_checks : checks abi_x86_64 absorb_kernel (each_op absorb_op 4 1 false) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_checks : checks abi_x86_64 squeeze_kernel (each_op squeeze_op 4 1 false) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_checks : checks abi_x86_64 (encrypt_kernel true) (each_op encrypt_in_place_op 4 2 true) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_in_place_checks : checks abi_x86_64 (encrypt_kernel false) (each_op encrypt_in_place_op 4 2 false) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_checks : checks abi_x86_64 (decrypt_kernel true) (each_op decrypt_in_place_op 4 2 true) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_in_place_checks : checks abi_x86_64 (decrypt_kernel false) (each_op decrypt_in_place_op 4 2 false) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma absorb_ends : ends_in_return abi_x86_64 Kernels_x4_x86_64.absorb_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma squeeze_ends : ends_in_return abi_x86_64 Kernels_x4_x86_64.squeeze_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma encrypt_ends : ends_in_return abi_x86_64 Kernels_x4_x86_64.encrypt_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma decrypt_ends : ends_in_return abi_x86_64 Kernels_x4_x86_64.decrypt_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque end_block absorb_block squeeze_block encrypt_block decrypt_block round_constants_x4 read lane_at number_of
  Kernels_x4_x86_64.absorb_blocks_x4 Kernels_x4_x86_64.squeeze_blocks_x4 Kernels_x4_x86_64.encrypt_blocks_x4
  Kernels_x4_x86_64.decrypt_blocks_x4.

Local Ltac sound op one many one_is one_length none next checks ends :=
  destruct (lanes_sound convention_x86_64 distinct_arguments eq_refl eq_refl _ _ _ _ _ _ _ _ _ _ op one many one_is one_length none next _ checks ends)
    as (acc & H);
  exists acc; intros m n; cbv zeta; intros (CALL & REGS & COUNT & TABLE);
  specialize (H m n); cbv zeta in H; rewrite table_length in H; specialize (H CALL REGS COUNT TABLE);
  destruct H as (AL & k & m' & R & RT & S & O & FR & TR);
  split; [exact AL|]; exists k, m'; repeat (split; [first [assumption|exact S|exact O|exact Logic.I]|]); exact TR.

Local Ltac crypt apart op one many one_is one_length none next checks ends :=
  destruct (crypt_sound convention_x86_64 distinct_arguments eq_refl eq_refl _ _ _ _ _ _ _ _ _ _ op one many one_is one_length none next apart checks ends)
    as (acc & H);
  exists acc; intros m n; cbv zeta; intros (CALL & SAME & REGS & COUNT & TABLE);
  specialize (H m n); cbv zeta in H; rewrite table_length in H; exact (H CALL SAME REGS COUNT TABLE).

Theorem absorb_blocks_x4_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let blocks := addresses_at (mem m) (gpr m rsi) 4 in
  call 4 Kernels_x4_x86_64.absorb_blocks_x4 false m n blocks ->
  ends 4 returned Kernels_x4_x86_64.absorb_blocks_x4 false m n blocks
    (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) blocks (gpr m rcx) n)
    (map (fun l => absorb_blocks (lane_at (mem m) (gpr m rdi) l) (blocks_of m n blocks l)) (seq 0 4)) None.
Proof. sound absorb_op absorb_one absorb_many absorb_lane absorb_length none absorb_many_next absorb_checks absorb_ends. Qed.

Theorem squeeze_blocks_x4_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let blocks := addresses_at (mem m) (gpr m rsi) 4 in
  let after := map (fun l => squeeze_blocks n (lane_at (mem m) (gpr m rdi) l)) (seq 0 4) in
  call 4 Kernels_x4_x86_64.squeeze_blocks_x4 true m n blocks ->
  ends 4 returned Kernels_x4_x86_64.squeeze_blocks_x4 true m n blocks
    (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) blocks (gpr m rcx) n) (map fst after) (Some (map snd after)).
Proof. sound squeeze_op squeeze_one squeeze_many squeeze_lane squeeze_length none squeeze_many_next squeeze_checks squeeze_ends. Qed.

Theorem encrypt_blocks_x4_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let from := addresses_at (mem m) (gpr m rsi) 4 in let to := addresses_at (mem m) (gpr m rdx) 4 in
  crypt_call 4 Kernels_x4_x86_64.encrypt_blocks_x4 true m n from to ->
  crypt_ends 4 returned Kernels_x4_x86_64.encrypt_blocks_x4 true m n from to
    (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) (gpr m rdx) from to (gpr m r8) n)
    (map (fun l => encrypt_blocks (lane_at (mem m) (gpr m rdi) l) (blocks_of m n from l)) (seq 0 4)).
Proof. crypt true encrypt_in_place_op encrypt_block encrypt_many encrypt_in_place_is encrypt_length none encrypt_many_next encrypt_checks encrypt_ends. Qed.

Theorem encrypt_blocks_in_place_x4_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let from := addresses_at (mem m) (gpr m rsi) 4 in let to := addresses_at (mem m) (gpr m rdx) 4 in
  crypt_call 4 Kernels_x4_x86_64.encrypt_blocks_x4 false m n from to ->
  crypt_ends 4 returned Kernels_x4_x86_64.encrypt_blocks_x4 false m n from to
    (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) (gpr m rdx) from to (gpr m r8) n)
    (map (fun l => encrypt_blocks (lane_at (mem m) (gpr m rdi) l) (blocks_of m n from l)) (seq 0 4)).
Proof. crypt false encrypt_in_place_op encrypt_block encrypt_many encrypt_in_place_is encrypt_length none encrypt_many_next encrypt_in_place_checks encrypt_ends. Qed.

Theorem decrypt_blocks_x4_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let from := addresses_at (mem m) (gpr m rsi) 4 in let to := addresses_at (mem m) (gpr m rdx) 4 in
  crypt_call 4 Kernels_x4_x86_64.decrypt_blocks_x4 true m n from to ->
  crypt_ends 4 returned Kernels_x4_x86_64.decrypt_blocks_x4 true m n from to
    (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) (gpr m rdx) from to (gpr m r8) n)
    (map (fun l => decrypt_blocks (lane_at (mem m) (gpr m rdi) l) (blocks_of m n from l)) (seq 0 4)).
Proof. crypt true decrypt_in_place_op decrypt_block decrypt_many decrypt_in_place_is decrypt_length none decrypt_many_next decrypt_checks decrypt_ends. Qed.

Theorem decrypt_blocks_in_place_x4_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let from := addresses_at (mem m) (gpr m rsi) 4 in let to := addresses_at (mem m) (gpr m rdx) 4 in
  crypt_call 4 Kernels_x4_x86_64.decrypt_blocks_x4 false m n from to ->
  crypt_ends 4 returned Kernels_x4_x86_64.decrypt_blocks_x4 false m n from to
    (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) (gpr m rdx) from to (gpr m r8) n)
    (map (fun l => decrypt_blocks (lane_at (mem m) (gpr m rdi) l) (blocks_of m n from l)) (seq 0 4)).
Proof. crypt false decrypt_in_place_op decrypt_block decrypt_many decrypt_in_place_is decrypt_length none decrypt_many_next decrypt_in_place_checks decrypt_ends. Qed.
