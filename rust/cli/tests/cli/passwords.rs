//! Encryption under passwords, and hashes of them.

use super::*;

#[test]
fn roundtrip_with_a_password() {
    let folder = Folder::new();
    let plaintext = noise(100_000);
    folder.write("file", &plaintext);
    folder.write("password", b"correct horse\r\nsecond line\n");
    let encrypt = ["encrypt", "--password-file", "password", "--cost", "4"];
    let decrypt = ["decrypt", "--password-file", "password"];
    succeeds_at_low_cost(&folder.run(&[&encrypt[..], &["file"]].concat()));
    let sealed = folder.read("file.vpx");
    // The format is as documented.
    let salt = sealed[11..43].try_into().unwrap();
    assert!(sealed == encrypted_with_password(b"correct horse", 4, salt, &plaintext));
    succeeds(&folder.run(&[&decrypt[..], &["-f", "file.vpx"]].concat()));
    assert_eq!(folder.read("file"), plaintext);

    // The password may come from standard input, if the input does not.
    let opened = folder.pipe(
        &["decrypt", "--password-file", "-", "-o", "-", "file.vpx"],
        b"correct horse",
    );
    succeeds(&opened);
    assert_eq!(opened.stdout, plaintext);
    for command in ["encrypt", "decrypt"] {
        let output = folder.pipe(&[command, "--password-file", "-"], b"correct horse\n");
        fails(&output, USAGE, "standard input", "both");
    }
    let output = folder.pipe(
        &["decrypt", "--password-file", "-", "-o", "-", "file.vpx"],
        b"correct horsf",
    );
    fails(&output, UNVERIFIED, "file.vpx", "wrong password");
    assert_eq!(stdout(&output), "");
    // Everything of the header counts.
    for at in 0..43 {
        let mut changed = sealed.clone();
        changed[at] ^= 1;
        folder.write("bad.vpx", &changed);
        let output = folder.run(&[&decrypt[..], &["bad.vpx"]].concat());
        fails(&output, UNVERIFIED, "bad.vpx", "");
    }
    for at in 0..43 {
        let output = folder.pipe(&decrypt, &sealed[..at]);
        fails(&output, UNVERIFIED, "standard input", "too short");
    }
    assert_eq!(folder.names(), ["bad.vpx", "file", "file.vpx", "password"]);
}

#[test]
fn keys_and_passwords_are_told_apart() {
    let folder = Folder::new();
    folder.write("password", b"password");
    let with_key = encrypted(&KEY, &[9; 32], b"x");
    let with_password = encrypted_with_password(b"password", 0, &[9; 32], b"x");
    succeeds(&folder.pipe(&["decrypt", "--password-file", "password"], &with_password));
    let output = folder.pipe(&["decrypt", "--password-file", "password"], &with_key);
    fails(&output, UNVERIFIED, "standard input", "--key-file");
    let output = folder.pipe(&["decrypt", "--key-file", "key"], &with_password);
    fails(&output, UNVERIFIED, "standard input", "--password");
}

#[test]
fn costs_are_limited_before_any_work() {
    let folder = Folder::new();
    folder.write("password", b"password");
    let mut sealed = encrypted_with_password(b"password", 2, &[9; 32], b"x");
    let decrypt = ["decrypt", "--password-file", "password"];
    let low = [&decrypt[..], &["--max-cost", "1"]].concat();
    fails(
        &folder.pipe(&low, &sealed),
        UNVERIFIED,
        "standard input",
        "--max-cost",
    );
    let enough = [&decrypt[..], &["--max-cost", "2"]].concat();
    succeeds(&folder.pipe(&enough, &sealed));
    for cost in [19, 26, 27, 64, 255] {
        sealed[9] = cost;
        // Not even the salt is read.
        let output = folder.pipe(&decrypt, &sealed[..10]);
        fails(&output, UNVERIFIED, "standard input", "above the limit");
        for cost in [u32::from(cost), 256, u32::MAX] {
            folder.write(
                "hash",
                format!("$veriplex-mhf$v=1$c={cost}$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA")
                    .as_bytes(),
            );
            let output = folder.run(&["verify-password", "--password-file", "password", "hash"]);
            assert_ne!(output.status.code(), Some(0));
            assert_eq!(stderr(&output).lines().count(), 1);
        }
    }
}

/// A cost that is allowed, in a process that may have no more than 500 MiB.
#[test]
fn too_little_memory_is_an_error() {
    let folder = Folder::new();
    folder.write("password", b"password");
    folder.write("file", b"message");
    let mut sealed = encrypted_with_password(b"password", 2, &[9; 32], b"x");
    sealed[9] = 18;
    folder.write("file.vpx", &sealed);
    for args in [
        ["hash-password", "--cost=18", "--password-file=password"].as_slice(),
        &[
            "encrypt",
            "--cost=18",
            "--password-file=password",
            "-o=out",
            "file",
        ],
        &["decrypt", "--password-file=password", "-o=out", "file.vpx"],
    ] {
        let output = Command::new("sh")
            .args([
                "-c",
                "ulimit -v 512000; exec \"$0\" \"$@\"",
                env!("CARGO_BIN_EXE_veriplex"),
            ])
            .args(args)
            .current_dir(folder.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        fails(&output, IO, "password", "memory");
        assert_eq!(stdout(&output), "");
        assert_eq!(folder.names(), ["file", "file.vpx", "password"]);
    }
}

#[test]
fn password_files() {
    let folder = Folder::new();
    let hash = |content: &[u8]| {
        folder.write("password", content);
        let mut output = folder.run(&["hash-password", "--cost", "0", "--password-file", "password"]);
        let warning = "veriplex: cost 0 is below 12: passwords can be guessed fast\n";
        output.stderr = stderr(&output).strip_prefix(warning).unwrap().into();
        output
    };
    for empty in [&b""[..], b"\n", b"\r\n", b"\nsecond line"] {
        fails(&hash(empty), USAGE, "password", "empty");
    }
    fails(&hash(&[b'x'; 1025]), IO, "password", "1024");
    fails(
        &hash(&[&[b'x'; 1025][..], b"\n"].concat()),
        IO,
        "password",
        "1024",
    );
    for password in [&[b'x'; 1024][..], b"\xff\0 not Unicode", b" spaces "] {
        for end in [&b""[..], b"\n", b"\r\n", b"\nsecond line"] {
            let output = hash(&[password, end].concat());
            succeeds(&output);
            folder.write("hash", &output.stdout);
            let output = folder.pipe(&["verify-password", "--password-file", "-", "hash"], password);
            succeeds(&output);
            assert_eq!(stdout(&output), "");
        }
    }
    let output = folder.run(&["hash-password", "--password-file", "missing"]);
    fails(&output, IO, "missing", "No such file");
}

#[test]
fn hashes_of_passwords() {
    let folder = Folder::new();
    folder.write("password", b"correct horse\n");
    let hash = ["hash-password", "--cost", "3", "--password-file", "password"];
    let output = folder.run(&hash);
    succeeds_at_low_cost(&output);
    let line = stdout(&output).to_owned();
    assert!(line.starts_with("$veriplex-mhf$v=1$c=3$"), "{line}");
    assert_eq!(line.lines().count(), 1);
    assert_ne!(stdout(&folder.run(&hash)), line, "the salt is random");

    folder.write("hash", line.as_bytes());
    let verify = ["verify-password", "--password-file", "password", "hash"];
    succeeds(&folder.run(&verify));
    let output = folder.pipe(
        &["verify-password", "--password-file", "password", "-"],
        line.as_bytes(),
    );
    succeeds(&output);
    let output = folder.pipe(&["verify-password", "--password-file", "-", "-"], line.as_bytes());
    fails(&output, USAGE, "standard input", "both");
    folder.write("password", b"correct horsf\n");
    fails(&folder.run(&verify), UNVERIFIED, "hash", "wrong password");

    folder.write("password", b"correct horse\n");
    for at in 0..line.len() - 1 {
        let mut changed = line.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        folder.write("hash", &changed);
        let output = folder.run(&verify);
        let status = output.status.code().unwrap();
        fails(&output, status, "hash", "");
        assert!([UNVERIFIED, IO].contains(&status), "{at}");
    }
    for bad in [
        String::new(),
        line.repeat(5).replace('\n', ""),
        line.replace("v=1", "v=2"),
    ] {
        folder.write("hash", bad.as_bytes());
        fails(&folder.run(&verify), IO, "hash", "");
    }
}

/// A password is asked for on the terminal, and without one it is an error.
#[test]
#[cfg(target_os = "linux")]
fn without_a_terminal_nobody_is_asked() {
    let folder = Folder::new();
    folder.write(
        "file.vpx",
        &encrypted_with_password(b"password", 0, &[9; 32], b"x"),
    );
    for args in [
        &["decrypt", "--password", "file.vpx"][..],
        &["encrypt", "-p", "key"],
        &["hash-password"],
    ] {
        let program = env!("CARGO_BIN_EXE_veriplex");
        let output = folder.command(args);
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(program).args(output.get_args());
        let output = command
            .current_dir(folder.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        fails(&output, IO, "terminal", "");
    }
    assert_eq!(folder.names(), ["file.vpx"]);
}

/// Before a password or a key is asked for, it is known where the result goes, and what it is made of.
#[test]
fn nobody_is_asked_in_vain() {
    let folder = Folder::with_private_keys();
    for name in ["file", "file.vpx", "file.sealed", "file.vpsig", "taken"] {
        folder.write(name, b"x");
    }
    for args in [
        &["encrypt", "--password-file", "password"][..],
        &["encrypt", "-k", "password"],
        &["encrypt", "--deterministic", "-k", "password"],
        &["decrypt", "--password-file", "password"],
        &["seal", "-k", "password", "--to", "2.pub"],
        &["unseal", "-k", "password", "--from", "1.pub"],
        &["sign", "-k", "password"],
    ] {
        // Asking would be an error.
        let output = folder.run(&[args, &["-o", "taken", "file"]].concat());
        fails(&output, IO, "taken", "already exists");
        let output = folder.run(&[args, &["-o", "new", "missing"]].concat());
        fails(&output, IO, "missing", "No such file");
        let output = folder.run(&[args, &["-o", "new", "file"]].concat());
        fails(&output, IO, "password", "No such file");
    }
    // Input of a pipe or a terminal is not read before: what is typed next may be the password.
    let mut command = folder.command(&["decrypt", "--password-file", "password"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take();
    fails(
        &soon(|| child.wait_with_output().unwrap()),
        IO,
        "password",
        "No such file",
    );
    drop(open);
    // Of several files one is enough to ask, once.
    folder.write("password", b"password\n");
    folder.write("other", b"x");
    let encrypt = ["encrypt", "--cost", "0", "--password-file"];
    let output = folder.pipe(&[&encrypt[..], &["-", "file", "other"]].concat(), b"password");
    fails_with(&output, IO, &["cost 0", "file.vpx: already exists"]);
    let output = folder.pipe(
        &["decrypt", "--password-file", "-", "-o", "-", "other.vpx"],
        b"password",
    );
    succeeds(&output);
    fs::remove_file(folder.path("password")).unwrap();
    let output = folder.run(&[&encrypt[..], &["password", "-f", "file", "other"]].concat());
    fails_with(&output, IO, &["cost 0", "password: No such file"]);
}

/// The program with a terminal of its own.
#[cfg(target_os = "linux")]
pub struct Terminal {
    pub child: std::process::Child,
    /// What a person has.
    outside: File,
    /// What the program has.
    inside: File,
    before: String,
}

#[cfg(target_os = "linux")]
impl Terminal {
    pub fn start(folder: &Folder, args: &[&str]) -> Self {
        Self::start_in(folder, &[&[env!("CARGO_BIN_EXE_veriplex")], args].concat())
    }

    fn start_in(folder: &Folder, words: &[&str]) -> Self {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

        let outside = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&outside).unwrap();
        unlockpt(&outside).unwrap();
        let name = ptsname(&outside, Vec::new()).unwrap();
        let inside = File::options()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let before = Self::modes(&inside);
        let mut command = Command::new("setsid");
        command.arg("--ctty").args(words);
        let child = command
            .current_dir(folder.0.path())
            .stdin(inside.try_clone().unwrap())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            child,
            outside: outside.into(),
            inside,
            before,
        }
    }

    fn modes(inside: &File) -> String {
        format!("{:?}", rustix::termios::tcgetattr(inside).unwrap())
    }

    /// Waits until it shows this.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains(text) {
            let mut piece = [0; 256];
            let n = self.outside.read(&mut piece).unwrap();
            seen.extend_from_slice(&piece[..n]);
        }
        assert_ne!(Self::modes(&self.inside), self.before, "it shows what is typed");
    }

    pub fn type_in(&mut self, bytes: &[u8]) {
        self.outside.write_all(bytes).unwrap();
    }

    /// How it ended; the terminal is as it was, and nothing is left for who reads it next.
    #[track_caller]
    pub fn end(self) -> Output {
        let output = self.child.wait_with_output().unwrap();
        assert_eq!(Self::modes(&self.inside), self.before);
        assert_eq!(rustix::io::ioctl_fionread(&self.inside).unwrap(), 0);
        output
    }
}

#[test]
#[cfg(target_os = "linux")]
fn passwords_are_taken_as_they_are_typed() {
    let folder = Folder::new();
    for (password, typed) in [
        (&b"gr\xfcn-sonne"[..], &b"gr\xfcn-sonne\n"[..]),
        (b"caf\xc3", b"caf\xc3\r"),
        (
            "\u{fc}\u{4e2d}\u{1f511}".as_bytes(),
            "\u{fc}\u{4e2d}\u{1f511}\n".as_bytes(),
        ),
        (b"\x1b[A\t\x07\x01 ", b"\x1b[A\t\x07\x01 \n"),
        // The terminal's own editing.
        (b"abc", b"abd\x7fc\n"),
        (b"", b"\n"),
        (&[b'x'; 1024], &[&[b'x'; 1024][..], b"\n"].concat()),
    ] {
        let typed = typed.to_vec();
        if password.is_empty() {
            let mut terminal = Terminal::start(&folder, &["hash-password", "--cost=3"]);
            terminal.wait_for("New password for the hash: ");
            terminal.type_in(&typed);
            let output = terminal.end();
            fails_with(&output, USAGE, &["cost 3", "the password is empty"]);
            continue;
        }
        folder.write("password", password);
        let hash = folder.run(&["hash-password", "--cost=3", "--password-file=password"]);
        folder.write("hash", &hash.stdout);
        let verify = |typed: &[u8]| {
            let mut terminal = Terminal::start(&folder, &["verify-password", "hash"]);
            terminal.wait_for("Password for hash: ");
            terminal.type_in(typed);
            soon(move || terminal.end())
        };
        succeeds(&verify(&typed));
        fails(&verify(b"gr\xf6n-sonne\n"), UNVERIFIED, "hash", "wrong password");
    }
    // A longer one is not cut.
    let mut terminal = Terminal::start(&folder, &["verify-password", "hash"]);
    terminal.wait_for("Password for hash: ");
    terminal.type_in(&[&[b'x'; 1025][..], b"\n"].concat());
    fails(
        &soon(move || terminal.end()),
        IO,
        "terminal",
        "longer than 1024 bytes",
    );
    // A line that was not ended is none.
    let mut terminal = Terminal::start(&folder, &["verify-password", "hash"]);
    terminal.wait_for("Password for hash: ");
    terminal.type_in(b"xxx\x04\x04");
    fails(
        &soon(move || terminal.end()),
        IO,
        "terminal",
        "unexpected end of input",
    );
}

#[test]
#[cfg(target_os = "linux")]
fn signals_restore_the_terminal() {
    use std::os::unix::process::ExitStatusExt;

    use rustix::process::{Pid, Signal, kill_process};

    let folder = Folder::new();
    let hash = folder.run(&["hash-password", "--cost=3", "--password-file=key"]);
    folder.write("hash", &hash.stdout);
    let ask = || {
        let mut terminal = Terminal::start(&folder, &["verify-password", "hash"]);
        terminal.wait_for("Password for hash: ");
        terminal
    };
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let terminal = ask();
        kill_process(Pid::from_child(&terminal.child), signal).unwrap();
        let output = soon(move || terminal.end());
        assert_eq!(output.status.signal(), Some(signal.as_raw()));
    }
    for (key, signal) in [(3, Signal::INT), (28, Signal::QUIT)] {
        let mut terminal = ask();
        terminal.type_in(&[key]);
        let output = soon(move || terminal.end());
        assert_eq!(output.status.signal(), Some(signal.as_raw()));
    }
    // Not all of them are known to who emulates what they do.
    for signal in ["STKFLT", "IO", "PWR", "34", "50", "64", "USR1", "ALRM"] {
        let terminal = ask();
        let kill = Command::new("bash")
            .args(["-c", "kill -$0 $1", signal, &terminal.child.id().to_string()])
            .status();
        assert!(kill.unwrap().success(), "{signal}");
        assert_ne!(soon(move || terminal.end()).status.code(), Some(0), "{signal}");
    }
    // Ctrl-S: what is shown waits.
    let mut terminal = ask();
    terminal.type_in(b"\x13");
    thread::sleep(Duration::from_millis(100));
    kill_process(Pid::from_child(&terminal.child), Signal::TERM).unwrap();
    let output = soon(move || terminal.end());
    assert_eq!(output.status.signal(), Some(Signal::TERM.as_raw()));
}

/// Whoever ended first showed what was typed for the other, and the other one left the terminal without echo.
#[test]
#[cfg(target_os = "linux")]
fn programs_of_a_pipeline_ask_one_after_the_other() {
    let folder = Folder::new();
    let hash = folder.run(&["hash-password", "--cost=3", "--password-file=key"]);
    folder.write("hash", &hash.stdout);
    let key = folder.read("key");
    let script = "tty=$(tty); \"$0\" verify-password hash | \"$0\" verify-password hash 2>\"$tty\"";
    let mut terminal = Terminal::start_in(&folder, &["sh", "-c", script, env!("CARGO_BIN_EXE_veriplex")]);
    let output = soon(move || {
        for _ in 0..2 {
            terminal.wait_for("Password for hash: ");
            terminal.type_in(&key);
        }
        terminal.end()
    });
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn control_z_stops_where_a_shell_can_go_on() {
    let folder = Folder::new();
    let hash = folder.run(&["hash-password", "--cost=3", "--password-file=key"]);
    folder.write("hash", &hash.stdout);
    let script = "exec 2>/dev/tty; set -m; \"$0\" \"$@\"; stty -a >stopped; fg >fg";
    let program = env!("CARGO_BIN_EXE_veriplex");
    let verify = ["verify-password", "hash"];
    for (shell, is_stopped) in [(&["bash", "-c", script][..], true), (&[], false)] {
        let mut terminal = Terminal::start_in(&folder, &[shell, &[program], &verify].concat());
        let key = folder.read("key");
        let output = soon(move || {
            terminal.wait_for("Password for hash: ");
            // The system discards what is shown at the same time as Ctrl-Z is typed.
            thread::sleep(Duration::from_millis(200));
            terminal.type_in(b"first\x1a");
            terminal.wait_for("Password for hash: ");
            terminal.type_in(&key);
            terminal.end()
        });
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let stopped = fs::read_to_string(folder.path("stopped")).unwrap_or_default();
        assert_eq!(stopped.contains(" echo "), is_stopped, "{stopped}");
        let _ = fs::remove_file(folder.path("stopped"));
    }
}

/// Ctrl-V makes a newline a byte of the password, wherever it is in the line.
#[test]
#[cfg(target_os = "linux")]
fn a_quoted_newline_does_not_end_the_password() {
    let folder = Folder::new();
    let mut terminal = Terminal::start(&folder, &["hash-password", "--cost=3"]);
    let typed = [&[b'x'; 255][..], b"\x16\nrest\n"].concat();
    for prompt in ["New password for the hash: ", "Again: "] {
        terminal.wait_for(prompt);
        terminal.type_in(&typed);
    }
    succeeds_at_low_cost(&soon(move || terminal.end()));
}

/// Signals after a prompt are those of a server that asked for nothing.
#[test]
#[cfg(target_os = "linux")]
fn a_tunnel_gets_its_signals_after_a_prompt() {
    use rustix::process::{Pid, Signal, kill_process};

    let folder = Folder::with_private_keys();
    folder.write("password", b"secret\n");
    let generate = ["key", "generate", "--private", "--cost", "0", "server"];
    succeeds_at_low_cost(&folder.run(&[&generate[..], &["--password-file", "password"]].concat()));
    let serve = ["tunnel", "serve", "--key-file", "server", "--peer-file", "1.pub"];
    let to = ["--listen", "unix:socket", "--connect", "127.0.0.1:1"];
    for signal in [Signal::INT, Signal::TERM] {
        let mut terminal = Terminal::start(&folder, &[&serve[..], &to].concat());
        terminal.wait_for("Password for server: ");
        terminal.type_in(b"secret\n");
        let mut stderr = std::io::BufReader::new(terminal.child.stderr.take().unwrap());
        let mut says = |text: &str| {
            let mut line = String::new();
            std::io::BufRead::read_line(&mut stderr, &mut line).unwrap();
            assert!(line.contains(text), "{text}: {line:?}");
        };
        says("listening on unix:socket");
        let kill = |signal| kill_process(Pid::from_child(&terminal.child), signal).unwrap();
        kill(Signal::HUP);
        says("reloaded");
        kill(signal);
        says("stopping");
        let output = soon(move || terminal.end());
        assert_eq!(output.status.code(), Some(0));
        assert!(!folder.path("socket").exists());
    }
}

/// Of two passwords it is said which is asked for.
#[test]
#[cfg(target_os = "linux")]
fn old_and_new_passwords_are_told_apart() {
    let folder = Folder::with_private_keys();
    folder.write("password", b"old\n");
    let change = ["key", "password", "--cost=3", "1"];
    succeeds_at_low_cost(&folder.run(&[&change[..], &["--new-password-file=password"]].concat()));
    let mut terminal = Terminal::start(&folder, &change);
    for (prompt, typed) in [
        ("Password for 1: ", b"old\n"),
        ("New password for 1: ", b"new\n"),
        ("Again: ", b"new\n"),
    ] {
        terminal.wait_for(prompt);
        terminal.type_in(typed);
    }
    succeeds_at_low_cost(&soon(move || terminal.end()));
}
