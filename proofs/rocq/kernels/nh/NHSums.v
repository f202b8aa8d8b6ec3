(** * NHSums: what kernels compute is NH

    The sums of units in a row, from zero, are the hash once both sums of each pass are added;
      and the sums of groups are
    those of units in a row once those of the lanes are added. *)

From Coq Require Import List Arith NArith Lia.
From Veriplex Require Import AES Simpira1024 NHBytes.
From Veriplex Require Import ChaCha NH.
Import ListNotations.
Local Open Scope N_scope.

Definition total (l : list N) : N := fold_right N.add 0 l.

Lemma sum_long_is l : sum_long l = total l mod 2 ^ 64.
Proof.
  induction l as [|a l IH]; cbn [sum_long total fold_right]; [reflexivity|].
  unfold sum_long in IH; rewrite IH; unfold add_long; apply N.add_mod_idemp_r; discriminate.
Qed.

Lemma total_app a b : total (a ++ b) = total a + total b.
Proof. unfold total; induction a as [|x a IH]; cbn [app fold_right]; [reflexivity|]; rewrite IH; lia. Qed.

Lemma add_long_mod a b : add_long (a mod 2 ^ 64) b = (a + b) mod 2 ^ 64.
Proof. unfold add_long; apply N.add_mod_idemp_l; discriminate. Qed.

Lemma total_last f n : total (map f (seq 0 (S n))) = total (map f (seq 0 n)) + f n.
Proof. rewrite (seq_S n 0), map_app, total_app; cbn [map total fold_right]; rewrite Nat.add_0_l; lia. Qed.

Lemma total_sum f g l : total (map (fun x : nat => f x + g x) l) = total (map f l) + total (map g l).
Proof. unfold total; induction l as [|a l IH]; cbn [map fold_right]; [reflexivity|]; rewrite IH; lia. Qed.

Lemma sum_of_mods f l : sum_long (map (fun x : nat => f x mod 2 ^ 64) l) = total (map f l) mod 2 ^ 64.
Proof.
  induction l as [|a l IH]; cbn [map sum_long total fold_right]; [reflexivity|]; unfold sum_long in IH; rewrite IH.
  unfold add_long; rewrite <- N.add_mod by discriminate; reflexivity.
Qed.

(** The products of unit u in pass p. *)
Definition product (i : nat) (units key : list (list N)) (p u : nat) : N := nth i (products (nth u units []) (nth (u
  + p) key [])) 0.

(** The two sums of each pass after n units. *)
Definition after (units key : list (list N)) (n : nat) : list (list N) :=
  map (fun p => map (fun i => total (map (product i units key p) (seq 0 n)) mod 2 ^ 64) (seq 0 2)) (seq 0 4).

Lemma add_one s0 s1 m k : zip_with add_long [s0 mod 2 ^ 64; s1 mod 2 ^ 64] (products m k) =
  [(s0 + nth 0 (products m k) 0) mod 2 ^ 64; (s1 + nth 1 (products m k) 0) mod 2 ^ 64].
Proof. unfold zip_with, products; cbn [combine map fst snd nth]; rewrite !add_long_mod; reflexivity. Qed.

Lemma add_units_is units key : (length units + 3 <= length key)%nat ->
  add_units (repeat [0; 0] 4) units key = after units key (length units).
Proof.
  unfold add_units; intro L.
  assert (X : forall n, (n <= length units)%nat ->
    fold_left (fun s u => add_unit s (nth u units []) (firstn 4 (skipn u key))) (seq 0 n) (repeat [0;
      0] 4) = after units key n);
    [|apply X; lia].
  induction n as [|n IH]; intro LN; [reflexivity|].
  rewrite (seq_S n 0), fold_left_app, IH by lia; cbn [fold_left]; rewrite Nat.add_0_l, (some_of [] 4) by lia.
  unfold after, add_unit; unfold zip_with at 1.
  transitivity (map (fun p => zip_with add_long
      [total (map (product 0 units key p) (seq 0 n)) mod 2 ^ 64;
        total (map (product 1 units key p) (seq 0 n)) mod 2 ^ 64]
      (products (nth n units []) (nth (n + p) key []))) (seq 0 4)); [reflexivity|].
  apply map_ext; intro p; rewrite add_one; change (seq 0 2) with [0; 1]%nat; cbn [map].
  rewrite !total_last; reflexivity.
Qed.

Lemma sum_of_products m k : sum_long (products m k) = (nth 0 (products m k) 0 + nth 1 (products m k) 0) mod 2 ^ 64.
Proof. rewrite sum_long_is; unfold products; cbn [total fold_right nth]; f_equal; lia. Qed.

Lemma total_zeros (l : list nat) : total (map (fun _ => 0) l) = 0.
Proof. unfold total; induction l as [|a l IH]; cbn [map fold_right]; [reflexivity|]; rewrite IH; reflexivity. Qed.

Lemma nh_pass_is key units used pass : (used <= length units)%nat ->
  nh_pass key units used pass =
  (total (map (product 0 units key pass) (seq 0 used)) + total (map (product 1 units key pass) (seq 0 used))) mod 2 ^
    64.
Proof.
  intro L; unfold nh_pass; replace (length units) with (used + (length units - used))%nat by lia.
  rewrite seq_app, map_app, sum_long_is, total_app, Nat.add_0_l.
  rewrite (map_ext_in _ (fun _ => 0) (seq used _)), total_zeros, N.add_0_r.
  - rewrite <- sum_long_is, <- total_sum, <- sum_of_mods; f_equal; apply map_ext_in; intros u J; apply in_seq in J.
    rewrite (proj2 (Nat.ltb_lt u used)) by lia; rewrite sum_of_products; reflexivity.
  - intros u J; apply in_seq in J; rewrite (proj2 (Nat.ltb_ge u used)) by lia; reflexivity.
Qed.

Lemma nth_of_firstn {T} (d : T) n u x : (u < n)%nat -> nth u (firstn n x) d = nth u x d.
Proof.
  revert u x; induction n as [|n IH]; intros u x L; [lia|]; destruct x as [|a x]; [destruct u; reflexivity|].
  destruct u as [|u]; [reflexivity|]; cbn [firstn nth]; apply IH; lia.
Qed.

Lemma product_firstn i units key p n :
  map (product i (firstn n units) key p) (seq 0 n) = map (product i units key p) (seq 0 n).
Proof.
  apply map_ext_in; intros u J; apply in_seq in J; unfold product; rewrite nth_of_firstn by lia; reflexivity.
Qed.

Lemma split_count len n : forall x : list N, length (split len n x) = n.
Proof. induction n as [|n IH]; intro x; cbn [split length]; auto. Qed.

(** The hash is what the kernels compute, with both sums of each pass added. *)
Theorem add_units_are_nh key message size : (size <= 1024)%nat ->
  nh key message size = flat_map (fun s => little_endian 8 (sum_long s))
    (add_units (repeat [0; 0] 4) (firstn ((size + 15) / 16) (split 4 64 (le_words 256 message))) (split 4 67
      (le_words 268 key))).
Proof.
  intro L; unfold nh; set (used := ((size + 15) / 16)%nat); set (us := split 4 64 _); set (ks := split 4 67 _).
  assert (U : (used <= 64)%nat) by (unfold used;
    pose proof (Nat.div_lt_upper_bound (size + 15) 16 65 ltac:(lia) ltac:(lia)); lia).
  assert (LU : length us = 64%nat) by apply split_count; assert (LK : length ks = 67%nat) by apply split_count.
  assert (LF : length (firstn used us) = used) by (rewrite firstn_length; lia).
  rewrite add_units_is by (rewrite LF, LK; lia); rewrite LF; unfold after.
  rewrite flat_map_concat_map, (flat_map_concat_map _ (map _ _)), map_map; f_equal; apply map_ext; intro p; f_equal.
  rewrite nh_pass_is by lia; change (seq 0 2) with [0; 1]%nat; cbn [map sum_long fold_right].
  rewrite !product_firstn.
  unfold add_long; rewrite N.add_0_r, N.mod_mod, <- N.add_mod by discriminate; reflexivity.
Qed.

(** ** Groups *)

Lemma total_by_four f n : total (map f (seq 0 (4 * n))) =
  total (map (fun u => total (map (fun g => f (4 * g + u)%nat) (seq 0 n))) (seq 0 4)).
Proof.
  induction n as [|n IH]; [reflexivity|].
  replace (4 * S n)%nat with (S (S (S (S (4 * n))))) by lia; rewrite !total_last, IH, !total_last.
  rewrite !Nat.add_succ_r, !Nat.add_0_r; change (seq 0 0) with (@nil nat); cbn [map]; lia.
Qed.

(** The two sums of each lane of each pass after n groups. *)
Definition lanes_after (units key : list (list N)) (n : nat) : list (list (list N)) :=
  map (fun p => map (fun u => map (fun i =>
    total (map (fun g => product i units key p (4 * g + u)) (seq 0 n)) mod 2 ^ 64) (seq 0 2)) (seq 0 4)) (seq 0 4).

Lemma add_groups_is n units key : length units = (4 * n)%nat -> (4 * n + 3 <= length key)%nat ->
  add_groups (repeat (repeat [0; 0] 4) 4) (map (fun g => firstn 4 (skipn (4 * g) units)) (seq 0 n)) key =
  lanes_after units key n.
Proof.
  intros LU LK; unfold add_groups; rewrite map_length, seq_length.
  assert (X : forall k, (k <= n)%nat ->
    fold_left (fun s g => add_group s (nth g (map (fun g => firstn 4 (skipn (4 * g) units)) (seq 0 n)) [])
      (firstn 7 (skipn (4 * g) key))) (seq 0 k) (repeat (repeat [0; 0] 4) 4) = lanes_after units key k); [|apply X;
        lia].
  induction k as [|k IH]; intro L; [reflexivity|].
  rewrite (seq_S k 0), fold_left_app, IH by lia; cbn [fold_left]; rewrite Nat.add_0_l, one_of_seq by lia.
  rewrite (some_of [] 4), (some_of [] 7) by lia.
  transitivity (map (fun p => map (fun u => zip_with add_long
      [total (map (fun g => product 0 units key p (4 * g + u)) (seq 0 k)) mod 2 ^ 64;
       total (map (fun g => product 1 units key p (4 * g + u)) (seq 0 k)) mod 2 ^ 64]
      (products (nth (4 * k + u) units []) (nth (4 * k + (u + p)) key []))) (seq 0 4)) (seq 0 4)); [reflexivity|].
  apply map_ext; intro p; apply map_ext; intro u; rewrite add_one, Nat.add_assoc; change (seq 0 2) with [0; 1]%nat;
    cbn [map].
  rewrite !total_last; reflexivity.
Qed.

(** The sums of all lanes are those of units in a row. *)
Theorem add_groups_are_add_units n units key : length units = (4 * n)%nat -> (4 * n + 3 <= length key)%nat ->
  map (fold_right (zip_with add_long) [0; 0])
    (add_groups (repeat (repeat [0; 0] 4) 4) (map (fun g => firstn 4 (skipn (4 * g) units)) (seq 0 n)) key) =
  add_units (repeat [0; 0] 4) units key.
Proof.
  intros LU LK; rewrite add_groups_is, add_units_is by lia; rewrite LU; unfold lanes_after, after; rewrite map_map.
  apply map_ext; intro p; change (seq 0 2) with [0; 1]%nat; cbn [map]; rewrite !total_by_four.
  change (seq 0 4) with [0; 1; 2; 3]%nat; unfold zip_with; cbn [map fold_right combine fst snd total].
  rewrite !add_long_mod, !N.add_mod_idemp_r, !N.add_assoc, !N.add_mod_idemp_r, !N.add_assoc by discriminate;
    reflexivity.
Qed.
