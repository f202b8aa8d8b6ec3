/* One function for each form of instruction: void form_NAME(uint64_t m[6]). It works on v0, v1 and x1, which it loads
 * from m[0..2], m[2..4] and m[4] and stores back. Forms that use memory use these same 40 bytes. What each form must do
 * is in spec/cryptol/test/FormsAArch64.cry. */

	.arch_extension aes

.macro form_load
	ldp	q0, q1, [x0]
	ldr	x1, [x0, #32]
.endm

.macro form_begin name
	.p2align 2
	.globl	form_\name
	.type	form_\name, @function
form_\name:
	form_load
.endm

.macro form_end name
	stp	q0, q1, [x0]
	str	x1, [x0, #32]
	ret
	.size	form_\name, . - form_\name
.endm

.macro form name, instruction:vararg
	form_begin \name
	\instruction
	form_end \name
.endm

form aese, aese v0.16b, v1.16b
form aesmc, aesmc v0.16b, v1.16b
form eor, eor v0.16b, v0.16b, v1.16b
form ext_0, ext v0.16b, v0.16b, v1.16b, #0
form ext_1, ext v0.16b, v0.16b, v1.16b, #1
form ext_2, ext v0.16b, v0.16b, v1.16b, #2
form ext_4, ext v0.16b, v0.16b, v1.16b, #4
form ext_8, ext v0.16b, v0.16b, v1.16b, #8
form ext_12, ext v0.16b, v0.16b, v1.16b, #12
form ext_14, ext v0.16b, v0.16b, v1.16b, #14
form ext_15, ext v0.16b, v0.16b, v1.16b, #15
form and_16b, and v0.16b, v0.16b, v1.16b
form bic, bic v0.16b, v0.16b, v1.16b
form add_4s, add v0.4s, v0.4s, v1.4s
form add_2d, add v0.2d, v0.2d, v1.2d
form umlal_2d, umlal v0.2d, v0.2s, v1.2s
form umlal2_2d, umlal2 v0.2d, v0.4s, v1.4s
form umull_2d, umull v0.2d, v0.2s, v1.2s
form umull2_2d, umull2 v0.2d, v0.4s, v1.4s
form uzp1_4s, uzp1 v0.4s, v0.4s, v1.4s
form trn1_4s, trn1 v0.4s, v0.4s, v1.4s
form zip1_2d, zip1 v0.2d, v0.2d, v1.2d
form zip2_2d, zip2 v0.2d, v0.2d, v1.2d
form bic_4s_0xfc_24, bic v0.4s, #0xfc, lsl #24
form bic_4s_0xa5_0, bic v0.4s, #0xa5
form shl_2d_0, shl v0.2d, v1.2d, #0
form shl_2d_2, shl v0.2d, v1.2d, #2
form shl_2d_63, shl v0.2d, v1.2d, #63
form ushr_2d_1, ushr v0.2d, v1.2d, #1
form ushr_2d_26, ushr v0.2d, v1.2d, #26
form ushr_2d_38, ushr v0.2d, v1.2d, #38
form ushr_2d_64, ushr v0.2d, v1.2d, #64
form usra_2d_1, usra v0.2d, v1.2d, #1
form usra_2d_26, usra v0.2d, v1.2d, #26
form usra_2d_64, usra v0.2d, v1.2d, #64
form shl_0, shl v0.4s, v1.4s, #0
form shl_1, shl v0.4s, v1.4s, #1
form shl_3, shl v0.4s, v1.4s, #3
form shl_5, shl v0.4s, v1.4s, #5
form shl_6, shl v0.4s, v1.4s, #6
form shl_7, shl v0.4s, v1.4s, #7
form shl_8, shl v0.4s, v1.4s, #8
form shl_11, shl v0.4s, v1.4s, #11
form shl_12, shl v0.4s, v1.4s, #12
form shl_13, shl v0.4s, v1.4s, #13
form shl_14, shl v0.4s, v1.4s, #14
form shl_16, shl v0.4s, v1.4s, #16
form shl_18, shl v0.4s, v1.4s, #18
form shl_31, shl v0.4s, v1.4s, #31
form sri_1, sri v0.4s, v1.4s, #1
form sri_8, sri v0.4s, v1.4s, #8
form sri_14, sri v0.4s, v1.4s, #14
form sri_16, sri v0.4s, v1.4s, #16
form sri_18, sri v0.4s, v1.4s, #18
form sri_19, sri v0.4s, v1.4s, #19
form sri_20, sri v0.4s, v1.4s, #20
form sri_21, sri v0.4s, v1.4s, #21
form sri_24, sri v0.4s, v1.4s, #24
form sri_25, sri v0.4s, v1.4s, #25
form sri_26, sri v0.4s, v1.4s, #26
form sri_27, sri v0.4s, v1.4s, #27
form sri_29, sri v0.4s, v1.4s, #29
form sri_31, sri v0.4s, v1.4s, #31
form sri_32, sri v0.4s, v1.4s, #32
form mov, mov v0.16b, v1.16b
form movi_2d_0, movi v0.2d, #0
form movi_2d_0xa5, movi v0.2d, #0xff00ff0000ff00ff
form movi_8h_0x81_8, movi v0.8h, #0x81, lsl #8
form movi_8h_0x81_0, movi v0.8h, #0x81
form movi_8h_1_0, movi v0.8h, #1
form movi_8h_1_8, movi v0.8h, #1, lsl #8
form movi_2d_0xff, movi v0.2d, #0xffffffffffffffff

// At byte 8 of the 40, with the smallest and the largest offset that the instruction allows.
form_begin ldp_least
	add	x2, x0, #1032
	ldp	q0, q1, [x2, #-1024]
form_end ldp_least
form_begin ldp_most
	sub	x2, x0, #1000
	ldp	q0, q1, [x2, #1008]
form_end ldp_most
form_begin ldp_x_first
	ldp	x1, x2, [x0, #8]
form_end ldp_x_first
form_begin ldp_x_second
	ldp	x2, x1, [x0, #8]
form_end ldp_x_second
form_begin stp_least
	add	x2, x0, #1032
	stp	q0, q1, [x2, #-1024]
	form_load
form_end stp_least
form_begin stp_most
	sub	x2, x0, #1000
	stp	q0, q1, [x2, #1008]
	form_load
form_end stp_most
// v0, v1, v1 and v0, in memory behind the 40 bytes. Of the four registers, two at a time.
.macro form_ld4 name, first, second
form_begin \name
	stp	q0, q1, [x0, #48]
	stp	q1, q0, [x0, #80]
	add	x2, x0, #48
	ld4	{v2.4s, v3.4s, v4.4s, v5.4s}, [x2]
	mov	v0.16b, v\first\().16b
	mov	v1.16b, v\second\().16b
form_end \name
.endm
form_ld4 ld4_low, 2, 3
form_ld4 ld4_high, 4, 5
// At byte 13.
form_begin ldur_least
	add	x2, x0, #269
	ldur	q0, [x2, #-256]
form_end ldur_least
form_begin ldur_most
	sub	x2, x0, #242
	ldur	q0, [x2, #255]
form_end ldur_most
form_begin stur_least
	add	x2, x0, #269
	stur	q1, [x2, #-256]
	form_load
form_end stur_least
form_begin stur_most
	sub	x2, x0, #242
	stur	q1, [x2, #255]
	form_load
form_end stur_most

form add_16, add x1, x1, #16
form add_64, add x1, x1, #64
form add_94, add x1, x1, #94
form add_128, add x1, x1, #128
form add_192, add x1, x1, #192
form add_256, add x1, x1, #256
form add_4095, add x1, x1, #4095
form sub_1, sub x1, x1, #1
form sub_4095, sub x1, x1, #4095

// If the branch is taken, v0 does not change.
form_begin cbnz
	cbnz	x1, 1f
	mov	v0.16b, v1.16b
1:
form_end cbnz
form_begin b
	b	1f
	mov	v0.16b, v1.16b
1:
form_end b
form_begin ret
	mov	x2, x30
	adr	x30, 1f
	ret
	mov	v0.16b, v1.16b
1:
	mov	x30, x2
form_end ret

	.purgem form_load
	.purgem form_begin
	.purgem form_end
	.purgem form
	.purgem form_ld4
