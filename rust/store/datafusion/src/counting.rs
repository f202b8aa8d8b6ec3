//! A store that notes what is fetched.

use std::fmt;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// A store that notes what is fetched from the one within.
#[derive(Debug)]
pub struct Counting<T> {
    inner: T,
    fetched: Mutex<Vec<(Path, Range<u64>)>>,
}

impl<T> Counting<T> {
    /// Notes what is fetched from this store.
    pub fn new(inner: T) -> Self {
        Self {
            inner,
            fetched: Mutex::default(),
        }
    }

    /// The store within.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// Which bytes of which objects were fetched since the last call.
    pub fn fetched(&self) -> Vec<(Path, Range<u64>)> {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *fetched)
    }

    fn note(&self, path: &Path, ranges: &[Range<u64>]) {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.extend(ranges.iter().map(|range| (path.clone(), range.clone())));
    }
}

impl<T: fmt::Display> fmt::Display for Counting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Counting({})", self.inner)
    }
}

#[async_trait]
impl<T: ObjectStore> ObjectStore for Counting<T> {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.inner.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let head = options.head;
        let result = self.inner.get_opts(path, options).await?;
        if !head {
            self.note(path, std::slice::from_ref(&result.range));
        }
        Ok(result)
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let read = self.inner.get_ranges(path, ranges).await?;
        self.note(path, ranges);
        Ok(read)
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
