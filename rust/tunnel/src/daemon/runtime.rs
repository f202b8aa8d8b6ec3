//! The threads.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{io, thread};

use tokio::runtime::{Builder, Runtime};
use veriplex_files::error::Error;

/// Threads for looking up names and waiting for standard input and output, and two to spare.
const OTHER_THREADS: usize = 4;

/// A runtime whose threads all exist from the start. Without a thread, Tokio panics or waits for one for ever, so start
/// as many threads first, to see that it works.
pub fn runtime() -> Result<Runtime, Error> {
    let failed = |error: io::Error| Error::io("threads", error);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let wait = Mutex::new(());
    thread::scope(|scope| {
        let waiting = wait.lock();
        // One more, for signals.
        let threads: io::Result<Vec<_>> = (0..=workers + OTHER_THREADS)
            .map(|_| thread::Builder::new().spawn_scoped(scope, || drop(wait.lock())))
            .collect();
        drop(waiting);
        // They have ended before Tokio starts its own.
        threads.map(|threads| threads.into_iter().for_each(|thread| drop(thread.join())))
    })
    .map_err(failed)?;
    let mut builder = Builder::new_multi_thread();
    let runtime = builder
        .worker_threads(workers)
        .thread_keep_alive(Duration::from_secs(u32::MAX.into()))
        .enable_io()
        .enable_time()
        .build()
        .map_err(|error| Error::io("runtime", error))?;
    let wait = Arc::new(Mutex::new(()));
    let waiting = wait.lock();
    let (sender, started) = std::sync::mpsc::channel();
    for _ in 0..OTHER_THREADS {
        let (wait, sender) = (wait.clone(), sender.clone());
        runtime.spawn_blocking(move || {
            let _ = sender.send(());
            drop(wait.lock());
        });
    }
    for _ in 0..OTHER_THREADS {
        let begun = started.recv_timeout(Duration::from_secs(10));
        begun.map_err(|_| failed(io::ErrorKind::WouldBlock.into()))?;
    }
    drop(waiting);
    Ok(runtime)
}
