(** * DuplexMachine: transcripts computed by calls of kernels

    [ran] says which bytes a caller gets that follows the format and leaves the permutation and whole blocks to kernels.
    The caller may choose which bytes go through a kernel for blocks and which one by one.  [duplex_machine]: if the
    kernels compute the specification, state, indices and outputs are those of the model (Protocol.v). *)

From Coq Require Import List Bool NArith Arith Lia.
From Veriplex Require Import AES Simpira1024 DuplexBlocks Duplex Protocol.
From Veriplex Require Veriplex Framing.
Import ListNotations.

Notation P := Simpira1024.permute.

(** What kernels compute, as relations of the state before, the data, the state after, and the output. *)
Record kernels := Kernels {
  permutes : list byte -> list byte -> Prop;
  absorbs : list byte -> list (list byte) -> list byte -> Prop;
  squeezes : list byte -> nat -> list byte -> list (list byte) -> Prop;
  encrypts : list byte -> list (list byte) -> list byte -> list (list byte) -> Prop;
  decrypts : list byte -> list (list byte) -> list byte -> list (list byte) -> Prop
}.

(** The kernels compute the specification (DuplexBlocks.v). *)
Record faithful (K : kernels) : Prop := Faithful {
  permutes_is s s' : permutes K s s' -> s' = P s;
  absorbs_is s cs s' : absorbs K s cs s' -> s' = absorb_blocks s cs;
  squeezes_is s n s' ds : squeezes K s n s' ds -> squeeze_blocks n s = (s', ds);
  encrypts_is s cs s' ds : encrypts K s cs s' ds -> encrypt_blocks s cs = (s', ds);
  decrypts_is s cs s' ds : decrypts K s cs s' ds -> decrypt_blocks s cs = (s', ds)
}.

(** ** The duplex of a caller *)

(** The duplex as a program has it, without the list that was added for the proofs. *)
Record bare := Bare { held : list byte; rate_at : nat; frame_at : nat }.

(** A mode of processing: what a byte y of the state and a byte x of the data become; what they output; the kernel. *)
Record mode := Mode {
  stays : byte -> byte -> byte;
  gives : byte -> byte -> byte;
  in_blocks : list byte -> list (list byte) -> list byte -> list (list byte) -> Prop
}.

Section Caller.
Variable K : kernels.

Definition absorbing := Mode N.lxor (fun _ x => x) (fun s cs s' ds => absorbs K s cs s' /\ ds = cs).
Definition squeezing := Mode (fun _ _ => 0%N) (fun y _ => y) (fun s cs s' ds => squeezes K s (length cs) s' ds).
Definition encrypting := Mode N.lxor N.lxor (encrypts K).
Definition decrypting := Mode (fun _ x => x) N.lxor (decrypts K).

Definition permuted (b b' : bare) : Prop :=
  rate_at b' = 0 /\ frame_at b' = 0 /\
  permutes K (xor_at (rate + 1) 128%N (xor_at (rate_at b + 1) 1%N (xor_at (rate_at b) (N.of_nat (frame_at b)) (held
    b))))
    (held b').

(** Store [s] and advance by one byte. *)
Definition advanced (s : list byte) (b b' : bare) : Prop :=
  if rate_at b + 1 =? rate then permuted (Bare s rate (frame_at b)) b' else b' = Bare s (rate_at b + 1) (frame_at b).

(** Bytes one by one, and whole blocks at the beginning of a block without a frame. *)
Inductive passed (M : mode) : list byte -> bare -> list byte -> bare -> Prop :=
  | passed_none b : passed M [] b [] b
  | passed_byte x xs b b1 ys b2 :
      advanced (set_at (rate_at b) (stays M (get (rate_at b) (held b)) x) (held b)) b b1 ->
      passed M xs b1 ys b2 ->
      passed M (x :: xs) b (gives M (get (rate_at b) (held b)) x :: ys) b2
  | passed_blocks cs s s' ds xs ys b2 :
      Forall (fun c => length c = rate) cs -> in_blocks M s cs s' ds ->
      passed M xs (Bare s' 0 0) ys b2 ->
      passed M (concat cs ++ xs) (Bare s 0 0) (concat ds ++ ys) b2.

Definition absorbed (x : list byte) (b b' : bare) : Prop := exists y, passed absorbing x b y b'.
Definition squeezed (n : nat) (b : bare) (y : list byte) (b' : bare) : Prop :=
  exists x, length x = n /\ passed squeezing x b y b'.

Definition framed (id : byte) (b b' : bare) : Prop :=
  exists b1, absorbed [N.of_nat (frame_at b)] b b1 /\ absorbed [id] (Bare (held b1) (rate_at b1) (rate_at b1)) b'.

Definition headed (c : N) (l : list byte) (b b' : bare) : Prop :=
  exists b1 b2, framed c b b1 /\ absorbed l b1 b2 /\ framed (c + 128)%N b2 b'.

(** After the header: the output, which at the receiver is the input. *)
Inductive acted : op -> bare -> list byte -> bare -> Prop :=
  | acted_init l b : acted (Init l) b [] b
  | acted_mix l x b b' : absorbed x b b' -> acted (Mix l x) b [] b'
  | acted_derive l n b b1 b2 y b' :
      absorbed (leb n) b b1 -> permuted b1 b2 -> squeezed n b2 y b' -> acted (Derive l n) b y b'
  | acted_mask l p b b1 c b' : permuted b b1 -> passed encrypting p b1 c b' -> acted (Mask l p) b c b'
  | acted_unmask l p b b1 c b' : permuted b b1 -> passed decrypting c b1 p b' -> acted (Mask l p) b c b'
  | acted_seal l p b b1 b2 c b3 b4 t b' :
      absorbed (leb (length p)) b b1 -> permuted b1 b2 -> passed encrypting p b2 c b3 ->
      permuted b3 b4 -> squeezed tag_length b4 t b' -> acted (Seal l p) b (c ++ t) b'
  | acted_open l p b b1 b2 c b3 b4 t b' :
      absorbed (leb (length c)) b b1 -> permuted b1 b2 -> passed decrypting c b2 p b3 ->
      permuted b3 b4 -> squeezed tag_length b4 t b' -> acted (Seal l p) b (c ++ t) b'
  | acted_fork l i v b b1 b' : absorbed [i] b b1 -> absorbed v b1 b' -> acted (Fork l i v) b [] b'
  | acted_ratchet l b b1 :
      (if rate_at b =? 0 then b1 = b else permuted b b1) ->
      acted (Ratchet l) b [] (Bare (repeat 0%N 32 ++ skipn 32 (held b1)) 32 (frame_at b1)).

(** A transcript, its outputs, and the duplex after it. *)
Inductive ran_from : list op -> bare -> list (list byte) -> bare -> Prop :=
  | ran_none b : ran_from [] b [] b
  | ran_op o T b b1 out b2 outs b' :
      headed (code o) (label o) b b1 -> acted o b1 out b2 -> ran_from T b2 outs b' ->
      ran_from (o :: T) b (out :: outs) b'.

Definition ran (T : list op) : list (list byte) -> bare -> Prop := ran_from T (Bare (repeat 0%N width) 0 0).
End Caller.

(** ** The same for the model *)

Definition bare_of (d : duplex) : bare := Bare (state d) (rate_idx d) (frame_idx d).

Fixpoint outputs_from (T : list op) (d : duplex) : list (list byte) :=
  match T with [] => [] | o :: T => fst (step P o d) :: outputs_from T (snd (step P o d)) end.

Definition outputs (T : list op) : list (list byte) := outputs_from T start.

(** ** Bytes *)

Fixpoint zip (f : byte -> byte -> byte) (ys xs : list byte) : list byte :=
  match ys, xs with y :: ys, x :: xs => f y x :: zip f ys xs | _, _ => [] end.

Lemma zip_length f ys : forall xs, length ys = length xs -> length (zip f ys xs) = length xs.
Proof. induction ys as [|y ys IH]; intros [|x xs] L; simpl in *; try discriminate; auto. Qed.

Lemma zip_lxor ys : forall xs, zip N.lxor ys xs = xor ys xs.
Proof. induction ys as [|y ys IH]; intros [|x xs]; simpl; f_equal; auto. Qed.

Lemma zip_first ys : forall xs, length ys = length xs -> zip (fun y _ => y) ys xs = ys.
Proof. induction ys as [|y ys IH]; intros [|x xs] L; simpl in *; try discriminate; f_equal; auto. Qed.

Lemma zip_second ys : forall xs, length ys = length xs -> zip (fun _ x => x) ys xs = xs.
Proof. induction ys as [|y ys IH]; intros [|x xs] L; simpl in *; try discriminate; f_equal; auto. Qed.

Lemma zip_zero ys : forall xs, length ys = length xs -> zip (fun _ _ => 0%N) ys xs = zero (length xs).
Proof. induction ys as [|y ys IH]; intros [|x xs] L; simpl in *; try discriminate; unfold zero in *; simpl; f_equal;
  auto. Qed.

Lemma xor_app a : forall b c d, length a = length b -> xor (a ++ c) (b ++ d) = xor a b ++ xor c d.
Proof. induction a as [|x a IH]; intros [|y b] c d L; simpl in *; try discriminate; f_equal; auto. Qed.

Lemma xor_zero a : xor a (zero (length a)) = a.
Proof. unfold zero; induction a as [|x a IH]; simpl; [reflexivity|]; now rewrite N.lxor_0_r, IH. Qed.

Lemma xor_at_app k v h t : xor_at (length h + k) v (h ++ t) = h ++ xor_at k v t.
Proof. induction h as [|x h IH]; simpl; [reflexivity|]; now rewrite IH. Qed.

Lemma set_at_app v h y t : set_at (length h) v (h ++ y :: t) = h ++ v :: t.
Proof. induction h as [|x h IH]; simpl; [reflexivity|]; now rewrite IH. Qed.

Lemma get_app h y t : get (length h) (h ++ y :: t) = y.
Proof. unfold get; now rewrite app_nth2, Nat.sub_diag by lia. Qed.

Lemma set_at_length i v s : length (set_at i v s) = length s.
Proof. rewrite set_is_xor; apply xor_at_length. Qed.

Lemma set_lxor i x s : set_at i (N.lxor (get i s) x) s = xor_at i x s.
Proof. now rewrite set_is_xor, <- N.lxor_assoc, N.lxor_nilpotent, N.lxor_0_l. Qed.

Lemma keeps : keeps_length P.
Proof. exact permute_length. Qed.

Opaque Simpira1024.permute.

(** ** Bytes one by one, in the model *)

Section Mode_.
Variable Perm : list byte -> list byte.
Hypothesis HQ : keeps_length Perm.
Variable M : mode.

Fixpoint each (xs : list byte) (d : duplex) : list byte * duplex :=
  match xs with
  | [] => ([], d)
  | x :: xs =>
      let y := get (rate_idx d) (state d) in
      let rest := each xs (advance Perm (set_at (rate_idx d) (stays M y x) (state d)) d) in
      (gives M y x :: fst rest, snd rest)
  end.

Lemma each_app xs ys : forall d,
  each (xs ++ ys) d = (fst (each xs d) ++ fst (each ys (snd (each xs d))), snd (each ys (snd (each xs d)))).
Proof.
  induction xs as [|x xs IH]; intro d; cbn [app each fst snd]; [now destruct (each ys d)|].
  now rewrite IH.
Qed.

Lemma sane_advance s d : length s = width -> rate_idx d < rate -> sane (advance Perm s d).
Proof.
  intros W L; unfold advance; cbn [rate_idx].
  destruct (Nat.eqb_spec (rate_idx d + 1) rate).
  - apply sane_permute_full; [exact HQ|exact W].
  - split; cbn [rate_idx state]; [unfold rate in *; lia|exact W].
Qed.

Lemma sane_each xs : forall d, sane d -> sane (snd (each xs d)).
Proof.
  induction xs as [|x xs IH]; intros d H; [exact H|]; cbn [each snd]; apply IH.
  destruct H as [L W]; apply sane_advance; [now rewrite set_at_length|exact L].
Qed.

Lemma each_inside xs : forall h ys t f ins, length ys = length xs -> length h + length xs < rate ->
  each xs (Duplex (h ++ ys ++ t) (length h) f ins) =
  (zip (gives M) ys xs, Duplex (h ++ zip (stays M) ys xs ++ t) (length h + length xs) f ins).
Proof.
  induction xs as [|x xs IH]; intros h [|y ys] t f ins E L; cbn [length] in E; try discriminate.
  - cbn [each zip length]; now rewrite Nat.add_0_r.
  - cbn [each zip app rate_idx state length] in *; rewrite get_app, set_at_app; unfold advance;
    cbn [rate_idx frame_idx inputs].
    destruct (Nat.eqb_spec (length h + 1) rate); [lia|].
    assert (A : forall v, h ++ v :: ys ++ t = (h ++ [v]) ++ ys ++ t) by (intro; now rewrite <- app_assoc).
    assert (B : length h + 1 = length (h ++ [stays M y x])) by (rewrite app_length; reflexivity).
    rewrite A, B, IH by (rewrite ?app_length; cbn [length]; lia); cbn [fst snd].
    rewrite <- app_assoc, app_length; cbn [length app]; do 2 f_equal; lia.
Qed.

(** A whole block. *)
Definition ended (s : list byte) : list byte := Perm (xor s (zero 94 ++ [0x00; 0x81]%N ++ zero 32)).

Definition block_of (s c : list byte) : list byte * list byte :=
  (ended (zip (stays M) (firstn 94 s) c ++ skipn 94 s), zip (gives M) (firstn 94 s) c).

Lemma padded s i : length s = width -> i = rate ->
  xor_at (rate + 1) 128%N (xor_at (i + 1) 1%N (xor_at i (N.of_nat 0) s)) = xor s (zero 94 ++ [0x00; 0x81]%N ++ zero 32).
Proof.
  intros L ->; rewrite <- (firstn_skipn 94 s); set (h := firstn 94 s); set (t := skipn 94 s).
  assert (H : length h = 94) by (unfold h; rewrite firstn_length; unfold width in L; lia).
  assert (T : length t = 34) by (unfold t; rewrite skipn_length; unfold width in L; lia).
  clearbody h t; rewrite xor_app by (rewrite H; reflexivity).
  replace (xor h (zero 94)) with h by (rewrite <- H, xor_zero; reflexivity).
  replace rate with (length h + 0) at 3 by (rewrite H; reflexivity); rewrite xor_at_app.
  replace (rate + 1) with (length h + 1) by (rewrite H; reflexivity); rewrite !xor_at_app.
  destruct t as [|a [|b t]]; try discriminate T; cbn [xor_at app xor].
  change (N.of_nat 0) with 0%N; rewrite N.lxor_assoc; change (N.lxor 1 128) with 0x81%N.
  f_equal; f_equal; f_equal; injection T as T; rewrite <- T; symmetry; apply xor_zero.
Qed.

Lemma each_block c s ins : length s = width -> length c = rate ->
  exists ins', each c (Duplex s 0 0 ins) = (snd (block_of s c), Duplex (fst (block_of s c)) 0 0 ins').
Proof.
  intros W L; assert (E : exists c0 x, c = c0 ++ [x] /\ length c0 = 93).
  { destruct (exists_last (l := c)) as (c0 & x & ->); [intros ->; discriminate L|]; exists c0, x; split; [reflexivity|].
    rewrite app_length in L; unfold rate in L; simpl in L; lia. }
  destruct E as (c0 & x & -> & L0).
  assert (F : exists ys y t, s = ys ++ y :: t /\ length ys = 93).
  { exists (firstn 93 s); destruct (skipn 93 s) as [|y t] eqn:Q.
    - apply (f_equal (@length _)) in Q; rewrite skipn_length in Q; unfold width in W; simpl in Q; lia.
    - exists y, t; rewrite <- Q, firstn_skipn, firstn_length; unfold width in W; split; [reflexivity|lia]. }
  destruct F as (ys & y & t & -> & Y).
  rewrite each_app.
  pose proof (each_inside c0 [] ys (y :: t) 0 ins ltac:(lia) ltac:(simpl; unfold rate; lia)) as I;
    cbn [app length Nat.add] in I.
  rewrite I; clear I; cbn [fst snd each rate_idx state]; rewrite L0.
  assert (Z1 : length (zip (stays M) ys c0) = 93) by (rewrite zip_length; lia).
  rewrite <- Z1, get_app, set_at_app, Z1; unfold advance; cbn [rate_idx frame_idx inputs].
  change (93 + 1 =? rate) with true; cbv iota.
  assert (A : forall f, zip f (firstn 94 (ys ++ y :: t)) (c0 ++ [x]) = zip f ys c0 ++ [f y x]).
  { intro f; replace 94 with (length ys + 1) by lia; rewrite firstn_app_2; cbn [firstn].
    assert (Q : length ys = length c0) by lia; clear - Q.
    revert c0 Q; induction ys as [|z ys IH]; intros [|w c0] Q; simpl in *; try discriminate; [reflexivity|f_equal;
      apply IH; lia]. }
  assert (S : skipn 94 (ys ++ y :: t) = t).
  { rewrite skipn_app, skipn_all2 by lia; rewrite Y; reflexivity. }
  unfold block_of; rewrite !A, S; cbn [fst snd]; unfold permute; cbn [rate_idx frame_idx state inputs].
  eexists; match goal with |- (_, Duplex ?a _ _ _) = (_, Duplex ?b _ _ _) => assert (Q : b = a) end;
    [|rewrite Q; reflexivity].
  rewrite <- app_assoc; cbn [app]; unfold ended; rewrite padded; [reflexivity| |reflexivity].
  rewrite app_length in *; cbn [length] in *; lia.
Qed.

Fixpoint blocks_of (cs : list (list byte)) (s : list byte) : list byte * list (list byte) :=
  match cs with
  | [] => (s, [])
  | c :: cs => let rest := blocks_of cs (fst (block_of s c)) in (fst rest, snd (block_of s c) :: snd rest)
  end.

Lemma blocks_of_cons c cs s : blocks_of (c :: cs) s =
  (fst (blocks_of cs (fst (block_of s c))), snd (block_of s c) :: snd (blocks_of cs (fst (block_of s c)))).
Proof. reflexivity. Qed.

Lemma ended_length s : length s = width -> length (ended s) = width.
Proof.
  intro L; unfold ended; apply HQ; rewrite xor_length, !app_length; unfold zero; rewrite !repeat_length, L; reflexivity.
Qed.

Lemma block_of_length s c : length s = width -> length c = rate -> length (fst (block_of s c)) = width.
Proof.
  intros W L; cbn [block_of fst]; apply ended_length; rewrite app_length, zip_length, skipn_length;
    rewrite ?firstn_length; unfold width, rate in *; lia.
Qed.

Lemma each_blocks cs : forall s ins, length s = width -> Forall (fun c => length c = rate) cs ->
  exists ins', each (concat cs) (Duplex s 0 0 ins) =
    (concat (snd (blocks_of cs s)), Duplex (fst (blocks_of cs s)) 0 0 ins').
Proof.
  induction cs as [|c cs IH]; intros s ins W F; cbn [concat blocks_of fst snd]; [exists ins; reflexivity|].
  inversion F as [|? ? L F']; subst; destruct (each_block c s ins W L) as (i1 & E1).
  destruct (IH (fst (block_of s c)) i1 (block_of_length s c W L) F') as (i2 & E2).
  exists i2; rewrite each_app, E1; cbn [fst snd]; rewrite E2; reflexivity.
Qed.
End Mode_.

(** ** The kernels' blocks are the model's *)

Section Faithful.
Variable K : kernels.
Hypothesis HK : faithful K.

Lemma rate_of (s : list byte) : length s = width -> length (firstn 94 s) = rate.
Proof. intro L; rewrite firstn_length, L; reflexivity. Qed.

Lemma absorb_block_is s c : length s = width -> length c = rate ->
  absorb_block s c = end_block (zip N.lxor (firstn 94 s) c ++ skipn 94 s).
Proof.
  intros W L; unfold absorb_block; f_equal; rewrite zip_lxor.
  rewrite <- (firstn_skipn 94 s) at 1; rewrite xor_app by (rewrite L; apply rate_of, W).
  f_equal; transitivity (xor (skipn 94 s) (zero (length (skipn 94 s)))); [|apply xor_zero].
  rewrite skipn_length, W; reflexivity.
Qed.

(** The four modes have kernels that do on blocks what the modes do on bytes. *)
Definition does_blocks (M : mode) : Prop := forall s cs s' ds,
  length s = width -> Forall (fun c => length c = rate) cs -> in_blocks M s cs s' ds -> blocks_of P M cs s = (s', ds).

Lemma absorbing_blocks : does_blocks (absorbing K).
Proof.
  intros s cs s' ds W F [H ->]; apply (absorbs_is K HK) in H as ->.
  revert s W; induction cs as [|c cs IH]; intros s W; [reflexivity|]; inversion F as [|? ? L F']; subst.
  rewrite blocks_of_cons, IH by (auto; apply (block_of_length P keeps); assumption); cbn [fst snd].
  assert (E : block_of P (absorbing K) s c = (absorb_block s c, c)).
  { rewrite absorb_block_is by assumption; unfold block_of, ended, end_block; cbn [absorbing stays gives].
    rewrite zip_second by (rewrite rate_of; auto); reflexivity. }
  rewrite E; cbn [fst snd]; reflexivity.
Qed.

Lemma squeezing_blocks : does_blocks (squeezing K).
Proof.
  intros s cs s' ds W F H; cbn [squeezing in_blocks] in H; apply (squeezes_is K HK) in H; rewrite <- H; clear H.
  revert s W; induction cs as [|c cs IH]; intros s W; [reflexivity|]; inversion F as [|? ? L F']; subst.
  rewrite blocks_of_cons; cbn [length squeeze_blocks]; rewrite IH by (auto; apply (block_of_length P keeps);
    assumption).
  assert (E : block_of P (squeezing K) s c = squeeze_block s).
  { unfold block_of, ended, end_block, squeeze_block; cbn [squeezing stays gives].
    rewrite zip_zero, zip_first, L by (rewrite rate_of; auto); reflexivity. }
  rewrite E; reflexivity.
Qed.

Lemma encrypting_blocks : does_blocks (encrypting K).
Proof.
  intros s cs s' ds W F H; cbn [encrypting in_blocks] in H; apply (encrypts_is K HK) in H; rewrite <- H; clear H.
  revert s W; induction cs as [|c cs IH]; intros s W; [reflexivity|]; inversion F as [|? ? L F']; subst.
  rewrite blocks_of_cons; cbn [encrypt_blocks]; rewrite IH by (auto; apply (block_of_length P keeps); assumption).
  assert (E : block_of P (encrypting K) s c = encrypt_block s c).
  { unfold encrypt_block; rewrite absorb_block_is by assumption; unfold block_of, ended, end_block;
    cbn [encrypting stays gives]; rewrite zip_lxor; reflexivity. }
  rewrite E; reflexivity.
Qed.

Lemma decrypting_blocks : does_blocks (decrypting K).
Proof.
  intros s cs s' ds W F H; cbn [decrypting in_blocks] in H; apply (decrypts_is K HK) in H; rewrite <- H; clear H.
  revert s W; induction cs as [|c cs IH]; intros s W; [reflexivity|]; inversion F as [|? ? L F']; subst.
  rewrite blocks_of_cons; cbn [decrypt_blocks]; rewrite IH by (auto; apply (block_of_length P keeps); assumption).
  assert (E : block_of P (decrypting K) s c = decrypt_block s c).
  { unfold block_of, ended, end_block, decrypt_block; cbn [decrypting stays gives].
    rewrite zip_lxor, zip_second by (rewrite rate_of; auto); reflexivity. }
  rewrite E; reflexivity.
Qed.

(** ** From the caller's duplex to the model's *)

Definition stands (b : bare) (d : duplex) : Prop := b = bare_of d /\ sane d.

Lemma permuted_stands b b' d : permuted K b b' -> b = bare_of d -> length (state d) = width -> stands b' (permute P d).
Proof.
  intros (R & F & H) -> W; split; [|apply sane_permute_full; [exact keeps|exact W]].
  apply (permutes_is K HK) in H; destruct b' as [s i f]; cbn [held rate_at frame_at bare_of] in *; subst; reflexivity.
Qed.

Lemma advanced_stands s b b' d : advanced K s b b' -> stands b d -> length s = width -> stands b' (advance P s d).
Proof.
  intros A [-> [L W]] S; split; [|apply (sane_advance P keeps); assumption].
  unfold advanced, advance in *; cbn [rate_at frame_at bare_of rate_idx] in *.
  destruct (Nat.eqb_spec (rate_idx d + 1) rate) as [E|]; [|rewrite A; reflexivity].
  apply (permuted_stands _ _ (Duplex s (rate_idx d + 1) (frame_idx d) (inputs d))) in A as [A _]; [exact A| |exact S].
  unfold bare_of; cbn [state rate_idx frame_idx]; rewrite E; reflexivity.
Qed.

Lemma passed_stands M (HM : does_blocks M) xs b ys b' : passed K M xs b ys b' -> forall d, stands b d ->
  ys = fst (each P M xs d) /\ stands b' (snd (each P M xs d)).
Proof.
  induction 1 as [b|x xs b b1 ys b2 A _ IH|cs s s' ds xs ys b2 F B _ IH]; intros d S.
  - split; [reflexivity|exact S].
  - pose proof S as [-> [L W]]; apply (advanced_stands _ _ _ d) in A; [|exact S|cbn [held rate_at bare_of];
    now rewrite set_at_length].
    destruct (IH _ A) as [-> S']; split; [reflexivity|exact S'].
  - destruct S as [E [L W]]; destruct d as [sd i f ins]; unfold bare_of in E; cbn [state rate_idx frame_idx] in *.
    assert (s = sd) by congruence; assert (i = 0) by congruence; assert (f = 0) by congruence; subst.
    destruct (each_blocks P keeps M cs sd ins W F) as (ins' & EB); pose proof (HM _ _ _ _ W F B) as E';
      rewrite E' in EB; cbn [fst snd] in EB.
    pose proof (sane_each P keeps M (concat cs) (Duplex sd 0 0 ins) (conj L W)) as SE; rewrite EB in SE;
      cbn [snd] in SE.
    destruct (IH (Duplex s' 0 0 ins') (conj eq_refl SE)) as [-> S'].
    rewrite each_app, EB; cbn [fst snd]; split; [reflexivity|exact S'].
Qed.

Lemma each_absorbs xs : forall d, each P (absorbing K) xs d = (xs, absorb P xs d).
Proof.
  induction xs as [|x xs IH]; intro d; [reflexivity|]; cbn [each absorbing stays gives]; rewrite set_lxor.
  fold (absorb1 P x d); rewrite IH, absorb_cons; reflexivity.
Qed.

Lemma each_squeezes xs : forall d, each P (squeezing K) xs d = squeeze P (length xs) d.
Proof.
  induction xs as [|x xs IH]; intro d; [reflexivity|]; cbn [each length squeeze squeezing stays gives]; rewrite IH.
  destruct (squeeze P (length xs) _); reflexivity.
Qed.

Lemma each_encrypts xs : forall d, sane d -> each P (encrypting K) xs d = encrypt P xs d.
Proof.
  induction xs as [|x xs IH]; intros d H; [reflexivity|]; cbn [each encrypt encrypting stays gives]; rewrite set_lxor.
  destruct H as [L W]; rewrite IH by (apply (sane_advance P keeps); [now rewrite xor_at_length|exact L]).
  destruct (encrypt P xs _); cbn [fst snd]; rewrite get_xor_at, Nat.eqb_refl.
  destruct (Nat.ltb_spec (rate_idx d) (length (state d))); [reflexivity|unfold rate, width in *; lia].
Qed.

Lemma each_decrypts xs : forall d, each P (decrypting K) xs d = decrypt P xs d.
Proof.
  induction xs as [|x xs IH]; intro d; [reflexivity|]; cbn [each decrypt decrypting stays gives]; rewrite IH.
  destruct (decrypt P xs _); reflexivity.
Qed.

Lemma absorbed_stands x b b' d : absorbed K x b b' -> stands b d -> stands b' (absorb P x d).
Proof.
  intros (y & H) S; apply (passed_stands _ absorbing_blocks _ _ _ _ H) in S as [_ S]; rewrite each_absorbs in S;
    exact S.
Qed.

Lemma squeezed_stands n b y b' d : squeezed K n b y b' -> stands b d ->
  y = fst (squeeze P n d) /\ stands b' (snd (squeeze P n d)).
Proof.
  intros (x & <- & H) S; apply (passed_stands _ squeezing_blocks _ _ _ _ H) in S; rewrite each_squeezes in S; exact S.
Qed.

Lemma encrypted_stands p b c b' d : passed K (encrypting K) p b c b' -> stands b d ->
  c = fst (encrypt P p d) /\ stands b' (snd (encrypt P p d)).
Proof.
  intros H S; pose proof (proj2 S) as N; apply (passed_stands _ encrypting_blocks _ _ _ _ H) in S.
  rewrite each_encrypts in S by exact N; exact S.
Qed.

(** The receiver's outputs and duplex are the sender's. *)
Lemma decrypted_stands p b c b' d : passed K (decrypting K) c b p b' -> stands b d ->
  c = fst (encrypt P p d) /\ stands b' (snd (encrypt P p d)) /\ length p = length c.
Proof.
  intros H S; pose proof (proj2 S) as N; apply (passed_stands _ decrypting_blocks _ _ _ _ H) in S as [-> S].
  rewrite each_decrypts in *; pose proof (encrypt_decrypt P keeps c d N) as E; rewrite E; cbn [fst snd].
  split; [reflexivity|]; split; [exact S|apply decrypt_length].
Qed.

Lemma permuted_sane b b' d : permuted K b b' -> stands b d -> stands b' (permute P d).
Proof. intros H [E [_ W]]; exact (permuted_stands b b' d H E W). Qed.

Lemma framed_stands id b b' d : framed K id b b' -> stands b d -> stands b' (frame P id d).
Proof.
  intros (b1 & H1 & H2) S; pose proof (proj1 S) as E; apply (absorbed_stands _ _ _ d H1) in S as [E1 [L1 W1]].
  assert (F : frame_at b = frame_idx d) by (rewrite E; reflexivity); rewrite F in *.
  set (d1 := absorb P [N.of_nat (frame_idx d)] d) in *.
  apply (absorbed_stands _ _ _ (Duplex (state d1) (rate_idx d1) (rate_idx d1) (inputs d1)) H2).
  split; [rewrite E1; reflexivity|exact (conj L1 W1)].
Qed.

Lemma headed_stands c l b b' d : headed K c l b b' -> stands b d -> stands b' (header P c l d).
Proof.
  intros (b1 & b2 & H1 & H2 & H3) S; unfold header.
  apply (framed_stands _ _ _ _ H3), (absorbed_stands _ _ _ _ H2), (framed_stands _ _ _ _ H1), S.
Qed.

Lemma acted_stands o b out b' d : acted K o b out b' -> stands b d ->
  out = fst (act P o d) /\ stands b' (snd (act P o d)).
Proof.
  intros H S; destruct H as [l b|l x b b' A|l n b b1 b2 y b' A B C|l p b b1 c b' A B|l p b b1 c b' A B
    |l p b b1 b2 c b3 b4 t b' A B C D E|l p b b1 b2 c b3 b4 t b' A B C D E|l i v b b1 b' A B|l b b1 A];
      cbn [act fst snd].
  - split; [reflexivity|exact S].
  - split; [reflexivity|]; exact (absorbed_stands _ _ _ _ A S).
  - apply (absorbed_stands _ _ _ _ A) in S; apply (permuted_sane _ _ _ B) in S; exact (squeezed_stands _ _ _ _ _ C S).
  - apply (permuted_sane _ _ _ A) in S; exact (encrypted_stands _ _ _ _ _ B S).
  - apply (permuted_sane _ _ _ A) in S; apply (decrypted_stands _ _ _ _ _ B) in S; tauto.
  - apply (absorbed_stands _ _ _ _ A) in S; apply (permuted_sane _ _ _ B) in S.
    apply (encrypted_stands _ _ _ _ _ C) in S as [-> S].
    destruct (encrypt P p _) as [c d1]; cbn [fst snd] in *; apply (permuted_sane _ _ _ D) in S.
    apply (squeezed_stands _ _ _ _ _ E) in S as [-> S]; destruct (squeeze P tag_length _) as [t d2];
      cbn [fst snd] in *; tauto.
  - apply (absorbed_stands _ _ _ _ A) in S; apply (permuted_sane _ _ _ B) in S.
    apply (decrypted_stands _ _ _ _ _ C) in S as (Q & S & N); rewrite <- N in *.
    destruct (encrypt P p _) as [c' d1]; cbn [fst snd] in *; subst c'; apply (permuted_sane _ _ _ D) in S.
    apply (squeezed_stands _ _ _ _ _ E) in S as [-> S]; destruct (squeeze P tag_length _) as [t d2];
      cbn [fst snd] in *; tauto.
  - split; [reflexivity|]; exact (absorbed_stands _ _ _ _ B (absorbed_stands _ _ _ _ A S)).
  - split; [reflexivity|]; unfold ratchet; pose proof (proj1 S) as Q.
    assert (T : stands b1 (if rate_idx d =? 0 then d else permute P d)).
    { rewrite Q in A; cbn [bare_of rate_at] in A; destruct (rate_idx d =? 0); [rewrite A;
      exact (conj eq_refl (proj2 S))|].
      rewrite <- Q in A; exact (permuted_sane _ _ _ A S). }
    destruct T as [-> [_ W]]; split; [reflexivity|]; split; cbn [rate_idx state]; [unfold rate; lia|].
    rewrite app_length, repeat_length, skipn_length, W; reflexivity.
Qed.

Lemma ran_stands T b outs b' : ran_from K T b outs b' -> forall d, stands b d ->
  outs = outputs_from T d /\ stands b' (fold_left (fun d o => snd (step P o d)) T d).
Proof.
  induction 1 as [b|o T b b1 out b2 outs b' H A _ IH]; intros d S; cbn [outputs_from fold_left]; [split;
    [reflexivity|exact S]|].
  apply (headed_stands _ _ _ _ _ H) in S; apply (acted_stands _ _ _ _ _ A) in S as [-> S].
  destruct (IH _ S) as [-> S']; split; [reflexivity|exact S'].
Qed.

Theorem duplex_machine T outs b : ran K T outs b -> outs = outputs T /\ b = bare_of (run P T).
Proof.
  intro H; destruct (ran_stands _ _ _ _ H start) as [O [E _]].
  - split; [reflexivity|]; split; [unfold rate; cbn; lia|apply repeat_length].
  - split; [exact O|exact E].
Qed.
End Faithful.

(** The inputs of the permutation and the bytes of the duplex determine the transcript. *)
Theorem sound K (HK : faithful K) T1 T2 outs1 outs2 b1 b2 :
  (forall o, In o (T1 ++ T2) -> length (label o) <= Framing.label_max) ->
  ran K T1 outs1 b1 -> ran K T2 outs2 b2 ->
  outs1 = outputs T1 /\ b1 = bare_of (run P T1) /\
  (inputs (run P T1) = inputs (run P T2) -> b1 = b2 -> T1 = T2).
Proof.
  intros L R1 R2; destruct (duplex_machine K HK _ _ _ R1) as [O1 E1]; destruct (duplex_machine K HK _ _ _ R2) as [_ E2].
  split; [exact O1|]; split; [exact E1|]; intros I B; apply Veriplex.veriplex_transcript_injective; [exact L|].
  rewrite E1, E2 in B; destruct (run P T1) as [s1 r1 f1 i1], (run P T2) as [s2 r2 f2 i2]; cbn [inputs] in I.
  unfold bare_of in B; cbn [state rate_idx frame_idx] in B; congruence.
Qed.

(** ** Every transcript can be run, with the permutation kernel alone *)

Section Total.
Variable K : kernels.
Hypothesis TOTAL : forall s, length s = width -> exists s', permutes K s s' /\ length s' = width.

Lemma permuted_exists b : length (held b) = width -> exists b', permuted K b b' /\ length (held b') = width.
Proof.
  intro W; destruct (TOTAL (xor_at (rate + 1) 128%N (xor_at (rate_at b + 1) 1%N (xor_at (rate_at b) (N.of_nat
    (frame_at b)) (held b)))))
    as (s' & H & W'); [now rewrite !xor_at_length|].
  exists (Bare s' 0 0); repeat split; assumption.
Qed.

Lemma passed_exists M xs : forall b, length (held b) = width ->
  exists ys b', passed K M xs b ys b' /\ length (held b') = width /\ length ys = length xs.
Proof.
  induction xs as [|x xs IH]; intros b W; [exists [], b; repeat split; auto; constructor|].
  set (s := set_at (rate_at b) (stays M (get (rate_at b) (held b)) x) (held b)).
  assert (A : exists b1, advanced K s b b1 /\ length (held b1) = width).
  { assert (S : length s = width) by (unfold s; now rewrite set_at_length).
    unfold advanced; destruct (rate_at b + 1 =? rate); [exact (permuted_exists (Bare s rate (frame_at b)) S)|].
    exists (Bare s (rate_at b + 1) (frame_at b)); split; [reflexivity|exact S]. }
  destruct A as (b1 & A & W1); destruct (IH b1 W1) as (ys & b2 & R & W2 & L).
  exists (gives M (get (rate_at b) (held b)) x :: ys), b2; repeat split; [|exact W2|cbn [length]; congruence].
  exact (passed_byte K M x xs b b1 ys b2 A R).
Qed.

Lemma absorbed_exists xs b : length (held b) = width -> exists b', absorbed K xs b b' /\ length (held b') = width.
Proof. intro W; destruct (passed_exists (absorbing K) xs b W) as (ys & b' & R & W' & _); exists b'; split;
  [exists ys|]; assumption. Qed.

Lemma squeezed_exists n b : length (held b) = width -> exists y b', squeezed K n b y b' /\ length (held b') = width.
Proof.
  intro W; destruct (passed_exists (squeezing K) (repeat 0%N n) b W) as (y & b' & R & W' & _); exists y, b'; split;
    [|exact W'].
  exists (repeat 0%N n); split; [apply repeat_length|exact R].
Qed.

Lemma framed_exists id b : length (held b) = width -> exists b', framed K id b b' /\ length (held b') = width.
Proof.
  intro W; destruct (absorbed_exists [N.of_nat (frame_at b)] b W) as (b1 & A & W1).
  destruct (absorbed_exists [id] (Bare (held b1) (rate_at b1) (rate_at b1)) W1) as (b2 & B & W2).
  exists b2; split; [exists b1; split; assumption|exact W2].
Qed.

Lemma headed_exists c l b : length (held b) = width -> exists b', headed K c l b b' /\ length (held b') = width.
Proof.
  intro W; destruct (framed_exists c b W) as (b1 & A & W1); destruct (absorbed_exists l b1 W1) as (b2 & B & W2).
  destruct (framed_exists (c + 128)%N b2 W2) as (b3 & C & W3); exists b3; split; [exists b1, b2; repeat split;
    assumption|exact W3].
Qed.

Lemma acted_exists o b : length (held b) = width -> exists out b', acted K o b out b' /\ length (held b') = width.
Proof.
  intro W; destruct o as [l|l x|l n|l p|l p|l i v|l].
  - exists [], b; split; [constructor|exact W].
  - destruct (absorbed_exists x b W) as (b1 & A & W1); exists [], b1; split; [constructor; exact A|exact W1].
  - destruct (absorbed_exists (leb n) b W) as (b1 & A & W1); destruct (permuted_exists b1 W1) as (b2 & B & W2).
    destruct (squeezed_exists n b2 W2) as (y & b3 & C & W3); exists y, b3; split; [econstructor; eassumption|exact W3].
  - destruct (permuted_exists b W) as (b1 & A & W1);
    destruct (passed_exists (encrypting K) p b1 W1) as (c & b2 & B & W2 & _).
    exists c, b2; split; [eapply acted_mask; eassumption|exact W2].
  - destruct (absorbed_exists (leb (length p)) b W) as (b1 & A & W1); destruct (permuted_exists b1 W1) as (b2 & B & W2).
    destruct (passed_exists (encrypting K) p b2 W2) as (c & b3 & C & W3 & _);
      destruct (permuted_exists b3 W3) as (b4 & D & W4).
    destruct (squeezed_exists tag_length b4 W4) as (t & b5 & E & W5).
    exists (c ++ t), b5; split; [eapply acted_seal; eassumption|exact W5].
  - destruct (absorbed_exists [i] b W) as (b1 & A & W1); destruct (absorbed_exists v b1 W1) as (b2 & B & W2).
    exists [], b2; split; [econstructor; eassumption|exact W2].
  - assert (T : exists b1, (if rate_at b =? 0 then b1 = b else permuted K b b1) /\ length (held b1) = width).
    { destruct (rate_at b =? 0); [exists b; split; [reflexivity|exact W]|exact (permuted_exists b W)]. }
    destruct T as (b1 & A & W1); exists [], (Bare (repeat 0%N 32 ++ skipn 32 (held b1)) 32 (frame_at b1)); split;
      [constructor; exact A|].
    cbn [held]; rewrite app_length, repeat_length, skipn_length, W1; reflexivity.
Qed.

Theorem ran_exists T : exists outs b, ran K T outs b.
Proof.
  enough (H : forall b, length (held b) = width -> exists outs b', ran_from K T b outs b').
  { apply H, repeat_length. }
  induction T as [|o T IH]; intros b W; [exists [], b; constructor|].
  destruct (headed_exists (code o) (label o) b W) as (b1 & A & W1);
    destruct (acted_exists o b1 W1) as (out & b2 & B & W2).
  destruct (IH b2 W2) as (outs & b3 & C); exists (out :: outs), b3; econstructor; eassumption.
Qed.
End Total.
