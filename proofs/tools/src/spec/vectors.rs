//! The known answers of `tests/vectors/newplex` as cases for Cryptol.

use super::cases::{self, Case, Chain, Op, TRANSCRIPT_IMPORTS, Transcript, bytes};
use super::cryptol::Job;
use super::{Folders, broken};
use serde_json::Value;
use std::path::Path;
use std::{fs, io};
use veriplex_spec::duplex::{self, Duplex};

/// Messages of at most this length are short.
const SHORT: usize = 300;
/// Transcripts with at most this much data are short.
const SHORT_TRANSCRIPT: usize = 600;
/// The memory-hard hash up to this cost is short: 5 * 2^cost blocks, each of about 34 permutations.
const SHORT_COST: usize = 0;
/// The shortest message with a level above 0.
const TREE_OF_TWO_CHUNKS: usize = 4097;
/// Messages of the tree above this length are left out even with `--all`.
const LONG: usize = 20_000;
/// About this many permutations make one run of Cryptol.
pub const BATCH: usize = 100;

type ToCase = fn(&Json) -> Case;

/// A JSON value, read strictly: anything unexpected stops the run.
pub struct Json<'a>(pub &'a Value);

impl<'a> Json<'a> {
    pub fn find(&self, key: &str) -> Option<Json<'a>> {
        self.0.get(key).map(Json)
    }
    pub fn get(&self, key: &str) -> Json<'a> {
        Json(
            self.0
                .get(key)
                .unwrap_or_else(|| panic!("no {key} in {}", self.0)),
        )
    }
    fn str(&self) -> &'a str {
        self.0.as_str().unwrap_or_else(|| panic!("no string: {}", self.0))
    }
    pub fn text(&self, key: &str) -> Vec<u8> {
        self.get(key).str().as_bytes().to_vec()
    }
    pub fn unhex(&self) -> Vec<u8> {
        let hex = self.str();
        assert!(hex.len().is_multiple_of(2) && hex.is_ascii(), "{hex}");
        let digit = |i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap_or_else(|e| panic!("{hex}: {e}"));
        (0..hex.len()).step_by(2).map(digit).collect()
    }
    pub fn bytes(&self, key: &str) -> Vec<u8> {
        self.get(key).unhex()
    }
    pub fn number(&self, key: &str) -> usize {
        let n = self
            .get(key)
            .0
            .as_u64()
            .unwrap_or_else(|| panic!("no number {key} in {}", self.0));
        usize::try_from(n).expect("a small number")
    }
    pub fn list(&self) -> impl Iterator<Item = Json<'a>> + use<'a> {
        self.0
            .as_array()
            .unwrap_or_else(|| panic!("no list: {}", self.0))
            .iter()
            .map(Json)
    }
    fn duplex(&self) -> Duplex {
        let index = |key| u8::try_from(self.number(key)).expect("an index");
        Duplex {
            state: self.bytes("state").try_into().expect("128 bytes"),
            rate_idx: index("rate_idx"),
            frame_idx: index("frame_idx"),
        }
    }
}

/// A file of known answers.
pub fn load(folder: &Path, name: &str) -> io::Result<Value> {
    let text = fs::read(folder.join(name))?;
    serde_json::from_slice(&text).map_err(|e| broken(format!("{name}: {e}")))
}

/// The jobs for all files of Newplex. With `all`, the long cases too.
pub fn jobs(root: &Path, folders: &Folders, all: bool) -> io::Result<Vec<Job>> {
    let vectors = root.join("tests/vectors/newplex");
    let load = |name: &str| load(&vectors, name);
    let short = |length: usize, limit: usize| all || length <= limit;
    let mut jobs = Vec::new();
    let mut add = |name: &str, on_text, imports: &str, cases: Vec<Case>| -> io::Result<()> {
        jobs.extend(cases::jobs(folders, on_text, name, imports, &cases, BATCH)?);
        Ok(())
    };

    let file = load("simpira1024.json")?;
    let file = Json(&file);
    let (forward, backward) = simpira1024(&file.get("vectors"));
    add("simpira1024", true, "import Simpira1024\n", forward)?;
    add("simpira1024_inverse", false, "import Simpira1024\n", backward)?;
    if all {
        let case = iterated(&file.get("iterated"));
        add("simpira1024_iterated", false, "import Simpira1024\n", vec![case])?;
    }

    let file = load("duplex.json")?;
    let cases = Json(&file)
        .get("sequences")
        .list()
        .map(|s| sequence(&s))
        .collect();
    add("duplex", false, "import Duplex\n", cases)?;

    let file = load("protocol.json")?;
    let file = Json(&file);
    for section in ["transcripts", "long_labels"] {
        let cases = file.get(section).list().map(|t| transcript(&t));
        let cases = cases
            .filter(|(_, length)| short(*length, SHORT_TRANSCRIPT))
            .map(|(t, _)| t.case());
        add(
            &format!("protocol_{section}"),
            false,
            TRANSCRIPT_IMPORTS,
            cases.collect(),
        )?;
    }
    let case = collision(&file.get("label_92_collision"));
    add("protocol_collision", false, TRANSCRIPT_IMPORTS, vec![case])?;

    let file = load("digest.json")?;
    let file: Vec<Json> = Json(&file)
        .list()
        .filter(|v| short(v.bytes("message").len(), SHORT))
        .collect();
    add(
        "digest",
        false,
        "import Digest\nimport Mac\n",
        file.iter().map(digest).collect(),
    )?;
    let file = load("mac_stream.json")?;
    let file: Vec<Json> = Json(&file)
        .list()
        .filter(|v| short(v.bytes("message").len(), SHORT))
        .collect();
    add(
        "mac_stream",
        false,
        "import Mac\nimport Stream as Stream\n",
        file.iter().map(mac_stream).collect(),
    )?;
    for name in ["aead", "siv"] {
        let file = load(&format!("{name}.json"))?;
        let length = |v: &Json| v.bytes("ad").len() + v.bytes("ciphertext").len();
        let cases = Json(&file)
            .list()
            .filter(|v| short(length(v), SHORT))
            .map(|v| sealed(&v));
        let imports = if name == "aead" {
            "import Aead\n"
        } else {
            "import Siv\n"
        };
        add(name, false, imports, cases.collect())?;
    }
    let keyed_streams: [(&str, &str, ToCase); 2] =
        [("aestream", "Aestream", aestream), ("oae2", "Oae2", oae2)];
    for (name, module, case) in keyed_streams {
        let file = load(&format!("{name}.json"))?;
        let cases = Json(&file)
            .list()
            .filter(|v| short(v.bytes("ciphertext").len(), SHORT))
            .map(|v| case(&v));
        let imports = format!("import Protocol (init, mix)\nimport {module}\n");
        add(name, false, &imports, cases.collect())?;
    }
    let file = load("mhf.json")?;
    let cases = Json(&file)
        .list()
        .filter(|v| v.number("cost") <= SHORT_COST + usize::from(all))
        .map(|v| mhf(&v));
    add("mhf", false, "import Mhf\n", cases.collect())?;

    Ok(jobs)
}

/// The jobs for the tree and for the seekable encryption. With `all`, the long cases too.
pub fn segment_jobs(root: &Path, folders: &Folders, all: bool) -> io::Result<Vec<Job>> {
    let file = load(&root.join("tests/vectors/tree"), "tree.json")?;
    let cases = trees(&Json(&file), all);
    let mut jobs = cases::jobs(folders, false, "tree", "import Tree\n", &cases, BATCH)?;
    let file = load(&root.join("tests/vectors/seekable"), "seekable.json")?;
    let cases = seekables(&Json(&file));
    jobs.extend(cases::jobs(
        folders,
        false,
        "seekable",
        "import Seekable\n",
        &cases,
        BATCH,
    )?);
    Ok(jobs)
}

/// The jobs for Poly1305 and for Adiantum and `HPolyC`.
pub fn hbsh_jobs(root: &Path, folders: &Folders, all: bool) -> io::Result<Vec<Job>> {
    let short = |length: usize| all || length <= SHORT;
    let file = load(&root.join("tests/vectors/poly1305"), "poly1305.json")?;
    let cases: Vec<Case> = (Json(&file).list())
        .filter(|v| v.0.get("message").is_some() && short(v.bytes("message").len()))
        .filter(|v| v.bytes("tag").len() == 16)
        .map(|v| poly1305(&v))
        .collect();
    let mut jobs = cases::jobs(folders, false, "poly1305", "import Poly1305\n", &cases, BATCH)?;
    let file = load(&root.join("tests/vectors/adiantum"), "hbsh.json")?;
    let cases: Vec<Case> = (Json(&file).list())
        .filter(|v| short(v.bytes("plaintext").len()))
        .map(|v| hbsh(&v))
        .collect();
    jobs.extend(cases::jobs(
        folders,
        false,
        "hbsh",
        "import Adiantum\n",
        &cases,
        BATCH,
    )?);
    Ok(jobs)
}

/// The bytes that the seed of a case stands for.
fn data(v: &Json) -> Vec<u8> {
    let mut x = v.get("seed").0.as_u64().expect("a seed");
    let bytes = (0..v.number("len")).map(|_| {
        x = x
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        x.to_be_bytes()[0]
    });
    bytes.collect()
}

fn trees(file: &Json, all: bool) -> Vec<Case> {
    let is_short = |len| len == TREE_OF_TWO_CHUNKS || len <= if all { LONG } else { SHORT };
    let cases = file.get("tree").list().filter(|v| is_short(v.number("len")));
    cases.map(|v| tree(&v)).collect()
}

fn seekables(file: &Json) -> Vec<Case> {
    let cases = file.get("seekable").list();
    let cases = cases.filter(|v| v.number("ciphertext_len") <= SHORT_SEALED);
    cases.map(|v| seekable(&v)).collect()
}

fn tree(v: &Json) -> Case {
    let (domain, message, digest) = (bytes(&v.text("domain")), data(v), bytes(&v.bytes("digest")));
    let base = match v.get("key").0 {
        Value::Null => format!("base {domain}"),
        _ => format!("keyed_base {domain} {}", bytes(&v.bytes("key"))),
    };
    Case {
        expression: format!("digest ({base}) {} == {digest}", bytes(&message)),
        cost: 8 + message.len() / 90 + v.number("out_len") / 94,
    }
}

/// The number of bytes of a sealed message in the known answers.
const SHORT_SEALED: usize = 256;

fn seekable(v: &Json) -> Case {
    let (s, message) = (v.number("segment_len"), data(v));
    let full = message.len().saturating_sub(1) / s;
    let argument = |key| bytes(&v.bytes(key));
    let base = format!(
        "(base`{{{s}}} {} {} {} {})",
        bytes(&v.text("domain")),
        argument("key"),
        argument("nonce"),
        argument("ad")
    );
    let (plaintext, sealed) = (bytes(&message), argument("ciphertext_first_256"));
    let parameters = format!("`{{{s}, {full}, {}}}", message.len() - full * s);
    Case {
        expression: format!(
            "(seal{parameters} {base} {plaintext} == {sealed}) /\\ (open{parameters} {base} {sealed} == {{ ok = True, plaintext = {plaintext} }})"
        ),
        cost: 16 + 8 * (full + 1) + message.len() / 40,
    }
}

/// The transcript after mixing in the key of a case.
fn keyed(v: &Json) -> String {
    let (domain, key) = (bytes(&v.text("domain")), bytes(&v.bytes("key")));
    format!("(mix (init {domain}) \"key\" {key})")
}

/// Seals the writes one by one, each as a block, then the end. Opening reaches the same states.
fn aestream(v: &Json) -> Case {
    let mut chain = Chain::from(&keyed(v));
    let ciphertext = v.bytes("ciphertext");
    let mut rest = ciphertext.as_slice();
    let mut cost = 0;
    let writes = v.get("writes").list().map(|write| write.unhex());
    for block in writes.filter(|block| !block.is_empty()).chain([vec![]]) {
        let (sealed, after) = rest.split_at(2 + block.len() + 16);
        rest = after;
        let (n, plaintext, before) = (block.len(), bytes(&block), chain.now());
        chain.next_with_output(&format!("seal_block {before} {plaintext}"), sealed);
        chain.require(format!(
            "open_block`{{{n}}} {before} {} == ({}, {{ ok = True, plaintext = {plaintext} }})",
            bytes(sealed),
            chain.now()
        ));
        cost += 12 + n / 47;
    }
    assert!(rest.is_empty(), "the stream is longer than its blocks");
    let (ok, end) = duplex::deserialize(v.bytes("final_state").try_into().expect("130 bytes"));
    assert!(ok, "a state");
    chain.end(&end, cost)
}

fn oae2(v: &Json) -> Case {
    let (p, b) = (keyed(v), v.number("block_size"));
    let (plaintext, ciphertext) = (v.bytes("plaintext"), v.bytes("ciphertext"));
    let (k, r) = (plaintext.len() / b, plaintext.len() % b);
    let (message, stream) = (bytes(&plaintext), bytes(&ciphertext));
    let parameters = format!("`{{{b}, {k}, {r}}}");
    Case {
        expression: format!(
            "((seal{parameters} {p} {message}).1 == {stream}) /\\ (open{parameters} {p} {stream} == {{ ok = True, plaintext = {message} }})"
        ),
        cost: 6 + 2 * (k + 1) * (2 + b / 94),
    }
}

fn mhf(v: &Json) -> Case {
    let cost = v.number("cost");
    let argument = |key| bytes(&v.bytes(key));
    let domain = bytes(&v.text("domain"));
    Case {
        expression: format!(
            "hash`{{{cost}}} {domain} {} {} == {}",
            argument("password"),
            argument("salt"),
            argument("output")
        ),
        cost: 170 << cost,
    }
}

fn poly1305(v: &Json) -> Case {
    let argument = |key| bytes(&v.bytes(key));
    let valid = v.0.get("valid").is_none_or(|valid| valid == true);
    let verify = format!(
        "verify {} {} {}",
        argument("key"),
        argument("message"),
        argument("tag")
    );
    Case {
        expression: if valid { verify } else { format!("~ {verify}") },
        cost: 1,
    }
}

/// Both directions.
fn hbsh(v: &Json) -> Case {
    let argument = |key| bytes(&v.bytes(key));
    let name = v.get("cipher").str();
    let (family, rest) = name.split_once("-XChaCha").expect("the stream cipher");
    let rounds = rest.strip_suffix("-AES256").expect("the block cipher");
    let go = if v.0.get("padding").is_some() { "_go" } else { "" };
    let cipher = family.to_lowercase() + go;
    let (tweak, plaintext, ciphertext) = (argument("tweak"), argument("plaintext"), argument("ciphertext"));
    let (t, l) = (v.bytes("tweak").len(), v.bytes("plaintext").len() - 16);
    let run = |direction: &str, from: &str, to: &str| {
        let key = argument("key");
        format!("({cipher}_{direction}`{{{rounds}, {t}, {l}}} {key} {tweak} {from} == {to})")
    };
    Case {
        expression: format!(
            "{} /\\ {}",
            run("encrypt", &plaintext, &ciphertext),
            run("decrypt", &ciphertext, &plaintext)
        ),
        cost: 20,
    }
}

/// The permutation, and its inverse.
fn simpira1024(vectors: &Json) -> (Vec<Case>, Vec<Case>) {
    let case = |function, from: Vec<u8>, to: Vec<u8>| Case {
        expression: format!("{function} {} == {}", bytes(&from), bytes(&to)),
        cost: 2,
    };
    vectors
        .list()
        .map(|v| {
            let (input, output) = (v.bytes("input"), v.bytes("output"));
            let backward = case("unpermute", output.clone(), input.clone());
            (case("permute", input, output), backward)
        })
        .unzip()
}

fn iterated(v: &Json) -> Case {
    let (start, output) = (bytes(&v.bytes("start")), bytes(&v.bytes("output")));
    let count = v.number("count");
    Case {
        expression: format!("foldl' (\\x _ -> permute x) {start} (zero : [{count}]Bit) == {output}"),
        cost: count,
    }
}

fn sequence(v: &Json) -> Case {
    let mut chain = Chain::from("empty");
    let mut cost = 0;
    for op in v.get("ops").list() {
        let d = chain.now();
        let data = || op.bytes("data");
        match op.get("op").str() {
            "absorb" => chain.next(&format!("absorb {d} {}", bytes(&data()))),
            "absorb_leb128" => chain.next(&format!("absorb_leb128 {d} {}", op.get("value").str())),
            "squeeze" => {
                chain.next_with_output(&format!("squeeze`{{{}}} {d}", op.number("n")), &op.bytes("out"));
            }
            "encrypt" => {
                chain.next_with_output(&format!("encrypt {d} {}", bytes(&data())), &op.bytes("out"));
            }
            "decrypt" => {
                chain.next_with_output(&format!("decrypt {d} {}", bytes(&data())), &op.bytes("out"));
            }
            "frame" => chain.next(&format!("frame {d} {}", op.number("id"))),
            "permute" => chain.next(&format!("pad_permute {d}")),
            "ratchet" => chain.next(&format!("ratchet {d}")),
            other => panic!("unknown operation {other}"),
        }
        cost += match op.get("op").str() {
            "squeeze" => op.number("n").div_ceil(94),
            "absorb" | "encrypt" | "decrypt" => data().len().div_ceil(94),
            _ => 1,
        };
    }
    chain.end(&v.duplex(), cost)
}

/// A transcript, and how much data is in it.
fn transcript(v: &Json) -> (Transcript, usize) {
    let mut length = 0;
    let ops = v.get("ops").list().map(|op| {
        let label = op.text("label");
        match op.get("op").str() {
            "mix" => {
                let input = op.bytes("input");
                length += input.len();
                Op::Mix { label, input }
            }
            "derive" => {
                let output = op.bytes("output");
                assert_eq!(output.len(), op.number("n"));
                length += output.len();
                Op::Derive { label, output }
            }
            name @ ("mask" | "unmask") => {
                let (plaintext, ciphertext) = (op.bytes("plaintext"), op.bytes("ciphertext"));
                length += plaintext.len();
                if name == "mask" {
                    Op::Mask {
                        label,
                        plaintext,
                        ciphertext,
                    }
                } else {
                    Op::Unmask {
                        label,
                        ciphertext,
                        plaintext,
                    }
                }
            }
            "seal" => {
                let (plaintext, sealed) = (op.bytes("plaintext"), op.bytes("sealed"));
                length += plaintext.len();
                Op::Seal {
                    label,
                    plaintext,
                    sealed,
                }
            }
            "fork" => {
                let values: Vec<Vec<u8>> = op.get("values").list().map(|x| x.unhex()).collect();
                let states: Vec<Vec<u8>> = op.get("branch_states").list().map(|x| x.unhex()).collect();
                assert_eq!(values.len(), states.len());
                Op::Fork {
                    label,
                    branches: values.into_iter().zip(states).collect(),
                    root: op.bytes("root_state"),
                    continue_with: op.number("continue_with"),
                }
            }
            "ratchet" => Op::Ratchet { label },
            other => panic!("unknown operation {other}"),
        }
    });
    let ops = ops.collect();
    let domain = v.text("domain");
    (
        Transcript {
            domain,
            ops,
            end: v.duplex(),
        },
        length,
    )
}

/// The two transcripts with the same state. Mix refuses a label of 92 bytes, so this spells out its parts.
fn collision(v: &Json) -> Case {
    let run = |side: &str| {
        v.get(side)
            .list()
            .fold(format!("init {}", bytes(&v.text("domain"))), |p, op| {
                assert_eq!(op.get("op").str(), "mix");
                format!(
                    "absorb (header ({p}) 0x02 {}) {}",
                    bytes(&op.text("label")),
                    bytes(&op.bytes("input"))
                )
            })
    };
    let (left, right) = (bytes(&v.bytes("state_left")), bytes(&v.bytes("state_right")));
    Case {
        expression: format!(
            "(serialize ({}) == {left}) /\\ (serialize ({}) == {right})",
            run("left"),
            run("right")
        ),
        cost: 12,
    }
}

fn digest(v: &Json) -> Case {
    let (domain, message) = (bytes(&v.text("domain")), v.bytes("message"));
    let m = bytes(&message);
    let keyed = format!(
        "mac {domain} {} {m} == {}",
        bytes(&v.bytes("key")),
        bytes(&v.bytes("keyed_digest"))
    );
    Case {
        expression: format!(
            "(digest {domain} {m} == {}) /\\ ({keyed})",
            bytes(&v.bytes("digest"))
        ),
        cost: 8 + message.len() / 47,
    }
}

fn mac_stream(v: &Json) -> Case {
    let (key, nonce) = (bytes(&v.bytes("key")), bytes(&v.bytes("nonce")));
    let (message, ciphertext) = (bytes(&v.bytes("message")), bytes(&v.bytes("ciphertext")));
    let (mac_domain, domain) = (bytes(&v.text("mac_domain")), bytes(&v.text("stream_domain")));
    let tag = bytes(&v.bytes("tag"));
    Case {
        expression: [
            format!("(mac {mac_domain} {key} {message} == {tag})"),
            format!("verify {mac_domain} {key} {message} {tag}"),
            format!("(Stream::encrypt {domain} {key} {nonce} {message} == {ciphertext})"),
            format!("(Stream::decrypt {domain} {key} {nonce} {ciphertext} == {message})"),
        ]
        .join(" /\\ "),
        cost: 14 + v.bytes("message").len() / 24,
    }
}

fn sealed(v: &Json) -> Case {
    let argument = |key| bytes(&v.bytes(key));
    let domain = bytes(&v.text("domain"));
    let context = format!(
        "{domain} {} {} {}",
        argument("key"),
        argument("nonce"),
        argument("ad")
    );
    let (ciphertext, cost) = (argument("ciphertext"), 12 + v.bytes("ciphertext").len() / 24);
    let expression = if v.get("valid").0.as_bool().expect("valid is a truth value") {
        let p = argument("plaintext");
        format!(
            "(seal {context} {p} == {ciphertext}) /\\ (open {context} {ciphertext} == {{ ok = True, plaintext = {p} }})"
        )
    } else {
        format!("open {context} {ciphertext} == {{ ok = False, plaintext = zero }}")
    };
    Case { expression, cost }
}
