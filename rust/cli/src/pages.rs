//! Completions for shells, and man pages, both made from the command line's own description.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::error::Error;
use crate::files::stdout;
use crate::names::quoted;

/// Prints what a shell needs to complete command lines.
pub fn print_completions(mut command: Command, shell: Shell) -> Result<(), Error> {
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    let mut stdout = stdout()?;
    stdout
        .write_all(&script)
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}

/// Writes a man page for the program and one for each of its commands into a folder that exists.
pub fn write_man_pages(command: Command, folder: &Path) -> Result<(), Error> {
    let mut command = command.disable_help_subcommand(true);
    command.build();
    write_pages(&command, folder)
}

fn write_pages(command: &Command, folder: &Path) -> Result<(), Error> {
    let man = Man::new(command.clone());
    let path = folder.join(man.get_filename());
    let failed = |error: io::Error| Error::io(&quoted(&path), error);
    let mut page = Vec::new();
    man.render(&mut page).map_err(failed)?;
    fs::write(&path, page).map_err(failed)?;
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .try_for_each(|command| write_pages(command, folder))
}
