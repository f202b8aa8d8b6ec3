(** * WideLanes_x86_64: calls of the kernels for four and for eight states

    These are VEX kernels with registers of 32 bytes, and EVEX kernels with 32 registers of 64 bytes. Their table has each
    round constant four times. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Call Lanes LaneKernels X86_64 Call_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements *)

(** K(1), ..., K(72), each four times. *)
Definition round_constants_x4 : list byte := flat_map (fun c => concat (repeat (round_constant c) 4)) (seq 1 72).

(** The buffers of a kernel for blocks of k states: the states, the table, the addresses of the blocks, and the blocks. *)
Definition buffers_of (k : nat) (written : bool) (m : machine) (n : nat) (blocks : list Z) : list (bool * (Z * Z)) :=
  (true, (gpr m rdi, Z.of_nat (size k))) :: (false, (gpr m rcx, 4608)) :: (false, (gpr m rsi, 8 * Z.of_nat k)) ::
  map (fun p => (written, (p, 94 * Z.of_nat n))) blocks.

(** The call: [n] blocks for each lane. *)
Definition call (k : nat) (code : list byte) (written : bool) (m : machine) (n : nat) (blocks : list Z) : Prop :=
  called code (buffers_of k written m n blocks) m /\ (forall r, 0 <= gpr m r < 2 ^ 64) /\
  gpr m rdx = Z.of_nat n /\ read (mem m) (gpr m rcx) 4608 = round_constants_x4.

(** What holds when a kernel returns ([back] says how): about its accesses, the state of each lane after it, and each
    lane's output. *)
Definition ends (k : nat) (back : machine -> machine -> Prop) (code : list byte) (written : bool) (m : machine) (n : nat)
    (blocks : list Z) (accesses : list event) (states : list (list byte)) (outputs : option (list (list (list byte)))) : Prop :=
  Forall (allowed code (buffers_of k written m n blocks) m) accesses /\
  exists j m', run x86_64 j m = Some m' /\ back m m' /\
    lanes k (mem m') (gpr m rdi) = states /\
    match outputs with Some o => map (fun p => chunks (mem m') p n) blocks = o | None => True end /\
    (forall a, ~ in_lanes k (gpr m rdi) a -> Forall (fun p => written = true -> ~ p <= a < p + 94 * Z.of_nat n) blocks ->
       mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** The same of a kernel that encrypts or decrypts, from one buffer to another in each lane, or in place. *)
Definition crypt_buffers_of (k : nat) (apart : bool) (m : machine) (n : nat) (from to : list Z) : list (bool * (Z * Z)) :=
  crypt_buffers apart k (gpr m rdi) (gpr m rsi) (gpr m rdx) (gpr m r8) 4608 from to n.

Definition crypt_call (k : nat) (code : list byte) (apart : bool) (m : machine) (n : nat) (from to : list Z) : Prop :=
  called code (crypt_buffers_of k apart m n from to) m /\ (apart = false -> to = from) /\ (forall r, 0 <= gpr m r < 2 ^ 64) /\
  gpr m rcx = Z.of_nat n /\ read (mem m) (gpr m r8) 4608 = round_constants_x4.

Definition crypt_ends (k : nat) (back : machine -> machine -> Prop) (code : list byte) (apart : bool) (m : machine) (n : nat)
    (from to : list Z) (accesses : list event) (after : list (list byte * list (list byte))) : Prop :=
  Forall (allowed code (crypt_buffers_of k apart m n from to) m) accesses /\
  exists j m', run x86_64 j m = Some m' /\ back m m' /\
    lanes k (mem m') (gpr m rdi) = map fst after /\
    map (fun p => chunks (mem m') p n) to = map snd after /\
    (forall a, ~ in_lanes k (gpr m rdi) a -> Forall (fun p => ~ p <= a < p + 94 * Z.of_nat n) to -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** One lane's blocks. *)
Definition blocks_of (m : machine) (n : nat) (blocks : list Z) (l : nat) : list (list byte) := chunks (mem m) (nth l blocks 0) n.

Lemma table_length : length round_constants_x4 = 4608%nat.
Proof. vm_compute; reflexivity. Qed.

Lemma sizes k : (k <= 8)%nat -> (0 < size k <= 4096)%nat.
Proof. unfold size; lia. Qed.

Lemma none (s : list byte) : (s, @nil (list byte)) = (s, []).
Proof. reflexivity. Qed.
