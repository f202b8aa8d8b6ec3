(** * Poly1305_x86_64: the machine code of the kernel of Poly1305 for AVX2 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Call ChaChaRows ChaChaKernels Loop LanePrograms Poly1305Rows Poly1305Kernels
  X86_64 Call_x86_64.
From Veriplex Require Poly1305 Poly1305Limbs Poly1305Lanes Poly1305Pairs Kernels_poly1305_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, where the test of the counter is, the vector registers that have the sums there, and those with the low 26
    bits of each word and with 2^24. *)
Definition x8_kernel : kernel :=
  pair_kernel convention_x86_64 Kernels_poly1305_x86_64.poly1305_add_blocks_x8 0x394
    (map (fun i => (i, [2 * i; 2 * i + 1]%nat)) (seq 0 5))
    [(5%nat, in_lanes 8 (repeat 0x3ffffff%N 4)); (6%nat, in_lanes 8 (repeat 0x1000000%N 4))] [].

Lemma x8_checks : checks abi_x86_64 x8_kernel adding_pairs = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma x8_ends : ends_in_return abi_x86_64 Kernels_poly1305_x86_64.poly1305_add_blocks_x8.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorem *)

Opaque Poly1305Pairs.add_group_of_pairs read Kernels_poly1305_x86_64.poly1305_add_blocks_x8.

(** What holds when the kernel returns: about its accesses and the sums. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (sums : list (list Z)) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run x86_64 k m = Some m' /\ returned m m' /\
    read (mem m') (gpr m rdi) 160 = rows_of 5 sums /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers ->
      mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** n groups of eight blocks are added to the four sums: limbs of 26 bits, a lane has two blocks of each group and a
    multiplier for either. *)
Definition adds_pairs (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let sums := gpr m rdi in let multipliers := gpr m rsi in let input := gpr m rdx in
  let buffers := [(true, (sums, 160)); (false, (multipliers, 576)); (false, (input, 128 * Z.of_nat n))] in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rcx = Z.of_nat n ->
  ends code buffers (accesses (pc m) (gpr m rsp) sums multipliers input n) m
    (fold_left (Poly1305Pairs.add_group_of_pairs (lanes_at 9 8 (mem m) multipliers))
      (groups_at 128 (mem m) input n) (lanes_at 5 4 (mem m) sums)).

Theorem poly1305_add_blocks_x8_x86_64 : adds_pairs Kernels_poly1305_x86_64.poly1305_add_blocks_x8.
Proof.
  exact (groups_are_added convention_x86_64 pair_program pair_inputs pair_outputs 5 4 9 8 128 Poly1305Pairs.add_group_of_pairs
    _ _ _ _ _ eq_refl pair_shape pairs_are_added distinct_arguments four_arguments x8_checks x8_ends).
Qed.

(** ** The polynomial *)

(** A call and its return, with n groups of eight blocks. *)
Definition call_of (n : nat) (m : machine) : Prop :=
  called Kernels_poly1305_x86_64.poly1305_add_blocks_x8
    [(true, (gpr m rdi, 160)); (false, (gpr m rsi, 576)); (false, (gpr m rdx, 128 * Z.of_nat n))] m /\
  (forall r, 0 <= gpr m r < 2 ^ 64) /\ bytes_in_memory (mem m) /\ gpr m rcx = Z.of_nat n.

Definition return_of (m m' : machine) : Prop := exists k, run x86_64 k m = Some m' /\ returned m m'.

Lemma one_call n m : call_of n m -> exists m', return_of m m' /\ lanes_at 5 4 (mem m') (gpr m rdi) =
  fold_left (Poly1305Pairs.add_group_of_pairs (lanes_at 9 8 (mem m) (gpr m rsi)))
    (groups_at 128 (mem m) (gpr m rdx) n) (lanes_at 5 4 (mem m) (gpr m rdi)).
Proof.
  intros (C & R & B & N); destruct poly1305_add_blocks_x8_x86_64 as (accesses & H).
  destruct (H m n C R B N) as (_ & k & m' & RU & RT & E & _); exists m'; split; [exists k; split; assumption|].
  exact (lanes_after pair_program pair_inputs pair_outputs 5 4 9 8 128 Poly1305Pairs.add_group_of_pairs eq_refl pair_shape
    pairs_are_added (mem m) (mem m') (gpr m rdi) (gpr m rsi) (gpr m rdx) n B E).
Qed.

(** Two calls, for any number of groups and for one group more: from the sums of the second, the polynomial of all blocks. *)
Theorem poly1305_add_blocks_x8_polynomial : forall (r : list byte) (h : list Z) (n : nat) (m : machine),
  call_of n m -> Poly1305Lanes.below (2 ^ 27) h ->
  lanes_at 5 4 (mem m) (gpr m rdi) = Poly1305Lanes.start h ->
  lanes_at 9 8 (mem m) (gpr m rsi) = Poly1305Pairs.same_pairs (Poly1305.clamp r) ->
  exists m', return_of m m' /\ forall m2 : machine,
  call_of 1 m2 ->
  lanes_at 5 4 (mem m2) (gpr m2 rdi) = lanes_at 5 4 (mem m') (gpr m rdi) ->
  lanes_at 9 8 (mem m2) (gpr m2 rsi) = Poly1305Pairs.last_pairs (Poly1305.clamp r) ->
  exists m3, return_of m2 m3 /\
    Poly1305.limbs_number (Poly1305Limbs.reduce_limbs (Poly1305Limbs.carry_limbs (Poly1305Limbs.sum_lanes
      (lanes_at 5 4 (mem m3) (gpr m2 rdi))))) =
    fold_left (Poly1305.add_block r)
      (Poly1305.blocks (concat (groups_at 128 (mem m) (gpr m rdx) n) ++ read (mem m2) (gpr m2 rdx) 128))
      (Poly1305.limbs_number h).
Proof.
  intros r h n m C H S U; destruct (one_call n m C) as (m' & R & E); exists m'; split; [exact R|].
  intros m2 C2 S2 U2; destruct (one_call 1 m2 C2) as (m3 & R3 & E3); exists m3; split; [exact R3|].
  rewrite E3, S2, E, S, U, U2; pose proof (proj1 (proj2 (proj2 C))) as B; pose proof (proj1 (proj2 (proj2 C2))) as B2.
  rewrite <- (Poly1305Pairs.pairs_are_the_polynomial r h (groups_at 128 (mem m) (gpr m rdx) n) (read (mem m2) (gpr m2 rdx) 128) H
    (groups_are_whole _ _ _ _ B)) by (split; [apply read_length|apply read_small, B2]).
  unfold Poly1305Pairs.two_calls_of_pairs; do 4 f_equal; unfold groups_at; cbn [seq map fold_left]; f_equal.
  f_equal; lia.
Qed.
