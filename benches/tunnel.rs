//! The tunnel: a handshake with both sides on one core, records one by one and at once, and the transfer of 100 MiB between
//! two tasks on two cores, beside the same without a tunnel and beside the `aestream` of a `handshake`. Compare within one
//! run.

use std::hint::black_box;

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use veriplex::aestream::{MAX_BLOCK_LEN, OVERHEAD, Opener, Sealer};
use veriplex::hybrid::PrivateKey;
use veriplex::tunnel::{DATA_OVERHEAD, Initiator, MAX_DATA_LEN, Responder};
use veriplex::{Label, Protocol, label, os_rng, with_wiped_stack};
use veriplex_tunnel::{Config, accept, connect};

const DOMAIN: Label<'static> = label!("bench");
const LEN: usize = 100 << 20;
/// Of one write, and of the buffer between the ends.
const STEP: usize = 64 << 10;
const BUFFER: usize = 256 << 10;

fn keys() -> (PrivateKey, PrivateKey) {
    let key = || PrivateKey::generate(&mut os_rng()).unwrap();
    (key(), key())
}

fn handshake(c: &mut Criterion) {
    let (alice, bob) = keys();
    let mut group = c.benchmark_group("handshake");
    group.bench_function("both sides, up to the first record", |b| {
        b.iter(|| {
            let (initiator, request) =
                Initiator::start(DOMAIN, &alice, bob.public_key(), &mut os_rng()).unwrap();
            let claimed = Responder::receive(DOMAIN, &bob, request.as_slice()).unwrap();
            let (responder, response) = claimed.accept(&mut os_rng()).unwrap();
            let mut session = initiator.receive(response.as_slice()).unwrap();
            let mut record = [0; DATA_OVERHEAD];
            session.sender.seal(&mut record).unwrap();
            black_box(responder.confirm(&mut record).unwrap().0)
        });
    });
    // A handshake does so six times, with both sides.
    group.bench_function("overwriting the stack once", |b| {
        b.iter(|| with_wiped_stack(|| black_box(())));
    });
    group.bench_function("a key pair", |b| b.iter(keys));
    group.finish();
}

/// 64 KiB of data, sealed and opened: as one record, and as eight that are computed together.
fn records(c: &mut Criterion) {
    let (alice, bob) = keys();
    let session = || {
        let (initiator, request) = Initiator::start(DOMAIN, &alice, bob.public_key(), &mut os_rng()).unwrap();
        let claimed = Responder::receive(DOMAIN, &bob, request.as_slice()).unwrap();
        let (responder, response) = claimed.accept(&mut os_rng()).unwrap();
        let mut session = initiator.receive(response.as_slice()).unwrap();
        let mut record = [0; DATA_OVERHEAD];
        session.sender.seal(&mut record).unwrap();
        (session, responder.confirm(&mut record).unwrap().0)
    };
    let mut group = c.benchmark_group("64 KiB in records");
    group.throughput(Throughput::Bytes(STEP.try_into().unwrap()));
    for count in [1, 8] {
        let (mut a, mut b) = session();
        let each = MAX_DATA_LEN / count + DATA_OVERHEAD;
        let mut records = vec![0x5a; each * count];
        group.bench_function(format!("{count}, sealed and opened"), |bencher| {
            bencher.iter(|| {
                a.sender.seal_many(&mut records, each).unwrap();
                let used = b.receiver.open_many(&mut records, &mut b.keys, |frame| {
                    black_box(frame);
                });
                assert_eq!(used, Ok(records.len()));
            });
        });
    }
    group.finish();
}

async fn send(mut to: impl AsyncWrite + Unpin) {
    let piece = vec![0x5a; STEP];
    for _ in 0..LEN / STEP {
        to.write_all(&piece).await.unwrap();
    }
    to.shutdown().await.unwrap();
}

async fn receive(mut from: impl AsyncRead + Unpin) {
    let mut piece = vec![0; STEP];
    let mut received = 0;
    // To its end, which the sender waits to be rid of.
    loop {
        match from.read(&mut piece).await.unwrap() {
            0 => break,
            n => received += n,
        }
    }
    assert_eq!(received, LEN);
}

/// Transfers through a tunnel over two streams.
async fn tunnelled<A, B>(a: A, b: B, keys: &(PrivateKey, PrivateKey))
where
    A: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    B: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let config = Config::new(DOMAIN);
    let (alice, bob) = keys;
    let (a, b) = tokio::join!(
        connect(a, &config, alice, bob.public_key()),
        accept(b, &config, bob, |_| true),
    );
    transfer(a.unwrap(), b.unwrap()).await;
}

async fn transfer<A, B>(a: A, b: B)
where
    A: AsyncWrite + Send + Unpin + 'static,
    B: AsyncRead + Send + Unpin + 'static,
{
    let sending = tokio::spawn(send(a));
    receive(b).await;
    sending.await.unwrap();
}

/// The blocks of an `aestream` over two streams, as a tunnel over `handshake` has them.
async fn streamed(mut a: impl AsyncWrite + Send + Unpin + 'static, mut b: impl AsyncRead + Send + Unpin) {
    let mut protocol = Protocol::new(DOMAIN);
    protocol.mix(label!("key"), &[7; 32]);
    let (mut sealer, mut opener) = (
        Sealer::from_protocol(protocol.clone()),
        Opener::from_protocol(protocol),
    );
    let sending = tokio::spawn(async move {
        let mut block = vec![0x5a; MAX_BLOCK_LEN + OVERHEAD];
        for _ in 0..LEN.div_ceil(MAX_BLOCK_LEN) {
            sealer.seal_block(&mut block).unwrap();
            a.write_all(&block).await.unwrap();
        }
        a.write_all(&sealer.finish().0).await.unwrap();
        a.shutdown().await.unwrap();
    });
    let mut block = vec![0; MAX_BLOCK_LEN + OVERHEAD];
    while !opener.is_finished() {
        let wanted = opener.wanted();
        b.read_exact(&mut block[..wanted]).await.unwrap();
        black_box(opener.open(&mut block[..wanted]).unwrap());
    }
    sending.await.unwrap();
}

/// Two ends of a TCP connection of this machine.
async fn loopback() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (a, b) = tokio::join!(TcpStream::connect(address), listener.accept());
    (a.unwrap(), b.unwrap().0)
}

fn transfers(c: &mut Criterion) {
    let runtime: Runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let keys = keys();
    let mut group = c.benchmark_group("transfer of 100 MiB");
    group.throughput(Throughput::Bytes(LEN.try_into().unwrap()));
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.bench_function("over a duplex, plain", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let (a, b) = duplex(BUFFER);
                transfer(a, b).await;
            });
        });
    });
    group.bench_function("over a duplex, aestream", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let (a, b) = duplex(BUFFER);
                streamed(a, b).await;
            });
        });
    });
    group.bench_function("over a duplex, tunnel", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let (a, b) = duplex(BUFFER);
                tunnelled(a, b, &keys).await;
            });
        });
    });
    group.bench_function("over loopback TCP, plain", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let (a, b) = loopback().await;
                transfer(a, b).await;
            });
        });
    });
    group.bench_function("over loopback TCP, tunnel", |b| {
        b.iter(|| {
            runtime.block_on(async {
                let (a, b) = loopback().await;
                tunnelled(a, b, &keys).await;
            });
        });
    });
    group.finish();
}

criterion_group!(benches, handshake, records, transfers);
criterion_main!(benches);
