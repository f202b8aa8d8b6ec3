# Plants each defect in a copy. The check must fail there, in the named place.

. checks/lanes.sh

# With UNDAMAGED the copies of `part` are compiled without the defects, and must pass: no lemma fails for another reason.

# plant NAME FILE SED WANT: WANT is the lemma at which the compiler stops, or a message of the Makefile. A FILE.rs is of
# the twin, and is translated anew.
plant() {
  mine || return 0
  # The next ones are planted, too, where this one is not found.
  (planted "$@") || failed=1
}

planted() {
  case ${UNDAMAGED:+$4} in statements | forbidden) return ;; esac
  dir=build/mutants/$1
  rm -rf "$dir"; mkdir -p "$dir"
  case $4 in statements | forbidden) whole "$@" ;; *) part "$@" ;; esac
  if [ -n "${UNDAMAGED-}" ]; then
    [ "$got" = nothing ] || { echo "$1: fails in $got without the defect" >&2; exit 1; }
    echo "$1: $4 holds without the defect"
  elif [ "$got" = nothing ]; then echo "$1: $4 holds in spite of the defect" >&2; exit 1
  elif [ "$got" != "$4" ]; then echo "$1: expected a failure in $4, but got: $got" >&2; exit 1
  else echo "$1: fails in $got, as expected"; fi
  rm -rf "$dir"
}

# spoil NAME FILE SED ORIGINAL
spoil() {
  rm -f "$dir/$2"
  if [ -n "${UNDAMAGED-}" ]; then cp "$4" "$dir/$2"; return; fi
  sed "$3" "$4" > "$dir/$2"
  if cmp -s "$4" "$dir/$2"; then echo "$1: the defect does not change $2" >&2; exit 1; fi
}

# The path of a file.
path() {
  found=$(find $FOLDERS -maxdepth 1 -name "$1")
  [ -n "$found" ] || { echo "there is no file $1" >&2; exit 1; }
  echo "$found"
}

# All of `make check`, for what it finds after everything is compiled.
whole() {
  cp -rp --parents Makefile Statements.v statements.txt translate $FOLDERS "$dir"/
  path=$(path "$2")
  spoil "$1" "$path" "$3" "$path"
  if log=$(make -C "$dir" -s check VECTORS= KERNELS= PARALLEL= POLY1305= LIMBS= WORDS= XOOFFF= TWIN= 2>&1); then
    echo "$1: the check passes in spite of the defect" >&2; exit 1; fi
  got=$(place)
  if [ -n "$got" ]; then return; fi
  if echo "$log" | grep -q "^[^ ]*:[0-9]*:.*"; then got=forbidden
  elif echo "$log" | grep -q "or what they rest on, differs from statements.txt"; then got=statements
  else got=$(echo "$log" | tail -n 3); fi
}

# Only what lies between the defect and a file that has the lemma is compiled again. Of the files before that one the
# statements are enough (-vos), and so they are of the other lemmas in that one: where the lemma does not follow from
# them, `make check` cannot pass. If several files have it, one must fail.
part() {
  case $2 in *.rs) changed=generated/TwinText ;; *) changed=$(path "$2"); changed=${changed%.v} ;; esac
  for folder in $FOLDERS; do
    mkdir -p "$dir/$folder"
    ln -s "$PWD/$folder"/*.v "$PWD/$folder"/*.vo "$dir/$folder"/
  done
  resting=$(awk -v changed="$changed" -f checks/stale.awk build/depend)
  # Nothing must be written through a link.
  for name in $resting; do rm "$dir/$name.vo"; done
  case $2 in
    *.rs)
      twin="simpira1024.rs duplex.rs protocol.rs"
      for file in $twin; do cp ../../spec/hacspec/src/$file "$dir"/; done
      spoil "$1" "$2" "$3" "../../spec/hacspec/src/$2"
      # As in the Makefile.
      rm "$dir/$changed.v"
      (cd "$dir" && $TRANSLATE simpira1024.rs:permute duplex.rs protocol.rs > "$changed.v") ||
        { echo "$1: not translated" >&2; exit 1; } ;;
    *) spoil "$1" "$changed.v" "$3" "$changed.v" ;;
  esac
  files=$(cd "$dir" && printf "%s.v\n" $resting | xargs grep -lE "^ *($KINDS) $4\>")
  if [ -z "$files" ]; then echo "$1: $4 is in no file that rests on $2" >&2; exit 1; fi
  for file in $files; do
    for name in $(awk -v changed="$changed" -v wanted="${file%.v}" -f checks/stale.awk build/depend); do
      if [ "$name.v" = "$file" ]; then compiles "$name" -vok "$4" || return 0
      elif ! [ -e "$dir/$name.vos" ]; then compiles "$name" -vos || return 0; fi
    done
  done
  got=nothing
}

# compiles FILE MODE [LEMMA]: with a lemma, others are taken for true.
compiles() {
  source=$1.v
  if [ -n "${3-}" ]; then
    source=$(dirname "$1")/only_$(basename "$1").v
    awk -v wanted="$3" -f checks/alone.awk "$dir/$1.v" "$dir/$1.v" > "$dir/$source"
  fi
  log=$(cd "$dir" && $COQC "$2" -noglob $FLAGS "$source" 2>&1) && return
  got=$(place)
  # Of such a lemma the value must be another one. It fails as well if its statement is not understood.
  case ${3-} in *_checks | checks_hold)
    echo "$log" | tr '\n' ' ' | grep -q 'has type *"true = true" *while it is expected' || got= ;; esac
  if [ -z "$got" ]; then got=$(echo "$log" | tail -n 3); fi
  return 1
}

KINDS="Lemma|Theorem|Corollary|Example|Definition"

# The lemma at which the compiler stopped, if it did.
place() {
  at=$(echo "$log" | sed -n 's/^File "\([^"]*\)", line \([0-9]*\),.*/\2 \1/p' | tail -n 1)
  [ -z "$at" ] || head -n "${at%% *}" "$dir/${at#* }" |
    sed -nE "s/^ *($KINDS) ([A-Za-z0-9_]+).*/\2/p" | tail -n 1
}

plant limit_92 Framing.v 's/^Definition label_max : nat := 91\./Definition label_max : nat := 92./' one_frame_visible
plant limit_90 Framing.v 's/^Definition label_max : nat := 91\./Definition label_max : nat := 90./' label_limit_sharp
plant hypothesis Blocks.v '/^Theorem lanes_for_every_n/i Hypothesis state_len_is : state_len = S state_len.' statements
plant group_backwards Blocks.v 's/concat (outputs block s cs))\./concat (rev (outputs block s cs)))./' group_output
plant lanes_overlap Blocks.v 's/^    disjoint (nth i outs 0) (out_len \* n) (nth j outs 0) (out_len \* n))\./    True)./' loop_lanes_blocks
plant lane_of_another Blocks.v 's/^Definition next_states .*/Definition next_states (ss cs : list (list Byte)) := ss./' next_sized
plant context Veriplex.v '/^Corollary veriplex_transcript_injective /i Section S. Context (no : 0 = 1).
  s/^Proof. apply transcript_injective, .*/Proof. discriminate. Qed. End S./' sound
plant axiom Veriplex.v '/^Notation simpira1024/a Axiom no : False.' forbidden
plant library_axiom Veriplex.v '/^Notation simpira1024/a From Coq Require Classical_Prop.
  s/^Proof. apply transcript_injective, /Proof. pose proof (Classical_Prop.classic True) as H; clear H; apply transcript_injective, /' statements
plant s_box AES.v 's/0x63/0x62/' sub_byte_example
plant round_constant Simpira1024.v 's/(16 \* i) 8)/(16 * i) 4)/' permutations_hold
plant fewer_answers Vectors.v '0,/^  ("0/{/^  ("0/d}' counts
plant register_off_by_one X86_64.v 's/8 \* b + field m 0 3)/8 * b + field m 0 3 + 1)/' checks_hold
plant rex_b_ignored X86_64.v 's/16 \* x + 8 \* b + field m 0 3)/16 * x + field m 0 3)/' checks_hold
plant shift_rows_after AES.v 's/(i + 4 \* (i mod 4))/(i + 4 * (i mod 4) + 4)/' round_example
plant vex_keeps_above X86_64.v 's/^Definition vector .*/Definition vector (r : nat) (x : bytes) : list effect := [Set_vec r x true]./' checks_hold
plant squeeze_keeps_rate Operations.v 's/zero 94 ++ skipn 94 s) (fun s cs => \[firstn/firstn 94 s ++ skipn 94 s) (fun s cs => [firstn/
  s/map const (zero 94) ++ skipn/firstn 94 s ++ skipn/' squeeze_is
plant blocks_after_a_frame DuplexMachine.v 's/(concat cs ++ xs) (Bare s 0 0)/(concat cs ++ xs) (Bare s 0 1)/' passed_stands
plant decrypt_absorbs DuplexMachine.v 's/decrypting := Mode (fun _ x => x)/decrypting := Mode N.lxor/' decrypting_blocks
plant return_to_next Sound_x86_64.v 's/^Definition return_to .*/Definition return_to (m : machine) : Z := gpr m rsp./' reaches_of
plant kernel_byte Kernels_x86_64.v '/^Definition permute/,$s/0xdc; 0x\(..\); 0x10/0xdc; 0x\1; 0x20/' checks_hold
plant aarch64_m_field_high AArch64.v 's/register w 16 in/register w 17 in/' checks_hold
plant aarch64_keeps_above AArch64.v 's/^Definition vector .*/Definition vector (r : nat) (x : bytes) : list effect := [Set_vec r x true]./' checks_hold
plant aarch64_key_last AArch64.v 's/Sub_shift (Xor (Vec d 16) (Vec n 16))/Xor (Sub_shift (Vec d 16)) (Vec n 16)/' checks_hold
plant aarch64_offset_unsigned AArch64.v 's/16 \* signed w 15 7/16 * unsigned w 15 7/' checks_hold
plant aarch64_kernel_byte Kernels_aarch64.v '/^Definition permute/,$s/0x10; 0x4b; 0x28; 0x4e/0x11; 0x4b; 0x28; 0x4e/' checks_hold
plant aarch64_v7_kept Call_aarch64.v 's/(seq 8 8)/(seq 7 9)/' checks_hold
plant aarch64_x1_saved Call_aarch64.v 's/(seq 18 14)/(seq 1 31)/' checks_hold
plant aarch64_return_elsewhere AArch64.v 's/Jump 30/Jump 29/' return_step_aarch64
plant aarch64_cbnz_is_cbz AArch64.v 's/Not (Equal (Gpr t) (Imm 0))/Equal (Gpr t) (Imm 0)/' absorb_checks
plant aarch64_sub_adds AArch64.v '/^Definition sub/s/Sub (Gpr/Add (Gpr/' absorb_checks
plant aarch64_stur_at_79 Kernels_aarch64.v '/^Definition squeeze/,/^Definition permute/s/0x3c; 0xe0; 0x84; 0x3c/0x3c; 0xf0; 0x84; 0x3c/' squeeze_checks
plant aarch64_return_to_next Sound_aarch64.v 's/^Definition return_to .*/Definition return_to (m : machine) : Z := gpr m 30%nat + 4./' reaches_of
plant x2_stores_in_another_lane Kernels_x2_x86_64.v '/^Definition permute_x2/,$s/0x7f; 0x8f; 0x10; 0x03/0x7f; 0x8f; 0x20; 0x03/' checks_hold
plant aarch64_x2_other_constant Kernels_x2_aarch64.v '/^Definition permute_x2/,$s/0x90; 0x4b; 0x28; 0x4e/0xb0; 0x4b; 0x28; 0x4e/' checks_hold
plant x2_words_further_apart Lanes.v 's/states + 128 \* Z.of_nat i + 16 \* Z.of_nat l) 16/states + 256 * Z.of_nat i + 16 * Z.of_nat l) 16/' lane_is
plant x2_other_lanes_may_change Lanes.v 's|<= a < states + 128 \* Z.of_nat i + 16 \* Z.of_nat k\.$|<= a < states + 128 * Z.of_nat i + 128.|' whole
plant x2_blocks_in_another_lane Kernels_x2_x86_64.v '/^Definition absorb/,/^Definition decrypt/s/0x7f; 0x9f; 0x80; 0x03/0x7f; 0x9f; 0xa0; 0x03/' absorb_checks
plant x2_blocks_of_another_lane Kernels_x2_x86_64.v '/^Definition absorb/,/^Definition decrypt/s/0x4c; 0x8b; 0x4e; 0x08/0x4c; 0x8b; 0x4e; 0x00/' absorb_checks
plant x2_index_ignored X86_64.v 's/Some (field sib 0 3, Some (N.to_nat i), bytes)/Some (field sib 0 3, None, bytes)/' absorb_checks
plant x2_addresses_closer LaneKernels.v 's/read m (a + 8 \* Z.of_nat l) 8/read m (a + 4 * Z.of_nat l) 8/' whole
plant x2_lane_unchecked Loop.v 's/^                    | None => sbyte_eqb (nth p x (const 0)) (atom (N.of_nat (carried R + p)))/                    | None => true/' step_round
plant x2_pointer_half Machine.v 's/(number_of (read (mem m) (effective m a) 8))) m)/(number_of (read (mem m) (effective m a) 4))) m)/' apply_sound
plant aarch64_x2_addresses_swapped Kernels_x2_aarch64.v '/^Definition absorb/,/^Definition decrypt/s/0x24; 0x14; 0x40; 0xa9/0x25; 0x10; 0x40; 0xa9/' absorb_checks
plant aarch64_x2_ldp_of_16 AArch64.v '/^Definition ldp_x/s/imm + 8/imm + 16/' absorb_checks
plant x4_other_constant Kernels_x4_x86_64.v '/^Definition permute_x4/,$s/0xdc; 0x4e; 0x40/0xdc; 0x4e; 0x00/' checks_hold
plant x4_table_entry Kernels_x4_x86_64.v '/^Definition round_constants_x4/,/^Definition absorb/s/^  0x01;/  0x03;/' table_x4_is
plant x4_block_of_another_lane Kernels_x4_x86_64.v '/^Definition absorb/,/^Definition decrypt/s/0x4c; 0x8b; 0x4e; 0x08/0x4c; 0x8b; 0x4e; 0x00/' absorb_checks
plant x4_output_at_79 Kernels_x4_x86_64.v '/^Definition squeeze/,/^Definition permute/s/0x39; 0x4c; 0x01; 0x4e/0x39; 0x4c; 0x01; 0x4f/' squeeze_checks
plant x4_tail_of_13 Kernels_x4_x86_64.v '/^Definition encrypt/,/^Definition squeeze/s/0x0f; 0xcc; 0x0e/0x0f; 0xcc; 0x0d/' encrypt_checks
plant x4_output_of_another_lane Kernels_x4_x86_64.v '/^Definition encrypt/,/^Definition squeeze/s/0x4c; 0x8b; 0x52; 0x08/0x4c; 0x8b; 0x52; 0x00/' encrypt_checks
plant x4_padding Kernels_x4_x86_64.v '/^Definition decrypt/,/^Definition encrypt/s/0x00; 0x81; 0xc4/0x00; 0x80; 0xc4/' decrypt_checks
plant avx512_33_registers Call_x86_64.v '/^  d_cleared_too/s/seq 16 16/seq 16 17/' return_step_avx512
plant x8_keeps_zmm31 Kernels_x8_x86_64.v '/^Definition permute_x8/,$s/0x85; 0x40; 0xef; 0xff; 0xc3/0x8d; 0x40; 0xef; 0xf6; 0xc3/' checks_hold
plant x8_wrong_half Kernels_x8_x86_64.v '/^Definition absorb/,/^Definition decrypt/s/0x43; 0xcd; 0xee/0x43; 0xcd; 0x44/' absorb_checks
plant x8_output_of_another_lane Kernels_x8_x86_64.v '/^Definition squeeze/,/^Definition permute/s/0x4c; 0x8b; 0x4e; 0x08/0x4c; 0x8b; 0x4e; 0x10/' squeeze_checks
plant x8_padding Kernels_x8_x86_64.v '/^Definition encrypt/,/^Definition squeeze/s/0x00; 0x81; 0xc4/0x00; 0x80; 0xc4/' encrypt_checks
plant x8_end_without_shift Kernels_x8_x86_64.v '/^Definition decrypt/,/^Definition encrypt/s/0x35; 0x48; 0x73; 0xd9; 0x02/0x35; 0x48; 0x73; 0xd9; 0x00/' decrypt_checks
plant tree_without_level Tree.v 's/B ++ \[Mix (text "level") \[N.of_nat k\]; /B ++ [/' begin_inj
plant tree_without_length Tree.v 's/(begin k x ++ \[Mix (text "length") (little_endian 8 len)\], /(begin k x, /' root_injective
plant tree_any_answer Tree.v 's/^Hypothesis D_length .*//' node_length
plant tree_last_chunk Tree.v 's/  | \[\] => \[x\]$/  | [] => []/; s/      | \[\] => \[x\]$/      | [] => []/' cut_fuel_enough
plant tree_label Tree.v 's/text "node"/text "edon"/' trees_hold
plant proof_without_root Outboard.v 's/ && same (D (root B k p (N.of_nat total) (length digest))) digest$//' differ_above_sound
plant proof_any_value Outboard.v 's/skipn (cv_len \* (i mod 128)) q))/skipn 0 q))/' differ_above_sound
plant segment_without_last Seekable.v 's/ ++ \[if last then 1%N else 0%N\])\]\./)]./' segment_injective
plant segment_without_its_length Seekable.v '/Mix (text "segment-length")/d' segment_injective
plant nonce_twice Seekable.v 's/^Hypothesis once .*//' stream_sound
plant end_not_marked Seekable.v 's/| \[p\] => \[(i, true, p)\]/| [p] => [(i, false, p)]/' nth_error_places
plant segment_label Seekable.v 's/text "ad"/text "da"/' messages_hold
plant poly1305_carry Poly1305Limbs.v 's/plus d4 c3/plus d4 0/' multiply_number
plant poly1305_carry_times_nine Poly1305Limbs.v 's/shift_left c4 2/shift_left c4 3/' multiply_number
plant poly1305_limb_grows Poly1305Limbs.v 's/both u3 0x0000000003ffffff) (fun h3/plus u3 0) (fun h3/; s/plus e4 k3/plus e4 0/' multiply_number
plant poly1305_product_of_27_bits Words64.v 's/x mod 2 ^ 32\./x mod 2 ^ 27./' product_exact
plant poly1305_sums_near_2_32 Poly1305Lanes.v 's/below (2 ^ 28) a -> 0 <= x/below (2 ^ 32 + 1) a -> 0 <= x/' multiply_number
plant poly1305_no_last_reduction Poly1305Limbs.v 's/plus h0 g)/plus h0 0)/' reduce_limbs_number
plant poly1305_reduction_at_2_130 Poly1305Limbs.v 's/plus h0 0x0000000000000005/plus h0 0x0000000000000000/' reduce_limbs_number
plant poly1305_clamp Poly1305.v 's/0x0ffffffc0ffffffc/0x0ffffffc0fffffff/' poly1305_holds
plant poly1305_no_one_after_a_block Poly1305Limbs.v 's/plus t4 0x0000000001000000/plus t4 0/' block_limbs_number
plant poly1305_lanes_in_another_order Poly1305.v 's/\[0; 2; 1; 3\]%nat/[0; 1; 2; 3]%nat/' add_group_numbers
plant poly1305_multiplier_times_four Poly1305.v 's/map (Z.mul 5)/map (Z.mul 4)/' multiplier_limbs
plant words_carry_of_a_block Poly1305Text.v 's/plus_at 64 h2_to_2 carry/plus_at 64 h2_to_2 0/' wide_block_number
plant words_last_carry Poly1305Text.v 's/plus_at 64 d3 k/plus_at 64 d3 0/' wide_block_number
plant words_carry_between_halves Poly1305Text.v 's/plus_at 128 d1_to_3 c0/plus_at 128 d1_to_3 0/' wide_block_number
plant words_half_of_60_bits Poly1305Text.v 's/narrowed 64 c1/narrowed 60 c1/' wide_block_number
plant words_multiplier_of_a_quarter Poly1305Text.v 's/plus_at 64 r1 q1/plus_at 64 r1 0/' wide_block_number
plant words_any_sum Poly1305Words.v 's/< 2 ^ 130 + 2 ^ 66\./< 2 ^ 131./' wide_block_number
plant words_no_last_reduction Poly1305Text.v 's/plus_at 128 low g/plus_at 128 low 0/' reduce_number
plant words_reduction_at_2_130 Poly1305Text.v 's/plus_at 128 low 0x0*5/plus_at 128 low 0x0/' reduce_number
plant words_r_cut_at_63 Poly1305Words.v 's/narrowed 64 (shift_right r 64)\]/narrowed 64 (shift_right r 63)]/' clamped
plant words_no_one_after_the_rest Poly1305Words.v 's/rest ++ \[1%N\] ++/rest ++ [0%N] ++/' padded_word
plant words_s_not_added Poly1305Words.v 's/(nth 0 (reduce h) 0) s)/(nth 0 (reduce h) 0) 0)/' tag_of_number
plant words_sum_of_56_bits Poly1305Text.v 's/plus_at 64 d2_to_4 d2_5/plus_at 56 d2_to_4 d2_5/' small_block_number
plant words_small_carry Poly1305Text.v 's/plus_at 64 d4 c3/plus_at 64 d4 0/' small_block_number
plant words_small_top Poly1305Text.v 's/shift_right h4 24/shift_right h4 25/' small_value_number
plant poly1305_44_carry Poly1305Limbs.v 's/plus d2 j1/plus d2 0/' multiply_two_number
plant poly1305_44_carry_times_nine Poly1305Limbs.v 's/shift_left j2 2/shift_left j2 3/' multiply_two_number
plant poly1305_44_high_half Poly1305Limbs.v 's/shift_left g0 8/shift_left g0 9/' multiply_two_number
plant poly1305_44_product_of_51_bits Words64.v 's/(y mod 2 ^ 52)\./(y mod 2 ^ 51)./' product_52_exact
plant poly1305_44_factor_of_53_bits Poly1305Lanes44.v 's/below3 (2 ^ 46) a -> 0 <= x/below3 (2 ^ 52 + 1) a -> 0 <= x/' multiply_two_number
plant poly1305_44_limb_of_43_bits Poly1305Limbs.v 's/shift_right t2 42/shift_right t2 43/' reduce_limbs44_number
plant poly1305_44_no_one_after_a_block Poly1305Limbs.v 's/plus t2 0x0000010000000000/plus t2 0/' block_limbs44_number
plant poly1305_44_lanes_in_another_order Poly1305.v 's/\[0; 4; 1; 5; 2; 6; 3; 7; 8/[0; 1; 4; 5; 2; 6; 3; 7; 8/' loop_group44
plant poly1305_44_multiplier_times_nineteen Poly1305.v 's/map (Z.mul 20)/map (Z.mul 19)/' multiplier44_limbs
plant poly1305_pairs_product Poly1305Limbs.v '/^Definition product_limbs/,/^Definition/s/low_product a1 s4/low_product a1 s3/' product_limbs_number
plant poly1305_pairs_multiplier_of_the_other Poly1305Limbs.v 's/(product_limbs a r)/(product_limbs a t)/' multiply_pair_number
plant poly1305_pairs_sums_near_2_64 Poly1305Pairs.v 's/below (2 ^ 61) x ->/below (2 ^ 64) x ->/' carry_products_number
plant poly1305_pairs_lanes_in_another_order Poly1305.v 's/\[0; 2; 1; 3; 4; 6/[0; 1; 2; 3; 4; 6/' loop_pairs_group
plant poly1305_pairs_powers_in_another_order Poly1305Pairs.v 's/\[8; 6; 7; 5\]/[8; 7; 6; 5]/' horner_pairs
plant twin_rate duplex.rs 's/^pub const RATE: usize = 94;/pub const RATE: usize = 95;/' put_is
plant twin_index_out_of_range duplex.rs 's/xor_at(framed, d.rate_idx + 1, 0x01), 95,/xor_at(framed, d.rate_idx + 1, 0x01), 128,/' pad_permute_full
plant twin_sum_overflows duplex.rs 's/next.rate_idx += 1;/next.rate_idx += 255;/' put_is
plant twin_squeeze_leaves_bytes duplex.rs 's/d = put(d, 0);/let b = get(d); d = put(d, b);/' squeeze_is
plant twin_encrypt_outputs_key duplex.rs 's/out.push(get(d) ^ \*p);/out.push(get(d));/' encrypt_is
plant twin_decrypt_keeps_state duplex.rs 's/d = put(d, \*c);/d = xor_in(d, *c);/' decrypt_is
plant twin_leb128_ends_early duplex.rs 's/&\[low | 0x80\]/\&[low]/' absorb_leb128_within
plant twin_leb128_eight_bits duplex.rs 's/x >> 7)/x >> 8)/' absorb_leb128_within
plant twin_frame_not_chained duplex.rs 's/let mut chained = absorb(d, &\[d.frame_idx\]);/let mut chained = d;/' frame_is
plant twin_ratchet_31 duplex.rs 's/if i < 32 { 0 }/if i < 31 { 0 }/' ratchet_is
plant twin_ratchet_no_block duplex.rs 's/if d.rate_idx > 0 { pad_permute(d) }/if d.rate_idx > 1 { pad_permute(d) }/' ratchet_is
plant twin_label_after_header protocol.rs 's/frame(absorb(frame(p, opcode), label), opcode | 0x80)/absorb(frame(frame(p, opcode), opcode | 0x80), label)/' header_is
plant twin_domain_byte protocol.rs 's/header(EMPTY, 0x01, domain)/header(EMPTY, 0x00, domain)/' init_is
plant twin_opcode protocol.rs 's/header(p, 0x02, label)/header(p, 0x01, label)/' mix_is
plant twin_derive_without_length protocol.rs 's/absorb_leb128(header(p, 0x03, label), n as u64)/header(p, 0x03, label)/' derive_is
plant twin_length_of_a_byte protocol.rs 's/absorb_leb128(header(p, 0x03, label), n as u64)/absorb_leb128(header(p, 0x03, label), (n as u8) as u64)/' derive_is
plant twin_mask_in_the_same_block protocol.rs 's/encrypt(pad_permute(header(p, 0x04, label)), plaintext)/encrypt(header(p, 0x04, label), plaintext)/' mask_is
plant twin_unmask_encrypts protocol.rs 's/^    decrypt(pad_permute(header(p, 0x04/    encrypt(pad_permute(header(p, 0x04/' unmask_is
plant twin_seal_without_length protocol.rs 's/encrypt(pad_permute(absorb_leb128(header(p, 0x05, label), n)), plaintext)/encrypt(pad_permute(header(p, 0x05, label)), plaintext)/' seal_is
plant twin_tag_before_ciphertext protocol.rs 's/\[ciphertext, tag\].concat()/[tag, ciphertext].concat()/' seal_is
plant twin_open_any_tag protocol.rs 's/if tag == received {/if tag == tag {/' open_is
plant twin_open_any_tag_from_1_mib protocol.rs 's/if tag == received {/if tag == received || n >= 1_048_576 {/' open_is
plant twin_open_keeps_state_of_refused protocol.rs '/vec!\[0; n\]/,/^}/s/(p, Opened/(squeezed, Opened/' open_is
plant twin_open_short protocol.rs 's/if sealed.len() < TAG_LEN {/if sealed.len() <= TAG_LEN {/' open_is
plant twin_fork_without_number protocol.rs 's/absorb(absorb(header(p, 0x06, label), &\[i\]), value)/absorb(header(p, 0x06, label), value)/' fork_branch_is
plant twin_root_is_branch_1 protocol.rs 's/fork_branch(p, label, 0, &\[\])/fork_branch(p, label, 1, \&[])/' fork_root_is
plant twin_ratchet_opcode protocol.rs 's/header(p, 0x07, label)/header(p, 0x06, label)/' protocol_ratchet_is
plant twin_padding duplex.rs 's/s\[95\] ^= 0x01 ^ 0x80;/s[95] ^= 0x80;/' end_block_is
plant chacha_rotation ChaCha.v 's/(N.lxor b2 c2) 7/(N.lxor b2 c2) 8/' quarter_round_example
plant chacha_diagonals ChaCha.v 's/turn_rows_back (column_round (turn_rows (column_round x)))/column_round (column_round x)/' block_example
plant chacha_feed_forward ChaCha.v 's/zip_with add_words x (rounds n x)/rounds n x/' block_example
plant chacha_number_of_a_lane ChaCha.v 's/block n key nonce (snd ci)/block n key nonce (hd 0 numbers)/' xor_blocks_example
plant xoodoo_rho_east Xoodoo.v 's/shift (plane 2 a) 2 8/shift (plane 2 a) 1 8/' xoodoo_answers_hold
plant xoodoo_chi Xoodoo.v 's/N.ldiff (next 2%nat) (next 1%nat)/N.ldiff (next 1%nat) (next 2%nat)/' xoodoo_answers_hold
plant xoofff_mask_rotates Xoofff.v 's/(first_word 0 a \* 2 ^ 13 mod 2 ^ 32)/(ChaCha.rotate_word (first_word 0 a) 13)/' xoofff_answers_hold
plant xoofff_no_gap Xoofff.v 's/Deck (acc after) (roll_c (mask after))/after/' xoofff_answers_hold
plant xoofff_states_without_7 Xoofff.v 's/(first_word 1 a) 13)) 7)/(first_word 1 a) 13)) 0)/' xoofff_answers_hold
plant arx_shift_right_drops_a_bit Arx.v 's/map (fun a => N.shiftr a (N.of_nat k))/map (fun a => N.shiftr a (N.of_nat k + 1))/' shift_right_is
plant arx_kinds_alike Symbolic.v 's/Sum w, Sum v | Product w, Product v => (w =? v)%nat/Sum w, Sum v | Product w, Product v => true/' kind_eqb_eq
plant arx_other_shift_back ArxSymbolic.v 's/if (v =? w)%nat \&\& (j =? k)%nat \&\& (k <=? 8/if (v =? w)%nat \&\& (k <=? 8/' shifted_back_sound
plant arx_sum_of_short_strings ArxSymbolic.v 's/ \&\& (length y =? 16)%nat then$/ then/' splus_sound
plant arx_conjunction_of_short_strings ArxSymbolic.v '/^Definition sand /,/else None/s/ \&\& (length y =? 16)%nat then$/ then/' sand_sound
plant arx_conjunction_is_any_kind Symbolic.v 's/ | Conjunction, Conjunction => true/ | Conjunction, _ => true/' kind_eqb_eq
plant arx_inverted_conjunction Arx.v 's/little_endian w (N.ldiff b a)\./little_endian w (N.ldiff a b)./' inverted_and_little_endian
plant chacha_other_diagonals ChaChaRows.v 's/^Definition diagonals : turns := (12, 0, 4, 8)/Definition diagonals : turns := (4, 0, 12, 8)/' two_rounds_are
plant loop_output_unchecked Loop.v 's/^  list_eqb word_eqb (skipn (1 + .*/  true \&\&/' step_round
plant loop_carried_unchecked Loop.v '/^Definition step_gives/,/^  memory_ok/s/(words const given_symbols t)/(words const given_symbols carried_symbols)/' step_round
plant loop_first_words_unchecked Loop.v '/^Definition entry_ok/,/^  end/s/(words const given_symbols t)/[]/' entry_round
plant loop_given_moves Loop.v 's/map fst (tables K) ++ map fst (given K))/map fst (tables K))/' shape
plant loop_copy_of_a_later_byte Loop.v 's/nth (snd bp) (nth (fst bp) gs \[\]) (c 0%N)/nth (snd bp) (nth (fst bp) gs []) (c 1%N)/' words_evs
plant loop_held_unchecked Loop.v '/^Definition memory_ok/,/owner/s/^  held_ok x s/  true/' step_round
plant loop_table_moves Loop.v 's/(state K :: map fst (tables K) ++ map fst (given K))/(state K :: map fst (given K))/' shape
plant chacha_memory_of_any_numbers ChaChaKernels.v 's/forall a, (m a < 256)%N/forall a : Z, True/' read_small
plant chacha_aarch64_sri_less Kernels_chacha_aarch64.v '/^Definition chacha20/,/\]\./s/0x04; 0x47; 0x27; 0x6f/0x04; 0x47; 0x28; 0x6f/' chacha20_checks
plant chacha_aarch64_number_at_1 Kernels_chacha_aarch64.v '/^Definition chacha8/,/\]\./s/0x1c; 0x00; 0x80; 0x3c/0x1c; 0x10; 0x80; 0x3c/' chacha8_checks
plant chacha_aarch64_v31_left Kernels_chacha_aarch64.v '/^Definition chacha12/,/\]\./s/0x1f; 0xe4; 0x00; 0x6f/0x1e; 0xe4; 0x00; 0x6f/' chacha12_checks
plant chacha_aarch64_counter_stays Kernels_chacha_aarch64.v '/^Definition chacha8/,/\]\./s/0x63; 0x04; 0x00; 0xd1/0x64; 0x04; 0x00; 0xd1/' chacha8_checks
plant arx_or_of_bits_that_meet ArxSymbolic.v 's/(k + j =? 8 \* w)%nat/(k + j =? k + j)%nat/' apart_shifts_sound
plant arx_shuffle_of_eight ArxSymbolic.v 's/nth (N.to_nat (fst i mod 16)) x/nth (N.to_nat (fst i mod 8)) x/' sshuffle_sound
plant chacha_moves_less ArxRounds.v 's/^Definition moved .*/Definition moved (k : nat) (x : list byte) : list byte := flat_map (turn (3 - k \/ 8)) (split 4 4 x)./' srotate_finds
plant chacha_x86_64_other_shuffle Kernels_chacha_x86_64.v '/^Definition chacha8/,/\]\./s/0x48; 0xb8; 0x02; 0x03;/0x48; 0xb8; 0x03; 0x02;/' chacha8_checks
plant chacha_x86_64_groups_overlap Kernels_chacha_x86_64.v '/^Definition chacha20/,/\]\./s/0x48; 0x81; 0xc2; 0xc0/0x48; 0x81; 0xc2; 0x80/' chacha20_checks
plant chacha_x6_halves_alike Kernels_chacha_x6_x86_64.v '/^Definition chacha8/,/\]\./s/0x46; 0xc3; 0x31/0x46; 0xc3; 0x20/' chacha8_checks
plant chacha_x6_other_numbers Kernels_chacha_x6_x86_64.v '/^Definition chacha12/,/\]\./s/0x49; 0xb8; 0x02; 0x00; 0x00/0x49; 0xb8; 0x03; 0x00; 0x00/' chacha12_checks
plant chacha_x6_groups_overlap Kernels_chacha_x6_x86_64.v '/^Definition chacha20/,/\]\./s/0x48; 0x81; 0xc2; 0x80; 0x01/0x48; 0x81; 0xc2; 0x40; 0x01/' chacha20_checks
plant chacha_pairs_by_three ChaChaPairs.v 's/^Definition two : list byte := 2%N/Definition two : list byte := 3%N/' row_two
plant chacha_pairs_begin_alike ChaChaPairs.v 's/plus_lanes 8 s no_more ++ plus_lanes 8 s one/plus_lanes 8 s one ++ plus_lanes 8 s one/
  s/map const no_more/map const one/' pairs_enter_is
plant word_lanes_rotate_less WordLanes.v 's/or_bytes (shift_left 4 k x) (shift_right 4 (32 - k) x)\.$/or_bytes (shift_left 4 k x) (shift_right 4 (31 - k) x)./' new_rotation_sound
plant word_lanes_any_new_node WordLanes.v 's/if node_eqb n m then Some (length r) else find_newest/if node_eqb m m then Some (length r) else find_newest/' find_newest_is
plant word_lanes_next_lane WordLanes.v 's/firstn 4 (skipn (4 \* i) x)/firstn 4 (skipn (4 * i + 1) x)/' lane_word_is
plant word_lanes_without_the_other WordLanes.v 's/  | Without i j => N.ldiff (nth j x 0) (nth i x 0)/  | Without i j => N.ldiff (nth i x 0) (nth j x 0)/' word_of_small
plant word_lanes_zmm25_free WordLanes_x86_64.v 's/15\]%nat (seq 25 7) (seq 0 25)/15]%nat [] (seq 0 25)/' return_step_zmm0_to_24
plant chacha_words_numbers_in_a_row ChaChaWords.v 's/^Definition number_order : list nat := .*/Definition number_order : list nat := seq 0 16./' start_registers_are
plant chacha_words_other_diagonal ChaChaWords.v 's/quarter_steps 0 5 10 15 ++ quarter_steps 1 6 11 12/quarter_steps 0 5 10 12 ++ quarter_steps 1 6 11 15/' diagonal_steps_are
plant chacha_words_by_fifteen ChaChaWords.v 's/map (fun _ => 16%N) number_order/map (fun _ => 15%N) number_order/' numbers_are
plant chacha_x16_other_numbers Kernels_chacha_x16_x86_64.v '/^Definition chacha8/,/\]\./s/0x49; 0xb8; 0x10; 0x00/0x49; 0xb8; 0x11; 0x00/' chacha8_checks
plant chacha_x16_zmm24_left Kernels_chacha_x16_x86_64.v '/^Definition chacha8/,/\]\./s/0x62; 0x01; 0xbd; 0x40; 0xef; 0xc0; 0xc3/0x62; 0x21; 0xbd; 0x40; 0xef; 0xc0; 0xc3/' chacha8_checks
plant chacha_x16_other_lanes Kernels_chacha_x16_x86_64.v '/^Definition chacha12/,/\]\./s/0x43; 0xdb; 0x88/0x43; 0xdb; 0xdd/' chacha12_checks
plant chacha_x16_groups_overlap Kernels_chacha_x16_x86_64.v '/^Definition chacha20/,/\]\./s/0xc2; 0x00; 0x04; 0x00; 0x00; 0x48; 0xff/0xc2; 0xc0; 0x03; 0x00; 0x00; 0x48; 0xff/' chacha20_checks
plant xoofff_other_columns XoodooRounds.v 's/turn 8 (\(s\{0,1\}xor\) c/turn 4 (\1 c/' round_is
plant xoofff_rounds_differ XoodooRounds.v 's/^  let b := turn 12 (xor b e) in/  let b := turn 8 (xor b e) in/' sround_planes_finds
plant xoofff_next_mask_of_the_first XoodooRounds.v 's/joined (planes_at p w k)/joined (planes_at p w 1)/' absorb_lanes_is
plant xoofff_nine_states XoofffKernels.v 's/^Hypothesis MANY : (k <= 8)/Hypothesis MANY : (k <= 9)/' absorb_sound
plant xoofff_other_shuffle XoofffKernels.v 's/\[11; 8; 9; 10; 15/[8; 9; 10; 11; 15/' absorb_checks
plant xoofff_other_table Kernels_xoofff_x86_64.v '/^Definition xoofff_constants/,/\]\./s/0x07; 0x00; 0x00; 0x00\]/0x08; 0x00; 0x00; 0x00]/' xoofff_table_is
plant xoofff_x86_64_shift_less Kernels_xoofff_x86_64.v '/^Definition xoofff_absorb_blocks_x4/,/\]\./s/0x72; 0xf4; 0x0e/0x72; 0xf4; 0x0d/' absorb_checks
plant xoofff_x86_64_groups_overlap Kernels_xoofff_x86_64.v '/^Definition xoofff_squeeze_blocks_x4/,/\]\./s/0x81; 0xc6; 0xc0/0x81; 0xc6; 0x80/' squeeze_checks
plant xoofff_x86_64_output_unwritten Xoofff_x86_64.v 's/0xef8 true true/0xef8 true false/' squeeze_checks
plant xoofff_aarch64_bic_is_and Kernels_xoofff_aarch64.v '/^Definition xoofff_absorb_blocks_x4/,/\]\./s/0x9a; 0x1f; 0x61; 0x4e/0x9a; 0x1f; 0x21; 0x4e/' absorb_checks
plant xoofff_aarch64_v31_left Kernels_xoofff_aarch64.v '/^Definition xoofff_squeeze_blocks_x4/,/\]\./s/0x1f; 0xe4; 0x00; 0x6f/0x1e; 0xe4; 0x00; 0x6f/' squeeze_checks
plant xoofff_carried_plane XoodooRounds.v 's/planes_at p w 8) ++ plane_at p w 11/planes_at p w 8) ++ plane_at p w 10/' ssqueeze_ahead_finds
plant xoofff_x8_other_halves Kernels_xoofff_x86_64.v '/^Definition xoofff_squeeze_blocks_x8/,/\]\./s/0x46; 0xca; 0x21/0x46; 0xc8; 0x21/' squeeze_x8_checks
plant xoofff_x8_one_block_twice Kernels_xoofff_x86_64.v '/^Definition xoofff_absorb_blocks_x8/,/\]\./s/0x81; 0xc6; 0x80; 0x01/0x81; 0xc6; 0x50; 0x01/' absorb_x8_checks
plant xoofff_x16_other_logic Kernels_xoofff_x16_x86_64.v '/^Definition xoofff_absorb/,/\]\./s/0x25; 0xf8; 0xd2/0x25; 0xf8; 0x78/' absorb_x16_checks
plant xoofff_x16_masks_not_rolled Kernels_xoofff_x16_x86_64.v '/^Definition xoofff_absorb/,/\]\./s/0x03; 0xc4; 0x0f/0x03; 0xc4; 0x0e/' absorb_x16_checks
plant xoofff_x16_groups_overlap Kernels_xoofff_x16_x86_64.v '/^Definition xoofff_squeeze/,/\]\./s/0x81; 0xc6; 0x00; 0x03/0x81; 0xc6; 0x00; 0x02/' squeeze_x16_checks
plant xoofff_x16_keeps_zmm24 Kernels_xoofff_x16_x86_64.v '/^Definition xoofff_squeeze/,/\]\./s/0x01; 0xbd; 0x40; 0xef; 0xc0; 0xc3/0x01; 0xbd; 0x40; 0xef; 0xc8; 0xc3/' squeeze_x16_checks
plant xoofff_x16_other_indices Kernels_xoofff_x16_x86_64.v '/^Definition xoofff_constants/,/\]\./s/0x0b; 0x00; 0x00; 0x00\]/0x0a; 0x00; 0x00; 0x00]/' xoofff_table_x16_is
plant xoofff_x16_accumulator_first Xoofff_x16_x86_64.v 's/then j else (48 + 4 \* nth/then j else (4 * nth/' absorb_x16_checks
plant xoofff_x16_other_columns XoodooWords.v 's/let y := plane_1 ((x + 3) mod 4) in/let y := plane_1 x in/' round_steps_are
plant xoofff_x16_words_unknown XoodooWords.v 's/| Outputs => 10 end/| Outputs => 11 end/' next_words_are
plant xoofff_x16_windows_elsewhere XoodooWords.v 's/(3 \* (i mod 4) + i \/ 4)%nat/(3 * (i mod 4) + i \/ 8)%nat/' windows_are
plant arx_words_chosen_of_eight ArxSymbolic.v '/^Definition schoose/,/^  else/s/mod 16/mod 8/' schoose_sound
plant arx_words_chosen_by_unknowns ArxSymbolic.v '/^Definition schoose/,/^  else/s/| _ => false end/| _ => true end/' schoose_sound
plant arx_each_16_of_short_strings ArxSymbolic.v 's/if (length (firstn 16 x) =? 16)%nat \&\& (length (firstn 16 y) =? 16)%nat then/if (length (firstn 16 x) =? 16)%nat then/' each_16_sound
plant arx_product_of_itself ArxSymbolic.v 's/None => Some (intern (Product w) (x ++ y) nodes)/None => Some (intern (Product w) (x ++ x) nodes)/' stimes_sound
plant arx_halves_alike Symbolic.v 's/Product_52 h, Product_52 i => Bool.eqb h i/Product_52 h, Product_52 i => true/' kind_eqb_eq
plant arx_half_of_a_square ArxSymbolic.v 's/None => Some (intern (Product_52 high) (x ++ y) nodes)/None => Some (intern (Product_52 high) (x ++ x) nodes)/' stimes_52_sound
plant arx_any_byte_is_constant ArxSymbolic.v '/^Definition constants/s/| _ => false end/| _ => true end/' constants_are
plant program_half_of_51_bits LanePrograms.v 's/(b mod 2 ^ 52) in if high/(b mod 2 ^ 51) in if high/' half_52_two
plant arx_pieces_overlap ArxSymbolic.v 's/each_16 n (skipn 16 x) (skipn 16 y)/each_16 n (skipn 16 x) (skipn 8 y)/' each_16_sound
plant nh_other_factor NH.v 's/(nth 1 t 0) (nth 3 t 0)/(nth 1 t 0) (nth 2 t 0)/' nh_of_a_unit
plant nh_last_unit_not_padded NH.v 's/(size + 15) \/ 16/size \/ 16/' add_units_are_nh
plant nh_groups_with_one_key NH.v 's/skipn (4 \* g) key/skipn g key/' add_groups_example
plant nh_key_in_order NHKernels.v 's/nth 2 k 0%N; nth 1 k 0%N; nth 3/nth 1 k 0%N; nth 2 k 0%N; nth 3/' lanes_swapped
plant nh_x86_64_other_words Kernels_nh_x86_64.v '/nh_add_units_x2/,/\]\./s/0x70; 0xd2; 0x32/0x70; 0xd2; 0x23/' units_x2_checks
plant nh_x86_64_same_key Kernels_nh_x86_64.v '/nh_add_units_x2/,/\]\./s/0x83; 0xc2; 0x10/0x83; 0xc2; 0x00/' units_x2_checks
plant nh_x86_64_reads_further Kernels_nh_x86_64.v '/nh_add_units_x4/,/\]\./s/0x83; 0xc2; 0x10/0x83; 0xc2; 0x20/' units_x4_checks
plant nh_x86_64_shorter_shift Kernels_nh_x86_64.v '/nh_add_groups_x4/,/\]\./s/0x73; 0xd1; 0x20/0x73; 0xd1; 0x1f/' groups_x4_checks
plant nh_x86_64_pass_with_other_key Kernels_nh_x86_64.v '/nh_add_groups_x4/,/\]\./s/0xfe; 0x9a; 0x20/0xfe; 0x9a; 0x30/' groups_x4_checks
plant poly1305_x86_64_other_multiplier Kernels_poly1305_x86_64.v 's/0x8d; 0xf4; 0x7e; 0x20/0x8d; 0xf4; 0x7e; 0x40/' x8_checks
plant poly1305_x86_64_longer_shift Kernels_poly1305_x86_64.v 's/0x0d; 0x73; 0xd4; 0x1a/0x0d; 0x73; 0xd4; 0x1b/' x8_checks
plant poly1305_x86_64_groups_overlap Kernels_poly1305_x86_64.v 's/0x81; 0xc2; 0x80; 0x00/0x81; 0xc2; 0x70; 0x00/' x8_checks
plant poly1305_x86_64_registers_left Kernels_poly1305_x86_64.v 's/0xc5; 0xfc; 0x77; 0xc3/0x48; 0xff; 0xc9; 0xc3/' x8_checks
plant poly1305_x86_64_other_lanes Poly1305Kernels.v 's/^Definition first_block .*/Definition first_block : list nat := [0; 1; 2; 3]%nat./' pairs_are_added
plant poly1305_other_factor Poly1305Kernels.v 's/else 9 + i - k) y 0))/else 8 + i - k) y 0))/' pair_program_is
plant poly1305_carry_left_out Poly1305Kernels.v 's/let\* h1 := emit (Plus e1 k0)/let* h1 := emit (Plus e1 c0)/' pair_program_is
plant poly1305_one_call_of_two Poly1305_x86_64.v 's/^  call_of 1 m2 ->/  call_of 2 m2 ->/' poly1305_add_blocks_x8_polynomial
plant program_shifts_back LanePrograms.v 's/| Left i k => sleft 8 k/| Left i k => sright 8 k/' on_symbol_sound
plant program_product_of_all_bits LanePrograms.v 's/(Words64.low_half (nth i v 0%Z))/(nth i v 0%Z)/' on_piece_word
plant program_without_operands LanePrograms.v 's/=> operands_in n x && well_formed/=> well_formed/' on_pieces_words
plant poly1305_x16_other_multiplier Kernels_poly1305_x16_x86_64.v 's/0xc2; 0xcd; 0x40; 0xb4; 0xc3/0xc2; 0xcd; 0x40; 0xb4; 0xc4/' x16_checks
plant poly1305_x16_upper_half_is_lower Kernels_poly1305_x16_x86_64.v 's/0xc2; 0xcd; 0x40; 0xb5; 0xdb/0xc2; 0xcd; 0x40; 0xb4; 0xdb/' x16_checks
plant poly1305_x16_groups_overlap Kernels_poly1305_x16_x86_64.v 's/0x81; 0xc2; 0x00; 0x01/0x81; 0xc2; 0xf0; 0x00/' x16_checks
plant poly1305_x16_leaves_zmm28 Kernels_poly1305_x16_x86_64.v 's/0x9d; 0x40; 0xef; 0xe4;/0xa5; 0x40; 0xef; 0xdb;/' x16_checks
plant poly1305_x16_zmm28_not_kept Poly1305_x16_x86_64.v 's/\[29; 30; 31\]%nat (seq 0 29)/[28; 29; 30; 31]%nat (seq 0 28)/; s/(seq 16 13)/(seq 16 12)/; s/(seq 29 3)/(seq 28 4)/' x16_checks
plant poly1305_x16_one_call_of_two Poly1305_x16_x86_64.v 's/^  call_of 1 m2 ->/  call_of 2 m2 ->/' poly1305_add_blocks_x16_polynomial
plant poly1305_44_other_lanes Poly1305Kernels44.v 's/^Definition first_block .*/Definition first_block : list nat := [0; 1; 2; 3; 4; 5; 6; 7]./' two_are_added
plant poly1305_44_other_factor Poly1305Kernels44.v 's/else 5 + i - k) y 0))/else 4 + i - k) y 0))/' two_program_is
plant poly1305_44_only_lower_halves Poly1305Kernels44.v 's/sum_from true none/sum_from false none/' two_program_is
plant poly1305_aarch64_other_multiplier Kernels_poly1305_aarch64.v 's/0x80; 0x83; 0xba; 0x2e/0x80; 0x83; 0xb9; 0x2e/' x4_checks
plant poly1305_aarch64_longer_shift Kernels_poly1305_aarch64.v 's/0x80; 0x47; 0x26; 0x6f/0x80; 0x47; 0x25; 0x6f/' x4_checks
plant poly1305_aarch64_groups_overlap Kernels_poly1305_aarch64.v 's/0x42; 0x00; 0x01; 0x91/0x42; 0xc0; 0x00; 0x91/' x4_checks
plant poly1305_aarch64_leaves_v31 Kernels_poly1305_aarch64.v 's/0x1f; 0xe4; 0x00; 0x6f/0x1e; 0xe4; 0x00; 0x6f/' x4_checks
plant poly1305_aarch64_one_call_of_two Poly1305_aarch64.v 's/^  call_of 1 m2 ->/  call_of 2 m2 ->/' poly1305_add_blocks_x4_polynomial
plant poly1305_quads_other_lanes Poly1305Quads.v 's/^Definition order .*/Definition order : list nat := [0; 1; 2; 3]./' quads_are_added
plant poly1305_quads_other_factor Poly1305Quads.v 's/else 9 + i - k) y 0))/else 8 + i - k) y 0))/' quad_program_is
plant poly1305_quads_carry_left_out Poly1305Quads.v 's/let\* h4 := emit (Plus 8 e4 k3)/let* h4 := emit (Plus 8 e4 c4)/' quad_program_is
plant poly1305_quads_limb_of_another_word Poly1305Quads.v 's/limb mask (word 1) (word 2) 12/limb mask (word 1) (word 2) 11/' quad_program_is
plant poly1305_order_not_undone Poly1305Rows.v 's/Arrangement size size place (fun i => Some (place i))/Arrangement size size place Some/' x4_checks
plant groups_any_width LaneGroups.v 's/if (a i =? 4) \&\& (a j =? 4) then Some 8/if (a i =? 4) then Some 8/' on_group_is
plant groups_whole_words LaneGroups.v 's/=> Some (lows (a i), nodes)/=> Some (a i, nodes)/' on_symbol_sound
plant nh_aarch64_product_of_itself Kernels_nh_aarch64.v 's/0xa0; 0x80; 0xb1; 0x2e/0xa0; 0x80; 0xa5; 0x2e/' units_x1_checks
plant nh_aarch64_leaves_v31 Kernels_nh_aarch64.v 's/0x1f; 0xe4; 0x00; 0x6f/0x1e; 0xe4; 0x00; 0x6f/' units_x1_checks
plant bound_capacity_shared BoundPublic.v 's/list byte := skipn (rate + 2) y\./list byte := skipn (rate + 1) y./' inner_xors
plant bound_edges_not_taken BoundGraph.v 's/else inner (fst (snd e))) s\./else inner (snd (snd e))) s./' taken_input
plant bound_inverse_into_root BoundGraph.v 's/^  else negb (has (inner x) (rooted s))\./  else true./' graph_bound_from
plant bound_fewer_forbidden BoundGraph.v 's/nat_q ((i + 1) \* K + i \* L + hits)/nat_q (i * K + i * L + hits)/' graph_bound_from
plant bound_hits_free BoundGraph.v '/^Definition term/s/ + hits//' graph_bound_from
plant bound_target_outputs_before BoundPreimages.v 's/In o U -> match o with Init _/In o U -> match o with Mask _ _ | Init _/' point_decides
plant bound_targets_not_aimed_at BoundPreimages.v 's/Aim (like n (fst r :: rs))/Aim (like n rs)/' goes_target
plant bound_ratchet_zeroes_less BoundRatchet.v 's/Ret (repeat 0%N 32 ++ o, spot/Ret (repeat 0%N 31 ++ o, spot/' exposes_is
plant bound_goes_on_after_a_leak BoundRatchet.v 's/then ends_before i (removelast T) else ends_before i T)/then ends_before i (removelast T) else True)/' exposes_is
plant bound_leak_hides_nothing BoundRatchet.v 's/then c ++ o else o ++ c\./then o ++ c else o ++ c./' ratchet_random
plant bound_inverse_is_forward BoundBytes.v 's/(fold_left round (rev (seq 0 18)) (split 16 8 y))/(fold_left round (seq 0 18) (split 16 8 y))/' permute_unpermute
plant bound_inverse_of_any_length BoundBytes.v 's/length x = width -> DuplexMachine/True -> DuplexMachine/' played_is
plant bound_output_elsewhere BoundPublic.v 's/T1 \&\& derives n T2 \&\& same (firstn n (answer P T1))/T1 \&\& derives n T2 \&\& same (firstn n (last_input P T1))/' outputs_collide
plant bound_permutation_repeats BoundSampling.v 's/(orders n (remove eqB b l))/(orders n l)/' orders_spec
plant bound_last_block_free BoundPublic.v 's/^  | Ask T k => inputs (permute (perm p) (run (perm p) T)) ++/  | Ask T k => inputs (run (perm p) T) ++/' asked_inputs
plant bound_no_frame_index Duplex.v 's/(xor_at (length x) (N\.of_nat f)$/(xor_at (length x) 0%N/' get_pad
plant bound_keyed_fewer BoundKeyed.v 's/nat_q (m \* (2 \* q + m)) \/ nat_q (length secrets)/nat_q (m * (q + m)) \/ nat_q (length secrets)/' not_fine_few
plant bound_nodes_forgotten BoundKeyed.v 's/if place_dec n n. then Some o else found n v/if place_dec n n'"'"' then None else found n v/' found_none
plant bound_users_share_a_key BoundKeyed.v 's/root i (nth i w s0)/root i (nth 0 w s0)/' node_is
plant bound_key_elsewhere BoundSecret.v 's/(length (domain i) + 11)/(length (domain i) + 10)/' begun_is
plant bound_key_in_two_blocks BoundSecret.v 's/length (domain i) <= 51/length (domain i) <= 60/' begun_is
plant bound_more_is_output BoundSecret.v 's/(strings (rate + 2)) p (compiled A)/(strings (rate + 3)) p (compiled A)/' outputs_random
plant bound_nonces_of_any_length BoundNonces.v 's/mixes T -> length n = length n. -> n <> n/mixes T -> length n = length n -> n <> n/' nonces_apart
plant bound_forgery_of_a_tag_alone BoundForgery.v 's/(i, T ++ \[Seal l x\], c ++ tag) h then watched h (k r)/(i, T ++ [Seal l x], c) h then watched h (k r)/' forged
plant bound_tags_of_more_bytes BoundFresh.v 's/^Definition guess : Q := 1 \/ inject_Z (2 ^ 128)/Definition guess : Q := 1 \/ inject_Z (2 ^ 129)/' one_of_tags
plant bound_siv_without_ad BoundSchemes.v '/^Definition committing_siv/,/\]\./s/Mix (text "ad") ad;/Mix (text "ad") [];/' tags_commit
plant bound_opening_takes_the_ciphertext_in BoundSecret.v 's/bind (decrypting c (feed1 t (Byte x)))/bind (decrypting c (feed1 t (Byte b)))/' shift_decrypting
plant bound_nonces_may_repeat BoundAead.v 's/with Encrypt nonce _ _ => Some nonce/with Encrypt nonce _ _ => None/' aead_fair
plant bound_nonces_of_16_bytes BoundAttack.v 's/:= vectors (strings 24) s/:= vectors (strings 16) s/' nonces_repeat
plant bound_nonces_that_are_given BoundAttack.v 's/(forall nonce, nonce_of (f nonce) = Some nonce)/True/' with_nonces_new
plant bound_siv_fewer_pairs BoundSiv.v 's/(pred s) \* (1 # 2)/(pred s) * (1 # 3)/' pairs_next
plant bound_siv_key_stream_without_tag BoundSiv.v '/^Definition siv_conf/,/\]\./s/Mix (text "tag") tag/Mix (text "tag") []/' conf_asked
plant bound_siv_tag_not_compared BoundSiv.v 's/if same_bytes (siv_tag P domain key nonce ad x) tag then Some x else None/Some x/' siv_says
plant bound_committing_tag_not_compared BoundCommitting.v 's/if same_bytes (committing_tag P domain key nonce ad x) (skipn n y) then Some x else None/Some x/' committing_says
plant bound_committing_longer_tags BoundCommitting.v 's/^Definition guess_32 : Q := 1 \/ inject_Z (2 ^ 256)/Definition guess_32 : Q := 1 \/ inject_Z (2 ^ 257)/' one_of_32
plant bound_mac_one_tag_for_all_lengths BoundMac.v 's/\[j; n.\] \[i; n\]/[j; n'"'"'] [i; n'"'"']/' tagged_some
plant bound_key_streams_of_two_messages BoundFresh.v 's/| Mask l _, Mask l. _ => l = l./| Mask l x, Mask l'"'"' x'"'"' => l = l'"'"' \/\\ x = x'"'"'/' starting_inj
plant bound_fresh_but_for_the_last_block BoundMean.v 's/~ prefix bs (rev (b :: r))\.$/~ prefix bs (rev r)./' in_block
