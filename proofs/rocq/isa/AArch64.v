(** * AArch64: the instructions of the kernels

    The forms that occur in the kernels, and no others, as in the "Arm Architecture Reference Manual for A-profile
    architecture" (DDI 0487), chapters C6.2 and C7.2.  Names are those of spec/cryptol/isa/AArch64.cry.

    A general register has its number.  The forms here do not use number 31, which is the stack pointer in some forms
    and zero in others.  Vector registers have [width] bytes: 16, or more on a CPU with SVE, where a write to a vector
    register zeroes the bytes above 16.  None of the forms reads or writes a flag.  Data is little-endian, and operands
    in memory need no alignment. *)

From Coq Require Import List Bool NArith ZArith.
From Veriplex Require Import AES Simpira1024 Arx Machine.
Import ListNotations.

(** ** What the instructions do *)

Definition vector (r : nat) (x : bytes) : list effect := [Set_vec r x false].

(** The key is added first. *)
Definition aese d n := vector d (Sub_shift (Xor (Vec d 16) (Vec n 16))).
Definition aesmc d n := vector d (Mix (Vec n 16)).
Definition eor d n m := vector d (Xor (Vec n 16) (Vec m 16)).
Definition and_16b d n m := vector d (And_bytes (Vec n 16) (Vec m 16)).
Definition bic d n m := vector d (And_bytes (Vec n 16) (Xor (Vec m 16) (Bytes (ones 16)))).
Definition ext d n m index := vector d (Slice index 16 (Append (Vec n 16) (Vec m 16))).

(** ORR with one register twice. *)
Definition mov d n := vector d (Vec n 16).

(** Lanes of 32 bits, and of 64. *)
Definition add_4s d n m := vector d (Plus 4 (Vec n 16) (Vec m 16)).
Definition add_2d d n m := vector d (Plus 8 (Vec n 16) (Vec m 16)).

(** Products of two lanes of 32 bits, added to lanes of 64. *)
Definition umlal_2d d n m := vector d (Plus 8 (Vec d 16) (Times 4 (Vec n 8) (Vec m 8))).
Definition upper (r : nat) : bytes := Slice 8 8 (Vec r 16).
Definition umlal2_2d d n m := vector d (Plus 8 (Vec d 16) (Times 4 (upper n) (upper m))).
Definition umull_2d d n m := vector d (Times 4 (Vec n 8) (Vec m 8)).
Definition umull2_2d d n m := vector d (Times 4 (upper n) (upper m)).
Definition shl_2d d n shift := vector d (Shift_left 8 shift (Vec n 16)).
Definition ushr_2d d n shift := vector d (Shift_right 8 shift (Vec n 16)).
Definition usra_2d d n shift := vector d (Plus 8 (Vec d 16) (Shift_right 8 shift (Vec n 16))).
Definition shl_4s d n shift := vector d (Shift_left 4 shift (Vec n 16)).

(** The lanes of the second, shifted, below the upper bits of the first, which stay. *)
Definition sri_4s d n shift :=
  vector d (Xor (Shift_right 4 shift (Vec n 16)) (Shift_left 4 (32 - shift) (Shift_right 4 (32 - shift) (Vec d 16)))).

(** Words with even numbers of both, first those of the first; or in turn. *)
Definition word_of (r i : nat) : bytes := Slice (4 * i) 4 (Vec r 16).
Definition four_words (a b c d : bytes) : bytes := Append a (Append b (Append c d)).
Definition uzp1_4s d n m := vector d (four_words (word_of n 0) (word_of n 2) (word_of m 0) (word_of m 2)).
Definition trn1_4s d n m := vector d (four_words (word_of n 0) (word_of m 0) (word_of n 2) (word_of m 2)).

(** The lower or the upper halves of both. *)
Definition zip1_2d d n m := vector d (Append (Vec n 8) (Vec m 8)).
Definition zip2_2d d n m := vector d (Append (upper n) (upper m)).

(** What a constant has in each word is cleared. *)
Definition bic_4s d (imm8 amount : N) :=
  vector d (And_bytes (Vec d 16) (Bytes (xor (ones 16) (concat (repeat (little_endian 4 (imm8 * 2 ^ amount)) 4))))).

(** Each bit stands for eight. *)
Definition movi_2d d (imm8 : N) :=
  let lane := map (fun i => if N.testbit imm8 (N.of_nat i) then 0xff else 0)%N (seq 0 8) in
  vector d (Bytes (lane ++ lane)).

Definition movi_8h d (imm8 amount : N) := vector d (Bytes (concat (repeat (little_endian 2 (imm8 * 2 ^ amount)) 8))).

(** Two values, or one: first at the address, then 16 bytes on. *)
Definition ldp t1 t2 n imm := vector t1 (Load (Address n None imm) 16) ++ vector t2 (Load (Address n None (imm + 16)) 16).
Definition ldur t n imm := vector t (Load (Address n None imm) 16).
Definition stp t1 t2 n imm := [Store (Address n None imm) (Vec t1 16); Store (Address n None (imm + 16)) (Vec t2 16)].
Definition stur t n imm := [Store (Address n None imm) (Vec t 16)].

(** The same with general registers, 8 bytes each. *)
Definition ldp_x t1 t2 n imm := [Load_gpr t1 (Address n None imm); Load_gpr t2 (Address n None (imm + 8))].

(** Four registers in a row, of which each has one word of each 16 bytes. *)
Definition ld4_4s t n :=
  flat_map (fun i =>
    let word j := Load (Address n None (Z.of_nat (16 * j + 4 * i))) 4 in
    vector (Nat.modulo (t + i) 32) (four_words (word 0) (word 1) (word 2) (word 3))) (seq 0 4).

Definition add d n imm := [Set_gpr d (Add (Gpr n) (Imm imm))].
Definition sub d n imm := [Set_gpr d (Sub (Gpr n) (Imm imm))].

(** Offsets of branches are relative to the instruction, those of Machine.v to its end. *)
Definition cbnz t offset := [Branch (Not (Equal (Gpr t) (Imm 0))) (offset - 4)%Z].
Definition b offset := [Branch (Equal (Imm 0) (Imm 0)) (offset - 4)%Z].
Definition ret := [Jump 30].

(** ** Words of 32 bits *)

Local Open Scope N_scope.

Definition register (word low : N) : nat := N.to_nat (field word low 5).

Definition signed (word low bits : N) : Z := twos_complement (Z.of_N bits) (Z.of_N (field word low bits)).

Definition unsigned (word low bits : N) : Z := Z.of_N (field word low bits).

(** For forms in which number 31 is not a register. *)
Definition if_general (registers : list nat) (effects : list effect) : option (list effect) :=
  if forallb (fun r => (r <? 31)%nat) registers then Some effects else None.

(** Each form: the bits that are not operands, their values, and the effects. *)
Definition forms : list (N * N * (N -> option (list effect))) :=
  let d w := register w 0 in let n w := register w 5 in let t2 w := register w 10 in let m w := register w 16 in
  [ (0xfffffc00, 0x4e284800, fun w => Some (aese (d w) (n w)));
    (0xfffffc00, 0x4e286800, fun w => Some (aesmc (d w) (n w)));
    (0xffe0fc00, 0x6e201c00, fun w => Some (eor (d w) (n w) (m w)));
    (0xffe0fc00, 0x4e201c00, fun w => Some (and_16b (d w) (n w) (m w)));
    (0xffe0fc00, 0x4e601c00, fun w => Some (bic (d w) (n w) (m w)));
    (0xffe0fc00, 0x4ea01c00, fun w => if (n w =? m w)%nat then Some (mov (d w) (n w)) else None);
    (0xffe0fc00, 0x4ea08400, fun w => Some (add_4s (d w) (n w) (m w)));
    (0xffe0fc00, 0x4ee08400, fun w => Some (add_2d (d w) (n w) (m w)));
    (0xffe0fc00, 0x2ea08000, fun w => Some (umlal_2d (d w) (n w) (m w)));
    (0xffe0fc00, 0x6ea08000, fun w => Some (umlal2_2d (d w) (n w) (m w)));
    (0xffe0fc00, 0x2ea0c000, fun w => Some (umull_2d (d w) (n w) (m w)));
    (0xffe0fc00, 0x6ea0c000, fun w => Some (umull2_2d (d w) (n w) (m w)));
    (0xffe0fc00, 0x4e801800, fun w => Some (uzp1_4s (d w) (n w) (m w)));
    (0xffe0fc00, 0x4e802800, fun w => Some (trn1_4s (d w) (n w) (m w)));
    (0xffe0fc00, 0x4ec03800, fun w => Some (zip1_2d (d w) (n w) (m w)));
    (0xffe0fc00, 0x4ec07800, fun w => Some (zip2_2d (d w) (n w) (m w)));
    (0xffc0fc00, 0x4f405400, fun w => Some (shl_2d (d w) (n w) (N.to_nat (field w 16 6))));
    (0xffc0fc00, 0x6f400400, fun w => Some (ushr_2d (d w) (n w) (64 - N.to_nat (field w 16 6))));
    (0xffc0fc00, 0x6f401400, fun w => Some (usra_2d (d w) (n w) (64 - N.to_nat (field w 16 6))));
    (0xfff89c00, 0x6f001400, fun w => Some (bic_4s (d w) (32 * field w 16 3 + field w 5 5) (8 * field w 13 2)));
    (0xfffffc00, 0x4c400800, fun w => if_general [n w] (ld4_4s (d w) (n w)));
    (0xffe0fc00, 0x4f205400, fun w => Some (shl_4s (d w) (n w) (N.to_nat (field w 16 5))));
    (0xffe0fc00, 0x6f204400, fun w => Some (sri_4s (d w) (n w) (32 - N.to_nat (field w 16 5))));
    (0xffe08400, 0x6e000000, fun w => Some (ext (d w) (n w) (m w) (N.to_nat (field w 11 4))));
    (0xfff8fc00, 0x6f00e400, fun w => Some (movi_2d (d w) (32 * field w 16 3 + field w 5 5)));
    (0xfff8dc00, 0x4f008400, fun w => Some (movi_8h (d w) (32 * field w 16 3 + field w 5 5) (8 * field w 13 1)));
    (0xffc00000, 0xad400000, fun w =>
      (* the architecture does not say what a load of two values into one register does *)
      if (d w =? t2 w)%nat then None else if_general [n w] (ldp (d w) (t2 w) (n w) (16 * signed w 15 7)));
    (0xffc00000, 0xa9400000, fun w =>
      (* the first must not be the address of the second *)
      if (d w =? t2 w)%nat || (d w =? n w)%nat then None
      else if_general [d w; t2 w; n w] (ldp_x (d w) (t2 w) (n w) (8 * signed w 15 7)));
    (0xffc00000, 0xad000000, fun w => if_general [n w] (stp (d w) (t2 w) (n w) (16 * signed w 15 7)));
    (0xffe00c00, 0x3cc00000, fun w => if_general [n w] (ldur (d w) (n w) (signed w 12 9)));
    (0xffe00c00, 0x3c800000, fun w => if_general [n w] (stur (d w) (n w) (signed w 12 9)));
    (0xffc00000, 0x91000000, fun w => if_general [d w; n w] (add (d w) (n w) (unsigned w 10 12)));
    (0xffc00000, 0xd1000000, fun w => if_general [d w; n w] (sub (d w) (n w) (unsigned w 10 12)));
    (0xff000000, 0xb5000000, fun w => if_general [d w] (cbnz (d w) (4 * signed w 5 19)));
    (0xfc000000, 0x14000000, fun w => Some (b (4 * signed w 0 26)));
    (0xffffffff, 0xd65f03c0, fun w => Some ret) ].

Fixpoint first_form (word : N) (fs : list (N * N * (N -> option (list effect)))) : option (list effect) :=
  match fs with
  | [] => None
  | (mask, bits, effects) :: fs => if N.land word mask =? bits then effects word else first_form word fs
  end.

(** The instruction that consists of exactly these bytes. *)
Definition instruction (x : list byte) : option (list effect) :=
  match x with
  | [b0; b1; b2; b3] => first_form (b0 + 2 ^ 8 * b1 + 2 ^ 16 * b2 + 2 ^ 24 * b3) forms
  | _ => None
  end.

Definition aarch64 (width : nat) : isa := Isa [4%nat] instruction width.
