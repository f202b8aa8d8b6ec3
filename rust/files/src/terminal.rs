//! Lines that are typed without being shown. The terminal edits the line and returns the bytes.
//!
//! A signal that ends or stops the process meanwhile leaves the terminal as it was.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, Termios, tcdrain, tcgetattr, tcsetattr, ttyname,
};
use zeroize::Zeroizing;

const TERMINAL: &str = "/dev/tty";

/// A terminal that does not show what is typed.
struct Hidden {
    terminal: File,
    before: Termios,
    prompt: String,
    /// The lock on the terminal, if it can have one.
    lock: Option<File>,
}

/// The only one. Changing its modes holds the lock.
static HIDDEN: Mutex<Option<Hidden>> = Mutex::new(None);

fn hidden() -> MutexGuard<'static, Option<Hidden>> {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terminal under a name of its own: `/dev/tty` is one file for all terminals, which any user could lock.
fn own_terminal() -> Option<File> {
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
    let mut names = streams.iter().filter_map(|stream| ttyname(stream, []).ok());
    let name = names.find(|name| name.as_bytes() != TERMINAL.as_bytes())?;
    let mut options = File::options();
    let flags = OFlags::NOCTTY | OFlags::NONBLOCK;
    options.read(true).custom_flags(flags.bits().cast_signed());
    options.open(OsStr::from_bytes(name.as_bytes())).ok()
}

impl Hidden {
    fn hide(&self) -> io::Result<()> {
        let mut modes = self.before.clone();
        modes
            .local_modes
            .insert(LocalModes::ICANON | LocalModes::ISIG | LocalModes::ECHONL);
        modes.local_modes.remove(LocalModes::ECHO);
        // Enter ends the line, and no other byte is changed.
        modes.input_modes.insert(InputModes::ICRNL);
        modes
            .input_modes
            .remove(InputModes::ISTRIP | InputModes::INLCR | InputModes::IGNCR);
        #[cfg(target_os = "linux")]
        modes.input_modes.remove(InputModes::IUCLC);
        // What was typed ahead stays.
        Ok(tcsetattr(&self.terminal, OptionalActions::Now, &modes)?)
    }

    fn show(&self) -> io::Result<()> {
        Ok(tcsetattr(&self.terminal, OptionalActions::Now, &self.before)?)
    }

    /// Shows this, unless the terminal accepts nothing, as after Ctrl-S: signals do not wait for that.
    fn say(text: &str) {
        let mut options = File::options();
        options
            .write(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let _ = options
            .open(TERMINAL)
            .and_then(|mut terminal| terminal.write_all(text.as_bytes()));
    }
}

/// Asks on the terminal. If the line is too long, the result has `max_len` + 1 bytes.
///
/// Meanwhile [`shown`] must be called by whoever handles signals.
pub fn ask(prompt: &str, max_len: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut terminal = File::options().read(true).write(true).open(TERMINAL)?;
    // Stops a process in the background, where the modes are those of the shell.
    tcdrain(&terminal)?;
    // Several programs of a pipeline may ask: one after the other. Whoever ended first would show what is typed for the next.
    let lock = own_terminal();
    if let Some(lock) = &lock {
        while flock(lock, FlockOperation::LockExclusive) == Err(Errno::INTR) {}
    }
    let asked = Hidden {
        lock,
        before: tcgetattr(&terminal)?,
        terminal: terminal.try_clone()?,
        prompt: prompt.into(),
    };
    let hidden_now = hidden().insert(asked).hide();
    let line = hidden_now
        .and_then(|()| terminal.write_all(prompt.as_bytes()))
        .and_then(|()| read_line(&terminal, max_len));
    hidden().take().map_or(Ok(()), |asked| asked.show())?;
    line
}

/// Reads to the end of the line, so that others do not get the rest of a long one.
fn read_line(mut terminal: &File, max_len: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    // As large as it can become, because growing would leave copies.
    let mut line = Zeroizing::new(Vec::with_capacity(max_len + 1));
    // The longest line of a terminal: a newline at the end of a part could be one that was quoted.
    let mut piece = Zeroizing::new([0; 4096]);
    loop {
        let n = match terminal.read(piece.as_mut_slice()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        let piece = &piece[..n];
        let (bytes, is_end) = piece
            .strip_suffix(b"\n")
            .map_or((piece, false), |bytes| (bytes, true));
        if n == 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "unexpected end of input",
            ));
        }
        let room = max_len + 1 - line.len();
        line.extend(bytes.iter().take(room));
        if is_end {
            return Ok(line);
        }
    }
}

/// Performs the signal's default action with the terminal as it was; if the process continues, asks again.
pub fn shown(work: impl FnOnce()) {
    let hidden = hidden();
    let lock = |operation| {
        let lock = hidden.as_ref().and_then(|hidden| hidden.lock.as_ref());
        lock.map(|lock| flock(lock, operation));
    };
    if let Some(hidden) = &*hidden {
        let _ = hidden.show();
        Hidden::say("\n");
        lock(FlockOperation::Unlock);
    }
    work();
    if let Some(hidden) = &*hidden {
        // A signal must not wait here.
        lock(FlockOperation::NonBlockingLockExclusive);
        let _ = hidden.hide();
        Hidden::say(&hidden.prompt);
    }
}
