//! Another key for objects, on all executors: a function of SQL.
//!
//! `veriplex_reseal(url)` seals an object under the key instead of the old one, and returns whether it did: `false` means
//! that it had the key already. So a job that was interrupted is just run again.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::ScalarUDF;
use url::Url;

use crate::Buckets;
use crate::function::{self, failed, text};

const RESEAL: &str = "veriplex_reseal";

/// The query that gives these objects the key: it counts those that had the old one.
#[must_use]
pub fn query<'a>(urls: impl IntoIterator<Item = &'a Url>) -> String {
    let urls = urls
        .into_iter()
        .map(|url| format!("'{}'", url.as_str().replace('\'', "''")));
    let urls: Vec<_> = urls.collect();
    format!(
        "SELECT count(*) FILTER (WHERE resealed) FROM (SELECT veriplex_reseal(url) AS resealed \
         FROM (SELECT DISTINCT unnest([{}]) AS url))",
        urls.join(", ")
    )
}

/// The function, for these buckets and for the same under the old key. Who only plans needs no old key.
#[must_use]
pub fn function(new: &Arc<Buckets>, old: Option<Arc<Buckets>>) -> Arc<ScalarUDF> {
    let new = new.clone();
    let arguments = vec![DataType::Utf8];
    function::new(RESEAL, arguments, DataType::Boolean, move |arguments| {
        let (new, old) = (new.clone(), old.clone());
        async move {
            let url = text(RESEAL, &arguments[0])?;
            let old = old.ok_or_else(|| failed(RESEAL, "no old key"))?;
            let ((new, path), (old, _)) = (new.object(url)?, old.object(url)?);
            Ok(ScalarValue::Boolean(Some(new.reseal(&path, &*old).await?)))
        }
    })
}
