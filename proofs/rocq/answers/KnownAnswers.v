(** * KnownAnswers: the specification, evaluated by Rocq's kernel on published answers *)

From Coq Require Import Ascii String List Bool NArith.
From Veriplex Require Import AES Simpira1024 Duplex Protocol.
Import ListNotations.

(** ** Hexadecimal *)

Definition digit (c : ascii) : N :=
  let n := N_of_ascii c in if (n <? 58)%N then (n - 48)%N else (n - 87)%N.

Fixpoint unhex (s : string) : list byte :=
  match s with
  | String a (String b s) => (16 * digit a + digit b)%N :: unhex s
  | _ => []
  end.

Fixpoint same (x y : list byte) : bool :=
  match x, y with
  | [], [] => true
  | a :: x, b :: y => (a =? b)%N && same x y
  | _, _ => false
  end.

Lemma same_eq x : forall y, same x y = true -> x = y.
Proof.
  induction x as [|a x IH]; intros [|b y] E; simpl in E; try discriminate; [reflexivity|].
  apply andb_prop in E as [A E]; apply N.eqb_eq in A; now rewrite A, (IH y E).
Qed.

(** As [forallb], but what comes after the first that does not hold is not evaluated. *)
Fixpoint all_hold {A} (holds : A -> bool) (answers : list A) : bool :=
  match answers with [] => true | a :: answers => if holds a then all_hold holds answers else false end.

Lemma forallb_all_hold {A} (holds : A -> bool) answers : all_hold holds answers = true -> forallb holds answers = true.
Proof. induction answers as [|a answers IH]; simpl; [reflexivity|]; destruct (holds a); [exact IH|discriminate]. Qed.

Lemma map_all_hold {A} (f g : A -> list byte) answers :
  all_hold (fun a => same (f a) (g a)) answers = true -> map f answers = map g answers.
Proof.
  induction answers as [|a answers IH]; simpl; [reflexivity|].
  destruct (same (f a) (g a)) eqn:S; [|discriminate]; intro H; now rewrite (same_eq _ _ S), IH.
Qed.

(** ** AES: FIPS 197 *)

(** Section 4.2: {57} * {83} = {c1}; and {57} * {13} = {fe} (section 4.2.1). *)
Example gf_mul_example : gf_mul 0x57 0x83 = 0xc1%N /\ gf_mul 0x57 0x13 = 0xfe%N.
Proof. split; vm_compute; reflexivity. Qed.

(** Section 5.1.1: {53} goes to {ed}; and figure 7, the corners of the S-box. *)
Example sub_byte_example : map sub_byte [0x53; 0x00; 0x0f; 0xf0; 0xff]%N = [0xed; 0x63; 0x76; 0x8c; 0x16]%N.
Proof. vm_compute; reflexivity. Qed.

(** Appendix B, round 1: start of round, after SubBytes, after ShiftRows, after MixColumns, round
    key, and the start of round 2. *)
Example round_example :
  let start := unhex "193de3bea0f4e22b9ac68d2ae9f84808" in
  let subbed := unhex "d42711aee0bf98f1b8b45de51e415230" in
  let shifted := unhex "d4bf5d30e0b452aeb84111f11e2798e5" in
  let mixed := unhex "046681e5e0cb199a48f8d37a2806264c" in
  let key := unhex "a0fafe1788542cb123a339392a6c7605" in
  sub_bytes start = subbed /\ shift_rows subbed = shifted /\ mix_columns shifted = mixed /\
  aes_round start key = unhex "a49c7ff2689f352b6b5bea43026a5049".
Proof. vm_compute; repeat split. Qed.

(** Every round of appendix C.1 except the last: the state at the start of rounds 1 to 10, and the
    keys of rounds 1 to 9. *)
Definition fips_197_starts : list string :=
  ["00102030405060708090a0b0c0d0e0f0"; "89d810e8855ace682d1843d8cb128fe4"; "4915598f55e5d7a0daca94fa1f0a63f7";
   "fa636a2825b339c940668a3157244d17"; "247240236966b3fa6ed2753288425b6c"; "c81677bc9b7ac93b25027992b0261996";
   "c62fe109f75eedc3cc79395d84f9cf5d"; "d1876c0f79c4300ab45594add66ff41f"; "fde3bad205e5d0d73547964ef1fe37f1";
   "bd6e7c3df2b5779e0b61216e8b10b689"]%string.
Definition fips_197_keys : list string :=
  ["d6aa74fdd2af72fadaa678f1d6ab76fe"; "b692cf0b643dbdf1be9bc5006830b3fe"; "b6ff744ed2c2c9bf6c590cbf0469bf41";
   "47f7f7bc95353e03f96c32bcfd058dfd"; "3caaa3e8a99f9deb50f3af57adf622aa"; "5e390f7df7a69296a7553dc10aa31f6b";
   "14f9701ae35fe28c440adf4d4ea9c026"; "47438735a41c65b9e016baf4aebf7ad2"; "549932d1f08557681093ed9cbe2c974e"]%string.

Example rounds_example :
  map (fun sk => aes_round (unhex (fst sk)) (unhex (snd sk))) (combine fips_197_starts fips_197_keys)
  = map unhex (tl fips_197_starts).
Proof. vm_compute; reflexivity. Qed.

(** ** The duplex: operations with their expected output, and the state after them *)

Inductive operation :=
  | Do_absorb (data : string) | Do_absorb_leb128 (value : N) | Do_squeeze (out : string)
  | Do_encrypt (data out : string) | Do_decrypt (data out : string)
  | Do_frame (id : N) | Do_permute | Do_ratchet.

Record sequence := Sequence { operations : list operation; rate_after : N; frame_after : N; state_after : string }.

Definition operate (dk : duplex * bool) (o : operation) : duplex * bool :=
  let P := Simpira1024.permute in
  let (d, ok) := dk in
  let out (od : list byte * duplex) (want : string) := (snd od, ok && same (fst od) (unhex want)) in
  match o with
  | Do_absorb data => (absorb P (unhex data) d, ok)
  | Do_absorb_leb128 value => (absorb P (leb_fuel 64 value) d, ok)
  | Do_squeeze want => out (squeeze P (length (unhex want)) d) want
  | Do_encrypt data want => out (encrypt P (unhex data) d) want
  | Do_decrypt data want => out (decrypt P (unhex data) d) want
  | Do_frame id => (frame P id d, ok)
  | Do_permute => (Duplex.permute P d, ok)
  | Do_ratchet => (ratchet P d, ok)
  end.

Definition holds (s : sequence) : bool :=
  let (d, ok) := fold_left operate (operations s) (start, true) in
  ok && (N.of_nat (rate_idx d) =? rate_after s)%N && (N.of_nat (frame_idx d) =? frame_after s)%N &&
  same (state d) (unhex (state_after s)).
