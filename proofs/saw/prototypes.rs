//! The C prototypes of the kernels, compiled to LLVM bitcode: SAW takes the types of a kernel's arguments from here.
#![no_std]

unsafe extern "C" {
    fn permute(state: *mut u8, round_constants: *const u8);
    fn absorb_blocks(state: *mut u8, input: *const u8, n: usize, round_constants: *const u8);
    fn squeeze_blocks(state: *mut u8, output: *mut u8, n: usize, round_constants: *const u8);
    fn encrypt_blocks(state: *mut u8, input: *const u8, output: *mut u8, n: usize, round_constants: *const u8);
    fn decrypt_blocks(state: *mut u8, input: *const u8, output: *mut u8, n: usize, round_constants: *const u8);
}

/// Keeps the declarations in the module.
///
/// # Safety
/// Never called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prototypes(p: *mut u8) {
    unsafe {
        permute(p, p);
        absorb_blocks(p, p, 0, p);
        squeeze_blocks(p, p, 0, p);
        encrypt_blocks(p, p, p, 0, p);
        decrypt_blocks(p, p, p, 0, p);
    }
}
