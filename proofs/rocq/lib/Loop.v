(** * Loop: kernels that process blocks, for every number of blocks

    The checker evaluates three pieces of a kernel: to the first test of the counter, from one test to the next, and from
    the last test to the return.  [loop_sound] joins them by induction on the number of blocks.  A record says what memory
    a kernel has: a state, of which some bytes are in memory between two iterations and the others in registers; tables;
    buffers that are only read; and streams of blocks. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Machine Symbolic Checker Segment Call.
Import ListNotations.
Local Open Scope Z_scope.

(** What a kernel computes, on bytes and on symbolic bytes.  [enter]: what it carries from one iteration to the next, from
    the state in memory, which is the beginning of that.  [on_bytes]: from what it carries and the content of the buffers
    that are only read and of a block of each stream, what it carries on and what those blocks then hold. *)
Record operation := Operation {
  enter : list byte -> list byte;
  on_bytes : list byte -> list (list byte) -> list byte * list (list byte);
  enter_symbols : list sbyte -> list node -> option (list sbyte * list node);
  on_symbols : list sbyte -> list (list sbyte) -> list node -> option (list sbyte * list (list sbyte) * list node);
  enters : forall env s nodes t nodes', enter_symbols s nodes = Some (t, nodes') -> consistent env nodes' ->
    enter (evs env s) = evs env t;
  agree : forall env s cs nodes s' cs' nodes', on_symbols s cs nodes = Some (s', cs', nodes') ->
    extends nodes nodes' /\
    (consistent env nodes' -> on_bytes (evs env s) (map (evs env) cs) = (evs env s', map (evs env) cs'))
}.

(** The state in memory: the size of its buffer, its own size, where in the buffer each byte of it is, the inverse of that,
    which bytes are there at the test, too, and how many bytes the kernel carries. *)
Record arrangement := Arrangement {
  room : nat;
  state_size : nat;
  place : nat -> nat;
  owner : nat -> option nat;
  held : nat -> bool;
  carried : nat
}.

(** A state that fills its buffer, and is in registers at the test. *)
Definition filling (size : nat) : arrangement := Arrangement size size (fun j => j) Some (fun _ => false) size.

(** Blocks in a row: the unknown with the address of the next one, whether they are written, their size, and by how much
    the address goes up. *)
Record stream := Stream { begins : nat; written : bool; block_size : nat; stride : nat }.

(** Where a kernel keeps things.  Unknowns stand for numbers at the call, and change by the same amount in each iteration. *)
Record kernel := Kernel_with {
  code : list byte;
  head : Z;                                     (* the test of the counter, from the start of the code *)
  state : nat;                                  (* the unknown with the address of the state *)
  arranged : arrangement;
  tables : list (nat * list byte);              (* what is known to be in memory *)
  given : list (nat * nat);                     (* other buffers that are only read, and their sizes *)
  streams : list stream;
  count : nat;                                  (* the counter: zero after the last block *)
  changes : list (nat * Z);                     (* what changes, and by how much *)
  arguments_in : list (nat * snumber);          (* registers at the call *)
  numbers_in : list (nat * snumber * snumber);  (* at the test: before the first one, and always *)
  words_in : list (nat * list nat);             (* vector registers there: pieces of 16 bytes of what is carried *)
  constants_in : list (nat * list byte);
  known_sums : list (nat * nat * nat);          (* the first two unknowns add up to the third *)
  known_pointers : list (nat * Z * nat);        (* the 8 bytes there, in a buffer that is only read, are an unknown *)
  copies_in : list (nat * list (nat * nat))     (* vector registers at the test: bytes of the buffers that are only read,
                                                   each with its buffer's place in [given] and its own there *)
}.

(** None of the registers has such bytes. *)
Notation Kernel code_ head_ state_ arranged_ tables_ given_ streams_ count_ changes_ arguments_ numbers_ words_ constants_
    sums_ pointers_ :=
  (Kernel_with code_ head_ state_ arranged_ tables_ given_ streams_ count_ changes_ arguments_ numbers_ words_ constants_
    sums_ pointers_ nil) (only parsing).

(** A part of memory, as the checker needs it: the unknown with its address, whether it is written, its size. *)
Notation part := (nat * bool * nat)%type (only parsing).

Definition total (gs : list part) : nat := fold_right (fun g t => (snd g + t)%nat) 0%nat gs.

(** Parts with unknown content, from input [at_] on. *)
Fixpoint inputs_at (at_ : nat) (gs : list part) : list region :=
  match gs with [] => [] | (u, w, n) :: gs => Region u w (input at_ n) :: inputs_at (at_ + n) gs end.

(** So much of n blocks is read or written. *)
Definition extent (d : stream) (n : nat) : Z :=
  match n with O => 0 | S n => Z.of_nat (stride d) * Z.of_nat n + Z.of_nat (block_size d) end.

Fixpoint distinct (l : list nat) : bool :=
  match l with [] => true | a :: l => negb (existsb (Nat.eqb a) l) && distinct l end.

Definition found (f : option symbolic) (ok : symbolic -> bool) : bool :=
  match f with Some s => ok s | None => false end.

Definition piece (f : option symbolic) : symbolic :=
  match f with Some s => s | None => Sym 0 [] [] None None [] [] [] end.

(** ** Lists *)

Lemma input_length a k : length (input a k) = k.
Proof. unfold input; now rewrite map_length, seq_length. Qed.

Lemma nth_map_seq {T} (none : T) f n i : (i < n)%nat -> nth i (map f (seq 0 n)) none = f i.
Proof.
  intro L; rewrite nth_indep with (d' := f 0%nat) by now rewrite map_length, seq_length.
  now rewrite (map_nth f), seq_nth.
Qed.

Lemma nth_evs env x i : nth i (evs env x) 0%N = ev env (nth i x (const 0)).
Proof. rewrite <- (map_nth (ev env)); unfold evs; rewrite ev_const; reflexivity. Qed.

Lemma flat_map_evs {T} env (f : T -> list sbyte) l : evs env (flat_map f l) = flat_map (fun x => evs env (f x)) l.
Proof. induction l as [|a l IH]; cbn [flat_map]; [reflexivity|]; rewrite evs_app, IH; reflexivity. Qed.

Lemma existsb_in l u : existsb (Nat.eqb u) l = true <-> In u l.
Proof.
  rewrite existsb_exists; split; [intros (v & J & E); apply Nat.eqb_eq in E as ->; exact J|].
  intro J; exists u; split; [exact J|apply Nat.eqb_refl].
Qed.

Lemma distinct_nodup l : distinct l = true -> NoDup l.
Proof.
  induction l as [|a l IH]; cbn [distinct]; intro H; constructor; apply andb_prop in H as [H1 H2]; auto.
  intro J; apply existsb_in in J; rewrite J in H1; discriminate.
Qed.

Lemma nodup_map {S T} (f : S -> T) l : NoDup (map f l) -> forall a b, In a l -> In b l -> f a = f b -> a = b.
Proof.
  induction l as [|c l IH]; cbn [map]; intros N a b I J E; [destruct I|]; inversion N as [|? ? N1 N2]; subst.
  destruct I as [<-|I], J as [<-|J]; auto; exfalso; apply N1; [rewrite E|rewrite <- E]; apply in_map; assumption.
Qed.

Lemma pairs_prefix {T} (Q : T -> T -> Prop) l1 l2 : ForallOrdPairs Q (l1 ++ l2) -> ForallOrdPairs Q l1.
Proof.
  induction l1 as [|a l1 IH]; cbn [app]; intro H; constructor; inversion H as [|? ? F G]; subst; auto.
  apply Forall_app in F; apply F.
Qed.

Lemma extent_whole u w k n : extent (Stream u w k k) n = Z.of_nat k * Z.of_nat n.
Proof. destruct n as [|n]; cbn [extent stride block_size]; lia. Qed.

Lemma extent_within d i n : (i < n)%nat -> Z.of_nat (stride d) * Z.of_nat i + Z.of_nat (block_size d) <= extent d n.
Proof. intro L; unfold extent; destruct n as [|k]; [lia|]; nia. Qed.

Lemma env_is env all p : agrees env all -> (p < 4096)%nat -> env (N.of_nat p) = nth p all 0%N.
Proof. intros Q L; rewrite Q by (unfold first; lia); unfold inputs; rewrite Nat2N.id; reflexivity. Qed.

(** The inputs of the checker that are one part of a string. *)
Lemma part_is env (x y z : list byte) a k : agrees env (x ++ y ++ z) -> length x = a -> length y = k -> (a + k <= 4096)%nat ->
  evs env (input a k) = y.
Proof.
  intros Q X Y M; rewrite (input_is env _ a k Q) by (rewrite ?app_length; lia).
  rewrite skipn_app, skipn_all2 by lia; rewrite X, Nat.sub_diag, skipn_O; cbn [app].
  rewrite firstn_app, Y, Nat.sub_diag, firstn_O, app_nil_r; apply firstn_all2; lia.
Qed.

Lemma inputs_hold env mm Bf gs : forall at_ pre, let cs := map (fun g => read mm (Bf (fst (fst g))) (snd g)) gs in
  length pre = at_ -> agrees env (pre ++ concat cs) -> (at_ + total gs <= 4096)%nat ->
  Forall (holds env Bf mm) (inputs_at at_ gs) /\ map (evs env) (map content (inputs_at at_ gs)) = cs.
Proof.
  induction gs as [|[[u w] n] gs IH]; cbn [map fst snd concat inputs_at total fold_right] in *; intros at_ pre L Q M.
  - split; constructor.
  - assert (V : evs env (input at_ n) = read mm (Bf u) n) by (eapply part_is; [exact Q|exact L|apply read_length|lia]).
    destruct (IH (at_ + n)%nat (pre ++ read mm (Bf u) n)) as [H1 H2].
    + rewrite app_length, read_length, L; reflexivity.
    + rewrite <- app_assoc; exact Q.
    + unfold total; lia.
    + split; [|cbn [map content]; rewrite V, H2; reflexivity]; constructor; [|exact H1]; unfold holds; cbn [start content].
      rewrite input_length; symmetry; exact V.
Qed.

Lemma inputs_layout gs : forall at_, map layout_of (inputs_at at_ gs) = gs.
Proof.
  induction gs as [|[[u w] n] gs IH]; intro at_; cbn [inputs_at map]; [reflexivity|]; rewrite IH; unfold layout_of.
  cbn [start writable content]; rewrite input_length; reflexivity.
Qed.

Lemma total_app x y : total (x ++ y) = (total x + total y)%nat.
Proof. unfold total; induction x as [|g x IH]; cbn [app fold_right]; [reflexivity|]; rewrite IH; lia. Qed.

Section Loop.
Variable A : abi.
Variable K : kernel.
Variable op : operation.

Notation isa_ := (isa_of A).
Notation R := (arranged K).

Definition change (u : nat) : Z := match find (fun c => (fst c =? u)%nat) (changes K) with Some c => snd c | None => 0 end.

Definition readable : list part := map (fun g => (fst g, false, snd g)) (given K).
Definition moving : list part := map (fun d => (begins d, written d, block_size d)) (streams K).

(** Memory of a piece: all but the blocks, and more. *)
Definition layout (w : bool) (more : list part) : list part :=
  (state K, w, room R) :: map (fun t => (fst t, false, length (snd t))) (tables K) ++ readable ++ more.

Definition regions (w : bool) (more : list part) : list region :=
  Region (state K) w (input (carried R) (room R)) :: map (fun t => Region (fst t) false (map const (snd t))) (tables K) ++
  inputs_at (carried R + room R) (readable ++ more).

(** What is carried: inputs of its own, but for the bytes that are in memory at the test. *)
Definition carried_symbols : list sbyte :=
  map (fun j => atom (N.of_nat (if (j <? state_size R)%nat && held R j then carried R + place R j else j))) (seq 0 (carried R)).

Definition state_symbols : list sbyte := map (fun j => atom (N.of_nat (carried R + place R j))) (seq 0 (state_size R)).

Definition words {T} (c : byte -> T) (gs : list (list T)) (s : list T) : list (nat * list T) :=
  map (fun rc => (fst rc, map c (snd rc))) (constants_in K) ++
  map (fun rl => (fst rl, flat_map (fun p => firstn 16 (skipn (16 * p) s)) (snd rl))) (words_in K) ++
  map (fun rp => (fst rp, map (fun bp => nth (snd bp) (nth (fst bp) gs []) (c 0%N)) (snd rp))) (copies_in K).

(** What is in the buffers that are only read. *)
Definition given_symbols : list (list sbyte) := map content (inputs_at (carried R + room R) readable).

Definition numbers : list (nat * snumber) := map (fun r => (fst (fst r), snd r)) (numbers_in K).

(** After an iteration, and when the counter is zero. *)
Definition changed (v : snumber) : snumber := match v with (Some u, x) => (Some u, x + change u) | _ => v end.
Definition counted (v : snumber) : snumber :=
  match v with (Some u, x) => if (u =? count K)%nat then (None, x) else v | _ => v end.
Definition with_numbers (f : snumber -> snumber) : list (nat * snumber) := map (fun rv => (fst rv, f (snd rv))) numbers.

Definition knowing (nonzero : option nat) : knowledge := Knowing (least A) nonzero (known_sums K) (known_pointers K).

Definition first_goal := enter_symbols op state_symbols [].
Definition goal := on_symbols op carried_symbols (map content (inputs_at (carried R + room R) (readable ++ moving))) [].

Definition run_to (to from : Z) (nonzero : option nat) (ns : list (nat * snumber)) (ws : list (nat * list sbyte)) (w : bool)
    (more : list part) (nodes : list node) : option symbolic :=
  srun isa_ (code K) (knowing nonzero) 4000 to (started from ns ws (regions w more) nodes (gprs A) (vecs A)).

Definition entry_found :=
  match first_goal with Some (_, nodes) => run_to (head K) 0 None (arguments_in K) [] false [] nodes | None => None end.

Definition step_from (nodes : list node) : option symbolic :=
  run_to (head K) (head K) (Some (count K)) numbers (words const given_symbols carried_symbols) true moving nodes.

Definition step_found := match goal with Some (_, nodes) => step_from nodes | None => None end.

Definition exit_found :=
  run_to (last_at A (code K)) (head K) None (with_numbers counted) (words const given_symbols carried_symbols) true [] [].

(** The bytes that are in memory at the test. *)
Definition held_ok (x s : list sbyte) : bool :=
  forallb (fun j => negb (held R j) || sbyte_eqb (nth (place R j) x (const 0)) (nth j s (const 0))) (seq 0 (state_size R)).

Definition entry_ok (s : symbolic) : bool :=
  match first_goal with
  | Some (t, _) =>
      (s_pc s =? head K) && sane A (code K) (layout false []) s && forallb (number_ok (s_gpr s)) (map fst (numbers_in K)) &&
      forallb (word_ok (s_vec s)) (words const given_symbols t) && (length t =? carried R)%nat &&
      held_ok (input (carried R) (room R)) t
  | None => false
  end.

(** The bytes that are held are right, and those that do not belong to the state as they were. *)
Definition memory_ok (x s : list sbyte) : bool :=
  held_ok x s &&
  forallb (fun p => match owner R p with
                    | Some _ => true
                    | None => sbyte_eqb (nth p x (const 0)) (atom (N.of_nat (carried R + p)))
                    end) (seq 0 (room R)).

Definition step_gives (t : list sbyte) (cs : list (list sbyte)) (s : symbolic) : bool :=
  (s_pc s =? head K) && sane A (code K) (layout true moving) s && forallb (number_ok (s_gpr s)) (with_numbers changed) &&
  forallb (word_ok (s_vec s)) (words const given_symbols t) && (length t =? carried R)%nat &&
  list_eqb word_eqb (skipn (1 + length (tables K) + length (given K)) (map content (s_mem s))) cs &&
  memory_ok (hd [] (map content (s_mem s))) t.

Definition step_ok (s : symbolic) : bool := match goal with Some (t, cs, _) => step_gives t cs s | None => false end.

(** Both at once, so that [goal] is evaluated once. *)
Definition step_checks : bool :=
  match goal with Some (t, cs, nodes) => found (step_from nodes) (step_gives t cs) | None => false end.

Lemma step_checks_are : step_checks = found step_found step_ok.
Proof. unfold step_checks, step_found, step_ok; destruct goal as [[[t cs] nodes]|]; reflexivity. Qed.

(** At the end the state is in its place, and other bytes are as they were. *)
Definition left_symbols (s : list sbyte) : list sbyte :=
  map (fun p => match owner R p with Some j => nth j s (const 0) | None => atom (N.of_nat (carried R + p)) end)
    (seq 0 (room R)).

Definition exit_ok (s : symbolic) : bool :=
  (s_pc s =? last_at A (code K)) && sane A (code K) (layout true []) s && forallb (cleared_ok (s_vec s)) (cleared A) &&
  word_eqb (hd [] (map content (s_mem s))) (left_symbols carried_symbols).

Definition shape_ok : bool :=
  forallb (fun u => change u =? 0) (state K :: map fst (tables K) ++ map fst (given K)) &&
  forallb (fun d => (change (begins d) =? Z.of_nat (stride d)) && (negb (written d) || (stride d =? block_size d)%nat))
    (streams K) &&
  distinct (map begins (streams K)) && (change (count K) <? 0) &&
  forallb (fun s => let '(u, v, w) := s in change u + change v =? change w) (known_sums K) &&
  forallb (fun p => let '(u, x, v) := p in
    (change v =? 0) && existsb (fun g => (fst g =? u)%nat && (0 <=? x) && (x + 8 <=? Z.of_nat (snd g))) (given K))
    (known_pointers K) &&
  forallb (fun j => (place R j <? room R)%nat && match owner R (place R j) with Some i => (i =? j)%nat | None => false end)
    (seq 0 (state_size R)) &&
  forallb (fun p => match owner R p with Some j => (j <? state_size R)%nat && (place R j =? p)%nat | None => true end)
    (seq 0 (room R)) &&
  (state_size R <=? carried R)%nat && (carried R + room R + total (readable ++ moving) <=? 4096)%nat &&
  forallb (fun rw => length (snd rw) <=? least A)%nat (words const given_symbols carried_symbols).

Definition checks : bool :=
  shape_ok && found entry_found entry_ok && step_checks && found exit_found exit_ok.

(** ** From the checks to the machine *)

Hypothesis CH : checks = true.

Variables (at_ : Z) (origin : nat -> Z) (m0 : machine) (n : nat) (others : list (bool * (Z * Z))).

(** The values of the checker's unknowns in round i. *)
Definition B (i u : nat) : Z := origin u + change u * Z.of_nat i.

Definition fixed : list (bool * (Z * Z)) :=
  (true, (origin (state K), Z.of_nat (room R))) ::
  map (fun t => (false, (origin (fst t), Z.of_nat (length (snd t))))) (tables K) ++
  map (fun g => (false, (origin (fst g), Z.of_nat (snd g)))) (given K).
Definition buffer_of (d : stream) : bool * (Z * Z) := (written d, (origin (begins d), extent d n)).
Definition buffers : list (bool * (Z * Z)) := fixed ++ map buffer_of (streams K).

Hypothesis AT : pc m0 = at_.
Hypothesis ARGUMENTS : Forall (fun rv => gpr m0 (fst rv) = number_is origin (snd rv)) (arguments_in K).
Hypothesis FIRST : Forall (fun r => number_is origin (snd (fst r)) = number_is origin (snd r)) (numbers_in K).
Hypothesis CALL : valid A (code K) others buffers m0.
Hypothesis TABLES : Forall (fun t => read (mem m0) (origin (fst t)) (length (snd t)) = snd t) (tables K).
Hypothesis SUMS : Forall (fun s => let '(u, v, w) := s in origin u + origin v = origin w) (known_sums K).
Hypothesis POINTERS : Forall (fun p => let '(u, x, v) := p in
  wrap (number_of (read (mem m0) (origin u + x) 8)) = wrap (origin v)) (known_pointers K).
Hypothesis COUNT : origin (count K) = - change (count K) * Z.of_nat n.
Hypothesis SMALL : origin (count K) < 2 ^ 64.
Hypothesis ENDS : ends_in_return A (code K).

Definition state_at (m : memory) : list byte :=
  map (fun j => m (origin (state K) + Z.of_nat (place R j))) (seq 0 (state_size R)).

Definition given_bytes : list (list byte) := map (fun g => read (mem m0) (origin (fst g)) (snd g)) (given K).

Definition block_at (m : memory) (i : nat) : list (list byte) :=
  map (fun d => read m (B i (begins d)) (block_size d)) (streams K).

Fixpoint carried_after (i : nat) : list byte :=
  match i with
  | O => enter op (state_at (mem m0))
  | S i => fst (on_bytes op (carried_after i) (given_bytes ++ block_at (mem m0) i))
  end.

Definition output (i : nat) : list (list byte) := snd (on_bytes op (carried_after i) (given_bytes ++ block_at (mem m0) i)).

Definition touched (i : nat) (a : Z) : Prop :=
  (exists j, (j < state_size R)%nat /\ a = origin (state K) + Z.of_nat (place R j)) \/
  exists d, In d (streams K) /\ written d = true /\
    origin (begins d) <= a < origin (begins d) + Z.of_nat (block_size d) * Z.of_nat i.

(** What no iteration changes, or changes only where it may. *)
Record kept_until (i : nat) (m : machine) : Prop := Kept {
  k_saved : forall r, In r (saved A) -> gpr m r = gpr m0 r;
  k_kept : forall r, In r (kept A) -> vec m r = vec m0 r;
  k_vec : forall r, length (vec m r) = full isa_;
  k_frame : forall a, ~ touched i a -> mem m a = mem m0 a
}.

Record at_test (i : nat) (tr : list event) (m : machine) : Prop := At_test {
  t_pc : pc m = wrap (at_ + head K);
  t_numbers : Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) numbers;
  t_words : Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = snd rw) (words (fun b => b) given_bytes (carried_after i));
  t_length : length (carried_after i) = carried R;
  t_held : forall j, (j < state_size R)%nat -> held R j = true ->
    mem m (origin (state K) + Z.of_nat (place R j)) = nth j (carried_after i) 0%N;
  t_done : forall j, (j < i)%nat -> block_at (mem m) j = output j;
  t_kept_until : kept_until i m;
  t_trace : trace m = tr ++ trace m0
}.

(** *** Registers and places *)

Record shaped : Prop := Shaped {
  h_fixed : forall u, u = state K \/ In u (map fst (tables K)) \/ In u (map fst (given K)) -> change u = 0;
  h_stream : forall d, In d (streams K) ->
    change (begins d) = Z.of_nat (stride d) /\ (written d = true -> stride d = block_size d);
  h_distinct : NoDup (map begins (streams K));
  h_count : change (count K) < 0;
  h_sums : forall u v w, In (u, v, w) (known_sums K) -> change u + change v = change w;
  h_pointers : forall u x v, In (u, x, v) (known_pointers K) -> change v = 0 /\
    exists k, In (u, k) (given K) /\ 0 <= x /\ x + 8 <= Z.of_nat k;
  h_place : forall j, (j < state_size R)%nat -> (place R j < room R)%nat /\ owner R (place R j) = Some j;
  h_owner : forall p j, (p < room R)%nat -> owner R p = Some j -> (j < state_size R)%nat /\ place R j = p;
  h_carried : (state_size R <= carried R)%nat;
  h_size : (carried R + room R + total (readable ++ moving) <= 4096)%nat;
  h_words : Forall (fun rw => length (snd rw) <= least A)%nat (words const given_symbols carried_symbols)
}.

Lemma shape : shaped.
Proof.
  pose proof CH as H; unfold checks in H; do 3 (apply andb_prop in H as [H _]); unfold shape_ok in H.
  do 10 (let Q := fresh "Q" in apply andb_prop in H as [H Q]).
  rewrite forallb_forall in H, Q8, Q5, Q4, Q3, Q2, Q; apply Nat.leb_le in Q0, Q1; apply Z.ltb_lt in Q6.
  constructor; auto using distinct_nodup.
  - intros u J; apply Z.eqb_eq, H; cbn [In]; rewrite in_app_iff; intuition.
  - intros d J; specialize (Q8 d J); apply andb_prop in Q8 as [X Y]; apply Z.eqb_eq in X; split; [exact X|].
    intro W; rewrite W in Y; apply Nat.eqb_eq in Y; exact Y.
  - intros u v w J; apply Z.eqb_eq; exact (Q5 _ J).
  - intros u x v J; specialize (Q4 _ J); cbv beta iota in Q4; apply andb_prop in Q4 as [X Y]; apply Z.eqb_eq in X.
    split; [exact X|]; apply existsb_exists in Y as ([t k] & I & Y); cbn [fst snd] in Y.
    apply andb_prop in Y as [Y Y3]; apply andb_prop in Y as [Y1 Y2]; apply Nat.eqb_eq in Y1 as ->; apply Z.leb_le in Y2, Y3.
    exists k; auto.
  - intros j L; specialize (Q3 j (proj2 (in_seq _ _ _) (conj (Nat.le_0_l _) L))); apply andb_prop in Q3 as [X Y].
    apply Nat.ltb_lt in X; destruct (owner R (place R j)); [apply Nat.eqb_eq in Y as ->; auto|discriminate].
  - intros p j L E; specialize (Q2 p (proj2 (in_seq _ _ _) (conj (Nat.le_0_l _) L))); rewrite E in Q2.
    apply andb_prop in Q2 as [X Y]; apply Nat.ltb_lt in X; apply Nat.eqb_eq in Y; auto.
  - apply Forall_forall; intros rw J; apply Nat.leb_le, Q, J.
Qed.

Lemma B_fixed i u : change u = 0 -> B i u = origin u.
Proof. unfold B; intros ->; lia. Qed.

Lemma B_first u : B 0 u = origin u.
Proof. unfold B; lia. Qed.

Lemma B_state i : B i (state K) = origin (state K).
Proof. apply B_fixed, (h_fixed shape); auto. Qed.

Lemma B_stream i d : In d (streams K) -> B i (begins d) = origin (begins d) + Z.of_nat (stride d) * Z.of_nat i.
Proof. intro J; unfold B; rewrite (proj1 (h_stream shape d J)); reflexivity. Qed.

Lemma number_first v : number_is (B 0) v = number_is origin v.
Proof. destruct v as [[u|] x]; cbn [number_is]; rewrite ?B_first; reflexivity. Qed.

Lemma number_changed i v : number_is (B i) (changed v) = number_is (B (S i)) v.
Proof.
  destruct v as [[u|] x]; cbn [changed number_is]; [|reflexivity]; f_equal; unfold B; rewrite Nat2Z.inj_succ; ring.
Qed.

Lemma number_counted v : number_is (B n) (counted v) = number_is (B n) v.
Proof.
  destruct v as [[u|] x]; cbn [counted]; [|reflexivity]; destruct (Nat.eqb_spec u (count K)) as [->|]; [|reflexivity].
  cbn [number_is]; f_equal; unfold B; rewrite COUNT; ring.
Qed.

Lemma with_numbers_are i j f m : (forall v, number_is (B i) (f v) = number_is (B j) v) ->
  Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) (with_numbers f) <->
  Forall (fun rv => gpr m (fst rv) = number_is (B j) (snd rv)) numbers.
Proof.
  intro H; unfold with_numbers; rewrite Forall_map; split; apply Forall_impl; intros rv; cbn [fst snd]; rewrite H; auto.
Qed.

Lemma words_evs env gs s : map (fun rw => (fst rw, evs env (snd rw))) (words const gs s) =
  words (fun b => b) (map (evs env) gs) (evs env s).
Proof.
  unfold words; rewrite !map_app, !map_map; f_equal; [|f_equal]; apply map_ext; intros [r x]; cbn [fst snd]; f_equal.
  - rewrite evs_const, map_id; reflexivity.
  - rewrite flat_map_evs; induction x as [|p x IH]; cbn [flat_map]; [reflexivity|]; rewrite IH, evs_firstn, evs_skipn; reflexivity.
  - unfold evs at 1; rewrite map_map; apply map_ext; intros [b p]; cbn [fst snd]; rewrite <- nth_evs; f_equal.
    symmetry; exact (map_nth (evs env) gs [] b).
Qed.

Lemma words_start env m gs s : Forall (fun rw => length (snd rw) <= least A)%nat (words const gs s) ->
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = snd rw) (words (fun b => b) (map (evs env) gs) (evs env s)) ->
  Forall (fun rw => (length (snd rw) <= least A)%nat /\ firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw))
    (words const gs s).
Proof.
  rewrite <- words_evs; intros L H; rewrite Forall_forall in *; intros rw J; split; [exact (L rw J)|].
  specialize (H _ (in_map (fun rw => (fst rw, evs env (snd rw))) _ _ J)); cbn [fst snd] in H.
  rewrite evs_length in H; exact H.
Qed.

Lemma words_stop env m gs s :
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) (words const gs s) ->
  Forall (fun rw => firstn (length (snd rw)) (vec m (fst rw)) = snd rw) (words (fun b => b) (map (evs env) gs) (evs env s)).
Proof.
  rewrite <- words_evs; intro H; rewrite Forall_forall in *; intros rw J; apply in_map_iff in J as (x & <- & J).
  cbn [fst snd]; rewrite evs_length; exact (H x J).
Qed.

(** *** Apartness *)

Lemma all_apart : ForallOrdPairs compatible (code_part (code K) m0 :: fixed ++ map buffer_of (streams K)).
Proof. exact (pairs_without _ _ _ _ (v_apart _ _ _ _ _ CALL)). Qed.

Lemma all_range : Forall in_space (code_part (code K) m0 :: fixed ++ map buffer_of (streams K)).
Proof.
  pose proof (v_range _ _ _ _ _ CALL) as Q; inversion Q as [|? ? Q1 Q2]; subst.
  apply Forall_app in Q2; constructor; [exact Q1|apply Q2].
Qed.

Lemma extent_written d : In d (streams K) -> written d = true -> extent d n = Z.of_nat (block_size d) * Z.of_nat n.
Proof. intros J W; destruct (h_stream shape d J) as [_ S]; unfold extent; rewrite (S W); clear; destruct n as [|k]; lia. Qed.

(** A place in a block that is written next, or was written before. *)
Lemma written_within d i a : In d (streams K) -> written d = true -> (i <= n)%nat ->
  origin (begins d) <= a < origin (begins d) + Z.of_nat (block_size d) * Z.of_nat i ->
  origin (begins d) <= a < origin (begins d) + extent d n.
Proof. intros J W L H; rewrite (extent_written d J W); clear - L H; nia. Qed.

Lemma block_within d i a : In d (streams K) -> (i < n)%nat -> B i (begins d) <= a < B i (begins d) + Z.of_nat (block_size d) ->
  origin (begins d) <= a < origin (begins d) + extent d n.
Proof. intros J L H; rewrite (B_stream i d J) in H; pose proof (extent_within d i n L); nia. Qed.

(** Two streams of which one is written, or one stream that is written in another place. *)
Lemma streams_apart d e i j a : In d (streams K) -> In e (streams K) -> written d = true -> (i < n)%nat -> (j < n)%nat ->
  d <> e \/ i <> j -> B i (begins d) <= a < B i (begins d) + Z.of_nat (block_size d) ->
  ~ B j (begins e) <= a < B j (begins e) + Z.of_nat (block_size e).
Proof.
  intros I J W LI LJ N H G.
  assert (X : begins d = begins e \/ begins d <> begins e) by lia; destruct X as [E|E].
  - apply (nodup_map begins _ (h_distinct shape) d e I J) in E; subst e; destruct N as [N|N]; [apply N; reflexivity|].
    rewrite (B_stream i d I) in H; rewrite (B_stream j d I) in G; rewrite (proj2 (h_stream shape d I) W) in H, G.
    destruct (Nat.lt_ge_cases i j); [assert (Z.of_nat i + 1 <= Z.of_nat j) by lia|assert (Z.of_nat j + 1 <= Z.of_nat i) by lia]; nia.
  - apply (block_within d i a I LI) in H; apply (block_within e j a J LJ) in G.
    pose proof (pairs_map _ _ _ (pairs_tail _ (code_part (code K) m0 :: fixed) _ all_apart)) as P.
    destruct (ForallOrdPairs_In P _ _ I J) as [Q|[Q|Q]]; [apply E; rewrite Q; reflexivity|specialize (Q (or_introl W))|
      specialize (Q (or_intror W))]; unfold disjoint in Q; cbn [buffer_of fst snd] in Q; lia.
Qed.

Lemma beside_stream b d a : In b (code_part (code K) m0 :: fixed) -> In d (streams K) -> fst b = true \/ written d = true ->
  fst (snd b) <= a < fst (snd b) + snd (snd b) -> ~ origin (begins d) <= a < origin (begins d) + extent d n.
Proof.
  intros I J W H G.
  pose proof (pairs_app _ (code_part (code K) m0 :: fixed) _ all_apart b (buffer_of d) I (in_map buffer_of _ _ J) W) as D.
  unfold disjoint in D; cbn [buffer_of fst snd] in D; lia.
Qed.

Lemma room_range a j : (j < state_size R)%nat -> a = origin (state K) + Z.of_nat (place R j) ->
  origin (state K) <= a < origin (state K) + Z.of_nat (room R).
Proof. intros L ->; pose proof (h_place shape j L); lia. Qed.

(** What is only read. *)
Lemma untouched b a i : In b (code_part (code K) m0 :: tl fixed) -> fst (snd b) <= a < fst (snd b) + snd (snd b) -> (i <= n)%nat ->
  ~ touched i a.
Proof.
  intros I H L [(j & LJ & E)|(d & J & W & G)].
  - apply room_range in E; [|exact LJ].
    pose proof all_apart as P; unfold fixed in P; cbn [app] in P; inversion P as [|? ? P1 P2]; subst.
    inversion P2 as [|? ? P3 _]; subst; inversion P1 as [|? ? P4 _]; subst.
    assert (D : disjoint (snd b) (origin (state K), Z.of_nat (room R))).
    { destruct I as [<-|I]; [apply P4; right; reflexivity|].
      rewrite Forall_forall in P3; specialize (P3 b ltac:(apply in_or_app; left; exact I) (or_introl eq_refl)).
      unfold disjoint in *; cbn [fst snd] in *; lia. }
    unfold disjoint in D; cbn [fst snd] in D; lia.
  - apply (beside_stream b d a) in H; [|destruct I as [I|I]; [left; exact I|right; right; exact I]|exact J|auto].
    apply H, (written_within d i a J W L G).
Qed.

Lemma block_fresh i m : kept_until i m -> (i < n)%nat -> block_at (mem m) i = block_at (mem m0) i.
Proof.
  intros F L; apply map_ext_in; intros d J; apply read_same; intros a H; apply (k_frame _ _ F).
  intros [(j & LJ & E)|(e & I & W & G)].
  - apply room_range in E; [|exact LJ]; apply (block_within d i a J L) in H.
    exact (beside_stream (true, (origin (state K), Z.of_nat (room R))) d a ltac:(cbn; auto) J (or_introl eq_refl) E H).
  - assert (X : exists k, (k < i)%nat /\ B k (begins e) <= a < B k (begins e) + Z.of_nat (block_size e)).
    { set (o := a - origin (begins e)); set (z := Z.of_nat (block_size e)) in *.
      assert (Z0 : 0 < z) by nia; exists (Z.to_nat (o / z)).
      pose proof (Z.mod_pos_bound o z Z0); pose proof (Z.div_mod o z ltac:(lia)).
      assert (0 <= o / z < Z.of_nat i) by (split; [apply Z.div_pos; lia|apply Z.div_lt_upper_bound; lia]).
      split; [lia|]; rewrite (B_stream _ e I), (proj2 (h_stream shape e I) W), Z2Nat.id by lia; fold z; nia. }
    destruct X as (k & LK & X); exact (streams_apart e d k i a I J W ltac:(lia) L ltac:(right; lia) X H).
Qed.

Lemma written_in i w more a : more = [] \/ more = moving -> in_writable (B i) (layout w more) a ->
  (origin (state K) <= a < origin (state K) + Z.of_nat (room R) /\ w = true) \/
  (more = moving /\ exists d, In d (streams K) /\ written d = true /\ B i (begins d) <= a < B i (begins d) + Z.of_nat (block_size d)).
Proof.
  intros M (g & [<-|J] & W & Q).
  - unfold inside in Q; rewrite B_state in Q; auto.
  - right; apply in_app_or in J as [J|J]; [apply in_map_iff in J as (x & <- & _); discriminate|].
    apply in_app_or in J as [J|J]; [apply in_map_iff in J as (x & <- & _); discriminate|].
    destruct M as [-> | ->]; [destruct J|]; split; [reflexivity|].
    apply in_map_iff in J as (d & <- & J); exists d; auto.
Qed.

(** *** The pieces *)

Lemma layout_is w more : map layout_of (regions w more) = layout w more.
Proof.
  unfold regions, layout; cbn [map]; rewrite map_app, inputs_layout, map_map; unfold layout_of at 1; cbn [start writable content].
  rewrite input_length; do 2 f_equal; apply map_ext; intro t; unfold layout_of; cbn [start writable content].
  rewrite map_length; reflexivity.
Qed.

Definition block_buffers (more : list part) : list (bool * (Z * Z)) :=
  match more with [] => [] | _ => map buffer_of (streams K) end.

Lemma lie i w more : (i <= n)%nat -> more = [] \/ (more = moving /\ (i < n)%nat) ->
  Forall2 (lies (B i)) (layout w more) (fixed ++ block_buffers more).
Proof.
  intros L M; unfold layout, fixed; cbn [app]; constructor; [|rewrite <- app_assoc; apply Forall2_app; [|apply Forall2_app]].
  - split; [auto|]; rewrite B_state; unfold within; cbn [fst snd]; lia.
  - pose proof (fun t J => h_fixed shape (fst t) (or_intror (or_introl (in_map fst (tables K) t J)))) as C.
    revert C; generalize (tables K) as ts; induction ts as [|t ts IH]; intro C; constructor; [|apply IH; intros; apply C; now right].
    split; [discriminate|]; rewrite B_fixed by (apply C; now left); unfold within; cbn [fst snd]; lia.
  - unfold readable; pose proof (fun t J => h_fixed shape (fst t) (or_intror (or_intror (in_map fst (given K) t J)))) as C.
    revert C; generalize (given K) as ts; induction ts as [|t ts IH]; intro C; constructor; [|apply IH; intros; apply C; now right].
    split; [discriminate|]; rewrite B_fixed by (apply C; now left); unfold within; cbn [fst snd]; lia.
  - destruct M as [-> |[-> LT]]; [constructor|].
    assert (X : forall ds, incl ds (streams K) ->
      Forall2 (lies (B i)) (map (fun d => (begins d, written d, block_size d)) ds) (map buffer_of ds)).
    { induction ds as [|d ds IH]; intro C; cbn [map]; constructor; [|apply IH; intros x J; apply C; now right].
      split; [auto|]; rewrite (B_stream i d) by (apply C; now left); pose proof (extent_within d i n LT).
      unfold within; cbn [buffer_of fst snd]; lia. }
    unfold block_buffers, moving; pose proof (X (streams K) (incl_refl _)) as Y; destruct (streams K); [constructor|exact Y].
Qed.

Lemma block_buffers_incl more : incl (fixed ++ block_buffers more) buffers.
Proof. apply incl_app; [apply incl_appl, incl_refl|]; destruct more; [intros b []|apply incl_appr, incl_refl]. Qed.

Lemma placed_at i m w more c : kept_until i m -> (i <= n)%nat -> more = [] \/ (more = moving /\ (i < n)%nat) ->
  match c with Some u => 0 < B i u < 2 ^ 64 | None => True end ->
  placed isa_ (code K) (knowing c) (B i) at_ m (layout w more).
Proof.
  intros F LE M C; apply placed_in with (fixed ++ block_buffers more); auto.
  - rewrite <- AT; exact (Forall_inv all_range).
  - rewrite <- (v_code _ _ _ _ _ CALL) at 2; rewrite AT; apply read_same; intros a H; apply (k_frame _ _ F).
    apply (untouched (code_part (code K) m0)); [now left| |exact LE]; unfold code_part; cbn [fst snd]; rewrite AT; exact H.
  - exact (v_least _ _ _ _ _ CALL).
  - exact (k_vec _ _ F).
  - apply Forall_forall; intros [[u v] w0] J; pose proof (h_sums shape _ _ _ J) as S; rewrite Forall_forall in SUMS.
    specialize (SUMS _ J); cbv beta iota in SUMS; f_equal; unfold B; rewrite <- SUMS, <- S; ring.
  - apply Forall_forall; intros [[u x] v] J; destruct (h_pointers shape _ _ _ J) as (CV & k & I & X1 & X2).
    rewrite Forall_forall in POINTERS; specialize (POINTERS _ J); cbv beta iota in POINTERS.
    rewrite (B_fixed i v CV), <- POINTERS, B_fixed by (apply (h_fixed shape); right; right; exact (in_map fst _ _ I)).
    do 2 f_equal; apply read_same; intros a H; apply (k_frame _ _ F).
    apply (untouched (false, (origin u, Z.of_nat k))); [right|cbn [fst snd]; lia|exact LE].
    cbn [fixed tl]; apply in_or_app; right; exact (in_map (fun g => (false, (origin (fst g), Z.of_nat (snd g)))) _ _ I).
  - assert (X : ForallOrdPairs compatible (code_part (code K) m0 :: fixed ++ block_buffers more)).
    { destruct more; [|exact all_apart]; rewrite app_nil_r; exact (pairs_prefix _ (code_part (code K) m0 :: fixed) _ all_apart). }
    unfold code_part in X; rewrite AT in X; exact X.
  - pose proof (Forall_inv_tail all_range) as Q; apply Forall_app in Q as [Q1 Q2]; apply Forall_app; split; [exact Q1|].
    destruct more; [constructor|exact Q2].
  - apply lie; assumption.
Qed.

Definition all_of (c : list byte) (i : nat) (more : list part) (m : machine) : list byte :=
  c ++ read (mem m) (origin (state K)) (room R) ++
  concat (map (fun g => read (mem m) (B i (fst (fst g))) (snd g)) (readable ++ more)).

Lemma given_are i m : kept_until i m -> (i <= n)%nat ->
  map (fun g => read (mem m) (B i (fst (fst g))) (snd g)) readable = given_bytes.
Proof.
  intros F L; unfold readable, given_bytes; rewrite map_map; apply map_ext_in; intros g J; cbn [fst snd].
  rewrite B_fixed by (apply (h_fixed shape); right; right; exact (in_map fst _ _ J)).
  apply read_same; intros a H; apply (k_frame _ _ F).
  apply (untouched (false, (origin (fst g), Z.of_nat (snd g)))); [right|exact H|exact L].
  cbn [fixed tl]; apply in_or_app; right; exact (in_map (fun g => (false, (origin (fst g), Z.of_nat (snd g)))) _ _ J).
Qed.

Lemma all_hold c i more m env w : kept_until i m -> (i <= n)%nat -> more = [] \/ more = moving -> length c = carried R ->
  agrees env (all_of c i more m) ->
  Forall (holds env (B i) (mem m)) (regions w more) /\
  evs env (input (carried R) (room R)) = read (mem m) (origin (state K)) (room R) /\
  map (evs env) (map content (inputs_at (carried R + room R) (readable ++ more))) =
    given_bytes ++ map (fun g => read (mem m) (B i (fst (fst g))) (snd g)) more.
Proof.
  intros F L M LC Q; pose proof (h_size shape) as SZ; rewrite total_app in SZ.
  assert (TM : (total more <= total moving)%nat) by (destruct M as [-> | ->]; cbn; lia).
  unfold all_of in Q; rewrite app_assoc in Q.
  destruct (inputs_hold env (mem m) (B i) (readable ++ more) (carried R + room R) (c ++ read (mem m) (origin (state K)) (room R)))
    as [H1 H2]; [rewrite app_length, read_length; lia|exact Q|rewrite total_app; lia|].
  rewrite <- app_assoc in Q.
  assert (V : evs env (input (carried R) (room R)) = read (mem m) (origin (state K)) (room R))
    by (eapply part_is; [exact Q|exact LC|apply read_length|lia]).
  split; [|split; [exact V|rewrite H2, map_app, (given_are i m F L); reflexivity]].
  constructor; [unfold holds; cbn [start content]; rewrite input_length, V, B_state; reflexivity|].
  apply Forall_app; split; [|exact H1]; apply Forall_forall; intros g J; apply in_map_iff in J as (t & <- & J).
  unfold holds; cbn [start content].
  rewrite map_length, evs_const, B_fixed by (apply (h_fixed shape); right; left; exact (in_map fst _ _ J)).
  rewrite Forall_forall in TABLES; rewrite <- (TABLES t J) at 2; apply read_same; intros a H; apply (k_frame _ _ F).
  apply (untouched (false, (origin (fst t), Z.of_nat (length (snd t))))); [right|exact H|exact L].
  cbn [fixed tl]; apply in_or_app; left; exact (in_map (fun t => (false, (origin (fst t), Z.of_nat (length (snd t))))) _ _ J).
Qed.

Lemma inputs_apart x : forall p y, inputs_at p (x ++ y) = inputs_at p x ++ inputs_at (p + total x) y.
Proof.
  induction x as [|[[u w] k] x IH]; intros p y; cbn [app inputs_at].
  - unfold total; cbn [fold_right]; rewrite Nat.add_0_r; reflexivity.
  - rewrite IH, <- Nat.add_assoc; reflexivity.
Qed.

Lemma given_hold c i more m env : kept_until i m -> (i <= n)%nat -> more = [] \/ more = moving -> length c = carried R ->
  agrees env (all_of c i more m) -> map (evs env) given_symbols = given_bytes.
Proof.
  intros F L M LC Q; destruct (all_hold c i more m env true F L M LC Q) as (_ & _ & V).
  apply (f_equal (firstn (length given_bytes))) in V; rewrite inputs_apart, !map_app, !firstn_app in V.
  assert (LG : length (map (evs env) (map content (inputs_at (carried R + room R) readable))) = length given_bytes).
  { rewrite map_length, map_length, <- (map_length layout_of), inputs_layout; unfold readable, given_bytes.
    rewrite !map_length; reflexivity. }
  rewrite LG, Nat.sub_diag, !firstn_O, !app_nil_r, firstn_all, firstn_all2 in V by lia; exact V.
Qed.

(** Every piece: what the checker found holds, and what it leaves alone is as it was. *)
Lemma piece_sound c i more w nonzero ns ws nodes from to s m :
  run_to to from nonzero ns ws w more nodes = Some s -> sane A (code K) (layout w more) s = true ->
  kept_until i m -> (i <= n)%nat -> more = [] \/ (more = moving /\ (i < n)%nat) -> length c = carried R ->
  match nonzero with Some u => 0 < B i u < 2 ^ 64 | None => True end ->
  pc m = wrap (at_ + from) -> Forall (fun rv => gpr m (fst rv) = number_is (B i) (snd rv)) ns ->
  (forall env, agrees env (all_of c i more m) ->
     Forall (fun rw => (length (snd rw) <= least A)%nat /\ firstn (length (snd rw)) (vec m (fst rw)) = evs env (snd rw)) ws) ->
  exists env j m', agrees env (all_of c i more m) /\ consistent env (s_nodes s) /\ consistent env nodes /\ run isa_ j m = Some m' /\
    related isa_ (knowing nonzero) env (B i) at_ m (layout w more) s m' /\
    (forall r, In r (saved A) -> gpr m' r = gpr m0 r) /\ (forall r, In r (kept A) -> vec m' r = vec m0 r) /\
    (forall r, length (vec m' r) = full isa_).
Proof.
  intros E H F L M LC C PC N W; apply sane_is in H as (HW & HU & HK & _); rewrite forallb_forall in HU, HK.
  pose proof (placed_at i m w more nonzero F L M C) as P; rewrite <- layout_is in P.
  destruct (segment isa_ (code K) _ _ _ _ _ _ _ _ _ _ s E HW (all_of c i more m) (B i) at_ m P PC N W)
    as (env & j & m' & Q & CO & RU & REL).
  { intros env Q; apply (all_hold c i more m env w F L ltac:(tauto) LC Q). }
  rewrite layout_is in REL; exists env, j, m'; repeat (split; [assumption|]); split.
  { eapply consistent_older; [|exact CO]; exact (srun_extends _ _ _ env _ _ _ _ E). }
  split; [exact RU|]; split; [exact REL|]; split; [|split].
  - intros r J; rewrite <- (k_saved _ _ F r J); apply (same_gpr _ _ _ _ _ _ _ _ _ REL), HU; exact J.
  - intros r J; rewrite <- (k_kept _ _ F r J); apply (same_vec _ _ _ _ _ _ _ _ _ REL), HK; exact J.
  - apply (vec_lengths _ _ _ _ _ _ _ _ _ REL).
Qed.

(** What memory holds at the end of a piece. *)
Lemma memory_end known env i L s m m' : related isa_ known env (B i) at_ m L s m' ->
  map (fun g => read (mem m') (B i (fst (fst g))) (snd g)) L = map (evs env) (map content (s_mem s)).
Proof.
  intro Q; rewrite <- (r_layout _ _ _ _ _ _ _ _ _ Q), !map_map; apply map_ext_in; intros g J.
  exact (proj1 (Forall_forall _ _) (r_mem _ _ _ _ _ _ _ _ _ Q) g J).
Qed.

Lemma room_end known env i w more s m m' : related isa_ known env (B i) at_ m (layout w more) s m' ->
  read (mem m') (origin (state K)) (room R) = evs env (hd [] (map content (s_mem s))) /\
  forall p, (p < room R)%nat -> mem m' (origin (state K) + Z.of_nat p) = ev env (nth p (hd [] (map content (s_mem s))) (const 0)).
Proof.
  intro Q; pose proof (memory_end _ _ _ _ _ _ _ Q) as E.
  assert (X : read (mem m') (origin (state K)) (room R) = evs env (hd [] (map content (s_mem s)))).
  { apply (f_equal (hd [])) in E; cbn [layout map hd fst snd] in E; rewrite B_state in E; rewrite E.
    destruct (s_mem s); reflexivity. }
  split; [exact X|]; intros p L; rewrite <- nth_evs, <- X; symmetry; apply nth_read; exact L.
Qed.

Lemma carried_is i m env more : kept_until i m -> length (carried_after i) = carried R ->
  (forall j, (j < state_size R)%nat -> held R j = true ->
    mem m (origin (state K) + Z.of_nat (place R j)) = nth j (carried_after i) 0%N) ->
  agrees env (all_of (carried_after i) i more m) -> evs env carried_symbols = carried_after i.
Proof.
  intros F L H Q; pose proof (h_size shape) as SZ.
  apply nth_ext with (d := 0%N) (d' := 0%N); unfold carried_symbols; rewrite evs_length, map_length, seq_length; [auto|].
  intros j J; rewrite nth_evs, (nth_map_seq (const 0)) by exact J; rewrite ev_atom.
  destruct ((j <? state_size R)%nat && held R j) eqn:E.
  - apply andb_prop in E as [E1 E2]; apply Nat.ltb_lt in E1; pose proof (proj1 (h_place shape j E1)) as PL.
    rewrite (env_is env _ _ Q) by lia; unfold all_of; rewrite app_nth2 by lia.
    replace (carried R + place R j - length (carried_after i))%nat with (place R j) by lia.
    rewrite app_nth1, nth_read by (rewrite ?read_length; lia); apply H; assumption.
  - rewrite (env_is env _ _ Q) by lia; unfold all_of; apply app_nth1; lia.
Qed.

(** The frame: a byte of the state's buffer that is not of the state, or a byte elsewhere that is not written. *)
Lemma frame_end known env i w more s m m' c : related isa_ known env (B i) at_ m (layout w more) s m' ->
  more = [] \/ more = moving -> length c = carried R -> agrees env (all_of c i more m) ->
  (forall p, (p < room R)%nat -> owner R p = None ->
     ev env (nth p (hd [] (map content (s_mem s))) (const 0)) = ev env (atom (N.of_nat (carried R + p)))) ->
  forall a, (forall j, (j < state_size R)%nat -> a <> origin (state K) + Z.of_nat (place R j)) ->
  (more = moving -> forall d, In d (streams K) -> written d = true -> ~ B i (begins d) <= a < B i (begins d) + Z.of_nat (block_size d)) ->
  mem m' a = mem m a.
Proof.
  intros REL M LC Q H a NS NB; pose proof (h_size shape) as SZ.
  destruct (Z.lt_ge_cases a (origin (state K))) as [|A1]; [|destruct (Z.lt_ge_cases a (origin (state K) + Z.of_nat (room R))) as [A2|]].
  1, 3: apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written_in in W as [[W _]|[W (d & J & WR & X)]];
    [lia|exact (NB W d J WR X)|exact M].
  set (p := Z.to_nat (a - origin (state K))); assert (AP : a = origin (state K) + Z.of_nat p) by (unfold p; lia).
  assert (LP : (p < room R)%nat) by (unfold p; lia).
  destruct (owner R p) as [j|] eqn:O.
  { exfalso; destruct (h_owner shape p j LP O) as [LJ PJ]; apply (NS j LJ); rewrite PJ; exact AP. }
  rewrite AP, (proj2 (room_end _ _ _ _ _ _ _ _ REL) p LP), (H p LP O), ev_atom, (env_is env _ _ Q) by lia; unfold all_of.
  rewrite app_nth2 by lia; replace (carried R + p - length c)%nat with p by lia.
  rewrite app_nth1 by (rewrite read_length; lia); apply nth_read; exact LP.
Qed.

Lemma not_touched i a : ~ touched i a -> forall j, (j < state_size R)%nat -> a <> origin (state K) + Z.of_nat (place R j).
Proof. intros N j L E; apply N; left; exists j; auto. Qed.

Lemma entry_round s : entry_found = Some s -> entry_ok s = true ->
  exists j m, run isa_ j m0 = Some m /\ at_test 0 (map (event_is (B 0) at_) (s_trace s)) m.
Proof.
  intros E H; unfold entry_found in E; unfold entry_ok in H; destruct first_goal as [[t nodes]|] eqn:G; [|discriminate].
  apply andb_prop in H as [H HH]; apply andb_prop in H as [H HL]; apply andb_prop in H as [H HV].
  apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP; apply Nat.eqb_eq in HL.
  assert (F : kept_until 0 m0) by (constructor; auto; exact (v_vec _ _ _ _ _ CALL)).
  assert (LZ : length (zero (carried R)) = carried R) by apply repeat_length.
  destruct (piece_sound (zero (carried R)) 0 [] false None _ [] nodes 0 _ s m0 E HS F ltac:(lia) (or_introl eq_refl) LZ Logic.I)
    as (env & j & m & Q & _ & CO & RU & REL & SV & KT & VL).
  - rewrite Z.add_0_r, wrap_small; [exact AT|]; pose proof (Forall_inv all_range) as S; unfold in_space, code_part in S.
    cbn [fst snd] in S; rewrite AT in S; destruct ENDS as [L _]; lia.
  - eapply Forall_impl; [|exact ARGUMENTS]; intros rv X; cbv beta; rewrite number_first; exact X.
  - intros; constructor.
  - assert (FR : forall a, mem m a = mem m0 a).
    { intro a; apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written_in in W as [[_ W]|[W (d & J & _)]]; [discriminate| |auto].
      unfold moving in W; destruct (streams K); [destruct J|discriminate]. }
    destruct (all_hold (zero (carried R)) 0 [] m0 env false F ltac:(lia) (or_introl eq_refl) LZ Q) as (_ & V & _).
    assert (T : carried_after 0 = evs env t).
    { cbn [carried_after]; rewrite <- (enters op env _ _ _ _ G CO); f_equal; unfold state_at, state_symbols, evs.
      rewrite map_map; apply map_ext_in; intros i J; apply in_seq in J; rewrite ev_atom.
      pose proof (proj1 (h_place shape i ltac:(lia))) as PL; pose proof (h_size shape).
      rewrite (env_is env _ _ Q) by lia; unfold all_of; rewrite app_nth2 by lia.
      replace (carried R + place R i - length (zero (carried R)))%nat with (place R i) by lia.
      rewrite app_nth1 by (rewrite read_length; lia); symmetry; apply nth_read; exact PL. }
    exists j, m; split; [exact RU|]; constructor.
    + rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP; reflexivity.
    + pose proof (numbers_end _ _ _ _ _ _ _ _ _ REL _ HN) as X; rewrite Forall_map in X; unfold numbers; rewrite Forall_map.
      rewrite Forall_forall in *; intros r J; cbn [fst snd]; rewrite (X r J), !number_first; apply FIRST; exact J.
    + rewrite T, <- (given_hold _ _ _ _ _ F (Nat.le_0_l n) (or_introl eq_refl) LZ Q); apply words_stop, (words_end _ _ _ _ _ _ _ _ _ REL); exact HV.
    + rewrite T, evs_length; exact HL.
    + intros i L HD; unfold held_ok in HH; rewrite forallb_forall in HH.
      specialize (HH i (proj2 (in_seq _ _ _) (conj (Nat.le_0_l _) L))); rewrite HD in HH; apply sbyte_eqb_eq in HH.
      rewrite T, nth_evs, <- HH, <- nth_evs, V, FR, nth_read by apply (h_place shape i L); reflexivity.
    + intros i L; lia.
    + constructor; auto.
    + exact (r_trace _ _ _ _ _ _ _ _ _ REL).
Qed.

Lemma step_round s i tr m : step_found = Some s -> step_ok s = true -> (i < n)%nat -> at_test i tr m ->
  exists j m', run isa_ j m = Some m' /\ at_test (S i) (map (event_is (B i) at_) (s_trace s) ++ tr) m'.
Proof.
  intros E H LT T; unfold step_found in E; unfold step_ok, step_gives in H; destruct goal as [[[t cs] nodes]|] eqn:G; [|discriminate].
  apply andb_prop in H as [H HY]; apply andb_prop in H as [H HM]; apply andb_prop in H as [H HL].
  apply andb_prop in H as [H HV]; apply andb_prop in H as [H HN]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply Nat.eqb_eq in HL; destruct T as [Tpc Tnum Twords Tlen Theld Tdone F Ttrace].
  destruct (piece_sound (carried_after i) i moving true _ _ _ nodes _ _ s m E HS F ltac:(lia) (or_intror (conj eq_refl LT)) Tlen)
    as (env & j & m' & Q & _ & CO & RU & REL & SV & KT & VL); auto.
  - pose proof (h_count shape); unfold B; rewrite COUNT in *; nia.
  - intros env Q; apply words_start; [exact (h_words shape)|]; rewrite (carried_is i m env moving F Tlen Theld Q).
    rewrite (given_hold _ _ _ _ _ F ltac:(lia) (or_intror eq_refl) Tlen Q); exact Twords.
  - destruct (all_hold (carried_after i) i moving m env true F ltac:(lia) (or_intror eq_refl) Tlen Q) as (_ & _ & V).
    assert (BLOCK : forall mm, map (fun g => read mm (B i (fst (fst g))) (snd g)) moving = block_at mm i)
      by (intro mm; unfold moving, block_at; rewrite map_map; reflexivity).
    rewrite BLOCK, (block_fresh i m F LT) in V.
    assert (OP : on_bytes op (carried_after i) (given_bytes ++ block_at (mem m0) i) = (evs env t, map (evs env) cs)).
    { rewrite <- V, <- (carried_is i m env moving F Tlen Theld Q); apply (agree op env _ _ _ _ _ _ G); exact CO. }
    unfold memory_ok in HY; apply andb_prop in HY as [HD HO]; unfold held_ok in HD; rewrite forallb_forall in HD, HO.
    assert (FR : forall a, ~ touched (S i) a -> mem m' a = mem m a).
    { intros a NT; apply (frame_end _ _ _ _ _ _ _ _ _ REL (or_intror eq_refl) Tlen Q).
      - intros p LP O; specialize (HO p (proj2 (in_seq _ _ _) (conj (Nat.le_0_l _) LP))); rewrite O in HO.
        apply sbyte_eqb_eq in HO; rewrite HO; reflexivity.
      - apply (not_touched _ _ NT).
      - intros _ d J W X; apply NT; right; exists d; split; [exact J|]; split; [exact W|].
        rewrite (B_stream i d J), (proj2 (h_stream shape d J) W) in X; nia. }
    exists j, m'; split; [exact RU|]; constructor.
    + rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP; reflexivity.
    + apply (with_numbers_are i (S i) changed m' (number_changed i)), (numbers_end _ _ _ _ _ _ _ _ _ REL); exact HN.
    + cbn [carried_after]; rewrite OP; cbn [fst].
      rewrite <- (given_hold _ _ _ _ _ F ltac:(lia) (or_intror eq_refl) Tlen Q); apply words_stop, (words_end _ _ _ _ _ _ _ _ _ REL); exact HV.
    + cbn [carried_after]; rewrite OP; cbn [fst]; rewrite evs_length; exact HL.
    + intros p L HH; specialize (HD p (proj2 (in_seq _ _ _) (conj (Nat.le_0_l _) L))); rewrite HH in HD.
      apply sbyte_eqb_eq in HD; cbn [carried_after]; rewrite OP; cbn [fst].
      rewrite nth_evs, <- HD; apply (proj2 (room_end _ _ _ _ _ _ _ _ REL)), (h_place shape p L).
    + intros p L; destruct (Nat.eq_dec p i) as [->|NP].
      * unfold output; rewrite OP; cbn [snd]; apply list_eqb_eq in HM; [|apply word_eqb_eq]; rewrite <- HM, <- BLOCK.
        rewrite <- skipn_map, <- (memory_end _ _ _ _ _ _ _ REL); unfold layout; cbn [map Nat.add skipn].
        rewrite !map_app, !map_map, skipn_app, skipn_all2 by (rewrite map_length; lia); rewrite map_length; cbn [app].
        replace (length (tables K) + length (given K) - length (tables K))%nat with (length (given K)) by lia.
        unfold readable; rewrite skipn_app, map_map, skipn_all2 by (rewrite map_length; lia); rewrite map_length, Nat.sub_diag.
        reflexivity.
      * rewrite <- (Tdone p) by lia; apply map_ext_in; intros d J; apply read_same; intros a Ha.
        apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written_in in W as [[W _]|[_ (e & I & WE & X)]]; [| |auto].
        -- apply (block_within d p a J) in Ha; [|lia].
           exact (beside_stream (true, (origin (state K), Z.of_nat (room R))) d a ltac:(cbn; auto) J (or_introl eq_refl) W Ha).
        -- exact (streams_apart e d i p a I J WE LT ltac:(lia) ltac:(right; lia) X Ha).
    + constructor; auto; intros a NT; rewrite (FR a NT); apply (k_frame _ _ F); intros [X|(d & J & W & X)]; apply NT; [left; exact X|].
      right; exists d; split; [exact J|]; split; [exact W|]; nia.
    + rewrite (r_trace _ _ _ _ _ _ _ _ _ REL), Ttrace, app_assoc; reflexivity.
Qed.

Lemma exit_round s tr m : exit_found = Some s -> exit_ok s = true -> at_test n tr m ->
  exists j m', run isa_ j m = Some m' /\ at_return A (code K) m0 m' /\
    state_at (mem m') = firstn (state_size R) (carried_after n) /\
    (forall j, (j < n)%nat -> block_at (mem m') j = output j) /\
    (forall a, ~ touched n a -> mem m' a = mem m0 a) /\
    trace m' = map (event_is (B n) at_) (s_trace s) ++ tr ++ trace m0.
Proof.
  intros E H T; unfold exit_found in E; unfold exit_ok in H.
  apply andb_prop in H as [H HM]; apply andb_prop in H as [H HC]; apply andb_prop in H as [HP HS]; apply Z.eqb_eq in HP.
  apply word_eqb_eq in HM; destruct T as [Tpc Tnum Twords Tlen Theld Tdone F Ttrace].
  destruct (piece_sound (carried_after n) n [] true None _ _ [] _ _ s m E HS F (le_n n) (or_introl eq_refl) Tlen Logic.I Tpc)
    as (env & j & m' & Q & _ & _ & RU & REL & SV & KT & VL).
  - apply (with_numbers_are n n counted m number_counted); exact Tnum.
  - intros env Q; apply words_start; [exact (h_words shape)|]; rewrite (carried_is n m env [] F Tlen Theld Q).
    rewrite (given_hold _ _ _ _ _ F (le_n n) (or_introl eq_refl) Tlen Q); exact Twords.
  - pose proof (carried_is n m env [] F Tlen Theld Q) as V.
    exists j, m'; split; [exact RU|]; split; [constructor|split; [|split; [|split]]].
    + rewrite (r_pc _ _ _ _ _ _ _ _ _ REL), HP, AT; apply wrap_small; pose proof (Forall_inv all_range) as S.
      unfold in_space, code_part in S; cbn [fst snd] in S; rewrite AT in S; destruct ENDS as [L _]; unfold last_at; lia.
    + exact SV.
    + exact KT.
    + intros r J; pose proof (cleared_end _ _ _ _ _ _ _ _ _ REL _ (v_least _ _ _ _ _ CALL) HC) as Y.
      rewrite Forall_forall in Y; exact (Y r J).
    + pose proof (h_carried shape) as HC'; apply nth_ext with (d := 0%N) (d' := 0%N); unfold state_at.
      { rewrite firstn_length, map_length, seq_length; lia. }
      rewrite map_length, seq_length; intros p L; destruct (h_place shape p L) as [PL O].
      rewrite (nth_map_seq 0%N) by exact L; rewrite (proj2 (room_end _ _ _ _ _ _ _ _ REL) _ PL), HM.
      unfold left_symbols; rewrite (nth_map_seq (const 0)), O, <- nth_evs, V by exact PL.
      rewrite <- (firstn_skipn (state_size R) (carried_after n)) at 1; apply app_nth1; rewrite firstn_length; lia.
    + intros p L; rewrite <- (Tdone p L); apply map_ext_in; intros d J; apply read_same; intros a Ha.
      apply (r_frame _ _ _ _ _ _ _ _ _ REL); intro W; apply written_in in W as [[W _]|[W (e & I & _)]]; [| |auto].
      * apply (block_within d p a J) in Ha; [|lia].
        exact (beside_stream (true, (origin (state K), Z.of_nat (room R))) d a ltac:(cbn; auto) J (or_introl eq_refl) W Ha).
      * unfold moving in W; destruct (streams K); [destruct I|discriminate].
    + intros a NT; rewrite <- (k_frame _ _ F a NT).
      apply (frame_end _ _ _ _ _ _ _ _ _ REL (or_introl eq_refl) Tlen Q); [|apply (not_touched _ _ NT)|].
      * intros p LP O; rewrite HM; unfold left_symbols; rewrite (nth_map_seq (const 0)), O by exact LP; reflexivity.
      * unfold moving; destruct (streams K); [intros _ d []|discriminate].
    + rewrite (r_trace _ _ _ _ _ _ _ _ _ REL), Ttrace; reflexivity.
Qed.

(** *** The whole call, but for its last instruction *)

Fixpoint rounds_trace (s : symbolic) (i : nat) : list event :=
  match i with O => [] | S i => map (event_is (B i) at_) (s_trace s) ++ rounds_trace s i end.

Definition accesses : list event :=
  map (event_is (B n) at_) (s_trace (piece exit_found)) ++
  rounds_trace (piece step_found) n ++ map (event_is (B 0) at_) (s_trace (piece entry_found)).

Lemma events_in i w more s : (i <= n)%nat -> more = [] \/ (more = moving /\ (i < n)%nat) -> sane A (code K) (layout w more) s = true ->
  Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) (map (event_is (B i) at_) (s_trace s)).
Proof.
  intros L M H; apply sane_is in H as (_ & _ & _ & H); pose proof (block_buffers_incl more) as I.
  eapply Forall_impl; [intros e; exact (touches_more _ _ _ _ _ e ltac:(apply incl_appr, I) I)|].
  cbn [code_part snd]; rewrite AT; apply (events_touch (B i) _ _ _ _ (layout w more)); [apply incl_refl|apply lie; assumption|exact H].
Qed.

Lemma all_rounds s0 s : entry_found = Some s0 -> entry_ok s0 = true -> step_found = Some s -> step_ok s = true ->
  forall i, (i <= n)%nat -> exists j m, run isa_ j m0 = Some m /\
    at_test i (rounds_trace s i ++ map (event_is (B 0) at_) (s_trace s0)) m.
Proof.
  intros E0 H0 E H; induction i as [|i IH]; intro L; [exact (entry_round s0 E0 H0)|].
  destruct IH as (j & m & RU & T); [lia|]; destruct (step_round s i _ m E H ltac:(lia) T) as (j' & m' & RU' & T').
  exists (j + j')%nat, m'; split; [rewrite (run_app _ _ _ _ _ RU); exact RU'|].
  cbn [rounds_trace]; rewrite <- app_assoc; exact T'.
Qed.

Theorem loop_sound :
  Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) accesses /\
  (forall i, (i <= n)%nat -> length (carried_after i) = carried R) /\
  exists j m', run isa_ j m0 = Some m' /\ at_return A (code K) m0 m' /\
    state_at (mem m') = firstn (state_size R) (carried_after n) /\
    (forall i, (i < n)%nat -> block_at (mem m') i = output i) /\
    (forall a, ~ touched n a -> mem m' a = mem m0 a) /\
    trace m' = accesses ++ trace m0.
Proof.
  pose proof CH as H; unfold checks in H; rewrite step_checks_are in H.
  apply andb_prop in H as [H H3]; apply andb_prop in H as [H H2]; apply andb_prop in H as [_ H1].
  unfold found in H1, H2, H3; unfold accesses.
  destruct entry_found as [s1|] eqn:E1; [|discriminate]; destruct step_found as [s2|] eqn:E2; [|discriminate].
  destruct exit_found as [s3|] eqn:E3; [|discriminate]; cbn [piece].
  pose proof (all_rounds s1 s2 E1 H1 E2 H2) as ROUNDS; split; [|split].
  - assert (V1 : sane A (code K) (layout false []) s1 = true).
    { unfold entry_ok in H1; destruct first_goal as [[? ?]|]; [|discriminate].
      do 4 (apply andb_prop in H1 as [H1 _]); apply andb_prop in H1; apply H1. }
    assert (V2 : sane A (code K) (layout true moving) s2 = true).
    { unfold step_ok, step_gives in H2; destruct goal as [[[? ?] ?]|]; [|discriminate].
      do 5 (apply andb_prop in H2 as [H2 _]); apply andb_prop in H2; apply H2. }
    assert (V3 : sane A (code K) (layout true []) s3 = true).
    { unfold exit_ok in H3; do 2 (apply andb_prop in H3 as [H3 _]); apply andb_prop in H3; apply H3. }
    apply Forall_app; split; [exact (events_in n true [] s3 (le_n n) (or_introl eq_refl) V3)|apply Forall_app; split].
    + assert (X : forall i, (i <= n)%nat ->
        Forall (touches (snd (code_part (code K) m0)) (others ++ buffers) buffers) (rounds_trace s2 i)); [|apply X; lia].
      induction i as [|i IH]; intro L; cbn [rounds_trace]; [constructor|]; apply Forall_app; split; [|apply IH; lia].
      exact (events_in i true moving s2 ltac:(lia) (or_intror (conj eq_refl L)) V2).
    + exact (events_in 0 false [] s1 (Nat.le_0_l n) (or_introl eq_refl) V1).
  - intros i L; destruct (ROUNDS i L) as (j & m & _ & T); exact (t_length _ _ _ T).
  - destruct (ROUNDS n (le_n n)) as (j & m & RU & T); destruct (exit_round s3 _ m E3 H3 T) as (j' & m' & RU' & RT & ST & DN & FR & TR).
    exists (j + j')%nat, m'; split; [rewrite (run_app _ _ _ _ _ RU); exact RU'|]; repeat (split; [assumption|]).
    rewrite TR, <- !app_assoc; reflexivity.
Qed.

Lemma state_filling k m : R = filling k -> state_at m = read m (origin (state K)) k.
Proof. unfold state_at; intros ->; reflexivity. Qed.

(** If the state fills its buffer, only the buffers that are written differ. *)
Lemma same_outside_of m : (forall a, ~ touched n a -> mem m a = mem m0 a) -> same_outside buffers (mem m0) (mem m).
Proof.
  intros F a H; apply F; intros [(j & L & E)|(d & J & W & X)]; unfold buffers in H; apply Forall_app in H as [H1 H2].
  - exact (Forall_inv H1 eq_refl (room_range a j L E)).
  - rewrite Forall_map, Forall_forall in H2; apply (H2 d J W); cbn [buffer_of fst snd].
    exact (written_within d n a J W (le_n n) X).
Qed.
End Loop.
