(** * Poly1305_aarch64: the machine code of the kernel of Poly1305 for ARMv8 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Call ChaChaRows ChaChaKernels Loop LanePrograms LaneGroups Poly1305Rows
  Poly1305Quads AArch64 Call_aarch64.
From Veriplex Require Poly1305 Poly1305Limbs Poly1305Lanes Kernels_poly1305_aarch64.
Import ListNotations.
Local Open Scope Z_scope.

Section Width.
Variable width : nat.

(** The bytes, where the test of the counter is, and what the vector registers have there: the limbs of the sums, two lanes
    in each; and the low halves of the multipliers' limbs, in the order of the blocks. *)
Definition x4_kernel : kernel :=
  kernel_in_order (convention_aarch64 width) 5 4 9 4 64 quad_place Kernels_poly1305_aarch64.poly1305_add_blocks_x4 0x244
    (map (fun i => (nth i [0; 1; 2; 3; 4; 5; 6; 7; 16; 17] 0, [i])%nat) (seq 0 10)) []
    (map (fun k => ((18 + k)%nat, flat_map (fun l => map (fun j => (0, 32 * k + 8 * l + j)%nat) (seq 0 4)) order)) (seq 0 9)).

Definition adding_quads : operation := running quad_program quad_inputs quad_results.

Lemma x4_checks : checks (abi_aarch64 width) x4_kernel adding_quads = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma x4_ends : ends_in_return (abi_aarch64 width) Kernels_poly1305_aarch64.poly1305_add_blocks_x4.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorem *)

Opaque Poly1305Lanes.add_group read Kernels_poly1305_aarch64.poly1305_add_blocks_x4.

(** What holds when the kernel returns: about its accesses and the sums. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (sums : list (list Z)) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run (aarch64 width) k m = Some m' /\ returned width m m' /\
    read (mem m') (gpr m 0) 160 = rows_of 5 sums /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers ->
      mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** n groups of four blocks are added to the four sums: limbs of 26 bits, a lane has one block of each group. *)
Definition adds_quads (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let sums := gpr m 0 in let multipliers := gpr m 1 in let input := gpr m 2 in
  let buffers := [(true, (sums, 160)); (false, (multipliers, 288)); (false, (input, 64 * Z.of_nat n))] in
  called width code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m 3 = Z.of_nat n ->
  ends code buffers (accesses (pc m) sums multipliers input n) m
    (fold_left (Poly1305Lanes.add_group (lanes_at 9 4 (mem m) multipliers))
      (groups_at 64 (mem m) input n) (lanes_at 5 4 (mem m) sums)).

Theorem poly1305_add_blocks_x4_aarch64 : adds_quads Kernels_poly1305_aarch64.poly1305_add_blocks_x4.
Proof.
  destruct (groups_are_added_in_order (convention_aarch64 width) adding_quads 5 4 9 4 64 quad_place Poly1305Lanes.add_group
    _ _ _ _ _ quad_places (fun s => eq_refl) quads_are_added distinct_arguments four_arguments x4_checks x4_ends)
    as (accesses & H).
  exists (fun at_ => accesses at_ 0); exact H.
Qed.

(** ** The polynomial *)

(** A call and its return, with n groups of four blocks. *)
Definition call_of (n : nat) (m : machine) : Prop :=
  called width Kernels_poly1305_aarch64.poly1305_add_blocks_x4
    [(true, (gpr m 0, 160)); (false, (gpr m 1, 288)); (false, (gpr m 2, 64 * Z.of_nat n))] m /\
  (forall r, 0 <= gpr m r < 2 ^ 64) /\ bytes_in_memory (mem m) /\ gpr m 3 = Z.of_nat n.

Definition return_of (m m' : machine) : Prop := exists k, run (aarch64 width) k m = Some m' /\ returned width m m'.

Lemma one_call n m : call_of n m -> exists m', return_of m m' /\ lanes_at 5 4 (mem m') (gpr m 0%nat) =
  fold_left (Poly1305Lanes.add_group (lanes_at 9 4 (mem m) (gpr m 1%nat)))
    (groups_at 64 (mem m) (gpr m 2%nat) n) (lanes_at 5 4 (mem m) (gpr m 0%nat)).
Proof.
  intros (C & R & B & N); destruct poly1305_add_blocks_x4_aarch64 as (accesses & H).
  destruct (H m n C R B N) as (_ & k & m' & RU & RT & E & _); exists m'; split; [exists k; split; assumption|].
  exact (lanes_after_order adding_quads 5 4 9 4 64 quad_place Poly1305Lanes.add_group quad_places quads_are_added
    (mem m) (mem m') (gpr m 0%nat) (gpr m 1%nat) (gpr m 2%nat) n B E).
Qed.

(** Two calls, for any number of groups and for one group more: from the sums of the second, the polynomial of all blocks. *)
Theorem poly1305_add_blocks_x4_polynomial : forall (r : list byte) (h : list Z) (n : nat) (m : machine),
  call_of n m -> Poly1305Lanes.below (2 ^ 27) h ->
  lanes_at 5 4 (mem m) (gpr m 0%nat) = Poly1305Lanes.start h ->
  lanes_at 9 4 (mem m) (gpr m 1%nat) = Poly1305Lanes.same_multipliers (Poly1305.clamp r) ->
  exists m', return_of m m' /\ forall m2 : machine,
  call_of 1 m2 ->
  lanes_at 5 4 (mem m2) (gpr m2 0%nat) = lanes_at 5 4 (mem m') (gpr m 0%nat) ->
  lanes_at 9 4 (mem m2) (gpr m2 1%nat) = Poly1305Lanes.last_multipliers (Poly1305.clamp r) ->
  exists m3, return_of m2 m3 /\
    Poly1305.limbs_number (Poly1305Limbs.reduce_limbs (Poly1305Limbs.carry_limbs (Poly1305Limbs.sum_lanes
      (lanes_at 5 4 (mem m3) (gpr m2 0%nat))))) =
    fold_left (Poly1305.add_block r)
      (Poly1305.blocks (concat (groups_at 64 (mem m) (gpr m 2%nat) n) ++ read (mem m2) (gpr m2 2%nat) 64))
      (Poly1305.limbs_number h).
Proof.
  intros r h n m C H S U; destruct (one_call n m C) as (m' & R & E); exists m'; split; [exact R|].
  intros m2 C2 S2 U2; destruct (one_call 1 m2 C2) as (m3 & R3 & E3); exists m3; split; [exact R3|].
  rewrite E3, S2, E, S, U, U2; pose proof (proj1 (proj2 (proj2 C))) as B; pose proof (proj1 (proj2 (proj2 C2))) as B2.
  rewrite <- (Poly1305Lanes.lanes_are_the_polynomial r h (groups_at 64 (mem m) (gpr m 2%nat) n) (read (mem m2) (gpr m2 2%nat) 64) H
    (groups_are_whole _ _ _ _ B)) by (split; [apply read_length|apply read_small, B2]).
  unfold Poly1305Lanes.two_calls; do 4 f_equal; unfold groups_at; cbn [seq map fold_left]; f_equal.
  f_equal; lia.
Qed.
End Width.
