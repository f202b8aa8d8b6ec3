//! The tunnel beside TLS 1.3 as rustls has it, with the hybrid group X25519MLKEM768 and certificates on both sides: the
//! handshake, and the transfer of 100 MiB.

use std::hint::black_box;
use std::sync::{Arc, OnceLock};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ClientConnection, Connection, NamedGroup, RootCertStore, ServerConfig, ServerConnection,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::{TlsAcceptor, TlsConnector};
use veriplex::hybrid::PrivateKey;
use veriplex::tunnel::{DATA_OVERHEAD, Initiator, Responder};
use veriplex::{Label, label, os_rng};
use veriplex_tunnel::{Config, accept, connect};

use crate::{Plan, long};

const DOMAIN: Label<'static> = label!("bench");
/// Of one write, and of the buffer between the ends.
const STEP: usize = 64 << 10;
const BUFFER: usize = 256 << 10;
const NAME: &str = "localhost";
const TABLE: &str = "Connections";
const TLS: &str = "TLS 1.3 of rustls, X25519MLKEM768";

/// Of a transfer.
fn len() -> usize {
    long(100 << 20)
}

/// The keys of both sides, for either protocol.
struct Keys {
    alice: PrivateKey,
    bob: PrivateKey,
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
}

impl Keys {
    fn new() -> Self {
        let mut provider = aws_lc_rs::default_provider();
        provider.kx_groups = vec![aws_lc_rs::kx_group::X25519MLKEM768];
        let provider = Arc::new(provider);
        let [client, server] = [(); 2].map(|()| generate_simple_self_signed([NAME.to_owned()]).unwrap());
        let trusts = |other: &CertifiedKey<_>| {
            let mut roots = RootCertStore::empty();
            roots.add(other.cert.der().clone()).unwrap();
            Arc::new(roots)
        };
        let own = |own: &CertifiedKey<rcgen::KeyPair>| {
            let key = PrivateKeyDer::try_from(own.signing_key.serialize_der()).unwrap();
            (vec![own.cert.der().clone()], key)
        };
        let verifier = WebPkiClientVerifier::builder_with_provider(trusts(&client), provider.clone());
        let (certificates, key) = own(&server);
        let server_config = ServerConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(certificates, key);
        let (certificates, key) = own(&client);
        let mut client_config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_root_certificates(trusts(&server))
            .with_client_auth_cert(certificates, key)
            .unwrap();
        // Every handshake is a whole one.
        client_config.resumption = rustls::client::Resumption::disabled();
        let mut server_config = server_config.unwrap();
        server_config.send_tls13_tickets = 0;
        let [alice, bob] = [(); 2].map(|()| PrivateKey::generate(&mut os_rng()).unwrap());
        Self {
            alice,
            bob,
            client: client_config.into(),
            server: server_config.into(),
        }
    }
}

fn our_handshake(keys: &Keys) {
    let Keys { alice, bob, .. } = keys;
    let (initiator, request) = Initiator::start(DOMAIN, alice, bob.public_key(), &mut os_rng()).unwrap();
    let claimed = Responder::receive(DOMAIN, bob, request.as_slice()).unwrap();
    let (responder, response) = claimed.accept(&mut os_rng()).unwrap();
    let mut session = initiator.receive(response.as_slice()).unwrap();
    let mut record = [0; DATA_OVERHEAD];
    session.sender.seal(&mut record).unwrap();
    drop(black_box(responder.confirm(&mut record).unwrap().0));
}

/// Carries what one has to say to the other.
fn carry(from: &mut Connection, to: &mut Connection) {
    let mut bytes = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut bytes).unwrap();
    }
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        to.read_tls(&mut rest).unwrap();
        to.process_new_packets().unwrap();
    }
}

fn their_handshake(keys: &Keys) {
    let name = ServerName::try_from(NAME).unwrap();
    let mut client = Connection::from(ClientConnection::new(keys.client.clone(), name).unwrap());
    let mut server = Connection::from(ServerConnection::new(keys.server.clone()).unwrap());
    while client.is_handshaking() || server.is_handshaking() {
        carry(&mut client, &mut server);
        carry(&mut server, &mut client);
    }
    for side in [&client, &server] {
        let group = side.negotiated_key_exchange_group().unwrap().name();
        assert_eq!(group, NamedGroup::X25519MLKEM768);
        assert!(side.peer_certificates().is_some());
    }
    black_box((client, server));
}

async fn send(mut to: impl AsyncWrite + Unpin) {
    let piece = vec![0x5a; STEP];
    for _ in 0..len() / STEP {
        to.write_all(&piece).await.unwrap();
    }
    to.shutdown().await.unwrap();
}

async fn receive(mut from: impl AsyncRead + Unpin) {
    let mut piece = vec![0; STEP];
    let mut received = 0;
    loop {
        match from.read(&mut piece).await.unwrap() {
            0 => break,
            n => received += n,
        }
    }
    assert_eq!(received, len());
}

async fn transfer<A, B>(a: A, b: B)
where
    A: AsyncWrite + Send + Unpin + 'static,
    B: AsyncRead + Send + Unpin + 'static,
{
    let sending = tokio::spawn(send(a));
    let receiving = tokio::spawn(receive(b));
    receiving.await.unwrap();
    sending.await.unwrap();
}

#[derive(Clone, Copy)]
enum Through {
    Nothing,
    Tunnel,
    Tls,
}

async fn through<A, B>(what: Through, a: A, b: B, keys: &Keys)
where
    A: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    B: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    match what {
        Through::Nothing => transfer(a, b).await,
        Through::Tunnel => {
            let config = Config::new(DOMAIN);
            let (a, b) = tokio::join!(
                connect(a, &config, &keys.alice, keys.bob.public_key()),
                accept(b, &config, &keys.bob, |_| true),
            );
            transfer(a.unwrap(), b.unwrap()).await;
        }
        Through::Tls => {
            let name = ServerName::try_from(NAME).unwrap();
            let (connector, acceptor) = (
                TlsConnector::from(keys.client.clone()),
                TlsAcceptor::from(keys.server.clone()),
            );
            let (a, b) = tokio::join!(connector.connect(name, a), acceptor.accept(b));
            transfer(a.unwrap(), b.unwrap()).await;
        }
    }
}

/// Two ends of a TCP connection of this machine.
async fn loopback() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (a, b) = tokio::join!(TcpStream::connect(address), listener.accept());
    let (a, b) = (a.unwrap(), b.unwrap().0);
    a.set_nodelay(true).unwrap();
    b.set_nodelay(true).unwrap();
    (a, b)
}

fn runtime() -> Arc<Runtime> {
    let mut builder = Builder::new_multi_thread();
    Arc::new(builder.worker_threads(2).enable_all().build().unwrap())
}

fn keys() -> Arc<Keys> {
    static KEYS: OnceLock<Arc<Keys>> = OnceLock::new();
    KEYS.get_or_init(|| Arc::new(Keys::new())).clone()
}

fn handshake() -> Plan {
    let (keys, same) = (keys(), keys());
    let plan = Plan::new(TABLE, "`tunnel`: handshake, both sides on one core", move || {
        our_handshake(&keys);
    });
    plan.peer(TLS, move || their_handshake(&same))
}

pub fn all() -> Vec<Plan> {
    [handshake()].into_iter().chain(transfers()).collect()
}

/// On two cores.
fn transfers() -> Vec<Plan> {
    let runtime = runtime();
    let plan = |over_tcp: bool| {
        let transfer = |what| {
            let (runtime, keys) = (runtime.clone(), keys());
            move || {
                runtime.block_on(async {
                    if over_tcp {
                        let (a, b) = loopback().await;
                        through(what, a, b, &keys).await;
                    } else {
                        let (a, b) = duplex(BUFFER);
                        through(what, a, b, &keys).await;
                    }
                });
            }
        };
        let below = if over_tcp {
            "loopback TCP"
        } else {
            "a duplex of tokio"
        };
        let new = |what: &str, run| {
            let name = format!("{what} over {below}, {} MiB", len() >> 20);
            Plan::new(TABLE, name, run).bytes(len())
        };
        let plain = new("plain", transfer(Through::Nothing));
        let name = plain.own.name.clone();
        let tunnel = new("`tunnel`", transfer(Through::Tunnel))
            .limit("plain", move |measured| measured.row(&name))
            .peer(TLS, transfer(Through::Tls));
        [plain, tunnel]
    };
    [false, true].into_iter().flat_map(plan).collect()
}
