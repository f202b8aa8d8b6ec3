(** * Operations: what each kernel does with a block, on bytes and on symbolic bytes *)

From Coq Require Import List NArith.
From Veriplex Require Import AES Simpira1024 DuplexBlocks Symbolic Loop.
Import ListNotations.

Definition send_block (s : list sbyte) (nodes : list node) : list sbyte * list node :=
  spermute (sxor s (map const (zero 94 ++ [0x00; 0x81]%N ++ zero 32))) nodes.

Lemma send_block_agrees env s nodes s' nodes' : send_block s nodes = (s', nodes') -> consistent env nodes' ->
  end_block (evs env s) = evs env s'.
Proof.
  unfold send_block, end_block; intros E C; apply (spermute_sound env) in E as [_ E].
  rewrite E, evs_xor, evs_const by exact C; reflexivity.
Qed.

(** Operations that end a block; [before] is the state before its padding, [after] what the buffers hold. *)
Section Ends.
Variables (before : list byte -> list (list byte) -> list byte) (after : list byte -> list (list byte) -> list (list byte)).
Variables (sbefore : list sbyte -> list (list sbyte) -> list sbyte) (safter : list sbyte -> list (list sbyte) -> list (list sbyte)).
Hypothesis before_agrees : forall env s cs, before (evs env s) (map (evs env) cs) = evs env (sbefore s cs).
Hypothesis after_agrees : forall env s cs, after (evs env s) (map (evs env) cs) = map (evs env) (safter s cs).

Definition ends_symbols (s : list sbyte) (cs : list (list sbyte)) (nodes : list node) :=
  match send_block (sbefore s cs) nodes with (s', nodes') => Some (s', safter s cs, nodes') end.

Lemma ends_agree env s cs nodes s' cs' nodes' : ends_symbols s cs nodes = Some (s', cs', nodes') -> extends nodes nodes' /\
  (consistent env nodes' ->
   (end_block (before (evs env s) (map (evs env) cs)), after (evs env s) (map (evs env) cs)) = (evs env s', map (evs env) cs')).
Proof.
  unfold ends_symbols; destruct (send_block (sbefore s cs) nodes) as [t n] eqn:E; intro F.
  assert (X : t = s' /\ safter s cs = cs' /\ n = nodes') by (repeat split; congruence); destruct X as (-> & <- & ->).
  split; [exact (proj1 (spermute_sound env _ _ _ _ E))|]; intro C.
  rewrite before_agrees, after_agrees, (send_block_agrees env _ _ _ _ E C); reflexivity.
Qed.

Lemma enters_agree env (s : list sbyte) (nodes : list node) t nodes' : Some (s, nodes) = Some (t, nodes') ->
  consistent env nodes' -> evs env s = evs env t.
Proof. intros E _; assert (F : s = t) by congruence; rewrite F; reflexivity. Qed.

Definition ends_block : operation :=
  Operation (fun s => s) (fun s cs => (end_block (before s cs), after s cs)) (fun s nodes => Some (s, nodes)) ends_symbols
    enters_agree ends_agree.
End Ends.

Lemma nth_map_evs env i cs : nth i (map (evs env) cs) [] = evs env (nth i cs []).
Proof. apply (map_nth (evs env) cs []). Qed.

Local Ltac agrees :=
  intros env s cs; cbn [map];
  rewrite ?nth_map_evs, ?evs_xor, ?evs_app, ?evs_firstn, ?evs_skipn, ?evs_const, ?evs_xor, ?evs_app, ?evs_firstn; reflexivity.

(** One buffer: input. *)
Definition absorb_op : operation.
Proof.
  refine (ends_block (fun s cs => xor s (nth 0 cs [] ++ zero 34)) (fun s cs => [nth 0 cs []])
    (fun s cs => sxor s (nth 0 cs [] ++ map const (zero 34))) (fun s cs => [nth 0 cs []]) _ _); agrees.
Defined.

(** One buffer: output. *)
Definition squeeze_op : operation.
Proof.
  refine (ends_block (fun s cs => zero 94 ++ skipn 94 s) (fun s cs => [firstn 94 s])
    (fun s cs => map const (zero 94) ++ skipn 94 s) (fun s cs => [firstn 94 s]) _ _); agrees.
Defined.

(** Two buffers: input, output. *)
Definition encrypt_op : operation.
Proof.
  refine (ends_block (fun s cs => xor s (nth 0 cs [] ++ zero 34)) (fun s cs => [nth 0 cs []; xor (firstn 94 s) (nth 0 cs [])])
    (fun s cs => sxor s (nth 0 cs [] ++ map const (zero 34))) (fun s cs => [nth 0 cs []; sxor (firstn 94 s) (nth 0 cs [])]) _ _); agrees.
Defined.

Definition decrypt_op : operation.
Proof.
  refine (ends_block (fun s cs => nth 0 cs [] ++ skipn 94 s) (fun s cs => [nth 0 cs []; xor (firstn 94 s) (nth 0 cs [])])
    (fun s cs => nth 0 cs [] ++ skipn 94 s) (fun s cs => [nth 0 cs []; sxor (firstn 94 s) (nth 0 cs [])]) _ _); agrees.
Defined.

(** One buffer, in place. *)
Definition encrypt_in_place_op : operation.
Proof.
  refine (ends_block (fun s cs => xor s (nth 0 cs [] ++ zero 34)) (fun s cs => [xor (firstn 94 s) (nth 0 cs [])])
    (fun s cs => sxor s (nth 0 cs [] ++ map const (zero 34))) (fun s cs => [sxor (firstn 94 s) (nth 0 cs [])]) _ _); agrees.
Defined.

Definition decrypt_in_place_op : operation.
Proof.
  refine (ends_block (fun s cs => nth 0 cs [] ++ skipn 94 s) (fun s cs => [xor (firstn 94 s) (nth 0 cs [])])
    (fun s cs => nth 0 cs [] ++ skipn 94 s) (fun s cs => [sxor (firstn 94 s) (nth 0 cs [])]) _ _); agrees.
Defined.
