# More forms, with the macros of proofs/saw/lib/instructions.s: clearing a register, which has its own definition, and
# constants at the limits.
form vpxor_zero, vpxor %xmm0, %xmm0, %xmm0
form vpslldq_0, vpslldq $0, %xmm1, %xmm0
form vpslldq_15, vpslldq $15, %xmm1, %xmm0
form vpslldq_16, vpslldq $16, %xmm1, %xmm0
form vpslldq_255, vpslldq $255, %xmm1, %xmm0
form vpsrldq_0, vpsrldq $0, %xmm1, %xmm0
form vpsrldq_15, vpsrldq $15, %xmm1, %xmm0
form vpsrldq_16, vpsrldq $16, %xmm1, %xmm0
form vpsrldq_255, vpsrldq $255, %xmm1, %xmm0
form vpalignr_0, vpalignr $0, %xmm1, %xmm0, %xmm0
form vpalignr_15, vpalignr $15, %xmm1, %xmm0, %xmm0
form vpalignr_16, vpalignr $16, %xmm1, %xmm0, %xmm0
form vpalignr_31, vpalignr $31, %xmm1, %xmm0, %xmm0
form vpalignr_255, vpalignr $255, %xmm1, %xmm0, %xmm0

# Jumps in the encoding of the kernels, and what they see of the flags of the instructions before them.
.macro ja_near
	.byte 0x0f, 0x87
	.long 1f - 0f
0:
	vmovdqu %xmm1, %xmm0
1:
.endm
begin add_94_ja_near
	addq $94, %rax
	ja_near
end add_94_ja_near
begin cmp_3_ja_near
	cmpq $3, %rax
	ja_near
end cmp_3_ja_near
begin cmp_3_dec_ja_near
	cmpq $3, %rax
	decq %rax
	ja_near
end cmp_3_dec_ja_near
begin jmp_near
	.byte 0xe9
	.long 1f - 0f
0:
	vmovdqu %xmm1, %xmm0
1:
end jmp_near
begin ret
	leaq 1f(%rip), %rcx
	pushq %rcx
	ret
	vmovdqu %xmm1, %xmm0
1:
end ret

# The flags after each instruction that sets some, as a number: the zero flag, and 256 for the carry. DEC keeps the
# carry of CMP.
.macro flags
	setz %al
	setc %ah
	movzwl %ax, %eax
.endm
begin add_2_flags
	addq $2, %rax
	flags
end add_2_flags
begin add_minus_2_flags
	addq $-2, %rax
	flags
end add_minus_2_flags
begin cmp_3_flags
	cmpq $3, %rax
	flags
end cmp_3_flags
begin dec_flags
	cmpq $3, %rax
	decq %rax
	flags
end dec_flags
begin xor_flags
	cmpq $3, %rax
	xorl %eax, %eax
	flags
end xor_flags

# On whole registers: form_NAME is called by one of the two frames, with zmm0, zmm1 and rax from m[0..8], m[8..16] and
# m[16]. A CPU without AVX-512 has only their lower halves, and zeros in the place of the upper.
.macro frame name, register, load
	.p2align 4
	.globl \name
	.type \name, @function
\name:
	\load (%rdi), \register\()0
	\load 64(%rdi), \register\()1
	movq 128(%rdi), %rax
	callq *%rsi
	\load \register\()0, (%rdi)
	\load \register\()1, 64(%rdi)
	movq %rax, 128(%rdi)
	vzeroupper
	retq
	.size \name, . - \name
.endm
frame in_ymm, %ymm, vmovdqu
frame in_zmm, %zmm, vmovdqu64

.macro wide_begin name
	.p2align 4
	.globl form_\name
	.type form_\name, @function
form_\name:
.endm

.macro wide_end name
	retq
	.ascii "form end"
	.size form_\name, . - form_\name
.endm

.macro wide name, instruction:vararg
	wide_begin \name
	\instruction
	wide_end \name
.endm

# What 16-byte forms do to the higher bytes.
wide vpxor_above, vpxor %xmm1, %xmm0, %xmm0
wide vpxor_zero_above, vpxor %xmm0, %xmm0, %xmm0
wide vaesenc_above, vaesenc %xmm1, %xmm0, %xmm0
wide vmovdqu_register_above, vmovdqu %xmm1, %xmm0
wide vmovdqu_load_above, vmovdqu 8(%rdi), %xmm0
wide vpslldq_above, vpslldq $8, %xmm1, %xmm0
wide vpsrldq_above, vpsrldq $2, %xmm1, %xmm0
wide vpalignr_above, vpalignr $14, %xmm1, %xmm0, %xmm0
wide movq_above, movq %rax, %xmm0

wide vmovdqu_ymm_register, vmovdqu %ymm1, %ymm0
wide_begin vmovdqu_ymm_store_register
	.byte 0xc5, 0xfe, 0x7f, 0xc8 # vmovdqu %ymm1, %ymm0 in its other encoding
wide_end vmovdqu_ymm_store_register
wide vmovdqu_ymm_load, vmovdqu 8(%rdi), %ymm0
# Stores to the image. What is then there goes to the registers, and what was there goes back.
.macro stored name, instruction:vararg
wide_begin \name
	vmovdqu 8(%rdi), %ymm2
	\instruction
	vmovdqu 16(%rdi), %ymm0
	vmovdqu (%rdi), %ymm1
	vmovdqu %ymm2, 8(%rdi)
wide_end \name
.endm
stored vmovdqu_ymm_store, vmovdqu %ymm1, 8(%rdi)
wide vpxor_ymm_register, vpxor %ymm1, %ymm0, %ymm0
wide vpxor_ymm_memory, vpxor 64(%rdi), %ymm0, %ymm0
wide vpxor_ymm_zero, vpxor %ymm0, %ymm0, %ymm0
wide_begin vaesenc_ymm
	vmovdqu %ymm0, %ymm2
	vaesenc %ymm1, %ymm0, %ymm0
	vaesenc 64(%rdi), %ymm2, %ymm1
wide_end vaesenc_ymm
wide vbroadcasti128, vbroadcasti128 8(%rdi), %ymm0

wide vmovdqu64_register, vmovdqu64 %zmm1, %zmm0
wide_begin vmovdqu64_store_register
	.byte 0x62, 0xf1, 0xfe, 0x48, 0x7f, 0xc8 # vmovdqu64 %zmm1, %zmm0 in its other encoding
wide_end vmovdqu64_store_register
wide vmovdqu64_load, vmovdqu64 8(%rdi), %zmm0
wide_begin vmovdqu64_store
	vmovdqu64 %zmm1, 8(%rdi)
	vmovdqu64 (%rdi), %zmm0
	vmovdqu64 64(%rdi), %zmm1
	movq 128(%rdi), %rax
wide_end vmovdqu64_store
wide vpxorq_register, vpxorq %zmm1, %zmm0, %zmm0
wide vpxorq_memory, vpxorq 64(%rdi), %zmm0, %zmm0
wide vpxorq_zero, vpxorq %zmm0, %zmm0, %zmm0
wide_begin vaesenc_zmm
	vmovdqu64 %zmm0, %zmm2
	vaesenc %zmm1, %zmm0, %zmm0
	vaesenc 64(%rdi), %zmm2, %zmm1
wide_end vaesenc_zmm
wide vbroadcasti32x4, vbroadcasti32x4 8(%rdi), %zmm0
wide_begin zmm_high
	vmovdqu64 %zmm1, %zmm17
	vpxorq %zmm17, %zmm0, %zmm31
	vmovdqu64 %zmm31, %zmm0
wide_end zmm_high

# On every 128 bits.
wide vpslldq_ymm_14, vpslldq $14, %ymm1, %ymm0
wide vpsrldq_ymm_2, vpsrldq $2, %ymm1, %ymm0
wide vpsrldq_ymm_14, vpsrldq $14, %ymm1, %ymm0
wide vpalignr_ymm_14, vpalignr $14, %ymm1, %ymm0, %ymm0
wide vpslldq_zmm_14, vpslldq $14, %zmm1, %zmm0
wide vpsrldq_zmm_2, vpsrldq $2, %zmm1, %zmm0
wide vpsrldq_zmm_14, vpsrldq $14, %zmm1, %zmm0
wide vpalignr_zmm_2, vpalignr $2, %zmm1, %zmm0, %zmm0
wide vpalignr_zmm_14, vpalignr $14, %zmm1, %zmm0, %zmm0

# Parts of registers.
wide vinserti128_0, vinserti128 $0, %xmm1, %ymm0, %ymm0
wide vinserti128_1, vinserti128 $1, %xmm1, %ymm0, %ymm0
wide vinserti128_memory_1, vinserti128 $1, 8(%rdi), %ymm0, %ymm0
wide vinserti64x4_0, vinserti64x4 $0, %ymm1, %zmm0, %zmm0
wide vinserti64x4_1, vinserti64x4 $1, %ymm1, %zmm0, %zmm0
wide vinserti64x4_memory_1, vinserti64x4 $1, 8(%rdi), %zmm0, %zmm0
stored vextracti128_0, vextracti128 $0, %ymm1, 8(%rdi)
stored vextracti128_1, vextracti128 $1, %ymm1, 8(%rdi)
wide vshufi64x2_0, vshufi64x2 $0, %zmm1, %zmm0, %zmm0
wide vshufi64x2_27, vshufi64x2 $27, %zmm1, %zmm0, %zmm0
wide vshufi64x2_68, vshufi64x2 $68, %zmm1, %zmm0, %zmm0
wide vshufi64x2_136, vshufi64x2 $136, %zmm1, %zmm0, %zmm0
wide vshufi64x2_221, vshufi64x2 $221, %zmm1, %zmm0, %zmm0
wide vshufi64x2_238, vshufi64x2 $238, %zmm1, %zmm0, %zmm0
wide_begin vpternlogq_xor
	vpsrldq $2, %zmm0, %zmm2
	vpternlogq $0x96, %zmm2, %zmm1, %zmm0
wide_end vpternlogq_xor
wide vmovq, vmovq %rax, %xmm0
wide vzeroall, vzeroall

# Indices and pointers from memory, which the lifter computes itself.
wide_begin vmovdqu_index
	xorl %eax, %eax
	addq $8, %rax
	vmovdqu (%rdi,%rax), %xmm0
wide_end vmovdqu_index
wide_begin xor_index
	xorl %eax, %eax
	vmovdqu (%rdi,%rax), %xmm0
wide_end xor_index
wide_begin mov_pointer
	movq (%rdi), %rcx
	movq %rdi, (%rdi)
	movq (%rdi), %r8
	movq %rcx, (%rdi)
	vmovdqu 16(%r8), %xmm0
wide_end mov_pointer
wide mov_load, movq 8(%rdi), %rax
wide mov_negative, movq $-94, %rax

# On every 32 bits, and moves of them.
wide vprold_zmm_1, vprold $1, %zmm1, %zmm0
wide vprold_zmm_3, vprold $3, %zmm1, %zmm0
wide vprold_zmm_5, vprold $5, %zmm1, %zmm0
wide vprold_zmm_7, vprold $7, %zmm1, %zmm0
wide vprold_zmm_8, vprold $8, %zmm1, %zmm0
wide vprold_zmm_11, vprold $11, %zmm1, %zmm0
wide vprold_zmm_12, vprold $12, %zmm1, %zmm0
wide vprold_zmm_13, vprold $13, %zmm1, %zmm0
wide vprold_zmm_14, vprold $14, %zmm1, %zmm0
wide vprold_zmm_16, vprold $16, %zmm1, %zmm0
wide vprold_zmm_31, vprold $31, %zmm1, %zmm0
wide vpslld_zmm_13, vpslld $13, %zmm1, %zmm0
wide vpslld_zmm_31, vpslld $31, %zmm1, %zmm0
wide vpslld_zmm_32, vpslld $32, %zmm1, %zmm0
wide vpslld_zmm_255, vpslld $255, %zmm1, %zmm0
wide vpsrld_zmm_19, vpsrld $19, %zmm1, %zmm0
wide vpsrld_zmm_31, vpsrld $31, %zmm1, %zmm0
wide vpsrld_zmm_32, vpsrld $32, %zmm1, %zmm0
wide vpsrld_zmm_255, vpsrld $255, %zmm1, %zmm0
wide vpslld_ymm_1, vpslld $1, %ymm1, %ymm0
wide vpslld_ymm_3, vpslld $3, %ymm1, %ymm0
wide vpslld_ymm_5, vpslld $5, %ymm1, %ymm0
wide vpslld_ymm_7, vpslld $7, %ymm1, %ymm0
wide vpslld_ymm_8, vpslld $8, %ymm1, %ymm0
wide vpslld_ymm_11, vpslld $11, %ymm1, %ymm0
wide vpslld_ymm_12, vpslld $12, %ymm1, %ymm0
wide vpslld_ymm_13, vpslld $13, %ymm1, %ymm0
wide vpslld_ymm_14, vpslld $14, %ymm1, %ymm0
wide vpslld_ymm_16, vpslld $16, %ymm1, %ymm0
wide vpslld_ymm_32, vpslld $32, %ymm1, %ymm0
wide vpsrld_ymm_31, vpsrld $31, %ymm1, %ymm0
wide vpsrld_ymm_29, vpsrld $29, %ymm1, %ymm0
wide vpsrld_ymm_27, vpsrld $27, %ymm1, %ymm0
wide vpsrld_ymm_25, vpsrld $25, %ymm1, %ymm0
wide vpsrld_ymm_24, vpsrld $24, %ymm1, %ymm0
wide vpsrld_ymm_21, vpsrld $21, %ymm1, %ymm0
wide vpsrld_ymm_20, vpsrld $20, %ymm1, %ymm0
wide vpsrld_ymm_19, vpsrld $19, %ymm1, %ymm0
wide vpsrld_ymm_18, vpsrld $18, %ymm1, %ymm0
wide vpsrld_ymm_16, vpsrld $16, %ymm1, %ymm0
wide vpsrld_ymm_32, vpsrld $32, %ymm1, %ymm0
wide vpor_ymm_register, vpor %ymm1, %ymm0, %ymm0
wide vpor_ymm_memory, vpor 64(%rdi), %ymm0, %ymm0
wide vpandn_ymm_register, vpandn %ymm1, %ymm0, %ymm0
wide vpandn_ymm_memory, vpandn 64(%rdi), %ymm0, %ymm0
wide vpand_ymm_register, vpand %ymm1, %ymm0, %ymm0
wide vpand_ymm_memory, vpand 64(%rdi), %ymm0, %ymm0
wide vpunpckldq_ymm, vpunpckldq %ymm1, %ymm0, %ymm0
wide vpunpckldq_zmm, vpunpckldq %zmm1, %zmm0, %zmm0
wide vpunpckhdq_ymm, vpunpckhdq %ymm1, %ymm0, %ymm0
wide vpunpckhdq_zmm, vpunpckhdq %zmm1, %zmm0, %zmm0
wide vpunpcklqdq_ymm, vpunpcklqdq %ymm1, %ymm0, %ymm0
wide vpunpcklqdq_zmm, vpunpcklqdq %zmm1, %zmm0, %zmm0
wide vpunpckhqdq_ymm, vpunpckhqdq %ymm1, %ymm0, %ymm0
wide vpunpckhqdq_zmm, vpunpckhqdq %zmm1, %zmm0, %zmm0
wide vpshufd_ymm_27, vpshufd $27, %ymm1, %ymm0
wide vpshufd_ymm_57, vpshufd $57, %ymm1, %ymm0
wide vpshufd_ymm_78, vpshufd $78, %ymm1, %ymm0
wide vpshufd_ymm_147, vpshufd $147, %ymm1, %ymm0
wide vperm2i128_3, vperm2i128 $3, %ymm1, %ymm0, %ymm0
wide vperm2i128_8, vperm2i128 $8, %ymm1, %ymm0, %ymm0
wide vperm2i128_32, vperm2i128 $32, %ymm1, %ymm0, %ymm0
wide vperm2i128_49, vperm2i128 $49, %ymm1, %ymm0, %ymm0
wide vperm2i128_136, vperm2i128 $136, %ymm1, %ymm0, %ymm0
wide vpermd_register, vpermd %zmm1, %zmm0, %zmm0
wide vpermd_memory, vpermd 64(%rdi), %zmm0, %zmm0
wide valignd_0, valignd $0, %zmm1, %zmm0, %zmm0
wide valignd_1, valignd $1, %zmm1, %zmm0, %zmm0
wide valignd_2, valignd $2, %zmm1, %zmm0, %zmm0
wide valignd_3, valignd $3, %zmm1, %zmm0, %zmm0
wide valignd_4, valignd $4, %zmm1, %zmm0, %zmm0
wide valignd_5, valignd $5, %zmm1, %zmm0, %zmm0
wide valignd_6, valignd $6, %zmm1, %zmm0, %zmm0
wide valignd_7, valignd $7, %zmm1, %zmm0, %zmm0
wide valignd_8, valignd $8, %zmm1, %zmm0, %zmm0
wide valignd_9, valignd $9, %zmm1, %zmm0, %zmm0
wide valignd_10, valignd $10, %zmm1, %zmm0, %zmm0
wide valignd_11, valignd $11, %zmm1, %zmm0, %zmm0
wide valignd_12, valignd $12, %zmm1, %zmm0, %zmm0
wide valignd_13, valignd $13, %zmm1, %zmm0, %zmm0
wide valignd_14, valignd $14, %zmm1, %zmm0, %zmm0
wide valignd_15, valignd $15, %zmm1, %zmm0, %zmm0
wide valignd_17, valignd $17, %zmm1, %zmm0, %zmm0
wide_begin vpternlogq_xor_andn
	vpsrldq $2, %zmm0, %zmm2
	vpternlogq $0xd2, %zmm2, %zmm1, %zmm0
wide_end vpternlogq_xor_andn
wide_begin vpternlogq_xor_and
	vpsrldq $2, %zmm0, %zmm2
	vpternlogq $0x78, %zmm2, %zmm1, %zmm0
wide_end vpternlogq_xor_and
wide vshufi64x2_36, vshufi64x2 $36, %zmm1, %zmm0, %zmm0
wide vshufi64x2_73, vshufi64x2 $73, %zmm1, %zmm0, %zmm0
wide vshufi64x2_78, vshufi64x2 $78, %zmm1, %zmm0, %zmm0
wide vshufi64x2_146, vshufi64x2 $146, %zmm1, %zmm0, %zmm0
wide vshufi64x2_177, vshufi64x2 $177, %zmm1, %zmm0, %zmm0
wide_begin vpternlogq_memory
	vpternlogq $0x96, 64(%rdi), %zmm0, %zmm0
wide_end vpternlogq_memory

# A constant of 32 bits, and its sign.
wide add_768, addq $768, %rax
wide add_negative, addq $-768, %rax

# Arithmetic, copies and moves of bytes.
wide vpaddd_ymm_register, vpaddd %ymm1, %ymm0, %ymm0
wide vpaddd_ymm_memory, vpaddd 64(%rdi), %ymm0, %ymm0
wide vpaddd_zmm_register, vpaddd %zmm1, %zmm0, %zmm0
wide vpaddd_zmm_memory, vpaddd 64(%rdi), %zmm0, %zmm0
wide vpaddq_ymm_register, vpaddq %ymm1, %ymm0, %ymm0
wide vpaddq_ymm_memory, vpaddq 64(%rdi), %ymm0, %ymm0
wide vpaddq_zmm_register, vpaddq %zmm1, %zmm0, %zmm0
wide vpaddq_zmm_memory, vpaddq 64(%rdi), %zmm0, %zmm0
wide vpmuludq_ymm_register, vpmuludq %ymm1, %ymm0, %ymm0
wide vpmuludq_ymm_memory, vpmuludq 64(%rdi), %ymm0, %ymm0
wide vpmuludq_zmm_register, vpmuludq %zmm1, %zmm0, %zmm0
wide vpmuludq_zmm_memory, vpmuludq 64(%rdi), %zmm0, %zmm0
wide vpbroadcastd_ymm, vpbroadcastd 68(%rdi), %ymm0
wide vpbroadcastd_zmm, vpbroadcastd 68(%rdi), %zmm0
wide vpshufb_ymm_register, vpshufb %ymm1, %ymm0, %ymm0
wide vpshufb_ymm_memory, vpshufb 64(%rdi), %ymm0, %ymm0

# Constants of the kernels of ChaCha.
wide movabs_16, movabsq $16, %rax
wide add_1024, addq $1024, %rax
wide movabs_1, movabsq $1, %rax
wide movabs_2, movabsq $2, %rax
wide movabs_0504070601000302, movabsq $0x0504070601000302, %rax
wide movabs_0d0c0f0e09080b0a, movabsq $0x0d0c0f0e09080b0a, %rax
wide movabs_0605040702010003, movabsq $0x0605040702010003, %rax
wide movabs_0e0d0c0f0a09080b, movabsq $0x0e0d0c0f0a09080b, %rax
wide add_384, addq $384, %rax
wide vpalignr_ymm_4, vpalignr $4, %ymm1, %ymm0, %ymm0
wide vpalignr_ymm_8, vpalignr $8, %ymm1, %ymm0, %ymm0
wide vperm2i128_33, vperm2i128 $33, %ymm1, %ymm0, %ymm0
wide add_192, addq $192, %rax
wide vpshufd_ymm_16, vpshufd $16, %ymm1, %ymm0
wide vpshufd_ymm_50, vpshufd $50, %ymm1, %ymm0
wide vpshufd_zmm_16, vpshufd $16, %zmm1, %zmm0
wide vpshufd_zmm_50, vpshufd $50, %zmm1, %zmm0
wide vpshufd_zmm_147, vpshufd $147, %zmm1, %zmm0
wide vpshufd_zmm_216, vpshufd $216, %zmm1, %zmm0
wide add_16, addq $16, %rax

# Of 128 bits: the rest of the register becomes zero. And a move by three words.
wide vpslld_xmm_1, vpslld $1, %xmm1, %xmm0
wide vpslld_xmm_3, vpslld $3, %xmm1, %xmm0
wide vpslld_xmm_5, vpslld $5, %xmm1, %xmm0
wide vpslld_xmm_11, vpslld $11, %xmm1, %xmm0
wide vpslld_xmm_13, vpslld $13, %xmm1, %xmm0
wide vpslld_xmm_14, vpslld $14, %xmm1, %xmm0
wide vpslld_xmm_32, vpslld $32, %xmm1, %xmm0
wide vpsrld_xmm_31, vpsrld $31, %xmm1, %xmm0
wide vpsrld_xmm_29, vpsrld $29, %xmm1, %xmm0
wide vpsrld_xmm_27, vpsrld $27, %xmm1, %xmm0
wide vpsrld_xmm_21, vpsrld $21, %xmm1, %xmm0
wide vpsrld_xmm_19, vpsrld $19, %xmm1, %xmm0
wide vpsrld_xmm_18, vpsrld $18, %xmm1, %xmm0
wide vpsrld_xmm_32, vpsrld $32, %xmm1, %xmm0
wide vpor_xmm_register, vpor %xmm1, %xmm0, %xmm0
wide vpor_xmm_memory, vpor 64(%rdi), %xmm0, %xmm0
wide vpandn_xmm_register, vpandn %xmm1, %xmm0, %xmm0
wide vpandn_xmm_memory, vpandn 64(%rdi), %xmm0, %xmm0
wide vpand_xmm_register, vpand %xmm1, %xmm0, %xmm0
wide vpand_xmm_memory, vpand 64(%rdi), %xmm0, %xmm0
wide vpshufb_xmm_register, vpshufb %xmm1, %xmm0, %xmm0
wide vpshufb_xmm_memory, vpshufb 64(%rdi), %xmm0, %xmm0
wide vpshufd_xmm_27, vpshufd $27, %xmm1, %xmm0
wide vpshufd_xmm_147, vpshufd $147, %xmm1, %xmm0
wide vpslld_xmm_7, vpslld $7, %xmm1, %xmm0
wide vpslld_xmm_12, vpslld $12, %xmm1, %xmm0
wide vpsrld_xmm_25, vpsrld $25, %xmm1, %xmm0
wide vpsrld_xmm_20, vpsrld $20, %xmm1, %xmm0
wide vpaddd_xmm_register, vpaddd %xmm1, %xmm0, %xmm0
wide vpaddd_xmm_memory, vpaddd 64(%rdi), %xmm0, %xmm0
wide vpaddq_xmm_register, vpaddq %xmm1, %xmm0, %xmm0
wide vpaddq_xmm_memory, vpaddq 64(%rdi), %xmm0, %xmm0
wide vpunpcklqdq_xmm, vpunpcklqdq %xmm1, %xmm0, %xmm0
wide vpshufd_xmm_57, vpshufd $57, %xmm1, %xmm0
wide vpshufd_xmm_78, vpshufd $78, %xmm1, %xmm0
wide vpsrldq_xmm_7, vpsrldq $7, %xmm1, %xmm0
wide movabs_0100000000000000, movabsq $0x0100000000000000, %rax
wide vpalignr_xmm_4, vpalignr $4, %xmm1, %xmm0, %xmm0
wide vpalignr_xmm_8, vpalignr $8, %xmm1, %xmm0, %xmm0
wide vpalignr_ymm_12, vpalignr $12, %ymm1, %ymm0, %ymm0

# Shifts of words of 64 bits, and constants of the kernel of Poly1305.
wide vpsllq_ymm_2, vpsllq $2, %ymm1, %ymm0
wide vpsllq_ymm_12, vpsllq $12, %ymm1, %ymm0
wide vpsllq_ymm_64, vpsllq $64, %ymm1, %ymm0
wide vpsllq_ymm_255, vpsllq $255, %ymm1, %ymm0
wide vpsrlq_ymm_14, vpsrlq $14, %ymm1, %ymm0
wide vpsrlq_ymm_26, vpsrlq $26, %ymm1, %ymm0
wide vpsrlq_ymm_40, vpsrlq $40, %ymm1, %ymm0
wide vpsrlq_ymm_52, vpsrlq $52, %ymm1, %ymm0
wide vpsrlq_ymm_64, vpsrlq $64, %ymm1, %ymm0
wide vpsrlq_ymm_255, vpsrlq $255, %ymm1, %ymm0
wide movabs_3ffffff, movabsq $0x3ffffff, %rax
wide movabs_1000000, movabsq $0x1000000, %rax
wide add_64, addq $64, %rax
wide add_128, addq $128, %rax

# Products of 52 bits, shifts and masks of whole registers, and constants of the kernel of Poly1305 for them.
wide vpmadd52luq_register, vpmadd52luq %zmm1, %zmm0, %zmm0
wide vpmadd52luq_memory, vpmadd52luq 64(%rdi), %zmm0, %zmm0
wide_begin vpmadd52luq_three
	vpsrldq $2, %zmm0, %zmm2
	vpmadd52luq %zmm2, %zmm1, %zmm0
wide_end vpmadd52luq_three
wide vpmadd52huq_register, vpmadd52huq %zmm1, %zmm0, %zmm0
wide vpmadd52huq_memory, vpmadd52huq 64(%rdi), %zmm0, %zmm0
wide_begin vpmadd52huq_three
	vpsrldq $2, %zmm0, %zmm2
	vpmadd52huq %zmm2, %zmm1, %zmm0
wide_end vpmadd52huq_three
wide vpsllq_zmm_2, vpsllq $2, %zmm1, %zmm0
wide vpsllq_zmm_8, vpsllq $8, %zmm1, %zmm0
wide vpsllq_zmm_10, vpsllq $10, %zmm1, %zmm0
wide vpsllq_zmm_20, vpsllq $20, %zmm1, %zmm0
wide vpsllq_zmm_40, vpsllq $40, %zmm1, %zmm0
wide vpsllq_zmm_64, vpsllq $64, %zmm1, %zmm0
wide vpsllq_zmm_255, vpsllq $255, %zmm1, %zmm0
wide vpsrlq_zmm_2, vpsrlq $2, %zmm1, %zmm0
wide vpsrlq_zmm_24, vpsrlq $24, %zmm1, %zmm0
wide vpsrlq_zmm_32, vpsrlq $32, %zmm1, %zmm0
wide vpsrlq_zmm_42, vpsrlq $42, %zmm1, %zmm0
wide vpsrlq_zmm_43, vpsrlq $43, %zmm1, %zmm0
wide vpsrlq_zmm_44, vpsrlq $44, %zmm1, %zmm0
wide vpsrlq_zmm_64, vpsrlq $64, %zmm1, %zmm0
wide vpsrlq_zmm_255, vpsrlq $255, %zmm1, %zmm0
wide vpandq_register, vpandq %zmm1, %zmm0, %zmm0
wide vpandq_memory, vpandq 64(%rdi), %zmm0, %zmm0
wide movabs_fffffffffff, movabsq $0xfffffffffff, %rax
wide add_256, addq $256, %rax
