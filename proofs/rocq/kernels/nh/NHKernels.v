(** * NHKernels: the theorems about kernels of NH, for any calling convention

    A kernel's own file gives its bytes and where it keeps things, and evaluates [checks]. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic Checker Segment Call Loop KernelCall BlockKernels
  ChaChaRows ChaChaKernels NHBytes.
From Veriplex Require ChaCha NH.
Import ListNotations.
Local Open Scope Z_scope.

(** ** What is in memory *)

(** n units of 16 bytes in a row, in words. *)
Definition units (m : memory) (a : Z) (n : nat) : list (list N) :=
  map (fun i => ChaCha.le_words 4 (read m (a + 16 * Z.of_nat i) 16)) (seq 0 n).

(** The two sums of each of n passes. *)
Definition sums (m : memory) (a : Z) (n : nat) : list (list N) :=
  map (fun p => map ChaCha.le_number (split 8 2 (read m (a + 16 * Z.of_nat p) 16))) (seq 0 n).

(** Their bytes. *)
Definition sum_bytes (sums : list (list N)) : list byte := flat_map (flat_map (little_endian 8)) sums.

(** n groups of four units, and the sums of each of four passes, four in a row. *)
Definition unit_groups (m : memory) (a : Z) (n : nat) : list (list (list N)) :=
  map (fun g => units m (a + 64 * Z.of_nat g) 4) (seq 0 n).
Definition lane_sums (m : memory) (a : Z) : list (list (list N)) :=
  map (fun p => sums m (a + 64 * Z.of_nat p) 4) (seq 0 4).

(** A unit of the key whose words 1 and 2 have changed places. *)
Definition turn_unit (k : list N) : list N := [nth 0 k 0%N; nth 2 k 0%N; nth 1 k 0%N; nth 3 k 0%N].

(** ** What an iteration does *)

(** Which units of the message and of the key each 16 bytes of sums use: for units in a row, and for groups. *)
Definition of_unit : list (nat * nat) := map (fun p => (0, p)%nat) (seq 0 4).
Definition of_group : list (nat * nat) := flat_map (fun p => map (fun u => (u, u + p)%nat) (seq 0 4)) (seq 0 4).

Definition adds (turned : bool) (uses : list (nat * nat)) (s : list byte) (cs : list (list byte)) :
    list byte * list (list byte) := (add_all turned uses 0 s (nth 0 cs []) (nth 1 cs []), cs).

Definition sadds (turned : bool) (uses : list (nat * nat)) (s : list sbyte) (cs : list (list sbyte)) (nodes : list
  node) :
    option (list sbyte * list (list sbyte) * list node) :=
  match sadd_all turned uses 0 s (nth 0 cs []) (nth 1 cs []) nodes with
  | Some (t, nodes) => Some (t, cs, nodes)
  | None => None
  end.

Lemma sadds_agree turned uses env s cs nodes s' cs' nodes' : sadds turned uses s cs nodes = Some (s', cs', nodes') ->
  extends nodes nodes' /\
  (consistent env nodes' -> adds turned uses (evs env s) (map (evs env) cs) = (evs env s', map (evs env) cs')).
Proof.
  unfold sadds; destruct (sadd_all _ _ _ _ _ _ nodes) as [[t n1]|] eqn:E; [|discriminate]; intro F.
  assert (G : t = s' /\ cs = cs' /\ n1 = nodes') by (repeat split; congruence); destruct G as (<- & <- & <-).
  apply (sadd_all_sound env) in E as [X S]; split; [exact X|]; intro C; unfold adds; rewrite (S C).
  pose proof (fun i => map_nth (evs env) cs [] i) as M; cbv beta in M; change (evs env []) with (@nil byte) in M.
  rewrite !M; reflexivity.
Qed.

Definition adding (turned : bool) (uses : list (nat * nat)) : operation :=
  Operation (fun s => s) (adds turned uses) (fun s nodes => Some (s, nodes)) (sadds turned uses)
    (fun env s nodes t nodes' E _ => f_equal (evs env) (f_equal (fun o => match o with Some (t, _) => t | None => []
      end) E))
    (sadds_agree turned uses).

(** The next piece of 16 bytes. *)
Lemma add_products_length turned s m k : length s = 16%nat -> length m = 16%nat -> length k = 16%nat ->
  length (add_products turned s m k) = 16%nat.
Proof.
  intros LS LM LK; unfold add_products; apply plus_lanes_length; [reflexivity|exact LS|].
  assert (LT : length (plus_lanes 4 (if turned then swapped m else m) k) = 16%nat).
  { apply plus_lanes_length; [reflexivity| |exact LK]; destruct turned; [|exact LM].
    unfold swapped; rewrite !app_length, !firstn_length, !skipn_length, LM; reflexivity. }
  destruct turned; apply times_lanes_length; unfold evens, odds;
    rewrite ?app_length, ?firstn_length, ?skipn_length, LT; reflexivity.
Qed.

Lemma part_first {T} (a b : list T) : length a = 16%nat -> part 0 (a ++ b) = a.
Proof. intro L; unfold part; cbn [Nat.mul]; rewrite skipn_O, firstn_app, L, Nat.sub_diag, firstn_O, app_nil_r;
  apply firstn_all2; lia. Qed.

Lemma part_next {T} j (a b : list T) : length a = 16%nat -> part (S j) (a ++ b) = part j b.
Proof.
  intro L; unfold part; rewrite skipn_app, skipn_all2 by lia; cbn [app]; f_equal; f_equal; lia.
Qed.

Lemma add_all_parts turned s m k uses : forall i,
  (forall j, (j < length uses)%nat -> let '(u, v) := nth j uses (0, 0)%nat in
    16 * (i + j) + 16 <= length s /\ 16 * u + 16 <= length m /\ 16 * v + 16 <= length k)%nat ->
  length (add_all turned uses i s m k) = (16 * length uses)%nat /\
  forall j, (j < length uses)%nat -> part j (add_all turned uses i s m k) =
    let '(u, v) := nth j uses (0, 0)%nat in add_products turned (part (i + j) s) (part u m) (part v k).
Proof.
  induction uses as [|[u v] uses IH]; intros i H; cbn [add_all length]; [split; [reflexivity|lia]|].
  pose proof (H 0%nat ltac:(cbn [length]; lia)) as H0; cbn [nth] in H0; destruct H0 as (H1 & H2 & H3).
  assert (L : length (add_products turned (part i s) (part u m) (part v k)) = 16%nat)
    by (apply add_products_length; apply part_length; lia).
  destruct (IH (S i)) as [IL IP].
  { intros j J; pose proof (H (S j) ltac:(cbn [length]; lia)) as Q; cbn [nth] in Q; destruct (nth j uses (0, 0)%nat);
    lia. }
  split; [rewrite app_length, L, IL; lia|]; intros [|j] J.
  - rewrite part_first by exact L; cbn [nth]; rewrite Nat.add_0_r; reflexivity.
  - rewrite part_next by exact L; rewrite IP by (cbn [length] in J; lia); cbn [nth].
    rewrite (Nat.add_succ_r i j), Nat.add_succ_l; reflexivity.
Qed.

(** ** Bytes in memory, as words *)

Lemma split_values w n : forall x, length x = (w * n)%nat -> small 256 x -> w <> 0%nat ->
  map ChaCha.le_number (split w n x) = map (fun l => lane_number l mod 256 ^ N.of_nat w)%N (split w n x) /\
  in_lanes w (map ChaCha.le_number (split w n x)) = x.
Proof.
  induction n as [|n IH]; intros x L S W; cbn [split map in_lanes flat_map].
  - split; [reflexivity|]; destruct x; [reflexivity|cbn [length] in L; lia].
  - assert (SF : small 256 (firstn w x) /\ small 256 (skipn w x)).
    { unfold small in *; rewrite <- (firstn_skipn w x) in S; apply Forall_app in S; exact S. }
    destruct SF as [S1 S2]; assert (LF : length (firstn w x) = w) by (rewrite firstn_length; lia).
    destruct (IH (skipn w x)) as [E F]; [rewrite skipn_length; lia|exact S2|exact W|].
    pose proof (number_small _ S1) as Q; rewrite LF in Q; rewrite le_number_is; split.
    + f_equal; [rewrite N.mod_small by exact Q; reflexivity|exact E].
    + unfold in_lanes in F; rewrite F; rewrite <- LF at 1; rewrite little_endian_number by exact S1; apply firstn_skipn.
Qed.

Lemma lanes_are w n x : length x = (w * n)%nat -> small 256 x -> w <> 0%nat ->
  lanes w x = map ChaCha.le_number (split w n x) /\ in_lanes w (lanes w x) = x.
Proof.
  intros L S W; destruct (split_values w n x L S W) as [E F]; rewrite lanes_mod.
  rewrite L, Nat.mul_comm, Nat.div_mul by exact W; rewrite <- E; auto.
Qed.

Lemma lanes_of_unit m a : bytes_in_memory m -> lanes 4 (read m a 16) = ChaCha.le_words 4 (read m a 16).
Proof. intro S; apply (lanes_are 4 4); [apply read_length|apply read_small, S|discriminate]. Qed.

Lemma part_of_read m a n i : (16 * i + 16 <= n)%nat -> part i (read m a n) = read m (a + 16 * Z.of_nat i) 16.
Proof. intro L; unfold part; rewrite <- read_part by lia; f_equal; lia. Qed.

Lemma lanes_swapped k : length k = 16%nat -> swapped (swapped k) = k /\ lanes 4 (swapped k) = turn_unit (lanes 4 k).
Proof.
  intro L; apply in_words in L as (a & b & c & d & -> & LA & LB & LC & LD).
  destruct (words_apart a b c d LA LB LC LD) as (E & _); rewrite E.
  destruct (words_apart a c b d LA LC LB LD) as (E2 & _); rewrite E2; split; [reflexivity|].
  rewrite !lanes_of_words by assumption; reflexivity.
Qed.

Lemma swapped_length {T} (k : list T) : length k = 16%nat -> length (swapped k) = 16%nat.
Proof. intro L; unfold swapped; rewrite !app_length, !firstn_length, !skipn_length, L; reflexivity. Qed.

(** A unit of the key, as the specification has it. *)
Definition key_unit (turned : bool) (k : list N) : list N := if turned then turn_unit k else k.

Lemma add_in_words turned s m k : length s = 16%nat -> length m = 16%nat -> length k = 16%nat ->
  lanes 8 (add_products turned s m k) =
  ChaCha.zip_with NH.add_long (lanes 8 s) (NH.products (lanes 4 m) (key_unit turned (lanes 4 k))).
Proof.
  intros LS LM LK; destruct (lanes_swapped k LK) as [E F]; unfold key_unit; destruct turned.
  - rewrite <- F, <- (add_products_is true s m (swapped k) LS LM (swapped_length k LK)), E; reflexivity.
  - apply (add_products_is false s m k LS LM LK).
Qed.

(** A string is its pieces. *)
Lemma part_later {T} j (x : list T) : part (S j) x = part j (skipn 16 x).
Proof. unfold part; rewrite skipn_twice; do 2 f_equal; lia. Qed.

Lemma flat_map_from {T} (f : nat -> list T) (g : nat -> nat) : forall l l', map g l = l' ->
  flat_map f l' = flat_map (fun x => f (g x)) l.
Proof. intros l l' <-; rewrite !flat_map_concat_map, map_map; reflexivity. Qed.

Lemma pieces_whole {T} k : forall x : list T, length x = (16 * k)%nat -> flat_map (fun j => part j x) (seq 0 k) = x.
Proof.
  induction k as [|k IH]; intros x L; cbn [seq flat_map]; [destruct x; [reflexivity|cbn [length] in L; lia]|].
  rewrite (flat_map_from (fun j => part j x) S _ _ (seq_shift k 0)).
  rewrite (flat_map_ext _ (fun j => part j (skipn 16 x))) by (intro j; apply part_later).
  rewrite IH by (rewrite skipn_length; lia); unfold part; cbn [Nat.mul]; rewrite skipn_O; apply firstn_skipn.
Qed.

Lemma small_part i x : small 256 x -> small 256 (part i x).
Proof.
  unfold small; intro S; unfold part; rewrite <- (firstn_skipn (16 * i) x) in S; apply Forall_app in S as [_ S].
  rewrite <- (firstn_skipn 16 (skipn (16 * i) x)) in S; apply Forall_app in S; apply S.
Qed.

(** Its bytes are those of its numbers. *)
Lemma decoded k x : length x = (16 * k)%nat -> small 256 x ->
  flat_map (fun j => flat_map (little_endian 8) (lanes 8 (part j x))) (seq 0 k) = x.
Proof.
  intros L S; transitivity (flat_map (fun j => part j x) (seq 0 k)); [|apply pieces_whole, L];
    rewrite !flat_map_concat_map; f_equal; apply map_ext_in; intros j J.
  apply in_seq in J; apply (lanes_are 8 2); [apply part_length; lia|apply small_part, S|discriminate].
Qed.

Lemma add_all_small turned uses : forall i s m k, small 256 (add_all turned uses i s m k).
Proof.
  induction uses as [|[u v] uses IH]; intros i s m k; cbn [add_all]; [constructor|]; apply Forall_app; split;
    [|apply IH].
  apply in_lanes_small.
Qed.

(** ** What the sums are after n iterations *)

Section Words.
Variables (turned : bool) (uses : list (nat * nat)) (in_one key_of_one : nat).
Notation size := (16 * length uses)%nat.

(** [in_one] bytes of the message and [key_of_one] of the key are for an iteration. *)
Definition in_at (m : memory) (x : Z) (i : nat) : list byte := read m (x + Z.of_nat in_one * Z.of_nat i) in_one.
Definition key_at (m : memory) (x : Z) (i : nat) : list byte := read m (x + Z.of_nat in_one * Z.of_nat i) key_of_one.

Definition after (m : memory) (s i k : Z) (n : nat) : list byte :=
  fold_left (fun x j => add_all turned uses 0 x (in_at m i j) (key_at m k j)) (seq 0 n) (read m s size).

Hypothesis FIT : Forall (fun uv => 16 * fst uv + 16 <= in_one /\ 16 * snd uv + 16 <= key_of_one)%nat uses.

Variable m : memory.
Variables (s i k : Z).
Hypothesis BYTES : bytes_in_memory m.

Lemma after_step l : after m s i k (S l) = add_all turned uses 0 (after m s i k l) (in_at m i l) (key_at m k l).
Proof. unfold after; rewrite seq_S, fold_left_app; reflexivity. Qed.

Lemma after_is l : length (after m s i k l) = size /\ small 256 (after m s i k l) /\
  forall j, (j < length uses)%nat -> let '(u, v) := nth j uses (0, 0)%nat in
    lanes 8 (part j (after m s i k (S l))) = ChaCha.zip_with NH.add_long (lanes 8 (part j (after m s i k l)))
      (NH.products (ChaCha.le_words 4 (read m (i + Z.of_nat in_one * Z.of_nat l + 16 * Z.of_nat u) 16))
        (key_unit turned (ChaCha.le_words 4 (read m (k + Z.of_nat in_one * Z.of_nat l + 16 * Z.of_nat v) 16)))).
Proof.
  assert (X : forall x l, length x = size -> length (add_all turned uses 0 x (in_at m i l) (key_at m k l)) = size /\
    forall j, (j < length uses)%nat -> part j (add_all turned uses 0 x (in_at m i l) (key_at m k l)) =
      let '(u, v) := nth j uses (0, 0)%nat in add_products turned (part j x) (part u (in_at m i l)) (part v (key_at m
        k l))).
  { intros x y L; apply add_all_parts; intros j J.
    pose proof (proj1 (Forall_forall _ _) FIT _ (nth_In uses (0, 0)%nat J)) as F;
      destruct (nth j uses (0, 0)%nat) as [u v].
    unfold in_at, key_at; rewrite !read_length; cbn [fst snd] in F; lia. }
  assert (L : length (after m s i k l) = size).
  { induction l as [|l IH]; [apply read_length|rewrite after_step; apply X, IH]. }
  split; [exact L|]; split.
  - destruct l as [|l]; [apply read_small, BYTES|rewrite after_step; apply add_all_small].
  - intros j J; rewrite after_step; destruct (X (after m s i k l) l L) as [_ P]; rewrite (P j J); clear P.
    pose proof (proj1 (Forall_forall _ _) FIT _ (nth_In uses (0, 0)%nat J)) as F;
      destruct (nth j uses (0, 0)%nat) as [u v].
    assert (LS : length (part j (after m s i k l)) = 16%nat) by (apply part_length; rewrite L; lia).
    cbn [fst snd] in F; unfold in_at, key_at;
      rewrite !part_of_read, add_in_words by (apply read_length || exact LS || lia).
    rewrite !lanes_of_unit by exact BYTES; reflexivity.
Qed.
End Words.

(** What n iterations read, of which each begins [in_one] bytes further on and reads [one]. *)
Definition extent_of (in_one one n : nat) : Z :=
  match n with O => 0 | S n => Z.of_nat in_one * Z.of_nat n + Z.of_nat one end.

(** The key for n iterations; none for no iteration. *)
Definition key_size (in_one n : nat) : Z := match n with O => 0 | _ => Z.of_nat in_one * Z.of_nat n + 48 end.

Lemma extents in_one n :
  extent_of in_one in_one n = Z.of_nat in_one * Z.of_nat n /\ extent_of in_one (in_one + 48) n = key_size in_one n.
Proof. destruct n; cbn [extent_of key_size]; lia. Qed.

Section Kernels.
Variable V : convention.
Context {PROPER : proper V}.
Let A := abi_of V.
Notation a := (argument A).
Variables (code : list byte) (head : Z) (turned : bool) (uses : list (nat * nat)) (in_one key_of_one : nat)
  (words_in : list (nat * list nat)).

Definition kernel_of : kernel :=
  let argument i := (a i, (Some (a i), 0)) in
  let number i := ((a i, (Some (a i), 0)), (Some (a i), 0)) in
  Kernel code head (a 0) (filling (16 * length uses)) [] []
    [Stream (a 1) false in_one in_one; Stream (a 2) false key_of_one in_one] (a 3)
    [(a 3, -1); (a 1, Z.of_nat in_one); (a 2, Z.of_nat in_one)]
    [argument 0%nat; argument 1%nat; argument 2%nat; argument 3%nat] [number 0%nat; number 1%nat; number 2%nat;
      number 3%nat]
    words_in [] [] [].

Hypothesis CHECKS : checks A kernel_of (adding turned uses) = true.
Hypothesis ENDS : ends_in_return A code.

Notation size := (16 * length uses)%nat.

Definition adds_all (spec : memory -> Z -> Z -> Z -> nat -> list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let sums := gpr m (a 0) in let input := gpr m (a 1) in let key := gpr m (a 2) in
  let buffers := [(true, (sums, Z.of_nat size)); (false, (input, extent_of in_one in_one n));
    (false, (key, extent_of in_one key_of_one n))] in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n ->
  ends V code buffers (accesses (pc m) (pointer V m) sums input key n) m (fun h => read h sums size = spec (mem m) sums input key n).

Theorem adds_on_bytes : adds_all (after turned uses in_one key_of_one).
Proof.
  exists (fun at_ p s i k n => all_accesses V kernel_of (adding turned uses) at_ p (value_of (arguments A) [s; i; k; Z.of_nat n]) n).
  intros m n s i k bs CALL REGS _ COUNT.
  set (arg := value_of (arguments A) [s; i; k; Z.of_nat n]).
  assert (GET : forall j, (j < 4)%nat -> arg (a j) = nth j [s; i; k; Z.of_nat n] 0)
    by (intros j L; apply (argument_value V [s; i; k; Z.of_nat n] j); cbn [length]; lia).
  pose proof (GET 0%nat ltac:(lia)) as V0; pose proof (GET 1%nat ltac:(lia)) as V1.
  pose proof (GET 2%nat ltac:(lia)) as V2; cbn [nth] in V0, V1, V2.
  assert (BS : buffers kernel_of arg n = bs).
  { unfold buffers, fixed, buffer_of, kernel_of, filling; cbn [state arranged room tables given streams map app fst snd
      begins written]; rewrite V0, V1, V2; reflexivity. }
  assert (CA : forall l, carried_after kernel_of (adding turned uses) arg m l =
    fold_left (fun x j => add_all turned uses 0 x (in_at in_one (mem m) i j) (key_at in_one key_of_one (mem m) k j))
      (seq 0 l) (read (mem m) s size)).
  { induction l as [|l IH].
    - cbn [carried_after seq fold_left adding enter]; rewrite (state_filling kernel_of arg size) by reflexivity.
      cbn [kernel_of state]; rewrite V0; reflexivity.
    - rewrite seq_S, fold_left_app, <- IH; cbn [carried_after fold_left Nat.add]; unfold adding at 1;
      cbn [on_bytes adds fst].
      unfold given_bytes, block_at; cbn [kernel_of given streams map app nth begins block_size].
      pose proof (B_stream A kernel_of (adding turned uses) CHECKS arg l (Stream (a 1) false in_one in_one)
        (or_introl eq_refl)) as B1.
      pose proof (B_stream A kernel_of (adding turned uses) CHECKS arg l (Stream (a 2) false key_of_one in_one)
        (or_intror (or_introl eq_refl))) as B2.
      cbn [begins stride] in B1, B2; rewrite B1, B2, V1, V2; reflexivity. }
  plainly (plain_call V kernel_of (adding turned uses) CHECKS ENDS [s; i; k; Z.of_nat n] 3) BS COUNT; [constructor|].
  intros h D; change (done kernel_of (adding turned uses) arg m n h) in D; destruct D as (LEN & ST & _).
  rewrite (state_filling kernel_of arg size) in ST by reflexivity; cbn [kernel_of state] in ST; rewrite V0 in ST.
  rewrite ST; unfold after; rewrite <- CA; apply firstn_all2.
  rewrite LEN; cbn [kernel_of arranged filling carried state_size]; lia.
Qed.

(** With other words for what is computed. *)
Lemma adds_all_as spec : (forall m s i k n, bytes_in_memory m ->
  after turned uses in_one key_of_one m s i k n = spec m s i k n) -> adds_all spec.
Proof.
  intro E; destruct adds_on_bytes as (accesses & H); exists accesses; intros m n s i k bs CALL REGS BYTES COUNT.
  rewrite <- E by exact BYTES; exact (H m n CALL REGS BYTES COUNT).
Qed.
End Kernels.

(** ** Units in a row *)

Lemma sums_are m s n : bytes_in_memory m ->
  sums m s n = map (fun p => lanes 8 (read m (s + 16 * Z.of_nat p) 16)) (seq 0 n).
Proof.
  intro B; apply map_ext; intro p; symmetry; apply (lanes_are 8 2);
    [apply read_length|apply read_small, B|discriminate].
Qed.

Definition units_added (m : memory) (s i k : Z) (n : nat) : list byte :=
  sum_bytes (NH.add_units (sums m s 4) (units m i n) (units m k (n + 3))).

Lemma after_units m s i k n : bytes_in_memory m -> after false of_unit 16 64 m s i k n = units_added m s i k n.
Proof.
  intro BYTES; unfold units_added, NH.add_units.
  replace (length (units m i n)) with n by (unfold units; rewrite map_length, seq_length; reflexivity).
  assert (F : Forall (fun uv => 16 * fst uv + 16 <= 16 /\ 16 * snd uv + 16 <= 64)%nat of_unit) by (repeat constructor).
  pose proof (after_is false of_unit 16 64 F m s i k BYTES) as ST.
  set (x := after false of_unit 16 64 m s i k) in *.
  assert (INV : forall l, (l <= n)%nat -> map (fun p => lanes 8 (part p (x l))) (seq 0 4) =
    fold_left (fun s0 u => NH.add_unit s0 (nth u (units m i n) []) (firstn 4 (skipn u (units m k (n + 3))))) (seq 0
      l) (sums m s 4)).
  { induction l as [|l IH]; intro L.
    - cbn [seq fold_left]; rewrite sums_are by exact BYTES; apply map_ext_in; intros p J; apply in_seq in J.
      unfold x, after; cbn [seq fold_left]; rewrite part_of_read by (cbn; lia); reflexivity.
    - rewrite (seq_S l 0), fold_left_app, <- IH by lia; cbn [fold_left]; rewrite Nat.add_0_l; unfold units.
      rewrite one_of_seq, some_of_seq by lia; destruct (ST l) as (_ & _ & P); clear IH ST.
      transitivity (map (fun p => ChaCha.zip_with NH.add_long (lanes 8 (part p (x l)))
        (NH.products (ChaCha.le_words 4 (read m (i + 16 * Z.of_nat l) 16))
          (ChaCha.le_words 4 (read m (k + 16 * Z.of_nat (l + p)) 16)))) (seq 0 4)); [|reflexivity].
      apply map_ext_in; intros p J; apply in_seq in J; specialize (P p ltac:(cbn; lia)); unfold of_unit in P.
      rewrite one_of_seq in P by lia.
      replace (i + Z.of_nat 16 * Z.of_nat l + 16 * Z.of_nat 0) with (i + 16 * Z.of_nat l) in P by lia.
      replace (k + Z.of_nat 16 * Z.of_nat l + 16 * Z.of_nat p) with (k + 16 * Z.of_nat (l + p)) in P by lia; exact P. }
  destruct (ST n) as (L & S & _); unfold sum_bytes; rewrite <- (INV n (le_n n)).
  symmetry; exact (decoded 4 (x n) L S).
Qed.

(** ** Groups of four units, and a key whose units have words 1 and 2 in each other's place *)

Definition groups_added (m : memory) (s i k : Z) (n : nat) : list byte :=
  flat_map sum_bytes (NH.add_groups (lane_sums m s) (unit_groups m i n) (map turn_unit (units m k (4 * n + 3)))).

Lemma after_groups m s i k n : bytes_in_memory m -> after true of_group 64 112 m s i k n = groups_added m s i k n.
Proof.
  intro BYTES; unfold groups_added, NH.add_groups.
  replace (length (unit_groups m i n)) with n by (unfold unit_groups; rewrite map_length, seq_length; reflexivity).
  assert (F : Forall (fun uv => 16 * fst uv + 16 <= 64 /\ 16 * snd uv + 16 <= 112)%nat of_group).
  { apply Forall_forall; intros uv J; unfold of_group in J; apply in_flat_map in J as (p & J1 & J2);
    apply in_map_iff in J2 as (u & <- & J2).
    apply in_seq in J1, J2; cbn [fst snd]; lia. }
  pose proof (after_is true of_group 64 112 F m s i k BYTES) as ST.
  set (x := after true of_group 64 112 m s i k) in *.
  assert (INV : forall l, (l <= n)%nat ->
    map (fun p => map (fun u => lanes 8 (part (4 * p + u) (x l))) (seq 0 4)) (seq 0 4) =
    fold_left (fun s0 g => NH.add_group s0 (nth g (unit_groups m i n) [])
      (firstn 7 (skipn (4 * g) (map turn_unit (units m k (4 * n + 3)))))) (seq 0 l) (lane_sums m s)).
  { induction l as [|l IH]; intro L.
    - cbn [fold_left]; rewrite (eq_refl : seq 0 0 = []); cbn [fold_left]; apply map_ext_in; intros p J;
      apply in_seq in J.
      rewrite sums_are by exact BYTES; apply map_ext_in; intros u JU; apply in_seq in JU.
      unfold x, after; rewrite (eq_refl : seq 0 0 = []); cbn [fold_left]; rewrite part_of_read by (cbn; lia);
        do 2 f_equal; lia.
    - rewrite (seq_S l 0), fold_left_app, <- IH by lia; cbn [fold_left]; rewrite Nat.add_0_l; unfold unit_groups, units.
      rewrite one_of_seq, map_map, some_of_seq by lia; destruct (ST l) as (_ & _ & P); clear IH ST.
      transitivity (map (fun p => map (fun u => ChaCha.zip_with NH.add_long (lanes 8 (part (4 * p + u) (x l)))
        (NH.products (ChaCha.le_words 4 (read m (i + 64 * Z.of_nat l + 16 * Z.of_nat u) 16))
          (turn_unit (ChaCha.le_words 4 (read m (k + 16 * Z.of_nat (4 * l + (u + p))) 16))))) (seq 0 4)) (seq 0 4)).
      + apply map_ext_in; intros p J; apply in_seq in J; apply map_ext_in; intros u JU; apply in_seq in JU.
        assert (Q : nth (4 * p + u) of_group (0, 0)%nat = (u, u + p)%nat).
        { clear - J JU; destruct p as [|[|[|[|p]]]]; try lia; destruct u as [|[|[|[|u]]]]; try lia; reflexivity. }
        specialize (P (4 * p + u)%nat ltac:(cbn; lia)); rewrite Q in P.
        replace (i + Z.of_nat 64 * Z.of_nat l + 16 * Z.of_nat u) with (i + 64 * Z.of_nat l + 16 * Z.of_nat u) in P by
          lia.
        replace (k + Z.of_nat 64 * Z.of_nat l + 16 * Z.of_nat (u + p)) with (k + 16 * Z.of_nat (4 * l + (u + p))) in
          P by lia.
        exact P.
      + reflexivity. }
  destruct (ST n) as (L & S & _); rewrite <- (INV n (le_n n)).
  transitivity (flat_map (fun j => flat_map (little_endian 8) (lanes 8 (part j (x n)))) (seq 0 16));
    [symmetry; exact (decoded 16 (x n) L S)|].
  unfold sum_bytes; cbn [seq map flat_map Nat.mul Nat.add]; rewrite <- !app_assoc; reflexivity.
Qed.

(** ** The theorems *)

Section Theorems.
Variable V : convention.
Context {PROPER : proper V}.
Notation a := (argument (abi_of V)).

(** The products of n units are added to the sums of four passes. *)
Definition adds_units (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let in_out := gpr m (a 0) in let input := gpr m (a 1) in let key := gpr m (a 2) in
  let buffers := [(true, (in_out, 64)); (false, (input, 16 * Z.of_nat n)); (false, (key, key_size 16 n))] in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n ->
  ends V code buffers (accesses (pc m) (pointer V m) in_out input key n) m (fun h =>
    read h in_out 64 =
    sum_bytes (NH.add_units (sums (mem m) in_out 4) (units (mem m) input n) (units (mem m) key (n + 3)))).

(** Those of n groups, to the sums of four passes and four lanes. *)
Definition adds_groups (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let in_out := gpr m (a 0) in let input := gpr m (a 1) in let key := gpr m (a 2) in
  let buffers := [(true, (in_out, 256)); (false, (input, 64 * Z.of_nat n)); (false, (key, key_size 64 n))] in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n ->
  ends V code buffers (accesses (pc m) (pointer V m) in_out input key n) m (fun h =>
    read h in_out 256 =
    flat_map sum_bytes (NH.add_groups (lane_sums (mem m) in_out) (unit_groups (mem m) input n)
      (map turn_unit (units (mem m) key (4 * n + 3))))).

Opaque NH.add_units NH.add_groups read.

Theorem units_sound code head words :
  checks (abi_of V) (kernel_of V code head of_unit 16 64 words) (adding false of_unit) = true ->
  ends_in_return (abi_of V) code -> adds_units code.
Proof.
  intros CH EN; destruct (adds_all_as V code head false of_unit 16 64 words CH EN units_added after_units) as (accesses & H).
  exists accesses; intros m n; specialize (H m n); cbv zeta in *.
  destruct (extents 16 n) as [E1 E2]; cbn [Nat.add] in E2; rewrite E1, E2 in H; exact H.
Qed.

Theorem groups_sound code head words :
  checks (abi_of V) (kernel_of V code head of_group 64 112 words) (adding true of_group) = true ->
  ends_in_return (abi_of V) code -> adds_groups code.
Proof.
  intros CH EN; destruct (adds_all_as V code head true of_group 64 112 words CH EN groups_added after_groups) as (accesses & H).
  exists accesses; intros m n; specialize (H m n); cbv zeta in *.
  destruct (extents 64 n) as [E1 E2]; cbn [Nat.add] in E2; rewrite E1, E2 in H; exact H.
Qed.
End Theorems.
