//! What goes through a tunnel: the bytes of a TCP connection, each direction with an end of its own.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use veriplex::TAG_LEN;
use veriplex::aestream::{HEADER_LEN, MAX_BLOCK_LEN, OVERHEAD, Opener, Sealer};
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
        block.reserve_exact(MAX_BLOCK_LEN + OVERHEAD - block.len());
        block.resize(HEADER_LEN + MAX_BLOCK_LEN, 0);
        match from.try_read(&mut block[HEADER_LEN..]) {
            Ok(0) => break,
            Ok(n) => {
                block.truncate(HEADER_LEN + n);
                block.resize(OVERHEAD + n, 0);
                sealer.seal_block(&mut block).map_err(|error| error.to_string())?;
                to.write_all(&block).await.map_err(in_tunnel)?;
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
    let mut block = Zeroizing::new(Vec::new());
    loop {
        let mut header = [0; HEADER_LEN];
        let n = loop {
            match from.try_read(&mut header) {
                Ok(n) => break n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    block = Zeroizing::new(Vec::new());
                    from.readable().await.map_err(in_tunnel)?;
                }
                Err(error) => return Err(in_tunnel(error)),
            }
        };
        from.read_exact(&mut header[n..]).await.map_err(in_tunnel)?;
        let body = opener.header(header).map_err(unverified)?;
        // At most 64 KiB, whatever the header says. Reserved, because a vector that grows leaves copies.
        let room = MAX_BLOCK_LEN + TAG_LEN - block.len();
        block.reserve_exact(room);
        block.resize(body.sealed_len(), 0);
        from.read_exact(&mut block).await.map_err(in_tunnel)?;
        match body.open(&mut block).map_err(unverified)? {
            Some(plaintext) => to.write_all(plaintext).await.map_err(in_connection)?,
            None => break,
        }
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
