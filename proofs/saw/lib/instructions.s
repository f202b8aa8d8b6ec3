# One function for each form of instruction that occurs in a kernel: void form_NAME(uint64_t m[6]). It works on
# xmm0, xmm1 and rax, which are loaded from m[0..2], m[2..4] and m[4] and stored back. SAW proves what each does in its
# model (x86-64/instructions.saw); tests/assurance/instructions.rs runs the same bytes on the CPU.

.macro begin name
	.p2align 4
	.globl form_\name
	.type form_\name, @function
form_\name:
	vmovdqu (%rdi), %xmm0
	vmovdqu 16(%rdi), %xmm1
	movq 32(%rdi), %rax
.endm

.macro end name
	vmovdqu %xmm0, (%rdi)
	vmovdqu %xmm1, 16(%rdi)
	movq %rax, 32(%rdi)
	ret
	.size form_\name, . - form_\name
.endm

.macro form name, instruction:vararg
	begin \name
	\instruction
	end \name
.endm

form vpxor_register, vpxor %xmm1, %xmm0, %xmm0
form vpxor_memory, vpxor 16(%rdi), %xmm0, %xmm0
form vaesenc_register, vaesenc %xmm1, %xmm0, %xmm0
form vaesenc_memory, vaesenc 16(%rdi), %xmm0, %xmm0
form vmovdqu_register, vmovdqu %xmm1, %xmm0
begin vmovdqu_store_register
	.byte 0xc5, 0xfa, 0x7f, 0xc8 # vmovdqu %xmm1, %xmm0 in its other encoding
end vmovdqu_store_register
form vmovdqu_load, vmovdqu 8(%rdi), %xmm0
begin vmovdqu_store
	vmovdqu %xmm1, 8(%rdi)
	vmovdqu (%rdi), %xmm0
	vmovdqu 16(%rdi), %xmm1
end vmovdqu_store
form vpslldq_8, vpslldq $8, %xmm1, %xmm0
form vpslldq_14, vpslldq $14, %xmm1, %xmm0
form vpsrldq_2, vpsrldq $2, %xmm1, %xmm0
form vpsrldq_14, vpsrldq $14, %xmm1, %xmm0
form vpalignr_14, vpalignr $14, %xmm1, %xmm0, %xmm0
form movq, movq %rax, %xmm0
form movabs, movabsq $0x8100000000000000, %rax
form add_94, addq $94, %rax
form dec, decq %rax
begin cmp_0_ja
	cmpq $0, %rax
	ja 1f
	vmovdqu %xmm1, %xmm0
1:
end cmp_0_ja
begin jmp
	jmp 1f
	vmovdqu %xmm1, %xmm0
1:
end jmp
