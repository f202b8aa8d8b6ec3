//! The tables of TPC-H.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::config::TableParquetOptions;
use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};
use tpchgen_arrow::{
    CustomerArrow, LineItemArrow, NationArrow, OrderArrow, PartArrow, PartSuppArrow, RegionArrow,
    SupplierArrow,
};
use veriplex::Key;

use crate::server::{BUCKET, Server};

pub const TABLES: [&str; 8] = [
    "customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier",
];

/// How large they are: `SCALE` in the environment, 0.01 without it.
fn scale() -> f64 {
    std::env::var("SCALE").map_or(0.01, |scale| scale.parse().unwrap())
}

/// How many files a table has.
fn files(table: &str) -> i32 {
    match table {
        "lineitem" | "orders" => 6,
        "nation" | "region" => 1,
        _ => 3,
    }
}

/// A part of a table.
fn batches(table: &str, file: i32) -> Vec<RecordBatch> {
    let (scale, files) = (scale(), files(table));
    let batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>> = match table {
        "customer" => Box::new(CustomerArrow::new(CustomerGenerator::new(scale, file, files))),
        "lineitem" => Box::new(LineItemArrow::new(LineItemGenerator::new(scale, file, files))),
        "nation" => Box::new(NationArrow::new(NationGenerator::new(scale, file, files))),
        "orders" => Box::new(OrderArrow::new(OrderGenerator::new(scale, file, files))),
        "part" => Box::new(PartArrow::new(PartGenerator::new(scale, file, files))),
        "partsupp" => Box::new(PartSuppArrow::new(PartSuppGenerator::new(scale, file, files))),
        "region" => Box::new(RegionArrow::new(RegionGenerator::new(scale, file, files))),
        "supplier" => Box::new(SupplierArrow::new(SupplierGenerator::new(scale, file, files))),
        _ => panic!("no such table"),
    };
    batches.collect::<Result<_, _>>().unwrap()
}

/// One process on plaintext, in memory.
pub fn plain() -> SessionContext {
    let context = SessionContext::new();
    for table in TABLES {
        let partitions: Vec<_> = (1..=files(table)).map(|file| batches(table, file)).collect();
        let schema = partitions[0][0].schema();
        let partitions = MemTable::try_new(schema, partitions).unwrap();
        context.register_table(table, Arc::new(partitions)).unwrap();
    }
    context
}

/// The folder of an S3 server that has the tables, sealed by DataFusion under [`key`].
pub async fn sealed() -> PathBuf {
    static SEALED: OnceCell<TempDir> = OnceCell::const_new();
    SEALED.get_or_init(write).await.path().to_owned()
}

pub fn key() -> Key {
    let bytes = std::array::from_fn(|i| 0x80 | (i * 37 + 11) as u8);
    Key::from(bytes)
}

async fn write() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path()).await;
    let runtime = server.buckets(&key()).runtime().unwrap();
    let context = SessionContext::new_with_config_rt(SessionConfig::new(), runtime);
    for table in TABLES {
        for file in 1..=files(table) {
            let frame = context.read_batches(batches(table, file)).unwrap();
            let mut options = TableParquetOptions::default();
            // Without it strings are read as what Ballista does not send.
            options.global.skip_arrow_metadata = true;
            let url = format!("s3://{BUCKET}/{table}/{file}.parquet");
            let one_file = DataFrameWriteOptions::new().with_single_file_output(true);
            frame.write_parquet(&url, one_file, Some(options)).await.unwrap();
        }
    }
    folder
}

/// Some rows of `lineitem`.
pub fn plain_batch() -> RecordBatch {
    batches("lineitem", 1).swap_remove(0)
}

/// All files below a folder.
pub fn files_of(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else {
            files.push(path);
        }
    }
    files
}
