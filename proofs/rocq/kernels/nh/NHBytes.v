(** * NHBytes: NH on bytes, as the kernels compute it, and on symbolic bytes

    A kernel adds to strings of 16 bytes: the two sums of a pass.  Which of the message's units and of the key's
      units is
    for which of them, a list says. *)

From Coq Require Import List Bool Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Symbolic ArxSymbolic.
From Veriplex Require Import ChaCha NH.
Import ListNotations.

(** ** Lists *)

Lemma seq_from c : forall l, seq l c = map (fun j => l + j)%nat (seq 0 c).
Proof.
  induction l as [|l IH]; [rewrite map_id; reflexivity|]; rewrite <- seq_shift, IH, map_map; reflexivity.
Qed.

Lemma some_of_seq {T} (f : nat -> T) c l n : (l + c <= n)%nat ->
  firstn c (skipn l (map f (seq 0 n))) = map (fun j => f (l + j)%nat) (seq 0 c).
Proof.
  intro L; transitivity (map f (seq l c)); [|rewrite seq_from, map_map; reflexivity].
  replace n with (l + (c + (n - l - c)))%nat by lia; rewrite seq_app, map_app, skipn_app, map_length, seq_length.
  rewrite skipn_all2 by (rewrite map_length, seq_length; lia); rewrite Nat.sub_diag, skipn_O; cbn [app].
  rewrite seq_app, map_app, firstn_app, map_length, seq_length, Nat.sub_diag, firstn_O, app_nil_r, Nat.add_0_l.
  apply firstn_all2; rewrite map_length, seq_length; lia.
Qed.

Lemma one_of_seq {T} (f : nat -> T) l n d : (l < n)%nat -> nth l (map f (seq 0 n)) d = f l.
Proof.
  intro L; rewrite nth_indep with (d' := f 0%nat) by (rewrite map_length, seq_length; exact L).
  rewrite (map_nth f), seq_nth by exact L; reflexivity.
Qed.

Lemma whole {T} (d : T) x : map (fun j => nth j x d) (seq 0 (length x)) = x.
Proof.
  induction x as [|a x IH]; cbn [length seq map nth]; [reflexivity|]; f_equal; rewrite <- IH at 2.
  rewrite <- seq_shift, map_map; reflexivity.
Qed.

Lemma some_of {T} (d : T) c l x : l + c <= length x -> firstn c (skipn l x) = map (fun j => nth (l + j) x d) (seq 0 c).
Proof. intro L; rewrite <- (whole d x) at 1; apply some_of_seq, L. Qed.

(** ** What an iteration does *)

(** Piece i of 16 bytes. *)
Definition part {A} (i : nat) (x : list A) : list A := firstn 16 (skipn (16 * i) x).

(** Words 1 and 2 of four change places; words 0 and 2, or 1 and 3. *)
Definition swapped {A} (x : list A) : list A := firstn 4 x ++ firstn 4 (skipn 8 x) ++ firstn 4 (skipn 4 x) ++ firstn
  4 (skipn 12 x).
Definition evens {A} (x : list A) : list A := firstn 4 x ++ firstn 4 (skipn 8 x).
Definition odds {A} (x : list A) : list A := firstn 4 (skipn 4 x) ++ firstn 4 (skipn 12 x).

(** Two sums after a unit.  Words 1 and 2 of the key may have changed places in memory: [turned]. *)
Definition add_products (turned : bool) (s m k : list byte) : list byte :=
  let t := plus_lanes 4 (if turned then swapped m else m) k in
  plus_lanes 8 s (if turned then times_lanes 4 (evens t) (odds t) else times_lanes 4 (firstn 8 t) (skipn 8 t)).

(** From piece i on: the next piece uses these two units. *)
Fixpoint add_all (turned : bool) (uses : list (nat * nat)) (i : nat) (s m k : list byte) : list byte :=
  match uses with
  | [] => []
  | (u, v) :: uses => add_products turned (part i s) (part u m) (part v k) ++ add_all turned uses (S i) s m k
  end.

Definition sadd_products (turned : bool) (s m k : list sbyte) (nodes : list node) : option (list sbyte * list node) :=
  match splus 4 (if turned then swapped m else m) k nodes with
  | Some (t, nodes) =>
      match stimes 4 (if turned then evens t else firstn 8 t) (if turned then odds t else skipn 8 t) nodes with
      | Some (p, nodes) => splus 8 s p nodes
      | None => None
      end
  | None => None
  end.

Fixpoint sadd_all (turned : bool) (uses : list (nat * nat)) (i : nat) (s m k : list sbyte) (nodes : list node) :
    option (list sbyte * list node) :=
  match uses with
  | [] => Some ([], nodes)
  | (u, v) :: uses =>
      match sadd_products turned (part i s) (part u m) (part v k) nodes with
      | Some (a, nodes) =>
          match sadd_all turned uses (S i) s m k nodes with Some (b, nodes) => Some (a ++ b, nodes) | None => None end
      | None => None
      end
  end.

Section Meaning.
Variable env : N -> byte.
Local Notation evs := (evs env).
Local Notation consistent := (consistent env).

Lemma evs_part i x : evs (part i x) = part i (evs x).
Proof. unfold part; rewrite evs_firstn, evs_skipn; reflexivity. Qed.

Lemma evs_swapped x : evs (swapped x) = swapped (evs x).
Proof. unfold swapped; rewrite !evs_app, !evs_firstn, !evs_skipn; reflexivity. Qed.

Lemma evs_evens x : evs (evens x) = evens (evs x).
Proof. unfold evens; rewrite !evs_app, !evs_firstn, !evs_skipn; reflexivity. Qed.

Lemma evs_odds x : evs (odds x) = odds (evs x).
Proof. unfold odds; rewrite !evs_app, !evs_firstn, !evs_skipn; reflexivity. Qed.

Lemma sadd_products_sound turned s m k nodes z nodes' : sadd_products turned s m k nodes = Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = add_products turned (evs s) (evs m) (evs k)).
Proof.
  unfold sadd_products; intro E.
  destruct (splus 4 _ k nodes) as [[t n1]|] eqn:E1; [|discriminate].
  destruct (stimes 4 _ _ n1) as [[p n2]|] eqn:E2; [|discriminate].
  apply (splus_sound env) in E1 as [X1 S1]; apply (stimes_sound env) in E2 as [X2 S2];
    apply (splus_sound env) in E as [X3 S3].
  split; [eapply extends_trans; [exact X1|eapply extends_trans; eassumption]|]; intro C.
  assert (C2 : consistent n2) by (eapply consistent_older; eassumption).
  assert (C1 : consistent n1) by (eapply consistent_older; eassumption).
  rewrite (S3 C), (S2 C2); unfold add_products; destruct turned.
  - rewrite evs_evens, evs_odds, (S1 C1), evs_swapped; reflexivity.
  - rewrite evs_firstn, evs_skipn, (S1 C1); reflexivity.
Qed.

Lemma sadd_all_sound turned uses : forall i s m k nodes z nodes', sadd_all turned uses i s m k nodes =
  Some (z, nodes') ->
  extends nodes nodes' /\ (consistent nodes' -> evs z = add_all turned uses i (evs s) (evs m) (evs k)).
Proof.
  induction uses as [|[u v] uses IH]; intros i s m k nodes z nodes' E; cbn [sadd_all add_all] in *.
  - assert (F : [] = z /\ nodes = nodes') by (split; congruence); destruct F as [<- <-].
    split; [apply extends_refl|reflexivity].
  - destruct (sadd_products _ _ _ _ nodes) as [[a n1]|] eqn:E1; [|discriminate].
    destruct (sadd_all turned uses (S i) s m k n1) as [[b n2]|] eqn:E2; [|discriminate].
    assert (F : a ++ b = z /\ n2 = nodes') by (split; congruence); destruct F as [<- <-].
    apply sadd_products_sound in E1 as [X1 S1]; apply IH in E2 as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite evs_app, (S2 C), S1, !evs_part by (eapply consistent_older; eassumption); reflexivity.
Qed.
End Meaning.

(** ** What this is on words *)

Lemma part_length {A} i (x : list A) : 16 * i + 16 <= length x -> length (part i x) = 16.
Proof. intro L; unfold part; rewrite firstn_length, skipn_length; lia. Qed.

(** Four numbers in lanes of 4 bytes, two in lanes of 8. *)
Lemma lanes_4 x : length x = 16 -> exists a b c d, lanes 4 x = [a; b; c; d].
Proof.
  intro L; pose proof (lanes_length 4 x) as H; rewrite L in H; change (16 / 4) with 4 in H.
  destruct (lanes 4 x) as [|a [|b [|c [|d [|? ?]]]]]; try discriminate H; eauto 6.
Qed.

Lemma lanes_8 x : length x = 16 -> exists a b, lanes 8 x = [a; b].
Proof.
  intro L; pose proof (lanes_length 8 x) as H; rewrite L in H; change (16 / 8) with 2 in H.
  destruct (lanes 8 x) as [|a [|b [|? ?]]]; try discriminate H; eauto.
Qed.

(** 16 bytes in words of four. *)
Lemma in_words (x : list byte) : length x = 16 -> exists a b c d, x = a ++ b ++ c ++ d /\
  length a = 4 /\ length b = 4 /\ length c = 4 /\ length d = 4.
Proof.
  intro L; exists (firstn 4 x), (firstn 4 (skipn 4 x)), (firstn 4 (skipn 8 x)), (skipn 12 x).
  rewrite !firstn_length, !skipn_length, L; split; [|repeat split; reflexivity].
  do 16 (destruct x as [|? x]; [discriminate|]); destruct x; [reflexivity|discriminate].
Qed.

Lemma words_apart {A} (a b c d : list A) : length a = 4 -> length b = 4 -> length c = 4 -> length d = 4 ->
  swapped (a ++ b ++ c ++ d) = a ++ c ++ b ++ d /\ evens (a ++ b ++ c ++ d) = a ++ c /\ odds (a ++ b ++ c ++ d) =
    b ++ d /\
  firstn 8 (a ++ b ++ c ++ d) = a ++ b /\ skipn 8 (a ++ b ++ c ++ d) = c ++ d.
Proof.
  intros LA LB LC LD.
  do 4 (destruct a as [|? a]; [discriminate|]); destruct a; [|discriminate].
  do 4 (destruct b as [|? b]; [discriminate|]); destruct b; [|discriminate].
  do 4 (destruct c as [|? c]; [discriminate|]); destruct c; [|discriminate].
  do 4 (destruct d as [|? d]; [discriminate|]); destruct d; [|discriminate].
  repeat split; reflexivity.
Qed.

Definition value (w : nat) (a : list byte) : N := (lane_number a mod 256 ^ N.of_nat w)%N.

Lemma lanes_of_words a b c d : length a = 4 -> length b = 4 -> length c = 4 -> length d = 4 ->
  lanes 4 (a ++ b ++ c ++ d) = [value 4 a; value 4 b; value 4 c; value 4 d].
Proof.
  intros LA LB LC LD; rewrite !(lanes_app 4 1) by (assumption || discriminate).
  rewrite !lanes_mod, LA, LB, LC, LD; cbn [Nat.div Nat.divmod fst split map app Nat.sub].
  rewrite !firstn_all2 by lia; reflexivity.
Qed.

Local Open Scope N_scope.

(** A sum of four words, and two products of such. *)
Lemma plus_words a b c d e f g h :
  plus_lanes 4 (in_lanes 4 [a; b; c; d]) (in_lanes 4 [e; f; g; h]) = in_lanes 4 [a + e; b + f; c + g; d + h].
Proof.
  unfold plus_lanes; rewrite !lanes_in_lanes by discriminate; cbn [map combine fst snd].
  apply (in_lanes_same 4 (fun x => fst x mod 256 ^ N.of_nat 4 + snd x mod 256 ^ N.of_nat 4) (fun x => fst x + snd x)
    [(a, e); (b, f); (c, g); (d, h)]).
  intros [x y] _; cbn [fst snd]; rewrite <- N.add_mod by discriminate; reflexivity.
Qed.

Lemma value_small w a : value w a < 256 ^ N.of_nat w.
Proof. apply N.mod_lt, N.pow_nonzero; discriminate. Qed.

Lemma plus_as_words x y : plus_lanes 4 x y =
  in_lanes 4 (map (fun ab => fst ab + snd ab) (combine (lanes 4 x) (lanes 4 y))).
Proof. reflexivity. Qed.

Lemma times_words a b c d :
  times_lanes 4 (in_lanes 4 [a; b]) (in_lanes 4 [c; d]) =
  in_lanes 8 [a mod 256 ^ 4 * (c mod 256 ^ 4); b mod 256 ^ 4 * (d mod 256 ^ 4)].
Proof. unfold times_lanes; rewrite !lanes_in_lanes by discriminate; reflexivity. Qed.

(** The sums after a unit, in words.  [k] is the key as it is in the specification. *)
Lemma add_products_is turned s m k : length s = 16%nat -> length m = 16%nat -> length k = 16%nat ->
  lanes 8 (add_products turned s m (if turned then swapped k else k)) =
  zip_with add_long (lanes 8 s) (products (lanes 4 m) (lanes 4 k)).
Proof.
  intros LS LM LK; destruct (lanes_8 s LS) as (s0 & s1 & ES).
  apply in_words in LM as (m0 & m1 & m2 & m3 & -> & LM0 & LM1 & LM2 & LM3).
  apply in_words in LK as (k0 & k1 & k2 & k3 & -> & LK0 & LK1 & LK2 & LK3).
  rewrite !lanes_of_words by assumption; unfold products, zip_with; cbn [combine map fst snd nth].
  assert (R : add_products turned s (m0 ++ m1 ++ m2 ++ m3)
      (if turned then swapped (k0 ++ k1 ++ k2 ++ k3) else k0 ++ k1 ++ k2 ++ k3) =
    plus_lanes 8 s (in_lanes 8
      [add_words (value 4 m0) (value 4 k0) * add_words (value 4 m2) (value 4 k2);
       add_words (value 4 m1) (value 4 k1) * add_words (value 4 m3) (value 4 k3)])).
  { assert (T : forall a b c d, in_lanes 4 [a; b; c; d] =
      little_endian 4 a ++ little_endian 4 b ++ little_endian 4 c ++ little_endian 4 d) by reflexivity.
    unfold add_products; f_equal; destruct turned.
    - destruct (words_apart m0 m1 m2 m3) as (-> & _); auto; destruct (words_apart k0 k1 k2 k3) as (-> & _); auto.
      rewrite plus_as_words, !lanes_of_words by assumption; cbn [combine map fst snd]; rewrite T.
      match goal with |- context [evens (little_endian 4 ?a ++ little_endian 4 ?b ++ little_endian 4 ?c ++
        little_endian 4 ?d)] =>
        destruct (words_apart (little_endian 4 a) (little_endian 4 b) (little_endian 4 c) (little_endian 4 d))
          as (_ & -> & -> & _); try reflexivity end.
      change (little_endian 4 ?a ++ little_endian 4 ?b) with (in_lanes 4 [a; b]).
      rewrite times_words; reflexivity.
    - rewrite plus_as_words, !lanes_of_words by assumption; cbn [combine map fst snd]; rewrite T.
      match goal with |- context [firstn 8 (little_endian 4 ?a ++ little_endian 4 ?b ++ little_endian 4 ?c ++
        little_endian 4 ?d)] =>
        destruct (words_apart (little_endian 4 a) (little_endian 4 b) (little_endian 4 c) (little_endian 4 d))
          as (_ & _ & _ & -> & ->); try reflexivity end.
      change (little_endian 4 ?a ++ little_endian 4 ?b) with (in_lanes 4 [a; b]).
      rewrite times_words; reflexivity. }
  rewrite R; unfold plus_lanes; rewrite ES, !lanes_in_lanes by discriminate; cbn [combine map fst snd].
  reflexivity.
Qed.
