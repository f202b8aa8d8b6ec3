//! Damaged files, parts of files, files in armor and for several receivers; signatures; keys under passwords.

use std::process::Output;

use veriplex::{sig, siv::Siv};

use super::*;

const DECRYPT: [&str; 3] = ["decrypt", "--key-file", "key"];

#[test]
fn damaged_files_are_refused() {
    let folder = Folder::new();
    let plaintext = noise(3 * SEGMENT_LEN + 100);
    let sealed = encrypted(&KEY, &[9; 32], &plaintext);
    let slot = SEGMENT_LEN + 16;
    let file = |bytes: &[u8], reason: &str| {
        folder.write("bad.vpx", bytes);
        let before = folder.names();
        let output = folder.run(&["decrypt", "--key-file", "key", "bad.vpx"]);
        fails(&output, UNVERIFIED, "bad.vpx", reason);
        assert_eq!(folder.names(), before);
        // Of a file, the end is verified first: nothing of a cut one is given out.
        let output = folder.run(&["decrypt", "--key-file", "key", "-o", "-", "bad.vpx"]);
        fails(&output, UNVERIFIED, "bad.vpx", reason);
        output.stdout
    };
    let pipe = |bytes: &[u8]| {
        let output = folder.pipe(&DECRYPT, bytes);
        fails(&output, UNVERIFIED, "standard input", "");
        let wrong_key = stderr(&output).contains("wrong key");
        assert!(!wrong_key || bytes[..SEGMENTS] != sealed[..SEGMENTS]);
        assert!(!stderr(&output).contains("another key"), "{output:?}");
        assert!(plaintext.starts_with(&output.stdout));
        output.stdout.len()
    };
    succeeds(&folder.pipe(&DECRYPT, &sealed));
    for at in [0, 8, 9, 41, 42, 57] {
        let mut damaged = sealed.clone();
        damaged[at] ^= 1;
        let reason = if at < 9 { "" } else { "wrong key" };
        assert_eq!(file(&damaged, reason), b"");
        assert_eq!(pipe(&damaged), 0);
        assert_eq!(file(&sealed[..at], "too short"), b"");
    }
    // The key is right: what is wrong is the file, and where.
    for at in [SEGMENTS, SEGMENTS + slot - 1, SEGMENTS + slot, sealed.len() - 1] {
        let mut damaged = sealed.clone();
        damaged[at] ^= 1;
        let segment = (at - SEGMENTS) / slot;
        let place = format!("damaged at offset {}", SEGMENTS + segment * slot);
        let given = file(&damaged, &place);
        assert!(plaintext[..segment * SEGMENT_LEN].starts_with(&given));
        pipe(&damaged);
    }
    // Cut, also between segments; extended; reordered; a segment dropped.
    for cut in [
        SEGMENTS,
        SEGMENTS + 1,
        SEGMENTS + slot,
        SEGMENTS + 2 * slot,
        SEGMENTS + 2 * slot + 16,
        sealed.len() - 1,
    ] {
        assert_eq!(file(&sealed[..cut], ""), b"");
        pipe(&sealed[..cut]);
    }
    let [a, b] = [SEGMENTS, SEGMENTS + slot].map(|at| &sealed[at..at + slot]);
    let head = &sealed[..SEGMENTS];
    let rest = &sealed[SEGMENTS + 2 * slot..];
    file(&[&sealed[..], &[0]].concat(), "truncated, extended, or damaged");
    file(
        &[head, b, a, rest].concat(),
        &format!("damaged at offset {SEGMENTS}"),
    );
    file(&[head, b, rest].concat(), "truncated, extended, or damaged");
    file(&sealed.repeat(2), "truncated, extended, or damaged");
    let empty = encrypted(&KEY, &[9; 32], b"");
    succeeds(&folder.pipe(&DECRYPT, &empty));
    assert_eq!(file(&[&empty[..], b"\n"].concat(), "extended"), b"");
    file(b"", "too short: not encrypted");
    let mut other_version = sealed.clone();
    other_version[8] = 4;
    file(&other_version, "another version");
    // Another key is told from damage.
    folder.write("bad.vpx", &encrypted(&[1; 32], &[9; 32], b"x"));
    fails(
        &folder.run(&["decrypt", "-k", "key", "bad.vpx"]),
        UNVERIFIED,
        "bad.vpx",
        "wrong key",
    );
    // What is no veriplex file is called so.
    fails(
        &folder.pipe(&DECRYPT, b"some other file"),
        UNVERIFIED,
        "standard input",
        "not a veriplex file",
    );
    fails(
        &folder.pipe(&DECRYPT, b"VPX-SEAL\x01"),
        UNVERIFIED,
        "standard input",
        "use veriplex unseal",
    );
}

/// All that a command line that is refused has in common is that it says how.
#[track_caller]
fn fails_usage(output: &Output) {
    assert_eq!(output.status.code(), Some(USAGE), "{output:?}");
    assert_eq!(output.stdout, b"");
}

#[test]
fn parts_of_plaintexts() {
    let folder = Folder::new();
    let plaintext = noise(100_000);
    folder.write("1.vpx", &encrypted(&KEY, &[9; 32], &plaintext));
    folder.write("3", &plaintext);
    succeeds(&folder.run(&["encrypt", "--deterministic", "-k", "key", "3"]));
    folder.write("plain", &plaintext);
    succeeds(&folder.run(&["encrypt", "--armor", "-k", "key", "-o", "armored", "plain"]));
    for (offset, length) in [
        (0, Some(0)),
        (0, Some(1)),
        (16_383, Some(2)),
        (16_384, Some(16_384)),
        (99_999, Some(1)),
        (99_999, Some(50)),
        (70_000, None),
        (100_000, None),
        (0, Some(u64::MAX)),
    ] {
        let start = usize::try_from(offset).unwrap();
        let len = length.map_or(usize::MAX, |length: u64| usize::try_from(length).unwrap());
        let expected = &plaintext[start..start.saturating_add(len).min(plaintext.len())];
        let mut options = vec![format!("--offset={offset}")];
        options.extend(length.map(|length| format!("--length={length}")));
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        for name in ["1.vpx", "armored"] {
            let output = folder.run(&[&DECRYPT[..], &options, &["-o", "-", name]].concat());
            succeeds(&output);
            assert!(output.stdout == expected, "{name} {options:?}");
            let output = folder.pipe(&[&DECRYPT[..], &options].concat(), &folder.read(name));
            succeeds(&output);
            assert!(output.stdout == expected, "piped {name} {options:?}");
        }
        succeeds(&folder.run(&[&DECRYPT[..], &options, &["-fo", "out", "3.vpx"]].concat()));
        assert!(folder.read("out") == expected);
    }
    for name in ["1.vpx", "3.vpx", "armored"] {
        let output = folder.run(&[&DECRYPT[..], &["--offset", "100001", "-fo", "none", name]].concat());
        fails(&output, USAGE, name, "beyond the plaintext of 100000 bytes");
        assert!(!folder.path("none").exists());
    }

    // Only what is wanted is opened, and the end: damage elsewhere does not matter, a cut does.
    let mut damaged = folder.read("1.vpx");
    damaged[SEGMENTS + 5] ^= 1;
    folder.write("damaged.vpx", &damaged);
    let part = [&DECRYPT[..], &["--offset", "20000", "--length", "10", "-o", "-"]].concat();
    let output = folder.run(&[&part[..], &["damaged.vpx"]].concat());
    succeeds(&output);
    assert_eq!(output.stdout, &plaintext[20_000..20_010]);
    folder.write("damaged.vpx", &damaged[..SEGMENTS + 2 * (SEGMENT_LEN + 16)]);
    let output = folder.run(&[&part[..], &["damaged.vpx"]].concat());
    fails(&output, UNVERIFIED, "damaged.vpx", "truncated");
    assert_eq!(output.stdout, b"");
    damaged[SEGMENTS + 5] ^= 1;
    damaged[SEGMENTS + SEGMENT_LEN + 16 + 5] ^= 1;
    folder.write("damaged.vpx", &damaged);
    let output = folder.run(&[&part[..], &["damaged.vpx"]].concat());
    let place = format!("damaged at offset {}", SEGMENTS + SEGMENT_LEN + 16);
    fails(&output, UNVERIFIED, "damaged.vpx", &place);
    assert_eq!(output.stdout, b"");
}

#[test]
fn threads_do_not_change_files() {
    let folder = Folder::new();
    let plaintext = noise(3_000_000);
    folder.write("file", &plaintext);
    for threads in ["1", "2", "7"] {
        succeeds(&folder.run(&["encrypt", "-j", threads, "-k", "key", "-fo", "out", "file"]));
        let sealed = folder.read("out");
        let salt = sealed[HEADER_LEN..HEADER_TAG].try_into().unwrap();
        assert!(sealed == encrypted(&KEY, salt, &plaintext));
        let output = folder.run(&["decrypt", "--threads", threads, "-k", "key", "-o", "-", "out"]);
        succeeds(&output);
        assert!(output.stdout == plaintext);
        let output = folder.pipe(&["decrypt", "--threads", threads, "-k", "key"], &sealed);
        assert!(output.stdout == plaintext);
    }
    fails_usage(&folder.run(&["encrypt", "-j", "0", "-k", "key", "file"]));
}

#[test]
fn several_files() {
    let folder = Folder::with_private_keys();
    for name in ["a", "b", "c"] {
        folder.write(name, name.as_bytes());
    }
    let names = |ending: &str| ["a", "b", "c"].map(|name| format!("{name}.{ending}"));
    let with = |args: &[&str], files: &[String; 3]| {
        let files = files.each_ref().map(String::as_str);
        folder.run(&[args, &files].concat())
    };
    let plain = ["a", "b", "c"].map(String::from);
    for (make, open, ending) in [
        (
            &["encrypt", "-k", "key"][..],
            &["decrypt", "-k", "key"][..],
            "vpx",
        ),
        (
            &["seal", "-k", "1", "--to", "2.pub"],
            &["unseal", "-q", "-k", "2", "--from", "1.pub"],
            "sealed",
        ),
    ] {
        succeeds(&with(make, &plain));
        for name in &plain {
            fs::remove_file(folder.path(name)).unwrap();
        }
        succeeds(&with(open, &names(ending)));
        for name in &plain {
            assert_eq!(folder.read(name), name.as_bytes());
        }
        // One that fails does not stop the others.
        fs::remove_file(folder.path("a")).unwrap();
        fs::remove_file(folder.path("c")).unwrap();
        let output = with(open, &names(ending));
        fails(&output, IO, "b", "already exists");
        assert_eq!(folder.read("c"), b"c");
        let one = [make, &["-o", "out", "a", "b"]].concat();
        fails(&folder.run(&one), USAGE, "--output", "must be an existing folder");
    }
    succeeds(&with(&["sign", "-k", "1"], &plain));
    let verify = ["verify", "--from", "1.pub"];
    succeeds(&with(&verify, &plain));
    folder.write("b", b"changed");
    let output = with(&verify, &plain);
    fails(&output, UNVERIFIED, "b", "the file or its signature was changed");
    assert!(stdout(&output).contains("c: OK\n"));
    let output = with(&["verify", "--from", "1.pub", "--signature", "a.vpsig"], &plain);
    fails(&output, USAGE, "--signature", "one file");
}

#[test]
fn armor() {
    let folder = Folder::with_private_keys();
    let plaintext = noise(100_000);
    folder.write("file", &plaintext);
    folder.write("password", b"password");
    for (make, open) in [
        (&["encrypt", "-k", "key"][..], &["decrypt", "-k", "key"][..]),
        (
            &["encrypt", "--deterministic", "-k", "key"],
            &["decrypt", "-k", "key"],
        ),
        (
            &["seal", "-k", "1", "--to", "2.pub"],
            &["unseal", "-q", "-k", "2", "--from", "1.pub"],
        ),
    ] {
        succeeds(&folder.run(&[make, &["--armor", "-fo", "text", "file"]].concat()));
        let text = String::from_utf8(folder.read("text")).unwrap();
        assert!(text.starts_with("-----BEGIN VERIPLEX FILE-----\n"));
        assert!(text.ends_with("\n-----END VERIPLEX FILE-----\n"));
        assert!(text.lines().all(|line| line.len() <= 64));
        succeeds(&folder.run(&[open, &["-fo", "out", "text"]].concat()));
        assert!(folder.read("out") == plaintext);
        if !make.contains(&"--deterministic") {
            let crlf = text.replace('\n', "\r\n");
            let output = folder.pipe(open, crlf.as_bytes());
            succeeds(&output);
            assert!(output.stdout == plaintext);
            let output = folder.pipe(&[make, &["-a"]].concat(), &plaintext);
            assert!(output.stdout.starts_with(b"-----BEGIN"));
            assert!(folder.pipe(open, &output.stdout).stdout == plaintext);
        }
        // Damaged text is damaged text; damaged content is refused as ever.
        for (bad, reason) in [
            (text[..text.len() / 2].to_owned(), ": truncated"),
            (text.replace("-----END", "-----FIN"), "in armor, line 2"),
            (format!("{text}more"), "unexpected data after the end"),
        ] {
            folder.write("bad", bad.as_bytes());
            let output = folder.run(&[open, &["-o", "none", "bad"]].concat());
            fails(&output, UNVERIFIED, "bad", reason);
            assert!(!folder.path("none").exists());
        }
    }
    // A pipe gets what was verified before the cut, and nothing else.
    let long = noise(4 << 20);
    let text = folder.pipe(&["encrypt", "-a", "-k", "key"], &long).stdout;
    let output = folder.pipe(&["decrypt", "-j", "2", "-k", "key"], &text[..text.len() / 2]);
    fails(&output, UNVERIFIED, "standard input", "in armor, line ");
    assert!(!output.stdout.is_empty() && long.starts_with(&output.stdout));
    assert_eq!(output.stdout.len() % SEGMENT_LEN, 0);
    let mut damaged = text.clone();
    damaged[text.len() / 2] = if damaged[text.len() / 2] == b'A' {
        b'B'
    } else {
        b'A'
    };
    let output = folder.pipe(&["decrypt", "-j", "2", "-k", "key"], &damaged);
    fails(&output, UNVERIFIED, "standard input", "at or after line ");
    assert!(long.starts_with(&output.stdout) && output.stdout.len() < long.len() / 2);
    // To a terminal, text may go.
    #[cfg(target_os = "linux")]
    {
        let shown =
            hardening::on_a_terminal(&mut folder.command(&["encrypt", "-k", "key", "-a", "-o", "-", "key"]));
        assert!(shown.starts_with("-----BEGIN VERIPLEX FILE-----\r\n"), "{shown}");
    }
}

/// What is armor, and is not taken for it, is an error that says why.
#[test]
fn armor_that_is_not_taken_says_why() {
    let folder = Folder::new();
    folder.write("file", b"plaintext");
    succeeds(&folder.run(&["encrypt", "-a", "-k", "key", "-o", "good", "file"]));
    let text = String::from_utf8(folder.read("good")).unwrap();
    let utf16 = |order: fn(u16) -> [u8; 2], mark: &str| -> Vec<u8> {
        format!("{mark}{text}").encode_utf16().flat_map(order).collect()
    };
    let before = "unexpected data before -----BEGIN";
    for (bad, reason) in [
        (utf16(u16::to_le_bytes, "\u{feff}"), "UTF-16; save it as UTF-8"),
        (utf16(u16::to_be_bytes, "\u{feff}"), "UTF-16; save it as UTF-8"),
        (utf16(u16::to_le_bytes, ""), "UTF-16; save it as UTF-8"),
        (format!("\u{feff}{text}").into(), "byte order mark"),
        (format!("\n{text}").into(), before),
        (format!("  {}", text.replace('\n', "\n  ")).into(), before),
        (format!("Here it is:\n\n{text}").into(), before),
        (text.replacen('\n', "\n ", 1).into(), "in armor, line 2: damaged"),
        (text.replacen("FILE", "FILM", 1).into(), "not a veriplex file"),
    ] {
        folder.write("bad", &bad);
        for output in [
            folder.run(&["decrypt", "-k", "key", "-o", "-", "bad"]),
            folder.pipe(&DECRYPT, &bad),
        ] {
            assert_eq!(output.status.code(), Some(UNVERIFIED), "{output:?}");
            assert!(stderr(&output).contains(reason), "{reason}: {output:?}");
            assert_eq!(stderr(&output).lines().count(), 1);
            assert_eq!(output.stdout, b"");
        }
    }
    // What mail programs do to lines does not matter.
    for good in [
        text.replace('\n', "\r\n"),
        text.replace('\n', " \n"),
        text.replace('\n', "\t \r\n"),
        text.trim_end().to_owned(),
    ] {
        let output = folder.pipe(&DECRYPT, good.as_bytes());
        succeeds(&output);
        assert_eq!(output.stdout, b"plaintext");
    }
}

/// Once more is seldom meant, and is done.
#[test]
fn encrypting_what_is_encrypted_is_warned_of() {
    let folder = Folder::with_private_keys();
    folder.write("a.vpx", b"x");
    folder.write("b.sealed", b"x");
    for args in [
        &["encrypt", "-k", "key"][..],
        &["seal", "-k", "1", "--to", "2.pub"],
    ] {
        for name in ["a.vpx", "b.sealed"] {
            let output = folder.run(&[args, &["-fo", "out", name]].concat());
            assert_eq!(output.status.code(), Some(0), "{output:?}");
            let warning =
                format!("veriplex: {name}: encrypted already, judging by its name; encrypting it again\n");
            assert_eq!(stderr(&output), warning);
        }
        succeeds(&folder.run(&[args, &["-fo", "out", "1"]].concat()));
    }
}

/// What a stanza takes: an encapsulation, the file key, a tag.
const STANZA_LEN: usize = 1120 + 32 + 16;

#[test]
fn sealed_to_several() {
    let folder = Folder::with_private_keys();
    let plaintext = noise(70_000);
    folder.write("file", &plaintext);
    let list = format!("# all\n\n{} Bob\n{}", public_line(2).trim_end(), public_line(3));
    folder.write("list", list.as_bytes());
    let unseal = |receiver: &str, from: &str, sealed: &[u8]| {
        folder.pipe(&["unseal", "-q", "-k", receiver, "--from", from], sealed)
    };
    for to in [
        &["--to", "2.pub", "--to", "3.pub"][..],
        &["--to", "list"],
        &["--to", "2.pub", "--to", "list", "--to", "3.pub"],
    ] {
        succeeds(&folder.run(&[&["seal", "-k", "1", "-f", "file"][..], to].concat()));
        let sealed = folder.read("file.sealed");
        assert_eq!(sealed[..10], *b"VPX-SEAL\x01\x02");
        for receiver in ["2", "3"] {
            let output = unseal(receiver, "1.pub", &sealed);
            succeeds(&output);
            assert!(output.stdout == plaintext);
            assert_eq!(unseal(receiver, "2.pub", &sealed).status.code(), Some(UNVERIFIED));
        }
        let output = unseal("1", "1.pub", &sealed);
        fails(
            &output,
            UNVERIFIED,
            "standard input",
            "not sealed to this key by this sender",
        );
        assert_eq!(output.stdout, b"");
    }

    // Everything counts.
    let sealed = folder
        .pipe(&["seal", "-k", "1", "--to", "list"], b"plaintext")
        .stdout;
    assert_eq!(sealed.len(), 11 + 2 * STANZA_LEN + SALT_LEN + 16 + 9 + 16);
    for at in (0..sealed.len()).filter(|at| *at < 50 || at % 97 == 0 || *at > 11 + 2 * STANZA_LEN - 50) {
        let mut damaged = sealed.clone();
        damaged[at] ^= 1;
        let output = unseal("2", "1.pub", &damaged);
        fails(&output, UNVERIFIED, "standard input", "");
        assert_eq!(output.stdout, b"", "{at}");
    }

    let file = sealed_by_hand(1, &hybrid_key(1, "seal"), &[3, 2]);
    for receiver in ["2", "3"] {
        let output = unseal(receiver, "1.pub", &file);
        succeeds(&output);
        assert_eq!(output.stdout, b"by hand");
    }
    // The second receiver's part counts for the first.
    let mut other = file.clone();
    other[10 + STANZA_LEN - 1] ^= 1;
    let output = unseal("2", "1.pub", &other);
    fails(
        &output,
        UNVERIFIED,
        "standard input",
        "its first bytes are damaged",
    );
}

/// As documented.
fn sealed_by_hand(version: u8, sender: &hybrid::PrivateKey, receivers: &[u8]) -> Vec<u8> {
    let first = [b"VPX-SEAL", &[version, receivers.len().to_le_bytes()[0]][..]].concat();
    let mut header = first.clone();
    for &receiver in receivers {
        let (encapsulation, mut protocol) = hybrid::setup_sender(
            label!("veriplex.seal.v1"),
            sender,
            hybrid_key(receiver, "seal").public_key(),
            &mut veriplex::os_rng(),
        )
        .unwrap();
        protocol.mix(label!("header"), &first);
        let mut key = [7; 32];
        let tag = protocol.seal_in_place_detached(label!("file-key"), &mut key);
        header.extend([&encapsulation[..], &key, &tag].concat());
    }
    header.push(0);
    segments(&header, &[7; 32], &[9; 32], b"by hand")
}

#[test]
fn one_of_several_senders() {
    let folder = Folder::with_private_keys();
    let list = format!("{} Alice\u{202e}\n{}", public_line(1).trim_end(), public_line(3));
    folder.write("senders", list.as_bytes());
    let unseal = |from: &str, sealed: &[u8]| folder.pipe(&["unseal", "-k", "2", "--from", from], sealed);
    let fingerprint = hex::encode(digest::digest(label!("veriplex.public-key.v1"), &public_bytes(3)));
    for (sender, named) in [("1", "Alice\\u{202e}"), ("3", &fingerprint)] {
        let sealed = folder
            .pipe(&["seal", "-k", sender, "--to", "2.pub"], b"message")
            .stdout;
        let output = unseal("senders", &sealed);
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), "message"));
        assert_eq!(
            stderr(&output),
            format!("veriplex: standard input: sealed by {named}\n")
        );
        // A file with one key names its owner.
        let output = unseal(&format!("{sender}.pub"), &sealed);
        assert_eq!(
            stderr(&output),
            format!("veriplex: standard input: sealed by {sender}\n")
        );
        // Nobody is named of what does not open.
        let mut damaged = sealed.clone();
        *damaged.last_mut().unwrap() ^= 1;
        fails(
            &unseal("senders", &damaged),
            UNVERIFIED,
            "standard input",
            "damaged",
        );
    }
    let own = folder
        .pipe(&["seal", "-k", "2", "--to", "2.pub"], b"message")
        .stdout;
    fails(
        &unseal("senders", &own),
        UNVERIFIED,
        "standard input",
        "by one of these senders",
    );

    folder.write("file", b"content");
    for (signer, named) in [("1", "Alice\\u{202e}"), ("3", &fingerprint)] {
        succeeds(&folder.run(&["sign", "-f", "-k", signer, "file"]));
        let output = folder.run(&["verify", "--from", "senders", "file"]);
        succeeds(&output);
        assert!(
            stdout(&output).starts_with(&format!("file: OK\nsigned by: {named}\ntrusted comment: ")),
            "{output:?}"
        );
    }
    succeeds(&folder.run(&["sign", "-f", "-k", "2", "file"]));
    let output = folder.run(&["verify", "--from", "senders", "file"]);
    fails(&output, UNVERIFIED, "file", "not by any of 2 keys");
}

#[test]
fn unknown_senders() {
    let folder = Folder::with_private_keys();
    let sealed = folder
        .pipe(&["seal", "--anonymous", "--to", "2.pub"], b"message")
        .stdout;
    assert_eq!(sealed[..10], *b"VPX-SEAL\x02\x01");
    let anonymous =
        |receiver: &str, sealed: &[u8]| folder.pipe(&["unseal", "-k", receiver, "--anonymous"], sealed);
    let from = |sealed: &[u8]| folder.pipe(&["unseal", "-k", "2", "--from", "1.pub"], sealed);
    for sealed in [&sealed, &sealed_by_hand(2, &hybrid_key(0, "seal"), &[3, 2])] {
        let output = anonymous("2", sealed);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output) == "message" || stdout(&output) == "by hand");
        assert_eq!(
            stderr(&output),
            "veriplex: standard input: nobody knows who sealed it\n"
        );
        // Who asks for a sender is not given something of nobody, nor the other way round.
        fails(&from(sealed), UNVERIFIED, "standard input", "(--anonymous");
    }
    fails(
        &anonymous("3", &sealed),
        UNVERIFIED,
        "standard input",
        "not sealed to this key",
    );
    let undecided = folder.pipe(&["unseal", "-k", "2"], &sealed);
    fails_usage(&undecided);
    assert!(stderr(&undecided).contains("<--from <FILE>|--anonymous>"));
    let known = folder
        .pipe(&["seal", "-k", "1", "--to", "2.pub"], b"message")
        .stdout;
    fails(&anonymous("2", &known), UNVERIFIED, "standard input", "--from");
    // The version counts: nobody's file is not taken for one of a sender, even if that is trusted.
    for (sealed, version) in [(&sealed, 1), (&known, 2)] {
        let mut changed = sealed.clone();
        changed[8] = version;
        folder.write("nobody.pub", public_line(0).as_bytes());
        let output = if version == 1 {
            folder.pipe(&["unseal", "-k", "2", "--from", "nobody.pub"], &changed)
        } else {
            anonymous("2", &changed)
        };
        fails(&output, UNVERIFIED, "standard input", "not sealed to this key");
        assert_eq!(output.stdout, b"");
    }
}

fn key_id(key: u8) -> String {
    public(key)[..16].into()
}

#[test]
fn signatures_with_comments() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    let verify = |key| folder.run(&["verify", "--from-key", &public(key), "file"]);
    succeeds(&folder.run(&["sign", "-k", "1", "file"]));
    let text = String::from_utf8(folder.read("file.vpsig")).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    assert!(
        first.starts_with(&format!("veriplex-signature-v1 {} ", key_id(1))),
        "{text}"
    );
    assert!(
        second.starts_with("trusted comment: time:20") && second.ends_with("Z file:file\n"),
        "{text}"
    );
    let output = verify(1);
    succeeds(&output);
    assert_eq!(stdout(&output), format!("file: OK\n{second}"));
    // Another key is named.
    fails(
        &verify(2),
        UNVERIFIED,
        "file",
        &format!("signed by the key {}, not by {}", key_id(1), key_id(2)),
    );

    // By hand, as documented.
    for comment in ["", "release 1.2", "naïve 文件"] {
        let message = [
            &(comment.len() as u64).to_le_bytes(),
            comment.as_bytes(),
            b"content",
        ]
        .concat();
        let signature = sig::sign(
            label!("veriplex.sign.v1"),
            &sign_key(1),
            &message,
            &mut veriplex::os_rng(),
        );
        let digits = hex::encode(signature.to_bytes());
        let good = format!(
            "veriplex-signature-v1 {} {digits}\ntrusted comment: {comment}\n",
            key_id(1)
        );
        folder.write("file.vpsig", good.as_bytes());
        let output = verify(1);
        succeeds(&output);
        let shown = if comment.is_empty() {
            String::new()
        } else {
            format!("trusted comment: {comment}\n")
        };
        assert_eq!(stdout(&output), format!("file: OK\n{shown}"));
        for (bad, reason) in [
            (
                good.replace("comment: ", "comment: x"),
                "the file or its signature was changed",
            ),
            (good.replace(&key_id(1), &key_id(2)), "signed by the key"),
            (
                good.replace(&key_id(1), &key_id(1).to_uppercase()),
                "not a signature",
            ),
            (String::new(), "not a signature"),
            (format!(" {good}"), "not a signature"),
            (good.replace("-v1", "-v2"), "not a signature"),
            (good.replacen(&digits, &digits[1..], 1), "not a signature"),
            (format!("{good}more\n"), "not a signature"),
            (good.replace("comment: ", "comment: \u{1b}[8m"), "not a signature"),
            (good.replace("comment: ", "comment: \u{202e}"), "not a signature"),
            (good.replace("trusted ", ""), "not a signature"),
            (good.replace("\ntrusted", " trusted"), "not a signature"),
            (
                good.replace("comment: ", &format!("comment: {}", "x".repeat(1025))),
                "not a signature",
            ),
        ] {
            folder.write("file.vpsig", bad.as_bytes());
            let name = if reason == "not a signature" {
                "file.vpsig"
            } else {
                "file"
            };
            let output = verify(1);
            fails(&output, UNVERIFIED, name, reason);
            assert_eq!(stdout(&output), "");
        }
    }
    fs::remove_file(folder.path("file.vpsig")).unwrap();
    succeeds(&folder.run(&["sign", "-k", "1", "--comment", "for you", "file"]));
    assert!(
        folder
            .read("file.vpsig")
            .ends_with(b"\ntrusted comment: for you\n")
    );
    for bad in ["two\nlines", "\u{1b}[8m", &"x".repeat(1025), "blank "] {
        let output = folder.run(&["sign", "-k", "1", "-f", "--comment", bad, "file"]);
        fails(&output, USAGE, "the comment", "");
    }
}

#[test]
fn private_keys_under_passwords() {
    let folder = Folder::new();
    folder.write("password", b"correct horse\n");
    folder.write("wrong", b"correct horsf\n");
    folder.write("file", b"content");
    let made = folder.run(&[
        "key",
        "generate",
        "--private",
        "--password-file=password",
        "--cost=3",
        "mine",
    ]);
    succeeds_at_low_cost(&made);
    let fingerprint = stdout(&made).trim_end().to_owned();
    let text = String::from_utf8(folder.read("mine")).unwrap();
    let digits = text.strip_prefix("veriplex-encrypted-key-v1 ").unwrap();
    assert_eq!(digits.len(), 2 * (1 + 32 + 32 + 16) + 1);
    let printed = |file: &str| folder.run(&["key", "public", "mine", "--password-file", file]);
    let output = printed("password");
    succeeds(&output);
    assert_eq!(output.stdout, folder.read("mine.pub"));
    let shown = folder.run(&["key", "inspect", "mine", "mine.pub"]);
    succeeds(&shown);
    assert!(
        stdout(&shown)
            .starts_with("mine: a private key under a password of cost 3\nmine.pub: a public key\n"),
        "{shown:?}"
    );
    assert!(stdout(&shown).contains(&fingerprint));
    let output = printed("wrong");
    fails(&output, UNVERIFIED, "mine", "wrong password");
    assert_eq!(stdout(&output), "");
    let with_password = ["-k", "mine", "--password-file", "password"];
    succeeds(&folder.run(&[&["sign"][..], &with_password, &["file"]].concat()));
    succeeds(&folder.run(&["verify", "--from", "mine.pub", "file"]));
    let both = folder.pipe(&["sign", "-k", "mine", "--password-file", "-"], b"");
    fails(
        &both,
        USAGE,
        "standard input",
        "cannot be both password and input",
    );

    // By hand, as documented.
    let line = |bytes: &[u8]| format!("veriplex-encrypted-key-v1 {}\n", hex::encode(bytes));
    let mut bytes = vec![3];
    bytes.extend([9; 32]);
    let mut key = [0; 32];
    Mhf::with_any_cost(label!("veriplex.key.password.v1"), 3)
        .and_then(|mhf| mhf.hash_into(b"correct horse", &[9; 32], &mut key))
        .unwrap();
    let mut sealed = identity::secret(1);
    let tag =
        Siv::new(label!("veriplex.key.v1"), &key.into()).seal_in_place_detached(b"", &bytes, &mut sealed);
    bytes.extend(sealed);
    bytes.extend(tag);
    folder.write("mine", line(&bytes).as_bytes());
    let output = printed("password");
    succeeds(&output);
    assert_eq!(stdout(&output), public_line(1));
    // Everything counts; a cost from outside is bounded.
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= if at == 0 { 1 } else { 0x80 };
        folder.write("mine", line(&damaged).as_bytes());
        fails(&printed("password"), UNVERIFIED, "mine", "");
    }
    bytes[0] = 19;
    folder.write("mine", line(&bytes).as_bytes());
    let output = printed("password");
    fails(
        &output,
        UNVERIFIED,
        "mine",
        "its cost 19 is above 18, the limit for private keys",
    );
    assert!(!stderr(&output).contains("--max-cost"));
    let output = folder.run(&["key", "generate", "--password-file", "password", "new"]);
    fails(&output, USAGE, "a password", "--private");
}
