//! Lines on standard error that never make a connection wait. The queue drops and counts lines when it is full, or when
//! there are too many in a second. Strangers have their own share, so that they hide nobody else. One thread writes.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;
use veriplex_files::terminal_quoting::{json_line, line};

/// The form of lines in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For humans.
    Text,
    /// One JSON object for each line, with the time.
    Json,
}

/// How many lines of each kind wait for a reader of standard error.
const QUEUE: usize = 500;
/// How many lines of each kind are written in a second.
const RATE: u32 = 100;

/// Whom a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// A connection of an unknown peer.
    Stranger,
    /// A peer, or the program itself.
    Other,
}

#[derive(Clone)]
pub struct Log {
    messages: Sender<Message>,
    state: Arc<Mutex<State>>,
    format: Format,
}

enum Message {
    Line(About, Vec<u8>),
    /// Asks for an answer once everything before it is written.
    Finish(Sender<()>),
}

struct State {
    /// The second in which the lines are counted.
    since: Instant,
    shares: [Share; 2],
    dropped_in_all: u64,
}

/// Of the lines of one kind.
#[derive(Default)]
struct Share {
    in_second: u32,
    in_queue: usize,
    /// Since that was last said.
    dropped: u64,
}

impl Log {
    /// From now on, writes all events to standard error; with `quiet`, only warnings.
    ///
    /// # Errors
    ///
    /// If the system starts no thread.
    pub fn start(format: Format, quiet: bool) -> std::io::Result<Self> {
        let log = Self::to(std::io::stderr(), format)?;
        let level = if quiet {
            LevelFilter::WARN
        } else {
            LevelFilter::INFO
        };
        let builder = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(log.clone());
        // It is started once in a process.
        let _ = match format {
            Format::Text => tracing::subscriber::set_global_default(builder.event_format(Text).finish()),
            Format::Json => tracing::subscriber::set_global_default(
                builder
                    .json()
                    .flatten_event(true)
                    .with_target(false)
                    .with_current_span(false)
                    .with_span_list(false)
                    .finish(),
            ),
        };
        Ok(log)
    }

    fn to(out: impl Write + Send + 'static, format: Format) -> std::io::Result<Self> {
        let (messages, receiver) = channel();
        let state = Arc::new(Mutex::new(State {
            since: Instant::now(),
            shares: Default::default(),
            dropped_in_all: 0,
        }));
        let shared = state.clone();
        thread::Builder::new().spawn(move || write(out, &receiver, &shared, format))?;
        Ok(Self {
            messages,
            state,
            format,
        })
    }

    /// Waits until all lines are written, but at most a second, since perhaps nobody reads them.
    pub fn finish(&self) {
        let (sender, finished) = channel();
        if self.messages.send(Message::Finish(sender)).is_ok() {
            let _ = finished.recv_timeout(Duration::from_secs(1));
        }
    }

    /// Queues a line, with its end. Never waits.
    fn line(&self, about: About, line: Vec<u8>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.since.elapsed() >= Duration::from_secs(1) {
            state.since = Instant::now();
            for share in &mut state.shares {
                share.in_second = 0;
            }
        }
        let share = &mut state.shares[about as usize];
        share.in_second += 1;
        let has_room = share.in_second <= RATE && share.in_queue < QUEUE;
        if has_room && self.messages.send(Message::Line(about, line)).is_ok() {
            share.in_queue += 1;
        } else {
            share.dropped += 1;
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

/// Writes lines, and now and then how many are missing, until no sender is left.
fn write(mut out: impl Write, messages: &Receiver<Message>, state: &Mutex<State>, format: Format) {
    loop {
        let message = messages.recv_timeout(Duration::from_secs(1));
        let dropped = {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let is_line = if let Ok(Message::Line(about, _)) = message {
                state.shares[about as usize].in_queue -= 1;
                true
            } else {
                false
            };
            [About::Stranger, About::Other].map(|about| {
                let share = &mut state.shares[about as usize];
                // Once a second while there are lines.
                let is_late = !is_line || share.in_second <= RATE;
                let dropped = if is_late {
                    std::mem::take(&mut share.dropped)
                } else {
                    0
                };
                (about, dropped)
            })
        };
        // Lines that cannot be written are lost.
        for (about, dropped) in dropped {
            if dropped > 0 {
                let _ = out.write_all(missing(format, about, dropped).as_bytes());
            }
        }
        match message {
            Ok(Message::Line(_, line)) => drop(out.write_all(&line)),
            Ok(Message::Finish(sender)) => drop(sender.send(())),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// The line that says so. It is not an event, because that could be dropped too.
fn missing(format: Format, about: About, dropped: u64) -> String {
    let lines = match about {
        About::Stranger => "lines about unauthenticated clients",
        About::Other => "lines",
    };
    match format {
        Format::Text => format!("veriplex: {dropped} {lines} were dropped\n"),
        Format::Json => {
            let mut time = String::new();
            let _ = SystemTime.format_time(&mut Writer::new(&mut time));
            format!(
                "{{\"timestamp\":\"{time}\",\"level\":\"WARN\",\"message\":\"{lines} were dropped\",\
                 \"dropped\":{dropped}}}\n"
            )
        }
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(self, About::Other)
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> Line<'a> {
        let has = |name| metadata.fields().field(name).is_some();
        let is_stranger = has("source") && !has("peer");
        Line(
            self,
            if is_stranger {
                About::Stranger
            } else {
                About::Other
            },
        )
    }
}

/// For one event, which comes in one piece.
pub struct Line<'a>(&'a Log, About);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let line = match self.0.format {
            Format::Text => bytes.to_vec(),
            Format::Json => json_line(&String::from_utf8_lossy(bytes)).into(),
        };
        self.0.line(self.1, line);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// `veriplex: SOURCE: PEER: message name=value`.
struct Text;

#[derive(Default)]
struct Fields {
    source: String,
    peer: String,
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = match field.name() {
            "source" => write!(self.source, "{value:?}: "),
            "peer" => write!(self.peer, "{value:?}: "),
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.others, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl<S, N> FormatEvent<S, N> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut to: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let Fields {
            source,
            peer,
            message,
            others,
        } = fields;
        writeln!(
            to,
            "veriplex: {}",
            line(&format!("{source}{peer}{message}{others}"))
        )
    }
}

#[cfg(test)]
mod tests {
    use veriplex_files::terminal_quoting::is_printable;

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
        let log = Log::to(sink.clone(), Format::Text).unwrap();
        let start = Instant::now();
        for i in 0..10_000 {
            log.line(About::Stranger, format!("veriplex: line {i}\n").into());
        }
        // They use neither the time nor the places of others.
        log.line(About::Other, b"veriplex: line about a peer\n".into());
        assert!(start.elapsed() < Duration::from_secs(30), "nobody waits");
        let dropped = log.dropped();
        assert!(dropped >= 5000, "{dropped}");
        drop(blocked);
        // The lines that were not dropped are written, and the number of the others.
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
            let missing: u64 = text
                .lines()
                .filter_map(|line| {
                    line.strip_prefix("veriplex: ")?
                        .strip_suffix(" lines about unauthenticated clients were dropped")
                })
                .map(|number| number.parse::<u64>().unwrap())
                .sum();
            let lines = text
                .lines()
                .filter(|line| line.starts_with("veriplex: line "))
                .count();
            if missing == dropped {
                assert_eq!(lines, 10_001 - usize::try_from(dropped).unwrap());
                assert!(text.contains("line about a peer"), "{text}");
                break;
            }
            assert!(Instant::now() < deadline, "{text}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The end waits for a slow reader, but not for ever.
    #[test]
    fn the_last_lines_are_written() {
        let sink = Sink::default();
        let blocked = sink.0.lock().unwrap();
        let log = Log::to(sink.clone(), Format::Text).unwrap();
        for _ in 0..RATE {
            log.line(About::Other, b"line\n".into());
        }
        log.finish();
        assert!(blocked.is_empty());
        let finishing = thread::spawn(move || log.finish());
        drop(blocked);
        finishing.join().unwrap();
        assert_eq!(sink.0.lock().unwrap().len(), 5 * RATE as usize);
    }

    /// The text of one line, and its fields as JSON.
    fn written(format: Format, event: impl Fn()) -> String {
        let sink = Sink::default();
        let log = Log::to(sink.clone(), format).unwrap();
        let builder = tracing_subscriber::fmt().with_writer(log);
        match format {
            Format::Text => tracing::subscriber::with_default(builder.event_format(Text).finish(), event),
            Format::Json => {
                let builder = builder.json().flatten_event(true).with_target(false);
                tracing::subscriber::with_default(builder.finish(), event);
            }
        }
        let deadline = Instant::now() + Duration::from_mins(1);
        loop {
            let text = String::from_utf8(sink.0.lock().unwrap().clone()).unwrap();
            if text.ends_with('\n') {
                return text;
            }
            assert!(Instant::now() < deadline, "{text}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn an_event_is_one_line() {
        let event = || {
            let hostile = "Bob\n\u{1b}[8m\"\u{202e}";
            tracing::warn!(
                source = "192.0.2.7:1",
                peer = hostile,
                reason = "cut",
                sent = 3_u64,
                "{hostile}!"
            );
        };
        assert_eq!(
            written(Format::Text, event),
            "veriplex: 192.0.2.7:1: Bob \\u{1b}[8m\"\\u{202e}: Bob \\u{1b}[8m\"\\u{202e}! reason=cut sent=3\n"
        );
        let line = written(Format::Json, event);
        assert!(is_printable(line.trim_end()), "{line}");
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        for (name, expected) in [
            ("level", "WARN"),
            ("source", "192.0.2.7:1"),
            ("peer", "Bob\n\u{1b}[8m\"\u{202e}"),
            ("reason", "cut"),
            ("message", "Bob\n\u{1b}[8m\"\u{202e}!"),
        ] {
            assert_eq!(value[name], expected, "{line}");
        }
        assert_eq!(value["sent"], 3);
        let is_time = |value: &serde_json::Value| value.as_str().is_some_and(|time| time.ends_with('Z'));
        assert!(is_time(&value["timestamp"]), "{line}");
        let value: serde_json::Value = serde_json::from_str(&missing(Format::Json, About::Other, 7)).unwrap();
        assert!(value["dropped"] == 7 && is_time(&value["timestamp"]), "{value}");
    }
}
