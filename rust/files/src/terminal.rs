//! Lines that are typed without being shown. The terminal edits the line; the bytes are what it gives.
//!
//! A signal that ends or stops the process meanwhile leaves the terminal as it was.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::OFlags;
use rustix::termios::{InputModes, LocalModes, OptionalActions, Termios, tcdrain, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

const TERMINAL: &str = "/dev/tty";

/// A terminal that does not show what is typed.
struct Hidden {
    terminal: File,
    before: Termios,
    prompt: String,
}

/// The one that there is. Whoever changes its modes holds the lock.
static HIDDEN: Mutex<Option<Hidden>> = Mutex::new(None);

fn hidden() -> MutexGuard<'static, Option<Hidden>> {
    HIDDEN.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Shows this, unless the terminal takes nothing, as after Ctrl-S: signals do not wait for that.
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

/// Asks on the terminal. Of a line that is too long, the result has `max_len` bytes and one more.
///
/// Meanwhile [`shown`] must be called by whoever handles signals.
pub fn ask(prompt: &str, max_len: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut terminal = File::options().read(true).write(true).open(TERMINAL)?;
    // Stops a process in the background, where the modes are those of the shell.
    tcdrain(&terminal)?;
    let asked = Hidden {
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

/// Reads to the end of the line, so that the rest of a long one is not left to others.
fn read_line(mut terminal: &File, max_len: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    // As large as it can get: growing would leave copies.
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

/// Does what a signal is there for, with the terminal as it was; if that returns, asks again.
pub fn shown(work: impl FnOnce()) {
    let hidden = hidden();
    if let Some(hidden) = &*hidden {
        let _ = hidden.show();
        Hidden::say("\n");
    }
    work();
    if let Some(hidden) = &*hidden {
        let _ = hidden.hide();
        Hidden::say(&hidden.prompt);
    }
}
