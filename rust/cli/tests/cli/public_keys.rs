//! The commands `sign`, `verify`, `seal` and `unseal`.

use super::*;

#[test]
fn signatures_of_files_and_pipes() {
    let folder = Folder::with_private_keys();
    let wrong = "the file or its signature was changed";
    for len in [0, 1, 65_536, 1 << 20] {
        let content = noise(len);
        folder.write("file", &content);
        succeeds(&folder.run(&["sign", "--key-file", "1", "--force", "file"]));
        let output = folder.run(&["verify", "--from", "1.pub", "file"]);
        succeeds(&output);
        assert!(stdout(&output).starts_with("file: OK\n"));
        let output = folder.run(&["verify", "--from", "2.pub", "file"]);
        fails(&output, UNVERIFIED, "file", "signed by the key ");
        assert_eq!(stdout(&output), "");

        let signature = folder.pipe(&["sign", "--key-file", "1"], &content);
        succeeds(&signature);
        assert_ne!(
            signature.stdout,
            folder.read("file.vpsig"),
            "signatures are random"
        );
        folder.write("other.vpsig", &signature.stdout);
        let verify = ["verify", "--from", "1.pub", "--signature", "other.vpsig"];
        succeeds(&folder.pipe(&verify, &content));
        succeeds(&folder.run(&[&verify[..], &["file"]].concat()));
        let longer = [&content[..], &[0]].concat();
        fails(
            &folder.pipe(&verify, &longer),
            UNVERIFIED,
            "standard input",
            wrong,
        );
    }
    // An existing signature is kept; standard input has no name for one.
    fails(
        &folder.run(&["sign", "--key-file", "1", "file"]),
        IO,
        "file.vpsig",
        "exists",
    );
    let output = folder.run(&["verify", "--from", "1.pub"]);
    fails(&output, USAGE, "standard input", "--signature");
}

#[test]
fn sealed_files_and_pipes() {
    let folder = Folder::with_private_keys();
    let seal = ["seal", "-j", "2", "--key-file", "1", "--to", "2.pub"];
    let unseal = ["unseal", "-qj2", "--key-file", "2", "--from", "1.pub"];
    for len in [0, 1, 65_535, 65_536, 1 << 20] {
        let plaintext = noise(len);
        folder.write("file", &plaintext);
        succeeds(&folder.run(&[&seal[..], &["--force", "file"]].concat()));
        let sealed = folder.read("file.sealed");
        let segments = len.div_ceil(SEGMENT_LEN).max(1);
        assert_eq!(
            sealed.len(),
            HEADER_LEN + 1 + 1168 + SALT_LEN + 16 + len + segments * 16
        );
        fs::remove_file(folder.path("file")).unwrap();
        succeeds(&folder.run(&[&unseal[..], &["file.sealed"]].concat()));
        assert_eq!(folder.read("file"), plaintext);

        let piped = folder.pipe(&seal, &plaintext);
        succeeds(&piped);
        assert_ne!(piped.stdout, sealed, "the ephemeral key is random");
        let opened = folder.pipe(&unseal, &piped.stdout);
        succeeds(&opened);
        assert_eq!(opened.stdout, plaintext);
    }

    fails(
        &folder.run(&["decrypt", "--key-file", "key", "file.sealed"]),
        USAGE,
        "file.sealed",
        "use veriplex unseal",
    );

    // Not from somebody else, and not to somebody else, its sender included.
    let sealed = folder.pipe(&seal, b"plaintext").stdout;
    for (receiver, sender) in [("2", "3"), ("2", "2"), ("3", "1"), ("1", "2"), ("1", "1")] {
        let from = format!("{sender}.pub");
        let output = folder.pipe(&["unseal", "--key-file", receiver, "--from", &from], &sealed);
        fails(
            &output,
            UNVERIFIED,
            "standard input",
            "not sealed to this key by this sender",
        );
        assert_eq!(output.stdout, b"", "{receiver} from {sender}");
    }
    let refused = |damaged: &[u8], reason| {
        let output = folder.pipe(&unseal, damaged);
        fails(&output, UNVERIFIED, "standard input", reason);
        assert_eq!(output.stdout, b"");
    };
    let begin = sealed.len() - 9 - 16;
    for at in (0..sealed.len()).filter(|at| *at < 60 || at % 53 == 0 || *at > 1100) {
        let mut damaged = sealed.clone();
        damaged[at] ^= 1;
        let reason = if at < begin { "" } else { "at or after offset 1227" };
        refused(&damaged, reason);
    }
    for len in (0..begin).filter(|len| *len < 60 || len % 53 == 0 || *len > 1100) {
        refused(&sealed[..len], "too short: not encrypted by veriplex");
    }
    let mut other = sealed.clone();
    other[8] = 3;
    refused(&other, "another version");
    refused(&encrypted(&KEY, &[0; 32], b"plaintext"), "use veriplex decrypt");
    // The identity where the ephemeral key was.
    other = sealed.clone();
    other[10..42].fill(0);
    refused(&other, "not sealed to this key by this sender");
    refused(&[&sealed[..], &[0]].concat(), "at or after offset 1227");
}

#[test]
fn standard_input_is_not_both_file_and_signature() {
    let folder = Folder::with_private_keys();
    let output = folder.run(&["verify", "--from", &public(1), "--signature", "-"]);
    fails(
        &output,
        USAGE,
        "standard input",
        "cannot be both signature and input",
    );
}

/// A name that is too long for a comment is left out of it.
#[test]
#[cfg(target_os = "linux")]
fn files_of_any_name_are_signed() {
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::with_private_keys();
    let name = std::ffi::OsStr::from_bytes(&[0xff; 249]);
    fs::write(folder.0.path().join(name), b"content").unwrap();
    for args in [&["sign", "-k", "1"][..], &["verify", "--from", "1.pub"]] {
        let output = folder.command(args).arg(name).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

/// What looks like several lines is not one key with a name, or a comment.
/// The name of a file of a key makes no line of its own.
#[test]
fn names_of_signers_are_in_one_line() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    let name = "1\nother: OK\nsigned by: alice.pub";
    folder.write(name, public_line(1).as_bytes());
    succeeds(&folder.run(&["sign", "-k", "1", "-c", "", "file"]));
    let output = folder.run(&["verify", "--from", name, "file"]);
    succeeds(&output);
    let expected = r"'1'$'\n''other: OK'$'\n''signed by: alice'";
    assert_eq!(stdout(&output), format!("file: OK\nsigned by: {expected}\n"));
}

/// Whenever the system has no random numbers, that is an error like others.
#[test]
#[cfg(target_os = "linux")]
fn random_numbers_that_fail_late() {
    let folder = Folder::with_private_keys();
    folder.write("file", b"content");
    for args in [
        &["sign", "-k", "1", "-o", "out", "file"][..],
        &["seal", "-k", "1", "--to", "2.pub", "-o", "out", "file"],
        &["key", "generate", "--private", "out"],
    ] {
        let mut failed = 0;
        for number in 1..9 {
            let fault = format!("getrandom:error=EIO:when={number}+");
            let Some(output) = disk_state::with_fault(&folder, &fault, args) else {
                return;
            };
            if output.status.success() {
                let _ = fs::remove_file(folder.path("out.pub"));
                fs::remove_file(folder.path("out")).unwrap();
                continue;
            }
            failed += 1;
            fails(&output, IO, "random numbers", "Input/output error");
            assert!(!folder.path("out").exists());
        }
        assert!(failed > 0, "{args:?}");
    }
}

#[test]
fn lists_of_keys_have_no_other_ends_of_lines() {
    let folder = Folder::with_private_keys();
    let [one, two] = [1, 2].map(public_line);
    let [one, two] = [one.trim_end(), two.trim_end()];
    folder.write("file", b"content");
    for end in ['\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'] {
        for text in [format!("{one}{end}{two}\n"), format!("{one}\n# two:{end}{two}\n")] {
            folder.write("list", text.as_bytes());
            let output = folder.run(&["seal", "-k", "1", "--to", "list", "file"]);
            fails(&output, IO, "list", "control character");
        }
    }
}
