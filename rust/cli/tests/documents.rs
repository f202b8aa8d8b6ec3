//! The commands in the documents work as typed, in order.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// How the blocks begin that other tests run, or that change the machine.
const ELSEWHERE: [(&str, &str); 5] = [
    ("git clone ", "scripts/fresh-root"),
    ("veriplex disk serve ", "cli/nbd.rs; make test-dm-crypt mounts"),
    ("veriplex disk table ", "make test-dm-crypt"),
    (
        "veriplex key generate --private server && ",
        "five_commands in tunnel/operation.rs",
    ),
    ("mkdir -p /etc/veriplex ", "needs root and systemd"),
];

/// In the place of cargo's commands that compile: whether the lock file is respected, and the crate is there.
const CARGO: &str = "cargo() {
    case $* in
    'install --locked --profile quick --path rust/cli') test -e \"$ROOT/rust/cli/Cargo.toml\" ;;
    install*) false ;;
    *) command cargo \"$@\" ;;
    esac
}
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of this language in a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let page = fs::read_to_string(root().join(page)).unwrap();
    (page.split(&format!("\n```{language}\n")).skip(1))
        .map(|rest| rest.split("\n```").next().unwrap().to_owned())
        .collect()
}

/// Runs a command with this program, and the one for audits, first on PATH.
fn shell(folder: &Path, script: &str) -> Output {
    let programs = Path::new(env!("CARGO_BIN_EXE_veriplex")).parent().unwrap();
    Command::new("sh")
        .args(["-ec", script])
        .current_dir(folder)
        .env("ROOT", root())
        .env("BIN", programs)
        .env("CARGO_NET_OFFLINE", "true")
        .env(
            "PATH",
            format!("{}:{}", programs.display(), std::env::var("PATH").unwrap()),
        )
        .output()
        .unwrap()
}

#[test]
fn shell_blocks_run_in_order() {
    let mut elsewhere = Vec::new();
    for page in [
        "README.md",
        "rust/cli/README.md",
        "rust/tunnel/README.md",
        "rust/store/README.md",
    ] {
        let outer = tempfile::tempdir().unwrap();
        symlink(root().canonicalize().unwrap(), outer.path().join("veriplex")).unwrap();
        let folder = outer.path().join("project");
        fs::create_dir_all(folder.join("src")).unwrap();
        let manifest = "[package]\nname = \"project\"\nedition = \"2024\"\n";
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.join("src/lib.rs"), "").unwrap();
        fs::write(folder.join("backup.tar"), "a backup").unwrap();
        for block in blocks(page, "sh") {
            if let Some((start, _)) = ELSEWHERE.iter().find(|(start, _)| block.starts_with(start)) {
                elsewhere.push(*start);
                continue;
            }
            let output = shell(&folder, &format!("{CARGO}{block}"));
            assert!(output.status.success(), "{page}:\n{block}\n{output:?}");
        }
    }
    assert_eq!(elsewhere, ELSEWHERE.map(|(start, _)| start));
}

/// What `scripts/demo` prints: README.md shows the commands, and whether they go well.
#[test]
fn the_demonstration_is_that_of_the_readme() {
    let output = shell(&root(), "scripts/demo --no-install");
    let printed = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success(), "{output:?}");
    let commands = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with("$ "));
        lines.map(str::to_owned).collect()
    };
    let shown = blocks("README.md", "text").swap_remove(0);
    assert_eq!(commands(&printed), commands(&shown));
    for line in ["copy: OK", "LICENSE-MIT: OK", "exit status 1"] {
        for text in [&printed, &shown] {
            assert!(text.lines().any(|l| l == line), "{line}: {text}");
        }
    }
}
