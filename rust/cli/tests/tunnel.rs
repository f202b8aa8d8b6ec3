//! Runs both ends of a tunnel as their users do, and ends of others that misbehave.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use veriplex::aestream::{OVERHEAD, Opener, Sealer};
use veriplex::handshake::{Initiator, RESPONSE_LEN, Session};
use veriplex::keys::PrivateKey;
use veriplex::{Protocol, label, os_rng};

/// Nothing here takes as long, unless it hangs.
const LONG: Duration = Duration::from_secs(60);

/// One end of a tunnel, or several; killed on drop.
struct End {
    child: Child,
    address: SocketAddr,
    log: Arc<(Mutex<Vec<String>>, Condvar)>,
}

impl End {
    fn start(role: &str, key: u8, peers: &[u8], connect: SocketAddr, options: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let key_file = folder.path().join("key");
        std::fs::write(&key_file, private(key).to_pem()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_veriplex"));
        command.args(["tunnel", role, "--listen", "127.0.0.1:0", "--key-file"]);
        command.arg(&key_file).args(["--connect", &connect.to_string()]);
        for peer in peers {
            command.args(["--peer", &public(*peer)]);
        }
        let mut child = command.args(options).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("veriplex: listening on ");
        let address = address.unwrap_or_else(|| panic!("{line}")).parse().unwrap();
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
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn private(number: u8) -> PrivateKey {
    PrivateKey::from_uniform_bytes([number; 64]).unwrap()
}

fn public(number: u8) -> String {
    private(number).public_key().to_hex()
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
    server.says(&public(CLIENT), "open");
    server.says(&public(CLIENT), "closed");
    client.says(&public(SERVER), "closed");

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
        assert_eq!(reader.read(&mut received).unwrap(), 0);
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
        works(&End::start("connect", key, &[9, SERVER], server.address, &[]));
    }
    let stranger = End::start("connect", STRANGER, &[SERVER], server.address, &[]);
    is_reset(&mut stranger.connect());
    server.says(&public(STRANGER), "not allowed");
    stranger.says("127.0.0.1", "does the server allow this key?");

    let suspicious = End::start("connect", CLIENT, &[STRANGER], server.address, &[]);
    is_reset(&mut suspicious.connect());
    suspicious.says(&public(SERVER), "not allowed");
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

    /// The handshake, up to and with the confirmation.
    fn handshake(&mut self, key: u8) -> Session {
        let (initiator, request) =
            Initiator::start(label!("veriplex.tunnel.v1"), &private(key), &mut os_rng());
        self.send(&request);
        let response: [u8; RESPONSE_LEN] = self.read();
        let (session, confirmation) = initiator.receive(&response).unwrap().accept();
        self.send(&confirmation);
        session
    }

    /// A tunnel that is open.
    fn open(&mut self) -> (Sealer, Opener) {
        let session = self.handshake(CLIENT);
        let (mut sealer, mut opener) = (Sealer::new(session.send), Opener::new(session.recv));
        self.send(&block(&mut sealer, &[1]));
        let answer: [u8; OVERHEAD + 1] = self.read();
        let (header, body) = answer.split_first_chunk().unwrap();
        let answer = opener
            .header(*header)
            .unwrap()
            .open(&mut body.to_vec())
            .unwrap()
            .unwrap()
            .to_vec();
        assert_eq!(answer, [0]);
        (sealer, opener)
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

fn block(sealer: &mut Sealer, plaintext: &[u8]) -> Vec<u8> {
    let mut block = [&[0; 2], plaintext, &[0; 16]].concat();
    sealer.seal_block(&mut block).unwrap();
    block
}

#[test]
fn hostile_handshakes() {
    let (server, client) = ends(echo_server(), &["--timeout", "4"]);
    let start = || Client::new(&server);

    // Nothing, and half a handshake, are cut off after four seconds.
    let silent = start();
    let mut half = start();
    half.send(&[1; 16]);
    let mut half_response = start();
    let (_, request) = Initiator::start(label!("veriplex.tunnel.v1"), &private(CLIENT), &mut os_rng());
    let _: [u8; RESPONSE_LEN] = half_response.send(&request).read();
    let mut no_proof = start();
    let _ = no_proof.handshake(CLIENT);

    let mut garbage = start();
    garbage.send(&[0xff; 500]);
    garbage.refused(&server, "not a handshake");
    let mut identity = start();
    identity.send(&[0; 32]);
    identity.refused(&server, "not a handshake");
    let mut cut = start();
    cut.send(&request[..31]).0.shutdown(Shutdown::Write).unwrap();
    cut.refused(&server, "closed during the handshake");
    let mut wrong_confirmation = start();
    let _: [u8; RESPONSE_LEN] = wrong_confirmation.send(&request).read();
    wrong_confirmation.send(&[7; 48]);
    wrong_confirmation.refused(&server, "not a handshake");
    let mut unknown = start();
    let _ = unknown.handshake(STRANGER);
    unknown.refused(&server, "not allowed");

    // A key on the list, sent by somebody who does not have it: the first block is the proof.
    let mut claimed = start();
    let _ = claimed.handshake(CLIENT);
    claimed.send(&[0x55; OVERHEAD + 1]);
    claimed.refused(&server, "does not have the private key");
    // From the client itself: 64 KiB where one byte is expected, no byte, another version.
    for (plaintext, reason) in [
        (vec![1; 65535], "does not have the private key"),
        (vec![2], "version 2"),
    ] {
        let mut odd = start();
        let mut sealer = Sealer::new(odd.handshake(CLIENT).send);
        let _ = odd.0.write_all(&block(&mut sealer, &plaintext));
        odd.refused(&server, reason);
    }
    let mut empty = start();
    let sealer = Sealer::new(empty.handshake(CLIENT).send);
    empty.send(&sealer.finish().0);
    empty.refused(&server, "does not have the private key");

    for late in [silent, half, half_response, no_proof] {
        late.refused(&server, "no handshake in time");
    }
    works(&client);
}

#[test]
fn a_slow_client_is_served() {
    let (server, others) = ends(echo_server(), &["--max-pending", "2"]);
    let mut client = Client::new(&server);
    let (initiator, request) =
        Initiator::start(label!("veriplex.tunnel.v1"), &private(CLIENT), &mut os_rng());
    let slowly = |client: &mut Client, bytes: &[u8]| {
        for byte in bytes {
            client.send(&[*byte]);
            thread::sleep(Duration::from_millis(2));
        }
    };
    slowly(&mut client, &request);
    let response: [u8; RESPONSE_LEN] = client.read();
    let (session, confirmation) = initiator.receive(&response).unwrap().accept();
    let mut sealer = Sealer::new(session.send);
    // Those that come and are done with their handshake do not push it out.
    for _ in 0..5 {
        works(&others);
    }
    slowly(&mut client, &confirmation);
    slowly(&mut client, &block(&mut sealer, &[1]));
    let _: [u8; OVERHEAD + 1] = client.read();
    slowly(&mut client, &block(&mut sealer, b"hello"));
    let _: [u8; OVERHEAD + 5] = client.read();
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

    // A cut between two blocks, and in one.
    for cut in [0, 1, 2, 3, 10] {
        let mut client = Client::new(&server);
        let (mut sealer, _) = client.open();
        client.send(&block(&mut sealer, b"data"));
        let next = block(&mut sealer, b"more data");
        client.send(&next[..cut]);
        client.0.shutdown(Shutdown::Write).unwrap();
        client.refused(&server, "the tunnel was cut");
        assert_eq!(seen.recv_timeout(LONG).unwrap(), reset(b"data"), "{cut}");
    }
    // Damage; also of a header, which makes a length of up to 64 KiB of it.
    for at in [0, 1, 2, 10, 30] {
        let mut client = Client::new(&server);
        let (mut sealer, _) = client.open();
        client.send(&block(&mut sealer, b"data"));
        let mut next = block(&mut sealer, b"more data than there was");
        next[at] ^= 0x80;
        client.send(&next);
        let address = client.0.local_addr().unwrap();
        // It may have been reset already.
        let _ = client.0.shutdown(Shutdown::Write);
        let reason = if at < 2 {
            "the tunnel was cut"
        } else {
            "verification failed"
        };
        server.says(&address, reason);
        assert_eq!(seen.recv_timeout(LONG).unwrap(), reset(b"data"), "{at}");
    }
    // More after the end is not passed on.
    let mut after = Client::new(&server);
    let (mut sealer, _) = after.open();
    after.send(&block(&mut sealer, b"data"));
    after.send(&sealer.finish().0);
    let _ = after.0.write_all(&[0; 100]);
    assert_eq!(seen.recv_timeout(LONG).unwrap(), (b"data".to_vec(), Ok(())));

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

#[test]
fn silent_connections_do_not_keep_others_out() {
    let (server, client) = ends(echo_server(), &["--max-pending", "4", "--timeout", "60"]);
    let silent: Vec<_> = (0..20).map(|_| server.connect()).collect();
    // All but four. Then all have come, and none can push the client out.
    server.says_times(silent.len() - 4, "127.0.0.1", "pushed out");
    let start = Instant::now();
    works(&client);
    assert!(start.elapsed() < LONG, "waited for the others");
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
    server.says(&public(CLIENT), "too many connections");
    client.says("127.0.0.1", "the server has too many connections");
    for mut stream in open {
        stream.write_all(b"y").unwrap();
        stream.read_exact(&mut [0]).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    }
    server.says(&public(CLIENT), "closed");
    // The place is given back when both ends have noticed.
    let start = Instant::now();
    while exchange(client.connect(), b"z").is_err() {
        assert!(start.elapsed() < LONG);
    }
}

#[test]
fn a_destination_that_is_not_there() {
    let nowhere = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (server, client) = ends(nowhere, &[]);
    is_reset(&mut client.connect());
    server.says(&nowhere, "refused");
    client.says("127.0.0.1", "the server cannot reach its destination");

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
    server.says(&address, "no answer in time");
    client.says("127.0.0.1", "the server cannot reach its destination");
}

/// A server that takes a connection and says nothing more.
#[test]
fn a_server_that_does_not_answer() {
    let silent = server(|mut stream| drop(stream.read_to_end(&mut Vec::new())));
    let client = End::start("connect", CLIENT, &[SERVER], silent, &["--timeout", "1"]);
    is_reset(&mut client.connect());
    client.says("127.0.0.1", "no handshake in time");
}

/// How fast a GiB goes one way, in GB/s.
fn one_way(to: SocketAddr) -> f64 {
    let start = Instant::now();
    let mut stream = TcpStream::connect(to).unwrap();
    for chunk in chunks(1 << 30) {
        stream.write_all(&chunk).unwrap();
    }
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(stream.read(&mut [0]).unwrap(), 0);
    1.073_741_824 / start.elapsed().as_secs_f64()
}

/// The figures of the README.
#[test]
#[ignore = "measures: run by hand, in release mode, with --nocapture"]
fn figures() {
    let echo = echo_server();
    let short = |to: SocketAddr, threads| {
        let start = Instant::now();
        short_connections(to, 1000, threads);
        1000.0 / start.elapsed().as_secs_f64()
    };
    let (server, client) = ends(echo, &["--max-connections", "1000"]);
    for threads in [1, 8] {
        let (direct, tunnel) = (short(echo, threads), short(client.address, threads));
        println!("connections/s, {threads} at a time: direct {direct:.0}, tunnel {tunnel:.0}");
    }

    let sink = self::server(|mut stream| {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(1..) = stream.read(&mut buffer) {}
    });
    let (_sink_server, sink_client) = ends(sink, &[]);
    for _ in 0..3 {
        let (direct, tunnel) = (one_way(sink), one_way(sink_client.address));
        println!("GB/s, one way: direct {direct:.2}, tunnel {tunnel:.2}");
    }

    let memory = |end: &End| {
        let status = std::fs::read_to_string(format!("/proc/{}/status", end.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap()
    };
    let before = [memory(&server), memory(&client)];
    let idle: Vec<_> = (0..400)
        .map(|_| {
            let mut stream = client.connect();
            stream.write_all(&vec![7; 100_000]).unwrap();
            stream.read_exact(&mut vec![0; 100_000]).unwrap();
            stream
        })
        .collect();
    for (end, name, before) in [(&server, "server", before[0]), (&client, "client", before[1])] {
        let each = (memory(end) - before) / 400.0;
        println!(
            "{name}: {each:.1} KiB for each of {} idle connections",
            idle.len()
        );
    }
}
