//! The `tree` digest of one object, computed in parts by several processes and combined.
//!
//!     cargo run --release --example tree_workers [WORKERS [BYTES]]
//!
//! Each worker fetches and opens only its part, and returns 32 bytes for each 512 KiB. Here the workers are processes on one
//! machine and the store is a folder; with S3 they could be anywhere.

use std::error::Error;
use std::io::{Read as _, Write as _};
use std::ops::Range;
use std::path::Path as Folder;
use std::process::{Child, Command, Stdio};

use futures_util::TryStreamExt as _;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, WriteMultipart};
use veriplex::digest::Digest;
use veriplex::tree::{CV_LEN, Tree};
use veriplex::{Key, label};
use veriplex_store::SealedStore;

/// A chaining value of this level covers 512 KiB.
const LEVEL: usize = 1;

fn tree() -> Tree {
    Tree::new(label!("com.example.tree-workers"))
}

fn store(folder: &Folder, key: &Key) -> object_store::Result<SealedStore<LocalFileSystem>> {
    let files = LocalFileSystem::new_with_prefix(folder)?;
    Ok(SealedStore::new(files, key, b"example"))
}

/// Cuts a message into parts of whole units, about as many as there are workers.
fn parts(len: u64, workers: u64) -> Result<Vec<Range<u64>>, veriplex::Error> {
    let unit = Tree::unit_len(LEVEL)?;
    let part = len.div_ceil(unit).div_ceil(workers) * unit;
    let starts = (0..len.div_ceil(part)).map(|i| i * part);
    Ok(starts.map(|start| start..len.min(start + part)).collect())
}

fn start_worker(folder: &Folder, path: &Path, part: &Range<u64>, key: &Key) -> Result<Child, Box<dyn Error>> {
    let mut worker = Command::new(std::env::current_exe()?)
        .arg("worker")
        .arg(folder)
        .args([path.to_string(), part.start.to_string(), part.end.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // Not as an argument: others could see it.
    let mut input = worker.stdin.take().ok_or("no input")?;
    input.write_all(key.as_bytes())?;
    Ok(worker)
}

/// Writes the chaining values of a part to standard output.
async fn work(folder: &str, path: &str, part: Range<u64>) -> Result<(), Box<dyn Error>> {
    let mut key = [0; 32];
    std::io::stdin().read_exact(&mut key)?;
    let key = Key::from(key);
    let (store, path) = (store(Folder::new(folder), &key)?, Path::parse(path)?);
    let unit = Tree::unit_len(LEVEL)?;
    let mut output = std::io::stdout().lock();
    let mut start = part.start;
    while start < part.end {
        let end = part.end.min(start + unit);
        let bytes = store.get_range(&path, start..end).await?;
        let mut value = [0; CV_LEN];
        tree().chaining_values_into(LEVEL, &bytes, &mut value)?;
        output.write_all(&value)?;
        start = end;
    }
    output.flush()?;
    Ok(())
}

async fn lead(workers: u64, len: u64) -> Result<(), Box<dyn Error>> {
    if len <= Tree::unit_len(LEVEL)? {
        return Err("a message of up to 512 KiB has no parts".into());
    }
    let key = Key::generate(&mut veriplex::os_rng());
    let folder = tempfile::tempdir()?;
    let (store, path) = (store(folder.path(), &key)?, Path::from("object"));

    let mut upload = WriteMultipart::new(store.put_multipart(&path).await?);
    let mut written = 0;
    while written < len {
        let block: Vec<u8> = (written..len.min(written + (1 << 20)))
            .map(|i| (i ^ (i >> 9)).to_le_bytes()[0])
            .collect();
        upload.wait_for_capacity(4).await?;
        upload.write(&block);
        written += block.len() as u64;
    }
    upload.finish().await?;

    let len = store.head(&path).await?.size;
    let children: Vec<_> = (parts(len, workers)?.iter())
        .map(|part| start_worker(folder.path(), &path, part, &key))
        .collect::<Result<_, _>>()?;
    println!("{len} bytes, {} workers", children.len());
    let mut combiner = tree().combiner(LEVEL)?;
    for child in children {
        let output = child.wait_with_output()?;
        if !output.status.success() {
            return Err("a worker failed".into());
        }
        combiner.update(&output.stdout)?;
    }
    let mut digest = [0; Digest::LEN];
    combiner.finalize_into(len, &mut digest)?;
    let digest = Digest::from(digest);
    println!("together: {digest}");

    // The same by one process, for comparison.
    let mut hasher = tree().hasher();
    let mut stream = store.get(&path).await?.into_stream();
    while let Some(bytes) = stream.try_next().await? {
        hasher.update(&bytes);
    }
    let alone = hasher.finalize();
    println!("alone:    {alone}");
    if alone == digest {
        Ok(())
    } else {
        Err("the digests differ".into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["worker", folder, path, start, end] => work(folder, path, start.parse()?..end.parse()?).await,
        [] => lead(3, 20_000_000).await,
        [workers] => lead(workers.parse::<u64>()?.max(1), 20_000_000).await,
        [workers, bytes] => lead(workers.parse::<u64>()?.max(1), bytes.parse()?).await,
        _ => Err("usage: tree_workers [WORKERS [BYTES]]".into()),
    }
}
