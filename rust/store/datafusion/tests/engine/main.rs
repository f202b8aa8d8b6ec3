//! Which bytes DataFusion fetches of encrypted Parquet files, and what it says of damaged ones.

mod queries;
mod s3;
mod segments;

use std::error::Error;

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use object_store::path::Path;
use veriplex::Key;
use veriplex_store::{ObjectError, Reason};

fn key(byte: u8) -> Key {
    Key::from([byte; 32])
}

/// What DataFusion answers, as text.
async fn answer(context: &SessionContext, query: &str) -> datafusion::error::Result<String> {
    let batches = context.sql(query).await?.collect().await?;
    Ok(pretty_format_batches(&batches)?.to_string())
}

/// Why this object cannot be read. DataFusion's error must name it, and have this crate's among its sources.
#[track_caller]
fn reason(error: &(dyn Error + 'static), path: &Path) -> Reason {
    let text = error.to_string();
    assert!(text.contains(&format!("object {:?}", path.as_ref())), "{text}");
    let found = ObjectError::in_chain(error).unwrap_or_else(|| panic!("another error: {error:?}"));
    assert_eq!(found.path(), path);
    found.reason().clone()
}
