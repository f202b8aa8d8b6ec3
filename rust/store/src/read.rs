//! Reading: which bytes to fetch, and opening them.

use std::mem;
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use futures_util::future::try_join;
use futures_util::stream::{self, BoxStream, StreamExt as _, TryStreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    Error, GetOptions, GetRange, GetResult, GetResultPayload, ObjectMeta, ObjectStore, ObjectStoreExt as _,
    PutPayload, Result,
};
use veriplex::seekable::{Layout, Message, Opener};

use crate::cache::Verified;
use crate::format::{HEADER, HEADER_LEN, resolve, stored_range};
use crate::{ObjectError, Reason, SealedStore};

/// How often a read starts again because the object was replaced meanwhile.
const ATTEMPTS: usize = 5;

/// An object whose header was read.
struct Begun {
    meta: ObjectMeta,
    message: Message,
    layout: Layout,
}

impl Begun {
    fn verified(&self, opener: Opener) -> Verified {
        Verified {
            stored_len: self.meta.size,
            e_tag: self.meta.e_tag.clone(),
            opener,
        }
    }
}

/// `None` if the object was replaced.
type Unchanged<T> = Result<Option<T>>;

impl<T: ObjectStore> SealedStore<T> {
    pub(crate) async fn read(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        // Versions have no place in the cache.
        if options.version.is_none()
            && let Some(verified) = self.cache.get(path)
        {
            // If anything is wrong with what was known, what follows finds out what it is.
            if let Ok(Some(result)) = self.read_verified(path, &options, &verified).await {
                return Ok(result);
            }
            self.cache.remove(path);
        }
        for _ in 0..ATTEMPTS {
            let read = match &options.range {
                None => self.read_all(path, &options).await?,
                Some(range) => self.read_range(path, &options, range).await?,
            };
            if let Some(result) = read {
                return Ok(result);
            }
        }
        Err(ObjectError::new(path, Reason::Changed).into())
    }

    /// Only the length, as the store gives it.
    pub(crate) async fn head(&self, path: &Path, mut options: GetOptions) -> Result<GetResult> {
        let range = options.range.take();
        let result = self.inner.get_opts(path, options).await?;
        let meta = self.format.plain_meta(ObjectMeta {
            location: path.clone(),
            ..result.meta
        })?;
        Ok(GetResult {
            payload: nothing(),
            range: resolve(path, range.as_ref(), meta.size)?,
            meta,
            ..result
        })
    }

    async fn read_verified(
        &self,
        path: &Path,
        options: &GetOptions,
        verified: &Verified,
    ) -> Unchanged<GetResult> {
        let layout = verified.opener.layout();
        let range = resolve(path, options.range.as_ref(), layout.plaintext_len())?;
        let segments = layout.segments_of(range.clone());
        if segments.is_empty() {
            return Ok(None);
        }
        let stored = stored_range(layout, segments.clone());
        let mut options = options.clone();
        options.range = Some(GetRange::Bounded(stored.clone()));
        let result = self.inner.get_opts(path, options).await?;
        if !verified.is(&result.meta) || result.range != stored {
            return Ok(None);
        }
        let (about, stream) = split(result).await?;
        let body = Body::new(
            self.format.batch(),
            path,
            verified.opener.clone(),
            segments,
            &range,
        );
        let payload = body.open(stream, BytesMut::new()).await?;
        self.answer(path, about, range, payload).map(Some)
    }

    /// What the store said of an object, with this range of the plaintext.
    fn answer(
        &self,
        path: &Path,
        about: GetResult,
        range: Range<u64>,
        payload: BoxStream<'static, Result<Bytes>>,
    ) -> Result<GetResult> {
        Ok(GetResult {
            payload: GetResultPayload::Stream(payload),
            meta: self.plain_meta(path, about.meta)?,
            range,
            ..about
        })
    }

    fn plain_meta(&self, path: &Path, meta: ObjectMeta) -> Result<ObjectMeta> {
        let location = path.clone();
        Ok(self.format.plain_meta(ObjectMeta { location, ..meta })?)
    }

    /// The whole object in one request, in two if it is not small.
    async fn read_all(&self, path: &Path, options: &GetOptions) -> Unchanged<GetResult> {
        let result = self.inner.get_opts(path, options.clone()).await?;
        let layout = self.format.layout(path, result.meta.size)?;
        if result.range != (0..result.meta.size) {
            return Err(ObjectError::new(path, Reason::Answer).into());
        }
        let (about, mut stream) = split(result).await?;
        let mut buffer = BytesMut::new();
        fill(path, &mut stream, &mut buffer, HEADER).await?;
        let header = buffer.split_to(HEADER);
        let begun = Begun {
            message: self.message(path, &header)?,
            meta: about.meta.clone(),
            layout,
        };
        let n = layout.segments();
        let range = 0..layout.plaintext_len();
        let (opener, payload) = if n <= self.format.batch() {
            let len = len_in_memory(path, layout.sealed_len())?;
            fill(path, &mut stream, &mut buffer, len).await?;
            let (opener, bytes) = open_to_end(path, &begun, 0..n, buffer.split_to(len), &range)?;
            (opener, stream::iter([Ok(bytes)]).boxed())
        } else {
            let Some(opener) = self.open_last(path, &begun, options).await? else {
                return Ok(None);
            };
            let body = Body::new(self.format.batch(), path, opener.clone(), 0..n, &range);
            (opener, body.open(stream, buffer).await?)
        };
        self.remember(path, options, &begun.verified(opener));
        self.answer(path, about, range, payload).map(Some)
    }

    /// The header; then the segments needed, and the last one.
    async fn read_range(&self, path: &Path, options: &GetOptions, range: &GetRange) -> Unchanged<GetResult> {
        let (begun, about) = self.begin(path, options).await?;
        let layout = begun.layout;
        let n = layout.segments();
        let range = match resolve(path, Some(range), layout.plaintext_len()) {
            Ok(range) => range,
            Err(error) => {
                // Perhaps the object was cut.
                let opened = self.open_last(path, &begun, options).await?;
                return opened.map_or(Ok(None), |_| Err(error.into()));
            }
        };
        let mut segments = layout.segments_of(range.clone());
        if segments.is_empty() {
            segments = n - 1..n;
        }
        let (opener, payload) = if segments.end == n && n - segments.start <= self.format.batch() {
            let fetched = self.fetch(path, &begun, options, segments.clone()).await?;
            let Some(mut stream) = fetched else {
                return Ok(None);
            };
            let stored = stored_range(&layout, segments.clone());
            let len = len_in_memory(path, stored.end - stored.start)?;
            let mut slots = BytesMut::with_capacity(len);
            fill(path, &mut stream, &mut slots, len).await?;
            let slots = slots.split_to(len);
            let (opener, bytes) = open_to_end(path, &begun, segments, slots, &range)?;
            (opener, stream::iter([Ok(bytes)]).boxed())
        } else {
            let fetched = try_join(
                self.open_last(path, &begun, options),
                self.fetch(path, &begun, options, segments.clone()),
            );
            let (Some(opener), Some(stream)) = fetched.await? else {
                return Ok(None);
            };
            let body = Body::new(self.format.batch(), path, opener.clone(), segments, &range);
            (opener, body.open(stream, BytesMut::new()).await?)
        };
        self.remember(path, options, &begun.verified(opener));
        self.answer(path, about, range, payload).map(Some)
    }

    pub(crate) async fn read_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        if ranges.is_empty() {
            return Ok(Vec::new());
        }
        let mut verified = match self.cache.get(path) {
            Some(verified) => verified,
            None => self.verify(path).await?,
        };
        for _ in 0..ATTEMPTS {
            let error = match self.try_ranges(path, &verified, ranges).await {
                Ok(read) => return Ok(read),
                Err(error) => error,
            };
            // The ranges come without a word on which object they are of: perhaps it was replaced.
            self.cache.remove(path);
            let now = self.verify(path).await?;
            let same = now.e_tag == verified.e_tag && now.stored_len == verified.stored_len;
            if same && (ObjectError::of(&error)).is_none_or(|error| *error.reason() != Reason::Verification) {
                return Err(error);
            }
            if same {
                // Not every store changes the tag of an object with each change: so one more attempt with what is there.
                return self.try_ranges(path, &now, ranges).await;
            }
            verified = now;
        }
        Err(ObjectError::new(path, Reason::Changed).into())
    }

    async fn try_ranges(
        &self,
        path: &Path,
        verified: &Verified,
        ranges: &[Range<u64>],
    ) -> Result<Vec<Bytes>> {
        let layout = verified.opener.layout();
        let mut wanted = Vec::with_capacity(ranges.len());
        for range in ranges {
            let range = GetRange::Bounded(range.clone());
            wanted.push(resolve(path, Some(&range), layout.plaintext_len())?);
        }
        // Each segment once, in runs.
        let mut runs: Vec<_> = (wanted.iter())
            .map(|range| layout.segments_of(range.clone()))
            .collect();
        runs.sort_by_key(|segments| segments.start);
        runs.dedup_by(|next, run| {
            let joined = next.start <= run.end;
            if joined {
                run.end = run.end.max(next.end);
            }
            joined
        });
        let stored: Vec<_> = (runs.iter())
            .map(|run| stored_range(layout, run.clone()))
            .collect();
        let fetched = self.inner.get_ranges(path, &stored).await?;
        if fetched.len() != runs.len() {
            return Err(ObjectError::new(path, Reason::Answer).into());
        }
        let mut opened = Vec::with_capacity(runs.len());
        for ((run, stored), slots) in runs.iter().zip(&stored).zip(fetched) {
            if slots.len() as u64 != stored.end - stored.start {
                return Err(ObjectError::new(path, Reason::Answer).into());
            }
            // Not in place if the store itself holds these bytes.
            let slots = slots
                .try_into_mut()
                .unwrap_or_else(|shared| BytesMut::from(&shared[..]));
            opened.push(open(path, &verified.opener, run.start, slots)?);
        }
        let segment_len = layout.segment_len() as u64;
        Ok((wanted.into_iter())
            .map(|range| {
                let segment = range.start / segment_len;
                let run = runs.partition_point(|run| run.start <= segment) - 1;
                slice(&opened[run], runs[run].start * segment_len, &range)
            })
            .collect())
    }

    /// Opens the last segment.
    async fn verify(&self, path: &Path) -> Result<Verified> {
        let options = GetOptions::default();
        for _ in 0..ATTEMPTS {
            let (begun, _) = self.begin(path, &options).await?;
            if let Some(opener) = self.open_last(path, &begun, &options).await? {
                let verified = begun.verified(opener);
                self.remember(path, &options, &verified);
                return Ok(verified);
            }
        }
        Err(ObjectError::new(path, Reason::Changed).into())
    }

    fn remember(&self, path: &Path, options: &GetOptions, verified: &Verified) {
        if options.version.is_none() {
            self.cache.insert(path, verified);
        }
    }

    fn message(&self, path: &Path, header: &[u8]) -> Result<Message> {
        let header = (header.try_into()).map_err(|_| ObjectError::new(path, Reason::Answer))?;
        Ok(self.format.message(path, header)?)
    }

    /// Fetches the header. Returns what the store said of the object, too.
    async fn begin(&self, path: &Path, options: &GetOptions) -> Result<(Begun, GetResult)> {
        let mut of_header = options.clone();
        of_header.range = Some(GetRange::Bounded(0..HEADER_LEN));
        let result = match self.inner.get_opts(path, of_header).await {
            // An empty object has no such range.
            Err(error @ Error::Generic { .. }) => {
                let mut of_length = options.clone();
                (of_length.range, of_length.head) = (None, true);
                if let Ok(result) = self.inner.get_opts(path, of_length).await {
                    self.format.layout(path, result.meta.size)?;
                }
                return Err(error);
            }
            result => result?,
        };
        let layout = self.format.layout(path, result.meta.size)?;
        if result.range != (0..HEADER_LEN) {
            return Err(ObjectError::new(path, Reason::Answer).into());
        }
        let (about, mut stream) = split(result).await?;
        let mut header = BytesMut::new();
        fill(path, &mut stream, &mut header, HEADER).await?;
        let begun = Begun {
            message: self.message(path, &header)?,
            meta: about.meta.clone(),
            layout,
        };
        Ok((begun, about))
    }

    /// Fetches segments of an object whose header was read.
    async fn fetch(
        &self,
        path: &Path,
        begun: &Begun,
        options: &GetOptions,
        segments: Range<u64>,
    ) -> Unchanged<BoxStream<'static, Result<Bytes>>> {
        let stored = stored_range(&begun.layout, segments);
        let e_tag = begun.meta.e_tag.as_ref();
        let mut options = GetOptions {
            range: Some(GetRange::Bounded(stored.clone())),
            version: options.version.clone(),
            // A weak tag matches nothing.
            if_match: e_tag.filter(|tag| !tag.starts_with("W/")).cloned(),
            extensions: options.extensions.clone(),
            ..GetOptions::default()
        };
        let replaced = |meta: &ObjectMeta| meta.e_tag != begun.meta.e_tag || meta.size != begun.meta.size;
        let result = match self.inner.get_opts(path, options.clone()).await {
            Ok(result) => result,
            Err(Error::Precondition { .. }) => return Ok(None),
            Err(error) => {
                // The range may lie outside of what the object was replaced by.
                (options.range, options.head) = (None, true);
                return match self.inner.get_opts(path, options).await {
                    Err(Error::Precondition { .. }) => Ok(None),
                    Ok(result) if replaced(&result.meta) => Ok(None),
                    _ => Err(error),
                };
            }
        };
        if replaced(&result.meta) {
            return Ok(None);
        }
        if result.range != stored {
            return Err(ObjectError::new(path, Reason::Answer).into());
        }
        Ok(Some(result.into_stream()))
    }

    /// Fetches and opens the last segment: then the object was not cut.
    async fn open_last(&self, path: &Path, begun: &Begun, options: &GetOptions) -> Unchanged<Opener> {
        let n = begun.layout.segments();
        let Some(mut stream) = self.fetch(path, begun, options, n - 1..n).await? else {
            return Ok(None);
        };
        let range = begun.layout.sealed_range(n - 1..n);
        let len = len_in_memory(path, range.end - range.start)?;
        let mut slot = BytesMut::with_capacity(len);
        fill(path, &mut stream, &mut slot, len).await?;
        let opener = (begun.message).opener(begun.layout.sealed_len(), &mut slot[..len]);
        let opener = opener.map_err(|_| ObjectError::new(path, Reason::Verification))?;
        Ok(Some(opener))
    }
}

fn nothing() -> GetResultPayload {
    GetResultPayload::Stream(stream::empty().boxed())
}

/// What a store said of an object, and the bytes.
///
/// `GetResult` has other fields in `object_store` 0.13 than in 0.14. So answers are never made from parts: they are what
/// the store said, with some fields replaced.
#[allow(clippy::match_wildcard_for_single_variants)]
async fn split(mut about: GetResult) -> Result<(GetResult, BoxStream<'static, Result<Bytes>>)> {
    let bytes = match mem::replace(&mut about.payload, nothing()) {
        GetResultPayload::Stream(stream) => stream,
        // With the feature `fs` of `object_store` it may be a file, which has no name without that feature.
        #[allow(unreachable_patterns)]
        payload => {
            let range = about.range.clone();
            let any = any_result().await?;
            let file = GetResult {
                payload,
                range,
                ..any
            };
            file.into_stream()
        }
    };
    Ok((about, bytes))
}

/// Some result: `GetResult` has no constructor.
async fn any_result() -> Result<GetResult> {
    let (store, path) = (InMemory::new(), Path::from("object"));
    store.put(&path, PutPayload::new()).await?;
    store.get(&path).await
}

fn len_in_memory(path: &Path, len: u64) -> Result<usize, ObjectError> {
    usize::try_from(len).map_err(|_| ObjectError::new(path, Reason::TooLarge))
}

/// Reads until the buffer has so many bytes.
async fn fill(
    path: &Path,
    stream: &mut BoxStream<'static, Result<Bytes>>,
    buffer: &mut BytesMut,
    len: usize,
) -> Result<()> {
    while buffer.len() < len {
        match stream.next().await {
            Some(bytes) => buffer.extend_from_slice(&bytes?),
            None => return Err(ObjectError::new(path, Reason::Answer).into()),
        }
    }
    Ok(())
}

/// Opens consecutive segments.
fn open(path: &Path, opener: &Opener, first: u64, mut slots: BytesMut) -> Result<Bytes, ObjectError> {
    let opened = opener.open(first, &mut slots);
    let len = opened
        .map_err(|_| ObjectError::new(path, Reason::Verification))?
        .len();
    slots.truncate(len);
    Ok(slots.freeze())
}

/// Opens segments up to the last one, which comes first.
fn open_to_end(
    path: &Path,
    begun: &Begun,
    segments: Range<u64>,
    mut slots: BytesMut,
    range: &Range<u64>,
) -> Result<(Opener, Bytes), ObjectError> {
    let layout = &begun.layout;
    let last = layout.sealed_range(segments.end - 1..segments.end);
    let last_len = len_in_memory_of(&last);
    let mut last_slot = slots.split_off(slots.len() - last_len);
    let opener = begun.message.opener(layout.sealed_len(), &mut last_slot);
    let opener = opener.map_err(|_| ObjectError::new(path, Reason::Verification))?;
    last_slot.truncate(last_len - veriplex::TAG_LEN);
    let mut bytes = BytesMut::with_capacity(slots.len() + last_len);
    if !slots.is_empty() {
        bytes.extend_from_slice(&open(path, &opener, segments.start, slots)?);
    }
    bytes.unsplit(last_slot);
    let start = segments.start * layout.segment_len() as u64;
    Ok((opener, slice(&bytes.freeze(), start, range)))
}

/// The length of something that is in memory.
fn len_in_memory_of(range: &Range<u64>) -> usize {
    usize::try_from(range.end - range.start).unwrap_or(usize::MAX)
}

/// What lies in `range`, of plaintext that begins at `start`.
fn slice(bytes: &Bytes, start: u64, range: &Range<u64>) -> Bytes {
    let [from, to] = [range.start, range.end].map(|at| {
        let at = usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
        at.min(bytes.len())
    });
    bytes.slice(from..to)
}

/// Segments that are still to be opened.
struct Body {
    batch: u64,
    path: Path,
    opener: Opener,
    segments: Range<u64>,
    range: Range<u64>,
}

impl Body {
    fn new(batch: u64, path: &Path, opener: Opener, segments: Range<u64>, range: &Range<u64>) -> Self {
        Self {
            batch,
            path: path.clone(),
            opener,
            segments,
            range: range.clone(),
        }
    }

    /// The plaintext as a stream, of which the first part was opened.
    async fn open(
        mut self,
        mut stream: BoxStream<'static, Result<Bytes>>,
        mut buffer: BytesMut,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let first = self.next(&mut stream, &mut buffer).await?;
        let rest = stream::try_unfold(
            (self, stream, buffer),
            |(mut body, mut stream, mut buffer)| async {
                let bytes = body.next(&mut stream, &mut buffer).await?;
                Ok(bytes.map(|bytes| (bytes, (body, stream, buffer))))
            },
        );
        Ok(stream::iter(first.map(Ok)).chain(rest).into_stream().boxed())
    }

    async fn next(
        &mut self,
        stream: &mut BoxStream<'static, Result<Bytes>>,
        buffer: &mut BytesMut,
    ) -> Result<Option<Bytes>> {
        if self.segments.is_empty() {
            return Ok(None);
        }
        let first = self.segments.start;
        let end = self.segments.end.min(first + self.batch);
        let len = len_in_memory_of(&self.opener.layout().sealed_range(first..end));
        fill(&self.path, stream, buffer, len).await?;
        let bytes = open(&self.path, &self.opener, first, buffer.split_to(len))?;
        self.segments.start = end;
        let start = first * self.opener.layout().segment_len() as u64;
        Ok(Some(slice(&bytes, start, &self.range)))
    }
}
