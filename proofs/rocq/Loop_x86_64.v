(** * Loop_x86_64: kernels that process blocks of 94 bytes, for every number of blocks *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment X86_64 Call_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** What a kernel does with a block: given the state and the block of each buffer, the state after it and what the
    buffers then hold; and the same on symbolic bytes. *)
Record operation := Operation {
  on_bytes : list byte -> list (list byte) -> list byte * list (list byte);
  on_symbols : list sbyte -> list (list sbyte) -> list node -> list sbyte * list (list sbyte) * list node;
  agree : forall env s cs nodes s' cs' nodes', on_symbols s cs nodes = (s', cs', nodes') ->
    consistent env nodes' -> on_bytes (evs env s) (map (evs env) cs) = (evs env s', map (evs env) cs')
}.

(** Where a kernel keeps things.  The state is at rdi. *)
Record kernel := Kernel {
  code : list byte;
  head : Z;                     (* the test of the counter, from the start of the code *)
  table : nat;                  (* the register with the address of the round constants *)
  count : nat;                  (* the register with the number of blocks *)
  data : list (nat * bool);     (* the registers with the buffers, and whether they are written *)
  alias : list (nat * nat);     (* a register with the same buffer as another *)
  word_in : list (nat * nat);   (* vector registers with words of the state, at the test *)
  pad_in : nat                  (* the vector register with the padding *)
}.

Definition padding : list byte := zero 15 ++ [0x81%N].

Section Loop.
Variable K : kernel.
Variable op : operation.

Definition numbers (counter : snumber) (on : Z) : list (nat * snumber) :=
  (rdi, (Some rdi, 0)) :: (table K, (Some (table K), 0)) :: (count K, counter) ::
  map (fun d => (fst d, (Some (fst d), on))) (data K) ++ map (fun a => (fst a, (Some (snd a), on))) (alias K).

Definition word {A} (i : nat) (s : list A) : list A := firstn 16 (skipn (16 * i) s).

Definition words (s : list sbyte) : list (nat * list sbyte) :=
  (pad_in K, map const padding) :: map (fun ri => (fst ri, word (snd ri) s)) (word_in K).

Fixpoint data_regions (at_ : nat) (ds : list (nat * bool)) : list region :=
  match ds with [] => [] | (r, w) :: ds => Region r w (input at_ 94) :: data_regions (at_ + 94) ds end.

Definition blocks : list region := data_regions 128 (data K).

Definition last_at : Z := Z.of_nat (length (code K)) - 1.

(** The three pieces: to the first test, from one test to the next, from the last test to the return. *)
Definition entry_layout := [(rdi, false, 128%nat)].
Definition step_layout := (table K, false, 1152%nat) :: map (fun d => (fst d, snd d, 94%nat)) (data K).
Definition exit_layout := [(rdi, true, 128%nat)].

Definition goal := on_symbols op (input 0 128) (map content blocks) [].

Definition entry_found :=
  srun x86_64 (code K) None 100 (head K)
    (started 0 (numbers (Some (count K), 0) 0) [] [Region rdi false (input 0 128)] [] 16 16).

Definition step_found :=
  srun x86_64 (code K) (Some (count K)) 2000 (head K)
    (started (head K) (numbers (Some (count K), 0) 0) (words (input 0 128))
      (Region (table K) false (map const round_constants) :: blocks) (snd goal) 16 16).

Definition exit_found :=
  srun x86_64 (code K) None 100 last_at
    (started (head K) (numbers (None, 0) 0) (words (input 0 128)) [Region rdi true (input 128 128)] [] 16 16).

Definition entry_ok (s : symbolic) : bool :=
  (s_pc s =? head K) && sane (code K) entry_layout s && forallb (number_ok (s_gpr s)) (numbers (Some (count K), 0) 0) &&
  forallb (word_ok (s_vec s)) (words (input 0 128)).

Definition step_ok (s : symbolic) : bool :=
  (s_pc s =? head K) && sane (code K) step_layout s &&
  forallb (number_ok (s_gpr s)) (numbers (Some (count K), -1) 94) &&
  forallb (word_ok (s_vec s)) (words (fst (fst goal))) && (length (fst (fst goal)) =? 128)%nat &&
  list_eqb word_eqb (map content (tl (s_mem s))) (snd (fst goal)).

Definition exit_ok (s : symbolic) : bool :=
  (s_pc s =? last_at) && sane (code K) exit_layout s && forallb (cleared_ok (s_vec s)) (seq 0 16) &&
  list_eqb word_eqb (map content (s_mem s)) [input 0 128].

Fixpoint distinct (l : list nat) : bool :=
  match l with [] => true | a :: l => negb (existsb (Nat.eqb a) l) && distinct l end.

Definition shape_ok : bool :=
  distinct (rdi :: table K :: count K :: map fst (data K)) &&
  forallb (fun ra => existsb (Nat.eqb (snd ra)) (map fst (data K))) (alias K) &&
  forallb (fun ri => (snd ri <? 8)%nat) (word_in K) &&
  (length (data K) <=? 2)%nat && (0 <? length (code K))%nat &&
  match sfetch x86_64 (lengths x86_64) (skipn (length (code K) - 1) (code K)) with
  | Some ([Pop_jump 4], 1%nat) => true | _ => false
  end &&
  (length round_constants =? 1152)%nat.

Definition found (f : option symbolic) (ok : symbolic -> bool) : bool :=
  match f with Some s => ok s | None => false end.

Definition checks : bool :=
  shape_ok && found entry_found entry_ok && found step_found step_ok && found exit_found exit_ok.
(** ** From the checks to the machine *)

Hypothesis CH : checks = true.

Variables (at_ : Z) (arg : nat -> Z) (m0 : machine) (n : nat).

Definition saved := [rbx; rsp; rbp; 12; 13; 14; 15]%nat.
Definition arguments : list nat := rdi :: table K :: count K :: map fst (data K).

Definition buffers : list (bool * (Z * Z)) :=
  (true, (arg rdi, 128)) :: (false, (arg (table K), 1152)) ::
  map (fun d => (snd d, (arg (fst d), 94 * Z.of_nat n))) (data K).

Hypothesis AT : pc m0 = at_.
Hypothesis ARG : forall r, In r arguments -> gpr m0 r = arg r.
Hypothesis CALL : called (code K) buffers m0.
Hypothesis TABLE : read (mem m0) (arg (table K)) 1152 = round_constants.
Hypothesis COUNT : arg (count K) = Z.of_nat n.
Hypothesis SMALL : Z.of_nat n < 2 ^ 64.
Hypothesis ALIAS : Forall (fun a => gpr m0 (fst a) = arg (snd a)) (alias K).

(** The values of the checker's unknowns in round i. *)
Definition B (i : nat) (u : nat) : Z :=
  if existsb (Nat.eqb u) (map fst (data K)) then arg u + 94 * Z.of_nat i
  else if (u =? count K)%nat then arg u - Z.of_nat i else arg u.

Definition block_at (m : memory) (i : nat) : list (list byte) := map (fun d => read m (B i (fst d)) 94) (data K).

Fixpoint state_after (i : nat) : list byte :=
  match i with
  | O => read (mem m0) (arg rdi) 128
  | S i => fst (on_bytes op (state_after i) (block_at (mem m0) i))
  end.

Definition touched (i : nat) (a : Z) : Prop :=
  exists r, In (r, true) (data K) /\ arg r <= a < arg r + 94 * Z.of_nat i.

Definition words_of (s : list byte) : list (nat * list byte) :=
  (pad_in K, padding) :: map (fun ri => (fst ri, word (snd ri) s)) (word_in K).

Record at_test (i : nat) (tr : list event) (m : machine) : Prop := At_test {
  t_pc : pc m = wrap (at_ + head K);
  t_numbers : Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (numbers (Some (count K), 0) 0);
  t_words : Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (state_after i));
  t_length : length (state_after i) = 128%nat;
  t_saved : forall r, In r saved -> gpr m r = gpr m0 r;
  t_vec : forall r, (16 <= length (vec m r))%nat;
  t_done : forall j, (j < i)%nat -> block_at (mem m) j = snd (on_bytes op (state_after j) (block_at (mem m0) j));
  t_frame : forall a, ~ touched i a -> mem m a = mem m0 a;
  t_trace : trace m = tr ++ trace m0
}.

(** *** Registers and places *)

Lemma shape : shape_ok = true.
Proof. pose proof CH as H; unfold checks in H; do 3 (apply andb_prop in H as [H _]); exact H. Qed.

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

Lemma registers : NoDup arguments.
Proof.
  pose proof shape as H; unfold shape_ok in H; do 6 (apply andb_prop in H as [H _]); apply distinct_nodup; exact H.
Qed.

Lemma B_data i r w : In (r, w) (data K) -> B i r = arg r + 94 * Z.of_nat i.
Proof. intro J; unfold B; rewrite (proj2 (existsb_in _ r)); [reflexivity|]; apply (in_map fst) in J; exact J. Qed.

Lemma B_count i : B i (count K) = Z.of_nat n - Z.of_nat i.
Proof.
  unfold B; pose proof registers as N; unfold arguments in N.
  inversion N as [|? ? _ N1]; subst; inversion N1 as [|? ? _ N2]; subst; inversion N2 as [|? ? N3 _]; subst.
  destruct (existsb (Nat.eqb (count K)) (map fst (data K))) eqn:E; [apply existsb_in in E; contradiction|].
  rewrite Nat.eqb_refl, COUNT; reflexivity.
Qed.

Lemma B_fixed i u : u = rdi \/ u = table K -> B i u = arg u.
Proof.
  intro U; unfold B; pose proof registers as N; unfold arguments in N.
  inversion N as [|? ? X1 N1]; subst; inversion N1 as [|? ? X2 N2]; subst; cbn [In] in X1, X2.
  assert (X : ~ In u (map fst (data K)) /\ u <> count K) by (destruct U as [->| ->]; split; intro E; [apply X1|apply X1|apply X2|apply X2]; auto).
  destruct X as [Y1 Y2].
  destruct (existsb (Nat.eqb u) (map fst (data K))) eqn:E; [apply existsb_in in E; contradiction|].
  apply Nat.eqb_neq in Y2; rewrite Y2; reflexivity.
Qed.

Lemma B_next i u : B (S i) u = B i u + (if existsb (Nat.eqb u) (map fst (data K)) then 94 else if (u =? count K)%nat then -1 else 0).
Proof. unfold B; destruct (existsb _ _), (u =? count K)%nat; lia. Qed.

Lemma words_evs env s : map (fun rw => (fst rw, evs env (snd rw))) (words s) = words_of (evs env s).
Proof.
  unfold words, words_of, word; cbn [map fst snd]; rewrite evs_const, map_map; f_equal.
  apply map_ext; intros [r i]; cbn [fst snd]; rewrite evs_firstn, evs_skipn; reflexivity.
Qed.

Lemma input_length a k : length (input a k) = k.
Proof. unfold input; now rewrite map_length, seq_length. Qed.

Lemma words_lengths s : length s = 128%nat -> Forall (fun rw => length (snd rw) = 16%nat) (words s).
Proof.
  intro L; constructor; [reflexivity|]; apply Forall_forall; intros rw J.
  apply in_map_iff in J as ([r i] & <- & J); cbn [snd fst]; unfold word.
  assert (I8 : (i < 8)%nat).
  { pose proof shape as H; unfold shape_ok in H; do 4 (apply andb_prop in H as [H _]); apply andb_prop in H as [_ H].
    rewrite forallb_forall in H; apply Nat.ltb_lt; exact (H _ J). }
  rewrite firstn_length, skipn_length; lia.
Qed.

Lemma words_start env s m : length s = 128%nat ->
  Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (evs env s)) ->
  Forall (fun rw => length (snd rw) = 16%nat /\ firstn 16 (vec m (fst rw)) = evs env (snd rw)) (words s).
Proof.
  intros L H; rewrite <- words_evs in H; apply Forall_forall; intros rw J; split.
  - exact (proj1 (Forall_forall _ _) (words_lengths s L) rw J).
  - rewrite Forall_forall in H; exact (H _ (in_map (fun rw => (fst rw, evs env (snd rw))) _ _ J)).
Qed.

Lemma words_stop env s m :
  Forall (fun rw => firstn 16 (vec m (fst rw)) = evs env (snd rw)) (words s) ->
  Forall (fun rw => firstn 16 (vec m (fst rw)) = snd rw) (words_of (evs env s)).
Proof.
  intro H; rewrite <- words_evs; apply Forall_forall; intros rw J; apply in_map_iff in J as (x & <- & J).
  exact (proj1 (Forall_forall _ _) H x J).
Qed.

Lemma numbers_next i m :
  Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (numbers (Some (count K), -1) 94) ->
  Forall (fun rv => gpr m (fst rv) = number_is (B (S i)) (snd rv)) (numbers (Some (count K), 0) 0).
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
    { pose proof shape as Q; unfold shape_ok in Q; do 5 (apply andb_prop in Q as [Q _]); apply andb_prop in Q as [_ Q].
      rewrite forallb_forall in Q; specialize (Q _ J); cbn [snd] in Q; apply existsb_in, in_map_iff in Q as ([y w] & E & P).
      cbn [fst] in E; subst y; exists w; exact P. }
    destruct D as [w D]; rewrite !(B_data _ x w D); f_equal; lia.
Qed.

(** *** Apartness *)

Lemma pairs_app {A} (R : A -> A -> Prop) l1 l2 : ForallOrdPairs R (l1 ++ l2) -> forall a b, In a l1 -> In b l2 -> R a b.
Proof.
  induction l1 as [|c l1 IH]; intros H a b I J; [destruct I|]; inversion H as [|? ? F G]; subst; destruct I as [<-|I].
  - rewrite Forall_forall in F; apply F, in_or_app; now right.
  - exact (IH G a b I J).
Qed.

Lemma pairs_tail {A} (R : A -> A -> Prop) l1 l2 : ForallOrdPairs R (l1 ++ l2) -> ForallOrdPairs R l2.
Proof. induction l1; intro H; [exact H|]; inversion H; auto. Qed.

Lemma pairs_map {A C} (R : C -> C -> Prop) (f : A -> C) l : ForallOrdPairs R (map f l) -> ForallOrdPairs (fun a b => R (f a) (f b)) l.
Proof.
  induction l as [|a l IH]; cbn [map]; intro H; [constructor|]; inversion H as [|? ? F G]; subst; constructor; auto.
  rewrite Forall_map in F; exact F.
Qed.

Definition buffer_of (d : nat * bool) : bool * (Z * Z) := (snd d, (arg (fst d), 94 * Z.of_nat n)).
Definition fixed : list (bool * (Z * Z)) :=
  [code_part (code K) m0; return_address m0; (true, (arg rdi, 128)); (false, (arg (table K), 1152))].

Lemma all_apart : ForallOrdPairs compatible (fixed ++ map buffer_of (data K)).
Proof. exact (c_apart _ _ _ CALL). Qed.

Lemma all_range : Forall (fun b => 0 <= fst (snd b) /\ fst (snd b) + snd (snd b) <= 2 ^ 64) (fixed ++ map buffer_of (data K)).
Proof. exact (c_range _ _ _ CALL). Qed.

Lemma data_apart r w r' w' : In (r, w) (data K) -> In (r', w') (data K) -> r <> r' -> w = true \/ w' = true ->
  disjoint (arg r, 94 * Z.of_nat n) (arg r', 94 * Z.of_nat n).
Proof.
  intros I J N W; pose proof (pairs_map _ _ _ (pairs_tail _ _ _ all_apart)) as P.
  destruct (ForallOrdPairs_In P _ _ I J) as [E|[E|E]].
  - exfalso; apply N; congruence.
  - apply E; exact W.
  - unfold compatible in E; cbn [buffer_of fst snd] in E; assert (W' : w' = true \/ w = true) by tauto; specialize (E W').
    unfold disjoint in *; cbn [fst snd] in *; lia.
Qed.

Lemma untouched b a i : In b fixed -> fst (snd b) <= a < fst (snd b) + snd (snd b) -> (i <= n)%nat -> ~ touched i a.
Proof.
  intros I H L (r & J & T).
  pose proof (pairs_app _ _ _ all_apart b (buffer_of (r, true)) I (in_map buffer_of _ _ J)) as C.
  specialize (C (or_intror eq_refl)); unfold disjoint in C; cbn [buffer_of fst snd] in C; nia.
Qed.

Lemma block_fresh i j m : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (i <= j < n)%nat ->
  block_at (mem m) j = block_at (mem m0) j.
Proof.
  intros F L; apply map_ext_in; intros [r w] J; cbn [fst]; apply read_same; intros a A; apply F; intros (q & Q & T).
  rewrite (B_data j r w J) in A; destruct (Nat.eq_dec q r) as [->|N]; [nia|].
  pose proof (data_apart q true r w Q J N (or_introl eq_refl)) as D; unfold disjoint in D; cbn [fst snd] in D; nia.
Qed.

Lemma written i a : in_writable (B i) step_layout a ->
  exists r, In (r, true) (data K) /\ arg r + 94 * Z.of_nat i <= a < arg r + 94 * Z.of_nat i + 94.
Proof.
  intros (g & [<-|J] & W & A); [discriminate|]; apply in_map_iff in J as ([r w] & <- & J); cbn [fst snd] in *; subst w.
  exists r; split; [exact J|]; unfold inside in A; rewrite (B_data i r true J) in A; lia.
Qed.

Lemma data_holds env mm Bf : forall ds at0 pre cs, length pre = at0 ->
  cs = map (fun d => read mm (Bf (fst d)) 94) ds -> agrees env (pre ++ concat cs) -> (at0 + 94 * length ds <= 4096)%nat ->
  Forall (holds env Bf mm) (data_regions at0 ds) /\ map (evs env) (map content (data_regions at0 ds)) = cs.
Proof.
  induction ds as [|[r w] ds IH]; intros at0 pre cs L E A M; cbn [data_regions map] in *; subst cs; [split; constructor|].
  cbn [concat fst length] in *.
  assert (V : evs env (input at0 94) = read mm (Bf r) 94).
  { rewrite (input_is env _ at0 94 A) by (rewrite ?app_length, ?read_length; lia).
    rewrite skipn_app, skipn_all2 by lia; rewrite L, Nat.sub_diag, skipn_O; cbn [app].
    rewrite firstn_app, read_length, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; rewrite read_length; lia. }
  destruct (IH (at0 + 94)%nat (pre ++ read mm (Bf r) 94) _ ltac:(rewrite app_length, read_length; lia) eq_refl) as [H1 H2].
  - rewrite <- app_assoc; exact A.
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
  intros F L; rewrite <- (c_code _ _ _ CALL) at 2; rewrite AT; apply read_same; intros a A; apply F.
  apply (untouched (code_part (code K) m0)); [now left| |exact L]; unfold code_part; cbn [fst snd]; rewrite AT; exact A.
Qed.

(** *** The three pieces *)

Lemma fits_space i m : (forall a, ~ touched i a -> mem m a = mem m0 a) -> (i <= n)%nat -> (forall r, (16 <= length (vec m r))%nat) ->
  forall nonzero L bs, match nonzero with Some u => 0 < B i u < 2 ^ 64 | None => True end ->
  ForallOrdPairs compatible (code_part (code K) m0 :: bs) -> Forall (fun b => 0 <= fst (snd b) /\ fst (snd b) + snd (snd b) <= 2 ^ 64) bs ->
  Forall2 (lies (B i)) L bs -> placed (code K) nonzero (B i) at_ m L.
Proof.
  intros F LE V nonzero L bs N P R Q; apply placed_in with bs; auto.
  - pose proof all_range as A; inversion A as [|? ? A1 A2]; subst; unfold code_part in A1; cbn [fst snd] in A1; exact A1.
  - apply code_stays with i; assumption.
  - unfold code_part in P; rewrite AT in P; exact P.
Qed.

Lemma state_range : 0 <= arg rdi /\ arg rdi + 128 <= 2 ^ 64.
Proof.
  pose proof all_range as A; unfold fixed in A; cbn [app] in A.
  do 2 (inversion A as [|? ? _ A']; subst; clear A; rename A' into A); inversion A as [|? ? A1 _]; subst; exact A1.
Qed.

Lemma state_apart : ForallOrdPairs compatible (code_part (code K) m0 :: [(true, (arg rdi, 128))]).
Proof.
  pose proof all_apart as A; unfold fixed in A; cbn [app] in A.
  inversion A as [|? ? A1 A2]; subst; inversion A1 as [|? ? _ A3]; subst; inversion A3 as [|? ? A4 _]; subst.
  constructor; [constructor; [exact A4|constructor]|constructor; constructor].
Qed.

Lemma steps_apart : ForallOrdPairs compatible (code_part (code K) m0 :: (false, (arg (table K), 1152)) :: map buffer_of (data K)).
Proof.
  pose proof all_apart as A; unfold fixed in A; cbn [app] in A.
  inversion A as [|? ? A1 A2]; subst; inversion A1 as [|? ? _ A3]; subst; inversion A3 as [|? ? _ A4]; subst.
  constructor; [exact A4|]; inversion A2 as [|? ? _ A5]; subst; inversion A5 as [|? ? _ A6]; subst; exact A6.
Qed.

Lemma steps_range : Forall (fun b => 0 <= fst (snd b) /\ fst (snd b) + snd (snd b) <= 2 ^ 64)
  ((false, (arg (table K), 1152)) :: map buffer_of (data K)).
Proof.
  pose proof all_range as A; unfold fixed in A; cbn [app] in A.
  do 3 (inversion A as [|? ? _ A']; subst; clear A; rename A' into A); exact A.
Qed.

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

Lemma step_round s i tr m : step_found = Some s -> step_ok s = true -> (i < n)%nat -> at_test i tr m ->
  exists k m', run x86_64 k m = Some m' /\ at_test (S i) (map (event_is (B i) at_) (s_trace s) ++ tr) m'.
Proof.
  intros E H LT T; unfold step_found in E; unfold step_ok in H.
  apply andb_prop in H as [H HM]; apply andb_prop in H as [H HL]; apply andb_prop in H as [H HV].
  apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP; apply Nat.eqb_eq in HL.
  apply andb_prop in HS as [HS HE]; apply andb_prop in HS as [HW HU].
  destruct T as [Tpc Tnum Twords Tlen Tsaved Tvec Tdone Tframe Ttrace].
  set (all := state_after i ++ concat (block_at (mem m) i)).
  assert (INPUT : forall env, agrees env all -> evs env (input 0 128) = state_after i).
  { intros env A; rewrite (input_is env all 0 128 A) by (unfold all; rewrite ?app_length; lia).
    unfold all; rewrite skipn_O, firstn_app, Tlen, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia. }
  assert (DL : (length (data K) <= 2)%nat).
  { pose proof shape as Q; unfold shape_ok in Q; do 3 (apply andb_prop in Q as [Q _]); apply andb_prop in Q as [_ Q].
    apply Nat.leb_le; exact Q. }
  assert (DATA : forall env, agrees env all -> Forall (holds env (B i) (mem m)) blocks /\
    map (evs env) (map content blocks) = block_at (mem m) i).
  { intros env A; apply (data_holds env (mem m) (B i) (data K) 128 (state_after i)); auto; lia. }
  assert (LAY : map layout_of (Region (table K) false (map const round_constants) :: blocks) = step_layout).
  { unfold blocks, step_layout; cbn [map]; rewrite data_layout; f_equal.
  }
  assert (P : placed (code K) (Some (count K)) (B i) at_ m step_layout).
  { apply (fits_space i m Tframe ltac:(lia) Tvec (Some (count K)) step_layout
      ((false, (arg (table K), 1152)) :: map buffer_of (data K)));
      [cbv iota; rewrite B_count; lia|exact steps_apart|exact steps_range|exact (steps_lie i LT)]. }
  destruct (segment x86_64 (code K) _ _ _ _ _ _ _ _ _ _ s E HW all (B i) at_ m ltac:(rewrite LAY; exact P) Tpc Tnum)
    as (env & k & m' & A & C & R & REL).
  { intros env A; apply words_start; [apply input_length|]; rewrite (INPUT env A); exact Twords. }
  { intros env A; constructor; [|apply DATA; exact A]; unfold holds; cbn [start content].
    rewrite evs_const, map_length, B_fixed by tauto.
    pose proof shape as Q; unfold shape_ok in Q; apply andb_prop in Q as [_ Q]; apply Nat.eqb_eq in Q; rewrite Q.
    rewrite <- TABLE; apply read_same; intros a Ha; apply Tframe.
    apply (untouched (false, (arg (table K), 1152))); [cbn [fixed In]; tauto|cbn [fst snd]; lia|lia]. }
  rewrite LAY in REL.
  assert (CG : consistent env (snd goal)).
  { eapply consistent_older; [|exact C]; exact (srun_extends _ _ _ env _ _ _ _ E). }
  assert (OP : on_bytes op (state_after i) (block_at (mem m0) i) = (evs env (fst (fst goal)), map (evs env) (snd (fst goal)))).
  { rewrite <- (block_fresh i i m Tframe) by lia; rewrite <- (INPUT env A), <- (proj2 (DATA env A)).
    apply (agree op env _ _ [] _ _ (snd goal)); [|exact CG]; unfold goal; destruct (on_symbols op _ _ _) as [[x y] z]; reflexivity. }
  exists k, m'; split; [exact R|]; constructor.
  - rewrite (r_pc _ _ _ _ _ _ _ _ REL), HP; reflexivity.
  - apply numbers_next; apply (numbers_end _ _ _ _ _ _ _ _ REL); exact HN.
  - cbn [state_after]; rewrite OP; cbn [fst]; apply words_stop, (words_end _ _ _ _ _ _ _ _ REL); exact HV.
  - cbn [state_after]; rewrite OP; cbn [fst]; rewrite evs_length; exact HL.
  - intros r J; rewrite <- (Tsaved r J); apply (same_gpr _ _ _ _ _ _ _ _ REL).
    rewrite forallb_forall in HU; apply HU; exact J.
  - apply (vec_lengths _ _ _ _ _ _ _ _ REL Tvec).
  - intros j LJ; destruct (Nat.eq_dec j i) as [->|NJ].
    + rewrite OP; cbn [snd]; apply list_eqb_eq in HM; [|apply word_eqb_eq]; rewrite <- HM.
      pose proof (r_mem _ _ _ _ _ _ _ _ REL) as MM; pose proof (r_layout _ _ _ _ _ _ _ _ REL) as LL.
      destruct (s_mem s) as [|g gs]; [discriminate|]; inversion MM as [|? ? _ MG]; subst; cbn [tl].
      unfold step_layout in LL; cbn [map] in LL; apply (f_equal (@tl _)) in LL; cbn [tl] in LL.
      unfold block_at; clear - MG LL; revert gs MG LL; induction (data K) as [|[r w] ds IH]; intros [|g gs] MG LL; cbn [map] in LL; try discriminate; [reflexivity|].
      inversion MG as [|? ? G1 G2]; subst; cbn [map fst].
      assert (LG : start g = r /\ length (content g) = 94%nat).
      { pose proof (f_equal (fun l => match l with x :: _ => x | [] => (0%nat, false, 0%nat) end) LL) as H1.
        split; [exact (f_equal (fun t => fst (fst t)) H1)|exact (f_equal snd H1)]. }
      destruct LG as [G3 G4]; rewrite G3, G4 in G1; rewrite G1; f_equal; apply IH; [exact G2|exact (f_equal (@tl _) LL)].
    + rewrite <- (Tdone j) by lia; apply map_ext_in; intros [r w] J; cbn [fst]; apply read_same; intros a Ha.
      apply (r_frame _ _ _ _ _ _ _ _ REL); intro W; apply written in W as (q & Q & W).
      rewrite (B_data j r w J) in Ha; destruct (Nat.eq_dec q r) as [->|N]; [nia|].
      pose proof (data_apart q true r w Q J N (or_introl eq_refl)) as D; unfold disjoint in D; cbn [fst snd] in D; nia.
  - intros a NT; rewrite <- (Tframe a); [apply (r_frame _ _ _ _ _ _ _ _ REL); intro W; apply NT; apply written in W as (q & Q & W)|intro W; apply NT; destruct W as (q & Q & W)];
      exists q; (split; [exact Q|nia]).
  - rewrite (r_trace _ _ _ _ _ _ _ _ REL), Ttrace, app_assoc; reflexivity.
Qed.

Hypothesis REGS : forall r, 0 <= gpr m0 r < 2 ^ 64.

Lemma code_space : 0 <= at_ /\ at_ + Z.of_nat (length (code K)) <= 2 ^ 64 /\ (0 < length (code K))%nat.
Proof.
  pose proof all_range as A; inversion A as [|? ? A1 A2]; subst at_; unfold code_part in A1; cbn [fst snd] in A1.
  pose proof shape as Q; unfold shape_ok in Q; do 2 (apply andb_prop in Q as [Q _]); apply andb_prop in Q as [_ Q].
  apply Nat.ltb_lt in Q; lia.
Qed.

Lemma entry_round s : entry_found = Some s -> entry_ok s = true ->
  exists k m, run x86_64 k m0 = Some m /\ at_test 0 (map (event_is (B 0) at_) (s_trace s)) m.
Proof.
  intros E H; unfold entry_found in E; unfold entry_ok in H.
  apply andb_prop in H as [H HV]; apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply andb_prop in HS as [HS HE]; apply andb_prop in HS as [HW HU].
  assert (B0 : forall u, B 0 u = arg u) by (intro u; unfold B; destruct (existsb _ _), (u =? count K)%nat; lia).
  assert (P : placed (code K) None (B 0) at_ m0 entry_layout).
  { apply (fits_space 0 m0 ltac:(reflexivity) ltac:(lia) ltac:(intro r; rewrite (c_vec _ _ _ CALL r); lia) None entry_layout
      [(true, (arg rdi, 128))]); [exact Logic.I|exact state_apart|constructor; [exact state_range|constructor]|].
    constructor; [|constructor]; split; [discriminate|]; rewrite B0; unfold within; cbn [fst snd]; lia. }
  destruct (segment x86_64 (code K) _ _ _ _ _ _ _ _ _ _ s E HW (read (mem m0) (arg rdi) 128) (B 0) at_ m0 P)
    as (env & k & m & A & C & R & REL).
  - rewrite Z.add_0_r, wrap_small; [exact AT|]; pose proof code_space; lia.
  - unfold numbers; assert (ONE : forall r, In r arguments -> gpr m0 r = number_is (B 0) (Some r, 0)).
    { intros r J; cbn [number_is]; rewrite B0, Z.add_0_r, <- (ARG r J), wrap_small by apply REGS; reflexivity. }
    unfold arguments in ONE; cbn [In] in ONE.
    constructor; [apply ONE; tauto|]; constructor; [apply ONE; tauto|]; constructor; [apply ONE; tauto|].
    apply Forall_app; split; apply Forall_forall; intros rv J; apply in_map_iff in J as ([r x] & <- & J); cbn [fst snd].
    + apply ONE; do 3 right; exact (in_map fst _ _ J).
    + cbn [number_is]; rewrite B0, Z.add_0_r.
      pose proof (proj1 (Forall_forall _ _) ALIAS _ J) as AL; cbn [fst snd] in AL.
      rewrite <- AL, wrap_small by apply REGS; reflexivity.
  - intros; constructor.
  - intros env A; constructor; [|constructor]; unfold holds; cbn [start content].
    rewrite input_length, B0, (input_is env _ 0 128 A), skipn_O by (rewrite ?read_length; lia).
    rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
  - change (map layout_of _) with entry_layout in REL.
    assert (INPUT : evs env (input 0 128) = read (mem m0) (arg rdi) 128).
    { rewrite (input_is env _ 0 128 A), skipn_O by (rewrite ?read_length; lia).
      apply firstn_all2; rewrite read_length; lia. }
    exists k, m; split; [exact R|]; constructor.
    + rewrite (r_pc _ _ _ _ _ _ _ _ REL), HP; reflexivity.
    + apply (numbers_end _ _ _ _ _ _ _ _ REL); exact HN.
    + cbn [state_after]; rewrite <- INPUT; apply words_stop, (words_end _ _ _ _ _ _ _ _ REL); exact HV.
    + apply read_length.
    + intros r J; apply (same_gpr _ _ _ _ _ _ _ _ REL); rewrite forallb_forall in HU; apply HU; exact J.
    + apply (vec_lengths _ _ _ _ _ _ _ _ REL); intro r; rewrite (c_vec _ _ _ CALL r); lia.
    + intros j LJ; lia.
    + intros a _; apply (r_frame _ _ _ _ _ _ _ _ REL); intros (g & [<-|[]] & W & _); discriminate.
    + exact (r_trace _ _ _ _ _ _ _ _ REL).
Qed.

Fixpoint rounds_trace (s : symbolic) (i : nat) : list event :=
  match i with O => [] | S i => map (event_is (B i) at_) (s_trace s) ++ rounds_trace s i end.

Lemma all_rounds s0 s : entry_found = Some s0 -> entry_ok s0 = true -> step_found = Some s -> step_ok s = true ->
  forall i, (i <= n)%nat -> exists k m, run x86_64 k m0 = Some m /\
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
  exists k m', run x86_64 k m = Some m' /\ returned m0 m' /\
    read (mem m') (arg rdi) 128 = state_after n /\
    (forall j, (j < n)%nat -> block_at (mem m') j = snd (on_bytes op (state_after j) (block_at (mem m0) j))) /\
    (forall a, ~ touched n a -> ~ arg rdi <= a < arg rdi + 128 -> mem m' a = mem m0 a) /\
    trace m' = Read (gpr m0 rsp) 8 :: Fetch (at_ + last_at) 1 :: map (event_is (B n) at_) (s_trace s) ++ tr ++ trace m0.
Proof.
  intros E H T; unfold exit_found in E; unfold exit_ok in H.
  apply andb_prop in H as [H HM]; apply andb_prop in H as [H HC]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply andb_prop in HS as [HS HE]; apply andb_prop in HS as [HW HU].
  destruct T as [Tpc Tnum Twords Tlen Tsaved Tvec Tdone Tframe Ttrace].
  set (all := state_after n ++ read (mem m) (arg rdi) 128).
  assert (BR : B n rdi = arg rdi) by (apply B_fixed; tauto).
  assert (INPUT : forall env, agrees env all -> evs env (input 0 128) = state_after n).
  { intros env A; rewrite (input_is env all 0 128 A) by (unfold all; rewrite ?app_length; lia).
    unfold all; rewrite skipn_O, firstn_app, Tlen, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia. }
  assert (P : placed (code K) None (B n) at_ m exit_layout).
  { apply (fits_space n m Tframe ltac:(lia) Tvec None exit_layout [(true, (arg rdi, 128))]);
      [exact Logic.I|exact state_apart|constructor; [exact state_range|constructor]|].
    constructor; [|constructor]; split; [reflexivity|]; rewrite BR; unfold within; cbn [fst snd]; lia. }
  destruct (segment x86_64 (code K) _ _ _ _ _ _ _ _ _ _ s E HW all (B n) at_ m P Tpc) as (env & k & m1 & A & C & R & REL).
  - unfold numbers in *; inversion Tnum as [|? ? N1 N]; subst; inversion N as [|? ? N2 N']; subst; inversion N' as [|? ? N3 N4]; subst.
    constructor; [exact N1|]; constructor; [exact N2|]; constructor; [|exact N4].
    cbn [fst snd number_is] in *; rewrite N3, B_count; f_equal; lia.
  - intros env A; apply words_start; [apply input_length|]; rewrite (INPUT env A); exact Twords.
  - intros env A; constructor; [|constructor]; unfold holds; cbn [start content].
    rewrite input_length, BR, (input_is env _ 128 128 A) by (unfold all; rewrite ?app_length, ?read_length; lia).
    unfold all; rewrite skipn_app, skipn_all2 by lia; rewrite Tlen, Nat.sub_diag, skipn_O; cbn [app].
    rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
  - change (map layout_of _) with exit_layout in REL.
    assert (SAVED : forall r, In r saved -> gpr m1 r = gpr m0 r).
    { intros r J; rewrite <- (Tsaved r J); apply (same_gpr _ _ _ _ _ _ _ _ REL); rewrite forallb_forall in HU; apply HU; exact J. }
    assert (SP : gpr m1 rsp = gpr m0 rsp) by (apply SAVED; cbn [saved In]; tauto).
    assert (FRAME : forall a, ~ touched n a -> ~ arg rdi <= a < arg rdi + 128 -> mem m1 a = mem m0 a).
    { intros a NT NS; rewrite <- (Tframe a NT); apply (r_frame _ _ _ _ _ _ _ _ REL).
      intros (g & [<-|[]] & _ & W); unfold inside in W; rewrite BR in W; lia. }
    assert (RET : sfetch x86_64 (lengths x86_64) (skipn (length (code K) - 1) (code K)) = Some (ret, 1%nat)).
    { pose proof shape as Q; unfold shape_ok in Q; apply andb_prop in Q as [Q _]; apply andb_prop in Q as [_ Q].
      destruct (sfetch _ _ _) as [[es l]|]; [|discriminate].
      destruct es as [|[| | | | | | |[|[|[|[|[|?]]]]]] [|? ?]]; try discriminate; destruct l as [|[|l]]; try discriminate; reflexivity. }
    assert (STACK : 0 <= gpr m1 rsp /\ gpr m1 rsp + 8 <= 2 ^ 64).
    { rewrite SP; pose proof all_range as Q; inversion Q as [|? ? _ Q1]; subst; inversion Q1 as [|? ? Q2 _]; subst; exact Q2. }
    destruct (ret_at (code K) env (B n) at_ m _ None s m1 P REL HP RET (proj2 (proj2 code_space)) STACK)
      as (m2 & S2 & PC2 & G2 & V2 & M2 & T2).
    assert (STATE : read (mem m1) (arg rdi) 128 = state_after n).
    { apply list_eqb_eq in HM; [|apply word_eqb_eq].
      pose proof (r_mem _ _ _ _ _ _ _ _ REL) as MM; pose proof (r_layout _ _ _ _ _ _ _ _ REL) as LL.
      destruct (s_mem s) as [|g gs]; [discriminate|]; inversion MM as [|? ? MG _]; subst.
      pose proof (f_equal (fun l => match l with x :: _ => x | [] => (0%nat, false, 0%nat) end) LL) as H1; cbn [map exit_layout] in H1.
      pose proof (f_equal (fun t => fst (fst t)) H1) as G3; pose proof (f_equal snd H1) as G4; unfold layout_of in G3, G4; cbn [fst snd] in G3, G4.
      pose proof (f_equal (fun l => match l with x :: _ => x | [] => [] end) HM) as H2; cbn [map] in H2.
      rewrite G3, G4, BR in MG; rewrite MG, H2; apply INPUT; exact A. }
    assert (RA : read (mem m1) (gpr m0 rsp) 8 = read (mem m0) (gpr m0 rsp) 8).
    { apply read_same; intros a Ha; apply FRAME.
      - apply (untouched (return_address m0)); [right; left; reflexivity|unfold return_address; cbn [fst snd]; lia|lia].
      - pose proof all_apart as Q; unfold fixed in Q; cbn [app] in Q; inversion Q as [|? ? _ Q1]; subst.
        inversion Q1 as [|? ? Q2 _]; subst; inversion Q2 as [|? ? Q3 _]; subst.
        specialize (Q3 (or_intror eq_refl)); unfold disjoint, return_address in Q3; cbn [fst snd] in Q3; lia. }
    exists (k + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; rewrite S2; reflexivity|].
    split; [constructor|].
    + rewrite PC2, SP, RA; reflexivity.
    + rewrite G2; cbn [Nat.eqb rsp]; rewrite SP; reflexivity.
    + apply Forall_forall; intros r J; rewrite G2.
      assert (NE : (r =? rsp)%nat = false) by (repeat destruct J as [<-|J]; try destruct J; reflexivity).
      rewrite NE; apply SAVED; repeat destruct J as [<-|J]; try destruct J; cbn [saved In]; tauto.
    + rewrite V2; exact (cleared_end _ _ _ _ _ _ _ _ REL _ HC).
    + rewrite M2; split; [exact STATE|]; split; [|split; [exact FRAME|]].
      * intros j LJ; rewrite <- (Tdone j LJ); apply map_ext_in; intros [r w] J; cbn [fst]; apply read_same; intros a Ha.
        apply (r_frame _ _ _ _ _ _ _ _ REL); intros (g & [<-|[]] & _ & W); unfold inside in W; rewrite BR in W.
        rewrite (B_data j r w J) in Ha.
        pose proof (pairs_app _ _ _ all_apart (true, (arg rdi, 128)) (buffer_of (r, w)) ltac:(cbn [fixed In]; tauto) (in_map buffer_of _ _ J)) as D.
        specialize (D (or_introl eq_refl)); unfold disjoint in D; cbn [buffer_of fst snd] in D; nia.
      * rewrite T2, SP, (r_trace _ _ _ _ _ _ _ _ REL), Ttrace; reflexivity.
Qed.

(** *** The whole call *)

Definition piece (f : option symbolic) : symbolic :=
  match f with Some s => s | None => Sym 0 [] [] None None [] [] [] end.

Definition accesses (stack : Z) : list event :=
  Read stack 8 :: Fetch (at_ + last_at) 1 :: map (event_is (B n) at_) (s_trace (piece exit_found)) ++
  rounds_trace (piece step_found) n ++ map (event_is (B 0) at_) (s_trace (piece entry_found)).

Lemma allowed_incl bs cs e : incl bs cs -> allowed (code K) bs m0 e -> allowed (code K) cs m0 e.
Proof.
  intro I; destruct e; cbn [allowed]; auto; rewrite !Exists_exists; intros (b & J & H); exists b; (split; [|exact H]).
  - destruct J as [<-|J]; [now left|right; auto].
  - auto.
Qed.

Lemma events_in i bs L es : incl bs buffers -> Forall2 (lies (B i)) L bs -> forallb (event_ok (code K) L) es = true ->
  Forall (allowed (code K) buffers m0) (map (event_is (B i) at_) es).
Proof.
  intros I F H; rewrite <- AT; eapply Forall_impl; [intros e J; apply (allowed_incl _ _ e I J)|].
  apply (events_allowed (B i) (code K) bs m0 L es F H).
Qed.

Lemma state_lies i w : Forall2 (lies (B i)) [(rdi, w, 128%nat)] [(true, (arg rdi, 128))].
Proof.
  constructor; [|constructor]; split; [reflexivity|]; rewrite B_fixed by tauto; unfold within; cbn [fst snd]; lia.
Qed.

Theorem loop_sound :
  Forall (allowed (code K) buffers m0) (accesses (gpr m0 rsp)) /\
  exists k m', run x86_64 k m0 = Some m' /\ returned m0 m' /\
    read (mem m') (arg rdi) 128 = state_after n /\
    (forall j, (j < n)%nat -> block_at (mem m') j = snd (on_bytes op (state_after j) (block_at (mem m0) j))) /\
    (forall a, ~ touched n a -> ~ arg rdi <= a < arg rdi + 128 -> mem m' a = mem m0 a) /\
    trace m' = accesses (gpr m0 rsp) ++ trace m0.
Proof.
  pose proof CH as H; unfold checks in H.
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H H2]; apply andb_prop in H as [_ H1].
  unfold found in H1, H2, H3; unfold accesses.
  destruct entry_found as [s1|] eqn:E1; [|discriminate]; destruct step_found as [s2|] eqn:E2; [|discriminate].
  destruct exit_found as [s3|] eqn:E3; [|discriminate]; cbn [piece].
  split.
  - assert (V1 : forallb (event_ok (code K) entry_layout) (s_trace s1) = true).
    { unfold entry_ok, sane in H1; do 2 (apply andb_prop in H1 as [H1 _]); apply andb_prop in H1 as [_ H1]; apply andb_prop in H1 as [_ H1]; exact H1. }
    assert (V2 : forallb (event_ok (code K) step_layout) (s_trace s2) = true).
    { unfold step_ok, sane in H2; do 4 (apply andb_prop in H2 as [H2 _]); apply andb_prop in H2 as [_ H2]; apply andb_prop in H2 as [_ H2]; exact H2. }
    assert (V3 : forallb (event_ok (code K) exit_layout) (s_trace s3) = true).
    { unfold exit_ok, sane in H3; do 2 (apply andb_prop in H3 as [H3 _]); apply andb_prop in H3 as [_ H3]; apply andb_prop in H3 as [_ H3]; exact H3. }
    constructor.
    { apply Exists_cons_hd; unfold within, return_address; cbn [fst snd]; lia. }
    constructor.
    { unfold allowed, within, code_part, last_at; cbn [fst snd]; rewrite AT; pose proof code_space; lia. }
    apply Forall_app; split; [|apply Forall_app; split].
    + apply (events_in n [(true, (arg rdi, 128))] exit_layout); [intros b [<-|[]]; left; reflexivity|apply state_lies|assumption].
    + assert (X : forall i, (i <= n)%nat -> Forall (allowed (code K) buffers m0) (rounds_trace s2 i)).
      { induction i as [|i IH]; intro L; cbn [rounds_trace]; [constructor|]; apply Forall_app; split; [|apply IH; lia].
        apply (events_in i ((false, (arg (table K), 1152)) :: map buffer_of (data K)) step_layout); auto.
        - intros b J; right; exact J.
        - apply steps_lie; lia. }
      apply X; lia.
    + apply (events_in 0 [(true, (arg rdi, 128))] entry_layout); [intros b [<-|[]]; left; reflexivity|apply state_lies|assumption].
  - destruct (all_rounds s1 s2 E1 H1 E2 H2 n ltac:(lia)) as (k & m & R & T).
    destruct (exit_round s3 _ m E3 H3 T) as (k' & m' & R' & RT & ST & DN & FR & TR).
    exists (k + k')%nat, m'; split; [rewrite (run_app _ _ _ _ _ R); exact R'|]; repeat (split; [assumption|]).
    rewrite TR; cbn [app]; rewrite <- !app_assoc; reflexivity.
Qed.
End Loop.
