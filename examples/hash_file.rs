//! Prints the digest of a file, piece by piece and in parallel form: `cargo run --example hash_file -- FILE`.

use std::fs::File;
use std::io;

use veriplex::{digest::Hasher, label, tree::Tree};

fn main() -> io::Result<()> {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| file!().into());

    // A digest of the whole: any `Read` can be copied into it.
    let mut hasher = Hasher::new(label!("com.example.files"));
    io::copy(&mut File::open(&path)?, &mut hasher)?;
    println!("digest {}", hasher.finalize());

    // The tree digest: a different function, faster on large files, and parts of the file can be verified alone.
    let mut hasher = Tree::new(label!("com.example.files")).hasher();
    io::copy(&mut File::open(&path)?, &mut hasher)?;
    println!("tree   {}", hasher.finalize());
    Ok(())
}
