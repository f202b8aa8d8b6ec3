//! Streams over tokio's duplex: bytes, ends, cuts, changes, cancellation, memory, and renewal by a clock of the test's own.

use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf, duplex, split,
};
use tokio::time::{advance, sleep};
use veriplex::hybrid::PrivateKey;
use veriplex::tunnel::{DATA_OVERHEAD, Initiator, RESPONSE_LEN, Session, room};
use veriplex::{label, os_rng};
use veriplex_tunnel::{Config, Error, Stream, accept, connect};

const CONFIG: Config = Config::new(label!("test"));

static KEYS: LazyLock<[PrivateKey; 3]> =
    LazyLock::new(|| [(); 3].map(|()| PrivateKey::generate(&mut os_rng()).unwrap()));

/// Two ends of a connection over two streams that belong together.
async fn ends<A, B>(a: A, b: B, config: &Config) -> (Stream<A>, Stream<B>)
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let [alice, bob, _] = &*KEYS;
    let (a, b) = tokio::join!(
        connect(a, config, alice, bob.public_key()),
        accept(b, config, bob, |peer| peer == alice.public_key()),
    );
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!((a.peer(), b.peer()), (bob.public_key(), alice.public_key()));
    (a, b)
}

async fn connected(capacity: usize) -> (Stream<DuplexStream>, Stream<DuplexStream>) {
    let (a, b) = duplex(capacity);
    ends(a, b, &CONFIG).await
}

/// Bytes that are not all the same.
fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 256).to_le_bytes()[0]).collect()
}

/// Sends data and ends the direction; receives until the other has ended.
async fn exchange<S: AsyncRead + AsyncWrite + Unpin>(stream: Stream<S>, sent: &[u8], step: usize) -> Vec<u8> {
    let (mut reader, mut writer) = split(stream);
    let mut received = Vec::new();
    let write = async {
        for piece in sent.chunks(step) {
            writer.write_all(piece).await.unwrap();
        }
        writer.shutdown().await.unwrap();
    };
    let ((), n) = tokio::join!(write, reader.read_to_end(&mut received));
    n.unwrap();
    received
}

#[tokio::test]
async fn bytes_arrive_whatever_the_pieces() {
    for (capacity, len, step) in [
        (1, 300, 1),
        (7, 5000, 333),
        (1000, 200_000, 70_000),
        (100_000, 300_000, 1000),
        (1 << 20, 1_000_000, 65_535),
        (1 << 20, 1_000_000, 65_536),
    ] {
        let (a, b) = connected(capacity).await;
        let (one, two) = (data(len), data(len / 2));
        let (from_b, from_a) = tokio::join!(exchange(a, &one, step), exchange(b, &two, step));
        assert!(
            from_a == one && from_b == two,
            "capacity {capacity}, in steps of {step}"
        );
    }
}

/// No more is consumed than there is.
#[tokio::test]
async fn consuming_more_than_there_is() {
    let (mut a, mut b) = connected(1000).await;
    for n in [4, 5, usize::MAX] {
        a.write_all(b"word").await.unwrap();
        assert_eq!(b.fill_buf().await.unwrap(), b"word");
        b.consume(1);
        b.consume(n);
    }
}

#[tokio::test]
async fn directions_end_one_by_one() {
    let (mut a, mut b) = connected(1000).await;
    a.write_all(b"that is all").await.unwrap();
    a.shutdown().await.unwrap();
    let mut text = String::new();
    b.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "that is all");
    assert!(b.has_ended() && !a.has_ended());
    assert_eq!(b.read(&mut [0; 9]).await.unwrap(), 0, "the end stays");
    assert_eq!(
        a.write(b"more").await.unwrap_err().kind(),
        io::ErrorKind::BrokenPipe
    );
    a.shutdown().await.unwrap();
    for _ in 0..3 {
        b.write_all(b"and here?").await.unwrap();
        let mut answer = [0; 9];
        a.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"and here?");
    }
    b.shutdown().await.unwrap();
    assert_eq!(a.read(&mut [0; 9]).await.unwrap(), 0);
}

/// A connection that closes without an end was cut; what was read before was right.
#[tokio::test]
async fn a_cut_is_an_error() {
    let (mut a, mut b) = connected(1000).await;
    a.write_all(b"unfinished").await.unwrap();
    drop(a);
    let mut received = Vec::new();
    let error = b.read_to_end(&mut received).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(received, b"unfinished");
    let again = b.read(&mut [0; 9]).await.unwrap_err();
    assert_eq!(again.kind(), io::ErrorKind::UnexpectedEof, "it stays");
}

/// Wherever the wire is cut, readers of all kinds get an error, after what was verified; only the whole of it ends.
#[tokio::test]
async fn only_a_verified_end_is_an_end() {
    for by_copy in [false, true] {
        let mut cut = 0;
        loop {
            let (mut stream, mut below, mut session) = with_peer_by_hand(b"first").await;
            let second = sealed(&mut session, b"second");
            let end = session.sender.finish().unwrap();
            let wire = [&second[..], &end].concat();
            below.write_all(&wire[..cut]).await.unwrap();
            below.shutdown().await.unwrap();
            let mut received = Vec::new();
            let result = if by_copy {
                tokio::io::copy_buf(&mut stream, &mut received).await
            } else {
                stream.read_to_end(&mut received).await.map(|n| n as u64)
            };
            let verified: &[u8] = if cut < second.len() {
                b"first"
            } else {
                b"firstsecond"
            };
            assert_eq!(received, verified, "{cut}");
            assert_eq!(stream.has_ended(), cut == wire.len());
            if cut == wire.len() {
                assert_eq!(result.unwrap(), 11);
                break;
            }
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::UnexpectedEof, "{cut}");
            cut += 1;
        }
    }
}

/// The initiator by hand, whose stream below the test changes.
async fn by_hand(mut below: DuplexStream) -> (DuplexStream, Session) {
    let [alice, bob, _] = &*KEYS;
    let (initiator, request) =
        Initiator::start(label!("test"), alice, bob.public_key(), &mut os_rng()).unwrap();
    below.write_all(request.as_slice()).await.unwrap();
    let mut response = [0; RESPONSE_LEN];
    below.read_exact(&mut response).await.unwrap();
    (below, initiator.receive(&response).unwrap())
}

fn sealed(session: &mut Session, data: &[u8]) -> Vec<u8> {
    let mut record = vec![0; data.len() + DATA_OVERHEAD];
    room(&mut record).unwrap().copy_from_slice(data);
    session.sender.seal(&mut record).unwrap();
    record
}

/// The responder, with an initiator by hand that has sent its first record, with these data.
async fn with_peer_by_hand(first: &[u8]) -> (Stream<DuplexStream>, DuplexStream, Session) {
    let [alice, bob, _] = &*KEYS;
    let (below, other) = duplex(1 << 20);
    let peer = async {
        let (mut below, mut session) = by_hand(below).await;
        below.write_all(&sealed(&mut session, first)).await.unwrap();
        (below, session)
    };
    let accepted = accept(other, &CONFIG, bob, |peer| peer == alice.public_key());
    let (accepted, (below, session)) = tokio::join!(accepted, peer);
    (accepted.unwrap(), below, session)
}

#[tokio::test]
async fn every_changed_byte_is_an_error() {
    for at in 0..DATA_OVERHEAD + 5 {
        let (mut stream, mut below, mut session) = with_peer_by_hand(b"first").await;
        let right = sealed(&mut session, b"right");
        let mut wrong = sealed(&mut session, b"wrong");
        wrong[at] ^= 1;
        below.write_all(&[right, wrong].concat()).await.unwrap();
        drop(below); // a length that grew would wait for more
        let mut received = Vec::new();
        let error = stream.read_to_end(&mut received).await.unwrap_err().kind();
        // Of a length that was changed nothing is known but that the rest is missing or does not verify.
        let cut = at < 3 && error == io::ErrorKind::UnexpectedEof;
        assert!(cut || error == io::ErrorKind::InvalidData, "byte {at}: {error}");
        assert_eq!(received, b"firstright", "byte {at}");
        assert_eq!(stream.read(&mut [0; 9]).await.unwrap_err().kind(), error);
    }
}

#[tokio::test]
async fn nothing_follows_the_end() {
    let (mut stream, mut below, mut session) = with_peer_by_hand(b"").await;
    let data = sealed(&mut session, b"data");
    let end = session.sender.finish().unwrap();
    below.write_all(&[&data[..], &end, &[0]].concat()).await.unwrap();
    let mut received = Vec::new();
    let error = stream.read_to_end(&mut received).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert_eq!(received, b"data");
}

/// A peer with valid keys makes no work without end.
#[tokio::test]
async fn a_peer_that_renews_all_the_time() {
    let (mut stream, mut below, mut session) = with_peer_by_hand(b"").await;
    for _ in 0..16 {
        let record = session.sender.renew(&mut session.keys, &mut os_rng()).unwrap();
        below.write_all(&record).await.unwrap();
    }
    below.write_all(&sealed(&mut session, b"still")).await.unwrap();
    stream.read_exact(&mut [0; 5]).await.unwrap();
    let record = session.sender.renew(&mut session.keys, &mut os_rng()).unwrap();
    below.write_all(&record).await.unwrap();
    let error = stream.read(&mut [0; 9]).await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[tokio::test]
async fn handshakes_that_fail() {
    let [alice, bob, eve] = &*KEYS;
    let run = |own: &'static PrivateKey, peer: &'static PrivateKey, domain| async move {
        let (a, b) = duplex(10_000);
        let accepting = async { accept(b, &CONFIG, bob, |peer| peer == alice.public_key()).await };
        let connecting = async { connect(a, &Config::new(domain), own, peer.public_key()).await };
        let (accepted, connected) = tokio::join!(accepting, connecting);
        (accepted.err(), connected.err())
    };
    assert!(matches!(run(alice, bob, label!("test")).await, (None, None)));
    // Whoever connects sees the same each time: the connection is closed.
    let closed = |error: Option<Error>| matches!(error, Some(Error::Io(e)) if e.kind() == io::ErrorKind::UnexpectedEof);
    let (accepted, connected) = run(eve, bob, label!("test")).await;
    assert!(matches!(accepted, Some(Error::Refused)) && closed(connected));
    for (own, peer, domain) in [(alice, eve, label!("test")), (alice, bob, label!("other"))] {
        let (accepted, connected) = run(own, peer, domain).await;
        assert!(matches!(accepted, Some(Error::Verification)) && closed(connected));
    }
    // A peer that closes, or answers something else.
    let (a, mut b) = duplex(10_000);
    let answer = async {
        b.read_exact(&mut [0; 3552]).await.unwrap();
        b.write_all(&[7; RESPONSE_LEN]).await.unwrap();
    };
    let (connected, ()) = tokio::join!(connect(a, &CONFIG, alice, bob.public_key()), answer);
    assert!(matches!(connected, Err(Error::Verification)));
    let (a, b) = duplex(10_000);
    drop(b);
    assert!(matches!(
        accept(a, &CONFIG, bob, |_| true).await,
        Err(Error::Io(_))
    ));
}

/// A responder that has answered a request waits for the first record, and gives no stream before.
#[tokio::test(start_paused = true)]
async fn a_copy_of_a_request_gives_nothing() {
    let [alice, bob, _] = &*KEYS;
    let (_, request) = Initiator::start(label!("test"), alice, bob.public_key(), &mut os_rng()).unwrap();
    for guess in [vec![], vec![0; 19], vec![0; 100_000]] {
        let (mut a, b) = duplex(1 << 20);
        a.write_all(request.as_slice()).await.unwrap();
        a.write_all(&guess).await.unwrap();
        let accepting = accept(b, &CONFIG, bob, |_| true);
        let accepted = tokio::time::timeout(Duration::from_mins(1), accepting).await;
        assert!(!matches!(accepted, Ok(Ok(_))), "{} bytes", guess.len());
    }
}

/// Polls a future once.
async fn once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|cx| {
        Poll::Ready(match Pin::new(&mut future).poll(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

/// Every call may be dropped while it waits: nothing is lost and nothing comes twice.
#[tokio::test]
async fn calls_may_be_cancelled() {
    let (mut a, mut b) = connected(50).await;
    let sent = data(100_000);
    let (mut at, mut received, mut cancelled) = (0, Vec::new(), 0);
    while received.len() < sent.len() {
        // Tokio lets a task do only so much at a time.
        tokio::task::yield_now().await;
        let end = sent.len().min(at + 3000);
        if at < sent.len() {
            match once(pin!(a.write(&sent[at..end]))).await {
                Some(n) => at += n.unwrap(),
                None => cancelled += 1,
            }
        }
        if let Some(flushed) = once(pin!(a.flush())).await {
            flushed.unwrap();
        }
        let mut piece = [0; 700];
        match once(pin!(b.read(&mut piece))).await {
            Some(n) => received.extend_from_slice(&piece[..n.unwrap()]),
            None => cancelled += 1,
        }
    }
    assert!(received == sent);
    assert!(cancelled > 100);
}

/// A peer that does not read stops the writer after two records at most.
#[tokio::test]
async fn memory_is_bounded() {
    let (mut a, _b) = connected(1000).await;
    let mut accepted = 0;
    while let Some(n) = once(pin!(a.write(&[7; 5000]))).await {
        accepted += n.unwrap();
        assert!(accepted <= 2 * 65_535);
    }
    assert!(accepted > 65_535, "writing goes on while a record is being sent");
}

/// One call is not one packet: what is written while the stream takes nothing leaves as one record.
#[tokio::test]
async fn small_writes_share_a_record() {
    let (below, other) = duplex(10);
    let counted = Counted::new(other);
    let written = counted.0.clone();
    let (mut b, mut a) = {
        let (a, b) = ends(counted, below, &CONFIG).await;
        (b, a)
    };
    let before = *written.lock().unwrap();
    let writing = async {
        for _ in 0..1000 {
            a.write_all(&[7; 10]).await.unwrap();
        }
        a.flush().await.unwrap();
    };
    let mut received = vec![0; 10_000];
    // The reader comes later.
    let reading = async {
        tokio::task::yield_now().await;
        b.read_exact(&mut received).await.unwrap();
    };
    tokio::join!(writing, reading);
    assert_eq!(received, [7; 10_000]);
    let overhead = *written.lock().unwrap() - before - 10_000;
    assert!(
        overhead <= 3 * DATA_OVERHEAD,
        "{overhead} bytes more than the data"
    );
}

/// Counts the bytes that are written.
struct Counted(Arc<Mutex<usize>>, DuplexStream);

impl Counted {
    fn new(stream: DuplexStream) -> Self {
        Self(Arc::default(), stream)
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.1).poll_read(cx, buf)
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.1).poll_write(cx, buf);
        if let Poll::Ready(Ok(n)) = written {
            *self.0.lock().unwrap() += n;
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.1).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.1).poll_shutdown(cx)
    }
}

/// What a stream below may do: it uses the room that it does not fill, and is interrupted every other time.
struct Odd {
    inner: DuplexStream,
    uses_room: bool,
    /// Of each kind of call.
    is_interrupted: Option<[bool; 4]>,
}

impl Odd {
    fn poll<T>(
        &mut self,
        kind: usize,
        poll: impl FnOnce(&mut Self) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Some(interrupted) = &mut self.is_interrupted {
            let now = &mut interrupted[kind];
            *now = !*now;
            if *now {
                return Poll::Ready(Err(io::ErrorKind::Interrupted.into()));
            }
        }
        poll(self)
    }
}

impl AsyncRead for Odd {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.uses_room {
            buf.initialize_unfilled().fill(0xa5);
        }
        self.poll(0, |odd| Pin::new(&mut odd.inner).poll_read(cx, buf))
    }
}

impl AsyncWrite for Odd {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll(1, |odd| Pin::new(&mut odd.inner).poll_write(cx, buf))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(2, |odd| Pin::new(&mut odd.inner).poll_flush(cx))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll(3, |odd| Pin::new(&mut odd.inner).poll_shutdown(cx))
    }
}

async fn over_odd_streams(uses_room: bool, is_interrupted: Option<[bool; 4]>) {
    for (capacity, len, step) in [(7, 500, 50), (1000, 200_000, 70_000)] {
        let (a, b) = duplex(capacity);
        let odd = |inner| Odd {
            inner,
            uses_room,
            is_interrupted,
        };
        let (a, b) = ends(odd(a), odd(b), &CONFIG).await;
        let (one, two) = (data(len), data(len / 2));
        let (from_b, from_a) = tokio::join!(exchange(a, &one, step), exchange(b, &two, step));
        assert!(from_a == one && from_b == two);
    }
}

#[tokio::test]
async fn an_interrupted_stream_is_called_again() {
    over_odd_streams(false, Some([false; 4])).await;
}

#[tokio::test]
async fn the_stream_below_may_use_the_room_that_it_does_not_fill() {
    over_odd_streams(true, None).await;
}

/// A day in minutes: both sides say something each minute.
#[tokio::test(start_paused = true)]
async fn keys_are_renewed_for_a_day() {
    let (mut a, mut b) = connected(10_000).await;
    let mut word = [0; 4];
    for _ in 0..24 * 60 {
        advance(Duration::from_mins(1)).await;
        a.write_all(b"ping").await.unwrap();
        b.read_exact(&mut word).await.unwrap();
        b.write_all(b"pong").await.unwrap();
        a.read_exact(&mut word).await.unwrap();
    }
    assert_eq!(a.renewals(), (720, 720));
    assert_eq!(b.renewals(), (720, 720));
}

/// A side that only reads renews too, when its peer has: else it would keep its first key.
#[tokio::test(start_paused = true)]
async fn a_side_that_only_reads_renews() {
    let (mut a, mut b) = connected(10_000).await;
    for _ in 0..24 * 60 {
        advance(Duration::from_mins(1)).await;
        a.write_all(b"data").await.unwrap();
        b.read_exact(&mut [0; 4]).await.unwrap();
        // Nobody at a's end writes or flushes more than that; reading takes what b has sent.
        assert!(once(pin!(a.read(&mut [0; 1]))).await.is_none());
    }
    assert_eq!(a.renewals(), (720, 720));
    assert_eq!(b.renewals(), (720, 720));
}

/// What a peer that renews and never reads makes us hold does not grow, and we renew again once it reads.
#[tokio::test(start_paused = true)]
async fn a_peer_that_renews_and_never_reads() {
    let (mut a, mut b) = connected(10_000).await;
    let mut byte = [0; 1];
    for _ in 0..100 {
        advance(Duration::from_mins(2)).await;
        a.write_all(b"x").await.unwrap();
        b.read_exact(&mut byte).await.unwrap();
    }
    let before = b.renewals().0;
    assert!(before <= 10, "{before}");
    assert!(once(pin!(a.read(&mut byte))).await.is_none());
    for _ in 0..2 {
        a.write_all(b"x").await.unwrap();
        b.read_exact(&mut byte).await.unwrap();
        advance(Duration::from_mins(2)).await;
    }
    assert_eq!(b.renewals().0, before + 1);
}

/// Nothing is sent while there are no data.
#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_silent() {
    let (below, other) = duplex(10_000);
    let counted = Counted::new(below);
    let written = counted.0.clone();
    let (mut a, mut b) = ends(counted, other, &CONFIG).await;
    let before = *written.lock().unwrap();
    for _ in 0..100 {
        advance(Duration::from_mins(10)).await;
        assert!(once(pin!(a.read(&mut [0; 1]))).await.is_none());
        assert!(once(pin!(b.read(&mut [0; 1]))).await.is_none());
    }
    assert_eq!(*written.lock().unwrap(), before);
    assert_eq!(a.renewals(), (0, 0));
}

#[tokio::test]
async fn keys_are_renewed_by_bytes() {
    let (a, b) = duplex(100_000);
    let config = CONFIG.renewal_bytes(100_000);
    let (mut a, mut b) = ends(a, b, &config).await;
    let sent = data(60_000);
    // More often than the 16 times that a peer may renew without data.
    for _ in 0..40 {
        let mut received = vec![0; sent.len()];
        let (written, read) = tokio::join!(a.write_all(&sent), b.read_exact(&mut received));
        written.unwrap();
        read.unwrap();
        assert!(received == sent);
    }
    // Before the record that finds 100,000 bytes or more: every second one.
    assert_eq!((a.renewals().0, b.renewals().1), (19, 19));
}

/// The least that can be asked for is a renewal for each record, and one a second.
#[tokio::test(start_paused = true)]
async fn renewals_end() {
    let config = CONFIG.renewal_bytes(0).renewal_interval(Duration::ZERO);
    let (a, b) = duplex(100_000);
    let (mut a, mut b) = ends(a, b, &config).await;
    for i in 0..40 {
        a.write_all(b"data").await.unwrap();
        b.read_exact(&mut [0; 4]).await.unwrap();
        assert_eq!((a.renewals().0, b.renewals().1), (i, i));
    }
    // An end that hears of a renewal when it is due renews too. They do not go on for ever.
    advance(Duration::from_secs(1)).await;
    a.write_all(b"data").await.unwrap();
    b.read_exact(&mut [0; 4]).await.unwrap();
    let mut seen = Vec::new();
    for _ in 0..20 {
        assert!(once(pin!(a.read(&mut [0; 1]))).await.is_none());
        assert!(once(pin!(b.read(&mut [0; 1]))).await.is_none());
        seen.push((a.renewals(), b.renewals()));
    }
    assert_eq!(b.renewals().0, 1);
    assert!(
        seen[10..].iter().all(|renewals| *renewals == seen[19]),
        "{seen:?}"
    );
}

/// One task reads and another writes, both blocked at times, with renewals from both: nobody sleeps for ever.
#[tokio::test(start_paused = true)]
async fn tasks_wake_each_other() {
    let (a, b) = duplex(64);
    let config = CONFIG.renewal_interval(Duration::from_secs(1));
    let (a, b) = ends(a, b, &config).await;
    let sent = data(200_000);
    let run = |stream: Stream<DuplexStream>, pause: u64| {
        let sent = sent.clone();
        async move {
            let (mut reader, mut writer) = split(stream);
            let expected = sent.clone();
            let writing = tokio::spawn(async move {
                for (i, piece) in sent.chunks(1000).enumerate() {
                    writer.write_all(piece).await.unwrap();
                    if i % 16 == 0 {
                        sleep(Duration::from_secs(pause)).await;
                    }
                }
                writer.shutdown().await.unwrap();
                writer
            });
            let mut received = Vec::new();
            reader.read_to_end(&mut received).await.unwrap();
            assert!(received == expected);
            let stream = reader.unsplit(writing.await.unwrap());
            stream.renewals()
        }
    };
    let both = async { tokio::join!(run(a, 1), run(b, 2)) };
    let (a, b) = tokio::time::timeout(Duration::from_hours(1), both)
        .await
        .expect("somebody sleeps for ever");
    assert!(a.0 > 2 && b.0 > 2 && a.0 == b.1 && b.0 == a.1, "{a:?} {b:?}");
}
