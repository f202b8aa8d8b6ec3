//! Which kernels the program uses, also on a CPU that computes something wrong.

use std::process::{Command, Output};

use super::*;

/// qemu's own default CPU. That of version 7.2 computes VAESENC wrongly on registers of 32 bytes.
fn emulated(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new("qemu-x86_64");
    let command = command.arg(env!("CARGO_BIN_EXE_veriplex")).args(args);
    command.current_dir(folder.0.path()).output().unwrap()
}

#[test]
fn a_cpu_that_computes_wrongly_costs_speed_and_no_data() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return;
    }
    if Command::new("qemu-x86_64").arg("--version").output().is_err() {
        println!("skipped, because qemu-x86_64 is not on PATH");
        let strict = std::env::var("STRICT").unwrap_or_default();
        assert!(strict.is_empty(), "no qemu-x86_64");
        return;
    }
    let folder = Folder::new();
    let plain = noise(32 << 10);
    folder.write("plain", &plain);
    for command in ["sum", "digest"] {
        let native = folder.run(&[command, "plain"]);
        succeeds(&native);
        let emulated = emulated(&folder, &[command, "plain"]);
        succeeds(&emulated);
        assert_eq!(stdout(&emulated), stdout(&native), "{command}");
    }
    let encrypt = |output| ["encrypt", "-k", "key", "-o", output, "plain"];
    succeeds(&emulated(&folder, &encrypt("emulated")));
    succeeds(&folder.run(&encrypt("native")));
    succeeds(&folder.run(&["decrypt", "-k", "key", "-o", "by native", "emulated"]));
    succeeds(&emulated(
        &folder,
        &["decrypt", "-k", "key", "-o", "by emulated", "native"],
    ));
    assert!(folder.read("by native") == plain && folder.read("by emulated") == plain);
}

#[test]
fn version_reports_the_self_test() {
    for args in [["--version", "-v"], ["-V", "--verbose"]] {
        let output = Folder::new().run(&args);
        succeeds(&output);
        let mut lines = stdout(&output).lines();
        assert!(lines.next().unwrap().starts_with("veriplex "));
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), veriplex::self_test().count());
        for (line, test) in lines.iter().zip(veriplex::self_test()) {
            assert!(
                line.starts_with(test.primitive) && line.contains(test.implementation),
                "{line}"
            );
            assert!(!line.contains("FAILED"), "{line}");
        }
        assert!(lines[0].starts_with("duplex") && stdout(&output).contains("serves\n"));
    }
    assert_eq!(Folder::new().run(&["-v", "digest"]).status.code(), Some(USAGE));
}

#[test]
fn levels_can_be_forbidden() {
    let folder = Folder::new();
    let version = |forbidden: &str| {
        let mut command = folder.command(&["--version", "-v"]);
        command.env("VERIPLEX_FORBID", forbidden).output().unwrap()
    };
    let all = version("x86-64,x86-64-vaes,x86-64-avx2,x86-64-avx512,armv8");
    succeeds(&all);
    assert!(stdout(&all).contains("(backend portable)\n"));
    for line in stdout(&all).lines().skip(1) {
        let unused = ["forbidden", "not on this CPU"]
            .iter()
            .any(|end| line.ends_with(end));
        assert!(unused != line.contains("portable"), "{line}");
    }
    succeeds(&version(""));
    fails(
        &version("x86-64,sse"),
        USAGE,
        "VERIPLEX_FORBID",
        "no level \"sse\"",
    );
}
