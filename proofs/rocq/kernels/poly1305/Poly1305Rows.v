(** * Poly1305Rows: the theorem about kernels of Poly1305 whose lanes have words of 64 bits, for any calling convention

    Sums and multipliers are in memory as rows, each with one word of every lane.  A kernel's own files give what it does in
    an iteration, and what this is for the words of all lanes: [groups_are_added_in_order].  In [groups_are_added] it is a
    program on two lanes at once (LanePrograms.v), and the order of bytes is that in memory. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic Checker Segment Call Loop BlockKernels
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

Section Kernels.
Variable V : convention.
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
    [(a 2, Z.of_nat block); (a 3, -1)] (map argument (seq 0 4)) (map number (seq 0 4)) words_in constants_in [] [] copies_in.

Hypothesis PLACE : forall i, (i < size)%nat -> (place i < size)%nat /\ place (place i) = i.
Hypothesis ENTER : forall s, enter op s = s.
Hypothesis STEP : forall s u b, length s = size -> small 256 s -> length u = given_size -> small 256 u -> length b = block ->
  small 256 b -> let t := fst (on_bytes op s [u; b]) in length t = size /\ small 256 t /\
  lanes_of_words rows lanes (words_of (to_memory t)) =
  add (lanes_of_words multiplier_rows multipliers (words_of u)) (lanes_of_words rows lanes (words_of (to_memory s))) b.

Definition after (m : memory) (s u i : Z) (n : nat) : list byte :=
  fold_left (fun x j => fst (on_bytes op x [read m u given_size; read m (i + Z.of_nat block * Z.of_nat j) block]))
    (seq 0 n) (to_memory (read m s size)).

(** The sums after n groups, by the specification. *)
Definition sums_after (m : memory) (s u i : Z) (n : nat) : list (list Z) :=
  fold_left (add (lanes_at multiplier_rows multipliers m u)) (groups_at block m i n) (lanes_at rows lanes m s).

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
  lanes_of_words rows lanes (words_of (to_memory (after m s u i n))) = sums_after m s u i n.
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

Lemma lanes_after_order m m' s u i n : bytes_in_memory m -> read m' s size = rows_of rows (sums_after m s u i n) ->
  lanes_at rows lanes m' s = sums_after m s u i n.
Proof.
  intros B E; destruct (after_is m s u i n B) as (L & S & W).
  rewrite <- W, rows_decoded in E by (apply placed_length || apply placed_small, S).
  rewrite <- (lanes_in_memory rows lanes m' s size); [rewrite E; exact W|rewrite E; apply placed_small, S|reflexivity].
Qed.

Hypothesis DISTINCT : NoDup (arguments A).
Hypothesis FOUR : (4 <= length (arguments A))%nat.
Hypothesis CHECKS : checks A kernel_in_order op = true.
Hypothesis ENDS : ends_in_return A code.

(** What holds when a kernel returns: about its accesses and the sums. *)
Definition ends (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine) (result : list byte) : Prop :=
  Forall (touches (snd (code_part code m)) (beside V m ++ buffers) buffers) accesses /\
  exists j m', run (isa_of A) j m = Some m' /\ returned V m m' /\
    read (mem m') (gpr m (a 0)) size = result /\
    same_outside buffers (mem m) (mem m') /\
    trace m' = accesses ++ trace m.

Theorem groups_are_added_in_order : exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let sums := gpr m (a 0) in let given := gpr m (a 1) in let input := gpr m (a 2) in
  let buffers := [(true, (sums, Z.of_nat size)); (false, (given, Z.of_nat given_size));
    (false, (input, Z.of_nat block * Z.of_nat n))] in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n ->
  ends buffers (accesses (pc m) (pointer V m) sums given input n) m (rows_of rows (sums_after (mem m) sums given input n)).
Proof.
  exists (fun at_ top s u i n => last_accesses V top (at_ + last_at A code) ++
    accesses A kernel_in_order op at_ (value_of (arguments A) [s; u; i; Z.of_nat n]) n).
  intros m n s u i bs CALL REGS BYTES COUNT.
  set (arg := value_of (arguments A) [s; u; i; Z.of_nat n]).
  assert (V0 : arg (a 0) = s) by (apply (value_at (arguments A) [s; u; i; Z.of_nat n] 0 DISTINCT); cbn [length]; lia).
  assert (V1 : arg (a 1) = u) by (apply (value_at (arguments A) [s; u; i; Z.of_nat n] 1 DISTINCT); cbn [length]; lia).
  assert (V2 : arg (a 2) = i) by (apply (value_at (arguments A) [s; u; i; Z.of_nat n] 2 DISTINCT); cbn [length]; lia).
  assert (V3 : arg (a 3) = Z.of_nat n) by (apply (value_at (arguments A) [s; u; i; Z.of_nat n] 3 DISTINCT); cbn [length]; lia).
  assert (BS : buffers kernel_in_order arg n = bs).
  { unfold buffers, fixed, buffer_of, kernel_in_order; cbn [state arranged room ordered tables given streams map app fst snd
      begins written]; rewrite extent_whole, V0, V1, V2; reflexivity. }
  assert (NE : a 2 <> a 3).
  { intro E; apply (proj1 (NoDup_nth (arguments A) 0%nat) DISTINCT 2%nat 3%nat) in E; lia. }
  assert (IN : forall x v, arg (a x) = v -> gpr m (a x) = v -> gpr m (a x) = number_is arg (Some (a x), 0)).
  { intros x v E G; cbn [number_is]; rewrite Z.add_0_r, E, <- G, wrap_small by apply REGS; reflexivity. }
  assert (CT : arg (count kernel_in_order) = - change kernel_in_order (count kernel_in_order) * Z.of_nat n).
  { cbn [kernel_in_order count]; rewrite V3; unfold change; cbn [kernel_in_order changes find fst snd].
    rewrite (proj2 (Nat.eqb_neq (a 2) (a 3)) NE), Nat.eqb_refl; cbn [snd]; lia. }
  destruct (loop_sound A kernel_in_order op CHECKS (pc m) arg m n (beside V m) eq_refl)
    as (AL & LEN & j & m1 & R & AT & ST & _ & FR & TR).
  { cbn [kernel_in_order arguments_in map seq].
    constructor; [exact (IN 0%nat s V0 eq_refl)|]; constructor; [exact (IN 1%nat u V1 eq_refl)|].
    constructor; [exact (IN 2%nat i V2 eq_refl)|]; constructor; [exact (IN 3%nat _ V3 COUNT)|constructor]. }
  { cbn [kernel_in_order numbers_in map seq]; repeat constructor. }
  { rewrite BS; exact (called_valid V _ _ _ CALL). }
  { constructor. }
  { constructor. }
  { constructor. }
  { exact CT. }
  { cbn [kernel_in_order count]; rewrite V3, <- COUNT; apply REGS. }
  { exact ENDS. }
  rewrite BS in AL.
  assert (SO : same_outside bs (mem m) (mem m1)).
  { rewrite <- BS; eapply (same_outside_of A kernel_in_order op CHECKS); eassumption. }
  destruct (return_step V _ _ _ _ ENDS CALL AT SO) as (m2 & S2 & RT & ME & TR2).
  split; [apply Forall_app; split; [exact (last_touches V _ _ _ ENDS CALL)|exact AL]|].
  exists (j + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in S2; rewrite S2; reflexivity|].
  split; [exact RT|]; rewrite ME; split; [|split; [exact SO|rewrite TR2, TR, <- app_assoc; reflexivity]].
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
  rewrite AT0, CA in ST; cbn [kernel_in_order arranged ordered state_size] in ST.
  fold s; destruct (after_is (mem m) s u i n BYTES) as (L & S & E).
  rewrite firstn_all2 in ST by (rewrite L; apply le_n).
  rewrite <- (placed_twice (read (mem m1) s size)) by apply read_length; rewrite ST, <- E; symmetry; apply rows_decoded;
    [apply placed_length|apply placed_small, S].
Qed.
End Kernels.

(** ** Sums in the order of memory, two lanes at once *)

Section Pieces.
Variable V : convention.
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

Hypothesis DISTINCT : NoDup (arguments A).
Hypothesis FOUR : (4 <= length (arguments A))%nat.
Hypothesis CHECKS : checks A kernel_of adding = true.
Hypothesis ENDS : ends_in_return A code.

Definition groups_are_added :=
  groups_are_added_in_order V adding rows lanes multiplier_rows multipliers block (fun i => i) add code head words_in
    constants_in copies_in (fun i L => conj L eq_refl) (fun s => eq_refl) pieces_step DISTINCT FOUR CHECKS ENDS.
End Pieces.
