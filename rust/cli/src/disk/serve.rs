//! An encrypted image as a block device for NBD clients of this machine.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use zeroize::Zeroizing;

use super::Direction;
use super::header::Disk;
use super::image::Image;
use super::nbd::{self, Device, Stream};
use crate::error::{Error, Status, warn};
use crate::names::quoted;

/// How many connections there may be.
const MAX_CONNECTIONS: usize = 32;
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// An open image. All connections share it.
pub struct Export {
    image: Image,
    disk: Disk,
    is_read_only: bool,
    /// Nobody reads or writes a part of a sector that somebody else writes: neither would have a sector.
    writing: RwLock<()>,
}

impl Export {
    pub fn new(image: Image, disk: Disk, is_read_only: bool) -> Self {
        Self {
            image,
            disk,
            is_read_only,
            writing: RwLock::new(()),
        }
    }

    /// The sectors that have these bytes: the number of the first, where they begin, their length, and what is before the
    /// bytes.
    fn sectors(&self, at: u64, len: usize) -> Sectors {
        let sector_len = self.disk.geometry.sector_len;
        let first = at / sector_len as u64;
        let start = first * sector_len as u64;
        let before = usize::try_from(at - start).expect("less than a sector");
        Sectors {
            first,
            place: self.disk.geometry.offset + start,
            before,
            len: (before + len).next_multiple_of(sector_len),
        }
    }

    /// Tells whoever runs the server; the client learns only that something failed.
    fn told<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| warn(format_args!("{}: {error}", self.image.name)))
    }

    fn decrypt(&self, first: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.disk.apply(Direction::Decrypt, first, bytes)
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
            self.image.read_at(place, bytes)
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
        let encrypt = |bytes: &mut [u8]| self.disk.apply(Direction::Encrypt, first, bytes);
        if len == bytes.len() {
            encrypt(bytes)?;
            let _writing = self.writing.write().unwrap_or_else(PoisonError::into_inner);
            return self.image.write_at(place, bytes);
        }
        let mut sectors = Zeroizing::new(vec![0_u8; len]);
        let sector_len = self.disk.geometry.sector_len;
        let last = len / sector_len - 1;
        let is_whole = [before == 0, before + bytes.len() == len];
        let _writing = self.writing.write().unwrap_or_else(PoisonError::into_inner);
        // What the request does not have of the first and of the last sector stays.
        let mut read = |i: usize| {
            let sector = &mut sectors[i * sector_len..][..sector_len];
            self.image.read_at(place + (i * sector_len) as u64, sector)?;
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
        self.image.write_at(place, &sectors)
    }

    /// Waits for whoever writes, and lets nobody begin.
    fn stop(&self) -> io::Result<()> {
        let writing = self.writing.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::forget(writing);
        if self.is_read_only {
            Ok(())
        } else {
            self.image.sync()
        }
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
        self.disk.geometry.len
    }

    fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    fn block_len(&self) -> u32 {
        u32::try_from(self.disk.geometry.sector_len).expect("at most 65536")
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.told(self.read_sectors(at, buffer))
    }

    fn write(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.told(self.write_sectors(at, bytes))
    }

    fn flush(&self) -> io::Result<()> {
        if self.is_read_only {
            return Ok(());
        }
        self.told(self.image.sync())
    }
}

/// Where clients connect.
#[derive(Clone, Debug)]
pub enum Address {
    Unix(PathBuf),
    /// Of this machine: whoever can connect has the disk.
    Tcp(SocketAddr),
}

impl Address {
    /// The address of TCP, which must be of this machine.
    pub fn tcp(text: &str) -> Result<Self, Error> {
        match text.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(Self::Tcp(address)),
            Ok(_) => Err(Error::usage(
                text,
                "not an address of this machine: NBD neither encrypts nor asks who it is (127.0.0.1:PORT, [::1]:PORT)",
            )),
            Err(_) => Err(Error::usage(
                &quoted(Path::new(text)),
                "not an address (127.0.0.1:PORT, [::1]:PORT)",
            )),
        }
    }
}

enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

impl Listener {
    fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => TcpListener::bind(address).map(Self::Tcp),
            Address::Unix(path) => {
                // Without a name the system would choose one, in a place where everybody may connect.
                if path.as_os_str().is_empty() {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "no path"));
                }
                remove_abandoned(path)?;
                // Nobody else connects, not even before a mode could be set.
                let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
                let listener = UnixListener::bind(path);
                rustix::process::umask(mask);
                Ok(Self::Unix(listener?, path.clone()))
            }
        }
    }

    /// As clients call it.
    fn uri(&self) -> io::Result<String> {
        match self {
            Self::Unix(_, path) => {
                let path = std::path::absolute(path)?;
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

    fn accept(&self) -> io::Result<Connection> {
        let socket = match self {
            Self::Unix(listener, _) => Socket::Unix(listener.accept()?.0),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Socket::Tcp(stream)
            }
        };
        Ok(Connection {
            socket,
            until: Some(Instant::now() + HANDSHAKE),
        })
    }
}

/// Removes what a process that was killed left behind: a socket on which nobody listens.
fn remove_abandoned(path: &Path) -> io::Result<()> {
    if let Err(error) = UnixStream::connect(path)
        && error.kind() == io::ErrorKind::ConnectionRefused
        && fs::symlink_metadata(path)?.file_type().is_socket()
    {
        fs::remove_file(path)?;
    }
    Ok(())
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
}

struct Connection {
    socket: Socket,
    /// When the handshake must be over, while it is not.
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
        match &mut self.socket {
            Socket::Unix(stream) => stream.read(buffer),
            Socket::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.wait()?;
        match &mut self.socket {
            Socket::Unix(stream) => stream.write(bytes),
            Socket::Tcp(stream) => stream.write(bytes),
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

/// One of the connections that there may be.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(taken: &Arc<AtomicUsize>) -> Option<Self> {
        let before = taken.fetch_add(1, Ordering::Relaxed);
        let place = Self(taken.clone());
        (before < MAX_CONNECTIONS).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves until a signal ends it.
pub fn serve(export: Export, address: &Address, quiet: bool) -> Result<Status, Error> {
    let name = match address {
        Address::Unix(path) => quoted(path),
        Address::Tcp(address) => address.to_string(),
    };
    let failed = |error: io::Error| Error::io(&name, error);
    let export = Arc::new(export);
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    let listener = Listener::bind(address).map_err(failed)?;
    let socket = match &listener {
        Listener::Unix(_, path) => Some(path.clone()),
        Listener::Tcp(_) => None,
    };
    let stopped = export.clone();
    let stop = move || {
        if signals.forever().next().is_some() {
            let synchronised = stopped.stop();
            if let Some(path) = socket {
                let _ = fs::remove_file(path);
            }
            let status = synchronised.map_or_else(
                |error| Error::io(&stopped.image.name, error).report(),
                |()| Status::Ok,
            );
            process::exit(status as i32);
        }
    };
    thread::Builder::new().spawn(stop).map_err(failed)?;
    if !quiet {
        let uri = listener.uri().map_err(failed)?;
        let mut stdout = io::stdout();
        writeln!(stdout, "{uri}")
            .and_then(|()| stdout.flush())
            .map_err(|error| Error::write("standard output", &error))?;
    }
    let taken = Arc::new(AtomicUsize::new(0));
    loop {
        let accepted = listener.accept().and_then(|mut connection| {
            let Some(place) = Place::take(&taken) else {
                return Err(io::Error::other("too many connections"));
            };
            let export = export.clone();
            thread::Builder::new().spawn(move || {
                let _place = place;
                // Clients come and go. What was none is told.
                if let Err(error) = nbd::serve(&mut connection, &*export)
                    && error.kind() == io::ErrorKind::InvalidData
                    && !quiet
                {
                    warn(format_args!("a client was cut off: {error}"));
                }
            })?;
            Ok(())
        });
        if let Err(error) = accepted {
            if !quiet {
                warn(format_args!("{name}: {error}"));
            }
            // Without descriptors, for example, the next try fails as well.
            thread::sleep(Duration::from_millis(50));
        }
    }
}
