//! Load and faults. What is ignored gives figures of `docs/performance.md`.

#![allow(clippy::cast_precision_loss)] // of what is printed

use std::collections::HashSet;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rustix::process::{Resource, getrlimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream as AsyncStream;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use super::*;

/// How long something goes on, if the environment says so.
fn duration() -> Option<Duration> {
    given("VERIPLEX_SECONDS").map(Duration::from_secs)
}

/// A number of the environment.
fn given<N: std::str::FromStr<Err: std::fmt::Debug>>(name: &str) -> Option<N> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap())
}

/// The echo server, without a thread for each connection.
fn echo_tasks(runtime: &Runtime) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            tokio::spawn(async move {
                let (mut reader, mut writer) = stream.split();
                let _ = tokio::io::copy(&mut reader, &mut writer).await;
                let _ = writer.shutdown().await;
            });
        }
    });
    address
}

/// Both ends with room for many.
fn roomy_ends(destination: SocketAddr) -> (End, End) {
    let server = End::start(
        "serve",
        SERVER,
        &[CLIENT],
        destination,
        &[
            "--max-connections=20000",
            "--max-per-peer=20000",
            "--max-pending=2000",
            "--max-per-source=2000",
        ],
    );
    let options = ["--max-connections=20000"];
    let client = End::start("connect", CLIENT, &[SERVER], server.address, &options);
    (server, client)
}

/// KiB in memory.
fn memory(end: &End) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", end.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Seconds that a process has computed: they say more than the clock where others compute, too.
fn computed(id: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<_> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[11..13]
        .iter()
        .map(|field| field.parse::<u64>().unwrap())
        .sum();
    ticks as f64 / 100.0
}

async fn echo_through(stream: &mut AsyncStream, message: &[u8]) {
    let (mut reader, mut writer) = stream.split();
    let mut answer = vec![0; message.len()];
    let (sent, received) = tokio::join!(writer.write_all(message), reader.read_exact(&mut answer));
    sent.unwrap();
    received.unwrap();
    assert!(answer == message);
}

/// A program that opens many connections does not push out its own: a server has places for 32 handshakes of a source.
#[test]
fn many_connections_at_once() {
    let server = End::start("serve", SERVER, &[CLIENT], echo_server(), &[]);
    let client = End::start("connect", CLIENT, &[SERVER], server.address, &[]);
    let clients: Vec<_> = (0..90).map(|_| client.connect()).collect();
    for client in clients {
        assert_eq!(exchange(client, b"all").unwrap(), b"all");
    }
}

#[test]
#[ignore = "measures: run by hand, in release mode, with --nocapture"]
fn ten_thousand_idle_connections() {
    // Each takes two descriptors of each process.
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let count = usize::try_from(limit.saturating_sub(100) / 2).map_or(10_000, |count| count.min(10_000));
    let runtime = Runtime::new().unwrap();
    let (server, client) = roomy_ends(echo_tasks(&runtime));
    let address = client.address;
    runtime.block_on(async {
        // What the first connections need is not counted for all.
        let warm: Vec<_> = open(address, 50).await;
        let before = [memory(&server), memory(&client)];
        let start = Instant::now();
        let mut idle = open(address, count - 50).await;
        println!(
            "{count} connections within {:.0} s",
            start.elapsed().as_secs_f64()
        );
        sleep(Duration::from_secs(2)).await;
        for (end, name, before) in [(&server, "server", before[0]), (&client, "client", before[1])] {
            let each = (memory(end) - before) / idle.len() as f64;
            println!("{name}: {each:.1} KiB for each idle connection");
        }
        // They live.
        for stream in &mut idle {
            echo_through(stream, b"still there?").await;
        }
        drop(warm);
    });
}

/// Connections through which 100,000 bytes have gone each way.
async fn open(to: SocketAddr, count: usize) -> Vec<AsyncStream> {
    let at_once = Arc::new(Semaphore::new(16));
    let message: Arc<[u8]> = vec![7; 100_000].into();
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let (at_once, message) = (at_once.clone(), message.clone());
            tokio::spawn(async move {
                let _permit = at_once.acquire().await.unwrap();
                let mut stream = AsyncStream::connect(to).await.unwrap();
                echo_through(&mut stream, &message).await;
                stream
            })
        })
        .collect();
    let mut streams = Vec::new();
    for task in tasks {
        streams.push(task.await.unwrap());
    }
    streams
}

/// Sends and receives as much as it can; counts what came back.
async fn bulk(to: SocketAddr, counter: Arc<AtomicU64>) {
    let (mut reader, mut writer) = AsyncStream::connect(to).await.unwrap().into_split();
    tokio::spawn(async move {
        let piece = vec![0x5a; 1 << 16];
        while writer.write_all(&piece).await.is_ok() {}
    });
    let mut piece = vec![0; 1 << 16];
    while let Ok(n @ 1..) = reader.read(&mut piece).await {
        counter.fetch_add(n as u64, Ordering::Relaxed);
    }
}

#[test]
#[ignore = "measures: run by hand, in release mode, with --nocapture"]
fn new_connections_beside_a_transfer() {
    let rate: u32 = given("VERIPLEX_RATE").unwrap_or(1000);
    let duration = duration().unwrap_or(Duration::from_mins(1));
    let runtime = Runtime::new().unwrap();
    let (server, client) = roomy_ends(echo_tasks(&runtime));
    let address = client.address;
    let all = [server.child.id(), client.child.id(), std::process::id()];
    runtime.block_on(async {
        let bytes = Arc::new(AtomicU64::new(0));
        tokio::spawn(bulk(address, bytes.clone()));
        let megabytes = |time: Duration| {
            let bytes = bytes.swap(0, Ordering::Relaxed);
            bytes as f64 / 1e6 / time.as_secs_f64()
        };
        sleep(Duration::from_secs(1)).await;
        bytes.swap(0, Ordering::Relaxed);
        let before = all.map(computed);
        sleep(Duration::from_secs(5)).await;
        let unloaded = [0, 1, 2].map(|i| computed(all[i]) - before[i]);
        println!("transfer alone: {:.0} MB/s each way", megabytes(Duration::from_secs(5)));
        println!("seconds of both cores in 5 s: server {:.1}, client {:.1}, the test {:.1}", unloaded[0], unloaded[1], unloaded[2]);

        let (times, failed) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let mut ticks = interval(Duration::from_secs(1) / rate);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let before = all.map(computed);
        let start = Instant::now();
        let mut tasks = Vec::new();
        // However long the others take: it does not wait for them.
        while start.elapsed() < duration {
            ticks.tick().await;
            let (times, failed) = (times.clone(), failed.clone());
            tasks.push(tokio::spawn(async move {
                let start = Instant::now();
                let exchange = async {
                    let mut stream = AsyncStream::connect(address).await?;
                    stream.write_all(b"hello").await?;
                    stream.shutdown().await?;
                    let mut answer = Vec::new();
                    stream.read_to_end(&mut answer).await?;
                    io::Result::Ok(answer == b"hello")
                };
                match timeout(LONG, exchange).await {
                    Ok(Ok(true)) => times.lock().unwrap().push(start.elapsed()),
                    _ => drop(failed.fetch_add(1, Ordering::Relaxed)),
                }
            }));
        }
        let beside = megabytes(start.elapsed());
        let begun = tasks.len();
        for task in tasks {
            task.await.unwrap();
        }
        let used = [0, 1, 2].map(|i| computed(all[i]) - before[i]);
        println!(
            "within {:.0} s; seconds of both cores: server {:.1}, client {:.1}, the test {:.1}",
            start.elapsed().as_secs_f64(),
            used[0],
            used[1],
            used[2]
        );
        let mut times = times.lock().unwrap().clone();
        times.sort();
        let at = |part: usize| times[(times.len() - 1) * part / 1000].as_secs_f64() * 1e3;
        println!(
            "{begun} connections in {:.0} s, {} failed; ms: {:.1} half of them, {:.1} 99 %, {:.1} the longest",
            duration.as_secs_f64(),
            failed.load(Ordering::Relaxed),
            at(500),
            at(990),
            at(1000)
        );
        println!("transfer beside them: {beside:.0} MB/s each way");
    });
}

/// Two ports that connections are not given at random while nobody listens there.
fn quiet_ports() -> [SocketAddr; 2] {
    let from = 20_000 + u16::try_from(std::process::id() % 10_000).unwrap();
    let addresses: Vec<_> = (from..32_768)
        .map(|port| SocketAddr::from(([127, 0, 0, 1], port)))
        .filter(|address| TcpListener::bind(address).is_ok())
        .take(2)
        .collect();
    addresses.try_into().unwrap()
}

/// The last word of a connection.
const BYE: u64 = u64::MAX;

/// Both ends are killed, again and again, and start anew. What was acknowledged has arrived, and no cut looks like an end.
#[test]
fn ends_are_killed_at_random() {
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicU64::new(0));
    let stored = Arc::new(Mutex::new(HashSet::new()));
    let wrong = Arc::new(Mutex::new(Vec::new()));
    let destination = {
        let (stored, wrong) = (stored.clone(), wrong.clone());
        server(move |mut stream| {
            let (mut word, mut last) = ([0; 8], 0);
            loop {
                match stream.read(&mut word[..1]) {
                    Ok(0) if last != BYE => {
                        return wrong
                            .lock()
                            .unwrap()
                            .push("an end that is none, at the destination");
                    }
                    Ok(1..) if stream.read_exact(&mut word[1..]).is_ok() => {
                        last = u64::from_le_bytes(word);
                        stored.lock().unwrap().insert(last);
                        if stream.write_all(&word).is_err() {
                            return;
                        }
                    }
                    _ => return,
                }
            }
        })
    };
    let addresses = quiet_ports();
    let start = |role: usize| {
        let listen = addresses[role].to_string();
        if role == 0 {
            End::start_at("serve", SERVER, &[CLIENT], &destination.to_string(), &listen, &[])
        } else {
            let server = addresses[0].to_string();
            End::start_at("connect", CLIENT, &[SERVER], &server, &listen, &[])
        }
    };
    let mut ends = [Some(start(0)), Some(start(1))];
    let mut kills = [0; 2];
    thread::scope(|scope| {
        for user in 0..8_u64 {
            let (stored, wrong, stop, acknowledged) = (&stored, &wrong, &stop, &acknowledged);
            scope.spawn(move || {
                let mut next = user << 32;
                while !stop.load(Ordering::SeqCst) {
                    let first = next;
                    let result = converse(addresses[1], stop, &mut next, stored);
                    acknowledged.fetch_add(next - first, Ordering::SeqCst);
                    match result.map_err(|error| error.kind()) {
                        Ok(None) => {}
                        Ok(Some(flaw)) => wrong.lock().unwrap().push(flaw),
                        Err(io::ErrorKind::UnexpectedEof) => {
                            wrong.lock().unwrap().push("an end that is none, at the user");
                        }
                        Err(io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                            wrong.lock().unwrap().push("it hangs");
                        }
                        Err(_) => thread::sleep(Duration::from_millis(10)),
                    }
                }
            });
        }
        let _stops = Stops(&stop);
        // For so long; else until there is something to see.
        let (begin, given) = (Instant::now(), duration());
        let is_over = |kills: [u64; 2]| {
            if let Some(duration) = given {
                return begin.elapsed() >= duration;
            }
            let is_seen = kills[0] + kills[1] >= 6 && acknowledged.load(Ordering::SeqCst) >= 100;
            is_seen || begin.elapsed() >= 5 * LONG
        };
        while !is_over(kills) {
            let random = getrandom::u64().unwrap();
            thread::sleep(Duration::from_millis(50 + random % 500));
            let role = usize::from(random & 1 << 40 != 0);
            kills[role] += 1;
            drop(ends[role].take());
            ends[role] = Some(start(role));
        }
    });
    let acknowledged = acknowledged.into_inner();
    println!("{acknowledged} acknowledged; servers and clients killed: {kills:?}");
    assert!(acknowledged >= 100);
    let wrong = wrong.lock().unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// On drop, also when an end does not start.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Sends numbers and waits for each to come back, up to a hundred; then says the last word.
fn converse(
    to: SocketAddr,
    stop: &AtomicBool,
    next: &mut u64,
    stored: &Mutex<HashSet<u64>>,
) -> io::Result<Option<&'static str>> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(LONG))?;
    stream.set_nodelay(true)?;
    for _ in 0..100 {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        stream.write_all(&next.to_le_bytes())?;
        let mut word = [0; 8];
        stream.read_exact(&mut word)?;
        if u64::from_le_bytes(word) != *next {
            return Ok(Some("another number came back"));
        }
        if !stored.lock().unwrap().contains(next) {
            return Ok(Some("what was acknowledged is lost"));
        }
        *next += 1;
    }
    stream.write_all(&BYE.to_le_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    stream.read_exact(&mut [0; 8])?;
    Ok(None)
}

/// A link between two network namespaces that delays, loses and reorders packets; none where that cannot be made.
struct Link {
    child: Child,
    says: BufReader<std::process::ChildStdout>,
    names: [String; 2],
}

impl Link {
    fn new(delay: &str, jitter: &str, loss: &str) -> Option<Self> {
        let names = ["a", "b"].map(|end| format!("veriplex-{}-{end}", std::process::id()));
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tunnel/link.py");
        let mut command = Command::new("python3");
        command.arg(script).args(&names).args([delay, jitter, loss]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let mut line = String::new();
        let mut says = BufReader::new(child.stdout.take().unwrap());
        says.read_line(&mut line).unwrap();
        let link = Self { child, says, names };
        (line == "ready\n").then_some(link)
    }

    /// Ends it: how many packets it has lost, and how many came after later ones.
    fn end(mut self) -> [u32; 2] {
        drop(self.child.stdin.take());
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        let mut numbers = line.split_whitespace().map(|number| number.parse().unwrap());
        [(); 2].map(|()| numbers.next().unwrap())
    }

    /// The same command at one end of it.
    fn at(&self, end: usize, command: &Command) -> Command {
        let mut there = Command::new("ip");
        there.args(["netns", "exec", &self.names[end]]);
        there.arg(command.get_program()).args(command.get_args());
        there
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Its end is the end of the link.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

#[test]
fn a_link_that_loses_packets() {
    // Milliseconds; the jitter puts packets out of order.
    let Some(link) = Link::new("20", "15", "0.02") else {
        println!("skipped: needs root, ip, python3 and /dev/net/tun");
        return;
    };
    let folder = TempDir::new().unwrap();
    let at = |name: &str| format!("unix:{}", folder.path().join(name).display());
    let listener = UnixListener::bind(folder.path().join("echo")).unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut reader, mut writer) = (stream.as_ref().unwrap().try_clone().unwrap(), stream.unwrap());
            thread::spawn(move || {
                let _ = io::copy(&mut reader, &mut writer);
                let _ = writer.shutdown(Shutdown::Write);
            });
        }
    });
    let keys = [(); 2].map(|()| TempDir::new().unwrap());
    let mut serve = command("serve", &keys[0], SERVER, &[CLIENT], &at("echo"));
    serve.args(["--listen", "10.77.0.2:4433", "--allow-unix"]);
    let server = End::spawn(link.at(1, &serve));
    let mut connect = command("connect", &keys[1], CLIENT, &[SERVER], "10.77.0.2:4433");
    connect.args(["--listen", &at("local"), "--allow-unix"]);
    let _client = End::spawn(link.at(0, &connect));

    let start = Instant::now();
    let pattern = chunks(1 << 20).next().unwrap();
    thread::scope(|scope| {
        for len in [0, 1, 10_000, 10_000, 300_000, 300_000] {
            let (data, path) = (&pattern[..len], folder.path().join("local"));
            scope.spawn(move || {
                let mut stream = UnixStream::connect(path).unwrap();
                stream.set_read_timeout(Some(LONG)).unwrap();
                let mut writer = stream.try_clone().unwrap();
                let data = data.to_owned();
                let sent = data.clone();
                thread::spawn(move || {
                    writer.write_all(&sent).unwrap();
                    writer.shutdown(Shutdown::Write).unwrap();
                });
                let mut received = Vec::new();
                stream.read_to_end(&mut received).unwrap();
                assert!(received == data, "{len} bytes");
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    server.says_times(6, "10.77.0.1", "closed");
    let [lost, late] = link.end();
    println!("620,001 bytes there and back in {seconds:.1} s; {lost} packets were lost, {late} late");
    assert!(lost > 0 && late > 0);
}
