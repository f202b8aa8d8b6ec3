(** * Poly1305_x16_x86_64: the machine code of the kernel of Poly1305 for AVX-512 IFMA *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Checker Call ChaChaRows ChaChaKernels Loop LanePrograms Poly1305Rows
  Poly1305Kernels44 X86_64 Call_x86_64.
From Veriplex Require Poly1305 Poly1305Limbs Poly1305Lanes44 Kernels_poly1305_x16_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** ** The call

    The kernel leaves the upper three of the 32 vector registers alone. *)
Definition abi_x16 : abi :=
  Abi x86_64 16 32 64 [rdi; rsi; rdx; rcx; r8] [rbx; rsp; rbp; 12; 13; 14; 15]%nat [29; 30; 31]%nat (seq 0 29) ret 1.

Record returned_x16 (m m' : machine) : Prop := Returned_x16 {
  x16_returned : returned m m';
  x16_cleared : Forall (fun r => vec m' r = zero 64) (seq 16 13);
  x16_kept : Forall (fun r => vec m' r = vec m r) (seq 29 3)
}.

Lemma return_step_x16 code_ buffers m m' : ends_in_return abi_x16 code_ -> called code_ buffers m ->
  at_return abi_x16 code_ m m' -> same_outside buffers (mem m) (mem m') ->
  exists m'', step x86_64 m' = Some m'' /\ returned_x16 m m'' /\ mem m'' = mem m' /\
    trace m'' = last_accesses_x86_64 (gpr m rsp) (pc m + last_at abi_x16 code_) ++ trace m'.
Proof.
  intros E C [PC SV KT CL] FR; cbn [abi_x16 Call.cleared kept] in CL, KT.
  assert (LESS : at_return abi_x86_64 code_ m m').
  { constructor; [exact PC|exact SV|intros r []|]; intros r J; apply CL; cbn [abi_x86_64 Call.cleared] in J.
    rewrite in_seq in *; lia. }
  destruct (return_whole _ _ _ _ E C LESS FR) as (m2 & S & RT & VE & ME & TR).
  exists m2; split; [exact S|]; split; [|split; [exact ME|exact TR]]; constructor; [exact RT| |];
    apply Forall_forall; intros r J; rewrite VE; [apply CL|apply KT; cbn [In] in *]; [rewrite in_seq in *; lia|].
  apply in_seq in J; lia.
Qed.

Lemma called_valid_x16 code_ buffers m : called code_ buffers m -> valid abi_x16 code_ [return_address m] buffers m.
Proof. intros [C V R P]; constructor; [exact C|apply le_n|exact V|exact R|exact P]. Qed.

Definition convention_x16 : convention :=
  Convention abi_x16 called returned_x16 (fun m => [return_address m]) (fun m => gpr m rsp) last_accesses_x86_64
    called_valid_x16 last_touches_x86_64 return_step_x16.

(** ** The kernel

    Its bytes, where the test of the counter is, and what the vector registers have there: the limbs of the sums; the low
    44 and the low 42 bits of each word, and 2^40; and the multipliers, those of the first eight blocks of a group before
    the others. *)
Definition multipliers_in (from register k : nat) : nat * list (nat * nat) :=
  ((register + k)%nat, map (fun j => (0, 128 * k + from + j)%nat) (seq 0 64)).

Definition x16_kernel : kernel :=
  kernel_of convention_x16 3 8 5 16 256 Kernels_poly1305_x16_x86_64.poly1305_add_blocks_x16 0x2b4
    (map (fun k => (k, seq (4 * k) 4)) (seq 0 3))
    [(3%nat, in_lanes 8 (repeat 0xfffffffffff%N 8)); (4%nat, in_lanes 8 (repeat 0x3ffffffffff%N 8));
     (5%nat, in_lanes 8 (repeat 0x10000000000%N 8))]
    (map (multipliers_in 0 6) (seq 0 5) ++ map (multipliers_in 64 11) (seq 0 5)).

Lemma x16_checks : checks abi_x16 x16_kernel (adding two_program all_inputs all_outputs 3 8) = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma x16_ends : ends_in_return abi_x16 Kernels_poly1305_x16_x86_64.poly1305_add_blocks_x16.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The theorem *)

Opaque Poly1305Lanes44.add_group44 read Kernels_poly1305_x16_x86_64.poly1305_add_blocks_x16.

(** What holds when the kernel returns: about its accesses and the sums. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (sums : list (list Z)) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run x86_64 k m = Some m' /\ returned_x16 m m' /\
    read (mem m') (gpr m rdi) 192 = rows_of 3 sums /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers ->
      mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** n groups of sixteen blocks are added to the eight sums: limbs of 44, 44 and 42 bits, a lane has two blocks of each group
    and a multiplier for either. *)
Definition adds_groups (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let sums := gpr m rdi in let multipliers := gpr m rsi in let input := gpr m rdx in
  let buffers := [(true, (sums, 192)); (false, (multipliers, 640)); (false, (input, 256 * Z.of_nat n))] in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rcx = Z.of_nat n ->
  ends code buffers (accesses (pc m) (gpr m rsp) sums multipliers input n) m
    (fold_left (Poly1305Lanes44.add_group44 (lanes_at 5 16 (mem m) multipliers))
      (groups_at 256 (mem m) input n) (lanes_at 3 8 (mem m) sums)).

Theorem poly1305_add_blocks_x16_x86_64 : adds_groups Kernels_poly1305_x16_x86_64.poly1305_add_blocks_x16.
Proof.
  exact (groups_are_added convention_x16 two_program all_inputs all_outputs 3 8 5 16 256 Poly1305Lanes44.add_group44
    _ _ _ _ _ eq_refl two_shape two_are_added distinct_arguments four_arguments x16_checks x16_ends).
Qed.

(** ** The polynomial *)

(** A call and its return, with n groups of sixteen blocks. *)
Definition call_of (n : nat) (m : machine) : Prop :=
  called Kernels_poly1305_x16_x86_64.poly1305_add_blocks_x16
    [(true, (gpr m rdi, 192)); (false, (gpr m rsi, 640)); (false, (gpr m rdx, 256 * Z.of_nat n))] m /\
  (forall r, 0 <= gpr m r < 2 ^ 64) /\ bytes_in_memory (mem m) /\ gpr m rcx = Z.of_nat n.

Definition return_of (m m' : machine) : Prop := exists k, run x86_64 k m = Some m' /\ returned_x16 m m'.

Lemma one_call n m : call_of n m -> exists m', return_of m m' /\ lanes_at 3 8 (mem m') (gpr m rdi) =
  fold_left (Poly1305Lanes44.add_group44 (lanes_at 5 16 (mem m) (gpr m rsi)))
    (groups_at 256 (mem m) (gpr m rdx) n) (lanes_at 3 8 (mem m) (gpr m rdi)).
Proof.
  intros (C & R & B & N); destruct poly1305_add_blocks_x16_x86_64 as (accesses & H).
  destruct (H m n C R B N) as (_ & k & m' & RU & RT & E & _); exists m'; split; [exists k; split; assumption|].
  exact (lanes_after two_program all_inputs all_outputs 3 8 5 16 256 Poly1305Lanes44.add_group44 eq_refl two_shape
    two_are_added (mem m) (mem m') (gpr m rdi) (gpr m rsi) (gpr m rdx) n B E).
Qed.

(** Two calls, for any number of groups and for one group more: from the sums of the second, the polynomial of all blocks. *)
Theorem poly1305_add_blocks_x16_polynomial : forall (r : list byte) (h : list Z) (n : nat) (m : machine),
  call_of n m -> Poly1305Lanes44.below3 (2 ^ 45) h ->
  lanes_at 3 8 (mem m) (gpr m rdi) = Poly1305Lanes44.start44 h ->
  lanes_at 5 16 (mem m) (gpr m rsi) = Poly1305Lanes44.same_multipliers44 (Poly1305.clamp r) ->
  exists m', return_of m m' /\ forall m2 : machine,
  call_of 1 m2 ->
  lanes_at 3 8 (mem m2) (gpr m2 rdi) = lanes_at 3 8 (mem m') (gpr m rdi) ->
  lanes_at 5 16 (mem m2) (gpr m2 rsi) = Poly1305Lanes44.last_multipliers44 (Poly1305.clamp r) ->
  exists m3, return_of m2 m3 /\
    Poly1305.limbs_number44 (Poly1305Limbs.reduce_limbs44 (Poly1305Limbs.carry_limbs44 (Poly1305Limbs.sum_lanes44
      (lanes_at 3 8 (mem m3) (gpr m2 rdi))))) =
    fold_left (Poly1305.add_block r)
      (Poly1305.blocks (concat (groups_at 256 (mem m) (gpr m rdx) n) ++ read (mem m2) (gpr m2 rdx) 256))
      (Poly1305.limbs_number44 h).
Proof.
  intros r h n m C H S U; destruct (one_call n m C) as (m' & R & E); exists m'; split; [exact R|].
  intros m2 C2 S2 U2; destruct (one_call 1 m2 C2) as (m3 & R3 & E3); exists m3; split; [exact R3|].
  rewrite E3, S2, E, S, U, U2; pose proof (proj1 (proj2 (proj2 C))) as B; pose proof (proj1 (proj2 (proj2 C2))) as B2.
  rewrite <- (Poly1305Lanes44.lanes44_are_the_polynomial r h (groups_at 256 (mem m) (gpr m rdx) n)
    (read (mem m2) (gpr m2 rdx) 256) H (groups_are_whole _ _ _ _ B)) by (split; [apply read_length|apply read_small, B2]).
  unfold Poly1305Lanes44.two_calls44; do 4 f_equal; unfold groups_at; cbn [seq map fold_left]; f_equal.
  f_equal; lia.
Qed.
