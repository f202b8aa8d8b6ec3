(** * Tree: a collision of the parallel digest is a collision of Derive

    How to read this file.

    [tree] is the digest of the format, definition by definition.  Derive is any function [D] that gives as many bytes
    as it is asked for.  What it is asked is a [query]: the transcript before it, its label, the number of bytes.
    [collide] computes two queries from two messages.  The theorems:

    - [tree_collision]: two different triples of base, message and output length have one digest.  Then the two queries
      differ and have one answer, and each was asked on the way to its digest;
    - [value_collision]: the same for the chaining values of two parts of messages, at any levels;
    - [tree_collision_protocol]: the same with Derive of the model of Protocol, for any permutation.  The two queries
      then have different sequences of permutation inputs, because transcripts can be decoded in only one way.

    A base is any transcript; those of the format are [base domain None] and [base domain (Some key)]
    ([digest_collision]). *)

From Coq Require Import Ascii String List Bool NArith Arith Lia.
From Veriplex Require Import Duplex Framing Protocol.
From Veriplex Require Import Simpira1024.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** The bytes of an ASCII text. *)
Definition text (s : string) : list byte := map N_of_ascii (list_ascii_of_string s).

(** ** The format *)

Definition cv_len : nat := 32.
Definition chunk_len : nat := cv_len * 128.

(** Cut into pieces of [size] bytes.  The last one has 1 to [size]; an empty string is one empty piece.  The number of
    bytes is enough fuel. *)
Fixpoint cut_fuel (fuel size : nat) (x : list byte) : list (list byte) :=
  match fuel with
  | O => [x]
  | S fuel =>
      match skipn size x with
      | [] => [x]
      | (_ :: _) as rest => firstn size x :: cut_fuel fuel size rest
      end
  end.

Definition cut (size : nat) (x : list byte) : list (list byte) := cut_fuel (length x) size x.

(** What Derive is asked: the transcript before it, its label, how many bytes. *)
Definition query := (list op * list byte * nat)%type.

Definition base (domain : list byte) (key : option (list byte)) : list op :=
  Init domain :: match key with None => [] | Some key => [Mix (text "key") key] end.

Section Tree.
Variable D : query -> list byte.
Variable B : list op.

Definition begin (k : nat) (x : list byte) : list op :=
  B ++ [Mix (text "level") [N.of_nat k]; Mix (text "node") x].

Definition node (k : nat) (x : list byte) : query := (begin k x, text "cv", cv_len).

Definition root (k : nat) (x : list byte) (len : N) (n : nat) : query :=
  (begin k x ++ [Mix (text "length") (little_endian 8 len)], text "digest", n).

(** The string of the level above. *)
Definition above (k : nat) (x : list byte) : list byte :=
  concat (map (fun chunk => D (node k chunk)) (cut chunk_len x)).

(** From level [k] to the level whose string is a single chunk.  The number of bytes is enough fuel. *)
Fixpoint climb (fuel k : nat) (x : list byte) : nat * list byte :=
  match fuel with
  | O => (k, x)
  | S fuel => if length x <=? chunk_len then (k, x) else climb fuel (S k) (above k x)
  end.

(** What is asked last. *)
Definition top (m : list byte) (n : nat) : query :=
  let (k, x) := climb (length m) 0 m in root k x (N.of_nat (length m)) n.

Definition tree (m : list byte) (n : nat) : list byte := D (top m n).

(** All that is asked. *)
Fixpoint nodes (fuel k : nat) (x : list byte) : list query :=
  match fuel with
  | O => []
  | S fuel =>
      if length x <=? chunk_len then []
      else map (node k) (cut chunk_len x) ++ nodes fuel (S k) (above k x)
  end.

Definition asked (m : list byte) (n : nat) : list query := nodes (length m) 0 m ++ [top m n].

(** The string of level [k + j] that a part has, whose string of level [k] is [x]. *)
Fixpoint up (j k : nat) (x : list byte) : list byte :=
  match j with O => x | S j => up j (S k) (above k x) end.

(** The chaining value of level [j] of a part of a message: of one unit of this level. *)
Definition value (j : nat) (part : list byte) : list byte := D (node j (up j 0 part)).

(** All that is asked for it. *)
Fixpoint nodes_below (j k : nat) (x : list byte) : list query :=
  match j with
  | O => [node k x]
  | S j => map (node k) (cut chunk_len x) ++ nodes_below j (S k) (above k x)
  end.

(** ** The collision *)

Definition bytes_eq_dec : forall x y : list byte, {x = y} + {x <> y} := list_eq_dec N.eq_dec.

(** The first chunks that differ. *)
Fixpoint differ (k : nat) (cs1 cs2 : list (list byte)) : query * query :=
  match cs1, cs2 with
  | c1 :: cs1, c2 :: cs2 => if bytes_eq_dec c1 c2 then differ k cs1 cs2 else (node k c1, node k c2)
  | _, _ => (node k [], node k [])
  end.

(** The highest level whose strings differ, up to [j] levels above [k]; there, the first chunks that differ. *)
Fixpoint descend (j k : nat) (x1 x2 : list byte) : query * query :=
  match j with
  | O => (node k x1, node k x2)
  | S j =>
      let y1 := above k x1 in
      let y2 := above k x2 in
      if bytes_eq_dec y1 y2 then differ k (cut chunk_len x1) (cut chunk_len x2) else descend j (S k) y1 y2
  end.
End Tree.

Definition op_eq_dec (a b : op) : {a = b} + {a <> b}.
Proof. decide equality; solve [apply (list_eq_dec N.eq_dec) | apply N.eq_dec | apply Nat.eq_dec]. Defined.

Definition query_eq_dec (a b : query) : {a = b} + {a <> b}.
Proof.
  decide equality; [apply Nat.eq_dec|decide equality; [apply (list_eq_dec N.eq_dec)|apply (list_eq_dec op_eq_dec)]].
Defined.

(** Two queries with one answer, from two messages with one digest. *)
Definition collide (D : query -> list byte)
    (B1 : list op) (m1 : list byte) (n1 : nat) (B2 : list op) (m2 : list byte) (n2 : nat) : query * query :=
  let r1 := top D B1 m1 n1 in
  let r2 := top D B2 m2 n2 in
  if query_eq_dec r1 r2 then descend D B1 (length m1) 0 m1 m2 else (r1, r2).

(** The same from two parts with one chaining value. *)
Definition collide_values (D : query -> list byte)
    (B1 : list op) (j1 : nat) (p1 : list byte) (B2 : list op) (j2 : nat) (p2 : list byte) : query * query :=
  let r1 := node B1 j1 (up D B1 j1 0 p1) in
  let r2 := node B2 j2 (up D B2 j2 0 p2) in
  if query_eq_dec r1 r2 then descend D B1 j1 0 p1 p2 else (r1, r2).

(** A collision of [D], among queries of two lists. *)
Definition collision (D : query -> list byte) (qs1 qs2 : list query) (q : query * query) : Prop :=
  fst q <> snd q /\ D (fst q) = D (snd q) /\ In (fst q) qs1 /\ In (snd q) qs2.

(** ** Numbers and pieces *)

Lemma little_endian_inj k : forall a b,
  (a < 256 ^ N.of_nat k)%N -> (b < 256 ^ N.of_nat k)%N -> little_endian k a = little_endian k b -> a = b.
Proof.
  induction k as [|k IH]; intros a b A B E.
  - simpl in *; lia.
  - rewrite Nat2N.inj_succ, N.pow_succ_r' in A, B; rewrite !little_endian_is in E.
    injection E as E F; apply IH in F; try (apply N.div_lt_upper_bound; lia).
    rewrite (N.div_mod a 256), (N.div_mod b 256) by discriminate; congruence.
Qed.

Section Cut.
Variable size : nat.
Hypothesis size_positive : 0 < size.

Lemma cut_fuel_enough fuel : forall more x, length x <= fuel -> length x <= more ->
  cut_fuel fuel size x = cut_fuel more size x.
Proof.
  induction fuel as [|fuel IH]; intros [|more] x L M; auto.
  - destruct x; [|simpl in L; lia]; cbn [cut_fuel]; now rewrite skipn_nil.
  - destruct x; [|simpl in M; lia]; cbn [cut_fuel]; now rewrite skipn_nil.
  - cbn [cut_fuel]; pose proof (skipn_length size x) as S; destruct (skipn size x) as [|b r]; auto.
    apply (f_equal (cons _)), IH; simpl length in *; lia.
Qed.

(** The two cases of the format. *)
Lemma cut_step x :
  cut size x = if length x <=? size then [x] else firstn size x :: cut size (skipn size x).
Proof.
  unfold cut; destruct (Nat.leb_spec (length x) size) as [L|L].
  - destruct x as [|b x]; auto; cbn [length cut_fuel]; now rewrite skipn_all2.
  - pose proof (skipn_length size x) as S; destruct x as [|b x]; [simpl in L; lia|].
    cbn [length cut_fuel]; destruct (skipn size (b :: x)) as [|c r] eqn:E; [cbn [length] in *; lia|].
    apply (f_equal (cons _)); unfold cut; apply cut_fuel_enough; cbn [length] in *; lia.
Qed.

Lemma by_length (R : list byte -> Prop) :
  (forall x, length x <= size -> R x) -> (forall x, size < length x -> R (skipn size x) -> R x) -> forall x, R x.
Proof.
  intros Short Long x; remember (length x) as n eqn:N; revert x N.
  induction n as [n IH] using lt_wf_ind; intros x ->.
  destruct (le_lt_dec (length x) size); auto; apply Long; auto.
  apply (IH (length (skipn size x))); auto; rewrite skipn_length; lia.
Qed.

Lemma concat_cut : forall x, concat (cut size x) = x.
Proof.
  apply by_length; intros x L; rewrite (cut_step x); destruct (Nat.leb_spec (length x) size); try lia.
  - apply app_nil_r.
  - intros E; cbn [concat]; rewrite E; apply firstn_skipn.
Qed.

Lemma cut_inj x y : cut size x = cut size y -> x = y.
Proof. intro E; now rewrite <- (concat_cut x), <- (concat_cut y), E. Qed.

Lemma cut_length : forall x, size * length (cut size x) < length x + size \/ x = [] /\ cut size x = [[]].
Proof.
  apply by_length; intros x L; rewrite (cut_step x); destruct (Nat.leb_spec (length x) size); try lia.
  - destruct x; [right; auto|left; cbn [length]; lia].
  - intros [E|[E _]]; left; cbn [length].
    + rewrite skipn_length in E; lia.
    + apply (f_equal (@length _)) in E; rewrite skipn_length in E; simpl in E; lia.
Qed.
End Cut.

(** ** Levels *)

Lemma concat_values {A} (f : A -> list byte) n cs :
  (forall c, length (f c) = n) -> length (concat (map f cs)) = n * length cs.
Proof. intro L; induction cs as [|c cs IH]; cbn [map concat length]; rewrite ?app_length, ?L, ?IH; lia. Qed.

Lemma values_inj {A} (f : A -> list byte) n cs1 : 0 < n -> (forall c, length (f c) = n) ->
  forall cs2, concat (map f cs1) = concat (map f cs2) -> map f cs1 = map f cs2.
Proof.
  intros N L; induction cs1 as [|c1 cs1 IH]; intros [|c2 cs2] E; auto; cbn [map concat] in *;
    try (apply (f_equal (@length _)) in E; rewrite app_length, L in E; simpl in E; lia).
  apply app_split in E as [-> E]; [|now rewrite !L]; f_equal; auto.
Qed.

Lemma chunk_len_positive : 0 < chunk_len.
Proof. unfold chunk_len, cv_len; lia. Qed.

Section Sound.
Variable D : query -> list byte.
Hypothesis D_length : forall T l n, length (D (T, l, n)) = n.

Section Base.
Variable B : list op.

Lemma node_length k x : length (D (node B k x)) = cv_len.
Proof. apply D_length. Qed.

(** Each level is at most 1/128 of the one below, rounded up to 32 bytes. *)
Lemma above_length k x n : (N.of_nat (length x) <= 4096 * n)%N -> (0 < n)%N ->
  (N.of_nat (length (above D B k x)) <= 32 * n)%N.
Proof.
  intros L J; unfold above; rewrite (concat_values _ cv_len) by (intro; apply node_length).
  destruct (cut_length chunk_len chunk_len_positive x) as [C|[_ ->]]; unfold chunk_len, cv_len in *.
  - revert C L; generalize (length (cut (32 * 128) x)), (length x); intros; lia.
  - simpl length; lia.
Qed.

Lemma above_shrinks k x : chunk_len < length x -> length (above D B k x) < length x.
Proof.
  intro L; unfold above; rewrite (concat_values _ cv_len) by (intro; apply node_length).
  destruct (cut_length chunk_len chunk_len_positive x) as [C|[-> _]]; [|simpl in L; lia].
  unfold chunk_len, cv_len in *; lia.
Qed.

(** The loop of the format ends; its result does not depend on the fuel. *)
Lemma climb_enough fuel : forall more k x, length x <= fuel -> length x <= more ->
  climb D B fuel k x = climb D B more k x.
Proof.
  induction fuel as [|fuel IH]; intros [|more] k x L M; auto;
    try (destruct x; [reflexivity|simpl in *; lia]).
  cbn [climb]; destruct (Nat.leb_spec (length x) chunk_len); auto.
  pose proof (above_shrinks k x); apply IH; lia.
Qed.

(** The two cases of the format. *)
Lemma climb_step k x :
  climb D B (length x) k x =
    if length x <=? chunk_len then (k, x) else climb D B (length (above D B k x)) (S k) (above D B k x).
Proof.
  destruct (length x) as [|n] eqn:E; [reflexivity|]; cbn [climb]; rewrite E.
  destruct (Nat.leb_spec (S n) chunk_len); auto.
  pose proof (above_shrinks k x); apply climb_enough; lia.
Qed.

Lemma climb_top fuel : forall k x, length x <= fuel -> length (snd (climb D B fuel k x)) <= chunk_len.
Proof.
  induction fuel as [|fuel IH]; intros k x L; cbn [climb].
  - cbn [snd]; lia.
  - destruct (Nat.leb_spec (length x) chunk_len); auto.
    pose proof (above_shrinks k x); apply IH; lia.
Qed.

Lemma climb_goes_up fuel : forall k x, k <= fst (climb D B fuel k x).
Proof.
  induction fuel as [|fuel IH]; intros k x; cbn [climb]; auto.
  destruct (length x <=? chunk_len); auto; specialize (IH (S k) (above D B k x)); lia.
Qed.

Lemma climb_levels j : forall fuel k x, (N.of_nat (length x) <= 4096 * 128 ^ N.of_nat j)%N ->
  fst (climb D B fuel k x) <= k + j.
Proof.
  induction j as [|j IH]; intros [|fuel] k x L; cbn [climb fst]; try lia;
    destruct (Nat.leb_spec (length x) chunk_len) as [C|C]; cbn [fst]; try lia.
  - exfalso; simpl N.of_nat in L; rewrite N.pow_0_r in L; unfold chunk_len, cv_len in C; lia.
  - rewrite <- Nat.add_succ_comm; apply IH.
    rewrite Nat2N.inj_succ, N.pow_succ_r' in L.
    assert (Z : (128 ^ N.of_nat j <> 0)%N) by now apply N.pow_nonzero.
    revert L Z; generalize (128 ^ N.of_nat j)%N; intros n L Z.
    pose proof (above_length k x (128 * n) L); lia.
Qed.

(** A message below 2^64 bytes has levels 0 to 8, so the level is one byte. *)
Theorem levels m : (N.of_nat (length m) < 2 ^ 64)%N -> fst (climb D B (length m) 0 m) <= 8.
Proof.
  intro L; apply (climb_levels 8 (length m) 0).
  change (4096 * 128 ^ N.of_nat 8)%N with (2 ^ 68)%N; change (2 ^ 64)%N with 18446744073709551616%N in L.
  change (2 ^ 68)%N with 295147905179352825856%N; lia.
Qed.

(** The first chunks that differ have one chaining value. *)
Lemma differ_collides k cs1 : forall cs2, length cs1 = length cs2 -> cs1 <> cs2 ->
  map (fun c => D (node B k c)) cs1 = map (fun c => D (node B k c)) cs2 ->
  collision D (map (node B k) cs1) (map (node B k) cs2) (differ B k cs1 cs2).
Proof.
  induction cs1 as [|c1 cs1 IH]; intros [|c2 cs2] L N E; try discriminate; [congruence|].
  cbn [map differ] in *; injection E as E F; injection L as L.
  destruct (bytes_eq_dec c1 c2) as [->|C].
  - destruct (IH cs2) as (X & Y & U & V); auto; [congruence|].
    repeat split; auto; now right.
  - repeat split; cbn [fst snd In]; auto; intro Q; apply C.
    unfold node, begin in Q; injection Q as Q.
    apply app_inv_head in Q; congruence.
Qed.

Lemma chunks_collide k x1 x2 : x1 <> x2 -> above D B k x1 = above D B k x2 ->
  collision D (map (node B k) (cut chunk_len x1)) (map (node B k) (cut chunk_len x2))
    (differ B k (cut chunk_len x1) (cut chunk_len x2)).
Proof.
  intros N E; apply (values_inj _ cv_len) in E; [|unfold cv_len; lia|intro; apply node_length].
  apply differ_collides; auto.
  - apply (f_equal (@length _)) in E; now rewrite !map_length in E.
  - intro C; apply N, (cut_inj _ chunk_len_positive), C.
Qed.

Lemma collision_widens qs1 qs2 rs1 rs2 q :
  collision D qs1 qs2 q -> incl qs1 rs1 -> incl qs2 rs2 -> collision D rs1 rs2 q.
Proof. intros (N & E & I1 & I2) J1 J2; repeat split; auto. Qed.

(** Two messages whose climb ends at one place. *)
Lemma descend_collides fuel1 : forall fuel2 k x1 x2, length x1 <= fuel1 -> length x2 <= fuel2 -> x1 <> x2 ->
  climb D B fuel1 k x1 = climb D B fuel2 k x2 ->
  collision D (nodes D B fuel1 k x1) (nodes D B fuel2 k x2) (descend D B fuel1 k x1 x2).
Proof.
  assert (Same : forall k n x, climb D B n (S k) x = (k, x) -> False).
  { intros k n x E; pose proof (climb_goes_up n (S k) x) as G; rewrite E in G; cbn [fst] in G; lia. }
  induction fuel1 as [|fuel1 IH]; intros fuel2 k x1 x2 L1 L2 N E.
  - destruct x1; [|simpl in L1; lia].
    destruct fuel2; cbn [climb] in E; [congruence|].
    destruct (length x2 <=? chunk_len); [congruence|].
    pose proof (climb_goes_up fuel2 (S k) (above D B k x2)) as G; rewrite <- E in G; cbn [fst] in G; lia.
  - destruct fuel2 as [|fuel2].
    { destruct x2; [|simpl in L2; lia].
      cbn [climb] in E; destruct (length x1 <=? chunk_len); [congruence|].
      pose proof (climb_goes_up fuel1 (S k) (above D B k x1)) as G; rewrite E in G; cbn [fst] in G; lia. }
    cbn [climb nodes descend] in *.
    destruct (Nat.leb_spec (length x1) chunk_len) as [S1|S1], (Nat.leb_spec (length x2) chunk_len) as [S2|S2].
    + congruence.
    + pose proof (climb_goes_up fuel2 (S k) (above D B k x2)) as G; rewrite <- E in G; cbn [fst] in G; lia.
    + pose proof (climb_goes_up fuel1 (S k) (above D B k x1)) as G; rewrite E in G; cbn [fst] in G; lia.
    + pose proof (above_shrinks k x1 S1); pose proof (above_shrinks k x2 S2).
      destruct (bytes_eq_dec (above D B k x1) (above D B k x2)) as [A|A].
      * eapply collision_widens; [apply chunks_collide; auto| |]; apply incl_appl, incl_refl.
      * eapply collision_widens; [apply (IH fuel2); [lia|lia|exact A|exact E]| |]; apply incl_appr, incl_refl.
Qed.

(** Two parts with one string some levels above. *)
Lemma descend_up j : forall k x1 x2, x1 <> x2 -> up D B j k x1 = up D B j k x2 ->
  collision D (nodes_below D B j k x1) (nodes_below D B j k x2) (descend D B j k x1 x2).
Proof.
  induction j as [|j IH]; intros k x1 x2 N E; cbn [up nodes_below descend] in *; [congruence|].
  destruct (bytes_eq_dec (above D B k x1) (above D B k x2)) as [A|A].
  - eapply collision_widens; [apply chunks_collide; auto| |]; apply incl_appl, incl_refl.
  - eapply collision_widens; [apply IH; auto| |]; apply incl_appr, incl_refl.
Qed.

Lemma in_nodes_below j : forall k x, In (node B (k + j) (up D B j k x)) (nodes_below D B j k x).
Proof.
  induction j as [|j IH]; intros k x; cbn [up nodes_below].
  - rewrite Nat.add_0_r; now left.
  - apply in_or_app; right; rewrite <- Nat.add_succ_comm; apply IH.
Qed.
End Base.

(** ** Distinct nodes and roots are distinct queries *)

Lemma begin_inj B1 B2 k1 k2 x1 x2 :
  begin B1 k1 x1 = begin B2 k2 x2 -> B1 = B2 /\ k1 = k2 /\ x1 = x2.
Proof.
  unfold begin; intro E.
  change [?a; ?b] with ([a] ++ [b]) in E; rewrite !app_assoc in E.
  apply app_inj_tail in E as [E X]; apply app_inj_tail in E as [-> K].
  injection X as ->; injection K as K; repeat split; lia.
Qed.

Theorem node_injective B1 B2 k1 k2 x1 x2 :
  node B1 k1 x1 = node B2 k2 x2 -> B1 = B2 /\ k1 = k2 /\ x1 = x2.
Proof. unfold node; intro E; injection E as E; now apply begin_inj. Qed.

(** Lengths are below 2^64 bytes. *)
Theorem root_injective B1 B2 k1 k2 x1 x2 len1 len2 n1 n2 :
  (len1 < 2 ^ 64)%N -> (len2 < 2 ^ 64)%N ->
  root B1 k1 x1 len1 n1 = root B2 k2 x2 len2 n2 ->
  B1 = B2 /\ k1 = k2 /\ x1 = x2 /\ len1 = len2 /\ n1 = n2.
Proof.
  unfold root; intros L1 L2 E.
  assert (T : begin B1 k1 x1 ++ [Mix (text "length") (little_endian 8 len1)] =
              begin B2 k2 x2 ++ [Mix (text "length") (little_endian 8 len2)]) by congruence.
  assert (N : n1 = n2) by congruence; clear E.
  apply app_inj_tail in T as [T L]; apply begin_inj in T as (-> & -> & ->).
  apply (f_equal (fun o => match o with Mix _ x => x | _ => [] end)) in L.
  apply little_endian_inj in L; auto.
Qed.

(** A node is never a root, in any two trees. *)
Theorem node_is_no_root B1 B2 k1 k2 x1 x2 len n : node B1 k1 x1 <> root B2 k2 x2 len n.
Proof. discriminate. Qed.

(** Keyed is never unkeyed, and each domain and key has a base of its own. *)
Theorem base_injective domain1 domain2 key1 key2 :
  base domain1 key1 = base domain2 key2 -> domain1 = domain2 /\ key1 = key2.
Proof. destruct key1, key2; intro E; injection E; intros; subst; auto; discriminate. Qed.

(** ** The theorems *)

Theorem tree_collision B1 m1 n1 B2 m2 n2 :
  (B1, m1, n1) <> (B2, m2, n2) -> tree D B1 m1 n1 = tree D B2 m2 n2 ->
  collision D (asked D B1 m1 n1) (asked D B2 m2 n2) (collide D B1 m1 n1 B2 m2 n2).
Proof.
  intros N E; unfold collide; destruct (query_eq_dec (top D B1 m1 n1) (top D B2 m2 n2)) as [T|T].
  - unfold top in T.
    destruct (climb D B1 (length m1) 0 m1) as [k1 x1] eqn:C1, (climb D B2 (length m2) 0 m2) as [k2 x2] eqn:C2.
    assert (U : begin B1 k1 x1 = begin B2 k2 x2 /\ n1 = n2).
    { split; [|exact (f_equal snd T)].
      apply (f_equal (fun q => fst (fst q))) in T; cbn [fst root] in T; now apply app_inj_tail in T as [T _]. }
    destruct U as [U ->]; apply begin_inj in U as (-> & -> & ->).
    eapply collision_widens; [apply (descend_collides B2 (length m1) (length m2)); auto; congruence| |];
      apply incl_appl, incl_refl.
  - repeat split; auto; apply in_or_app; right; now left.
Qed.

Theorem value_collision B1 j1 p1 B2 j2 p2 :
  (B1, j1, p1) <> (B2, j2, p2) -> value D B1 j1 p1 = value D B2 j2 p2 ->
  collision D (nodes_below D B1 j1 0 p1) (nodes_below D B2 j2 0 p2) (collide_values D B1 j1 p1 B2 j2 p2).
Proof.
  intros N E; unfold collide_values.
  destruct (query_eq_dec (node B1 j1 (up D B1 j1 0 p1)) (node B2 j2 (up D B2 j2 0 p2))) as [T|T].
  - apply node_injective in T as (-> & -> & T); apply descend_up; auto; congruence.
  - repeat split; auto; [apply (in_nodes_below B1 j1 0)|apply (in_nodes_below B2 j2 0)].
Qed.

(** The digests of the format. *)
Theorem digest_collision domain1 key1 m1 n1 domain2 key2 m2 n2 :
  (domain1, key1, m1, n1) <> (domain2, key2, m2, n2) ->
  tree D (base domain1 key1) m1 n1 = tree D (base domain2 key2) m2 n2 ->
  collision D (asked D (base domain1 key1) m1 n1) (asked D (base domain2 key2) m2 n2)
    (collide D (base domain1 key1) m1 n1 (base domain2 key2) m2 n2).
Proof.
  intros N; apply tree_collision; intro E; apply N.
  pose proof (f_equal (fun t => fst (fst t)) E) as B; pose proof (f_equal (fun t => snd (fst t)) E) as M;
    pose proof (f_equal snd E) as L; cbn [fst snd] in B, M, L.
  apply base_injective in B as [-> ->]; now rewrite M, L.
Qed.
End Sound.

(** ** Derive of the model of Protocol *)

Section Protocol.
Variable P : list byte -> list byte.
Hypothesis HP : forall s, length s = width -> length (P s) = width.

Definition derive (q : query) : list byte :=
  let '(T, l, n) := q in fst (step P (Derive l n) (run P T)).

(** The permutation inputs up to the place where the answer begins. *)
Definition inputs_of (q : query) : list (list byte) :=
  let '(T, l, n) := q in inputs (reach P T (AtDerive l n 0)).

Lemma derive_length T l n : length (derive (T, l, n)) = n.
Proof. unfold derive, step; cbn [act]; apply squeeze_length. Qed.

Definition short_query (q : query) : Prop :=
  let '(T, l, n) := q in (forall o, In o T -> length (label o) <= label_max) /\ length l <= label_max.

Lemma inputs_distinct q1 q2 :
  short_query q1 -> short_query q2 -> inputs_of q1 = inputs_of q2 -> q1 = q2.
Proof.
  destruct q1 as [[T1 l1] n1], q2 as [[T2 l2] n2]; cbn [short_query inputs_of]; intros [S1 L1] [S2 L2] E.
  apply output_points_injective in E as [-> E]; auto; [congruence|].
  intros o I; apply in_app_or in I as [I|I]; auto.
Qed.

Section Short.
Variable D : query -> list byte.
Variable B : list op.
Hypothesis B_short : forall o, In o B -> length (label o) <= label_max.

Lemma node_short k x : short_query (node B k x).
Proof.
  unfold node, begin, short_query, label_max; split; [|simpl; lia].
  intros o I; apply in_app_or in I as [I|I]; [now apply B_short|].
  destruct I as [<-|[<-|[]]]; simpl; lia.
Qed.

Lemma root_short k x len n : short_query (root B k x len n).
Proof.
  destruct (node_short k x) as [S _]; unfold root, short_query, label_max in *; split; [|simpl; lia].
  intros o I; apply in_app_or in I as [I|I]; [now apply S|].
  destruct I as [<-|[]]; simpl; lia.
Qed.

Lemma asked_short m n q : In q (asked D B m n) -> short_query q.
Proof.
  intro I; apply in_app_or in I as [I|[<-|[]]].
  - revert I; generalize (length m) at 1; generalize 0; intros k f; revert k m.
    induction f as [|f IH]; intros k x I; cbn [nodes] in I; [destruct I|].
    destruct (length x <=? chunk_len); [destruct I|].
    apply in_app_or in I as [I|I]; [|now apply IH in I].
    apply in_map_iff in I as (c & <- & _); apply node_short.
  - unfold top; destruct (climb D B (length m) 0 m); apply root_short.
Qed.
End Short.

(** The answers are equal, but the permutation was fed differently before them. *)
Theorem tree_collision_protocol B1 m1 n1 B2 m2 n2 :
  (forall o, In o (B1 ++ B2) -> length (label o) <= label_max) ->
  (B1, m1, n1) <> (B2, m2, n2) -> tree derive B1 m1 n1 = tree derive B2 m2 n2 ->
  let (q1, q2) := collide derive B1 m1 n1 B2 m2 n2 in
  inputs_of q1 <> inputs_of q2 /\ derive q1 = derive q2.
Proof.
  intros S N E; apply (tree_collision derive derive_length) in E; auto.
  destruct (collide derive B1 m1 n1 B2 m2 n2) as [q1 q2], E as (Q & E & I1 & I2); cbn [fst snd] in *; split; auto.
  intro X; apply Q, inputs_distinct; auto.
  - revert I1; apply asked_short; intros o I; apply S, in_or_app; auto.
  - revert I2; apply asked_short; intros o I; apply S, in_or_app; auto.
Qed.

(** The same with any function of the model's state in the place of Derive: it has one value for two states that
    differ, or for other labels or lengths. *)
Theorem tree_collision_states (F : duplex -> list byte -> nat -> list byte) B1 m1 n1 B2 m2 n2 :
  (forall d l n, length (F d l n) = n) ->
  (forall o, In o (B1 ++ B2) -> length (label o) <= label_max) ->
  let D : query -> list byte := fun q => let '(T, l, n) := q in F (run P T) l n in
  (B1, m1, n1) <> (B2, m2, n2) -> tree D B1 m1 n1 = tree D B2 m2 n2 ->
  let '((T1, l1, r1), (T2, l2, r2)) := collide D B1 m1 n1 B2 m2 n2 in
  (run P T1, l1, r1) <> (run P T2, l2, r2) /\ F (run P T1) l1 r1 = F (run P T2) l2 r2.
Proof.
  intros L S D N E; apply (tree_collision D) in E; auto; [|intros; apply L].
  destruct (collide D B1 m1 n1 B2 m2 n2) as [[[T1 l1] r1] [[T2 l2] r2]], E as (Q & E & I1 & I2).
  cbn [fst snd] in *; split; [|exact E].
  intro X; apply Q; assert (run P T1 = run P T2) as R by congruence.
  apply asked_short in I1 as [S1 _]; [|intros o I; apply S, in_or_app; auto].
  apply asked_short in I2 as [S2 _]; [|intros o I; apply S, in_or_app; auto].
  apply transcript_injective in R; auto; [congruence|].
  intros o I; apply in_app_or in I as [I|I]; auto.
Qed.
End Protocol.
