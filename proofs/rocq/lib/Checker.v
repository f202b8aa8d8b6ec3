(** * Checker: runs code on symbolic bytes, for all memories at once

    [srun] runs code of Machine.v on symbolic registers and memory, from one place to another.
    [srun_sound] says that what it finds holds for every machine that starts as described. *)

From Coq Require Import List Bool Arith NArith ZArith Lia.
From Veriplex Require Import AES Simpira1024 Arx Machine Symbolic ArxSymbolic.
Import ListNotations.
Local Open Scope Z_scope.

(** A number of 64 bits: a constant, or an unknown of this name plus a constant. *)
Definition snumber := (option nat * Z)%type.

(** A part of memory that starts at such an unknown. *)
Record region := Region { start : nat; writable : bool; content : list sbyte }.

Inductive sevent := SFetch (at_ : Z) (n : nat) | SRead (r : nat) (at_ : Z) (n : nat) | SWrite (r : nat) (at_ : Z) (n : nat).

(** [None] for a register: as at the start.  The flag of a vector register: all higher bytes are zero. *)
Record symbolic := Sym {
  s_pc : Z;                                     (* from the start of the code *)
  s_gpr : list (option snumber);
  s_vec : list (option (list sbyte * bool));
  s_carry : option bool;
  s_zero : option bool;
  s_mem : list region;
  s_trace : list sevent;
  s_nodes : list node
}.

Definition layout_of (g : region) : nat * bool * nat := (start g, writable g, length (content g)).

(** What is known at the start, besides registers and regions. *)
Record knowledge := Knowing {
  wide : nat;                               (* a vector register has at least so many bytes *)
  nonzero : option nat;                     (* an unknown that is not zero *)
  sums : list (nat * nat * nat);            (* the first two unknowns add up to the third *)
  pointers : list (nat * Z * nat)           (* the 8 bytes there, which are not written, are an unknown *)
}.

Section Run.
Variable I : isa.
Variable code : list byte.
Variable known : knowledge.

Fixpoint find_sum (u v : nat) (l : list (nat * nat * nat)) : option nat :=
  match l with
  | [] => None
  | (a, b, c) :: l => if (u =? a)%nat && (v =? b)%nat then Some c else find_sum u v l
  end.

Fixpoint find_pointer (u : nat) (x : Z) (l : list (nat * Z * nat)) : option nat :=
  match l with
  | [] => None
  | (a, y, c) :: l => if (u =? a)%nat && (x =? y) then Some c else find_pointer u x l
  end.

Definition plus (a b : snumber) : option snumber :=
  match a, b with
  | (u, x), (None, y) => Some (u, x + y)
  | (Some u, x), (Some v, y) => match find_sum u v (sums known) with Some w => Some (Some w, x + y) | None => None end
  | _, _ => None
  end.

Fixpoint snumber_in (s : symbolic) (x : number) : option snumber :=
  match x with
  | Gpr r => nth r (s_gpr s) None
  | Imm z => Some (None, z)
  | Add a b => match snumber_in s a, snumber_in s b with Some a, Some b => plus a b | _, _ => None end
  | Sub a b =>
      match snumber_in s a, snumber_in s b with
      | Some (u, x), Some (None, y) => Some (u, x - y)
      | _, _ => None
      end
  end.

Fixpoint scondition_in (s : symbolic) (c : condition) : option bool :=
  match c with
  | Below a b =>
      match snumber_in s a, snumber_in s b with
      | Some (None, x), Some (None, y) => Some (wrap x <? wrap y)
      | Some _, Some (None, y) => if wrap y =? 0 then Some false else None
      | _, _ => None
      end
  | Equal a b =>
      match snumber_in s a, snumber_in s b with
      | Some (None, x), Some (None, y) => Some (wrap x =? wrap y)
      | Some (Some u, x), Some (None, y) =>
          match nonzero known with
          | Some v => if (u =? v)%nat && (x =? 0) && (wrap y =? 0) then Some false else None
          | None => None
          end
      | _, _ => None
      end
  | Carry => s_carry s
  | Zero_flag => s_zero s
  | Not c => match scondition_in s c with Some b => Some (negb b) | None => None end
  | And c d =>
      match scondition_in s c, scondition_in s d with Some a, Some b => Some (a && b) | _, _ => None end
  end.

Definition saddress (s : symbolic) (a : address) : option (nat * Z) :=
  let start :=
    match nth (base a) (s_gpr s) None, index a with
    | Some b, None => Some b
    | Some b, Some i => match nth i (s_gpr s) None with Some c => plus b c | None => None end
    | None, _ => None
    end in
  match start with Some (Some u, x) => Some (u, x + displacement a) | _ => None end.

Fixpoint sload (u : nat) (x : Z) (n : nat) (gs : list region) : option (list sbyte) :=
  match gs with
  | [] => None
  | g :: gs =>
      if (u =? start g)%nat then
        if (0 <? n)%nat && (0 <=? x) && (x + Z.of_nat n <=? Z.of_nat (length (content g)))
        then Some (firstn n (skipn (Z.to_nat x) (content g))) else None
      else sload u x n gs
  end.

Fixpoint sstore (u : nat) (x : Z) (w : list sbyte) (gs : list region) : option (list region) :=
  match gs with
  | [] => None
  | g :: gs =>
      if (u =? start g)%nat then
        if writable g && (0 <? length w)%nat && (0 <=? x) && (x + Z.of_nat (length w) <=? Z.of_nat (length (content g)))
        then Some (Region (start g) true (splice (Z.to_nat x) w (content g)) :: gs) else None
      else match sstore u x w gs with Some gs => Some (g :: gs) | None => None end
  end.

(** The XOR of an unknown register with itself is zero: so many bytes. *)
Definition cleared (s : symbolic) (x y : bytes) : option nat :=
  match x, y with
  | Vec r n, Vec q k =>
      if (r =? q)%nat && (n =? k)%nat && (n <=? wide known)%nat then
        match nth r (s_vec s) None with None => Some n | Some _ => None end
      else None
  | _, _ => None
  end.

(** The lowest n bytes of a register. *)
Definition lowest (n : nat) (v : list sbyte * bool) : option (list sbyte) :=
  let (w, clear) := v in
  if (n <=? length w)%nat then Some (firstn n w)
  else if clear && (n <=? wide known)%nat then Some (w ++ map const (zero (n - length w))) else None.

(** The region is not written. *)
Fixpoint only_read (u : nat) (gs : list region) : bool :=
  match gs with
  | [] => false
  | g :: gs => if (u =? start g)%nat then negb (writable g) else only_read u gs
  end.

Fixpoint sbytes_in (s : symbolic) (x : bytes) (nodes : list node) : option (list sbyte * list node) :=
  match x with
  | Vec r n =>
      match nth r (s_vec s) None with
      | Some v => match lowest n v with Some w => Some (w, nodes) | None => None end
      | None => None
      end
  | Load a n =>
      match saddress s a with
      | Some (u, x) => match sload u x n (s_mem s) with Some w => Some (w, nodes) | None => None end
      | None => None
      end
  | Bytes x => Some (map const x, nodes)
  | Of_gpr r =>
      match nth r (s_gpr s) None with
      | Some (None, z) => Some (map const (little_endian 8 (Z.to_N (wrap z))), nodes)
      | _ => None
      end
  | Xor x y =>
      match cleared s x y with
      | Some n => Some (map const (zero n), nodes)
      | None =>
          match sbytes_in s x nodes with
          | Some (a, nodes) =>
              match sbytes_in s y nodes with Some (b, nodes) => Some (sxor a b, nodes) | None => None end
          | None => None
          end
      end
  | Append x y =>
      match sbytes_in s x nodes with
      | Some (a, nodes) =>
          match sbytes_in s y nodes with Some (b, nodes) => Some (a ++ b, nodes) | None => None end
      | None => None
      end
  | Slice from len x =>
      match sbytes_in s x nodes with
      | Some (a, nodes) => Some (firstn len (skipn from a), nodes)
      | None => None
      end
  | Sub_shift x => match sbytes_in s x nodes with Some (a, nodes) => Some (intern Sub_shifted a nodes) | None => None end
  | Mix x => match sbytes_in s x nodes with Some (a, nodes) => Some (intern Mixed a nodes) | None => None end
  | Plus w x y =>
      match sbytes_in s x nodes with
      | Some (a, nodes) =>
          match sbytes_in s y nodes with Some (b, nodes) => splus_all w a b nodes | None => None end
      | None => None
      end
  | Times w x y =>
      match sbytes_in s x nodes with
      | Some (a, nodes) =>
          match sbytes_in s y nodes with Some (b, nodes) => stimes w a b nodes | None => None end
      | None => None
      end
  | Shift_left w k x => match sbytes_in s x nodes with Some (a, nodes) => sleft_all w k a nodes | None => None end
  | Shift_right w k x => match sbytes_in s x nodes with Some (a, nodes) => sright_all w k a nodes | None => None end
  | Or x y =>
      match sbytes_in s x nodes with
      | Some (a, nodes) =>
          match sbytes_in s y nodes with Some (b, nodes) => sor_all a b nodes | None => None end
      | None => None
      end
  | Shuffle x y =>
      match sbytes_in s x nodes with
      | Some (a, nodes) =>
          match sbytes_in s y nodes with Some (b, nodes) => sshuffle_all a b nodes | None => None end
      | None => None
      end
  | And_bytes x y =>
      match sbytes_in s x nodes with
      | Some (a, nodes) =>
          match sbytes_in s y nodes with Some (b, nodes) => sand_all a b nodes | None => None end
      | None => None
      end
  | Choose x y =>
      match sbytes_in s x nodes with
      | Some (a, nodes) =>
          match sbytes_in s y nodes with Some (b, nodes) => schoose a b nodes | None => None end
      | None => None
      end
  | Times_52 high x y =>
      match sbytes_in s x nodes with
      | Some (a, nodes) =>
          match sbytes_in s y nodes with Some (b, nodes) => stimes_52_all high a b nodes | None => None end
      | None => None
      end
  end.

Fixpoint sload_events (s : symbolic) (l : list (address * nat)) : option (list sevent) :=
  match l with
  | [] => Some []
  | (a, n) :: l =>
      match saddress s a, sload_events s l with
      | Some (u, x), Some es =>
          match sload u x n (s_mem s) with Some _ => Some (SRead u x n :: es) | None => None end
      | _, _ => None
      end
  end.

Definition sapply (e : effect) (s : symbolic) : option symbolic :=
  let 'Sym pc gpr vec carry zero_flag mem trace nodes := s in
  match e with
  | Set_gpr r x =>
      match snumber_in s x with
      | Some v => if (r <? length gpr)%nat then Some (Sym pc (update r (Some v) gpr) vec carry zero_flag mem trace nodes) else None
      | None => None
      end
  | Load_gpr r a =>
      match saddress s a with
      | Some (u, x) =>
          match sload u x 8 mem, find_pointer u x (pointers known) with
          | Some _, Some v =>
              if (r <? length gpr)%nat && only_read u mem
              then Some (Sym pc (update r (Some (Some v, 0)) gpr) vec carry zero_flag mem (SRead u x 8 :: trace) nodes) else None
          | _, _ => None
          end
      | None => None
      end
  | Set_carry c => Some (Sym pc gpr vec (scondition_in s c) zero_flag mem trace nodes)
  | Set_zero c => Some (Sym pc gpr vec carry (scondition_in s c) mem trace nodes)
  | Set_vec r x keep =>
      match sbytes_in s x nodes, sload_events s (loads x) with
      | Some (w, nodes), Some es =>
          if (r <? length vec)%nat && (length w <=? wide known)%nat
          then Some (Sym pc gpr (update r (Some (w, negb keep)) vec) carry zero_flag mem (es ++ trace) nodes) else None
      | _, _ => None
      end
  | Store a x =>
      match sbytes_in s x nodes, sload_events s (loads x), saddress s a with
      | Some (w, nodes), Some es, Some (u, at_) =>
          match sstore u at_ w mem with
          | Some mem => Some (Sym pc gpr vec carry zero_flag mem (SWrite u at_ (length w) :: es ++ trace) nodes)
          | None => None
          end
      | _, _, _ => None
      end
  | Branch c offset =>
      match scondition_in s c with
      | Some true => Some (Sym (pc + offset) gpr vec carry zero_flag mem trace nodes)
      | Some false => Some s
      | None => None
      end
  | Jump _ | Pop_jump _ => None
  end.

Fixpoint sapply_all (es : list effect) (s : symbolic) : option symbolic :=
  match es with
  | [] => Some s
  | e :: es => match sapply e s with Some s => sapply_all es s | None => None end
  end.

Fixpoint sfetch (ns : list nat) (rest : list byte) : option (list effect * nat) :=
  match ns with
  | [] => None
  | n :: ns =>
      if (n <=? length rest)%nat then
        match decode I (firstn n rest) with Some es => Some (es, n) | None => sfetch ns rest end
      else None
  end.

Definition sstep (s : symbolic) : option symbolic :=
  let 'Sym pc gpr vec carry zero_flag mem trace nodes := s in
  if (0 <=? pc) && (pc <? Z.of_nat (length code)) then
    match sfetch (lengths I) (skipn (Z.to_nat pc) code) with
    | Some (es, n) => sapply_all es (Sym (pc + Z.of_nat n) gpr vec carry zero_flag mem (SFetch pc n :: trace) nodes)
    | None => None
    end
  else None.

(** At least one step, up to the given place. *)
Fixpoint srun (fuel : nat) (to : Z) (s : symbolic) : option symbolic :=
  match fuel with
  | O => None
  | S fuel => match sstep s with
              | Some s => if s_pc s =? to then Some s else srun fuel to s
              | None => None
              end
  end.

(** ** What it means *)

Variable env : N -> byte.
Variable B : nat -> Z.
Variable code_at : Z.
Variable m0 : machine.
Variable L : list (nat * bool * nat).   (* the regions: start, whether writable, length *)

Definition number_is (v : snumber) : Z :=
  match v with (Some u, x) => wrap (B u + x) | (None, x) => wrap x end.

Definition event_is (e : sevent) : event :=
  match e with
  | SFetch x n => Fetch (code_at + x) n
  | SRead u x n => Read (B u + x) n
  | SWrite u x n => Write (B u + x) n
  end.

Definition inside (a : Z) (g : nat * bool * nat) : Prop :=
  let '(u, _, n) := g in B u <= a < B u + Z.of_nat n.

Definition in_writable (a : Z) : Prop := exists g, In g L /\ snd (fst g) = true /\ inside a g.

Definition separate (g h : nat * bool * nat) : Prop :=
  snd (fst g) = true \/ snd (fst h) = true -> forall a, inside a g -> ~ inside a h.

Fixpoint apart (l : list (nat * bool * nat)) : Prop :=
  match l with [] => True | g :: l => Forall (separate g) l /\ apart l end.

Record placed : Prop := Placed {
  p_range : Forall (fun g => let '(u, _, n) := g in 0 <= B u /\ B u + Z.of_nat n <= 2 ^ 64) L;
  p_apart : apart L;
  p_code_range : 0 <= code_at /\ code_at + Z.of_nat (length code) <= 2 ^ 64;
  p_code : read (mem m0) code_at (length code) = code;
  p_code_apart : forall a, code_at <= a < code_at + Z.of_nat (length code) -> ~ in_writable a;
  p_wide : (wide known <= full I)%nat;
  p_vec : forall r, length (vec m0 r) = full I;
  p_nonzero : match nonzero known with Some u => 0 < B u < 2 ^ 64 | None => True end;
  p_sums : Forall (fun s => let '(u, v, w) := s in wrap (B u + B v) = wrap (B w)) (sums known);
  p_pointers : Forall (fun p => let '(u, x, v) := p in wrap (number_of (read (mem m0) (B u + x) 8)) = wrap (B v))
    (pointers known)
}.

Record related (s : symbolic) (m : machine) : Prop := Related {
  r_pc : pc m = wrap (code_at + s_pc s);
  r_gpr : forall r, gpr m r = match nth r (s_gpr s) None with Some v => number_is v | None => gpr m0 r end;
  r_vec : forall r,
    match nth r (s_vec s) None with
    | Some (w, clear) => (length w <= wide known)%nat /\ firstn (length w) (vec m r) = evs env w /\
                         (clear = true -> vec m r = evs env w ++ zero (full I - length w))
    | None => vec m r = vec m0 r
    end;
  r_width : forall r, length (vec m r) = full I;
  r_carry : forall b, s_carry s = Some b -> carry m = b;
  r_zero : forall b, s_zero s = Some b -> zero_flag m = b;
  r_mem : Forall (fun g => read (mem m) (B (start g)) (length (content g)) = evs env (content g)) (s_mem s);
  r_layout : map layout_of (s_mem s) = L;
  r_frame : forall a, ~ in_writable a -> mem m a = mem m0 a;
  r_trace : trace m = map event_is (s_trace s) ++ trace m0
}.

Hypothesis HP : placed.

Lemma find_sum_in u v l w : find_sum u v l = Some w -> In (u, v, w) l.
Proof.
  induction l as [|[[a b] c] l IH]; cbn [find_sum]; intro E; [discriminate|].
  destruct ((u =? a)%nat && (v =? b)%nat) eqn:Q; [|right; auto].
  apply andb_prop in Q as [Q1 Q2]; apply Nat.eqb_eq in Q1 as ->; apply Nat.eqb_eq in Q2 as ->.
  left; congruence.
Qed.

Lemma find_pointer_in u x l w : find_pointer u x l = Some w -> In (u, x, w) l.
Proof.
  induction l as [|[[a b] c] l IH]; cbn [find_pointer]; intro E; [discriminate|].
  destruct ((u =? a)%nat && (x =? b)) eqn:Q; [|right; auto].
  apply andb_prop in Q as [Q1 Q2]; apply Nat.eqb_eq in Q1 as ->; apply Z.eqb_eq in Q2 as ->.
  left; congruence.
Qed.

Lemma plus_sound a b v : plus a b = Some v -> wrap (number_is a + number_is b) = number_is v.
Proof.
  destruct a as [a x], b as [[b|] y]; cbn [plus].
  - destruct a as [a|]; [|discriminate]; destruct (find_sum a b (sums known)) as [w|] eqn:F; [|discriminate].
    intro E; injection E as <-; apply find_sum_in in F.
    pose proof (proj1 (Forall_forall _ _) (p_sums HP) _ F) as S; cbv beta iota in S.
    cbn [number_is]; unfold wrap in *; rewrite <- Zplus_mod.
    replace (B a + x + (B b + y)) with (B a + B b + (x + y)) by lia.
    rewrite Zplus_mod, S, <- Zplus_mod; reflexivity.
  - intro E; destruct a; injection E as <-; unfold number_is, wrap; rewrite <- Zplus_mod; f_equal; lia.
Qed.

Lemma number_sound s m x : related s m -> forall v, snumber_in s x = Some v -> number_in m x = number_is v.
Proof.
  intros R; induction x as [r|z|a IHa b IHb|a IHa b IHb]; intros v E; cbn [snumber_in number_in] in *.
  - rewrite (r_gpr s m R r), E; reflexivity.
  - injection E as <-; reflexivity.
  - destruct (snumber_in s a) as [x|]; [|discriminate]; destruct (snumber_in s b) as [y|]; [|discriminate].
    rewrite (IHa _ eq_refl), (IHb _ eq_refl); apply plus_sound; exact E.
  - destruct (snumber_in s a) as [[u x]|]; [|discriminate].
    destruct (snumber_in s b) as [[[w|] y]|]; try discriminate; injection E as <-.
    rewrite (IHa _ eq_refl), (IHb _ eq_refl); unfold number_is, wrap.
    destruct u; rewrite <- Zminus_mod; f_equal; lia.
Qed.

Lemma number_is_range v : 0 <= number_is v < 2 ^ 64.
Proof. destruct v as [[u|] x]; apply Z.mod_pos_bound; lia. Qed.

Lemma condition_sound s m c : related s m -> forall b, scondition_in s c = Some b -> condition_in m c = b.
Proof.
  intros R; induction c as [x y|x y| | |c IH|c IHc d IHd]; intros b E; cbn [scondition_in condition_in] in *.
  - destruct (snumber_in s x) as [u|] eqn:X; [|discriminate].
    destruct (snumber_in s y) as [[[w|] z]|] eqn:Y; [destruct u as [[?|] ?]; discriminate| |destruct u as [[?|] ?]; discriminate].
    rewrite (number_sound s m x R u X), (number_sound s m y R _ Y).
    destruct u as [[u|] k]; [|injection E as <-; reflexivity].
    change (number_is (None, z)) with (wrap z).
    destruct (wrap z =? 0) eqn:Z0; [|discriminate]; injection E as <-.
    apply Z.eqb_eq in Z0; rewrite Z0; apply Z.ltb_ge, number_is_range.
  - destruct (snumber_in s x) as [u|] eqn:X; [|discriminate].
    destruct (snumber_in s y) as [[[w|] z]|] eqn:Y; [destruct u as [[?|] ?]; discriminate| |destruct u as [[?|] ?]; discriminate].
    rewrite (number_sound s m x R u X), (number_sound s m y R _ Y).
    destruct u as [[u|] k]; [|injection E as <-; reflexivity].
    pose proof (p_nonzero HP) as N; destruct (nonzero known) as [v|]; [|discriminate].
    destruct ((u =? v)%nat && (k =? 0) && (wrap z =? 0)) eqn:Q; [|discriminate]; injection E as <-.
    apply andb_prop in Q as [Q Z0]; apply andb_prop in Q as [U K].
    apply Nat.eqb_eq in U as ->; apply Z.eqb_eq in K as ->; apply Z.eqb_eq in Z0.
    change (number_is (None, z)) with (wrap z); rewrite Z0; unfold number_is.
    rewrite Z.add_0_r, wrap_small by lia; apply Z.eqb_neq; lia.
  - exact (r_carry s m R b E).
  - exact (r_zero s m R b E).
  - destruct (scondition_in s c) as [a|]; [|discriminate]; injection E as <-.
    rewrite (IH a eq_refl); reflexivity.
  - destruct (scondition_in s c) as [a|]; [|discriminate].
    destruct (scondition_in s d) as [a'|]; [|discriminate]; injection E as <-.
    rewrite (IHc a eq_refl), (IHd a' eq_refl); reflexivity.
Qed.

Lemma sload_region u x n gs w : sload u x n gs = Some w ->
  exists g, In g gs /\ start g = u /\ (0 < n)%nat /\ 0 <= x /\ x + Z.of_nat n <= Z.of_nat (length (content g)) /\
            w = firstn n (skipn (Z.to_nat x) (content g)).
Proof.
  induction gs as [|g gs IH]; cbn [sload]; intro E; [discriminate|].
  destruct (Nat.eqb_spec u (start g)) as [->|N].
  - destruct ((0 <? n)%nat && (0 <=? x) && (x + Z.of_nat n <=? Z.of_nat (length (content g)))) eqn:Q; [|discriminate].
    apply andb_prop in Q as [Q Q2]; apply andb_prop in Q as [Q0 Q1].
    apply Nat.ltb_lt in Q0; apply Z.leb_le in Q1, Q2; injection E as <-.
    exists g; repeat split; auto; now left.
  - destruct (IH E) as (h & J & H); exists h; split; [now right|exact H].
Qed.

Lemma region_range s m g : related s m -> In g (s_mem s) ->
  0 <= B (start g) /\ B (start g) + Z.of_nat (length (content g)) <= 2 ^ 64.
Proof.
  intros R J; pose proof (p_range HP) as P; rewrite <- (r_layout s m R) in P.
  rewrite Forall_forall in P; exact (P (layout_of g) (in_map layout_of _ _ J)).
Qed.

Lemma effective_sound s m a u x : related s m -> saddress s a = Some (u, x) -> effective m a = wrap (B u + x).
Proof.
  unfold saddress, effective; intros R E; cbv zeta in E; rewrite (r_gpr s m R (base a)).
  destruct (nth (base a) (s_gpr s) None) as [b|]; [|discriminate].
  assert (X : forall c, c = (Some u, x - displacement a) ->
    wrap (number_is c + displacement a) = wrap (B u + x)) by (intros c ->; cbn [number_is]; rewrite wrap_wrap; f_equal; lia).
  destruct (index a) as [i|].
  - rewrite (r_gpr s m R i); destruct (nth i (s_gpr s) None) as [c|]; [|discriminate].
    destruct (plus b c) as [v|] eqn:P; [|discriminate]; rewrite <- wrap_wrap, (plus_sound b c v P); apply X.
    destruct v as [[v|] k]; [|discriminate]; injection E as <- <-; f_equal; lia.
  - rewrite Z.add_0_r; apply X.
    destruct b as [[v|] k]; [|discriminate]; injection E as <- <-; f_equal; lia.
Qed.

Lemma only_read_in u gs : only_read u gs = true -> exists n, In (u, false, n) (map layout_of gs).
Proof.
  induction gs as [|g gs IH]; cbn [only_read map]; intro E; [discriminate|].
  destruct (Nat.eqb_spec u (start g)) as [->|N].
  - exists (length (content g)); left; unfold layout_of; destruct (writable g); [discriminate|reflexivity].
  - destruct (IH E) as (n & J); exists n; now right.
Qed.

Lemma apart_in l g h : apart l -> In g l -> In h l -> g = h \/ separate g h \/ separate h g.
Proof.
  induction l as [|a l IH]; intros A G H; [destruct G|]; destruct A as [A1 A2]; rewrite Forall_forall in A1.
  destruct G as [<-|G], H as [<-|H]; auto.
Qed.

(** A region that is only read is as it was. *)
Lemma only_read_same s m u x n w : related s m -> only_read u (s_mem s) = true -> sload u x n (s_mem s) = Some w ->
  read (mem m) (B u + x) n = read (mem m0) (B u + x) n.
Proof.
  intros R O E; assert (X : exists k, In (u, false, k) (map layout_of (s_mem s)) /\ 0 <= x /\ x + Z.of_nat n <= Z.of_nat k).
  { clear R; induction (s_mem s) as [|g gs IH]; cbn [only_read sload map] in *; [discriminate|].
    destruct (Nat.eqb_spec u (start g)) as [->|N].
    - destruct ((0 <? n)%nat && (0 <=? x) && (x + Z.of_nat n <=? Z.of_nat (length (content g)))) eqn:Q; [|discriminate].
      apply andb_prop in Q as [Q Q2]; apply andb_prop in Q as [_ Q1]; apply Z.leb_le in Q1, Q2.
      exists (length (content g)); split; [left; unfold layout_of; destruct (writable g); [discriminate|reflexivity]|lia].
    - destruct (IH O E) as (k & J & H); exists k; split; [now right|exact H]. }
  destruct X as (k & J & X1 & X2); rewrite (r_layout s m R) in J.
  apply read_same; intros a A; apply (r_frame s m R); intros (g & IG & W & K).
  assert (JA : inside a (u, false, k)) by (unfold inside; lia).
  destruct (apart_in L g (u, false, k) (p_apart HP) IG J) as [E1|[S|S]].
  - subst g; discriminate.
  - exact (S (or_introl W) a K JA).
  - exact (S (or_intror W) a JA K).
Qed.

Lemma load_sound s m a n u x w : related s m -> saddress s a = Some (u, x) -> sload u x n (s_mem s) = Some w ->
  effective m a = B u + x /\ fits (effective m a) n = true /\ read (mem m) (effective m a) n = evs env w.
Proof.
  intros R A E; rewrite (effective_sound s m a u x R A).
  apply sload_region in E as (g & J & <- & N & X & F & ->).
  pose proof (region_range s m g R J) as G.
  rewrite wrap_small by lia; split; [reflexivity|]; split; [apply Z.leb_le; lia|].
  rewrite evs_firstn, evs_skipn, <- (proj1 (Forall_forall _ _) (r_mem s m R) g J).
  rewrite <- read_part by lia; f_equal; lia.
Qed.

Local Ltac proj :=
  cbn [pc gpr vec carry zero_flag mem trace with_pc with_gpr with_vec with_carry with_zero with_mem log
       s_pc s_gpr s_vec s_carry s_zero s_mem s_trace s_nodes].

Local Ltac some H :=
  match type of H with
  | match ?f with Some _ => _ | None => None end = Some _ =>
      let v := fresh "v" in let E := fresh "E" in destruct f as [v|] eqn:E; [|discriminate]
  | match ?f with (_, _) => _ end = Some _ =>
      let a := fresh "a" in let b := fresh "b" in destruct f as [a b]
  end.

Lemma some_pair {X Y} (a c : X) (b d : Y) : Some (a, b) = Some (c, d) -> a = c /\ b = d.
Proof. intro E; split; congruence. Qed.

Lemma sbytes_extends s x : forall nodes w nodes', sbytes_in s x nodes = Some (w, nodes') -> extends nodes nodes'.
Proof.
  induction x as [r n|a n|x|r|x IHx y IHy|from len x IH|x IHx y IHy|x IH|x IH|v x IHx y IHy|v x IHx y IHy|v k x IH|v k x IH|x IHx y IHy|x IHx y IHy|x IHx y IHy|x IHx y IHy|v x IHx y IHy]; intros nodes w nodes' E;
    cbn [sbytes_in] in E.
  - some E; some E; apply some_pair in E as [<- <-]; apply extends_refl.
  - some E; some E; some E; apply some_pair in E as [<- <-]; apply extends_refl.
  - apply some_pair in E as [<- <-]; apply extends_refl.
  - some E; some E; destruct a; [discriminate|]; apply some_pair in E as [<- <-]; apply extends_refl.
  - destruct (cleared s x y) as [k|]; [apply some_pair in E as [<- <-]; apply extends_refl|].
    some E; some E; some E; some E; apply some_pair in E as [<- <-]; eapply extends_trans; eauto.
  - some E; some E; apply some_pair in E as [<- <-]; eauto.
  - some E; some E; some E; some E; apply some_pair in E as [<- <-]; eapply extends_trans; eauto.
  - some E; some E; assert (E1 : intern Sub_shifted a b = (w, nodes')) by congruence;
      apply (intern_sound env) in E1 as [X _]; eapply extends_trans; eauto.
  - some E; some E; assert (E1 : intern Mixed a b = (w, nodes')) by congruence;
      apply (intern_sound env) in E1 as [X _]; eapply extends_trans; eauto.
  - some E; some E; some E; some E; apply (splus_all_sound env) in E as [X _].
    eapply extends_trans; [eauto|]; eapply extends_trans; eauto.
  - some E; some E; some E; some E; apply (stimes_sound env) in E as [X _].
    eapply extends_trans; [eauto|]; eapply extends_trans; eauto.
  - some E; some E; apply (sleft_all_sound env) in E as [X _]; eapply extends_trans; eauto.
  - some E; some E; apply (sright_all_sound env) in E as [X _]; eapply extends_trans; eauto.
  - some E; some E; some E; some E; apply (sor_all_sound env) in E as [X _].
    eapply extends_trans; [eauto|]; eapply extends_trans; eauto.
  - some E; some E; some E; some E; apply (sshuffle_all_sound env) in E as [X _].
    eapply extends_trans; [eauto|]; eapply extends_trans; eauto.
  - some E; some E; some E; some E; apply (sand_all_sound env) in E as [X _].
    eapply extends_trans; [eauto|]; eapply extends_trans; eauto.
  - some E; some E; some E; some E; apply (schoose_sound env) in E as [X _].
    eapply extends_trans; [eauto|]; eapply extends_trans; eauto.
  - some E; some E; some E; some E; apply (stimes_52_all_sound env) in E as [X _].
    eapply extends_trans; [eauto|]; eapply extends_trans; eauto.
Qed.

Lemma sapply_extends e s s' : sapply e s = Some s' -> extends (s_nodes s) (s_nodes s').
Proof.
  intro E; destruct s as [pc_ gprs vecs cf zf mem_ tr nodes]; unfold sapply in E; destruct e; cbn [s_nodes].
  - some E; destruct (r <? length gprs)%nat; [|discriminate]; injection E as <-; apply extends_refl.
  - some E; some E; destruct (sload a0 b 8 mem_); [|discriminate]; some E.
    destruct ((r <? length gprs)%nat && only_read a0 mem_); [|discriminate]; injection E as <-; apply extends_refl.
  - injection E as <-; apply extends_refl.
  - injection E as <-; apply extends_refl.
  - some E; some E; some E; destruct ((r <? length vecs)%nat && (length a <=? wide known)%nat); [|discriminate].
    injection E as <-; eapply sbytes_extends; eassumption.
  - some E; some E; some E; some E; some E; some E; injection E as <-; eapply sbytes_extends; eassumption.
  - some E; destruct v; injection E as <-; apply extends_refl.
  - discriminate.
  - discriminate.
Qed.

Lemma sapply_all_extends es : forall s s', sapply_all es s = Some s' -> extends (s_nodes s) (s_nodes s').
Proof.
  induction es as [|e es IH]; cbn [sapply_all]; intros s s' E; [injection E as <-; apply extends_refl|].
  destruct (sapply e s) as [s1|] eqn:E1; [|discriminate].
  eapply extends_trans; [eapply sapply_extends; eassumption|eauto].
Qed.

Lemma xor_itself x : xor x x = zero (length x).
Proof. induction x as [|a x IH]; cbn [xor length]; [reflexivity|]; rewrite N.lxor_nilpotent, IH; reflexivity. Qed.

Lemma cleared_sound s m x y n : related s m -> cleared s x y = Some n -> xor (bytes_in m x) (bytes_in m y) = zero n.
Proof.
  intros R K; destruct x as [r k| | | | | | | | | | | | | | | | |]; try discriminate; destruct y as [q j| | | | | | | | | | | | | | | | |]; try discriminate.
  cbn [cleared bytes_in] in *.
  destruct ((r =? q)%nat && (k =? j)%nat && (k <=? wide known)%nat) eqn:Q; [|discriminate].
  apply andb_prop in Q as [Q W]; apply andb_prop in Q as [Q1 Q2].
  apply Nat.eqb_eq in Q1 as <-; apply Nat.eqb_eq in Q2 as <-; apply Nat.leb_le in W.
  destruct (nth r (s_vec s) None); [discriminate|]; injection K as <-.
  rewrite xor_itself, firstn_length, (r_width s m R r); f_equal; pose proof (p_wide HP); lia.
Qed.

Lemma lowest_sound s m r n v w : related s m -> nth r (s_vec s) None = Some v -> lowest n v = Some w ->
  firstn n (vec m r) = evs env w.
Proof.
  intros R N E; pose proof (r_vec s m R r) as V; rewrite N in V; destruct v as [x c]; destruct V as (LX & V & C).
  unfold lowest in E; destruct (Nat.leb_spec n (length x)) as [Q|Q].
  - injection E as <-; rewrite evs_firstn, <- V, firstn_firstn; f_equal; lia.
  - destruct c; [|discriminate]; cbn [andb] in E; destruct (Nat.leb_spec n (wide known)) as [W|]; [|discriminate].
    injection E as <-; rewrite (C eq_refl), evs_app, evs_const, firstn_app, evs_length, firstn_all2 by (rewrite evs_length; lia).
    f_equal; unfold zero; pose proof (p_wide HP).
    replace (full I - length x)%nat with ((n - length x) + (full I - n))%nat by lia.
    rewrite repeat_app, firstn_app, repeat_length, Nat.sub_diag, firstn_O, app_nil_r, firstn_all2; [reflexivity|].
    rewrite repeat_length; lia.
Qed.

Lemma bytes_sound s m x : related s m -> forall nodes w nodes', sbytes_in s x nodes = Some (w, nodes') ->
  extends nodes nodes' /\ (consistent env nodes' -> bytes_in m x = evs env w).
Proof.
  intro R; induction x as [r n|a n|x|r|x IHx y IHy|from len x IH|x IHx y IHy|x IH|x IH|v x IHx y IHy|v x IHx y IHy|v k x IH|v k x IH|x IHx y IHy|x IHx y IHy|x IHx y IHy|x IHx y IHy|v x IHx y IHy]; intros nodes w nodes' E;
    cbn [sbytes_in bytes_in] in *.
  - some E; some E; apply some_pair in E as [<- <-].
    split; [apply extends_refl|]; intros _; exact (lowest_sound s m r n _ _ R E0 E1).
  - some E; some E; some E; apply some_pair in E as [<- <-]; split; [apply extends_refl|]; intros _.
    apply (load_sound s m a n _ _ _ R E0 E1).
  - apply some_pair in E as [<- <-]; split; [apply extends_refl|]; now rewrite evs_const.
  - some E; some E; destruct a; [discriminate|]; apply some_pair in E as [<- <-]; split; [apply extends_refl|]; intros _.
    rewrite evs_const, (r_gpr s m R r), E0; reflexivity.
  - destruct (cleared s x y) as [k|] eqn:K.
    { apply some_pair in E as [<- <-]; split; [apply extends_refl|]; intros _.
      rewrite evs_const; apply cleared_sound with s; assumption. }
    some E; some E; some E; some E; apply some_pair in E as [<- <-].
    apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite S2, S1, evs_xor by (auto; eapply consistent_older; eassumption); reflexivity.
  - some E; some E; apply some_pair in E as [<- <-]; apply IH in E0 as [X S].
    split; auto; intro C; rewrite S, evs_firstn, evs_skipn by assumption; reflexivity.
  - some E; some E; some E; some E; apply some_pair in E as [<- <-].
    apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite S2, S1, evs_app by (auto; eapply consistent_older; eassumption); reflexivity.
  - some E; some E; apply IH in E0 as [X1 S1]; apply (f_equal (fun o => match o with Some p => p | None => ([], []) end)) in E; apply (intern_sound env) in E as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite S2, S1, node_value_is by (auto; eapply consistent_older; eassumption); reflexivity.
  - some E; some E; apply IH in E0 as [X1 S1]; apply (f_equal (fun o => match o with Some p => p | None => ([], []) end)) in E; apply (intern_sound env) in E as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite S2, S1, node_value_is by (auto; eapply consistent_older; eassumption); reflexivity.
  - some E; some E; some E; some E; apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    apply (splus_all_sound env) in E as [X3 S3].
    assert (X : extends b nodes') by (eapply extends_trans; eassumption).
    split; [eapply extends_trans; eassumption|]; intro C; rewrite S3, S2, S1; auto; eapply consistent_older; eassumption.
  - some E; some E; some E; some E; apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    apply (stimes_sound env) in E as [X3 S3].
    assert (X : extends b nodes') by (eapply extends_trans; eassumption).
    split; [eapply extends_trans; eassumption|]; intro C; rewrite S3, S2, S1; auto; eapply consistent_older; eassumption.
  - some E; some E; apply IH in E0 as [X1 S1]; apply (sleft_all_sound env) in E as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite S2, S1 by (auto; eapply consistent_older; eassumption); reflexivity.
  - some E; some E; apply IH in E0 as [X1 S1]; apply (sright_all_sound env) in E as [X2 S2].
    split; [eapply extends_trans; eassumption|]; intro C.
    rewrite S2, S1 by (auto; eapply consistent_older; eassumption); reflexivity.
  - some E; some E; some E; some E; apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    apply (sor_all_sound env) in E as [X3 S3].
    assert (X : extends b nodes') by (eapply extends_trans; eassumption).
    split; [eapply extends_trans; eassumption|]; intro C; rewrite S3, S2, S1; auto; eapply consistent_older; eassumption.
  - some E; some E; some E; some E; apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    apply (sshuffle_all_sound env) in E as [X3 S3].
    assert (X : extends b nodes') by (eapply extends_trans; eassumption).
    split; [eapply extends_trans; eassumption|]; intro C; rewrite S3, S2, S1; auto; eapply consistent_older; eassumption.
  - some E; some E; some E; some E; apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    apply (sand_all_sound env) in E as [X3 S3].
    assert (X : extends b nodes') by (eapply extends_trans; eassumption).
    split; [eapply extends_trans; eassumption|]; intro C; rewrite S3, S2, S1; auto; eapply consistent_older; eassumption.
  - some E; some E; some E; some E; apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    apply (schoose_sound env) in E as [X3 S3].
    assert (X : extends b nodes') by (eapply extends_trans; eassumption).
    split; [eapply extends_trans; eassumption|]; intro C; rewrite S3, S2, S1; auto; eapply consistent_older; eassumption.
  - some E; some E; some E; some E; apply IHx in E0 as [X1 S1]; apply IHy in E1 as [X2 S2].
    apply (stimes_52_all_sound env) in E as [X3 S3].
    assert (X : extends b nodes') by (eapply extends_trans; eassumption).
    split; [eapply extends_trans; eassumption|]; intro C; rewrite S3, S2, S1; auto; eapply consistent_older; eassumption.
Qed.

Lemma loads_sound s m : related s m -> forall l es, sload_events s l = Some es ->
  forallb (fun an => fits (effective m (fst an)) (snd an)) l = true /\
  map (fun an => Read (effective m (fst an)) (snd an)) l = map event_is es.
Proof.
  intro R; induction l as [|[a n] l IH]; cbn [sload_events]; intros es E; [injection E as <-; split; reflexivity|].
  some E; some E; some E; some E; injection E as <-.
  destruct (IH _ eq_refl) as [F M]; destruct (load_sound s m a n _ _ _ R E0 E2) as (A & T & _).
  cbn [forallb map fst snd event_is]; rewrite T, F, M, A; split; reflexivity.
Qed.

Lemma splice_length {A} k (w x : list A) : (k + length w <= length x)%nat -> length (splice k w x) = length x.
Proof. intro H; unfold splice; rewrite !app_length, firstn_length, skipn_length; lia. Qed.

Lemma evs_splice k w x : evs env (splice k w x) = splice k (evs env w) (evs env x).
Proof. unfold splice; rewrite !evs_app, evs_firstn, evs_skipn, evs_length; reflexivity. Qed.

Definition holds (mm : memory) (g : region) : Prop :=
  read mm (B (start g)) (length (content g)) = evs env (content g).

Lemma store_sound mm u x w gs : forall gs', sstore u x w gs = Some gs' ->
  apart (map layout_of gs) -> Forall (holds mm) gs ->
  exists n, In (u, true, n) (map layout_of gs) /\ 0 <= x /\ x + Z.of_nat (length w) <= Z.of_nat n /\
    (0 < length w)%nat /\ map layout_of gs' = map layout_of gs /\
    Forall (holds (write mm (B u + x) (evs env w))) gs'.
Proof.
  induction gs as [|g gs IH]; cbn [sstore map apart]; intros gs' E AA H; [discriminate|destruct AA as [A A']].
  inversion H as [|? ? Hg Hs]; subst.
  destruct (Nat.eqb_spec u (start g)) as [->|N].
  - destruct (writable g) eqn:W; [|discriminate]; cbn [andb] in E.
    destruct ((0 <? length w)%nat && (0 <=? x) && (x + Z.of_nat (length w) <=? Z.of_nat (length (content g)))) eqn:Q;
      [|discriminate]; injection E as <-.
    apply andb_prop in Q as [Q Q2]; apply andb_prop in Q as [Q0 Q1].
    apply Nat.ltb_lt in Q0; apply Z.leb_le in Q1, Q2.
    assert (K : (Z.to_nat x + length w <= length (content g))%nat) by lia.
    exists (length (content g)); split; [left; unfold layout_of; rewrite W; reflexivity|].
    repeat (split; [assumption|]); split.
    + cbn [map]; f_equal; unfold layout_of; cbn [start writable content]; rewrite W, splice_length by assumption; reflexivity.
    + constructor.
      * unfold holds in *; cbn [start content]; rewrite splice_length, evs_splice, <- Hg by assumption.
        replace x with (Z.of_nat (Z.to_nat x)) at 1 by lia.
        apply read_write; rewrite evs_length; assumption.
      * apply Forall_forall; intros h J; unfold holds.
        rewrite <- (proj1 (Forall_forall _ _) Hs h J).
        apply read_same; intros b Hb; apply write_outside; rewrite evs_length.
        pose proof (proj1 (Forall_forall _ _) A (layout_of h) (in_map layout_of _ _ J)) as S.
        unfold separate, layout_of, inside in S; cbn [fst snd] in S.
        specialize (S (or_introl W) b); lia.
  - destruct (sstore u x w gs) as [gs1|]; [|discriminate]; injection E as <-.
    destruct (IH gs1 eq_refl A' Hs) as (n & J & X & F & P & M & T).
    exists n; split; [now right|]; repeat (split; [assumption|]); split; [cbn [map]; rewrite M; reflexivity|].
    constructor; [|assumption]; unfold holds; rewrite <- Hg.
    apply read_same; intros b Hb; apply write_outside; rewrite evs_length.
    pose proof (proj1 (Forall_forall _ _) A _ J) as S.
    unfold separate, layout_of, inside in S; cbn [fst snd] in S.
    specialize (S (or_intror eq_refl) b Hb); lia.
Qed.

Lemma nth_update {A} r i (a : A) l d : (i < length l)%nat -> nth r (update i a l) d = if (r =? i)%nat then a else nth r l d.
Proof.
  revert r i; induction l as [|b l IH]; intros r [|i] H; cbn [length update] in *; try lia.
  - destruct r; reflexivity.
  - destruct r; cbn [nth Nat.eqb]; [reflexivity|apply IH; lia].
Qed.

Lemma apply_sound e s m s' : related s m -> sapply e s = Some s' ->
  extends (s_nodes s) (s_nodes s') /\
  (consistent env (s_nodes s') -> exists m', apply I e m = Some m' /\ related s' m').
Proof.
  intros R E; pose proof R as R0; destruct s as [pc_ gprs vecs cf zf mem_ tr nodes]; unfold sapply in E.
  destruct R as [Rpc Rgpr Rvec Rwidth Rcf Rzf Rmem Rlay Rframe Rtrace]; cbn [s_pc s_gpr s_vec s_carry s_zero s_mem s_trace s_nodes] in *.
  set (s := Sym pc_ gprs vecs cf zf mem_ tr nodes) in *.
  destruct e as [r x|r a|c|c|r x keep|a x|c off|r|r]; cbn [apply].
  - some E; destruct (Nat.ltb_spec r (length gprs)); [|discriminate]; injection E as <-.
    split; [apply extends_refl|]; intros _; eexists; split; [reflexivity|].
    constructor; proj; auto; intro q; unfold set; rewrite nth_update by assumption.
    destruct (q =? r)%nat; [apply (number_sound s m x R0 v E0)|apply Rgpr].
  - some E; destruct v as [u x]; destruct (sload u x 8 mem_) as [w|] eqn:EL; [|discriminate].
    destruct (find_pointer u x (pointers known)) as [v|] eqn:EP; [|discriminate].
    destruct ((r <? length gprs)%nat && only_read u mem_) eqn:Q; [|discriminate]; apply andb_prop in Q as [Q1 Q2].
    apply Nat.ltb_lt in Q1; injection E as <-; split; [apply extends_refl|]; intros _.
    destruct (load_sound s m a 8 u x w R0 E0 EL) as (EF & FT & _); rewrite FT; eexists; split; [reflexivity|].
    constructor; proj; auto.
    + intro q; unfold set; rewrite nth_update by assumption; destruct (q =? r)%nat; [|apply Rgpr].
      rewrite EF, (only_read_same s m u x 8 w R0 Q2 EL); cbn [number_is]; rewrite Z.add_0_r.
      apply find_pointer_in in EP; exact (proj1 (Forall_forall _ _) (p_pointers HP) _ EP).
    + rewrite EF, Rtrace; reflexivity.
  - injection E as <-; split; [apply extends_refl|]; intros _; eexists; split; [reflexivity|].
    constructor; proj; auto; intros b Hb; apply (condition_sound s m c R0 b Hb).
  - injection E as <-; split; [apply extends_refl|]; intros _; eexists; split; [reflexivity|].
    constructor; proj; auto; intros b Hb; apply (condition_sound s m c R0 b Hb).
  - some E; some E; some E.
    destruct (Nat.ltb_spec r (length vecs)); [|discriminate]; cbn [andb] in E.
    destruct (Nat.leb_spec (length a) (wide known)) as [LW|]; [|discriminate]; injection E as <-.
    apply (bytes_sound s m x R0) in E0 as [X S]; apply (loads_sound s m R0) in E1 as [F M].
    split; [exact X|]; intro C; specialize (S C).
    unfold loads_fit; rewrite F; eexists; split; [reflexivity|].
    constructor; proj; auto.
    + intro q; unfold set; rewrite nth_update by assumption.
      destruct (q =? r)%nat; [|apply Rvec].
      assert (LB : length (bytes_in m x) = length a) by (rewrite S; apply evs_length).
      split; [assumption|]; split.
      * rewrite firstn_app, LB, Nat.sub_diag, firstn_O, app_nil_r, firstn_all2 by lia; exact S.
      * destruct keep; cbn [negb]; intro; [discriminate|]; rewrite LB, S; reflexivity.
    + intro q; unfold set; destruct (q =? r)%nat; [|apply Rwidth].
      assert (LB : length (bytes_in m x) = length a) by (rewrite S; apply evs_length).
      pose proof (p_wide HP); destruct keep; rewrite app_length, LB.
      * rewrite skipn_length, Rwidth; lia.
      * unfold zero; rewrite repeat_length; lia.
    + unfold load_events; rewrite M, Rtrace, map_app, app_assoc; reflexivity.
  - some E; some E; some E; some E; some E; some E; injection E as <-.
    apply (bytes_sound s m x R0) in E0 as [X S]; apply (loads_sound s m R0) in E1 as [F M].
    split; [exact X|]; intro C; specialize (S C).
    assert (AP : apart (map layout_of mem_)) by (rewrite Rlay; exact (p_apart HP)).
    destruct (store_sound (mem m) _ _ _ _ _ E3 AP Rmem) as (n & J & X0 & FX & PW & ML & HH).
    assert (RG : 0 <= B a1 /\ B a1 + Z.of_nat n <= 2 ^ 64).
    { rewrite Rlay in J; exact (proj1 (Forall_forall _ _) (p_range HP) _ J). }
    assert (EF : effective m a = B a1 + b0).
    { rewrite (effective_sound s m a _ _ R0 E2); apply wrap_small; lia. }
    assert (LW : length (bytes_in m x) = length a0) by (rewrite S, evs_length; reflexivity).
    unfold loads_fit; rewrite F, EF, LW.
    assert (FT : fits (B a1 + b0) (length a0) = true) by (apply Z.leb_le; lia).
    rewrite FT; eexists; split; [reflexivity|].
    constructor; proj; auto.
    + rewrite S; exact HH.
    + rewrite ML; exact Rlay.
    + intros q NW; rewrite write_outside; [apply Rframe; exact NW|].
      rewrite LW; destruct (Z.lt_ge_cases q (B a1 + b0)); [auto|].
      destruct (Z.lt_ge_cases q (B a1 + b0 + Z.of_nat (length a0))); [|auto].
      exfalso; apply NW; exists (a1, true, n); split; [rewrite <- Rlay; exact J|]; split; [reflexivity|].
      unfold inside; lia.
    + unfold load_events; cbn [map app event_is]; rewrite M, Rtrace, map_app, app_assoc; reflexivity.
  - some E; destruct v; injection E as <-; (split; [apply extends_refl|]); intros _;
      rewrite (condition_sound s m c R0 _ E0); eexists; (split; [reflexivity|]); [|exact R0].
    constructor; proj; auto; rewrite Rpc, wrap_wrap; f_equal; lia.
  - discriminate.
  - discriminate.
Qed.

Lemma apply_all_sound es : forall s m s', related s m -> sapply_all es s = Some s' ->
  extends (s_nodes s) (s_nodes s') /\
  (consistent env (s_nodes s') -> exists m', apply_all I es m = Some m' /\ related s' m').
Proof.
  induction es as [|e es IH]; cbn [sapply_all apply_all]; intros s m s' R E.
  - injection E as <-; split; [apply extends_refl|]; intros _; exists m; split; [reflexivity|exact R].
  - destruct (sapply e s) as [s1|] eqn:E1; [|discriminate].
    destruct (apply_sound e s m s1 R E1) as [X1 S1].
    pose proof (sapply_all_extends es s1 s' E) as X2.
    split; [eapply extends_trans; eassumption|]; intro C.
    destruct S1 as (m1 & A1 & R1); [eapply consistent_older; eassumption|].
    destruct (IH s1 m1 s' R1 E) as [_ S2]; destruct (S2 C) as (m' & A2 & R2).
    exists m'; split; [rewrite A1; exact A2|exact R2].
Qed.

Lemma fetch_sound m rest ns : forall es n, sfetch ns rest = Some (es, n) ->
  (forall k, (k <= length rest)%nat -> read (mem m) (pc m) k = firstn k rest) ->
  fetch I ns m = Some (es, n) /\ (n <= length rest)%nat.
Proof.
  induction ns as [|k ns IH]; cbn [sfetch fetch]; intros es n E H; [discriminate|].
  destruct (Nat.leb_spec k (length rest)) as [Q|]; [|discriminate].
  rewrite (H k Q); destruct (decode I (firstn k rest)) as [fs|]; [|exact (IH es n E H)].
  apply some_pair in E as [<- <-]; split; [reflexivity|assumption].
Qed.

Lemma step_sound s m s' : related s m -> sstep s = Some s' ->
  extends (s_nodes s) (s_nodes s') /\
  (consistent env (s_nodes s') -> exists m', step I m = Some m' /\ related s' m').
Proof.
  intros R E; destruct s as [pc_ gprs vecs cf zf mem_ tr nodes]; unfold sstep in E.
  destruct ((0 <=? pc_) && (pc_ <? Z.of_nat (length code))) eqn:Q; [|discriminate].
  apply andb_prop in Q as [Q1 Q2]; apply Z.leb_le in Q1; apply Z.ltb_lt in Q2.
  some E; some E.
  destruct (p_code_range HP) as [C1 C2].
  assert (PC : pc m = code_at + pc_) by (rewrite (r_pc _ _ R); apply wrap_small; cbn [s_pc]; lia).
  assert (CODE : read (mem m) code_at (length code) = code).
  { rewrite <- (p_code HP) at 2; apply read_same; intros x X; apply (r_frame _ _ R), (p_code_apart HP), X. }
  assert (LEN : length (skipn (Z.to_nat pc_) code) = (length code - Z.to_nat pc_)%nat) by apply skipn_length.
  destruct (fetch_sound m _ _ _ _ E0) as [F N].
  { intros k K; rewrite PC; replace pc_ with (Z.of_nat (Z.to_nat pc_)) at 1 by lia.
    rewrite (read_part (mem m) code_at (length code)) by lia; rewrite CODE; reflexivity. }
  unfold step; rewrite F.
  assert (FT : fits (pc m) b = true) by (apply Z.leb_le; lia).
  rewrite FT.
  pose proof (fun RR => apply_all_sound a _ (log [Fetch (pc m) b] (with_pc (wrap (pc m + Z.of_nat b)) m)) s' RR E) as H.
  apply H; clear H.
  destruct R as [Rpc Rgpr Rvec Rwidth Rcf Rzf Rmem Rlay Rframe Rtrace]; cbn [s_pc s_gpr s_vec s_carry s_zero s_mem s_trace s_nodes] in *.
  constructor; proj; auto.
  - rewrite PC; f_equal; lia.
  - rewrite PC, Rtrace; reflexivity.
Qed.

Lemma srun_extends fuel to : forall s s', srun fuel to s = Some s' -> extends (s_nodes s) (s_nodes s').
Proof.
  induction fuel as [|fuel IH]; cbn [srun]; intros s s' E; [discriminate|].
  destruct (sstep s) as [s1|] eqn:E1; [|discriminate].
  assert (X : extends (s_nodes s) (s_nodes s1)).
  { destruct s; unfold sstep in E1; destruct ((0 <=? s_pc0) && (s_pc0 <? Z.of_nat (length code))); [|discriminate].
    some E1; some E1; apply sapply_all_extends in E1; exact E1. }
  destruct (s_pc s1 =? to); [injection E as <-; exact X|].
  eapply extends_trans; [exact X|eauto].
Qed.

Lemma srun_sound fuel to : forall s m s', related s m -> srun fuel to s = Some s' -> consistent env (s_nodes s') ->
  exists k m', run I k m = Some m' /\ related s' m'.
Proof.
  induction fuel as [|fuel IH]; cbn [srun]; intros s m s' R E C; [discriminate|].
  destruct (sstep s) as [s1|] eqn:E1; [|discriminate].
  destruct (step_sound s m s1 R E1) as [X S].
  destruct (s_pc s1 =? to).
  - injection E as <-; destruct (S C) as (m' & A & R'); exists 1%nat, m'; split; [|exact R'].
    cbn [run]; rewrite A; reflexivity.
  - destruct S as (m1 & A & R1); [eapply consistent_older; [apply (srun_extends _ _ _ _ E)|exact C]|].
    destruct (IH s1 m1 s' R1 E C) as (k & m' & A' & R'); exists (S k), m'; split; [|exact R'].
    cbn [run]; rewrite A; exact A'.
Qed.
End Run.

(** For all inputs, the symbolic bytes have values, and the machine does what [srun] found. *)
Theorem srun_for_all I code known fuel to s s' : srun I code known fuel to s = Some s' ->
  well_founded (s_nodes s') = true ->
  forall inputs B code_at m0 L, placed I code known B code_at m0 L ->
  (forall env, (forall a, (a < first)%N -> env a = inputs a) -> related I known env B code_at m0 L s m0) ->
  exists env k m', (forall a, (a < first)%N -> env a = inputs a) /\ consistent env (s_nodes s') /\
    run I k m0 = Some m' /\ related I known env B code_at m0 L s' m'.
Proof.
  intros E W inputs B code_at m0 L HP R.
  destruct (values_exist inputs (s_nodes s') W) as (env & H & C).
  destruct (srun_sound I code known env B code_at m0 L HP fuel to s m0 s' (R env H) E C) as (k & m' & A & R').
  exists env, k, m'; repeat split; assumption || apply R' || exact R'.
Qed.
