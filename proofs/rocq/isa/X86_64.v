(** * X86_64: the instructions of the kernels

    The forms that occur in the kernels, and no others, as in Intel's "64 and IA-32 Architectures
    Software Developer's Manual", volume 2.  Names are those of spec/cryptol/isa/X86_64.cry.

    Vector registers have 64 bytes.  VEX and EVEX forms zero the bytes above their operands; the legacy
    form (MOVQ) keeps them.  The forms here read only the flags CF and ZF, so the others are left
    out.  Operands in memory need no alignment in these forms. *)

From Coq Require Import List Bool NArith ZArith.
From Veriplex Require Import AES Simpira1024 Arx Machine.
Import ListNotations.

(** ** Registers *)

Definition rax := 0. Definition rcx := 1. Definition rdx := 2. Definition rbx := 3.
Definition rsp := 4. Definition rbp := 5. Definition rsi := 6. Definition rdi := 7.
Definition r8 := 8.

(** ** What the instructions do *)

Inductive operand := Register (r : nat) | Memory (a : address).

(** Operands in vectors have [w] bytes: 16, 32 or 64. *)
Definition source (w : nat) (o : operand) : bytes :=
  match o with Register r => Vec r w | Memory a => Load a w end.

Definition vector (r : nat) (x : bytes) : list effect := [Set_vec r x false].

(** Most forms work on each 16 bytes separately. *)
Fixpoint joined (xs : list bytes) : bytes :=
  match xs with [] => Bytes [] | [x] => x | x :: xs => Append x (joined xs) end.
Definition piece (w r i : nat) : bytes := Slice (16 * i) 16 (Vec r w).
Definition pieces (w : nat) (f : nat -> bytes) : bytes := joined (map f (seq 0 (Nat.div w 16))).

Definition vmovdqu w d s := vector d (source w s).
Definition vmovdqu_to w d s := match d with Register r => vector r (Vec s w) | Memory a => [Store a (Vec s w)] end.
Definition vpxor w d x y := vector d (Xor (Vec x w) (source w y)).
Definition vpslldq w d x k := vector d (pieces w (fun i => Slice 0 16 (Append (Bytes (zero k)) (piece w x i)))).
Definition vpsrldq w d x k := vector d (pieces w (fun i => Slice k 16 (Append (piece w x i) (Bytes (zero 16))))).
Definition vpalignr_load d x a k := vector d (Slice k 16 (Append (Load a 16) (Vec x 16))).
Definition vpalignr w d x y k := vector d (pieces w (fun i => Slice k 16 (Append (piece w y i) (piece w x i)))).
Definition vaesenc w d x key := vector d (Xor (pieces w (fun i => Mix (Sub_shift (piece w x i)))) (source w key)).
Definition movq d r := [Set_vec d (Append (Of_gpr r) (Bytes (zero 8))) true].
Definition vmovq d r := vector d (Append (Of_gpr r) (Bytes (zero 8))).
Definition vzeroall := map (fun r => Set_vec r (Bytes (zero 16)) false) (seq 0 16).

(** 16 bytes from memory, which are read once, in each 16 bytes. *)
Definition vbroadcast w d a := vector d (Load a 16) ++ vector d (pieces w (fun _ => Vec d 16)).

(** Lanes of 32 bits, and of 64. *)
Definition vpaddd w d x y := vector d (Plus 4 (Vec x w) (source w y)).
Definition vpaddq w d x y := vector d (Plus 8 (Vec x w) (source w y)).

(** Products of the lower half of each 8 bytes. *)
Definition even_words (x : bytes) : bytes := Append (Slice 0 4 x) (Slice 8 4 x).
Definition vpmuludq w d x y :=
  vector d (pieces w (fun i => Times 4 (even_words (piece w x i)) (even_words (piece w y i)))).

(** The second source is in memory, and read once: both sources first go into the destination's full width. *)
Definition vpmuludq_load d x a :=
  vector d (Append (Vec x 32) (Load a 32)) ++
  vector d (pieces 32 (fun i => Times 4 (even_words (piece 64 d i)) (even_words (piece 64 d (2 + i))))).

(** Adds the lower or the upper 52 bits of the products of the lower 52 bits of each 8 bytes. *)
Definition vpmadd52 high d x y := vector d (Plus 8 (Vec d 64) (Times_52 high (Vec x 64) (source 64 y))).

(** By 32 bits. *)
Definition odd_words_alone (x : bytes) : bytes :=
  joined [Slice 4 4 x; Bytes (zero 4); Slice 12 4 x; Bytes (zero 4)].
Definition vpsrlq_32 w d x := vector d (pieces w (fun i => odd_words_alone (piece w x i))).

Definition vpsllq w d x k := vector d (Shift_left 8 k (Vec x w)).
Definition vpsrlq w d x k := vector d (Shift_right 8 k (Vec x w)).
Definition vpslld w d x k := vector d (Shift_left 4 k (Vec x w)).
Definition vpsrld w d x k := vector d (Shift_right 4 k (Vec x w)).
Definition vpor w d x y := vector d (Or (Vec x w) (source w y)).
Definition vpand w d x y := vector d (And_bytes (Vec x w) (source w y)).
Definition vpandn w d x y := vector d (And_bytes (Xor (Vec x w) (Bytes (ones w))) (source w y)).
Definition vpshufb w d x y := vector d (Shuffle (Vec x w) (source w y)).
Definition chosen_words k (x : bytes) : bytes :=
  joined (map (fun i => Slice (4 * Nat.modulo (Nat.div k (Nat.pow 4 i)) 4) 4 x) (seq 0 4)).
Definition vpshufd d x k := vector d (chosen_words k (source 16 x)).
Definition vpshufd_pieces w d x k := vector d (pieces w (fun i => chosen_words k (piece w x i))).
Definition vpunpcklqdq d x y := vector d (Append (Slice 0 8 (Vec x 16)) (Slice 0 8 (source 16 y))).

(** Lanes of both sources in turn, from the lower or the upper half of each 16 bytes. *)
Definition in_turn (lane : nat) (high : bool) (x y : bytes) : bytes :=
  let lane_of i z := Slice ((if high then 8 else 0) + lane * i) lane z in
  joined (flat_map (fun i => [lane_of i x; lane_of i y]) (seq 0 (Nat.div 8 lane))).
Definition vpunpck lane high w d x y := vector d (pieces w (fun i => in_turn lane high (piece w x i) (piece w y i))).

(** Lanes of 32 bits rotate left. *)
Definition vprold d x k := vector d (Or (Shift_left 4 k (Vec x 64)) (Shift_right 4 (32 - k) (Vec x 64))).

(** 4 bytes from memory, which are read once, in each lane. *)
Definition vpbroadcastd d a := vector d (Load a 4) ++ vector d (joined (repeat (Vec d 4) 16)).

(** The upper half of 32 or 64 bytes. *)
Definition vinsert_1 w d x y := vector d (Append (Vec x w) (source w y)).
Definition vextracti128_1 a s := [Store a (Slice 16 16 (Vec s 32))].

(** The upper half of the first source, and the lower half of the second. *)
Definition vperm2i128_33 d x y := vector d (Append (Slice 16 16 (Vec x 32)) (Vec y 16)).

(** The lower or the upper halves of both. *)
Definition vperm2i128_low d x y := vector d (Append (Vec x 16) (Vec y 16)).
Definition vperm2i128_high d x y := vector d (Append (Slice 16 16 (Vec x 32)) (Slice 16 16 (Vec y 32))).

(** Two pieces of the first source, then two of the second. *)
Definition vshufi64x2 d x y k :=
  let n i := Nat.modulo (Nat.div k (Nat.pow 4 i)) 4 in
  vector d (joined [piece 64 x (n 0); piece 64 x (n 1); piece 64 y (n 2); piece 64 y (n 3)]).
Definition vpternlogq_xor d x y := vector d (Xor (Xor (Vec d 64) (Vec x 64)) (source 64 y)).
Definition vpternlogq_xor_and d x y := vector d (Xor (Vec d 64) (And_bytes (Vec x 64) (Vec y 64))).
Definition vpternlogq_xor_andn d x y :=
  vector d (Xor (Vec d 64) (And_bytes (Xor (Vec x 64) (Bytes (ones 64))) (Vec y 64))).

(** Words of 32 bits of both sources in a row, the second one first, from word k on. *)
Definition valignd d x y k := vector d (Slice (4 * k) 64 (Append (Vec y 64) (Vec x 64))).

(** Words of the second source, chosen by those of the first. *)
Definition vpermd d x y := vector d (Choose (source 64 y) (Vec x 64)).

Definition movabs r z := [Set_gpr r (Imm z)].
Definition mov_load r a := [Load_gpr r a].

(** XOR of the lower half of a register with itself. *)
Definition xor_itself r := [Set_carry (Below (Imm 0) (Imm 0)); Set_zero (Equal (Imm 0) (Imm 0)); Set_gpr r (Imm 0)].

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

Definition signed (x : list byte) : Z := twos_complement (Z.of_nat (8 * length x)) (number_of x).

(** An address: what ModRM, with [mode] and [rm], and the bytes after it say, and what follows.  [x] and [b] are the
    fourth bits of the index and of the base, and a displacement of one byte is in units of [unit].  No address relative
    to the instruction; an index is not scaled. *)
Definition memory_operand (x b unit_ mode rm : N) (bytes : list byte) : option (address * list byte) :=
  let place :=
    if rm =? 4 then
      match bytes with
      | sib :: bytes =>
          let i := 8 * x + field sib 3 3 in
          if (field sib 6 2 =? 0) && negb (i =? 4)
          then Some (field sib 0 3, Some (N.to_nat i), bytes) else None
      | [] => None
      end
    else if x =? 0 then Some (rm, None, bytes) else None in
  match place with
  | None => None
  | Some (low, i, bytes) =>
      let at_ disp := Address (N.to_nat (8 * b + low)) i disp in
      match mode, bytes with
      | 0, _ => if low =? 5 then None else Some (at_ 0%Z, bytes)
      | 1, d :: bytes => Some (at_ (Z.of_N unit_ * signed [d])%Z, bytes)
      | 2, d0 :: d1 :: d2 :: d3 :: bytes => Some (at_ (signed [d0; d1; d2; d3]), bytes)
      | _, _ => None
      end
  end.

(** ModRM with what belongs to it: the operand in reg, the one in r/m, and what follows.  [r] and [b] are the upper bits
    of these registers, [x] that of the index or, if [upper], one more of the second register. *)
Definition modrm (upper : bool) (r x b unit_ : N) (bytes : list byte) : option (N * operand * list byte) :=
  match bytes with
  | [] => None
  | m :: bytes =>
      let reg := 8 * r + field m 3 3 in
      if field m 6 2 =? 3 then
        if upper || (x =? 0) then Some (reg, Register (N.to_nat (16 * x + 8 * b + field m 0 3)), bytes) else None
      else match memory_operand x b unit_ (field m 6 2) (field m 0 3) bytes with
           | Some (a, bytes) => Some (reg, Memory a, bytes)
           | None => None
           end
  end.

(** What follows a VEX prefix: [map] the opcode map, [pp] the implied prefix, [w] and [l] for W and the length of the
    vectors, [v] the register in vvvv. *)
Definition vex (map pp w l r x b v : N) (bytes : list byte) : option (list effect) :=
  match bytes with
  | [] => None
  | [opcode] =>
      match map, pp, w, l, opcode with
      | 1, 0, 0, 1, 0x77 => if (v =? 0) && (r + x + b =? 0) then Some vzeroall else None
      | _, _, _, _, _ => None
      end
  | opcode :: bytes =>
      match modrm false r x b 1 bytes with
      | None => None
      | Some (reg, rm, bytes) =>
          let d := N.to_nat reg in
          let v' := N.to_nat v in
          let size := if l =? 0 then 16%nat else 32%nat in
          match map, pp, w, opcode, bytes with
          | 1, 2, 0, 0x6f, [] => if v =? 0 then Some (vmovdqu size d rm) else None
          | 1, 2, 0, 0x7f, [] => if v =? 0 then Some (vmovdqu_to size rm d) else None
          | 1, 1, 0, 0xef, [] => Some (vpxor size d v' rm)
          | 2, 1, 0, 0xdc, [] => Some (vaesenc size d v' rm)
          | 1, 1, 0, 0xfe, [] => Some (vpaddd size d v' rm)
          | 1, 1, 0, 0xd4, [] => Some (vpaddq size d v' rm)
          | 1, 1, 0, 0xf4, [] =>
              match rm with
              | Register s => if l =? 1 then Some (vpmuludq 32 d v' s) else None
              | Memory a => if l =? 1 then Some (vpmuludq_load d v' a) else None
              end
          | 2, 1, 0, 0x5a, [] =>
              match rm with Memory a => if (v =? 0) && (l =? 1) then Some (vbroadcast 32 d a) else None | Register _ => None end
          | 1, 1, 0, 0xeb, [] => Some (vpor size d v' rm)
          | 1, 1, 0, 0xdb, [] => Some (vpand size d v' rm)
          | 1, 1, 0, 0xdf, [] => Some (vpandn size d v' rm)
          | 1, 1, 0, 0x6c, [] =>
              match l, rm with
              | 0, _ => Some (vpunpcklqdq d v' rm)
              | _, Register s => Some (vpunpck 8 false 32 d v' s)
              | _, Memory _ => None
              end
          | 1, 1, 0, 0x6d, [] =>
              match rm with Register s => if l =? 1 then Some (vpunpck 8 true 32 d v' s) else None | Memory _ => None end
          | 2, 1, 0, 0x00, [] => Some (vpshufb size d v' rm)
          | 1, 1, 0, 0x70, [k] =>
              match v, l, rm with
              | 0, 0, _ => Some (vpshufd d rm (N.to_nat k))
              | 0, 1, Register s => Some (vpshufd_pieces 32 d s (N.to_nat k))
              | _, _, _ => None
              end
          | 1, 1, 0, 0x72, [k] =>
              match reg mod 8, rm with
              | 2, Register s => if r =? 0 then Some (vpsrld size v' s (N.to_nat k)) else None
              | 6, Register s => if r =? 0 then Some (vpslld size v' s (N.to_nat k)) else None
              | _, _ => None
              end
          | 3, 1, 0, 0x0f, [k] =>
              if k <=? 16 then
                match rm with
                | Register s => Some (vpalignr size d v' s (N.to_nat k))
                | Memory a => if l =? 0 then Some (vpalignr_load d v' a (N.to_nat k)) else None
                end
              else None
          | 1, 1, 0, 0x73, [k] =>
              match reg mod 8, rm with
              | 2, Register s => if r =? 0 then Some (vpsrlq size v' s (N.to_nat k)) else None
              | 6, Register s => if r =? 0 then Some (vpsllq size v' s (N.to_nat k)) else None
              | 3, Register s => if (k <=? 16) && (r =? 0) then Some (vpsrldq size v' s (N.to_nat k)) else None
              | 7, Register s => if (k <=? 16) && (r =? 0) then Some (vpslldq size v' s (N.to_nat k)) else None
              | _, _ => None
              end
          | 1, 1, 1, 0x6e, [] =>
              match rm with Register s => if (v =? 0) && (l =? 0) then Some (vmovq d s) else None | Memory _ => None end
          | 3, 1, 0, 0x46, [0x20] =>
              match rm with Register s => if l =? 1 then Some (vperm2i128_low d v' s) else None | Memory _ => None end
          | 3, 1, 0, 0x46, [0x31] =>
              match rm with Register s => if l =? 1 then Some (vperm2i128_high d v' s) else None | Memory _ => None end
          | 3, 1, 0, 0x46, [0x21] =>
              match rm with Register s => if l =? 1 then Some (vperm2i128_33 d v' s) else None | Memory _ => None end
          | 3, 1, 0, 0x38, [1] => if l =? 1 then Some (vinsert_1 16 d v' rm) else None
          | 3, 1, 0, 0x39, [1] =>
              match rm with Memory a => if (v =? 0) && (l =? 1) then Some (vextracti128_1 a d) else None | Register _ => None end
          | _, _, _, _, _ => None
          end
      end
  end.

(** The bytes of a vector operand in memory. *)
Definition operand_size (opcode : N) : N := match opcode with 0x3a => 32 | 0x5a => 16 | 0x58 => 4 | _ => 64 end.

(** What follows an EVEX prefix of 512 bits without masks: as for VEX, but with registers of five bits, and a
    displacement of one byte counts whole operands. *)
Definition evex (map pp w r x b v : N) (bytes : list byte) : option (list effect) :=
  match bytes with
  | [] => None
  | opcode :: bytes =>
      match modrm true r x b (operand_size opcode) bytes with
      | None => None
      | Some (reg, rm, bytes) =>
          let d := N.to_nat reg in
          let v' := N.to_nat v in
          (* Two tables: within the first, the second would be written out wherever the first has nothing. *)
          let found :=
          match map, pp, w, opcode, bytes with
          | 1, 2, 1, 0x6f, [] => if v =? 0 then Some (vmovdqu 64 d rm) else None
          | 1, 2, 1, 0x7f, [] => if v =? 0 then Some (vmovdqu_to 64 rm d) else None
          | 1, 1, 1, 0xef, [] => Some (vpxor 64 d v' rm)
          | 2, 1, 0, 0xdc, [] => Some (vaesenc 64 d v' rm)
          | 1, 1, 1, 0xdb, [] => Some (vpand 64 d v' rm)
          | 2, 1, 1, 0xb4, [] => Some (vpmadd52 false d v' rm)
          | 2, 1, 1, 0xb5, [] => Some (vpmadd52 true d v' rm)
          | 3, 1, 1, 0x3a, [1] => Some (vinsert_1 32 d v' rm)
          | 1, 1, 0, 0xfe, [] => Some (vpaddd 64 d v' rm)
          | 1, 1, 1, 0xd4, [] => Some (vpaddq 64 d v' rm)
          | 2, 1, 0, 0x5a, [] =>
              match rm with Memory a => if v =? 0 then Some (vbroadcast 64 d a) else None | Register _ => None end
          | 2, 1, 0, 0x58, [] =>
              match rm with Memory a => if v =? 0 then Some (vpbroadcastd d a) else None | Register _ => None end
          | _, _, _, _, _ => None
          end in
          match found with
          | Some _ => found
          | None =>
              match rm, map, pp, w, opcode, bytes with
              | Register s, 3, 1, 0, 0x0f, [k] => if k <=? 16 then Some (vpalignr 64 d v' s (N.to_nat k)) else None
              | Register s, 1, 1, 0, 0x73, [k] =>
                  match reg mod 8 with
                  | 3 => if (k <=? 16) && (r =? 0) then Some (vpsrldq 64 v' s (N.to_nat k)) else None
                  | 7 => if (k <=? 16) && (r =? 0) then Some (vpslldq 64 v' s (N.to_nat k)) else None
                  | _ => None
                  end
              | Register s, 1, 1, 1, 0xf4, [] => Some (vpmuludq 64 d v' s)
              | Register s, 1, 1, 0, 0x70, [k] => if v =? 0 then Some (vpshufd_pieces 64 d s (N.to_nat k)) else None
              | Register s, 1, 1, 1, 0x73, [k] =>
                  match reg mod 8 with
                  | 2 => if r =? 0 then Some (if k =? 32 then vpsrlq_32 64 v' s else vpsrlq 64 v' s (N.to_nat k)) else None
                  | 6 => if r =? 0 then Some (vpsllq 64 v' s (N.to_nat k)) else None
                  | _ => None
                  end
              | Register s, 1, 1, 0, 0x72, [k] =>
                  match reg mod 8 with
                  | 1 => if (r =? 0) && (k <? 32) then Some (vprold v' s (N.to_nat k)) else None
                  | 6 => if r =? 0 then Some (vpslld 64 v' s (N.to_nat k)) else None
                  | _ => None
                  end
              | Register s, 1, 1, 0, 0x62, [] => Some (vpunpck 4 false 64 d v' s)
              | Register s, 1, 1, 0, 0x6a, [] => Some (vpunpck 4 true 64 d v' s)
              | Register s, 1, 1, 1, 0x6c, [] => Some (vpunpck 8 false 64 d v' s)
              | Register s, 1, 1, 1, 0x6d, [] => Some (vpunpck 8 true 64 d v' s)
              | Register s, 3, 1, 1, 0x43, [k] => Some (vshufi64x2 d v' s (N.to_nat k))
              | _, 3, 1, 1, 0x25, [0x96] => Some (vpternlogq_xor d v' rm)
              | Register s, 3, 1, 1, 0x25, [0x78] => Some (vpternlogq_xor_and d v' s)
              | Register s, 3, 1, 1, 0x25, [0xd2] => Some (vpternlogq_xor_andn d v' s)
              | Register s, 3, 1, 0, 0x03, [k] => Some (valignd d v' s (N.to_nat (k mod 16)))
              | _, 2, 1, 0, 0x36, [] => Some (vpermd d v' rm)
              | _, _, _, _, _, _ => None
              end
          end
      end
  end.

(** After a REX prefix with W = 1. *)
Definition rex_w (r b : N) (x : list byte) : option (list effect) :=
  match x with
  | 0x83 :: x =>
      match modrm false 0 0 b 1 x with
      | Some (0, Register d, [z]) => if r =? 0 then Some (add d (signed [z])) else None
      | Some (7, Register d, [z]) => if r =? 0 then Some (cmp d (signed [z])) else None
      | _ => None
      end
  | 0xff :: x =>
      match modrm false 0 0 b 1 x with
      | Some (1, Register d, []) => if r =? 0 then Some (dec d) else None
      | _ => None
      end
  | 0x8b :: x =>
      match modrm false r 0 b 1 x with Some (d, Memory a, []) => Some (mov_load (N.to_nat d) a) | _ => None end
  | [0x05; z0; z1; z2; z3] => if r + b =? 0 then Some (add rax (signed [z0; z1; z2; z3])) else None
  | [0x81; m; z0; z1; z2; z3] =>
      match modrm false 0 0 b 1 [m] with
      | Some (0, Register d, []) => if r =? 0 then Some (add d (signed [z0; z1; z2; z3])) else None
      | _ => None
      end
  | [0xc7; m; z0; z1; z2; z3] =>
      match modrm false 0 0 b 1 [m] with
      | Some (0, Register d, []) => if r =? 0 then Some (movabs d (signed [z0; z1; z2; z3])) else None
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
  | [0xeb; a] => Some (jmp (signed [a]))
  | [0x77; a] => Some (ja (signed [a]))
  | [0x0f; 0x87; a; b; c; d] => Some (ja (signed [a; b; c; d]))
  | 0xc5 :: p :: x =>
      (* R vvvv L pp, the first five inverted *)
      vex 1 (field p 0 2) 0 (field p 2 1) (1 - field p 7 1) 0 0 (15 - field p 3 4) x
  | 0xc4 :: p :: q :: x =>
      (* R X B map, then W vvvv L pp; R, X, B and vvvv inverted *)
      vex (field p 0 5) (field q 0 2) (field q 7 1) (field q 2 1)
        (1 - field p 7 1) (1 - field p 6 1) (1 - field p 5 1) (15 - field q 3 4) x
  | 0x62 :: p :: q :: o :: x =>
      (* R X B R' 0 map, then W vvvv 1 pp, then z L'L b V' aaa; R, X, B, R', vvvv and V' inverted *)
      if (field p 3 1 =? 0) && (field q 2 1 =? 1) && (field o 4 4 =? 4) && (field o 0 3 =? 0)
      then evex (field p 0 3) (field q 0 2) (field q 7 1) (2 * (1 - field p 4 1) + (1 - field p 7 1))
        (1 - field p 6 1) (1 - field p 5 1) (16 * (1 - field o 3 1) + (15 - field q 3 4)) x
      else None
  | [0x31; m] => if (field m 6 2 =? 3) && (field m 3 3 =? field m 0 3) then Some (xor_itself (N.to_nat (field m 0 3))) else None
  | 0x66 :: rex :: 0x0f :: 0x6e :: x =>
      if (field rex 3 5 =? 9) && (field rex 1 1 =? 0) then
        match modrm false (field rex 2 1) 0 (field rex 0 1) 1 x with
        | Some (d, Register s, []) => Some (movq (N.to_nat d) s)
        | _ => None
        end
      else None
  | rex :: x =>
      if (field rex 3 5 =? 9) && (field rex 1 1 =? 0) then rex_w (field rex 2 1) (field rex 0 1) x else None
  | _ => None
  end.

Definition x86_64 : isa := Isa (seq 1 15) instruction 64.
