(** * Poly1305Rows: the theorem about kernels of Poly1305 whose lanes have words of 64 bits, for any calling convention

    Sums and multipliers are in memory as rows, each with one word of every lane.  A kernel's own files give the program
    that it runs on two lanes at once (LanePrograms.v), and what this is for the words of all lanes. *)

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

Section Kernels.
Variable V : convention.
Let A := abi_of V.
Notation a := (argument A).
Variables (p : program) (inputs : list (list (nat * (nat * nat)))) (outputs : list (nat * nat)).
Variables (rows lanes multiplier_rows multipliers block : nat).
Variable add : list (list Z) -> list (list Z) -> list byte -> list (list Z).
Variables (code : list byte) (head : Z) (words_in : list (nat * list nat)) (constants_in : list (nat * list byte))
  (copies_in : list (nat * list (nat * nat))).

Notation size := (8 * (lanes * rows))%nat.
Notation given_size := (8 * (multipliers * multiplier_rows))%nat.

(** What an iteration does, and where a kernel keeps things: sums, multipliers, blocks and the number of groups are its
    arguments in this order. *)
Definition adding : operation := running p inputs outputs size 1 (fun s => s) (fun s => s) (fun _ _ => eq_refl).

Definition kernel_of : kernel :=
  let argument i := (a i, (Some (a i), 0)) in
  let number i := ((a i, (Some (a i), 0)), (Some (a i), 0)) in
  Kernel_with code head (a 0) (filling size) [] [(a 1, given_size)] [Stream (a 2) false block block] (a 3)
    [(a 2, Z.of_nat block); (a 3, -1)] (map argument (seq 0 4)) (map number (seq 0 4)) words_in constants_in [] [] copies_in.

Hypothesis SIZE : (16 * length outputs = size)%nat.
Hypothesis SHAPE : LanePrograms.shape_ok p inputs outputs [size; given_size; block] = true.
Hypothesis STEP : forall s u b, length b = block -> small 256 b ->
  lanes_of_words rows lanes (string_results p inputs outputs [s; u; words_of b]) =
  add (lanes_of_words multiplier_rows multipliers u) (lanes_of_words rows lanes s) b.

Definition after (m : memory) (s u i : Z) (n : nat) : list byte :=
  fold_left (fun x j => on_strings p inputs outputs size x [read m u given_size; read m (i + Z.of_nat block * Z.of_nat j) block])
    (seq 0 n) (read m s size).

(** The sums after n groups, by the specification. *)
Definition sums_after (m : memory) (s u i : Z) (n : nat) : list (list Z) :=
  fold_left (add (lanes_at multiplier_rows multipliers m u)) (groups_at block m i n) (lanes_at rows lanes m s).

Lemma after_step m s u i n : after m s u i (S n) =
  on_strings p inputs outputs size (after m s u i n) [read m u given_size; read m (i + Z.of_nat block * Z.of_nat n) block].
Proof. unfold after; rewrite seq_S, fold_left_app; reflexivity. Qed.

Lemma after_is m s u i n : bytes_in_memory m ->
  length (after m s u i n) = size /\ small 256 (after m s u i n) /\
  lanes_of_words rows lanes (words_of (after m s u i n)) = sums_after m s u i n.
Proof.
  intro B; induction n as [|n (L & S & E)].
  - unfold after, sums_after, groups_at; cbn [seq map fold_left]; split; [apply read_length|]; split; [apply read_small, B|].
    apply lanes_in_memory; [apply read_small, B|reflexivity].
  - rewrite after_step; unfold sums_after, groups_at in *; rewrite seq_S, map_app, fold_left_app; cbn [map fold_left Nat.add].
    rewrite <- E; clear E; set (x := after m s u i n) in *; set (g := read m (i + Z.of_nat block * Z.of_nat n) block).
    assert (LG : length g = block) by apply read_length; assert (SG : small 256 g) by apply read_small, B.
    destruct (on_strings_words p inputs outputs size x [read m u given_size; g]) as (L1 & S1 & W & K).
    { cbn [map]; rewrite L, LG, read_length; exact SHAPE. }
    { repeat constructor; [exact S|apply read_small, B|exact SG]. }
    set (y := on_strings _ _ _ _ _ _) in *; rewrite SIZE in L1, W; rewrite L, Nat.sub_diag, Nat.add_0_r in L1.
    split; [exact L1|]; split; [exact S1|].
    rewrite firstn_all2 in W by (rewrite L1; lia); rewrite W; cbn [map].
    rewrite STEP by assumption; rewrite (lanes_in_memory multiplier_rows multipliers m u given_size (read_small m u _ B) eq_refl); reflexivity.
Qed.

Lemma lanes_after m m' s u i n : bytes_in_memory m -> read m' s size = rows_of rows (sums_after m s u i n) ->
  lanes_at rows lanes m' s = sums_after m s u i n.
Proof.
  intros B E; destruct (after_is m s u i n B) as (L & S & W); rewrite <- W, rows_decoded in E by assumption.
  rewrite <- (lanes_in_memory rows lanes m' s size); [rewrite E; exact W|rewrite E; exact S|reflexivity].
Qed.

Hypothesis DISTINCT : NoDup (arguments A).
Hypothesis FOUR : (4 <= length (arguments A))%nat.
Hypothesis CHECKS : checks A kernel_of adding = true.
Hypothesis ENDS : ends_in_return A code.

(** What holds when a kernel returns: about its accesses and the sums. *)
Definition ends (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine) (result : list byte) : Prop :=
  Forall (touches (snd (code_part code m)) (beside V m ++ buffers) buffers) accesses /\
  exists j m', run (isa_of A) j m = Some m' /\ returned V m m' /\
    read (mem m') (gpr m (a 0)) size = result /\
    same_outside buffers (mem m) (mem m') /\
    trace m' = accesses ++ trace m.

Theorem groups_are_added : exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let sums := gpr m (a 0) in let given := gpr m (a 1) in let input := gpr m (a 2) in
  let buffers := [(true, (sums, Z.of_nat size)); (false, (given, Z.of_nat given_size));
    (false, (input, Z.of_nat block * Z.of_nat n))] in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n ->
  ends buffers (accesses (pc m) (pointer V m) sums given input n) m (rows_of rows (sums_after (mem m) sums given input n)).
Proof.
  exists (fun at_ top s u i n => last_accesses V top (at_ + last_at A code) ++
    accesses A kernel_of adding at_ (value_of (arguments A) [s; u; i; Z.of_nat n]) n).
  intros m n s u i bs CALL REGS BYTES COUNT.
  set (arg := value_of (arguments A) [s; u; i; Z.of_nat n]).
  assert (V0 : arg (a 0) = s) by (apply (value_at (arguments A) [s; u; i; Z.of_nat n] 0 DISTINCT); cbn [length]; lia).
  assert (V1 : arg (a 1) = u) by (apply (value_at (arguments A) [s; u; i; Z.of_nat n] 1 DISTINCT); cbn [length]; lia).
  assert (V2 : arg (a 2) = i) by (apply (value_at (arguments A) [s; u; i; Z.of_nat n] 2 DISTINCT); cbn [length]; lia).
  assert (V3 : arg (a 3) = Z.of_nat n) by (apply (value_at (arguments A) [s; u; i; Z.of_nat n] 3 DISTINCT); cbn [length]; lia).
  assert (BS : buffers kernel_of arg n = bs).
  { unfold buffers, fixed, buffer_of, kernel_of; cbn [state arranged room filling tables given streams map app fst snd
      begins written]; rewrite extent_whole, V0, V1, V2; reflexivity. }
  assert (NE : a 2 <> a 3).
  { intro E; apply (proj1 (NoDup_nth (arguments A) 0%nat) DISTINCT 2%nat 3%nat) in E; lia. }
  assert (IN : forall x v, arg (a x) = v -> gpr m (a x) = v -> gpr m (a x) = number_is arg (Some (a x), 0)).
  { intros x v E G; cbn [number_is]; rewrite Z.add_0_r, E, <- G, wrap_small by apply REGS; reflexivity. }
  assert (CT : arg (count kernel_of) = - change kernel_of (count kernel_of) * Z.of_nat n).
  { cbn [kernel_of count]; rewrite V3; unfold change; cbn [kernel_of changes find fst snd].
    rewrite (proj2 (Nat.eqb_neq (a 2) (a 3)) NE), Nat.eqb_refl; cbn [snd]; lia. }
  destruct (loop_sound A kernel_of adding CHECKS (pc m) arg m n (beside V m) eq_refl)
    as (AL & LEN & j & m1 & R & AT & ST & _ & FR & TR).
  { cbn [kernel_of arguments_in map seq].
    constructor; [exact (IN 0%nat s V0 eq_refl)|]; constructor; [exact (IN 1%nat u V1 eq_refl)|].
    constructor; [exact (IN 2%nat i V2 eq_refl)|]; constructor; [exact (IN 3%nat _ V3 COUNT)|constructor]. }
  { cbn [kernel_of numbers_in map seq]; repeat constructor. }
  { rewrite BS; exact (called_valid V _ _ _ CALL). }
  { constructor. }
  { constructor. }
  { constructor. }
  { exact CT. }
  { cbn [kernel_of count]; rewrite V3, <- COUNT; apply REGS. }
  { exact ENDS. }
  rewrite BS in AL.
  assert (SO : same_outside bs (mem m) (mem m1)).
  { rewrite <- BS; eapply (same_outside_of A kernel_of adding CHECKS); eassumption. }
  destruct (return_step V _ _ _ _ ENDS CALL AT SO) as (m2 & S2 & RT & ME & TR2).
  split; [apply Forall_app; split; [exact (last_touches V _ _ _ ENDS CALL)|exact AL]|].
  exists (j + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in S2; rewrite S2; reflexivity|].
  split; [exact RT|]; rewrite ME; split; [|split; [exact SO|rewrite TR2, TR, <- app_assoc; reflexivity]].
  assert (CA : forall l, carried_after kernel_of adding arg m l = after (mem m) s u i l).
  { induction l as [|l IH].
    - unfold after; cbn [carried_after seq fold_left adding running enter]; rewrite (state_filling kernel_of arg size) by reflexivity.
      cbn [kernel_of state]; rewrite V0; reflexivity.
    - rewrite after_step, <- IH; cbn [carried_after]; unfold adding at 1; unfold running; cbn [on_bytes fst].
      unfold given_bytes, block_at; cbn [kernel_of given streams map app begins block_size fst snd].
      pose proof (B_stream A kernel_of adding CHECKS arg l (Stream (a 2) false block block) (or_introl eq_refl)) as B1.
      cbn [begins stride] in B1; rewrite B1, V1, V2; reflexivity. }
  rewrite (state_filling kernel_of arg size) in ST by reflexivity; cbn [kernel_of state] in ST; rewrite V0 in ST.
  fold s; rewrite ST, CA; cbn [kernel_of arranged filling state_size]; destruct (after_is (mem m) s u i n BYTES) as (L & S & E).
  rewrite firstn_all2 by (rewrite L; apply le_n); rewrite <- E; symmetry; apply rows_decoded; assumption.
Qed.
End Kernels.
