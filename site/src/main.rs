//! `veriplex-site FOLDER`: writes the site. `veriplex-site --lines [--check]`: writes `site/lines`, or compares it.
//!
//! Everything on it is read from the repository: the inventory, the theorems, the manifest, the kernels, the
//! specification. It is plain HTML, made with `format!`: a generator of books, such as mdBook, would
//! add a search of its own, scripts and themes to review, but none of the tables, which are most of the site.

// Pages are small, and this reads better than write! with its result.
#![allow(clippy::format_push_string)]

mod evidence;
mod html;
mod items;
mod kernels;
mod lines;
mod report;
mod source;
mod speed;
mod start;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use evidence::Evidence;

/// What is copied as it is.
const ASSETS: [(&str, &str); 5] = [
    ("style.css", include_str!("../assets/style.css")),
    ("items.js", include_str!("../assets/items.js")),
    ("audit.js", include_str!("../assets/audit.js")),
    ("demo.js", include_str!("../assets/demo.js")),
    ("icon.svg", include_str!("../assets/icon.svg")),
];

/// The folder that is written.
struct Site {
    folder: PathBuf,
}

impl Site {
    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        fs::write(path, text)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let texts: Vec<Option<&str>> = arguments.iter().map(|argument| argument.to_str()).collect();
    let result = match (&texts[..], &arguments[..]) {
        ([Some("--lines")], _) => lines::generate(false),
        ([Some("--lines"), Some("--check")], _) => lines::generate(true),
        (_, [folder]) => run(Path::new(folder)),
        _ => {
            eprintln!("veriplex-site FOLDER, or veriplex-site --lines [--check]");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("veriplex-site: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(folder: &Path) -> io::Result<()> {
    let site = Site {
        folder: folder.to_owned(),
    };
    let evidence = Evidence::read()?;
    for (name, text) in ASSETS {
        site.write(name, text)?;
    }
    start::write(&site, &evidence)?;
    items::write(&site, &evidence)?;
    kernels::write(&site, &evidence)?;
    source::write(&site)?;
    speed::write(&site)?;
    report::write(&site, &evidence)
}
