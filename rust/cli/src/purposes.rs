//! What files are named for: each has one purpose, whatever its names are.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::Error;
use crate::files::is_stdio;
use crate::names::quoted;

fn find(path: &Path) -> io::Result<Metadata> {
    if is_stdio(path) {
        File::from(io::stdin().as_fd().try_clone_to_owned()?).metadata()
    } else {
        fs::metadata(path)
    }
}

/// An error if a file, device or stream has two of these purposes; `-` is standard input. What is not there has none.
pub fn check(uses: &[(&str, &[&Path])]) -> Result<(), Error> {
    let mut found = Vec::new();
    for (purpose, paths) in uses {
        for path in *paths {
            let Ok(metadata) = find(path) else { continue };
            let identity = (metadata.dev(), metadata.ino());
            if let Some((other, _)) = found.iter().find(|(_, other)| *other == identity)
                && other != purpose
            {
                let reason = format_args!("cannot be both {other} and {purpose}");
                let name = if is_stdio(path) {
                    "standard input".into()
                } else {
                    quoted(path)
                };
                return Err(Error::usage(&name, reason));
            }
            found.push((*purpose, identity));
        }
    }
    Ok(())
}
