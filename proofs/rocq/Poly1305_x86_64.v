(** * Poly1305_x86_64: the machine code of the kernel of Poly1305 for AVX2 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Call ChaChaKernels Loop LanePrograms Poly1305Rows Poly1305Kernels
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
