# Plants each defect in a copy and runs `make check` there. It must fail, in the named place.

# plant NAME FILE SED WANT: WANT is the lemma at which the compiler stops, or a message of the Makefile.
plant() {
  dir=build/mutants/$1
  rm -rf "$dir"; mkdir -p "$dir"
  cp -p Makefile statements.txt vectors.awk kernels.awk ./*.v ./*.vo "$dir"/
  sed -i "$3" "$dir/$2"
  if cmp -s "$2" "$dir/$2"; then echo "$1: the defect does not change $2" >&2; exit 1; fi
  if log=$(make -C "$dir" -s check VECTORS= KERNELS= 2>&1); then echo "$1: the check passes in spite of the defect" >&2; exit 1; fi
  place=$(echo "$log" | sed -n 's/^File "\([^"]*\)", line \([0-9]*\),.*/\2 \1/p' | tail -n 1)
  if [ -n "$place" ]; then
    got=$(head -n "${place%% *}" "$dir/${place#* }" |
      sed -nE 's/^ *(Lemma|Theorem|Corollary|Example|Definition) ([A-Za-z0-9_]+).*/\2/p' | tail -n 1)
  elif echo "$log" | grep -q "^[^ ]*:[0-9]*:.*"; then got=forbidden
  elif echo "$log" | grep -q "or what it rests on, differs from statements.txt"; then got=statements
  else got=$(echo "$log" | tail -n 3); fi
  if [ "$got" != "$4" ]; then echo "$1: expected a failure in $4, but got: $got" >&2; exit 1; fi
  echo "$1: fails in $got, as expected"
  rm -rf "$dir"
}

plant limit_92 Framing.v 's/^Definition label_max : nat := 91\./Definition label_max : nat := 92./' one_frame_visible
plant limit_90 Framing.v 's/^Definition label_max : nat := 91\./Definition label_max : nat := 90./' label_limit_sharp
plant hypothesis Blocks.v '/^Hypothesis step_thm/i Hypothesis table_len_is : table_len = S table_len.' statements
plant context Veriplex.v '/^Corollary veriplex_transcript_injective /i Section S. Context (no : 0 = 1).
  s/^Proof. apply transcript_injective, .*/Proof. discriminate. Qed. End S./' sound
plant axiom Veriplex.v '/^Notation simpira1024/a Axiom no : False.' forbidden
plant s_box AES.v 's/0x63/0x62/' sub_byte_example
plant round_constant Simpira1024.v 's/(16 \* i) 8)/(16 * i) 4)/' permutations_hold
plant fewer_answers Vectors.v '0,/^  ("0/{/^  ("0/d}' counts
plant register_off_by_one X86_64.v 's/let rm := field m 0 3 in/let rm := field m 0 3 + 1 in/' checks_hold
plant rex_b_ignored X86_64.v 's/Register (N.to_nat (8 \* b + rm))/Register (N.to_nat rm)/' checks_hold
plant shift_rows_after AES.v 's/(i + 4 \* (i mod 4))/(i + 4 * (i mod 4) + 4)/' round_example
plant vex_keeps_above X86_64.v 's/^Definition vector .*/Definition vector (r : nat) (x : bytes) : list effect := [Set_vec r x true]./' checks_hold
plant squeeze_keeps_rate Operations.v 's/zero 94 ++ skipn 94 s) (fun s cs => \[firstn/firstn 94 s ++ skipn 94 s) (fun s cs => [firstn/
  s/map const (zero 94) ++ skipn/firstn 94 s ++ skipn/' squeeze_checks
plant blocks_after_a_frame DuplexMachine.v 's/(concat cs ++ xs) (Bare s 0 0)/(concat cs ++ xs) (Bare s 0 1)/' passed_stands
plant decrypt_absorbs DuplexMachine.v 's/decrypting := Mode (fun _ x => x)/decrypting := Mode N.lxor/' decrypting_blocks
plant return_to_next Sound_x86_64.v 's/^Definition return_to .*/Definition return_to (m : machine) : Z := gpr m rsp./' reaches_of
plant kernel_byte Kernels_x86_64.v '/^Definition permute/,$s/0xdc; 0x\(..\); 0x10/0xdc; 0x\1; 0x20/' checks_hold
