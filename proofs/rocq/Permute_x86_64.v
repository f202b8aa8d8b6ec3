(** * Permute_x86_64: the machine code of the permutation computes the permutation *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment X86_64 Kernels_x86_64 Call_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

Definition code := Kernels_x86_64.permute.

Definition goal : list sbyte * list node := spermute (input 0 128) [].

Definition regions : list region := [Region rdi true (input 0 128); Region rsi false (map const round_constants)].

Definition layout : list (nat * bool * nat) := [(rdi, true, 128%nat); (rsi, false, 1152%nat)].

Definition found : option symbolic :=
  srun x86_64 code None 2000 (Z.of_nat (length code) - 1)
    (started 0 [(rdi, (Some rdi, 0)); (rsi, (Some rsi, 0))] [] regions (snd goal) 16 16).

Definition checks : bool :=
  match found with
  | Some s =>
      (s_pc s =? Z.of_nat (length code) - 1) && sane code layout s && forallb (cleared_ok (s_vec s)) (seq 0 16) &&
      match s_mem s with g :: _ => word_eqb (content g) (fst goal) | [] => false end
  | None => false
  end.

Lemma checks_hold : checks = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Lemma layout_is : map layout_of regions = layout.
Proof. vm_compute; reflexivity. Qed.

Lemma code_ends : sfetch x86_64 (lengths x86_64) (skipn (length code - 1) code) = Some (ret, 1%nat).
Proof. vm_compute; reflexivity. Qed.

Lemma code_length : length code = 1134%nat.
Proof. vm_compute; reflexivity. Qed.

Lemma table_length : length round_constants = 1152%nat.
Proof. vm_compute; reflexivity. Qed.

Lemma goal_sound env : extends [] (snd goal) /\ (consistent env (snd goal) -> evs env (fst goal) = Simpira1024.permute (evs env (input 0 128))).
Proof. unfold goal; destruct (spermute (input 0 128) []) as [w n] eqn:E; apply (spermute_sound env) in E; exact E. Qed.

Lemma input_length a n : length (input a n) = n.
Proof. unfold input; now rewrite map_length, seq_length. Qed.

Opaque code goal round_constants input Simpira1024.permute.

Definition buffers (m : machine) : list buffer := [(true, (gpr m rdi, 128)); (false, (gpr m rsi, 1152))].

Theorem permute_x86_64 :
  exists accesses : Z -> Z -> Z -> Z -> list event, forall m : machine,
  called code (buffers m) m ->
  read (mem m) (gpr m rsi) 1152 = round_constants ->
  Forall (allowed code (buffers m) m) (accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi)) /\
  exists k m', run x86_64 k m = Some m' /\ returned m m' /\
    read (mem m') (gpr m rdi) 128 = Simpira1024.permute (read (mem m) (gpr m rdi) 128) /\
    (forall a, ~ gpr m rdi <= a < gpr m rdi + 128 -> mem m' a = mem m a) /\
    trace m' = accesses (pc m) (gpr m rsp) (gpr m rdi) (gpr m rsi) ++ trace m.
Proof.
  pose proof checks_hold as H; unfold checks in H.
  destruct found as [s|] eqn:E; [|discriminate]; unfold found in E.
  apply andb_prop in H as [H HG]; apply andb_prop in H as [H HC]; apply andb_prop in H as [HPC HS].
  apply andb_prop in HS as [HS HE]; apply andb_prop in HS as [HW HU]; apply Z.eqb_eq in HPC.
  exists (fun at_ stack state table =>
    Read stack 8 :: Fetch (at_ + (Z.of_nat (length code) - 1)) 1 ::
    map (event_is (fun u => if (u =? rdi)%nat then state else table) at_) (s_trace s)).
  intros m [CC CV CR CA] CT.
  set (B := fun u => if (u =? rdi)%nat then gpr m rdi else gpr m rsi).
  inversion CR as [|? ? R1 R2]; subst; inversion R2 as [|? ? R3 R4]; subst; cbn [code_part return_address fst snd] in R1, R3.
  assert (F : Forall2 (lies B) layout (buffers m)).
  { repeat constructor; unfold within; cbn; lia. }
  split.
  - constructor; [|constructor].
    + apply Exists_cons_hd; unfold within; cbn [return_address fst snd]; lia.
    + unfold allowed, within, code_part; cbn [fst snd]; rewrite code_length; lia.
    + apply (events_allowed B code (buffers m) m layout); assumption.
  - assert (P : placed code None B (pc m) m (map layout_of regions)).
    { rewrite layout_is; apply placed_in with (buffers m); auto.
      - intro r; rewrite CV; lia.
      - inversion CA as [|? ? Q1 Q2]; subst; inversion Q2; subst; inversion Q1; subst; constructor; assumption. }
    destruct (segment x86_64 code None _ _ _ _ _ _ _ _ _ s E HW (read (mem m) (gpr m rdi) 128) B (pc m) m P)
      as (env & k & m1 & AG & C & R & REL).
    + rewrite Z.add_0_r, wrap_small; [reflexivity|]; rewrite code_length in R1; lia.
    + inversion R4 as [|? ? R5 R6]; subst; inversion R6 as [|? ? R7 R8]; subst; cbn [fst snd] in R5, R7.
      repeat constructor; cbn [fst snd number_is]; unfold B; cbn [Nat.eqb rdi rsi]; rewrite Z.add_0_r, wrap_small; auto; lia.
    + intros env A; constructor.
    + intros env A; constructor; [|constructor; [|constructor]]; unfold holds; cbn [start content].
      * rewrite input_length, (input_is env (read (mem m) (gpr m rdi) 128)) by (auto; rewrite ?read_length; lia).
        cbn [skipn]; rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
      * rewrite evs_const, map_length, table_length; exact CT.
    + assert (SP : gpr m1 rsp = gpr m rsp).
      { apply (same_gpr _ _ _ _ _ _ _ _ REL); rewrite forallb_forall in HU; apply HU; cbn; tauto. }
      destruct (ret_at code env B (pc m) m _ None s m1 P REL HPC code_ends) as (m2 & S & PC2 & G2 & V2 & M2 & T2).
      * rewrite code_length; lia.
      * rewrite SP; lia.
      * exists (k + 1)%nat, m2; split; [rewrite (run_app _ _ _ _ _ R); cbn [run]; rewrite S; reflexivity|].
        assert (FR : forall a, ~ gpr m rdi <= a < gpr m rdi + 128 -> mem m1 a = mem m a).
        { intros a NA; apply (r_frame _ _ _ _ _ _ _ _ REL); rewrite layout_is; intros (g & J & W & K).
          destruct J as [<-|[<-|[]]]; [|discriminate]; unfold inside, B in K; cbn in K; lia. }
        repeat split.
        -- rewrite PC2, SP; do 2 f_equal; apply read_same; intros a A; apply FR.
           inversion CA as [|? ? Q1 Q2]; subst; inversion Q2 as [|? ? Q3 Q4]; subst; inversion Q3 as [|? ? Q5 Q6]; subst.
           specialize (Q5 (or_intror eq_refl)); unfold disjoint in Q5; cbn [return_address fst snd] in Q5; lia.
        -- rewrite G2; cbn [Nat.eqb rsp]; rewrite SP; reflexivity.
        -- apply Forall_forall; intros r J; rewrite G2.
           assert (U : unknown (s_gpr s) r = true /\ (r =? rsp)%nat = false).
           { clear - HU J; rewrite forallb_forall in HU.
             repeat destruct J as [<-|J]; try destruct J; (split; [apply HU; cbn [In]; tauto|reflexivity]). }
           destruct U as [U1 U2]; rewrite U2; apply (same_gpr _ _ _ _ _ _ _ _ REL); exact U1.
        -- rewrite V2; exact (cleared_end _ _ _ _ _ _ _ _ REL _ HC).
        -- rewrite M2; destruct goal_sound with env as [_ GS].
           pose proof (r_layout _ _ _ _ _ _ _ _ REL) as LY; rewrite layout_is in LY.
           pose proof (r_mem _ _ _ _ _ _ _ _ REL) as MM.
           destruct (s_mem s) as [|g gs]; [discriminate|]; inversion MM as [|? ? MG MS]; subst.
           assert (LG : start g = rdi /\ length (content g) = 128%nat).
           { pose proof (f_equal (fun l => match l with g :: _ => g | [] => (0%nat, false, 0%nat) end) LY) as H1.
             cbn [map layout] in H1; split; [exact (f_equal (fun t => fst (fst t)) H1)|exact (f_equal snd H1)]. }
           destruct LG as [LG1 LG2]; apply word_eqb_eq in HG.
           rewrite LG1, LG2 in MG; change (B rdi) with (gpr m rdi) in MG; rewrite MG, HG, GS.
           ++ rewrite (input_is env (read (mem m) (gpr m rdi) 128)) by (auto; rewrite ?read_length; lia).
              cbn [skipn]; rewrite firstn_all2 by (rewrite read_length; lia); reflexivity.
           ++ eapply consistent_older; [|exact C]; exact (srun_extends _ _ _ env _ _ _ _ E).
        -- rewrite M2; exact FR.
        -- rewrite T2, SP, (r_trace _ _ _ _ _ _ _ _ REL); reflexivity.
Qed.
