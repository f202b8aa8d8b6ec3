(** * Poly1305Rows: the theorem about kernels of Poly1305 whose lanes have words of 64 bits, for any calling convention

    Sums and multipliers are in memory as rows, each with one word of every lane.  A kernel's own files give what it does in
    an iteration, and what this is for the words of all lanes: [groups_are_added_in_order].  In [groups_are_added] it is a
    program on two lanes at once (LanePrograms.v), and the order of bytes is that in memory. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic Checker Segment Call Loop KernelCall BlockKernels
  ChaChaRows ChaChaKernels NHBytes NHKernels LanePrograms.
From Veriplex Require Poly1305.
Import ListNotations.
Local Open Scope Z_scope.

(** ** What is in memory *)

(** Rows of words, each with one word of every lane: the words of each lane. *)
Definition lanes_at (rows lanes : nat) (m : memory) (a : Z) : list (list Z) :=
  map (fun l => map (fun i => Poly1305.le_number (read m (a + 8 * Z.of_nat (lanes * i + l)) 8)) (seq 0 rows)) (seq 0 lanes).

(** Their bytes. *)
Definition rows_of (rows : nat) (lanes : list (list Z)) : list byte :=
  flat_map (fun i => flat_map (fun x => little_endian 8 (Z.to_N (nth i x 0))) lanes) (seq 0 rows).

(** n groups of this many bytes in a row. *)
Definition groups_at (size : nat) (m : memory) (a : Z) (n : nat) : list (list byte) :=
  map (fun g => read m (a + Z.of_nat size * Z.of_nat g) size) (seq 0 n).

Lemma groups_are_whole size m a n : bytes_in_memory m ->
  Forall (fun group => length group = size /\ Forall (fun b => (b < 256)%N) group) (groups_at size m a n).
Proof.
  intro B; unfold groups_at; rewrite Forall_map, Forall_forall; intros i _; split; [apply read_length|apply read_small, B].
Qed.

(** ** Bytes, as words *)

(** The words of each lane. *)
Definition lanes_of_words (rows lanes : nat) (w : list Z) : list (list Z) :=
  map (fun l => map (fun i => nth (lanes * i + l) w 0) (seq 0 rows)) (seq 0 lanes).

Lemma le_number_of_lane x : Poly1305.le_number x = Z.of_N (lane_number x).
Proof. induction x as [|b x IH]; cbn [Poly1305.le_number lane_number]; [reflexivity|]; rewrite IH; lia. Qed.

Lemma small_piece n i k (x : list byte) : small n x -> small n (firstn k (skipn i x)).
Proof.
  unfold small; intro S; rewrite <- (firstn_skipn i x) in S; apply Forall_app in S as [_ S].
  rewrite <- (firstn_skipn k (skipn i x)) in S; apply Forall_app in S; apply S.
Qed.

Lemma word_is x i : small 256 x -> (8 * i + 8 <= length x)%nat ->
  nth i (words_of x) 0 = Poly1305.le_number (firstn 8 (skipn (8 * i) x)).
Proof.
  intros S L; rewrite word_in_string, le_number_of_lane by exact L; f_equal; apply N.mod_small.
  pose proof (number_small _ (small_piece 256 (8 * i) 8 x S)) as Q.
  rewrite firstn_length, skipn_length in Q; replace (min 8 (length x - 8 * i)) with 8%nat in Q by lia; exact Q.
Qed.

Lemma lanes_in_memory rows lanes m a n : small 256 (read m a n) -> n = (8 * (lanes * rows))%nat ->
  lanes_of_words rows lanes (words_of (read m a n)) = lanes_at rows lanes m a.
Proof.
  intros B ->; unfold lanes_of_words, lanes_at; apply map_ext_in; intros l L; apply map_ext_in; intros i I.
  apply in_seq in L, I; assert (lanes * i + l < lanes * rows)%nat by nia.
  rewrite word_is by (exact B || rewrite read_length; lia); f_equal.
  rewrite <- read_part by lia; f_equal; lia.
Qed.

(** The two words of a block. *)
Definition two (w : list Z) (b : nat) : list Z := [nth (2 * b) w 0; nth (2 * b + 1) w 0].

Lemma block_is i group : small 256 group -> (16 * i + 16 <= length group)%nat ->
  Poly1305.words (firstn 16 (skipn (16 * i) group)) = two (words_of group) i.
Proof.
  intros S L; unfold Poly1305.words, two; rewrite !word_is by (exact S || lia).
  assert (E1 : firstn 8 (firstn 16 (skipn (16 * i) group)) = firstn 8 (skipn (8 * (2 * i)) group))
    by (rewrite firstn_firstn; replace (8 * (2 * i))%nat with (16 * i)%nat by lia; reflexivity).
  assert (E2 : skipn 8 (firstn 16 (skipn (16 * i) group)) = firstn 8 (skipn (8 * (2 * i + 1)) group)).
  { rewrite skipn_firstn_comm, skipn_twice; replace (8 * (2 * i + 1))%nat with (16 * i + 8)%nat by lia; reflexivity. }
  rewrite E1, E2; reflexivity.
Qed.

Lemma flat_map_rows {T} (f : nat -> list T) lanes rows :
  flat_map f (seq 0 (lanes * rows)) = flat_map (fun i => flat_map (fun l => f (lanes * i + l)%nat) (seq 0 lanes)) (seq 0 rows).
Proof.
  induction rows as [|rows IH]; [rewrite Nat.mul_0_r; reflexivity|].
  rewrite Nat.mul_succ_r, seq_app, (seq_S rows 0), !flat_map_app, IH; cbn [flat_map Nat.add]; rewrite app_nil_r; f_equal.
  rewrite (flat_map_from (fun x => f x) (fun l => lanes * rows + l)%nat (seq 0 lanes)); [reflexivity|symmetry; apply seq_from].
Qed.

(** Bytes are those of their words. *)
Lemma rows_decoded rows lanes x : length x = (8 * (lanes * rows))%nat -> small 256 x ->
  rows_of rows (lanes_of_words rows lanes (words_of x)) = x.
Proof.
  intros L S; destruct (lanes_are 8 (lanes * rows) x L S) as [_ E]; [discriminate|]; rewrite <- E at 2.
  unfold in_lanes; rewrite <- (NHBytes.whole 0%N (Arx.lanes 8 x)), lanes_length, L at 1.
  rewrite (Nat.mul_comm 8), Nat.div_mul, flat_map_concat_map, map_map, <- flat_map_concat_map, flat_map_rows by discriminate.
  unfold rows_of; rewrite !flat_map_concat_map; f_equal; apply map_ext_in; intros i I; apply in_seq in I.
  unfold lanes_of_words; rewrite !flat_map_concat_map, map_map; f_equal; apply map_ext; intro l; f_equal.
  rewrite (nth_map_seq 0) by lia; unfold words_of; change 0 with (Z.of_N 0); rewrite map_nth; apply N2Z.id.
Qed.

(** ** The theorem *)

(** The bytes of a state that has them in another order between two iterations; [place] is its own inverse. *)
Definition ordered (size : nat) (place : nat -> nat) : arrangement :=
  Arrangement size size place (fun i => Some (place i)) (fun _ => false) size.

Definition placed (size : nat) (place : nat -> nat) (x : list byte) : list byte :=
  map (fun i => nth (place i) x 0%N) (seq 0 size).

Section Statement.
Variable V : convention.
Notation a := (argument (abi_of V)).
Variables (rows lanes multiplier_rows multipliers block : nat).
Variable add : list (list Z) -> list (list Z) -> list byte -> list (list Z).

(** The sums after n groups, by the specification. *)
Definition sums_after (m : memory) (s u i : Z) (n : nat) : list (list Z) :=
  fold_left (add (lanes_at multiplier_rows multipliers m u)) (groups_at block m i n) (lanes_at rows lanes m s).

(** n groups of blocks are added to the sums: rows of limbs, a sum in each lane. *)
Definition adds_groups (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let sums := gpr m (a 0) in let given := gpr m (a 1) in let input := gpr m (a 2) in
  let buffers := [(true, (sums, Z.of_nat (8 * (lanes * rows)))); (false, (given, Z.of_nat (8 * (multipliers * multiplier_rows))));
    (false, (input, Z.of_nat block * Z.of_nat n))] in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n ->
  ends V code buffers (accesses (pc m) (pointer V m) sums given input n) m (fun h =>
    read h sums (8 * (lanes * rows)) = rows_of rows (sums_after (mem m) sums given input n)).

(** A call and its return, with n groups of blocks. *)
Definition call_of (code : list byte) (n : nat) (m : machine) : Prop :=
  called V code [(true, (gpr m (a 0), Z.of_nat (8 * (lanes * rows)))); (false, (gpr m (a 1), Z.of_nat (8 * (multipliers * multiplier_rows))));
    (false, (gpr m (a 2), Z.of_nat block * Z.of_nat n))] m /\
  (forall r, 0 <= gpr m r < 2 ^ 64) /\ bytes_in_memory (mem m) /\ gpr m (a 3) = Z.of_nat n.

Definition return_of (m m' : machine) : Prop := exists k, run (isa_of (abi_of V)) k m = Some m' /\ returned V m m'.

(** Two calls, for any number of groups and for one group more: from the sums of the second, the polynomial of all blocks.
    The sums start with those of a number, the multipliers of the calls are [same] and [last]. *)
Variables (good : list Z -> Prop) (start : list Z -> list (list Z)) (same last : Z -> list (list Z))
  (value : list (list Z) -> Z) (number : list Z -> Z).

Definition computes_polynomial (code : list byte) : Prop :=
  forall (r : list byte) (h : list Z) (n : nat) (m : machine),
  call_of code n m -> good h ->
  lanes_at rows lanes (mem m) (gpr m (a 0)) = start h ->
  lanes_at multiplier_rows multipliers (mem m) (gpr m (a 1)) = same (Poly1305.clamp r) ->
  exists m', return_of m m' /\ forall m2 : machine,
  call_of code 1 m2 ->
  lanes_at rows lanes (mem m2) (gpr m2 (a 0)) = lanes_at rows lanes (mem m') (gpr m (a 0)) ->
  lanes_at multiplier_rows multipliers (mem m2) (gpr m2 (a 1)) = last (Poly1305.clamp r) ->
  exists m3, return_of m2 m3 /\
    value (lanes_at rows lanes (mem m3) (gpr m2 (a 0))) =
    fold_left (Poly1305.add_block r)
      (Poly1305.blocks (concat (groups_at block (mem m) (gpr m (a 2)) n) ++ read (mem m2) (gpr m2 (a 2)) block)) (number h).

Theorem polynomial_sound code : adds_groups code ->
  (forall m m' s u i n, bytes_in_memory m -> read m' s (8 * (lanes * rows)) = rows_of rows (sums_after m s u i n) ->
    lanes_at rows lanes m' s = sums_after m s u i n) ->
  (forall r h groups last_group, good h -> Forall (fun g => length g = block /\ Forall (fun b => (b < 256)%N) g) groups ->
    length last_group = block /\ Forall (fun b => (b < 256)%N) last_group ->
    value (add (last (Poly1305.clamp r)) (fold_left (add (same (Poly1305.clamp r))) groups (start h)) last_group) =
    fold_left (Poly1305.add_block r) (Poly1305.blocks (concat groups ++ last_group)) (number h)) ->
  computes_polynomial code.
Proof.
  intros (accesses & H) AFTER POLYNOMIAL.
  assert (ONE : forall n m, call_of code n m -> exists m', return_of m m' /\
    lanes_at rows lanes (mem m') (gpr m (a 0)) = sums_after (mem m) (gpr m (a 0)) (gpr m (a 1)) (gpr m (a 2)) n).
  { intros n m (C & R & B & N); destruct (H m n C R B N) as (_ & k & m' & RU & RT & E & _); exists m'.
    split; [exists k; split; assumption|exact (AFTER _ _ _ _ _ _ B E)]. }
  intros r h n m C G S U; destruct (ONE n m C) as (m' & R & E); exists m'; split; [exact R|].
  intros m2 C2 S2 U2; destruct (ONE 1%nat m2 C2) as (m3 & R3 & E3); exists m3; split; [exact R3|].
  pose proof (proj1 (proj2 (proj2 C))) as B; pose proof (proj1 (proj2 (proj2 C2))) as B2.
  rewrite E3; unfold sums_after at 1; rewrite U2, S2, E; unfold sums_after; rewrite U, S.
  rewrite <- (POLYNOMIAL r h (groups_at block (mem m) (gpr m (a 2)) n) (read (mem m2) (gpr m2 (a 2)) block) G
    (groups_are_whole _ _ _ _ B)) by (split; [apply read_length|apply read_small, B2]).
  unfold groups_at at 1; cbn [seq map fold_left]; do 3 f_equal; lia.
Qed.
End Statement.

Section Kernels.
Variable V : convention.
Context {PROPER : proper V}.
Let A := abi_of V.
Notation a := (argument A).
Variable op : operation.
Variables (rows lanes multiplier_rows multipliers block : nat).
Variable place : nat -> nat.
Variable add : list (list Z) -> list (list Z) -> list byte -> list (list Z).
Variables (code : list byte) (head : Z) (words_in : list (nat * list nat)) (constants_in : list (nat * list byte))
  (copies_in : list (nat * list (nat * nat))).

Notation size := (8 * (lanes * rows))%nat.
Notation given_size := (8 * (multipliers * multiplier_rows))%nat.
Notation to_memory := (placed size place).

(** Where a kernel keeps things: sums, multipliers, blocks and the number of groups are its arguments in this order. *)
Definition kernel_in_order : kernel :=
  let argument i := (a i, (Some (a i), 0)) in
  let number i := ((a i, (Some (a i), 0)), (Some (a i), 0)) in
  Kernel_with code head (a 0) (ordered size place) [] [(a 1, given_size)] [Stream (a 2) false block block] (a 3)
    [(a 3, -1); (a 2, Z.of_nat block)] (map argument (seq 0 4)) (map number (seq 0 4)) words_in constants_in [] [] copies_in.

Hypothesis PLACE : forall i, (i < size)%nat -> (place i < size)%nat /\ place (place i) = i.
Hypothesis ENTER : forall s, enter op s = s.
Hypothesis STEP : forall s u b, length s = size -> small 256 s -> length u = given_size -> small 256 u -> length b = block ->
  small 256 b -> let t := fst (on_bytes op s [u; b]) in length t = size /\ small 256 t /\
  lanes_of_words rows lanes (words_of (to_memory t)) =
  add (lanes_of_words multiplier_rows multipliers (words_of u)) (lanes_of_words rows lanes (words_of (to_memory s))) b.

Definition after (m : memory) (s u i : Z) (n : nat) : list byte :=
  fold_left (fun x j => fst (on_bytes op x [read m u given_size; read m (i + Z.of_nat block * Z.of_nat j) block]))
    (seq 0 n) (to_memory (read m s size)).

Lemma placed_length x : length (to_memory x) = size.
Proof. unfold placed; rewrite map_length; apply seq_length. Qed.

Lemma placed_small x : small 256 x -> small 256 (to_memory x).
Proof.
  intro S; unfold small, placed; rewrite Forall_map, Forall_forall; intros i _.
  destruct (Nat.lt_ge_cases (place i) (length x)) as [L|L]; [|rewrite nth_overflow by exact L; lia].
  exact (proj1 (Forall_forall _ _) S _ (nth_In x 0%N L)).
Qed.

Lemma placed_twice x : length x = size -> to_memory (to_memory x) = x.
Proof.
  intro L; rewrite <- (NHBytes.whole 0%N x) at 2; rewrite L; unfold placed at 1; apply map_ext_in; intros i J; apply in_seq in J.
  destruct (PLACE i ltac:(lia)) as [P E]; unfold placed; rewrite (nth_map_seq 0%N) by exact P; rewrite E; reflexivity.
Qed.

Lemma after_step m s u i n : after m s u i (S n) =
  fst (on_bytes op (after m s u i n) [read m u given_size; read m (i + Z.of_nat block * Z.of_nat n) block]).
Proof. unfold after; rewrite seq_S, fold_left_app; reflexivity. Qed.

Lemma after_is m s u i n : bytes_in_memory m ->
  length (after m s u i n) = size /\ small 256 (after m s u i n) /\
  lanes_of_words rows lanes (words_of (to_memory (after m s u i n))) = sums_after rows lanes multiplier_rows multipliers block add m s u i n.
Proof.
  intro B; induction n as [|n (L & S & E)].
  - unfold after, sums_after, groups_at; cbn [seq map fold_left]; split; [apply placed_length|].
    split; [apply placed_small, read_small, B|].
    rewrite placed_twice by apply read_length; apply lanes_in_memory; [apply read_small, B|reflexivity].
  - rewrite after_step; unfold sums_after, groups_at in *; rewrite seq_S, map_app, fold_left_app; cbn [map fold_left Nat.add].
    rewrite <- E; clear E; set (x := after m s u i n) in *; set (g := read m (i + Z.of_nat block * Z.of_nat n) block).
    destruct (STEP x (read m u given_size) g L S (read_length _ _ _) (read_small _ _ _ B) (read_length _ _ _) (read_small _ _ _ B))
      as (L1 & S1 & W).
    split; [exact L1|]; split; [exact S1|]; rewrite W.
    rewrite (lanes_in_memory multiplier_rows multipliers m u given_size (read_small m u _ B) eq_refl); reflexivity.
Qed.

Lemma lanes_after_order m m' s u i n : bytes_in_memory m -> read m' s size = rows_of rows (sums_after rows lanes multiplier_rows multipliers block add m s u i n) ->
  lanes_at rows lanes m' s = sums_after rows lanes multiplier_rows multipliers block add m s u i n.
Proof.
  intros B E; destruct (after_is m s u i n B) as (L & S & W).
  rewrite <- W, rows_decoded in E by (apply placed_length || apply placed_small, S).
  rewrite <- (lanes_in_memory rows lanes m' s size); [rewrite E; exact W|rewrite E; apply placed_small, S|reflexivity].
Qed.

Hypothesis CHECKS : checks A kernel_in_order op = true.
Hypothesis ENDS : ends_in_return A code.

Theorem groups_are_added_in_order : adds_groups V rows lanes multiplier_rows multipliers block add code.
Proof.
  exists (fun at_ p s u i n => all_accesses V kernel_in_order op at_ p (value_of (arguments A) [s; u; i; Z.of_nat n]) n).
  intros m n s u i bs CALL REGS BYTES COUNT.
  set (arg := value_of (arguments A) [s; u; i; Z.of_nat n]).
  assert (GET : forall j, (j < 4)%nat -> arg (a j) = nth j [s; u; i; Z.of_nat n] 0)
    by (intros j L; apply (argument_value V [s; u; i; Z.of_nat n] j); cbn [length]; lia).
  pose proof (GET 0%nat ltac:(lia)) as V0; pose proof (GET 1%nat ltac:(lia)) as V1.
  pose proof (GET 2%nat ltac:(lia)) as V2; cbn [nth] in V0, V1, V2.
  assert (BS : buffers kernel_in_order arg n = bs).
  { unfold buffers, fixed, buffer_of, kernel_in_order; cbn [state arranged room ordered tables given streams map app fst snd
      begins written]; rewrite extent_whole, V0, V1, V2; reflexivity. }
  assert (AT0 : forall mm, state_at kernel_in_order arg mm = to_memory (read mm s size)).
  { intro mm; unfold state_at, placed; cbn [kernel_in_order state arranged ordered state_size Loop.place]; rewrite V0.
    apply map_ext_in; intros q J; apply in_seq in J; symmetry; apply nth_read, PLACE; lia. }
  assert (CA : forall l, carried_after kernel_in_order op arg m l = after (mem m) s u i l).
  { induction l as [|l IH].
    - unfold after; cbn [carried_after seq fold_left]; rewrite ENTER; apply AT0.
    - rewrite after_step, <- IH; cbn [carried_after].
      unfold given_bytes, block_at; cbn [kernel_in_order given streams map app begins block_size fst snd].
      pose proof (B_stream A kernel_in_order op CHECKS arg l (Stream (a 2) false block block) (or_introl eq_refl)) as B1.
      cbn [begins stride] in B1; rewrite B1, V1, V2; reflexivity. }
  plainly (plain_call V kernel_in_order op CHECKS ENDS [s; u; i; Z.of_nat n] 3) BS COUNT; [constructor|].
  intros h D; change (done kernel_in_order op arg m n h) in D; destruct D as (_ & ST & _).
  rewrite AT0, CA in ST; cbn [kernel_in_order arranged ordered state_size] in ST.
  destruct (after_is (mem m) s u i n BYTES) as (L & S & E).
  rewrite firstn_all2 in ST by (rewrite L; apply le_n).
  rewrite <- (placed_twice (read h s size)) by apply read_length; rewrite ST, <- E; symmetry; apply rows_decoded;
    [apply placed_length|apply placed_small, S].
Qed.
End Kernels.

(** ** Sums in the order of memory, two lanes at once *)

Section Pieces.
Variable V : convention.
Context {PROPER : proper V}.
Let A := abi_of V.
Variables (p : program) (inputs : list (list (nat * (nat * nat)))) (outputs : list (nat * nat)).
Variables (rows lanes multiplier_rows multipliers block : nat).
Variable add : list (list Z) -> list (list Z) -> list byte -> list (list Z).
Variables (code : list byte) (head : Z) (words_in : list (nat * list nat)) (constants_in : list (nat * list byte))
  (copies_in : list (nat * list (nat * nat))).

Notation size := (8 * (lanes * rows))%nat.
Notation given_size := (8 * (multipliers * multiplier_rows))%nat.

(** What an iteration does. *)
Definition adding : operation := running p inputs outputs size 1 (fun s => s) (fun s => s) (fun _ _ => eq_refl).

Definition kernel_of : kernel :=
  kernel_in_order V rows lanes multiplier_rows multipliers block (fun i => i) code head words_in constants_in copies_in.

Hypothesis SIZE : (16 * length outputs = size)%nat.
Hypothesis SHAPE : LanePrograms.shape_ok p inputs outputs [size; given_size; block] = true.
Hypothesis STEP : forall s u b, length b = block -> small 256 b ->
  lanes_of_words rows lanes (string_results p inputs outputs [s; u; words_of b]) =
  add (lanes_of_words multiplier_rows multipliers u) (lanes_of_words rows lanes s) b.

Lemma in_place x : length x = size -> placed size (fun i => i) x = x.
Proof. intro L; unfold placed; rewrite <- L; apply NHBytes.whole. Qed.

Lemma pieces_step s u b : length s = size -> small 256 s -> length u = given_size -> small 256 u -> length b = block ->
  small 256 b -> let t := fst (on_bytes adding s [u; b]) in length t = size /\ small 256 t /\
  lanes_of_words rows lanes (words_of (placed size (fun i => i) t)) =
  add (lanes_of_words multiplier_rows multipliers (words_of u))
    (lanes_of_words rows lanes (words_of (placed size (fun i => i) s))) b.
Proof.
  intros LS SS LU SU LB SB; cbv zeta; change (fst (on_bytes adding s [u; b])) with (on_strings p inputs outputs size s [u; b]).
  destruct (on_strings_words p inputs outputs size s [u; b]) as (L1 & S1 & W & _).
  { cbn [map]; rewrite LS, LU, LB; exact SHAPE. }
  { repeat constructor; assumption. }
  set (t := on_strings _ _ _ _ _ _) in *; rewrite SIZE in L1, W; rewrite LS, Nat.sub_diag, Nat.add_0_r in L1.
  split; [exact L1|]; split; [exact S1|]; rewrite !in_place by assumption.
  rewrite firstn_all2 in W by (rewrite L1; lia); rewrite W; exact (STEP (words_of s) (words_of u) b LB SB).
Qed.

Lemma lanes_after m m' s u i n : bytes_in_memory m ->
  read m' s size = rows_of rows (sums_after rows lanes multiplier_rows multipliers block add m s u i n) ->
  lanes_at rows lanes m' s = sums_after rows lanes multiplier_rows multipliers block add m s u i n.
Proof.
  exact (lanes_after_order adding rows lanes multiplier_rows multipliers block (fun i => i) add
    (fun i L => conj L eq_refl) pieces_step m m' s u i n).
Qed.

Hypothesis CHECKS : checks A kernel_of adding = true.
Hypothesis ENDS : ends_in_return A code.

Definition groups_are_added :=
  groups_are_added_in_order V adding rows lanes multiplier_rows multipliers block (fun i => i) add code head words_in
    constants_in copies_in (fun i L => conj L eq_refl) (fun s => eq_refl) pieces_step CHECKS ENDS.
End Pieces.
