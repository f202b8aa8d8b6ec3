(** * Loop: kernels that process blocks of 94 bytes, for every number of blocks *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call.
Import ListNotations.
Local Open Scope Z_scope.

(** What a kernel does with a block: given the state and the block of each buffer, the state after it and what the
    buffers then hold; and the same on symbolic bytes. *)
Record operation := Operation {
  on_bytes : list byte -> list (list byte) -> list byte * list (list byte);
  on_symbols : list sbyte -> list (list sbyte) -> list node -> list sbyte * list (list sbyte) * list node;
  agree : forall env s cs nodes s' cs' nodes', on_symbols s cs nodes = (s', cs', nodes') ->
    consistent env nodes' -> on_bytes (evs env s) (map (evs env) cs) = (evs env s', map (evs env) cs');
  grow : forall s cs nodes s' cs' nodes', on_symbols s cs nodes = (s', cs', nodes') -> extends nodes nodes'
}.

(** Where a kernel keeps things.  The state is at the first argument. *)
Record kernel := Kernel {
  code : list byte;
  head : Z;                     (* the test of the counter, from the start of the code *)
  table : nat;                  (* the register with the address of the round constants, *)
  shift : Z;                    (* and what the code adds to it before the first test *)
  count : nat;                  (* the register with the number of blocks *)
  data : list (nat * bool);     (* the registers with the buffers, and whether they are written *)
  alias : list (nat * nat);     (* a register with the same buffer as another *)
  word_in : list (nat * nat);   (* vector registers with words of the state, at the test *)
  constants_in : list (nat * list byte)   (* vector registers with constants, at the test *)
}.

Section Loop.
Variable A : abi.
Variable K : kernel.
Variable op : operation.

Definition state : nat := argument A 0.
Notation isa_ := (isa_of A).

Definition numbers (counter : snumber) (on shifted : Z) : list (nat * snumber) :=
  (state, (Some state, 0)) :: (table K, (Some (table K), shifted)) :: (count K, counter) ::
  map (fun d => (fst d, (Some (fst d), on))) (data K) ++ map (fun a => (fst a, (Some (snd a), on))) (alias K).

Definition word {A} (i : nat) (s : list A) : list A := firstn 16 (skipn (16 * i) s).

Definition words (s : list sbyte) : list (nat * list sbyte) :=
  map (fun rc => (fst rc, map const (snd rc))) (constants_in K) ++ map (fun ri => (fst ri, word (snd ri) s)) (word_in K).

Fixpoint data_regions (at_ : nat) (ds : list (nat * bool)) : list region :=
  match ds with [] => [] | (r, w) :: ds => Region r w (input at_ 94) :: data_regions (at_ + 94) ds end.

Definition blocks : list region := data_regions 128 (data K).

(** The three pieces: to the first test, from one test to the next, from the last test to the return. *)
Definition entry_layout := [(state, false, 128%nat)].
Definition step_layout := (table K, false, 1152%nat) :: map (fun d => (fst d, snd d, 94%nat)) (data K).
Definition exit_layout := [(state, true, 128%nat)].

Definition goal := on_symbols op (input 0 128) (map content blocks) [].

Definition entry_found :=
  srun isa_ (code K) (of_call A None) 100 (head K)
    (started 0 (numbers (Some (count K), 0) 0 0) [] [Region state false (input 0 128)] [] (gprs A) (vecs A)).

Definition step_found :=
  srun isa_ (code K) (of_call A (Some (count K))) 2000 (head K)
    (started (head K) (numbers (Some (count K), 0) 0 (shift K)) (words (input 0 128))
      (Region (table K) false (map const round_constants) :: blocks) (snd goal) (gprs A) (vecs A)).

Definition exit_found :=
  srun isa_ (code K) (of_call A None) 100 (last_at A (code K))
    (started (head K) (numbers (None, 0) 0 (shift K)) (words (input 0 128)) [Region state true (input 128 128)] []
      (gprs A) (vecs A)).

Definition entry_ok (s : symbolic) : bool :=
  (s_pc s =? head K) && sane A (code K) entry_layout s &&
  forallb (number_ok (s_gpr s)) (numbers (Some (count K), 0) 0 (shift K)) &&
  forallb (word_ok (s_vec s)) (words (input 0 128)).

Definition step_ok (s : symbolic) : bool :=
  (s_pc s =? head K) && sane A (code K) step_layout s &&
  forallb (number_ok (s_gpr s)) (numbers (Some (count K), -1) 94 (shift K)) &&
  forallb (word_ok (s_vec s)) (words (fst (fst goal))) && (length (fst (fst goal)) =? 128)%nat &&
  list_eqb word_eqb (map content (tl (s_mem s))) (snd (fst goal)).

Definition exit_ok (s : symbolic) : bool :=
  (s_pc s =? last_at A (code K)) && sane A (code K) exit_layout s && forallb (cleared_ok (s_vec s)) (cleared A) &&
  list_eqb word_eqb (map content (s_mem s)) [input 0 128].

Fixpoint distinct (l : list nat) : bool :=
  match l with [] => true | a :: l => negb (existsb (Nat.eqb a) l) && distinct l end.

Definition shape_ok : bool :=
  distinct (state :: table K :: count K :: map fst (data K)) &&
  forallb (fun ra => existsb (Nat.eqb (snd ra)) (map fst (data K))) (alias K) &&
  forallb (fun ri => (snd ri <? 8)%nat) (word_in K) && forallb (fun rc => (length (snd rc) =? 16)%nat) (constants_in K) &&
  (length (data K) <=? 2)%nat && (length round_constants =? 1152)%nat.

Definition found (f : option symbolic) (ok : symbolic -> bool) : bool :=
  match f with Some s => ok s | None => false end.

Definition checks : bool :=
  (16 <=? least A)%nat && shape_ok && found entry_found entry_ok && found step_found step_ok && found exit_found exit_ok.

(** ** From the checks to the machine *)

Hypothesis CH : checks = true.

Variables (at_ : Z) (arg : nat -> Z) (m0 : machine) (n : nat) (others : list (bool * (Z * Z))).

Definition used : list nat := state :: table K :: count K :: map fst (data K).

Definition buffers : list (bool * (Z * Z)) :=
  (true, (arg state, 128)) :: (false, (arg (table K), 1152)) ::
  map (fun d => (snd d, (arg (fst d), 94 * Z.of_nat n))) (data K).

Hypothesis AT : pc m0 = at_.
Hypothesis ARG : forall r, In r used -> gpr m0 r = arg r.
Hypothesis CALL : valid A (code K) others buffers m0.
Hypothesis TABLE : read (mem m0) (arg (table K)) 1152 = round_constants.
Hypothesis COUNT : arg (count K) = Z.of_nat n.
Hypothesis SMALL : Z.of_nat n < 2 ^ 64.
Hypothesis ALIAS : Forall (fun a => gpr m0 (fst a) = arg (snd a)) (alias K).
Hypothesis ENDS : ends_in_return A (code K).

(** The values of the checker's unknowns in round i. *)
Definition B (i : nat) (u : nat) : Z :=
  if existsb (Nat.eqb u) (map fst (data K)) then arg u + 94 * Z.of_nat i
  else if (u =? count K)%nat then arg u - Z.of_nat i else arg u.

Definition block_at (m : memory) (i : nat) : list (list byte) := map (fun d => read m (B i (fst d)) 94) (data K).

Fixpoint state_after (i : nat) : list byte :=
  match i with
  | O => read (mem m0) (arg state) 128
  | S i => fst (on_bytes op (state_after i) (block_at (mem m0) i))
  end.

Definition touched (i : nat) (a : Z) : Prop :=
  exists r, In (r, true) (data K) /\ arg r <= a < arg r + 94 * Z.of_nat i.

Definition words_of (s : list byte) : list (nat * list byte) :=
  constants_in K ++ map (fun ri => (fst ri, word (snd ri) s)) (word_in K).

Record at_test (i : nat) (tr : list event) (m : machine) : Prop := At_test {
  t_pc : pc m = wrap (at_ + head K);
  t_numbers : Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (numbers (Some (count K), 0) 0 (shift K));
  t_words : Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (state_after i));
  t_length : length (state_after i) = 128%nat;
  t_saved : forall r, In r (saved A) -> gpr m r = gpr m0 r;
  t_kept : forall r, In r (kept A) -> vec m r = vec m0 r;
  t_vec : forall r, length (vec m r) = full isa_;
  t_done : forall j, (j < i)%nat -> block_at (mem m) j = snd (on_bytes op (state_after j) (block_at (mem m0) j));
  t_frame : forall a, ~ touched i a -> mem m a = mem m0 a;
  t_trace : trace m = tr ++ trace m0
}.

(** *** Registers and places *)

Lemma shape : distinct used = true /\
  forallb (fun ra => existsb (Nat.eqb (snd ra)) (map fst (data K))) (alias K) = true /\
  forallb (fun ri => (snd ri <? 8)%nat) (word_in K) = true /\
  forallb (fun rc => (length (snd rc) =? 16)%nat) (constants_in K) = true /\
  (length (data K) <= 2)%nat /\ length round_constants = 1152%nat.
Proof.
  pose proof CH as H; unfold checks in H; do 3 (apply andb_prop in H as [H _]); apply andb_prop in H as [_ H]; unfold shape_ok in H.
  apply andb_prop in H as [H H6]; apply andb_prop in H as [H H5]; apply andb_prop in H as [H H4]; apply andb_prop in H as [H H3].
  apply andb_prop in H as [H1 H2]; apply Nat.leb_le in H5; apply Nat.eqb_eq in H6; auto 6.
Qed.

Lemma existsb_in l u : existsb (Nat.eqb u) l = true <-> In u l.
Proof.
  rewrite existsb_exists; split; [intros (v & J & E); apply Nat.eqb_eq in E as ->; exact J|].
  intro J; exists u; split; [exact J|apply Nat.eqb_refl].
Qed.

Lemma distinct_nodup l : distinct l = true -> NoDup l.
Proof.
  induction l as [|a l IH]; cbn [distinct]; intro H; constructor; apply andb_prop in H as [H1 H2]; auto.
  intro J; apply existsb_in in J; rewrite J in H1; discriminate.
Qed.

Lemma registers : NoDup used.
Proof. apply distinct_nodup, shape. Qed.

Lemma B_data i r w : In (r, w) (data K) -> B i r = arg r + 94 * Z.of_nat i.
Proof. intro J; unfold B; rewrite (proj2 (existsb_in _ r)); [reflexivity|]; apply (in_map fst) in J; exact J. Qed.

Lemma B_count i : B i (count K) = Z.of_nat n - Z.of_nat i.
Proof.
  unfold B; pose proof registers as N; unfold used in N.
  inversion N as [|? ? _ N1]; subst; inversion N1 as [|? ? _ N2]; subst; inversion N2 as [|? ? N3 _]; subst.
  destruct (existsb (Nat.eqb (count K)) (map fst (data K))) eqn:E; [apply existsb_in in E; contradiction|].
  rewrite Nat.eqb_refl, COUNT; reflexivity.
Qed.

Lemma B_fixed i u : u = state \/ u = table K -> B i u = arg u.
Proof.
  intro U; unfold B; pose proof registers as N; unfold used in N.
  inversion N as [|? ? X1 N1]; subst; inversion N1 as [|? ? X2 N2]; subst; cbn [In] in X1, X2.
  assert (X : ~ In u (map fst (data K)) /\ u <> count K) by (destruct U as [->| ->]; split; intro E; [apply X1|apply X1|apply X2|apply X2]; auto).
  destruct X as [Y1 Y2].
  destruct (existsb (Nat.eqb u) (map fst (data K))) eqn:E; [apply existsb_in in E; contradiction|].
  apply Nat.eqb_neq in Y2; rewrite Y2; reflexivity.
Qed.

Lemma words_evs env s : map (fun rw => (fst rw, evs env (snd rw))) (words s) = words_of (evs env s).
Proof.
  unfold words, words_of, word; rewrite map_app, !map_map; f_equal.
  - rewrite <- (map_id (constants_in K)) at 2; apply map_ext; intros [r c]; cbn [fst snd]; rewrite evs_const; reflexivity.
  - apply map_ext; intros [r i]; cbn [fst snd]; rewrite evs_firstn, evs_skipn; reflexivity.
Qed.

Lemma input_length a k : length (input a k) = k.
Proof. unfold input; now rewrite map_length, seq_length. Qed.

Lemma words_lengths s : length s = 128%nat -> Forall (fun rw => length (snd rw) = 16%nat) (words s).
Proof.
  intro L; destruct shape as (_ & _ & I8 & C16 & _); rewrite forallb_forall in I8, C16.
  unfold words; apply Forall_app; split; apply Forall_forall; intros rw J.
  - apply in_map_iff in J as ([r c] & <- & J); cbn [snd fst]; rewrite map_length; apply Nat.eqb_eq; exact (C16 _ J).
  - apply in_map_iff in J as ([r i] & <- & J); cbn [snd fst]; unfold word.
    specialize (I8 _ J); cbn [snd] in I8; apply Nat.ltb_lt in I8; rewrite firstn_length, skipn_length; lia.
Qed.

Lemma words_start env s m : length s = 128%nat ->
  Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (evs env s)) ->
  Forall (fun rw => (length (snd rw) <= least A)%nat /\ firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) (words s).
Proof.
  intros L H; rewrite <- words_evs in H; apply Forall_forall; intros rw J.
  rewrite (proj1 (Forall_forall _ _) (words_lengths s L) rw J); split.
  - pose proof CH as Q; unfold checks in Q; do 4 (apply andb_prop in Q as [Q _]); apply Nat.leb_le; exact Q.
  - rewrite Forall_forall in H; exact (H _ (in_map (fun rw => (fst rw, evs env (snd rw))) _ _ J)).
Qed.

Lemma words_stop env s m : length s = 128%nat ->
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) (words s) ->
  Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (evs env s)).
Proof.
  intros L H; rewrite <- words_evs; apply Forall_forall; intros rw J; apply in_map_iff in J as (x & <- & J).
  rewrite <- (proj1 (Forall_forall _ _) (words_lengths s L) x J); exact (proj1 (Forall_forall _ _) H x J).
Qed.

Lemma numbers_next i m :
  Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (numbers (Some (count K), -1) 94 (shift K)) ->
  Forall (fun rv => gpr m (fst rv) = number_is (B (S i)) (snd rv)) (numbers (Some (count K), 0) 0 (shift K)).
Proof.
  unfold numbers; intro H; inversion H as [|? ? H1 T1]; subst; inversion T1 as [|? ? H2 T2]; subst.
  inversion T2 as [|? ? H3 T3]; subst; cbn [fst snd number_is] in *.
  apply Forall_app in T3 as [T3 T4].
  constructor; [cbn [fst snd number_is]; rewrite H1, !B_fixed by tauto; reflexivity|].
  constructor; [cbn [fst snd number_is]; rewrite H2, !B_fixed by tauto; reflexivity|].
  constructor; [cbn [fst snd number_is]; rewrite H3, !B_count; f_equal; lia|].
  apply Forall_app; split; apply Forall_forall; intros rv J; apply in_map_iff in J as ([r x] & <- & J); cbn [fst snd number_is].
  - rewrite Forall_forall in T3; specialize (T3 _ (in_map (fun d => (fst d, (Some (fst d), 94))) _ _ J)); cbn [fst snd number_is] in T3.
    rewrite T3, !(B_data _ r x J); f_equal; lia.
  - rewrite Forall_forall in T4; specialize (T4 _ (in_map (fun a => (fst a, (Some (snd a), 94))) _ _ J)); cbn [fst snd number_is] in T4.
    rewrite T4.
    assert (D : exists w, In (x, w) (data K)).
    { destruct shape as (_ & Q & _).
      rewrite forallb_forall in Q; specialize (Q _ J); cbn [snd] in Q; apply existsb_in, in_map_iff in Q as ([y w] & E & P).
      cbn [fst] in E; subst y; exists w; exact P. }
    destruct D as [w D]; rewrite !(B_data _ x w D); f_equal; lia.
Qed.

(** *** Apartness *)

Definition buffer_of (d : nat * bool) : bool * (Z * Z) := (snd d, (arg (fst d), 94 * Z.of_nat n)).
Definition fixed : list (bool * (Z * Z)) := [(true, (arg state, 128)); (false, (arg (table K), 1152))].

Lemma all_apart : ForallOrdPairs compatible (code_part (code K) m0 :: fixed ++ map buffer_of (data K)).
Proof. exact (pairs_without _ _ _ _ (v_apart _ _ _ _ _ CALL)). Qed.

Lemma all_range : Forall in_space (code_part (code K) m0 :: fixed ++ map buffer_of (data K)).
Proof.
  pose proof (v_range _ _ _ _ _ CALL) as R; inversion R as [|? ? R1 R2]; subst.
  apply Forall_app in R2; constructor; [exact R1|apply R2].
Qed.

Lemma data_apart r w r' w' : In (r, w) (data K) -> In (r', w') (data K) -> r <> r' -> w = true \/ w' = true ->
  disjoint (arg r, 94 * Z.of_nat n) (arg r', 94 * Z.of_nat n).
Proof.
  intros I J N W; pose proof (pairs_map _ _ _ (pairs_tail _ (code_part (code K) m0 :: fixed) _ all_apart)) as P.
  destruct (ForallOrdPairs_In P _ _ I J) as [E|[E|E]].
  - exfalso; apply N; congruence.
  - apply E; exact W.
  - unfold compatible in E; cbn [buffer_of fst snd] in E; assert (W' : w' = true \/ w = true) by tauto; specialize (E W').
    unfold disjoint in *; cbn [fst snd] in *; lia.
Qed.

Lemma untouched b a i : In b (code_part (code K) m0 :: fixed) -> fst (snd b) <= a < fst (snd b) + snd (snd b) -> (i <= n)%nat ->
  ~ touched i a.
Proof.
  intros I H L (r & J & T).
  pose proof (pairs_app _ (code_part (code K) m0 :: fixed) _ all_apart b (buffer_of (r, true)) I (in_map buffer_of _ _ J)) as C.
  specialize (C (or_intror eq_refl)); unfold disjoint in C; cbn [buffer_of fst snd] in C; nia.
Qed.

Lemma block_fresh i j m : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (i <= j < n)%nat ->
  block_at (mem m) j = block_at (mem m0) j.
Proof.
  intros F L; apply map_ext_in; intros [r w] J; cbn [fst]; apply read_same; intros a Q; apply F; intros (q & P & T).
  rewrite (B_data j r w J) in Q; destruct (Nat.eq_dec q r) as [->|N]; [nia|].
  pose proof (data_apart q true r w P J N (or_introl eq_refl)) as D; unfold disjoint in D; cbn [fst snd] in D; nia.
Qed.

Lemma written i a : in_writable (B i) step_layout a ->
  exists r, In (r, true) (data K) /\ arg r + 94 * Z.of_nat i <= a < arg r + 94 * Z.of_nat i + 94.
Proof.
  intros (g & [<-|J] & W & Q); [discriminate|]; apply in_map_iff in J as ([r w] & <- & J); cbn [fst snd] in *; subst w.
  exists r; split; [exact J|]; unfold inside in Q; rewrite (B_data i r true J) in Q; lia.
Qed.

Lemma data_holds env mm Bf : forall ds at0 pre cs, length pre = at0 ->
  cs = map (fun d => read mm (Bf (fst d)) 94) ds -> agrees env (pre ++ concat cs) -> (at0 + 94 * length ds <= 4096)%nat ->
  Forall (holds env Bf mm) (data_regions at0 ds) /\ map (evs env) (map content (data_regions at0 ds)) = cs.
Proof.
  induction ds as [|[r w] ds IH]; intros at0 pre cs L E Q M; cbn [data_regions map] in *; subst cs; [split; constructor|].
  cbn [concat fst length] in *.
  assert (V : evs env (input at0 94) = read mm (Bf r) 94).
  { rewrite (input_is env _ at0 94 Q) by (rewrite ?app_length, ?read_length; lia).
    rewrite skipn_app, skipn_all2 by lia; rewrite L, Nat.sub_diag, skipn_O; cbn [app].
    rewrite firstn_app, read_length, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; rewrite read_length; lia. }
  destruct (IH (at0 + 94)%nat (pre ++ read mm (Bf r) 94) _ ltac:(rewrite app_length, read_length; lia) eq_refl) as [H1 H2].
  - rewrite <- app_assoc; exact Q.
  - lia.
  - split.
    + constructor; [|exact H1]; unfold holds; cbn [start content]; rewrite input_length; symmetry; exact V.
    + cbn [content]; rewrite V, H2; reflexivity.
Qed.

Lemma data_layout at0 ds : map layout_of (data_regions at0 ds) = map (fun d => (fst d, snd d, 94%nat)) ds.
Proof.
  revert at0; induction ds as [|[r w] ds IH]; intro at0; cbn [data_regions map]; [reflexivity|].
  rewrite IH; unfold layout_of; cbn [start writable content fst snd]; rewrite input_length; reflexivity.
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

Lemma state_range : in_space (true, (arg state, 128)).
Proof. pose proof all_range as S; inversion S as [|? ? _ S1]; subst; inversion S1; subst; assumption. Qed.

Lemma state_apart : ForallOrdPairs compatible (code_part (code K) m0 :: [(true, (arg state, 128))]).
Proof.
  pose proof all_apart as S; inversion S as [|? ? S1 S2]; subst; inversion S1 as [|? ? S3 _]; subst.
  constructor; [constructor; [exact S3|constructor]|constructor; constructor].
Qed.

Lemma steps_apart : ForallOrdPairs compatible (code_part (code K) m0 :: (false, (arg (table K), 1152)) :: map buffer_of (data K)).
Proof. exact (pairs_without _ _ [(true, (arg state, 128))] _ all_apart). Qed.

Lemma steps_range : Forall in_space ((false, (arg (table K), 1152)) :: map buffer_of (data K)).
Proof. pose proof all_range as S; inversion S as [|? ? _ S1]; subst; inversion S1; subst; assumption. Qed.

Lemma steps_lie i : (i < n)%nat ->
  Forall2 (lies (B i)) step_layout ((false, (arg (table K), 1152)) :: map buffer_of (data K)).
Proof.
  intro L; constructor.
  - split; [discriminate|]; rewrite B_fixed by tauto; unfold within; cbn [fst snd]; lia.
  - assert (X : forall ds, incl ds (data K) ->
      Forall2 (lies (B i)) (map (fun d => (fst d, snd d, 94%nat)) ds) (map buffer_of ds)).
    { induction ds as [|[r w] ds IH]; intro C; cbn [map]; constructor; [|apply IH; intros x J; apply C; now right].
      split; [auto|]; cbn [fst snd buffer_of]; rewrite (B_data i r w) by (apply C; now left).
      unfold within; cbn [fst snd]; nia. }
    apply X, incl_refl.
Qed.

Lemma keeps known env L s m m' : related isa_ known env (B 0) at_ m L s m' -> forall rs, forallb (unknown (s_vec s)) rs = true ->
  forall r, In r rs -> vec m' r = vec m r.
Proof.
  intros R rs H r J; rewrite forallb_forall in H.
  exact (same_vec _ _ _ _ _ _ _ _ _ R r (H r J)).
Qed.

Lemma step_round s i tr m : step_found = Some s -> step_ok s = true -> (i < n)%nat -> at_test i tr m ->
  exists k m', run isa_ k m = Some m' /\ at_test (S i) (map (event_is (B i) at_) (s_trace s) ++ tr) m'.
Proof.
  intros E H LT T; unfold step_found in E; unfold step_ok in H.
  apply andb_prop in H as [H HM]; apply andb_prop in H as [H HL]; apply andb_prop in H as [H HV].
  apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP; apply Nat.eqb_eq in HL.
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK.
  destruct T as [Tpc Tnum Twords Tlen Tsaved Tkept Tvec Tdone Tframe Ttrace].
  set (all := state_after i ++ concat (block_at (mem m) i)).
  assert (INPUT : forall env, agrees env all -> evs env (input 0 128) = state_after i).
  { intros env Q; rewrite (input_is env all 0 128 Q) by (unfold all; rewrite ?app_length; lia).
    unfold all; rewrite skipn_O, firstn_app, Tlen, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia. }
  destruct shape as (_ & _ & _ & _ & DL & TL).
  assert (DATA : forall env, agrees env all -> Forall (holds env (B i) (mem m)) blocks /\
    map (evs env) (map content blocks) = block_at (mem m) i).
  { intros env Q; apply (data_holds env (mem m) (B i) (data K) 128 (state_after i)); auto; lia. }
  assert (LAY : map layout_of (Region (table K) false (map const round_constants) :: blocks) = step_layout).
  { unfold blocks, step_layout; cbn [map]; rewrite data_layout; reflexivity. }
  assert (P : placed isa_ (code K) (of_call A (Some (count K))) (B i) at_ m step_layout).
  { apply (fits_space i m Tframe ltac:(lia) Tvec (Some (count K)) step_layout
      ((false, (arg (table K), 1152)) :: map buffer_of (data K)));
      [cbv iota; rewrite B_count; lia|exact steps_apart|exact steps_range|exact (steps_lie i LT)]. }
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW all (B i) at_ m ltac:(rewrite LAY; exact P) Tpc Tnum)
    as (env & k & m' & Q & C & R & REL).
  { intros env Q; apply words_start; [apply input_length|]; rewrite (INPUT env Q); exact Twords. }
  { intros env Q; constructor; [|apply DATA; exact Q]; unfold holds; cbn [start content].
    rewrite evs_const, map_length, B_fixed, TL by tauto.
    rewrite <- TABLE; apply read_same; intros a Ha; apply Tframe.
    apply (untouched (false, (arg (table K), 1152))); [cbn [fixed In]; tauto|cbn [fst snd]; lia|lia]. }
  rewrite LAY in REL.
  assert (CG : consistent env (snd goal)).
  { eapply consistent_older; [|exact C]; exact (srun_extends _ _ _ env _ _ _ _ E). }
  assert (OP : on_bytes op (state_after i) (block_at (mem m0) i) = (evs env (fst (fst goal)), map (evs env) (snd (fst goal)))).
  { rewrite <- (block_fresh i i m Tframe) by lia; rewrite <- (INPUT env Q), <- (proj2 (DATA env Q)).
    apply (agree op env _ _ [] _ _ (snd goal)); [|exact CG]; unfold goal; destruct (on_symbols op _ _ _) as [[x y] z]; reflexivity. }
  exists k, m'; split; [exact R|]; constructor.
  - rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP; reflexivity.
  - apply numbers_next; apply (numbers_end _ _ _ _ _ _ _ _ _ REL); exact HN.
  - cbn [state_after]; rewrite OP; cbn [fst]; apply words_stop; [exact HL|]; apply (words_end _ _ _ _ _ _ _ _ _ REL); exact HV.
  - cbn [state_after]; rewrite OP; cbn [fst]; rewrite evs_length; exact HL.
  - intros r J; rewrite <- (Tsaved r J); apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
  - intros r J; rewrite <- (Tkept r J); apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
  - apply (vec_lengths _ _ _ _ _ _ _ _ _ REL).
  - intros j LJ; destruct (Nat.eq_dec j i) as [->|NJ].
    + rewrite OP; cbn [snd]; apply list_eqb_eq in HM; [|apply word_eqb_eq]; rewrite <- HM.
      pose proof (r_mem _ _ _ _ _ _ _ _ _ REL) as MM; pose proof (r_layout _ _ _ _ _ _ _ _ _ REL) as LL.
      destruct (s_mem s) as [|g gs]; [discriminate|]; inversion MM as [|? ? _ MG]; subst; cbn [tl].
      unfold step_layout in LL; cbn [map] in LL; apply (f_equal (@tl _)) in LL; cbn [tl] in LL.
      unfold block_at; clear - MG LL; revert gs MG LL; induction (data K) as [|[r w] ds IH]; intros [|g gs] MG LL; cbn [map] in LL; try discriminate; [reflexivity|].
      inversion MG as [|? ? G1 G2]; subst; cbn [map fst].
      assert (LG : start g = r /\ length (content g) = 94%nat).
      { pose proof (f_equal (fun l => match l with x :: _ => x | [] => (0%nat, false, 0%nat) end) LL) as H1.
        split; [exact (f_equal (fun t => fst (fst t)) H1)|exact (f_equal snd H1)]. }
      destruct LG as [G3 G4]; rewrite G3, G4 in G1; rewrite G1; f_equal; apply IH; [exact G2|exact (f_equal (@tl _) LL)].
    + rewrite <- (Tdone j) by lia; apply map_ext_in; intros [r w] J; cbn [fst]; apply read_same; intros a Ha.
      apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written in W as (q & Y & W).
      rewrite (B_data j r w J) in Ha; destruct (Nat.eq_dec q r) as [->|N]; [nia|].
      pose proof (data_apart q true r w Y J N (or_introl eq_refl)) as D; unfold disjoint in D; cbn [fst snd] in D; nia.
  - intros a NT; rewrite <- (Tframe a); [apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply NT; apply written in W as (q & Y & W)|intro W; apply NT; destruct W as (q & Y & W)];
      exists q; (split; [exact Y|nia]).
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
  assert (B0 : forall u, B 0 u = arg u) by (intro u; unfold B; destruct (existsb _ _), (u =? count K)%nat; lia).
  assert (P : placed isa_ (code K) (of_call A None) (B 0) at_ m0 entry_layout).
  { apply (fits_space 0 m0 ltac:(reflexivity) ltac:(lia) (v_vec _ _ _ _ _ CALL) None entry_layout
      [(true, (arg state, 128))]); [exact Logic.I|exact state_apart|constructor; [exact state_range|constructor]|].
    constructor; [|constructor]; split; [discriminate|]; rewrite B0; unfold within; cbn [fst snd]; lia. }
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW (read (mem m0) (arg state) 128) (B 0) at_ m0 P)
    as (env & k & m & Q & C & R & REL).
  - rewrite Z.add_0_r, wrap_small; [exact AT|]; pose proof code_space; lia.
  - unfold numbers; assert (ONE : forall r, In r used -> gpr m0 r = number_is (B 0) (Some r, 0)).
    { intros r J; cbn [number_is]; rewrite B0, Z.add_0_r, <- (ARG r J), wrap_small by apply REGS; reflexivity. }
    unfold used in ONE; cbn [In] in ONE.
    constructor; [apply ONE; tauto|]; constructor; [apply ONE; tauto|]; constructor; [apply ONE; tauto|].
    apply Forall_app; split; apply Forall_forall; intros rv J; apply in_map_iff in J as ([r x] & <- & J); cbn [fst snd].
    + apply ONE; do 3 right; exact (in_map fst _ _ J).
    + cbn [number_is]; rewrite B0, Z.add_0_r.
      pose proof (proj1 (Forall_forall _ _) ALIAS _ J) as AL; cbn [fst snd] in AL.
      rewrite <- AL, wrap_small by apply REGS; reflexivity.
  - intros; constructor.
  - intros env Q; constructor; [|constructor]; unfold holds; cbn [start content].
    rewrite input_length, B0, (input_is env _ 0 128 Q), skipn_O by (rewrite ?read_length; lia).
    rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
  - change (map layout_of _) with entry_layout in REL.
    assert (INPUT : evs env (input 0 128) = read (mem m0) (arg state) 128).
    { rewrite (input_is env _ 0 128 Q), skipn_O by (rewrite ?read_length; lia).
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
    read (mem m') (arg state) 128 = state_after n /\
    (forall j, (j < n)%nat -> block_at (mem m') j = snd (on_bytes op (state_after j) (block_at (mem m0) j))) /\
    (forall a, ~ touched n a -> ~ arg state <= a < arg state + 128 -> mem m' a = mem m0 a) /\
    trace m' = map (event_is (B n) at_) (s_trace s) ++ tr ++ trace m0.
Proof.
  intros E H T; unfold exit_found in E; unfold exit_ok in H.
  apply andb_prop in H as [H HM]; apply andb_prop in H as [H HC]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK.
  destruct T as [Tpc Tnum Twords Tlen Tsaved Tkept Tvec Tdone Tframe Ttrace].
  set (all := state_after n ++ read (mem m) (arg state) 128).
  assert (BR : B n state = arg state) by (apply B_fixed; tauto).
  assert (INPUT : forall env, agrees env all -> evs env (input 0 128) = state_after n).
  { intros env Q; rewrite (input_is env all 0 128 Q) by (unfold all; rewrite ?app_length; lia).
    unfold all; rewrite skipn_O, firstn_app, Tlen, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia. }
  assert (P : placed isa_ (code K) (of_call A None) (B n) at_ m exit_layout).
  { apply (fits_space n m Tframe ltac:(lia) Tvec None exit_layout [(true, (arg state, 128))]);
      [exact Logic.I|exact state_apart|constructor; [exact state_range|constructor]|].
    constructor; [|constructor]; split; [reflexivity|]; rewrite BR; unfold within; cbn [fst snd]; lia. }
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW all (B n) at_ m P Tpc) as (env & k & m1 & Q & C & R & REL).
  - unfold numbers in *; inversion Tnum as [|? ? N1 N]; subst; inversion N as [|? ? N2 N']; subst; inversion N' as [|? ? N3 N4]; subst.
    constructor; [exact N1|]; constructor; [exact N2|]; constructor; [|exact N4].
    cbn [fst snd number_is] in *; rewrite N3, B_count; f_equal; lia.
  - intros env Q; apply words_start; [apply input_length|]; rewrite (INPUT env Q); exact Twords.
  - intros env Q; constructor; [|constructor]; unfold holds; cbn [start content].
    rewrite input_length, BR, (input_is env _ 128 128 Q) by (unfold all; rewrite ?app_length, ?read_length; lia).
    unfold all; rewrite skipn_app, skipn_all2 by lia; rewrite Tlen, Nat.sub_diag, skipn_O; cbn [app].
    rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
  - change (map layout_of _) with exit_layout in REL.
    assert (FRAME : forall a, ~ touched n a -> ~ arg state <= a < arg state + 128 -> mem m1 a = mem m0 a).
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
    + intros j LJ; rewrite <- (Tdone j LJ); apply map_ext_in; intros [r w] J; cbn [fst]; apply read_same; intros a Ha.
      apply (r_frame _ _ _ _ _ _ _ _ _ REL); intros (g & [<-|[]] & _ & W); unfold inside in W; rewrite BR in W.
      rewrite (B_data j r w J) in Ha.
      pose proof (pairs_app _ (code_part (code K) m0 :: fixed) _ all_apart (true, (arg state, 128)) (buffer_of (r, w))
        ltac:(cbn [fixed In]; tauto) (in_map buffer_of _ _ J)) as D.
      specialize (D (or_introl eq_refl)); unfold disjoint in D; cbn [buffer_of fst snd] in D; nia.
    + rewrite (r_trace _ _ _ _ _ _ _ _ _ REL), Ttrace; reflexivity.
Qed.

(** *** The whole call, but for its last instruction *)

Definition piece (f : option symbolic) : symbolic :=
  match f with Some s => s | None => Sym 0 [] [] None None [] [] [] end.

Definition accesses : list event :=
  map (event_is (B n) at_) (s_trace (piece exit_found)) ++
  rounds_trace (piece step_found) n ++ map (event_is (B 0) at_) (s_trace (piece entry_found)).

Lemma events_in i bs L es : incl bs buffers -> Forall2 (lies (B i)) L bs -> forallb (event_ok (code K) L) es = true ->
  Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) (map (event_is (B i) at_) es).
Proof.
  intros I F H; eapply Forall_impl; [intros e J; exact (touches_more _ bs _ bs _ e ltac:(apply incl_appr, I) I J)|].
  cbn [code_part snd]; rewrite AT; apply (events_touch (B i) _ _ _ _ L); [apply incl_refl|assumption|assumption].
Qed.

Lemma state_lies i w : Forall2 (lies (B i)) [(state, w, 128%nat)] [(true, (arg state, 128))].
Proof.
  constructor; [|constructor]; split; [reflexivity|]; rewrite B_fixed by tauto; unfold within; cbn [fst snd]; lia.
Qed.

Theorem loop_sound :
  Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) accesses /\
  exists k m', run isa_ k m0 = Some m' /\ at_return A (code K) m0 m' /\
    read (mem m') (arg state) 128 = state_after n /\
    (forall j, (j < n)%nat -> block_at (mem m') j = snd (on_bytes op (state_after j) (block_at (mem m0) j))) /\
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
    { unfold step_ok in H2; do 4 (apply andb_prop in H2 as [H2 _]); apply andb_prop in H2 as [_ H2]; apply (sane_is _ _ _ _ H2). }
    assert (V3 : forallb (event_ok (code K) exit_layout) (s_trace s3) = true).
    { unfold exit_ok in H3; do 2 (apply andb_prop in H3 as [H3 _]); apply andb_prop in H3 as [_ H3]; apply (sane_is _ _ _ _ H3). }
    apply Forall_app; split; [|apply Forall_app; split].
    + apply (events_in n [(true, (arg state, 128))] exit_layout); [intros b [<-|[]]; left; reflexivity|apply state_lies|assumption].
    + assert (X : forall i, (i <= n)%nat ->
        Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) (rounds_trace s2 i)).
      { induction i as [|i IH]; intro L; cbn [rounds_trace]; [constructor|]; apply Forall_app; split; [|apply IH; lia].
        apply (events_in i ((false, (arg (table K), 1152)) :: map buffer_of (data K)) step_layout); auto.
        - intros b J; right; exact J.
        - apply steps_lie; lia. }
      apply X; lia.
    + apply (events_in 0 [(true, (arg state, 128))] entry_layout); [intros b [<-|[]]; left; reflexivity|apply state_lies|assumption].
  - destruct (all_rounds s1 s2 E1 H1 E2 H2 n ltac:(lia)) as (k & m & R & T).
    destruct (exit_round s3 _ m E3 H3 T) as (k' & m' & R' & RT & ST & DN & FR & TR).
    exists (k + k')%nat, m'; split; [rewrite (run_app _ _ _ _ _ R); exact R'|]; repeat (split; [assumption|]); split.
    + intros a F; inversion F as [|? ? F1 F2]; subst; apply FR; [|exact (F1 eq_refl)].
      intros (r & J & W); inversion F2 as [|? ? _ F3]; subst; rewrite Forall_forall in F3.
      exact (F3 _ (in_map buffer_of _ _ J) eq_refl W).
    + rewrite TR; cbn [app]; rewrite <- !app_assoc; reflexivity.
Qed.
End Loop.
