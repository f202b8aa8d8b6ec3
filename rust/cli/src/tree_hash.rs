//! The tree digests of files, on all cores and in bounded memory.
//!
//! All threads read a file, each the part that it hashes. The file is not mapped: shortening a mapped file ends the
//! process with a signal, while a read only fails. And a copy that stays in a core's cache costs less than page faults:
//! 1 GiB in the page cache, mapped, took 0.99 times as long with one thread (Zen 4), and 1.08 times with two. Holes of
//! sparse files are not read: all their chaining values are the same.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Mutex;

use rayon::prelude::*;
use veriplex::tree::Tree;
use veriplex::{Key, label, with_wiped_stack};
use veriplex_files::error::Error;
use veriplex_files::files::{Input, PIECE, read_part, read_up_to};
use veriplex_files::progress::Progress;
use zeroize::Zeroizing;

/// The hash of the command `sum`.
pub fn tree(key: Option<&Key>) -> Tree {
    let domain = label!("veriplex.sum.v1");
    key.map_or_else(|| Tree::new(domain), |key| Tree::keyed(domain, key))
}

/// Below this, distributing the work to threads costs more than it saves.
const SMALL: usize = 1 << 17;
/// A thread reads and hashes at a time what one chaining value of this level covers.
const LEVEL: usize = 1;
const UNIT: usize = 1 << 19;
/// Above this, a file is worth several threads.
const LARGE: u64 = 2 * UNIT as u64;
/// How many units are handed out at a time: 64 MiB, so that the threads rarely wait for the last one.
const UNITS: usize = 128;

/// A buffer for one file after another, allocated and wiped once.
#[derive(Default)]
pub struct Room(Zeroizing<Vec<u8>>);

impl Room {
    fn of(&mut self, len: usize) -> &mut [u8] {
        if self.0.len() < len {
            self.0 = Zeroizing::new(vec![0; len.next_power_of_two()]);
        }
        &mut self.0[..len]
    }
}

/// The output for an input. It leaves no key on the stacks of the other threads.
pub fn sum(tree: &Tree, input: Input, room: &mut Room, output: &mut [u8]) -> Result<(), Error> {
    let has_helpers = input.len().is_none_or(|len| len >= SMALL as u64);
    let result = sum_of(tree, input, room, output);
    if has_helpers {
        rayon::broadcast(|_| with_wiped_stack(|| ()));
    }
    result
}

fn sum_of(tree: &Tree, input: Input, room: &mut Room, output: &mut [u8]) -> Result<(), Error> {
    if input.len().is_none_or(|len| len <= LARGE) {
        return pieces(tree, input, room, output);
    }
    match input.into_file() {
        Ok((file, len, mut progress, name)) => {
            large(tree, &file, len, &mut progress, output).map_err(|error| Error::io(&name, error))
        }
        Err(input) => pieces(tree, input, room, output),
    }
}

fn pieces(tree: &Tree, input: Input, room: &mut Room, output: &mut [u8]) -> Result<(), Error> {
    // Not before there is input: as long as it waits, a key is there once.
    let mut hasher = None;
    each_piece(input, PIECE, room, |piece| {
        let hasher = hasher.get_or_insert_with(|| tree.hasher());
        if piece.len() < SMALL {
            hasher.update(piece);
        } else {
            hasher.update_rayon(piece);
        }
        Ok(())
    })?;
    hasher.unwrap_or_else(|| tree.hasher()).finalize_into(output);
    Ok(())
}

/// Reads pieces of this length, however small the pieces that arrive.
pub fn each_piece(
    mut input: Input,
    len: usize,
    room: &mut Room,
    mut visit: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    // Enough for a small file: one more byte shows that it has ended.
    let needed = input
        .len()
        .and_then(|len| usize::try_from(len).ok())
        .unwrap_or(len);
    let buffer = room.of(needed.clamp(1 << 12, len - 1) + 1);
    loop {
        let filled =
            read_up_to(buffer, |rest, _| input.read(rest)).map_err(|error| Error::io(&input.name, error))?;
        visit(&buffer[..filled])?;
        if filled < buffer.len() {
            return Ok(());
        }
    }
}

/// A file of this length with random access.
fn large(tree: &Tree, file: &File, len: u64, progress: &mut Progress, output: &mut [u8]) -> io::Result<()> {
    // One per thread, allocated when it has something to read.
    let buffers: Vec<_> = (0..rayon::current_num_threads())
        .map(|_| Mutex::new(None))
        .collect();
    let mut values = vec![[0; 32]; UNITS];
    let mut zeros = None;
    let mut combiner = tree.combiner(LEVEL).map_err(io::Error::other)?;
    let unit = UNIT as u64;
    let units = len.div_ceil(unit);
    let mut next = 0;
    while next < units {
        let count = usize::try_from(units - next).map_or(values.len(), |left| left.min(values.len()));
        let values = &mut values[..count];
        // Whole units only: the last one of the file is shorter, or there is data in it.
        let hole = (data_from(file, next * unit, len) / unit).min(len / unit);
        let done = if hole > next {
            let count = usize::try_from(hole - next).map_or(count, |units| units.min(count));
            let zeros = zeros.get_or_insert_with(|| {
                let mut value = [0; 32];
                tree.chaining_values_into(LEVEL, &vec![0; UNIT], &mut value)
                    .map(|()| value)
            });
            values[..count].fill(zeros.map_err(io::Error::other)?);
            count
        } else {
            (values.par_iter_mut().enumerate()).try_for_each(|(i, value)| {
                let thread = rayon::current_thread_index().unwrap_or(0);
                let mut buffer = buffers[thread]
                    .lock()
                    .map_err(|_| io::Error::other("a thread has failed"))?;
                let buffer = buffer.get_or_insert_with(|| Aligned::new(UNIT)).bytes();
                let offset = (next + i as u64) * unit;
                let part_len = usize::try_from(len - offset).map_or(UNIT, |left| left.min(UNIT));
                let part = &mut buffer[..part_len];
                read_part(file, part, offset)?;
                (tree.chaining_values_into(LEVEL, part, value)).map_err(io::Error::other)
            })?;
            count
        };
        combiner
            .update(values[..done].as_flattened())
            .map_err(io::Error::other)?;
        let before = next * unit;
        next += done as u64;
        progress.advance(len.min(next * unit) - before);
    }
    combiner.finalize_into(len, output).map_err(io::Error::other)
}

/// A buffer that begins at a page boundary, where the system copies faster.
struct Aligned {
    room: Zeroizing<Vec<u8>>,
    begin: usize,
}

impl Aligned {
    const PAGE: usize = 4096;

    fn new(len: usize) -> Self {
        let room = vec![0; len + Self::PAGE];
        Self {
            begin: room.as_ptr().align_offset(Self::PAGE).min(Self::PAGE),
            room: Zeroizing::new(room),
        }
    }

    fn bytes(&mut self) -> &mut [u8] {
        let len = self.room.len() - Self::PAGE;
        &mut self.room[self.begin..][..len]
    }
}

/// Where the next data are, from `offset` on, or `len`: between are zeros that need not be read. Where the system does not
/// know, that is `offset`.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
fn data_from(file: &File, offset: u64, len: u64) -> u64 {
    match rustix::fs::seek(file, rustix::fs::SeekFrom::Data(offset)) {
        Ok(data) => data.max(offset),
        // There are none. If the file became shorter, the rest is not zeros.
        Err(rustix::io::Errno::NXIO) if file.metadata().is_ok_and(|now| now.len() >= len) => len,
        Err(_) => offset,
    }
}

#[cfg(not(any(target_os = "linux", target_os = "freebsd")))]
fn data_from(_: &File, offset: u64, _: u64) -> u64 {
    offset
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        for len in [0, 100, UNIT, 3 * UNIT] {
            file.set_len(0).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            file.write_all(&vec![1; len]).unwrap();
            let said = 4 * UNIT as u64;
            let result = large(
                &tree(None),
                &file,
                said,
                &mut Progress::new(false, None),
                &mut [0; 32],
            );
            assert!(
                result.unwrap_err().to_string().contains("became shorter"),
                "{len}"
            );
        }
    }
}
