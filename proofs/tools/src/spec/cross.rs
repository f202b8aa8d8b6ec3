//! Compares the Cryptol with the Rust twin on random inputs.

use super::Folders;
use super::cases::{self, Case, Op, TRANSCRIPT_IMPORTS, Transcript, bytes};
use super::cryptol::Job;
use std::io;
use std::time::SystemTime;
use veriplex_spec::duplex::{self, Duplex};
use veriplex_spec::{aead, committing, kdf, mhf, protocol, simpira1024, siv};

const PERMUTATIONS: usize = 500;
const TRANSCRIPTS: usize = 100;
const PARENTS: usize = 25;
const SCHEMES: usize = 6;
const BATCH: usize = 125;

/// A seed that differs from run to run.
pub fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(1, |since| since.as_secs())
}

pub fn jobs(folders: &Folders, seed: u64) -> io::Result<Vec<Job>> {
    let mut random = Random(seed);
    let permutations: Vec<Case> = (0..PERMUTATIONS)
        .map(|_| {
            let x: [u8; 128] = random.bytes(128).try_into().expect("128 bytes");
            let expression = format!("permute {} == {}", bytes(&x), bytes(&simpira1024::permute(x)));
            Case { expression, cost: 1 }
        })
        .collect();
    let transcripts: Vec<Case> = (0..TRANSCRIPTS).map(|_| transcript(&mut random).case()).collect();
    let mut jobs = cases::jobs(
        folders,
        false,
        "twin_permutations",
        "import Simpira1024\n",
        &permutations,
        BATCH,
    )?;
    jobs.extend(cases::jobs(
        folders,
        false,
        "twin_transcripts",
        TRANSCRIPT_IMPORTS,
        &transcripts,
        BATCH,
    )?);
    // The known answers that Cryptol can evaluate have hardly any of these.
    let parents: Vec<Case> = parents(&mut random);
    // Kdf and Committing have no known answers.
    for (name, imports, scheme) in SCHEMES_OF_A_KEY {
        let cases: Vec<Case> = (0..SCHEMES).map(|_| scheme(&mut random)).collect();
        jobs.extend(cases::jobs(folders, false, name, imports, &cases, BATCH)?);
    }
    let imports = "import Duplex\nimport Mhf\n";
    jobs.extend(cases::jobs(
        folders,
        false,
        "twin_mhf_parents",
        imports,
        &parents,
        BATCH,
    )?);
    Ok(jobs)
}

type ToCase = fn(&mut Random) -> Case;

const SCHEMES_OF_A_KEY: [(&str, &str, ToCase); 5] = [
    ("twin_kdf", "import Kdf\n", derived),
    ("twin_aead", "import Aead\n", |random| {
        sealed(random, "", aead::seal)
    }),
    ("twin_siv", "import Siv\n", |random| sealed(random, "", siv::seal)),
    ("twin_committing_aead", "import Committing\n", |random| {
        sealed(random, "aead_", committing::aead_seal)
    }),
    ("twin_committing_siv", "import Committing\n", |random| {
        sealed(random, "siv_", committing::siv_seal)
    }),
];

fn derived(random: &mut Random) -> Case {
    let (domain, salt, secret, info) = (random.label(), random.data(), random.data(), random.data());
    let n = 1 + random.data().len();
    let output = kdf::kdf(&domain, &salt, &secret, &info, n);
    let arguments = [domain, salt, secret, info]
        .map(|argument| bytes(&argument))
        .join(" ");
    Case {
        expression: format!("kdf`{{{n}}} {arguments} == {}", bytes(&output)),
        cost: 16,
    }
}

type Seal = fn(&[u8], &[u8], &[u8], &[u8], &[u8]) -> Vec<u8>;

/// Sealed, opened, and refused with a bit changed.
fn sealed(random: &mut Random, prefix: &str, seal: Seal) -> Case {
    let (domain, key, nonce) = (random.label(), random.bytes(32), random.bytes(16));
    let (ad, plaintext) = (random.data(), random.data());
    let sealed = seal(&domain, &key, &nonce, &ad, &plaintext);
    let mut forged = sealed.clone();
    forged[random.below(sealed.len())] ^= 1 << random.below(8);
    let context = [domain, key, nonce, ad]
        .map(|argument| bytes(&argument))
        .join(" ");
    let (plain, n) = (bytes(&plaintext), plaintext.len());
    let expression = [
        format!("({prefix}seal {context} {plain} == {})", bytes(&sealed)),
        format!(
            "({prefix}open`{{m = {n}}} {context} {} == {{ ok = True, plaintext = {plain} }})",
            bytes(&sealed)
        ),
        format!(
            "({prefix}open`{{m = {n}}} {context} {} == {{ ok = False, plaintext = zero }})",
            bytes(&forged)
        ),
    ];
    Case {
        expression: expression.join(" /\\ "),
        cost: 45 + n / 8,
    }
}

/// Where the second and third blocks of a group begin to have optional parents, and then any blocks.
fn parents(random: &mut Random) -> Vec<Case> {
    let costs = [2, 5, 10];
    let edges = costs.into_iter().flat_map(|cost| {
        let columns = mhf::columns(cost);
        [4, 5, 7, 8, 3 * columns - 1, 3 * columns + 2].map(|v| (cost, v))
    });
    let mut cases: Vec<Case> = edges.map(|(cost, v)| parent(random, cost, v)).collect();
    cases.extend((0..PARENTS).map(|_| {
        let cost = costs[random.below(3)];
        let v = 1 + random.below(3 * (1 << cost) - 1) as u64;
        parent(random, cost, v)
    }));
    cases
}

/// Block v of the static graph of this cost, and its parent.
fn parent(random: &mut Random, cost: u8, v: u64) -> Case {
    let independent = protocol::init(&random.label());
    let (some, place) = mhf::optional_parent(cost, independent, v);
    let some = if some { "True" } else { "False" };
    Case {
        expression: format!(
            "optional_parent`{{{cost}}} {} {v} == ({some}, {place})",
            cases::duplex(&independent)
        ),
        cost: 4,
    }
}

/// `SplitMix64`: enough to spread test inputs.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("below a usize")
    }
    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next().to_le_bytes()[0]).collect()
    }
    /// Data of a random length: mostly short, sometimes across a block boundary.
    fn data(&mut self) -> Vec<u8> {
        let longest = [20, 100, 200][self.below(3)];
        let n = self.below(longest + 1);
        self.bytes(n)
    }
    fn label(&mut self) -> Vec<u8> {
        let longest = [12, 12, 91][self.below(3)];
        let n = self.below(longest + 1);
        self.bytes(n)
    }
}

/// A random transcript of three to five operations, with the twin's results.
fn transcript(random: &mut Random) -> Transcript {
    let domain = random.label();
    let mut p = protocol::init(&domain);
    let mut ops = Vec::new();
    for _ in 0..3 + random.below(3) {
        let (next, op) = operation(random, p);
        ops.push(op);
        p = next;
    }
    Transcript { domain, ops, end: p }
}

fn operation(random: &mut Random, p: Duplex) -> (Duplex, Op) {
    let (label, data) = (random.label(), random.data());
    match random.below(8) {
        0 => (protocol::mix(p, &label, &data), Op::Mix { label, input: data }),
        1 => {
            let (next, output) = protocol::derive(p, &label, data.len());
            (next, Op::Derive { label, output })
        }
        2 => {
            let (next, ciphertext) = protocol::mask(p, &label, &data);
            (
                next,
                Op::Mask {
                    label,
                    plaintext: data,
                    ciphertext,
                },
            )
        }
        3 => {
            let (next, plaintext) = protocol::unmask(p, &label, &data);
            (
                next,
                Op::Unmask {
                    label,
                    ciphertext: data,
                    plaintext,
                },
            )
        }
        4 => {
            let (next, sealed) = protocol::seal(p, &label, &data);
            (
                next,
                Op::Seal {
                    label,
                    plaintext: data,
                    sealed,
                },
            )
        }
        5 => {
            let (_, mut sealed) = protocol::seal(p, &label, &data);
            let changed = random.below(sealed.len());
            sealed[changed] ^= 1 << random.below(8);
            let (next, opened) = protocol::open(p, &label, &sealed);
            assert!(!opened.ok, "the twin refuses a forgery");
            (next, Op::Refuse { label, sealed })
        }
        6 => {
            let values: Vec<Vec<u8>> = (0..random.below(3)).map(|_| random.data()).collect();
            let mut states = vec![protocol::fork_root(p, &label)];
            for (i, value) in (1..).zip(&values) {
                states.push(protocol::fork_branch(p, &label, i, value));
            }
            let continue_with = random.below(states.len());
            let serialized = |d: &Duplex| duplex::serialize(*d).to_vec();
            let op = Op::Fork {
                label,
                branches: values
                    .into_iter()
                    .zip(states[1..].iter().map(serialized))
                    .collect(),
                root: serialized(&states[0]),
                continue_with,
            };
            (states[continue_with], op)
        }
        _ => (protocol::ratchet(p, &label), Op::Ratchet { label }),
    }
}
