//! The command `sum`.

use std::path::{Path, PathBuf};

use veriplex::digest::Digest;
use veriplex_files::error::{Error, Status};
use veriplex_files::files::{self, stdout};
use veriplex_files::places::{self, is_stdio};
use veriplex_files::text;

use super::{Sums, Threads};
use crate::checksum_list::{self, Kind};
use crate::outboards::{self, Part};
use crate::secrets::KeyFile;
use crate::{keys, tree_hash};

#[derive(clap::Args)]
pub struct Args {
    /// Digest size in bytes
    #[arg(short, long, value_name = "N", default_value_t = Digest::LEN as u64,
        value_parser = clap::value_parser!(u64).range(1..=checksum_list::MAX_DIGEST_LEN))]
    length: u64,
    #[command(flatten)]
    key: KeyFile,
    /// Write the outboard of FILE, with which parts of FILE can be verified on their own; with --verify, read it
    #[arg(short, long, value_name = "OUTBOARD", conflicts_with_all = ["check", "recursive", "length"])]
    outboard: Option<PathBuf>,
    /// Replace an existing outboard
    #[arg(short, long, requires = "outboard")]
    force: bool,
    /// Verify FILE, or the part that --part and --range select, against this digest (64 hexadecimal digits)
    #[arg(long, value_name = "DIGEST", requires = "outboard", conflicts_with_all = ["untagged", "force"],
        value_parser = |text: &str| text::digits(text).map(Digest::from))]
    verify: Option<Digest>,
    /// FILE is only a part of the hashed file and begins at this offset, a multiple of 4096
    #[arg(long, value_name = "OFFSET", requires = "verify")]
    part: Option<u64>,
    /// Verify only the bytes from START up to END, not included; either may be omitted
    #[arg(long, value_name = "START:END", requires = "verify", value_parser = parse_range)]
    range: Option<(Option<u64>, Option<u64>)>,
    #[command(flatten)]
    threads: Threads,
    #[command(flatten)]
    sums: Sums,
}

fn parse_range(text: &str) -> Result<(Option<u64>, Option<u64>), String> {
    let parse = |number: &str| match number {
        "" => Ok(None),
        _ => number
            .parse()
            .map(Some)
            .map_err(|_| format!("{number} is not a number of bytes")),
    };
    let (start, end) = text.split_once(':').ok_or("expected START:END")?;
    Ok((parse(start)?, parse(end)?))
}

pub fn run(args: &Args, quiet: bool, show_progress: bool) -> Result<Status, Error> {
    args.threads.start_or_do_without()?;
    places::plan(&[("key", args.key.paths()), ("input", &args.sums.files)], &[])?;
    let (tree, kind): (_, fn(_, _) -> _) = match args.key.path() {
        Some(path) => {
            let tree = keys::read_symmetric(path, |key| Box::new(tree_hash::tree(Some(key))))?;
            (tree, Kind::KeyedTree)
        }
        None => (Box::new(tree_hash::tree(None)), Kind::Tree),
    };
    let length = usize::try_from(args.length).expect("at most 2^14");
    let Some(outboard) = &args.outboard else {
        return args.sums.run(&kind(tree, length), quiet, show_progress);
    };
    let file = the_one(&args.sums.files)?;
    if is_stdio(outboard) {
        return Err(Error::usage("-", "must be a regular file"));
    }
    if let Some(digest) = &args.verify {
        if !quiet {
            files::claim_stdout()?;
        }
        let (start, end) = args.range.unwrap_or_default();
        let part = Part {
            offset: args.part,
            start,
            end,
        };
        outboards::verify(&tree, digest, file, outboard, part, show_progress)?;
        return if quiet {
            Ok(Status::Ok)
        } else {
            checksum_list::print_verdict(file, b": OK").map(|()| Status::Ok)
        };
    }
    stdout()?;
    let digest = outboards::write(&tree, file, outboard, args.force, show_progress)?;
    let style = args.sums.style(show_progress);
    checksum_list::print_sum(&kind(tree, length), style, &digest.to_string(), file)?;
    Ok(Status::Ok)
}

fn the_one(files: &[PathBuf]) -> Result<&Path, Error> {
    match files {
        [file] => Ok(file),
        _ => Err(Error::usage("--outboard", "accepts only one file")),
    }
}
