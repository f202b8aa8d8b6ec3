//! `veriplex-tools spec-mutants`: plants defects in a copy of `spec/cryptol`. A step of `spec`, named beside each, must find
//! something false. A definition that no longer type-checks does not count.
//!
//! What is only about kernels (`Lanes.cry`, and the last parts of `ChaCha.cry`, `NH.cry` and `Poly1305.cry`) is left to the
//! theorems, and the instructions in `isa/` to `isa`.

use super::cryptol::{self, Job};
use super::{Folders, Property, TIMEOUT, broken, copy, cross, jobs, properties, target};
use crate::{Options, defects, subcommand};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// A defect: in a file of `spec/cryptol`, texts that occur once are replaced.
struct Mutant {
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    /// How the names of the steps begin, of which one must find it.
    step: &'static str,
}

const fn mutant(
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
    step: &'static str,
) -> Mutant {
    Mutant { file, edits, step }
}

const MUTANTS: &[Mutant] = &[
    mutant("Duplex", &[("(s @ i ^ b)", "(s @ i || b)")], "duplex "),
    mutant("Duplex", &[("0x01) 95 0x80", "0x02) 95 0x80")], "duplex "),
    mutant("Duplex", &[("0x01) 95 0x80", "0x01) 95 0x40")], "duplex "),
    mutant("Duplex", &[("0x01) 95 0x80", "0x01) 94 0x80")], "duplex "),
    mutant(
        "Duplex",
        &[("d.rate_idx d.frame_idx)", "d.rate_idx 0)")],
        "duplex ",
    ),
    mutant(
        "Duplex",
        &[("next.rate_idx == `rate then", "next.rate_idx + 1 == `rate then")],
        "TestDuplex absorb_blocks_are_absorb",
    ),
    mutant(
        "Duplex",
        &[("foldl xor_in d bytes", "foldl put d bytes")],
        "TestDuplex absorb_blocks_are_absorb",
    ),
    mutant(
        "Duplex",
        &[("scanl put d (zero", "scanl xor_in d (zero")],
        "TestDuplex squeeze_blocks_are_squeeze",
    ),
    mutant(
        "Duplex",
        &[("scanl xor_in d plaintext", "scanl put d plaintext")],
        "TestDuplex encrypt_blocks_are_encrypt",
    ),
    mutant(
        "Duplex",
        &[("scanl put d ciphertext", "scanl xor_in d ciphertext")],
        "TestDuplex decrypt_blocks_are_decrypt",
    ),
    mutant("Duplex", &[("if x < 128", "if x < 256")], "duplex "),
    mutant("Duplex", &[("(x >> 7)", "(x >> 8)")], "duplex "),
    mutant("Duplex", &[("drop x || 0x80", "drop x || 0x40")], "duplex "),
    mutant(
        "Duplex",
        &[("frame_idx = chained.rate_idx }", "frame_idx = d.rate_idx }")],
        "duplex ",
    ),
    mutant(
        "Duplex",
        &[("absorb d [d.frame_idx]", "absorb d [d.rate_idx]")],
        "duplex ",
    ),
    mutant(
        "Duplex",
        &[
            ("(zero : [32][8])", "(zero : [31][8])"),
            ("# drop ended", "# drop`{31} ended"),
        ],
        "duplex ",
    ),
    mutant("Duplex", &[("rate_idx = 32 }", "rate_idx = 31 }")], "duplex "),
    mutant(
        "Duplex",
        &[("if d.rate_idx > 0", "if d.rate_idx >= 0")],
        "TestDuplex ratchet",
    ),
    mutant(
        "Duplex",
        &[("if d.rate_idx > 0", "if d.rate_idx > 1")],
        "TestDuplex ratchet",
    ),
    mutant(
        "Duplex",
        &[("[d.rate_idx, d.frame_idx] #", "[d.frame_idx, d.rate_idx] #")],
        "TestDuplex deserialize_inverts_serialize",
    ),
    mutant(
        "Duplex",
        &[
            ("[d.rate_idx, d.frame_idx] #", "[d.frame_idx, d.rate_idx] #"),
            (
                "rate_idx = bytes @ 0, frame_idx = bytes @ 1",
                "rate_idx = bytes @ 1, frame_idx = bytes @ 0",
            ),
        ],
        "protocol_transcripts",
    ),
    mutant(
        "Duplex",
        &[("(d.rate_idx < `rate)", "(d.rate_idx <= `rate)")],
        "TestDuplex deserialize_refuses_a_bad_index",
    ),
    mutant(
        "Duplex",
        &[("(d.frame_idx < `rate)", "(d.frame_idx <= `rate)")],
        "TestDuplex deserialize_refuses_a_bad_index",
    ),
    mutant(
        "Duplex",
        &[("[0x00, 0x01 ^ 0x80]", "[0x01, 0x01 ^ 0x80]")],
        "TestDuplex absorb_blocks_are_absorb",
    ),
    mutant(
        "Duplex",
        &[("end_block (s ^ chunk # zero)", "end_block (chunk # drop s)")],
        "TestDuplex absorb_blocks_are_absorb",
    ),
    mutant(
        "Duplex",
        &[(
            "(end_block ((zero : Chunk) # drop s), take s)",
            "(end_block s, take s)",
        )],
        "TestDuplex squeeze_blocks_are_squeeze",
    ),
    mutant(
        "Duplex",
        &[("take s ^ plaintext)", "plaintext)")],
        "TestDuplex encrypt_blocks_are_encrypt",
    ),
    mutant(
        "Duplex",
        &[("(end_block (ciphertext # drop s)", "(absorb_block s ciphertext")],
        "TestDuplex decrypt_blocks_are_decrypt",
    ),
    mutant(
        "Duplex",
        &[(
            "foldl absorb_block s chunks",
            "foldl absorb_block s (reverse chunks)",
        )],
        "TestDuplex absorb_blocks_are_absorb",
    ),
    mutant(
        "Duplex",
        &[(
            "(\\x c -> (decrypt_block x c).0)",
            "(\\x c -> (encrypt_block x c).0)",
        )],
        "TestDuplex decrypt_blocks_are_decrypt",
    ),
    mutant(
        "Siv",
        &[("\"nonce\" nonce) \"ad\" ad", "\"ad\" nonce) \"nonce\" ad")],
        "siv ",
    ),
    mutant("Siv", &[("\"role\" 1 \"auth\"", "\"role\" 2 \"auth\"")], "siv "),
    mutant("Siv", &[("\"role\" 1 \"auth\"", "\"role\" 1 \"conf\"")], "siv "),
    mutant("Siv", &[("\"role\" 2 \"conf\"", "\"role\" 1 \"conf\"")], "siv "),
    mutant("Siv", &[("\"role\" 2 \"conf\"", "\"role\" 2 \"auth\"")], "siv "),
    mutant(
        "Siv",
        &[(
            "mix (fork_branch p \"role\" 2 \"conf\") \"tag\" tag",
            "fork_branch p \"role\" 2 \"conf\"",
        )],
        "siv ",
    ),
    mutant(
        "Siv",
        &[(
            "\"message\" plaintext) \"tag\"",
            "\"message\" plaintext) \"message\"",
        )],
        "siv ",
    ),
    mutant(
        "Siv",
        &[
            ("(mask (conf p tag) \"message\"", "(mask (conf p tag) \"text\""),
            (
                "(unmask (conf p tag) \"message\"",
                "(unmask (conf p tag) \"text\"",
            ),
        ],
        "siv ",
    ),
    mutant("Siv", &[(").1 # tag", ").1 # reverse tag")], "siv "),
    mutant(
        "Siv",
        &[("auth p plaintext == tag", "auth p plaintext == auth p plaintext")],
        "siv ",
    ),
    mutant("Siv", &[("if ok then plaintext else zero", "plaintext")], "siv "),
    mutant(
        "Protocol",
        &[("(opcode || 0x80)", "opcode")],
        "protocol_transcripts",
    ),
    mutant(
        "Protocol",
        &[
            (
                "header p 0x04 label)) plaintext",
                "header p 0x05 label)) plaintext",
            ),
            (
                "header p 0x04 label)) ciphertext",
                "header p 0x05 label)) ciphertext",
            ),
        ],
        "protocol_transcripts",
    ),
    mutant(
        "Protocol",
        &[("if tag == received", "if tag == tag")],
        "twin_transcripts",
    ),
    mutant(
        "Protocol",
        &[("label) [i]) value", "label) [i + 1]) value")],
        "protocol_transcripts",
    ),
    mutant("Aead", &[("\"ad\" ad", "\"nonce\" ad")], "aead "),
    mutant(
        "Committing",
        &[("\"tag-length\" [32]", "\"tag-length\" [16]")],
        "twin_committing",
    ),
    mutant(
        "Committing",
        &[("\"role\" 2 \"conf\"", "\"role\" 1 \"conf\"")],
        "twin_committing_siv",
    ),
    mutant(
        "Committing",
        &[("tag p == received", "tag p == tag p")],
        "twin_committing_aead",
    ),
    mutant(
        "Committing",
        &[("auth p plaintext == received", "received == received")],
        "twin_committing_siv",
    ),
    mutant("Kdf", &[("\"info\" info", "\"context\" info")], "twin_kdf"),
    mutant(
        "Kdf",
        &[(
            "\"salt\" salt) \"secret\" secret",
            "\"secret\" secret) \"salt\" salt",
        )],
        "twin_kdf",
    ),
    mutant(
        "Digest",
        &[("\"message\" message", "\"text\" message")],
        "digest ",
    ),
    mutant(
        "Mac",
        &[("message) \"tag\"", "message) \"digest\"")],
        "mac_stream ",
    ),
    mutant("Stream", &[("\"nonce\" nonce", "\"ad\" nonce")], "mac_stream "),
    mutant(
        "Aestream",
        &[
            ("(ratchet sealed \"block\",", "(sealed,"),
            ("(ratchet next \"block\",", "(next,"),
        ],
        "aestream ",
    ),
    mutant("Oae2", &[("[0x80]", "[0x01]")], "oae2 "),
    mutant(
        "Mhf",
        &[("(u >= columns`{c})", "(u > columns`{c})")],
        "twin_mhf_parents",
    ),
    mutant(
        "Mhf",
        &[("(v % 3 == 1) /\\ (u >= 2)", "(v % 3 == 1) /\\ (u > 2)")],
        "twin_mhf_parents",
    ),
    mutant(
        "Mhf",
        &[("\"required\" required", "\"optional\" required")],
        "mhf ",
    ),
    mutant("Tree", &[("climb p (level + 1)", "climb p level")], "tree "),
    mutant("Tree", &[("\"level\" [level]", "\"level\" [level + 1]")], "tree "),
    mutant("Seekable", &[("[end]", "[end ^ 1]")], "seekable "),
    mutant("Seekable", &[("place + 1) 0)", "place + 1) 1)")], "seekable "),
    mutant(
        "Tunnel",
        &[("\"sender\" 1 \"responder\"", "\"sender\" 2 \"responder\"")],
        "tunnel ",
    ),
    mutant(
        "Tunnel",
        &[
            (
                "mask (numbered d i) \"len\" (split`{3}",
                "mask (numbered d (i + 1)) \"len\" (split`{3}",
            ),
            ("unmask (numbered d i)", "unmask (numbered d (i + 1))"),
        ],
        "tunnel ",
    ),
    mutant(
        "Simpira1024",
        &[("(16 * i ^ 8 ^ c)", "(16 * i ^ 9 ^ c)")],
        "simpira1024 ",
    ),
    mutant(
        "AES",
        &[("^ 0x63", "^ 0x62")],
        "TestAES fips197_appendix_b_round_1",
    ),
    mutant(
        "AES256",
        &[("[round_constant (i / 8), 0", "[round_constant (i / 4), 0")],
        "TestAES256 fips197_appendix_c_3",
    ),
    mutant(
        "ChaCha",
        &[("(b2 ^ c2) <<< 7", "(b2 ^ c2) <<< 8")],
        "TestAdiantum rfc8439_section_2_1_1",
    ),
    mutant("Poly1305", &[("2 ^^ (8 * size)", "2 ^^ 128")], "poly1305 "),
    mutant("NH", &[("(t @ 0) * (t @ 2)", "(t @ 0) * (t @ 1)")], "hbsh "),
    mutant("Adiantum", &[("le_bytes (8 * size)", "le_bytes size")], "hbsh "),
    mutant("Xoodoo", &[("0x00000012 ]", "0x00000013 ]")], "xoodoo "),
    mutant("Xoofff", &[("<<< 13) ^ 7)", "<<< 13) ^ 6)")], "xoofff "),
    mutant("XoofffSane", &[("odd = ~ s.odd", "odd = s.odd")], "xoofff_sane "),
    mutant(
        "XoofffSanse",
        &[("(3 + 4 * zext", "(2 + 4 * zext")],
        "xoofff_sanse ",
    ),
    mutant(
        "XoofffWbc",
        &[
            ("full tweaked l1 r1 1", "full tweaked l1 r1 0"),
            ("full tweaked l2 r1 1", "full tweaked l2 r1 0"),
        ],
        "xoofff_wbc ",
    ),
];

pub fn main(args: impl Iterator<Item = String>, root: &Path) -> ExitCode {
    let options = Options::parse(args, &["--strict"], &["--only"]);
    subcommand("spec-mutants", options, &["cryptol", "z3"], |options| {
        run(root, options.value("--only"))
    })
}

/// Runs everything in order. True if every defect was found.
fn run(root: &Path, only: Option<&str>) -> io::Result<bool> {
    let text = root.join("spec/cryptol");
    let properties = properties(&fs::read_to_string(text.join("PROPERTIES.txt"))?)?;
    let seed = cross::fresh_seed();
    println!("seed of the random inputs: {seed}");
    let place = target(root).join("spec-mutants");
    let mutants: Vec<&Mutant> = MUTANTS
        .iter()
        .filter(|mutant| only.is_none_or(|name| mutant.file.contains(name)))
        .collect();

    let sound = Runs::new(root, text.clone(), &place.join("none"), &properties, seed)?;
    // Of the steps that found something: whether they pass without a defect.
    let mut passed = BTreeMap::new();
    let mut unseen = 0;
    for mutant in &mutants {
        let copied = place.join("text");
        if copied.exists() {
            fs::remove_dir_all(&copied)?;
        }
        copy(&text, &copied)?;
        let path = copied.join(format!("{}.cry", mutant.file));
        fs::write(&path, mutant.of(&fs::read_to_string(&path)?)?)?;
        let broken = Runs::new(root, copied, &place.join("copies"), &properties, seed)?;
        let (by, others) = broken.first_false(mutant.step)?;
        let result = match by {
            None => format!("NOT FOUND by {}: {}", mutant.step, others.join("; ")),
            Some(step) => {
                if !passed.contains_key(&step) {
                    passed.insert(step.clone(), sound.result(&step)?);
                }
                match &passed[&step] {
                    Ok(_) => format!("found by {step}"),
                    Err(why) => format!("NOT FOUND: {step} fails without it: {why}"),
                }
            }
        };
        unseen += usize::from(result.starts_with("NOT"));
        let (from, to) = mutant.edits[0];
        println!("{}.cry: {from:?} => {to:?}: {result}", mutant.file);
    }
    println!("\n{} defects, {unseen} not found", mutants.len());
    Ok(unseen == 0 && only.is_none())
}

/// The steps of a specification, each known answer by itself.
struct Runs {
    folders: Folders,
    jobs: Vec<Job>,
}

impl Runs {
    fn new(root: &Path, text: PathBuf, place: &Path, properties: &[Property], seed: u64) -> io::Result<Self> {
        let mut folders = Folders::of(text, place)?;
        folders.one_by_one = true;
        let jobs = jobs(root, &folders, properties, false, seed)?;
        Ok(Self { folders, jobs })
    }

    /// The first step with such a name that finds something false, and what the others before it said.
    fn first_false(&self, prefix: &str) -> io::Result<(Option<String>, Vec<String>)> {
        let mut others = Vec::new();
        let steps = self.jobs.iter().filter(|job| job.name.starts_with(prefix));
        for job in steps {
            let result = self.result(&job.name)?;
            if result.as_ref().is_err_and(|why| cryptol::is_false(why)) {
                return Ok((Some(job.name.clone()), others));
            }
            others.push(format!("{}: {result:?}", job.name));
        }
        if others.is_empty() {
            return Err(broken(format!("no step begins with {prefix}")));
        }
        Ok((None, others))
    }

    fn result(&self, name: &str) -> io::Result<Result<String, String>> {
        let job = self.jobs.iter().position(|job| job.name == name);
        let job = job.ok_or_else(|| broken(format!("no step {name}")))?;
        let outcomes = cryptol::run_all(&self.jobs[job..=job], TIMEOUT, &self.folders.scripts)?;
        let outcome = outcomes.into_iter().next();
        outcome.map_or_else(
            || Err(broken(format!("{name} did not run"))),
            |outcome| Ok(outcome.result),
        )
    }
}

impl Mutant {
    /// The text of the file with the defect.
    fn of(&self, text: &str) -> io::Result<String> {
        defects::replace(self.file, text, self.edits.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Also where Cryptol is not installed.
    #[test]
    fn each_defect_has_its_place() {
        let text = crate::root().join("spec/cryptol");
        for mutant in MUTANTS {
            let source = fs::read_to_string(text.join(format!("{}.cry", mutant.file))).unwrap();
            assert_ne!(mutant.of(&source).unwrap(), source);
        }
    }

    /// Every scheme has one.
    #[test]
    fn each_file_has_a_defect() {
        let files = super::super::modules(&crate::root().join("spec/cryptol")).unwrap();
        let with: BTreeSet<String> = MUTANTS
            .iter()
            .map(|mutant| format!("{}.cry", mutant.file))
            .collect();
        let without: Vec<&String> = files.difference(&with).collect();
        assert_eq!(without, ["Lanes.cry"]);
    }
}
