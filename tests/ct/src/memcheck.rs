//! The requests to valgrind's memcheck that this program makes: marking memory undefined (secret) and defined (public).
//! Outside valgrind they do nothing.

use std::arch::asm;

const RUNNING_ON_VALGRIND: usize = 0x1001;
const COUNT_ERRORS: usize = 0x1201;
const MEMCHECK: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;
const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;

/// The sequence of instructions that valgrind recognises, as `valgrind.h` defines it.
fn request(arguments: [usize; 6]) -> usize {
    let result;
    // SAFETY: without valgrind, the rotations add up to 128 bits and the exchange swaps a register with itself. With
    // valgrind, the requests above change only valgrind's own records.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdx") 0usize => result,
            in("rax") &raw const arguments,
            inout("rdi") 0usize => _,
        );
    }
    result
}

pub fn is_running() -> bool {
    request([RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0]) != 0
}

/// How many errors memcheck has found.
pub fn errors() -> usize {
    request([COUNT_ERRORS, 0, 0, 0, 0, 0])
}

/// From now on, a branch or an address that depends on these bytes is an error.
pub fn secret(bytes: &mut [u8]) {
    request([
        MAKE_MEM_UNDEFINED,
        bytes.as_mut_ptr().addr(),
        bytes.len(),
        0,
        0,
        0,
    ]);
}

/// From now on, these bytes are public.
pub fn public(bytes: &mut [u8]) {
    request([MAKE_MEM_DEFINED, bytes.as_mut_ptr().addr(), bytes.len(), 0, 0, 0]);
}
