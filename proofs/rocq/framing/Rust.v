(** * Rust: what the words mean in which veriplex-spec-to-rocq writes the twin of the specification

    A number is an [N], an array, a slice or a vector a list, and a program that panics [None].  Debug builds panic when a
    sum or a difference does not fit; a theorem that a function gives [Some] therefore holds for other builds too.
    [usize] has 64 bits.  Lists are not limited in length. *)

From Coq Require Import List NArith.
Import ListNotations.
Local Open Scope N_scope.

Definition outcome (A : Type) : Type := option A.

Definition bind {A B} (a : outcome A) (f : A -> outcome B) : outcome B :=
  match a with Some a => f a | None => None end.

Module Notations.
Notation "'let?' x := a 'in' b" := (bind a (fun x => b)) (at level 200, x name, right associativity).
Notation "'let?' ' p := a 'in' b" := (bind a (fun p => b)) (at level 200, p strict pattern, right associativity).
End Notations.

(** ** Numbers *)

Definition add (bits x y : N) : outcome N := if x + y <? 2 ^ bits then Some (x + y) else None.

Definition sub (x y : N) : outcome N := if y <=? x then Some (x - y) else None.

Definition cast (bits x : N) : N := x mod 2 ^ bits.

(** The lowest bytes, lowest first. *)
Fixpoint le_bytes (n : nat) (x : N) : list N :=
  match n with
  | O => []
  | S n => x mod 256 :: le_bytes n (x / 256)
  end.

(** ** Lists *)

Definition len {A} (xs : list A) : N := N.of_nat (length xs).

Definition index {A} (xs : list A) (i : N) : outcome A := nth_error xs (N.to_nat i).

Fixpoint update_at {A} (xs : list A) (i : nat) (x : A) : outcome (list A) :=
  match xs, i with
  | [], _ => None
  | _ :: r, O => Some (x :: r)
  | y :: r, S i => bind (update_at r i x) (fun r => Some (y :: r))
  end.

Definition update {A} (xs : list A) (i : N) (x : A) : outcome (list A) := update_at xs (N.to_nat i) x.

Definition copies {A} (x : A) (n : N) : list A := repeat x (N.to_nat n).

Definition push {A} (xs : list A) (x : A) : list A := xs ++ [x].

Definition split_at {A} (xs : list A) (n : N) : outcome (list A * list A) :=
  if n <=? len xs then Some (firstn (N.to_nat n) xs, skipn (N.to_nat n) xs) else None.

Fixpoint same (xs ys : list N) : bool :=
  match xs, ys with
  | [], [] => true
  | x :: xs, y :: ys => andb (x =? y) (same xs ys)
  | _, _ => false
  end.

Definition range (low high : N) : list N := map N.of_nat (seq (N.to_nat low) (N.to_nat (high - low))).

(** ** Loops and recursion *)

(** [s] is what the loop changes. *)
Fixpoint for_each {A S} (f : A -> S -> outcome S) (xs : list A) (s : S) : outcome S :=
  match xs with
  | [] => Some s
  | x :: xs => bind (f x s) (for_each f xs)
  end.

Fixpoint collect {A} (f : N -> outcome A) (is : list N) : outcome (list A) :=
  match is with
  | [] => Some []
  | i :: is => bind (f i) (fun x => bind (collect f is) (fun xs => Some (x :: xs)))
  end.

Definition from_fn {A} (n : N) (f : N -> outcome A) : outcome (list A) := collect f (range 0 n).

(** How deep a function may call itself; deeper is [None]. *)
Definition deep : nat := 100.
