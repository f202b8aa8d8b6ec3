//! Which segments hold what a query needs, and which were fetched.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use bytes::Bytes;
use datafusion::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use futures_util::TryStreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use veriplex_store::HEADER_LEN;
use veriplex_store_datafusion::{FOLDER, FOOTER};

const SEGMENT: u64 = 16384;
/// How long a segment is in a stored object, with its tag.
const SEALED: u64 = SEGMENT + 16;

/// By their objects and numbers.
pub type Segments = BTreeSet<(Path, u64)>;

/// The segments with these bytes of a plaintext.
fn numbers(range: Range<u64>) -> Range<u64> {
    range.start / SEGMENT..range.end.div_ceil(SEGMENT)
}

/// The file of a day.
pub fn file(day: i64) -> Path {
    Path::from(format!("{FOLDER}/{day}.parquet"))
}

/// The files of a data set: length and footer.
pub struct Files(BTreeMap<Path, (u64, ParquetMetaData)>);

impl Files {
    pub async fn read(store: &impl ObjectStore) -> Self {
        let listed: Vec<_> = store.list(None).try_collect().await.unwrap();
        let mut files = BTreeMap::new();
        for meta in listed {
            let bytes: Bytes = store.get(&meta.location).await.unwrap().bytes().await.unwrap();
            assert_eq!(bytes.len() as u64, meta.size);
            let footer = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
            files.insert(meta.location, (meta.size, footer));
        }
        Self(files)
    }

    /// The row groups of each file.
    pub fn groups(&self) -> Vec<usize> {
        self.0
            .values()
            .map(|(_, footer)| footer.num_row_groups())
            .collect()
    }

    /// Those with these columns of these row groups.
    pub fn with_columns(&self, columns: &[&str], groups: impl Fn(&Path, usize) -> bool) -> Segments {
        let mut segments = Segments::new();
        for (path, (_, footer)) in &self.0 {
            for (_, group) in (footer.row_groups().iter().enumerate()).filter(|(i, _)| groups(path, *i)) {
                for column in group.columns() {
                    if columns.contains(&column.column_path().string().as_str()) {
                        let (start, len) = column.byte_range();
                        segments.extend(numbers(start..start + len).map(|i| (path.clone(), i)));
                    }
                }
            }
        }
        segments
    }

    /// Those at the ends of files in which DataFusion looks for footers.
    pub fn with_footers(&self) -> Segments {
        let ends = self.0.iter().flat_map(|(path, (len, footer))| {
            let chunks = (footer.row_groups().iter()).flat_map(RowGroupMetaData::columns);
            let data_end = chunks
                .map(|chunk| chunk.byte_range().0 + chunk.byte_range().1)
                .max();
            assert!(len - data_end.unwrap() < FOOTER as u64, "a larger footer");
            numbers(len - FOOTER as u64..*len).map(|i| (path.clone(), i))
        });
        ends.collect()
    }
}

/// What was fetched of stored objects: segments, and how many bytes.
pub fn fetched(ranges: &[(Path, Range<u64>)]) -> (Segments, u64) {
    let mut segments = Segments::new();
    for (path, range) in ranges.iter().filter(|(_, range)| *range != (0..HEADER_LEN)) {
        assert_eq!((range.start - HEADER_LEN) % SEALED, 0, "{path}, {range:?}");
        let numbers = (range.start - HEADER_LEN) / SEALED..(range.end - HEADER_LEN).div_ceil(SEALED);
        segments.extend(numbers.map(|i| (path.clone(), i)));
    }
    (
        segments,
        ranges.iter().map(|(_, range)| range.end - range.start).sum(),
    )
}

/// How long these segments are if none is the last of its object.
pub fn sealed_len(segments: &Segments) -> u64 {
    segments.len() as u64 * SEALED
}
