(** * ChaChaWords: kernels of ChaCha whose registers hold one word of sixteen blocks

    What they compute, as steps on words (WordLanes.v), that this is ChaCha, and the theorem about such kernels, for any
    calling convention.  The numbers of the blocks are any sixteen. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic ArxRounds Checker Segment Call Loop KernelCall Operations
  ChaChaRows BlockKernels ChaChaKernels WordLanes.
From Veriplex Require ChaCha.
Import ListNotations.

(** ** In memory *)

(** The numbers of the blocks in lanes 0, 2, ..., 14, then those in lanes 1, 3, ..., 15. *)
Definition number_order : list nat := [0; 2; 4; 6; 8; 10; 12; 14; 1; 3; 5; 7; 9; 11; 13; 15].

Definition number_rows (numbers : list N) : list byte := flat_map (fun l => little_endian 8 (nth l numbers 0%N)) number_order.

Lemma number_rows_length numbers : length (number_rows numbers) = 128.
Proof. reflexivity. Qed.

(** ** Steps *)

Definition quarter_steps (a b c d : nat) : program :=
  [(a, Sum_of a b); (d, Xor_of d a); (d, Rotate_of 16 d); (c, Sum_of c d); (b, Xor_of b c); (b, Rotate_of 12 b);
   (a, Sum_of a b); (d, Xor_of d a); (d, Rotate_of 8 d); (c, Sum_of c d); (b, Xor_of b c); (b, Rotate_of 7 b)].

Definition column_steps : program :=
  quarter_steps 0 4 8 12 ++ quarter_steps 1 5 9 13 ++ quarter_steps 2 6 10 14 ++ quarter_steps 3 7 11 15.
Definition diagonal_steps : program :=
  quarter_steps 0 5 10 15 ++ quarter_steps 1 6 11 12 ++ quarter_steps 2 7 8 13 ++ quarter_steps 3 4 9 14.

(** Words 16 to 31 are those before the rounds, and stay. *)
Definition sum_steps : program := map (fun i => (i, Sum_of (16 + i) i)) (seq 0 16).

Definition block_steps (rounds : nat) : program := concat (repeat (column_steps ++ diagonal_steps) (rounds / 2)) ++ sum_steps.

Section Steps.
Local Open Scope N_scope.
Local Opaque ChaCha.add_words ChaCha.rotate_word.

Lemma run_words_app p q x : run_words (p ++ q) x = run_words q (run_words p x).
Proof. apply fold_left_app. Qed.

Lemma update_front {T} i (a : T) x y : (i < length x)%nat -> update i a (x ++ y) = update i a x ++ y.
Proof. revert i; induction x as [|b x IH]; intros [|i] L; cbn [length app update] in *; try lia; [reflexivity|]; rewrite IH by lia; reflexivity. Qed.

Lemma word_of_front n e x y : length x = n -> expression_ok n e = true -> word_of e (x ++ y) = word_of e x.
Proof.
  intros L OK; destruct e as [i j|i j|i j|i j|k i|c]; cbn [expression_ok word_of] in *; try apply andb_prop in OK as [I J];
    try apply Nat.ltb_lt in I; try apply Nat.ltb_lt in J; rewrite ?(app_nth1 x y 0) by lia; reflexivity.
Qed.

Lemma run_words_front n p : program_ok n p = true -> forall x y, length x = n -> run_words p (x ++ y) = run_words p x ++ y.
Proof.
  unfold program_ok, run_words; induction p as [|[d e] p IH]; cbn [forallb fold_left fst snd]; intros OK x y L; [reflexivity|].
  apply andb_prop in OK as [OK P]; apply andb_prop in OK as [D E]; apply Nat.ltb_lt in D.
  rewrite (word_of_front n e x y L E), update_front, IH; auto; [rewrite update_length; exact L|lia].
Qed.

Local Ltac sixteen x H := do 16 (destruct x as [|? x]; [discriminate H|]); destruct x; [|discriminate H]; clear H.

Lemma column_steps_are x : length x = 16%nat -> run_words column_steps x = ChaCha.column_round x.
Proof. intro L; sixteen x L; reflexivity. Qed.

Lemma diagonal_steps_are x : length x = 16%nat ->
  run_words diagonal_steps x = ChaCha.turn_rows_back (ChaCha.column_round (ChaCha.turn_rows x)).
Proof. intro L; sixteen x L; reflexivity. Qed.

Lemma steps_ok k : program_ok 16 (concat (repeat (column_steps ++ diagonal_steps) k)) = true.
Proof.
  induction k as [|k IH]; cbn [repeat concat]; [reflexivity|]; unfold program_ok in *; rewrite forallb_app, IH; reflexivity.
Qed.

Lemma block_steps_ok rounds : program_ok 32 (block_steps rounds) = true.
Proof.
  unfold block_steps, program_ok; rewrite forallb_app; apply andb_true_intro; split; [|reflexivity].
  pose proof (steps_ok (rounds / 2)) as S; unfold program_ok in S; rewrite forallb_forall in *; intros [d e] J; specialize (S _ J).
  cbn [fst snd] in *; apply andb_prop in S as [D E]; apply Nat.ltb_lt in D; apply andb_true_intro; split; [apply Nat.ltb_lt; lia|].
  destruct e; cbn [expression_ok] in *; try exact E; apply andb_prop in E as [E F]; apply andb_true_intro;
    (split; [exact E || apply Nat.ltb_lt; apply Nat.ltb_lt in E; lia|apply Nat.ltb_lt; apply Nat.ltb_lt in F; lia]).
Qed.

Lemma iter_first {T} (f : T -> T) k x : Nat.iter (S k) f x = Nat.iter k f (f x).
Proof. induction k as [|k IH]; [reflexivity|]; exact (f_equal f IH). Qed.

Lemma rounds_steps_are k : forall x, state_ok x ->
  run_words (concat (repeat (column_steps ++ diagonal_steps) k)) x = Nat.iter k ChaCha.double_round x.
Proof.
  induction k as [|k IH]; intros x OK; [reflexivity|]; cbn [repeat concat]; rewrite iter_first, !run_words_app.
  rewrite column_steps_are by apply OK; rewrite diagonal_steps_are by (apply column_round_ok, OK).
  apply IH, (double_round_ok x OK).
Qed.

(** A block of which the words before the rounds are there twice. *)
Lemma block_steps_are rounds x : state_ok x ->
  firstn 16 (run_words (block_steps rounds) (x ++ x)) = ChaCha.zip_with ChaCha.add_words x (ChaCha.rounds rounds x).
Proof.
  intro OK; unfold block_steps; rewrite run_words_app, (run_words_front 16) by (apply steps_ok || apply OK).
  rewrite (rounds_steps_are _ x OK); change (Nat.iter (rounds / 2) ChaCha.double_round x) with (ChaCha.rounds rounds x).
  destruct (rounds_are true rounds x OK) as [[L _] _]; destruct OK as [M _]; revert L; generalize (ChaCha.rounds rounds x) as y.
  intros y L; sixteen x M; sixteen y L; reflexivity.
Qed.
End Steps.

(** ** What a kernel computes, on bytes and on symbolic bytes *)

Section Words.
Variable rounds : nat.

(** Half of each number, lane by lane. *)
Definition number_words {A} (half : nat) (s : list A) : list A :=
  flat_map (fun l => firstn 4 (skipn (64 * (l mod 2) + 8 * (l / 2) + half) s)) (seq 0 16).

Definition start_registers {A} (s start : list A) : list (list A) :=
  map (fun i => match i with 12 => number_words 0 s | 13 => number_words 4 s | _ => concat (repeat (lane_word i start) 16) end)
    (seq 0 16).

Definition sixteen_each : list byte := in_lanes 8 (map (fun _ => 16%N) number_order).

Definition words_bytes (s : list byte) (cs : list (list byte)) : list byte * list (list byte) :=
  let r := start_registers s (nth 0 cs []) in
  let r := run_bytes 16 (block_steps rounds) (r ++ r) in
  (plus_lanes 8 s sixteen_each, [xor (nth 1 cs []) (concat (transposed 16 (firstn 16 r)))]).

Definition words_symbols (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :
    option (list sbyte * list (list sbyte) * list node) :=
  let r := start_registers s (nth 0 cs []) in
  let? (r, nodes) := run_symbols 16 (block_steps rounds) (r ++ r) nodes in
  let? (s, nodes) := splus_all 8 s (map const sixteen_each) nodes in
  Some (s, [sxor (nth 1 cs []) (concat (transposed 16 (firstn 16 r)))], nodes).

Lemma evs_start_registers env s start :
  map (evs env) (start_registers s start) = start_registers (evs env s) (evs env start).
Proof.
  assert (W : forall h, evs env (number_words h s) = number_words h (evs env s)).
  { intro h; unfold number_words; rewrite flat_map_evs, !flat_map_concat_map; f_equal; apply map_ext; intro l.
    rewrite evs_firstn, evs_skipn; reflexivity. }
  assert (C : forall i, evs env (concat (repeat (lane_word i start) 16)) = concat (repeat (lane_word i (evs env start)) 16)).
  { intro i; cbn [repeat concat]; rewrite !evs_app; unfold lane_word; rewrite !evs_firstn, !evs_skipn; reflexivity. }
  unfold start_registers; rewrite map_map; apply map_ext; intro i.
  do 14 (destruct i as [|i]; [apply C || apply W|]); apply C.
Qed.

Lemma words_agree env s cs nodes s' cs' nodes' : words_symbols s cs nodes = Some (s', cs', nodes') -> extends nodes nodes' /\
  (consistent env nodes' -> words_bytes (evs env s) (map (evs env) cs) = (evs env s', map (evs env) cs')).
Proof.
  intro E; assert (F : finds env (match words_symbols s cs nodes with Some (s, cs, n) => Some ((s, cs), n) | None => None end) nodes
    (fun r => words_bytes (evs env s) (map (evs env) cs) = (evs env (fst r), map (evs env) (snd r)))).
  { clear E; assert (G : finds env
      (let? (r, nodes) := run_symbols 16 (block_steps rounds) (start_registers s (nth 0 cs []) ++ start_registers s (nth 0 cs [])) nodes in
       let? (t, nodes) := splus_all 8 s (map const sixteen_each) nodes in
       Some ((t, [sxor (nth 1 cs []) (concat (transposed 16 (firstn 16 r)))]), nodes)) nodes
      (fun r => words_bytes (evs env s) (map (evs env) cs) = (evs env (fst r), map (evs env) (snd r)))).
    { eapply finds_bind; [apply run_symbols_finds|]; intros r n1; cbv beta.
      eapply finds_bind; [intros t n2; apply splus_all_sound|]; intros t n2; cbv beta.
      apply finds_some; intros T R; cbn [fst snd map]; unfold words_bytes; rewrite !nth_map_evs, evs_xor, T, evs_const.
      rewrite map_app, evs_start_registers in R; rewrite <- R, firstn_map, <- evs_transposed; do 3 f_equal; symmetry; apply concat_map. }
    unfold words_symbols; destruct (run_symbols _ _ _ _) as [[r n1]|]; [|exact G].
    destruct (splus_all _ _ _ _) as [[t n2]|]; exact G. }
  rewrite E in F; exact (F (s', cs') nodes' eq_refl).
Qed.

Definition words_op : operation :=
  Operation (fun s => s) words_bytes (fun s nodes => Some (s, nodes)) words_symbols enters_agree words_agree.

(** ** It is ChaCha *)

Section Blocks.
Variables (key nonce : list byte).

Notation xor_group := (ChaCha.xor_group rounds key nonce).
Notation xor_blocks := (ChaCha.xor_blocks rounds key nonce).

Lemma numbers_are numbers start c : length numbers = 16 ->
  fst (words_bytes (number_rows numbers) [start; c]) = number_rows (fst (xor_group numbers (split 64 16 c))).
Proof.
  intro N; unfold words_bytes, ChaCha.xor_group; cbn [fst]; rewrite N.
  assert (R : forall l, number_rows l = in_lanes 8 (map (fun i => nth i l 0%N) number_order)).
  { intro l; unfold number_rows, in_lanes; rewrite !flat_map_concat_map, map_map; reflexivity. }
  rewrite !R; unfold sixteen_each; rewrite plus_many by discriminate; f_equal; apply map_ext_in; intros i J.
  change (256 ^ N.of_nat 8)%N with (2 ^ 64)%N; change (N.of_nat 16) with 16%N.
  assert (I : i < length numbers) by (rewrite N; cbn in J; lia).
  rewrite nth_indep with (d := 0%N) (d' := ((0 + 16) mod 2 ^ 64)%N) (l := map _ numbers) by (rewrite map_length; exact I).
  symmetry; apply (map_nth (fun i => ((i + 16) mod 2 ^ 64)%N)).
Qed.

(** The numbers of the next group. *)
Definition next_numbers (numbers : list N) : list N := map (fun i => ((i + 16) mod 2 ^ 64)%N) numbers.

Lemma next_numbers_are numbers cs : length numbers = 16 -> fst (xor_group numbers cs) = next_numbers numbers.
Proof. intro N; unfold ChaCha.xor_group; cbn [fst]; rewrite N; reflexivity. Qed.

Lemma next_numbers_length j numbers : length (Nat.iter j next_numbers numbers) = length numbers.
Proof.
  induction j as [|j IH]; [reflexivity|]; change (Nat.iter (S j) next_numbers numbers) with (next_numbers (Nat.iter j next_numbers numbers)).
  unfold next_numbers at 1; rewrite map_length; exact IH.
Qed.

Lemma word_blocks_are f : forall n s numbers, length numbers = 16 ->
  xor_blocks numbers (map f (seq s n)) =
  (Nat.iter n next_numbers numbers, map (fun j => snd (xor_group (Nat.iter (j - s) next_numbers numbers) (f j))) (seq s n)).
Proof.
  induction n as [|n IH]; intros s numbers L; cbn [seq map ChaCha.xor_blocks]; [reflexivity|].
  rewrite next_numbers_are, IH by (assumption || (unfold next_numbers; rewrite map_length; exact L)); cbn [fst snd].
  rewrite <- iter_first, Nat.sub_diag; f_equal; f_equal; apply map_ext_in; intros j J; apply in_seq in J.
  replace (j - s) with (S (j - S s)) by lia; rewrite iter_first; reflexivity.
Qed.

Lemma word_register_front n blocks i : i < n -> word_register i (map (firstn n) blocks) = word_register i blocks.
Proof.
  intro L; unfold word_register; rewrite map_map; f_equal; apply map_ext; intro x.
  rewrite <- (firstn_skipn n x) at 2; destruct (Nat.lt_ge_cases i (length (firstn n x))) as [H|H].
  - symmetry; apply app_nth1, H.
  - rewrite firstn_length in H; rewrite (nth_overflow (firstn n x)) by (rewrite firstn_length; lia).
    symmetry; apply nth_overflow; rewrite firstn_skipn; lia.
Qed.

(** Registers of blocks of n words, and again. *)
Lemma registers_twice n blocks : Forall (fun x => length x = n) blocks ->
  registers n blocks ++ registers n blocks = registers (n + n) (map (fun x => x ++ x) blocks).
Proof.
  intro H; apply nth_ext with (d := []) (d' := []); [rewrite app_length, !registers_length; reflexivity|].
  rewrite app_length, registers_length; intros i L; rewrite nth_register by exact L; unfold word_register at 1; rewrite map_map.
  rewrite Forall_forall in H; destruct (Nat.lt_ge_cases i n) as [Q|Q].
  - rewrite app_nth1, nth_register by (rewrite ?registers_length; exact Q); unfold word_register; f_equal; apply map_ext_in.
    intros x J; rewrite app_nth1 by (rewrite (H x J); exact Q); reflexivity.
  - rewrite app_nth2, registers_length, nth_register by (rewrite ?registers_length; lia); unfold word_register; f_equal; apply map_ext_in.
    intros x J; rewrite app_nth2, (H x J) by (rewrite (H x J); exact Q); reflexivity.
Qed.

Lemma registers_front n k blocks : k <= n -> firstn k (registers n blocks) = registers k (map (firstn k) blocks).
Proof.
  intro K; apply nth_ext with (d := []) (d' := []); rewrite firstn_length, !registers_length; [lia|].
  intros i L; rewrite nth_register, word_register_front by lia.
  rewrite <- (nth_register n) by lia; rewrite <- (firstn_skipn k (registers n blocks)) at 2; symmetry; apply app_nth1.
  rewrite firstn_length, registers_length; lia.
Qed.

Lemma xor_concat k : forall x ys, length x = 64 * k -> length ys = k -> Forall (fun y => length y = 64) ys ->
  xor x (concat ys) = concat (map (fun xy => xor (fst xy) (snd xy)) (combine (split 64 k x) ys)).
Proof.
  induction k as [|k IH]; intros x [|y ys] X Y F; cbn [length] in Y; try discriminate; [destruct x; [reflexivity|discriminate X]|].
  inversion F as [|? ? L FS]; subst; cbn [concat split combine map fst snd].
  rewrite <- (firstn_skipn 64 x) at 1; rewrite xor_apart by (rewrite firstn_length; lia).
  rewrite IH; [reflexivity|rewrite skipn_length; lia|congruence|exact FS].
Qed.

Lemma combine_right {A B C} (f : B -> C) (l : list A) : forall m, combine l (map f m) = map (fun ab => (fst ab, f (snd ab))) (combine l m).
Proof. induction l as [|a l IH]; intros [|b m]; cbn [combine map fst snd]; [reflexivity..|]; rewrite IH; reflexivity. Qed.

Hypothesis KEY : length key = 32.
Hypothesis NONCE : length nonce = 8.
Hypothesis KEY_SMALL : small 256 key.
Hypothesis NONCE_SMALL : small 256 nonce.

(** The bytes before the rounds, and the words. *)
Definition start_bytes (i : N) : list byte := ChaCha.first_rows key ++ ChaCha.last_row i nonce.
Definition start_words (i : N) : list N := ChaCha.start key (little_endian 8 i ++ nonce).

Lemma start_words_ok i : state_ok (start_words i) /\ in_lanes 4 (start_words i) = start_bytes i.
Proof.
  destruct (start_ok key nonce i KEY NONCE KEY_SMALL NONCE_SMALL) as (F & L & S & E & O); unfold start_words; rewrite E.
  split; [exact O|]; apply le_word_bytes_is; unfold start_bytes; [rewrite app_length, F, L; reflexivity|exact S].
Qed.

Local Ltac explicit x H := repeat (destruct x as [|? x]; [try discriminate H|try discriminate H]); clear H.

Lemma start_registers_are numbers start : length numbers = 16 -> length start = 64 ->
  firstn 48 start = ChaCha.first_rows key -> skipn 56 start = nonce ->
  start_registers (number_rows numbers) start = registers 16 (map start_words numbers).
Proof.
  intros N L F S; rewrite <- transposed_blocks, map_map.
  - assert (B : map (fun i => in_lanes 4 (start_words i)) numbers = map (fun i => firstn 48 start ++ little_endian 8 i ++ skipn 56 start) numbers).
    { rewrite F, S; apply map_ext; intro i; apply start_words_ok. }
    rewrite B; clear - N L; explicit start L; explicit numbers N; reflexivity.
  - apply Forall_forall; intros x J; apply in_map_iff in J as (i & <- & _); apply start_words_ok.
Qed.

Lemma blocks_are numbers start c : length numbers = 16 -> length start = 64 ->
  firstn 48 start = ChaCha.first_rows key -> skipn 56 start = nonce -> length c = 1024 ->
  snd (words_bytes (number_rows numbers) [start; c]) = [concat (snd (xor_group numbers (split 64 16 c)))].
Proof.
  intros N L F S C; unfold words_bytes; cbn [nth snd]; f_equal.
  rewrite (start_registers_are numbers start N L F S).
  set (xs := map start_words numbers).
  assert (OK : Forall state_ok xs) by (apply Forall_forall; intros x J; apply in_map_iff in J as (i & <- & _); apply start_words_ok).
  assert (XL : length xs = 16) by (unfold xs; rewrite map_length; exact N).
  rewrite registers_twice by (eapply Forall_impl; [|exact OK]; intros x [H _]; exact H); change (16 + 16) with 32.
  pose proof (run_lanes 32 (block_steps rounds) (block_steps_ok rounds) (map (fun x => x ++ x) xs)) as R.
  rewrite map_length, XL in R; rewrite R; clear R.
  2: { rewrite Forall_map; eapply Forall_impl; [|exact OK]; intros x [H Q]; split; [rewrite app_length, H; reflexivity|].
       apply Forall_app; split; exact Q. }
  rewrite registers_front, !map_map by (apply Nat.leb_le; reflexivity).
  assert (B : map (fun x => firstn 16 (run_words (block_steps rounds) (x ++ x))) xs =
    map (fun x => ChaCha.zip_with ChaCha.add_words x (ChaCha.rounds rounds x)) xs).
  { apply map_ext_in; intros x J; apply block_steps_are, (proj1 (Forall_forall _ _) OK x J). }
  rewrite B; clear B.
  assert (E : transposed 16 (registers 16 (map (fun x => ChaCha.zip_with ChaCha.add_words x (ChaCha.rounds rounds x)) xs)) =
    map (ChaCha.block rounds key nonce) numbers).
  { rewrite <- XL at 1; rewrite <- (map_length (fun x => ChaCha.zip_with ChaCha.add_words x (ChaCha.rounds rounds x)) xs).
    rewrite transposed_registers; [unfold xs; rewrite !map_map; reflexivity|].
    rewrite Forall_map; eapply Forall_impl; [|exact OK]; intros x O; cbv beta.
    destruct (rounds_are true rounds x O) as [[RL _] _]; split; [apply sum_length; [apply O|exact RL]|].
    unfold ChaCha.zip_with; apply Forall_forall; intros a J; apply in_map_iff in J as ([u v] & <- & _); apply word_add. }
  rewrite E, (xor_concat 16) by (rewrite ?map_length; auto; apply Forall_forall; intros b J; apply in_map_iff in J as (i & <- & _);
    apply (block_length true); assumption).
  unfold ChaCha.xor_group; cbn [snd]; rewrite combine_right, map_map; reflexivity.
Qed.

Lemma word_group_lengths numbers c : length numbers = 16 -> length c = 1024 ->
  length (snd (xor_group numbers (split 64 16 c))) = 16 /\ Forall (fun b => length b = 64) (snd (xor_group numbers (split 64 16 c))).
Proof.
  intros N L; unfold ChaCha.xor_group; cbn [snd]; split; [rewrite map_length, combine_length, split_length, N; reflexivity|].
  apply Forall_forall; intros b J; apply in_map_iff in J as ([d j] & <- & J); cbn [fst snd].
  apply in_combine_l in J; pose proof (proj1 (Forall_forall _ _) (split_lengths 16 c L) d J) as D; cbv beta in D.
  rewrite xor_length; [exact D|]; rewrite D; symmetry; apply (block_length true); assumption.
Qed.
End Blocks.
End Words.

(** ** The theorem *)

Section Kernels.
Local Open Scope Z_scope.
Variable V : convention.
Context {PROPER : proper V}.
Let A := abi_of V.
Notation a := (argument A).

(** Sixteen blocks with any numbers are XORed into each of n groups, and the numbers become the next ones. *)
Definition xors_words (rounds : nat) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat) (key nonce : list byte) (numbers : list N),
  let at_numbers := gpr m (a 0) in let start := gpr m (a 1) in let in_out := gpr m (a 2) in
  let buffers := [(true, (at_numbers, 128)); (false, (start, 64)); (true, (in_out, 1024 * Z.of_nat n))] in
  let after := ChaCha.xor_blocks rounds key nonce numbers (groups (mem m) in_out 16 n) in
  called V code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m (a 3) = Z.of_nat n -> length numbers = 16%nat ->
  read (mem m) at_numbers 128 = number_rows numbers ->
  read (mem m) start 48 = ChaCha.first_rows key -> read (mem m) (start + 56) 8 = nonce ->
  ends V code buffers (accesses (pc m) (pointer V m) at_numbers start in_out n) m (fun h =>
    read h at_numbers 128 = number_rows (fst after) /\ groups h in_out 16 n = snd after).

(** The arguments are the numbers, the words before the rounds, the buffer and the number of groups.  At the test two
    registers have the numbers, and others constants. *)
Variables (code_ : list byte) (head_ : Z) (rounds : nat) (words_ : list (nat * list nat)) (constants_ : list (nat * list byte)).

Definition words_kernel : kernel :=
  Kernel code_ head_ (a 0) (filling 128) [] [(a 1, 64%nat)] [Stream (a 2) true 1024 1024] (a 3) [(a 3, -1); (a 2, 1024)]
    (map (fun i => (a i, (Some (a i), 0))) (seq 0 4)) (map (fun i => (a i, (Some (a i), 0), (Some (a i), 0))) (seq 0 4))
    words_ constants_ [] [].

Notation op := (words_op rounds).

Hypothesis CHECKS : checks A words_kernel op = true.
Hypothesis ENDS : ends_in_return A code_.

Opaque ChaCha.xor_group ChaCha.xor_blocks number_rows.

Theorem xor_words_sound : xors_words rounds code_.
Proof.
  exists (fun at_ p s o d n => all_accesses V words_kernel op at_ p (value_of (arguments A) [s; o; d; Z.of_nat n]) n).
  intros m n key nonce numbers s o d bs after CALL REGS SMALL COUNT NUMBERS STATE FIRST LAST.
  set (arg := value_of (arguments A) [s; o; d; Z.of_nat n]).
  assert (GET : forall j, (j < 4)%nat -> arg (a j) = nth j [s; o; d; Z.of_nat n] 0)
    by (intros j L; apply (argument_value V [s; o; d; Z.of_nat n] j); cbn [length]; lia).
  pose proof (GET 0%nat ltac:(lia)) as V0; pose proof (GET 1%nat ltac:(lia)) as V1.
  pose proof (GET 2%nat ltac:(lia)) as V2; pose proof (GET 3%nat ltac:(lia)) as V3; cbn [nth] in V0, V1, V2, V3.
  assert (BS : buffers words_kernel arg n = bs).
  { unfold buffers, bs, fixed, buffer_of; cbn [words_kernel state arranged filling room tables given streams map app fst snd written begins].
    rewrite V0, V1, V2, extent_whole; reflexivity. }
  set (w := read (mem m) o 64).
  assert (WL : length w = 64%nat) by apply read_length.
  assert (WF : firstn 48 w = ChaCha.first_rows key).
  { rewrite <- FIRST; pose proof (read_part (mem m) o 64 0 48 ltac:(lia)) as P; rewrite Z.add_0_r, skipn_O in P; symmetry; exact P. }
  assert (WN : skipn 56 w = nonce).
  { rewrite <- LAST; pose proof (read_part (mem m) o 64 56 8 ltac:(lia)) as P; fold w in P; change (Z.of_nat 56) with 56 in P; fold o.
    rewrite P; symmetry; apply firstn_all2; rewrite skipn_length, WL; lia. }
  assert (WS : small 256 w) by (apply read_small, SMALL).
  assert (KL : length key = 32%nat /\ small 256 key).
  { pose proof (f_equal (@length _) WF) as L; rewrite firstn_length, WL in L; unfold ChaCha.first_rows in L.
    rewrite app_length in L; cbn [length ChaCha.constants] in L; split; [cbn in L; lia|].
    rewrite <- (firstn_skipn 48 w), WF in WS; unfold small, ChaCha.first_rows in *; rewrite !Forall_app in WS; apply WS. }
  assert (NL : length nonce = 8%nat /\ small 256 nonce).
  { rewrite <- WN, skipn_length, WL; split; [reflexivity|].
    rewrite <- (firstn_skipn 56 w) in WS; unfold small in *; rewrite Forall_app in WS; apply WS. }
  destruct KL as [KL KS], NL as [NL NS].
  assert (BA : forall mm l, block_at words_kernel arg mm l = [read mm (d + 1024 * Z.of_nat l) 1024]).
  { intros mm l; unfold block_at; cbn [words_kernel streams map begins block_size]; f_equal.
    pose proof (B_stream A words_kernel op CHECKS arg l (Stream (a 2) true 1024 1024) ltac:(now left)) as E.
    cbn [begins stride] in E; rewrite E, V2; reflexivity. }
  assert (GB : given_bytes words_kernel arg m = [w]).
  { unfold given_bytes; cbn [words_kernel given map fst snd]; rewrite V1; reflexivity. }
  assert (SA : forall l, carried_after words_kernel op arg m l = number_rows (Nat.iter l next_numbers numbers)).
  { induction l as [|l IH]; cbn [carried_after].
    - rewrite (state_filling words_kernel arg 128 (mem m) eq_refl); cbn [words_kernel state]; rewrite V0; exact STATE.
    - rewrite IH, GB, BA; cbn [app words_op on_bytes]; pose proof (next_numbers_length l numbers) as L; rewrite NUMBERS in L.
      change (Nat.iter (S l) next_numbers numbers) with (next_numbers (Nat.iter l next_numbers numbers)).
      rewrite <- (next_numbers_are rounds key nonce _ (split 64 16 (read (mem m) (d + 1024 * Z.of_nat l) 1024)) L).
      unfold words_bytes; exact (numbers_are rounds key nonce (Nat.iter l next_numbers numbers) w _ L). }
  unfold after; rewrite (word_blocks_are rounds key nonce _ n 0 numbers NUMBERS : ChaCha.xor_blocks _ _ _ _ (groups _ _ _ _) = _).
  cbn [fst snd].
  plainly (plain_call V words_kernel op CHECKS ENDS [s; o; d; Z.of_nat n] 3) BS COUNT; [constructor|].
  intros h D; change (done words_kernel op arg m n h) in D; destruct D as (_ & ST & DN & _); split.
  - rewrite (state_filling words_kernel arg 128 h eq_refl), SA in ST; cbn [words_kernel state arranged filling state_size] in ST.
    rewrite V0 in ST; refine (eq_trans ST _); apply firstn_all2; rewrite number_rows_length; apply le_n.
  - unfold groups; apply map_ext_in; intros l J; apply in_seq in J; specialize (DN l ltac:(lia)); unfold output in DN.
    rewrite SA, GB in DN; rewrite !BA in DN; cbn [app words_op on_bytes] in DN.
    pose proof (next_numbers_length l numbers) as L; rewrite NUMBERS in L.
    rewrite (blocks_are rounds key nonce KL NL KS NS _ w _ L WL WF WN (read_length _ _ _)) in DN.
    apply (f_equal (hd [])) in DN; cbn [hd] in DN; fold d; change (Z.of_nat (64 * 16)) with 1024; change (64 * 16)%nat with 1024%nat.
    rewrite DN, Nat.sub_0_r.
    apply (split_concat 64 16); apply word_group_lengths; auto; apply read_length.
Qed.
End Kernels.
