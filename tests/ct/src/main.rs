//! Runs known answers on every backend under valgrind's memcheck, with all secrets marked undefined. Memcheck reports
//! a branch or an address that depends on undefined bytes. A run without reports shows that the machine code is
//! constant-time on these inputs.
//!
//! Without arguments, this program runs itself under valgrind: once for each backend, which must be clean, and once for
//! each planted defect, which must be caught.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod adiantum;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod memcheck;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod ristretto;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod xoofff;

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn main() {
    println!("ct: skipped, because the requests to valgrind are written for x86-64 Linux");
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn main() -> std::process::ExitCode {
    linux::main()
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod linux {
    use std::env;
    use std::hint::black_box;
    use std::path::Path;
    use std::process::{Command, ExitCode};

    use serde_json::Value;
    use subtle::ConstantTimeEq;
    use veriplex::aead::{Aead, Message};
    use veriplex::hazmat::{Backend, Duplex, RATE, STATE_LEN, set_hardware_enabled};
    use veriplex::mac::Mac;
    use veriplex::siv::Siv;
    use veriplex::{Label, Protocol, label, stream};

    use crate::memcheck::{errors, is_running, public, secret};

    const PLANTED: [&str; 2] = ["secret-branch", "secret-address"];

    pub fn main() -> ExitCode {
        let args: Vec<String> = env::args().skip(1).collect();
        match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] | ["--strict"] => drive(!args.is_empty()),
            ["run", subject] => run(subject),
            _ => ExitCode::from(2),
        }
    }

    /// Runs this program under valgrind for each subject.
    fn drive(strict: bool) -> ExitCode {
        let path = env::var_os("PATH").unwrap_or_default();
        if !env::split_paths(&path).any(|folder| folder.join("valgrind").is_file()) {
            println!("ct: skipped, because valgrind is not on PATH");
            return ExitCode::from(u8::from(strict));
        }
        let mut passed = true;
        let clean = Backend::available().map(|backend| (backend.name(), true));
        for (subject, must_be_clean) in clean.chain(PLANTED.map(|defect| (defect, false))) {
            let output = Command::new("valgrind")
                .args(["--quiet", "--error-exitcode=9"])
                .arg(concat!(
                    "--suppressions=",
                    env!("CARGO_MANIFEST_DIR"),
                    "/public.supp"
                ))
                .arg(env::current_exe().expect("the path of this program"))
                .args(["run", subject])
                .output()
                .expect("valgrind runs");
            let text = String::from_utf8_lossy(&output.stderr);
            let complains = text.contains("depends on uninitialised value")
                || text.contains("Use of uninitialised value");
            let (as_expected, verdict) = match (must_be_clean, output.status.code()) {
                (true, Some(0)) if !complains => (true, "no branch or address depends on a secret"),
                (false, Some(9)) if complains => (true, "planted, and caught"),
                (true, _) => (false, "FAILED"),
                (false, _) => (false, "planted, and NOT caught"),
            };
            println!(
                "{subject:16} {verdict}{}",
                String::from_utf8_lossy(&output.stdout)
            );
            if !as_expected {
                passed = false;
                eprintln!("{text}");
            }
        }
        ExitCode::from(u8::from(!passed))
    }

    fn run(subject: &str) -> ExitCode {
        assert!(is_running(), "run this under valgrind");
        match subject {
            "secret-branch" => {
                let mut key = [black_box(1u8); 1];
                secret(&mut key);
                if key[0] & 1 == 1 {
                    black_box(());
                    println!();
                }
            }
            "secret-address" => {
                let mut key = [black_box(1u8); 1];
                secret(&mut key);
                let table: [u8; 256] = black_box([7; 256]);
                black_box(table[usize::from(key[0])]);
            }
            backend => {
                set_hardware_enabled(backend != "portable");
                assert_eq!(veriplex::backend(), backend);
                let n = vectors();
                println!(" ({n} known answers)");
            }
        }
        ExitCode::from(u8::from(errors() != 0))
    }

    // --- Known answers ---

    pub fn file(name: &str) -> Value {
        family_file("newplex", name)
    }

    pub fn family_file(family: &str, name: &str) -> Value {
        let vectors = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../vectors"));
        let path = vectors.join(family).join(name);
        serde_json::from_slice(&std::fs::read(path.with_extension("json")).expect("a file")).expect("JSON")
    }

    pub fn cases(value: &Value) -> &[Value] {
        value.as_array().expect("an array")
    }

    pub fn known(case: &Value, key: &str) -> Vec<u8> {
        hex::decode(case[key].as_str().unwrap_or_else(|| panic!("{key} in {case}"))).expect("hex")
    }

    /// Bytes that the library must treat as secret.
    pub fn hidden(case: &Value, key: &str) -> Vec<u8> {
        let mut bytes = known(case, key);
        secret(&mut bytes);
        bytes
    }

    /// Makes an output public, and compares it.
    pub fn expect(mut output: Vec<u8>, expected: &[u8]) {
        public(&mut output);
        assert_eq!(output, expected);
    }

    pub fn domain<'a>(case: &'a Value, key: &str) -> Label<'a> {
        Label::try_from(case[key].as_str().expect("a domain")).expect("a label")
    }

    fn vectors() -> usize {
        permutation()
            + duplex()
            + bulk()
            + mac_and_stream()
            + aead()
            + siv()
            + opening()
            + lanes()
            + crate::ristretto::vectors()
            + crate::adiantum::vectors()
            + crate::xoofff::vectors()
    }

    fn permutation() -> usize {
        let file = file("simpira1024");
        let cases = cases(&file["vectors"]);
        for case in cases {
            let mut state: [u8; STATE_LEN] = hidden(case, "input").try_into().expect("128 bytes");
            secret(&mut state);
            Backend::current().permute(&mut state);
            expect(state.to_vec(), &known(case, "output"));
        }
        cases.len()
    }

    fn duplex() -> usize {
        let file = file("duplex");
        for case in cases(&file["sequences"]) {
            let mut start = Duplex::new().to_bytes();
            secret(&mut start[2..]);
            let mut duplex = Duplex::from_bytes(&start).expect("indices of 0");
            for op in cases(&case["ops"]) {
                match op["op"].as_str().expect("text") {
                    "absorb" => duplex.absorb(&hidden(op, "data")),
                    "absorb_leb128" => {
                        let mut rest: u64 = op["value"].as_str().expect("text").parse().expect("a number");
                        while rest >= 0x80 {
                            duplex.absorb(&[rest.to_le_bytes()[0] | 0x80]);
                            rest >>= 7;
                        }
                        duplex.absorb(&[rest.to_le_bytes()[0]]);
                    }
                    "squeeze" => {
                        let mut output = known(op, "out");
                        duplex.squeeze(&mut output);
                        expect(output, &known(op, "out"));
                    }
                    name @ ("encrypt" | "decrypt") => {
                        let mut data = hidden(op, "data");
                        if name == "encrypt" {
                            duplex.encrypt(&mut data);
                        } else {
                            duplex.decrypt(&mut data);
                        }
                        expect(data, &known(op, "out"));
                    }
                    "frame" => {
                        duplex.frame(u8::try_from(op["id"].as_u64().expect("a number")).expect("a byte"));
                    }
                    "permute" => duplex.permute(),
                    "ratchet" => duplex.ratchet(),
                    other => panic!("unknown operation {other}"),
                }
            }
            expect(duplex.to_bytes()[2..].to_vec(), &known(case, "state"));
        }
        cases(&file["sequences"]).len()
    }

    /// Every bulk operation over 0 to 3 blocks, against the portable backend on the same bytes made public.
    fn bulk() -> usize {
        type Operation = fn(Backend, &mut [u8; STATE_LEN], &mut [[u8; RATE]]);
        let operations: [Operation; 4] = [
            |b, s, d| b.absorb_blocks(s, d),
            Backend::encrypt_blocks,
            Backend::decrypt_blocks,
            Backend::squeeze_blocks,
        ];
        for operation in operations {
            for n in 0..4 {
                let mut expected = ([0x3c; STATE_LEN], vec![[0x5a; RATE]; n]);
                let (mut state, mut blocks) = expected.clone();
                operation(Backend::PORTABLE, &mut expected.0, &mut expected.1);
                secret(&mut state);
                secret(blocks.as_flattened_mut());
                operation(Backend::current(), &mut state, &mut blocks);
                expect(state.to_vec(), &expected.0);
                expect(blocks.concat(), &expected.1.concat());
            }
        }
        16
    }

    fn keyed(domain: Label<'_>, key: &[u8]) -> Protocol {
        let mut protocol = Protocol::new(domain);
        protocol.mix(label!("key"), key);
        protocol
    }

    fn mac_and_stream() -> usize {
        let file = file("mac_stream");
        for case in cases(&file) {
            let mut mac = Mac::from_protocol(keyed(domain(case, "mac_domain"), &hidden(case, "key")));
            mac.update(&hidden(case, "message"));
            expect(mac.finalize().as_bytes().to_vec(), &known(case, "tag"));
            let mut data = hidden(case, "message");
            let mut protocol = keyed(domain(case, "stream_domain"), &hidden(case, "key"));
            protocol.mix(label!("nonce"), &known(case, "nonce"));
            stream::Encryptor::from_protocol(protocol).update(&mut data);
            expect(data, &known(case, "ciphertext"));
        }
        cases(&file).len()
    }

    fn aead() -> usize {
        fn seal<const N: usize>(case: &Value, nonce: &[u8]) -> Vec<u8> {
            let aead = Aead::<N>::from_protocol(keyed(domain(case, "domain"), &hidden(case, "key")));
            let nonce = nonce.try_into().expect("the length that was asked for");
            aead.seal_vec(nonce, &known(case, "ad"), &hidden(case, "plaintext"))
        }
        let file = file("aead");
        let mut n = 0;
        for case in cases(&file).iter().filter(|case| case["valid"] == true) {
            let nonce = known(case, "nonce");
            let sealed = match nonce.len() {
                17 => seal::<17>(case, &nonce),
                19 => seal::<19>(case, &nonce),
                25 => seal::<25>(case, &nonce),
                32 => seal::<32>(case, &nonce),
                _ => continue,
            };
            expect(sealed, &known(case, "ciphertext"));
            n += 1;
        }
        assert!(n > 0, "no nonce of these lengths");
        n
    }

    fn siv() -> usize {
        let file = file("siv");
        let mut n = 0;
        for case in cases(&file).iter().filter(|case| case["valid"] == true) {
            let siv = Siv::from_protocol(keyed(domain(case, "domain"), &hidden(case, "key")));
            let sealed = siv.seal_vec(
                &known(case, "nonce"),
                &known(case, "ad"),
                &hidden(case, "plaintext"),
            );
            expect(sealed, &known(case, "ciphertext"));
            n += 1;
        }
        n
    }

    /// Many messages at once, of lengths that mix what lanes do together and alone, against one by one on the same bytes,
    /// public. Valgrind has no AVX-512 and no VAES: the kernels for two lanes run.
    fn lanes() -> usize {
        let lens = [
            0, 300, 300, 300, 300, 300, 300, 300, 300, 94, 188, 5, 700, 700, 1, 93,
        ];
        let aead = Aead::<16>::new(label!("ct.lanes"), &[7; 32].into());
        let mut secret_key = [7; 32];
        secret(&mut secret_key);
        let secret_aead = Aead::<16>::from_protocol(keyed(label!("ct.lanes"), &secret_key));
        let messages = lens.map(|len| vec![0x5a; len]);
        let mut secrets = messages.clone();
        for message in &mut secrets {
            secret(message);
        }

        let mut digests = [[0; 32]; 16];
        veriplex::digest::digest_many(label!("ct.lanes"), &secrets, &mut digests).expect("as many");
        let mut buffers = secrets.map(|message| [message, vec![0; 16]].concat());
        let in_outs = buffers.iter_mut();
        let mut many: Vec<_> = (in_outs.map(|in_out| Message {
            nonce: &[1; 16],
            ad: b"ad",
            in_out,
        }))
        .collect();
        secret_aead.seal_many(&mut many).expect("room for tags");
        for ((message, digest), buffer) in messages.iter().zip(digests).zip(buffers) {
            expect(
                digest.to_vec(),
                veriplex::digest::digest(label!("ct.lanes"), message).as_ref(),
            );
            expect(buffer, &aead.seal_vec(&[1; 16], b"ad", message));
        }
        2 * lens.len()
    }

    /// Decryption and the comparison of tags. Whether a tag is right is public, and only that: it is made so here,
    /// where opening branches on it.
    fn opening() -> usize {
        let mut key = [7; 32];
        secret(&mut key);
        let mut sender = Protocol::new(label!("ct.opening"));
        sender.mix(label!("key"), &key);
        let mut receiver = sender.clone();
        let mut message = *b"attack at dawn";
        secret(&mut message);
        let mut ciphertext = sender.mask_vec(label!("message"), &message);
        let tag = sender.derive_vec(label!("tag"), 16);
        public(&mut ciphertext);
        let opened = receiver.unmask_vec(label!("message"), &ciphertext);
        let mut right = [receiver.derive_vec(label!("tag"), 16).ct_eq(&tag).unwrap_u8()];
        public(&mut right);
        assert_eq!(right, [1]);
        expect(opened, b"attack at dawn");
        1
    }
}
