(** * ChaChaLoop: kernels that XOR groups of blocks of ChaCha into a buffer, for every number of groups

    As Loop.v, for another arrangement of memory: the last row before the rounds, which is in a register between two
    groups; the other rows, which are only read; and one buffer, which is changed in place. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic Checker Segment Call ArxRounds.
Import ListNotations.
Local Open Scope Z_scope.

(** What a kernel computes, and where it keeps things.  Its arguments are the last row, the other rows, the buffer and
    the number of groups. *)
Record kernel := Kernel {
  code : list byte;
  head : Z;                     (* the test of the counter, from the start of the code *)
  moves : bool;                 (* whether it rotates by whole bytes as ArxRounds.v moves bytes *)
  double_rounds : nat;
  there : turns;                (* by how many bytes the rows turn before the diagonals, *)
  back : turns;                 (* and after them *)
  lanes : nat;                  (* the blocks of a group *)
  row_in : nat;                 (* the vector register with the last row, at the test *)
  constants_in : list (nat * list byte)   (* vector registers with constants, at the test *)
}.

Section Loop.
Variable A : abi.
Variable K : kernel.

Notation isa_ := (isa_of A).

Definition state : nat := argument A 0.
Definition others_at : nat := argument A 1.
Definition data : nat := argument A 2.
Definition count : nat := argument A 3.

(** The size of a group. *)
Definition size : nat := 64 * lanes K.

Definition numbers (counter : snumber) (on : Z) : list (nat * snumber) :=
  [(state, (Some state, 0)); (others_at, (Some others_at, 0)); (count, counter); (data, (Some data, on))].

Definition words (s : list sbyte) : list (nat * list sbyte) :=
  (row_in K, s) :: map (fun rc => (fst rc, map const (snd rc))) (constants_in K).

(** The three pieces: to the first test, from one test to the next, from the last test to the return. *)
Definition entry_layout := [(state, false, 16%nat)].
Definition step_layout := [(others_at, false, 48%nat); (data, true, size)].
Definition exit_layout := [(state, true, 16%nat)].

Definition goal :=
  sxor_lanes (moves K) (double_rounds K) (there K) (back K) (input 16 48) (lanes K) (input 0 16) (input 64 size) [].

Definition entry_found :=
  srun isa_ (code K) (of_call A None) 100 (head K)
    (started 0 (numbers (Some count, 0) 0) [] [Region state false (input 0 16)] [] (gprs A) (vecs A)).

Definition step_found :=
  match goal with
  | Some (_, nodes) =>
      srun isa_ (code K) (of_call A (Some count)) 4000 (head K)
        (started (head K) (numbers (Some count, 0) 0) (words (input 0 16))
          [Region others_at false (input 16 48); Region data true (input 64 size)] nodes (gprs A) (vecs A))
  | None => None
  end.

Definition exit_found :=
  srun isa_ (code K) (of_call A None) 100 (last_at A (code K))
    (started (head K) (numbers (None, 0) 0) (words (input 0 16)) [Region state true (input 16 16)] []
      (gprs A) (vecs A)).

Definition entry_ok (s : symbolic) : bool :=
  (s_pc s =? head K) && sane A (code K) entry_layout s &&
  forallb (number_ok (s_gpr s)) (numbers (Some count, 0) 0) && forallb (word_ok (s_vec s)) (words (input 0 16)).

Definition step_ok (s : symbolic) : bool :=
  match goal with
  | Some ((out, last), _) =>
      (s_pc s =? head K) && sane A (code K) step_layout s &&
      forallb (number_ok (s_gpr s)) (numbers (Some count, -1) (Z.of_nat size)) &&
      forallb (word_ok (s_vec s)) (words last) && (length last =? 16)%nat &&
      list_eqb word_eqb (map content (s_mem s)) [input 16 48; out]
  | None => false
  end.

Definition exit_ok (s : symbolic) : bool :=
  (s_pc s =? last_at A (code K)) && sane A (code K) exit_layout s && forallb (cleared_ok (s_vec s)) (cleared A) &&
  list_eqb word_eqb (map content (s_mem s)) [input 0 16].

Fixpoint distinct (l : list nat) : bool :=
  match l with [] => true | a :: l => negb (existsb (Nat.eqb a) l) && distinct l end.

Definition shape_ok : bool :=
  distinct [state; others_at; data; count] && forallb (fun rc => (length (snd rc) =? 16)%nat) (constants_in K) &&
  (lanes K <=? 16)%nat.

Definition found (f : option symbolic) (ok : symbolic -> bool) : bool :=
  match f with Some s => ok s | None => false end.

Definition checks : bool :=
  (16 <=? least A)%nat && shape_ok && found entry_found entry_ok && found step_found step_ok && found exit_found exit_ok.

(** ** From the checks to the machine *)

Hypothesis CH : checks = true.

Variables (at_ : Z) (arg : nat -> Z) (m0 : machine) (n : nat) (beside_ : list (bool * (Z * Z))).

Definition used : list nat := [state; others_at; data; count].

Definition buffers : list (bool * (Z * Z)) :=
  [(true, (arg state, 16)); (false, (arg others_at, 48)); (true, (arg data, Z.of_nat size * Z.of_nat n))].

Hypothesis AT : pc m0 = at_.
Hypothesis ARG : forall r, In r used -> gpr m0 r = arg r.
Hypothesis CALL : valid A (code K) beside_ buffers m0.
Hypothesis COUNT : arg count = Z.of_nat n.
Hypothesis SMALL : Z.of_nat n < 2 ^ 64.
Hypothesis ENDS : ends_in_return A (code K).

(** The values of the checker's unknowns in round i. *)
Definition B (i : nat) (u : nat) : Z :=
  if (u =? data)%nat then arg u + Z.of_nat size * Z.of_nat i
  else if (u =? count)%nat then arg u - Z.of_nat i else arg u.

Definition group_at (m : memory) (i : nat) : list byte := read m (arg data + Z.of_nat size * Z.of_nat i) size.

Definition other_rows : list byte := read (mem m0) (arg others_at) 48.

(** A group: the output, and the last row for the next. *)
Definition on_group (s c : list byte) : list byte * list byte :=
  xor_lanes (moves K) (double_rounds K) (there K) (back K) other_rows (lanes K) s c.

Fixpoint state_after (i : nat) : list byte :=
  match i with
  | O => read (mem m0) (arg state) 16
  | S i => snd (on_group (state_after i) (group_at (mem m0) i))
  end.

Definition touched (i : nat) (a : Z) : Prop := arg data <= a < arg data + Z.of_nat size * Z.of_nat i.

Definition words_of (s : list byte) : list (nat * list byte) := (row_in K, s) :: constants_in K.

Record at_test (i : nat) (tr : list event) (m : machine) : Prop := At_test {
  t_pc : pc m = wrap (at_ + head K);
  t_numbers : Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (numbers (Some count, 0) 0);
  t_words : Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (state_after i));
  t_length : length (state_after i) = 16%nat;
  t_saved : forall r, In r (saved A) -> gpr m r = gpr m0 r;
  t_kept : forall r, In r (kept A) -> vec m r = vec m0 r;
  t_vec : forall r, length (vec m r) = full isa_;
  t_done : forall j, (j < i)%nat -> group_at (mem m) j = fst (on_group (state_after j) (group_at (mem m0) j));
  t_frame : forall a, ~ touched i a -> mem m a = mem m0 a;
  t_trace : trace m = tr ++ trace m0
}.

(** *** Registers and places *)

Lemma shape : distinct used = true /\ forallb (fun rc => (length (snd rc) =? 16)%nat) (constants_in K) = true /\
  (lanes K <= 16)%nat.
Proof.
  pose proof CH as H; unfold checks in H; do 3 (apply andb_prop in H as [H _]); apply andb_prop in H as [_ H].
  unfold shape_ok in H; apply andb_prop in H as [H H3]; apply andb_prop in H as [H1 H2]; apply Nat.leb_le in H3; auto.
Qed.

Lemma different : (state <> others_at /\ state <> data /\ state <> count /\
  others_at <> data /\ others_at <> count /\ data <> count)%nat.
Proof.
  destruct shape as (H & _); unfold used in H; cbn [distinct existsb] in H.
  repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [? ?] end.
  repeat match goal with H : negb _ = true |- _ => apply negb_true_iff in H; repeat apply orb_false_elim in H as [H ?] end.
  repeat match goal with H : (_ || _) = false |- _ => apply orb_false_elim in H as [? ?] end.
  repeat match goal with H : (_ =? _)%nat = false |- _ => apply Nat.eqb_neq in H end.
  repeat split; assumption.
Qed.

Lemma B_data i : B i data = arg data + Z.of_nat size * Z.of_nat i.
Proof. unfold B; rewrite Nat.eqb_refl; reflexivity. Qed.

Lemma B_count i : B i count = Z.of_nat n - Z.of_nat i.
Proof.
  unfold B; destruct different as (_ & _ & _ & _ & _ & D); apply not_eq_sym, Nat.eqb_neq in D; rewrite D.
  rewrite Nat.eqb_refl, COUNT; reflexivity.
Qed.

Lemma B_fixed i u : u = state \/ u = others_at -> B i u = arg u.
Proof.
  intro U; unfold B; destruct different as (_ & D1 & D2 & D3 & D4 & _).
  apply Nat.eqb_neq in D1, D2, D3, D4; destruct U as [-> | ->]; rewrite ?D1, ?D2, ?D3, ?D4; reflexivity.
Qed.

Lemma words_evs env s : map (fun rw => (fst rw, evs env (snd rw))) (words s) = words_of (evs env s).
Proof.
  unfold words, words_of; cbn [map fst snd]; f_equal; rewrite map_map.
  rewrite <- (map_id (constants_in K)) at 2; apply map_ext; intros [r c]; cbn [fst snd]; rewrite evs_const; reflexivity.
Qed.

Lemma input_length a k : length (input a k) = k.
Proof. unfold input; now rewrite map_length, seq_length. Qed.

Lemma words_lengths s : length s = 16%nat -> Forall (fun rw => length (snd rw) = 16%nat) (words s).
Proof.
  intro L; destruct shape as (_ & C16 & _); rewrite forallb_forall in C16; unfold words; constructor; [exact L|].
  apply Forall_forall; intros rw J; apply in_map_iff in J as ([r c] & <- & J); cbn [snd fst].
  rewrite map_length; apply Nat.eqb_eq; exact (C16 _ J).
Qed.

Lemma words_start env s m : length s = 16%nat ->
  Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (evs env s)) ->
  Forall (fun rw => (length (snd rw) <= least A)%nat /\ firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) (words s).
Proof.
  intros L H; rewrite <- words_evs in H; apply Forall_forall; intros rw J.
  rewrite (proj1 (Forall_forall _ _) (words_lengths s L) rw J); split.
  - pose proof CH as Q; unfold checks in Q; do 4 (apply andb_prop in Q as [Q _]); apply Nat.leb_le; exact Q.
  - rewrite Forall_forall in H; exact (H _ (in_map (fun rw => (fst rw, evs env (snd rw))) _ _ J)).
Qed.

Lemma words_stop env s m : length s = 16%nat ->
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) (words s) ->
  Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (evs env s)).
Proof.
  intros L H; rewrite <- words_evs; apply Forall_forall; intros rw J; apply in_map_iff in J as (x & <- & J).
  rewrite <- (proj1 (Forall_forall _ _) (words_lengths s L) x J); exact (proj1 (Forall_forall _ _) H x J).
Qed.

Lemma numbers_next i m :
  Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (numbers (Some count, -1) (Z.of_nat size)) ->
  Forall (fun rv => gpr m (fst rv) = number_is (B (S i)) (snd rv)) (numbers (Some count, 0) 0).
Proof.
  unfold numbers; intro H; inversion H as [|? ? H1 T1]; subst; inversion T1 as [|? ? H2 T2]; subst.
  inversion T2 as [|? ? H3 T3]; subst; inversion T3 as [|? ? H4 _]; subst; cbn [fst snd number_is] in *.
  constructor; [cbn [fst snd number_is]; rewrite H1, !B_fixed by tauto; reflexivity|].
  constructor; [cbn [fst snd number_is]; rewrite H2, !B_fixed by tauto; reflexivity|].
  constructor; [cbn [fst snd number_is]; rewrite H3, !B_count; f_equal; lia|].
  constructor; [cbn [fst snd number_is]; rewrite H4, !B_data; f_equal; lia|constructor].
Qed.

(** *** Apartness *)

Definition fixed : list (bool * (Z * Z)) := [(true, (arg state, 16)); (false, (arg others_at, 48))].
Definition data_buffer : bool * (Z * Z) := (true, (arg data, Z.of_nat size * Z.of_nat n)).

Lemma all_apart : ForallOrdPairs compatible (code_part (code K) m0 :: fixed ++ [data_buffer]).
Proof. exact (pairs_without _ _ _ _ (v_apart _ _ _ _ _ CALL)). Qed.

Lemma all_range : Forall in_space (code_part (code K) m0 :: fixed ++ [data_buffer]).
Proof.
  pose proof (v_range _ _ _ _ _ CALL) as R; inversion R as [|? ? R1 R2]; subst.
  apply Forall_app in R2; constructor; [exact R1|apply R2].
Qed.

Lemma untouched b a i : In b (code_part (code K) m0 :: fixed) -> fst (snd b) <= a < fst (snd b) + snd (snd b) -> (i <= n)%nat ->
  ~ touched i a.
Proof.
  intros I H L T; unfold touched in T.
  pose proof (pairs_app _ (code_part (code K) m0 :: fixed) _ all_apart b data_buffer I (or_introl eq_refl)) as C.
  specialize (C (or_intror eq_refl)); unfold disjoint in C; cbn [data_buffer fst snd] in C; nia.
Qed.

Lemma group_fresh i j m : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (i <= j)%nat ->
  group_at (mem m) j = group_at (mem m0) j.
Proof. intros F L; apply read_same; intros a Q; apply F; unfold touched; nia. Qed.

Lemma written i a : in_writable (B i) step_layout a ->
  arg data + Z.of_nat size * Z.of_nat i <= a < arg data + Z.of_nat size * Z.of_nat i + Z.of_nat size.
Proof.
  intros (g & [<-|[<-|[]]] & W & Q); [discriminate|]; unfold inside in Q; rewrite B_data in Q; lia.
Qed.

Lemma code_stays i m : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (i <= n)%nat ->
  read (mem m) at_ (length (code K)) = code K.
Proof.
  intros F L; rewrite <- (v_code _ _ _ _ _ CALL) at 2; rewrite AT; apply read_same; intros a Q; apply F.
  apply (untouched (code_part (code K) m0)); [now left| |exact L]; unfold code_part; cbn [fst snd]; rewrite AT; exact Q.
Qed.

(** *** The three pieces *)

Lemma fits_space i m : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (i <= n)%nat -> (forall r, length (vec m r) = full isa_) ->
  forall nonzero_ L bs, match nonzero_ with Some u => 0 < B i u < 2 ^ 64 | None => True end ->
  ForallOrdPairs compatible (code_part (code K) m0 :: bs) -> Forall in_space bs ->
  Forall2 (lies (B i)) L bs -> placed isa_ (code K) (of_call A nonzero_) (B i) at_ m L.
Proof.
  intros F LE V nonzero_ L bs N P R Q; apply placed_in with bs; auto; try exact (Forall_nil _); [| |exact (v_least _ _ _ _ _ CALL)|].
  - pose proof all_range as S; inversion S as [|? ? A1 A2]; subst; exact A1.
  - apply code_stays with i; assumption.
  - unfold code_part in P; rewrite AT in P; exact P.
Qed.

Lemma state_range : in_space (true, (arg state, 16)).
Proof. pose proof all_range as S; inversion S as [|? ? _ S1]; subst; inversion S1; subst; assumption. Qed.

Lemma state_apart : ForallOrdPairs compatible (code_part (code K) m0 :: [(true, (arg state, 16))]).
Proof.
  pose proof all_apart as S; inversion S as [|? ? S1 S2]; subst; inversion S1 as [|? ? S3 _]; subst.
  constructor; [constructor; [exact S3|constructor]|constructor; constructor].
Qed.

Definition step_buffers : list (bool * (Z * Z)) := [(false, (arg others_at, 48)); data_buffer].

Lemma steps_apart : ForallOrdPairs compatible (code_part (code K) m0 :: step_buffers).
Proof. exact (pairs_without _ _ [(true, (arg state, 16))] _ all_apart). Qed.

Lemma steps_range : Forall in_space step_buffers.
Proof. pose proof all_range as S; inversion S as [|? ? _ S1]; subst; inversion S1; subst; assumption. Qed.

Lemma steps_lie i : (i < n)%nat -> Forall2 (lies (B i)) step_layout step_buffers.
Proof.
  intro L; constructor; [|constructor; [|constructor]]; (split; [auto; discriminate|]);
    rewrite ?B_fixed, ?B_data by tauto; unfold within; cbn [data_buffer fst snd]; nia.
Qed.

(** The parts of the inputs of the checker. *)
Lemma part_is env (x y z : list byte) a k : agrees env (x ++ y ++ z) -> length x = a -> length y = k -> (a + k <= 4096)%nat ->
  evs env (input a k) = y.
Proof.
  intros Q X Y M; rewrite (input_is env _ a k Q) by (rewrite ?app_length; lia).
  rewrite skipn_app, skipn_all2 by lia; rewrite X, Nat.sub_diag, skipn_O; cbn [app].
  rewrite firstn_app, Y, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia.
Qed.

Lemma step_round s i tr m : step_found = Some s -> step_ok s = true -> (i < n)%nat -> at_test i tr m ->
  exists k m', run isa_ k m = Some m' /\ at_test (S i) (map (event_is (B i) at_) (s_trace s) ++ tr) m'.
Proof.
  intros E H LT T; unfold step_found in E; unfold step_ok in H.
  destruct goal as [[[out last] nodes]|] eqn:G; [|discriminate].
  apply andb_prop in H as [H HM]; apply andb_prop in H as [H HL]; apply andb_prop in H as [H HV].
  apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP; apply Nat.eqb_eq in HL.
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK.
  destruct T as [Tpc Tnum Twords Tlen Tsaved Tkept Tvec Tdone Tframe Ttrace].
  destruct shape as (_ & _ & SH).
  assert (SZ : (64 + size <= 4096)%nat) by (unfold size; lia).
  set (all := state_after i ++ other_rows ++ group_at (mem m) i).
  assert (OL : length other_rows = 48%nat) by apply read_length.
  assert (GL : length (group_at (mem m) i) = size) by apply read_length.
  assert (INPUT : forall env, agrees env all -> evs env (input 0 16) = state_after i).
  { intros env Q; apply (part_is env [] (state_after i) (other_rows ++ group_at (mem m) i)); auto; lia. }
  assert (OTHER : forall env, agrees env all -> evs env (input 16 48) = other_rows).
  { intros env Q; apply (part_is env (state_after i) other_rows (group_at (mem m) i)); auto; lia. }
  assert (DATA : forall env, agrees env all -> evs env (input 64 size) = group_at (mem m) i).
  { intros env Q; apply (part_is env (state_after i ++ other_rows) (group_at (mem m) i) []); try lia.
    - rewrite app_nil_r, <- app_assoc; exact Q.
    - rewrite app_length; lia. }
  set (regions := [Region others_at false (input 16 48); Region data true (input 64 size)]) in *.
  assert (LAY : map layout_of regions = step_layout).
  { unfold regions, step_layout, layout_of; cbn [map start writable content]; rewrite !input_length; reflexivity. }
  assert (P : placed isa_ (code K) (of_call A (Some count)) (B i) at_ m step_layout).
  { apply (fits_space i m Tframe ltac:(lia) Tvec (Some count) step_layout step_buffers);
      [cbv iota; rewrite B_count; lia|exact steps_apart|exact steps_range|exact (steps_lie i LT)]. }
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW all (B i) at_ m ltac:(rewrite LAY; exact P) Tpc Tnum)
    as (env & k & m' & Q & C & R & REL).
  { intros env Q; apply words_start; [apply input_length|]; rewrite (INPUT env Q); exact Twords. }
  { intros env Q; constructor; [|constructor; [|constructor]]; unfold holds; cbn [start content]; rewrite input_length.
    - rewrite (OTHER env Q), B_fixed by tauto; apply read_same; intros a Ha; apply Tframe.
      apply (untouched (false, (arg others_at, 48))); [cbn [fixed In]; tauto|cbn [fst snd]; lia|lia].
    - rewrite (DATA env Q), B_data; reflexivity. }
  rewrite LAY in REL.
  assert (CG : consistent env nodes).
  { eapply consistent_older; [|exact C]; exact (srun_extends _ _ _ env _ _ _ _ E). }
  assert (OP : on_group (state_after i) (group_at (mem m0) i) = (evs env out, evs env last)).
  { rewrite <- (group_fresh i i m Tframe) by lia; unfold on_group.
    rewrite <- (INPUT env Q), <- (OTHER env Q), <- (DATA env Q); symmetry.
    destruct (sxor_lanes_finds (moves K) env (double_rounds K) (there K) (back K) (input 16 48) (lanes K) (input 0 16)
      (input 64 size) [] _ _ G) as [_ S]; exact (S CG). }
  exists k, m'; split; [exact R|]; constructor.
  - rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP; reflexivity.
  - apply numbers_next; apply (numbers_end _ _ _ _ _ _ _ _ _ REL); exact HN.
  - cbn [state_after]; rewrite OP; cbn [snd]; apply words_stop; [exact HL|]; apply (words_end _ _ _ _ _ _ _ _ _ REL); exact HV.
  - cbn [state_after]; rewrite OP; cbn [snd]; rewrite evs_length; exact HL.
  - intros r J; rewrite <- (Tsaved r J); apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
  - intros r J; rewrite <- (Tkept r J); apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
  - apply (vec_lengths _ _ _ _ _ _ _ _ _ REL).
  - intros j LJ; destruct (Nat.eq_dec j i) as [->|NJ].
    + rewrite OP; cbn [fst]; apply list_eqb_eq in HM; [|apply word_eqb_eq].
      pose proof (r_mem _ _ _ _ _ _ _ _ _ REL) as MM; pose proof (r_layout _ _ _ _ _ _ _ _ _ REL) as LL.
      destruct (s_mem s) as [|g [|h [|? ?]]]; try discriminate HM.
      pose proof (f_equal (fun l => nth 1 l []) HM) as HO; cbn [map nth] in HO.
      pose proof (f_equal (fun l => nth 1 l (0%nat, false, 0%nat)) LL) as LO; cbn [map nth step_layout] in LO.
      pose proof (f_equal (fun t => fst (fst t)) LO) as G3; pose proof (f_equal snd LO) as G4; unfold layout_of in G3, G4; cbn [fst snd] in G3, G4.
      pose proof (Forall_inv (Forall_inv_tail MM)) as MH; cbv beta in MH.
      rewrite G3, G4, B_data in MH; unfold group_at; rewrite MH, HO; reflexivity.
    + rewrite <- (Tdone j) by lia; apply read_same; intros a Ha.
      apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written in W; nia.
  - intros a NT; rewrite <- (Tframe a); [apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply NT; apply written in W|intro W; apply NT];
      unfold touched in *; nia.
  - rewrite (r_trace _ _ _ _ _ _ _ _ _ REL), Ttrace, app_assoc; reflexivity.
Qed.

Hypothesis REGS : forall r, 0 <= gpr m0 r < 2 ^ 64.

Lemma code_space : 0 <= at_ /\ at_ + Z.of_nat (length (code K)) <= 2 ^ 64 /\ 0 <= last_at A (code K) < Z.of_nat (length (code K)).
Proof.
  pose proof all_range as Q; inversion Q as [|? ? A1 A2]; subst at_; unfold in_space, code_part in A1; cbn [fst snd] in A1.
  destruct ENDS as [L _]; unfold last_at; lia.
Qed.

Lemma entry_round s : entry_found = Some s -> entry_ok s = true ->
  exists k m, run isa_ k m0 = Some m /\ at_test 0 (map (event_is (B 0) at_) (s_trace s)) m.
Proof.
  intros E H; unfold entry_found in E; unfold entry_ok in H.
  apply andb_prop in H as [H HV]; apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK.
  assert (B0 : forall u, B 0 u = arg u) by (intro u; unfold B; destruct (u =? data)%nat, (u =? count)%nat; lia).
  assert (P : placed isa_ (code K) (of_call A None) (B 0) at_ m0 entry_layout).
  { apply (fits_space 0 m0 ltac:(reflexivity) ltac:(lia) (v_vec _ _ _ _ _ CALL) None entry_layout
      [(true, (arg state, 16))]); [exact Logic.I|exact state_apart|constructor; [exact state_range|constructor]|].
    constructor; [|constructor]; split; [discriminate|]; rewrite B0; unfold within; cbn [fst snd]; lia. }
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW (read (mem m0) (arg state) 16) (B 0) at_ m0 P)
    as (env & k & m & Q & C & R & REL).
  - rewrite Z.add_0_r, wrap_small; [exact AT|]; pose proof code_space; lia.
  - unfold numbers; assert (ONE : forall r, In r used -> gpr m0 r = number_is (B 0) (Some r, 0)).
    { intros r J; cbn [number_is]; rewrite B0, Z.add_0_r, <- (ARG r J), wrap_small by apply REGS; reflexivity. }
    unfold used in ONE; cbn [In] in ONE.
    constructor; [apply ONE; tauto|]; constructor; [apply ONE; tauto|]; constructor; [apply ONE; tauto|].
    constructor; [apply ONE; tauto|constructor].
  - intros; constructor.
  - intros env Q; constructor; [|constructor]; unfold holds; cbn [start content].
    rewrite input_length, B0, (input_is env _ 0 16 Q), skipn_O by (rewrite ?read_length; lia).
    rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
  - change (map layout_of _) with entry_layout in REL.
    assert (INPUT : evs env (input 0 16) = read (mem m0) (arg state) 16).
    { rewrite (input_is env _ 0 16 Q), skipn_O by (rewrite ?read_length; lia).
      apply firstn_all2; rewrite read_length; lia. }
    exists k, m; split; [exact R|]; constructor.
    + rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP; reflexivity.
    + apply (numbers_end _ _ _ _ _ _ _ _ _ REL); exact HN.
    + cbn [state_after]; rewrite <- INPUT; apply words_stop; [apply input_length|]; apply (words_end _ _ _ _ _ _ _ _ _ REL); exact HV.
    + apply read_length.
    + intros r J; apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
    + intros r J; apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
    + exact (vec_lengths _ _ _ _ _ _ _ _ _ REL).
    + intros j LJ; lia.
    + intros a _; apply (r_frame _ _ _ _ _ _ _ _ _ REL); intros (g & [<-|[]] & W & _); discriminate.
    + exact (r_trace _ _ _ _ _ _ _ _ _ REL).
Qed.

Fixpoint rounds_trace (s : symbolic) (i : nat) : list event :=
  match i with O => [] | S i => map (event_is (B i) at_) (s_trace s) ++ rounds_trace s i end.

Lemma all_rounds s0 s : entry_found = Some s0 -> entry_ok s0 = true -> step_found = Some s -> step_ok s = true ->
  forall i, (i <= n)%nat -> exists k m, run isa_ k m0 = Some m /\
    at_test i (rounds_trace s i ++ map (event_is (B 0) at_) (s_trace s0)) m.
Proof.
  intros E0 H0 E H; induction i as [|i IH]; intro L.
  - exact (entry_round s0 E0 H0).
  - destruct IH as (k & m & R & T); [lia|].
    destruct (step_round s i _ m E H ltac:(lia) T) as (k' & m' & R' & T').
    exists (k + k')%nat, m'; split; [rewrite (run_app _ _ _ _ _ R); exact R'|].
    cbn [rounds_trace]; rewrite <- app_assoc; exact T'.
Qed.

Lemma exit_round s tr m : exit_found = Some s -> exit_ok s = true -> at_test n tr m ->
  exists k m', run isa_ k m = Some m' /\ at_return A (code K) m0 m' /\
    read (mem m') (arg state) 16 = state_after n /\
    (forall j, (j < n)%nat -> group_at (mem m') j = fst (on_group (state_after j) (group_at (mem m0) j))) /\
    (forall a, ~ touched n a -> ~ arg state <= a < arg state + 16 -> mem m' a = mem m0 a) /\
    trace m' = map (event_is (B n) at_) (s_trace s) ++ tr ++ trace m0.
Proof.
  intros E H T; unfold exit_found in E; unfold exit_ok in H.
  apply andb_prop in H as [H HM]; apply andb_prop in H as [H HC]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK.
  destruct T as [Tpc Tnum Twords Tlen Tsaved Tkept Tvec Tdone Tframe Ttrace].
  set (all := state_after n ++ read (mem m) (arg state) 16 ++ []).
  assert (BR : B n state = arg state) by (apply B_fixed; tauto).
  assert (INPUT : forall env, agrees env all -> evs env (input 0 16) = state_after n).
  { intros env Q; apply (part_is env [] (state_after n) (read (mem m) (arg state) 16 ++ [])); auto; lia. }
  assert (P : placed isa_ (code K) (of_call A None) (B n) at_ m exit_layout).
  { apply (fits_space n m Tframe ltac:(lia) Tvec None exit_layout [(true, (arg state, 16))]);
      [exact Logic.I|exact state_apart|constructor; [exact state_range|constructor]|].
    constructor; [|constructor]; split; [reflexivity|]; rewrite BR; unfold within; cbn [fst snd]; lia. }
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW all (B n) at_ m P Tpc) as (env & k & m1 & Q & C & R & REL).
  - unfold numbers in *; inversion Tnum as [|? ? N1 N]; subst; inversion N as [|? ? N2 N']; subst; inversion N' as [|? ? N3 N4]; subst.
    constructor; [exact N1|]; constructor; [exact N2|]; constructor; [|exact N4].
    cbn [fst snd number_is] in *; rewrite N3, B_count; f_equal; lia.
  - intros env Q; apply words_start; [apply input_length|]; rewrite (INPUT env Q); exact Twords.
  - intros env Q; constructor; [|constructor]; unfold holds; cbn [start content].
    rewrite input_length, BR; symmetry.
    apply (part_is env (state_after n) (read (mem m) (arg state) 16) []); auto; try apply read_length; lia.
  - change (map layout_of _) with exit_layout in REL.
    assert (FRAME : forall a, ~ touched n a -> ~ arg state <= a < arg state + 16 -> mem m1 a = mem m0 a).
    { intros a NT NS; rewrite <- (Tframe a NT); apply (r_frame _ _ _ _ _ _ _ _ _ REL).
      intros (g & [<-|[]] & _ & W); unfold inside in W; rewrite BR in W; lia. }
    exists k, m1; split; [exact R|]; split; [constructor|split; [|split; [|split; [exact FRAME|]]]].
    + rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP, AT; apply wrap_small; pose proof code_space; lia.
    + intros r J; rewrite <- (Tsaved r J); apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
    + intros r J; rewrite <- (Tkept r J); apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
    + intros r J; pose proof (cleared_end _ _ _ _ _ _ _ _ _ REL _ (v_least _ _ _ _ _ CALL) HC) as Y; rewrite Forall_forall in Y; exact (Y r J).
    + apply list_eqb_eq in HM; [|apply word_eqb_eq].
      pose proof (r_mem _ _ _ _ _ _ _ _ _ REL) as MM; pose proof (r_layout _ _ _ _ _ _ _ _ _ REL) as LL.
      destruct (s_mem s) as [|g gs]; [discriminate|]; inversion MM as [|? ? MG _]; subst.
      pose proof (f_equal (fun l => match l with x :: _ => x | [] => (0%nat, false, 0%nat) end) LL) as H1; cbn [map exit_layout] in H1.
      pose proof (f_equal (fun t => fst (fst t)) H1) as G3; pose proof (f_equal snd H1) as G4; unfold layout_of in G3, G4; cbn [fst snd] in G3, G4.
      pose proof (f_equal (fun l => match l with x :: _ => x | [] => [] end) HM) as H2; cbn [map] in H2.
      rewrite G3, G4, BR in MG; rewrite MG, H2; apply INPUT; exact Q.
    + intros j LJ; rewrite <- (Tdone j LJ); apply read_same; intros a Ha.
      apply (r_frame _ _ _ _ _ _ _ _ _ REL); intros (g & [<-|[]] & _ & W); unfold inside in W; rewrite BR in W.
      pose proof (pairs_app _ (code_part (code K) m0 :: fixed) _ all_apart (true, (arg state, 16)) data_buffer
        ltac:(cbn [fixed In]; tauto) (or_introl eq_refl)) as D.
      specialize (D (or_introl eq_refl)); unfold disjoint in D; cbn [data_buffer fst snd] in D; nia.
    + rewrite (r_trace _ _ _ _ _ _ _ _ _ REL), Ttrace; reflexivity.
Qed.

(** *** The whole call, but for its last instruction *)

Definition piece (f : option symbolic) : symbolic :=
  match f with Some s => s | None => Sym 0 [] [] None None [] [] [] end.

Definition accesses : list event :=
  map (event_is (B n) at_) (s_trace (piece exit_found)) ++
  rounds_trace (piece step_found) n ++ map (event_is (B 0) at_) (s_trace (piece entry_found)).

Lemma events_in i bs L es : incl bs buffers -> Forall2 (lies (B i)) L bs -> forallb (event_ok (code K) L) es = true ->
  Forall (touches (snd (code_part (code K) m0)) (beside_ ++ buffers) buffers) (map (event_is (B i) at_) es).
Proof.
  intros I F H; eapply Forall_impl; [intros e J; exact (touches_more _ bs _ bs _ e ltac:(apply incl_appr, I) I J)|].
  cbn [code_part snd]; rewrite AT; apply (events_touch (B i) _ _ _ _ L); [apply incl_refl|assumption|assumption].
Qed.

Lemma state_lies i w : Forall2 (lies (B i)) [(state, w, 16%nat)] [(true, (arg state, 16))].
Proof.
  constructor; [|constructor]; split; [reflexivity|]; rewrite B_fixed by tauto; unfold within; cbn [fst snd]; lia.
Qed.

Theorem loop_sound :
  Forall (touches (snd (code_part (code K) m0)) (beside_ ++ buffers) buffers) accesses /\
  exists k m', run isa_ k m0 = Some m' /\ at_return A (code K) m0 m' /\
    read (mem m') (arg state) 16 = state_after n /\
    (forall j, (j < n)%nat -> group_at (mem m') j = fst (on_group (state_after j) (group_at (mem m0) j))) /\
    same_outside buffers (mem m0) (mem m') /\
    trace m' = accesses ++ trace m0.
Proof.
  pose proof CH as H; unfold checks in H.
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H H2]; apply andb_prop in H as [_ H1].
  unfold found in H1, H2, H3; unfold accesses.
  destruct entry_found as [s1|] eqn:E1; [|discriminate]; destruct step_found as [s2|] eqn:E2; [|discriminate].
  destruct exit_found as [s3|] eqn:E3; [|discriminate]; cbn [piece].
  split.
  - assert (V1 : forallb (event_ok (code K) entry_layout) (s_trace s1) = true).
    { unfold entry_ok in H1; do 2 (apply andb_prop in H1 as [H1 _]); apply andb_prop in H1 as [_ H1]; apply (sane_is _ _ _ _ H1). }
    assert (V2 : forallb (event_ok (code K) step_layout) (s_trace s2) = true).
    { unfold step_ok in H2; destruct goal as [[[out last] nodes]|]; [|discriminate].
      do 4 (apply andb_prop in H2 as [H2 _]); apply andb_prop in H2 as [_ H2]; apply (sane_is _ _ _ _ H2). }
    assert (V3 : forallb (event_ok (code K) exit_layout) (s_trace s3) = true).
    { unfold exit_ok in H3; do 2 (apply andb_prop in H3 as [H3 _]); apply andb_prop in H3 as [_ H3]; apply (sane_is _ _ _ _ H3). }
    apply Forall_app; split; [|apply Forall_app; split].
    + apply (events_in n [(true, (arg state, 16))] exit_layout); [intros b [<-|[]]; left; reflexivity|apply state_lies|assumption].
    + assert (X : forall i, (i <= n)%nat ->
        Forall (touches (snd (code_part (code K) m0)) (beside_ ++ buffers) buffers) (rounds_trace s2 i)).
      { induction i as [|i IH]; intro L; cbn [rounds_trace]; [constructor|]; apply Forall_app; split; [|apply IH; lia].
        apply (events_in i step_buffers step_layout); auto.
        - intros b J; right; exact J.
        - apply steps_lie; lia. }
      apply X; lia.
    + apply (events_in 0 [(true, (arg state, 16))] entry_layout); [intros b [<-|[]]; left; reflexivity|apply state_lies|assumption].
  - destruct (all_rounds s1 s2 E1 H1 E2 H2 n ltac:(lia)) as (k & m & R & T).
    destruct (exit_round s3 _ m E3 H3 T) as (k' & m' & R' & RT & ST & DN & FR & TR).
    exists (k + k')%nat, m'; split; [rewrite (run_app _ _ _ _ _ R); exact R'|]; repeat (split; [assumption|]); split.
    + intros a F; inversion F as [|? ? F1 F2]; subst; apply FR; [|exact (F1 eq_refl)].
      intro W; inversion F2 as [|? ? _ F3]; subst; inversion F3 as [|? ? F4 _]; subst.
      exact (F4 eq_refl W).
    + rewrite TR; cbn [app]; rewrite <- !app_assoc; reflexivity.
Qed.
End Loop.
