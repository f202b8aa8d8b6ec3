//! The handshake over a stream.

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use veriplex::hybrid::{PrivateKey, PublicKey};
use veriplex::os_rng;
use veriplex::tunnel::{HEADER_LEN, Initiator, REQUEST_LEN, RESPONSE_LEN, Responder};
use zeroize::Zeroizing;

use crate::below::Below;
use crate::{Config, Error, Stream};

/// What a peer did wrong.
fn wrong(_: veriplex::Error) -> Error {
    Error::Verification
}

/// What our own generator did wrong.
fn generator(_: veriplex::Error) -> Error {
    Error::Generator
}

/// Connects, as the initiator, to the responder with the key `peer`. When this returns, the peer has proved that it has
/// the private key.
///
/// # Errors
///
/// [`Error::Verification`] if somebody else answers; [`Error::Io`] if the stream fails, or ends: a responder that does
/// not allow this key just closes it.
pub async fn connect<S>(
    stream: S,
    config: &Config,
    own: &PrivateKey,
    peer: &PublicKey,
) -> Result<Stream<S>, Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut stream = Below(stream);
    let (initiator, request) =
        Initiator::start(config.domain, own, peer, &mut os_rng()).map_err(generator)?;
    stream.write_all(request.as_slice()).await?;
    stream.flush().await?;
    let mut response = vec![0; RESPONSE_LEN];
    stream.read_exact(&mut response).await?;
    let session = initiator.receive(&response).map_err(wrong)?;
    let mut stream = Stream::new(stream, session, config);
    // The responder sends nothing before it gets a first record.
    stream.seal_empty()?;
    stream.flush().await?;
    Ok(stream)
}

/// Accepts a connection, as the responder, from an initiator whose key `allow` knows. When this returns, the peer has
/// proved that it has the private key.
///
/// `allow` is called once a request has shown that it was made with the private key; it may still be a copy of an old
/// one.
///
/// # Errors
///
/// [`Error::Verification`] if the peer does not speak this protocol in this domain, or to this key; [`Error::Refused`] if
/// its key is not allowed; [`Error::Io`] if the stream fails or ends.
pub async fn accept<S>(
    stream: S,
    config: &Config,
    own: &PrivateKey,
    allow: impl FnOnce(&PublicKey) -> bool,
) -> Result<Stream<S>, Error>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut stream = Below(stream);
    let mut request = vec![0; REQUEST_LEN];
    stream.read_exact(&mut request).await?;
    let claimed = Responder::receive(config.domain, own, &request).map_err(wrong)?;
    drop(request);
    if !allow(claimed.peer()) {
        return Err(Error::Refused);
    }
    let (responder, response) = claimed.accept(&mut os_rng()).map_err(generator)?;
    stream.write_all(response.as_slice()).await?;
    stream.flush().await?;
    drop(response);

    let mut header = [0; HEADER_LEN];
    stream.read_exact(&mut header).await?;
    let len = responder.record_len(&header).map_err(wrong)?;
    let mut record = Zeroizing::new(vec![0; len]);
    record[..HEADER_LEN].copy_from_slice(&header);
    stream.read_exact(&mut record[HEADER_LEN..]).await?;
    let (session, frame) = responder.confirm(&mut record).map_err(wrong)?;
    let mut stream = Stream::new(stream, session, config);
    stream.take_first(&frame)?;
    Ok(stream)
}
