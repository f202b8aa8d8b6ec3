//! Encrypted Parquet files, written and queried by DataFusion.
//!
//!     cargo run --release --example query
//!
//! The store is a folder here; S3 would be `AmazonS3Builder::from_env().build()?` in its place.

use std::error::Error;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use veriplex::{Key, os_rng};
use veriplex_store::SealedStore;
use veriplex_store_datafusion::{Counting, register, session, write};

const QUERY: &str = "
    SELECT station, count(*), min(value), max(value) FROM readings
    WHERE time BETWEEN 100800 AND 115199 GROUP BY station ORDER BY station";

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let files = Arc::new(Counting::new(LocalFileSystem::new_with_prefix(folder.path())?));
    let key = Key::generate(&mut os_rng());

    let store = SealedStore::new(files.clone(), &key, b"example");
    write(&session(Arc::new(store))?).await?;

    let objects: Vec<_> = files.list(None).try_collect().await?;
    let stored: u64 = objects.iter().map(|object| object.size).sum();
    println!("{} encrypted files, {stored} bytes", objects.len());

    // As another process would, that knows nothing but the key.
    files.fetched();
    let store = SealedStore::new(files.clone(), &key, b"example");
    let context = session(Arc::new(store))?;
    register(&context).await?;
    println!("{} bytes fetched for the footers", total(&files));
    context.sql(QUERY).await?.show().await?;
    println!("{} bytes fetched for the query", total(&files));
    Ok(())
}

fn total(files: &Counting<LocalFileSystem>) -> u64 {
    files
        .fetched()
        .iter()
        .map(|(_, range)| range.end - range.start)
        .sum()
}
