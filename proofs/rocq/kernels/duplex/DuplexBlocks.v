(** * DuplexBlocks: whole blocks of the duplex, on the bare state

    The definitions of spec/cryptol/Duplex.cry, part "Whole blocks", with the same names. *)

From Coq Require Import List NArith.
From Veriplex Require Import AES Simpira1024.
Import ListNotations.

(** The padding of a full block without a frame, and the permutation. *)
Definition end_block (s : list byte) : list byte := permute (xor s (zero 94 ++ [0x00; 0x81]%N ++ zero 32)).

Definition absorb_block (s chunk : list byte) : list byte := end_block (xor s (chunk ++ zero 34)).

Definition squeeze_block (s : list byte) : list byte * list byte :=
  (end_block (zero 94 ++ skipn 94 s), firstn 94 s).

Definition encrypt_block (s plaintext : list byte) : list byte * list byte :=
  (absorb_block s plaintext, xor (firstn 94 s) plaintext).

Definition decrypt_block (s ciphertext : list byte) : list byte * list byte :=
  (end_block (ciphertext ++ skipn 94 s), xor (firstn 94 s) ciphertext).

Definition absorb_blocks (s : list byte) (chunks : list (list byte)) : list byte := fold_left absorb_block chunks s.

Fixpoint squeeze_blocks (n : nat) (s : list byte) : list byte * list (list byte) :=
  match n with
  | O => (s, [])
  | S n =>
      let rest := squeeze_blocks n (fst (squeeze_block s)) in (fst rest, snd (squeeze_block s) :: snd rest)
  end.

Fixpoint encrypt_blocks (s : list byte) (plaintext : list (list byte)) {struct plaintext} : list byte * list (list byte) :=
  match plaintext with
  | [] => (s, [])
  | p :: ps =>
      let rest := encrypt_blocks (fst (encrypt_block s p)) ps in (fst rest, snd (encrypt_block s p) :: snd rest)
  end.

Fixpoint decrypt_blocks (s : list byte) (ciphertext : list (list byte)) {struct ciphertext} : list byte * list (list byte) :=
  match ciphertext with
  | [] => (s, [])
  | c :: cs =>
      let rest := decrypt_blocks (fst (decrypt_block s c)) cs in (fst rest, snd (decrypt_block s c) :: snd rest)
  end.
