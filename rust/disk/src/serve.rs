//! An encrypted image as a block device for NBD clients of this machine.

use std::fmt::{Display, Write as _};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, Once, PoisonError, RwLock, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use veriplex::with_wiped_stack;
use veriplex_files::crypt::Secret;
use veriplex_files::error::{Error, warn};
use veriplex_files::socket_file::SocketFile;
use veriplex_files::temporary::{hand_over, is_ignored};
use veriplex_files::terminal_quoting::quoted;
use zeroize::Zeroizing;

use super::Direction;
use super::copy::{self, How, Opened};
use super::header::Geometry;
use super::image::{self, Access};
use super::nbd::{self, Device, Stream};

/// How many connections there may be.
const MAX_CONNECTIONS: usize = 32;
/// How many lines wait for a reader of standard error.
const MAX_LINES: usize = 100;
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// An open image, shared by all connections.
pub struct Export {
    opened: Opened,
    is_read_only: bool,
    can_trim: bool,
    /// Whether a client has written.
    is_changed: AtomicBool,
    /// Stops all requests: one may otherwise write zeros for minutes.
    is_ending: AtomicBool,
    /// Locks sectors that are written in part: a concurrent access would see half a sector.
    writing: RwLock<()>,
    /// That the header cannot be brought up to date is told once, and again at the end.
    outdated: Once,
    log: Log,
}

/// Lines for standard error. Nobody waits for them to be read; unread ones are lost.
struct Log {
    lines: SyncSender<Option<String>>,
    is_done: Mutex<Receiver<()>>,
}

impl Log {
    fn start() -> io::Result<Self> {
        let (lines, queue) = sync_channel::<Option<String>>(MAX_LINES);
        let (done, is_done) = sync_channel(1);
        thread::Builder::new().spawn(move || {
            queue.iter().map_while(|line| line).for_each(warn);
            drop(done);
        })?;
        Ok(Self {
            lines,
            is_done: Mutex::new(is_done),
        })
    }

    fn line(&self, line: impl Display) {
        let _ = self.lines.try_send(Some(line.to_string()));
    }

    /// Gives the remaining lines a moment to be read.
    fn end(&self) {
        if self.lines.try_send(None).is_ok() {
            let is_done = self.is_done.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = is_done.recv_timeout(Duration::from_secs(1));
        }
    }
}

impl Export {
    pub fn new(opened: Opened, is_read_only: bool, can_trim: bool) -> io::Result<Self> {
        Ok(Self {
            opened,
            is_read_only,
            can_trim,
            is_changed: AtomicBool::new(false),
            is_ending: AtomicBool::new(false),
            writing: RwLock::new(()),
            outdated: Once::new(),
            log: Log::start()?,
        })
    }

    /// The sectors that have these bytes: the number of the first, where they begin, their length, and what is before the
    /// bytes.
    fn sectors(&self, at: u64, len: usize) -> Sectors {
        let sector_len = self.opened.sectors().geometry.sector_len;
        let first = at / sector_len as u64;
        let start = first * sector_len as u64;
        let before = usize::try_from(at - start).expect("less than a sector");
        Sectors {
            first,
            place: self.opened.sectors().geometry.offset + start,
            before,
            len: (before + len).next_multiple_of(sector_len),
        }
    }

    /// Tells the server's user; the client learns only that something failed.
    fn reported<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| self.log.line(format_args!("{}: {error}", self.opened.image.name)))
    }

    fn decrypt(&self, first: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.opened.sectors().apply(Direction::Decrypt, first, bytes)
    }

    fn read_sectors(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        let Sectors {
            first,
            place,
            before,
            len,
        } = self.sectors(at, buffer.len());
        let read = |bytes: &mut [u8]| {
            let _reading = self.writing.read().unwrap_or_else(PoisonError::into_inner);
            self.opened.image.read_at(place, bytes)
        };
        if len == buffer.len() {
            read(buffer)?;
            return self.decrypt(first, buffer);
        }
        let mut sectors = Zeroizing::new(vec![0_u8; len]);
        read(&mut sectors)?;
        self.decrypt(first, &mut sectors)?;
        buffer.copy_from_slice(&sectors[before..][..buffer.len()]);
        Ok(())
    }

    fn write_sectors(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let Sectors {
            first,
            place,
            before,
            len,
        } = self.sectors(at, bytes.len());
        let encrypt = |bytes: &mut [u8]| self.opened.sectors().apply(Direction::Encrypt, first, bytes);
        if len == bytes.len() {
            encrypt(bytes)?;
            let _writing = self.writing.write().unwrap_or_else(PoisonError::into_inner);
            return self.opened.image.write_at(place, bytes);
        }
        let mut sectors = Zeroizing::new(vec![0_u8; len]);
        let sector_len = self.opened.sectors().geometry.sector_len;
        let last = len / sector_len - 1;
        let is_whole = [before == 0, before + bytes.len() == len];
        let _writing = self.writing.write().unwrap_or_else(PoisonError::into_inner);
        // The rest of the first and last sectors stays.
        let mut read = |i: usize| {
            let sector = &mut sectors[i * sector_len..][..sector_len];
            self.opened
                .image
                .read_at(place + (i * sector_len) as u64, sector)?;
            self.decrypt(first + i as u64, sector)
        };
        if !is_whole[0] {
            read(0)?;
        }
        if !is_whole[1] && (last > 0 || is_whole[0]) {
            read(last)?;
        }
        sectors[before..][..bytes.len()].copy_from_slice(bytes);
        encrypt(&mut sectors)?;
        self.opened.image.write_at(place, &sectors)
    }
}

impl Export {
    /// Synchronises what was written, and updates the header.
    fn end(&self) -> Result<(), Error> {
        if self.is_read_only {
            return Ok(());
        }
        // No sector that is half written.
        let _reading = self.writing.read().unwrap_or_else(PoisonError::into_inner);
        let image = &self.opened.image;
        image.sync().map_err(|error| Error::io(&image.name, error))?;
        image.check_there()?;
        // With --no-check it may be the header of another disk.
        if self.is_changed.load(Ordering::Relaxed) {
            self.opened.update_header()?;
        }
        Ok(())
    }
}

struct Sectors {
    first: u64,
    place: u64,
    before: usize,
    len: usize,
}

impl Device for Export {
    fn len(&self) -> u64 {
        self.opened.sectors().geometry.len
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn block_len(&self) -> u32 {
        u32::try_from(self.opened.sectors().geometry.sector_len).expect("at most 65536")
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.reported(self.read_sectors(at, buffer))
    }

    fn write(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        if self.is_ending.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        self.is_changed.store(true, Ordering::Relaxed);
        self.reported(self.write_sectors(at, bytes))
    }

    fn can_trim(&self) -> bool {
        self.can_trim
    }

    /// Makes a hole of the whole sectors among these bytes, which then decrypt to noise.
    fn trim(&self, at: u64, len: u32) -> io::Result<()> {
        let Geometry {
            sector_len, offset, ..
        } = self.opened.sectors().geometry;
        let sector_len = sector_len as u64;
        let (start, end) = (at.next_multiple_of(sector_len), at + u64::from(len));
        let Some(len) = (end - end % sector_len).checked_sub(start).filter(|&len| len > 0) else {
            return Ok(());
        };
        self.is_changed.store(true, Ordering::Relaxed);
        let _writing = self.writing.write().unwrap_or_else(PoisonError::into_inner);
        self.reported(self.opened.image.punch_at(offset + start, len))
    }

    fn flush(&self) -> io::Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        self.reported(self.opened.image.sync())?;
        // The server may not come to its end.
        if self.is_changed.load(Ordering::Relaxed)
            && !self.opened.is_known()
            && let Err(error) = self.end()
        {
            // What was written is on the disk all the same.
            self.outdated.call_once(|| self.log.line(error));
        }
        Ok(())
    }
}

/// Where clients connect.
#[derive(Clone, Debug)]
pub enum Address {
    Unix(PathBuf),
    /// An address of this machine, since whoever can connect has the disk.
    Tcp(SocketAddr),
}

impl Address {
    /// A TCP address, which must be of this machine.
    pub fn tcp(text: &str) -> Result<Self, Error> {
        match text.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(Self::Tcp(address)),
            _ => Err(Error::usage(
                &quoted(Path::new(text)),
                "disk serve listens on loopback only (127.0.0.1:PORT or [::1]:PORT): NBD has no encryption and no authentication",
            )),
        }
    }
}

/// Accepting never waits.
enum Listener {
    /// The file must be dropped first.
    Unix(SocketFile, UnixListener),
    Tcp(TcpListener),
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(_, listener) => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }
}

impl Listener {
    fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(Self::Tcp(listener))
            }
            Address::Unix(path) => {
                // Nobody else can connect, not even before a mode is set.
                let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
                let bound = SocketFile::bind(path);
                rustix::process::umask(mask);
                bound.map(|(file, listener)| Self::Unix(file, listener))
            }
        }
    }

    /// As clients call it.
    fn uri(&self) -> io::Result<String> {
        match self {
            Self::Unix(file, _) => {
                let path = std::path::absolute(file.path())?;
                let bytes = path.as_os_str().as_encoded_bytes();
                let mut uri = String::from("nbd+unix:///?socket=");
                for &byte in bytes {
                    if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
                        uri.push(byte.into());
                    } else {
                        let _ = write!(uri, "%{byte:02X}"); // a string takes everything
                    }
                }
                Ok(uri)
            }
            Self::Tcp(listener) => Ok(format!("nbd://{}", listener.local_addr()?)),
        }
    }

    /// Waits for a client or a signal, and returns whether it was a signal.
    fn wait(&self, signalled: &UnixStream) -> io::Result<bool> {
        let mut both = [
            PollFd::new(signalled, PollFlags::IN),
            PollFd::new(self, PollFlags::IN),
        ];
        match poll(&mut both, None) {
            Ok(_) => Ok(!both[0].revents().is_empty()),
            // Perhaps by another signal.
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn accept(&self) -> io::Result<Connection> {
        // Some systems let connections inherit that accepting does not wait; their reads and writes must wait.
        let socket = match self {
            Self::Unix(_, listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                Socket::Unix(stream)
            }
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                Socket::Tcp(stream)
            }
        };
        Ok(Connection {
            socket: Arc::new(socket),
            until: Some(Instant::now() + HANDSHAKE),
        })
    }
}

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream
                .set_read_timeout(timeout)
                .and_then(|()| stream.set_write_timeout(timeout)),
            Self::Tcp(stream) => stream
                .set_read_timeout(timeout)
                .and_then(|()| stream.set_write_timeout(timeout)),
        }
    }

    /// Readers then find the end, and writers fail.
    fn shutdown(&self) {
        // It may already be closed.
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

struct Connection {
    socket: Arc<Socket>,
    /// The handshake's deadline, until it is over.
    until: Option<Instant>,
}

impl Connection {
    fn wait(&self) -> io::Result<()> {
        if let Some(until) = self.until {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.socket.set_timeout(Some(left))?;
        }
        Ok(())
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait()?;
        match &*self.socket {
            Socket::Unix(stream) => (&*stream).read(buffer),
            Socket::Tcp(stream) => (&*stream).read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait()?;
        match &*self.socket {
            Socket::Unix(stream) => (&*stream).write(bytes),
            Socket::Tcp(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Connection {
    fn established(&mut self) -> io::Result<()> {
        self.until = None;
        self.socket.set_timeout(None)
    }
}

/// The connections that there are.
#[derive(Default)]
struct Clients(Vec<Client>);

struct Client {
    /// Until the connection is closed.
    socket: Weak<Socket>,
    thread: JoinHandle<()>,
}

impl Clients {
    /// Serves one more client, if there are not too many.
    fn serve(&mut self, mut connection: Connection, export: &Arc<Export>, quiet: bool) -> io::Result<()> {
        self.0.retain(|client| !client.thread.is_finished());
        if self.0.len() >= MAX_CONNECTIONS {
            return Err(io::Error::other("too many connections"));
        }
        let socket = Arc::downgrade(&connection.socket);
        let export = export.clone();
        let thread = thread::Builder::new().spawn(move || {
            // Clients come and go; only those that break the protocol are reported.
            if let Err(error) = nbd::serve(&mut connection, &*export)
                && error.kind() == io::ErrorKind::InvalidData
                && !quiet
            {
                export.log.line(format_args!("disconnected a client: {error}"));
            }
        });
        // Not the system's own kind of error, which says that a try at something else may work.
        let failed = |error| io::Error::other(format!("cannot start a thread: {error}"));
        let thread = thread.map_err(failed)?;
        self.0.push(Client { socket, thread });
        Ok(())
    }

    /// Closes all connections, and waits for writes in progress.
    fn end(self, export: &Export) {
        export.is_ending.store(true, Ordering::Relaxed);
        for client in &self.0 {
            if let Some(socket) = client.socket.upgrade() {
                socket.shutdown();
            }
        }
        for client in self.0 {
            // A thread that panicked has dropped its data.
            let _ = client.thread.join();
        }
    }
}

/// Opens an image to serve it. No copy of a key is left on the stack.
pub fn open(
    path: &Path,
    how: &How<'_>,
    is_read_only: bool,
    can_trim: bool,
    secret: impl FnOnce() -> Result<Secret, Error>,
) -> Result<Arc<Export>, Error> {
    let is_read_only = is_read_only || image::is_read_only_device(path);
    // Before there are threads: starting one copies gaps of the stack.
    let access = if is_read_only { Access::Read } else { Access::Write };
    let opened = with_wiped_stack(|| copy::open(path, how, access, secret))?;
    let export = Export::new(opened, is_read_only, can_trim).map_err(|error| Error::io("threads", error))?;
    Ok(Arc::new(export))
}

/// Serves until SIGHUP, SIGINT or SIGTERM. Then nobody is connected, what was written is on the disk, and the keys are wiped, if nobody
/// else has the export.
#[allow(clippy::needless_pass_by_value)] // its keys are wiped at the end
pub fn serve(export: Arc<Export>, address: &Address, quiet: bool) -> Result<(), Error> {
    let name = match address {
        Address::Unix(path) => quoted(path),
        Address::Tcp(address) => address.to_string(),
    };
    let failed = |error: io::Error| Error::io(&name, error);
    let (signals, signalled) = UnixStream::pair().map_err(failed)?;
    signals.set_nonblocking(true).map_err(failed)?;
    let ends = [SIGHUP, SIGINT, SIGTERM].into_iter();
    let ends: Vec<_> = ends.filter(|&signal| !is_ignored(signal)).collect();
    hand_over(&ends, move |_| drop((&signals).write(&[0]))).map_err(failed)?;
    let listener = Listener::bind(address).map_err(failed)?;
    if !quiet {
        let uri = listener.uri().map_err(failed)?;
        let mut stdout = io::stdout();
        writeln!(stdout, "{uri}")
            .and_then(|()| stdout.flush())
            .map_err(|error| Error::write("standard output", &error))?;
    }
    let mut clients = Clients::default();
    while !listener.wait(&signalled).map_err(failed)? {
        let accepted = listener.accept();
        match accepted.and_then(|connection| clients.serve(connection, &export, quiet)) {
            Ok(()) => {}
            // The client has left.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => {
                export.log.line(format_args!("{name}: {error}"));
                // Without descriptors, for example, the next attempt fails too.
                thread::sleep(Duration::from_millis(50));
            }
        }
    }
    drop(listener);
    clients.end(&export);
    let done = export.end();
    export.log.end();
    done
}

#[cfg(test)]
mod tests {
    use std::fs;

    use veriplex::Key;

    use super::*;
    use veriplex_files::crypt::Job;

    fn served(folder: &Path) -> Arc<Export> {
        let path = folder.join("image");
        fs::write(&path, [7; 8192]).unwrap();
        let job = Job {
            input: &path,
            output: None,
            force: false,
            armor: false,
            show_progress: false,
        };
        let plan = copy::Plan {
            sector_len: 4096,
            offset: 0,
            len: None,
            cost: 0,
            is_checked: true,
        };
        let secret = || Ok(Secret::Key(Key::from([1; 32])));
        assert!(copy::encrypt(&job, None, &secret, &plan).is_ok());
        let how = How::Header {
            path: None,
            max_cost: 0,
            is_checked: true,
        };
        open(&folder.join("image.vpdisk"), &how, false, false, secret)
            .ok()
            .unwrap()
    }

    /// The rest of a long request is left.
    #[test]
    fn nothing_is_written_once_the_server_ends() {
        let folder = tempfile::TempDir::new().unwrap();
        let export = served(folder.path());
        assert!(export.write(0, &mut [8; 4096]).is_ok());
        Clients::default().end(&export);
        assert!(export.write(4096, &mut [8; 4096]).is_err());
        assert!(export.end().is_ok());
        let mut found = [0; 8192];
        export.read(0, &mut found).unwrap();
        assert!(found == [[8; 4096], [7; 4096]].concat()[..]);
    }

    /// The system reports lost writes only to the first sync.
    #[test]
    fn a_flush_that_failed() {
        let folder = tempfile::TempDir::new().unwrap();
        let export = served(folder.path());
        let header = folder.path().join("image.vpdisk.vphead");
        assert!(export.write(0, &mut [8; 8192]).is_ok() && export.flush().is_ok());
        let before = fs::read(&header).unwrap();
        let failed = export.opened.image.sync_by(|_| Err(Errno::IO.into()));
        assert!(failed.is_err());
        for _ in 0..2 {
            assert!(export.flush().is_err());
            assert!(export.write(0, &mut [9; 4096]).is_err());
            assert!(export.read(0, &mut [0; 10]).is_ok());
            assert!(export.end().is_err());
        }
        assert_eq!(fs::read(&header).unwrap(), before);
    }
}
