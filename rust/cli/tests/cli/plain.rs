//! Images without a header, and what opens an image with one elsewhere. `make test-dm-crypt` shows it with a kernel.

use veriplex::adiantum::{Adiantum, WideBlockCipher};

use super::nbd::{Client, Server};
use super::*;

fn decrypt(folder: &Folder, more: &[&str]) -> Output {
    folder.run(&[&["disk", "decrypt", "--plain", "--key-file", "raw"], more].concat())
}

/// Known answers of Linux: sector 0 and 1 are an image.
#[test]
fn what_linux_wrote() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/vectors/adiantum/linux-dm-crypt.json"
    );
    let answers: serde_json::Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let bytes = |case: &serde_json::Value, key: &str| hex::decode(case[key].as_str().unwrap()).unwrap();
    let image = |key: &str| [0, 1].map(|i| bytes(&answers["sectors"][i], key)).concat();
    let folder = Folder::new();
    folder.write("raw", &bytes(&answers, "key"));
    let plain = image("plaintext");
    folder.write("image", &image("ciphertext"));
    succeeds(&decrypt(&folder, &["image", "-o", "back"]));
    assert!(folder.read("back") == plain);
    let part = decrypt(
        &folder,
        &["--offset", "500", "--length", "100", "image", "-o", "-"],
    );
    succeeds(&part);
    assert!(part.stdout == plain[500..600]);

    // In the middle of something else, and with a part of a sector at the end.
    let before = noise(1536);
    folder.write("more", &[&before, &image("ciphertext"), &before[..700]].concat());
    succeeds(&decrypt(
        &folder,
        &["--start", "1536", "--size", "1024", "more", "-o", "part"],
    ));
    assert!(folder.read("part") == [&before, &plain, &before[..700]].concat());
    succeeds(&decrypt(&folder, &["--start", "1536", "more", "-o", "rest"]));
    let rest = folder.read("rest");
    assert!(rest[..2560] == folder.read("part")[..2560] && rest[3072..] == before[512..700]);
    assert!(rest[2560..3072] != before[..512]);

    folder.write("raw", &[1; 31]);
    fails(&decrypt(&folder, &["image", "-o", "x"]), IO, "raw", "32 bytes");
    folder.write("raw", &[1; 33]);
    fails(&decrypt(&folder, &["image", "-o", "x"]), IO, "raw", "32 bytes");
    folder.write("raw", &[1; 32]);
    for args in [
        &["--start", "1025"][..],
        &["--size", "1536"],
        &["--size", "1"],
        &["--sector-size", "4096"],
        &["--start", "18446744073709551615", "--size", "512"],
    ] {
        let output = decrypt(&folder, &[args, &["image", "-o", "x"]].concat());
        fails(&output, USAGE, "image", "");
    }
    assert!(!folder.path("x").exists());
}

/// The printed key is that of the sectors, and a server of the same disk without its header writes the same ciphertext.
#[test]
fn the_key_of_the_sectors() {
    let folder = Folder::new();
    let plain = noise(5 << 12);
    folder.write_private("image", &[&[0; 512], plain.as_slice()].concat());
    succeeds(&folder.run(&["disk", "encrypt", "--key-file", "key", "--offset", "512", "image"]));
    let of_header = ["--key-file", "key", "image.vpdisk"];
    let output = folder.run(&[&["disk", "key"], &of_header[..]].concat());
    succeeds(&output);
    let cipher = Adiantum::<12>::new(&output.stdout[..].try_into().unwrap());
    let mut expected = plain.clone();
    cipher.encrypt_sectors(4096, 0, &mut expected).unwrap();
    assert!(folder.read("image.vpdisk")[512..] == expected);

    folder.write("raw", &output.stdout);
    let more = [
        "--plain",
        "--sector-size",
        "4096",
        "--start",
        "512",
        "image.vpdisk",
        "--socket",
        "socket",
    ];
    let server = Server::with_key(&folder, "raw", &more);
    let mut client = Client::connect(&folder, "socket", 5 << 12);
    assert!(client.read(0, 5 << 12) == plain);
    client.write(5000, b"changed");
    succeeds(&server.stop());
    succeeds(&folder.run(&[&["disk", "decrypt", "-o", "back"], &of_header[..]].concat()));
    let back = folder.read("back");
    assert!(back[5512..5519] == *b"changed" && back[5519..] == plain[5007..]);

    // Random bytes may look like UTF-16.
    folder.write("raw", &[0x80; 32]);
    for command in ["key", "table"] {
        fails(
            &folder.run(&["disk", command, "--key-file", "raw", "image.vpdisk"]),
            IO,
            "raw",
            "not a key",
        );
    }
    let table = folder.run(&[&["disk", "table"], &of_header[..]].concat());
    fails(&table, USAGE, "image.vpdisk", "not a block device");
}
