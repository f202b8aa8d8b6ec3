//! What an x86-64 kernel must not do, by the System V ABI and by the kernels' banners.

use std::arch::naked_asm;
use std::ptr;
use std::sync::{Mutex, PoisonError};

const CALLEE_SAVED: [u64; 6] = [
    0x1111_1111_1111_1111,
    0x2222_2222_2222_2222,
    0x3333_3333_3333_3333,
    0x4444_4444_4444_4444,
    0x5555_5555_5555_5555,
    0x6666_6666_6666_6666,
];
const STACK: u64 = 0xa5a5_a5a5_a5a5_a5a5;
const WORDS_BELOW: usize = 512;
const WORDS_ABOVE: usize = 8;

/// One observed call: its inputs, and what the trampoline saw afterwards.
#[repr(C)]
#[derive(Clone)]
struct Call {
    function: *const (),       // 0
    arguments: [usize; 6],     // 8
    callee_saved: [u64; 6],    // 56: rbx, rbp, r12 to r15
    stack_pointer: [u64; 2],   // 104: before and after
    flags: u64,                // 120
    mxcsr: [u32; 2],           // 128: before and after
    x87_control: [u32; 2],     // 136: before and after
    vectors: [[u64; 4]; 16],   // 144
    below: [u64; WORDS_BELOW], // 656: the stack below the frame
    above: [u64; WORDS_ABOVE], // 4752: and the caller's
    wide: u64,                 // 4816: whether there are registers of 512 bits
    all: [[u64; 8]; 32],       // 4824: these
}

static mut CURRENT: *mut Call = ptr::null_mut();

/// Sets every callee-saved register, every vector register and the stack on both sides of the return address, calls
/// the function, and records what they hold afterwards.
#[unsafe(naked)]
unsafe extern "sysv64" fn observe(call: *mut Call) {
    naked_asm!(
        "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15", "push rdi",
        "mov [rip + {current}], rdi",
        "mov rax, {stack}",
        // Above: the caller's frame. Below: what the function may use, and the slot of the return address.
        ".rept {above}", "push rax", ".endr",
        "lea r10, [rsp - 8 * {below}]",
        "mov r11, rsp",
        "2: mov [r10], rax", "add r10, 8", "cmp r10, r11", "jne 2b",
        "mov [rdi + 104], rsp",
        "stmxcsr [rdi + 128]",
        "fnstcw [rdi + 136]",
        "vpcmpeqd xmm0, xmm0, xmm0",
        "vinsertf128 ymm0, ymm0, xmm0, 1",
        "vmovdqa ymm1, ymm0", "vmovdqa ymm2, ymm0", "vmovdqa ymm3, ymm0", "vmovdqa ymm4, ymm0",
        "vmovdqa ymm5, ymm0", "vmovdqa ymm6, ymm0", "vmovdqa ymm7, ymm0", "vmovdqa ymm8, ymm0",
        "vmovdqa ymm9, ymm0", "vmovdqa ymm10, ymm0", "vmovdqa ymm11, ymm0", "vmovdqa ymm12, ymm0",
        "vmovdqa ymm13, ymm0", "vmovdqa ymm14, ymm0", "vmovdqa ymm15, ymm0",
        "cmp qword ptr [rdi + 4816], 0", "je 3f",
        // Ones in all 32 registers, to their full width.
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
        "vpternlogd zmm\\n, zmm\\n, zmm\\n, 255",
        ".endr",
        "3:",
        "mov rax, rdi",
        "mov rbx, {rbx}", "mov rbp, {rbp}", "mov r12, {r12}", "mov r13, {r13}", "mov r14, {r14}", "mov r15, {r15}",
        "mov rdi, [rax + 8]", "mov rsi, [rax + 16]", "mov rdx, [rax + 24]", "mov rcx, [rax + 32]",
        "mov r8, [rax + 40]", "mov r9, [rax + 48]",
        "call [rax]",
        "mov rax, [rip + {current}]",
        "mov [rax + 56], rbx", "mov [rax + 64], rbp", "mov [rax + 72], r12", "mov [rax + 80], r13",
        "mov [rax + 88], r14", "mov [rax + 96], r15",
        "mov [rax + 112], rsp",
        "mov rsp, [rax + 104]",
        "stmxcsr [rax + 132]",
        "fnstcw [rax + 140]",
        "vmovdqu [rax + 144], ymm0", "vmovdqu [rax + 176], ymm1", "vmovdqu [rax + 208], ymm2",
        "vmovdqu [rax + 240], ymm3", "vmovdqu [rax + 272], ymm4", "vmovdqu [rax + 304], ymm5",
        "vmovdqu [rax + 336], ymm6", "vmovdqu [rax + 368], ymm7", "vmovdqu [rax + 400], ymm8",
        "vmovdqu [rax + 432], ymm9", "vmovdqu [rax + 464], ymm10", "vmovdqu [rax + 496], ymm11",
        "vmovdqu [rax + 528], ymm12", "vmovdqu [rax + 560], ymm13", "vmovdqu [rax + 592], ymm14",
        "vmovdqu [rax + 624], ymm15",
        "cmp qword ptr [rax + 4816], 0", "je 4f",
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
        "vmovdqu64 [rax + 4824 + 64 * \\n], zmm\\n",
        ".endr",
        "4:",
        "lea rsi, [rsp - 8 * {below}]",
        "lea rdi, [rax + 656]",
        // Last the flags, because the direction flag affects the copy. They go where the return address was.
        "pushfq", "pop rdx", "mov [rax + 120], rdx",
        "cld",
        "mov ecx, {below} + {above}",
        "rep movsq",
        "ldmxcsr [rax + 128]",
        "fldcw [rax + 136]",
        "vzeroupper",
        "add rsp, 8 * {above}",
        "pop rdi", "pop r15", "pop r14", "pop r13", "pop r12", "pop rbp", "pop rbx",
        "ret",
        current = sym CURRENT,
        stack = const STACK.cast_signed(),
        below = const WORDS_BELOW,
        above = const WORDS_ABOVE,
        rbx = const CALLEE_SAVED[0], rbp = const CALLEE_SAVED[1], r12 = const CALLEE_SAVED[2],
        r13 = const CALLEE_SAVED[3], r14 = const CALLEE_SAVED[4], r15 = const CALLEE_SAVED[5],
    )
}

/// Whether this CPU has a feature of the table, and the operating system supports it.
pub fn has(feature: &str) -> bool {
    match feature {
        "aes" => is_x86_feature_detected!("aes"),
        "avx" => is_x86_feature_detected!("avx"),
        "avx2" => is_x86_feature_detected!("avx2"),
        "avx512bw" => is_x86_feature_detected!("avx512bw"),
        "avx512f" => is_x86_feature_detected!("avx512f"),
        "avx512ifma" => is_x86_feature_detected!("avx512ifma"),
        "vaes" => is_x86_feature_detected!("vaes"),
        _ => panic!("{feature}: say here how it is detected"),
    }
}

/// What the call did that it may not do, by name.
pub fn violations(function: *const (), arguments: [usize; 6]) -> Vec<&'static str> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut call = Call {
        function,
        arguments,
        callee_saved: [0; 6],
        stack_pointer: [0; 2],
        flags: 0,
        mxcsr: [0; 2],
        x87_control: [0; 2],
        vectors: [[1; 4]; 16],
        below: [0; WORDS_BELOW],
        above: [0; WORDS_ABOVE],
        wide: has("avx512f").into(),
        all: [[0; 8]; 32],
    };
    // SAFETY: the trampoline restores what the ABI requires, and the caller vouches for the arguments.
    unsafe { observe(&raw mut call) };
    // The call itself wrote the return address, and the trampoline pushed the flags in its place.
    let below = &call.below[..WORDS_BELOW - 1];
    // Registers that a kernel does not use may have what they had.
    let of_kernel = |register: &[u64; 8]| *register != [0; 8];
    let of_either = |register: &[u64; 8]| of_kernel(register) && *register != [u64::MAX; 8];
    let wide = call.all[..16].iter().any(of_kernel) || call.all[16..].iter().any(of_either);
    let checks = [
        ("callee-saved register", call.callee_saved != CALLEE_SAVED),
        ("stack pointer", call.stack_pointer[0] != call.stack_pointer[1]),
        ("direction flag", call.flags >> 10 & 1 != 0),
        // The low six bits are sticky exception flags, which a function may raise.
        ("mxcsr", (call.mxcsr[0] ^ call.mxcsr[1]) & !0x3f != 0),
        ("x87 control word", call.x87_control[0] != call.x87_control[1]),
        (
            "vector registers not cleared",
            call.vectors != [[0; 4]; 16] || wide,
        ),
        ("caller's stack", call.above != [STACK; WORDS_ABOVE]),
        ("stack used", below.iter().any(|&word| word != STACK)),
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
        ($($name:literal $(and $other:literal)?: $($instruction:literal),+;)*) => {
            vec![$({
                #[unsafe(naked)]
                extern "sysv64" fn function() {
                    naked_asm!("vzeroall", $($instruction,)+ "ret")
                }
                ($name, &[$($other)?][..], function as *const ())
            }),*]
        };
    }
    let mut wide = Vec::new();
    if has("avx512f") {
        wide = bad! {
            "vector registers not cleared": "vpsrlq zmm31, zmm31, 1";
            "vector registers not cleared":
                "vpternlogd zmm3, zmm3, zmm3, 255", "vinserti64x4 zmm3, zmm3, ymm0, 0";
        };
    }
    let narrow = bad! {
        "": "nop";
        "callee-saved register": "xor ebx, ebx";
        "callee-saved register": "inc rbp";
        "callee-saved register": "mov r12, r13";
        "callee-saved register": "mov r13d, r13d";
        "callee-saved register": "not r14";
        "callee-saved register": "xor r15d, r15d";
        "stack pointer" and "stack used": "pop rax", "sub rsp, 16", "push rax";
        "direction flag": "std";
        "mxcsr" and "stack used": "push 0x7f80", "ldmxcsr [rsp]", "pop rax";
        "x87 control word" and "stack used": "push 0x0f7f", "fldcw [rsp]", "pop rax";
        "vector registers not cleared": "vpcmpeqd xmm15, xmm15, xmm15";
        "vector registers not cleared": "vmovd xmm0, eax", "mov eax, 1", "vmovd xmm7, eax";
        "caller's stack": "mov qword ptr [rsp + 16], 0";
        "stack used": "mov qword ptr [rsp - 16], 0";
        "stack used": "push rdi", "pop rdi";
    };
    [narrow, wide].concat()
}
