(** * Call_x86_64: a call of a kernel, by the System V ABI *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment X86_64 Kernels_x86_64.
Import ListNotations.
Local Open Scope Z_scope.

(** ** Statements about a call *)

(** Parts of memory: a start and a length in bytes. *)
Notation part := (Z * Z)%type (only parsing).

Definition within (a n : Z) (p : part) : Prop := fst p <= a /\ a + n <= fst p + snd p.

Definition disjoint (p q : part) : Prop := fst p + snd p <= fst q \/ fst q + snd q <= fst p.

(** A buffer: whether it is written, and where it is. *)
Notation buffer := (bool * (Z * Z))%type (only parsing).

(** Two buffers do not overlap if one of them is written. *)
Definition compatible (b c : buffer) : Prop := fst b = true \/ fst c = true -> disjoint (snd b) (snd c).

Definition code_part (code : list byte) (m : machine) : buffer := (false, (pc m, Z.of_nat (length code))).
Definition return_address (m : machine) : buffer := (false, (gpr m rsp, 8)).

(** The call: the code is in memory at the program counter; code, return address and buffers lie in the address
    space; a buffer that is written overlaps nothing else. *)
Record called (code : list byte) (buffers : list buffer) (m : machine) : Prop := Called {
  c_code : read (mem m) (pc m) (length code) = code;
  c_vec : forall r, length (vec m r) = 64%nat;
  c_range : Forall (fun b => 0 <= fst (snd b) /\ fst (snd b) + snd (snd b) <= 2 ^ 64)
    (code_part code m :: return_address m :: buffers);
  c_apart : ForallOrdPairs compatible (code_part code m :: return_address m :: buffers)
}.

(** What a kernel may touch: it may fetch its code, read the buffers and the return address, and write those buffers
    that are marked as written. *)
Definition allowed (code : list byte) (buffers : list buffer) (m : machine) (e : event) : Prop :=
  match e with
  | Fetch a n => within a (Z.of_nat n) (snd (code_part code m))
  | Read a n => Exists (fun b => within a (Z.of_nat n) (snd b)) (return_address m :: buffers)
  | Write a n => Exists (fun b => fst b = true /\ within a (Z.of_nat n) (snd b)) buffers
  end.

(** The return: to the return address, which is popped from the stack; the callee-saved registers are unchanged, and
    the vector registers are zero. *)
Record returned (m m' : machine) : Prop := Returned {
  d_pc : pc m' = wrap (number_of (read (mem m) (gpr m rsp) 8));
  d_rsp : gpr m' rsp = wrap (gpr m rsp + 8);
  d_saved : Forall (fun r => gpr m' r = gpr m r) [rbx; rbp; 12; 13; 14; 15]%nat;
  d_cleared : Forall (fun r => vec m' r = zero 64) (seq 0 16)
}.

(** ** The end of a call *)

Section Return.
Variable code : list byte.
Variables (env : N -> byte) (B : nat -> Z) (code_at : Z) (m0 : machine) (L : list (nat * bool * nat)).

Lemma step_at nonzero s m es n : placed code nonzero B code_at m0 L -> related x86_64 env B code_at m0 L s m ->
  0 <= s_pc s < Z.of_nat (length code) ->
  sfetch x86_64 (lengths x86_64) (skipn (Z.to_nat (s_pc s)) code) = Some (es, n) ->
  step x86_64 m = apply_all x86_64 es (log [Fetch (code_at + s_pc s) n] (with_pc (wrap (code_at + s_pc s + Z.of_nat n)) m)) /\
  s_pc s + Z.of_nat n <= Z.of_nat (length code).
Proof.
  intros HP R Q E.
  destruct (p_code_range _ _ _ _ _ _ HP) as [C1 C2].
  assert (PC : pc m = code_at + s_pc s) by (rewrite (r_pc _ _ _ _ _ _ _ _ R); apply wrap_small; lia).
  assert (CODE : read (mem m) code_at (length code) = code).
  { rewrite <- (p_code _ _ _ _ _ _ HP) at 2; apply read_same; intros x X.
    apply (r_frame _ _ _ _ _ _ _ _ R), (p_code_apart _ _ _ _ _ _ HP), X. }
  assert (LEN : length (skipn (Z.to_nat (s_pc s)) code) = (length code - Z.to_nat (s_pc s))%nat) by apply skipn_length.
  destruct (fetch_sound x86_64 m _ _ _ _ E) as [F N].
  { intros k K; rewrite PC; replace (s_pc s) with (Z.of_nat (Z.to_nat (s_pc s))) at 1 by lia.
    rewrite (read_part (mem m) code_at (length code)) by lia; rewrite CODE; reflexivity. }
  split; [|lia]; unfold step; rewrite F.
  assert (FT : fits (pc m) n = true) by (apply Z.leb_le; lia).
  rewrite FT, PC; reflexivity.
Qed.

Lemma ret_at nonzero s m : placed code nonzero B code_at m0 L -> related x86_64 env B code_at m0 L s m ->
  s_pc s = Z.of_nat (length code) - 1 ->
  sfetch x86_64 (lengths x86_64) (skipn (length code - 1) code) = Some (ret, 1%nat) -> (0 < length code)%nat ->
  0 <= gpr m rsp /\ gpr m rsp + 8 <= 2 ^ 64 ->
  exists m', step x86_64 m = Some m' /\
    pc m' = wrap (number_of (read (mem m) (gpr m rsp) 8)) /\
    (forall r, gpr m' r = if (r =? rsp)%nat then wrap (gpr m rsp + 8) else gpr m r) /\
    vec m' = vec m /\ mem m' = mem m /\
    trace m' = Read (gpr m rsp) 8 :: Fetch (code_at + (Z.of_nat (length code) - 1)) 1 :: trace m.
Proof.
  intros HP R PC F N S.
  destruct (step_at nonzero s m ret 1 HP R) as [E _]; [lia| |].
  - rewrite PC; replace (Z.to_nat (Z.of_nat (length code) - 1)) with (length code - 1)%nat by lia; exact F.
  - assert (T : fits (gpr m rsp) 8 = true) by (apply Z.leb_le; lia).
    rewrite E; unfold ret; cbn [apply_all apply log with_pc gpr]; rewrite T.
    eexists; split; [reflexivity|]; cbn [pc gpr vec mem trace log with_pc with_gpr app].
    repeat split; rewrite PC; reflexivity.
Qed.
End Return.

(** ** Buffers and regions *)

Section Regions.
Variable B : nat -> Z.

(** A region of the checker lies in a buffer. *)
Definition lies (g : nat * bool * nat) (b : buffer) : Prop :=
  let '(u, w, n) := g in (w = true -> fst b = true) /\ within (B u) (Z.of_nat n) (snd b).

Lemma lies_inside g b a : lies g b -> inside B a g -> fst (snd b) <= a < fst (snd b) + snd (snd b).
Proof. destruct g as [[u w] n]; unfold lies, inside, within; intros [_ W] J; lia. Qed.

Lemma lies_separate g h b c : lies g b -> lies h c -> compatible b c -> separate B g h.
Proof.
  intros G H C W a J K.
  assert (D : disjoint (snd b) (snd c)).
  { apply C; destruct g as [[u w] n], h as [[v x] k]; cbn [fst snd] in W; destruct W as [W|W]; [left; apply G|right; apply H]; exact W. }
  pose proof (lies_inside _ _ _ G J); pose proof (lies_inside _ _ _ H K); unfold disjoint in D; lia.
Qed.

Lemma placed_in code code_at m nonzero L buffers :
  0 <= code_at /\ code_at + Z.of_nat (length code) <= 2 ^ 64 ->
  read (mem m) code_at (length code) = code ->
  (forall r, (16 <= length (vec m r))%nat) ->
  match nonzero with Some u => 0 < B u < 2 ^ 64 | None => True end ->
  ForallOrdPairs compatible ((false, (code_at, Z.of_nat (length code))) :: buffers) ->
  Forall (fun b => 0 <= fst (snd b) /\ fst (snd b) + snd (snd b) <= 2 ^ 64) buffers ->
  Forall2 lies L buffers ->
  placed code nonzero B code_at m L.
Proof.
  intros C M V N P R F; inversion P as [|? ? PC PB]; subst; constructor; auto.
  - clear - R F; induction F as [|[[u w] n] b L bs G F IH]; [constructor|]; inversion R; subst; constructor; auto.
    destruct G as [_ G]; unfold within in G; lia.
  - clear - PB F; induction F as [|g b L bs G F IH]; cbn [apart]; [exact Logic.I|]; inversion PB as [|? ? Q QS]; subst; split; auto.
    clear - G F Q; induction F as [|h c L bs H F IH]; constructor; inversion Q; subst; auto.
    eapply lies_separate; eassumption.
  - intros a A (g & J & W & K); clear - PC F J W K A.
    induction F as [|h b L bs H F IH]; [destruct J|]; inversion PC; subst.
    destruct J as [->|J]; [|auto].
    assert (D : disjoint (code_at, Z.of_nat (length code)) (snd b)).
    { match goal with Q : compatible _ b |- _ => apply Q end; right; destruct g as [[u w] n]; apply H; exact W. }
    pose proof (lies_inside _ _ _ H K); unfold disjoint in D; cbn [fst snd] in D; lia.
Qed.

(** The accesses that the checker saw are allowed. *)
Lemma events_allowed code buffers m L es :
  Forall2 lies L buffers -> forallb (event_ok code L) es = true ->
  Forall (allowed code buffers m) (map (event_is B (pc m)) es).
Proof.
  intros F H; apply Forall_forall; intros x J; apply in_map_iff in J as (e & <- & J).
  rewrite forallb_forall in H; specialize (H e J).
  assert (X : forall g, In g L -> exists b, In b buffers /\ lies g b).
  { clear - F; induction F as [|g b L bs G F IH]; intros h J; [destruct J|]; destruct J as [<-|J].
    - exists b; split; [now left|exact G].
    - destruct (IH h J) as (c & K & Q); exists c; split; [now right|exact Q]. }
  destruct e as [x n|u x n|u x n]; cbn [event_ok event_is allowed] in *.
  - apply andb_prop in H as [H1 H2]; apply Z.leb_le in H1, H2; unfold within, code_part; cbn [fst snd]; lia.
  - apply existsb_exists in H as ([[v w] l] & K & H).
    apply andb_prop in H as [H H2]; apply andb_prop in H as [H0 H1].
    apply Nat.eqb_eq in H0 as ->; apply Z.leb_le in H1, H2.
    destruct (X _ K) as (b & Q & [_ G]); apply Exists_cons_tl, Exists_exists; exists b; split; [exact Q|].
    unfold within in *; lia.
  - apply existsb_exists in H as ([[v w] l] & K & H).
    apply andb_prop in H as [H H2]; apply andb_prop in H as [H H1]; apply andb_prop in H as [H0 HW].
    apply Nat.eqb_eq in H0 as ->; apply Z.leb_le in H1, H2.
    destruct (X _ K) as (b & Q & [W G]); apply Exists_exists; exists b; split; [exact Q|]; split; [apply W; exact HW|].
    unfold within in *; lia.
Qed.
End Regions.

(** Checks that all pieces share: each argument of a node is older, callee-saved registers are untouched, every
    access is inside a region. *)
Definition sane (code : list byte) (L : list (nat * bool * nat)) (s : symbolic) : bool :=
  well_founded (s_nodes s) && forallb (unknown (s_gpr s)) [rbx; rsp; rbp; 12; 13; 14; 15]%nat &&
  forallb (event_ok code L) (s_trace s).

