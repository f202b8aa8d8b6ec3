(* Compares the decoder and the semantics of Machine.v and of the instruction sets with what they describe.

     semantics decode          for each line "ARCHITECTURE HEX" of standard input: the effects of the first instruction
     semantics answers FILE    the same for each line "ARCHITECTURE HEX ANSWER" of FILE, up to the first other answer:
                               then exit status 1
     semantics runs FOLDER [SET|FORM]  repeats the runs that veriplex-isa wrote there, of all forms, of an instruction
                               set's or of one: exit status 1 if one differs
     semantics differs FOLDER FORM  the same for one form, up to the first run that differs

   The answer to a line is "-" if the bytes do not begin with an instruction of the tables. Otherwise it is the length
   of the instruction, and its effects (Machine.v) as lists in parentheses. *)

open Semantics_of

let fail fmt = Printf.ksprintf (fun s -> prerr_endline ("semantics: " ^ s); exit 1) fmt

(* Coq's numbers. [bits] has the least significant first. *)

let rec nat_of_int i = if i = 0 then O else S (nat_of_int (i - 1))

let rec int_of_nat = function O -> 0 | S n -> 1 + int_of_nat n

let rec positive_of_int i =
  if i = 1 then XH else if i land 1 = 1 then XI (positive_of_int (i lsr 1)) else XO (positive_of_int (i lsr 1))

let n_of_int i = if i = 0 then N0 else Npos (positive_of_int i)

let z_of_int i = if i = 0 then Z0 else if i > 0 then Zpos (positive_of_int i) else Zneg (positive_of_int (-i))

let rec int_of_positive = function
  | XH -> 1 | XO p -> 2 * int_of_positive p | XI p -> (2 * int_of_positive p) + 1

let int_of_n = function N0 -> 0 | Npos p -> int_of_positive p

let int_of_z = function Z0 -> 0 | Zpos p -> int_of_positive p | Zneg p -> - (int_of_positive p)

let byte = Array.init 256 n_of_int

(* Eight bytes, the lowest first. *)
let z_of_word s at =
  let rec go i bits =
    if i = 64 then bits else go (i + 1) ((Char.code s.[at + (i / 8)] lsr (i mod 8) land 1 = 1) :: bits) in
  List.fold_left (fun z bit ->
    match z, bit with
    | Z0, false -> Z0 | Z0, true -> Zpos XH
    | Zpos p, false -> Zpos (XO p) | Zpos p, true -> Zpos (XI p)
    | Zneg _, _ -> assert false) Z0 (go 0 [])

let hex_of_positive p =
  let rec bits = function XH -> [ 1 ] | XO p -> 0 :: bits p | XI p -> 1 :: bits p in
  let rec digits = function
    | [] -> ""
    | b -> let digit, rest = List.filteri (fun i _ -> i < 4) b, List.filteri (fun i _ -> i >= 4) b in
           digits rest ^ Printf.sprintf "%x" (List.fold_right (fun b d -> b + (2 * d)) digit 0) in
  digits (bits p)

let hex_of_z = function Z0 -> "0" | Zpos p -> hex_of_positive p | Zneg p -> "-" ^ hex_of_positive p

let hex_of_byte = Array.init 256 (Printf.sprintf "%02x")

let hex x = String.concat "" (List.map (fun b -> hex_of_byte.(int_of_n b)) x)

let unhex s =
  List.init (String.length s / 2) (fun i ->
    match int_of_string_opt ("0x" ^ String.sub s (2 * i) 2) with Some b -> byte.(b) | None -> fail "bad hex: %s" s)

(* Instruction sets: the registers that a form works on (proofs/isa), and forms that use what no kernel has. *)

type set = {
  name : string;
  isa : isa;
  general : int;                  (* the general register of the image *)
  image_at : int;                 (* the register with its address *)
  stack : int;
  link : int option;              (* the register with the return address, if it is not on the stack *)
  returning : string;             (* the bytes of the return *)
  resumed : string;               (* what a form has after the place to which it returns *)
  reload : string;                (* what a form may have at its end to load the general register again, *)
  flags : string;                 (* or to have the flags in it: the zero flag, and 256 for the carry *)
  scratch : int list;             (* what else a form may change: general registers, *)
  scratch_vectors : int list;     (* and vector registers *)
  stores : string list;           (* forms that write to the image *)
  outside : string -> bool
}

let sets = [
  { name = "X86_64"; isa = x86_64; general = 0; image_at = 7; stack = 4; link = None; returning = "\xc3"; resumed = "";
    reload = ""; flags = "\x0f\x94\xc0\x0f\x92\xc4\x0f\xb7\xc0"; scratch = []; scratch_vectors = [ 2; 17; 31 ];
    stores = [ "vmovdqu_store"; "vmovdqu64_store" ];
    outside = (fun form ->
      List.mem form
        [ "vpslldq_255"; "vpsrldq_255"; "vpalignr_31"; "vpalignr_255"; "vinserti128_0";
          "vinserti64x4_0"; "vextracti128_0"; "vperm2i128_3"; "vperm2i128_8"; "vperm2i128_136" ] ||
      not (List.mem form
        [ "vpbroadcastd_zmm"; "vpunpckhdq_zmm"; "vpunpckhqdq_ymm"; "vpunpckhqdq_zmm"; "vpunpckldq_zmm" ]) &&
      List.exists (fun prefix -> String.starts_with ~prefix form)
        [ "mov_pointer"; "vpsrld_zmm"; "vpandnq"; "vpunpckh"; "vpunpckldq"; "vpmuludq_zmm_memory"; "vpbroadcastd" ]) };
  { name = "AArch64"; isa = aarch64 (nat_of_int 16); general = 1; image_at = 0; stack = 31; link = Some 30;
    returning = "\xc0\x03\x5f\xd6"; resumed = "\xfe\x03\x02\xaa"; reload = "\x01\x10\x40\xf9"; flags = ""; scratch = [ 2 ];
    scratch_vectors = [ 2; 3; 4; 5 ];
    stores = [ "stp_least"; "stp_most"; "stur_least"; "stur_most" ];
    outside = (fun _ -> false) };
]

let set_of name = match List.find_opt (fun set -> set.name = name) sets with
  | Some set -> set
  | None -> fail "unknown instruction set: %s" name

(* -- Decoding ------------------------------------------------------------------------------------------------------ *)

let rec number = function
  | Gpr r -> Printf.sprintf "(gpr %d)" (int_of_nat r)
  | Imm z -> hex_of_z z
  | Add (a, b) -> Printf.sprintf "(add %s %s)" (number a) (number b)
  | Sub (a, b) -> Printf.sprintf "(sub %s %s)" (number a) (number b)

let rec condition = function
  | Below (a, b) -> Printf.sprintf "(below %s %s)" (number a) (number b)
  | Equal (a, b) -> Printf.sprintf "(equal %s %s)" (number a) (number b)
  | Carry -> "carry"
  | Zero_flag -> "zero"
  | Not c -> Printf.sprintf "(not %s)" (condition c)
  | And (c, d) -> Printf.sprintf "(and %s %s)" (condition c) (condition d)

let address a =
  let index = match a.index with Some i -> Printf.sprintf "+%d" (int_of_nat i) | None -> "" in
  Printf.sprintf "%d%s %s" (int_of_nat a.base) index (hex_of_z a.displacement)

let rec bytes = function
  | Vec (r, n) -> Printf.sprintf "(vec %d %d)" (int_of_nat r) (int_of_nat n)
  | Load (a, n) -> Printf.sprintf "(load %s %d)" (address a) (int_of_nat n)
  | Bytes x -> Printf.sprintf "(bytes %s)" (hex x)
  | Of_gpr r -> Printf.sprintf "(gpr %d)" (int_of_nat r)
  | Xor (x, y) -> Printf.sprintf "(xor %s %s)" (bytes x) (bytes y)
  | Slice (from, len, x) -> Printf.sprintf "(slice %d %d %s)" (int_of_nat from) (int_of_nat len) (bytes x)
  | Append (x, y) -> Printf.sprintf "(append %s %s)" (bytes x) (bytes y)
  | Sub_shift x -> Printf.sprintf "(sub_shift %s)" (bytes x)
  | Mix x -> Printf.sprintf "(mix %s)" (bytes x)
  | Plus (w, x, y) -> Printf.sprintf "(plus %d %s %s)" (int_of_nat w) (bytes x) (bytes y)
  | Times (w, x, y) -> Printf.sprintf "(times %d %s %s)" (int_of_nat w) (bytes x) (bytes y)
  | Shift_left (w, k, x) -> Printf.sprintf "(shift_left %d %d %s)" (int_of_nat w) (int_of_nat k) (bytes x)
  | Or (x, y) -> Printf.sprintf "(or %s %s)" (bytes x) (bytes y)
  | Shuffle (x, y) -> Printf.sprintf "(shuffle %s %s)" (bytes x) (bytes y)
  | And_bytes (x, y) -> Printf.sprintf "(and %s %s)" (bytes x) (bytes y)
  | Choose (x, y) -> Printf.sprintf "(choose %s %s)" (bytes x) (bytes y)
  | Times_52 (high, x, y) -> Printf.sprintf "(times_52 %b %s %s)" high (bytes x) (bytes y)
  | Shift_right (w, k, x) -> Printf.sprintf "(shift_right %d %d %s)" (int_of_nat w) (int_of_nat k) (bytes x)

let string_of_effect = function
  | Set_gpr (r, x) -> Printf.sprintf "(set_gpr %d %s)" (int_of_nat r) (number x)
  | Load_gpr (r, a) -> Printf.sprintf "(load_gpr %d %s)" (int_of_nat r) (address a)
  | Set_carry c -> Printf.sprintf "(set_carry %s)" (condition c)
  | Set_zero c -> Printf.sprintf "(set_zero %s)" (condition c)
  | Set_vec (r, x, keep) -> Printf.sprintf "(set_vec %d %s %b)" (int_of_nat r) (bytes x) keep
  | Store (a, x) -> Printf.sprintf "(store %s %s)" (address a) (bytes x)
  | Branch (c, offset) -> Printf.sprintf "(branch %s %s)" (condition c) (hex_of_z offset)
  | Jump r -> Printf.sprintf "(jump %d)" (int_of_nat r)
  | Pop_jump r -> Printf.sprintf "(pop_jump %d)" (int_of_nat r)

(* The least length at which the bytes are an instruction, as in [fetch]. *)
let decoded isa x =
  let rec go = function
    | [] -> "-"
    | n :: ns ->
        let n = int_of_nat n in
        if n > List.length x then "-" else
        match isa.decode (List.filteri (fun i _ -> i < n) x) with
        | Some effects -> String.concat " " (string_of_int n :: List.map string_of_effect effects)
        | None -> go ns in
  go isa.lengths

let decode_lines () =
  try
    while true do
      match String.split_on_char ' ' (input_line stdin) with
      | [ name; x ] -> print_endline (decoded (set_of name).isa (unhex x))
      | _ -> fail "malformed line"
    done
  with End_of_file -> ()

let compare_answers file =
  let channel = open_in file and number = ref 0 in
  try
    while true do
      let line = input_line channel in
      incr number;
      match String.split_on_char ' ' line with
      | name :: x :: answer ->
          let expected = String.concat " " answer and answer = decoded (set_of name).isa (unhex x) in
          if answer <> expected then (Printf.printf "FAILED: %s %s: %s, and not %s\n" name x answer expected; exit 1)
      | _ -> fail "malformed line"
    done
  with End_of_file ->
    if !number = 0 then fail "no answers in %s" file;
    Printf.printf "semantics: %d answers, as they must be\n" !number

(* -- Runs ---------------------------------------------------------------------------------------------------------- *)

let contents file =
  let channel = open_in_bin file in
  let s = really_input_string channel (in_channel_length channel) in
  close_in channel; s

let code_at = 0x10000
let image_at = 0x20000
let stack_at = 0x30000

let image_addresses = Array.init 136 (fun i -> z_of_int (image_at + i))

(* The contents of registers that no form has in its image. *)
let other_gprs = Array.init 32 (fun i -> z_of_int (0x1234567 * (i + 1)))
let other_vecs =
  let of_width full = Array.init 32 (fun i -> List.init full (fun j -> byte.((17 * i + j) land 255))) in
  List.map (fun set -> let full = int_of_nat set.isa.full in full, of_width full) sets

let registers = Array.init 32 nat_of_int

(* OCaml's own comparison takes a quarter of all time. Most registers are as they were. *)
let rec same_positive p q = p == q || match p, q with
  | XO p, XO q | XI p, XI q -> same_positive p q
  | XH, XH -> true
  | _ -> false

let same_z x y = match x, y with
  | Z0, Z0 -> true
  | Zpos p, Zpos q | Zneg p, Zneg q -> same_positive p q
  | _ -> false

let same_n x y = x == y || match x, y with Npos p, Npos q -> same_positive p q | N0, N0 -> true | _ -> false

let rec same_bytes x y = x == y || match x, y with
  | a :: x, b :: y -> same_n a b && same_bytes x y
  | _ -> false

(* Where these bytes begin. *)
let rec find s part at =
  if String.sub s at (String.length part) = part then at else find s part (at + 1)

let ends code suffix = suffix <> "" && String.ends_with ~suffix code
let reloads set code = ends code set.reload

(* What the tables do not have at the end of a form. *)
let unmodelled set form code =
  if form = "ret" then set.resumed
  else Option.value (List.find_opt (ends code) [ set.reload; set.flags ]) ~default:""

(* The image after the code has run on it, and whether everything else is as it must be. *)
let after set form code image =
  let full = int_of_nat set.isa.full in
  let others = List.assoc full other_vecs in
  let width = (String.length image - 8) / 2 in
  let vec i =
    if i > 1 then others.(i)
    else List.init full (fun j -> if j < width then byte.(Char.code image.[(i * width) + j]) else byte.(0)) in
  let vectors = Array.init 32 vec in
  let finish = code_at + String.length code - String.length (unmodelled set form code) in
  let finish_z = z_of_int finish in
  let gprs = Array.init 32 (fun i ->
    if i = set.general then z_of_word image (2 * width) else if i = set.image_at then z_of_int image_at
    else if i = set.stack then z_of_int stack_at
    else if form = "ret" && set.link = Some i then finish_z else other_gprs.(i)) in
  let mem a = match a with
    | Zneg _ -> byte.(0)
    | _ ->
        let a = int_of_z a in
        if a >= code_at && a < code_at + String.length code then byte.(Char.code code.[a - code_at])
        else if a >= image_at && a < image_at + String.length image then byte.(Char.code image.[a - image_at])
        else if a >= stack_at && a < stack_at + 8 then byte.(finish lsr (8 * (a - stack_at)) land 255)
        else byte.(0) in
  (* A return starts with its address on the stack or in the register. *)
  let from = if form = "ret" then find code set.returning 0 else 0 in
  let start = { pc = z_of_int (code_at + from); gpr = (fun r -> gprs.(int_of_nat r));
                vec = (fun r -> vectors.(int_of_nat r)); carry = false; zero_flag = false; mem; trace = [] } in
  let rec go fuel m =
    if same_z m.pc finish_z then Some m
    else if fuel = 0 then None
    else match step set.isa m with Some m -> go (fuel - 1) m | None -> None in
  match go 16 start with
  | None -> None
  | Some m ->
      let new_vec i = m.vec registers.(i) and new_gpr i = m.gpr registers.(i) in
      let same = ref true in
      for i = 0 to 31 do
        let kept = if form = "vzeroall" && i < 16 then List.init full (fun _ -> byte.(0)) else vectors.(i) in
        if i > 1 && not (List.mem i set.scratch_vectors) && not (same_bytes (new_vec i) kept) then same := false;
        let popped = form = "ret" && i = set.stack && set.link = None in
        let expected = if popped then z_of_int (stack_at + 8) else gprs.(i) in
        if i <> set.general && not (List.mem i set.scratch) && not (same_z (new_gpr i) expected) then same := false
      done;
      let low i = List.filteri (fun j _ -> j < width) (new_vec i) in
      let stored = List.init (String.length image) (fun i -> m.mem image_addresses.(i)) in
      let general =
        if ends code set.flags then z_of_int (Bool.to_int m.zero_flag + (256 * Bool.to_int m.carry))
        else new_gpr set.general in
      if !same then Some (low 0 @ low 1, general, stored) else None

let bytes_of_string s = List.init (String.length s) (fun i -> byte.(Char.code s.[i]))

let hex_of_string s =
  String.concat "" (List.map (fun c -> hex_of_byte.(Char.code c)) (List.of_seq (String.to_seq s)))

(* The registers are those after the run. Memory is the image before it or, for a form that stores, after it. *)
let agrees set form code before expected =
  let width = (String.length before - 8) / 2 in
  match after set form code before with
  | None -> false
  | Some (vectors, general, stored) ->
      same_bytes vectors (bytes_of_string (String.sub expected 0 (2 * width))) &&
      same_z general (z_of_word (if reloads set code then before else expected) (2 * width)) &&
      same_bytes stored (bytes_of_string (if List.mem form set.stores then expected else before))

(* How often proofs/isa executes a form. *)
let runs_of_each = 10_000

let compare_runs ?(up_to_first = false) folder sets wanted =
  let failed = ref 0 and forms = ref 0 and runs_of_all = ref 0 in
  let wrong fmt = Printf.ksprintf (fun s -> print_endline ("FAILED: " ^ s); incr failed) fmt in
  List.iter (fun set ->
    let codes = Filename.concat (Filename.concat folder "code") set.name in
    if not (Sys.file_exists codes) then
      Printf.printf "semantics: %s skipped, because nothing has executed it\n" set.name
    else
      Array.iter (fun form ->
        let code = contents (Filename.concat codes form) in
        let runs = contents (Filename.concat (Filename.concat folder set.name) form) in
        let len = if String.length runs = runs_of_each * 2 * 136 then 136 else 40 in
        let count = String.length runs / (2 * len) in
        let piece i = String.sub runs (i * len) len in
        if set.outside form then begin
          if after set form code (String.make len '\000') <> None then
            wrong "%s %s is decoded, and no kernel has it" set.name form
        end else if count = 0 then
          Printf.printf "semantics: %s %s skipped, because no CPU that has it has executed it\n" set.name form
        else begin
          let rec differing i =
            if i = count then []
            else if agrees set form code (piece (2 * i)) (piece ((2 * i) + 1)) then differing (i + 1)
            else i :: (if up_to_first then [] else differing (i + 1)) in
          (match differing 0 with
           | [] -> ()
           | first :: _ as all -> wrong "%s %s: %s%d of %d runs differ, the first is %s -> %s" set.name form
               (if up_to_first then "at least " else "") (List.length all) count
               (hex_of_string (piece (2 * first))) (hex_of_string (piece ((2 * first) + 1))));
          incr forms; runs_of_all := !runs_of_all + count
        end) (let all = Array.of_list (List.filter wanted (Array.to_list (Sys.readdir codes))) in
              Array.sort compare all; all)) sets;
  Printf.printf "semantics: %d forms, %d runs, %d forms failed\n" !forms !runs_of_all !failed;
  if !failed > 0 || !forms = 0 then exit 1

let () =
  match Array.to_list Sys.argv with
  | [ _; "decode" ] -> decode_lines ()
  | [ _; "answers"; file ] -> compare_answers file
  | [ _; "differs"; folder; form ] -> compare_runs ~up_to_first:true folder sets (( = ) form)
  | [ _; "runs"; folder ] -> compare_runs folder sets (fun _ -> true)
  | [ _; "runs"; folder; wanted ] -> (
      match List.filter (fun set -> set.name = wanted) sets with
      | [] -> compare_runs folder sets (( = ) wanted)
      | set -> compare_runs folder set (fun _ -> true))
  | _ -> fail "semantics decode | answers FILE | runs FOLDER [SET|FORM] | differs FOLDER FORM"
