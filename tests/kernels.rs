//! The x86-64 kernels as they are linked: that they come from their sources, keep to the ABI and to their buffers,
//! leave nothing behind, and compute what the portable backend computes.
//!
//! None of this needs Jasmin.

use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

const FOLDER: &str = "jasmin/x86-64";
const EXPORTS: [&str; 5] = [
    "permute",
    "absorb_blocks",
    "encrypt_blocks",
    "decrypt_blocks",
    "squeeze_blocks",
];

/// What is wrong with an assembly file: it must have the hashes of the files it was made from and of its own body.
fn provenance(root: &Path, name: &str, text: &str) -> Result<(), String> {
    let sha256 = |bytes: &[u8]| hex::encode(Sha256::digest(bytes));
    let mut from = Vec::new();
    let mut rest = text;
    while let Some((line, after)) = rest.split_once('\n') {
        rest = after;
        let mut words = line.split_whitespace();
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("source" | "generator"), Some(hash), Some(path)) => {
                let bytes = fs::read(root.join(path)).map_err(|e| format!("{path}: {e}"))?;
                if sha256(&bytes) != hash {
                    return Err(format!("{path} has changed: run `make kernels`"));
                }
                from.push(path);
            }
            (Some("#"), Some("body"), Some(hash), _) => {
                if sha256(rest.as_bytes()) != hash {
                    return Err("the assembly was edited: run `make kernels`".into());
                }
                let source = format!("{FOLDER}/{name}.jazz");
                let expected = [
                    &*source,
                    "jasmin/x86-64/simpira1024.jinc",
                    "proofs/tools/src/kernels.rs",
                ];
                return if from == expected {
                    Ok(())
                } else {
                    Err(format!("made from {from:?} instead of {expected:?}"))
                };
            }
            (Some("#"), ..) => {}
            _ => break,
        }
    }
    Err("no hash of the body".into())
}

#[test]
fn assembly_comes_from_its_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = (fs::read_dir(root.join(FOLDER)).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|file| [Some("s"), Some("jazz")].contains(&file.rsplit_once('.').map(|(_, end)| end)))
        .collect();
    let mut expected: Vec<_> = (EXPORTS.iter())
        .flat_map(|name| [format!("{name}.jazz"), format!("{name}.s")])
        .collect();
    files.sort();
    expected.sort();
    assert_eq!(files, expected);

    for name in EXPORTS {
        let text = fs::read_to_string(root.join(FOLDER).join(name).with_extension("s")).unwrap();
        assert_eq!(provenance(root, name, &text), Ok(()), "{name}");

        // The check sees an edited output, a source that is not the one that was compiled, and missing lines.
        let edits = [
            text.replacen("vaesenc", "vaesdec", 1),
            format!("{text}\tnop\n"),
            text.replacen("source    ", "source    0", 1),
            text.lines()
                .filter(|line| !line.contains("generator"))
                .collect::<Vec<_>>()
                .join("\n")
                + "\n",
            text.lines()
                .filter(|line| !line.contains("# body"))
                .collect::<Vec<_>>()
                .join("\n")
                + "\n",
        ];
        for edited in edits {
            assert_ne!(provenance(root, name, &edited), Ok(()));
        }
    }
}

#[cfg(all(
    target_arch = "x86_64",
    unix,
    not(veriplex_intrinsics),
    not(veriplex_backend = "portable")
))]
mod linked {
    use std::arch::naked_asm;
    use std::ops::Range;
    use std::ptr;
    use std::sync::{Mutex, PoisonError};

    use proptest::collection::vec;
    use proptest::prelude::*;
    use veriplex::hazmat::{Backend, Duplex, RATE, STATE_LEN, set_hardware_enabled};

    type State = [u8; STATE_LEN];

    macro_rules! symbols {
        ($($function:ident = $name:literal ($($type:ty),*);)*) => {
            unsafe extern "sysv64" {
                $(
                    #[link_name = concat!(
                        "veriplex_", $name, "_v", env!("CARGO_PKG_VERSION_MAJOR"), "_", env!("CARGO_PKG_VERSION_MINOR")
                    )]
                    fn $function($(_: $type),*);
                )*
            }
        };
    }
    symbols! {
        permute = "permute" (*mut u8, *const Keys);
        absorb_blocks = "absorb_blocks" (*mut u8, *const u8, usize, *const Keys);
        encrypt_blocks = "encrypt_blocks" (*mut u8, *const u8, *mut u8, usize, *const Keys);
        decrypt_blocks = "decrypt_blocks" (*mut u8, *const u8, *mut u8, usize, *const Keys);
        squeeze_blocks = "squeeze_blocks" (*mut u8, *mut u8, usize, *const Keys);
    }

    type Keys = [[u32; 4]; 72];

    /// `K(1)` to `K(72)` of the specification.
    fn keys() -> Keys {
        std::array::from_fn(|i| [0x00, 0x10, 0x20, 0x30].map(|word| word ^ 8 ^ u32::try_from(i + 1).unwrap()))
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Kernel {
        Permute,
        Absorb,
        Encrypt,
        Decrypt,
        Squeeze,
    }
    use Kernel::{Absorb, Decrypt, Encrypt, Permute, Squeeze};

    const KERNELS: [Kernel; 5] = [Permute, Absorb, Encrypt, Decrypt, Squeeze];

    impl Kernel {
        fn address(self) -> *const () {
            match self {
                Permute => permute as *const (),
                Absorb => absorb_blocks as *const (),
                Encrypt => encrypt_blocks as *const (),
                Decrypt => decrypt_blocks as *const (),
                Squeeze => squeeze_blocks as *const (),
            }
        }

        /// The argument registers for a call.
        fn arguments(
            self,
            state: *mut u8,
            input: *const u8,
            output: *mut u8,
            n: usize,
            k: *const u8,
        ) -> [usize; 6] {
            let [state, input, output, k] = [state.addr(), input.addr(), output.addr(), k.addr()];
            match self {
                Permute => [state, k, 0, 0, 0, 0],
                Absorb => [state, input, n, k, 0, 0],
                Encrypt | Decrypt => [state, input, output, n, k, 0],
                Squeeze => [state, output, n, k, 0, 0],
            }
        }

        /// What the call must give, computed by the portable backend: state and output.
        fn expected(self, mut state: State, input: &[u8]) -> (State, Vec<u8>) {
            let portable = Backend::PORTABLE;
            let mut output = input.to_vec();
            let (blocks, _) = output.as_chunks_mut::<RATE>();
            match self {
                Permute => portable.permute(&mut state),
                Absorb => portable.absorb_blocks(&mut state, blocks),
                Encrypt => portable.encrypt_blocks(&mut state, blocks),
                Decrypt => portable.decrypt_blocks(&mut state, blocks),
                Squeeze => portable.squeeze_blocks(&mut state, blocks),
            }
            (state, output)
        }
    }

    fn bytes(seed: usize, n: usize) -> Vec<u8> {
        (0..n)
            .map(|i| (((i + 1) * (2 * seed + 0x9e37)) >> 4).to_le_bytes()[0])
            .collect()
    }

    fn state(seed: usize) -> State {
        bytes(seed, STATE_LEN).try_into().unwrap()
    }

    fn runs_here() -> bool {
        Backend::hardware().is_some()
    }

    // --- The ABI ---

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

    /// One observed call: what goes in, and what the trampoline saw afterwards.
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
    }

    static mut CURRENT: *mut Call = ptr::null_mut();

    /// Sets every callee-saved register, every vector register and the stack on both sides of the return address,
    /// calls, and records what is there.
    #[unsafe(naked)]
    unsafe extern "sysv64" fn observe(call: *mut Call) {
        naked_asm!(
            "push rbx", "push rbp", "push r12", "push r13", "push r14", "push r15", "push rdi",
            "mov [rip + {current}], rdi",
            "mov rax, {stack}",
            // Above: the caller's frame. Below: what the function may use, and the return address's place.
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
            "lea rsi, [rsp - 8 * {below}]",
            "lea rdi, [rax + 656]",
            // The flags last: the direction decides where the copy goes. Pushed where the return address was.
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

    /// What the call did that it may not do, by name.
    fn violations(function: *const (), arguments: [usize; 6]) -> Vec<&'static str> {
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
        };
        // SAFETY: the trampoline restores what the ABI asks for; the caller vouches for the arguments.
        unsafe { observe(&raw mut call) };
        // The call itself writes the return address, and the flags were pushed in its place.
        let below = &call.below[..WORDS_BELOW - 1];
        let checks = [
            ("callee-saved register", call.callee_saved != CALLEE_SAVED),
            ("stack pointer", call.stack_pointer[0] != call.stack_pointer[1]),
            ("direction flag", call.flags >> 10 & 1 != 0),
            // The low six bits are sticky exception flags, which a function may raise.
            ("mxcsr", (call.mxcsr[0] ^ call.mxcsr[1]) & !0x3f != 0),
            ("x87 control word", call.x87_control[0] != call.x87_control[1]),
            ("vector registers not cleared", call.vectors != [[0; 4]; 16]),
            ("caller's stack", call.above != [STACK; WORDS_ABOVE]),
            ("stack used", below.iter().any(|&word| word != STACK)),
        ];
        checks
            .into_iter()
            .filter_map(|(name, violated)| violated.then_some(name))
            .collect()
    }

    #[test]
    fn kernels_keep_to_the_abi_and_leave_nothing() {
        if !runs_here() {
            return;
        }
        let k = keys();
        for kernel in KERNELS {
            for n in 0..4 {
                let mut s = state(n);
                let mut buffer = bytes(n, n * RATE);
                let pointer = buffer.as_mut_ptr();
                let arguments = kernel.arguments(s.as_mut_ptr(), pointer, pointer, n, (&raw const k).cast());
                assert_eq!(violations(kernel.address(), arguments), [""; 0], "{kernel:?} {n}");
                assert_eq!(
                    (s, buffer),
                    kernel.expected(state(n), &bytes(n, n * RATE)),
                    "{kernel:?} {n}"
                );
            }
        }
    }

    /// Functions that each break one rule, after what a kernel does at its end.
    #[test]
    fn the_checker_catches_bad_kernels() {
        macro_rules! bad {
            ($($name:literal: $($instruction:literal),+;)*) => {
                [$({
                    #[unsafe(naked)]
                    extern "sysv64" fn function() {
                        naked_asm!("vzeroall", $($instruction,)+ "ret")
                    }
                    ($name, function as *const ())
                }),*]
            };
        }
        if !runs_here() {
            return;
        }
        let bad = bad! {
            "": "nop";
            "callee-saved register": "xor ebx, ebx";
            "callee-saved register": "inc rbp";
            "callee-saved register": "mov r12, r13";
            "callee-saved register": "mov r13d, r13d";
            "callee-saved register": "not r14";
            "callee-saved register": "xor r15d, r15d";
            "stack pointer": "pop rax", "sub rsp, 16", "push rax";
            "direction flag": "std";
            "mxcsr": "push 0x7f80", "ldmxcsr [rsp]", "pop rax";
            "x87 control word": "push 0x0f7f", "fldcw [rsp]", "pop rax";
            "vector registers not cleared": "vpcmpeqd xmm15, xmm15, xmm15";
            "vector registers not cleared": "vmovd xmm0, eax", "mov eax, 1", "vmovd xmm7, eax";
            "caller's stack": "mov qword ptr [rsp + 16], 0";
            "stack used": "mov qword ptr [rsp - 16], 0";
            "stack used": "push rdi", "pop rdi";
        };
        for (name, function) in bad {
            let found = violations(function, [0; 6]);
            // Some of them need the stack for what they do.
            let found: Vec<_> = (found.into_iter())
                .filter(|&v| {
                    v == name
                        || !(v == "stack used"
                            && ["stack pointer", "mxcsr", "x87 control word"].contains(&name))
                })
                .collect();
            let expected: &[&str] = if name.is_empty() { &[] } else { &[name] };
            assert_eq!(found, expected);
        }
    }

    // --- Buffers between guard pages ---

    /// Pages that can be used between two that cannot, all writable bytes set to a canary.
    struct Guarded {
        base: *mut u8,
        page: usize,
    }

    const CANARY: u8 = 0xc7;

    impl Guarded {
        fn new() -> Self {
            // SAFETY: an anonymous mapping of four pages, of which the outer two are then made inaccessible.
            unsafe {
                let page = usize::try_from(libc::sysconf(libc::_SC_PAGESIZE)).unwrap();
                let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
                let base = libc::mmap(
                    ptr::null_mut(),
                    4 * page,
                    libc::PROT_READ | libc::PROT_WRITE,
                    flags,
                    -1,
                    0,
                );
                assert_ne!(base, libc::MAP_FAILED);
                assert_eq!(libc::mprotect(base, page, libc::PROT_NONE), 0);
                assert_eq!(libc::mprotect(base.byte_add(3 * page), page, libc::PROT_NONE), 0);
                let mut guarded = Self {
                    base: base.cast(),
                    page,
                };
                guarded.usable().fill(CANARY);
                guarded
            }
        }

        fn usable(&mut self) -> &mut [u8] {
            // SAFETY: the two inner pages.
            unsafe { std::slice::from_raw_parts_mut(self.base.add(self.page), 2 * self.page) }
        }

        /// Where `len` bytes go that begin `distance` after the first page, or end `distance` before the last.
        fn place(&self, len: usize, distance: usize, at_end: bool) -> Range<usize> {
            let start = if at_end {
                2 * self.page - len - distance
            } else {
                distance
            };
            start..start + len
        }

        /// Everything outside the range is as it was; then the range is set to the canary again.
        fn check_and_reset(&mut self, range: Range<usize>) {
            let usable = self.usable();
            usable[range].fill(CANARY);
            assert!(
                usable.iter().all(|&byte| byte == CANARY),
                "written outside the buffer"
            );
        }
    }

    impl Drop for Guarded {
        fn drop(&mut self) {
            // SAFETY: what `new` mapped.
            unsafe { libc::munmap(self.base.cast(), 4 * self.page) };
        }
    }

    /// Every kernel, in place and from buffer to buffer, every alignment, at both ends of the pages.
    #[test]
    fn kernels_stay_inside_their_buffers() {
        if !runs_here() {
            return;
        }
        let [mut s, mut input, mut output, mut k] = [(); 4].map(|()| Guarded::new());
        for kernel in KERNELS {
            for (n, distance, at_end) in (0..4)
                .flat_map(|n| (0..64).flat_map(move |distance| [(n, distance, false), (n, distance, true)]))
            {
                let data = bytes(n + distance, n * RATE);
                let at_s = s.place(STATE_LEN, distance, at_end);
                let at_k = k.place(size_of::<Keys>(), distance, at_end);
                let at = input.place(data.len(), distance, at_end);
                let expected = kernel.expected(state(n), &data);
                for in_place in [false, true] {
                    s.usable()[at_s.clone()].copy_from_slice(&state(n));
                    let key_bytes: Vec<u8> = keys()
                        .as_flattened()
                        .iter()
                        .flat_map(|k| k.to_le_bytes())
                        .collect();
                    k.usable()[at_k.clone()].copy_from_slice(&key_bytes);
                    input.usable()[at.clone()].copy_from_slice(&data);
                    let from = input.usable()[at.clone()].as_mut_ptr();
                    let to = if in_place {
                        from
                    } else {
                        output.usable()[at.clone()].as_mut_ptr()
                    };
                    let arguments = kernel.arguments(
                        s.usable()[at_s.clone()].as_mut_ptr(),
                        from,
                        to,
                        n,
                        k.usable()[at_k.clone()].as_ptr(),
                    );
                    assert_eq!(violations(kernel.address(), arguments), [""; 0]);

                    assert_eq!(s.usable()[at_s.clone()], expected.0);
                    assert_eq!(k.usable()[at_k.clone()], key_bytes);
                    let writes = matches!(kernel, Encrypt | Decrypt | Squeeze);
                    if writes {
                        let result = if in_place { input.usable() } else { output.usable() };
                        assert_eq!(result[at.clone()], expected.1, "{kernel:?}");
                    }
                    if !(writes && in_place) {
                        assert_eq!(input.usable()[at.clone()], data);
                    }
                    s.check_and_reset(at_s.clone());
                    k.check_and_reset(at_k.clone());
                    input.check_and_reset(at.clone());
                    output.check_and_reset(if writes && !in_place { at.clone() } else { 0..0 });
                }
            }
        }
    }

    /// The same through the duplex, for every length up to two blocks and 93 bytes.
    #[test]
    fn the_duplex_stays_inside_its_buffers() {
        type Operation = fn(&mut Duplex, &mut [u8]);
        const OPERATIONS: [Operation; 4] = [
            |duplex, data| duplex.absorb(data),
            Duplex::encrypt,
            Duplex::decrypt,
            Duplex::squeeze,
        ];
        let mut buffer = Guarded::new();
        let mut start = Duplex::new();
        start.absorb(b"a state that is not zero");
        for len in 0..=2 * RATE + 93 {
            let data = bytes(len, len);
            // From the middle of a block, or from its start.
            for duplex in [start.clone(), {
                let mut d = start.clone();
                d.permute();
                d
            }] {
                for operation in OPERATIONS {
                    set_hardware_enabled(false);
                    let (mut expected, mut result) = (duplex.clone(), data.clone());
                    operation(&mut expected, &mut result);
                    set_hardware_enabled(true);
                    for (distance, at_end) in
                        (0..64).flat_map(|distance| [(distance, false), (distance, true)])
                    {
                        let at = buffer.place(len, distance, at_end);
                        buffer.usable()[at.clone()].copy_from_slice(&data);
                        let mut actual = duplex.clone();
                        operation(&mut actual, &mut buffer.usable()[at.clone()]);
                        assert_eq!(buffer.usable()[at.clone()], result);
                        assert!(actual == expected);
                        buffer.check_and_reset(at);
                    }
                }
            }
        }
    }

    #[test]
    fn a_step_outside_is_caught() {
        let mut guarded = Guarded::new();
        let at = guarded.place(94, 0, true);
        guarded.usable()[at.start - 1] ^= 1;
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| guarded.check_and_reset(at)));
        assert!(caught.is_err());
    }

    proptest! {
        #[test]
        fn kernels_agree_with_portable(
            s in proptest::array::uniform32(any::<u32>()),
            blocks in vec(vec(any::<u8>(), RATE), 0..=8),
        ) {
            let mut start = [0; STATE_LEN];
            for (to, from) in start.as_chunks_mut().0.iter_mut().zip(s) {
                *to = from.to_le_bytes();
            }
            let data = blocks.concat();
            if let Some(backend) = Backend::hardware() {
                for kernel in KERNELS {
                    let (mut state, mut output) = (start, data.clone());
                    let (blocks, _) = output.as_chunks_mut::<RATE>();
                    match kernel {
                        Permute => backend.permute(&mut state),
                        Absorb => backend.absorb_blocks(&mut state, blocks),
                        Encrypt => backend.encrypt_blocks(&mut state, blocks),
                        Decrypt => backend.decrypt_blocks(&mut state, blocks),
                        Squeeze => backend.squeeze_blocks(&mut state, blocks),
                    }
                    prop_assert_eq!((state, output), kernel.expected(start, &data), "{:?}", kernel);
                }
            }
        }
    }
}
