//! A scheduler and three executors as processes, on encrypted objects of an S3 server.
//!
//! The tests take turns: `make cluster-test` runs them with one thread.
#![allow(clippy::cast_possible_truncation, clippy::format_collect)] // the numbers are small

mod cluster;
mod data;
mod faults;
mod objects;
mod queries;
mod server;

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::SessionContext;
use veriplex_store::Reason;

/// The rows of an answer, in one order.
async fn rows(context: &SessionContext, query: &str) -> datafusion::error::Result<Vec<String>> {
    let batches = context.sql(query).await?.collect().await?;
    let table = pretty_format_batches(&batches)?.to_string();
    // Cells without the spaces that make columns of them.
    let rows = table.lines().filter(|line| line.starts_with('|'));
    let mut rows: Vec<_> = rows
        .map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    rows.sort();
    Ok(rows)
}

/// Whether an error of the cluster has the name of an object and the reason. Ballista tells the `Debug` of some errors of
/// executors, with the text of others within.
fn names(error: &str, path: &str, reason: &Reason) -> bool {
    let text = match reason {
        Reason::Key => "wrong key",
        _ => "damaged",
    };
    let error = &error.replace('\\', "");
    error.contains(&format!("\"{path}"))
        && (error.contains(&format!("reason: {reason:?}")) || error.contains(text))
}
