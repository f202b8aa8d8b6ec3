//! DataFusion on Parquet files in a [`SealedStore`](veriplex_store::SealedStore).
//!
//! Here is the data set of the example and the tests, and a store that notes what is fetched. The engine needs no more
//! than a call of `register_object_store`: [`session`].

mod counting;

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use datafusion::config::TableParquetOptions;
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use object_store::ObjectStore;

pub use counting::Counting;

/// The store's name for DataFusion.
pub const URL: &str = "sealed://data";
/// Where the files are in the store.
pub const FOLDER: &str = "readings";
/// A file has the readings of a day.
pub const DAYS: i64 = 4;
/// There is one every four seconds.
pub const INTERVAL: i64 = 4;
/// A row group has those of four hours.
pub const GROUP: i64 = 3600;
/// So a day has six row groups.
pub const GROUPS: i64 = 6;
/// How much DataFusion reads of a file's end to find its footer: by default half a mebibyte, a quarter of these files.
pub const FOOTER: usize = 16384;

/// A session of DataFusion with this store.
///
/// # Errors
///
/// None that this data set could cause.
pub fn session(store: Arc<dyn ObjectStore>) -> Result<SessionContext> {
    let mut config = SessionConfig::new();
    // Less than a file, so that it is uploaded in parts.
    config.options_mut().execution.objectstore_writer_buffer_size = 1 << 20;
    let context = SessionContext::new_with_config(config);
    context.register_object_store(ObjectStoreUrl::parse(URL)?.as_ref(), store);
    Ok(context)
}

/// Lets DataFusion write the data set: 86400 rows, four files of nearly 2 MB.
///
/// # Errors
///
/// Those of the store.
pub async fn write(context: &SessionContext) -> Result<()> {
    let mut options = TableParquetOptions::default();
    options.global.max_row_group_size = usize::try_from(GROUP).unwrap_or(usize::MAX);
    // Numbers are stored as they are, so that each column of a row group takes some segments.
    options.global.compression = Some("uncompressed".into());
    options.global.dictionary_enabled = Some(false);
    options.global.allow_single_file_parallelism = false;
    for day in 0..DAYS {
        let rows = day * GROUPS * GROUP..(day + 1) * GROUPS * GROUP;
        let url = format!("{URL}/{FOLDER}/{day}.parquet");
        let one_file = DataFrameWriteOptions::new().with_single_file_output(true);
        let frame = context.read_batch(readings(rows)?)?;
        frame.write_parquet(&url, one_file, Some(options.clone())).await?;
    }
    Ok(())
}

/// Makes the data set known to DataFusion as the table `readings`: it reads the files' footers.
///
/// # Errors
///
/// Those of the store.
pub async fn register(context: &SessionContext) -> Result<()> {
    let options = ParquetReadOptions::default().metadata_size_hint(Some(FOOTER));
    let url = format!("{URL}/{FOLDER}/");
    context.register_parquet("readings", url, options).await
}

/// The rows with these numbers.
fn readings(rows: Range<i64>) -> Result<RecordBatch> {
    let time = Int64Array::from_iter_values(rows.clone().map(|row| row * INTERVAL));
    let value = Int64Array::from_iter_values(rows.clone().map(value));
    let note = StringArray::from_iter_values(rows.clone().map(note));
    let station = Int32Array::from_iter_values(rows.map(|row| if row % 7 < 3 { 1 } else { 2 }));
    let columns: [(&str, ArrayRef); 4] = [
        ("time", Arc::new(time)),
        ("value", Arc::new(value)),
        ("note", Arc::new(note)),
        ("station", Arc::new(station)),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

/// The value in this row: -500 to 499.
#[must_use]
pub fn value(row: i64) -> i64 {
    mix(row).rem_euclid(1000) - 500
}

/// The text in this row, of 64 letters and digits.
#[must_use]
pub fn note(row: i64) -> String {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| mix(4 * row + i));
    format!("{a:016x}{b:016x}{c:016x}{d:016x}")
}

/// `SplitMix64` (Steele, Lea and Flood: Fast splittable pseudorandom number generators, 2014).
fn mix(i: i64) -> i64 {
    let mut z = i
        .cast_unsigned()
        .wrapping_add(1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).cast_signed()
}
