(** * Xoofff_aarch64: the machine code of the kernels of Xoofff *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Call ChaChaRows ChaChaKernels Loop XoodooRounds XoodooRows XoofffKernels AArch64
  Call_aarch64.
From Veriplex Require Xoodoo Xoofff Kernels_xoofff_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.

(** The bytes, and where the test of the counter is.  At the test v23 to v25 have the first half of the state, v20 to v22
    the second. *)
Definition planes_in : list (nat * list nat) :=
  [(23, [0]); (24, [1]); (25, [2]); (20, [3]); (21, [4]); (22, [5])]%nat.

Definition absorb_kernel : kernel :=
  kernel_of (abi_aarch64 width) Kernels_xoofff_aarch64.xoofff_absorb_blocks_x4 0xb00 false false constants_x4 4 96 planes_in.
Definition squeeze_kernel : kernel :=
  kernel_of (abi_aarch64 width) Kernels_xoofff_aarch64.xoofff_squeeze_blocks_x4 0xb2c false true constants_x4 4 96 planes_in.

Lemma absorb_checks : checks (abi_aarch64 width) absorb_kernel (absorb_op false planes_x4 4) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_checks : checks (abi_aarch64 width) squeeze_kernel (squeeze_op false planes_x4 4) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma absorb_ends : ends_in_return (abi_aarch64 width) Kernels_xoofff_aarch64.xoofff_absorb_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma squeeze_ends : ends_in_return (abi_aarch64 width) Kernels_xoofff_aarch64.xoofff_squeeze_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

Opaque Xoofff.absorb_blocks Xoofff.squeeze_blocks read blocks deck_at constants_x4
  Kernels_xoofff_aarch64.xoofff_absorb_blocks_x4 Kernels_xoofff_aarch64.xoofff_squeeze_blocks_x4.

(** What holds when a kernel returns: about its buffers, its accesses, and memory. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (result : memory -> Prop) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\ result (mem m') /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** n groups of k blocks are absorbed. *)
Definition absorbs (k : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let deck := gpr m 0 in let input := gpr m 1 in let table := gpr m 3 in
  let buffers := [(true, (deck, 96)); (false, (table, 256)); (false, (input, Z.of_nat (48 * k) * Z.of_nat n))] in
  called width code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m 2 = Z.of_nat n -> read (mem m) table 256 = constants_x4 ->
  ends code buffers (accesses (pc m) deck input table n) m (fun after =>
    deck_at after deck = Xoofff.absorb_blocks (deck_at (mem m) deck) (blocks (mem m) input (k * n))).

(** n groups of k blocks are squeezed. *)
Definition squeezes (k : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let states := gpr m 0 in let output := gpr m 1 in let table := gpr m 3 in
  let buffers := [(true, (states, 96)); (false, (table, 256)); (true, (output, Z.of_nat (48 * k) * Z.of_nat n))] in
  let mask := read (mem m) states 48 in
  let squeezed := Xoofff.squeeze_blocks mask (read (mem m) (states + 48) 48) (k * n) in
  called width code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m 2 = Z.of_nat n -> read (mem m) table 256 = constants_x4 ->
  ends code buffers (accesses (pc m) states output table n) m (fun after =>
    read after states 48 = mask /\ read after (states + 48) 48 = fst squeezed /\ blocks after output (k * n) = snd squeezed).

Theorem xoofff_absorb_blocks_x4_aarch64 : absorbs 4 Kernels_xoofff_aarch64.xoofff_absorb_blocks_x4.
Proof.
  destruct (absorb_sound (convention_aarch64 width) false planes_x4 _ _ false constants_x4 4 96 planes_in distinct_arguments
    four_arguments eq_refl eq_refl four_states absorb_ends absorb_checks) as (accesses & H).
  unfold buffers_of in H; rewrite length_of_table in H; exists (fun at_ => accesses at_ 0); intros m n; exact (H m n).
Qed.

Theorem xoofff_squeeze_blocks_x4_aarch64 : squeezes 4 Kernels_xoofff_aarch64.xoofff_squeeze_blocks_x4.
Proof.
  destruct (squeeze_sound (convention_aarch64 width) false planes_x4 _ _ false constants_x4 4 96 planes_in distinct_arguments
    four_arguments eq_refl eq_refl four_states squeeze_ends squeeze_checks) as (accesses & H).
  unfold squeezed_with, buffers_of in H; rewrite length_of_table in H; exists (fun at_ => accesses at_ 0); intros m n; exact (H m n).
Qed.
End Width.
