(** * Xoofff_x16_x86_64: the machine code of the kernels of Xoofff for sixteen states, with AVX-512 *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic Checker Segment Call ArxRounds ChaChaRows ChaChaKernels Loop
  XoodooRounds XoodooRows XoofffKernels X86_64 Call_x86_64 WordLanes WordLanes_x86_64 XoodooWords.
From Veriplex Require ChaCha Xoodoo Xoofff Kernels_xoofff_x16_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** ** The table *)

(** The word of a state in each word of a shift register that begins with four others, as words of the 64 bytes that end
    with the state; and where the words of a state are in the register. *)
Definition to_register : list N := [4; 8; 12; 5; 4; 8; 12; 5; 9; 13; 6; 10; 14; 7; 11; 15]%N.
Definition from_register : list N := [0; 3; 6; 9; 0; 3; 6; 9; 1; 4; 7; 10; 2; 5; 8; 11]%N.

(** Each constant sixteen times, sixteen times 7, and these two. *)
Definition constants_x16 : list byte :=
  flat_map (fun k => ChaCha.le_word_bytes (repeat k 16)) (skipn 6 Xoodoo.round_constants ++ [7%N]) ++
  ChaCha.le_word_bytes (to_register ++ from_register).

Lemma length_of_table_x16 : length constants_x16 = 576%nat.
Proof. reflexivity. Qed.

(** ** What a kernel does with the blocks of one iteration *)

(** Where the bytes are that a kernel carries: the second state as a shift register. *)
Definition place_x16 (j : nat) : nat :=
  if (j <? 48)%nat then j else (48 + 4 * nth ((j - 48) / 4) in_order 0 + j mod 4)%nat.
Definition owner_x16 (p : nat) : option nat :=
  Some (if (p <? 48)%nat then p else 48 + 4 * place_of ((p - 48) / 4) + p mod 4)%nat.

Lemma sixteen_enter q env s nodes t nodes' : senter_sixteen q s nodes = Some (t, nodes') -> consistent env nodes' ->
  enter_sixteen q (evs env s) = evs env t.
Proof. intros E C; apply (senter_sixteen_finds env) in E as [_ S]; symmetry; exact (S C). Qed.

Definition absorb_sixteen_symbols (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :=
  match sabsorb_sixteen s (nth 0 cs []) nodes with
  | Some (t, nodes) => Some (t, [nth 0 cs []], nodes)
  | None => None
  end.

Lemma absorb_sixteen_agrees env s cs nodes s' cs' nodes' : absorb_sixteen_symbols s cs nodes = Some (s', cs', nodes') ->
  extends nodes nodes' /\ (consistent env nodes' ->
    (absorb_sixteen (evs env s) (nth 0 (map (evs env) cs) []), [nth 0 (map (evs env) cs) []]) = (evs env s', map (evs env) cs')).
Proof.
  unfold absorb_sixteen_symbols; destruct (sabsorb_sixteen _ _ _) as [[t n]|] eqn:E; [|discriminate]; intro F.
  assert (X : t = s' /\ [nth 0 cs []] = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (<- & <- & <-).
  apply (sabsorb_sixteen_finds env) in E as [G S]; split; [exact G|]; intro C.
  assert (N : nth 0 (map (evs env) cs) [] = evs env (nth 0 cs [])) by apply (map_nth (evs env) cs []).
  rewrite N, (S C); reflexivity.
Qed.

Definition absorb_sixteen_op : operation :=
  Operation (enter_sixteen Masks) (fun s cs => (absorb_sixteen s (nth 0 cs []), [nth 0 cs []])) (senter_sixteen Masks)
    absorb_sixteen_symbols (sixteen_enter Masks) absorb_sixteen_agrees.

Definition squeeze_sixteen_symbols (s : list sbyte) (_ : list (list sbyte)) (nodes : list node) :=
  match ssqueeze_sixteen s nodes with
  | Some (r, nodes) => Some (fst r, [snd r], nodes)
  | None => None
  end.

Lemma squeeze_sixteen_agrees env s cs nodes s' cs' nodes' : squeeze_sixteen_symbols s cs nodes = Some (s', cs', nodes') ->
  extends nodes nodes' /\ (consistent env nodes' ->
    (fst (squeeze_sixteen (evs env s)), [snd (squeeze_sixteen (evs env s))]) = (evs env s', map (evs env) cs')).
Proof.
  unfold squeeze_sixteen_symbols; destruct (ssqueeze_sixteen _ _) as [[r n]|] eqn:E; [|discriminate]; intro F.
  assert (X : fst r = s' /\ [snd r] = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (<- & <- & <-).
  apply (ssqueeze_sixteen_finds env) in E as [G S]; split; [exact G|]; intro C; rewrite <- (S C); reflexivity.
Qed.

Definition squeeze_sixteen_op : operation :=
  Operation (enter_sixteen Outputs) (fun s _ => (fst (squeeze_sixteen s), [snd (squeeze_sixteen s)])) (senter_sixteen Outputs)
    squeeze_sixteen_symbols (sixteen_enter Outputs) squeeze_sixteen_agrees.

(** ** The kernels *)

(** The bytes, where the test of the counter is, and where what is carried is at the test: the shift register in zmm12, the
    accumulator four times in each of three registers, or the mask in a row in all three. *)
Definition absorb_x16_kernel : kernel :=
  kernel_with abi_zmm0_to_24 Kernels_xoofff_x16_x86_64.xoofff_absorb_blocks_x16 0xd83
    (Arrangement 96 96 place_x16 owner_x16 (fun _ => false) 112) false constants_x16 16
    [(12, [3; 4; 5; 6]); (13, [0; 0; 0; 0]); (14, [1; 1; 1; 1]); (15, [2; 2; 2; 2])]%nat.
Definition squeeze_x16_kernel : kernel :=
  kernel_with abi_zmm0_to_24 Kernels_xoofff_x16_x86_64.xoofff_squeeze_blocks_x16 0xcca
    (Arrangement 96 96 place_x16 owner_x16 (fun _ => false) 112) true constants_x16 16
    [(12, [3; 4; 5; 6]); (13, [0; 1; 2; 0]); (14, [1; 2; 0; 1]); (15, [2; 0; 1; 2])]%nat.

Lemma absorb_x16_checks : checks abi_zmm0_to_24 absorb_x16_kernel absorb_sixteen_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma squeeze_x16_checks : checks abi_zmm0_to_24 squeeze_x16_kernel squeeze_sixteen_op = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma absorb_x16_ends : ends_in_return abi_zmm0_to_24 Kernels_xoofff_x16_x86_64.xoofff_absorb_blocks_x16.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.
Lemma squeeze_x16_ends : ends_in_return abi_zmm0_to_24 Kernels_xoofff_x16_x86_64.xoofff_squeeze_blocks_x16.
Proof. split; [split; apply Nat.leb_le; vm_compute; reflexivity|vm_compute; reflexivity]. Qed.

(** ** The order of the bytes *)

Lemma places_x16 : forallb (fun p => (place_x16 p <? 96)%nat &&
  match owner_x16 p with Some j => (j <? 96)%nat && (place_x16 j =? p)%nat | None => false end) (seq 0 96) = true.
Proof. vm_compute; reflexivity. Qed.

Lemma place_below j : (j < 96)%nat -> (place_x16 j < 96)%nat.
Proof.
  intro L; pose proof (proj1 (forallb_forall _ _) places_x16 j ltac:(apply in_seq; lia)) as H.
  apply andb_prop in H as [H _]; apply Nat.ltb_lt, H.
Qed.

Lemma same_in_order s t : length s = 96%nat -> length t = 96%nat -> ordered place_x16 s = ordered place_x16 t -> s = t.
Proof.
  intros L M E; apply nth_ext with (d := 0%N) (d' := 0%N); [congruence|]; intros p P.
  pose proof (proj1 (forallb_forall _ _) places_x16 p ltac:(apply in_seq; lia)) as H; apply andb_prop in H as [_ H].
  destruct (owner_x16 p) as [j|]; [|discriminate]; apply andb_prop in H as [J H]; apply Nat.ltb_lt in J; apply Nat.eqb_eq in H.
  apply (f_equal (fun l => nth j l 0%N)) in E; unfold ordered in E; rewrite !(nth_map_seq 0%N) in E by exact J.
  rewrite H in E; exact E.
Qed.

Lemma ordered_x16 x m : is_block x -> is_block m -> ordered place_x16 (x ++ m) = x ++ in_lanes 4 (order_of m).
Proof.
  intros [L _] B; unfold ordered; change (seq 0 96) with (seq 0 48 ++ map (fun i => 48 + i)%nat (seq 0 48)).
  rewrite map_app, map_map; apply (f_equal2 (@app byte)).
  - apply nth_ext with (d := 0%N) (d' := 0%N); rewrite map_length, seq_length; [symmetry; exact L|]; intros j J.
    rewrite (nth_map_seq 0%N) by exact J; unfold place_x16; rewrite (proj2 (Nat.ltb_lt j 48) J); apply app_nth1; lia.
  - transitivity (map (fun i => nth (place_x16 (48 + i) - 48) m 0%N) (seq 0 48)).
    + apply map_ext; intro i; unfold place_x16; rewrite (proj2 (Nat.ltb_ge (48 + i) 48)) by lia.
      rewrite app_nth2 by lia; rewrite L; reflexivity.
    + destruct (block_words_ok m B) as [[LW _] E]; unfold order_of; set (w := block_words m) in *; clearbody w.
      rewrite <- E; clear E B; do 12 (destruct w as [|? w]; [discriminate LW|]); destruct w; [reflexivity|discriminate LW].
Qed.

Lemma enter_x16 q x m : is_block x -> is_block m -> enter_sixteen q (ordered place_x16 (x ++ m)) = x ++ register q m.
Proof.
  intros X M; rewrite ordered_x16 by assumption; unfold enter_sixteen.
  destruct (two_parts x (in_lanes 4 (order_of m)) (proj1 X)) as [-> ->]; rewrite first_register_is by exact M; reflexivity.
Qed.

Lemma enter_begins q s : length s = 96%nat -> firstn 96 (enter_sixteen q (ordered place_x16 s)) = ordered place_x16 s.
Proof.
  intros _; assert (L : length (ordered place_x16 s) = 96%nat) by (unfold ordered; rewrite map_length; apply seq_length).
  unfold enter_sixteen, first_register; rewrite app_assoc, firstn_skipn.
  rewrite firstn_app, L, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia.
Qed.

(** ** The theorems *)

(** The crate's table is that of the theorems. *)
Theorem xoofff_table_x16_is : Kernels_xoofff_x16_x86_64.xoofff_constants_x16 = constants_x16.
Proof. vm_compute; reflexivity. Qed.

Opaque Xoofff.absorb_blocks Xoofff.squeeze_blocks read blocks deck_at constants_x16 absorb_sixteen squeeze_sixteen
  enter_sixteen register ordered
  Kernels_xoofff_x16_x86_64.xoofff_absorb_blocks_x16 Kernels_xoofff_x16_x86_64.xoofff_squeeze_blocks_x16.

(** What holds when a kernel returns: about its buffers, its accesses, and memory. *)
Definition ends (code : list byte) (buffers : list (bool * (Z * Z))) (accesses : list event) (m : machine)
    (result : memory -> Prop) : Prop :=
  Forall (allowed code buffers m) accesses /\
  exists k m', run x86_64 k m = Some m' /\ returned_zmm0_to_24 m m' /\ result (mem m') /\
    (forall a, Forall (fun b => fst b = true -> ~ fst (snd b) <= a < fst (snd b) + snd (snd b)) buffers -> mem m' a = mem m a) /\
    trace m' = accesses ++ trace m.

(** n groups of sixteen blocks are absorbed. *)
Theorem xoofff_absorb_blocks_x16_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let code := Kernels_xoofff_x16_x86_64.xoofff_absorb_blocks_x16 in
  let deck := gpr m rdi in let input := gpr m rsi in let table := gpr m rcx in
  let buffers := [(true, (deck, 96)); (false, (table, 576)); (false, (input, 768 * Z.of_nat n))] in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rdx = Z.of_nat n -> read (mem m) table 576 = constants_x16 ->
  ends code buffers (accesses (pc m) (gpr m rsp) deck input table n) m (fun after =>
    deck_at after deck = Xoofff.absorb_blocks (deck_at (mem m) deck) (blocks (mem m) input (16 * n))).
Proof.
  pose proof (absorbed_by convention_zmm0_to_24 Kernels_xoofff_x16_x86_64.xoofff_absorb_blocks_x16 0xd83 place_x16 owner_x16
    (fun _ => false) constants_x16 16 112 (words_in absorb_x16_kernel) distinct_arguments_zmm0_to_24 four_arguments_zmm0_to_24
    place_below same_in_order absorb_x16_ends absorb_sixteen_op) as H.
  unfold absorbed, buffers_of in H; rewrite length_of_table_x16 in H; apply H; [| |exact absorb_x16_checks].
  - intros [acc mask] input [A M] L S; cbn [absorb_sixteen_op on_bytes enter fst nth]; unfold XoodooRows.bytes_of.
    cbn [Xoofff.acc Xoofff.mask] in *; rewrite enter_x16 by assumption.
    destruct (absorb_sixteen_is (Xoofff.Deck acc mask) input (conj A M) L S) as [E [A2 M2]]; cbn [Xoofff.acc Xoofff.mask] in E.
    cbv zeta; rewrite E, enter_x16 by assumption; split; [reflexivity|split; assumption].
  - exact (enter_begins Masks).
Qed.

(** n groups of sixteen blocks are squeezed. *)
Theorem xoofff_squeeze_blocks_x16_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> Z -> nat -> list event, forall (m : machine) (n : nat),
  let code := Kernels_xoofff_x16_x86_64.xoofff_squeeze_blocks_x16 in
  let states := gpr m rdi in let output := gpr m rsi in let table := gpr m rcx in
  let buffers := [(true, (states, 96)); (false, (table, 576)); (true, (output, 768 * Z.of_nat n))] in
  let mask := read (mem m) states 48 in
  let squeezed := Xoofff.squeeze_blocks mask (read (mem m) (states + 48) 48) (16 * n) in
  called code buffers m -> (forall r, 0 <= gpr m r < 2 ^ 64) -> bytes_in_memory (mem m) ->
  gpr m rdx = Z.of_nat n -> read (mem m) table 576 = constants_x16 ->
  ends code buffers (accesses (pc m) (gpr m rsp) states output table n) m (fun after =>
    read after states 48 = mask /\ read after (states + 48) 48 = fst squeezed /\ blocks after output (16 * n) = snd squeezed).
Proof.
  pose proof (squeezed_by convention_zmm0_to_24 Kernels_xoofff_x16_x86_64.xoofff_squeeze_blocks_x16 0xcca place_x16 owner_x16
    (fun _ => false) constants_x16 16 112 (words_in squeeze_x16_kernel) distinct_arguments_zmm0_to_24 four_arguments_zmm0_to_24
    place_below same_in_order squeeze_x16_ends squeeze_sixteen_op) as H.
  unfold squeezed_with, buffers_of in H; rewrite length_of_table_x16 in H; apply H; [| |exact squeeze_x16_checks].
  - intros mask y cs M Y; cbn [squeeze_sixteen_op on_bytes enter]; rewrite enter_x16 by assumption.
    cbv zeta; rewrite squeeze_sixteen_is by assumption; cbn [fst snd].
    rewrite enter_x16 by (assumption || apply blocks_squeezed; assumption); reflexivity.
  - exact (enter_begins Outputs).
Qed.
