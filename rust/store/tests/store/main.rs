//! Sealed objects in stores in memory and on disk.
#![allow(clippy::cast_possible_truncation, clippy::format_collect)] // the numbers are small
#![allow(clippy::single_range_in_vec_init)] // lists of one range

mod damage;
mod format;
mod ranges;
mod replaced;
mod requests;
mod reseal;
mod round_trip;
mod spy;
mod suite;
mod uploads;

use std::sync::Arc;

use bytes::Bytes;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _};
use veriplex::Key;
use veriplex_store::{HEADER_LEN, ObjectError, Reason, SealedStore};

/// The segments of most tests, so that small objects have many.
const SEGMENT: usize = 64;
const TAG: usize = 16;
const HEADER: usize = HEADER_LEN as usize;

fn key(byte: u8) -> Key {
    Key::from([byte; 32])
}

fn sealed<T: ObjectStore>(inner: T) -> SealedStore<T> {
    SealedStore::new(inner, &key(1), b"context")
        .with_segment_len(SEGMENT)
        .expect("a length that is allowed")
}

/// A sealed store over a store that can also be used directly.
fn in_memory() -> (SealedStore<Arc<InMemory>>, Arc<InMemory>) {
    let inner = Arc::new(InMemory::new());
    (sealed(inner.clone()), inner)
}

/// Bytes that differ from segment to segment.
fn content(len: usize) -> Bytes {
    (0..len).map(|i| (i % 251 + i / 64) as u8).collect()
}

/// Lengths around the borders of segments of this length.
fn lengths(segment: usize) -> Vec<usize> {
    let mut lengths = vec![0, 1];
    for segments in [1, 2, 3, 8, 9] {
        let border = segments * segment;
        lengths.extend([border - 1, border, border + 1]);
    }
    lengths
}

async fn read(store: &impl ObjectStore, path: &Path) -> object_store::Result<Bytes> {
    store.get(path).await?.bytes().await
}

/// Why this object cannot be read. The error must name it, in its text too.
#[track_caller]
fn reason(error: &Error, path: &Path) -> Reason {
    let found = ObjectError::of(error).unwrap_or_else(|| panic!("another error: {error}"));
    assert_eq!(found.path(), path);
    assert!(
        error.to_string().contains(&format!("{:?}", path.as_ref())),
        "{error}"
    );
    found.reason().clone()
}
