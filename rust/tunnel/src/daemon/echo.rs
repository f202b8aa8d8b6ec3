//! A server to try tunnels with.

use std::sync::Arc;

use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tracing::info;
use veriplex_files::error::Error;

use super::log::{Format, Log};
use super::runtime::runtime;
use super::socket::{Carries, Listener, Passed};

/// Echoes what it receives, for a few clients at a time, for ever.
///
/// # Errors
///
/// If it cannot listen or start its threads.
pub fn echo(address: &str, quiet: bool) -> Result<(), Error> {
    Log::start(Format::Text, quiet).map_err(|error| Error::io("threads", error))?;
    runtime()?.block_on(async {
        let failed = |error| Error::io(address, error);
        let passed = Passed::default();
        let listeners = Listener::bind(&address.into(), Carries::Data, &passed).await;
        let mut serving = JoinSet::new();
        for listener in listeners.map_err(failed)? {
            info!("listening on {}", listener.name().map_err(failed)?);
            serving.spawn(serve(listener));
        }
        serving.join_all().await;
        Ok(())
    })
}

async fn serve(listener: Listener) {
    let places = Arc::new(Semaphore::new(100));
    loop {
        let client = listener.accept().await;
        let Ok(place) = places.clone().try_acquire_owned() else {
            continue;
        };
        tokio::spawn(async move {
            let (mut reader, mut writer) = tokio::io::split(client.socket);
            if tokio::io::copy(&mut reader, &mut writer).await.is_ok() {
                let _ = writer.shutdown().await;
            }
            drop(place);
        });
    }
}
