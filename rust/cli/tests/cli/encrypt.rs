//! The commands `encrypt` and `decrypt` with a key.

use veriplex::siv::Siv;

use super::*;

#[test]
fn roundtrip_of_files_and_pipes() {
    let folder = Folder::new();
    for len in [
        0,
        1,
        16_383,
        16_384,
        16_385,
        131_072,
        1 << 20,
        (1 << 20) + 1,
        1 << 22,
        (1 << 22) + 16_385,
    ] {
        let plaintext = noise(len);
        folder.write("file", &plaintext);
        succeeds(&folder.run(&["encrypt", "--key-file", "key", "file"]));
        let sealed = folder.read("file.vpx");
        let segments = len.div_ceil(SEGMENT_LEN).max(1);
        assert_eq!(sealed.len(), SEGMENTS + len + segments * 16);

        fs::remove_file(folder.path("file")).unwrap();
        succeeds(&folder.run(&["decrypt", "--key-file", "key", "file.vpx"]));
        assert_eq!(folder.read("file"), plaintext);
        assert_eq!(folder.names(), ["file", "file.vpx"]);

        let opened = folder.pipe(&["decrypt", "--key-file", "key"], &sealed);
        succeeds(&opened);
        assert_eq!(opened.stdout, plaintext);
        let piped = folder.pipe(&["encrypt", "--key-file", "key", "-"], &plaintext);
        succeeds(&piped);
        assert_ne!(piped.stdout, sealed, "the salt is random");
        folder.write("piped", &piped.stdout);
        let opened = folder.run(&["decrypt", "--key-file", "key", "-o", "-", "piped"]);
        succeeds(&opened);
        assert_eq!(opened.stdout, plaintext);
        for name in ["file", "file.vpx", "piped"] {
            fs::remove_file(folder.path(name)).unwrap();
        }
    }
}

#[test]
fn format_is_as_documented() {
    let folder = Folder::new();
    // Made by hand.
    let plaintext = noise(100_000);
    folder.write("in.vpx", &encrypted(&KEY, &[9; 32], &plaintext));
    succeeds(&folder.run(&["decrypt", "--key-file", "key", "in.vpx"]));
    assert_eq!(folder.read("in"), plaintext);
    // Made by the program.
    let sealed = folder.pipe(&["encrypt", "--key-file", "key"], &plaintext).stdout;
    let salt = sealed[HEADER_LEN..HEADER_TAG].try_into().unwrap();
    assert!(sealed == encrypted(&KEY, salt, &plaintext));
    // From a file, which several threads read.
    let plaintext = noise(5_000_001);
    folder.write("large", &plaintext);
    let sealed = folder
        .run(&["encrypt", "--key-file", "key", "-o", "-", "large"])
        .stdout;
    let salt = sealed[HEADER_LEN..HEADER_TAG].try_into().unwrap();
    assert!(sealed == encrypted(&KEY, salt, &plaintext));
}

/// That a file becomes shorter while it is encrypted is an error; what is added to it is left out.
#[test]
fn encrypted_while_it_changes() {
    let folder = Folder::new();
    let plaintext = noise(16 << 20);
    for len in [3 << 20, 17 << 20] {
        folder.write("file", &plaintext);
        let mut command = folder.command(&["encrypt", "--key-file", "key", "-o", "-", "file"]);
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdout.take().unwrap();
        // Once there is a first byte it knows the length, and it goes on only when the pipe is read.
        let mut sealed = vec![0];
        pipe.read_exact(&mut sealed).unwrap();
        let file = File::options().write(true).open(folder.path("file")).unwrap();
        file.set_len(len).unwrap();
        pipe.read_to_end(&mut sealed).unwrap();
        let output = child.wait_with_output().unwrap();
        if len < 16 << 20 {
            fails(&output, IO, "file", "became shorter while it was read");
        } else {
            succeeds(&output);
            let salt = sealed[HEADER_LEN..HEADER_TAG].try_into().unwrap();
            assert!(sealed == encrypted(&KEY, salt, &plaintext));
        }
    }
}

#[test]
fn deterministic_encryption() {
    let folder = Folder::new();
    let encrypt = ["encrypt", "--deterministic", "--key-file", "key"];
    let decrypt = ["decrypt", "--key-file", "key"];
    let siv = Siv::new(label!("veriplex.file.siv.v1"), &KEY.into());
    for len in [0, 1, 96_255, 96_256, 96_257, 300_000] {
        let plaintext = noise(len);
        folder.write("file", &plaintext);
        succeeds(&folder.run(&[&encrypt[..], &["-f", "file"]].concat()));
        let sealed = folder.read("file.vpx");
        // The format is as documented.
        let (ciphertext, tag) = {
            let mut message = plaintext.clone();
            let tag = siv.seal_in_place_detached(b"", b"VERIPLEX\x03", &mut message);
            (message, tag)
        };
        assert!(
            sealed == [b"VERIPLEX\x03".as_slice(), &tag, &ciphertext].concat(),
            "{len}"
        );
        succeeds(&folder.run(&[&encrypt[..], &["-o", "again", "file"]].concat()));
        assert!(folder.read("again") == sealed);
        fs::remove_file(folder.path("again")).unwrap();
        succeeds(&folder.run(&[&decrypt[..], &["-f", "file.vpx"]].concat()));
        assert!(folder.read("file") == plaintext);

        fs::remove_file(folder.path("file")).unwrap();
        let mut places = vec![0, 8, 9, 24, sealed.len() - 1];
        places.extend([25, 25 + len / 2].into_iter().filter(|&at| at < sealed.len()));
        for at in places {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            for bad in [changed.as_slice(), &sealed[..at]] {
                folder.write("file.vpx", bad);
                let output = folder.run(&[&decrypt[..], &["file.vpx"]].concat());
                fails(&output, UNVERIFIED, "file.vpx", "");
                assert_eq!(folder.names(), ["file.vpx"]);
            }
        }
        folder.write("file.vpx", &[&sealed[..], b"x"].concat());
        let output = folder.run(&[&decrypt[..], &["file.vpx"]].concat());
        fails(
            &output,
            UNVERIFIED,
            "file.vpx",
            "wrong key, or truncated, extended or damaged",
        );
    }
}

#[test]
fn deterministic_encryption_needs_files() {
    let folder = Folder::new();
    let encrypt = ["encrypt", "--deterministic", "--key-file", "key"];
    let decrypt = ["decrypt", "--key-file", "key"];
    folder.write("file", b"message");
    fails(
        &folder.pipe(&encrypt, b"message"),
        USAGE,
        "standard input",
        "not a regular file",
    );
    let output = folder.run(&[&encrypt[..], &["-o", "-", "file"]].concat());
    fails(&output, USAGE, "standard output", "not a regular file");
    assert_eq!(stdout(&output), "");
    succeeds(&folder.run(&[&encrypt[..], &["file"]].concat()));
    let output = folder.run(&[&decrypt[..], &["-o", "-", "file.vpx"]].concat());
    fails(&output, USAGE, "standard output", "not a regular file");
    assert_eq!(stdout(&output), "");
    // It is read once, so from a pipe too.
    succeeds(&folder.pipe(&[&decrypt[..], &["-o", "out"]].concat(), &folder.read("file.vpx")));
    assert_eq!(folder.read("out"), b"message");
}

/// Reading this file changes it.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_changes_is_not_encrypted_deterministically() {
    let folder = Folder::new();
    let encrypt = ["encrypt", "--deterministic", "--key-file", "key", "-o", "out"];
    let output = folder.run(&[&encrypt[..], &["/proc/self/io"]].concat());
    fails(&output, IO, "/proc/self/io", "changed");
    assert!(folder.names().is_empty());
}
