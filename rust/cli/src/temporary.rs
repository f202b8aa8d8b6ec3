//! Temporary files with a name. They do not outlive the process: SIGINT, SIGTERM, SIGHUP and SIGQUIT remove them too.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempPath;

/// Those that there are. Whoever makes, renames or removes one holds the lock meanwhile, so that none is forgotten.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name `.veriplex-*.tmp` of a file, which is removed on drop.
pub struct Temporary(Option<TempPath>);

impl Temporary {
    /// Gives `make` names in a folder until there was none of that name.
    pub fn make<T>(folder: &Path, make: impl FnMut(&Path) -> io::Result<T>) -> io::Result<(Self, T)> {
        #[cfg(unix)]
        signals::handle();
        let mut all = all();
        let made = tempfile::Builder::new()
            .prefix(".veriplex-")
            .suffix(".tmp")
            .make_in(folder, make)?;
        let (made, path) = made.into_parts();
        all.push(path.to_path_buf());
        Ok((Self(Some(path)), made))
    }

    /// Renames the file. If that fails, it is removed.
    pub fn persist(mut self, destination: &Path, replace: bool) -> io::Result<()> {
        let mut all = all();
        let Some(path) = self.0.take() else {
            return Ok(());
        };
        all.retain(|other| *other != *path);
        let result = if replace {
            path.persist(destination)
        } else {
            path.persist_noclobber(destination)
        };
        result.map_err(|failed| failed.error)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = self.0.take() {
            let mut all = all();
            all.retain(|other| *other != *path);
            drop(path);
        }
    }
}

#[cfg(unix)]
mod signals {
    use std::sync::Once;
    use std::{fs, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// From now on a signal removes all temporary files before it ends the process.
    pub fn handle() {
        static HANDLED: Once = Once::new();
        HANDLED.call_once(|| {
            let ignored = ignored();
            let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];
            let signals = Signals::new(wanted.iter().filter(|&&signal| ignored >> (signal - 1) & 1 == 0));
            // Without a handler, or a thread for it, a signal does what it always did.
            let Ok(mut signals) = signals else { return };
            let _ = thread::Builder::new().name("signals".into()).spawn(move || {
                for signal in signals.forever() {
                    let all = super::all();
                    for path in &*all {
                        let _ = fs::remove_file(path);
                    }
                    // Ends the process, while nobody else can make or rename one.
                    let _ = emulate_default_handler(signal);
                }
            });
        });
    }

    /// The signals that whoever started the process wanted it to ignore, as `nohup` does, from bit 0 on. Known only
    /// where there is a `/proc` as that of Linux.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .unwrap_or(0)
    }
}
