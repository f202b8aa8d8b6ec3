//! Runs both ends of a tunnel as their users do, and ends of others that misbehave.

#[path = "tunnel/cuts.rs"]
mod cuts;
mod identity;
#[path = "tunnel/load.rs"]
mod load;
#[path = "tunnel/memory.rs"]
mod memory;
#[path = "tunnel/operation.rs"]
mod operation;
#[cfg(target_os = "linux")]
mod process;
#[path = "tunnel/sockets.rs"]
mod sockets;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use identity::{private_line, public_line};
use tempfile::TempDir;
use veriplex::hybrid::PrivateKey;
use veriplex::tunnel::{DATA_OVERHEAD, Frame, Initiator, RESPONSE_LEN, Session, room};
use veriplex::{Protocol, label, os_rng};

/// Nothing here takes as long, unless it hangs.
const LONG: Duration = Duration::from_mins(1);

/// Tries until there is something.
#[track_caller]
fn until<T>(mut found: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < LONG);
        thread::sleep(Duration::from_millis(1));
    }
}

/// One end of a tunnel, or several; killed on drop.
struct End {
    child: Child,
    address: SocketAddr,
    log: Arc<(Mutex<Vec<String>>, Condvar)>,
}

impl End {
    fn start(role: &str, key: u8, peers: &[u8], connect: SocketAddr, options: &[&str]) -> Self {
        Self::start_at(role, key, peers, &connect.to_string(), "127.0.0.1:0", options)
    }

    fn start_at(role: &str, key: u8, peers: &[u8], connect: &str, listen: &str, options: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = command(role, &folder, key, peers, connect);
        command.args(["--listen", listen]).args(options);
        Self::spawn(command)
    }

    /// Runs a command that says where it listens.
    fn spawn(mut command: Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("veriplex: listening on ");
        let address = address.unwrap_or_else(|| panic!("{line}"));
        let address = address.parse().unwrap_or_else(|_| SocketAddr::from(([0; 4], 0)));
        let log = Arc::new((Mutex::new(Vec::new()), Condvar::new()));
        let writer = log.clone();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                writer.0.lock().unwrap().push(line);
                writer.1.notify_all();
            }
        });
        Self { child, address, log }
    }

    fn signal(&self, name: &str) {
        // That of the shell: not every system has the program.
        let kill = format!("kill -s {name} {}", self.child.id());
        let status = Command::new("sh").args(["-c", &kill]).status().unwrap();
        assert!(status.success());
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Waits until a line about `about` has this text in it.
    #[track_caller]
    fn says(&self, about: &(impl ToString + ?Sized), text: &str) {
        self.says_times(1, about, text);
    }

    /// Waits until this many lines do.
    #[track_caller]
    fn says_times(&self, times: usize, about: &(impl ToString + ?Sized), text: &str) {
        let about = about.to_string();
        let count = |lines: &[String]| {
            let said = lines
                .iter()
                .filter(|line| line.contains(&about) && line.contains(text));
            said.count()
        };
        let lines = self.log.0.lock().unwrap();
        let waited = self
            .log
            .1
            .wait_timeout_while(lines, LONG, |lines| count(lines) < times);
        let (lines, _) = waited.unwrap();
        assert!(count(&lines) >= times, "{about}: {text}: {lines:#?}");
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

/// The program with its key file, and its peers: a client's server by key file, a server's clients by fingerprint.
fn command(role: &str, folder: &TempDir, key: u8, peers: &[u8], connect: &str) -> Command {
    let key_file = folder.path().join("key");
    std::fs::write(&key_file, private_line(key)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex"));
    command.args(["tunnel", role, "--key-file"]).arg(key_file);
    command.args(["--connect", connect]);
    for peer in peers {
        if role == "serve" {
            command.args(["--peer", &fingerprint(*peer)]);
        } else {
            let path = folder.path().join("server.pub");
            std::fs::write(&path, public_line(*peer)).unwrap();
            command.arg("--peer-file").arg(path);
        }
    }
    // The child has read them when it says that it listens.
    command
}

fn private(number: u8) -> PrivateKey {
    identity::hybrid_key(number, "tunnel")
}

fn fingerprint(number: u8) -> String {
    private(number).public_key().fingerprint().to_string()
}

/// A server that runs `each` for every connection.
fn server(each: impl Fn(TcpStream) + Send + Clone + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, each) = (stream.unwrap(), each.clone());
            thread::spawn(move || each(stream));
        }
    });
    address
}

/// Gives back what it is sent, and ends when it was told the end.
fn echo_server() -> SocketAddr {
    server(|mut stream| {
        stream.set_nodelay(true).unwrap();
        let mut buffer = vec![0; 1 << 16];
        while let Ok(n @ 1..) = stream.read(&mut buffer) {
            if stream.write_all(&buffer[..n]).is_err() {
                return;
            }
        }
    })
}

/// The keys of the server and of its client.
const SERVER: u8 = 1;
const CLIENT: u8 = 2;
const STRANGER: u8 = 3;

fn ends(destination: SocketAddr, options: &[&str]) -> (End, End) {
    let server = End::start("serve", SERVER, &[CLIENT], destination, options);
    let client = End::start("connect", CLIENT, &[SERVER], server.address, &[]);
    (server, client)
}

/// Sends, says that this was all, and receives until the other end says so.
fn exchange(mut stream: TcpStream, message: &[u8]) -> io::Result<Vec<u8>> {
    stream.set_read_timeout(Some(LONG))?;
    stream.write_all(message)?;
    stream.shutdown(Shutdown::Write)?;
    let mut received = Vec::new();
    stream.read_to_end(&mut received)?;
    Ok(received)
}

#[track_caller]
fn works(client: &End) {
    assert_eq!(
        exchange(client.connect(), b"still there?").unwrap(),
        b"still there?"
    );
}

#[test]
fn each_direction_ends_by_itself() {
    // Speaks only when it has heard all.
    let destination = server(|mut stream| {
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).unwrap();
        heard.reverse();
        stream.write_all(&heard).unwrap();
    });
    let (server, client) = ends(destination, &[]);
    assert_eq!(exchange(client.connect(), b"stressed").unwrap(), b"desserts");
    assert_eq!(exchange(client.connect(), b"").unwrap(), b"");
    server.says(&fingerprint(CLIENT), "open");
    server.says(&fingerprint(CLIENT), "closed");
    client.says(&fingerprint(SERVER), "closed");

    // The other way: the destination ends first, and still listens.
    let (sender, receiver) = std::sync::mpsc::channel();
    let destination = self::server(move |mut stream| {
        stream.write_all(b"that is all").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).unwrap();
        sender.send(heard).unwrap();
    });
    let (_server, client) = ends(destination, &[]);
    let mut stream = client.connect();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"that is all");
    stream.write_all(b"is it?").unwrap();
    drop(stream);
    assert_eq!(receiver.recv_timeout(LONG).unwrap(), b"is it?");
}

#[test]
fn data_comes_without_waiting_for_more() {
    let (_server, client) = ends(echo_server(), &[]);
    let mut stream = client.connect();
    for i in 0..100 {
        let message = [i; 3];
        stream.write_all(&message).unwrap();
        let mut answer = [0; 3];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(answer, message);
    }
}

/// Connections one after the other from each of some threads.
fn short_connections(to: SocketAddr, count: usize, threads: usize) {
    thread::scope(|scope| {
        for number in 0..threads {
            scope.spawn(move || {
                for i in 0..count / threads {
                    let message = format!("connection {i} of {number}");
                    let answer = exchange(TcpStream::connect(to).unwrap(), message.as_bytes()).unwrap();
                    assert_eq!(answer, message.as_bytes());
                }
            });
        }
    });
}

#[test]
fn a_thousand_short_connections() {
    let (_server, client) = ends(echo_server(), &[]);
    short_connections(client.address, 1000, 8);
}

/// Bytes that a shift, a gap or a repetition changes.
fn chunks(len: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut protocol = Protocol::new(label!("veriplex.test"));
    let pattern = protocol.derive_vec(label!("noise"), 1 << 20);
    (0..len >> 20).map(move |number| {
        let mut chunk = pattern.clone();
        chunk[..8].copy_from_slice(&number.to_le_bytes());
        chunk
    })
}

fn long_connection(client: &End, len: u64) {
    let mut writer = client.connect();
    let mut reader = writer.try_clone().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            for chunk in chunks(len) {
                writer.write_all(&chunk).unwrap();
            }
            writer.shutdown(Shutdown::Write).unwrap();
        });
        let mut received = vec![0; 1 << 20];
        for (number, chunk) in chunks(len).enumerate() {
            reader.read_exact(&mut received).unwrap();
            assert!(received == chunk, "chunk {number}");
        }
        assert_eq!(reader.read_to_end(&mut received).unwrap(), 0);
    });
}

#[test]
fn one_connection_of_64_mebibytes() {
    let (_server, client) = ends(echo_server(), &[]);
    long_connection(&client, 64 << 20);
}

#[test]
#[ignore = "takes long: run by hand, in release mode"]
fn one_connection_of_a_gibibyte() {
    let (_server, client) = ends(echo_server(), &[]);
    long_connection(&client, 1 << 30);
}

/// No answer, and no end that looks like one.
#[track_caller]
fn is_reset(stream: &mut TcpStream) {
    let mut bytes = Vec::new();
    let error = stream.read_to_end(&mut bytes).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
}

#[test]
fn peers_are_those_on_the_list() {
    let server = End::start("serve", SERVER, &[CLIENT, 7], echo_server(), &[]);
    for key in [CLIENT, 7] {
        works(&End::start("connect", key, &[SERVER], server.address, &[]));
    }
    let stranger = End::start("connect", STRANGER, &[SERVER], server.address, &[]);
    is_reset(&mut stranger.connect());
    let claimed = format!("claimed={}", fingerprint(STRANGER));
    server.says(
        "127.0.0.1",
        &format!("the peer's key is not allowed reason=refused {claimed}"),
    );
    let hint = "closed during the handshake; does the server have this key, and allow ours?";
    stranger.says("127.0.0.1", hint);

    // Not the server that was meant: it cannot even read the request.
    let suspicious = End::start("connect", CLIENT, &[STRANGER], server.address, &[]);
    is_reset(&mut suspicious.connect());
    server.says("127.0.0.1", "verification failed");
    suspicious.says("127.0.0.1", hint);
    let folder = TempDir::new().unwrap();
    let mut pipe = command("pipe", &folder, CLIENT, &[STRANGER], &server.address.to_string());
    let output = pipe.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(3) && said.contains(hint), "{said}");
}

/// The list is read again on SIGHUP; open connections stay. A list that cannot be read changes nothing.
#[test]
fn the_list_is_read_again() {
    let folder = TempDir::new().unwrap();
    let list = folder.path().join("list");
    let write = |text: &str| std::fs::write(&list, text).unwrap();
    write(&format!("{} the client\n", fingerprint(CLIENT)));
    let server = End::start(
        "serve",
        SERVER,
        &[],
        echo_server(),
        &["--peer-file", list.to_str().unwrap()],
    );
    let client = End::start("connect", CLIENT, &[SERVER], server.address, &[]);
    let other = End::start("connect", STRANGER, &[SERVER], server.address, &[]);
    let mut open = client.connect();
    let echo = |stream: &mut TcpStream| {
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
    };
    echo(&mut open);
    server.says("the client", "open");
    is_reset(&mut other.connect());

    write(&format!("{} the stranger\n", fingerprint(STRANGER)));
    server.signal("HUP");
    server.says("reloaded", "the settings");
    works(&other);
    is_reset(&mut client.connect());
    echo(&mut open);

    write("nonsense\n");
    server.signal("HUP");
    server.says("reload failed", "old settings remain");
    works(&other);
    echo(&mut open);
}

/// A client that can be made to misbehave.
struct Client(TcpStream);

impl Client {
    fn new(server: &End) -> Self {
        Self(server.connect())
    }

    fn send(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.write_all(bytes).unwrap();
        self
    }

    fn read<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// The handshake, without a first record.
    fn handshake(&mut self, key: u8) -> Session {
        let (initiator, request) = start(key);
        self.send(&request);
        let response: [u8; RESPONSE_LEN] = self.read();
        initiator.receive(&response).unwrap()
    }

    #[track_caller]
    fn refused(mut self, server: &End, reason: &str) {
        server.says(&self.0.local_addr().unwrap(), reason);
        let mut bytes = Vec::new();
        // Closed or reset: the client learns no more.
        let _ = self.0.read_to_end(&mut bytes);
        assert_eq!(bytes, b"");
    }
}

fn start(key: u8) -> (Initiator, Vec<u8>) {
    let domain = label!("veriplex.tunnel.v2");
    let (initiator, request) =
        Initiator::start(domain, &private(key), private(SERVER).public_key(), &mut os_rng()).unwrap();
    (initiator, request.to_vec())
}

fn record(session: &mut Session, plaintext: &[u8]) -> Vec<u8> {
    let mut record = vec![0; plaintext.len() + DATA_OVERHEAD];
    room(&mut record).unwrap().copy_from_slice(plaintext);
    session.sender.seal(&mut record).unwrap();
    record
}

#[test]
fn hostile_handshakes() {
    let (server, client) = ends(echo_server(), &["--timeout", "4"]);
    let new = || Client::new(&server);
    let (_, request) = start(CLIENT);

    // Nothing, and parts of a handshake, are cut off after four seconds.
    let silent = new();
    let mut half = new();
    half.send(&request[..100]);
    let mut no_proof = new();
    let _: [u8; RESPONSE_LEN] = no_proof.send(&request).read();
    let mut half_proof = new();
    let mut session = half_proof.handshake(CLIENT);
    half_proof.send(&record(&mut session, b"hello")[..10]);

    let mut garbage = new();
    garbage.send(&[0xff; 3552]);
    garbage.refused(&server, "verification failed");
    let mut identity = new();
    identity.send(&[0; 3552]);
    identity.refused(&server, "verification failed");
    let mut cut = new();
    cut.send(&request[..3551]).0.shutdown(Shutdown::Write).unwrap();
    cut.refused(&server, "closed during the handshake");
    let mut unknown = new();
    unknown.send(&start(STRANGER).1);
    unknown.refused(&server, "not allowed");

    // A request that somebody else has recorded: its first record is missing, or another's.
    let mut replayed = new();
    let _: [u8; RESPONSE_LEN] = replayed.send(&request).read();
    replayed.send(&vec![0x55; 100_000]);
    let address = replayed.0.local_addr().unwrap();
    server.says(&address, "verification failed");

    // Who asked is told of those that had said so.
    for (late, is_known) in [(&no_proof, true), (&silent, false)] {
        let address = late.0.local_addr().unwrap();
        server.says(&address, "handshake timed out");
        let lines = server.log.0.lock().unwrap();
        let line = lines.iter().find(|line| line.contains(&address.to_string()));
        assert_eq!(
            line.unwrap().contains(&fingerprint(CLIENT)),
            is_known,
            "{lines:?}"
        );
    }
    for late in [silent, half, no_proof, half_proof] {
        late.refused(&server, "handshake timed out");
    }
    works(&client);
}

#[test]
fn a_slow_client_is_served() {
    let (server, others) = ends(echo_server(), &["--max-pending", "2"]);
    let mut client = Client::new(&server);
    let (initiator, request) = start(CLIENT);
    let slowly = |client: &mut Client, bytes: &[u8]| {
        for piece in bytes.chunks(100) {
            client.send(piece);
            thread::sleep(Duration::from_millis(5));
        }
    };
    slowly(&mut client, &request);
    let response: [u8; RESPONSE_LEN] = client.read();
    let mut session = initiator.receive(&response).unwrap();
    // Those that come and are done with their handshake do not push it out.
    for _ in 0..5 {
        works(&others);
    }
    slowly(&mut client, &record(&mut session, b"hello"));
    let mut echo: [u8; DATA_OVERHEAD + 5] = client.read();
    let frame = session.receiver.open(&mut echo, &mut session.keys);
    assert_eq!(frame, Ok(Frame::Data(b"hello")));
}

/// What the destination sees of a tunnel that misbehaves: a reset, and no end.
#[test]
fn hostile_streams() {
    let (sender, seen) = std::sync::mpsc::channel();
    let destination = server(move |mut stream| {
        let mut bytes = Vec::new();
        let end = stream.read_to_end(&mut bytes).map_err(|error| error.kind());
        sender.send((bytes, end.map(drop))).unwrap();
    });
    let (server, client) = ends(destination, &[]);
    let reset = |data: &[u8]| (data.to_vec(), Err(io::ErrorKind::ConnectionReset));

    // A cut between two records, and in one.
    for cut in [0, 1, 2, 3, 10] {
        let mut client = Client::new(&server);
        let mut session = client.handshake(CLIENT);
        client.send(&record(&mut session, b"data"));
        let next = record(&mut session, b"more data");
        client.send(&next[..cut]);
        client.0.shutdown(Shutdown::Write).unwrap();
        client.refused(&server, "the tunnel was cut");
        assert_eq!(seen.recv_timeout(LONG).unwrap(), reset(b"data"), "{cut}");
    }
    // Damage; also of a length, after which the rest is missing or does not verify.
    for at in [0, 1, 2, 10, 30] {
        let mut client = Client::new(&server);
        let mut session = client.handshake(CLIENT);
        client.send(&record(&mut session, b"data"));
        let mut next = record(&mut session, b"more data than there was");
        next[at] ^= 0x80;
        client.send(&next);
        let address = client.0.local_addr().unwrap();
        // It may have been reset already.
        let _ = client.0.shutdown(Shutdown::Write);
        server.says(
            &address,
            if matches!(at, 1 | 2) {
                "the tunnel was cut"
            } else {
                "verification failed"
            },
        );
        assert_eq!(seen.recv_timeout(LONG).unwrap(), reset(b"data"), "{at}");
    }
    // More after the end, in one piece with it, is an error; later it is not passed on.
    let mut after = Client::new(&server);
    let mut session = after.handshake(CLIENT);
    let data = record(&mut session, b"data");
    let end = session.sender.finish().unwrap();
    after.send(&[&data[..], &end].concat());
    assert_eq!(seen.recv_timeout(LONG).unwrap(), (b"data".to_vec(), Ok(())));
    let _ = after.0.write_all(&[0; 100]);

    assert_eq!(exchange(client.connect(), b"fine").unwrap(), b"");
    assert_eq!(seen.recv_timeout(LONG).unwrap(), (b"fine".to_vec(), Ok(())));
}

/// One end dies: neither side takes that for the end of what the other had to say.
#[test]
fn an_end_that_dies_is_a_reset() {
    let (sender, seen) = std::sync::mpsc::channel();
    let destination = server(move |mut stream| {
        let _ = stream.write_all(b"x");
        sender
            .send(stream.read_to_end(&mut Vec::new()).map_err(|error| error.kind()))
            .unwrap();
    });
    for server_dies in [false, true] {
        let (server, client) = ends(destination, &[]);
        let mut stream = client.connect();
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        if server_dies {
            drop(server);
            is_reset(&mut stream);
            drop(stream);
            let _ = seen.recv_timeout(LONG).unwrap();
        } else {
            drop(client);
            assert_eq!(
                seen.recv_timeout(LONG).unwrap(),
                Err(io::ErrorKind::ConnectionReset)
            );
        }
    }
}

/// A connection from another address of this machine.
fn connect_from(last: u8, to: SocketAddr) -> TcpStream {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket
        .bind(&SocketAddr::from(([127, 0, 0, last], 0)).into())
        .unwrap();
    socket.connect(&to.into()).unwrap();
    socket.into()
}

/// Thousands of connections that say nothing, from one address, faster than a handshake takes: all others are served.
#[cfg(target_os = "linux")]
#[test]
fn a_flood_keeps_out_its_own() {
    let (server, client) = ends(echo_server(), &["--max-pending", "64", "--timeout", "60"]);
    let address = server.address;
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = stop.clone();
    let flood = thread::spawn(move || {
        let mut open = std::collections::VecDeque::new();
        let mut count = 0;
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) || count < 2000 {
            open.push_back(connect_from(2, address));
            count += 1;
            // As many as the system's own queue takes: what it drops is not the server's choice.
            thread::sleep(Duration::from_millis(1));
            if open.len() > 300 {
                open.pop_front();
            }
        }
        count
    });
    // From other addresses: slow clients, and the usual one.
    let slow: Vec<_> = (0..40)
        .map(|i| {
            thread::spawn(move || {
                let mut client = Client(connect_from(10 + i, address));
                client.0.set_read_timeout(Some(LONG)).unwrap();
                let (initiator, request) = start(CLIENT);
                for piece in request.chunks(400) {
                    client.0.write_all(piece)?;
                    thread::sleep(Duration::from_millis(50));
                }
                let mut response = [0; RESPONSE_LEN];
                client.0.read_exact(&mut response)?;
                let mut session = initiator.receive(&response).unwrap();
                client.0.write_all(&record(&mut session, b"hello"))?;
                client.0.read_exact(&mut [0; DATA_OVERHEAD + 5])
            })
        })
        .collect();
    for _ in 0..10 {
        works(&client);
    }
    let served = slow
        .into_iter()
        .filter_map(|slow| slow.join().unwrap().ok())
        .count();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let count = flood.join().unwrap();
    assert!(count >= 2000);
    assert!(served >= 36, "{served} of 40, beside {count} silent ones");
}

/// Nobody reads standard error, and thousands of connections fail: the others go on.
#[test]
fn nobody_reads_standard_error() {
    let folder = TempDir::new().unwrap();
    let mut command = command("serve", &folder, SERVER, &[CLIENT], &echo_server().to_string());
    let mut child = command
        .args(["--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        stderr.read_exact(&mut byte).unwrap();
        line.extend(byte);
    }
    let line = String::from_utf8(line).unwrap();
    let address = line.trim().rsplit(' ').next().unwrap().parse().unwrap();
    for _ in 0..3000 {
        drop(TcpStream::connect(address).unwrap());
    }
    let client = End::start("connect", CLIENT, &[SERVER], address, &[]);
    for _ in 0..10 {
        works(&client);
    }
    drop(client);
    child.kill().unwrap();
    child.wait().unwrap();
    // What was written meanwhile is bounded.
    let mut text = String::new();
    stderr.read_to_string(&mut text).unwrap();
    assert!(text.len() < 200_000, "{} bytes", text.len());
}

/// Strangers cause as many lines as they like: who of the peers connects is in the log all the same.
#[cfg(target_os = "linux")]
/// Ends other threads when it is dropped.
struct Stopping<'a>(&'a std::sync::atomic::AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

#[test]
fn strangers_do_not_hide_peers_from_the_log() {
    let (server, client) = ends(echo_server(), &[]);
    let stop = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        // Also when the test fails, which would wait for them.
        let stopping = Stopping(&stop);
        for last in 2..6 {
            let (stop, address) = (&stop, server.address);
            scope.spawn(move || {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    drop(connect_from(last, address));
                }
            });
        }
        server.says_times(100, "127.0.0.", "closed during the handshake");
        for _ in 0..20 {
            works(&client);
        }
        drop(stopping);
    });
    server.says("lines about unauthenticated clients", "dropped");
    for state in ["open", "closed"] {
        server.says_times(20, &fingerprint(CLIENT), state);
    }
}

#[test]
fn a_peer_has_its_share_only() {
    let server = End::start(
        "serve",
        SERVER,
        &[CLIENT, 7],
        echo_server(),
        &["--max-per-peer", "2"],
    );
    let client = End::start("connect", CLIENT, &[SERVER], server.address, &[]);
    let other = End::start("connect", 7, &[SERVER], server.address, &[]);
    let open: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = client.connect();
            stream.write_all(b"x").unwrap();
            stream.read_exact(&mut [0]).unwrap();
            stream
        })
        .collect();
    is_reset(&mut client.connect());
    server.says(&fingerprint(CLIENT), "too many connections from this peer");
    works(&other);
    drop(open);
    until(|| exchange(client.connect(), b"z").ok());
}

/// Unix sockets on both ends, the counters, and standard input and output.
#[test]
fn unix_sockets_and_pipes() {
    use std::os::unix::net::UnixStream;
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (at, metrics) = (format!("unix:{}", path("tunnel")), path("metrics"));
    let options = ["--metrics", &metrics];
    let server = End::start_at(
        "serve",
        SERVER,
        &[CLIENT],
        &echo_server().to_string(),
        &at,
        &options,
    );
    let local = format!("unix:{}", path("local"));
    let _client = End::start_at("connect", CLIENT, &[SERVER], &at, &local, &["--allow-unix"]);
    let mut stream = UnixStream::connect(path("local")).unwrap();
    stream.write_all(b"through files").unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, "through files");
    server.says("unix", "closed");

    let keys = TempDir::new().unwrap();
    let mut pipe = command("pipe", &keys, CLIENT, &[SERVER], &at);
    let mut child = pipe.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(&vec![0x5a; 100_000])
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout == vec![0x5a; 100_000]);

    // A stranger's pipe fails.
    let keys = TempDir::new().unwrap();
    let mut pipe = command("pipe", &keys, STRANGER, &[SERVER], &at);
    let output = pipe.stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());

    server.says("unix", "not allowed");
    let mut answer = String::new();
    UnixStream::connect(&metrics)
        .unwrap()
        .read_to_string(&mut answer)
        .unwrap();
    for line in [
        "veriplex_tunnel_connections_accepted_total 3\n",
        "veriplex_tunnel_connections_opened_total 2\n",
        "veriplex_tunnel_connections_pending 0\n",
        "veriplex_tunnel_received_bytes_total 100013\n",
        "veriplex_tunnel_failed_total{reason=\"refused\"} 1\n",
        "veriplex_tunnel_failed_total{reason=\"verification\"} 0\n",
    ] {
        assert!(answer.contains(line), "{line}{answer}");
    }
}

/// After SIGTERM nothing new is taken; what is open goes on to its end.
#[test]
fn it_stops_gracefully() {
    let (mut server, client) = ends(echo_server(), &[]);
    let mut open = client.connect();
    let mut echo = || {
        open.write_all(b"x").unwrap();
        open.read_exact(&mut [0]).unwrap();
    };
    echo();
    server.signal("TERM");
    server.says("stopping", "1 connections are open");
    until(|| TcpStream::connect(server.address).err());
    echo();
    open.shutdown(Shutdown::Write).unwrap();
    assert_eq!(open.read_to_end(&mut Vec::new()).unwrap(), 0);
    assert!(server.child.wait().unwrap().success());
}

/// What is still open after that is cut, and the log says so.
#[test]
fn cuts_at_the_end_are_logged() {
    let (mut server, client) = ends(echo_server(), &["--grace", "0"]);
    let mut open = client.connect();
    open.write_all(b"x").unwrap();
    open.read_exact(&mut [0]).unwrap();
    server.signal("TERM");
    assert!(server.child.wait().unwrap().success());
    server.says("1 connections", "cut");
}

#[test]
fn open_connections_are_bounded() {
    let (server, client) = ends(echo_server(), &["--max-connections", "2"]);
    let mut open: Vec<_> = (0..2).map(|_| client.connect()).collect();
    for stream in &mut open {
        stream.write_all(b"x").unwrap();
        stream.read_exact(&mut [0]).unwrap();
    }
    is_reset(&mut client.connect());
    server.says(&fingerprint(CLIENT), "too many connections");
    for mut stream in open {
        stream.write_all(b"y").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read_to_end(&mut Vec::new()).unwrap(), 0);
    }
    server.says(&fingerprint(CLIENT), "closed");
    // The place is given back when both ends have noticed.
    until(|| exchange(client.connect(), b"z").ok());
}

#[test]
fn a_destination_that_is_not_there() {
    // Not a port that another test may be given.
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 1));
    let (server, client) = ends(nowhere, &[]);
    is_reset(&mut client.connect());
    server.says(&nowhere, "refused");

    let client = End::start("connect", CLIENT, &[SERVER], nowhere, &[]);
    is_reset(&mut client.connect());
    client.says(&nowhere, "refused");
}

/// A destination that neither takes connections nor refuses them, because its queue is full.
#[cfg(target_os = "linux")]
#[test]
fn a_destination_that_does_not_answer() {
    let full = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    full.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    full.listen(0).unwrap();
    let address = full.local_addr().unwrap().as_socket().unwrap();
    let mut queue = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(500)) {
        queue.push(stream);
    }
    let (server, client) = ends(address, &["--timeout", "2"]);
    is_reset(&mut client.connect());
    server.says(&address, "timed out");
}

/// A server that takes a connection and says nothing more.
#[test]
fn a_server_that_does_not_answer() {
    let silent = server(|mut stream| drop(stream.read_to_end(&mut Vec::new())));
    let client = End::start("connect", CLIENT, &[SERVER], silent, &["--timeout", "1"]);
    is_reset(&mut client.connect());
    client.says("127.0.0.1", "handshake timed out");
}

/// How fast a GiB goes one way, in GB/s.
fn one_way(to: SocketAddr) -> f64 {
    let start = Instant::now();
    let mut stream = TcpStream::connect(to).unwrap();
    for chunk in chunks(1 << 30) {
        stream.write_all(&chunk).unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(stream.read_to_end(&mut Vec::new()).unwrap(), 0);
    1.073_741_824 / start.elapsed().as_secs_f64()
}

/// The figures of `docs/performance.md`.
#[test]
#[ignore = "measures: run by hand, in release mode, with --nocapture"]
fn figures() {
    let echo = echo_server();
    let short = |to: SocketAddr, threads| {
        let start = Instant::now();
        short_connections(to, 1000, threads);
        1000.0 / start.elapsed().as_secs_f64()
    };
    let (_server, client) = ends(echo, &["--max-connections", "1000"]);
    for threads in [1, 8] {
        let (direct, tunnel) = (short(echo, threads), short(client.address, threads));
        println!("connections/s, {threads} at a time: direct {direct:.0}, tunnel {tunnel:.0}");
    }

    let sink = server(|mut stream| {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(1..) = stream.read(&mut buffer) {}
    });
    let (_sink_server, sink_client) = ends(sink, &[]);
    for _ in 0..3 {
        let (direct, tunnel) = (one_way(sink), one_way(sink_client.address));
        println!("GB/s, one way: direct {direct:.2}, tunnel {tunnel:.2}");
    }
}
