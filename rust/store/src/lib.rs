//! Encrypted objects in any store of the crate [`object_store`]: S3, GCS, Azure, local files.
//!
//! A [`SealedStore`] wraps a store and is one. It seals each object as a [`veriplex::seekable`] message under a key of
//! its own. A ranged read fetches and opens only the segments that it needs, and no byte is released before its tag is
//! verified. Lengths are those of the plaintext, in listings too.
//!
//! ```
//! use std::sync::Arc;
//!
//! use object_store::{ObjectStore, ObjectStoreExt as _, memory::InMemory, path::Path};
//! use veriplex::{Key, os_rng};
//! use veriplex_store::SealedStore;
//!
//! # #[tokio::main]
//! # async fn main() -> object_store::Result<()> {
//! let key = Key::generate(&mut os_rng());
//! let store: Arc<dyn ObjectStore> = Arc::new(SealedStore::new(InMemory::new(), &key, b"my bucket"));
//!
//! let path = Path::from("data/file");
//! store.put(&path, vec![5; 100_000].into()).await?;
//! assert_eq!(store.get_range(&path, 70_000..70_010).await?, [5; 10][..]);
//! assert_eq!(store.head(&path).await?.size, 100_000);
//! # Ok(())
//! # }
//! ```
//!
//! What an object consists of, what is detected and what is not: see the [README](https://github.com/veriplex/veriplex/blob/main/rust/store/README.md).
//!
//! # Reads
//!
//! The first read of an object opens its last segment before it gives out anything, so an object that was cut is an
//! error at once. What it learns is kept for up to 1024 objects, and used as long as the store returns the same
//! length and e-tag:
//!
//! | read | requests, the first time | and again |
//! |---|---|---|
//! | whole object of up to 128 KiB | the object | the segments |
//! | whole larger object | the object, and the last segment | the segments |
//! | range | the header; then the segments and, at the same time, the last segment | the segments |
//! | ranges (`get_ranges`) | the header; the last segment; the segments | the segments |
//!
//! `head` and listings return lengths as the store gives them: these are verified only when the object is read.

mod cache;
mod error;
mod format;
mod read;
mod upload;

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyMode, CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt as _, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    RenameOptions, RenameTargetMode, Result,
};
use veriplex::Key;

use cache::Cache;
pub use error::{ObjectError, Reason};
use format::Format;
pub use format::HEADER_LEN;
use upload::SealedUpload;

/// A copy of more is uploaded in parts of this length.
const COPY_PART_LEN: u64 = 8 << 20;

/// A store whose objects are sealed.
#[derive(Clone)]
pub struct SealedStore<T> {
    inner: T,
    format: Format,
    cache: Cache,
}

impl<T> SealedStore<T> {
    /// Seals the objects of a store, in segments of 16384 bytes.
    ///
    /// The context distinguishes stores under the same key, by the name of the bucket for instance: an object of one does
    /// not open in another. It need not be secret. All who use the store must give the same.
    #[must_use]
    pub fn new(inner: T, key: &Key, context: &[u8]) -> Self {
        Self {
            inner,
            format: Format::new(key, context),
            cache: Cache::default(),
        }
    }

    /// The same with segments of another length, 64 to 2^24 bytes: it is one for all objects of a store, since lengths in
    /// listings follow from it.
    ///
    /// # Errors
    ///
    /// [`veriplex::Error::BufferLength`] for other lengths.
    pub fn with_segment_len(self, segment_len: usize) -> Result<Self, veriplex::Error> {
        Ok(Self {
            format: self.format.with_segment_len(segment_len)?,
            cache: Cache::default(),
            ..self
        })
    }

    /// The store that holds the sealed objects.
    pub fn inner(&self) -> &T {
        &self.inner
    }
}

impl<T: fmt::Display> fmt::Display for SealedStore<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedStore({})", self.inner)
    }
}

impl<T: fmt::Debug> fmt::Debug for SealedStore<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedStore")
            .field("inner", &self.inner)
            .field("segment_len", &self.format.segment_len())
            .finish_non_exhaustive()
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: ObjectStore> ObjectStore for SealedStore<T> {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        let object = self.format.seal(location, &payload)?;
        drop(payload);
        let result = self.inner.put_opts(location, object.into(), opts).await;
        self.cache.remove(location);
        result
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let inner = self.inner.put_multipart_opts(location, opts).await?;
        let upload = SealedUpload::new(&self.format, self.cache.clone(), location, inner)?;
        Ok(Box::new(upload))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        if options.head {
            self.head(location, options).await
        } else {
            self.read(location, options).await
        }
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let cache = self.cache.clone();
        let deleted = self.inner.delete_stream(locations);
        deleted.inspect_ok(move |path| cache.remove(path)).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let format = self.format.clone();
        let listed = self.inner.list(prefix);
        listed.map(move |meta| Ok(format.plain_meta(meta?)?)).boxed()
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let format = self.format.clone();
        let listed = self.inner.list_with_offset(prefix, offset);
        listed.map(move |meta| Ok(format.plain_meta(meta?)?)).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut listed = self.inner.list_with_delimiter(prefix).await?;
        for meta in &mut listed.objects {
            *meta = self.format.plain_meta(meta.clone())?;
        }
        Ok(listed)
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let source = self.get_opts(from, GetOptions::default()).await?;
        self.put_copy(source, to, options).await
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        let RenameOptions {
            target_mode,
            extensions,
        } = options;
        if from == to {
            // Copying it and deleting the original would lose it.
            self.inner.head(from).await?;
            return match target_mode {
                RenameTargetMode::Overwrite => Ok(()),
                RenameTargetMode::Create => Err(Error::AlreadyExists {
                    path: to.to_string(),
                    source: "an object cannot be renamed to itself".into(),
                }),
            };
        }
        let mode = match target_mode {
            RenameTargetMode::Overwrite => CopyMode::Overwrite,
            RenameTargetMode::Create => CopyMode::Create,
        };
        self.copy_opts(from, to, CopyOptions { mode, extensions }).await?;
        self.delete(from).await
    }
}

impl<T: ObjectStore> SealedStore<T> {
    /// Seals an object of the same store under this key instead of that of `old`. `false` if it was already.
    ///
    /// The object is streamed from one to the other, and replaced at the end: an interrupted change leaves it as it was, and
    /// is repeated by another call. Nobody else may write to it meanwhile.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use object_store::{ObjectStoreExt as _, memory::InMemory, path::Path};
    /// # use veriplex::{Key, os_rng};
    /// # use veriplex_store::SealedStore;
    /// # #[tokio::main]
    /// # async fn main() -> object_store::Result<()> {
    /// let bucket = Arc::new(InMemory::new());
    /// let [old, new] = [(); 2].map(|()| Key::generate(&mut os_rng()));
    /// let [old, new] = [old, new].map(|key| SealedStore::new(bucket.clone(), &key, b"my bucket"));
    /// let path = Path::from("file");
    /// old.put(&path, "content".into()).await?;
    /// assert!(new.reseal(&path, &old).await?);
    /// assert_eq!(new.get(&path).await?.bytes().await?, "content");
    /// assert!(old.get(&path).await.is_err());
    /// assert!(!new.reseal(&path, &old).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Those of reading it with `old`, and of writing it; an object that is damaged stays as it is.
    pub async fn reseal(&self, path: &Path, old: &Self) -> Result<bool> {
        match self.get_opts(path, GetOptions::default()).await {
            Ok(_) => return Ok(false),
            Err(error) if ObjectError::of(&error).is_some_and(|error| *error.reason() == Reason::Key) => (),
            Err(error) => return Err(error),
        }
        let source = old.get_opts(path, GetOptions::default()).await?;
        self.put_copy(source, path, CopyOptions::default()).await?;
        // It has changed behind its back.
        old.cache.remove(path);
        Ok(true)
    }

    async fn put_copy(&self, source: GetResult, to: &Path, options: CopyOptions) -> Result<()> {
        let CopyOptions { mode, extensions } = options;
        let attributes = source.attributes.clone();
        let size = source.meta.size;
        // An upload in parts cannot spare an object that is there.
        if size <= COPY_PART_LEN || mode == CopyMode::Create {
            let options = PutOptions {
                mode: match mode {
                    CopyMode::Overwrite => PutMode::Overwrite,
                    CopyMode::Create => PutMode::Create,
                },
                attributes,
                extensions,
                ..PutOptions::default()
            };
            self.put_opts(to, source.bytes().await?.into(), options).await?;
            return Ok(());
        }
        let options = PutMultipartOptions {
            attributes,
            extensions,
            ..PutMultipartOptions::default()
        };
        let mut upload = self.put_multipart_opts(to, options).await?;
        let copied = copy_parts(source, upload.as_mut()).await;
        if copied.is_err() {
            // The first error is the one to report.
            let _ = upload.abort().await;
        }
        copied
    }
}

async fn copy_parts(source: GetResult, upload: &mut dyn MultipartUpload) -> Result<()> {
    let mut stream = source.into_stream();
    let mut part = Vec::new();
    let mut len = 0;
    while let Some(bytes) = stream.try_next().await? {
        len += bytes.len() as u64;
        part.push(bytes);
        if len >= COPY_PART_LEN {
            upload.put_part(part.drain(..).collect()).await?;
            len = 0;
        }
    }
    if len > 0 {
        upload.put_part(part.into_iter().collect()).await?;
    }
    upload.complete().await?;
    Ok(())
}
