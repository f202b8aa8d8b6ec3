(** * AES: one round, as algebra (FIPS 197)

    The definitions of spec/cryptol/AES.cry, with the same names and in the same order.  A byte is
    a number below 256. *)

From Coq Require Import List Arith NArith Lia.
Import ListNotations.
Local Open Scope N_scope.

Notation byte := N (only parsing).

(** Byte by byte. *)
Fixpoint xor (x y : list byte) : list byte :=
  match x, y with
  | a :: x, b :: y => N.lxor a b :: xor x y
  | _, _ => []
  end.

(** The product in GF(2^8) = GF(2)[x] / (x^8 + x^4 + x^3 + x + 1) (section 4.2): [xtime] is
    the product with x. *)
Definition xtime (a : byte) : byte :=
  if N.testbit a 7 then N.lxor (2 * a) 0x11b else 2 * a.

Fixpoint gf_mul_by (x : byte) (y : positive) : byte :=
  match y with
  | xH => x
  | xO y => gf_mul_by (xtime x) y
  | xI y => N.lxor x (gf_mul_by (xtime x) y)
  end.

Definition gf_mul (x y : byte) : byte :=
  match y with N0 => 0 | Npos y => gf_mul_by x y end.

(** The multiplicative inverse, and 0 for 0: x^254 = x^2 * x^4 * x^8 * ... * x^128. *)
Definition gf_inverse (x : byte) : byte :=
  fst (fold_left (fun ps _ => let s := gf_mul (snd ps) (snd ps) in (gf_mul (fst ps) s, s))
    (repeat tt 7) (1, x)).

Definition rotate_left (b k : N) : byte := N.lor (b * 2 ^ k mod 256) (b / 2 ^ (8 - k)).

(** The S-box: the inverse, then the affine map of section 5.1.1, equation (5.2). *)
Definition sub_byte (x : byte) : byte :=
  let b := gf_inverse x in
  fold_left N.lxor (map (rotate_left b) [1; 2; 3; 4]) (N.lxor b 0x63).

(** Its 256 values in rows of 16, as in figure 7: evaluation computes each only once. *)
Definition s_box : list (list byte) :=
  map (fun row => map (fun column => sub_byte (16 * N.of_nat row + N.of_nat column)) (seq 0 16)) (seq 0 16).

Definition s_box_at (b : byte) : byte :=
  nth (N.to_nat (b mod 16)) (nth (N.to_nat (b / 16)) s_box []) 0.

(** SubBytes (section 5.1.1). *)
Definition sub_bytes (x : list byte) : list byte := map s_box_at x.

Lemma sub_bytes_is x : Forall (fun b => b < 256) x -> sub_bytes x = map sub_byte x.
Proof.
  intro H; apply map_ext_in; intros b B; rewrite Forall_forall in H; specialize (H b B).
  assert (A : forallb (fun b => s_box_at b =? sub_byte b) (map N.of_nat (seq 0 256)) = true)
    by (vm_compute; reflexivity).
  rewrite forallb_forall in A; apply N.eqb_eq, A, in_map_iff.
  exists (N.to_nat b); rewrite N2Nat.id, in_seq; lia.
Qed.

(** ShiftRows: row r rotates left by r places (section 5.1.2).  Byte i is row i mod 4 of column
    i / 4 (section 3.4). *)
Definition shift_rows (x : list byte) : list byte :=
  map (fun i : nat => nth ((i + 4 * (i mod 4)) mod 16)%nat x 0) (seq 0 16).

(** One column times a fixed circulant matrix (section 5.1.3, equation (5.7)). *)
Definition mix_column (column : list byte) : list byte :=
  map (fun row => fold_left N.lxor (map (fun p => gf_mul (snd p) (fst p)) (combine row column)) 0)
    [[2; 3; 1; 1]; [1; 2; 3; 1]; [1; 1; 2; 3]; [3; 1; 1; 2]].

(** MixColumns (section 5.1.3). *)
Definition mix_columns (x : list byte) : list byte :=
  flat_map (fun c => mix_column (firstn 4 (skipn (4 * c) x))) (seq 0 4).

(** The round without its key. *)
Definition aes_round_core (x : list byte) : list byte := mix_columns (shift_rows (sub_bytes x)).

(** The whole round, with AddRoundKey (section 5.1.4): what the x86 instruction AESENC computes. *)
Definition aes_round (x key : list byte) : list byte := xor (aes_round_core x) key.

(** ** Lengths *)

Lemma xor_length x : forall y, length (xor x y) = Nat.min (length x) (length y).
Proof. induction x; intros [|b y]; simpl; auto. Qed.

Lemma shift_rows_length x : length (shift_rows x) = 16%nat.
Proof. reflexivity. Qed.

Lemma mix_columns_length x : length (mix_columns x) = 16%nat.
Proof. reflexivity. Qed.
