(** * Xoofff_x16_x86_64: the machine code of the kernels of Xoofff for AVX-512

    Run in any memory, the literal bytes absorb or squeeze n groups of sixteen blocks, for every n. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic Checker Segment Call ArxRounds ChaChaRows ChaChaKernels Loop
  XoodooRounds XoodooRows XoofffKernels X86_64 Call_x86_64 WordLanes XoodooWords.
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

(** Where the test of the counter is, and where what is carried is at the test: the shift register in zmm12, the accumulator
    four times in each of three registers, or the mask in a row in all three. *)
Theorem xoofff_absorb_blocks_x16_x86_64 :
  absorbs (convention_x86_64 9) 16 constants_x16 Kernels_xoofff_x16_x86_64.xoofff_absorb_blocks_x16.
Proof.
  apply (absorbed_by (convention_x86_64 9) Kernels_xoofff_x16_x86_64.xoofff_absorb_blocks_x16 0xd83 place_x16 owner_x16 (fun _ => false) _ _ 112
    [(12, [3; 4; 5; 6]); (13, [0; 0; 0; 0]); (14, [1; 1; 1; 1]); (15, [2; 2; 2; 2])]%nat place_below same_in_order ltac:(by_evaluation)
    absorb_sixteen_op); [|exact (enter_begins Masks)|by_evaluation].
  intros [acc mask] input [A M] L S; cbn [absorb_sixteen_op on_bytes enter fst nth]; unfold XoodooRows.bytes_of.
  cbn [Xoofff.acc Xoofff.mask] in *; rewrite enter_x16 by assumption.
  destruct (absorb_sixteen_is (Xoofff.Deck acc mask) input (conj A M) L S) as [E [A2 M2]]; cbn [Xoofff.acc Xoofff.mask] in E.
  cbv zeta; rewrite E, enter_x16 by assumption; split; [reflexivity|split; assumption].
Qed.

Theorem xoofff_squeeze_blocks_x16_x86_64 :
  squeezes (convention_x86_64 9) 16 constants_x16 Kernels_xoofff_x16_x86_64.xoofff_squeeze_blocks_x16.
Proof.
  apply (squeezed_by (convention_x86_64 9) Kernels_xoofff_x16_x86_64.xoofff_squeeze_blocks_x16 0xcca place_x16 owner_x16 (fun _ => false) _ _ 112
    [(12, [3; 4; 5; 6]); (13, [0; 1; 2; 0]); (14, [1; 2; 0; 1]); (15, [2; 0; 1; 2])]%nat place_below same_in_order ltac:(by_evaluation)
    squeeze_sixteen_op); [|exact (enter_begins Outputs)|by_evaluation].
  intros mask y cs M Y; cbn [squeeze_sixteen_op on_bytes enter]; rewrite enter_x16 by assumption.
  cbv zeta; rewrite squeeze_sixteen_is by assumption; cbn [fst snd].
  rewrite enter_x16 by (assumption || apply blocks_squeezed; assumption); reflexivity.
Qed.
