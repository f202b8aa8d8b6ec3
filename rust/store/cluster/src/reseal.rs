//! Another key for objects, on all executors: a function of SQL.
//!
//! `veriplex_reseal(url)` seals an object under the key instead of the old one, and returns whether it did: `false` means
//! that it had the key already. So a job that was interrupted is just run again.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{Array as _, AsArray as _, BooleanArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use object_store::path::Path;
use url::Url;

use crate::Buckets;

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
    let reseal = Reseal {
        new: new.clone(),
        old,
        signature: Signature::exact(vec![DataType::Utf8], Volatility::Volatile),
    };
    Arc::new(AsyncScalarUDF::new(Arc::new(reseal)).into_scalar_udf())
}

#[derive(Debug)]
struct Reseal {
    new: Arc<Buckets>,
    old: Option<Arc<Buckets>>,
    signature: Signature,
}

/// There is one.
impl PartialEq for Reseal {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Reseal {}

impl Hash for Reseal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.signature.hash(state);
    }
}

impl Reseal {
    async fn reseal(&self, url: &str) -> Result<bool> {
        let invalid = |what: String| DataFusionError::Execution(format!("veriplex_reseal: {what}"));
        let old = self.old.as_ref().ok_or_else(|| invalid("no old key".into()))?;
        let url = Url::parse(url).map_err(|error| invalid(error.to_string()))?;
        let path = Path::from_url_path(url.path()).map_err(object_store::Error::from)?;
        Ok(self.new.bucket(&url)?.reseal(&path, &*old.bucket(&url)?).await?)
    }
}

impl ScalarUDFImpl for Reseal {
    fn name(&self) -> &'static str {
        "veriplex_reseal"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(DataFusionError::Internal(
            "it writes an object: it is asynchronous".into(),
        ))
    }
}

#[async_trait]
impl AsyncScalarUDFImpl for Reseal {
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let urls = arrays[0].as_string::<i32>();
        let mut resealed = Vec::with_capacity(urls.len());
        for url in urls {
            resealed.push(self.reseal(url.unwrap_or_default()).await?);
        }
        Ok(ColumnarValue::Array(Arc::new(BooleanArray::from(resealed))))
    }
}
