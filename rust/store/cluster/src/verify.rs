//! Verification of a part of an object by an outboard, on all executors: a function of SQL.
//!
//! `veriplex_verify(url, outboard, digest, start, end)` fetches the bytes from `start` up to `end` of an object, and of its
//! outboard what these need, verifies them under the digest, in hexadecimal, and returns how many they are. The outboard
//! is an object too, as `veriplex sum --outboard` writes it: nobody need trust it. [`query`] lets executors share the bytes.

use std::io::{self, Read, Seek, SeekFrom};
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::ScalarUDF;
use object_store::{ObjectStore as _, ObjectStoreExt as _};
use url::Url;
use veriplex::digest::Digest;
use veriplex::tree::outboard::{Reader, outboard_len};
use veriplex::tree::{CHUNK_LEN, CV_LEN};

use crate::Buckets;
use crate::function::{self, failed, number, text};
use crate::tree::{PART_LEN, tree};

const VERIFY: &str = "veriplex_verify";
/// What precedes the outboard in its object: what `veriplex sum` writes, and the length of what was hashed.
const HEADER: &[u8] = b"VPX-TREE\x01";
const HEADER_LEN: u64 = 9 + 8;

/// The query that verifies these bytes of an object: it counts them.
#[must_use]
pub fn query(url: &Url, outboard: &Url, digest: &Digest, range: Range<u64>) -> String {
    let [url, outboard] = [url, outboard].map(|url| url.as_str().replace('\'', "''"));
    let Range { start, end } = range;
    // Parts begin where chunks do, and of nothing there is one part.
    let first = start - start % CHUNK_LEN as u64;
    let last = end.max(first + 1);
    format!(
        "SELECT sum(verified) FROM (SELECT veriplex_verify('{url}', '{outboard}', '{digest}', greatest(at, {start}), \
         least(at + {PART_LEN}, {end})) AS verified \
         FROM (SELECT DISTINCT unnest(range({first}, {last}, {PART_LEN})) AS at))"
    )
}

/// The function, for objects of these buckets.
#[must_use]
pub fn function(buckets: &Arc<Buckets>) -> Arc<ScalarUDF> {
    let buckets = buckets.clone();
    let arguments = [vec![DataType::Utf8; 3], vec![DataType::Int64; 2]].concat();
    function::new(VERIFY, arguments, DataType::Int64, move |arguments| {
        let buckets = buckets.clone();
        async move {
            let [url, outboard, digest] = [0, 1, 2].map(|i| text(VERIFY, &arguments[i]));
            let [start, end] = [3, 4].map(|i| number(VERIFY, &arguments[i]));
            let digest: Digest = digest?.parse().map_err(|error| failed(VERIFY, error))?;
            let verified = verify(&buckets, url?, outboard?, &digest, start?..end?).await?;
            Ok(ScalarValue::Int64(Some(verified)))
        }
    })
}

async fn verify(
    buckets: &Buckets,
    url: &str,
    outboard: &str,
    digest: &Digest,
    range: Range<u64>,
) -> Result<i64> {
    log::debug!("bytes {range:?} of {url}");
    let (store, path) = buckets.object(url)?;
    let (outboards, outboard_path) = buckets.object(outboard)?;
    let failed = |what: &str| failed(VERIFY, format_args!("object {:?}: {what}", path.as_ref()));
    let len = store.head(&path).await?.size;
    if range.start > range.end || range.end > len || range.is_empty() && len > 0 {
        return Err(failed("has no such range"));
    }
    if outboards.head(&outboard_path).await?.size != HEADER_LEN + outboard_len(len) {
        return Err(failed("is not as long as what the outboard is of"));
    }

    let mut strings = strings(len, &range);
    let chunks = strings.remove(0);
    let message = if len == 0 {
        store.get(&path).await?.bytes().await?
    } else {
        store.get_range(&path, chunks.clone()).await?
    };
    let wanted: Vec<_> = (strings.iter())
        .map(|string| moved(string.clone(), HEADER_LEN))
        .chain(iter::once(0..HEADER_LEN))
        .collect();
    let mut found = outboards.get_ranges(&outboard_path, &wanted).await?;
    let header = [HEADER, &len.to_le_bytes()].concat();
    if found.pop().is_none_or(|found| found[..] != header) {
        return Err(failed("the outboard is of something of another length, or none"));
    }
    let strings = strings.iter().map(|string| string.start).zip(found);

    let differs = |_| failed("differs from what was hashed, or its outboard is of something else");
    let [message, strings] = [vec![(chunks.start, message)], strings.collect()].map(Pieces::new);
    let mut reader = Reader::new(&tree(), digest, len, message, strings).map_err(differs)?;
    reader.seek(SeekFrom::Start(range.start)).map_err(differs)?;
    let verified = io::copy(&mut reader.take(range.end - range.start), &mut io::sink()).map_err(differs)?;
    i64::try_from(verified).map_err(|_| failed("is too long"))
}

/// Where what verifies a range lies: its chunks in the message, and above these, level by level, others in the outboard.
fn strings(len: u64, range: &Range<u64>) -> Vec<Range<u64>> {
    let (chunk_len, cv_len) = (CHUNK_LEN as u64, CV_LEN as u64);
    let mut lens = vec![len];
    while let Some(below) = lens.last().copied().filter(|len| *len > chunk_len) {
        lens.push(below.div_ceil(chunk_len) * cv_len);
    }
    let mut chunks = [range.start, range.end.saturating_sub(1)];
    let levels = lens.iter().enumerate().map(|(level, len)| {
        chunks = chunks.map(|place| place / chunk_len);
        let [start, end] = [chunks[0] * chunk_len, (chunks[1] + 1) * chunk_len];
        chunks = chunks.map(|number| number * cv_len);
        let range = start..end.min(*len);
        match level {
            0 => range,
            // The outboard begins with the root's level.
            _ => moved(range, lens[level + 1..].iter().sum()),
        }
    });
    levels.collect()
}

fn moved(range: Range<u64>, by: u64) -> Range<u64> {
    range.start + by..range.end + by
}

/// Parts of something longer, each with its place there.
struct Pieces<B> {
    pieces: Vec<(u64, B)>,
    place: u64,
}

impl<B: AsRef<[u8]>> Pieces<B> {
    fn new(pieces: Vec<(u64, B)>) -> Self {
        Self { pieces, place: 0 }
    }
}

impl<B: AsRef<[u8]>> Read for Pieces<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let here = self.pieces.iter().find_map(|(start, piece)| {
            let skipped = usize::try_from(self.place.checked_sub(*start)?).ok()?;
            piece.as_ref().get(skipped..).filter(|rest| !rest.is_empty())
        });
        let n = here.unwrap_or_default().read(buffer)?;
        self.place += n as u64;
        Ok(n)
    }
}

impl<B> Seek for Pieces<B> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // The reader also asks where it is.
        if let SeekFrom::Start(place) = to {
            self.place = place;
        }
        Ok(self.place)
    }
}
