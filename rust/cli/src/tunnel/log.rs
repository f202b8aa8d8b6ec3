//! Lines on standard error that never make a connection wait: a queue that drops and counts when it is full, or when there
//! are too many lines in a second. One thread writes.

use std::fmt::Display;
use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many lines wait for a reader of standard error.
const QUEUE: usize = 1000;
/// How many lines in a second.
const RATE: u32 = 100;

#[derive(Clone)]
pub struct Log {
    lines: SyncSender<String>,
    state: Arc<Mutex<State>>,
}

struct State {
    /// Of which second the lines are counted.
    since: Instant,
    count: u32,
    dropped: u64,
    dropped_in_all: u64,
}

impl Log {
    /// To standard error.
    pub fn new() -> Self {
        Self::to(std::io::stderr())
    }

    fn to(out: impl Write + Send + 'static) -> Self {
        let (lines, receiver) = sync_channel(QUEUE);
        let state = Arc::new(Mutex::new(State {
            since: Instant::now(),
            count: 0,
            dropped: 0,
            dropped_in_all: 0,
        }));
        let shared = state.clone();
        thread::spawn(move || write(out, &receiver, &shared));
        Self { lines, state }
    }

    /// Never waits.
    pub fn line(&self, text: impl Display) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.since.elapsed() >= Duration::from_secs(1) {
            (state.since, state.count) = (Instant::now(), 0);
        }
        state.count += 1;
        if state.count > RATE || self.lines.try_send(text.to_string()).is_err() {
            state.dropped += 1;
            state.dropped_in_all += 1;
        }
    }

    /// How many lines were dropped since the start.
    #[allow(clippy::misnamed_getters)] // it is a field of the state
    pub fn dropped(&self) -> u64 {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .dropped_in_all
    }
}

/// Writes lines, and now and then how many are missing, until nobody can send any.
fn write(mut out: impl Write, lines: &Receiver<String>, state: &Mutex<State>) {
    loop {
        let line = lines.recv_timeout(Duration::from_secs(1));
        let dropped = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            // While lines come, once a second.
            if line.is_ok() && state.count > RATE {
                0
            } else {
                std::mem::take(&mut state.dropped)
            }
        };
        // What cannot be written is lost.
        if dropped > 0 {
            let _ = writeln!(out, "veriplex: {dropped} lines were dropped");
        }
        match line {
            Ok(line) => drop(writeln!(out, "veriplex: {line}")),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes what is written while it is not locked.
    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_dropped_and_counted() {
        let sink = Sink::default();
        let blocked = sink.0.lock().unwrap();
        let log = Log::to(sink.clone());
        let start = Instant::now();
        for i in 0..10_000 {
            log.line(format_args!("line {i}"));
        }
        assert!(start.elapsed() < Duration::from_secs(30), "nobody waits");
        let dropped = log.dropped();
        assert!(dropped >= 5000, "{dropped}");
        drop(blocked);
        // Written are those that were not dropped, and their number.
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
            let missing: u64 = text
                .lines()
                .filter_map(|line| {
                    line.strip_prefix("veriplex: ")?
                        .strip_suffix(" lines were dropped")
                })
                .map(|number| number.parse::<u64>().unwrap())
                .sum();
            let lines = text
                .lines()
                .filter(|line| line.starts_with("veriplex: line "))
                .count();
            if missing == dropped {
                assert_eq!(lines, 10_000 - usize::try_from(dropped).unwrap());
                break;
            }
            assert!(Instant::now() < deadline, "{text}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
