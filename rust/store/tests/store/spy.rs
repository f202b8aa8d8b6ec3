//! A store that counts what is fetched, and that can replace objects between two requests.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::ready;
use futures_util::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt as _, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

#[derive(Debug, Default)]
pub struct Spy {
    pub objects: InMemory,
    fetched: Mutex<Vec<Range<u64>>>,
    /// What the object becomes after each of the next requests.
    pub replacements: Mutex<VecDeque<Option<Bytes>>>,
    /// What it says is the tag of every object.
    pub e_tag: Mutex<Option<String>>,
    /// Whether the tags of objects are weak, so that nothing matches them.
    pub weak: Mutex<bool>,
    /// The lengths of the parts uploaded.
    pub parts: Arc<Mutex<Vec<usize>>>,
    /// Whether uploads were aborted.
    pub aborted: Arc<Mutex<bool>>,
    /// Whether parts fail.
    pub failing: Mutex<bool>,
    /// Whether the next part panics.
    pub panicking: Arc<Mutex<bool>>,
}

#[derive(Debug)]
struct SpiedUpload {
    inner: Box<dyn MultipartUpload>,
    parts: Arc<Mutex<Vec<usize>>>,
    aborted: Arc<Mutex<bool>>,
    failing: bool,
    panicking: Arc<Mutex<bool>>,
}

#[async_trait]
impl MultipartUpload for SpiedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let panics = std::mem::take(&mut *self.panicking.lock().unwrap());
        assert!(!panics, "as it was told");
        self.parts.lock().unwrap().push(data.content_length());
        if self.failing {
            let source = "no space".into();
            return ready(Err(Error::Generic { store: "Spy", source })).boxed();
        }
        self.inner.put_part(data)
    }

    async fn complete(&mut self) -> Result<PutResult> {
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        *self.aborted.lock().unwrap() = true;
        self.inner.abort().await
    }
}

impl Spy {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// The ranges fetched since the last call.
    pub fn fetched(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut *self.fetched.lock().unwrap())
    }

    async fn replace(&self, path: &Path) -> Result<()> {
        let replacement = self.replacements.lock().unwrap().pop_front();
        if let Some(Some(bytes)) = replacement {
            self.objects.put(path, bytes.into()).await?;
        }
        Ok(())
    }
}

impl fmt::Display for Spy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Spy")
    }
}

#[async_trait]
impl ObjectStore for Spy {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.objects.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Ok(Box::new(SpiedUpload {
            inner: self.objects.put_multipart_opts(path, options).await?,
            parts: self.parts.clone(),
            aborted: self.aborted.clone(),
            failing: *self.failing.lock().unwrap(),
            panicking: self.panicking.clone(),
        }))
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let head = options.head;
        let mut result = self.objects.get_opts(path, options).await?;
        if !head {
            self.fetched.lock().unwrap().push(result.range.clone());
        }
        if let Some(e_tag) = &*self.e_tag.lock().unwrap() {
            result.meta.e_tag = Some(e_tag.clone());
        }
        if *self.weak.lock().unwrap() {
            result.meta.e_tag = result.meta.e_tag.map(|tag| format!("W/{tag}"));
        }
        self.replace(path).await?;
        Ok(result)
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let result = self.objects.get_ranges(path, ranges).await?;
        self.fetched.lock().unwrap().extend_from_slice(ranges);
        self.replace(path).await?;
        Ok(result)
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.objects.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.objects.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.objects.copy_opts(from, to, options).await
    }
}
