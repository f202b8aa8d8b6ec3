//! Writing: sealing what comes in parts of any length, and uploading it.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use futures_util::future::{ready, try_join_all};
use object_store::path::Path;
use object_store::{MultipartUpload, PutPayload, PutResult, Result, UploadPart};
use veriplex::seekable::SealWriter;

use crate::cache::Cache;
use crate::format::Format;
use crate::{ObjectError, Reason};

/// S3 takes no smaller parts, except at the end.
const MIN_PART_LEN: usize = 5 << 20;

/// Sealed bytes until they make a part.
#[derive(Clone, Debug, Default)]
struct Sealed(Arc<Mutex<BytesMut>>);

impl Sealed {
    /// Takes a part of this many bytes off, if they are there.
    fn take(&self, len: usize) -> Option<Bytes> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (bytes.len() >= len).then(|| bytes.split_to(len).freeze())
    }

    fn take_rest(&self) -> Bytes {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.split().freeze()
    }
}

impl Write for Sealed {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Seals parts in the order in which they are put, and uploads parts of one length.
pub(crate) struct SealedUpload {
    inner: Box<dyn MultipartUpload>,
    path: Path,
    cache: Cache,
    /// Until the end. Without it, after an error or a panic of the store in [`MultipartUpload::put_part`] too, what was sealed
    /// may be missing.
    writer: Option<SealWriter<Sealed>>,
    sealed: Sealed,
    /// That of the first part put, so that an object has about as many parts as its writer counts on.
    part_len: Option<usize>,
    put: usize,
    uploaded: Arc<AtomicUsize>,
}

impl SealedUpload {
    pub(crate) fn new(
        format: &Format,
        cache: Cache,
        path: &Path,
        inner: Box<dyn MultipartUpload>,
    ) -> Result<Self, ObjectError> {
        let (header, message) = format.create(path)?;
        let sealed = Sealed(Arc::new(Mutex::new(BytesMut::from(&header[..]))));
        Ok(Self {
            inner,
            path: path.clone(),
            cache,
            writer: Some(SealWriter::new(&message, sealed.clone())),
            sealed,
            part_len: None,
            put: 0,
            uploaded: Arc::default(),
        })
    }

    fn error(&self) -> object_store::Error {
        ObjectError::new(&self.path, Reason::Upload).into()
    }
}

#[async_trait]
impl MultipartUpload for SealedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let part_len = *(self.part_len).get_or_insert(data.content_length().max(MIN_PART_LEN));
        let Some(mut writer) = self.writer.take() else {
            return ready(Err(self.error())).boxed();
        };
        let mut parts = Vec::new();
        for bytes in &data {
            if writer.write_all(bytes).is_err() {
                return ready(Err(self.error())).boxed();
            }
            while let Some(part) = self.sealed.take(part_len) {
                parts.push(self.inner.put_part(part.into()));
            }
        }
        self.writer = Some(writer);
        if parts.is_empty() {
            return ready(Ok(())).boxed();
        }
        self.put += 1;
        let uploaded = self.uploaded.clone();
        async move {
            try_join_all(parts).await?;
            uploaded.fetch_add(1, Ordering::AcqRel);
            Ok(())
        }
        .boxed()
    }

    async fn complete(&mut self) -> Result<PutResult> {
        // A part whose future was dropped is missing, which not every store notices.
        if self.uploaded.load(Ordering::Acquire) != self.put {
            return Err(self.error());
        }
        let writer = self.writer.take().ok_or_else(|| self.error())?;
        writer.finish().map_err(|_| self.error())?;
        let part_len = self.part_len.unwrap_or(MIN_PART_LEN);
        while let Some(part) = self.sealed.take(part_len) {
            self.inner.put_part(part.into()).await?;
        }
        let rest = self.sealed.take_rest();
        if !rest.is_empty() {
            self.inner.put_part(rest.into()).await?;
        }
        let result = self.inner.complete().await;
        self.cache.remove(&self.path);
        result
    }

    async fn abort(&mut self) -> Result<()> {
        self.writer = None;
        self.inner.abort().await
    }
}

impl fmt::Debug for SealedUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealedUpload")
            .field("inner", &self.inner)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
