//! What an AArch64 kernel must not do, by the procedure call standard (AAPCS64) and by the kernels' banners.

use std::arch::naked_asm;
use std::mem::offset_of;
use std::ptr;
use std::sync::{Mutex, PoisonError};

/// For x19 to x29.
const CALLEE_SAVED: [u64; 11] = [
    0x1111_1111_1111_1111,
    0x2222_2222_2222_2222,
    0x3333_3333_3333_3333,
    0x4444_4444_4444_4444,
    0x5555_5555_5555_5555,
    0x6666_6666_6666_6666,
    0x7777_7777_7777_7777,
    0x8888_8888_8888_8888,
    0x9999_9999_9999_9999,
    0xaaaa_aaaa_aaaa_aaaa,
    0xbbbb_bbbb_bbbb_bbbb,
];
/// For x18, which belongs to the platform. On Linux it is an ordinary register; some systems may change it any time.
const PLATFORM: u64 = 0xcccc_cccc_cccc_cccc;
const STACK: u64 = 0xa5a5_a5a5_a5a5_a5a5;
const ONES: [u64; 2] = [u64::MAX; 2];
const WORDS_BELOW: usize = 512;
const WORDS_ABOVE: usize = 8;

/// One observed call: its inputs, and what the trampoline saw afterwards.
#[repr(C, align(16))]
#[derive(Clone)]
struct Call {
    vectors: [[u64; 2]; 32],
    function: *const (),
    arguments: [usize; 6],
    stack: u64,
    /// x19 to x29, before and after.
    callee_saved: [u64; 11],
    /// x18, before and after.
    platform: u64,
    /// The difference between x30 and the return address afterwards.
    link: u64,
    /// Before and after.
    stack_pointer: [u64; 2],
    fpcr: [u64; 2],
    /// The stack below the frame, and the caller's stack.
    below: [u64; WORDS_BELOW],
    above: [u64; WORDS_ABOVE],
}

static mut CURRENT: *mut Call = ptr::null_mut();

#[cfg(not(target_vendor = "apple"))]
macro_rules! address_of_current {
    ($register:literal) => {
        concat!(
            "adrp ",
            $register,
            ", {current}\n add ",
            $register,
            ", ",
            $register,
            ", :lo12:{current}"
        )
    };
}
#[cfg(target_vendor = "apple")]
macro_rules! address_of_current {
    ($register:literal) => {
        concat!(
            "adrp ",
            $register,
            ", {current}@PAGE\n add ",
            $register,
            ", ",
            $register,
            ", {current}@PAGEOFF"
        )
    };
}

#[cfg(target_os = "linux")]
macro_rules! on_linux {
    ($instruction:literal) => {
        $instruction
    };
}
#[cfg(not(target_os = "linux"))]
macro_rules! on_linux {
    ($instruction:literal) => {
        concat!("// ", $instruction)
    };
}

/// Sets every callee-saved register, every vector register and the stack above and below the frame, calls the function,
/// and records what they hold afterwards.
#[unsafe(naked)]
unsafe extern "C" fn observe(call: *mut Call) {
    naked_asm!(
        "stp x29, x30, [sp, #-160]!",
        "stp x19, x20, [sp, #16]", "stp x21, x22, [sp, #32]", "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]", "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]", "stp d10, d11, [sp, #112]", "stp d12, d13, [sp, #128]", "stp d14, d15, [sp, #144]",
        address_of_current!("x9"), "str x0, [x9]",
        "ldr x10, [x0, #{stack}]",
        "sub sp, sp, #8 * {words_above}",
        "mov x11, sp",
        ".rept {words_above}", "str x10, [x11], #8", ".endr",
        "mov x12, sp",
        "sub x11, x12, #8 * {words_below}",
        "2: str x10, [x11], #8", "cmp x11, x12", "b.ne 2b",
        "str x12, [x0, #{stack_pointer}]",
        "mrs x10, fpcr", "str x10, [x0, #{fpcr}]",
        ".irp v, v0.2d, v1.2d, v2.2d, v3.2d, v4.2d, v5.2d, v6.2d, v7.2d, v8.2d, v9.2d, v10.2d, v11.2d, v12.2d",
        "movi \\v, #0xffffffffffffffff", ".endr",
        ".irp v, v13.2d, v14.2d, v15.2d, v16.2d, v17.2d, v18.2d, v19.2d, v20.2d, v21.2d, v22.2d, v23.2d, v24.2d",
        "movi \\v, #0xffffffffffffffff", ".endr",
        ".irp v, v25.2d, v26.2d, v27.2d, v28.2d, v29.2d, v30.2d, v31.2d",
        "movi \\v, #0xffffffffffffffff", ".endr",
        "add x10, x0, #{callee_saved}",
        "ldp x19, x20, [x10]", "ldp x21, x22, [x10, #16]", "ldp x23, x24, [x10, #32]", "ldp x25, x26, [x10, #48]",
        "ldp x27, x28, [x10, #64]", "ldr x29, [x10, #80]",
        on_linux!("ldr x18, [x0, #{platform}]"),
        "ldr x9, [x0, #{function}]",
        "add x10, x0, #{arguments}",
        "ldp x0, x1, [x10]", "ldp x2, x3, [x10, #16]", "ldp x4, x5, [x10, #32]",
        "blr x9",
        "3:",
        address_of_current!("x9"), "ldr x9, [x9]",
        on_linux!("str x18, [x9, #{platform}]"),
        "adr x10, 3b", "sub x10, x30, x10", "str x10, [x9, #{link}]",
        "add x10, x9, #{callee_saved}",
        "stp x19, x20, [x10]", "stp x21, x22, [x10, #16]", "stp x23, x24, [x10, #32]", "stp x25, x26, [x10, #48]",
        "stp x27, x28, [x10, #64]", "str x29, [x10, #80]",
        "mov x10, sp", "str x10, [x9, #{stack_pointer} + 8]",
        "ldr x12, [x9, #{stack_pointer}]", "mov sp, x12",
        "mrs x10, fpcr", "str x10, [x9, #{fpcr} + 8]",
        "ldr x10, [x9, #{fpcr}]", "msr fpcr, x10",
        "stp q0, q1, [x9, #{vectors}]", "stp q2, q3, [x9, #{vectors} + 32]",
        "stp q4, q5, [x9, #{vectors} + 64]", "stp q6, q7, [x9, #{vectors} + 96]",
        "stp q8, q9, [x9, #{vectors} + 128]", "stp q10, q11, [x9, #{vectors} + 160]",
        "stp q12, q13, [x9, #{vectors} + 192]", "stp q14, q15, [x9, #{vectors} + 224]",
        "stp q16, q17, [x9, #{vectors} + 256]", "stp q18, q19, [x9, #{vectors} + 288]",
        "stp q20, q21, [x9, #{vectors} + 320]", "stp q22, q23, [x9, #{vectors} + 352]",
        "stp q24, q25, [x9, #{vectors} + 384]", "stp q26, q27, [x9, #{vectors} + 416]",
        "stp q28, q29, [x9, #{vectors} + 448]", "stp q30, q31, [x9, #{vectors} + 480]",
        "sub x11, x12, #8 * {words_below}",
        "add x12, x12, #8 * {words_above}",
        "add x10, x9, #{below}",
        "4: ldr x13, [x11], #8", "str x13, [x10], #8", "cmp x11, x12", "b.ne 4b",
        "mov sp, x12",
        "ldp d8, d9, [sp, #96]", "ldp d10, d11, [sp, #112]", "ldp d12, d13, [sp, #128]", "ldp d14, d15, [sp, #144]",
        "ldp x19, x20, [sp, #16]", "ldp x21, x22, [sp, #32]", "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]", "ldp x27, x28, [sp, #80]",
        "ldp x29, x30, [sp], #160",
        "ret",
        current = sym CURRENT,
        words_below = const WORDS_BELOW,
        words_above = const WORDS_ABOVE,
        vectors = const offset_of!(Call, vectors),
        function = const offset_of!(Call, function),
        arguments = const offset_of!(Call, arguments),
        stack = const offset_of!(Call, stack),
        callee_saved = const offset_of!(Call, callee_saved),
        platform = const offset_of!(Call, platform),
        link = const offset_of!(Call, link),
        stack_pointer = const offset_of!(Call, stack_pointer),
        fpcr = const offset_of!(Call, fpcr),
        below = const offset_of!(Call, below),
    )
}

/// Whether this CPU has a feature of the table: the tests run where there is a hardware backend, which needs it.
pub fn has(feature: &str) -> bool {
    feature == "aes"
}

/// What the call did that it may not do, by name.
pub fn violations(function: *const (), arguments: [usize; 6]) -> Vec<&'static str> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut call = Call {
        vectors: [[1; 2]; 32],
        function,
        arguments,
        stack: STACK,
        callee_saved: CALLEE_SAVED,
        platform: PLATFORM,
        link: 1,
        stack_pointer: [0; 2],
        fpcr: [0; 2],
        below: [0; WORDS_BELOW],
        above: [0; WORDS_ABOVE],
    };
    // SAFETY: the trampoline restores what the call standard requires, and the caller vouches for the arguments.
    unsafe { observe(&raw mut call) };
    let (saved, cleared): (Vec<_>, Vec<_>) = (0..32).partition(|i| (8..16).contains(i));
    let checks = [
        ("callee-saved register", call.callee_saved != CALLEE_SAVED),
        ("platform register", call.platform != PLATFORM),
        ("link register", call.link != 0),
        ("stack pointer", call.stack_pointer[0] != call.stack_pointer[1]),
        ("fpcr", call.fpcr[0] != call.fpcr[1]),
        // Only the lower half is callee-saved, but a kernel leaves all of it alone.
        (
            "callee-saved vector register",
            saved.iter().any(|&i| call.vectors[i] != ONES),
        ),
        (
            "vector registers not cleared",
            cleared.iter().any(|&i| call.vectors[i] != [0; 2]),
        ),
        ("caller's stack", call.above != [STACK; WORDS_ABOVE]),
        ("stack used", call.below != [STACK; WORDS_BELOW]),
    ];
    checks
        .into_iter()
        .filter_map(|(name, violated)| violated.then_some(name))
        .collect()
}

/// Functions that end like a kernel, but each break one rule: the name of the rule, and of any rule that they
/// unavoidably break along with it.
pub fn bad_kernels() -> Vec<(&'static str, &'static [&'static str], *const ())> {
    macro_rules! bad {
        ($($name:literal: $($instruction:literal),+;)*) => {
            vec![$({
                #[unsafe(naked)]
                extern "C" fn function() {
                    naked_asm!(
                        ".irp v, v0.2d, v1.2d, v2.2d, v3.2d, v4.2d, v5.2d, v6.2d, v7.2d", "movi \\v, #0", ".endr",
                        ".irp v, v16.2d, v17.2d, v18.2d, v19.2d, v20.2d, v21.2d, v22.2d, v23.2d", "movi \\v, #0", ".endr",
                        ".irp v, v24.2d, v25.2d, v26.2d, v27.2d, v28.2d, v29.2d, v30.2d, v31.2d", "movi \\v, #0", ".endr",
                        $($instruction,)+
                        "ret"
                    )
                }
                ($name, &[][..], function as *const ())
            }),*]
        };
    }
    let mut kernels = bad! {
        "": "nop";
        "callee-saved register": "mov w19, w19";
        "callee-saved register": "mov x20, x21";
        "callee-saved register": "add x21, x21, #1";
        "callee-saved register": "mov x22, xzr";
        "callee-saved register": "mov x23, xzr";
        "callee-saved register": "mov x24, xzr";
        "callee-saved register": "mov x25, xzr";
        "callee-saved register": "mov x26, xzr";
        "callee-saved register": "mov x27, xzr";
        "callee-saved register": "mvn x28, x28";
        "callee-saved register": "mov x29, sp";
        "link register": "mov x9, x30", "mov x30, xzr", "ret x9";
        "stack pointer": "sub sp, sp, #16";
        "fpcr": "mov x9, #0x400000", "msr fpcr, x9";
        "callee-saved vector register": "movi v8.2d, #0";
        "callee-saved vector register": "mov v15.d[0], xzr";
        "callee-saved vector register": "mov v12.d[1], xzr";
        "vector registers not cleared": "movi v31.16b, #1";
        "vector registers not cleared": "mov x9, #1", "mov v0.d[1], x9";
        "vector registers not cleared": "mov w9, #1", "mov v16.s[0], w9";
        "caller's stack": "str xzr, [sp]";
        "caller's stack": "str xzr, [sp, #56]";
        "stack used": "str xzr, [sp, #-8]";
        "stack used": "str x0, [sp, #-16]!", "add sp, sp, #16";
    };
    if cfg!(target_os = "linux") {
        kernels.extend(bad! { "platform register": "add x18, x18, #1"; });
    }
    kernels
}
