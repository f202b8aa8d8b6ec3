//! The commands `sign`, `verify`, `seal` and `unseal`.

use veriplex::aestream::MAX_BLOCK_LEN;
use veriplex::{hpke, sig};

use super::*;

#[test]
fn signatures_of_files_and_pipes() {
    let folder = Folder::with_private_keys();
    let wrong = "the signature is not one of this key for this file";
    for len in [0, 1, 65_536, 1 << 20] {
        let content = noise(len);
        folder.write("file", &content);
        succeeds(&folder.run(&["sign", "--key-file", "1", "--force", "file"]));
        let output = folder.run(&["verify", "--from", &public(1), "file"]);
        succeeds(&output);
        assert!(stdout(&output).starts_with("file: OK\n"));
        let output = folder.run(&["verify", "--from", &public(2), "file"]);
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
        let verify = ["verify", "--from", &public(1), "--signature", "other.vpsig"];
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
    // The format of version 1, by hand; under the name that it had.
    let signature = sig::sign(
        label!("veriplex.sign.v1"),
        &private(2),
        b"by hand",
        &mut veriplex::os_rng(),
    );
    folder.write("hand", b"by hand");
    let line = format!("veriplex-signature-v1 {}\n", hex::encode(signature.to_bytes()));
    folder.write("hand.sig", line.as_bytes());
    succeeds(&folder.run(&["verify", "--from", &public(2), "hand"]));
    // The newline may be missing, and nothing else.
    folder.write("hand.sig", line.trim_end().as_bytes());
    succeeds(&folder.run(&["verify", "--from", &public(2), "hand"]));
    let malformed = "not a signature";
    for (bad, reason) in [
        (String::new(), malformed),
        (line.repeat(2), malformed),
        (line.replace("v1", "v2"), malformed),
        (format!(" {line}"), malformed),
        (line[..line.len() - 2].to_owned(), malformed),
    ] {
        folder.write("hand.sig", bad.as_bytes());
        let output = folder.run(&["verify", "--from", &public(2), "hand"]);
        fails(&output, UNVERIFIED, "hand.sig", reason);
    }
    let mut bytes = signature.to_bytes();
    bytes[40] ^= 1;
    folder.write(
        "hand.sig",
        format!("veriplex-signature-v1 {}\n", hex::encode(bytes)).as_bytes(),
    );
    fails(
        &folder.run(&["verify", "--from", &public(2), "hand"]),
        UNVERIFIED,
        "hand",
        wrong,
    );
    // An existing signature is kept; standard input has no name for one.
    fails(
        &folder.run(&["sign", "--key-file", "1", "file"]),
        IO,
        "file.vpsig",
        "exists",
    );
    let output = folder.run(&["verify", "--from", &public(1)]);
    fails(&output, USAGE, "standard input", "--signature");
}

#[test]
fn sealed_files_and_pipes() {
    let folder = Folder::with_private_keys();
    let seal = ["seal", "--key-file", "1", "--to", &public(2)];
    let unseal = ["unseal", "--key-file", "2", "--from", &public(1)];
    for len in [0, 1, 65_535, 65_536, 1 << 20] {
        let plaintext = noise(len);
        folder.write("file", &plaintext);
        succeeds(&folder.run(&[&seal[..], &["--force", "file"]].concat()));
        let sealed = folder.read("file.sealed");
        let blocks = len.div_ceil(MAX_BLOCK_LEN) + 1;
        assert_eq!(sealed.len(), BLOCKS + len + blocks * OVERHEAD);
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

    // Not from somebody else, and not to somebody else, its sender included.
    let sealed = folder.pipe(&seal, b"plaintext").stdout;
    for (receiver, sender) in [("2", 3), ("2", 2), ("3", 1), ("1", 2), ("1", 1)] {
        let output = folder.pipe(
            &["unseal", "--key-file", receiver, "--from", &public(sender)],
            &sealed,
        );
        fails(&output, UNVERIFIED, "standard input", "verification failed");
        assert_eq!(output.stdout, b"", "{receiver} from {sender}");
    }
    let refused = |damaged: &[u8], reason| {
        let output = folder.pipe(&unseal, damaged);
        fails(&output, UNVERIFIED, "standard input", reason);
        assert_eq!(output.stdout, b"");
    };
    for at in 0..sealed.len() {
        let mut damaged = sealed.clone();
        damaged[at] ^= 1;
        // The last block is the end.
        if at < sealed.len() - OVERHEAD {
            refused(&damaged, "");
        }
    }
    for len in 0..BLOCKS {
        refused(&sealed[..len], "too short to be sealed by veriplex");
    }
    let mut other = sealed.clone();
    other[8] = 3;
    refused(&other, "another version");
    refused(
        &encrypted(&KEY, &[0; 32], &[b"plaintext"]),
        "veriplex decrypt opens it",
    );
    // The identity where the ephemeral key was.
    other = sealed.clone();
    other[HEADER_LEN..BLOCKS].fill(0);
    refused(&other, "verification failed");
    let output = folder.pipe(&unseal, &[&sealed[..], &[0]].concat());
    fails(&output, UNVERIFIED, "standard input", "more bytes follow");

    // By hand, as documented.
    let mut file = b"VPX-SEAL\x01".to_vec();
    let domain = label!("veriplex.seal.v1");
    let setup = hpke::setup_sender(
        domain,
        &private(1),
        private(2).public_key(),
        &mut veriplex::os_rng(),
    );
    let (ephemeral, mut protocol) = setup.unwrap();
    protocol.mix(label!("header"), &file);
    file.extend_from_slice(&ephemeral);
    let mut writer = veriplex::aestream::SealWriter::from_protocol(protocol, file);
    writer.write_all(b"by hand").unwrap();
    let opened = folder.pipe(&unseal, &writer.finish().unwrap());
    succeeds(&opened);
    assert_eq!(opened.stdout, b"by hand");
}
