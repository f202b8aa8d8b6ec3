//! The known answers of `tests/vectors/xoofff` as cases for Cryptol.

use super::Folders;
use super::cases::{self, Case, bytes};
use super::cryptol::Job;
use super::vectors::{Json, load};
use std::io;
use std::path::Path;

/// Cases with at most this much data, input and output together, are short.
const SHORT: usize = 700;
/// About this many permutations make one run of Cryptol. A permutation takes a hundredth of the time of Simpira-1024.
const BATCH: usize = 1500;

/// The jobs for both files. With `all`, the long cases too.
pub fn jobs(root: &Path, folders: &Folders, all: bool) -> io::Result<Vec<Job>> {
    let vectors = root.join("tests/vectors/xoofff");
    let file = load(&vectors, "xoofff.json")?;
    let modes = load(&vectors, "modes.json")?;
    let (file, modes) = (Json(&file), Json(&modes));
    let mut jobs = Vec::new();
    let mut add = |name: &str, imports: &str, cases: Vec<(Case, usize)>| -> io::Result<()> {
        let short = |(case, length)| (all || length <= SHORT).then_some(case);
        let cases: Vec<Case> = cases.into_iter().filter_map(short).collect();
        assert!(!cases.is_empty(), "no short known answers of {name}");
        jobs.extend(cases::jobs(folders, false, name, imports, &cases, BATCH)?);
        Ok(())
    };
    add(
        "xoodoo",
        "import Xoodoo\n",
        file.get("xoodoo").list().map(|v| permutation(&v)).collect(),
    )?;
    add(
        "xoofff",
        "import Xoofff\n",
        file.get("xoofff").list().map(|v| deck_function(&v)).collect(),
    )?;
    for (name, import) in [("sane", "import XoofffSane\n"), ("sanse", "import XoofffSanse\n")] {
        let cases = modes.get(name).list().map(|v| session(&v)).collect();
        add(&format!("xoofff_{name}"), import, cases)?;
    }
    let wbc = modes.get("wbc").list().map(|v| wbc(&v));
    let wbc_ae = modes.get("wbc_ae").list().map(|v| wbc_ae(&v));
    add("xoofff_wbc", "import XoofffWbc\n", wbc.chain(wbc_ae).collect())?;
    Ok(jobs)
}

/// A case with these conditions, and with `lines` as their `where`. Its cost follows from the number of bytes of data,
/// and of strings and outputs.
fn case(conditions: &[String], lines: &[String], length: usize, strings: usize) -> (Case, usize) {
    let text = if lines.is_empty() {
        String::new()
    } else {
        format!("\n  where\n    {}", lines.join("\n    "))
    };
    let expression = format!("and\n    [ {} ]{text}", conditions.join("\n    , "));
    let cost = length / 48 + 2 * strings;
    (Case { expression, cost }, length)
}

fn permutation(v: &Json) -> (Case, usize) {
    let of = |n: u8| {
        let output = bytes(&v.bytes(&format!("rounds_{n}")));
        format!("permute`{{{n}}} {} == {output}", bytes(&v.bytes("input")))
    };
    case(&[of(6), of(12)], &[], 96, 0)
}

fn deck_function(v: &Json) -> (Case, usize) {
    let mut lines = vec![format!("d0 = start {}", bytes(&v.bytes("key")))];
    let mut conditions = Vec::new();
    let (mut length, offset) = (0, v.number("offset"));
    let mut step = 0;
    let mut output = |step: usize, want: Vec<u8>, length: &mut usize| {
        *length += want.len();
        let n = want.len();
        conditions.push(format!("output`{{{offset}, {n}}} d{step} == {}", bytes(&want)));
    };
    for string in v.get("strings").list() {
        let data = string.bytes("data");
        length += data.len();
        let (domain, w) = (string.number("domain"), string.number("domain_bits"));
        lines.push(format!(
            "d{} = append d{step} {} {domain} {w}",
            step + 1,
            bytes(&data)
        ));
        step += 1;
        if let Some(want) = string.find("output_after") {
            output(step, want.unhex(), &mut length);
        }
    }
    if let Some(want) = v.find("output") {
        output(step, want.unhex(), &mut length);
    }
    case(&conditions, &lines, length, 2 * step)
}

/// A case for either mode, whichever the module imports.
fn session(v: &Json) -> (Case, usize) {
    let nonce = v
        .find("nonce")
        .map_or(String::new(), |nonce| bytes(&nonce.unhex()));
    let mut lines = vec![format!("s0 = start {} {nonce}", bytes(&v.bytes("key")))];
    let mut conditions = Vec::new();
    if let Some(tag) = v.find("tag0") {
        conditions.push(format!("tag s0 == {}", bytes(&tag.unhex())));
    }
    let (mut length, mut strings) = (0, 2);
    for (step, message) in v.get("messages").list().enumerate() {
        let [ad, ciphertext, tag] = ["ad", "ciphertext", "tag"].map(|key| message.bytes(key));
        length += 2 * ad.len() + 4 * ciphertext.len();
        strings += 6;
        let [ad, ciphertext, tag] = [ad, ciphertext, tag].map(|data| bytes(&data));
        lines.push(format!(
            "(s{}, o{step}) = open s{step} {ad} {ciphertext} {tag}",
            step + 1
        ));
        let after = format!("s{}", step + 1);
        if message.find("valid").is_some() {
            conditions.push(format!("o{step} == {{ ok = False, plaintext = zero }}"));
            conditions.push(format!("{after} == s{step}"));
        } else {
            let plaintext = bytes(&message.bytes("plaintext"));
            conditions.push(format!("o{step} == {{ ok = True, plaintext = {plaintext} }}"));
            conditions.push(format!(
                "seal s{step} {ad} {plaintext} == ({after}, {ciphertext}, {tag})"
            ));
        }
    }
    case(&conditions, &lines, length, strings)
}

fn wbc(v: &Json) -> (Case, usize) {
    let n = v.bytes("plaintext").len();
    let [key, tweak, plaintext, ciphertext] =
        ["key", "tweak", "plaintext", "ciphertext"].map(|name| bytes(&v.bytes(name)));
    let split = format!("`{{left {n}, {n} - left {n}}}");
    let conditions = [
        format!("encipher{split} {key} {tweak} {plaintext} == {ciphertext}"),
        format!("decipher{split} {key} {tweak} {ciphertext} == {plaintext}"),
    ];
    case(&conditions, &[], 6 * n, 12)
}

fn wbc_ae(v: &Json) -> (Case, usize) {
    let n = v.bytes("ciphertext").len();
    let [key, ad, ciphertext] = ["key", "ad", "ciphertext"].map(|name| bytes(&v.bytes(name)));
    let opened = |ok, plaintext: &str| {
        format!("open`{{left {n}}} {key} {ad} {ciphertext} == {{ ok = {ok}, plaintext = {plaintext} }}")
    };
    let mut conditions = Vec::new();
    if v.find("valid").is_some() {
        conditions.push(opened("False", "zero"));
    } else {
        let plaintext = bytes(&v.bytes("plaintext"));
        conditions.push(format!(
            "seal`{{left {n}}} {key} {ad} {plaintext} == {ciphertext}"
        ));
        conditions.push(opened("True", &plaintext));
    }
    case(&conditions, &[], 6 * n, 12)
}
