(** * LaneBlocks_aarch64: the machine code of the kernels that process blocks of two states *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call Loop Operations DuplexBlocks BlockKernels Lanes LaneKernels.
From Veriplex Require Import AArch64 Call_aarch64.
From Veriplex Require Kernels_x2_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, where the test of the counter is, and which registers have words of the states there. Word 1 of each is in
    memory; x4 and x5 go through the blocks or, with an output, x5 and x6, and x7 and x8 through that. The code adds 128 to the address of the round constants. *)
Section Width.
Variable width : nat.

Definition lane_words : list (nat * list (nat * nat)) :=
  (flat_map (fun w => [(w, [(0, w)]); (20 + w, [(1, w)])]) [0; 2; 3; 4; 5; 6; 7])%nat.

Definition kernel_of (code : list byte) (head : Z) (written : bool) : kernel :=
  one_kernel (convention_aarch64 width) code head 2 round_constants 128 [(4, Some 0); (5, Some 1)]%nat lane_words [] [] [1%nat]
    written.

Definition crypt_of (code : list byte) (head : Z) (apart : bool) : kernel :=
  crypt_kernel (convention_aarch64 width) code head 2 round_constants 128
    ([(5, Some 0); (6, Some 1)] ++ if apart then [(7, Some 2); (8, Some 3)] else [(7, Some 0); (8, Some 1)])%nat
    lane_words [] [] [1%nat] apart.

Definition absorb_kernel := kernel_of Kernels_x2_aarch64.absorb_blocks_x2 0xeac false.
Definition squeeze_kernel := kernel_of Kernels_x2_aarch64.squeeze_blocks_x2 0xebc true.
Definition encrypt_kernel := crypt_of Kernels_x2_aarch64.encrypt_blocks_x2 0xee0.
Definition decrypt_kernel := crypt_of Kernels_x2_aarch64.decrypt_blocks_x2 0xf18.

Lemma absorb_checks : checks (abi_aarch64 width) absorb_kernel (each_op absorb_op 2 1 false) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_checks : checks (abi_aarch64 width) squeeze_kernel (each_op squeeze_op 2 1 false) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_checks : checks (abi_aarch64 width) (encrypt_kernel true) (each_op encrypt_in_place_op 2 2 true) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma encrypt_in_place_checks : checks (abi_aarch64 width) (encrypt_kernel false) (each_op encrypt_in_place_op 2 2 false) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_checks : checks (abi_aarch64 width) (decrypt_kernel true) (each_op decrypt_in_place_op 2 2 true) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma decrypt_in_place_checks : checks (abi_aarch64 width) (decrypt_kernel false) (each_op decrypt_in_place_op 2 2 false) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma absorb_ends : ends_in_return (abi_aarch64 width) Kernels_x2_aarch64.absorb_blocks_x2.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma squeeze_ends : ends_in_return (abi_aarch64 width) Kernels_x2_aarch64.squeeze_blocks_x2.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma encrypt_ends : ends_in_return (abi_aarch64 width) Kernels_x2_aarch64.encrypt_blocks_x2.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma decrypt_ends : ends_in_return (abi_aarch64 width) Kernels_x2_aarch64.decrypt_blocks_x2.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

Lemma table_size : length round_constants = 1152%nat.
Proof. vm_compute; reflexivity. Qed.

Lemma none (s : list byte) : (s, @nil (list byte)) = (s, []).
Proof. reflexivity. Qed.

(** ** The theorems *)

Opaque end_block absorb_block squeeze_block encrypt_block decrypt_block round_constants read lane_at number_of
  Kernels_x2_aarch64.absorb_blocks_x2 Kernels_x2_aarch64.squeeze_blocks_x2 Kernels_x2_aarch64.encrypt_blocks_x2
  Kernels_x2_aarch64.decrypt_blocks_x2.

(** The buffers: the states, the table, the addresses of the blocks, and the blocks. *)
Definition buffers_of (written : bool) (m : machine) (n : nat) (blocks : list Z) : list (bool * (Z * Z)) :=
  (true, (gpr m 0, 928)) :: (false, (gpr m 3, 1152)) :: (false, (gpr m 1, 16)) ::
  map (fun p => (written, (p, 94 * Z.of_nat n))) blocks.

(** The call: [n] blocks for each lane. *)
Definition call (code : list byte) (written : bool) (m : machine) (n : nat) (blocks : list Z) : Prop :=
  called width code (buffers_of written m n blocks) m /\ (forall r, 0 <= gpr m r < 2 ^ 64) /\
  gpr m 2 = Z.of_nat n /\ read (mem m) (gpr m 3) 1152 = round_constants.

(** What holds when a kernel returns: about its accesses, the state of each lane after it, and each lane's output. *)
Definition ends (code : list byte) (written : bool) (m : machine) (n : nat) (blocks : list Z) (accesses : list event)
    (states : list (list byte)) (outputs : option (list (list (list byte)))) : Prop :=
  Forall (allowed code (buffers_of written m n blocks) m) accesses /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\
    lanes 2 (mem m') (gpr m 0) = states /\
    match outputs with Some o => map (fun p => chunks (mem m') p n) blocks = o | None => True end /\
    (forall a, ~ in_lanes 2 (gpr m 0) a -> Forall (fun p => written = true -> ~ p <= a < p + 94 * Z.of_nat n) blocks ->
       mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** The same of a kernel that encrypts or decrypts, from one buffer to another in each lane, or in place. *)
Definition crypt_buffers_of (apart : bool) (m : machine) (n : nat) (from to : list Z) : list (bool * (Z * Z)) :=
  crypt_buffers apart 2 (gpr m 0) (gpr m 1) (gpr m 2) (gpr m 4) 1152 from to n.

Definition crypt_call (code : list byte) (apart : bool) (m : machine) (n : nat) (from to : list Z) : Prop :=
  called width code (crypt_buffers_of apart m n from to) m /\ (apart = false -> to = from) /\ (forall r, 0 <= gpr m r < 2 ^ 64) /\
  gpr m 3 = Z.of_nat n /\ read (mem m) (gpr m 4) 1152 = round_constants.

Definition crypt_ends (code : list byte) (apart : bool) (m : machine) (n : nat) (from to : list Z) (accesses : list event)
    (after : list (list byte * list (list byte))) : Prop :=
  Forall (allowed code (crypt_buffers_of apart m n from to) m) accesses /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\
    lanes 2 (mem m') (gpr m 0) = map fst after /\
    map (fun p => chunks (mem m') p n) to = map snd after /\
    (forall a, ~ in_lanes 2 (gpr m 0) a -> Forall (fun p => ~ p <= a < p + 94 * Z.of_nat n) to -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** One lane's blocks. *)
Definition blocks_of (m : machine) (n : nat) (blocks : list Z) (l : nat) : list (list byte) := chunks (mem m) (nth l blocks 0) n.

Local Ltac sound op one many one_is one_length none next checks ends :=
  destruct (lanes_sound (convention_aarch64 width) distinct_arguments eq_refl eq_refl _ _ _ _ _ _ _ _ _ _ op one many one_is one_length none next _ checks ends)
    as (acc & H);
  exists (fun at_ => acc at_ 0); intros m n; cbv zeta; intros (CALL & REGS & COUNT & TABLE);
  specialize (H m n); cbv zeta in H; rewrite table_size in H; specialize (H CALL REGS COUNT TABLE);
  destruct H as (AL & k & m' & R & RT & S & O & FR & TR);
  split; [exact AL|]; exists k, m'; repeat (split; [first [assumption|exact S|exact O|exact Logic.I]|]); exact TR.

Local Ltac crypt apart op one many one_is one_length none next checks ends :=
  destruct (crypt_sound (convention_aarch64 width) distinct_arguments eq_refl eq_refl _ _ _ _ _ _ _ _ _ _ op one many one_is one_length none next apart checks ends)
    as (acc & H);
  exists (fun at_ => acc at_ 0); intros m n; cbv zeta; intros (CALL & SAME & REGS & COUNT & TABLE);
  specialize (H m n); cbv zeta in H; rewrite table_size in H; exact (H CALL SAME REGS COUNT TABLE).

Theorem absorb_blocks_x2_aarch64 :
  exists accesses : Z -> Z -> Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let blocks := addresses_at (mem m) (gpr m 1) 2 in
  call Kernels_x2_aarch64.absorb_blocks_x2 false m n blocks ->
  ends Kernels_x2_aarch64.absorb_blocks_x2 false m n blocks
    (accesses (pc m) (gpr m 0) (gpr m 1) blocks (gpr m 3) n)
    (map (fun l => absorb_blocks (lane_at (mem m) (gpr m 0) l) (blocks_of m n blocks l)) (seq 0 2)) None.
Proof. sound absorb_op absorb_one absorb_many absorb_lane absorb_length none absorb_many_next absorb_checks absorb_ends. Qed.

Theorem squeeze_blocks_x2_aarch64 :
  exists accesses : Z -> Z -> Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let blocks := addresses_at (mem m) (gpr m 1) 2 in
  let after := map (fun l => squeeze_blocks n (lane_at (mem m) (gpr m 0) l)) (seq 0 2) in
  call Kernels_x2_aarch64.squeeze_blocks_x2 true m n blocks ->
  ends Kernels_x2_aarch64.squeeze_blocks_x2 true m n blocks
    (accesses (pc m) (gpr m 0) (gpr m 1) blocks (gpr m 3) n) (map fst after) (Some (map snd after)).
Proof. sound squeeze_op squeeze_one squeeze_many squeeze_lane squeeze_length none squeeze_many_next squeeze_checks squeeze_ends. Qed.

Theorem encrypt_blocks_x2_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let from := addresses_at (mem m) (gpr m 1) 2 in let to := addresses_at (mem m) (gpr m 2) 2 in
  crypt_call Kernels_x2_aarch64.encrypt_blocks_x2 true m n from to ->
  crypt_ends Kernels_x2_aarch64.encrypt_blocks_x2 true m n from to
    (accesses (pc m) (gpr m 0) (gpr m 1) (gpr m 2) from to (gpr m 4) n)
    (map (fun l => encrypt_blocks (lane_at (mem m) (gpr m 0) l) (blocks_of m n from l)) (seq 0 2)).
Proof. crypt true encrypt_in_place_op encrypt_block encrypt_many encrypt_in_place_is encrypt_length none encrypt_many_next encrypt_checks encrypt_ends. Qed.

Theorem encrypt_blocks_in_place_x2_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let from := addresses_at (mem m) (gpr m 1) 2 in let to := addresses_at (mem m) (gpr m 2) 2 in
  crypt_call Kernels_x2_aarch64.encrypt_blocks_x2 false m n from to ->
  crypt_ends Kernels_x2_aarch64.encrypt_blocks_x2 false m n from to
    (accesses (pc m) (gpr m 0) (gpr m 1) (gpr m 2) from to (gpr m 4) n)
    (map (fun l => encrypt_blocks (lane_at (mem m) (gpr m 0) l) (blocks_of m n from l)) (seq 0 2)).
Proof. crypt false encrypt_in_place_op encrypt_block encrypt_many encrypt_in_place_is encrypt_length none encrypt_many_next encrypt_in_place_checks encrypt_ends. Qed.

Theorem decrypt_blocks_x2_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let from := addresses_at (mem m) (gpr m 1) 2 in let to := addresses_at (mem m) (gpr m 2) 2 in
  crypt_call Kernels_x2_aarch64.decrypt_blocks_x2 true m n from to ->
  crypt_ends Kernels_x2_aarch64.decrypt_blocks_x2 true m n from to
    (accesses (pc m) (gpr m 0) (gpr m 1) (gpr m 2) from to (gpr m 4) n)
    (map (fun l => decrypt_blocks (lane_at (mem m) (gpr m 0) l) (blocks_of m n from l)) (seq 0 2)).
Proof. crypt true decrypt_in_place_op decrypt_block decrypt_many decrypt_in_place_is decrypt_length none decrypt_many_next decrypt_checks decrypt_ends. Qed.

Theorem decrypt_blocks_in_place_x2_aarch64 :
  exists accesses : Z -> Z -> Z -> Z -> list Z -> list Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let from := addresses_at (mem m) (gpr m 1) 2 in let to := addresses_at (mem m) (gpr m 2) 2 in
  crypt_call Kernels_x2_aarch64.decrypt_blocks_x2 false m n from to ->
  crypt_ends Kernels_x2_aarch64.decrypt_blocks_x2 false m n from to
    (accesses (pc m) (gpr m 0) (gpr m 1) (gpr m 2) from to (gpr m 4) n)
    (map (fun l => decrypt_blocks (lane_at (mem m) (gpr m 0) l) (blocks_of m n from l)) (seq 0 2)).
Proof. crypt false decrypt_in_place_op decrypt_block decrypt_many decrypt_in_place_is decrypt_length none decrypt_many_next decrypt_in_place_checks decrypt_ends. Qed.
End Width.
