//! Inputs, and outputs that appear whole or not at all.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use veriplex::hazmat::RATE;
use zeroize::Zeroizing;

use crate::error::Error;
use crate::progress::Progress;

/// How much is read at a time: about 94 KiB, whole blocks of the duplex.
pub const CHUNK: usize = 1024 * RATE;

/// Whether `path` stands for standard input or output.
pub fn is_stdio(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The path for a message of one line.
pub fn printable(path: &Path) -> String {
    let mut text = String::new();
    for c in path.to_string_lossy().chars() {
        if c.is_control() {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

/// A file or standard input, its progress shown.
pub struct Input {
    reader: Box<dyn Read>,
    progress: Progress,
    /// Whether it can be opened again to read the same.
    pub is_regular: bool,
    /// For messages.
    pub name: String,
}

impl Input {
    /// Opens a file, or standard input for `-`.
    pub fn open(path: &Path, show_progress: bool) -> Result<Self, Error> {
        if is_stdio(path) {
            // Not locked: the list of a check may be read from there at the same time.
            return Ok(Self {
                reader: Box::new(io::stdin()),
                progress: Progress::new(show_progress, None),
                is_regular: false,
                name: "standard input".into(),
            });
        }
        let name = printable(path);
        let open = || {
            let file = File::open(path)?;
            let metadata = file.metadata()?;
            Ok((file, metadata.is_file().then_some(metadata.len())))
        };
        let (file, len) = open().map_err(|error: io::Error| Error::io(&name, error))?;
        Ok(Self {
            reader: Box::new(file),
            progress: Progress::new(show_progress, len),
            is_regular: len.is_some(),
            name,
        })
    }

    /// Passes everything to `sink`, a piece at a time.
    pub fn pump(mut self, mut sink: impl FnMut(&mut [u8]) -> Result<(), Error>) -> Result<(), Error> {
        let mut buffer = Zeroizing::new(vec![0; CHUNK]);
        loop {
            match self.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(n) => sink(&mut buffer[..n])?,
                Err(error) => return Err(Error::io(&self.name, error)),
            }
        }
    }
}

impl Read for Input {
    /// Never gives up for a signal.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.reader.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.inspect(|&n| self.progress.advance(n)),
            }
        }
    }
}

/// Where a result goes. Only [`Output::commit`] makes a file appear; without it nothing is left behind.
pub struct Output {
    sink: Sink,
    /// For messages.
    pub name: String,
}

enum Sink {
    Stdout(io::Stdout),
    /// A device or named pipe, which must not be replaced by a file.
    Special(File),
    File {
        temporary: NamedTempFile,
        destination: PathBuf,
        replace: bool,
    },
}

impl Output {
    /// Standard output for `-`, else a file, which may exist only if `replace`.
    ///
    /// A replaced file keeps its mode, and a symbolic link to it stays one.
    pub fn create(path: &Path, replace: bool) -> Result<Self, Error> {
        if is_stdio(path) {
            return Ok(Self {
                sink: Sink::Stdout(io::stdout()),
                name: "standard output".into(),
            });
        }
        let name = printable(path);
        let sink = match fs::metadata(path) {
            Ok(found) if found.is_file() && !replace => return Err(exists(&name)),
            Ok(found) if found.is_file() => fs::canonicalize(path)
                .and_then(|path| Sink::temporary(path, replace, Some(found.permissions()))),
            Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(_) => OpenOptions::new().write(true).open(path).map(Sink::Special),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Sink::temporary(path.to_owned(), replace, None)
            }
            Err(error) => Err(error),
        };
        match sink {
            Ok(sink) => Ok(Self { sink, name }),
            Err(error) => Err(Error::io(&name, error)),
        }
    }

    /// Whether nothing is seen of it before [`Output::commit`].
    pub fn is_file(&self) -> bool {
        matches!(self.sink, Sink::File { .. })
    }

    pub fn is_terminal(&self) -> bool {
        match &self.sink {
            Sink::Stdout(stdout) => stdout.is_terminal(),
            Sink::Special(file) => file.is_terminal(),
            Sink::File { .. } => false,
        }
    }

    /// What was written is whole: lets the file appear under its name.
    pub fn commit(self) -> Result<(), Error> {
        let Self { sink, name } = self;
        match sink {
            Sink::Stdout(mut stdout) => stdout.flush().map_err(|error| Error::write(&name, &error)),
            Sink::Special(_) => Ok(()),
            Sink::File {
                temporary,
                destination,
                replace,
            } => {
                // On disk before it has a name, so that a crash leaves no empty file under that name.
                temporary
                    .as_file()
                    .sync_all()
                    .map_err(|error| Error::io(&name, error))?;
                let result = if replace {
                    temporary.persist(&destination)
                } else {
                    temporary.persist_noclobber(&destination)
                };
                result.map_err(|failed| match failed.error.kind() {
                    io::ErrorKind::AlreadyExists => exists(&name),
                    _ => Error::io(&name, failed.error),
                })?;
                // The name too, where the system can; the output is whole either way.
                if let Ok(folder) = File::open(folder_of(&destination)) {
                    let _ = folder.sync_all();
                }
                Ok(())
            }
        }
    }
}

impl Sink {
    fn temporary(destination: PathBuf, replace: bool, permissions: Option<Permissions>) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".veriplex-").suffix(".tmp");
        // The crate's own choice is 0600; this is that of any new file, which the umask narrows. For a
        // replaced file it must never be wider than the old mode: whoever opens it early can read it later.
        #[cfg(unix)]
        builder.permissions({
            use std::os::unix::fs::PermissionsExt;
            let mode = permissions.as_ref().map_or(0o666, PermissionsExt::mode);
            Permissions::from_mode(mode & 0o777)
        });
        let temporary = builder.tempfile_in(folder_of(&destination))?;
        if let Some(permissions) = permissions {
            temporary.as_file().set_permissions(permissions)?;
        }
        Ok(Self::File {
            temporary,
            destination,
            replace,
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::Stdout(stdout) => stdout.write(bytes),
            Sink::Special(file) => file.write(bytes),
            Sink::File { temporary, .. } => temporary.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Stdout(stdout) => stdout.flush(),
            Sink::Special(_) | Sink::File { .. } => Ok(()),
        }
    }
}

fn exists(name: &str) -> Error {
    Error::io(name, "exists already (--force replaces it)")
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn signals_do_not_matter() {
        let mut input = Input {
            reader: Box::new(Signals(false).take(3)),
            progress: Progress::new(false, None),
            is_regular: false,
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
