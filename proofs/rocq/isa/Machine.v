(** * Machine: what an instruction set is made of

    An instruction is a list of effects on registers, flags and memory.  X86_64.v says which bytes
    are which instruction, and which effects it has; this file says what an effect does.

    Every address that is fetched from, read or written goes into a trace.  An access beyond the
    end of the address space, and bytes that are not an instruction of the table, stop the
    machine: there is no next state. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Memory: bytes by addresses *)

Definition memory := Z -> byte.

Definition read (m : memory) (a : Z) (n : nat) : list byte :=
  map (fun i => m (a + Z.of_nat i)) (seq 0 n).

Definition write (m : memory) (a : Z) (x : list byte) : memory :=
  fun b => if (a <=? b) && (b <? a + Z.of_nat (length x)) then nth (Z.to_nat (b - a)) x 0%N else m b.

(** ** The state *)

Inductive event := Fetch (a : Z) (n : nat) | Read (a : Z) (n : nat) | Write (a : Z) (n : nat).

Record machine := Machine {
  pc : Z;                    (* the address of the next instruction *)
  gpr : nat -> Z;            (* general registers, of 64 bits *)
  vec : nat -> list byte;    (* vector registers at their full width, byte 0 the lowest *)
  carry : bool;              (* the flags that an instruction of the tables reads *)
  zero_flag : bool;
  mem : memory;
  trace : list event         (* newest first *)
}.

Definition set {A} (f : nat -> A) (r : nat) (a : A) : nat -> A := fun q => if (q =? r)%nat then a else f q.

Definition with_pc x m := Machine x (gpr m) (vec m) (carry m) (zero_flag m) (mem m) (trace m).
Definition with_gpr r x m := Machine (pc m) (set (gpr m) r x) (vec m) (carry m) (zero_flag m) (mem m) (trace m).
Definition with_vec r x m := Machine (pc m) (gpr m) (set (vec m) r x) (carry m) (zero_flag m) (mem m) (trace m).
Definition with_carry x m := Machine (pc m) (gpr m) (vec m) x (zero_flag m) (mem m) (trace m).
Definition with_zero x m := Machine (pc m) (gpr m) (vec m) (carry m) x (mem m) (trace m).
Definition with_mem x m := Machine (pc m) (gpr m) (vec m) (carry m) (zero_flag m) x (trace m).
Definition log (e : list event) m :=
  Machine (pc m) (gpr m) (vec m) (carry m) (zero_flag m) (mem m) (e ++ trace m).

Definition wrap (x : Z) : Z := x mod 2 ^ 64.

(** ** Effects *)

(** A general register, perhaps another one, and a constant. *)
Record address := Address { base : nat; index : option nat; displacement : Z }.

(** Numbers of 64 bits. *)
Inductive number := Gpr (r : nat) | Imm (z : Z) | Add (a b : number) | Sub (a b : number).

Inductive condition :=
  | Below (a b : number) | Equal (a b : number) | Carry | Zero_flag | Not (c : condition) | And (c d : condition).

(** Strings of bytes; byte 0 is the lowest of a register. *)
Inductive bytes :=
  | Vec (r n : nat)                      (* the lowest n bytes *)
  | Load (a : address) (n : nat)
  | Bytes (x : list byte)
  | Of_gpr (r : nat)
  | Xor (x y : bytes)
  | Slice (from len : nat) (x : bytes)
  | Append (x y : bytes)
  | Sub_shift (x : bytes)                (* ShiftRows of SubBytes *)
  | Mix (x : bytes)                      (* MixColumns *)
  | Plus (w : nat) (x y : bytes)         (* in lanes of w bytes *)
  | Times (w : nat) (x y : bytes)        (* of lanes of w bytes, in lanes of twice that *)
  | Shift_left (w k : nat) (x : bytes)   (* by k bits, in such lanes *)
  | Shift_right (w k : nat) (x : bytes)
  | Or (x y : bytes)
  | Shuffle (x y : bytes)                (* bytes of the first, chosen by the second *)
  | And_bytes (x y : bytes)
  | Choose (x y : bytes)                 (* words of the first, chosen by the second *)
  | Times_52 (high : bool) (x y : bytes). (* of the lower 52 bits of lanes of 8 bytes: the lower or upper 52 bits *)

Inductive effect :=
  | Set_gpr (r : nat) (x : number)
  | Load_gpr (r : nat) (a : address)              (* the 8 bytes there *)
  | Set_carry (c : condition)
  | Set_zero (c : condition)
  | Set_vec (r : nat) (x : bytes) (keep : bool)   (* the bytes above x: kept, or set to zero *)
  | Store (a : address) (x : bytes)
  | Branch (c : condition) (offset : Z)           (* relative to the end of the instruction *)
  | Jump (r : nat)
  | Pop_jump (r : nat).                           (* to the 8 bytes at r, which goes up by 8 *)

Fixpoint number_in (m : machine) (x : number) : Z :=
  match x with
  | Gpr r => gpr m r
  | Imm z => wrap z
  | Add a b => wrap (number_in m a + number_in m b)
  | Sub a b => wrap (number_in m a - number_in m b)
  end.

Fixpoint condition_in (m : machine) (c : condition) : bool :=
  match c with
  | Below a b => number_in m a <? number_in m b
  | Equal a b => number_in m a =? number_in m b
  | Carry => carry m
  | Zero_flag => zero_flag m
  | Not c => negb (condition_in m c)
  | And c d => condition_in m c && condition_in m d
  end.

Definition effective (m : machine) (a : address) : Z :=
  wrap (gpr m (base a) + match index a with Some i => gpr m i | None => 0 end + displacement a).

Fixpoint bytes_in (m : machine) (x : bytes) : list byte :=
  match x with
  | Vec r n => firstn n (vec m r)
  | Load a n => read (mem m) (effective m a) n
  | Bytes x => x
  | Of_gpr r => little_endian 8 (Z.to_N (gpr m r))
  | Xor x y => xor (bytes_in m x) (bytes_in m y)
  | Slice from len x => firstn len (skipn from (bytes_in m x))
  | Append x y => bytes_in m x ++ bytes_in m y
  | Sub_shift x => shift_rows (sub_bytes (bytes_in m x))
  | Mix x => mix_columns (bytes_in m x)
  | Plus w x y => plus_lanes w (bytes_in m x) (bytes_in m y)
  | Times w x y => times_lanes w (bytes_in m x) (bytes_in m y)
  | Shift_left w k x => shift_left w k (bytes_in m x)
  | Shift_right w k x => shift_right w k (bytes_in m x)
  | Or x y => or_bytes (bytes_in m x) (bytes_in m y)
  | Shuffle x y => shuffle (bytes_in m x) (bytes_in m y)
  | And_bytes x y => and_bytes (bytes_in m x) (bytes_in m y)
  | Choose x y => choose_words (bytes_in m x) (bytes_in m y)
  | Times_52 high x y => times_52 high (bytes_in m x) (bytes_in m y)
  end.

(** Its reads from memory. *)
Fixpoint loads (x : bytes) : list (address * nat) :=
  match x with
  | Load a n => [(a, n)]
  | Vec _ _ | Bytes _ | Of_gpr _ => []
  | Xor x y | Append x y | Plus _ x y | Times _ x y | Or x y | Shuffle x y | And_bytes x y | Choose x y
  | Times_52 _ x y =>
      loads x ++ loads y
  | Slice _ _ x | Sub_shift x | Mix x | Shift_left _ _ x | Shift_right _ _ x => loads x
  end.

Definition fits (a : Z) (n : nat) : bool := a + Z.of_nat n <=? 2 ^ 64.

Definition loads_fit (m : machine) (x : bytes) : bool :=
  forallb (fun an => fits (effective m (fst an)) (snd an)) (loads x).

Definition load_events (m : machine) (x : bytes) : list event :=
  map (fun an => Read (effective m (fst an)) (snd an)) (loads x).

Fixpoint number_of (x : list byte) : Z :=
  match x with [] => 0 | b :: x => Z.of_N b + 256 * number_of x end.

(** So many bits of a number, from one on; a number of so many bits in two's complement. *)
Definition field (x low bits : N) : N := N.land (N.shiftr x low) (N.ones bits).
Definition twos_complement (bits z : Z) : Z := if z <? 2 ^ (bits - 1) then z else z - 2 ^ bits.

(** An instruction set: the lengths to try, in this order; what exactly these bytes do as an
    instruction; the size of a vector register in bytes. *)
Record isa := Isa { lengths : list nat; decode : list byte -> option (list effect); full : nat }.

Section Run.
Variable I : isa.

Definition apply (e : effect) (m : machine) : option machine :=
  match e with
  | Set_gpr r x => Some (with_gpr r (number_in m x) m)
  | Load_gpr r a =>
      if fits (effective m a) 8
      then Some (log [Read (effective m a) 8] (with_gpr r (wrap (number_of (read (mem m) (effective m a) 8))) m))
      else None
  | Set_carry c => Some (with_carry (condition_in m c) m)
  | Set_zero c => Some (with_zero (condition_in m c) m)
  | Set_vec r x keep =>
      let value := bytes_in m x in
      let above := if keep then skipn (length value) (vec m r) else zero (full I - length value) in
      if loads_fit m x then Some (log (load_events m x) (with_vec r (value ++ above) m)) else None
  | Store a x =>
      let value := bytes_in m x in
      if loads_fit m x && fits (effective m a) (length value)
      then Some (log (Write (effective m a) (length value) :: load_events m x)
                  (with_mem (write (mem m) (effective m a) value) m))
      else None
  | Branch c offset => Some (if condition_in m c then with_pc (wrap (pc m + offset)) m else m)
  | Jump r => Some (with_pc (gpr m r) m)
  | Pop_jump r =>
      if fits (gpr m r) 8
      then Some (log [Read (gpr m r) 8]
                  (with_pc (wrap (number_of (read (mem m) (gpr m r) 8))) (with_gpr r (wrap (gpr m r + 8)) m)))
      else None
  end.

Fixpoint apply_all (es : list effect) (m : machine) : option machine :=
  match es with
  | [] => Some m
  | e :: es => match apply e m with Some m => apply_all es m | None => None end
  end.

(** The instruction at the program counter, and its length. *)
Fixpoint fetch (ns : list nat) (m : machine) : option (list effect * nat) :=
  match ns with
  | [] => None
  | n :: ns =>
      match decode I (read (mem m) (pc m) n) with Some es => Some (es, n) | None => fetch ns m end
  end.

Definition step (m : machine) : option machine :=
  match fetch (lengths I) m with
  | Some (es, n) =>
      if fits (pc m) n then apply_all es (log [Fetch (pc m) n] (with_pc (wrap (pc m + Z.of_nat n)) m)) else None
  | None => None
  end.

Fixpoint run (k : nat) (m : machine) : option machine :=
  match k with
  | O => Some m
  | S k => match step m with Some m => run k m | None => None end
  end.

Lemma run_app j k m m' : run j m = Some m' -> run (j + k) m = run k m'.
Proof.
  revert m; induction j as [|j IH]; intros m E; simpl in *; [congruence|].
  destruct (step m); [now apply IH|discriminate].
Qed.
End Run.

(** ** Memory *)

Lemma read_length m a n : length (read m a n) = n.
Proof. unfold read; now rewrite map_length, seq_length. Qed.

Lemma read_same m m' a n :
  (forall b, a <= b < a + Z.of_nat n -> m' b = m b) -> read m' a n = read m a n.
Proof. intro H; apply map_ext_in; intros i J; apply in_seq in J; apply H; lia. Qed.

Lemma nth_read m a n i d : (i < n)%nat -> nth i (read m a n) d = m (a + Z.of_nat i).
Proof.
  intro H; unfold read.
  rewrite nth_indep with (d' := m (a + Z.of_nat 0)) by now rewrite map_length, seq_length.
  now rewrite (map_nth (fun i => m (a + Z.of_nat i))), seq_nth by assumption.
Qed.

Lemma read_part m a n k len : (k + len <= n)%nat ->
  read m (a + Z.of_nat k) len = firstn len (skipn k (read m a n)).
Proof.
  intro H; apply nth_ext with (d := 0%N) (d' := 0%N).
  - rewrite firstn_length, skipn_length, !read_length; lia.
  - intros i L; rewrite read_length in L; rewrite nth_read by assumption.
    assert (E : nth (k + i) (read m a n) 0%N = m (a + Z.of_nat k + Z.of_nat i))
      by (rewrite nth_read by lia; f_equal; lia).
    rewrite <- E; clear E; rewrite <- (firstn_skipn k (read m a n)) at 1.
    assert (F : length (firstn k (read m a n)) = k) by (rewrite firstn_length, read_length; lia).
    rewrite app_nth2 by lia; rewrite F; replace (k + i - k)%nat with i by lia.
    rewrite <- (firstn_skipn len (skipn k (read m a n))) at 1.
    apply app_nth1; rewrite firstn_length, skipn_length, read_length; lia.
Qed.

Lemma write_outside m a x b : b < a \/ a + Z.of_nat (length x) <= b -> write m a x b = m b.
Proof.
  intro H; unfold write; destruct (Z.leb_spec a b), (Z.ltb_spec b (a + Z.of_nat (length x))); auto; lia.
Qed.

(** Replace bytes from position [k] on. *)
Definition splice {A} (k : nat) (w x : list A) : list A := firstn k x ++ w ++ skipn (k + length w) x.

Lemma read_write m a n k w : (k + length w <= n)%nat ->
  read (write m (a + Z.of_nat k) w) a n = splice k w (read m a n).
Proof.
  intro H; apply nth_ext with (d := 0%N) (d' := 0%N).
  - unfold splice; rewrite !app_length, firstn_length, skipn_length, !read_length; lia.
  - intros i L; rewrite read_length in L; rewrite nth_read by assumption.
    assert (F : length (firstn k (read m a n)) = k) by (rewrite firstn_length, read_length; lia).
    unfold splice, write.
    destruct (Z.leb_spec (a + Z.of_nat k) (a + Z.of_nat i));
      destruct (Z.ltb_spec (a + Z.of_nat i) (a + Z.of_nat k + Z.of_nat (length w))); cbn [andb].
    + rewrite app_nth2 by lia; rewrite app_nth1 by lia; f_equal; lia.
    + rewrite !app_nth2 by lia; rewrite F.
      rewrite <- (nth_read m a n i 0%N) by assumption.
      rewrite <- (firstn_skipn (k + length w) (read m a n)) at 1.
      rewrite app_nth2 by (rewrite firstn_length, read_length; lia).
      f_equal; rewrite firstn_length, read_length; lia.
    + rewrite app_nth1 by lia.
      rewrite <- (nth_read m a n i 0%N) by assumption.
      rewrite <- (firstn_skipn k (read m a n)) at 1; apply app_nth1; lia.
    + lia.
Qed.

Lemma wrap_small x : 0 <= x < 2 ^ 64 -> wrap x = x.
Proof. apply Z.mod_small. Qed.

Lemma wrap_wrap x y : wrap (wrap x + y) = wrap (x + y).
Proof. apply Zplus_mod_idemp_l. Qed.
