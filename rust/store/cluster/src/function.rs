//! Functions of SQL that read or write objects.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::new_empty_array;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::async_udf::{AsyncScalarUDF, AsyncScalarUDFImpl};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// Makes a function: `call` is given the arguments of one row.
pub fn new<F, R>(name: &'static str, arguments: Vec<DataType>, returned: DataType, call: F) -> Arc<ScalarUDF>
where
    F: Fn(Vec<ScalarValue>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ScalarValue>> + Send,
{
    let function = Function {
        name,
        // What an object holds can change.
        signature: Signature::exact(arguments, Volatility::Volatile),
        returned,
        call,
    };
    Arc::new(AsyncScalarUDF::new(Arc::new(function)).into_scalar_udf())
}

/// What was wrong with the arguments of a function, or what it found.
pub fn failed(name: &str, what: impl fmt::Display) -> DataFusionError {
    DataFusionError::Execution(format!("{name}: {what}"))
}

/// A text among the arguments of a function.
pub fn text<'a>(name: &str, argument: &'a ScalarValue) -> Result<&'a str> {
    match argument {
        ScalarValue::Utf8(Some(text)) => Ok(text),
        _ => Err(failed(name, "no text")),
    }
}

/// A number among the arguments of a function.
pub fn number(name: &str, argument: &ScalarValue) -> Result<u64> {
    match argument {
        ScalarValue::Int64(Some(number)) => u64::try_from(*number).map_err(|error| failed(name, error)),
        _ => Err(failed(name, "no number")),
    }
}

struct Function<F> {
    name: &'static str,
    signature: Signature,
    returned: DataType,
    call: F,
}

impl<F> fmt::Debug for Function<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// There is one of each name.
impl<F> PartialEq for Function<F> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl<F> Eq for Function<F> {}

impl<F> Hash for Function<F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl<F> ScalarUDFImpl for Function<F>
where
    F: Send + Sync + 'static,
{
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.returned.clone())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Err(DataFusionError::Internal(
            "it uses an object: it is asynchronous".into(),
        ))
    }
}

#[async_trait]
impl<F, R> AsyncScalarUDFImpl for Function<F>
where
    F: Fn(Vec<ScalarValue>) -> R + Send + Sync + 'static,
    R: Future<Output = Result<ScalarValue>> + Send,
{
    async fn invoke_async_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let mut values = Vec::with_capacity(args.number_rows);
        for row in 0..arrays.first().map_or(0, |array| array.len()) {
            let arguments = arrays.iter().map(|array| ScalarValue::try_from_array(array, row));
            // One at a time: an executor has as many tasks as it has cores.
            values.push((self.call)(arguments.collect::<Result<_>>()?).await?);
        }
        let array = if values.is_empty() {
            new_empty_array(&self.returned)
        } else {
            ScalarValue::iter_to_array(values)?
        };
        Ok(ColumnarValue::Array(array))
    }
}
