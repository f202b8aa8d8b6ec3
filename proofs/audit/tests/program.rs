//! The program itself: its output and its exit status.

mod made;

use std::path::PathBuf;
use std::process::{Command, Output};

use made::{executable, kernels};
use veriplex_audit::Proved;

/// A folder that is removed on drop, with its contents.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_veriplex-audit"))
        .args(arguments)
        .output()
        .unwrap()
}

#[track_caller]
fn exits(output: &Output, status: i32, stdout: &[&str], stderr: &str) {
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(status), "{out}{err}");
    for line in stdout {
        assert!(out.contains(line), "{line}: {out}");
    }
    assert!(
        err.contains(stderr) && err.is_empty() == stderr.is_empty(),
        "{err}"
    );
}

#[test]
fn wrong_calls() {
    let folder = Folder::new("wrong");
    let wasm = folder.file("wasm", b"\0asm\x01\0\0\0");
    exits(
        &run(&[wasm.to_str().unwrap()]),
        2,
        &[],
        "WebAssembly: the library has no kernels",
    );
    exits(&run(&["/nonexistent"]), 2, &[], "veriplex-audit: /nonexistent: ");
    exits(&run(&[]), 2, &[], "Exit status:");
    exits(&run(&["--no-such"]), 2, &[], "Exit status:");
    exits(&run(&["--help"]), 0, &["Exit status:"], "");
}

#[test]
fn lines_and_exit_status() {
    let folder = Folder::new("lines");
    let proved = Proved::embedded().unwrap();
    let proved: Vec<_> = proved
        .kernels()
        .iter()
        .filter(|kernel| kernel.is_for("x86-64"))
        .collect();
    let kernels = kernels();
    let n = kernels.len();
    assert_eq!(n, proved.len());

    let good = folder.file("good", &executable(&kernels));
    let good = good.to_str().unwrap();
    let line = |kernel: usize, text: &str| format!("  {:<40}{text}", proved[kernel].symbol);
    let first = line(
        0,
        &format!("proved bytes at 0x400079 ({} bytes)\n", kernels[0].len()),
    );
    exits(&run(&[good]), 0, &[&first], "");
    let all = format!("{good}: all ");
    exits(&run(&["--all", good]), 0, &[&first, &all], "");

    // A linker leaves out all kernels of a primitive, as this program's does with those of Xoofff.
    let without = |of: &str| -> Vec<Vec<u8>> {
        let others = proved
            .iter()
            .zip(&kernels)
            .filter(|(k, _)| !k.symbol.contains(of));
        others.map(|(_, bytes)| bytes.clone()).collect()
    };
    let some = folder.file("some", &executable(&without("_xoofff_")));
    let some = some.to_str().unwrap();
    let missing = line(n - 1, "not found (x86-64)\n");
    exits(&run(&[some]), 0, &[&first, &missing], "");
    exits(&run(&["--all", some]), 1, &[&first, &missing], "");

    // One of a set has other code in its place, whether or not the audit recognises it.
    for replaced in [
        "_duplex_absorb_blocks_x4",
        "_simpira1024_permute_x2",
        "_chacha8_xor_blocks_x6",
    ] {
        let lacks = folder.file("lacks", &executable(&without(replaced)));
        let output = run(&[lacks.to_str().unwrap()]);
        exits(
            &output,
            1,
            &["not found (x86-64): other code is in its place"],
            "",
        );
    }

    let none = folder.file("none", &executable(&[]));
    let none = none.to_str().unwrap();
    exits(&run(&[none]), 1, &[&line(0, "not found (x86-64)\n")], "");
    exits(
        &run(&[good, none]),
        1,
        &[&first, &line(0, "not found (x86-64)\n")],
        "",
    );

    // A table alone is no kernel: a program on the portable backend has one.
    assert!(!proved[n - 1].is_code());
    let table = folder.file("table", &executable(&kernels[n - 1..]));
    exits(
        &run(&[table.to_str().unwrap()]),
        1,
        &[
            &line(n - 1, "proved bytes at 0x400079"),
            &line(0, "not found (x86-64)\n"),
        ],
        "",
    );

    for kernel in 0..n {
        let mut flipped = kernels.clone();
        flipped[kernel][5] ^= 0x40;
        let flipped = folder.file("flipped", &executable(&flipped));
        let different = format!("(1 of {} bytes, the first at +0x5)\n", kernels[kernel].len());
        let output = run(&[flipped.to_str().unwrap(), good]);
        exits(&output, 1, &[&line(kernel, "DIFFERENT at 0x"), &different], "");
    }

    // Without a symbol, and so different that the audit no longer recognises it.
    let mut other = kernels.clone();
    other[0].fill(0x90);
    let other = folder.file("other", &executable(&other));
    exits(
        &run(&[other.to_str().unwrap()]),
        1,
        &[&line(0, "not found (x86-64): other code is in its place")],
        "",
    );

    let garbage = folder.file("garbage", b"garbage, garbage, garbage");
    let garbage = garbage.to_str().unwrap();
    let why =
        format!("veriplex-audit: {garbage}: neither ELF nor Mach-O nor PE nor an archive of such objects\n");
    exits(&run(&[garbage, good]), 2, &[&first], &why);
    exits(
        &run(&["--list"]),
        0,
        &[&proved[0].symbol, &hex::encode(proved[0].sha256)],
        "",
    );
    exits(&run(&["--bytes", good]), 2, &[], "veriplex-audit: no symbol ");
}

#[test]
fn results_for_machines() {
    let folder = Folder::new("machines");
    let kernels = kernels();
    let good = folder.file("good", &executable(&kernels));
    let good = good.to_str().unwrap();
    let mut flipped = kernels.clone();
    flipped[0][5] ^= 0x40;
    let flipped = folder.file("flipped", &executable(&flipped));
    let flipped = flipped.to_str().unwrap();
    let machine = |option: &str, file: &str| -> serde_json::Value {
        let output = run(&[option, file]);
        assert_eq!(output.status.code(), Some(i32::from(file == flipped)));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let json = machine("--json", good);
    assert_eq!(json[0]["good"], true);
    assert_eq!(json[0]["found"].as_array().unwrap().len(), kernels.len());
    assert_eq!(json[0]["proved_version"], "0.1");
    let json = machine("--json", flipped);
    assert_eq!(json[0]["good"], false);
    let different =
        (json[0]["found"].as_array().unwrap().iter()).filter(|found| !found["difference"].is_null());
    assert_eq!(different.count(), 1);
    let results = |file| {
        machine("--sarif", file)["runs"][0]["results"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!([good, flipped].map(results), [0, 2]);
}
