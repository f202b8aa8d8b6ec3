//! Standard input and output through a tunnel.

use std::fmt::Display;
use std::io;
use std::time::Duration;

use tokio::time::timeout;
use veriplex::hybrid::{PrivateKey, PublicKey};
use veriplex_files::error::Error;

use super::CONFIG;
use super::failed::{CLOSED, Failed};
use super::metrics::Reason;
use super::relay::{Bytes, Failure, relay};
use super::runtime::runtime;
use super::socket::{Address, Carries};
use super::stdio::Stdio;

/// Passes standard input and output through a tunnel to a server. The timeout applies to connecting and to the
/// handshake, each.
///
/// # Errors
///
/// If it is not that server, the tunnel was cut, or the system fails.
pub fn pipe(
    mut plain: Stdio,
    server: &Address,
    limit: Duration,
    key: &PrivateKey,
    peer: &PublicKey,
) -> Result<(), Error> {
    let shown = server.to_string();
    let failed = |error: &dyn Display| Error::io(&shown, error);
    let runtime = runtime()?;
    let result = runtime.block_on(async {
        let socket = server.connect(Carries::Records, limit).await;
        let socket = socket.map_err(|error| failed(&error))?;
        let tunnel = timeout(limit, crate::connect(socket, &CONFIG, key, peer))
            .await
            .map_err(|_| failed(&"timed out"))?;
        let mut tunnel = tunnel.map_err(|error| match error {
            crate::Error::Verification => Error::unverified(&shown, error),
            crate::Error::Io(ref cause) if cause.kind() == io::ErrorKind::UnexpectedEof => {
                failed(&format_args!("{error}{CLOSED}"))
            }
            error => failed(&error),
        })?;
        match relay(&mut plain, &mut tunnel, &Bytes::default()).await {
            Ok(()) => Ok(()),
            Err(Failure::Connection(error)) => Err(Error::write("standard input or output", &error)),
            Err(failure) => match Failed::from(failure) {
                Failed {
                    reason: Reason::Other,
                    why,
                    ..
                } => Err(failed(&why)),
                Failed { why, .. } => Err(Error::unverified(&shown, why)),
            },
        }
    });
    // A thread may wait for standard input.
    runtime.shutdown_background();
    result
}
