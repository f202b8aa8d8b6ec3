//! Completions for shells, and man pages, both made from the command line's own description.

use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use veriplex_files::error::{EXIT_STATUSES, Error};
use veriplex_files::files::{Existing, Output, Readers, stdout};
use veriplex_files::terminal_quoting::quoted;

use crate::examples;
use crate::keys;

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
    // Without the backend, so that it is the same on every machine.
    let version = env!("CARGO_PKG_VERSION");
    let mut command = command.disable_help_subcommand(true).version(version);
    command.build();
    write_pages(&command, "", folder)
}

fn write_pages(command: &Command, name: &str, folder: &Path) -> Result<(), Error> {
    let man = Man::new(command.clone());
    let path = folder.join(man.get_filename());
    let failed = |error: io::Error| Error::io(&quoted(&path), error);
    let page = page(command, &man, name).map_err(failed)?;
    keys::write(Output::create(&path, Existing::Replaced, Readers::Any)?, &page)?;
    command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .try_for_each(|command| {
            let name = format!("{name} {}", command.get_name());
            write_pages(command, name.trim_start(), folder)
        })
}

/// The page of the command with this name (after the program's).
fn page(command: &Command, man: &Man, name: &str) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    writeln!(page, ".SH EXAMPLES")?;
    for example in examples::of(name) {
        writeln!(page, ".PP\n.nf\n.RS\n{}\n.RE\n.fi", roff(example))?;
    }
    writeln!(page, ".SH \"EXIT STATUS\"")?;
    for (status, meaning) in EXIT_STATUSES {
        writeln!(page, ".TP\n\\fB{status}\\fR\n{}", roff(meaning))?;
    }
    if name.is_empty() {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// Text that roff shows as it is.
fn roff(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('\'', "\\(aq");
    escaped.replace('~', "\\(ti").replace('\n', " ")
}
