(** * Outboard: a chunk and its proof; what length and level are for

    [verify] checks one chunk of a message against digest, length and proof, as the format has it.  [chunk_sound]: if it
    accepts, then the length is the message's and the chunk is its chunk of this number, or [collide_proof] computes two
    queries with one answer.

    The rest shows what goes wrong without a field ([without]): chaining values of two levels are the same without the
    level ([value_needs_level]), digests of two messages without level and length ([tree_needs_level_or_length]), and
    [verify] accepts a wrong length without the length ([verify_needs_length]); in each case without any collision. *)

From Coq Require Import Ascii String List Bool NArith Arith Lia.
From Veriplex Require Import Duplex Framing Protocol KnownAnswers Tree.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** How many chunks a string of this length has. *)
Definition count (len : nat) : nat := (len - 1) / chunk_len + 1.

Section Verify.
Variable D : query -> list byte.
Variable B : list op.

(** The string of level [k] has [len] bytes; [ps] has its chunk number [i] and those above, each with the chaining value
    of the one before, in a message of [total] bytes. *)
Fixpoint verify_from (digest : list byte) (total k len i : nat) (ps : list (list byte)) : bool :=
  match ps with
  | [] => false
  | p :: rest =>
      (i <? count len) && (length p =? Nat.min chunk_len (len - chunk_len * i)) &&
      match rest with
      | [] => (len <=? chunk_len) && same (D (root B k p (N.of_nat total) (length digest))) digest
      | q :: _ =>
          (chunk_len <? len) && same (D (node B k p)) (firstn cv_len (skipn (cv_len * (i mod 128)) q)) &&
          verify_from digest total (S k) (cv_len * count len) (i / 128) rest
      end
  end.

(** A proof has the highest level first. *)
Definition verify (digest : list byte) (total i : nat) (chunk : list byte) (proof : list (list byte)) : bool :=
  verify_from digest total 0 total i (chunk :: rev proof).

(** The proof of chunk [i], the lowest level first. *)
Fixpoint proof_from (fuel k i : nat) (x : list byte) : list (list byte) :=
  match fuel with
  | O => []
  | S fuel =>
      if length x <=? chunk_len then []
      else let y := above D B k x in nth (i / 128) (cut chunk_len y) [] :: proof_from fuel (S k) (i / 128) y
  end.

Definition proof_of (m : list byte) (i : nat) : list (list byte) := rev (proof_from (length m) 0 i m).

(** ** The collision *)

(** The highest level at which a chunk of [ps] is not the message's, whose string of level [k] is [x]. *)
Fixpoint differ_above (k i : nat) (x : list byte) (ps : list (list byte)) : option (query * query) :=
  match ps with
  | p :: (_ :: _) as rest =>
      match differ_above (S k) (i / 128) (above D B k x) rest with
      | Some qs => Some qs
      | None =>
          let c := nth i (cut chunk_len x) [] in
          if bytes_eq_dec c p then None else Some (node B k c, node B k p)
      end
  | _ => None
  end.

Definition collide_proof (m : list byte) (n total i : nat) (chunk : list byte) (proof : list (list byte)) :
    option (query * query) :=
  let ps := chunk :: rev proof in
  let r1 := top D B m n in
  let r2 := root B (length proof) (last ps []) (N.of_nat total) n in
  if query_eq_dec r1 r2 then differ_above 0 i m ps else Some (r1, r2).
End Verify.

(** ** Slices *)

Lemma same_eq x : forall y, same x y = true -> x = y.
Proof.
  induction x as [|a x IH]; intros [|b y] E; try discriminate; auto; cbn [same] in E.
  apply andb_prop in E as [E F]; apply N.eqb_eq in E as ->; f_equal; auto.
Qed.

Lemma cut_count : forall x, length (cut chunk_len x) = count (length x).
Proof.
  apply (by_length chunk_len chunk_len_positive); intros x L; rewrite (cut_step _ chunk_len_positive x); unfold count;
    destruct (Nat.leb_spec (length x) chunk_len) as [S|S]; try lia.
  - rewrite Nat.div_small; [reflexivity|pose proof chunk_len_positive; lia].
  - intro E; cbn [length]; rewrite E; unfold count; rewrite skipn_length.
    replace (length x - 1) with (length x - chunk_len - 1 + 1 * chunk_len) by lia.
    rewrite Nat.div_add by (pose proof chunk_len_positive; lia); lia.
Qed.

Lemma skip_skip {A} b : forall a (x : list A), skipn a (skipn b x) = skipn (b + a) x.
Proof. induction b as [|b IH]; intros a x; auto; destruct x; cbn [skipn Nat.add]; auto using skipn_nil. Qed.

Lemma cut_nth j : forall size x q, 0 < size -> nth_error (cut size x) j = Some q ->
  q = firstn size (skipn (size * j) x).
Proof.
  induction j as [|j IH]; intros size x q Z E; rewrite (cut_step _ Z) in E;
    destruct (Nat.leb_spec (length x) size).
  - injection E as <-; rewrite Nat.mul_0_r; cbn [skipn]; now rewrite firstn_all2.
  - injection E as <-; now rewrite Nat.mul_0_r.
  - now destruct j.
  - apply IH in E as ->; auto; rewrite skip_skip; f_equal; f_equal; lia.
Qed.

Lemma concat_slice {A} (f : A -> list byte) n d : (forall c, length (f c) = n) -> forall cs i, i < length cs ->
  firstn n (skipn (n * i) (concat (map f cs))) = f (nth i cs d).
Proof.
  intro L; induction cs as [|c cs IH]; intros i I; [simpl in I; lia|].
  destruct i as [|i]; cbn [map concat nth length] in *.
  - rewrite Nat.mul_0_r; cbn [skipn]; rewrite firstn_app, L, Nat.sub_diag, firstn_O, app_nil_r.
    rewrite <- (L c); apply firstn_all.
  - rewrite Nat.mul_succ_r, skipn_app, L, skipn_all2 by (rewrite L; lia); cbn [app].
    replace (n * i + n - n) with (n * i) by lia; apply IH; lia.
Qed.

(** The chaining value of chunk [i] is in chunk [i / 128] of the string above. *)
Lemma value_slice {A} (f : A -> list byte) cs d i q : (forall c, length (f c) = cv_len) -> i < length cs ->
  nth_error (cut chunk_len (concat (map f cs))) (i / 128) = Some q ->
  firstn cv_len (skipn (cv_len * (i mod 128)) q) = f (nth i cs d).
Proof.
  intros L I E; apply cut_nth in E as ->; [|apply chunk_len_positive].
  pose proof (Nat.div_mod i 128) as Q; pose proof (Nat.mod_upper_bound i 128) as R.
  rewrite <- (concat_slice f cv_len d L cs i I).
  rewrite skipn_firstn_comm, skip_skip, firstn_firstn.
  replace (Nat.min cv_len (chunk_len - cv_len * (i mod 128))) with cv_len.
  - f_equal; f_equal; revert Q R; unfold chunk_len, cv_len; generalize (i mod 128) (i / 128); intros; lia.
  - revert R; unfold chunk_len, cv_len; generalize (i mod 128); intros; lia.
Qed.

(** ** Soundness *)

Section Sound.
Variable D : query -> list byte.
Hypothesis D_length : forall T l n, length (D (T, l, n)) = n.
Variable B : list op.

Lemma differ_above_sound digest total ps : forall fuel k i x,
  verify_from D B digest total k (length x) i ps = true ->
  climb D B fuel k x = (k + (length ps - 1), last ps []) -> length x <= fuel ->
  match differ_above D B k i x ps with
  | Some (q1, q2) => q1 <> q2 /\ D q1 = D q2
  | None => nth_error (cut chunk_len x) i = Some (hd [] ps)
  end.
Proof.
  induction ps as [|p ps IH]; intros fuel k i x V C F; [discriminate|].
  cbn [verify_from] in V; apply andb_prop in V as [V W]; apply andb_prop in V as [V _]; apply Nat.ltb_lt in V.
  rewrite <- cut_count in V; destruct ps as [|q ps].
  - apply andb_prop in W as [W _]; cbn [differ_above hd].
    assert (X : climb D B fuel k x = (k, x)) by (destruct fuel; cbn [climb]; [auto|now rewrite W]).
    rewrite X in C; cbn [last] in C; assert (x = p) as -> by congruence.
    rewrite (cut_step _ chunk_len_positive), W in *; cbn [length] in V; now replace i with 0 by lia.
  - apply andb_prop in W as [W R]; apply andb_prop in W as [L S]; apply Nat.ltb_lt in L; apply same_eq in S.
    destruct fuel as [|fuel]; [lia|]; cbn [climb] in C.
    destruct (Nat.leb_spec (length x) chunk_len); [lia|].
    pose proof (above_shrinks D D_length B k x L) as Less.
    assert (A : length (above D B k x) = cv_len * count (length x)).
    { unfold above; rewrite (concat_values _ cv_len) by (intro; apply D_length); now rewrite cut_count. }
    specialize (IH fuel (Datatypes.S k) (i / 128) (above D B k x)).
    rewrite A in IH; specialize (IH R); rewrite <- A in IH.
    cbn [length] in *; rewrite Nat.sub_succ, Nat.sub_0_r in *.
    change (last (p :: q :: ps) []) with (last (q :: ps) []) in C.
    replace (Datatypes.S k + length ps) with (k + Datatypes.S (length ps)) in IH by lia.
    specialize (IH C ltac:(lia)).
    change (differ_above D B k i x (p :: q :: ps)) with
      (match differ_above D B (Datatypes.S k) (i / 128) (above D B k x) (q :: ps) with
       | Some qs => Some qs
       | None => let c := nth i (cut chunk_len x) [] in
                 if bytes_eq_dec c p then None else Some (node B k c, node B k p)
       end).
    destruct (differ_above D B (Datatypes.S k) (i / 128) (above D B k x) (q :: ps)) as [[q1 q2]|]; [exact IH|].
    cbn [hd] in *; unfold above in IH.
    apply (value_slice _ _ []) in IH; [|intro; apply D_length|exact V].
    cbv zeta; destruct (bytes_eq_dec (nth i (cut chunk_len x) []) p) as [<-|N].
    + apply nth_error_nth'; exact V.
    + split; [|rewrite S, IH; reflexivity].
      intro Q; apply node_injective in Q as (_ & _ & Q); congruence.
Qed.

(** The root that [verify] asks for has the digest as its answer. *)
Lemma verify_root digest total ps : forall k len j, ps <> [] -> verify_from D B digest total k len j ps = true ->
  D (root B (k + (length ps - 1)) (last ps []) (N.of_nat total) (length digest)) = digest.
Proof.
  induction ps as [|p ps IH]; intros k len j N V; [congruence|].
  cbn [verify_from] in V; apply andb_prop in V as [_ V]; destruct ps as [|q ps].
  - apply andb_prop in V as [_ V]; apply same_eq in V; cbn [length last]; now rewrite Nat.add_0_r.
  - apply andb_prop in V as [_ V]; apply IH in V; [|discriminate].
    rewrite <- V at 2; cbn [length]; change (last (p :: q :: ps) []) with (last (q :: ps) []).
    rewrite !Nat.sub_succ, !Nat.sub_0_r, Nat.add_succ_comm; reflexivity.
Qed.

Theorem chunk_sound m n total i chunk proof :
  (N.of_nat (length m) < 2 ^ 64)%N -> (N.of_nat total < 2 ^ 64)%N ->
  verify D B (tree D B m n) total i chunk proof = true ->
  match collide_proof D B m n total i chunk proof with
  | Some (q1, q2) => q1 <> q2 /\ D q1 = D q2
  | None => total = length m /\ nth_error (cut chunk_len m) i = Some chunk
  end.
Proof.
  intros M T V; unfold verify in V; unfold collide_proof.
  assert (W : length (tree D B m n) = n).
  { unfold tree, top; destruct (climb D B (length m) 0 m); apply D_length. }
  pose proof (verify_root _ _ (chunk :: rev proof) 0 total i ltac:(discriminate) V) as E.
  rewrite W in E; cbn [length] in E; rewrite Nat.sub_succ, Nat.sub_0_r, rev_length in E; cbn [Nat.add] in E.
  destruct (query_eq_dec (top D B m n) (root B (length proof) (last (chunk :: rev proof) []) (N.of_nat total) n))
    as [Q|Q]; [|split; auto].
  unfold top in Q; destruct (climb D B (length m) 0 m) as [k x] eqn:C.
  apply root_injective in Q as (_ & -> & -> & Q & _); auto.
  assert (total = length m) as -> by lia.
  pose proof (differ_above_sound _ _ _ (length m) 0 i m V) as S.
  cbn [length] in S; rewrite Nat.sub_succ, Nat.sub_0_r, rev_length in S; specialize (S C (le_n _)).
  destruct (differ_above D B 0 i m (chunk :: rev proof)) as [[q1 q2]|]; auto.
Qed.
End Sound.

(** ** What level and length are for *)

(** A query without the operations with this label. *)
Definition without (l : list byte) (q : query) : query :=
  let '(T, m, n) := q in (filter (fun o => if bytes_eq_dec (label o) l then false else true) T, m, n).

(** Both values are the answer to one query: nothing that Derive does can help. *)
Theorem value_needs_level (D : query -> list byte) (B : list op) (part : list byte) :
  let D' := fun q => D (without (text "level") q) in
  value D' B 1 part = value D' B 0 (above D' B 0 part).
Proof.
  unfold value; cbn [up]; unfold node, begin, without; now rewrite !filter_app.
Qed.

(** A string of level 1 is a message with the same digest, for every message of two chunks or more. *)
Theorem tree_needs_level_or_length (D : query -> list byte) (B : list op) (m : list byte) (n : nat) :
  (forall T l n, length (D (T, l, n)) = n) -> chunk_len < length m ->
  let D' := fun q => D (without (text "length") (without (text "level") q)) in
  tree D' B m n = tree D' B (above D' B 0 m) n /\ length (above D' B 0 m) < length m.
Proof.
  intros L M D'.
  assert (L' : forall T l n, length (D' (T, l, n)) = n) by (intros; apply L).
  assert (A : forall k j x, above D' B k x = above D' B j x).
  { intros k j x; unfold above; f_equal; apply map_ext; intro c.
    unfold D', node, begin, without; now rewrite !filter_app. }
  assert (R : forall k j x len len', D' (root B k x len n) = D' (root B j x len' n)).
  { intros k j x len len'; unfold D', root, begin, without; now rewrite !filter_app. }
  assert (C : forall fuel k j x, snd (climb D' B fuel k x) = snd (climb D' B fuel j x)).
  { induction fuel as [|fuel IH]; intros k j x; cbn [climb]; auto.
    destruct (length x <=? chunk_len); auto; rewrite (A k j); apply IH. }
  pose proof (above_shrinks D' L' B 0 m M) as S; split; [|exact S].
  unfold tree, top; rewrite (climb_step D' L' B 0 m); destruct (Nat.leb_spec (length m) chunk_len); [lia|].
  specialize (C (length (above D' B 0 m)) 1 0 (above D' B 0 m)).
  destruct (climb D' B _ 1 _) as [k x], (climb D' B _ 0 _) as [j y]; cbn [snd] in C; subst y; apply R.
Qed.

(** A function in the place of Derive that is good enough for an example: a sum in which the order counts. *)
Definition sum (x : list byte) : N := fold_left (fun s b => ((s * 257 + b + 1) mod 1000003)%N) x 0%N.

Definition content (o : op) : list byte :=
  match o with Init l => l | Mix l x => l ++ x | _ => [] end.

Definition example (q : query) : list byte :=
  let '(T, l, n) := q in
  firstn n (Simpira1024.little_endian n (sum (flat_map content T ++ l))).

Definition example_message : list byte := map (fun i => N.of_nat (i mod 251)) (seq 0 4101).

(** [collide], run: all chunks have one chaining value here, and two messages differ in the last byte. *)
Example collide_example :
  let D (q : query) := let '(_, l, n) := q in if bytes_eq_dec l (text "cv") then repeat 0%N n else example q in
  let B := base (text "example") (Some [7%N]) in
  let m1 := example_message in
  let m2 := firstn 4100 m1 ++ [9%N] in
  (same (tree D B m1 32) (tree D B m2 32), collide D B m1 32 B m2 32)
  = (true, (node B 0 (skipn 4096 m1), node B 0 (skipn 4096 m2))).
Proof. vm_compute; reflexivity. Qed.

(** A true chunk is accepted; another one and a wrong length are not. *)
Example verify_example :
  let B := base (text "example") None in
  let digest := tree example B example_message 32 in
  let chunk := nth 1 (cut chunk_len example_message) [] in
  let proof := proof_of example B example_message 1 in
  map (fun '(total, i, c) => verify example B digest total i c proof)
    [(4101, 1, chunk); (4101, 1, map (N.add 1) chunk); (4101, 0, chunk); (4102, 1, chunk ++ [0%N])]
  = [true; false; false; false].
Proof. vm_compute; reflexivity. Qed.

(** Without the length a chunk is accepted in a message that is said to be longer. *)
Example verify_needs_length :
  let B := base (text "example") None in
  let chunk := nth 0 (cut chunk_len example_message) [] in
  let accepts (D : query -> list byte) total :=
    verify D B (tree D B example_message 32) total 0 chunk (proof_of D B example_message 0) in
  (length example_message, map (accepts example) [4101; 4102],
    map (accepts (fun q => example (without (text "length") q))) [4101; 4102])
  = (4101, [true; false], [true; true]).
Proof. vm_compute; reflexivity. Qed.
