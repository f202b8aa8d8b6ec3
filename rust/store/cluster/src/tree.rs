//! The `tree` digest of one object, computed by all executors: two functions of SQL.
//!
//! `veriplex_part(url, n)` fetches the part of number n of an object, of [`PART_LEN`] bytes, and returns its chaining
//! values, 32 bytes for each 512 KiB. `veriplex_tree(n, part)` is the aggregate that combines those of all parts, in any
//! order, to the digest: that of `veriplex sum`. [`query`] lets executors share the parts.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray as _};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ScalarUDF, Signature, Volatility,
};
use object_store::ObjectStoreExt as _;
use url::Url;
use veriplex::digest::Digest;
use veriplex::label;
use veriplex::tree::{CV_LEN, Tree};

use crate::Buckets;
use crate::function::{self, failed, number, text};

/// A chaining value of this level covers 512 KiB.
const LEVEL: usize = 1;
const UNIT_LEN: usize = 512 << 10;
/// How much of an object is fetched at a time.
pub const PART_LEN: u64 = 8 << 20;

const PART: &str = "veriplex_part";
const COMBINE: &str = "veriplex_tree";

/// The hash of `veriplex sum`.
pub(crate) fn tree() -> Tree {
    Tree::new(label!("veriplex.sum.v1"))
}

fn invalid(what: &str) -> DataFusionError {
    failed(COMBINE, what)
}

/// The query that computes the digest of an object of this many bytes.
///
/// `DISTINCT` is what spreads the numbers of the parts over the cluster.
#[must_use]
pub fn query(url: &Url, len: u64) -> String {
    let parts = len.div_ceil(PART_LEN).max(1);
    let url = url.as_str().replace('\'', "''");
    format!(
        "SELECT veriplex_tree(n, part) FROM (SELECT n, veriplex_part('{url}', n) AS part \
         FROM (SELECT DISTINCT unnest(range(0, {parts})) AS n))"
    )
}

/// The function that reads objects, of these buckets.
#[must_use]
pub fn part(buckets: &Arc<Buckets>) -> Arc<ScalarUDF> {
    let buckets = buckets.clone();
    let arguments = vec![DataType::Utf8, DataType::Int64];
    function::new(PART, arguments, DataType::Binary, move |arguments| {
        let buckets = buckets.clone();
        async move {
            let (url, part) = (text(PART, &arguments[0])?, number(PART, &arguments[1])?);
            Ok(ScalarValue::Binary(Some(read(&buckets, url, part).await?)))
        }
    })
}

/// The length of a part of an object, and its chaining values.
async fn read(buckets: &Buckets, url: &str, number: u64) -> Result<Vec<u8>> {
    log::debug!("part {number} of {url}");
    let (store, path) = buckets.object(url)?;
    let start = number.saturating_mul(PART_LEN);
    // Its length is verified below: the object's last segment is opened with the first.
    let len = store.head(&path).await?.size;
    let bytes = if start == 0 && len == 0 {
        store.get(&path).await?.bytes().await?
    } else {
        store
            .get_range(&path, start..len.min(start.saturating_add(PART_LEN)))
            .await?
    };
    let values = if len <= UNIT_LEN as u64 {
        // It has no chaining values of this level.
        tree().digest(&bytes).as_bytes().to_vec()
    } else {
        let mut values = vec![0; (bytes.len().div_ceil(UNIT_LEN)) * CV_LEN];
        tree()
            .chaining_values_into(LEVEL, &bytes, &mut values)
            .map_err(|_| failed(PART, "an empty part"))?;
        values
    };
    Ok([&(bytes.len() as u64).to_le_bytes()[..], &values].concat())
}

/// The aggregate function.
#[must_use]
pub fn aggregate() -> Arc<AggregateUDF> {
    Arc::new(AggregateUDF::from(Combine {
        signature: Signature::exact(vec![DataType::Int64, DataType::Binary], Volatility::Immutable),
    }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Combine {
    signature: Signature,
}

impl AggregateUDFImpl for Combine {
    fn name(&self) -> &'static str {
        COMBINE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Binary)
    }

    fn accumulator(&self, _: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::<Parts>::default())
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(Field::new(
            format!("{}[parts]", args.name),
            DataType::Binary,
            true,
        ))])
    }
}

/// The parts that were seen, by their numbers.
#[derive(Default)]
struct Parts(std::collections::BTreeMap<i64, Vec<u8>>);

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parts", self.0.len())
    }
}

impl Parts {
    fn insert(&mut self, number: i64, part: &[u8]) -> Result<()> {
        match self.0.insert(number, part.to_vec()) {
            None => Ok(()),
            Some(_) => Err(invalid("a part appears twice")),
        }
    }

    fn digest(&self) -> Result<Digest> {
        let mut len = 0;
        let mut values = Vec::new();
        for (expected, (number, part)) in (0..).zip(&self.0) {
            let (part_len, part) = part.split_first_chunk().ok_or_else(|| invalid("not a part"))?;
            if *number != expected || len % PART_LEN != 0 {
                return Err(invalid("a part is missing"));
            }
            len += u64::from_le_bytes(*part_len);
            values.extend_from_slice(part);
        }
        let mut digest = [0; Digest::LEN];
        if len > UNIT_LEN as u64 {
            let combined = tree().combine_into(LEVEL, &values, len, &mut digest);
            combined.map_err(|_| invalid("not the values of these parts"))?;
        } else {
            digest = (values.try_into()).map_err(|_| invalid("not the values of these parts"))?;
        }
        Ok(Digest::from(digest))
    }
}

impl Accumulator for Parts {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (numbers, parts) = (
            values[0].as_primitive::<Int64Type>(),
            values[1].as_binary::<i32>(),
        );
        for row in 0..numbers.len() {
            self.insert(numbers.value(row), parts.value(row))?;
        }
        Ok(())
    }

    /// Each part: LE64(number) || LE64(length of what follows) || what follows.
    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut state = Vec::new();
        for (number, part) in &self.0 {
            state.extend_from_slice(&number.to_le_bytes());
            state.extend_from_slice(&(part.len() as u64).to_le_bytes());
            state.extend_from_slice(part);
        }
        Ok(vec![ScalarValue::Binary(Some(state))])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        for mut state in states[0].as_binary::<i32>().iter().flatten() {
            while let Some((number, rest)) = state.split_first_chunk() {
                let part = rest.split_first_chunk().and_then(|(len, rest)| {
                    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)
                });
                let (part, rest) = part.ok_or_else(|| invalid("not a state"))?;
                self.insert(i64::from_le_bytes(*number), part)?;
                state = rest;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        Ok(ScalarValue::Binary(Some(self.digest()?.as_bytes().to_vec())))
    }

    fn size(&self) -> usize {
        self.0.values().map(|part| part.capacity() + 64).sum()
    }
}
