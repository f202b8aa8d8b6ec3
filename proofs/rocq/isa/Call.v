(** * Call: what calls of kernels have in common on all instruction sets *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements about memory *)

(** Parts of memory: a start and a length in bytes. *)
Notation part := (Z * Z)%type (only parsing).

Definition within (a n : Z) (p : part) : Prop := fst p <= a /\ a + n <= fst p + snd p.

Definition disjoint (p q : part) : Prop := fst p + snd p <= fst q \/ fst q + snd q <= fst p.

(** A buffer: whether it is written, and where it is. *)
Notation buffer := (bool * (Z * Z))%type (only parsing).

(** Two buffers do not overlap if one of them is written. *)
Definition compatible (b c : buffer) : Prop := fst b = true \/ fst c = true -> disjoint (snd b) (snd c).

Definition code_part (code : list byte) (m : machine) : buffer := (false, (pc m, Z.of_nat (length code))).

(** n blocks in a row. *)
Definition chunks (m : memory) (a : Z) (n : nat) : list (list byte) :=
  map (fun j => read m (a + 94 * Z.of_nat j) 94) (seq 0 n).

Definition in_space (b : buffer) : Prop := 0 <= fst (snd b) /\ fst (snd b) + snd (snd b) <= 2 ^ 64.

(** ** What an instruction set and its calling convention determine *)

Record abi := Abi {
  isa_of : isa;
  gprs : nat;                 (* how many general registers there are *)
  vecs : nat;                 (* and vector registers, *)
  least : nat;                (* which have at least so many bytes *)
  arguments : list nat;       (* the registers with the arguments, in their order; the first has the state *)
  saved : list nat;           (* general registers that a kernel does not change *)
  kept : list nat;            (* vector registers that it does not change *)
  cleared : list nat;         (* vector registers that are zero at its end *)
  ending : list effect;       (* its last instruction, *)
  ending_length : nat         (* and the length of that *)
}.

Definition argument (A : abi) (i : nat) : nat := nth i (arguments A) 0%nat.

(** The code is in memory; it, what the return reads ([beside]) and the buffers lie in the address space; a buffer that
    is written overlaps nothing else. *)
Record valid (A : abi) (code : list byte) (beside buffers : list buffer) (m : machine) : Prop := Valid {
  v_code : read (mem m) (pc m) (length code) = code;
  v_least : (least A <= full (isa_of A))%nat;
  v_vec : forall r, length (vec m r) = full (isa_of A);
  v_range : Forall in_space (code_part code m :: beside ++ buffers);
  v_apart : ForallOrdPairs compatible (code_part code m :: beside ++ buffers)
}.

(** What code may touch. *)
Definition touches (code : part) (readable written : list buffer) (e : event) : Prop :=
  match e with
  | Fetch a n => within a (Z.of_nat n) code
  | Read a n => Exists (fun b => within a (Z.of_nat n) (snd b)) readable
  | Write a n => Exists (fun b => fst b = true /\ within a (Z.of_nat n) (snd b)) written
  end.

(** Only the buffers that are marked as written differ. *)
Definition same_outside (buffers : list buffer) (m m' : memory) : Prop :=
  forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> m' a = m a.

Definition last_at (A : abi) (code : list byte) : Z := Z.of_nat (length code) - Z.of_nat (ending_length A).

(** The last instruction of a kernel returns. *)
Definition ends_in_return (A : abi) (code : list byte) : Prop :=
  (0 < ending_length A <= length code)%nat /\
  sfetch (isa_of A) (lengths (isa_of A)) (skipn (length code - ending_length A) code) = Some (ending A, ending_length A).

(** A kernel that was called in [m], before its last instruction. *)
Record at_return (A : abi) (code : list byte) (m m' : machine) : Prop := At_return {
  e_pc : pc m' = pc m + last_at A code;
  e_saved : forall r, In r (saved A) -> gpr m' r = gpr m r;
  e_kept : forall r, In r (kept A) -> vec m' r = vec m r;
  e_cleared : forall r, In r (cleared A) -> vec m' r = zero (full (isa_of A))
}.

(** A calling convention: what is known at a call and at a return. *)
Record convention := Convention {
  abi_of : abi;
  called : list byte -> list buffer -> machine -> Prop;
  returned : machine -> machine -> Prop;
  return_to : machine -> Z;               (* the return address *)
  beside : machine -> list buffer;        (* what the return reads *)
  pointer : machine -> Z;                 (* the accesses of the return depend on it *)
  last_accesses : Z -> Z -> list event    (* of the return: by that, and by the address of the instruction *)
}.

(** What makes it one: above all that the last instruction leads from a call to a return. *)
Record proper (V : convention) : Prop := Proper {
  called_valid : forall code buffers m, called V code buffers m -> valid (abi_of V) code (beside V m) buffers m;
  returned_there : forall m m', returned V m m' -> pc m' = return_to V m;
  last_touches : forall code buffers m, ends_in_return (abi_of V) code -> called V code buffers m ->
    Forall (touches (snd (code_part code m)) (beside V m ++ buffers) buffers)
      (last_accesses V (pointer V m) (pc m + last_at (abi_of V) code));
  return_step : forall code buffers m m', ends_in_return (abi_of V) code -> called V code buffers m ->
    at_return (abi_of V) code m m' -> same_outside buffers (mem m) (mem m') ->
    exists m'', step (isa_of (abi_of V)) m' = Some m'' /\ returned V m m'' /\ mem m'' = mem m' /\
      trace m'' = last_accesses V (pointer V m) (pc m + last_at (abi_of V) code) ++ trace m';
  distinct_arguments : NoDup (arguments (abi_of V));
  five_arguments : length (arguments (abi_of V)) = 5%nat;
  arguments_below : Forall (fun r => r < 32)%nat (arguments (abi_of V));
  lengths_positive : Forall (fun n => 0 < n)%nat (lengths (isa_of (abi_of V)))
}.
Existing Class proper.
Arguments called_valid V {_}.
Arguments returned_there V {_}.
Arguments last_touches V {_}.
Arguments return_step V {_}.
Arguments distinct_arguments V {_}.
Arguments five_arguments V {_}.
Arguments arguments_below V {_}.
Arguments lengths_positive V {_}.

(** What a kernel may touch: it may fetch its code, read the buffers and what the return reads, and write those buffers
    that are marked as written. *)
Definition allowed (V : convention) (code : list byte) (buffers : list buffer) (m : machine) : event -> Prop :=
  touches (snd (code_part code m)) (beside V m ++ buffers) buffers.

(** What holds when a kernel returns: about its accesses and memory. *)
Definition ends (V : convention) (code : list byte) (buffers : list buffer) (accesses : list event) (m : machine)
    (result : memory -> Prop) : Prop :=
  Forall (allowed V code buffers m) accesses /\
  exists k m', run (isa_of (abi_of V)) k m = Some m' /\ returned V m m' /\ result (mem m') /\
    same_outside buffers (mem m) (mem m') /\ trace m' = accesses ++ trace m.

(** What evaluation decides about a kernel. *)
Ltac by_evaluation :=
  lazymatch goal with
  | |- ends_in_return _ _ => split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]
  | |- _ => vm_cast_no_check (eq_refl true)
  end.

(** ** Lists of buffers *)

Lemma pairs_app {A} (R : A -> A -> Prop) l1 l2 : ForallOrdPairs R (l1 ++ l2) -> forall a b, In a l1 -> In b l2 -> R a b.
Proof.
  induction l1 as [|c l1 IH]; intros H a b I J; [destruct I|]; inversion H as [|? ? F G]; subst; destruct I as [<-|I].
  - rewrite Forall_forall in F; apply F, in_or_app; now right.
  - exact (IH G a b I J).
Qed.

Lemma pairs_tail {A} (R : A -> A -> Prop) l1 l2 : ForallOrdPairs R (l1 ++ l2) -> ForallOrdPairs R l2.
Proof. induction l1; intro H; [exact H|]; inversion H; auto. Qed.

Lemma pairs_map {A C} (R : C -> C -> Prop) (f : A -> C) l : ForallOrdPairs R (map f l) -> ForallOrdPairs (fun a b => R (f a) (f b)) l.
Proof.
  induction l as [|a l IH]; cbn [map]; intro H; [constructor|]; inversion H as [|? ? F G]; subst; constructor; auto.
  rewrite Forall_map in F; exact F.
Qed.

(** Without some buffers in the middle. *)
Lemma pairs_without {A} (R : A -> A -> Prop) a l1 l2 : ForallOrdPairs R (a :: l1 ++ l2) -> ForallOrdPairs R (a :: l2).
Proof.
  intro H; inversion H as [|? ? F G]; subst; constructor; [|exact (pairs_tail _ _ _ G)].
  apply Forall_app in F; apply F.
Qed.

(** Memory outside the written buffers, in particular code and what the return reads, is as it was. *)
Lemma beside_same abi_ code bs buffers m m' b : valid abi_ code bs buffers m -> same_outside buffers (mem m) (mem m') ->
  In b (code_part code m :: bs) -> fst b = false -> forall n, Z.of_nat n <= snd (snd b) ->
  read (mem m') (fst (snd b)) n = read (mem m) (fst (snd b)) n.
Proof.
  intros V S I F n N; apply read_same; intros a A; apply S, Forall_forall; intros c J W K.
  pose proof (pairs_app compatible (code_part code m :: bs) buffers (v_apart _ _ _ _ _ V) b c I J (or_intror W)) as D.
  unfold disjoint in D; lia.
Qed.

(** What is in memory after a write. *)
Lemma read_written m a x : read (write m a x) a (length x) = x.
Proof.
  pose proof (read_write m a (length x) 0 x ltac:(lia)) as H; rewrite Z.add_0_r in H; rewrite H; unfold splice.
  rewrite skipn_all2 by (rewrite read_length; lia); rewrite app_nil_r; reflexivity.
Qed.

Lemma read_beside m b x a n : a + Z.of_nat n <= b \/ b + Z.of_nat (length x) <= a -> read (write m b x) a n = read m
  a n.
Proof. intro D; apply read_same; intros c C; apply write_outside; lia. Qed.

(** ** Arguments *)

(** The value of a register, from those of the registers with arguments. *)
Fixpoint value_of (rs : list nat) (vs : list Z) (u : nat) : Z :=
  match rs, vs with r :: rs, v :: vs => if (u =? r)%nat then v else value_of rs vs u | _, _ => 0 end.

Lemma value_at rs : forall vs i, NoDup rs -> (i < length rs)%nat -> (i < length vs)%nat ->
  value_of rs vs (nth i rs 0%nat) = nth i vs 0.
Proof.
  induction rs as [|r rs IH]; intros [|v vs] i N L M; cbn [length] in *; try lia; inversion N as [|? ? N1 N2]; subst.
  destruct i as [|i]; cbn [nth value_of]; [rewrite Nat.eqb_refl; reflexivity|].
  destruct (Nat.eqb_spec (nth i rs 0%nat) r) as [E|_]; [|apply IH; auto; lia].
  exfalso; apply N1; rewrite <- E; apply nth_In; lia.
Qed.

Lemma argument_value (V : convention) {P : proper V} vs i : (i < length vs)%nat -> (length vs <= 5)%nat ->
  value_of (arguments (abi_of V)) vs (argument (abi_of V) i) = nth i vs 0.
Proof. intros L F; apply value_at; [exact (distinct_arguments V)|rewrite (five_arguments V); lia|exact L]. Qed.

(** ** Buffers and regions *)

Section Regions.
Variable B : nat -> Z.

(** A region of the checker lies in a buffer. *)
Definition lies (g : nat * bool * nat) (b : buffer) : Prop :=
  let '(u, w, n) := g in (w = true -> fst b = true) /\ within (B u) (Z.of_nat n) (snd b).

Lemma lies_inside g b a : lies g b -> inside B a g -> fst (snd b) <= a < fst (snd b) + snd (snd b).
Proof. destruct g as [[u w] n]; unfold lies, inside, within; intros [_ W] J; lia. Qed.

Lemma lies_separate g h b c : lies g b -> lies h c -> compatible b c -> separate B g h.
Proof.
  intros G H C W a J K.
  assert (D : disjoint (snd b) (snd c)).
  { apply C; destruct g as [[u w] n], h as [[v x] k]; cbn [fst snd] in W; destruct W as [W|W]; [left; apply G|right; apply H]; exact W. }
  pose proof (lies_inside _ _ _ G J); pose proof (lies_inside _ _ _ H K); unfold disjoint in D; lia.
Qed.

Lemma placed_in (I : isa) code code_at m known L buffers :
  0 <= code_at /\ code_at + Z.of_nat (length code) <= 2 ^ 64 ->
  read (mem m) code_at (length code) = code ->
  (wide known <= full I)%nat ->
  (forall r, length (vec m r) = full I) ->
  match nonzero known with Some u => 0 < B u < 2 ^ 64 | None => True end ->
  Forall (fun s => let '(u, v, w) := s in wrap (B u + B v) = wrap (B w)) (sums known) ->
  Forall (fun p => let '(u, x, v) := p in wrap (number_of (read (mem m) (B u + x) 8)) = wrap (B v)) (pointers known) ->
  ForallOrdPairs compatible ((false, (code_at, Z.of_nat (length code))) :: buffers) ->
  Forall in_space buffers ->
  Forall2 lies L buffers ->
  placed I code known B code_at m L.
Proof.
  intros C M WD V N SU PO P R F; inversion P as [|? ? PC PB]; subst; constructor; auto.
  - clear - R F; induction F as [|[[u w] n] b L bs G F IH]; [constructor|]; inversion R as [|? ? R1 R2]; subst; constructor; auto.
    destruct G as [_ G]; unfold within, in_space in *; lia.
  - clear - PB F; induction F as [|g b L bs G F IH]; cbn [apart]; [exact Logic.I|]; inversion PB as [|? ? Q QS]; subst; split; auto.
    clear - G F Q; induction F as [|h c L bs H F IH]; constructor; inversion Q; subst; auto.
    eapply lies_separate; eassumption.
  - intros a A (g & J & W & K); clear - PC F J W K A.
    induction F as [|h b L bs H F IH]; [destruct J|]; inversion PC; subst.
    destruct J as [->|J]; [|auto].
    assert (D : disjoint (code_at, Z.of_nat (length code)) (snd b)).
    { match goal with Q : compatible _ b |- _ => apply Q end; right; destruct g as [[u w] n]; apply H; exact W. }
    pose proof (lies_inside _ _ _ H K); unfold disjoint in D; cbn [fst snd] in D; lia.
Qed.

(** The accesses that the checker saw are allowed. *)
Lemma events_touch code code_at readable buffers L es :
  incl buffers readable -> Forall2 lies L buffers -> forallb (event_ok code L) es = true ->
  Forall (touches (code_at, Z.of_nat (length code)) readable buffers) (map (event_is B code_at) es).
Proof.
  intros I F H; apply Forall_forall; intros x J; apply in_map_iff in J as (e & <- & J).
  rewrite forallb_forall in H; specialize (H e J).
  assert (X : forall g, In g L -> exists b, In b buffers /\ lies g b).
  { clear - F; induction F as [|g b L bs G F IH]; intros h J; [destruct J|]; destruct J as [<-|J].
    - exists b; split; [now left|exact G].
    - destruct (IH h J) as (c & K & Q); exists c; split; [now right|exact Q]. }
  destruct e as [x n|u x n|u x n]; cbn [event_ok event_is touches] in *.
  - apply andb_prop in H as [H1 H2]; apply Z.leb_le in H1, H2; unfold within; cbn [fst snd]; lia.
  - apply existsb_exists in H as ([[v w] l] & K & H).
    apply andb_prop in H as [H H2]; apply andb_prop in H as [H0 H1].
    apply Nat.eqb_eq in H0 as ->; apply Z.leb_le in H1, H2.
    destruct (X _ K) as (b & Q & [_ G]); apply Exists_exists; exists b; split; [apply I; exact Q|].
    unfold within in *; lia.
  - apply existsb_exists in H as ([[v w] l] & K & H).
    apply andb_prop in H as [H H2]; apply andb_prop in H as [H H1]; apply andb_prop in H as [H0 HW].
    apply Nat.eqb_eq in H0 as ->; apply Z.leb_le in H1, H2.
    destruct (X _ K) as (b & Q & [W G]); apply Exists_exists; exists b; split; [exact Q|]; split; [apply W; exact HW|].
    unfold within in *; lia.
Qed.
End Regions.

Lemma touches_more code readable readable' written written' e :
  incl readable readable' -> incl written written' -> touches code readable written e -> touches code readable' written' e.
Proof.
  intros I J; destruct e; cbn [touches]; auto; rewrite !Exists_exists; intros (b & K & H); exists b; auto.
Qed.

(** What is known of every call. *)
Definition of_call (A : abi) (nonzero : option nat) : knowledge := Knowing (least A) nonzero [] [].

(** Checks that all pieces share: each argument of a node is older, the registers that do not change are untouched, every
    access is inside a region. *)
Definition sane (A : abi) (code : list byte) (L : list (nat * bool * nat)) (s : symbolic) : bool :=
  well_founded (s_nodes s) && forallb (unknown (s_gpr s)) (saved A) && forallb (unknown (s_vec s)) (kept A) &&
  forallb (event_ok code L) (s_trace s).

Lemma sane_is A code L s : sane A code L s = true ->
  well_founded (s_nodes s) = true /\ forallb (unknown (s_gpr s)) (saved A) = true /\
  forallb (unknown (s_vec s)) (kept A) = true /\ forallb (event_ok code L) (s_trace s) = true.
Proof. unfold sane; intro H; do 3 (apply andb_prop in H as [H ?]); repeat split; assumption. Qed.

(** The instruction at a place of the code. *)
Lemma step_in (I : isa) code m code_at x es n :
  pc m = code_at + Z.of_nat x -> read (mem m) code_at (length code) = code -> code_at + Z.of_nat (length code) <= 2 ^ 64 ->
  (x <= length code)%nat -> sfetch I (lengths I) (skipn x code) = Some (es, n) ->
  step I m = apply_all I es (log [Fetch (code_at + Z.of_nat x) n] (with_pc (wrap (code_at + Z.of_nat x + Z.of_nat n)) m)).
Proof.
  intros PC CODE SP X E; assert (LEN : length (skipn x code) = (length code - x)%nat) by apply skipn_length.
  destruct (fetch_sound I m _ _ _ _ E) as [F N].
  { intros k K; rewrite PC, (read_part (mem m) code_at (length code)) by lia; rewrite CODE; reflexivity. }
  unfold step; rewrite F.
  assert (FT : fits (pc m) n = true) by (apply Z.leb_le; lia).
  rewrite FT, PC; reflexivity.
Qed.
