(** * BoundNonces: in the ideal world nothing is shared between two nonces

    [nonces_apart]: transcripts of one user, with different nonces of one length after the same Mixes, have no list of blocks
    in common from the nonce on: what one asks for, the other does not even feed.  So in the ideal world of BoundSecret.v
    whatever one outputs is independent of the other.  The reason is that the bytes of the nonce are at one position. *)

From Coq Require Import String List Bool NArith Arith Lia.
From Veriplex Require Import Duplex Framing Protocol Tree BoundModel BoundSecret.
Import ListNotations.
Local Open Scope list_scope.
Local Open Scope nat_scope.

(** ** All bytes that were fed *)

Definition closed_bytes (bs : list block) : list byte := concat (map fst bs).
Definition all_bytes (t : tape) : list byte := closed_bytes (closed t) ++ cur t.

Lemma closed_bytes_app x y : closed_bytes (x ++ y) = closed_bytes x ++ closed_bytes y.
Proof. unfold closed_bytes; now rewrite map_app, concat_app. Qed.

Lemma closed_bytes_prefix x y : prefix x y -> prefix (closed_bytes x) (closed_bytes y).
Proof. intros [w ->]; rewrite closed_bytes_app; eexists; reflexivity. Qed.

Lemma all_bytes_feed1 t k : all_bytes (feed1 t k) = all_bytes t ++ match k with Byte b => [b] | Close => [] end.
Proof.
  unfold all_bytes; destruct k as [b|]; cbn [feed1]; [destruct (_ =? _)|]; cbn [closed cur];
    rewrite ?closed_bytes_app; cbn [closed_bytes map concat fst]; rewrite ?app_nil_r, <- ?app_assoc; reflexivity.
Qed.

Lemma all_bytes_feed x : forall t, all_bytes (feed (bytes x) t) = all_bytes t ++ x.
Proof.
  induction x as [|b x IH]; intro t; [symmetry; apply app_nil_r|].
  change (feed (bytes (b :: x)) t) with (feed (bytes x) (feed1 t (Byte b))); now rewrite IH, all_bytes_feed1, <- app_assoc.
Qed.

Lemma grows_mark id t : prefix (all_bytes t) (all_bytes (mark id t)).
Proof.
  assert (E : all_bytes (mark id t) = (all_bytes t ++ [N.of_nat (fi t)]) ++ [id]).
  { unfold mark; rewrite all_bytes_feed1; f_equal; exact (all_bytes_feed1 t (Byte (N.of_nat (fi t)))). }
  rewrite E, <- app_assoc; eexists; reflexivity.
Qed.

Lemma grows_feed x t : prefix (all_bytes t) (all_bytes (feed (bytes x) t)).
Proof. rewrite all_bytes_feed; eexists; reflexivity. Qed.

Lemma grows_header c l t : prefix (all_bytes t) (all_bytes (tape_header c l t)).
Proof. unfold tape_header; eapply prefix_trans; [apply grows_mark|]; eapply prefix_trans; [apply grows_feed|apply grows_mark]. Qed.

(** A block that was closed has all of them. *)
Lemma closed_all t : closed_bytes (closed (feed1 t Close)) = all_bytes t.
Proof. cbn [feed1 closed]; rewrite closed_bytes_app; unfold closed_bytes at 2; cbn; now rewrite app_nil_r. Qed.

Section Program.
Variable O : list block -> list byte.

(** A program that begins after the bytes [x] asks for nothing without them, and ends after them. *)
Definition keeps (x : list byte) (q : prog (list byte * tape)) : Prop :=
  prefix x (all_bytes (snd (result O q))) /\ forall bs, In bs (needs O q) -> prefix x (closed_bytes bs).

Lemma keeps_ret x y t : prefix x (all_bytes t) -> keeps x (Ret (y, t)).
Proof. intro H; split; [exact H|intros bs []]. Qed.

Lemma keeps_bind x q f : keeps x q -> (forall r, prefix x (all_bytes (snd r)) -> keeps x (f r)) -> keeps x (bind q f).
Proof.
  intros [A B] H; destruct (H _ A) as [C D]; split; rewrite ?result_bind, ?needs_bind; [exact C|].
  intros bs I; apply in_app_or in I as [I|I]; auto.
Qed.

(** Once [x] is in closed blocks, it stays there. *)
Lemma keeps_within x t q : within_tapes O t q -> prefix x (closed_bytes (closed t)) -> keeps x q.
Proof.
  intros [A B] P; split.
  - eapply prefix_trans; [exact P|]; eapply prefix_trans; [apply closed_bytes_prefix, A|]; eexists; reflexivity.
  - intros bs I; destruct (B bs I) as [C _]; eapply prefix_trans; [exact P|now apply closed_bytes_prefix].
Qed.

Lemma keeps_stepping x o t : prefix x (all_bytes t) -> keeps x (stepping o t).
Proof.
  intro H; unfold stepping; assert (H' : prefix x (all_bytes (tape_header (code o) (label o) t)))
    by (eapply prefix_trans; [exact H|apply grows_header]).
  revert H'; generalize (tape_header (code o) (label o) t); clear t H; intros h H.
  assert (F : forall y, prefix x (all_bytes (feed (bytes y) h))) by (intro y; eapply prefix_trans; [exact H|apply grows_feed]).
  destruct o as [l|l y|l n|l p|l p|l i v|l].
  - now apply keeps_ret.
  - apply keeps_ret, F.
  - eapply keeps_within; [apply within_squeezing|]; rewrite closed_all; apply F.
  - eapply keeps_within; [apply within_encrypting|]; rewrite closed_all; exact H.
  - generalize tag_length; intro k; apply keeps_bind.
    + eapply keeps_within; [apply within_encrypting|]; rewrite closed_all; apply F.
    + intros [c u] U; apply keeps_bind; [eapply keeps_within; [apply within_squeezing|]; rewrite closed_all; exact U|].
      intros [g w] W; now apply keeps_ret.
  - apply keeps_ret, F.
  - set (t := if length (cur h) =? 0 then h else feed1 h Close).
    assert (T : prefix x (closed_bytes (closed t))).
    { unfold t; destruct (Nat.eqb_spec (length (cur h)) 0) as [E|E]; [|rewrite closed_all; exact H].
      unfold all_bytes in H; destruct (cur h); [now rewrite app_nil_r in H|discriminate]. }
    split; cbn [result snd needs].
    + eapply prefix_trans; [exact T|]; eapply prefix_trans; [|apply grows_feed]; eexists; reflexivity.
    + intros bs [<-|[]]; exact T.
Qed.

Lemma keeps_transcript x T : forall r, prefix x (all_bytes (snd r)) -> keeps x (transcript T r).
Proof.
  induction T as [|o T IH]; intros r H; cbn [transcript].
  - destruct r; now apply keeps_ret.
  - apply keeps_bind; [now apply keeps_stepping|exact IH].
Qed.
End Program.

(** ** Nonces *)

Definition mixes (T : list op) : Prop := forall o, In o T -> exists l x, o = Mix l x.

Fixpoint mixed (T : list op) (t : tape) : tape :=
  match T with Mix l x :: T => mixed T (feed (bytes x) (tape_header 2 l t)) | _ => t end.

Lemma mixed_is T R : mixes T -> forall x t, exists y, transcript (T ++ R) (x, t) = transcript R (y, mixed T t).
Proof.
  induction T as [|o T IH]; intros M x t; [now exists x|].
  destruct (M o (or_introl eq_refl)) as (l & y & ->); cbn [app transcript stepping code label snd bind mixed].
  apply IH; intros o I; apply M; now right.
Qed.

Lemma prefix_same {A} (x y z : list A) : length x = length y -> prefix x z -> prefix y z -> x = y.
Proof. intros L [a ->] [b E]; now apply app_split in E as [E _]. Qed.

Lemma program_from domain i T : program domain i T = transcript T ([], begun domain i no_key).
Proof.
  unfold program, begun, keyed; generalize (text "key"), no_key; intros l key.
  cbn [transcript stepping code label snd bind result]; reflexivity.
Qed.

Theorem nonces_apart (domain : nat -> list byte) i T l n n' R R' (O O' : list block -> list byte) bs :
  mixes T -> length n = length n' -> n <> n' ->
  In bs (needs O (program domain i (T ++ Mix l n :: R))) ->
  ~ prefix bs (closed (snd (result O' (program domain i (T ++ Mix l n' :: R'))))).
Proof.
  intros M L D I P; apply D; clear D.
  assert (F : forall n R, exists y, program domain i (T ++ Mix l n :: R) =
    transcript R (y, feed (bytes n) (tape_header 2 l (mixed T (begun domain i no_key))))).
  { intros m Q; rewrite program_from; destruct (mixed_is T (Mix l m :: Q) M [] (begun domain i no_key)) as [y ->].
    generalize (mixed T (begun domain i no_key)); intro t; cbn [transcript stepping code label snd bind]; eexists; reflexivity. }
  destruct (F n R) as [y E], (F n' R') as [y' E']; rewrite E in I; rewrite E' in P; clear F E E'.
  revert I P; generalize (tape_header 2 l (mixed T (begun domain i no_key))); intros h I P.
  destruct (keeps_transcript O (all_bytes (feed (bytes n) h)) R (y, feed (bytes n) h) (prefix_refl _)) as [_ A].
  destruct (keeps_transcript O' (all_bytes (feed (bytes n') h)) R' (y', feed (bytes n') h) (prefix_refl _)) as [B _].
  specialize (A bs I); rewrite all_bytes_feed in A, B.
  apply (app_inv_head (all_bytes h)); apply (prefix_same _ _ (all_bytes (snd (result O' (transcript R' (y', feed (bytes n') h)))))).
  - now rewrite !app_length, L.
  - eapply prefix_trans; [exact A|]; eapply prefix_trans; [apply closed_bytes_prefix, P|]; eexists; reflexivity.
  - exact B.
Qed.
