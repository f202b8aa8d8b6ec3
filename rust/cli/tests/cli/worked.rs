//! The examples in docs/formats.md: the program opens each of them, and so does docs/formats.py some.

use super::*;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const PLAINTEXT: &[u8] = b"Hello, world!\n";

/// The block with this name.
fn block(name: &str) -> String {
    let page = fs::read_to_string(format!("{DOCS}/formats.md")).unwrap();
    let (_, rest) = page
        .split_once(&format!("\n```{name}\n"))
        .unwrap_or_else(|| panic!("no {name}"));
    let (block, _) = rest.split_once("\n```").unwrap();
    format!("{block}\n")
}

/// The bytes that it shows.
fn bytes(name: &str) -> Vec<u8> {
    let block = block(&format!("hex {name}"));
    let lines = block.lines().map(|line| line.split('#').next().unwrap().trim());
    hex::decode(lines.collect::<String>()).unwrap()
}

fn folder() -> Folder {
    let folder = Folder::new();
    for (name, kind) in [("key", "veriplex-key-v1"), ("private", "veriplex-private-key-v1")] {
        folder.write(name, format!("{kind} {KEY}\n").as_bytes());
    }
    folder.write("public", &folder.run(&["key", "public", "private"]).stdout);
    folder.write("plaintext", PLAINTEXT);
    for name in [
        "file",
        "deterministic",
        "sealed",
        "object",
        "disk",
        "disk-header",
        "outboard",
    ] {
        folder.write(name, &bytes(name));
    }
    folder
}

#[test]
fn the_program_opens_them() {
    let folder = folder();
    let opens = |args: &[&str], plaintext: &[u8]| {
        let output = folder.run(args);
        succeeds(&output);
        assert!(output.stdout == plaintext, "{args:?}");
    };
    for name in ["file", "deterministic"] {
        succeeds(&folder.run(&["decrypt", "--key-file", "key", "-o", "back", "--force", name]));
        assert_eq!(folder.read("back"), PLAINTEXT);
    }
    let unseal = [
        "--quiet",
        "unseal",
        "--key-file",
        "private",
        "--from",
        "public",
        "-o",
        "-",
        "sealed",
    ];
    opens(&unseal, PLAINTEXT);
    let disk = [
        "disk",
        "decrypt",
        "--key-file",
        "key",
        "--header",
        "disk-header",
        "-o",
        "-",
        "disk",
    ];
    opens(&disk, &[0; 512]);

    folder.write("plaintext.vpsig", block("text signature").as_bytes());
    succeeds(&folder.run(&["verify", "--from", "public", "plaintext"]));
    assert!(block("text").starts_with(&format!("veriplex-key-v1 {KEY}")));

    let numbers: Vec<String> = (1..3000).map(|number| number.to_string()).collect();
    folder.write("numbers", &numbers.join("\n").as_bytes()[..9000]);
    let page = fs::read_to_string(format!("{DOCS}/formats.md")).unwrap();
    let (digest, _) = page.split_once("` and this outboard").unwrap();
    let digest = &digest[digest.len() - 64..];
    succeeds(&folder.run(&["sum", "--outboard", "outboard", "--verify", digest, "numbers"]));
    succeeds(&folder.run(&["sum", "--outboard", "made", "numbers"]));
    assert_eq!(folder.read("made"), folder.read("outboard"));

    // What the store's own test has.
    let known = fs::read_to_string(format!("{DOCS}/../rust/store/tests/store/format.rs")).unwrap();
    for line in block("hex object").lines() {
        assert!(known.contains(line.split_whitespace().next().unwrap()), "{line}");
    }
}

#[test]
fn another_program_opens_them() {
    if Command::new("python3").arg("--version").output().is_err() {
        println!("skipped: no python3");
        assert!(std::env::var_os("STRICT").is_none_or(|strict| strict.is_empty()));
        return;
    }
    let folder = folder();
    let python = |args: &[&str]| {
        let mut command = Command::new("python3");
        command.args(["-B", &format!("{DOCS}/formats.py")]);
        command.args(args).current_dir(folder.0.path()).output().unwrap()
    };
    let master = "01".repeat(32);
    let cases: [(&[&str], &str, &[u8]); 3] = [
        (&["file", KEY, "file"], "file", PLAINTEXT),
        (
            &["object", &master, "context", "object", "object"],
            "object",
            b"message",
        ),
        (
            &["disk", KEY, "disk-header", "0", "disk"],
            "disk-header",
            &[0; 512],
        ),
    ];
    for (args, name, plaintext) in cases {
        let output = python(args);
        succeeds(&output);
        assert!(output.stdout == plaintext, "{args:?}");
        // It verifies.
        let mut damaged = folder.read(name);
        *damaged.last_mut().unwrap() ^= 1;
        folder.write(name, &damaged);
        let output = python(args);
        assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    }

    // More than one segment, and sectors of the program's default size.
    let long = noise(SEGMENT_LEN + 100);
    folder.write_private("long", &long);
    succeeds(&folder.run(&["encrypt", "--key-file", "key", "long"]));
    assert!(python(&["file", KEY, "long.vpx"]).stdout == long);
    folder.write_private("image", &long[..3 << 12]);
    succeeds(&folder.run(&["disk", "encrypt", "--key-file", "key", "image"]));
    let sector = python(&["disk", KEY, "image.vpdisk.vphead", "2", "image.vpdisk"]);
    assert!(sector.stdout == long[2 << 12..3 << 12]);
}
