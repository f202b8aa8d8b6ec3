(** * X86_64: the instructions of the kernels

    The forms that occur in the kernels, and no others, as in Intel's "64 and IA-32 Architectures
    Software Developer's Manual", volume 2.  Names are those of spec/cryptol/isa/X86_64.cry.

    Vector registers have 64 bytes.  VEX forms of 128 bits zero the bytes above 16; the legacy
    form (MOVQ) keeps them.  The forms here read only the flags CF and ZF, so the others are left
    out.  Operands in memory need no alignment in these forms. *)

From Coq Require Import List Bool NArith ZArith.
From Veriplex Require Import AES Simpira1024 Machine.
Import ListNotations.

(** ** Registers *)

Definition rax := 0. Definition rcx := 1. Definition rdx := 2. Definition rbx := 3.
Definition rsp := 4. Definition rbp := 5. Definition rsi := 6. Definition rdi := 7.
Definition r8 := 8.

(** ** What the instructions do *)

Inductive operand := Register (r : nat) | Memory (a : address).

Definition source (o : operand) : bytes :=
  match o with Register r => Vec r | Memory a => Load a 16 end.

Definition vector (r : nat) (x : bytes) : list effect := [Set_vec r x false].

Definition vmovdqu d s := vector d (source s).
Definition vmovdqu_to d s := match d with Register r => vector r (Vec s) | Memory a => [Store a (Vec s)] end.
Definition vpxor d x y := vector d (Xor (Vec x) (source y)).
Definition vpslldq d x k := vector d (Slice 0 16 (Append (Bytes (zero k)) (Vec x))).
Definition vpsrldq d x k := vector d (Slice k 16 (Append (Vec x) (Bytes (zero 16)))).
Definition vpalignr d x y k := vector d (Slice k 16 (Append (source y) (Vec x))).
Definition vaesenc d x key := vector d (Xor (Mix (Sub_shift (Vec x))) (source key)).
Definition movq d r := [Set_vec d (Append (Of_gpr r) (Bytes (zero 8))) true].

Definition movabs r z := [Set_gpr r (Imm z)].

(** The carry of an addition: the sum is below the addend. *)
Definition add r z :=
  let sum := Add (Gpr r) (Imm z) in [Set_carry (Below sum (Imm z)); Set_zero (Equal sum (Imm 0)); Set_gpr r sum].
Definition dec r := let d := Sub (Gpr r) (Imm 1) in [Set_zero (Equal d (Imm 0)); Set_gpr r d].
Definition cmp r z := [Set_carry (Below (Gpr r) (Imm z)); Set_zero (Equal (Gpr r) (Imm z))].
Definition jmp offset := [Branch (Equal (Imm 0) (Imm 0)) offset].
Definition ja offset := [Branch (And (Not Carry) (Not Zero_flag)) offset].
Definition ret := [Pop_jump rsp].

(** ** Bytes *)

Local Open Scope N_scope.

Definition unsigned (x : list byte) : Z := number_of x.

(** Two's complement. *)
Definition signed (x : list byte) : Z :=
  let z := number_of x in
  let bits := Z.of_nat (8 * length x) in
  if (z <? 2 ^ (bits - 1))%Z then z else (z - 2 ^ bits)%Z.

Definition field (b low bits : N) : N := b / 2 ^ low mod 2 ^ bits.

(** ModRM with its displacement: the operand in reg, the one in r/m, and what follows.  [r] and [b] are
    the fourth bits (REX.R and REX.B).  No SIB byte and no address relative to the instruction. *)
Definition modrm (r b : N) (x : list byte) : option (N * operand * list byte) :=
  match x with
  | [] => None
  | m :: x =>
      let reg := 8 * r + field m 3 3 in
      let rm := field m 0 3 in
      let at_ disp := Memory (Address (N.to_nat (8 * b + rm)) disp) in
      match field m 6 2 with
      | 3 => Some (reg, Register (N.to_nat (8 * b + rm)), x)
      | 0 => if (rm =? 4) || (rm =? 5) then None else Some (reg, at_ 0%Z, x)
      | 1 => match x with d :: x => if rm =? 4 then None else Some (reg, at_ (signed [d]), x) | _ => None end
      | _ => match x with
             | d0 :: d1 :: d2 :: d3 :: x =>
                 if rm =? 4 then None else Some (reg, at_ (signed [d0; d1; d2; d3]), x)
             | _ => None
             end
      end
  end.

(** What follows a VEX prefix of 128 bits with W = 0: [map] the opcode map, [pp] the implied prefix,
    [v] the register in vvvv. *)
Definition vex (map pp r b v : N) (x : list byte) : option (list effect) :=
  match x with
  | [] => None
  | opcode :: x =>
      match modrm r b x with
      | None => None
      | Some (reg, rm, x) =>
          let d := N.to_nat reg in
          let v' := N.to_nat v in
          match map, pp, opcode, x with
          | 1, 2, 0x6f, [] => if v =? 0 then Some (vmovdqu d rm) else None
          | 1, 2, 0x7f, [] => if v =? 0 then Some (vmovdqu_to rm d) else None
          | 1, 1, 0xef, [] => Some (vpxor d v' rm)
          | 2, 1, 0xdc, [] => Some (vaesenc d v' rm)
          | 3, 1, 0x0f, [k] => if k <=? 16 then Some (vpalignr d v' rm (N.to_nat k)) else None
          | 1, 1, 0x73, [k] =>
              match reg mod 8, rm with
              | 3, Register s => if (k <=? 16) && (r =? 0) then Some (vpsrldq v' s (N.to_nat k)) else None
              | 7, Register s => if (k <=? 16) && (r =? 0) then Some (vpslldq v' s (N.to_nat k)) else None
              | _, _ => None
              end
          | _, _, _, _ => None
          end
      end
  end.

(** After a REX prefix with W = 1. *)
Definition rex_w (r b : N) (x : list byte) : option (list effect) :=
  match x with
  | 0x83 :: x =>
      match modrm 0 b x with
      | Some (0, Register d, [z]) => if r =? 0 then Some (add d (signed [z])) else None
      | Some (7, Register d, [z]) => if r =? 0 then Some (cmp d (signed [z])) else None
      | _ => None
      end
  | 0xff :: x =>
      match modrm 0 b x with
      | Some (1, Register d, []) => if r =? 0 then Some (dec d) else None
      | _ => None
      end
  | [op; z0; z1; z2; z3; z4; z5; z6; z7] =>
      if (field op 3 5 =? 0x17) && (r =? 0)
      then Some (movabs (N.to_nat (8 * b + field op 0 3)) (unsigned [z0; z1; z2; z3; z4; z5; z6; z7])) else None
  | _ => None
  end.

(** The instruction that consists of exactly these bytes. *)
Definition instruction (x : list byte) : option (list effect) :=
  match x with
  | [0xc3] => Some ret
  | [0xe9; a; b; c; d] => Some (jmp (signed [a; b; c; d]))
  | [0x0f; 0x87; a; b; c; d] => Some (ja (signed [a; b; c; d]))
  | 0xc5 :: p :: x =>
      (* R vvvv L pp, the first five inverted *)
      if field p 2 1 =? 0 then vex 1 (field p 0 2) (1 - field p 7 1) 0 (15 - field p 3 4) x else None
  | 0xc4 :: p :: q :: x =>
      (* R X B map, then W vvvv L pp; R, X, B and vvvv inverted *)
      if (field p 6 1 =? 1) && (field q 7 1 =? 0) && (field q 2 1 =? 0)
      then vex (field p 0 5) (field q 0 2) (1 - field p 7 1) (1 - field p 5 1) (15 - field q 3 4) x else None
  | 0x66 :: rex :: 0x0f :: 0x6e :: x =>
      if (field rex 3 5 =? 9) && (field rex 1 1 =? 0) then
        match modrm (field rex 2 1) (field rex 0 1) x with
        | Some (d, Register s, []) => Some (movq (N.to_nat d) s)
        | _ => None
        end
      else None
  | rex :: x =>
      if (field rex 3 5 =? 9) && (field rex 1 1 =? 0) then rex_w (field rex 2 1) (field rex 0 1) x else None
  | _ => None
  end.

Definition x86_64 : isa := Isa (seq 1 15) instruction 64.
