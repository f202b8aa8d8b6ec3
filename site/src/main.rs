//! `veriplex-site FOLDER [API]`: writes the source of the book that `mdbook` makes the site of. API is a folder that
//! rustdoc wrote.

mod documents;
mod evidence;
mod kernels;
mod speed;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

/// The folder that is written.
struct Book<'a> {
    folder: &'a Path,
    summary: String,
}

impl Book<'_> {
    fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(self.folder))?;
        fs::write(path, text)
    }

    fn part(&mut self, title: &str) {
        let _ = write!(self.summary, "\n# {title}\n\n");
    }

    fn chapter(&mut self, title: &str, path: &str, text: &str) -> io::Result<()> {
        let _ = writeln!(self.summary, "- [{title}]({path})");
        self.write(path, text)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let Some(folder) = arguments.first() else {
        eprintln!("veriplex-site FOLDER [API]");
        return ExitCode::from(2);
    };
    match run(Path::new(folder), arguments.get(1).map(Path::new)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("veriplex-site: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path, api: Option<&Path>) -> io::Result<()> {
    let mut book = Book {
        folder,
        summary: "# Summary\n\n".to_owned(),
    };
    documents::write(&mut book, api)?;
    book.write("SUMMARY.md", &book.summary)
}
