(** * LaneLoop: kernels that process blocks of several states at once, for every number of blocks

    As in Loop.v, the checker evaluates three pieces.  The states are lanes of one buffer (Lanes.v), and each lane has
    blocks of its own, at an address that the code reads from memory.  Between two iterations some words of the states
    may be in memory; the code may use the memory of the others for what it likes. *)

From Coq Require Import List Bool Arith NArith ZArith ZifyNat Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call Lanes.
From Veriplex Require Loop.
Import ListNotations.
Local Open Scope Z_scope.

Notation operation := Loop.operation.
Notation on_bytes := Loop.on_bytes.
Notation on_symbols := Loop.on_symbols.

(** ** An operation on each of several states, with one block each *)

Section Each.
Variable op : operation.

Fixpoint each (ss cs : list (list sbyte)) (nodes : list node) : list (list sbyte) * list (list sbyte) * list node :=
  match ss, cs with
  | s :: ss, c :: cs =>
      match on_symbols op s [c] nodes with
      | (s, bs, nodes) => match each ss cs nodes with (ss, cs, nodes) => (s :: ss, nth 0 bs [] :: cs, nodes) end
      end
  | _, _ => ([], [], nodes)
  end.

Lemma each_sound env ss : forall cs nodes ss' cs' nodes', each ss cs nodes = (ss', cs', nodes') -> length cs = length ss ->
  extends nodes nodes' /\ length ss' = length ss /\ length cs' = length ss /\
  (consistent env nodes' -> forall l, (l < length ss)%nat ->
     let r := on_bytes op (evs env (nth l ss [])) [evs env (nth l cs [])] in
     fst r = evs env (nth l ss' []) /\ nth 0 (snd r) [] = evs env (nth l cs' [])).
Proof.
  induction ss as [|s ss IH]; intros [|c cs] nodes ss' cs' nodes' E L; cbn [each length] in *; try discriminate.
  - injection E as <- <- <-; split; [apply extends_refl|]; repeat split; lia.
  - destruct (on_symbols op s [c] nodes) as [[t bs] n1] eqn:E1; destruct (each ss cs n1) as [[ts ds] n2] eqn:E2.
    injection E as <- <- <-.
    pose proof (Loop.grow op _ _ _ _ _ _ E1) as G; destruct (IH cs n1 ts ds n2 E2 ltac:(lia)) as (X & L1 & L2 & S).
    split; [eapply extends_trans; eassumption|]; cbn [length]; split; [lia|]; split; [lia|].
    intros C [|l] LL; cbn [nth].
    + pose proof (Loop.agree op env s [c] nodes t bs n1 E1 (consistent_older env _ _ X C)) as A; cbn [map] in A.
      cbv zeta; rewrite A; cbn [fst snd]; split; [reflexivity|]; apply (map_nth (evs env) bs []).
    + apply S; [assumption|lia].
Qed.
End Each.

(** Where a kernel keeps things.  Its arguments are the addresses of the states, of the blocks' addresses, the number of
    blocks, and the address of the round constants. *)
Record kernel := Kernel {
  code : list byte;
  head : Z;                     (* the test of the counter, from the start of the code *)
  many : nat;                   (* how many states *)
  constants : list byte;        (* the table of round constants, *)
  shift : Z;                    (* and what the code adds to its address before the first test *)
  written : bool;               (* whether the blocks are written *)
  moving : list (nat * snumber * nat);          (* registers that go up by 94: before the first test, and at each *)
  word_in : list (nat * list (nat * nat));      (* vector registers with words of the states, at the test: lane, word *)
  constants_in : list (nat * list byte);        (* vector registers with constants, at the test *)
  numbers_in : list (nat * Z);                  (* general registers with constants *)
  held : list nat               (* the words of the states that are in memory at the test *)
}.

(** Unknowns besides the arguments: the addresses in memory, what the code has added to them, and the sums. *)
Definition lane_pointer (l : nat) : nat := (100 + l)%nat.
Definition offset : nat := 200%nat.
Definition lane_block (l : nat) : nat := (300 + l)%nat.

(** ** Lists *)

Lemma nth_part {T} (d : T) c p x j : (j < c)%nat -> nth j (firstn c (skipn p x)) d = nth (p + j) x d.
Proof.
  revert x; induction p as [|p IH]; intros x L; cbn [skipn Nat.add].
  - revert c x L; induction j as [|j IJ]; intros [|c] [|a x] L; cbn [firstn nth]; try lia; try reflexivity.
    apply IJ; lia.
  - destruct x as [|a x]; [|exact (IH x L)].
    destruct j, c; reflexivity.
Qed.

Lemma concat_length {T} c (f : nat -> list T) k : (forall l, (l < k)%nat -> length (f l) = c) ->
  length (concat (map f (seq 0 k))) = (c * k)%nat.
Proof.
  induction k as [|k IH]; intro H; [cbn; lia|].
  rewrite seq_S, map_app, concat_app, app_length, IH by auto; cbn [map concat Nat.add].
  rewrite app_nil_r, H by lia; lia.
Qed.

Lemma concat_part {T} c (f : nat -> list T) k l pre post : (l < k)%nat -> (forall l, (l < k)%nat -> length (f l) = c) ->
  firstn c (skipn (length pre + c * l) (pre ++ concat (map f (seq 0 k)) ++ post)) = f l.
Proof.
  intros L H; replace k with (l + S (k - S l))%nat by lia.
  rewrite seq_app, map_app, concat_app; cbn [Nat.add seq map concat].
  rewrite <- !app_assoc, app_assoc, skipn_app, skipn_all2 by (rewrite app_length, (concat_length c) by (intros; apply H; lia); lia).
  rewrite app_length, (concat_length c), Nat.sub_diag, skipn_O by (intros; apply H; lia); cbn [app].
  rewrite firstn_app, H, Nat.sub_diag, firstn_O, app_nil_r by lia; apply firstn_all2; rewrite H by lia; lia.
Qed.

Lemma flat_map_evs {T} env (f : T -> list sbyte) l : evs env (flat_map f l) = flat_map (fun x => evs env (f x)) l.
Proof. induction l as [|a l IH]; cbn [flat_map]; [reflexivity|]; rewrite evs_app, IH; reflexivity. Qed.

Lemma pairs_prefix {T} (R : T -> T -> Prop) l1 l2 : ForallOrdPairs R (l1 ++ l2) -> ForallOrdPairs R l1.
Proof.
  induction l1 as [|a l1 IH]; cbn [app]; intro H; constructor; inversion H as [|? ? F G]; subst; auto.
  apply Forall_app in F; apply F.
Qed.

Lemma pairs_head {T} (R : T -> T -> Prop) a l : ForallOrdPairs R (a :: l) -> Forall (R a) l /\ ForallOrdPairs R l.
Proof. intro H; inversion H; auto. Qed.

Section Loop.
Variable A : abi.
Variable K : kernel.
Variable op : operation.

Notation isa_ := (isa_of A).
Definition state : nat := argument A 0.
Definition addresses : nat := argument A 1.
Definition count : nat := argument A 2.
Definition table : nat := argument A 3.
Notation k := (many K).

Definition is_held (w : nat) : bool := existsb (Nat.eqb w) (held K).

Definition numbers (counter : snumber) (shifted : Z) (more : list (nat * snumber)) : list (nat * snumber) :=
  (state, (Some state, 0)) :: (addresses, (Some addresses, 0)) :: (table, (Some table, shifted)) :: (count, counter) ::
  more ++ map (fun rz => (fst rz, (None, snd rz))) (numbers_in K).

Definition first_numbers : list (nat * snumber) := map (fun r => (r, (Some r, 0))) [state; addresses; table; count].

Definition entering : list (nat * snumber) := map (fun r => (fst (fst r), snd (fst r))) (moving K).
Definition moved (by_ : Z) : list (nat * snumber) := map (fun r => (fst (fst r), (Some (snd r), by_))) (moving K).

Definition words {T} (c : byte -> T) (ss : list (list T)) : list (nat * list T) :=
  map (fun rc => (fst rc, map c (snd rc))) (constants_in K) ++
  map (fun rl => (fst rl, flat_map (fun lw => firstn 16 (skipn (16 * snd lw) (nth (fst lw) ss []))) (snd rl))) (word_in K).

(** The inputs: the buffer of the states, the addresses of the blocks, the states, a block of each. *)
Definition at_states : nat := (size k + 8 * k)%nat.
Definition at_blocks : nat := (size k + 8 * k + 128 * k)%nat.

Definition sstate (l : nat) : list sbyte :=
  map (fun j => atom (N.of_nat (if is_held (j / 16) then place l j else at_states + 128 * l + j))) (seq 0 128).
Definition sstates : list (list sbyte) := map sstate (seq 0 k).
Definition first_states : list (list sbyte) := map (fun l => lane (const 0) l (input 0 (size k))) (seq 0 k).

Definition regions (w : bool) : list region :=
  [Region state w (input 0 (size k)); Region table false (map const (constants K));
   Region addresses false (input (size k) (8 * k))].
Definition sblocks : list region := map (fun l => Region (lane_block l) (written K) (input (at_blocks + 94 * l) 94)) (seq 0 k).

Definition layout (w : bool) : list (nat * bool * nat) :=
  [(state, w, size k); (table, false, length (constants K)); (addresses, false, (8 * k)%nat)].
Definition block_layout : list (nat * bool * nat) := map (fun l => (lane_block l, written K, 94%nat)) (seq 0 k).

Definition knowing (nonzero : option nat) : knowledge :=
  Knowing (least A) nonzero (map (fun l => (lane_pointer l, offset, lane_block l)) (seq 0 k))
    (map (fun l => (addresses, 8 * Z.of_nat l, lane_pointer l)) (seq 0 k)).

Definition goal := each op sstates (map content sblocks) [].

Definition entry_found :=
  srun isa_ (code K) (knowing None) 100 (head K)
    (started 0 first_numbers [] (regions false) [] (gprs A) (vecs A)).

Definition step_found :=
  srun isa_ (code K) (knowing (Some count)) 4000 (head K)
    (started (head K) (numbers (Some count, 0) (shift K) (moved 0)) (words const sstates) (regions true ++ sblocks) (snd goal)
      (gprs A) (vecs A)).

Definition exit_found :=
  srun isa_ (code K) (knowing None) 100 (last_at A (code K))
    (started (head K) (numbers (None, 0) (shift K) (moved 0)) (words const sstates) (regions true) [] (gprs A) (vecs A)).

Definition entry_ok (s : symbolic) : bool :=
  (s_pc s =? head K) && sane A (code K) (layout false) s &&
  forallb (number_ok (s_gpr s)) (numbers (Some count, 0) (shift K) entering) &&
  forallb (word_ok (s_vec s)) (words const first_states).

(** The words that are held are right, and other lanes' bytes as they were. *)
Definition memory_ok (x : list sbyte) (ss : list (list sbyte)) : bool :=
  forallb (fun j =>
    if (lane_of j <? k)%nat then
      negb (is_held (byte_of j / 16)) || sbyte_eqb (nth j x (const 0)) (nth (byte_of j) (nth (lane_of j) ss []) (const 0))
    else sbyte_eqb (nth j x (const 0)) (atom (N.of_nat j))) (seq 0 (size k)).

(** [let], so that it is evaluated only once. *)
Definition step_ok (s : symbolic) : bool :=
  let after := goal in
  (s_pc s =? head K) && sane A (code K) (layout true ++ block_layout) s &&
  forallb (number_ok (s_gpr s)) (numbers (Some count, -1) (shift K) (moved 94)) &&
  forallb (word_ok (s_vec s)) (words const (fst (fst after))) &&
  forallb (fun t => length t =? 128)%nat (fst (fst after)) &&
  list_eqb word_eqb (map content (skipn 3 (s_mem s))) (snd (fst after)) &&
  match s_mem s with g :: _ => memory_ok (content g) (fst (fst after)) | [] => false end.

Definition exit_ok (s : symbolic) : bool :=
  (s_pc s =? last_at A (code K)) && sane A (code K) (layout true) s && forallb (cleared_ok (s_vec s)) (cleared A) &&
  match s_mem s with g :: _ => word_eqb (content g) (with_lanes (const 0) sstates (input 0 (size k))) | [] => false end.

Definition shape_ok : bool :=
  Loop.distinct [state; addresses; table; count] && forallb (fun r => r <? 100)%nat [state; addresses; table; count] &&
  (1 <=? k)%nat && (k <=? 8)%nat &&
  forallb (fun r => let '(_, e, u) := r in
    match e with
    | (None, x) => (x =? 0) && (u =? offset)%nat
    | (Some v, x) => (x =? 0) && (100 <=? v)%nat && (v <? 200)%nat && (u =? v + 200)%nat
    end) (moving K) &&
  forallb (fun rw => length (snd rw) <=? least A)%nat (words const sstates).

Definition checks : bool :=
  shape_ok && Loop.found entry_found entry_ok && Loop.found step_found step_ok && Loop.found exit_found exit_ok.

(** ** From the checks to the machine *)

Hypothesis CH : checks = true.

Variables (at_ : Z) (arg : nat -> Z) (ptr : nat -> Z) (m0 : machine) (n : nat) (others : list (bool * (Z * Z))).

Definition fixed : list (bool * (Z * Z)) :=
  [(true, (arg state, Z.of_nat (size k))); (false, (arg table, Z.of_nat (length (constants K))));
   (false, (arg addresses, 8 * Z.of_nat k))].
Definition buffer_of (l : nat) : bool * (Z * Z) := (written K, (ptr l, 94 * Z.of_nat n)).
Definition buffers : list (bool * (Z * Z)) := fixed ++ map buffer_of (seq 0 k).

Hypothesis AT : pc m0 = at_.
Hypothesis ARG : forall r, In r [state; addresses; table; count] -> gpr m0 r = arg r.
Hypothesis CALL : valid A (code K) others buffers m0.
Hypothesis TABLE : read (mem m0) (arg table) (length (constants K)) = constants K.
Hypothesis POINTERS : forall l, (l < k)%nat -> ptr l = wrap (number_of (read (mem m0) (arg addresses + 8 * Z.of_nat l) 8)).
Hypothesis COUNT : arg count = Z.of_nat n.
Hypothesis SMALL : Z.of_nat n < 2 ^ 64.
Hypothesis ENDS : ends_in_return A (code K).
Hypothesis REGS : forall r, 0 <= gpr m0 r < 2 ^ 64.

(** The values of the checker's unknowns in round i. *)
Definition B (i u : nat) : Z :=
  if (300 <=? u)%nat then ptr (u - 300) + 94 * Z.of_nat i
  else if (u =? offset)%nat then 94 * Z.of_nat i
  else if (100 <=? u)%nat then ptr (u - 100)
  else if (u =? count)%nat then arg u - Z.of_nat i else arg u.

Definition block_at (m : memory) (l i : nat) : list byte := read m (ptr l + 94 * Z.of_nat i) 94.

Fixpoint lane_after (l i : nat) : list byte :=
  match i with
  | O => lane_at (mem m0) (arg state) l
  | S i => fst (on_bytes op (lane_after l i) [block_at (mem m0) l i])
  end.

Definition states_after (i : nat) : list (list byte) := map (fun l => lane_after l i) (seq 0 k).

Definition output (l i : nat) : list byte := nth 0 (snd (on_bytes op (lane_after l i) [block_at (mem m0) l i])) [].

Definition touched (i : nat) (a : Z) : Prop :=
  in_lanes k (arg state) a \/ exists l, (l < k)%nat /\ written K = true /\ ptr l <= a < ptr l + 94 * Z.of_nat i.

Record at_test (i : nat) (tr : list event) (m : machine) : Prop := At_test {
  t_pc : pc m = wrap (at_ + head K);
  t_numbers : Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (numbers (Some count, 0) (shift K) (moved 0));
  t_words : Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = snd rw) (words (fun b => b) (states_after i));
  t_length : forall l, (l < k)%nat -> length (lane_after l i) = 128%nat;
  t_held : forall l j, (l < k)%nat -> (j < 128)%nat -> is_held (j / 16) = true ->
    mem m (arg state + Z.of_nat (place l j)) = nth j (lane_after l i) 0%N;
  t_saved : forall r, In r (saved A) -> gpr m r = gpr m0 r;
  t_kept : forall r, In r (kept A) -> vec m r = vec m0 r;
  t_vec : forall r, length (vec m r) = full isa_;
  t_done : forall l j, (l < k)%nat -> (j < i)%nat -> block_at (mem m) l j = output l j;
  t_frame : forall a, ~ touched i a -> mem m a = mem m0 a;
  t_trace : trace m = tr ++ trace m0
}.

(** *** Registers and places *)

Lemma shape : NoDup [state; addresses; table; count] /\ Forall (fun r => r < 100)%nat [state; addresses; table; count] /\
  (1 <= k <= 8)%nat /\
  Forall (fun r => let '(_, e, u) := r in
    match e with
    | (None, x) => x = 0 /\ u = offset
    | (Some v, x) => x = 0 /\ (100 <= v < 200)%nat /\ u = (v + 200)%nat
    end) (moving K) /\
  Forall (fun rw => length (snd rw) <= least A)%nat (words const sstates).
Proof.
  pose proof CH as H; unfold checks in H; do 3 (apply andb_prop in H as [H _]); unfold shape_ok in H.
  apply andb_prop in H as [H H6]; apply andb_prop in H as [H H5]; apply andb_prop in H as [H H4].
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2].
  apply Nat.leb_le in H3, H4; rewrite forallb_forall in H2, H5, H6.
  split; [apply Loop.distinct_nodup; exact H1|]; split; [|split; [lia|split]]; apply Forall_forall.
  - intros r J; apply Nat.ltb_lt, H2, J.
  - intros [[r [[v|] x]] u] J; specialize (H5 _ J); cbv beta iota in H5.
    + apply andb_prop in H5 as [H5 U]; apply andb_prop in H5 as [H5 V2]; apply andb_prop in H5 as [X V1].
      apply Z.eqb_eq in X; apply Nat.leb_le in V1; apply Nat.ltb_lt in V2; apply Nat.eqb_eq in U; lia.
    + apply andb_prop in H5 as [X U]; apply Z.eqb_eq in X; apply Nat.eqb_eq in U; auto.
  - intros rw J; apply Nat.leb_le, H6, J.
Qed.

Lemma B_block i l : B i (lane_block l) = ptr l + 94 * Z.of_nat i.
Proof.
  unfold B, lane_block; destruct (Nat.leb_spec 300 (300 + l)); [|lia].
  replace (300 + l - 300)%nat with l by lia; reflexivity.
Qed.

Lemma B_pointer i l : (l < 100)%nat -> B i (lane_pointer l) = ptr l.
Proof.
  intro L; unfold B, lane_pointer, offset.
  destruct (Nat.leb_spec 300 (100 + l)); [lia|]; destruct (Nat.eqb_spec (100 + l) 200); [lia|].
  destruct (Nat.leb_spec 100 (100 + l)); [|lia]; f_equal; lia.
Qed.

Lemma B_offset i : B i offset = 94 * Z.of_nat i.
Proof. reflexivity. Qed.

Lemma B_low i u : (u < 100)%nat -> B i u = if (u =? count)%nat then arg u - Z.of_nat i else arg u.
Proof.
  intro L; unfold B, offset; destruct (Nat.leb_spec 300 u); [lia|]; destruct (Nat.eqb_spec u 200); [lia|].
  destruct (Nat.leb_spec 100 u); [lia|]; reflexivity.
Qed.

Lemma B_count i : B i count = Z.of_nat n - Z.of_nat i.
Proof.
  destruct shape as (_ & F & _); rewrite Forall_forall in F.
  rewrite B_low by (apply F; cbn; tauto); rewrite Nat.eqb_refl, COUNT; reflexivity.
Qed.

Lemma B_fixed i u : In u [state; addresses; table] -> B i u = arg u.
Proof.
  intro U; destruct shape as (D & F & _); rewrite Forall_forall in F.
  rewrite B_low by (apply F; cbn in *; tauto).
  destruct (Nat.eqb_spec u count) as [->|]; [|reflexivity]; exfalso.
  repeat match goal with H : NoDup (_ :: _) |- _ => inversion H; subst; clear H end; cbn in *; intuition.
Qed.

Lemma words_evs env ss : map (fun rw => (fst rw, evs env (snd rw))) (words const ss) = words (fun b => b) (map (evs env) ss).
Proof.
  unfold words; rewrite map_app, !map_map; f_equal.
  - apply map_ext; intros [r c]; cbn [fst snd]; rewrite evs_const, map_id; reflexivity.
  - apply map_ext; intros [r l]; cbn [fst snd]; rewrite flat_map_evs; f_equal.
    induction l as [|[a w] l IH]; cbn [flat_map fst snd]; [reflexivity|]; rewrite IH; f_equal.
    rewrite evs_firstn, evs_skipn; do 2 f_equal; symmetry; apply (map_nth (evs env) ss []).
Qed.

Lemma words_start env m ss : Forall (fun rw => length (snd rw) <= least A)%nat (words const ss) ->
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = snd rw) (words (fun b => b) (map (evs env) ss)) ->
  Forall (fun rw => (length (snd rw) <= least A)%nat /\ firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) (words const ss).
Proof.
  rewrite <- words_evs; intros L H; rewrite Forall_forall in *; intros rw J; split; [exact (L rw J)|].
  specialize (H _ (in_map (fun rw => (fst rw, evs env (snd rw))) _ _ J)); cbn [fst snd] in H.
  rewrite evs_length in H; exact H.
Qed.

Lemma words_stop env m ss :
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) (words const ss) ->
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = snd rw) (words (fun b => b) (map (evs env) ss)).
Proof.
  rewrite <- words_evs; intro H; rewrite Forall_forall in *; intros rw J; apply in_map_iff in J as (x & <- & J).
  cbn [fst snd]; rewrite evs_length; exact (H x J).
Qed.

Lemma numbers_first m :
  Forall (fun rv => gpr m (fst rv) = number_is (B 0) (snd rv)) (numbers (Some count, 0) (shift K) entering) ->
  Forall (fun rv => gpr m (fst rv) = number_is (B 0) (snd rv)) (numbers (Some count, 0) (shift K) (moved 0)).
Proof.
  destruct shape as (_ & _ & _ & M & _); rewrite Forall_forall in M.
  unfold numbers; intro H; do 4 (inversion H as [|? ? ?H T]; subst; constructor; [assumption|]; clear H; rename T into H).
  apply Forall_app in H as [H HC]; apply Forall_app; split; [|exact HC].
  rewrite Forall_forall in *; intros rv J; apply in_map_iff in J as ([[r e] u] & <- & J); cbn [fst snd].
  specialize (H _ (in_map (fun r => (fst (fst r), snd (fst r))) _ _ J)); cbn [fst snd] in H; rewrite H.
  specialize (M _ J); cbv beta iota in M; destruct e as [[v|] x]; cbn [number_is].
  - destruct M as (-> & V & ->); replace v with (lane_pointer (v - 100)) at 1 by (unfold lane_pointer; lia).
    replace (v + 200)%nat with (lane_block (v - 100)) by (unfold lane_block; lia).
    rewrite B_pointer, B_block by lia; f_equal; lia.
  - destruct M as (-> & ->); rewrite B_offset; reflexivity.
Qed.

Lemma numbers_next i m :
  Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (numbers (Some count, -1) (shift K) (moved 94)) ->
  Forall (fun rv => gpr m (fst rv) = number_is (B (S i)) (snd rv)) (numbers (Some count, 0) (shift K) (moved 0)).
Proof.
  destruct shape as (_ & _ & _ & M & _); rewrite Forall_forall in M.
  unfold numbers; intro H; inversion H as [|? ? H1 T1]; subst; inversion T1 as [|? ? H2 T2]; subst.
  inversion T2 as [|? ? H3 T3]; subst; inversion T3 as [|? ? H4 T4]; subst; cbn [fst snd number_is] in *.
  constructor; [cbn [fst snd number_is]; rewrite H1, !B_fixed by (cbn; tauto); reflexivity|].
  constructor; [cbn [fst snd number_is]; rewrite H2, !B_fixed by (cbn; tauto); reflexivity|].
  constructor; [cbn [fst snd number_is]; rewrite H3, !B_fixed by (cbn; tauto); reflexivity|].
  constructor; [cbn [fst snd number_is]; rewrite H4, !B_count; f_equal; lia|].
  apply Forall_app in T4 as [T4 TC]; apply Forall_app; split.
  2: { rewrite Forall_forall in *; intros rv J; specialize (TC rv J); apply in_map_iff in J as (x & <- & J); exact TC. }
  rewrite Forall_forall in *; intros rv J; apply in_map_iff in J as ([[r e] u] & <- & J); cbn [fst snd].
  specialize (T4 _ (in_map (fun r => (fst (fst r), (Some (snd r), 94))) _ _ J)); cbn [fst snd number_is] in *; rewrite T4.
  assert (X : u = offset \/ exists l, u = lane_block l).
  { specialize (M _ J); cbv beta iota in M; destruct e as [[v|] x]; [right|tauto].
    exists (v - 100)%nat; unfold lane_block; lia. }
  destruct X as [->|[l ->]]; [rewrite !B_offset|rewrite !B_block]; f_equal; lia.
Qed.

(** *** Apartness *)

Lemma all_apart : ForallOrdPairs compatible (code_part (code K) m0 :: fixed ++ map buffer_of (seq 0 k)).
Proof. exact (pairs_without _ _ _ _ (v_apart _ _ _ _ _ CALL)). Qed.

Lemma all_range : Forall in_space (code_part (code K) m0 :: fixed ++ map buffer_of (seq 0 k)).
Proof.
  pose proof (v_range _ _ _ _ _ CALL) as R; inversion R as [|? ? R1 R2]; subst.
  apply Forall_app in R2; constructor; [exact R1|apply R2].
Qed.

Lemma in_seq_k l : (l < k)%nat -> In l (seq 0 k).
Proof. intro; apply in_seq; lia. Qed.

Lemma blocks_apart l l' : (l < k)%nat -> (l' < k)%nat -> l <> l' -> written K = true ->
  ptr l + 94 * Z.of_nat n <= ptr l' \/ ptr l' + 94 * Z.of_nat n <= ptr l.
Proof.
  intros L L' N W; pose proof (pairs_tail _ (code_part (code K) m0 :: fixed) _ all_apart) as P.
  assert (X : forall a c, ForallOrdPairs compatible (map buffer_of (seq a c)) -> (a <= l < a + c)%nat -> (a <= l' < a + c)%nat ->
    ptr l + 94 * Z.of_nat n <= ptr l' \/ ptr l' + 94 * Z.of_nat n <= ptr l).
  { intros a c; revert a; induction c as [|c IH]; intros a Q Y Z; [lia|]; cbn [seq map] in Q; inversion Q as [|? ? Q1 Q2]; subst.
    rewrite Forall_forall in Q1; destruct (Nat.eq_dec l a) as [->|].
    - assert (J : In (buffer_of l') (map buffer_of (seq (S a) c))) by (apply in_map, in_seq; lia).
      pose proof (Q1 _ J (or_introl W)) as D.
      unfold disjoint in D; cbn [buffer_of fst snd] in D; lia.
    - destruct (Nat.eq_dec l' a) as [->|].
      + assert (J : In (buffer_of l) (map buffer_of (seq (S a) c))) by (apply in_map, in_seq; lia).
      pose proof (Q1 _ J (or_introl W)) as D.
        unfold disjoint in D; cbn [buffer_of fst snd] in D; lia.
      + apply (IH (S a) Q2); lia. }
  apply (X 0%nat k P); lia.
Qed.

Lemma block_beside b l : In b (code_part (code K) m0 :: fixed) -> (l < k)%nat -> fst b = true \/ written K = true ->
  fst (snd b) + snd (snd b) <= ptr l \/ ptr l + 94 * Z.of_nat n <= fst (snd b).
Proof.
  intros I L W.
  exact (pairs_app _ (code_part (code K) m0 :: fixed) _ all_apart b (buffer_of l) I (in_map buffer_of _ _ (in_seq_k l L)) W).
Qed.

Lemma state_beside b : In b [code_part (code K) m0; (false, (arg table, Z.of_nat (length (constants K))));
    (false, (arg addresses, 8 * Z.of_nat k))] ->
  fst (snd b) + snd (snd b) <= arg state \/ arg state + Z.of_nat (size k) <= fst (snd b).
Proof.
  intro I; destruct (pairs_head _ _ _ all_apart) as [S1 S2]; unfold fixed in S1, S2; cbn [app] in S1, S2.
  destruct (pairs_head _ _ _ S2) as [S3 _].
  pose proof (Forall_inv S1 (or_intror eq_refl)) as C1; pose proof (Forall_inv S3 (or_introl eq_refl)) as C2.
  pose proof (Forall_inv (Forall_inv_tail S3) (or_introl eq_refl)) as C3; clear S1 S2 S3.
  unfold disjoint in C1, C2, C3; cbn [fst snd] in C1, C2, C3.
  destruct I as [<-|[<-|[<-|[]]]]; cbn [fst snd]; [destruct C1|destruct C2|destruct C3]; auto.
Qed.

Lemma in_lanes_range a : in_lanes k (arg state) a -> arg state <= a < arg state + Z.of_nat (size k).
Proof. intros (i & I & H); unfold size; lia. Qed.

Lemma untouched b a i : In b [code_part (code K) m0; (false, (arg table, Z.of_nat (length (constants K))));
    (false, (arg addresses, 8 * Z.of_nat k))] -> fst (snd b) <= a < fst (snd b) + snd (snd b) -> (i <= n)%nat -> ~ touched i a.
Proof.
  intros I H L [T|(l & Q & W & T)].
  - apply in_lanes_range in T; pose proof (state_beside b I); lia.
  - assert (J : In b (code_part (code K) m0 :: fixed)) by (cbn [fixed In] in *; tauto).
    pose proof (block_beside b l J Q (or_intror W)); nia.
Qed.

Lemma state_not_block a l : (l < k)%nat -> ptr l <= a < ptr l + 94 * Z.of_nat n -> ~ arg state <= a < arg state + Z.of_nat (size k).
Proof.
  intros L H G; pose proof (block_beside (true, (arg state, Z.of_nat (size k))) l ltac:(cbn [fixed In]; tauto) L (or_introl eq_refl)) as D.
  cbn [fst snd] in D; lia.
Qed.

Lemma block_fresh i l j m : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (l < k)%nat -> (i <= j < n)%nat ->
  block_at (mem m) l j = block_at (mem m0) l j.
Proof.
  intros F Q L; apply read_same; intros a H; apply F; intros [T|(q & P & W & T)].
  - apply in_lanes_range in T; apply (state_not_block a l Q); [nia|exact T].
  - destruct (Nat.eq_dec q l) as [->|N]; [nia|]; pose proof (blocks_apart q l P Q N W); nia.
Qed.

Lemma written_in i a : (i < n)%nat -> in_writable (B i) (layout true ++ block_layout) a ->
  arg state <= a < arg state + Z.of_nat (size k) \/
  exists l, (l < k)%nat /\ written K = true /\ ptr l + 94 * Z.of_nat i <= a < ptr l + 94 * Z.of_nat i + 94.
Proof.
  intros L (g & J & W & Q); apply in_app_or in J as [J|J].
  - left; destruct J as [<-|[<-|[<-|[]]]]; try discriminate; unfold inside in Q.
    rewrite B_fixed in Q by (cbn; tauto); exact Q.
  - right; apply in_map_iff in J as (l & <- & J); apply in_seq in J; unfold inside in Q; rewrite B_block in Q.
    exists l; split; [lia|]; split; [exact W|exact Q].
Qed.

Lemma written_in_state i w a : in_writable (B i) (layout w) a -> arg state <= a < arg state + Z.of_nat (size k) /\ w = true.
Proof.
  intros (g & [<-|[<-|[<-|[]]]] & W & Q); try discriminate; unfold inside in Q.
  rewrite B_fixed in Q by (cbn; tauto); split; [exact Q|exact W].
Qed.

(** *** The pieces *)

Lemma input_length a c : length (input a c) = c.
Proof. unfold input; now rewrite map_length, seq_length. Qed.

Lemma layout_is w : map layout_of (regions w) = layout w.
Proof. unfold regions, layout, layout_of; cbn [map start writable content]; rewrite !input_length, map_length; reflexivity. Qed.

Lemma block_layout_is : map layout_of sblocks = block_layout.
Proof.
  unfold sblocks, block_layout; rewrite map_map; apply map_ext; intro l; unfold layout_of; cbn [start writable content].
  rewrite input_length; reflexivity.
Qed.

Lemma placed_at i m w c L bs : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (i <= n)%nat ->
  (forall r, length (vec m r) = full isa_) ->
  match c with Some u => 0 < B i u < 2 ^ 64 | None => True end ->
  ForallOrdPairs compatible (code_part (code K) m0 :: fixed ++ bs) -> Forall in_space (fixed ++ bs) ->
  Forall2 (lies (B i)) L bs -> placed isa_ (code K) (knowing c) (B i) at_ m (layout w ++ L).
Proof.
  intros F LE V C P R Q; apply placed_in with (fixed ++ bs); auto.
  - rewrite <- AT; exact (Forall_inv all_range).
  - rewrite <- (v_code _ _ _ _ _ CALL) at 2; rewrite AT; apply read_same; intros a H; apply F.
    apply (untouched (code_part (code K) m0)); [now left| |exact LE]; unfold code_part; cbn [fst snd]; rewrite AT; exact H.
  - exact (v_least _ _ _ _ _ CALL).
  - apply Forall_forall; intros s J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; cbv beta iota.
    destruct shape as (_ & _ & K8 & _); rewrite B_pointer, B_offset, B_block by lia; reflexivity.
  - apply Forall_forall; intros s J; apply in_map_iff in J as (l & <- & J); apply in_seq in J; cbv beta iota.
    destruct shape as (_ & _ & K8 & _); rewrite B_pointer, B_fixed by (cbn; tauto || lia).
    rewrite (POINTERS l) by lia; unfold wrap; rewrite Z.mod_mod by lia; do 2 f_equal.
    apply read_same; intros a H; apply F; apply (untouched (false, (arg addresses, 8 * Z.of_nat k))); [cbn; tauto| |exact LE].
    cbn [fst snd]; lia.
  - unfold code_part in P; rewrite AT in P; exact P.
  - apply Forall2_app; [|exact Q].
    constructor; [|constructor; [|constructor; [|constructor]]]; (split; [auto; discriminate|]);
      rewrite B_fixed by (cbn; tauto); unfold within; cbn [fst snd]; lia.
Qed.

Lemma regions_hold i m w env rest : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (i <= n)%nat ->
  agrees env (read (mem m) (arg state) (size k) ++ read (mem m) (arg addresses) (8 * k) ++ rest) ->
  Forall (holds env (B i) (mem m)) (regions w).
Proof.
  intros F LE Q; destruct shape as (_ & _ & K8 & _).
  assert (SZ : (size k <= 1024)%nat) by (unfold size; lia).
  constructor; [|constructor; [|constructor; [|constructor]]]; unfold holds; cbn [start content]; rewrite B_fixed by (cbn; tauto).
  - rewrite input_length, (input_is env _ 0 (size k) Q) by (rewrite ?app_length, ?read_length; lia).
    rewrite skipn_O, firstn_app, read_length, Nat.sub_diag, firstn_O, app_nil_r, firstn_all2; [reflexivity|].
    rewrite read_length; lia.
  - rewrite map_length, evs_const; transitivity (read (mem m0) (arg table) (length (constants K))); [|exact TABLE].
    apply read_same; intros a H; apply F.
    apply (untouched (false, (arg table, Z.of_nat (length (constants K))))); [cbn; tauto| |exact LE]; cbn [fst snd]; lia.
  - rewrite input_length, (input_is env _ (size k) (8 * k) Q) by (rewrite ?app_length, ?read_length; lia).
    rewrite skipn_app, read_length, Nat.sub_diag, skipn_O, skipn_all2 by (rewrite read_length; lia); cbn [app].
    rewrite firstn_app, read_length, Nat.sub_diag, firstn_O, app_nil_r, firstn_all2; [reflexivity|].
    rewrite read_length; lia.
Qed.

Definition all_of (i : nat) (m : machine) : list byte :=
  read (mem m) (arg state) (size k) ++ read (mem m) (arg addresses) (8 * k) ++ concat (states_after i) ++
  concat (map (fun l => block_at (mem m) l i) (seq 0 k)).

Lemma env_is env all p : agrees env all -> (p < 4096)%nat -> env (N.of_nat p) = nth p all 0%N.
Proof. intros Q L; rewrite Q by (unfold first; lia); unfold inputs; rewrite Nat2N.id; reflexivity. Qed.

Lemma concat_states i : (forall l, (l < k)%nat -> length (lane_after l i) = 128%nat) ->
  length (concat (states_after i)) = (128 * k)%nat.
Proof. intro H; unfold states_after; apply concat_length; exact H. Qed.

Lemma sstate_is i m env l : (forall l, (l < k)%nat -> length (lane_after l i) = 128%nat) ->
  (forall l j, (l < k)%nat -> (j < 128)%nat -> is_held (j / 16) = true ->
    mem m (arg state + Z.of_nat (place l j)) = nth j (lane_after l i) 0%N) ->
  agrees env (all_of i m) -> (l < k)%nat -> evs env (sstate l) = lane_after l i.
Proof.
  intros TL TH Q L; destruct shape as (_ & _ & K8 & _); assert (SZ : (size k <= 1024)%nat) by (unfold size; lia).
  apply nth_ext with (d := 0%N) (d' := 0%N); [unfold sstate; rewrite evs_length, map_length, seq_length; symmetry; auto|].
  unfold sstate, evs; rewrite map_map, map_length, seq_length; intros j J.
  rewrite (nth_map_seq 0%N) by assumption; rewrite ev_atom.
  pose proof (place_bound l j k L J) as PB; destruct (is_held (j / 16)) eqn:H.
  - rewrite (env_is env _ _ Q) by lia; unfold all_of; rewrite app_nth1 by (rewrite read_length; lia).
    rewrite nth_read by lia; apply TH; assumption.
  - rewrite (env_is env _ _ Q) by (unfold at_states; lia).
    rewrite <- (nth_part 0%N 128 (at_states + 128 * l) (all_of i m) j J); f_equal.
    pose proof (concat_part 128 (fun l => lane_after l i) k l
      (read (mem m) (arg state) (size k) ++ read (mem m) (arg addresses) (8 * k))
      (concat (map (fun l => block_at (mem m) l i) (seq 0 k))) L TL) as P.
    rewrite app_length, !read_length, <- app_assoc in P; exact P.
Qed.

Lemma sstates_are i m env : (forall l, (l < k)%nat -> length (lane_after l i) = 128%nat) ->
  (forall l j, (l < k)%nat -> (j < 128)%nat -> is_held (j / 16) = true ->
    mem m (arg state + Z.of_nat (place l j)) = nth j (lane_after l i) 0%N) ->
  agrees env (all_of i m) -> map (evs env) sstates = states_after i.
Proof.
  intros TL TH Q; unfold sstates, states_after; rewrite map_map; apply map_ext_in; intros l J; apply in_seq in J.
  apply sstate_is with m; auto; lia.
Qed.

Lemma sblock_is i m env l : (forall l, (l < k)%nat -> length (lane_after l i) = 128%nat) ->
  agrees env (all_of i m) -> (l < k)%nat -> evs env (input (at_blocks + 94 * l) 94) = block_at (mem m) l i.
Proof.
  intros TL Q L; destruct shape as (_ & _ & K8 & _); assert (SZ : (size k <= 1024)%nat) by (unfold size; lia).
  assert (BL : forall l, (l < k)%nat -> length (block_at (mem m) l i) = 94%nat) by (intros; apply read_length).
  assert (LA : length (all_of i m) = (at_blocks + 94 * k)%nat).
  { unfold all_of, at_blocks; rewrite !app_length, !read_length, (concat_states i TL), (concat_length 94) by exact BL; lia. }
  rewrite (input_is env _ _ _ Q) by (rewrite ?LA; unfold at_blocks; lia).
  pose proof (concat_part 94 (fun l => block_at (mem m) l i) k l
    (read (mem m) (arg state) (size k) ++ read (mem m) (arg addresses) (8 * k) ++ concat (states_after i)) [] L BL) as P.
  rewrite app_nil_r, !app_length, !read_length, (concat_states i TL), <- !app_assoc in P.
  unfold at_blocks; rewrite <- P; unfold all_of; do 3 f_equal; lia.
Qed.

Lemma words_fit ss : length ss = k -> Forall (fun t => length t = 128%nat) ss ->
  Forall (fun rw => length (snd rw) <= least A)%nat (words (@const) ss).
Proof.
  intros LS F; destruct shape as (_ & _ & _ & _ & W); rewrite Forall_forall in W.
  assert (X : forall lw : nat * nat, length (firstn 16 (skipn (16 * snd lw) (nth (fst lw) ss []))) =
    length (firstn 16 (skipn (16 * snd lw) (nth (fst lw) sstates [])))).
  { intros [l w]; cbn [fst snd]; rewrite !firstn_length, !skipn_length; do 2 f_equal.
    assert (Y : length (nth l ss []) = length (nth l sstates [])); [|lia].
    destruct (Nat.lt_ge_cases l k) as [L|G].
    - rewrite (proj1 (Forall_forall _ _) F (nth l ss [])) by (apply nth_In; lia).
      unfold sstates; rewrite (nth_map_seq []) by assumption; unfold sstate; now rewrite map_length, seq_length.
    - rewrite !nth_overflow by (unfold sstates; rewrite ?map_length, ?seq_length; lia); reflexivity. }
  apply Forall_forall; intros rw J; unfold words in J; apply in_app_or in J as [J|J]; apply in_map_iff in J as (x & <- & J).
  - apply (W (fst x, map const (snd x))); unfold words; apply in_or_app; left; apply in_map_iff; exists x; auto.
  - cbn [snd]; specialize (W (fst x, flat_map (fun lw => firstn 16 (skipn (16 * snd lw) (nth (fst lw) sstates []))) (snd x))).
    cbn [snd] in W; eapply Nat.le_trans; [|apply W; unfold words; apply in_or_app; right; apply in_map_iff; exists x; auto].
    clear - X; induction (snd x) as [|lw l IH]; cbn [flat_map]; [lia|]; rewrite !app_length, X; lia.
Qed.

Lemma entry_round s : entry_found = Some s -> entry_ok s = true ->
  exists j m, run isa_ j m0 = Some m /\ at_test 0 (map (event_is (B 0) at_) (s_trace s)) m.
Proof.
  intros E H; unfold entry_found in E; unfold entry_ok in H.
  apply andb_prop in H as [H HV]; apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK.
  destruct shape as (_ & F100 & K8 & _); rewrite Forall_forall in F100.
  assert (SZ : (size k <= 1024)%nat) by (unfold size; lia).
  pose proof (Forall_inv all_range) as AR1; pose proof (Forall_inv_tail all_range) as AR2; apply Forall_app in AR2 as [AR2 _].
  assert (P : placed isa_ (code K) (knowing None) (B 0) at_ m0 (map layout_of (regions false))).
  { rewrite layout_is, <- (app_nil_r (layout false)).
    apply (placed_at 0 m0 false None [] []);
      [reflexivity|lia|exact (v_vec _ _ _ _ _ CALL)|exact Logic.I| | |constructor]; rewrite app_nil_r.
    - exact (pairs_prefix _ (code_part (code K) m0 :: fixed) _ all_apart).
    - exact AR2. }
  set (all := read (mem m0) (arg state) (size k) ++ read (mem m0) (arg addresses) (8 * k) ++ []).
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW all (B 0) at_ m0 P)
    as (env & j & m & Q & C & R & REL).
  - rewrite Z.add_0_r, wrap_small; [exact AT|]; unfold in_space, code_part in AR1; cbn [fst snd] in AR1; rewrite AT in AR1.
    destruct ENDS as [L _]; lia.
  - assert (ONE : forall r, In r [state; addresses; table; count] -> gpr m0 r = number_is (B 0) (Some r, 0)).
    { intros r J; cbn [number_is]; rewrite B_low by (apply F100; exact J).
      replace (if (r =? count)%nat then arg r - Z.of_nat 0 else arg r) with (arg r) by (destruct (r =? count)%nat; lia).
      rewrite Z.add_0_r, <- (ARG r J), wrap_small by apply REGS; reflexivity. }
    cbn [In] in ONE; unfold first_numbers; cbn [map]; repeat constructor; apply ONE; tauto.
  - intros; constructor.
  - intros env Q; apply (regions_hold 0 m0 false env []); auto; lia.
  - rewrite layout_is in REL.
    assert (FR : forall a, mem m a = mem m0 a).
    { intro a; apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written_in_state in W; destruct W; discriminate. }
    assert (INPUT : evs env (input 0 (size k)) = read (mem m0) (arg state) (size k)).
    { rewrite (input_is env _ 0 _ Q), skipn_O by (unfold all; rewrite ?app_length, ?read_length; lia); unfold all.
      rewrite firstn_app, read_length, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; rewrite read_length; lia. }
    exists j, m; split; [exact R|]; constructor.
    + rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP; reflexivity.
    + apply numbers_first, (numbers_end _ _ _ _ _ _ _ _ _ REL); exact HN.
    + replace (states_after 0) with (map (evs env) first_states).
      * apply words_stop, (words_end _ _ _ _ _ _ _ _ _ REL); exact HV.
      * unfold first_states, states_after; rewrite map_map; apply map_ext_in; intros l J; apply in_seq in J.
        rewrite evs_lane, INPUT; symmetry; apply lane_is; lia.
    + intros l L; cbn [lane_after]; rewrite (lane_is _ _ k) by lia; unfold lane; now rewrite map_length, seq_length.
    + intros l i L I _; rewrite FR; cbn [lane_after]; rewrite (lane_is _ _ k) by lia; unfold lane.
      rewrite (nth_map_seq 0%N) by assumption; rewrite nth_read by (apply place_bound; lia); reflexivity.
    + intros r J; apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
    + intros r J; apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
    + exact (vec_lengths _ _ _ _ _ _ _ _ _ REL).
    + intros l i L I; lia.
    + intros a _; apply FR.
    + exact (r_trace _ _ _ _ _ _ _ _ _ REL).
Qed.

Lemma blocks_lie i ls : (i < n)%nat ->
  Forall2 (lies (B i)) (map (fun l => (lane_block l, written K, 94%nat)) ls) (map buffer_of ls).
Proof.
  intro L; induction ls as [|l ls IH]; cbn [map]; constructor; [|exact IH].
  split; [auto|]; rewrite B_block; unfold within, buffer_of; cbn [fst snd]; nia.
Qed.

Lemma step_round s i tr m : step_found = Some s -> step_ok s = true -> (i < n)%nat -> at_test i tr m ->
  exists j m', run isa_ j m = Some m' /\ at_test (S i) (map (event_is (B i) at_) (s_trace s) ++ tr) m'.
Proof.
  intros E H LT T; unfold step_found in E; unfold step_ok in H; cbv zeta in H.
  apply andb_prop in H as [H HY]; apply andb_prop in H as [H HM]; apply andb_prop in H as [H HL].
  apply andb_prop in H as [H HV]; apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK.
  destruct T as [Tpc Tnum Twords Tlen Theld Tsaved Tkept Tvec Tdone Tframe Ttrace].
  destruct shape as (_ & _ & K8 & _ & WF); assert (SZ : (size k <= 1024)%nat) by (unfold size; lia).
  pose proof (Forall_inv_tail all_range) as AR2.
  assert (LAY : map layout_of (regions true ++ sblocks) = layout true ++ block_layout).
  { rewrite map_app, layout_is, block_layout_is; reflexivity. }
  assert (P : placed isa_ (code K) (knowing (Some count)) (B i) at_ m (layout true ++ block_layout)).
  { apply (placed_at i m true (Some count) block_layout (map buffer_of (seq 0 k))); auto; try lia.
    - rewrite B_count; lia.
    - exact all_apart.
    - exact (blocks_lie i (seq 0 k) LT). }
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW (all_of i m) (B i) at_ m ltac:(rewrite LAY; exact P) Tpc Tnum)
    as (env & j & m' & Q & C & R & REL).
  { intros env Q; apply words_start; [exact WF|]; rewrite (sstates_are i m env Tlen Theld Q); exact Twords. }
  { intros env Q; apply Forall_app; split; [exact (regions_hold i m true env _ Tframe ltac:(lia) Q)|].
    apply Forall_forall; intros g J; apply in_map_iff in J as (l & <- & J); apply in_seq in J.
    unfold holds; cbn [start content]; rewrite input_length, B_block, (sblock_is i m env l Tlen Q) by lia; reflexivity. }
  rewrite LAY in REL.
  assert (CG : consistent env (snd goal)).
  { eapply consistent_older; [|exact C]; exact (srun_extends _ _ _ env _ _ _ _ E). }
  destruct goal as [[ss cs] nodes] eqn:G; cbn [fst snd] in *; unfold goal in G.
  destruct (each_sound op env sstates (map content sblocks) [] ss cs nodes G) as (_ & LS & LC & OP).
  { unfold sblocks, sstates; now rewrite !map_length, seq_length. }
  specialize (OP CG); unfold sstates in LS, LC, OP; rewrite map_length, seq_length in LS, LC, OP; fold sstates in OP.
  assert (NOW : forall l, (l < k)%nat -> lane_after l (S i) = evs env (nth l ss []) /\ output l i = evs env (nth l cs [])).
  { intros l L; specialize (OP l L); cbv zeta in OP.
    unfold sstates in OP; rewrite (nth_map_seq []) in OP by assumption; rewrite (sstate_is i m env l Tlen Theld Q L) in OP.
    replace (nth l (map content sblocks) []) with (input (at_blocks + 94 * l) 94) in OP
      by (unfold sblocks; rewrite map_map; cbn [content]; rewrite (nth_map_seq []) by assumption; reflexivity).
    rewrite (sblock_is i m env l Tlen Q L), (block_fresh i l i m Tframe L) in OP by lia.
    cbn [lane_after]; unfold output; exact OP. }
  rewrite forallb_forall in HL.
  assert (LL : forall l, (l < k)%nat -> length (nth l ss []) = 128%nat) by (intros l L; apply Nat.eqb_eq, HL, nth_In; lia).
  assert (NEXT : states_after (S i) = map (evs env) ss).
  { unfold states_after; apply nth_ext with (d := []) (d' := []); rewrite !map_length, seq_length; [symmetry; exact LS|].
    intros l L; rewrite (nth_map_seq []) by assumption; rewrite (proj1 (NOW l L)); symmetry; apply (map_nth (evs env) ss []). }
  pose proof (r_mem _ _ _ _ _ _ _ _ _ REL) as MM; pose proof (r_layout _ _ _ _ _ _ _ _ _ REL) as ML.
  assert (MEM : exists g gs, s_mem s = g :: gs /\ start g = state /\ length (content g) = size k /\
    map layout_of (skipn 2 gs) = block_layout).
  { destruct (s_mem s) as [|g gs]; [discriminate|]; exists g, gs; split; [reflexivity|].
    unfold layout in ML; cbn [map app] in ML.
    pose proof (f_equal (fun l => match l with x :: _ => x | [] => (0%nat, false, 0%nat) end) ML) as H1; cbv beta iota in H1.
    split; [exact (f_equal (fun t => fst (fst t)) H1)|]; split; [exact (f_equal snd H1)|].
    apply (f_equal (skipn 3)) in ML; cbn [skipn] in ML; rewrite <- ML; symmetry.
    rewrite <- (map_map (fun x => x) layout_of), map_id; apply (skipn_map layout_of 2 gs). }
  destruct MEM as (g & gs & SM & GS & GL & BL); rewrite SM in HY, HM, MM; change (skipn 3 (g :: gs)) with (skipn 2 gs) in HM.
  pose proof (Forall_inv MM) as MG; pose proof (Forall_inv_tail MM) as MR.
  unfold holds in MG; rewrite GS, GL, B_fixed in MG by (cbn; tauto).
  assert (BYTE : forall p, (p < size k)%nat -> mem m' (arg state + Z.of_nat p) = ev env (nth p (content g) (const 0))).
  { intros p L; rewrite <- (nth_read _ _ (size k) p 0%N L), MG, nth_evs; reflexivity. }
  unfold memory_ok in HY; rewrite forallb_forall in HY.
  assert (BLOCKS : forall l, (l < k)%nat -> block_at (mem m') l i = evs env (nth l cs [])).
  { intros l L; apply list_eqb_eq in HM; [|apply word_eqb_eq]; rewrite <- HM.
    assert (Z2 : Forall (fun g => read (mem m') (B i (start g)) (length (content g)) = evs env (content g)) (skipn 2 gs))
      by (rewrite <- (firstn_skipn 2 gs) in MR; apply Forall_app in MR; apply MR).
    assert (LN : length (skipn 2 gs) = k) by (rewrite <- (map_length layout_of), BL; unfold block_layout; now rewrite map_length, seq_length).
    set (d := Region 0 false []).
    rewrite (map_nth content (skipn 2 gs) d l : nth l (map content (skipn 2 gs)) [] = content (nth l (skipn 2 gs) d)).
    rewrite <- (proj1 (Forall_forall _ _) Z2 (nth l (skipn 2 gs) d)) by (apply nth_In; lia).
    assert (LO : layout_of (nth l (skipn 2 gs) d) = (lane_block l, written K, 94%nat)).
    { rewrite <- (map_nth layout_of (skipn 2 gs) d l), BL; unfold block_layout.
      rewrite nth_indep with (d' := (lane_block 0, written K, 94%nat)) by (rewrite map_length, seq_length; lia).
      rewrite (map_nth (fun l => (lane_block l, written K, 94%nat))), seq_nth by lia; reflexivity. }
    rewrite (f_equal (fun t => fst (fst t)) LO : start _ = lane_block l), (f_equal snd LO : length _ = 94%nat), B_block.
    reflexivity. }
  exists j, m'; split; [exact R|]; constructor.
  - rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP; reflexivity.
  - apply numbers_next, (numbers_end _ _ _ _ _ _ _ _ _ REL); exact HN.
  - rewrite NEXT; apply words_stop, (words_end _ _ _ _ _ _ _ _ _ REL); exact HV.
  - intros l L; rewrite (proj1 (NOW l L)), evs_length; apply LL; exact L.
  - intros l p L J HH; rewrite BYTE by (apply place_bound; assumption).
    specialize (HY (place l p) (proj2 (in_seq _ _ _) (conj (Nat.le_0_l _) (place_bound l p k L J)))).
    rewrite place_lane, place_byte in HY by lia; apply Nat.ltb_lt in L as L'; rewrite L', HH in HY; cbn [negb orb] in HY.
    apply sbyte_eqb_eq in HY; rewrite HY, (proj1 (NOW l L)); symmetry; apply nth_evs.
  - intros r J; rewrite <- (Tsaved r J); apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
  - intros r J; rewrite <- (Tkept r J); apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
  - apply (vec_lengths _ _ _ _ _ _ _ _ _ REL).
  - intros l p L LP; destruct (Nat.eq_dec p i) as [->|NP]; [rewrite (BLOCKS l L); symmetry; apply NOW; exact L|].
    rewrite <- (Tdone l p L) by lia; apply read_same; intros a Ha; apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W.
    apply (written_in i a LT) in W as [W|(q & LQ & WR & W)].
    + apply (state_not_block a l L); [nia|exact W].
    + destruct (Nat.eq_dec q l) as [->|N]; [nia|]; pose proof (blocks_apart q l LQ L N WR); nia.
  - intros a NT.
    assert (NB : forall l, (l < k)%nat -> written K = true -> ~ ptr l <= a < ptr l + 94 * Z.of_nat (S i))
      by (intros l L W X; apply NT; right; exists l; auto).
    assert (NI : ~ touched i a).
    { intros [X|(l & L & W & X)]; [apply NT; left; exact X|]; apply (NB l L W); nia. }
    destruct (Z.lt_ge_cases a (arg state)) as [|A1]; [|destruct (Z.lt_ge_cases a (arg state + Z.of_nat (size k))) as [A2|]].
    1, 3: rewrite <- (Tframe a NI); apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W;
      apply (written_in i a LT) in W as [W|(l & L & WR & W)]; [lia|apply (NB l L WR); nia].
    set (p := Z.to_nat (a - arg state)); assert (LP : (p < size k)%nat) by (unfold p; lia).
    assert (AP : a = arg state + Z.of_nat p) by (unfold p; lia).
    specialize (HY p (proj2 (in_seq _ _ _) (conj (Nat.le_0_l _) LP))).
    destruct (Nat.ltb_spec (lane_of p) k) as [Y|Y].
    { exfalso; apply NT; left; exists (p / 128)%nat; unfold lane_of, size in *; clear - AP LP Y K8.
      zify; Z.to_euclidean_division_equations; lia. }
    apply sbyte_eqb_eq in HY; rewrite <- (Tframe a NI), AP, BYTE, HY, ev_atom, (env_is env _ p Q) by lia.
    unfold all_of; rewrite app_nth1 by (rewrite read_length; lia); apply nth_read; exact LP.
  - rewrite (r_trace _ _ _ _ _ _ _ _ _ REL), Ttrace, app_assoc; reflexivity.
Qed.

Lemma exit_round s tr m : exit_found = Some s -> exit_ok s = true -> at_test n tr m ->
  exists j m', run isa_ j m = Some m' /\ at_return A (code K) m0 m' /\
    (forall l, (l < k)%nat -> lane_at (mem m') (arg state) l = lane_after l n) /\
    (forall l i, (l < k)%nat -> (i < n)%nat -> block_at (mem m') l i = output l i) /\
    (forall a, ~ touched n a -> mem m' a = mem m0 a) /\
    trace m' = map (event_is (B n) at_) (s_trace s) ++ tr ++ trace m0.
Proof.
  intros E H T; unfold exit_found in E; unfold exit_ok in H.
  apply andb_prop in H as [H HM]; apply andb_prop in H as [H HC]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK.
  destruct T as [Tpc Tnum Twords Tlen Theld Tsaved Tkept Tvec Tdone Tframe Ttrace].
  destruct shape as (_ & _ & K8 & _ & WF); assert (SZ : (size k <= 1024)%nat) by (unfold size; lia).
  pose proof (Forall_inv all_range) as AR1; pose proof (Forall_inv_tail all_range) as AR2; apply Forall_app in AR2 as [AR2 _].
  assert (P : placed isa_ (code K) (knowing None) (B n) at_ m (map layout_of (regions true))).
  { rewrite layout_is, <- (app_nil_r (layout true)).
    apply (placed_at n m true None [] []); [exact Tframe|lia|exact Tvec|exact Logic.I| | |constructor]; rewrite app_nil_r.
    - exact (pairs_prefix _ (code_part (code K) m0 :: fixed) _ all_apart).
    - exact AR2. }
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW (all_of n m) (B n) at_ m P Tpc) as (env & j & m' & Q & C & R & REL).
  - unfold numbers in *; inversion Tnum as [|? ? N1 T1]; subst; inversion T1 as [|? ? N2 T2]; subst.
    inversion T2 as [|? ? N3 T3]; subst; inversion T3 as [|? ? N4 T4]; subst.
    constructor; [exact N1|]; constructor; [exact N2|]; constructor; [exact N3|]; constructor; [|exact T4].
    cbn [fst snd number_is] in *; rewrite N4, B_count; f_equal; lia.
  - intros env Q; apply words_start; [exact WF|]; rewrite (sstates_are n m env Tlen Theld Q); exact Twords.
  - intros env Q; exact (regions_hold n m true env _ Tframe (le_n n) Q).
  - rewrite layout_is in REL.
    pose proof (r_mem _ _ _ _ _ _ _ _ _ REL) as MM; pose proof (r_layout _ _ _ _ _ _ _ _ _ REL) as ML.
    destruct (s_mem s) as [|g gs]; [discriminate|]; pose proof (Forall_inv MM) as MG; unfold layout in ML; cbn [map] in ML.
    pose proof (f_equal (fun l => match l with x :: _ => x | [] => (0%nat, false, 0%nat) end) ML) as H1; cbv beta iota in H1.
    cbv beta in MG; rewrite (f_equal (fun t => fst (fst t)) H1 : start g = state), (f_equal snd H1 : length (content g) = size k),
      B_fixed in MG by (cbn; tauto).
    set (Y := read (mem m) (arg state) (size k)).
    assert (INPUT : evs env (input 0 (size k)) = Y).
    { rewrite (input_is env _ 0 _ Q), skipn_O by (unfold all_of; rewrite ?app_length, ?read_length; lia); unfold all_of.
      rewrite firstn_app, read_length, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; unfold Y; rewrite read_length; lia. }
    apply word_eqb_eq in HM; rewrite HM, evs_with_lanes, (sstates_are n m env Tlen Theld Q), INPUT in MG.
    assert (LS : length (states_after n) = k) by (unfold states_after; now rewrite map_length, seq_length).
    assert (LY : length Y = size k) by apply read_length.
    assert (FRAME : forall a, ~ touched n a -> mem m' a = mem m0 a).
    { intros a NT; rewrite <- (Tframe a NT).
      destruct (Z.lt_ge_cases a (arg state)) as [|A1]; [|destruct (Z.lt_ge_cases a (arg state + Z.of_nat (size k))) as [A2|]].
      1, 3: apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written_in_state in W; lia.
      set (p := Z.to_nat (a - arg state)); assert (LP : (p < size k)%nat) by (unfold p; lia).
      assert (AP : a = arg state + Z.of_nat p) by (unfold p; lia).
      rewrite AP, <- !(nth_read _ _ (size k) p 0%N LP), MG; fold Y; rewrite nth_with_lanes, LS by lia.
      destruct (Nat.ltb_spec (lane_of p) k) as [L|]; [|reflexivity].
      exfalso; apply NT; left; exists (p / 128)%nat; unfold lane_of, size in *; clear - AP LP L K8.
      zify; Z.to_euclidean_division_equations; lia. }
    exists j, m'; split; [exact R|]; split; [constructor|split; [|split; [|split; [exact FRAME|]]]].
    + rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP, AT; apply wrap_small; unfold in_space, code_part in AR1; cbn [fst snd] in AR1.
      rewrite AT in AR1; destruct ENDS as [L _]; unfold last_at; lia.
    + intros r J; rewrite <- (Tsaved r J); apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
    + intros r J; rewrite <- (Tkept r J); apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
    + intros r J; pose proof (cleared_end _ _ _ _ _ _ _ _ _ REL _ (v_least _ _ _ _ _ CALL) HC) as X.
      rewrite Forall_forall in X; exact (X r J).
    + intros l L; rewrite (lane_is _ _ k l L), MG, lane_with_lanes; rewrite ?LS; try lia;
        unfold states_after; rewrite (nth_map_seq []) by lia; auto.
    + intros l i L LI; rewrite <- (Tdone l i L LI); apply read_same; intros a Ha.
      apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written_in_state in W as [W _].
      apply (state_not_block a l L); [nia|exact W].
    + rewrite (r_trace _ _ _ _ _ _ _ _ _ REL), Ttrace; reflexivity.
Qed.

Fixpoint rounds_trace (s : symbolic) (i : nat) : list event :=
  match i with O => [] | S i => map (event_is (B i) at_) (s_trace s) ++ rounds_trace s i end.

Lemma all_rounds s0 s : entry_found = Some s0 -> entry_ok s0 = true -> step_found = Some s -> step_ok s = true ->
  forall i, (i <= n)%nat -> exists j m, run isa_ j m0 = Some m /\
    at_test i (rounds_trace s i ++ map (event_is (B 0) at_) (s_trace s0)) m.
Proof.
  intros E0 H0 E H; induction i as [|i IH]; intro L.
  - exact (entry_round s0 E0 H0).
  - destruct IH as (j & m & R & T); [lia|].
    destruct (step_round s i _ m E H ltac:(lia) T) as (j' & m' & R' & T').
    exists (j + j')%nat, m'; split; [rewrite (run_app _ _ _ _ _ R); exact R'|].
    cbn [rounds_trace]; rewrite <- app_assoc; exact T'.
Qed.

Definition accesses : list event :=
  map (event_is (B n) at_) (s_trace (Loop.piece exit_found)) ++
  rounds_trace (Loop.piece step_found) n ++ map (event_is (B 0) at_) (s_trace (Loop.piece entry_found)).

Lemma events_in i w bs L es : incl (fixed ++ bs) buffers -> Forall2 (lies (B i)) L bs ->
  forallb (event_ok (code K) (layout w ++ L)) es = true ->
  Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) (map (event_is (B i) at_) es).
Proof.
  intros I F H; eapply Forall_impl; [intros e J; exact (touches_more _ (fixed ++ bs) _ (fixed ++ bs) _ e ltac:(apply incl_appr, I) I J)|].
  cbn [code_part snd]; rewrite AT; apply (events_touch (B i) _ _ _ _ (layout w ++ L)); [apply incl_refl| |exact H].
  apply Forall2_app; [|exact F].
  constructor; [|constructor; [|constructor; [|constructor]]]; (split; [auto; discriminate|]);
    rewrite B_fixed by (cbn; tauto); unfold within; cbn [fst snd]; lia.
Qed.

Theorem lane_loop_sound :
  Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) accesses /\
  exists j m', run isa_ j m0 = Some m' /\ at_return A (code K) m0 m' /\
    (forall l, (l < k)%nat -> lane_at (mem m') (arg state) l = lane_after l n) /\
    (forall l i, (l < k)%nat -> (i < n)%nat -> block_at (mem m') l i = output l i) /\
    (forall a, ~ touched n a -> mem m' a = mem m0 a) /\
    trace m' = accesses ++ trace m0.
Proof.
  pose proof CH as H; unfold checks in H.
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H H2]; apply andb_prop in H as [_ H1].
  unfold Loop.found in H1, H2, H3; unfold accesses.
  destruct entry_found as [s1|] eqn:E1; [|discriminate]; destruct step_found as [s2|] eqn:E2; [|discriminate].
  destruct exit_found as [s3|] eqn:E3; [|discriminate]; cbn [Loop.piece].
  split.
  - assert (V1 : forallb (event_ok (code K) (layout false ++ [])) (s_trace s1) = true).
    { rewrite app_nil_r; unfold entry_ok in H1; do 2 (apply andb_prop in H1 as [H1 _]); apply andb_prop in H1 as [_ H1].
      apply (sane_is _ _ _ _ H1). }
    assert (V2 : forallb (event_ok (code K) (layout true ++ block_layout)) (s_trace s2) = true).
    { unfold step_ok in H2; cbv zeta in H2; do 5 (apply andb_prop in H2 as [H2 _]); apply andb_prop in H2 as [_ H2]; apply (sane_is _ _ _ _ H2). }
    assert (V3 : forallb (event_ok (code K) (layout true ++ [])) (s_trace s3) = true).
    { rewrite app_nil_r; unfold exit_ok in H3; do 2 (apply andb_prop in H3 as [H3 _]); apply andb_prop in H3 as [_ H3].
      apply (sane_is _ _ _ _ H3). }
    assert (IN : incl (fixed ++ []) buffers) by (rewrite app_nil_r; unfold buffers; apply incl_appl, incl_refl).
    apply Forall_app; split; [|apply Forall_app; split].
    + exact (events_in n true [] [] _ IN ltac:(constructor) V3).
    + assert (X : forall i, (i <= n)%nat ->
        Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) (rounds_trace s2 i)).
      { induction i as [|i IH]; intro L; cbn [rounds_trace]; [constructor|]; apply Forall_app; split; [|apply IH; lia].
        exact (events_in i true (map buffer_of (seq 0 k)) block_layout _ (incl_refl _) (blocks_lie i (seq 0 k) L) V2). }
      apply X; lia.
    + exact (events_in 0 false [] [] _ IN ltac:(constructor) V1).
  - destruct (all_rounds s1 s2 E1 H1 E2 H2 n ltac:(lia)) as (j & m & R & T).
    destruct (exit_round s3 _ m E3 H3 T) as (j' & m' & R' & RT & ST & DN & FR & TR).
    exists (j + j')%nat, m'; split; [rewrite (run_app _ _ _ _ _ R); exact R'|]; repeat (split; [assumption|]).
    rewrite TR, <- !app_assoc; reflexivity.
Qed.
End Loop.
