# More forms, with the macros of proofs/saw/instructions.s: the clearing of a register, which is a definition of its own,
# and constants at the edges.
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
