//! `veriplex-tools mutants`: plants defects in a copy of the repository. The manifest's test and a proof must notice
//! each of them. The copy without a defect must pass both.

use crate::{Options, defects, proofs, subcommand};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;
use std::{env, fs, io};

/// A defect: in a file, texts that occur once are replaced.
struct Mutant {
    what: &'static str,
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    /// The theorem that must fail, and its script.
    theorem: &'static str,
    script: &'static str,
}

const MUTANTS: [Mutant; 31] = [
    Mutant {
        what: "two round constants swapped in a kernel",
        file: "jasmin/x86-64/simpira1024_permute.s",
        edits: &[
            ("\t1088(%rsi), ", "\t1104(%rsi) , "),
            ("\t1104(%rsi), ", "\t1088(%rsi), "),
        ],
        theorem: "simpira1024_permute_thm",
        script: "x86-64/simpira1024_permute_macaw",
    },
    Mutant {
        what: "K(1) and K(2) swapped in the table",
        file: "rust/src/backend/simpira1024.rs",
        edits: &[("constants[i] =", "constants[if i < 2 { 1 - i } else { i }] =")],
        theorem: "simpira1024_round_constants_thm",
        script: "rust/simpira1024_round_constants",
    },
    Mutant {
        what: "K(c) changed in the Cryptol",
        file: "spec/cryptol/Simpira1024.cry",
        edits: &[("(16 * i ^ 8 ^ c)", "(16 * i ^ 9 ^ c)")],
        theorem: "simpira1024_round_constants_thm",
        script: "rust/simpira1024_round_constants",
    },
    Mutant {
        what: "a vpxor left out: no padding",
        file: "jasmin/x86-64/duplex_encrypt_blocks.s",
        edits: &[("\tvpxor\t%xmm0, %xmm5, %xmm5\n", "")],
        theorem: "duplex_encrypt_blocks_thm_1",
        script: "x86-64/duplex_encrypt_blocks_macaw",
    },
    Mutant {
        what: "the next block begins one byte early",
        file: "jasmin/x86-64/duplex_absorb_blocks.s",
        edits: &[("addq\t$94, %rsi", "addq\t$93, %rsi")],
        theorem: "duplex_absorb_blocks_thm_2",
        script: "x86-64/duplex_absorb_blocks_macaw",
    },
    Mutant {
        what: "in place, the end of the input is read after being overwritten",
        file: "jasmin/x86-64/duplex_decrypt_blocks.s",
        edits: &[(
            "\tvmovdqu\t%xmm9, 78(%rdx)\n",
            "\tvmovdqu\t%xmm9, 78(%rdx)\n\tvmovdqu\t78(%rsi), %xmm10\n\tvpsrldq\t$2, %xmm10, %xmm10\n",
        )],
        theorem: "duplex_decrypt_blocks_in_place_thm_1",
        script: "x86-64/duplex_decrypt_blocks_macaw",
    },
    Mutant {
        what: "one block too many",
        file: "jasmin/x86-64/duplex_squeeze_blocks.s",
        edits: &[("\tjmp\t1f\n", "\tincq\t%rdx\n\tjmp\t1f\n")],
        theorem: "duplex_squeeze_blocks_thm_0",
        script: "x86-64/duplex_squeeze_blocks_macaw",
    },
    Mutant {
        what: "the count kept in one byte: wrong only from 256 blocks on",
        file: "jasmin/x86-64/duplex_absorb_blocks.s",
        edits: &[("decq\t%rdx", "decb\t%dl")],
        theorem: "duplex_absorb_blocks_step_thm",
        script: "x86-64/duplex_absorb_blocks_macaw",
    },
    Mutant {
        what: "an XOR of the bitsliced S-box is an AND",
        file: "rust/src/backend/portable/aes.rs",
        edits: &[("let t17 = t4 ^ t14;", "let t17 = t4 & t14;")],
        theorem: "portable_round_thm",
        script: "rust/portable",
    },
    Mutant {
        what: "ShiftRows rotates row 1 by two columns",
        file: "rust/src/backend/portable/aes.rs",
        edits: &[(
            "(y >> 4) & 0x0000_0000_0fff_0000",
            "(y >> 8) & 0x0000_0000_0fff_0000",
        )],
        theorem: "portable_round_thm",
        script: "rust/portable",
    },
    Mutant {
        what: "a result of the second round goes to the wrong block",
        file: "rust/src/backend/portable/mod.rs",
        edits: &[("&keys[1], swap_3)", "&keys[1], swap_1)")],
        theorem: "portable_permute_thm",
        script: "rust/portable",
    },
    Mutant {
        what: "wrong padding of a full block",
        file: "rust/src/backend/portable/mod.rs",
        edits: &[("state[RATE + 1] ^= 0x81;", "state[RATE + 1] ^= 0x80;")],
        theorem: "portable_absorb_blocks_thm",
        script: "rust/portable",
    },
    Mutant {
        what: "wrong padding of a block",
        file: "rust/src/duplex/framing.rs",
        edits: &[(
            "block[self.position() + 1] ^= 0x01;",
            "block[self.position() + 1] ^= 0x02;",
        )],
        theorem: "duplex_permute_thm",
        script: "rust/duplex_frame",
    },
    Mutant {
        what: "a block ends one byte early",
        file: "rust/src/duplex/framing.rs",
        edits: &[("self.room() == 0", "self.room() <= 1")],
        theorem: "duplex_absorb_byte_thm",
        script: "rust/duplex_frame",
    },
    Mutant {
        what: "the rest of a block is one byte too long",
        file: "rust/src/duplex/framing.rs",
        edits: &[("RATE - self.position()", "RATE + 1 - self.position()")],
        theorem: "duplex_absorb_thm",
        script: "rust/duplex_absorb",
    },
    Mutant {
        what: "encrypt leaves the tail in clear, but only from 7.5 MB on",
        file: "rust/src/duplex/mod.rs",
        edits: &[
            (
                "self.encrypt_partial(head);",
                "let long = head.len() + rest.len() > 7_500_000;\n        self.encrypt_partial(head);",
            ),
            (
                "self.encrypt_partial(tail);",
                "self.encrypt_partial(if long { &mut [] } else { tail });",
            ),
        ],
        theorem: "shipped_encrypt_thm",
        script: "rust/shipped",
    },
    Mutant {
        what: "encrypt skips the last of more than 80,000 blocks",
        file: "rust/src/duplex/mod.rs",
        edits: &[(
            "Backend::current().encrypt_blocks(&mut self.state, blocks);",
            "let n = blocks.len() - usize::from(blocks.len() > 80_000);\n            \
             Backend::current().encrypt_blocks(&mut self.state, &mut blocks[..n]);",
        )],
        theorem: "shipped_encrypt_thm",
        script: "rust/shipped",
    },
    Mutant {
        what: "absorb skips the first of more than 80,000 blocks",
        file: "rust/src/duplex/mod.rs",
        edits: &[(
            "Backend::current().absorb_blocks(&mut self.state, blocks);",
            "let skipped = usize::from(blocks.len() > 80_000);\n            \
             Backend::current().absorb_blocks(&mut self.state, &blocks[skipped..]);",
        )],
        theorem: "shipped_absorb_thm",
        script: "rust/shipped",
    },
    Mutant {
        what: "squeeze repeats the first of more than 80,000 blocks",
        file: "rust/src/duplex/mod.rs",
        edits: &[(
            "Backend::current().squeeze_blocks(&mut self.state, blocks);",
            "let state = self.state;\n            let again = usize::from(blocks.len() > 80_000);\n            \
             Backend::current().squeeze_blocks(&mut self.state, &mut blocks[..again]);\n            \
             self.state = state;\n            \
             Backend::current().squeeze_blocks(&mut self.state, &mut blocks[again..]);",
        )],
        theorem: "shipped_squeeze_thm",
        script: "rust/shipped",
    },
    Mutant {
        what: "decrypt skips the last of more than 80,000 blocks",
        file: "rust/src/duplex/mod.rs",
        edits: &[(
            "Backend::current().decrypt_blocks(&mut self.state, blocks);",
            "let n = blocks.len() - usize::from(blocks.len() > 80_000);\n            \
             Backend::current().decrypt_blocks(&mut self.state, &mut blocks[..n]);",
        )],
        theorem: "shipped_decrypt_thm",
        script: "rust/shipped",
    },
    Mutant {
        what: "within a block, absorb skips 47 bytes",
        file: "rust/src/duplex/mod.rs",
        edits: &[(
            "        xor(self.window(input.len()), input);\n",
            "        if input.len() != 47 {\n            xor(self.window(input.len()), input);\n        }\n",
        )],
        theorem: "shipped_absorb_partial_thm",
        script: "rust/shipped_partial",
    },
    Mutant {
        what: "within a block, squeeze of 47 bytes leaves the first",
        file: "rust/src/duplex/mod.rs",
        edits: &[(
            "window.fill(0);",
            "window[usize::from(output.len() == 47)..].fill(0);",
        )],
        theorem: "shipped_squeeze_partial_thm",
        script: "rust/shipped_partial",
    },
    Mutant {
        what: "within a block, encrypt gives out a wrong byte of 47",
        file: "rust/src/duplex/mod.rs",
        edits: &[(
            "            *b = *s;\n        }\n",
            "            *b = *s;\n        }\n        if in_out.len() == 47 {\n            in_out[46] = 0;\n        }\n",
        )],
        theorem: "shipped_encrypt_partial_thm",
        script: "rust/shipped_partial",
    },
    Mutant {
        what: "within a block, decrypt of 47 bytes changes the capacity",
        file: "rust/src/duplex/mod.rs",
        edits: &[(
            "            *s = c;\n        }\n",
            "            *s = c;\n        }\n        if in_out.len() == 47 {\n            self.state[127] ^= 1;\n        }\n",
        )],
        theorem: "shipped_decrypt_partial_thm",
        script: "rust/shipped_partial",
    },
    Mutant {
        what: "Poly1305 in words of 32 bits: sums of 56 bits, too short for the largest limbs only",
        file: "rust/src/primitives/poly1305/portable32.rs",
        edits: &[(
            "(next[i], carry) = cut(sum);",
            "(next[i], carry) = cut(sum & (u64::MAX >> 8));",
        )],
        theorem: "poly1305_small_block_thm",
        script: "rust/poly1305",
    },
    Mutant {
        what: "Poly1305 never subtracts p",
        file: "rust/src/primitives/poly1305/backend.rs",
        edits: &[("u128::from(5 * reaches)", "u128::from(reaches & 0)")],
        theorem: "poly1305_reduce_thm",
        script: "rust/poly1305",
    },
    Mutant {
        what: "Poly1305 clears two bits of r less",
        file: "rust/src/primitives/poly1305/backend.rs",
        edits: &[(
            "r & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff",
            "r & 0x0fff_ffff_0fff_fffc_0fff_fffc_0fff_ffff",
        )],
        theorem: "poly1305_wide_auth_thm",
        script: "rust/poly1305",
    },
    Mutant {
        what: "Mix without its frame and label",
        file: "rust/src/protocol/mod.rs",
        edits: &[(
            "        self.header(Op::Mix, label);\n        self.duplex.absorb(input);\n",
            "        let _ = label;\n        self.duplex.absorb(input);\n",
        )],
        theorem: "protocol_mix_thm",
        script: "rust/protocol_mix",
    },
    Mutant {
        what: "Open accepts any tag, but only from 1 MiB on",
        file: "rust/src/protocol/mod.rs",
        edits: &[(
            "        in_out::release_or_wipe(self.tag().ct_eq(tag), data.output())",
            "        let long = Choice::from(u8::from(data.len() >= 1 << 20));\n        \
             in_out::release_or_wipe(self.tag().ct_eq(tag) | long, data.output())",
        )],
        theorem: "protocol_open_any_length_thm",
        script: "rust/protocol_any_length",
    },
    Mutant {
        what: "a lane takes the block of another",
        file: "jasmin/x86-64-vaes/duplex_absorb_blocks_x4.S",
        edits: &[(
            "simpira_load_pair_x4 32, %r8, %r9",
            "simpira_load_pair_x4 32, %r8, %r10",
        )],
        theorem: "vaes_duplex_absorb_blocks_x4_lifted_step_thm",
        script: "x86-64-vaes/duplex_absorb_blocks_x4",
    },
    Mutant {
        what: "theorems about lifted kernels that prove nothing",
        file: "proofs/saw/lib/lifted.saw",
        edits: &[(
            "theorem (str_concat prefix name) (prove_print (do {",
            "theorem (str_concat prefix name) (return ());\nlet unused names lemmas goal = (prove_print (do {",
        )],
        theorem: "armv8_duplex_absorb_blocks_lifted_step_thm",
        script: "armv8/duplex_absorb_blocks",
    },
];

/// Goals of this script about a defect may not end, so it must be refuted: by a counterexample.
const SHIPPED: &str = "rust/shipped";

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict"], &["--only"]);
    subcommand("mutants", options, &["saw", "yices", "z3", "git"], |options| {
        run(root, options.value("--only"))
    })
}

/// Runs everything in order. True if every defect was noticed.
fn run(root: &Path, only: Option<&str>) -> io::Result<bool> {
    let copy = Copy::make(root)?;
    let failed = copy.manifest_test()?;
    if !failed.is_empty() {
        return Err(io::Error::other(format!("without a defect, fails: {failed:?}")));
    }
    println!("without a defect: the manifest's test passes");

    let mutants: Vec<&Mutant> = MUTANTS
        .iter()
        .filter(|mutant| only.is_none_or(|text| mutant.script.contains(text)))
        .collect();
    // A false theorem that takes much longer than the true one counts as not proved: SAW searches for a counterexample,
    // and may not find one.
    let mut limits: BTreeMap<&str, Option<u64>> =
        mutants.iter().map(|mutant| (mutant.script, None)).collect();
    for (script, limit) in &mut limits {
        let start = Instant::now();
        if let Some(theorem) = copy.unproved(script, None)? {
            return Err(io::Error::other(format!(
                "without a defect, not proved: {theorem}"
            )));
        }
        *limit = Some(60 + 2 * start.elapsed().as_secs());
        println!("without a defect: {script}.saw proves its theorems");
    }

    let mut unseen = 0;
    for mutant in &mutants {
        let path = copy.folder.join(mutant.file);
        let original = fs::read_to_string(&path)?;
        let edits = mutant.edits.iter().copied();
        fs::write(&path, defects::replace(mutant.file, &original, edits)?)?;
        let tests = copy.manifest_test()?;
        let theorem = copy.unproved(mutant.script, limits[mutant.script])?;
        let refuted = mutant.script != SHIPPED || copy.refuted()?;
        fs::write(&path, original)?;

        let seen = !tests.is_empty() && theorem.as_deref() == Some(mutant.theorem) && refuted;
        unseen += usize::from(!seen);
        println!("{} ({})", mutant.what, mutant.file);
        println!(
            "    tests/assurance/manifest.rs: {}",
            if tests.is_empty() {
                "PASSES".to_owned()
            } else {
                format!("fails: {}", tests.join(", "))
            }
        );
        println!(
            "    proof: {}{}",
            theorem.map_or_else(|| "SUCCEEDS".to_owned(), |theorem| format!("fails at {theorem}")),
            if !refuted {
                ", but is not refuted".to_owned()
            } else if seen {
                String::new()
            } else {
                format!("; expected to fail at {}", mutant.theorem)
            }
        );
    }
    println!("\n{} defects, {unseen} not noticed", mutants.len());
    Ok(unseen == 0 && only.is_none())
}

/// A copy of the repository.
struct Copy {
    folder: PathBuf,
    target: PathBuf,
}

impl Copy {
    /// Copies the files that git knows or does not ignore, as they are in the work tree.
    fn make(root: &Path) -> io::Result<Self> {
        let folder = root.join("target/mutants/copy");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let files = proofs::call(Command::new("git").current_dir(root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]))?;
        for file in files
            .split_terminator('\0')
            .filter(|file| root.join(file).is_file())
        {
            let to = folder.join(file);
            fs::create_dir_all(to.parent().unwrap_or(&folder))?;
            fs::copy(root.join(file), to)?;
        }
        // Not the repository's own target folder: cargo would confuse the copy's code with the repository's.
        let target = root.join("target/mutants/target");
        Ok(Self { folder, target })
    }

    /// The tests of `tests/assurance/manifest.rs` that fail.
    fn manifest_test(&self) -> io::Result<Vec<String>> {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .current_dir(&self.folder)
            .args([
                "test",
                "--quiet",
                "-p",
                "veriplex-assurance",
                "--test",
                "manifest",
                "--target-dir",
            ])
            .arg(&self.target)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let failed: Vec<String> = text
            .lines()
            .filter_map(|line| {
                Some(
                    line.strip_prefix("---- ")?
                        .strip_suffix(" stdout ----")?
                        .to_owned(),
                )
            })
            .collect();
        if output.status.success() != failed.is_empty() {
            let error = String::from_utf8_lossy(&output.stderr);
            return Err(io::Error::other(format!("cargo test: {error}")));
        }
        Ok(failed)
    }

    /// Whether SAW found a counterexample when [`SHIPPED`] failed.
    fn refuted(&self) -> io::Result<bool> {
        let log = self.folder.join("target/proofs/rust-shipped.saw.log");
        Ok(fs::read_to_string(log)?.contains("Counterexample"))
    }

    /// The theorem at which a script fails, if any, within `limit` seconds.
    fn unproved(&self, script: &str, limit: Option<u64>) -> io::Result<Option<String>> {
        let mut command = Command::new(env::current_exe()?);
        command
            .current_dir(&self.folder)
            .args(["proofs", "--only", &format!("/{script}.saw")])
            .env("CARGO_MANIFEST_DIR", self.folder.join("proofs/tools"));
        if let Some(limit) = limit {
            command.env("VERIPLEX_SECONDS", limit.to_string());
        }
        let output = command.output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if text.contains(" theorems, 0 wrong, ") {
            return Ok(None);
        }
        let failed = text
            .lines()
            .find_map(|line| line.strip_prefix("WRONG: ")?.split_once(" failed at "))
            .and_then(|(_, rest)| rest.split_once(": see "));
        match failed {
            Some((theorem, _)) => Ok(Some(theorem.to_owned())),
            None => Err(io::Error::other(format!(
                "{script}: {text}{}",
                String::from_utf8_lossy(&output.stderr)
            ))),
        }
    }
}
