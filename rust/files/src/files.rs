//! Inputs, and outputs that appear whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{OFlags, fchown, fcntl_getfl};
use rustix::process::{Gid, Uid};
use socket2::{SockRef, Type};
use veriplex::hazmat::RATE;
use zeroize::Zeroizing;

use crate::access_lists::{has_list, has_list_at, is_too_open, set_mode};
use crate::armor;
use crate::descriptors;
use crate::destination::{self, Destination, Place};
use crate::device;
use crate::error::{Error, warn};
use crate::folder;
use crate::locks::Locked;
use crate::open_folders;
use crate::overwritten::{self, Overwritten};
use crate::places::{self, Written, check_unwritten, folder_of, is_same, is_stdio, stream};
use crate::progress::Progress;
use crate::temporary::{self, Temporary};
use crate::terminal_quoting::quoted;

/// How much is read at a time: about 94 KiB, whole blocks of the duplex.
pub const CHUNK: usize = 1024 * RATE;
/// How much of a stream is read at a time, for work on all cores.
pub const PIECE: usize = 1 << 22;

/// Standard input.
pub fn stdin() -> Result<io::Stdin, Error> {
    let name = "standard input";
    check_open(io::stdin(), name, OFlags::RDONLY)?;
    unless_lost(io::stdin()).map_err(|error| Error::io(name, error))
}

/// Standard output, for results that would be lost without it.
pub fn stdout() -> Result<io::Stdout, Error> {
    claim_stdout()?;
    unless_lost(io::stdout()).map_err(|error| Error::io("standard output", error))
}

/// Fails if bytes read or written here would be lost.
fn unless_lost<S: AsFd>(stream: S) -> io::Result<S> {
    check_stream(&stream)?;
    unless_closed(stream)
}

/// Declares that standard output will be written, so that it is not a file that is read.
pub fn claim_stdout() -> Result<(), Error> {
    CLAIMED.store(true, Ordering::Relaxed);
    Sink::Stdout(io::stdout()).written("standard output").map(drop)
}

/// Whether standard output is written.
static CLAIMED: AtomicBool = AtomicBool::new(false);

/// Synchronises standard output at the end of the program, if it is written.
pub fn finish_stdout() -> Result<(), Error> {
    if !CLAIMED.load(Ordering::Relaxed) {
        return Ok(());
    }
    sync_stream(io::stdout()).map_err(|error| Error::write("standard output", &error))
}

/// Fails if writes to standard output or standard error would be lost.
pub fn check_outputs() -> Result<(), Error> {
    check_open(io::stdout(), "standard output", OFlags::WRONLY)?;
    check_open(io::stderr(), "standard error", OFlags::WRONLY)
}

/// An error unless a stream is open for this. The standard library takes such a one for closed, and hides that: reads find
/// the end, and writes succeed.
fn check_open(stream: impl AsFd, name: &str, how: OFlags) -> Result<(), Error> {
    let flags = fcntl_getfl(stream).map_err(|error| Error::io(name, error))?;
    #[cfg(target_os = "linux")]
    let is_place = flags.contains(OFlags::PATH);
    #[cfg(not(target_os = "linux"))]
    let is_place = false;
    let mode = flags & OFlags::RWMODE;
    if !is_place && (mode == how || mode == OFlags::RDWR) {
        return Ok(());
    }
    let use_ = if how == OFlags::RDONLY {
        "reading"
    } else {
        "writing"
    };
    Err(Error::io(name, format_args!("not open for {use_}")))
}

/// Before `main`, the runtime replaces a closed standard stream by `/dev/null`, opened for reading and writing. A shell
/// opens it for only one of these, to read nothing or to discard output.
fn unless_closed<S: AsFd>(stream: S) -> io::Result<S> {
    let both_ways = fcntl_getfl(&stream).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDWR);
    let is_null = || matches!((places::stream(&stream), fs::metadata("/dev/null")), (Ok(a), Ok(b)) if a.rdev() == b.rdev());
    if both_ways && is_null() {
        let reason = "closed, or /dev/null opened for reading and writing";
        return Err(io::Error::other(reason));
    }
    Ok(stream)
}

/// The stream, if it is a socket.
pub fn as_socket<S: AsFd>(stream: &S) -> Option<SockRef<'_>> {
    let socket = SockRef::from(stream);
    socket.r#type().is_ok().then_some(socket)
}

/// Refuses a socket of messages: the part of a message that does not fit into a buffer would be lost, and an empty
/// message would look like the end.
fn check_stream(stream: impl AsFd) -> io::Result<()> {
    match as_socket(&stream).map(|socket| socket.r#type()).transpose()? {
        None | Some(Type::STREAM) => Ok(()),
        Some(_) => Err(io::Error::other("a socket of messages is no stream")),
    }
}

/// Checks the end of a stream. Fails if it may have been a reset, since both directions of the socket are closed: the
/// system reports a reset only once, and may have reported it to a write, even of another process.
pub fn check_end(stream: impl AsFd) -> io::Result<()> {
    if as_socket(&stream).is_some_and(|socket| socket.peer_addr().is_err()) {
        let reason = "connection reset, or another program shut it for sending";
        return Err(io::Error::new(io::ErrorKind::ConnectionReset, reason));
    }
    Ok(())
}

/// Reads a stream, to an end that passes [`check_end`].
pub struct Ended<S>(pub S);

impl<S: Read + AsFd> Read for Ended<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buffer)?;
        if n == 0 && !buffer.is_empty() {
            check_end(&self.0)?;
        }
        Ok(n)
    }
}

/// Opens a file for reading: by its name, or where it stands if the command line names a descriptor.
pub fn open(path: &Path) -> io::Result<File> {
    let file = match descriptors::named(path) {
        Some(file) => unless_closed(file.try_clone()?)?,
        None => File::open(path)?,
    };
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "is a folder"));
    }
    check_stream(&file)?;
    Ok(file)
}

/// A file or standard input, its progress shown.
pub struct Input {
    reader: Reader,
    progress: Progress,
    /// For a regular file that is read from its beginning, with random access. Anything else is a stream.
    len: Option<u64>,
    is_armored: bool,
    /// For messages.
    pub name: String,
}

enum Reader {
    File(File),
    /// Only [`Input::pump`] reads it.
    Folder(Folder),
    Other(Box<dyn Read>),
}

struct Folder(PathBuf);

impl Read for Folder {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::IsADirectory.into())
    }
}

impl Input {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path, show_progress: bool) -> Result<Self, Error> {
        if is_stdio(path) {
            // Not locked: the list of a check may be read from it at the same time.
            let stdin = stdin()?;
            if let Ok(found) = stream(&stdin) {
                check_unwritten(&found, "standard input")?;
            }
            return Ok(Self {
                reader: Reader::Other(Box::new(Ended(stdin))),
                progress: Progress::new(show_progress, None),
                len: None,
                is_armored: false,
                name: "standard input".into(),
            });
        }
        match open(path) {
            Ok(file) => Self::opened(file, path, show_progress),
            Err(error) => Err(Error::io(&quoted(path), error)),
        }
    }

    /// The same of a file that is open.
    pub fn opened(file: File, path: &Path, show_progress: bool) -> Result<Self, Error> {
        let name = quoted(path);
        let found = file.metadata().map_err(|error| Error::io(&name, error))?;
        check_unwritten(&found, &name)?;
        // A descriptor that was already open continues where it is.
        let is_at_start = found.is_file()
            && (&file)
                .stream_position()
                .map_err(|error| Error::io(&name, error))?
                == 0;
        let len = is_at_start.then_some(found.len());
        let reader = if found.file_type().is_socket() {
            Reader::Other(Box::new(Ended(file)))
        } else {
            Reader::File(file)
        };
        Ok(Self {
            reader,
            progress: Progress::new(show_progress, len),
            len,
            is_armored: false,
            name,
        })
    }

    /// The same, or a folder: [`Input::pump`] gives it as a tar stream.
    pub fn open_any(path: &Path, show_progress: bool) -> Result<Self, Error> {
        if is_stdio(path) || !path.is_dir() {
            return Self::open(path, show_progress);
        }
        Ok(Self {
            reader: Reader::Folder(Folder(path.to_owned())),
            progress: Progress::new(show_progress, None),
            len: None,
            is_armored: false,
            name: quoted(path),
        })
    }

    pub fn is_folder(&self) -> bool {
        matches!(self.reader, Reader::Folder(_))
    }

    /// If it begins like armor, reads its content.
    pub fn unwrap_armor(&mut self) -> Result<(), Error> {
        self.find_armor().map_err(|error| Error::io(&self.name, error))
    }

    fn find_armor(&mut self) -> io::Result<()> {
        let mut first = Vec::new();
        // A piece at a time, so as not to wait for other input.
        while self.reader().take(1).read_to_end(&mut first)? > 0 {
            if !armor::BEGIN.starts_with(&first) || first.len() == armor::BEGIN.len() {
                break;
            }
        }
        self.is_armored = first == armor::BEGIN;
        if let (Reader::File(file), false) = (&mut self.reader, self.is_armored || self.len.is_none()) {
            return file.rewind();
        }
        let nothing = Reader::Other(Box::new(io::empty()));
        let rest: Box<dyn Read> = match std::mem::replace(&mut self.reader, nothing) {
            Reader::File(file) => Box::new(file),
            Reader::Folder(folder) => Box::new(folder),
            Reader::Other(reader) => reader,
        };
        let whole = io::Cursor::new(first).chain(rest);
        self.reader = Reader::Other(if self.is_armored {
            // Its content is shorter.
            self.progress.forget_total();
            Box::new(armor::Decoder::new(whole))
        } else {
            Box::new(whole)
        });
        Ok(())
    }

    /// The progress of the output, of which this many bytes are expected; replaces the input's own.
    pub fn hand_over(&mut self, total: Option<u64>) -> Progress {
        self.progress.hand_over(total)
    }

    /// A file that is read from where it is.
    pub fn from_file(file: File, progress: Progress, name: String) -> Self {
        Self {
            reader: Reader::File(file),
            progress,
            len: None,
            is_armored: false,
            name,
        }
    }

    fn reader(&mut self) -> &mut dyn Read {
        match &mut self.reader {
            Reader::File(file) => file,
            Reader::Folder(folder) => folder,
            Reader::Other(reader) => reader,
        }
    }

    /// Whether opening it again reads the same.
    pub fn is_regular(&self) -> bool {
        self.len.is_some()
    }

    /// Whether its content was read from armor.
    pub fn is_armored(&self) -> bool {
        self.is_armored
    }

    /// Those who may read it, if it is a file.
    pub fn readers(&self) -> Result<Readers, Error> {
        match &self.reader {
            Reader::File(file) => Readers::like(file)
                .map(Readers::ours)
                .map_err(|error| Error::io(&self.name, error)),
            Reader::Folder(_) | Reader::Other(_) => Ok(Readers::Owner),
        }
    }

    /// Size in bytes of a file, when it was opened.
    pub fn len(&self) -> Option<u64> {
        self.len
    }

    /// Whether it has random access.
    pub fn can_seek(&self) -> bool {
        self.len.is_some() && matches!(self.reader, Reader::File(_))
    }

    /// A file with random access, with its length and name.
    pub fn into_file(self) -> Result<(File, u64, Progress, String), Self> {
        match (self.reader, self.len) {
            (Reader::File(file), Some(len)) => Ok((file, len, self.progress, self.name)),
            (reader, _) => Err(Self { reader, ..self }),
        }
    }

    /// Reads the next bytes without counting them as progress, since a password is asked for and hashed meanwhile.
    pub fn read_header(&mut self, header: &mut [u8]) -> io::Result<()> {
        self.progress.leave_out(header.len() as u64);
        self.reader().read_exact(header)
    }

    /// Begins again, if it is regular.
    pub fn rewind(&mut self) -> Result<(), Error> {
        self.progress.restart();
        self.seek(SeekFrom::Start(0))
            .map(|_| ())
            .map_err(|error| Error::io(&self.name, error))
    }

    /// Passes everything to `sink`, piece by piece.
    pub fn pump(&mut self, mut sink: impl FnMut(&mut [u8]) -> Result<(), Error>) -> Result<(), Error> {
        let mut buffer = Zeroizing::new(vec![0; CHUNK]);
        if let Reader::Folder(Folder(path)) = &self.reader {
            return folder::pack(path, buffer, |piece| {
                self.progress.advance(piece.len() as u64);
                sink(piece)
            });
        }
        loop {
            match self.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => sink(&mut buffer[..n])?,
                Err(error) => return Err(Error::read(&self.name, &error)),
            }
        }
    }
}

impl Read for Input {
    /// Never gives up for a signal.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.inspect(|&n| self.progress.advance(n as u64)),
            }
        }
    }
}

/// Fills the buffer with the part of a file from this place on.
pub fn read_part(file: &File, buffer: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(buffer, at)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::other("became shorter while it was read"),
            _ => error,
        })
}

impl Seek for Input {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.reader {
            Reader::File(file) => file.seek(to),
            Reader::Folder(_) | Reader::Other(_) => Err(io::ErrorKind::NotSeekable.into()),
        }
    }
}

/// Where a result goes. Only [`Output::commit`] makes a file appear; without it nothing is left behind.
pub struct Output {
    sink: Sink,
    written: Written,
    armor: Option<armor::Encoder>,
    /// What this replaces or overwrites.
    locked: Option<Locked>,
    /// For messages.
    pub name: String,
}

enum Sink {
    Stdout(io::Stdout),
    /// A descriptor, device or named pipe, which a file must not replace.
    Special(File),
    BlockDevice(Overwritten),
    File(NewFile),
}

impl Sink {
    /// A descriptor that the command line names: writing continues where it is.
    fn descriptor(number: i32, name: &str) -> Result<Self, Error> {
        if number == 1 {
            return Ok(Self::Stdout(stdout()?));
        }
        let Some(file) = descriptors::numbered(number) else {
            let reason = format_args!("descriptor {number} cannot be used by this name");
            return Err(Error::io(name, reason));
        };
        check_open(file, name, OFlags::WRONLY)?;
        let file = file.try_clone().and_then(unless_lost);
        Ok(Self::Special(file.map_err(|error| Error::io(name, error))?))
    }

    /// Remembers that it is written.
    fn written(&self, name: &str) -> Result<Written, Error> {
        let found = match self {
            Self::Stdout(stdout) => stream(stdout),
            Self::Special(file) => file.metadata(),
            Self::BlockDevice(device) => device.file.metadata(),
            Self::File(new) => fs::metadata(&new.place.path),
        };
        Written::new(found.ok().as_ref(), matches!(self, Self::Stdout(_)), name)
    }
}

/// Who may read a new file. One that replaces another of the same owner keeps its mode, unless it is a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Its owner only.
    Owner,
    /// Its owner only, even if others may read the file that it replaces.
    OwnerAlways,
    /// Those who may read any new file, by the umask.
    Any,
    /// Those of another file, at most.
    Like(Model),
}

/// The properties that a new file takes from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    /// Only root can give a file away.
    owner: Option<u32>,
    group: u32,
    mode: u32,
}

impl Readers {
    /// Those of this file, and its owner.
    pub fn like(file: &File) -> io::Result<Self> {
        let model = Model::of(&file.metadata()?, has_list(file));
        let mode = model.mode & 0o666 | 0o600;
        Ok(Self::Like(Model { mode, ..model }))
    }

    /// The same of a file that stays our own.
    pub fn ours(self) -> Self {
        match self {
            Self::Like(model) => Self::Like(Model { owner: None, ..model }),
            readers => readers,
        }
    }
}

impl Model {
    fn of(found: &Metadata, has_list: bool) -> Self {
        Self {
            owner: Some(found.uid()),
            group: found.gid(),
            mode: found.mode() & if has_list { 0o700 } else { 0o777 },
        }
    }

    /// Gives a new file as many of these as the system allows, and returns its mode: only those who could use the other
    /// file can use it.
    fn mode(self, new: &File) -> io::Result<u32> {
        let found = new.metadata()?;
        if let Some(owner) = self.owner.filter(|&owner| owner != found.uid()) {
            let _ = fchown(new, Some(Uid::from_raw(owner)), None);
        }
        let mut mode = self.mode;
        if found.gid() != self.group && fchown(new, None, Some(Gid::from_raw(self.group))).is_err() {
            // It has another group: members of the wanted one are now among the others, and the other way round.
            mode = mode & 0o700 | mode & (mode >> 3) & 0o007;
        }
        Ok(if has_list(new) { mode & 0o700 } else { mode })
    }
}

/// What may be in the place of an output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Nothing.
    Refused,
    /// The same, but `--force` would change it.
    Kept,
    /// A file to replace, or something else to write to.
    Replaced,
}

impl Output {
    /// Standard output for `-`, a descriptor of this process for its name, otherwise a file.
    ///
    /// A replaced file keeps its mode, and a symbolic link to it stays one. A link, named pipe or socket of another user is an
    /// error.
    ///
    /// It is none of the files that were given to [`places::keep`], none that another program has locked, and no disk whose
    /// conversion is unfinished.
    pub fn create(path: &Path, existing: Existing, readers: Readers) -> Result<Self, Error> {
        if is_stdio(path) {
            return Self::new(Sink::Stdout(stdout()?), "standard output".into());
        }
        let name = quoted(path);
        let failed = |error| Error::io(&name, error);
        let has_name = |name: &OsStr| {
            path.as_os_str()
                .as_encoded_bytes()
                .ends_with(name.as_encoded_bytes())
        };
        if !path.file_name().is_some_and(has_name) {
            return Err(Error::io(&name, "not the name of a file"));
        }
        match destination::find(path).map_err(failed)? {
            Destination::Descriptor(number) => Self::new(Sink::descriptor(number, &name)?, name),
            Destination::Name(place) => {
                let locked = match existing {
                    Existing::Replaced => match Locked::if_there(&place.path) {
                        // Not every file can be read, and not every file system has locks.
                        Err(error) if error.raw_os_error().is_some() => None,
                        locked => locked.map_err(failed)?,
                    },
                    Existing::Refused | Existing::Kept => None,
                };
                if let Some(locked) = &locked {
                    overwritten::check_whole(locked.file()).map_err(failed)?;
                }
                let output = Self::at(place, name, existing, readers)?;
                Ok(Self { locked, ..output })
            }
        }
    }

    /// The same where this is, which messages call `name`.
    pub fn at(place: Place, name: String, existing: Existing, readers: Readers) -> Result<Self, Error> {
        let failed = |error| Error::io(&name, error);
        let replace = existing == Existing::Replaced;
        if place.is_link && !replace {
            return Err(existing.error(&name));
        }
        let found = match fs::symlink_metadata(&place.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            found => Some(found.map_err(failed)?),
        };
        let sink = match found {
            None => NewFile::create(place, existing, readers, true).map(Sink::File),
            Some(found) if found.is_dir() => {
                let reason = "already exists, and a folder is never overwritten: name another output";
                return Err(Error::io(&name, reason));
            }
            Some(found) if found.is_file() => {
                if !replace {
                    return Err(existing.error(&name));
                }
                check_unused(&found)
                    .and_then(|()| NewFile::create(place, existing, readers, true)?.like(&found))
                    .map(Sink::File)
            }
            // Whoever can create files in that folder would get the content meant for the new one.
            Some(_) if !replace => {
                let reason = match existing {
                    Existing::Kept => "not a regular file (--force writes to it anyway)",
                    Existing::Refused | Existing::Replaced => "not a regular file",
                };
                return Err(Error::io(&name, reason));
            }
            Some(found) => open_special(&place, &found),
        };
        match sink {
            Ok(sink) => Self::new(sink, name),
            Err(error) => Err(failed(error)),
        }
    }

    fn new(sink: Sink, name: String) -> Result<Self, Error> {
        Ok(Self {
            written: sink.written(&name)?,
            sink,
            armor: None,
            locked: None,
            name,
        })
    }

    /// Opens the file that this replaces, for a command that changes it, and returns its path.
    pub fn changing(mut self) -> Result<(Self, File, PathBuf), Error> {
        let Sink::File(NewFile { place, .. }) = &self.sink else {
            return Err(Error::io(&self.name, "not a regular file"));
        };
        let path = place.path.clone();
        self.written = Written::default();
        let locked = self.locked.as_ref().map(|locked| locked.file().try_clone());
        let file = locked.unwrap_or_else(|| open(&path));
        let file = file.map_err(|error| Error::io(&self.name, error))?;
        places::keep(&file, &self.name)?;
        Ok((self, file, path))
    }

    /// The same as for a new file, where there are no files without a name: for the tests.
    pub fn create_named(path: &Path, readers: Readers) -> Result<Self, Error> {
        let name = quoted(path);
        destination::find(path)
            .and_then(Destination::place)
            .and_then(|place| NewFile::create(place, Existing::Kept, readers, false))
            .map_err(|error| Error::io(&name, error))
            .and_then(|file| Self::new(Sink::File(file), name.clone()))
    }

    /// Where it will be, if it is a file.
    pub fn place(&self) -> Option<Place> {
        match &self.sink {
            Sink::File(new) => Some(new.place.clone()),
            _ => None,
        }
    }

    /// Whether nobody sees it before [`Output::commit`].
    pub fn is_file(&self) -> bool {
        matches!(self.sink, Sink::File { .. })
    }

    pub fn is_terminal(&self) -> bool {
        match &self.sink {
            Sink::Stdout(stdout) => stdout.is_terminal(),
            Sink::Special(file) => file.is_terminal(),
            Sink::BlockDevice(_) | Sink::File(_) => false,
        }
    }

    /// From now on writes text.
    #[must_use]
    pub fn armored(self) -> Self {
        Self {
            armor: Some(armor::Encoder::new()),
            ..self
        }
    }

    /// The file, if it can be written in any order.
    pub fn file(&mut self) -> Option<&mut File> {
        match &mut self.sink {
            Sink::File(new) => Some(&mut new.file),
            _ => None,
        }
    }

    /// Turns a file that appears on commit into a folder; other outputs stay as they are.
    pub fn into_folder(self) -> Result<Result<NewFolder, Self>, Error> {
        let Sink::File(NewFile { place, file, .. }) = self.sink else {
            return Ok(Err(self));
        };
        let name = self.name;
        if place.is_link || fs::symlink_metadata(&place.path).is_ok() {
            let reason = "already exists, and a folder never overwrites anything: name another output";
            return Err(Error::io(&name, reason));
        }
        let make = |owner| Temporary::make(folder_of(&place.path), |path| open_folders::make(path, owner));
        let (temporary, folder) = file
            .metadata()
            .and_then(|file| make(file.uid()))
            .map_err(|error| Error::io(&name, error))?;
        Ok(Ok(NewFolder {
            temporary,
            folder,
            place,
            name,
        }))
    }

    /// Everything is written: lets the file appear under its name. After an error a new file is not there; of one that
    /// is replaced, either may be.
    pub fn commit(mut self) -> Result<(), Error> {
        if let Some(armor) = self.armor.take() {
            armor
                .finish(&mut self.sink)
                .map_err(|error| Error::write(&self.name, &error))?;
        }
        let Self {
            sink,
            name,
            written: _written,
            locked: _locked,
            ..
        } = self;
        match sink {
            // It is synchronised at the end of the program.
            Sink::Stdout(mut stdout) => stdout.flush().map_err(|error| Error::write(&name, &error)),
            Sink::Special(file) => sync_stream(&file).map_err(|error| Error::write(&name, &error)),
            Sink::BlockDevice(device) => device.commit().map_err(|error| Error::write(&name, &error)),
            Sink::File(file) => {
                let existing = file.existing;
                file.commit().map_err(|error| match error.kind() {
                    io::ErrorKind::AlreadyExists => existing.error(&name),
                    _ => Error::io(&name, error),
                })
            }
        }
    }
}

/// A folder that appears when it is complete. Until then it has a hidden name, and only its owner can enter it. Without
/// [`NewFolder::commit`] nothing is left behind.
pub struct NewFolder {
    /// Dropped before the folder that contains it.
    temporary: Temporary,
    /// The same, open.
    pub folder: File,
    place: Place,
    /// For messages.
    pub name: String,
}

impl NewFolder {
    pub fn commit(self) -> Result<(), Error> {
        let failed = |error| Error::io(&self.name, error);
        sync_all(&self.folder).map_err(failed)?;
        warn_if_open(&self.folder, 0o700, &self.name).map_err(failed)?;
        // Fails if something is there by now, unless it is an empty folder.
        self.temporary.persist(&self.place.path, true).map_err(failed)?;
        sync_name(&self.place.path)
            .inspect_err(|_| temporary::take_back(&self.place.path, &self.folder))
            .map_err(failed)
    }
}

/// Synchronises a folder.
fn sync_all(folder: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::fs::syncfs(folder)?;
    #[cfg(not(target_os = "linux"))]
    rustix::fs::sync();
    Ok(())
}

/// Synchronises what was written, where it is stored. For pipes and terminals the system says that this is invalid.
fn sync_stream(stream: impl AsFd) -> io::Result<()> {
    where_possible(rustix::fs::fsync(&stream).map_err(io::Error::from))?;
    check_close(stream)
}

/// Closes a copy of a descriptor: some file systems, as of FUSE, report only then that data are lost. The standard library
/// hides errors of closing.
fn check_close(stream: impl AsFd) -> io::Result<()> {
    Ok(nix::unistd::close(stream.as_fd().try_clone_to_owned()?)?)
}

/// Synchronises a new name too, where the system can; the named file is complete either way.
fn sync_name(path: &Path) -> io::Result<()> {
    where_possible(sync_folder(path))
}

/// Synchronises the folder of this file, after changes in it.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(folder_of(path))?.sync_all()
}

/// Not every folder that can be written can be read, and not everything can be synchronised.
fn where_possible(synced: io::Result<()>) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match synced {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        synced => synced,
    }
}

impl Existing {
    /// The value of `--force` on the command line.
    pub fn forced(force: bool) -> Self {
        if force { Self::Replaced } else { Self::Kept }
    }

    fn error(self, name: &str) -> Error {
        Error::io(
            name,
            match self {
                Self::Refused => "already exists",
                Self::Kept | Self::Replaced => "already exists (--force overwrites it)",
            },
        )
    }
}

/// An error if another loop device has the data of this file or device.
pub fn check_unused(file: &Metadata) -> io::Result<()> {
    match device::over(file) {
        Some(device) => Err(io::Error::other(format!(
            "has or may have the data of the loop device {}",
            quoted(&device)
        ))),
        None => Ok(()),
    }
}

/// Opens what was found, if it is not a file. Linux refuses block devices that are mounted or otherwise in use.
fn open_special(place: &Place, found: &Metadata) -> io::Result<Sink> {
    let kind = found.file_type();
    if kind.is_fifo() || kind.is_socket() {
        destination::check_owner(found.uid(), "named pipe or socket")?;
    }
    place.check_given(found.nlink() > 1, "named pipe, socket or device")?;
    let exclusive = if kind.is_block_device() {
        check_unused(found)?;
        OFlags::EXCL
    } else {
        OFlags::empty()
    };
    let flags = OFlags::NOFOLLOW | OFlags::NOCTTY | exclusive;
    let file = OpenOptions::new()
        .read(kind.is_block_device())
        .write(true)
        .custom_flags(flags.bits().cast_signed())
        .open(&place.path)?;
    if !is_same(&file, Ok(found.clone())) {
        return Err(io::Error::other("changed while it was opened"));
    }
    Ok(if kind.is_block_device() {
        Sink::BlockDevice(Overwritten::new(file))
    } else {
        Sink::Special(file)
    })
}

/// The mode of a file once it has its name; before, it is 0600.
#[derive(Clone, Copy)]
enum Mode {
    Exactly(u32),
    /// At most this.
    Within(u32),
    Umask,
}

impl Mode {
    fn new(file: &File, readers: Readers) -> io::Result<Self> {
        Ok(match readers {
            Readers::Owner => Self::Exactly(0o600),
            Readers::OwnerAlways => Self::Within(0o600),
            Readers::Any => Self::Umask,
            Readers::Like(model) => Self::Exactly(model.mode(file)?),
        })
    }

    fn set(self, file: &File) -> io::Result<()> {
        set_mode(file, self.bits())
    }

    fn bits(self) -> u32 {
        match self {
            Self::Exactly(mode) | Self::Within(mode) => mode,
            Self::Umask => 0o666 & !umask(),
        }
    }
}

/// Warns of a file or folder that others can read, though it should have this mode.
fn warn_if_open(file: &File, mode: u32, name: &str) -> io::Result<()> {
    if is_too_open(file, mode)? {
        warn(Error::io(
            name,
            "other users can read it: this file system does not keep modes",
        ));
    }
    Ok(())
}

/// It can be read only by setting it; no other thread creates files meanwhile.
fn umask() -> u32 {
    use rustix::fs::Mode;
    let mask = rustix::process::umask(Mode::from_raw_mode(0o077));
    rustix::process::umask(mask);
    mask.as_raw_mode()
}

/// A file that appears when it is complete.
struct NewFile {
    file: File,
    /// None where a file needs no name.
    temporary: Option<Temporary>,
    place: Place,
    existing: Existing,
    mode: Mode,
}

impl NewFile {
    fn create(place: Place, existing: Existing, readers: Readers, unnamed: bool) -> io::Result<Self> {
        let folder = folder_of(&place.path);
        if existing == Existing::Replaced {
            // It will have a name for a moment. Check beforehand that this is possible.
            temporary::guard()?;
        }
        let (temporary, file) = if let Some(file) = unnamed.then(|| open_unnamed(folder)).flatten() {
            (None, file)
        } else {
            let (temporary, file) = Temporary::make(folder, |path| {
                OpenOptions::new()
                    .read(true)
                    .write(true)
                    .create_new(true)
                    .mode(0o600)
                    .open(path)
            })?;
            (Some(temporary), file)
        };
        Ok(Self {
            mode: Mode::new(&file, readers)?,
            file,
            temporary,
            place,
            existing,
        })
    }

    /// With the group and the mode of a replaced file, without the bits that give its content the rights of its owner or
    /// group. A file of somebody else does not say who may read ours, nor one that somebody else may have put there.
    fn like(self, replaced: &Metadata) -> io::Result<Self> {
        let is_ours = replaced.uid() == self.file.metadata()?.uid();
        if !is_ours || self.place.check_given(replaced.nlink() > 1, "file").is_err() {
            return Ok(self);
        }
        let mut mode = Model::of(replaced, has_list_at(&self.place.path)).mode(&self.file)?;
        if let Mode::Within(most) = self.mode {
            mode &= most;
        }
        Ok(Self {
            mode: Mode::Exactly(mode),
            ..self
        })
    }

    fn commit(self) -> io::Result<()> {
        let replace = self.existing == Existing::Replaced;
        // Under a temporary name only its owner can use it.
        if self.temporary.is_none() && !replace {
            self.mode.set(&self.file)?;
        }
        // On disk before it has a name, so that a crash leaves no empty file under that name.
        self.file.sync_all()?;
        check_close(&self.file)?;
        let path = &self.place.path;
        match self.temporary {
            Some(temporary) => temporary.persist(path, replace)?,
            None if replace => {
                // Only a rename replaces a file.
                let (temporary, _) = Temporary::make(folder_of(path), |path| {
                    link(&self.file, path).map(|()| &self.file)
                })?;
                temporary.persist(path, true)?;
            }
            None => link(&self.file, path)?,
        }
        let named = self.mode.set(&self.file).and_then(|()| sync_name(path));
        if named.is_err() && !replace {
            temporary::take_back(path, &self.file);
        }
        named?;
        warn_if_open(&self.file, self.mode.bits(), &quoted(&self.place.shown))
    }
}

/// A file in this folder without a name, where the system supports that and can name it later.
#[cfg(target_os = "linux")]
fn open_unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::Mode;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR).ok()?);
    // Without /proc it could not be named.
    fs::metadata(in_proc(&file)).is_ok().then_some(file)
}

#[cfg(not(target_os = "linux"))]
fn open_unnamed(_: &Path) -> Option<File> {
    None
}

#[cfg(target_os = "linux")]
fn in_proc(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

/// Gives a file from [`open_unnamed`] a free name.
#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    Ok(linkat(CWD, in_proc(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.armor {
            Some(armor) => armor.encode(bytes, &mut self.sink).map(|()| bytes.len()),
            None => self.sink.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(stdout) => stdout.write(bytes),
            Self::Special(file) => file.write(bytes),
            Self::BlockDevice(device) => device.write(bytes),
            Self::File(new) => new.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(stdout) => stdout.flush(),
            Self::Special(_) | Self::BlockDevice(_) | Self::File(_) => Ok(()),
        }
    }
}

/// A file's name with an extension added; `-` stays as it is.
pub fn beside(file: &Path, extension: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    if !is_stdio(file) {
        name.push(".");
        name.push(extension);
    }
    name.into()
}

/// Reads until the buffer is full or the input ends, and continues after signals. `read` also gets how much came
/// before.
pub fn read_up_to(
    buffer: &mut [u8],
    mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut n = 0;
    while n < buffer.len() {
        match read(&mut buffer[n..], n) {
            Ok(0) => break,
            Ok(more) => n += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n)
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// A signal comes before every byte.
    struct Signals(bool);

    impl Read for Signals {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 = !self.0;
            if self.0 {
                Err(io::ErrorKind::Interrupted.into())
            } else {
                buffer[0] = 7;
                Ok(1)
            }
        }
    }

    /// One at a time: the next file may get the number of one that was just replaced, and is not written twice.
    fn replacing() -> MutexGuard<'static, ()> {
        static LOCK: Mutex<()> = Mutex::new(());
        LOCK.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its name, which may have become a link or be in another folder, is not looked up again. A link to it stays one.
    #[test]
    fn what_was_found_to_be_a_file_is_replaced_by_name() {
        for name in ["file", "link"] {
            let folder = tempfile::TempDir::new().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::create_dir(at("sub")).unwrap();
            fs::write(at("file"), "old").unwrap();
            std::os::unix::fs::symlink("file", at("link")).unwrap();
            let path = folder.path().join("sub/..").join(name);
            let _lock = replacing();
            let mut output = Output::create(&path, Existing::Replaced, Readers::Owner)
                .ok()
                .unwrap();
            let Sink::File(new) = &output.sink else {
                panic!("it is a file")
            };
            assert_eq!(new.place.shown, folder.path().join("sub/../file"));
            output.write_all(b"new").unwrap();
            // Whoever can change the folders' names does.
            for name in ["file", "other"] {
                fs::write(at("sub").join(name), "precious").unwrap();
            }
            fs::rename(at("file"), at("moved")).unwrap();
            std::os::unix::fs::symlink("sub/other", at("file")).unwrap();
            output.commit().ok().unwrap();
            let read = |name: &str| fs::read_to_string(at(name)).unwrap();
            assert_eq!(
                ["file", "moved", "sub/file", "sub/other"].map(read),
                ["new", "old", "precious", "precious"]
            );
            assert!(!at("file").is_symlink() && at("link").is_symlink());
        }
    }

    /// The folder is the one that was found, even if something else has its name now.
    #[test]
    #[cfg(target_os = "linux")]
    fn an_output_stays_in_its_folder() {
        let folder = tempfile::TempDir::new().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["sub", "theirs"] {
            fs::create_dir(at(name)).unwrap();
            fs::write(at(name).join("file"), "old").unwrap();
        }
        let path = at("sub/file");
        let _lock = replacing();
        let mut output = Output::create(&path, Existing::Replaced, Readers::Owner)
            .ok()
            .unwrap();
        output.write_all(b"new").unwrap();
        fs::rename(at("sub"), at("moved")).unwrap();
        std::os::unix::fs::symlink("theirs", at("sub")).unwrap();
        output.commit().ok().unwrap();
        assert_eq!(fs::read_to_string(at("moved/file")).unwrap(), "new");
        assert_eq!(fs::read_to_string(at("theirs/file")).unwrap(), "old");
    }

    /// A name that may be lost is an error, except in a folder that cannot be read.
    #[test]
    fn folders_that_are_not_on_the_disk() {
        use rustix::io::Errno;
        for error in [Errno::IO, Errno::NOSPC, Errno::MFILE] {
            assert!(where_possible(Err(error.into())).is_err(), "{error}");
        }
        for error in [Errno::INVAL, Errno::ACCESS, Errno::NOTSUP] {
            assert!(where_possible(Err(error.into())).is_ok(), "{error}");
        }
    }

    #[test]
    fn signals_do_not_matter() {
        let mut input = Input {
            reader: Reader::Other(Box::new(Signals(false).take(3))),
            progress: Progress::new(false, None),
            len: None,
            is_armored: false,
            name: String::new(),
        };
        let mut buffer = [0; 2];
        assert_eq!(input.read(&mut buffer).unwrap(), 1);
        let mut rest = Vec::new();
        let pumped = input.pump(|piece| {
            rest.extend_from_slice(piece);
            Ok(())
        });
        assert!(pumped.is_ok());
        assert_eq!((buffer, rest), ([7, 0], vec![7, 7]));
    }
}
