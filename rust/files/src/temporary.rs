//! Temporary files and folders with names. They do not outlive the process: a signal that ends it removes them too.

use std::borrow::Borrow;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fs, io, thread};

use tempfile::{PathPersistError, TempPath};

use crate::open_folders;
use crate::places::is_same;

/// The existing ones. Creating, renaming or removing one, or creating something in one, holds the lock, so that none is
/// forgotten. A signal that ends the process keeps the lock.
static ALL: Mutex<Vec<(PathBuf, Arc<File>)>> = Mutex::new(Vec::new());

/// A signal is about to end the process.
static ENDS: AtomicBool = AtomicBool::new(false);

fn all() -> MutexGuard<'static, Vec<(PathBuf, Arc<File>)>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, a signal first removes all temporary files and makes the terminal show input again. Fails if there is
/// no thread for that.
pub fn guard() -> io::Result<()> {
    let _all = all();
    signals::handle()?;
    Ok(())
}

/// Gives these signals to `handler`, in its own thread. They no longer end the process, whatever [`guard`] was called
/// for before.
pub fn hand_over(signals: &[i32], handler: impl Fn(i32) + Send + 'static) -> io::Result<()> {
    let _all = all();
    signals::hand_over(signals, Box::new(handler))
}

/// Whether whoever started the process wanted it to ignore this signal, as `nohup` does.
pub fn is_ignored(signal: i32) -> bool {
    signals::mask(&["SigIgn:"]) >> (signal - 1) & 1 == 1
}

/// The name `.veriplex-*.tmp` of a file or folder, which is removed on drop. It is open, since others may give its name to
/// something else.
pub struct Temporary(Option<(TempPath, Arc<File>)>);

impl Temporary {
    /// Calls `make` with names in a folder until one is free.
    pub fn make<T: Borrow<File>>(
        folder: &Path,
        make: impl FnMut(&Path) -> io::Result<T>,
    ) -> io::Result<(Self, T)> {
        guard()?;
        check_removable(folder)?;
        let mut all = all();
        let made = tempfile::Builder::new()
            .prefix(".veriplex-")
            .suffix(".tmp")
            .make_in(folder, make)?;
        let (made, path) = made.into_parts();
        let file = made.borrow().try_clone();
        let file = Arc::new(file.inspect_err(|_| remove(&path, made.borrow()))?);
        all.push((path.to_path_buf(), file.clone()));
        Ok((Self(Some((path, file))), made))
    }

    /// Renames the file or folder; if that fails, removes it. A folder replaces only an empty one.
    pub fn persist(mut self, destination: &Path, replace: bool) -> io::Result<()> {
        let mut all = all();
        let Some((path, file)) = self.0.take() else {
            return Ok(());
        };
        all.retain(|(other, _)| *other != *path);
        let result = if !is_same(&file, fs::symlink_metadata(&path)) {
            let error = io::Error::other("changed while it was made");
            Err(PathPersistError { error, path })
        } else if replace {
            path.persist(destination)
        } else {
            path.persist_noclobber(destination)
        };
        result.map_err(|mut failed| {
            remove(&failed.path, &file);
            failed.path.disable_cleanup(true);
            failed.error
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some((mut path, file)) = self.0.take() {
            let mut all = all();
            all.retain(|(other, _)| *other != *path);
            remove(&path, &file);
            path.disable_cleanup(true);
        }
    }
}

/// Fails where names can be created, but not removed.
#[cfg(target_os = "linux")]
fn check_removable(folder: &Path) -> io::Result<()> {
    use rustix::fs::{IFlags, ioctl_getflags};
    // Not every file system has flags, and not every folder can be read.
    let flags = File::open(folder).map(ioctl_getflags);
    if matches!(flags, Ok(Ok(flags)) if flags.contains(IFlags::APPEND)) {
        return Err(io::Error::other(
            "in an append-only folder, where no name can be removed",
        ));
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn check_removable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates something in a temporary folder, or changes the mode of a folder there, but not once a signal is removing
/// it, since it would be left behind. `make` must not wait for anything, because a signal waits for it.
pub fn inside<T>(make: impl FnOnce() -> T) -> T {
    // Otherwise a thread that creates one thing after another could always get the lock before the signal does.
    while ENDS.load(Ordering::Relaxed) {
        thread::park();
    }
    let _all = all();
    make()
}

/// Removes a new file or folder that has already got its name.
pub fn take_back(path: &Path, made: &File) {
    let _all = all();
    remove(path, made);
}

/// Removes a file or a folder, while the lock is held.
fn remove(path: &Path, made: &File) {
    // A file has nothing in it. A folder is emptied wherever it is now.
    let _ = open_folders::empty(made);
    if is_same(made, fs::symlink_metadata(path)) && fs::remove_file(path).is_err() {
        let _ = fs::remove_dir(path);
    }
}

mod signals {
    use std::sync::atomic::Ordering;
    use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
    use std::{fs, io, thread};

    #[cfg(not(target_os = "linux"))]
    use signal_hook::consts::SIGIO;
    use signal_hook::consts::{
        FORBIDDEN, SIGBUS, SIGCHLD, SIGCONT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH,
    };
    use signal_hook::iterator::{Handle, Signals};
    use signal_hook::low_level::{emulate_default_handler, exit, raise};

    use crate::terminal;

    /// Signals that do not end a process, but for SIGTSTP, which must not stop it while a prompt hides what is typed; and those
    /// that are an error of the program.
    const SPARED: &[i32] = &[
        SIGBUS,
        SIGCHLD,
        SIGCONT,
        SIGPIPE,
        SIGTTIN,
        SIGTTOU,
        SIGURG,
        SIGWINCH,
        #[cfg(not(target_os = "linux"))]
        SIGIO,
        #[cfg(not(target_os = "linux"))]
        29, // SIGINFO
    ];

    type Handler = Box<dyn Fn(i32) + Send>;

    /// The handler that has these signals instead of the thread below.
    static HANDLER: Mutex<Option<(Vec<i32>, Handler)>> = Mutex::new(None);

    fn handler() -> MutexGuard<'static, Option<(Vec<i32>, Handler)>> {
        HANDLER.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The only owner of signals: a second one, beside it, would get the same ones. Only one thread calls this at a time.
    fn owner() -> io::Result<&'static Handle> {
        static OWNER: OnceLock<Handle> = OnceLock::new();
        if let Some(owner) = OWNER.get() {
            return Ok(owner);
        }
        let mut signals = Signals::new([0; 0])?;
        let handle = signals.handle();
        // Before the first handler: without the thread, a signal would have no effect.
        let begun = thread::Builder::new().name("signals".into()).spawn(move || {
            for signal in signals.forever() {
                if let Some((handled, handler)) = &*handler()
                    && handled.contains(&signal)
                {
                    handler(signal);
                    continue;
                }
                if signal == SIGTSTP {
                    // Not SIGSTOP, with which it would hang where no shell can let it go on. This one is not handled, and
                    // the system then ignores it, as it does SIGTSTP.
                    terminal::shown(|| drop(raise(SIGTTOU)));
                    continue;
                }
                super::ENDS.store(true, Ordering::Relaxed);
                let all = super::all();
                for (path, file) in &*all {
                    super::remove(path, file);
                }
                // Ends the process, while nobody else can create or rename one.
                terminal::shown(|| {
                    let _ = emulate_default_handler(signal);
                    // Some signals are not known there.
                    exit(128 + signal);
                });
            }
        });
        begun.map_err(|error| io::Error::new(error.kind(), format!("no thread for signals: {error}")))?;
        Ok(OWNER.get_or_init(|| handle))
    }

    /// Only one thread calls this at a time.
    pub fn hand_over(signals: &[i32], to: Handler) -> io::Result<()> {
        let owner = owner()?;
        // Before the first of them can come.
        *handler() = Some((signals.to_vec(), to));
        signals.iter().try_for_each(|&signal| owner.add_signal(signal))
    }

    /// Only one thread calls this at a time.
    pub fn handle() -> io::Result<()> {
        static HANDLED: OnceLock<()> = OnceLock::new();
        if HANDLED.get().is_some() {
            return Ok(());
        }
        let owner = owner()?;
        let others = others();
        for signal in 1..=64 {
            let is_other = others >> (signal - 1) & 1 == 1;
            if !is_other && !FORBIDDEN.contains(&signal) && !SPARED.contains(&signal) {
                // Not every system has as many.
                let _ = owner.add_signal(signal);
            }
        }
        let _ = HANDLED.set(());
        Ok(())
    }

    /// The signals that whoever started the process wanted it to ignore, as `nohup` does, and those that it handles already.
    fn others() -> u64 {
        mask(&["SigIgn:", "SigCgt:"])
    }

    /// Signals of these names, from bit 0 on. Known only where there is a `/proc` as that of Linux.
    pub fn mask(names: &[&str]) -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let masks = status
            .lines()
            .filter_map(|line| names.iter().find_map(|name| line.strip_prefix(name)));
        masks
            .filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .fold(0, |masks, mask| masks | mask)
    }
}
