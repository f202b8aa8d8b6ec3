(* Runs the model of Duplex.v and Protocol.v on transcripts read from standard input, and those of Tree.v and Seekable.v
   on messages.

   The permutation is not part of the model, so the caller supplies it as a table: the pairs
   (input, output) of the real permutation.  It is an error if the model produces an input that
   the table does not have.  So a successful run agreed with the caller on every permutation
   input.

   Input, one item a line, fields separated by one space.  HEX is lower-case hex, "-" for the
   empty string.  Blank lines and lines that start with # are skipped.

     perm IN OUT              128 bytes each; anywhere before the line that needs it
     begin NAME               a new transcript, from the zero state
     init DOMAIN              strings are HEX
     mix LABEL DATA
     derive LABEL N           N decimal
     mask LABEL PLAINTEXT
     unmask LABEL CIPHERTEXT
     seal LABEL PLAINTEXT
     open LABEL CIPHERTEXT TAG
     fork LABEL I DATA        this transcript continues as branch I (decimal); the root is "0 -"
     ratchet LABEL
     end
     tree DOMAIN KEY N MESSAGE                   KEY is "none" for a tree without one
     segments DOMAIN KEY NONCE AD S MESSAGE      S decimal: the segment length
     stream DOMAIN KEY NONCE AD S SEALED         what a reader from start to end gives out

   Output:

     begin NAME
     out HEX                  after derive, mask, unmask, seal (ciphertext and tag), open; after tree and segments;
                              after stream, for each segment
     finished true LENGTH     then, if it accepted the end: the length of the plaintext
     finished false           else
     out failed               after open with a wrong tag
     in HEX                   at "end": each permutation input, 128 bytes, oldest first
     fed HEX                  then each padded block, 96 bytes: in[k] XOR (output of in[k-1])
     last FRAME HEX           then the open block: its frame index, the bytes fed so far
     state RATE FRAME HEX     then the state: rate index, frame index, 128 bytes
     end

   Exit status 1 on a missing table entry or a malformed line, with a message. *)

open Machine

type string = String.t (* not Coq's *)

let fail fmt = Printf.ksprintf (fun s -> prerr_endline ("model: " ^ s); exit 1) fmt

(* Coq's numbers *)

let rec positive_of_int i =
  if i = 1 then XH else if i land 1 = 1 then XI (positive_of_int (i lsr 1))
  else XO (positive_of_int (i lsr 1))

let n_of_int i = if i = 0 then N0 else Npos (positive_of_int i)

let rec int_of_positive = function
  | XH -> 1 | XO p -> 2 * int_of_positive p | XI p -> (2 * int_of_positive p) + 1

let int_of_n = function N0 -> 0 | Npos p -> int_of_positive p

let nat_of_int i =
  let rec go acc i = if i = 0 then acc else go (S acc) (i - 1) in
  go O i

let int_of_nat n =
  let rec go acc = function O -> acc | S m -> go (acc + 1) m in
  go 0 n

(* Hex *)

let byte_of = Array.init 256 n_of_int

let unhex s =
  if s = "-" then []
  else if String.length s land 1 = 1 then fail "odd hex: %s" s
  else
    List.init (String.length s / 2) (fun i ->
      match int_of_string_opt ("0x" ^ String.sub s (2 * i) 2) with
      | Some b -> byte_of.(b)
      | None -> fail "bad hex: %s" s)

let hex l =
  if l = [] then "-"
  else String.concat "" (List.map (fun b ->
    let b = int_of_n b in
    if b > 255 then fail "the model made a byte above 255";
    Printf.sprintf "%02x" b) l)

let number s = match int_of_string_opt s with
  | Some i when i >= 0 -> i
  | _ -> fail "bad number: %s" s

(* The permutation, as a table *)

let table : (string, n list) Hashtbl.t = Hashtbl.create 4096

let perm s =
  let k = hex s in
  match Hashtbl.find_opt table k with
  | Some out -> out
  | None -> fail "permutation input not in the table: %s" k

(* One transcript: the state, and the operations so far, newest first *)

let current = ref start
let ops = ref []

let out l = Printf.printf "out %s\n" (hex l)

(* Prints the output of an operation, if it is one that has an output. *)
let apply ?(quiet = false) o =
  let o', d = step perm o !current in
  if not quiet then out o';
  current := d;
  ops := o :: !ops

let finish () =
  let t = List.rev !ops in
  let d = run perm t and tape = tape_run perm t in
  if d <> !current || d <> render perm tape then fail "the model disagrees with itself";
  List.iter (fun i -> Printf.printf "in %s\n" (hex i)) d.inputs;
  List.iter (fun b -> Printf.printf "fed %s\n" (hex b)) (fed perm t);
  Printf.printf "last %d %s\n" (int_of_nat tape.fi) (hex tape.cur);
  Printf.printf "state %d %d %s\nend\n" (int_of_nat d.rate_idx) (int_of_nat d.frame_idx)
    (hex d.state)

(* Tree and seekable *)

let context domain key nonce ad s =
  { domain = unhex domain; key = unhex key; nonce = unhex nonce; ad = unhex ad; segment_len = nat_of_int (number s) }

let line s =
  match String.split_on_char ' ' s with
  | [ "perm"; i; o ] -> Hashtbl.replace table i (unhex o)
  | [ "begin"; name ] ->
      current := start; ops := [];
      Printf.printf "begin %s\n" name
  | [ "init"; d ] -> apply ~quiet:true (Init (unhex d))
  | [ "mix"; l; x ] -> apply ~quiet:true (Mix (unhex l, unhex x))
  | [ "derive"; l; n ] -> apply (Derive (unhex l, nat_of_int (number n)))
  | [ "mask"; l; p ] -> apply (Mask (unhex l, unhex p))
  | [ "seal"; l; p ] -> apply (Seal (unhex l, unhex p))
  | [ "fork"; l; i; v ] -> apply ~quiet:true (Fork (unhex l, n_of_int (number i), unhex v))
  | [ "ratchet"; l ] -> apply ~quiet:true (Ratchet (unhex l))
  | [ "unmask"; l; c ] ->
      (* the transcript holds the plaintext; the state is the one from [unmask] *)
      let p, d = unmask perm (unhex l) (unhex c) !current in
      out p;
      current := d;
      ops := Mask (unhex l, p) :: !ops
  | [ "open"; l; c; tag ] ->
      let (p, _), _ = opened perm (unhex l) (unhex c) !current in
      let r, d = unseal perm (unhex l) (unhex c) (unhex tag) !current in
      (match r with Some p -> out p | None -> print_endline "out failed");
      current := d;
      ops := Seal (unhex l, p) :: !ops
  | [ "end" ] -> finish ()
  | [ "tree"; domain; key; n; m ] ->
      let b = base (unhex domain) (if key = "none" then None else Some (unhex key)) in
      out (tree (derive perm) b (unhex m) (nat_of_int (number n)))
  | [ "segments"; domain; key; nonce; ad; s; m ] -> out (seal perm (context domain key nonce ad s) (unhex m))
  | [ "stream"; domain; key; nonce; ad; s; c ] ->
      let x = context domain key nonce ad s and c = unhex c in
      List.iter out (stream perm x c);
      if finished perm x c then Printf.printf "finished true %d\n" (int_of_nat (plaintext_len x c))
      else print_endline "finished false"
  | _ -> fail "malformed line: %s" (String.sub s 0 (min 60 (String.length s)))

let () =
  try
    while true do
      let s = input_line stdin in
      if s <> "" && s.[0] <> '#' then line s
    done
  with End_of_file -> ()
