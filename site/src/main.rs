//! `veriplex-site FOLDER`: writes the source of the book that `mdbook` makes the site of.

mod documents;

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
        self.summary += &format!("\n# {title}\n\n");
    }

    fn chapter(&mut self, title: &str, path: &str, text: &str) -> io::Result<()> {
        self.summary += &format!("- [{title}]({path})\n");
        self.write(path, text)
    }
}

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1) else {
        eprintln!("veriplex-site FOLDER");
        return ExitCode::from(2);
    };
    match run(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("veriplex-site: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path) -> io::Result<()> {
    let mut book = Book {
        folder,
        summary: "# Summary\n\n".to_owned(),
    };
    documents::write(&mut book)?;
    book.write("SUMMARY.md", &book.summary)
}
