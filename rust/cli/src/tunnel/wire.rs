//! How a tunnel begins.
//!
//! | from | bytes | what |
//! |---|---|---|
//! | client | 32 | request of `veriplex::handshake`, domain `veriplex.tunnel.v1` |
//! | server | 80 | response |
//! | client | 48 | confirmation |
//! | client | 19 | the first block of its aestream, one byte: the version, 1 |
//! | server | 19 | the first block of its aestream, one byte: the [`Answer`] |
//!
//! After that both streams carry the data of the connection. The client's first block proves that it has the private
//! key for the public key that it sent. The server does not connect to its destination before. Its answer proves the
//! same of the server.

use std::collections::HashSet;
use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use veriplex::aestream::{HEADER_LEN, OVERHEAD, Opener, Sealer};
use veriplex::handshake::{CONFIRMATION_LEN, Initiator, REQUEST_LEN, RESPONSE_LEN, Responder, Session};
use veriplex::keys::{PrivateKey, PublicKey};
use veriplex::{Label, TAG_LEN, label};

use super::Reason;

const DOMAIN: Label<'static> = label!("veriplex.tunnel.v1");
const VERSION: u8 = 1;

/// The server's answer to a client that it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Answer {
    Connected = 0,
    Unreachable = 1,
    Busy = 2,
}

/// The streams of a tunnel.
pub struct Channel {
    pub sealer: Sealer,
    pub opener: Opener,
    pub peer: PublicKey,
}

/// The server's part, before the answer.
pub async fn accept(
    stream: &mut TcpStream,
    key: &PrivateKey,
    peers: &HashSet<PublicKey>,
) -> Result<Channel, Reason> {
    let request: [u8; REQUEST_LEN] = read(stream).await?;
    let (responder, response) =
        Responder::respond(DOMAIN, key, &request, &mut veriplex::os_rng()).map_err(no_handshake)?;
    write(stream, &response).await?;
    let confirmation: [u8; CONFIRMATION_LEN] = read(stream).await?;
    let claimed = responder.receive(&confirmation).map_err(no_handshake)?;
    allowed(claimed.peer(), peers)?;
    let mut channel = Channel::new(claimed.accept());
    match channel.read_byte(stream).await? {
        VERSION => Ok(channel),
        version => Err(format!(
            "{}: version {version} of the tunnel is not known",
            channel.peer
        )),
    }
}

/// The client's part.
pub async fn connect(
    stream: &mut TcpStream,
    key: &PrivateKey,
    peers: &HashSet<PublicKey>,
) -> Result<Channel, Reason> {
    let (initiator, request) = Initiator::start(DOMAIN, key, &mut veriplex::os_rng());
    write(stream, &request).await?;
    let response: [u8; RESPONSE_LEN] = read(stream).await?;
    let claimed = initiator.receive(&response).map_err(no_handshake)?;
    allowed(claimed.peer(), peers)?;
    let (session, confirmation) = claimed.accept();
    let mut channel = Channel::new(session);
    let first = channel.seal_byte(VERSION);
    write(stream, &[&confirmation[..], &first].concat()).await?;
    let answer = channel.read_byte(stream).await;
    match answer.map_err(|reason| format!("{reason}; does the server allow this key?"))? {
        0 => Ok(channel),
        1 => Err("the server cannot reach its destination".into()),
        2 => Err("the server has too many connections".into()),
        answer => Err(format!("answer {answer} of the server is not known")),
    }
}

impl Channel {
    fn new(Session { send, recv, peer }: Session) -> Self {
        Self {
            sealer: Sealer::new(send),
            opener: Opener::new(recv),
            peer,
        }
    }

    pub async fn answer(&mut self, stream: &mut TcpStream, answer: Answer) -> Result<(), Reason> {
        let block = self.seal_byte(answer as u8);
        write(stream, &block).await
    }

    fn seal_byte(&mut self, byte: u8) -> [u8; OVERHEAD + 1] {
        let mut block = [0; OVERHEAD + 1];
        Sealer::room(&mut block).copy_from_slice(&[byte]);
        self.sealer.seal_block(&mut block).expect("a block of one byte");
        block
    }

    /// Reads a block of one byte; its length is not believed before.
    async fn read_byte(&mut self, stream: &mut TcpStream) -> Result<u8, Reason> {
        let mut header: [u8; HEADER_LEN] = read(stream).await?;
        self.opener.open(&mut header).map_err(unverified)?;
        if self.opener.wanted() != 1 + TAG_LEN {
            return Err(unverified(()));
        }
        let mut block: [u8; 1 + TAG_LEN] = read(stream).await?;
        match self.opener.open(&mut block) {
            Ok([byte]) => Ok(*byte),
            _ => Err(unverified(())),
        }
    }
}

fn allowed(peer: &PublicKey, peers: &HashSet<PublicKey>) -> Result<(), Reason> {
    if peers.contains(peer) {
        return Ok(());
    }
    Err(format!("{peer} is not allowed, or somebody else used it"))
}

async fn read<const N: usize>(stream: &mut TcpStream) -> Result<[u8; N], Reason> {
    let mut bytes = [0; N];
    match stream.read_exact(&mut bytes).await {
        Ok(_) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Err("closed during the handshake".into())
        }
        Err(error) => Err(error.to_string()),
    }
}

async fn write(stream: &mut TcpStream, bytes: &[u8]) -> Result<(), Reason> {
    stream.write_all(bytes).await.map_err(|error| error.to_string())
}

fn no_handshake(_: veriplex::Error) -> Reason {
    "not a handshake of this version of veriplex".into()
}

fn unverified<E>(_: E) -> Reason {
    "does not have the private key of the public key that it sent".into()
}
