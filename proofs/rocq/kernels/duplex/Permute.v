(** * Permute: the theorem about kernels of the permutation, for any calling convention

    The state, or several of them in lanes, is in one buffer of [size] bytes. [after] says what is there afterwards, and
    [goal] the same on symbolic bytes. [constants] is the table that the kernel reads its round constants from. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call.
Import ListNotations.
Local Open Scope Z_scope.

Lemma table_length : length round_constants = 1152%nat.
Proof. vm_compute; reflexivity. Qed.

Lemma input_length a n : length (input a n) = n.
Proof. unfold input; now rewrite map_length, seq_length. Qed.

Section Permute.
Variable A : abi.
Variables code constants : list byte.
Variable size : nat.
Variable goal : list sbyte * list node.

Definition state : nat := argument A 0.
Definition table : nat := argument A 1.

Definition regions : list region := [Region state true (input 0 size); Region table false (map const constants)].

Definition layout : list (nat * bool * nat) := [(state, true, size); (table, false, length constants)].

Definition found : option symbolic :=
  srun (isa_of A) code (of_call A None) 2000 (last_at A code)
    (started 0 [(state, (Some state, 0)); (table, (Some table, 0))] [] regions (snd goal) (gprs A) (vecs A)).

Definition checks : bool :=
  negb (state =? table)%nat && (0 <? length constants)%nat &&
  match found with
  | Some s =>
      (s_pc s =? last_at A code) && sane A code layout s && forallb (cleared_ok (s_vec s)) (cleared A) &&
      match s_mem s with g :: _ => word_eqb (content g) (fst goal) | [] => false end
  | None => false
  end.
End Permute.

(** One state: what the kernel computes, on symbolic bytes. *)
Definition one : list sbyte * list node := spermute (input 0 128) [].

Lemma one_sound env : consistent env (snd one) -> evs env (fst one) = permute (evs env (input 0 128)).
Proof. unfold one; destruct (spermute (input 0 128) []) as [w n] eqn:E; apply (spermute_sound env) in E; apply E. Qed.

Opaque one round_constants input permute.

Definition buffers (A : abi) (constants : list byte) (size : nat) (m : machine) : list buffer :=
  [(true, (gpr m (state A), Z.of_nat size)); (false, (gpr m (table A), Z.of_nat (length constants)))].

Theorem permute_sound (V : convention) {PROPER : proper V} (code constants : list byte) (size : nat) (goal : list sbyte * list node)
    (after : list byte -> list byte) :
  let A := abi_of V in
  (0 < size <= 4096)%nat ->
  (forall env, consistent env (snd goal) -> evs env (fst goal) = after (evs env (input 0 size))) ->
  checks A code constants size goal = true -> ends_in_return A code ->
  exists accesses : Z -> Z -> Z -> Z -> list event, forall m : machine,
  called V code (buffers A constants size m) m ->
  read (mem m) (gpr m (table A)) (length constants) = constants ->
  ends V code (buffers A constants size m) (accesses (pc m) (pointer V m) (gpr m (state A)) (gpr m (table A))) m (fun h =>
    read h (gpr m (state A)) size = after (read (mem m) (gpr m (state A)) size)).
Proof.
  intros A SZ GS H EN; unfold checks in H; apply andb_prop in H as [ST H]; apply andb_prop in ST as [ST TS].
  apply Bool.negb_true_iff in ST; apply Nat.ltb_lt in TS.
  destruct (found A code constants size goal) as [s|] eqn:E; [|discriminate]; unfold found in E.
  apply andb_prop in H as [H HG]; apply andb_prop in H as [H HC]; apply andb_prop in H as [HPC HS].
  apply sane_is in HS as (HW & HU & HK & HE); rewrite forallb_forall in HU, HK; apply Z.eqb_eq in HPC.
  exists (fun at_ p s_at t_at => last_accesses V p (at_ + last_at A code) ++
    map (event_is (fun u => if (u =? state A)%nat then s_at else t_at) at_) (s_trace s)).
  intros m CALL CT; pose proof (called_valid V _ _ _ CALL) as VA.
  set (B := fun u => if (u =? state A)%nat then gpr m (state A) else gpr m (table A)).
  assert (BS : B (state A) = gpr m (state A)) by (unfold B; rewrite Nat.eqb_refl; reflexivity).
  assert (BT : B (table A) = gpr m (table A)) by (unfold B; rewrite Nat.eqb_sym, ST; reflexivity).
  pose proof (v_range _ _ _ _ _ VA) as CR; inversion CR as [|? ? R1 R2]; subst; apply Forall_app in R2 as [_ R2].
  inversion R2 as [|? ? R3 R4]; subst; inversion R4 as [|? ? R5 _]; subst.
  unfold in_space, code_part in R1, R3, R5; cbn [fst snd] in R1, R3, R5.
  pose proof (pairs_without _ _ _ _ (v_apart _ _ _ _ _ VA)) as CA.
  assert (F : Forall2 (lies B) (layout A constants size) (buffers A constants size m)).
  { constructor; [|constructor; [|constructor]]; (split; [auto; discriminate|]); rewrite ?BS, ?BT; unfold within; cbn [fst snd]; lia. }
  assert (LAY : map layout_of (regions A constants size) = layout A constants size).
  { unfold regions, layout, layout_of; cbn [map start writable content]; rewrite map_length, input_length; reflexivity. }
  assert (LA : 0 <= last_at A code < Z.of_nat (length code)) by (destruct EN as [L _]; unfold last_at; lia).
  split.
  - apply Forall_app; split; [exact (last_touches V _ _ _ EN CALL)|].
    apply (events_touch B code (pc m) (beside V m ++ buffers A constants size m) (buffers A constants size m) (layout A constants size)); [apply incl_appr, incl_refl|exact F|exact HE].
  - assert (P : placed (isa_of A) code (of_call A None) B (pc m) m (map layout_of (regions A constants size))).
    { rewrite LAY; apply placed_in with (buffers A constants size m); auto;
        first [exact (v_code _ _ _ _ _ VA)|exact (v_least _ _ _ _ _ VA)|exact (v_vec _ _ _ _ _ VA)|exact Logic.I|constructor]. }
    destruct (segment (isa_of A) code (of_call A None) _ _ _ _ _ _ _ _ _ s E HW (read (mem m) (gpr m (state A)) size) B (pc m) m P)
      as (env & k & m1 & AG & C & R & REL).
    + rewrite Z.add_0_r, wrap_small by lia; reflexivity.
    + repeat constructor; cbn [fst snd number_is]; rewrite ?BS, ?BT, Z.add_0_r, wrap_small by lia; reflexivity.
    + intros env Q; constructor.
    + intros env Q; constructor; [|constructor; [|constructor]]; unfold holds; cbn [start content].
      * rewrite BS, input_length, (input_is env (read (mem m) (gpr m (state A)) size)) by (auto; rewrite ?read_length; lia).
        cbn [skipn]; rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
      * rewrite BT, evs_const, map_length; exact CT.
    + assert (FR : same_outside (buffers A constants size m) (mem m) (mem m1)).
      { intros a NA; apply (r_frame _ _ _ _ _ _ _ _ _ REL); rewrite LAY; intros (g & J & W & K).
        inversion NA as [|? ? N1 _]; subst; destruct J as [<-|[<-|[]]]; [|discriminate].
        unfold inside in K; rewrite BS in K; exact (N1 eq_refl K). }
      assert (AT : at_return A code m m1).
      { constructor.
        - rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HPC; apply wrap_small; lia.
        - intros r J; apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
        - intros r J; apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
        - intros r J; pose proof (cleared_end _ _ _ _ _ _ _ _ _ REL _ (v_least _ _ _ _ _ VA) HC) as Y; rewrite Forall_forall in Y; exact (Y r J). }
      destruct (return_step V _ _ _ _ EN CALL AT FR) as (m2 & S2 & RT & ME & TR).
      exists (k + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; fold A in S2; rewrite S2; reflexivity|].
      split; [exact RT|]; rewrite ME, TR; split; [|split; [exact FR|]].
      * pose proof (r_layout _ _ _ _ _ _ _ _ _ REL) as LY; rewrite LAY in LY.
        pose proof (r_mem _ _ _ _ _ _ _ _ _ REL) as MM.
        destruct (s_mem s) as [|g gs]; [discriminate|]; inversion MM as [|? ? MG MS]; subst.
        pose proof (f_equal (fun l => match l with g :: _ => g | [] => (0%nat, false, 0%nat) end) LY) as H1; cbn [map layout] in H1.
        pose proof (f_equal (fun t => fst (fst t)) H1) as G1; pose proof (f_equal snd H1) as G2; unfold layout_of in G1, G2; cbn [fst snd] in G1, G2.
        apply word_eqb_eq in HG; rewrite G1, G2, BS in MG; rewrite MG, HG, GS.
        -- rewrite (input_is env (read (mem m) (gpr m (state A)) size)) by (auto; rewrite ?read_length; lia).
           cbn [skipn]; rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
        -- eapply consistent_older; [|exact C]; exact (srun_extends _ _ _ env _ _ _ _ E).
      * rewrite (r_trace _ _ _ _ _ _ _ _ _ REL), <- app_assoc; reflexivity.
Qed.

(** The kernel for one state: the arguments are the addresses of state and table. *)
Definition permutes (V : convention) (code : list byte) : Prop :=
  exists accesses : Z -> Z -> Z -> Z -> list event, forall m : machine,
  let state := gpr m (argument (abi_of V) 0) in let table := gpr m (argument (abi_of V) 1) in
  let buffers := [(true, (state, 128)); (false, (table, 1152))] in
  called V code buffers m -> read (mem m) table 1152 = round_constants ->
  ends V code buffers (accesses (pc m) (pointer V m) state table) m (fun h =>
    read h state 128 = permute (read (mem m) state 128)).

Theorem permutes_state (V : convention) {P : proper V} code :
  checks (abi_of V) code round_constants 128 one = true -> ends_in_return (abi_of V) code -> permutes V code.
Proof.
  intros CH EN; pose proof (permute_sound V code round_constants 128 one permute ltac:(lia) one_sound CH EN) as H.
  unfold buffers in H; rewrite table_length in H; exact H.
Qed.
