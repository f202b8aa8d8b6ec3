//! Completions and man pages, and their installation.

use super::*;

const COMMANDS: [&str; 15] = [
    "digest",
    "mac",
    "sum",
    "key",
    "encrypt",
    "decrypt",
    "disk",
    "disk-info",
    "hash-password",
    "verify-password",
    "sign",
    "verify",
    "seal",
    "unseal",
    "completions",
];

#[test]
fn completions_for_every_shell() {
    let folder = Folder::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = folder.run(&["completions", shell]);
        succeeds(&output);
        for name in COMMANDS.iter().flat_map(|name| name.split("-info")) {
            assert!(stdout(&output).contains(name), "{shell}: {name}");
        }
    }
    let script = folder.run(&["completions", "bash"]).stdout;
    if let Ok(mut bash) = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn() {
        bash.stdin.take().unwrap().write_all(&script).unwrap();
        assert!(bash.wait().unwrap().success());
    }
    assert_eq!(
        folder.run(&["completions", "nonsense"]).status.code(),
        Some(USAGE)
    );
}

#[test]
fn man_pages_for_every_command() {
    let folder = Folder::new();
    fs::create_dir(folder.path("man")).unwrap();
    succeeds(&folder.run(&["man-pages", "man"]));
    for name in COMMANDS {
        let page = String::from_utf8(folder.read(&format!("man/veriplex-{name}.1"))).unwrap();
        assert!(page.contains(".TH"), "{name}");
        assert!(page.contains(".SH EXAMPLES\n.PP\n.nf\n.RS\nveriplex"), "{name}");
        assert!(page.contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nsuccess\n"));
    }
    let page = String::from_utf8(folder.read("man/veriplex.1")).unwrap();
    assert!(page.contains("0.1.0") && !page.contains("backend"), "{page}");
    assert!(!folder.path("man/veriplex-man-pages.1").exists());
    fails(
        &folder.run(&["man-pages", "missing"]),
        IO,
        "missing/veriplex.1",
        "No such file",
    );
}

/// `make install` with this build of the program.
#[test]
#[cfg(target_os = "linux")]
fn installation() {
    let folder = Folder::new();
    let root = folder.0.path().to_str().unwrap();
    let program = env!("CARGO_BIN_EXE_veriplex");
    let output = Command::new("make")
        .args(["-C", concat!(env!("CARGO_MANIFEST_DIR"), "/../.."), "install"])
        .args([
            format!("DESTDIR={root}"),
            "PREFIX=/opt".into(),
            format!("PROGRAM={program}"),
        ])
        .env_remove("MAKEFLAGS")
        .output();
    let Ok(output) = output else {
        println!("skipped: no make");
        return;
    };
    assert!(output.status.success(), "{output:?}");
    let help = Command::new(folder.path("opt/bin/veriplex"))
        .arg("--help")
        .output()
        .unwrap();
    succeeds(&help);
    for file in [
        "share/man/man1/veriplex.1",
        "share/man/man1/veriplex-sum.1",
        "share/bash-completion/completions/veriplex",
        "share/zsh/site-functions/_veriplex",
        "share/fish/vendor_completions.d/veriplex.fish",
        "lib/systemd/system/veriplex-tunnel.socket",
        "share/doc/veriplex/tunnel.toml",
    ] {
        assert_ne!(folder.read(&format!("opt/{file}")), b"", "{file}");
    }
    units(&folder.path("opt/lib/systemd/system/veriplex-tunnel.service"));
}

/// The units name the program that was installed, and what systemd thinks of them, if it is here.
#[cfg(target_os = "linux")]
fn units(service: &std::path::Path) {
    let text = fs::read_to_string(service).unwrap();
    let command = "ExecStart=/opt/bin/veriplex tunnel serve --config /etc/veriplex/tunnel.toml\n";
    assert!(text.contains(command), "{text}");
    // systemd wants a program where the unit says.
    fs::write(service, text.replace("/opt/bin/veriplex", "/bin/true")).unwrap();
    let analyze = |arguments: &[&str]| {
        let mut command = Command::new("systemd-analyze");
        match command.args(arguments).arg(service).output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(_) => println!("skipped: no systemd-analyze"),
        }
    };
    analyze(&["verify", "--man=no"]);
    // Of 10, in tenths: what is left is the network and Unix sockets.
    analyze(&["security", "--offline=yes", "--threshold=15", "--no-pager"]);
}

#[test]
fn man_pages_replace_no_files_elsewhere() {
    let folder = Folder::new();
    fs::create_dir(folder.path("man")).unwrap();
    folder.write("elsewhere", b"as it was");
    fs::hard_link(folder.path("elsewhere"), folder.path("man/veriplex.1")).unwrap();
    succeeds(&folder.run(&["man-pages", "man"]));
    assert_eq!(folder.read("elsewhere"), b"as it was");
    assert!(folder.read("man/veriplex.1").starts_with(b".ie"));
}
