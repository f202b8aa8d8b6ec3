//! The C prototypes of the kernels, compiled to LLVM bitcode: SAW takes the types of a kernel's arguments from here.
#![no_std]

unsafe extern "C" {
    fn permute(state: *mut u8, round_constants: *const u8);
    fn absorb_blocks(state: *mut u8, input: *const u8, n: usize, round_constants: *const u8);
    fn squeeze_blocks(state: *mut u8, output: *mut u8, n: usize, round_constants: *const u8);
    fn encrypt_blocks(state: *mut u8, input: *const u8, output: *mut u8, n: usize, round_constants: *const u8);
    fn decrypt_blocks(state: *mut u8, input: *const u8, output: *mut u8, n: usize, round_constants: *const u8);

    // the bulk kernels, cut at the head of their loops
    fn absorb_blocks_enter(state: *mut u8, data: *mut u8, n: usize, table: *const u8, r8: usize, r9: *mut u8);
    fn absorb_blocks_step(state: *mut u8, data: *mut u8, n: usize, table: *const u8, r8: usize, r9: *mut u8);
    fn absorb_blocks_leave(state: *mut u8, data: *mut u8, n: usize, table: *const u8, r8: usize, r9: *mut u8);
    fn squeeze_blocks_enter(state: *mut u8, data: *mut u8, n: usize, table: *const u8, r8: usize, r9: *mut u8);
    fn squeeze_blocks_step(state: *mut u8, data: *mut u8, n: usize, table: *const u8, r8: usize, r9: *mut u8);
    fn squeeze_blocks_leave(state: *mut u8, data: *mut u8, n: usize, table: *const u8, r8: usize, r9: *mut u8);
    fn encrypt_blocks_enter(state: *mut u8, input: *const u8, output: *mut u8, n: usize, table: *const u8, r9: *mut u8);
    fn encrypt_blocks_step(state: *mut u8, input: *const u8, output: *mut u8, n: usize, table: *const u8, r9: *mut u8);
    fn encrypt_blocks_leave(state: *mut u8, input: *const u8, output: *mut u8, n: usize, table: *const u8, r9: *mut u8);
    fn decrypt_blocks_enter(state: *mut u8, input: *const u8, output: *mut u8, n: usize, table: *const u8, r9: *mut u8);
    fn decrypt_blocks_step(state: *mut u8, input: *const u8, output: *mut u8, n: usize, table: *const u8, r9: *mut u8);
    fn decrypt_blocks_leave(state: *mut u8, input: *const u8, output: *mut u8, n: usize, table: *const u8, r9: *mut u8);

    // instructions.s
    fn form_vpxor_register(m: *mut u64);
    fn form_vpxor_memory(m: *mut u64);
    fn form_vaesenc_register(m: *mut u64);
    fn form_vaesenc_memory(m: *mut u64);
    fn form_vmovdqu_register(m: *mut u64);
    fn form_vmovdqu_store_register(m: *mut u64);
    fn form_vmovdqu_load(m: *mut u64);
    fn form_vmovdqu_store(m: *mut u64);
    fn form_vpslldq_8(m: *mut u64);
    fn form_vpslldq_14(m: *mut u64);
    fn form_vpsrldq_2(m: *mut u64);
    fn form_vpsrldq_14(m: *mut u64);
    fn form_vpalignr_14(m: *mut u64);
    fn form_movq(m: *mut u64);
    fn form_movabs(m: *mut u64);
    fn form_add_94(m: *mut u64);
    fn form_dec(m: *mut u64);
    fn form_cmp_0_ja(m: *mut u64);
    fn form_jmp(m: *mut u64);
}

/// Keeps the declarations in the module.
///
/// # Safety
/// Never called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prototypes(p: *mut u8, m: *mut u64) {
    unsafe {
        permute(p, p);
        absorb_blocks(p, p, 0, p);
        squeeze_blocks(p, p, 0, p);
        encrypt_blocks(p, p, p, 0, p);
        decrypt_blocks(p, p, p, 0, p);
        absorb_blocks_enter(p, p, 0, p, 0, p);
        absorb_blocks_step(p, p, 0, p, 0, p);
        absorb_blocks_leave(p, p, 0, p, 0, p);
        squeeze_blocks_enter(p, p, 0, p, 0, p);
        squeeze_blocks_step(p, p, 0, p, 0, p);
        squeeze_blocks_leave(p, p, 0, p, 0, p);
        encrypt_blocks_enter(p, p, p, 0, p, p);
        encrypt_blocks_step(p, p, p, 0, p, p);
        encrypt_blocks_leave(p, p, p, 0, p, p);
        decrypt_blocks_enter(p, p, p, 0, p, p);
        decrypt_blocks_step(p, p, p, 0, p, p);
        decrypt_blocks_leave(p, p, p, 0, p, p);
        form_vpxor_register(m);
        form_vpxor_memory(m);
        form_vaesenc_register(m);
        form_vaesenc_memory(m);
        form_vmovdqu_register(m);
        form_vmovdqu_store_register(m);
        form_vmovdqu_load(m);
        form_vmovdqu_store(m);
        form_vpslldq_8(m);
        form_vpslldq_14(m);
        form_vpsrldq_2(m);
        form_vpsrldq_14(m);
        form_vpalignr_14(m);
        form_movq(m);
        form_movabs(m);
        form_add_94(m);
        form_dec(m);
        form_cmp_0_ja(m);
        form_jmp(m);
    }
}
