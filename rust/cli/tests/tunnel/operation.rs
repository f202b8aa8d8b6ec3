//! What operators have: a configuration file that is read again, proxies, systemd, logs in JSON.

use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::PathBuf;

use super::*;

/// The program with a configuration file, which can be changed.
struct Configured {
    folder: TempDir,
}

impl Configured {
    fn new(text: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("key"), private_line(SERVER)).unwrap();
        let configured = Self { folder };
        configured.write(text);
        configured
    }

    /// With what all have.
    fn write(&self, text: &str) {
        std::fs::write(self.path("tunnel.toml"), format!("key-file = 'key'\n{text}")).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex"));
        command
            .args(["tunnel", "serve", "--config"])
            .arg(self.path("tunnel.toml"));
        command
    }

    fn start(&self) -> End {
        End::spawn(self.command())
    }

    /// What it says if it does not start.
    fn fails(&self) -> String {
        fails(self.command())
    }
}

/// What a program says that must not start. If it does, it is stopped, which is no failure.
pub fn fails(mut command: Command) -> String {
    let mut child = Killed(command.stderr(Stdio::piped()).spawn().unwrap());
    let end = Instant::now() + LONG;
    while child.0.try_wait().unwrap().is_none() && Instant::now() < end {
        thread::sleep(Duration::from_millis(20));
    }
    let status = child.0.try_wait().unwrap();
    let _ = child.0.kill();
    let mut said = String::new();
    let mut stderr = child.0.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(status.and_then(|status| status.code()), Some(3), "{said}");
    said
}

/// Killed on drop, also when a test fails.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn peer(name: &str, key: u8) -> String {
    format!(
        "[[peer]]\nname = '{name}'\nfingerprint = '{}'\n",
        fingerprint(key)
    )
}

#[test]
fn a_file_is_read_again_without_dropping_connections() {
    let echo = echo_server();
    let head = format!("connect = '{echo}'\ntimeout = 5\n[[listen]]\naddress = '127.0.0.1:0'\n");
    let at = |name: &str| format!("[[listen]]\naddress = 'unix:{name}'\n");
    let configured = Configured::new(&format!("{head}{}{}", at("one"), peer("the client", CLIENT)));
    let server = configured.start();
    let client = End::start("connect", CLIENT, &[SERVER], server.address, &[]);
    let stranger = End::start("connect", STRANGER, &[SERVER], server.address, &[]);
    let through = |name: &str| {
        let to = format!("unix:{}", configured.path(name).display());
        End::start_at("connect", CLIENT, &[SERVER], &to, "127.0.0.1:0", &[])
    };
    let (one, two) = (through("one"), through("two"));
    let mut open = client.connect();
    let mut also = one.connect();
    let echo_of = |stream: &mut TcpStream| {
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
    };
    echo_of(&mut open);
    echo_of(&mut also);
    works(&one);
    is_reset(&mut two.connect());
    is_reset(&mut stranger.connect());
    server.says("the client", "open");

    // Another listener, another peer by key file, a limit; all that was open goes on.
    let key = public_line(STRANGER);
    std::fs::write(configured.path("new.pub"), key).unwrap();
    configured.write(&format!(
        "max-per-peer = 2\n{head}{}{}[[peer]]\nkey-file = 'new.pub'\n",
        at("two"),
        peer("still the client", CLIENT)
    ));
    server.signal("HUP");
    server.says("reloaded", "the settings");
    server.says("no longer listening on", "/one");
    assert!(!configured.path("one").exists());
    echo_of(&mut open);
    echo_of(&mut also);
    is_reset(&mut one.connect());
    works(&stranger);
    server.says("new", "closed");
    is_reset(&mut client.connect());
    server.says("still the client", "too many connections from this peer");
    // Its place is given back when both ends have noticed.
    drop(also);
    until(|| exchange(two.connect(), b"z").ok());

    // What is wrong changes nothing: a file that cannot be read, an address that cannot be listened on.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let taken_by = TcpListener::bind(taken).unwrap();
    for (times, text) in [
        (1, "nonsense".to_owned()),
        (
            2,
            format!("{head}[[listen]]\naddress = '{taken}'\n{}", at("three")),
        ),
    ] {
        configured.write(&text);
        server.signal("HUP");
        server.says_times(times, "reload failed", "old settings remain");
        works(&stranger);
        echo_of(&mut open);
    }
    server.says(&taken.to_string(), "if it overlaps an address of before, restart");
    assert!(!configured.path("three").exists());
    drop(taken_by);

    // Nobody is allowed any more, and what cannot be changed is said.
    configured.write(&format!("log = 'json'\nmetrics = 'metrics'\n{head}"));
    server.signal("HUP");
    server.says("log", "after a restart");
    server.says("metrics", "after a restart");
    server.says_times(2, "reloaded", "the settings");
    is_reset(&mut client.connect());
    is_reset(&mut stranger.connect());
    echo_of(&mut open);
}

#[test]
fn files_that_are_wrong() {
    let good = "connect = '127.0.0.1:1'\n[[listen]]\naddress = '127.0.0.1:0'\n";
    for (text, why) in [
        (
            format!("{good}[[peer]]\nkey-file = 'none'\n"),
            "none: No such file",
        ),
        (
            format!("conect = 'x'\n{good}"),
            "tunnel.toml: line 2: unknown field `conect`",
        ),
        (format!("log = \"\u{1b}[8m\"\n{good}"), "tunnel.toml: line 2: "),
        (
            good.replace("127.0.0.1:0", "systemd:x"),
            "systemd passed no socket",
        ),
        (good.replace("127.0.0.1:0", "unix:no/where"), "no/where: "),
        (format!("metrics = 'no/where'\n{good}"), "no/where: "),
    ] {
        let said = Configured::new(&text).fails();
        assert!(said.contains(why) && said.lines().count() == 1, "{said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    }
    // A file is all, or nothing.
    let output = Configured::new(good)
        .command()
        .args(["--max-pending", "2"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex"));
    let output = command
        .args(["tunnel", "serve", "--listen", "127.0.0.1:0"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Whatever an address is, an error about it is one line that does nothing to a terminal.
#[test]
fn addresses_do_not_act_on_the_terminal() {
    let hostile = "\u{1b}[8m\nveriplex: listening on 127.0.0.1:1\u{202e}";
    let folder = TempDir::new().unwrap();
    for (role, prefix) in [
        ("pipe", ""),
        ("pipe", "unix:"),
        ("serve", ""),
        ("serve", "unix:/no/"),
        ("serve", "systemd:"),
        ("echo", ""),
        ("echo", "unix:/no/"),
    ] {
        let address = format!("{prefix}{hostile}");
        let mut command = if role == "echo" {
            let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex"));
            command.args(["tunnel", "echo"]);
            command
        } else {
            let connect = if role == "pipe" { &address } else { "127.0.0.1:1" };
            command(role, &folder, SERVER, &[CLIENT], connect)
        };
        if role != "pipe" {
            command.args(["--listen", &address]);
        }
        let said = fails(command);
        assert_eq!(said.lines().count(), 1, "{role} {prefix}: {said:?}");
        assert!(
            !said.contains(['\u{1b}', '\u{202e}']),
            "{role} {prefix}: {said:?}"
        );
        assert!(said.contains("\\u{1b}[8m"), "{role} {prefix}: {said:?}");
    }
    // Where it listens is a line as well.
    let path = folder.path().join(hostile.replace('/', ""));
    let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex"));
    command.args(["tunnel", "echo", "--listen", &format!("unix:{}", path.display())]);
    let mut child = Killed(command.stderr(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(child.0.stderr.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("\\u{202e}") && !line.contains('\u{1b}'), "{line:?}");
}

/// An address of one link, with its zone by name.
#[cfg(target_os = "linux")]
#[test]
fn addresses_with_a_zone() {
    let table = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    let Some(line) = table.lines().find(|line| line.starts_with("fe80")) else {
        println!("skipped: needs an interface with an address of its link");
        return;
    };
    let address = std::net::Ipv6Addr::from(u128::from_str_radix(&line[..32], 16).unwrap());
    let zone = line.split_whitespace().last().unwrap();
    let at = |port: u16| format!("[{address}%{zone}]:{port}");
    let server = End::start_at(
        "serve",
        SERVER,
        &[CLIENT],
        &echo_server().to_string(),
        &at(0),
        &[],
    );
    let to = at(server.address.port());
    works(&End::start_at(
        "connect",
        CLIENT,
        &[SERVER],
        &to,
        "127.0.0.1:0",
        &[],
    ));
}

/// A process that can start no more threads: each takes more memory than it may have.
#[cfg(target_os = "linux")]
fn no_more_threads(process: &Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let size = status
        .lines()
        .find_map(|line| line.strip_prefix("VmSize:"))
        .unwrap();
    let kibibytes: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    let most = Some((kibibytes << 10) + (1 << 29));
    let pid = Pid::from_child(process);
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    prlimit(Some(pid), Resource::As, limit).unwrap();
}

/// Threads that are needed later are there from the start.
#[cfg(target_os = "linux")]
#[test]
fn names_are_looked_up_without_new_threads() {
    let text = |more: &str| format!("connect = '127.0.0.1:1'\n[[listen]]\naddress = '127.0.0.1:0'\n{more}");
    let configured = Configured::new(&text(""));
    let mut command = configured.command();
    command.env("RUST_MIN_STACK", (1 << 30).to_string());
    let server = End::spawn(command);
    no_more_threads(&server.child);
    configured.write(&text("[[listen]]\naddress = 'localhost:0'\n"));
    server.signal("HUP");
    server.says("reloaded", "the settings");
}

/// Also those that wait for standard input and output.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_needs_no_new_threads() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = End::start("serve", SERVER, &[CLIENT], listener.local_addr().unwrap(), &[]);
    let folder = TempDir::new().unwrap();
    let mut pipe = command("pipe", &folder, CLIENT, &[SERVER], &server.address.to_string());
    pipe.env("RUST_MIN_STACK", (1 << 30).to_string());
    pipe.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut pipe = Killed(pipe.spawn().unwrap());
    let (mut other, _) = listener.accept().unwrap();
    // It waits for standard input.
    pipe.0.stdin.as_mut().unwrap().write_all(b"x").unwrap();
    other.read_exact(&mut [0]).unwrap();
    no_more_threads(&pipe.0);
    other.write_all(b"answer").unwrap();
    let mut stdout = pipe.0.stdout.take().unwrap();
    let (sender, answer) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let mut answer = [0; 6];
        let _ = sender.send(stdout.read_exact(&mut answer).map(|()| answer));
    });
    assert_eq!(&answer.recv_timeout(LONG).unwrap().unwrap(), b"answer");
}

/// Signals end it while it looks a name up, at the start and in a reload.
#[cfg(target_os = "linux")]
#[test]
fn signals_while_a_name_is_looked_up() {
    // A name server that does not answer.
    let silent = UdpSocket::bind("127.0.0.77:53");
    let unshare = Command::new("unshare").args(["-m", "true"]).status();
    if silent.is_err() || !unshare.is_ok_and(|status| status.success()) {
        println!("skipped: needs root");
        return;
    }
    let text = |more: &str| format!("connect = '127.0.0.1:1'\n[[listen]]\naddress = '127.0.0.1:0'\n{more}");
    let slow = text("[[listen]]\naddress = 'slow.example:0'\n");
    let configured = Configured::new(&text(""));
    let resolver = configured.path("resolv.conf");
    std::fs::write(
        &resolver,
        "nameserver 127.0.0.77\noptions timeout:30 attempts:3\n",
    )
    .unwrap();
    let program = configured.command();
    let command = || {
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c"]);
        command
            .arg("mount --bind \"$0\" /etc/resolv.conf && exec \"$@\"")
            .arg(&resolver);
        command.arg(program.get_program()).args(program.get_args());
        command
    };
    let ends = |child: &mut Child| {
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(15), "it goes on");
            thread::sleep(Duration::from_millis(20));
        }
        assert!(child.wait().unwrap().success());
    };
    let mut server = End::spawn(command());
    configured.write(&slow);
    for signal in ["HUP", "TERM"] {
        thread::sleep(Duration::from_secs(1));
        server.signal(signal);
    }
    ends(&mut server.child);
    let mut child = Killed(command().spawn().unwrap());
    let handles_signals = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.0.id())).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        u64::from_str_radix(mask.unwrap().trim(), 16).unwrap() >> 14 & 1 == 1
    };
    until(|| handles_signals().then_some(()));
    thread::sleep(Duration::from_millis(500));
    rustix::process::kill_process(
        rustix::process::Pid::from_child(&child.0),
        rustix::process::Signal::INT,
    )
    .unwrap();
    ends(&mut child.0);
}

/// With few threads it either works or says in one line that it does not. The size of stacks and of memory allows any number
/// of them, to any user.
#[cfg(target_os = "linux")]
#[test]
fn too_few_threads() {
    let echo = echo_server().to_string();
    let with_threads = |folder: &TempDir, count: u64, role: &str| {
        let mut program = command(role, folder, SERVER, &[CLIENT], &echo);
        program.args(["--timeout", "2"]);
        let mut command = Command::new("sh");
        let kibibytes = (count << 20) + (1 << 19);
        command.args(["-c", &format!("ulimit -v {kibibytes}; exec \"$0\" \"$@\"")]);
        command.arg(program.get_program()).args(program.get_args());
        if role != "pipe" {
            command.args(["--listen", "localhost:0"]);
        }
        command
            .env("RUST_MIN_STACK", (1 << 30).to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    };
    // Whether it works.
    let works = |count: u64, role: &str| {
        let folder = TempDir::new().unwrap();
        let mut child = Killed(
            with_threads(&folder, count, role)
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
        );
        let mut stderr = BufReader::new(child.0.stderr.take().unwrap());
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        if said.starts_with("veriplex: listening on ") {
            return true;
        }
        stderr.read_to_string(&mut said).unwrap();
        let status = child.0.wait().unwrap().code();
        assert_eq!(said.lines().count(), 1, "{role} with {count}: {said}");
        // The pipe has reached what is no server, or waits for it no longer.
        if role == "pipe" && !said.contains("thread") {
            return true;
        }
        assert_eq!(status, Some(3), "{role} with {count}: {said}");
        assert!(said.contains("thread"), "{role} with {count}: {said}");
        false
    };
    let most = 6 + thread::available_parallelism().unwrap().get() as u64;
    thread::scope(|scope| {
        for role in ["serve", "connect", "pipe"] {
            let works = &works;
            let counts = (0..=most).map(|count| scope.spawn(move || works(count, role)));
            let counts: Vec<_> = counts.collect();
            let seen: Vec<_> = counts.into_iter().map(|count| count.join().unwrap()).collect();
            assert!(
                !seen[0] && seen[seen.len() - 1] && seen.is_sorted(),
                "{role}: {seen:?}"
            );
        }
    });
}

/// The demonstration of the README, at ports that are free.
#[test]
fn five_commands() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let block = page
        .split("```sh\n")
        .find(|block| block.contains("veriplex tunnel echo"))
        .unwrap();
    let mut block = block.split("```").next().unwrap().to_owned();
    let ports = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    for (port, given) in ports.into_iter().zip(["7001", "7002", "7003"]) {
        assert!(block.contains(given));
        block = block.replace(given, &port.local_addr().unwrap().port().to_string());
    }
    let folder = TempDir::new().unwrap();
    let run = |line: &str| {
        let bin = std::path::Path::new(env!("CARGO_BIN_EXE_veriplex"))
            .parent()
            .unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&folder).env("PATH", path);
        command
    };
    let lines: Vec<_> = block.lines().collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    let mut ends = Vec::new();
    for line in &lines[..4] {
        match line.strip_suffix(" &") {
            Some(line) => ends.push(End::spawn(run(&format!("exec {line}")))),
            None => assert!(run(line).output().unwrap().status.success()),
        }
    }
    let output = run(lines[4]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "Is anybody there?\n");
    works(&ends[2]);
}

/// A client behind a proxy that says this.
fn proxied(server: &End, header: &[u8]) -> Client {
    let mut client = Client::new(server);
    client.send(header);
    client
}

fn echoes(client: &mut Client) {
    let mut session = client.handshake(CLIENT);
    let record = record(&mut session, b"hello");
    let mut echo: [u8; DATA_OVERHEAD + 5] = client.send(&record).read();
    let frame = session.receiver.open(&mut echo, &mut session.keys);
    assert_eq!(frame, Ok(Frame::Data(b"hello")));
}

#[test]
fn proxies_say_who_connects() {
    let head = format!("connect = '{}'\ntimeout = 2\nmax-per-source = 3\n", echo_server());
    let configured = Configured::new(&format!(
        "{head}[[listen]]\naddress = '127.0.0.1:0'\nproxies = ['127.0.0.1', '127.0.7.0/24', 'unix']\n\
         [[listen]]\naddress = 'unix:plain'\n[[listen]]\naddress = 'unix:proxy'\nproxies = ['unix']\n{}",
        peer("the client", CLIENT)
    ));
    let server = configured.start();
    let v2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x08\x0a\0\0\x01\x12\x34\0\x50";
    for (header, source) in [
        (
            &b"PROXY TCP4 192.0.2.7 10.0.0.1 4660 80\r\n"[..],
            "192.0.2.7:4660 by 127.0.0.1:",
        ),
        (
            b"PROXY TCP6 2001:db8::7 ::1 4660 80\r\n",
            "[2001:db8::7]:4660 by 127.0.0.1:",
        ),
        (b"PROXY UNKNOWN\r\n", "veriplex: 127.0.0.1:"),
        (v2, "192.0.2.8:4660 by 127.0.0.1:"),
        (b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", "veriplex: 127.0.0.1:"),
    ] {
        echoes(&mut proxied(&server, header));
        server.says(source, "the client: open");
    }

    // No header, a wrong one, a part of one, none at all.
    let (_, request) = start(CLIENT);
    let silent = Client::new(&server);
    let part = proxied(&server, b"PROXY TCP4 192.0.2.7");
    proxied(&server, &request).refused(&server, "not a header of the PROXY protocol");
    proxied(&server, b"PROXY TCP4 192.0.2.7 10.0.0.1 4660\r\n").refused(&server, "not a header");
    proxied(&server, b"\r\n\r\n\0\r\nQUIT\n\x21\x11\xff\xff").refused(&server, "not a header");
    let cut = proxied(&server, b"PROXY TCP4 192");
    cut.0.shutdown(Shutdown::Write).unwrap();
    cut.refused(&server, "from the proxy: ");
    for late in [silent, part] {
        late.refused(&server, "timed out before its header");
    }

    // From elsewhere there is no proxy, whatever it says.
    let mut other = Client(connect_from(2, server.address));
    other.0.set_read_timeout(Some(LONG)).unwrap();
    // It may have been closed already.
    let _ = other.0.write_all(b"PROXY TCP4 192.0.2.7 10.0.0.1 4660 80\r\n");
    other.refused(&server, "not a proxy of this listener");

    // Where no proxy is named, a header is what any other nonsense is.
    let through = |name: &str, header: &[u8]| {
        let mut stream = UnixStream::connect(configured.path(name)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(header).unwrap();
        let (initiator, request) = start(CLIENT);
        stream.write_all(&request).unwrap();
        let mut response = [0; RESPONSE_LEN];
        stream.read_exact(&mut response)?;
        assert!(initiator.receive(&response).is_ok());
        io::Result::Ok(())
    };
    through("plain", b"").unwrap();
    assert!(through("plain", b"PROXY UNKNOWN\r\n").is_err());
    server.says("unix", "verification failed");
    through("proxy", b"PROXY UNKNOWN\r\n").unwrap();
    assert!(through("proxy", b"").is_err());
    server.says("unix", "not a header");

    // Limits are those of the source that the proxy names: it pushes out its own, and nobody else.
    let mut honest = proxied(&server, b"PROXY TCP4 192.0.2.7 10.0.0.1 1 80\r\n");
    let flood: Vec<_> = (0..9)
        .map(|_| proxied(&server, b"PROXY TCP4 203.0.113.1 10.0.0.1 1 80\r\n"))
        .collect();
    server.says_times(6, "203.0.113.1:1 by", "evicted");
    echoes(&mut honest);
    drop(flood);
}

/// The program as systemd starts it: with these sockets, from descriptor 3 on.
fn activated(configured: &Configured, sockets: Vec<OwnedFd>, names: &str) -> Command {
    let program = configured.command();
    let mut command = Command::new("sh");
    let count = sockets.len();
    let mut sockets = sockets.into_iter();
    command
        .arg("-c")
        .arg("exec 3<&0 4>&1 </dev/null >/dev/null; export LISTEN_PID=$$; exec \"$0\" \"$@\"")
        .arg(program.get_program())
        .args(program.get_args())
        .env("LISTEN_FDS", count.to_string())
        .env("LISTEN_FDNAMES", names);
    command.stdin(sockets.next().unwrap());
    if let Some(socket) = sockets.next() {
        command.stdout(socket);
    }
    command
}

#[test]
fn sockets_of_systemd() {
    let head = format!("connect = '{}'\n", echo_server());
    let text = |names: &[&str]| {
        let listen = names
            .iter()
            .map(|name| format!("[[listen]]\naddress = 'systemd:{name}'\n"));
        format!(
            "{head}{}{}",
            listen.collect::<String>(),
            peer("the client", CLIENT)
        )
    };
    let configured = Configured::new(&text(&["web", "local"]));
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = tcp.local_addr().unwrap();
    let path = configured.path("socket");
    let unix = UnixListener::bind(&path).unwrap();
    // Connections that came before the program wait.
    let early = TcpStream::connect(address).unwrap();
    let notify_socket = configured.path("notify");
    let systemd = UnixDatagram::bind(&notify_socket).unwrap();
    systemd.set_read_timeout(Some(LONG)).unwrap();
    let hears = |expected: &str| {
        let mut message = [0; 100];
        let n = systemd.recv(&mut message).unwrap();
        assert_eq!(str::from_utf8(&message[..n]).unwrap(), expected);
    };
    let mut command = activated(&configured, vec![tcp.into(), unix.into()], "web:local");
    command.env("NOTIFY_SOCKET", &notify_socket);
    let mut server = End::spawn(command);
    assert_eq!(server.address, address);
    hears("READY=1");
    let client = End::start("connect", CLIENT, &[SERVER], address, &[]);
    let local = format!("unix:{}", path.display());
    let other = End::start_at("connect", CLIENT, &[SERVER], &local, "127.0.0.1:0", &[]);
    works(&client);
    works(&other);
    let mut early = Client(early);
    early.0.set_read_timeout(Some(LONG)).unwrap();
    echoes(&mut early);

    // One is given up, and taken up again.
    configured.write(&text(&["web"]));
    server.signal("HUP");
    hears("RELOADING=1");
    hears("READY=1");
    works(&client);
    configured.write(&text(&["web", "local"]));
    server.signal("HUP");
    hears("RELOADING=1");
    hears("READY=1");
    works(&other);
    server.says_times(2, "reloaded", "the settings");
    drop(early);

    server.signal("TERM");
    hears("STOPPING=1");
    assert!(server.child.wait().unwrap().success());
    assert!(path.exists(), "it is systemd's");
}

#[test]
fn sockets_of_systemd_that_are_wrong() {
    let text = |name: &str| format!("connect = '127.0.0.1:1'\n[[listen]]\naddress = 'systemd:{name}'\n");
    let tcp = || -> OwnedFd { TcpListener::bind("127.0.0.1:0").unwrap().into() };
    let refused = |name: &str, sockets: Vec<OwnedFd>, names: &str, why: &str| {
        let configured = Configured::new(&text(name));
        let said = fails(activated(&configured, sockets, names));
        assert!(said.contains(why), "{said}");
    };
    refused(
        "web",
        vec![tcp()],
        "other",
        "systemd:other: passed by systemd, but",
    );
    refused(
        "web",
        vec![tcp(), tcp()],
        "web:more",
        "systemd:more: passed by systemd, but",
    );
    refused("web", vec![tcp()], "", "systemd:unknown: passed by systemd, but");
    refused(
        "web",
        vec![UdpSocket::bind("127.0.0.1:0").unwrap().into()],
        "web",
        "systemd:web: fd 3",
    );
    let (_, connected) = UnixStream::pair().unwrap();
    refused(
        "web",
        vec![connected.into()],
        "web",
        "systemd:web: not a listening socket",
    );
    // Those of another process, or of nobody, are not ours.
    let configured = Configured::new(&text("web"));
    for pid in [Some("1"), None] {
        let mut command = configured.command();
        command.envs(pid.map(|pid| ("LISTEN_PID", pid)));
        command.envs([("LISTEN_FDS", "1"), ("LISTEN_FDNAMES", "web")]);
        let said = fails(command);
        assert!(said.contains("systemd passed no socket with this name"), "{said}");
    }
    let mut command = activated(&configured, vec![tcp()], "web");
    command.env("LISTEN_FDS", "2147483644");
    let said = fails(command);
    assert!(said.contains("LISTEN_FDS: "), "{said}");
}

#[test]
fn the_log_in_json() {
    let head = format!("connect = '{}'\nlog = 'json'\n", echo_server());
    let configured = Configured::new(&format!(
        "{head}[[listen]]\naddress = 'unix:socket'\n{}",
        peer("NAME", CLIENT).replace("'NAME'", r#""\u001bAlice \"A\"""#)
    ));
    let mut child = Killed(configured.command().stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stderr.take().unwrap()).lines();
    let mut next = || -> serde_json::Value {
        let line = lines.next().unwrap().unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{line}: {error}"))
    };
    let value = next();
    assert!(
        value["message"]
            .as_str()
            .unwrap()
            .starts_with("listening on unix:"),
        "{value}"
    );
    assert_eq!(value["level"], "INFO");
    let to = format!("unix:{}", configured.path("socket").display());
    let client = End::start_at("connect", CLIENT, &[SERVER], &to, "127.0.0.1:0", &[]);
    let stranger = End::start_at("connect", STRANGER, &[SERVER], &to, "127.0.0.1:0", &[]);
    works(&client);
    for message in ["open", "closed"] {
        let value = next();
        assert_eq!(value["message"], message, "{value}");
        assert_eq!(
            (&value["source"], &value["peer"]),
            (&"unix".into(), &"\\u{1b}Alice \"A\"".into())
        );
    }
    is_reset(&mut stranger.connect());
    let value = next();
    assert_eq!(
        (&value["level"], &value["reason"]),
        (&"WARN".into(), &"refused".into()),
        "{value}"
    );
    // It may be a copy of an old request.
    assert_eq!(value["claimed"], fingerprint(STRANGER), "{value}");
}

/// Peers may be added later, but that there are none is said; the command line must name one.
#[test]
fn without_peers_it_says_so() {
    let serve = [
        "tunnel",
        "serve",
        "--key-file",
        "key",
        "--listen",
        "127.0.0.1:0",
        "--connect",
        "127.0.0.1:1",
    ];
    let output = Command::new(env!("CARGO_BIN_EXE_veriplex"))
        .args(serve)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("<--peer <FINGERPRINT>|--peer-file <FILE>|--config <FILE>>"),
        "{said}"
    );

    let listen = "connect = '127.0.0.1:1'\n[[listen]]\naddress = '127.0.0.1:0'\n";
    let configured = Configured::new(listen);
    let server = configured.start();
    server.says("no peers are configured", "every client is refused");
    configured.write(&format!(
        "{listen}[[peer]]\nfingerprint = '{}'\n",
        fingerprint(CLIENT)
    ));
    server.signal("HUP");
    server.says("reloaded", "the settings");
    configured.write(listen);
    server.signal("HUP");
    server.says_times(2, "no peers are configured", "every client is refused");
}

/// A name may get its address later, but that it has none is said, at the start and when the settings are read again.
#[test]
fn without_an_address_of_its_destination_it_says_so() {
    let to = |connect| format!("connect = '{connect}'\n[[listen]]\naddress = '127.0.0.1:0'\n");
    let configured = Configured::new(&to("one.invalid:80"));
    let server = configured.start();
    server.says("one.invalid:80", "has no address now");
    configured.write(&to("two.invalid:80"));
    server.signal("HUP");
    server.says("two.invalid:80", "has no address now");
}

/// As destinations do.
#[test]
fn listeners_have_a_host_and_a_port() {
    for address in [":0", "7000", "[]:0", "localhost"] {
        let listen = format!("connect = '127.0.0.1:1'\n[[listen]]\naddress = '{address}'\n");
        let said = Configured::new(&listen).fails();
        assert!(said.contains(&format!("{address}: not HOST:PORT")), "{said}");
    }
}

/// A socket that a killed process left behind is replaced; any other file stays, and is an error.
#[test]
fn what_is_no_socket_is_not_removed() {
    let listen = |address: &str| format!("connect = '127.0.0.1:1'\n[[listen]]\naddress = '{address}'\n");
    for text in [
        listen("unix:precious"),
        format!("metrics = 'precious'\n{}", listen("127.0.0.1:0")),
    ] {
        let configured = Configured::new(&text);
        std::fs::write(configured.path("precious"), "data").unwrap();
        let said = configured.fails();
        assert!(said.contains("precious: Address already in use"), "{said}");
        assert_eq!(std::fs::read(configured.path("precious")).unwrap(), b"data");
    }
    let configured = Configured::new(&listen("unix:left"));
    drop(UnixListener::bind(configured.path("left")).unwrap());
    assert!(configured.path("left").exists());
    drop(configured.start());

    // No path would be one that the system chooses.
    let folder = TempDir::new().unwrap();
    for role in ["serve", "connect"] {
        let mut command = command(role, &folder, SERVER, &[CLIENT], "127.0.0.1:1");
        command.args(["--listen", "unix:"]);
        let said = fails(command);
        assert!(said.contains("unix:: no path"), "{said}");
    }
}

/// Who is on no list any more when the handshake ends is refused, also if the list was read again in the middle of it.
#[test]
fn peers_that_are_removed_during_their_handshake() {
    let head = format!(
        "connect = '{}'\n[[listen]]\naddress = '127.0.0.1:0'\n",
        echo_server()
    );
    let allowed = format!(
        "{head}{}{}",
        peer("the client", CLIENT),
        peer("another", STRANGER)
    );
    let configured = Configured::new(&allowed);
    let server = configured.start();
    let mut half = Client::new(&server);
    let (_, request) = start(CLIENT);
    half.send(&request[..1000]);
    let mut unproved = Client::new(&server);
    let mut session = unproved.handshake(CLIENT);
    let mut other = Client::new(&server);
    let mut others = other.handshake(STRANGER);

    configured.write(&format!("{head}{}", peer("another", STRANGER)));
    server.signal("HUP");
    server.says("reloaded", "the settings");
    half.send(&request[1000..]);
    half.refused(&server, "the peer's key is not allowed");
    unproved.send(&record(&mut session, b"hello"));
    unproved.refused(&server, "the peer's key is not allowed");
    // Nobody else is.
    other.send(&record(&mut others, b"hello"));
    let _: [u8; DATA_OVERHEAD + 5] = other.read();
}

/// Whoever asks as HTTP has it is answered, and told the end: curl takes a reset for a failure.
#[test]
fn counters_for_those_who_ask() {
    let configured = Configured::new(
        "connect = '127.0.0.1:1'\nmetrics = 'metrics'\n[[listen]]\naddress = '127.0.0.1:0'\n",
    );
    let _server = configured.start();
    // It makes the socket before it says where it listens.
    for pause in [0, 50, 0, 50] {
        let mut stream = UnixStream::connect(configured.path("metrics")).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        thread::sleep(Duration::from_millis(pause));
        let request = b"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n";
        stream.write_all(request).unwrap();
        thread::sleep(Duration::from_millis(pause));
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with("HTTP/1.0 200 OK\r\n") && answer.contains("_total 0\n"),
            "{answer}"
        );
    }
    // Nobody who says nothing keeps the others out.
    let silent = UnixStream::connect(configured.path("metrics")).unwrap();
    let mut stream = UnixStream::connect(configured.path("metrics")).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut answer = String::new();
    stream.write_all(b"?").unwrap();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("_total 0\n"));
    drop(silent);
}
