//! Connections through an authenticated and encrypted tunnel: `veriplex_tunnel::daemon` with the keys of the program.

pub mod allow;
pub mod args;
mod settings;

use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use veriplex_files::error::Error;
use veriplex_files::places;
use veriplex_files::temporary::hand_over;
use veriplex_tunnel::daemon::{self, Address, Listeners, Passed, Stdio};

pub use self::args::Command;
use self::args::Server;
use self::settings::Origin;
use crate::keys::{self, Private};
use crate::password::Source;

/// Runs a command.
pub fn run(command: &Command, quiet: bool) -> Result<(), Error> {
    match command {
        Command::Serve(options) => serve(&Origin::Serve(options), quiet),
        Command::Connect(options) => serve(&Origin::Connect(options), quiet),
        Command::Pipe(server) => pipe(server),
        Command::Echo { address } => daemon::echo(address, quiet),
    }
}

/// Passes standard input and output through a tunnel.
fn pipe(server: &Server) -> Result<(), Error> {
    let (sent, public) = (["-".into()], std::slice::from_ref(&server.peer_file));
    let read_key = server.key.reader(&sent, public, Private::tunnel)?;
    let plain = Stdio::new()?;
    let peer = keys::read_one_public(&server.peer_file)?.tunnel;
    let key = read_key()?;
    let limit = Duration::from_secs(server.seconds.into());
    let address = Address::destination(&server.connect).map_err(|why| Error::io(&server.connect, why))?;
    daemon::pipe(plain, &address, limit, &key, &peer)
}

/// Takes connections until a signal.
fn serve(origin: &Origin<'_>, quiet: bool) -> Result<(), Error> {
    // Before there are threads.
    let passed = Passed::take()?;
    let (settings, password) = origin.read()?;
    let password_file = match &password {
        Source::File(path) => Some(&**path),
        Source::Terminal(_) | Source::Variable(_) => None,
    };
    places::plan(
        &[
            ("key", &[&*settings.key_file]),
            ("password", password_file.as_slice()),
        ],
        &[],
    )?;
    let listeners = Listeners::new(passed, &settings.listeners)?;
    let key = keys::read_private(&settings.key_file, &password)?.tunnel()?;
    let read_again = || origin.read().map(|(settings, _)| settings);
    daemon::serve(listeners, key, settings, read_again, quiet, |handle| {
        hand_over(&[SIGHUP, SIGINT, SIGTERM], move |signal| match signal {
            SIGHUP => handle.reload(),
            _ => handle.stop(),
        })
    })
}
