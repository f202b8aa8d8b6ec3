//! Ends and cuts, as the programs on both sides see them: only what has ended reads as an end, and then with all data.
//! Whatever else happens to a connection is a reset.

use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};

use operation::Killed;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use socket2::SockRef;

use super::*;

/// A destination that hands over what connects.
fn destination() -> (SocketAddr, Receiver<TcpStream>) {
    let (sender, receiver) = channel();
    let address = server(move |stream| {
        stream.set_read_timeout(Some(LONG)).unwrap();
        sender.send(stream).unwrap();
    });
    (address, receiver)
}

/// Passes one connection on, until it is told to cut it.
fn wire(to: SocketAddr) -> (SocketAddr, Sender<()>) {
    let (cut, is_cut) = channel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let ends = [listener.accept().unwrap().0, TcpStream::connect(to).unwrap()];
        for at in [0, 1] {
            let [mut from, mut to] = [at, 1 - at].map(|at| ends[at].try_clone().unwrap());
            thread::spawn(move || {
                let _ = io::copy(&mut from, &mut to);
                let _ = to.shutdown(Shutdown::Write);
            });
        }
        let _ = is_cut.recv();
        for end in ends {
            let _ = end.shutdown(Shutdown::Both);
        }
    });
    (address, cut)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Client,
    Destination,
}

/// What happens to `serve` or `connect`.
#[derive(Clone, Copy, Debug)]
enum Fate {
    GraceIsOver,
    StoppedTwice,
    Killed,
}

/// Both ends with a wire between them, and both programs beside them, which have spoken to each other. The first of them
/// may have ended its direction.
fn is_cut(what: &str, happens: impl FnOnce(&mut End, &mut End, Sender<()>), ended: Option<Side>) {
    let (address, arrived) = destination();
    let grace = ["--grace", if what.contains("Grace") { "1" } else { "600" }];
    let mut server = End::start("serve", SERVER, &[CLIENT], address, &grace);
    let (address, cut) = wire(server.address);
    let mut client = End::start("connect", CLIENT, &[SERVER], address, &grace);
    let mut user = client.connect();
    user.write_all(b"question").unwrap();
    let mut other = arrived.recv_timeout(LONG).unwrap();
    other.read_exact(&mut [0; 8]).unwrap();
    other.write_all(b"answer").unwrap();
    user.read_exact(&mut [0; 6]).unwrap();
    let (speaker, listener) = match ended {
        Some(Side::Client) => (&mut user, &mut other),
        _ => (&mut other, &mut user),
    };
    if ended.is_some() {
        speaker.write_all(b"that is all").unwrap();
        speaker.shutdown(Shutdown::Write).unwrap();
        let mut heard = Vec::new();
        listener.read_to_end(&mut heard).unwrap();
        assert_eq!(heard, b"that is all", "{what}");
    }
    happens(&mut server, &mut client, cut);
    for (side, stream) in [(Side::Client, &mut user), (Side::Destination, &mut other)] {
        // Who was told the end was told the truth.
        let is_listener = ended.is_some_and(|speaker| speaker != side);
        let mut bytes = Vec::new();
        let end = stream.read_to_end(&mut bytes).map_err(|error| error.kind());
        assert_eq!(bytes, b"", "{what}, {ended:?} has ended");
        let expected = if is_listener {
            Ok(0)
        } else {
            Err(io::ErrorKind::ConnectionReset)
        };
        assert_eq!(end, expected, "{side:?}: {what}, {ended:?} has ended");
    }
}

#[test]
fn no_cut_looks_like_an_end() {
    thread::scope(|scope| {
        for ended in [None, Some(Side::Client), Some(Side::Destination)] {
            scope.spawn(move || {
                is_cut("the wire is cut", |_, _, cut| cut.send(()).unwrap(), ended);
                for fate in [Fate::GraceIsOver, Fate::StoppedTwice, Fate::Killed] {
                    for role in ["serve", "connect"] {
                        let happens = |server: &mut End, client: &mut End, _| {
                            let end = if role == "serve" { server } else { client };
                            match fate {
                                Fate::GraceIsOver => end.signal("TERM"),
                                Fate::StoppedTwice => {
                                    end.signal("TERM");
                                    end.says("stopping", "1 connections are open");
                                    end.signal("INT");
                                }
                                Fate::Killed => end.child.kill().unwrap(),
                            }
                            end.child.wait().unwrap();
                        };
                        is_cut(&format!("{role}: {fate:?}"), happens, ended);
                    }
                }
            });
        }
    });
}

/// Reads slowly until an end has nothing more to do, stops that end, and reads what is left.
fn reads_slowly(mut stream: TcpStream, mut end: End) -> Vec<u8> {
    let (mut received, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    let is_done = |end: &End| {
        end.log
            .0
            .lock()
            .unwrap()
            .iter()
            .any(|line| line.contains("closed"))
    };
    while !is_done(&end) {
        let n = stream.read(&mut piece).unwrap();
        assert!(n > 0, "it was read to its end, and the connection is open");
        received.extend(&piece[..n]);
        thread::sleep(Duration::from_millis(2));
    }
    end.signal("TERM");
    assert!(end.child.wait().unwrap().success());
    let before = received.len();
    stream.read_to_end(&mut received).unwrap();
    assert!(received.len() > before, "the test is too slow to show anything");
    received
}

/// An end comes with all data, though the connection is closed, and the program gone, long before they are read.
#[test]
fn an_end_comes_with_all_data() {
    let data: Vec<u8> = chunks(16 << 20).flatten().collect();
    let (address, arrived) = destination();
    for speaker in [Side::Client, Side::Destination] {
        let (server, client) = ends(address, &[]);
        let user = client.connect();
        user.set_write_timeout(None).unwrap();
        let other = arrived.recv_timeout(LONG).unwrap();
        let (mut from, to, end, _other_end) = match speaker {
            Side::Client => (user, other, server, client),
            Side::Destination => (other, user, client, server),
        };
        to.shutdown(Shutdown::Write).unwrap();
        let received = thread::scope(|scope| {
            scope.spawn(|| {
                from.write_all(&data).unwrap();
                from.shutdown(Shutdown::Write).unwrap();
            });
            reads_slowly(to, end)
        });
        assert!(received == data, "from the {speaker:?}");
    }
}

/// A Unix socket has no reset: data pass through one only if that is asked for.
#[test]
fn unix_sockets_are_asked_for() {
    let folder = TempDir::new().unwrap();
    for role in ["connect", "serve"] {
        let path = folder.path().join(role);
        let unix = format!("unix:{}", path.display());
        let (connect, listen) = match role {
            "connect" => ("127.0.0.1:1", &*unix),
            _ => (&*unix, "127.0.0.1:0"),
        };
        let start = |options: &[&str]| {
            let keys = TempDir::new().unwrap();
            let mut command = command(role, &keys, SERVER, &[CLIENT], connect);
            command.args(["--listen", listen]).args(options);
            operation::fails(command)
        };
        let said = start(&[]);
        assert!(said.contains("a Unix socket has no reset"), "{said}");
        assert!(said.contains(&unix) && said.lines().count() == 1, "{said}");
        assert!(!path.exists());
        drop(End::start_at(
            role,
            SERVER,
            &[CLIENT],
            connect,
            listen,
            &["--allow-unix"],
        ));
    }
}

fn reset(stream: TcpStream) {
    SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    drop(stream);
}

/// A pipe whose standard input and output are one TCP socket, as inetd starts it.
struct Inetd {
    pipe: Killed,
    inside: Option<TcpStream>,
    user: TcpStream,
    other: TcpStream,
    server: End,
}

impl Inetd {
    fn start() -> Self {
        let mut inetd = Self::start_to(None);
        inetd.user.write_all(b"question").unwrap();
        inetd.other.read_exact(&mut [0; 8]).unwrap();
        inetd.other.write_all(b"answer").unwrap();
        inetd.user.read_exact(&mut [0; 6]).unwrap();
        inetd
    }

    /// Its standard output may be something else.
    fn start_to(stdout: Option<Stdio>) -> Self {
        let (address, arrived) = destination();
        let server = End::start("serve", SERVER, &[CLIENT], address, &[]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let user = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        user.set_read_timeout(Some(LONG)).unwrap();
        let inside = listener.accept().unwrap().0;
        let half = || OwnedFd::from(inside.try_clone().unwrap());
        let keys = TempDir::new().unwrap();
        let mut pipe = command("pipe", &keys, CLIENT, &[SERVER], &server.address.to_string());
        pipe.stdin(half())
            .stdout(stdout.unwrap_or_else(|| half().into()))
            .stderr(Stdio::piped());
        let pipe = Killed(pipe.spawn().unwrap());
        Self {
            pipe,
            inside: Some(inside),
            user,
            other: arrived.recv_timeout(LONG).unwrap(),
            server,
        }
    }
}

/// The system reports a reset only once: here not to the read of standard input. The other direction may have ended, if it
/// goes elsewhere.
#[test]
fn a_reset_that_another_saw_is_no_end() {
    another_sees_a_reset(Inetd::start());
    let mut inetd = Inetd::start_to(Some(Stdio::piped()));
    inetd.other.shutdown(Shutdown::Write).unwrap();
    let mut stdout = inetd.pipe.0.stdout.take().unwrap();
    assert_eq!(stdout.read(&mut [0]).unwrap(), 0);
    another_sees_a_reset(inetd);
}

fn another_sees_a_reset(mut inetd: Inetd) {
    let pid = Pid::from_child(&inetd.pipe.0);
    kill_process(pid, Signal::STOP).unwrap();
    waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
    reset(inetd.user);
    // On a busy machine it does not come at once.
    let inside = inetd.inside.unwrap();
    let seen = until(|| inside.take_error().unwrap());
    assert_eq!(seen.kind(), io::ErrorKind::ConnectionReset);
    kill_process(pid, Signal::CONT).unwrap();
    is_reset(&mut inetd.other);
    assert_eq!(inetd.pipe.0.wait().unwrap().code(), Some(3));
}

/// Whichever comes first.
#[test]
fn ends_of_a_socket_are_ends() {
    for order in [[0, 1], [1, 0]] {
        let mut inetd = Inetd::start();
        inetd.inside = None;
        let streams = [&inetd.user, &inetd.other];
        for from in order {
            let [mut from, mut to] = [from, 1 - from].map(|at| streams[at]);
            from.write_all(b"that is all").unwrap();
            from.shutdown(Shutdown::Write).unwrap();
            let mut heard = Vec::new();
            to.read_to_end(&mut heard).unwrap();
            assert_eq!(heard, b"that is all");
        }
        assert!(inetd.pipe.0.wait().unwrap().success());
    }
}

#[test]
fn a_pipe_that_was_cut_resets_its_socket() {
    for pipe_dies in [true, false] {
        let mut inetd = Inetd::start();
        inetd.inside = None;
        if pipe_dies {
            inetd.pipe.0.kill().unwrap();
        } else {
            inetd.server.child.kill().unwrap();
        }
        is_reset(&mut inetd.user);
    }
}

/// Its output, if it is no TCP socket, cannot be reset: the exit status says that it was cut.
#[test]
fn a_pipe_that_was_cut_fails() {
    for fate in ["TERM", "KILL", "wire", "reset"] {
        let (address, arrived) = destination();
        let mut server = End::start("serve", SERVER, &[CLIENT], address, &["--grace", "0"]);
        let (address, cut) = wire(server.address);
        let keys = TempDir::new().unwrap();
        let mut pipe = command("pipe", &keys, CLIENT, &[SERVER], &address.to_string());
        pipe.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = pipe.spawn().unwrap();
        let mut other = arrived.recv_timeout(LONG).unwrap();
        other.write_all(b"answer").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
        match fate {
            "wire" => cut.send(()).unwrap(),
            "reset" => {
                reset(other);
            }
            signal => {
                server.signal(signal);
                server.child.wait().unwrap();
            }
        }
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{fate}: {said}");
        assert!(
            said.ends_with("the tunnel was cut\n") && output.stdout.is_empty(),
            "{fate}: {said}"
        );
    }
}

/// Its reader sees the end of what the peer sends while the other direction goes on.
#[test]
fn each_direction_of_a_pipe_ends_by_itself() {
    let (address, arrived) = destination();
    let server = End::start("serve", SERVER, &[CLIENT], address, &[]);
    let keys = TempDir::new().unwrap();
    let mut pipe = command("pipe", &keys, CLIENT, &[SERVER], &server.address.to_string());
    pipe.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipe.spawn().unwrap();
    let mut other = arrived.recv_timeout(LONG).unwrap();
    other.write_all(b"that is all").unwrap();
    other.shutdown(Shutdown::Write).unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (sender, heard) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.read_to_end(&mut bytes).unwrap();
        sender.send(bytes).unwrap();
    });
    let heard = heard.recv_timeout(LONG);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"is it?").unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(heard.as_deref(), Ok(&b"that is all"[..]));
    let mut rest = Vec::new();
    other.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"is it?");
}
