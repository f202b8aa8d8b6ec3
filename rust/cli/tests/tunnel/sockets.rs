//! The files of Unix sockets, files that are read again, and too few file descriptors.

use std::os::unix::net::UnixStream;
use std::path::Path;

use super::*;

fn serve_at(path: &Path, options: &[&str]) -> End {
    let listen = format!("unix:{}", path.display());
    End::start_at("serve", SERVER, &[CLIENT], "127.0.0.1:1", &listen, options)
}

fn stop(mut end: End) {
    end.signal("TERM");
    assert!(end.child.wait().unwrap().success());
}

/// What has taken the place of a socket stays when its program stops.
#[test]
fn a_listener_removes_only_its_own_socket() {
    let folder = TempDir::new().unwrap();
    let paths = ["listener", "metrics"].map(|name| folder.path().join(name));
    let start = || serve_at(&paths[0], &["--metrics", paths[1].to_str().unwrap()]);
    let remove = || {
        for path in &paths {
            std::fs::remove_file(path).unwrap();
        }
    };
    stop(start());
    assert!(paths.iter().all(|path| !path.exists()));

    let server = start();
    remove();
    for path in &paths {
        std::fs::write(path, "precious").unwrap();
    }
    stop(server);
    for path in &paths {
        assert_eq!(std::fs::read(path).unwrap(), b"precious");
    }

    remove();
    let first = start();
    remove();
    let _second = start();
    stop(first);
    for path in &paths {
        UnixStream::connect(path).unwrap();
    }
}

/// What is read again is a regular file: nothing waits for the writer of a pipe, at the start or later.
#[test]
fn settings_are_regular_files() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (list, pipe) = (path("list"), path("pipe"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(&list, fingerprint(CLIENT)).unwrap();
    let listen = ["--listen", "127.0.0.1:0", "--peer-file"];
    for file in [&*pipe, "-", "/dev/null"] {
        let mut with_list = command("serve", &folder, SERVER, &[], "127.0.0.1:1");
        with_list.args(listen).arg(file);
        let mut with_config = Command::new(env!("CARGO_BIN_EXE_veriplex"));
        with_config.args(["tunnel", "serve", "--config", file]);
        let mut with_key = command("connect", &folder, CLIENT, &[], "127.0.0.1:1");
        with_key.args(listen).arg(file);
        for mut command in [with_list, with_config, with_key] {
            command.stdin(Stdio::piped());
            let said = operation::fails(command);
            assert!(said.contains(": not a regular file"), "{said}");
        }
    }

    let options = [listen[2], &*list];
    let server = End::start("serve", SERVER, &[], echo_server(), &options);
    std::fs::rename(&pipe, &list).unwrap();
    server.signal("HUP");
    server.says("the old settings remain", "not a regular file");
    let client = End::start("connect", CLIENT, &[SERVER], server.address, &[]);
    works(&client);
    stop(server);
}

/// Connections that find no file descriptor wait until others end.
#[test]
fn echo_survives_too_few_descriptors() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 30; exec \"$0\" \"$@\""]);
    command.arg(env!("CARGO_BIN_EXE_veriplex"));
    command.args(["tunnel", "echo", "--listen", "127.0.0.1:0"]);
    let echo = End::spawn(command);
    let many: Vec<_> = (0..40).map(|_| echo.connect()).collect();
    echo.says("accepting", "Too many open files");
    drop(many);
    works(&echo);
}

/// The lower limit of descriptors is raised; limits that need more than the upper one are told.
#[test]
fn limits_that_need_more_descriptors() {
    for (limit, is_enough) in [("-n 900", false), ("-n 1100; ulimit -S -n 900", true)] {
        let folder = TempDir::new().unwrap();
        let program = command("serve", &folder, SERVER, &[CLIENT], "127.0.0.1:1");
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]);
        limited.arg(program.get_program()).args(program.get_args());
        limited.args(["--listen", "127.0.0.1:0"]);
        let server = End::spawn(limited);
        server.signal("TERM");
        server.says("stopping", "connections are open");
        let lines = server.log.0.lock().unwrap();
        let is_told = lines
            .iter()
            .any(|line| line.contains("descriptors, and 900 are allowed"));
        assert_eq!(is_told, !is_enough, "{limit}: {lines:#?}");
    }
}

/// A command that cannot start says why, however few descriptors there are: their addresses make them fail with enough, too.
#[test]
#[cfg(target_os = "linux")]
fn too_few_descriptors_to_start() {
    let folder = TempDir::new().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    // The loader of programs needs one, too.
    for count in 4..=12 {
        for role in ["pipe", "connect", "serve", "echo"] {
            let program = if role == "echo" {
                let mut program = Command::new(env!("CARGO_BIN_EXE_veriplex"));
                program.args(["tunnel", "echo"]);
                program
            } else {
                command(role, &folder, CLIENT, &[SERVER], "127.0.0.1:1")
            };
            let mut limited = Command::new("sh");
            limited.args(["-c", &format!("ulimit -n {count}; exec \"$0\" \"$@\"")]);
            limited.arg(program.get_program()).args(program.get_args());
            if role != "pipe" {
                limited.args(["--listen", &taken]);
            }
            let output = limited.stdin(Stdio::piped()).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(3), "{role}, {count}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{role}, {count}: {stderr}");
        }
    }
}

/// However few descriptors there are, a pipe fails before it passes anything on, or not at all.
#[test]
#[cfg(target_os = "linux")]
fn a_pipe_with_few_descriptors() {
    let destination = server(|mut stream| stream.write_all(b"all").unwrap());
    let server = End::start("serve", SERVER, &[CLIENT], destination, &[]);
    let folder = TempDir::new().unwrap();
    let program = command("pipe", &folder, CLIENT, &[SERVER], &server.address.to_string());
    let statuses = (4..=16).map(|count| {
        let mut limited = Command::new("sh");
        limited.args(["-c", &format!("ulimit -n {count}; exec \"$0\" \"$@\"")]);
        limited.arg(program.get_program()).args(program.get_args());
        let output = limited.stdin(Stdio::null()).output().unwrap();
        let is_whole = output.status.success() && output.stdout == b"all";
        assert!(is_whole || output.stdout.is_empty(), "{count}: {output:?}");
        is_whole
    });
    assert!(statuses.collect::<Vec<_>>().ends_with(&[true]));
}

/// A name is listened on at each of its addresses: a program of another user could take one that is left out, and get what
/// clients send.
#[cfg(target_os = "linux")]
#[test]
fn names_of_several_addresses() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: needs root, for an own /etc/hosts");
        return;
    }
    let folder = TempDir::new().unwrap();
    let hosts = folder.path().join("hosts");
    // The last one is of no machine.
    std::fs::write(
        &hosts,
        "127.0.0.1 many\n127.0.0.2 many\n127.0.0.1 many\n192.0.2.1 many\n",
    )
    .unwrap();
    let listening = |port: u16| {
        let program = command("connect", &folder, CLIENT, &[SERVER], "127.0.0.1:1");
        let mut own = Command::new("unshare");
        own.args([
            "--mount",
            "sh",
            "-c",
            "mount --bind \"$0\" /etc/hosts && exec \"$@\"",
        ]);
        own.arg(&hosts)
            .arg(program.get_program())
            .args(program.get_args());
        own.args(["--listen", &format!("many:{port}")]);
        own
    };
    for taken in ["127.0.0.1:0", "127.0.0.2:0"] {
        let taken = TcpListener::bind(taken).unwrap();
        let taken = taken.local_addr().unwrap();
        let said = operation::fails(listening(taken.port()));
        assert!(
            said.contains(&format!("many:{}: {taken}: ", taken.port())),
            "{said}"
        );
    }
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut child = operation::Killed(listening(free).stderr(Stdio::piped()).spawn().unwrap());
    let mut log = BufReader::new(child.0.stderr.take().unwrap()).lines();
    for address in ["127.0.0.1", "127.0.0.2"] {
        let said = log.next().unwrap().unwrap();
        assert!(
            said.ends_with(&format!("listening on {address}:{free}")),
            "{said}"
        );
    }
}

/// Addresses that cannot be connected to, or are listened on twice, are refused at the start.
#[test]
fn addresses_that_are_wrong() {
    for (listen, connect, why) in [
        (&["127.0.0.1:0"][..], "nonsense", "nonsense: "),
        (&["127.0.0.1:0"], ":80", ":80: "),
        (&["127.0.0.1:0"], "localhost:http", "localhost:http: "),
        (&["127.0.0.1:0"], "unix:", "unix:: "),
        (&["127.0.0.1:0"], "systemd:x", "systemd:x: "),
        (
            &["systemd:web", "systemd:web"],
            "127.0.0.1:1",
            "duplicate listener",
        ),
        (
            &["127.0.0.1:0", "127.0.0.1:0"],
            "127.0.0.1:1",
            "duplicate listener",
        ),
    ] {
        for role in ["serve", "connect"] {
            let folder = TempDir::new().unwrap();
            let mut command = command(role, &folder, SERVER, &[CLIENT], connect);
            for address in listen {
                command.args(["--listen", address]);
            }
            let said = operation::fails(command);
            assert!(said.contains(why), "{role}: {said}");
        }
    }
}

/// The end of what comes is seen although another descriptor has the same socket or pipe.
#[test]
fn standard_output_ends_while_others_share_it() {
    let destination = server(|mut stream| {
        stream.write_all(b"that is all").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let server = End::start("serve", SERVER, &[CLIENT], destination, &[]);
    let pipe = || {
        let folder = TempDir::new().unwrap();
        let command = command("pipe", &folder, CLIENT, &[SERVER], &server.address.to_string());
        (folder, command)
    };
    for shares_errors in [false, true] {
        let (_folder, mut command) = pipe();
        let (mut outside, inside) = UnixStream::pair().unwrap();
        let another = || std::os::fd::OwnedFd::from(inside.try_clone().unwrap());
        command.stdin(another()).stdout(another());
        if shares_errors {
            command.stderr(another());
        }
        let mut child = command.spawn().unwrap();
        drop((command, inside));
        outside.set_read_timeout(Some(LONG / 6)).unwrap();
        let mut received = Vec::new();
        outside.read_to_end(&mut received).unwrap();
        assert_eq!(received, b"that is all");
        outside.shutdown(Shutdown::Write).unwrap();
        assert!(child.wait().unwrap().success());
    }
    let (_folder, mut command) = pipe();
    let (mut reader, writer) = io::pipe().unwrap();
    command
        .stdin(Stdio::piped())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer);
    let mut child = command.spawn().unwrap();
    drop(command);
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut received = Vec::new();
        reader.read_to_end(&mut received).unwrap();
        sender.send(received).unwrap();
    });
    let received = receiver.recv_timeout(LONG / 6);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert_eq!(received.unwrap(), b"that is all");
}

/// What a pipe sends is nothing else, and nothing is read twice.
#[test]
#[cfg(target_os = "linux")]
fn standard_input_has_one_purpose() {
    let folder = TempDir::new().unwrap();
    // Creates the files.
    drop(command("pipe", &folder, CLIENT, &[SERVER], "127.0.0.1:1"));
    let pipe = ["pipe", "--connect", "127.0.0.1:1"];
    let serve = ["serve", "--connect", "127.0.0.1:1", "--listen", "127.0.0.1:0"];
    let of_pipe = |more: &[&'static str]| [&pipe[..], more].concat();
    let of_serve = |more: &[&'static str]| [&serve[..], more].concat();
    for args in [
        of_pipe(&["--key-file", "-", "--peer-file", "server.pub"]),
        of_pipe(&["--key-fd", "00", "--peer-file", "server.pub"]),
        of_pipe(&["--key-file", "/dev/stdin", "--peer-file", "server.pub"]),
        of_pipe(&["--key-file", "key", "--peer-file", "server.pub"]),
        of_pipe(&[
            "--key-file",
            "server.pub",
            "--password-file",
            "/proc/self/fd/0",
            "--peer-file",
            "server.pub",
        ]),
        of_pipe(&["--key-file", "server.pub", "--peer-file", "key"]),
        of_serve(&[
            "--key-file",
            "-",
            "--password-file",
            "/dev/stdin",
            "--peer-file",
            "server.pub",
        ]),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex"));
        command.arg("tunnel").args(&args).current_dir(folder.path());
        command.stdin(std::fs::File::open(folder.path().join("key")).unwrap());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains("cannot be both"), "{said}");
    }
}
