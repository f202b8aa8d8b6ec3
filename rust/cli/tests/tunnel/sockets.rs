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
