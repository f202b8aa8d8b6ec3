(** * Xoofff_x86_64: the machine code of the kernels of Xoofff for x86-64 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Call ChaChaRows ChaChaKernels Loop XoodooRounds XoodooRows XoofffKernels X86_64
  Call_x86_64.
From Veriplex Require Xoodoo Xoofff Kernels_xoofff_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** The bytes, and where the test of the counter is.  At the test the state is in memory. *)
Definition absorb_kernel : kernel :=
  kernel_of abi_x86_64 Kernels_xoofff_x86_64.xoofff_absorb_blocks_x4 0xeb6 true false constants_x4 4 96 [].
Definition squeeze_kernel : kernel :=
  kernel_of abi_x86_64 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x4 0xef8 true true constants_x4 4 96 [].

(** For eight states, with AVX2.  Squeezing has planes 2 and 3 of the output states in ymm15, too: pieces 5 and 6 of what it
    carries. *)
Definition absorb_x8_kernel : kernel :=
  kernel_of abi_x86_64 Kernels_xoofff_x86_64.xoofff_absorb_blocks_x8 0xf52 true false constants_x4 8 96 [].
Definition planes_ahead : list (nat * list nat) := [(15, [5; 6])]%nat.
Definition squeeze_x8_kernel : kernel :=
  kernel_of abi_x86_64 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x8 0xf8e true true constants_x4 8 112 planes_ahead.

Lemma absorb_checks : checks abi_x86_64 absorb_kernel (absorb_op true planes_x4 4) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_checks : checks abi_x86_64 squeeze_kernel (squeeze_op true planes_x4 4) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma absorb_x8_checks : checks abi_x86_64 absorb_x8_kernel (absorb_op true planes_x4 8) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_x8_checks : checks abi_x86_64 squeeze_x8_kernel (squeeze_ahead_op true planes_x4) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma absorb_ends : ends_in_return abi_x86_64 Kernels_xoofff_x86_64.xoofff_absorb_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma squeeze_ends : ends_in_return abi_x86_64 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

Lemma absorb_x8_ends : ends_in_return abi_x86_64 Kernels_xoofff_x86_64.xoofff_absorb_blocks_x8.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma squeeze_x8_ends : ends_in_return abi_x86_64 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x8.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorems *)

(** The crate's table is that of the theorems. *)
Theorem xoofff_table_is : Kernels_xoofff_x86_64.xoofff_constants_x4 = constants_x4.
Proof. vm_compute; reflexivity. Qed.

Opaque Xoofff.absorb_blocks Xoofff.squeeze_blocks read blocks deck_at constants_x4
  Kernels_xoofff_x86_64.xoofff_absorb_blocks_x4 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x4
  Kernels_xoofff_x86_64.xoofff_absorb_blocks_x8 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x8.

(** What holds when a kernel returns: about its buffers, its accesses, and memory. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (result : memory -> Prop) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run x86_64 k m = Some m' /\ returned m m' /\ result (mem m') /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** n groups of k blocks are absorbed. *)
Definition absorbs (k : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let deck := gpr m rdi in let input := gpr m rsi in let table := gpr m rcx in
  let buffers := [(true, (deck, 96)); (false, (table, 256)); (false, (input, Z.of_nat (48 * k) * Z.of_nat n))] in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rdx = Z.of_nat n -> read (mem m) table 256 = constants_x4 ->
  ends code buffers (accesses (pc m) (gpr m rsp) deck input table n) m (fun after =>
    deck_at after deck = Xoofff.absorb_blocks (deck_at (mem m) deck) (blocks (mem m) input (k * n))).

(** n groups of k blocks are squeezed. *)
Definition squeezes (k : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let states := gpr m rdi in let output := gpr m rsi in let table := gpr m rcx in
  let buffers := [(true, (states, 96)); (false, (table, 256)); (true, (output, Z.of_nat (48 * k) * Z.of_nat n))] in
  let mask := read (mem m) states 48 in
  let squeezed := Xoofff.squeeze_blocks mask (read (mem m) (states + 48) 48) (k * n) in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rdx = Z.of_nat n -> read (mem m) table 256 = constants_x4 ->
  ends code buffers (accesses (pc m) (gpr m rsp) states output table n) m (fun after =>
    read after states 48 = mask /\ read after (states + 48) 48 = fst squeezed /\ blocks after output (k * n) = snd squeezed).

Theorem xoofff_absorb_blocks_x4_x86_64 : absorbs 4 Kernels_xoofff_x86_64.xoofff_absorb_blocks_x4.
Proof.
  pose proof (absorb_sound convention_x86_64 true planes_x4 _ _ true constants_x4 4 96 [] distinct_arguments four_arguments
    eq_refl eq_refl four_states absorb_ends absorb_checks) as H.
  unfold absorbed, buffers_of in H; rewrite length_of_table in H; exact H.
Qed.

Theorem xoofff_squeeze_blocks_x4_x86_64 : squeezes 4 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x4.
Proof.
  pose proof (squeeze_sound convention_x86_64 true planes_x4 _ _ true constants_x4 4 96 [] distinct_arguments four_arguments
    eq_refl eq_refl four_states squeeze_ends squeeze_checks) as H.
  unfold squeezed_with, buffers_of in H; rewrite length_of_table in H; exact H.
Qed.

Theorem xoofff_absorb_blocks_x8_x86_64 : absorbs 8 Kernels_xoofff_x86_64.xoofff_absorb_blocks_x8.
Proof.
  pose proof (absorb_sound convention_x86_64 true planes_x4 _ _ true constants_x4 8 96 [] distinct_arguments four_arguments
    eq_refl eq_refl (Nat.le_refl 8) absorb_x8_ends absorb_x8_checks) as H.
  unfold absorbed, buffers_of in H; rewrite length_of_table in H; exact H.
Qed.

Theorem xoofff_squeeze_blocks_x8_x86_64 : squeezes 8 Kernels_xoofff_x86_64.xoofff_squeeze_blocks_x8.
Proof.
  pose proof (squeeze_ahead_sound convention_x86_64 true planes_x4 _ _ true constants_x4 8 112 planes_ahead distinct_arguments
    four_arguments eq_refl eq_refl (Nat.le_refl 8) squeeze_x8_ends eq_refl squeeze_x8_checks) as H.
  unfold squeezed_with, buffers_of in H; rewrite length_of_table in H; exact H.
Qed.
