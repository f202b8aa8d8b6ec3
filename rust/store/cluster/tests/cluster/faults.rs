//! Executors that die, and keys that are wrong or missing.

use std::time::Duration;

use datafusion::prelude::ParquetReadOptions;
use tokio::task::JoinHandle;
use veriplex::Key;
use veriplex_store::Reason;

use crate::cluster::{CORES, Cluster};
use crate::data::{key, plain, sealed};
use crate::queries::queries;
use crate::{names, rows};

/// The third query: it joins three tables.
fn query() -> String {
    queries().swap_remove(2).1
}

/// Waits until so many requests of executors wait at the server.
async fn waiting(cluster: &Cluster, requests: u64) {
    for _ in 0..600 {
        if cluster.server.waiting() >= requests {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{} requests wait", cluster.server.waiting());
}

/// What a query came to, which may take longer than an executor may be silent, but not for ever.
async fn in_time<T>(running: JoinHandle<T>) -> T {
    let ended = tokio::time::timeout(Duration::from_mins(3), running).await;
    ended.expect("no answer in three minutes").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_executor_that_dies_does_not_change_the_answer() {
    let key = key();
    let mut cluster = Cluster::start(&sealed().await, &[&key; 3]).await;
    let client = cluster.client(&key).await;
    let expected = rows(&plain(), &query()).await.unwrap();

    let mut victims = cluster.executors.split_off(2);
    let closed = cluster.server.close().await;
    let running = tokio::spawn(async move { (rows(&client, &query()).await, client) });
    // All executors are busy.
    waiting(&cluster, 3 * CORES as u64).await;
    victims[0].kill();
    drop(closed);
    let (found, client) = in_time(running).await;
    assert_eq!(found.unwrap(), expected);

    // And when none is left, there is no answer.
    let closed = cluster.server.close().await;
    let running = tokio::spawn(async move { rows(&client, &query()).await });
    waiting(&cluster, 2 * CORES as u64).await;
    cluster.executors.clear();
    drop(closed);
    let error = in_time(running).await.unwrap_err();
    println!("{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_an_error_with_the_name_of_the_object() {
    let (key, wrong) = (key(), Key::from([7; 32]));
    let mut cluster = Cluster::start(&sealed().await, &[&key, &wrong, &key]).await;
    let client = cluster.client(&key).await;
    for (number, query) in [1, 6, 12].map(|number| queries().swap_remove(number - 1)) {
        let error = rows(&client, &query).await.unwrap_err().to_string();
        println!("query {number}: {error}");
        // Of a table, or between stages.
        let named = names(&error, "lineitem/", &Reason::Key) || names(&error, "orders/", &Reason::Key);
        assert!(
            named || names(&error, "", &Reason::Key) && error.contains("shuffle "),
            "{error}"
        );
    }

    // Without it the query goes on, and an executor without a key is none.
    drop(cluster.executors.remove(1));
    assert!(!cluster.add(None));
    let log = cluster.executors.pop().unwrap().log();
    assert!(log.contains("no key"), "{log}");
    let expected = rows(&plain(), &query()).await.unwrap();
    assert_eq!(rows(&client, &query()).await.unwrap(), expected);

    // A client with another key cannot read the files, nor an answer.
    let other = cluster.session(&wrong);
    let read = other.register_parquet("lineitem", "s3://bucket/lineitem/", ParquetReadOptions::default());
    let error = read.await.unwrap_err().to_string();
    assert!(
        error.contains("object \"lineitem/") && error.contains("wrong key"),
        "{error}"
    );
    let error = rows(&other, "SELECT 1 + 1").await.unwrap_err().to_string();
    assert!(error.contains("wrong key, or damaged"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_object_is_an_error_with_its_name() {
    let key = key();
    let cluster = Cluster::start(&sealed().await, &[&key; 2]).await;
    let client = cluster.client(&key).await;
    let columns = client.table("lineitem").await.unwrap();
    let columns: Vec<_> = (columns.schema().fields().iter())
        .map(|field| format!("max({})", field.name()))
        .collect();
    let all = format!("SELECT {} FROM lineitem", columns.join(", "));
    cluster.server.flip("lineitem/4.parquet");
    let failed = rows(&client, &all).await;
    cluster.server.flip("lineitem/4.parquet");
    let error = failed.unwrap_err().to_string();
    assert!(
        names(&error, "lineitem/4.parquet", &Reason::Verification),
        "{error}"
    );
}
