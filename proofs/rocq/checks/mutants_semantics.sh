# mutants_semantics.sh FOLDER ANSWERS, with the runs of veriplex-isa and the answers of proofs/lift/tests/rocq.rs: plants
# defects in the semantics or the decoder of a copy, and builds the executable semantics there. The comparison with CPU
# or library must notice each; it ends with the first difference. Each defect has a program of its own, so none can hide
# another one or be found in its place.

. checks/lanes.sh

runs=$(cd "$1" && pwd) && answers=$(cd "$2" && pwd) || exit 1
parts=$(awk -v wanted="isa/X86_64 isa/AArch64" -f checks/stale.awk build/depend) || exit 1
sources=$(printf "%s.v " $parts)

# build COMPILER NAME FILE SED
build() {
  dir=build/mutants/$2
  rm -rf "$dir"; mkdir -p "$dir"
  for part in $parts; do cp -p --parents "$part.v" "$part.vo" "$dir"/; done
  cp -rp Makefile extract "$dir"/
  at=$(printf "%s.v\n" $parts | grep "/$3\$")
  sed -i "$4" "$dir/$at"
  if cmp -s "$at" "$dir/$at"; then echo "$2: the defect does not apply to $3" >&2; exit 1; fi
  if ! log=$(make -C "$dir" -s semantics SOURCES="$sources" OCAMLOPT="ocamlfind $1" 2>&1); then
    echo "$2: $log" >&2; exit 1; fi
  # Without it nothing that rests on the changed file is compiled again.
  if ! [ -e "$dir/build/depend" ]; then echo "$2: no dependencies" >&2; exit 1; fi
}

# The next ones are planted, too, where one is not found.
wrong() { mine || return 0; (runs_wrong "$@") || failed=1; }
misread() { mine || return 0; (is_misread "$@") || failed=1; }

# wrong NAME FILE SED ARCHITECTURE FORM: a run of this form must differ.
runs_wrong() {
  if ! [ -e "$runs/code/$4" ]; then echo "$1: skipped, because nothing has executed $4"; return; fi
  if ! [ -e "$runs/code/$4/$5" ]; then echo "$1: there is no form $5" >&2; exit 1; fi
  if ! [ -s "$runs/$4/$5" ]; then echo "$1: skipped, because no CPU that has $5 has executed it"; return; fi
  # It runs too shortly for machine code to be worth its time.
  build ocamlc "$1" "$2" "$3"
  log=$("$dir"/semantics differs "$runs" "$5") && { echo "$1: not found" >&2; exit 1; }
  echo "$log" | grep -q "^FAILED: $4 $5:" || { echo "$1: expected $5 to differ, but it was: $log" >&2; exit 1; }
  echo "$1: $5 differs from the CPU, as it must"
  rm -rf "$dir"
}

# misread NAME FILE SED TEST: this test of proofs/lift/tests/rocq.rs must report that the decoders differ. The program
# answers what the test asks, beside what it expects.
is_misread() {
  case $4 in x86_64_decodes_as_iced) set=X86_64 ;; aarch64_decodes_as_yaxpeax) set=AArch64 ;;
    *) echo "$1: no test $4" >&2; exit 1 ;; esac
  build ocamlopt "$1" "$2" "$3"
  log=$("$dir"/semantics answers "$answers/$set") && { echo "$1: not found" >&2; exit 1; }
  echo "$log" | grep -q "^FAILED: .*, and not " || { echo "$1: expected another answer, but it was: $log" >&2; exit 1; }
  echo "$1: other instructions than the library's, as it must"
  rm -rf "$dir"
}

wrong load_next X86_64.v 's/Memory a => Load a w/Memory a => Load (Address (base a) (index a) (displacement a + 1)) w/' X86_64 vmovdqu_load
wrong store_half X86_64.v 's/\[Store a (Vec s w)\]/[Store a (Slice 0 8 (Vec s w))]/' X86_64 vmovdqu_store
wrong move_back X86_64.v 's/Register r => vector r (Vec s w)/Register r => vector s (Vec r w)/' X86_64 vmovdqu_store_register
wrong vmovdqu_keeps X86_64.v 's/^Definition vmovdqu w d s := .*/Definition vmovdqu w d s := [Set_vec d (source w s) true]./' X86_64 vmovdqu_register_above
wrong vpxor_next X86_64.v 's/Xor (Vec x w) (source w y)/Xor (Vec (x + 1) w) (source w y)/' X86_64 vpxor_register
wrong vpslldq_less X86_64.v 's/Slice 0 16 (Append/Slice 1 16 (Append/' X86_64 vpslldq_8
wrong vpsrldq_turns X86_64.v 's/(Append (piece w x i) (Bytes (zero 16)))/(Append (piece w x i) (piece w x i))/' X86_64 vpsrldq_2
wrong vpalignr_swapped X86_64.v 's/Append (piece w y i) (piece w x i)/Append (piece w x i) (piece w y i)/' X86_64 vpalignr_14
wrong vaesenc_without_mix X86_64.v 's/Mix (Sub_shift (piece w x i))/Sub_shift (piece w x i)/' X86_64 vaesenc_register
wrong vector_keeps X86_64.v 's/^Definition vector .*/Definition vector (r : nat) (x : bytes) : list effect := [Set_vec r x true]./' X86_64 vpxor_ymm_register
wrong pieces_of_half X86_64.v 's/Nat.div w 16/Nat.div w 32/' X86_64 vaesenc_zmm
wrong vmovq_half X86_64.v '/^Definition vmovq /s/Of_gpr r/Slice 0 4 (Of_gpr r)/' X86_64 vmovq
wrong vzeroall_leaves X86_64.v '/^Definition vzeroall/s/seq 0 16/seq 1 15/' X86_64 vzeroall
wrong vpaddd_carries X86_64.v '/^Definition vpaddd/s/Plus 4/Plus 8/' X86_64 vpaddd_xmm_register
wrong vpaddq_without_carry X86_64.v '/^Definition vpaddq/s/Plus 8/Plus 4/' X86_64 vpaddq_xmm_register
wrong vpslld_less X86_64.v '/^Definition vpslld /s/4 k (Vec/4 (k - 1) (Vec/' X86_64 vpslld_xmm_7
wrong vpsrld_of_64_bits X86_64.v '/^Definition vpsrld /s/4 k (Vec/8 k (Vec/' X86_64 vpsrld_xmm_25
wrong vpor_is_vpxor X86_64.v '/^Definition vpor/s/Or (Vec/Xor (Vec/' X86_64 vpor_xmm_register
wrong vpand_is_vpor X86_64.v '/^Definition vpand /s/And_bytes/Or/' X86_64 vpand_ymm_register
wrong vpandn_of_the_second X86_64.v '/^Definition vpandn/s/And_bytes (Xor (Vec x w) (Bytes (ones w))) (source w y)/And_bytes (Vec x w) (Xor (source w y) (Bytes (ones w)))/' X86_64 vpandn_xmm_register
wrong conjunction_of_seven_bits Machine.v 's/and_bytes (bytes_in m x) (bytes_in m y)/and_bytes (bytes_in m x) (map (fun b => b mod 128)%N (bytes_in m y))/' X86_64 vpand_xmm_memory
wrong vpsrld_of_the_lower_half X86_64.v '/^Definition vpsrld /s/(Vec x w)/(Append (Slice 0 16 (Vec x w)) (Vec x 16))/' X86_64 vpsrld_ymm_18
wrong vpor_of_the_upper_half X86_64.v '/^Definition vpor /s/(Vec x w)/(Append (Slice 16 16 (Vec x w)) (Slice 16 16 (Vec x w)))/' X86_64 vpor_ymm_register
wrong vpshufb_of_the_lower_half Machine.v 's/shuffle (bytes_in m x) (bytes_in m y)/shuffle (firstn 16 (bytes_in m x) ++ firstn 16 (bytes_in m x)) (bytes_in m y)/' X86_64 vpshufb_ymm_register
wrong vperm2i128_swapped X86_64.v '/^Definition vperm2i128_33/s/Append (Slice 16 16 (Vec x 32)) (Vec y 16)/Append (Vec y 16) (Slice 16 16 (Vec x 32))/' X86_64 vperm2i128_33
wrong vpshufb_without_zeros Machine.v 's/shuffle (bytes_in m x) (bytes_in m y)/shuffle (bytes_in m x) (map (fun b => b mod 128)%N (bytes_in m y))/' X86_64 vpshufb_xmm_register
wrong vpshufb_swapped X86_64.v '/^Definition vpshufb/s/Shuffle (Vec x w) (source w y)/Shuffle (source w y) (Vec x w)/' X86_64 vpshufb_xmm_register
wrong vpshufd_backwards X86_64.v '/^Definition chosen_words/,/seq 0 4/s/(seq 0 4)/(rev (seq 0 4))/' X86_64 vpshufd_xmm_147
wrong vpshufd_from_lowest X86_64.v 's/chosen_words k (piece w x i)/chosen_words k (piece w x 0)/' X86_64 vpshufd_zmm_16
wrong vpaddd_of_half X86_64.v '/^Definition vpaddd/s/(Vec x w) (source w y)/(Vec x (Nat.div w 2)) (source (Nat.div w 2) y)/' X86_64 vpaddd_ymm_memory
wrong vpaddq_zmm_without_carry X86_64.v '/^Definition vpaddq/s/Plus 8/Plus 4/' X86_64 vpaddq_zmm_register
wrong vpmuludq_of_neighbours X86_64.v '/^Definition even_words/s/Slice 8 4/Slice 4 4/' X86_64 vpmuludq_ymm_register
wrong vpmuludq_of_memory_half X86_64.v 's/(piece 64 d (2 + i))/(piece 64 d (1 + i))/' X86_64 vpmuludq_ymm_memory
wrong products_of_32_bits Arx.v 's/fst ab \* snd ab/fst ab * snd ab mod 256 ^ N.of_nat w/' X86_64 vpmuludq_zmm_register
wrong products_of_53_bits Arx.v 's/(N.ones 52) \* N.land (snd ab) (N.ones 52)/(N.ones 53) * N.land (snd ab) (N.ones 53)/' X86_64 vpmadd52huq_register
wrong vpmadd52_of_the_other_half X86_64.v '/^Definition vpmadd52/s/Times_52 high/Times_52 (negb high)/' X86_64 vpmadd52huq_register
wrong vpmadd52_of_two X86_64.v '/^Definition vpmadd52/s/Plus 8 (Vec d 64)/Plus 8 (Bytes (zero 64))/' X86_64 vpmadd52luq_three
wrong vpsllq_of_32_bits X86_64.v '/^Definition vpsllq/s/Shift_left 8/Shift_left 4/' X86_64 vpsllq_zmm_20
wrong vpsrlq_less X86_64.v '/^Definition vpsrlq w/s/8 k/8 (k - 1)/' X86_64 vpsrlq_zmm_44
wrong vpsllq_of_half X86_64.v '/^Definition vpsllq/s/(Vec x w)/(Vec x (Nat.div w 2))/' X86_64 vpsllq_ymm_12
wrong vpsrlq_of_half X86_64.v '/^Definition vpsrlq w/s/(Vec x w)/(Vec x (Nat.div w 2))/' X86_64 vpsrlq_ymm_26
wrong vpsrlq_to_even X86_64.v 's/Slice 12 4 x; Bytes/Slice 8 4 x; Bytes/' X86_64 vpsrlq_zmm_32
wrong vbroadcast_once X86_64.v 's/(fun _ => Vec d 16)/(fun i => if Nat.eqb i 0 then Vec d 16 else Bytes (zero 16))/' X86_64 vbroadcasti128
wrong vbroadcast_next X86_64.v '/^Definition vbroadcast/s/(Load a 16)/(Load (Address (base a) (index a) (displacement a + 1)) 16)/' X86_64 vbroadcasti32x4
wrong vpunpcklqdq_high X86_64.v '/^Definition vpunpcklqdq/s/(Slice 0 8 (source/(Slice 8 8 (source/' X86_64 vpunpcklqdq_xmm
wrong vpunpck_swapped X86_64.v 's/\[lane_of i x; lane_of i y\]/[lane_of i y; lane_of i x]/' X86_64 vpunpckldq_zmm
wrong vpunpck_of_lower_half X86_64.v 's/(if high then 8 else 0)/(if high then 0 else 0)/' X86_64 vpunpckhqdq_zmm
wrong vpunpckhqdq_low X86_64.v 's/vpunpck 8 true 32 d/vpunpck 8 false 32 d/' X86_64 vpunpckhqdq_ymm
wrong vpunpck_of_one_piece X86_64.v '/^Definition vpunpck /s/(piece w x i)/(piece w x 0)/' X86_64 vpunpcklqdq_ymm
wrong vprold_less X86_64.v '/^Definition vprold/s/(32 - k)/(31 - k)/' X86_64 vprold_zmm_7
wrong vpbroadcastd_once X86_64.v '/^Definition vpbroadcastd/s/repeat (Vec d 4) 16/repeat (Vec d 4) 1/' X86_64 vpbroadcastd_zmm
wrong vperm2i128_low_swapped X86_64.v '/^Definition vperm2i128_low/s/(Vec x 16) (Vec y 16)/(Vec y 16) (Vec x 16)/' X86_64 vperm2i128_32
wrong vperm2i128_high_takes_lower X86_64.v '/^Definition vperm2i128_high/s/(Slice 16 16 (Vec y 32))/(Vec y 16)/' X86_64 vperm2i128_49
wrong add_unsigned X86_64.v '/0x05; z0/s/signed/unsigned/' X86_64 add_negative
wrong vinserti128_swapped X86_64.v '/^Definition vinsert_1/s/(Vec x w) (source w y)/(source w y) (Vec x w)/' X86_64 vinserti128_1
wrong vinserti64x4_swapped X86_64.v '/^Definition vinsert_1/s/(Vec x w) (source w y)/(source w y) (Vec x w)/' X86_64 vinserti64x4_1
wrong vextracti128_low X86_64.v '/^Definition vextracti128_1/s/Slice 16 16/Slice 0 16/' X86_64 vextracti128_1
wrong vshufi64x2_first X86_64.v 's/piece 64 y (n 2)/piece 64 x (n 2)/' X86_64 vshufi64x2_27
wrong vpternlogq_of_two X86_64.v 's/(Xor (Vec d 64) (Vec x 64))/(Vec x 64)/' X86_64 vpternlogq_xor
wrong vpternlogq_without_memory X86_64.v '/^Definition vpternlogq_xor /s/(source 64 y)/(match y with Register s => Vec s 64 | Memory _ => Vec x 64 end)/' X86_64 vpternlogq_memory
wrong vpternlogq_xor_or X86_64.v '/^Definition vpternlogq_xor_and /s/And_bytes (Vec x 64)/Or (Vec x 64)/' X86_64 vpternlogq_xor_and
wrong vpternlogq_inverts_the_other X86_64.v 's/(And_bytes (Xor (Vec x 64) (Bytes (ones 64))) (Vec y 64))/(And_bytes (Vec x 64) (Xor (Vec y 64) (Bytes (ones 64))))/' X86_64 vpternlogq_xor_andn
wrong valignd_swapped X86_64.v '/^Definition valignd/s/Append (Vec y 64) (Vec x 64)/Append (Vec x 64) (Vec y 64)/' X86_64 valignd_5
wrong valignd_by_halves X86_64.v '/^Definition valignd/s/Slice (4 \* k)/Slice (2 * k)/' X86_64 valignd_15
wrong vpermd_swapped X86_64.v 's/Choose (source 64 y) (Vec x 64)/Choose (Vec x 64) (source 64 y)/' X86_64 vpermd_memory
wrong words_chosen_of_eight Arx.v 's/(lane_number c mod 16)) x)) (split/(lane_number c mod 8)) x)) (split/' X86_64 vpermd_register
wrong vpslld_of_half X86_64.v 's/Some (vpslld 64/Some (vpslld 32/' X86_64 vpslld_zmm_13
wrong index_ignored Machine.v 's/Some i => gpr m i | None/Some i => 0 | None/' X86_64 vmovdqu_index
wrong mov_next X86_64.v '/^Definition mov_load/s/Load_gpr r a/Load_gpr r (Address (base a) (index a) (displacement a + 1))/' X86_64 mov_load
wrong mov_unsigned X86_64.v 's/Some (movabs d (signed \[z0/Some (movabs d (unsigned [z0/' X86_64 mov_negative
wrong xor_one X86_64.v '/^Definition xor_itself/s/Set_gpr r (Imm 0)/Set_gpr r (Imm 1)/' X86_64 xor_index
wrong movq_clears X86_64.v 's/(zero 8))) true\]/(zero 8))) false]/' X86_64 movq_above
wrong movabs_half X86_64.v 's/Set_gpr r (Imm z)/Set_gpr r (Imm (z mod 2 ^ 32))/' X86_64 movabs
wrong add_borrows X86_64.v 's/Below sum (Imm z)/Below (Imm z) sum/' X86_64 add_94_ja_near
wrong dec_carries X86_64.v 's/Imm 1) in \[/&Set_carry (Below (Gpr r) (Imm 1)); /' X86_64 cmp_3_dec_ja_near
wrong cmp_less X86_64.v 's/Set_zero (Equal (Gpr r) (Imm z))/Set_zero (Equal (Gpr r) (Imm 0))/' X86_64 cmp_3_ja_near
wrong ja_is_jae X86_64.v 's/And (Not Carry) (Not Zero_flag)/Not Carry/' X86_64 cmp_3_ja_near
wrong jmp_from_start X86_64.v 's/(Imm 0)) offset\]/(Imm 0)) (offset - 5)]/' X86_64 jmp_near
wrong jmp_short_from_start X86_64.v '/0xeb; a/s/signed \[a\]/signed [a] - 2/' X86_64 jmp
wrong ja_short_always X86_64.v '/0x77; a/s/(ja /(jmp /' X86_64 cmp_0_ja
wrong ret_pops_twice Machine.v 's/wrap (gpr m r + 8)/wrap (gpr m r + 16)/' X86_64 ret

misread register_off_by_one X86_64.v 's/8 \* b + field m 0 3)/8 * b + field m 0 3 + 1)/' x86_64_decodes_as_iced
misread reg_field_low X86_64.v 's/field m 3 3/field m 2 3/' x86_64_decodes_as_iced
misread rex_b_missing X86_64.v 's/modrm false 0 0 b 1 x/modrm false 0 0 0 1 x/' x86_64_decodes_as_iced
misread rex_r_missing X86_64.v 's/modrm false (field rex 2 1) 0/modrm false 0 0/' x86_64_decodes_as_iced
misread w_ignored X86_64.v 's/field rex 3 5 =? 9/field rex 4 4 =? 4/' x86_64_decodes_as_iced
misread vvvv_as_it_is X86_64.v 's/(15 - field p 3 4)/(field p 3 4)/' x86_64_decodes_as_iced
misread vvvv_ignored X86_64.v 's/if v =? 0 then Some (vmovdqu size d rm) else None/Some (vmovdqu size d rm)/' x86_64_decodes_as_iced
misread displacement_unsigned X86_64.v 's/signed \[d\]/unsigned [d]/' x86_64_decodes_as_iced
misread sib_ignored X86_64.v 's/^    if rm =? 4 then/    if rm =? 8 then/' x86_64_decodes_as_iced
misread scale_ignored X86_64.v 's/(field sib 6 2 =? 0) && negb/negb/' x86_64_decodes_as_iced
misread index_4 X86_64.v 's/ && negb (i =? 4)//' x86_64_decodes_as_iced
misread index_low X86_64.v 's/let i := 8 \* x + field sib 3 3 in/let i := field sib 3 3 in/' x86_64_decodes_as_iced
misread x_of_a_register X86_64.v 's/if upper || (x =? 0) then/if true then/' x86_64_decodes_as_iced
misread length_ignored X86_64.v 's/let size := if l =? 0 then 16%nat else 32%nat in/let size := 16%nat in/' x86_64_decodes_as_iced
misread vex_w_ignored X86_64.v 's/(field q 0 2) (field q 7 1) (field q 2 1)/(field q 0 2) 0 (field q 2 1)/' x86_64_decodes_as_iced
misread displacement_unscaled X86_64.v 's/(operand_size opcode)/1/' x86_64_decodes_as_iced
misread half_operand_scaled X86_64.v 's/0x3a => 32 | //' x86_64_decodes_as_iced
misread quarter_operand_scaled X86_64.v 's/ 0x5a => 16 |//' x86_64_decodes_as_iced
misread evex_v_of_four_bits X86_64.v 's/(16 \* (1 - field o 3 1) + (15 - field q 3 4))/(15 - field q 3 4)/' x86_64_decodes_as_iced
misread evex_r_of_four_bits X86_64.v 's/(2 \* (1 - field p 4 1) + (1 - field p 7 1))/(1 - field p 7 1)/' x86_64_decodes_as_iced
misread mask_ignored X86_64.v 's/ && (field o 0 3 =? 0)$//' x86_64_decodes_as_iced
misread broadcast_ignored X86_64.v 's/(field o 4 4 =? 4)/(field o 5 3 =? 2)/' x86_64_decodes_as_iced
misread add_long_unsigned X86_64.v '/0x81; m; z0/,/end/s/signed \[z0/unsigned [z0/' x86_64_decodes_as_iced
misread add_rax_any X86_64.v '/0x05; z0/s/if r + b =? 0/if r =? 0/' x86_64_decodes_as_iced
misread product_of_16_bytes X86_64.v 's/if l =? 1 then \(Some (vpmuludq 32 d v. s)\) else None/\1/' x86_64_decodes_as_iced
misread product_of_16_bytes_in_memory X86_64.v 's/if l =? 1 then \(Some (vpmuludq_load d v. a)\) else None/\1/' x86_64_decodes_as_iced
misread vex_vpsrlq_of_any_extension X86_64.v 's/| 2, Register s => if r =? 0 then Some (vpsrlq/| 2, Register s => if true then Some (vpsrlq/' x86_64_decodes_as_iced
misread vex_vpsllq_is_number_4 X86_64.v 's/| 6, Register s => if r =? 0 then Some (vpsllq/| 4, Register s => if r =? 0 then Some (vpsllq/' x86_64_decodes_as_iced
misread vex_vpunpckhqdq_is_vmovq X86_64.v 's/1, 1, 0, 0x6d, \[\]/1, 1, 0, 0x6e, []/' x86_64_decodes_as_iced
misread evex_product_of_vpmuldq X86_64.v 's/| Register s, 1, 1, 1, 0xf4, \[\]/| Register s, _, 1, 1, 0xf4, []/' x86_64_decodes_as_iced
misread vbroadcast_with_vvvv X86_64.v 's/if (v =? 0) \&\& (l =? 1) then \(Some (vbroadcast 32 d a)\) else None/if l =? 1 then \1 else None/' x86_64_decodes_as_iced
misread evex_vbroadcast_with_vvvv X86_64.v 's/if v =? 0 then \(Some (vbroadcast 64 d a)\) else None/\1/' x86_64_decodes_as_iced
misread evex_sum_of_64_bits X86_64.v 's/| 1, 1, 0, 0xfe, \[\] => Some (vpaddd 64/| 1, 1, _, 0xfe, [] => Some (vpaddd 64/' x86_64_decodes_as_iced
misread vpshufd_pieces_with_vvvv X86_64.v 's/| 0, 1, Register s => Some (vpshufd_pieces/| _, 1, Register s => Some (vpshufd_pieces/' x86_64_decodes_as_iced
misread evex_vpshufd_with_vvvv X86_64.v 's/if v =? 0 then \(Some (vpshufd_pieces 64 d s (N.to_nat k))\) else None/\1/' x86_64_decodes_as_iced
misread shift_by_32_of_bits X86_64.v 's/if k =? 32 then vpsrlq_32 64/if k =? 33 then vpsrlq_32 64/' x86_64_decodes_as_iced
misread vpsrlq_of_any_extension X86_64.v 's/| 2 => if r =? 0 then Some (if k/| 2 => if true then Some (if k/' x86_64_decodes_as_iced
misread vpsllq_is_number_4 X86_64.v 's/| 6 => if r =? 0 then Some (vpsllq/| 4 => if r =? 0 then Some (vpsllq/' x86_64_decodes_as_iced
misread vpandq_is_vpandnq X86_64.v 's/| 1, 1, 1, 0xdb, \[\] => Some/| 1, 1, 1, 0xdf, [] => Some/' x86_64_decodes_as_iced
misread vpmadd52_is_vfmaddsub X86_64.v 's/| 2, 1, 1, 0xb5, \[\] => Some/| 2, 1, 1, 0xb6, [] => Some/' x86_64_decodes_as_iced
misread vprold_by_any_number X86_64.v 's/(r =? 0) \&\& (k <? 32) then/(r =? 0) then/' x86_64_decodes_as_iced
misread vprold_is_vprord X86_64.v 's/| 1 => if (r =? 0) \&\& (k <? 32)/| 0 => if (r =? 0) \&\& (k <? 32)/' x86_64_decodes_as_iced
misread vpbroadcastd_displacement X86_64.v 's/ | 0x58 => 4 / /' x86_64_decodes_as_iced
misread vpbroadcastd_with_vvvv X86_64.v 's/if v =? 0 then \(Some (vpbroadcastd d a)\) else None/\1/' x86_64_decodes_as_iced
misread vpunpckhdq_is_vpackssdw X86_64.v 's/1, 1, 0, 0x6a, \[\]/1, 1, 0, 0x6b, []/' x86_64_decodes_as_iced
misread lower_halves_of_16_bytes X86_64.v 's/if l =? 1 then \(Some (vperm2i128_low d v. s)\) else None/\1/' x86_64_decodes_as_iced
misread upper_halves_are_lower_and_upper X86_64.v 's|0x46, \[0x31\]|0x46, [0x30]|' x86_64_decodes_as_iced
misread jmp_short_unsigned X86_64.v '/0xeb; a/s/signed/unsigned/' x86_64_decodes_as_iced
misread ja_short_is_jae X86_64.v 's/\[0x77; a\]/[0x73; a]/' x86_64_decodes_as_iced
misread shift_of_16_bytes X86_64.v 's/Some (vpslld size/Some (vpslld 16/' x86_64_decodes_as_iced
misread any_halves X86_64.v 's/0x46, \[0x21\]/0x46, [_]/' x86_64_decodes_as_iced
misread halves_of_16_bytes X86_64.v 's/if l =? 1 then \(Some (vperm2i128_33 d v. s)\) else None/\1/' x86_64_decodes_as_iced
misread vpandn_is_vpmaxub X86_64.v 's/1, 1, 0, 0xdf, \[\] => Some/1, 1, 0, 0xde, [] => Some/' x86_64_decodes_as_iced
misread vpand_of_16_bytes X86_64.v 's/0xdb, \[\] => Some (vpand size/0xdb, [] => Some (vpand 16/' x86_64_decodes_as_iced
misread vpshufd_with_vvvv X86_64.v 's/| 0, 0, _ => Some (vpshufd/| _, 0, _ => Some (vpshufd/' x86_64_decodes_as_iced
misread arithmetic_shift X86_64.v 's/| 2, Register s => if r =? 0 then Some (vpsrld/| 4, Register s => if r =? 0 then Some (vpsrld/' x86_64_decodes_as_iced
misread any_logic X86_64.v 's/0x25, \[0x96\]/0x25, [_]/; /0x25, \[0x78\]/d; /0x25, \[0xd2\]/d' x86_64_decodes_as_iced
misread xor_and_is_any_logic X86_64.v 's/0x25, \[0x78\]/0x25, [_]/; /0x25, \[0xd2\]/d' x86_64_decodes_as_iced
misread xor_andn_is_any_logic X86_64.v 's/0x25, \[0xd2\]/0x25, [_]/' x86_64_decodes_as_iced
misread valignd_by_more X86_64.v 's/(N.to_nat (k mod 16))/(N.to_nat k)/' x86_64_decodes_as_iced
misread valignd_is_valignq X86_64.v 's/Register s, 3, 1, 0, 0x03, \[k\]/Register s, 3, 1, _, 0x03, [k]/' x86_64_decodes_as_iced
misread vpermd_is_vpermq X86_64.v 's/| _, 2, 1, 0, 0x36, \[\]/| _, 2, 1, _, 0x36, []/' x86_64_decodes_as_iced
misread evex_vpslld_extended X86_64.v 's/6 => if r =? 0 then \(Some (vpslld 64 .*)\) else None/6 => \1/' x86_64_decodes_as_iced

wrong aese_key_last AArch64.v 's/Sub_shift (Xor (Vec d 16) (Vec n 16))/Xor (Sub_shift (Vec d 16)) (Vec n 16)/' AArch64 aese
wrong aesmc_next AArch64.v 's/Mix (Vec n 16)/Mix (Vec (n + 1) 16)/' AArch64 aesmc
wrong eor_next AArch64.v 's/Xor (Vec n 16) (Vec m 16)/Xor (Vec n 16) (Vec (m + 1) 16)/' AArch64 eor
wrong and_next AArch64.v '/^Definition and_16b/s/(Vec m 16)/(Vec (m + 1) 16)/' AArch64 and_16b
wrong bic_swapped AArch64.v '/^Definition bic/s/And_bytes (Vec n 16) (Xor (Vec m 16)/And_bytes (Vec m 16) (Xor (Vec n 16)/' AArch64 bic
wrong add_4s_carries AArch64.v '/^Definition add_4s/s/Plus 4/Plus 8/' AArch64 add_4s
wrong add_2d_without_carry AArch64.v '/^Definition add_2d/s/Plus 8/Plus 4/' AArch64 add_2d
wrong lanes_do_not_wrap Arx.v 's/in_lanes w (map (fun ab => fst ab + snd ab)/in_lanes w (map (fun ab => N.min (256 ^ N.of_nat w - 1) (fst ab + snd ab))/' AArch64 add_4s
wrong umlal_without_carry AArch64.v '/^Definition umlal_2d/s/Plus 8/Plus 4/' AArch64 umlal_2d
wrong umlal_of_one AArch64.v '/^Definition umlal_2d/s/(Vec m 8)/(Vec (m + 1) 8)/' AArch64 umlal_2d
wrong umlal2_of_lower_half AArch64.v '/^Definition umlal2_2d/s/(upper n)/(Vec n 8)/' AArch64 umlal2_2d
wrong umull_of_one AArch64.v '/^Definition umull_2d/s/(Vec m 8)/(Vec (m + 1) 8)/' AArch64 umull_2d
wrong umull2_of_lower_half AArch64.v '/^Definition umull2_2d/s/(upper m)/(Vec m 8)/' AArch64 umull2_2d
wrong shl_2d_of_words AArch64.v '/^Definition shl_2d/s/Shift_left 8/Shift_left 4/' AArch64 shl_2d_2
wrong ushr_less AArch64.v '/^Definition ushr_2d/s/8 shift/8 (shift - 1)/' AArch64 ushr_2d_26
wrong usra_without_sum AArch64.v '/^Definition usra_2d/s/(Plus 8 (Vec d 16) (Shift_right 8 shift (Vec n 16)))/(Shift_right 8 shift (Vec n 16))/' AArch64 usra_2d_26
wrong uzp1_of_neighbours AArch64.v '/^Definition uzp1_4s/s/word_of n 2/word_of n 1/' AArch64 uzp1_4s
wrong trn1_swapped AArch64.v '/^Definition trn1_4s/s/(word_of n 0) (word_of m 0)/(word_of m 0) (word_of n 0)/' AArch64 trn1_4s
wrong zip1_swapped AArch64.v '/^Definition zip1_2d/s/(Vec n 8) (Vec m 8)/(Vec m 8) (Vec n 8)/' AArch64 zip1_2d
wrong zip2_low AArch64.v '/^Definition zip2_2d/s/(upper m)/(Vec m 8)/' AArch64 zip2_2d
wrong bic_clears_the_others AArch64.v 's/(xor (ones 16) (concat (repeat (little_endian 4 (imm8 \* 2 ^ amount)) 4)))/(concat (repeat (little_endian 4 (imm8 * 2 ^ amount)) 4))/' AArch64 bic_4s_0xa5_0
wrong ld4_next_byte AArch64.v 's/Z.of_nat (16 \* j + 4 \* i)/Z.of_nat (16 * j + i)/' AArch64 ld4_low
wrong shl_next AArch64.v '/^Definition shl_4s/s/(Vec n 16)/(Vec (n + 1) 16)/' AArch64 shl_7
wrong shl_less AArch64.v '/^Definition shl_4s/s/4 shift (Vec/4 (shift - 1) (Vec/' AArch64 shl_16
wrong sri_is_ushr AArch64.v 's/(Xor (Shift_right 4 shift (Vec n 16)) (Shift_left .*)))\./(Shift_right 4 shift (Vec n 16))./' AArch64 sri_25
wrong sri_keeps_lower AArch64.v 's/Shift_left 4 (32 - shift) (Shift_right 4 (32 - shift) (Vec d 16))/Shift_right 4 shift (Shift_left 4 shift (Vec d 16))/' AArch64 sri_8
wrong ext_swapped AArch64.v 's/Append (Vec n 16) (Vec m 16)/Append (Vec m 16) (Vec n 16)/' AArch64 ext_14
wrong orr_back AArch64.v 's/^Definition mov d n := .*/Definition mov d n := vector n (Vec d 16)./' AArch64 mov
wrong movi_bit AArch64.v 's/then 0xff else 0/then 0x01 else 0/' AArch64 movi_2d_0xa5
wrong movi_unshifted AArch64.v 's/imm8 \* 2 ^ amount/imm8/' AArch64 movi_8h_0x81_8
wrong ldp_overlaps AArch64.v '/^Definition ldp /s/imm + 16/imm + 8/' AArch64 ldp_least
wrong ldp_x_overlaps AArch64.v '/^Definition ldp_x/s/imm + 8/imm + 4/' AArch64 ldp_x_second
wrong ldur_next AArch64.v '/^Definition ldur/s/n None imm) 16/n None (imm + 1)) 16/' AArch64 ldur_most
wrong stp_next AArch64.v '/^Definition stp/s/(Vec t1 16)/(Vec (t1 + 1) 16)/' AArch64 stp_most
wrong stur_half AArch64.v '/^Definition stur/s/(Vec t 16)\]/(Slice 0 8 (Vec t 16))]/' AArch64 stur_least
wrong add_subtracts AArch64.v '/^Definition add/s/Add (Gpr/Sub (Gpr/' AArch64 add_94
wrong sub_less AArch64.v '/^Definition sub/s/Imm imm/Imm (imm - 1)/' AArch64 sub_4095
wrong cbnz_is_cbz AArch64.v 's/Not (Equal (Gpr t) (Imm 0))/Equal (Gpr t) (Imm 0)/' AArch64 cbnz
wrong b_from_end AArch64.v '/^Definition b /s/(offset - 4)/offset/' AArch64 b
wrong ret_elsewhere AArch64.v 's/Jump 30/Jump 29/' AArch64 ret

misread register_of_four_bits AArch64.v 's/field word low 5)/field word low 4)/' aarch64_decodes_as_yaxpeax
misread n_field_low AArch64.v 's/register w 5 in/register w 4 in/' aarch64_decodes_as_yaxpeax
misread m_field_high AArch64.v 's/register w 16 in/register w 17 in/' aarch64_decodes_as_yaxpeax
misread bic_is_orn AArch64.v 's/0xffe0fc00, 0x4e601c00/0xffa0fc00, 0x4ea01c00/' aarch64_decodes_as_yaxpeax
misread and_of_half AArch64.v 's/0xffe0fc00, 0x4e201c00/0xbfe0fc00, 0x0e201c00/' aarch64_decodes_as_yaxpeax
misread add_of_other_lanes AArch64.v 's/0xffe0fc00, 0x4ea08400/0xff60fc00, 0x4e208400/' aarch64_decodes_as_yaxpeax
misread add_of_half AArch64.v 's/0xffe0fc00, 0x4ea08400/0xbfe0fc00, 0x0ea08400/' aarch64_decodes_as_yaxpeax
misread umlal_of_other_lanes AArch64.v 's/0xffe0fc00, 0x2ea08000/0xff20fc00, 0x2e208000/' aarch64_decodes_as_yaxpeax
misread umlal_of_upper_half AArch64.v 's/0xffe0fc00, 0x2ea08000/0xbfe0fc00, 0x2ea08000/' aarch64_decodes_as_yaxpeax
misread zip_of_other_lanes AArch64.v 's/0xffe0fc00, 0x4ec03800/0xff20fc00, 0x4e003800/' aarch64_decodes_as_yaxpeax
misread ushr_amount_from_left AArch64.v 's/ushr_2d (d w) (n w) (64 - N.to_nat (field w 16 6))/ushr_2d (d w) (n w) (N.to_nat (field w 16 6))/' aarch64_decodes_as_yaxpeax
misread bic_amount_of_one_bit AArch64.v 's/8 \* field w 13 2/8 * field w 13 1/' aarch64_decodes_as_yaxpeax
misread shl_of_other_lanes AArch64.v 's/0xffe0fc00, 0x4f205400/0xffc0fc00, 0x4f005400/' aarch64_decodes_as_yaxpeax
misread shl_amount_of_four_bits AArch64.v 's/(shl_4s (d w) (n w) (N.to_nat (field w 16 5)))/(shl_4s (d w) (n w) (N.to_nat (field w 16 4)))/' aarch64_decodes_as_yaxpeax
misread sri_amount_from_left AArch64.v 's/(32 - N.to_nat (field w 16 5))/(N.to_nat (field w 16 5))/' aarch64_decodes_as_yaxpeax
misread sri_is_any_shift AArch64.v 's/0xffe0fc00, 0x6f204400/0xdfe0fc00, 0x4f204400/' aarch64_decodes_as_yaxpeax
misread ext_bit_15_ignored AArch64.v 's/0xffe08400/0xffe00400/' aarch64_decodes_as_yaxpeax
misread orr_of_two AArch64.v 's/if (n w =? m w)%nat then \(Some (mov (d w) (n w))\) else None/\1/' aarch64_decodes_as_yaxpeax
misread movi_op_ignored AArch64.v 's/0xfff8fc00, 0x6f00e400/0xdff8fc00, 0x4f00e400/' aarch64_decodes_as_yaxpeax
misread offset_unsigned AArch64.v 's/16 \* signed w 15 7/16 * unsigned w 15 7/' aarch64_decodes_as_yaxpeax
misread offset_unscaled AArch64.v 's/16 \* signed w 15 7/signed w 15 7/' aarch64_decodes_as_yaxpeax
misread one_register_twice AArch64.v 's/if (d w =? t2 w)%nat then None else//' aarch64_decodes_as_yaxpeax
misread pair_scaled AArch64.v 's/8 \* signed w 15 7/16 * signed w 15 7/' aarch64_decodes_as_yaxpeax
misread pair_over_address AArch64.v 's/ || (d w =? n w)%nat//' aarch64_decodes_as_yaxpeax
misread number_31 AArch64.v 's/(r <? 31)/(r <? 32)/' aarch64_decodes_as_yaxpeax
misread shift_ignored AArch64.v 's/0xffc00000, 0x91000000/0xff800000, 0x91000000/' aarch64_decodes_as_yaxpeax
misread cbnz_of_32_bits AArch64.v 's/0xff000000, 0xb5000000/0x7f000000, 0x35000000/' aarch64_decodes_as_yaxpeax
misread return_anywhere AArch64.v 's/0xffffffff, 0xd65f03c0/0xfffffc1f, 0xd65f0000/' aarch64_decodes_as_yaxpeax
