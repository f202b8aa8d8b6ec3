//! What an image and its header show without a key.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use veriplex_files::error::Error;
use veriplex_files::files::stdout;
use veriplex_files::terminal_quoting::quoted;

use super::copy;
use super::image::Image;
use super::marker::Marker;

/// Prints it, one property in each line.
pub fn print(path: &Path, header: Option<&Path>) -> Result<(), Error> {
    let header_path = copy::header_path(path, header)?;
    let image = Image::look(path)?;
    let header = copy::read_header(&header_path)?;
    let marker = image.marker()?;
    let geometry = header.geometry;
    let unlocked = header.cost().map_or_else(
        || String::from("key file"),
        |cost| format!("password, cost {cost}"),
    );
    let mut state = match (&marker, header.direction) {
        (Some(Marker { direction: None, .. }), _) => {
            "not overwritten to the end, or the image begins as if so".into()
        }
        (Some(marker), Some(direction)) => format!(
            "{direction} in place unfinished, at most {} bytes done",
            marker.begun
        ),
        (
            Some(Marker {
                direction: Some(direction),
                begun,
                ..
            }),
            None,
        ) => format!(
            "encrypted, but the image begins as if {direction} in place were unfinished after {begun} bytes"
        ),
        (None, Some(direction)) => format!("{direction} in place unfinished"),
        (None, None) => "encrypted".into(),
    };
    if image.is_in_use() {
        state += ", in use by another process";
    }
    let missing = geometry.end().saturating_sub(image.len());
    let mut text = format!(
        "image: {}, {} bytes\nheader: {}\nunlocked by: {unlocked}\nsector size: {}\nencrypted bytes: {} to {}\nstate: {state}\n",
        image.name,
        image.len(),
        quoted(&header_path),
        geometry.sector_len,
        geometry.offset,
        geometry.end(),
    );
    if missing > 0 {
        let _ = writeln!(text, "missing: {missing} bytes at the end of the image"); // a string takes everything
    }
    let mut stdout = stdout()?;
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Error::write("standard output", &error))
}
