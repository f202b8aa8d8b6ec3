//! The kernels as they are linked: that they keep to the ABI and to their buffers, leave nothing behind, and compute what
//! the portable backend computes. And that the x86-64 assembly comes from its sources.
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
    any(target_arch = "x86_64", target_arch = "aarch64"),
    target_endian = "little",
    target_pointer_width = "64",
    unix,
    not(veriplex_intrinsics),
    not(veriplex_backend = "portable")
))]
#[path = "kernels"]
mod linked {
    use std::ops::Range;
    use std::ptr;

    use proptest::collection::vec;
    use proptest::prelude::*;
    use veriplex::hazmat::{Backend, Duplex, RATE, STATE_LEN, set_hardware_enabled};

    #[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
    #[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
    mod isa;

    type State = [u8; STATE_LEN];

    macro_rules! symbols {
        ($($function:ident = $name:literal ($($type:ty),*);)*) => {
            unsafe extern "C" {
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
                assert_eq!(
                    isa::violations(kernel.address(), arguments),
                    [""; 0],
                    "{kernel:?} {n}"
                );
                assert_eq!(
                    (s, buffer),
                    kernel.expected(state(n), &bytes(n, n * RATE)),
                    "{kernel:?} {n}"
                );
            }
        }
    }

    #[test]
    fn the_checker_catches_bad_kernels() {
        if !runs_here() {
            return;
        }
        for (name, others, function) in isa::bad_kernels() {
            let mut found = isa::violations(function, [0; 6]);
            found.retain(|violation| !others.contains(violation));
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
                    assert_eq!(isa::violations(kernel.address(), arguments), [""; 0]);

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
