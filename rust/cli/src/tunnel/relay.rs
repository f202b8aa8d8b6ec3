//! What goes through a tunnel: the bytes of a TCP connection, each direction with an end of its own.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use veriplex::TAG_LEN;
use veriplex::aestream::{MAX_BLOCK_LEN, OVERHEAD, Opener, Sealer};
use zeroize::Zeroizing;

use super::Reason;
use super::wire::Channel;

/// Relays until both directions have ended. If one fails, both connections are reset: a cut must not look like an end.
pub async fn relay(mut plain: TcpStream, mut tunnel: TcpStream, channel: Channel) -> Result<(), Reason> {
    let result = {
        let (plain_read, plain_write) = plain.split();
        let (tunnel_read, tunnel_write) = tunnel.split();
        tokio::try_join!(
            seal(plain_read, tunnel_write, channel.sealer),
            open(tunnel_read, plain_write, channel.opener),
        )
    };
    if result.is_err() {
        reset(&plain);
        reset(&tunnel);
    }
    result.map(drop)
}

/// Makes the drop of a connection a reset. If it cannot be done, the other end sees it closed.
pub fn reset(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}

/// From the connection into the tunnel.
async fn seal(from: ReadHalf<'_>, mut to: WriteHalf<'_>, mut sealer: Sealer) -> Result<(), Reason> {
    // Only while there is data: an idle connection has no buffer.
    let mut block = Vec::new();
    loop {
        if block.is_empty() {
            block = vec![0; MAX_BLOCK_LEN + OVERHEAD];
        }
        match from.try_read(Sealer::room(&mut block)) {
            Ok(0) => break,
            Ok(n) => {
                let block = &mut block[..n + OVERHEAD];
                sealer.seal_block(block).map_err(|error| error.to_string())?;
                to.write_all(block).await.map_err(in_tunnel)?;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                block = Vec::new();
                from.readable().await.map_err(in_connection)?;
            }
            Err(error) => return Err(in_connection(error)),
        }
    }
    let (end, _) = sealer.finish();
    to.write_all(&end).await.map_err(in_tunnel)?;
    to.shutdown().await.map_err(in_tunnel)
}

/// From the tunnel into the connection.
async fn open(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, mut opener: Opener) -> Result<(), Reason> {
    // Only while there is data; 64 KiB, whatever a header says.
    let mut buffer = Zeroizing::new(Vec::new());
    while !opener.is_finished() {
        if buffer.is_empty() {
            buffer = Zeroizing::new(vec![0; MAX_BLOCK_LEN + TAG_LEN]);
        }
        let input = &mut buffer[..opener.wanted()];
        match from.try_read(input) {
            Ok(n) => from.read_exact(&mut input[n..]).await.map_err(in_tunnel)?,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                buffer = Zeroizing::new(Vec::new());
                from.readable().await.map_err(in_tunnel)?;
                continue;
            }
            Err(error) => return Err(in_tunnel(error)),
        };
        let plaintext = opener.open(input).map_err(unverified)?;
        to.write_all(plaintext).await.map_err(in_connection)?;
    }
    to.shutdown().await.map_err(in_connection)
}

#[allow(clippy::needless_pass_by_value)] // as map_err gives it
fn in_connection(error: io::Error) -> Reason {
    format!("the connection: {error}")
}

#[allow(clippy::needless_pass_by_value)] // as map_err gives it
fn in_tunnel(error: io::Error) -> Reason {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return "the tunnel was cut".into();
    }
    format!("the tunnel: {error}")
}

fn unverified(_: veriplex::Error) -> Reason {
    "the tunnel: verification failed".into()
}
